"""Looking a database over: copies, checks, and what is the matter with a file that does not work.

Checks read; only `repair` writes, and leaves an event. Nothing here deletes or renames a database.
"""

from __future__ import annotations

import itertools
import re
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from orchestrator import errors
from orchestrator.core import clock_jumps, names
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.suggestions import quoted, sentence, suggest
from orchestrator.store import backup as backups
from orchestrator.store import constants, gaps, guards, problems, sqlite, text_damage
from orchestrator.store.declared_schema import Key, compared, declared, normalised, stored
from orchestrator.store.step import open_step

REPAIR_EVENT = "repair"
REPAIRABLE = ("view", "trigger", "index")

_ON = re.compile(r"\bON\s+\"?(\w+)")
VERSION_MARK = "alembic_version"
_REVISION = f"{constants.SCHEMA_VERSION:04}"

_UNCHECKED_GROUPS = frozenset(("refusals", "agents", "task_groups"))
"""Their group need not exist: it is what somebody claimed, or the row is the group."""


_BACKWARDS = """SELECT session_id, seq, at, after FROM (SELECT session_id, seq, at,
        lead(at) OVER (PARTITION BY session_id ORDER BY seq) AS after FROM audit_events) AS stepped
    WHERE after < at OR (after IS NULL AND at >= :ahead) ORDER BY session_id, seq"""
_MOST_JUMPS = 20


class Problem(NamedTuple):
    """Something found: a stable id, how bad it is (error, warning, info), where, a sentence, and what to run."""

    id: str
    severity: str
    subject: str
    message: str
    suggestion: str


def backup(path: str | Path, target: str | Path, deadline: float = sqlite.DEADLINE_S) -> Path:
    """Copy a database while it is in use.

    Raises:
        Refused: ALREADY_EXISTS, the target is left as it is.
        EnvironmentProblem: NO_DATABASE, BUSY, READ_ONLY, DISK_FULL, CORRUPT or SCHEMA_TOO_NEW.
    """
    sqlite.connect(path, write=False, deadline=deadline).close()
    return backups.copy(path, target, deadline)


def check(path: str | Path, deadline: float = sqlite.DEADLINE_S) -> list[Problem]:
    """What is wrong inside a database: pages, texts, references, schema, version, orphans, states that no step made.

    Reads the whole file, so the time grows with it. Rows are not compared with what their events cover: that is a
    verification.

    Raises:
        EnvironmentProblem: NO_DATABASE, BUSY, SCHEMA_TOO_NEW or SCHEMA_TOO_OLD: there is nothing to check.
    """
    try:
        connection = _opened(path, write=False, deadline=deadline)
    except errors.EnvironmentProblem as problem:
        if problem.code != "CORRUPT":
            raise
        return [from_error(problem)]
    try:
        found: list[Problem] = []
        for part in (_pages, text_problems, _references, schema_problems, version_problems, _orphans):
            found += _guarded(part, connection)
        if not any(problem.severity == "error" for problem in found):
            found += _guarded(state_problems, connection)
        return _once(found)
    finally:
        connection.close()


def _opened(path: str | Path, *, write: bool, deadline: float = sqlite.DEADLINE_S) -> sqlite.Connection:
    """A connection to a file that says this program's version, whether or not its other marks agree."""
    connection = sqlite.open_file(path, write=write, deadline=deadline)
    try:
        sqlite.check_version(connection, deadline)
    except BaseException:
        connection.close()
        raise
    return connection


def _once(found: list[Problem]) -> list[Problem]:
    """Of many findings that the file is damaged the first: the way on is the same for all."""
    damaged = [each for each in found if each.id == "CORRUPT"]
    return [each for each in found if each.id != "CORRUPT" or each is damaged[0]]


def schema_problems(connection: sqlite.Connection) -> Iterator[Problem]:
    """Tables, indexes, views and triggers that are missing, altered or foreign, by comparing their texts."""
    wanted = compared()
    found = {key: normalised(sql) for key, sql in stored(connection).items()}
    yield from _missing({key: wanted[key] for key in wanted.keys() - found.keys()}, connection.path)
    for key in sorted(wanted.keys() & found.keys(), key=_order):
        if wanted[key] != found[key]:
            yield _schema_problem("ALTERED", key, "differs from the one this program creates", connection.path)
    for kind, name in sorted(found.keys() - wanted.keys()):
        if not name.startswith("sqlite_"):
            command = drop(connection.path, kind, name)
            # A trigger acts within our own steps, with our right to write.
            severity = "error" if kind == "trigger" else "warning"
            yield Problem("SCHEMA_FOREIGN", severity, name, f"The {kind} {name} is foreign to this program.", command)


def drop(path: str, kind: str, name: str) -> str:
    """The command that takes a part of the schema away which does not belong to this program."""
    named = '"' + name.replace('"', '""') + '"'
    return sentence("sqlite3 {} {}", quoted(path), names.word(f"DROP {kind.upper()} {named}"))


def _missing(lost: dict[Key, str], path: str) -> Iterator[Problem]:
    """What is missing, tables first; what went with its table is no finding of its own."""
    belonging = {key: _table_of(sql) for key, sql in lost.items() if key[0] != "table"}
    for key in sorted(lost, key=_order):
        with_it = sum(table == key[1] for table in belonging.values()) if key[0] == "table" else 0
        words = f"is missing, and with it {with_it} of its triggers and indexes" if with_it else "is missing"
        if ("table", belonging.get(key, "")) not in lost:
            yield _schema_problem("MISSING", key, words, path)


def _table_of(sql: str) -> str:
    """The table or view that a trigger or an index is on."""
    found = _ON.search(sql)
    return found[1] if found else ""


def _order(key: Key) -> tuple[bool, bool, Key]:
    return key[0] != "table", key[0] != "view", key


def version_problems(connection: sqlite.Connection) -> Iterator[Problem]:
    """Whether the migrations' own mark says the version that the file says."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    revisions = sqlite.revisions(connection)
    if revisions != [f"{version:04}"]:
        message = f"The file says version {version}, but its migrations say {', '.join(revisions or ()) or 'none'}."
        command = suggest("db check", repair=True, db=connection.path)
        yield Problem("VERSION_MISMATCH", "error", VERSION_MARK, message, command)


def repair(path: str | Path, at: str, actor: str, channel: str = "cli") -> list[str]:
    """Create missing or altered triggers, views and indexes again, as one step that every later verify mentions.

    The migrations' mark is set to the file's version again, where every table is as that version has it.

    Returns:
        The names of what was created again; empty where nothing was to do, and then nothing is written.

    Raises:
        EnvironmentProblem: as `sqlite.connect` for writing; CORRUPT, a foreign trigger skipped what is written.
    """
    connection = _opened(path, write=True)
    try:
        with open_step(connection, constants.STORE_CHAIN, at) as step:
            wanted, found = declared(), stored(connection)
            broken = [key for key, sql in wanted.items() if _differs(key, sql, found)]
            before: dict[str, object] = {f"{kind} {name}": found.get((kind, name)) for kind, name in broken}
            if mark_is_wrong := _mark_is_wrong(connection, wanted, found):
                before[VERSION_MARK] = sqlite.revisions(connection)
            # A view that triggers use is dropped after them.
            for kind, name in reversed(broken):
                step.execute(f"DROP {kind} IF EXISTS {name}", {})
            if sqlite.revisions(connection) is None:
                step.execute(guards.VERSION_TABLE, {})
            for key in broken:
                step.execute(wanted[key], {})
            if mark_is_wrong:
                if sqlite.revisions(connection):
                    step.execute("DELETE FROM alembic_version", {})
                step.execute("INSERT INTO alembic_version VALUES (:version)", {"version": _REVISION})
            if before:
                step.seal(REPAIR_EVENT, actor, channel, {"found": before})
            return [*(name for _, name in broken), *([VERSION_MARK] if mark_is_wrong else [])]
    finally:
        connection.close()


def from_error(problem: errors.OrchestratorError, severity: str = "error") -> Problem:
    """The finding that an error amounts to."""
    return Problem(problem.code, severity, str(problem.data.get("db", "")), problem.message, problem.suggestion)


def _differs(key: Key, sql: str, found: dict[Key, str]) -> bool:
    return key[0] in REPAIRABLE and (key not in found or normalised(found[key]) != normalised(sql))


def _mark_is_wrong(connection: sqlite.Connection, wanted: Mapping[Key, str], found: dict[Key, str]) -> bool:
    tables = [key for key in wanted if key[0] == "table"]
    whole = all(normalised(found.get(key, "")) == normalised(wanted[key]) for key in tables)
    return whole and next(version_problems(connection), None) is not None


def _guarded(part: Callable[[sqlite.Connection], Iterator[Problem]], connection: sqlite.Connection) -> list[Problem]:
    """What one part of a check found; a damaged file may stop the part."""
    found: list[Problem] = []
    try:
        found.extend(part(connection))
    except sqlite3.Error as error:
        problem = sqlite.translate(error, connection.path) or problems.corrupt(connection.path, str(error))
        found.append(from_error(problem))
    return found


def _pages(connection: sqlite.Connection) -> Iterator[Problem]:
    for (message,) in connection.execute("PRAGMA integrity_check(20)"):
        if message != "ok":
            yield from_error(problems.corrupt(connection.path, message))


def text_problems(connection: sqlite.Connection) -> Iterator[Problem]:
    """Stored texts that are not UTF-8; reads every table."""
    for damage in text_damage.damages(connection):
        subject = f"{damage.table}.{damage.column}"
        message = sentence("A stored text is damaged: {}.", damage.message)
        yield Problem("TEXT_DAMAGED", "error", subject, message, _restore(connection))


def state_problems(connection: sqlite.Connection) -> Iterator[Problem]:
    """States of groups, tasks, sessions, blockers and questions that no step on record made, as where guards were off.

    Reads by the indexes of this program's schema, so it is for a file in which nothing else is wrong.
    """
    for (session,) in connection.execute("SELECT id FROM sessions ORDER BY id").fetchall():
        command = suggest("audit verify", session_id=session, db=connection.path)
        for each in gaps.standing(connection, session):
            message = f"{each.table}, {each.subject} ({each.status}), in session {session}: {each.text}."
            yield Problem("STATE_UNRECORDED", "error", each.subject, message, command)


def clock_problems(connection: sqlite.Connection) -> Iterator[Problem]:
    """Steps whose clock was wrong: a day or more ahead of the time now, or of the step after them."""
    now = time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime())
    rows = connection.execute(_BACKWARDS, {"ahead": clock_jumps.day_after(now)})
    found = (row for row in rows if row[3] is None or _is_jump(row[2], row[3]))
    for chain, seq, at, after in itertools.islice(found, _MOST_JUMPS):
        of = f"step {seq + 1}, which came after it ({after})" if after is not None else "the time now"
        message = f"Step {seq} of {chain} says {at}, a day or more ahead of {of}: a clock was wrong."
        look = suggest("audit timeline", session_id=chain, since=seq - 1, until=seq + 1)
        yield Problem("CLOCK_JUMP", "warning", f"{chain} {seq}", message, sentence("check the clock; {}", look))


def _is_jump(at: str, after: str) -> bool:
    try:
        return clock_jumps.is_far_ahead(at, after)
    except ValueError:
        # Whatever is no time is named by the verification.
        return False


def _references(connection: sqlite.Connection) -> Iterator[Problem]:
    counts: dict[tuple[str, str], int] = {}
    for table, _, parent, _ in connection.execute("PRAGMA foreign_key_check"):
        counts[table, parent] = counts.get((table, parent), 0) + 1
    for (table, parent), count in counts.items():
        message = f"{count} rows of {table} refer to rows of {parent} that do not exist."
        yield Problem("REFERENCE_BROKEN", "error", table, message, _restore(connection))


def _orphans(connection: sqlite.Connection) -> Iterator[Problem]:
    """Rows of a step without its event, and rows of a group that does not exist."""
    for table, columns in _columns(connection).items():
        if table == "audit_events":
            continue
        if "seq" in columns:
            chain = "t.session_id" if "session_id" in columns else f"'{constants.STORE_CHAIN}'"
            parent = f"audit_events e WHERE e.session_id = {chain} AND e.seq = t.seq"
            yield from _orphans_of(connection, table, "the event of their step", parent)
        if {"session_id", "group_id"} <= columns and table not in _UNCHECKED_GROUPS:
            parent = "task_groups g WHERE g.session_id = t.session_id AND g.id = t.group_id"
            # An empty group is the session as a whole.
            yield from _orphans_of(connection, table, "their group", parent, "t.group_id <> '' AND ")


def _columns(connection: sqlite.Connection) -> dict[str, set[str]]:
    sql = "SELECT m.name, p.name FROM sqlite_master m, pragma_table_info(m.name) p WHERE m.type = 'table'"
    found: dict[str, set[str]] = {}
    for table, column in connection.execute(sql):
        found.setdefault(table, set()).add(column)
    return found


def _orphans_of(
    connection: sqlite.Connection, table: str, what: str, parent: str, condition: str = ""
) -> Iterator[Problem]:
    # Names of ours and of the file's own tables.
    sql = f'SELECT count(*) FROM "{table}" t WHERE {condition}NOT EXISTS (SELECT 1 FROM {parent})'
    (count,) = connection.execute(sql).fetchone()
    if count:
        yield Problem("ORPHANS", "error", table, f"{count} rows of {table} lack {what}.", _restore(connection))


def _schema_problem(what: str, key: Key, words: str, path: str) -> Problem:
    kind, name = key
    restore, repair = suggest("db restore", file="FILE", db=path), suggest("db check", repair=True, db=path)
    command = repair if kind in REPAIRABLE else restore
    return Problem(f"{kind.upper()}_{what}", "error", name, f"The {kind} {name} {words}.", command)


def _restore(connection: sqlite.Connection) -> str:
    return suggest("db restore", file="FILE", db=connection.path)
