"""What HTTP sends is looked at once, in the finished text: no way of writing a secret in JSON or a page hides it."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Iterator
from typing import Any

import pytest

from orchestrator.core import masking
from orchestrator.core.masking_kinds import KINDS
from orchestrator.doors.web import api_endpoints

LINES = pathlib.Path(__file__).parents[1] / "core"
SECRET = [line for line in (LINES / "secret_lines.txt").read_text("utf-8").splitlines() if line]
INNOCENT = [line for line in (LINES / "innocent_lines.txt").read_text("utf-8").splitlines() if line]
OWN = [kind.found.replace("{", "").replace("}", "") for kind in KINDS]


def written(text: str) -> list[str]:
    """A text between others, each of which JSON or HTML writes in another way."""
    broken = text[: len(text) // 2] + "\u200b" + text[len(text) // 2 :]
    quoted, marked = f'"{text}"', f"<b>{text}&amp;</b>"
    return [text, quoted, f"a\n{text}\tb", f"C:\\{text}\\", marked, f"\x1b[31m{text}\x1b[0m", broken]


def answers(texts: list[str]) -> Iterator[dict[str, Any]]:
    """One answer for each text, written in one way after the other."""
    for number, text in enumerate(texts):
        ways = written(text)
        yield {"groups": [{"id": "A", "why": ["PASS", ways[number % len(ways)]]}], text: number}


def deep(value: Any) -> Any:
    """As if no look had told anything of the value as a whole, and nothing was remembered of any text."""
    masking._HARMLESS.clear()
    return masking._mask_deep(value, ())


@pytest.mark.parametrize(
    "texts", [OWN * 2, SECRET[::3], INNOCENT[::40]], ids=["kinds", "secret lines", "innocent lines"]
)
def test_an_answer_is_sent_as_each_of_its_texts_is_masked(texts: list[str]) -> None:
    for value in answers(texts):
        expected = deep(value)
        for _ in range(2):
            assert json.loads(api_endpoints._told(value).body) == expected
            # A page is made of these values, and escapes them after they are masked.
            assert masking.mask_value(value) == expected


def test_what_a_name_says_is_secret_is_masked_in_an_answer() -> None:
    value = {"a": [{"api_key": 12345678, "password": "hunter2hunter2"}], "pass": "hunter2hunter2"}
    assert json.loads(api_endpoints._told(value).body) == deep(value) != value


def test_a_text_that_is_remembered_as_harmless_is_still_masked_where_a_registered_value_is_in_it() -> None:
    value = {"status": "tests pass 1234567890"}
    masking._HARMLESS.clear()
    assert masking.mask_value(value) == masking.mask_document(value) == value
    assert value["status"] in masking._HARMLESS
    for masked in (masking.mask_value, masking.mask_document):
        assert "1234567890" not in str(masked(value, ("1234567890",)))


def test_only_an_answer_that_held_nothing_is_sent_again_without_a_look(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []

    def look(text: str) -> bool:
        looked.append(text)
        return SECRET[0] in text

    monkeypatch.setattr(masking, "may_hold_secrets", look)
    monkeypatch.setattr(api_endpoints, "_KNOWN_CLEAN", 2)
    monkeypatch.setattr(api_endpoints, "_clean", set())
    for value, looks in (("a", 1), ("a", 0), (SECRET[0], 1), (SECRET[0], 1), ("b", 1), ("a", 0), ("c", 1), ("a", 1)):
        looked.clear()
        api_endpoints._is_clean(value.encode())
        assert len(looked) == looks, value
