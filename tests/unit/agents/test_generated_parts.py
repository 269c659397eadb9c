"""The parts of the Markdown files that the workflow writes."""

from __future__ import annotations

import pytest

from orchestrator import errors
from orchestrator.core import agents_render
from orchestrator.core.workflow import model

FILE = """---
name: developer
description: Builds.
model: sonnet
role: developer
---
Before.
<!-- generated: {} -->
something old
<!-- /generated -->
After.
"""


def test_statuses_say_meaning_place_and_what_to_pass_on(workflow: model.Workflow) -> None:
    result, stopped, unfinished = (
        "`researched`, `planned`, `implemented`",
        "`failed`, `blocked`",
        "`in_progress`, `partial`",
    )
    assert agents_render.statuses("developer", workflow) == [
        "| Status | Meaning | Goes to | Put into `details` | `metadata.status` |",
        "| --- | --- | --- | --- | --- |",
        f"| `READY_FOR_REVIEW` | Built  /  and ready. | `tech_lead` | `dev_output`, `files_changed` | {result} |",
        "| `BLOCKED` | has the effect block | `project_manager`; where that role is disabled, `tech_lead` "
        f"| `dev_output`, `blocker_details` | {stopped} |",
        f"| `PARTIAL` | has the effect progress | `developer` again | `partial_work` | {unfinished} |",
        f"| `MERGE_SUCCESS` | has the effect merge | the phase check | `merge_result` | {result} |",
        f"| `STUCK` | has the effect block | `tech_lead` | nothing more | {stopped} |",
    ]


@pytest.mark.parametrize(
    ("role", "status", "place"),
    [
        ("project_manager", "PLANNING_COMPLETE", "`developer`, for every group that can start"),
        ("project_manager", "BAZINGA", "the validator"),
        ("project_manager", "NEEDS_CLARIFICATION", "a person"),
        ("project_manager", "INVESTIGATION_ONLY", "nobody: the session ends"),
        ("project_manager", "REWORK", "the builder of the group, again"),
        ("tech_lead", "APPROVED", "`developer`, who merges; then the phase check"),
        ("tech_lead", "UNBLOCKING_GUIDANCE", "the role that was blocked"),
    ],
)
def test_the_place_says_who_acts_next(role: str, status: str, place: str, workflow: model.Workflow) -> None:
    rows = [row.split(" | ") for row in agents_render.statuses(role, workflow)]
    assert [row[2] for row in rows if row[0] == f"| `{status}`"] == [place]


def test_the_hand_off_lists_what_each_sender_passes_on(workflow: model.Workflow) -> None:
    assert agents_render.handoff("developer", workflow) == [
        "- from project manager: `task_groups`, `rework_reason`",
        "- from tech lead: `guidance`",
        "- from developer: `partial_work`",
    ]


def test_guidance_reaches_the_blocked_and_for_external_causes_the_project_manager(workflow: model.Workflow) -> None:
    assert "- from tech lead: `guidance`" in agents_render.handoff("project_manager", workflow)
    assert "- from tech lead: `guidance`" not in agents_render.handoff("tech_lead", workflow)


def test_a_phase_check_may_start_the_project_manager(workflow: model.Workflow) -> None:
    expected = "- from developer: `dev_output`, `blocker_details`, `merge_result`"
    assert expected in agents_render.handoff("project_manager", workflow)


def test_a_fallback_is_given_the_same(workflow: model.Workflow) -> None:
    expected = ["- from developer: `dev_output`, `files_changed`, `blocker_details`"]
    assert agents_render.handoff("tech_lead", workflow) == expected


def test_blocked_routes_are_read_from_the_effect(workflow: model.Workflow) -> None:
    assert agents_render.blocked(workflow) == [
        "| Reported by | Status | Goes to |",
        "| --- | --- | --- |",
        "| `developer` | `BLOCKED` | `project_manager`; where that role is disabled, `tech_lead` |",
        "| `developer` | `STUCK` | `tech_lead` |",
    ]


@pytest.mark.parametrize("part", ["statuses", "handoff", "blocked"])
def test_only_the_inside_of_a_part_is_written(part: str, workflow: model.Workflow) -> None:
    written = agents_render.render(FILE.format(part), workflow)
    before, after = FILE.format(part).split("something old\n")
    assert written.startswith(before)
    assert written.endswith(after)
    assert "something old" not in written


@pytest.mark.parametrize("part", ["statuses", "handoff", "blocked"])
def test_writing_twice_changes_nothing(part: str, workflow: model.Workflow) -> None:
    once = agents_render.render(FILE.format(part), workflow)
    assert agents_render.render(once, workflow) == once


def test_a_text_without_parts_stays_as_it_is(workflow: model.Workflow) -> None:
    assert agents_render.render("Only words.\n", workflow) == "Only words.\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("<!-- generated: blocked -->\n", "the generated part blocked is not closed", id="to the end"),
        pytest.param(
            "<!-- generated: blocked -->\n<!-- generated: blocked -->\n<!-- /generated -->\n",
            "the generated part blocked is not closed",
            id="before the next",
        ),
        pytest.param(FILE.format("weather"), "unknown generated part weather", id="unknown name"),
    ],
)
def test_a_part_that_cannot_be_written_is_refused(text: str, message: str, workflow: model.Workflow) -> None:
    with pytest.raises(errors.InvalidInput, match=message):
        agents_render.render(text, workflow)


def test_a_part_about_a_role_needs_front_matter(workflow: model.Workflow) -> None:
    with pytest.raises(errors.InvalidInput, match="no front matter"):
        agents_render.render("<!-- generated: statuses -->\n<!-- /generated -->\n", workflow)
