"""What is released: the same bytes wherever it is built, complete, and installable in the ways that people use."""

from __future__ import annotations

import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tomllib
import venv
from collections.abc import Mapping

import pytest

from tests import conftest
from tests.architecture import source
from tests.conftest import clean_environment

pytestmark = pytest.mark.slow

BIN = pathlib.Path(sys.executable).parent
SECONDS = 900
EXTRAS = {
    "web": "from orchestrator.doors.web import server",
    "mcp": "from orchestrator.doors.mcp import server, server_lifecycle",
    "anthropic": "import anthropic",
    "openai": "import openai",
    "postgres": "from orchestrator.store import postgresql",
}
"""Each extra by itself, and what imports what it is for."""
BRIEF = ("web", "postgres")
"""Those that are always tried: each is installed, and compiled when it is first imported."""


def ran(*command: str | pathlib.Path, folder: pathlib.Path, **more: str) -> str:
    """What a program printed, called in a folder as from a person's shell."""
    environment = {**clean_environment(), **more}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert done.returncode == 0, (command, done.stdout, done.stderr)
    return done.stdout


def tracked() -> list[str]:
    """The files of the checkout that belong to it, also where they were not committed yet."""
    listed = ran("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", folder=source.ROOT)
    return [path for path in listed.split("\0") if path and (source.ROOT / path).is_file()]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The folder of the archives, built from a copy of the checkout in which stray files lie."""
    copy = tmp_path_factory.mktemp("copy")
    for path in tracked():
        (copy / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source.ROOT / path, copy / path)
        (copy / path).chmod(0o700 if os.access(source.ROOT / path, os.X_OK) else 0o600)
    (copy / "notes.txt").write_text("stray")
    return build(copy, tmp_path_factory.mktemp("built"))


@pytest.fixture(scope="module")
def wheel(built: pathlib.Path) -> pathlib.Path:
    (found,) = built.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Lets every installer take the releases of the lock file, so that a new one of somebody else's breaks no test."""
    lock = (source.ROOT / "requirements-all.lock").read_text("utf-8")
    pinned = re.findall(r"^[a-z][^\s;]*==[^\s;]+(?: ; [^\\\n]+)?", lock, re.MULTILINE)
    path = tmp_path_factory.mktemp("releases") / "constraints.txt"
    path.write_text("\n".join(pinned))
    return {"PIP_CONSTRAINT": str(path), "UV_CONSTRAINT": str(path), "UV_PYTHON_DOWNLOADS": "never"}


def said(module: str) -> list[str]:
    """The words with which `./task` calls a module; the task itself would also set up the checkout's `.venv`."""
    text = (source.ROOT / "task").read_text("utf-8").replace("\\\n", "")
    (words,) = re.findall(rf"\.venv/bin/python (.*-m {module} .*)", text)
    return shlex.split(words)


def build(folder: pathlib.Path, to: pathlib.Path) -> pathlib.Path:
    """Build as `./task dist` does, into another folder."""
    ran(sys.executable, *said("hatchling"), "--directory", to, folder=folder)
    return to


def members(archive: pathlib.Path) -> list[str]:
    with tarfile.open(archive) as opened:
        return sorted(each.name.partition("/")[2] for each in opened.getmembers() if each.isfile())


def test_archives_are_the_same_bytes_in_another_folder_with_other_modes_and_times(
    built: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    again = build(source.ROOT, tmp_path)
    assert {path.name: path.read_bytes() for path in again.iterdir()} == {
        path.name: path.read_bytes() for path in built.iterdir()
    }


def test_the_source_archive_holds_what_is_tracked_and_makes_the_same_wheel(
    built: pathlib.Path, wheel: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    (archive,) = built.glob("*.tar.gz")
    assert members(archive) == sorted([*tracked(), "PKG-INFO"])
    with tarfile.open(archive) as opened:
        opened.extractall(tmp_path, filter="data")
    (unpacked,) = tmp_path.iterdir()
    again = build(unpacked, tmp_path / "again")
    assert (again / wheel.name).read_bytes() == wheel.read_bytes()


def test_the_bill_of_materials_names_every_package_with_its_hashes() -> None:
    bill = json.loads(ran(sys.executable, *said("cyclonedx_py"), folder=source.ROOT))
    about = bill["metadata"]["component"]
    assert (about["name"], about["version"]) == ("guarded-orchestrator", version())
    locked = re.findall(r"^([a-z][^\s;=]*)==([^\s;]+)", (source.ROOT / "requirements-all.lock").read_text(), re.M)
    assert sorted({(each["name"], each["version"]) for each in bill["components"]}) == sorted(set(locked))
    assert all(
        reference["hashes"] for each in bill["components"] for reference in each["externalReferences"]
        if reference["type"] == "distribution"
    )  # fmt: skip


def version() -> str:
    found = re.search(r'^version = "(.+)"$', (source.ROOT / "pyproject.toml").read_text("utf-8"), re.M)
    assert found is not None
    return found[1]


def pythons() -> list[pathlib.Path]:
    """The interpreters that are tried: this one, and in the long form all of 3.11 to 3.14 that are found."""
    if not conftest.LONG:
        return [pathlib.Path(sys.executable).resolve()]
    found = (shutil.which(f"python3.{minor}") for minor in range(11, 15))
    kept = sorted((pathlib.Path.home() / ".pyenv/versions").glob("3.1[1-4].*/bin/python"))
    return [*(pathlib.Path(each) for each in found if each), *kept]


def with_pip(python: pathlib.Path, wheel: pathlib.Path, folder: pathlib.Path, more: Mapping[str, str]) -> pathlib.Path:
    # The pip of these tests, for an environment without one: putting one into it is no matter of the project's.
    ran(python, "-m", "venv", "--without-pip", folder / "env", folder=folder)
    pip = [sys.executable, "-m", "pip", "--python", folder / "env/bin/python"]
    ran(*pip, "install", "-q", "--no-compile", "--disable-pip-version-check", wheel, folder=folder, **more)
    return folder / "env/bin/orchestrator"


def with_pipx(python: pathlib.Path, wheel: pathlib.Path, folder: pathlib.Path, more: Mapping[str, str]) -> pathlib.Path:
    homes = {"PIPX_HOME": str(folder / "pipx"), "PIPX_BIN_DIR": str(folder / "bin")}
    ran(BIN / "pipx", "install", "--python", python, wheel, folder=folder, **homes, **more)
    return folder / "bin/orchestrator"


def with_uv(python: pathlib.Path, wheel: pathlib.Path, folder: pathlib.Path, more: Mapping[str, str]) -> pathlib.Path:
    homes = {"UV_TOOL_DIR": str(folder / "tools"), "UV_TOOL_BIN_DIR": str(folder / "bin")}
    ran(BIN / "uv", "tool", "install", "-q", "--python", python, wheel, folder=folder, **homes, **more)
    return folder / "bin/orchestrator"


@pytest.mark.parametrize("install", [with_pip, pytest.param(with_pipx, marks=conftest.long_form), with_uv])
@pytest.mark.parametrize("python", pythons(), ids=lambda python: python.parts[-3])
def test_the_command_works_however_it_was_installed(
    install: object, python: pathlib.Path, wheel: pathlib.Path, releases: dict[str, str], tmp_path: pathlib.Path
) -> None:
    command = install(python, wheel, tmp_path, releases)  # type: ignore[operator]
    database = {"ORCHESTRATOR_DB": str(tmp_path / "x.db")}
    assert ran(command, "--version", folder=tmp_path).split() == ["orchestrator", version()]
    ran(command, "init", folder=tmp_path, **database)
    begun = ran(command, "session", "create", "S1", "--goal", "Greet people", "--json", folder=tmp_path, **database)
    assert json.loads(begun)["success"] is True


def test_every_extra_is_tried() -> None:
    declared = tomllib.loads((source.ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    assert EXTRAS.keys() == declared.keys()


@pytest.mark.parametrize(
    "extra", [each if each in BRIEF else pytest.param(each, marks=conftest.long_form) for each in EXTRAS]
)
def test_each_extra_can_be_had_by_itself(
    extra: str, wheel: pathlib.Path, releases: dict[str, str], tmp_path: pathlib.Path
) -> None:
    interpreter = with_uv_pip(f"{wheel}[{extra}]", tmp_path, releases)
    ran(interpreter, "-c", EXTRAS[extra], folder=tmp_path)


def with_uv_pip(package: str, folder: pathlib.Path, more: Mapping[str, str], *options: str) -> pathlib.Path:
    """The interpreter of a fresh environment with a package."""
    venv.create(folder / "env")
    interpreter = folder / "env/bin/python"
    ran(BIN / "uv", "pip", "install", "-q", *options, "--python", interpreter, package, folder=folder, **more)
    return interpreter


def test_type_checkers_take_the_types_of_what_is_installed(
    wheel: pathlib.Path, releases: dict[str, str], tmp_path: pathlib.Path
) -> None:
    # Of the product alone: what it needs is looked through for a quarter of a minute, and says nothing of its types.
    interpreter = with_uv_pip(str(wheel), tmp_path, releases, "--no-deps")
    (tmp_path / "use.py").write_text("from orchestrator import errors\nreveal_type(errors.EXIT_OK)\nerrors.nothing\n")
    done = subprocess.run(
        [BIN / "mypy", "--python-executable", interpreter, "--no-incremental", "use.py"],
        cwd=tmp_path, capture_output=True, text=True, timeout=SECONDS, check=False, env=clean_environment(),
    )  # fmt: skip
    assert 'Revealed type is "int"' in done.stdout
    assert 'Module has no attribute "nothing"' in done.stdout
