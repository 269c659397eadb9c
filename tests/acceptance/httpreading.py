"""What HTTP and the pages show of a database, from the application in the test's own process."""

from __future__ import annotations

import contextlib
import pathlib
from collections.abc import Iterator
from typing import Any

import pytest

ENVELOPE = ("schema", "db", "warnings")
"""Keys with which the command line wraps what it answers, and HTTP does not."""


@contextlib.contextmanager
def reading(database: pathlib.Path) -> Iterator[Any]:
    """A client of the application on a database, as any reader on loopback has it; nothing is executed meanwhile."""
    pytest.importorskip("fastapi", reason="HTTP needs the extra `web`")
    from fastapi.testclient import TestClient

    from orchestrator import bootstrap
    from orchestrator.doors.web import application
    from orchestrator.doors.web.access import Access

    faults: list[Exception] = []
    script = database.with_name("no-steps.json")
    script.write_text("[]")
    service = bootstrap.open_service(
        database=str(database), executor=f"scripted:{script}", environment={}, tell=faults.append
    )
    try:
        yield TestClient(application.create(service, Access(None), hosts=("testserver",)))
    finally:
        service.pool.close()
    assert faults == []


def bare(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer of the command line without its envelope."""
    return {name: value for name, value in answer.items() if name not in ENVELOPE}
