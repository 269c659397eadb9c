"""What an installation has written into a project, noted in `.orchestrator/installed.json`; what is amiss, in words."""

from __future__ import annotations

import contextlib
import difflib
import json
import os
from collections.abc import Callable
from pathlib import Path

from orchestrator.core import strict_json
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.names import OWN_FOLDER
from orchestrator.hints import Any
from orchestrator.runner import atomic_files

FILE = "installed.json"
UNKNOWN = "unknown"
"""The id of what need not be wrong: a version, event or key that nobody has tested."""
_LINES = 60
"""Lines of a difference that are shown."""


class Problem(NamedTuple):
    """Something that was left, or that a check found.

    id: changed, foreign, missing, outdated, untrusted, not_found or unknown.
    path: the file or program that it is about.
    difference: from what this program writes to what is there, as a unified diff.
    """

    id: str
    path: str
    message: str
    difference: str = ""


class Record:
    """The note.

    files: the files of ours, each with the copy of what it replaced.
    folders: the folders that were created.
    settings: what was added to each settings file, as `installed_settings` keeps it.
    """

    def __init__(self, files: dict[str, str | None], folders: list[str], settings: dict[str, dict[str, Any]]) -> None:
        self.files, self.folders, self.settings = files, folders, settings

    @classmethod
    def read(cls, root: str) -> Record:
        """The note of a project; an empty one if there is none that can be read."""
        try:
            found = strict_json.lenient(atomic_files.read(os.path.join(root, OWN_FOLDER, FILE)))
            return cls(dict(found["files"]), list(found["folders"]), dict(found["settings"]))
        except (OSError, ValueError, KeyError, TypeError):
            return cls({}, [], {})

    def write(self, root: str) -> None:
        """Keep the note.

        Raises:
            EnvironmentProblem: OUTPUT_FAILED.
        """
        text = json.dumps({"files": self.files, "folders": self.folders, "settings": self.settings}, indent=1)
        data = f"{text}\n".encode()
        folder = atomic_files.own_folder(root, OWN_FOLDER)
        with contextlib.suppress(OSError):
            if atomic_files.read(folder / FILE) == data:
                return
        atomic_files.write(folder / FILE, data)

    def forget(self, is_of: Callable[[str], bool]) -> None:
        """Take out what was written for one client; the rest is another one's."""
        self.files = {path: copy for path, copy in self.files.items() if not is_of(path)}
        self.folders = [folder for folder in self.folders if not is_of(folder)]
        self.settings = {path: note for path, note in self.settings.items() if not is_of(path)}

    @staticmethod
    def delete(root: str) -> None:
        """Forget the note, and the folder if nothing else is in it."""
        folder = Path(root) / OWN_FOLDER
        atomic_files.take_away([folder, folder / FILE])

    def add_file(self, root: str, path: str) -> None:
        """Note a file and the folders that will be created for it."""
        # An earlier call may have noted the copy of what was there first, which uninstall puts back.
        self.files.setdefault(path, None)
        self.add_folders(root, path)

    def add_folders(self, root: str, path: str) -> None:
        """Note the folders above a file that are not there yet."""
        parts = path.split("/")[:-1]
        for count in range(1, len(parts) + 1):
            folder = "/".join(parts[:count])
            if folder not in self.folders and not os.path.lexists(os.path.join(root, folder)):
                self.folders.append(folder)


def difference(ours: str, theirs: str, path: str) -> str:
    """A unified diff from what this program writes to what is there, shortened."""
    lines = list(difflib.unified_diff(
        ours.splitlines(), theirs.splitlines(), f"{path} (installed)", path, n=1, lineterm="",
    ))  # fmt: skip
    more = [f"... {len(lines) - _LINES} more lines"] if len(lines) > _LINES else []
    return "\n".join([*lines[:_LINES], *more])
