"""Ctrl-C at any moment of a start: exit 130, no traceback, no crash."""

from __future__ import annotations

import os
import pathlib
import random
import signal
import subprocess
import sys
import textwrap
import time

import pytest
from typer import core

from orchestrator import bootstrap
from orchestrator.doors.cli import main
from tests.drills import field

pytestmark = pytest.mark.slow

STARTS = 100 if field.LONG else 6
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
    """From the first module on that the entry imports: what comes before that is the interpreter's own start."""
    begin = (
        "import sys, os; sys.argv = ['orchestrator', *sys.argv[1:]]\n"
        "os.write(1, b'.')\n"
        "from orchestrator.doors.cli import early_interrupts; early_interrupts.install(); os.write(1, b'!')\n"
        "from orchestrator.doors.cli.main import run; run()"
    )
    for _ in range(STARTS):
        argv = [sys.executable, "-c", begin, *words]
        with subprocess.Popen(
            argv, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            assert process.stdout is not None
            assert process.stdout.read(2) == b".!"
            time.sleep(random.uniform(0, 0.4))  # noqa: S311 - any moment will do
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=60)
        assert process.returncode == 130 or (process.returncode == 0 and words != ("batch",)), said
        assert b"Traceback" not in said
        assert b"Exception ignored" not in said
        assert process.returncode == 0 or said.startswith(b"error INTERRUPTED: ")


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

    monkeypatch.setattr(bootstrap.exactjson, "quicken", load)
    with pytest.raises(KeyboardInterrupt):
        bootstrap._quicken()
    assert seen == [{signal.SIGINT}, "whole"]
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())
