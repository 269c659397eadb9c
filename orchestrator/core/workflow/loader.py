"""From the bytes of a workflow file to a document with a hash, or to the reasons why not.

Cold module: it runs at `workflow check` and `workflow load`, never at `route`.

Source: seed 004, Proposed Solution 1.
"""

from __future__ import annotations

import codecs
from typing import Any

from orchestrator.core.tuples import NamedTuple
from orchestrator.core.workflow import model, problems, strict_json, vocabulary
from orchestrator.core.workflow.problems import Finding, Path, Problem

MAX_BYTES = 4 * 1024 * 1024

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
    reader = strict_json.Reader(text)
    raw = _read(reader, found)
    found += [problems.place(finding, reader.lines) for finding in reader.findings]
    if raw is None:
        return Loaded(None, "", "", tuple(found), reader.lines, None, source)
    document = settle(raw)
    canonical = model.canonical(document)
    return Loaded(document, canonical, model.hash_of(canonical), tuple(found), reader.lines, raw, source)


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
                "The file begins with a UTF-8 byte order mark; it was read as if it were not there.",
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
        return Finding("W108", (), message, "A workflow file is small; is it the right file?")
    if data.startswith(_WIDE_MARKS) or b"\x00" in data[:4]:
        return Finding("W102", (), "The file is UTF-16 or UTF-32.", "Save it as UTF-8 without BOM.")
    return None


def _read(reader: strict_json.Reader, found: list[Problem]) -> dict[str, Any] | None:
    try:
        value = reader.read()
    except strict_json.Unreadable as error:
        found.append(problems.place(error.finding, {})._replace(line=error.line))
        return None
    if not isinstance(value, dict):
        message = f"The file holds {kind_of(value)}, not an object of roles."
        found.append(problems.place(Finding("W110", (), message, "Begin with {."), reader.lines))
        return None
    return value


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
