"""What a real program does behind the runner's back is noticed, ended or hidden; nothing of it counts as work."""

from __future__ import annotations

import gzip
import json
import os
import pathlib
import re
import signal
import sqlite3
import sys
import time

import pytest

from tests.acceptance import replhouse
from tests.acceptance.replhouse import House

TASK = "create notes.md"


def python(house: House, text: str, name: str = "program.py") -> str:
    """An executor that is a program in Python, whose working folder is the project."""
    path = house.base / name
    path.write_text(f"#!{sys.executable}\nimport os, pathlib, subprocess, sys, time\n{text}\n")
    path.chmod(0o755)
    return f"command:{path}"


def written(house: House) -> list[bytes]:
    """All that the runner has written into the project, as it was before it was compressed."""
    files = [path for path in house.project.glob(".orchestrator/**/*") if path.is_file()]
    return [gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes() for path in files]


# --- keys


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_s08_a_key_that_the_kill_cut_after_its_first_letters_is_masked(house: House, stream: str) -> None:
    """Source: seed 001, Property 25."""
    cut = "sk-ant-a"
    executor = python(house, f"sys.{stream}.write('the key is {cut}'); sys.{stream}.flush(); time.sleep(600)")
    done = house.run("--executor-timeout", "1500", lines=["/start", TASK, "/logs --full", "/exit"], executor=executor)
    assert done.results == ["ERROR"]
    raw = written(house)
    assert any(b"the key is [MASKED:ANTHROPIC_KEY]" in each for each in raw)
    assert not any(cut.encode() in each for each in (*raw, (house.base / "orchestrator.db").read_bytes()))
    assert cut not in done.out + done.err


# --- the database

NOWHERE = {"the flag": (("--db", "nowhere/here.db"), {}), "the variable": ((), {"ORCHESTRATOR_DB": "nowhere/here.db"})}


@pytest.mark.parametrize("call", ["run", "repl"])
@pytest.mark.parametrize(("flags", "variables"), NOWHERE.values(), ids=NOWHERE)
def test_no_folder_is_made_for_a_database_that_somebody_names(
    house: House, call: str, flags: tuple[str, ...], variables: dict[str, str]
) -> None:
    executor = python(house, "pathlib.Path('notes.md').write_text('x'); print('made notes.md')")
    lines, task = (["/start", TASK, "/exit"], ()) if call == "repl" else ([], (TASK,))
    done = house.run(*task, *flags, command=call, lines=lines, executor=executor, **variables)
    path = house.base / "nowhere" / "here.db"
    why = f"named by {'--db' if flags else 'ORCHESTRATOR_DB'}"
    assert f"NO_DATABASE: The database {path} ({why}) does not exist." in done.err + done.out
    assert f"orchestrator init --db {path}" in done.err + done.out
    assert (done.code, path.parent.exists(), (house.project / "notes.md").exists()) == (1, False, False)


def test_a_named_database_is_made_where_its_folder_exists_and_is_one_from_here(house: House) -> None:
    executor = python(house, "pathlib.Path('notes.md').write_text('x'); print('made notes.md')")
    for task in (TASK, "create notes.md anew"):
        assert house.run(task, "--db", "here.db", command="run", executor=executor).code in (0, 2)
    assert (house.base / "here.db").is_file()
    assert not (house.project / "here.db").exists()


@pytest.mark.parametrize("named", ["", "project/.orchestrator/orchestrator.db"], ids=["found", "named"])
def test_the_default_database_is_made_with_its_folder(house: House, named: str) -> None:
    executor = python(house, "pathlib.Path('notes.md').write_text('x'); print('made notes.md')")
    done = house.run(TASK, command="run", executor=executor, ORCHESTRATOR_DB=named)
    assert (done.code, (house.project / ".orchestrator" / "orchestrator.db").is_file()) == (0, True), done.err


# --- checks that run after the executor

SLOW_CHECK = """
child = subprocess.Popen(
    [sys.executable, "-c", "import os, time; os.setsid(); print(os.getpid(), flush=True); time.sleep(600)"],
    stdout=subprocess.PIPE,
)
pathlib.Path("check.pid").write_text(f"{os.getpid()} {int(child.stdout.readline())}")
time.sleep(600)
"""


def alive(number: int) -> bool:
    """Whether a process runs; one that nobody has reaped yet runs no more."""
    try:
        return pathlib.Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def appeared(path: pathlib.Path) -> str:
    """Wait for a file to have been written, and read it."""
    until = time.monotonic() + replhouse.DEADLINE_S
    while not (path.exists() and path.read_text()):
        assert time.monotonic() < until, f"{path} does not appear"
        time.sleep(0.02)
    return path.read_text()


@pytest.mark.parametrize("call", ["run", "repl"])
def test_an_interrupt_ends_the_checks_with_all_their_processes_and_cancels_the_run(house: House, call: str) -> None:
    """Source: seed 001, Properties 29 and 35."""
    check = python(house, SLOW_CHECK, "check.py").removeprefix("command:")
    settings = {"orchestrator": {"detection": {"checks": {"tests": [[check]]}}}}
    (house.project / ".claude" / "settings.json").write_text(json.dumps(settings))
    executor = python(house, "pathlib.Path('a.py').write_text('A = 1\\n'); print('made a.py')")
    flags = ("implement a.py",) if call == "run" else ()
    with house.start(*flags, command=call, executor=executor) as process:
        assert process.stdin is not None
        if call == "repl":
            process.stdin.write(b"/start\nimplement a.py\n")
            process.stdin.flush()
        numbers = [int(number) for number in appeared(house.project / "check.pid").split()]
        begun = time.monotonic()
        process.send_signal(signal.SIGINT)
        process.stdin.close()
        code = process.wait(20)
        seconds = time.monotonic() - begun
    assert (code, [alive(number) for number in numbers]) == (2, [False, False])
    assert seconds < 10
    log, = house.logs()
    assert (log["status"], log["error_reason"]) == ("cancelled", "The run was cancelled.")


# --- settings and records

MADE = "pathlib.Path('notes.md').write_text('x'); print('made notes.md')"
SESSION = "next(pathlib.Path('.orchestrator/sessions').glob('*'))"
TOUCHED = {
    "ours": ("pathlib.Path('orchestrator.json').write_text('{}')", "orchestrator.json (new)"),
    "settings": ("pathlib.Path('.claude/settings.json').write_text('{ }')", ".claude/settings.json (changed)"),
    "permissions": (
        "pathlib.Path('.claude/settings.local.json').write_text('{}')", ".claude/settings.local.json (new)",
    ),
    "an agent": ("pathlib.Path('.claude/agents/dev.md').write_text('x')", ".claude/agents/dev.md (new)"),
    "the pointers": (
        """pathlib.Path('.claude/repl.json').write_text('{"current_task_id": null, "last_task_id": "task-1"}')""",
        ".claude/repl.json (changed)",
    ),
    "no pointers": ("pathlib.Path('.claude/repl.json').unlink()", ".claude/repl.json (deleted)"),
    "spoilt pointers": ("pathlib.Path('.claude/repl.json').write_text('{')", ".claude/repl.json (changed)"),
    "a folder": ("pathlib.Path('.claude/rules').rmdir()", ".claude/rules/ (deleted)"),
    "the guide": ("pathlib.Path('.claude/CLAUDE.md').unlink()", ".claude/CLAUDE.md (deleted)"),
    "records": (
        "import shutil; shutil.move('.orchestrator', '../away'); os.mkdir('.orchestrator')", ".orchestrator (replaced)",
    ),
    "the log before": (
        f"log = {SESSION} / 'logs/task-001.json'; log.write_text(log.read_text() + ' ')", "task-001.json (changed)",
    ),
    "output before": (f"next({SESSION}.glob('evidence/raw/*-execute.log.gz')).unlink()", "-execute.log.gz (deleted)"),
}  # fmt: skip


@pytest.mark.parametrize(("act", "told"), TOUCHED.values(), ids=TOUCHED)
def test_p1_who_touches_settings_or_records_has_completed_nothing(house: House, act: str, told: str) -> None:
    """Source: seed 001, Properties 1, 2, 10 and 21."""
    first = "pathlib.Path('first.md').write_text('x'); print('made'); sys.exit()"
    executor = python(house, f"if sys.argv[1] == 'create first.md':\n    {first}\n{act}\n{MADE}")
    done = house.run(lines=["/start", "create first.md", TASK, "/logs task-002 --full", "/exit"], executor=executor)
    assert (done.code, done.results) == (1, ["COMPLETE", "ERROR"]), done.out
    assert done.whys[1].startswith("What no executor may touch was touched, by it or by somebody meanwhile: ")
    assert "[NEXT]    /logs task-" in done.out
    assert "[HINT]    If you edited it yourself, enter the task again; otherwise restore it" in done.out
    assert told in done.whys[1]
    connection = sqlite3.connect(house.base / "orchestrator.db")
    kept = connection.execute("SELECT executor_status, state, error_code FROM runs ORDER BY created_seq").fetchall()
    violations = connection.execute("SELECT type, limit_value FROM run_violations").fetchall()
    connection.close()
    assert kept == [("COMPLETE", "complete", None), ("INVALID", "error", "E501")]
    assert violations == [("touched_files", 0)]
    assert told in done.out.partition("FULL")[2] or told in json.dumps([log["events"] for log in house.logs()])


EARLIER = ("evidence/raw/*", "evidence/evidence_index.json", "logs/index.json", "report.json")


@pytest.mark.parametrize("name", EARLIER)
def test_p21_who_rewrites_what_an_earlier_session_left_has_completed_nothing(house: House, name: str) -> None:
    first = house.run("create first.md", command="run", executor=house.program("echo x > first.md; echo made"))
    assert first.results == ["COMPLETE"]
    forging = f"for f in .orchestrator/sessions/*/{name}; do echo forged > $f; done; echo x > notes.md; echo made"
    told = f".orchestrator/sessions/*/{name} (changed)"
    done = house.run(TASK, command="run", executor=house.program(forging))
    assert (done.code, done.results) == (1, ["ERROR"]), done.out
    assert re.search(re.escape(told).replace(re.escape("*"), "[^/]*"), done.whys[0]), done.whys


def test_p21_a_loop_that_ends_beside_a_run_has_written_in_its_own_session_alone(house: House) -> None:
    """A loop holds its session open, so that the report that it writes at its end is nobody's forgery."""
    loop = house.start("--json", executor=house.program("echo x > first.md; echo made"))
    assert loop.stdin is not None
    assert loop.stdout is not None
    loop.stdin.write(b"create first.md\nrm -rf build\n")
    loop.stdin.flush()
    for _ in range(4):
        loop.stdout.readline()
    waits = f"echo x > {house.base}/begun; while [ ! -e {house.base}/over ]; do sleep 0.02; done"
    slow = f"{waits}; echo x > notes.md; echo made"
    run = house.start(TASK, "--json", command="run", executor=house.program(slow))
    appeared(house.base / "begun")
    loop.communicate(timeout=replhouse.DEADLINE_S)
    (house.base / "over").touch()
    out, err = run.communicate(timeout=replhouse.DEADLINE_S)
    assert run.returncode == 0, (out, err)
    assert len(list(house.project.glob(".orchestrator/sessions/*/report.json"))) == 2


OUTPUT = {
    "deleted": ("path.unlink()", "EVIDENCE_DELETED: the evidence "),
    "longer": ("path.write_text('a better output')", "the evidence of the output was touched by somebody else"),
    "replaced": ("path.unlink(); path.write_text('')", "the evidence of the output was touched by somebody else"),
}


@pytest.mark.parametrize(("act", "said"), OUTPUT.values(), ids=OUTPUT)
def test_p21_who_touches_the_evidence_of_its_own_output_has_completed_nothing(
    house: House, act: str, said: str
) -> None:
    text = f"path = next({SESSION}.glob('evidence/raw/*-execute.log'))\n{act}\n{MADE}"
    done = house.run(lines=["/start", TASK, "/exit"], executor=python(house, text))
    assert (done.code, done.results) == (1, ["ERROR"]), done.out
    assert said in done.whys[0]


def test_what_says_nothing_to_agents_may_be_written_beside_the_settings(house: House) -> None:
    act = "pathlib.Path('.claude/cache').mkdir(); pathlib.Path('.claude/cache/x').write_text('x')"
    done = house.run(lines=["/start", TASK, "/exit"], executor=python(house, f"{act}\n{MADE}"))
    assert (done.code, done.results) == (0, ["COMPLETE"])


GONE = {
    "deleted": "pathlib.Path({path!r}).unlink()",
    "replaced": "import shutil; shutil.copy({path!r}, 'copy.db'); os.replace('copy.db', {path!r})",
    "without its log": "pathlib.Path({path!r} + '-wal').unlink()",
    "with its folder": "import shutil; shutil.rmtree(os.path.dirname({path!r}))",
}


@pytest.mark.parametrize("call", ["run", "repl"])
@pytest.mark.parametrize("act", GONE.values(), ids=GONE)
def test_a_database_that_is_gone_when_the_executor_has_ended_ends_it_all(house: House, act: str, call: str) -> None:
    """Source: seed 001, Properties 9, 26 and 29."""
    path = house.project / ".orchestrator" / "orchestrator.db"
    house.run("task that says nothing", command="run", executor="fake-success", ORCHESTRATOR_DB=str(path))
    before = len(house.logs())
    executor = python(house, f"{act.format(path=str(path))}\n{MADE}")
    lines, task = (["/start", TASK, "create more.md", "/exit"], ()) if call == "repl" else ([], (TASK,))
    done = house.run(*task, command=call, lines=lines, executor=executor, ORCHESTRATOR_DB=str(path))
    assert (done.code, done.results) == (1, []), done.out
    assert f"NO_DATABASE: The database {path} " in done.err
    assert "while it was open" in done.err
    assert len(house.logs()) <= before
    assert "COMPLETE" not in done.out


# --- what Claude Code is told

CLAUDE = """
import json
import os
session = sys.argv[sys.argv.index("--session-id") + 1]
said = {"arguments": sys.argv[1:], "stdin": sys.stdin.read(), "rest": sys.stdin.read()}
pathlib.Path(__file__).with_name("said.json").write_text(json.dumps(said))
pathlib.Path("notes.md").write_text("x") if "acceptEdits" in sys.argv else None
told = {"type": "result", "subtype": "success", "is_error": False, "result": "It is.", "session_id": session}
print(json.dumps(told))
"""


@pytest.mark.parametrize(
    ("type_", "mode"),
    [("READ_INFO", "default"), ("REPORT", "default"), ("LIGHT_EDIT", "acceptEdits"), ("IMPLEMENTATION", "acceptEdits")],
)
def test_claude_code_may_write_only_where_the_task_is_to_write_and_its_prompt_is_nobody_elses(
    house: House, type_: str, mode: str
) -> None:
    """Source: seed 001, Properties 23, 24 and 34."""
    python(house, CLAUDE, "claude")
    task = "create notes.md by the secret plan" if mode == "acceptEdits" else "explain the secret plan"
    path = f"{house.base}{os.pathsep}{os.environ['PATH']}"
    done = house.run("--type", type_, task, command="run", executor="claude-code", PATH=path)
    assert (done.code, done.results) == (0, ["COMPLETE"]), done.out + done.err
    said = json.loads((house.base / "said.json").read_text())
    assert (said["stdin"], said["rest"]) == (task, "")
    assert "secret" not in " ".join(said["arguments"])
    given = said["arguments"]
    assert given[given.index("--permission-mode") + 1] == mode
    assert ("--disallowedTools" in given) == (mode == "default")
