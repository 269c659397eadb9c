"""INV-1 and INV-2: what is blocked asks something, and only a destructive task may be blocked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core import task_types
from orchestrator.core.running import blocked_output
from tests.unit.core import growth

OTHER_TYPES = [type_ for type_ in task_types.TYPES if type_ != "DANGEROUS_OP"]
MARK = "\uff1f"
reasons = st.sampled_from([None, "TIMEOUT", "INTERACTIVE_PROMPT", "OTHER"])
kinds = st.sampled_from([None, "UNKNOWN_TYPE", *task_types.TYPES])


def test_inv2_the_blockable_set_is_exactly_dangerous_op() -> None:
    assert blocked_output.BLOCKABLE == {"DANGEROUS_OP"}


def questions_in(text: str) -> tuple[str, ...]:
    """The questions of a text in order; the product asks the last one."""
    return tuple(asked.text for asked in blocked_output._found(text))


@pytest.mark.parametrize("task_type", [*OTHER_TYPES, None, "UNKNOWN_TYPE", 5])
def test_inv2_no_other_type_may_be_blocked(task_type: object) -> None:
    assert (blocked_output.can_block(task_type), blocked_output.can_block("DANGEROUS_OP")) == (False, True)


def test_inv1_the_texts_of_the_source_are_kept_letter_by_letter() -> None:
    assert blocked_output.TEMPLATES == {
        "default": (
            "YES/NO: このタスクはコード変更を許可しますか" + MARK + "\n(Do you permit code changes for this task?)"
        ),
        "implementation": (
            "このタスクを実行するために、以下の情報を教えてください:\n1. 変更対象のファイル\n2. 期待する動作"
        ),
        "blocked_timeout": "タスクがタイムアウトしました。続行しますか" + MARK + " (YES/NO)",
        "blocked_interactive": "対話的な確認が必要です。続行を許可しますか" + MARK + " (YES/NO)",
    }


@pytest.mark.parametrize("name", ["implementation", "blocked_timeout", "blocked_interactive"])
def test_inv1_those_without_english_get_one_line_that_asks(name: str) -> None:
    added = blocked_output.QUESTIONS[name].removeprefix(blocked_output.TEMPLATES[name])
    assert (added[0], added.count("\n"), added[-1], added.isascii()) == ("\n", 1, "?", True)


@pytest.mark.parametrize(
    ("task_type", "reason", "name"),
    [
        pytest.param("DANGEROUS_OP", None, "dangerous", id="dangerous"),
        pytest.param("DANGEROUS_OP", "TIMEOUT", "dangerous", id="dangerous comes first"),
        pytest.param("IMPLEMENTATION", "TIMEOUT", "implementation", id="implementation before the reason"),
        pytest.param("READ_INFO", "TIMEOUT", "blocked_timeout", id="timeout"),
        pytest.param("READ_INFO", "INTERACTIVE_PROMPT", "blocked_interactive", id="prompt"),
        pytest.param("READ_INFO", None, "default", id="default"),
        pytest.param(None, "OTHER", "default", id="unknown"),
    ],
)
@pytest.mark.parametrize("output", ["", " \n\t ", None], ids=["empty", "blank", "none"])
def test_inv1_empty_output_becomes_the_question_of_type_and_reason(
    output: str | None, task_type: str | None, reason: str | None, name: str
) -> None:
    assert blocked_output.guarded(output, task_type, reason) == blocked_output.QUESTIONS[name]


def test_inv1_a_question_is_left_alone() -> None:
    assert blocked_output.guarded("Do you want to proceed?", "DANGEROUS_OP") == "Do you want to proceed?"


def test_inv1_text_without_a_question_is_kept_and_a_question_added() -> None:
    expected = f"Operation will delete files\n---\n{blocked_output.QUESTIONS['dangerous']}"
    assert blocked_output.guarded("Operation will delete files", "DANGEROUS_OP") == expected


@pytest.mark.parametrize(
    ("text", "questions", "ends"),
    [
        ("Do you want to proceed?", ("Do you want to proceed?",), True),
        ("a? b. c? d", ("a?", "c?"), False),
        ("YES/NO: delete it. Really? ok", ("YES/NO: delete it. Really?",), False),
        ("YES/NO: go on", ("YES/NO: go on",), True),
        ("yes / no: go on", ("yes / no: go on",), True),
        ("see http://x/?a=b now", (), False),
        ("?? new.txt", (), False),
        ("- **Which file?**", ("Which file?**",), True),
        (f"続行しますか{MARK} (YES/NO)", (f"続行しますか{MARK}",), True),
        ("Overwrite? [y/N]", ("Overwrite?",), True),
        (f"何{MARK}それは。", (f"何{MARK}",), False),
        ("First?\nThen this.", ("First?",), False),
        ("Done. Shall I go on?\n\n", ("Shall I go on?",), True),
        ("", (), False),
        ("?", (), False),
    ],
    ids=str,
)
def test_inv6_questions_are_sentences_that_ask(text: str, questions: tuple[str, ...], ends: bool) -> None:
    last = questions[-1] if questions else None
    assert (questions_in(text), blocked_output.last_question(text), blocked_output.ends_asking(text)) == (
        questions,
        last,
        ends,
    )


@pytest.mark.parametrize("name", blocked_output.QUESTIONS)
def test_inv6_a_fallback_within_a_text_is_one_question(name: str) -> None:
    question = blocked_output.QUESTIONS[name]
    text = f"First? Then.\n---\n{question}"
    found = (questions_in(text), blocked_output.last_question(text), blocked_output.ends_asking(text))
    assert found == (("First?", question), question, True)


@pytest.mark.parametrize("name", blocked_output.TEMPLATES)
def test_inv1_a_text_that_holds_a_fallback_of_the_source_holds_a_question(name: str) -> None:
    text = blocked_output.TEMPLATES[name]
    assert (blocked_output.guarded(text, "DANGEROUS_OP"), questions_in(text)) == (
        text,
        (blocked_output.QUESTIONS[name],),
    )


def test_inv6_the_same_fallback_twice_is_found_twice() -> None:
    question = blocked_output.QUESTIONS["default"]
    assert questions_in(f"{question}\n{question}") == (question, question)


@given(st.text() | st.sampled_from(list(blocked_output.TEMPLATES.values())), kinds, reasons)
def test_inv1_the_guard_always_leaves_a_question(output: str, task_type: str | None, reason: str | None) -> None:
    guarded = blocked_output.guarded(output, task_type, reason)
    assert (bool(guarded.strip()), bool(blocked_output.last_question(guarded))) == (True, True)


@given(st.text(), kinds, reasons, kinds, reasons)
def test_inv1_the_guard_applied_twice_changes_nothing(
    output: str, task_type: str | None, reason: str | None, other: str | None, later: str | None
) -> None:
    once = blocked_output.guarded(output, task_type, reason)
    assert blocked_output.guarded(once, other, later) == once


@given(st.text(), kinds, reasons)
def test_inv1_the_guard_keeps_what_was_said(output: str, task_type: str | None, reason: str | None) -> None:
    assert blocked_output.guarded(output, task_type, reason).startswith(output.rstrip())


@pytest.mark.parametrize("unit", ["a? ", "?", "YES/NO: a? ", "\n", ".", MARK, " ", *blocked_output.TEMPLATES.values()])
def test_long_texts_take_linear_time(unit: str) -> None:
    assert growth.is_even(lambda text: blocked_output.guarded(text, None), unit, 20_000)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        *(
            pytest.param(blocked_output.QUESTIONS[name], name != blocked_output.IMPLEMENTATION, id=name)
            for name in blocked_output.QUESTIONS
        ),
        pytest.param("yes / no: is it right?", True, id="the mark in small letters"),
        pytest.param("Is it right? [y/N]", True, id="letters in brackets"),
        pytest.param("Is it right (yes or no)?", True, id="words in brackets"),
        pytest.param("Is it right?", False, id="no mark"),
        pytest.param("Which one, A or B?", False, id="a choice"),
        pytest.param("Does yes or no go into the file?", False, id="the words in a sentence"),
    ],
)
def test_a_yes_no_question_says_so(question: str, expected: bool) -> None:
    assert blocked_output.is_yes_no(question) is expected
