"""Drills on a PostgreSQL server: nothing is lost, nothing is done twice, and every chain verifies.

Source: spec 90, section 4.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import random
import re
import signal
import threading
import time
from typing import Any

import psycopg

from orchestrator import bootstrap
from orchestrator.app.kernel import operations
from orchestrator.errors import EnvironmentProblem
from tests import postgresql
from tests.conftest import LONG

KILLS = 200 if LONG else 20
CRASHES = 20 if LONG else 1
WRITERS, STEPS = 8, 6
TABLES = ("task_groups", "audit_events")


def opened(url: str, *, write: bool = True) -> Any:
    return bootstrap.open_context(url, write=write, door="test", environment={"ORCHESTRATOR_BUSY_TIMEOUT": "20"})


def step(context: Any, session: str, number: int) -> None:
    """A step that may be asked for again."""
    asked = {"id": f"G{number}", "session_id": session, "request_id": f"R{number}"}
    operations.call(context, "group create", **asked)


def require_whole(url: str, sessions: dict[str, int]) -> None:
    """Require so many steps of each session, one event each, and chains that verify."""
    context = opened(url, write=False)
    with contextlib.closing(context.connection):
        assert operations.call(context, "audit verify")["findings"] == []
        found = {session: tuple(_count(context, table, session) for table in TABLES) for session in sessions}
    assert found == {session: (steps, steps + 1) for session, steps in sessions.items()}


def _count(context: Any, table: str, session: str) -> int:
    sql = f"SELECT count(*) FROM {table} WHERE session_id = ?"
    return int(context.connection.execute(sql, (session,)).fetchone()[0])


def begun(url: str, *sessions: str) -> None:
    context = opened(url)
    with contextlib.closing(context.connection):
        for each in sessions:
            operations.call(context, "session create", id=each)


class Cutting:
    """A connection that is cut before one of its statements.

    place: of that statement, from 1; owner: cuts it.
    """

    def __init__(self, connection: Any, owner: Any, place: int) -> None:
        self._run, self._owner, self._left = connection.run, owner, place
        self._process = connection._driver.info.backend_pid
        self.is_cut = False
        connection.run = self

    def __call__(self, sql: str, values: Any = None, **more: Any) -> Any:
        self._left -= 1
        if self._left == 0:
            self.is_cut = True
            self._owner.execute("SELECT pg_terminate_backend(%s, 5000)", (self._process,))
        return self._run(sql, values, **more)


def test_a_connection_that_is_cut_before_any_statement_of_a_step_loses_and_repeats_nothing(
    pg_url: str, pg_folder: pathlib.Path
) -> None:
    begun(pg_url, "S1")
    name = re.findall(r"/(test\d+)\?", pg_url)[0]
    owner = psycopg.connect(f"postgresql://{postgresql.OWNER}@/{name}?host={pg_folder}", autocommit=True)
    number, is_cut, lost = 0, True, list[str]()
    while is_cut:
        number += 1
        context = opened(pg_url)
        cutting = Cutting(context.connection, owner, number)
        try:
            step(context, "S1", number)
        except EnvironmentProblem as problem:
            lost.append(problem.code)
        is_cut = cutting.is_cut
        context.connection.close()
        context = opened(pg_url)
        step(context, "S1", number)
        context.connection.close()
    owner.close()
    # Only what is cut at COMMIT is found again by itself, or committed after all.
    assert lost == ["NO_DATABASE"] * len(lost)
    assert len(lost) >= number - 2 > 10
    require_whole(pg_url, {"S1": number})


def test_a_worker_that_is_killed_leaves_whole_steps_alone(pg_url: str) -> None:
    begun(pg_url, "S1")
    chance, number = random.Random(7), 0  # noqa: S311 - the same moments each time
    for _ in range(KILLS):
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            _write_until_killed(pg_url, number, writing)
        os.close(writing)
        os.read(reading, 1)
        time.sleep(chance.uniform(0, 0.05))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        told = b""
        while data := os.read(reading, 65536):
            told += data
        os.close(reading)
        context = opened(pg_url)
        with contextlib.closing(context.connection):
            # The step that was under way may be there; asked for again it is there once.
            step(context, "S1", number + len(told))
        number += len(told) + 1
    require_whole(pg_url, {"S1": number})


def _write_until_killed(url: str, number: int, told: int) -> None:
    """In a child: steps, each told by a byte once it is answered; the first byte only says that it has begun."""
    try:
        context = opened(url)
        os.write(told, b".")
        while True:
            step(context, "S1", number)
            number += 1
            os.write(told, b".")
    finally:
        os._exit(1)


def test_a_server_that_is_killed_under_eight_writers_loses_and_repeats_nothing(
    pg_folder: pathlib.Path, pg_template: str
) -> None:
    programs = postgresql.programs()
    assert programs is not None
    owner = postgresql.Connection(pg_folder)
    owner.run(f"CREATE DATABASE crashed TEMPLATE {pg_template} OWNER {postgresql.TEAM};")
    owner.close()
    url, sessions = postgresql.address(pg_folder, "crashed"), [f"S{each}" for each in range(WRITERS)]
    begun(url, *sessions)
    lost: list[str] = []
    for crash in range(CRASHES):
        threads = [threading.Thread(target=_insist, args=(url, each, crash, lost)) for each in sessions]
        for thread in threads:
            thread.start()
        time.sleep(0.1)
        postgresql.crash(programs, pg_folder)
        for thread in threads:
            thread.join()
    assert lost
    require_whole(url, dict.fromkeys(sessions, STEPS * CRASHES))


def _insist(url: str, session: str, crash: int, lost: list[str]) -> None:
    """Take steps, each again until it is answered, as whoever has a request id does."""
    for number in range(crash * STEPS, (crash + 1) * STEPS):
        while True:
            try:
                context = opened(url)
                with contextlib.closing(context.connection):
                    step(context, session, number)
                break
            except EnvironmentProblem as problem:
                lost.append(problem.code)
                time.sleep(0.02)
