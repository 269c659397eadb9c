"""Real answers of every command have the shape that `schema` prints for it."""

from __future__ import annotations

import contextlib
import json
import pathlib
from collections.abc import Iterator
from typing import Any

import pytest

from orchestrator.doors.cli import catalogue, main
from orchestrator.doors.cli.schema import json_schema
from tests.acceptance import replhouse
from tests.cases import every
from tests.integration.app import peer

TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "boolean": (bool,),
    "null": (type(None),),
    "object": (dict,),
    "array": (list,),
    "number": (int, float),
}


def problems(value: Any, schema: dict[str, Any], root: dict[str, Any], path: str = "$") -> Iterator[str]:
    """Where a value departs from a JSON Schema of the kind that pydantic makes."""
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].removeprefix("#/$defs/")]
    if "anyOf" in schema:
        tries = [list(problems(value, each, root, path)) for each in schema["anyOf"]]
        yield from min(tries, key=len)
        return
    if "const" in schema and value != schema["const"]:
        yield f"{path} is {value!r}, not {schema['const']!r}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{path} is {value!r}, none of {schema['enum']}"
    kind = schema.get("type")
    if kind and (not isinstance(value, TYPES[kind]) or (isinstance(value, bool) and kind not in ("boolean",))):
        yield f"{path} is {type(value).__name__}, not {kind}"
        return
    yield from _inside(value, schema, root, path)


def _inside(value: Any, schema: dict[str, Any], root: dict[str, Any], path: str) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (f"{path}.{name} is missing" for name in schema.get("required", ()) if name not in value)
        for name, each in value.items():
            more = schema.get("additionalProperties")
            found = schema.get("properties", {}).get(name) or (more if isinstance(more, dict) else {})
            yield from problems(each, found, root, f"{path}.{name}")
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from problems(each, schema.get("items", {}), root, f"{path}[{index}]")


STORY = (
    "init",
    "install claude-code --project . --dry-run",
    "install claude-code --project . --check",
    "install codex --project . --check",
    "demo",
    "session create S2 --goal x",
    "session list",
    "drive --check --executor command:/bin/sh",
    "session show S1",
    "session testing-mode S2 full --by project_manager --reason x",
    "agent register dev-2 --role developer",
    "agent list",
    "agent show dev-2",
    "agent tree",
    "agent deactivate dev-2 --by project_manager --reason x",
    "group create C -s S1 --depends-on A --name jwt",
    "group undepend C --on B -s S1 --by project_manager --reason x",
    "group depend C --on B -s S1 --by project_manager --reason x",
    "route pm PLANNING_COMPLETE -s S1",
    "route developer BLOCKED -s S1 -g A --summary x",
    "route investigator ROOT_CAUSE_FOUND -s S1 -g A",
    "route developer DONE -s S1 -g A",
    "group list -s S1",
    "group show A -s S1",
    "group set-status B cancelled -s S1 --by project_manager --reason x",
    "task claim -s S1 --agent-id qa_expert",
    "task heartbeat N1 -s S1 --claim-token S1:C1 --by qa_expert",
    "task release N1 -s S1 --claim-token S1:C1 --by qa_expert",
    "next --agent-id qa_expert -s S1",
    "next -s S1",
    "task create T1 -s S1 -g A --title words --assignee developer",
    "task create T2 -s S1 -g A --title words --depends-on T1 --auto-unblock",
    "task set-status T1 in_progress -s S1 --by developer",
    "task status T1 blocked -s S1 --by developer --reason x",
    "task set-status T2 done -s S1 --by developer",
    "task undepend T2 --on T1 -s S1",
    "task depend T2 --on T1 -s S1",
    "task list -s S1 -g A",
    "task show T1 -s S1",
    "blocker list -s S1 --task T1 --open",
    "blocker show S1:B99 -s S1",
    "blocker resolve S1:B99 -s S1 --by developer --reason x",
    "criterion add C1 -s S1 --text words --by project_manager --reason x",
    "criterion add C2 -s S1 --text x --metric coverage --operator ge --target 80 --reason x",
    "criterion add C2 -s S1 --text x --metric coverage --operator ge --target -80 --reason x",
    'criterion add C3 -s S1 --text x --command ["true"] --reason x',
    "criterion approve C3 -s S1",
    "criterion set C1 -s S1 --status met --evidence S1:R9 --by project_manager --reason x",
    "criterion set C2 -s S1 --status met --by project_manager --reason x",
    "criterion remove C3 -s S1 --by project_manager --reason x",
    "criterion list -s S1 --all",
    "import peer nowhere.db",
    "import peer peer.db --dry-run",
    "import peer peer.db",
    "group show DONE -s P1",
    "why DONE -s P1",
    "validate S1 --dry-run",
    "validate S1",
    "status S1",
    "status",
    "why A -s S1",
    "why S1:D5",
    "why S1:D99",
    "handoff A -s S1",
    "redispatch A -s S1 --reason died",
    "inbox",
    "inbox -s S1 --limit 1",
    "answer S1:Q99 --decision continue --by user",
    "human enrol",
    "human list",
    "human link",
    "human remove H9",
    "human reset",
    "audit decisions -s S1",
    "audit decisions -s S1 --order desc --limit 1",
    "audit timeline -s S1",
    "audit refusals -s S1",
    "status S1 --at 5",
    "group show A -s S1 --at 5",
    "task show T1 -s S1",
    "task show N1 -s S1 --at 9999",
    "why T1 -s S1",
    "why T2 -s S1",
    "why A -s S1 --at 5",
    "audit verify",
    "audit verify S1 --since 3",
    "audit verify S1 --head 1:0000000000000000000000000000000000000000000000000000000000000000",
    "audit head",
    "audit replay S1 --strict",
    "audit export S1 --output s1.jsonl",
    "audit timeline S1 --lanes",
    "audit import s1.jsonl --db again.db",
    "audit import s1.jsonl",
    "audit blockers -s S1",
    "audit blockers -s S1 --order desc --limit 1",
    "audit gaps -s S1",
    "audit stats -s S1",
    "audit query PRAGMA --limit 1",
    "audit query VALUES(1,2.5,NULL,X'ff')",
    "session pause S1 --by project_manager --reason x",
    "session resume S1 --by project_manager --reason x",
    "session upgrade-workflow S1 --by project_manager --reason x",
    "validate S2 --record",
    "certificate make S2 --output s2.json",
    "certificate make S1",
    "certificate check s2.json",
    "gate --base HEAD --repo .",
    "session end S2 --by project_manager --reason x",
    "workflow what-if WORKFLOW --all",
    "workflow load WORKFLOW",
    "workflow check WORKFLOW",
    "workflow check nowhere.json",
    "workflow show",
    "workflow versions",
    "workflow diff 1 1",
    "workflow graph -s S1",
    "metadata check meta.json",
    "run words --executor fake-success --project .",
    "run words --executor nobody --project .",
    "db upgrade",
    "db downgrade base",
    "db current",
    "db check",
    "db backup copy.db",
    "db copy --to copied.db",
    "db grant reporting",
    "db restore copy.db",
    "db restore nowhere.db",
    "doctor",
    "completion bash",
)


def test_real_answers_have_the_printed_shape(
    database: pathlib.Path,
    repository: pathlib.Path,
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "meta.json").write_text('{"status": "implemented"}')
    replhouse.set_up(tmp_path)
    with contextlib.closing(peer.create(tmp_path / "peer.db")) as made:
        peer.insert(made, "sessions", [{"session_id": "P1", "status": "completed"}])
        peer.insert(made, "task_groups", [peer.group("DONE", "completed", "P1")])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ORCHESTRATOR_DB", str(database))
    found: dict[str, list[str]] = {}
    for text in STORY:
        words = text.replace("WORKFLOW", str(repository / "workflow" / "transitions.json")).split()
        name = " ".join(words[:2]) if " ".join(words[:2]) in catalogue.every() else words[0]
        main.main([*words, "--json"])
        schema = json_schema(name)
        found[text] = list(problems(json.loads(capfd.readouterr().out), schema, schema))
    assert {text: each for text, each in found.items() if each} == {}


def test_the_story_plays_every_command() -> None:
    played = {words for words in catalogue.every() if any(f"{text} ".startswith(f"{words} ") for text in STORY)}
    assert set(catalogue.every()) - played == {"batch", "hook", "mcp", "repl", "schema", "serve"}


@every("words", catalogue.every())
def test_a_schema_is_a_document_of_its_own(words: str) -> None:
    schema = json.loads(json.dumps(json_schema(words)))
    assert schema["title"] == f"orchestrator {words}"


def test_a_departure_is_found() -> None:
    schema = json_schema("db current")
    good = {"success": True, "schema": 1, "db": "x", "warnings": [], "database_version": 1, "program_version": 1}
    assert list(problems(good, schema, schema)) == []
    assert list(problems(good | {"program_version": "1"}, schema, schema)) == ["$.program_version is str, not integer"]
    assert list(problems(good | {"new": 1}, schema, schema)) == []
