"""`audit export` and `audit import`: a session as a file, and that file told again elsewhere, or refused."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import pathlib
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestrator import Orchestrator, testing
from orchestrator.app import setup
from orchestrator.app.audit import export_session, import_session, replay_comparison
from orchestrator.app.kernel.context import Context
from orchestrator.core import export_format
from orchestrator.core.routing import engine
from orchestrator.errors import OrchestratorError
from orchestrator.store import constants, declared_schema, import_database, memory, schema, sqlite, verify_chain
from tests.acceptance import walking
from tests.integration.app.test_replayed import OUTSIDERS, SAID_BEFORE, STORY, other_rules, played

AT = "2026-03-01T00:00:00.000000Z"


def lines(context: Context) -> list[bytes]:
    return b"".join(export_session.stream(context, "S1", "jsonl")).splitlines(keepends=True)


def rows(connection: sqlite3.Connection, *, of: str = "S1") -> dict[str, list[Any]]:
    """Every row that belongs to a session or to none, by table."""
    found = {}
    for name in schema.metadata.tables:
        cursor = connection.execute(f'SELECT * FROM "{name}"')
        columns = [each[0] for each in cursor.description]
        own = [dict(zip(columns, row, strict=True)) for row in cursor]
        key = "id" if name == "sessions" else "session_id"
        kept = [row for row in own if row.get(key) in (None, of, "@store")]
        found[name] = sorted((list(row.values()) for row in kept), key=repr)
    return found


@contextlib.contextmanager
def in_memory(path: str, at: str) -> Iterator[sqlite.Connection]:
    connection = memory.connect()
    yield connection
    connection.close()


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, list[Any]]]:
    """Imports that are built in memory; what would have been put in place is kept here."""
    put: list[dict[str, list[Any]]] = []
    monkeypatch.setattr(import_database, "aside", in_memory)
    monkeypatch.setattr(import_database, "put", lambda connection, *_: put.append(rows(connection)))
    return put


@pytest.fixture
def file(tmp_path: pathlib.Path) -> Callable[[list[bytes]], str]:
    def write(content: list[bytes]) -> str:
        (tmp_path / "export.jsonl").write_bytes(b"".join(content))
        return str(tmp_path / "export.jsonl")

    return write


def refused(path: pathlib.Path, export: str) -> OrchestratorError:
    with pytest.raises(OrchestratorError) as caught:
        import_session.import_file(str(path), export, AT)
    return caught.value


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32), steps=st.integers(0, 40))
def test_any_story_is_equal_after_export_and_import(
    quick: list[dict[str, list[Any]]], tmp_path: pathlib.Path, seed: int, steps: int
) -> None:
    walk = walking.Walk(seed)
    walk.go(steps)
    export = tmp_path / "export.jsonl"
    export.write_bytes(b"".join(lines(walk.context)))
    answer = import_session.import_file(str(tmp_path / "other.db"), str(export), AT)
    assert quick.pop() == rows(walk.context.connection)
    assert answer["head"] == replay_comparison.replay(walk.context, session_id="S1")["head"]


@pytest.mark.parametrize(
    "story",
    [
        pytest.param(STORY, id="two sessions"),
        pytest.param(OUTSIDERS, id="outsiders"),
        pytest.param(SAID_BEFORE, id="a message that another session had first"),
    ],
)
def test_an_import_into_a_new_file_verifies(
    story: tuple[walking.Op, ...], tmp_path: pathlib.Path, file: Callable[[list[bytes]], str]
) -> None:
    context, path = played(story), tmp_path / "new" / "other.db"
    import_session.import_file(str(path), file(lines(context)), AT)
    connection = sqlite.connect(path, write=False)
    actual, expected = rows(connection), rows(context.connection)
    assert actual == expected
    assert list(verify_chain.broken(connection, "S1")) == []
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()
    assert [each.name for each in path.parent.iterdir() if not each.name.startswith("other.db")] == []
    assert path.stat().st_mode & 0o777 == 0o600


def test_what_was_imported_can_be_exported_again_and_is_the_same_file(
    tmp_path: pathlib.Path, file: Callable[[list[bytes]], str]
) -> None:
    context, path = played(OUTSIDERS), tmp_path / "other.db"
    first = lines(context)
    import_session.import_file(str(path), file(first), AT)
    again = Context(
        sqlite.connect(path, write=False), path=str(path), clock=testing.Clock(), door="x", channel="x", deadline_s=1.0
    )
    assert lines(again) == first
    again.connection.close()


def initialised(path: pathlib.Path) -> Context:
    setup.create_database(path, AT)
    context = Context(
        sqlite.connect(path, write=True), path=str(path), clock=testing.Clock(), door="x", channel="x", deadline_s=1.0
    )
    setup.initialise(context)
    return context


def guards(connection: sqlite3.Connection) -> list[tuple[str, str, str]]:
    """All that is declared in a database; white space between words says nothing."""
    found = connection.execute("SELECT type, name, sql FROM sqlite_master ORDER BY 1, 2")
    return [(kind, name, declared_schema.normalised(sql or "")) for kind, name, sql in found]


def test_a_database_that_only_init_has_written_to_is_empty(
    tmp_path: pathlib.Path, file: Callable[[list[bytes]], str]
) -> None:
    path = tmp_path / "other.db"
    initialised(path).connection.close()
    context = played()
    import_session.import_file(str(path), file(lines(context)), AT)
    connection = sqlite.connect(path, write=False)
    assert rows(connection) == rows(context.connection)
    whole = initialised(tmp_path / "whole.db").connection
    assert guards(connection) == guards(whole)
    whole.close()
    connection.close()


@pytest.mark.parametrize("trigger", ["DELETE ON audit_events", "INSERT ON agent_reports"])
def test_an_import_from_which_a_foreign_trigger_takes_rows_is_none(
    tmp_path: pathlib.Path, file: Callable[[list[bytes]], str], trigger: str
) -> None:
    path = tmp_path / "other.db"
    target = initialised(path)
    target.connection.execute(f"CREATE TRIGGER skips BEFORE {trigger} BEGIN SELECT RAISE(IGNORE); END")
    target.connection.close()
    before = path.read_bytes()
    problem = refused(path, file(lines(played())))
    table = trigger.rpartition(" ")[2]
    assert (problem.code, problem.exit_code, path.read_bytes() == before) == ("CORRUPT", 5, True)
    assert f"a row of {table} was skipped" in problem.message


@pytest.mark.parametrize(
    ("session", "code"), [pytest.param("S1", "ALREADY_EXISTS", id="it"), pytest.param("S3", "NOT_EMPTY", id="another")]
)
def test_a_database_with_a_session_is_left_as_it_is(
    tmp_path: pathlib.Path, file: Callable[[list[bytes]], str], session: str, code: str
) -> None:
    path = tmp_path / "other.db"
    target = initialised(path)
    walking.perform(target, walking.Op("session create", {"id": session}))
    target.connection.close()
    before = path.read_bytes()
    problem = refused(path, file(lines(played())))
    assert (problem.code, problem.exit_code, path.read_bytes() == before) == (code, 3, True)


def test_a_session_that_comes_in_meanwhile_wins(
    tmp_path: pathlib.Path, file: Callable[[list[bytes]], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the first look and the end another process begins to work in the database."""
    path, check = tmp_path / "other.db", import_session._Intake.check

    def meanwhile(self: Any) -> None:
        check(self)
        context = initialised(path)
        walking.perform(context, walking.Op("session create", {"id": "S7"}))
        context.connection.close()

    monkeypatch.setattr(import_session._Intake, "check", meanwhile)
    assert refused(path, file(lines(played()))).code == "NOT_EMPTY"
    connection = sqlite.connect(path, write=False)
    assert connection.execute("SELECT id FROM sessions").fetchall() == [("S7",)]
    connection.close()


def cut(content: list[bytes], at: int) -> list[bytes]:
    return [*content[:at], *content[at + 1 :]]


def ended(content: list[bytes], at: int) -> list[bytes]:
    return content[:at]


def halved(content: list[bytes], at: int) -> list[bytes]:
    return [*content[:at], content[at][: len(content[at]) // 2]]


def doubled(content: list[bytes], at: int) -> list[bytes]:
    return [*content[: at + 1], *content[at:]]


def swapped(content: list[bytes], at: int) -> list[bytes]:
    other = (at + 1) % len(content)
    found = list(content)
    found[at], found[other] = found[other], found[at]
    return found


def altered(content: list[bytes], at: int) -> list[bytes]:
    """One letter or digit of the line is another one."""
    line = content[at]
    place = next(each for each in range(len(line) // 2, len(line)) if chr(line[each]).isalnum())
    other = b"1" if line[place : place + 1] != b"1" else b"2"
    return [*content[:at], line[:place] + other + line[place + 1 :], *content[at + 1 :]]


@pytest.mark.parametrize("change", [cut, ended, halved, doubled, swapped, altered], ids=lambda each: each.__name__)
def test_every_change_of_a_single_line_is_refused(
    quick: list[Any], tmp_path: pathlib.Path, file: Callable[[list[bytes]], str], change: Callable[..., list[bytes]]
) -> None:
    whole = lines(played(OUTSIDERS))
    for at in range(len(whole)):
        problem = refused(tmp_path / "other.db", file(change(whole, at)))
        assert problem.code.startswith(("IMPORT_", "SCHEMA_")), (at, problem.code)
        assert problem.exit_code in (4, 5)
        assert str(problem.data["line"]) in problem.message
        assert problem.suggestion != ""
    assert quick == []


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_other_byte_anywhere_is_refused(quick: list[Any], tmp_path: pathlib.Path, data: st.DataObject) -> None:
    whole = b"".join(SHORT)
    place = data.draw(st.integers(0, len(whole) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda each: each != whole[place]))
    export = tmp_path / "export.jsonl"
    export.write_bytes(whole[:place] + bytes([byte]) + whole[place + 1 :])
    assert refused(tmp_path / "other.db", str(export)).exit_code in (4, 5)
    assert quick == []


SHORT = lines(played(STORY[:1]))
HEADER = json.loads(SHORT[0])


def header(**changed: Any) -> list[bytes]:
    line = {"format": {**HEADER["format"], **changed}, "line": 1}
    return [json.dumps(line).encode() + b"\n", *SHORT[1:]]


BAD = [
    pytest.param([], "IMPORT_EMPTY", 4, id="an empty file"),
    pytest.param([b"\n"], "IMPORT_NOT_JSON", 4, id="an empty line"),
    pytest.param([b"hello\n"], "IMPORT_NOT_JSON", 4, id="no JSON"),
    pytest.param([b"SQLite format 3\0\xff\n"], "IMPORT_NOT_TEXT", 4, id="a database"),
    pytest.param([b'{"op": "route"}\n'], "IMPORT_FOREIGN", 4, id="lines of a batch"),
    pytest.param([b"[1]\n"], "IMPORT_FOREIGN", 4, id="a list"),
    pytest.param([b'{"format": NaN}\n'], "IMPORT_NOT_JSON", 4, id="a number that is none"),
    pytest.param([b'{"line":1,"line":1}\n'], "IMPORT_NOT_JSON", 4, id="a key twice"),
    pytest.param([b'{"format":{"name":"other"},"line":1}\n'], "IMPORT_FOREIGN", 4, id="another format"),
    pytest.param([b"\xef\xbb\xbf" + SHORT[0], *SHORT[1:]], "IMPORT_BOM", 4, id="a byte order mark"),
    pytest.param([line[:-1] + b"\r\n" for line in SHORT], "IMPORT_LINE_ENDS", 4, id="CRLF"),
    pytest.param([b"".join(SHORT).decode().encode("utf-16")], "IMPORT_NOT_TEXT", 4, id="UTF-16"),
    pytest.param(SHORT[:-1], "IMPORT_CUT", 4, id="the last line is missing"),
    pytest.param([*SHORT[:-1], SHORT[-1][:-1]], "IMPORT_CUT", 4, id="the last line break is missing"),
    pytest.param(cut(SHORT, 2), "IMPORT_CUT", 4, id="a line is missing"),
    pytest.param(swapped(SHORT, 1), "IMPORT_REORDERED", 4, id="two lines are swapped"),
    pytest.param(doubled(SHORT, 1), "IMPORT_REPEATED", 4, id="a line stands twice"),
    pytest.param([*SHORT, b"{}\n"], "IMPORT_FOREIGN", 4, id="something behind the end"),
    pytest.param([*SHORT[:2], b"{}\n"], "IMPORT_FOREIGN", 4, id="another object"),
    pytest.param([SHORT[0].replace(b'":', b'": '), *SHORT[1:]], "IMPORT_ALTERED", 4, id="spaces put in"),
    pytest.param(header(version=export_format.VERSION + 1), "IMPORT_TOO_NEW", 5, id="a newer format"),
    pytest.param(
        [export_format.Writer().line("format", {**HEADER["format"], "schema": constants.SCHEMA_VERSION + 1})],
        "SCHEMA_TOO_NEW",
        5,
        id="a newer schema",
    ),
]


@pytest.mark.parametrize(("content", "code", "exit_code"), BAD)
def test_bad_input_has_a_code_of_its_own(
    quick: list[Any], tmp_path: pathlib.Path, file: Callable[[list[bytes]], str],
    content: list[bytes], code: str, exit_code: int,
) -> None:  # fmt: skip
    problem = refused(tmp_path / "other.db", file(content))
    assert (problem.code, problem.exit_code) == (code, exit_code)
    assert isinstance(problem.data["line"], int)
    assert quick == []


CONTRADICTIONS = [
    pytest.param({"rules_version": 99}, "RULES_DIFFER", id="newer rules"),
    pytest.param({"rules_version": 1}, "IMPORT_ALTERED", id="rules older than those of an event"),
    *(
        pytest.param({name: value}, "IMPORT_FOREIGN", id=f"{name} {value!r}")
        for name, values in {
            "rules_version": ("x", 0, -3, None, True, "4"), "schema": (0, -3, "x", None, True),
            "session": (1, None), "heads": ([], None), "extra": (1,), "version": (0, -1),
        }.items()
        for value in values
    ),
    pytest.param({"version": 1, "schema": 9}, "IMPORT_ALTERED", id="the first format under a newer schema"),
]  # fmt: skip


@pytest.mark.parametrize(("changed", "code"), CONTRADICTIONS)
def test_a_header_that_contradicts_itself_is_refused(
    quick: list[Any], tmp_path: pathlib.Path, file: Any, changed: dict[str, Any], code: str
) -> None:
    content = rewritten(played(), lambda line: line.get("format", {}).update(changed))
    assert (refused(tmp_path / "other.db", file(content)).code, quick) == (code, [])


@pytest.mark.parametrize("member", sorted(export_format.HEADER_MEMBERS))
def test_a_header_without_one_of_its_members_is_refused(
    quick: list[Any], tmp_path: pathlib.Path, file: Any, member: str
) -> None:
    content = rewritten(played(), lambda line: line.get("format", {}).pop(member, None))
    assert (refused(tmp_path / "other.db", file(content)).code, quick) == ("IMPORT_FOREIGN", [])


def rewritten(context: Context, change: Callable[[dict[str, Any]], None]) -> list[bytes]:
    """An export whose lines were changed by somebody who then hashed the file anew."""
    writer = export_format.Writer()
    found = []
    for line in map(json.loads, lines(context)[:-1]):
        line.pop("line")
        change(line)
        ((member, value),) = line.items()
        found.append(writer.line(member, value))
    return [*found, writer.end()]


def test_a_forged_event_does_not_have_its_hash(quick: list[Any], tmp_path: pathlib.Path, file: Any) -> None:
    def forge(line: dict[str, Any]) -> None:
        if line.get("event", {}).get("kind") == "route":
            line["event"]["actor"] = "eve"

    problem = refused(tmp_path / "other.db", file(rewritten(played(), forge)))
    assert (problem.code, quick) == ("IMPORT_ALTERED", [])


def test_a_chain_that_was_computed_anew_comes_out_otherwise(
    quick: list[Any], tmp_path: pathlib.Path, file: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody records what never was decided, every hash in order."""
    decide = engine.decide
    with monkeypatch.context() as patch:
        patch.setattr(engine, "decide", lambda case: decide(case)._replace(model="forged"))
        content = lines(played())
    problem = refused(tmp_path / "other.db", file(content))
    assert (problem.code, problem.exit_code, quick) == ("IMPORT_DIFFERS", 4, [])


def test_what_other_rules_decide_otherwise_is_said_to_be_so(
    quick: list[Any], tmp_path: pathlib.Path, file: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = lines(played())
    other_rules(monkeypatch, lambda decision: decision)
    import_session.import_file(str(tmp_path / "other.db"), file(content), AT)
    assert len(quick) == 1
    other_rules(monkeypatch, lambda decision: decision._replace(model="another"))
    problem = refused(tmp_path / "other.db", file(content))
    assert (problem.code, problem.exit_code) == ("RULES_DIFFER", 5)


def test_a_failed_import_leaves_no_file_and_no_folder(tmp_path: pathlib.Path, file: Any) -> None:
    path = tmp_path / "new" / "other.db"
    assert refused(path, file(altered(lines(played()), 6))).code == "IMPORT_ALTERED"
    assert not path.parent.exists()


@pytest.mark.parametrize("name", ["", ".", "nowhere.jsonl", "a\0b"])
def test_what_cannot_be_read_is_named(tmp_path: pathlib.Path, name: str) -> None:
    problem = refused(tmp_path / "other.db", name)
    assert (problem.code, problem.exit_code) == ("FILE_UNREADABLE", 5)


def test_an_export_is_a_new_file_of_its_owner(tmp_path: pathlib.Path) -> None:
    context, path = played(), tmp_path / "s1.jsonl"
    answer = export_session.export(context, session_id="S1", output=str(path))
    assert (answer["lines"], answer["bytes"], answer["output"]) == (
        len(lines(context)), path.stat().st_size, str(path),
    )  # fmt: skip
    assert path.stat().st_mode & 0o777 == 0o600
    with pytest.raises(OrchestratorError) as caught:
        export_session.export(context, session_id="S1", output=str(path))
    assert caught.value.code == "ALREADY_EXISTS"
    assert path.read_bytes() == b"".join(lines(context))


@pytest.mark.parametrize(
    ("name", "code"),
    [pytest.param("nowhere/s1", "OUTPUT_FAILED", id="no folder"), pytest.param("", "USAGE", id="no name")],
)
def test_an_export_that_cannot_be_written_is_named(tmp_path: pathlib.Path, name: str, code: str) -> None:
    with pytest.raises(OrchestratorError) as caught:
        export_session.export(played(), session_id="S1", output=str(tmp_path / name) if name else name)
    assert (caught.value.code, list(tmp_path.iterdir())) == (code, [])


def test_an_export_that_breaks_off_leaves_nothing(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export_session, "_event", lambda event, hide: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        export_session.export(played(), session_id="S1", output=str(tmp_path / "s1.jsonl"))
    assert list(tmp_path.iterdir()) == []


def test_the_table_has_a_row_for_each_event_and_no_formula() -> None:
    context = testing.memory_context()
    for op in (*STORY, walking.report("developer", "MERGE_SUCCESS", "A", summary='=1+1,"ö"\r\n')):
        walking.perform(context, op)
    walking.perform(context, walking.Op("route", {
        "session_id": "S1", "group_id": "A", "current_agent": "=cmd|' /C calc'!A0", "status": "@SUM(A1)",
    }))  # fmt: skip
    text = b"".join(export_session.stream(context, "S1", "csv")).decode()
    assert text.count("\r\n") >= 9
    table = list(csv.DictReader(io.StringIO(text, newline="")))
    recorded = context.connection.execute(
        "SELECT seq, hash, input FROM audit_events WHERE session_id = 'S1' ORDER BY seq"
    ).fetchall()
    assert [(int(row["seq"]), row["hash"], row["input"]) for row in table] == [
        (seq, hash_.hex(), given) for seq, hash_, given in recorded
    ]
    cells = [cell for row in table for cell in row.values()]
    assert [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))] == []
    assert table[-1]["actor"] == "'=cmd|' /C calc'!A0"


def test_a_long_session_is_exported_page_by_page(monkeypatch: pytest.MonkeyPatch) -> None:
    context = played()
    whole = b"".join(export_session.stream(context, "S1", "csv"))
    monkeypatch.setattr(export_session, "_PAGE", 2)
    assert b"".join(export_session.stream(context, "S1", "csv")) == whole


def test_a_python_program_exports_and_imports(tmp_path: pathlib.Path) -> None:
    with Orchestrator.create(tmp_path / "one.db") as one:
        one.session_create("S1")
        exported = one.audit_export("S1", output=str(tmp_path / "s1.jsonl"))
    with Orchestrator.audit_import(tmp_path / "s1.jsonl", f"sqlite:///{tmp_path}/two.db") as two:
        replay = two.audit_replay("S1", strict=True)
        then = two.status("S1", at_seq=1)
    assert (replay["equal"], replay["head"], then["as_of"]["seq"]) == (True, exported["head"], 1)


def test_nothing_of_other_sessions_is_in_an_export() -> None:
    assert b"another goal" not in b"".join(lines(played()))


def test_a_database_file_that_is_read_only_is_left_as_it_is(tmp_path: pathlib.Path, file: Any) -> None:
    """A file that is no database at all is never replaced."""
    path = tmp_path / "other.db"
    shutil.copy(__file__, path)
    before = path.read_bytes()
    assert refused(path, file(lines(played()))).code == "CORRUPT"
    assert path.read_bytes() == before
