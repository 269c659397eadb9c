"""Drills on a PostgreSQL server: nothing is lost, nothing is done twice, and every chain verifies.

Source: spec 90, section 4.
"""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from typing import Any

import psycopg

import orchestrator
from orchestrator import bootstrap
from orchestrator.app.kernel import operations
from orchestrator.errors import EXIT_ENVIRONMENT, EnvironmentProblem
from orchestrator.store import constants
from tests import postgresql
from tests.conftest import LONG

KILLS = 200 if LONG else 20
CRASHES = 20 if LONG else 1
UPGRADES = 10 if LONG else 1
PAIRS = 4 if LONG else 2
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
        del context.connection.run
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


OLDER = constants.SCHEMA_VERSION - 1
TO_OLDER = f"""BEGIN; SET orchestrator.write = '1'; DROP INDEX ix_refusals_turn;
    DROP TRIGGER runs_move_by_the_rules ON runs; UPDATE alembic_version SET version_num = '{OLDER:04}'; COMMIT;"""
WORKER = """
import json, sys, time
from orchestrator import bootstrap
from orchestrator.app.kernel import operations
from orchestrator.errors import OrchestratorError
url, session, limit = sys.argv[1:]
context, number, made = None, 0, 0
while made < int(limit):
    try:
        patient = {"ORCHESTRATOR_BUSY_TIMEOUT": "60"}
        context = context or bootstrap.open_context(url, write=True, door="test", environment=patient)
        asked = {"id": f"G{number}", "session_id": session, "request_id": f"R{number}"}
        made += not operations.call(context, "group create", **asked).get("repeated")
        number += 1
        print(number, flush=True)
    except OrchestratorError as problem:
        print(json.dumps([problem.code, problem.suggestion]), flush=True)
        if problem.code != "SCHEMA_TOO_OLD":
            sys.exit(problem.exit_code)
        time.sleep(0.02)
"""
"""Takes steps under the request ids R0, R1, ... until it has taken so many that nobody had; waits for an upgrade."""


def _older_program(folder: pathlib.Path) -> pathlib.Path:
    """A folder with this program as a version ago: it knows the schema version before this one's, and no other."""
    package = pathlib.Path(orchestrator.__file__).parent
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(package, folder / "older" / package.name, copy_function=os.symlink, ignore=ignored)
    place = folder / "older" / package.name / "store" / "constants.py"
    text = place.read_text()
    place.unlink()
    place.write_text(text.replace(f"SCHEMA_VERSION = {constants.SCHEMA_VERSION}\n", f"SCHEMA_VERSION = {OLDER}\n"))
    assert place.read_text() != text
    return folder / "older"


def _program(*words: str, path: pathlib.Path | None = None) -> subprocess.Popen[str]:
    """This program's, or that of a folder, which is the current one then: Python looks there first."""
    surroundings = {**os.environ, **({"PYTHONPATH": str(path)} if path is not None else {})}
    return subprocess.Popen([sys.executable, *words], stdout=subprocess.PIPE, text=True, env=surroundings, cwd=path)


def _told(process: subprocess.Popen[str]) -> list[Any]:
    return [json.loads(line) for line in process.communicate(timeout=60)[0].splitlines()]


def test_programs_of_two_versions_share_a_server_while_its_schema_is_upgraded(
    pg_folder: pathlib.Path, pg_template: str, tmp_path: pathlib.Path
) -> None:
    older, sessions = _older_program(tmp_path), [f"S{each}" for each in range(PAIRS)]
    worker = tmp_path / "worker.py"
    worker.write_text(WORKER)
    for _ in range(UPGRADES):
        with postgresql.database(pg_folder, pg_template) as url:
            begun(url, *sessions)
            owner = postgresql.Connection(pg_folder, re.findall(r"/(test\d+)\?", url)[0])
            owner.run(TO_OLDER)
            owner.close()
            old = [_program(str(worker), url, each, "999999", path=older) for each in sessions]
            # All are at work.
            heads = [[json.loads(each.stdout.readline()) for _ in range(2)] for each in old if each.stdout]
            new = [_program(str(worker), url, each, "3") for each in sessions]
            assert all(json.loads(each.stdout.readline())[0] == "SCHEMA_TOO_OLD" for each in new if each.stdout)
            upgrade = _program("-m", "orchestrator", "db", "upgrade", "--db", url, "--json")
            assert (_told(upgrade)[0]["after"], upgrade.returncode) == (constants.SCHEMA_VERSION, 0)
            ended = [_told(each)[-1] for each in old]
            assert ended == [["SCHEMA_TOO_NEW", "install a newer guarded-orchestrator"]] * PAIRS, (ended, heads)
            assert [each.returncode for each in old] == [EXIT_ENVIRONMENT] * PAIRS
            steps = [_told(each)[-1] for each in new]
            assert [each.returncode for each in new] == [0] * PAIRS
            require_whole(url, dict(zip(sessions, steps, strict=True)))
            late = _program("-m", "orchestrator", "status", "S0", "--db", url, "--json", path=older)
            assert (_told(late)[0]["code"], late.returncode) == ("SCHEMA_TOO_NEW", EXIT_ENVIRONMENT)
