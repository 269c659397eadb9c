"""Background work is told from Claude Code's events: what has not completed by the last result is unfinished."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.runner.executors import claude_stream
from tests.contract.executors import making

RESULT = {"type": "result", "subtype": "success", "is_error": False, "result": "All done.", "session_id": "c"}
INIT = {"type": "system", "subtype": "init"}


def started(task: str = "b1", **more: Any) -> dict[str, Any]:
    return {"type": "system", "subtype": "task_started", "task_id": task, "description": "look", **more}


def notified(status: str, task: str = "b1", **more: Any) -> dict[str, Any]:
    return {"type": "system", "subtype": "task_notification", "task_id": task, "status": status, **more}


def updated(task: str = "b1", **patch: Any) -> dict[str, Any]:
    return {"type": "system", "subtype": "task_updated", "task_id": task, "patch": patch}


def listed(*tasks: str) -> dict[str, Any]:
    return {"type": "system", "subtype": "background_tasks_changed", "tasks": [{"task_id": task} for task in tasks]}


def called(id: str = "t1", name: str = "Bash", **given: Any) -> dict[str, Any]:
    part = {"type": "tool_use", "id": id, "name": name, "input": {"command": "sleep 9", **given}}
    return {"type": "assistant", "message": {"content": [{"type": "text", "text": "x"}, part]}}


def returned(id: str = "t1", told: Any = None, *, is_error: bool = False) -> dict[str, Any]:
    part = {"type": "tool_result", "tool_use_id": id, "content": "x", "is_error": is_error}
    return {"type": "user", "message": {"content": [part]}, "tool_use_result": told}


IN_BACKGROUND = {"run_in_background": True}
SENT = {"stdout": "", "backgroundTaskId": "b1"}

UNFINISHED = [
    pytest.param([started(), RESULT], "look (still running)", id="never ended"),
    pytest.param([started(), notified("stopped"), RESULT], "look (stopped)", id="stopped"),
    pytest.param([started(), notified("failed"), RESULT], "look (failed)", id="failed"),
    pytest.param([started(), updated(status="killed"), RESULT], "look (killed)", id="killed"),
    pytest.param([started(), RESULT, notified("stopped")], "look (stopped)", id="stopped behind the result"),
    pytest.param([started(), RESULT, notified("completed")], "look (still running)", id="completed behind the result"),
    pytest.param([RESULT, started(), RESULT], "look (still running)", id="begun between two results"),
    pytest.param([INIT, RESULT, started()], "look (still running)", id="begun behind the result"),
    pytest.param([started(), notified("completed"), started(), RESULT], "look (still running)", id="resumed"),
    pytest.param(
        [called(name="Agent"), started(tool_use_id="t1"), notified("completed"), returned(told={"status": "completed"}),
         started(tool_use_id="t2"), returned("t2", {"success": True}), RESULT],
        "look (still running)", id="a foreground agent that is sent a message",
    ),
    pytest.param([called(**IN_BACKGROUND), RESULT], "sleep 9 (still running)", id="a command"),
    pytest.param([called(run_in_background="true"), returned(), RESULT], "sleep 9 (still running)",
                 id="a command, and nothing said of it"),
    pytest.param([called(), returned(told=SENT), RESULT], "a task without a name (still running)",
                 id="a command that took too long and was sent there"),
    pytest.param([called(**IN_BACKGROUND), started(tool_use_id="t1"), returned(told=SENT), notified("stopped"), RESULT],
                 "sleep 9 (stopped)", id="a command that was killed"),
    pytest.param([called(name="Agent"), started(tool_use_id="t1"), returned(told={"status": "async_launched"}), RESULT],
                 "look (still running)", id="an agent"),
    pytest.param([called(name="Agent"), started(tool_use_id="t1"),
                  returned(told={"isAsync": True, "agentId": "b1"}), RESULT],
                 "look (still running)", id="an agent by another spelling"),
    pytest.param([started(is_backgrounded=False), updated(is_backgrounded=True), RESULT], "look (still running)",
                 id="sent to the background later"),
    pytest.param([listed("b1"), listed(), RESULT], "a task without a name (still running)", id="in a list only"),
    pytest.param([called() | {"parent_tool_use_id": "t0"}, called("t2", **IN_BACKGROUND) | {"parent_tool_use_id": "t0"},
                  RESULT], "sleep 9 (still running)", id="by a subagent"),
    pytest.param([notified("stopped"), RESULT], "a task without a name (stopped)", id="whose beginning was cut off"),
]  # fmt: skip

FINISHED = [
    pytest.param([INIT, RESULT], id="nothing"),
    pytest.param([started(), notified("completed"), RESULT], id="completed"),
    pytest.param([started(), updated(status="completed"), RESULT], id="completed by an update"),
    pytest.param([started(), RESULT, notified("completed"), RESULT], id="completed before the last of two results"),
    pytest.param([started(), notified("completed"), RESULT, notified("stopped", "b2") | {"type": "other"}],
                 id="an unknown kind of event"),
    pytest.param([called(**IN_BACKGROUND), started(tool_use_id="t1"), returned(told=SENT), notified("completed"),
                  RESULT], id="a command"),
    pytest.param([called(**IN_BACKGROUND), returned(told=SENT), notified("completed", tool_use_id="t1"), RESULT],
                 id="a command without its start"),
    pytest.param([called(**IN_BACKGROUND), returned(told="Error: denied", is_error=True), RESULT],
                 id="a command that was denied"),
    pytest.param([called(**IN_BACKGROUND), returned(told={"stdout": "ok"}), RESULT],
                 id="a program that has no background"),
    pytest.param([called(name="Agent"), started(tool_use_id="t1"), notified("failed", tool_use_id="t1"),
                  returned(is_error=True), RESULT], id="a foreground agent that failed"),
    pytest.param([called(), returned(told={"stdout": "ok"}), RESULT], id="a command in the foreground"),
    pytest.param([started(is_backgrounded=False), RESULT], id="said to be in the foreground"),
]  # fmt: skip


@pytest.mark.parametrize(("events", "left"), UNFINISHED)
def test_P8_background_work_that_has_not_completed_by_the_last_result_is_unfinished(
    tmp_path: pathlib.Path, events: list[dict[str, Any]], left: str
) -> None:
    result = claude_stream.read(making.task(tmp_path), events, "c")
    assert result is not None
    assert (result.background, result.unfinished) == (True, (left,))


@pytest.mark.parametrize("events", FINISHED)
def test_P8_work_that_completed_or_never_was_in_the_background_holds_nothing_up(
    tmp_path: pathlib.Path, events: list[dict[str, Any]]
) -> None:
    result = claude_stream.read(making.task(tmp_path), events, "c")
    assert result is not None
    assert (result.status, result.background, result.unfinished) == ("COMPLETE", False, ())


def test_a_result_alone_tells_nothing_of_background_work(tmp_path: pathlib.Path) -> None:
    result = claude_stream.read(making.task(tmp_path), [RESULT], "c")
    assert result is not None
    assert (result.background, result.unfinished) == (None, ())


def test_a_stream_without_a_result_is_none(tmp_path: pathlib.Path) -> None:
    assert claude_stream.read(making.task(tmp_path), [INIT, started()], "c") is None


def test_the_last_of_several_results_counts(tmp_path: pathlib.Path) -> None:
    result = claude_stream.read(making.task(tmp_path), [INIT, RESULT, RESULT | {"result": "The last."}], "c")
    assert result is not None
    assert result.output == "The last."


@pytest.mark.parametrize(
    ("name", "left"),
    [
        ("background-stopped", ("x (stopped)",)),
        ("background-killed", ("x (stopped)",)),
        ("background-failed", ("x (failed)",)),
        ("background-completed", ()),
        ("background-agent", ()),
        ("foreground-agent", ()),
    ],
)
def test_P8_what_the_real_program_printed_is_understood(name: str, left: tuple[str, ...]) -> None:
    events = [json.loads(line) for line in making.fixture(name)["stdout"]]
    assert claude_stream.unfinished(events) == left


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
KEYS = st.sampled_from(
    ["type", "subtype", "task_id", "tool_use_id", "patch", "status", "tasks", "message", "content", "tool_use_result",
     "input", "id"]
)  # fmt: skip
WORDS = st.sampled_from(["system", "assistant", "user", "task_started", "task_updated", "background_tasks_changed"])


@given(st.lists(st.dictionaries(KEYS, VALUES | WORDS, max_size=6), max_size=6))
def test_P8_events_of_any_shape_are_read_without_a_fault(events: list[dict[str, Any]]) -> None:
    assert isinstance(claude_stream.unfinished([*events, RESULT]), tuple | None)
