"""Files that test executors make and remove in a project; nothing outside of it is ever touched."""

from __future__ import annotations

import pathlib
from collections.abc import Iterable, Mapping


def problem(name: str) -> str | None:
    """Why a name is not one of a file below the project, or None."""
    parts = pathlib.PurePosixPath(name).parts
    if not parts or "\0" in name or "\\" in name:
        return f"{name!r} names no file"
    if name.startswith("/") or ".." in parts or ":" in parts[0]:
        return f"{name!r} lies outside of the project"
    return None


def write(project: str, writes: Mapping[str, str]) -> None:
    """Write each text to its file, folders included.

    Raises:
        ValueError: a name lies outside of the project, also by way of a link.
    """
    for name, text in writes.items():
        path = _place(project, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8", newline="")


def delete(project: str, names: Iterable[str]) -> None:
    """Remove files; those that are not there are left out.

    Raises:
        ValueError: a name lies outside of the project, also by way of a link.
    """
    for name in names:
        _place(project, name).unlink(missing_ok=True)


def _place(project: str, name: str) -> pathlib.Path:
    root = pathlib.Path(project).resolve()
    wrong = problem(name)
    path = root / name
    if wrong is None and not path.parent.resolve().is_relative_to(root):
        wrong = f"{name!r} lies outside of the project"
    if wrong is None and path.is_symlink():
        wrong = f"{name!r} is a link"
    if wrong is not None:
        raise ValueError(wrong)
    return path
