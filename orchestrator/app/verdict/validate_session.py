"""`validate`: is the work done? Every check runs on one moment of the record; no language model is asked.

What is found out beside the record (how a command ends, where a commit stands) is found out while no transaction is
open. The verdict is then recorded. Where something was recorded meanwhile that changes what it rests on, the session is
judged anew in the very step that records; where something else is now to be found out beside the record it is judged
from the beginning, until the deadline of the database.

Source: seed 004, Proposed Solution 5.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path

from orchestrator import progress
from orchestrator.app.kernel import agent_checks, attached_evidence, human, operations
from orchestrator.app.kernel.context import Answer, Call, Context, Work, answered, call_of, perform
from orchestrator.app.session import pending_commands
from orchestrator.app.verdict import verdicts
from orchestrator.app.verdict.requests import Validate
from orchestrator.core import refs
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.suggestions import sentence, suggest
from orchestrator.core.validation import checks
from orchestrator.core.validation.snapshot import Criterion, Finding, Merge, Ran, Snapshot
from orchestrator.errors import EXIT_NEGATIVE, UsageError
from orchestrator.hints import Any
from orchestrator.runner import fresh_trees
from orchestrator.store import snapshot
from orchestrator.store.reader import Agent


class Tried(NamedTuple):
    """A criterion's command that was run: how it ended, and what it wrote."""

    ran: Ran
    output: str
    size: int

    def to_json(self) -> Answer:
        """As the event keeps it."""
        return {**self.ran._asdict(), "output": self.output, "size": self.size}


def validate(context: Context, request: Validate) -> Answer:
    """Judge a session. ACCEPT completes what rests on the project manager's word and ends the session; REJECT calls
    the project manager with the list.

    A verdict is recorded where the project manager's last report is the confirmation (BAZINGA). Otherwise, and where
    the database cannot be written, the session is judged as in a dry run, and `warnings` say so.

    Returns:
        `verdict` ACCEPT or REJECT, `reason`, `checks` [{id, level, subject, message, hint}], `completes`, `imported`
        (completed groups that were only imported as completed), `head`, `recorded`, `exit_code` 0 or 1; recorded:
        `report_id`, `seq`, `evidence` and the `decision` too.

    Raises:
        UsageError: USAGE, both `dry_run` and `record`.
        Refused: UNKNOWN_SESSION, SESSION_CLOSED, STATE_CHANGED: what is to be found out beside the record (commands,
            commits, files) went on changing until the deadline;
            UNKNOWN_AGENT, NOT_PERMITTED, HUMAN_REQUIRED: of `by`.
    """
    if request.dry_run and request.record:
        raise UsageError("USAGE", "A dry run records nothing, so dry_run and record exclude each other.", "Drop one")
    call = call_of(request)
    before = answered(context, call)
    if before is not None:
        return before | {"recorded": True}
    judge = functools.partial(_judge, context, call, request)
    ends = time.monotonic() + context.deadline_s
    while True:
        try:
            return judge(ends)
        except _WentOnError:
            continue


class _WentOnError(Exception):
    """The session changed while it was judged, and there is time to judge it anew. Nothing was written."""


def _judge(context: Context, call: Call, request: Validate, ends: float) -> Answer:
    """Judge once, and record the verdict where one is wanted.

    Args:
        ends: when a change of the session is no longer answered by judging anew; seconds of the monotonic clock.

    Raises:
        _WentOnError: before that, the session changed meanwhile.
    """
    session_id = call.chain
    seen = snapshot.read(context.connection, session_id, context.deadline_s)
    if seen is None or seen.snapshot.status == "ended" or not _may_ask(context, session_id, request.by):
        return perform(context, call, operations.action(request.event))
    unasked = not (call.dry_run or request.record or seen.snapshot.is_confirmed)
    trial = call.dry_run or unasked or context.is_rehearsal
    if not trial and seen.snapshot.kind == "chat":
        return perform(context, call, operations.action(request.event))
    outside = _outside(context, seen, request.command_timeout if request.run_commands or not trial else None)
    if trial:
        full = outside.added(seen.snapshot)
        answer = verdicts.answer(checks.validate(full).to_json(), full.head)
        answer |= {"session_id": session_id, "dry_run": True, "recorded": False}
        if unasked:
            return answer | _unasked(full)
        return answer if call.dry_run else answer | {"warnings": [_unrecorded(session_id)]}

    def record(work: Work) -> Answer:
        if verdicts.went_on(work):
            anew = _seen_anew(work, request, seen)
            if anew is not None:
                work.learn(found=_found(anew, outside))
            elif time.monotonic() < ends:
                raise _WentOnError
        return operations.action(request.event)(work)

    # What older records answered is told again as it was, so that this stands beside the step.
    given = call.circumstances._replace(found=_found(seen, outside))
    return perform(context, call._replace(circumstances=given), record) | {"recorded": True}


def _found(seen: snapshot.Seen, outside: Outside) -> Answer:
    """What the step that records a verdict rests on."""
    full = outside.added(seen.snapshot)
    verdict = checks.validate(full).to_json()
    ran = [each.to_json() for each in outside.tried]
    return {"head": full.head, "store": seen.store, "verdict": verdict, "ran": ran}


def _seen_anew(work: Work, request: Validate, before: snapshot.Seen) -> snapshot.Seen | None:
    """The session as it is within the step; None where what was found out beside the record is not what it asks now,
    or where no verdict is wanted any more.
    """
    seen = snapshot.read(work.context.connection, work.step.chain)
    if seen is None or _asked_outside(seen) != _asked_outside(before):
        return None
    return seen if request.record or seen.snapshot.is_confirmed else None


def _unasked(judged: Snapshot) -> Answer:
    """What a validation says that was turned into a dry run."""
    said = judged.last_manager_status
    why = f"the project manager's last report is {said}, not the confirmation" if said else "nothing was reported yet"
    way = suggest("validate", session_id=judged.session, record=True)
    said = sentence("Nothing was recorded: {}. To record a verdict anyway: {}", why, way)
    return {"exit_code": EXIT_NEGATIVE, "warnings": [said]}


def _unrecorded(session_id: str) -> str:
    """What a validation says that found the database closed to it."""
    way = suggest("validate", session_id=session_id)
    why = "Nothing was recorded, so the session goes on: the database is read-only."
    return sentence("{} To record the verdict, make it and its folder writable and run: {}", why, way)


def _may_ask(context: Context, session_id: str, by: str | None) -> bool:
    """Whether who asks is known and at home in the session; nobody else has commands run."""
    if by is None:
        return True
    agent = context.reader.agent(by)
    known = agent is not None and bool(agent.active) and agent_checks.within(agent, session_id, None)
    return known and agent is not None and (agent.kind == "ai" or _is_proven(context, agent))


def _is_proven(context: Context, agent: Agent) -> bool:
    """Whether who asks is a person, and a human channel says so; the step says once more of whom."""
    context.proof = human.found(context, context.credential) if context.credential is not None else None
    try:
        return human.is_person(context, agent.id)
    finally:
        context.proof = None


class Outside(NamedTuple):
    """What was found out beside the record; `merges` None where no commit was looked up."""

    faults: tuple[Finding, ...]
    tried: tuple[Tried, ...]
    merges: tuple[Merge, ...] | None
    pending: tuple[str, ...] = ()

    def added(self, read: Snapshot) -> Snapshot:
        """A snapshot with it."""
        ran = tuple(each.ran for each in self.tried)
        looked_up = read.merges if self.merges is None else self.merges
        return read._replace(evidence=(*read.evidence, *self.faults), ran=ran, merges=looked_up, pending=self.pending)


def _asked_outside(seen: snapshot.Seen) -> tuple[Any, ...]:
    """All that is looked for beside the record: commands, commits, files."""
    return tuple(_commanded(seen.snapshot)), seen.snapshot.merges, seen.files, seen.inventories


def _commanded(read: Snapshot) -> Iterator[Criterion]:
    for criterion in read.criteria:
        if criterion.command is not None and criterion.status != "deferred":
            yield criterion


def _outside(context: Context, seen: snapshot.Seen, timeout_s: int | None) -> Outside:
    """What only the world outside tells; commands are run where there is a time for them."""
    root = attached_evidence.work_root(context.path, seen.snapshot.session)
    lying = attached_evidence.Evidence(seen.files, seen.inventories)
    faults = tuple(Finding(*fault) for fault in attached_evidence.faults(context.path, seen.snapshot.session, lying))
    waiting = (each for each in _commanded(seen.snapshot) if each.approval == pending_commands.PENDING)
    asked = [(each.id, each.command or ()) for each in waiting]
    pending = tuple(pending_commands.unallowed(context.path, asked)[0]) if asked else ()
    if timeout_s is None:
        return Outside(faults, (), None, pending)
    runnable = (each for each in _commanded(seen.snapshot) if each.id not in pending)
    tried = tuple(_tried(context, criterion, root, timeout_s) for criterion in runnable)
    # Groups of a session with worktrees are merged into its integration branch, and into the user's after ACCEPT.
    is_isolated = root != attached_evidence.project_root(context.path)
    targets = (refs.branch(seen.snapshot.session),) if is_isolated else TARGETS
    merges = look_up(seen.snapshot.merges, context.run, root, targets, seen.began)
    return Outside(faults, tried, merges, pending)


def _tried(context: Context, criterion: Criterion, root: Path, timeout_s: int) -> Tried:
    if context.run is None:
        return Tried(Ran(criterion.id, None, "this program runs no commands"), "", 0)
    progress.tell(f"running the command of criterion {criterion.id}")
    # A worktree has ports of its own.
    given = {"extra": extra} if (extra := fresh_trees.of_folder(str(root))) else {}
    ended = context.run(criterion.command, folder=root, timeout_s=float(timeout_s), **given)
    return Tried(Ran(criterion.id, ended.status, ended.why), ended.output, ended.size)


TARGETS = ("main", "master")
"""The branches that work is merged into; where there is none of them, what is checked out."""
TIMEOUT_S = 60.0

Run = Callable[..., Any]


def look_up(
    found: tuple[Merge, ...], run: Run | None, root: Path, targets: Sequence[str] = TARGETS, began: str | None = None
) -> tuple[Merge, ...]:
    """The merges with what git says of their commits; each commit is looked up once.

    Args:
        found: the merges; those without a commit stay as they are.
        run: runs a command, as `orchestrator.runner.commands.run`; None where none can be run.
        root: the project's folder.
        targets: the branches of which the first that is there is looked at.
        began: when the session began; an older commit is no work of its groups. Where left out, nobody asks.
    """
    if run is None or all(merge.commit is None for merge in found):
        return found
    git = _Git(run, root, targets)
    why = git.missing()
    if why is not None:
        return tuple(merge._replace(why=why) if merge.commit else merge for merge in found)
    known: dict[str, tuple[bool | None, str, bool]] = {}
    for commit in dict.fromkeys(merge.commit for merge in found if merge.commit):
        ancestor, why = git.merged(commit)
        known[commit] = (ancestor, why, False) if not ancestor or began is None else git.made(commit, why, began)
    return tuple(_told(merge, known.get(merge.commit or "")) for merge in found)


def _told(merge: Merge, told: tuple[bool | None, str, bool] | None) -> Merge:
    return merge if told is None else merge._replace(ancestor=told[0], why=told[1], is_older=told[2])


class _Git:
    """A repository, asked through its own program."""

    def __init__(self, run: Run, root: Path, targets: Sequence[str]) -> None:
        self._run = run
        self._root = root
        self._targets = targets
        self._target = ""
        self._name = ""

    def _ask(self, *arguments: str) -> Any:
        return self._run(["git", *arguments], folder=self._root, timeout_s=TIMEOUT_S)

    def missing(self) -> str | None:
        """Why nothing can be looked up, or None."""
        inside = self._ask("rev-parse", "--is-inside-work-tree")
        if inside.status is None:
            return f"git {inside.why}"
        if inside.status != 0 or inside.output.strip() != "true":
            return "the project root is no git repository"
        names = [*((f"refs/heads/{name}", name) for name in self._targets), ("HEAD", "what is checked out")]
        for reference, name in names:
            tip = self._ask("rev-parse", "--verify", "--quiet", f"{reference}^{{commit}}")
            if tip.status == 0:
                self._target, self._name = tip.output.strip(), name
                return None
        return "the repository has no commit"

    def merged(self, commit: str) -> tuple[bool | None, str]:
        """Whether the target contains a commit (None: that cannot be seen), and why."""
        asked = self._ask("merge-base", "--is-ancestor", commit, self._target)
        if asked.status == 0:
            return True, f"it is in {self._name}"
        if asked.status == 1:
            return False, f"it is no ancestor of {self._name}"
        if asked.status is None:
            return None, f"git {asked.why}"
        shallow = self._ask("rev-parse", "--is-shallow-repository")
        if shallow.output.strip() == "true":
            return None, "the repository is shallow and does not hold it"
        return False, "the repository has no such commit"

    def made(self, commit: str, why: str, began: str) -> tuple[bool, str, bool]:
        """Whether what the target contains is a commit of this id, why, and whether it was made before a moment.

        Git takes the name of a branch for one, before the beginning of an id.
        """
        asked = self._ask("rev-list", "--max-count=1", "--timestamp", commit, "--")
        if asked.status != 0:
            return True, why, False
        at, _, id_ = asked.output.strip().partition(" ")
        if not id_.startswith(commit):
            return False, "the repository has no such commit, but a branch or tag of this name", False
        # Git counts whole seconds.
        return True, why, int(at) < int(datetime.fromisoformat(began).timestamp())
