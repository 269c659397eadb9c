"""Projects in the database: registered once, under one alias, and told again."""

from __future__ import annotations

import pathlib

import pytest

from orchestrator import errors
from orchestrator.app import projects
from orchestrator.app.audit import replay_events
from orchestrator.app.kernel import operations
from orchestrator.app.kernel.context import Context
from orchestrator.testing import memory_context
from tests.acceptance.replhouse import set_up


def folder(path: pathlib.Path, name: str = "a") -> str:
    return str(set_up(path / name))


def refused(context: Context, **given: object) -> str:
    before = context.connection.execute("SELECT count(*) FROM projects").fetchone()
    with pytest.raises(errors.OrchestratorError) as caught:
        operations.ask(context, projects.AddProject(**given))  # type: ignore[arg-type]
    assert context.connection.execute("SELECT count(*) FROM projects").fetchone() == before
    return caught.value.code


def test_a_project_is_found_by_id_alias_and_in_the_list(tmp_path: pathlib.Path) -> None:
    context = memory_context()
    first = operations.ask(context, projects.AddProject(path=folder(tmp_path), alias="first"))["project"]
    second = operations.ask(context, projects.AddProject(path=folder(tmp_path, "b")))["project"]
    found = projects.Project(**first)
    assert (projects.require(context, first["id"]), projects.require(context, "first")) == (found, found)
    assert [each.id for each in projects.listed(context)] == [first["id"], second["id"]]


def test_registering_again_changes_nothing_and_writes_no_event(tmp_path: pathlib.Path) -> None:
    context, path = memory_context(), folder(tmp_path)
    first = operations.ask(context, projects.AddProject(path=path, alias="first"))
    events = context.connection.execute("SELECT count(*) FROM audit_events").fetchone()
    for given in ({}, {"alias": "first"}, {"path": f"{path}/../a"}):
        again = operations.ask(context, projects.AddProject(**{"path": path, **given}))
        assert (again["project"], again["created"]) == (first["project"], False)
    assert context.connection.execute("SELECT count(*) FROM audit_events").fetchone() == events


def test_an_alias_stands_for_one_project(tmp_path: pathlib.Path) -> None:
    context, one, other = memory_context(), folder(tmp_path), folder(tmp_path, "b")
    operations.ask(context, projects.AddProject(path=one, alias="first"))
    assert refused(context, path=other, alias="first") == "ALREADY_EXISTS"
    assert refused(context, path=one, alias="second") == "ALREADY_EXISTS"
    operations.ask(context, projects.AddProject(path=other))
    assert refused(context, path=other, alias="late") == "ALREADY_EXISTS"


@pytest.mark.parametrize(
    ("alias", "code"),
    [("P1", "USAGE"), ("P999999", "USAGE"), ("", "INVALID_ID"), ("a b", "INVALID_ID"), ("../x", "INVALID_ID"),
     ("a\n", "INVALID_ID"), ("x" * 129, "INVALID_ID")],
)  # fmt: skip
def test_an_alias_is_an_id_and_none_of_ours(alias: str, code: str, tmp_path: pathlib.Path) -> None:
    assert refused(memory_context(), path=folder(tmp_path), alias=alias) == code


@pytest.mark.parametrize("alias", ["P", "P1a", "p1", "Project-1"])
def test_an_alias_may_look_much_like_one(alias: str, tmp_path: pathlib.Path) -> None:
    context = memory_context()
    assert operations.ask(context, projects.AddProject(path=folder(tmp_path), alias=alias))["project"]["alias"] == alias


def test_what_is_no_project_is_refused(tmp_path: pathlib.Path) -> None:
    context, path = memory_context(), tmp_path / "a"
    assert refused(context, path="relative") == "USAGE"
    assert refused(context, path=str(path)) == "E102"
    path.mkdir()
    assert refused(context, path=str(path)) == "E101"
    set_up(path)
    (path / ".claude" / "CLAUDE.md").unlink()
    assert refused(context, path=str(path)) == "E103"


def test_an_unknown_one_is_not_found_and_near_ones_are_named(tmp_path: pathlib.Path) -> None:
    context = memory_context()
    operations.ask(context, projects.AddProject(path=folder(tmp_path), alias="orchestrator"))
    with pytest.raises(errors.Refused) as caught:
        projects.require(context, "orchestratr")
    assert (caught.value.code, caught.value.data["did_you_mean"]) == ("UNKNOWN_ID", "orchestrator")


def test_the_event_is_told_again_where_the_folder_is_no_more(tmp_path: pathlib.Path) -> None:
    context = memory_context()
    operations.ask(context, projects.AddProject(path=folder(tmp_path), alias="first"))
    kind, actor, channel, at, text = context.connection.execute(
        "SELECT kind, actor, channel, at, input FROM audit_events ORDER BY rowid DESC LIMIT 1"
    ).fetchone()
    (tmp_path / "a").rename(tmp_path / "gone")
    told = memory_context()
    replay_events.tell(told, replay_events.Event("@store", kind, actor, channel, at, text))
    assert [each._replace(id="") for each in projects.listed(told)] == [
        each._replace(id="") for each in projects.listed(context)
    ]
