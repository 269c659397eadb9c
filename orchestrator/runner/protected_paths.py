"""What no executor may touch: the project's settings and its agents', and the runner's records. Two looks, compared.

A snapshot skips these folders, since nothing in them is the result of a task. So what an executor does in them would
be seen by nobody, and would speak for it: rules that it gave itself, evidence that it took away.

Source: seed 001, Properties 1, 2 and 21.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping

from orchestrator.core import names
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.running import config
from orchestrator.runner import atomic_files, evidence_files, project, reports, snapshot
from orchestrator.runner import session_lock as opened
from orchestrator.runner.snapshot import Signature

FILES = ("CLAUDE.md", "settings.json", "settings.local.json")
"""Files of the project's folder for agents that say what agents do and what they may."""
FOLDERS = ("agents", "commands", "hooks", "rules", "skills")
"""Likewise, all that lies below these."""

SHARED = ""
"""In place of a session: there is none in which one run works alone."""
_NOBODY: Mapping[str, Collection[str]] = {}
_PASSING = (".partial", ".next")
"""How the names end of files that are there only while another one is written."""
_LOGS, _EVIDENCE, _RAW = "logs/", "evidence/", "evidence/raw/"
_KEPT = (_LOGS, _EVIDENCE, reports.JSON, reports.PAGE)
"""What of a session's folder is written by who runs something of it, or has it open, alone."""
_SESSIONS = f"{evidence_files.OWN_FOLDER}/sessions/"


class Look(NamedTuple):
    """What there was at one moment, by paths relative to the project.

    settings: every file that says what agents do, with the hash of its content, and their folders.
    records: every file of the runner's sessions with its size, times and inode, which say whether it was touched.
    folder: device and inode of the runner's own folder; None where there is none.
    pointers: the content of the file that names the task that runs; None where there is none, or it cannot be read.
    opened: the sessions that some process has open. sessions: those that have a folder.
    """

    root: str
    settings: Mapping[str, str | None]
    records: Mapping[str, Signature]
    folder: tuple[int, int] | None
    pointers: bytes | None
    opened: frozenset[str] = frozenset()
    sessions: frozenset[str] = frozenset()


def look(root: str) -> Look:
    """Look at the settings and records of a project."""
    pointers, open_, sessions = _pointers(root), opened.sessions(root), _sessions(root)
    records = {path: found for path in _files(root, _SESSIONS.rstrip("/")) if (found := _signature(root, path))}
    try:
        own = os.lstat(os.path.join(root, evidence_files.OWN_FOLDER))
    except OSError:
        return Look(root, _settings(root), records, None, pointers, open_, sessions)
    return Look(root, _settings(root), records, (own.st_dev, own.st_ino), pointers, open_, sessions)


def _sessions(root: str) -> frozenset[str]:
    """The sessions that have a folder; what is a file or a link, or lies behind a link, is none."""
    folder = os.path.join(root, _SESSIONS).rstrip("/")
    try:
        if os.path.islink(folder):
            return frozenset()
        with os.scandir(folder) as found:
            return frozenset(entry.name for entry in found if entry.is_dir(follow_symlinks=False))
    except OSError:
        return frozenset()


def _pointers(root: str) -> bytes | None:
    try:
        return atomic_files.read(os.path.join(root, project.FOLDER, project.POINTERS))
    except (OSError, ValueError):
        return None


def _settings(root: str) -> dict[str, str | None]:
    paths = [f"{project.FOLDER}/{name}" for name in FILES]
    # Of a linked worktree that of the main checkout counts, and its own one once it is merged (RUN-46).
    paths += dict.fromkeys((config.OWN_FILE, os.path.relpath(project.own_settings(root), root).replace(os.sep, "/")))
    if not os.path.lexists(os.path.join(root, project.FOLDER, project.GUIDE)):
        paths.append(project.GUIDE)
    found = {path: snapshot.content_hash(root, path) for path in paths if os.path.lexists(os.path.join(root, path))}
    for folder in (f"{project.FOLDER}/{name}" for name in FOLDERS):
        if os.path.isdir(os.path.join(root, folder)):
            found[f"{folder}/"] = None
            found |= {path: snapshot.content_hash(root, path) for path in _files(root, folder)}
    return found


def _fate(after: Look, name: str) -> str:
    return "replaced" if os.path.lexists(os.path.join(after.root, _SESSIONS + name)) else "deleted"


class _Writers(NamedTuple):
    """Who may write into sessions meanwhile.

    session: the one in which one run works, and nobody else. working: other runs by session. opened: sessions.
    own: the run itself, where others work in its session.
    """

    session: str
    working: Mapping[str, Collection[str]]
    opened: Collection[str]
    own: str | None = None

    def may_write(self, path: str) -> bool:
        """Whether somebody may make, change or pack this file of the runner's records."""
        other, _, inner = path.removeprefix(_SESSIONS).partition("/")
        runs = self.working.get(other, ())
        if self.own is not None and inner.startswith(f"{_RAW}{self.own}-"):
            return True
        if inner.startswith(_RAW):
            return other != self.session and any(inner.startswith(f"{_RAW}{run}-") for run in runs)
        if inner.startswith(_EVIDENCE):
            return other != self.session and bool(runs)
        return bool(runs) or (other != self.session and other in self.opened)


def differences(
    before: Look, after: Look, session: str, expired: float, others: Collection[str] = (),
    working: Mapping[str, Collection[str]] = _NOBODY, own: str | None = None,
) -> tuple[str, ...]:
    """What was done to settings and records between two looks, in words, in order of paths.

    Other processes work in sessions of their own meanwhile: what these add and write there is none of it. A session in
    which nothing runs, and which nobody has open, stays as it is.

    Args:
        session: the one in which nobody else works; `SHARED` where others work in every one.
        expired: seconds since the epoch; the evidence of others that was recorded before that may be deleted.
        others: runs of other processes in the project, which write down that they began or ended.
        working: by session, the other runs that were under way, or were ended, at any time in between.
        own: the run whose executor ran, where `session` does not tell it.
    """
    gone = before.sessions - after.sessions
    found = [f"{evidence_files.OWN_FOLDER} (replaced)"] if before.folder not in (None, after.folder) else []
    found += [
        f"{_told(_SESSIONS + name)} (the evidence folder was {_fate(after, name)} while the executor ran)"
        for name in sorted(gone, key=lambda name: (name != session, name))
    ]
    found += _of_settings(before.settings, after.settings)
    found += _of_pointers(before.pointers, after.pointers, others)
    writers = _Writers(session, working, before.opened | after.opened, own)
    for path, known in sorted(before.records.items()):
        now = after.records.get(path)
        if _session(path) in gone:
            continue
        if now is None:
            packed = f"{path}.gz" in after.records and writers.may_write(path)
            if not packed and not _may_expire(before, after, path, session, expired):
                found.append(f"{_told(path)} (deleted)")
        elif now != known and (_is_log(path) or (_is_kept(path) and not writers.may_write(path))):
            found.append(f"{_told(path)} (changed)")
    return (*found, *_added(before, after, writers))


def _added(before: Look, after: Look, writers: _Writers) -> list[str]:
    """The new records of sessions in which nobody works; a session that is new itself is somebody's."""
    known = {_session(path) for path in before.records} - {writers.session}
    return [
        f"{_told(path)} (new)" for path in sorted(after.records.keys() - before.records.keys())
        if _session(path) in known and _is_kept(path) and not writers.may_write(path)
        and not (path.endswith(".gz") and path.removesuffix(".gz") in before.records)
    ]  # fmt: skip


def _of_settings(before: Mapping[str, str | None], after: Mapping[str, str | None]) -> list[str]:
    found = [f"{_told(path)} (deleted)" for path in before.keys() - after.keys()]
    found += [f"{_told(path)} (changed)" for path in before.keys() & after.keys() if before[path] != after[path]]
    found += [f"{_told(path)} (new)" for path in after.keys() - before.keys()]
    return sorted(found)


def _of_pointers(before: bytes | None, after: bytes | None, others: Collection[str]) -> list[str]:
    """The pointers stay as they are, unless others have written theirs, which name no run but such."""
    path = f"{project.FOLDER}/{project.POINTERS}"
    if before == after:
        return []
    if after is None:
        return [f"{path} (deleted)"]
    named = [project.pointers(each) for each in (before, after) if each is not None]
    known = {None, *others, *(named[0] or () if before is not None else ())}
    if others and named[-1] is not None and known.issuperset(named[-1]):
        return []
    return [f"{path} (changed)" if before is not None else f"{path} (new)"]


def _session(path: str) -> str:
    return path.removeprefix(_SESSIONS).partition("/")[0]


def _is_log(path: str) -> bool:
    """Whether it is the log of a run that has ended, which nobody writes again."""
    return path.removeprefix(_SESSIONS).partition("/")[2].startswith((f"{_LOGS}task-", f"{_LOGS}turn-"))


def _is_kept(path: str) -> bool:
    return path.removeprefix(_SESSIONS).partition("/")[2].startswith(_KEPT)


def _may_expire(before: Look, after: Look, path: str, session: str, expired: float) -> bool:
    """Whether all evidence of another session is gone, and was old enough."""
    other, inner = path.removeprefix(_SESSIONS).split("/")[0], f"{path.partition('/evidence/')[0]}/evidence/"
    index = before.records.get(f"{inner}{evidence_files.INDEX}")
    if other == session or not path.startswith(inner) or index is None or index[1] >= expired * 1e9:
        return False
    return not any(each.startswith(inner) for each in after.records)


def _files(root: str, folder: str) -> Iterator[str]:
    """All files and links below a folder of the project, which are not followed."""
    begin = len(os.path.join(root, ""))
    for top, folders, files in os.walk(os.path.join(root, folder)):
        below = top[begin:].replace(os.sep, "/")
        linked = [name for name in folders if os.path.islink(os.path.join(top, name))]
        for name in (*files, *linked):
            if name.endswith(_PASSING):
                continue
            yield f"{below}/{name}"


def _signature(root: str, path: str) -> Signature | None:
    try:
        found = os.lstat(os.path.join(root, path))
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino


def _told(path: str) -> str:
    text = snapshot.told(path)
    return text if text.isprintable() else names.shown(text, 300)
