"""A forger with a connection of their own, our function and good hashes: what they add does not fit the other rows.

Every step here is sealed as ours are, so that each event, row and hash is right by itself; no head was noted.
"""

from __future__ import annotations

import pathlib
import sqlite3
from collections.abc import Callable, Iterator

import pytest

from orchestrator.core.routing import rules
from orchestrator.store import findings, gaps, redirects, verify_chain
from orchestrator.store.constants import STORE_CHAIN
from orchestrator.store.row_hashes import Span
from orchestrator.store.step import Step, open_step
from tests import forging
from tests.integration.app.table import REVIEW, Table
from tests.integration.store import ledger

pytestmark = pytest.mark.sqlite("the file is forged")

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
    """A session with a group under way, one that QA blocked, and one that is pending; nothing of it is forged.

    Beside it one in which a group of the same name is blocked, was reported on again and again, and awaits a person.
    """
    table = Table("A", "B", "C", "D", "E")
    table.group("F", security_sensitive=True, depends_on=["E"])
    table.do("criterion add", id="works", session_id="S1", text="it works", by="project_manager")
    table.do("criterion add", id="tested", session_id="S1", text="tests pass", by="project_manager",
        command=["pytest", "-q"])  # fmt: skip
    table.do("criterion add", id="fast", session_id="S1", text="it is fast", by="project_manager", metric="ms",
        operator="le", target="5")  # fmt: skip
    table.plan()
    table.do("task create", id="T0", title="whole", session_id="S1", by="project_manager", group_id="C")
    table.do("task create", id="T1", title="part", session_id="S1", by="project_manager", parent="T0")
    table.do("task create", id="T2", title="later", session_id="S1", by="project_manager", depends_on=["T1"])
    for _ in range(3):
        table.says("developer", "PARTIAL", "A")
    table.says("developer", "READY_FOR_QA", "A")
    table.says("developer", "READY_FOR_QA", "B")
    table.says("qa_expert", "BLOCKED", "B", summary="no environment")
    table.do("session create", id="S2")
    table.group("A", "S2")
    table.group("B", "S2")
    table.says("project_manager", "PLANNING_COMPLETE", session="S2")
    for _ in range(2):
        table.says("developer", "READY_FOR_QA", "A", "S2")
        table.says("qa_expert", "FAIL", "A", "S2")
    table.says("senior_software_engineer", "READY_FOR_QA", "A", "S2")
    table.says("qa_expert", "BLOCKED", "A", "S2", summary="no environment")
    table.says("developer", "PARTIAL", "B", "S2", metadata=REVIEW)
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
        verify_chain.verify(connection, span, found)
        verify_chain.relate(connection, span, found)
    if "ROWS_UNREADABLE" not in {each.code for each in found.kept}:
        later_parts_are_as_in_the_whole(connection)
    connection.close()
    return {(each.code, (each.seq or 0) - true, each.table or "") for each in found.kept}


def later_parts_are_as_in_the_whole(connection: sqlite3.Connection) -> None:
    """What is found after a step is what is found in all, but for what is no later; of missing steps the first is."""
    whole = [each for each in gaps.breaks(connection, "S1") if each.kind != gaps.MISSING_STEP]
    for since in sorted({step for each in whole for step in (each.seq - 1, each.seq)}):
        part = [each for each in gaps.breaks(connection, "S1", since) if each.kind != gaps.MISSING_STEP]
        assert [each for each in part if each.seq > since] == [each for each in whole if each.seq > since]


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


def of_task(resolved_by: str, resolution: str, **columns: object) -> Callable[[Step], None]:
    return block(resolved_by, resolution, **{"group_id": None, "task_id": "T1", "class": "soft", **columns})


def turned(name: str, agent: str | None = "tech_lead", action: str = "spawn") -> Callable[[Step], None]:
    """A report and a decision that a rule is said to have turned away from what the transition says."""
    return both(next_agent=agent, action=action, rules=f'[{{"name": "{name}", "reason": "r"}}]')


def guided_elsewhere(step: Step) -> None:
    """Guidance for one group that lifts another group's blocker."""
    report(step, role="tech_lead", agent_id="tech_lead", response_status="UNBLOCKING_GUIDANCE", effect="guide")
    columns = {"current_agent": "tech_lead", "response_status": "UNBLOCKING_GUIDANCE", "next_agent": "developer"}
    decision(step, **columns, rules='[{"name": "return_to_blocked", "reason": "r"}]')
    block("tech_lead", "guidance", group_id="B")(step)


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
        acknowledged, "group create",
        {("ACKNOWLEDGEMENT_WITHOUT_REPORT", 1, "acknowledgements"), ("EVENT_FOREIGN", 1, "acknowledgements")},
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
    **{
        f"a decision turned by {name}, which had no reason to": (turned(name, agent, action), "route", UNRULED)
        for name, agent, action in (
            ("external_blocker", "project_manager", "spawn"), ("return_to_blocked", "tech_lead", "spawn"),
            ("rework", "developer", "respawn"), ("fallback", "tech_lead", "spawn"),
            ("testing_mode", "tech_lead", "spawn"), ("escalation", "senior_software_engineer", "spawn"),
            ("iteration_budget", "tech_lead", "spawn"), ("loop_guard", "tech_lead", "spawn"),
            ("merge_without_approval", "tech_lead", "spawn"), ("research", None, "check_phase"),
            ("no_downgrade", "senior_software_engineer", "spawn"), ("security", "senior_software_engineer", "spawn"),
            ("user_review", None, "pause_for_user"), ("question_open", None, "pause_for_user"),
            ("phase_check", "project_manager", "spawn"), ("stalled", "project_manager", "spawn"),
            ("complexity", "senior_software_engineer", "spawn"), ("batch", "developer", "spawn_batch"),
        )
    },
    "a task's blocker released with nothing above it": (of_task("project_manager", "released"), "task set-status",
        NO_RIGHT),
    "a task's blocker released that no cascade opened": (
        of_task("project_manager", "released", cause="manual"), "task set-status", NO_RIGHT),
    "a task's cascade released with nothing above it": (
        of_task("project_manager", "released", cause="cascade"), "task set-status", NO_RIGHT),
    "a task's blocker cancelled with nothing": (of_task("project_manager", "cancelled"), "task set-status", NO_RIGHT),
    "a task's blocker answered without a question": (of_task("user", "answered"), "answer", NO_RIGHT),
    "a task's blocker lifted by a word that is none": (of_task("qa_expert", "accepted"), "blocker resolve", NO_RIGHT),
    "a task's blocker lifted by nobody who may": (of_task("developer", "lifted"), "task set-status", NO_RIGHT),
    "a task's blocker resolved by nobody who may": (of_task("developer", "resolved"), "blocker resolve", NO_RIGHT),
    "a task's blocker of a known opener lifted as of none": (
        of_task("developer", "legacy"), "task set-status", NO_RIGHT),
    "a task's blocker lifted in another's name": (of_task("qa_expert", "lifted"), "task set-status", NO_RIGHT),
    "a task's hard blocker lifted by its opener": (
        of_task("developer", "lifted", opened_by="developer", **{"class": "hard"}), "task set-status", NO_RIGHT),
    "a task's blocker freed by dependencies of no cause": (
        of_task("system:router", "dependencies_done"), "task set-status", NO_RIGHT),
    "a task's blocker freed by dependencies by hand": (
        of_task("developer", "dependencies_done", cause="dependency"), "task set-status", NO_RIGHT),
    "a task's blocker freed while a dependency is open": (
        of_task("system:router", "dependencies_done", cause="dependency", task_id="T2"), "task set-status", NO_RIGHT),
    "a task's blocker freed by a dependency that was not dropped": (
        of_task("system:router", "dependency_dropped", cause="dependency"), "task undepend", NO_RIGHT),
    "guidance that lifts another group's blocker": (guided_elsewhere, "route", {*NO_RIGHT, *UNRULED}),
    "a question withdrawn with nothing": (ask("project_manager", answer="moot"), "group create", NO_PERSON),
    "a question answered in a person's name": (ask("user", channel="terminal"), "answer", NO_PERSON),
    "a move because of nothing known": (
        moved("E", "pending", "cancelled", "project_manager", "because"), "group set-status", NO_CAUSE),
    "a move by a report that was not made": (
        moved("E", "pending", "cancelled", "project_manager", "report"), "group set-status", NO_CAUSE),
    "a move by an end of the session that was none": (
        moved("E", "pending", "cancelled", "project_manager", "session"), "session end", NO_CAUSE),
    "a move by an answer that was not given": (
        moved("E", "pending", "cancelled", "project_manager", "question"), "answer", NO_CAUSE),
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
    " awaited_action = NULL, turn = NULL WHERE session_id = 'S1' AND id = '{group}'"
)
ENDED = (
    "INSERT INTO status_changes VALUES ('S1', {seq}, 1, 'session', 'S1', 'active', 'ended', 'project_manager', 't',"
    " 'r', 'manual'); UPDATE sessions SET status = 'ended', outcome = 'accepted',"
    " status_changed_by = 'project_manager', status_changed_at = 't', status_seq = {seq} WHERE id = 'S1'"
)
RUN_ENTRY = "INSERT INTO run_events VALUES ('S1', {seq}, 1, 'R1', 't', 'output', 'full', 'x');"
OF_A_RUN = RUN_ENTRY + (
    "INSERT INTO blockers (id, session_id, task_id, type, class, reason, opened_by, opened_at, opened_seq, cause,"
    " resolved_at, resolved_seq, resolved_by, resolution) VALUES ('S1:B{seq}', 'S1', 'T1', 'manual', 'soft', 'r',"
    " '{by}', 't', {seq}, 'manual', 't', {seq}, 'system:runner', '{resolution}')"
)
# What only who takes the guards away can write; they stand again afterwards, and every hash is made anew.
UNGUARDED = {
    "another's blocker that a run lifted": (
        OF_A_RUN.format(seq="{seq}", by="qa_expert", resolution="lifted"), NO_RIGHT),
    "a run's blocker that nothing answered": (
        OF_A_RUN.format(seq="{seq}", by="system:runner", resolution="answered"), NO_RIGHT),
    "a question that a run's output closed": (
        "INSERT INTO questions (id, session_id, kind, text, asked_by, asked_at, opened_seq, closed_at, closed_by,"
        " closed_seq, answer) VALUES ('S1:Q{seq}', 'S1', 'reply', '?', 'developer', 't', {seq}, 't', 'developer',"
        " {seq}, 'moot');" + RUN_ENTRY, NO_PERSON),
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


FIXED = (
    "INSERT INTO status_changes VALUES ('S1', {{seq}}, {part}, '{entity}', '{id}', '{old}', '{new}', '{by}', 't', 'r',"
    " 'manual');"
)


def fixed(entity: str, id_: str, old: str, new: str, by: str, part: int = 1) -> str:
    return FIXED.format(entity=entity, id=id_, old=old, new=new, by=by, part=part)


MODE = "UPDATE sessions SET testing_mode = '{}' WHERE id = 'S1';"
MET = "UPDATE criteria SET status = 'met', set_by = 'developer' WHERE id = '{}';"
ACCEPTED = (
    "INSERT INTO agent_reports (session_id, seq, role, agent_id, response_status, raw_role, raw_status, effect,"
    " turn_assumed, summary, details, reported_at) VALUES ('S1', {seq}, 'validator', 'system:validator', 'ACCEPT', 'x',"
    " 'x', 'accept', 0, '', '{{}}', 't');" + ENDED
)
CHANGE_OF = {("SETTING_WITHOUT_CHANGE", "task_groups")}
SCOPE_OF = {("SETTING_WITHOUT_CHANGE", "criteria")}
NO_CHANGER = {("CHANGE_WITHOUT_RIGHT", "status_changes")}
# What a verdict rests on, changed where it stands: what is written, as which kind of step, and what is found at least.
UNDERMINED: dict[str, tuple[str, str, set[tuple[str, str]]]] = {
    "a group that is secured no more": (
        "UPDATE task_groups SET security_sensitive = 0 WHERE id = 'F'", "group set-status", CHANGE_OF),
    "a group that needs no tests": (
        "UPDATE task_groups SET kind = 'research' WHERE session_id = 'S1' AND id = 'A'", "group create", CHANGE_OF),
    "a looser testing mode": (
        MODE.format("disabled"), "session testing-mode", {("SETTING_WITHOUT_CHANGE", "sessions")}),
    "a role that the session does without": (
        "UPDATE sessions SET disabled_roles = 'qa_expert' WHERE id = 'S1'", "session pause",
        {("SETTING_WITHOUT_CHANGE", "sessions")}),
    "a looser testing mode on record, by an agent": (
        fixed("session_testing_mode", "S1", "full", "disabled", "project_manager") + MODE.format("disabled"),
        "session testing-mode", NO_CHANGER),
    "a looser testing mode on record, by a person who was not asked": (
        fixed("session_testing_mode", "S1", "full", "disabled", "user") + MODE.format("disabled"),
        "session testing-mode", NO_CHANGER),
    "a testing mode that was changed by another command": (
        fixed("session_testing_mode", "S1", "full", "full", "project_manager"), "group create", NO_CHANGER),
    "another workflow version on record": (
        fixed("session_workflow", "S1", "a", "b", "project_manager"), "session upgrade-workflow",
        {("SETTING_WITHOUT_CHANGE", "sessions")}),
    "changed rules that no person confirmed": (
        fixed("session_workflow_confirmed", "S1", "a", "a", "project_manager"), "session confirm", NO_CHANGER),
    "a criterion met by nobody": (MET.format("works"), "group create", SCOPE_OF),
    "a criterion met by who may not": (
        fixed("criterion", "works", "open", "met", "developer") + MET.format("works"), "criterion set", NO_CHANGER),
    "a criterion met that its command decides": (
        fixed("criterion", "tested", "open", "met", "project_manager") + MET.format("tested"), "criterion set",
        NO_CHANGER),
    "a criterion met from a state that it had not": (
        fixed("criterion", "works", "deferred", "met", "project_manager") + MET.format("works"), "criterion set",
        {("SETTING_WITHOUT_CHANGE", "status_changes")}),
    "another command of a criterion": (
        "UPDATE criteria SET command = '[\"true\"]' WHERE id = 'tested'", "group create", SCOPE_OF),
    "another target of a criterion": ("UPDATE criteria SET target = '500' WHERE id = 'fast'", "group create", SCOPE_OF),
    "a value that nobody measured": ("UPDATE criteria SET actual = '4' WHERE id = 'fast'", "group create", SCOPE_OF),
    "another wording of a criterion": ("UPDATE criteria SET text = 'x' WHERE id = 'works'", "group create", SCOPE_OF),
    "a criterion removed by nobody": (
        "UPDATE criteria SET removed_seq = {seq}, removed_by = 'developer', removed_reason = 'r' WHERE id = 'works'",
        "group create", SCOPE_OF),
    "a blocker that nobody's guidance marked external": (
        "UPDATE blockers SET external = 1, external_dependency = 'x', external_by = 'tech_lead', external_seq = {seq}",
        "route", {("EXTERNAL_WITHOUT_GUIDANCE", "blockers")}),
    "a group's dependency dropped by no command": (
        "UPDATE group_dependencies SET removed_seq = {seq}, removed_by = 'project_manager', removed_reason = 'r'",
        "group create", {("DEPENDENCY_DROPPED_WITHOUT_CALL", "group_dependencies")}),
    "a group's dependency dropped in another's name": (
        "UPDATE group_dependencies SET removed_seq = {seq}, removed_by = 'tech_lead', removed_reason = 'r'",
        "group undepend", {("DEPENDENCY_DROPPED_WITHOUT_CALL", "group_dependencies")}),
    "a task's dependency dropped by no command": (
        "UPDATE task_dependencies SET removed_seq = {seq}, removed_by = 'project_manager', removed_reason = 'r'",
        "task create", {("DEPENDENCY_DROPPED_WITHOUT_CALL", "task_dependencies")}),
    "a verdict over open work": (ACCEPTED, "validate", {("VERDICT_WITHOUT_GROUND", "agent_reports")}),
    "a group that came in complete": (
        "INSERT INTO grandfathered_groups VALUES ('S1', 'E', {seq}, 'E', 'completed', 't')", "group create",
        {("EVENT_FOREIGN", "grandfathered_groups")}),
    "evidence by another command": (
        "INSERT INTO evidence (session_id, seq, part, kind, subject, outcome, hash, size, content) VALUES ('S1', {seq},"
        " 1, 'command', 'pytest', '0', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855', 0, '')",
        "group create", {("EVENT_FOREIGN", "evidence")}),
    "a deferral by another command": (
        "INSERT INTO deferrals SELECT 'S1', {seq}, 'B', id, 'r', 'd', 'tech_lead', 1, 'project_manager', 't'"
        " FROM blockers LIMIT 1", "task create", {("EVENT_FOREIGN", "deferrals")}),
}  # fmt: skip


@pytest.mark.parametrize("name", UNDERMINED)
def test_what_a_verdict_rests_on_is_not_changed_unseen(name: str, path: pathlib.Path) -> None:
    sql, kind, expected = UNDERMINED[name]
    with forging.unguarded(path) as connection:
        true = last(connection)
        connection.executescript(sql.format(seq=true + 1))
        connection.execute(
            "INSERT INTO audit_events VALUES ('S1', ?, ?, 'project_manager', 'process', ?, '{}', '{}', x'', x'')",
            (true + 1, kind, AT),
        )
        forging.recompute(connection, "S1")
    assert {(code, table) for code, _, table in told(path, true)} >= expected


PEOPLE = (
    "INSERT INTO agents (id, role, kind, created_at, created_seq) SELECT 'mallory', 'user', 'human', 't', {seq}"
)
# The same among what belongs to no session.
OF_STORE: dict[str, tuple[str, str, tuple[str, str]]] = {
    "a person whom nobody registered": (PEOPLE, "workflow load", ("PERSON_WITHOUT_PROOF", "agents")),
    "a person whom an agent registered": (PEOPLE, "agent register", ("PERSON_WITHOUT_PROOF", "agents")),
    "a transition that completes what it sent back": (
        "UPDATE workflow_transitions SET effect = 'approve' WHERE current_agent = 'qa_expert'"
        " AND response_status = 'BLOCKED'", "workflow load", ("WORKFLOW_NOT_AS_LOADED", "workflow_versions")),
    "another content of a workflow": (
        "UPDATE workflow_versions SET content = replace(content, 'READY_FOR_QA', 'READY')", "workflow load",
        ("WORKFLOW_NOT_AS_LOADED", "workflow_versions")),
    "another hash of a workflow's agents": (
        "UPDATE agent_files SET hash = 'x'", "workflow load", ("WORKFLOW_NOT_AS_LOADED", "workflow_versions")),
    "a version made active by another command": (
        "INSERT INTO workflow_activations VALUES ({seq}, 1, 'user', 't')", "agent register",
        ("EVENT_FOREIGN", "workflow_activations")),
    "a token enrolled by another command": (
        "INSERT INTO human_tokens VALUES ('@store:K9', {seq}, 'user', 'h', 't')", "agent register",
        ("EVENT_FOREIGN", "human_tokens")),
}  # fmt: skip


@pytest.mark.parametrize("name", OF_STORE)
def test_who_is_a_person_and_what_the_rules_are_is_not_changed_unseen(name: str, path: pathlib.Path) -> None:
    sql, kind, expected = OF_STORE[name]
    with forging.unguarded(path) as connection:
        (true,) = connection.execute("SELECT max(seq) FROM audit_events WHERE session_id = '@store'").fetchone()
        connection.executescript(sql.format(seq=true + 1))
        connection.execute(
            "INSERT INTO audit_events VALUES (?, ?, ?, 'project_manager', 'process', ?, '{}', '{}', x'', x'')",
            (STORE_CHAIN, true + 1, kind, AT),
        )
        forging.recompute(connection, STORE_CHAIN)
    assert expected in {(code, table) for code, _, table in told(path, true)}


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


def failed(times: int) -> Table:
    table = Table("A", plan=True)
    for _ in range(times):
        builder = table.rows("SELECT awaited_role FROM task_groups WHERE id = 'A'")[0][0]
        table.says(builder, "READY_FOR_QA", "A")
        table.says("qa_expert", "FAIL", "A")
    return table


def repeated(role: str, status: str, times: int) -> Table:
    table = Table("A", plan=True)
    for _ in range(times):
        table.says(role, status, "A")
    return table


def secured() -> Table:
    table = Table()
    table.group("A", security_sensitive=True)
    table.plan()
    return table


def researched() -> Table:
    table = Table()
    table.group("A", kind="research")
    table.plan()
    table.says("requirements_engineer", "READY_FOR_REVIEW", "A")
    table.says("tech_lead", "APPROVED", "A")
    return table


def reworked() -> Table:
    table = Table("A", plan=True)
    table.block("A")
    table.says("project_manager", "REWORK", "A", summary="again", interrupt=True)
    return table


def merged_at_once() -> Table:
    table = Table("A")
    table.says("developer", "MERGE_SUCCESS", "A")
    return table


def guided() -> Table:
    table = Table("A", plan=True)
    table.block("A")
    table.says("tech_lead", "UNBLOCKING_GUIDANCE", "A", summary="use the other host")
    return table


def without_qa(**session: object) -> Table:
    table = Table("A", plan=True, **session)
    table.says("developer", "READY_FOR_QA", "A")
    return table


# Rules that turned a decision and had reason to, each as it fires in a session.
TURNED: dict[str, Callable[[], Table]] = {
    "escalation": lambda: failed(3),
    "loop_guard": lambda: repeated("developer", "PARTIAL", 6),
    "rework": reworked,
    "security": secured,
    "research": researched,
    "return_to_blocked": guided,
    "fallback": lambda: without_qa(testing_mode="minimal", disabled_roles=["qa_expert"]),
    "testing_mode": lambda: without_qa(testing_mode="minimal"),
    "merge_without_approval": merged_at_once,
}  # fmt: skip


@pytest.mark.parametrize("rule", TURNED)
def test_a_rule_that_had_reason_to_turn_a_decision_is_no_forgery(rule: str) -> None:
    table = TURNED[rule]()
    assert table.rows(f"SELECT count(*) > 0 FROM router_decisions WHERE rules LIKE '%{rule}%'") == [(1,)]
    assert list(gaps.breaks(table.context.connection, "S1")) == []


def test_guidance_that_a_rule_turns_and_a_person_is_asked_about_is_no_forgery() -> None:
    table = Table("A", plan=True)
    table.block("A")
    details = {"external": True, "external_dependency": "the hospital's IT"}
    table.says("tech_lead", "UNBLOCKING_GUIDANCE", "A", details=details, metadata=REVIEW)
    rules = table.rows("SELECT rules FROM router_decisions ORDER BY seq DESC LIMIT 1")
    assert "external_blocker" in rules[0][0]
    assert "user_review" in rules[0][0]
    assert list(gaps.breaks(table.context.connection, "S1")) == []


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


def test_no_decision_of_another_session_leaves_a_group_waiting(tmp_path: pathlib.Path) -> None:
    table = Table("A", "B", plan=True)
    turn = merged_blocked(table, "A")
    table.says("project_manager", "BAZINGA", turn=turn, acknowledge={"A": "seen"})
    path = tmp_path / "forged.db"
    path.write_bytes(table.context.connection.serialize())
    forging.tamper(path, f"UPDATE router_decisions SET session_id = 'S2' WHERE seq = {turn}")
    connection = sqlite3.connect(path)
    found = [each.text for each in gaps.breaks(connection, "S1") if each.table == "agent_reports"]
    connection.close()
    assert "the report answers a turn in which nobody was started" in found


def test_where_rows_cannot_be_related_that_is_a_finding(path: pathlib.Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("DROP INDEX ix_agent_reports_group")
    connection.close()
    assert ("ROWS_UNREADABLE", 0, "") in told(path, 0)


def test_every_rule_has_a_condition_without_which_it_cannot_have_fired() -> None:
    assert [name for _, name, _ in rules.RULES if name not in redirects.CONDITIONS] == []
