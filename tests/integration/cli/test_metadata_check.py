"""`metadata check` judges a file as `route` would."""

from __future__ import annotations

import json
import pathlib

import pytest

from tests.conftest import Command

HALF = {
    "status": "partial",
    "partial_progress": {"stage": "context_exhaustion_handoff", "handoff_path": "handoff.md"},
}


@pytest.mark.parametrize(("there", "code"), [(False, 4), (True, 0)], ids=["missing", "there"])
def test_a_hand_off_file_must_be_there(command: Command, tmp_path: pathlib.Path, there: bool, code: int) -> None:
    (tmp_path / "half.json").write_text(json.dumps(HALF))
    if there:
        (tmp_path / "handoff.md").write_text("go on at phase 3")
    done = command("metadata", "check", "half.json", "--json")
    assert (done.returncode, "handoff.md" in done.stdout) == (code, not there)
