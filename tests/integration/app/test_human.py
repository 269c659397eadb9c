"""What only a person may do needs a human channel, and the channel is recorded with the act."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from typing import Any

import pytest

from orchestrator.app.kernel import credentials, human
from orchestrator.app.kernel.human import TERMINAL, TOKEN, Credential
from orchestrator.errors import InvalidInput, Refused
from tests.acceptance.test_replay import assert_told_again
from tests.integration.app.table import REVIEW, Table

USER = {"by": "user", "reason": "a person's reason"}
ALICE = {"by": "alice", "reason": "a person's reason"}


def planned() -> Table:
    return Table("A", "B", plan=True)


def pending() -> Table:
    return Table("A", "B")


def asked() -> Table:
    table = planned()
    table.says("developer", "PARTIAL", "A", metadata=REVIEW)
    return table


def paused() -> Table:
    table = planned()
    table.do("session pause", id="S1", by="project_manager", reason="r")
    return table


def deferred() -> Table:
    table = planned()
    table.defer("A")
    return table


def external() -> Table:
    table = planned()
    table.mark_external("A")
    return table


def completed() -> Table:
    table = planned()
    table.complete("A")
    return table


def with_criterion() -> Table:
    table = Table("A")
    table.do("criterion add", id="C1", session_id="S1", text="it is fast")
    return table


def cancelled_dependency() -> Table:
    table = Table("A")
    table.group("B", depends_on=("A",))
    table.plan()
    table.move("A", "cancelled")
    return table


def chat() -> Table:
    table = Table.__new__(Table)
    from orchestrator import testing

    table.context = testing.memory_context()
    table.do("session create", id="S1", kind="chat")
    return table


def with_alice() -> Table:
    table = planned()
    with table.person():
        table.do("agent register", id="alice", role="tech_lead", parent="user", kind="human", by="user")
    return table


Act = tuple[Callable[[], Table], str, dict[str, Any]]
S1 = {"session_id": "S1"}
ACTS: dict[str, Act] = {
    "pausing": (planned, "session pause", {"id": "S1", **USER}),
    "resuming": (paused, "session resume", {"id": "S1", **USER}),
    "abandoning": (planned, "session end", {"id": "S1", **USER}),
    "closing a chat": (chat, "session end", {"id": "S1", **USER}),
    "loosening the tests": (planned, "session testing-mode", {"id": "S1", "mode": "minimal", **USER}),
    "cancelling a group": (planned, "group set-status", {"id": "A", "status": "cancelled", **S1, **USER}),
    "deferring a group": (external, "group set-status", {"id": "A", "status": "deferred_external", **S1, **USER}),
    "resuming a group": (deferred, "group set-status", {"id": "A", "status": "in_progress", **S1, **USER}),
    "reopening a group": (completed, "group set-status", {"id": "A", "status": "in_progress", **S1, **USER}),
    "planning a group": (planned, "group create", {"id": "C", "security_sensitive": True, "by": "user", **S1}),
    "adding a criterion": (planned, "criterion add", {"id": "C1", "text": "x", **S1, **USER}),
    "rewording a criterion": (with_criterion, "criterion set", {"id": "C1", "text": "y", **S1, **USER}),
    "meeting a criterion": (with_criterion, "criterion set", {"id": "C1", "status": "met", **S1, **USER}),
    "removing a criterion": (with_criterion, "criterion remove", {"id": "C1", **S1, **USER}),
    "adding a dependency": (pending, "group depend", {"id": "B", "on": "A", **S1, **USER}),
    "dropping a dependency": (cancelled_dependency, "group undepend", {"id": "B", "on": "A", **S1, **USER}),
    "registering a person": (planned, "agent register", {
        "id": "bob", "role": "tech_lead", "kind": "human", "parent": "user", "by": "user"}),
    "deactivating a person": (with_alice, "agent deactivate", {"id": "alice", **USER}),
    "answering": (asked, "answer", {"id": "S1:Q4", "decision": "continue", "by": "user"}),
    "enrolling": (planned, "human enrol", {"agent": "user"}),
}  # fmt: skip


def question_of(table: Table, words: str, given: dict[str, Any]) -> dict[str, Any]:
    """The arguments, with the question that is open."""
    return {**given, "id": table.asked()[0]} if words == "answer" else given


@pytest.mark.parametrize("act", ACTS)
class TestWhatAPersonDoes:
    def test_needs_more_than_a_name(self, act: str) -> None:
        made, words, given = ACTS[act]
        table = made()
        assert table.refusal(words, **question_of(table, words, given)).code == "HUMAN_REQUIRED"

    def test_is_done_at_a_terminal_and_recorded_with_the_channel(self, act: str) -> None:
        made, words, given = ACTS[act]
        table = made()
        with table.person():
            done = table.do(words, **question_of(table, words, given))
        assert (done["success"], done["proof"]) == (True, "weak")
        (actor, channel, kept) = table.rows(
            "SELECT actor, channel, input FROM audit_events WHERE kind = :kind ORDER BY rowid DESC LIMIT 1", kind=words
        )[0]
        assert (actor, channel) == ("user", "terminal")
        assert json.loads(kept)["person"] == {"channel": "terminal", "proof": "weak"}
        assert_told_again(table.context)


@pytest.mark.parametrize("by", ["project_manager", "tech_lead", "orchestrator"])
def test_an_agent_is_no_person_even_at_a_terminal(by: str) -> None:
    table = planned()
    with table.person():
        problem = table.refusal("session end", id="S1", by=by, reason="r")
    # To type the same again would be refused again.
    assert (problem.code, problem.suggestion) == ("HUMAN_REQUIRED", human.IN_THEIR_NAME)


def test_loosening_stays_a_person_s_where_a_manager_sits_at_a_terminal() -> None:
    table = planned()
    with table.person():
        problem = table.refusal("session testing-mode", id="S1", mode="minimal", by="project_manager", reason="r")
    assert (problem.code, "is not a person" in problem.message) == ("HUMAN_REQUIRED", True)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        pytest.param("no_terminal", "not running in a terminal", id="no terminal"),
        pytest.param("agent", "CLAUDECODE or ORCHESTRATOR_AGENT", id="an agent's surroundings"),
        pytest.param("code", "was not typed", id="the wrong code"),
        pytest.param("something new", "failed", id="whatever else"),
    ],
)
def test_a_terminal_that_proves_nobody_is_refused_with_the_reason(fault: str, words: str) -> None:
    table = planned()
    with table.person(Credential(TERMINAL, fault=fault)):
        problem = table.refusal("session end", id="S1", **USER)
    assert (problem.code, words in problem.message) == ("HUMAN_REQUIRED", True)
    (kept,) = table.rows("SELECT input FROM audit_events WHERE kind = 'refusal'")[0]
    assert json.loads(kept)["input"]["person"] == {"channel": "terminal", "fault": fault, "proof": "nothing"}
    assert_told_again(table.context)


def enrolled(table: Table, agent: str = "user", old: str | None = None) -> str:
    with table.person(Credential(TOKEN, old) if old else None):
        return str(table.do("human enrol", agent=agent, by="user")["token"])


class TestAToken:
    def test_in_force_proves_its_person_and_names_them(self) -> None:
        table = planned()
        token = enrolled(table)
        with table.person(Credential(TOKEN, f"{token}\n")):
            table.do("session end", id="S1", reason="r")
        (actor, channel, kept) = table.rows(
            "SELECT actor, channel, input FROM audit_events WHERE kind = 'session end'"
        )[0]
        enrolment = table.rows("SELECT id FROM human_tokens")[0][0]
        assert (actor, channel) == ("user", "token")
        assert json.loads(kept)["person"] == {"channel": "token", "enrolment": enrolment, "proof": "possession"}
        assert table.session("status_changed_by, outcome") == ("user", "abandoned")
        assert_told_again(table.context)

    @pytest.mark.parametrize(
        ("token", "fault"),
        [
            pytest.param("", "empty", id="empty"),
            pytest.param(" \n", "empty", id="blank"),
            pytest.param("orchestrator-human-wrong", "unknown", id="wrong"),
            pytest.param("\udcff", "unknown", id="no text"),
        ],
    )
    def test_that_was_never_given_out_proves_nobody(self, token: str, fault: str) -> None:
        table = planned()
        enrolled(table)
        with table.person(Credential(TOKEN, token)):
            assert table.refusal("session end", id="S1", **USER).code == "HUMAN_REQUIRED"
        (kept,) = table.rows("SELECT input FROM audit_events WHERE kind = 'refusal'")[0]
        assert json.loads(kept)["input"]["person"] == {"channel": "token", "fault": fault, "proof": "nothing"}
        assert_told_again(table.context)

    def test_ends_with_the_next_enrolment(self) -> None:
        table = planned()
        old = enrolled(table)
        new = enrolled(table, old=old)
        with table.person(Credential(TOKEN, old)):
            problem = table.refusal("session end", id="S1", **USER)
        assert (problem.code, "replaced by a newer one" in problem.message) == ("HUMAN_REQUIRED", True)
        with table.person(Credential(TOKEN, new)):
            table.do("session pause", id="S1", **USER)
        found = table.do("agent show", id="user")["agent"]["enrolments"]
        assert [each["in_force"] for each in found] == [True, False]
        assert_told_again(table.context)

    def test_of_another_person_is_refused(self) -> None:
        table = with_alice()
        token = enrolled(table, "alice")
        with table.person(Credential(TOKEN, token)):
            problem = table.refusal("session end", id="S1", **USER)
            assert problem.message.endswith("the token is alice's, not user.")
            table.do("session end", id="S1", **ALICE)
        assert table.session("status_changed_by") == ("alice",)

    def test_of_one_person_outlives_the_enrolment_of_another(self) -> None:
        table = with_alice()
        token = enrolled(table)
        enrolled(table, "alice", token)
        with table.person(Credential(TOKEN, token)):
            assert table.do("session pause", id="S1", **USER)["success"] is True

    def test_of_a_person_out_of_service_proves_nobody(self) -> None:
        table = with_alice()
        token = enrolled(table, "alice")
        with table.person():
            table.do("agent deactivate", id="alice", **USER)
        with table.person(Credential(TOKEN, token)):
            assert table.refusal("session end", id="S1", **USER).code == "HUMAN_REQUIRED"
            assert table.refusal("session end", id="S1", **ALICE).code == "HUMAN_REQUIRED"
        assert_told_again(table.context)

    def test_that_is_bad_is_refused_whatever_is_done_with_it(self) -> None:
        table = planned()
        with table.person(Credential(TOKEN, "wrong")):
            assert table.refusal("session pause", id="S1", by="project_manager", reason="r").code == "HUMAN_REQUIRED"

    def test_is_needed_to_give_out_another(self) -> None:
        table = with_alice()
        token = enrolled(table)
        for agent in ("user", "alice"):
            with table.person():
                problem = table.refusal("human enrol", agent=agent, by="user")
            assert problem.code == "HUMAN_REQUIRED"
            assert "a token is enrolled, and this needs it" in problem.message
        with table.person(Credential(TOKEN, token)):
            table.do("session pause", id="S1", **USER)
            assert table.do("human enrol", agent="alice", by="user")["proof"] == "possession"
        assert_told_again(table.context)

    def test_is_nowhere_but_in_the_answer_that_prints_it(self) -> None:
        table = asked()
        token = enrolled(table)
        with table.person(Credential(TOKEN, token)):
            table.do("answer", id=table.asked()[0], decision="continue", note="x", request_id="r1")
            with pytest.raises(Refused) as caught:
                table.do("answer", id="S1:Q99", decision="continue")
            assert token not in f"{caught.value} {caught.value.data} {table.context.credential!r}"
        assert token.encode() not in table.context.connection.serialize()
        assert credentials.hashed(token).encode() in table.context.connection.serialize()

    def test_has_a_mark_and_enough_randomness(self) -> None:
        table = planned()
        tokens = [enrolled(table)]
        tokens += [enrolled(table, old=tokens[-1])]
        assert len(set(tokens)) == 2
        assert all(token.startswith("orchestrator-human-") and len(token) > 60 for token in tokens)


@pytest.mark.parametrize("agent", ["nobody", "developer"])
def test_only_people_are_enrolled(agent: str) -> None:
    table = planned()
    with table.person():
        assert table.refusal("human enrol", agent=agent, by="user").code == "UNKNOWN_AGENT"


def test_the_person_at_a_terminal_is_named_where_there_are_several() -> None:
    table = with_alice()
    table.says("developer", "PARTIAL", "A", metadata=REVIEW)
    (question,) = table.asked()
    with table.person():
        assert table.refusal("answer", id=question, decision="continue").code == "ACTOR_REQUIRED"
        table.do("answer", id=question, decision="continue", by="alice")
    assert table.rows("SELECT closed_by, channel FROM questions") == [("alice", "terminal")]


@pytest.mark.parametrize(
    "sql", ["UPDATE human_tokens SET agent_id = 'developer'", "DELETE FROM human_tokens",
            "UPDATE resume_points SET type = 'x'", "DELETE FROM resume_points"],
)  # fmt: skip
def test_the_database_keeps_enrolments_and_resume_points_as_they_were_written(sql: str) -> None:
    table = planned()
    enrolled(table)
    table.says("developer", "PARTIAL", "A", metadata=REVIEW)
    with pytest.raises(sqlite3.IntegrityError, match="NEVER_"):
        table.context.connection.execute(sql)


def test_a_token_file_that_is_no_text_holds_no_credential() -> None:
    assert human.credential_of(b"\xef\xbb\xbfabc").token == "abc"  # noqa: S105 - a token of the test
    with pytest.raises(InvalidInput) as caught:
        human.credential_of(b"\xff\xfe\x00")
    assert (caught.value.code, caught.value.message) == ("FILE_INVALID", "The token file is not UTF-8 text.")
