"""`import peer`: what was done elsewhere comes as text, what was completed there is grandfathered, and work goes on."""

from __future__ import annotations

import pathlib
import sqlite3
from typing import Any

import pytest

from orchestrator import testing
from orchestrator.app.kernel import operations
from orchestrator.doors.cli import text
from orchestrator.errors import OrchestratorError, Refused
from orchestrator.store import verify_chain
from tests.acceptance import test_replay
from tests.integration.app import peer
from tests.integration.app.desk import Desk


@pytest.fixture
def desk(tmp_path: pathlib.Path) -> Desk:
    return Desk(tmp_path)


@pytest.fixture
def file(tmp_path: pathlib.Path) -> str:
    return str(peer.incident(tmp_path / "peer.db"))


def rows(desk: Desk, sql: str) -> list[tuple[Any, ...]]:
    return list(desk.context.connection.execute(sql).fetchall())


def lone(path: pathlib.Path, *groups: dict[str, Any], logs: tuple[dict[str, Any], ...] = (), **session: Any) -> str:
    """A peer's database with one session and these groups and log lines."""
    connection = peer.create(path)
    head = {"session_id": peer.INCIDENT, "mode": "parallel", "status": "active"} | session
    peer.insert(connection, "sessions", [head])
    peer.insert(connection, "task_groups", [each | {"session_id": head["session_id"]} for each in groups])
    peer.insert(connection, "orchestration_logs", [each | {"session_id": head["session_id"]} for each in logs])
    connection.close()
    return str(path)


# --- what an imported session looks like


def test_groups_come_as_they_stood_without_changers(desk: Desk, file: str) -> None:
    desk.call("import peer", file=file)
    found = rows(desk, "SELECT id, status, status_changed_by, awaited_role, builder_role FROM task_groups ORDER BY id")
    assert found == [
        ("E2E-A", "completed", None, None, None),
        ("E2E-B", "completed", None, None, None),
        ("HELP", "pending", None, None, None),
        ("MAIL", "in_progress", None, "project_manager", None),
        ("MAPS", "in_progress", None, "project_manager", "developer"),
        ("PAY", "in_progress", None, "project_manager", "developer"),
        ("only", "completed", None, None, None),
    ]
    grandfathered = rows(desk, "SELECT group_id, peer_status, completed_at FROM grandfathered_groups ORDER BY group_id")
    assert grandfathered == [
        ("E2E-A", "completed", "2026-01-01 10:00:03"),
        ("E2E-B", "completed", "2026-01-01 10:00:04"),
        ("only", "completed", None),
    ]


def test_counters_and_flags_come_along(desk: Desk, file: str) -> None:
    desk.call("import peer", file=file)
    maps, pay = desk.group("MAPS", peer.INCIDENT), desk.group("PAY", peer.INCIDENT)
    assert (maps["counters"]["tl_review_attempts"], maps["complexity"], maps["name"]) == (1, 4, "name of MAPS")
    assert (pay["counters"]["qa_attempts"], pay["security_sensitive"], pay["complexity"]) == (1, True, 3)


def test_what_was_blocked_gets_one_soft_blocker_that_nobody_opened(desk: Desk, file: str) -> None:
    desk.call("import peer", file=file)
    found = rows(desk, "SELECT group_id, type, class, opened_by, opened_role, cause, reason FROM blockers")
    assert found == [("MAIL", "manual", "soft", None, None, "imported", "had failed there")]


def test_the_project_manager_is_called_with_the_reasons(desk: Desk, file: str) -> None:
    answer = desk.call("import peer", file=file)
    status = desk.call("status", session_id=peer.INCIDENT)
    assert (status["state"], status["awaited"]["role"], status["awaited"]["turn"]) == ("running", "project_manager", 1)
    assert answer["sessions"][0]["handoff"] == f"orchestrator handoff --turn 1 --session-id {peer.INCIDENT}"
    handed = desk.call("handoff", session_id=peer.INCIDENT)["markdown"]
    assert 'E2E-A (completed_after_blocked): "was completed right after a BLOCKED line (log 4, qa_expert:' in handed
    (sentence,) = [each for each in desk.call("why", id=f"{peer.INCIDENT}:D1")["sentences"] if "imported" in each]
    assert "MAIL: had failed there" in sentence


def test_a_session_that_had_ended_is_ended_as_imported(desk: Desk, file: str) -> None:
    desk.call("import peer", file=file)
    shown = desk.call("session show", id=peer.ENDED)["session"]
    assert (shown["status"], shown["outcome"], shown["awaited_role"]) == ("ended", "imported", None)
    assert shown["outcome_reason"] == "had ended there as completed"


def test_criteria_are_open_whatever_was_said_of_them(desk: Desk, file: str) -> None:
    desk.call("import peer", file=file)
    found = desk.call("criterion list", session_id=peer.INCIDENT)["criteria"]
    assert [(each["id"], each["status"], each["evidence"], each["set_by"]) for each in found] == [
        ("C1", "open", None, None), ("C2", "open", None, None),
    ]  # fmt: skip
    assert "evidence there: 'map.png'" in found[1]["reason"]


def test_logs_are_kept_as_text_and_never_as_reports(desk: Desk, file: str) -> None:
    desk.call("import peer", file=file)
    assert rows(desk, "SELECT count(*) FROM agent_reports") == [(0,)]
    kept = rows(desk, "SELECT part, group_id, peer_id, agent, content FROM imported_logs WHERE session_id = 'trip_1'")
    assert len(kept) == 8
    assert kept[5] == (6, "E2E-B", "6", "qa_expert", "BLOCKED, no browser")
    assert rows(desk, "SELECT more FROM imported_logs WHERE part = 8") == [
        ('{"event_payload":"{}","group_id":"global"}',)
    ]


def test_every_row_of_the_file_is_accounted_for(desk: Desk, file: str) -> None:
    tables = desk.call("import peer", file=file)["tables"]
    assert {each["table"]: (each["rows"], each["imported"], each["left_out"]) for each in tables} == {
        "orchestration_logs": (11, 11, 0), "schema_version": (1, 0, 1), "sessions": (2, 2, 0),
        "sqlite_sequence": (2, 0, 2), "success_criteria": (2, 2, 0), "task_groups": (7, 7, 0), "token_usage": (1, 0, 1),
    }  # fmt: skip
    assert all(each["reasons"] for each in tables if each["left_out"])


# --- what the import finds


def test_the_incident_is_found(desk: Desk, file: str) -> None:
    answer = desk.call("import peer", file=file)
    found = [(each["group_id"], each["code"]) for each in answer["findings"]]
    assert [group for group, code in found if code == "completed_after_blocked"] == ["E2E-A", "E2E-B"]
    assert (None, "completion_claimed") in found
    assert not any(each["session_id"] == peer.ENDED for each in answer["findings"])
    group = desk.group("E2E-A", peer.INCIDENT)
    assert (group["grandfathered"], group["path_valid"]) == (True, False)
    assert group["import_findings"][0]["code"] == "completed_after_blocked"
    told = desk.call("why", id="E2E-A", session_id=peer.INCIDENT)["sentences"]
    assert "nothing in this record proves it" in " ".join(told)


def test_the_incident_is_rejected_for_what_is_open_and_for_what_was_only_imported(desk: Desk, file: str) -> None:
    desk.call("import peer", file=file)
    verdict = desk.call("validate", session_id=peer.INCIDENT)
    assert (verdict["verdict"], verdict["exit_code"]) == ("REJECT", 1)
    assert verdict["reason"] == (
        "2 of 2 completed groups are only imported; V01 (project_manager), V02 (HELP, MAIL, MAPS, PAY),"
        " V03 (E2E-A, E2E-B), V04 (MAIL), V07 (MAIL), V08 (C1, C2), V11 (PAY)"
    )
    warned = [each for each in verdict["checks"] if each["id"] == "V03"]
    assert [each["level"] for each in warned] == (["error"] + ["warning"] * 3) * 2
    assert [each["subject"] for each in warned] == ["E2E-A"] * 4 + ["E2E-B"] * 4
    assert warned[1]["message"].startswith(
        "import finding (text, no proof): was completed right after a BLOCKED line (log 4, qa_expert: 'Group E2E-A"
    )


GROUPS: list[Any] = [
    pytest.param("completed", (), "completed", None, {"completed_without_trace"}, id="completed, no log"),
    pytest.param(
        "completed", (peer.log("tech_lead", "A: APPROVED"), peer.log("developer", "A: MERGE_SUCCESS")),
        "completed", None, set(), id="completed as it should be",
    ),
    pytest.param(
        "completed", (peer.log("qa_expert", "A: BLOCKED"), peer.log("tech_lead", "A: APPROVED"),
                      peer.log("developer", "A: MERGE_SUCCESS")),
        "completed", None, set(), id="completed after the block was settled",
    ),
    pytest.param(
        "completed", (peer.log("developer", "A: DONE"),),
        "completed", None, {"completed_without_approval", "completed_without_merge"}, id="completed by a word",
    ),
    pytest.param("in_progress", (), "in_progress", None, {"in_progress_there"}, id="in progress"),
    pytest.param("merging", (), "in_progress", None, {"in_progress_there"}, id="merging"),
    pytest.param("approved_pending_merge", (), "in_progress", None, {"in_progress_there"}, id="approved"),
    pytest.param("pending", (), "pending", None, set(), id="pending"),
    pytest.param("failed", (), "in_progress", "had failed there", {"blocked_there"}, id="failed"),
    pytest.param("BLOCKED", (), "in_progress", "was blocked there", {"blocked_there"}, id="blocked"),
    pytest.param(
        "in_progress", (peer.log("qa_expert", "A: BLOCKED"),), "in_progress",
        "was blocked there, by its log (its last such line, as text: log 1, qa_expert: 'A: BLOCKED')",
        {"blocked_there"}, id="blocked by its log",
    ),
    pytest.param(
        "odd\nthing", (), "in_progress", "its status there was 'odd thing', which means nothing here",
        {"blocked_there"}, id="unknown status",
    ),
    pytest.param(
        None, (), "in_progress", "its status there was '', which means nothing here", {"blocked_there"}, id="no status",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("peer_status", "logs", "status", "blocker", "codes"), GROUPS)
def test_each_status_becomes_one_of_ours(
    desk: Desk, tmp_path: pathlib.Path, peer_status: Any, logs: Any, status: str, blocker: str | None, codes: set[str]
) -> None:
    answer = desk.call("import peer", file=lone(tmp_path / "lone.db", peer.group("A", peer_status), logs=logs))
    group = desk.group("A", peer.INCIDENT)
    assert (group["status"], [each["reason"] for each in group["blockers"]]) == (status, [blocker] if blocker else [])
    assert {each["code"] for each in answer["findings"]} == codes
    assert list(verify_chain.broken(desk.context.connection, peer.INCIDENT)) == []


@pytest.mark.parametrize("status", ["strange", None, 7])
def test_a_session_of_unknown_status_is_taken_for_active(desk: Desk, tmp_path: pathlib.Path, status: Any) -> None:
    answer = desk.call("import peer", file=lone(tmp_path / "lone.db", status=status, mode="odd"))
    assert answer["sessions"][0]["status"] == "active"
    assert [each["code"] for each in answer["findings"]] == ["unknown_status", "unknown_mode"]
    assert desk.call("status", session_id=peer.INCIDENT)["awaited"]["role"] == "project_manager"


def test_what_was_open_in_an_ended_session_is_said(desk: Desk, tmp_path: pathlib.Path) -> None:
    answer = desk.call("import peer", file=lone(tmp_path / "lone.db", peer.group("A", "in_progress"), status="failed"))
    assert [(each["group_id"], each["code"]) for each in answer["findings"]] == [("A", "left_unfinished")]
    assert desk.call("session show", id=peer.INCIDENT)["session"]["outcome"] == "imported"
    assert desk.group("A", peer.INCIDENT)["awaited"] is None


# --- odd values

ODD = "q'\"; DROP TABLE sessions; -- \n\t\U0001f600 \u202e"


def test_ids_that_cannot_be_ids_here_are_made_anew_and_said(desk: Desk, tmp_path: pathlib.Path) -> None:
    groups = (peer.group(ODD, "completed"), peer.group("", "pending"), peer.group("x" * 5000, "pending"))
    file = lone(tmp_path / "lone.db", *groups, session_id=ODD)
    answer = desk.call("import peer", file=file)
    (session,) = answer["sessions"]
    assert session["peer_id"] == ODD
    assert [(each["kind"], each["from"]) for each in answer["renamed"]] == [
        ("session", ODD), ("group", ODD), ("group", ""), ("group", "x" * 5000),
    ]  # fmt: skip
    assert len({each["to"] for each in answer["renamed"][1:]}) == 3
    for each in answer["renamed"][1:]:
        assert desk.group(each["to"], session["id"])["id"] == each["to"]
    again = desk.refused("import peer", file=file, session_id=session["id"])
    assert again.code == "ALREADY_EXISTS"


def test_the_one_session_may_be_named_by_its_id_here(desk: Desk, tmp_path: pathlib.Path) -> None:
    file = lone(tmp_path / "lone.db", session_id=ODD)
    made = desk.call("import peer", file=file, dry_run=True)["sessions"][0]["id"]
    assert desk.call("import peer", file=file, session_id=made)["sessions"][0]["peer_id"] == ODD


def test_nothing_where_values_belong_and_values_where_nothing_does(desk: Desk, tmp_path: pathlib.Path) -> None:
    connection = peer.create(tmp_path / "odd.db", peer.TABLES.replace(" NOT NULL", ""))
    peer.insert(connection, "sessions", [{"session_id": None}, {"session_id": 5, "mode": b"\xff", "status": 0.5}])
    peer.insert(
        connection, "task_groups",
        [
            {"id": None, "session_id": 5, "name": None, "status": None, "complexity": "lots", "qa_attempts": -1},
            {"id": 7.5, "session_id": 5, "name": b"\x00\xff", "status": "pending", "security_sensitive": "yes"},
            {"id": "A", "session_id": None, "status": "completed"},
            {"id": "B", "session_id": "elsewhere", "status": "completed"},
        ],
    )  # fmt: skip
    peer.insert(connection, "success_criteria", [{"session_id": 5, "criterion": None}, {"session_id": None}])
    peer.insert(connection, "orchestration_logs", [{"session_id": 5, "content": None}, {"session_id": 6}])
    connection.close()
    answer = desk.call("import peer", file=str(tmp_path / "odd.db"))
    left_out = {each["table"]: each["reasons"] for each in answer["tables"] if each["left_out"]}
    assert left_out["sessions"] == [{"rows": 1, "reason": "without a session id"}]
    assert left_out["task_groups"] == [{"rows": 2, "reason": "of no session in the file"}]
    assert left_out["success_criteria"] == [{"rows": 1, "reason": "of no session in the file"}]
    assert left_out["orchestration_logs"] == [{"rows": 1, "reason": "of no session in the file"}]
    codes = {each["code"] for each in answer["findings"]}
    assert codes >= {"unknown_status", "unknown_mode", "renamed", "value_replaced", "texts_changed", "blocked_there"}
    (session,) = answer["sessions"]
    assert (session["id"], session["groups"], session["logs"], session["criteria"]) == ("5", 2, 1, 1)
    assert rows(desk, "SELECT name, security_sensitive FROM task_groups WHERE id = '7.5'") == [("\\x00\\xff", 1)]
    assert list(verify_chain.broken(desk.context.connection, "5")) == []


def test_a_huge_log_is_kept_whole(desk: Desk, tmp_path: pathlib.Path) -> None:
    content = "BLOCKED " + "\u00e4" * 300_000
    logs = (peer.log("qa_expert", content),)
    desk.call("import peer", file=lone(tmp_path / "lone.db", peer.group("A", "completed"), logs=logs))
    assert rows(desk, "SELECT content FROM imported_logs") == [(content,)]
    assert all(len(each["text"]) < 600 for each in desk.group("A", peer.INCIDENT)["import_findings"])


def test_an_old_peer_without_logs_and_criteria_is_imported(desk: Desk, tmp_path: pathlib.Path) -> None:
    script = "CREATE TABLE Sessions (Session_ID, Status); CREATE TABLE TASK_GROUPS (ID, SESSION_ID, STATUS);"
    connection = peer.create(tmp_path / "old.db", script)
    connection.execute("INSERT INTO sessions VALUES ('S', 'active')")
    connection.execute("INSERT INTO task_groups VALUES ('A', 'S', 'completed')")
    connection.close()
    answer = desk.call("import peer", file=str(tmp_path / "old.db"))
    assert (answer["peer_version"], answer["sessions"][0]["grandfathered"]) == (None, ["A"])
    assert {each["table"]: each["imported"] for each in answer["tables"]} == {"Sessions": 1, "TASK_GROUPS": 1}


# --- what is refused


def test_a_session_is_imported_once(desk: Desk, file: str) -> None:
    desk.call("import peer", file=file, session_id=peer.ENDED)
    before = desk.events()
    problem = desk.refused("import peer", file=file)
    assert (problem.code, problem.data["sessions"]) == ("ALREADY_EXISTS", [peer.ENDED])
    assert problem.suggestion == f"orchestrator import peer FILE --session-id {peer.INCIDENT}"
    assert desk.events() == before + 1
    assert rows(desk, "SELECT id FROM sessions") == [(peer.ENDED,)]
    desk.call("import peer", file=file, session_id=peer.INCIDENT)
    assert desk.refused("import peer", file=file).suggestion == f"orchestrator status {peer.INCIDENT}"


def test_a_session_of_ours_is_not_imported_over(desk: Desk, tmp_path: pathlib.Path) -> None:
    desk.planned("S1", "A")
    file = lone(tmp_path / "lone.db", peer.group("A", "completed"), session_id="S1")
    assert desk.refused("import peer", file=file).code == "ALREADY_EXISTS"
    assert desk.group("A", "S1")["status"] == "in_progress"


REFUSALS: list[Any] = [
    pytest.param({"session_id": "nowhere"}, "UNKNOWN_SESSION", id="session that the file lacks"),
    pytest.param({"by": "developer"}, "NOT_PERMITTED", id="developer"),
    pytest.param({"by": "orchestrator"}, "NOT_PERMITTED", id="orchestrator"),
    pytest.param({"by": "user"}, "HUMAN_REQUIRED", id="person without a channel"),
    pytest.param({"by": "stranger"}, "UNKNOWN_AGENT", id="stranger"),
    pytest.param({"by": ""}, "ACTOR_REQUIRED", id="nobody"),
    pytest.param({"file": "nowhere.db"}, "PEER_INVALID", id="no file"),
]


@pytest.mark.parametrize(("given", "code"), REFUSALS)
def test_a_refusal_is_recorded_and_brings_nothing(desk: Desk, file: str, given: dict[str, Any], code: str) -> None:
    assert desk.refused("import peer", **{"file": file, **given}).code == code
    assert rows(desk, "SELECT code FROM refusals") == [(code,)]
    assert rows(desk, "SELECT count(*) FROM sessions") == [(0,)]


def test_a_file_without_a_session_is_refused(desk: Desk, tmp_path: pathlib.Path) -> None:
    peer.create(tmp_path / "empty.db").close()
    problem = desk.refused("import peer", file=str(tmp_path / "empty.db"))
    assert [each["id"] for each in problem.data["problems"]] == ["no_session"]


def test_a_trial_shows_the_same_and_records_nothing(desk: Desk, file: str) -> None:
    before = desk.events()
    trial = desk.call("import peer", file=file, dry_run=True)
    assert (desk.events(), rows(desk, "SELECT count(*) FROM sessions")) == (before, [(0,)])
    assert trial | {"dry_run": False} == desk.call("import peer", file=file)
    desk.refused("import peer", file="nowhere.db", dry_run=True)
    assert rows(desk, "SELECT count(*) FROM refusals") == [(0,)]


def test_the_same_request_is_answered_the_same(desk: Desk, file: str) -> None:
    first = desk.call("import peer", file=file, request_id="once")
    events = desk.events()
    assert desk.call("import peer", file=file, request_id="once") == first | {"repeated": True}
    assert desk.events() == events
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE task_groups SET name = 'another'")
    connection.close()
    assert desk.refused("import peer", file=file, request_id="once").code == "REQUEST_ID_REUSED"


def test_an_import_that_died_half_way_is_finished_by_the_same_request(desk: Desk, file: str) -> None:
    desk.call("import peer", file=file, session_id=peer.INCIDENT, request_id="once")
    answer = desk.call("import peer", file=file, request_id="once")
    assert [each["id"] for each in answer["sessions"]] == [peer.INCIDENT, peer.ENDED]
    assert answer["repeated"] is False


# --- how it goes on


def test_the_work_goes_on_from_there_to_an_accepted_end(desk: Desk, tmp_path: pathlib.Path) -> None:
    groups = (peer.group("A", "failed"), peer.group("B", "completed"), peer.group("C", "pending"))
    desk.call("import peer", file=lone(tmp_path / "lone.db", *groups))
    session = peer.INCIDENT
    decision = desk.report("project_manager REWORK", "A", session, summary="go on")
    assert (decision["next_agent"], decision["group_id"]) == ("developer", "A")
    done = "developer READY_FOR_REVIEW,tech_lead APPROVED,developer MERGE_SUCCESS"
    desk.report(done, "A", session)
    started = desk.report("project_manager CONTINUE", None, session)
    assert [each["group_id"] for each in started["spawns"]] == ["C"]
    desk.report(done, "C", session)
    desk.report("project_manager BAZINGA", None, session, acknowledge={"A": "it works now"})
    assert desk.group("A", session)["status"] == "completed"
    verdict = desk.call("validate", session_id=session)
    assert (verdict["verdict"], verdict["reason"]) == ("REJECT", "1 of 3 completed groups is only imported; V03 (B)")
    (hint,) = {each["hint"] for each in verdict["checks"] if each["level"] == "error"}
    assert hint == f"orchestrator route project_manager BAZINGA --session-id {session} --acknowledge B=REASON"
    desk.report("project_manager BAZINGA", None, session, acknowledge={"B": "tried it by hand"})
    verdict = desk.call("validate", session_id=session)
    said = "1 of 3 completed groups is only imported; every check passed, with 5 warnings"
    assert (verdict["verdict"], verdict["reason"], verdict["imported"]) == ("ACCEPT", said, ["B"])
    assert {each["subject"] for each in verdict["checks"] if each["id"] == "V03"} == {"B"}


def test_a_grandfathered_group_may_be_reopened_and_then_needs_a_path_like_any_other(desk: Desk, file: str) -> None:
    desk.call("import peer", file=file)
    change = {"id": "E2E-A", "session_id": peer.INCIDENT, "by": "project_manager"}
    desk.call("group set-status", status="in_progress", reason="it was blocked", **change)
    group = desk.group("E2E-A", peer.INCIDENT)
    assert (group["grandfathered"], group["status"], group["awaited"]["role"]) == (False, "in_progress", "developer")
    problem = desk.refused("group set-status", status="completed", reason="as it was", **change)
    assert problem.code == "COMPLETION_PATH_MISSING"
    checks = desk.call("validate", session_id=peer.INCIDENT)["checks"]
    assert {each["subject"] for each in checks if each["id"] == "V03"} == {"E2E-B"}


def test_a_group_may_depend_on_a_grandfathered_one(desk: Desk, tmp_path: pathlib.Path) -> None:
    desk.call("import peer", file=lone(tmp_path / "lone.db", peer.group("A", "completed")))
    desk.call("group create", id="N", session_id=peer.INCIDENT, depends_on=("A",))
    started = desk.report("project_manager CONTINUE", None, peer.INCIDENT)
    assert [each["group_id"] for each in started["spawns"]] == ["N"]


# --- the record


def test_the_record_is_whole_and_one_event_holds_it_all(desk: Desk, file: str) -> None:
    desk.call("import peer", file=file)
    for session in (peer.INCIDENT, peer.ENDED):
        assert list(verify_chain.broken(desk.context.connection, session)) == []
        assert rows(desk, f"SELECT seq, kind, actor FROM audit_events WHERE session_id = '{session}'") == [
            (1, "import peer", "project_manager")
        ]
    if isinstance(desk.context.connection, sqlite3.Connection):
        assert rows(desk, "PRAGMA foreign_key_check") == []


def test_a_replay_needs_no_file(file: str) -> None:
    context = testing.memory_context()
    operations.call(context, "import peer", file=file)
    for words, given in (
        ("import peer", {"file": file}),
        ("import peer", {"file": "nowhere.db"}),
        ("import peer", {"file": file, "by": "developer", "session_id": "nowhere"}),
    ):
        with pytest.raises(OrchestratorError):
            operations.call(context, words, **given)
    given = {"session_id": peer.INCIDENT, "group_id": "PAY", "current_agent": "project_manager", "status": "REWORK"}
    operations.call(context, "route", **given)
    operations.call(context, "validate", session_id=peer.INCIDENT, record=True)
    pathlib.Path(file).unlink()
    test_replay.assert_told_again(context)


def test_the_text_says_what_came_and_what_was_left_out(desk: Desk, file: str) -> None:
    answer = desk.call("import peer", file=file)
    lines = text.render("import peer", answer).split("\n")
    assert lines[0] == "2 sessions of peer.db, schema version 19 imported."
    assert lines[2:6] == [
        "Session trip_1: active",
        "  There:     trip_1, active",
        "  Groups:    6 (completed there: E2E-A, E2E-B; in progress: MAPS, PAY, MAIL; pending: HELP; blocked: MAIL)",
        "  Criteria:  2",
    ]
    assert lines[-1].endswith("1 of a kind that is not imported")
    trial = text.render("import peer", answer | {"dry_run": True, "peer_version": None, "repeated": True})
    assert trial.startswith("2 sessions of peer.db would be imported (recorded before).")
    shown = text.render("group show", desk.call("group show", id="E2E-A", session_id=peer.INCIDENT))
    assert "Path:   none here: completed before the import" in shown
    assert "Import findings (text, no proof)" in shown


def test_an_instance_of_another_session_imports_nothing(desk: Desk, file: str) -> None:
    desk.session("S1")
    with pytest.raises(Refused) as caught:
        desk.call("import peer", file=file, by="project_manager@S1")
    assert caught.value.code == "NOT_PERMITTED"
