"""Programs under supervision: what they get, what is kept of what they write, and the clocks that end them."""

from __future__ import annotations

import fcntl
import json
import os
import pathlib
import pty
import signal
import stat
import subprocess
import sys
import time

import pytest

from orchestrator.core.running import program_variables
from orchestrator.runner import output_capture, process
from tests.integration.runner.supervised import QUICK, alive, appeared, left, python, shell, supervise

KEY = "sk-ant-api03-" + "aB3dE5fG7h" * 8
MASKED = "[MASKED:ANTHROPIC_KEY]"


@pytest.mark.parametrize("status", [0, 1, 5, 255])
def test_the_exit_code_is_told_as_it_is(tmp_path: pathlib.Path, status: int) -> None:
    ended = shell(tmp_path, f"echo done; exit {status}")
    assert (ended.exit_code, ended.signal, ended.why, ended.output) == (status, None, f"exit {status}", "done\n")
    assert (ended.blocked_reason, ended.limit, ended.leftovers, ended.background) == (None, None, (), ())


def test_a_signal_is_no_exit_code(tmp_path: pathlib.Path) -> None:
    ended = shell(tmp_path, "kill -9 $$")
    assert (ended.exit_code, ended.signal, ended.why) == (None, 9, "killed by signal 9")


@pytest.mark.parametrize(
    ("argv", "why"),
    [
        pytest.param(["no-such-program-here"], "cannot be started: No such file or directory", id="missing"),
        pytest.param(["/"], "cannot be started: Permission denied", id="a folder"),
        pytest.param(["a\0b"], "cannot be started: embedded null byte", id="a NUL"),
    ],
)
def test_what_cannot_be_started_has_ended_without_a_code(tmp_path: pathlib.Path, argv: list[str], why: str) -> None:
    ended = supervise(tmp_path, *argv)
    assert (ended.exit_code, ended.signal, ended.why, ended.blocked_reason) == (None, None, why, None)


def test_the_streams_are_kept_apart_and_together(tmp_path: pathlib.Path) -> None:
    ended = shell(tmp_path, "echo a; sleep 0.1; echo b >&2; sleep 0.1; echo c")
    assert (ended.stdout, ended.stderr, ended.output, ended.bytes_out) == ("a\nc\n", "b\n", "a\nb\nc\n", 6)


def test_the_folder_is_the_given_one_and_arguments_reach_no_shell(tmp_path: pathlib.Path) -> None:
    text = "import os, sys; print(os.getcwd(), sys.argv[1])"
    ended = supervise(tmp_path, sys.executable, "-Sc", text, "$HOME; *")
    assert ended.output == f"{tmp_path.resolve()} $HOME; *\n"


VARIABLES = {
    "PATH": os.environ["PATH"], "HOME": "/h", "USER": "u", "SHELL": "/s", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8",
    "TERM": "dumb", "TMPDIR": "/t", "XDG_CONFIG_HOME": "/x", "OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k",
    "AWS_SECRET_ACCESS_KEY": "k", "LD_PRELOAD": "", "ORCHESTRATOR_DB": "d", "PYTHONPATH": "/p", "XDGFAKE": "f",
}  # fmt: skip
ALLOWED = ["HOME", "LANG", "LC_ALL", "PATH", "SHELL", "TERM", "TMPDIR", "USER", "XDG_CONFIG_HOME"]


@pytest.mark.parametrize(
    ("needs", "more"),
    [
        pytest.param((), [], id="nothing"),
        pytest.param(("ANTHROPIC_API_KEY",), ["ANTHROPIC_API_KEY"], id="a key"),
        pytest.param(("NOT_SET",), [], id="a key that is not set"),
    ],
)
def test_p24_only_allowed_variables_reach_a_program(
    tmp_path: pathlib.Path, needs: tuple[str, ...], more: list[str]
) -> None:
    chosen = program_variables.child(VARIABLES, needs=needs)
    assert sorted(chosen) == sorted(ALLOWED + more)
    text = "import json, os; print(json.dumps(dict(os.environ)))"
    found = json.loads(python(tmp_path, text, variables=chosen).stdout)
    added = {name: found.pop(name) for name in set(found) - set(chosen)}
    assert found == chosen
    # The mark by which its processes are found passes the same list.
    assert program_variables.child(added) == added


def test_p34_a_program_reads_the_end_of_its_input_at_once(tmp_path: pathlib.Path) -> None:
    ended = shell(tmp_path, "cat; read line; echo \"[$line] $?\"; readlink /proc/self/fd/0")
    assert ended.stdout == "[] 1\n/dev/null\n"


def test_a_program_inherits_no_file(tmp_path: pathlib.Path) -> None:
    lock = os.open(tmp_path / "lock", os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        os.set_inheritable(lock, True)
        ended = python(tmp_path, "import os; print(sorted(map(int, os.listdir('/proc/self/fd'))))")
    finally:
        os.close(lock)
    # The fourth is the folder that is being listed.
    assert ended.stdout == "[0, 1, 2, 3]\n"


RUNNER = """
import fcntl, json, os, pathlib, sys, termios
if sys.argv[2] == "terminal":
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    os.close(os.open("/dev/tty", os.O_RDWR))
from orchestrator.core.running import program_variables
from orchestrator.runner import process
ended = process.supervise(["/bin/sh", "-c", "cat >/dev/null; echo done; echo ask >/dev/tty || echo alone >&2"],
                          folder=".", variables=program_variables.child(os.environ), raw=pathlib.Path("raw"))
pathlib.Path("told.json").write_text(json.dumps([ended.stdout, ended.stderr, ended.duration_ms]))
for number in range(3):
    os.fstat(number)
"""


@pytest.mark.parametrize("start", ["terminal", "open pipe", "closed", "inside another"])
def test_e02_the_input_is_empty_however_the_runner_was_started(tmp_path: pathlib.Path, start: str) -> None:
    argv = [sys.executable, "-c", RUNNER, "-", start]
    screen, terminal = pty.openpty()
    reader, writer = os.pipe()
    try:
        if start == "inside another":
            text = f"import subprocess; raise SystemExit(subprocess.run({argv!r}).returncode)"
            assert python(tmp_path, text, variables=os.environ).why == "exit 0"
        else:
            given = {"terminal": terminal, "open pipe": reader, "closed": None}[start]
            closing = ["/bin/sh", "-c", 'exec "$@" <&-', "sh"] if start == "closed" else []
            subprocess.run([*closing, *argv], stdin=given, cwd=tmp_path, check=True, start_new_session=True)
        os.set_blocking(screen, False)
        with pytest.raises(BlockingIOError):
            os.read(screen, 100)
    finally:
        for descriptor in (screen, terminal, reader, writer):
            os.close(descriptor)
    stdout, stderr, duration_ms = json.loads((tmp_path / "told.json").read_text())
    assert stdout == "done\n"
    assert stderr.endswith("alone\n")
    assert duration_ms < 1000
    assert (tmp_path / "raw").read_text() == stdout + stderr


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
@pytest.mark.parametrize("size", [65_535, 65_536, 65_537, 10_000_000])
def test_e08_a_line_may_be_of_any_length(tmp_path: pathlib.Path, stream: str, size: int) -> None:
    text = f"import sys; sys.{stream}.write('x' * {size} + '\\nEND\\n')"
    ended = python(tmp_path, text, raw=tmp_path / "raw")
    assert (ended.why, ended.bytes_out) == ("exit 0", size + 5)
    assert getattr(ended, stream)[-5:] == "\nEND\n"
    assert (tmp_path / "raw").stat().st_size == size + 5
    if size > output_capture.OUTPUT_KEPT:
        assert ended.output.startswith(f"[... {size + 5 - output_capture.OUTPUT_KEPT} characters left out ...]\nxxx")
        assert len(ended.output) < output_capture.OUTPUT_KEPT + 100


def test_e08_much_text_without_any_newline_ends(tmp_path: pathlib.Path) -> None:
    ended = python(tmp_path, "import sys; sys.stdout.write('x' * 10_000_000)", raw=tmp_path / "raw")
    assert (ended.why, ended.bytes_out, (tmp_path / "raw").stat().st_size) == ("exit 0", 10_000_000, 10_000_000)


def test_a_flood_is_kept_out_of_memory_and_does_not_hide_the_clock(tmp_path: pathlib.Path) -> None:
    ended = supervise(tmp_path, "yes", "Password: ", limits=QUICK._replace(executor_timeout_ms=400))
    assert (ended.blocked_reason, ended.limit, ended.timeout_ms) == ("TIMEOUT", "executor_timeout_ms", 400)
    assert ended.bytes_out > 1_000_000
    assert len(ended.stdout) <= output_capture.RESULT_KEPT
    assert ended.duration_ms < 2000


@pytest.mark.parametrize("sizes", [[1] * 5000, [100_000], [7, 90, 3] * 40], ids=["many small", "one large", "mixed"])
def test_the_end_is_kept_however_the_text_comes(sizes: list[int]) -> None:
    tail = output_capture.Tail(100)
    whole = ""
    for number, size in enumerate(sizes):
        whole += "abcdefghij"[number % 10] * size
        tail.add(whole[-size:])
        assert tail.text() == whole[-100:]
    assert tail.marked() == f"[... {len(whole) - 100} characters left out ...]\n{whole[-100:]}"


def test_bytes_that_are_no_text_are_replaced_and_characters_are_not_cut(tmp_path: pathlib.Path) -> None:
    text = (
        "import os, time\n"
        "for byte in 'aé日😀'.encode() + b'\\xff\\x00b\\xc3':\n"
        "    os.write(1, bytes([byte])); time.sleep(0.005)\n"
    )
    ended = python(tmp_path, text, raw=tmp_path / "raw")
    assert (ended.output, ended.bytes_out) == ("aé日😀\ufffd\ufffdb\ufffd", 14)
    assert (tmp_path / "raw").read_text("utf-8") == "aé日😀\ufffd\0b\ufffd"


def test_the_evidence_is_the_owners_alone_and_is_never_written_over(tmp_path: pathlib.Path) -> None:
    raw = tmp_path / "raw"
    shell(tmp_path, "echo first", raw=raw)
    assert stat.S_IMODE(raw.stat().st_mode) == 0o600
    with pytest.raises(FileExistsError):
        shell(tmp_path, "echo second", raw=raw)
    assert raw.read_text() == "first\n"


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_s08_a_key_is_masked_wherever_a_read_cuts_it(tmp_path: pathlib.Path, stream: str) -> None:
    text = (
        f"import sys, time\nkey = {KEY!r}\n"
        f"for cut in range(0, len(key), 6):\n"
        f"    for piece in (f'key {{cut}} ' + key[:cut], key[cut:] + ' end\\n'):\n"
        f"        sys.{stream}.write(piece); sys.{stream}.flush(); time.sleep(0.01)\n"
    )
    ended = python(tmp_path, text, raw=tmp_path / "raw")
    expected = "".join(f"key {cut} {MASKED} end\n" for cut in range(0, len(KEY), 6))
    assert (getattr(ended, stream), ended.output, (tmp_path / "raw").read_text()) == (expected,) * 3


@pytest.mark.parametrize("stream", output_capture.STREAMS)
def test_s08_a_key_is_masked_at_every_cut(tmp_path: pathlib.Path, stream: str) -> None:
    for cut in range(len(KEY) + 1):
        output = output_capture.Output(tmp_path / f"raw{cut}", ())
        for piece in ("a " + KEY[:cut], KEY[cut:]):
            output.add(stream, piece.encode())
        output.close()
        shown = f"a {MASKED}"
        assert (output.text(), output.of(stream), (tmp_path / f"raw{cut}").read_text()) == (shown,) * 3


@pytest.mark.parametrize("border", [4096, 8192, 65_536])
@pytest.mark.parametrize("before", [1, 7, 20, 60])
def test_s08_a_key_is_masked_across_the_borders_of_reads(tmp_path: pathlib.Path, border: int, before: int) -> None:
    filler = ("word " * border)[: border - before - 1] + " "
    output = output_capture.Output(tmp_path / "raw", ())
    data = f"{filler}{KEY} end".encode()
    for start in range(0, len(data), border):
        output.add("stdout", data[start : start + border])
    output.close()
    assert (tmp_path / "raw").read_text() == f"{filler}{MASKED} end"


def test_s08_what_a_kill_cuts_off_is_masked_as_well(tmp_path: pathlib.Path) -> None:
    limits = QUICK._replace(progress_timeout_ms=300)
    lines: list[str] = []
    ended = shell(tmp_path, f"printf 'x {KEY[:-2]}'; sleep 60", limits=limits, raw=tmp_path / "raw",
                  watch=lambda progress: lines.append(progress.line))  # fmt: skip
    assert ended.blocked_reason == "TIMEOUT"
    assert (ended.output, (tmp_path / "raw").read_text()) == (f"x {MASKED}",) * 2
    assert "aB3dE5" not in "".join(lines)


def test_given_values_are_masked_everywhere(tmp_path: pathlib.Path) -> None:
    text = "printf 'hunter2-'; sleep 0.1; echo hunter2; printf 'Password of hunter2-hunter2: '; sleep 60"
    ended = shell(tmp_path, text, secrets=["hunter2-hunter2"], raw=tmp_path / "raw")
    assert ended.blocked_reason == "INTERACTIVE_PROMPT"
    told = "".join((ended.output, ended.prompt or "", ended.why, (tmp_path / "raw").read_text()))
    assert "hunter2" not in told


CLOCKS = {
    "silence": ({"progress_timeout_ms": 200}, "sleep 60", "progress_timeout_ms", 200),
    "the whole run": ({"executor_timeout_ms": 200}, "sleep 60", "executor_timeout_ms", 200),
    "the whole run of one that talks": (
        {"executor_timeout_ms": 300, "progress_timeout_ms": 200}, "while :; do echo .; sleep 0.05; done",
        "executor_timeout_ms", 300,
    ),
    "silence after talking": (
        {"executor_timeout_ms": 5000, "progress_timeout_ms": 250}, "echo a; sleep 0.15; echo b; sleep 60",
        "progress_timeout_ms", 250,
    ),
    "silence of one that has closed its output": (
        {"progress_timeout_ms": 200}, "exec >&- 2>&-; sleep 60", "progress_timeout_ms", 200,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("changed", "text", "limit", "timeout_ms"), CLOCKS.values(), ids=CLOCKS)
def test_p35_the_clock_that_runs_out_first_ends_the_run_and_is_named(
    tmp_path: pathlib.Path, changed: dict[str, int], text: str, limit: str, timeout_ms: int
) -> None:
    ended = shell(tmp_path, f"echo $$ > own.pid; {text}", limits=QUICK._replace(**changed))
    assert (ended.blocked_reason, ended.limit, ended.timeout_ms, ended.prompt) == ("TIMEOUT", limit, timeout_ms, None)
    assert ended.why == f"ended after {timeout_ms} ms ({limit})"
    assert timeout_ms <= ended.duration_ms < timeout_ms + 1500
    assert left(tmp_path) == []


def test_p35_the_tasks_own_time_counts_over_all_attempts(tmp_path: pathlib.Path) -> None:
    limits = QUICK._replace(task_deadline=time.monotonic() + 0.4, task_limit_ms=30_000)
    first = shell(tmp_path, "sleep 60", limits=limits)
    second = shell(tmp_path, "touch started", limits=limits)
    for ended in (first, second):
        assert (ended.blocked_reason, ended.limit, ended.timeout_ms) == ("TIMEOUT", "task_limits.seconds", 30_000)
    assert second.why == "not started: the task's time is up"
    assert not (tmp_path / "started").exists()


def test_a_program_that_does_not_listen_is_killed_after_its_grace(tmp_path: pathlib.Path) -> None:
    ended = shell(tmp_path, "trap '' TERM; echo $$ > own.pid; while :; do sleep 0.05; done",
                  limits=QUICK._replace(executor_timeout_ms=200))  # fmt: skip
    assert (ended.signal, ended.blocked_reason) == (9, "TIMEOUT")
    assert 500 <= ended.duration_ms < 1500
    assert left(tmp_path) == []


def test_what_a_program_says_while_it_ends_is_kept(tmp_path: pathlib.Path) -> None:
    ended = python(tmp_path, "import signal, sys, time\n"
                   "signal.signal(signal.SIGTERM, lambda *_: (print('bye ' + 'x' * 200_000), sys.exit(7)))\n"
                   "print('hello', flush=True)\n"
                   "time.sleep(60)\n", limits=QUICK._replace(progress_timeout_ms=400))  # fmt: skip
    assert (ended.exit_code, ended.blocked_reason, ended.bytes_out) == (7, "TIMEOUT", 200_011)


def test_a_run_is_cancelled_with_all_its_processes(tmp_path: pathlib.Path) -> None:
    asked: list[float] = []

    def cancelled() -> bool:
        asked.append(time.monotonic())
        return asked[-1] - asked[0] > 0.3

    ended = shell(tmp_path, "echo $$ > own.pid; sleep 60 & echo $! > child.pid; echo hi; wait", cancelled=cancelled)
    assert (ended.cancelled, ended.why, ended.blocked_reason, ended.output) == (True, "cancelled", None, "hi\n")
    assert left(tmp_path) == []


# An interrupt may fall between the opening of a file and its first use: such a file is closed as its last name goes.
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
@pytest.mark.parametrize("times", [1, 2], ids=["once", "again while it is ended"])
def test_an_interrupt_ends_everything_and_keeps_what_was_written(tmp_path: pathlib.Path, times: int) -> None:
    left_to_raise = [KeyboardInterrupt] * times

    def interrupted(number: int, frame: object) -> None:
        if left_to_raise:
            raise left_to_raise.pop()

    before = signal.signal(signal.SIGALRM, interrupted)
    signal.setitimer(signal.ITIMER_REAL, 0.4, 0.2 if times > 1 else 0)
    try:
        with pytest.raises(KeyboardInterrupt):
            shell(tmp_path, "trap '' TERM; echo $$ > own.pid; echo hi; while :; do sleep 0.05; done",
                  raw=tmp_path / "raw", limits=QUICK._replace(grace_ms=350 if times > 1 else 100))  # fmt: skip
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert left(tmp_path) == []
    assert (tmp_path / "raw").read_text() == "hi\n"


def test_a_failure_of_the_one_who_watches_ends_the_run(tmp_path: pathlib.Path) -> None:
    def watch(progress: process.Progress) -> None:
        raise RuntimeError("the terminal is gone")

    with pytest.raises(RuntimeError, match="the terminal is gone"):
        shell(tmp_path, "echo $$ > own.pid; sleep 60", watch=watch)
    assert left(tmp_path) == []


def test_evidence_that_cannot_be_written_ends_the_run(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output_capture, "_created", lambda path: open("/dev/full", "wb"))
    with pytest.raises(OSError, match="No space left"):
        shell(tmp_path, "echo $$ > own.pid; while :; do printf %4096d 0; sleep 0.05; done", raw=tmp_path / "raw")
    assert left(tmp_path) == []


def test_progress_is_told_to_who_waits(tmp_path: pathlib.Path) -> None:
    told: list[process.Progress] = []
    shell(tmp_path, "printf 'first\\n\\033[31mworking\\033[0m 1\\rworking 2'; sleep 1.2", watch=told.append)
    assert len(told) == 2
    assert {(progress.line, progress.bytes_out) for progress in told} == {("working 2", 34)}
    assert told[0].elapsed_ms < told[1].elapsed_ms
    assert told[0].silent_ms < told[1].silent_ms


def test_a_runner_that_is_killed_leaves_no_lock_with_its_program(tmp_path: pathlib.Path) -> None:
    text = (
        "import fcntl, os, pathlib, sys\nfrom orchestrator.runner import process\n"
        "lock = os.open('lock', os.O_RDWR | os.O_CREAT); fcntl.flock(lock, fcntl.LOCK_EX)\n"
        "argv = ['/bin/sh', '-c', 'echo $$ > own.pid; exec sleep 60']\n"
        "process.supervise(argv, folder='.', variables=dict(os.environ))"
    )
    runner = subprocess.Popen([sys.executable, "-c", text], cwd=tmp_path)
    number = int(appeared(tmp_path / "own.pid"))
    runner.kill()
    runner.wait()
    try:
        assert alive(number)
        with open(tmp_path / "lock") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        held = {os.readlink(f"/proc/{number}/fd/{name}") for name in os.listdir(f"/proc/{number}/fd")}
        assert str(tmp_path / "lock") not in held
    finally:
        os.kill(number, signal.SIGKILL)
