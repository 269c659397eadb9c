"""`workflow what-if`: recorded sessions told again under another file, and what they would have decided."""

from __future__ import annotations

import json
import pathlib
import types
from collections.abc import Callable
from typing import Any

import pytest

from orchestrator import progress
from orchestrator.app.audit import several_sessions, what_if_session
from orchestrator.app.kernel import operations
from orchestrator.app.kernel.context import Context
from orchestrator.core import strict_json
from orchestrator.doors.cli.text import workflows as text
from orchestrator.errors import InvalidInput, OrchestratorError
from orchestrator.runner import workers
from tests import what_if_unchanged
from tests.acceptance import walking
from tests.acceptance.test_replay import MIXED
from tests.integration.app import story
from tests.integration.app.table import Table, changed, document
from tests.integration.app.test_replayed import OUTSIDERS, SAID_BEFORE, STORY, played
from tools.benchmarks import mix

WHAT_IF = "workflow what-if"
LOADED = """SELECT e.input FROM sessions s JOIN workflow_versions v ON v.id = s.workflow_version_id
    JOIN audit_events e ON e.session_id = '@store' AND e.seq = v.seq WHERE s.id = ?"""
Change = Callable[[dict[str, Any]], object]


def ask(context: Context, made: dict[str, Any] | str, *sessions: str, **more: Any) -> dict[str, Any]:
    content = made if isinstance(made, str) else json.dumps(made)
    return operations.call(context, WHAT_IF, content=content, sessions=sessions, **more)


def under(table: Table, change: Change, **more: Any) -> dict[str, Any]:
    """What the table's session would have decided under a changed file."""
    made = document()
    change(made)
    (row,) = ask(table.context, made, "S1", **more)["sessions"]
    found: dict[str, Any] = row
    return found


def own_file(context: Context, session: str) -> str:
    """The file that a session is pinned to, as it was loaded."""
    (given,) = context.connection.execute(LOADED, (session,)).fetchone()
    return str(strict_json.stored(given)["content"])


def walked(seed: int) -> Context:
    walk = walking.Walk(seed)
    walk.go(60)
    return walk.context


def deferred() -> Context:
    table = changed("A", "B", "C", loop_guard={"max_visits": 2})
    table.plan()
    table.defer("A")
    table.confirmable("B")
    table.complete("C")
    for _ in range(2):
        table.says("project_manager", "CONTINUE")
    return table.context


def judged() -> Context:
    table = Table("A", plan=True)
    table.complete("A")
    table.says("project_manager", "BAZINGA")
    table.do("validate", session_id="S1")
    return table.context


RECORDS: dict[str, Callable[[], Context]] = {
    **{f"walk {seed}": lambda seed=seed: walked(seed) for seed in range(6)},  # type: ignore[misc]
    **{name: lambda each=each: played(each)  # type: ignore[misc]
       for name, each in (("story", STORY), ("outsiders", OUTSIDERS), ("said before", SAID_BEFORE), ("mixed", MIXED))},
    "deferred, under changed rules": deferred,
    "accepted": judged,
}  # fmt: skip


@pytest.mark.parametrize("make", RECORDS.values(), ids=RECORDS.keys())
def test_under_its_own_file_a_session_differs_in_nothing(make: Callable[[], Context]) -> None:
    assert_no_difference(make())


def test_sessions_with_runs_tasks_and_evidence_differ_in_nothing_under_their_own_file(tmp_path: pathlib.Path) -> None:
    assert_no_difference(mix.open_file(story.written(tmp_path), write=False))


def assert_no_difference(context: Context) -> None:
    sessions = [id for (id,) in context.connection.execute("SELECT id FROM sessions ORDER BY id")]
    before = [*context.connection.execute("SELECT count(*) FROM audit_events")]
    for session in sessions:
        answer = ask(context, own_file(context, session), session)
        (row,) = answer["sessions"]
        assert (row["differences"], row["handoffs_changed"], row["groups"], row["ended"]) == ([], 0, [], None)
        assert (answer["equal"], row["compared"]) == (True, row["decisions"])
        assert row["status"]["recorded"] == row["status"]["told"]
    assert [*context.connection.execute("SELECT count(*) FROM audit_events")] == before


def to_tech_lead(made: dict[str, Any]) -> None:
    made["developer"]["READY_FOR_QA"]["next_agent"] = "tech_lead"


def test_another_way_ends_the_comparison_of_the_group_at_its_first_report_out_of_turn() -> None:
    table = Table("A", "B", plan=True)
    table.approve("A")
    table.says("developer", "READY_FOR_REVIEW", "B")
    row = under(table, to_tech_lead)
    shown = [(each["group_id"], each["recorded"]["next_agent"], each["told"]["next_agent"], each["told"]["refused"])
             for each in row["differences"]]
    assert shown == [("A", "qa_expert", "tech_lead", None), ("A", "tech_lead", None, "OUT_OF_TURN")]
    (group,) = row["groups"]
    end = group["ended"]
    assert (group["group_id"], end["response_status"], end["code"]) == ("A", "PASS", "OUT_OF_TURN")
    # Neither the end of A nor what came after it is compared.
    assert (row["decisions"], row["compared"]) == (6, 4)
    assert row["handoffs_changed"] == 0


def test_which_groups_would_have_completed() -> None:
    table = Table("A", plan=True)
    table.complete("A")
    (group,) = under(table, lambda made: made["tech_lead"].pop("APPROVED"))["groups"]
    assert (group["recorded"], group["told"], group["ended"]["code"]) == ("completed", "in_progress", "UNKNOWN_STATUS")


def test_a_verdict_says_nothing_of_a_session_that_went_another_way() -> None:
    table = Table("A", context=None)
    table.plan()
    table.complete("A")
    table.says("project_manager", "BAZINGA")
    assert table.do("validate", session_id="S1")["verdict"] == "ACCEPT"
    row = under(table, lambda made: made["qa_expert"]["PASS"].update(next_agent="project_manager"))
    assert (row["ended"]["response_status"], row["ended"]["code"]) == ("ACCEPT", "")
    assert [row["status"][side]["status"] for side in ("recorded", "told")] == ["ended", "active"]


def test_a_report_that_names_its_turn_answers_the_turn_that_is_open_under_the_file() -> None:
    """With one slot the second group starts later, in a turn of another number."""
    table = Table("A", "B", plan=True)
    for group in ("A", "B"):
        for role, status in (("developer", "READY_FOR_QA"), ("qa_expert", "PASS"), ("tech_lead", "APPROVED"),
                             ("developer", "MERGE_SUCCESS")):  # fmt: skip
            table.says(role, status, group, turn=table.turn(group))

    def one_at_a_time(made: dict[str, Any]) -> None:
        made["project_manager"]["PLANNING_COMPLETE"]["max_parallel"] = 1

    row = under(table, one_at_a_time)
    assert (row["groups"], row["ended"], row["compared"]) == ([], None, row["decisions"])
    spawned = [[each["group_id"] for each in row["differences"][0][side]["spawns"]] for side in ("recorded", "told")]
    assert spawned == [["A", "B"], ["A"]]


def test_a_stale_report_stays_stale() -> None:
    table = Table("A", plan=True)
    first = table.turn("A")
    table.says("developer", "READY_FOR_QA", "A")
    assert table.code("developer", "READY_FOR_QA", "A", turn=first) == "STALE_TURN"
    assert under(table, lambda made: made["project_manager"]["PLANNING_COMPLETE"].update(max_parallel=3))["equal"]


def test_what_was_refused_and_would_be_accepted_is_told() -> None:
    table = Table("A", plan=True)
    assert table.code("developer", "DONE_AT_LAST", "A") == "UNKNOWN_STATUS"
    row = under(table, lambda made: made["developer"].update(DONE_AT_LAST=made["developer"]["READY_FOR_QA"]))
    (only,) = row["differences"]
    assert (only["recorded"]["refused"], only["told"]["next_agent"]) == ("UNKNOWN_STATUS", "qa_expert")


def test_only_another_text_of_a_hand_off_is_no_difference_of_decisions() -> None:
    table = Table("A", plan=True)
    table.says("developer", "READY_FOR_QA", "A", details={"dev_output": "done"})
    row = under(table, lambda made: made["developer"]["READY_FOR_QA"].update(include_context=["another"]))
    assert (row["equal"], row["handoffs_changed"]) == (True, 1)


def test_a_session_whose_workflow_changed_on_the_way_is_told_under_the_file_in_place_of_all_versions() -> None:
    table = Table("A", plan=True)
    table.says("developer", "READY_FOR_QA", "A")
    made = document()
    made["qa_expert"]["PASS"]["next_agent"] = "project_manager"
    table.new_rules(made)
    table.upgrade()
    table.says("qa_expert", "PASS", "A")
    (row,) = ask(table.context, document(), "S1")["sessions"]
    assert [version["id"] for version in row["versions"]] == [1, 2]
    assert "stands in for all" in row["warnings"][0]
    (only,) = row["differences"]
    assert (only["recorded"]["next_agent"], only["told"]["next_agent"]) == ("project_manager", "tech_lead")


def test_agent_files_that_are_given_stand_in_for_those_of_the_session() -> None:
    from orchestrator.app import setup

    table = Table("A", plan=True)
    texts = {name: each.replace("model: sonnet", "model: haiku") for name, each in setup.agent_texts().items()}
    row = under(table, lambda made: None, agent_texts=texts)
    assert row["differences"][0]["told"]["spawns"][0]["model"] == "haiku"
    assert row["ended"] is None


def test_agent_files_of_a_session_that_only_an_older_program_could_read_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = Table("A", plan=True)
    monkeypatch.setattr(what_if_session._Comparison, "_pinned_texts", lambda _: {"developer.md": "no front matter"})
    with pytest.raises(InvalidInput) as caught:
        ask(table.context, document(), "S1")
    assert caught.value.message == "The workflow cannot be loaded with the agent files of session S1."


def test_a_session_without_reports_has_nothing_to_compare() -> None:
    context = Table().context
    (row,) = ask(context, document())["sessions"]
    assert (row["equal"], row["differences"]) == (True, [])
    chat = operations.call(context, "session create", id="c", kind="chat")["session"]["id"]
    answer = ask(context, document(), chat)
    assert "No decisions on record" in "\n".join(text.what_if(answer))


@pytest.mark.parametrize(
    ("given", "code"),
    [
        pytest.param({"content": "{"}, "WORKFLOW_INVALID", id="invalid"),
        pytest.param({"content": json.dumps({"_metadata": {"version": "2.0.0"}})}, "WORKFLOW_INVALID", id="empty"),
        pytest.param({"content": json.dumps(document()), "sessions": ("S9",)}, "UNKNOWN_SESSION", id="unknown session"),
    ],
)
def test_bad_input_is_refused_and_leaves_no_trace(given: dict[str, Any], code: str) -> None:
    table = Table()
    before = table.count("audit_events")
    with pytest.raises(OrchestratorError) as caught:
        operations.call(table.context, WHAT_IF, **given)
    assert (caught.value.code, table.count("audit_events")) == (code, before)


def test_several_processes_answer_as_one(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    context = mix.open_file(story.written(tmp_path), write=False)
    made = document()
    to_tech_lead(made)
    monkeypatch.setattr(workers, "cores", lambda: 1)
    expected = ask(context, made, "S1", story.BLOCKED)
    assert not expected["equal"]
    asked: list[Any] = []
    answers = workers.answers
    monkeypatch.setattr(workers, "cores", lambda: 2)
    monkeypatch.setattr(several_sessions, "SIDE_BY_SIDE", 0)
    monkeypatch.setattr(workers, "answers", lambda *given: asked.append(answers(*given)) or asked[-1])
    monkeypatch.setattr(what_if_session, "compare", None)
    assert ask(context, made, "S1", story.BLOCKED) == expected
    assert len(asked) == 1


def test_what_tests_leave_behind_is_told_again_and_a_difference_is_found() -> None:
    table, made = Table("A", "B", plan=True), document()
    to_tech_lead(made)
    table.approve("A")
    context = table.context
    own = what_if_unchanged.own_files(context)
    assert [session for session, _ in own] == ["S1"]
    assert [each for session, content in own for each in what_if_unchanged.differing(context, session, content)] == []
    assert what_if_unchanged.differing(context, "S1", json.dumps(made)) != []
    context.connection.close()
    assert what_if_unchanged.own_files(context) == []


def test_what_a_test_had_in_its_variables_is_looked_at_when_it_has_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Context, "__init__", Context.__init__)
    monkeypatch.setattr(what_if_unchanged, "differing", lambda context, session, content: [session])
    plugin = what_if_unchanged.Plugin(every=True)
    for _ in plugin.pytest_runtest_setup(types.SimpleNamespace(nodeid="x")):  # type: ignore[arg-type]
        pass
    for _ in plugin.pytest_runtest_call():
        Table("A", plan=True)
    with pytest.raises(AssertionError, match="S1"):
        list(plugin.pytest_runtest_teardown())


def test_all_sessions_are_told_whichever_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[tuple[object, ...]] = []
    monkeypatch.setattr(progress, "tell", lambda *given: said.append(given))
    answer = ask(played(STORY), document(), "S1", every=True)
    assert [row["session_id"] for row in answer["sessions"]] == ["S1", "S2"]
    assert text.what_if(answer)[1:] == []
    assert said == [("sessions", 0, 2), ("sessions", 1, 2)]


def test_the_text_shows_both_sides_and_where_the_comparison_ended() -> None:
    table = Table("A", plan=True)
    table.submit("A")
    made = document()
    to_tech_lead(made)
    lines = "\n".join(text.what_if(ask(table.context, made)))
    for part in ("2 differences in 1 of 1 session", "ON RECORD", "spawn qa_expert on A", "spawn tech_lead on A",
                 "refused: OUT_OF_TURN", "step 5, qa_expert PASS: OUT_OF_TURN"):  # fmt: skip
        assert part in lines
