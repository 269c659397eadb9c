"""Runs over HTTP: what INV-3 to INV-6 promise, also over kills; replies; order; and the same rows as the REPL's.

Source: seed 000, INV-3 to INV-6.
"""

from __future__ import annotations

import json
import pathlib
import shutil
import signal
import sqlite3
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from orchestrator import bootstrap, errors
from orchestrator.app.kernel import operations
from orchestrator.app.running import begin_session, execute_run, preflight, submission
from orchestrator.core.running import blocked_output
from tests import persons
from tests.acceptance import replhouse
from tests.acceptance.webhouse import ANSWERED, ASKS, MADE, STEPS, Server, WebHouse, wait_for


@pytest.fixture(scope="module")
def project(shared: WebHouse, server: Server) -> str:
    return server.project(shared.folder())


@pytest.fixture(scope="module")
def person(shared: WebHouse, server: Server) -> Any:
    """A client with a person's token."""
    return server.client(shared.person())


def groups(server: Server) -> dict[str, Any]:
    found: dict[str, Any] = server.open.get("/api/task-groups").json()
    return found


def asked(server: Server, project: str, session: str | None = None) -> dict[str, Any]:
    """A task that awaits a response."""
    return server.until(server.chat(project, "ask for a colour", session)["task_id"], "AWAITING_RESPONSE")


class TestINV3:
    def test_after_a_chat_there_is_one_group_with_one_task(self, web: WebHouse) -> None:
        server = web.serve(steps=STEPS)
        project = server.project(web.folder())
        assert groups(server) == {"task_groups": [], "total_count": 0, "has_more": False}
        assert server.scripts.post(f"/api/projects/{project}/chat", json={"content": "  "}).status_code == 400
        assert server.scripts.post("/api/projects/none/chat", json={"content": "hello"}).status_code == 404
        assert groups(server)["task_groups"] == []
        told = server.chat(project, "hello")
        (group,) = groups(server)["task_groups"]
        assert (group["task_group_id"], group["task_count"], group["first_prompt"]) == (
            told["task_group_id"], 1, "hello",
        )  # fmt: skip


class TestINV4:
    def test_messages_of_a_session_are_one_group(self, server: Server, project: str) -> None:
        for _ in range(3):
            assert server.chat(project, "explain it", "test-session")["task_group_id"] == "test-session"
        found = {each["task_group_id"]: each for each in groups(server)["task_groups"]}
        assert found["test-session"]["task_count"] == 3
        assert sum(found["test-session"]["status_counts"].values()) == 3

    def test_two_sessions_are_two_groups(self, server: Server, project: str) -> None:
        for session in ("session-1", "session-2"):
            server.chat(project, "explain it", session)
        found = {each["task_group_id"]: each["task_count"] for each in groups(server)["task_groups"]}
        assert (found["session-1"], found["session-2"]) == (1, 1)

    def test_messages_at_once_are_one_group_as_well(self, server: Server, project: str) -> None:
        at_once(8, lambda: server.chat(project, "explain it", "crowd"))
        found = server.open.get("/api/task-groups/crowd/tasks").json()["tasks"]
        assert len({each["task_id"] for each in found}) == 8


class TestINV5:
    def test_all_of_it_is_there_after_a_restart(self, web: WebHouse) -> None:
        first = web.serve(steps=STEPS)
        project = first.project(web.folder())
        tasks = [first.until(first.chat(project, "explain it", "kept")["task_id"]) for _ in range(3)]
        before = groups(first)
        assert first.stop() == 0
        second = web.serve(steps=STEPS)
        assert groups(second) == before
        assert [second.task(task["task_id"]) for task in tasks] == tasks

    def test_what_was_queued_is_executed_and_what_ran_is_told_as_ended_after_a_kill(
        self, installed_web: WebHouse
    ) -> None:
        slow = {"when": "first", "status": "COMPLETE", "output": "x", "delay_ms": 60_000}
        first = installed_web.serve(steps=[slow, MADE])
        project, folder = first.project(installed_web.folder()), installed_web.folder()
        running = first.chat(project, "create first.md", "kept")["task_id"]
        first.until(running, "RUNNING")
        waiting = [first.chat(project, f"create notes-{n}.md", "kept")["task_id"] for n in range(2)]
        assert [first.task(id)["status"] for id in waiting] == ["QUEUED"] * 2
        assert first.stop(signal.SIGKILL) == -signal.SIGKILL

        second = installed_web.serve(steps=[{**MADE, "writes": {}, "files": []}, MADE])
        ended = second.until(running)
        assert (ended["status"], ended["error_code"]) == ("ERROR", "E503")
        assert ended["error_reason"] == "the process that ran it is gone"
        refused = second.scripts.post(f"/api/tasks/{running}/retry")
        assert (refused.status_code, refused.json()["error"]) == (403, "UNBLOCK_NOT_PERMITTED")
        assert " A person can try it again: on its page" in refused.json()["message"]
        assert str(first.process.pid) not in refused.text + json.dumps(second.task(running))
        assert [second.until(id)["status"] for id in waiting] != ["QUEUED"] * 2
        logs = [json.loads(path.read_text()) for path in folder.glob(".orchestrator/sessions/kept/logs/task-0*.json")]
        assert {log["external_task_id"] for log in logs} == {running, *waiting}
        assert installed_web.rows("SELECT count(*) FROM run_locks WHERE released_seq IS NULL") == [(0,)]

    def test_what_awaits_a_response_still_does_and_takes_it(self, installed_web: WebHouse) -> None:
        first = installed_web.serve(steps=STEPS)
        task = asked(first, first.project(installed_web.folder()))
        first.stop(signal.SIGKILL)
        second = installed_web.serve(steps=STEPS)
        assert second.task(task["task_id"]) == task
        with second.client(installed_web.person()) as person:
            answer = person.post(f"/api/tasks/{task['task_id']}/reply", json={"reply": "Yes please"})
        assert answer.json()["new_status"] == "QUEUED"
        assert second.until(task["task_id"])["status"] == "COMPLETE"

    def test_what_no_executor_may_see_is_not_executed_when_it_was_only_queued(self, web: WebHouse) -> None:
        """A kill between the queueing of a destructive task and the look at it; a restart must not run it."""
        from orchestrator.app.running import run_queue

        first = web.serve(steps=STEPS)
        folder = web.folder()
        project = first.project(folder)
        first.until(first.chat(project, "explain it", "kept")["task_id"])
        first.stop()
        with web.at_terminal() as context:
            context.credential = None
            queued = operations.ask(
                context,
                run_queue.QueueRun(
                    session_id="kept",
                    prompt="rm -rf everything",
                    task_type="DANGEROUS_OP",
                    executor="scripted",
                    provider="claude-code",
                    root=str(folder),
                ),
            )["run"]
        second = web.serve(steps=STEPS)
        found = second.until(queued, "AWAITING_RESPONSE", "COMPLETE")
        assert (found["status"], found["started_at"] is None) == ("AWAITING_RESPONSE", False)
        assert found["question"]["kind"] == "confirmation"


class TestINV6:
    def test_a_task_that_awaits_a_response_shows_its_question(self, server: Server, project: str) -> None:
        task = asked(server, project)
        assert (task["show_reply_ui"], task["question"]["text"]) == (True, "Which colour should it have?")

    @pytest.mark.parametrize(
        ("content", "status"), [("explain it", "COMPLETE"), ("explain why it may fail", "ERROR"), ("sleep", "RUNNING")]
    )
    def test_any_other_shows_none(self, content: str, status: str, server: Server, project: str) -> None:
        task = server.until(server.chat(project, content)["task_id"], status)
        assert (task["show_reply_ui"], task["question"]) == (False, None)
        if status == "RUNNING":
            server.scripts.post(f"/api/tasks/{task['task_id']}/cancel")

    def test_a_queued_one_shows_none(self, server: Server, shared: WebHouse) -> None:
        project = server.project(shared.folder("of-queue"))
        first = server.chat(project, "create a file and sleep over it.md")["task_id"]
        second = server.chat(project, "create b.md")["task_id"]
        found = server.task(second)
        assert (found["status"], found["show_reply_ui"]) == ("QUEUED", False)
        for id in (second, first):
            assert server.scripts.post(f"/api/tasks/{id}/cancel").json()["new_status"] == "CANCELLED"

    def test_no_run_awaits_a_response_to_nothing(self, server: Server, shared: WebHouse, project: str) -> None:
        from orchestrator.app.running import run_queue

        server.chat(project, "explain it", "to-hold")
        with shared.at_terminal() as context:
            context.credential = None
            shared_root = str(shared.folder("held"))
            id = operations.ask(
                context,
                run_queue.QueueRun(
                    session_id="to-hold",
                    prompt="x",
                    task_type="READ_INFO",
                    executor="scripted",
                    provider="claude-code",
                    root=shared_root,
                ),
            )["run"]
            with pytest.raises(errors.OrchestratorError) as caught:
                operations.ask(
                    context,
                    preflight.HoldRun(
                        session_id="to-hold", id=id, state="awaiting_response", reason="r",
                        executor_status="INCOMPLETE", question=" ",
                    ),
                )  # fmt: skip
        assert caught.value.code == "ILLEGAL_MOVE"

    def test_an_executor_that_says_nothing_asks_the_fallback_question(self, server: Server, project: str) -> None:
        task = server.until(server.chat(project, "say nothing of it, what is it?")["task_id"], "AWAITING_RESPONSE")
        assert task["task_type"] == "READ_INFO"
        assert task["question"]["text"].split() == blocked_output.fallback(None, None).split()


class TestAReply:
    def test_queues_the_task_again_which_is_then_executed(
        self, server: Server, project: str, person: Any, shared: WebHouse
    ) -> None:
        id = asked(server, project)["task_id"]
        answer = person.post(f"/api/tasks/{id}/reply", json={"reply": "Yes please"})
        assert (answer.status_code, answer.json()) == (
            200, {"task_id": id, "old_status": "AWAITING_RESPONSE", "new_status": "QUEUED", "proof": "possession"},
        )  # fmt: skip
        assert server.until(id)["output"] == "thanks"
        kept = shared.rows("SELECT closed_by, channel, answer, note FROM questions WHERE session_id = ?",
                           server.task(id)["session_id"])  # fmt: skip
        assert kept == [("user", "token", "continue", "Yes please")]

    @pytest.mark.parametrize(
        "body",
        [
            pytest.param({"reply": ""}, id="empty"),
            pytest.param({"reply": "  "}, id="blank"),
            pytest.param({"reply": "\u3000\n"}, id="other blanks"),
            pytest.param({}, id="missing"),
            pytest.param({"reply": 5}, id="a number"),
            pytest.param({"reply": ["yes"]}, id="a list"),
            pytest.param({"reply": None, "choice": "maybe"}, id="another choice"),
            pytest.param({"reply": "x", "choice": "yes"}, id="words and a choice"),
            pytest.param({"reply": "", "choice": "yes"}, id="empty words and a choice"),
            pytest.param({"reply": "x", "extra": 1}, id="an unknown key"),
            pytest.param("yes", id="a text alone"),
        ],
    )
    def test_that_says_nothing_is_refused(self, body: Any, server: Server, project: str, person: Any) -> None:
        id = asked(server, project, "to-refuse")["task_id"]
        answer = person.post(f"/api/tasks/{id}/reply", json=body)
        assert (answer.status_code, server.task(id)["status"]) == (400, "AWAITING_RESPONSE")

    def test_to_no_task_is_refused(self, person: Any) -> None:
        assert person.post("/api/tasks/task-1/reply", json={"reply": "x"}).status_code == 404

    @pytest.mark.parametrize(
        ("content", "before"), [("explain it", "COMPLETE"), ("explain why it may fail", "ERROR"), ("sleep", "RUNNING")]
    )
    def test_to_what_awaits_none_is_refused(
        self, content: str, before: str, server: Server, project: str, person: Any
    ) -> None:
        id = server.until(server.chat(project, content)["task_id"], before)["task_id"]
        assert person.post(f"/api/tasks/{id}/reply", json={"reply": "x"}).status_code == 409
        assert server.task(id)["status"] == before
        if before == "RUNNING":
            assert person.post(f"/api/tasks/{id}/cancel").json()["new_status"] == "CANCELLED"
            assert person.post(f"/api/tasks/{id}/reply", json={"reply": "x"}).status_code == 409

    def test_to_a_queued_one_is_refused(self, server: Server, shared: WebHouse, person: Any) -> None:
        project = server.project(shared.folder("of-reply"))
        ids = [server.chat(project, f"create the {n} sleep.md")["task_id"] for n in ("first", "second")]
        assert person.post(f"/api/tasks/{ids[1]}/reply", json={"reply": "x"}).status_code == 409
        for id in reversed(ids):
            server.scripts.post(f"/api/tasks/{id}/cancel")

    def test_sent_twice_applies_once(self, server: Server, project: str, person: Any, shared: WebHouse) -> None:
        task = asked(server, project, "twice")
        bodies = [{"reply": word, "question_id": task["question"]["id"]} for word in ("blue", "blue", "red")]
        codes = [person.post(f"/api/tasks/{task['task_id']}/reply", json=body).status_code for body in bodies]
        assert codes == [200, 409, 409]
        assert shared.rows("SELECT note FROM questions WHERE session_id = 'twice'") == [("blue",)]

    def test_sent_by_twenty_at_once_applies_once(
        self, server: Server, project: str, person: Any, shared: WebHouse
    ) -> None:
        task = asked(server, project, "twenty")
        path = f"/api/tasks/{task['task_id']}/reply"
        found = at_once(20, lambda: person.post(path, json={"reply": "blue"}).status_code)
        assert sorted(found) == [200] + [409] * 19
        assert server.until(task["task_id"])["status"] == "COMPLETE"
        assert shared.rows("SELECT count(*) FROM runs WHERE session_id = 'twenty'") == [(1,)]
        assert shared.rows("SELECT kind FROM run_events WHERE session_id = 'twenty' AND kind = 'started'") == [
            ("started",), ("started",),
        ]  # fmt: skip

    def test_of_an_old_page_does_not_answer_a_newer_question(
        self, web: WebHouse, initialised: pathlib.Path
    ) -> None:
        """Also where the first was answered elsewhere, and the second asks for the same."""
        again = {**ASKS, "when": "Answer: ", "output": "Which colour should it have?"}
        server = web.serve(steps=[{**again, "repeat": False}, ANSWERED, ASKS])
        task = asked(server, server.project(web.folder()))
        old, path = task["question"]["id"], f"/api/tasks/{task['task_id']}/reply"
        token = web.person()
        file = web.base / "token"
        file.write_text(token)
        file.chmod(0o600)
        done = web.command("answer", old, "--decision", "continue", "--note", "blue", "--human-token-file", f"@{file}")
        if done.returncode:
            done = web.command("answer", old, "--decision", "continue", "--note", "blue", "--human-token-file",
                               str(file))  # fmt: skip
        assert done.returncode == 0, done.stderr
        wait_for(lambda: (server.task(task["task_id"])["question"] or {"id": old})["id"] != old)
        newer = server.task(task["task_id"])["question"]
        assert newer["text"] == task["question"]["text"]
        with server.client(token) as person:
            answer = person.post(path, json={"reply": "red", "question_id": old})
            assert (answer.status_code, answer.json()["error"]) == (409, "QUESTION_CLOSED")
            assert server.task(task["task_id"])["question"] == newer
            assert person.post(path, json={"reply": "red", "question_id": newer["id"]}).status_code == 200

    def test_after_its_session_ended_is_refused(
        self, server: Server, project: str, person: Any, shared: WebHouse
    ) -> None:
        from orchestrator.app.kernel import operations

        task = asked(server, project, "to-end")
        with shared.at_terminal() as context:
            operations.call(context, "session end", id="to-end", by="user", reason="enough")
        answer = person.post(f"/api/tasks/{task['task_id']}/reply", json={"reply": "x"})
        assert answer.status_code == 409
        assert server.task(task["task_id"])["show_reply_ui"] is False

    def test_after_a_cancellation_is_refused(self, server: Server, project: str, person: Any) -> None:
        task = asked(server, project)
        assert server.scripts.post(f"/api/tasks/{task['task_id']}/cancel").status_code == 200
        body = {"reply": "x", "question_id": task["question"]["id"]}
        assert person.post(f"/api/tasks/{task['task_id']}/reply", json=body).status_code == 409

    def test_by_no_person_is_refused_and_recorded(self, server: Server, project: str, shared: WebHouse) -> None:
        task = asked(server, project, "by-script")
        answer = server.scripts.post(f"/api/tasks/{task['task_id']}/reply", json={"reply": "x"})
        assert (answer.status_code, answer.json()["error"]) == (403, "HUMAN_REQUIRED")
        assert server.task(task["task_id"])["question"] == task["question"]
        assert shared.rows("SELECT code, door FROM refusals WHERE session_id = 'by-script'") == [
            ("HUMAN_REQUIRED", "http")
        ]

    @pytest.mark.parametrize(
        "text",
        ["no, don't approve", "not okay", "yes, but not now", "approve? never", "go ahead and reject", "\u043ek"],
    )
    def test_in_words_decides_nothing_where_yes_or_no_is_asked(
        self, text: str, server: Server, project: str, person: Any
    ) -> None:
        task = server.until(server.chat(project, "rm -rf the folder build", "danger")["task_id"], "AWAITING_RESPONSE")
        path = f"/api/tasks/{task['task_id']}/reply"
        assert task["question"]["kind"] == "confirmation"
        assert person.post(path, json={"reply": text}).status_code == 400
        assert server.task(task["task_id"])["question"] == task["question"]
        answer = person.post(path, json={"choice": "no"})
        assert answer.json()["new_status"] == "CANCELLED"

    def test_of_yes_lets_it_be_executed(self, server: Server, project: str, person: Any) -> None:
        id = server.chat(project, "rm -rf the folder build", "danger")["task_id"]
        server.until(id, "AWAITING_RESPONSE")
        assert person.post(f"/api/tasks/{id}/reply", json={"choice": "yes"}).json()["new_status"] == "QUEUED"
        assert "started" in [row["status"] and "started" for row in [server.until(id)]]


def at_once(number: int, act: Callable[[], Any]) -> list[Any]:
    """Do something in threads at the same moment; what each got."""
    gate, found = threading.Barrier(number), []

    def work() -> None:
        gate.wait()
        found.append(act())

    threads = [threading.Thread(target=work) for _ in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == number
    return found


class TestOrder:
    def test_in_a_project_the_first_in_the_queue_is_the_first_executed(self, server: Server, shared: WebHouse) -> None:
        project = server.project(shared.folder("of-order"))
        ids = [server.chat(project, f"create file-{n}.md", f"order-{n % 3}")["task_id"] for n in range(6)]
        started = [server.until(id)["started_at"] for id in ids]
        assert started == sorted(started)

    def test_what_only_reads_runs_at_once_and_lets_no_writer_wait_for_later_ones(
        self, server: Server, shared: WebHouse
    ) -> None:
        project = server.project(shared.folder("of-readers"))
        readers = [server.chat(project, f"explain how they sleep {n}")["task_id"] for n in range(2)]
        writer = server.chat(project, "create notes.md")["task_id"]
        late = server.chat(project, "explain how they sleep late")["task_id"]
        for id in readers:
            server.until(id, "RUNNING")
        assert [server.task(id)["status"] for id in (*readers, writer, late)] == [
            "RUNNING", "RUNNING", "QUEUED", "QUEUED",
        ]  # fmt: skip
        for id in (*readers, late):
            server.scripts.post(f"/api/tasks/{id}/cancel")
        assert server.until(writer)["status"] == "COMPLETE"

    def test_different_projects_run_at_once_as_far_as_there_are_places(self, web: WebHouse) -> None:
        server = web.serve(steps=STEPS)
        projects = [server.project(web.folder(f"project-{n}")) for n in range(6)]
        ids = [server.chat(project, f"create sleep-{n}.md")["task_id"] for n, project in enumerate(projects)]
        wait_for(lambda: sum(server.task(id)["status"] == "RUNNING" for id in ids) == 4)
        time.sleep(0.5)
        assert [server.task(id)["status"] for id in ids] == ["RUNNING"] * 4 + ["QUEUED"] * 2
        server.scripts.post(f"/api/tasks/{ids[0]}/cancel")
        server.until(ids[4], "RUNNING")
        assert server.task(ids[5])["status"] == "QUEUED"


def test_cancelling_what_runs_ends_its_whole_process_tree(web: WebHouse) -> None:
    pids = web.base / "pids"
    program = web.program(f"echo $$ >> {pids}; (echo $$; sleep 300) & sleep 300 & echo $! >> {pids}; wait")
    server = web.serve("--executor", program)
    id = server.chat(server.project(web.folder()), "create notes.md")["task_id"]
    wait_for(lambda: pids.exists() and len(pids.read_text().split()) == 2)
    answer = server.scripts.post(f"/api/tasks/{id}/cancel")
    assert (answer.status_code, answer.json()["new_status"]) == (200, "CANCELLED")
    assert not any(pathlib.Path(f"/proc/{pid}").exists() for pid in pids.read_text().split())
    assert server.task(id)["ended_at"] is not None
    (log,) = web.folder().glob(".orchestrator/sessions/*/logs/task-001.json")
    assert json.loads(log.read_text())["status"] == "cancelled"


def test_a_run_whose_project_is_gone_ends_as_an_error_and_the_loop_goes_on(web: WebHouse) -> None:
    server = web.serve(steps=STEPS)
    folder = web.folder("to-delete")
    gone, other = server.project(folder), server.project(web.folder("other"))
    first = server.chat(gone, "create a file to sleep over.md", "gone")["task_id"]
    second = server.chat(gone, "create notes.md", "gone")["task_id"]
    server.until(first, "RUNNING")
    shutil.rmtree(folder)
    answer = server.scripts.post(f"/api/tasks/{first}/cancel")
    assert (answer.status_code, answer.json()["error"]) == (409, "ILLEGAL_MOVE")
    assert [server.until(id)["status"] for id in (first, second)] == ["ERROR", "ERROR"]
    assert not folder.exists()
    assert server.until(server.chat(other, "create notes.md")["task_id"])["status"] == "COMPLETE"
    assert len(server.errors.splitlines()) < 10
    answer = server.scripts.post(f"/api/projects/{gone}/chat", json={"content": "x"})
    assert (answer.status_code, answer.json()["error"]) == (400, "E102")


END = "===================="
"""The last line of what a task came to."""
def test_what_is_not_confirmed_is_never_executed_however_many_come_at_once(
    server: Server, shared: WebHouse, project: str
) -> None:
    found = at_once(10, lambda: server.chat(project, "rm -rf the folder build", "many-dangers"))
    assert {each["status"] for each in found} == {"AWAITING_RESPONSE"}
    started = "SELECT count(*) FROM run_events WHERE session_id = 'many-dangers' AND kind = 'started'"
    assert shared.rows(started) == [(0,)]


HALF: dict[str, Any] = {"when": "half", "status": "INCOMPLETE", "output": "half", "writes": {"half.md": "half\n"}}
WHOLE: dict[str, Any] = {"when": "half", "status": "COMPLETE", "output": "whole", "writes": {"half.md": "whole\n"}}
TOLD = (HALF, WHOLE, *STEPS)
STORY = (
    "create notes.md", "ask for a colour", "explain why it may fail", "rm -rf the folder build", "create half.md",
    "create a file to sleep over.md",
)  # fmt: skip
_COMPARED = {
    "runs": "task_id, log_id, prompt, task_type, state, executor_status, error_code, error_reason, output,"
    " files_modified_count, question_id, retry_of IS NULL",
    "questions": "id, kind, text, answer, note, closed_by, closed_seq",
    "status_changes": "seq, part, entity, from_status, to_status, changed_by, reason, cause",
    "audit_events": "seq, kind, actor",
    "run_events": "seq, part, kind, level, text",
    "tasks": "id, title, status, assignee, type",
}  # fmt: skip


def test_the_same_story_gives_the_rows_that_the_repl_gives(
    web: WebHouse, tmp_path: pathlib.Path, script: pathlib.Path, initialised: pathlib.Path
) -> None:
    """Apart from ids of runs, times, channel and door."""
    server = web.serve(steps=TOLD)
    project = server.project(web.folder())
    with server.client(web.person()) as person:
        made = server.until(server.chat(project, STORY[0], "web-chat-1")["task_id"])
        id = server.until(server.chat(project, STORY[1], "web-chat-1")["task_id"], "AWAITING_RESPONSE")["task_id"]
        person.post(f"/api/tasks/{id}/reply", json={"reply": "blue"})
        server.until(id)
        server.until(server.chat(project, STORY[2], "web-chat-1")["task_id"])
        id = server.until(server.chat(project, STORY[3], "web-chat-1")["task_id"], "AWAITING_RESPONSE")["task_id"]
        person.post(f"/api/tasks/{id}/reply", json={"choice": "no"})
        server.until(id)
        half = server.until(server.chat(project, STORY[4], "web-chat-1")["task_id"])
        continued(server, person, half["session_id"])
        id = server.until(server.chat(project, STORY[5], "web-chat-1")["task_id"], "RUNNING")["task_id"]
        assert person.post(f"/api/tasks/{id}/cancel").json()["new_status"] == "CANCELLED"
    assert (made["status"], half["status"]) == ("COMPLETE", "INCOMPLETE")

    (tmp_path / "repl").mkdir()
    house = replhouse.House(tmp_path / "repl", script, initialised)
    terminal = house.sit(executor=house.scripted(*TOLD))
    try:
        for line, shown in (
            ("/start", "is started"), (STORY[0], END), (STORY[1], "Answer: /respond"), ("/respond blue", None),
            (STORY[2], END), (STORY[3], "Answer: /respond"), ("/respond no", END), (STORY[4], END), ("/approve", END),
        ):  # fmt: skip
            terminal.type(f"{line}\n")
            if shown is None:
                terminal.confirm()
                shown = END
            terminal.wait_for(shown)
        terminal.type(f"{STORY[5]}\n")
        wait_for(lambda: bool(told(house.database)["runs"][-1][4] == "running"))
        terminal.interrupt()
        terminal.wait_for(END)
        assert told(house.database) == told(web.database)
    finally:
        house.close()


def continued(server: Server, person: Any, session: str) -> None:
    """Let a person answer on its page whether unfinished work goes on, with `continue`; it goes on to its end."""
    waiting = server.open.get("/api/inbox", params={"session_id": session}).json()["questions"]
    (asked,) = [each["id"] for each in waiting if each["kind"] == "continuation"]
    answer = person.post(f"/questions/{asked}", data={"decision": "continue", "note": ""})
    assert answer.status_code == 303
    assert server.until(tasks_of(server, session)[-1]["task_id"])["status"] == "COMPLETE"


def test_retry_and_cancel_give_the_rows_that_the_desk_of_the_repl_gives(
    web: WebHouse, tmp_path: pathlib.Path, initialised: pathlib.Path
) -> None:
    """The REPL has no words for them; what it works at has."""
    server = web.serve(steps=STEPS)
    project = server.project(web.folder())
    with server.client(web.person()) as person:
        failed = server.until(server.chat(project, STORY[2], "web-chat-1")["task_id"])["task_id"]
        again = person.post(f"/api/tasks/{failed}/retry").json()["task_id"]
        assert server.until(again)["retry_of"] == failed
        waits = server.until(server.chat(project, STORY[1], "web-chat-1")["task_id"], "AWAITING_RESPONSE")["task_id"]
        assert person.post(f"/api/tasks/{waits}/cancel").json()["old_status"] == "AWAITING_RESPONSE"
        refused = person.post(f"/api/tasks/{waits}/retry").json()["error"]

    house = tmp_path / "desk"
    house.mkdir()
    database = pathlib.Path(shutil.copy(initialised, house / "orchestrator.db"))
    desk = bootstrap.open_run_session(
        project=str(replhouse.set_up(house / "project")), executor=web.scripted(*STEPS), database=str(database),
        interactive=True, environment={},
    )  # fmt: skip
    try:
        begin_session.start(desk)
        persons.sit(desk.context)
        by = {"by": "user"}
        failed = execute_run.execute(desk, submission.submit(desk, STORY[2])["id"])["id"]
        execute_run.execute(desk, submission.retry(desk, failed, **by))
        waits = execute_run.execute(desk, submission.submit(desk, STORY[1])["id"])["id"]
        submission.cancel(desk, waits, **by)
        with pytest.raises(errors.Refused) as caught:
            submission.retry(desk, waits, **by)
        assert refused == caught.value.code
        assert told(database) == told(web.database)
    finally:
        desk.context.connection.close()


def tasks_of(server: Server, chat: str) -> list[dict[str, Any]]:
    """The tasks of a chat."""
    found: list[dict[str, Any]] = server.open.get(f"/api/task-groups/{chat}/tasks").json()["tasks"]
    return found


_SEQ = {"audit_events": 0, "status_changes": 0, "run_events": 0, "questions": -1}
"""Where a row has the number of its step."""


def _without_stops(found: dict[str, list[tuple[Any, ...]]]) -> None:
    """Leave out the steps that say who had a run stopped: at a terminal that is whoever sits there."""
    stops = [row[0] for row in found["audit_events"] if row[1] == "run stop"]
    for table, place in _SEQ.items():
        rows = [list(row) for row in found[table] if row[place] not in stops]
        for row in rows:
            row[place] = row[place] and row[place] - sum(stop < row[place] for stop in stops)
        found[table] = [tuple(row) for row in rows]


def told(database: pathlib.Path) -> dict[str, list[tuple[Any, ...]]]:
    """The rows of the one session, with what differs from call to call by its place."""
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    try:
        (session,) = connection.execute("SELECT id FROM sessions").fetchone()
        names = {row[0]: f"run {n}" for n, row in enumerate(connection.execute("SELECT id FROM runs ORDER BY id"))}
        names[session] = "the session"
        names |= {row[0]: "the executor" for row in connection.execute("SELECT DISTINCT executor FROM runs")}
        found = {
            table: connection.execute(f"SELECT {columns} FROM {table} WHERE session_id = ?", (session,)).fetchall()
            for table, columns in _COMPARED.items()
        }
        _without_stops(found)
    finally:
        connection.close()

    def plain(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        for name, place in names.items():
            value = value.replace(name, place)
        return value

    return {table: [tuple(plain(value) for value in row) for row in rows] for table, rows in found.items()}


def test_a_record_with_all_of_this_verifies_and_is_told_again(shared: WebHouse, server: Server, project: str) -> None:
    server.until(server.chat(project, "explain it", "to-verify")["task_id"])
    assert shared.command("audit", "verify").returncode == 0
    assert shared.command("audit", "replay", "to-verify").returncode == 0


