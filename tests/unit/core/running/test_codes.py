"""The error codes: each has one meaning and says what helps."""

from __future__ import annotations

import pytest

from orchestrator import errors
from orchestrator.core.running import codes

NAMES = (
    *(f"E{number}" for number in range(101, 106)),
    *(f"E{number}" for number in range(201, 212)),
    *(f"E{number}" for number in range(301, 306)),
    *(f"E{number}" for number in range(401, 406)),
    *(f"E{number}" for number in range(501, 504)),
)


def test_the_table_holds_the_codes_and_no_others() -> None:
    assert tuple(codes.CODES) == NAMES


def test_no_two_codes_mean_the_same() -> None:
    assert len({code.meaning for code in codes.CODES.values()}) == len(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_refusal_carries_code_sentence_remedy_and_data(name: str) -> None:
    problem = codes.refused(name, "It went wrong.", what=1)
    found = (type(problem), problem.code, problem.message, problem.suggestion, problem.data)
    assert found == (errors.Refused, name, "It went wrong.", codes.CODES[name].remedy, {"what": 1})


@pytest.mark.parametrize("name", NAMES)
def test_a_meaning_is_a_sentence_and_a_remedy_is_said(name: str) -> None:
    meaning, remedy = codes.CODES[name]
    assert (meaning[0].isupper(), meaning[-1], bool(remedy)) == (True, ".", True)
