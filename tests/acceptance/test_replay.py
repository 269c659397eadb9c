"""The events hold every input: told again into an empty database they give every row again, hashes included."""

from __future__ import annotations

import json
import pathlib
import sqlite3
from typing import Any

import pytest

from orchestrator import resources, testing
from orchestrator.app import setup
from orchestrator.app.audit import replay_events
from orchestrator.app.kernel import operations
from orchestrator.app.kernel.context import Context
from orchestrator.errors import OrchestratorError
from orchestrator.store import memory, sqlite, step
from tests.acceptance import play, walking

SEEDS = range(12)


def never() -> str:
    raise AssertionError("a replay takes its time from the record")


def context_on(connection: Any) -> Context:
    return Context(connection, path="a file", clock=never, door="none", channel="none", deadline_s=1.0)


def empty() -> Context:
    """A database with a schema and nothing in it, that has no clock."""
    return context_on(memory.connect())


def tables(connection: sqlite3.Connection) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table, in the order of its key."""
    names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall()
    return {name: sorted(connection.execute(f'SELECT * FROM "{name}"'), key=repr) for (name,) in names}


def replayed(context: Context) -> tuple[Context, list[replay_events.Told]]:
    fresh = empty()
    return fresh, replay_events.replay(fresh, replay_events.events(context))


def assert_told_again(context: Context) -> None:
    """The replay of a database equals it, table by table and row by row."""
    fresh, told = replayed(context)
    expected, actual = tables(context.connection), tables(fresh.connection)
    assert actual.keys() == expected.keys()
    for name in sorted(expected, key=lambda name: name == "audit_events"):
        assert actual[name] == expected[name], name
    codes = [each.code for each in told if each.code is not None]
    assert codes == [code for (code,) in context.connection.execute("SELECT code FROM refusals ORDER BY rowid")]
    assert all(step.verify_event(row) for row in fresh.connection.execute("SELECT * FROM audit_events"))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_walked_session_is_told_again_row_by_row(seed: int) -> None:
    walk = walking.Walk(seed)
    walk.go(60)
    assert_told_again(walk.context)


def test_two_sessions_and_the_store_are_told_again_in_the_order_in_which_they_were_recorded() -> None:
    context = testing.memory_context()
    for op in MIXED:
        walking.perform(context, op)
    chains = [row[0] for row in context.connection.execute("SELECT session_id FROM audit_events ORDER BY rowid")]
    assert {"@store", "S1", "S2"} == set(chains)
    assert chains != sorted(chains)
    assert_told_again(context)


def _op(words: str, **arguments: Any) -> walking.Op:
    return walking.Op(words, arguments)


def changed_workflow() -> str:
    document = json.loads((resources.path("workflow") / "transitions.json").read_text("utf-8"))
    document["developer"]["DONE_EARLY"] = {"next_agent": "tech_lead", "action": "spawn", "effect": "submit_review"}
    return json.dumps(document)


MIXED = (
    _op("session create", id="S1", goal="a goal", testing_mode="minimal"),
    _op("session create", id="S1"),
    _op("session create", id="S2", kind="chat"),
    _op("group create", id="A", session_id="S1", security_sensitive=True, priority="urgent"),
    _op("group create", id="A", session_id="S1", kind="research"),
    _op("group create", id="B", session_id="nowhere"),
    _op("agent register", id="tl-2", role="tl", parent="project_manager"),
    _op("agent register", id="tl-2", role="tech_lead"),
    _op("agent register", id="eve", role="tech_lead", kind="human"),
    walking.report("pm", "PLANNING_COMPLETE", details={"share": 0.1, "big": 10**20, "text": "ö\u2028"}),
    _op("workflow load", content=changed_workflow(), agent_texts=setup.agent_texts(), by="user"),
    _op("workflow load", content="{}", agent_texts={}, source="empty.json"),
    _op("workflow load", content="\udcff", agent_texts={}, source="no_text.json"),
    _op("session upgrade-workflow", id="S1", by="user", reason="a new status"),
    _op("session testing-mode", id="S1", mode="full", by="project_manager", reason="be careful"),
    _op("session testing-mode", id="S1", mode="disabled", by="project_manager", reason="hurry"),
    walking.report("sse", "READY_FOR_REVIEW", "A", turn=0),
    walking.report(" SSE\u00a0", "ready_for_review", "A", raw_text="the whole message", request_id="once"),
    walking.report("sse", "READY_FOR_REVIEW", "A", request_id="once"),
    walking.report("tech_lead", "", "A"),
    walking.report("tech_lead", "APPROVED", "A", agent_id="tl-2", acknowledge={"A": "x"}),
    walking.report("tech_lead", "APPROVED", "A", agent_id="tl-2", testing_mode="full"),
    _op("agent deactivate", id="tl-2", by="project_manager", reason="done"),
    _op("agent deactivate", id="tl-2", by="project_manager", reason=""),
    walking.report("developer", "DONE_EARLY", "A"),
    _op("criterion add", id="C1", session_id="S1", text="it is fast", reason="asked for later"),
    _op("criterion add", id="C2", session_id="S1", text="covered", metric="coverage", operator="ge", target="80",
        reason="asked for later"),
    _op("criterion add", id="C3", session_id="S1", text="it runs", command=("true",), by="orchestrator"),
    _op("criterion add", id="C3", session_id="S1", text="it runs", command=("true",), reason="asked for later"),
    _op("criterion set", id="C2", session_id="S1", status="met", by="project_manager", reason="so it is"),
    _op("criterion set", id="C2", session_id="S1", actual="83.5", by="qa_expert", reason="measured"),
    _op("criterion set", id="C1", session_id="S1", status="met", by="project_manager", reason="seen", request_id="met"),
    _op("criterion remove", id="C1", session_id="S1", by="project_manager", reason="out of scope"),
    _op("validate", session_id="S1", record=True, request_id="judged"),
    _op("validate", session_id="nowhere"),
    _op("session pause", id="S1", by="project_manager", reason="a pause"),
    _op("redispatch", session_id="S1", group_id="A", reason=""),
    _op("session resume", id="S1", by="project_manager", reason="on we go"),
    walking.report("sse", "MERGE_SUCCESS", "A", metadata={"status": "complete", "errors": [], "score": 1.5}),
    _op("session end", id="S2", by="project_manager", reason="closed"),
    _op("group set-status", id="A", session_id="S1", by="nobody", status="cancelled", reason=""),
    _op("group set-status", id="A", session_id="S1", by="project_manager", status="cancelled", reason="no need"),
)


def test_the_mixed_session_is_refused_where_it_should_be() -> None:
    """The story above is worth telling again only if it holds both accepted and refused steps of many kinds."""
    context = testing.memory_context()
    codes = [walking.perform(context, op) for op in MIXED]
    assert {code for code in codes if code} >= {
        "ALREADY_EXISTS", "UNKNOWN_SESSION", "HUMAN_REQUIRED", "STALE_TURN", "WORKFLOW_INVALID", "REQUEST_ID_REUSED",
        "UNKNOWN_STATUS", "NOT_PERMITTED", "REASON_REQUIRED", "UNKNOWN_AGENT",
    }
    kinds = {row[0] for row in context.connection.execute("SELECT kind FROM audit_events")}
    elsewhere = {
        "group depend", "group undepend", "import peer", "redispatch", "answer", "session adopt", "criterion approve",
        "drive",
    }  # fmt: skip
    groups = ("task", "blocker", "run", "turn", "tree", "start", "give", "project", "human")
    elsewhere |= {words for words in operations.kinds() if words.partition(" ")[0] in groups}
    assert kinds == {*operations.kinds(), "refusal"} - elsewhere


PROVING = ("human open", "human verify")
"""Steps of proving who a person is, which no operation stands for: a link that is used up, a proof that failed."""
SHORT = "task status"
"""A shorter name of another operation, which is recorded under the longer one."""


def test_every_writing_operation_has_its_place_in_a_replay() -> None:
    writing = {words for words, operation in operations.every().items() if operation.is_writing}
    own = ("run", "turn", "tree", "start", "project")
    of_runs = {words for words in operations.kinds() if words.partition(" ")[0] in own}
    assert {"init", "give up", "session adopt", *PROVING, *writing, *of_runs} - {SHORT} == set(operations.kinds())
    assert operations.find(SHORT).use_case == operations.find("task set-status").use_case


def test_a_kind_that_nobody_knows_is_no_silent_gap() -> None:
    event = replay_events.Event("S1", "sorcery", "merlin", "cli", "2026-01-01T00:00:00.000000Z", "{}")
    with pytest.raises(OrchestratorError) as caught:
        replay_events.replay(empty(), [event])
    assert caught.value.code == "CORRUPT"


def test_telling_one_event_otherwise_changes_the_head_of_its_chain() -> None:
    walk = walking.Walk(1)
    walk.go(20)
    recorded = replay_events.events(walk.context)
    last = recorded[-1]
    assert last.chain == "S1"
    fresh = empty()
    replay_events.replay(fresh, [*recorded[:-1], last._replace(at="2026-02-01T00:00:00.000000Z")])
    head = "SELECT hash FROM audit_events WHERE session_id = 'S1' ORDER BY seq DESC LIMIT 1"
    assert fresh.connection.execute(head).fetchone() != walk.context.connection.execute(head).fetchone()


def test_what_the_command_recorded_is_told_again_in_a_new_file(
    environment: dict[str, str], script: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    command = play.Command(environment, script, play.initialise(environment, script, tmp_path / "first.db"))
    first = walking.report("developer", "READY_FOR_QA", "A").arguments
    command.call("route", {name: value for name, value in first.items() if name != "session_id"})
    for op in MIXED:
        command.call(op.words, json.loads(op.line())["args"])
    command.close()

    recorded = sqlite.connect(command.path, write=False)
    events = replay_events.events(context_on(recorded))
    assert events[0].kind == replay_events.SCHEMA
    setup.create_database(tmp_path / "again.db", events[0].at)
    again = sqlite.connect(tmp_path / "again.db", write=True)
    replay_events.replay(context_on(again), events)

    expected, actual = tables(recorded), tables(again)
    doors = {row[0] for row in recorded.execute("SELECT DISTINCT door FROM refusals")}
    assert doors == {"batch"}
    for name in sorted(expected, key=lambda name: name == "audit_events"):
        assert actual[name] == expected[name], name
    again.close()
    recorded.close()
