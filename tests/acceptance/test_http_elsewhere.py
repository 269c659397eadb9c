"""Over HTTP about what other doors began, and about a store that cannot be written: nothing waits for nobody."""

from __future__ import annotations

import contextlib
import pathlib
import shutil
import subprocess
from collections.abc import Iterator

import pytest

from tests.acceptance.webhouse import ASKS, SLEEPS, STEPS, Server, WebHouse


def test_a_chat_that_the_command_line_began_is_served_where_http_speaks_in_it(web: WebHouse) -> None:
    assert web.command("session", "create", "mine", "--kind", "chat").returncode == 0
    server = web.serve(steps=STEPS)
    told = server.chat(server.project(web.folder()), "explain it", "mine")
    assert server.until(told["task_id"])["status"] == "COMPLETE"


@pytest.fixture
def left(web: WebHouse) -> tuple[Server, str]:
    """A server, and a task that a REPL has left awaiting an answer of a person."""
    web.folder()
    web.command(
        "run", "ask for a colour", "--project", str(web.folder()), "--executor", web.scripted(ASKS), "--non-interactive"
    )
    server = web.serve(steps=STEPS)
    ((id, state),) = web.rows("SELECT id, state FROM runs")
    assert state == "incomplete"
    return server, str(id)


def test_a_retry_of_what_the_command_line_ran_is_executed(left: tuple[Server, str]) -> None:
    server, id = left
    again = server.scripts.post(f"/api/tasks/{id}/retry")
    assert again.status_code == 200, again.text
    assert server.until(again.json()["task_id"], "AWAITING_RESPONSE")["question"]["text"]


def test_a_reply_that_names_no_question_answers_the_first_alone(web: WebHouse) -> None:
    again = {**ASKS, "when": "Answer: ", "output": "And which size?"}
    server = web.serve(steps=[{**again, "repeat": False}, *STEPS])
    task = server.chat(server.project(web.folder()), "ask for a colour")["task_id"]
    server.until(task, "AWAITING_RESPONSE")
    with server.client(web.person()) as person:
        first = person.post(f"/api/tasks/{task}/reply", json={"reply": "blue"})
        assert first.status_code == 200
        newer = server.until(task, "AWAITING_RESPONSE")["question"]
        assert newer["text"] == "And which size?"
        late = person.post(f"/api/tasks/{task}/reply", json={"reply": "blue"})
        assert (late.status_code, late.json()["error"]) == (400, "USAGE")
        assert server.task(task)["question"] == newer
        named = person.post(f"/api/tasks/{task}/reply", json={"reply": "large", "question_id": newer["id"]})
        assert named.status_code == 200
    assert server.until(task)["status"] == "COMPLETE"


def test_who_stopped_a_task_stands_in_its_log_and_in_the_record(web: WebHouse) -> None:
    server = web.serve(steps=[SLEEPS])
    task = server.chat(server.project(web.folder()), "sleep a while")["task_id"]
    server.until(task, "RUNNING")
    with server.client(web.person()) as person:
        assert person.post(f"/api/tasks/{task}/cancel").json()["new_status"] == "CANCELLED"
    assert web.rows("SELECT text FROM run_events WHERE kind = 'stopping'") == [("user: cancelled",)]
    assert web.rows("SELECT actor, channel FROM audit_events WHERE kind = 'run stop'") == [("user", "token")]
    verified = web.command("audit", "verify", "--json")
    assert verified.returncode == 0, verified.stdout


def test_what_came_with_the_servers_token_stands_as_such_in_the_record(
    web: WebHouse, left: tuple[Server, str]
) -> None:
    server, unfinished = left
    assert server.scripts.post(f"/api/tasks/{unfinished}/retry").status_code == 200
    slow = server.chat(server.project(web.folder()), "sleep a while", "said")["task_id"]
    server.until(slow, "RUNNING")
    assert server.scripts.post(f"/api/tasks/{slow}/cancel").json()["new_status"] == "CANCELLED"
    assert server.scripts.post(f"/api/tasks/{slow}/cancel").status_code == 409
    stopped = web.rows("SELECT text FROM run_events WHERE kind = 'stopping'")
    assert stopped == [("system:runner: cancelled with the server's token",)]
    by = (
        "SELECT kind, input ->> 'via' FROM audit_events WHERE channel = 'http' AND kind IN ({})"
        " GROUP BY 1, 2 ORDER BY 1"
    )
    done = "'project add', 'session create', 'run queue', 'run retry', 'run stop'"
    assert web.rows(by.format(done)) == [
        (kind, "the server's token") for kind in ("project add", "run queue", "run retry", "run stop", "session create")
    ]
    # What the server does by itself nobody was let in for.
    assert web.rows(by.format("'run start', 'run finish'")) != []
    assert {via for _, via in web.rows(by.format("'run start', 'run finish'"))} == {None}
    steps = server.open.get("/api/sessions/said/timeline?limit=200").json()["events"]
    assert {step["via"] for step in steps if step["kind"] == "run queue"} == {"the server's token"}
    told = web.command("audit", "timeline", "-s", "said").stdout
    assert "system:runner: run queue, for a script with the server's token" in told
    assert web.command("audit", "verify", "--json").returncode == 0
    assert web.command("audit", "replay", "said", "--json").returncode == 0


@pytest.fixture
def small_disk(tmp_path: pathlib.Path) -> Iterator[pathlib.Path]:
    """A disk of three megabytes; only who may mount one can play."""
    folder = tmp_path / "small"
    folder.mkdir()
    argv = ["mount", "-t", "tmpfs", "-o", "size=3m,mode=0755", "tmpfs", str(folder)]
    if not shutil.which("mount") or subprocess.run(argv, capture_output=True, timeout=60, check=False).returncode:
        pytest.skip("no small disk can be mounted here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True, timeout=60)


def test_health_tells_of_a_full_disk_and_of_its_end(web: WebHouse, small_disk: pathlib.Path) -> None:
    shutil.copy(web.database, small_disk / "o.db")
    web.database = small_disk / "o.db"
    server = web.serve(steps=STEPS)
    assert server.open.get("/api/health").json() == {"status": "ok"}
    filler = small_disk / "filler"
    with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while file.write(b"x" * 4096):
            pass
    full = server.open.get("/api/health")
    assert (full.status_code, full.json()["error"]) == (503, "DISK_FULL")
    filler.unlink()
    assert server.open.get("/api/health").status_code == 200
    assert server.stop() == 0


def test_whoever_executes_a_run_it_is_who_is_on_record(web: WebHouse) -> None:
    """Two servers with executors of their own: what one queued the other may execute, but as the first would."""
    said = {name: web.program(f"echo made by {name} > {name}.md; echo {name}.md made") for name in ("one", "two")}
    servers = {name: web.serve("--executor", program) for name, program in said.items()}
    project = servers["one"].project(web.folder())
    tasks = [(name, servers[name].chat(project, "explain it")["task_id"]) for name in ("one", "two") * 4]
    for name, task in tasks:
        assert f"{name}.md made" in servers[name].until(task)["output"]
        assert web.rows("SELECT executor FROM runs WHERE id = ?", task) == [(said[name],)]
    assert [server.errors for server in servers.values()] == ["", ""]


def test_a_task_that_an_agent_cancels_asks_nobody_any_more(web: WebHouse) -> None:
    server = web.serve(steps=STEPS)
    told = server.chat(server.project(web.folder()), "ask for a colour", "mine")
    task = server.until(told["task_id"], "AWAITING_RESPONSE")
    ((id,),) = web.rows("SELECT task_id FROM runs WHERE id = ?", task["task_id"])
    done = web.command(
        "task", "set-status", str(id), "cancelled", "--by", "project_manager", "--reason", "no need", "-s", "mine"
    )
    assert done.returncode == 0, done.stderr
    assert server.task(task["task_id"])["status"] == "CANCELLED"
    assert server.open.get("/api/inbox").json()["questions"] == []
    with server.client(web.person()) as person:
        body = {"reply": "blue", "question_id": task["question"]["id"]}
        assert person.post(f"/api/tasks/{task['task_id']}/reply", json=body).status_code == 409
    assert web.command("audit", "replay", "mine").returncode == 0
