"""`status --open`: the page of a session, from the server that serves this database."""

from __future__ import annotations

import http.server
import json
import pathlib
import sqlite3
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from tests.integration.cli.conftest import Run

CREATED = "SELECT created_at FROM sessions WHERE id = 'S1'"


class Handler(http.server.BaseHTTPRequestHandler):
    """A server that answers what it is told to."""

    answers: dict[str, tuple[int, Any]]

    def do_GET(self) -> None:
        status, answer = self.answers.get(self.path, (404, {}))
        self.send_response(status)
        self.end_headers()
        self.wfile.write(answer if isinstance(answer, bytes) else json.dumps(answer).encode())

    def log_message(self, *_: object) -> None:
        """Nothing is said of requests."""


@pytest.fixture
def server() -> Iterator[Any]:
    served = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=served.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield served
    served.shutdown()
    thread.join()
    served.server_close()


def address(server: Any) -> str:
    return f"http://127.0.0.1:{server.server_address[1]}"


def of_s1(database: pathlib.Path) -> dict[str, Any]:
    connection = sqlite3.connect(database)
    (created,) = connection.execute(CREATED).fetchone()
    connection.close()
    return {"session": {"id": "S1", "created_at": created}}


def test_the_page_is_named_where_no_browser_has_a_window(run: Run, server: Any, database: pathlib.Path) -> None:
    Handler.answers = {"/api/sessions/S1": (200, of_s1(database))}
    done = run("status", "--open", "--url", f"{address(server)}/", "--json")
    assert (done.returncode, json.loads(done.stdout)["url"]) == (0, f"{address(server)}/sessions/S1")
    assert json.loads(done.stdout)["opened"] is False


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        pytest.param((404, {}), "it answers 404", id="no such session"),
        pytest.param((401, {}), "it wants a sign-in", id="closed"),
        pytest.param((200, {"session": {"created_at": "x"}}), "another database", id="another database"),
        pytest.param((200, b"<html>"), "another program answers", id="another program"),
    ],
)
def test_a_server_that_does_not_serve_this_database_is_said(
    run: Run, server: Any, answer: tuple[int, Any], why: str
) -> None:
    Handler.answers = {"/api/sessions/S1": answer}
    done = run("status", "S1", "--open", "--url", address(server), "--json")
    problem = json.loads(done.stdout)
    assert (done.returncode, problem["code"]) == (5, "NOT_SERVED")
    assert why in problem["error"]
    assert "orchestrator serve --port 0" in problem["suggestion"]


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        pytest.param(("--open", "--url", "http://127.0.0.1:9"), 5, b"orchestrator serve --port 9", id="nobody there"),
        pytest.param(("--open", "--url", "ftp://x"), 64, b"--url is the server's address", id="no address"),
        pytest.param(("--url", "http://127.0.0.1:9"), 64, b"--url needs --open", id="not opened"),
        pytest.param(("--open", "--watch"), 64, b"cannot be combined", id="watched"),
    ],
)
def test_bad_input_says_what_to_type(run: Run, words: tuple[str, ...], status: int, said: bytes) -> None:
    done = run("status", "S1", *words)
    assert done.returncode == status
    assert said in done.stderr
