"""The product's own source, read as text and as syntax trees."""

from __future__ import annotations

import ast
import functools
import io
import pathlib
import tokenize
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).resolve().parents[2]

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Module:
    """One source file; it is read and parsed by the tests that look into it, not by every worker that collects them.

    Args:
        name: its path from the root.
        text: what stands in it, where it is no file.
    """

    def __init__(self, name: str, text: str | None = None) -> None:
        self.name = name
        self._text = text

    @functools.cached_property
    def text(self) -> str:
        return (ROOT / self.name).read_text("utf-8") if self._text is None else self._text

    @functools.cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)


PRODUCT = [Module(path.relative_to(ROOT).as_posix()) for path in sorted((ROOT / "orchestrator").rglob("*.py"))]
"""Every Python file of the product, in order."""


def below(folder: str) -> list[Module]:
    """Those of a folder."""
    return [module for module in PRODUCT if module.name.startswith(f"{folder}/")]


def functions(module: Module) -> Iterator[Function]:
    """Every function and method of a module, nested ones too."""
    return (node for node in ast.walk(module.tree) if isinstance(node, Function))


def body_lines(function: Function) -> int:
    """The lines from the first statement after the docstring to the end."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return (function.end_lineno or function.lineno) - body[0].lineno + 1 if body else 0


def public_parts(node: ast.Module | ast.ClassDef, prefix: str = "") -> Iterator[tuple[str, ast.ClassDef | Function]]:
    """The classes, functions and methods whose names have no leading underscore, with their dotted names.

    One of several signatures of a function (`typing.overload`) is told by the function itself.
    """
    for child in node.body:
        if isinstance(child, ast.ClassDef | Function) and not child.name.startswith("_") and not _is_signature(child):
            name = f"{prefix}{child.name}"
            yield name, child
            if isinstance(child, ast.ClassDef):
                yield from public_parts(child, f"{name}.")


def _is_signature(part: ast.ClassDef | Function) -> bool:
    return any(ast.unparse(each) in ("overload", "typing.overload") for each in part.decorator_list)


def tokens(module: Module, kind: int) -> Iterator[tokenize.TokenInfo]:
    """The tokens of one kind, such as `tokenize.COMMENT`."""
    return (found for found in tokenize.generate_tokens(io.StringIO(module.text).readline) if found.type == kind)
