"""Connections to a PostgreSQL server, by URL; they answer as the store's connections to a file do.

The counterpart of `sqlite`, and the only module that knows the driver and what its errors mean. Statements come in
SQLite's SQL and are rendered by `postgresql_sql`. What a guard or constraint refuses is `sqlite3.IntegrityError` here
as well, so that nothing above asks which database it works on; what the server or the way to it refuses is an
`EnvironmentProblem` at once.

A step takes the lock of its session's row first, and reads only after it, each statement what is committed by then: so
steps of one session come one after another, and sessions do not wait for each other. Steps of the store's chain, which
all sessions read, hold an advisory lock alone that every other step shares. Events are numbered in the order in which
they are committed, and each commit is told to whoever listens.

Source: spec 90, sections 1 and 2.
"""

from __future__ import annotations

import contextlib
import functools
import re
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence

import psycopg
from psycopg import adapt, pq
from psycopg.types.string import ByteaLoader

from orchestrator import errors
from orchestrator.core import sha256
from orchestrator.core.database_urls import masked, passwords
from orchestrator.core.suggestions import local, sentence
from orchestrator.hints import Any
from orchestrator.store import constants, leases, postgresql_catalogue, problems, schema_script, sqlite
from orchestrator.store.findings import Finding
from orchestrator.store.postgresql_sql import Untranslatable, rendered
from orchestrator.store.postgresql_statements import Rows, Statements
from orchestrator.store.step import EVENT, Step

FIRST = 17
"""The first schema version that any program has made on a server."""
ALLOW_SUPERUSER = "--allow-superuser"
_BEGINNINGS = {
    "BEGIN IMMEDIATE": "BEGIN; SET LOCAL orchestrator.write = '1'",
    "BEGIN": "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
}
"""A transaction that writes reads what is committed by then, since it waits for its lock; one that only reads sees one
moment."""
_TRANSACTION = re.compile(r"(BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE)\b")
_KEY = int.from_bytes(sha256.new(b"orchestrator").digest()[:4]) >> 1
"""The first half of our advisory locks' keys; the second is that of a chain, 0 for the store's."""
_NUMBERS = -1
"""Held from the event of a step to its commit, which telling of the step keeps others from as well."""
_SHARE_STORE = f"SELECT pg_advisory_xact_lock_shared({_KEY}, 0)"
_TAKE_CHAIN = "SELECT pg_advisory_xact_lock($1::integer, $2::integer)"
_NUMBERED = """WITH alone AS MATERIALIZED (SELECT pg_advisory_xact_lock($11::integer, $12::integer))
    INSERT INTO audit_events SELECT $1::text, $2::bigint, $3::text, $4::text, $5::text, $6::text, $7::text, $8::text,
        $9::bytea, $10::bytea FROM alone"""
"""`EVENT` behind the lock of the numbers: readers go on behind the last one that they saw, so none may be given before
it, and committed after it. A row gets its number once `alone` has been read."""
_VERSION = "SELECT version_num FROM alembic_version"
_TAKE_SESSION = f"SELECT ({_VERSION}) FROM sessions WHERE id = $1 FOR UPDATE"
_SKIP_SESSION = f"{_TAKE_SESSION} SKIP LOCKED"
_CHANNEL = "orchestrator_steps"
_TELL = f"NOTIFY {_CHANNEL}; COMMIT"
"""Ends a step. It is told with the commit itself, never before it, and to nobody where that fails."""
_TOUCH = "UPDATE alembic_version SET version_num = version_num"
_STORED = "SELECT hash FROM audit_events WHERE session_id = $1 AND seq = $2"
_RIGHTS = "SELECT current_setting('is_superuser'), current_setting('transaction_read_only'), pg_is_in_recovery()::text"
_OTHERS = """SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
    AND backend_type = 'client backend' LIMIT 1"""
_REFERENCES = """SELECT conrelid::regclass::text, conname::text FROM pg_constraint
    WHERE contype = 'f' AND NOT condeferrable AND connamespace = 'public'::regnamespace ORDER BY 1, 2"""
_PART = 500
"""Rows that are read at once of many."""
_NO_ROOM = frozenset(("53100", "53400", "54000"))
_LOST = frozenset(("57P01", "57P02", "57P03", "57P05"))
_OVERTAKEN = frozenset(("40001", "40P01"))
"""A serialisation failure, a deadlock: what one of two has to give up so that the other can go on."""
_LOCKED = "55P03"
_TRIES_S = 0.05


class _Unknown(adapt.Dumper):
    """A value whose type the server takes from where it stands, as SQLite takes it from the column."""

    oid = 0

    def dump(self, obj: Any) -> bytes:
        return str(int(obj)).encode()


class _Flag(adapt.Loader):
    """True and false as SQLite has them."""

    def load(self, data: Any) -> int:
        return int(bytes(data) == b"t")


class _Whole(adapt.Loader):
    """A number without fraction; the store has no other."""

    def load(self, data: Any) -> int:
        return int(bytes(data))


class _Number(adapt.Loader):
    """A number of anybody's; null where it is none, as in SQLite."""

    def load(self, data: Any) -> int | float | None:
        text = bytes(data).decode()
        if text == "NaN":
            return None
        return int(text) if re.fullmatch(r"-?\d+", text) else float(text)


class _Text(adapt.Loader):
    def load(self, data: Any) -> str:
        return bytes(data).decode()


class Connection:
    """A connection that answers as `sqlite.Connection` does; `path` is its URL without the password."""

    identity = None
    immutable = False
    mark = None
    seen = None
    is_shared = False
    text_factory: Any = str
    first_read = "SELECT 1 FROM alembic_version"
    """What fixes the moment of a transaction that only reads."""
    skips = False
    """Whether a step is given up at once where another one of its session is under way; the caller sets it."""
    makes_lines = True
    """Whether a statement makes the lines of rows as steps hash them."""

    def __init__(self, url: str, *, write: bool, deadline_s: float, synchronous: str) -> None:
        self.path = masked(url)
        self.writes = write
        self._url, self._deadline_s, self._synchronous = url, deadline_s, synchronous
        self._sealing: Sequence[Any] | None = None
        self._listens = False
        self._begun: str | None = None
        """How the transaction begins that was asked for: it is sent with its first statement."""
        self._driver = self._opened()

    @functools.cached_property
    def judge(self) -> sqlite3.Connection:
        """What answers statements that read no table: they are not rendered."""
        return sqlite3.connect(":memory:", check_same_thread=False)

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open, also one that can only be rolled back."""
        if self._begun is not None:
            return True
        return self._driver.info.transaction_status not in (pq.TransactionStatus.IDLE, pq.TransactionStatus.UNKNOWN)

    def execute(self, sql: str, parameters: Sequence[Any] | Mapping[str, Any] = ()) -> Rows:
        """Run a statement of the store.

        Raises:
            sqlite3.IntegrityError: a guard or a constraint refuses it.
            sqlite3.OperationalError: it is none that this database can run.
            EnvironmentProblem: BUSY, READ_ONLY, DISK_FULL or NO_DATABASE, of the server.
            InvalidInput: INVALID_TEXT, a text holds a NUL character.
        """
        if _TRANSACTION.match(sql):
            return self._switch(sql)
        try:
            found = rendered(sql)
        except Untranslatable as error:
            raise sqlite3.OperationalError(str(error)) from None
        if sql is EVENT:
            self._sealing = tuple(parameters)
            return self.run(_NUMBERED, (*parameters, _KEY, _NUMBERS))
        values: Sequence[Any] = ()
        if isinstance(parameters, Mapping):
            values = [parameters[name] for name in found.names]
        else:
            values = [parameters[int(number) - 1] for number in found.names] if found.names else parameters
        return self.run(found.sql, values, hides=found.hides)

    @property
    def is_encrypted(self) -> bool:
        """Whether what is sent to the server is encrypted."""
        return bool(self._driver.pgconn.ssl_in_use)

    def others(self) -> bool:
        """Whether somebody else is connected to the database."""
        return self.run(_OTHERS).fetchone() is not None

    def schema_problems(self) -> Iterator[Finding]:
        """What of the schema is not as this program declares it, as `postgresql_catalogue.problems` says."""
        return postgresql_catalogue.problems(self)

    def another(self, *, write: bool) -> Connection:
        """Another connection to the same database."""
        return Connection(self._url, write=write, deadline_s=self._deadline_s, synchronous=self._synchronous)

    def lives(self, owner: str) -> bool | None:
        """Whether a process lives by its lease, as `leases.lives` says."""
        return leases.lives(self, owner)

    def is_current(self) -> bool:
        """Whether the connection lives, and the database has this program's schema still."""
        try:
            return read_version(self) == constants.SCHEMA_VERSION
        except errors.EnvironmentProblem:
            return False

    def check_writable(self, deadline_s: float) -> None:
        """Write the schema's number as it is.

        Raises:
            EnvironmentProblem: why nothing can be written.
        """
        self.execute("BEGIN IMMEDIATE")
        try:
            self.wait_for_locks(deadline_s)
            self.run(_TOUCH)
            self.run("COMMIT")
        finally:
            self.rollback()

    def listener(self) -> Listener:
        """What waits for the steps of everybody."""
        return Listener(self)

    def wait_for_locks(self, deadline_s: float) -> None:
        """Let the transaction that is open wait so many seconds for locks of others."""
        self.run(_patience(deadline_s))

    def wait_for_step(self, seconds: float) -> bool:
        """Wait until a step is told on a connection that listens, or for so long; whether one may have been taken."""
        if not self._listens:
            self.run(f"LISTEN {_CHANNEL}")
            self._listens = True
            return True
        try:
            return any([*self._driver.notifies(timeout=seconds, stop_after=1)])
        except psycopg.Error as error:
            raise _translated(error, self.path) from error

    def streamed(self, sql: str) -> Iterator[tuple[Any, ...]]:
        """The rows of a statement of the store, a part at a time; within a transaction."""
        self.run(f"DECLARE streamed NO SCROLL CURSOR FOR {rendered(sql).sql}")
        while found := self.run(f"FETCH {_PART} FROM streamed").fetchall():
            yield from found
        self.run("CLOSE streamed")

    def load(self, table: Any, rows: Iterable[Sequence[Any]]) -> int:
        """Write the rows of a table, the hidden key first where it has one; how many they are.

        Args:
            table: as `database_copy.Table` describes it.

        Raises:
            EnvironmentProblem: CORRUPT, the table cannot hold them; and as `execute` does.
        """
        places = ", ".join(f"${place}" for place in range(1, len(table.columns) + table.rowid + 1))
        cursor = psycopg.RawCursor(self._driver)
        try:
            cursor.executemany(
                f"INSERT INTO {table.name} ({table.names}) OVERRIDING SYSTEM VALUE VALUES ({places})", rows
            )
        except psycopg.Error as error:
            found = _translated(error, self.path)
            raise problems.corrupt(self.path, str(found)) if isinstance(found, sqlite3.Error) else found from error
        if table.rowid:
            self.run(
                f"SELECT setval(pg_get_serial_sequence('public.{table.name}', 'rowid'), max(rowid)) FROM {table.name}"
            )
        return max(0, cursor.rowcount)

    def lock(self, chain: str, deadline_s: float) -> None:
        """Take the lock of a chain for the step that is open; before its first read.

        Raises:
            EnvironmentProblem: BUSY after `deadline_s` seconds; SCHEMA_TOO_NEW, SCHEMA_TOO_OLD, the schema was brought
                to another version since the connection was opened.
        """
        version = self.wait_for(chain, deadline_s)
        found = read_version(self) if version is None else int(version)
        if found != constants.SCHEMA_VERSION:
            raise _other_version(self.path, found)

    def wait_for(self, chain: str, deadline_s: float) -> str | None:
        """Take the lock of a chain, whatever version the schema has, which is told where the chain's session has a row.

        Raises:
            EnvironmentProblem: BUSY after `deadline_s` seconds.
        """
        if chain == constants.STORE_CHAIN:
            self.wait_for_locks(deadline_s)
            self.run(_TAKE_CHAIN, (_KEY, 0))
            return None
        # A schema is changed by whoever has this alone: what is read behind it is as it stays for the step.
        self.run(f"{_patience(deadline_s)}; {_SHARE_STORE}")
        if self.skips and self.run(_SKIP_SESSION, (chain,)).fetchone() is None:
            problem = problems.busy(self.path)
            problem.data[constants.SKIPPED] = True
            raise problem
        found = self.run(_TAKE_SESSION, (chain,)).fetchone()
        if found is None:
            # A session that is just created has no row yet, and two may be creating it.
            self.run(_TAKE_CHAIN, (_KEY, _number(chain)))
        return None if found is None else str(found[0])

    def settle(self, deadline_s: float = sqlite.DEADLINE_S) -> None:
        """Nothing: no steps share a commit here."""

    def rollback(self) -> None:
        """End the transaction that is open, if any, and leave nothing of it."""
        if self.in_transaction:
            self._switch("ROLLBACK")

    def close(self) -> None:
        """Close it; what was not committed is gone."""
        self._driver.close()

    def _opened(self) -> psycopg.Connection[Any]:
        made = _connected(self._url, self._deadline_s)
        for kind in (int, bool):
            made.adapters.register_dumper(kind, _Unknown)
        for name, loader in (("bool", _Flag), ("numeric", _Whole), ("json", _Text), ("jsonb", _Text)):
            made.adapters.register_loader(name, loader)
        # What a client puts into another schema, or into that of its temporary tables, shadows nothing.
        level = "off" if self._synchronous == "NORMAL" else "on"
        settings = f"SET search_path = public, pg_temp; SET synchronous_commit = {level}"
        if not self.writes:
            settings += "; SET default_transaction_read_only = on"
        try:
            made.execute(settings)
        except psycopg.Error as error:
            made.close()
            raise _translated(error, self.path) from error
        self._statements = Statements(made)
        return made

    def _switch(self, sql: str) -> Rows:
        """Begin or end a transaction."""
        if sql == "BEGIN IMMEDIATE":
            self._sealing, self._begun = None, _BEGINNINGS[sql]
            return Rows(self._driver)
        if sql in _BEGINNINGS:
            return self.run(_BEGINNINGS[sql])
        if self._begun is not None and sql in ("COMMIT", "ROLLBACK"):
            self._begun = None
            return Rows(self._driver)
        sealing, self._sealing = self._sealing, None
        try:
            return self.run(sql if sql != "COMMIT" or sealing is None else _TELL)
        except errors.EnvironmentProblem:
            if sql == "ROLLBACK" and self._driver.closed:
                return Rows(self._driver)
            if sql != "COMMIT" or sealing is None or not self._driver.closed:
                raise
            if not self._is_stored(sealing):
                raise
            return Rows(self._driver)

    def _is_stored(self, event: Sequence[Any]) -> bool:
        """Whether the step was committed whose connection was lost while it was being.

        The server may still be at it; its locks are waited for.
        """
        chain, seq, digest = event[0], event[1], event[-1]
        self._driver = self._opened()
        self.run("BEGIN")
        try:
            self.wait_for(chain, self._deadline_s)
            row = self.run(_STORED, (chain, seq)).fetchone()
        finally:
            self.run("ROLLBACK")
        return row is not None and bytes(row[0]) == digest

    def show_every_type(self) -> None:
        """Give values of any type: numbers as such, bytes as bytes, all else as the server writes it."""
        adapters = self._driver.adapters
        for each in adapters.types:
            for oid in filter(None, (each.oid, each.array_oid)):
                adapters.register_loader(oid, _Text)
        for name in ("int2", "int4", "int8", "oid", "numeric", "float4", "float8"):
            adapters.register_loader(name, _Number)
        for name, loader in (("bool", _Flag), ("bytea", ByteaLoader)):
            adapters.register_loader(name, loader)

    def run(
        self, sql: str, values: Sequence[Any] | None = None, *, hides: bool = False, alone: bool = False
    ) -> Rows:
        """Run a statement that is written for this server; raises as `execute` does.

        Args:
            hides: leave out the hidden key where `*` gave it.
            alone: refuse a text of more than one statement.
        """
        begun, self._begun = self._begun, None
        try:
            if begun is not None and (values or alone):
                self._statements.run(begun, None)
            elif begun is not None:
                sql = f"{begun}; {sql}"
            return self._statements.run(sql, values, hides=hides, alone=alone)
        except psycopg.Error as error:
            raise _translated(error, self.path) from error


class Listener:
    """Waits for steps on a connection of its own; one that is lost is made again.

    Args:
        connection: to the database whose steps are waited for.
    """

    def __init__(self, connection: Connection) -> None:
        self._like = connection
        self._own: Connection | None = None

    def wait(self, seconds: float) -> bool:
        """Wait until somebody has taken a step, or for so long; where nobody can be heard, for so long.

        Returns:
            Whether somebody may have taken one.
        """
        since = time.monotonic()
        try:
            if self._own is None:
                self._own = self._like.another(write=False)
            return self._own.wait_for_step(seconds)
        except errors.EnvironmentProblem:
            self.close()
            time.sleep(max(0.0, seconds - (time.monotonic() - since)))
            return False

    def close(self) -> None:
        """Hear no more."""
        own, self._own = self._own, None
        if own is not None:
            own.close()


def connect(
    url: str, *, write: bool, deadline: float = sqlite.DEADLINE_S, synchronous: str = "FULL",
    allow_superuser: bool = False,
) -> Connection:
    """Open a database that has this program's schema.

    Args:
        url: a libpq URL.
        write: open for steps; else nothing can be written through the connection.
        deadline: seconds to wait for the server, and for locks of others.
        synchronous: FULL survives a power cut, NORMAL may lose the last steps then.
        allow_superuser: write as a superuser, whom no right and no trigger stops.

    Raises:
        EnvironmentProblem: NO_DATABASE, READ_ONLY, SCHEMA_TOO_NEW, SCHEMA_TOO_OLD; READ_ONLY also as a superuser.
    """
    connection = open_server(
        url, write=write, deadline=deadline, synchronous=synchronous, allow_superuser=allow_superuser
    )
    try:
        version = read_version(connection)
        if version != constants.SCHEMA_VERSION:
            raise _other_version(connection.path, version)
    except BaseException:
        connection.close()
        raise
    return connection


def open_server(
    url: str, *, write: bool, deadline: float = sqlite.DEADLINE_S, synchronous: str = "FULL",
    allow_superuser: bool = False,
) -> Connection:
    """Open a database of any schema version, as `connect` does otherwise."""
    if synchronous not in sqlite.SYNCHRONOUS:
        raise errors.UsageError(
            "USAGE", f"ORCHESTRATOR_SYNCHRONOUS must be FULL or NORMAL, not {synchronous!r}.",
            "unset ORCHESTRATOR_SYNCHRONOUS",
        )
    connection = Connection(url, write=write, deadline_s=deadline, synchronous=synchronous)
    try:
        if write:
            _require_rights(connection, allow_superuser)
    except BaseException:
        connection.close()
        raise
    return connection


def read_version(connection: Connection) -> int:
    """The schema version of a database, 0 where it has no schema yet."""
    if connection.run("SELECT to_regclass('public.alembic_version')::text").fetchone() == (None,):
        return 0
    row = connection.run(_VERSION).fetchone()
    return 0 if row is None else int(row[0])


def create(url: str, at: str, *, actor: str, deadline: float = sqlite.DEADLINE_S, allow_superuser: bool = False,
           channel: str = "cli") -> tuple[int, int]:  # fmt: skip
    """Create the schema where there is none, in one transaction that the store's chain records.

    Returns:
        The schema version before and after.

    Raises:
        EnvironmentProblem: as `open_server`; SCHEMA_TOO_NEW, SCHEMA_TOO_OLD, NO_DATABASE; nothing was changed.
    """
    connection = open_server(url, write=True, deadline=deadline, allow_superuser=allow_superuser)
    try:
        connection.execute("BEGIN IMMEDIATE")
        # Several may start at once; whoever comes second finds the schema.
        connection.wait_for(constants.STORE_CHAIN, deadline)
        before = read_version(connection)
        if before > constants.SCHEMA_VERSION:
            raise problems.too_new(connection.path, before)
        if before == constants.SCHEMA_VERSION:
            return before, before
        if before:
            raise older(connection.path, before)
        _require_empty(connection)
        for statement in schema_script.postgresql():
            connection.run(statement)
        connection.run("INSERT INTO alembic_version VALUES ($1)", (f"{constants.SCHEMA_VERSION:04}",))
        step = Step(connection, constants.STORE_CHAIN, at, deadline)  # type: ignore[arg-type]
        step.seal("migrate", actor, channel, {"from": 0, "to": constants.SCHEMA_VERSION})
        return before, constants.SCHEMA_VERSION
    finally:
        connection.rollback()
        connection.close()


@contextlib.contextmanager
def filling(url: str, deadline_s: float, *, allow_superuser: bool) -> Iterator[Connection]:
    """A connection to an empty database that has the tables, for all rows; what the block leaves is committed.

    References are checked behind the rows, since a row may refer to one that follows; guards are created there, too.

    Raises:
        Refused: NOT_EMPTY. EnvironmentProblem: as `create`; CORRUPT, a reference leads nowhere; nothing was changed.
    """
    connection = open_server(url, write=True, deadline=deadline_s, allow_superuser=allow_superuser)
    try:
        connection.execute("BEGIN IMMEDIATE")
        connection.wait_for(constants.STORE_CHAIN, deadline_s)
        if read_version(connection):
            raise problems.not_empty(connection.path)
        _require_empty(connection)
        created, triggers = list[str](), list[str]()
        for statement in schema_script.postgresql():
            (triggers if statement.startswith("CREATE TRIGGER") else created).append(statement)
        for statement in created:
            connection.run(statement)
        connection.run("INSERT INTO alembic_version VALUES ($1)", (f"{constants.SCHEMA_VERSION:04}",))
        references = connection.run(_REFERENCES).fetchall()
        for table, name in references:
            connection.run(f"ALTER TABLE {table} ALTER CONSTRAINT {name} DEFERRABLE INITIALLY DEFERRED")
        yield connection
        _settle_references(connection, references)
        for statement in triggers:
            connection.run(statement)
        connection.run("COMMIT")
    finally:
        connection.rollback()
        connection.close()


def _settle_references(connection: Connection, references: Sequence[tuple[Any, ...]]) -> None:
    try:
        connection.run("SET CONSTRAINTS ALL IMMEDIATE")
    except sqlite3.IntegrityError as error:
        raise problems.corrupt(connection.path, str(error)) from error
    for table, name in references:
        connection.run(f"ALTER TABLE {table} ALTER CONSTRAINT {name} NOT DEFERRABLE")


def _require_empty(connection: Connection) -> None:
    """Require that a database without our schema is nobody else's, and holds texts as UTF-8."""
    (encoding,) = connection.run("SELECT current_setting('server_encoding')").fetchone() or ("",)
    if encoding != "UTF8":
        raise errors.EnvironmentProblem(
            "NO_DATABASE",
            sentence("{} has the encoding {}; texts need UTF8.", _database(connection.path), encoding),
            "create another: createdb --encoding UTF8 --template template0 NAME", db=connection.path,
        )
    row = connection.run("SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace LIMIT 1").fetchone()
    if row is not None:
        raise errors.EnvironmentProblem(
            "NO_DATABASE",
            sentence("{} holds something else already: {}. Nothing was changed.", _database(connection.path), row[0]),
            "name an empty database: createdb NAME", db=connection.path,
        )


def _require_rights(connection: Connection, allow_superuser: bool) -> None:
    superuser, read_only, replica = connection.run(_RIGHTS).fetchone() or ("", "", "")
    if replica == "true" or read_only == "on":
        raise _read_only(connection.path, is_replica=replica == "true")
    if superuser == "on" and not allow_superuser:
        raise errors.EnvironmentProblem(
            "READ_ONLY",
            sentence(
                "{} would be written as a superuser, whom no right and no trigger stops. Nothing was written.",
                _database(connection.path),
            ),
            sentence(
                "name a role of its own in the URL (CREATE ROLE orchestrator LOGIN; CREATE DATABASE ... OWNER"
                " orchestrator), or pass {}", ALLOW_SUPERUSER,
            ),
            db=connection.path,
        )


def _connected(url: str, deadline_s: float) -> psycopg.Connection[Any]:
    """A connection as the driver makes it; a server that is starting is waited for."""
    until = time.monotonic() + deadline_s
    given: dict[str, Any] = {"client_encoding": "utf8", "application_name": "orchestrator"}
    if "connect_timeout" not in url:
        given["connect_timeout"] = max(2, int(deadline_s))
    while True:
        try:
            return psycopg.connect(url, autocommit=True, **given)
        except psycopg.Error as error:
            problem = _unreachable(str(error), url)
            if "starting up" not in str(error) or time.monotonic() >= until:
                # The driver's own words may hold what it was given.
                raise problem from None
        time.sleep(_TRIES_S)


_HELP = (
    ("certificate verify failed", "name the certificate of the server's authority in the URL: sslrootcert=FILE"),
    ("root certificate file", "name the certificate of the server's authority in the URL: sslrootcert=FILE"),
    ("does not match host name", "name the host in the URL as its certificate does"),
    ("does not support SSL", "set ssl = on on the server, with its certificate"),
    ("password authentication failed", "give the right password: in the URL, PGPASSWORD or ~/.pgpass"),
    ("no password supplied", "give the password: in the URL, PGPASSWORD or ~/.pgpass"),
    ("does not exist", "create it: createdb NAME, or createuser NAME"),
    ("pg_hba.conf", "let pg_hba.conf of the server admit this user, database and address"),
    ("too many clients", "wait until others have ended, or raise max_connections"),
    ("invalid", "write it as postgresql://USER@HOST/DATABASE"),
)


def _unreachable(said: str, url: str) -> errors.EnvironmentProblem:
    """Why no connection was made. Of what the driver says only lines are repeated in which no password is."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    why = " ".join(lines[-1:])
    if any(part and part in why for part in (url, *passwords(url))):
        why = "the URL is not valid"
    way = next((way for words, way in _HELP if words in said), "start the server, or correct host and port in the URL")
    path = masked(url)
    return errors.EnvironmentProblem(
        "NO_DATABASE", sentence("{} cannot be reached: {}.", _database(path), local(why.rstrip("."))), way, db=path
    )


def _translated(error: psycopg.Error, path: str) -> Exception:
    """What an error of the server means."""
    state = error.sqlstate or ""
    said = (error.diag.message_primary or str(error)).strip()
    if state.startswith("23"):
        return sqlite3.IntegrityError(said)
    if not state and isinstance(error, psycopg.DataError):
        return errors.InvalidInput("INVALID_TEXT", "A text holds a NUL character, which PostgreSQL does not store.")
    if state in _OVERTAKEN or state == _LOCKED:
        found = problems.busy(path)
        found.data[constants.OVERTAKEN] = state in _OVERTAKEN
        return found
    if state == "57014":
        return errors.EnvironmentProblem(
            "BUSY", sentence("{} ended a statement: {}. Nothing was written.", _database(path), said),
            "raise statement_timeout of the role or database, and run the same command again", db=path,
        )
    if state == "25006" or "during recovery" in said:
        return _read_only(path, is_replica="during recovery" in said)
    if state == "42501":
        return errors.EnvironmentProblem(
            "READ_ONLY", sentence("{} refuses this user: {}.", _database(path), said),
            "have its owner grant the right, or name another user in the URL", db=path,
        )
    if state in _NO_ROOM:
        return errors.EnvironmentProblem(
            "DISK_FULL", sentence("The server of {} has no space left: {}.", _database(path, "the"), said),
            "free space on the disk of the server and run the same command again", db=path,
        )
    if state in _LOST or state.startswith("08") or not state:
        return errors.EnvironmentProblem(
            "NO_DATABASE", sentence("The connection to {} was lost.", _database(path, "the")),
            "run the same command again; with the same request id nothing is done twice", db=path,
        )
    return problems.corrupt(path, said) if state[:2] in ("XX", "58") else sqlite3.OperationalError(said)


def _read_only(path: str, *, is_replica: bool) -> errors.EnvironmentProblem:
    why = "its server is a replica" if is_replica else "transactions of this user only read"
    way = "name the primary server in the URL" if is_replica else (
        "set default_transaction_read_only to off for this user or database"
    )
    return errors.EnvironmentProblem("READ_ONLY", sentence("{} is read-only: {}.", _database(path), why), way, db=path)


def _other_version(path: str, version: int) -> errors.EnvironmentProblem:
    is_newer = version > constants.SCHEMA_VERSION
    return problems.too_new(path, version) if is_newer else older(path, version)


def older(path: str, version: int) -> errors.EnvironmentProblem:
    """The database has no schema yet, an older one, or claims one that there never was on a server."""
    if not FIRST > version > 0:
        return problems.outdated(path, version)
    return errors.EnvironmentProblem(
        "SCHEMA_TOO_OLD",
        sentence(
            "{} says schema version {}, which no program has made on PostgreSQL. Nothing was changed.",
            _database(path), version,
        ),
        "name an empty database", db=path,
    )


def _database(path: str, article: str = "The") -> str:
    return local(f"{article} database {path}", f"{article} database")


def _patience(seconds: float) -> str:
    """What lets the transaction that is open wait so long for locks of others."""
    return f"SET LOCAL lock_timeout = {max(1, int(seconds * 1000))}"


def _number(chain: str) -> int:
    """The second half of the key of a chain's lock; two that share one wait for each other at times."""
    return (int.from_bytes(sha256.new(chain.encode()).digest()[:4]) >> 1) or 1
