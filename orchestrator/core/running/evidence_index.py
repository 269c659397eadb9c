"""The evidence index as it lies on the disk, and what of it is not understood.

Source: seed 001, Property 21.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping

from orchestrator.core import names, strict_json
from orchestrator.core.running.evidence import Index, Item, Problem, Record, document, is_relative, unreadable
from orchestrator.hints import Any

FORMAT = "orchestrator-evidence"
VERSION = 1

_WHAT = "the evidence index"
_BETWEEN, _TAIL = b",\n", b"\n]}\n"
_HASH = re.compile(r"sha256:[0-9a-f]{64}")
_RAW_PATH = re.compile(r"raw/[A-Za-z0-9][A-Za-z0-9_.-]{0,127}\.log(?:\.gz)?")
_FIELDS = {"format", "version", "session_id", "records"}


def render(index: Index) -> bytes:
    """The index as it lies on the disk: one line a record, so that people can compare two of them."""
    records = _BETWEEN.join(_line(record) for record in index.records)
    return _head(index).encode() + records + _TAIL


def as_of(index: Index, checksum: str) -> Index | None:
    """The index as it was when it had a checksum: what was recorded after that is left out; None if it never had it."""
    taken = hashlib.sha256(_head(index).encode())
    for number, record in enumerate(index.records, 1):
        taken.update((_BETWEEN if number > 1 else b"") + _line(record))
        whole = taken.copy()
        whole.update(_TAIL)
        if whole.hexdigest() == checksum:
            return index._replace(records=index.records[:number])
    return None


def _head(index: Index) -> str:
    session = strict_json.canonical(index.session_id)
    return f'{{"format":"{FORMAT}","version":{VERSION},"session_id":{session},"records":[\n'


def _line(record: Record) -> bytes:
    return strict_json.canonical(document(record)).encode()


def read(data: bytes) -> tuple[Index | None, list[Problem]]:
    """Parse an index.

    Returns:
        The index, or None with the problems: E302, it cannot be read; E305, it has an unknown format or field.

    Source: seed 001, Property 21.
    """
    try:
        content = strict_json.loads(data, _WHAT, None)
    except strict_json.JsonProblem as problem:
        return None, [unreadable(problem.message)]
    faults = _index_faults(content)
    if faults:
        return None, [Problem("E305", None, path, f"{path} of {_WHAT} {fault}") for path, fault in faults]
    assert isinstance(content, dict)  # noqa: S101 - anything else is a fault
    return Index(content["session_id"], tuple(map(_record, content["records"]))), []


def _record(content: Mapping[str, Any]) -> Record:
    items = {key: tuple(Item(**item) for item in content[key]) for key in ("raw", "artifacts")}
    return Record(**{**content, **items})


def _index_faults(content: object) -> list[tuple[str, str]]:
    if not isinstance(content, dict):
        return [("$", "is no object")]
    faults = _field_faults(content, _FIELDS, "$")
    if content.get("format") != FORMAT:
        faults.append(("$.format", f"is not {FORMAT}"))
    if content.get("version") is True or content.get("version") != VERSION:
        faults.append(("$.version", f"is not {VERSION}"))
    if not isinstance(content.get("session_id"), str):
        faults.append(("$.session_id", "is no text"))
    records = content.get("records")
    if not isinstance(records, list):
        return [*faults, ("$.records", "is no list")]
    return faults + [fault for n, record in enumerate(records) for fault in _record_faults(record, f"$.records[{n}]")]


def _field_faults(content: Mapping[str, object], fields: Collection[str], path: str) -> list[tuple[str, str]]:
    unknown = [(strict_json.at(path, key), "is an unknown field") for key in content if key not in fields]
    return unknown + [(strict_json.at(path, key), "is absent") for key in sorted(fields) if key not in content]


def _record_faults(record: object, path: str) -> list[tuple[str, str]]:
    if not isinstance(record, dict):
        return [(path, "is no object")]
    faults = _field_faults(record, Record._fields, path)
    for key, kind in (("kind", str), ("at", str), ("facts", dict), ("atomic", bool), ("aggregated", bool)):
        if key in record and not isinstance(record[key], kind):
            faults.append((f"{path}.{key}", "is of another type"))
    if not isinstance(operation := record.get("operation_id"), str) or not names.ID_PATTERN.fullmatch(operation):
        faults.append((f"{path}.operation_id", "is no id"))
    if not _is_hash(record.get("hash")):
        faults.append((f"{path}.hash", "is no hash of a known kind"))
    return faults + _item_faults(record, "raw", path) + _item_faults(record, "artifacts", path)


def _item_faults(record: Mapping[str, Any], key: str, path: str) -> list[tuple[str, str]]:
    items = record.get(key, [])
    if not isinstance(items, list):
        return [(f"{path}.{key}", "is no list")]
    faults: list[tuple[str, str]] = []
    for number, item in enumerate(items):
        place = f"{path}.{key}[{number}]"
        if not isinstance(item, dict):
            faults.append((place, "is no object"))
            continue
        faults += _field_faults(item, Item._fields, place)
        if not _is_path(item.get("path"), raw=key == "raw"):
            faults.append((f"{place}.path", "is no path of such a file"))
        if not _is_hash(item.get("hash")) and (key == "raw" or item.get("hash") is not None):
            faults.append((f"{place}.hash", "is no hash of a known kind"))
        if not isinstance(item.get("size"), int) or isinstance(item.get("size"), bool) or item["size"] < 0:
            faults.append((f"{place}.size", "is no number of bytes"))
    return faults


def _is_hash(value: object) -> bool:
    return isinstance(value, str) and _HASH.fullmatch(value) is not None


def _is_path(value: object, *, raw: bool) -> bool:
    if not isinstance(value, str):
        return False
    if raw:
        return _RAW_PATH.fullmatch(value) is not None
    return is_relative(value)
