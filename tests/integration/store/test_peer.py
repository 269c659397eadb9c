"""Another program's database is only read: whatever is wrong with it is said, and the file stays as it was."""

from __future__ import annotations

import os
import pathlib
import sqlite3
from collections.abc import Callable, Iterator

import pytest

from orchestrator.errors import InvalidInput
from orchestrator.store import migrate, peer_reader
from tests.integration.app import peer as peers
from tests.integration.store.conftest import AT, Unprivileged


@pytest.fixture
def file(tmp_path: pathlib.Path) -> pathlib.Path:
    """The incident in a peer's database."""
    folder = tmp_path / "theirs"
    folder.mkdir()
    return peers.incident(folder / "peer.db")


def problems(path: pathlib.Path | str) -> list[str]:
    """The ids of what is wrong with a file, which is as it was afterwards."""
    before = _content(path)
    with pytest.raises(InvalidInput) as caught:
        peer_reader.read(str(path))
    assert _content(path) == before
    assert (caught.value.code, bool(caught.value.suggestion)) == ("PEER_INVALID", True)
    return [each["id"] for each in caught.value.data["problems"]]


def _content(path: pathlib.Path | str) -> dict[str, bytes]:
    folder = pathlib.Path(path).parent
    files = folder.iterdir() if folder.is_dir() else ()
    return {each.name: each.read_bytes() for each in files if each.is_file() and os.access(each, os.R_OK)}


def test_every_table_is_counted_and_four_are_read(file: pathlib.Path) -> None:
    before = _content(file)
    found = peer_reader.read(str(file))
    assert _content(file) == before
    assert (found.name, found.version) == ("peer.db", 19)
    assert {each.name: (each.size, len(each.rows)) for each in found.tables} == {
        "orchestration_logs": (11, 11),
        "schema_version": (1, 0),
        "sessions": (2, 2),
        "sqlite_sequence": (2, 0),
        "success_criteria": (2, 2),
        "task_groups": (7, 7),
        "token_usage": (1, 0),
    }


def _text(path: pathlib.Path) -> None:
    path.write_bytes(b"no database " * 100)


def _cut(path: pathlib.Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) - 5000])


def _garbled(path: pathlib.Path) -> None:
    content = bytearray(path.read_bytes())
    for place in range(4096, len(content), 512):
        content[place : place + 64] = b"\xff" * 64
    path.write_bytes(bytes(content))


def _other(path: pathlib.Path) -> None:
    path.unlink()
    peers.create(path, "CREATE TABLE songs (title)").close()


def _views(path: pathlib.Path) -> None:
    path.unlink()
    peers.create(path, "CREATE VIEW sessions AS SELECT 1; CREATE VIEW task_groups AS SELECT 1").close()


def _columns(path: pathlib.Path) -> None:
    path.unlink()
    peers.create(path, "CREATE TABLE sessions (session_id); CREATE TABLE task_groups (id, status)").close()


def _generated(path: pathlib.Path) -> None:
    path.unlink()
    script = (
        "CREATE TABLE sessions (session_id, status AS (hex(session_id)));"
        " CREATE TABLE task_groups (id, session_id, status); INSERT INTO sessions VALUES ('x')"
    )
    peers.create(path, script).close()


def _ours(path: pathlib.Path) -> None:
    path.unlink()
    migrate.upgrade(path, AT)


def _folder(path: pathlib.Path) -> None:
    path.unlink()
    path.mkdir()


def _pipe(path: pathlib.Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _schema(path: pathlib.Path) -> None:
    raw = sqlite3.connect(path, isolation_level=None)
    raw.execute("PRAGMA writable_schema=ON")
    raw.execute("UPDATE sqlite_master SET sql = 'CREATE TABLE sessions (' WHERE name = 'sessions'")
    raw.close()


@pytest.mark.parametrize(
    ("spoil", "expected"),
    [
        pytest.param(pathlib.Path.unlink, ["missing"], id="no file"),
        pytest.param(lambda path: path.write_bytes(b""), ["empty"], id="empty"),
        pytest.param(lambda path: path.write_bytes(b"x"), ["no_database"], id="one byte"),
        pytest.param(lambda path: path.write_bytes(path.read_bytes()[:60]), ["no_database"], id="half a header"),
        pytest.param(_text, ["no_database"], id="a text"),
        pytest.param(_cut, ["damaged"], id="cut off"),
        pytest.param(_garbled, ["damaged"], id="garbled"),
        pytest.param(_schema, ["damaged"], id="schema that cannot be read"),
        pytest.param(_other, ["missing_table", "missing_table"], id="other tables"),
        pytest.param(_views, ["missing_table", "missing_table"], id="views in place of tables"),
        pytest.param(_columns, ["missing_column", "missing_column"], id="missing columns"),
        pytest.param(_generated, ["runs_sql"], id="columns that run functions"),
        pytest.param(_ours, ["own_database"], id="our own database"),
        pytest.param(_folder, ["no_file"], id="a folder"),
        pytest.param(_pipe, ["no_file"], id="a pipe"),
    ],
)
def test_what_cannot_be_imported_says_why(
    file: pathlib.Path, spoil: Callable[[pathlib.Path], object], expected: list[str]
) -> None:
    spoil(file)
    assert problems(file) == expected


def test_a_path_with_a_nul_is_no_file() -> None:
    with pytest.raises(InvalidInput, match="cannot be read"):
        peer_reader.read("a\0b")


def test_a_file_in_a_file_is_missing(file: pathlib.Path) -> None:
    assert problems(file / "inside") == ["missing"]


def test_a_file_of_somebody_else_may_not_be_read(open_folder: pathlib.Path, unprivileged: Unprivileged) -> None:
    path = peers.incident(open_folder / "peer.db")
    path.chmod(0o000)
    assert unprivileged(lambda: problems(path)) == ["unreadable"]


def test_a_read_only_file_in_a_read_only_folder_is_read(open_folder: pathlib.Path, unprivileged: Unprivileged) -> None:
    path = peers.incident(open_folder / "peer.db")
    raw = sqlite3.connect(path)
    raw.execute("PRAGMA journal_mode=WAL")
    raw.close()
    path.chmod(0o444)
    open_folder.chmod(0o555)
    assert unprivileged(lambda: len(peer_reader.read(str(path)).rows("sessions"))) == 2
    open_folder.chmod(0o755)
    assert os.listdir(open_folder) == ["peer.db"]


@pytest.mark.parametrize("limit", ["FILE_LIMIT", "CONTENT_LIMIT", "CELL_LIMIT"])
def test_what_is_too_large_is_not_read(file: pathlib.Path, limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = sqlite3.connect(file)
    raw.execute("UPDATE sessions SET metadata = ?", ["x" * 50_000])
    raw.commit()
    raw.close()
    monkeypatch.setattr(peer_reader, limit, 40_000)
    assert problems(file) == ["too_large"]


@pytest.fixture
def writer(file: pathlib.Path) -> Iterator[sqlite3.Connection]:
    """Somebody who has the file open in WAL mode, with a change that stands in the log alone."""
    raw = sqlite3.connect(file, isolation_level=None)
    raw.execute("PRAGMA journal_mode=WAL")
    raw.execute("PRAGMA wal_autocheckpoint=0")
    raw.execute("UPDATE sessions SET original_requirements = 'in the log'")
    yield raw
    raw.close()


def test_what_stands_in_a_log_beside_the_file_is_read(file: pathlib.Path, writer: sqlite3.Connection) -> None:
    before = _content(file)
    assert set(before) == {"peer.db", "peer.db-wal", "peer.db-shm"}
    assert {row["original_requirements"] for row in peer_reader.read(str(file)).rows("sessions")} == {"in the log"}
    assert _content(file) == before


def test_a_file_that_changes_meanwhile_is_not_imported(file: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = peer_reader._read

    def slow(connection: sqlite3.Connection, path: str) -> object:
        found = read(connection, path)
        raw = sqlite3.connect(file)
        raw.execute("DELETE FROM token_usage")
        raw.commit()
        raw.close()
        return found

    monkeypatch.setattr(peer_reader, "_read", slow)
    with pytest.raises(InvalidInput) as caught:
        peer_reader.read(str(file))
    assert [each["id"] for each in caught.value.data["problems"]] == ["changed"]


@pytest.mark.parametrize("name", ["a?b%20#.db", " .db", "\u00fc\U0001f600.db", "-x.db", "a'b\".db"])
def test_every_character_of_a_path_is_meant_literally(tmp_path: pathlib.Path, name: str) -> None:
    path = peers.incident(tmp_path / name)
    assert peer_reader.read(str(path)).name == name


def test_tables_that_would_run_something_are_named_and_not_read(file: pathlib.Path) -> None:
    raw = sqlite3.connect(file)
    raw.executescript(
        "CREATE VIRTUAL TABLE search USING fts5(words); CREATE VIEW all_logs AS SELECT * FROM orchestration_logs;"
        " CREATE TRIGGER nosy AFTER INSERT ON sessions BEGIN DELETE FROM sessions; END;"
        ' CREATE TABLE "a""; DROP TABLE sessions; --" (x); INSERT INTO "a""; DROP TABLE sessions; --" VALUES (1);'
    )
    raw.close()
    found = {each.name: each.size for each in peer_reader.read(str(file)).tables}
    assert (found["search"], found['a"; DROP TABLE sessions; --'], found["sessions"]) == (None, 1, 2)
    assert "all_logs" not in found


def test_values_of_any_type_are_read(file: pathlib.Path) -> None:
    raw = sqlite3.connect(file)
    raw.execute("UPDATE orchestration_logs SET content = CAST(x'ff00' AS TEXT) WHERE id = 1")
    raw.execute("UPDATE orchestration_logs SET content = x'00ff' WHERE id = 2")
    raw.execute("UPDATE orchestration_logs SET content = 1.5 WHERE id = 3")
    raw.commit()
    raw.close()
    values = [row["content"] for row in peer_reader.read(str(file)).rows("orchestration_logs")[:3]]
    assert values == ["\udcff\0", b"\x00\xff", "1.5"]
