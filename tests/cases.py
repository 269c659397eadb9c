"""Many cases of one test: a table that is too long to make every row a test of its own."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

Test = Callable[..., None]


def every(
    names: str | Sequence[str], cases: Iterable[Any] | Callable[[], Iterable[Any]], ids: Sequence[str] | None = None
) -> Callable[[Test], Test]:
    """Run a test with every case, as one test, and name all cases that fail.

    Written as `pytest.mark.parametrize`. A row that is a test of its own costs about four milliseconds to
    collect, run and report; where a case takes less than that, a table of hundreds of rows belongs
    here. The test's fixtures are set up once for all cases, so a case must leave them as it found them.

    Args:
        names: the arguments that a case gives; the test's other arguments are fixtures.
        cases: the rows, plain or as `pytest.param`; or a function that finds them, which is called when the test runs.
        ids: what a failure calls them (default: the row itself).

    Raises:
        ValueError: there are no cases, or the ids are not as many; of a function's cases when the test runs.
    """
    given = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    known = None if callable(cases) else _named(given, cases, ids)

    def decorate(test: Test) -> Test:
        def run(**fixtures: Any) -> None:
            rows = _named(given, cases(), ids) if callable(cases) else known or []
            failed: dict[str, BaseException] = {}
            for name, row in rows:
                try:
                    test(**dict(zip(given, row, strict=True)), **fixtures)
                except (Exception, pytest.fail.Exception) as error:
                    failed[name] = error
            if failed:
                told = "\n".join(f"[{name}] {type(error).__name__}: {error}" for name, error in failed.items())
                raise AssertionError(f"{len(failed)} of {len(rows)} cases failed:\n{told}") from next(
                    iter(failed.values())
                )

        signature = inspect.signature(test)
        left = [parameter for name, parameter in signature.parameters.items() if name not in given]
        run.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        run.__name__, run.__qualname__, run.__module__ = test.__name__, test.__qualname__, test.__module__
        run.__doc__ = test.__doc__
        run.__dict__["pytestmark"] = getattr(test, "pytestmark", [])
        return run

    return decorate


def _named(given: Sequence[str], cases: Iterable[Any], ids: Sequence[str] | None) -> list[tuple[str, Sequence[Any]]]:
    """What a failure calls each case, and its values."""
    rows = [_row(case, alone=len(given) == 1) for case in cases]
    called = [name or repr(row[0] if len(given) == 1 else row) for name, row in rows] if ids is None else list(ids)
    if not rows or len(called) != len(rows):
        raise ValueError(f"{len(rows)} cases and {len(called)} ids of {', '.join(given)}")
    return [(name, row) for name, (_, row) in zip(called, rows, strict=True)]


def _row(case: Any, *, alone: bool) -> tuple[str | None, Sequence[Any]]:
    """The id and the values of a case."""
    if hasattr(case, "values") and hasattr(case, "marks"):
        if case.marks:
            raise ValueError(f"a case of a table has no marks: {case}")
        return case.id, case.values
    return None, (case,) if alone else case
