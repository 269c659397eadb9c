"""`audit replay` and `--at`: what is told again equals the record, or the difference is named."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from orchestrator import progress, testing
from orchestrator.app import setup
from orchestrator.app.audit import as_of, replay_comparison, replay_session
from orchestrator.app.kernel import operations
from orchestrator.app.kernel.context import Context
from orchestrator.app.session import status
from orchestrator.app.workflow import workflows
from orchestrator.core.routing import engine, facts
from orchestrator.core.workflow import checks
from orchestrator.errors import OrchestratorError
from orchestrator.store import event_stream, replay_database, row_comparison
from orchestrator.store.table_metadata import STORED_AS
from tests import forging
from tests.acceptance import walking
from tests.acceptance.walking import Op, report

STORY = (
    Op("session create", {"id": "S1", "goal": "a goal", "testing_mode": "minimal"}),
    Op("session create", {"id": "S2", "goal": "another goal"}),
    Op("group create", {"id": "A", "session_id": "S1", "name": "Login"}),
    Op("group create", {"id": "X", "session_id": "S2", "name": "Elsewhere"}),
    report("pm", "PLANNING_COMPLETE"),
    Op("route", {"session_id": "S2", "current_agent": "pm", "status": "PLANNING_COMPLETE"}),
    report("developer", "READY_FOR_REVIEW", "A", raw_text="the whole message", details={"share": 0.5}),
    report("tech_lead", "", "A"),
    report("tech_lead", "APPROVED", "A", request_id="once"),
)
OUTSIDERS = (
    *STORY,
    report("developer", "MERGE_SUCCESS", "A", agent_id="developer@S2:X"),
    Op("agent register", {"id": "developer@S2:X", "role": "developer"}),
    Op("agent register", {"id": "helper", "role": "developer", "parent": "developer@S2:X"}),
    Op("agent deactivate", {"id": "developer@S2:X", "by": "project_manager", "reason": "it died"}),
    report("developer", "MERGE_SUCCESS", "A", agent_id="developer@S2:X"),
    report("developer", "MERGE_SUCCESS", "A", agent_id="helper"),
)
SAID_BEFORE = (
    Op("session create", {"id": "S2", "goal": "another goal"}),
    Op("group create", {"id": "X", "session_id": "S2", "name": "Elsewhere"}),
    Op("route", {"session_id": "S2", "current_agent": "pm", "status": "PLANNING_COMPLETE"}),
    report("developer", "READY_FOR_REVIEW", "X", session_id="S2", raw_text="the whole message"),
    *(op for op in STORY if "S2" not in op.arguments.values()),
)
"""A message that an agent of another session had sent word for word."""


def played(story: tuple[Op, ...] = STORY) -> Context:
    context = testing.memory_context()
    for op in story:
        walking.perform(context, op)
    return context


def tamper(context: Context, sql: str) -> None:
    """Change the record as somebody would who first drops the guards."""
    forging.disarm(context.connection)
    forging.loosen(context.connection)
    context.connection.execute(sql)


def found(answer: dict[str, Any]) -> list[tuple[int, str, str]]:
    return [(each["seq"], each["table"], each["why"]) for each in answer["differences"]]


@pytest.mark.parametrize(
    "story",
    [
        pytest.param(STORY, id="two sessions"),
        pytest.param(OUTSIDERS, id="outsiders"),
        pytest.param(SAID_BEFORE, id="a message that another session had first"),
    ],
)
def test_a_session_is_told_again_without_the_others(story: tuple[Op, ...]) -> None:
    context = played(story)
    answer = replay_comparison.replay(context, session_id="S1", strict=True)
    events = context.connection.execute("SELECT count(*) FROM audit_events WHERE session_id <> 'S2'").fetchone()[0]
    assert (answer["equal"], answer["exit_code"], answer["told"], answer["differences"]) == (True, 0, events, [])
    assert answer["told_head"] == answer["head"]


def test_a_version_is_checked_once_however_many_sessions_are_told_again(monkeypatch: pytest.MonkeyPatch) -> None:
    context, check, checked = played(), checks.check, []

    def counted(data: bytes, source: str) -> checks.Report:
        checked.append(source)
        return check(data, source)

    monkeypatch.setattr(checks, "check", counted)
    workflows._checked.cache_clear()
    assert [replay_comparison.replay(context, session_id=id)["equal"] for id in ("S1", "S2", "S1")] == [True] * 3
    assert checked == ["transitions.json"]


def test_what_a_check_found_is_the_callers_own_to_change() -> None:
    texts = {**setup.agent_texts(), "broken.md": "no front matter"}
    report, files, problems = workflows.check("{}", texts, "small.json")
    before = (report, [*files], [dict(each) if isinstance(each, dict) else each for each in problems])
    files.clear()
    for each in problems:
        if isinstance(each, dict):
            each["severity"] = "none"
    problems.clear()
    assert workflows.check("{}", texts, "small.json") == before


def test_the_outsiders_story_names_agents_of_another_session_in_every_way() -> None:
    context = testing.memory_context()
    codes = [walking.perform(context, op) for op in OUTSIDERS][len(STORY) :]
    assert codes == ["NOT_PERMITTED", "ALREADY_EXISTS", None, None, "UNKNOWN_AGENT", None]
    outsiders = [
        each for each in event_stream.entries(context.connection, "S1") if isinstance(each, event_stream.Outsider)
    ]
    assert [each.values[0] for each in outsiders] == ["developer@S2:X"]


@pytest.mark.parametrize("seed", range(6))
def test_a_walked_session_is_equal(seed: int) -> None:
    walk = walking.Walk(seed)
    walk.go(50)
    answer = replay_comparison.replay(walk.context, session_id="S1", strict=True)
    assert (answer["count"], answer["exit_code"]) == (0, 0)


TAMPERED = [
    pytest.param(
        "UPDATE router_decisions SET next_agent = 'user' WHERE session_id = 'S1' AND seq = 4",
        [(4, "router_decisions", "differs")],
        id="a decision",
    ),
    pytest.param(
        "UPDATE task_groups SET qa_attempts = 7 WHERE session_id = 'S1'", [(6, "task_groups", "differs")], id="a group"
    ),
    pytest.param(
        "UPDATE router_decisions SET handoff = NULL, handoff_agent = NULL WHERE session_id = 'S1' AND seq = 4",
        [(4, "handoffs", "missing")],
        id="a hand-off gone",
    ),
    pytest.param(
        "INSERT INTO acknowledgements VALUES ('S1', 4, 9, 'A', 'forged')",
        [(4, "acknowledgements", "added")],
        id="a row added",
    ),
    pytest.param("DELETE FROM sessions WHERE id = 'S1'", [(1, "sessions", "missing")], id="the session itself"),
    pytest.param("UPDATE texts SET content = 'another'", [(4, "texts", "differs")], id="a message"),
    pytest.param(
        "UPDATE audit_events SET hash = prev_hash WHERE session_id = 'S1' AND seq = 3",
        [(3, "audit_events", "altered"), (4, "audit_events", "altered")],
        id="a hash",
    ),
]


@pytest.mark.parametrize(("sql", "expected"), TAMPERED)
def test_what_was_altered_is_named_by_step_and_table(sql: str, expected: list[tuple[int, str, str]]) -> None:
    context = played()
    tamper(context, sql)
    answer = replay_comparison.replay(context, session_id="S1")
    assert found(answer) == expected
    assert (answer["equal"], answer["exit_code"], answer["engine_changed"]) == (False, 1, 0)


@pytest.mark.parametrize(
    "sql",
    [
        pytest.param("UPDATE audit_events SET input = '{}' WHERE session_id = 'S1' AND seq = 3", id="an input emptied"),
        pytest.param("UPDATE audit_events SET input = 'no' WHERE session_id = 'S1' AND seq = 3", id="an input no JSON"),
        pytest.param("UPDATE audit_events SET kind = 'sorcery' WHERE session_id = 'S1' AND seq = 3", id="a kind"),
        pytest.param("DELETE FROM audit_events WHERE session_id = 'S1' AND seq = 3", id="an event gone"),
        pytest.param("DELETE FROM audit_events WHERE session_id = '@store' AND seq = 1", id="the first of the store"),
        pytest.param("UPDATE audit_events SET actor = 'eve' WHERE session_id = 'S1' AND seq = 4", id="an actor"),
    ],
)
def test_events_that_cannot_be_told_stop_nothing(sql: str) -> None:
    context = played()
    tamper(context, sql)
    answer = replay_comparison.replay(context, session_id="S1")
    assert answer["exit_code"] == 1
    assert any(each["table"] == "audit_events" for each in answer["differences"])


def test_one_difference_is_told_as_one() -> None:
    context = played()
    tamper(context, "UPDATE agent_reports SET summary = 'forged' WHERE seq = (SELECT max(seq) FROM agent_reports)")
    answer = replay_comparison.replay(context, session_id="S1")
    assert (answer["count"], next(replay_comparison.sentences(answer)).rpartition(": ")[2]) == (1, "1 difference.")


def test_the_list_of_differences_is_bounded_and_all_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay_comparison, "SHOWN", 3)
    context = played()
    tamper(context, "UPDATE router_decisions SET timestamp = 'never'")
    answer = replay_comparison.replay(context, session_id="S1")
    assert len(answer["differences"]) == 3
    assert answer["count"] == context.connection.execute(
        "SELECT count(*) FROM router_decisions WHERE session_id = 'S1'"
    ).fetchone()[0]
    assert "more" in list(replay_comparison.sentences(answer))[4]


def other_rules(monkeypatch: pytest.MonkeyPatch, change: Callable[[Any], Any]) -> None:
    """Let the program have the next version of the rules, which decide otherwise."""
    decide = engine.decide
    monkeypatch.setattr(facts, "RULES_VERSION", facts.RULES_VERSION + 1)
    monkeypatch.setattr(engine, "decide", lambda case: change(decide(case)))


def test_under_other_rules_that_decide_alike_nothing_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    context = played()
    other_rules(monkeypatch, lambda decision: decision)
    answer = replay_comparison.replay(context, session_id="S1", strict=True)
    assert (answer["count"], answer["exit_code"], answer["rules_version"]) == (0, 0, facts.RULES_VERSION)


@pytest.mark.parametrize(
    ("strict", "code"), [pytest.param(False, 0, id="not strict"), pytest.param(True, 1, id="strict")]
)
def test_what_other_rules_decide_otherwise_is_engine_changed(
    monkeypatch: pytest.MonkeyPatch, strict: bool, code: int
) -> None:
    context = played()
    other_rules(monkeypatch, lambda decision: decision._replace(model="another"))
    answer = replay_comparison.replay(context, session_id="S1", strict=strict)
    assert answer["count"] > 0
    assert all(each["engine_changed"] for each in answer["differences"])
    assert (answer["engine_changed"], answer["exit_code"]) == (answer["count"], code)


def test_other_rules_do_not_hide_what_was_altered(monkeypatch: pytest.MonkeyPatch) -> None:
    context = played()
    tamper(context, "UPDATE router_decisions SET next_agent = 'user' WHERE session_id = 'S1' AND seq = 6")
    other_rules(monkeypatch, lambda decision: decision._replace(model="another"))
    answer = replay_comparison.replay(context, session_id="S1")
    assert answer["exit_code"] == 1
    faults = [(each["seq"], each["table"]) for each in answer["differences"] if not each["engine_changed"]]
    assert (6, "router_decisions") in faults


def test_a_replay_says_how_far_it_is_and_of_how_many(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[tuple[Any, ...]] = []
    monkeypatch.setattr(progress, "EVERY", 2)
    monkeypatch.setattr(progress, "tell", lambda *given: said.append(given))
    replay_comparison.replay(played(), session_id="S1")
    assert [each for each in said if each[0] == "events of S1"] == [("events of S1", seq, 6) for seq in (2, 4, 6)]


@pytest.mark.parametrize("session", ["S9", "@store"])
def test_what_is_no_session_is_refused(session: str) -> None:
    with pytest.raises(OrchestratorError) as caught:
        replay_comparison.replay(played(), session_id=session)
    assert caught.value.code == "UNKNOWN_SESSION"


@pytest.mark.sqlite("changes of a connection are counted")
def test_a_replay_writes_nothing() -> None:
    context = played()
    before = context.connection.total_changes
    replay_comparison.replay(context, session_id="S1")
    assert (context.connection.total_changes, context.connection.in_transaction) == (before, False)


@pytest.mark.sqlite("the database that a replay writes is always in memory")
def test_the_own_database_has_all_tables_and_no_trigger() -> None:
    connection, other = replay_database.connect(), testing.memory_context().connection
    sql = "SELECT type, name FROM sqlite_master WHERE type <> 'trigger' AND name NOT LIKE 'sqlite%' ORDER BY 1, 2"
    assert connection.execute(sql).fetchall() == other.execute(sql).fetchall()
    assert connection.execute("SELECT count(*) FROM sqlite_master WHERE type = 'trigger'").fetchone() == (0,)
    connection.close()


def test_every_table_is_compared() -> None:
    connection = replay_database.connect()
    names = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    compared = {table.name for chain in ("S1", "@store") for table in row_comparison._tables(connection, chain)}
    connection.close()
    compared |= {STORED_AS[name] for name in compared & STORED_AS.keys()}
    assert {name for name in names if not name.startswith("sqlite_")} - compared == {"alembic_version", "audit_events"}


def test_a_step_that_writes_nothing_needs_no_undoing() -> None:
    connection = replay_database.connect(undoes=False)
    for _ in range(2):
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("ROLLBACK")
    connection.close()


def test_what_a_step_wrote_before_it_failed_is_undone_by_telling_all_anew() -> None:
    told = []

    def tell(then: Context) -> tuple[int, str]:
        told.append(then.connection)
        for ending in ("COMMIT", "ROLLBACK"):
            then.connection.execute("BEGIN IMMEDIATE")
            then.connection.execute("INSERT INTO texts VALUES (?, 'x')", (ending,))
            then.connection.execute(ending)
        count, first = then.connection.execute("SELECT count(*), min(hash) FROM texts").fetchone()
        return count, first

    assert replay_session.in_own_database("a file", tell) == (1, "COMMIT")
    assert [connection.undoes for connection in told] == [False, True]


def test_a_step_that_fails_in_the_own_database_leaves_nothing() -> None:
    connection = replay_database.connect()
    for ending, rows in (("ROLLBACK", 0), ("COMMIT", 1), ("ROLLBACK", 1)):
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO texts VALUES (?, 'x')", (f"{ending}{rows}",))
        connection.execute(ending)
        connection.execute("ROLLBACK")
        assert connection.execute("SELECT count(*) FROM texts").fetchone() == (rows,)
    connection.close()


ASKED = (
    pytest.param("status", {}, id="status"),
    pytest.param("group show", {"id": "A"}, id="group show"),
    pytest.param("why", {"id": "A"}, id="why"),
)


@pytest.mark.parametrize(("words", "given"), ASKED)
def test_at_a_step_the_answer_is_the_one_that_was_given_then(words: str, given: dict[str, Any]) -> None:
    """Each answer that was given after a step is given again when that step is asked for later."""
    context = testing.memory_context()
    then: dict[int, dict[str, Any]] = {}
    for op in STORY:
        walking.perform(context, op)
        row = context.connection.execute("SELECT max(seq) FROM audit_events WHERE session_id = 'S1'").fetchone()
        if row[0] is not None and row[0] >= 2:
            then[row[0]] = operations.call(context, words, session_id="S1", **given)
    assert len(then) >= 5
    for seq, expected in then.items():
        actual = operations.call(context, words, session_id="S1", at_seq=seq, **given)
        assert actual.pop("as_of")["seq"] == seq
        assert actual == expected


def test_overdue_is_measured_at_the_time_of_the_step() -> None:
    context = testing.memory_context()
    walking.perform(context, Op("session create", {"id": "S1", "turn_timeout": 1}))
    walking.perform(context, Op("group create", {"id": "A", "session_id": "S1", "name": "n"}))
    walking.perform(context, report("pm", "PLANNING_COMPLETE"))
    for _ in range(120):
        context.clock()
    overdue = [status.status(context, session_id="S1", at_seq=at)["groups"][0]["overdue"] for at in (None, 3)]
    assert overdue == [True, False]


@pytest.mark.parametrize("seq", [pytest.param(0, id="before the first"), pytest.param(99, id="behind the last")])
def test_a_step_that_there_is_none_of_is_refused_with_the_range(seq: int) -> None:
    with pytest.raises(OrchestratorError) as caught:
        status.status(played(), session_id="S1", at_seq=seq)
    problem = caught.value
    assert (problem.code, problem.data, problem.exit_code) == ("SEQ_OUT_OF_RANGE", {"first": 1, "last": 6}, 64)
    assert "1 to 6" in problem.message


def test_a_step_needs_a_session() -> None:
    with pytest.raises(OrchestratorError) as caught:
        status.status(played(), at_seq=3)
    assert caught.value.code == "USAGE"


def test_a_decision_is_not_known_before_it_was_made() -> None:
    context = played()
    with pytest.raises(OrchestratorError) as caught:
        operations.call(context, "why", id="S1:D4", at_seq=3)
    assert caught.value.code == "UNKNOWN_ID"
    assert operations.call(context, "why", id="S1:D4", at_seq=4)["decision"]["id"] == "S1:D4"


def test_a_past_that_does_not_come_out_as_recorded_is_told_with_a_warning() -> None:
    context = played()
    tamper(context, "UPDATE audit_events SET actor = 'eve' WHERE session_id = 'S1' AND seq = 2")
    answer = as_of.ask(context, status.status, session_id="S1", at_seq=3)
    (warning,) = answer["warnings"]
    assert re.search("audit replay S1", warning)


def _task(words: str, id: str, session: str = "S1", **more: Any) -> Op:
    return Op(f"task {words}", {"id": id, "session_id": session, **more})


ELSEWHERE = (
    Op("session create", {"id": "S1", "goal": "a goal"}),
    Op("session create", {"id": "S2", "goal": "another goal"}),
    _task("create", "T", title="t", assignee="developer"),
    _task("create", "THERE", "S2", title="t", assignee="developer"),
    _task("set-status", "THERE", "S2", status="in_progress", by="developer"),
    _task("set-status", "T", status="in_progress", by="developer"),
    _task("claim", "T", agent_id="developer", request_id="once"),
    _task("depend", "T", on="THERE"),
    _task("set-status", "THERE", "S2", status="blocked", by="developer", reason="stuck"),
    _task("set-status", "T", status="in_progress", by="developer"),
    _task("set-status", "THERE", "S2", status="in_progress", by="developer"),
    Op("blocker resolve", {"id": "S2:B4", "session_id": "S2", "by": "developer", "reason": "found"}),
    _task("set-status", "T", status="done", by="developer"),
)
"""What an agent does in one session decides what it may do in the other."""


@pytest.mark.parametrize("session", ["S1", "S2"])
def test_what_a_step_rests_on_of_other_sessions_is_told_with_it(session: str) -> None:
    context = played(ELSEWHERE)
    refused = context.connection.execute("SELECT code FROM refusals WHERE session_id = 'S1' ORDER BY seq").fetchall()
    assert [code for (code,) in refused] == ["ASSIGNEE_BUSY", "ASSIGNEE_BUSY", "DEPENDENCY_INVALID"]
    released = context.connection.execute("SELECT status FROM tasks WHERE id = 'THERE'").fetchone()
    assert released == ("todo",)
    answer = replay_comparison.replay(context, session_id=session)
    assert (answer["equal"], answer["differences"]) == (True, [])
