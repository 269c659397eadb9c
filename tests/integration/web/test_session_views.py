"""What a session's pages show besides its board: dependencies, what is waited for, its export, another workflow."""

from __future__ import annotations

import json
import pathlib
import re
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the pages need the extra `web`")

from orchestrator.app import setup
from orchestrator.app.audit import export_session
from orchestrator.app.kernel import operations
from orchestrator.app.running.start_run import AwaitStart
from orchestrator.app.starts import EndStart, ReserveStart
from orchestrator.app.verdict import finding_runs
from orchestrator.doors.web import finding_links
from tests.integration.web import story
from tests.integration.web.asgi import Web
from tests.integration.web.conftest import Make

FILE = pathlib.Path(__file__).parents[3] / "workflow" / "transitions.json"


@pytest.fixture
def planned(web: Web) -> Web:
    """A session with a group that a developer works on, and a person at the pages."""
    web.call("session create", id="S", goal="Ship it")
    web.call("group create", id="A", session_id="S", name="First group")
    web.call("route", session_id="S", current_agent="project_manager", status="PLANNING_COMPLETE")
    web.come_in()
    return web


def task(web: Web, id: str, *on: str) -> None:
    web.call("task create", id=id, title=f"Do <{id}>", session_id="S", group_id="A", depends_on=list(on),
             by="project_manager")  # fmt: skip


def test_dependencies_are_drawn_and_stand_in_the_table(planned: Web) -> None:
    assert "What tasks depend on" not in planned.get("/sessions/S/tasks").text
    for id, on in (("T1", ()), ("T2", ("T1",)), ("T3", ("T1", "T2")), ("T4", ())):
        task(planned, id, *on)
    text = planned.get("/sessions/S/tasks").text
    drawn, _, table = text.partition('class="deps"')[2].partition("</svg>")
    assert [id for id in ("T1", "T2", "T3", "T4") if f"<title>{id}, " in drawn] == ["T1", "T2", "T3"]
    assert ("T3 depends on T2" in drawn, "depends on T1, T2</span>" in table, "<T1>" in text) == (True, True, False)


def test_a_claim_says_until_when_it_holds(planned: Web) -> None:
    task(planned, "T1")
    planned.call("task claim", id="T1", session_id="S", agent_id="developer@S:A")
    ((until,),) = planned.rows("SELECT claim_until FROM tasks WHERE id = 'T1'")
    assert f'claimed until <time datetime="{until}">' in planned.get("/sessions/S/tasks").text


def test_a_usage_limit_says_until_when_it_is_waited_for(planned: Web) -> None:
    ((turn,),) = planned.rows("SELECT turn FROM task_groups WHERE id = 'A'")
    due, of = "2099-01-02T03:04:05.000000Z", {"session_id": "S", "group_id": "A", "turn": turn}
    reserved = operations.carry_out(planned._context, ReserveStart(**of, via="drive", client="d"))["start"]
    limited = EndStart(**of, start=reserved["seq"], outcome="limited", reason="a limit", due_at=due)
    operations.carry_out(planned._context, limited)
    for path in ("/sessions/S", "/sessions/S/groups/A", "/sessions/S/runs"):
        assert f'usage limit until <time datetime="{due}">' in planned.get(path).text, path


def test_a_queued_task_says_since_when_it_waits_and_for_what(planned: Web) -> None:
    planned.service.add_project(str(planned.project), "portal")
    id = str(planned.service.chat("portal", story.READ, "chat")["task_id"])
    assert "Waiting since" not in planned.get(f"/tasks/{id}").text
    why = "its project or session is held: task-7."
    operations.ask(planned._context, AwaitStart(session_id="chat", id=id, owner="here:7:1", reason=why))
    ((at,),) = planned.rows("SELECT at FROM run_events WHERE kind = 'waits'")
    text = planned.get(f"/tasks/{id}").text
    assert (f'Waiting since <time datetime="{at}">' in text, f"</time>: {why}</p>" in text) == (True, True)
    assert "here:7:1" not in text


def test_a_deferred_group_says_what_it_waits_for_outside_and_who_deferred_it(planned: Web) -> None:
    story.blocked(planned)
    given = {"session_id": "blocked", "group_id": "E2E"}
    details = {"external": True, "external_dependency": "the <hospital>'s IT"}
    planned.call("route", current_agent="tech_lead", status="UNBLOCKING_GUIDANCE", details=details, **given)
    assert "deferred by" not in planned.get("/sessions/blocked/groups/E2E").text
    planned.call("route", current_agent="project_manager", status="DEFER_EXTERNAL", summary="not this month", **given)
    text = planned.get("/sessions/blocked/groups/E2E").text
    assert "Waits for <b>the &lt;hospital&gt;&#39;s IT</b>, outside the project · deferred by project_manager" in text
    assert "not this month" in text
    assert "deferred external" in planned.get("/sessions/blocked?state=all").text


def test_equal_findings_of_a_verdict_are_folded_and_very_many_are_counted(planned: Web) -> None:
    for number in range(55):
        planned.call("group create", id=f"G{number}", session_id="S", name="Part")
    text = planned.get("/sessions/S/verdict").text
    shown, _, folded = text.partition('<details id="V02-error">')
    assert (shown.count(">V02</span>"), "54 more of V02" in folded) == (3, True)
    assert (folded.count(">V02</span>"), "And 7 more" in folded, "failed checks." in text) == (47, True, True)


def test_findings_lead_to_what_they_name(planned: Web) -> None:
    planned.call("criterion add", id="fast", session_id="S", text="Fast", by="project_manager", reason="asked")
    planned.call("route", session_id="S", group_id="A", current_agent="developer", status="BLOCKED", summary="no key")
    ((blocker,),) = planned.rows("SELECT id FROM blockers")
    asked = planned.call("route", session_id="S", current_agent="project_manager", status="NEEDS_CLARIFICATION",
                         summary="Which?")["question_id"]  # fmt: skip
    text = planned.get("/sessions/S/verdict").text
    links = set(re.findall(r'<a href="([^"]+)"><b>|<a href="([^"]+)">(?:Blocker|Question|Report)', text))
    found = {first or second for first, second in links}
    wanted = {"/sessions/S/groups/A", "/sessions/S/tasks", f"/sessions/S/do/unblock?id={blocker}"}
    assert (wanted | {f"/questions/{asked}"}) - found == set()
    assert [place for place in sorted(found) if planned.get(place).status != 200] == []


@pytest.mark.parametrize(
    ("check", "to", "named"),
    [
        (("V06", "report 7", "has no decision"), "/sessions/S/decisions/D7", []),
        (("V13", "step 7", "is broken"), "/sessions/S/steps?until=8", []),
        (("V14", "S:R7", "x reported as y"), "", [("Report S:R7", "/sessions/S/decisions/D7")]),
        (("V12", "T1", "task is todo"), "/sessions/S/tasks", []),
        (("V12", "S", "all its tasks are cancelled"), "", []),
        (("V15", "S:E3", "is missing"), "/sessions/S/evidence", []),
        (("V15", "S:E3.1", "is missing"), "/sessions/S/evidence", [("Run task-1", "/tasks/task-1")]),
        (("V03", "A/B", "see XS:R7, S:R7x and S:Q2 and S:Q2"), "/sessions/S/groups/A%2FB",
         [("Question S:Q2", "/questions/S:Q2")]),
        (("V14", "user", "route (3) through page"), "", []),
        (("V12", "T2", "task is blocked: see S:B4 and S:E3.1"), "/sessions/S/tasks",
         [("Blocker S:B4", "/sessions/S/do/unblock?id=S:B4"), ("Run task-2", "/tasks/task-2"),
          ("Run task-1", "/tasks/task-1")]),
        (("V17", "A/B", "the turn 3 of 4"), "/sessions/S/groups/A%2FB",
         [("Turn 9", "/sessions/S/handoffs/9?group=A%2FB")]),
        (("V15", "A/B", "the hand-off of turn 7 does not have the recorded hash"), "/sessions/S/groups/A%2FB",
         [("Turn 7", "/sessions/S/handoffs/7?group=A%2FB")]),
        (("V06", "S", "project_manager@S was started in turn 5, and nothing tells"), "",
         [("Turn 5", "/sessions/S/handoffs/5")]),
    ],
)  # fmt: skip
def test_a_finding_leads_where_its_words_say(
    check: tuple[str, str, str], to: str, named: list[tuple[str, str]]
) -> None:
    given = dict(zip(("id", "subject", "message"), check, strict=True))
    runs = {"S:E3.1": "task-1", "T2": "task-2", "S:B4": "task-2", "T9": "task-9"}
    known = finding_links.Known({"A/B"}, runs, {("A/B", "the turn 3 of 4"): 9})
    assert finding_links.linked("S", known, [given]) == [{**given, "to": to, "named": named}]


def test_findings_and_evidence_of_runs_lead_to_their_pages(make: Make) -> None:
    web = make(steps=story.STEPS)
    web.serve_runs()
    run = story.run(web, story.ASK)
    ((task, left),) = web.rows("SELECT task_id, e.id FROM runs r JOIN evidence e ON e.kind = 'run' AND subject = r.id")
    found = finding_runs.runs(web._context, session_id="chat", names=[task, "chat:B1", left, "T0"])
    assert found == {task: run, left: run}
    assert f'<a href="/tasks/{run}">Run {run}</a>' in web.get("/sessions/chat/verdict").text
    assert f'<a href="/tasks/{run}">{run}</a>' in web.get("/sessions/chat/evidence").text


def test_the_export_is_what_the_command_writes_as_a_download(planned: Web) -> None:
    found = planned.get("/sessions/S/export")
    assert found.text == b"".join(export_session.stream(planned._context, "S", "html")).decode()
    told = found.headers
    assert told["content-disposition"] == 'attachment; filename="session-S.html"'
    assert (told["content-type"], told["content-length"]) == ("text/html; charset=utf-8", str(len(found.text.encode())))
    assert planned.get("/sessions/none/export").status == 404


def test_an_export_needs_whoever_may_read(closed: Web) -> None:
    closed.call("session create", id="S", goal="Ship it")
    assert closed.get("/sessions/S/export").status == 401


def other(**changed: Any) -> str:
    """The workflow file with another next agent after a plan."""
    document = json.loads(FILE.read_text())
    document["project_manager"]["PLANNING_COMPLETE"] |= changed
    return json.dumps(document)


def diverging(document: dict[str, Any]) -> None:
    """Code that is ready for QA goes to the tech lead, so that the report of QA is out of turn."""
    document["developer"]["READY_FOR_QA"]["next_agent"] = "tech_lead"


def assert_both_sides(text: str, source: str) -> None:
    """Both decisions of the first difference are side by side, and all differences and groups are listed."""
    _, _, shown = text.partition('id="first"')
    first, _, table = shown.partition("All differences")
    sides = re.findall(r"<h3[^>]*>([^<]+)</h3><p>(?:<[^>]+>)*([^<]+)", first)
    assert sides == [
        ("On record, step 4", "spawn qa_expert on A (sonnet)"), (f"Under {source}", "spawn tech_lead on A (opus)")
    ]  # fmt: skip
    rows = [re.sub(r"<[^>]+>", " ", row).split() for row in table.split("<tr>")[2:4]]
    assert [(row[0], "qa_expert" in row, "OUT_OF_TURN" in row) for row in rows] == [
        ("4", True, False), ("5", False, True)
    ]  # fmt: skip
    assert ("differs" in text, "2 differences" in text, "step 5: " in table) == (True, True, True)


@pytest.fixture
def reported(planned: Web) -> Web:
    """A group that QA has tested."""
    for role, status in (("developer", "READY_FOR_QA"), ("qa_expert", "PASS")):
        planned.call("route", session_id="S", group_id="A", current_agent=role, status=status)
    return planned


def test_what_another_workflow_decides_stands_beside_what_was_decided(reported: Web) -> None:
    document = json.loads(FILE.read_text())
    diverging(document)
    done = reported.send("/what-if", "/what-if", session="S", content=json.dumps(document))
    assert_both_sides(done.text, "your file")
    given = {"source": "other.json", "agent_texts": setup.agent_texts(), "by": "user"}
    reported.call_at_terminal("workflow load", content=json.dumps(document), **given)
    head = reported.head()
    assert_both_sides(reported.get("/what-if?session=S&version=2").text, "version 2")
    assert reported.head() == head


def test_a_loaded_version_differs_in_nothing_from_itself(planned: Web) -> None:
    head = planned.head()
    text = planned.get("/what-if?session=S&version=1").text
    assert ("no difference" in text, "2 of 2 decisions compared" in text) == (True, True)
    assert planned.head() == head


FILES = (
    ("S", "{", 400, "Not JSON"),
    ("S", "developer:\n  - [", 400, "Not JSON"),
    ("S", "[1, 2]", 400, "object"),
    ("S", "\ufeff{}", 400, "No role has a status"),
    ("S", '{"developer": {}, "developer": {}}', 400, "developer"),
    ("S", json.dumps(json.loads(FILE.read_text()) | {"_version": "99.0.0"}), 200, "no difference"),
    ("S", other(next_agent="nobody_known"), 400, "There is no role"),
    ("S", "  ", 400, "Something is missing: the session or the file."),
    ("", FILE.read_text(), 400, "Something is missing: the session or the file."),
    ("none", FILE.read_text(), 404, "none"),
    ("empty", FILE.read_text(), 200, "1 of 1 decision compared"),
    ("S", FILE.read_text(), 200, "no difference"),
    ("S", FILE.read_text() + " " * 70_000, 400, "at most 65536 are allowed"),
    ("S", "x" * 2_000_000, 413, "Too large"),
)
"""Sessions and files with what is answered."""


def test_a_file_is_compared_or_its_faults_are_said(planned: Web) -> None:
    planned.call("session create", id="empty", goal="Nothing yet")
    head, csrf = planned.head(), planned.get("/what-if").csrf
    for session, content, status, said in FILES:
        done = planned.post("/what-if", None, csrf=csrf, session=session, content=content)
        assert (done.status, said in done.text, planned.head()) == (status, True, head), (content[:40], done.text)


def test_versions_and_sessions_that_are_not_there_are_said(planned: Web) -> None:
    for query, said in (("session=S&version=9", "9"), ("session=none&version=1", "none"), ("session=S&version=x", "x")):
        found = planned.get(f"/what-if?{query}")
        assert (found.status // 100, 'role="alert"' in found.text, said in found.text) == (4, True, True), query


def test_who_has_not_come_in_chooses_among_loaded_versions_alone(web: Web) -> None:
    assert 'name="content"' not in web.get("/what-if").text
    assert web.post("/what-if", None, session="S", content="{}").status == 401


def test_what_was_cancelled_can_be_tried_again_and_both_say_their_effect(make: Make) -> None:
    web = make(steps=story.STEPS)
    web.come_in()
    web.service.add_project(str(web.project), "portal")
    id = str(web.service.chat("portal", story.READ, "chat")["task_id"])
    assert "It is not run" in web.get(f"/tasks/{id}").text
    assert web.send(f"/tasks/{id}", f"/tasks/{id}/cancel").status == 303
    assert "Sends the same prompt to this chat as a new task" in web.get(f"/tasks/{id}").text
    done = web.send(f"/tasks/{id}", f"/tasks/{id}/again")
    assert (done.status, done.headers["location"] != f"/tasks/{id}") == (303, True)
    assert web.rows("SELECT prompt, session_id FROM runs") == [(story.READ, "chat")] * 2


def test_what_was_not_cancelled_is_not_repeated(planned: Web) -> None:
    planned.service.add_project(str(planned.project), "portal")
    id = str(planned.service.chat("portal", story.READ, "chat")["task_id"])
    assert "/again" not in planned.get(f"/tasks/{id}").text
    done = planned.send("/sessions", f"/tasks/{id}/again")
    assert (done.status, "is QUEUED; only a cancelled one is sent again." in done.text) == (409, True)
    assert planned.rows("SELECT count(*) FROM runs") == [(1,)]
    assert planned.send("/sessions", "/tasks/none/again").status == 404
