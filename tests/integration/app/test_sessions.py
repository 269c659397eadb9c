"""Sessions: created, paused, tightened, moved to another workflow version; and what two of them share: nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from orchestrator import testing
from orchestrator.app import operations, setup
from orchestrator.errors import InvalidInput, Refused, UsageError
from tests.integration.app.table import SESSION, Table, document, load, names


def test_a_session_is_created_once() -> None:
    table = Table()
    assert table.refusal("session create", id=SESSION).code == "ALREADY_EXISTS"


@pytest.mark.parametrize("role", ["project_manager", "pm", "tech_lead", "validator", "wizard"])
def test_a_session_cannot_do_without(role: str) -> None:
    with pytest.raises(UsageError):
        operations.call(testing.memory_context(), "session create", id=SESSION, disabled_roles=(role,))


def test_a_session_without_investigators_sends_the_blocked_to_the_tech_lead() -> None:
    table = Table("A", plan=True, disabled_roles=("investigator",))
    answer = table.says("developer", "BLOCKED", "A")
    assert (answer["next_agent"], names(answer)) == ("tech_lead", ["fallback"])


@pytest.mark.parametrize(
    ("words", "arguments", "code"),
    [
        pytest.param("session pause", {"by": "developer"}, "NOT_PERMITTED", id="pause by a developer"),
        pytest.param("session pause", {"by": "user"}, "HUMAN_REQUIRED", id="pause by a person's name"),
        pytest.param("session pause", {"reason": " "}, "REASON_REQUIRED", id="pause without a reason"),
        pytest.param("session pause", {"by": "nobody"}, "UNKNOWN_AGENT", id="pause by nobody known"),
        pytest.param("session pause", {"id": "S9"}, "UNKNOWN_SESSION", id="pause of no session"),
        pytest.param("session resume", {}, "ILLEGAL_MOVE", id="resume what is active"),
        pytest.param("session end", {}, "HUMAN_REQUIRED", id="abandon"),
    ],
)
def test_a_session_is_not_moved(words: str, arguments: dict[str, Any], code: str) -> None:
    given = {"id": SESSION, "by": "project_manager", "reason": "r", **arguments}
    assert Table("A").refusal(words, **given).code == code


def test_a_paused_session_is_not_paused_again() -> None:
    table = Table("A")
    given = {"id": SESSION, "by": "project_manager", "reason": "r"}
    table.do("session pause", **given)
    assert table.refusal("session pause", **given).data == {"allowed": ["active", "ended"]}


@pytest.mark.parametrize(
    ("mode", "to", "code"),
    [
        pytest.param("disabled", "minimal", None, id="tighten"),
        pytest.param("minimal", "full", None, id="tighten to full"),
        pytest.param("full", "minimal", "HUMAN_REQUIRED", id="loosen"),
        pytest.param("minimal", "disabled", "HUMAN_REQUIRED", id="loosen to none"),
    ],
)
def test_testing_is_tightened_by_the_manager_and_loosened_by_a_person(mode: str, to: str, code: str | None) -> None:
    table = Table("A", testing_mode=mode)
    given = {"id": SESSION, "mode": to, "by": "project_manager", "reason": "a reason"}
    if code:
        assert table.refusal("session testing-mode", **given).code == code
        return
    table.do("session testing-mode", **given)
    assert table.session("testing_mode") == (to,)
    assert table.rows("SELECT from_status, to_status, changed_by, reason FROM status_changes"
                      " WHERE entity = 'session_testing_mode'") == [(mode, to, "project_manager", "a reason")]  # fmt: skip


def test_the_testing_mode_is_nobody_elses_to_change() -> None:
    table = Table("A", testing_mode="minimal")
    given = {"id": SESSION, "mode": "full", "by": "tech_lead", "reason": "r"}
    assert table.refusal("session testing-mode", **given).code == "NOT_PERMITTED"


# Workflow versions


def at_quality_assurance() -> Table:
    table = Table("A", plan=True)
    table.says("developer", "READY_FOR_QA", "A")
    return table


def without_quality_assurance(made: dict[str, Any]) -> None:
    del made["qa_expert"]
    for role in ("developer", "senior_software_engineer"):
        made[role]["READY_FOR_QA"]["next_agent"] = "tech_lead"
    for mode in ("minimal", "disabled"):
        del made["_special_rules"][f"testing_mode_{mode}"]


def renamed(made: dict[str, Any]) -> None:
    made["qa_expert"]["PASSED"] = made["qa_expert"].pop("PASS")
    made["qa_expert"]["PASSED"]["effect"] = "test_pass"


def redirected(made: dict[str, Any]) -> None:
    made["qa_expert"]["PASS"]["next_agent"] = "project_manager"


def loaded(table: Table, change: Any) -> str:
    made = document()
    change(made)
    texts = setup.agent_texts()
    if "qa_expert" not in made:
        texts = {name: text for name, text in texts.items() if not name.startswith("qa")}
    answer = operations.call(
        table.context, "workflow load", content=json.dumps(made), agent_texts=texts, source="changed.json"
    )
    return str(answer["version"]["hash"])


@pytest.mark.parametrize("change", [redirected], ids=["c: redirected"])
def test_m08_a_session_keeps_the_version_that_it_began_with(change: Any) -> None:
    table = at_quality_assurance()
    own = table.rows("SELECT hash FROM workflow_versions WHERE id = 1")[0][0]
    new = loaded(table, change)
    answer = table.says("qa_expert", "PASS", "A")
    assert (answer["next_agent"], answer["workflow_version"]) == ("tech_lead", own)
    table.do("session create", id="S2")
    assert table.rows("SELECT hash FROM workflow_versions v JOIN sessions s ON s.workflow_version_id = v.id"
                      " WHERE s.id = 'S2'") == [(new,)]  # fmt: skip


UPGRADE = {"id": SESSION, "by": "project_manager", "reason": "the new rules"}


def test_m08_an_upgrade_is_refused_where_the_open_state_does_not_exist() -> None:
    table = at_quality_assurance()
    made = document()
    renamed(made)
    texts = {name: text.replace("PASS", "PASSED") if name.startswith("qa") else text
             for name, text in setup.agent_texts().items()}  # fmt: skip
    try:
        operations.call(table.context, "workflow load", content=json.dumps(made), agent_texts=texts, source="x.json")
    except InvalidInput as problem:  # pragma: no cover - shown where the shipped agent file changes its words
        pytest.fail(str(problem.data["problems"]))
    refusal = table.refusal("session upgrade-workflow", **UPGRADE)
    assert (refusal.code, refusal.data["open"]) == (
        "UPGRADE_REFUSED", ["group A awaits qa_expert, whose PASS does not exist there"],
    )  # fmt: skip
    assert table.says("qa_expert", "PASS", "A")["next_agent"] == "tech_lead"


def test_m08_a_session_may_move_to_a_version_that_has_its_open_state() -> None:
    table = at_quality_assurance()
    new = loaded(table, redirected)
    table.do("session upgrade-workflow", **UPGRADE)
    answer = table.says("qa_expert", "PASS", "A")
    assert (answer["next_agent"], answer["workflow_version"]) == ("project_manager", new)
    assert table.rows("SELECT to_status, reason FROM status_changes WHERE entity = 'session_workflow'") == [
        (new, "the new rules")
    ]


def test_m08_an_invalid_file_leaves_the_active_version() -> None:
    table = at_quality_assurance()
    with pytest.raises(InvalidInput) as caught:
        operations.call(table.context, "workflow load", content="{", agent_texts=setup.agent_texts(), source="x.json")
    assert (caught.value.code, table.context.active_version().id) == ("WORKFLOW_INVALID", 1)


def test_upgrading_to_the_same_version_changes_nothing() -> None:
    table = at_quality_assurance()
    before = table.state()
    table.do("session upgrade-workflow", **UPGRADE)
    assert table.state() == before


def test_v06_a_status_that_only_the_file_knows_is_stored_like_any_other() -> None:
    context, made = testing.memory_context(), document()
    made["tech_lead"]["APPROVED_AFTER_A_WALK"] = {**made["tech_lead"]["APPROVED"], "effect": "approve"}
    texts = setup.agent_texts()
    load(context, made) if False else operations.call(
        context, "workflow load", content=json.dumps(made), agent_texts=_with_status(texts), source="x.json"
    )
    table = Table("A", plan=True, context=context)
    table.submit("A")
    answer = table.says("tech_lead", "APPROVED_AFTER_A_WALK", "A")
    assert (answer["effect"], answer["action"]) == ("approve", "spawn_merge")
    assert table.says("developer", "MERGE_SUCCESS", "A")["completed"] == ["A"]
    assert ("tech_lead", "APPROVED_AFTER_A_WALK", "developer", "spawn_merge", "report") in table.decisions()


def _with_status(texts: dict[str, str]) -> dict[str, str]:
    return {
        name: text.replace("  - APPROVED\n", "  - APPROVED\n  - APPROVED_AFTER_A_WALK\n", 1)
        if name.startswith("tech_lead") else text
        for name, text in texts.items()
    }  # fmt: skip


def test_r15_blocker_and_question_are_written_with_the_decision() -> None:
    context, made = testing.memory_context(), document()
    made["project_manager"]["BLOCKED"] = {"next_agent": None, "action": "pause_for_user", "effect": "block"}
    texts = {
        name: text.replace("  - BAZINGA\n", "  - BAZINGA\n  - BLOCKED\n", 1)
        if name.startswith("project_manager") else text
        for name, text in setup.agent_texts().items()
    }  # fmt: skip
    operations.call(context, "workflow load", content=json.dumps(made), agent_texts=texts, source="x.json")
    table = Table(context=context)
    answer = table.says("project_manager", "BLOCKED", summary="no key")
    step = answer["seq"]
    assert table.rows("SELECT opened_seq, reason, group_id FROM blockers") == [(step, "no key", None)]
    assert table.rows("SELECT opened_seq, text, kind FROM questions") == [(step, "no key", "review")]
    assert table.session() == ("paused", "user")


# Two sessions


def test_a05_nothing_of_another_session_is_touched_or_told() -> None:
    table = Table("AUTH", plan=True)
    table.do("session create", id="S2")
    table.group("AUTH", session="S2")
    table.says("project_manager", "PLANNING_COMPLETE", session="S2", request_id="1")
    first = table.says("developer", "BLOCKED", "AUTH", request_id="1", summary="the secret of S1")
    before = table.rows("SELECT * FROM task_groups WHERE session_id = 'S1'")
    assert first["repeated"] is False
    refusal = table.refused("developer", "PARTIAL", "AUTH", session="S2", request_id="1")
    assert (refusal.code, refusal.data, "secret" in refusal.message) == ("REQUEST_ID_REUSED", {}, False)
    assert table.code("tech_lead", "UNBLOCKING_GUIDANCE", "AUTH", session="S2") == "OUT_OF_TURN"
    table.says("developer", "READY_FOR_REVIEW", "AUTH", session="S2")
    table.says("tech_lead", "APPROVED", "AUTH", session="S2")
    assert table.says("developer", "MERGE_SUCCESS", "AUTH", session="S2")["completed"] == ["AUTH"]
    assert table.rows("SELECT * FROM task_groups WHERE session_id = 'S1'") == before


def test_r08_guidance_returns_to_the_group_that_it_is_about() -> None:
    table = Table("A", "B", plan=True)
    assert table.code("tech_lead", "UNBLOCKING_GUIDANCE", "A") == "OUT_OF_TURN"
    table.says("developer", "READY_FOR_REVIEW", "A")
    assert table.code("tech_lead", "UNBLOCKING_GUIDANCE", "A") == "NOTHING_BLOCKED"
    table.says("tech_lead", "CHANGES_REQUESTED", "A")
    table.says("developer", "BLOCKED", "A")
    blocker = table.block("B")
    answer = table.says("tech_lead", "UNBLOCKING_GUIDANCE", "B")
    assert (answer["next_agent"], answer["blockers_resolved"]) == ("qa_expert", [blocker])
    assert blocker in answer["rules"][0]["reason"]


def test_r08_a_group_that_is_blocked_twice_returns_to_the_newer_one_first() -> None:
    table = Table("A", plan=True)
    (older,) = table.says("developer", "BLOCKED", "A")["blockers_opened"]
    (newer,) = table.says("investigator", "BLOCKED", "A")["blockers_opened"]
    first = table.says("tech_lead", "UNBLOCKING_GUIDANCE", "A")
    assert (first["next_agent"], first["blockers_resolved"]) == ("investigator", [newer])
    table.says("investigator", "ROOT_CAUSE_FOUND", "A")
    second = table.says("tech_lead", "UNBLOCKING_GUIDANCE", "A")
    assert (second["next_agent"], second["blockers_resolved"]) == ("developer", [older])


def test_r05_a_roles_own_status_wins_over_an_alias() -> None:
    table = Table("A", plan=True)
    assert table.says("developer", "INCOMPLETE", "A")["next_agent"] == "developer"
    table.says("developer", "SPAWN_INVESTIGATOR", "A")
    answer = table.says("investigator", "INCOMPLETE", "A")
    assert (answer["next_agent"], answer["response_status"], names(answer)) == (
        "tech_lead", "INVESTIGATION_INCOMPLETE", ["alias"],
    )  # fmt: skip
    table.says("tech_lead", "ARCHITECTURAL_DECISION_MADE", "A")
    table.says("developer", "READY_FOR_QA", "A")
    assert table.code("qa_expert", "INCOMPLETE", "A") == "UNKNOWN_STATUS"


@pytest.mark.parametrize(
    "status",
    ["NOT APPROVED", "DISAPPROVED", "UNAPPROVED", "Verdict: BLOCKED - cannot be APPROVED until S4 has a value"],
)
def test_r02_no_text_that_merely_contains_the_word_approves(status: str) -> None:
    table = Table("A", plan=True)
    table.says("developer", "READY_FOR_REVIEW", "A", summary="regression against the previously approved draft")
    refusal = table.refused("tech_lead", status, "A")
    assert (refusal.code, refusal.data["did_you_mean"]) in (("UNKNOWN_STATUS", None), ("UNKNOWN_STATUS", "BLOCKED"))
    parts = {part["part"]: part for part in table.move_refused("A", "completed").data["path"]}
    assert parts["approved"]["met"] is False


def test_a08_refusals_are_recorded_with_actor_input_and_reason() -> None:
    table = Table("A", plan=True)
    table.refused("developer", "DONE", "A")
    table.move_refused("A", "completed", "orchestrator")
    assert table.rows("SELECT door, actor, group_id, role, status, code FROM refusals ORDER BY seq") == [
        ("python", "developer", "A", "developer", "DONE", "UNKNOWN_STATUS"),
        ("python", "orchestrator", "A", None, "completed", "COMPLETION_PATH_MISSING"),
    ]


@pytest.mark.parametrize("kept", ["audit_events", "router_decisions", "handoffs", "agent_reports"])
def test_a08_a_step_that_cannot_be_recorded_leaves_nothing(kept: str) -> None:
    table = Table("A", plan=True)
    before = table.state()
    table.context.connection.execute(
        f"CREATE TRIGGER full BEFORE INSERT ON {kept} BEGIN SELECT RAISE(ABORT, 'the disk is full'); END"
    )
    with pytest.raises(Exception, match="the disk is full"):
        table.says("developer", "READY_FOR_QA", "A")
    table.context.connection.execute("DROP TRIGGER full")
    assert table.state() == before
    assert table.says("developer", "READY_FOR_QA", "A")["next_agent"] == "qa_expert"


def test_a_request_id_belongs_to_one_session() -> None:
    table = Table("A", plan=True)
    table.do("session create", id="S2", request_id="1")
    table.says("developer", "PARTIAL", "A", request_id="1")
    with pytest.raises(Refused, match="used before"):
        table.says("project_manager", "CONTINUE", session="S2", request_id="1")
