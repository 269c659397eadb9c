"""The server itself: where it listens, how it ends, and what it does while its database is away."""

from __future__ import annotations

import json
import os
import pathlib
import pty
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import tty
from collections.abc import Callable

import fastapi
import httpx
import pytest

from orchestrator.app.kernel import operations
from orchestrator.doors.cli.serve import LACKING
from tests.acceptance import replhouse
from tests.acceptance.replhouse import DEADLINE_S
from tests.acceptance.webhouse import SLEEPS, STEPS, WebHouse, wait_for

TREE = "(sleep 300) & echo $! >> {pids}; sleep 300 & echo $! >> {pids}; {trap}; while :; do sleep 0.05; done"


def alive(pid: str) -> bool:
    return pathlib.Path(f"/proc/{pid}").exists()


class TestTheEnd:
    @pytest.fixture
    def web(self, installed_web: WebHouse) -> WebHouse:
        """Started as a user starts it, since it is about signals and processes."""
        return installed_web

    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
    def test_is_0_and_waits_for_what_runs_for_a_while(self, number: int, web: WebHouse) -> None:
        """A run that ends within its grace ends by itself; what is queued stays queued."""
        server = web.serve("--executor", web.program("sleep 1.5; echo made > $0.x; echo it is so"))
        project = server.project(web.folder())
        first = server.chat(project, "explain it", "kept")["task_id"]
        server.until(first, "RUNNING")
        later = server.chat(project, "create b.md", "kept")["task_id"]
        assert server.stop(number) == 0
        assert server.errors == ""
        states = dict(web.rows("SELECT id, state FROM runs"))
        assert (states[first], states[later]) == ("complete", "queued")

    def test_at_a_second_signal_is_at_once_and_leaves_nothing_running(self, web: WebHouse) -> None:
        pids = web.base / "pids"
        server = web.serve("--executor", web.program(TREE.format(pids=pids, trap=":")))
        task = server.chat(server.project(web.folder()), "create notes.md")["task_id"]
        wait_for(lambda: pids.exists() and len(pids.read_text().split()) == 2)
        server.process.send_signal(signal.SIGTERM)
        time.sleep(0.5)
        began = time.monotonic()
        assert server.stop(signal.SIGTERM) == 130
        assert time.monotonic() - began < 8
        assert not any(alive(pid) for pid in pids.read_text().split())
        assert web.rows("SELECT state FROM runs WHERE id = ?", task) == [("cancelled",)]
        (log,) = web.folder().glob(".orchestrator/sessions/*/logs/task-001.json")
        assert json.loads(log.read_text())["status"] == "cancelled"

    def test_closes_streams_at_once(self, web: WebHouse) -> None:
        server = web.serve(steps=STEPS)
        with server.open.stream("GET", "/api/events") as stream:
            lines = stream.iter_lines()
            assert next(lines) == ": begins"
            began = time.monotonic()
            server.process.send_signal(signal.SIGTERM)
            assert [line for line in lines if line.startswith("data")] == []
        assert server.process.wait(10) == 0
        assert time.monotonic() - began < 4


class TestTheStart:
    def test_at_a_taken_port_is_refused_before_anything_is_executed(self, web: WebHouse) -> None:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            done = web.command("serve", "--port", str(taken.getsockname()[1]), "--json")
        found = json.loads(done.stdout)
        assert (done.returncode, found["code"], done.stderr) == (5, "ADDRESS_UNAVAILABLE", "")

    def test_at_an_address_that_is_none_is_refused(self, web: WebHouse) -> None:
        token = web.base / "token"
        token.write_text("0123456789abcdef\n")
        done = web.command("serve", "--host", "host.invalid", "--token-file", str(token), "--json")
        assert (done.returncode, json.loads(done.stdout)["code"]) == (5, "ADDRESS_UNAVAILABLE")

    @pytest.mark.parametrize("port", ["-1", "65536", "x", "99999999999999999999"])
    def test_at_a_port_that_is_none_is_refused(self, port: str, web: WebHouse) -> None:
        assert web.command("serve", f"--port={port}").returncode == 64

    @pytest.mark.parametrize("host", ["", " ", " 127.0.0.1", "127.0.0.1\t", "local host"])
    def test_at_a_blank_in_an_address_is_named(self, host: str, web: WebHouse) -> None:
        done = web.command("serve", "--host", host, "--port", "0", "--json")
        assert done.returncode == 64
        assert "is not an address" in done.stdout + done.stderr

    def test_beyond_loopback_needs_a_token(self, web: WebHouse) -> None:
        done = web.command("serve", "--host", "0.0.0.0", "--port", "0", "--json")  # noqa: S104 - is refused
        found = json.loads(done.stdout)
        assert (done.returncode, found["success"], "--token-file" in found["suggestion"]) == (64, False, True)

    @pytest.mark.parametrize("content", [b"", b"short\n", b"two words of it here\n", b"\xff" * 20, b"caf\xc3\xa9" * 5])
    def test_with_a_token_file_without_a_token_is_refused(self, content: bytes, web: WebHouse) -> None:
        token = web.base / "token"
        token.write_bytes(content)
        done = web.command("serve", "--port", "0", "--token-file", str(token))
        assert done.returncode == (64 if content == b"short\n" else 4)

    def test_without_a_database_is_refused(self, web: WebHouse) -> None:
        web.database.unlink()
        done = web.command("serve", "--port", "0", "--json")
        assert (done.returncode, json.loads(done.stdout)["code"]) == (5, "NO_DATABASE")
        assert not web.database.exists()

    def test_without_a_terminal_prints_no_link(self, web: WebHouse) -> None:
        assert web.serve().told["link"] is None

    def test_without_the_packages_names_the_command(self, web: WebHouse, script: pathlib.Path) -> None:
        """As it was installed without the extra."""
        packages = web.base / "packages"
        packages.mkdir()
        for path in pathlib.Path(fastapi.__file__).parent.parent.iterdir():
            if not path.name.startswith(("fastapi", "__")):
                (packages / path.name).symlink_to(path)
        root = pathlib.Path(__file__).resolve().parents[2]
        done = subprocess.run(
            [sys.executable, "-S", str(script), "serve", "--db", str(web.database), "--json"], text=True, check=False,
            capture_output=True, env={"PATH": "/usr/bin", "PYTHONPATH": f"{root}{os.pathsep}{packages}"}, timeout=60,
        )  # fmt: skip
        found = json.loads(done.stdout)
        assert (done.returncode, found["code"]) == (5, "EXTRA_MISSING")
        # Without site-packages nothing tells where the program came from.
        assert re.fullmatch(r"pip install '.+\[web\]'", found["suggestion"])

    def test_of_a_forbidden_executor_in_production_is_refused(self, web: WebHouse) -> None:
        done = web.command("serve", "--port", "0", ORCHESTRATOR_ENV="production", PM_EXECUTOR_MODE="recovery-stub")
        assert done.returncode == 1


def test_beyond_loopback_reading_needs_the_token_as_well(web: WebHouse) -> None:
    token = web.base / "token"
    token.write_text("0123456789abcdef\n")
    server = web.serve("--host", "0.0.0.0", "--name", "Orchestrator.Example", "--token-file", str(token))  # noqa: S104
    assert server.told["token"] is None
    url = f"http://127.0.0.1:{server.port}"
    for path in ("sessions", "inbox", "events", "projects", "task-groups", "tasks/task-1", "workflow/graph"):
        assert httpx.get(f"{url}/api/{path}").status_code == 401, path
    allowed = {"Authorization": "Bearer 0123456789abcdef"}
    for host in ("127.0.0.1", "orchestrator.example", f"ORCHESTRATOR.example:{server.port}"):
        assert httpx.get(f"{url}/api/sessions", headers={**allowed, "Host": host}).status_code == 200
    assert httpx.get(f"{url}/api/sessions", headers={**allowed, "Host": "other.example"}).status_code == 400
    made_up = {"Authorization": "Bearer orchestrator-human-made-up"}
    assert httpx.get(f"{url}/api/sessions", headers=made_up).status_code == 401
    for path in ("health", "openapi.json"):
        assert httpx.get(f"{url}/api/{path}").status_code == 401, path
    health = httpx.get(f"{url}/api/health", headers=allowed)
    assert (health.status_code, health.json()) == (200, {"status": "ok"})


def test_beyond_loopback_the_link_alone_lets_nobody_in(web: WebHouse) -> None:
    token = web.base / "token"
    token.write_text("0123456789abcdef\n")
    token.chmod(0o600)
    server = web.serve("--host", "0.0.0.0", "--token-file", str(token), steps=())  # noqa: S104 - reached by loopback
    assert ["beyond loopback" in said for said in server.told["warnings"]] == [True]
    with web.at_terminal() as context:
        address = str(operations.call(context, "human link", url=server.url)["url"])
    link = f"/open/{address.rpartition('/')[2]}"
    with httpx.Client(base_url=f"http://127.0.0.1:{server.port}", timeout=DEADLINE_S) as browser:
        assert (browser.get("/").status_code, browser.get("/sessions").status_code) == (401, 401)
        assert 'type="password"' in browser.get(link).text
        for given in ({}, {"token": ""}, {"token": "0123456789abcdeX"}, {"token": "orchestrator-human-0123456789"}):
            refused = browser.post(link, data={"person": "user", **given})
            assert (refused.status_code, dict(browser.cookies)) == (401, {})
            assert "You are not signed in" in refused.text
            assert "0123456789abcdeX" not in refused.text
        assert browser.get("/").status_code == 401
        entered = browser.post(link, data={"person": "user", "token": "0123456789abcdef"})
        assert (entered.status_code, list(browser.cookies)) == (303, [f"orchestrator_visit_{server.port}"])
        assert browser.get("/").status_code == 200
        assert browser.get("/api/sessions").status_code == 200
        assert browser.post(link, data={"person": "user", "token": "0123456789abcdef"}).status_code == 410


@pytest.mark.parametrize("form", ["words", "json"])
def test_what_it_prints_beyond_loopback_says_that_all_needs_the_token(
    form: str, web: WebHouse, script: pathlib.Path
) -> None:
    token = web.base / "token"
    token.write_text("0123456789abcdef\n")
    token.chmod(0o644)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(replhouse.OWN)}
    argv = [sys.executable, str(script), "serve", "--db", str(web.database), "--port", "0", "--host", "0.0.0.0"]  # noqa: S104
    more = ["--token-file", str(token), *(["--json"] if form == "json" else [])]
    with subprocess.Popen([*argv, *more], env=kept, cwd=web.base, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(1 if form == "json" else 5)]
        process.terminate()
    assert "can read --token-file (mode 0644)" in "".join(lines)
    assert "every request needs the token of --token-file" in "".join(lines)
    assert "0123456789abcdef" not in "".join(lines)


@pytest.mark.parametrize(("mode", "warns"), [(0o600, False), (0o640, True), (0o604, True)])
def test_a_token_that_other_users_may_read_is_warned_of(web: WebHouse, mode: int, warns: bool) -> None:
    token = web.base / "token"
    token.write_text("0123456789abcdef\n")
    token.chmod(mode)
    warning = f"Other users of this machine can read --token-file (mode {mode:04o})"
    told = web.serve("--token-file", str(token), steps=()).told["warnings"]
    assert [warning in each for each in told] == [True] * warns


@pytest.mark.parametrize(
    ("program", "why"),
    [
        pytest.param("missing.sh", "There is no program {}. Install it, or give the path", id="none"),
        pytest.param("forbidden.sh", "{} is not executable. Allow it with: chmod +x {}", id="not executable"),
        pytest.param("folder", "{} is a folder, not a program. Name the program itself", id="a folder"),
        pytest.param("agent.sh", None, id="there"),
    ],
)
def test_an_executor_that_cannot_be_called_is_told_of_at_the_start(
    web: WebHouse, program: str, why: str | None
) -> None:
    for name, mode in (("forbidden.sh", 0o600), ("agent.sh", 0o700)):
        (web.base / name).write_text("#!/bin/sh\n")
        (web.base / name).chmod(mode)
    (web.base / "folder").mkdir()
    path = str(web.base / program)
    server = web.serve("--executor", f"command:{path}")
    begins = [f"{LACKING} {why.format(path, path)}"] if why else []
    assert [told[: len(said)] for told, said in zip(server.told["warnings"], begins, strict=True)] == begins
    assert server.open.get("/api/health").status_code == 200


def test_the_token_stands_nowhere(installed_web: WebHouse) -> None:
    server = installed_web.serve(steps=STEPS)
    project = server.project(installed_web.folder())
    server.until(server.chat(project, "explain it")["task_id"])
    argv = pathlib.Path(f"/proc/{server.process.pid}/cmdline").read_bytes()
    kept = b"".join(path.read_bytes() for path in installed_web.database.parent.iterdir())
    assert str(server.token).encode() not in argv + kept + server.errors.encode()


# --- while the database is away


def moved(web: WebHouse) -> Callable[[], None]:
    aside = web.base / "aside"
    aside.mkdir()
    files = list(web.database.parent.iterdir())
    for path in files:
        path.rename(aside / path.name)

    def back() -> None:
        for path in files:
            (aside / path.name).rename(path)

    return back


def replaced(web: WebHouse) -> Callable[[], None]:
    back = moved(web)
    web.database.write_bytes(b"this is no database at all, but a text that is long enough" * 10)

    def restored() -> None:
        web.database.unlink()
        back()

    return restored


def newer(web: WebHouse) -> Callable[[], None]:
    connection = sqlite3.connect(web.database)
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    connection.execute("PRAGMA user_version = 99")
    connection.commit()

    def back() -> None:
        connection.execute(f"PRAGMA user_version = {version}")
        connection.commit()
        connection.close()

    return back


def locked(web: WebHouse) -> Callable[[], None]:
    connection = sqlite3.connect(web.database, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")

    def back() -> None:
        connection.execute("ROLLBACK")
        connection.close()

    return back


@pytest.mark.parametrize(
    ("away", "code", "reads"),
    [
        pytest.param(moved, "NO_DATABASE", False, id="deleted"),
        pytest.param(replaced, "CORRUPT", False, id="another file"),
        pytest.param(newer, "SCHEMA_TOO_NEW", False, id="of a newer program"),
        pytest.param(locked, "BUSY", True, id="locked"),
    ],
)
def test_while_the_database_is_away_every_call_says_so_and_then_it_goes_on(
    away: Callable[[WebHouse], Callable[[], None]], code: str, reads: bool, web: WebHouse
) -> None:
    server = web.serve(steps=STEPS, variables={"ORCHESTRATOR_BUSY_TIMEOUT": "0.3"})
    project = server.project(web.folder())
    server.until(server.chat(project, "explain it", "kept")["task_id"])
    back = away(web)
    answers = [
        server.open.get("/api/health"),
        server.scripts.post(f"/api/projects/{project}/chat", json={"content": "explain it", "session_id": "kept"}),
        *(server.open.get(f"/api/{path}") for path in ("task-groups", "sessions/kept", "inbox", "events?after=9")
          if not reads),
    ]  # fmt: skip
    for answer in answers:
        assert (answer.status_code, answer.json()["error"]) == (503, code)
        assert str(web.base) not in answer.text
        assert answer.json()["message"].endswith(".")
    if reads:
        assert server.open.get("/api/sessions/kept").status_code == 200
    back()
    assert server.open.get("/api/health").status_code == 200
    assert server.until(server.chat(project, "explain it", "kept")["task_id"])["status"] == "COMPLETE"
    assert web.rows("SELECT count(*) FROM runs") == [(2,)]
    assert server.stop() == 0


def test_a_run_whose_end_could_not_be_written_is_ended_when_the_database_is_back(web: WebHouse) -> None:
    server = web.serve(steps=[{**SLEEPS, "delay_ms": 1500}], variables={"ORCHESTRATOR_BUSY_TIMEOUT": "0.3"})
    id = server.chat(server.project(web.folder()), "explain their sleep")["task_id"]
    server.until(id, "RUNNING")
    back = moved(web)
    time.sleep(3)
    back()
    assert server.until(id)["status"] in ("ERROR", "COMPLETE")
    assert web.rows("SELECT count(*) FROM run_locks WHERE released_seq IS NULL") == [(0,)]


def test_a_file_that_is_read_only_is_told_by_health(web: WebHouse) -> None:
    if os.getuid() == 0:
        pytest.skip("root may write everything")
    server = web.serve(steps=STEPS)
    web.database.chmod(0o400)
    try:
        answer = server.open.get("/api/health")
    finally:
        web.database.chmod(0o600)
    assert (answer.status_code, answer.json()["error"]) == (503, "READ_ONLY")


def test_two_servers_on_one_database_execute_each_run_once(web: WebHouse) -> None:
    first, second = web.serve(steps=STEPS), web.serve(steps=STEPS)
    project = first.project(web.folder())
    ids = [(first, second)[n % 2].chat(project, "explain it", f"s{n % 3}")["task_id"] for n in range(8)]
    assert [first.until(id)["status"] for id in ids] == ["COMPLETE"] * 8
    started = web.rows("SELECT run_id, count(*) FROM run_events WHERE kind = 'started' GROUP BY run_id")
    assert sorted(started) == sorted((id, 1) for id in ids)
    assert (first.stop(), second.stop()) == (0, 0)


def printed(web: WebHouse, script: pathlib.Path, count: int, *, terminal: bool, **variables: str) -> list[str]:
    """The first lines that a server prints, to a terminal or into a pipe."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(replhouse.OWN)}
    kept |= {"PATH": str(web.base), **variables}
    master, slave = pty.openpty()
    tty.setraw(slave)
    source, sink = (master, slave) if terminal else os.pipe()
    process = subprocess.Popen(
        [sys.executable, str(script), "serve", "--db", str(web.database), "--port", "0"], env=kept, cwd=web.base,
        stdin=slave, stdout=sink, stderr=slave,
    )  # fmt: skip
    with process, open(source, "rb", buffering=0, closefd=False) as stream:
        lines = [stream.readline().decode().strip() for _ in range(count)]
        process.terminate()
    for each in {master, slave, source, sink}:
        os.close(each)
    assert process.returncode == 0
    return lines


def test_what_it_prints_to_a_person_names_link_and_token(web: WebHouse, script: pathlib.Path) -> None:
    """Also, where nobody named an executor and that of the provider is not installed, how to install it."""
    lines = printed(web, script, 5, terminal=True)
    url = lines[0].removeprefix("Listening on ")
    assert url.startswith("http://127.0.0.1:")
    assert lines[1].startswith(f"Sign-in link (valid once): {url}/open/")
    way = "Install it with: npm install -g @anthropic-ai/claude-code"
    assert lines[2] == f"{LACKING} There is no program claude. {way}"
    assert lines[3].startswith("API token: ")
    assert lines[4] == "Press Ctrl-C to stop."


@pytest.mark.parametrize(
    ("terminal", "variables"), [(False, {}), (True, {"CLAUDECODE": ""}), (True, {"ORCHESTRATOR_AGENT": "developer"})]
)
def test_a_link_is_never_printed_where_an_agent_reads_it(
    web: WebHouse, script: pathlib.Path, terminal: bool, variables: dict[str, str]
) -> None:
    lines = printed(web, script, 4, terminal=terminal, **variables)
    url = lines[0].removeprefix("Listening on ")
    command = f"orchestrator --db {web.database} human link --url {url}"
    assert lines[1] == f"Sign in: run `{command}` at your own terminal."
    assert not [line for line in lines if "/open/" in line]


def test_a_link_of_human_link_opens_a_running_server_once(web: WebHouse) -> None:
    server = web.serve()
    with web.at_terminal() as context:
        address = operations.call(context, "human link", url=server.url)["url"]
    path = address.removeprefix(server.url)
    assert [server.open.get(path).status_code for _ in range(2)] == [200, 200]
    assert server.open.post(path, data={"person": "user"}).status_code == 303
    assert server.open.post(path, data={"person": "user"}).status_code == 410
    assert 'class="person">user<' in server.open.get("/").text
