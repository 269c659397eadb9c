"""The scenarios that the product exists for, each played in this process and through the installed command."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest

from tests.acceptance.play import SESSION, Command, Process, Stage, Story, Told


def blocked_in_qa(story: Story, group: str = "A") -> dict[str, Any]:
    """Planned, built, and QA is blocked."""
    if story.groups()[group] == "pending":
        story.plan()
    story.says("developer", "READY_FOR_QA", group)
    return story.says("qa_expert", "BLOCKED", group, summary="no test environment")


def approved_and_merged(story: Story, group: str = "A") -> dict[str, Any]:
    story.says("tech_lead", "APPROVED", group)
    return story.says("developer", "MERGE_SUCCESS", group)


def target(answer: dict[str, Any]) -> tuple[str | None, str]:
    return answer["next_agent"], answer["action"]


def nobody_waits_for_nobody(story: Story) -> None:
    """In an active session every group in progress waits for somebody, and somebody was called by name."""
    assert [group for group, role in story.awaited().items() if role is None] == []
    status, session_awaits = story.session()
    called = story.stage.rows(
        "SELECT id FROM task_groups WHERE awaited_agent_id IS NOT NULL AND held IS NULL AND awaited_action <> 'wait'"
    )
    assert status == "ended" or session_awaits or called


# Positive 1


def test_positive_1_an_approval_accepts_the_blocker_and_bazinga_completes_the_group(tell: Told) -> None:
    story = tell()
    blocked = blocked_in_qa(story)
    assert target(blocked) == ("tech_lead", "spawn")
    assert story.open_blockers() == [("A", "qa_expert")]
    logged = story.stage.rows("SELECT current_agent, response_status, next_agent, action FROM router_decisions")
    assert ("qa_expert", "BLOCKED", "tech_lead", "spawn") in logged

    approved = story.says("tech_lead", "APPROVED", "A")
    assert target(approved) == ("developer", "spawn_merge")
    assert approved["blockers_resolved"] == blocked["blockers_opened"]
    assert story.resolutions() == [("A", "accepted")]

    merged = story.says("developer", "MERGE_SUCCESS", "A")
    assert target(merged) == ("project_manager", "spawn")
    assert [part["part"] for part in merged["path"] if not part["met"]] == ["confirmed"]
    assert story.awaited() == {"A": "project_manager"}

    bazinga = story.says("project_manager", "BAZINGA")
    assert target(bazinga) == (None, "validate_then_end")
    assert bazinga["completed"] == ["A"]
    assert story.groups() == {"A": "completed"}
    assert story.session() == ("active", "validator")
    assert story.refusals() == []


# Positive 2


def test_positive_2_guidance_returns_to_qa_which_passes(tell: Told) -> None:
    story = tell()
    blocked_in_qa(story)

    guided = story.says("tech_lead", "UNBLOCKING_GUIDANCE", "A", summary="use the staging environment")
    assert target(guided) == ("qa_expert", "spawn")
    assert story.resolutions() == [("A", "guidance")]
    opener = story.stage.rows("SELECT opened_by FROM blockers")
    assert opener == [(guided["agent_id"],)]

    assert target(story.says("qa_expert", "PASS", "A")) == ("tech_lead", "spawn")
    assert target(story.says("tech_lead", "APPROVED", "A")) == ("developer", "spawn_merge")
    assert target(story.says("developer", "MERGE_SUCCESS", "A")) == ("project_manager", "spawn")
    assert story.groups() == {"A": "in_progress"}

    assert story.says("project_manager", "BAZINGA")["completed"] == ["A"]
    assert story.groups() == {"A": "completed"}


# Negative: after QA is blocked none of this completes the group

REQUIRED = "tech_lead APPROVED + MERGE_SUCCESS, or project_manager BAZINGA acknowledging the group"

SHORTCUTS = (
    *(
        (f"completed by {by}", "completed", by, "COMPLETION_PATH_MISSING")
        for by in ("orchestrator", "developer", "qa_expert", "tech_lead", "project_manager")
    ),
    ("deferred by tech_lead", "deferred_external", "tech_lead", "NOT_PERMITTED"),
    ("deferred by project_manager before guidance", "deferred_external", "project_manager", "DEFERRAL_NOT_CONFIRMED"),
)


@pytest.mark.parametrize(("status", "by", "code"), [row[1:] for row in SHORTCUTS], ids=[row[0] for row in SHORTCUTS])
def test_after_a_block_a_shortcut_is_refused_and_recorded(tell: Told, status: str, by: str, code: str) -> None:
    story = tell()
    blocked_in_qa(story)

    assert story.code("group set-status", **story.moves("A", status, by)) == code

    assert story.groups() == {"A": "in_progress"}
    assert story.refusals() == [(by, code)]
    assert story.open_blockers() == [("A", "qa_expert")]


def test_a_refused_completion_says_which_parts_are_missing(tell: Told) -> None:
    story = tell()
    blocked_in_qa(story)

    refused = story.do("group set-status", **story.moves("A", "completed", "orchestrator"))

    assert refused["required"] == REQUIRED
    missing = [part["part"] for part in refused["path"] if not part["met"]]
    assert missing == ["approved", "tested", "merged", "unblocked", "confirmed"]


def test_after_a_block_a_report_of_the_developer_is_out_of_turn(tell: Told) -> None:
    story = tell()
    blocked_in_qa(story)

    assert story.refused("developer", "READY_FOR_QA", "A") == "OUT_OF_TURN"

    assert story.groups() == {"A": "in_progress"}
    assert story.refusals() == [("developer", "OUT_OF_TURN")]
    assert story.awaited() == {"A": "tech_lead"}


def test_after_a_block_the_project_manager_cannot_defer_by_a_report_either(tell: Told) -> None:
    story = tell()
    blocked_in_qa(story)

    code = story.refused("project_manager", "DEFER_EXTERNAL", "A", summary="external", interrupt=True)

    assert code == "DEFERRAL_NOT_CONFIRMED"
    assert story.groups() == {"A": "in_progress"}
    assert story.awaited() == {"A": "tech_lead"}


RAW = {
    "update": ("UPDATE task_groups SET status = 'completed'", "COMPLETION_PATH_MISSING: approved is not met"),
    "update or replace": ("UPDATE OR REPLACE task_groups SET status = 'completed'", "COMPLETION_PATH_MISSING"),
    "update or ignore": ("UPDATE OR IGNORE task_groups SET status = 'completed'", "COMPLETION_PATH_MISSING"),
    "deferred": ("UPDATE task_groups SET status = 'deferred_external'", ""),
    "with the change columns": (
        "UPDATE task_groups SET status = 'completed', status_changed_by = 'project_manager', status_seq = 99", ""
    ),
    "insert or replace": (
        "INSERT OR REPLACE INTO task_groups SELECT * FROM task_groups", ""
    ),
    "delete": ("DELETE FROM task_groups", ""),
    "resolve the blocker": ("UPDATE blockers SET resolved_seq = 99, resolved_at = 'now', resolution = 'accepted'", ""),
    "delete the blocker": ("DELETE FROM blockers", ""),
    "forge an approval": ("UPDATE agent_reports SET effect = 'approve'", ""),
    "forge a status change": (
        "INSERT INTO status_changes"
        " VALUES ('S1', 99, 1, 'group', 'A', 'in_progress', 'completed', 'x', 'now', 'r', 'c')", ""
    ),
    "end the session": ("UPDATE sessions SET status = 'ended', outcome = 'accepted'", ""),
    "clear the refusals": ("DELETE FROM refusals", ""),
    "shorten the audit": ("DELETE FROM audit_events WHERE seq > 2", ""),
}


def test_plain_sql_is_refused_and_leaves_no_row(tell: Told) -> None:
    story = tell()
    blocked_in_qa(story)
    story.refused("developer", "READY_FOR_QA", "A")
    before = everything(story.stage)

    refusals = {name: story.stage.past_every_door(sql) for name, (sql, _) in RAW.items()}

    assert [name for name, refused in refusals.items() if not all(refused)] == []
    otherwise = {name: each for name, refused in refusals.items() for each in refused if RAW[name][1] not in each}
    assert otherwise == {}
    assert everything(story.stage) == before


def everything(stage: Stage) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table."""
    names = stage.rows("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    return {name: sorted(stage.rows(f'SELECT * FROM "{name}"'), key=repr) for (name,) in names}


def test_bazinga_after_a_block_completes_nothing(tell: Told) -> None:
    story = tell()
    blocked_in_qa(story)

    bazinga = story.says("project_manager", "BAZINGA")

    assert target(bazinga) == (None, "validate_then_end")
    assert "completed" not in bazinga
    assert story.groups() == {"A": "in_progress"}
    assert story.open_blockers() == [("A", "qa_expert")]
    assert story.awaited() == {"A": "tech_lead"}


# Incident


DEPENDENCY = "the hospital's test environment"


def incident(tell: Told) -> Story:
    story = tell(groups=("PAT-ADHERE", "PAT-VIP", "NUR-E2E", "E2E-RX"))
    story.plan()
    story.says("developer", "READY_FOR_REVIEW", "PAT-ADHERE")
    story.says("tech_lead", "CHANGES_REQUESTED", "PAT-ADHERE", summary="type errors")
    story.says("developer", "READY_FOR_QA", "PAT-VIP")
    story.says("qa_expert", "FAIL", "PAT-VIP", summary="a test id is missing")
    for group in ("NUR-E2E", "E2E-RX"):
        blocked_in_qa(story, group)
    return story


def defer(story: Story, group: str) -> dict[str, Any]:
    external = {"external": True, "external_dependency": DEPENDENCY}
    guided = story.says("tech_lead", "UNBLOCKING_GUIDANCE", group, details=external)
    assert target(guided) == ("project_manager", "spawn")
    return story.says("project_manager", "DEFER_EXTERNAL", group, summary="not before the release")


def test_the_incident_no_blocked_group_can_be_marked_completed(tell: Told) -> None:
    story = incident(tell)

    for group in story.groups():
        assert story.code("group set-status", **story.moves(group, "completed", "orchestrator")) == (
            "COMPLETION_PATH_MISSING"
        )

    assert set(story.groups().values()) == {"in_progress"}
    assert story.awaited() == {
        "PAT-ADHERE": "developer", "PAT-VIP": "developer", "NUR-E2E": "tech_lead", "E2E-RX": "tech_lead"
    }


def test_the_incident_ends_with_two_groups_completed_and_two_deferred_and_acknowledged(tell: Told) -> None:
    story = incident(tell)
    for group in ("NUR-E2E", "E2E-RX"):
        assert defer(story, group)["group_status"] == "deferred_external"
    story.says("developer", "READY_FOR_REVIEW", "PAT-ADHERE")
    assert approved_and_merged(story, "PAT-ADHERE")["completed"] == ["PAT-ADHERE"]
    story.says("developer", "READY_FOR_QA", "PAT-VIP")
    story.says("qa_expert", "PASS", "PAT-VIP")
    last = approved_and_merged(story, "PAT-VIP")

    assert last["completed"] == ["PAT-VIP"]
    assert target(last) == ("project_manager", "spawn")
    assert last["phase_check"] == "complete"
    reasons = {"NUR-E2E": "waits for the environment", "E2E-RX": "waits for the environment"}
    bazinga = story.says("project_manager", "BAZINGA", acknowledge=reasons)

    assert target(bazinga) == (None, "validate_then_end")
    assert story.groups() == {
        "PAT-ADHERE": "completed", "PAT-VIP": "completed", "NUR-E2E": "deferred_external", "E2E-RX": "deferred_external"
    }
    deferred = story.stage.rows("SELECT group_id, dependency, deferred_by FROM deferrals ORDER BY seq")
    assert [row[:2] for row in deferred] == [("NUR-E2E", DEPENDENCY), ("E2E-RX", DEPENDENCY)]
    assert dict(story.stage.rows("SELECT group_id, reason FROM acknowledgements")) == reasons
    assert story.open_blockers() == [("NUR-E2E", "qa_expert"), ("E2E-RX", "qa_expert")]


# Liveness


def test_two_once_blocked_groups_merged_one_after_the_other_both_await_confirmation(tell: Told) -> None:
    story = tell(groups=("A", "B"))
    for group in ("A", "B"):
        blocked_in_qa(story, group)

    first = approved_and_merged(story, "A")
    nobody_waits_for_nobody(story)
    assert first["phase_check"] == "wait"
    assert story.awaited() == {"A": "project_manager", "B": "tech_lead"}

    second = approved_and_merged(story, "B")
    nobody_waits_for_nobody(story)
    assert target(second) == ("project_manager", "spawn")
    assert [group["group_id"] for group in second["groups"]["awaiting_confirmation"]] == ["A", "B"]

    assert story.says("project_manager", "BAZINGA")["completed"] == ["A", "B"]
    assert set(story.groups().values()) == {"completed"}


def test_a_group_starts_once_the_once_blocked_group_it_depends_on_is_merged(tell: Told) -> None:
    story = tell()
    story.group("B", depends_on=["A"])
    blocked_in_qa(story)
    assert story.groups() == {"A": "in_progress", "B": "pending"}

    merged = approved_and_merged(story)
    nobody_waits_for_nobody(story)
    assert target(merged) == ("developer", "spawn_batch")
    assert merged["groups_to_spawn"] == ["B"]
    assert story.awaited() == {"A": "project_manager", "B": "developer"}

    story.says("developer", "READY_FOR_QA", "B")
    story.says("qa_expert", "PASS", "B")
    approved_and_merged(story, "B")
    nobody_waits_for_nobody(story)
    story.says("project_manager", "BAZINGA")
    assert story.groups() == {"A": "completed", "B": "completed"}


def test_three_groups_on_two_slots_all_come_to_an_end(tell: Told) -> None:
    story = tell(slots=2, groups=("A", "B", "C"))
    assert story.plan()["groups_to_spawn"] == ["A", "B"]
    blocked_in_qa(story, "A")
    blocked_in_qa(story, "B")
    assert story.groups() == {"A": "in_progress", "B": "in_progress", "C": "pending"}

    assert approved_and_merged(story, "A")["groups_to_spawn"] == ["C"]
    nobody_waits_for_nobody(story)
    blocked_in_qa(story, "C")
    for group in ("B", "C"):
        approved_and_merged(story, group)
        nobody_waits_for_nobody(story)

    assert story.says("project_manager", "BAZINGA")["completed"] == ["A", "B", "C"]
    assert story.session() == ("active", "validator")


# Both stages


def test_both_stages_leave_the_same_record(
    environment: dict[str, str], script: pathlib.Path, of_slots: dict[int, pathlib.Path]
) -> None:
    """Nothing but the door, the times, and what is hashed over them may differ."""
    process, command = Process(), Command(environment, script, of_slots[4])
    for stage in (process, command):
        story = Story(stage)
        blocked_in_qa(story)
        story.code("group set-status", **story.moves("A", "completed", "developer"))
        approved_and_merged(story)
        story.says("project_manager", "BAZINGA")
    command.close()

    tables = {
        "agent_reports": "seq, group_id, role, agent_id, response_status, effect, turn",
        "router_decisions": "id, group_id, current_agent, response_status, next_agent, action, cause, rules",
        "status_changes": "seq, part, entity, entity_id, from_status, to_status, changed_by, reason, cause",
        "refusals": "id, actor, group_id, role, status, turn, code, detail",
        "audit_events": "session_id, seq, kind, actor",
    }
    for table, columns in tables.items():
        where = f"WHERE session_id = '{SESSION}'"
        sql = f"SELECT {columns} FROM {table} {where} ORDER BY 1, 2"
        assert command.rows(sql) == process.rows(sql)
