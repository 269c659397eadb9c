"""Forms that begin something: once, however often and at how many times at the same moment they are sent."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from orchestrator.doors.web.idempotent_forms import MOST, Once

FORM = {"once": "a mark", "content": "say it", "csrf": "t"}


def test_at_the_same_moment_it_is_done_once() -> None:
    done, both = [], threading.Barrier(8)
    sent = Once()

    def act() -> str:
        done.append(1)
        return f"/tasks/{len(done)}"

    def send(_: int) -> str:
        both.wait(10)
        return sent.do("/chat", FORM, act)

    with ThreadPoolExecutor(8) as threads:
        assert set(threads.map(send, range(8))) == {"/tasks/1"}


@pytest.mark.parametrize(
    ("path", "fields", "times"),
    [
        pytest.param("/chat", FORM, 1, id="the same"),
        pytest.param("/other", FORM, 2, id="sent elsewhere"),
        pytest.param("/chat", {**FORM, "once": "another"}, 2, id="drawn anew"),
        pytest.param("/chat", {**FORM, "content": "more"}, 2, id="another text"),
        pytest.param("/chat", {**FORM, "csrf": "of another visit"}, 2, id="another visit"),
        pytest.param("/chat", {**FORM, "content": "\ud800"}, 2, id="a half of a pair"),
        pytest.param("/chat", {**FORM, "once": ""}, 2, id="without a mark"),
        pytest.param("/chat", {"content": "say it"}, 2, id="a form of somebody else's"),
    ],
)
def test_another_form_is_done_by_itself(path: str, fields: dict[str, str], times: int) -> None:
    sent, done = Once(), []
    for place, given in (("/chat", FORM), (path, fields)):
        sent.do(place, given, lambda: done.append(1) or "/")  # type: ignore[func-returns-value]
    assert len(done) == times


def test_what_was_not_done_may_be_sent_again() -> None:
    sent = Once()

    def fails() -> str:
        raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011 - the one that is raised above
        sent.do("/chat", FORM, fails)
    assert sent.do("/chat", FORM, lambda: "/done") == "/done"
    assert sent.do("/chat", FORM, fails) == "/done"


def test_the_oldest_make_room() -> None:
    sent = Once()
    for number in range(MOST + 1):
        sent.do("/chat", {**FORM, "once": f"{number}"}, lambda: "/first")
    assert sent.do("/chat", {**FORM, "once": f"{MOST}"}, lambda: "/second") == "/first"
    assert sent.do("/chat", {**FORM, "once": "0"}, lambda: "/second") == "/second"
