"""What log lines say of groups: read as words, never as parts of words, and proving nothing."""

from __future__ import annotations

import pytest

from orchestrator.core.imported import logs


def line(content: str, agent: str = "qa_expert", group: str | None = None, number: str = "1") -> logs.Line:
    return logs.Line(number, agent, group, content, logs.statuses(content))


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param("Group A: BLOCKED, no network", {"BLOCKED"}, id="a status"),
        pytest.param("blocked", set(), id="a word of prose"),
        pytest.param("UNBLOCKED DISAPPROVED X_BLOCKED BLOCKED_2", set(), id="parts of words"),
        pytest.param("NOT APPROVED, never BLOCKED", set(), id="denied"),
        pytest.param("APPROVED_WITH_NOTES", {"APPROVED_WITH_NOTES"}, id="the longer one"),
        pytest.param("BLOCKED then UNBLOCKING_GUIDANCE", {"BLOCKED", "UNBLOCKING_GUIDANCE"}, id="two"),
        pytest.param("READY_FOR_QA", set(), id="one that matters not"),
    ],
)
def test_a_line_names_statuses(content: str, expected: set[str]) -> None:
    assert logs.statuses(content) == expected


def test_lines_belong_to_the_group_that_they_name() -> None:
    lines = [line("A.1: BLOCKED"), line("see A.1."), line("A.12 and B"), line("x", group="B"), line("nothing")]
    found = logs.of_groups(lines, {"A.1": "A.1", "B": "B"})
    assert {group: [each.content for each in of] for group, of in found.items()} == {
        "A.1": ["A.1: BLOCKED", "see A.1."],
        "B": ["A.12 and B", "x"],
    }


def test_every_line_of_an_only_group_is_its_own() -> None:
    assert logs.of_groups([line("APPROVED")], {"main": "main"}) == {"main": [line("APPROVED")]}


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        pytest.param([], None, id="no line"),
        pytest.param([line("PASS")], None, id="never blocked"),
        pytest.param([line("BLOCKED")], 0, id="blocked"),
        pytest.param([line("BLOCKED"), line("APPROVED", "orchestrator")], 0, id="the coordinator settles nothing"),
        pytest.param([line("BLOCKED", "orchestrator")], None, id="nor does it block"),
        pytest.param([line("BLOCKED"), line("UNBLOCKING_GUIDANCE", "tech_lead")], None, id="settled"),
        pytest.param([line("BLOCKED"), line("APPROVED", "tech_lead"), line("BLOCKED")], 2, id="blocked again"),
    ],
)
def test_a_block_stands_until_an_agent_settles_it(lines: list[logs.Line], expected: int | None) -> None:
    assert logs.last_block(lines) == expected
