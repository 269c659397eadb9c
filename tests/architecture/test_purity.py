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


CORE = source.below("orchestrator/core")


def test_the_core_quotes_addresses_and_opens_none() -> None:
    # Contracts see whole packages of others; of this one a part is pure.
    found = [(module.name, f"{name}.") for module in CORE for name in imported(module.tree)]
    assert [each for each in found if each[1].startswith("urllib.") and not each[1].startswith("urllib.parse.")] == []


def test_the_core_reads_no_clock_and_no_file() -> None:
    assert [f"{module.name}: {call}" for module in CORE for call in impure_calls(module.tree)] == []


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


READERS = {
    "core/canonical_json.py": "it reads the values of one row, which SQLite has just put into an array",
    "core/json_edit.py": "it finds where the values of a valid text stand, to edit it in place",
    "core/json_positions.py": "it names the faults of a text, and where they are",
    "core/strict_json.py": "everything else is read through it",
    "core/masking_json.py": "it reads single strings within a text, to mask them in place",
    "app/clients/hooks.py": "it keeps one small file of its own, and is read as a file",
    "resources.py": "it stands below the reader, and reads what pip wrote about this installation",
    "runner/executors/api_child.py": "it stands alone, and imports nothing of this project",
    "store/verify_chain.py": "it reads every event of a record, with the compiled reader where there is one",
}
"""The modules that parse JSON by themselves, and why."""


def parses_json(tree: ast.AST) -> bool:
    """Whether it calls a reader of the library's, or of the compiled one."""
    used = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    readers = [node for node in used if node.attr in ("load", "loads", "JSONDecoder")]
    return any(ast.unparse(node.value) in ("json", "orjson") for node in readers)


def test_json_is_read_by_one_reader() -> None:
    found = {module.name.removeprefix("orchestrator/") for module in source.PRODUCT if parses_json(module.tree)}
    assert found == set(READERS)


@pytest.mark.parametrize(
    ("text", "found"),
    [("json.loads(text)", True), ("orjson.loads", True), ("json.JSONDecoder()", True), ("json.dumps({})", False)],
)
def test_a_reader_of_json_is_found(text: str, found: bool) -> None:
    assert parses_json(ast.parse(text)) is found
