"""The fakes behave in their one way, and no program is started for it."""

from __future__ import annotations

import pathlib
import subprocess
import time
from collections.abc import Callable

import pytest

from orchestrator.runner.executors import fakes
from tests.contract.executors import making


@pytest.fixture(autouse=True)
def no_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "Popen", None)


@pytest.mark.parametrize(
    ("make", "status", "reason"),
    [
        pytest.param(fakes.success, "COMPLETE", None, id="success"),
        pytest.param(fakes.blocked, "BLOCKED", "INTERACTIVE_PROMPT", id="blocked"),
        pytest.param(fakes.error, "ERROR", None, id="error"),
        pytest.param(fakes.timeout, "ERROR", "TIMEOUT", id="timeout"),
    ],
)
def test_P37_each_fake_has_its_result_and_uses_no_program(
    tmp_path: pathlib.Path, make: Callable[[], fakes.Fake], status: str, reason: str | None
) -> None:
    fake = make()
    result = fake.execute(making.task(tmp_path))
    assert (result.status, result.session_id) == (status, making.SESSION)
    assert (result.executor_blocked, result.blocked_reason) == (reason is not None, reason)
    assert (fake.production, fake.is_available().available) == (False, True)


def test_P35_the_timeout_names_its_clock_at_once(tmp_path: pathlib.Path) -> None:
    begun = time.monotonic()
    result = fakes.timeout().execute(making.task(tmp_path, limits=making.limits(executor_timeout_ms=45_000)))
    assert (result.timeout_ms, result.limit, result.cause) == (45_000, "executor_timeout_ms", "timeout")
    assert time.monotonic() - begun < 5


def test_a_success_makes_its_files_and_claims_them(tmp_path: pathlib.Path) -> None:
    task = making.task(tmp_path)
    result = fakes.success(writes={"docs/a.md": "# A\n"}).execute(task)
    assert result.claimed_files == ("docs/a.md",)
    assert (pathlib.Path(task.project) / "docs/a.md").read_text("utf-8") == "# A\n"


def test_P31_a_success_may_claim_what_it_never_made(tmp_path: pathlib.Path) -> None:
    task = making.task(tmp_path)
    assert fakes.success(claimed=("README.md",)).execute(task).claimed_files == ("README.md",)
    assert list(pathlib.Path(task.project).iterdir()) == []


def test_a_delay_is_kept(tmp_path: pathlib.Path) -> None:
    begun = time.monotonic()
    assert fakes.success(delay_ms=200).execute(making.task(tmp_path)).duration_ms == 200
    assert time.monotonic() - begun >= 0.2


def test_P35_the_task_s_own_clock_counts_as_well(tmp_path: pathlib.Path) -> None:
    limits = making.limits(task_deadline=time.monotonic() + 0.1)
    result = fakes.success(delay_ms=60_000).execute(making.task(tmp_path, limits=limits))
    assert (result.limit, result.blocked_reason) == ("task_limits.seconds", "TIMEOUT")


@pytest.mark.parametrize("name", ["../a", "/etc/a", "a/../../b", "", "C:/a", "a\\b", "link/a", "file-link"])
def test_a_fake_never_writes_outside_of_the_project(tmp_path: pathlib.Path, name: str) -> None:
    task = making.task(tmp_path)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("kept", "utf-8")
    (pathlib.Path(task.project) / "link").symlink_to(outside)
    (pathlib.Path(task.project) / "file-link").symlink_to(outside / "kept")
    with pytest.raises(ValueError, match=r"outside|no file|a link"):
        fakes.success(writes={name: "x"}).execute(task)
    assert [path.read_text("utf-8") for path in outside.iterdir()] == ["kept"]
