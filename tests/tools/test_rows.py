"""What the measurements stand on: the raw loop writes what a route writes, and a history is one."""

from __future__ import annotations

import pathlib
import sqlite3

import pytest

from orchestrator.app.audit import check_certificate
from orchestrator.app.kernel import operations
from tools.benchmarks import __main__ as main
from tools.benchmarks import certificate_checks, crowd, floor, frames, growth, mix, verified

TABLES = ("agent_reports", "router_decisions", "standalone_handoffs", "status_changes", "agents", "task_groups")


@pytest.fixture(scope="module")
def database() -> bytes:
    return mix.content(["S1"], 2)


def rows(connection: sqlite3.Connection, table: str) -> list[tuple[object, ...]]:
    return sorted(connection.execute(f"SELECT * FROM {table}").fetchall(), key=repr)


@pytest.mark.parametrize("table", TABLES)
def test_the_raw_loop_writes_the_rows_of_the_routes_that_were_recorded(
    table: str, database: bytes, tmp_path: pathlib.Path
) -> None:
    calls = [call | {"at": f"2026-01-01T00:00:{number:02d}.000000Z"} for number, call in enumerate(mix.calls("S1", 2))]
    raw = floor.open_file(tmp_path / "floor.db", database, "NORMAL")
    for step in floor.record(database, calls):
        floor.run(raw, step)
    routed = mix.in_memory(database)
    for call in calls:
        mix.route(routed, call)
    assert rows(raw, table) == rows(routed.connection, table)


def test_the_raw_loop_writes_one_event_of_constant_hash_for_each_step(database: bytes, tmp_path: pathlib.Path) -> None:
    connection = floor.open_file(tmp_path / "floor.db", database, "NORMAL")
    before = connection.execute("SELECT max(seq) FROM audit_events WHERE session_id = 'S1'").fetchone()[0]
    for step in floor.record(database, mix.calls("S1", 1)):
        floor.run(connection, step)
    events = connection.execute("SELECT seq, hash FROM audit_events WHERE session_id = 'S1' AND seq > ?", (before,))
    assert events.fetchall() == [(before + number, floor.CONSTANT_HASH) for number in range(1, 5)]


def test_a_commit_writes_few_pages(tmp_path: pathlib.Path) -> None:
    """An index that nearly every step writes is a page more: what it saves must be worth that."""
    assert frames.counted(tmp_path) <= frames.MUST


def test_a_measured_certificate_holds_and_is_as_large_as_it_says() -> None:
    found = check_certificate.check(certificate_checks.certificate(3, 50), "it")
    assert (found["ok"], found["events"], found["proven"], found["groups"]) == (True, 50, 13, {"completed": 3})


def test_every_group_of_the_mix_is_completed_and_nobody_is_asked(database: bytes) -> None:
    context = mix.in_memory(database)
    answers = [mix.route(context, call) for call in mix.calls("S1", 2)]
    assert [answer["action"] for answer in answers] == ["spawn", "spawn", "spawn_merge", "spawn_batch"] * 2
    assert [answer["group_status"] for answer in answers[3::4]] == ["completed", "completed"]


def test_a_history_has_its_decisions_and_goes_on(tmp_path: pathlib.Path) -> None:
    calls = mix.calls("S1", 1, prefix="N")
    path = growth.history(tmp_path / "large.db", 400, calls)
    context = mix.open_file(path)
    assert context.reader.count("SELECT count(*) FROM router_decisions WHERE group_id LIKE 'H%'") == 400
    assert [mix.route(context, call)["action"] for call in calls] == ["spawn", "spawn", "spawn_merge", "spawn_batch"]


def test_the_rows_of_a_history_are_in_order(tmp_path: pathlib.Path) -> None:
    context = mix.open_file(growth.history(tmp_path / "large.db", 40, mix.calls("S1", 1, prefix="N")))
    found = context.connection.execute("SELECT seq FROM audit_events WHERE session_id = 'S1' ORDER BY seq")
    seqs = [row[0] for row in found]
    assert seqs == list(range(1, len(seqs) + 1))
    assert not context.connection.execute("PRAGMA foreign_key_check").fetchall()
    assert operations.call(context, "group show", id="H000009", session_id="S1")["group"]["status"] == "completed"


def test_a_history_that_is_sealed_again_verifies(tmp_path: pathlib.Path) -> None:
    context = mix.open_file(verified.history(tmp_path / "verified.db", 40), write=False)
    answer = operations.call(context, "audit verify")
    assert (answer["ok"], answer["findings"]) == (True, [])
    # The bare loop reads the texts as well, of which there are none here.
    assert verified.hashed(context.connection) == answer["events"] + answer["rows"]


def test_a_crowd_is_as_fair_as_its_slowest_member() -> None:
    members = tuple(crowd.Member(routes, 0.002 * routes, {}) for routes in (20, 40))
    round_ = crowd.Crowd(members, 60)
    assert (round_.routes, round_.worst_ms, round_.fairness, round_.lock_errors) == (60, 80.0, 0.5, 0)


def test_the_steps_that_are_verified_can_be_chosen(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(verified, "STEPS", verified.STEPS)
    monkeypatch.setattr(verified, "STEPS_TOLD", verified.STEPS_TOLD)
    monkeypatch.setattr(verified, "SESSIONS", 2)
    monkeypatch.setattr("sys.argv", ["bench", "--rows", "11", "--steps", "40", "--rounds", "11"])
    main.main()
    out = capsys.readouterr().out
    assert "`audit verify SESSION` of 40 steps" in out
    assert "`audit replay` of 40 steps" in out
    assert "measured on this part of 40: " in out


@pytest.mark.parametrize("text", ["41", "0", "-4", "many"])
def test_steps_that_are_no_whole_groups_are_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["bench", "--rows", "11", "--steps", text])
    with pytest.raises(SystemExit) as caught:
        main.main()
    assert caught.value.code == 2
