"""The installed `run` and `repl`: work never done is not complete, and an answer is told for what it is worth."""

from __future__ import annotations

import json
import re

import pytest

from tests.acceptance.replhouse import House


@pytest.fixture
def house(house: House) -> House:
    (house.project / "src").mkdir()
    (house.project / "src" / "a.py").write_text("x = 1\n")
    (house.project / "tests").mkdir()
    (house.project / "tests" / "test_a.py").write_text("def test_a():\n    assert True\n")
    return house


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
        0, f"An answer was given; nothing was checked on disk; {GUESS} Mentioned and not touched: notes.md.",
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
        ("what does src/a.py do?", "1 file verified on the disk. Only an answer was wanted, but files were changed:"
                                   " notes.md (new)."),
        ("Lege notes.md an",
         f"1 file verified on the disk. {GUESS[:-1]}; as files changed it was judged as LIGHT_EDIT."),
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


def claims(path: str, before: str = "true") -> str:
    """A program that claims a file."""
    told = """printf '{"status":"COMPLETE","session_id":"%s","output":"done","files":["%s"]}\\n'"""
    return f'{before}; {told} "$ORCHESTRATOR_SESSION_ID" "{path}"'


def test_p31_a_claim_outside_of_the_project_is_told_as_one(house: House) -> None:
    outside = house.base / "outside.md"
    program = house.program(claims(str(outside), f"echo x > {outside}"))
    done = house.run("create notes.md", command="run", executor=program)
    assert (done.code, line(done.out, "WHY")) == (
        2, f"Claimed but not to be verified: '{outside}' (it lies outside of the project)."
        " Mentioned and not touched: notes.md.",
    )  # fmt: skip


def test_p31_a_claimed_link_that_leads_out_is_told_as_one(house: House) -> None:
    outside = house.base / "outside.md"
    outside.write_text("x")
    program = house.program(claims("notes.md", f"ln -s {outside} notes.md"))
    done = house.run("create notes.md", command="run", executor=program)
    assert (done.code, line(done.out, "WHY")) == (
        2, "Claimed but not to be verified: notes.md (a link leads out of the project).",
    )  # fmt: skip


NOTHING = "No task was entered in this session."


def test_p10_a_session_in_which_nothing_was_asked_says_so(house: House) -> None:
    done = house.run("--json", lines=["/start", "/exit"])
    told = json.loads(done.out.splitlines()[-1])["report"]
    assert (told["overall_status"], told["next_action_reason"]) == ("COMPLETE", NOTHING)
    assert NOTHING in house.run(lines=["/start", "/exit"]).out


def test_p10_a_session_that_was_left_unfinished_is_named_at_the_end(house: House) -> None:
    lines = ["create notes.md", "/start", "what is x?", "/exit"]
    done = house.run("--json", lines=lines, executor=house.program("echo It is done."))
    answers = [json.loads(each) for each in done.out.splitlines()]
    first = next(each["run"]["session_id"] for each in answers if "run" in each)
    (left,) = answers[-1]["left_behind"]
    assert (left["session_id"], left["overall_status"]) == (first, "NO_EVIDENCE")
    shown = house.run(lines=lines, executor=house.program("echo It is done.")).out
    assert re.search(r"^Left open: session chat-\d+ is NO_EVIDENCE. Report: /.*$", shown, re.MULTILINE)


def test_a_folder_is_told_as_no_program(house: House) -> None:
    done = house.run("create notes.md", command="run", executor=f"command:{house.base}")
    assert (done.code, f"{house.base} is a folder, not a program." in done.out) == (1, True)


def test_a_text_that_begins_with_an_at_sign_names_a_file_or_is_told_how_to_be_one(house: House) -> None:
    done = house.run("@nofile", command="run")
    assert "write @@ for a text that begins with @" in done.err


@pytest.mark.parametrize("command", ["inbox", "init", "run"])
def test_a_file_in_the_place_of_the_folder_of_the_database_is_named(command: str, house: House) -> None:
    folder, given = (house.project, ("what is x?",)) if command == "run" else (house.base, ())
    (folder / ".orchestrator").write_text("x")
    done = house.run(*given, command=command, place=None if given else (), ORCHESTRATOR_DB="")
    assert f"{folder}/.orchestrator is not a folder, so it cannot hold a database." in done.err


def test_what_a_person_has_to_repeat_is_told_as_a_call(house: House) -> None:
    asked = house.run("delete all files", "--json", command="run", executor="fake-success")
    following = json.loads(asked.out)["run"]["next"].split()[1:]
    done = house.run(*following[1:], command=following[0], place=())
    assert done.err.splitlines()[-1] == (
        f"try: A person repeats it at a terminal, or with --human-token-file FILE: orchestrator {' '.join(following)}"
    )
