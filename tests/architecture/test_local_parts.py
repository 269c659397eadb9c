"""A sentence that names a path of the machine is made of parts, of which doors for callers elsewhere leave that out."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.architecture import source

PLACES = frozenset(
    ("path", "folder", "root", "real", "place", "link", "target", "verification_root", "directory", "program", "home",
     "tree", "database", "error", "location")
)  # fmt: skip
"""How a value is called that is a path, or an error of the system, which may hold one."""
WITHOUT = {
    "app/audit/export_evidence.py": "files of the evidence, below their project",
    "app/clients/install.py": "files of an installation, below their project",
    "app/clients/install_checks.py": "files of an installation, below their project",
    "app/clients/installed_settings.py": "settings below their project, and keys in them",
    "app/clients/main_agent.py": "a turn's place: role, group, number",
    "app/running/driven_turn.py": "what changed, below the folder of the turn",
    "app/running/evidence_and_log.py": "what changed, below the project",
    "runner/evidence_kept.py": "raw files, below their evidence",
    "runner/executors/api_child.py": "the output of a process of its own",
    "runner/executors/command.py": "why the text of a command cannot be split",
    "runner/output_capture.py": "recorded with the run, whose project is found there when it is read",
    "store/evidence.py": "files of the evidence, below their project",
}
"""Modules whose sentences have values of these names that are no absolute paths, and what they are."""
MODULES = [
    module for module in source.PRODUCT
    if not module.name.startswith(("orchestrator/core/", "orchestrator/doors/"))
]  # fmt: skip


def found(module: source.Module) -> Iterator[str]:
    """The values in f-strings that are sentences, and are called like paths."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.JoinedStr) and " " in _words(node):
            named = {_name(each.value) for each in node.values if isinstance(each, ast.FormattedValue)}
            yield from sorted(named & PLACES)


def _words(node: ast.JoinedStr) -> str:
    return "".join(each.value for each in node.values if isinstance(each, ast.Constant)).strip()


def _name(value: ast.expr) -> str:
    if isinstance(value, ast.Call) and value.args:
        return _name(value.args[0])
    return value.attr if isinstance(value, ast.Attribute) else getattr(value, "id", "")


def test_a_path_in_a_sentence_is_a_local_part() -> None:
    named = {module.name.removeprefix("orchestrator/"): sorted(set(found(module))) for module in MODULES}
    assert {name: values for name, values in named.items() if values and name not in WITHOUT} == {}
    assert [name for name in WITHOUT if not named[name]] == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [("f'The file {path} is gone.'", ["path"]), ("f'{path}/x'", []), ("f'in {names.word(run.root)} it'", ["root"]),
     ("sentence('in {} it', local(path))", []), ("f'it is {str(error)!r} now'", ["error"])],
)  # fmt: skip
def test_a_path_in_plain_text_is_found(text: str, expected: list[str]) -> None:
    assert [*found(source.Module("x.py", text))] == expected
