"""The installed `repl` at a real terminal: prompt, editing, questions, progress, keys that interrupt and end."""

from __future__ import annotations

import re
import shutil
import time

import pytest

from orchestrator.doors.cli.repl.progress import CLEAR
from orchestrator.doors.cli.repl.sources import PROMPT
from tests.acceptance.replhouse import SUMMARY, House

MADE = {"status": "COMPLETE", "output": "made", "writes": {"notes.md": "words\n"}}
CTRL_D, UP = "\x04", "\x1b[A"


@pytest.fixture
def house(installed_house: House) -> House:
    return installed_house


def test_a_task_is_done_and_its_summary_shown_before_the_next_prompt(house: House) -> None:
    """Source: seed 001, Property 39."""
    desk = house.sit(executor=house.scripted(MADE))
    desk.wait_for(PROMPT)
    desk.type("create notes.md\n")
    assert SUMMARY.search(desk.wait_for(PROMPT))
    desk.type(CTRL_D)
    assert desk.ends() == 0


def test_earlier_lines_come_back_and_commands_are_completed(house: House) -> None:
    desk = house.sit()
    desk.wait_for(PROMPT)
    desk.type("/keys\n")
    desk.wait_for("ANTHROPIC_API_KEY")
    desk.wait_for(PROMPT)
    desk.type(UP + "\n")
    desk.wait_for("ANTHROPIC_API_KEY")
    desk.wait_for(PROMPT)
    desk.type("/ex\t\n")
    assert desk.ends() == 0


def test_a_question_is_shown_and_answered(house: House) -> None:
    """Source: seed 001, Property 19."""
    (house.project / "test_one.py").write_text("def test_one() -> None:\n    pass\n")
    desk = house.sit(executor=house.scripted({**MADE, "when": "notes.md"}))
    desk.wait_for(PROMPT)
    desk.type("create a file\n")
    asked = desk.wait_for(PROMPT)
    assert ("asks:" in asked, "?" in asked, "/respond" in asked, SUMMARY.search(asked)) == (True, True, True, None)
    desk.type("/respond notes.md\n")
    desk.confirm()
    found = SUMMARY.search(desk.wait_for(PROMPT))
    assert found is not None
    assert found[1] == "COMPLETE"
    desk.type("/exit\n")
    assert desk.ends() == 0


def test_a_question_that_nobody_answers_is_incomplete_in_the_end(house: House) -> None:
    desk = house.sit(executor=house.scripted(MADE))
    desk.wait_for(PROMPT)
    desk.type("fix it\n")
    desk.wait_for("asks:")
    desk.wait_for(PROMPT)
    desk.type(CTRL_D)
    assert desk.ends() == 2
    log = house.logs()[0]
    assert (log["status"], log["error_reason"]) == ("incomplete", "unanswered")


def test_long_work_shows_one_line_of_progress_and_leaves_nothing_of_it(house: House) -> None:
    desk = house.sit(executor=house.program("echo words > notes.md; sleep 2"))
    desk.wait_for(PROMPT)
    desk.type("create notes.md\n")
    during = desk.wait_for("=== TASK SUMMARY")
    assert "elapsed, last output" in during
    assert during[: during.index("Files:")].endswith(CLEAR)
    desk.wait_for(PROMPT)
    desk.type("/exit\n")
    assert desk.ends() == 0


def test_an_interrupt_stops_the_run_and_the_next_ones_leave(house: House) -> None:
    desk = house.sit(executor=house.program("touch begun; sleep 60"))
    desk.wait_for(PROMPT)
    desk.type("look at a.md\n")
    desk.wait_for("Task task-")
    while not (house.project / "begun").exists():
        time.sleep(0.02)
    desk.interrupt()
    found = SUMMARY.search(desk.wait_for(PROMPT))
    assert found is not None
    assert found[1] == "INCOMPLETE"
    desk.interrupt()
    desk.wait_for("Ctrl-C again")
    desk.wait_for(PROMPT)
    desk.interrupt()
    assert desk.ends() == 2


def test_a_window_that_is_closed_ends_the_run(house: House) -> None:
    """Source: seed 001, Property 35."""
    desk = house.sit(executor=house.program("touch begun; sleep 60"))
    desk.wait_for(PROMPT)
    desk.type("look at a.md\n")
    desk.wait_for("Task task-")
    while not (house.project / "begun").exists():
        time.sleep(0.02)
    assert desk.hang_up() in (1, 2)
    assert [log["status"] for log in house.logs()] == ["cancelled"]


def test_half_a_line_is_no_task_whatever_ends_the_input(house: House) -> None:
    """Ctrl-D in the middle of a line gives it to nobody; neither does closing the window."""
    desk = house.sit(executor=house.scripted(MADE))
    desk.wait_for(PROMPT)
    desk.type(f"create notes.md{CTRL_D}")
    desk.type("\x15/exit\n")
    assert desk.ends() == 0
    gone = house.sit(executor=house.scripted(MADE))
    gone.wait_for(PROMPT)
    gone.type("create notes.md")
    gone.wait_for("notes.md")
    gone.hang_up()
    assert (house.project / "notes.md").exists() is False


def test_a_program_cannot_ask_at_the_operator_s_terminal(house: House) -> None:
    """Source: seed 001, Property 34."""
    desk = house.sit(executor=house.program("(echo 'Password: ' > /dev/tty) 2>/dev/null || echo words > notes.md"))
    desk.wait_for(PROMPT)
    desk.type("create notes.md\n")
    shown = desk.wait_for(PROMPT)
    assert ("Password" in shown, (house.project / "notes.md").exists()) == (False, True)
    desk.type("/exit\n")
    assert desk.ends() == 0


def test_without_a_project_a_person_can_set_one_up(house: House) -> None:
    """Source: seed 001, Property 2."""
    bare = house.base / "bare"
    bare.mkdir()
    desk = house.sit(place=("--project", str(bare)), executor=house.scripted(MADE))
    desk.wait_for(PROMPT)
    desk.type("create notes.md\n")
    assert "E101" in desk.wait_for(PROMPT)
    desk.type("/init\n")
    desk.wait_for(PROMPT)
    assert (bare / ".claude" / "settings.json").exists()
    desk.type("create notes.md\n")
    assert SUMMARY.search(desk.wait_for(PROMPT))
    desk.type("/exit\n")
    assert desk.ends() == 1


def test_a_person_may_be_left_out(house: House) -> None:
    desk = house.sit("--non-interactive", executor=house.scripted(MADE))
    desk.type("create notes.md\n/exit\n")
    assert desk.ends() == 0
    assert PROMPT not in desk.shown
    assert SUMMARY.search(desk.shown)


def test_colours_are_used_nowhere(house: House) -> None:
    desk = house.sit(executor=house.scripted(MADE), NO_COLOR="1", TERM="dumb")
    desk.wait_for(PROMPT)
    desk.type("create notes.md\n")
    assert "\x1b" not in desk.wait_for(PROMPT)
    desk.type("/exit\n")
    assert desk.ends() == 0


def test_unfinished_work_goes_on_when_it_is_approved(house: House) -> None:
    """Source: seed 001, Property 16."""
    part = {"status": "INCOMPLETE", "output": "half of it", "writes": {"notes.md": "half\n"}}
    desk = house.sit(executor=house.scripted(part, MADE))
    desk.wait_for(PROMPT)
    desk.type("create notes.md\n")
    assert "[RESULT]  INCOMPLETE" in desk.wait_for(PROMPT)
    desk.type("/approve\n")
    desk.confirm()
    assert "[RESULT]  COMPLETE" in desk.wait_for(PROMPT)
    desk.type("/exit\n")
    assert desk.ends() == 0


def test_what_cannot_be_undone_is_confirmed_by_a_person(house: House) -> None:
    """Source: seed 000, INV-2."""
    (house.project / "build").mkdir()
    (house.project / "build" / "old.md").touch()
    desk = house.sit(executor=house.scripted({"status": "COMPLETE", "output": "removed", "deletes": ["build/old.md"]}))
    desk.wait_for(PROMPT)
    desk.type("run rm -rf build/old.md\n")
    assert "YES/NO" in desk.wait_for(PROMPT)
    desk.type("/respond perhaps\n")
    assert "ERROR: Answer yes or no." in desk.wait_for(PROMPT)
    desk.type("/respond yes\n")
    desk.confirm()
    assert "[RESULT]  COMPLETE" in desk.wait_for(PROMPT)
    desk.type("/exit\n")
    assert desk.ends() == 1


def test_a_code_that_is_not_typed_proves_nobody(house: House) -> None:
    desk = house.sit(executor=house.scripted(MADE))
    desk.wait_for(PROMPT)
    desk.type("fix it\n")
    desk.wait_for(PROMPT)
    desk.type("/respond notes.md\n")
    desk.wait_for("to confirm: ")
    desk.type("WRONG\n")
    said = desk.wait_for(PROMPT)
    assert "ERROR: HUMAN_REQUIRED" in said
    assert "HINT: Type /respond notes.md again, then what it asks for" in said
    desk.type("/respond notes.md\n")
    desk.wait_for("to confirm: ")
    desk.interrupt()
    desk.wait_for(PROMPT)
    desk.type("/exit\n")
    assert desk.ends() == 1


@pytest.mark.parametrize(
    ("line", "said"),
    [("/approve", "There is no unfinished work"), ("/respond yes", "No run asks anything"), ("/continue T9", "T9")],
    ids=["approve", "respond", "continue"],
)  # fmt: skip
def test_nobody_is_asked_for_a_code_where_there_is_nothing_to_do(house: House, line: str, said: str) -> None:
    desk = house.sit(executor=house.scripted(MADE))
    desk.wait_for(PROMPT)
    desk.type("/start\n")
    desk.wait_for(PROMPT)
    desk.type(f"{line}\n")
    shown = desk.wait_for(PROMPT)
    assert (said in shown, "to confirm" in shown) == (True, False), shown
    desk.type("/exit\n")
    desk.ends()


@pytest.mark.parametrize("left", [(), ("agents",)], ids=["empty", "half of it"])
def test_init_makes_what_is_missing_where_no_file_is_in_its_way(house: House, left: tuple[str, ...]) -> None:
    """Source: seed 001, Property 2."""
    shutil.rmtree(house.project / ".claude")
    for name in ("", *left):
        (house.project / ".claude" / name).mkdir()
    with_pipe = house.run(lines=["/init"])
    assert (with_pipe.code, "error E103" in with_pipe.err) == (1, True)
    terminal = house.sit()
    terminal.wait_for("/init sets it up")
    terminal.type("/init\n")
    terminal.wait_for("is set up: ")
    terminal.type("/tasks\n/exit\n")
    assert terminal.ends() == 0
    assert house.run(lines=["/tasks"]).code == 0


def test_where_a_file_is_in_the_way_of_init_the_lines_to_type_are_said(house: House) -> None:
    """Source: seed 001, Property 2."""
    (house.project / ".claude" / "rules").rmdir()
    (house.project / ".claude" / "rules").touch()
    terminal = house.sit()
    assert terminal.ends() == 1
    inner = house.project / ".claude"
    aside = f"try: mv {inner}/rules {inner}/rules.aside && orchestrator init --project {house.project}\n"
    assert f"{inner}/rules is not a folder.\n{aside}" in re.sub(r"\x1b\[\d*m", "", terminal.shown)


@pytest.mark.parametrize(("answer", "works_here"), [("y", True), ("", False), ("no", False)])
def test_P32_in_a_repository_a_person_who_names_no_project_is_asked_once(
    house: House, answer: str, works_here: bool
) -> None:
    shutil.copytree(house.project / ".claude", house.base / ".claude")
    (house.base / ".git").mkdir()
    desk = house.sit(place=(), executor=house.scripted(MADE))
    assert f"Work here, in {house.base}?" in desk.wait_for("in a temporary folder) ")
    desk.type(f"{answer}\n")
    desk.wait_for(PROMPT)
    desk.type("create notes.md\n")
    desk.wait_for(PROMPT)
    assert (house.base / "notes.md").exists() == works_here
    desk.type("/exit\n")
    desk.ends()
    assert desk.shown.count("Work here") == 1


@pytest.mark.parametrize(("place", "has_git"), [((), False), (("--project-mode", "temp"), True)])
def test_P32_nobody_is_asked_outside_of_a_repository_or_where_the_place_is_named(
    house: House, place: tuple[str, ...], has_git: bool
) -> None:
    if has_git:
        (house.base / ".git").mkdir()
    desk = house.sit(place=place, executor=house.scripted(MADE))
    desk.wait_for(PROMPT)
    desk.type("/exit\n")
    desk.ends()
    assert "Work here" not in desk.shown
