"""Servers on a PostgreSQL database: connections that are kept, steps that are heard, and what is told of failures.

Source: spec 90, sections 1 and 2.
"""

from __future__ import annotations

import contextlib
import pathlib
import re
import threading
import time

import pytest

pytest.importorskip("fastapi", reason="the pages need the extra `web`")

from orchestrator import bootstrap
from orchestrator.app.kernel import operations
from orchestrator.doors.mcp.tool_calls import Caller, Settings
from orchestrator.errors import EnvironmentProblem
from tests import postgresql
from tests.integration.web.asgi import TOKEN, Web

PATHS = ("/", "/sessions", "/sessions/S1", "/sessions/S1/verdict", "/projects", "/api/health", "/api/sessions/S1")
BY_TOKEN = {"authorization": f"Bearer {TOKEN}"}


def test_pages_are_answered_also_after_every_connection_was_lost(
    tmp_path: pathlib.Path, pg_folder: pathlib.Path, pg_url: str
) -> None:
    owner = postgresql.Connection(pg_folder)
    name = re.findall(r"/(test\d+)\?", pg_url)[0]
    with contextlib.closing(owner), contextlib.closing(Web(tmp_path, pg_url)) as web:
        web.call("session create", id="S1", goal="one change")
        before = {path: web.get(path, **BY_TOKEN).status for path in PATHS}
        owner.run(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}';")
        after = {path: web.get(path, **BY_TOKEN).status for path in PATHS}
        assert before == after == dict.fromkeys(PATHS, 200)
        assert "one change" in web.get("/sessions/S1", **BY_TOKEN).text
        assert web.faults == []


def test_a_server_that_may_only_read_says_so(tmp_path: pathlib.Path, pg_folder: pathlib.Path, pg_url: str) -> None:
    owner = postgresql.Connection(pg_folder)
    with contextlib.closing(owner), contextlib.closing(Web(tmp_path, pg_url)) as web:
        web.service.pool.check_writable()
        owner.run("ALTER ROLE team SET default_transaction_read_only = on;")
        try:
            with pytest.raises(EnvironmentProblem) as caught:
                web.service.pool.check_writable()
            with pytest.raises(EnvironmentProblem) as trial, web.service.pool.lent(write=True, trial=True):
                pass
        finally:
            owner.run("ALTER ROLE team RESET ALL;")
        assert (caught.value.code, trial.value.code) == ("READ_ONLY",) * 2


def test_a_step_is_heard_when_it_is_committed(tmp_path: pathlib.Path, pg_url: str) -> None:
    with contextlib.closing(Web(tmp_path, pg_url)) as web:
        listener = web.service.pool.listener()
        assert listener is not None
        assert listener.wait(0.0)
        began = time.monotonic()
        assert not listener.wait(0.05)
        assert time.monotonic() - began >= 0.05
        step = threading.Timer(0.05, web.call, ("session create",), {"id": "S1"})
        step.start()
        assert listener.wait(60.0)
        step.join()
        assert time.monotonic() - began < 50
        listener.close()


def test_a_main_agent_over_mcp_works_on_a_server(pg_url: str) -> None:
    caller = Caller(Settings(None, None, pg_url))
    caller.prepare()
    try:
        for tool, given in (
            ("create_session", {"id": "S1", "goal": "one change"}),
            ("handoff", {"start": True}),
            ("get_status", {}),
        ):
            found = caller.call(caller.tools[tool], given).document
            assert found["success"], found
    finally:
        caller.close()
    context = bootstrap.open_context(pg_url, write=False, door="test")
    with contextlib.closing(context.connection):
        assert operations.call(context, "audit verify")["findings"] == []
