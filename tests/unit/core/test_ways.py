"""By what a caller was let in, as people read it."""

from __future__ import annotations

import pytest

from orchestrator.core import caller_labels


@pytest.mark.parametrize(
    ("way", "actor", "said"),
    [
        (caller_labels.SERVER_TOKEN, "project_manager", ", for a script with the server's token"),
        (caller_labels.SERVER_TOKEN, None, ", for a script with the server's token"),
        (caller_labels.page_of("alice"), "system:runner", ", for alice on a page"),
        (caller_labels.page_of("alice"), "alice", ", on a page"),
        (caller_labels.token_of("alice"), "system:runner", ", for alice with their token"),
        (caller_labels.token_of("alice"), "alice", ", with their token"),
    ],
)
def test_a_step_says_for_whom_it_was_done(way: str, actor: str | None, said: str) -> None:
    assert caller_labels.told(way, actor) == said


def test_the_record_keeps_the_words_that_it_has() -> None:
    told = (caller_labels.SERVER_TOKEN, caller_labels.page_of("alice"), caller_labels.token_of("alice"))
    assert told == ("the server's token", "a page of alice", "the token of alice")


@pytest.mark.parametrize(
    ("actor", "role", "expected"),
    [
        pytest.param("bob", "project_manager", "bob as project_manager", id="poses as another role"),
        pytest.param("bob", None, "bob", id="claims no role"),
        pytest.param("developer", "developer", "developer", id="a role by its own name"),
        pytest.param("pm", "project_manager", "pm", id="a short name says the role"),
        pytest.param("developer@S1:A", "developer", "developer@S1:A", id="an instance says its role"),
        pytest.param("developer@S1:A", "tech_lead", "developer@S1:A as tech_lead", id="an instance of another role"),
        pytest.param(None, "developer", "developer", id="nobody named"),
        pytest.param("", None, "somebody", id="nothing known"),
    ],
)
def test_who_tried_is_told_with_the_role_that_they_claimed(actor: str | None, role: str | None, expected: str) -> None:
    assert caller_labels.tried(actor, role) == expected
