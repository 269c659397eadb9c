"""What is suggested, in the words of the Python interface: calls of methods that take these arguments."""

from __future__ import annotations

import ast
import inspect
import re

import pytest

from orchestrator import Orchestrator
from orchestrator.core import handoff
from orchestrator.core.suggestions import Suggestion, again, suggest
from orchestrator.doors.python.call import worded
from tests.cases import every
from tests.unit.doors.declared import SUGGESTED, made

CALL = re.compile(r"(?<![\w.])o\.([a-z_]+)\(")


@every(
    ("suggested", "said"),
    [
        (handoff.command("S1", "A", 4), "o.handoff(group_id='A', turn=4, session_id='S1')"),
        (suggest("task set-status", id="T1", status="done"), "o.task_set_status(id='T1', status='done')"),
        (suggest("group list"), "o.group_list()"),
        (suggest("audit timeline", since=3), "o.audit_timeline(since=3)"),
        (suggest("db check", repair=True), "orchestrator db check --repair"),
        (suggest("workflow load", file="new.json"), "orchestrator workflow load new.json"),
        (again(reason="TEXT").parts[1], "reason='TEXT'"),
    ],
)
def test_a_suggestion_is_the_call_of_a_method(suggested: Suggestion, said: str) -> None:
    assert worded(suggested) == said


def called(text: str) -> int:
    """Hold every call of a method that a text names against the method; how many there are."""
    found = list(CALL.finditer(text))
    for match in found:
        (end,) = [match.end() + place for place, letter in enumerate(text[match.end() :]) if letter == ")"][:1]
        call = ast.parse(text[match.start() : end + 1], mode="eval").body
        assert isinstance(call, ast.Call)
        given = {each.arg: ast.literal_eval(each.value) for each in call.keywords if each.arg is not None}
        inspect.signature(getattr(Orchestrator, match[1])).bind(None, **given)
    return len(found)


@pytest.mark.parametrize("name", SUGGESTED)
def test_every_suggestion_of_the_product_is_a_call_or_a_command(name: str) -> None:
    said = worded(made(name))
    assert called(said) == 1 or said == made(name)
