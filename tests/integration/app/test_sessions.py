"""Sessions: created, paused, tightened, moved to another workflow version; and what two of them share: nothing."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator import testing
from orchestrator.app import setup
from orchestrator.app.kernel import operations
from orchestrator.errors import InvalidInput, UsageError
from tests.integration.app.table import SESSION, Table, document, load, names


def test_a_session_starts_with_its_project_manager() -> None:
    decision = operations.call(Table().context, "session create", id="S9")["decision"]
    assert decision["rules"] == [{"name": "session", "reason": "a session starts with its project manager"}]
    assert (decision["action"], decision["next_agent"]) == ("spawn", "project_manager")
    assert {"groups", "causes"} & set(decision) == set()


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
    changes = "SELECT from_status, to_status, changed_by, reason FROM status_changes WHERE entity = :entity"
    assert table.rows(changes, entity="session_testing_mode") == [(mode, to, "project_manager", "a reason")]


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


def renamed(made: dict[str, Any]) -> None:
    made["qa_expert"]["PASSED"] = made["qa_expert"].pop("PASS")
    made["qa_expert"]["PASSED"]["effect"] = "test_pass"


def redirected(made: dict[str, Any]) -> None:
    made["qa_expert"]["PASS"]["next_agent"] = "project_manager"


def loaded(table: Table, change: Any) -> str:
    """Make a changed file the active workflow, with agent files that fit it; the version's hash."""
    made, texts = document(), setup.agent_texts()
    change(made)
    if "qa_expert" not in made:
        del texts["qa_expert.md"]
    elif "PASSED" in made["qa_expert"]:
        texts["qa_expert.md"] = texts["qa_expert.md"].replace("PASS", "PASSED")
    return str(table.new_rules(made, texts)["version"]["hash"])


def test_m08_a_session_keeps_the_version_that_it_began_with() -> None:
    table = at_quality_assurance()
    own = table.rows("SELECT hash FROM workflow_versions WHERE id = 1")[0][0]
    new = loaded(table, redirected)
    answer = table.says("qa_expert", "PASS", "A")
    assert (answer["next_agent"], answer["workflow_version"]) == ("tech_lead", own)
    table.do("session create", id="S2")
    assert table.rows("SELECT hash FROM workflow_versions v JOIN sessions s ON s.workflow_version_id = v.id"
                      " WHERE s.id = 'S2'") == [(new,)]  # fmt: skip


UPGRADE = {"id": SESSION, "by": "project_manager", "reason": "the new rules"}


@pytest.mark.parametrize(
    ("change", "open_"),
    [
        pytest.param(without_quality_assurance, "group A awaits qa_expert, which reports nothing there", id="a"),
        pytest.param(renamed, "group A awaits qa_expert, whose PASS does not exist there", id="b"),
    ],
)
def test_m08_an_upgrade_is_refused_where_the_open_state_does_not_exist(change: Any, open_: str) -> None:
    table = at_quality_assurance()
    loaded(table, change)
    refusal = table.refusal("session upgrade-workflow", **UPGRADE)
    assert (refusal.code, refusal.data["open"]) == ("UPGRADE_REFUSED", [open_])
    assert table.says("qa_expert", "PASS", "A")["next_agent"] == "tech_lead"


def test_m08_a_session_may_move_to_a_version_that_has_its_open_state() -> None:
    table = at_quality_assurance()
    new = loaded(table, redirected)
    table.upgrade()
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
    load(context, made, _with("tech_lead", "APPROVED", "APPROVED_AFTER_A_WALK"))
    table = Table("A", plan=True, context=context)
    table.submit("A")
    answer = table.says("tech_lead", "APPROVED_AFTER_A_WALK", "A")
    assert (answer["effect"], answer["action"]) == ("approve", "spawn_merge")
    assert table.says("developer", "MERGE_SUCCESS", "A")["completed"] == ["A"]
    assert ("tech_lead", "APPROVED_AFTER_A_WALK", "developer", "spawn_merge", "report") in table.decisions()


def _with(role: str, after: str, status: str) -> dict[str, str]:
    """The shipped agent files, one of them with a further status."""
    return {
        name: text.replace(f"  - {after}\n", f"  - {after}\n  - {status}\n", 1) if name == f"{role}.md" else text
        for name, text in setup.agent_texts().items()
    }


def test_r15_blocker_and_question_are_written_with_the_decision() -> None:
    context, made = testing.memory_context(), document()
    made["project_manager"]["BLOCKED"] = {"next_agent": None, "action": "pause_for_user", "effect": "block"}
    load(context, made, _with("project_manager", "BAZINGA", "BLOCKED"))
    table = Table(context=context)
    answer = table.says("project_manager", "BLOCKED", summary="no key")
    step = answer["seq"]
    assert table.rows("SELECT opened_seq, reason, group_id FROM blockers") == [(step, "no key", None)]
    assert table.rows("SELECT opened_seq, text, kind FROM questions") == [(step, "no key", "review")]
    assert table.session() == ("paused", "user")
