"""Which commands lint, test, type-check and build a project, as its own files say it.

Only what a project declares is found; of what it does not declare, it has none. Commands are argument lists.

Source: seed 001, Property 4 and 11.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Mapping, Sequence

from orchestrator.core import strict_json
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.running.tests_exist import DEFAULT, Argv, Detection, own_tests
from orchestrator.hints import Any

MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
READ = ("pyproject.toml", "setup.cfg", "tox.ini", "package.json", *MAKEFILES)
"""The files whose text is looked into, all in the project's own folder."""

_LOCKS = {"pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn", "bun.lockb": "bun", "bun.lock": "bun"}
_SCRIPTS = {
    "lint": ("lint",),
    "tests": ("test",),
    "types": ("typecheck", "type-check", "types", "tsc"),
    "build": ("build",),
}
_TARGETS = {"lint": ("lint",), "tests": ("test", "tests"), "types": ("typecheck", "types", "mypy"), "build": ("build",)}
_NO_TEST = "no test specified"
_TARGET = r"(?m)^([A-Za-z0-9][A-Za-z0-9 _.-]*?)[ \t]*::?(?!=)"
_PYTEST = r"\[(?:tool:)?pytest\]"
_GO = {"lint": ("go", "vet", "./..."), "tests": ("go", "test", "./..."), "build": ("go", "build", "./...")}
_CARGO = {"tests": ("cargo", "test"), "types": ("cargo", "check", "--all-targets"), "build": ("cargo", "build")}

Found = dict[str, Argv]


class Checks(NamedTuple):
    """The commands of each check; all of them have to succeed, and none means that the project has no such check."""

    lint: tuple[Argv, ...] = ()
    tests: tuple[Argv, ...] = ()
    types: tuple[Argv, ...] = ()
    build: tuple[Argv, ...] = ()


def detect(
    paths: Collection[str],
    texts: Mapping[str, str],
    *,
    python: str = "python3",
    detection: Detection = DEFAULT,
) -> Checks:
    """The checks of a project.

    Args:
        paths: its files, relative, with slashes.
        texts: the contents of those of `READ` that it has.
        python: the interpreter of its commands in Python.
        detection: with commands that the project sets itself, which go before those that are found.

    Returns:
        Per check the command of every ecosystem that has one; a Makefile counts where no other has the check.
    """
    found = [_python(paths, texts, python, detection), _node(paths, texts), _go(paths), _cargo(paths)]
    made = _make(texts)
    checks = {}
    for name in Checks._fields:
        commands = tuple(part[name] for part in found if name in part)
        checks[name] = commands or ((made[name],) if name in made else ())
    return Checks(**(checks | dict(detection.checks)))


def make_tests(texts: Mapping[str, str]) -> tuple[str, ...]:
    """The target of a Makefile that runs tests: a sign of tests in a language whose tests no name tells."""
    return tuple(" ".join(argv) for name, argv in _make(texts).items() if name == "tests")


def _python(paths: Collection[str], texts: Mapping[str, str], python: str, detection: Detection) -> Found:
    tools = _tools(texts.get("pyproject.toml", ""))
    ini = texts.get("setup.cfg", "") + "\n" + texts.get("tox.ini", "")
    names = set(paths)
    found: Found = {}
    if "ruff" in tools or names & {"ruff.toml", ".ruff.toml"}:
        found["lint"] = (python, "-m", "ruff", "check", ".")
    elif ".flake8" in names or "[flake8]" in ini:
        found["lint"] = (python, "-m", "flake8")
    set_up = "pytest" in tools or names & {"pytest.ini", ".pytest.ini", "conftest.py"} or re.search(_PYTEST, ini)
    if set_up or any(path.endswith(".py") for path in own_tests(paths, detection)):
        found["tests"] = (python, "-m", "pytest")
    if "mypy" in tools or names & {"mypy.ini", ".mypy.ini"} or "[mypy]" in ini:
        # What is checked is set where the tool is set up, or is the whole folder.
        found["types"] = (python, "-m", "mypy", *(() if _mypy_has_targets(tools, ini) else (".",)))
    elif "pyright" in tools or "pyrightconfig.json" in names:
        found["types"] = (python, "-m", "pyright")
    return found


def _mypy_has_targets(tools: Mapping[str, Any], ini: str) -> bool:
    settings = tools.get("mypy")
    named = isinstance(settings, dict) and bool({"files", "packages", "modules"} & settings.keys())
    return named or re.search(r"(?ms)^\[mypy\][^\[]*^(files|packages|modules)\s*=", ini) is not None


def _tools(text: str) -> Mapping[str, Any]:
    try:
        tools = tomllib.loads(text).get("tool", {})
    except tomllib.TOMLDecodeError:
        return {}
    return tools if isinstance(tools, dict) else {}


def _node(paths: Collection[str], texts: Mapping[str, str]) -> Found:
    scripts = _scripts(texts.get("package.json", ""))
    manager = next((name for lock, name in _LOCKS.items() if lock in paths), "npm")
    found: Found = {}
    for check, candidates in _SCRIPTS.items():
        script = next((name for name in candidates if scripts.get(name, "").strip()), None)
        if script and _NO_TEST not in scripts[script]:
            found[check] = (manager, "run", script)
    return found


def _scripts(text: str) -> dict[str, str]:
    try:
        document = strict_json.lenient(text) if text.strip() else {}
    except ValueError:
        return {}
    scripts = document.get("scripts") if isinstance(document, dict) else None
    return {key: value for key, value in scripts.items() if isinstance(value, str)} if isinstance(scripts, dict) else {}


def _go(paths: Collection[str]) -> Found:
    return dict(_GO) if "go.mod" in paths else {}


def _cargo(paths: Collection[str]) -> Found:
    return dict(_CARGO) if "Cargo.toml" in paths else {}


def _make(texts: Mapping[str, str]) -> Found:
    text = next((texts[name] for name in MAKEFILES if name in texts), "")
    targets = {target for line in re.findall(_TARGET, text) for target in line.split()}
    return {check: ("make", name) for check, names in _TARGETS.items() if (name := _first(names, targets))}


def _first(names: Sequence[str], among: Collection[str]) -> str | None:
    return next((name for name in names if name in among), None)
