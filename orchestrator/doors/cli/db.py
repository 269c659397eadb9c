"""`db ...` and `doctor`: the database file itself."""

from __future__ import annotations

import os

from orchestrator import bootstrap
from orchestrator.app import maintenance
from orchestrator.core.suggestions import suggest
from orchestrator.doors.cli import invoke, output, shapes
from orchestrator.doors.cli.options import STDIN, Command, Given, Result, argument, flag, option
from orchestrator.doors.cli.text import layout
from orchestrator.errors import UsageError
from orchestrator.hints import Any


def _path(given: Given) -> str:
    return maintenance.find(given.db, os.environ, maintenance.working_folder(given.db, os.environ))


def _upgrade(given: Given) -> Result:
    url = bootstrap.server(given.db)
    if url is not None:
        return _result(maintenance.create_on_server(url, bootstrap.now(), allow_superuser=given.allow_superuser))
    return _result(maintenance.upgrade(_path(given), bootstrap.now()))


def _downgrade(given: Given) -> Result:
    return _result(maintenance.downgrade(_path(given), given.arguments["revision"], bootstrap.now()))


def _current(given: Given) -> Result:
    url = bootstrap.server(given.db)
    if url is not None:
        return _result(maintenance.current_on_server(url, bootstrap.deadline(os.environ)))
    return _result(maintenance.current(_path(given)))


def _check(given: Given) -> Result:
    url = bootstrap.server(given.db)
    if url is not None and not given.arguments.get("repair"):
        return _result(maintenance.check_on_server(url, bootstrap.deadline(os.environ)))
    return _result(maintenance.check(_path(given), bootstrap.now(), repair=given.arguments.get("repair", False)))


def _backup(given: Given) -> Result:
    file = given.arguments["file"]
    if file == STDIN:
        # SQLite writes a copy page by page, in no order.
        raise UsageError("USAGE", "A database cannot be copied to stdout.", suggest("db backup", file="FILE"))
    return _result(maintenance.backup(_path(given), file))


def _restore(given: Given) -> Result:
    path = maintenance.place(given.db, os.environ, maintenance.working_folder(given.db, os.environ))
    file, deadline = given.arguments["file"], bootstrap.deadline(os.environ)
    return _result(maintenance.restore(path, file, bootstrap.now(), os.environ, deadline))


def _copy(given: Given) -> Result:
    named, deadline = given.arguments, bootstrap.deadline(os.environ)
    source, target = named.get("source", given.db), named["target"]
    folder = maintenance.working_folder(source, os.environ)
    source = bootstrap.server(source) or maintenance.find(source, os.environ, folder)
    target = bootstrap.server(target) or maintenance.place(target, os.environ, folder)
    return _result(maintenance.copy(
        source, target, bootstrap.now(), deadline, allow_superuser=given.allow_superuser
    ))


def _grant(given: Given) -> Result:
    return _result(maintenance.grants(given.arguments["role"], writes=given.arguments.get("write", False)))


def _copied(answer: dict[str, Any]) -> str:
    chains = layout.counted(len(answer["heads"]), "chain")
    what = f"{layout.counted(answer['rows'], 'row')} of {chains}"
    return f"Copied {what} from {shapes.visible(answer['source'])} to {shapes.visible(answer['db'])}; all verified."


def _doctor(given: Given) -> Result:
    url = bootstrap.server(given.db)
    if url is not None:
        why = f"named by {'--db' if given.db is not None else 'ORCHESTRATOR_DB'}"
        deadline = bootstrap.deadline(os.environ)
        return _result(maintenance.doctor_on_server(url, why, os.environ, deadline, bootstrap.now()))
    folder = maintenance.working_folder(given.db, os.environ)
    return _result(maintenance.doctor(given.db, os.environ, folder, bootstrap.now()))


def _result(answer: dict[str, Any]) -> Result:
    return invoke.result(answer, answer["db"])


def _findings(answer: dict[str, Any]) -> str:
    rows = answer.get("findings") or answer.get("problems") or []
    lines = [f"Database: {shapes.visible(answer['db'])}"]
    if "why" in answer:
        lines[0] += f" ({shapes.visible(answer['why'])})"
    if answer.get("facts"):
        lines.append(shapes.everything(answer["facts"]))
    for program, variables in answer.get("variables", {}).items():
        names = shapes.visible(", ".join(variables)) if variables else "none of its variables is set"
        lines.append(f"Passed on to {program}: {names}")
    if answer.get("repaired"):
        lines.append(f"Recreated: {shapes.visible(answer['repaired'])}")
    for alike in layout.alike(rows, lambda row: (row["severity"], row["id"], row["suggestion"])):
        lines += _kind(alike)
    lines += [f"note: {shapes.visible(limit)}" for limit in answer["limits"]]
    lines.append(_verdict(answer, rows))
    return layout.fitted("\n".join(lines))


def _verdict(answer: dict[str, Any], rows: list[dict[str, Any]]) -> str:
    """The last line: what was found, and what was not looked for."""
    if not answer["ok"]:
        return "Problems found."
    warned = sum(row["severity"] == "warning" for row in rows)
    found = f"No errors found, {layout.counted(warned, 'warning')}." if warned else "No problems found."
    command = output.worded(suggest("audit verify"))
    return f"{found} Rows were not compared with the record; to do that, run:\n  {command}"


def _kind(alike: list[dict[str, Any]]) -> list[str]:
    """Findings that are the same and that the same mends: the first in words, of the others the first few names."""
    first = alike[0]
    # SQLite tells of all the damage that it sees at once, a line for each page.
    said, *rest = first["message"].splitlines() or [""]
    left = len(rest) - layout.FEW
    return [
        f"{first['severity']} {first['id']}: {shapes.visible(said)}",
        *(f"  {shapes.visible(line)}" for line in rest[: layout.FEW]),
        *([f"  and {layout.counted(left, 'more line')}: repeat with --json"] if left > 0 else []),
        *layout.others([row["subject"] for row in alike[1:]]),
        f"  try: {shapes.visible(first['suggestion'])}",
    ]


def _restored(answer: dict[str, Any]) -> str:
    lines = [f"Restored {shapes.visible(answer['db'])}."]
    if answer["replaced"]:
        lines.append(f"The replaced database is {shapes.visible(answer['replaced'])}.")
    if answer["lost"] is None:
        lines.append("It could not be read, so what was lost is unknown.")
    for each in answer["lost"] or ():
        chain = "the store" if each["session_id"].startswith("@") else f"session {shapes.visible(each['session_id'])}"
        first, last = each["kept_seq"] + 1, each["lost_seq"]
        steps = f"step {last}" if first == last else f"steps {first} to {last}"
        lines.append(f"Lost: {steps} of {chain}, the last from {each['lost_at']}.")
    if answer["lost"] == []:
        lines.append("No steps were lost.")
    return "\n".join(lines)


def _moved(answer: dict[str, Any]) -> str:
    if answer["before"] == answer["after"]:
        return f"{shapes.visible(answer['db'])} has schema version {answer['after']}; nothing to do."
    copy = f"; the copy from before the upgrade is {shapes.visible(answer['backup'])}" if answer["backup"] else ""
    return f"{shapes.visible(answer['db'])}: schema version {answer['before']} -> {answer['after']}{copy}."


COMMANDS = {
    each.words: each
    for each in (
        Command(
            "db upgrade",
            "Upgrade the database to this program's schema. A copy is made first.",
            "orchestrator db upgrade",
            (),
            _moved,
            _upgrade,
            line="Upgrade the database to this program's schema.",
            answer=("shapes.Moved",),
        ),
        Command(
            "db downgrade",
            "Downgrade the database to an older schema, or refuse and say what would be lost.",
            "orchestrator db downgrade 0001",
            (argument("revision", "A revision number, or base."),),
            _moved,
            _downgrade,
            line="Downgrade the schema, unless data would be lost.",
            answer=("shapes.Moved",),
        ),
        Command(
            "db current",
            "Print the schema versions of the database and of this program.",
            "orchestrator db current",
            (),
            None,
            _current,
            line="Print the schema versions of the database and the program.",
            answer=("shapes.Current",),
        ),
        Command(
            "db check",
            "Check the whole database: pages, references, triggers, version, orphans. Exit 1 if there are problems.",
            "orchestrator db check --repair",
            (flag("repair", "First recreate missing or altered triggers, views and indexes; the repair is recorded."),),
            _findings,
            _check,
            line="Check the database: pages, references, triggers, orphans.",
            answer=("shapes.Check",),
        ),
        Command(
            "db backup",
            "Copy the database while it is in use; an existing file is never overwritten.",
            "orchestrator db backup before-release.db",
            (argument("file", "The copy."),),
            lambda answer: f"Copied to {shapes.visible(answer['backup'])}",
            _backup,
            line="Copy the database while it is in use.",
            answer=("shapes.Backup",),
        ),
        Command(
            "db copy",
            "Copy a database into a file that does not exist, or into an empty database on a PostgreSQL server: all"
            " rows and chains, in one transaction, verified before they are kept. Files of evidence are not copied.",
            "orchestrator db copy --to postgresql://orchestrator@db.example.org/team",
            (
                option(
                    "source", "The file or URL to copy (default: the database as every command finds it).", "--from",
                    metavar="DATABASE",
                ),
                option(
                    "target", "The new file, or the URL of the empty database.", "--to", metavar="DATABASE",
                    required=True,
                ),
            ),
            _copied,
            _copy,
            line="Copy the database to a PostgreSQL server, or back to a file.",
            answer=("shapes.Copied",),
        ),
        Command(
            "db grant",
            "Print the statements by which the owner of a database on a PostgreSQL server lets a role read it, or take"
            " steps in it. Nothing is run.",
            "orchestrator db grant reporting",
            (
                argument("role", "The role, which exists."),
                flag("write", "Also let it take steps, as agents and servers need."),
            ),
            lambda answer: "\n".join(answer["statements"]),
            _grant,
            line="Print the GRANTs of a role on a PostgreSQL server.",
            answer=("shapes.Granted",),
        ),
        Command(
            "db restore",
            "Replace the database with a backup: checks the backup, keeps the replaced database, and says which"
            " steps are lost. Waits until no other process has the database open.",
            "orchestrator db restore before-release.db",
            (argument("file", "The backup; a -wal file next to it is part of it."),),
            _restored,
            _restore,
            line="Restore the database from a backup.",
            answer=("shapes.Restored",),
        ),
        Command(
            "doctor",
            "Diagnose the database and suggest fixes; list the names of the login variables that are set. Changes"
            " nothing.",
            "orchestrator doctor --json",
            (),
            _findings,
            _doctor,
            line="Diagnose the database and suggest fixes.",
            answer=("shapes.Doctor",),
        ),
    )
}
