"""What is suggested, in the words of the MCP door: every tool that is named is there, with these arguments."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from orchestrator.core import handoff, questions, suggestions
from orchestrator.core.suggestions import again, options, reword, sentence, suggest
from orchestrator.doors.cli import catalogue
from orchestrator.doors.mcp import suggested_calls
from orchestrator.doors.mcp.tools import TOOLS
from tests.cases import every
from tests.unit.doors.declared import SUGGESTED, made

CALL = re.compile(rf"\b({'|'.join(TOOLS)})\b(?: (?=\{{\"))?")
_WORDS = "|".join({each.partition(" ")[0] for each in catalogue.every()})
COMMAND = re.compile(rf"(?<![\w/.-])orchestrator (?:{_WORDS})\b")


@every(
    ("suggested", "said"),
    [
        (suggest("status", session_id="S1"), 'get_status {"session_id": "S1"}'),
        (suggest("session show", id="S1"), 'get_status {"session_id": "S1"}'),
        (suggest("group show", id="A", session_id="S1"), 'get_group {"id": "A", "session_id": "S1"}'),
        (suggest("group list", session_id="S1"), 'get_status {"session_id": "S1"}'),
        (suggest("why", id="A", session_id="S1"), 'get_group {"id": "A", "session_id": "S1"}'),
        (suggest("audit decisions"), "list_decisions"),
        (suggest("next", agent_id="dev-1", session_id="S1"), 'get_next_action {"session_id": "S1"}'),
        (suggest("route", current_agent="project_manager", status="BAZINGA", acknowledge={"A": "REASON"}),
         'route {"current_agent": "project_manager", "status": "BAZINGA", "acknowledge": {"A": "REASON"}}'),
        (handoff.command("S1", "A", 4), 'handoff {"group_id": "A", "turn": 4, "session_id": "S1"}'),
        (handoff.report_command("S1", None, "developer", 4),
         'route {"session_id": "S1", "current_agent": "developer", "turn": 4, "status": "CODE", "summary": "TEXT",'
         ' "details": "JSON"}'),
        (sentence("Start it: `{}`, then report.", suggest("task set-status", id="T 1", status="in_progress", by="dev")),
         'Start it: `update_task_status {"id": "T 1", "status": "in_progress"}`, then report.'),
        (suggest("task claim", id="T1", session_id="S1", agent_id="dev-1"),
         'update_task_status {"id": "T1", "session_id": "S1", "status": "in_progress"}'),
        (suggest("audit timeline", session_id="S1"), "read orchestrator://sessions/S1/timeline"),
        (suggest("workflow show"), "read orchestrator://workflow"),
        (suggest("audit timeline", session_id="S1", since=3),
         "at the command line: orchestrator audit timeline --session-id S1 --since 3"),
        (suggest("agent list"), "at the command line: orchestrator agent list"),
        (suggest("db check", repair=True, db="/srv/x.db"), "at the command line: orchestrator db check --repair"),
        (questions.command("S1:Q4", "continue", "review"),
         "for a person, at the command line: orchestrator answer S1:Q4 --decision continue"),
        (again(session_id="ID"), "Repeat with session_id ID"),
        (again(acknowledge={"A": "REASON"}), 'Repeat with acknowledge {"A": "REASON"}'),
        (sentence("Repeat with another {}", options(request_id=True)), "Repeat with another request_id"),
        (again(agent_id="AGENT"), "Repeat with --agent-id AGENT"),
        ("A person repeats it at a terminal", "A person repeats it at a terminal"),
        ({"next": [suggest("status")], "goal": "orchestrator status is slow"},
         {"next": ["get_status"], "goal": "orchestrator status is slow"}),
    ],
)  # fmt: skip
def test_a_suggestion_names_what_is_here(suggested: Any, said: Any) -> None:
    assert reword(suggested, suggested_calls.worded) == said


def offered(found: Any) -> None:
    """Hold what is told against what there is here: the tools take what is named, and no command is an agent's."""
    for text in texts(found):
        for call in CALL.finditer(text):
            given = json.JSONDecoder().raw_decode(text, call.end())[0] if text.startswith('{"', call.end()) else {}
            assert set(given) <= set(TOOLS[call[1]].arguments), text
        rest = re.sub(f"{suggested_calls.COMMAND_LINE}orchestrator ", "", text)
        assert not COMMAND.search(rest), text


def without_role(answer: dict[str, Any]) -> dict[str, Any]:
    """A hand-off without the text of its role, which the author of the workflow wrote for the command line."""
    role = (answer.get("handoff") or {}).get("role_text") if isinstance(answer.get("handoff"), dict) else None
    if not role:
        return answer
    told = answer["markdown"].replace(role, "")
    return {**answer, "handoff": {**answer["handoff"], "role_text": ""}, "markdown": told}


def texts(found: Any) -> Iterator[str]:
    """Every text of an answer that the product words itself."""
    if isinstance(found, dict):
        for value in found.values():
            yield from texts(value)
    elif isinstance(found, list):
        for each in found:
            yield from texts(each)
    elif isinstance(found, str):
        yield found


@pytest.mark.parametrize("name", SUGGESTED)
def test_every_suggestion_of_the_product_is_a_call_or_somebody_s_command(name: str) -> None:
    said = suggested_calls.worded(made(name))
    offered(said)
    assert CALL.match(said) or said.startswith("read orchestrator://") or suggested_calls.COMMAND_LINE in said


def test_every_form_is_a_command_and_what_it_names_is_here() -> None:
    assert {*suggested_calls.FORMS, *suggested_calls.RESOURCES} <= set(catalogue.every())
    for form in suggested_calls.FORMS.values():
        assert {*form.renamed.values(), *form.fixed} <= set(TOOLS[form.tool].arguments)


def test_who_acts_on_it_is_known() -> None:
    operations = ("answer", "workflow check", "audit export", "status")
    assert [suggest(words).audience for words in operations] == [
        suggestions.PERSON, suggestions.AUTHOR, suggestions.ELSEWHERE, suggestions.CALLER
    ]
