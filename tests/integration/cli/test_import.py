"""`import peer` on the command line: what it answers, and how it ends."""

from __future__ import annotations

import pathlib

import pytest

from tests.integration.app import peer
from tests.integration.cli.conftest import Ask, Lines, Run


def test_a_peers_database_is_imported_once(ask: Ask, run: Run, tmp_path: pathlib.Path) -> None:
    file = str(peer.incident(tmp_path / "a peer's.db"))
    before = pathlib.Path(file).read_bytes()
    trial = ask("import", "peer", file, "--dry-run")
    assert (trial["_exit"], trial["dry_run"], len(trial["sessions"])) == (0, True, 2)
    done = run("import", "peer", file, ORCHESTRATOR_SESSION="S1")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.splitlines()[0] == b"2 sessions of a peer's.db, schema version 19 imported."
    again = ask("import", "peer", file)
    assert (again["_exit"], again["code"], again["sessions"]) == (3, "ALREADY_EXISTS", [peer.INCIDENT, peer.ENDED])
    verdict = ask("validate", peer.INCIDENT)
    assert (verdict["_exit"], verdict["verdict"]) == (1, "REJECT")
    assert pathlib.Path(file).read_bytes() == before
    assert [each.name for each in tmp_path.iterdir() if "peer's" in each.name] == ["a peer's.db"]


@pytest.mark.parametrize(
    ("arguments", "exit_code", "code"),
    [
        pytest.param(("nowhere.db",), 4, "PEER_INVALID", id="no file"),
        pytest.param((".",), 4, "PEER_INVALID", id="a folder"),
        pytest.param(("orchestrator.db",), 4, "PEER_INVALID", id="our own database"),
        pytest.param(("peer.db", "-s", "nowhere"), 3, "UNKNOWN_SESSION", id="unknown session"),
        pytest.param(("peer.db", "--by", "developer"), 3, "NOT_PERMITTED", id="another role"),
        pytest.param(("peer.db", "-s", "no id"), 64, "INVALID_ID", id="no id"),
        pytest.param((), 64, "USAGE", id="no argument"),
    ],
)
def test_a_failure_ends_with_its_exit_code(
    ask: Ask, tmp_path: pathlib.Path, arguments: tuple[str, ...], exit_code: int, code: str
) -> None:
    peer.incident(tmp_path / "peer.db")
    answer = ask("import", "peer", *arguments)
    assert (answer["_exit"], answer["code"], bool(answer["suggestion"])) == (exit_code, code, True)
    assert ask("session", "list", "--all")["sessions"][0]["id"] == "S1"


def test_a_batch_imports_as_well(lines: Lines, tmp_path: pathlib.Path) -> None:
    file = str(peer.incident(tmp_path / "peer.db"))
    (answer,) = lines(("import peer", {"file": file, "session_id": peer.ENDED}))
    assert (answer["exit_code"], answer["sessions"][0]["grandfathered"]) == (0, ["only"])
