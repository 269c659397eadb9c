"""A temporary PostgreSQL server for tests, and connections to it that answer as those of `sqlite3` do.

The server listens on a Unix socket in a folder of its own, under a user without privileges where the tests run as root.
Statements go through `psql`, so that the tests need no driver: a plain client is what guards are for.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from typing import Any

OWNER = "orchestrator"
NOBODY = 65534
MAY_WRITE = "SET orchestrator.write = '1'"
"""What the connections of the orchestrator do first. It stops accidents; whoever wants to can say it as well."""
REFUSED = ("23000", "23502", "23503", "23505", "23514")
"""The states of a statement that a guard, or a constraint, refuses."""
_MARK = "-- answered --"
_READS = re.compile(r"\s*(SELECT|WITH|EXPLAIN|VALUES)\b", re.IGNORECASE)


def programs() -> pathlib.Path | None:
    """The folder of the newest server that is installed, 14 or later; None where there is none."""
    found = [pathlib.Path(each).parent for each in filter(None, [shutil.which("initdb")])]
    found += pathlib.Path("/usr/lib/postgresql").glob("*/bin")
    versions = {int(name): each for each in found if (name := _version(each)).isdigit()}
    newest = max(versions, default=0)
    return versions[newest] if newest >= 14 and shutil.which("psql") else None


def _version(folder: pathlib.Path) -> str:
    server = folder / "postgres"
    if not server.exists():
        return ""
    said = subprocess.run([server, "--version"], capture_output=True, text=True, check=False).stdout
    return "".join(re.findall(r"(\d+)[.\w]*", said)[:1])


@contextlib.contextmanager
def server(bin_: pathlib.Path, listens: str = "-c listen_addresses=", access: str = "") -> Iterator[pathlib.Path]:
    """A server that runs until the end; the folder of its socket.

    Args:
        listens: settings of how it is reached besides. access: lines that come first in pg_hba.conf.
    """
    folder = pathlib.Path(tempfile.mkdtemp(prefix="pg"))
    data = folder / "data"
    whose: dict[str, Any] = {}
    if os.geteuid() == 0:
        os.chown(folder, NOBODY, NOBODY)
        whose = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    surroundings = {**os.environ, "HOME": str(folder)}
    quiet: dict[str, Any] = {"cwd": folder, "stdout": subprocess.DEVNULL, "env": surroundings, **whose}
    made = [bin_ / "initdb", "-D", data, "-A", "trust", "-U", OWNER, "--locale=C", "-E", "UTF8", "--no-sync"]
    settings = f"{listens} -c unix_socket_directories={folder} -c fsync=off -c jit=off"
    control = [bin_ / "pg_ctl", "-D", data, "-s", "-w"]
    try:
        subprocess.run(made, check=True, **quiet)
        rules = data / "pg_hba.conf"
        rules.write_text(f"{access}local all {LOCKED} scram-sha-256\n" + rules.read_text())
        subprocess.run([*control, "-l", folder / "log", "-o", settings, "start"], check=True, **quiet)
        try:
            yield folder
        finally:
            subprocess.run([*control, "-m", "immediate", "stop"], check=True, **quiet)
    finally:
        shutil.rmtree(folder)


def crash(bin_: pathlib.Path, folder: pathlib.Path) -> None:
    """Kill a server where it stands, and start it again as it was."""
    data = folder / "data"
    os.kill(int((data / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)
    whose: dict[str, Any] = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    command = [bin_ / "pg_ctl", "-D", data, "-s", "-w", "-l", folder / "log", "restart"]
    for _ in range(100):
        # What is left of it ends by itself within a moment, and keeps another one from starting until then.
        done = subprocess.run(command, cwd=folder, capture_output=True, check=False, **whose)
        if done.returncode == 0:
            return
        time.sleep(0.1)
    raise RuntimeError(done.stderr.decode())


TEAM, LOCKED = "team", "locked"
"""The role that owns the databases of tests, and one that needs a password."""


def address(folder: pathlib.Path, database: str, user: str = TEAM) -> str:
    """The URL of a database."""
    return f"postgresql://{user}@/{database}?host={folder}"


def template(folder: pathlib.Path) -> str:
    """Make the database that those of tests are copied from, with schema, agents and workflow."""
    from orchestrator import bootstrap
    from orchestrator.app import setup
    from orchestrator.store import server

    owner = Connection(folder)
    owner.run(f"CREATE ROLE {TEAM} LOGIN; CREATE ROLE {LOCKED} LOGIN PASSWORD 'right';")
    owner.run(f"CREATE DATABASE filled OWNER {TEAM};")
    owner.close()
    url = address(folder, "filled")
    server.create(url, "2026-01-01T00:00:00.000000Z", actor="system:router")
    context = bootstrap.open_context(url, write=True, door="cli", environment={})
    try:
        setup.initialise(context)
    finally:
        context.connection.close()
    return "filled"


_numbers = itertools.count(1)


@contextlib.contextmanager
def database(folder: pathlib.Path, made_from: str) -> Iterator[str]:
    """A copy of a database, as a URL, until the end."""
    name, owner = f"test{next(_numbers)}", Connection(folder)
    try:
        owner.run(f"CREATE DATABASE {name} TEMPLATE {made_from} OWNER {TEAM};")
        yield address(folder, name)
        owner.run(f"DROP DATABASE {name} WITH (FORCE);")
    finally:
        owner.close()


class Refused(sqlite3.OperationalError):
    """A statement that fails for another reason than a guard or a constraint."""


class Row:
    """A row whose values are found by name and by place."""

    def __init__(self, values: dict[str, Any]) -> None:
        self._values = values

    def keys(self) -> list[str]:
        return list(self._values)

    def __getitem__(self, key: str | int | slice) -> Any:
        return self._values[key] if isinstance(key, str) else tuple(self._values.values())[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values.values())

    def __len__(self) -> int:
        return len(self._values)


class Answer:
    """The rows of a statement, one after another."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = iter(rows)

    def __iter__(self) -> Iterator[Row]:
        return self._rows

    def __next__(self) -> Row:
        return next(self._rows)

    def fetchone(self) -> Row | None:
        return next(self._rows, None)

    def fetchall(self) -> list[Row]:
        return [*self._rows]

    def close(self) -> None:
        """All rows are here already."""


class Connection:
    """One `psql`; a statement that fails leaves a transaction as it was."""

    def __init__(self, folder: pathlib.Path, database: str = "postgres", user: str = OWNER) -> None:
        command = ["psql", "-X", "-q", "-A", "-t", "-h", folder, "-U", user, "-d", database]
        self._psql = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self._ask("\\set ON_ERROR_ROLLBACK on")

    def execute(self, sql: str, parameters: Sequence[Any] | dict[str, Any] = ()) -> Answer:
        """Run a statement.

        Raises:
            sqlite3.IntegrityError: a guard or a constraint refuses it.
            sqlite3.OperationalError: it fails for another reason.
        """
        text, reads = _written(sql, parameters), _READS.match(sql)
        said = self._ask(f"SELECT coalesce(json_agg(q), '[]') FROM ({text}) q;" if reads else f"{text};")
        return Answer([Row(each) for each in json.loads(said)] if reads and "EXPLAIN" not in sql else [])

    def run(self, script: str) -> None:
        """Run statements, each ended by a semicolon."""
        self._ask(script)

    def close(self) -> None:
        """End the client, and with it what was not committed."""
        self._psql.communicate()

    def _ask(self, text: str) -> str:
        # psql replaces names after a colon, unless there is no such variable.
        stream = self._psql.stdin
        assert stream is not None
        stream.write(f"{text}\n\\echo\n\\echo '{_MARK}' :ERROR :SQLSTATE :LAST_ERROR_MESSAGE\n\\echo '{_MARK}'\n")
        stream.flush()
        said = self._until(_MARK)
        _, is_error, state, message = self._told.split(" ", 3)
        if is_error == "true":
            raise (sqlite3.IntegrityError if state in REFUSED else Refused)(message.strip())
        return said

    def _until(self, mark: str) -> str:
        lines: list[str] = []
        stream = self._psql.stdout
        assert stream is not None
        for line in stream:
            if line.startswith(mark):
                self._told = line.removeprefix(mark)
                while (more := stream.readline()).strip() != mark:
                    self._told += more
                return "".join(lines)
            lines.append(line)
        raise Refused("the client has ended: " + "".join(lines))


def _written(sql: str, parameters: Sequence[Any] | dict[str, Any]) -> str:
    """A statement with its values."""
    if isinstance(parameters, dict):
        return re.sub(r":(\w+)", lambda found: _literal(parameters[found[1]]), sql)
    values = iter(parameters)
    return re.sub(r"\?", lambda _: _literal(next(values)), sql)


def _literal(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        return f"'\\x{value.hex()}'"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(int(value))
