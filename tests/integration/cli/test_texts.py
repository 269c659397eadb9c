"""Texts and documents from stdin and files, and reports that are taken out of an agent's message."""

from __future__ import annotations

import json
import pathlib

import pytest

from tests.integration.cli.conftest import Ask, Lines, Run

ROUTE = ("route", "-s", "S1", "-g", "A")
REPORT = {"status": "READY_FOR_QA", "summary": "all done", "details": {"dev_output": "x"}}


def reported(ask: Ask) -> dict[str, str]:
    """The newest report, as the explanation of its decision shows it."""
    newest = ask("audit", "decisions", "-s", "S1", "--order", "desc", "--limit", "1")["decisions"][0]
    found: dict[str, str] = ask("why", newest["id"])["report"]
    return found


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        pytest.param("plain", "plain", id="as it is"),
        pytest.param("-", "from stdin", id="stdin"),
        pytest.param("@text.txt", "from a file\nof two lines", id="file"),
        pytest.param("@@home", "@home", id="a literal @"),
        pytest.param("a@b", "a@b", id="an @ inside"),
        pytest.param("--odd", "--odd", id="what looks like an option"),
        pytest.param("", "", id="empty"),
    ],
)
def test_a_text_is_taken_from_where_it_is(given: str, kept: str, ask: Ask, tmp_path: pathlib.Path) -> None:
    (tmp_path / "text.txt").write_bytes("\ufefffrom a file\nof two lines\r\n".encode())
    answer = ask("group", "create", "T", "-s", "S1", "--name", given, stdin=b"from stdin\n")
    assert answer["group"]["name"] == (kept or "T")


def test_stdin_is_read_once(ask: Ask) -> None:
    answer = ask(*ROUTE, "dev", "PARTIAL", "--summary", "-", "--details", "-", stdin=b"x")
    assert (answer["code"], answer["error"]) == ("USAGE", "--summary and --details cannot both read stdin.")


@pytest.mark.parametrize(("data", "code"), [(b"\xff\xfe", 4), (b"a\x00b", 64)], ids=["no UTF-8", "NUL"])
def test_a_file_that_is_no_text_is_refused(data: bytes, code: int, ask: Ask, tmp_path: pathlib.Path) -> None:
    (tmp_path / "text.bin").write_bytes(data)
    answer = ask("group", "create", "T", "-s", "S1", "--name", "@text.bin")
    assert (answer["success"], answer["_exit"]) == (False, code)


@pytest.mark.parametrize("given", ['{"dev_output": "é"}', "-", "@details.json"], ids=["argument", "stdin", "file"])
def test_details_are_handed_on(given: str, ask: Ask, tmp_path: pathlib.Path) -> None:
    text = '{"dev_output": "é"}'
    (tmp_path / "details.json").write_text(text, "utf-8")
    ask(*ROUTE, "developer", "READY_FOR_QA", "--details", given, stdin=text.encode())
    context = ask("handoff", "A")["handoff"]["context"]
    assert [(item["name"], item["value"]) for item in context] == [("dev_output", "é")]


def test_a_report_may_be_one_document(ask: Ask, tmp_path: pathlib.Path) -> None:
    (tmp_path / "report.json").write_text(json.dumps(REPORT))
    assert ask(*ROUTE, "--current-agent", "developer", "--report", "report.json")["next_agent"] == "qa_expert"
    assert (reported(ask)["response_status"], reported(ask)["summary"]) == ("READY_FOR_QA", "all done")


def test_a_report_is_found_in_an_agents_message(ask: Ask) -> None:
    message = f"I am done.\n\n> STATUS: FAIL\n\n```json\n{json.dumps(REPORT)}\n```\n"
    answer = ask(*ROUTE, "--current-agent", "developer", "--output", "-", stdin=message.encode())
    assert (answer["response_status"], reported(ask)["summary"]) == ("READY_FOR_QA", "all done")


@pytest.mark.parametrize(
    ("message", "code"),
    [
        pytest.param("STATUS: PASS\nSTATUS: FAIL\n", "AMBIGUOUS_REPORT", id="two statuses"),
        pytest.param("nothing to report", "AMBIGUOUS_REPORT", id="none"),
        pytest.param('```json\n{"status": 7}\n```', "METADATA_INVALID", id="a faulty document"),
    ],
)
def test_a_message_without_one_clear_report_is_refused(message: str, code: str, ask: Ask) -> None:
    answer = ask(*ROUTE, "--current-agent", "developer", "--output", "-", stdin=message.encode())
    assert (answer["code"], answer["_exit"]) == (code, 4)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        pytest.param(("--status", "BLOCKED"), "contradict", id="another status"),
        pytest.param(("--summary", "no"), "contradict", id="another summary"),
        pytest.param(("--output", "report.json"), "together", id="two sources"),
    ],
)
def test_what_contradicts_the_report_is_a_wrong_call(
    more: tuple[str, ...], words: str, ask: Ask, tmp_path: pathlib.Path
) -> None:
    (tmp_path / "report.json").write_text(json.dumps(REPORT))
    answer = ask(*ROUTE, "--current-agent", "developer", "--report", "report.json", *more)
    assert (answer["code"], words in answer["error"]) == ("USAGE", True)


def test_what_agrees_with_the_report_is_welcome(ask: Ask, tmp_path: pathlib.Path) -> None:
    (tmp_path / "report.json").write_text(json.dumps(REPORT))
    words = ("--current-agent", "developer", "--status", "ready_for_qa", "--report", "report.json")
    assert ask(*ROUTE, *words)["response_status"] == "READY_FOR_QA"


@pytest.mark.parametrize("pair", ["A", "=x", "A=1,A=2"], ids=["no reason", "no group", "one group twice"])
def test_an_acknowledgement_names_a_group_and_a_reason(pair: str, ask: Ask) -> None:
    words = [word for each in pair.split(",") for word in ("--acknowledge", each)]
    assert ask("route", "pm", "BAZINGA", "-s", "S1", *words)["code"] == "USAGE"


def test_metadata_comes_from_a_file(ask: Ask, tmp_path: pathlib.Path) -> None:
    metadata = {"status": "failed", "errors": [{"type": "missing_dependency", "recoverable": False}]}
    (tmp_path / "meta.json").write_text(json.dumps(metadata))
    assert ask("metadata", "check", "meta.json")["blocker_type"] == "missing_dependency"
    answer = ask(*ROUTE, "developer", "READY_FOR_QA", "--metadata", "meta.json")
    assert (answer["code"], answer["_exit"]) == ("METADATA_MISMATCH", 4)
    assert ask(*ROUTE, "developer", "BLOCKED", "--metadata", "meta.json")["success"] is True
    assert ask("group", "show", "A")["group"]["blockers"][0]["type"] == "missing_dependency"


def test_a_dry_run_records_nothing(ask: Ask) -> None:
    answer = ask(*ROUTE, "developer", "READY_FOR_QA", "--dry-run")
    assert (answer["next_agent"], answer["dry_run"]) == ("qa_expert", True)
    assert ask("group", "show", "A")["group"]["status"] == "pending"


def test_one_agent_that_is_started_is_named_once(run: Run, ask: Ask) -> None:
    shown = run(*ROUTE, "developer", "READY_FOR_QA").stdout.decode()
    assert (shown.count("qa_expert"), shown.splitlines()[0]) == (1, "spawn: qa_expert on A, turn 4")
    (spawn,) = ask("audit", "decisions")["decisions"][-1]["spawns"]
    assert (spawn["agent"], spawn["turn"]) == ("qa_expert", 4)


def test_the_hand_off_is_printed_as_markdown_or_json(run: Run, lines: Lines) -> None:
    lines(("route", {"session_id": "S1", "group_id": "A", "current_agent": "developer", "status": "READY_FOR_QA"}))
    head = b'[orchestrator S1 A turn 4 qa_expert spawn]\n\n# Group A: "Login"\n'
    assert run("handoff", "A").stdout.startswith(head)
    assert json.loads(run("handoff", "A", "--format", "json").stdout)["group_id"] == "A"
