"""How each table is covered by the events: by the step that wrote its rows, by the newest state of a row, by a hash.

The statements give, for each row, its chain, its step and its line, in the order in which the steps wrote them. The
line is made by SQLite, since a line made row by row in Python costs more than all else that verifying does.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from orchestrator.core import strict_json
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.hints import Any
from orchestrator.store import step, table_metadata
from orchestrator.store.constants import STORE_CHAIN

Expression = Callable[[str, tuple[str, ...]], str]
"""The SQL of a row's line, given the name of the row and its columns."""


class Written(NamedTuple):
    """A table whose rows stay as their step wrote them.

    chain, seq: the chain and the step of a row; order: how a step wrote several of them.
    source: where the rows come from, where the table itself is not in that order; the row is called `t`. A server keeps
    no order of a source and is asked for it.
    """

    chain: str = "t.session_id"
    seq: str = "t.seq"
    order: str = "t.part"
    source: str = ""


class Changing(NamedTuple):
    """A table whose rows may change: the chain of a row, the step that created it, and the indexed column of the chain.

    Where `created` is empty the row was created with its session.
    """

    chain: str = "t.session_id"
    created: str = "t.created_seq"
    sort: str = "t.session_id"


_STORE = f"'{STORE_CHAIN}'"
# Sorted by keys alone and then looked up, so that no long row is carried through the sorting. Without the limit the
# order of the inner statement would not have to be kept.
_BY_REQUEST = "(SELECT session_id AS s, request_id AS r FROM requests {where} ORDER BY session_id, seq LIMIT -1) k"
_BY_REQUEST += " CROSS JOIN requests t ON t.session_id = k.s AND t.request_id = k.r"
# A step covers the hand-offs that are stored with its decisions first, and then the others as they were written.
_BY_TURN = """(SELECT k.session_id, k.turn, ifnull(ifnull(d.handoff_group, d.group_id), o.group_id) AS group_id,
        ifnull(d.handoff_agent, o.agent_id) AS agent_id, ifnull(d.handoff, o.document) AS document,
        CASE WHEN d.rowid IS NULL THEN o.hash WHEN d.handoff_group IS NULL THEN d.handoff_hash
            ELSE d.handoff_group_hash END AS hash, k.place FROM (
            SELECT session_id, seq AS turn, part AS place, rowid AS of_decision, NULL AS other
            FROM router_decisions INDEXED BY sqlite_autoindex_router_decisions_1
            {of_step} AND (handoff IS NOT NULL OR handoff_agent IS NOT NULL)
            UNION ALL SELECT session_id, turn, rowid + 4294967296, NULL, rowid FROM standalone_handoffs {where}
            ORDER BY session_id, turn, place LIMIT -1
        ) k LEFT JOIN router_decisions d ON d.rowid = k.of_decision
        LEFT JOIN standalone_handoffs o ON o.rowid = k.other) t"""
_OF_VERSION = " t LEFT JOIN workflow_versions v ON v.id = t.workflow_version_id"

WRITTEN = {
    "acknowledgements": Written(),
    "adoptions": Written(order=""),
    "agent_files": Written(_STORE, "v.seq", "t.rowid", f"agent_files{_OF_VERSION}"),
    "agent_reports": Written(),
    "context_items": Written(order="t.name"),
    "deferrals": Written(order=""),
    "evidence": Written(),
    "grandfathered_groups": Written(order="t.group_id"),
    "handoffs": Written(seq="t.turn", order="t.place", source=_BY_TURN),
    "human_credentials": Written(_STORE, order="t.id"),
    "human_tokens": Written(_STORE, order="t.id"),
    "import_findings": Written(),
    "imported_logs": Written(),
    "imported_sessions": Written(order=""),
    "notices": Written(),
    "projects": Written(_STORE, order="t.id"),
    "refusals": Written(),
    "requests": Written(order="", source=_BY_REQUEST),
    "resume_points": Written(order=""),
    "router_decisions": Written(),
    "run_events": Written(),
    "run_files": Written(),
    "run_violations": Written(),
    "status_changes": Written(),
    "workflow_activations": Written(_STORE, order=""),
    "workflow_transitions": Written(
        _STORE, "v.seq", "t.current_agent, t.response_status", f"workflow_transitions{_OF_VERSION}"
    ),
    "workflow_versions": Written(_STORE, order="t.id"),
}
"""Compared, step by step, with the digests that the events hold."""

CHANGING = {
    "agents": Changing(chain=f"coalesce(t.session_id, {_STORE})"),
    "blockers": Changing(created="t.opened_seq"),
    "criteria": Changing(),
    "group_dependencies": Changing(created="t.seq"),
    "questions": Changing(created="t.opened_seq"),
    "run_locks": Changing(created="t.seq"),
    "runs": Changing(),
    "sessions": Changing("t.id", "", "t.id"),
    "starts": Changing(created="t.seq"),
    "task_dependencies": Changing(created="t.seq"),
    "task_groups": Changing(),
    "tasks": Changing(),
    "turn_runs": Changing(),
}
"""Compared, row by row, with the state that the last step left which wrote the row."""

BY_HASH = frozenset(("texts",))
"""Kept by their content's hash, which rows of other tables name."""

EVENTS = "audit_events"
LINED = frozenset((EVENTS, *WRITTEN, *CHANGING))
"""The tables of whose rows a verification reads the line."""
WRITES = {
    b"route": ("agent_reports", "router_decisions"),
    b"redispatch": ("router_decisions",),
    b"refusal": ("refusals",),
}
"""The tables without whose rows no step of a kind is one."""
_IMPORTED = (b"import peer",)
_LOADED = (b"workflow load",)
ORIGINS: dict[str, tuple[bytes, ...]] = {
    "acknowledgements": (b"route", b"answer"),
    "agent_files": _LOADED,
    "agent_reports": (b"route", b"validate", b"answer"),
    "criteria": (b"criterion ", b"route", *_IMPORTED),
    "deferrals": (b"route", b"answer", b"group set-status"),
    "evidence": (b"route", b"refusal", b"answer", b"validate", b"run ", b"turn ", b"tree keep", b"start end"),
    "grandfathered_groups": _IMPORTED,
    "group_dependencies": (b"group ", b"route", *_IMPORTED),
    "human_credentials": (b"human ",),
    "human_tokens": (b"human enrol",),
    "import_findings": _IMPORTED,
    "imported_logs": _IMPORTED,
    "imported_sessions": _IMPORTED,
    "projects": (b"project add",),
    "resume_points": (b"route", b"answer"),
    "workflow_activations": _LOADED,
    "workflow_transitions": _LOADED,
    "workflow_versions": _LOADED,
}
"""The only kinds of steps that write rows of a table; one that ends in a blank stands for all that begin so. A plan in
a report writes what it plans, an answer the report that it lets go on."""
_HASHED = ("session_id", "seq", "kind", "actor", "channel", "at", "input", "rows")


class Span(NamedTuple):
    """What is looked at: one chain, or (None) those of all sessions; only what comes after a step."""

    chain: str | None
    since: int = 0

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of every statement below."""
        return {"chain": self.chain or STORE_CHAIN, "since": self.since}

    def where(self, chain: str, seq: str) -> str:
        """The condition on a row; the time of a statement on one chain grows with that chain alone."""
        found = f"{chain} {'=' if self.chain else '<>'} :chain"
        if not self.since:
            return found
        return f"{found} AND {seq} > :since" if seq else f"{found} AND 0"


def events(span: Span, line: Expression, condition: str = "") -> str:
    """Chain, step, line, hash before, own hash, what each event covers, and its kind."""
    hashed = line("t", _HASHED)
    return (
        f"SELECT {_chain(span, 't.session_id')}, {number('t.seq')}, {hashed}, {_bytes('t.prev_hash')},"
        f" {_bytes('t.hash')},"
        f" CAST(t.rows AS BLOB), {key('t.kind')}"
        f" FROM audit_events t WHERE {span.where('t.session_id', 't.seq')}{condition} ORDER BY t.session_id, t.seq"
    )


def written_in(span: Span) -> list[str]:
    """The tables that chains of this span can have written rows of that stay."""
    return [table for table, about in WRITTEN.items() if about.chain != _STORE or span.chain == STORE_CHAIN]


def written(table: str, span: Span, line: Expression) -> str:
    """Chain, step and line of every row of a table whose rows stay."""
    about = WRITTEN[table]
    columns = (
        f"SELECT {_chain(span, about.chain)}, {number(about.seq)}, {line('t', table_metadata.column_names(table))}"
    )
    order = ", ".join(filter(None, (about.chain if about.chain != _STORE else "", about.seq, about.order)))
    if "{where}" in about.source:
        inner, of_step = (span.where("session_id", name) for name in (about.seq.removeprefix("t."), "seq"))
        source = about.source.format(where=f"WHERE {inner}", of_step=f"WHERE {of_step}")
        return f"{columns} FROM {source}{f' ORDER BY {order}' if line is served else ''}"
    where = span.where(about.chain, about.seq)
    return f"{columns} FROM {about.source or f'{table} t'} WHERE {where} ORDER BY {order}"


def changing(table: str, span: Span, line: Expression) -> str:
    """Chain, creating step, line and key of every row of a table whose rows may change."""
    about = CHANGING[table]
    order = "" if span.chain else f" ORDER BY {about.sort}"
    chain = _chain(span, about.chain)
    return f"{_changing(table, line, chain)} WHERE {span.where(about.chain, about.created)}{order}"


def one(table: str, line: Expression) -> str:
    """The same of one row, by its key."""
    names_ = (
        ("session_id", *table_metadata.KEYS[table])
        if table in table_metadata.OF_SESSION
        else table_metadata.KEYS[table]
    )
    chain = key(CHANGING[table].chain)
    return f"{_changing(table, line, chain)} WHERE {' AND '.join(f't.{name} = ?' for name in names_)}"


def key_of(table: str, chain: str, state: str) -> tuple[Any, ...]:
    """The parameters of `one`, from the name that a row has among the states of an event."""
    parts = (state,) if len(table_metadata.KEYS[table]) == 1 else tuple(strict_json.stored(state))
    return (chain, *parts) if table in table_metadata.OF_SESSION else parts


def _changing(table: str, line: Expression, chain: str) -> str:
    about = CHANGING[table]
    listed = ", ".join(f"t.{name}" for name in table_metadata.KEYS[table])
    created = number(about.created) if about.created else "1"
    return f"SELECT {chain}, {created}, {line('t', table_metadata.column_names(table))}, {listed} FROM {table} t"


def _chain(span: Span, column: str) -> str:
    """The SQL of a row's chain; where one chain is looked at it is the same for all rows, and made once."""
    return "CAST(:chain AS BLOB)" if span.chain else key(column)


def key(column: str) -> str:
    """The SQL of a text as bytes, so that a value of any type and encoding can be read and compared."""
    return f"CAST(ifnull({column}, '') AS BLOB)"


def number(column: str) -> str:
    """The SQL of a number, whatever the column holds."""
    return f"CAST(ifnull({column}, 0) AS INTEGER)"


def _bytes(column: str) -> str:
    return f"CASE typeof({column}) WHEN 'blob' THEN {column} ELSE x'' END"


# Lines

_PROBE = "".join(map(chr, range(0x100))) + "\u2028\u20ac\U0001f600"


def expression(connection: sqlite3.Connection) -> Expression:
    """How this SQLite makes the line of a row, checked against the line that a step hashes."""
    if getattr(connection, "makes_lines", False):
        return served
    return plain if _agrees(connection) else _registered(connection)


def plain(row: str, columns: tuple[str, ...]) -> str:
    """A line by SQLite's own JSON; it stops at a value of bytes."""
    return f"CAST(json_array({', '.join(_column(row, name) for name in columns)}) AS BLOB)"


def served(row: str, columns: tuple[str, ...]) -> str:
    """The same for a server, which writes the line as it renders the statement."""
    return plain(row, columns)


def careful(row: str, columns: tuple[str, ...]) -> str:
    """The same where a column that should hold text holds bytes."""
    given = (_column(row, name) for name in columns)
    each = (f"CASE typeof({one}) WHEN 'blob' THEN lower(hex({one})) ELSE {one} END" for one in given)
    return f"CAST(json_array({', '.join(each)}) AS BLOB)"


def _column(row: str, name: str) -> str:
    return f'{row}."{name}"'


def _agrees(connection: sqlite3.Connection) -> bool:
    values = ("text", _PROBE, 0, -(2**63), 2**63 - 1, None, 1)
    sql = f"SELECT CAST(json_array({', '.join('?' * len(values))}) AS BLOB)"
    try:
        (found,) = connection.execute(sql, values).fetchone()
    except sqlite3.OperationalError:
        return False
    return trimmed(found) == step.row_line(values)


_FUNCTION = "orchestrator_row_line"


def _registered(connection: sqlite3.Connection) -> Expression:
    connection.create_function(_FUNCTION, -1, _line, deterministic=True)
    return lambda row, columns: f"{_FUNCTION}({', '.join(_column(row, name) for name in columns)})"


def _line(*values: step.Value) -> bytes:
    return step.row_line(values).removesuffix(b"\n")


NULL_AT_END = b",null]"


def trimmed(line: bytes) -> bytes:
    """The line as it is hashed: without nulls at its end, and with the end of the line."""
    if line[-6:] == NULL_AT_END:
        line = line[:-1]
        while line.endswith(b",null"):
            line = line[:-5]
        return line + b"]\n"
    return line + b"\n"
