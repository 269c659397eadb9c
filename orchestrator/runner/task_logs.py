"""The logs of runs that have ended, as files beside the project: `logs/task-NNN.json` and `logs/index.json`.

The database is their source; a later process reads here what was verified, and where. A log is written whole or not at
all, and synced with its folder.

Source: seed 001, Properties 26, 30 and 33.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from orchestrator.core import strict_json
from orchestrator.core.running import task_log
from orchestrator.core.suggestions import local, reason, sentence
from orchestrator.errors import InvalidInput, Refused
from orchestrator.hints import Any
from orchestrator.runner import atomic_files, evidence_files

INDEX = "index.json"

_ENTRY = ("task_id", "external_task_id", "status", "started_at", "ended_at")


def save(project: str | os.PathLike[str], session_id: str, log: Mapping[str, Any]) -> Path:
    """Write the log of a run that has ended, and its entry in the index.

    Writing the same log again changes nothing, so that a kill in between is made good by doing it again.

    Args:
        log: with the fields that `task_log.check` names; `task_id` is the log's own id.

    Returns:
        The file.

    Raises:
        InvalidInput: TASK_LOG_INVALID, the log lacks something, an id would stand for two runs, or the index is not
            what is written here. Data ``problems``.
        EnvironmentProblem: OUTPUT_FAILED.

    Source: seed 001, Properties 26 and 30.
    """
    problems = task_log.check(log)
    if log.get("session_id") != session_id:
        problems.append(task_log.Problem("session_id", f"session_id must be {session_id}"))
    _require(problems)
    folder = atomic_files.own_folder(evidence_files.session_folder(project, session_id), "logs")
    path = folder / f"{log['task_id']}.json"
    with atomic_files.locked(folder):
        entries = {entry["task_id"]: entry for entry in index(project, session_id)}
        known = entries.get(log["task_id"])
        entries[log["task_id"]] = {name: log[name] for name in _ENTRY}
        problems = task_log.mapping_problems(list(entries.values()))
        if known is not None and known["external_task_id"] != log["external_task_id"]:
            problems.append(task_log.Problem("task_id", f"task_id {log['task_id']} stands for more than one run"))
        _require(problems)
        # The log before the index: a kill in between leaves an unlisted log, never an entry without one.
        atomic_files.write(path, _text(log))
        listed = sorted(entries.values(), key=lambda entry: int(entry["task_id"].removeprefix("task-")))
        atomic_files.write(folder / INDEX, _text({"session_id": session_id, "tasks": listed}))
    return path


def index(project: str | os.PathLike[str], session_id: str) -> list[dict[str, Any]]:
    """The entries of the logs on the disk, in order of their ids; none where nothing was written.

    Raises:
        InvalidInput: TASK_LOG_INVALID, the index is not what is written here.
    """
    path = _folder(project, session_id) / INDEX
    try:
        document = strict_json.loads(atomic_files.read(path), str(path), None)
    except FileNotFoundError:
        return []
    except (OSError, strict_json.JsonProblem) as error:
        raise _unreadable(path, reason(error)) from None
    tasks = document.get("tasks") if isinstance(document, dict) else None
    if not isinstance(tasks, list) or not all(map(_is_entry, tasks)):
        raise _unreadable(path, "it is not a list of logs")
    return tasks


def read(project: str | os.PathLike[str], session_id: str, either_id: str) -> dict[str, Any]:
    """The log of a run, by the id that it has in the log or by that outside; both give the same.

    Raises:
        Refused: UNKNOWN_RUN, there is no such log.
        InvalidInput: TASK_LOG_INVALID, a file is not what is written here.

    Source: seed 001, Property 30.
    """
    for entry in index(project, session_id):
        if either_id in (entry["task_id"], entry["external_task_id"]):
            return _log(_folder(project, session_id) / f"{entry['task_id']}.json")
    raise Refused("UNKNOWN_RUN", f"Session {session_id} has no log {either_id[:100]!a}.", "List them with /logs")


def _folder(project: str | os.PathLike[str], session_id: str) -> Path:
    return Path(project) / evidence_files.OWN_FOLDER / "sessions" / session_id / "logs"


def _log(path: Path) -> dict[str, Any]:
    try:
        log = strict_json.loads(atomic_files.read(path), str(path), None)
    except (OSError, strict_json.JsonProblem) as error:
        raise _unreadable(path, reason(error)) from None
    if not isinstance(log, dict) or task_log.check(log):
        raise _unreadable(path, "it is not a complete log")
    return log


def _is_entry(entry: object) -> bool:
    if not isinstance(entry, dict) or not task_log.is_log_id(str(entry.get("task_id"))):
        return False
    return all(isinstance(entry.get(name), str) for name in _ENTRY)


def _text(document: Mapping[str, Any]) -> bytes:
    return (json.dumps(document, ensure_ascii=False, indent=2) + "\n").encode()


def _require(problems: list[task_log.Problem]) -> None:
    if problems:
        sentences = "; ".join(problem.message for problem in problems)
        listed = [problem._asdict() for problem in problems]
        suggestion = "Write the log of the run again with all of these"
        raise InvalidInput("TASK_LOG_INVALID", f"The log cannot be saved: {sentences}.", suggestion, problems=listed)


def _unreadable(path: Path, why: str) -> InvalidInput:
    suggestion = "Delete the folder logs and write the logs again from the database"
    what = sentence("{} cannot be used: {}.", local(path), why)
    return InvalidInput("TASK_LOG_INVALID", what, suggestion, path=str(path))


def save_turn(project: str | os.PathLike[str], session_id: str, id: str, log: Mapping[str, Any]) -> Path:
    """Write the log of a turn, whole or not at all, synced with its folder.

    Raises:
        EnvironmentProblem: OUTPUT_FAILED.
    """
    folder = atomic_files.own_folder(evidence_files.session_folder(project, session_id), "logs")
    path = folder / f"{id}.json"
    atomic_files.write(path, (json.dumps(log, ensure_ascii=False, indent=2) + "\n").encode())
    return path
