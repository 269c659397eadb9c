"""Which lines of the program a test executes: a call before each statement that a mutant is about.

A tracer would be called for every line of every test, which takes several times as long.
"""

from __future__ import annotations

import ast
import builtins
import importlib
from collections.abc import Callable, Iterable, Iterator

from tools.mutants import altering

CALLED = "_mutants_reached"
"""What the statements call; a built-in, so that every module finds it."""


def install(lines: Iterable[tuple[str, int]], note: Callable[[str], None]) -> None:
    """From now on tell each of these lines of functions, as `file:line`, whenever it is executed.

    Args:
        lines: files, as paths from the root, and lines.
        note: takes the place.
    """
    by_file: dict[str, set[int]] = {}
    for file, line in lines:
        by_file.setdefault(file, set()).add(line)
    setattr(builtins, CALLED, lambda places: [note(place) for place in places])
    modules = {file: file.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for file in by_file}
    for module in modules.values():
        importlib.import_module(module)
    altering.prepare()
    for file, module in modules.items():
        altering.rewrite(module, Probed(file, by_file[file]))


class Probed(ast.NodeTransformer):
    """Statements of functions call before they do anything, if they stand at one of some lines."""

    def __init__(self, file: str, lines: set[int]) -> None:
        self.file, self.lines = file, lines

    def visit(self, node: ast.AST) -> ast.AST:
        self._within(node, inside=False)
        return node

    def _within(self, node: ast.AST, *, inside: bool) -> None:
        inside = inside or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for _, value in ast.iter_fields(node):
            for each in value if isinstance(value, list) else [value]:
                if isinstance(each, ast.AST):
                    self._within(each, inside=inside)
            if inside and isinstance(value, list):
                value[:] = [changed for each in value for changed in self._probed(each)]

    def _probed(self, node: ast.AST) -> Iterator[ast.AST]:
        if isinstance(node, ast.stmt) and (places := [f"{self.file}:{at}" for at in head(node) if at in self.lines]):
            given = ast.Tuple([ast.Constant(place) for place in places], ast.Load())
            yield ast.copy_location(ast.Expr(ast.Call(ast.Name(CALLED, ast.Load()), [given], [])), node)
        yield node


def head(node: ast.stmt) -> range:
    """The lines of a statement, without those of the statements in it."""
    within = getattr(node, "body", None) or getattr(node, "cases", None)
    # A pattern of a `match` has no line of its own.
    last = (node.end_lineno or node.lineno) if not within else getattr(within[0], "lineno", node.lineno + 1) - 1
    return range(node.lineno, max(last, node.lineno) + 1)
