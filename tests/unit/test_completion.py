"""Every word of the completion view has its phrase, and names the report it rests on."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.core import completion_wording
from orchestrator.store import completion_views
from tests.cases import every

CODES = [(part, case.why) for part, cases in completion_views.CASES.items() for case in cases]


def view(kind: str = "code", ref: str | None = None, **given: tuple[str, int, int | None]) -> dict[str, Any]:
    """A row of the view: for each part its code, whether it is met, and its seq."""
    row: dict[str, Any] = {"session_id": "S1", "group_id": "A", "kind": kind, "unblocked_ref": ref}
    for part in completion_wording.PARTS:
        code, met, seq = given.get(part, ("not_required", 1, None))
        row |= {f"{part}_why": code, f"{part}_met": met, f"{part}_seq": seq}
    return row


def reason(row: dict[str, Any], part: str, statuses: dict[int, str] | None = None, **more: bool) -> str:
    return next(str(each["reason"]) for each in completion_wording.parts(row, statuses, **more) if each["part"] == part)


@every(("part", "code"), CODES)
def test_every_code_of_the_view_has_a_phrase(part: str, code: str) -> None:
    phrase = reason(view(ref="S1:B3", **{part: (code, 0, 14)}), part)
    assert phrase not in ("", code, code.replace("_", " ")) or code == "voided"
    assert "{" not in phrase


@pytest.mark.parametrize(
    ("part", "code", "expected"),
    [
        pytest.param("approved", "voided", "voided by CHANGES_REQUESTED, report S1:R14", id="voided"),
        pytest.param("approved", "approved", "given by CHANGES_REQUESTED, report S1:R14", id="given"),
        pytest.param("approved", "reopened", "the group was reopened in step 14, and nothing since counts",
                     id="reopened"),
        pytest.param("tested", "open_test_fail", "no test passed after CHANGES_REQUESTED, report S1:R14",
                     id="open fail"),
        pytest.param("merged", "before_approval",
                     "the approval is newer than the merge, CHANGES_REQUESTED, report S1:R14",
                     id="merged too early"),
        pytest.param("unblocked", "open_blocker", "blocker S1:B3 is open", id="blocker"),
        pytest.param("unblocked", "open_question", "question S1:B3 is open", id="question"),
        pytest.param("unblocked", "dependency", "it depends on group S1:B3, which is not done", id="dependency"),
        pytest.param("reviewed", "no_review",
                     "the review that step 14 made mandatory is missing: a report of the tech lead",
                     id="review"),
        pytest.param("confirmed", "a_new_word", "a new word", id="a word that is not known yet"),
    ],
)  # fmt: skip
def test_a_phrase_names_what_it_rests_on(part: str, code: str, expected: str) -> None:
    row = view(ref="S1:B3", **{part: (code, 0, 14)})
    assert reason(row, part, {14: "CHANGES_REQUESTED"}) == expected


def test_a_report_whose_status_is_not_given_is_named_by_its_id() -> None:
    assert reason(view(approved=("voided", 0, 14)), "approved") == "voided by report S1:R14"


def test_what_was_never_approved_is_not_voided() -> None:
    row = view(approved=("voided", 0, 14))
    expected = "never approved: the last report that counts is PASS, report S1:R14"
    assert reason(row, "approved", {14: "PASS"}, approved_before=False) == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [("no_test_pass", "no test passed"), ("qa_not_asked", "quality assurance was not asked")],
)
def test_a_phrase_without_a_report_names_none(code: str, expected: str) -> None:
    assert reason(view(tested=(code, 0, None)), "tested") == expected


def test_a_step_that_is_no_report_has_no_report_id() -> None:
    row = view(unblocked=("open_blocker", 0, 9), approved=("approved", 1, 14))
    found = {part["part"]: part["report_id"] for part in completion_wording.parts(row)}
    assert (found["unblocked"], found["approved"]) == (None, "S1:R14")


def test_the_reports_of_a_path_are_listed_once() -> None:
    voided = ("voided", 0, 14)
    row = view(approved=voided, merged=voided, tested=("test_pass", 1, 8), unblocked=("clear", 1, 3))
    assert completion_wording.reports(row) == [8, 14]
    assert completion_wording.reports(view(tested=("no_test_pass", 0, None))) == []


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("code", ["approved", "tested", "merged", "unblocked", "reviewed", "confirmed"]),
        ("research", ["approved", "unblocked", "confirmed"]),
    ],
)
def test_a_kind_needs_its_parts(kind: str, expected: list[str]) -> None:
    assert [part["part"] for part in completion_wording.parts(view(kind))] == expected


def test_a_group_that_the_view_does_not_know_has_no_parts() -> None:
    assert (completion_wording.parts({}), completion_wording.reports({})) == ([], [])
