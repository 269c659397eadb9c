"""`audit replay`, `audit export`, `audit import` and `--at` through the command."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys

import pytest

from tests.integration.cli.conftest import Ask, Run, clean_environment

JSON = "--json"


@pytest.fixture
def worked(run: Run) -> Run:
    """The prepared database, after some work in it."""
    for words in (("route", "pm", "PLANNING_COMPLETE"), ("route", "developer", "READY_FOR_QA", "-g", "A")):
        assert run(*words, "-s", "S1").returncode == 0
    return run


def exported(run: Run, path: pathlib.Path) -> pathlib.Path:
    done = run("audit", "export", "S1", "--output", str(path))
    assert done.returncode == 0, done.stderr
    return path


@pytest.mark.parametrize(
    ("name", "status"), [pytest.param("there", 3, id="exists"), pytest.param("no/such/folder", 5, id="no folder")]
)
def test_an_export_that_cannot_be_written_says_so_in_one_error(
    run: Run, tmp_path: pathlib.Path, name: str, status: int
) -> None:
    (tmp_path / "there").write_text("kept")
    done = run("audit", "export", "S1", "--output", str(tmp_path / name))
    assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (status, b"", 2)
    assert b"Traceback" not in done.stderr
    assert (tmp_path / "there").read_text() == "kept"


@pytest.mark.parametrize("notation", ["jsonl", "csv", "html"])
def test_a_hyphen_stands_for_stdout(run: Run, tmp_path: pathlib.Path, notation: str) -> None:
    plain = run("audit", "export", "S1", "--format", notation)
    named = run("audit", "export", "S1", "--format", notation, "--output", "-")
    assert (named.returncode, named.stdout) == (0, plain.stdout)
    assert plain.stdout
    assert not (tmp_path / "-").exists()


def test_a_batch_has_no_stdout_for_a_document(run: Run, tmp_path: pathlib.Path) -> None:
    line = json.dumps({"op": "audit export", "args": {"session_id": "S1", "output": "-"}})
    answer = json.loads(run("batch", stdin=line.encode()).stdout)
    assert (answer["code"], answer["suggestion"]) == ("USAGE", "Repeat with --output FILE")
    assert not (tmp_path / "-").exists()


def test_a_database_is_not_copied_to_stdout(run: Run, tmp_path: pathlib.Path) -> None:
    done = run("db", "backup", "-")
    assert (done.returncode, done.stdout) == (64, b"")
    assert b"orchestrator db backup FILE" in done.stderr
    assert not (tmp_path / "-").exists()


def test_a_replay_says_in_words_that_all_is_as_recorded(worked: Run) -> None:
    done = worked("audit", "replay", "S1")
    assert done.returncode == 0
    assert b"every decision and row matches the record" in done.stdout


def test_a_replay_needs_no_right_to_write(worked: Run, database: pathlib.Path) -> None:
    assert worked("audit", "replay", "S1").returncode == 0
    database.chmod(0o400)
    before = database.read_bytes()
    assert worked("audit", "replay", "S1").returncode == 0
    assert database.read_bytes() == before


def test_an_altered_decision_is_exit_1_and_named(worked: Run, database: pathlib.Path) -> None:
    import sqlite3

    connection = sqlite3.connect(database)
    for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        connection.execute(f"DROP TRIGGER {name}")
    connection.execute("UPDATE router_decisions SET next_agent = 'user' WHERE seq = 5")
    connection.commit()
    connection.close()
    done = worked("audit", "replay", "S1")
    assert done.returncode == 1
    assert b"S1 step 5: router_decisions S1, 5, 1: differs (next_agent)" in done.stdout
    answer = json.loads(worked("audit", "replay", "S1", JSON).stdout)
    (difference,) = answer["differences"]
    assert (difference["recorded"], difference["told"]) == (["user"], ["qa_expert"])


def test_an_export_on_stdout_is_the_document_itself(worked: Run, tmp_path: pathlib.Path) -> None:
    path = exported(worked, tmp_path / "s1.jsonl")
    for words in ((), (JSON,)):
        done = worked("audit", "export", "-s", "S1", *words)
        assert (done.returncode, done.stdout, done.stderr) == (0, path.read_bytes(), b"")


def test_a_file_is_answered_in_json(worked: Run, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "s1.csv"
    answer = json.loads(worked("audit", "export", "S1", "--format", "csv", "--output", str(path), JSON).stdout)
    assert (answer["format"], answer["output"], answer["bytes"]) == ("csv", str(path), path.stat().st_size)
    again = worked("audit", "export", "S1", "--output", str(path), JSON)
    assert (again.returncode, json.loads(again.stdout)["code"]) == (3, "ALREADY_EXISTS")


def test_a_reader_that_goes_away_is_no_error(
    worked: Run, script: pathlib.Path, database: pathlib.Path
) -> None:
    environment = clean_environment() | {"ORCHESTRATOR_DB": str(database)}
    argv = [sys.executable, str(script), "audit", "export", "S1"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        assert (process.stderr.read(), process.wait()) == (b"", 0)


@pytest.mark.parametrize("stdin", [pytest.param(False, id="a file"), pytest.param(True, id="stdin")])
def test_an_import_creates_the_database_and_verifies(
    worked: Run, ask: Ask, tmp_path: pathlib.Path, stdin: bool
) -> None:
    path, other = exported(worked, tmp_path / "s1.jsonl"), tmp_path / "elsewhere" / "other.db"
    given = ("-",) if stdin else (str(path),)
    done = worked("audit", "import", *given, "--db", str(other), JSON, stdin=path.read_bytes() if stdin else b"")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    replay = json.loads(worked("audit", "replay", "S1", "--db", str(other), "--strict", JSON).stdout)
    assert replay["equal"] is True
    heads = {answer["head"], replay["head"], json.loads(worked("audit", "replay", "S1", JSON).stdout)["head"]}
    assert len(heads) == 1
    assert json.loads(worked("db", "check", "--db", str(other), JSON).stdout)["ok"] is True


def test_the_default_place_is_that_of_init(worked: Run, tmp_path: pathlib.Path) -> None:
    path = exported(worked, tmp_path / "s1.jsonl")
    folder = tmp_path / "project"
    folder.mkdir()
    done = worked("audit", "import", str(path), cwd=folder, ORCHESTRATOR_DB="")
    assert done.returncode == 0, done.stderr
    assert (folder / ".orchestrator" / "orchestrator.db").is_file()


BAD = [
    pytest.param(b"", 4, "IMPORT_EMPTY", id="empty"),
    pytest.param(b"{}\n", 4, "IMPORT_FOREIGN", id="foreign"),
    pytest.param(b"\xef\xbb\xbf{}\n", 4, "IMPORT_BOM", id="byte order mark"),
    pytest.param(b"{}\r\n", 4, "IMPORT_LINE_ENDS", id="CRLF"),
    pytest.param(b"\xff\n", 4, "IMPORT_NOT_TEXT", id="no UTF-8"),
]


@pytest.mark.parametrize(("content", "code", "name"), BAD)
def test_bad_input_is_one_sentence_with_the_line(
    run: Run, tmp_path: pathlib.Path, content: bytes, code: int, name: str
) -> None:
    other = tmp_path / "other.db"
    done = run("audit", "import", "-", "--db", str(other), JSON, stdin=content)
    answer = json.loads(done.stdout)
    assert (done.returncode, answer["code"], answer["line"]) == (code, name, 1)
    assert answer["suggestion"] != ""
    assert not other.exists()


def test_a_folder_cannot_be_imported(run: Run, tmp_path: pathlib.Path) -> None:
    done = run("audit", "import", str(tmp_path), "--db", str(tmp_path / "other.db"), JSON)
    assert (done.returncode, json.loads(done.stdout)["code"]) == (5, "FILE_UNREADABLE")


def test_a_database_with_the_session_stays_as_it_is(
    worked: Run, database: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    path = exported(worked, tmp_path / "s1.jsonl")
    before = database.read_bytes()
    done = worked("audit", "import", str(path), JSON)
    assert (done.returncode, json.loads(done.stdout)["code"]) == (3, "ALREADY_EXISTS")
    assert database.read_bytes() == before


def test_the_past_is_shown_as_such(worked: Run) -> None:
    text = worked("status", "S1", "--at", "4").stdout.decode()
    assert text.startswith("As of step 4, ")
    assert "developer" in text
    answer = json.loads(worked("group", "show", "A", "-s", "S1", "--at", "4", JSON).stdout)
    assert (answer["as_of"]["seq"], answer["group"]["awaited"]["role"]) == (4, "developer")
    assert b"As of step 4" in worked("why", "A", "-s", "S1", "--at", "4").stdout
    created = worked("task", "create", "T1", "--title", "words", "-s", "S1", "-g", "A", JSON)
    assert created.returncode == 0
    seq = str(json.loads(created.stdout)["task"]["created_seq"])
    for words in (("task", "show"), ("why",)):
        assert f"As of step {seq}".encode() in worked(*words, "T1", "-s", "S1", "--at", seq).stdout


@pytest.mark.parametrize(
    ("words", "code"),
    [
        pytest.param(("status", "S1", "--at", "99"), "SEQ_OUT_OF_RANGE", id="no such step"),
        pytest.param(("status", "S1", "--at", "0"), "SEQ_OUT_OF_RANGE", id="step 0"),
        pytest.param(("status", "S1", "--at", "-1"), "SEQ_OUT_OF_RANGE", id="below 0"),
        pytest.param(("status", "S1", "--at", "x"), "USAGE", id="no number"),
        pytest.param(("status", "S1", "--at", "1", "--watch"), "USAGE", id="watched"),
    ],
)
def test_a_step_that_cannot_be_asked_for(worked: Run, words: tuple[str, ...], code: str) -> None:
    done = worked(*words, JSON)
    assert (done.returncode, json.loads(done.stdout)["code"]) == (64, code)


def test_a_batch_knows_the_step_by_its_short_name(worked: Run) -> None:
    line = {"op": "group show", "args": {"id": "A", "session_id": "S1", "at": 4}}
    answer = json.loads(worked("batch", stdin=json.dumps(line).encode()).stdout)
    assert (answer["exit_code"], answer["as_of"]["seq"]) == (0, 4)


def test_what_mends_a_cut_export_is_done_where_the_session_is_and_not_in_the_new_database(
    worked: Run, tmp_path: pathlib.Path
) -> None:
    whole = exported(worked, tmp_path / "s1.jsonl").read_text()
    (tmp_path / "cut.jsonl").write_text("".join(whole.splitlines(keepends=True)[:-1]))
    done = worked("audit", "import", str(tmp_path / "cut.jsonl"), "--db", str(tmp_path / "new.db"))
    assert (done.returncode, done.stderr.decode().splitlines()[1]) == (
        4,
        "try: In the database that holds the session: orchestrator audit export SESSION --output FILE; then import"
        " that file",
    )
