"""Servers and projects with databases of their own."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Iterator
from typing import Any

import pytest

from tests.acceptance import replhouse
from tests.acceptance.play import Command, Process, Story, Told, initialise, two_slots
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


@pytest.fixture(scope="session")
def of_slots(script: pathlib.Path, tmp_path_factory: pytest.TempPathFactory) -> dict[int, pathlib.Path]:
    """Databases that the installed command made, by the number of slots of their workflow."""
    folder = tmp_path_factory.mktemp("of_slots")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ORCHESTRATOR_")}
    return {
        4: initialise(environment, script, folder / "four.db"),
        2: initialise(environment, script, folder / "two.db", two_slots(folder)),
    }


@pytest.fixture(params=["process", "command"])
def tell(
    request: pytest.FixtureRequest, environment: dict[str, str], stand_in: pathlib.Path, tmp_path: pathlib.Path
) -> Iterator[Told]:
    """Begin a story: `tell(groups=("A",))`, on two slots with `slots=2`."""
    opened: list[Command] = []

    def begin(*, slots: int = 4, **more: Any) -> Story:
        if request.param == "process":
            return Story(Process(two_slots(tmp_path) if slots == 2 else None), **more)
        opened.append(Command(environment, stand_in, request.getfixturevalue("of_slots")[slots]))
        return Story(opened[-1], **more)

    yield begin
    for command in opened:
        command.close()
