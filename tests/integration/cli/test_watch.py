"""`status --watch` says where a session stands until it has ended or somebody interrupts."""

from __future__ import annotations

import json
import pathlib
import signal
import subprocess
import sys

import pytest

from tests.integration.cli.conftest import Lines, Run, clean_environment

PM = {"by": "project_manager", "reason": "answered"}


def test_what_has_ended_is_printed_once(lines: Lines, run: Run) -> None:
    lines(("session create", {"id": "C1", "kind": "chat"}), ("session end", {"id": "C1", **PM}))
    done = run("status", "C1", "--watch", "--json")
    (answer,) = map(json.loads, done.stdout.splitlines())
    assert (done.returncode, answer["state"]) == (0, "ended")


def test_each_look_is_fresh_and_an_interrupt_ends_it(
    script: pathlib.Path, database: pathlib.Path, lines: Lines
) -> None:
    words = [sys.executable, str(script), "status", "S1", "--watch", "--interval", "1", "--json"]
    environment = clean_environment() | {"ORCHESTRATOR_DB": str(database)}
    with subprocess.Popen(words, stdout=subprocess.PIPE, env=environment) as watching:
        assert watching.stdout is not None
        first = json.loads(watching.stdout.readline())
        lines(("group create", {"id": "Z", "session_id": "S1"}))
        later = [json.loads(watching.stdout.readline()) for _ in range(2)][-1]
        watching.send_signal(signal.SIGINT)
        code = watching.wait(20)
    assert (first["progress"]["groups"], later["progress"]["groups"], code) == (2, 3, 0)


@pytest.mark.parametrize("words", [("--watch", "--interval", "0"), ("--interval", "5")], ids=" ".join)
def test_an_interval_that_does_not_fit_is_refused(words: tuple[str, ...], run: Run) -> None:
    assert run("status", "S1", *words).returncode == 64
