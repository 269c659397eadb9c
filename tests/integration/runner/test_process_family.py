"""Nothing of a program outlives its run, wherever it hid; and nobody else is touched."""

from __future__ import annotations

import concurrent.futures
import ctypes
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import pytest

from orchestrator.runner import process, process_table, process_tree, rlimit_tag
from tests.integration.runner.supervised import QUICK, alive, appeared, left, python, shell, supervise

SHORT = QUICK._replace(executor_timeout_ms=500)

DAEMON = """
import os, signal, sys, time

def daemon(name, keeps_output=True, deaf=True, variables=None):
    "Leave the session and the parent, and go on."
    if os.fork():
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    if deaf:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if not keeps_output:
        for number in (0, 1, 2):
            os.close(number)
    if variables is not None:
        text = f"import os, time; open({name!r}, 'w').write(str(os.getpid())); time.sleep(60)"
        os.execve(sys.executable, [sys.executable, "-Sc", text], variables)
    open(name, "w").write(str(os.getpid()))
    time.sleep(60)
    print("late", flush=True)

def wait(*names):
    while not all(os.path.exists(name) and open(name).read() for name in names):
        time.sleep(0.01)
"""


def test_e01_a_child_in_the_background_neither_holds_the_answer_back_nor_outlives_it(tmp_path: pathlib.Path) -> None:
    ended = shell(tmp_path, "(sleep 300; echo late) & echo $! > child.pid; exit 0")
    assert (ended.exit_code, ended.blocked_reason, ended.output, ended.leftovers) == (0, None, "", ())
    assert [told.split()[1] for told in ended.background] == ["sh", "sleep"]
    assert ended.duration_ms < 1000
    assert left(tmp_path) == []


def test_e01_a_child_that_holds_the_output_does_not_hold_the_clock(tmp_path: pathlib.Path) -> None:
    ended = shell(tmp_path, "sleep 300 & echo $! > child.pid; echo started; wait", limits=SHORT)
    assert (ended.blocked_reason, ended.output, ended.leftovers) == ("TIMEOUT", "started\n", ())
    assert ended.duration_ms < 1500
    assert left(tmp_path) == []


def test_e01_a_deaf_grandchild_in_a_session_of_its_own_is_ended(tmp_path: pathlib.Path) -> None:
    text = DAEMON + "daemon('daemon.pid'); wait('daemon.pid'); print('started', flush=True); time.sleep(60)"
    ended = python(tmp_path, text, limits=SHORT)
    assert (ended.blocked_reason, ended.output, ended.leftovers) == ("TIMEOUT", "started\n", ())
    assert ended.duration_ms < 500 + 300 + 1000
    assert left(tmp_path) == []


HIDING = {
    "holding the output": "daemon('a.pid')",
    "without the output": "daemon('a.pid', keeps_output=False)",
    "without the environment": "daemon('a.pid', variables={})",
    "several": "daemon('a.pid'); daemon('b.pid', keeps_output=False); daemon('c.pid', deaf=False)",
}


@pytest.mark.parametrize("hiding", HIDING.values(), ids=HIDING)
def test_a_grandchild_that_has_left_is_ended_when_the_program_has_ended(tmp_path: pathlib.Path, hiding: str) -> None:
    ended = python(tmp_path, DAEMON + hiding + "; wait('a.pid')")
    assert (ended.exit_code, ended.blocked_reason, ended.output, ended.leftovers) == (0, None, "", ())
    assert ended.background
    assert ended.duration_ms < 2000
    assert left(tmp_path) == []


def test_one_that_was_seen_is_known_even_when_it_has_shed_everything(tmp_path: pathlib.Path) -> None:
    text = (
        "import os, subprocess, sys, time\n"
        "daemon = 'import os, time; open(\"own.pid\", \"w\").write(str(os.getpid())); time.sleep(60)'\n"
        "subprocess.Popen([sys.executable, '-Sc', daemon], env={}, start_new_session=True, stdout=-3, stderr=-3)\n"
        "time.sleep(0.6)\n"
    )
    ended = python(tmp_path, text)
    assert ended.exit_code == 0
    assert len(ended.background) == 1
    assert left(tmp_path) == []


SHED = """
import os, sys, time
def shed(before=lambda: None, seconds=30):
    "Leave the session, the parent, the output and the variables, all at once."
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            null = os.open(os.devnull, os.O_RDWR)
            for number in (0, 1, 2):
                os.dup2(null, number)
            before()
            text = f"import os, time; open('a.pid', 'w').write(str(os.getpid())); time.sleep({seconds})"
            os.execve(sys.executable, [sys.executable, "-Sc", text], {})
        os._exit(0)
def wait():
    while not (os.path.exists("a.pid") and open("a.pid").read()):
        time.sleep(0.001)
"""
LOWERED = "import resource\nlower = lambda: resource.prlimit(0, 10, (7, 7))\n"


@pytest.mark.parametrize("text", ["shed(); wait()", f"{LOWERED}shed(lower); wait()"], ids=["limit kept", "lowered"])
def test_one_that_shed_everything_at_once_is_told_and_ended(tmp_path: pathlib.Path, text: str) -> None:
    ended = python(tmp_path, SHED + text)
    assert (ended.exit_code, len(ended.background), ended.leftovers) == (0, 1, ())
    assert left(tmp_path) == []


@pytest.fixture
def without_brands(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where root has lifted the limit, or the system has none."""
    monkeypatch.setattr(rlimit_tag, "_limits", lambda number: None)


@pytest.mark.usefixtures("without_brands")
@pytest.mark.parametrize("ours", [True, False], ids=["of the program alone", "of a program that uses us"])
def test_one_without_a_limit_is_ended_where_all_children_are_ours(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, *, ours: bool
) -> None:
    monkeypatch.setattr(process_tree, "_are_all_ours", ours)
    ended = python(tmp_path, f"{SHED}shed(seconds=1); wait()")
    assert (ended.exit_code, len(ended.background), ended.leftovers) == (0, int(ours), ())
    assert bool(left(tmp_path)) is not ours


def test_what_is_freed_by_nobody_stays_branded(tmp_path: pathlib.Path) -> None:
    text = "import resource\ntry:\n    resource.prlimit(0, 10, (-1, -1))\nexcept PermissionError:\n    print('no')\n"
    ended = python(tmp_path, text, tag="4711.99.task-1")
    assert ended.output == "no\n" or os.getuid() == 0
    assert rlimit_tag.of(0) is None


@pytest.mark.parametrize("number", range(5))
def test_one_that_sheds_everything_as_the_program_ends_is_ended(tmp_path: pathlib.Path, number: int) -> None:
    ended = python(tmp_path, SHED + "shed()")
    assert (ended.exit_code, ended.leftovers) == (0, ())
    assert len(ended.background) == 1
    told = ended.background[0].split()[0]
    assert not alive(int(told))


def test_one_that_shed_everything_is_told_by_its_own_run_alone(tmp_path: pathlib.Path) -> None:
    folders = [tmp_path / name for name in ("leaves", "honest", "sleeps")]
    texts = [f"{SHED}shed(); wait(); time.sleep(0.5)", "import time; time.sleep(0.7)", "import time; time.sleep(0.9)"]
    for folder in folders:
        folder.mkdir()
    with concurrent.futures.ThreadPoolExecutor() as pool:
        done = [pool.submit(python, folder, text) for folder, text in zip(folders, texts, strict=True)]
        ended = [each.result() for each in done]
    assert [len(each.background) for each in ended] == [1, 0, 0]
    assert left(folders[0]) == []


def test_a_child_of_a_program_that_uses_us_is_left_alone(tmp_path: pathlib.Path) -> None:
    other: list[subprocess.Popen[bytes]] = []

    def begin(progress: object) -> None:
        if not other:
            other.append(subprocess.Popen(["/bin/sleep", "30"], start_new_session=True, env={}))

    ended = python(tmp_path, "import time; time.sleep(1)", watch=begin)
    assert (ended.background, other[0].poll()) == ((), None)
    other[0].kill()
    other[0].wait()


def test_one_that_multiplies_while_it_is_ended_is_ended(tmp_path: pathlib.Path) -> None:
    text = (
        "import os, signal, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: [os.fork() for _ in range(2)] and os.setsid())\n"
        "if os.fork() == 0:\n    os.setsid()\n"
        "open(f'{os.getpid()}.pid', 'w').write(str(os.getpid()))\n"
        "while True: time.sleep(0.01)\n"
    )
    ended = python(tmp_path, text, limits=SHORT._replace(grace_ms=100))
    assert (ended.blocked_reason, ended.leftovers) == ("TIMEOUT", ())
    assert left(tmp_path) == []
    marked = [name for name in os.listdir("/proc") if name.isdigit() and f"{tmp_path}" in
              process_table.command_line(int(name)).decode("utf-8", "replace")]  # fmt: skip
    assert marked == []


def test_children_that_have_ended_are_reaped(tmp_path: pathlib.Path) -> None:
    python(tmp_path, DAEMON + "daemon('a.pid', deaf=False); wait('a.pid')")
    number = int((tmp_path / "a.pid").read_text())
    assert process_table.find(number) is None


def test_a_straggler_that_ends_by_itself_is_no_background_work(tmp_path: pathlib.Path) -> None:
    ended = shell(tmp_path, "(sleep 0.08; echo last words) & exit 0")
    assert (ended.output, ended.background) == ("last words\n", ())


@pytest.mark.parametrize("at_once", [4])
def test_several_programs_at_once_end_their_own_processes_only(tmp_path: pathlib.Path, at_once: int) -> None:
    def run(number: int) -> process.Ended:
        folder = tmp_path / str(number)
        folder.mkdir()
        # The first has ended long before the others.
        text = f"{DAEMON}daemon('a.pid'); wait('a.pid'); time.sleep({number * 0.2})"
        ended = python(folder, text + f"; print({number})")
        for other in range(number + 1, at_once):
            assert alive(int(appeared(tmp_path / str(other) / "a.pid")))
        return ended

    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        ended = list(pool.map(run, range(at_once)))
    assert [(one.output, one.exit_code, len(one.background)) for one in ended] == [
        (f"{number}\n", 0, 1) for number in range(at_once)
    ]
    assert [left(tmp_path / str(number)) for number in range(at_once)] == [[]] * at_once


def test_children_of_others_are_neither_ended_nor_reaped(tmp_path: pathlib.Path) -> None:
    strange = tmp_path / "strange"
    strange.mkdir()
    (strange / "program.py").write_text(DAEMON + "daemon('a.pid'); wait('a.pid'); raise SystemExit(7)")
    started: list[subprocess.Popen[bytes]] = []

    def start() -> None:
        for argv in ([sys.executable, "program.py"], ["sleep", "60"]):
            started.append(subprocess.Popen(argv, cwd=strange, start_new_session=True))

    timer = threading.Timer(0.15, start)
    timer.start()
    try:
        ended = shell(tmp_path, "sleep 0.5; sleep 60 & exit 0")
        assert len(ended.background) == 1
        assert alive(int(appeared(strange / "a.pid")))
        assert alive(started[1].pid)
        # Its status was not taken away.
        assert started[0].wait() == 7
    finally:
        timer.join()
        started[1].kill()
        started[1].wait()
        os.kill(int(appeared(strange / "a.pid")), signal.SIGKILL)


def subreaper() -> int:
    found = ctypes.c_int()
    ctypes.CDLL(None).prctl(37, ctypes.byref(found), 0, 0, 0)
    return found.value


def test_orphans_are_taken_over_only_while_a_program_runs(tmp_path: pathlib.Path) -> None:
    seen: list[int] = []
    supervise(tmp_path, "sleep", "0.7", watch=lambda progress: seen.append(subreaper()))
    assert seen == [1]
    assert subreaper() == 0


def test_a_mark_is_added_to_that_of_a_run_around() -> None:
    assert process_tree.marked({"A": "b"}, "inner") == {"A": "b", process_tree.MARK: "inner"}
    assert process_tree.marked({process_tree.MARK: "outer"}, "inner") == {process_tree.MARK: "outer:inner"}


def test_a_run_inside_a_run_is_ended_with_it(tmp_path: pathlib.Path) -> None:
    text = (
        "import os\nfrom orchestrator.core.running import program_variables\nfrom orchestrator.runner import process\n"
        "argv = ['/bin/sh', '-c', 'echo $$ > own.pid; setsid sleep 300 & echo $! > child.pid; wait']\n"
        "process.supervise(argv, folder='.', variables=program_variables.child(os.environ))\n"
    )
    (tmp_path / "program.py").write_text(text)
    limits = QUICK._replace(executor_timeout_ms=1000, grace_ms=200)
    ended = supervise(tmp_path, sys.executable, "program.py", limits=limits, variables=os.environ)
    assert (ended.blocked_reason, ended.leftovers) == ("TIMEOUT", ())
    assert left(tmp_path) == []


def test_a_signal_reaches_no_later_process_of_the_same_number() -> None:
    other = subprocess.Popen(["sleep", "60"])
    try:
        found = process_table.find(other.pid)
        assert found is not None
        process_table.send(found._replace(started="1"), signal.SIGKILL)
        time.sleep(0.05)
        assert other.poll() is None
        process_table.send(found, signal.SIGKILL)
        assert other.wait() == -9
    finally:
        other.kill()
        other.wait()


@pytest.mark.parametrize("proc", ["/proc", "nowhere"], ids=["from /proc", "from ps"])
def test_children_are_told(proc: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_table, "PROC", proc)
    with subprocess.Popen(["sleep", "60"], start_new_session=True) as child:
        try:
            assert child.pid in process_table.children(os.getpid())
            found = process_table.find(child.pid)
            assert found is not None
            assert (found.number, found.parent, found.group) == (child.pid, os.getpid(), child.pid)
            assert (found.has_ended, found.name, found) == (False, "sleep", process_table.find(child.pid))
            child.kill()
            os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
            gone = process_table.find(child.pid)
            assert gone is not None
            assert gone.has_ended
        finally:
            child.kill()
    assert process_table.find(child.pid) is None


def test_where_the_system_tells_less_the_known_processes_are_ended_all_the_same(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_table, "PROC", "nowhere")
    monkeypatch.setattr(process_table, "pidfd", lambda number: None)
    monkeypatch.setattr(process_tree, "_subreaper", lambda wanted: 1)
    ended = shell(tmp_path, "setsid sleep 300 & echo $! > child.pid; echo started; wait",
                  limits=QUICK._replace(executor_timeout_ms=700))  # fmt: skip
    assert (ended.blocked_reason, ended.output, ended.leftovers) == ("TIMEOUT", "started\n", ())
    assert left(tmp_path) == []


def test_where_the_system_tells_less_one_that_is_not_found_is_named(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_table, "PROC", "nowhere")
    monkeypatch.setattr(process_tree, "_subreaper", lambda wanted: 1)
    monkeypatch.setattr(process_tree, "CLOSING_S", 0.1)
    ended = python(tmp_path, DAEMON + "daemon('a.pid'); wait('a.pid')")
    number = int((tmp_path / "a.pid").read_text())
    try:
        assert (ended.exit_code, ended.leftovers) == (0, ("an unknown process that holds the output open",))
        assert alive(number)
    finally:
        os.kill(number, signal.SIGKILL)


def test_one_that_may_not_be_ended_is_named(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    send = process_table.send

    def refused(to: process_table.Process, what: signal.Signals) -> None:
        if to.name != "sleep":
            send(to, what)

    monkeypatch.setattr(process_table, "send", refused)
    monkeypatch.setattr(process_tree, "KILLING_S", 0.1)
    monkeypatch.setattr(process_tree, "CLOSING_S", 0.1)
    ended = shell(tmp_path, "setsid sleep 300 & echo $! > child.pid; exit 0")
    number = int((tmp_path / "child.pid").read_text())
    try:
        assert ended.leftovers == (f"{number} sleep",)
    finally:
        os.kill(number, signal.SIGKILL)
        os.waitpid(number, 0)
