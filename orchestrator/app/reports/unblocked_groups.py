"""A group whose last blocker is lifted by hand returns to who was blocked; a turn that was about the block is over.

Source: seed 004, Proposed Solution 1 (a blocked agent goes on once its block is lifted)
"""

from __future__ import annotations

from orchestrator.app.engine import dispatch, state_changes
from orchestrator.app.kernel.context import Work
from orchestrator.app.reports import withheld_reports
from orchestrator.core import strict_json
from orchestrator.core.routing import blocking, engine
from orchestrator.core.routing.facts import INVESTIGATOR, MANAGER, PERSON, ROUTER, TECH_LEAD, Blocker, Fired, Group

CAUSE = "blocker"
"""The cause of a decision that follows from a blocker's being lifted."""
JUDGES = (TECH_LEAD, INVESTIGATOR, MANAGER)
"""Roles that are called because of a block, beside the one that its own report went to."""
_ABOUT_A_BLOCK = ("guide", "resume", "defer")
"""Effects of reports that are about a blocker alone."""

_WENT_ON = """SELECT 1 FROM agent_reports INDEXED BY ix_agent_reports_group
    WHERE session_id = :session AND group_id = :group AND effect <> 'merge' AND effect <> 'withheld'
    AND (role <> 'project_manager' OR effect IN ('rework', 'defer')) AND seq > :seq
    AND effect IN ('submit_test', 'submit_review', 'test_pass', 'test_fail', 'approve', 'reject', 'merge_fail',
        'rework') LIMIT 1"""
_QUESTION = """SELECT decision FROM questions INDEXED BY ix_questions_open WHERE session_id = :session
    AND group_id = :group AND closed_seq IS NULL AND task_id IS NULL ORDER BY opened_seq LIMIT 1"""


def send_back(work: Work, group_id: str, lifted: Blocker, *, opened_seq: int, by: str, reason: str) -> None:
    """Return a group to who was blocked, where its last blocker was lifted while somebody else was to judge that.

    A question about guidance on that very blocker is closed; the hand-offs that were given out stay as they are.
    """
    group = work.group(group_id)
    if group is None or group.status != "in_progress" or work.reader.blockers(work.step.chain, group_id):
        return
    version = work.version()
    target = blocking.opener(version.workflow, group, lifted, "respawn")
    if group.awaited_role in (None, target.agent) or not _judges(work, group, lifted, opened_seq):
        return
    told = f"blocker {lifted.id} was lifted by {by}: {reason}"
    if group.turn is not None:
        told += f"; turn {group.turn} of {group.awaited_role} is superseded"
    state_changes.close_questions(work, group_id, by=ROUTER, answer="moot")
    target, fired = engine.constrain(version.workflow, work.session(), group, target)
    work.step.flush()
    dispatch.decide(work, work.session(), version, dispatch.Record(
        current_agent=ROUTER, response_status=CAUSE.upper(), group=group, target=target, cause=CAUSE,
        rules=(Fired("return_to_blocked", told), *fired),
    ))
    work.unsettled = True


def _judges(work: Work, group: Group, lifted: Blocker, opened_seq: int) -> bool:
    """Whether whoever is awaited is to judge the block, rather than to go on with the work in spite of it."""
    scope = {"session": work.step.chain, "group": group.id}
    if group.awaited_role == PERSON:
        row = work.reader.one(_QUESTION, **scope)
        stored = strict_json.stored(row[0]) if row and row[0] else {}
        kept = stored.get(withheld_reports.REPORT) or {}
        return lifted.id in kept.get("concerns", ()) and kept["effect"] in _ABOUT_A_BLOCK
    if group.awaited_role not in JUDGES and group.turn != opened_seq:
        return False
    return work.reader.one(_WENT_ON, **scope, seq=opened_seq) is None
