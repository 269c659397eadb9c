"""What every error that the product can raise says at the doors for programs: nothing of this machine, and no key."""

from __future__ import annotations

import ast
import functools
import inspect
import json
import os
from collections.abc import Callable

import pytest

pytest.importorskip("fastapi", reason="HTTP needs the extra `web`")

from orchestrator import errors
from orchestrator.app.kernel import operations
from orchestrator.core.running import codes
from orchestrator.core.suggestions import joined, local, quoted, sentence, suggest
from orchestrator.doors.mcp.tool_calls import Caller, Settings
from orchestrator.doors.web import failures
from orchestrator.store import problems
from tests.architecture import source
from tests.cases import every

KINDS = {
    name: kind for name, kind in inspect.getmembers(errors, inspect.isclass)
    if issubclass(kind, errors.OrchestratorError)
}  # fmt: skip
KEY = "sk-ant-api03-" + "a1B2" * 20
PROJECT = "/srv/hushhush (by me)/it's hushhush"
DB = f"{PROJECT}/.orchestrator/orchestrator.db"
PLACES = {
    "the database": DB, "beside it": f"{DB}-wal", "its folder": os.path.dirname(DB), "its project": PROJECT,
    "in its project": f"{PROJECT}/src/hushhush file.py", "what it is about": "/mnt/hushhush disk/evidence.gz",
    "below what it is about": "/mnt/hushhush disk/evidence.gz/hushhush.part",
}  # fmt: skip
"""Places that a sentence may name, whatever letters they have."""


@functools.cache
def raised() -> list[tuple[str, str]]:
    """The kind and the code of every error that stands in the source."""
    found = {("Refused", code) for code in codes.CODES}
    for module in source.PRODUCT:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Call) and (name := _called(node)) in KINDS:
                said = node.args[0] if node.args else None
                if isinstance(said, ast.Constant) and isinstance(said.value, str):
                    found.add((name, said.value))
    return sorted(found)


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def made(kind: str, code: str) -> errors.OrchestratorError:
    """An error that says all that must not be said, wherever it may."""
    said = joined([sentence("{} and {}", local(place), quoted(place)) for place in PLACES.values()], "; ")
    return KINDS[kind](
        code, sentence("It failed at {}: {}.", said, KEY), sentence("rm {} {}", quoted(DB), KEY), db=DB,
        path=PLACES["what it is about"], next={"command": suggest("workflow check", file=DB)},
        problems=[{"message": sentence("{}: {}", local(DB), KEY), "where": {local(PROJECT): [KEY, local(DB)]}}],
    )  # fmt: skip


@pytest.fixture
def caller() -> Caller:
    found = Caller(Settings("developer", "S1"))
    found._path = DB
    return found


def test_every_error_is_found_in_the_source() -> None:
    found = {code for _, code in raised()}
    assert {"COMPLETION_PATH_MISSING", "METADATA_INVALID", "CORRUPT", "USAGE", "INTERNAL", "E304"} <= found
    assert len(found) > 100


@every(("kind", "code"), raised)
def test_an_error_names_no_place_and_no_key(kind: str, code: str, caller: Caller) -> None:
    answer = failures.answer(made(kind, code))
    over_http = json.loads(bytes(answer.body))
    assert sorted(over_http) == ["error", "message"]
    assert over_http["error"] == code
    reply = caller.failed(made(kind, code), "S1")
    assert (reply.is_error, reply.document["code"]) == (True, code)
    over_mcp = json.dumps(reply.document, ensure_ascii=False)
    for said in (over_http["message"], over_mcp):
        assert "hushhush" not in said, said
        assert KEY not in said, said
        assert said.startswith(("It failed at ", "{"))


@every(("kind", "code"), raised)
def test_the_command_line_is_told_where(kind: str, code: str) -> None:
    said = operations.failure(made(kind, code), "S1", DB)
    assert all(place in said["error"] for place in PLACES.values())
    assert DB in said["problems"][0]["message"]


_GIVEN: dict[str, object] = {
    "str": DB, "str | None": DB, "int": 7, "float": 0.5, "bool": True, "Sequence[str]": [DB, os.path.dirname(DB)],
    "OSError": FileNotFoundError(2, "No such file or directory", DB),
}  # fmt: skip
_PLAIN = ("scheme", "step", "cause", "last", "tables", "obstacle", "why", "version", "other", "what")
"""Arguments that are words, and no paths."""
MAKERS = [
    make for name, make in inspect.getmembers(problems, inspect.isfunction)
    if not name.startswith("_") and make.__annotations__["return"] == "errors.EnvironmentProblem"
]  # fmt: skip


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_what_can_be_wrong_with_a_database_is_told_without_its_place(
    make: Callable[..., errors.OrchestratorError], caller: Caller
) -> None:
    kinds = {name: kind for name, kind in make.__annotations__.items() if name != "return"}
    given = {name: "x" if name in _PLAIN else _GIVEN[kind] for name, kind in kinds.items()}
    problem = make(**given)
    assert "hushhush" not in failures.told(problem)[2]
    assert "hushhush" not in json.dumps(caller.failed(problem, "S1").document, ensure_ascii=False)


def test_what_a_caller_said_is_still_told_to_it(caller: Caller) -> None:
    """Only what the program knows to be a place is one: titles of tasks name addresses and folders too."""
    problem = errors.Refused("COMPLETION_GATE", "T2 (mend /api/users) is open.", "finish T2", next={"reason": "/api"})
    document = caller.failed(problem, "S1").document
    assert (document["error"], document["next"]) == ("T2 (mend /api/users) is open.", {"reason": "/api"})
