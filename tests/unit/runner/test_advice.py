"""What to do next about a run: at a command line, and on a page."""

from __future__ import annotations

import hypothesis
import pytest
from hypothesis import strategies as st

from orchestrator.core.running import advice, continuation, states
from orchestrator.core.running.continuation import Approval, Work

ROOTS = ("/srv/shop", "/srv/my shop", "/srv/it's, then /continue x", "/srv/a\nb")


@pytest.mark.parametrize("root", ROOTS)
@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (advice.by_a_server, "run task-7 is queued again: this server continues it. Next."),
        (advice.by_hand,
         "run task-7 is queued again: it continues on the command line, where it was started. Next."),
    ],
    ids=["a server", "by hand"],
)  # fmt: skip
def test_a_page_says_who_goes_on(said: object, shown: str, root: str) -> None:
    assert callable(said)
    assert advice.on_a_page(f"run task-7 is queued again: {said(root, 'task-7')}. Next.") == shown


def test_a_page_says_who_ends_what_is_gone() -> None:
    told = f"Its process is gone: {advice.look('/srv/shop', 'task-7')} ends it and says what changed."
    assert advice.on_a_page(told) == "Its process is gone: this server ends it and says what changed."


@pytest.mark.parametrize(
    ("approval", "shown"),
    [(None, "It waits for approval: answer its question."),
     (Approval(0.0, 1e9), "The approval has expired: try the task again on its page.")],
)  # fmt: skip
def test_a_page_says_how_work_is_approved(approval: Approval | None, shown: str) -> None:
    open_ = Work(states.INCOMPLETE, total=2, finished=1)
    assert advice.on_a_page(continuation.next_action(open_, approval, 1e9).reason) == shown


@hypothesis.given(st.text())
def test_what_gives_no_such_advice_stays(text: str) -> None:
    assert advice.on_a_page(text) == text


REPL = "orchestrator --db /d.db repl --project /srv/shop"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("/logs task-7 --full shows the error in full", f"echo '/logs task-7 --full' | {REPL} shows the error in full"),
        ("/logs task-7 shows what is missing; /approve, or /continue task-7 in a later session, lets it go on",
         f"echo '/logs task-7' | {REPL} shows what is missing; {REPL}, then /continue task-7, lets it go on"),
        ("/logs task-7 shows what is missing; /approve lets it go on",
         f"echo '/logs task-7' | {REPL} shows what is missing; {REPL}, then /approve lets it go on"),
        (f"it is queued: {advice.by_hand('/srv/shop', 'task-7')}.",
         f"it is queued: {advice.by_hand('/srv/shop', 'task-7')}."),
        ("look at /srv/approve and docs/init", "look at /srv/approve and docs/init"),
        ("Enter the next task", "Enter the next task"),
    ],
)  # fmt: skip
def test_P39_after_a_single_run_every_command_is_one_of_the_shell(text: str, shown: str) -> None:
    assert advice.in_a_shell(text, REPL) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("/logs task-7 shows what is missing; /approve, or /continue task-7 in a later session, lets it go on",
         f"/logs task-7 shows what is missing; {REPL}, then /continue task-7, lets it go on"),
        ("/logs task-7 --full shows the error in full", "/logs task-7 --full shows the error in full"),
        ("/respond yes", f"{REPL}, then /respond yes"), ("Enter the next task", "Enter the next task"),
        (f"{REPL}, and there /continue task-7, at a terminal", f"{REPL}, and there /continue task-7, at a terminal"),
    ],
)  # fmt: skip
def test_P39_a_script_is_not_told_to_approve_by_itself(text: str, shown: str) -> None:
    assert advice.in_a_script(text, REPL) == shown
