"""Turn the running program into a mutant: one guard is taken away in memory, and no file is touched.

The name of a mutant says all: `rule:2:rework`, `guard:app.session.moving:106`. Whoever has built a database already
keeps it as it was; so a process becomes a mutant before it runs a test.
"""

from __future__ import annotations

import ast
import functools
import gc
import importlib
import re
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

from tools.mutants import relations, sqltext

ADMISSION = "orchestrator.core.routing.admission"
OWN = ("orchestrator.", "tests.", "tools.")
READING = ("relation",)
"""Kinds of guards that read a record and write none."""


_functions: dict[str, list[FunctionType]] = {}
_caches: list[functools._lru_cache_wrapper[Any]] = []


def prepare() -> None:
    """Find the functions and caches of this process once; its forks need not look through all of its objects."""
    _functions.clear()
    _caches.clear()
    # The collector is not to look through the collected tests; who looks for functions has to.
    gc.unfreeze()
    for each in gc.get_objects():
        if isinstance(each, FunctionType):
            _functions.setdefault(each.__code__.co_filename, []).append(each)
        elif isinstance(each, functools._lru_cache_wrapper) and str(each.__module__).startswith(OWN):
            _caches.append(each)
    gc.freeze()


def alter(name: str) -> None:
    """Take away what the mutant is named by, in this process and for good.

    Raises:
        ValueError: there is no such mutant.
    """
    kind, _, rest = name.partition(":")
    if kind not in KINDS:
        raise ValueError(f"no kind of mutant is called {kind}")
    if not _functions:
        prepare()
    KINDS[kind](rest)
    # What was worked out before may rest on the guard; what only reads a record makes none otherwise.
    if kind not in READING:
        for each in _caches:
            each.cache_clear()


class _Passing(ast.NodeTransformer):
    """The statement at a line is never reached. It stays there, so that the function's variables stay the same."""

    def __init__(self, line: int) -> None:
        self.line = line

    def visit_Raise(self, node: ast.Raise) -> ast.stmt:
        return self._skipped(node)

    def visit_Return(self, node: ast.Return) -> ast.stmt:
        return self._skipped(node)

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        return self._skipped(node) if isinstance(node.value, ast.Yield) else node

    def _skipped(self, node: ast.stmt) -> ast.stmt:
        never = ast.If(ast.Constant(False), [node], [])
        return ast.copy_location(never, node) if node.lineno == self.line else node


class _Lacking(ast.NodeTransformer):
    """A condition lacks what stands at a place of it. What is named in there stays named."""

    def __init__(self, line: int, column: int, *, instead: bool) -> None:
        self.place, self.instead = (line, column), instead

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        self.generic_visit(node)
        node.values = [self._lacking(each) for each in node.values]
        return node

    def visit_If(self, node: ast.If) -> ast.stmt:
        self.generic_visit(node)
        node.test = self._lacking(node.test)
        return node

    def _lacking(self, node: ast.expr) -> ast.expr:
        # What was put in the place of a term that names something stands there as well.
        is_put = isinstance(node, ast.Subscript) and isinstance(node.value, ast.Tuple)
        if (node.lineno, node.col_offset) != self.place or is_put or isinstance(node, ast.BoolOp | ast.Constant):
            return node
        constant: ast.expr = ast.Constant(self.instead)
        if any(isinstance(each, ast.NamedExpr) for each in ast.walk(node)):
            constant = ast.Subscript(ast.Tuple([node, constant], ast.Load()), ast.Constant(1), ast.Load())
        return ast.copy_location(constant, node)


class _Answerless(ast.NodeTransformer):
    """A function answers None at once."""

    def __init__(self, name: str) -> None:
        self.name = name

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        if node.name == self.name:
            node.body = [ast.copy_location(ast.Return(ast.Constant(None)), node.body[0])]
        return node


def rewrite(name: str, change: ast.NodeTransformer) -> None:
    """Give every function of a module the code that it has when the source is changed so."""
    module = importlib.import_module(name)
    path = str(module.__file__)
    with open(path, encoding="utf-8") as stream:
        source = stream.read()
    old = dict(_codes(compile(source, path, "exec", dont_inherit=True)))
    changed = ast.fix_missing_locations(change.visit(ast.parse(source, path)))
    new = dict(_codes(compile(changed, path, "exec", dont_inherit=True)))
    altered = {place: code for place, code in new.items() if code != old[place]}
    if not altered:
        raise ValueError(f"nothing to change in {name}")
    if path not in _functions:
        # It is imported where it is used, and nobody has used it yet.
        prepare()
    for function in _functions.get(path, ()):
        code = function.__code__
        if (code.co_firstlineno, code.co_qualname) in altered:
            function.__code__ = altered[code.co_firstlineno, code.co_qualname]


def _codes(code: CodeType) -> Iterator[tuple[tuple[int, str], CodeType]]:
    """Every function's code within a code, by its first line and name."""
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield (each.co_firstlineno, each.co_qualname), each
            yield from _codes(each)


def _rule(rest: str) -> None:
    rules, place = importlib.import_module("orchestrator.core.routing.rules"), int(rest.partition(":")[0])
    stage, name, _ = rules.RULES[place]
    silent = (stage, name, lambda case, target: None)
    rules.RULES = (*rules.RULES[:place], silent, *rules.RULES[place + 1 :])
    rules.of_stage.cache_clear()


def _admission(rest: str) -> None:
    rewrite(ADMISSION, _Answerless(rest))


def _guard(rest: str) -> None:
    module, _, line = rest.partition(":")
    rewrite(f"orchestrator.{module}", _Passing(int(line)))


def _branch(rest: str) -> None:
    module, line, column, instead = rest.split(":")
    rewrite(f"orchestrator.{module}", _Lacking(int(line), int(column), instead=instead == "True"))


def _check(rest: str) -> None:
    checks = importlib.import_module("orchestrator.core.validation.checks")
    if rest not in checks.CHECKS:
        raise ValueError(f"there is no check {rest}")
    checks.CHECKS[rest] = lambda snapshot: iter(())


def _workflow(rest: str) -> None:
    checks = importlib.import_module("orchestrator.core.workflow.checks")
    findings, load = checks._findings, checks.loader.load_text

    def others(problems: Any) -> Iterator[Any]:
        return (problem for problem in problems if problem.id != rest)

    def loaded(data: bytes, source: str) -> Any:
        answer = load(data, source)
        return answer._replace(problems=tuple(others(answer.problems)))

    checks._findings = lambda given: list(others(findings(given)))
    checks.loader.load_text = loaded


def _trigger(rest: str) -> None:
    name, _, case = rest.partition(":")

    def lacking(statement: str) -> str:
        if not case:
            return sqltext.silent(statement, name)
        if not re.match(rf"CREATE TRIGGER {re.escape(name)}\s", statement):
            return statement
        return sqltext.without(statement, sqltext.refusals(statement)[int(case)])

    _restate(lacking)


def _part(rest: str) -> None:
    view, _, number = rest.partition(":")

    def lacking(statement: str) -> str:
        if not statement.startswith(f"CREATE VIEW {view} AS"):
            return statement
        return sqltext.without(statement, sqltext.terms(statement)[int(number)])

    _restate(lacking)


def _relation(rest: str) -> None:
    name, _, number = rest.rpartition(":")
    sql = relations.statements()[name]
    relations.swap(sql, sqltext.without(sql, sqltext.terms(sql)[int(number)]))


def _restate(change: Callable[[str], str]) -> None:
    """Make databases with other statements, wherever they are made: as declared, and by migrations.

    A migration that makes an earlier form of a statement makes it as it was: the form has other terms, or fewer.
    """
    guards = importlib.import_module("orchestrator.store.guards")
    changed: dict[str, str] = {}
    for name in ("TRIGGERS", "VIEWS", "VERSION_TRIGGERS"):
        changed |= _changed(guards, name, change)
    if not changed:
        raise ValueError("no statement to change")
    migrate = importlib.import_module("orchestrator.store.migrate")
    normalised = importlib.import_module("orchestrator.store.declared_schema").normalised
    changed = {normalised(before): after for before, after in changed.items()}
    statements = migrate.statements
    migrate.statements = lambda file: (changed.get(normalised(sql.rstrip(";")), sql) for sql in statements(file))


def _changed(module: ModuleType, name: str, change: Callable[[str], str]) -> dict[str, str]:
    """Change the statements that a module declares; those that are others now, by what they were."""
    old = getattr(module, name)
    new = tuple((key, change(sql)) for key, sql in old)
    setattr(module, name, new)
    return {before: after for (_, before), (_, after) in zip(old, new, strict=True) if before != after}


KINDS: dict[str, Callable[[str], None]] = {
    "rule": _rule,
    "admission": _admission,
    "check": _check,
    "workflow": _workflow,
    "guard": _guard,
    "branch": _branch,
    "relation": _relation,
    "part": _part,
    "trigger": _trigger,
}
"""How each kind of mutant is made, from the rest of its name."""
