"""Frozen values are what `typing.NamedTuple` makes, except that nobody reads their annotations."""

from __future__ import annotations

import copy
import typing

import pytest

from orchestrator.core import tuples


class Ours(tuples.NamedTuple):
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
