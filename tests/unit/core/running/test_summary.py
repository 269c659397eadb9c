"""P39: seven lines for each run that has ended, all filled, no guess."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core.running import hedging_words, states, summary

LABELS = ("[RESULT]  ", "[TASK]    ", "[NEXT]    ", "[WHY]     ", "[HINT]    ")


def test_p39_a_complete_run_has_its_block() -> None:
    assert summary.block("task-17", "complete", "1 file verified on the disk.") == (
        "=== TASK SUMMARY ===\n"
        "[RESULT]  COMPLETE\n"
        "[TASK]    task-17\n"
        "[NEXT]    Enter the next task\n"
        "[WHY]     1 file verified on the disk.\n"
        "[HINT]    /logs task-17 shows the log of the run\n"
        "===================="
    )


@pytest.mark.parametrize(
    ("state", "word"),
    [("complete", "COMPLETE"), ("incomplete", "INCOMPLETE"), ("error", "ERROR"), ("cancelled", "INCOMPLETE")],
)
def test_p39_every_terminal_state_has_a_block(state: str, word: str) -> None:
    block = summary.block("task-1", state, "Because.", following="Go on.", hint="Help.")
    assert block is not None
    assert block.splitlines() == [
        summary.HEAD, f"[RESULT]  {word}", "[TASK]    task-1", "[NEXT]    Go on.", "[WHY]     Because.",
        "[HINT]    Help.", summary.FOOT,
    ]  # fmt: skip


@pytest.mark.parametrize("state", ["running", "queued", "awaiting_response", "anything"])
def test_p39_a_run_that_goes_on_has_none(state: str) -> None:
    assert summary.block("task-1", state, "x") is None


@pytest.mark.parametrize(
    ("reason", "why"),
    [
        pytest.param(None, "(unknown)", id="none"),
        pytest.param(" \n ", "(unknown)", id="blank"),
        pytest.param("\x1b[31mRed\x1b[0m\nline", "[31mRed [0m line", id="control codes and lines"),
        pytest.param("It probably failed", summary.UNCERTAIN, id="a guess"),
        pytest.param("おそらく失敗", summary.UNCERTAIN, id="a guess in Japanese"),
        pytest.param("x" * 300, "x" * 199 + "…", id="long"),
    ],
)
def test_p39_why_is_one_line_without_a_guess(reason: str | None, why: str) -> None:
    block = summary.block("task-1", "error", reason)
    assert block is not None
    assert block.splitlines()[4] == f"[WHY]     {why}"


texts = st.none() | st.text() | st.sampled_from(["maybe", "a\nb", "\x85", "====================", "{task}"])


@given(texts, st.sampled_from(states.TERMINAL), texts, texts, texts)
def test_p39_whatever_is_told_the_block_has_seven_filled_lines(
    task: str | None, state: str, reason: str | None, following: str | None, hint: str | None
) -> None:
    block = summary.block(task or "", state, reason, following=following, hint=hint)
    assert block is not None
    lines = block.splitlines()
    shaped = all(line.startswith(label) for line, label in zip(lines[1:-1], LABELS, strict=True))
    filled = all(line[10:].strip() for line in lines[1:-1])
    assert (len(lines), lines[0], lines[-1], shaped, filled) == (7, summary.HEAD, summary.FOOT, True, True)
    assert re.fullmatch("COMPLETE|INCOMPLETE|ERROR", lines[1][10:]) is not None
    assert not hedging_words.guesses(lines[4])
