"""The tests of use cases pass on PostgreSQL as well: `pytest --store postgresql`.

Source: spec 90, section 1.
"""

from __future__ import annotations

import pathlib
import subprocess
import sys

import pytest

from tests import postgresql
from tests.conftest import LONG, clean_environment

CHOSEN = (
    "tests/integration/app/test_reports.py", "tests/integration/tasks/test_claims.py",
    "tests/integration/app/test_forged_plans.py", "tests/integration/store/test_completion_path.py",
    "tests/integration/store/test_guards_rows.py",
    "tests/integration/app/test_drive_trees.py::test_what_was_seen_stands_beside_the_report_and_in_the_verdict",
)  # fmt: skip
"""What always runs: reports, turns and their repeats; claims, which compare times and read walks; what an audit finds;
the completion view; attacks by SQL; and a driven session with its verdict."""
FURTHER = (
    "tests/integration/app", "tests/integration/tasks", "tests/integration/store/test_completion_confirmation.py",
    "tests/integration/store/test_completion_dependencies.py", "tests/integration/store/test_completion_scope.py",
    "tests/integration/store/test_guards_groups.py", "tests/integration/store/test_guards_running.py",
    "tests/integration/store/test_guards_tasks.py", "tests/integration/store/test_guards_turns.py",
)  # fmt: skip
"""What runs with the long drills: every use case, and all guards."""
WALKS = "not next_offers_what_a_claim_takes_over"
"""What is left out without them: a property whose walks take as long as a third of the rest."""


@pytest.mark.skipif(postgresql.programs() is None, reason="no PostgreSQL server, 14 or later, is installed")
def test_use_cases_behave_on_postgresql_as_on_a_file(repository: pathlib.Path) -> None:
    files = (*CHOSEN, *FURTHER) if LONG else CHOSEN
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-p", "no:cacheprovider", "--store=postgresql"]
    environment = {name: value for name, value in clean_environment().items() if not name.startswith("PYTEST_")}
    how = {"cwd": repository, "env": environment, "capture_output": True, "text": True}
    chosen = () if LONG else ("-k", WALKS)
    done = subprocess.run([*command, *chosen, *files], check=False, **how)  # type: ignore[call-overload]
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
