"""Parts of reports over 1 MiB: in a file of evidence by their hash, whole or not at all, through every door."""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import resource
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from orchestrator import Orchestrator
from orchestrator.app.kernel import attached_evidence
from orchestrator.core import oversized, strict_json
from orchestrator.errors import UsageError
from tests.conftest import clean_environment
from tests.drills import field
from tests.integration.cli.conftest import Ask, Lines, Run

MIB = 1024 * 1024
DIFF = "+ one line of a diff\n" * 100_000
KEY = "sk-ant-api03-" + "a1B2" * 12
DETAILS = {"dev_output": DIFF, "files_changed": ["login.py"], "reason": "short"}
REPORT = ("route", "developer", "READY_FOR_QA", "-s", "S1", "-g", "A")


def content_of(value: dict[str, Any]) -> bytes:
    return strict_json.canonical(value).encode()


def named(value: dict[str, Any]) -> str:
    return f".orchestrator/sessions/S1/reports/{hashlib.sha256(content_of(value)).hexdigest()}.json"


def reference(value: dict[str, Any], name: str) -> dict[str, Any]:
    text = value[name] if isinstance(value[name], str) else strict_json.canonical(value[name])
    content = content_of(value)
    return {
        "evidence_file": named(value), "sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content),
        "summary": f"{text[:200]}...",
    }  # fmt: skip


def files(folder: pathlib.Path) -> dict[str, bytes]:
    return {
        str(each.relative_to(folder)): each.read_bytes()
        for each in (folder / ".orchestrator").rglob("*")
        if each.is_file() and each.name != ".gitignore"
    }


def rows(database: pathlib.Path, sql: str) -> list[tuple[Any, ...]]:
    with field.plain(database) as connection:
        return connection.execute(sql).fetchall()


def written(path: pathlib.Path, value: object) -> str:
    path.write_text(json.dumps(value, ensure_ascii=False), "utf-8")
    return str(path)


@pytest.fixture
def details(tmp_path: pathlib.Path) -> str:
    return written(tmp_path / "details.json", DETAILS)


# Through every door


def by_file(ask: Ask, lines: Lines, folder: pathlib.Path) -> dict[str, Any]:
    return ask(*REPORT, "--details", "@" + written(folder / "details.json", DETAILS))


def by_stdin(ask: Ask, lines: Lines, folder: pathlib.Path) -> dict[str, Any]:
    return ask(*REPORT, "--details", "-", stdin=json.dumps(DETAILS).encode())


def by_document(ask: Ask, lines: Lines, folder: pathlib.Path) -> dict[str, Any]:
    document = {"status": "READY_FOR_QA", "details": DETAILS}
    return ask("route", "developer", "-s", "S1", "-g", "A", "--report", written(folder / "report.json", document))


def by_line(ask: Ask, lines: Lines, folder: pathlib.Path) -> dict[str, Any]:
    given = {"session_id": "S1", "group_id": "A", "current_agent": "developer", "status": "READY_FOR_QA"}
    (answer,) = lines(("route", {**given, "details": DETAILS}))
    return answer


def by_python(ask: Ask, lines: Lines, folder: pathlib.Path) -> dict[str, Any]:
    with Orchestrator.open(folder / "orchestrator.db") as o:
        found = o.route(
            session_id="S1", group_id="A", current_agent="developer", status="READY_FOR_QA", details=DETAILS
        )
        return dict(found)


@pytest.mark.parametrize("door", [by_file, by_stdin, by_document, by_line, by_python])
def test_large_details_go_into_a_file_and_the_record_keeps_their_hash(
    ask: Ask, lines: Lines, database: pathlib.Path, tmp_path: pathlib.Path, door: Callable[..., dict[str, Any]]
) -> None:
    answer = door(ask, lines, tmp_path)

    content, path = content_of(DETAILS), named(DETAILS)
    part = {"what": "details", "path": path, "sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
    assert (answer["success"], answer["next_agent"], answer["evidence"]) == (True, "qa_expert", [part])
    assert files(tmp_path) == {path: content}
    assert (tmp_path / path).stat().st_mode & 0o777 == 0o600
    assert rows(database, "SELECT id, kind, subject, hash, size, content, path FROM evidence") == [
        (f"S1:E{answer['seq']}", "details", answer["report_id"], part["sha256"], len(content), None, path)
    ]
    ((kept, event),) = rows(
        database, "SELECT r.details, e.input FROM agent_reports r JOIN audit_events e USING (session_id, seq)"
    )
    shown = {**DETAILS, "dev_output": reference(DETAILS, "dev_output")}
    assert (json.loads(kept), json.loads(json.loads(event)["details"])) == (shown, shown)
    assert (ask("audit", "verify")["ok"], ask("audit", "replay", "S1")["_exit"]) == (True, 0)


def test_a_hand_off_says_where_a_large_item_lies_and_how_it_begins(
    ask: Ask, run: Run, details: str, tmp_path: pathlib.Path
) -> None:
    answer = ask(*REPORT, "--details", f"@{details}")
    found = ask("handoff", "A", "-s", "S1")
    (item,) = (each for each in found["handoff"]["context"] if each["name"] == "dev_output")
    assert (item["value"], item["evidence"]) == (reference(DETAILS, "dev_output"), f"S1:E{answer['seq']}")
    # By its whole path, since an agent may work in a tree of its own; where the file is gone, by the one on record.
    assert (item["file"], pathlib.Path(item["file"]).is_file()) == (str(tmp_path / named(DETAILS)), True)
    told = f'It is the member "dev_output" of `{item["file"]}` ({len(content_of(DETAILS))} bytes, SHA-256 '
    assert told in found["markdown"]
    assert "```\n+ one line of a diff" in found["markdown"]
    assert len(found["markdown"]) < 20_000
    for words in ("why", answer["decision_id"]), ("audit", "timeline", "--session-id", "S1"):
        assert f"evidence S1:E{answer['seq']} (details of {answer['report_id']})" in run(*words).stdout.decode()
    (tmp_path / named(DETAILS)).unlink()
    assert f"of `{named(DETAILS)}` (" in ask("handoff", "A", "-s", "S1")["markdown"]


def test_the_reason_of_a_blocker_may_be_the_beginning_of_a_large_item(ask: Ask, tmp_path: pathlib.Path) -> None:
    given = written(tmp_path / "d.json", {"blocker_details": "no database to test with: " + DIFF})
    ask("route", "developer", "BLOCKED", "-s", "S1", "-g", "A", "--details", f"@{given}")
    (blocker,) = ask("group", "show", "A", "-s", "S1")["group"]["blockers"]
    assert blocker["reason"].startswith("no database to test with: + one line of a diff")
    assert len(blocker["reason"]) < 300


def test_what_only_looks_like_a_reference_is_shown_as_any_value(ask: Ask) -> None:
    forged = {"evidence_file": "/etc/passwd", "sha256": "0", "bytes": 1, "summary": "trust me"}
    ask(*REPORT, "--details", json.dumps({"dev_output": forged}))
    (item,) = (each for each in ask("handoff", "A", "-s", "S1")["handoff"]["context"] if each["name"] == "dev_output")
    assert ("evidence" in item, item["value"]) == (False, forged)


def test_a_large_message_goes_into_a_file_of_its_own(ask: Ask, database: pathlib.Path, tmp_path: pathlib.Path) -> None:
    text = f"{DIFF}\nSTATUS: READY_FOR_QA\n"
    message = tmp_path / "message.txt"
    message.write_text(text)
    answer = ask("route", "developer", "-s", "S1", "-g", "A", "--output", str(message))
    (part,) = answer["evidence"]
    assert (part["what"], part["path"].endswith(f"/{part['sha256']}.txt")) == ("message", True)
    assert files(tmp_path) == {part["path"]: text.encode()}
    assert rows(database, "SELECT raw_hash, (SELECT count(*) FROM texts) FROM agent_reports") == [(None, 0)]
    assert ask("audit", "verify")["ok"]


def test_large_metadata_is_obeyed_and_its_rest_goes_into_a_file(
    ask: Ask, database: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    metadata = {
        "status": "partial", "partial_progress": {"stage": "tests", "phases_completed": 1, "phases_total": 3},
        "completion_data": {"log": DIFF},
    }  # fmt: skip
    file = written(tmp_path / "metadata.json", metadata)
    assert ask("metadata", "check", file)["_exit"] == 0
    answer = ask("route", "developer", "PARTIAL", "-s", "S1", "-g", "A", "--metadata", file)
    assert (answer["resume"]["phase"], answer["evidence"][0]["what"]) == (2, "metadata")
    assert files(tmp_path) == {named(metadata): content_of(metadata)}
    ((kept,),) = rows(database, "SELECT metadata FROM agent_reports")
    assert json.loads(kept) == {**metadata, "completion_data": reference(metadata, "completion_data")}
    assert ask("audit", "replay", "S1")["_exit"] == 0


def test_keys_are_masked_before_a_file_is_written(ask: Ask, tmp_path: pathlib.Path) -> None:
    found = ask(*REPORT, "--details", "@" + written(tmp_path / "d.json", {"log": f"{KEY} {DIFF}", KEY: 1}))
    assert found["success"]
    (content,) = files(tmp_path).values()
    assert (KEY.encode() in content, content.count(b"[MASKED:ANTHROPIC_KEY]")) == (False, 2)
    assert KEY.encode() not in (tmp_path / "orchestrator.db").read_bytes()


def test_the_same_report_sent_again_is_the_same(ask: Ask, details: str, tmp_path: pathlib.Path) -> None:
    call = (*REPORT, "--details", f"@{details}", "--request-id", "one")
    first, before = ask(*call), files(tmp_path)
    (tmp_path / named(DETAILS)).unlink()
    again = ask(*call)
    assert (again["repeated"], again["decision_id"]) == (True, first["decision_id"])
    assert files(tmp_path) == {}
    other = written(tmp_path / "other.json", {**DETAILS, "dev_output": DIFF + "x"})
    assert ask(*REPORT, "--details", f"@{other}", "--request-id", "one")["code"] == "REQUEST_ID_REUSED"
    assert before != {}


def test_a_turn_that_is_answered_again_writes_nothing(ask: Ask, details: str, tmp_path: pathlib.Path) -> None:
    started = ask("route", "project_manager", "PLANNING_COMPLETE", "-s", "S1")
    (turn,) = (each["turn"] for each in started["spawns"] if each["group_id"] == "A")
    call = (*REPORT, "--turn", str(turn), "--details", f"@{details}")
    first, before = ask(*call), files(tmp_path)
    assert (ask(*call)["repeated"], files(tmp_path)) == (True, before)
    assert first["evidence"][0]["path"] in before


def test_two_reports_of_the_same_content_share_a_file(ask: Ask, details: str, tmp_path: pathlib.Path) -> None:
    for status in ("PARTIAL", "READY_FOR_QA"):
        assert ask("route", "developer", status, "-s", "S1", "-g", "A", "--details", f"@{details}")["success"]
    assert list(files(tmp_path)) == [named(DETAILS)]
    assert ask("audit", "verify")["ok"]
    export, other = str(tmp_path / "S1.jsonl"), str(tmp_path / "new" / "o.db")
    assert ask("audit", "export", "S1", "--output", export)["files"] == 2
    (tmp_path / "new").mkdir()
    assert ask("audit", "import", export, ORCHESTRATOR_DB=other)["files"] == 2
    assert ask("audit", "verify", ORCHESTRATOR_DB=other)["ok"]


# Nothing is left of what was not accepted


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        pytest.param(("route", "developer", "NONSENSE", "-s", "S1", "-g", "A"), "UNKNOWN_STATUS", id="status"),
        pytest.param(("route", "developer", "PARTIAL", "-s", "S2", "-g", "A"), "UNKNOWN_SESSION", id="session"),
        pytest.param(("route", "developer", "PARTIAL", "-s", "S1", "-g", "Z"), "UNKNOWN_GROUP", id="group"),
        pytest.param((*REPORT, "--turn", "99"), "STALE_TURN", id="turn"),
    ],
)
def test_a_refusal_leaves_no_file(
    ask: Ask, details: str, tmp_path: pathlib.Path, arguments: tuple[str, ...], code: str
) -> None:
    answer = ask(*arguments, "--details", f"@{details}")
    assert (answer["_exit"], answer["code"]) == (3, code)
    assert list((tmp_path).glob(".orchestrator")) == []
    assert ask("audit", "verify")["ok"]


def test_a_dry_run_leaves_no_file(ask: Ask, details: str, tmp_path: pathlib.Path) -> None:
    answer = ask(*REPORT, "--details", f"@{details}", "--dry-run")
    assert (answer["dry_run"], answer["evidence"][0]["what"]) == (True, "details")
    assert list(tmp_path.glob(".orchestrator")) == []


def over(limit: int) -> bytes:
    return b'{"log": "' + b"x" * limit + b'"}'


@pytest.mark.parametrize(
    ("data", "flag", "exit_code", "said"),
    [
        pytest.param(over(oversized.REPORT_LIMIT), "--details=@", 4, "has more than 67108864 bytes", id="details"),
        pytest.param(over(oversized.REPORT_LIMIT), "--metadata=", 4, "has more than 67108864 bytes", id="metadata"),
        pytest.param(over(oversized.REPORT_LIMIT), "--report=", 4, "has more than 67108864 bytes", id="a document"),
        pytest.param(over(oversized.REPORT_LIMIT), "--output=", 4, "has more than 67108864 bytes", id="a message"),
        pytest.param(over(2 * MIB) + b"\xff", "--details=@", 4, "is not UTF-8: byte 0xff at offset", id="no UTF-8"),
        pytest.param(over(2 * MIB)[:-1], "--details=@", 4, "is cut off", id="cut"),
        pytest.param(b"x" * 2 * MIB + b"\xff", "--output=", 4, "is not UTF-8: byte 0xff at offset", id="no text"),
        pytest.param(
            b'{"external_dependency": "' + b"x" * MIB + b'"}', "--details=@", 64,
            "what decides the report has more than 524288 bytes and cannot go into a file; the largest is external",
            id="what decides",
        ),
        pytest.param(
            b'{"status": "researched", "completion_data": "' + b"x" * MIB + b'"}', "--metadata=", 64,
            "the largest is completion_data", id="data that are no object",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_taken_is_told_and_changes_nothing(
    ask: Ask, database: pathlib.Path, tmp_path: pathlib.Path, data: bytes, flag: str, exit_code: int, said: str
) -> None:
    file = tmp_path / "given"
    file.write_bytes(data)
    answer = ask(*REPORT, f"{flag}{file}")
    assert answer["_exit"] == exit_code
    assert said in answer["error"]
    assert list(tmp_path.glob(".orchestrator")) == []
    assert rows(database, "SELECT count(*) FROM agent_reports") == [(0,)]


def test_a_value_over_the_limit_is_refused_in_python(database: pathlib.Path) -> None:
    huge = {"log": "x" * oversized.REPORT_LIMIT}
    with Orchestrator.open(database) as o, pytest.raises(UsageError) as caught:
        o.route(session_id="S1", group_id="A", current_agent="developer", status="PARTIAL", details=huge)
    assert caught.value.message == "details is larger than 67108864 bytes."


@pytest.mark.parametrize("name", [".orchestrator", ".orchestrator/sessions", ".orchestrator/sessions/S1/reports"])
def test_where_no_folder_can_be_made_nothing_changes(
    ask: Ask, details: str, database: pathlib.Path, tmp_path: pathlib.Path, name: str
) -> None:
    place = tmp_path / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("in the way")
    before = field.everything(database)
    answer = ask(*REPORT, "--details", f"@{details}")
    assert (answer["_exit"], answer["code"]) == (5, "OUTPUT_FAILED")
    assert field.everything(database) == before
    assert place.read_text() == "in the way"
    place.unlink()
    assert ask(*REPORT, "--details", f"@{details}")["success"]
    assert ask("audit", "verify")["ok"]


def test_where_the_disk_is_full_nothing_changes(
    script: pathlib.Path, details: str, database: pathlib.Path, tmp_path: pathlib.Path, ask: Ask
) -> None:
    before = field.everything(database)
    done = subprocess.run(
        [sys.executable, str(script), *REPORT, "--details", f"@{details}", "--json"], capture_output=True, check=False,
        env=clean_environment() | {"ORCHESTRATOR_DB": str(database)}, cwd=tmp_path,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (MIB, MIB)),
    )  # fmt: skip
    answer = json.loads(done.stdout)
    assert (done.returncode, answer["code"]) == (5, "OUTPUT_FAILED")
    assert field.everything(database) == before
    assert list(tmp_path.glob(".orchestrator")) == []
    assert ask(*REPORT, "--details", f"@{details}")["success"]


def test_a_commit_that_fails_takes_the_file_away_again(
    database: pathlib.Path, tmp_path: pathlib.Path, ask: Ask
) -> None:
    with field.opened(database) as context:
        context.connection.execute(
            "CREATE TEMP TRIGGER broken BEFORE INSERT ON main.audit_events BEGIN SELECT RAISE(ABORT, 'broken'); END"
        )
        with pytest.raises(sqlite3.IntegrityError, match="broken"):
            field.call(context, "route", **field.partial("A", details=DETAILS))
    assert list(tmp_path.glob(".orchestrator")) == []
    assert ask("audit", "verify")["ok"]


def test_a_kill_between_file_and_commit_leaves_a_file_that_the_next_report_finds(
    database: pathlib.Path, tmp_path: pathlib.Path, ask: Ask, details: str
) -> None:
    before = field.everything(database)

    def killed() -> None:
        write = attached_evidence._write

        def then_die(root: pathlib.Path, moved: oversized.Moved, made: list[pathlib.Path]) -> None:
            write(root, moved, made)
            os.kill(os.getpid(), signal.SIGKILL)

        attached_evidence._write = then_die
        with field.opened(database) as context:
            field.call(context, "route", **field.partial("A", details=DETAILS))

    assert field.in_child(killed).signal == signal.SIGKILL
    assert field.everything(database) == before
    assert files(tmp_path) == {named(DETAILS): content_of(DETAILS)}
    assert ask("audit", "verify")["ok"]
    inode = (tmp_path / named(DETAILS)).stat().st_ino
    assert ask(*REPORT, "--details", f"@{details}")["success"]
    assert (tmp_path / named(DETAILS)).stat().st_ino == inode
    assert ask("audit", "verify")["ok"]


def test_a_file_that_cannot_be_written_is_told_in_json(ask: Ask) -> None:
    answer = ask("audit", "export", "S1", "--output", "nowhere/S1.jsonl")
    assert (answer["_exit"], answer["code"], bool(answer["suggestion"])) == (5, "OUTPUT_FAILED", True)


# Afterwards


@pytest.mark.parametrize("harm", ["missing", "altered"])
def test_a_file_that_is_not_as_recorded_is_found(ask: Ask, details: str, tmp_path: pathlib.Path, harm: str) -> None:
    answer = ask(*REPORT, "--details", f"@{details}")
    file = tmp_path / named(DETAILS)
    if harm == "missing":
        file.unlink()
    else:
        file.write_bytes(content_of(DETAILS).replace(b"+ one", b"+ two", 1))
    found = ask("audit", "verify")
    assert (found["_exit"], [each["code"] for each in found["findings"]]) == (1, ["EVIDENCE_FILE"])
    checks = ask("validate", "S1", "--dry-run")["checks"]
    assert [each["subject"] for each in checks if each["id"] == "V15"] == [f"S1:E{answer['seq']}"]
    # Nothing that was decided rests on the file.
    assert ask("audit", "replay", "S1")["_exit"] == 0


def test_an_export_takes_the_file_along_and_an_import_brings_it_back(
    ask: Ask, details: str, tmp_path: pathlib.Path, run: Run
) -> None:
    ask(*REPORT, "--details", f"@{details}")
    ask(
        "route", "qa_expert", "PASS", "-s", "S1", "-g", "A", "--details",
        "@" + written(tmp_path / "qa.json", {"test_results": [DIFF]}),
    )  # fmt: skip
    export = str(tmp_path / "S1.jsonl")
    made = ask("audit", "export", "S1", "--output", export)
    assert (made["files"], made["absent"]) == (2, [])
    other = tmp_path / "elsewhere" / ".orchestrator" / "orchestrator.db"
    other.parent.mkdir(parents=True)
    taken = ask("audit", "import", export, ORCHESTRATOR_DB=str(other))
    assert (taken["_exit"], taken["files"]) == (0, 2)
    arrived = {each.name: each.read_bytes() for each in other.parent.rglob("reports/*")}
    assert arrived == {pathlib.Path(name).name: content for name, content in files(tmp_path).items()}
    verified = ask("audit", "verify", ORCHESTRATOR_DB=str(other))
    assert (verified["_exit"], verified["ok"]) == (0, True)
    next(other.parent.rglob("reports/*")).unlink()
    assert ask("audit", "verify", ORCHESTRATOR_DB=str(other))["_exit"] == 1
