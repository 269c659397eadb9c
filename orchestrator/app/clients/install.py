"""`install`: writes what a client reads into a project, checks it, and removes exactly that again.

Everything is read and checked before anything is written. What will be written is noted in
`.orchestrator/installed.json` first, so that the next call can finish or remove an installation that was interrupted.

Source: spec 80, section 3.
"""

from __future__ import annotations

import contextlib
import functools
import os
import stat
from pathlib import Path

from orchestrator.app import starts
from orchestrator.app.clients import (
    claude_code_checks,
    claude_code_files,
    client_files,
    codex_checks,
    codex_files,
    install_checks,
    installed_settings,
)
from orchestrator.app.clients.client_files import Client
from orchestrator.app.clients.install_record import UNKNOWN, Problem, Record, difference
from orchestrator.app.kernel import operations
from orchestrator.app.kernel.context import Answer, Context
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.suggestions import local, sentence, suggest
from orchestrator.core.workflow import vocabulary
from orchestrator.errors import EXIT_NEGATIVE, EXIT_OK, Refused, UsageError
from orchestrator.runner import atomic_files

CREATE, UPDATE, REMOVE, RESTORE = "create", "update", "remove", "restore"
"""What is done to a file."""
MODE = 0o644


class Change(NamedTuple):
    """What is done to a file of the project.

    path: relative to the project. data: what it holds then; None to delete it.
    kept: where the content before goes, for a file that was not installed by this tool or was changed.
    """

    path: str
    change: str
    data: bytes | None = None
    kept: str | None = None


class _Plan:
    """The planned changes, and the problems that prevent others."""

    def __init__(self, client: Client, root: str, scope: str, *, force: bool) -> None:
        self.client, self.root, self.scope, self.force = client, root, scope, force
        self.record = Record.read(root)
        self.changes: list[Change] = []
        self.problems: list[Problem] = []
        self.roles = tuple(vocabulary.ROLES)

    def content(self, path: str) -> bytes | None:
        """What a file of the project holds; None if there is none.

        Raises:
            Refused: E103, it or a folder above it is a symbolic link or of the wrong kind.
        """
        return read(self.root, path)

    def beside(self, path: str) -> str:
        """A name for a copy of a file, free unless the copy is there already; no client reads such an ending."""
        noted = self.record.files.get(path)
        if noted is not None and self.content(noted) == self.content(path):
            return noted
        names = (f"{path}.orig{number or ''}" for number in range(1000))
        return next(name for name in names if not os.path.lexists(os.path.join(self.root, name)))


def install(
    context: Context | None,
    client: Client,
    *,
    project: str = ".",
    scope: str = "local",
    strict: bool = False,
    dry_run: bool = False,
    check: bool = False,
    uninstall: bool = False,
    force: bool = False,
    session_id: str | None = None,
) -> Answer:
    """Install, check or uninstall.

    Args:
        context: the project's database; None if it has none.

    Returns:
        `client`, `project`, `scope`, `mode` (install, check or uninstall), `dry_run`,
        `changes` (path and change: create, update, remove, restore), `problems` (what was left, or
        what a check found), `exit_code` 1 if there is any, and `limits` (of a check: the rules that the client's events
        cannot hold).

    Raises:
        UsageError: USAGE, flags that contradict each other, or no such folder. Refused: E103, a target is a symbolic
            link or of the wrong kind; UNKNOWN_SESSION, SESSION_CLOSED. InvalidInput: E104, E105, the settings; nothing
            was written. EnvironmentProblem: OUTPUT_FAILED.
    """
    _check_flags(client, check=check, uninstall=uninstall, force=force, session_id=session_id)
    root = os.path.realpath(project)
    if not os.path.isdir(root):
        raise UsageError("USAGE", sentence("--project: {} is not a folder.", local(project)), "Name the project folder")
    plan = _Plan(client, root, scope, force=force)
    if context is not None:
        plan.roles = context.version(context.active_version().id).workflow.roles()
    if session_id is not None and context is not None:
        context.require_session(session_id)
    if uninstall:
        _plan_removal(plan)
    else:
        _plan_files(plan)
        _plan_settings(plan, strict=strict)
    if check:
        plan.problems += install_checks.pending(client, plan.changes)
        plan.problems += install_checks.surroundings(
            client, root, scope, plan.roles, has_database=context is not None
        )
    elif not dry_run:
        _carry_out(plan, is_removal=uninstall)
        if session_id is not None and context is not None:
            operations.ask(context, starts.AdoptSession(session_id=session_id, client=None))
    mode = "check" if check else "uninstall" if uninstall else "install"
    return _answer(plan, mode, dry_run=dry_run)


CLAUDE_CODE = Client(
    "claude-code", (claude_code_files.FOLDER,), claude_code_files.SETTINGS, claude_code_files.hooks,
    claude_code_files.permissions, claude_code_files.all_files, claude_code_checks.checks,
)  # fmt: skip
CODEX = Client(
    "codex", codex_files.FOLDERS, codex_files.SETTINGS, codex_files.hooks, codex_files.permissions,
    codex_files.all_files, codex_checks.checks, codex_checks.LIMITS,
)  # fmt: skip
CLIENTS = {client.name: client for client in (CLAUDE_CODE, CODEX)}
install_claude_code = functools.partial(install, client=CLAUDE_CODE)
install_codex = functools.partial(install, client=CODEX)


def _check_flags(client: Client, *, check: bool, uninstall: bool, force: bool, session_id: str | None) -> None:
    chosen = {"--check": check, "--uninstall": uninstall, "--force": force, "--session": session_id is not None}
    for one, other in (("--check", "--uninstall"), ("--check", "--force"), ("--check", "--session"),
                       ("--uninstall", "--session")):
        if chosen[one] and chosen[other]:
            message = f"{one} and {other} cannot be given together."
            raise UsageError("USAGE", message, suggest(f"install {client.name}", help=True))


def _answer(plan: _Plan, mode: str, *, dry_run: bool) -> Answer:
    planned = [] if mode == "check" else plan.changes
    changes = [{"path": each.path, "change": each.change, "copy": each.kept} for each in planned]
    return {
        "success": True, "client": plan.client.name, "project": plan.root, "scope": plan.scope, "mode": mode,
        "dry_run": dry_run, "changes": changes,
        "problems": [each._asdict() for each in plan.problems],
        "exit_code": EXIT_NEGATIVE if any(each.id != UNKNOWN for each in plan.problems) else EXIT_OK,
        "limits": list(plan.client.limits) if mode == "check" else [],
    }  # fmt: skip


def _wanted(plan: _Plan) -> dict[str, str]:
    """The files of ours by their place."""
    return plan.client.files(plan.scope, plan.roles)


def _plan_files(plan: _Plan) -> None:
    for path, text in _wanted(plan).items():
        before, data = plan.content(path), text.encode()
        if before is None:
            plan.changes.append(Change(path, CREATE, data))
        elif before != data:
            _plan_over(plan, path, before, data)
        plan.record.add_file(plan.root, path)


def _plan_over(plan: _Plan, path: str, before: bytes, data: bytes) -> None:
    """Replace a file: without a word if it is one that we wrote, else only if forced, and with a copy."""
    there = before.decode(errors="replace")
    if client_files.is_unchanged(there):
        if there.replace("\r\n", "\n").removeprefix("\ufeff").encode() != data:
            plan.changes.append(Change(path, UPDATE, data))
        return
    if plan.force:
        plan.changes.append(Change(path, UPDATE, data, plan.beside(path)))
        return
    is_stamped = client_files.is_stamped(there)
    id_, what = ("changed", "was changed") if is_stamped else ("foreign", "was not installed by this tool")
    told = difference(data.decode(), there, path)
    plan.problems.append(Problem(id_, path, f"{path} {what}; left unchanged (--force replaces it).", told))


def _plan_settings(plan: _Plan, *, strict: bool) -> None:
    client, scope = plan.client, plan.scope
    path = client.settings[scope]
    found = installed_settings.merged(
        path, plan.content(path), plan.record.settings.get(path), client.hooks(scope, strict),
        client.permissions(scope), force=plan.force,
    )  # fmt: skip
    plan.problems += found.problems
    plan.record.add_folders(plan.root, path)
    plan.record.settings[path] = found.note
    if found.data is not None:
        plan.changes.append(Change(path, UPDATE if plan.content(path) is not None else CREATE, found.data))


def _plan_removal(plan: _Plan) -> None:
    client = plan.client
    for path in dict.fromkeys(client.settings.values()):
        before = plan.content(path)
        if before is None:
            continue
        found = installed_settings.without_ours(
            path, before, plan.record.settings.get(path), client.permissions("local"), force=plan.force
        )
        plan.problems += found.problems
        if found.is_removed:
            plan.changes.append(Change(path, REMOVE))
        elif found.data is not None:
            plan.changes.append(Change(path, RESTORE, found.data))
    for path in sorted({*filter(client.has, plan.record.files), *_wanted(plan)}):
        before = plan.content(path)
        if before is not None:
            _plan_file_removal(plan, path, before)


def _plan_file_removal(plan: _Plan, path: str, before: bytes) -> None:
    """Remove a file of ours, and put back what it replaced; one that was changed is left unless forced."""
    replaced, there = plan.record.files.get(path), before.decode(errors="replace")
    if client_files.is_unchanged(there):
        back = plan.content(replaced) if replaced is not None else None
        if back is not None and replaced is not None:
            plan.changes += [Change(path, RESTORE, back), Change(replaced, REMOVE)]
        else:
            plan.changes.append(Change(path, REMOVE))
    elif client_files.is_stamped(there):
        if plan.force:
            plan.changes.append(Change(path, REMOVE, None, plan.beside(path)))
            return
        told = difference(_wanted(plan).get(path, ""), there, path)
        message = f"{path} was changed; left in place (--force removes it)."
        plan.problems.append(Problem("changed", path, message, told))
    elif replaced is not None and plan.content(replaced) == before:
        # An earlier call was ended when it had put the file back.
        plan.changes.append(Change(replaced, REMOVE))


# Writing


def read(root: str, path: str) -> bytes | None:
    """What a file of a project holds; None if there is none.

    Raises:
        Refused: E103, it or a folder above it is a symbolic link or of the wrong kind.
    """
    place = root
    for part in path.split("/"):
        place = os.path.join(place, part)
        try:
            # Each part is checked, because a link anywhere on the way would lead a later write out of the project.
            mode = os.lstat(place).st_mode
        except FileNotFoundError:
            return None
        is_last = place == os.path.join(root, path)
        if not (stat.S_ISREG(mode) if is_last else stat.S_ISDIR(mode)):
            kind = "a symbolic link" if stat.S_ISLNK(mode) else "not a file" if is_last else "not a folder"
            what = sentence("{} is {}; nothing was changed.", local(place), kind)
            raise Refused("E103", what, sentence("Move {} away", local(place)), path=place)
    try:
        return atomic_files.read(place)
    except OSError as problem:
        message = sentence("{} cannot be read: {}; nothing was changed.", local(place), problem.strerror)
        raise Refused("E103", message, "Check its permissions", path=place) from None


def _carry_out(plan: _Plan, *, is_removal: bool) -> None:
    """Write what was planned: the note of it first, the hooks that use the rest last; the other way round to remove."""
    for change in plan.changes:
        if change.kept is not None and not is_removal:
            plan.record.files[change.path] = change.kept
    if is_removal:
        for change in plan.changes:
            _write(plan.root, change)
        _tidy(plan)
        return
    plan.record.write(plan.root)
    for change in plan.changes:
        _write(plan.root, change)


def _write(root: str, change: Change) -> None:
    place = os.path.join(root, change.path)
    before = read(root, change.path)
    with atomic_files.failing(place):
        if change.kept is not None and before is not None:
            atomic_files.write(os.path.join(root, change.kept), before, _mode(place))
        if change.data is None:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(place)
            return
        Path(place).parent.mkdir(parents=True, exist_ok=True)
    atomic_files.write(place, change.data, _mode(place))


def _mode(place: str) -> int:
    try:
        return stat.S_IMODE(os.lstat(place).st_mode)
    except FileNotFoundError:
        return MODE


def _tidy(plan: _Plan) -> None:
    """Delete the folders that were created and are empty again, and the note, unless something of ours was left."""
    for folder in sorted(filter(plan.client.has, plan.record.folders), key=len, reverse=True):
        with contextlib.suppress(OSError):
            # Not `rmtree`: a folder in which somebody else has put something stays.
            os.rmdir(os.path.join(plan.root, folder))
    if not plan.problems:
        plan.record.forget(plan.client.has)
    if plan.record.files or plan.record.settings:
        plan.record.write(plan.root)
    else:
        Record.delete(plan.root)
