"""What must hold before the first turn is started: each failing one is named before anything is spent."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence

from orchestrator.app.driving import fresh, trees
from orchestrator.app.driving.crew import Crew, Member
from orchestrator.app.kernel import attached_evidence
from orchestrator.app.kernel.context import Answer, Context
from orchestrator.core import names, refs
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.suggestions import joined, local, reason, sentence
from orchestrator.errors import EXIT_ENVIRONMENT, EXIT_OK, EnvironmentProblem
from orchestrator.runner import port, repository

FREE_BYTES = 100 * 1024 * 1024
"""Room on the disk below which nothing is started: evidence, logs and the agents' own work need it."""


class Check(NamedTuple):
    """One check: its name, whether it holds, what was seen, and what helps."""

    name: str
    ok: bool
    message: str
    suggestion: str = ""


def checks(crew: Crew, root: str, isolation: str) -> list[Check]:
    """Every check of the surroundings; no model is asked, only clients whether somebody is logged in.

    Args:
        root: the project's folder. isolation: `worktree` or `none`.
    """
    found = [check for member in crew.members() for check in _executors(member)]
    found += [_folder(root), _disk(root)]
    found += [_repository(root), _settings(root)] if isolation == trees.WORKTREE else []
    return [*found, *(Check("warning", True, each) for each in warnings(root, isolation))]


def warnings(root: str, isolation: str) -> list[str]:
    """What a person should know before the first turn, and what stops nothing."""
    if isolation == trees.WORKTREE:
        detached = "no branch is checked out (detached HEAD), so --land and --clean do nothing"
        signed = "commits are signed here, including the driver's, and nobody can be asked for a passphrase"
        signs = repository.git(root, "config", "--type=bool", "commit.gpgsign").output == "true"
        return [*([] if repository.has_branch(root) else [detached]), *([signed] if signs else [])]
    found = ["all agents work in the project's folder, one turn at a time, and nothing is committed"]
    missing = sentence("{} is not the root of a git repository with a commit: {}", local(root), found[0])
    return [missing] if trees.usual(root) == trees.NONE else found


def evidence(context: Context) -> list[Check]:
    """Whether the folder takes files in which all machines keep the evidence of a database, where there is one."""
    shared = attached_evidence.shared_folder(context.path)
    if shared is None:
        return []
    try:
        attached_evidence.require_shared(context.path, context.connection)
    except EnvironmentProblem as problem:
        return [Check("evidence", False, problem.message, problem.suggestion)]
    return [Check("evidence", True, local(str(shared)))]


def work(context: Context, session: str, root: str) -> Check:
    """Whether the commits that agents of a session have handed on or merged are here: on a server's database they may
    have been made on another machine, and a branch that begins without them would leave them out.
    """
    newest = {group: str(commit) for group, commit in context.connection.execute(_COMMITS, {"session": session})}
    into = refs.branch(session)
    for group, commit in newest.items():
        kept = [each for each in (into, refs.branch(session, group)) if repository.commit_of(root, each)]
        if not any(repository.contains(root, each, commit) for each in kept):
            found = context.reader.one(_MADE_BY, session=session, group=group)
            where = names.host_of(str(found[0])) if found and found[0] else "another machine"
            what = f"the work on {group} was committed on {where} ({commit[:12]}) and is on no branch here"
            refspec = f"refs/heads/{refs.PREFIX}/{refs.part(session)}/*"
            help_ = f"git fetch REMOTE '{refspec}:{refspec}', or drive the session on {where}"
            return Check("work", False, what, help_)
    return Check("work", True, "what agents have committed is here")


_COMMITS = """SELECT r.group_id, json_extract(e.input, '$.measured.commit') FROM agent_reports r
    JOIN audit_events e ON e.session_id = r.session_id AND e.seq = r.seq WHERE r.session_id = :session
    AND r.group_id IS NOT NULL AND json_extract(e.input, '$.measured.commit') IS NOT NULL ORDER BY r.seq"""
_MADE_BY = """SELECT owner FROM starts WHERE session_id = :session AND group_id = :group AND isolation = 'worktree'
    ORDER BY seq DESC LIMIT 1"""


def _executors(member: Member) -> Iterator[Check]:
    """Whether an executor is there, and whether somebody is logged in to it."""
    state = member.executor.is_available()
    yield _state(sentence("executor {}", member.shown), state, "ready")
    asks = getattr(member.executor, "is_logged_in", None)
    if asks is not None and state.available:
        yield _state(sentence("login {}", member.shown), asks(), "logged in")


def _state(name: str, state: port.Availability, good: str) -> Check:
    what = good if state.available else state.reason or "not available"
    return Check(name, state.available, what, state.suggestion or "")


def _folder(root: str) -> Check:
    if os.path.isdir(root) and os.access(root, os.W_OK | os.X_OK):
        return Check("project", True, local(root))
    what = sentence("{} is not a writable folder.", local(root))
    return Check("project", False, what, "Change to the project folder")


def _repository(root: str) -> Check:
    """Whether worktrees can be created here."""
    if not repository.is_top(root) or repository.head(root) is None:
        what: str = sentence("{} is not the root of a git repository with a commit.", local(root))
        return Check("repository", False, what, "Commit once, or use --isolation none")
    if repository.commit_of(root, f"refs/heads/{refs.PREFIX}"):
        what = f"A branch named {refs.PREFIX} exists, so branches below that name cannot be created."
        return Check("repository", False, what, f"git branch -m {refs.PREFIX} OTHER")
    return Check("repository", True, "worktrees can be created")


def _settings(root: str) -> Check:
    """Whether what the project sets for new worktrees can be done."""
    why = fresh.problem(root)
    return Check("settings", why is None, why or "new worktrees can be set up", "Fix orchestrator.json" if why else "")


def _disk(root: str) -> Check:
    try:
        free = shutil.disk_usage(root).free
    except OSError as problem:
        return Check("disk", False, sentence("Free disk space could not be determined: {}.", reason(problem)))
    enough = free >= FREE_BYTES
    return Check("disk", enough, f"{free // 1024**2} MiB free", "" if enough else "Free some space on the disk")


def answer(found: Sequence[Check]) -> Answer:
    """What `drive --check` answers."""
    bad = any(not each.ok for each in found)
    code = EXIT_ENVIRONMENT if bad else EXIT_OK
    return {"success": not bad, "checks": [each._asdict() for each in found], "exit_code": code}


def require(found: Sequence[Check]) -> None:
    """Refuse to start anything where a check fails.

    Raises:
        EnvironmentProblem: PREFLIGHT_FAILED {checks}, with every check that fails.
    """
    bad = [each for each in found if not each.ok]
    if bad:
        what = joined([sentence("{}: {}", each.name, each.message.rstrip(".")) for each in bad], "; ")
        help_ = next((each.suggestion for each in bad if each.suggestion), "Fix the listed problems")
        raise EnvironmentProblem("PREFLIGHT_FAILED", what + ".", help_, checks=[each._asdict() for each in bad])
