"""The scenarios that the product exists for, each to its verdict, in this process and through the installed command."""

from __future__ import annotations

import pytest

from orchestrator.store import snapshot
from tests.acceptance import walking
from tests.acceptance.play import SESSION, Story, Told
from tests.acceptance.test_replay import assert_told_again

DEPENDENCY = "the hospital's test environment"


def validate(story: Story) -> tuple[str, list[tuple[str, str]]]:
    """The verdict, and the errors that it names."""
    answer = story.do("validate", session_id=SESSION)
    assert answer["success"], answer
    errors = [(check["id"], check["subject"]) for check in answer["checks"] if check["level"] == "error"]
    assert answer["exit_code"] == int(answer["verdict"] == "REJECT")
    return answer["verdict"], errors


def ended(story: Story) -> bool:
    """Whether the session has ended with the outcome of an ACCEPT, and waits for nobody."""
    return story.stage.rows("SELECT status, outcome, awaited_role FROM sessions") == [("ended", "accepted", None)]


def blocked(story: Story, group: str = "A") -> None:
    story.says("developer", "READY_FOR_QA", group)
    story.says("qa_expert", "BLOCKED", group, summary="no test environment")


def approved_and_merged(story: Story, group: str = "A") -> None:
    story.says("tech_lead", "APPROVED", group)
    story.says("developer", "MERGE_SUCCESS", group)


def test_positive_1_ends_accepted(tell: Told) -> None:
    story = tell()
    story.plan()
    blocked(story)
    approved_and_merged(story)
    story.says("project_manager", "BAZINGA")
    assert validate(story) == ("ACCEPT", [])
    assert ended(story)
    assert story.groups() == {"A": "completed"}


def test_positive_2_ends_accepted(tell: Told) -> None:
    story = tell()
    story.plan()
    blocked(story)
    story.says("tech_lead", "UNBLOCKING_GUIDANCE", "A", summary="use the staging environment")
    story.says("qa_expert", "PASS", "A")
    approved_and_merged(story)
    story.says("project_manager", "BAZINGA")
    assert validate(story) == ("ACCEPT", [])
    assert ended(story)


def test_negative_bazinga_over_blocked_work_is_rejected(tell: Told) -> None:
    story = tell()
    story.plan()
    blocked(story)
    story.says("project_manager", "BAZINGA")
    verdict, errors = validate(story)
    assert verdict == "REJECT"
    assert {("V02", "A"), ("V04", "A"), ("V07", "A")} <= set(errors)
    assert {id_ for id_, _ in errors} == {"V02", "V04", "V07"}
    assert story.session() == ("active", "project_manager")
    assert story.groups() == {"A": "in_progress"}
    assert story.awaited() == {"A": "tech_lead"}


def test_negative_a_word_alone_does_not_pass_over_an_open_blocker(tell: Told) -> None:
    story = tell()
    story.plan()
    blocked(story)
    story.says("project_manager", "BAZINGA", acknowledge={"A": "only an environment issue"})
    verdict, errors = validate(story)
    assert (verdict, {id_ for id_, _ in errors} >= {"V02", "V04", "V07"}) == ("REJECT", True)
    assert story.groups() == {"A": "in_progress"}


def test_the_incident_is_rejected_by_name_without_the_acknowledgement_and_accepted_with_it(tell: Told) -> None:
    story = tell(groups=("PAT-ADHERE", "PAT-VIP", "NUR-E2E", "E2E-RX"))
    story.plan()
    story.says("developer", "READY_FOR_REVIEW", "PAT-ADHERE")
    story.says("tech_lead", "CHANGES_REQUESTED", "PAT-ADHERE", summary="type errors")
    story.says("developer", "READY_FOR_QA", "PAT-VIP")
    story.says("qa_expert", "FAIL", "PAT-VIP", summary="a test id is missing")
    for group in ("NUR-E2E", "E2E-RX"):
        blocked(story, group)
        external = {"external": True, "external_dependency": DEPENDENCY}
        story.says("tech_lead", "UNBLOCKING_GUIDANCE", group, details=external)
        story.says("project_manager", "DEFER_EXTERNAL", group, summary="not before the release")
    story.says("developer", "READY_FOR_REVIEW", "PAT-ADHERE")
    approved_and_merged(story, "PAT-ADHERE")
    story.says("developer", "READY_FOR_QA", "PAT-VIP")
    story.says("qa_expert", "PASS", "PAT-VIP")
    approved_and_merged(story, "PAT-VIP")

    story.says("project_manager", "BAZINGA")
    assert validate(story) == ("REJECT", [("V05", "NUR-E2E"), ("V05", "E2E-RX")])
    assert story.session() == ("active", "project_manager")

    reasons = {"NUR-E2E": "waits for the environment", "E2E-RX": "waits for the environment"}
    story.says("project_manager", "BAZINGA", acknowledge=reasons)
    assert validate(story) == ("ACCEPT", [])
    assert ended(story)
    assert list(story.groups().values()) == ["completed", "completed", "deferred_external", "deferred_external"]


def test_liveness_two_once_blocked_groups_end_accepted(tell: Told) -> None:
    story = tell(groups=("A", "B"))
    story.plan()
    for group in ("A", "B"):
        blocked(story, group)
    for group in ("A", "B"):
        approved_and_merged(story, group)
    story.says("project_manager", "BAZINGA")
    assert validate(story) == ("ACCEPT", [])
    assert ended(story)


def test_liveness_a_group_behind_a_once_blocked_one_ends_accepted(tell: Told) -> None:
    story = tell()
    story.group("B", depends_on=["A"])
    story.plan()
    blocked(story)
    approved_and_merged(story)
    story.says("developer", "READY_FOR_QA", "B")
    story.says("qa_expert", "PASS", "B")
    approved_and_merged(story, "B")
    story.says("project_manager", "BAZINGA")
    assert validate(story) == ("ACCEPT", [])
    assert ended(story)


def test_liveness_three_groups_on_two_slots_end_accepted(tell: Told) -> None:
    story = tell(slots=2, groups=("A", "B", "C"))
    story.plan()
    blocked(story, "A")
    blocked(story, "B")
    approved_and_merged(story, "A")
    blocked(story, "C")
    for group in ("B", "C"):
        approved_and_merged(story, group)
    story.says("project_manager", "BAZINGA")
    assert validate(story) == ("ACCEPT", [])
    assert ended(story)


@pytest.mark.parametrize("seed", range(12))
def test_whatever_is_played_by_the_rules_is_a_whole_record_and_its_verdicts_are_told_again(seed: int) -> None:
    walk = walking.Walk(seed)
    for _ in range(4):
        walk.go(20)
        walking.perform(walk.context, walking.Op("validate", {"session_id": "S1", "record": True}))
    for (session,) in walk.context.connection.execute("SELECT id FROM sessions").fetchall():
        seen = snapshot.read(walk.context.connection, session)
        assert seen is not None
        found = seen.snapshot
        assert (found.gaps, found.chain, found.guards, found.roles, found.evidence) == ((), (), (), (), ())
    assert_told_again(walk.context)
