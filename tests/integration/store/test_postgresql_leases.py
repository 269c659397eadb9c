"""Leases on a server: who may drive a session beside whom, and who is taken for gone.

Source: spec 90, section 2.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import re
import threading
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from orchestrator import bootstrap
from orchestrator.app import maintenance, starts
from orchestrator.app.driving import autopilot, drive
from orchestrator.app.driving.requests import Drive
from orchestrator.app.kernel import credentials, operations
from orchestrator.app.kernel.connection_pool import Pool
from orchestrator.app.running import turn_runs, work_leases
from orchestrator.app.running.worker import CHANNEL
from orchestrator.doors.mcp.tool_calls import Caller, Settings
from orchestrator.errors import EnvironmentProblem, Refused, UsageError
from orchestrator.runner import process_identity
from orchestrator.store import leases, step
from orchestrator.store.leases import ALONE, HOST, SHARED
from tests import postgresql
from tests.cases import every

AT = "2026-01-01T00:00:00.000000Z"
LONG_MS = 60_000


@pytest.fixture
def context(pg_url: str) -> Iterator[Any]:
    found = bootstrap.open_context(pg_url, write=True, door="test")
    with contextlib.closing(found.connection):
        operations.call(found, "session create", id="S1")
        yield found


def take(context: Any, owner: str, mode: str, milliseconds: int = LONG_MS) -> Any:
    return leases.take(context.connection, "S1", owner, mode, milliseconds, waits=mode != ALONE, deadline_s=1.0)


BESIDE = [
    (SHARED, SHARED, True, True), (SHARED, HOST, False, True), (HOST, SHARED, False, True), (HOST, HOST, False, True),
    (ALONE, SHARED, False, False), (SHARED, ALONE, False, False), (ALONE, ALONE, False, False),
    (ALONE, HOST, False, False),
]  # fmt: skip


def test_who_may_drive_a_session_beside_whom(context: Any) -> None:
    for first, second, elsewhere, here in BESIDE:
        assert take(context, "one:1:1", first) == ()
        for other, may in (("two:1:1", elsewhere), ("one:2:2", here)):
            assert (take(context, other, second) == ()) == may, (first, second, other)
            leases.give_back(context.connection, "S1", other)
        leases.give_back(context.connection, "S1", "one:1:1")


MINE = process_identity.mine()
GONE = MINE.rpartition(":")[0] + ":1"
LIVING = [
    # Whether its lease lives, has expired or never was; whose process it is; whether it is taken for gone.
    (LONG_MS, "two:1:1", False), (-1, "two:1:1", True), (None, "two:1:1", False),
    (LONG_MS, GONE, False), (-1, GONE, True), (None, GONE, True),
    (LONG_MS, MINE, False), (-1, MINE, False), (None, MINE, False),
    (-1, "nonsense", True), (None, "nonsense", False),
]  # fmt: skip


def test_who_is_taken_for_gone(context: Any) -> None:
    for lasts, owner, gone in LIVING:
        if lasts is not None:
            assert take(context, owner, SHARED, lasts) == ()
        assert context.is_gone(owner, context.connection) == gone, (lasts, owner)
        context.connection.run("DELETE FROM leases")


def test_a_lease_that_has_expired_is_not_renewed_and_goes_once_nothing_names_it(context: Any) -> None:
    take(context, "two:1:1", SHARED, -1)
    assert not leases.renew(context.connection, "S1", "two:1:1", LONG_MS)
    take(context, "one:1:1", SHARED)
    assert leases.renew(context.connection, "S1", "one:1:1", LONG_MS)
    assert context.connection.run("SELECT owner FROM leases").fetchall() == [("one:1:1",)]


def test_a_session_in_which_a_step_is_under_way_is_passed_over(context: Any, pg_url: str) -> None:
    other = bootstrap.open_context(pg_url, write=True, door="test")
    with contextlib.closing(other.connection), step.open_step(other.connection, "S1", AT):
        assert take(context, "one:1:1", ALONE) is None
        context.connection.skips = True
        with pytest.raises(EnvironmentProblem) as caught:
            operations.call(context, "group create", id="A", session_id="S1", name="a")
        assert caught.value.data["_skipped"]
        context.connection.skips = False
    assert take(context, "one:1:1", ALONE) == ()


def test_work_is_leased_while_it_goes_on_and_lost_where_that_cannot_be_renewed(
    context: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work_leases, "_BEATS", 100)
    monkeypatch.setenv(work_leases.VARIABLE, "2")
    with work_leases.at_work(context), work_leases.at_work(context):
        assert leases.lives(context.connection, MINE)
    assert leases.lives(context.connection, MINE) is False
    lease = work_leases.take(context, "S1", SHARED)
    assert isinstance(lease, work_leases.Lease)
    context.connection.run("UPDATE leases SET until = '-infinity'")
    limit = time.monotonic() + 10
    while not lease.is_lost():
        assert time.monotonic() < limit
        time.sleep(0.01)
    lease.give_back()


NAMES = ['reader', 'Odd "name"; DROP TABLE x', "caf\u00e9", "x" * 63]
NO_NAMES = ["", "  ", "a\nb", "a\0", "\x1b[31m", "x" * 64, "\u00e9" * 32]


def test_a_role_has_exactly_what_is_printed_for_it(context: Any, pg_folder: pathlib.Path, pg_url: str) -> None:
    owner = postgresql.Connection(pg_folder, re.findall(r"/(test\d+)\?", pg_url)[0])
    for number, name in enumerate(NAMES):
        found = maintenance.grants(name, writes=bool(number))
        role = '"' + name.replace('"', '""') + '"'
        owner.run(f"CREATE ROLE {role} LOGIN;" + "".join(found["statements"]))
        url = postgresql.address(pg_folder, re.findall(r"/(test\d+)\?", pg_url)[0], quote(name))
        other = bootstrap.open_context(url, write=True, door="test")
        with contextlib.closing(other.connection):
            if number:
                operations.call(other, "group create", id=f"G{number}", session_id="S1", name="a")
                assert take(other, "one:1:1", SHARED) == ()
            else:
                with pytest.raises(EnvironmentProblem) as caught:
                    operations.call(other, "group create", id="G", session_id="S1", name="a")
                assert caught.value.code == "READ_ONLY"
                assert operations.call(other, "session show", id="S1")["session"]["id"] == "S1"
        owner.run(f"DROP OWNED BY {role}; DROP ROLE {role};")
    owner.close()
    for name in NO_NAMES:
        with pytest.raises(UsageError):
            maintenance.grants(name, writes=True)


@every("text", ["x", "0", "1", "3601", "2.5", "-3", "99999"])
def test_a_lease_that_is_no_number_of_seconds_is_refused(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv(work_leases.VARIABLE, text)
    with pytest.raises(UsageError, match="from 2 to 3600"):
        work_leases.seconds()


def test_a_server_leaves_a_session_to_another_one_until_that_is_gone(
    context: Any, pg_url: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "script.json").write_text("[]")
    heard = list[Any]()
    pilot = autopilot.Autopilot(
        None, lambda: bootstrap.open_context(pg_url, write=True, door="serve"),  # type: ignore[arg-type]
        Drive(executor=f"scripted:{tmp_path / 'script.json'}", once=True), heard.append,
    )  # fmt: skip
    take(context, "two:7:1", ALONE)
    said = pytest.raises(drive.DrivenElsewhere, match=r"driven by a server on two \(process 7\)")
    with said, drive.held(context, "S1", HOST):
        pass
    for state in (autopilot.ELSEWHERE, autopilot.RESTING):
        pilot._begin("S1", AT)
        pilot._drivers["S1"][0].join()
        assert getattr(pilot.standing("S1"), "state", None) == state
        context.connection.run("UPDATE leases SET until = '-infinity'")
    assert heard == []
    assert not os.path.exists(tmp_path / "postgresql:")


def planned(context: Any) -> dict[str, Any]:
    """The turn that is open once the session has a group."""
    operations.call(context, "group create", id="A", session_id="S1", name="a")
    operations.call(context, "route", session_id="S1", current_agent="project_manager", status="PLANNING_COMPLETE")
    (spawn,) = operations.call(context, "status", session_id="S1")["spawns"]
    return {"session_id": "S1", "group_id": "A", "turn": spawn["turn"]}


def test_a_driver_that_waits_for_others_looks_again_once_they_take_a_step(
    context: Any, pg_url: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drive, "PATIENCE_S", 600.0)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "script.json").write_text("[]")
    asked = {**planned(context), "via": starts.HOOK, "client": "c1", "owner": "two:7:1"}
    operations.ask(context, starts.ReserveStart(**asked))
    waits, ended = threading.Event(), list[Any]()

    def work() -> None:
        watcher = drive.Watcher(lambda event: waits.set() if event["event"] == "waiting" else None)
        other = bootstrap.open_context(pg_url, write=True, door="test")
        with contextlib.closing(other.connection):
            request = Drive(session_id="S1", executor=f"scripted:{tmp_path / 'script.json'}", isolation="none")
            ended.append(drive.drive(other, request, watcher))

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    assert waits.wait(60)
    operations.call(context, "session pause", id="S1", by="project_manager", reason="lunch")
    thread.join(60)
    assert [each["outcome"] for each in ended] == [drive.PERSON]


def test_a_server_finds_a_session_once_it_is_begun(
    context: Any, pg_url: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(autopilot, "LOOK_S", 600.0)
    monkeypatch.chdir(tmp_path)

    def opened(write: bool = True) -> Any:
        return bootstrap.open_context(pg_url, write=write, door="http", channel=CHANNEL)

    with contextlib.closing(Pool(opened)) as pool:
        pilot = autopilot.Autopilot(pool, opened, Drive(executor="scripted:none.json"), list[Any]().append)
        look, looked = pilot._look, threading.Semaphore(0)
        monkeypatch.setattr(pilot, "_look", lambda: (look(), looked.release()))
        pilot.start()
        # The first, and the one for what was committed before it listened.
        for _ in range(2):
            assert looked.acquire(timeout=60)
        with pool.lent(write=True) as begun:
            operations.call(begun, "session create", id="S2", goal="Ship it")
        assert looked.acquire(timeout=60)
        pilot.stop()
        assert pilot.standing("S2") is not None


def test_what_a_hook_started_on_a_machine_that_died_waits_for_redispatch(context: Any) -> None:
    asked = planned(context)
    lost = operations.ask(context, starts.ReserveStart(**asked, via=starts.HOOK, client="c1", owner="two:7:1"))["start"]
    # Of a process on another machine nothing is known, so nobody takes its turn away.
    (spawn,) = operations.call(context, "status", session_id="S1")["spawns"]
    assert spawn["start"]["state"] == starts.RESERVED
    with pytest.raises(Refused, match=r"under way|already"):
        operations.ask(context, starts.ReserveStart(**asked, via=starts.DRIVE, client="c2", owner=MINE))
    operations.call(context, "redispatch", session_id="S1", group_id="A", reason="two is gone")
    (spawn,) = operations.call(context, "status", session_id="S1")["spawns"]
    assert "start" not in spawn
    asked["turn"] = spawn["turn"]
    assert operations.ask(context, starts.ReserveStart(**asked, via=starts.DRIVE, client="c2", owner=MINE))["success"]
    with pytest.raises(Refused) as caught:
        operations.call(
            context, "route", session_id="S1", group_id="A", current_agent="developer", status="READY_FOR_QA",
            turn=lost["turn"],
        )  # fmt: skip
    assert caught.value.code == "STALE_TURN"


def test_doctor_tells_of_runs_that_were_left_and_of_what_proves_a_person(
    context: Any, pg_url: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    gone, folder = MINE.rpartition(":")[0] + ":1", str(tmp_path)
    asked = turn_runs.QueueTurn(
        session_id="S1", group="A", turn=planned(context)["turn"], role="developer", prompt="x", executor="scripted",
        model=None, folder=folder, root=folder, owner=gone,
    )  # fmt: skip
    run = operations.ask(context, asked)["run"]
    found = maintenance.doctor_on_server(pg_url, "", {}, 5.0, AT)
    left = [(each["subject"], each["severity"]) for each in found["findings"] if each["id"] == "RUN_ABANDONED"]
    assert (left, found["exit_code"]) == ([(run, "warning")], 0)
    assert found["facts"]["persons"] == credentials.PROVES["nothing"]


def test_turns_of_a_main_agents_server_are_lost_with_its_machine(
    context: Any, pg_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned(context)
    asked = {"session_id": "S1", "group_id": "A", "start": True}
    owners = "SELECT owner, until > clock_timestamp() FROM leases"

    def state() -> str:
        """Of the start, as another machine sees it."""
        with monkeypatch.context() as patch:
            patch.setenv(process_identity.HOST, "another")
            (spawn,) = operations.call(context, "status", session_id="S1")["spawns"]
            return str(spawn["start"]["state"])

    caller = Caller(Settings(None, None, pg_url))
    with contextlib.closing(caller):
        assert not caller.call(caller.tools["handoff"], asked).is_error
        assert (context.connection.run(owners).fetchall(), state()) == ([(MINE, 1)], starts.RESERVED)
        # It could not renew it for so long, and takes another with its next call.
        context.connection.run("UPDATE leases SET until = '-infinity'")
        assert state() == starts.LOST
        assert caller._lease is not None
        monkeypatch.setattr(caller._lease, "_until", 0.0)
        caller.call(caller.tools["handoff"], asked)
        assert state() == starts.RESERVED
    assert (context.connection.run(owners).fetchall(), state()) == ([(MINE, 0)], starts.LOST)
