"""What is left of a run whose runner is gone: who belongs to it, and who does not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from orchestrator.runner import orphan_recovery, process_table, process_tree, rlimit_tag
from tests.integration.runner import supervised

TAG = orphan_recovery.tag("host:of:colons:4711:99", "task-1")
WAITS = "import time; print('begun', flush=True); time.sleep(600)"


@pytest.fixture
def process() -> Iterator[subprocess.Popen[bytes]]:
    """One that the run started, in a session of its own; it listens to nobody who asks it to end."""
    text = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {WAITS}"
    variables = process_tree.marked(os.environ, process_tree.token(TAG))
    with subprocess.Popen(
        [sys.executable, "-c", text], env=variables, stdout=subprocess.PIPE, start_new_session=True
    ) as begun:
        assert begun.stdout is not None
        assert begun.stdout.readline() == b"begun\n"
        yield begun
        begun.kill()


def test_a_tag_holds_number_start_and_run_and_no_colon() -> None:
    assert TAG == "4711.99.task-1"


def test_one_that_does_not_listen_is_killed_and_told(process: subprocess.Popen[bytes]) -> None:
    found = orphan_recovery.end(TAG, grace_s=0.1)
    assert (found.left, found.is_told) == ((), True)
    assert [each.split()[0] for each in found.ended] == [str(process.pid)]
    assert process.wait(5) == -signal.SIGKILL


def test_nothing_is_found_of_a_run_that_left_nothing() -> None:
    assert orphan_recovery.end(orphan_recovery.tag("host:4711:99", "task-2")) == orphan_recovery.Lost()


def test_one_that_cannot_be_ended_is_left(process: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_table, "send", lambda process, what: None)
    monkeypatch.setattr(orphan_recovery, "KILLING_S", 0.1)
    found = orphan_recovery.end(TAG, grace_s=0.1)
    assert (found.ended, [each.split()[0] for each in found.left]) == ((), [str(process.pid)])
    assert supervised.alive(process.pid)


def test_where_the_system_does_not_tell_nobody_is_looked_for_and_it_is_said(
    process: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_table, "PROC", "/nowhere")
    assert orphan_recovery.end(TAG) == orphan_recovery.Lost(is_told=False)
    assert supervised.alive(process.pid)


@pytest.mark.parametrize(
    ("mark", "expected"),
    [
        pytest.param(f"{TAG}-0123", True, id="its own"),
        pytest.param(f"outer-1:{TAG}-0123", True, id="within another one"),
        pytest.param(f"{TAG}-0123:inner-1", True, id="around another one"),
        pytest.param(f"{TAG}1-0123", False, id="a longer number"),
        pytest.param(f"1{TAG}-0123", False, id="another runner"),
        pytest.param(TAG, False, id="no whole mark"),
        pytest.param("", False, id="none"),
    ],
)
def test_who_was_started_by_the_run_knows_it(monkeypatch: pytest.MonkeyPatch, mark: str, expected: bool) -> None:
    monkeypatch.setenv(process_tree.MARK, mark)
    assert orphan_recovery.is_within(TAG) is expected


def test_one_that_shed_its_mark_is_found_by_what_it_cannot_shed() -> None:
    with rlimit_tag.given(rlimit_tag.new(TAG)) as brand:
        bare = subprocess.Popen([sys.executable, "-c", WAITS], env={}, stdout=subprocess.PIPE, start_new_session=True)
    assert brand is not None
    rlimit_tag.fix(bare.pid, brand)
    with bare:
        assert bare.stdout is not None
        assert bare.stdout.readline() == b"begun\n"
        assert orphan_recovery.end(orphan_recovery.tag("host:4711:99", "task-2")) == orphan_recovery.Lost()
        found = orphan_recovery.end(TAG)
        assert [each.split()[0] for each in found.ended] == [str(bare.pid)]
