"""P19: what is not clear is asked first, once in a session, and no executor is called."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core.running import ambiguity, hedging_words
from orchestrator.core.running.ambiguity import Answered
from orchestrator.core.running.file_names import Tree
from tests.cases import every
from tests.unit.core import growth

EXISTING = Tree(frozenset({"README.md", "src/a.py"}), frozenset({"src"}))
ROWS = [
    ("Create README.md", "target_file_exists"), ("./README.mdを作って", "target_file_exists"),
    ("add README.md and LICENSE", None), ("Create `README.md`", "target_file_exists"),
    ("Create a new file README.md with hello", "target_file_exists"),
    ("README.mdという新しいファイルを作って", "target_file_exists"), ("write src/a.py", "target_file_exists"),
    ("add it", "target_file_ambiguous"), ("Please create a file", "target_file_ambiguous"),
    ("ファイルを作成してください", "target_file_ambiguous"), ("追加", "target_file_ambiguous"),
    ("修正して", "target_action_ambiguous"), ("何か修正して", "target_action_ambiguous"),
    ("update", "target_action_ambiguous"), ("fix it", "target_action_ambiguous"),
    ("change something", "target_action_ambiguous"), ("Can you fix this?", "target_action_ambiguous"),
    ("それを変更してください", "target_action_ambiguous"), ("delete it", "target_action_ambiguous"),
    ("create readme.md", "target_file_exists"), ("create a readme", "target_file_exists"),
    ("create config", None), ("Fix README.md", None), ("Create NEW.md", None),
    ("create README.md and fix src/a.py", None),
    ("fix the bug in src/a.py, and add a test to README.md", None), ("rewrite README.md", None),
    ("write hello to README.md", None), ("add a title in README.md", None), ("overwrite README.md", None),
    ("create README.md, overwrite what is there", None), ("README.mdに追記して", None),
    ("Add a section to README.md", None), ("create tests for src/a.py", None), ("README.mdにテストを追加して", None),
    ("Write docs in the file README.md", None), ("README.mdを参考に説明を書いて", None),
    ("バグを直して", None), ("テストを追加して", None), ("ログイン機能を修正して", None),
    ("Improve error handling", None), ("update README.md, add NEW.md and delete src/a.py", None),
    ("what is this?", None), ("something", None), ("", None), ("これは何ですか", None),
    *((text, "target_task_ambiguous") for text in (
        "continue", "Continue.", "go on", "please continue", "keep going", "carry on", "resume", "proceed",
        "finish it", "do the rest", "try again", "retry", "continue with the task", "yes", "ok, go ahead", "next",
        "can you continue?", "続けて", "続けてください", "続行", "続きをお願いします", "もう一度", "次へ", "はい",
        "再開して", "作業を進めてください",
    )),
    *((text, None) for text in (
        "continue with src/a.py", "go on with the parser", "resume the upload of the logs",
        "ログイン機能の実装を続けて", "what does continue do in Python?", "create resume.md",
        "why does it not continue?", "hello",
    )),
]  # fmt: skip


@every(("text", "reason"), ROWS)
def test_p19_what_is_ambiguous_is_asked(text: str, reason: str | None) -> None:
    found = ambiguity.doubt(text, EXISTING)
    assert (found and found.reason) == reason


def test_p19_the_existing_file_is_named() -> None:
    found = ambiguity.doubt("Create README.md", EXISTING)
    asked = "README.md exists already. Is it to be replaced or extended, or which other name is wanted?"
    assert found == ambiguity.Doubt("target_file_exists", asked)


def test_p19_without_existing_files_a_named_file_is_clear() -> None:
    assert ambiguity.doubt("Create README.md") is None


@pytest.mark.parametrize("path", ["maybe/" + "a" * 120 + ".md"])
def test_p19_a_long_path_is_shortened(path: str) -> None:
    found = ambiguity.doubt(f"Create {path}", Tree(frozenset({path})))
    assert (found is not None and len(found.question) < 220, found and found.reason) == (True, "target_file_exists")


@given(st.sampled_from([text for text, reason in ROWS if reason]), st.text(" \n\t!.", max_size=5))
def test_p19_a_question_has_one_or_two_lines_and_no_guess(text: str, around: str) -> None:
    found = ambiguity.doubt(f"{around} {text} {around}", EXISTING)
    assert found is not None
    lines = found.question.splitlines()
    assert (1 <= len(lines) <= 2, lines[-1][-1], hedging_words.guesses(found.question)) == (True, "?", False)


@given(st.text())
def test_p19_a_doubt_needs_a_verb_of_making_or_changing(text: str) -> None:
    found = ambiguity.doubt(f"{text} 0", EXISTING)
    assert found is None or found.reason == "target_file_exists"


SAID = [Answered("s1", "Which file?", "a.py"), Answered("s2", "Which file?", "c.py")]


@pytest.mark.parametrize(
    ("session", "question", "task_type", "answer"),
    [
        pytest.param("s1", "  which   FILE ", "IMPLEMENTATION", "a.py", id="the same text, normalised"),
        pytest.param("s1", "**Which file?**", "IMPLEMENTATION", "a.py", id="the same text, in bold"),
        pytest.param("s1", "Which\nfile\uff1f", "LIGHT_EDIT", "a.py", id="full-width mark"),
        pytest.param("s1", "Which file?", "DANGEROUS_OP", None, id="never for dangerous work"),
        pytest.param("s3", "Which file?", "IMPLEMENTATION", None, id="never across sessions"),
        pytest.param("s1", "Which folder?", "IMPLEMENTATION", None, id="another question"),
    ],
)
def test_p19_a_question_is_asked_once_in_a_session(
    session: str, question: str, task_type: str, answer: str | None
) -> None:
    assert ambiguity.recall(SAID, session, question, task_type) == answer


def test_p19_the_latest_answer_counts() -> None:
    assert ambiguity.recall([*SAID, Answered("s1", "which file", "b.py")], "s1", "Which file?", "REPORT") == "b.py"


@given(st.text(), st.text())
def test_p19_nothing_is_answered_for_dangerous_work_or_another_session(question: str, answer: str) -> None:
    said = [Answered("s1", question, answer)]
    found = (
        ambiguity.recall(said, "s1", question, "DANGEROUS_OP"),
        ambiguity.recall(said, "s2", question, "REPORT"),
        ambiguity.recall(said, "s1", question, "REPORT"),
    )
    assert found == (None, None, answer)


@given(st.text())
def test_p19_normalising_twice_changes_nothing_for_plain_text(question: str) -> None:
    plain = question.encode("ascii", "ignore").decode()
    once = ambiguity.normalised(plain)
    assert ambiguity.normalised(once) == once


@pytest.mark.parametrize("unit", ["add ", "a.py ", "create README.md ", "を", " ", "to the "])
def test_long_texts_take_linear_time(unit: str) -> None:
    assert growth.is_even(lambda text: ambiguity.doubt(text, EXISTING), unit, 10_000)
