"""Evidence that lies in files: where, and whether each file is as it was recorded.

There are two kinds: files that a row names by path and hash, and what runs leave on the disk of their project, of which
a row has the checksum of the index. Either is looked for in the project of the database and beside the database, where
an import puts it, and that of runs also in the project that they worked in.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from orchestrator.core import database_urls, refs
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.oversized import Moved
from orchestrator.core.suggestions import local, sentence
from orchestrator.errors import EnvironmentProblem, UsageError
from orchestrator.hints import Any
from orchestrator.runner import atomic_files, evidence_kept, process_identity
from orchestrator.store import constants, evidence
from orchestrator.store.evidence import SHARED, Fault, File, Inventory, Place

VARIABLE = "ORCHESTRATOR_EVIDENCE"
"""The variable that names the folder in which all machines keep the evidence of a database on a server."""
_OF_DATABASE = "database"
_FIRST = "SELECT hash FROM audit_events WHERE session_id = ? AND seq = 1"


class Evidence(NamedTuple):
    """What of a session lies in files, by the database: to be looked at when no transaction is open."""

    files: list[File]
    inventories: list[Inventory]


def of(connection: Any, session: str) -> Evidence:
    """The evidence of a session that lies in files."""
    return Evidence(evidence.files(connection, session), evidence.inventories(connection, session))


def project_root(path: str) -> Path:
    """The project that a database belongs to: the folder above `.orchestrator`, else the current one."""
    if database_urls.is_postgresql(path):
        return Path.cwd()
    folder = Path(path).resolve().parent
    return folder.parent if folder.name == constants.FOLDER else Path.cwd()


def place(path: str) -> Place:
    """Where the evidence lies that this process records: on a server's database others record in it as well.

    Raises:
        UsageError: as `shared_folder`.
    """
    if not database_urls.is_postgresql(path):
        return Place()
    shared = shared_folder(path)
    return Place(process_identity.host()) if shared is None else Place(SHARED, str(shared))


def shared_folder(path: str) -> Path | None:
    """The folder in which all machines keep the evidence of a database on a server; None where each keeps its own.

    Raises:
        UsageError: ORCHESTRATOR_EVIDENCE is no absolute path.
    """
    given = os.environ.get(VARIABLE, "").strip()
    if not given or not database_urls.is_postgresql(path):
        return None
    if not os.path.isabs(given):
        message = f"{VARIABLE} must be an absolute path."
        raise UsageError("USAGE", message, sentence("export {}", f"{VARIABLE}=/srv/evidence"))
    return Path(given)


def run_root(path: str, project: str) -> str:
    """The folder below which evidence of runs is kept: the project in which they work, or the shared folder."""
    return str(shared_folder(path) or project)


def require_shared(path: str, connection: Any) -> None:
    """Require that the shared folder, where there is one, is there, takes files and is this database's.

    The first database that uses a folder marks it, and an empty mount point lacks the mark. Names of sessions are
    unique in a database alone, and what is kept too long is deleted by what this one knows.

    Raises:
        UsageError: as `shared_folder`.
        EnvironmentProblem: OUTPUT_FAILED; nothing was written but that mark.
    """
    root = shared_folder(path)
    if root is None:
        return
    row = connection.execute(_FIRST, (constants.STORE_CHAIN,)).fetchone()
    # The first step tells a database and its copies from every other one.
    identity = "" if row is None else str(row[0].hex())
    with _advised(root):
        folder = atomic_files.own_folder(root, constants.FOLDER)
        with atomic_files.failing(str(root)):
            atomic_files.reserve(folder)
            whose = _owner_of(root, identity, connection)
    if whose != identity:
        message = sentence("{}: {} keeps the evidence of another database.", VARIABLE, local(str(root)))
        raise EnvironmentProblem("OUTPUT_FAILED", message, "give each database a folder of its own", path=str(root))


@contextlib.contextmanager
def _advised(shared: Path | None) -> Iterator[None]:
    """What could not be written to the shared folder, told with what helps there."""
    try:
        yield
    except EnvironmentProblem as problem:
        if shared is None or problem.code != "OUTPUT_FAILED":
            raise
        message = sentence("{}: {}", VARIABLE, problem.message)
        advice = f"mount it, make room there, or set {VARIABLE} to another folder"
        raise EnvironmentProblem("OUTPUT_FAILED", message, advice, path=str(shared)) from problem


def _mark(shared: Path) -> Path:
    """The file that says of which database a shared folder is."""
    return shared / constants.FOLDER / _OF_DATABASE


def _owner_of(shared: Path, identity: str, connection: Any) -> str:
    """The database that a folder belongs to; it becomes this one's where it was nobody's, and it had no other.

    Raises:
        EnvironmentProblem: OUTPUT_FAILED, this one has evidence in a shared folder, which this is not.
    """
    mark = _mark(shared)
    if not os.path.lexists(mark):
        if evidence.is_shared(connection):
            message = sentence("{} is not the folder in which this database has evidence.", local(str(shared)))
            raise EnvironmentProblem("OUTPUT_FAILED", message, "", path=str(shared))
        beside = mark.with_name(f"{mark.name}.{process_identity.mine()}".replace(":", "-"))
        atomic_files.write(beside, identity.encode())
        try:
            # Two may be marking it: a link is there whole, and never takes the place of another.
            with contextlib.suppress(FileExistsError):
                os.link(beside, mark)
        finally:
            os.unlink(beside)
    return atomic_files.read(mark).decode("ascii", "replace").strip()


def recorded(path: str, files: Sequence[Moved]) -> list[dict[str, Any]]:
    """What a step's input keeps of the files that are written with it."""
    where = place(path).recorded()
    return [{**each.recorded(), **where} for each in files]


def own_folder(path: str) -> str:
    """Where this machine keeps what is no part of the record: beside a file, in the project of a database on a server.
    """
    if database_urls.is_postgresql(path):
        return os.path.join(project_root(path), constants.FOLDER)
    return os.path.dirname(path)


def work_root(path: str, session: str) -> Path:
    """Where the work of a session is put together: its integration worktree where it has one, else the project."""
    root = project_root(path)
    tree = root / refs.folder(session)
    return tree if os.path.lexists(tree / ".git") else root


def own_root(path: str) -> Path:
    """Where an import puts the evidence of a database: its project, or else the folder that it lies in.

    A database on a server lies in none; what a process writes for it goes below the shared folder, else below its
    current one.
    """
    if database_urls.is_postgresql(path):
        return shared_folder(path) or project_root(path)
    folder = Path(path).resolve().parent
    return folder.parent if folder.name == constants.FOLDER else folder


def imported(session: str) -> Path:
    """Where below its root an import puts files that rows name: nothing is read or run from there by its name."""
    return evidence_kept.folder("", session).with_name("files")


def roots(path: str, session: str, folder: str | None = None) -> tuple[Path, ...]:
    """Where evidence may lie that a database names by relative paths.

    Args:
        folder: a shared folder that the record names.
    """
    of_record = (Path(folder), Path(folder) / imported(session)) if folder is not None else ()
    return tuple(dict.fromkeys((project_root(path), own_root(path), own_root(path) / imported(session), *of_record)))


def located(path: str, session: str, name: str) -> str:
    """A file of evidence as an agent of this machine opens it from whatever folder: by its whole path, where it lies.
    """
    found = (root / name for root in roots(path, session) if (root / name).is_file())
    return next((local(str(each), name) for each in found), name)


def run_roots(path: str, inventory: Inventory) -> tuple[Path, ...]:
    """Where the evidence of runs may lie: in the project that they worked in, in the shared folder, or where an import
    has put it.
    """
    return (Path(inventory.root), own_root(path), project_root(path))


def faults(path: str, session: str, found: Evidence) -> Iterator[Fault]:
    """What of the evidence is missing or no longer as it was recorded."""
    for each in found.files:
        if not is_elsewhere(path, each.place):
            yield from evidence.file_faults([each], roots(path, session, each.place.folder))
    yield from run_faults(path, found.inventories)


def run_faults(path: str, inventories: Sequence[Inventory]) -> Iterator[Fault]:
    """What runs have left on the disk that is missing or altered; what was deleted on record is no fault."""
    for each in inventories:
        kept, why = evidence_kept.find(run_roots(path, each), each.session, each.checksum)
        if kept is None and not each.expired and not is_elsewhere(path, each.place):
            yield Fault(each.id, sentence("{} (below {})", why, local(each.root)))
        elif kept is not None:
            yield from (Fault(each.id, problem) for problem in kept.problems.values())


def is_elsewhere(path: str, place: Place) -> bool:
    """Whether files lie on another machine, or in a shared folder that this one does not have, so that they cannot be
    missed here.
    """
    if place.folder is None:
        return place.host not in (None, process_identity.host())
    # Where it is not mounted, there may be an empty folder in its place.
    return not any(_mark(each).is_file() for each in filter(None, (shared_folder(path), Path(place.folder))))


def unreachable(path: str, inventories: Sequence[Inventory]) -> list[Inventory]:
    """What runs have left elsewhere and is not found here either."""
    return [
        each for each in inventories
        if is_elsewhere(path, each.place) and not each.expired
        and evidence_kept.find(run_roots(path, each), each.session, each.checksum)[0] is None
    ]  # fmt: skip


@contextlib.contextmanager
def written(path: str, files: Sequence[Moved], connection: Any) -> Iterator[None]:
    """Write the files of a step, then run the block that commits it.

    Args:
        path: of the database; the files' paths begin at the folder that an import would put them below.
        connection: to it.

    Raises:
        EnvironmentProblem: OUTPUT_FAILED. What was written is taken away again, as it is where the block raises.
    """
    require_shared(path, connection)
    root, made = own_root(path), list[Path]()
    try:
        with _advised(shared_folder(path)):
            for each in files:
                _write(root, each, made)
        yield
    except BaseException:
        atomic_files.take_away(made)
        raise


def _write(root: Path, moved: Moved, made: list[Path]) -> None:
    *folders, name = moved.path.split("/")
    recorded = evidence.File(moved.what, moved.path, moved.sha256)
    if evidence.located(recorded, [root])[0] is not None:
        return
    missing = [each for each in _down(root, folders) if not os.path.lexists(each)]
    made += missing
    place = atomic_files.own_folder(root, *folders) / name
    if not os.path.lexists(place):
        made.append(place)
    atomic_files.write(place, moved.content)


def _down(root: Path, folders: Sequence[str]) -> Iterator[Path]:
    for name in folders:
        root = root / name
        yield root
