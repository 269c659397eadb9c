"""What is read of a client's file of an agent: its place, and what it used; what cannot be read says nothing."""

from __future__ import annotations

import json
import os
import pathlib
from typing import Any

import pytest

from orchestrator.app.clients import transcripts
from tests.cases import every
from tests.integration.clients.test_hooks import PLAN, Client, report


def answer(id: str | None, tokens_in: Any, tokens_out: Any, **more: Any) -> dict[str, Any]:
    """A line of a transcript that counts tokens."""
    message = {"role": "assistant", "id": id, "usage": {"input_tokens": tokens_in, "output_tokens": tokens_out}}
    return {"type": "assistant", "message": message, **more}


def of_codex(id: Any, tokens_in: Any, tokens_out: Any, **more: Any) -> dict[str, Any]:
    """A line of a transcript of Codex that counts tokens."""
    usage = {"input_tokens": tokens_in, "output_tokens": tokens_out, **more}
    return {"type": "token_usage_record", "payload": {"response_id": id, "usage": usage}}


TWO = [answer("m1", 10, 4), answer("m2", 5, 3)]
READ: list[Any] = [
    (TWO, {"input_tokens": 15, "output_tokens": 7}),
    ([answer("m1", 10, 1), answer("m1", 10, 4)], {"input_tokens": 10, "output_tokens": 4}),
    ([answer(None, 10, 1), answer(None, 10, 4)], {"input_tokens": 20, "output_tokens": 5}),
    ([answer("m1", 1, 2, costUSD=0.25)], {"input_tokens": 1, "output_tokens": 2, "cost_microusd": 250_000}),
    ([answer("m1", -1, True), answer("m2", "9", 2**50), answer("m3", None, 1.5)], None),
    ([{"type": "user", "message": {"usage": {"input_tokens": 9}}}, {"message": "usage"}, ["usage"]], None),
    ([], None),
    ([of_codex("r1", 100, 7, cached_input_tokens=60, cache_write_input_tokens=10), of_codex("r2", 5, 1)], {
        "input_tokens": 35, "output_tokens": 8, "cache_read_input_tokens": 60, "cache_creation_input_tokens": 10,
    }),
    ([of_codex("r1", 5, 1), of_codex("r1", 5, 1)], {"input_tokens": 5, "output_tokens": 1}),
    ([of_codex(None, 5, "1", cached_input_tokens=9), of_codex(7, True, -1)], {"cache_read_input_tokens": 9}),
    ([{"type": "token_usage_record", "payload": each} for each in (None, ["usage"], {"usage": 4})], None),
]  # fmt: skip


@every(("lines", "used"), READ)
def test_tokens_are_counted_once_for_each_answer(
    tmp_path: pathlib.Path, lines: list[Any], used: dict[str, int] | None
) -> None:
    trace = tmp_path / "agent.jsonl"
    broken = ['{"usage": ', "\"usage\"", "[" * 100_000 + '"usage"', ""]
    trace.write_text("\n".join([*map(json.dumps, lines), *broken]))
    assert transcripts.usage(str(trace)) == used


def test_what_cannot_be_read_or_is_too_long_says_nothing(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe, trace = tmp_path / "pipe", tmp_path / "agent.jsonl"
    os.mkfifo(pipe)
    trace.write_text(json.dumps(TWO[0]) + "\n" + json.dumps(TWO[1]))
    for path in (None, "", str(tmp_path), str(pipe), str(tmp_path / "none"), "/dev/zero", "a\0b"):
        assert (transcripts.usage(path), transcripts.place(path)) == (None, None)
    monkeypatch.setattr(transcripts, "MOST", trace.stat().st_size)
    assert transcripts.usage(str(trace)) is not None
    monkeypatch.setattr(transcripts, "MOST", trace.stat().st_size - 1)
    assert transcripts.usage(str(trace)) is None


def test_what_agents_used_stands_with_their_starts_and_is_summed(tmp_path: pathlib.Path) -> None:
    client = Client(tmp_path)
    trace = tmp_path / "agent.jsonl"
    trace.write_text("\n".join(map(json.dumps, TWO)))
    client.begun("project_manager", worker="pm")
    # Counted once, though the agent was sent back, and where the report is refused at first.
    assert client.stops("no report", "pm", agent_transcript_path=str(trace)) is not None
    planned = report("PLANNING_COMPLETE", details={"plan": PLAN})
    assert client.stops(planned, "pm", agent_transcript_path=str(trace)) is None
    line = f"[orchestrator S1 A turn {client.spawn()['turn']} developer spawn]"
    client.begun("developer", line, "a1")
    client.event("StopFailure", agent_id="a1", error="unknown", agent_transcript_path=str(trace))
    client.begun("developer", line, "a2")
    assert client.stops(report("READY_FOR_QA"), "a2", agent_transcript_path=str(tmp_path / "none")) is None
    found = client.desk.call("audit stats", session_id="S1")["stats"]["starts"]
    parts = [(each["role"], each["group_id"], each["starts"], each["input_tokens"], each["output_tokens"])
             for each in found["by_role_and_group"]]  # fmt: skip
    assert parts == [("developer", "A", 2, 15, 7), ("project_manager", None, 1, 15, 7)]
    assert (found["input_tokens"], found["output_tokens"], found["cost_usd"]) == (30, 14, "0.000000")
    (group,) = client.desk.call("audit stats", session_id="S1", group_id="A")["stats"]["starts"]["by_role_and_group"]
    assert group["input_tokens"] == 15
    assert client.desk.call("audit replay", session_id="S1")["equal"] is True
    assert client.desk.call("audit verify")["findings"] == []
