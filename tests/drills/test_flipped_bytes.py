"""Bytes of a database that the disk has changed: every command answers with a code of its own."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from typing import Any

import hypothesis
import pytest

from orchestrator import bootstrap
from orchestrator.doors.cli import main
from orchestrator.store import inquiries, restore, text_damage
from tests import forging
from tests.conftest import LONG, long_form
from tests.drills import field

CODES = (0, 1, 2, 3, 5)
READERS: tuple[tuple[str, ...], ...] = (
    ("status",), ("status", "S1"), ("why", "G0", "-s", "S1"), ("group", "show", "G0", "-s", "S1"), ("inbox",),
    ("group", "list", "-s", "S1"), ("session", "list"), ("agent", "list"), ("task", "list", "-s", "S1"),
    ("next", "--session-id", "S1"), ("handoff", "G0", "-s", "S1"), ("blocker", "list", "-s", "S1"),
    ("audit", "decisions", "-s", "S1"), ("audit", "timeline", "-s", "S1"), ("audit", "gaps", "-s", "S1"),
    ("audit", "stats", "-s", "S1"), ("audit", "refusals", "-s", "S1"), ("audit", "verify"), ("audit", "verify", "S1"),
    ("audit", "replay", "S1"), ("audit", "head"), ("audit", "export", "S1", "--output", "-"),
    ("validate", "S1", "--dry-run"), ("workflow", "show"), ("db", "check"), ("db", "current"), ("doctor",),
)  # fmt: skip
FLIPS = 400 if LONG else 4
TEXTS = (
    ("agent_reports", "summary"), ("agent_reports", "details"), ("router_decisions", "action"), ("sessions", "goal"),
    ("task_groups", "name"), ("task_groups", "status"), ("audit_events", "input"), ("audit_events", "actor"),
    ("audit_events", "at"), ("audit_events", "rows"), ("status_changes", "reason"), ("agents", "id"),
    ("sessions", "id"), ("workflow_versions", "content"), ("refusals", "detail"),
)  # fmt: skip


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A database with reports, decisions, refusals and blockers, all of it in one file."""
    path = field.create(tmp_path_factory.mktemp("flipped") / "o.db", groups=2)
    with field.opened(path) as context:
        field.call(context, "session create", id="S2", goal="a goal with words")
        for group in ("G0", "G1"):
            field.call(context, "route", **field.partial(group, summary="a summary", details={"files": ["a"]}))
        blocked = {**field.partial("G0", summary="no key"), "status": "BLOCKED"}
        field.call(context, "route", **blocked)
        with pytest.raises(Exception, match="turn"):
            field.call(context, "route", **blocked, turn=1)
        context.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path


@pytest.fixture
def path(template: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    monkeypatch.setenv("ORCHESTRATOR_DB", str(tmp_path / "o.db"))
    monkeypatch.setenv("ORCHESTRATOR_BUSY_TIMEOUT", "0.2")
    return pathlib.Path(shutil.copy(template, tmp_path / "o.db"))


def code(capfd: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    """The exit code and what was said; a fault of the program shows where it came from."""
    found = main.main([*words, "--json", "--debug"])
    said = capfd.readouterr()
    return found, said.out + said.err


def each_reader(
    capfd: pytest.CaptureFixture[str], number: int | None = None
) -> Iterator[tuple[tuple[str, ...], int, str]]:
    """What each reader says; in the short form those whose turn the number is, every other one."""
    for words in READERS if LONG or number is None else READERS[number % 2 :: 2]:
        yield words, *code(capfd, *words)


def flip(path: pathlib.Path, chance: random.Random) -> str:
    content = bytearray(path.read_bytes())
    place, bit = chance.randrange(len(content)), 1 << chance.randrange(8)
    content[place] ^= bit
    path.write_bytes(content)
    return f"byte {place}, bit {bit}"


def cut(path: pathlib.Path, chance: random.Random) -> str:
    size = chance.randrange(path.stat().st_size)
    os.truncate(path, size)
    return f"cut to {size}"


def smear(path: pathlib.Path, chance: random.Random) -> str:
    place = chance.randrange(path.stat().st_size - 64)
    with open(path, "r+b") as file:
        file.seek(place)
        file.write(chance.randbytes(64))
    return f"64 bytes at {place}"


@pytest.mark.slow
@pytest.mark.parametrize("harm", [flip, cut, smear])
def test_every_reader_answers_and_a_restore_brings_all_back(
    path: pathlib.Path, template: pathlib.Path, capfd: pytest.CaptureFixture[str],
    harm: Callable[[pathlib.Path, random.Random], str],
) -> None:  # fmt: skip
    chance = "1" if hypothesis.settings.default.derandomize else os.urandom(3).hex()
    seed = os.environ.get("ORCHESTRATOR_FLIP_SEED", chance)
    for number in range(FLIPS):
        shutil.copy(template, path)
        where = harm(path, random.Random(f"{seed} {number}"))  # noqa: S311 - repeatable, and no secret
        for words, found, said in each_reader(capfd, number):
            assert found in CODES, (seed, number, where, words, said)
    kept = path.with_name("kept.db")
    shutil.copy(template, kept)
    restore.restore(path, kept, field.AT, actor="system:router", deadline=0.2)
    assert code(capfd, "audit", "verify")[0] == 0


@pytest.mark.parametrize(
    ("table", "column"),
    [pytest.param(*each, marks=() if place % 3 == 0 else long_form) for place, each in enumerate(TEXTS)],
)
def test_a_byte_that_is_no_text_is_named_by_all_who_look_for_it(
    path: pathlib.Path, capfd: pytest.CaptureFixture[str], table: str, column: str
) -> None:
    where = damage(path, table, column)
    for words, found, said in each_reader(capfd, TEXTS.index((table, column))):
        assert found in CODES, (words, said)
        if found == 5 and words[0] != "doctor":
            # An export that breaks off has printed what it had read until then.
            assert json.loads(said.splitlines()[-1])["code"] == "CORRUPT"
    for words in (("audit", "verify"), ("db", "check"), ("doctor",)):
        found, said = code(capfd, *words)
        assert found == 1, (words, said)
        assert f"table {table}, row {json.dumps(where)[1:-1]}" in said, (words, said)
        assert f"column {column} is not UTF-8" in said


def damage(path: pathlib.Path, table: str, column: str) -> str:
    """Put a byte that is no text into the first row of a table that has a text there; return how the row is named."""
    with unguarded(path) as connection:
        (text,) = connection.execute(f"SELECT {column} FROM {table} WHERE length({column}) > 1 LIMIT 1").fetchone()
        bad = text.encode()[:-1] + b"\xff"
        given = {"bad": bad, "text": text}
        sql = f"UPDATE {table} SET {column} = CAST(:bad AS TEXT) WHERE {column} = :text"
        connection.execute(sql, given)
        (first, *_) = text_damage.damages(connection)
    return first.row


@contextlib.contextmanager
def unguarded(path: pathlib.Path) -> Iterator[sqlite3.Connection]:
    """A connection that may write anything; its guards are put back afterwards."""
    with field.plain(path) as connection:
        connection.execute("PRAGMA foreign_keys=OFF")
        connection.execute("PRAGMA ignore_check_constraints=ON")
        triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        yield connection
        for _, sql in triggers:
            connection.execute(sql)


def test_a_sound_database_has_no_damage_and_a_fault_of_ours_stays_one(path: pathlib.Path) -> None:
    with field.plain(path) as connection:
        assert list(text_damage.damages(connection)) == []
    assert bootstrap.environment_problem(ValueError("ours"), str(path)) is None


def test_a_value_that_cannot_be_read_is_the_files_fault(path: pathlib.Path) -> None:
    with unguarded(path) as connection:
        connection.execute("UPDATE sessions SET goal = 'another' WHERE id = 'S2'")
    found = bootstrap.environment_problem(ValueError("not ours"), str(path))
    assert found is not None
    assert (found.code, "Row S2 of sessions is not as step" in found.message) == ("CORRUPT", True)


def test_json_of_another_shape_is_the_files_fault_also_where_it_is_put_into_words(
    path: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with unguarded(path) as connection:
        connection.execute("UPDATE router_decisions SET rules = '12345'")
    assert main.main(["audit", "decisions", "--session-id", "S1"]) == 5
    assert capfd.readouterr().err.startswith("error CORRUPT: ")


def test_rows_that_are_not_read_to_the_end_outlive_their_database_quietly(path: pathlib.Path) -> None:
    with field.plain(path) as connection:
        rows = inquiries.stream(connection, "SELECT id FROM sessions")
        assert next(rows)
    connection.close()
    rows.close()


def test_every_flip_inside_a_hashed_text_is_found(path: pathlib.Path, template: pathlib.Path, capfd: Any) -> None:
    content = template.read_bytes()
    for text in (b"a goal with words", b"a summary", b"no key"):
        places = [place for place in range(len(content)) if content.startswith(text, place)]
        assert places
        for place in places:
            changed = bytearray(content)
            changed[place + 1] ^= 1
            path.write_bytes(changed)
            assert code(capfd, "audit", "verify")[0] in (1, 5), (text, place)


def test_a_number_that_is_a_word_is_no_fault_of_ours(path: pathlib.Path, capfd: pytest.CaptureFixture[str]) -> None:
    with unguarded(path) as connection:
        connection.execute("UPDATE sessions SET turn_timeout = 'soon'")
    for words, found, said in each_reader(capfd):
        assert found in CODES, (words, said)


@pytest.mark.parametrize(("table", "column"), [("agent_reports", "summary"), ("task_groups", "name")])
def test_a_damaged_text_is_found_though_every_hash_was_made_to_fit(
    path: pathlib.Path, capfd: pytest.CaptureFixture[str], table: str, column: str
) -> None:
    with forging.unguarded(path) as raw:
        raw.execute(f"UPDATE {table} SET {column} = CAST(x'61ff' AS TEXT)")
        forging.recompute(raw, "S1")
        raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    found, said = code(capfd, "audit", "verify")
    answer = json.loads(said)
    assert found == 1
    assert set(answer["counts"]) == {"TEXT_DAMAGED"}
    assert {each["table"] for each in answer["findings"]} == {table}
