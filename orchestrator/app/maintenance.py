"""The database file itself: where it is, which schema it has, copies, and what is the matter with it."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from orchestrator.app.kernel.context import Answer, Context
from orchestrator.core import database_urls, names
from orchestrator.core.suggestions import local, sentence, suggest
from orchestrator.errors import EXIT_NEGATIVE, EXIT_OK, OrchestratorError, UsageError
from orchestrator.hints import TYPE_CHECKING, Any
from orchestrator.store import constants, discovery, high_water, problems, sqlite

if TYPE_CHECKING:
    from orchestrator.store.maintenance import Problem

MAINTAINER = "system:router"
"""In whose name migrations and repairs are recorded: whoever owns the file may do them, registered or not."""


LIMITS = (
    sentence(
        "Guards are triggers: a client that turns triggers off for its own connection (.dbconfig enable_trigger off in"
        " the sqlite3 shell, the C interface), or that edits the schema and puts it back, is not stopped. A status"
        " without a recorded change is found here; `{}` finds everything that such a client wrote.",
        suggest("audit verify"),
    ),
    sentence(
        "`{}` proves without a head that every event, row and hash is as it was written, and that the rows fit each"
        " other: a report or completion that was added without its decision or path is found. A tail that was cut off,"
        " or rewritten consistently, is found only against a head noted outside the database: `{}`, later"
        " `{}`.", suggest("audit verify"), suggest("audit head"), suggest("audit verify", head="SEQ:HASH"),
    ),
)
"""What a check of the database cannot prevent or prove, and what does."""
_SERVER_LIMITS = (
    sentence(
        "Guards are triggers: the owner of the tables and a superuser can turn them off. Agents need a role that is"
        " neither; `{}` finds what was written past them.", suggest("audit verify"),
    ),
    LIMITS[1],
)


def find(explicit: str | None, environment: Mapping[str, str], folder: Path) -> str:
    """The existing database that a command works on.

    Raises:
        EnvironmentProblem: NO_DATABASE.
    """
    return discovery.find(explicit, environment, folder)


def working_folder(explicit: str | None, environment: Mapping[str, str]) -> Path:
    """The current folder, or any where it was deleted and none is needed.

    Raises:
        EnvironmentProblem: NO_DATABASE.
    """
    return Path(discovery.working_folder(explicit, environment))


def place(explicit: str | None, environment: Mapping[str, str], folder: Path) -> str:
    """Where `init` creates the database, or upgrades it."""
    return discovery.place(explicit, environment, folder)


def create_on_server(url: str, at: str, *, allow_superuser: bool = False) -> Answer:
    """Create the schema on a server, where there is none.

    Raises:
        EnvironmentProblem: as `store.postgresql.create`; nothing was changed.
    """
    from orchestrator.store import server

    before, after = server.create(url, at, actor=MAINTAINER, allow_superuser=allow_superuser)
    return {"success": True, "db": database_urls.masked(url), "before": before, "after": after, "backup": None,
            "warnings": []}  # fmt: skip


def current_on_server(url: str, deadline_s: float) -> Answer:
    """The schema versions of a database on a server and of this program."""
    from orchestrator.store import server

    path, database, program = server.current(url, deadline_s)
    return {"success": True, "db": path, "database_version": database, "program_version": program}


def upgrade(path: str, at: str) -> Answer:
    """Bring an existing database to this program's schema; a copy is made first.

    Raises:
        EnvironmentProblem: SCHEMA_TOO_NEW, READ_ONLY, DISK_FULL, CORRUPT or BUSY; nothing was changed.
    """
    from orchestrator.store import migrate

    return _moved(path, migrate.upgrade(path, at, actor=MAINTAINER))


def downgrade(path: str, revision: str, at: str) -> Answer:
    """Bring a database to an older schema, or refuse.

    Raises:
        UsageError: UNKNOWN_REVISION. EnvironmentProblem: DOWNGRADE_REFUSED, naming what would be lost.
    """
    from orchestrator.store import migrate

    return _moved(path, migrate.downgrade(path, revision, at, actor=MAINTAINER))


def _moved(path: str, moved: Any) -> Answer:
    return {
        "success": True,
        "db": path,
        "before": moved.before,
        "after": moved.after,
        "backup": str(moved.backup) if moved.backup else None,
        "warnings": list(moved.warnings),
    }


def current(path: str) -> Answer:
    """The schema versions of a database and of this program."""
    from orchestrator.store import migrate

    found = migrate.current(path)
    return {"success": True, "db": path, "database_version": found.database, "program_version": found.program}


def check(path: str, at: str, *, repair: bool = False) -> Answer:
    """Everything that is wrong inside a database; with `repair` triggers, views and indexes are made anew first.

    Returns:
        `problems`, `repaired`, `ok`, `limits` of what can be prevented and proven, and `exit_code` 1 where there is an
        error.
    """
    from orchestrator.store import maintenance

    repaired = maintenance.repair(path, at, MAINTAINER) if repair else []
    problems = [problem._asdict() for problem in maintenance.check(path)]
    ok = all(problem["severity"] != "error" for problem in problems)
    code = EXIT_OK if ok else EXIT_NEGATIVE
    return {
        "success": True,
        "db": path,
        "ok": ok,
        "problems": problems,
        "repaired": repaired,
        "limits": list(LIMITS),
        "exit_code": code,
    }


def check_on_server(url: str, deadline_s: float) -> Answer:
    """`check` of a database on a server, of which nothing is repaired.

    Raises:
        EnvironmentProblem: as `store.server_checks.check`.
    """
    from orchestrator.store import server

    path, found = server.check(url, deadline_s)
    return {**_checked(path, found, _SERVER_LIMITS), "repaired": []}


def _checked(path: str | None, found: Sequence[Problem], limits: Sequence[str], name: str = "problems") -> Answer:
    ok = all(each.severity != "error" for each in found)
    return {
        "success": True, "db": path, "ok": ok, name: [each._asdict() for each in found], "limits": list(limits),
        "exit_code": EXIT_OK if ok else EXIT_NEGATIVE,
    }  # fmt: skip


def backup(path: str, target: str) -> Answer:
    """Copy a database while it is in use.

    Raises:
        UsageError: USAGE, no target; INVALID_PATH, a blank one. Refused: ALREADY_EXISTS.
        EnvironmentProblem: NO_FOLDER; DATABASE_UNSUPPORTED, the target is an address.
    """
    from orchestrator.store import maintenance

    if not target:
        raise UsageError("USAGE", "The file name of the copy is empty.", suggest("db backup", file="FILE"))
    discovery.require_path(target, "FILE")
    place = os.path.abspath(target)
    if not os.path.isdir(os.path.dirname(place)):
        raise problems.no_folder(place)
    return {"success": True, "db": path, "backup": str(maintenance.backup(path, place))}


def copy(
    source: str, target: str, at: str, deadline_s: float, *, allow_superuser: bool = False
) -> Answer:
    """Copy a database into an empty one, of which either may be on a server; the copy is verified.

    Returns:
        `source`, `rows`, `heads` (by chain, SEQ:HASH).

    Raises:
        Refused, EnvironmentProblem: as `store.database_copy.copy`; nothing was changed.
    """
    from orchestrator.store import database_copy

    found = database_copy.copy(source, target, at, deadline_s=deadline_s, allow_superuser=allow_superuser)
    heads = {chain: f"{seq}:{digest}" for chain, (seq, digest) in found.heads.items()}
    shown, taken = (database_urls.masked(each) for each in (target, source))
    return {"success": True, "db": shown, "source": taken, "rows": found.rows, "heads": heads}


_LONGEST_ROLE = 63
"""Bytes of a name on a server; it cuts off what is longer, and the rights would be another role's."""


def grants(role: str, *, writes: bool) -> Answer:
    """The statements by which the owner of a database on a server lets a role read, or take steps.

    Raises:
        UsageError: USAGE, the role has no name.
    """
    if not role.strip():
        raise UsageError("USAGE", "The role has no name.", suggest("db grant", role="ROLE"))
    if not role.isprintable() or len(role.encode()) > _LONGEST_ROLE:
        what = f"{names.shown(role)} is no name of a role: at most {_LONGEST_ROLE} bytes, and no control characters."
        raise UsageError("USAGE", what, suggest("db grant", role="ROLE"))
    named = '"' + role.replace('"', '""') + '"'
    rights = "SELECT, INSERT, UPDATE" if writes else "SELECT"
    statements = [
        f"GRANT USAGE ON SCHEMA public TO {named};",
        f"GRANT {rights} ON ALL TABLES IN SCHEMA public TO {named};",
    ]
    if writes:
        # Leases that have expired are deleted; the record keeps every row.
        statements.append(f"GRANT DELETE ON leases TO {named};")
    return {"success": True, "db": None, "role": role, "writes": writes, "statements": statements}


def restore(path: str, file: str, at: str, environment: Mapping[str, str], deadline: float) -> Answer:
    """Put a backup, with its -wal, in the place of a database; what was there is kept among the backups.

    Returns:
        `before` and `after`, the schema versions; `replaced`, where the old database is now (null: there was none);
        `lost` [{session_id, kept_seq, lost_seq, lost_at}], the newest step of each chain that the backup does not
        have (null: the old database could not be read).

    Raises:
        UsageError: USAGE, no file, or the database itself. EnvironmentProblem: BUSY, others have it open; CORRUPT, the
            backup does not verify; as `upgrade`. Nothing was changed.
    """
    from orchestrator.store import restore as restoring

    if not file:
        raise UsageError("USAGE", "The file name of the backup is empty.", suggest("db restore", file="FILE"))
    discovery.require_path(file, "FILE")
    found = restoring.restore(
        path, file, at, actor=MAINTAINER, state_folder=high_water.state_folder(environment), deadline=deadline
    )
    return {
        "success": True,
        "db": path,
        "before": found.version,
        "after": constants.SCHEMA_VERSION,
        "replaced": str(found.replaced) if found.replaced else None,
        "lost": None if found.lost is None else [each._asdict() for each in found.lost],
    }


def lost(path: str, environment: Mapping[str, str]) -> list[str]:
    """That a database was at a path where none is now: for who is about to begin one there."""
    from orchestrator.store import file_safety

    return file_safety.lost(path, high_water.state_folder(environment))


def warnings(context: Context) -> list[str]:
    """What threatens the file of an open database: git tracks it, or an old copy was put in its place."""
    from orchestrator.store import file_safety

    return [risk.warning() for risk in file_safety.risks(context.connection, context.state_folder)]


def _of_the_system() -> list[Problem]:
    """What this system does not tell, and runs would need."""
    from orchestrator.runner import process_table, process_tree
    from orchestrator.store.maintenance import Problem

    found = []
    if not process_table.tells_variables():
        message = (
            "This system does not show the environment of processes (no /proc): processes left behind by the"
            " executor of a killed runner are neither found nor stopped."
        )
        found.append(
            Problem("PROCESSES_UNKNOWN", "warning", sys.platform, message, "ps -A, after a runner was killed")
        )
    if not process_tree.can_adopt():
        message = (
            "This system has no subreaper (PR_SET_CHILD_SUBREAPER): processes that an executor fully detaches are"
            " neither found nor stopped, and could later pass for somebody at a terminal."
        )
        found.append(Problem("ORPHANS_UNKNOWN", "warning", sys.platform, message, "ps -A, after each run"))
    return found


def _of_content(connection: Any, path: str, facts: Answer, at: str | None) -> list[Problem]:
    """What the rows of a sound database tell: runs and worktrees that were left, and as a fact what proves a person."""
    from orchestrator.app.kernel import credentials

    if at is not None:
        facts["persons"] = credentials.proven(connection, at)
    return [*_of_runs(connection), *_of_trees(connection, path)]


def _of_runs(connection: Any) -> list[Problem]:
    """The runs that are said to run, and whose process is gone."""
    from orchestrator.app.running import orphaned_runs
    from orchestrator.store.maintenance import Problem

    return [
        Problem("RUN_ABANDONED", "warning", run.id,
                sentence("Run {} is no longer running. {}", run.id, orphaned_runs.notice(run)),
                suggest("repl", project=orphaned_runs.root(run)))
        for run in orphaned_runs.list_orphaned(connection)
    ]  # fmt: skip


def _of_programs(environment: Mapping[str, str]) -> dict[str, list[str]]:
    from orchestrator.core.running import program_variables

    named = program_variables.OF_PROGRAM.items()
    return {program: sorted(program_variables.chosen(environment, names)) for program, names in named}


_ENDED = "SELECT id FROM sessions WHERE status = 'ended' ORDER BY id"


def _of_trees(connection: Any, path: str) -> list[Problem]:
    """What drivers have left of sessions that have ended: branches, each with its worktree."""
    from orchestrator.app.driving import trees
    from orchestrator.app.kernel import attached_evidence
    from orchestrator.store.maintenance import Problem

    ended = [str(row[0]) for row in connection.execute(_ENDED)]
    try:
        root = attached_evidence.project_root(path)
    except FileNotFoundError:
        # The folder in which this was called is gone, and the file lies in no project of its own.
        return []
    found = []
    for id_, branches in trees.left(str(root), ended).items():
        what = f"Session {id_} has ended, and its branches and worktrees are still there: {', '.join(branches)}."
        found.append(Problem("TREES_LEFT", "info", id_, what, suggest("drive", session_id=id_, clean=True)))
    return found


def doctor_on_server(
    url: str, why: str, environment: Mapping[str, str], deadline_s: float, at: str | None = None
) -> Answer:
    """`doctor` of a database on a server.

    Args:
        why: it is that database. at: as for `doctor`.
    """
    from orchestrator.store import maintenance, server

    path, facts, found = server.doctor(url, deadline_s)
    if all(each.severity != "error" for each in found):
        try:
            with contextlib.closing(server.connect(url, write=False, deadline=deadline_s)) as connection:
                found += _of_content(connection, path, facts, at)
        except OrchestratorError as problem:
            found.append(maintenance.from_error(problem))
    answer = _checked(path, [*found, *_of_shared_folder(url), *_of_the_system()], _SERVER_LIMITS, "findings")
    return {**answer, "why": why, "facts": facts, "variables": _of_programs(environment)}


def _of_shared_folder(url: str) -> list[Problem]:
    """What is wrong with the folder in which all machines keep evidence, where there is one."""
    from orchestrator.app.kernel import attached_evidence
    from orchestrator.store.maintenance import Problem

    try:
        shared = attached_evidence.shared_folder(url)
    except UsageError as problem:
        return [Problem("EVIDENCE_FOLDER", "error", attached_evidence.VARIABLE, problem.message, problem.suggestion)]
    if shared is None or (shared.is_dir() and os.access(shared, os.W_OK | os.X_OK)):
        return []
    what = sentence("{} is not a writable folder, so no agent is started.", local(str(shared)))
    way = f"mount it, or set {attached_evidence.VARIABLE} to another folder"
    return [Problem("EVIDENCE_FOLDER", "error", str(shared), what, way)]


def doctor(explicit: str | None, environment: Mapping[str, str], folder: Path, at: str | None = None) -> Answer:
    """Diagnose the database, and suggest the command that fixes it; for any state of the file.

    Args:
        at: the time now; with it the facts say what proves a person.

    Returns:
        `db`, `why` it is that file, `facts`, `findings`, `ok`, `limits` as `check`, `variables` (by program, the names
        of what is set of its login, endpoint, proxy and certificates and will be passed on to it), and `exit_code` 1
        where there is an error.
    """
    from orchestrator.store import doctor as physician

    synchronous = environment.get("ORCHESTRATOR_SYNCHRONOUS", "FULL").upper()
    report = physician.doctor(explicit, environment, folder, synchronous)
    sound = all(finding.severity != "error" for finding in report.findings)
    readable = report.path if sound and report.path and os.path.exists(report.path) else None
    of_content: list[Problem] = []
    if readable:
        with contextlib.closing(sqlite.open_file(readable, write=False)) as connection:
            of_content = _of_content(connection, readable, report.facts, at)
    findings = [finding._asdict() for finding in (*report.findings, *of_content, *_of_the_system())]
    ok = all(finding["severity"] != "error" for finding in findings)
    return {
        "success": True,
        "db": report.path,
        "ok": ok,
        "why": report.why,
        "facts": report.facts,
        "findings": findings,
        "limits": list(LIMITS),
        "variables": _of_programs(environment),
        "exit_code": EXIT_OK if ok else EXIT_NEGATIVE,
    }
