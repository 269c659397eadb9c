"""P16: unfinished work goes on by approval alone, and not for ever."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core.running import continuation
from orchestrator.core.running.continuation import Approval, NextAction, Work
from orchestrator.errors import Refused

HALF = Work("INCOMPLETE", 10, 5)
MINUTE = 60


def test_p16_without_approval_nothing_goes_on() -> None:
    allowed, reason = continuation.next_action(HALF, None, 0)
    assert (allowed, "approval" in reason) == (False, True)


@pytest.mark.parametrize(
    ("work", "sentence"),
    [
        pytest.param(Work("COMPLETE", 10, 10), "All 10 tasks are finished.", id="complete 10 of 10"),
        pytest.param(Work("COMPLETE", 1, 1), "The task is finished.", id="complete 1 of 1"),
        pytest.param(Work("INVALID", 10, 5), "The work ended in INVALID.", id="invalid"),
        pytest.param(Work("ERROR", 10, 5), "The work ended in ERROR.", id="error"),
        pytest.param(HALF._replace(running=True), "The work is still in progress.", id="in progress"),
        pytest.param(Work("INCOMPLETE", 0, 0), "There is no work.", id="no work"),
        pytest.param(Work("INCOMPLETE", 3, 0), "Nothing was reached so far.", id="no progress"),
        pytest.param(HALF._replace(evidence_valid=False), "The evidence is not valid.", id="evidence"),
        pytest.param(Work("DONE", 3, 1), "DONE is no known status.", id="unknown status"),
    ],
)
def test_p16_what_may_not_be_approved_is_invalid(work: Work, sentence: str) -> None:
    with pytest.raises(Refused) as asked:
        continuation.check(work)
    with pytest.raises(Refused) as started:
        continuation.start(work, Approval(0, 0), 0)
    assert [(each.value.code, each.value.message, each.value.data["status"]) for each in (asked, started)] == [
        ("E207", sentence, "INVALID")
    ] * 2


def test_p16_all_reasons_are_given_at_once() -> None:
    assert len(continuation.faults(Work("ERROR", 3, 0, True, False))) == 4


@pytest.mark.parametrize("work", [HALF, Work("INCOMPLETE", 3, 0, begun=1)], ids=["half of it", "one task begun"])
def test_p16_work_that_reached_something_may_be_approved(work: Work) -> None:
    assert continuation.check(work) is None  # type: ignore[func-returns-value]


@pytest.mark.parametrize(
    ("age", "expired"), [(0, False), (30 * MINUTE, False), (30 * MINUTE + 1, True), (60 * MINUTE, True)]
)
def test_p16_a_request_expires_after_thirty_minutes(age: int, expired: bool) -> None:
    assert continuation.is_expired(asked_at=1000, now=1000 + age) is expired


@pytest.mark.parametrize(
    ("approval", "now", "expected"),
    [
        pytest.param(Approval(0), 1, NextAction(False, "It waits for approval: /approve."), id="asked for"),
        pytest.param(Approval(0, 10), 20, NextAction(True, "Approved: 5 of 10 tasks are left."), id="given"),
        pytest.param(
            Approval(0, 60 * MINUTE), 60 * MINUTE, NextAction(False, "The approval has expired: /approve."),
            id="given late",
        ),
        pytest.param(
            Approval(0, 10), 31 * MINUTE, NextAction(False, "The approval has expired: /approve."), id="used late",
        ),
    ],
)  # fmt: skip
def test_p16_an_approval_is_given_and_used_in_time(approval: Approval, now: float, expected: NextAction) -> None:
    assert continuation.next_action(HALF, approval, now) == expected


def test_p16_approved_work_starts() -> None:
    assert continuation.start(HALF, Approval(0, 0), 1) is None  # type: ignore[func-returns-value]


works = st.builds(
    Work, st.sampled_from(["COMPLETE", "INCOMPLETE", "NO_EVIDENCE", "ERROR", "INVALID", "BLOCKED", "?"]),
    st.integers(0, 4), st.integers(0, 4), st.booleans(), st.booleans(), st.integers(0, 2),
)  # fmt: skip
approvals = st.none() | st.builds(Approval, st.integers(0, 4000), st.none() | st.integers(0, 4000))


@given(works, approvals, st.integers(0, 8000))
def test_p16_nothing_goes_on_by_itself(work: Work, approval: Any, now: int) -> None:
    allowed, reason = continuation.next_action(work, approval, now)
    given_at = approval.given_at if approval else None
    right = given_at is not None and now - given_at <= 1800 and 0 < work.total > work.finished
    reached = work.finished + work.begun > 0
    assert bool(reason)
    assert not allowed or (right and reached and not continuation.faults(work))
