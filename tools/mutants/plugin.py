"""What pytest is told for the mutants: properties of few examples, and a record of what each test reaches."""

from __future__ import annotations

import collections
import json
import os
import pathlib
from collections.abc import Iterator
from typing import Any

import hypothesis
import pytest

from tools.mutants import probing, relations

EXAMPLES = 25
"""Examples of a property that does not say how many it wants; failures are not made smaller."""
ENOUGH = 4
"""Tests of a file in which a statement answers otherwise, of each mutant of one."""
LINES, RESULT, ROWS = "MUTANTS_LINES", "MUTANTS_RESULT", "MUTANTS_ROWS"
"""Where the record is wanted, the environment names two files: one lists the lines that are asked about; the other one
gets a line of JSON for each file of tests, as soon as these are through. And whether statements between rows are
watched as well."""


class Reach:
    """Notes which places of the program each test reaches, and which tests pass."""

    def __init__(self) -> None:
        self.test = ""
        self.files: dict[str, dict[str, Any]] = {}
        self.of_file: collections.Counter[str] = collections.Counter()
        if ROWS in os.environ:
            relations.watch(self.note_rows, lambda mutant: self.of_file[mutant] < ENOUGH)

    @property
    def file(self) -> str:
        """The file of the present test."""
        return self.test.partition("::")[0]

    @property
    def record(self) -> dict[str, Any]:
        """What is known of the tests of that file."""
        return self.files.setdefault(self.file, {"file": self.file, "failed": [], "passed": {}, "reached": {}})

    def pytest_collection_finish(self) -> None:
        lines = json.loads(pathlib.Path(os.environ[LINES]).read_text("utf-8"))
        probing.install(lines, self.note)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[Any]:
        self.test = item.nodeid
        answer = yield
        if nextitem is None or nextitem.nodeid.partition("::")[0] != self.file:
            with open(os.environ[RESULT], "a", encoding="utf-8") as records:
                records.write(json.dumps(self.record) + "\n")
            self.of_file.clear()
        return answer

    def note(self, place: str) -> bool:
        """A place is reached; whether this test has not been there before."""
        if not self.test:
            return False
        tests: list[str] = self.record["reached"].setdefault(place, [])
        if tests[-1:] == [self.test]:
            return False
        tests.append(self.test)
        return True

    def note_rows(self, mutant: str) -> None:
        """A statement between rows answers otherwise in this test without one of its terms."""
        self.of_file[mutant] += self.note(mutant)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.record["failed"].append(report.nodeid)
        elif report.when == "call" and report.passed:
            self.record["passed"][report.nodeid] = report.duration


def pytest_configure(config: pytest.Config) -> None:
    """Set up what is wanted."""
    phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
    hypothesis.settings.register_profile("mutants", deadline=None, max_examples=EXAMPLES, phases=phases, database=None)
    hypothesis.settings.load_profile("mutants")
    if RESULT in os.environ:
        config.pluginmanager.register(Reach())
