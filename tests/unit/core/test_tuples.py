"""Frozen values are what `typing.NamedTuple` makes, except that nobody reads their annotations."""

from __future__ import annotations

import copy
import typing
from typing import Any

import pytest

from orchestrator.core import named_tuple


class Ours(named_tuple.NamedTuple):
    """A value."""

    name: str
    sizes: tuple[int, ...] = ()
    other: NotThere | None = None  # type: ignore[name-defined] # noqa: F821

    @property
    def size(self) -> int:
        """The sum."""
        return sum(self.sizes)


class Theirs(typing.NamedTuple):
    """A value."""

    name: str
    sizes: tuple[int, ...] = ()
    other: int | None = None


def test_a_value_is_a_tuple_with_names_and_defaults() -> None:
    value = Ours("a", (1, 2))
    assert value == ("a", (1, 2), None)
    assert (value.name, value.sizes, value.size) == ("a", (1, 2), 3)
    assert value._replace(name="b") == Ours(name="b", sizes=(1, 2))
    assert isinstance(value, tuple)


def test_a_value_is_described_as_by_typing() -> None:
    described = [(each._fields, each._field_defaults, each.__doc__, each.__module__) for each in (Ours, Theirs)]
    assert described[0] == described[1]
    assert (Ours.__qualname__, repr(Ours("a"))) == ("Ours", "Ours(name='a', sizes=(), other=None)")
    assert Ours.__annotations__["sizes"] == "tuple[int, ...]"


def test_a_value_is_frozen() -> None:
    with pytest.raises(AttributeError):
        Ours("a").name = "b"  # type: ignore[misc]


def test_a_copy_is_of_the_same_class() -> None:
    copied = copy.deepcopy(Ours("a", (1,)))
    assert (copied, type(copied)) == (Ours("a", (1,)), Ours)


def test_values_are_given_by_place_and_by_name_in_any_order() -> None:
    whole = Ours("a", (1,), None)
    assert Ours("a", other=None, sizes=(1,)) == Ours(sizes=(1,), name="a") == Ours("a", (1,)) == whole
    assert Ours._make(["a", (1,), None]) == whole
    assert whole._asdict() == {"name": "a", "sizes": (1,), "other": None}


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ((), {}),
        (("a", (), None, 1), {}),
        (("a",), {"name": "b"}),
        (("a",), {"size": 1}),
        ((), {"sizes": (), "other": None, "size": 1}),
        ((), {"sizes": ()}),
    ],
)
def test_what_is_missing_unknown_or_given_twice_is_refused(values: tuple[Any, ...], named: dict[str, Any]) -> None:
    for _ in range(10):
        # A class of which many values are made by name gets a constructor of its own on the way.
        assert Ours(name="a") == ("a", (), None)
        with pytest.raises(TypeError):
            Ours(*values, **named)


def test_a_field_that_is_not_there_cannot_be_replaced() -> None:
    with pytest.raises(ValueError, match="Ours has no size"):
        Ours("a")._replace(size=1)
