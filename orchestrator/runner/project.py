"""The folder that a session works in: how it is named, what has to be in it, and what the runner puts there.

Source: seed 001, Properties 2, 32 and 38.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import stat
import tempfile
import time
from pathlib import Path

from orchestrator import worktrees
from orchestrator.core import strict_json
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.running import codes, config
from orchestrator.core.suggestions import HIDDEN, joined, local, quoted, reason, sentence, suggest
from orchestrator.errors import InvalidInput, Refused, UsageError
from orchestrator.runner import atomic_files

FOLDER = ".claude"
TEMP, FIXED, CWD = "temp", "fixed", "cwd"
MODES = (TEMP, FIXED, CWD)

GUIDE = "CLAUDE.md"
"""What agents are told; it may lie in the project's root or in its `.claude`."""
_FILES = {GUIDE: "# Project\n\nInstructions for agents that work here.\n", "settings.json": "{}\n"}
"""The files, with what they hold where `init` makes them: no settings of ours."""
_FOLDERS = ("agents", "rules")
POINTERS = "repl.json"

class Project(NamedTuple):
    """A folder to work in.

    root: its absolute path, as it was named.
    mode: temp, fixed or cwd.
    warnings: what the person has to know, in sentences.
    made: what the runner created in it, relative, as evidence.
    """

    root: str
    mode: str
    warnings: tuple[str, ...] = ()
    made: tuple[str, ...] = ()


class Pointers(NamedTuple):
    """The task that runs, and the one that ended last."""

    current_task_id: str | None = None
    last_task_id: str | None = None


def resolve(
    *,
    mode: str | None = None,
    root: str | None = None,
    project: str | None = None,
    folder: str | os.PathLike[str] | None = None,
) -> Project:
    """The project that the flags of a call name. Nothing is looked for in parents.

    Args:
        mode: of `MODES`; without it a named project is worked in where it is, and otherwise a temporary one is made.
        root: of a fixed project.
        project: the folder to use in place of the working one.
        folder: the working folder; the process's own where left out.

    Returns:
        The project. A temporary one has the structure that it needs; of the others nothing is checked but that they
        are folders: see `check`.

    Raises:
        UsageError: USAGE, the flags contradict each other or one is missing.
        Refused: E102, the folder does not exist or is none.

    Source: seed 001, Properties 2 and 32.
    """
    said, mode = mode, mode or (CWD if project is not None else TEMP)
    _check_flags(mode, root, project)
    if mode == TEMP:
        return _temporary()
    named = root if mode == FIXED else project
    here = os.path.abspath(folder or os.getcwd())
    # Links stay: a project keeps the name that the person gave it. Locks resolve it themselves (RUN-10).
    path = os.path.abspath(os.path.join(here, named or ""))
    _require_folder(path)
    # A folder that is named and is another one is fixed, whatever the working folder is.
    return Project(path, FIXED if said is None and path != here else mode, _warnings(path))


def check(root: str | os.PathLike[str]) -> None:
    """Require the structure of a project.

    Raises:
        Refused: E102, no such folder; E101, it has no `.claude`; E103, something in that is absent or of another
            kind. Data ``missing``: all of it; ``in_the_way``: what `init` would refuse to touch, where there is any.

    Source: seed 001, Property 2.
    """
    path = os.path.abspath(root)
    _require_folder(path)
    inner = os.path.join(path, FOLDER)
    if not os.path.lexists(inner):
        raise Refused("E101", sentence("{} has no {} folder.", local(path), FOLDER), _set_it_up(path), path=path)
    if not os.path.isdir(inner):
        what = sentence("{} is not a folder.", local(inner, f"{HIDDEN}/{FOLDER}"))
        raise Refused("E101", what, _put_right(path, [FOLDER]), path=path, in_the_way=[FOLDER])
    absent, wrong = _faults(Path(path))
    if absent or wrong:
        missing = [name.removeprefix(f"{FOLDER}/") for name in (*absent, *wrong)]
        data = {"in_the_way": wrong} if wrong else {}
        raise Refused("E103", _said(path, absent, wrong), _put_right(path, wrong), path=path, missing=missing, **data)


def _faults(root: Path) -> tuple[list[str], list[str]]:
    """What a project with a `.claude` lacks, and what is there but is of another kind; folders end with a slash."""
    bad = [f"{FOLDER}/{name}" for name in _FILES if not (root / FOLDER / name).is_file()]
    bad += [f"{FOLDER}/{name}/" for name in _FOLDERS if not (root / FOLDER / name).is_dir()]
    wrong = [name for name in bad if os.path.lexists(root / name.rstrip("/"))]
    absent = [name for name in bad if name not in wrong]
    if f"{FOLDER}/{GUIDE}" in absent and os.path.lexists(root / GUIDE):
        absent.remove(f"{FOLDER}/{GUIDE}")
        wrong += [] if (root / GUIDE).is_file() else [GUIDE]
    return absent, wrong


def _said(path: str, absent: list[str], wrong: list[str], end: str = ".") -> str:
    parts = [sentence("{} lacks {}", local(path), ", ".join(name.rstrip("/") for name in absent))] if absent else []
    for name in wrong:
        below, kind = name.rstrip("/"), "folder" if name.endswith("/") else "file"
        parts.append(sentence("{} is not a {}", local(os.path.join(path, below), f"{HIDDEN}/{below}"), kind))
    return joined(parts, "; ") + end


def _put_right(path: str, wrong: list[str]) -> str:
    """The commands that put aside what is of the wrong kind, and make what is missing."""
    places = [os.path.join(path, name.rstrip("/")) for name in wrong]
    aside = [sentence("mv {} {}", quoted(place), quoted(f"{place}.aside")) for place in places]
    return joined([*aside, _set_it_up(path)], " && ")


def _set_it_up(path: str) -> str:
    return suggest("init", project=path)


def is_set_up(root: str | os.PathLike[str]) -> bool:
    """Whether the folder has a `.claude` of its own: without it a person may only set it up, get help and leave."""
    return os.path.isdir(os.path.join(root, FOLDER))


def settings(root: str | os.PathLike[str]) -> config.Settings:
    """The settings of a project: its `orchestrator.json`, then what its `.claude/settings.json` still holds of ours.

    Raises:
        Refused: E103, a file is absent that has to be there, is no regular file, or cannot be read.
        InvalidInput: E104, E105; data ``problems``.

    Source: seed 001, Property 3.
    """
    own = own_settings(root)
    shared = os.path.join(root, config.SHARED_FILE)
    if not os.path.isfile(shared):
        raise codes.refused("E103", sentence("{} does not exist.", local(shared)), path=shared)
    return config.parse(_read(shared, os.O_RDONLY), _read(own, atomic_files.READ) if os.path.lexists(own) else None)


def outdated(root: str | os.PathLike[str]) -> tuple[str, ...]:
    """What to say of settings of ours that lie in the other program's file, where both files are sound."""
    shared = os.path.join(root, config.SHARED_FILE)
    sections = config.in_shared_file(_read(shared, os.O_RDONLY))
    if not sections:
        return ()
    return (sentence("{} holds {}; move them to {}.", local(shared), ", ".join(sections), local(own_settings(root))),)


def own_settings(root: str | os.PathLike[str]) -> str:
    """Where `orchestrator.json` of a project lies: of a linked worktree in the main checkout, for all of its worktrees.

    A builder works in a worktree, and would set its own limits there.
    """
    path = os.path.abspath(root)
    top = path
    while not worktrees.is_root(top) and os.path.dirname(top) != top:
        top = os.path.dirname(top)
    main = worktrees.main_worktree(top)
    place = path if main is None else os.path.normpath(os.path.join(main, os.path.relpath(path, top)))
    return os.path.join(place, config.OWN_FILE)


def _read(path: str, flags: int) -> bytes:
    """The content of a file of settings.

    Raises:
        Refused: E103, it is no regular file, or cannot be read.
    """
    try:
        with open(atomic_files.open_regular(path, flags), "rb") as file:
            return file.read()
    except OSError as error:
        why = "is a symbolic link" if os.path.islink(path) else sentence("cannot be read: {}", reason(error))
        refusal = codes.refused("E103", sentence("{} {}.", local(path), why), path=path)
        refusal.suggestion = sentence("Put a regular file in its place, or remove it: {}", quoted(path))
        raise refusal from None


def init(root: str | os.PathLike[str]) -> tuple[str, ...]:
    """Set a project up: make what is missing of its structure, and change nothing that is there.

    Returns:
        What was created, relative to the root; nothing where nothing was missing.

    Raises:
        Refused: E103, with all that is of the wrong kind in data ``paths``; nothing was touched. E102, no folder.
        EnvironmentProblem: OUTPUT_FAILED.

    Source: seed 001, Property 2.
    """
    require_room(root)
    path = Path(os.path.abspath(root))
    if not os.path.lexists(path / FOLDER):
        return _set_up_whole(path)
    return tuple(_fill(path / FOLDER, _faults(path)[0]))


def require_room(root: str | os.PathLike[str]) -> None:
    """Refuse to set up a project in which something of the wrong kind is in the way.

    Raises:
        Refused: E102, E103.
    """
    path = os.path.abspath(root)
    _require_folder(path)
    inner = os.path.join(path, FOLDER)
    wrong = [f"{FOLDER}/"] if os.path.lexists(inner) and not os.path.isdir(inner) else _faults(Path(path))[1]
    if wrong:
        said = _said(path, [], wrong, "; nothing was changed.")
        raise Refused("E103", said, _put_right(path, wrong), paths=[name.rstrip("/") for name in wrong])


def load_pointers(root: str | os.PathLike[str]) -> Pointers:
    """Which task runs and which ended last, as `.claude/repl.json` says; none where there is no such file.

    Raises:
        InvalidInput: E105, the file is not what the runner writes.

    Source: seed 001, Property 38.
    """
    path = os.path.join(root, FOLDER, POINTERS)
    try:
        found = pointers(atomic_files.read(path))
    except FileNotFoundError:
        return Pointers()
    except (OSError, ValueError):
        found = None
    if found is None:
        what = sentence("{} is not in the form that the runner writes.", local(path))
        raise InvalidInput("E105", what, sentence("Delete {}", local(path)), path=path)
    return found


def pointers(data: bytes) -> Pointers | None:
    """What a file of pointers says; None where it is not what the runner writes."""
    try:
        document = strict_json.lenient(data)
        found = Pointers(document["current_task_id"], document["last_task_id"])
    except (ValueError, KeyError, TypeError):
        return None
    return found if all(isinstance(value, str | None) for value in found) else None


def save_pointers(root: str | os.PathLike[str], found: Pointers) -> None:
    """Write `.claude/repl.json`, whole or not at all.

    Raises:
        ValueError: one task is said to run and to have ended.
        EnvironmentProblem: OUTPUT_FAILED.

    Source: seed 001, Property 38.
    """
    if found.current_task_id is not None and found.current_task_id == found.last_task_id:
        raise ValueError(f"task {found.current_task_id} runs and has ended")
    text = json.dumps(found._asdict(), indent=2) + "\n"
    atomic_files.write(os.path.join(root, FOLDER, POINTERS), text.encode())


def _check_flags(mode: str, root: str | None, project: str | None) -> None:
    if mode not in MODES:
        raise UsageError("USAGE", f"The project mode must be {', '.join(MODES[:-1])} or {MODES[-1]}.", "Use one of"
            " these")
    if mode == FIXED and not root:
        raise UsageError("USAGE", "A fixed project needs a folder.", "Add --project-root PATH")
    if mode != FIXED and root is not None:
        raise UsageError("USAGE", "--project-root needs --project-mode fixed.", "Add --project-mode fixed")
    if project is not None and mode != CWD:
        raise UsageError("USAGE", f"--project cannot be combined with --project-mode {mode}.", "Leave one of them out")
    if project == "":
        raise UsageError("USAGE", "The project path is empty.", "Name a folder with --project PATH")


def _require_folder(path: str) -> None:
    try:
        found = os.stat(path)
    except (OSError, ValueError) as error:
        why: str = sentence("cannot be used: {}", reason(error))
        if isinstance(error, FileNotFoundError):
            why = "does not exist"
        raise codes.refused("E102", sentence("{} {}.", local(path), why), path=path) from None
    if not stat.S_ISDIR(found.st_mode):
        raise codes.refused("E102", sentence("{} is not a folder.", local(path)), path=path)


def _warnings(path: str) -> tuple[str, ...]:
    real = os.path.realpath(path)
    # TMPDIR may name another folder, and /tmp is emptied all the same.
    for folder in dict.fromkeys((tempfile.gettempdir(), "/tmp")):  # noqa: S108 - it is recognised, not used
        top = os.path.realpath(folder)
        if real == top or real.startswith(top.rstrip(os.sep) + os.sep):
            return (sentence("{} is in {} and may be deleted.", local(path), local(folder)),)
    return ()


def _temporary() -> Project:
    with atomic_files.failing(tempfile.gettempdir()):
        root = tempfile.mkdtemp(prefix="orchestrator-")
    return Project(root, TEMP, (_volatile(root),), _set_up_whole(Path(root)))


def _volatile(root: str) -> str:
    """What is said of a temporary project before and after the work, with the flag that works here instead."""
    with contextlib.suppress(OSError):
        first = "" if is_set_up(os.getcwd()) else sentence("{} once, then ", suggest("init", project="."))
        return sentence(
            "Tasks work in a temporary project, {}; it is volatile and may be deleted afterwards."
            " To work in this folder: {}--project .", local(root), first,
        )  # fmt: skip
    return sentence("Tasks work in a temporary project, {}; it is volatile and may be deleted afterwards.", local(root))


def is_in_repository(folder: str) -> bool:
    """Whether a folder lies in a git repository, by what git itself puts there; git is not asked."""
    path = os.path.abspath(folder)
    while not os.path.lexists(os.path.join(path, ".git")):
        path, below = os.path.dirname(path), path
        if path == below:
            return False
    return True


def _set_up_whole(root: Path) -> tuple[str, ...]:
    """Make the folder beside its place and put it there at once, so that a kill leaves no half of it."""
    target, partial = root / FOLDER, root / f"{FOLDER}.{os.getpid()}-{time.time_ns()}.partial"
    absent = _faults(root)[0]
    try:
        with atomic_files.failing(str(target)):
            partial.mkdir()
        made = _fill(partial, absent)
        with atomic_files.failing(str(target)):
            try:
                partial.rename(target)
            except OSError:
                if not os.path.isdir(target):
                    raise
                # Somebody else was faster; what they lack is made.
                shutil.rmtree(partial, ignore_errors=True)
                return tuple(_fill(target, _faults(root)[0]))
            atomic_files.sync_folder(root)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    return (FOLDER, *made)


def _fill(inner: Path, absent: list[str]) -> list[str]:
    """Create what is absent; after a failure, of this nothing is left."""
    names_ = [name.rstrip("/") for name in sorted(absent, key=lambda name: not name.endswith("/"))]
    made: list[Path] = []
    try:
        with atomic_files.failing(str(inner)):
            for each in names_:
                name = each.removeprefix(f"{FOLDER}/")
                if name in _FOLDERS:
                    (inner / name).mkdir()
                else:
                    _create(inner / name, _FILES[name])
                made.append(inner / name)
            atomic_files.sync_folder(inner)
    except BaseException:
        for place in made:
            with contextlib.suppress(OSError):
                # `rmdir`, so that a folder into which somebody has put something meanwhile stays.
                place.rmdir() if place.is_dir() else place.unlink()
        raise
    return names_


def _create(path: Path, text: str) -> None:
    # The people and tools of the project read these, so they have the modes that its other files get.
    with open(path, "x", encoding="utf-8") as file:
        try:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        except BaseException:
            path.unlink()
            raise
