"""Threads of a server that share commits, killed while they work: what was answered is on record, whole steps alone."""

from __future__ import annotations

import os
import pathlib
import random
import shutil
import signal
import threading
import time

import pytest

from orchestrator import bootstrap
from orchestrator.app.kernel import operations
from orchestrator.app.kernel.connection_pool import Pool
from orchestrator.app.kernel.context import Answer, Context
from tests.conftest import LONG
from tests.drills import field

pytestmark = pytest.mark.slow

KILLS = 100 if LONG else 6
CALLERS = 8


def serve(path: pathlib.Path, told: int) -> None:
    """Report from several threads without end; each step is told once its call is answered."""

    def opened(write: bool) -> Context:
        return bootstrap.open_context(str(path), write=write, door="http", shared=True, stays=True, together=write)

    pool = Pool(opened, shares_commits=True)

    def report(caller: int) -> None:
        for number in range(10_000):
            given = field.partial(f"G{caller}", summary=f"{caller} {number}")

            def route(context: Context, given: dict[str, object] = given) -> Answer:
                return operations.call(context, "route", **given)

            os.write(told, b"%d\n" % pool.carried_out(route, joins=True)["seq"])

    threads = [threading.Thread(target=report, args=(caller,)) for caller in range(CALLERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_what_was_answered_is_on_record_after_a_kill(tmp_path: pathlib.Path) -> None:
    template, chance = field.create(tmp_path / "template.db", groups=CALLERS), random.Random(7)  # noqa: S311 - when a kill comes
    answered = 0
    for number in range(KILLS):
        path = pathlib.Path(shutil.copy(template, tmp_path / f"{number}.db"))
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            try:
                serve(path, writing)
            finally:
                os._exit(1)
        os.close(writing)
        with open(reading, "rb") as answers:
            first = answers.readline()
            time.sleep(chance.uniform(0.0, 0.3))
            os.kill(child, signal.SIGKILL)
            lines = [first, *answers.read().splitlines(keepends=True)]
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
        assert field.damages(path) == []
        with field.plain(path) as connection:
            recorded = {seq for (seq,) in connection.execute("SELECT seq FROM audit_events WHERE kind = 'route'")}
        assert {int(line) for line in lines if line.endswith(b"\n")} <= recorded
        answered += len(lines)
    assert answered > KILLS
