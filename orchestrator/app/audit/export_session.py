"""`audit export`: a session's record as a file, line by line, never held whole.

`jsonl` is complete and can be imported. `csv` is for people and spreadsheets: one row for each event.
`html` is for auditors: one page that needs no server.

What looks like a secret is masked on its way out. An event that had to be masked does not have its hash any more, says
so, and cannot be told again; who needs the record as it stands asks for it unmasked.
"""

from __future__ import annotations

import contextlib
import csv
import io
import itertools
import os
from collections.abc import Generator, Iterator, Sequence

from orchestrator.app.audit import audit_log, export_evidence
from orchestrator.app.audit.export_evidence import Tally
from orchestrator.app.kernel import attached_evidence
from orchestrator.app.kernel.context import Answer, Context
from orchestrator.core import export_format, masking
from orchestrator.core.routing import facts
from orchestrator.core.suggestions import again, local, reason, sentence
from orchestrator.errors import EnvironmentProblem, Refused, UsageError
from orchestrator.hints import Any
from orchestrator.store import event_stream, snapshot, snapshot_read
from orchestrator.store.constants import SCHEMA_VERSION

FORMATS = ("jsonl", "csv", "html")
CSV_COLUMNS = ("seq", "at", "kind", "actor", "channel", "groups", "wrote", "text", "input", "hash")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""A cell that begins so is computed, not shown, by a spreadsheet."""
_PAGE = 500
_EVENTS = "SELECT seq, input, hash FROM audit_events WHERE session_id = :session AND seq > :since AND seq <= :until"


def export(
    context: Context, *, session_id: str, format: str = "jsonl", output: str | None = None, unmasked: bool = False
) -> Answer:
    """Write a session's record to a new file that only its owner may read.

    Args:
        format: jsonl, which can be imported; csv, for spreadsheets; html, one page for people.
        output: the file; one that exists is never overwritten.
        unmasked: whether all is written as it is on record, with what looks like a secret.

    Returns:
        `session_id`, `format`, `output`, `lines`, `bytes`, `head`, `masked` (events in which something was masked),
        `files` (of evidence, that are in it) and `absent` [{of, path, why}], those that are not.

    Raises:
        Refused: UNKNOWN_SESSION, ALREADY_EXISTS. UsageError: USAGE. EnvironmentProblem: OUTPUT_FAILED; no file is left.
    """
    if output in (None, "", "-"):
        # A door that has a stdout of its own writes the chunks of `stream` there.
        raise UsageError("USAGE", "The export needs an output file.", again(output="FILE"))
    # An export that fails half-way lets go of its moment before the database is closed.
    tally = Tally()
    with contextlib.closing(stream(context, session_id, format, tally, unmasked=unmasked)) as chunks:
        path, lines, size = to_file(os.path.realpath(output), next(chunks), chunks)
    head = event_stream.heads(context.connection, session_id)[session_id]
    written = {"lines": lines, "bytes": size, "head": snapshot.head(*head), "masked": tally.masked}
    return {"success": True, "session_id": session_id, "format": format, "output": path, **written, **tally.answer()}


def to_file(path: str, first: bytes, chunks: Iterator[bytes]) -> tuple[str, int, int]:
    """Write a new file that only its owner may read; its name, lines and bytes.

    Raises:
        Refused: ALREADY_EXISTS. EnvironmentProblem: OUTPUT_FAILED; no file is left.
    """
    _reserve(path)
    partial = f"{path}.{os.getpid()}.partial"
    try:
        lines, size = _write(partial, path, first, chunks)
    except BaseException as error:
        # Both are ours to delete: `_reserve` has created the name, so no earlier file stands there.
        for leftover in (partial, path):
            if os.path.exists(leftover):
                os.unlink(leftover)
        if isinstance(error, OSError):
            raise _failed(path, error) from error
        raise
    return path, lines, size


def _reserve(path: str) -> None:
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        what = sentence("{} already exists; files are never overwritten.", local(path))
        raise Refused(
            "ALREADY_EXISTS", what, "name another file", path=path
        ) from None
    except (OSError, ValueError) as error:
        raise _failed(path, error) from error


def _failed(path: str, error: OSError | ValueError) -> EnvironmentProblem:
    message = sentence("Nothing could be written to {}: {}.", local(path), reason(error))
    return EnvironmentProblem("OUTPUT_FAILED", message, "Name a writable file", path=path)


def _write(partial: str, path: str, first: bytes, chunks: Iterator[bytes]) -> tuple[int, int]:
    """Fill a file beside the reserved one and put it in its place: a kill leaves no half export under the name."""
    lines = size = 0
    with open(os.open(partial, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "wb") as file:
        for chunk in itertools.chain((first,), chunks):
            lines, size = lines + chunk.count(b"\n"), size + file.write(chunk)
        file.flush()
        os.fsync(file.fileno())
    os.replace(partial, path)
    return lines, size


def stream(
    context: Context, session_id: str, format: str, tally: Tally | None = None, *, unmasked: bool = False
) -> Generator[bytes, None, None]:
    """A session's record in chunks of whole lines, as of one moment, and then its evidence that lies in files.

    Args:
        tally: takes the count of those files, and of the events that were masked.
        unmasked: whether all is written as it is on record.

    Raises:
        Refused: UNKNOWN_SESSION. UsageError: USAGE, there is no such format.
        EnvironmentProblem: OUTPUT_FAILED, evidence changed while it was read.
    """
    if format not in FORMATS:
        raise UsageError("USAGE", f"format must be {', '.join(FORMATS[:-1])} or {FORMATS[-1]}.", again(format="jsonl"))
    tally = tally or Tally()
    hide = Hide(tally, None if unmasked else context.secrets)
    with snapshot_read.of(context.connection, context.deadline_s):
        context.require_session(session_id)
        if format != "jsonl":
            yield from _rows(context, session_id, hide) if format == "csv" else _page(context, session_id, hide)
            return
        writer = export_format.Writer()
        yield from _lines(context, session_id, writer, hide)
        lying = attached_evidence.of(context.connection, session_id)
    # Files are read outside of the snapshot: they have hashes of their own, and may take long.
    hidden = None if unmasked else context.secrets
    yield from export_evidence.lines(writer, context.path, session_id, lying, tally, hidden)
    yield writer.end()


class Hide:
    """Masks who acted and the input of an event, and counts those in which there was something to mask.

    Args:
        secrets: registered values; None masks nothing.
    """

    def __init__(self, tally: Tally, secrets: Sequence[str] | None) -> None:
        self._tally = tally
        self._secrets = secrets

    def __call__(self, actor: str, given: str) -> tuple[str, str, bool]:
        if self._secrets is None:
            return actor, given, False
        shown = self.text(actor), masking.mask_event(given, self._secrets)
        changed = shown != (actor, given)
        self._tally.masked += changed
        return *shown, changed

    def text(self, text: str) -> str:
        """A text, masked."""
        return text if self._secrets is None else masking.mask(text, self._secrets)


def _lines(context: Context, session_id: str, writer: export_format.Writer, hide: Hide) -> Iterator[bytes]:
    yield writer.line(export_format.HEADER, _header(context, session_id))
    for entry in event_stream.entries(context.connection, session_id):
        if isinstance(entry, event_stream.Outsider):
            yield writer.line(export_format.AGENT, dict(zip(event_stream.AGENT_COLUMNS, entry.values, strict=True)))
        else:
            yield writer.line(export_format.EVENT, _event(entry, hide))


def _header(context: Context, session_id: str) -> dict[str, Any]:
    heads = event_stream.heads(context.connection, session_id)
    return {
        "name": export_format.NAME,
        "version": export_format.VERSION,
        "schema": SCHEMA_VERSION,
        "rules_version": facts.RULES_VERSION,
        "session": session_id,
        "heads": {chain: snapshot.head(*head) for chain, head in heads.items()},
    }


def _event(event: event_stream.Recorded, hide: Hide) -> dict[str, Any]:
    actor, given, masked = hide(event.actor, event.input)
    event = event._replace(actor=actor, input=given)
    shown = dict(zip(export_format.EVENT_MEMBERS, event[:10], strict=True))
    shown |= {"prev_hash": event.prev_hash.hex(), "hash": event.hash.hex()}
    if masked:
        shown["masked"] = True
    return shown if event.rules_version is None else {**shown, "rules_version": event.rules_version}


def _page(context: Context, session_id: str, hide: Hide) -> Iterator[bytes]:
    from orchestrator.app.audit import export_page

    for part in export_page.parts(context, session_id, hide.text):
        yield part.encode("utf-8", "backslashreplace")


def _rows(context: Context, session_id: str, hide: Hide) -> Iterator[bytes]:
    yield _csv([CSV_COLUMNS])
    since = 0
    while True:
        page = audit_log.timeline(context, session_id=session_id, since=since, limit=_PAGE)
        events = page["events"]
        if not events:
            return
        until = events[-1]["seq"]
        keys = {"session": session_id, "since": since, "until": until}
        found = {row[0]: row[1:] for row in context.connection.execute(_EVENTS, keys)}
        yield _csv([_row(event, hide, *found[event["seq"]]) for event in events])
        since = until


def _row(event: dict[str, Any], hide: Hide, given: str, hash_: bytes) -> list[Any]:
    actor, given, _ = hide(event["actor"], given)
    event = {**event, "actor": actor, "text": hide.text(event["text"])}
    groups = dict.fromkeys(each["group_id"] for each in event["wrote"] if each["group_id"])
    wrote = " ".join(str(each["id"]) for each in event["wrote"] if each["id"])
    shown = {**event, "groups": " ".join(groups), "wrote": wrote, "input": given, "hash": hash_.hex()}
    return [_harmless(shown[name]) for name in CSV_COLUMNS]


def _harmless(value: Any) -> Any:
    """The value of a cell; a text that a spreadsheet would take for a formula gets an apostrophe in front."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def _csv(rows: list[Any]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\r\n").writerows(rows)
    return text.getvalue().encode("utf-8", "backslashreplace")
