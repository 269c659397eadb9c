"""Which tests can notice a mutant: recorded once for the present state of the sources, and kept in `.mutants`."""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence

import coverage

from tests.mutants import plugin
from tests.mutants.catalogue import ROOT, Mutant

KEPT = ROOT / ".mutants"
SOURCES = ("orchestrator", "migrations", "workflow", "agents", "tests/unit", "tests/integration", "tests/acceptance")
"""What the record is about: where these have changed, it is made anew."""
JUDGES = tuple(f"tests/mutants/{name}.py" for name in ("catalogue", "altering", "sqltext", "hosting", "plugin"))
"""What a verdict depends on besides: where these have changed, every mutant is tried anew."""
TESTS = (
    "tests/unit",
    "tests/integration/app",
    "tests/integration/tasks",
    "tests/integration/web",
    "tests/integration/test_python_interface.py",
    "tests/acceptance/test_replay.py",
    *(f"tests/integration/store/test_{name}*.py" for name in ("guards", "attacks", "completion", "path_properties")),
)
STORE = ("tests/integration/store/", "tests/integration/app/test_criteria.py")
"""Tests that meet statements of the database; of these it is not recorded which."""
BY_TEXT = (
    "test_each_part_has_a_trigger_with_its_own_message",
    "test_the_triggers_of_a_table_call_no_function_but_the_tripwire",
    "test_the_database_keeps_every_statement_as_it_is_declared",
)
"""Tests of the database that read its statements instead of meeting them."""


class Reach:
    """The tests that pass without a mutant, and the lines that each of them executes.

    verdicts: where to keep what is found out from it.
    """

    def __init__(self, data: pathlib.Path, answers: pathlib.Path, verdicts: pathlib.Path) -> None:
        self.verdicts = verdicts
        answer = json.loads(answers.read_text("utf-8"))
        self.failing: list[str] = answer["failed"]
        self.seconds: dict[str, float] = answer["passed"]
        self._sizes = dict.fromkeys(self.seconds, 0)
        self._tests: dict[str, dict[int, list[str]]] = {}
        lines = coverage.CoverageData(str(data))
        lines.read()
        for file in lines.measured_files():
            by_line = lines.contexts_by_lineno(file)
            self._tests[pathlib.Path(file).relative_to(ROOT).as_posix()] = by_line
            for test in (test for tests in by_line.values() for test in tests if test in self._sizes):
                self._sizes[test] += 1

    def tests(self, mutant: Mutant) -> list[str]:
        """The tests that can notice a mutant, those first that will soonest."""
        if mutant.lines:
            found = {test for file, line in mutant.lines for test in self._tests.get(file, {}).get(line, ())}
            return sorted(found & self._sizes.keys(), key=lambda test: (self._sizes[test], test))
        found = {test for test in self.seconds if test.startswith(STORE) and _name(test) not in BY_TEXT}
        return sorted(found, key=lambda test: (_distance(test, mutant.words), self.seconds[test], test))


def _name(test: str) -> str:
    return test.rpartition("::")[2].partition("[")[0]


def _distance(test: str, words: tuple[str, ...]) -> int:
    if any(re.search(rf"(?<!\w){word}(?!\w)", test) for word in words):
        return 0
    return 1 if any(word in test for word in words) else 2


def recorded() -> Reach:
    """What the tests reach: as it was recorded of these very sources, else recorded now, which takes minutes."""
    key = _fingerprint(SOURCES)
    data, answers = KEPT / f"{key}.coverage", KEPT / f"{key}.json"
    verdicts = KEPT / f"{key}-{_fingerprint(JUDGES)}.verdicts"
    if not (data.exists() and answers.exists()):
        KEPT.mkdir(exist_ok=True)
        (KEPT / ".gitignore").write_text("*\n", "utf-8")
        for old in KEPT.glob("[!.]*"):
            old.unlink()
        _record(data, answers)
    return Reach(data, answers, verdicts)


def _record(data: pathlib.Path, answers: pathlib.Path) -> None:
    files = [path.relative_to(ROOT).as_posix() for each in TESTS for path in sorted(ROOT.glob(each))]
    options = ["-q", "-p", "tests.mutants.plugin", "-p", "no:cacheprovider", "--hypothesis-seed=0"]
    told = {plugin.REACH: str(data), plugin.RESULT: str(answers)}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *files],
        cwd=ROOT,
        env=os.environ | told,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if not answers.exists():
        raise SystemExit(f"the tests did not run:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")


def _fingerprint(places: Sequence[str]) -> str:
    digest = hashlib.sha256(repr(TESTS).encode())
    for file in _files(places):
        digest.update(file.relative_to(ROOT).as_posix().encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def _files(places: Sequence[str]) -> Iterator[pathlib.Path]:
    for place in (ROOT / place for place in places):
        for file in sorted(place.rglob("*")) if place.is_dir() else (place,):
            if file.is_file() and "__pycache__" not in file.parts:
                yield file
