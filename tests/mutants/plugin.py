"""What pytest is told for the mutants: properties of few examples, and a record of what each test reaches."""

from __future__ import annotations

import collections
import json
import os
import pathlib
import warnings
from collections.abc import Iterator
from typing import Any

import hypothesis
import pytest

from tests.mutants import relations

MEASURED = ("orchestrator.core", "orchestrator.app", "orchestrator.doors.web")
EXAMPLES = 25
"""Examples of a property that does not say how many it wants; failures are not made smaller."""
ENOUGH = 4
"""Tests of a file in which a statement answers otherwise, of each mutant of one."""
REACH, RESULT, ROWS = "MUTANTS_REACH", "MUTANTS_RESULT", "MUTANTS_ROWS"
"""Where the record is wanted, the environment names two files: for the lines, and for what passed and failed. Whether
statements between rows are watched as well."""


class Reach:
    """Notes which lines of the program each test executes, and which tests pass."""

    def __init__(self) -> None:
        # Only a run that records needs it.
        import coverage

        self.coverage = coverage.Coverage(data_file=os.environ[REACH], source=list(MEASURED), config_file=False)
        self.coverage.start()
        self.test = ""
        self.told: dict[str, list[str]] = {}
        self.of_file: collections.Counter[str] = collections.Counter()
        if ROWS in os.environ:
            relations.watch(self.note, lambda mutant: self.of_file[mutant] < ENOUGH)
        self.failed: list[str] = []
        self.passed: dict[str, float] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[Any]:
        if item.nodeid.partition("::")[0] != self.test.partition("::")[0]:
            self.of_file.clear()
        self.test = item.nodeid
        self.coverage.switch_context(self.test)
        answer = yield
        self.coverage.switch_context("")
        return answer

    def note(self, mutant: str) -> None:
        """A statement between rows answers otherwise in this test without one of its terms."""
        tests = self.told.setdefault(mutant, [])
        if tests[-1:] != [self.test]:
            tests.append(self.test)
            self.of_file[mutant] += 1

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.failed.append(report.nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.append(report.nodeid)
        elif report.when == "call" and report.passed:
            self.passed[report.nodeid] = report.duration

    def pytest_sessionfinish(self) -> None:
        self.coverage.stop()
        with warnings.catch_warnings():
            # A part of the program that no chosen test imports is no fault.
            warnings.simplefilter("ignore")
            self.coverage.save()
        text = json.dumps({"failed": self.failed, "passed": self.passed, "told": self.told})
        pathlib.Path(os.environ[RESULT]).write_text(text, "utf-8")


def pytest_configure(config: pytest.Config) -> None:
    """Set up what is wanted."""
    phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
    hypothesis.settings.register_profile("mutants", deadline=None, max_examples=EXAMPLES, phases=phases, database=None)
    hypothesis.settings.load_profile("mutants")
    if RESULT in os.environ:
        config.pluginmanager.register(Reach())
