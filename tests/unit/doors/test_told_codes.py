"""What every error that the product can raise says at the doors for programs: nothing of this machine, and no key."""

from __future__ import annotations

import ast
import functools
import inspect
import json
import os

import pytest

pytest.importorskip("fastapi", reason="HTTP needs the extra `web`")

from orchestrator import errors
from orchestrator.core.running import codes
from orchestrator.doors.mcp.calling import Caller, Settings
from orchestrator.doors.web import failures
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
"""Places that a sentence may name; all of them are known to who tells it, however they are written."""


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
    said = "; ".join(f"{place} and '{place}'" for place in PLACES.values())
    return KINDS[kind](
        code, f"It failed at {said}: {KEY}.", f"rm '{DB}' {KEY}", db=DB, path=PLACES["what it is about"],
        problems=[{"message": f"{DB} lacks it: {KEY}", "where": {PROJECT: [KEY, DB]}}], next={"command": f"cat {DB}"},
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


def test_what_a_caller_said_is_still_told_to_it(caller: Caller) -> None:
    """Only what the program knows to be a place is one: titles of tasks name addresses and folders too."""
    problem = errors.Refused("COMPLETION_GATE", "T2 (mend /api/users) is open.", "finish T2", next={"reason": "/api"})
    document = caller.failed(problem, "S1").document
    assert (document["error"], document["next"]) == ("T2 (mend /api/users) is open.", {"reason": "/api"})
