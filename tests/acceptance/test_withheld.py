"""In states that walks lead to: a report that a person turns down leaves the completion view as if it never came."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.app.kernel.context import Context
from tests.acceptance import walking
from tests.acceptance.walking import Walk, answer, report

FITTING = {"block": "blocked", "test_fail": "failed", "merge_fail": "failed", "progress": "partial",
           "inconclusive": "partial", "guide": "partial", "escalate": "partial", "investigate": "partial",
           "none": "partial"}  # fmt: skip
"""The status of return metadata that asks for a look, by the effect of the report; other effects take none."""
AWAITED = """SELECT id, awaited_role, awaited_action FROM task_groups WHERE session_id = 'S1'
    AND status = 'in_progress' AND turn IS NOT NULL AND awaited_role NOT IN ('user', 'project_manager')"""


def path(context: Context, group: str, *, blocked: bool) -> tuple[Any, ...]:
    """What the completion view says of a group; where a blocker was opened, without what follows from that alone."""
    columns = "group_id, approved_why, approved_seq, tested_why, tested_seq, merged_why, merged_seq, reviewed_why"
    found: tuple[Any, ...] = context.connection.execute(
        f"SELECT {columns if blocked else '*'} FROM completion_paths WHERE session_id = 'S1' AND group_id = ?", (group,)
    ).fetchone()
    return found


@pytest.mark.parametrize("seed", [0, 1, 2, 4, 5, 6, 7])
@pytest.mark.parametrize("decision", ["abandon", "revise"])
def test_a_report_that_is_turned_down_leaves_no_trace_in_the_path(seed: int, decision: str) -> None:
    walk, asked = Walk(seed), 0
    for _ in range(8):
        walk.go(2)
        whole = walk.context.connection.serialize()
        workflow = walk.context.version(walk.context.require_session("S1").workflow_version_id).workflow
        for group, role, action in walk.context.connection.execute(AWAITED).fetchall():
            for status in workflow.statuses_of(role):
                effect = workflow.transitions[role, status].effect
                if effect not in FITTING or (effect == "merge_fail" and action != "spawn_merge"):
                    continue
                metadata = {"status": FITTING[effect], "errors": [], "requires_user_review": True,
                            "review_reason": "a look"}  # fmt: skip
                before = path(walk.context, group, blocked=effect == "block")
                if walking.perform(walk.context, report(role, status, group, metadata=metadata)) is None:
                    asked += 1
                    found = walk.context.reader.question("S1", group)
                    assert found is not None
                    assert walking.perform(walk.context, answer(found, decision)) is None
                    assert path(walk.context, group, blocked=effect == "block") == before, (role, status)
                    assert walking.violations(walk.context) == []
                walk.context.connection.deserialize(whole)
    assert asked
