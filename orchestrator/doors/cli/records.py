"""`audit replay`, `audit export` and `audit import`: a session's record told again, here or in another database."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Any

from orchestrator import bootstrap
from orchestrator.app.kernel.context import Answer, Context
from orchestrator.doors.cli import calling, output, shapes
from orchestrator.doors.cli.options import SESSION, Command, Given, Result, argument, flag, option

_EXPORT = "audit export"


def _replayed(answer: dict[str, Any]) -> str:
    from orchestrator.app.audit import replayed

    return "\n".join(shapes.visible(line) for line in replayed.sentences(answer))


def _export(given: Given) -> Result:
    """Write to a file, or else to stdout, where the document itself is the answer."""
    if given.arguments.get("output") is not None:
        return calling.operation(_EXPORT, given)
    return calling.operation(_EXPORT, given, _print)._replace(printed=True)


def _print(
    context: Context, words: str, *, session_id: str, format: str = "jsonl", unmasked: bool = False
) -> Answer:
    from orchestrator.app.audit import attaching, exporting

    tally = attaching.Tally()
    with contextlib.closing(exporting.stream(context, session_id, format, tally, unmasked=unmasked)) as chunks:
        for chunk in chunks:
            if not output.write(chunk):
                break
    for line in (*_hidden(tally.masked), *_evidence(tally.answer() | {"files": 0})):
        sys.stderr.write(f"{line}\n")
    return {"success": True}


def _exported(answer: dict[str, Any]) -> str:
    where = shapes.visible(answer["output"])
    what = f"{answer['lines']} lines, head {answer['head']}"
    first = f"Session {answer['session_id']} is exported to {where}: {what}"
    return "\n".join((first, *_hidden(answer["masked"]), *_evidence(answer)))


def _hidden(masked: int) -> Iterator[str]:
    if masked:
        yield f"Masked events: {masked}; only an export with --unmasked can be imported, and it holds their secrets"


def _evidence(answer: dict[str, Any]) -> Iterator[str]:
    """What of the evidence that lies in files came along, and what did not, and why."""
    if answer["files"]:
        yield f"Files of evidence: {answer['files']}"
    for each in answer["absent"]:
        yield shapes.visible(f"Not in it: {each['path']} of {each['of']}: {each['why']}")


def _import(given: Given) -> Result:
    from orchestrator.app import maintenance
    from orchestrator.app.audit import intake

    path = maintenance.place(given.db, os.environ, maintenance.working_folder(given.db, os.environ))
    return calling.result(intake.import_file(path, given.arguments["file"], bootstrap.now()), path)


def _imported(answer: dict[str, Any]) -> str:
    where = shapes.visible(answer["db"])
    return "\n".join((
        f"Session {answer['session_id']} is imported into {where}: {answer['events']} events told again and equal",
        f"Head {answer['head']}",
        *_evidence(answer),
        f"Next: orchestrator status {answer['session_id']}",
    ))  # fmt: skip


_SESSION = (argument("session", "The session.", target="session_id", required=False), SESSION)

COMMANDS = {
    each.words: each
    for each in (
        Command(
            "audit replay",
            "Tell a session's recorded events again and compare every decision and row with what is on record."
            " Exit 1 where anything differs; what only other rules make otherwise is engine_changed and exit 0.",
            "orchestrator audit replay S1 --strict",
            (*_SESSION, flag("strict", "Exit 1 for what other rules make otherwise, too.")),
            _replayed,
        ),
        Command(
            "audit export",
            "Write a session's record to a file, or to stdout: jsonl is whole, with the evidence that lies in files,"
            " and can be imported; csv is one row for each event, where an apostrophe before = + - @ keeps a"
            " spreadsheet from computing what an agent wrote.",
            "orchestrator audit export S1 --format jsonl --output s1.jsonl",
            (
                *_SESSION,
                option("format", "jsonl where left out.", choices=("jsonl", "csv")),
                flag("unmasked", "Write what looks like a secret as it is on record, so that it can be imported."),
                option("output", "The file, which must not exist yet; stdout where left out.", metavar="FILE"),
            ),
            _exported,
            _export,
        ),
        Command(
            "audit import",
            "Tell an exported session again into an empty database, which is created where there is none, and compare"
            " each event with the file. Nothing is left of an import that fails.",
            "orchestrator audit import s1.jsonl --db elsewhere.db",
            (argument("file", "The export (jsonl), or - for stdin."),),
            _imported,
            _import,
        ),
    )
}
