"""The words of every module and the size of its functions.

One test each, over all modules: a failure names every place at once, and the suite stays small.
"""

from __future__ import annotations

import ast
import re
import tokenize
from collections.abc import Callable, Iterable

import pytest

from tests.architecture import source

BODY_LINES = 40
UNFINISHED = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")


def parsed(text: str) -> source.Module:
    return source.Module("example.py", text)


def places(find: Callable[[source.Module], Iterable[object]]) -> list[str]:
    """Everything that is found, as `module: what`."""
    return [f"{module.name}: {found}" for module in source.PRODUCT for found in find(module)]


def test_a_function_fits_on_one_screen() -> None:
    assert places(long_functions) == []


def long_functions(module: source.Module) -> list[str]:
    """The functions whose body is too long, with their lines."""
    sizes = [(source.body_lines(function), function) for function in source.functions(module)]
    return [f"{each.name} in line {each.lineno} has {lines} lines" for lines, each in sizes if lines > BODY_LINES]


def test_everything_public_is_described() -> None:
    assert places(undescribed) == []


def undescribed(module: source.Module) -> list[str]:
    """The public parts without a docstring, the module itself among them."""
    silent = [name for name, part in source.public_parts(module.tree) if ast.get_docstring(part) is None]
    return silent if ast.get_docstring(module.tree) is not None else ["the module", *silent]


def test_nothing_is_left_unfinished() -> None:
    assert places(unfinished) == []


def unfinished(module: source.Module) -> list[str]:
    """Comments and names that say that something is still to be done."""
    if not (UNFINISHED.search(module.text) or "NotImplementedError" in module.text):
        return []
    comments = [token.string for token in source.tokens(module, tokenize.COMMENT) if UNFINISHED.search(token.string)]
    names = [token.string for token in source.tokens(module, tokenize.NAME) if token.string == "NotImplementedError"]
    return comments + names


def test_typing_is_loaded_only_where_a_library_evaluates_annotations() -> None:
    assert {place for place in places(loads_typing) if not place.startswith(EVALUATED)} == set()


EVALUATED = (
    "orchestrator/app/answers/", "orchestrator/doors/web/", "orchestrator/doors/mcp/",
    "orchestrator/doors/cli/typer_parser.py",
    "orchestrator/core/workflow/schema.py", "orchestrator/core/workflow/checks_file.py",
)  # fmt: skip
"""Whose annotations pydantic, FastAPI or Typer reads."""


def loads_typing(module: source.Module) -> list[int]:
    """The lines that import `typing` while the program runs."""
    found, waiting = [], list(module.tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        waiting += [each for each in ast.iter_child_nodes(node) if isinstance(each, ast.stmt)]
        if isinstance(node, ast.ImportFrom) and node.module == "typing":
            found.append(node.lineno)
        if isinstance(node, ast.Import) and "typing" in [each.name for each in node.names]:
            found.append(node.lineno)
    return sorted(found)


def test_a_pattern_never_ends_with_a_dollar_which_also_matches_before_a_newline() -> None:
    assert places(dollars) == []


def dollars(module: source.Module) -> list[str]:
    """The constant patterns given to `re` or `regex` that end with an unescaped `$`."""
    calls = [node for node in ast.walk(module.tree) if isinstance(node, ast.Call) and node.args]
    of_re = [call for call in calls if ast.unparse(call.func).startswith(("re.", "regex"))]
    patterns = [call.args[0].value for call in of_re if isinstance(call.args[0], ast.Constant)]
    return [text for text in patterns if isinstance(text, str) and re.search(r"(?<!\\)\$\Z", text)]


def test_the_product_has_modules() -> None:
    assert "orchestrator/errors.py" in {module.name for module in source.PRODUCT}


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        pytest.param("def f():\n    return 1\n", 1, id="one statement"),
        pytest.param('def f():\n    """Words.\n\n    More.\n    """\n    return 1\n', 1, id="the docstring is free"),
        pytest.param("def f():\n    if x:\n        return 1\n    return 2\n", 3, id="blocks count by line"),
        pytest.param('def f():\n    """Words."""\n', 0, id="a docstring alone"),
    ],
)
def test_the_length_of_a_function_is_its_body(text: str, lines: int) -> None:
    assert [source.body_lines(function) for function in source.functions(parsed(text))] == [lines]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("re.compile('a$')", ["a$"], id="end of line"),
        pytest.param("regex('a$')", ["a$"], id="end of line, compiled later"),
        pytest.param(r"re.compile('a\\$')", [], id="a literal dollar"),
        pytest.param("re.compile(r'a\\Z')", [], id="end of text"),
        pytest.param("print('a$')", [], id="no pattern"),
    ],
)
def test_a_final_dollar_is_found(text: str, found: list[str]) -> None:
    assert dollars(parsed(text)) == found


@pytest.mark.parametrize(
    ("find", "text", "found"),
    [
        pytest.param(long_functions, "def f():\n" + "    x = 1\n" * 41, ["f in line 1 has 41 lines"], id="long"),
        pytest.param(undescribed, "def f():\n    pass\n", ["the module", "f"], id="undescribed"),
        pytest.param(unfinished, "x = 1  # TODO\n", ["# TODO"], id="unfinished"),
        pytest.param(loads_typing, "import typing\nif x:\n    from typing import Any\n", [1, 3], id="typing loaded"),
        pytest.param(loads_typing, "if TYPE_CHECKING:\n    from typing import Any\n", [], id="typing for checkers"),
    ],
)
def test_a_breach_is_found(find: Callable[[source.Module], Iterable[object]], text: str, found: list[object]) -> None:
    assert list(find(parsed(text))) == found
