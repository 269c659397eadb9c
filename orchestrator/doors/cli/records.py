"""`audit replay`, `audit export` and `audit import`: a session's record told again, here or in another database."""

from __future__ import annotations

import contextlib
import os
import sys

from orchestrator import bootstrap
from orchestrator.app.audit.requests import ExportSession
from orchestrator.app.kernel.context import Answer, Context
from orchestrator.core import control_characters, database_urls
from orchestrator.core.suggestions import suggest
from orchestrator.doors.cli import invoke, output, screen, shapes
from orchestrator.doors.cli.options import STDIN, Command, Given, Result, argument, of_operation
from orchestrator.doors.cli.text import records as text
from orchestrator.hints import Any

_EXPORT = "audit export"


def _export(given: Given) -> Result:
    """Write to a file, or else to stdout, where the document itself is the answer."""
    if given.arguments.get("output", STDIN) != STDIN:
        return invoke.operation(_EXPORT, given)
    arguments = {name: value for name, value in given.arguments.items() if name != "output"}
    return invoke.operation(_EXPORT, given._replace(arguments=arguments), _print)._replace(printed=True)


def _print(context: Context, words: str, *, session_id: str, format: str = "jsonl", unmasked: bool = False) -> Answer:
    from orchestrator.app.audit import export_evidence, export_session

    tally = export_evidence.Tally()
    with contextlib.closing(export_session.stream(context, session_id, format, tally, unmasked=unmasked)) as chunks:
        spelt = control_characters.in_json if format == "jsonl" else control_characters.on_lines
        for chunk in chunks:
            # In a terminal what an agent wrote would move the cursor, or hide what is there.
            shown = spelt(chunk.decode()).encode() if screen.is_terminal(sys.stdout) else chunk
            if not output.write(shown):
                break
    for line in (*text.hidden(tally.masked), *text.evidence(tally.answer() | {"files": 0})):
        sys.stderr.write(f"{line}\n")
    return {"success": True}


def _import(given: Given) -> Result:
    from orchestrator.app import maintenance
    from orchestrator.app.audit import import_session

    path = bootstrap.server(given.db) or maintenance.place(
        given.db, os.environ, maintenance.working_folder(given.db, os.environ)
    )
    answer = import_session.import_file(
        path, given.arguments["file"], bootstrap.now(), deadline_s=bootstrap.deadline(os.environ),
        allow_superuser=given.allow_superuser, state_folder=bootstrap.state_folder(os.environ),
    )
    return invoke.result(answer, database_urls.masked(path))


def _imported(answer: dict[str, Any]) -> str:
    where = shapes.visible(answer["db"])
    return "\n".join((
        f"Session {answer['session_id']} is imported into {where}: {answer['events']} events replayed, all equal",
        f"Head {answer['head']}",
        *text.evidence(answer),
        f"Next: {output.worded(suggest('status', session_id=answer['session_id']))}",
    ))  # fmt: skip


COMMANDS = {
    "audit export": of_operation(ExportSession, handler=_export),
    "audit import": Command(
        "audit import",
        "Replay an exported session into an empty database, created if missing, and compare each event with the file."
        " An import that fails leaves nothing behind.",
        "orchestrator audit import s1.jsonl --db elsewhere.db",
        (argument("file", "The export (jsonl), or - for stdin."),),
        _imported,
        _import,
        line="Replay an exported session into an empty database.",
        answer=("records.Import",),
    ),
}
