"""Commands run to their end: what they print decides nothing, and nothing of them outlives them."""

from __future__ import annotations

import os
import pathlib
import signal
import sys
import time

import pytest

from orchestrator.runner import commands


def python(text: str, folder: pathlib.Path, **more: object) -> commands.Ended:
    given: dict[str, object] = {"folder": folder, "timeout_s": 20.0, **more}
    return commands.run([sys.executable, "-c", text], **given)  # type: ignore[arg-type]


@pytest.mark.parametrize("status", [0, 1, 5, 255])
def test_the_exit_status_is_told_as_it_is(tmp_path: pathlib.Path, status: int) -> None:
    ended = python(f"print('done'); raise SystemExit({status})", tmp_path)
    assert ended == (status, f"exit {status}", "done\n", 5)


def test_both_streams_are_kept_in_order(tmp_path: pathlib.Path) -> None:
    text = "import sys; print('a', flush=True); print('b', file=sys.stderr, flush=True); print('c')"
    assert python(text, tmp_path).output == "a\nb\nc\n"


def test_there_is_no_shell_and_the_folder_is_the_given_one(tmp_path: pathlib.Path) -> None:
    ended = commands.run([sys.executable, "-c", "import os, sys; print(os.getcwd(), sys.argv[1])", "$HOME; *"],
                         folder=tmp_path, timeout_s=20)  # fmt: skip
    assert ended.output == f"{tmp_path.resolve()} $HOME; *\n"


def test_stdin_is_empty(tmp_path: pathlib.Path) -> None:
    assert python("import sys; print(repr(sys.stdin.read()))", tmp_path).output == "''\n"


def test_only_allowed_variables_are_passed_on(tmp_path: pathlib.Path) -> None:
    variables = {"PATH": "/bin", "HOME": "/h", "ANTHROPIC_API_KEY": "x", "LD_PRELOAD": "y", "TMPDIR": "/t"}
    text = "import os; print(sorted(set(os.environ) - {'LC_CTYPE', 'XDG_ORCHESTRATOR_RUN'}))"
    assert python(text, tmp_path, variables=variables).output == "['HOME', 'PATH', 'TMPDIR']\n"


@pytest.mark.parametrize(
    ("argv", "why"),
    [
        (["no-such-program-here"], "cannot be started: No such file or directory"),
        (["/"], "cannot be started: Permission denied"),
        (["a\0b"], "cannot be started: embedded null byte"),
    ],
    ids=["missing", "a folder", "a NUL"],
)
def test_what_cannot_be_started_has_ended_without_a_status(tmp_path: pathlib.Path, argv: list[str], why: str) -> None:
    assert commands.run(argv, folder=tmp_path, timeout_s=5) == (None, why, "", 0)


def test_a_signal_is_no_exit_status(tmp_path: pathlib.Path) -> None:
    ended = python("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", tmp_path)
    assert ended[:2] == (None, "killed by signal 9")


def alive(number: int) -> bool:
    """Whether a process runs; one that nobody has reaped yet runs no more."""
    try:
        state = pathlib.Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def gone(numbers: list[int]) -> bool:
    until = time.monotonic() + 5
    while any(map(alive, numbers)) and time.monotonic() < until:
        time.sleep(0.02)
    return not any(map(alive, numbers))


BROOD = """
import os, signal, subprocess, sys, time
{ignore}
child = subprocess.Popen([sys.executable, "-c", "import signal, time; {ignore}; time.sleep(60)"])
print(os.getpid(), child.pid, flush=True)
{rest}
"""


@pytest.mark.parametrize("ignore", ["pass", "signal.signal(signal.SIGTERM, signal.SIG_IGN)"], ids=["polite", "deaf"])
def test_a_command_that_hangs_is_killed_with_all_its_processes(tmp_path: pathlib.Path, ignore: str) -> None:
    begun = time.monotonic()
    ended = python(BROOD.format(ignore=ignore, rest="time.sleep(60)"), tmp_path, timeout_s=0.7)
    assert ended[:2] == (None, "killed after 0.7 seconds")
    assert time.monotonic() - begun < 10
    assert gone([int(number) for number in ended.output.split()])


LEAVING = """
import os, subprocess, sys, time
child = "import os, sys, time; os.setsid(); print(os.getpid(), flush=True); time.sleep(60)"
subprocess.Popen([sys.executable, "-c", f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {child!r}])"])
{rest}
"""


@pytest.mark.parametrize("rest", ["time.sleep(60)", "time.sleep(0.5)"], ids=["killed", "by itself"])
def test_one_that_leaves_the_group_and_its_parent_does_not_outlive_its_command(
    tmp_path: pathlib.Path, rest: str
) -> None:
    ended = python(LEAVING.replace("{rest}", rest), tmp_path, timeout_s=2)
    assert (ended.status, len(ended.output.split())) == (0 if "0.5" in rest else None, 1)
    assert gone([int(ended.output)])


def test_a_command_is_cancelled_at_once_with_all_its_processes(tmp_path: pathlib.Path) -> None:
    begun, asked = time.monotonic(), []

    def cancelled() -> bool:
        asked.append(time.monotonic() - begun)
        return asked[-1] > 0.7

    ended = python(BROOD.format(ignore="pass", rest="time.sleep(60)"), tmp_path, cancelled=cancelled)
    assert ended[:2] == (None, "cancelled")
    assert len(asked) > 3
    assert time.monotonic() - begun < 10
    assert gone([int(number) for number in ended.output.split()])


def test_a_background_process_neither_holds_the_answer_back_nor_outlives_it(tmp_path: pathlib.Path) -> None:
    begun = time.monotonic()
    ended = python(BROOD.format(ignore="pass", rest=""), tmp_path, timeout_s=30)
    assert ended[:2] == (0, "exit 0")
    assert time.monotonic() - begun < 10
    assert gone([int(number) for number in ended.output.split()])


def test_a_command_that_closes_its_output_is_waited_for(tmp_path: pathlib.Path) -> None:
    assert python("import os, time; os.close(1); os.close(2); time.sleep(0.3); os._exit(3)", tmp_path)[:2] == (
        3, "exit 3",
    )  # fmt: skip


def test_megabytes_are_cut_in_the_middle_and_a_single_line_may_be_one(tmp_path: pathlib.Path) -> None:
    ended = python("import sys; sys.stdout.write('begin' + 'x' * 5_000_000 + 'the summary')", tmp_path)
    assert (ended.status, ended.size) == (0, 5_000_016)
    assert len(ended.output) < commands.OUTPUT_LIMIT + 100
    assert ended.output.startswith("beginxxx")
    assert ended.output.endswith("xxxthe summary")
    assert f"[... {ended.size - commands.OUTPUT_LIMIT} bytes left out ...]" in ended.output


@pytest.mark.parametrize("size", [0, 1, 9, 10, 11, 25, 200_000])
def test_what_fits_is_kept_whole(tmp_path: pathlib.Path, size: int) -> None:
    ended = python(f"print('ab' * {size}, end='')", tmp_path, limit=2 * size)
    assert (ended.output, ended.size) == ("ab" * size, 2 * size)


@pytest.mark.parametrize(
    ("limit", "output"),
    [(4, "01\n[... 6 bytes left out ...]\n89"), (5, "01\n[... 5 bytes left out ...]\n789")],
)
def test_beyond_the_limit_the_ends_are_kept(tmp_path: pathlib.Path, limit: int, output: str) -> None:
    assert python("print('0123456789', end='')", tmp_path, limit=limit).output == output


def test_bytes_that_are_no_text_are_replaced(tmp_path: pathlib.Path) -> None:
    ended = python(r"import sys; sys.stdout.buffer.write(b'a\x00\xffb')", tmp_path)
    assert (ended.output, ended.size) == ("a\ufffd\ufffdb", 4)


# An interrupt may fall between the opening of a file and its first use: such a file is closed as its last name goes.
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
def test_an_interrupt_ends_the_command_too(tmp_path: pathlib.Path) -> None:
    def interrupted(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupted)
    signal.setitimer(signal.ITIMER_REAL, 0.7)
    marker = tmp_path / "numbers"
    text = f"import os, time; open({str(marker)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    try:
        with pytest.raises(KeyboardInterrupt):
            python(text, tmp_path)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert gone([int(marker.read_text())])
    assert os.getpid() not in (0, int(marker.read_text()))
