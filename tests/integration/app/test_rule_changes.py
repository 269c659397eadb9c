"""Only a person changes the rules of an open session, whatever way is taken, and the verdict names each change."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from orchestrator import testing
from orchestrator.app import setup
from orchestrator.app.audit import replay_session
from orchestrator.app.kernel import human, operations
from orchestrator.app.kernel.context import Call, perform
from orchestrator.app.workflow import rule_changes
from orchestrator.core.routing.facts import RULES_VERSION
from orchestrator.core.workflow import diff, model
from orchestrator.errors import OrchestratorError
from orchestrator.store import event_stream, versions
from tests.integration.app.table import SESSION, Answer, Table, document, load

PM = "project_manager"
WEAK = "developer.READY_FOR_QA: next_agent qa_expert -> developer, action spawn -> spawn_merge, effect submit_test ->"

UPGRADE = operations.action("session upgrade-workflow")


def easier(made: dict[str, Any]) -> None:
    """A developer's READY_FOR_QA approves."""
    made["developer"]["READY_FOR_QA"] |= {"next_agent": "developer", "action": "spawn_merge", "effect": "approve"}


def harmless(made: dict[str, Any]) -> None:
    made["developer"]["READY_FOR_QA"] |= {
        "description": "other words", "model_override": "opus", "include_context": ["dev_output"],
    }  # fmt: skip
    made["_description"] = "other words"


def without_review(made: dict[str, Any]) -> None:
    made["_special_rules"]["security_sensitive"]["mandatory_review"] = False


def unblocking(made: dict[str, Any]) -> None:
    made["developer"]["BLOCKED"]["effect"] = "progress"


def renaming(made: dict[str, Any]) -> None:
    made["_status_aliases"] = {**made.get("_status_aliases", {}), "DONE": "READY_FOR_REVIEW"}


def changed(change: Any) -> dict[str, Any]:
    made = copy.deepcopy(document())
    change(made)
    return made


def kept(made: dict[str, Any]) -> None:
    """The shipped file."""


def refusal(table: Table, change: Any, by: str = PM, **more: Any) -> OrchestratorError:
    given = {"agent_texts": setup.agent_texts(), "source": "my file.json", "by": by} | more
    return table.refusal("workflow load", content=text_of(changed(change)), **given)


def text_of(made: dict[str, Any]) -> str:
    return json.dumps(made)


def by_person(table: Table, change: Any) -> Answer:
    return table.new_rules(changed(change))


def lines(table: Table, session: str = SESSION) -> list[tuple[str, str, str]]:
    verdict = table.do("validate", session_id=session, dry_run=True)
    return [(each["level"], each["subject"], each["message"]) for each in verdict["checks"] if each["id"] == "V18"]


# Making a version active


@pytest.mark.parametrize("change", [easier, unblocking, without_review, renaming])
def test_an_agent_makes_no_other_rules_active_while_a_session_is_open(change: Any) -> None:
    table = Table("A", plan=True)
    problem = refusal(table, change)
    assert (problem.code, problem.exit_code) == ("HUMAN_REQUIRED", 3)
    assert problem.data["sessions"] == [SESSION]
    assert problem.data["changes"]
    assert problem.suggestion == "orchestrator workflow load 'my file.json' --by user"
    assert table.context.active_version().id == 1


def test_the_refusal_says_which_transitions_differ() -> None:
    problem = refusal(Table(), easier)
    assert problem.data["changes"][0].startswith(WEAK)
    assert problem.data["changes"][0] in problem.message


def test_a_version_that_is_known_already_is_no_way_round() -> None:
    context = testing.memory_context()
    load(context, changed(easier))
    load(context, document())
    table = Table("A", plan=True, context=context)
    assert refusal(table, easier).code == "HUMAN_REQUIRED"


def test_a_paused_session_and_a_chat_are_open() -> None:
    table = Table("A", plan=True)
    table.do("session pause", id=SESSION, by=PM, reason="lunch")
    assert refusal(table, easier).code == "HUMAN_REQUIRED"
    with table.person():
        table.do("session end", id=SESSION, by="user", reason="over")
    table.do("session create", id="C1", kind="chat")
    assert refusal(table, easier).data["sessions"] == ["C1"]


def test_where_no_session_is_open_anybody_who_may_load_activates() -> None:
    context = testing.memory_context()
    assert load(context, changed(easier))["activated"]
    table = Table(context=context)
    with table.person():
        table.do("session end", id=SESSION, by="user", reason="over")
    assert load(context, document())["activated"]


def test_texts_models_and_context_are_free() -> None:
    table = Table("A", plan=True)
    shipped = setup.agent_texts().items()
    texts = {name: text.replace("model: sonnet", "model: opus") + "\nMore." for name, text in shipped}
    assert load(table.context, changed(harmless), texts)["activated"]
    moved = table.do("session upgrade-workflow", id=SESSION, by=PM, reason="other words")
    assert moved["changes"] == []
    assert [level for level, *_ in lines(table)] == ["info", "info"]


@pytest.mark.parametrize(
    ("key", "old", "new"), [("reports_to", "tech_lead", "user"), ("role", "qa_expert", "developer")]
)
def test_whose_role_an_agent_has_and_whom_it_reports_to_are_rules(key: str, old: str, new: str) -> None:
    table = Table("A", plan=True)
    texts = setup.agent_texts()
    texts["qa_expert.md"] = texts["qa_expert.md"].replace(f"{key}: {old}", f"{key}: {new}")
    problem = table.refusal("workflow load", content=text_of(document()), agent_texts=texts, by=PM)
    assert problem.code == "HUMAN_REQUIRED"
    assert problem.data["changes"] == [f"agent file qa-expert: {key} {old} -> {new}"]


def test_a_person_makes_them_active_by_a_human_channel_and_no_name_alone() -> None:
    table = Table("A", plan=True)
    assert refusal(table, easier, by="user").code == "HUMAN_REQUIRED"
    assert by_person(table, easier)["activated"]
    sql = "SELECT actor, channel FROM audit_events WHERE kind = 'workflow load' ORDER BY rowid DESC LIMIT 1"
    assert table.rows(sql) == [("user", human.TERMINAL)]


def test_init_never_changes_the_active_version_by_itself_and_with_a_file_asks_for_a_person(tmp_path: Path) -> None:
    table = Table("A", plan=True)
    by_person(table, easier)
    assert setup.initialise(table.context)["activated"] is False
    assert table.context.active_version().id == 2
    file = tmp_path / "rules.json"
    file.write_text(text_of(document()))
    with pytest.raises(OrchestratorError) as caught:
        setup.initialise(table.context, workflow=file)
    assert caught.value.code == "HUMAN_REQUIRED"
    assert table.context.active_version().id == 2


def test_a_replay_of_one_session_knows_of_the_others_that_were_open() -> None:
    table = Table("A", plan=True)
    table.do("session create", id="S2")
    refusal(table, easier)
    with table.person():
        table.do("session end", id=SESSION, by="user", reason="over")
        table.do("session end", id="S2", by="user", reason="over")
    load(table.context, changed(easier))
    for session in (SESSION, "S2"):
        assert table.do("audit replay", session_id=session)["equal"]


# Moving a session


def test_an_agent_moves_no_session_to_other_rules() -> None:
    table = Table("A", plan=True)
    by_person(table, easier)
    problem = table.refusal("session upgrade-workflow", id=SESSION, by=PM, reason="new")
    assert (problem.code, problem.data["changes"][0].startswith(WEAK)) == ("HUMAN_REQUIRED", True)
    assert problem.suggestion == f"orchestrator session upgrade-workflow {SESSION} --by user --reason TEXT"
    assert table.session("workflow_version_id") == (1,)


def test_rules_that_were_loaded_before_the_session_move_it_no_more_than_others() -> None:
    context = testing.memory_context()
    load(context, changed(easier))
    load(context, document())
    table = Table("A", plan=True, context=context)
    by_person(table, easier)
    assert table.refusal("session upgrade-workflow", id=SESSION, by=PM, reason="new").code == "HUMAN_REQUIRED"


def test_a_persons_changes_are_listed_with_the_rules_and_the_channel() -> None:
    table = Table("A", plan=True)
    by_person(table, easier)
    answer = table.upgrade()
    assert answer["changes"][0].startswith(WEAK)
    (_, (level, subject, message)) = lines(table)
    assert (level, subject) == ("warning", SESSION)
    moved = f"step {answer['seq']} moved it from workflow version 1 to version 2"
    assert message.startswith(f"{moved} (confirmed by user through terminal at ")
    assert WEAK in message


def test_two_changes_that_cancel_out_are_both_a_persons_and_both_listed() -> None:
    table = Table("A", plan=True)
    for change in (easier, kept):
        by_person(table, change)
        assert table.refusal("session upgrade-workflow", id=SESSION, by=PM, reason="new").code == "HUMAN_REQUIRED"
        table.upgrade()
    assert [level for level, *_ in lines(table)] == ["info", "warning", "warning"]


def test_a_replay_and_the_record_agree_on_a_changed_session() -> None:
    table = Table("A", plan=True)
    by_person(table, easier)
    table.upgrade()
    assert table.do("audit replay", session_id=SESSION)["equal"]
    # A database in memory was made by no migration.
    assert set(table.do("audit verify", session_id=SESSION)["counts"]) <= {"VERSION_MISMATCH"}


# Every rule alone


def to(role: str, status: str, **values: Any) -> Any:
    """A change of one transition."""
    def change(made: dict[str, Any]) -> None:
        made[role][status] |= values
    return change


def ruled(rule: str, **values: Any) -> Any:
    """A change of one special rule; without values it is taken away."""
    def change(made: dict[str, Any]) -> None:
        if values:
            made["_special_rules"][rule] |= values
        else:
            del made["_special_rules"][rule]
    return change


def aliased(alias: str, status: str | None) -> Any:
    def change(made: dict[str, Any]) -> None:
        if status is None:
            del made["_status_aliases"][alias]
        else:
            made["_status_aliases"][alias] = status
    return change


def dropped(role: str, status: str) -> Any:
    def change(made: dict[str, Any]) -> None:
        del made[role][status]
    return change


def added(made: dict[str, Any]) -> None:
    made["developer"]["SHIPPED"] = made["developer"]["MERGE_SUCCESS"]


def other_researcher(made: dict[str, Any]) -> None:
    """Somebody else has to lead to the role, which nobody could reach otherwise."""
    ruled("research_tasks", agent="developer")(made)
    to("tech_lead", "ESCALATE_TO_OPUS", next_agent="requirements_engineer", action="spawn")(made)


WEAKER: dict[str, tuple[Any, str]] = {
    "next_agent": (to("qa_expert", "FAIL", next_agent="tech_lead"), "qa_expert.FAIL: next_agent"),
    "action": (to("developer", "PARTIAL", action="spawn"), "developer.PARTIAL: action"),
    "then": (to("tech_lead", "APPROVED", then=None), "tech_lead.APPROVED: then"),
    "effect": (to("qa_expert", "BLOCKED", effect="inconclusive"), "qa_expert.BLOCKED: effect"),
    "fallback_agent": (to("developer", "BLOCKED", fallback_agent=None), "developer.BLOCKED: fallback_agent"),
    "escalation_check": (to("qa_expert", "FAIL", escalation_check=False), "qa_expert.FAIL: escalation_check"),
    "iteration_budget_check": (to("investigator", "NEED_MORE_ANALYSIS", iteration_budget_check=False),
                               "investigator.NEED_MORE_ANALYSIS: iteration_budget_check"),
    "max_parallel": (to("project_manager", "PLANNING_COMPLETE", max_parallel=1),
                     "project_manager.PLANNING_COMPLETE: max_parallel"),
    "resolves": (to("tech_lead", "UNBLOCKING_GUIDANCE", resolves="all"), "tech_lead.UNBLOCKING_GUIDANCE: resolves"),
    "mandatory_review": (to("senior_software_engineer", "ROOT_CAUSE_FOUND", mandatory_review=False),
                         "senior_software_engineer.ROOT_CAUSE_FOUND: mandatory_review"),
    "bypass_qa": (to("developer", "READY_FOR_REVIEW", bypass_qa=True), "developer.READY_FOR_REVIEW: bypass_qa"),
    "a transition less": (dropped("qa_expert", "FLAKY"), "qa_expert.FLAKY removed"),
    "a transition more": (added, "developer.SHIPPED added"),
    "testing_modes": (ruled("testing_mode_minimal", affected_statuses=["READY_FOR_QA", "READY_FOR_REVIEW"]),
                      "rule testing_mode_minimal: affected_statuses"),
    "testing_modes target": (ruled("testing_mode_disabled", override_next_agent="project_manager"),
                             "rule testing_mode_disabled: override_next_agent"),
    "testing_modes none": (ruled("testing_mode_disabled"), "rule testing_mode_disabled removed"),
    "escalation_threshold": (ruled("escalation_after_failures", threshold=9),
                             "rule escalation_after_failures: threshold"),
    "escalation_agent": (ruled("escalation_after_failures", escalation_agent="developer"),
                         "rule escalation_after_failures: escalation_agent"),
    "escalation none": (ruled("escalation_after_failures"), "rule escalation_after_failures removed"),
    "security_force_agent": (ruled("security_sensitive", force_agent="developer"),
                             "rule security_sensitive: force_agent"),
    "security_mandatory_review": (ruled("security_sensitive", mandatory_review=False),
                                  "rule security_sensitive: mandatory_review"),
    "security none": (ruled("security_sensitive"), "rule security_sensitive removed"),
    "research_agent": (other_researcher, "rule research_tasks: agent"),
    "research_max_parallel": (ruled("research_tasks", max_parallel=4), "rule research_tasks: max_parallel"),
    "investigation_max_iterations": (ruled("investigation_budget", max_iterations=50),
                                     "rule investigation_budget: max_iterations"),
    "investigation_on_exhausted": (ruled("investigation_budget", on_exhausted="project_manager"),
                                   "rule investigation_budget: on_exhausted"),
    "loop_max_visits": (ruled("loop_guard", max_visits=60), "rule loop_guard: max_visits"),
    "loop_on_exhausted": (ruled("loop_guard", on_exhausted=["tech_lead", "project_manager"]),
                          "rule loop_guard: on_exhausted"),
    "an alias more": (aliased("DONE", "READY_FOR_REVIEW"), "alias DONE added"),
    "an alias less": (aliased("REASSIGNING_FOR_FIXES", None), "alias REASSIGNING_FOR_FIXES removed"),
    "another alias": (aliased("INCOMPLETE", "ROOT_CAUSE_FOUND"), "alias INCOMPLETE: status"),
}  # fmt: skip
"""Every rule of a workflow, changed alone: by its field of the model where it has one, with how it is told."""


def test_no_field_of_a_rule_is_left_out() -> None:
    fields = {*model.Transition._fields, *model.Rules._fields}
    assert fields - {"role", "status"} - diff.FREE[diff.TRANSITION] - WEAKER.keys() == set()


@pytest.mark.parametrize(("change", "told"), WEAKER.values(), ids=WEAKER)
def test_each_rule_that_is_weakened_alone_is_a_persons_and_stands_in_the_verdict(change: Any, told: str) -> None:
    table = Table("A", plan=True)
    problem = refusal(table, change)
    assert (problem.code, len(problem.data["changes"])) == ("HUMAN_REQUIRED", 1 + (change is other_researcher))
    assert problem.data["changes"][-1].startswith(told)
    assert by_person(table, change)["activated"]
    problem = table.refusal("session upgrade-workflow", id=SESSION, by=PM, reason="new")
    assert (problem.code, problem.data["changes"][-1].startswith(told)) == ("HUMAN_REQUIRED", True)
    assert table.upgrade()["changes"][-1].startswith(told)
    (_, (level, _, message)) = lines(table)
    assert (level, told in message) == ("warning", True)


# What nobody confirmed


def unconfirmed(table: Table) -> int:
    """A change by an agent whose step was never asked for a person: by older rules, or past them."""
    by_person(table, easier)
    given = {"id": SESSION, "by": PM, "reason": "new"}
    answer = perform(table.context, Call("session upgrade-workflow", SESSION, PM, given), UPGRADE)
    return int(answer["seq"])


def test_a_change_that_no_person_confirmed_is_an_error_until_one_does() -> None:
    table = Table("A", plan=True)
    seq = unconfirmed(table)
    (_, (level, subject, message)) = lines(table)
    assert (level, subject) == ("error", SESSION)
    assert f"step {seq} moved it" in message
    assert "confirmed by no person" in message
    assert WEAK in message
    problem = table.refusal("session upgrade-workflow", id=SESSION, confirm=True, by=PM, reason="as meant")
    assert problem.code == "HUMAN_REQUIRED"
    answer = table.upgrade(confirm=True)
    assert len(answer["confirmed"]) == 1
    (_, (level, _, message)) = lines(table)
    assert level == "warning"
    assert "(confirmed by user through terminal at " in message
    assert table.session("workflow_version_id") == (2,)
    assert table.upgrade(confirm=True)["confirmed"] == []
    assert table.do("audit replay", session_id=SESSION)["equal"]


def test_a_confirmation_holds_for_what_came_before_it_alone() -> None:
    table = Table("A", plan=True)
    unconfirmed(table)
    table.upgrade(confirm=True)
    by_person(table, kept)
    given = {"id": SESSION, "by": PM, "reason": "back"}
    perform(table.context, Call("session upgrade-workflow", SESSION, PM, given), UPGRADE)
    assert [level for level, *_ in lines(table)] == ["info", "warning", "error"]


def test_a_change_that_was_recorded_before_anybody_was_asked_is_a_warning() -> None:
    context = testing.memory_context()
    context.rules_version = 3
    table = Table("A", plan=True, context=context)
    unconfirmed(table)
    (_, (level, _, message)) = lines(table)
    assert (level, message.endswith("recorded before anybody was asked to confirm it")) == ("warning", True)
    assert table.do("audit replay", session_id=SESSION)["equal"]


def test_what_older_rules_allowed_is_told_again_as_it_was() -> None:
    table = Table("A", plan=True)
    content = text_of(changed(easier))
    given = {"content": content, "agent_texts": setup.agent_texts(), "source": "x.json", "by": PM}
    perform(table.context, Call("workflow load", "@store", PM, given), operations.action("workflow load"))
    assert table.context.active_version().id == 2
    with replay_session.own_database(table.context.path) as told:
        found = list(replay_session.outcomes(told, event_stream.entries(table.context.connection, SESSION)))
    assert [outcome.problem for outcome in found if not outcome.equal] == []


def test_every_door_marks_the_calls_that_ask_for_a_person() -> None:
    table = Table("A", plan=True)
    by_person(table, easier)
    table.upgrade()
    kinds = ("workflow load", "session upgrade-workflow")
    sql = f"SELECT kind, json_extract(input, '$.rules') FROM audit_events WHERE kind IN {kinds} ORDER BY rowid"
    found = [(kind, int(version)) for kind, version in table.rows(sql)]
    assert found == [(kind, RULES_VERSION) for kind in ("workflow load", *kinds)]


# What a session says of its rules


def test_a_new_session_says_which_version_it_has_and_who_made_that_active() -> None:
    context = testing.memory_context()
    answer = operations.call(context, "session create", id=SESSION)
    assert (answer["workflow"]["version"], answer["workflow"]["by"], answer["workflow"]["differs"]) == (
        1, "system:router", [],
    )  # fmt: skip
    assert "warnings" not in answer


def test_rules_that_an_agent_made_active_before_the_session_are_named_by_it_and_its_verdict() -> None:
    context = testing.memory_context()
    load(context, changed(easier))
    load(context, changed(lambda made: (easier(made), harmless(made))))
    answer = operations.call(context, "session create", id=SESSION)
    assert (answer["workflow"]["by"], answer["workflow"]["vouched"]) == (PM, 1)
    assert answer["workflow"]["differs"][0].startswith(WEAK)
    assert WEAK in answer["warnings"][0]
    table = Table.__new__(Table)
    table.context = context
    ((level, subject, message),) = lines(table)
    assert (level, subject) == ("warning", SESSION)
    assert WEAK in message
    for words in ("status", "session show"):
        found = table.do(words, **({"session_id": SESSION} if words == "status" else {"id": SESSION}))
        assert (found["workflow"]["version"], found["workflow"]["by"]) == (3, PM)


def test_rules_that_a_person_made_active_need_no_word() -> None:
    context = testing.memory_context()
    table = Table("A", context=context)
    by_person(table, easier)
    answer = table.do("session create", id="S2")
    pinned = answer["workflow"]
    assert (pinned["by"], pinned["channel"], "warnings" in answer) == ("user", "terminal", False)
    assert [level for level, *_ in lines(table, "S2")] == ["info"]


# What `workflow diff` says


def test_the_comparison_of_two_versions_names_the_changes_of_rules() -> None:
    context = testing.memory_context()
    load(context, changed(harmless))
    load(context, changed(easier))
    free, ruling = (operations.call(context, "workflow diff", a="1", b=key) for key in ("2", "3"))
    assert (free["rules"], bool(free["changes"])) == ([], True)
    assert ruling["rules"][0].startswith(WEAK)


# What was forged


def test_a_change_past_the_check_is_an_error_and_is_not_told_again(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Table("A", plan=True)
    by_person(table, easier)
    with monkeypatch.context() as patched:
        patched.setattr(rule_changes, "require_person_to_upgrade", lambda *_: ())
        table.do("session upgrade-workflow", id=SESSION, by=PM, reason="easier")
    assert [level for level, *_ in lines(table)] == ["info", "error"]
    with replay_session.own_database(table.context.path) as told:
        found = list(replay_session.outcomes(told, event_stream.entries(table.context.connection, SESSION)))
    (other,) = [outcome.told for outcome in found if not outcome.equal]
    assert other is not None
    assert other.kind == "refusal"


def test_a_persons_name_without_a_channel_confirms_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Table("A", plan=True)
    by_person(table, easier)
    with monkeypatch.context() as patched:
        patched.setattr(human, "require", lambda *_: "process")
        table.do("session upgrade-workflow", id=SESSION, by="user", reason="easier")
        table.do("session upgrade-workflow", id=SESSION, by="user", confirm=True, reason="easier")
    assert [level for level, *_ in lines(table)] == ["info", "error"]


def test_a_version_that_is_missing_differs_in_everything() -> None:
    assert versions.rules_between(testing.memory_context().connection, 1, 9) == (
        "a version that the database does not have",
    )
