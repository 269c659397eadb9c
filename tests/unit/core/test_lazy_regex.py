"""Patterns that are compiled when they are first asked."""

from __future__ import annotations

import importlib
import pkgutil
import re

import pytest

from orchestrator.core import running
from orchestrator.core.lazy_regex import _Lazy, regex


def test_a_pattern_answers_as_the_compiled_one_does() -> None:
    for name, given in (("search", "xAab"), ("match", "Ab"), ("fullmatch", "AA"), ("findall", "aAb"), ("split", "xay")):
        lazy, compiled = regex("a+", re.IGNORECASE), re.compile("a+", re.IGNORECASE)
        assert str(getattr(lazy, name)(given)) == str(getattr(compiled, name)(given))
    assert regex("a").sub("b", "xa") == "xb"
    assert [match.span() for match in regex("a").finditer("aba")] == [(0, 1), (2, 3)]


def test_it_is_compiled_when_it_is_first_asked_and_only_then(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = []
    real = re.compile
    monkeypatch.setattr(re, "compile", lambda *given: compiled.append(given) or real(*given))
    pattern = regex("a", re.ASCII)
    assert (pattern.pattern, compiled) == ("a", [])
    assert [bool(pattern.search(each)) for each in ("a", "b")] == [True, False]
    assert pattern.match("a") is not None
    assert compiled == [("a", re.ASCII)]
    with pytest.raises(AttributeError, match="scanner"):
        pattern.scanner("a")  # type: ignore[attr-defined]


def test_every_pattern_of_the_product_can_be_compiled() -> None:
    names = [each.name for each in pkgutil.iter_modules(running.__path__, f"{running.__name__}.")]
    modules = [importlib.import_module(name) for name in names]
    patterns = [each for module in modules for each in vars(module).values() if isinstance(each, _Lazy)]
    assert len(patterns) > 100
    for each in patterns:
        getattr(each, "search")("")  # noqa: B009
