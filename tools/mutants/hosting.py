"""Run tests against mutants: pytest collects once, and each mutant is a fork of that process.

So a mutant costs no more than the tests that it runs, and what one of them breaks no other can see.
"""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, NoReturn

import pytest

from tests.integration.app import twins
from tools.mutants import altering

KILLED, HUNG, SURVIVED, UNREACHED, BROKEN = "killed", "killed by timeout", "survived", "no test reaches it", "broken"
REDUNDANT, UNTRIED = "redundant", "untried"
"""Survived, as it stands behind another guard; and not judged yet."""
POLL_S = 0.01
COUNT = "begun"


class Trial(NamedTuple):
    """A mutant by its name, and the tests to run against it until one fails.

    name: empty for the program as it is, of which every test is run; tests: their ids in this order, None for all that
    are collected; lenient: whether it is judged by those of them that are there.
    """

    name: str
    tests: Sequence[str] | None
    lenient: bool = False


class Outcome(NamedTuple):
    """What became of a trial: one of the words above, the test that failed, and how.

    Of the program as it is, all tests that failed are named, each in a line.
    """

    word: str
    test: str = ""
    sentence: str = ""


Told = Callable[[int, Outcome], None]
"""Takes the place of a trial and its outcome, as soon as it is known. It may raise `Stop`."""


class Stop(Exception):
    """What was heard makes the other trials worthless."""


class Host:
    """The plugin: instead of running the collected tests it runs the trials."""

    def __init__(self, trials: Sequence[Trial], told: Told, jobs: int, timeout: float) -> None:
        self.trials, self.told, self.jobs, self.timeout = trials, told, jobs, timeout
        self.broken: list[str] = []
        self.stopped = ""
        # What the program as it is does is known before anything is said of a mutant.
        self.alone = bool(trials) and not trials[0].name

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.broken.append(report.nodeid)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items = {item.nodeid: item for item in session.items}
        altering.prepare()
        if any(trial.name.startswith(altering.READING) for trial in self.trials):
            twins.world()
        waiting = iter(enumerate(self.trials))
        running: dict[int, _Child] = {}
        try:
            while _fill(running, waiting, self._room(), lambda trial: self._begin(session, items, trial)):
                time.sleep(POLL_S)
                for place, child in list(running.items()):
                    outcome = child.look(self.timeout)
                    if outcome is not None:
                        del running[place]
                        self.alone &= place != 0
                        self.told(place, outcome)
        except Stop as reason:
            self.stopped = str(reason)
        finally:
            for child in running.values():
                child.stop()
        return True

    def _room(self) -> int:
        return 1 if self.alone else self.jobs

    def _begin(self, session: pytest.Session, items: dict[str, pytest.Item], trial: Trial) -> _Child:
        wanted = list(items) if trial.tests is None else trial.tests
        chosen = [items[test] for test in wanted if test in items]
        child = _Child()
        if len(chosen) < len(wanted) and not trial.lenient:
            child.outcome = Outcome(BROKEN, "", "some of its tests were not collected")
        elif not chosen:
            child.outcome = Outcome(UNREACHED)
        else:
            child.start(lambda: _try(session, trial.name, chosen, child.folder))
        return child


def _fill(
    running: dict[int, _Child], waiting: Iterator[tuple[int, Trial]], jobs: int, begin: Callable[[Trial], _Child]
) -> bool:
    """Start trials while there is room; whether any runs."""
    while len(running) < jobs:
        following = next(waiting, None)
        if following is None:
            break
        running[following[0]] = begin(following[1])
    return bool(running)


class _Child:
    """A fork that tries one mutant, in a folder of its own."""

    def __init__(self) -> None:
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="mutant-"))
        self.begun, self.test, self.pid = time.monotonic(), 0, 0
        self.outcome: Outcome | None = None

    def start(self, work: Callable[[], Outcome]) -> None:
        self.pid = os.fork()
        if self.pid == 0:
            _work(work, self.folder / "outcome.json")

    def look(self, timeout: float) -> Outcome | None:
        """The outcome, once there is one. Many tests may take long, one may not."""
        if self.pid and os.waitpid(self.pid, os.WNOHANG)[0]:
            self.pid, self.outcome = 0, self._answer()
        elif self.pid and (at := _at(self.folder)) != self.test:
            self.begun, self.test = time.monotonic(), at
        elif self.pid and time.monotonic() - self.begun > timeout:
            self.outcome = Outcome(HUNG)
        if self.outcome is not None:
            self.stop()
        return self.outcome

    def _answer(self) -> Outcome:
        file = self.folder / "outcome.json"
        return Outcome(*json.loads(file.read_text("utf-8"))) if file.exists() else Outcome(BROKEN, "", "no answer")

    def stop(self) -> None:
        """End the process, with what it started, and remove its folder."""
        if self.pid:
            os.killpg(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            self.pid = 0
        shutil.rmtree(self.folder, ignore_errors=True)


def _at(folder: pathlib.Path) -> int:
    """How many tests a trial has begun: as many bytes as the file has that counts them."""
    with contextlib.suppress(FileNotFoundError):
        return (folder / COUNT).stat().st_size
    return 0


def _work(work: Callable[[], Outcome], file: pathlib.Path) -> NoReturn:
    """The life of a fork: nothing of the process that it came from goes on in it."""
    try:
        os.setsid()
        silence = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(silence, stream)
        answer = work()
    except BaseException as error:
        answer = Outcome(BROKEN, "", repr(error)[:200])
    file.write_text(json.dumps(answer), "utf-8")
    os._exit(0)


def _try(session: pytest.Session, name: str, items: Sequence[pytest.Item], folder: pathlib.Path) -> Outcome:
    tempfile.tempdir = os.environ["TMPDIR"] = str(folder)
    factory: Any = session.config._tmp_path_factory  # type: ignore[attr-defined]  # pytest offers no way to set it
    factory._basetemp = folder / "tests"
    factory._basetemp.mkdir()
    failures = _Failures()
    session.config.pluginmanager.register(failures)
    if name:
        altering.alter(name)
    for item, following in zip(items, [*items[1:], None], strict=True):
        with (folder / COUNT).open("ab") as count:
            count.write(b".")
        session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if failures.found and name:
            return Outcome(KILLED, *failures.found[0])
    if failures.found:
        tests, how = zip(*failures.found, strict=True)
        return Outcome(KILLED, "\n".join(tests), "\n".join(how))
    return Outcome(SURVIVED)


class _Failures:
    """The first failure: the test, and the sentence that it ended with."""

    def __init__(self) -> None:
        self.found: list[tuple[str, str]] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.found.append((report.nodeid, sentence(report)))


def sentence(report: pytest.TestReport) -> str:
    """How a test failed, in one line."""
    crash = getattr(report.longrepr, "reprcrash", None)
    said = str(crash.message if crash else report.longrepr or "").strip()
    return said.splitlines()[0][:200] if said else ""


def run(trials: Sequence[Trial], told: Told, *, files: Sequence[str] = (), jobs: int = 1, timeout: float = 120) -> None:
    """Run trials in this process, which has to be one of its own: it collects, and so imports, the tests.

    Args:
        trials: what to try.
        told: hears each outcome, not always in order.
        files: files of tests to collect beside those that the trials name.
        jobs: forks at a time.
        timeout: seconds for a test.

    Raises:
        SystemExit: files did not load, or who was told stopped it.
    """
    named = dict.fromkeys(test.partition("::")[0] for trial in trials for test in trial.tests or ())
    host = Host(trials, told, jobs, timeout)
    options = ["-p", "tools.mutants.plugin", "-p", "no:terminal", "-p", "no:cacheprovider", "--hypothesis-seed=0"]
    # Modules that the mutants were read off are imported before pytest starts.
    options += ["-W", "ignore::pytest.PytestAssertRewriteWarning", "-o", "addopts=--import-mode=importlib"]
    status = pytest.main([*options, *dict.fromkeys([*files, *named])], plugins=[host])
    if host.stopped:
        raise SystemExit(host.stopped)
    if status != pytest.ExitCode.OK:
        raise SystemExit(f"the tests do not load (pytest: {status!r}): {', '.join(host.broken) or 'no file'}")
