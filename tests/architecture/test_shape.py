"""The size and the words of every module."""

from __future__ import annotations

import ast
import re
import tokenize

import pytest

from tests.architecture import source

MODULE_LINES = 400
BODY_LINES = 40
UNFINISHED = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")

every_module = pytest.mark.parametrize("module", source.PRODUCT, ids=lambda module: module.name)


def parsed(text: str) -> source.Module:
    return source.Module("example.py", text)


@every_module
def test_a_module_fits_on_a_few_screens(module: source.Module) -> None:
    assert len(module.text.splitlines()) <= MODULE_LINES


@every_module
def test_a_function_fits_on_one_screen(module: source.Module) -> None:
    found = {f"{function.name}:{function.lineno}": source.body_lines(function) for function in source.functions(module)}
    assert {name: lines for name, lines in found.items() if lines > BODY_LINES} == {}


@every_module
def test_everything_public_is_described(module: source.Module) -> None:
    silent = [name for name, part in source.public_parts(module.tree) if ast.get_docstring(part) is None]
    if ast.get_docstring(module.tree) is None:
        silent.insert(0, module.name)
    assert silent == []


@every_module
def test_nothing_is_left_unfinished(module: source.Module) -> None:
    comments = [token.string for token in source.tokens(module, tokenize.COMMENT) if UNFINISHED.search(token.string)]
    names = [token.string for token in source.tokens(module, tokenize.NAME) if token.string == "NotImplementedError"]
    assert comments + names == []


@every_module
def test_frozen_values_are_made_by_one_module_which_compiles_no_annotation(module: source.Module) -> None:
    taken = [
        node.lineno
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ImportFrom) and node.module == "typing"
        and "NamedTuple" in [each.name for each in node.names]
    ]  # fmt: skip
    assert taken == [] or module.name == "orchestrator/core/tuples.py"


@every_module
def test_a_pattern_never_ends_with_a_dollar_which_also_matches_before_a_newline(module: source.Module) -> None:
    assert dollars(module) == []


def dollars(module: source.Module) -> list[str]:
    """The constant patterns given to `re` that end with an unescaped `$`."""
    calls = [node for node in ast.walk(module.tree) if isinstance(node, ast.Call) and node.args]
    of_re = [call for call in calls if ast.unparse(call.func).startswith("re.")]
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
        pytest.param(r"re.compile('a\\$')", [], id="a literal dollar"),
        pytest.param("re.compile(r'a\\Z')", [], id="end of text"),
        pytest.param("print('a$')", [], id="no pattern"),
    ],
)
def test_a_final_dollar_is_found(text: str, found: list[str]) -> None:
    assert dollars(parsed(text)) == found
