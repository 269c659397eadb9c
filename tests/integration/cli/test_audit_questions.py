"""`audit blockers`, `gaps`, `stats` and `query` through the command: JSON, text, exit codes, streams."""

from __future__ import annotations

import json
import pathlib
import sqlite3
import subprocess
import sys
import time

import pytest

from tests.integration.cli.conftest import Ask, Lines, Run, clean_environment

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"


@pytest.fixture
def blocked(lines: Lines) -> None:
    """A was planned, built, and blocked by its tester."""
    for role, status, group in (("project_manager", "PLANNING_COMPLETE", None), ("developer", "READY_FOR_QA", "A"),
                                ("qa_expert", "BLOCKED", "A")):  # fmt: skip
        args = {"session_id": "S1", "current_agent": role, "status": status, "summary": "no \x1b[31menv"}
        (answer,) = lines(("route", args | ({"group_id": group} if group else {})))
        assert answer["success"], answer


@pytest.fixture
def holed(blocked: None, database: pathlib.Path) -> None:
    """The decision on the developer's report is gone, with all guards."""
    with sqlite3.connect(database) as connection:
        triggers = connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for (name,) in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute("DELETE FROM router_decisions WHERE current_agent = 'developer'")
    connection.close()


@pytest.mark.usefixtures("blocked")
class TestBlockers:
    """Who opened and resolved what, and how long it stood."""

    def test_they_are_rows_with_seconds(self, ask: Ask) -> None:
        answer = ask("audit", "blockers", "-s", "S1", "--status", "open")
        (row,) = answer["blockers"]
        told = (row["group_id"], row["status"], row["opened_role"], row["resolved_by"])
        assert told == ("A", "open", "qa_expert", None)
        assert type(row["open_seconds"]) is int
        assert (answer["has_more"], answer["next_since"], answer["_exit"]) == (False, row["seq"], 0)

    def test_they_are_a_table_in_which_nothing_moves_the_cursor(self, run: Run) -> None:
        head, row = run("audit", "blockers", "-s", "S1").stdout.decode().splitlines()
        assert head.split()[:3] == ["BLOCKER", "STATUS", "GROUP"]
        assert row.endswith("no \\x1b[31menv")
        assert "qa_expert@S1:A (report)" in row

    def test_the_text_says_where_there_are_none(self, run: Run) -> None:
        assert run("audit", "blockers", "-s", "S1", "--status", "resolved").stdout == b"No blockers.\n"


class TestGaps:
    """A whole record is exit 0, one with holes 1."""

    @pytest.mark.usefixtures("blocked")
    def test_a_whole_record(self, ask: Ask, run: Run) -> None:
        answer = ask("audit", "gaps", "-s", "S1")
        assert (answer["success"], answer["gaps"], answer["_exit"], "exit_code" in answer) == (True, [], 0, False)
        assert run("audit", "gaps", "-s", "S1").stdout == b"No gaps.\n"

    @pytest.mark.usefixtures("holed")
    def test_a_record_with_a_hole(self, ask: Ask, run: Run, lines: Lines) -> None:
        answer = ask("audit", "gaps", "-s", "S1")
        assert (answer["success"], answer["_exit"]) == (True, 1)
        assert [(row["kind"], row["group_id"]) for row in answer["gaps"]] == [
            # Its hand-off went with it, so that nobody was started for the report that came next.
            ("report_without_decision", "A"), ("spawn_without_decision", "A"),
        ]  # fmt: skip
        done = run("audit", "gaps", "-s", "S1")
        assert (done.returncode, done.stderr) == (1, b"")
        assert done.stdout.splitlines()[1].endswith(b"the report has no decision")
        (line,) = lines(("audit gaps", {"session_id": "S1"}))
        assert (line["success"], line["exit_code"]) == (True, 1)


@pytest.mark.usefixtures("blocked")
class TestStats:
    """A session in numbers."""

    def test_they_are_integers_and_decimal_texts(self, ask: Ask) -> None:
        found = ask("audit", "stats", "-s", "S1")["stats"]
        assert (found["reports"], found["rework"]["rate"], found["usage"]["reports"]) == (3, None, 0)
        assert [row["role"] for row in found["roles"]] == ["developer", "project_manager", "qa_expert", "tech_lead"]

    def test_the_text_has_all_of_them(self, run: Run) -> None:
        text = run("audit", "stats", "-s", "S1").stdout.decode()
        titles = [line for line in text.splitlines() if line and not line.startswith(" ") and ":" not in line]
        assert titles == ["Roles", "Reports", "Rules that fired"]
        assert "Rework rate: none: 0 of 0 judgements sent work back" in text


class TestQuery:
    """SQL that only reads."""

    SQL = "SELECT id AS a, status AS a, x'ff', NULL, '' FROM task_groups ORDER BY id"

    def test_rows_are_lists_in_the_order_of_the_columns(self, ask: Ask) -> None:
        answer = ask("audit", "query", self.SQL)
        assert answer["columns"] == ["a", "a", "x'ff'", "NULL", "''"]
        assert answer["rows"] == [["A", "pending", "ff", None, ""], ["B", "pending", "ff", None, ""]]
        assert (answer["has_more"], answer["_exit"]) == (False, 0)

    def test_the_text_is_a_table(self, run: Run) -> None:
        lines = run("audit", "query", self.SQL).stdout.decode().splitlines()
        assert [line.split() for line in lines] == [
            ["a", "a", "x'ff'", "NULL", "''"], ["A", "pending", "ff", "NULL", "-"], ["B", "pending", "ff", "NULL", "-"],
        ]  # fmt: skip

    def test_a_long_value_is_cut_in_the_text_alone(self, ask: Ask, run: Run) -> None:
        sql = "SELECT printf('%.*c', 5000, 'x') AS long, char(27) || '[31m' AS red"
        assert ask("audit", "query", sql)["rows"] == [["x" * 5000, "\x1b[31m"]]
        _, row = run("audit", "query", sql).stdout.decode().splitlines()
        assert row == f"{'x' * 197}...  \\x1b[31m"

    def test_an_empty_answer_and_a_cut_one_say_so(self, run: Run) -> None:
        assert run("audit", "query", "SELECT id FROM sessions WHERE 0").stdout == b"id\nNo rows.\n"
        done = run("audit", "query", "SELECT id FROM task_groups", "--limit", "1")
        assert done.stdout.decode().splitlines()[-1].startswith("There is more than this row: repeat with a larger")
        many = "SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3"
        done = run("audit", "query", many, "--limit", "2")
        assert done.stdout.decode().splitlines()[-1].startswith("There are more than these 2 rows: repeat")

    @pytest.mark.parametrize(("word", "stdin"), [("-", b"SELECT 7"), ("@q.sql", b"")], ids=["stdin", "a file"])
    def test_the_sql_may_come_from_elsewhere(self, ask: Ask, tmp_path: pathlib.Path, word: str, stdin: bytes) -> None:
        (tmp_path / "q.sql").write_text("SELECT 7\n")
        assert ask("audit", "query", word, stdin=stdin)["rows"] == [[7]]

    def test_a_line_of_a_batch_may_ask(self, lines: Lines) -> None:
        found = lines(("audit query", {"sql": "SELECT 1"}), ("audit query", {"sql": "DELETE FROM texts"}),
                      ("audit query", {"sql": "SELECT count(*) FROM sessions", "limit": 1}))  # fmt: skip
        assert [(line["exit_code"], line.get("rows")) for line in found] == [(0, [[1]]), (3, None), (0, [[1]])]

    def test_a_file_that_may_not_be_written_can_be_asked(self, ask: Ask, database: pathlib.Path) -> None:
        database.chmod(0o400)
        assert ask("audit", "query", "SELECT count(*) FROM task_groups")["rows"] == [[2]]


FAILURES = {
    "no session": (("audit", "gaps", "-s", "S9"), 3, "UNKNOWN_SESSION"),
    "no session for numbers": (("audit", "stats", "-s", "S9"), 3, "UNKNOWN_SESSION"),
    "the store has no blockers": (("audit", "blockers", "-s", "@store"), 3, "UNKNOWN_SESSION"),
    "no id": (("audit", "blockers", "-s", "S/1"), 64, "INVALID_ID"),
    "no limit": (("audit", "blockers", "-s", "S1", "--limit", "0"), 64, "USAGE"),
    "a limit in words": (("audit", "gaps", "-s", "S1", "--limit", "ten"), 64, "USAGE"),
    "a step before the first": (("audit", "stats", "-s", "S1", "--since", "-1"), 64, "USAGE"),
    "no order": (("audit", "gaps", "-s", "S1", "--order", "up"), 64, "USAGE"),
    "no status of a blocker": (("audit", "blockers", "-s", "S1", "--status", "opne"), 64, "USAGE"),
    "no SQL": (("audit", "query"), 64, "USAGE"),
    "empty SQL": (("audit", "query", ""), 64, "SQL_INVALID"),
    "wrong SQL": (("audit", "query", "SELECT 1 FORM x y"), 64, "SQL_INVALID"),
    "two statements": (("audit", "query", "SELECT 1; DELETE FROM texts"), 64, "SQL_INVALID"),
    "a change": (("audit", "query", "DELETE FROM audit_events"), 3, "NOT_PERMITTED"),
    "a copy": (("audit", "query", "VACUUM INTO 'nowhere.db'"), 3, "NOT_PERMITTED"),
    "another file": (("audit", "query", "ATTACH 'nowhere.db' AS x"), 3, "NOT_PERMITTED"),
    "a NUL character": (("audit", "query", "@nul.sql"), 64, "INVALID_TEXT"),
    "no time": (("audit", "query", "SELECT 1", "--timeout", "0"), 64, "USAGE"),
    "too many rows": (("audit", "query", "SELECT 1", "--limit", "100001"), 64, "USAGE"),
    "no end": (("audit", "query", f"{ENDLESS} SELECT count(*) FROM n", "--timeout", "1"), 64, "QUERY_TIMEOUT"),
}


@pytest.mark.parametrize("name", FAILURES)
def test_a_failure_has_its_code_a_sentence_and_no_traceback(
    name: str, ask: Ask, run: Run, tmp_path: pathlib.Path
) -> None:
    arguments, exit_code, code = FAILURES[name]
    (tmp_path / "nul.sql").write_bytes(b"SELECT 1 -- \0")
    answer = ask(*arguments)
    assert (answer["success"], answer["code"], answer["_exit"]) == (False, code, exit_code)
    assert answer["error"].endswith((".", "?"))
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (exit_code, b"")
    assert done.stderr.startswith(f"error {code}: ".encode())
    assert b"Traceback" not in done.stderr
    assert not (tmp_path / "nowhere.db").exists()


@pytest.mark.parametrize("form", ["", " --json"], ids=["text", "json"])
@pytest.mark.parametrize("words", [
    "audit blockers -s S1", "audit gaps -s S1", "audit stats -s S1", f'audit query "{ENDLESS} SELECT i FROM n"',
])  # fmt: skip
def test_a_list_whose_reader_goes_away_ends_quietly(
    words: str, form: str, script: pathlib.Path, database: pathlib.Path
) -> None:
    line = f"set -o pipefail; '{sys.executable}' '{script}' {words}{form} | true"
    environment = clean_environment() | {"ORCHESTRATOR_DB": str(database)}
    done = subprocess.run(["/bin/bash", "-c", line], capture_output=True, env=environment, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_many_rows_come_in_one_object_in_time(run: Run) -> None:
    began = time.monotonic()
    done = run("audit", "query", f"{ENDLESS} SELECT i, 'x' || i FROM n", "--limit", "100000", "--json")
    answer = json.loads(done.stdout)
    assert (len(answer["rows"]), answer["rows"][-1], answer["has_more"]) == (100_000, [100_000, "x100000"], True)
    assert time.monotonic() - began < 30


def test_interrupting_a_query_ends_it_as_any_other_call(script: pathlib.Path, database: pathlib.Path) -> None:
    import signal

    environment = clean_environment() | {"ORCHESTRATOR_DB": str(database)}
    argv = [sys.executable, str(script), "audit", "query", f"{ENDLESS} SELECT count(*) FROM n"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as process:
        time.sleep(1.5)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out, b"Traceback" in err) == (130, b"", False)
    assert err.startswith(b"error INTERRUPTED: ")


@pytest.mark.usefixtures("blocked")
@pytest.mark.parametrize("words", ["timeline", "decisions", "refusals", "blockers", "gaps", "stats"])
def test_the_session_may_be_named_without_an_option(words: str, ask: Ask, lines: Lines) -> None:
    lines(("session create", {"id": "S2"}))
    named, dashed, other = ask("audit", words, "S1"), ask("audit", words, "-s", "S1"), ask("audit", words, "S2")
    assert (named["_exit"], other["_exit"]) == (0, 0)
    assert words in ("refusals", "gaps") or named != other
    for timed in ("blockers", "measured_at", "stats"):
        assert (timed in named) is (timed in dashed)
        named.pop(timed, None), dashed.pop(timed, None)
    assert named == dashed


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("audit", "timeline", "--limit", "0"), "--limit must be from 1 to 100000, not 0."),
        (("audit", "timeline", "--order", "up"), "--order must be asc or desc, not 'up'."),
        (("validate", "S1", "--command-timeout", "0"), "--command-timeout must be from 1 to 86400, not 0."),
        (("group", "set-status", "A", "--reason", "x"), "Missing argument 'STATUS'."),
    ],
)
def test_what_a_value_may_be_is_told_by_the_name_that_was_typed(run: Run, words: tuple[str, ...], message: str) -> None:
    done = run(*words)
    first, way = done.stderr.decode().splitlines()
    assert (done.returncode, first, way.startswith("try: ")) == (64, f"error USAGE: {message}", True)
