"""What a caller gives as a reason or in a note is told in the timeline, whichever command took it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from orchestrator.app.kernel import operations
from tests import persons
from tests.integration.app.table import SESSION, Table, document

WORDS = ("reason", "note", "summary", "acknowledge")
"""Parameters in which a caller says why, or what."""
SAID = "because the moon was full"
PM = "project_manager"
Play = Callable[[Table], None]


def _deferred(table: Table) -> None:
    """B waits for A, and A for something outside."""
    table.group("B", depends_on=("A",))
    table.mark_external("A")
    table.move("A", "deferred_external")


def _task(table: Table) -> None:
    table.plan()
    table.do("task create", id="T1", title="words", session_id=SESSION, group_id="A", assignee="developer")


def _apart(table: Table, *on: str) -> None:
    _task(table)
    given = {"title": "words", "session_id": SESSION, "group_id": "A", "assignee": "developer"}
    table.do("task create", id="T2", depends_on=on, **given)


def _linked(table: Table) -> None:
    _apart(table, "T1")


def _claimed(table: Table) -> None:
    _task(table)
    table.do("task set-status", id="T1", status="in_progress", session_id=SESSION, by="developer")


def _measured(table: Table) -> None:
    table.plan()
    given = {"id": "C1", "text": "fast", "session_id": SESSION, "by": PM, "reason": "late"}
    table.do("criterion add", **given)


def _reported(table: Table) -> None:
    criterion = {"id": "C1", "text": "fast", "command": ["true"]}
    table.says(PM, "PLANNING_COMPLETE", details={"plan": {"groups": [{"id": "P"}], "criteria": [criterion]}})
    _person(table)


def _person(table: Table) -> None:
    persons.sit(table.context)


def _asked(table: Table) -> None:
    table.says(PM, "NEEDS_CLARIFICATION", summary="which colour?")
    _person(table)


def _soft(table: Table) -> None:
    _claimed(table)
    table.do("task set-status", id="T1", status="blocked", session_id=SESSION, by="developer", reason="no disk")


def _paused(table: Table) -> None:
    table.do("session pause", id=SESSION, by=PM, reason="lunch")


def _planned(table: Table) -> None:
    table.plan()


def _newer(table: Table) -> None:
    made = document()
    made["_special_rules"]["loop_guard"] = {"max_visits": 9, "on_exhausted": ["question"]}
    table.new_rules(made)
    persons.sit(table.context)


def _nothing(table: Table) -> None:
    """It stands as it was made."""


def _second(table: Table) -> None:
    table.group("B")


def _bob(table: Table) -> None:
    table.do("agent register", id="bob", role="developer")


IN: dict[str, Any] = {"session_id": SESSION}
BY = {"by": PM, "reason": SAID}
CALLS: dict[str, tuple[Play, str, dict[str, Any]]] = {
    "report": (_planned, "route", {**IN, "current_agent": "developer", "status": "READY_FOR_QA", "group_id": "A",
        "summary": SAID}),
    "acknowledgement": (_planned, "route", {**IN, "current_agent": PM, "status": "BAZINGA",
        "acknowledge": {"A": SAID}}),
    "redispatch": (_planned, "redispatch", {**IN, "group_id": "A", "by": PM, "reason": SAID}),
    "answer": (_asked, "answer", {"decision": "continue", "note": SAID}),
    "pause": (_nothing, "session pause", {"id": SESSION, **BY}),
    "resume": (_paused, "session resume", {"id": SESSION, **BY}),
    "end": (_person, "session end", {"id": SESSION, "by": "user", "reason": SAID}),
    "testing mode": (_person, "session testing-mode", {"id": SESSION, "mode": "minimal", "by": "user", "reason": SAID}),
    "upgrade": (_newer, "session upgrade-workflow", {"id": SESSION, "by": "user", "reason": SAID}),
    "cancel a group": (_nothing, "group set-status", {**IN, "id": "A", "status": "cancelled", **BY}),
    "defer a group": (lambda table: table.mark_external("A") and None, "group set-status",
        {**IN, "id": "A", "status": "deferred_external", **BY}),
    "depend": (_second, "group depend", {**IN, "id": "B", "on": "A", **BY}),
    "undepend": (_deferred, "group undepend", {**IN, "id": "B", "on": "A", **BY}),
    "release a task": (_claimed, "task release", {**IN, "id": "T1", **BY}),
    "create a blocked task": (_planned, "task create", {**IN, "id": "T1", "title": "words", "group_id": "A",
        "status": "blocked", **BY}),
    "block a task": (_claimed, "task set-status", {**IN, "id": "T1", "status": "blocked", "by": "developer",
        "reason": SAID}),
    "start a task": (_task, "task set-status", {**IN, "id": "T1", "status": "in_progress", "by": "developer",
        "reason": SAID}),
    "do a task": (_claimed, "task status", {**IN, "id": "T1", "status": "done", "by": "developer", "reason": SAID}),
    "depend a task": (_apart, "task depend", {**IN, "id": "T2", "on": "T1", **BY}),
    "undepend a task": (_linked, "task undepend", {**IN, "id": "T2", "on": "T1", **BY}),
    "lift a blocker": (_soft, "blocker resolve", {**IN, "by": "developer", "reason": SAID}),
    "add a criterion": (_planned, "criterion add", {**IN, "id": "C1", "text": "fast", **BY}),
    "defer a criterion": (_measured, "criterion set", {**IN, "id": "C1", "status": "deferred", **BY}),
    "reword a criterion": (_measured, "criterion set", {**IN, "id": "C1", "text": "faster", **BY}),
    "set a criterion as it is": (_measured, "criterion set", {**IN, "id": "C1", "status": "open", **BY}),
    "allow a criterion's command": (_reported, "criterion approve", {**IN, "id": "C1", "reason": SAID}),
    "remove a criterion": (_measured, "criterion remove", {**IN, "id": "C1", **BY}),
    "deactivate": (_bob, "agent deactivate", {"id": "bob", **BY}),
}  # fmt: skip


def takes_words(words: str) -> bool:
    """Whether a command takes a reason or a note."""
    request = operations.find(words)
    return request.is_writing and not set(request.parameters()).isdisjoint(WORDS)


def test_every_command_that_takes_a_reason_or_a_note_is_here() -> None:
    taking = {words for words in operations.every() if takes_words(words)}
    assert taking == {words for _, words, _ in CALLS.values()}


def last(table: Table, words: str) -> dict[str, Any]:
    """The newest step, of the store where the command belongs to it."""
    chain = "@store" if words == "agent deactivate" else SESSION
    found: dict[str, Any] = table.do("audit timeline", session_id=chain, order="desc", limit=1)["events"][0]
    return found


def whole(table: Table, words: str, given: dict[str, Any]) -> dict[str, Any]:
    """The arguments with the id that only the play knows."""
    if words == "answer":
        return {**given, "id": table.asked()[0]}
    if words == "blocker resolve":
        ((blocker,),) = table.rows("SELECT id FROM blockers WHERE resolved_seq IS NULL")
        return {**given, "id": blocker}
    return given


@pytest.mark.parametrize("name", CALLS)
def test_it_is_told_once(name: str) -> None:
    before, words, given = CALLS[name]
    table = Table("A")
    before(table)
    table.do(words, **whole(table, words, given))
    event = last(table, words)
    assert event["kind"] == words.replace("task status", "task set-status")
    assert SAID in event["text"]


@pytest.mark.parametrize("given", [{"reason": SAID}, {"reason": f"  {SAID}\n"}], ids=["as it is", "with blanks"])
def test_what_a_row_says_is_not_said_twice(given: dict[str, str]) -> None:
    table = Table("A")
    table.do("group set-status", **IN, id="A", status="cancelled", by=PM, **given)
    assert last(table, "")["text"].count(SAID) == 1


def test_a_refused_call_keeps_its_reason() -> None:
    table = Table("A", plan=True)
    table.refusal("group set-status", **IN, id="A", status="completed", by="developer", reason=SAID)
    assert last(table, "")["called"] == f"developer: group set-status A: {SAID}"


def test_a_refused_report_keeps_what_it_said() -> None:
    table = Table("A", plan=True)
    table.refused("tech_lead", "APPROVED", "A", summary=SAID)
    assert last(table, "")["called"] == f"tech_lead: route A: {SAID}"


@pytest.mark.parametrize("reason", ["", " ", "\u200b"], ids=["empty", "blank", "zero width"])
def test_what_says_nothing_is_not_told(reason: str) -> None:
    table = Table("A", "B")
    table.do("group depend", **IN, id="B", on="A", by=PM, reason=reason)
    assert last(table, "")["text"] == "project_manager: group depend B on A"


class TestInterrupting:
    """A report of the project manager that took a turn away says so, and whose."""

    def test_the_turn_that_was_taken_is_named(self) -> None:
        table = Table("A", plan=True)
        turn = table.do("group show", id="A", session_id=SESSION)["group"]["awaited"]["turn"]
        table.says(PM, "INVESTIGATION_NEEDED", "A", interrupt=True, summary=SAID)
        assert last(table, "")["wrote"][0]["text"] == (
            f"project_manager reported INVESTIGATION_NEEDED on A, interrupting turn {turn} of developer@S1:A: {SAID}"
        )

    def test_a_turn_that_was_given_anew_is_named_as_it_was_last(self) -> None:
        table = Table("A", plan=True)
        turn = table.do("redispatch", session_id=SESSION, group_id="A", by=PM, reason="it died")["turn"]
        table.says(PM, "INVESTIGATION_NEEDED", "A", interrupt=True)
        assert f", interrupting turn {turn} of developer@S1:A" in last(table, "")["text"]

    @pytest.mark.parametrize("interrupt", [True, False])
    def test_nobody_is_interrupted_where_nobody_had_a_turn(self, interrupt: bool) -> None:
        table = Table("A")
        table.says(PM, "INVESTIGATION_NEEDED", "A", interrupt=interrupt)
        assert "interrupting" not in last(table, "")["text"]

    def test_the_manager_does_not_interrupt_itself(self) -> None:
        table = Table("A", plan=True)
        table.mark_external("A")
        table.says(PM, "RESUME_BLOCKED", "A", interrupt=True, summary="it is there")
        assert "interrupting" not in last(table, "")["text"]

    def test_a_report_on_no_group_takes_no_turn(self) -> None:
        table = Table("A", plan=True)
        table.says(PM, "BAZINGA", acknowledge={"A": SAID}, interrupt=True)
        assert "interrupting" not in last(table, "")["text"]
