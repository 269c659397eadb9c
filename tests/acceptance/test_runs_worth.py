"""The installed `run` and `repl`: work never done is not complete, and an answer is told for what it is worth."""

from __future__ import annotations

import json
import pathlib
import re
from collections.abc import Iterator

import pytest

from tests.acceptance import replhouse
from tests.acceptance.replhouse import House


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory, script: pathlib.Path) -> pathlib.Path:
    return replhouse.initialised(tmp_path_factory.mktemp("initialised"), script)


@pytest.fixture
def house(
    tmp_path: pathlib.Path, script: pathlib.Path, database: pathlib.Path, stand_in: pathlib.Path
) -> Iterator[House]:
    made = House(tmp_path, script, database, stand_in)
    (made.project / "src").mkdir()
    (made.project / "src" / "a.py").write_text("x = 1\n")
    (made.project / "tests").mkdir()
    (made.project / "tests" / "test_a.py").write_text("def test_a():\n    assert True\n")
    yield made
    made.close()


def line(text: str, label: str) -> str:
    """What stands behind a label of the last summary."""
    return re.findall(rf"^\[{label}\]\s+(.*)$", text, re.MULTILINE)[-1]


NEVER_DONE = [
    "explain the code and fix the bug in src/a.py", "deploy to production", "set x to 2 in src/a.py",
    "install requests", "git commit everything", "notes.md needs to exist with hello in it",
    "Does the test pass? If not, repair it", "show me src/a.py, then delete it", "summarize src/a.py in SUMMARY.md",
]  # fmt: skip


@pytest.mark.parametrize("task", NEVER_DONE)
def test_p8_what_was_ordered_and_never_done_is_not_complete(task: str, house: House) -> None:
    done = house.run(task, command="run", executor=house.program("echo It is done."))
    assert (done.code, done.results) == (2, ["INCOMPLETE"]), done.out


GUESS = "READ_INFO as the task's type was guessed."


def test_an_answer_to_a_task_of_unknown_type_is_told_for_what_it_is_worth(house: House) -> None:
    done = house.run("Lege notes.md an", command="run", executor=house.program("echo Fertig."))
    assert (done.code, line(done.out, "WHY")) == (
        0, f"An answer was given, and nothing was checked on the disk; {GUESS}",
    )  # fmt: skip
    assert "--type IMPLEMENTATION" in line(done.out, "HINT")


@pytest.mark.parametrize(
    ("task", "flags"),
    [("what does src/a.py do?", ()), ("Lege notes.md an", ("--type", "READ_INFO"))],
    ids=["a question", "a type that was given"],
)
def test_nothing_is_said_of_a_guess_where_none_was_made(task: str, flags: tuple[str, ...], house: House) -> None:
    done = house.run(task, *flags, command="run", executor=house.program("echo It sets x."))
    assert (done.code, line(done.out, "WHY")) == (0, "The answer was given.")
    assert "--type" not in line(done.out, "HINT")


@pytest.mark.parametrize(
    ("task", "why"),
    [
        ("what does src/a.py do?", "1 file verified on the disk. An answer alone was wanted. Files were changed:"
                                   " notes.md (new)."),
        ("Lege notes.md an", f"An answer was given; {GUESS} Files were changed: notes.md (new)."),
    ],
)  # fmt: skip
def test_a_question_over_which_files_became_others_says_so(task: str, why: str, house: House) -> None:
    done = house.run(task, "--json", command="run", executor=house.program("echo x > notes.md; echo done"))
    answer = json.loads(done.out)
    assert (answer["run"]["task_type"], answer["run"]["why"], line(answer["summary"], "WHY")) == ("READ_INFO", why, why)


def test_p35_the_hint_after_a_timeout_is_about_the_timeout(house: House) -> None:
    done = house.run(
        "create notes.md", "--executor-timeout", "700", command="run", executor=house.program("sleep 20")
    )
    assert (done.code, "ended by executor_timeout_ms of 700 ms" in line(done.out, "WHY")) == (1, True)
    assert line(done.out, "HINT").startswith("Raise --executor-timeout MS (now 700), or make the task smaller. ")
