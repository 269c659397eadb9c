"""Which tests can notice a mutant: recorded once for the present state of the sources, and kept in `.mutants`."""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tools.mutants import plugin
from tools.mutants.catalogue import ROOT, Line, Mutant

KEPT = ROOT / ".mutants"
SOURCES = ("orchestrator", "migrations", "workflow", "agents")
TESTED = ("tests/unit", "tests/integration", "tests/acceptance")
"""Where one of these has changed, mutants are tried anew; where a helper of the tests has, the record is as well."""
JUDGES = tuple(
    f"tools/mutants/{name}.py"
    for name in ("catalogue", "altering", "sqltext", "relations", "probing", "hosting", "plugin")
)
"""What a verdict depends on besides: where these have changed, every mutant is tried anew."""
RELATION = "relation"
"""The kind whose mutants are told of by the tests that see a difference, not by lines."""
MOST = 6
"""States of the sources of which something is kept."""
TESTS = (
    "tests/unit",
    "tests/integration/app",
    "tests/integration/tasks",
    "tests/integration/web",
    "tests/integration/clients/test_hook*.py",
    "tests/integration/clients/test_install.py",
    "tests/integration/test_python_interface.py",
    "tests/acceptance/test_replay.py",
    *(f"tests/integration/store/test_{name}*.py" for name in ("guards", "attacks", "completion", "path_properties")),
)
STORE = ("tests/integration/store/", "tests/integration/app/test_criteria.py", "tests/integration/app/test_starts.py")
"""Tests that meet statements of the database; of these it is not recorded which."""
RAN = (0, 1, 5)
"""How pytest ends where it ran what there was to run."""
BY_TEXT = (
    "test_each_part_has_a_trigger_with_its_own_message",
    "test_the_triggers_of_a_table_call_no_function_but_the_tripwire",
    "test_the_database_keeps_every_statement_as_it_is_declared",
)
"""Tests of the database that read its statements instead of meeting them."""


class Reach:
    """The tests that pass without a mutant, and what each of them executes of the lines that mutants are about."""

    def __init__(self, records: Iterable[dict[str, Any]]) -> None:
        self.failing: list[str] = []
        self.seconds: dict[str, float] = {}
        self._tests: dict[str, list[str]] = {}
        for record in records:
            self.failing += record["failed"]
            self.seconds |= record["passed"]
            for place, tests in record["reached"].items():
                self._tests.setdefault(place, []).extend(tests)

    def tests(self, mutant: Mutant) -> list[str]:
        """The tests that can notice a mutant, those first that will soonest."""
        if mutant.kind == RELATION:
            found = set(self._tests.get(mutant.name, ())) & self.seconds.keys()
            # Of each file only some are told of, so the others of these files follow.
            files = {_file(test) for test in found}
            found_or_beside = (test for test in self.seconds if _file(test) in files)
            return sorted(found_or_beside, key=lambda test: (test not in found, self.seconds[test], test))
        if mutant.lines:
            found = {test for line in mutant.lines for test in self._tests.get(_place(*line), ())}
            return sorted(found & self.seconds.keys(), key=lambda test: (self.seconds[test], test))
        found = {test for test in self.seconds if test.startswith(STORE) and _name(test) not in BY_TEXT}
        words = set(re.findall("[a-z]{4,}", f"{mutant.name} {mutant.what}"))

        def late(test: str) -> tuple[int, int, float, str]:
            said = sum(word in test for word in words)
            return _distance(test, mutant.words), -said, self.seconds[test], test

        return sorted(found, key=late)


def _file(test: str) -> str:
    return test.partition("::")[0]


def _name(test: str) -> str:
    return test.rpartition("::")[2].partition("[")[0]


def _distance(test: str, words: tuple[str, ...]) -> int:
    if any(re.search(rf"(?<!\w){word}(?!\w)", test) for word in words):
        return 0
    return 1 if any(word in test for word in words) else 2


def verdicts(files: Sequence[str] = ()) -> pathlib.Path:
    """Where to keep what is found out of the present state of the sources by the tests of these files.

    What no test of some files notices may be noticed by others, so each set of files has its own place.

    Args:
        files: as `recorded` takes them.
    """
    asked = hashlib.sha256("\n".join(sorted(map(str, _test_files(files)))).encode()).hexdigest()[:16]
    return _kept(_fingerprint((*SOURCES, *TESTED, *JUDGES))) / f"verdicts-{asked}"


def recorded(files: Sequence[str], mutants: Sequence[Mutant], *, rows: bool = True) -> Reach:
    """What tests reach: of each file as it was recorded of these very sources, else recorded now, which takes minutes.

    Args:
        files: the files of the tests, or patterns; none for all that may notice a mutant.
        mutants: every mutant.
        rows: whether mutants of the statements between rows are asked about; to watch these takes most of the time.
    """
    named = _test_files(files)
    folder = _kept(_fingerprint((*SOURCES, *TESTED, *JUDGES), helpers_alone=True))
    ending = ".rows.json" if rows else ".json"
    kept = {file.relative_to(ROOT).as_posix(): folder / f"{_digest(file)}{ending}" for file in named}
    missing = [file for file, record in kept.items() if not record.exists()]
    if missing:
        for record in _record(missing, sorted({line for mutant in mutants for line in mutant.lines}), rows):
            kept[record["file"]].write_text(json.dumps(record), "utf-8")
    return Reach(json.loads(record.read_text("utf-8")) for record in kept.values())


def _test_files(files: Sequence[str]) -> list[pathlib.Path]:
    """The files of tests that are named by themselves, by folders or by patterns; all that count where none is."""
    found = [path for each in files or TESTS for path in sorted(ROOT.glob(each))]
    each_file = (file for path in found for file in (sorted(path.rglob("test_*.py")) if path.is_dir() else [path]))
    return list(dict.fromkeys(each_file))


def _kept(key: str) -> pathlib.Path:
    folder = KEPT / key
    if not folder.exists():
        folder.mkdir(parents=True)
        (KEPT / ".gitignore").write_text("*\n", "utf-8")
        for old in sorted(KEPT.glob("[!.]*/"), key=lambda each: each.stat().st_mtime)[:-MOST]:
            shutil.rmtree(old)
    return folder


def _record(files: Sequence[str], lines: Sequence[Line], rows: bool) -> Iterator[dict[str, Any]]:
    """Run the tests of files, and give for each file what its tests reach; of an interrupted run, of those it got to.

    Raises:
        SystemExit: the tests did not run.
    """
    options = ["-q", "-p", "tools.mutants.plugin", "-p", "no:cacheprovider", "--hypothesis-seed=0"]
    with tempfile.TemporaryDirectory() as folder:
        asked, answers = pathlib.Path(folder, "lines"), pathlib.Path(folder, "answers")
        asked.write_text(json.dumps(lines), "utf-8")
        answers.touch()
        told = {plugin.LINES: str(asked), plugin.RESULT: str(answers), **({plugin.ROWS: "yes"} if rows else {})}
        try:
            done = subprocess.run(
                [sys.executable, "-m", "pytest", *options, *files],
                cwd=ROOT,
                env=os.environ | told,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
            )
        finally:
            records = {record["file"]: record for record in map(json.loads, answers.read_text("utf-8").splitlines())}
            yield from records.values()
        if done.returncode not in RAN:
            raise SystemExit(f"the tests did not run:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        for file in files:
            if file not in records:
                yield {"file": file, "failed": [], "passed": {}, "reached": {}}


def _place(file: str, line: int) -> str:
    return f"{file}:{line}"


def _digest(file: pathlib.Path) -> str:
    return hashlib.sha256(file.relative_to(ROOT).as_posix().encode() + file.read_bytes()).hexdigest()[:16]


def _fingerprint(places: Sequence[str], *, helpers_alone: bool = False) -> str:
    digest = hashlib.sha256()
    for file in (file for file in _files(places) if not (helpers_alone and file.name.startswith("test_"))):
        digest.update(file.relative_to(ROOT).as_posix().encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def _files(places: Sequence[str]) -> Iterator[pathlib.Path]:
    for found in (path for place in places for path in sorted(ROOT.glob(place))):
        for file in sorted(found.rglob("*")) if found.is_dir() else (found,):
            if file.is_file() and "__pycache__" not in file.parts:
                yield file
