"""What tests of the pages share: an application in the test's own process."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Iterator

import pytest

pytest.importorskip("fastapi", reason="the pages need the extra `web`")

from tests.integration.web import asgi
from tests.integration.web.asgi import Web

Make = Callable[..., Web]


@pytest.fixture(scope="session")
def database(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """An initialised database, to be copied."""
    return asgi.initialised(tmp_path_factory.mktemp("web") / "orchestrator.db")


@pytest.fixture
def make(tmp_path: pathlib.Path, database: pathlib.Path) -> Iterator[Make]:
    """An application, made to measure."""
    made: list[Web] = []

    def build(**settings: object) -> Web:
        made.append(Web(tmp_path, database, **settings))  # type: ignore[arg-type]
        return made[-1]

    yield build
    for web in made:
        web.close()


@pytest.fixture
def web(make: Make) -> Web:
    """An application as it is on loopback."""
    return make()
