"""What an agent file may look like, and every way in which it may not."""

from __future__ import annotations

import hashlib
import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator import errors
from orchestrator.core import agents

GOOD = """---
name: developer
description: Builds one group.
tools: Read, Edit
model: sonnet
role: developer
reports_to: tech_lead
statuses:
  - READY_FOR_QA
  - BLOCKED
---

# Developer

You build.
"""


def problems_of(text: str) -> list[dict[str, Any]]:
    with pytest.raises(errors.InvalidInput) as raised:
        agents.parse(text, "agents/developer.md")
    assert raised.value.code == "WORKFLOW_INVALID"
    found: list[dict[str, Any]] = raised.value.data["problems"]
    return found


def ids_of(text: str) -> list[object]:
    return [problem["id"] for problem in problems_of(text)]


def test_a_good_file_is_read_field_by_field() -> None:
    assert agents.parse(GOOD, "agents/developer.md") == agents.AgentFile(
        role="developer",
        name="developer",
        description="Builds one group.",
        model="sonnet",
        tools=("Read", "Edit"),
        reports_to="tech_lead",
        statuses=("READY_FOR_QA", "BLOCKED"),
        text="# Developer\n\nYou build.\n",
        hash=hashlib.sha256(GOOD.encode()).hexdigest(),
        source="agents/developer.md",
    )


@pytest.mark.parametrize(
    "spelling",
    [
        pytest.param(GOOD.replace("\n", "\r\n"), id="windows line ends"),
        pytest.param("\ufeff" + GOOD, id="byte order mark"),
    ],
)
def test_spelling_of_lines_changes_neither_content_nor_hash(spelling: str) -> None:
    assert agents.parse(spelling, "x") == agents.parse(GOOD, "x")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("You build.", "You build!", id="body"),
        pytest.param("model: sonnet", "model: opus", id="front matter"),
    ],
)
def test_any_change_of_the_file_changes_its_hash(old: str, new: str) -> None:
    assert agents.parse(GOOD.replace(old, new), "x").hash != agents.parse(GOOD, "x").hash


@pytest.mark.parametrize(
    ("spelling", "expected"),
    [
        pytest.param("statuses: [READY_FOR_QA, BLOCKED]", ("READY_FOR_QA", "BLOCKED"), id="inline list"),
        pytest.param("statuses: READY_FOR_QA, BLOCKED", ("READY_FOR_QA", "BLOCKED"), id="with commas"),
        pytest.param("statuses: READY_FOR_QA", ("READY_FOR_QA",), id="one word"),
        pytest.param("statuses:\n- READY_FOR_QA\n- BLOCKED", ("READY_FOR_QA", "BLOCKED"), id="block not indented"),
        pytest.param("statuses: ['READY_FOR_QA', \"BLOCKED\"]", ("READY_FOR_QA", "BLOCKED"), id="quoted items"),
        pytest.param("statuses: [BLOCKED] # the one", ("BLOCKED",), id="comment behind a list"),
        pytest.param("statuses:\n  # first\n  - BLOCKED # later", ("BLOCKED",), id="comments in a block"),
        pytest.param("statuses: []", (), id="empty inline list"),
        pytest.param("statuses:", (), id="nothing"),
        pytest.param("", (), id="key absent"),
    ],
)
def test_lists_may_be_written_in_each_usual_form(spelling: str, expected: tuple[str, ...]) -> None:
    text = GOOD.replace("statuses:\n  - READY_FOR_QA\n  - BLOCKED", spelling)
    assert agents.parse(text, "x").statuses == expected


@pytest.mark.parametrize(
    ("spelling", "expected"),
    [
        pytest.param("description: 'Builds: one # group'", "Builds: one # group", id="single quotes"),
        pytest.param('description: "Builds"', "Builds", id="double quotes"),
        pytest.param("description: Builds # what else", "Builds", id="comment"),
        pytest.param("description: Builds C# code", "Builds C# code", id="a sharp inside a word"),
        pytest.param("description:   Builds one group   ", "Builds one group", id="spaces around"),
        pytest.param("description: >\n  Builds\n  one group", "Builds one group", id="folded"),
        pytest.param("description: |\n  Builds:\n  - x", "Builds:\n- x", id="literal"),
        pytest.param("description: 3.10", "3.10", id="what YAML takes for a number"),
        pytest.param("description: no", "no", id="what YAML takes for false"),
        pytest.param("description: 'null'", "null", id="quoted null"),
    ],
)
def test_text_loses_its_quotes_and_its_comment(spelling: str, expected: str) -> None:
    assert agents.parse(GOOD.replace("description: Builds one group.", spelling), "x").description == expected


@pytest.mark.parametrize(
    ("spelling", "expected"),
    [
        pytest.param("tools: Bash(a, b), Read", ("Bash(a, b)", "Read"), id="parentheses"),
        pytest.param("tools: Bash(git add:*), Read", ("Bash(git add:*)", "Read"), id="colon in parentheses"),
        pytest.param("tools: A(b(c, d), e), F", ("A(b(c, d), e)", "F"), id="nested"),
        pytest.param("tools: A), B", ("A)", "B"), id="closed too often"),
        pytest.param("tools:\n  - Bash(a, b)\n  - Read", ("Bash(a, b)", "Read"), id="list"),
        pytest.param("tools: ['Bash(a, b)', Read]", ("Bash(a, b)", "Read"), id="list on one line"),
        pytest.param("tools: null", (), id="null"),
        pytest.param("tools: Read,, Edit,", ("Read", "Edit"), id="commas too many"),
    ],
)
def test_tools_are_a_list_or_a_text_with_commas(spelling: str, expected: tuple[str, ...]) -> None:
    assert agents.parse(GOOD.replace("tools: Read, Edit", spelling), "x").tools == expected


def test_what_is_no_yaml_is_told_with_its_line_and_reason() -> None:
    (problem,) = problems_of(GOOD.replace("Builds one", "Builds: one"))
    assert (problem["line"], problem["message"]) == (
        3, "the front matter is not YAML: mapping values are not allowed here",
    )  # fmt: skip
    (problem,) = problems_of(GOOD.replace("model: sonnet", "model sonnet"))
    assert problem["line"] == 5


@pytest.mark.parametrize("nobody", ["reports_to: null", "reports_to: ~", "reports_to:", ""])
def test_a_role_may_report_to_nobody(nobody: str) -> None:
    assert agents.parse(GOOD.replace("reports_to: tech_lead", nobody), "x").reports_to is None


def test_keys_that_only_claude_code_reads_are_left_alone() -> None:
    text = GOOD.replace("model: sonnet", "model: sonnet\ncolor: blue\nhooks:\n  Stop:\n    - matcher: all")
    assert agents.parse(text, "x").model == "sonnet"


def test_a_rule_in_the_body_does_not_end_the_front_matter_again() -> None:
    assert agents.parse(GOOD + "\n---\n\nMore.\n", "x").text == "# Developer\n\nYou build.\n\n---\n\nMore.\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", ["A001"], id="empty file"),
        pytest.param("# Developer\n", ["A001"], id="no front matter"),
        pytest.param("\n" + GOOD, ["A001"], id="front matter not at the start"),
        pytest.param(GOOD.replace("---\n\n#", "\n#"), ["A001"], id="front matter not closed"),
        pytest.param("---\n---\n", ["A001"], id="front matter empty"),
        pytest.param(GOOD.replace("tools:", "tools"), ["A002"], id="line without colon"),
        pytest.param(GOOD.replace("model: sonnet", "model:sonnet"), ["A002"], id="no space after the colon"),
        pytest.param(GOOD.replace("name:", "- name\nname:"), ["A002"], id="item before any key"),
        pytest.param(GOOD.replace("  - BLOCKED", "  BLOCKED"), ["A002"], id="line under a list that is no item"),
        pytest.param(GOOD.replace("  - BLOCKED", "  - "), ["A006"], id="empty item"),
        pytest.param(GOOD.replace("model: sonnet", "model: sonnet\nmodel: opus"), ["A003"], id="key twice"),
        pytest.param(GOOD.replace("name: developer\n", ""), ["A004"], id="no name"),
        pytest.param(GOOD.replace("description: Builds one group.", "description:"), ["A004"], id="blank description"),
        pytest.param(GOOD.replace("role: developer\n", ""), ["A004"], id="no role"),
        pytest.param(GOOD.replace("model: sonnet\n", ""), ["A004"], id="no model"),
        pytest.param(GOOD.replace("model: sonnet", "model: inherit"), ["A004"], id="model of somebody else"),
        pytest.param(GOOD.replace("role: developer", "role: devloper"), ["A005"], id="unknown role"),
        pytest.param(GOOD.replace("role: developer", "role: user"), ["A005"], id="a person is no agent file"),
        pytest.param(GOOD.replace("role: developer", "role: [developer]"), ["A006", "A004"], id="list for text"),
        pytest.param(GOOD.replace("Builds one", "Builds: one"), ["A002"], id="second colon"),
        pytest.param(GOOD.replace("tools: Read", "tools: @Read"), ["A002"], id="mark of YAML"),
        pytest.param(GOOD.replace("name:", "\tname:"), ["A002"], id="tab"),
        pytest.param(GOOD.replace("sonnet", "*sonnet"), ["A002"], id="alias of nothing"),
        pytest.param(GOOD.replace("sonnet", "son\x07net"), ["A002"], id="control character"),
        pytest.param(GOOD.replace("sonnet", "[" * 5000), ["A002"], id="nested too deeply"),
        pytest.param(GOOD.replace("name: developer", "[a]: b\nname: developer"), ["A002"], id="key that is no text"),
        pytest.param("---\n- a\n- b\n---\n", ["A002"], id="list instead of keys"),
        pytest.param(GOOD.replace("tools: Read, Edit", "tools: {a: b}"), ["A006"], id="keys for a list"),
        pytest.param(GOOD.replace("tools: Read, Edit", "tools: [Read, [Edit]]"), ["A006"], id="list in a list"),
        pytest.param(GOOD.replace("model: sonnet", "model: null"), ["A004"], id="null model"),
        pytest.param(GOOD.replace("model: sonnet", "model: ~"), ["A004"], id="null model as tilde"),
        pytest.param(GOOD.replace("role: developer", "role: Null"), ["A004"], id="null role"),
        pytest.param(GOOD.replace("statuses:", "statuses: [PASS]"), ["A002"], id="list in two forms"),
        pytest.param(GOOD.replace("tools: Read, Edit", "tools: [Read, Edit"), ["A002"], id="list not closed"),
        pytest.param(GOOD.replace("- BLOCKED", "- READY_FOR_QA"), ["A007"], id="status twice"),
        pytest.param(GOOD.replace("- BLOCKED", "- blocked"), ["A007"], id="status in small letters"),
        pytest.param(GOOD.replace("- BLOCKED", "- IS BLOCKED"), ["A007"], id="status of two words"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused(text: str, expected: list[str]) -> None:
    assert ids_of(text) == expected


def test_every_problem_is_named_at_once_with_its_line() -> None:
    text = "---\nname: x\nname: y\nwhat: 1\nrole: boss\nstatuses: [no]\n---\n"
    found = problems_of(text)
    assert [(problem["id"], problem["line"]) for problem in found] == [
        ("A003", 3),
        ("A004", 1),
        ("A004", 1),
        ("A005", 5),
        ("A007", 6),
    ]
    assert {(problem["severity"], problem["path"]) for problem in found} == {("error", "agents/developer.md")}
    assert all(problem["message"] and problem["hint"] for problem in found)


WORDS = st.text(string.ascii_letters + string.digits + " .", min_size=1).map(str.strip).filter(bool)
CODES = st.lists(st.from_regex(r"[A-Z][A-Z0-9_]{0,20}", fullmatch=True), unique=True, max_size=8)


@given(description=WORDS, statuses=CODES, body=st.text(string.printable.replace("\r", "")))
def test_what_is_written_is_what_is_read(description: str, statuses: list[str], body: str) -> None:
    lines = [f"  - {status}" for status in statuses]
    head = ["---", "name: n", f"description: '{description}'", "model: m", "role: qa_expert", "statuses:", *lines]
    file = agents.parse("\n".join([*head, "---", "", body]), "x")
    assert (file.description, file.statuses, file.text) == (description, tuple(statuses), body.lstrip("\n"))


@given(text=st.text() | st.text(string.ascii_letters + "-:[]# \n").map(lambda inner: f"---\n{inner}\n---\n"))
def test_any_text_is_read_or_refused_with_reasons(text: str) -> None:
    assert outcome(text)


def outcome(text: str) -> object:
    """The role that was read, or the problems that were named: never nothing, never another error."""
    try:
        return agents.parse(text, "x").role
    except errors.InvalidInput as refused:
        return refused.data["problems"]
