"""What the database is made of, compared with what this program declares: tables, indexes, views and triggers.

A record is only as good as the guards that kept it, so each of them is compared by its text.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Collection, Iterator

from orchestrator.core import strict_json
from orchestrator.core.suggestions import sentence, suggest
from orchestrator.hints import Any
from orchestrator.store import findings, guards, maintenance, text_damage
from orchestrator.store.constants import STORE_CHAIN
from orchestrator.store.findings import Finding, Found

_TEMPORARY = "SELECT type, name FROM sqlite_temp_master ORDER BY type, name"
_MARK = "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = :name"
# What the comparison by name leaves out: names that only SQLite gives, and that of the migrations' table.
_HIDDEN = r"""SELECT type, name FROM sqlite_master
    WHERE (name LIKE 'sqlite\_%' ESCAPE '\' AND CASE type WHEN 'index' THEN sql IS NOT NULL
        WHEN 'table' THEN name <> 'sqlite_sequence' AND name NOT LIKE 'sqlite\_stat_' ESCAPE '\' ELSE 1 END)
    OR (name = :mark AND type <> 'table') ORDER BY type, name"""
_FOREIGN = "SCHEMA_FOREIGN"
_MARK_ALTERED = "TABLE_ALTERED"
_SHOWN = 5
"""How many of the parts that were made anew a sentence names; the event names all."""
_REPAIRS = """SELECT seq, kind, actor, at, input FROM audit_events
    WHERE session_id = :chain AND kind IN ('repair', 'restore') ORDER BY seq"""


def compare(connection: sqlite3.Connection, found: Found) -> None:
    """Note every part of the schema that is missing, altered or none of this program's, and a version that is not its.

    Args:
        connection: a connection of the store; read in the caller's transaction.
        found: what is found is noted here.
    """
    if _is_on_server(connection):
        for finding in connection.schema_problems():  # type: ignore[attr-defined]
            found.add(finding)
        return
    for problem in (
        *maintenance.schema_problems(connection),  # type: ignore[arg-type]  # any connection will do
        *maintenance.version_problems(connection),  # type: ignore[arg-type]
    ):
        found.add(Finding(problem.id, None, None, None, problem.subject, problem.message, problem.suggestion))
    for finding in (*_mark(connection), *_hidden(connection), *_shadows(connection)):
        found.add(finding)


def _is_on_server(connection: sqlite3.Connection) -> bool:
    return hasattr(connection, "schema_problems")


def damages(connection: sqlite3.Connection, found: Found) -> None:
    """Note where the pages of the file, or its indexes and tables, contradict each other; reads the whole file."""
    if _is_on_server(connection):
        return
    for (message,) in connection.execute("PRAGMA integrity_check(20)"):
        if message != "ok":
            suggestion = suggest("db restore", file="FILE", db=found.path)
            text = f"The file contradicts itself: {message}."
            found.add(Finding(findings.FILE_DAMAGED, None, None, None, "file", text, suggestion))


def texts(connection: sqlite3.Connection, found: Found, known: Collection[str] = ()) -> None:
    """Note the texts that are not UTF-8.

    Args:
        found: what is found is noted here.
        known: tables that are not read, because all their texts are known to be UTF-8.
    """
    # A server takes no text that is not UTF-8, and checks its pages itself.
    for damage in () if _is_on_server(connection) else text_damage.damages(connection, known):
        suggestion = suggest("db restore", file="FILE", db=found.path)
        message = sentence("A stored text is damaged: {}.", damage.message)
        found.add(Finding(findings.TEXT_DAMAGED, None, None, damage.table, damage.row, message, suggestion))


def repairs(connection: sqlite3.Connection) -> list[tuple[int, str]]:
    """The steps in which guards were made anew or a backup was put in place, each with a sentence."""
    said = {"repair": _made_anew, "restore": _put_in_place}
    return [
        (seq, f"Step {seq} of the store: {said[kind](actor, at, _given(text))}.")
        for seq, kind, actor, at, text in connection.execute(_REPAIRS, {"chain": STORE_CHAIN})
    ]


def _given(text: str) -> dict[str, Any]:
    """The input of an event; empty where it was altered since, which is a finding of its own."""
    try:
        given = strict_json.stored(text)
    except ValueError:
        return {}
    return given if isinstance(given, dict) else {}


def _put_in_place(actor: str, at: str, given: dict[str, Any]) -> str:
    lost = given.get("lost")
    chains = [each for each in lost if isinstance(each, dict)] if isinstance(lost, list) else []
    steps = [f"{each.get('session_id')} {each.get('kept_seq')}..{each.get('lost_seq')}" for each in chains[:_SHOWN]]
    more = f" and {len(chains) - _SHOWN} more" if len(chains) > _SHOWN else ""
    said = f"; steps lost after: {', '.join(steps)}{more}" if steps else ""
    said = "; what was lost is unknown" if lost is None else said
    return f"a backup was put in place by {actor} at {at}{said}"


def _made_anew(actor: str, at: str, given: dict[str, Any]) -> str:
    """What a repair made anew, as far as its event can be read."""
    found = given.get("found")
    names = [*found] if isinstance(found, dict) else []
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    parts = f": {', '.join(names[:_SHOWN])}{more}" if names else ""
    return f"triggers, views or indexes were recreated by {actor} at {at}{parts}"


def _mark(connection: sqlite3.Connection) -> Iterator[Finding]:
    """The table of the migrations' mark, which the migrations' own library makes and lays out."""
    name = maintenance.VERSION_MARK
    row = connection.execute(_MARK, {"name": name}).fetchone()
    if row is None or _bare(row[0]) != _bare(guards.VERSION_TABLE):
        message = f"The table {name} differs from the one this program creates."
        yield Finding(_MARK_ALTERED, None, None, name, name, message, suggest("db check"))


def _hidden(connection: sqlite3.Connection) -> Iterator[Finding]:
    for kind, name in connection.execute(_HIDDEN, {"mark": maintenance.VERSION_MARK}):
        message = f"The {kind} {name} is foreign to this program."
        command = maintenance.drop(getattr(connection, "path", ""), kind, name)
        yield Finding(_FOREIGN, None, None, None, name, message, command)


def _bare(sql: object) -> str:
    return re.sub(r"\s+", "", str(sql))


def _shadows(connection: sqlite3.Connection) -> Iterator[Finding]:
    """What hides parts of the database from this connection alone."""
    for kind, name in connection.execute(_TEMPORARY):
        message = f"A temporary {kind} {name} stands before what the database holds under that name."
        yield Finding(findings.TEMP_SHADOW, None, None, None, name, message, f"DROP {kind.upper()} temp.{name}")
