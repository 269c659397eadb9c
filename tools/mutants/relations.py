"""The statements that say what must hold between rows of the record, and which tests see a difference without a term.

Every statement of the modules that `AUDITS` names is one, wherever it is kept: by itself, in a rule or by a name.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any

from orchestrator.testing import memory_context
from tools.mutants import sqltext

AUDITS = ("gaps", "redirects", "plan_checks", "settings_rules", "path_history")
STATEMENTS = 2000
"""How many statements a connection keeps while they are watched."""
LARGE = 1000
"""Steps of a database from which on nothing is watched: without a term a statement may join each row with each."""


_Mutants = Mapping[str, Mapping[str, str]]
"""By statement: its mutants by their names."""


@functools.cache
def statements() -> dict[str, str]:
    """The statements by name: the module, and what it calls the statement."""
    # The schema is that of a store without sessions.
    connection: sqlite3.Connection = memory_context().connection
    found: dict[str, str] = {}
    for module in _modules():
        for name, sql in _named(module):
            if sql not in found.values() and _runs(connection, sql):
                found[f"{module.__name__.rpartition('.')[2]}.{name}"] = sql
    connection.close()
    return found


def swap(old: str, new: str) -> None:
    """Put a statement in the place of another one wherever it is kept."""
    for module in _modules():
        for name, value in list(vars(module).items()):
            swapped = _swapped(value, old, new) if isinstance(value, str | tuple | dict) else value
            if swapped != value and not name.startswith("__"):
                setattr(module, name, swapped)


def watch(note: Callable[[str], None], wanted: Callable[[str], bool] = lambda name: True) -> None:
    """From now on tell the name of each mutant whose statement answers otherwise than the statement itself.

    Args:
        note: takes the name.
        wanted: whether a mutant is watched at the moment, by its name.
    """
    # Otherwise each mutant is compiled anew whenever it is asked.
    sqlite3.connect = functools.partial(sqlite3.connect, cached_statements=STATEMENTS)
    mutants = {
        sql: {f"relation:{name}:{place}": sqltext.without(sql, term) for place, term in enumerate(sqltext.terms(sql))}
        for name, sql in statements().items()
    }
    for owner, name, function in [each for module in _modules() for each in _reading(module)]:
        setattr(owner, name, _watched(function, mutants, note, wanted))


def _reading(module: ModuleType) -> Iterator[tuple[Any, str, Callable[..., Any]]]:
    """What takes a connection: functions of a module, and the beginnings of its classes."""
    own = [each for each in vars(module).items() if getattr(each[1], "__module__", "") == module.__name__]
    made = [(each, "__init__", each.__init__) for _, each in own if inspect.isclass(each)]
    for owner, name, function in [*((module, *each) for each in own), *made]:
        if inspect.isfunction(function) and "connection" in inspect.signature(function).parameters:
            yield owner, name, function


def _watched(
    function: Callable[..., Any], mutants: _Mutants, note: Callable[[str], None], wanted: Callable[[str], bool]
) -> Callable[..., Any]:
    place = [*inspect.signature(function).parameters].index("connection")

    @functools.wraps(function)
    def called(*arguments: Any, **named: Any) -> Any:
        connection = arguments[place]
        as_it_is = isinstance(connection, _Watching) or _is_large(connection)
        given = connection if as_it_is else _Watching(connection, mutants, note, wanted)
        return function(*arguments[:place], given, *arguments[place + 1 :], **named)

    return called


def _is_large(connection: sqlite3.Connection) -> bool:
    with contextlib.suppress(sqlite3.Error):
        return connection.execute("SELECT 1 FROM audit_events LIMIT 1 OFFSET ?", (LARGE,)).fetchone() is not None
    return False


class _Watching:
    """A connection that tries every mutant of a statement before the statement."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        mutants: _Mutants,
        note: Callable[[str], None],
        wanted: Callable[[str], bool],
    ) -> None:
        self._connection, self._mutants, self._note, self._wanted = connection, mutants, note, wanted

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def execute(self, sql: str, parameters: Any = ()) -> sqlite3.Cursor:
        mutants = {name: other for name, other in self._mutants.get(sql, {}).items() if self._wanted(name)}
        if mutants:
            answer = _answer(self._connection, sql, parameters)
            for name, other in mutants.items():
                if _answer(self._connection, other, parameters) != answer:
                    self._note(name)
        return self._connection.execute(sql, parameters)


def _answer(connection: sqlite3.Connection, sql: str, parameters: Any) -> Any:
    """What a statement answers; of one that asks whether there is a row, only that is used."""
    try:
        found = connection.execute(sql, parameters)
        return found.fetchone() if sql.startswith("SELECT 1 ") else found.fetchall()
    except sqlite3.Error:
        return None


def _modules() -> list[ModuleType]:
    return [importlib.import_module(f"orchestrator.store.{name}") for name in AUDITS]


def _named(module: ModuleType) -> Iterator[tuple[str, str]]:
    for name, value in vars(module).items():
        if not name.startswith("__"):
            yield from _within(name, value)


def _within(name: str, value: object) -> Iterator[tuple[str, str]]:
    """The statements in a value, each with the name that is nearest to it."""
    if isinstance(value, str):
        if value.lstrip().startswith("SELECT"):
            yield name, value
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from _within(str(key), each)
    elif isinstance(value, tuple):
        for each in value:
            yield from _within(" ".join((value[0], value[1])) if hasattr(value, "_fields") else name, each)


def _runs(connection: sqlite3.Connection, sql: str) -> bool:
    """Whether a text is a whole statement, not a part of others."""
    try:
        connection.execute(f"EXPLAIN {sql}", _Anything())
    except sqlite3.Error:
        return False
    return True


class _Anything(dict[str, Any]):
    def __missing__(self, name: str) -> None:
        return None


def _swapped(value: Any, old: str, new: str) -> Any:
    if isinstance(value, str):
        return new if value == old else value
    if isinstance(value, dict):
        return {key: _swapped(each, old, new) for key, each in value.items()}
    if isinstance(value, tuple):
        swapped = [_swapped(each, old, new) for each in value]
        return type(value)(*swapped) if hasattr(value, "_fields") else tuple(swapped)
    return value
