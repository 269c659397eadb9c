"""What to do next about a run: at a command line, and on a page."""

from __future__ import annotations

from collections.abc import Callable

import hypothesis
import pytest
from hypothesis import strategies as st

from orchestrator.app.running import run_list_views
from orchestrator.core.running import advice, continuation, states
from orchestrator.core.running.continuation import Approval, Work
from orchestrator.core.suggestions import elsewhere, reword, sentence, suggest

ROOTS = ("/srv/shop", "/srv/my shop", "/srv/it's, then /continue x", "/srv/a\nb")


def read(text: str, root: str) -> str:
    """A recorded text as a caller elsewhere is told it."""
    found: str = elsewhere(run_list_views._reader((("scripted:/srv/steps.json", root),))(text))
    return found


@pytest.mark.parametrize("root", ROOTS)
@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (advice.by_a_server, "run task-7 is queued again: this server continues it. Next."),
        (advice.by_hand,
         "run task-7 is queued again: it continues on the command line, where it was started. Next."),
        (advice.look, "run task-7 is queued again: this server. Next."),
    ],
    ids=["a server", "by hand", "a look"],
)  # fmt: skip
def test_a_page_says_who_goes_on(said: Callable[[str, str], str], shown: str, root: str) -> None:
    told = sentence("run task-7 is queued again: {}. Next.", said(root, "task-7"))
    assert elsewhere(told) == shown
    assert read(str(told), root) == read(told, root) == shown


@pytest.mark.parametrize(
    ("approval", "shown"),
    [(None, "It waits for approval: answer its question."),
     (Approval(0.0, 1e9), "The approval has expired: try the task again on its page.")],
)  # fmt: skip
def test_a_page_says_how_work_is_approved(approval: Approval | None, shown: str) -> None:
    open_ = Work(states.INCOMPLETE, total=2, finished=1)
    reason = continuation.next_action(open_, approval, 1e9).reason
    assert elsewhere(reason) == read(str(reason), "/srv/shop") == shown


@hypothesis.given(st.text())
def test_what_gives_no_such_advice_stays(text: str) -> None:
    assert read(text, "/srv/shop") == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("scripted:/srv/steps.json starts", "scripted starts"),
        ("in '/srv/a\\nb' and /srv/a\nb/notes.md", "in '…' and …/notes.md"),
        ("below /home/srv/a\nb", "below /home/srv/a\nb"),
    ],
)
def test_recorded_places_are_local_again(text: str, shown: str) -> None:
    assert read(text, "/srv/a\nb") == shown


REPL = "orchestrator --db /d.db repl --project /srv/shop"
FULL = advice.filled("{full} shows the error in full", "task-7")
LATER = advice.filled("{logs} shows what is missing; {later}, lets it go on", "task-7")
LOGS = f"echo '/logs task-7' | {REPL}"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (FULL, f"echo '/logs task-7 --full' | {REPL} shows the error in full"),
        (LATER, f"{LOGS} shows what is missing; {REPL}, then /continue task-7, lets it go on"),
        (advice.filled("{logs} shows what is missing; {approve} lets it go on", "task-7"),
         f"{LOGS} shows what is missing; {REPL}, then /approve lets it go on"),
        (sentence("it is queued: {}.", advice.by_hand("/srv/shop", "task-7")),
         "it is queued: orchestrator repl --project /srv/shop, then /continue task-7."),
        ("look at /srv/approve and docs/init", "look at /srv/approve and docs/init"),
        ("Enter the next task", "Enter the next task"),
    ],
)  # fmt: skip
def test_P39_after_a_single_run_every_command_is_one_of_the_shell(text: str, shown: str) -> None:
    assert reword(text, lambda each: advice.in_a_shell(each, REPL)) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (LATER, f"/logs task-7 shows what is missing; {REPL}, then /continue task-7, lets it go on"),
        (FULL, "/logs task-7 --full shows the error in full"),
        (advice.typed("/respond yes"), f"{REPL}, then /respond yes"), ("Enter the next task", "Enter the next task"),
        (sentence("{}, and there /continue task-7, at a terminal", suggest("repl", project="/srv/shop")),
         "orchestrator repl --project /srv/shop, and there /continue task-7, at a terminal"),
    ],
)  # fmt: skip
def test_P39_a_script_is_not_told_to_approve_by_itself(text: str, shown: str) -> None:
    assert reword(text, lambda each: advice.in_a_script(each, REPL)) == shown
