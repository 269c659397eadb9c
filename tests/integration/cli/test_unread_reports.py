"""Reports that cannot be read as a whole: refused with their own code, and on record where their session is known."""

from __future__ import annotations

import pathlib
import sqlite3

import pytest

from tests.integration.cli.conftest import Run


def recorded(database: pathlib.Path) -> list[tuple[str, str | None, str | None]]:
    connection = sqlite3.connect(database)
    try:
        return connection.execute("SELECT code, group_id, role FROM refusals").fetchall()
    finally:
        connection.close()


@pytest.mark.parametrize(
    ("arguments", "stdin", "code"),
    [
        pytest.param(("PARTIAL", "--details", "{"), b"", "METADATA_INVALID", id="details"),
        pytest.param(("PARTIAL", "--metadata", "-"), b"[]", "METADATA_INVALID", id="metadata"),
        pytest.param(("--output", "-"), b"STATUS: PARTIAL\nSTATUS: BLOCKED\n", "AMBIGUOUS_REPORT", id="output"),
        pytest.param(("--output", "-"), b"BLOCKED\n\nSTATUS: READY_FOR_QA\n", "AMBIGUOUS_REPORT", id="bare status"),
        pytest.param(("--report", "-"), b"{}", "METADATA_INVALID", id="report"),
    ],
)
def test_what_cannot_be_read_is_recorded(
    run: Run, database: pathlib.Path, arguments: tuple[str, ...], stdin: bytes, code: str
) -> None:
    done = run("route", "developer", *arguments, "-s", "S1", "-g", "A", stdin=stdin)
    assert (done.returncode, code.encode() in done.stderr) == (4, True)
    assert recorded(database) == [(code, "A", "developer")]


def test_a_dry_run_records_nothing(run: Run, database: pathlib.Path) -> None:
    assert run("route", "developer", "PARTIAL", "--details", "{", "-s", "S1", "-g", "A", "--dry-run").returncode == 4
    assert recorded(database) == []


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        pytest.param(b'{"status": "part', "is cut off", id="cut"),
        pytest.param(None, "cannot be read", id="absent"),
        pytest.param(b'\xef\xbb\xbf{"status": "partial"}', "byte-order mark", id="BOM"),
        pytest.param('{"status": "partial"}'.encode("utf-16"), "UTF-16", id="UTF-16"),
    ],
)
def test_metadata_that_cannot_be_read_leaves_the_group_as_it_was(
    run: Run, database: pathlib.Path, tmp_path: pathlib.Path, content: bytes | None, reason: str
) -> None:
    if content is not None:
        (tmp_path / "meta.json").write_bytes(content)
    report = ("route", "developer", "PARTIAL", "-s", "S1", "-g", "A", "--metadata", "meta.json")
    for arguments in (report, ("metadata", "check", "meta.json")):
        done = run(*arguments)
        assert (done.returncode, b"METADATA_INVALID" in done.stderr) == (4, True)
        assert reason.encode() in done.stderr
    assert recorded(database) == [("METADATA_INVALID", "A", "developer")]
    assert b"pending" in run("group", "show", "A", "-s", "S1", "--json").stdout
