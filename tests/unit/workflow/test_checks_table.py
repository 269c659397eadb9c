"""Every row of the table of checks: a bad file that has the problem, and a good twin that has none."""

from __future__ import annotations

import pytest

from orchestrator.core.workflow import checks, problems
from tests.unit.workflow import build
from tests.unit.workflow.build import aliases, put, rule, top, with_keys, without

GOOD_BYTES = build.encoded(build.CLEAN)
SPAWN_TL = {"next_agent": "tech_lead", "action": "spawn"}
QA = put("qa_expert", "PASS", **SPAWN_TL)
TO_QA = put("developer", "READY_FOR_QA", next_agent="qa_expert", action="spawn", iteration_budget_check=True)


def doubled(needle: str) -> bytes:
    text = GOOD_BYTES.decode()
    return text.replace(needle, f"{needle}\n{needle}", 1).encode()


BYTES = [
    ("empty", "W101", b"", GOOD_BYTES),
    ("only blanks", "W101", b" \n\t", GOOD_BYTES),
    ("no role", "W101", b"{}", GOOD_BYTES),
    ("UTF-16", "W102", GOOD_BYTES.decode().encode("utf-16"), GOOD_BYTES),
    ("UTF-16 without mark", "W102", GOOD_BYTES.decode().encode("utf-16-be"), GOOD_BYTES),
    ("UTF-32", "W102", GOOD_BYTES.decode().encode("utf-32"), GOOD_BYTES),
    ("Latin-1", "W103", '{"_version": "é"}'.encode("latin-1"), GOOD_BYTES),
    ("cut off", "W104", GOOD_BYTES[:-3], GOOD_BYTES),
    ("comma too many", "W104", GOOD_BYTES.rstrip(b"}\n ") + b",}}}", GOOD_BYTES),
    ("single quotes", "W104", b"{'a': 1}", GOOD_BYTES),
    ("text behind", "W104", GOOD_BYTES + b"x", GOOD_BYTES),
    ("not an object", "W110", b"[1]", GOOD_BYTES),
    ("the same key twice", "W105", doubled('"next_agent": "developer",'), GOOD_BYTES),
    ("NaN", "W106", GOOD_BYTES.replace(b'"max_parallel": 2', b'"max_parallel": NaN'), GOOD_BYTES),
    ("infinite", "W106", GOOD_BYTES.replace(b'"max_parallel": 2', b'"max_parallel": 1e999'), GOOD_BYTES),
    ("byte order mark", "W107", b"\xef\xbb\xbf" + GOOD_BYTES, GOOD_BYTES),
    ("nested too deep", "W108", b"[" * 5000, GOOD_BYTES),
    ("too large", "W108", b" " * (4 * 1024 * 1024 + 1), GOOD_BYTES),
    ("half a surrogate", "W109", GOOD_BYTES.replace(b'"1"', rb'"\ud800"'), GOOD_BYTES),
    ("NUL", "W109", GOOD_BYTES.replace(b'"1"', rb'"\u0000"'), GOOD_BYTES),
]


@pytest.mark.parametrize(("rule_id", "bad", "good"), [row[1:] for row in BYTES], ids=[row[0] for row in BYTES])
def test_bytes_of_a_file(rule_id: str, bad: bytes, good: bytes) -> None:
    assert rule_id in build.ids(checks.check(bad, "f"))
    assert build.ids(checks.check(good, "f")) == []


# name, id, path, changes of the bad file, changes of the good twin
ROWS = [
    ("text for a number", "W110", "$.project_manager.PLANNING_COMPLETE.max_parallel",
     [with_keys("project_manager", "PLANNING_COMPLETE", max_parallel="2")],
     [with_keys("project_manager", "PLANNING_COMPLETE", max_parallel=3)]),
    ("true for a number", "W110", "$.project_manager.PLANNING_COMPLETE.max_parallel",
     [with_keys("project_manager", "PLANNING_COMPLETE", max_parallel=True)], []),
    ("zero slots", "W110", "$.project_manager.PLANNING_COMPLETE.max_parallel",
     [with_keys("project_manager", "PLANNING_COMPLETE", max_parallel=0)], []),
    ("unknown action", "W110", "$.tech_lead.APPROVED.action",
     [with_keys("tech_lead", "APPROVED", action="spawn_merg")], []),
    ("unknown effect", "W110", "$.tech_lead.APPROVED.effect",
     [with_keys("tech_lead", "APPROVED", effect="approves")], [with_keys("tech_lead", "APPROVED", effect="approve")]),
    ("block is no object", "W110", "$.qa_expert", [top("qa_expert", [])], []),
    ("transition is null", "W110", "$.developer.PARTIAL", [lambda d: d["developer"].update(PARTIAL=None)], []),
    ("context is no list", "W110", "$.tech_lead.APPROVED.include_context",
     [with_keys("tech_lead", "APPROVED", include_context="notes")],
     [with_keys("tech_lead", "APPROVED", include_context=["notes"])]),
    ("unknown key of a transition", "W111", "$.tech_lead.APPROVED.nextagent",
     [with_keys("tech_lead", "APPROVED", nextagent="developer")], [with_keys("tech_lead", "APPROVED", _note="x")]),
    ("unknown role block", "W111", "$.develpoer", [top("develpoer", {})], []),
    ("block of the orchestrator", "W111", "$.orchestrator", [top("orchestrator", {})], []),
    ("unknown comment at the top", "W111", "$._special_rule", [top("_special_rule", {})], [top("_description", "x")]),
    ("unknown comment in a block", "W111", "$.developer._comment", [lambda d: d["developer"].update(_comment="x")],
     [lambda d: d["developer"].update(_note="x", _description="y")]),
    ("unknown rule", "W111", "$._special_rules.loop_gard", [rule("loop_gard")], [rule("loop_guard", max_visits=3)]),
    ("unknown key of a rule", "W111", "$._special_rules.loop_guard.visits", [rule("loop_guard", visits=3)],
     [rule("loop_guard", description="x")]),
    ("no action", "W112", "$.tech_lead.APPROVED.action", [without("tech_lead", "APPROVED", "action")], []),
    ("rule without its agent", "W112", "$._special_rules.security_sensitive.force_agent",
     [rule("security_sensitive")], [rule("security_sensitive", force_agent="developer")]),
    ("unknown next agent", "W201", "$.developer.READY_FOR_REVIEW.next_agent",
     [with_keys("developer", "READY_FOR_REVIEW", next_agent="tech_laed")], []),
    ("unknown fallback agent", "W201", "$.developer.READY_FOR_REVIEW.fallback_agent",
     [with_keys("developer", "READY_FOR_REVIEW", fallback_agent="somebody")],
     [with_keys("developer", "READY_FOR_REVIEW", fallback_agent="project_manager")]),
    ("fallback to whoever was blocked", "W201", "$.developer.READY_FOR_REVIEW.fallback_agent",
     [with_keys("developer", "READY_FOR_REVIEW", fallback_agent="_return_to_blocked")], []),
    ("unknown role in a rule", "W201", "$._special_rules.escalation_after_failures.escalation_agent",
     [rule("escalation_after_failures", escalation_agent="senior")],
     [rule("escalation_after_failures", escalation_agent="tech_lead")]),
    ("unknown rung", "W201", "$._special_rules.loop_guard.on_exhausted[1]",
     [rule("loop_guard", on_exhausted=["tech_lead", "boss"])],
     [rule("loop_guard", on_exhausted=["tech_lead", "question"])]),
    ("spawn without agent", "W202", "$.developer.READY_FOR_REVIEW.next_agent",
     [with_keys("developer", "READY_FOR_REVIEW", next_agent=None), put("developer", "X", effect="none", **SPAWN_TL)],
     []),
    ("phase check with an agent", "W203", "$.developer.MERGE_SUCCESS.next_agent",
     [with_keys("developer", "MERGE_SUCCESS", next_agent="tech_lead", iteration_budget_check=True)], []),
    ("merge to whoever was blocked", "W203", "$.tech_lead.UNBLOCKING_GUIDANCE.next_agent",
     [with_keys("tech_lead", "UNBLOCKING_GUIDANCE", action="spawn_merge")], []),
    ("alias loop", "W204", "$._status_aliases.A", [aliases(A="B", B="A")], [aliases(A="B", B="APPROVED")]),
    ("alias of itself", "W204", "$._status_aliases.A", [aliases(A="A")], []),
    ("alias to nothing", "W205", "$._status_aliases.DONE", [aliases(DONE="FINISHED")], [aliases(DONE="BAZINGA")]),
    ("case alone differs", "W206", "$.tech_lead.Approved",
     [lambda d: d["tech_lead"].update(Approved=dict(d["tech_lead"]["APPROVED"]))], []),
    ("lower case", "W207", "$.project_manager.wait", [put("project_manager", "wait", effect="none")],
     [put("project_manager", "WAIT", effect="none")]),
    ("newline behind", "W207", '$.project_manager["WAIT\\n"]', [put("project_manager", "WAIT\n", effect="none")], []),
    ("alias in lower case", "W207", "$._status_aliases.done", [aliases(done="BAZINGA")], []),
    ("a developer ends the session", "W208", "$.developer.DONE.action",
     [put("developer", "DONE", action="end_session", effect="none")],
     [put("project_manager", "INVESTIGATION_ONLY", action="end_session")]),
    ("then without a step", "W209", "$.developer.READY_FOR_REVIEW.then",
     [with_keys("developer", "READY_FOR_REVIEW", then="check_phase")], []),
    ("slots without a batch", "W209", "$.developer.READY_FOR_REVIEW.max_parallel",
     [with_keys("developer", "READY_FOR_REVIEW", max_parallel=2)], []),
    ("model without an agent", "W209", "$.developer.MERGE_SUCCESS.model_override",
     [with_keys("developer", "MERGE_SUCCESS", model_override="opus")],
     [with_keys("developer", "READY_FOR_REVIEW", model_override="opus")]),
    ("validator is spawned", "W210", "$.project_manager.CHECK",
     [put("project_manager", "CHECK", next_agent="validator", action="spawn", effect="none")], []),
    ("orchestrator is spawned", "W210", "$.project_manager.CHECK.next_agent",
     [put("project_manager", "CHECK", next_agent="orchestrator", action="spawn", effect="none")], []),
    ("rule calls the validator", "W210", "$._special_rules.research_tasks.agent",
     [rule("research_tasks", agent="validator")], [rule("research_tasks", agent="developer")]),
    ("alias shadows", "W221", "$._status_aliases.APPROVED", [aliases(APPROVED="BAZINGA")], []),
    ("effect unknown", "W222", "$.project_manager.WAIT", [put("project_manager", "WAIT")],
     [put("project_manager", "WAIT", effect="none")]),
    ("approval of another role", "W222", "$.developer.APPROVED", [put("developer", "APPROVED")], []),
    ("rule of a status nobody has", "W223", "$._special_rules.testing_mode_minimal.affected_statuses[0]",
     [rule("testing_mode_minimal", affected_statuses=["READY_FOR_QA"], override_next_agent="tech_lead")],
     [rule("testing_mode_minimal", affected_statuses=["READY_FOR_REVIEW"], override_next_agent="tech_lead")]),
    ("a developer approves", "W224", "$.developer.SHIP_IT.effect",
     [put("developer", "SHIP_IT", effect="approve", **SPAWN_TL)],
     [put("tech_lead", "SHIP_IT", effect="approve", action="check_phase")]),
    ("a developer gives guidance", "W224", "$.developer.ADVICE.effect",
     [put("developer", "ADVICE", effect="guide", **SPAWN_TL)], []),
    ("a tech lead merges", "W224", "$.tech_lead.MERGED.effect",
     [put("tech_lead", "MERGED", effect="merge", action="check_phase")],
     [put("developer", "MERGED", effect="merge", action="check_phase")]),
    *((f"a tech lead says {effect}", "W224", "$.tech_lead.SAYS_SO.effect",
       [put("tech_lead", "SAYS_SO", effect=effect, action="check_phase")],
       [put("project_manager", "SAYS_SO", effect=effect, action="pause_for_user")])
      for effect in ("plan", "confirm", "defer")),
    ("nothing leads to a role", "W301", "$.qa_expert", [QA], [QA, TO_QA]),
    ("only the way back leads to a role", "W301", "$.qa_expert", [QA, put("qa_expert", "BLOCKED", **SPAWN_TL)], []),
    ("nothing leads to the validator", "W301", "$.validator",
     [without("project_manager", "BAZINGA")], []),
    ("no way out", "W302", "$.qa_expert",
     [TO_QA, put("qa_expert", "FAIL", next_agent="qa_expert", action="respawn", iteration_budget_check=True)],
     [TO_QA, QA]),
    ("role without statuses", "W303", "$.developer.READY_FOR_QA", [TO_QA], [TO_QA, QA]),
    ("no project manager", "W303", "$", [without("project_manager")], []),
    ("block without guidance", "W321", "$.developer.BLOCKED",
     [without("tech_lead", "UNBLOCKING_GUIDANCE"),
      put("developer", "BLOCKED", iteration_budget_check=True, **SPAWN_TL)],
     [put("developer", "BLOCKED", iteration_budget_check=True, **SPAWN_TL),
      with_keys("tech_lead", "UNBLOCKING_GUIDANCE", iteration_budget_check=True)]),
    ("merger without a merge", "W322", "$.tech_lead.APPROVED", [without("developer", "MERGE_SUCCESS")], []),
    ("cycle without a counter", "W323", "$.developer.READY_FOR_REVIEW",
     [with_keys("developer", "READY_FOR_REVIEW", iteration_budget_check=False)], []),
    ("flag without a counter", "W323", "$.developer.READY_FOR_REVIEW",
     [with_keys("developer", "READY_FOR_REVIEW", iteration_budget_check=False, escalation_check=True)], []),
]  # fmt: skip


@pytest.mark.parametrize(("rule_id", "path", "bad"), [row[1:4] for row in ROWS], ids=[row[0] for row in ROWS])
def test_a_bad_file_has_the_problem_at_its_place(rule_id: str, path: str, bad: list[build.Change]) -> None:
    report = build.check(*bad)
    found = {(problem.id, problem.path): problem for problem in report.problems}
    problem = found[rule_id, path]
    assert (problem.severity, bool(problem.message), bool(problem.hint), problem.line is not None) == (
        problems.CATALOGUE[rule_id][0],
        True,
        True,
        True,
    )
    errors = [entry for entry in report.problems if entry.severity == "error"]
    assert (report.ok, report.document is None) == (not errors, bool(errors))


@pytest.mark.parametrize("good", [row[4] for row in ROWS], ids=[row[0] for row in ROWS])
def test_the_good_twin_has_none(good: list[build.Change]) -> None:
    assert build.check(*good).problems == ()


def test_the_table_covers_the_catalogue() -> None:
    assert {row[1] for row in (*BYTES, *ROWS)} == set(problems.CATALOGUE)


def test_all_levels_are_reported_in_one_run() -> None:
    report = build.check(
        top("nonsense", 1), with_keys("tech_lead", "APPROVED", fallback_agent="nobody"), QA, aliases(A="B", B="A")
    )
    assert {"W111", "W201", "W204", "W301"} <= set(build.ids(report))
