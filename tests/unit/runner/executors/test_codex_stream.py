"""What Codex prints decides by its last turn: its answer, its error, and what it left running."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.runner.executors import codex, codex_stream
from tests.contract.executors import making

BEGUN = {"type": "thread.started", "thread_id": "t"}
DONE = {"type": "turn.completed", "usage": {"input_tokens": 20, "output_tokens": 4}}
NOTE = {"type": "item.completed", "item": {"id": "0", "type": "error", "message": "Model metadata not found."}}

RECORDED = pathlib.Path(__file__).with_name("recorded_codex_events.jsonl")
"""Events of Codex 0.171.0: its stream, and those of its hooks."""


def recorded(scene: str) -> list[dict[str, Any]]:
    lines = map(json.loads, RECORDED.read_text("utf-8").splitlines())
    return [each["event"] for each in lines if (each["scene"], each["kind"]) == (scene, "stream")]


def said(text: str, id: str = "9") -> dict[str, Any]:
    return {"type": "item.completed", "item": {"id": id, "type": "agent_message", "text": text}}


def ran(kind: str, status: str, id: str = "1") -> dict[str, Any]:
    return {"type": kind, "item": {"id": id, "type": "command_execution", "command": "npm test", "status": status}}


def read(folder: pathlib.Path, *events: dict[str, Any]) -> Any:
    return codex_stream.read(making.task(folder), events)


def test_the_last_message_of_the_turn_is_the_answer(tmp_path: pathlib.Path) -> None:
    whole = (ran("item.started", "in_progress"), ran("item.completed", "completed"))
    result = read(tmp_path, BEGUN, NOTE, said("I run it."), *whole, said("All done."), DONE)
    assert (result.status, result.session_id, result.output) == ("COMPLETE", making.SESSION, "All done.")
    assert (result.tool_calls, result.usage, result.background) == (1, DONE["usage"], False)


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("You\u2019ve hit your usage limit. Try again later.", "USAGE_LIMIT"),
        ("Missing environment variable: `OPENAI_API_KEY`.", "KEY_NOT_SET"),
        ("unexpected status 401 Unauthorized: no", "AUTHENTICATION"),
        ("The model `gpt-x` does not exist or you do not have access to it.", "MODEL_UNKNOWN"),
        ("stream disconnected before completion: failed to lookup address information", "CONNECTION"),
        ("something else", "REPORTED_ERROR"),
    ],
)
def test_a_failed_turn_has_the_kind_that_its_words_tell(tmp_path: pathlib.Path, words: str, kind: str) -> None:
    result = read(tmp_path, BEGUN, said("I try."), {"type": "turn.failed", "error": {"message": words}})
    assert (result.status, result.error) == ("ERROR", f"{kind}: {words}")


@pytest.mark.parametrize(
    ("events", "left"),
    [
        pytest.param([ran("item.started", "in_progress"), DONE], ("npm test (still running)",), id="never ended"),
        pytest.param([ran("item.started", "in_progress"), DONE, ran("item.completed", "completed")],
                     ("npm test (still running)",), id="ended behind the turn"),
        pytest.param([ran("item.completed", "in_progress"), DONE], ("npm test (still running)",), id="said so"),
        pytest.param([ran("item.started", "in_progress"), ran("item.completed", "failed"), DONE], (), id="failed"),
        pytest.param([{"type": "item.started", "item": {"id": "5", "type": "todo_list"}}, DONE], (), id="a list"),
    ],
)  # fmt: skip
def test_P8_what_had_not_ended_with_the_turn_is_unfinished(
    tmp_path: pathlib.Path, events: list[dict[str, Any]], left: tuple[str, ...]
) -> None:
    result = read(tmp_path, said("All done."), *events)
    assert (result.background, result.unfinished) == (bool(left), left)


def test_recorded_turns_are_read(tmp_path: pathlib.Path) -> None:
    done = read(tmp_path, *recorded("a command and an answer"))
    assert (done.status, done.output, done.tool_calls) == ("COMPLETE", "Done.\n\nSTATUS: READY_FOR_QA", 1)
    assert (done.conversation, done.usage_is_total) == ("01a224a8-0d41-7d01-b2a6-22b45e2442b9", True)
    limited = read(tmp_path, *recorded("usage limit reached"))
    assert (limited.status, limited.error.partition(":")[0]) == ("ERROR", "USAGE_LIMIT")
    assert limited.conversation == "01a224a8-1089-78e3-b0f8-1f2f487c6def"


@pytest.mark.parametrize(
    ("place", "temporary", "kept_out"),
    [
        ("/home/a/project", "/home/a/tmp", []),
        ("/tmp/project", "", ["exclude_slash_tmp"]),  # noqa: S108 - compared with, not used
        ("/var/a/project", "/var/a", ["exclude_tmpdir_env_var"]),
    ],
)
def test_an_agent_is_kept_out_of_a_temporary_folder_that_holds_its_project(
    tmp_path: pathlib.Path, place: str, temporary: str, kept_out: list[str]
) -> None:
    task = making.task(tmp_path)._replace(project=place, role="developer", writes=True, conversation="c")
    argv = codex.Codex(variables={"TMPDIR": temporary}).argv(task)
    assert [each.split(".")[1].removesuffix("=true") for each in argv if "sandbox_workspace" in each] == kept_out
    assert argv[argv.index("--sandbox") + 1] == "workspace-write"
    assert argv[-3:] == ["resume", "c", "-"]
    assert argv[argv.index("--disable") + 1] == "hooks"


def test_a_declined_command_is_a_denied_tool(tmp_path: pathlib.Path) -> None:
    result = read(tmp_path, ran("item.completed", "declined"), said("I could not."), DONE)
    assert (result.status, result.denied_tools) == ("ERROR", ("npm test",))


def test_without_the_end_of_a_turn_there_is_no_result(tmp_path: pathlib.Path) -> None:
    assert read(tmp_path, BEGUN, said("All done.")) is None
    assert codex_stream.last_error([BEGUN, {"type": "error", "message": "no network"}]) == "no network"


SHAPES = st.none() | st.integers() | st.text(max_size=4) | st.dictionaries(st.text(max_size=4), st.none(), max_size=2)
KEYS = st.sampled_from(["type", "item", "error", "message", "usage"])
KINDS = st.sampled_from(["item.started", "item.completed", "turn.failed", "error"])


@given(st.lists(st.dictionaries(KEYS, SHAPES | KINDS, max_size=4), max_size=4))
def test_P8_events_of_any_shape_are_read_without_a_fault(events: list[dict[str, Any]]) -> None:
    folder = pathlib.Path("/")
    task = making.port.ExecutorTask("r", "s", "p", "REPORT", str(folder), None, making.limits(), None)
    result = codex_stream.read(task, [*events, DONE])
    assert result is not None
    assert result.session_id == "s"
