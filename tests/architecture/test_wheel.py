"""What users install: a wheel, with the locked packages, far from any checkout."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys
import venv
import zipfile

import pytest

pytestmark = pytest.mark.slow

PIP = ("-m", "pip", "--quiet", "--quiet", "--disable-pip-version-check", "--no-input")
UV = ("-m", "uv", "--quiet", "pip")
"""As pip, in a fraction of the time; that pip installs the lock is shown whenever the checkout is set up."""


def python(interpreter: pathlib.Path, folder: pathlib.Path, *arguments: str) -> str:
    """Run an interpreter outside of the checkout and return what it printed."""
    outside = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "ORCHESTRATOR_"))}
    done = subprocess.run(
        [interpreter, *arguments], cwd=folder, env=outside, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, (arguments, done.stdout, done.stderr)
    return done.stdout


@pytest.fixture(scope="module")
def wheel(repository: pathlib.Path, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The wheel, built from the checkout with the locked back end."""
    folder = tmp_path_factory.mktemp("wheel")
    options = ("--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", str(folder))
    python(pathlib.Path(sys.executable), folder, *PIP, "wheel", *options, str(repository))
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(
    wheel: pathlib.Path, repository: pathlib.Path, tmp_path_factory: pytest.TempPathFactory
) -> pathlib.Path:
    """The interpreter of a fresh environment that holds the runtime lock and the wheel, and nothing else."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder / "env")
    interpreter = folder / "env" / "bin" / "python"
    own, install = pathlib.Path(sys.executable), (*UV, "install", "--python", str(interpreter))
    python(own, folder, *install, "--require-hashes", "-r", str(repository / "requirements.lock"))
    python(own, folder, *install, "--no-deps", "--no-index", str(wheel))
    return interpreter


def test_the_installed_command_says_its_version(installed: pathlib.Path, tmp_path: pathlib.Path) -> None:
    version = python(installed.with_name("orchestrator"), tmp_path, "--version")
    assert python(installed, tmp_path, "-m", "orchestrator", "--version") == version
    metadata = "import importlib.metadata as m; print(m.version('guarded-orchestrator'))"
    assert python(installed, tmp_path, "-c", metadata).strip() in version


def test_the_command_starts_where_the_path_of_its_environment_has_a_blank(
    installed: pathlib.Path, wheel: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    interpreter = tmp_path / "my env" / "bin" / "python"
    venv.create(interpreter.parent.parent)
    packages = "import sysconfig; print(sysconfig.get_path('purelib'))"
    shared, own = (pathlib.Path(python(which, tmp_path, "-c", packages).strip()) for which in (installed, interpreter))
    (own / "shared.pth").write_text(f"{shared}\n")
    pip = (*PIP, "--python", str(interpreter))
    options = ("--no-compile", "--no-deps", "--no-index", "--ignore-installed")
    python(pathlib.Path(sys.executable), tmp_path, *pip, "install", *options, str(wheel))
    version = python(interpreter, tmp_path, "-m", "orchestrator", "--version")
    command, generated = interpreter.with_name("orchestrator"), interpreter.with_name("guarded-orchestrator")
    first, second = tmp_path / "first link", tmp_path / "second link"
    first.symlink_to(os.path.relpath(command, tmp_path))
    second.symlink_to(first)
    # Outside of a virtual environment the generated command beside it is what starts.
    elsewhere = tmp_path / "no env"
    elsewhere.mkdir()
    alone = pathlib.Path(shutil.copy(command, elsewhere / "orchestrator"))
    (elsewhere / generated.name).symlink_to(generated)
    for each in (command, generated, first, second, alone):
        assert python(each, tmp_path, "--version") == version, each


def test_the_lock_holds_all_that_the_wheel_asks_for(installed: pathlib.Path, tmp_path: pathlib.Path) -> None:
    assert python(pathlib.Path(sys.executable), tmp_path, *UV, "check", "--python", str(installed)) == ""


def test_the_wheel_carries_the_files_that_belong_to_the_product(
    installed: pathlib.Path, repository: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    shown = python(
        installed,
        tmp_path,
        "-c",
        "from orchestrator import resources\nfor name in resources.NAMES: print(resources.path(name))",
    )
    found = [pathlib.Path(line) for line in shown.splitlines()]
    assert [path.name for path in found] == ["workflow", "agents", "migrations", "alembic.ini"]
    assert [path for path in found if path.is_relative_to(repository)] == []
    assert shipped(found[0].parent) == shipped(repository)


def test_the_wheel_carries_what_pages_are_made_from(wheel: pathlib.Path, repository: pathlib.Path) -> None:
    web = repository / "orchestrator" / "doors" / "web"
    parts = [path for folder in ("templates", "static") for path in (web / folder).iterdir()]
    assert parts != []
    with zipfile.ZipFile(wheel) as packed:
        assert {path.relative_to(repository).as_posix() for path in parts} - set(packed.namelist()) == set()


def shipped(root: pathlib.Path) -> set[str]:
    """The files below the folders that the wheel carries, without caches."""
    folders = ("workflow", "agents", "migrations")
    files = [path for name in folders for path in (root / name).rglob("*") if path.is_file()]
    return {path.relative_to(root).as_posix() for path in files if "__pycache__" not in path.parts}
