"""The status that an executor's answer reports of its own work, where that is not an end.

What counts is what counts in an agent's final message: a line `STATUS: BLOCKED` however it is decorated, a fenced
`json` report, or a line that begins with the bare word in capitals. Quotes, code and examples do not speak, and a word
in the middle of a sentence is no status. Of an answer that is itself what was wanted, only the last line counts.

Source: seed 000, INV-2; seed 001, Property 1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from orchestrator.core import message_lines, names, status_marks, strict_json
from orchestrator.core.lazy_regex import regex
from orchestrator.core.message_lines import Line
from orchestrator.core.running import prompt_words as words

BLOCKED = "BLOCKED"
_UNFINISHED = frozenset(words.UNFINISHED.split("|"))
_CODES = "|".join(each.replace("_", "[ _-]") for each in sorted(_UNFINISHED, key=len, reverse=True))
_DECORATED = r"[^\w`\"'(]*"
_LINE = regex(
    rf"{_DECORATED}(?:(?:final |overall )?(?:{words.STATES})\W*[:=|\uff1a]\W*)(?-i:(?P<said>{_CODES}))(?![\w])"
    rf"|{_DECORATED}(?-i:(?P<bare>{words.UNFINISHED_ALONE}))(?=\W*\Z|[*_]*\s*[:.!,\uff1a\u2014\u2013-])"
    rf"(?!\W*(?:none|no|nothing|n/a|0)\W*\Z)|{_DECORATED}(?:{words.STATES_JA})\W*[:=\uff1a]?\W*(?P<ja>{words.UNFINISHED_JA})",
    re.IGNORECASE,
)  # fmt: skip
_SPOKEN_OF = regex(
    rf"\A\s*(?:`[^`]*`|\"[^\"]*\")\s+\w|(?<!\w)(?:{_CODES})[*_`\"')\]]*\s+(?:{words.SPOKEN_OF})(?!\w)", re.IGNORECASE
)
"""A sentence about a status, and not a report of it."""
_BREAKS = regex("[\f\v\x1c-\x1e\x85\u2028\u2029]")
_LOOKED_AT = 500
"""Characters of a line that are looked at: a status stands at its beginning."""


def unfinished(output: str, *, is_answer: bool) -> str | None:
    """The first status in an executor's answer that says its work is not done, or None.

    Args:
        output: what it said.
        is_answer: the text itself is what was wanted, and may tell of the status of other things.
    """
    if not _may_say_so(output):
        return None
    parts = _spoken(_BREAKS.sub("\n", output))
    if is_answer:
        parts = [each for each in parts if not isinstance(each, Line) or each.text.strip()][-1:]
    return next(_statuses(parts), None)


def _may_say_so(output: str) -> bool:
    raised = output.upper()
    return any(word in raised for word in words.UNFINISHED_STEMS)


def _spoken(text: str) -> list[Line | message_lines.Block]:
    """The parts that speak; all lines of a text that was cut off, as what is hidden in it cannot be told."""
    try:
        return list(message_lines.spoken(text))
    except message_lines.Unclosed:
        return [Line(number, line, True) for number, line in enumerate(text.split("\n"), 1)]


def _statuses(parts: list[Line | message_lines.Block]) -> Iterator[str]:
    lines = [each for each in parts if isinstance(each, Line)]
    told = [mark.status for mark in status_marks.find(lines) if not _SPOKEN_OF.search(mark.text[:_LOOKED_AT])]
    told += [status for each in parts if isinstance(each, message_lines.Block) for status in _of_block(each.text)]
    for status in map(names.status_name, told):
        if status in _UNFINISHED:
            yield status
    for line in lines:
        found = _LINE.match(line.text[:_LOOKED_AT])
        if found is not None:
            yield names.status_name(found["said"] or found["bare"] or words.UNFINISHED_CODES_JA[found["ja"]])


def _of_block(text: str) -> Iterator[str]:
    try:
        value = strict_json.loads(text, "the json block", None)
    except strict_json.JsonProblem:
        return
    if isinstance(value, dict) and isinstance(value.get("status"), str):
        yield value["status"]
