"""Gates: commands of criteria that are due when an agent reports a status, run before the report is routed.

So an agent fixes what fails in its own context, and nobody else is started for what does not build. The hook of a
client, the driver and `route --run-commands` run them here, outside any transaction.

Source: 80 section 5 (gates while the agent is warm).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from orchestrator.app.engine import measured
from orchestrator.app.kernel.context import MAX_DETAIL, Answer, Context
from orchestrator.app.session import pending_commands
from orchestrator.app.verdict import criteria_views
from orchestrator.core import masking, refs
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.suggestions import suggest
from orchestrator.errors import Refused
from orchestrator.store import queries
from orchestrator.store.queries import Row

TIMEOUT_S = 300.0
"""Seconds that one command may take."""
MOST = 3
"""How often a failing gate sends an agent back in one turn; then its report is routed with the failure."""
CODE = "GATE_FAILED"
_SHOWN = 2_000
"""Characters of a failing command's output, from its end, that the agent is shown; the record keeps MAX_DETAIL."""
_SENT_BACK = """SELECT count(*) FROM refusals INDEXED BY ix_refusals_gate WHERE session_id = :session
    AND group_id IS :group AND turn = :turn AND role = :role AND code = 'GATE_FAILED'"""


class Seen(NamedTuple):
    """What came of the gates of a report: those that failed, and those that could not be run or did not finish.

    Each is {criterion, command, why, output, size}.
    """

    failed: tuple[Answer, ...] = ()
    not_run: tuple[Answer, ...] = ()

    def details(self) -> Answer:
        """What the report's details say of it to whoever is next; no details where all is well."""
        failed = [{**_told(each), "output": each["output"][-_SHOWN:]} for each in self.failed]
        not_run = [_told(each) for each in self.not_run]
        return {name: each for name, each in (("gate_failures", failed), ("gates_not_run", not_run)) if each}

    def measured(self) -> Answer:
        """What the step keeps of it; nothing where all is well."""
        found = [{**each, "ran": ran} for ran, kept in ((1, self.failed), (0, self.not_run)) for each in kept]
        return {measured.GATES: found} if found else {}


def _told(gate: Answer) -> Answer:
    return {name: gate[name] for name in ("criterion", "command", "why")}


def check(
    context: Context, start: Row, status: str, folder: str, *, may_return: bool = True, within_s: float | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Seen:
    """Run the gates that are due before a report is routed.

    Args:
        start: the turn that it answers, by `session_id`, `group_id`, `turn` and `role`.
        status: the reported status.
        folder: where they are run, as `where` gives it.
        may_return: whether the agent can be sent back with what fails.
        within_s: seconds that all of them may take together; what has not finished by then counts as not run.
        cancelled: asked again and again; once true, no further one is waited for.

    Returns:
        What failed and what was not run, which the report then carries.

    Raises:
        Refused: GATE_FAILED {gates}, at most three times in a turn.
    """
    seen = _run(context, start, status, folder, within_s, cancelled)
    if not seen.failed or not may_return:
        return seen
    given = {"session": start["session_id"], "group": start["group_id"], "turn": start["turn"], "role": start["role"]}
    (before,) = context.reader.one(_SENT_BACK, **given) or (0,)
    if int(str(before)) >= MOST:
        return seen
    raise _refusal(start["session_id"], seen)


def where(context: Context, start: Row, folder: str | None = None) -> str:
    """Where the gates of a turn are run: in its worktree, else in the client's folder, else in the project's.

    Args:
        folder: the folder in which a client says that the agent worked.
    """
    from orchestrator.app.kernel import attached_evidence

    root = attached_evidence.project_root(context.path)
    tree = root / refs.folder(start["session_id"], start["group_id"])
    isolation = start.get("isolation")
    # Where nobody says anything, the tree is taken that is there; one may be left of an earlier drive.
    is_own = isolation == "worktree" or (isolation is None and folder is None)
    if is_own and os.path.lexists(tree / ".git"):
        return str(tree)
    return folder if folder is not None and os.path.isdir(folder) else str(root)


def _run(
    context: Context, start: Row, status: str, folder: str, within_s: float | None,
    cancelled: Callable[[], bool] | None,
) -> Seen:
    due = _due(context, start, status)
    if not due:
        return Seen()
    from orchestrator.runner import fresh_trees

    failed, not_run = [], []
    given = {"extra": extra} if (extra := fresh_trees.of_folder(folder)) else {}
    ends = None if within_s is None else time.monotonic() + within_s
    for each in due:
        left = TIMEOUT_S if ends is None else min(TIMEOUT_S, ends - time.monotonic())
        kept = {"criterion": each["id"], "command": each["command"], "output": "", "size": 0}
        if context.run is None:
            not_run.append({**kept, "why": "not run: this program runs no commands"})
        elif left <= 0:
            not_run.append({**kept, "why": "not run: no time was left"})
        else:
            ended = context.run(each["command"], folder=folder, timeout_s=left, cancelled=cancelled, **given)
            kept |= {"output": masking.mask(ended.output)[-MAX_DETAIL:], "size": ended.size}
            if ended.status is None and (left < TIMEOUT_S or (cancelled is not None and cancelled())):
                not_run.append({**kept, "why": f"not finished: {ended.why}"})
            elif ended.status != 0:
                failed.append({**kept, "why": ended.why})
    return Seen(tuple(failed), tuple(not_run))


def _due(context: Context, start: Row, status: str) -> list[Row]:
    """The criteria whose commands are due, but for those that nobody has allowed yet."""
    rows = queries.rows(context.reader, queries.CRITERIA, session=start["session_id"], since=0, all=0, limit=-1)
    due = [each for each in map(criteria_views.shape, rows) if each["command"] and status in each["due_at"]]
    due = [each for each in due if each["group_id"] in (None, start["group_id"])]
    asked = [(each["id"], each["command"]) for each in due if each["approval"] == pending_commands.PENDING]
    pending = pending_commands.unallowed(context.path, asked)[0] if asked else []
    return [each for each in due if each["id"] not in pending]


def _refusal(session: str, seen: Seen) -> Refused:
    """The refusal of a report before which a gate fails."""
    told = "\n\n".join(
        f"{each['criterion']} ({' '.join(each['command'])}): {each['why']}\n{each['output'][-_SHOWN:]}".rstrip()
        for each in seen.failed
    )
    return Refused(
        CODE, f"A check that must pass before this report fails. Fix it, then report again.\n\n{told}",
        suggest("status", session_id=session), gates=seen.details()["gate_failures"], _measured=seen.measured(),
    )  # fmt: skip
