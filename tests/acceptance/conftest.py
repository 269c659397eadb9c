"""Servers and projects with databases of their own."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator

import pytest

from tests.acceptance import replhouse
from tests.acceptance.replhouse import House
from tests.acceptance.webhouse import STEPS, Server, WebHouse


@pytest.fixture(scope="session")
def initialised(tmp_path_factory: pytest.TempPathFactory, script: pathlib.Path) -> pathlib.Path:
    """A database to copy from."""
    return replhouse.initialised(tmp_path_factory.mktemp("initialised"), script)


@pytest.fixture(scope="module")
def shared(
    tmp_path_factory: pytest.TempPathFactory, stand_in: pathlib.Path, initialised: pathlib.Path
) -> Iterator[WebHouse]:
    """A house for a whole module."""
    made = WebHouse(tmp_path_factory.mktemp("web"), stand_in, initialised)
    yield made
    made.close()


@pytest.fixture(scope="module")
def server(shared: WebHouse) -> Server:
    """A server for a whole module, whose executor knows the common steps."""
    return shared.serve(steps=STEPS)


@pytest.fixture
def web(tmp_path: pathlib.Path, stand_in: pathlib.Path, initialised: pathlib.Path) -> Iterator[WebHouse]:
    """A house of the test's own."""
    made = WebHouse(tmp_path, stand_in, initialised)
    yield made
    made.close()


@pytest.fixture
def installed_web(tmp_path: pathlib.Path, script: pathlib.Path, initialised: pathlib.Path) -> Iterator[WebHouse]:
    """A house whose servers are started as a user starts them, for tests of how they start and end."""
    made = WebHouse(tmp_path, script, initialised)
    yield made
    made.close()


@pytest.fixture
def house(
    tmp_path: pathlib.Path, script: pathlib.Path, initialised: pathlib.Path, stand_in: pathlib.Path
) -> Iterator[House]:
    """A project of the test's own, in which tasks are run."""
    made = House(tmp_path, script, initialised, stand_in)
    yield made
    made.close()


@pytest.fixture
def installed_house(tmp_path: pathlib.Path, script: pathlib.Path, initialised: pathlib.Path) -> Iterator[House]:
    """One whose commands are started as a user starts them, for tests of terminals and processes."""
    made = House(tmp_path, script, initialised)
    yield made
    made.close()
