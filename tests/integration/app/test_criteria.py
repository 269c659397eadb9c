"""Success criteria: frozen with the first plan, measured and not asserted, and every change of them on record."""

from __future__ import annotations

import re
import sys
from typing import Any

import pytest

from orchestrator.app.kernel import arguments, operations
from orchestrator.doors.cli import text
from orchestrator.errors import OrchestratorError, UsageError
from orchestrator.runner import commands
from tests.integration.app.table import SESSION, Answer, Table

PM = "project_manager"
MEASURE = {"metric": "coverage", "operator": "ge", "target": "80"}


class Scope(Table):
    """A table with criteria."""

    def add(self, id: str = "C1", **more: Any) -> Answer:
        return self.do("criterion add", id=id, session_id=SESSION, **{"text": f"text of {id}", **more})

    def set(self, id: str = "C1", **more: Any) -> Answer:
        return self.do("criterion set", id=id, session_id=SESSION, **{"by": PM, "reason": "seen", **more})

    def code(self, words: str, id: str = "C1", **more: Any) -> str:
        return str(self.refusal(words, id=id, session_id=SESSION, **more).code)

    def column(self, name: str, id: str = "C1") -> Any:
        return self.rows(f"SELECT {name} FROM criteria WHERE id = :id", id=id)[0][0]

    def changes(self) -> list[tuple[Any, ...]]:
        return self.rows(
            "SELECT entity, entity_id, from_status, to_status, changed_by, reason FROM status_changes"
            " WHERE entity LIKE 'criterion%' ORDER BY seq, part"
        )


def test_a_criterion_is_added_open_and_listed_in_order() -> None:
    scope = Scope()
    added = scope.add(**MEASURE)["criterion"]
    assert {name: added[name] for name in ("id", "status", *MEASURE)} == {"id": "C1", "status": "open", **MEASURE}
    scope.add("C0", command=("pytest", "-q"))
    listed = scope.do("criterion list", session_id=SESSION)
    assert [(each["id"], each["command"]) for each in listed["criteria"]] == [("C1", None), ("C0", ["pytest", "-q"])]
    assert (listed["has_more"], listed["next_since"]) == (False, listed["criteria"][-1]["created_seq"])


def test_a_list_comes_in_pages() -> None:
    scope = Scope()
    for number in range(3):
        scope.add(f"C{number}")
    first = scope.do("criterion list", session_id=SESSION, limit=2)
    assert ([each["id"] for each in first["criteria"]], first["has_more"]) == (["C0", "C1"], True)
    rest = scope.do("criterion list", session_id=SESSION, since=first["next_since"])
    assert [each["id"] for each in rest["criteria"]] == ["C2"]


UNFIT: tuple[tuple[str, dict[str, Any]], ...] = (
    ("no text", {"text": "  "}),
    ("a metric alone", {"metric": "coverage"}),
    ("no target", {"metric": "coverage", "operator": "ge"}),
    ("an empty target", {**MEASURE, "target": " "}),
    ("NaN", {**MEASURE, "target": "NaN"}),
    ("Infinity", {**MEASURE, "target": "Infinity"}),
    ("minus infinity", {**MEASURE, "target": "-inf"}),
    ("a negative amount", {**MEASURE, "target": "-80"}),
    ("a negative whole number", {**MEASURE, "target": -80}),
    ("below zero", {**MEASURE, "operator": "lt", "target": "0"}),
    ("a word", {**MEASURE, "target": "many"}),
    ("an operator that is none", {**MEASURE, "operator": ">="}),
    ("a command without a program", {"command": ["", "x"]}),
    ("a command of numbers", {"command": ["true", 1]}),
    ("a command as one text", {"command": "pytest -q"}),
    ("a command that is too long", {"command": ["true", "x" * 70_000]}),
    ("an id", {"id": "C 1"}),
    ("a NUL", {"command": ["true", "a\0"]}),
    ("a fraction that has no exact text", {**MEASURE, "target": 0.1}),
)


@pytest.mark.parametrize("given", [row[1] for row in UNFIT], ids=[row[0] for row in UNFIT])
def test_what_is_unfit_is_refused_at_creation(given: dict[str, Any]) -> None:
    scope = Scope()
    before = scope.count("audit_events")
    with pytest.raises(UsageError):
        operations.call(
            scope.context, "criterion add",
            **arguments.bind("criterion add", {"id": "C1", "session_id": SESSION, "text": "x", **given}),
        )  # fmt: skip
    assert (scope.count("criteria"), scope.count("audit_events")) == (0, before)


def test_a_whole_number_is_taken_as_its_text() -> None:
    scope = Scope()
    assert scope.add(**{**MEASURE, "target": 80})["criterion"]["target"] == "80"
    assert scope.set(actual=81)["criterion"]["actual"] == "81"


def test_a_change_may_be_negative() -> None:
    scope = Scope()
    assert scope.add(metric="latency_change", operator="le", target="-10")["criterion"]["target"] == "-10"


# Who may


@pytest.mark.parametrize(
    ("planned", "by", "reason", "code"),
    [
        (False, PM, "", None),
        (False, "orchestrator", "", None),
        (False, "developer", "x", "NOT_PERMITTED"),
        (False, "user", "x", "HUMAN_REQUIRED"),
        (False, "nobody", "x", "UNKNOWN_AGENT"),
        (True, PM, "asked for", None),
        (True, PM, "", "REASON_REQUIRED"),
        (True, "orchestrator", "x", "NOT_PERMITTED"),
        (True, "tech_lead", "x", "NOT_PERMITTED"),
    ],
)
def test_the_scope_is_frozen_by_the_first_plan(planned: bool, by: str, reason: str, code: str | None) -> None:
    scope = Scope("A", plan=planned)
    given = {"text": "x", "by": by, "reason": reason}
    if code is None:
        assert scope.add(**given)["criterion"]["created_by"] == by
    else:
        assert scope.code("criterion add", **given) == code
        assert scope.count("criteria") == 0


@pytest.mark.parametrize(
    ("words", "more"), [("criterion set", {"text": "other words"}), ("criterion remove", {})], ids=["reword", "remove"]
)
@pytest.mark.parametrize(
    ("by", "reason", "code"),
    [("developer", "x", "NOT_PERMITTED"), ("orchestrator", "x", "NOT_PERMITTED"), (PM, " ", "REASON_REQUIRED")],
)
def test_after_the_plan_rewording_and_removing_are_the_managers(
    words: str, more: dict[str, Any], by: str, reason: str, code: str
) -> None:
    scope = Scope("A")
    scope.add()
    scope.plan()
    assert scope.code(words, by=by, reason=reason, **more) == code
    assert (scope.column("text"), scope.column("removed_seq")) == ("text of C1", None)


def test_every_change_of_scope_is_on_record_and_in_the_verdict() -> None:
    scope = Scope("A")
    scope.add("C1")
    scope.add("C2")
    scope.set("C2", text="before the plan", reason="clearer")
    scope.plan()
    scope.set("C1", text="easier", reason="too hard")
    scope.do("criterion remove", id="C2", session_id=SESSION, by=PM, reason="out of scope")
    scope.add("C3", reason="asked for late")
    assert scope.changes() == [
        ("criterion", "C1", None, "open", PM, ""),
        ("criterion", "C2", None, "open", PM, ""),
        ("criterion_text", "C2", "text of C2", "before the plan", PM, "clearer"),
        ("criterion_text", "C1", "text of C1", "easier", PM, "too hard"),
        ("criterion", "C2", "open", "removed", PM, "out of scope"),
        ("criterion", "C3", None, "open", PM, "asked for late"),
    ]
    verdict = scope.do("validate", session_id=SESSION, dry_run=True)
    listed = [(check["subject"], check["message"]) for check in verdict["checks"]
              if (check["id"], check["level"]) == ("V08", "info")]  # fmt: skip
    assert listed == [
        ("C1", f"reworded after the plan by {PM}: too hard"),
        ("C2", f"removed after the plan by {PM}: out of scope"),
        ("C3", f"added after the plan by {PM}: asked for late"),
    ]


def test_a_removed_criterion_stays_on_record_and_its_id_is_taken() -> None:
    scope = Scope()
    scope.add()
    scope.do("criterion remove", id="C1", session_id=SESSION, by=PM, reason="no")
    assert scope.do("criterion list", session_id=SESSION)["criteria"] == []
    every = scope.do("criterion list", session_id=SESSION, all=True)["criteria"]
    assert [each["removed_reason"] for each in every] == ["no"]
    assert scope.code("criterion add", text="again") == "ALREADY_EXISTS"
    refused = scope.refusal("criterion set", id="C1", session_id=SESSION, status="met", by=PM, reason="x")
    assert (refused.code, refused.data["kind"]) == ("UNKNOWN_ID", "criterion")


# What is set


@pytest.mark.parametrize(
    ("by", "reason", "code"),
    [
        ("developer", "x", "NOT_PERMITTED"), ("qa_expert", "x", "NOT_PERMITTED"), ("tech_lead", "x", "NOT_PERMITTED"),
        ("orchestrator", "x", "NOT_PERMITTED"), ("user", "x", "HUMAN_REQUIRED"), ("", "x", "ACTOR_REQUIRED"),
        ("nobody", "x", "UNKNOWN_AGENT"), (PM, "", "REASON_REQUIRED"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("status", ["met", "deferred", "open"])
def test_only_the_manager_says_with_a_reason_what_is_met_or_deferred(
    status: str, by: str, reason: str, code: str
) -> None:
    scope = Scope()
    scope.add()
    assert scope.code("criterion set", status=status, by=by, reason=reason) == code
    assert scope.column("status") == "open"


def test_the_manager_sets_met_with_the_report_that_shows_it() -> None:
    scope = Scope("A", plan=True)
    scope.add(reason="asked for")
    report = scope.says("developer", "READY_FOR_QA", "A")["report_id"]
    answer = scope.set(status="met", evidence=report)
    assert (answer["criterion"]["status"], answer["criterion"]["evidence"]) == ("met", report)
    assert "warnings" not in answer
    assert scope.set(status="open")["criterion"]["status"] == "open"
    assert [row[2:4] for row in scope.changes()] == [(None, "open"), ("open", "met"), ("met", "open")]


def test_met_without_evidence_is_recorded_warned_of_and_rejected_later() -> None:
    scope = Scope()
    scope.add()
    assert "without evidence" in scope.set(status="met")["warnings"][0]
    verdict = scope.do("validate", session_id=SESSION, dry_run=True)
    assert [check["message"] for check in verdict["checks"] if check["subject"] == "C1"] == [
        "is set as met without evidence"
    ]


def test_evidence_that_says_the_opposite_meets_nothing() -> None:
    scope = Scope("A", plan=True)
    scope.add(reason="asked for")

    def said(evidence: str) -> list[tuple[str, str]]:
        scope.set(status="met", evidence=evidence)
        checks = scope.do("validate", session_id=SESSION, dry_run=True)["checks"]
        of_c1 = (each for each in checks if each["subject"] == "C1" and each["level"] != "info")
        return [(each["level"], each["message"]) for each in of_c1]

    scope.says("developer", "READY_FOR_QA", "A")
    failed = scope.says("qa_expert", "FAIL", "A")["report_id"]
    why = f"its evidence {failed} does not show that it is met: qa_expert reported FAIL"
    assert said(failed) == [("error", why)]
    scope.says("developer", "READY_FOR_QA", "A")
    passed = scope.says("qa_expert", "PASS", "A")["report_id"]
    assert said(passed) == []
    scope.says("tech_lead", "CHANGES_REQUESTED", "A")
    scope.says("developer", "READY_FOR_QA", "A")
    assert said(passed) == [("warning", f"its evidence {passed} is older than the last submission of group A")]


@pytest.mark.parametrize(
    "evidence", ["S1:R99", "S1:R2", "S2:R2", "S1:D2", "R2", "S1:R02", "S1:R2.2", "S1:E1", "S1:", ""]
)
def test_evidence_that_does_not_exist_is_refused(evidence: str) -> None:
    scope = Scope("A")
    scope.add()
    refused = scope.refusal(
        "criterion set", id="C1", session_id=SESSION, status="met", evidence=evidence, by=PM, reason="x"
    )
    assert (refused.code, refused.data["kind"], refused.exit_code) == ("UNKNOWN_ID", "evidence", 3)


def test_other_evidence_for_what_is_met_is_the_managers_to_give() -> None:
    scope = Scope("A", plan=True)
    scope.add(reason="asked for")
    first = scope.says("developer", "READY_FOR_QA", "A")["report_id"]
    scope.set(evidence=first, by="qa_expert")
    scope.set(status="met")
    second = scope.says("qa_expert", "PASS", "A")["report_id"]
    assert scope.code("criterion set", evidence=second, by="developer", reason="x") == "NOT_PERMITTED"
    assert scope.column("evidence") == first


@pytest.mark.parametrize("given", [MEASURE, {"command": ("true",)}, {**MEASURE, "command": ("true",)}],
                         ids=["number", "command", "both"])  # fmt: skip
def test_what_is_computed_cannot_be_set_as_met(given: dict[str, Any]) -> None:
    scope = Scope()
    scope.add(**given)
    assert scope.code("criterion set", status="met", by=PM, reason="it is") == "CRITERION_COMPUTED"
    assert scope.set(status="deferred")["criterion"]["status"] == "deferred"


@pytest.mark.parametrize("actual", ["NaN", "inf", "", "many", "1_0"])
def test_a_value_that_is_no_number_is_refused(actual: str) -> None:
    scope = Scope()
    scope.add(**MEASURE)
    with pytest.raises(UsageError):
        scope.set(actual=actual)
    assert scope.column("actual") is None


def test_an_amount_below_zero_is_no_value() -> None:
    scope = Scope()
    scope.add(metric="open_bugs", operator="le", target="0")
    with pytest.raises(UsageError, match="open_bugs = -1 makes no sense for an amount"):
        scope.set(actual="-1")
    scope.add("C2", metric="latency_change", operator="le", target="-10")
    assert (scope.column("actual"), scope.set("C2", actual="-12")["criterion"]["actual"]) == (None, "-12")


def test_the_list_says_what_decides_as_a_shell_takes_it_and_whether_a_value_is_enough() -> None:
    scope = Scope()
    scope.add(command=("sh", "-c", "exit 5"))
    for id, actual in (("C2", None), ("C3", "79.99"), ("C4", "80")):
        scope.add(id, **MEASURE)
        if actual:
            scope.set(id, actual=actual)
    lines = text.render("criterion list", scope.do("criterion list", session_id=SESSION)).splitlines()[1:]
    assert [line.split("  ")[2].strip() for line in map(_one_gap, lines)] == [
        "sh -c 'exit 5'",
        "coverage >= 80 (no value yet)",
        "coverage >= 80 (79.99, not met)",
        "coverage >= 80 (80, met)",
    ]


def _one_gap(line: str) -> str:
    return re.sub(" {2,}", "  ", line)


def test_a_value_is_recorded_by_whoever_measured_it_and_each_one_stays_on_record() -> None:
    scope = Scope()
    scope.add(**MEASURE)
    scope.set(actual="79", by="qa_expert", reason="measured")
    scope.set(actual="81", by="developer", reason="measured again")
    assert (scope.column("actual"), scope.column("set_by")) == ("81", "developer")
    assert scope.changes()[1:] == [
        ("criterion_actual", "C1", None, "79", "qa_expert", "measured"),
        ("criterion_actual", "C1", "79", "81", "developer", "measured again"),
    ]


def test_a_criterion_in_words_has_no_value_and_nothing_to_set_is_no_call() -> None:
    scope = Scope()
    scope.add()
    with pytest.raises(UsageError, match="has no metric"):
        scope.set(actual="3")
    with pytest.raises(UsageError, match="Nothing to set"):
        scope.set()


def test_an_ended_session_keeps_its_scope() -> None:
    scope = Scope("A", plan=True)
    scope.add(reason="asked for")
    scope.complete("A")
    scope.set(status="deferred")
    scope.says(PM, "BAZINGA")
    assert scope.do("validate", session_id=SESSION)["verdict"] == "ACCEPT"
    for words, more in (
        ("criterion add", {"text": "x", "reason": "x"}),
        ("criterion set", {"status": "met", "by": PM, "reason": "x"}),
        ("criterion remove", {"by": PM, "reason": "x"}),
    ):
        assert scope.code(words, **more) == "SESSION_CLOSED"


def test_a_handoff_shows_the_criteria_of_its_time() -> None:
    scope = Scope("A")
    scope.add("C1", **MEASURE)
    scope.add("C2", command=("pytest", "-q"))
    scope.plan()
    scope.add("C3", reason="late")
    scope.do("criterion remove", id="C1", session_id=SESSION, by=PM, reason="late")
    found = scope.do("handoff", session_id=SESSION, group_id="A")
    assert [each["id"] for each in found["handoff"]["criteria"]] == ["C1", "C2"]
    assert '- C1: "text of C1" (decided by: "coverage" ge "80")' in found["markdown"]
    assert '- C2: "text of C2" (decided by: "pytest -q")' in found["markdown"]


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("UPDATE criteria SET status = 'met' WHERE id = 'C1'", "STATUS_CHANGE_MISSING"),
        ("UPDATE criteria SET text = 'easier' WHERE id = 'C1'", "STATUS_CHANGE_MISSING"),
        ("UPDATE criteria SET target = '1' WHERE id = 'C2'", "NEVER_CHANGED"),
        ("UPDATE criteria SET command = NULL", "NEVER_CHANGED"),
        ("UPDATE criteria SET removed_by = 'x' WHERE id = 'C1'", "NEVER_CHANGED"),
        ("UPDATE criteria SET removed_seq = NULL WHERE id = 'C3'", "NEVER_CHANGED"),
        ("DELETE FROM criteria", "NEVER_DELETED"),
        ("INSERT OR REPLACE INTO criteria SELECT * FROM criteria", "ALREADY_EXISTS"),
        ("INSERT INTO criteria (session_id, id, text, created_by, created_at, created_seq, status, metric, operator,"
         " target) VALUES ('S1', 'C9', 'x', 'x', 'x', 1, 'met', 'm', 'ge', '1')", "(?i)check"),
        ("UPDATE evidence SET content = 'x'", "NEVER_CHANGED"),
        ("DELETE FROM evidence", "NEVER_DELETED"),
        ("UPDATE sessions SET outcome = 'accepted'", "STATUS_CHANGE_MISSING"),
    ],
)  # fmt: skip
def test_the_database_guards_criteria_and_evidence_against_its_own_writer(statement: str, message: str) -> None:
    scope = Scope("A")
    scope.add("C1")
    scope.add("C2", **MEASURE)
    scope.add("C3", command=(sys.executable, "-c", ""))
    scope.context.run = commands.run
    scope.do("validate", session_id=SESSION, record=True)
    scope.do("criterion remove", id="C3", session_id=SESSION, by=PM, reason="x")
    with pytest.raises(Exception, match=message):
        scope.context.connection.execute(statement)


@pytest.mark.parametrize(
    "change",
    [
        "approval = 'approved'",
        "approval = 'approved', approved_by = 'user', approved_seq = 2",
        "approval = NULL",
        "approved_by = 'user'",
        "approved_seq = 2",
    ],
)
def test_the_database_approves_no_command_without_its_record(change: str) -> None:
    scope = Scope()
    plan = {"criteria": [{"id": "T", "text": "tests pass", "command": ["true"]}], "groups": [{"id": "A"}]}
    scope.says("project_manager", "PLANNING_COMPLETE", details={"plan": plan})
    assert scope.column("approval", "T") == "pending"
    with pytest.raises(Exception, match="STATUS_CHANGE_MISSING: an approved command"):
        scope.context.connection.execute(f"UPDATE criteria SET {change} WHERE id = 'T'")


def test_a_session_cannot_be_accepted_without_its_verdict() -> None:
    scope = Scope("A")
    connection = scope.context.connection
    connection.execute(
        "INSERT INTO status_changes VALUES ('S1', 50, 1, 'session', 'S1', 'active', 'ended', 'x', 't', 'r', 'c')"
    )
    with pytest.raises(Exception, match="VERDICT_MISSING"):
        connection.execute(
            "UPDATE sessions SET status = 'ended', outcome = 'accepted', status_changed_by = 'x', status_seq = 50"
        )


def test_refusals_name_the_nearest_criterion() -> None:
    scope = Scope()
    scope.add("coverage")
    with pytest.raises(OrchestratorError) as caught:
        scope.set("coverge", status="met")
    assert caught.value.data["did_you_mean"] == "coverage"
