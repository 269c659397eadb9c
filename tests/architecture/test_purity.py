"""The core gets time, ids and text as arguments. Which modules it imports is a contract in pyproject.toml."""

from __future__ import annotations

import ast

import pytest

from tests.architecture import source

BUILTINS = {"open", "print", "input", "eval", "exec", "__import__"}
CLOCKS = {"now", "utcnow", "today", "fromtimestamp"}


def impure_calls(tree: ast.AST) -> list[str]:
    """Calls that read or change what is outside of the program, as written."""
    called = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    builtin = [function.id for function in called if isinstance(function, ast.Name) and function.id in BUILTINS]
    clock = [
        ast.unparse(function) for function in called if isinstance(function, ast.Attribute) and function.attr in CLOCKS
    ]
    return builtin + clock


def imported(tree: ast.AST) -> set[str]:
    """The full names of the modules that are imported, or from which something is."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


@pytest.mark.parametrize("module", source.below("orchestrator/core"), ids=lambda module: module.name)
def test_the_core_quotes_addresses_and_opens_none(module: source.Module) -> None:
    # Contracts see whole packages of others; of this one a part is pure.
    urllib = {name for name in imported(module.tree) if f"{name}.".startswith("urllib.")}
    assert {name for name in urllib if not f"{name}.".startswith("urllib.parse.")} == set()


@pytest.mark.parametrize("module", source.below("orchestrator/core"), ids=lambda module: module.name)
def test_the_core_reads_no_clock_and_no_file(module: source.Module) -> None:
    assert impure_calls(module.tree) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("open('x')", ["open"], id="file"),
        pytest.param("datetime.now(UTC)", ["datetime.now"], id="clock"),
        pytest.param("datetime.fromisoformat(text)", [], id="reading a given time"),
    ],
)
def test_an_impure_call_is_found(text: str, found: list[str]) -> None:
    assert impure_calls(ast.parse(text)) == found
