"""Taking one report out of what an agent wrote: a document, or the final message that contains it.

A message reports by one fenced ``json`` block whose object has a ``status``, or by one line ``STATUS: CODE``. What
is quoted (``>``), indented as code or in any other fence is an example. Two reports that differ are refused rather
than chosen from.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from orchestrator import errors
from orchestrator.core import fields, large, names, strictjson
from orchestrator.core.tuples import NamedTuple

FIELDS = ("status", "summary", "details", "metadata", "acknowledge")

_LINE_END = re.compile(r"\r\n|\r|\n")
_FENCE = re.compile(r"(?P<indent>[ \t]*)(?P<fence>`{3,}|~{3,})(?P<info>.*)")
_QUOTE = re.compile(r" {0,3}>")
_CODE = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_STATUS_LINE = re.compile(
    r" {0,3}(?P<before>[-*_#+`| ]*)(?P<word>status)(?P<after>[*_` ]*):(?P<value>.*)", re.IGNORECASE | re.ASCII
)
_ADVICE = (
    'End the message with exactly one ```json block {"status": ..., "summary": ...} or one line STATUS: CODE; '
    "put examples into quotes (>) or other fences."
)


class Extracted(NamedTuple):
    """What an agent reported. ``status`` is as it was written; details and metadata are None where absent."""

    status: str
    summary: str
    details: Mapping[str, Any] | None
    metadata: Mapping[str, Any] | None
    acknowledge: Mapping[str, str]


class _Candidate(NamedTuple):
    """A place that reports, or looks as if it did."""

    line: int
    form: str  # json | line | unclear
    status: str
    text: str
    document: dict[str, Any] | None = None


class _Block(NamedTuple):
    """A fenced block that may be a report."""

    line: int
    text: str


def document(data: bytes | str) -> Extracted:
    """Read a report that is one JSON document {status, summary, details, metadata, acknowledge}.

    Raises:
        errors.InvalidInput: METADATA_INVALID; data ``problems`` is a list of {path, message}, one for every fault.
    """
    try:
        return _read(strictjson.loads(data, "the report", large.REPORT_LIMIT))
    except strictjson.JsonProblem as fault:
        raise _invalid([fields.problem(path, fault.message) for path in fault.paths]) from None


def extract(text: str) -> Extracted:
    """Find the one report in an agent's final message.

    Raises:
        errors.InvalidInput: AMBIGUOUS_REPORT when there is none, an unreadable one, or more than one that differ
            (data ``candidates``: {line, form, status, text}); METADATA_INVALID when the one JSON report is faulty.
    """
    fault = names.text_problem(text)
    if fault:
        raise _invalid([fields.problem("$", f"the message {fault}")])
    candidates = list(_candidates(text.removeprefix("\ufeff")))
    if len({_essence(each) for each in candidates if each.document is not None}) > 1:
        _refuse("The message holds several JSON reports that differ", candidates)
    if len({names.status_name(each.status) for each in candidates}) > 1:
        _refuse("The message reports more than one status", candidates)
    return _chosen(candidates)


def _chosen(candidates: list[_Candidate]) -> Extracted:
    for each in candidates:
        if each.document is not None:
            return _read(each.document)
    for each in candidates:
        if each.form == "line":
            return Extracted(each.status, "", None, None, {})
    if candidates:
        _refuse("The message has a status line that is not just STATUS: CODE", candidates)
    _refuse("The message holds no report", [])


def _essence(candidate: _Candidate) -> str:
    return strictjson.canonical(candidate.document)


def _candidates(text: str) -> Iterator[_Candidate]:
    for part in _parts(_LINE_END.split(text)):
        found = _from_block(part) if isinstance(part, _Block) else _from_line(*part)
        if found:
            yield found


def _parts(lines: list[str]) -> Iterator[_Block | tuple[int, str]]:
    """The lines outside fences and quotes that have a colon, each with its number, and the ``json`` blocks."""
    rest = iter(enumerate(lines, 1))
    for number, line in rest:
        if _QUOTE.match(line):
            continue
        fence = _FENCE.fullmatch(line) if "```" in line or "~~~" in line else None
        if fence and not ("`" in fence["fence"] and "`" in fence["info"]):
            body = _body(rest, fence, number)
            if names.fold_name(fence["info"]) == "json" and _indent(fence) <= 3:
                yield _Block(number, body)
        elif ":" in line:
            yield number, line


def _body(rest: Iterator[tuple[int, str]], fence: re.Match[str], number: int) -> str:
    body: list[str] = []
    for _, line in rest:
        if _closes(line, fence):
            return "\n".join(body)
        body.append(line)
    # What came after the cut could have said the opposite.
    _refuse(f"The message is cut off: the block that opens in line {number} is never closed", [])


def _closes(line: str, fence: re.Match[str]) -> bool:
    end = _FENCE.fullmatch(line)
    return bool(
        end
        and end["fence"].startswith(fence["fence"])
        and not end["info"].strip()
        and _indent(end) <= _indent(fence) + 3
    )


def _indent(fence: re.Match[str]) -> int:
    return len(fence["indent"].expandtabs(4))


def _from_block(block: _Block) -> _Candidate | None:
    try:
        value = strictjson.loads(block.text, f"the json block in line {block.line}", large.REPORT_LIMIT)
    except strictjson.JsonProblem as fault:
        if '"status"' not in block.text:
            return None
        _refuse(f"A report cannot be read: {fault.message}", [])
    if not isinstance(value, dict) or "status" not in value:
        return None
    status = value["status"]
    shown = status if isinstance(status, str) else names.shown(status)
    return _Candidate(block.line, "json", shown, strictjson.canonical(value), value)


def _from_line(number: int, line: str) -> _Candidate | None:
    found = None if line.startswith("    ") else _STATUS_LINE.fullmatch(line)
    value = found["value"].strip() if found else ""
    if not found or not value:
        return None
    if not (found["before"] or found["after"]):
        if _CODE.fullmatch(value):
            return _Candidate(number, "line", value, line)
        return _Candidate(number, "unclear", value, line) if found["word"] == "STATUS" else None
    # Headings such as "**Status:** all tests pass" are prose; one in capitals that is a code may contradict.
    code = value.strip("*_`. |")
    if _CODE.fullmatch(code) and code.isupper():
        return _Candidate(number, "unclear", code, line)
    return None


def _refuse(what: str, candidates: list[_Candidate]) -> NoReturn:
    places = ", ".join(f"line {each.line}: {names.shown(each.status)}" for each in candidates[:5])
    raise errors.InvalidInput(
        "AMBIGUOUS_REPORT",
        f"{what}{f' ({places})' if places else ''}.",
        _ADVICE,
        candidates=[
            {"line": each.line, "form": each.form, "status": each.status[:200], "text": each.text[:200]}
            for each in candidates
        ],
    )


def _read(value: object) -> Extracted:
    if not isinstance(value, dict):
        raise _invalid([fields.problem("$", f"must be an object, not {fields.kind(value)}")])
    reader = fields.Reader()
    _refuse_unknown(value, reader)
    found = Extracted(
        status=reader.text(value, "status", "$", required=True) or "",
        summary=reader.text(value, "summary", "$") or "",
        details=reader.mapping(value, "details", "$"),
        metadata=reader.mapping(value, "metadata", "$"),
        acknowledge=_acknowledge(value, reader),
    )
    if reader.problems:
        raise _invalid(reader.problems)
    return found


def _refuse_unknown(value: dict[str, Any], reader: fields.Reader) -> None:
    for key in value:
        if key not in FIELDS:
            meant = names.nearest(key, FIELDS)
            hint = f"did you mean {meant}?" if meant else f"a report has {', '.join(FIELDS)}"
            reader.refuse(strictjson.at("$", key), f"is unknown; {hint}")


def _acknowledge(value: dict[str, Any], reader: fields.Reader) -> dict[str, str]:
    given = reader.mapping(value, "acknowledge", "$") or {}
    found = {}
    for group, reason in given.items():
        path = strictjson.at("$.acknowledge", group)
        try:
            names.check_id("group", group)
        except errors.UsageError as fault:
            reader.refuse(path, fault.message)
        if isinstance(reason, str) and names.said(reason):
            found[group] = reason
        else:
            reader.refuse(path, f"must be a reason, not {fields.kind(reason)}")
    return found


def _invalid(problems: list[fields.Problem]) -> errors.InvalidInput:
    first = problems[0]
    more = f" ({len(problems)} problems)" if len(problems) > 1 else ""
    return errors.InvalidInput(
        "METADATA_INVALID",
        f"The report is not valid: {first['path']}: {first['message']}{more}.",
        "Mend every listed problem and report again.",
        problems=problems,
    )
