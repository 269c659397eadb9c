"""A forger with a connection of their own, our function and good hashes: what they add does not fit the other rows.

Every step here is sealed as ours are, so that each event, row and hash is right by itself; no head was noted.
"""

from __future__ import annotations

import pathlib
import sqlite3
from collections.abc import Callable, Iterator

import pytest

from orchestrator.store import findings, gaps, verifying
from orchestrator.store.constants import STORE_CHAIN
from orchestrator.store.coverage import Span
from orchestrator.store.step import Step, open_step
from tests import forging
from tests.integration.app.table import Table
from tests.integration.store import ledger

AT = "2026-02-01T00:00:00.000000Z"
Told = tuple[str, int, str]
"""Code, how many steps after the last true one, table."""
REPORT = {
    "group_id": "A", "role": "developer", "agent_id": "developer", "response_status": "READY_FOR_QA",
    "raw_role": "x", "raw_status": "x", "effect": "submit_test", "turn_assumed": 0, "summary": "s", "details": "{}",
    "reported_at": AT,
}  # fmt: skip
DECISION = {
    "group_id": "A", "current_agent": "developer", "response_status": "READY_FOR_QA", "next_agent": "qa_expert",
    "action": "spawn", "timestamp": AT, "cause": "report", "rules": "[]", "workflow_version_id": 1,
    "rules_version": 4, "answer": "{}",
}  # fmt: skip
BLOCKER = {
    "session_id": "S1", "group_id": "A", "type": "manual", "class": "hard", "reason": "r", "opened_by": "qa_expert",
    "opened_at": AT, "cause": "manual",
}  # fmt: skip


@pytest.fixture(scope="module")
def content() -> bytes:
    """A session with a group under way, one that QA blocked, and one that is pending; nothing of it is forged."""
    table = Table("A", "B", "C", "D", "E", plan=True)
    table.says("developer", "READY_FOR_QA", "A")
    table.says("developer", "READY_FOR_QA", "B")
    table.says("qa_expert", "BLOCKED", "B", summary="no environment")
    return table.context.connection.serialize()


@pytest.fixture
def path(content: bytes, tmp_path: pathlib.Path) -> pathlib.Path:
    file = tmp_path / "orchestrator.db"
    file.write_bytes(content)
    return file


@pytest.fixture
def raw(path: pathlib.Path) -> Iterator[sqlite3.Connection]:
    """The forger's own connection, with the guards in place."""
    connection = sqlite3.connect(path, isolation_level=None)
    ledger.register(connection)
    yield connection
    connection.close()


def last(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT max(seq) FROM audit_events WHERE session_id = 'S1'").fetchone()[0])


def told(path: pathlib.Path, true: int, since: int = 0) -> set[Told]:
    """What verifying finds without a head, by how far each step is behind the last true one."""
    connection = sqlite3.connect(path)
    found = findings.Found("file.db", 100)
    for span in (Span("S1", since),) if since else (Span(STORE_CHAIN), Span(None)):
        verifying.verify(connection, span, found)
        verifying.relate(connection, span, found)
    connection.close()
    return {(each.code, (each.seq or 0) - true, each.table or "") for each in found.kept}


def forge(connection: sqlite3.Connection, write: Callable[[Step], object], kind: str = "route") -> None:
    """One step as ours are, sealed with good hashes."""
    with open_step(connection, "S1", AT) as step:
        write(step)
        step.seal(kind, "developer", "process", {})


def report(step: Step, **columns: object) -> None:
    step.insert("agent_reports", **{**REPORT, **columns})  # type: ignore[arg-type]


def decision(step: Step, **columns: object) -> None:
    given = {"report_id": f"S1:R{step.seq}", **DECISION, **columns}
    step.insert("router_decisions", **given)  # type: ignore[arg-type]


def test_the_record_that_is_forged_here_is_true_before(path: pathlib.Path) -> None:
    assert told(path, 0) == set()


def test_reports_without_decisions_that_complete_a_group(path: pathlib.Path, raw: sqlite3.Connection) -> None:
    true = last(raw)
    forge(raw, lambda step: report(step, role="qa_expert", agent_id="qa_expert", effect="test_pass"))
    forge(raw, lambda step: report(step, role="tech_lead", agent_id="tech_lead", effect="approve"))

    def merge(step: Step) -> None:
        report(step, effect="merge")
        step.insert(
            "status_changes", entity="group", entity_id="A", from_status="in_progress", to_status="completed",
            changed_by="system:router", changed_at=AT, reason="r", cause="completion",
        )  # fmt: skip
        changed = {"status": "completed", "status_changed_by": "system:router", "status_changed_at": AT}
        awaited = dict.fromkeys(("awaited_role", "awaited_agent_id", "awaited_action", "turn", "awaited_since"))
        step.update("task_groups", ("A",), {**changed, "status_seq": step.seq, **awaited})

    forge(raw, merge)
    lacking = {("REPORT_WITHOUT_DECISION", place, "agent_reports") for place in (1, 2, 3)}
    empty = {("EVENT_EMPTY", place, "router_decisions") for place in (1, 2, 3)}
    assert told(path, true) == lacking | empty
    assert told(path, true, since=true + 2) == {each for each in lacking | empty if each[1] == 3}


def both(**columns: object) -> Callable[[Step], None]:
    """A report and its decision, which differs in some columns."""

    def write(step: Step) -> None:
        report(step)
        decision(step, **columns)

    return write


def started(step: Step) -> None:
    step.insert("handoffs", turn=step.seq, group_id="A", agent_id="qa_expert", document="{}", hash="h")


def block(resolved_by: str, resolution: str, **columns: object) -> Callable[[Step], None]:
    def write(step: Step) -> None:
        row = {**BLOCKER, "id": f"S1:B{step.seq}", "opened_seq": step.seq, "resolved_at": AT, **columns}
        step.insert("blockers", **row, resolved_seq=step.seq, resolved_by=resolved_by, resolution=resolution)  # type: ignore[arg-type]

    return write


def ask(closed_by: str, **columns: object) -> Callable[[Step], None]:
    def write(step: Step) -> None:
        row = {"id": f"S1:Q{step.seq}", "session_id": "S1", "group_id": "A", "kind": "review", "text": "?"}
        row |= {"asked_by": "tech_lead", "asked_at": AT, "closed_at": AT, "answer": "continue"} | columns
        step.insert("questions", **row, opened_seq=step.seq, closed_seq=step.seq, closed_by=closed_by)  # type: ignore[arg-type]

    return write


def acknowledged(step: Step) -> None:
    step.insert("acknowledgements", group_id="B", reason="r")


def moved(entity_id: str, old: str, new: str, by: str, cause: str = "set_status") -> Callable[[Step], None]:
    def write(step: Step) -> None:
        step.insert(
            "status_changes", entity="group", entity_id=entity_id, from_status=old, to_status=new, changed_by=by,
            changed_at=AT, reason="r", cause=cause,
        )  # fmt: skip
        changed = {"status": new, "status_changed_by": by, "status_changed_at": AT, "status_seq": step.seq}
        awaited = dict.fromkeys(("awaited_role", "awaited_agent_id", "awaited_action", "turn", "awaited_since"))
        step.update("task_groups", (entity_id,), {**changed, **awaited})

    return write


UNRULED = {("DECISION_WITHOUT_RULE", 1, "router_decisions")}
NO_RIGHT = {("RESOLUTION_WITHOUT_RIGHT", 1, "blockers")}
NO_PERSON = {("ANSWER_WITHOUT_PERSON", 1, "questions")}
NO_CAUSE = {("MOVE_WITHOUT_CAUSE", 1, "status_changes")}
# What is written, as which kind of step, and what is found.
FORGERIES: dict[str, tuple[Callable[[Step], None], str, set[Told]]] = {
    "a decision for another agent": (both(next_agent="tech_lead"), "route", UNRULED),
    "a decision for another action": (both(action="end_session"), "route", UNRULED),
    "a decision by a rule that is none": (
        both(next_agent="tech_lead", rules='[{"name": "because", "reason": "r"}]'), "route", UNRULED,
    ),
    "a decision by a rule that sends nobody elsewhere": (
        both(next_agent="tech_lead", rules='[{"name": "completion", "reason": "r"}]'), "route", UNRULED,
    ),
    "a decision with rules that cannot be read": (both(rules="["), "route", UNRULED),
    "a decision for a role that is none": (
        both(next_agent="wizard", rules='[{"name": "loop_guard", "reason": "r"}]'), "route", UNRULED,
    ),
    "a report with an effect that its status has not": (
        lambda step: (report(step, effect="approve"), decision(step))[0], "route", UNRULED,
    ),
    "a decision of another role": (
        both(current_agent="tech_lead", response_status="APPROVED", next_agent="developer", action="spawn_merge"),
        "route", {("DECISION_NOT_OF_REPORT", 1, "router_decisions"), *UNRULED},
    ),
    "a decision about another group": (
        both(group_id="B"), "route", {("DECISION_NOT_OF_REPORT", 1, "router_decisions")},
    ),
    "a decision without its report": (
        decision, "route",
        {("DECISION_WITHOUT_REPORT", 1, "router_decisions"), ("EVENT_EMPTY", 1, "agent_reports")},
    ),
    "a hand-off that no decision gave": (started, "group create", {
        ("SPAWN_WITHOUT_DECISION", 1, "handoffs"), ("SPAWN_WITHOUT_REPORT", 1, "handoffs"),
    }),
    "a decision whose hand-off is missing": (
        both(handoff_hash="h"), "route", {("SPAWN_WITHOUT_DECISION", 1, "router_decisions")},
    ),
    "a report of a turn that nobody was given": (
        lambda step: (report(step, turn=3), decision(step))[0], "route",
        {("SPAWN_WITHOUT_DECISION", 1, "agent_reports")},
    ),
    "a hard blocker resolved by an agent": (block("developer", "resolved"), "blocker resolve", NO_RIGHT),
    "a soft blocker lifted by nobody who opened it or stands above": (
        block("developer", "resolved", **{"class": "soft"}), "blocker resolve", NO_RIGHT,
    ),
    "a soft blocker lifted by a word that is none": (
        block("developer", "gone", **{"class": "soft"}), "blocker resolve", NO_RIGHT,
    ),
    "a soft blocker lifted in the name of who opened it": (
        block("qa_expert", "resolved", **{"class": "soft"}), "blocker resolve", NO_RIGHT,
    ),
    "a soft blocker lifted by another command": (
        block("developer", "resolved", **{"class": "soft", "opened_by": "developer"}), "group create", NO_RIGHT,
    ),
    "a blocker accepted without an approval": (block("tech_lead", "accepted"), "group create", NO_RIGHT),
    "guidance by a developer": (block("developer", "guidance"), "group create", NO_RIGHT),
    "a blocker answered without a question": (block("user", "answered"), "answer", NO_RIGHT),
    "a blocker cancelled with nothing": (block("project_manager", "cancelled"), "group create", NO_RIGHT),
    "a blocker resumed with nothing": (block("project_manager", "resumed"), "group create", NO_RIGHT),
    "a blocker resolved by nobody known": (block("nobody", "guidance"), "group create", NO_RIGHT),
    "a question answered by an agent": (ask("developer", channel="terminal"), "answer", NO_PERSON),
    "a question answered without a channel": (ask("user"), "answer", NO_PERSON),
    "a question answered by nobody known": (ask("nobody", answer="moot"), "answer", NO_PERSON),
    "an acknowledgement of nobody's": (
        acknowledged, "group create", {("ACKNOWLEDGEMENT_WITHOUT_REPORT", 1, "acknowledgements")},
    ),
    "a move by nobody known": (moved("E", "pending", "cancelled", "nobody"), "group set-status", NO_CAUSE),
    "a move by who may not": (moved("E", "pending", "cancelled", "developer"), "group set-status", NO_CAUSE),
    "a move by a verdict that was not given": (
        moved("E", "pending", "cancelled", "system:validator", "verdict"), "group set-status", NO_CAUSE,
    ),
    "a route without a report": (lambda step: None, "route", {
        ("EVENT_EMPTY", 1, "agent_reports"), ("EVENT_EMPTY", 1, "router_decisions"),
    }),
    "a refusal that was none": (lambda step: None, "refusal", {("EVENT_EMPTY", 1, "refusals")}),
    "a report by another command": (both(), "task claim", {("EVENT_FOREIGN", 1, "agent_reports")}),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGERIES)
def test_what_does_not_fit_is_found_by_step_and_table(name: str, path: pathlib.Path, raw: sqlite3.Connection) -> None:
    write, kind, expected = FORGERIES[name]
    true = last(raw)
    forge(raw, write, kind)
    assert told(path, true) == expected


def test_a_decision_that_fits_is_not_found(path: pathlib.Path, raw: sqlite3.Connection) -> None:
    """What one look cannot tell: a whole step, as a rule would have given it, by whoever has the file."""
    true = last(raw)
    forge(raw, both())
    assert told(path, true) == set()


CHANGE = (
    "INSERT INTO status_changes VALUES ('S1', {seq}, 1, 'group', '{group}', '{old}', '{new}', 'project_manager', 't',"
    " 'r', 'set_status'); UPDATE task_groups SET status = '{new}', status_changed_by = 'project_manager',"
    " status_changed_at = 't', status_seq = {seq}, awaited_role = NULL, awaited_agent_id = NULL,"
    " awaited_action = NULL, turn = NULL WHERE id = '{group}'"
)
ENDED = (
    "INSERT INTO status_changes VALUES ('S1', {seq}, 1, 'session', 'S1', 'active', 'ended', 'project_manager', 't',"
    " 'r', 'manual'); UPDATE sessions SET status = 'ended', outcome = 'accepted',"
    " status_changed_by = 'project_manager', status_changed_at = 't', status_seq = {seq}"
)
# What only who takes the guards away can write; they stand again afterwards, and every hash is made anew.
UNGUARDED = {
    "a completion without a path": (CHANGE.format(seq="{seq}", group="A", old="in_progress", new="completed"),
        {("COMPLETION_WITHOUT_PATH", 1, "status_changes")}),
    "a completion of blocked work": (CHANGE.format(seq="{seq}", group="B", old="in_progress", new="completed"),
        {("COMPLETION_WITHOUT_PATH", 1, "status_changes")}),
    "a move that there is not": (CHANGE.format(seq="{seq}", group="E", old="pending", new="deferred_external"),
        {("MOVE_WITHOUT_CAUSE", 1, "status_changes"), ("DEFERRAL_WITHOUT_BLOCKER", 1, "status_changes")}),
    "a deferral without its blocker": (CHANGE.format(seq="{seq}", group="B", old="in_progress",
        new="deferred_external"), {("DEFERRAL_WITHOUT_BLOCKER", 1, "status_changes")}),
    "a session that was accepted without a verdict": (ENDED, {("ACCEPTANCE_WITHOUT_VERDICT", 1, "sessions")}),
    "a decision by another version of the workflow": (
        "INSERT INTO router_decisions (session_id, seq, group_id, current_agent, response_status, action, timestamp,"
        " cause, rules, workflow_version_id, rules_version, answer) VALUES ('S1', {seq}, 'A', 'x', 'X', 'wait', 't',"
        " 'slot', '[]', 77, 4, '{{}}')", {("DECISION_WITHOUT_RULE", 1, "router_decisions")}),
}  # fmt: skip


@pytest.mark.parametrize("name", UNGUARDED)
def test_what_the_guards_would_have_refused_is_found_by_step_and_table(name: str, path: pathlib.Path) -> None:
    sql, expected = UNGUARDED[name]
    with forging.unguarded(path) as connection:
        true = last(connection)
        connection.executescript(sql.format(seq=true + 1))
        connection.execute(
            "INSERT INTO audit_events VALUES ('S1', ?, 'group set-status', 'project_manager', 'process', ?, '{}',"
            " '{}', x'', x'')", (true + 1, AT),
        )  # fmt: skip
        forging.recompute(connection, "S1")
    # Nothing was started in between, so open turns of what was moved end with it.
    assert {each for each in told(path, true) if each[0] != "SPAWN_WITHOUT_REPORT"} == expected


def merged_blocked(table: Table, group: str) -> int:
    """A group that was blocked is merged, and left waiting for the manager; the step of that."""
    table.says("developer", "READY_FOR_QA", group)
    table.says("qa_expert", "BLOCKED", group, summary="no environment")
    table.says("tech_lead", "APPROVED", group)
    table.says("developer", "MERGE_SUCCESS", group)
    ((turn,),) = table.rows(f"SELECT turn FROM task_groups WHERE id = '{group}'")
    assert table.rows(f"SELECT 1 FROM handoffs WHERE turn = {turn}") == []
    return int(turn)


def test_a_manager_may_answer_a_turn_in_which_a_group_was_left_waiting_for_them() -> None:
    table = Table("A", "B", plan=True)
    turn = merged_blocked(table, "A")
    table.says("project_manager", "BAZINGA", turn=turn, acknowledge={"A": "seen"})
    assert list(gaps.breaks(table.context.connection, "S1")) == []


@pytest.mark.parametrize(
    ("about", "columns"),
    [
        ("another group", {"group_id": "B"}),
        ("another role's report", {"group_id": "A", "role": "tech_lead", "agent_id": "tech_lead"}),
        ("a turn that was none", {"group_id": "A", "turn_assumed": 1, "turn": 2}),
    ],
)
def test_no_other_report_answers_such_a_turn(about: str, columns: dict[str, object], tmp_path: pathlib.Path) -> None:
    table = Table("A", "B", plan=True)
    turn = merged_blocked(table, "A")
    path = tmp_path / "forged.db"
    path.write_bytes(table.context.connection.serialize())
    connection = sqlite3.connect(path, isolation_level=None)
    ledger.register(connection)
    manager = {"role": "project_manager", "agent_id": "project_manager", "turn": turn}
    forge(connection, lambda step: report(step, **{**manager, **columns}))
    found = [each.text for each in gaps.breaks(connection, "S1") if each.table == "agent_reports"]
    connection.close()
    assert "the report answers a turn in which nobody was started" in found, about


def test_where_rows_cannot_be_related_that_is_a_finding(path: pathlib.Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("DROP INDEX ix_agent_reports_key")
    connection.close()
    assert ("ROWS_UNREADABLE", 0, "") in told(path, 0)
