"""The import contracts of pyproject.toml hold for an innocent package and catch every kind of breach."""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys
import tomllib

import pytest

from tests.architecture import source

PROJECT = tomllib.loads((source.ROOT / "pyproject.toml").read_text("utf-8"))
CONTRACTS = {contract["id"]: contract for contract in PROJECT["tool"]["importlinter"]["contracts"]}
LEVELS = [name for level in CONTRACTS["levels"]["layers"] for name in level.split(" | ")]

INNOCENT = {
    **{f"app/{name}/__init__.py": "" for name in LEVELS},
    "doors/cli.py": "from orchestrator import bootstrap",
    "bootstrap.py": "from orchestrator import app, store",
    "app/__init__.py": "from orchestrator import core, store",
    "store/__init__.py": "import sqlite3",
    "core/__init__.py": "import json",
    "core/lifecycle.py": "import transitions",
    "progress.py": "import sys",
    "resources.py": "import pathlib",
    "files.py": "import os",
    "worktrees.py": "import os",
    "errors.py": "",
}

RUNNER = {"runner/__init__.py": "import subprocess"}

BREACHES = {
    "direction": {"core/bad.py": "from orchestrator import store"},
    "levels": {"app/kernel/bad.py": "def late():\n    from orchestrator.app import engine\n    return engine"},
    "doors": {"doors/web.py": "from orchestrator.doors import cli"},
    "adapters": {"doors/web.py": "from orchestrator import store"},
    "database": {"app/bad.py": "import sqlite3"},
    "processes": {"store/bad.py": "import subprocess"},
    "machines": {"core/bad.py": "import transitions"},
    "purity": {"core/bad.py": "def late():\n    import time\n    return time"},
}


def broken(folder: pathlib.Path, files: dict[str, str]) -> set[str]:
    """Write a package of these files beside the project's contracts, and return the ids of those that it breaks."""
    package = folder / "orchestrator"
    for name, text in files.items():
        path = package / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n", "utf-8")
    for parent in {path.parent for path in package.rglob("*.py")} | {package}:
        (parent / "__init__.py").touch()
    (folder / "pyproject.toml").write_bytes((source.ROOT / "pyproject.toml").read_bytes())
    linter = pathlib.Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([linter, "--no-cache"], cwd=folder, capture_output=True, text=True, check=False)
    verdicts = dict(re.findall(r"^(.*) (KEPT|BROKEN)\b", done.stdout, re.MULTILINE))
    assert set(verdicts) == {contract["name"] for contract in CONTRACTS.values()}, done.stdout
    return {key for key, contract in CONTRACTS.items() if verdicts[contract["name"]] == "BROKEN"}


@pytest.mark.parametrize(
    "files",
    [
        pytest.param(INNOCENT | RUNNER, id="every package"),
        pytest.param(INNOCENT, id="no runner yet"),
        pytest.param({name: text for name, text in INNOCENT.items() if name != "bootstrap.py"}, id="no bootstrap yet"),
    ],
)
def test_an_innocent_package_keeps_every_contract(tmp_path: pathlib.Path, files: dict[str, str]) -> None:
    files = files if "bootstrap.py" in files else files | {"doors/cli.py": "from orchestrator import app"}
    assert broken(tmp_path, files) == set()


@pytest.mark.parametrize("contract", BREACHES)
def test_a_breach_is_caught(tmp_path: pathlib.Path, contract: str) -> None:
    assert contract in broken(tmp_path, INNOCENT | RUNNER | BREACHES[contract])


def test_every_use_case_has_a_level(tmp_path: pathlib.Path) -> None:
    assert broken(tmp_path, INNOCENT | RUNNER | {"app/elsewhere.py": ""}) == {"levels"}


def test_every_contract_has_a_breach_here() -> None:
    assert set(BREACHES) == set(CONTRACTS)
