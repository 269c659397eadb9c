"""A runner that is killed leaves nothing that waits for it: the next one ends its run, and takes place and locks."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import time

import pytest

from tests.conftest import long_form

pytestmark = pytest.mark.slow


@pytest.fixture
def project(tmp_path: pathlib.Path) -> pathlib.Path:
    folder = tmp_path / "project"
    for name in ("agents", "rules"):
        (folder / ".claude" / name).mkdir(parents=True)
    (folder / ".claude" / "CLAUDE.md").write_text("")
    (folder / ".claude" / "settings.json").write_text("{}")
    return folder


def program(folder: pathlib.Path, body: str) -> str:
    path = folder / "program.py"
    path.write_text(f"#!{sys.executable}\nimport os, pathlib, sys, time\n{body}\n")
    path.chmod(0o755)
    return f"command:{path}"


def repl(script: pathlib.Path, project: pathlib.Path, executor: str) -> list[str]:
    return [
        sys.executable, str(script), "repl", "--non-interactive", "--project-mode", "fixed",
        "--project-root", str(project), "--executor", executor,
    ]  # fmt: skip


def wait_for(condition: object, seconds: float = 30.0) -> None:
    assert callable(condition)
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.05)


def states(environment: dict[str, str]) -> list[tuple[str, ...]]:
    path = pathlib.Path(environment["ORCHESTRATOR_DB"])
    if not path.exists():
        return []
    connection = sqlite3.connect(path)
    try:
        return connection.execute("SELECT state, error_code, error_reason FROM runs ORDER BY created_seq").fetchall()
    except sqlite3.OperationalError:
        return []
    finally:
        connection.close()


def test_p6_the_next_runner_ends_the_run_of_a_killed_one_and_goes_on(
    script: pathlib.Path, environment: dict[str, str], project: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    sleeper = program(tmp_path, "print('begun', flush=True)\ntime.sleep(600)")
    first = subprocess.Popen(
        repl(script, project, sleeper), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, env=environment, text=True,
    )  # fmt: skip
    assert first.stdin is not None
    first.stdin.write("/start\nCreate slow.md\n")
    first.stdin.flush()
    named = project / ".claude" / "repl.json"
    # The database is told first, the project's file right after it.
    wait_for(lambda: [state for state, *_ in states(environment)] == ["running"] and named.exists())
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    with contextlib.suppress(BrokenPipeError):
        first.stdin.close()
    lost = json.loads(named.read_bytes())["current_task_id"]
    called(script, environment, "repl", "--project", str(project), "--non-interactive", said="/start\n")
    assert json.loads(named.read_bytes()) == {"current_task_id": None, "last_task_id": lost}
    quick = program(tmp_path, "pathlib.Path('quick.md').write_text('x'); print('made quick.md')")
    second = subprocess.run(
        repl(script, project, quick), input="/start\nCreate quick.md\n/exit\n", capture_output=True,
        text=True, env=environment, timeout=60, check=False,
    )  # fmt: skip
    assert second.returncode == 0, second.stdout + second.stderr
    found = states(environment)
    assert [state for state, *_ in found] == ["error", "complete"]
    assert found[0][1] == "E503"
    assert "is gone" in found[0][2]
    verified = subprocess.run(
        [sys.executable, str(script), "audit", "verify", "--json"], capture_output=True, text=True, env=environment,
        check=False,
    )  # fmt: skip
    assert json.loads(verified.stdout)["success"] is True
    assert verified.returncode == 0


def called(script: pathlib.Path, environment: dict[str, str], *words: str, said: str = "") -> tuple[str, str]:
    done = subprocess.run(
        [sys.executable, str(script), *words], input=said, capture_output=True, text=True, env=environment,
        timeout=60, check=False,
    )  # fmt: skip
    return done.stdout, done.stderr


def test_what_a_killed_runner_ran_is_told_by_who_reads_and_ended_by_who_may_write(
    script: pathlib.Path, environment: dict[str, str], project: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    slow = program(tmp_path, "pathlib.Path('started.md').write_text('x')\nprint('begun', flush=True)\ntime.sleep(600)")
    first = subprocess.Popen(
        repl(script, project, slow), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env=environment, text=True,
    )  # fmt: skip
    assert first.stdin is not None
    first.stdin.write("/start\nCreate notes.md\n")
    first.stdin.flush()
    wait_for(lambda: (project / "started.md").exists())
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    with contextlib.suppress(BrokenPipeError):
        first.stdin.close()
    for words in ("status", "inbox"):
        assert "Its process is gone: orchestrator repl --project" in called(script, environment, words)[1], words
    findings = json.loads(called(script, environment, "doctor", "--json")[0])["findings"]
    (lost,) = [each for each in findings if each["id"] == "RUN_ABANDONED"]
    assert [state for state, *_ in states(environment)] == ["running"]
    out, _ = called(
        script, environment, *repl(script, project, slow)[2:], said=f"/continue {lost['subject']}\n/approve\n/exit\n"
    )
    ((state, code, reason),) = states(environment)
    assert (state, code) == ("error", "E503")
    assert reason.endswith("written since it began, and not verified: started.md")
    assert "Enter the task again: Create notes.md" in out
    assert " is running" not in out


WRITER = """
import os, pathlib, signal, sys, time
if "deaf" in sys.argv:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if "alone" in sys.argv:
    os.setsid()
pathlib.Path(sys.argv[1], f"{os.getpid()}.pid").write_text(" ".join(sys.argv[2:]))
while True:
    pathlib.Path(f"late-{os.getpid()}.md").write_text(str(time.time()))
    time.sleep(0.02)
"""
BROOD = """
import subprocess
writer = [sys.executable, "-S", {writer!r}, {seen!r}]
orphan = f"import subprocess; subprocess.Popen({{[*writer, 'alone', 'orphan']!r}})"
subprocess.Popen([*writer, "alone", "deaf"])
subprocess.Popen([*writer, "without variables"], env={{}})
subprocess.run([sys.executable, "-S", "-c", orphan])
print("begun", flush=True)
time.sleep(600)
"""


def alive(number: int) -> bool:
    try:
        return pathlib.Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def marked(number: int) -> str:
    variables = pathlib.Path(f"/proc/{number}/environ").read_bytes().split(b"\0")
    return next(each.decode() for each in variables if each.startswith(b"XDG_ORCHESTRATOR_RUN=")).partition("=")[2]


def killed(argv: list[str], environment: dict[str, str], ready: object) -> None:
    """Begin a run, and kill its runner once it is ready."""
    runner = subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment
    )
    assert runner.stdin is not None
    runner.stdin.write(b"/start\nCreate slow.md\n")
    runner.stdin.flush()
    wait_for(ready)
    runner.kill()
    runner.wait()
    with contextlib.suppress(BrokenPipeError):
        runner.stdin.close()


def bystanders(mark: str, folder: pathlib.Path) -> list[subprocess.Popen[bytes]]:
    """Processes with marks that are like one: of a run of another runner, of another run, in other words."""
    number, started, rest = mark.split(".")
    run, token = rest.rpartition("-")[::2]
    like = (
        f"{os.getpid()}.{started}.{rest}", f"{number}.1{started}.{rest}", f"{number}.{started}.{run}1-{token}",
        f"{number}.{started}.{run}", f"x{mark}", token,
    )  # fmt: skip
    argv = [sys.executable, "-c", "import time; time.sleep(600)"]
    more = {"ORCHESTRATOR_RUN_ID": run}
    found = [{"XDG_ORCHESTRATOR_RUN": each, **more} for each in like] + [more]
    return [subprocess.Popen(argv, cwd=folder, env=os.environ | each, start_new_session=True) for each in found]


def test_p31_the_processes_of_a_killed_runner_are_ended_before_anybody_goes_on(
    script: pathlib.Path, environment: dict[str, str], project: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    seen = tmp_path / "seen"
    seen.mkdir()
    (tmp_path / "writer.py").write_text(WRITER)
    brood = program(tmp_path, BROOD.format(writer=str(tmp_path / "writer.py"), seen=str(seen)))
    killed(repl(script, project, brood), environment, lambda: len([*seen.glob("*.pid")]) == 3)
    late = {int(path.stem): path.read_text() for path in seen.glob("*.pid")}
    assert all(map(alive, late))
    assert sorted(late.values()) == ["alone deaf", "alone orphan", "without variables"]
    others = bystanders(marked(next(number for number, what in late.items() if "deaf" in what)), project)
    quick = program(tmp_path, "pathlib.Path('quick.md').write_text('x'); print('made quick.md')")
    second = subprocess.run(
        repl(script, project, quick), input="/start\nCreate quick.md\n/exit\n", capture_output=True,
        text=True, env=environment, timeout=60, check=False,
    )  # fmt: skip
    spared = [other.poll() is None for other in others]
    for other in others:
        other.kill()
        other.wait()
    assert second.returncode == 0, second.stdout + second.stderr
    assert not any(map(alive, late))
    assert spared == [True] * len(others)
    logs = [json.loads(path.read_bytes()) for path in sorted(project.glob(".orchestrator/sessions/*/logs/task-*.json"))]
    assert [file["path"] for file in logs[1]["verified_files"]] == ["quick.md"]
    told = [event["text"] for event in logs[0]["events"] if event["kind"] == "processes"]
    assert {f"still ran, and was ended: {number}" for number in late} <= {each.rpartition(" ")[0] for each in told}
    for words in (["audit", "verify"], ["audit", "replay", logs[0]["session_id"]]):
        argv = [sys.executable, str(script), *words, "--json"]
        subprocess.run(argv, env=environment, capture_output=True, check=True)


@pytest.mark.parametrize("as_json", [pytest.param(False, marks=long_form), True], ids=["text", "json"])
def test_p31_a_loop_that_only_starts_ends_and_tells_what_a_killed_runner_has_left(
    script: pathlib.Path, environment: dict[str, str], project: pathlib.Path, tmp_path: pathlib.Path, as_json: bool
) -> None:
    seen = tmp_path / "seen"
    seen.mkdir()
    (tmp_path / "writer.py").write_text(WRITER)
    brood = program(tmp_path, BROOD.format(writer=str(tmp_path / "writer.py"), seen=str(seen)))
    killed(repl(script, project, brood), environment, lambda: len([*seen.glob("*.pid")]) == 3)
    argv = [*repl(script, project, brood), *(["--json"] if as_json else [])]
    second = subprocess.run(argv, input="", capture_output=True, text=True, env=environment, timeout=60, check=False)
    assert not any(alive(int(path.stem)) for path in seen.glob("*.pid"))
    ((state, code, reason),) = states(environment)
    assert (state, code, second.returncode) == ("error", "E503", 0)
    told = json.loads(second.stdout.splitlines()[0])["warnings"][-1] if as_json else second.stderr
    assert f"in {project} was left by a runner that was killed, and is ended: {reason}." in told
    again = subprocess.run(argv, input="", capture_output=True, text=True, env=environment, timeout=60, check=False)
    assert "was left by a runner" not in again.stdout + again.stderr


def test_a_loop_that_only_starts_makes_no_database(
    script: pathlib.Path, environment: dict[str, str], project: pathlib.Path
) -> None:
    subprocess.run(repl(script, project, "fake-success"), input="/help\n", text=True, env=environment, check=True,
                   stdout=subprocess.DEVNULL)  # fmt: skip
    assert not pathlib.Path(environment["ORCHESTRATOR_DB"]).exists()


def test_p6_who_was_started_by_the_lost_executor_itself_takes_nothing_from_it(
    script: pathlib.Path, environment: dict[str, str], project: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    inner = [*repl(script, project, "fake-success"), "--executor-timeout", "5000"]
    text = f"""
import subprocess
runner = os.getppid()
pathlib.Path({str(tmp_path / "begun")!r}).touch()
while os.getppid() == runner:
    time.sleep(0.02)
told = subprocess.Popen({inner!r}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=os.environ | {environment!r})
out, _ = told.communicate(b"/start\\nCreate inner.md\\n")
pathlib.Path({str(tmp_path / "told")!r}).write_bytes(out)
"""
    killed(repl(script, project, program(tmp_path, text)), environment, (tmp_path / "begun").exists)
    wait_for(lambda: (tmp_path / "told").exists())
    found = states(environment)
    assert [(state, code) for state, code, _ in found] == [("running", None), ("error", "E405")]
    assert "its executor, which started this process, lives on" in found[1][2]


def test_p12_who_was_started_by_a_living_executor_does_not_wait_for_it(
    script: pathlib.Path, environment: dict[str, str], project: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    """The executor waits for it, and so would the two wait for each other."""
    inner = repl(script, project, "fake-success")
    text = f"""
import subprocess
argv, lines = {inner!r}, "/start\\nCreate inner.md\\n"
done = subprocess.run(argv, input=lines, capture_output=True, text=True, env=os.environ | {environment!r}, timeout=20)
pathlib.Path("outer.md").write_text(done.stdout)
print("made outer.md")
"""
    ended = subprocess.run(
        repl(script, project, program(tmp_path, text)), input="/start\nCreate outer.md\n", env=environment,
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert [(state, code) for state, code, _ in states(environment)] == [("complete", None), ("error", "E403")]
    assert "[RESULT]  ERROR" in (project / "outer.md").read_text()
    assert ended.returncode == 0, ended.stdout


def test_l09_neither_lock_nor_database_is_inherited_by_an_executor(
    script: pathlib.Path, environment: dict[str, str], project: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    body = (
        "names = [os.readlink(f'/proc/self/fd/{each}') for each in os.listdir('/proc/self/fd') if"
        " os.path.exists(f'/proc/self/fd/{each}')]\npathlib.Path('open.md').write_text('\\n'.join(names))\nprint('ok')"
    )
    ended = subprocess.run(
        repl(script, project, program(tmp_path, body)), input="/start\nCreate open.md\n/exit\n",
        capture_output=True, text=True, env=environment, timeout=60, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stdout + ended.stderr
    held = (project / "open.md").read_text().splitlines()
    assert not [name for name in held if name.endswith((".db", ".db-wal", ".db-shm", ".lock"))], held
