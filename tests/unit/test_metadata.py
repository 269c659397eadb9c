"""Return metadata: what is valid, what it means, and that every fault is listed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator import errors
from orchestrator.core import metadata
from orchestrator.core.metadata import Resume
from tests.cases import every


def error(type: str, recoverable: bool | None = None) -> dict[str, Any]:
    return {"type": type, "message": "m"} | ({} if recoverable is None else {"recoverable": recoverable})


def flagged(status: str, *found: dict[str, Any], reason: str = "Counterexample at line 342") -> dict[str, Any]:
    return {"status": status, "requires_user_review": True, "review_reason": reason, "errors": list(found)}


def phases(status: str, completed: object, total: object) -> dict[str, Any]:
    return {"status": status, "partial_progress": {"phases_completed": completed, "phases_total": total}}


def artifact(path: object) -> dict[str, Any]:
    return {"status": "implemented", "artifacts": [{"type": "plan", "path": path, "summary": "s"}]}


def problems_of(data: Any, file_exists: metadata.FileExists | None = None) -> list[dict[str, str]]:
    with pytest.raises(errors.InvalidInput) as caught:
        metadata.check(data, file_exists)
    assert caught.value.code == "METADATA_INVALID"
    found: list[dict[str, str]] = caught.value.data["problems"]
    return found


HANDOFF = {
    "status": "partial",
    "partial_progress": {"stage": "context_exhaustion_handoff", "handoff_path": "handoffs/phase-3.md"},
}
TIMEOUT = {
    "status": "partial",
    "errors": [error("timeout", True)],
    "partial_progress": {"stage": "editing", "details": "d", "phases_completed": 2, "phases_total": 4},
}


@pytest.mark.parametrize(
    ("document", "blocker", "over", "under"),
    [
        pytest.param(TIMEOUT, ("timeout", "soft"), False, False, id="partial, timeout"),
        pytest.param(HANDOFF, ("context_exhaustion_handoff", "soft"), False, False, id="hand-off"),
        pytest.param(
            flagged("partial", error("mathematically_false", False)),
            ("mathematically_false", "hard"), False, False, id="partial, flag, hard",
        ),
        pytest.param(
            flagged("blocked", error("missing_dependency", False)),
            ("missing_dependency", "hard"), False, False, id="blocked, flag, hard",
        ),
        pytest.param(
            {"status": "failed", "errors": [error("validation", False)]},
            ("validation", "hard"), False, False, id="failed, not recoverable, no flag",
        ),
        pytest.param(
            {"status": "failed", "errors": [error("validation", True)]},
            ("validation", "soft"), False, False, id="failed, recoverable",
        ),
        pytest.param(
            flagged("failed", error("execution", False)), ("execution", "hard"), False, False, id="failed, flag",
        ),
        pytest.param(
            TIMEOUT | {"requires_user_review": False}, ("timeout", "soft"), False, False, id="flag explicitly false",
        ),
        pytest.param(
            {"status": "partial", "errors": [error("execution")]},
            ("execution", "soft"), False, False, id="old file without recoverable",
        ),
        pytest.param(
            flagged("partial", error("timeout", True), error("build_warning", True)),
            ("timeout", "soft"), True, False, id="over-flagged",
        ),
        pytest.param(
            {"status": "partial", "errors": [error("mathematically_false")]},
            ("mathematically_false", "hard"), False, True, id="under-flagged",
        ),
        pytest.param(
            {"status": "partial", "errors": [error("strategy_exhausted")]},
            ("strategy_failed", "hard"), False, True, id="synonym",
        ),
        pytest.param(
            {"status": "blocked", "errors": [error("missing_dependency")]},
            ("missing_dependency", "hard"), False, False, id="blocked, hard, no flag",
        ),
        pytest.param({"status": "partial"}, ("phase_incomplete", "soft"), False, False, id="partial, silent"),
        pytest.param({"status": "blocked"}, ("unclassified", "hard"), False, False, id="blocked, silent"),
        pytest.param({"status": "failed"}, ("unclassified", "hard"), False, False, id="failed, silent"),
        pytest.param(flagged("partial"), ("unclassified", "hard"), False, False, id="flag without a type"),
        pytest.param({"status": "implemented"}, (None, None), False, False, id="implemented"),
        pytest.param({"status": "in_progress"}, (None, None), False, False, id="in progress"),
        pytest.param({"status": "researched"}, (None, None), False, False, id="researched"),
        pytest.param({"status": "planned"}, (None, None), False, False, id="planned"),
    ],
)
def test_a_valid_document_says_what_stopped_the_work(
    document: dict[str, Any], blocker: tuple[str | None, str | None], over: bool, under: bool
) -> None:
    found = metadata.check(json.dumps(document), lambda path: True)
    assert (found.status, found.raw) == (document["status"], document)
    assert (found.blocker_type, found.blocker_class) == blocker
    assert (found.over_flagged, found.under_flagged) == (over, under)
    assert found.requires_user_review == document.get("requires_user_review", False)


@every(
    ("document", "path", "message"),
    [
        pytest.param(
            {"status": "completed"}, "$.status", "is 'completed', which no agent decides; it must be one of "
            "in_progress, researched, planned, implemented, partial, failed, blocked", id="completed",
        ),
        pytest.param({"status": "done"}, "$.status", "is 'done', which no agent decides", id="done"),
        pytest.param({"status": "Blocked"}, "$.status", "is 'Blocked'; it must be one of", id="wrong case"),
        pytest.param({"status": 5}, "$.status", "is a number; it must be one of", id="status not text"),
        pytest.param({}, "$.status", "is missing; it must be one of", id="no status"),
        pytest.param([], "$", "must be an object, not a list", id="list"),
        pytest.param(
            {"status": "partial", "requires_user_review": True}, "$.review_reason", "is missing or blank",
            id="flag without reason",
        ),
        pytest.param(
            flagged("partial", reason=" \n\t\u00a0"), "$.review_reason", "is missing or blank", id="blank reason"
        ),
        pytest.param(
            flagged("partial", reason="x" * 501), "$.review_reason", "has 501 characters; 500 are allowed", id="501",
        ),
        pytest.param(
            {"status": "partial", "requires_user_review": True, "review_reason": 7},
            "$.review_reason", "must be text, not a number", id="reason not text",
        ),
        pytest.param(
            flagged("implemented"), "$.requires_user_review",
            "is true with status implemented; only partial, blocked, failed can ask", id="flag, implemented",
        ),
        pytest.param(
            flagged("in_progress"), "$.requires_user_review", "is true with status in_progress", id="flag, in progress"
        ),
        pytest.param(
            flagged("researched"), "$.requires_user_review", "is true with status researched", id="flag, researched"
        ),
        pytest.param(
            {"status": "partial", "requires_user_review": "true", "review_reason": "r"},
            "$.requires_user_review", "must be true or false, not text 'true'", id="flag as text",
        ),
        pytest.param(
            {"status": "partial", "requires_user_review": 1, "review_reason": "r"},
            "$.requires_user_review", "must be true or false, not a number", id="flag as number",
        ),
        pytest.param(
            {"status": "partial", "requires_user_review": None},
            "$.requires_user_review", "must be true or false, not null", id="flag null",
        ),
        pytest.param(
            {"status": "partial", "partial_progress": {"stage": "context_exhaustion_handoff"}},
            "$.partial_progress.handoff_path", "is missing", id="hand-off without path",
        ),
        pytest.param(
            {"status": "partial", "partial_progress": {"handoff_path": " "}},
            "$.partial_progress.handoff_path", "is ' '; it must name a file", id="blank hand-off path",
        ),
        pytest.param(
            {"status": "partial", "requires_user_review": False, "errors": [error("timeout")]},
            "$.errors[0].recoverable", "is missing", id="error without recoverable in a new file",
        ),
        pytest.param(
            {"status": "partial", "errors": [{"type": "timeout", "recoverable": "yes"}]},
            "$.errors[0].recoverable", "must be true or false, not text 'yes'", id="recoverable as text",
        ),
        pytest.param(
            {"status": "partial", "errors": [{"message": "m"}]}, "$.errors[0].type", "is missing", id="no type"
        ),
        pytest.param(
            {"status": "partial", "errors": [error(" ")]}, "$.errors[0].type", "must be text, not blank text",
            id="blank type",
        ),
        pytest.param({"status": "partial", "errors": {}}, "$.errors", "must be a list, not an object", id="no list"),
        pytest.param(
            {"status": "partial", "errors": ["timeout"]}, "$.errors[0]", "must be an object, not text 'timeout'",
            id="error as text",
        ),
        pytest.param(
            phases("partial", 5, 4), "$.partial_progress.phases_completed", "is 5 of phases_total 4", id="5 of 4"
        ),
        pytest.param(
            phases("partial", -1, 4), "$.partial_progress.phases_completed",
            "must be a whole number from 0 to 1000000, not -1", id="minus one",
        ),
        pytest.param(
            phases("partial", True, 4), "$.partial_progress.phases_completed", "must be a whole number", id="a boolean"
        ),
        pytest.param(
            phases("partial", 2.0, 4), "$.partial_progress.phases_completed", "must be a whole number", id="a float"
        ),
        pytest.param(
            phases("partial", 1, 10**30), "$.partial_progress.phases_total", "must be a whole number", id="too many"
        ),
        pytest.param(
            phases("implemented", 3, 4), "$.partial_progress.phases_completed",
            "is 3 of phases_total 4; implemented leaves no phase open", id="implemented, 3 of 4",
        ),
        pytest.param(
            {"status": "implemented", "partial_progress": {"phases_total": 4}}, "$.partial_progress.phases_completed",
            "is missing, of phases_total 4; implemented leaves no phase open", id="implemented, of 4",
        ),
        pytest.param(
            phases("implemented", None, 1), "$.partial_progress.phases_completed",
            "is missing, of phases_total 1; implemented leaves no phase open", id="implemented, none of 1",
        ),
        pytest.param(
            phases("implemented", 0, 1), "$.partial_progress.phases_completed",
            "is 0 of phases_total 1; implemented leaves no phase open", id="implemented, 0 of 1",
        ),
        pytest.param(
            {"status": "partial", "partial_progress": "half"}, "$.partial_progress",
            "must be an object, not text 'half'", id="progress as text",
        ),
        pytest.param(artifact("/etc/passwd"), "$.artifacts[0].path", "it must be relative", id="absolute"),
        pytest.param(artifact("C:\\x"), "$.artifacts[0].path", "it must be relative", id="drive"),
        pytest.param(artifact("\\\\host\\x"), "$.artifacts[0].path", "it must be relative", id="share"),
        pytest.param(artifact("~/x"), "$.artifacts[0].path", "it must be relative", id="home"),
        pytest.param(artifact("file:///x"), "$.artifacts[0].path", "it must be relative", id="address"),
        pytest.param(artifact(" /x"), "$.artifacts[0].path", "it must be relative", id="absolute after a blank"),
        pytest.param(artifact("a/../../x"), "$.artifacts[0].path", "it must not climb with ..", id="climbing"),
        pytest.param(artifact("a\\..\\x"), "$.artifacts[0].path", "it must not climb with ..", id="climbing back"),
        pytest.param(artifact(""), "$.artifacts[0].path", "must be text, not blank text", id="blank path"),
        pytest.param(artifact(None), "$.artifacts[0].path", "is missing", id="no path"),
        pytest.param(
            {"status": "implemented", "completion_data": 5}, "$.completion_data", "must be an object, not a number",
            id="completion data as number",
        ),
    ],
)
def test_a_fault_is_refused_where_it_is(document: Any, path: str, message: str) -> None:
    (problem,) = problems_of(json.dumps(document))
    assert problem["path"] == path
    assert message in problem["message"]


@pytest.mark.parametrize(
    ("data", "path", "message"),
    [
        pytest.param('{"status": "part', "$", "the return metadata is cut off", id="cut JSON"),
        pytest.param(b"", "$", "the return metadata is empty", id="empty"),
        pytest.param('{"status": "partial"}'.encode("utf-16"), "$", "is UTF-16", id="UTF-16"),
        pytest.param(b'{"status": "\xff"}', "$", "is not UTF-8", id="no UTF-8"),
        pytest.param('{"status": "partial", "status": "blocked"}', "$.status", "has a duplicate key", id="key twice"),
        pytest.param('{"status": "partial", "x": NaN}', "$", "NaN", id="NaN"),
        pytest.param({"status": "partial", "x": float("nan")}, "$", "cannot be written as JSON", id="NaN, parsed"),
        pytest.param({"status": "partial", "x": {1}}, "$", "cannot be written as JSON", id="a set"),
        pytest.param({"status": "partial", "x": "\ud800"}, "$", "lone surrogate U+D800", id="lone surrogate"),
        pytest.param('{"status": "partial", "x": "\\u0000"}', "$.x", "NUL", id="NUL"),
        pytest.param('{"x": "' + "x" * 2**26 + '"}', "$", "67108864 are allowed", id="too large"),
        pytest.param('{"x": ' * 200 + "1" + "}" * 200, "$", "nested", id="too deep"),
        pytest.param(b'\xef\xbb\xbf{"status": "planned"}', "$", "byte-order mark", id="byte-order mark"),
        pytest.param('\ufeff{"status": "planned"}', "$", "byte-order mark", id="byte-order mark in a text"),
    ],
)
def test_an_unreadable_document_is_refused_with_its_reason(data: Any, path: str, message: str) -> None:
    (problem,) = problems_of(data)
    assert problem["path"] == path
    assert message in problem["message"]


def test_every_fault_is_listed_in_one_refusal() -> None:
    document = {
        "status": "done",
        "requires_user_review": "yes",
        "errors": [{"recoverable": 1}, 3],
        "partial_progress": {"phases_completed": 3, "phases_total": 2},
        "artifacts": [{"path": "../x"}],
        "completion_data": [],
    }
    assert [problem["path"] for problem in problems_of(document)] == [
        "$.status",
        "$.requires_user_review",
        "$.errors[0].type",
        "$.errors[0].recoverable",
        "$.errors[1]",
        "$.partial_progress.phases_completed",
        "$.artifacts[0].path",
        "$.completion_data",
    ]


def test_a_partial_report_says_where_its_successor_goes_on() -> None:
    found = metadata.check(TIMEOUT)
    assert found.resume == Resume("editing", 2, 4, None)
    assert found.resume.phase == 3


def test_a_handoff_names_the_file_for_its_successor() -> None:
    found = metadata.check(HANDOFF, {"handoffs/phase-3.md"}.__contains__)
    assert found.resume == Resume("context_exhaustion_handoff", None, None, "handoffs/phase-3.md")
    assert found.resume.phase is None


def test_a_handoff_whose_file_is_missing_is_refused() -> None:
    assert problems_of(HANDOFF, lambda path: False) == [
        {"path": "$.partial_progress.handoff_path", "message": "names 'handoffs/phase-3.md', which does not exist"}
    ]


def test_only_a_partial_report_leaves_a_resume_point() -> None:
    assert metadata.check(phases("blocked", 1, 4)).resume is None


def test_a_reason_is_trimmed_and_may_have_500_characters() -> None:
    assert metadata.check(flagged("blocked", reason=" " + "ü" * 500 + "\n")).review_reason == "ü" * 500


def test_a_reason_without_the_flag_is_a_warning() -> None:
    found = metadata.check({"status": "partial", "requires_user_review": False, "review_reason": "r"})
    assert found.warnings == ("review_reason is set although requires_user_review is false; nobody is asked",)
    assert not found.requires_user_review


def test_an_unknown_field_is_kept_and_a_near_miss_warned_of() -> None:
    found = metadata.check({"status": "partial", "session_id": "S", "require_user_review": True})
    assert found.raw == {"status": "partial", "session_id": "S", "require_user_review": True}
    assert found.warnings == (
        "field 'require_user_review' is unknown and has no effect; did you mean requires_user_review?",
    )


def test_null_counts_as_absent_where_a_field_is_optional() -> None:
    document: dict[str, Any] = dict.fromkeys(("artifacts", "errors", "partial_progress", "completion_data"))
    found = metadata.check(document | {"status": "planned"})
    assert (found.artifacts, found.errors, found.partial_progress, found.completion_data) == ((), (), None, None)


def test_artifacts_and_completion_data_are_read() -> None:
    found = metadata.check(artifact("specs/plan.md") | {"completion_data": {"n": 1}})
    assert found.artifacts == (metadata.Artifact("plan", "specs/plan.md", "s"),)
    assert found.completion_data == {"n": 1}


FAILING = ("block", "merge_fail", "test_fail")
CONTINUING = ("progress", "inconclusive", "guide", "escalate", "investigate", "none")
OTHERS = (
    "submit_test submit_review test_pass approve reject merge plan continue confirm defer resume rework clarify "
    "end_research"
).split()
FITTING = (
    dict.fromkeys(("blocked", "failed"), FAILING)
    | dict.fromkeys(("partial", "in_progress"), CONTINUING)
    | dict.fromkeys(("implemented", "planned", "researched"), OTHERS)
)


@every("effect", [*FAILING, *CONTINUING, *OTHERS])
@every("status", metadata.STATUSES)
def test_metadata_contradicts_a_report_whose_effect_it_does_not_go_with(status: str, effect: str) -> None:
    assert (metadata.mismatch(status, effect) is None) == (effect in FITTING[status])


def test_a_contradiction_is_told_in_one_sentence() -> None:
    assert metadata.mismatch("failed", "approve") == (
        "Metadata status failed contradicts a report with effect approve; it goes with block, merge_fail, test_fail."
    )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
DOCUMENTS = st.fixed_dictionaries(
    {"status": st.sampled_from(metadata.STATUSES) | JSON},
    optional={
        "errors": JSON | st.lists(
            st.fixed_dictionaries({"type": st.sampled_from(["timeout", "external", "x"]) | JSON},
                                  optional={"recoverable": st.booleans() | JSON}), max_size=3),
        "partial_progress": JSON | st.fixed_dictionaries({}, optional={
            "stage": st.sampled_from(["context_exhaustion_handoff", "timeout"]) | JSON,
            "phases_completed": st.integers(-1, 5) | JSON, "phases_total": st.integers(-1, 5) | JSON,
            "handoff_path": st.text("a./\\", max_size=5) | JSON}),
        "artifacts": JSON | st.lists(st.fixed_dictionaries({"path": st.text("a./\\~:") | JSON}), max_size=2),
        "requires_user_review": st.booleans() | JSON,
        "review_reason": st.text() | JSON,
    },
)  # fmt: skip


@given(DOCUMENTS | JSON.map(lambda value: {"status": "partial", "extra": value}))
def test_any_document_is_valid_by_the_rules_or_refused_with_all_its_faults(document: dict[str, Any]) -> None:
    found: metadata.Metadata | None
    try:
        found = metadata.check(document)
    except errors.InvalidInput as refusal:
        found, code, faults = None, refusal.code, refusal.data["problems"]
    if found is None:
        assert code == "METADATA_INVALID"
        assert faults
        assert all(set(each) == {"path", "message"} for each in faults)
        return
    assert found.status in metadata.STATUSES
    if found.requires_user_review:
        assert found.status in metadata.STOPPED
        assert found.review_reason
    assert not (found.over_flagged and found.under_flagged)
    assert (found.blocker_type is None) == (found.status not in metadata.STOPPED)
    assert all(".." not in each.path.split("/") and not each.path.startswith("/") for each in found.artifacts)


@given(st.binary() | st.text())
def test_any_bytes_give_metadata_or_the_declared_error(data: bytes | str) -> None:
    try:
        status = metadata.check(data).status
    except errors.InvalidInput as refusal:
        status = refusal.code
    assert status in {*metadata.STATUSES, "METADATA_INVALID"}
