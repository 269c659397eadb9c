"""Which tests and checks a project has, read from its folder.

Source: seed 001, Properties 4 and 11.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from orchestrator.core.running import checks, facts, tests_exist
from orchestrator.core.running.checks import Checks
from orchestrator.core.running.tests_exist import Argv, Detection
from orchestrator.runner import atomic_files, commands, snapshot

Cancelled = Callable[[], bool]

_SIZE_LIMIT = 1024 * 1024
_ENVIRONMENTS = (".venv/bin/python", "venv/bin/python", ".venv/Scripts/python.exe", "venv/Scripts/python.exe")
_INLINE = (b"#[test]", b"#[cfg(test)]", b"::test]")


def find(root: str | os.PathLike[str], detection: Detection = tests_exist.DEFAULT) -> Checks:
    """The commands that lint, test, type-check and build a project; what it does not declare it does not have.

    Source: seed 001, Property 4.
    """
    return checks.detect(snapshot.paths(root), _texts(root), python=_python(root), detection=detection)


def run(
    root: str | os.PathLike[str], *, timeout_s: float, detection: Detection = tests_exist.DEFAULT,
    cancelled: Cancelled | None = None, tag: str | None = None, only: Sequence[str] | None = None,
) -> dict[str, str | None]:
    """Run the checks that a project has.

    Args:
        timeout_s: seconds that one command may take.
        cancelled: is asked some times a second whether to end them, with all that they started.
        tag: begins the mark by which their processes are found.
        only: the names of the checks to run (default: all).

    Returns:
        By check: passed, where every command of it exits 0; else `failed: ` and how the first ended that did not;
        None where the project has no such check, or it was cancelled before.

    Source: seed 001, Property 4.
    """
    found = find(root, detection)

    def outcome(argvs: tuple[Argv, ...]) -> str | None:
        for argv in argvs:
            if cancelled is not None and cancelled():
                return None
            ended = commands.run(argv, folder=root, timeout_s=timeout_s, cancelled=cancelled, tag=tag)
            if ended.status != 0:
                return f"{facts.FAILED}: {ended.why} ({' '.join(argv)})"
        return facts.PASSED if argvs else None

    return {name: outcome(getattr(found, name)) for name in only or Checks._fields}


def other_tests(root: str | os.PathLike[str], detection: Detection = tests_exist.DEFAULT) -> tuple[str, ...]:
    """What shows a project's tests besides the names of its files.

    That is a command that its settings name, a target of its Makefile, or a source file that holds its own tests.

    Source: seed 001, Property 11.
    """
    set_up = dict(detection.checks).get("tests", ())
    return tuple(" ".join(argv) for argv in set_up) + checks.make_tests(_texts(root)) + _inline(root)


def _texts(root: str | os.PathLike[str]) -> dict[str, str]:
    found = {}
    for name in checks.READ:
        try:
            with open(atomic_files.open_regular(os.path.join(root, name)), "rb") as file:
                found[name] = file.read(_SIZE_LIMIT).decode("utf-8", "replace")
        except OSError:
            continue
    return found


def _python(root: str | os.PathLike[str]) -> str:
    candidates = (os.path.abspath(os.path.join(root, path)) for path in _ENVIRONMENTS)
    return next((path for path in candidates if os.access(path, os.X_OK)), "python3")


def _inline(root: str | os.PathLike[str]) -> tuple[str, ...]:
    """The first Rust source that holds its own tests."""
    if not os.path.isfile(os.path.join(root, "Cargo.toml")):
        return ()
    for path in snapshot.paths(root):
        if path.endswith(".rs") and tests_exist.FOREIGN_FOLDERS.isdisjoint(path.split("/")):
            try:
                with open(atomic_files.open_regular(os.path.join(root, path)), "rb") as file:
                    text = file.read(_SIZE_LIMIT)
            except OSError:
                continue
            if any(mark in text for mark in _INLINE):
                return (path,)
    return ()
