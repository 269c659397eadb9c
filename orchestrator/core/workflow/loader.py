"""From the bytes of a workflow file to a document with a hash, or to the reasons why not.

Cold module: it runs at `workflow check` and `workflow load`, never at `route`.

Source: seed 004, Proposed Solution 1.
"""

from __future__ import annotations

import codecs
import json

from orchestrator.core import json_positions
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.workflow import model, problems, vocabulary
from orchestrator.core.workflow.problems import Finding, Path, Problem
from orchestrator.hints import Any

MAX_BYTES = 4 * 1024 * 1024
MAX_DEPTH = 32

_WIDE_MARKS = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class Loaded(NamedTuple):
    """A file as it was read.

    document: what the file says with every effect written out, or None when it cannot be read at all;
    canonical_text, hash: its one spelling and the SHA-256 of that, empty when there is no document;
    problems: what the reading found; lines: path -> line, for the checks that follow;
    raw: the document as the author wrote it.
    """

    document: dict[str, Any] | None
    canonical_text: str
    hash: str
    problems: tuple[Problem, ...]
    lines: dict[Path, int]
    raw: dict[str, Any] | None
    source: str


def load_text(data: bytes, source: str) -> Loaded:
    """Read a workflow file strictly.

    Args:
        data: the bytes of the file, at most 4 MiB.
        source: the name to report it by (a path, or "-").

    Returns: what was read; it never raises, whatever the bytes are.
    """
    found: list[Problem] = []
    text = _decode(data, found)
    if text is None:
        return Loaded(None, "", "", tuple(found), {}, None, source)
    reader = json_positions.Reader(text, MAX_DEPTH)
    raw = _read(reader, found)
    lines = reader.lines()
    found += [problems.place(_worded(fault), lines) for fault in reader.faults]
    if raw is None:
        return Loaded(None, "", "", tuple(found), lines, None, source)
    document = settle(raw)
    canonical = model.canonical(document)
    return Loaded(document, canonical, model.hash_of(canonical), tuple(found), lines, raw, source)


def settle(raw: dict[str, Any]) -> dict[str, Any]:
    """Write out the effects that the file leaves to the built-in table.

    A stored version then says by itself what its statuses mean, whatever a later table says.
    """
    return {key: _settle_block(key, value) for key, value in raw.items()}


def _settle_block(role: str, block: Any) -> Any:
    if role not in vocabulary.REPORTING_ROLES or not isinstance(block, dict):
        return block
    return {status: _settle_entry(role, status, entry) for status, entry in block.items()}


def _settle_entry(role: str, status: str, entry: Any) -> Any:
    if status.startswith("_") or not isinstance(entry, dict) or entry.get("effect") is not None:
        return entry
    return {**entry, "effect": vocabulary.effect_of(role, status)}


def _decode(data: bytes, found: list[Problem]) -> str | None:
    refusal = _refuse_bytes(data)
    if refusal is not None:
        found.append(problems.place(refusal, {}))
        return None
    if data.startswith(codecs.BOM_UTF8):
        data = data[len(codecs.BOM_UTF8) :]
        found.append(
            Problem(
                "W107",
                problems.WARNING,
                "$",
                1,
                "The file begins with a UTF-8 byte order mark; it was ignored.",
                "Save it as UTF-8 without BOM.",
            )
        )
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"Byte {error.start} (line {line}) is not UTF-8."
        found.append(Problem("W103", problems.ERROR, "$", line, message, "Save the file as UTF-8."))
        return None
    if not text.strip():
        found.append(problems.place(_empty(), {}))
        return None
    return text


def _refuse_bytes(data: bytes) -> Finding | None:
    if len(data) > MAX_BYTES:
        message = f"The file has {len(data)} bytes; at most {MAX_BYTES} are read."
        return Finding("W108", (), message, "A workflow file is small; is this the right file?")
    if data.startswith(_WIDE_MARKS) or b"\x00" in data[:4]:
        return Finding("W102", (), "The file is UTF-16 or UTF-32.", "Save it as UTF-8 without BOM.")
    return None


def lines(content: str) -> dict[Path, int]:
    """The line, from 1, on which each entry of a file begins that was loaded before, by its path."""
    reader = json_positions.Reader(content, MAX_DEPTH)
    reader.read()
    return reader.lines()


def _read(reader: json_positions.Reader, found: list[Problem]) -> dict[str, Any] | None:
    try:
        value = reader.read()
    except json_positions.Unreadable as error:
        found.append(problems.place(_worded(error.fault), {})._replace(line=error.fault.line))
        return None
    if not isinstance(value, dict):
        message = f"The file contains {kind_of(value)}, not an object of roles."
        found.append(problems.place(Finding("W110", (), message, "Start the file with {."), reader.lines()))
        return None
    return value


def _worded(fault: json_positions.Fault) -> Finding:
    if fault.kind == json_positions.DEPTH:
        return Finding("W108", fault.path, f"The file is nested deeper than {MAX_DEPTH} levels.", "Flatten it.")
    if fault.kind == json_positions.DUPLICATE:
        lines = f"on line {fault.first} and on line {fault.line}"
        message = f"The key {json.dumps(fault.path[-1])} appears twice in one object: {lines}."
        return Finding("W105", fault.path, message, "Join the two, or remove or rename one of them.")
    if fault.kind == json_positions.NUMBER:
        return Finding("W106", fault.path, f"{fault.words} is not a finite number.", "Write a whole number.")
    if fault.kind == json_positions.TEXT:
        message = "A string contains a NUL or half of a surrogate pair."
        return Finding("W109", fault.path, message, "Remove the character.")
    message = f"Not JSON: {fault.words} (line {fault.line}, column {fault.column})."
    return Finding("W104", fault.path, message, "Fix the syntax there; comments go into `_note` keys.")


def kind_of(value: object) -> str:
    """What JSON calls a value, for messages."""
    names: tuple[tuple[type | tuple[type, ...], str], ...] = (
        (dict, "an object"),
        (list, "a list"),
        (str, "a text"),
        (bool, "true or false"),
        ((int, float), "a number"),
    )
    return next((name for kind, name in names if isinstance(value, kind)), "null")


def _empty() -> Finding:
    return Finding("W101", (), "The file is empty.", "Begin with the shipped workflow/transitions.json.")
