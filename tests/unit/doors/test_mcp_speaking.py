"""What is suggested at the command line, in the words of the MCP door: every tool that is named is there."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator

import hypothesis
from hypothesis import strategies as st

from orchestrator.app.kernel import operations
from orchestrator.core import handoff, questions
from orchestrator.doors.cli import catalogue
from orchestrator.doors.mcp import speaking
from orchestrator.doors.mcp.tools import TOOLS
from tests.architecture import source
from tests.cases import every

CALL = re.compile(rf"\b({'|'.join(TOOLS)})\b(?: (\{{.*?\}}+))?")


@every(
    ("text", "said"),
    [
        ("orchestrator status S1", 'get_status {"session_id": "S1"}'),
        ("orchestrator group show A --session-id S1", 'get_group {"id": "A", "session_id": "S1"}'),
        ("orchestrator group list --session-id S1", 'get_status {"session_id": "S1"}'),
        ("orchestrator why A --session-id S1", 'get_group {"id": "A", "session_id": "S1"}'),
        ("orchestrator validate S1", 'validate_session {"session_id": "S1"}'),
        ("orchestrator audit decisions", "list_decisions"),
        ("orchestrator next --agent-id dev-1 --session-id S1", 'get_next_action {"session_id": "S1"}'),
        ("orchestrator route developer READY_FOR_QA --session-id S1 --group-id A",
         'route {"current_agent": "developer", "status": "READY_FOR_QA", "session_id": "S1", "group_id": "A"}'),
        ("orchestrator route project_manager BAZINGA --session-id S1 --acknowledge A=REASON",
         'route {"current_agent": "project_manager", "status": "BAZINGA", "session_id": "S1",'
         ' "acknowledge": {"A": "REASON"}}'),
        (handoff.command("S1", "A", 4), 'handoff {"group_id": "A", "turn": 4, "session_id": "S1"}'),
        (handoff.report_command("S1", "A", "developer", 4),
         'route {"session_id": "S1", "group_id": "A", "current_agent": "developer", "turn": 4, "status": "CODE",'
         ' "summary": "TEXT", "details": "JSON"}'),
        ("Start it: `orchestrator task set-status T1 in_progress --session-id S1 --by developer`, then report.",
         'Start it: `update_task_status {"id": "T1", "status": "in_progress", "session_id": "S1"}`, then report.'),
        ("orchestrator task claim T1 --session-id S1 --agent-id dev-1",
         'update_task_status {"id": "T1", "session_id": "S1", "status": "in_progress"}'),
        ("orchestrator task set-status 'T 1' done --reason 'it is done'",
         'update_task_status {"id": "T 1", "status": "done", "reason": "it is done"}'),
        ("orchestrator audit timeline --session-id S1", "read orchestrator://sessions/S1/timeline"),
        ("orchestrator workflow show", "read orchestrator://workflow"),
        ("orchestrator status S1, and orchestrator group show A",
         'get_status {"session_id": "S1"}, and get_group {"id": "A"}'),
        ("orchestrator status S1; see the log", 'get_status {"session_id": "S1"}; see the log'),
        ("orchestrator status S1 tells more", 'get_status {"session_id": "S1"} tells more'),
        ("orchestrator agent list", "At the command line: orchestrator agent list"),
        (questions.command("S1:Q4", "continue", "review"),
         "At the command line: orchestrator answer S1:Q4 --decision continue"),
        ("orchestrator group set-status A in_progress --by project_manager --reason TEXT",
         "At the command line: orchestrator group set-status A in_progress --by project_manager --reason TEXT"),
        ("orchestrator handoff A --at 3", "At the command line: orchestrator handoff A --at 3"),
        ("Repeat with --session-id ID", "Repeat with session_id ID"),
        ("Repeat with another --request-id", "Repeat with another request_id"),
        ("Report without --acknowledge", "Report without acknowledge"),
        ("A person repeats it at a terminal, or with --human-token-file FILE",
         "A person repeats it at a terminal, or with --human-token-file FILE"),
        ("One of: orchestrator://workflow", "One of: orchestrator://workflow"),
        ("install a newer agent-orchestrator", "install a newer agent-orchestrator"),
        ("A person says it: orchestrator inbox --session-id S1; then go on",
         "A person says it: at the command line: orchestrator inbox --session-id S1; then go on"),
        ("Repair it, at the command line: orchestrator doctor", "Repair it, at the command line: orchestrator doctor"),
        ("", ""),
    ],
)  # fmt: skip
def test_a_suggestion_names_what_is_here(text: str, said: str) -> None:
    assert speaking.spoken(text) == said


def suggested() -> Iterator[str]:
    """Every text in use cases and rules that holds a command, with NAME for each of its values."""
    for module in (*source.below("orchestrator/app"), *source.below("orchestrator/core")):
        for node in ast.walk(module.tree):
            text = ""
            if isinstance(node, ast.JoinedStr):
                text = "".join(str(each.value) if isinstance(each, ast.Constant) else "NAME" for each in node.values)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                text = node.value
            words = re.match(r"orchestrator ([a-z]+(?: [a-z-]+)?)", text)
            if words and {words[1], words[1].partition(" ")[0]} & set(catalogue.every()):
                yield text


def offered(text: str) -> None:
    """Hold what is suggested against what there is here."""
    for tool, given in CALL.findall(text):
        try:
            assert set(json.loads(given or "{}")) <= set(TOOLS[tool].arguments), text
        except json.JSONDecodeError as problem:
            raise AssertionError(text) from problem
    rest = re.sub(rf"(?i){speaking.COMMAND_LINE}orchestrator ", "", text)
    assert "orchestrator " not in rest, text


def test_every_suggestion_of_a_use_case_is_a_call_or_somebody_s_command() -> None:
    texts = set(suggested())
    assert len(texts) > 60
    for text in texts:
        said = speaking.spoken(text)
        offered(said)
        assert CALL.search(said) or "orchestrator://" in said or speaking.COMMAND_LINE in said.lower(), text


def test_every_form_is_a_command_and_what_it_names_is_here() -> None:
    assert set(speaking.FORMS) <= set(catalogue.every())
    for form in speaking.FORMS.values():
        assert form.resource or {*form.positional, *form.fixed} <= {
            *TOOLS[form.name].arguments, *TOOLS[form.name].aliases
        }
    assert {tool.words for tool in TOOLS.values()} <= {*speaking.FORMS, *operations.every()}


@hypothesis.given(
    words=st.sampled_from([f"orchestrator {words}" for words in catalogue.every()]),
    more=st.lists(st.sampled_from(["S1", "--session-id", "--turn", "'a b'", "it's", "-s", "x,", "--", '"', "`", "\n"])),
)
def test_whatever_stands_in_a_command_nothing_of_it_is_lost_or_broken(words: str, more: list[str]) -> None:
    text = " ".join([words, *more])
    said = speaking.spoken(text)
    assert (speaking.COMMAND_LINE in said.lower()) or "orchestrator " not in said or "orchestrator://" in said
    ends = [(each.start, each.end) for each in speaking.commands(text)]
    assert all(start < end <= len(text) for start, end in ends)


def test_an_answer_is_followed_by_one_line_for_each_kind_of_command() -> None:
    answer = {
        "next": ["orchestrator handoff A --turn 4 --session-id S1", "orchestrator handoff B --turn 5 --session-id S1"],
        "spawns": [{"report_command": "orchestrator route developer X", "redispatch": "orchestrator redispatch A"}],
        "goal": "orchestrator status S1", "instruction": "Do it: `orchestrator validate S1`.",
    }  # fmt: skip
    assert speaking.beside(answer).splitlines() == [
        "With the tools and resources of this server:",
        'orchestrator handoff A --turn 4 --session-id S1 is handoff {"group_id": "A", "turn": 4, "session_id": "S1"}',
        'orchestrator route developer X is route {"current_agent": "developer", "status": "X"}',
        'orchestrator validate S1 is validate_session {"session_id": "S1"}',
    ]
    assert speaking.beside({"success": True, "next": []}) == ""
