"""What a server needs before it listens, and how a second signal ends it."""

from __future__ import annotations

import pathlib
import shutil
import signal
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the interface needs the extra `web`")

from orchestrator.doors.web import server
from orchestrator.errors import UsageError

BEYOND = "0.0.0.0"  # noqa: S104 - refused before anything listens there


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        pytest.param({"host": BEYOND}, "Beyond loopback a server needs a token.", id="no token"),
        pytest.param({"token": "short"}, "A token needs at least 16 characters.", id="a short token"),
    ],
)
def test_a_server_does_not_start_without_a_good_token(
    tmp_path: pathlib.Path, settings: dict[str, Any], said: str
) -> None:
    flags = {"database": str(tmp_path / "nowhere.db"), "environment": {}}
    with pytest.raises(UsageError) as refused:
        server.serve(server.Settings(**settings, port=0, flags=flags), pytest.fail)
    assert refused.value.message == said


@pytest.mark.parametrize("signals", [1, 2])
def test_the_second_signal_ends_a_server_as_an_interrupt(
    tmp_path: pathlib.Path, database: pathlib.Path, monkeypatch: pytest.MonkeyPatch, signals: int
) -> None:
    copy = shutil.copy(database, tmp_path / "orchestrator.db")

    def run(serving: server._Server, sockets: list[Any]) -> None:
        for _ in range(signals):
            serving.handle_exit(signal.SIGTERM, None)
        for each in sockets:
            each.close()
        serving._state.service.pool.close()

    monkeypatch.setattr(server._Server, "run", run)
    settings = server.Settings(port=0, flags={"database": str(copy), "environment": {}})
    if signals == 1:
        server.serve(settings, pytest.fail)
        return
    with pytest.raises(KeyboardInterrupt):
        server.serve(settings, pytest.fail)
