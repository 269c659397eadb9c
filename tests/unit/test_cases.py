"""A table of cases that are run as one test: none is left out, and all that fail are named."""

from __future__ import annotations

import pytest

from tests import cases


def test_every_case_runs_and_all_that_fail_are_named() -> None:
    seen = []

    @cases.every("number", [1, pytest.param(2, id="two"), 3, 4, 5])
    def check(number: int) -> None:
        seen.append(number)
        assert number % 2, "even"
        if number == 5:
            pytest.fail("five")

    with pytest.raises(AssertionError) as caught:
        check()
    assert seen == [1, 2, 3, 4, 5]
    told = str(caught.value).splitlines()
    assert (told[0], told[1].partition(" even")[0]) == ("3 of 5 cases failed:", "[two] AssertionError:")
    assert any(line.startswith("[4] AssertionError: even") for line in told)
    assert told[-1] == "[5] Failed: five"


def test_what_no_case_gives_is_a_fixture(request: pytest.FixtureRequest) -> None:
    """The rows may name several arguments; pytest sees the others alone."""
    seen = []

    @cases.every(("number", "word"), [(1, "a"), (2, "b")], ids=["one", "two"])
    def check(number: int, word: str, fixture: str) -> None:
        seen.append((number, word, fixture))

    check(fixture="f")
    assert seen == [(1, "a", "f"), (2, "b", "f")]
    assert pytest.Function.from_parent(request.node.parent, name="check", callobj=check).fixturenames[-1] == "fixture"


@pytest.mark.parametrize("ids", [None, ["one"]])
def test_a_table_without_cases_is_no_test(ids: list[str] | None) -> None:
    with pytest.raises(ValueError, match="0 cases"):
        cases.every("number", [], ids)


def test_cases_can_be_found_when_the_test_runs() -> None:
    found: list[int] = []
    check = cases.every("number", lambda: found)(lambda number: seen.append(number))
    seen: list[int] = []
    with pytest.raises(ValueError, match="0 cases"):
        check()
    found += [1, 2]
    check()
    assert seen == [1, 2]


def test_a_case_of_a_table_cannot_be_marked() -> None:
    with pytest.raises(ValueError, match="marks"):
        cases.every("number", [pytest.param(1, marks=pytest.mark.skip)])
