"""The decision log: each entry has an id of its own, and whatever cites one cites one that exists."""

from __future__ import annotations

import re

import pytest

from tests.architecture import source

FOLDER = source.ROOT / "docs" / "decisions"
AREAS = {path.name: path.read_text("utf-8") for path in sorted(FOLDER.glob("*.md"))}
ENTRY = re.compile(r'- <a id="([a-z]+-\d+)"></a>\*\*([A-Z]+)-(\d+)\*\* \*\*\S')
"""A list item that begins with its anchor, its id and its title."""


def entries(text: str) -> list[tuple[str, int]]:
    """The ids of an area, as prefix and number.

    Raises:
        AssertionError: an item has none, or another anchor.
    """
    found = []
    for line in text.splitlines():
        if line.startswith("- "):
            entry = ENTRY.match(line)
            assert entry, f"no decision: {line[:60]}"
            assert entry[1] == f"{entry[2].lower()}-{entry[3]}", f"another anchor: {line[:60]}"
            found.append((entry[2], int(entry[3])))
    return found


PREFIXES = {name: prefix for name, text in AREAS.items() for prefix, _ in entries(text)}
KNOWN = {f"{prefix}-{number}" for text in AREAS.values() for prefix, number in entries(text)}
ID = re.compile(rf"(?<![\w-])(?:{'|'.join(sorted(set(PREFIXES.values())))})-\d+\b")


def unknown(text: str) -> list[str]:
    """The ids in a text that no decision has."""
    return [each for each in ID.findall(text) if each not in KNOWN]


@pytest.mark.parametrize("name", AREAS)
def test_an_area_has_a_prefix_of_its_own_and_each_number_once(name: str) -> None:
    found = entries(AREAS[name])
    numbers = [number for _, number in found]
    assert {prefix for prefix, _ in found} == {PREFIXES[name]}
    assert [other for other, prefix in PREFIXES.items() if prefix == PREFIXES[name]] == [name]
    assert (numbers, numbers[0]) == (sorted(set(numbers)), 1)


def test_every_id_that_is_cited_exists() -> None:
    texts = [*source.ROOT.glob("*.md"), *source.ROOT.glob("docs/**/*.md"), source.ROOT / "workflow" / "README.md"]
    cited = {path.name: unknown(path.read_text("utf-8")) for path in texts}
    cited |= {module.name: unknown(module.text) for module in source.PRODUCT}
    assert {name: ids for name, ids in cited.items() if ids} == {}
    assert sum(len(ID.findall(module.text)) for module in source.PRODUCT) > 20


def test_the_index_has_every_area() -> None:
    index = (source.ROOT / "DECISIONS.md").read_text("utf-8")
    listed = re.findall(r"^\| \[[^\]]+\]\(docs/decisions/(.+?)\) \| ([A-Z]+) \|", index, re.MULTILINE)
    assert dict(listed) == PREFIXES
    assert [line for line in index.splitlines() if line.startswith("- ")] == [], "a decision goes into its area"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("# why (RUN-1).", [], id="there"),
        pytest.param("# why (RUN-9999).", ["RUN-9999"], id="no such number"),
        pytest.param("a DRY-RUN-9999", [], id="within another word"),
    ],
)
def test_an_id_that_does_not_exist_is_found(text: str, found: list[str]) -> None:
    assert unknown(text) == found


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("- **No id.** Words.", id="no id"),
        pytest.param('- <a id="run-2"></a>**RUN-3** **Title.** Words.', id="another anchor"),
        pytest.param('- <a id="run-2"></a>**RUN-2** words', id="no title"),
    ],
)
def test_an_entry_without_its_id_is_found(text: str) -> None:
    with pytest.raises(AssertionError, match=r"no decision|another anchor"):
        entries(text)
