"""What tests of every kind share."""

from __future__ import annotations

import atexit
import gc
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator

import hypothesis
import pytest

from orchestrator import errors
from orchestrator.core import suggestions
from tests import forks, lending, memory_folder, postgresql
from tools.mutants import table

memory_folder.use()

LONG = os.environ.get("ORCHESTRATOR_LONG_DRILLS") == "1"
long_form = pytest.mark.skipif(not LONG, reason="in the long form of the drills: ORCHESTRATOR_LONG_DRILLS=1")
# A busy machine is no failure of a property; the long form of the drills looks at more examples.
hypothesis.settings.register_profile("project", deadline=None, print_blob=True, max_examples=100 if LONG else 20)
# What CI finds depends on the change alone, so that it looks at few; chance looks for more wherever else they are run.
hypothesis.settings.register_profile(
    "ci", hypothesis.settings.get_profile("project"), derandomize=True, database=None,
    max_examples=100 if LONG else 10,
)  # fmt: skip
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "project")

# What this machine has seen of the tests' databases is none of the user's.
os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="orchestrator-state-")
atexit.register(shutil.rmtree, os.environ["XDG_STATE_HOME"], ignore_errors=True)

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # As a shell starts what runs in its background; every command of a test would inherit it.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Fifteen thousand tests are collected and stay: garbage is not looked for meanwhile, nor among them later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


GUARDED = table.noticing_tests(table.RESULTS)
"""The tests that fail when a guard is taken away: file below the root, then names within it."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let `--fast` choose the tests of the guards, which take a minute or two instead of all of them."""
    parser.addoption("--fast", action="store_true", help="only tests that noticed a mutant (tools/mutants/RESULTS.md)")
    parser.addoption("--store", choices=("sqlite", "postgresql"), default="sqlite", help="where use cases are tested")


def pytest_configure(config: pytest.Config) -> None:
    """Lend databases to tests; with `--store postgresql`, those of use cases have theirs on a temporary server."""
    config.addinivalue_line("markers", "sqlite(why): about a file; skipped with --store postgresql")
    if config.getoption("--store") == "postgresql":
        from tests import on_postgresql

        config.pluginmanager.register(on_postgresql)
    else:
        config.pluginmanager.register(lending.Lender())
        from tests import what_if_unchanged

        config.pluginmanager.register(what_if_unchanged.Plugin(every=LONG))


def pytest_ignore_collect(collection_path: pathlib.Path, config: pytest.Config) -> bool | None:
    """With `--fast`, read no file that has none of these tests."""
    if not config.getoption("--fast") or collection_path.suffix != ".py":
        return None
    return collection_path.relative_to(config.rootpath).as_posix() not in GUARDED or None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With `--fast`, leave the tests that noticed a mutant."""
    if not config.getoption("--fast"):
        return
    chosen = guarding(item.nodeid for item in items)
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in chosen])
    items[:] = [item for item in items if item.nodeid in chosen]


def guarding(tests: Iterable[str]) -> set[str]:
    """Those of the tests that noticed a mutant; of a function whose cases have other names by now, all cases."""
    present = set(tests)
    named = {f"{file}::{name}" for file, names in GUARDED.items() for name in names}
    renamed = {test.partition("[")[0] for test in named - present}
    return {test for test in present if test in named or test.partition("[")[0] in renamed}


Completed = subprocess.CompletedProcess[str]
Command = Callable[..., Completed]


@pytest.fixture(scope="session")
def repository() -> pathlib.Path:
    """The root of the checkout."""
    return pathlib.Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def script() -> pathlib.Path:
    """The installed command, as a user's shell would find it."""
    return pathlib.Path(sys.executable).with_name("orchestrator")


def clean_environment() -> dict[str, str]:
    """The caller's environment without settings of the product's own."""
    return {name: value for name, value in os.environ.items() if not name.startswith("ORCHESTRATOR_")}


@pytest.fixture(scope="session")
def forked(script: pathlib.Path) -> Iterator[forks.Forks]:
    """The process of which most calls are forks."""
    made = forks.Forks(script, clean_environment(), (forks.PRODUCT,))
    yield made
    made.close()


@pytest.fixture(scope="session")
def stand_in(forked: forks.Forks, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """What is started in the place of the installed command where a test is not about its start."""
    return forked.stand_in(tmp_path_factory.mktemp("stand-in") / "orchestrator")


@pytest.fixture(scope="session")
def child(tmp_path_factory: pytest.TempPathFactory) -> Iterator[pathlib.Path]:
    """What stands in for the program that asks a provider."""
    from tests.contract.executors import sdks

    with sdks.loaded(tmp_path_factory.mktemp("child")) as path:
        yield path


@pytest.fixture
def sdks_loaded(child: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the program that asks a provider be a fork of one that has the providers' packages loaded."""
    from orchestrator.runner.executors import api

    monkeypatch.setattr(api, "CHILD", child)


@pytest.fixture
def environment(tmp_path: pathlib.Path) -> dict[str, str]:
    """The surroundings of a command: none of the caller's own settings, and a database of the test's own."""
    return clean_environment() | {"ORCHESTRATOR_DB": str(tmp_path / "orchestrator.db")}


@pytest.fixture
def command(script: pathlib.Path, environment: dict[str, str], tmp_path: pathlib.Path) -> Command:
    """Run the installed command in a process of its own: `command("status", "S1", "--json")`."""

    def run(*arguments: str, stdin: str = "", python: tuple[str, ...] = ()) -> Completed:
        argv = [sys.executable, *python, str(script), *arguments]
        return subprocess.run(
            argv, input=stdin, capture_output=True, text=True, env=environment, cwd=tmp_path, timeout=120, check=False
        )

    return run


PRINTED = ("GATE_FAILED",)
"""Codes of errors that quote a command's output; whoever has to mend it gets it unchanged."""
PATHS = ("db", "path", "resource")
"""Keys of an error's data that hold a path, which the doors for callers elsewhere leave out by their names."""


@pytest.fixture(autouse=True, scope="session")
def _no_path_in_plain_text(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Every error of every test in this process names a path as a local part, which the doors for callers elsewhere
    leave out, and not in plain text."""
    places = (str(tmp_path_factory.getbasetemp()), str(pathlib.Path(__file__).parents[1]))
    make = errors.OrchestratorError.__init__

    def checked(self: errors.OrchestratorError, code: str, message: str, suggestion: str = "", **data: object) -> None:
        rest = {name: value for name, value in data.items() if name not in PATHS}
        shown = str(suggestions.elsewhere([message, suggestion, rest]))
        assert code in PRINTED or not any(place in shown for place in places), shown
        make(self, code, message, suggestion, **data)

    errors.OrchestratorError.__init__ = checked  # type: ignore[method-assign, assignment]
    yield
    errors.OrchestratorError.__init__ = make  # type: ignore[method-assign]


@pytest.fixture(scope="session")
def pg_folder() -> Iterator[pathlib.Path]:
    """The folder of the socket of a PostgreSQL server that runs as long as the tests of this process."""
    programs = postgresql.programs()
    if programs is None:
        pytest.skip("no PostgreSQL server, 14 or later, is installed")
    with postgresql.server(programs) as folder:
        yield folder


@pytest.fixture(scope="session")
def pg_template(pg_folder: pathlib.Path) -> str:
    """The name of a database with schema, agents and workflow, which a role of its own owns."""
    return postgresql.template(pg_folder)


@pytest.fixture
def pg_url(pg_folder: pathlib.Path, pg_template: str) -> Iterator[str]:
    """The URL of a database of the test's own."""
    with postgresql.database(pg_folder, pg_template) as url:
        yield url
