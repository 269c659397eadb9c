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
    wait_for(lambda: [state for state, *_ in states(environment)] == ["running"])
    children = pathlib.Path(f"/proc/{first.pid}/task/{first.pid}/children").read_text().split()
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    with contextlib.suppress(BrokenPipeError):
        first.stdin.close()
    quick = program(tmp_path, "pathlib.Path('quick.md').write_text('x'); print('made quick.md')")
    second = subprocess.run(
        repl(script, project, quick), input="/start\nCreate quick.md\n/exit\n", capture_output=True,
        text=True, env=environment, timeout=60, check=False,
    )  # fmt: skip
    for child in children:
        try:
            os.kill(int(child), signal.SIGKILL)
        except ProcessLookupError:
            continue
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
