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
from orchestrator.hints import Any
from orchestrator.runner import atomic_files, evidence_kept, process_identity
from orchestrator.store import constants, evidence
from orchestrator.store.evidence import Fault, File, Inventory


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


def host(path: str) -> str | None:
    """The machine that a piece of evidence lies on which this process records, where others record in the same
    database: on a server.
    """
    return process_identity.host() if database_urls.is_postgresql(path) else None


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

    A database on a server lies in none; what a process writes for it goes below its current folder.
    """
    if database_urls.is_postgresql(path):
        return project_root(path)
    folder = Path(path).resolve().parent
    return folder.parent if folder.name == constants.FOLDER else folder


def imported(session: str) -> Path:
    """Where below its root an import puts files that rows name: nothing is read or run from there by its name."""
    return evidence_kept.folder("", session).with_name("files")


def roots(path: str, session: str) -> tuple[Path, ...]:
    """Where evidence may lie that a database names by relative paths."""
    return tuple(dict.fromkeys((project_root(path), own_root(path), own_root(path) / imported(session))))


def run_roots(path: str, inventory: Inventory) -> tuple[Path, ...]:
    """Where the evidence of runs may lie: in the project that they worked in, or where an import has put it."""
    return (Path(inventory.root), own_root(path), project_root(path))


def faults(path: str, session: str, found: Evidence) -> Iterator[Fault]:
    """What of the evidence is missing or no longer as it was recorded."""
    yield from evidence.file_faults(found.files, roots(path, session))
    yield from run_faults(path, found.inventories)


def run_faults(path: str, inventories: Sequence[Inventory]) -> Iterator[Fault]:
    """What runs have left on the disk that is missing or altered; what was deleted on record is no fault."""
    for each in inventories:
        kept, why = evidence_kept.find(run_roots(path, each), each.session, each.checksum)
        if kept is None and not each.expired and not is_elsewhere(each):
            yield Fault(each.id, sentence("{} (below {})", why, local(each.root)))
        elif kept is not None:
            yield from (Fault(each.id, problem) for problem in kept.problems.values())


def is_elsewhere(inventory: Inventory) -> bool:
    """Whether what runs have left lies on another machine, so that it cannot be missed here."""
    return inventory.host not in (None, process_identity.host())


def unreachable(path: str, inventories: Sequence[Inventory]) -> list[Inventory]:
    """What runs have left on other machines and is not found here either."""
    return [
        each for each in inventories
        if is_elsewhere(each) and not each.expired
        and evidence_kept.find(run_roots(path, each), each.session, each.checksum)[0] is None
    ]  # fmt: skip


@contextlib.contextmanager
def written(path: str, files: Sequence[Moved]) -> Iterator[None]:
    """Write the files of a step, then run the block that commits it.

    Args:
        path: of the database; the files' paths begin at the folder that an import would put them below.

    Raises:
        EnvironmentProblem: OUTPUT_FAILED. What was written is taken away again, as it is where the block raises.
    """
    root, made = own_root(path), list[Path]()
    try:
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
