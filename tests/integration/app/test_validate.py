"""A session is judged by its record alone, and a verdict changes what it says it changes."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from orchestrator.app.audit import replay_events
from orchestrator.app.kernel import operations
from orchestrator.app.kernel.context import Call, Circumstances, Context, perform
from orchestrator.app.verdict import validate_session, verdicts
from orchestrator.core.validation.snapshot import Merge
from orchestrator.errors import OrchestratorError
from orchestrator.runner import commands
from orchestrator.store import constants, memory, queries, snapshot
from tests import forging
from tests.integration.app.table import SESSION, Answer, Table

PM = "project_manager"


class Court(Table):
    """A table whose commands really run."""

    def __init__(self, *groups: str, **more: Any) -> None:
        super().__init__(*groups, **more)
        self.context.run = commands.run

    def judge(self, **more: Any) -> Answer:
        """A verdict, recorded whatever the project manager said last, or a dry run."""
        return self.do("validate", session_id=SESSION, **({} if "dry_run" in more else {"record": True}) | more)

    def found(self, verdict: Answer, level: str = "error") -> list[tuple[str, str]]:
        return [(check["id"], check["subject"]) for check in verdict["checks"] if check["level"] == level]

    def bazinga(self, **acknowledge: str) -> Answer:
        given = {name.replace("_", "-"): reason for name, reason in acknowledge.items()}
        return self.says(PM, "BAZINGA", acknowledge=given) if given else self.says(PM, "BAZINGA")

    def criterion(self, id: str, **more: Any) -> Answer:
        return self.do("criterion add", id=id, session_id=SESSION, text=f"text of {id}", **more)

    def runs(self, id: str, text: str, **more: Any) -> Answer:
        return self.criterion(id, command=(sys.executable, "-c", text), **more)


def done(**more: Any) -> Court:
    """One group, completed by its chain, and confirmed."""
    court = Court("A", plan=True, **more)
    court.complete("A")
    court.bazinga()
    return court


# Who asks


def test_a_verdict_names_who_asked_and_is_the_validators_all_the_same() -> None:
    court = done()
    court.judge(by=PM)
    sql = "SELECT actor, json_extract(input, '$.by') FROM audit_events WHERE kind = 'validate'"
    assert court.rows(sql) == [(PM, PM)]
    assert court.rows("SELECT agent_id FROM agent_reports WHERE role = 'validator'") == [("system:validator",)]
    assert court.session("status, status_changed_by") == ("ended", "system:validator")


@pytest.mark.parametrize(
    ("by", "code"),
    [
        pytest.param("ghost", "UNKNOWN_AGENT", id="unknown"),
        pytest.param("project_manager@S2", "NOT_PERMITTED", id="elsewhere"),
        pytest.param("user", "HUMAN_REQUIRED", id="a person's name"),
        pytest.param("system:runner", "NOT_PERMITTED", id="the program's name"),
    ],
)
def test_who_is_unknown_in_the_session_is_refused_before_any_command_runs(by: str, code: str, tmp_path: Path) -> None:
    court = Court("A")
    court.do("session create", id="S2")
    court.runs("C1", f"open({str(tmp_path / 'ran')!r}, 'w')")
    court.plan()
    with pytest.raises(OrchestratorError) as caught:
        court.judge(by=by, dry_run=True, run_commands=True)
    assert (caught.value.code, court.count("refusals")) == (code, 0)
    assert court.refusal("validate", session_id=SESSION, by=by).code == code
    assert court.rows("SELECT actor FROM refusals") == [(by,)]
    assert not (tmp_path / "ran").exists()
    court.judge(by="developer@S1:A")
    assert (tmp_path / "ran").exists()


# ACCEPT


def test_an_accept_ends_the_session_with_a_report_a_decision_and_an_event() -> None:
    court = done()
    seq, hash_ = court.rows("SELECT seq, hash FROM audit_events WHERE session_id = 'S1' ORDER BY seq DESC")[0]
    head = (seq, hash_.hex())

    verdict = court.judge()

    assert (verdict["verdict"], verdict["exit_code"], court.found(verdict)) == ("ACCEPT", 0, [])
    assert verdict["head"] == f"{head[0]}:{head[1]}"
    assert court.session("status, outcome, awaited_role, status_changed_by") == (
        "ended", "accepted", None, "system:validator",
    )  # fmt: skip
    seq = verdict["seq"]
    assert seq == head[0] + 1
    reports = court.rows("SELECT id, role, agent_id, response_status, effect, group_id FROM agent_reports"
                         " WHERE role = 'validator'")  # fmt: skip
    assert reports == [(verdict["report_id"], "validator", "system:validator", "ACCEPT", "none", None)]
    assert court.rows(f"SELECT report_id, next_agent, action, cause FROM router_decisions WHERE seq = {seq}") == [
        (verdict["report_id"], None, "end_session", "report")
    ]
    events = court.rows(f"SELECT kind, actor FROM audit_events WHERE session_id = 'S1' AND seq = {seq}")
    assert events == [("validate", "system:validator")]
    (details,) = court.rows("SELECT details FROM agent_reports WHERE role = 'validator'")[0]
    recorded = json.loads(details)["validator_verdict"]
    assert recorded == {
        name: verdict[name] for name in ("verdict", "reason", "checks", "completes", "imported", "head")
    }


def test_an_ended_session_is_judged_no_more() -> None:
    court = done()
    court.judge()
    assert court.refusal("validate", session_id=SESSION).code == "SESSION_CLOSED"
    assert court.refusal("route", session_id=SESSION, current_agent=PM, status="BAZINGA").code == "SESSION_CLOSED"


def test_an_unknown_session_is_refused() -> None:
    court = Court()
    assert court.refusal("validate", session_id="nowhere").code == "UNKNOWN_SESSION"


def test_a_paused_session_is_judged_too() -> None:
    court = done()
    court.do("session pause", id=SESSION, by=PM, reason="lunch")
    assert court.judge()["verdict"] == "ACCEPT"
    assert court.session("status, outcome") == ("ended", "accepted")


def test_the_managers_word_completes_a_group_with_the_verdict_and_is_listed() -> None:
    court = Court("A", "B", plan=True)
    court.complete("A")
    court.says("developer", "READY_FOR_QA", "B")
    court.bazinga(B="a prototype, nobody merges it")
    assert (court.status("B"), court.awaited("B")) == ("in_progress", "qa_expert")

    verdict = court.judge()

    assert (verdict["verdict"], verdict["completes"]) == ("ACCEPT", ["B"])
    assert ("V02", "B") in court.found(verdict, "warning")
    assert court.row("B", "status, status_changed_by, awaited_role") == ("completed", "system:validator", None)
    change = "SELECT changed_by, cause FROM status_changes WHERE entity_id = 'B' AND to_status = 'completed'"
    assert court.rows(change) == [("system:validator", "verdict")]


def test_a_bare_bazinga_is_no_word_for_an_unfinished_group() -> None:
    court = Court("A", "B", plan=True)
    court.complete("A")
    court.says("developer", "READY_FOR_QA", "B")
    court.bazinga()
    verdict = court.judge()
    assert (verdict["verdict"], verdict["completes"], court.status("B")) == ("REJECT", [], "in_progress")
    assert court.found(verdict) == [("V02", "B")]


# REJECT


def test_a_reject_calls_the_project_manager_with_the_verdict_at_hand() -> None:
    court = Court("A", plan=True)
    court.block("A")
    court.bazinga()

    verdict = court.judge()

    assert (verdict["verdict"], verdict["exit_code"]) == ("REJECT", 1)
    assert {id_ for id_, _ in court.found(verdict)} >= {"V02", "V04", "V07"}
    assert (verdict["decision"]["next_agent"], verdict["decision"]["action"]) == (PM, "spawn")
    assert court.session() == ("active", PM)
    assert court.status("A") == "in_progress"
    handoff = court.do("handoff", session_id=SESSION)["handoff"]
    given = {item["name"]: item["value"] for item in handoff["context"]}
    assert given["validator_verdict"]["verdict"] == "REJECT"
    assert [check["id"] for check in given["failed_checks"]] == [id_ for id_, _ in court.found(verdict)]
    assert "orchestrator why A --session-id S1" in given["remediation_guidance"]
    assert handoff["missing_context"] == []


@pytest.mark.parametrize("planned", [False, True])
def test_bazinga_before_planning_or_with_nothing_done_is_recorded_and_rejected(planned: bool) -> None:
    court = Court("A", plan=planned)
    court.bazinga()
    verdict = court.judge()
    assert court.found(verdict) == [("V02", "S1"), ("V02", "A")]
    assert court.session() == ("active", PM)
    assert court.count("agent_reports") == (2 if not planned else 3)


def test_a_verdict_in_the_middle_of_the_work_disturbs_nobody() -> None:
    court = Court("A", plan=True)
    court.says("developer", "READY_FOR_QA", "A")
    turn = court.turn("A")
    verdict = court.judge()
    assert ("V01", PM) in court.found(verdict)
    assert (court.awaited("A"), court.turn("A")) == ("qa_expert", turn)
    court.says("qa_expert", "PASS", "A", turn=turn)


def test_a_report_after_the_confirmation_needs_another_confirmation() -> None:
    court = Court("A", "B", plan=True)
    court.complete("A")
    court.bazinga()
    court.complete("B")
    verdict = court.judge()
    assert [id_ for id_, _ in court.found(verdict)] == ["V01"] * 4
    court.bazinga()
    assert court.judge()["verdict"] == "ACCEPT"


def test_a_reject_may_be_followed_by_an_accept_of_the_same_confirmation() -> None:
    court = Court("A", plan=True)
    court.criterion("C1", metric="coverage", operator="ge", target="80", reason="asked for")
    court.complete("A")
    court.bazinga()
    assert court.found(court.judge()) == [("V09", "C1")]
    court.do("criterion set", id="C1", session_id=SESSION, actual="80", by="qa_expert", reason="measured")
    assert court.judge()["verdict"] == "ACCEPT"


def test_in_a_paused_session_a_reject_calls_nobody_until_it_resumes() -> None:
    court = Court("A", plan=True)
    court.bazinga()
    court.do("session pause", id=SESSION, by=PM, reason="lunch")
    decision = court.judge()["decision"]
    assert (decision["action"], decision["reason"]) == ("wait", "session_paused")
    assert court.session("status, awaited_role, held") == ("paused", PM, "session_paused")
    court.do("session resume", id=SESSION, by=PM, reason="back")
    assert court.session("status, awaited_role, held") == ("active", PM, None)


def test_rejects_without_progress_come_to_a_person_and_ask_once() -> None:
    court = Court("A", plan=True)
    court.bazinga()
    actions = [court.judge()["decision"]["action"] for _ in range(8)]
    assert actions == ["spawn"] * 5 + ["pause_for_user"] * 3
    assert court.session("status, awaited_role") == ("paused", "user")
    assert court.rows("SELECT kind, group_id, asked_by FROM questions") == [("budget", None, "system:validator")]
    (stored,) = court.rows("SELECT decision FROM questions")[0]
    assert json.loads(stored)["target"][:2] == [PM, "spawn"]


def test_progress_starts_the_count_of_rejects_anew() -> None:
    court = Court("A", plan=True)
    court.bazinga()
    for _ in range(5):
        court.judge()
    court.approve("A")
    assert court.judge()["decision"]["action"] == "spawn"
    assert court.count("questions") == 0


def test_an_open_question_stays_a_persons_while_a_verdict_is_rejected() -> None:
    court = Court("A", plan=True)
    court.says(PM, "NEEDS_CLARIFICATION", summary="which colour?")
    verdict = court.judge()
    assert ("V07", SESSION) in court.found(verdict)
    assert verdict["decision"]["action"] == "pause_for_user"
    assert court.session("status, awaited_role") == ("paused", "user")
    assert court.count("questions") == 1


# The incident


def incident() -> Court:
    """Two groups completed by their chain, two deferred for the same reason outside."""
    court = Court("PAT-ADHERE", "PAT-VIP", "NUR-E2E", "E2E-RX", plan=True)
    court.says("developer", "READY_FOR_REVIEW", "PAT-ADHERE")
    court.says("tech_lead", "CHANGES_REQUESTED", "PAT-ADHERE")
    court.says("developer", "READY_FOR_QA", "PAT-VIP")
    court.says("qa_expert", "FAIL", "PAT-VIP")
    court.defer("NUR-E2E")
    court.defer("E2E-RX")
    court.says("developer", "READY_FOR_REVIEW", "PAT-ADHERE")
    court.says("tech_lead", "APPROVED", "PAT-ADHERE")
    court.says("developer", "MERGE_SUCCESS", "PAT-ADHERE")
    court.complete("PAT-VIP")
    return court


def test_the_incident_without_acknowledgement_is_rejected_by_name_and_with_it_accepted() -> None:
    court = incident()
    court.bazinga()
    verdict = court.judge()
    assert court.found(verdict) == [("V05", "NUR-E2E"), ("V05", "E2E-RX")]
    assert verdict["reason"] == "V05 (NUR-E2E, E2E-RX)"

    court.bazinga(NUR_E2E="no environment", E2E_RX="no environment")
    verdict = court.judge()

    assert verdict["verdict"] == "ACCEPT"
    assert ("V05", "NUR-E2E") in court.found(verdict, "info")
    assert [court.status(id_) for id_ in ("PAT-ADHERE", "NUR-E2E")] == ["completed", "deferred_external"]
    assert [row[1:] for row in court.blockers()] == [(1, None), (1, None)]


def test_the_acknowledgement_of_one_deferral_does_not_cover_the_other() -> None:
    court = incident()
    court.bazinga(NUR_E2E="no environment")
    assert court.found(court.judge()) == [("V05", "E2E-RX")]


def test_an_acknowledgement_counts_in_the_last_confirmation_only() -> None:
    court = incident()
    court.bazinga(NUR_E2E="no environment", E2E_RX="no environment")
    court.bazinga()
    assert court.found(court.judge()) == [("V05", "NUR-E2E"), ("V05", "E2E-RX")]


# The record goes on meanwhile


def meanwhile(court: Court, act: Callable[[], object]) -> None:
    """While a command runs, something else happens."""

    def run(argv: Any, **more: Any) -> commands.Ended:
        assert not court.context.connection.in_transaction
        act()
        return commands.Ended(0, "exit 0", "", 0)

    court.context.run = run


def confirmed() -> Court:
    """One group, completed and confirmed, and a criterion whose command the next verdict runs."""
    court = Court("A", plan=True)
    court.criterion("C1", command=("true",), reason="asked for")
    court.complete("A")
    court.bazinga()
    court.context.deadline_s = 600.0
    return court


def test_what_happens_meanwhile_refuses_the_verdict_where_no_time_is_left() -> None:
    court = confirmed()
    court.context.deadline_s = 0.0
    meanwhile(court, lambda: court.criterion("C2", command=("true",), reason="asked for"))

    with pytest.raises(verdicts.Refused) as caught:
        court.judge()

    assert (caught.value.code, caught.value.exit_code) == ("STATE_CHANGED", 3)
    assert court.session() == ("active", "validator")
    assert court.rows("SELECT code, actor FROM refusals") == [("STATE_CHANGED", "system:validator")]
    assert court.rows("SELECT count(*) FROM agent_reports WHERE role = 'validator'") == [(0,)]
    assert court.count("evidence") == 0


def once(court: Court, act: Callable[[], Any]) -> list[int]:
    """Do something while the first verdict is found, and nothing while later ones are; what ran."""
    ran: list[int] = []

    def first() -> None:
        ran.append(len(ran))
        if ran == [0]:
            act()

    meanwhile(court, first)
    return ran


def test_a_session_that_changed_meanwhile_is_judged_anew_in_the_step_that_records() -> None:
    court = confirmed()
    ran = once(court, lambda: court.group("B"))
    verdict = court.judge()
    assert (verdict["verdict"], ran) == ("REJECT", [0])
    assert ("V02", "B") in court.found(verdict)
    assert court.count("refusals") == 0
    assert court.rows("SELECT count(*) FROM agent_reports WHERE role = 'validator'") == [(1,)]
    (head,) = court.rows("SELECT seq FROM audit_events WHERE kind = 'group create' ORDER BY rowid DESC LIMIT 1")[0]
    assert verdict["head"].startswith(f"{head}:")
    assert court.do("audit replay", session_id=SESSION)["equal"]


def test_where_something_else_is_to_be_run_it_is_judged_from_the_beginning() -> None:
    court = confirmed()
    more = {"command": ("true",), "reason": "asked for"}
    ran = once(court, lambda: court.criterion("C2", **more))
    verdict = court.judge()
    assert (ran, [each.split(".")[-1] for each in verdict["evidence"]][1:]) == ([0, 1, 2], ["2"])
    assert court.count("refusals") == 0


def test_where_the_manager_went_on_meanwhile_nothing_is_recorded() -> None:
    court = confirmed()
    once(court, lambda: court.says(PM, "CONTINUE"))
    verdict = court.do("validate", session_id=SESSION)
    assert (verdict["recorded"], verdict["exit_code"], "CONTINUE" in verdict["warnings"][0]) == (False, 1, True)
    assert court.count("refusals") == 0


def _stray(court: Court) -> None:
    """A report out of turn is refused, which changes nothing."""
    assert court.refused("developer", "READY_FOR_QA", "A").code == "GROUP_CLOSED"


def _new_agent(court: Court) -> None:
    court.do("agent register", id="dev-2", role="developer", parent="tech_lead")


def _enrolled(court: Court) -> None:
    with court.person():
        court.do("human enrol", agent="user", by="user")


def _task(court: Court) -> None:
    court.do("task create", id="T1", title="more", session_id=SESSION, by="tech_lead")


MEANWHILE: dict[str, tuple[Callable[[Court], Any], bool]] = {
    "a refusal": (_stray, False),
    "another session": (lambda court: court.do("session create", id="S2"), False),
    "an enrolment": (_enrolled, False),
    "a group": (lambda court: court.group("B"), True),
    "a report": (lambda court: court.says(PM, "CONTINUE"), True),
    "a task": (_task, True),
    "a criterion": (lambda court: court.criterion("C2", reason="asked for"), True),
    "an agent": (_new_agent, True),
    "a pause": (lambda court: court.do("session pause", id=SESSION, by=PM, reason="lunch"), True),
}


@pytest.mark.parametrize(("act", "changes"), list(MEANWHILE.values()), ids=list(MEANWHILE))
def test_what_changes_the_judgement_makes_a_verdict_stale_and_is_judged_anew(
    act: Callable[[Court], Any], changes: bool
) -> None:
    court = confirmed()
    before = court.judge(dry_run=True)["head"]
    once(court, lambda: act(court))
    # It names the step up to which the session was judged.
    assert (court.judge()["head"] != before) is (changes and act is not _new_agent)
    rejected = confirmed()
    rejected.runs("C9", "raise SystemExit(1)", reason="asked for")
    assert rejected.judge()["verdict"] == "REJECT"
    assert rejected.do("status", session_id=SESSION)["verdict"]["fresh"]
    act(rejected)
    assert rejected.do("status", session_id=SESSION)["verdict"]["fresh"] is not changes


def test_a_refusal_that_calls_somebody_makes_a_verdict_stale() -> None:
    court = Court("A", "B", plan=True)
    court.judge()
    court.refused("developer", "NONSENSE", "B")
    assert court.do("status", session_id=SESSION)["verdict"]["fresh"]
    for _ in range(5):
        with pytest.raises(OrchestratorError):
            court.says("developer", "NONSENSE", "B")
    assert court.rows("SELECT kind FROM audit_events ORDER BY rowid DESC LIMIT 1") == [("refusal",)]
    assert court.do("status", session_id=SESSION)["verdict"]["fresh"] is False


def test_nothing_makes_the_verdict_of_an_ended_session_stale() -> None:
    court = done()
    court.judge()
    _new_agent(court)
    assert court.refusal("validate", session_id=SESSION).code == "SESSION_CLOSED"
    assert court.do("status", session_id=SESSION)["verdict"]["fresh"]


def test_every_kind_of_event_is_known_to_change_the_judgement_or_not() -> None:
    """A kind that nobody thought of counts as a change."""
    assert set(queries.UNJUDGED) - set(operations.kinds()) == {"refusal"}
    assert set(operations.kinds()) - set(queries.UNJUDGED) == {
        "route", "redispatch", "answer", "session create", "session pause", "session resume", "session end",
        "session testing-mode", "session upgrade-workflow", "group create", "group set-status", "group depend",
        "group undepend", "task create", "task set-status", "task depend", "task undepend", "blocker resolve",
        "run queue", "run retry", "run cancel", "run unanswered", "run stop", "run abandon", "run hold", "run finish",
        "run expire", "run choose", "turn finish", "turn abandon", "tree keep", "criterion add",
        "criterion approve", "criterion set", "criterion remove", "give up", "import peer", "validate",
        "agent register", "agent deactivate",
        "drive",
    }  # fmt: skip


def test_a_claim_and_a_sign_of_life_are_no_change() -> None:
    court = confirmed()
    _task(court)
    court.judge()
    claim = court.do("task claim", id="T1", session_id=SESSION, agent_id="developer")["claim"]
    court.do("task heartbeat", id="T1", session_id=SESSION, by="developer", claim_token=claim["token"])
    assert court.do("status", session_id=SESSION)["verdict"]["fresh"]


def test_a_verdict_of_older_rules_is_told_again_as_it_was() -> None:
    """They took every event for a change, and noted no step of the store."""
    court = confirmed()
    verdict = court.judge(dry_run=True)
    _stray(court)
    found = {name: verdict[name] for name in ("verdict", "reason", "checks", "completes")}
    seen = Circumstances(found={"head": verdict["head"], "verdict": found, "ran": []})
    call = Call("validate", SESSION, verdicts.AGENT, {"command_timeout": 300}, circumstances=seen)
    with pytest.raises(OrchestratorError) as caught:
        perform(court.context, call, operations.action("validate"))
    assert caught.value.code == "STATE_CHANGED"
    assert court.do("audit replay", session_id=SESSION)["equal"]


# Without the project manager's confirmation


@pytest.mark.parametrize("said", ["PLANNING_COMPLETE", "CONTINUE", None])
def test_without_a_confirmation_it_is_a_dry_run_that_says_so(said: str | None) -> None:
    court = Court("A")
    court.criterion("C1", command=("true",))
    if said:
        court.plan()
        court.says(PM, "CONTINUE") if said == "CONTINUE" else None
    meanwhile(court, lambda: pytest.fail("a dry run runs no command"))
    before, events = court.state(), court.count("audit_events")
    verdict = court.do("validate", session_id=SESSION)
    assert (verdict["recorded"], verdict["dry_run"], verdict["exit_code"]) == (False, True, 1)
    assert ("V01", PM) in court.found(verdict)
    (warning,) = verdict["warnings"]
    assert (said or "nothing was reported") in warning
    assert warning.endswith(f"orchestrator validate {SESSION} --record")
    assert (court.state(), court.count("audit_events")) == (before, events)


def test_it_may_run_the_commands_and_still_records_nothing() -> None:
    court = Court("A", plan=True)
    court.runs("C1", "print('12 passed')", reason="asked for")
    verdict = court.do("validate", session_id=SESSION, run_commands=True)
    assert (verdict["recorded"], ("V10", "C1") in court.found(verdict), court.count("evidence")) == (False, False, 0)


def test_a_confirmation_that_something_else_followed_records_nothing() -> None:
    court = done()
    court.says(PM, "CONTINUE")
    assert court.do("validate", session_id=SESSION)["recorded"] is False
    court.bazinga()
    verdict = court.do("validate", session_id=SESSION)
    assert (verdict["verdict"], verdict["recorded"], "warnings" in verdict) == ("ACCEPT", True, False)


def test_a_confirmation_whose_verdict_was_a_rejection_is_judged_again() -> None:
    court = Court("A", plan=True)
    court.bazinga()
    for _ in range(2):
        verdict = court.do("validate", session_id=SESSION)
        assert (verdict["verdict"], verdict["recorded"], verdict["exit_code"]) == ("REJECT", True, 1)


def test_a_verdict_is_recorded_all_the_same_where_it_is_asked_for() -> None:
    court = Court("A", plan=True)
    verdict = court.do("validate", session_id=SESSION, record=True)
    assert (verdict["verdict"], verdict["recorded"], "warnings" in verdict) == ("REJECT", True, False)
    ((recorded,),) = court.rows("SELECT json_extract(input, '$.record') FROM audit_events WHERE kind = 'validate'")
    assert int(recorded) == 1
    with pytest.raises(OrchestratorError) as caught:
        court.do("validate", session_id=SESSION, record=True, dry_run=True)
    assert caught.value.code == "USAGE"


# What may happen meanwhile


def test_another_session_may_go_on_meanwhile() -> None:
    court = Court("A", plan=True)
    court.criterion("C1", command=("true",), reason="asked for")
    court.complete("A")
    court.bazinga()
    meanwhile(court, lambda: court.do("session create", id="S2"))
    assert court.judge()["verdict"] == "ACCEPT"


def test_a_session_that_ends_meanwhile_has_no_second_verdict() -> None:
    court = Court("A", plan=True)
    court.criterion("C1", command=("true",), reason="asked for")
    court.complete("A")
    court.bazinga()
    real = commands.run

    def end() -> None:
        court.context.run = real
        assert court.judge()["verdict"] == "ACCEPT"

    meanwhile(court, end)
    with pytest.raises(verdicts.Refused) as caught:
        court.judge()
    assert caught.value.code == "SESSION_CLOSED"


# Dry runs and repeated requests


def test_a_dry_run_says_the_same_and_writes_nothing() -> None:
    court = done()
    before, events = court.state(), court.count("audit_events")
    verdict = court.judge(dry_run=True)
    assert (verdict["verdict"], verdict["dry_run"], verdict["exit_code"]) == ("ACCEPT", True, 0)
    assert (court.state(), court.count("audit_events")) == (before, events)
    real = court.judge()
    assert [verdict[name] for name in ("checks", "head", "reason")] == [
        real[name] for name in ("checks", "head", "reason")
    ]


def test_a_dry_run_runs_commands_only_when_it_is_told_to() -> None:
    court = Court("A", plan=True)
    court.criterion("C1", command=("true",), reason="asked for")
    ran: list[Any] = []
    meanwhile(court, lambda: ran.append(1))
    dry = court.judge(dry_run=True)
    assert (ran, ("V10", "C1") in court.found(dry)) == ([], True)
    run = court.judge(dry_run=True, run_commands=True)
    assert (ran, ("V10", "C1") in court.found(run)) == ([1], False)
    assert court.count("evidence") == 0


def test_a_request_that_was_answered_runs_no_command_again() -> None:
    court = Court("A", plan=True)
    court.criterion("C1", command=("true",), reason="asked for")
    ran: list[Any] = []
    meanwhile(court, lambda: ran.append(1))
    first = court.judge(request_id="once")
    again = court.judge(request_id="once")
    assert again == {**first, "repeated": True}
    assert ran == [1]
    with pytest.raises(verdicts.Refused) as caught:
        court.judge(request_id="once", command_timeout=7)
    assert caught.value.code == "REQUEST_ID_REUSED"


# What is run is kept


def test_a_commands_output_is_evidence_with_its_hash() -> None:
    court = Court("A", plan=True)
    court.runs("C1", "print('12 passed')", reason="asked for")
    court.runs("C2", "raise SystemExit(1)", reason="asked for")
    verdict = court.judge()
    assert verdict["evidence"] == [f"S1:E{verdict['seq']}", f"S1:E{verdict['seq']}.2"]
    found = court.rows("SELECT id, kind, subject, outcome, size, content FROM evidence ORDER BY part")
    assert found == [
        (verdict["evidence"][0], "command", "C1", "exit 0", 10, "12 passed\n"),
        (verdict["evidence"][1], "command", "C2", "exit 1", 0, ""),
    ]
    assert ("V10", "C2") in court.found(verdict)
    assert ("V10", "C1") not in court.found(verdict)


def test_a_deferred_criterion_is_not_run() -> None:
    court = done()
    court.runs("C1", "raise SystemExit(1)", reason="asked for late")
    court.do("criterion set", id="C1", session_id=SESSION, status="deferred", by=PM, reason="next release")
    verdict = court.judge()
    assert (verdict["verdict"], verdict["evidence"]) == ("ACCEPT", [])
    assert court.found(verdict, "info")[:1] == [("V08", "C1")]


def test_a_program_without_a_runner_rejects_instead_of_guessing() -> None:
    court = done()
    court.runs("C1", "pass", reason="asked for late")
    court.context.run = None
    assert court.found(court.judge()) == [("V10", "C1")]


def test_a_replay_runs_no_command_and_comes_to_the_same_head() -> None:
    court = Court("A", plan=True)
    court.runs("C1", "print('x' * 3_000_000)", reason="asked for")
    court.complete("A")
    court.bazinga()
    assert court.judge(request_id="r")["verdict"] == "ACCEPT"

    def never(*_: Any, **__: Any) -> Any:
        raise AssertionError("a replay runs nothing")

    fresh = Context(memory.connect(), path="x", clock=never, door="x", channel="x", deadline_s=1.0, run=never)
    replay_events.replay(fresh, replay_events.events(court.context))
    for table in ("audit_events", "evidence", "criteria", "agent_reports", "router_decisions", "requests"):
        sql = f"SELECT * FROM {table}"
        assert sorted(fresh.connection.execute(sql).fetchall(), key=repr) == sorted(court.rows(sql), key=repr)


# The record itself


def tampered(court: Court, *statements: str) -> Answer:
    """What the verdict says after somebody with time and the file has changed it."""
    connection = court.context.connection
    triggers = forging.disarm(connection)
    for statement in statements:
        connection.execute(statement)
    forging.rearm(connection, triggers)
    return court.judge(dry_run=True)


@pytest.mark.parametrize(
    ("statement", "check"),
    [
        ("UPDATE agent_reports SET summary = 'forged' WHERE seq = 8", "V13"),
        ("UPDATE audit_events SET actor = 'forged' WHERE session_id = 'S1' AND seq = 5", "V13"),
        ("UPDATE audit_events SET input = '{}' WHERE session_id = 'S1' AND seq = 4", "V13"),
        ("DELETE FROM audit_events WHERE session_id = 'S1' AND seq = 4", "V06"),
        ("DELETE FROM audit_events WHERE session_id = 'S1' AND seq = 4", "V13"),
        ("DELETE FROM router_decisions WHERE seq = 8", "V06"),
        ("DELETE FROM router_decisions WHERE seq = 8", "V13"),
        ("DELETE FROM agent_reports WHERE seq = 8", "V13"),
        ("DELETE FROM agent_reports WHERE seq = 8", "V06"),
        ("INSERT INTO acknowledgements VALUES ('S1', 5, 1, 'A', 'forged')", "V13"),
        ("INSERT INTO acknowledgements VALUES ('S1', 99, 1, 'A', 'forged')", "V13"),
        ("UPDATE blockers SET reason = 'forged'", "V13"),
        ("UPDATE agent_reports SET role = 'tech_lead' WHERE role = 'qa_expert'", "V14"),
        ("UPDATE router_decisions SET handoff = '{}' WHERE handoff IS NOT NULL", "V15"),
        ("UPDATE standalone_handoffs SET document = '{}'", "V15"),
        ("UPDATE texts SET content = 'forged'", "V15"),
        ("DELETE FROM texts", "V15"),
        ("UPDATE evidence SET content = 'forged'", "V15"),
        ("UPDATE blockers SET resolved_seq = NULL, resolved_at = NULL, resolved_by = NULL, resolution = NULL", "V07"),
        ("UPDATE task_groups SET status = 'completed', awaited_role = NULL WHERE id = 'B'", "V03"),
        ("UPDATE criteria SET evidence = 'S1:R999' WHERE id = 'C2'", "V08"),
    ],
)
def test_what_was_changed_from_outside_is_found(statement: str, check: str) -> None:
    court = Court("A", "B", plan=True)
    court.runs("C1", "pass", reason="asked for")
    court.criterion("C2", reason="asked for")
    court.block("A")
    court.says("tech_lead", "APPROVED", "A", raw_text="the whole message")
    court.says("developer", "MERGE_SUCCESS", "A")
    court.do("criterion set", id="C2", session_id=SESSION, status="met", by=PM, reason="seen", evidence="S1:R10")
    court.judge()
    clean = {id_ for id_, _ in court.found(court.judge(dry_run=True))}
    assert clean == {"V01", "V02", "V04", "V10"}
    found = {id_ for id_, _ in court.found(tampered(court, statement))}
    assert check in found - clean


@pytest.mark.sqlite("a schema in memory is looked at")
def test_a_missing_guard_is_found_and_its_repair_is_mentioned() -> None:
    court = done()
    court.context.connection.execute("DROP TRIGGER task_groups_completed_needs_path")
    verdict = court.judge()
    assert court.found(verdict) == [("V13", "task_groups_completed_needs_path")]


def test_nothing_is_wrong_with_a_session_that_was_played_by_the_rules() -> None:
    court = incident()
    seen = snapshot.read(court.context.connection, SESSION)
    assert seen is not None
    read = seen.snapshot
    assert (read.gaps, read.chain, read.guards, read.roles, read.evidence) == ((), (), (), (), ())
    assert not court.context.connection.in_transaction


@pytest.mark.sqlite("the write function of a connection is taken away")
def test_reading_writes_nothing_and_needs_no_right_to() -> None:
    court = done()
    connection = court.context.connection
    before = connection.total_changes
    connection.create_function(constants.WRITE_FUNCTION, 0, None)
    assert court.judge(dry_run=True)["verdict"] == "ACCEPT"
    assert connection.total_changes == before


# What people see


def test_status_shows_the_verdict_and_whether_it_is_fresh() -> None:
    court = Court("A", plan=True)
    assert court.do("status", session_id=SESSION)["verdict"] is None
    court.bazinga()
    waiting = court.do("status", session_id=SESSION)
    assert (waiting["awaited"]["role"], waiting["next"][0]) == ("validator", "orchestrator validate S1")
    verdict = court.judge()
    shown = court.do("status", session_id=SESSION)["verdict"]
    assert shown == {
        "id": verdict["report_id"], "verdict": "REJECT", "reason": verdict["reason"], "seq": verdict["seq"],
        "at": shown["at"], "fresh": True,
    }  # fmt: skip
    court.says("developer", "READY_FOR_QA", "A")
    assert court.do("status", session_id=SESSION)["verdict"]["fresh"] is False


def test_the_timeline_tells_of_the_verdict() -> None:
    court = done()
    court.runs("C1", "pass", reason="asked for late")
    verdict = court.judge()
    (event,) = operations.call(court.context, "audit timeline", session_id=SESSION, since=verdict["seq"] - 1)["events"]
    assert event["kind"] == "validate"
    assert "ACCEPT" in event["text"]
    assert "session S1: active -> ended by system:validator" in event["text"]
    assert f"evidence S1:E{verdict['seq']} (command of C1): exit 0" in event["text"]
    why = court.do("why", id=verdict["decision"]["decision_id"])
    assert (why["about"], why["report"]["id"]) == ("decision", verdict["report_id"])


@pytest.mark.parametrize(
    ("changed", "level"),
    [("minimal", "warning"), (None, None)],
    ids=["loosened from outside", "as it was"],
)
def test_a_loosened_testing_mode_is_listed(changed: str | None, level: str | None) -> None:
    court = Court("A", plan=True, testing_mode="minimal")
    court.do("session testing-mode", id=SESSION, mode="full", by=PM, reason="be careful")
    found = court.found(court.judge(dry_run=True), "info")
    assert ("V11", SESSION) in found
    if changed:
        connection = court.context.connection
        connection.execute(
            "INSERT INTO status_changes VALUES ('S1', 90, 1, 'session_testing_mode', 'S1', 'full', 'minimal', 'eve',"
            " 't', 'hurry', 'manual')"
        )
    assert (("V11", SESSION) in court.found(court.judge(dry_run=True), "warning")) is (level == "warning")


def test_a_group_that_went_past_qa_is_listed() -> None:
    court = Court("A", plan=True)
    court.says("developer", "READY_FOR_REVIEW", "A")
    court.says("tech_lead", "APPROVED", "A")
    court.says("developer", "MERGE_SUCCESS", "A")
    court.bazinga()
    verdict = court.judge()
    assert (verdict["verdict"], ("V16", "A") in court.found(verdict, "info")) == ("ACCEPT", True)


def test_a_mandatory_review_is_listed() -> None:
    court = Court()
    court.group("A", security_sensitive=True)
    court.plan()
    court.complete("A", "senior_software_engineer")
    court.bazinga()
    verdict = court.judge()
    assert (verdict["verdict"], ("V11", "A") in court.found(verdict, "info")) == ("ACCEPT", True)


def test_a_dropped_dependency_is_listed() -> None:
    court = Court("A", "B")
    court.group("C", depends_on=("A",))
    court.plan()
    court.complete("B")
    court.do("group set-status", id="A", session_id=SESSION, status="cancelled", by=PM, reason="no need")
    court.do("group undepend", id="C", on="A", session_id=SESSION, by=PM, reason="A is cancelled")
    court.complete("C")
    court.bazinga()
    verdict = court.judge()
    assert (verdict["verdict"], ("V05", "C") in court.found(verdict, "info")) == ("ACCEPT", True)


@pytest.mark.parametrize(
    ("answers", "why"),
    [
        ([(None, "was not found", "")], "git was not found"),
        ([(128, "exit 128", "")], "the project root is no git repository"),
        ([(0, "exit 0", "false\n")], "the project root is no git repository"),
        ([(0, "exit 0", "true\n"), (1, "exit 1", ""), (1, "exit 1", "")], "the repository has no commit"),
        ([(0, "exit 0", "true\n"), (1, "exit 1", ""), (0, "exit 0", "c1\n"), (0, "exit 0", "")],
         "it is in what is checked out"),
    ],
)  # fmt: skip
def test_why_a_merge_cannot_be_looked_up_is_said(
    tmp_path: Path, answers: list[tuple[int | None, str, str]], why: str
) -> None:
    given = iter(answers)

    def run(*_: object, **__: object) -> commands.Ended:
        status, how, output = next(given)
        return commands.Ended(status, how, output, len(output))

    (found,) = validate_session.look_up((Merge("A", "abcd"),), run, tmp_path, ("main",))
    assert (found.why, found.ancestor) == (why, True if answers[-1][0] == 0 and len(answers) == 4 else None)
    assert next(given, None) is None
