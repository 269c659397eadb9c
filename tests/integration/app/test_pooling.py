"""Connections that a server keeps: one at a time each, on the file that is there, never in a transaction."""

from __future__ import annotations

import os
import pathlib
import shutil
import tempfile
import threading
import time

import pytest

from orchestrator import bootstrap, errors
from orchestrator.app import setup
from orchestrator.app.kernel import connection_pool, human
from orchestrator.app.kernel.connection_pool import MOST_IDLE, Pool
from orchestrator.app.kernel.context import Context
from tests.drills import field

NOBODY = 65_534


class Counted:
    """Opens contexts on one file, and keeps them."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        self.opened: list[Context] = []

    def __call__(self, write: bool) -> Context:
        found = bootstrap.open_context(
            str(self.path), write=write, door="http", environment={"ORCHESTRATOR_BUSY_TIMEOUT": "0.2"}, shared=True
        )
        self.opened.append(found)
        return found


@pytest.fixture
def counted(tmp_path: pathlib.Path) -> Counted:
    path = tmp_path / "orchestrator.db"
    setup.create_database(path, bootstrap.now())
    return Counted(path)


@pytest.fixture
def pool(counted: Counted) -> Pool:
    return Pool(counted)


def closed(context: Context) -> bool:
    try:
        context.connection.execute("SELECT 1")
    except Exception:
        return True
    return False


def test_a_context_is_kept_between_calls_of_its_kind(pool: Pool, counted: Counted) -> None:
    for _ in range(3):
        with pool.lent() as reading, pool.lent(write=True) as writing:
            assert reading is not writing
    assert len(counted.opened) == 2


def test_nothing_of_a_caller_stays_with_it(pool: Pool) -> None:
    with pool.lent(write=True) as context:
        context.credential, context.proof = human.Credential(human.TERMINAL), {"channel": "terminal"}
    with pool.lent(write=True) as again:
        assert (again is context, again.credential, again.proof) == (True, None, None)


def test_one_that_is_in_a_transaction_is_closed(pool: Pool) -> None:
    with pool.lent(write=True) as context:
        context.connection.execute("BEGIN IMMEDIATE")
    assert closed(context)
    pool.check_writable()


def test_one_whose_file_was_replaced_is_opened_anew(pool: Pool, counted: Counted) -> None:
    with pool.lent() as old:
        pass
    shutil.copy(counted.path, counted.path.with_suffix(".copy"))
    counted.path.with_suffix(".copy").replace(counted.path)
    with pool.lent() as new:
        assert new is not old
    assert closed(old)


def test_one_whose_file_is_gone_or_of_another_version_says_so(pool: Pool, counted: Counted) -> None:
    with pool.lent() as context:
        pass
    aside = counted.path.with_suffix(".aside")
    counted.path.rename(aside)
    with pytest.raises(errors.EnvironmentProblem) as caught, pool.lent():
        pass
    assert (caught.value.code, closed(context)) == ("NO_DATABASE", True)
    assert not counted.path.exists()
    aside.rename(counted.path)
    with pool.lent(write=True) as other:
        other.connection.execute("PRAGMA user_version = 99")
    with pytest.raises(errors.EnvironmentProblem) as caught, pool.lent():
        pass
    assert caught.value.code == "SCHEMA_TOO_NEW"


def test_a_locked_file_cannot_be_written_and_says_so_in_time(pool: Pool, counted: Counted) -> None:
    pool.check_writable()
    holder = counted(True)
    holder.connection.execute("BEGIN IMMEDIATE")
    began = time.monotonic()
    with pytest.raises(errors.EnvironmentProblem) as caught:
        pool.check_writable()
    assert (caught.value.code, time.monotonic() - began < 3) == ("BUSY", True)
    holder.connection.close()
    pool.check_writable()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become a user who may not write everything")
def test_a_file_that_became_read_only_while_it_was_open_cannot_be_written() -> None:
    """Whoever opened it before could write on, but nobody could open it again."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "orchestrator.db")
        setup.create_database(path, bootstrap.now())
        for part in (path.parent, *path.parent.iterdir()):
            os.chown(part, NOBODY, NOBODY)

        def said() -> list[str]:
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            pool, found = Pool(Counted(path)), []
            with pool.lent(write=True):
                pass
            for mode in (0o600, 0o400, 0o600):
                path.chmod(mode)
                try:
                    pool.check_writable()
                    found.append("ok")
                except errors.EnvironmentProblem as problem:
                    found.append(problem.code)
            return found

        ended = field.in_child(said)
    assert (ended.error, ended.value) == (None, ["ok", "READ_ONLY", "ok"])


def test_a_closed_pool_keeps_nothing(pool: Pool, counted: Counted) -> None:
    with pool.lent():
        with pool.lent():
            pass
        pool.close()
    assert all(map(closed, counted.opened))


def test_no_more_are_kept_than_may_be(pool: Pool, counted: Counted) -> None:
    held = [pool.lent() for _ in range(MOST_IDLE + 4)]
    for each in held:
        each.__enter__()
    for each in held:
        each.__exit__(None, None, None)
    assert sum(not closed(context) for context in counted.opened) == MOST_IDLE
    pool.close()


def test_threads_get_one_each(pool: Pool) -> None:
    inside: dict[int, int] = {}
    problems: list[object] = []

    def work() -> None:
        for _ in range(30):
            with pool.lent() as context:
                if inside.setdefault(id(context), threading.get_ident()) != threading.get_ident():
                    problems.append(context)
                context.connection.execute("SELECT count(*) FROM audit_events").fetchone()
                del inside[id(context)]

    threads = [threading.Thread(target=work) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    pool.close()


SPOILT = {
    "overwritten in place": lambda path: path.write_bytes(b"no database" * 40_000),
    "cut off": lambda path: os.truncate(path, 50),
    "emptied": lambda path: os.truncate(path, 0),
}


@pytest.mark.parametrize("how", SPOILT)
def test_what_is_kept_does_not_read_on_in_a_file_that_was_spoilt(how: str, pool: Pool, counted: Counted) -> None:
    with pool.lent() as context:
        context.connection.execute("SELECT count(*) FROM sessions").fetchone()
    SPOILT[how](counted.path)
    with pytest.raises(errors.EnvironmentProblem), pool.lent() as context:
        context.connection.execute("SELECT count(*) FROM sessions").fetchone()
    with pytest.raises(errors.EnvironmentProblem):
        pool.check_writable()
    pool.close()


@pytest.mark.parametrize(("shares", "order"), [(True, ["first", "second"]), (False, ["second", "first"])])
def test_reads_of_a_file_come_one_after_the_other(
    counted: Counted, shares: bool, order: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_pool, "TURN_S", 60)
    pool = Pool(counted, shares_commits=shares)
    ended: list[str] = []

    def second() -> None:
        with pool.read():
            ended.append("second")

    thread = threading.Thread(target=second)
    with pool.read():
        thread.start()
        thread.join(0.01 if shares else 60)
        ended.append("first")
    thread.join()
    pool.close()
    assert ended == order


def test_a_long_read_holds_up_nobody_for_long(counted: Counted, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_pool, "TURN_S", 0.001)
    pool = Pool(counted, shares_commits=True)
    with pool.read(), pool.read():
        pass
    pool.close()
