"""Server-sent events: each step once and in order, wherever a reader broke off, whoever writes."""

from __future__ import annotations

import contextlib
import json
import pathlib
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.acceptance.webhouse import NO_AUTHORITIES, STEPS, Server, WebHouse, wait_for

WRITER = """
import sys
from orchestrator import Orchestrator

with Orchestrator.open(sys.argv[1]) as o:
    for number in range(int(sys.argv[3])):
        o.session_create(f"{sys.argv[2]}-{number}", goal="g")
"""


class Reader:
    """A reader of events in a thread of its own, for as long as its block is entered."""

    def __init__(self, server: Server, after: int | None = None, last: str | None = None, session: str | None = None):
        self.events: list[dict[str, Any]] = []
        self.ended = False
        self._url = f"{server.url}/api/events"
        self._params = {name: value for name, value in (("after", after), ("session_id", session)) if value is not None}
        self._headers = {} if last is None else {"Last-Event-ID": last}
        self._begun, self._enough = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._read)

    def __enter__(self) -> Reader:
        self._thread.start()
        assert self._begun.wait(20)
        return self

    def __exit__(self, *_: object) -> None:
        self._enough.set()
        self._thread.join(20)

    def _read(self) -> None:
        with contextlib.suppress(httpx.ReadTimeout, httpx.RemoteProtocolError):
            while not self._enough.is_set() and not self.ended:
                with contextlib.suppress(httpx.ReadTimeout):
                    self._follow()

    def _follow(self) -> None:
        if self.events:
            self._headers["Last-Event-ID"] = str(self.events[-1]["id"])
        asked = {"params": self._params, "headers": self._headers, "timeout": 1, "verify": NO_AUTHORITIES}
        with httpx.stream("GET", self._url, **asked) as answer:
            assert answer.status_code == 200
            assert answer.headers["content-type"].startswith("text/event-stream")
            for event in parsed(answer.iter_lines(), self._begun):
                self.events.append(event)
                if self._enough.is_set():
                    return
            self.ended = True

    def numbers(self) -> list[int]:
        return [int(event["id"]) for event in self.events]


def parsed(lines: Iterator[str], begun: threading.Event) -> Iterator[dict[str, Any]]:
    """Events of a stream: id, event, and data as an object."""
    found: dict[str, Any] = {}
    for line in lines:
        name, _, value = line.partition(": ")
        if line == ": begins":
            begun.set()
        elif line == "" and "id" in found:
            yield {**found, "data": json.loads(found["data"])}
            found = {}
        elif name in ("id", "event", "data"):
            found[name] = value


@pytest.fixture(scope="module")
def project(shared: WebHouse, server: Server) -> str:
    return server.project(shared.folder())


def written(web: WebHouse) -> list[tuple[int, str, int, str]]:
    return web.rows("SELECT rowid, session_id, seq, kind FROM audit_events ORDER BY rowid")


def moves(reader: Reader, entity: str, id: str) -> list[tuple[str | None, str]]:
    """From what to what something went, as it was told."""
    changes = [change for event in reader.events for change in event["data"]["changes"]]
    return [(each["from"], each["to"]) for each in changes if (each["entity"], each["id"]) == (entity, id)]


def test_events_are_the_steps_in_their_order(shared: WebHouse, server: Server, project: str) -> None:
    with Reader(server, after=0) as reader:
        server.until(server.chat(project, "ask for a colour", "S1")["task_id"], "AWAITING_RESPONSE")
        task = server.open.get("/api/task-groups/S1/tasks").json()["tasks"][0]["task_id"]
        assert server.scripts.post(f"/api/tasks/{task}/reply", json={"reply": "x"}).status_code == 403
        with server.client(shared.person()) as person:
            assert person.post(f"/api/tasks/{task}/reply", json={"reply": "x"}).status_code == 200
        server.until(task)
        wait_for(lambda: len(reader.events) == len(written(shared)))
    told = [(int(each["id"]), each["data"]["session_id"], each["data"]["seq"], each["data"]["kind"])
            for each in reader.events]  # fmt: skip
    assert told == written(shared)
    assert {each["event"] for each in reader.events} == {"change", "decision", "refusal"}
    (decision,) = [each["data"] for each in reader.events if each["event"] == "decision"]
    assert decision["decisions"] == [
        {"group_id": "S1", "current_agent": "user", "response_status": "CONTINUE", "next_agent": None, "action": "wait"}
    ]
    assert decision["group_ids"] == ["S1"]
    assert [each["data"]["kind"] for each in reader.events if each["event"] == "refusal"] == ["refusal"]
    assert moves(reader, "run", task) == [
        (None, "QUEUED"), ("QUEUED", "RUNNING"), ("RUNNING", "AWAITING_RESPONSE"), ("AWAITING_RESPONSE", "QUEUED"),
        ("QUEUED", "RUNNING"), ("RUNNING", "COMPLETE"),
    ]  # fmt: skip
    kinds = "'session', 'group', 'task', 'run'"
    ((wanted,),) = shared.rows(f"SELECT count(*) FROM status_changes WHERE entity IN ({kinds})")
    assert sum(len(each["data"]["changes"]) for each in reader.events) == wanted
    about = [each["data"]["group_ids"] for each in reader.events if each["data"]["changes"][:1]]
    assert ["S1"] in about


def test_a_reader_that_breaks_off_goes_on_without_gap_or_repetition_while_four_processes_write(
    shared: WebHouse, server: Server
) -> None:
    start = written(shared)[-1][0]
    argv = [sys.executable, "-c", WRITER, str(shared.database)]
    writers = [subprocess.Popen([*argv, f"W{n}", "25"]) for n in range(4)]
    seen: list[int] = []
    deadline = time.monotonic() + 60
    while any(writer.poll() is None for writer in writers) or seen[-1:] != [written(shared)[-1][0]]:
        assert time.monotonic() < deadline, seen
        last = str(seen[-1]) if seen else str(start)
        with Reader(server, last=last, after=0) as reader:
            goal = len(seen) % 7 + 1
            until = time.monotonic() + 1
            while len(reader.events) < goal and time.monotonic() < until:
                time.sleep(0.005)
        seen += reader.numbers()
    assert [writer.wait() for writer in writers] == [0] * 4
    assert seen == [row[0] for row in written(shared) if row[0] > start]


def test_a_reader_of_one_session_hears_of_that_alone(shared: WebHouse, server: Server, project: str) -> None:
    server.until(server.chat(project, "explain it", "S2")["task_id"])
    with Reader(server, session="S2", after=0) as reader:
        for session in ("S3", "S2"):
            server.until(server.chat(project, "explain it", session)["task_id"])
        wanted = [row[0] for row in written(shared) if row[1] == "S2"]
        wait_for(lambda: reader.numbers() == wanted)
    assert {each["data"]["session_id"] for each in reader.events} == {"S2"}


def test_without_a_number_only_what_comes_is_told(shared: WebHouse, server: Server, project: str) -> None:
    before = written(shared)[-1][0]
    with Reader(server) as reader:
        server.until(server.chat(project, "explain it", "S4")["task_id"])
        wait_for(lambda: bool(reader.events))
    assert reader.numbers()[0] == before + 1


@pytest.mark.parametrize("number", [10**9, 2**53])
def test_a_number_that_nothing_has_reached_is_that_of_the_newest(
    number: int, shared: WebHouse, server: Server, project: str
) -> None:
    """A reader of a database that was put back to an older copy hears of what comes."""
    before = written(shared)[-1][0]
    with Reader(server, after=number) as reader:
        server.until(server.chat(project, "explain it", "S5")["task_id"])
        wait_for(lambda: bool(reader.events))
    assert reader.numbers()[0] == before + 1


@pytest.mark.parametrize("last", ["abc", "-1", "1.5", "1;2", "\u0663".encode().decode("latin-1"), "9" * 23, "9" * 5000])
def test_a_last_number_that_is_none_or_of_no_event_begins_at_the_newest(last: str, server: Server) -> None:
    headers = {"Last-Event-ID": last.encode("latin-1")}
    with server.open.stream("GET", "/api/events", headers=headers) as answer:  # type: ignore[arg-type]
        assert answer.status_code == 200
        assert next(answer.iter_lines()) == ": begins"


def test_a_last_number_that_is_none_leaves_the_word_to_the_query(server: Server) -> None:
    with Reader(server, after=0, last="abc") as reader:
        wait_for(lambda: bool(reader.events))


@pytest.mark.parametrize("after", ["x", "-1", "1.5", str(2**53 + 1)])
def test_a_number_that_is_none_is_refused(after: str, server: Server) -> None:
    assert server.open.get("/api/events", params={"after": after}).status_code == 400


def test_readers_that_go_away_leave_nothing_behind(installed_web: WebHouse) -> None:
    server = installed_web.serve(steps=STEPS)
    project = server.project(installed_web.folder())
    descriptors = pathlib.Path(f"/proc/{server.process.pid}/fd")
    before = len(list(descriptors.iterdir()))
    for _ in range(25):
        with server.open.stream("GET", "/api/events") as stream:
            next(stream.iter_lines())
    server.until(server.chat(project, "explain it", "S6")["task_id"])
    wait_for(lambda: len(list(descriptors.iterdir())) <= before + 8)


def test_a_reader_that_does_not_read_holds_up_nobody(shared: WebHouse, server: Server, project: str) -> None:
    with socket.create_connection(("127.0.0.1", server.port)) as slow:
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        slow.sendall(b"GET /api/events?after=0 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        with Reader(server) as reader:
            server.until(server.chat(project, "explain it", "S7")["task_id"])
            wait_for(lambda: any(each["data"]["session_id"] == "S7" for each in reader.events))


def test_open_streams_pin_nothing_of_the_write_ahead_log(shared: WebHouse, server: Server, project: str) -> None:
    """Whoever stays for long keeps no snapshot: the log can be written back and cut at any time."""
    server.until(server.chat(project, "explain it", "S8")["task_id"])
    with Reader(server), Reader(server, after=0), Reader(server, session="S8"):
        for _ in range(5):
            server.until(server.chat(project, "explain it", "S8")["task_id"])
        connection = sqlite3.connect(shared.database, isolation_level=None, timeout=5)
        found = []
        wait_for(lambda: found.append(connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()) or
                 found[-1][0] == 0)  # fmt: skip
        connection.close()
    assert found[-1] == (0, 0, 0)
    assert pathlib.Path(f"{shared.database}-wal").stat().st_size < 200_000


def test_a_stream_outlives_a_database_that_is_away(web: WebHouse) -> None:
    server = web.serve(steps=STEPS)
    project = server.project(web.folder())
    with Reader(server, after=0) as reader:
        server.until(server.chat(project, "explain it", "S1")["task_id"])
        files = list(web.database.parent.iterdir())
        for path in files:
            path.rename(web.base / path.name)
        time.sleep(0.3)
        for path in files:
            (web.base / path.name).rename(path)
        server.until(server.chat(project, "explain it", "S1")["task_id"])
        wait_for(lambda: reader.numbers() == [row[0] for row in written(web)])


def test_stopping_ends_all_streams(web: WebHouse) -> None:
    server = web.serve(steps=STEPS)
    with Reader(server) as one, Reader(server, after=0) as other:
        began = time.monotonic()
        assert server.stop() == 0
        assert time.monotonic() - began < 5
        wait_for(lambda: one.ended and other.ended)
