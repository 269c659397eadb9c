"""What tests of the pages share: an application in the test's own process."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.integration.web.asgi import Web

Make = Callable[..., "Web"]


@pytest.fixture(scope="session")
def database(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """An initialised database, to be copied."""
    from tests.integration.web import asgi

    return asgi.initialised(tmp_path_factory.mktemp("web") / "orchestrator.db")


@pytest.fixture
def make(tmp_path: pathlib.Path, database: pathlib.Path) -> Iterator[Make]:
    """An application, made to measure."""
    from tests.integration.web import asgi

    made: list[Web] = []

    def build(**settings: Any) -> Web:
        made.append(asgi.Web(tmp_path, database, **settings))
        return made[-1]

    yield build
    for web in made:
        web.close()


@pytest.fixture
def web(make: Make) -> Web:
    """An application as it is on loopback."""
    return make()


@pytest.fixture
def closed(make: Make) -> Web:
    """An application as it is beyond loopback."""
    return make(reading=False)
