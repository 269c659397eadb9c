"""The shipped agent files: they agree with the shipped workflow and say the same where they must."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from orchestrator.core import agents, metadata, report_parser
from orchestrator.core.workflow import model

ROOT = Path(__file__).resolve().parents[3]
SHIPPED = sorted((ROOT / "agents").glob("*.md"))
TEMPLATES = sorted((ROOT / "agents" / "templates").glob("*.md"))
PLAYBOOKS = [*(ROOT / "agents" / f"{name}.md" for name in ("orchestrator", "orchestrator_speckit")), *TEMPLATES]
WORKING = ("developer", "senior_software_engineer", "qa_expert", "investigator", "requirements_engineer")
REPORTING = (*WORKING, "tech_lead", "project_manager")

BLOCK = re.compile(r"<!-- block: blocked -->\n(.*?)<!-- /block -->", re.DOTALL)
JSON_EXAMPLE = re.compile(r"```json\n(.*?)\n```", re.DOTALL)
ROW = re.compile(r"\| `([a-z_]+)` \| `([A-Z_]+)` \| (.*) \|")


def name_of(path: Path) -> str:
    return path.stem


def read(name: str) -> str:
    return (ROOT / "agents" / f"{name}.md").read_text(encoding="utf-8")


def block_of(path: Path) -> str:
    found = BLOCK.findall(path.read_text(encoding="utf-8"))
    assert len(found) == 1, f"{path.name} must hold the block exactly once"
    return str(found[0])


def examples(name: str) -> list[dict[str, Any]]:
    return [json.loads(found) for found in JSON_EXAMPLE.findall(read(name))]


@pytest.fixture(scope="module")
def shipped() -> model.Workflow:
    return model.parse(json.loads((ROOT / "workflow" / "transitions.json").read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def files() -> list[agents.AgentFile]:
    return [agents.parse(path.read_text(encoding="utf-8"), f"agents/{path.name}") for path in SHIPPED]


def test_there_is_a_file_for_every_role_and_both_orchestrators() -> None:
    assert [name_of(path) for path in SHIPPED] == sorted([*REPORTING, "orchestrator", "orchestrator_speckit"])


def test_both_templates_are_there() -> None:
    assert [name_of(path) for path in TEMPLATES] == ["phase_parallel", "phase_simple"]


def test_files_and_workflow_do_not_differ(files: list[agents.AgentFile], shipped: model.Workflow) -> None:
    assert agents.check(files, shipped) == []


def test_statuses_stand_in_the_order_of_the_workflow(files: list[agents.AgentFile], shipped: model.Workflow) -> None:
    assert {file.role: file.statuses for file in files} == {file.role: shipped.statuses_of(file.role) for file in files}


def test_everybody_reports_to_whom_the_tree_says(files: list[agents.AgentFile]) -> None:
    expected = dict.fromkeys(WORKING, "tech_lead")
    expected |= {"tech_lead": "project_manager", "project_manager": "user", "orchestrator": "user"}
    assert {file.role: file.reports_to for file in files} == expected


def test_names_are_the_ones_that_claude_code_accepts(files: list[agents.AgentFile]) -> None:
    assert [file.name for file in files if not re.fullmatch(r"[a-z]+(-[a-z]+)*", file.name)] == []
    assert len({file.name for file in files}) == len(files)


def test_the_orchestrators_cannot_edit(files: list[agents.AgentFile]) -> None:
    tools = {tool for file in files if file.role == "orchestrator" for tool in file.tools}
    assert tools & {"Write", "Edit"} == set()


@pytest.mark.parametrize("role", REPORTING)
def test_every_role_has_its_generated_parts(role: str) -> None:
    text = read(role)
    assert [text.count(f"<!-- generated: {part} -->") for part in ("handoff", "statuses")] == [1, 1]


def test_four_playbooks_carry_one_identical_block() -> None:
    assert len(PLAYBOOKS) == 4
    assert len({block_of(path) for path in PLAYBOOKS}) == 1


def test_the_blocked_table_is_the_workflows(shipped: model.Workflow) -> None:
    expected = [
        (each.role, each.status, each.next_agent) for each in shipped.transitions.values() if each.effect == "block"
    ]
    rows = ROW.findall(block_of(PLAYBOOKS[0]))
    assert [(role, status, place.split("`")[1]) for role, status, place in rows] == expected


@pytest.mark.parametrize(
    ("role", "next_agent"),
    [
        ("developer", "investigator"),
        ("qa_expert", "tech_lead"),
        ("senior_software_engineer", "tech_lead"),
        ("investigator", "tech_lead"),
        ("requirements_engineer", "investigator"),
    ],
)
def test_blocked_goes_where_the_role_is_sent(role: str, next_agent: str) -> None:
    places = {(who, status): place for who, status, place in ROW.findall(block_of(PLAYBOOKS[0]))}
    assert places[role, "BLOCKED"].startswith(f"`{next_agent}`")


@pytest.mark.parametrize(
    "part",
    [
        pytest.param("`orchestrator route`", id="routed"),
        pytest.param("--session-id S --group-id G --current-agent ROLE --status BLOCKED", id="with all names"),
        pytest.param("Start exactly the agent that the reply names", id="the named agent"),
        pytest.param("`decision_id`", id="recorded"),
        pytest.param("Never set a group completed while handling BLOCKED", id="never completed"),
        pytest.param("whatever the cause looks like", id="whatever the cause"),
        pytest.param("project manager confirms", id="confirmed"),
        pytest.param("validator verifies", id="verified"),
        pytest.param("BAZINGA acknowledges", id="deferral acknowledged"),
        pytest.param("Self-check before each output", id="self-check"),
        pytest.param("Any no: stop, and repair that first.", id="stop and repair"),
    ],
)
def test_the_block_says(part: str) -> None:
    assert part in " ".join(block_of(PLAYBOOKS[0]).replace("**", "").split())


def test_the_self_check_asks_four_questions() -> None:
    check = block_of(PLAYBOOKS[0]).partition("### Self-check before each output")[2]
    asked = [line.partition(":")[0] for line in check.splitlines() if line.startswith("- ") and line.endswith("?")]
    assert asked == ["- Routed", "- Recorded", "- Right agent", "- Hands off"]


def test_the_simple_phase_handles_blocked_before_completion() -> None:
    steps = re.findall(r"## Step (\d): (.*)", read("templates/phase_simple"))
    assert [number for number, _ in steps] == ["1", "2", "3", "4", "5"]
    titles = [title for _, title in steps]
    assert titles.index("Route its answer") < titles.index("BLOCKED") < titles.index("Completion")


def test_the_block_stands_inside_its_step() -> None:
    text = read("templates/phase_simple")
    assert text.index("## Step 4") < text.index("<!-- block: blocked -->") < text.index("## Step 5")


@pytest.mark.parametrize(
    "sentence",
    [
        "Each group of a batch is routed by its own call",
        "One blocked group never stops or completes the others.",
    ],
)
def test_the_parallel_phase_keeps_groups_apart(sentence: str) -> None:
    assert sentence in " ".join(read("templates/phase_parallel").split())


COMPLETING = re.compile(r"\b(set|mark|move|update|write|put|report|call|treat)\b[^.|]*\bcompleted?\b", re.IGNORECASE)
FORBIDDING = re.compile(r"\b(never|not|nothing|no)\b", re.IGNORECASE)


def sentences(text: str) -> list[str]:
    plain = " ".join(text.replace("*", "").split())
    return re.split(r"(?<=[.?!:;])\s|\|", plain)


@pytest.mark.parametrize("path", [*SHIPPED, *TEMPLATES], ids=name_of)
def test_nobody_is_told_to_set_a_group_completed(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    told = [each for each in sentences(text) if COMPLETING.search(each) and not FORBIDDING.search(each)]
    assert told == []
    assert "set-status" not in text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is the environment, so mark the group complete.", 1),
        ("Set the status to completed: the code is right.", 1),
        ("Never set a group completed while handling BLOCKED.", 0),
    ],
)
def test_such_an_order_would_be_found(text: str, expected: int) -> None:
    found = [each for each in sentences(text) if COMPLETING.search(each) and not FORBIDDING.search(each)]
    assert len(found) == expected


@pytest.mark.parametrize("role", REPORTING)
def test_the_command_to_report_names_the_role(role: str) -> None:
    command = f"orchestrator route --session-id S --group-id G --current-agent {role} --status "
    assert command in read(role)


@pytest.mark.parametrize("role", REPORTING)
def test_every_example_is_a_report_that_would_be_accepted(role: str, shipped: model.Workflow) -> None:
    assert examples(role) != []
    for example in JSON_EXAMPLE.findall(read(role)):
        report = report_parser.extract(f"All is said.\n\n```json\n{example}\n```\n")
        effect = shipped.transitions[role, report.status].effect
        if report.metadata is not None:
            assert metadata.mismatch(metadata.check(report.metadata).status, effect) is None


@pytest.mark.parametrize("role", REPORTING)
def test_the_one_line_form_is_a_report_too(role: str, shipped: model.Workflow) -> None:
    [line] = re.findall(r"a\s+single\s+line\s+`(STATUS: [A-Z_]+)`", read(role))
    assert report_parser.extract(f"All is said.\n\n{line}\n").status in shipped.statuses_of(role)


@pytest.mark.parametrize("role", REPORTING)
def test_the_first_example_passes_on_what_the_workflow_asks_for(role: str, shipped: model.Workflow) -> None:
    report = examples(role)[0]
    assert tuple(report["details"]) == shipped.transitions[role, report["status"]].include_context


@pytest.mark.parametrize("role", WORKING)
def test_working_roles_learn_to_detect_blockers(role: str) -> None:
    flagged = [report for report in examples(role) if report.get("metadata", {}).get("requires_user_review") is True]
    assert [report["status"] for report in flagged] == ["BLOCKED"]
    assert all(report["metadata"]["review_reason"] for report in flagged)


def test_blocker_detection_reads_the_same_for_all_working_roles() -> None:
    found = [re.findall(r"## Blocker detection\n(.*?)\n1\. ", read(role), re.DOTALL) for role in WORKING]
    assert [len(tables) for tables in found] == [1] * len(WORKING)
    assert len({tables[0] for tables in found}) == 1


def test_the_tech_lead_learns_the_form_of_external_guidance() -> None:
    forms = [report["details"] for report in examples("tech_lead") if report["status"] == "UNBLOCKING_GUIDANCE"]
    assert [(form["external"], bool(form["external_dependency"])) for form in forms] == [(True, True)]


@pytest.mark.parametrize(
    "word", ["PLANNING_COMPLETE", "DEFER_EXTERNAL", "REWORK", "RESUME_BLOCKED", "acknowledge", "criterion add"]
)
def test_the_project_manager_learns_its_acts(word: str) -> None:
    prose = read("project_manager").partition("## Planning")[2]
    assert word in prose


def test_bazinga_acknowledges_groups_by_id_and_reason() -> None:
    given = [report["acknowledge"] for report in examples("project_manager") if report["status"] == "BAZINGA"]
    assert len(given) == 1
    assert all(group and reason for group, reason in given[0].items())
