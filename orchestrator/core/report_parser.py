"""Taking one report out of what an agent wrote: a document, or the final message that contains it.

A message reports by one fenced ``json`` block whose object has a ``status``, or by one line ``STATUS: CODE``, with
which it ends. What is hidden, quoted or in any other fence does not speak (`message_lines`). Whatever looks like a
second status that differs (`status_marks`, `bare_statuses`) is refused rather than chosen from.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from orchestrator import errors
from orchestrator.core import bare_statuses, fields, message_lines, names, oversized, status_marks, strict_json
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.workflow import vocabulary
from orchestrator.hints import Any, NoReturn

FIELDS = ("status", "group_id", "summary", "details", "metadata", "acknowledge")

_ADVICE = (
    'End the message with exactly one ```json block {"status": ..., "summary": ...} or one line STATUS: CODE, with '
    "nothing after it; put examples into quotes (>) or other fences."
)

_FORWARD = frozenset((
    "submit_test", "submit_review", "test_pass", "approve", "merge", "plan", "continue", "confirm", "end_research",
))  # fmt: skip
"""Effects of a status that a line "FAILED" contradicts, whoever reports it."""


class Extracted(NamedTuple):
    """What an agent reported. ``status`` is as it was written; details, metadata, group are None where absent."""

    status: str
    summary: str
    details: Mapping[str, Any] | None
    metadata: Mapping[str, Any] | None
    acknowledge: Mapping[str, str]
    group_id: str | None = None


class _Candidate(NamedTuple):
    """A place that reports, or looks as if it did."""

    line: int
    last: int
    form: str  # json | line | unclear
    status: str
    text: str
    document: dict[str, Any] | None = None


def document(data: bytes | str) -> Extracted:
    """Read a report that is one JSON document {status, group_id, summary, details, metadata, acknowledge}.

    Raises:
        errors.InvalidInput: METADATA_INVALID; data ``problems`` is a list of {path, message}, one for every fault.
    """
    try:
        return _read(strict_json.loads(data, "the report", oversized.REPORT_LIMIT))
    except strict_json.JsonProblem as fault:
        raise _invalid([fields.problem(path, fault.message) for path in fault.paths]) from None


def extract(text: str, role: str = "", statuses: Collection[str] = ()) -> Extracted:
    """Find the one report in an agent's final message: what ends it.

    Args:
        role: whose message it is; a line that holds nothing but a status of this role counts as a second status.
        statuses: what the role may report besides the statuses that are known of it everywhere.

    Raises:
        errors.InvalidInput: AMBIGUOUS_REPORT when there is none, an unreadable one, one that does not end the message,
            or more than one that differ (data ``candidates``: {line, form, status, text}); METADATA_INVALID when the
            one JSON report is faulty.
    """
    fault = names.text_problem(text)
    if fault:
        raise _invalid([fields.problem("$", f"the message {fault}")])
    message = text.removeprefix("\ufeff")
    candidates = _candidates(message, names.role_name(role), statuses)
    if len({_essence(each) for each in candidates if each.document is not None}) > 1:
        _refuse("The message holds several JSON reports that differ", candidates)
    if len({names.status_name(each.status) for each in candidates}) > 1:
        _refuse("The message reports more than one status", candidates)
    _require_end(candidates, message_lines.last_number(message))
    for each in candidates:
        if each.document is not None:
            return _read(each.document)
    return Extracted(candidates[-1].status, "", None, None, {})


def _require_end(candidates: list[_Candidate], last: int) -> None:
    """Refuse a message that does not end with what reports."""
    reporting = [each for each in candidates if each.form != "unclear"]
    if not candidates:
        _refuse("The message holds no report", [])
    if not reporting:
        _refuse("The message has a status line that is not just STATUS: CODE", candidates)
    if reporting[-1].last != last:
        _refuse(f"The message does not end with its report: line {last} follows it", candidates)


def _essence(candidate: _Candidate) -> str:
    return strict_json.canonical(candidate.document)


def _candidates(message: str, role: str, statuses: Collection[str]) -> list[_Candidate]:
    """Whatever reports or looks as if it did, in the order of the lines."""
    try:
        spoken = list(message_lines.spoken(message))
    except message_lines.Unclosed as problem:
        _refuse(f"The message is cut off: {problem}", [])
    found = [each for part in spoken if isinstance(part, message_lines.Block) for each in _from_block(part)]
    lines = [part for part in spoken if isinstance(part, message_lines.Line)]
    found += [_of_mark(mark) for mark in status_marks.find(lines)]
    goes_forward = any(vocabulary.known_effect(role, names.status_name(each.status)) in _FORWARD for each in found)
    known = vocabulary.known_statuses(role).union(statuses)
    marked = {each.line for each in found}
    for bare in bare_statuses.find(lines, known):
        if bare.mark.line not in marked and (bare.is_own or goes_forward):
            found.append(_of_mark(bare.mark))
    return sorted(found, key=lambda each: each.line)


def _of_mark(mark: status_marks.Mark) -> _Candidate:
    return _Candidate(mark.line, mark.line, "line" if mark.is_plain else "unclear", mark.status, mark.text)


def _from_block(block: message_lines.Block) -> Iterator[_Candidate]:
    try:
        value = strict_json.loads(block.text, f"the json block in line {block.number}", oversized.REPORT_LIMIT)
    except strict_json.JsonProblem as fault:
        if '"status"' in block.text:
            _refuse(f"A report cannot be read: {fault.message}", [])
        return
    if isinstance(value, dict) and "status" in value:
        status = value["status"]
        shown = status if isinstance(status, str) else names.shown(status)
        yield _Candidate(block.number, block.last, "json", shown, strict_json.canonical(value), value)


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
        group_id=reader.text(value, "group_id", "$"),
    )
    if reader.problems:
        raise _invalid(reader.problems)
    return found


def _refuse_unknown(value: dict[str, Any], reader: fields.Reader) -> None:
    for key in value:
        if key not in FIELDS:
            meant = names.nearest(key, FIELDS)
            hint = f"did you mean {meant}?" if meant else f"a report has {', '.join(FIELDS)}"
            reader.refuse(strict_json.at("$", key), f"is unknown; {hint}")


def _acknowledge(value: dict[str, Any], reader: fields.Reader) -> dict[str, str]:
    given = reader.mapping(value, "acknowledge", "$") or {}
    found = {}
    for group, reason in given.items():
        path = strict_json.at("$.acknowledge", group)
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
        "Fix every listed problem and report again.",
        problems=problems,
    )
