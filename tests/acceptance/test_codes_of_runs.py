"""Codes of phases, of gates and of people as a user meets them: through the installed command and real executors."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.acceptance.replhouse import House

PHASES = ("REQUIREMENT_ANALYSIS", "TASK_DECOMPOSITION", "PLANNING")
NO_TERMINAL = (
    "HINT: orchestrator repl --project {project}, and there /continue {run}, at your own terminal; a script starts"
    " with --human-token-file FILE"
)


def phases(log: dict[str, Any]) -> list[str]:
    """What the log of a run says of its phases behind the first three, which it always passes."""
    texts = [event["text"] for event in log["events"] if event["kind"] == "phase"]
    assert texts[:3] == [f"{phase}: passed" for phase in PHASES]
    return texts[3:]


ENDS = {
    "an executor that fails": ("exit 3", ["EXECUTION: E201 EXECUTION failed and cannot be tried again."]),
    "one that is killed": ("kill -9 $$", ["EXECUTION: E201 EXECUTION failed and cannot be tried again."]),
    "one that names another session": (
        """echo '{"status":"COMPLETE","session_id":"other","output":"It is."}'""",
        ["EXECUTION: E201 EXECUTION failed and cannot be tried again."],
    ),
    "one that makes nothing": (
        "echo done",
        [
            "EXECUTION: passed", "QA: passed",
            "COMPLETION_VALIDATION: E210 COMPLETION_VALIDATION: the evidence is not verified.",
        ],
    ),
    "one that does it": (
        "echo x > notes.md",
        ["EXECUTION: passed", "QA: passed", "COMPLETION_VALIDATION: passed", "REPORT: passed"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("program", "expected"), ENDS.values(), ids=ENDS)
def test_p4_the_log_says_in_which_phase_a_run_ended_and_by_which_code(
    house: House, program: str, expected: list[str]
) -> None:
    """Source: seed 001, Property 4."""
    done = house.run(lines=["create notes.md", "/logs task-001 --full", "/exit"], executor=house.program(program))
    (log,) = house.logs()
    assert phases(log) == expected
    for text in expected:
        assert text in done.out


def test_p4_a_failing_check_fails_the_gate_of_qa(house: House) -> None:
    (house.project / "tests").mkdir()
    (house.project / "tests/test_a.py").write_text("def test_a():\n    assert False\n")
    (house.project / "pyproject.toml").write_text("[tool.pytest.ini_options]\n")
    house.run("fix app.py", "--type", "IMPLEMENTATION", command="run", executor=house.program("echo 'x = 1' > app.py"))
    (log,) = house.logs()
    assert phases(log) == ["EXECUTION: passed", "QA: E210 QA: tests failed: exit 1 (python3 -m pytest)."]


LIES = {
    "blank words": {"status": "INCOMPLETE", "output": " ", "error": "  "},
    "words that nobody sees": {"status": "ERROR", "output": "\u200b", "error": "\u200b\u2060"},
    "files without end": {"status": "COMPLETE", "output": "done", "files": [f"f{number}.md" for number in range(5000)]},
    "totals of its own": {"status": "COMPLETE", "output": "done", "totals": {"tasks": 9}, "tasks": [{"x": 1}]},
    "no status": {"output": "done"},
}


@pytest.mark.parametrize("result", LIES.values(), ids=LIES)
def test_p10_whatever_an_executor_says_the_report_is_whole(house: House, result: dict[str, Any]) -> None:
    """Source: seed 001, Properties 10 and 15. E208 would be a fault of the runner: it counts by itself."""
    path = house.base / "result.json"
    path.write_text(json.dumps(result)[:-1])
    program = f"cat {path}; printf ',\"session_id\":\"%s\"}}\\n' \"$ORCHESTRATOR_SESSION_ID\""
    done = house.run(lines=["create notes.md", "/exit"], executor=house.program(program))
    assert "E208" not in done.out + done.err
    (report,) = house.project.glob(".orchestrator/sessions/*/report.json")
    found = json.loads(report.read_bytes())
    assert (found["totals"]["total"], len(found["tasks"])) == (1, 1)
    assert set(found["incomplete_task_reasons"]) == {found["tasks"][0]["task_id"]}
    assert all(reason.strip() for reason in found["incomplete_task_reasons"].values())


def test_p16_a_script_is_told_where_a_person_lets_work_go_on(house: House) -> None:
    half = """echo x > notes.md; printf '{"status":"INCOMPLETE","session_id":"%s","output":"half"}' """
    done = house.run(
        lines=["create notes.md", "/approve", "/exit"], executor=house.program(f'{half} "$ORCHESTRATOR_SESSION_ID"')
    )
    (log,) = house.logs()
    assert "ERROR: HUMAN_REQUIRED" in done.out
    assert NO_TERMINAL.format(project=house.project, run=log["external_task_id"]) in done.out


@pytest.mark.parametrize("harm", ["mkdir {}", "echo '[bad' > {}", "ln -s x {}"])
def test_p39_who_spoils_the_file_that_names_the_running_task_has_a_summary_all_the_same(
    house: House, harm: str
) -> None:
    """Source: seed 001, Properties 1, 38 and 39."""
    done = house.run(
        lines=["create notes.md", "/tasks", "/exit"],
        executor=house.program(f"rm -f .claude/repl.json; {harm.format('.claude/repl.json')}; echo x > notes.md"),
    )
    (why,) = done.whys
    assert (done.code, done.results) == (1, ["ERROR"])
    assert why.startswith("What no executor may touch was touched")
    assert ".claude/repl.json (" in why
    assert "[log: task-001]" in done.out.rpartition("====================")[2]
