"""Ctrl-C at any moment of a start: exit 130, no traceback, no crash."""

from __future__ import annotations

import ast
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import textwrap
import time

import pytest
from typer import core

from orchestrator import bootstrap
from orchestrator.doors.cli import early_interrupts, main
from tests.conftest import LONG
from tests.drills import field

pytestmark = pytest.mark.slow

STARTS = 100 if LONG else 4
SENTENCE = early_interrupts.SENTENCE.encode()
CALLS: dict[str, tuple[str, ...]] = {
    "batch": ("batch",), "status": ("status", "S1"), "verify": ("audit", "verify"), "init": ("init",),
    "help": ("--help",),
}  # fmt: skip


@pytest.fixture
def environment(tmp_path: pathlib.Path) -> dict[str, str]:
    return os.environ | {"ORCHESTRATOR_DB": str(field.create(tmp_path / "o.db", groups=1))}


@pytest.mark.parametrize("words", CALLS.values(), ids=CALLS)
def test_an_interrupted_start_ends_with_130_and_says_so(
    script: pathlib.Path, environment: dict[str, str], words: tuple[str, ...]
) -> None:
    """From the command's own first statement on, which holds interrupts back; what comes before is Python's start."""
    for _ in range(STARTS):
        argv = [sys.executable, "-X", "importtime", str(script), *words]
        with subprocess.Popen(
            argv, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            assert process.stderr is not None
            # The first module that is imported once interrupts are held back.
            assert any(b"orchestrator.doors" in line for line in iter(process.stderr.readline, b""))
            time.sleep(random.uniform(0, 0.4))  # noqa: S311 - any moment will do
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=60)
        told = [line for line in said.splitlines() if not line.startswith(b"import time:")]
        assert process.returncode == 130 or (process.returncode == 0 and words != ("batch",)), said
        assert process.returncode == 0 or told[:1] == [b"error INTERRUPTED: " + SENTENCE], said
        assert not re.search(rb"Traceback|Exception ignored", said)


def test_no_interrupt_of_the_first_moments_prints_a_line_of_ours(
    script: pathlib.Path, environment: dict[str, str]
) -> None:
    """Python's own start prints a traceback where it is interrupted, until the command's first statement."""
    lines = script.read_text("utf-8").splitlines()
    (held_back,) = (number for number, line in enumerate(lines, start=1) if "SIG_BLOCK" in line)
    assert [line for line in lines[:held_back] if line.startswith(("import", "from"))] == ["import _signal"]
    endings = set()
    began = time.monotonic()
    subprocess.run([script, "status", "S1"], env=environment, stdout=subprocess.DEVNULL, check=True)
    lasts = time.monotonic() - began
    for moment in range(STARTS):
        with subprocess.Popen(
            [script, "status", "S1"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        ) as process:
            time.sleep(lasts * moment / STARTS)
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=60)
        endings.add(process.returncode)
        own = re.findall(rf'File "{re.escape(str(script))}", line (\d+)', said)
        assert [line for line in own if int(line) > held_back] == [], said
        assert not re.search('File ".*/orchestrator/', said), said
    assert endings & {0, 130}


def test_nothing_that_takes_time_is_imported_before_interrupts_are_held_back() -> None:
    code = "import sys; before = set(sys.modules); import orchestrator.__main__; print(set(sys.modules) - before)"
    # Without site packages, which would have loaded some of them for themselves.
    argv = [sys.executable, "-S", "-E", "-c", f"import sys; sys.path[:0] = [{str(field.REPOSITORY)!r}]; {code}"]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert ast.literal_eval(done.stdout) == {"orchestrator", "orchestrator.__main__"}


@pytest.mark.parametrize("module", ["orchestrator", "orchestrator.__main__", "orchestrator.doors",
                                    "orchestrator.doors.cli", "orchestrator.errors",
                                    "orchestrator.doors.cli.early_interrupts",
                                    "orchestrator.doors.cli.main"])  # fmt: skip
def test_an_interrupt_at_an_import_of_the_installed_command_is_answered(
    script: pathlib.Path, tmp_path: pathlib.Path, module: str
) -> None:
    """The interpreter is told to interrupt itself where the module is about to be imported."""
    (tmp_path / "sitecustomize.py").write_text(
        "import os, signal, sys\n"
        "def interrupt(event, given):\n"
        f"    if event == 'import' and given[0] == {module!r}: os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.addaudithook(interrupt)\n"
    )
    argv = [script, "status", "S1"]
    done = subprocess.run(argv, capture_output=True, check=False, env=os.environ | {"PYTHONPATH": str(tmp_path)})
    assert (done.returncode, done.stdout, done.stderr) == (
        130, b"", b"error INTERRUPTED: " + SENTENCE + b"\ntry: Repeat the call\n"
    )  # fmt: skip


def test_interrupts_that_were_held_back_before_stay_so(script: pathlib.Path, environment: dict[str, str]) -> None:
    start = "import os, signal, sys; signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}); os.kill(os.getpid(), 2)"
    argv = [sys.executable, "-c", f"{start}; os.execv(sys.argv[1], sys.argv[1:])", script, "status", "S1"]
    assert subprocess.run(argv, capture_output=True, check=False, env=environment).returncode == 0


@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
def test_an_interrupt_within_an_import_waits_until_it_is_over(tmp_path: pathlib.Path, form: tuple[str, ...]) -> None:
    """The module is interrupted while it is imported, and finds itself whole afterwards."""
    (tmp_path / "torn.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nwhole = sum(range(9))\n")
    code = """
        import sys, time
        from orchestrator.doors.cli import early_interrupts
        early_interrupts.install()
        early_interrupts.enter(sys.argv[1])
        try:
            import torn
            print(torn.whole, flush=True)
            time.sleep(5)
        except KeyboardInterrupt:
            print("interrupted")
    """
    for phase, expected in (("running", "36\ninterrupted\n"), ("loading", None)):
        argv = [sys.executable, "-c", textwrap.dedent(code), phase, *form]
        done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=False, env=os.environ | {
            "PYTHONPATH": f"{tmp_path}:{field.REPOSITORY}",
        })  # fmt: skip
        if expected is None:
            assert done.returncode == 130
            assert ('"code": "INTERRUPTED"' if form else "") in done.stdout
            assert form or done.stderr.startswith("error INTERRUPTED: ")
        else:
            assert (done.returncode, done.stdout) == (0, expected), done.stderr


def test_an_interrupt_while_help_is_put_together_says_so(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(core.TyperGroup, "format_help", lambda *_: signal.raise_signal(signal.SIGINT))
    assert main.main(["--help"]) == 130
    assert capfd.readouterr().err.startswith("error INTERRUPTED: ")


def test_an_ignored_interrupt_stays_ignored(tmp_path: pathlib.Path) -> None:
    code = (
        "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "from orchestrator.doors.cli import early_interrupts; early_interrupts.install()\n"
        "signal.raise_signal(signal.SIGINT); print('on')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "on\n")


def test_the_python_interface_loads_its_native_module_where_nothing_can_tear_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen = []

    def load() -> None:
        seen.append(signal.pthread_sigmask(signal.SIG_BLOCK, ()))
        signal.raise_signal(signal.SIGINT)
        seen.append("whole")

    monkeypatch.setattr(bootstrap.canonical_json, "quicken", load)
    with pytest.raises(KeyboardInterrupt):
        bootstrap._quicken()
    assert seen == [{signal.SIGINT}, "whole"]
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())
