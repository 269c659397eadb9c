"""Reading what a program printed: plain text, or a JSON object that is the whole of it or its end."""

from __future__ import annotations

import re

from orchestrator.core import strict_json
from orchestrator.hints import Any

_OPENING = re.compile(r'^\{(?:\s*"|\}\s*\Z)', re.MULTILINE)


class Unreadable(ValueError):
    """The output is neither text nor a whole JSON object; `cut` where it ends too early."""

    def __init__(self, sentence: str, *, cut: bool) -> None:
        super().__init__(sentence)
        self.cut = cut


def final_object(stdout: str) -> dict[str, Any] | None:
    """The JSON object that the output is, or that ends it and begins on a line of its own.

    Text around quoted objects stays text: None is returned where the output ends with anything else.

    Raises:
        Unreadable: such an object has begun and is not whole, or not strict JSON.
    """
    text = stdout.strip()
    begins = [found.start() for found in _OPENING.finditer(text)]
    if not begins:
        return None
    start = 0 if begins[0] == 0 and strict_json.end_of(text, 0) == len(text) else begins[-1]
    end = strict_json.end_of(text, start)
    if end == len(text):
        return _strict(text[start:])
    if end is None:
        _refuse_cut(text, start)
    return None


def objects(stdout: str) -> list[dict[str, Any]]:
    """Every line of the output that is a strict JSON object; other lines are left out."""
    found = []
    for line in stdout.splitlines():
        if line.startswith("{") and strict_json.end_of(line, 0) is not None:
            try:
                found.append(_strict(line))
            except Unreadable:
                continue
    return found


def _refuse_cut(text: str, start: int) -> None:
    """Tell the beginning of a result from an example, or from bytes that are no text, after which the text goes on."""
    if start and "\n" in text[start:] and not strict_json.breaks_off(text, start):
        return
    try:
        strict_json.loads(text[start:], "the JSON result", None)
    except strict_json.JsonProblem as problem:
        raise Unreadable(problem.message, cut=problem.kind == "cut") from problem


def _strict(text: str) -> dict[str, Any]:
    try:
        found = strict_json.loads(text, "the JSON result", None)
    except strict_json.JsonProblem as problem:
        raise Unreadable(problem.message, cut=problem.kind == "cut") from problem
    if not isinstance(found, dict):
        raise Unreadable("the JSON result is no object", cut=False)
    return found
