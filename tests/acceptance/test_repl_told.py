"""What a summary says is to be typed next is what a person can type: copied as it stands, it does what it says."""

from __future__ import annotations

import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

import pytest

from tests.acceptance.replhouse import House


@pytest.fixture
def house(installed_house: House) -> House:
    return installed_house


DESTROYS = "delete all files"
UNCLEAR = "fix it"


def line(text: str, label: str) -> str:
    """What stands behind a label of the last summary."""
    return re.findall(rf"^\[{label}\]\s+(.*)$", text, re.MULTILINE)[-1]


def typed(house: House, script: pathlib.Path, command: str, **variables: str) -> tuple[int, str]:
    """Copy a command into a shell that knows nothing of the call that printed it."""
    words = shlex.split(command)
    assert words[0] == "orchestrator", command
    done = subprocess.run(
        [sys.executable, str(script), *words[1:]], env=house.environment(**variables), cwd=house.base,
        capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    ("call", "where"),
    [
        ("run", "named"), ("run --json", "of the project"), ("repl", "of the environment"), ("repl --json", "named"),
        ("run --json", "of the environment"), ("repl", "of the project"),
    ],
)  # fmt: skip
def test_the_command_of_the_next_line_works_as_it_stands(
    house: House, script: pathlib.Path, call: str, where: str
) -> None:
    command, *json_ = call.split()
    flags = ("--db", "own.db") if where == "named" else ()
    variables = {} if where == "of the environment" else {"ORCHESTRATOR_DB": ""}
    given, lines = ((DESTROYS,), ()) if command == "run" else ((), (DESTROYS,))
    done = house.run(*given, *flags, *json_, lines=lines, command=command, executor="fake-success", **variables)
    if json_:
        answers = [json.loads(each) for each in done.out.splitlines()]
        ended = next(each for each in answers if "summary" in each)
        assert line(ended["summary"], "NEXT") == ended["run"]["next"]
        following = ended["run"]["next"]
    else:
        following = line(done.out, "NEXT")
    assert (done.code, "--db" in following) == (2, where != "of the environment")
    code, said = typed(house, script, following, **variables)
    assert (code, "HUMAN_REQUIRED" in said) == (3, True), (following, said)


def test_where_a_run_is_gone_on_with_is_told_as_a_command(house: House) -> None:
    done = house.run("create a.md", "--db", "own.db", command="run", executor="fake-error", ORCHESTRATOR_DB="")
    _, _, following = line(done.out, "NEXT").partition(" | ")
    assert following.startswith(f"orchestrator --db {house.base}/own.db repl --project {house.project} ")


def test_a_run_that_stopped_half_way_goes_on_in_a_later_session_as_its_next_line_says(house: House) -> None:
    told = """printf '{"status":"%s","session_id":"%s","output":"so far"}\\n' $1 $ORCHESTRATOR_SESSION_ID"""
    twice = house.program(
        f"tell() {{ {told}; }}; if [ -e notes.md ]; then echo x > more.md; tell COMPLETE;"
        " else echo x > notes.md; tell INCOMPLETE; fi"
    )
    first = house.run("create notes.md and more.md", command="run", executor=twice)
    following = re.search(r"/continue task-\d+", line(first.out, "NEXT"))
    assert following is not None, first.out
    terminal = house.sit(executor=twice)
    terminal.wait_for("orchestrator> ")
    terminal.type(f"{following[0]}\n")
    terminal.confirm()
    terminal.wait_for("[RESULT]  COMPLETE")


def test_a_hint_tells_a_question_from_what_destroys(house: House) -> None:
    hints = []
    for task in (DESTROYS, UNCLEAR):
        done = house.run(task, command="run", executor="fake-success")
        hints.append(line(done.out, "HINT"))
    half = house.scripted({"status": "INCOMPLETE", "output": "half", "writes": {"notes.md": "x"}})
    hints.append(line(house.run("create notes.md and more.md", command="run", executor=half).out, "HINT"))
    assert [hint.partition(" ")[0] for hint in hints] == ["It", "The", "What"]
    assert "destroys" in hints[0]


@pytest.mark.parametrize("task", [DESTROYS, UNCLEAR])
def test_the_status_names_the_question_that_is_open(house: House, task: str) -> None:
    done = house.run(lines=["/status", task, "/status"], executor="fake-success")
    before, after = re.findall(r"^Question:? +(.*)$", done.out, re.MULTILINE)
    question = line(done.out, "NEXT").split()[2]
    assert (before, after.partition(":")[0]) == ("-", question.partition(":")[0]), done.out
    assert after.startswith(f"{question}: ")


@pytest.mark.parametrize("command", ["run", "repl"])
def test_a_pipe_sets_no_project_up_and_is_told_what_to_type(house: House, command: str) -> None:
    """Source: seed 001, Property 2."""
    bare = house.base / "a bare one"
    bare.mkdir()
    given, lines = (("create a.md",), ()) if command == "run" else ((), ("/init",))
    done = house.run(*given, command=command, lines=lines, place=("--project", str(bare)))
    assert (done.code, list(bare.iterdir())) == (1, [])
    told = f"try: orchestrator init --project '{bare}'\n"
    assert told in done.err
    made = house.run(*shlex.split(told.removeprefix("try: orchestrator init ")), command="init", place=())
    assert (made.code, "is set up: .claude, " in made.out) == (0, True), made
    again = house.run("create a.md", command="run", place=("--project", str(bare)))
    assert "E101" not in again.err
    assert (bare / ".claude" / "settings.json").is_file()


VOLATILE = "warning: Tasks work in a temporary project, "


@pytest.mark.parametrize("command", ["run", "repl"])
@pytest.mark.parametrize("is_set_up", [True, False])
def test_P32_a_temporary_project_is_told_first_and_last_with_the_flag_that_works_here(
    house: House, command: str, is_set_up: bool
) -> None:
    if is_set_up:
        shutil.copytree(house.project / ".claude", house.base / ".claude")
    given, lines = (("what is this?",), ()) if command == "run" else ((), ("what is this?",))
    done = house.run(*given, command=command, lines=lines, place=(), executor="fake-success")
    first, *_, last = done.err.splitlines()
    assert first == last
    assert first.startswith(VOLATILE)
    flag = "--project ." if is_set_up else "orchestrator init --project . once, then --project ."
    assert first.endswith(f"To work in this folder: {flag}")


def test_P39_what_a_single_run_says_to_do_next_works_in_the_shell(house: House) -> None:
    done = house.run("create notes.md", command="run", executor="fake-error")
    following = line(done.out, "NEXT").partition(" shows")[0]
    assert following.startswith("echo '/logs task-")
    command = following.replace("orchestrator ", f"{shlex.join(house.argv('repl', place=())[:-1])} ", 1)
    shown = subprocess.run(
        ["sh", "-c", command], env=house.environment(), cwd=house.base, capture_output=True, text=True, check=False,
        timeout=60,
    )  # fmt: skip
    assert f"Task:     {line(done.out, 'TASK')}" in shown.stdout, shown
