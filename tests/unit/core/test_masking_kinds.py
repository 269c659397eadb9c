"""The table of kinds is what the code does, line by line, and what the documentation says (P24, P25)."""

from __future__ import annotations

import pathlib
import re

import pytest

from orchestrator.core import masking, masking_kinds, masking_stream
from orchestrator.core.masking_kinds import KINDS, Kind
from tests.cases import every
from tests.conftest import LONG

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[2]
REGISTERED = masking.registered({"X": "open-sesame-1"})[0]
TOKEN = r"\[MASKED:[A-Z_]+\]"  # noqa: S105 - it stands for one
every_kind = pytest.mark.parametrize("kind", KINDS, ids=[kind.name for kind in KINDS])


def plain(text: str) -> str:
    return text.replace("\x01", "{").replace("\x02", "}")


def parts(kind: Kind) -> tuple[str, str]:
    """The example as it is, and as it is shown."""
    text = kind.found.replace("{{", "\x01").replace("}}", "\x02")
    return plain(text.replace("{", "").replace("}", "")), plain(re.sub(r"\{[^}]*\}", kind.token, text))


@every_kind
def test_p25_each_kind_is_masked_by_its_token(kind: Kind) -> None:
    text, shown = parts(kind)
    assert masking.mask(text, REGISTERED) == shown
    assert masking.mask(shown, REGISTERED) == shown


@every_kind
def test_p24_a_kind_of_the_first_priority_is_masked_before_it_is_stored_and_no_other(kind: Kind) -> None:
    text, shown = parts(kind)
    assert masking.mask_keys(text, REGISTERED) == (shown if kind.stored_masked else text)


@every_kind
def test_p25_what_comes_near_to_a_kind_stays(kind: Kind) -> None:
    innocent = kind.innocent.replace("{{", "{").replace("}}", "}")
    assert masking.mask(innocent) == innocent
    assert masking.mask_keys(innocent) == innocent


@every_kind
def test_p25_each_kind_is_masked_wherever_it_is_cut(kind: Kind) -> None:
    text, shown = parts(kind)
    # In the short form a third of the borders, others for each kind.
    first, step = (0, 1) if LONG else (len(kind.name) % 8, 8)
    for border in range(first, len(text) + 1, step):
        stream = masking_stream.Stream(REGISTERED, keys_only=False)
        assert stream.feed(text[:border]) + stream.feed(text[border:]) + stream.close() == shown


@every("kind", masking_kinds.ISSUED, ids=[kind.name for kind in masking_kinds.ISSUED])
def test_p24_each_mark_of_an_issuer_is_known(kind: Kind) -> None:
    for mark in kind.marks:
        text, shown = parts(Kind(kind.name, kind.row, kind.found.replace(kind.marks[0], mark), ""))
        assert masking.mask_keys(text) == shown


SURROUNDINGS = {
    "words": "Of what the team has done so far, most is ready; the rest waits for a review.\n" * 40,
    "long names": "from the_module_of_many_things import a_function_of_many_words as another_function\n" * 40,
}
"""Long texts: marks are searched for around the long runs where these are few, else in all of the text."""


@every("around", SURROUNDINGS.values(), ids=SURROUNDINGS)
def test_p25_each_kind_and_mark_is_masked_in_a_long_text(around: str) -> None:
    marked = [
        Kind(kind.name, kind.row, kind.found.replace(kind.marks[0], mark), "")
        for kind in masking_kinds.ISSUED
        for mark in kind.marks
    ]
    for kind in (*KINDS, *marked):
        text, shown = parts(kind)
        assert masking.mask(f"{around}\n{text}\n{around}", REGISTERED) == f"{around}\n{shown}\n{around}", kind.name


def test_the_document_on_security_lists_the_kinds() -> None:
    assert listed() in (ROOT / "docs" / "security.md").read_text(encoding="utf-8")


def listed() -> str:
    """The rows of the document's table."""
    named: dict[tuple[int, str], list[str]] = {}
    for kind in KINDS:
        named.setdefault((kind.priority, kind.token), []).append(kind.name)
    when = {1: "before it is stored"}
    rows = (
        f"| {priority} | {', '.join(names)} | `{token}` | {when.get(priority, 'where it is shown or exported')} |"
        for (priority, token), names in sorted(named.items())
    )
    return "\n".join(rows)


INNOCENT = (HERE / "innocent_lines.txt").read_text(encoding="utf-8").splitlines()
SECRET = (HERE / "secret_lines.txt").read_text(encoding="utf-8").splitlines()
FEWEST = 400


def test_there_are_many_innocent_lines() -> None:
    assert len(set(INNOCENT)) >= FEWEST


@every("line", INNOCENT)
def test_p25_an_innocent_line_stays_as_it_is(line: str) -> None:
    assert masking.mask(line) == line
    assert masking.mask_keys(line) == line
    assert masking.mask_value({"log": [line]}) == {"log": [line]}


def test_p25_all_innocent_lines_together_stay_as_they_are() -> None:
    text = "\n".join(INNOCENT)
    assert masking.mask(text) == text
    stream = masking_stream.Stream(keys_only=False)
    assert "".join([*map(stream.feed, re.findall(r"(?s).{1,100}", text)), stream.close()]) == text


@every("line", SECRET)
def test_p25_a_secret_is_masked_whole_and_its_line_stays(line: str) -> None:
    """In the file a secret stands in braces; what is JSON, or holds a line's end, is written with signs of its own."""
    marked = re.sub(r"\{([^{}\"]|\"(?!:))+\}(?!\})|\{[^{}]*\}(?=\")", lambda found: f"\x01{found[0][1:-1]}\x02", line)
    marked = marked.replace("↵", "\n").replace("␍", "\r")
    assert "\x01" in marked
    shown = masking.mask(marked.replace("\x01", "").replace("\x02", ""))
    pattern = re.sub("\x01[^\x02]*\x02", "\x03", marked)
    assert re.fullmatch(re.escape(pattern).replace("\x03", f"(?:{TOKEN})+"), shown), shown


def test_a_kind_says_when_it_is_masked() -> None:
    assert {kind.stored_masked for kind in KINDS if kind.priority == 1} == {True}
    assert {kind.stored_masked for kind in KINDS if kind.priority > 1} == {False}
    assert len({kind.name for kind in KINDS}) == len(KINDS)
