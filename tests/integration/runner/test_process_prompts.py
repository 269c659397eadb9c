"""Programs that ask somebody who is not there are ended with their question told; those that only work are not."""

from __future__ import annotations

import pathlib
import time

import pytest

from orchestrator.runner import process
from tests.integration.runner.supervised import QUICK, left, python, shell

ASKING = {
    "ssh": "Are you sure you want to continue connecting (yes/no/[fingerprint])? ",
    "npm": "Ok to proceed? (y) ",
    "Password": "Password: ",
    "git": "Username for 'https://github.com': ",
    "sudo": "[sudo] password for x: ",
    "Overwrite": "Overwrite? [y/N] ",
    "apt": "Do you want to continue? [Y/n] ",
    "Select": "Select 1-3> ",
    "passphrase": "Enter passphrase for key: ",
    "German": "Fortfahren? [J/n] ",
    "inquirer": "? Project name: ",
    "Press": "Press any key to continue",
    "confirm": "Really (yes/no)? ",
    "pager": "--More--",
    "end of a pager": "(END)",
}
PROGRAM = """
import os, sys, time
open("own.pid", "w").write(str(os.getpid()))
print("working")
{out}.write({text!r})
{out}.flush()
{rest}
time.sleep(60)
"""
SPINNER = """
for step in range(600):
    {out}.write("\\r" + "|/-\\\\"[step % 4] + {over!r})
    {out}.flush()
    time.sleep(0.02)
"""


def asking(folder: pathlib.Path, text: str, out: str = "sys.stdout", rest: str = "") -> process.Ended:
    ended = python(folder, PROGRAM.format(text=text, out=out, rest=rest))
    assert (ended.blocked_reason, ended.limit, ended.timeout_ms) == ("INTERACTIVE_PROMPT", None, None)
    assert ended.why == f"waits for an answer: {ended.prompt}"
    assert ended.duration_ms < 2000
    assert left(folder) == []
    return ended


@pytest.mark.parametrize("text", ASKING.values(), ids=ASKING)
def test_e03_a_prompt_without_a_newline_ends_the_run(tmp_path: pathlib.Path, text: str) -> None:
    ended = asking(tmp_path, text)
    assert ended.prompt == text.strip()
    assert ended.output == f"working\n{text}"


@pytest.mark.parametrize("text", ["Password: ", "Ok to proceed? (y) "], ids=["secret", "pair"])
def test_e03_a_prompt_on_stderr_with_colours_is_told_without_them(tmp_path: pathlib.Path, text: str) -> None:
    ended = asking(tmp_path, f"\x1b[1m\x1b[31m{text}\x1b[0m\x1b[?25h", "sys.stderr")
    assert ended.prompt == text.strip()


@pytest.mark.parametrize("over", [" Ok to proceed? (y) ", ""], ids=["redrawn whole", "the first letter"])
@pytest.mark.parametrize("out", ["sys.stdout", "sys.stderr"])
def test_e03_a_spinner_is_no_progress(tmp_path: pathlib.Path, over: str, out: str) -> None:
    ended = asking(tmp_path, "Ok to proceed? (y) ", out, SPINNER.format(out=out, over=over))
    assert "to proceed? (y)" in (ended.prompt or "")


def test_e03_a_spinner_on_the_other_stream_is_no_progress(tmp_path: pathlib.Path) -> None:
    asking(tmp_path, "Ok to proceed? (y) ", "sys.stdout", SPINNER.format(out="sys.stderr", over=""))


def test_a_key_in_a_prompt_is_masked(tmp_path: pathlib.Path) -> None:
    ended = asking(tmp_path, "Use sk-ant-api03-" + "aB3dE5fG7h" * 8 + "? [y/N] ")
    assert ended.prompt == "Use [MASKED:ANTHROPIC_KEY]? [y/N]"


@pytest.mark.parametrize("text", ["Overwrite? [y/N]\n", "Password:\n"], ids=["pair", "secret"])
def test_a_finished_prompt_ends_the_run_only_after_the_longer_time(tmp_path: pathlib.Path, text: str) -> None:
    ended = asking(tmp_path, text)
    assert ended.prompt == text.strip()
    assert ended.duration_ms >= QUICK.finished_prompt_ms


def test_an_open_prompt_ends_the_run_only_after_its_time(tmp_path: pathlib.Path) -> None:
    begun = time.monotonic()
    limits = QUICK._replace(prompt_ms=600)
    ended = shell(tmp_path, "printf 'Password: '; sleep 0.3; printf '\\rPassword again: '; sleep 60", limits=limits)
    assert ended.prompt == "Password again:"
    assert time.monotonic() - begun >= 0.9


HEALTHY = {
    "silent work": "sleep 0.5; echo ok",
    "dots": "for i in 1 2 3; do printf .; sleep 0.2; done; echo ok",
    "a compiler": "printf 'Compiling foo? yes'; sleep 0.45; echo; echo ok",
    "a question of the text": "echo 'Do you want to know more? See docs:'; sleep 0.45; echo ok",
    "a password in a test's log": "printf 'test_login asks password: '; sleep 0.05; echo passed; sleep 0.45; echo ok",
    "a secret's name in a log": "echo 'password: '; echo 'next test'; sleep 0.45; echo ok",
    "many equal lines": "i=0; while [ $i -lt 500 ]; do echo waiting; i=$((i + 1)); done; sleep 0.45; echo ok",
    "a start that is finished": "echo 'Enter your name:'; sleep 0.45; echo ok",
    "a quoted prompt": "printf 'It prints \"Overwrite? [y/N] \"'; sleep 0.45; echo; echo ok",
    "JSON": "printf '{\"result\": \"Overwrite? [y/N] '; sleep 0.5; echo '\"}'; echo ok",
    "a prompt that scrolled by": "printf 'Overwrite? [y/N] '; echo yes; sleep 0.45; echo ok",
    "a prompt that is erased": "printf 'Overwrite? [y/N] \\r\\033[K'; sleep 0.5; echo ok",
    "work on the other stream": "printf 'password: '; for i in a b c d e; do echo $i >&2; sleep 0.1; done; echo ok",
}


@pytest.mark.parametrize("text", HEALTHY.values(), ids=HEALTHY)
def test_e07_healthy_work_is_not_taken_for_a_prompt(tmp_path: pathlib.Path, text: str) -> None:
    ended = shell(tmp_path, text)
    assert (ended.exit_code, ended.blocked_reason) == (0, None)
    assert ended.output.endswith("ok\n")
