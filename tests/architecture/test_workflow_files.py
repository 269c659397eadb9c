"""The workflow files for GitHub, those of the project and the one to copy, as two linters see them."""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys

import pytest
import yaml

from tests.architecture import source

OWN = sorted((source.ROOT / ".github/workflows").glob("*.yml"))
WORKFLOWS = [*OWN, source.ROOT / "docs/gate.yml"]
BIN = pathlib.Path(sys.executable).parent


def lint(*command: str | pathlib.Path) -> None:
    done = subprocess.run(command, cwd=source.ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_they_have_the_shape_of_workflow_files() -> None:
    lint(BIN / "check-jsonschema", "--builtin-schema", "vendor.github-workflows", *WORKFLOWS)
    lint(BIN / "check-jsonschema", "--builtin-schema", "vendor.dependabot", ".github/dependabot.yml")


def test_they_are_safe() -> None:
    lint(BIN / "zizmor", "--quiet", "--offline", "--persona", "pedantic", ".github", "docs/gate.yml")


def test_a_workflow_that_is_unsafe_is_found(tmp_path: pathlib.Path) -> None:
    text = WORKFLOWS[-1].read_text("utf-8")
    (tmp_path / "gate.yml").write_text(re.sub(r"@[0-9a-f]{40}", "@main", text))
    with pytest.raises(AssertionError, match="unpinned"):
        lint(BIN / "zizmor", "--quiet", "--offline", tmp_path / "gate.yml")


def test_whatever_they_run_of_the_project_is_there() -> None:
    script = (source.ROOT / "task").read_text("utf-8")
    tasks = re.search(r"^case \$task in\n(.*)^esac$", script, re.DOTALL | re.MULTILINE)
    assert tasks is not None
    known = set(re.findall(r"[\w-]+", " ".join(re.findall(r"^([\w| -]+)\)", tasks[1], re.MULTILINE))))
    for path in OWN:
        jobs = yaml.safe_load(path.read_text("utf-8"))["jobs"].values()
        ran = "\n".join(step.get("run", "") for job in jobs for step in job["steps"])
        assert set(re.findall(r"(?:\./|/again/|/again\" )task\"? (\w+)", ran)) <= known, path.name
    for path in (*source.ROOT.glob("*.md"), *(source.ROOT / "docs").rglob("*.md")):
        if path.name != "CHANGELOG.md":
            assert set(re.findall(r"`\./task (\w+)", path.read_text("utf-8"))) <= known, path.name
