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
