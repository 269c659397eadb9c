"""By what a caller was let in, as people read it."""

from __future__ import annotations

import pytest

from orchestrator.core import ways


@pytest.mark.parametrize(
    ("way", "actor", "said"),
    [
        (ways.SERVER_TOKEN, "project_manager", ", for a script with the server's token"),
        (ways.SERVER_TOKEN, None, ", for a script with the server's token"),
        (ways.page_of("alice"), "system:runner", ", for alice on a page"),
        (ways.page_of("alice"), "alice", ", on a page"),
        (ways.token_of("alice"), "system:runner", ", for alice with their token"),
        (ways.token_of("alice"), "alice", ", with their token"),
    ],
)
def test_a_step_says_for_whom_it_was_done(way: str, actor: str | None, said: str) -> None:
    assert ways.told(way, actor) == said


def test_the_record_keeps_the_words_that_it_has() -> None:
    told = (ways.SERVER_TOKEN, ways.page_of("alice"), ways.token_of("alice"))
    assert told == ("the server's token", "a page of alice", "the token of alice")
