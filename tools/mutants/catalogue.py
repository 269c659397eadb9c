"""Every mutant, read off the program itself: triggers, rules, steps of admission, checks, refusals, terms of views."""

from __future__ import annotations

import ast
import pathlib
import re
from collections.abc import Iterator
from typing import NamedTuple

from orchestrator.core.routing import rules
from orchestrator.core.validation import checks
from orchestrator.core.workflow import problems
from orchestrator.store import guards
from tools.mutants import altering, relations, sqltext

ROOT = pathlib.Path(__file__).resolve().parents[2]
KINDS = tuple(altering.KINDS)
REFUSING = (
    "app", "core/routing", "core/certificates.py", "core/completion_wording.py", "core/lifecycle.py",
    "core/lifecycle_table.py", "doors/web",
)  # fmt: skip
"""Where a raised error, or a returned refusal, is a guard."""
DECIDING = (
    "app/driving", "app/clients", "app/people", "app/kernel/human.py", "app/reports/last_messages.py",
    "doors/web/authentication.py",
)  # fmt: skip
"""Where what leads to a guard is taken away term by term as well."""
VOUCHING = ("core/certificates.py", "app/audit/check_certificate.py", "app/audit/pull_request_gate.py")
"""What shows strangers that work was accepted: there every error, and every problem that is found, is a guard."""
FOUND = "Problem"
SETTLED, ENDED = "FROM waits w WHERE", "IS NOT 1 LIMIT 1"
"""What stands around the question whether a group that is waited for is settled."""
ERRORS = ("Refused", "InvalidInput", "UsageError", "Denied")
REPLY, SAID_NO = "Reply", ("deny", "block")
"""What a hook answers, and the words of it that hold a client back."""

Line = tuple[str, int]
"""A file, as its path from the root, and a line."""
Function = ast.FunctionDef | ast.AsyncFunctionDef


class Mutant(NamedTuple):
    """One guard to take away.

    name: what `altering.install` takes; what: for people; lines: a test that executes none of them cannot notice;
    words: where nothing is known of lines, the tests whose ids name one of these come first.
    """

    name: str
    what: str
    lines: tuple[Line, ...] = ()
    words: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """Which kind of guard it is."""
        return self.name.partition(":")[0]


def everything() -> list[Mutant]:
    """Every mutant, in a fixed order."""
    return [
        *_rules(), *_admission(), *_checks(), *_workflow(), *_guards(), *_branches(), *_relations(), *_parts(),
        *_triggers(),
    ]  # fmt: skip


def _rules() -> Iterator[Mutant]:
    functions = _functions("core/routing/rules.py")
    for place, (stage, name, function) in enumerate(rules.RULES):
        yield Mutant(f"rule:{place}:{name}", f"{stage} rule {name}", _answers(functions[function.__name__]))


def _admission() -> Iterator[Mutant]:
    for name, (file, function) in _functions("core/routing/admission.py").items():
        if name.startswith(("refuse_", "_refuse_")):
            yield Mutant(f"admission:{name}", _summary(function, name), _answers((file, function)))


def _checks() -> Iterator[Mutant]:
    functions = _functions("core/validation/checks.py")
    for id_, function in sorted(checks.CHECKS.items()):
        found = functions[function.__name__]
        yield Mutant(f"check:{id_}", _summary(found[1], id_), _answers(found))


def _workflow() -> Iterator[Mutant]:
    named: dict[str, list[Line]] = {}
    for file in _files("core/workflow"):
        if file.name != "problems.py":
            for node in ast.walk(ast.parse(file.read_text("utf-8"))):
                if isinstance(node, ast.Constant) and node.value in problems.CATALOGUE:
                    named.setdefault(node.value, []).append((_shown(file), node.lineno))
    for id_, (_, demand) in problems.CATALOGUE.items():
        yield Mutant(f"workflow:{id_}", demand, tuple(named.get(id_, ())))


def _guards() -> Iterator[Mutant]:
    makers = _makers()
    for file in (file for part in REFUSING for file in _files(part)):
        module = ".".join(file.relative_to(ROOT / "orchestrator").with_suffix("").parts)
        tree = ast.parse(file.read_text("utf-8"))
        vouches = _shown(file).removeprefix("orchestrator/") in VOUCHING
        for function, statement in _statements(tree):
            if _refuses(function, statement, makers) or (vouches and _doubts(statement)):
                lines = tuple((_shown(file), line) for line in _extent(statement))
                yield Mutant(f"guard:{module}:{statement.lineno}", f"{_code(statement)} in {function.name}", lines)


def _branches() -> Iterator[Mutant]:
    makers = _makers()
    for file in (file for part in DECIDING for file in _files(part)):
        module = ".".join(file.relative_to(ROOT / "orchestrator").with_suffix("").parts)
        tree = ast.parse(file.read_text("utf-8"))
        guards = [(function, each) for function, each in _statements(tree) if _refuses(function, each, makers)]
        replying = [function for function, _ in _statements(tree) if _unquoted(function.returns) == REPLY]
        for function in dict.fromkeys([*(function for function, _ in guards), *replying]):
            for node in (node for node in ast.walk(function) if isinstance(node, ast.If) and _leaves(node)):
                if not isinstance(node.test, ast.BoolOp) and (function, node.body[0]) in guards:
                    # To take the condition away is to take the guard away.
                    continue
                for term, instead in _terms_of(node.test):
                    # Of a condition that holds less often, only who came behind it can notice.
                    lines = tuple((_shown(file), line) for line in _extent(node.test if instead else node.body[0]))
                    what = f"{_shortened(ast.unparse(term))} is {instead} in {function.name}"
                    yield Mutant(f"branch:{module}:{term.lineno}:{term.col_offset}:{instead}", what, lines)


def _leaves(node: ast.If) -> bool:
    """Whether a function is left where a condition holds, or a round of a loop."""
    return isinstance(node.body[-1], ast.Raise | ast.Return | ast.Continue)


def _terms_of(test: ast.expr) -> Iterator[tuple[ast.expr, bool]]:
    """The terms of a condition, each with what takes it away: a term of an `and` is always true, others never."""
    if isinstance(test, ast.BoolOp):
        instead = isinstance(test.op, ast.And)
        for each in test.values:
            yield from _terms_of(each) if isinstance(each, ast.BoolOp) else ((each, instead),)
    else:
        yield test, False


def _relations() -> Iterator[Mutant]:
    for name, sql in relations.statements().items():
        for number, term in enumerate(sqltext.terms(sql)):
            what = f"{_shortened(sql[term.start : term.end])} is {term.instead} in {name.rpartition('.')[2].strip('_')}"
            yield Mutant(f"relation:{name}:{number}", what, (), (name,))


def _parts() -> Iterator[Mutant]:
    for view, sql in guards.VIEWS:
        for number, term in enumerate(sqltext.terms(sql)):
            asked = ", of what is waited for" if SETTLED in sql[: term.start] and ENDED in sql[term.end :] else ""
            what = f"{_shortened(sql[term.start : term.end])} is {term.instead}{asked}"
            yield Mutant(f"part:{view}:{number}", what, (), ("test_completion",))


def _triggers() -> Iterator[Mutant]:
    for name, sql in (*guards.TRIGGERS, *guards.VERSION_TRIGGERS):
        found = re.search(r"(\w+(?: OF [\w, ]+)?) ON (\w+)", sql)
        event, table = (found[1], found[2]) if found else ("", "")
        yield Mutant(f"trigger:{name}", f"{event} on {table}", (), (name, table))
        cases = sqltext.refusals(sql)
        for number, case in enumerate(cases if len(cases) > 1 else ()):
            what = f"{event} on {table}: {_shortened(sql[case.start : case.end])} is {case.instead}"
            yield Mutant(f"trigger:{name}:{number}", what, (), (name, table))


def _shortened(sql: str) -> str:
    taken = " ".join(sql.split())
    return taken if len(taken) <= 70 else f"{taken[:67]}..."


def _files(part: str) -> list[pathlib.Path]:
    path = ROOT / "orchestrator" / part
    return [path] if path.is_file() else sorted(path.rglob("*.py"))


def _shown(file: pathlib.Path) -> str:
    return file.relative_to(ROOT).as_posix()


def _functions(part: str) -> dict[str, tuple[str, Function]]:
    (file,) = _files(part)
    tree = ast.parse(file.read_text("utf-8"))
    return {node.name: (_shown(file), node) for node in tree.body if isinstance(node, Function)}


def _summary(function: Function, name: str) -> str:
    return (ast.get_docstring(function) or name.strip("_").replace("_", " ")).splitlines()[0]


def _answers(found: tuple[str, Function]) -> tuple[Line, ...]:
    """The lines at which a function says something: other answers than None, and what it yields."""
    file, function = found
    lines = [
        line
        for node in ast.walk(function)
        if isinstance(node, ast.Yield | ast.YieldFrom)
        or (isinstance(node, ast.Return) and not (node.value is None or ast.unparse(node.value) == "None"))
        for line in _extent(node)
    ]
    return tuple((file, line) for line in sorted(set(lines)))


def _extent(node: ast.expr | ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _statements(tree: ast.Module) -> Iterator[tuple[Function, ast.stmt]]:
    """Every raise, return and yield, with the function that it stands in."""

    def within(node: ast.AST, function: Function | None) -> Iterator[tuple[Function, ast.stmt]]:
        for child in ast.iter_child_nodes(node):
            is_yield = isinstance(child, ast.Expr) and isinstance(child.value, ast.Yield)
            if function is not None and (is_yield or isinstance(child, ast.Raise | ast.Return)):
                yield function, child  # type: ignore[misc]  # it is a statement, whichever it is
            yield from within(child, child if isinstance(child, Function) else function)

    return within(tree, None)


def _makers() -> dict[str, str]:
    """The functions that make an error or a refusal for others to raise or return: name -> what they make."""
    made = {name: name for name in (*ERRORS, "Refusal")}
    # Few files have any, and parsing all of them takes seconds.
    answers = re.compile(rf"-> (?:\w+\.)*(?:{'|'.join(made)})\b")
    for text in (text for file in _files("") if answers.search(text := file.read_text("utf-8"))):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, Function) and node.returns is not None:
                answer = ast.unparse(node.returns).rpartition(".")[2]
                if answer in (*ERRORS, "Refusal"):
                    made[node.name] = answer
    return made


def _refuses(function: Function, statement: ast.stmt, makers: dict[str, str]) -> bool:
    if isinstance(statement, ast.Raise):
        if isinstance(statement.exc, ast.Name):
            # What was caught and is raised again was a guard where it came from.
            caught = [node.name for node in ast.walk(function) if isinstance(node, ast.ExceptHandler)]
            return statement.exc.id not in caught
        return makers.get(_called(statement.exc), "Refusal") != "Refusal"
    returned = statement.value if isinstance(statement, ast.Return) else None
    if isinstance(returned, ast.Call) and _called(returned) == REPLY:
        return any(each.arg in SAID_NO for each in returned.keywords)
    if _unquoted(function.returns) == "str | None":
        # Why not, in words.
        return isinstance(returned, ast.JoinedStr) or (isinstance(returned, ast.Constant) and bool(returned.value))
    # Where every answer is a refusal, the function only words what its callers decide.
    decides = _unquoted(function.returns) == "Refusal | None"
    return decides and makers.get(_called(returned)) == "Refusal"


def _doubts(statement: ast.stmt) -> bool:
    """Whether a statement raises any error, or finds a problem."""
    if isinstance(statement, ast.Raise):
        return isinstance(statement.exc, ast.Call)
    return isinstance(statement, ast.Expr) and _called(getattr(statement.value, "value", None)) == FOUND


def _unquoted(annotation: ast.expr | None) -> str:
    return "" if annotation is None else ast.unparse(annotation)


def _called(node: ast.expr | None) -> str:
    return ast.unparse(node.func).rpartition(".")[2] if isinstance(node, ast.Call) else ""


def _code(statement: ast.stmt) -> str:
    """The code that a refusal gives, else what makes it."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and re.fullmatch(r"[A-Z_]{4,}", node.value):
            return node.value
    made = statement.exc if isinstance(statement, ast.Raise) else getattr(statement, "value", None)
    return _called(made) or ast.unparse(statement)
