"""`audit import`: an exported session told again into a database of its own, each event compared by its hash.

The database is built aside and put in its place when all of the file is known to be right, so that nothing is left of
an import that fails.
"""

from __future__ import annotations

import binascii
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from orchestrator import files
from orchestrator.app.audit import replay_session
from orchestrator.app.audit.import_evidence import Arriving
from orchestrator.app.kernel.context import Answer, Context
from orchestrator.core import database_urls, export_format, names, strict_json
from orchestrator.core.export_format import AGENT, END, EVENT, FILE, HEADER, PART, Line, wrong
from orchestrator.core.routing import facts
from orchestrator.core.suggestions import local, reason, sentence, suggest
from orchestrator.errors import EnvironmentProblem, InvalidInput
from orchestrator.hints import IO, Any
from orchestrator.store import (
    database_copy,
    event_stream,
    import_database,
    migrate,
    replay_database,
    snapshot,
    sqlite,
    step,
    verify_chain,
)
from orchestrator.store.constants import SCHEMA_VERSION, STORE_CHAIN
from orchestrator.store.event_stream import Outsider, Recorded
from orchestrator.store.findings import Found
from orchestrator.store.row_hashes import Span

STDIN = "-"
_UNMASKED = sentence(
    "In the database that holds the session: {}", suggest("audit export", session_id="SESSION", unmasked=True)
)
_TYPES: tuple[type, ...] = (str, int, str, str, str, str, str, str, str, str)


def import_file(
    path: str, file: str, at: str, *, deadline_s: float = sqlite.DEADLINE_S, allow_superuser: bool = False,
    state_folder: str | None = None,
) -> Answer:
    """Import an exported session into an empty database.

    Args:
        path: the database, which is created where it does not exist; one that only `init` has written to is empty. Or
            the URL of a database on a server, in which nothing is.
        file: the export, or `-` for stdin.
        at: the present time, UTC, ISO 8601.
        deadline_s, allow_superuser: for a server, as `store.server.connect` takes them.
        state_folder: where this machine keeps what it has seen of a database, as `high_water.state_folder` gives it.

    Returns:
        `session_id`, `events`, `head`, `db`, `files` (of evidence, that came with it) and `absent` [{of, path, why}],
        those that the export did not have.

    Raises:
        InvalidInput: IMPORT_EMPTY, IMPORT_NOT_TEXT, IMPORT_BOM, IMPORT_LINE_ENDS, IMPORT_NOT_JSON, IMPORT_FOREIGN,
            IMPORT_CUT, IMPORT_ALTERED, IMPORT_REORDERED, IMPORT_REPEATED, IMPORT_DIFFERS, IMPORT_MASKED,
            IMPORT_TOO_LARGE; {line}.
        Refused: ALREADY_EXISTS (also a file of evidence, with another content), NOT_EMPTY.
        EnvironmentProblem: FILE_UNREADABLE, IMPORT_TOO_NEW, SCHEMA_TOO_NEW, RULES_DIFFER, and those of the database.
    """
    with _opened(file) as stream:
        lines = _lines(stream)
        header = _header(next(lines))
        session = header["session"]
        is_on_server = database_urls.is_postgresql(path)
        if not is_on_server:
            import_database.refuse_used(path, session)
        with _aside(path, at) as connection, Arriving(path, session) as arriving:
            intake = _Intake(replay_session.context_on(connection, path), header, arriving)
            for line in lines:
                intake.take(line)
            intake.check()
            with arriving.placed():
                if is_on_server:
                    connection.settle()
                    database_copy.copy(
                        connection.path, path, at, deadline_s=deadline_s, allow_superuser=allow_superuser
                    )
                else:
                    import_database.put(connection, path, at, session, state_folder)
    told = {"session_id": session, "events": intake.events, "head": header["heads"][session]}
    return {"success": True, **told, **arriving.tally.answer()}


@contextmanager
def _aside(path: str, at: str) -> Iterator[sqlite.Connection]:
    """Where the database is built: beside its place, or in a folder of its own for one on a server."""
    if not database_urls.is_postgresql(path):
        with import_database.aside(path, at) as connection:
            yield connection
        return
    with tempfile.TemporaryDirectory() as folder, import_database.aside(f"{folder}/import", at) as connection:
        yield connection


@contextmanager
def _opened(file: str) -> Iterator[IO[bytes]]:
    if file == STDIN:
        if sys.stdin is None:
            raise EnvironmentProblem("FILE_UNREADABLE", "stdin is not available.", "Name the file")
        yield sys.stdin.buffer
        return
    try:
        stream = files.opened(file)
    except files.Unreadable as problem:
        raise _unreadable(file, problem.reason) from None
    with stream:
        yield stream


def _unreadable(file: str, why: str) -> EnvironmentProblem:
    what = sentence("The export {} {}; nothing was imported.", local(names.shown(file)), why)
    way = sentence("Name a file written by {}", suggest("audit export"))
    return EnvironmentProblem("FILE_UNREADABLE", what, way)


def _lines(stream: IO[bytes]) -> Iterator[Line]:
    """The lines of a file; behind the last one it is known to be whole."""
    reader = export_format.Reader()
    try:
        while data := stream.readline(export_format.LINE_LIMIT + 1):
            try:
                yield reader.take(data)
            except InvalidInput as problem:
                if problem.code == export_format.REORDERED and not _comes(stream, reader.number):
                    export_format.missing(reader.number)
                raise
    except OSError as error:
        raise _unreadable(stream.name, sentence("cannot be read: {}", reason(error))) from None
    reader.finish()


def _comes(stream: IO[bytes], number: int) -> bool:
    """Whether a line comes later in the file."""
    rest = iter(lambda: stream.readline(export_format.LINE_LIMIT + 1), b"")
    return any(export_format.is_line(data, number) for data in rest)


def _header(line: Line) -> dict[str, Any]:
    given: dict[str, Any] = line.value
    if given["schema"] > SCHEMA_VERSION:
        raise EnvironmentProblem(
            "SCHEMA_TOO_NEW",
            f"Line 1: the file was exported under schema version {given['schema']}, newer than this program's version"
            f" {SCHEMA_VERSION}.",
            "install a newer guarded-orchestrator",
            line=1,
        )
    if given["rules_version"] > facts.RULES_VERSION:
        raise EnvironmentProblem(
            "RULES_DIFFER",
            f"Line 1: the file was exported under rules version {given['rules_version']}, newer than this program's"
            f" version {facts.RULES_VERSION}; nothing was imported.",
            "install a newer guarded-orchestrator",
            line=1,
        )
    heads = given.get("heads")
    if line.member != HEADER or not isinstance(heads, dict) or given["session"] not in heads:
        wrong("IMPORT_FOREIGN", "this is not an exported session", 1)
    return given


class _Intake:
    """One import under way."""

    def __init__(self, context: Context, header: dict[str, Any], arriving: Arriving) -> None:
        self._context = context
        self._header = header
        self._arriving = arriving
        self._chains = (header["session"], STORE_CHAIN)
        self._schema = 0
        self.events = 0

    def take(self, line: Line) -> None:
        """Take one line in: tell its event, and compare what comes of it."""
        if line.member in (FILE, PART):
            self._arriving.take(self._context.connection, line)
        elif self._arriving.begun:
            # The last line comes here too; all others belong above the files.
            self._arriving.finish(line.number)
            if line.member != END:
                wrong("IMPORT_FOREIGN", "the files of an export come after its events", line.number)
        elif line.member == EVENT:
            self._tell(line)
        elif line.member == AGENT:
            self._let_in(line)
        elif line.member == HEADER:
            wrong("IMPORT_FOREIGN", "the first line of an export appears twice", line.number)

    def _tell(self, line: Line) -> None:
        event = _recorded(line)
        self._check_place(event, line.number)
        if (event.rules_version or 0) > self._header["rules_version"]:
            what = f"step {event.seq} of {event.chain} has rules version {event.rules_version}, newer than the header's"
            wrong("IMPORT_ALTERED", what, line.number)
        outcome = replay_session.tell(self._context, event)
        self.events += 1
        if outcome.equal:
            if event.kind == migrate.EVENT:
                self._schema = strict_json.stored(event.input).get("to")
            return
        # Other rules may well decide differently, so this difference is no proof of an alteration.
        if event.rules_version not in (None, facts.RULES_VERSION):
            raise EnvironmentProblem(
                "RULES_DIFFER",
                f"Line {line.number}: step {event.seq} of {event.chain} was decided under rules version"
                f" {event.rules_version}, and the rules of this program (version {facts.RULES_VERSION}) decide"
                f" differently; nothing was imported.",
                "Import it with the version of guarded-orchestrator that exported it",
                line=line.number,
            )
        why = outcome.problem or "it wrote other rows than it says"
        what = f"replayed, step {event.seq} of {event.chain} gives a different result ({why})"
        wrong("IMPORT_DIFFERS", what, line.number)

    def _check_place(self, event: Recorded, number: int) -> None:
        if event.chain not in self._chains:
            wrong("IMPORT_FOREIGN", f"an event of {names.shown(event.chain)} does not belong to the export", number)
        last = replay_database.last(self._context.connection, event.chain)
        seq, head = (last.seq, last.hash) if last else (0, step.FIRST_HASH)
        if not step.verify_event(tuple(event[:10])):
            wrong("IMPORT_ALTERED", f"step {event.seq} of {event.chain} does not have its hash", number)
        if event.seq <= seq:
            wrong("IMPORT_REPEATED", f"step {event.seq} of {event.chain} appears twice", number)
        if event.seq != seq + 1 or event.prev_hash != head:
            wrong("IMPORT_CUT", f"step {event.seq} of {event.chain} does not follow step {seq}", number)

    def _let_in(self, line: Line) -> None:
        given = line.value
        wanted = event_stream.AGENT_COLUMNS
        whole = isinstance(given, dict) and set(given) == set(wanted)
        if not whole or given["session_id"] in (None, *self._chains):
            wrong("IMPORT_FOREIGN", "this is not an agent of another session", line.number)
        try:
            replay_database.add_outsider(self._context.connection, Outsider(tuple(given[name] for name in wanted)))
        except Exception as problem:
            wrong("IMPORT_ALTERED", f"the agent cannot be imported ({problem})", line.number)

    def check(self) -> None:
        """Whether what was built is what the file says, and verifies."""
        connection, session = self._context.connection, self._header["session"]
        heads = {chain: snapshot.head(*head) for chain, head in event_stream.heads(connection, session).items()}
        if heads != self._header["heads"]:
            wrong("IMPORT_ALTERED", "the heads named in the export do not match its events", 1)
        # Otherwise a newer export could be relabelled as an older one, which promises less (AUD-25).
        if type(self._schema) is not int or self._schema > self._header["schema"]:
            what = f"the header has schema version {self._header['schema']}, the newest migration of its events"
            wrong("IMPORT_ALTERED", f"{what} leads to {self._schema}", 1)
        # Exports of version 1 hold no evidence files, so none can be missing (AUD-24).
        if self._header["version"] > 1:
            self._arriving.check(connection)
        found = Found(self._context.path, 1)
        for chain in self._chains:
            verify_chain.verify(connection, Span(chain), found)
        for each in found.kept:
            wrong("IMPORT_DIFFERS", f"the export does not verify: {each.message.rstrip('.')}", 1)


def _recorded(line: Line) -> Recorded:
    given = line.value
    members = export_format.EVENT_MEMBERS
    if not isinstance(given, dict) or not set(members) <= set(given) <= {*members, "rules_version", "masked"}:
        wrong("IMPORT_FOREIGN", "this is not an event", line.number)
    if "masked" in given:
        what = f"step {given['seq']} is masked and cannot be replayed"
        wrong("IMPORT_MASKED", what, line.number, _UNMASKED)
    values = [given[name] for name in members]
    rules = given.get("rules_version")
    if any(type(value) is not kind for value, kind in zip(values, _TYPES, strict=True)) or type(rules) not in (
        int, type(None),
    ):  # fmt: skip
        wrong("IMPORT_ALTERED", "a member of the event has the wrong type", line.number)
    try:
        hashes = [binascii.unhexlify(value) for value in values[8:]]
    except ValueError:
        wrong("IMPORT_ALTERED", "a hash of the event is not a hash", line.number)
    return Recorded._make((*values[:8], *hashes, rules))
