"""The folder that a session works in: how it is named, what has to be in it, and what the runner puts there.

Source: seed 001, Properties 2, 32 and 38.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import stat
import tempfile
import time
from pathlib import Path

from orchestrator.core import names
from orchestrator.core.running import codes, config
from orchestrator.core.tuples import NamedTuple
from orchestrator.errors import InvalidInput, Refused, UsageError
from orchestrator.runner import durable

FOLDER = ".claude"
TEMP, FIXED, CWD = "temp", "fixed", "cwd"
MODES = (TEMP, FIXED, CWD)

_FILES = ("CLAUDE.md", "settings.json")
_FOLDERS = ("agents", "rules")
_LEAST = {"CLAUDE.md": "'# Project'", "settings.json": "'{}'"}
"""What the files hold at least, as words of a command."""
POINTERS = "repl.json"
_GUIDE = """# Project

Instructions for agents that work here. Roles live in `agents/`, rules in `rules/`; the limits of the runner are the
object `orchestrator` of `settings.json`.
"""


class Project(NamedTuple):
    """A folder to work in.

    root: its absolute path, as it was named.
    mode: temp, fixed or cwd.
    warnings: what the person has to know, in sentences.
    made: what the runner created in it, relative, as evidence.
    """

    root: str
    mode: str
    warnings: tuple[str, ...] = ()
    made: tuple[str, ...] = ()


class Pointers(NamedTuple):
    """The task that runs, and the one that ended last."""

    current_task_id: str | None = None
    last_task_id: str | None = None


def resolve(
    *,
    mode: str | None = None,
    root: str | None = None,
    project: str | None = None,
    folder: str | os.PathLike[str] | None = None,
) -> Project:
    """The project that the flags of a call name. Nothing is looked for in parents.

    Args:
        mode: of `MODES`; without it a named project is worked in where it is, and otherwise a temporary one is made.
        root: of a fixed project.
        project: the folder to use in place of the working one.
        folder: the working folder; the process's own where left out.

    Returns:
        The project. A temporary one has the structure that it needs; of the others nothing is checked but that they
        are folders: see `check`.

    Raises:
        UsageError: USAGE, the flags contradict each other or one is missing.
        Refused: E102, the folder does not exist or is none.

    Source: seed 001, Properties 2 and 32.
    """
    said, mode = mode, mode or (CWD if project is not None else TEMP)
    _check_flags(mode, root, project)
    if mode == TEMP:
        return _temporary()
    named = root if mode == FIXED else project
    here = os.path.abspath(folder or os.getcwd())
    path = os.path.abspath(os.path.join(here, named or ""))
    _require_folder(path)
    # A folder that is named and is another one is fixed, whatever the working folder is.
    return Project(path, FIXED if said is None and path != here else mode, _warnings(path))


def check(root: str | os.PathLike[str]) -> None:
    """Require the structure of a project.

    Raises:
        Refused: E102, no such folder; E101, it has no `.claude`; E103, something in that is absent or of another
            kind. Data ``missing``: all of it; ``in_the_way``: what `init` would refuse to touch, where there is any.

    Source: seed 001, Property 2.
    """
    path = os.path.abspath(root)
    _require_folder(path)
    inner = os.path.join(path, FOLDER)
    if not os.path.lexists(inner):
        raise Refused("E101", f"{path} has no {FOLDER} folder.", _set_it_up(path), path=path)
    if not os.path.isdir(inner):
        way = f"{_aside(inner)}; then {_set_it_up(path)}"
        raise Refused("E101", f"{inner} is no folder.", way, path=path, in_the_way=[FOLDER])
    absent, wrong = _faults(Path(inner))
    if absent or wrong:
        missing = [name if name in _FILES else f"{name}/" for name in (*_FILES, *_FOLDERS) if name in absent + wrong]
        there = [name for name in _FILES if os.path.lexists(os.path.join(inner, name))]
        data = {"in_the_way": sorted({*there, *wrong})} if there or wrong else {}
        raise Refused("E103", _said(path, absent, wrong), _by_hand(inner, absent, wrong), path=path, missing=missing,
                      **data)  # fmt: skip


def _faults(inner: Path) -> tuple[list[str], list[str]]:
    """What `.claude` lacks, and what stands there but is of another kind."""
    bad = [name for name in _FILES if not (inner / name).is_file()]
    bad += [name for name in _FOLDERS if not (inner / name).is_dir()]
    wrong = [name for name in bad if os.path.lexists(inner / name)]
    return [name for name in bad if name not in wrong], wrong


def _said(path: str, absent: list[str], wrong: list[str]) -> str:
    lacks = ", ".join(f"{FOLDER}/{name}" for name in absent)
    parts = [f"{path} lacks {lacks}"] if absent else []
    for name in wrong:
        parts.append(f"{path}/{FOLDER}/{name} is no {'file' if name in _FILES else 'folder'}")
    return f"{'; '.join(parts)}."


def _by_hand(inner: str, absent: list[str], wrong: list[str]) -> str:
    """The commands that put in what is not there, or not of the right kind; what is in the way is kept."""
    lines = [_aside(os.path.join(inner, name)) for name in wrong]
    for name in (*absent, *wrong):
        place = names.word(os.path.join(inner, name))
        lines.append(f"mkdir {place}" if name in _FOLDERS else f"echo {_LEAST[name]} > {place}")
    return " && ".join(lines)


def _aside(path: str) -> str:
    return f"mv {names.word(path)} {names.word(path + '.aside')}"


def _set_it_up(path: str) -> str:
    """What to type; a pipe sets nothing up, since nobody would have seen what is made."""
    return f"orchestrator repl --project {names.word(path)}, at a terminal, and there /init; then repeat the call"


def is_set_up(root: str | os.PathLike[str]) -> bool:
    """Whether the folder has a `.claude` of its own: without it a person may only set it up, get help and leave."""
    return os.path.isdir(os.path.join(root, FOLDER))


def settings(root: str | os.PathLike[str]) -> config.Settings:
    """The settings of a project.

    Raises:
        Refused: E103, the file is absent or cannot be read.
        InvalidInput: E104, E105; data ``problems``.

    Source: seed 001, Property 3.
    """
    path = os.path.join(root, FOLDER, "settings.json")
    if not os.path.isfile(path):
        raise codes.refused("E103", f"{path} does not exist.", path=path)
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise codes.refused("E103", f"{path} cannot be read: {error.strerror}.", path=path) from None
    return config.parse(data)


def init(root: str | os.PathLike[str]) -> tuple[str, ...]:
    """Set a project up: `.claude` with `CLAUDE.md`, `settings.json`, `agents/` and `rules/`.

    Folders that are there already stay as they are; a file is never overwritten.

    Returns:
        What was created, relative to the root.

    Raises:
        Refused: ALREADY_EXISTS, with all that is in the way in data ``paths``; nothing was touched. E102, no folder.
        EnvironmentProblem: OUTPUT_FAILED.

    Source: seed 001, Property 2.
    """
    path = Path(os.path.abspath(root))
    _require_folder(str(path))
    inner = path / FOLDER
    if not os.path.lexists(inner):
        return _set_up_whole(path)
    in_the_way = [name for name in _FILES if os.path.lexists(inner / name)]
    in_the_way += [name for name in _FOLDERS if os.path.lexists(inner / name) and not (inner / name).is_dir()]
    if in_the_way or not inner.is_dir():
        raise _exists(path, [f"{FOLDER}/{name}" for name in in_the_way] or [FOLDER])
    return tuple(f"{FOLDER}/{name}" for name in _fill(inner))


def load_pointers(root: str | os.PathLike[str]) -> Pointers:
    """Which task runs and which ended last, as `.claude/repl.json` says; none where there is no such file.

    Raises:
        InvalidInput: E105, the file is not what the runner writes.

    Source: seed 001, Property 38.
    """
    path = os.path.join(root, FOLDER, POINTERS)
    try:
        found = pointers(durable.read(path))
    except FileNotFoundError:
        return Pointers()
    except (OSError, ValueError):
        found = None
    if found is None:
        raise InvalidInput("E105", f"{path} is not what the runner writes.", f"Delete {path}", path=path)
    return found


def pointers(data: bytes) -> Pointers | None:
    """What a file of pointers says; None where it is not what the runner writes."""
    try:
        document = json.loads(data)
        found = Pointers(document["current_task_id"], document["last_task_id"])
    except (ValueError, KeyError, TypeError):
        return None
    return found if all(isinstance(value, str | None) for value in found) else None


def save_pointers(root: str | os.PathLike[str], found: Pointers) -> None:
    """Write `.claude/repl.json`, whole or not at all.

    Raises:
        ValueError: one task is said to run and to have ended.
        EnvironmentProblem: OUTPUT_FAILED.

    Source: seed 001, Property 38.
    """
    if found.current_task_id is not None and found.current_task_id == found.last_task_id:
        raise ValueError(f"task {found.current_task_id} runs and has ended")
    text = json.dumps(found._asdict(), indent=2) + "\n"
    durable.write(os.path.join(root, FOLDER, POINTERS), text.encode())


def _check_flags(mode: str, root: str | None, project: str | None) -> None:
    if mode not in MODES:
        raise UsageError("USAGE", f"The project mode is {', '.join(MODES[:-1])} or {MODES[-1]}.", "Use one of these")
    if mode == FIXED and not root:
        raise UsageError("USAGE", "A fixed project needs its folder.", "Add --project-root PATH")
    if mode != FIXED and root is not None:
        raise UsageError("USAGE", "Only a fixed project has a root.", "Add --project-mode fixed")
    if project is not None and mode != CWD:
        raise UsageError("USAGE", f"A project in mode {mode} is not named with --project.", "Leave one of both out")
    if project == "":
        raise UsageError("USAGE", "The path of the project is empty.", "Name a folder with --project PATH")


def _require_folder(path: str) -> None:
    try:
        found = os.stat(path)
    except (OSError, ValueError) as error:
        reason = "does not exist" if isinstance(error, FileNotFoundError) else f"cannot be used: {_reason(error)}"
        raise codes.refused("E102", f"{path} {reason}.", path=path) from None
    if not stat.S_ISDIR(found.st_mode):
        raise codes.refused("E102", f"{path} is no folder.", path=path)


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)


def _warnings(path: str) -> tuple[str, ...]:
    real = os.path.realpath(path)
    for folder in dict.fromkeys((tempfile.gettempdir(), "/tmp")):  # noqa: S108 - it is recognised, not used
        top = os.path.realpath(folder)
        if real == top or real.startswith(top.rstrip(os.sep) + os.sep):
            return (f"{path} lies in {folder}, which the system may empty at any time.",)
    return ()


def _temporary() -> Project:
    with durable.failing(tempfile.gettempdir()):
        root = tempfile.mkdtemp(prefix="orchestrator-")
    warning = f"{root} is a temporary project: it is volatile, and the system may delete it after this process."
    return Project(root, TEMP, (warning,), _set_up_whole(Path(root)))


def _set_up_whole(root: Path) -> tuple[str, ...]:
    """Make the folder beside its place and put it there at once, so that a kill leaves no half of it."""
    target, partial = root / FOLDER, root / f"{FOLDER}.{os.getpid()}-{time.time_ns()}.partial"
    try:
        with durable.failing(str(target)):
            partial.mkdir()
        made = _fill(partial)
        with durable.failing(str(target)):
            try:
                partial.rename(target)
            except OSError:
                if os.path.lexists(target):
                    raise _exists(root, [FOLDER]) from None
                raise
            durable.sync_folder(root)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    return (FOLDER, *(f"{FOLDER}/{name}" for name in made))


def _fill(inner: Path) -> list[str]:
    """Create what is missing; after a failure, of this nothing is left."""
    texts = (_GUIDE, json.dumps(config.document(config.Settings()), indent=2) + "\n")
    made: list[str] = []
    try:
        with durable.failing(str(inner)):
            for name in _FOLDERS:
                if not (inner / name).is_dir():
                    (inner / name).mkdir()
                    made.append(name)
            for name, text in zip(_FILES, texts, strict=True):
                _create(inner / name, text)
                made.append(name)
            durable.sync_folder(inner)
    except BaseException:
        for name in made:
            with contextlib.suppress(OSError):
                (inner / name).rmdir() if name in _FOLDERS else (inner / name).unlink()
        raise
    return made


def _create(path: Path, text: str) -> None:
    # The people and tools of the project read these, so they have the modes that its other files get.
    with open(path, "x", encoding="utf-8") as file:
        try:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        except BaseException:
            path.unlink()
            raise


def _exists(root: Path, paths: list[str]) -> Refused:
    inner = root / FOLDER
    if os.path.lexists(inner) and not inner.is_dir():
        message, way = f"{inner} is no folder; nothing was changed.", f"{_aside(str(inner))}; then /init again"
        return Refused("ALREADY_EXISTS", message, way, paths=paths)
    absent, wrong = _faults(inner)
    message = f"{root} has {', '.join(paths)} already, and /init overwrites nothing; nothing was changed."
    way = _by_hand(str(inner), absent, wrong) or "Nothing is missing: enter a task"
    return Refused("ALREADY_EXISTS", message, way, paths=paths)
