"""One report is taken out of a message; examples do not count and contradictions are refused."""

from __future__ import annotations

import json
import re
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator import errors
from orchestrator.core import report_parser
from orchestrator.core.report_parser import Extracted


def block(report: Any, info: str = "json", fence: str = "```") -> str:
    return f"{fence}{info}\n{json.dumps(report, indent=1)}\n{fence}\n"


BLOCKED = {"status": "BLOCKED", "summary": "No key"}
APPROVED = {"status": "APPROVED"}


@pytest.mark.parametrize(
    ("text", "status"),
    [
        pytest.param("STATUS: BLOCKED", "BLOCKED", id="only the line"),
        pytest.param("All done.\n\nSTATUS: READY_FOR_QA\n\n", "READY_FOR_QA", id="line after prose"),
        pytest.param("a\r\nSTATUS: PASS \t\r\n\r\n", "PASS", id="CRLF and trailing blanks"),
        pytest.param("\ufeffSTATUS:PASS", "PASS", id="BOM, no blank"),
        pytest.param("status: blocked", "blocked", id="as it was written"),
        pytest.param("   STATUS: PASS", "PASS", id="three blanks"),
        pytest.param("STATUS: PASS\nso I say\nSTATUS: pass", "pass", id="the same line twice"),
        pytest.param("> STATUS: FAIL\n\nSTATUS: PASS", "PASS", id="quoted example"),
        pytest.param("```\nSTATUS: FAIL\n```\nSTATUS: PASS", "PASS", id="fenced example"),
        pytest.param("~~~text\nSTATUS: FAIL\n```\n~~~\nSTATUS: PASS", "PASS", id="tilde fence around backticks"),
        pytest.param("````\n```\nSTATUS: FAIL\n```\n````\nSTATUS: PASS", "PASS", id="longer fence"),
        pytest.param("      STATUS: FAIL\n\nSTATUS: PASS", "PASS", id="indented example"),
        pytest.param("\tSTATUS: FAIL\n\nSTATUS: PASS", "PASS", id="example after a tab"),
        pytest.param("I write `STATUS: FAIL` or say STATUS: FAIL.\nSTATUS: PASS", "PASS", id="inside a sentence"),
        pytest.param("```inline``` code\nSTATUS: PASS", "PASS", id="inline code is no fence"),
        pytest.param("**Status:** all tests pass\n\nSTATUS: PASS", "PASS", id="heading in prose"),
        pytest.param("Status: 3 of 4 tests pass\n\nSTATUS: PASS", "PASS", id="prose with the word"),
        pytest.param("**STATUS:** PASS\n\nSTATUS: PASS", "PASS", id="decorated, agreeing"),
        pytest.param("STATUS:\n\nSTATUS: PASS", "PASS", id="empty heading"),
        pytest.param("x\x0bSTATUS: FAIL\u2028STATUS: FAIL\nSTATUS: PASS", "PASS", id="no line ends here"),
        pytest.param('```json\n{"status": 3, // no JSON\n}\n```\nSTATUS: PASS'.replace("status", "code"), "PASS",
                     id="block that is not JSON and no report"),
        pytest.param(block({"name": "x"}) + "STATUS: PASS", "PASS", id="json block without status"),
        pytest.param(block([APPROVED]) + "STATUS: PASS", "PASS", id="json block that is a list"),
        pytest.param(block(APPROVED, info="") + "STATUS: FAIL", "FAIL", id="block without json"),
        pytest.param(block(APPROVED, info="json example") + "STATUS: FAIL", "FAIL", id="block that says example"),
    ],
)  # fmt: skip
def test_a_status_line_reports(text: str, status: str) -> None:
    assert report_parser.extract(text) == Extracted(status, "", None, None, {})


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(block(BLOCKED), id="only the block"),
        pytest.param("I tried.\n\n" + block(BLOCKED) + "\n", id="block after prose"),
        pytest.param(block(BLOCKED).replace("\n", "\r\n"), id="CRLF"),
        pytest.param(block(BLOCKED, info=" JSON "), id="info in capitals"),
        pytest.param(block(BLOCKED, fence="~~~~"), id="tildes"),
        pytest.param(block(BLOCKED) + block({"summary": "No key", "status": "BLOCKED"}), id="the same twice"),
        pytest.param(block(BLOCKED) + "STATUS: blocked", id="an agreeing line"),
        pytest.param("> " + block(APPROVED).replace("\n", "\n> ") + "\n" + block(BLOCKED), id="quoted example"),
        pytest.param("````text\n" + block(APPROVED) + "````\n" + block(BLOCKED), id="fenced example"),
        pytest.param(block(APPROVED, info="") + block(BLOCKED), id="example in another fence"),
        pytest.param("    ```json\n    {\"status\": \"APPROVED\"}\n    ```\n" + block(BLOCKED), id="indented example"),
    ],
)  # fmt: skip
def test_a_json_block_reports(text: str) -> None:
    assert report_parser.extract(text) == Extracted("BLOCKED", "No key", None, None, {})


@pytest.mark.parametrize(
    ("text", "message", "candidates"),
    [
        pytest.param("", "The message holds no report.", [], id="empty"),
        pytest.param("All is APPROVED, DONE and BAZINGA.", "The message holds no report.", [], id="prose"),
        pytest.param("> STATUS: PASS", "The message holds no report.", [], id="only a quoted example"),
        pytest.param(block(APPROVED, info="text"), "The message holds no report.", [], id="only a fenced example"),
        pytest.param(
            "\u017ftatus: PASS", "The message has a status line that is not just STATUS: CODE (line 1: 'PASS').",
            [(1, "unclear")], id="long s is no s",
        ),
        pytest.param(
            "STATUS: BLOCKED - cannot be APPROVED until S4 has a value",
            "The message has a status line that is not just STATUS: CODE "
            "(line 1: 'BLOCKED').",
            [(1, "unclear")], id="line with a reason",
        ),
        pytest.param(
            "STATUS: NOT APPROVED", "The message has a status line that is not just STATUS: CODE "
            "(line 1: 'NOT APPROVED').", [(1, "unclear")], id="not approved",
        ),
        pytest.param(
            "**STATUS: BLOCKED**", "The message has a status line that is not just STATUS: CODE (line 1: 'BLOCKED').",
            [(1, "unclear")], id="decorated line",
        ),
        pytest.param(
            "STATUS: PASS\nSTATUS: FAIL", "The message reports more than one status (line 1: 'PASS', line 2: 'FAIL').",
            [(1, "line"), (2, "line")], id="two lines",
        ),
        pytest.param(
            block(APPROVED) + "STATUS: CHANGES_REQUESTED",
            "The message reports more than one status (line 1: 'APPROVED', line 6: 'CHANGES_REQUESTED').",
            [(1, "json"), (6, "line")], id="block against line",
        ),
        pytest.param(
            block(APPROVED) + "**Status:** BLOCKED",
            "The message reports more than one status (line 1: 'APPROVED', line 6: 'BLOCKED').",
            [(1, "json"), (6, "unclear")], id="block against decorated line",
        ),
        pytest.param(
            block(APPROVED) + "STATUS: not approved yet",
            "The message reports more than one status (line 1: 'APPROVED', line 6: 'not approved yet').",
            [(1, "json"), (6, "unclear")], id="block against sentence",
        ),
        pytest.param(
            block(BLOCKED) + block(BLOCKED | {"summary": "No door"}),
            "The message holds several JSON reports that differ (line 1: 'BLOCKED', line 7: 'BLOCKED').",
            [(1, "json"), (7, "json")], id="two blocks, one status",
        ),
        pytest.param(
            block(BLOCKED) + block(APPROVED),
            "The message holds several JSON reports that differ (line 1: 'BLOCKED', line 7: 'APPROVED').",
            [(1, "json"), (7, "json")], id="two blocks, two statuses",
        ),
        pytest.param(
            '```json\n{"status": "PASS"\n```', "A report cannot be read: the json block in line 1 is cut off: "
            "Expecting ',' delimiter at line 1, column 18.", [], id="cut report",
        ),
        pytest.param(
            '```json\n{"status": "PASS", "status": "FAIL"}\n```',
            "A report cannot be read: the json block in line 1 has a duplicate key: $.status.", [], id="status twice",
        ),
        pytest.param(
            "STATUS: PASS\n```\nlog", "The message is cut off: the block that opens in line 2 is never closed.",
            [], id="block never closed",
        ),
        pytest.param(
            "```\nlog\n        ```\nSTATUS: PASS", "The message is cut off: the block that opens in line 1 is never "
            "closed.", [], id="block closed only by an indented example",
        ),
    ],
)  # fmt: skip
def test_a_message_without_one_clear_report_is_refused(
    text: str, message: str, candidates: list[tuple[int, str]]
) -> None:
    with pytest.raises(errors.InvalidInput) as caught:
        report_parser.extract(text)
    assert (caught.value.code, caught.value.message) == ("AMBIGUOUS_REPORT", message)
    assert [(each["line"], each["form"]) for each in caught.value.data["candidates"]] == candidates
    assert "exactly one ```json block" in caught.value.suggestion


HIDDEN = [
    pytest.param("<!-- template:\nSTATUS: APPROVED\n-->", id="comment"),
    pytest.param("<!-- STATUS: APPROVED -->", id="comment on one line"),
    pytest.param("<!-- <!-- -->", id="comment that opens twice"),
    pytest.param("<details>\n<summary>log</summary>\n\nSTATUS: APPROVED\n\n</details>", id="collapsed"),
    pytest.param("<DETAILS open>STATUS: APPROVED</DETAILS >", id="collapsed on one line"),
    pytest.param("<details>\n```\n</details>\n```\nSTATUS: APPROVED\n</details>", id="end of a block in its code"),
    pytest.param("<details><details></details>\nSTATUS: APPROVED\n</details>", id="nested"),
    pytest.param("<blockquote>\nSTATUS: APPROVED\n</blockquote>", id="quote in HTML"),
    pytest.param("<pre>\nSTATUS: APPROVED\n</pre>", id="code in HTML"),
    pytest.param("<details>\n" + block(APPROVED) + "</details>", id="collapsed block"),
    pytest.param("> they said\n> STATUS: APPROVED", id="quote"),
    pytest.param("```yaml\nstatus: APPROVED\n```", id="other fence"),
    pytest.param("`<!--` and `<details>` are code", id="code spans"),
    pytest.param("<!--> <!---> are whole comments", id="short comments"),
]


@pytest.mark.parametrize("text", HIDDEN)
def test_what_is_hidden_or_quoted_neither_reports_nor_contradicts(text: str) -> None:
    with pytest.raises(errors.InvalidInput, match="The message holds no report"):
        report_parser.extract(f"I cannot approve this.\n\n{text}")
    assert report_parser.extract(f"{text}\n\nSTATUS: FAIL").status == "FAIL"


@pytest.mark.parametrize("opening", ["<!--", "<details>", "<blockquote>", "```", "<pre>"])
def test_what_is_never_closed_is_refused(opening: str) -> None:
    with pytest.raises(errors.InvalidInput, match="that opens in line 2 is never closed"):
        report_parser.extract(f"I am done.\n{opening}\nSTATUS: PASS")


@pytest.mark.parametrize(
    ("report", "rest"),
    [
        pytest.param("STATUS: PASS", "But one test fails.", id="prose"),
        pytest.param("STATUS: PASS", "> quoted", id="quote"),
        pytest.param("STATUS: PASS", "<!-- x -->", id="comment"),
        pytest.param("STATUS: PASS", "```\nlog\n```", id="code"),
        pytest.param(block(APPROVED), "But see above.", id="prose behind a block"),
        pytest.param(block(APPROVED), "**Status:** APPROVED", id="decorated line behind a block"),
    ],
)
def test_a_report_ends_the_message(report: str, rest: str) -> None:
    last = len(f"{report}\n\n{rest}".splitlines())
    with pytest.raises(errors.InvalidInput) as caught:
        report_parser.extract(f"{report}\n\n{rest}\n \n")
    assert caught.value.code == "AMBIGUOUS_REPORT"
    assert f"does not end with its report: line {last} follows it" in caught.value.message


SECOND = [
    "**Status:** BLOCKED - no test environment", "FINAL STATUS: BLOCKED", "Overall status: BLOCKED",
    "## Status\n\nBLOCKED",
    "Status\n------\nBLOCKED, there is no environment", "STATUS: \u274c BLOCKED", "\u274c **Status**: BLOCKED",
    "**Status:** `BLOCKED`", "| Status | BLOCKED |", "| Group | Status |\n|---|---|\n| A | BLOCKED |",
    "| Status: BLOCKED | A |\n|---|---|\n| x | y |", "Statut : BLOCKED", "Estado: BLOCKED", "\u72b6\u6001\uff1aBLOCKED",
    "\u0421\u0442\u0430\u0442\u0443\u0441: BLOCKED", "Status: blocked", "**Status:** blocked (no environment)",
    "Status: not ready", "Status: still blocked", '{"status": "BLOCKED", "x": 1}', '{\n  "status": "BLOCKED"\n}',
    block(BLOCKED), "__Status__: BLOCKED", "<b>Status:</b> BLOCKED", "STATUS = BLOCKED", "Status \u2192 BLOCKED",
    "Status is BLOCKED", "STATUS BLOCKED", "- Status: BLOCKED", "1. Status: BLOCKED", "- [x] Status: BLOCKED",
    "***STATUS: BLOCKED***", "\uff33\uff34\uff21\uff34\uff35\uff33\uff1aBLOCKED", "STA\u200bTUS: BLOCKED",
    "text\n    STATUS: BLOCKED", "Status (final): BLOCKED", "Status of group A: BLOCKED", "# STATUS: BLOCKED",
    "Status: READY FOR REVIEW", "> quoted\n**Status:** BLOCKED", "STATUS: BLOCKED", "STATUS: no way",
]  # fmt: skip


@pytest.mark.parametrize("second", SECOND)
def test_a_second_status_that_differs_is_a_contradiction_however_decorated(second: str) -> None:
    with pytest.raises(errors.InvalidInput) as caught:
        report_parser.extract(f"{second}\n\nSTATUS: READY_FOR_QA")
    last = len(second.split("\n")) + 2
    assert caught.value.code == "AMBIGUOUS_REPORT"
    places = rf"reports more than one status \(line \d: .*, line {last}: 'READY_FOR_QA'\)"
    assert re.search(places, caught.value.message)


PROSE = [
    "Status: 3 of 4 tests pass", "**Status:** all tests pass", "The status is fine now", "Exit status: 0",
    "HTTP status: OK",
    "git status shows nothing", "## Status\n\nAll done.", "I set the status of task T to done",
    "status code of the page",
    "| A | B |\n|---|---|\n| BLOCKED | x |", "| Status | Owner |\n|---|---|\n| 3 of 4 | dev |", "Status: CI is green",
    "Status: QA passed", "STATUS:\n\n----", "Statusbar: BLOCKED",
]  # fmt: skip
AGREEING = [
    "**Status:** READY_FOR_QA - 12 tests", "Status: ready for QA", "Status: Ready-for-QA", "| Status | READY FOR QA |",
    "## Status\n\nREADY_FOR_QA", "STATUS: READY_FOR_QA",
]


@pytest.mark.parametrize("text", PROSE + AGREEING)
def test_prose_and_what_agrees_contradict_nothing(text: str) -> None:
    assert report_parser.extract(f"{text}\n\nSTATUS: READY_FOR_QA").status == "READY_FOR_QA"


BARE = [
    ("qa", "PASS", [
        "BLOCKED", "FAIL", "FAILED", "FLAKY", "PARTIAL", "NEEDS_INPUT", "NEEDS INPUT", "FAIL ESCALATE",
        "**BLOCKED**", "# BLOCKED", "## BLOCKED ##", "\u274c BLOCKED", "BLOCKED.", "`BLOCKED`", "[BLOCKED]",
        "--- BLOCKED ---",
        "\u2192 BLOCKED", ":x: BLOCKED", "<b>BLOCKED</b>", "\uff22\uff2c\uff2f\uff23\uff2b\uff25\uff24",
        "BLOC\u200bKED",
        "Blocked.", "blocked", "\U0001f6ab Blocked \U0001f6ab", "The tests cannot run.\nBLOCKED",
        "BLOCKED\nThe environment is down.", "## BLOCKED\n\nNo environment.", "- [ ] PASS\n- [x] BLOCKED", "BLOCKED:",
        "Result: BLOCKED", "**Verdict:** FAIL", "Final result: BLOCKED", "Conclusion - FLAKY", "Not done.", "NOT READY",
        "not tested yet", "I was told to go on, but it is\n\nBLOCKED", "Earlier states:\nFAIL\n\nNow it is\n\nBLOCKED",
        "Status - BLOCKED", "[Status] BLOCKED", "Status\tBLOCKED", "Status\u2026 BLOCKED",
        "The status is BLOCKED",
    ]),
    ("developer", "READY_FOR_QA", ["BLOCKED", "FAILED", "NEEDS_REVIEW", "READY_FOR_REVIEW", "NOT_READY"]),
    ("tech_lead", "APPROVED", ["CHANGES REQUESTED", "Not approved.", "Verdict: CHANGES_REQUESTED", "REJECTED"]),
    ("pm", "BAZINGA", ["REWORK", "CONTINUE", "BLOCKED", "Not finished."]),
]  # fmt: skip
MENTIONED = [
    ("qa", "PASS", [
        "Nothing is BLOCKED any more.", "The group was BLOCKED yesterday.", "> BLOCKED", "```\nBLOCKED\n```",
        "    FAIL",
        "- BLOCKED\n- FAIL\n- PASS", "1. BLOCKED\n2. FAIL", "\u2022 BLOCKED",
        "1. First run:\n   FAIL\n2. Then:\n   PASS",
        "Earlier states:\nBLOCKED\nFAIL", "Earlier states:\n\nBLOCKED", "## History\n\nBLOCKED\nFAIL",
        "Previous status: BLOCKED", "Previous status:\nBLOCKED", "BLOCKED -> FAIL -> PASS", '"BLOCKED"',
        "\u201cBLOCKED\u201d", "~~BLOCKED~~", "BLOCKED?", "## Blocked\n\nNone", "## BLOCKED\n\nNone.",
        "**Failed**\n\n0", "Blocked:\n- nothing", "BLOCKED: none", "Passed: 12\nFailed: 0",
        "- [ ] BLOCKED\n- [x] PASS", "NOT BLOCKED",
        "I looked at what was said about this group, and it is no longer\nBLOCKED.", "| A | BLOCKED |",
        "With the environment back, nothing that I could find is\nBLOCKED, and all tests were run.", "PASS", "PASSED",
        "<details>\nBLOCKED\n</details>", "<!-- BLOCKED -->", "UNBLOCKED", "Blocker: none", "DONE", "Result: PASS",
    ]),
    ("developer", "READY_FOR_QA", [
        "PASS", "Result: PASS", "The class is called BLOCKED.", "READY FOR QA", "`BLOCKED` is a constant",
        "## Partial matches\n\nare found now", "## Incomplete\n\nNothing is incomplete.",
    ]),
    ("developer", "BLOCKED", ["FAILED", "BLOCKED", "Blocked.", "Not done.", "NEEDS_INPUT"]),
    ("tech_lead", "CHANGES_REQUESTED", ["FAILED", "Not approved.", "REJECTED"]),
    ("tech_lead", "UNBLOCKING_GUIDANCE", ["FAILED"]),
    ("pm", "BAZINGA", ["COMPLETED:\n- A\n\nBLOCKED:\n- none", "APPROVED", "## Blocked\n\nnobody"]),
]  # fmt: skip


def each_of(table: list[tuple[str, str, list[str]]]) -> list[Any]:
    return [pytest.param(role, status, text, id=f"{role}: {text}") for role, status, texts in table for text in texts]


@pytest.mark.parametrize(("role", "status", "text"), each_of(BARE))
def test_a_line_that_is_only_another_status_of_the_role_is_a_contradiction(role: str, status: str, text: str) -> None:
    for report in (f"STATUS: {status}", block({"status": status})):
        for message in (f"{text}\n\n{report}", f"{report}\n\n{text}"):
            with pytest.raises(errors.InvalidInput, match=r"reports more than one status|several JSON") as caught:
                report_parser.extract(message, role)
            assert caught.value.code == "AMBIGUOUS_REPORT"


@pytest.mark.parametrize(("role", "status", "text"), each_of(MENTIONED))
def test_a_status_that_is_only_mentioned_contradicts_nothing(role: str, status: str, text: str) -> None:
    for report in (f"STATUS: {status}", block({"status": status})):
        assert report_parser.extract(f"{text}\n\n{report}", role).status == status


def test_the_statuses_of_a_workflow_count_as_well() -> None:
    message = "SHIPPED\n\nSTATUS: HELD"
    assert report_parser.extract(message, "tech_lead").status == "HELD"
    with pytest.raises(errors.InvalidInput, match="more than one status"):
        report_parser.extract(message, "tech_lead", ("SHIPPED", "HELD"))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("*" * 2_000_000 + "status", id="marks"), pytest.param("|" + " " * 1_000_000 + "x", id="blanks"),
        pytest.param("<" * 1_000_000, id="tags"), pytest.param("`a`<" * 200_000, id="code spans"),
        pytest.param("|" * 300_000 + "\n|-|", id="cells"), pytest.param("status " * 300_000, id="words"),
    ],
)  # fmt: skip
def test_a_long_line_takes_no_longer_than_its_length(text: str) -> None:
    start = time.process_time()
    assert report_parser.extract(f"{text}\n\nSTATUS: PASS").status == "PASS"
    assert time.process_time() - start < 5


def test_a_block_with_a_status_is_held_to_the_form_of_a_report() -> None:
    with pytest.raises(errors.InvalidInput) as caught:
        report_parser.extract(block({"status": "ok", "data": []}))
    assert caught.value.code == "METADATA_INVALID"
    assert [each["path"] for each in caught.value.data["problems"]] == ["$.data"]


@pytest.mark.parametrize("text", ["STATUS: PASS\0", "\ud800\nSTATUS: PASS"], ids=["NUL", "lone surrogate"])
def test_a_message_that_cannot_be_stored_is_refused(text: str) -> None:
    with pytest.raises(errors.InvalidInput, match="the message contains") as caught:
        report_parser.extract(text)
    assert caught.value.code == "METADATA_INVALID"


FULL = {
    "status": " approved",
    "group_id": "NUR",
    "summary": "Fine ✅",
    "details": {"external": True},
    "metadata": {"status": "implemented"},
    "acknowledge": {"NUR-E2E": "no environment"},
}


@pytest.mark.parametrize("data", [json.dumps(FULL), b"\xef\xbb\xbf" + json.dumps(FULL).encode()], ids=["text", "bytes"])
def test_a_document_is_read_whole(data: bytes | str) -> None:
    assert report_parser.document(data) == Extracted(
        " approved", "Fine ✅", {"external": True}, {"status": "implemented"}, {"NUR-E2E": "no environment"}, "NUR"
    )


def test_only_the_status_of_a_document_is_required() -> None:
    nothing = dict.fromkeys(report_parser.FIELDS)
    assert report_parser.document(json.dumps(nothing | {"status": "PASS"})) == Extracted("PASS", "", None, None, {})
    assert report_parser.document('{"status": "PASS"}') == Extracted("PASS", "", None, None, {})


@pytest.mark.parametrize(
    ("data", "path", "message"),
    [
        pytest.param("{}", "$.status", "is missing", id="no status"),
        pytest.param('{"status": " "}', "$.status", "must be text, not blank text", id="blank status"),
        pytest.param('{"status": 1}', "$.status", "must be text, not a number", id="status as number"),
        pytest.param("[]", "$", "must be an object, not a list", id="list"),
        pytest.param('"STATUS: PASS"', "$", "must be an object, not text 'STATUS: PASS'", id="text"),
        pytest.param('{"status": "A", "sumary": ""}', "$.sumary", "is unknown; did you mean summary?", id="misspelt"),
        pytest.param(
            '{"status": "A", "x": 1}', "$.x",
            "is unknown; a report has status, group_id, summary, details, metadata, acknowledge", id="unknown key",
        ),
        pytest.param('{"status": "A", "summary": 1}', "$.summary", "must be text, not a number", id="summary"),
        pytest.param('{"status": "A", "group_id": 1}', "$.group_id", "must be text, not a number", id="group"),
        pytest.param('{"status": "A", "details": []}', "$.details", "must be an object, not a list", id="details"),
        pytest.param(
            '{"status": "A", "metadata": "m.json"}', "$.metadata", "must be an object, not text 'm.json'", id="metadata"
        ),
        pytest.param(
            '{"status": "A", "acknowledge": ["G"]}', "$.acknowledge", "must be an object, not a list", id="acknowledge"
        ),
        pytest.param(
            '{"status": "A", "acknowledge": {"G": " "}}', "$.acknowledge.G", "must be a reason, not blank text",
            id="blank reason",
        ),
        pytest.param(
            '{"status": "A", "acknowledge": {"G": true}}', "$.acknowledge.G", "must be a reason, not true",
            id="reason that is none",
        ),
        pytest.param(
            '{"status": "A", "acknowledge": {"a/b": "r"}}', "$.acknowledge['a/b']",
            "The group id 'a/b' has '/' (U+002F) at character 2.", id="group that is no id",
        ),
        pytest.param('{"status": "A"', "$", "the report is cut off", id="cut"),
        pytest.param(
            '{"status": "A", "status": "B"}', "$.status", "the report has a duplicate key: $.status", id="twice"
        ),
        pytest.param("\ufeff".encode("utf-16"), "$", "the report is UTF-16", id="UTF-16"),
    ],
)  # fmt: skip
def test_a_faulty_document_is_refused_where_it_is_faulty(data: bytes | str, path: str, message: str) -> None:
    with pytest.raises(errors.InvalidInput) as caught:
        report_parser.document(data)
    (problem,) = caught.value.data["problems"]
    assert (caught.value.code, problem["path"]) == ("METADATA_INVALID", path)
    assert problem["message"].startswith(message)


def test_every_fault_of_a_document_is_listed() -> None:
    with pytest.raises(errors.InvalidInput, match=r"6 problems") as caught:
        report_parser.document('{"extra": 1, "summary": 2, "details": 3, "metadata": 4, "acknowledge": {"G": null}}')
    assert [each["path"] for each in caught.value.data["problems"]] == [
        "$.extra", "$.status", "$.summary", "$.details", "$.metadata", "$.acknowledge.G",
    ]  # fmt: skip


LINES = st.sampled_from(
    [
        "STATUS: PASS", "STATUS: FAIL", "> STATUS: FAIL", "**STATUS:** PASS", "status: nothing yet", "```", "```json",
        "~~~", "````", "    ```", '{"status": "PASS"}', '{"status": "FAIL", "x": 1}', '{"status": ', "prose", "",
    ]
)  # fmt: skip


@given(st.lists(LINES, max_size=12).map("\n".join) | st.text(st.characters(exclude_categories=[])))
def test_any_message_gives_a_report_or_a_declared_error(text: str) -> None:
    try:
        outcome = report_parser.extract(text).status
    except errors.InvalidInput as refusal:
        outcome = refusal.code
    assert outcome
    assert outcome in {"AMBIGUOUS_REPORT", "METADATA_INVALID"} or outcome in text


@given(st.lists(LINES, max_size=8), st.lists(LINES, max_size=8))
def test_a_message_that_says_pass_and_fail_in_plain_lines_is_never_read(before: list[str], after: list[str]) -> None:
    message = "\n".join(["STATUS: PASS", *before, *after, "STATUS: FAIL"])
    with pytest.raises(errors.InvalidInput):
        report_parser.extract(message)


@given(
    st.binary() | st.text() | st.builds(json.dumps, st.dictionaries(st.sampled_from(report_parser.FIELDS), st.text()))
)
def test_any_document_is_read_or_refused_by_the_declared_error(data: bytes | str) -> None:
    try:
        report_parser.document(data)
        code = "METADATA_INVALID"
    except errors.InvalidInput as refusal:
        code = refusal.code
    assert code == "METADATA_INVALID"
