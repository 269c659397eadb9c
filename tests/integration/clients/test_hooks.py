"""Hooks: which starts they allow, what an agent's last message does, and when the main agent may stop."""

from __future__ import annotations

import functools
import json
import pathlib
import re
import time
from typing import Any

import pytest

from orchestrator import bootstrap
from orchestrator.app import starts
from orchestrator.app.clients import claude_code, codex, hooks, rules
from orchestrator.app.clients.events import LIMIT, NOTHING, Event
from orchestrator.app.kernel import operations
from orchestrator.app.kernel.context import Context
from orchestrator.errors import Refused
from orchestrator.runner import commands, process_identity
from tests import persons
from tests.integration.app.desk import Desk

CLIENT = "b491e6bd-b518-472f-b023-bbd62a1ae902"
PLAN = {"groups": [{"id": "A", "description": "The form."}, {"id": "B"}]}
CODEX = pathlib.Path(__file__).with_name("recorded_codex_events.jsonl")
"""What hooks of Codex 0.171.0 received in two scenes: with agents that are called by ids, and by paths."""
GONE = process_identity.mine().rpartition(":")[0] + ":1"


class Client:
    """A client whose main agent directs session S1: Claude Code."""

    adapter: Any = claude_code
    message = ("SendMessage", "to")
    """The tool that sends a message, and the part of its input that names the agent."""

    def __init__(self, folder: pathlib.Path, *, directs: bool = True) -> None:
        self.desk = Desk(folder)
        self.folder = folder
        self.desk.session()
        if directs:
            operations.ask(self.desk.context, starts.AdoptSession(session_id="S1", client=CLIENT))
        self.calls = 0

    def event(
        self, name: str, owner: str | None = None, client: str = CLIENT, **more: Any
    ) -> dict[str, Any] | None:
        """What the client is told about an event."""
        within_s = more.pop("within_s", None)
        document = {"hook_event_name": name, "session_id": client, **more}
        event = self.adapter.read(document, {}, owner or process_identity.mine())
        event = event._replace(until=None if within_s is None else time.monotonic() + within_s)
        opened = functools.partial(bootstrap.open_context, str(self.desk.path), door="hook", channel="hook")
        answer: dict[str, Any] | None = self.adapter.answer(
            event, hooks.handle(lambda write: opened(write=write), event)
        )
        return answer

    def start(self, role: str, prompt: str = "work", **more: Any) -> dict[str, Any]:
        """What is answered to a start of an agent."""
        self.calls += 1
        given = {"subagent_type": role, "prompt": prompt, "description": "d", **more.pop("given", {})}
        more = {"tool_use_id": f"toolu_{self.calls}", **more}
        answer = self.event("PreToolUse", tool_name="Agent", tool_input=given, **more)
        return (answer or {}).get("hookSpecificOutput", {})

    def begun(self, role: str, prompt: str = "work", worker: str = "a1") -> dict[str, Any]:
        """The input of an agent that was started and is at work."""
        found = self.start(role, prompt)
        assert found["permissionDecision"] == "allow", found
        self.event("PostToolUse", tool_name="Agent", tool_use_id=f"toolu_{self.calls}",
                   tool_response={"agentId": worker})
        return dict(found["updatedInput"])

    def stops(self, message: str, worker: str = "a1", **more: Any) -> str | None:
        """The reason for which an agent is sent back; None where it may stop."""
        answer = self.event("SubagentStop", agent_id=worker, agent_type="x", last_assistant_message=message, **more)
        return answer["reason"] if answer else None

    def sends(self, worker: str) -> dict[str, Any] | None:
        """What is answered to a message to an agent."""
        tool, part = self.message
        return self.event("PreToolUse", tool_name=tool, tool_input={part: worker}, tool_use_id="toolu_m")

    def planned(self) -> None:
        self.begun("project_manager", worker="pm")
        assert self.stops(report("PLANNING_COMPLETE", details={"plan": PLAN}), "pm") is None

    def spawn(self, group: str | None = "A") -> dict[str, Any]:
        status = self.desk.call("status", session_id="S1")
        return next(each for each in status["spawns"] if each["group_id"] == group)

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        return self.desk.context.connection.execute(sql).fetchall()


class Codex(Client):
    """A client whose agents are called by ids, and that has no event for what becomes of them in the background."""

    adapter = codex
    message = ("multi_agent_v1send_input", "target")
    tool = "spawn_agent"

    def start(self, role: str, prompt: str = "work", **more: Any) -> dict[str, Any]:
        self.calls += 1
        given = {"agent_type": role, "message": prompt, **more.pop("given", {})}
        more = {"tool_use_id": f"toolu_{self.calls}", **more}
        answer = self.event("PreToolUse", tool_name=self.tool, tool_input=given, **more)
        return told((answer or {}).get("hookSpecificOutput", {}))

    def begun(self, role: str, prompt: str = "work", worker: str = "a1") -> dict[str, Any]:
        found = self.start(role, prompt)
        assert found["permissionDecision"] == "allow", found
        self.event("PostToolUse", tool_name=self.tool, tool_use_id=f"toolu_{self.calls}",
                   tool_response=json.dumps({"agent_id": worker, "nickname": "Hume"}))
        return dict(found["updatedInput"])


class SealedCodex(Codex):
    """A client whose agents are called by paths, and whose messages to them no hook can read."""

    message = ("collaborationsend_message", "target")
    tool = "collaborationspawn_agent"

    def __init__(self, folder: pathlib.Path, *, directs: bool = True) -> None:
        super().__init__(folder, directs=directs)
        self.names: dict[str, str] = {}

    def start(self, role: str, prompt: str = "work", **more: Any) -> dict[str, Any]:
        sealed = "gAAAAAB" + "".join(each for each in prompt if each.isalnum())
        return super().start(role, sealed, **{**more, "given": {"task_name": "x", **more.get("given", {})}})

    def begun(self, role: str, prompt: str = "work", worker: str = "a1") -> dict[str, Any]:
        found = self.start(role, prompt)
        assert found["permissionDecision"] == "allow", found
        given = found["updatedInput"]
        self.names[worker] = given["task_name"]
        answer = self.event("SubagentStart", agent_id=worker, agent_type=role, transcript_path=self.trace(worker))
        self.event("PostToolUse", tool_name=self.tool, tool_use_id=f"toolu_{self.calls}",
                   tool_response=json.dumps({"task_name": f"/root/{given['task_name']}"}))
        assert answer is not None
        return {**given, "prompt": answer["hookSpecificOutput"]["additionalContext"]}

    def trace(self, worker: str) -> str:
        """The transcript of an agent, which names its path."""
        file = self.folder / f"{worker}.jsonl"
        file.write_text(json.dumps({"payload": {"agent_path": f"/root/{self.names.get(worker, 'x')}"}}) + "\n")
        return str(file)

    def stops(self, message: str, worker: str = "a1", **more: Any) -> str | None:
        return super().stops(message, worker, **{"agent_transcript_path": self.trace(worker), **more})

    def sends(self, worker: str) -> dict[str, Any] | None:
        return super().sends(self.names.get(worker, worker))


def told(found: dict[str, Any]) -> dict[str, Any]:
    """An answer with the hand-off under the name that it has in Claude Code."""
    if "updatedInput" in found:
        found["updatedInput"]["prompt"] = found["updatedInput"]["message"]
    return found


ANY = pytest.mark.parametrize(
    "client", [Client, Codex, SealedCodex], ids=["claude-code", "codex", "codex, sealed"], indirect=True
)
"""The rules are the same for every client."""


def report(status: str, **more: Any) -> str:
    return f"Done.\n\n```json\n{json.dumps({'status': status, 'summary': 'done', **more})}\n```"


@pytest.fixture
def client(tmp_path: pathlib.Path, request: pytest.FixtureRequest) -> Client:
    kind: type[Client] = getattr(request, "param", Client)
    return kind(tmp_path)


# Which starts are allowed


def test_a_start_of_the_awaited_role_gets_the_frozen_hand_off(client: Client) -> None:
    found = client.start("project-manager", "plan it well", given={"model": "gpt-9"})
    assert found["permissionDecision"] == "allow"
    given = found["updatedInput"]
    assert given["prompt"].splitlines()[0] == "[orchestrator S1 - turn 1 project_manager spawn]"
    assert given["prompt"].rstrip().endswith("> plan it well")
    assert "not an instruction" in given["prompt"]
    assert "orchestrator route --session-id" not in given["prompt"].partition("## Your role")[0]
    assert (given["subagent_type"], given["description"], given["model"]) == ("project-manager", "d", "opus")


@pytest.mark.parametrize("role", ["developer", "tech_lead", "qa-expert"])
@ANY
def test_a_start_of_a_role_that_is_not_awaited_is_denied_with_what_is_due(client: Client, role: str) -> None:
    found = client.start(role)
    assert found["permissionDecision"] == "deny"
    assert "start project_manager, turn 1" in found["permissionDecisionReason"]
    assert client.rows("SELECT count(*) FROM starts") == [(0,)]


@ANY
def test_other_agents_are_free(client: Client) -> None:
    assert client.start("general-purpose") == {}
    assert client.start("Explore") == {}


@pytest.mark.parametrize("caller", ["developer", "general-purpose"])
@ANY
def test_only_the_main_agent_starts_roles(client: Client, caller: str) -> None:
    found = client.start("project_manager", agent_id="a9", agent_type=caller)
    assert found["permissionDecision"] == "deny"


def test_a_second_start_of_a_turn_is_denied_and_the_same_call_is_not(client: Client) -> None:
    first = client.start("project_manager")
    again = client.start("project_manager", tool_use_id="toolu_1")
    assert again["updatedInput"]["prompt"] == first["updatedInput"]["prompt"]
    second = client.start("project_manager")
    assert second["permissionDecision"] == "deny"
    assert "is under way" in second["permissionDecisionReason"]
    assert client.rows("SELECT count(*) FROM starts") == [(1,)]


def test_a_turn_that_another_client_takes_at_that_moment_is_denied(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = rules._chosen

    def taken(*given: Any) -> Any:
        turn = chosen(*given)
        reserve = starts.ReserveStart(session_id="S1", group_id=None, turn=turn["turn"], via="mcp", client="other")
        operations.ask(client.desk.context, reserve)
        return turn

    monkeypatch.setattr(rules, "_chosen", taken)
    found = client.start("project_manager")
    assert found["permissionDecision"] == "deny"
    assert "Turn 1 has already been started" in found["permissionDecisionReason"]
    assert client.rows("SELECT via FROM starts") == [("mcp",)]


def test_of_two_turns_of_one_role_the_first_line_says_which(client: Client) -> None:
    client.planned()
    denied = client.start("developer")
    assert denied["permissionDecision"] == "deny"
    assert "2 open turns" in denied["permissionDecisionReason"]
    turn = client.spawn("B")["turn"]
    given = client.begun("developer", f"[orchestrator S1 B turn {turn} developer spawn]\nplease")
    assert given["prompt"].splitlines()[0] == f"[orchestrator S1 B turn {turn} developer spawn]"
    assert client.begun("developer", worker="a2")["prompt"].splitlines()[0].startswith("[orchestrator S1 A ")
    assert "The form." in client.desk.call("handoff", session_id="S1", group_id="A")["markdown"]


@pytest.mark.parametrize("line", ["[orchestrator S2 A turn 5 developer spawn]", "[orchestrator S1 A turn 1 x spawn]"])
def test_a_first_line_of_another_turn_starts_nobody(client: Client, line: str) -> None:
    client.planned()
    assert client.start("developer", line)["permissionDecision"] == "deny"


def test_a_start_whose_client_was_killed_is_lost_and_may_be_made_again(client: Client) -> None:
    client.event("PreToolUse", owner=GONE, tool_name="Agent", tool_use_id="t0",
                 tool_input={"subagent_type": "project_manager", "prompt": "x"})
    assert client.spawn(None)["start"]["state"] == "lost"
    assert client.start("project_manager")["permissionDecision"] == "allow"
    assert client.rows("SELECT outcome FROM starts ORDER BY seq") == [("lost",), (None,)]


def test_a_client_that_directs_no_session_is_left_alone(tmp_path: pathlib.Path) -> None:
    client = Client(tmp_path, directs=False)
    before = client.desk.events()
    assert client.start("developer") == {}
    assert client.event("Stop") is None
    assert client.event("SessionStart", source="startup") is None
    assert client.event("NoSuchEvent") is None
    assert client.desk.events() == before
    assert not (tmp_path / "clients").exists()


@pytest.mark.parametrize(
    ("name", "of"),
    [
        pytest.param("NoSuchEvent", CLIENT, id="an unknown event"), pytest.param("Stop", "", id="no client"),
        pytest.param("SubagentStart", CLIENT, id="an agent that no start has named"),
        pytest.param("Stop", "../x", id="a path"), pytest.param("Stop", "x" * 101, id="a long name"),
    ],
)  # fmt: skip
def test_an_unknown_event_and_one_of_no_client_open_no_database(name: str, of: str) -> None:
    def opened(write: bool) -> Context:
        raise AssertionError("the database was opened")

    assert hooks.handle(opened, Event(name, of)) == NOTHING


@ANY
def test_a_message_goes_to_an_agent_only_while_its_turn_is_open(client: Client) -> None:
    client.begun("project_manager", worker="pm")
    assert client.sends("pm") is None
    client.stops(report("PLANNING_COMPLETE", details={"plan": PLAN}), "pm")
    answer = client.sends("pm")
    assert answer is not None
    assert answer["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert client.sends("somebody") is None


def test_a_message_to_an_agent_that_failed_is_denied(client: Client) -> None:
    client.begun("project_manager", worker="pm")
    client.event("StopFailure", agent_id="pm", error="server_error")
    answer = client.sends("pm")
    assert answer is not None
    assert answer["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_a_message_to_an_agent_of_an_earlier_session_is_allowed(client: Client) -> None:
    client.begun("project_manager", worker="pm")
    with persons.seated(client.desk.context):
        client.desk.call("session end", id="S1", by="user", reason="r")
    client.desk.session("S2")
    operations.ask(client.desk.context, starts.AdoptSession(session_id="S2", client=CLIENT))
    assert client.sends("pm") is None


def test_a_manager_whose_last_message_is_read_is_shown_reports_in_place_of_commands(client: Client) -> None:
    client.begun("project_manager", worker="pm")
    client.stops(report("PLANNING_COMPLETE"), "pm")
    prompt = client.start("project_manager")["updatedInput"]["prompt"]
    assert '{"status": "PLANNING_COMPLETE", "summary": "TEXT", "details": {"plan": {"groups": [{"id": "ID"' in prompt
    assert "orchestrator route --session-id S1" not in prompt
    assert "orchestrator route --session-id S1" in client.desk.call("handoff", session_id="S1")["markdown"]


# What an agent's last message does


@ANY
def test_the_report_is_taken_out_of_the_last_message_and_routed(client: Client) -> None:
    client.planned()
    assert [row[0] for row in client.rows("SELECT id FROM task_groups ORDER BY id")] == ["A", "B"]
    assert client.spawn("A")["agent"] == "developer"
    (kept,) = client.rows("SELECT t.content FROM agent_reports r JOIN texts t ON t.hash = r.raw_hash")
    assert kept[0].startswith("Done.")


@ANY
def test_a_message_without_a_report_goes_back_three_times_then_the_agent_is_replaced(client: Client) -> None:
    client.begun("project_manager", worker="pm")
    for _ in range(3):
        reason = client.stops("It is all planned.", "pm")
        assert reason is not None
        assert "PLANNING_COMPLETE" in reason
        assert "STATUS: CODE" in reason
    assert client.stops("It is all planned.", "pm") is None
    assert client.spawn(None)["turn"] != 1
    (outcome,) = client.rows("SELECT outcome FROM starts")
    assert outcome == ("failed",)


def test_after_two_replacements_a_person_is_asked(client: Client) -> None:
    for number in range(3):
        client.begun("project_manager", worker=f"pm{number}")
        for _ in range(4):
            client.stops("no report", f"pm{number}")
    status = client.desk.call("status", session_id="S1")
    assert (status["state"], status["questions"][0]["kind"]) == ("person_awaited", "budget")
    answer = client.desk.call("audit replay", session_id="S1")
    assert (answer["equal"], answer["count"]) == (True, 0), answer


def test_a_message_that_is_handed_back_by_a_tool_is_the_last_one(client: Client) -> None:
    client.begun("project_manager", worker="pm")

    def hands(message: str) -> str | None:
        """Why the message is turned down."""
        answer = client.event("PreToolUse", tool_name="SubagentHandback", tool_input={"message": message},
                              agent_id="pm", tool_use_id="toolu_9")
        return answer["hookSpecificOutput"]["permissionDecisionReason"] if answer else None

    reason = hands("It is planned.")
    assert reason is not None
    assert "The message holds no report" in reason
    assert hands(report("PLANNING_COMPLETE", details={"plan": PLAN})) is None
    assert client.event("SubagentStop", agent_id="pm", agent_type="project_manager") is None
    assert client.spawn("A")["agent"] == "developer"
    (kept,) = client.rows("SELECT t.content FROM agent_reports r JOIN texts t ON t.hash = r.raw_hash")
    assert kept[0].startswith("Done.")


BAD = [
    ("no report", "The message holds no report"),
    (report("PLANNING_COMPLETE") + "\n" + report("CONTINUE"), "differ"),
    (report("DONE"), "has no status DONE"),
    (report("PLANNING_COMPLETE", metadata={"status": "done"}), "$.status"),
    (report("PLANNING_COMPLETE", details={"plan": {"groups": [{"id": "a b"}]}}), "$.details.plan.groups[0].id"),
    (report("PLANNING_COMPLETE", details={"tasks_done": "T1"}), "$.details.tasks_done"),
]


@pytest.mark.parametrize(("message", "said"), BAD, ids=[each[1] for each in BAD])
def test_a_faulty_report_goes_back_with_what_is_wrong(client: Client, message: str, said: str) -> None:
    client.begun("project_manager", worker="pm")
    reason = client.stops(message, "pm")
    assert reason is not None
    assert said in reason
    assert len(reason) <= LIMIT
    assert client.spawn(None)["turn"] == 1
    assert client.stops(report("PLANNING_COMPLETE", details={"plan": PLAN}), "pm") is None


def asked_for_the_session(client: Client) -> str:
    """Start the manager whom the session awaits because its only group is merged untested; its prompt."""
    client.begun("project_manager", worker="pm")
    client.stops(report("PLANNING_COMPLETE", details={"plan": {"groups": [{"id": "A"}]}}), "pm")
    for words in ("developer READY_FOR_QA", "qa_expert FAIL", "developer READY_FOR_REVIEW", "tech_lead APPROVED",
                  "developer MERGE_SUCCESS"):
        client.desk.report(words, "A")
    return str(client.begun("project_manager")["prompt"])


def test_a_manager_of_the_whole_session_names_the_group_that_its_report_is_about(client: Client) -> None:
    prompt = asked_for_the_session(client)
    assert '{"status": "REWORK", "group_id": "A", "summary": "TEXT"}' in prompt
    unnamed, unknown = client.stops(report("REWORK")), client.stops(report("REWORK", group_id="C"))
    assert unnamed is not None
    assert unknown is not None
    assert '"group_id": "ID"' in unnamed
    assert "$.group_id: names no group of session S1" in unknown
    assert client.stops(report("REWORK", group_id="A")) is None
    assert client.spawn("A")["agent"] == "developer"
    assert client.desk.call("audit replay", session_id="S1")["equal"] is True


def test_faulty_reports_on_a_named_group_have_the_same_limit(client: Client) -> None:
    asked_for_the_session(client)
    turn = client.spawn(None)["turn"]
    assert [client.stops(report("NOPE", group_id="A")) is None for _ in range(4)] == [False, False, False, True]
    assert client.spawn(None)["turn"] != turn


def test_a_report_names_no_other_group_than_that_of_its_turn(client: Client) -> None:
    client.planned()
    first = f"[orchestrator S1 A turn {client.spawn()['turn']} developer spawn]"
    client.begun("developer", first)
    reason = client.stops(report("READY_FOR_QA", group_id="B"))
    assert reason is not None
    assert "$.group_id: must be A, the group of this turn" in reason
    assert client.stops(report("READY_FOR_QA", group_id="A")) is None


@ANY
def test_a_stop_without_anything_new_or_of_a_stale_turn_does_nothing(client: Client) -> None:
    client.planned()
    before = client.desk.events()
    assert client.stops(report("PLANNING_COMPLETE", details={"plan": PLAN}), "pm") is None
    assert client.stops("what else?", "pm") is None
    assert client.stops("nobody knows me", "stranger") is None
    assert client.stops("compacted", "", agent_transcript_path="/does/not/exist") is None
    assert client.desk.events() == before


def test_an_agent_is_known_by_the_first_line_of_its_transcript(client: Client, tmp_path: pathlib.Path) -> None:
    given = client.start("project_manager")["updatedInput"]
    trace = tmp_path / "agent-pm.jsonl"
    trace.write_text(json.dumps({"message": {"content": given["prompt"]}}))
    message = report("PLANNING_COMPLETE", details={"plan": PLAN})
    assert client.stops(message, "pm", agent_transcript_path=str(trace)) is None
    assert client.rows("SELECT worker, trace FROM starts") == [("pm", str(trace))]
    assert client.spawn("A")["agent"] == "developer"


def test_a_refusal_that_is_not_the_agents_lets_it_stop(client: Client) -> None:
    client.planned()
    client.begun("developer", f"[orchestrator S1 A turn {client.spawn('A')['turn']} developer spawn]")
    client.desk.call("group set-status", id="A", status="cancelled", session_id="S1", by="project_manager",
                     reason="moot")
    assert client.stops(report("READY_FOR_QA")) is None


@pytest.mark.parametrize(
    ("name", "more", "outcome"),
    [
        ("StopFailure", {"agent_id": "pm", "error": "unknown"}, "failed"),
        ("StopFailure", {"agent_id": "pm", "error": "rate_limit"}, "limited"),
        ("PostToolUseFailure", {"tool_use_id": "toolu_1", "error": "model is not of the enum"}, "failed"),
    ],
)
def test_an_agent_that_fails_frees_its_turn(client: Client, name: str, more: dict[str, Any], outcome: str) -> None:
    client.begun("project_manager", worker="pm")
    client.event(name, **more)
    assert client.rows("SELECT outcome, reason FROM starts") == [(outcome, more["error"])]
    assert client.start("project_manager")["permissionDecision"] == "allow"


def test_an_agent_that_fails_after_its_report_changes_nothing(client: Client) -> None:
    client.planned()
    before = client.desk.events()
    client.event("StopFailure", agent_id="pm", error="server_error")
    assert client.desk.events() == before


def test_a_turn_that_waits_for_a_usage_limit_keeps_nobody(client: Client) -> None:
    client.begun("project_manager", worker="pm")
    client.event("StopFailure", agent_id="pm", error="rate_limit")
    assert client.event("Stop") is None
    answer = client.event("SessionStart", source="startup")
    assert answer is not None
    assert "waits for a usage limit until" in answer["hookSpecificOutput"]["additionalContext"]


@pytest.mark.parametrize("word", ["failed", "killed"])
def test_a_note_that_an_agent_failed_frees_its_turn(client: Client, word: str) -> None:
    client.begun("project_manager", worker="pm")
    note = f"<task-notification>\n<tool-use-id>toolu_1</tool-use-id>\n<status>{word}</status>"
    client.event("UserPromptSubmit", prompt=note)
    assert client.rows("SELECT outcome FROM starts") == [("failed",)]


# What the main agent is told, and when it may stop


@ANY
def test_the_main_agent_is_told_what_was_decided_once(client: Client) -> None:
    client.event("SessionStart", source="startup")
    client.planned()
    answer = client.event("UserPromptSubmit", prompt="go on")
    assert answer is not None
    text = answer["hookSpecificOutput"]["additionalContext"]
    assert "project_manager PLANNING_COMPLETE -> developer" in text
    assert "start developer on A" in text
    assert client.event("UserPromptSubmit", prompt="go on") is None
    assert client.event("UserPromptSubmit", prompt="go on", agent_id="a1") is None


def test_a_main_agent_that_begins_is_told_how_to_replace_who_was_lost(client: Client) -> None:
    client.planned()
    client.start("developer", f"[orchestrator S1 A turn {client.spawn()['turn']} developer spawn]")
    client.event("SessionEnd", reason="prompt_input_exit")
    answer = client.event("SessionStart", source="resume")
    assert answer is not None
    text = answer["hookSpecificOutput"]["additionalContext"]
    again = "orchestrator redispatch A --session-id S1 --reason 'the process of the client is gone'"
    assert f"- lost: developer on A, turn {client.spawn('A')['turn']}: {again}" in text
    assert f"- start developer on B, turn {client.spawn('B')['turn']}: " in text
    client.desk.call("redispatch", session_id="S1", group_id="A", reason="the process of the client is gone")
    assert client.event("UserPromptSubmit", prompt="go on") is not None
    held = client.event("Stop")
    assert held is not None
    assert "lost" not in held["reason"]


@pytest.mark.parametrize("source", ["startup", "resume", "clear", "compact"])
def test_a_main_agent_that_begins_is_told_where_the_session_stands(client: Client, source: str) -> None:
    answer = client.event("SessionStart", source=source)
    assert answer is not None
    text = answer["hookSpecificOutput"]["additionalContext"]
    assert "you direct session S1" in text
    assert "start project_manager, turn 1" in text


def test_the_main_agent_may_not_stop_while_something_is_due(client: Client) -> None:
    answer = client.event("Stop")
    assert answer is not None
    assert "start project_manager, turn 1" in answer["reason"]
    assert client.event("Stop") is None
    client.begun("project_manager", worker="pm")
    assert client.event("Stop", background_tasks=[{"id": "pm"}]) is None
    client.stops(report("PLANNING_COMPLETE", details={"plan": PLAN}), "pm")
    again = client.event("Stop")
    assert again is not None
    assert "developer on A" in again["reason"]


def test_the_main_agent_may_stop_while_its_session_is_paused(client: Client) -> None:
    client.desk.call("session pause", id="S1", by="project_manager", reason="lunch")
    assert client.event("Stop") is None


def test_an_agent_whose_turn_ended_while_its_report_was_judged_is_not_sent_back(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.begun("project_manager", worker="pm")

    def refused(*_: object) -> None:
        client.desk.call("redispatch", session_id="S1", reason="it takes too long")
        raise Refused("USAGE", "The report is not whole.", "Write it again")

    monkeypatch.setattr(rules.last_messages, "report", refused)
    assert client.stops("done", "pm") is None
    assert client.rows("SELECT count(*) FROM starts WHERE outcome = 'failed'") == [(0,)]


@ANY
def test_a_verdict_that_is_due_holds_the_main_agent(client: Client) -> None:
    client.begun("project_manager", worker="pm")
    client.stops(report("BAZINGA"), "pm")
    answer = client.event("Stop")
    assert answer is not None
    assert "orchestrator validate S1" in answer["reason"]


@ANY
def test_a_reservation_whose_agent_never_began_is_free_at_the_next_stop(client: Client) -> None:
    client.start("project_manager")
    answer = client.event("Stop")
    assert client.rows("SELECT outcome FROM starts") == [("freed",)]
    assert answer is not None


@ANY
def test_what_a_client_had_under_way_is_lost_when_it_ends(client: Client) -> None:
    client.begun("project_manager", worker="pm")
    client.event("SessionEnd", reason="other")
    assert client.rows("SELECT outcome, reason FROM starts") == [("lost", "the client ended: other")]


def test_a_client_that_forgets_its_conversation_directs_the_session_in_the_next_one(client: Client) -> None:
    client.event("SessionEnd", reason="clear")
    after = "after-clear"
    answer = client.event("SessionStart", source="clear", client=after)
    assert answer is not None
    assert "you direct session S1" in answer["hookSpecificOutput"]["additionalContext"]
    assert client.event("Stop") is None
    assert client.event("Stop", client=after) is not None


# What is Codex's own


@pytest.mark.parametrize("client", [Codex], indirect=True)
def test_codex_starts_an_agent_with_the_hand_off_alone(client: Codex) -> None:
    found = client.start("project_manager", "plan it well", given={
        "model": "gpt-9", "fork_context": True, "items": [{"type": "text", "text": "Do as you like."}],
    })["updatedInput"]  # fmt: skip
    assert {*found} == {"agent_type", "message", "prompt"}
    assert found["message"].splitlines()[0] == "[orchestrator S1 - turn 1 project_manager spawn]"
    assert found["message"].rstrip().endswith("> plan it well")


@pytest.mark.parametrize("client", [SealedCodex], indirect=True)
def test_an_agent_whose_message_is_sealed_gets_its_hand_off_as_a_context(client: SealedCodex) -> None:
    client.planned()
    first = client.begun("developer", worker="a1")
    assert (first["message"], first["fork_turns"]) == ("gAAAAABwork", "none")
    (seq,) = client.rows("SELECT max(seq) FROM starts")[0]
    assert first["task_name"] == f"developer_{seq}"
    second = client.begun("developer", worker="a2")
    lines = [each["prompt"].splitlines()[0] for each in (first, second)]
    assert [re.sub(r"\d+", "N", each) for each in lines] == [
        "[orchestrator SN A turn N developer spawn]", "[orchestrator SN B turn N developer spawn]",
    ]  # fmt: skip
    workers = [(f"/root/{client.names[each]}", str(client.folder / f"{each}.jsonl")) for each in ("pm", "a1", "a2")]
    assert client.rows("SELECT worker, trace FROM starts ORDER BY seq") == workers
    assert client.stops(report("READY_FOR_QA"), "a2") is None
    assert client.spawn("B")["agent"] == "qa_expert"
    assert client.start("developer")["permissionDecision"] == "deny"
    # An agent that no start of ours has named is left alone.
    stranger = client.folder / "other.jsonl"
    stranger.write_text('{"agent_path": "/root/developer_9999"}')
    more = {"agent_id": "x", "agent_type": "developer", "transcript_path": str(stranger)}
    assert client.event("SubagentStart", **more) is None


@pytest.mark.parametrize("client", [SealedCodex], indirect=True)
def test_a_hand_off_that_is_too_long_for_a_context_says_how_to_read_the_rest(client: SealedCodex) -> None:
    client.begun("project_manager", worker="pm")
    plan = {"groups": [{"id": "A", "description": "word " * 3000}]}
    client.stops(report("PLANNING_COMPLETE", details={"plan": plan}), "pm")
    text = client.begun("developer")["prompt"]
    assert len(text) <= LIMIT
    turn = client.spawn("A")["turn"]
    assert text.rstrip().endswith(f"read the rest first: orchestrator handoff A --session-id S1 --turn {turn})")


WAITED = [
    ({"status": {"WORKER": {"errored": "stream disconnected"}}}, ("failed", "stream disconnected")),
    ({"status": {"WORKER": {"errored": "You\u2019ve hit your usage limit. Try again later."}}},
     ("limited", "You\u2019ve hit your usage limit. Try again later.")),
    ({"status": {"WORKER": {"completed": "Done."}}}, (None, None)),
    ({"status": {"WORKER": "running"}, "timed_out": True}, (None, None)),
    ({"status": ["WORKER"]}, (None, None)),
    ("no answer", (None, None)),
]  # fmt: skip


@pytest.mark.parametrize("client", [Codex], indirect=True)
@pytest.mark.parametrize(("answer", "found"), WAITED)
def test_what_became_of_an_agent_of_codex_is_noticed_where_it_is_waited_for(
    client: Codex, answer: Any, found: tuple[str | None, str | None]
) -> None:
    client.begun("project_manager", worker="pm")
    response = json.dumps(answer).replace("WORKER", "pm")
    client.event("PostToolUse", tool_name="multi_agent_v1wait_agent", tool_input={}, tool_response=response)
    assert client.rows("SELECT outcome, reason FROM starts") == [found]


@pytest.mark.parametrize(("client", "tool"), [
    (Codex, "multi_agent_v1close_agent"), (SealedCodex, "collaborationinterrupt_agent"),
], indirect=["client"])  # fmt: skip
@pytest.mark.parametrize("was", ["running", "completed"])
def test_an_agent_of_codex_that_is_stopped_at_work_has_failed(client: Codex, tool: str, was: str) -> None:
    client.begun("project_manager", worker="pm")
    target = getattr(client, "names", {}).get("pm", "pm")
    client.event("PostToolUse", tool_name=tool, tool_input={"target": target},
                 tool_response=json.dumps({"previous_status": was}))
    assert client.rows("SELECT outcome FROM starts") == [("failed" if was == "running" else None,)]


@pytest.mark.parametrize("client", [Codex, SealedCodex], indirect=True)
def test_codex_waits_for_its_agents_since_nothing_wakes_it(client: Codex) -> None:
    client.begun("project_manager", worker="pm")
    held = client.event("Stop")
    assert held is not None
    assert held["reason"] == "Wait for your agents with wait_agent: project_manager, turn 1."
    assert client.event("Stop") is None
    client.stops(report("PLANNING_COMPLETE", details={"plan": PLAN}), "pm")
    again = client.event("Stop")
    assert again is not None
    assert "start developer on A" in again["reason"]
    assert "agent_type developer, message [orchestrator S1 A turn" in again["reason"]


@pytest.mark.parametrize("client", [Codex], indirect=True)
def test_codex_waits_for_no_agents_of_another_client(client: Codex) -> None:
    client.begun("project_manager", worker="pm")
    operations.ask(client.desk.context, starts.AdoptSession(session_id="S1", client="another"))
    assert client.event("Stop", client="another") is None


def test_tools_of_other_servers_are_not_taken_for_those_that_start_agents(tmp_path: pathlib.Path) -> None:
    client = Codex(tmp_path)
    client.tool = "mcp__farm__spawn_agent"
    assert client.start("developer") == {}
    client.tool = "team_spawn_agent"
    assert client.start("developer")["permissionDecision"] == "deny"


ANSWERS = {
    "agents that are called by ids": [
        ("SessionStart", "context"), ("UserPromptSubmit", None), ("PreToolUse", "allow"), ("PostToolUse", None),
        ("SubagentStart", None), ("UserPromptSubmit", None), ("PreToolUse", "allow"), ("PostToolUse", None),
        ("SubagentStart", None), ("SubagentStop", None), ("PreToolUse", None), ("UserPromptSubmit", None),
        ("PostToolUse", "context"), ("PreToolUse", None), ("PostToolUse", None), ("PreToolUse", "deny"),
        ("UserPromptSubmit", None), ("PostToolUse", None), ("SubagentStop", None), ("Stop", "block"),
        ("SessionEnd", None),
    ],
    "agents that are called by paths": [
        ("SessionStart", "context"), ("UserPromptSubmit", None), ("PreToolUse", "allow"), ("PostToolUse", None),
        ("SubagentStart", "context"), ("PreToolUse", None), ("SubagentStop", None), ("PostToolUse", "context"),
        ("Stop", "block"), ("SessionEnd", None),
    ],
}  # fmt: skip


@pytest.mark.parametrize("scene", ANSWERS)
def test_the_recorded_events_of_codex_are_answered(tmp_path: pathlib.Path, scene: str) -> None:
    client = Codex(tmp_path)
    client.planned()
    lines = map(json.loads, CODEX.read_text("utf-8").splitlines())
    events = [each["event"] for each in lines if each["scene"] == scene]
    operations.ask(client.desk.context, starts.AdoptSession(session_id="S1", client=events[0]["session_id"]))
    turns, trace, found, name = {each: client.spawn(each)["turn"] for each in "AB"}, tmp_path / "agent.jsonl", [], ""
    for event in events:
        text = json.dumps(event)
        for group, number in (("A", 2), ("B", 3)):
            text = text.replace(f"S1 {group} turn {number}", f"S1 {group} turn {turns[group]}")
        given = json.loads(text.replace("/root/developer", f"/root/{name}") if name else text)
        for key in ("transcript_path", "agent_transcript_path"):
            given[key] = str(trace) if name and given["hook_event_name"].startswith("Subagent") else given.get(key)
        id_ = given.pop("hook_event_name")
        answer = client.event(id_, client=given.pop("session_id"), **given) or {}
        own = answer.get("hookSpecificOutput", {})
        if "task_name" in own.get("updatedInput", {}):
            name = own["updatedInput"]["task_name"]
            trace.write_text(json.dumps({"agent_path": f"/root/{name}"}))
        does = own.get("permissionDecision") or ("context" if "additionalContext" in own else answer.get("decision"))
        found.append((id_, does))
    assert found == ANSWERS[scene]
    assert client.spawn("A")["agent"] == "qa_expert"
    outcomes = client.rows("SELECT group_id, outcome FROM starts WHERE role = 'developer' ORDER BY seq")
    assert outcomes == [("A", None), ("B", "failed")][: 2 if "ids" in scene else 1]


@pytest.mark.parametrize(("kind", "typed"), [(Client, "/orchestrate"), (Codex, "$orchestrate")])
def test_orchestrate_takes_on_the_only_open_session(tmp_path: pathlib.Path, kind: type[Client], typed: str) -> None:
    client = kind(tmp_path, directs=False)
    assert client.event("UserPromptSubmit", prompt=f"{typed}d things") is None
    assert client.event("UserPromptSubmit", prompt=f"{typed} build it", agent_id="a1") is None
    answer = client.event("UserPromptSubmit", prompt=f"{typed} build it")
    assert answer is not None
    assert client.rows("SELECT client FROM adoptions") == [(CLIENT,)]
    assert client.start("project_manager")["permissionDecision"] == "allow"


def test_a_session_that_waits_for_the_next_client_is_taken_on_where_one_begins(tmp_path: pathlib.Path) -> None:
    client = Client(tmp_path, directs=False)
    operations.ask(client.desk.context, starts.AdoptSession(session_id="S1", client=None))
    assert client.event("Stop") is None
    assert client.event("SessionStart", source="startup") is not None
    assert client.rows("SELECT client FROM adoptions ORDER BY seq") == [(None,), (CLIENT,)]


# Gates


def gate(client: Client, *command: str, id: str = "C1") -> None:
    """A criterion that is due when a developer hands in."""
    client.desk.context.run = commands.run
    client.desk.call(
        "criterion add", id=id, text="it is built", session_id="S1", command=command, at_status=("READY_FOR_QA",),
        by="project_manager", reason="x",
    )  # fmt: skip


def test_a_failing_gate_sends_an_agent_back_three_times_and_is_then_told_to_whoever_is_next(
    client: Client, tmp_path: pathlib.Path
) -> None:
    client.planned()
    gate(client, "sh", "-c", "echo broken in $PWD; exit 3")
    client.begun("developer", f"[orchestrator S1 A turn {client.spawn()['turn']} developer spawn]")
    for _ in range(3):
        said = client.stops(report("READY_FOR_QA"), cwd=str(tmp_path))
        assert said is not None
        assert f"broken in {tmp_path}" in said
    assert client.stops(report("READY_FOR_QA"), cwd=str(tmp_path)) is None
    assert client.rows("SELECT code, count(*) FROM refusals") == [("GATE_FAILED", 3)]
    ((details,),) = client.rows("SELECT details FROM agent_reports WHERE role = 'developer'")
    (failure,) = json.loads(details)["gate_failures"]
    assert (failure["criterion"], failure["why"], "broken in" in failure["output"]) == ("C1", "exit 3", True)
    kept = client.rows("SELECT subject, outcome, content FROM evidence WHERE kind = 'gate'")
    assert kept == [("C1", "exit 3", f"broken in {tmp_path}\n")] * 4
    told = client.desk.call("handoff", session_id="S1", group_id="A")["markdown"]
    assert f"its gate C1 did not pass: exit 3\n\n```\nbroken in {tmp_path}\n```" in told
    assert client.desk.call("audit replay", session_id="S1")["equal"] is True


def test_a_gate_that_passes_says_nothing(client: Client) -> None:
    client.planned()
    gate(client, "true")
    client.begun("developer", f"[orchestrator S1 A turn {client.spawn()['turn']} developer spawn]")
    assert client.stops(report("READY_FOR_QA")) is None
    assert client.rows("SELECT count(*) FROM refusals UNION ALL SELECT count(*) FROM evidence") == [(0,), (0,)]


def test_a_gate_that_does_not_finish_in_time_is_recorded_as_not_run_and_the_report_routed(client: Client) -> None:
    client.planned()
    gate(client, "sh", "-c", "trap '' TERM INT; sleep 600 & sleep 600")
    gate(client, "true", id="C2")
    client.begun("developer", f"[orchestrator S1 A turn {client.spawn()['turn']} developer spawn]")
    assert client.stops(report("READY_FOR_QA"), within_s=2.0) is None
    ((details,),) = client.rows("SELECT details FROM agent_reports WHERE role = 'developer'")
    left = [(each["criterion"], each["why"]) for each in json.loads(details)["gates_not_run"]]
    assert [each[0] for each in left] == ["C1", "C2"]
    assert left[0][1].startswith("not finished: killed after ")
    assert left[1][1] == "not run: no time was left"
    assert client.rows("SELECT count(*) FROM evidence WHERE kind = 'gate'") == [(2,)]


def test_a_pending_command_is_no_gate_and_a_gate_is_due_at_its_status_alone(client: Client) -> None:
    client.begun("project_manager", worker="pm")
    criterion = {"id": "C1", "text": "t", "command": ["false"], "at": ["READY_FOR_QA"]}
    plan = {**PLAN, "criteria": [criterion]}
    assert client.stops(report("PLANNING_COMPLETE", details={"plan": plan}), "pm") is None
    client.desk.context.run = commands.run
    gate(client, "false", id="C2")
    client.begun("developer", f"[orchestrator S1 A turn {client.spawn()['turn']} developer spawn]")
    said = client.stops(report("READY_FOR_QA"))
    assert said is not None
    assert ("C2 (false)" in said, "C1 (false)" in said) == (True, False)
    assert client.stops(report("BLOCKED")) is None
