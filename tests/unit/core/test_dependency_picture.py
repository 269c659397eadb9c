"""The picture of what tasks depend on."""

from __future__ import annotations

import itertools
import re
import xml.etree.ElementTree as ET

import pytest

from orchestrator.core.dependency_picture import BOX, Box, svg

CHAIN, FAN = "a chain", "a fan"


def boxes(number: int, **more: str) -> tuple[Box, ...]:
    return tuple(Box(f"T{each}", f"Task {each}", "todo", **more) for each in range(number))


def places(drawn: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in re.findall(r'<rect [^>]*x="(\d+)" y="(\d+)"', drawn)]


@pytest.mark.parametrize("number", [1, 10, 300])
@pytest.mark.parametrize("shape", [CHAIN, FAN])
def test_no_box_lies_on_another_and_each_is_right_of_what_it_depends_on(number: int, shape: str) -> None:
    edges = tuple((f"T{each}", f"T{each - 1 if shape == CHAIN else 0}") for each in range(1, number))
    drawn = svg(boxes(number), edges)
    ET.fromstring(drawn)  # noqa: S314 - our own
    found = places(drawn)
    assert len(set(found)) == number
    for task, on in edges:
        assert found[int(task[1:])][0] >= found[int(on[1:])][0] + BOX[0]
    near = [
        (one, other) for one, other in itertools.combinations(found, 2)
        if abs(other[0] - one[0]) < BOX[0] and abs(other[1] - one[1]) < BOX[1]
    ]  # fmt: skip
    assert near == []


def test_texts_are_escaped_and_cut_by_their_width() -> None:
    drawn = svg((Box("T1", "<b>&", "todo", "/a?b&c"), Box("T2", "題" * 30, "in_progress")), (("T2", "T1"),))
    assert ("<b>" in drawn, "&lt;b&gt;&amp;" in drawn, 'href="/a?b&amp;c"' in drawn) == (False, True, True)
    assert f">{'題' * 12}…<" in drawn


def test_a_ring_is_not_drawn() -> None:
    assert svg(boxes(2), (("T0", "T1"), ("T1", "T0"))) == ""
