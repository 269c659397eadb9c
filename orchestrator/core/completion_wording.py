"""Words for the completion path. What "complete" means stands in the database view alone."""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.hints import Any

PARTS = ("approved", "tested", "merged", "unblocked", "reviewed", "confirmed")
REQUIRED = "tech_lead APPROVED + MERGE_SUCCESS, or project_manager BAZINGA acknowledging the group"
GRANDFATHERED, PM_PATH, PATH_MISSING = "grandfathered", "pm_path", "path_missing"
DOUBTS = {
    GRANDFATHERED: "imported as completed, not proven",
    PM_PATH: "on the project manager's word alone",
    PATH_MISSING: "no valid path any more",
}
"""Why a completed group has no chain, in words."""
_RESEARCH = ("approved", "unblocked", "confirmed")

_CHAT = "a chat group is closed with its session and has no completion path"
_NOT_IN_RESEARCH = "a research group needs none"
_REOPENED = "the group was reopened in step {seq}, and nothing since counts"
# In braces: the report or step that the view names, and what is open.
_WORDS: dict[str, dict[str, str]] = {
    "approved": {
        "chat": _CHAT,
        "never": "no approval was reported",
        "reopened": _REOPENED,
        "approved": "given by {report}",
        "voided": "voided by {report}",
    },
    "tested": {
        "chat": _CHAT,
        "not_required": _NOT_IN_RESEARCH,
        "no_submission": "nothing was submitted for test or review since work began or the group was reopened",
        "open_test_fail": "no test passed after {report}",
        "test_pass": "passed by {report}",
        "testing_mode": "the session's testing mode asks for no test",
        "qa_not_asked": "quality assurance was not asked: {report}",
        "unfinished_accepted": "the approval accepted an unfinished test: {report}",
        "qa_unanswered": "quality assurance has not answered {report}",
        "no_test_pass": "no test passed; the last answer of quality assurance is {report}",
    },
    "merged": {
        "chat": _CHAT,
        "not_required": _NOT_IN_RESEARCH,
        "never": "nothing was merged",
        "reopened": _REOPENED,
        "unproven": "{report} was given from a worktree, and nobody has seen the merge",
        "proven": "done by {report}, and seen by its driver",
        "nothing_to_merge": "the group changed nothing: {report}",
        "merged": "done by {report}",
        "before_approval": "the approval is newer than the merge, {report}",
        "voided": "what was merged is not approved: the last word is {report}",
    },
    "unblocked": {
        "chat": _CHAT,
        "open_blocker": "blocker {ref} is open",
        "open_question": "question {ref} is open",
        "open_task": "task {ref} is neither done nor cancelled",
        "no_task_done": "none of its tasks is done",
        "dependency": "it depends on group {ref}, which is not done",
        "clear": "nothing stands in the way",
    },
    "reviewed": {
        "chat": _CHAT,
        "not_required": "no review is mandatory",
        "no_review": "the review that step {seq} made mandatory is missing: a report of the tech lead",
        "no_security_review": "the group is security-sensitive and has no report of the tech lead",
        "reviewed": "by {report}",
    },
    "confirmed": {
        "chat": _CHAT,
        "not_required": "the group was never blocked",
        "confirmed": "by {report}",
        "acknowledged": "acknowledged with {report}",
        "not_confirmed": "the group was blocked or its test is unfinished; the project manager must confirm it",
    },
}
LACKING = {
    "approved": "Not approved yet",
    "tested": "Not tested yet",
    "merged": "Not merged yet",
    "unblocked": "Still blocked",
    "reviewed": "Not reviewed yet",
    "confirmed": "Not confirmed by the project manager",
}
"""What people are told of a part that is not met. The reasons of decisions have words of their own, which are kept."""
_NOT_GIVEN = "never approved: the last report that counts is {report}"
_WITHOUT = {
    "no_test_pass": "no test passed",
    "qa_not_asked": "quality assurance was not asked",
}
"""What is said where the view names no report."""


def needed(kind: str) -> tuple[str, ...]:
    """The parts that a group of this kind needs."""
    return _RESEARCH if kind == "research" else PARTS


def parts(
    row: Mapping[str, Any], statuses: Mapping[int, str] | None = None, *, approved_before: bool = True
) -> list[dict[str, Any]]:
    """Each needed part of a path in words.

    Args:
        row: a row of the view, by column name; empty where there is none.
        statuses: the status of each report that the row names, by its seq; a report without is named by id alone.
        approved_before: whether the group ever had an approval, so that another report can have voided it.

    Returns:
        {part, met, reason, report_id, code}: the reason as a phrase, the code as the view has it.
    """
    if not row:
        return []
    return [_part(row, part, statuses or {}, approved_before) for part in needed(row["kind"])]


def lacking(group: str, awaited: str, found: list[dict[str, Any]]) -> str:
    """Whom a group that is not completed awaits, and each part of its path that is not met, in words."""
    return f"group {group} is not completed and awaits {awaited}: {'; '.join(unmet(found)) or 'every part is met'}"


def unmet(found: list[dict[str, Any]]) -> list[str]:
    """Each part of a path that is not met, and why, as a phrase."""
    return [f"{part['part']} is not met, {part['reason']}" for part in found if not part["met"]]


def reports(row: Mapping[str, Any]) -> list[int]:
    """The seqs of the reports that the parts of a path rest on or fail by, in order, each once."""
    rested = [part for part in needed(row["kind"]) if _names_report(part, row[f"{part}_why"])] if row else []
    return sorted({row[f"{part}_seq"] for part in rested} - {None})


def _part(row: Mapping[str, Any], part: str, statuses: Mapping[int, str], approved_before: bool) -> dict[str, Any]:
    code, seq = row[f"{part}_why"], row[f"{part}_seq"]
    report_id = f"{row['session_id']}:R{seq}" if seq and _names_report(part, code) else None
    status = statuses.get(seq) if seq else None
    named = f"{status}, report {report_id}" if status else f"report {report_id}"
    words = _words(part, code, approved_before, report_id)
    return {
        "part": part,
        "met": bool(row[f"{part}_met"]),
        "reason": words.format(report=named, seq=seq, ref=row.get("unblocked_ref") or "of the group"),
        "report_id": report_id,
        "code": code,
    }


def _words(part: str, code: str | None, approved_before: bool, report_id: str | None) -> str:
    if part == "approved" and code == "voided" and not approved_before:
        return _NOT_GIVEN
    if report_id is None and code in _WITHOUT:
        return _WITHOUT[code]
    # A word that the view has learnt and this table has not is better shown than hidden.
    return _WORDS[part].get(code or "", (code or "not met").replace("_", " "))


def _names_report(part: str, code: str | None) -> bool:
    return "{report}" in _WORDS[part].get(code or "", "")
