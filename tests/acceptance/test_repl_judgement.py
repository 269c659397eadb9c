"""The installed `run` and `repl`: what is ordered by name has to be done, and what destroys is confirmed first."""

from __future__ import annotations

import json
import sqlite3

import pytest

from tests.acceptance import replhouse
from tests.acceptance.replhouse import House


@pytest.fixture
def house(house: House) -> House:
    (house.project / "README.md").write_text("# Words\n")
    (house.project / "notes.txt").write_text("a bug\n")
    return house


TASK = "create notes.md"
JUNK = "echo x > junk.txt; echo done"
ROWS = [
    pytest.param("Create docs/x.md", JUNK, "INCOMPLETE", id="something else was made"),
    pytest.param("docs/x.mdを作成", JUNK, "INCOMPLETE", id="in Japanese"),
    pytest.param("Create docs/x.md and docs/y.md", f"mkdir docs; echo x > docs/x.md; {JUNK}", "INCOMPLETE",
                 id="one of two"),
    pytest.param("Update README.md", JUNK, "INCOMPLETE", id="something else was changed"),
    pytest.param("Write the report to docs/report.md", "echo The report: all is well.", "INCOMPLETE",
                 id="told and not written"),
    pytest.param("Create docs/x.md", f"mkdir docs; echo x > docs/x.md; {JUNK}", "COMPLETE", id="made"),
    pytest.param("Update README.md", "echo x >> README.md; echo done", "COMPLETE", id="changed"),
    pytest.param("create notes.md quickly", JUNK, "INCOMPLETE", id="words behind the name"),
    pytest.param("Create: notes.md", JUNK, "INCOMPLETE", id="a colon before the name"),
    pytest.param("README.mdに一行追加して", JUNK, "INCOMPLETE", id="no blanks around the name"),
    pytest.param("replace Words with Text in README.md", JUNK, "INCOMPLETE", id="a place that is named"),
    pytest.param("delete notes.txt quickly", JUNK, "INCOMPLETE", id="something else than a deletion"),
    pytest.param("update README.md", "touch README.md; chmod 600 README.md; echo done", "NO_EVIDENCE", id="touched"),
    pytest.param("update README.md", "cp README.md x && mv x README.md; echo done", "NO_EVIDENCE", id="the same bytes"),
    pytest.param("create a folder called out", "mkdir out; echo done", "COMPLETE", id="a folder"),
    pytest.param("create a folder called out", JUNK, "INCOMPLETE", id="no folder"),
    pytest.param("create a changelog", "echo x > CHANGES.txt; echo done", "COMPLETE", id="a name without a kind"),
    pytest.param("explain README.md", "echo It holds words.", "COMPLETE", id="a question about a file"),
    pytest.param("fix the bug described in notes.txt", JUNK, "COMPLETE", id="a file that says what to do"),
    pytest.param("add a page about README.md", JUNK, "COMPLETE", id="a file that it is about"),
]  # fmt: skip


@pytest.mark.parametrize(("task", "program", "status"), ROWS)
def test_the_ordered_file_decides(task: str, program: str, status: str, house: House) -> None:
    """Source: seed 001, Properties 8, 26 and 31."""
    done = house.run(task, "--json", command="run", executor=house.program(program))
    answer = json.loads(done.out)
    assert (answer["run"]["executor_status"], done.code) == (status, 0 if status == "COMPLETE" else 2), answer


def test_the_summary_says_which_file_is_missing(house: House) -> None:
    done = house.run(lines=["Create docs/x.md"], executor=house.program(JUNK))
    assert (done.code, done.results) == (2, ["INCOMPLETE"])
    assert "[WHY]     docs/x.md was not created. Touched and not mentioned: junk.txt. Continue this task?" in done.out


@pytest.mark.parametrize("task", ["format the disk", "delete all files", "wipe the database", "本番DBをdrop"])
def test_what_destroys_calls_no_executor_before_somebody_agrees(task: str, house: House) -> None:
    """Source: seed 000, INV-2."""
    done = house.run(task, "--json", command="run", executor=house.program(f"touch {house.base}/called"))
    run = json.loads(done.out)["run"]
    assert (run["task_type"], run["executor_status"], done.code) == ("DANGEROUS_OP", "BLOCKED", 2)
    assert not (house.base / "called").exists()


def test_a_task_over_its_limits_is_done_in_parts_by_the_program(house: House) -> None:
    """Source: seed 001, Property 14."""
    (house.project / ".claude" / "settings.json").write_text('{"orchestrator": {"task_limits": {"files": 2}}}')
    program = "case \"$*\" in *'part 1 of 2'*) touch a.md b.md;; *'part 2 of 2'*) touch c.md;; esac; echo done"
    done = house.run(lines=["create a.md, b.md and c.md", "/logs task-001"], executor=house.program(program))
    assert (done.code, done.results) == (0, ["COMPLETE"]), done.out
    assert [line for line in done.out.splitlines() if "part " in line and "of 2" in line]
    for_itself = house.run(lines=["create d.md, e.md and f.md"], executor=house.program("touch d.md e.md f.md"))
    assert (for_itself.code, for_itself.results) == (1, ["ERROR"])


def test_what_became_of_each_file_is_told(house: House) -> None:
    """Source: seed 001, Property 39."""
    program = house.program("rm notes.txt; echo x >> README.md; echo x > new.md; echo done")
    done = house.run(lines=["update README.md, add new.md and delete notes.txt"], executor=program)
    assert "Files: README.md (changed), new.md (new), notes.txt (deleted)\n" in done.out
    assert "[WHY]     2 files verified on the disk; deleted as ordered: notes.txt.\n" in done.out
    assert len(replhouse.SUMMARY.findall(done.out)) == 1
    gone = house.run(lines=["delete new.md"], executor=house.program("rm new.md"))
    assert "Files: new.md (deleted)\n" in gone.out
    assert "[WHY]     Deleted as ordered: new.md.\n" in gone.out


def test_of_a_log_as_json_only_the_secrets_are_masked(house: House) -> None:
    """Source: seed 001, Property 25."""
    said = "first\nAPI_KEY=abcdefghijkl\nDEBUG=1\nlast"
    program = house.program(f"cat <<'END'\n{said}\nEND")
    done = house.run(lines=["explain README.md", "/logs task-001 --full --json"], executor=program)
    shown = json.loads(next(line for line in done.out.splitlines() if line.startswith("{")))
    assert shown["output"].strip() == said.replace("abcdefghijkl", "[MASKED:ENV_CREDENTIAL]")


@pytest.mark.parametrize("command", ["run", "repl"])
def test_in_a_project_that_cannot_be_written_no_session_begins(command: str, house: House) -> None:
    (house.project / ".orchestrator").write_text("no folder")
    flags = (TASK,) if command == "run" else ()
    done = house.run(*flags, lines=[TASK], command=command, executor=house.program("echo x > notes.md; echo done"))
    assert done.code == 1
    with sqlite3.connect(house.database) as connection:
        assert connection.execute("SELECT count(*) FROM sessions WHERE kind = 'chat'").fetchone() == (0,)
    assert not (house.project / "notes.md").exists()
