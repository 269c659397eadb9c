"""What of a large document stays in the record: little enough, what decides, and of the rest where it lies."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from orchestrator.core import oversized, strict_json
from orchestrator.errors import UsageError

FOLDER = oversized.folder("S1")


def parted(value: dict[str, Any], what: str = oversized.DETAILS) -> tuple[dict[str, Any], oversized.Moved | None]:
    kept, moved = oversized.document(what, value, FOLDER, lambda each: each)
    assert kept is not None
    return kept, moved


def size(value: object) -> int:
    return len(strict_json.canonical(value).encode())


@pytest.mark.parametrize("letter", ["x", "é", "語", "\n"])
def test_the_limit_is_in_bytes_of_the_document(letter: str) -> None:
    room = oversized.LIMIT - size({"t": ""})
    fits = {"t": letter * (room // (size({"t": letter}) - size({"t": ""})))}
    assert parted(fits) == (fits, None)
    over = {"t": fits["t"] + letter}
    kept, moved = parted(over)
    assert moved is not None
    content = strict_json.canonical(over).encode()
    assert moved == (oversized.DETAILS, f"{FOLDER}/{hashlib.sha256(content).hexdigest()}.json", moved.sha256, content)
    assert (list(kept), oversized.reference(kept["t"])) == (["t"], moved.path)


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({"log": "\x01" * 2**21}, id="one large member"),
        pytest.param({f"log {n}": "語" * 20_000 for n in range(100)}, id="many large members"),
        pytest.param({f"{n} {'語' * 190}": "\x01" * 9_000 for n in range(600)}, id="more than have a reference"),
        pytest.param({str(n): n for n in range(100_000)}, id="very many small members"),
        pytest.param({"x" * 2**21: 1}, id="a large name"),
        pytest.param({oversized.REST: "x" * 2**21, "a": 1}, id="the name of the rest"),
        pytest.param({oversized.REST: 1, "a": "x" * 2**21}, id="the name of the rest, small"),
    ],
)
def test_what_is_kept_always_fits_and_names_the_file(value: dict[str, Any]) -> None:
    value = {**value, "external": True, "external_dependency": "a server"}
    kept, moved = parted(value)
    assert moved is not None
    assert size(kept) <= oversized.LIMIT
    assert (kept["external"], kept["external_dependency"]) == (True, "a server")
    assert {name: item for name, item in kept.items() if oversized.reference(item) is None}.items() <= value.items()
    told = [item for item in kept.values() if oversized.reference(item) is not None]
    assert {(item[oversized.FILE], item["sha256"], item["bytes"]) for item in told} == {
        (moved.path, moved.sha256, len(moved.content))
    }
    # The same content is kept the same, so that a report sent again is the same.
    assert parted(dict(reversed(value.items()))) == (kept, moved)


def test_what_decides_is_never_moved() -> None:
    with pytest.raises(UsageError, match="the largest is artifacts, with"):
        parted({"status": "researched", "artifacts": [{"path": "x" * 2**20}]}, oversized.METADATA)


def test_no_document_is_larger_than_a_report_may_be() -> None:
    with pytest.raises(UsageError, match="message has 67108865 bytes; a report may have 67108864"):
        oversized.message("x" * (oversized.REPORT_LIMIT + 1), FOLDER, lambda each: each)


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("a text", "a text"),
        ({oversized.FILE: "f", "summary": "it begins"}, "it begins"),
        ({oversized.FILE: "f", "summary": 1}, None),
        ({"summary": "no reference"}, None),
        (None, None),
        (3, None),
    ],
)
def test_the_beginning_of_a_text_is_told_wherever_it_lies(value: object, found: str | None) -> None:
    assert oversized.beginning(value) == found
