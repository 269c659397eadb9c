"""The taxonomy of blockers, and what makes a soft one hard."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core import blockers
from orchestrator.core.blockers import HARD, SOFT, Classified
from tests.cases import every

SOFT_TYPES = "timeout context_exhaustion_handoff phase_incomplete mcp_transient build_warning waiting manual".split()
HARD_TYPES = (
    "mathematically_false missing_dependency unresolvable_build_error invalid_specification resource_exhausted "
    "strategy_failed permission_denied verification_failed external unclassified"
).split()


def test_the_table_holds_the_types_and_no_others() -> None:
    assert blockers.TYPES == dict.fromkeys(SOFT_TYPES, SOFT) | dict.fromkeys(HARD_TYPES, HARD)


@every("name", SOFT_TYPES + HARD_TYPES)
@every("recoverable", [True, False], ids=["recoverable", "not recoverable"])
def test_a_known_type_has_its_class_whatever_the_error_says(name: str, recoverable: bool) -> None:
    assert blockers.of_error(name, recoverable) == Classified(name, blockers.TYPES[name])


@pytest.mark.parametrize("name", ["validation", "execution", "cosmic_rays"])
@pytest.mark.parametrize(("recoverable", "expected"), [(True, SOFT), (False, HARD)], ids=["soft", "hard"])
def test_other_types_have_the_class_that_recoverable_says(
    name: str, recoverable: bool, expected: blockers.BlockerClass
) -> None:
    assert blockers.of_error(name, recoverable) == Classified(name, expected)


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        pytest.param("strategy_exhausted", "strategy_failed", id="synonym"),
        pytest.param(" Timeout\n", "timeout", id="case and whitespace"),
        pytest.param("t\u0456meout", "t\u0456meout", id="look-alike letter"),
    ],
)
def test_a_type_has_one_name(raw: str, name: str) -> None:
    assert blockers.type_name(raw) == name


@pytest.mark.parametrize(
    ("stage", "found", "expected"),
    [
        pytest.param(None, [], None, id="nothing named"),
        pytest.param("editing", [], None, id="stage that is no type"),
        pytest.param("context_exhaustion_handoff", [], Classified("context_exhaustion_handoff", SOFT), id="soft stage"),
        pytest.param(
            "context_exhaustion_handoff", [("timeout", True)],
            Classified("context_exhaustion_handoff", SOFT), id="stage before errors",
        ),
        pytest.param("editing", [("timeout", True)], Classified("timeout", SOFT), id="error"),
        pytest.param(
            "timeout", [("build_warning", True), ("missing_dependency", True)],
            Classified("missing_dependency", HARD), id="worst counts over a soft stage",
        ),
        pytest.param(
            None, [("timeout", True), ("validation", False), ("external", False)],
            Classified("validation", HARD), id="first of the worst",
        ),
        pytest.param("strategy_exhausted", [], Classified("unclassified", HARD), id="hard stage alone"),
        pytest.param("external", [("timeout", True)], Classified("timeout", SOFT), id="hard stage gives none"),
        pytest.param(
            "missing_dependency", [("timeout", True), ("external", True)],
            Classified("external", HARD), id="hard stage and a hard error",
        ),
    ],
)
def test_the_worst_of_stage_and_errors_counts(
    stage: str | None, found: list[tuple[str, bool]], expected: Classified | None
) -> None:
    assert blockers.worst(stage, [blockers.of_error(*each) for each in found]) == expected


@pytest.mark.parametrize(
    ("returns", "without_progress", "continuations", "limit"),
    [
        pytest.param(3, 1, 4, None, id="below every limit"),
        pytest.param(4, 0, 0, "the same blocker returned more than 3 times", id="returns"),
        pytest.param(0, 2, 0, "2 continuations brought no progress", id="no progress"),
        pytest.param(0, 0, 5, "5 continuations were used", id="continuations"),
        pytest.param(4, 2, 5, "the same blocker returned more than 3 times", id="the first is named"),
    ],
)
def test_a_soft_blocker_becomes_hard_at_the_first_limit(
    returns: int, without_progress: int, continuations: int, limit: str | None
) -> None:
    assert blockers.exhausted(returns, without_progress, continuations) == limit


RETURNS = "the same blocker returned more than 3 times"
STILL = "2 continuations brought no progress"
USED = "5 continuations were used"


@pytest.mark.parametrize(
    ("phases", "before", "limit"),
    [
        pytest.param(None, [], None, id="the first"),
        pytest.param(2, [("x", 2)], None, id="one without progress"),
        pytest.param(2, [("x", 2), ("x", 2)], STILL, id="two without progress"),
        pytest.param(1, [("y", 2), ("x", 2)], STILL, id="two without progress, of other types, falling"),
        pytest.param(3, [("x", 2), ("x", 2)], None, id="progress now"),
        pytest.param(3, [("x", 3), ("x", 2), ("x", 2)], None, id="progress before the last"),
        pytest.param(2, [("x", 1), ("x", 2), ("x", 1)], STILL, id="less than what was there once is no progress"),
        pytest.param(None, [("x", 2), ("x", 2)], None, id="what measures nothing is none either"),
        pytest.param(None, [("x", None)] * 3, None, id="three returns"),
        pytest.param(None, [("x", None)] * 4, RETURNS, id="four returns"),
        pytest.param(5, [("x", 4), ("x", 3), ("x", 2), ("x", 1)], RETURNS, id="four returns with progress"),
        pytest.param(None, [("y", None), ("x", None)] * 2, None, id="four continuations of two types"),
        pytest.param(None, [("y", None), ("z", None), ("x", None), ("y", None), ("z", None)], USED, id="five in all"),
    ],
)
def test_a_soft_blocker_that_comes_again_reaches_a_limit(
    phases: int | None, before: list[tuple[str, int | None]], limit: str | None
) -> None:
    assert blockers.hardened("x", phases, before) == limit


@given(st.none() | st.text(), st.lists(st.tuples(st.text() | st.sampled_from(sorted(blockers.TYPES)), st.booleans())))
def test_one_hard_error_makes_the_blocker_hard(stage: str | None, found: list[tuple[str, bool]]) -> None:
    classified = [blockers.of_error(*each) for each in found]
    result = blockers.worst(stage, classified)
    if any(each.blocker_class == HARD for each in classified):
        assert result is not None
        assert result.blocker_class == HARD
