"""What stands around a process, as the system tells it."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import time

import pytest

from orchestrator.runner import surroundings
from orchestrator.runner.surroundings import Surroundings
from tests import persons

AROUND = Surroundings()


def test_an_empty_variable_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDECODE", "")
    assert "CLAUDECODE" in AROUND.variables()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells of the processes above")
def test_the_processes_above_are_told_with_their_variables(tmp_path: pathlib.Path) -> None:
    ask = "from orchestrator.runner.surroundings import Surroundings as S; print(list(S().ancestors())[:2])"
    inner = [sys.executable, "-c", ask]
    outer = f"import os, subprocess; subprocess.run({inner!r}, env={{'PATH': os.environ['PATH']}}, check=True)"
    done = subprocess.run(
        [sys.executable, "-c", outer], env={**os.environ, "MARKED": ""}, capture_output=True, text=True, check=True,
        cwd=pathlib.Path(__file__).resolve().parents[3],
    )  # fmt: skip
    nearest, above = eval(  # noqa: S307 - what our own process printed
        done.stdout, {"Ancestor": surroundings.Ancestor, "frozenset": frozenset}
    )
    assert ("MARKED" in nearest.variables, os.path.basename(nearest.words[0])[:6]) == (True, "python")
    assert "MARKED" not in above.variables


def test_streams_that_are_no_terminals_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, None)
    assert (AROUND.is_terminal(), AROUND.shows_terminal()) == (False, False)


def test_a_signature_is_good_for_its_key_text_and_purpose_alone(tmp_path: pathlib.Path) -> None:
    key, other = persons.key(tmp_path), persons.key(tmp_path, "other").read_text()
    signed = AROUND.sign(key.read_text(), str(key), "text\n", "one")
    assert signed is not None
    assert AROUND.verify(key.read_text(), "text\n", signed, "one")
    for given in (
        (other, "text\n", signed, "one"), (key.read_text(), "another\n", signed, "one"),
        (key.read_text(), "text\n", signed, "two"), (key.read_text(), "text\n", "", "one"),
    ):  # fmt: skip
        assert not AROUND.verify(*given)


def test_without_the_program_nothing_is_signed_and_nothing_is_good(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = persons.key(tmp_path)
    signed = AROUND.sign(key.read_text(), str(key), "text\n", "one")
    monkeypatch.setattr(surroundings, "KEYGEN", (str(tmp_path / "none"),))
    assert AROUND.sign(key.read_text(), str(key), "text\n", "one") is None
    assert not AROUND.verify(key.read_text(), "text\n", str(signed), "one")


def test_a_key_in_an_agent_signs_without_its_file(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = persons.key(tmp_path)
    started = subprocess.Popen(
        ["ssh-agent", "-D", "-a", str(tmp_path / "agent")], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        monkeypatch.setenv("SSH_AUTH_SOCK", str(tmp_path / "agent"))
        for _ in range(50):
            added = subprocess.run(["ssh-add", "-q", str(key.with_suffix(""))], check=False, capture_output=True)
            if added.returncode == 0:
                break
            time.sleep(0.1)
        line = key.read_text()
        for each in (key, key.with_suffix("")):
            each.unlink()
        signed = AROUND.sign(line, None, "text\n", "one")
        assert AROUND.verify(line, "text\n", str(signed), "one")
    finally:
        started.kill()
        started.wait()
