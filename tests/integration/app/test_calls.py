"""What a call is turned down for: its words, its parameters, the session that it leaves out, the agents it is about."""

from __future__ import annotations

import io
import pathlib
import sys
from typing import Any

import pytest

from orchestrator import errors
from orchestrator.app import maintenance, setup
from orchestrator.app.audit import export_session, import_session
from orchestrator.app.kernel import arguments, operations
from orchestrator.app.session.requests import SetTestingMode
from tests.integration.app.desk import Desk

GROUP = {"id": "A", "session_id": "S1", "name": "n"}
ROUTE = {"session_id": "S1", "current_agent": "project_manager", "status": "PLANNING_COMPLETE"}
HUMAN = (
    "INSERT INTO agents (id, role, kind, max_parallel_tasks, created_at, created_seq)"
    " VALUES ('ann', 'project_manager', 'human', 1, 't', 1)"
)


@pytest.fixture
def desk(tmp_path: pathlib.Path) -> Desk:
    return Desk(tmp_path)


def call(desk: Desk, words: str, **given: Any) -> dict[str, Any]:
    """Call an operation as the doors do."""
    bound = arguments.complete(desk.context, words, arguments.bind(words, given))
    return operations.call(desk.context, words, **bound)


def refused(desk: Desk, words: str, **given: Any) -> errors.OrchestratorError:
    with pytest.raises(errors.OrchestratorError) as caught:
        call(desk, words, **given)
    return caught.value


class _Torn(io.BytesIO):
    """A file on a disk that fails."""

    name = "torn.jsonl"

    def readline(self, size: int | None = -1, /) -> bytes:
        raise OSError(5, "Input/output error")


@pytest.mark.parametrize(
    ("words", "given", "said"),
    [
        pytest.param("group creat", {}, "There is no operation 'group creat'; did you mean group create?", id="words"),
        pytest.param("group create", {"session_id": "S1"}, "group create needs id", id="missing"),
        pytest.param("group create", GROUP | {"prio": "low"}, "group create has no parameter 'prio'", id="unknown"),
        pytest.param("group create", GROUP | {"kind": "cod"}, "kind must be", id="choice"),
        pytest.param("group create", GROUP | {"complexity": 99}, "complexity must be from 1 to", id="range"),
        pytest.param("group create", GROUP | {"request_id": "  "}, "request_id must have 1 to", id="request"),
        pytest.param("route", ROUTE | {"details": {"n": float("nan")}}, "details holds nan", id="no JSON"),
        pytest.param("route", ROUTE | {"details": {"t": "x" * 2**26}}, "details is larger than", id="large"),
        pytest.param("route", ROUTE | {"details": {"x" * 2**26: 1}}, "details is larger than", id="a large key"),
        pytest.param(
            "criterion add", {"session_id": "S1", "id": "C", "text": "t", "metric": "coverage"},
            "A measured criterion needs metric, operator and target; operator, target is missing.", id="half a measure",
        ),
        pytest.param("audit verify", {"head": "zz"}, "A head is SEQ:HASH", id="head"),
        pytest.param("audit verify", {"since": 3}, "--since needs --session-id", id="steps of no session"),
    ],
)  # fmt: skip
def test_a_call_is_told_which_of_its_words_is_wrong(desk: Desk, words: str, given: dict[str, Any], said: str) -> None:
    desk.session("S1")
    before = desk.events()
    problem = refused(desk, words, **given)
    assert isinstance(problem, errors.UsageError)
    assert problem.message.startswith(said)
    assert desk.events() == before


def nested(levels: int, *, inside: bool = False) -> dict[str, Any]:
    found: dict[str, Any] = {}
    innermost = found
    for _ in range(levels):
        found = {"a": found, "b": [found]}
    if inside:
        innermost["itself"] = innermost
    return found


@pytest.mark.parametrize("parameter", ["details", "metadata", "acknowledge"])
@pytest.mark.parametrize(
    "value", [nested(150), nested(5000), nested(1, inside=True)], ids=["deep", "deeper", "endless"]
)
def test_what_is_nested_too_deeply_is_told_so(parameter: str, value: dict[str, Any]) -> None:
    with pytest.raises(errors.UsageError) as found:
        arguments.bind("route", {"current_agent": "developer", "status": "PASS", parameter: value})
    assert "nested more than 100 levels" in found.value.message or "must be text" in found.value.message


def test_a_session_that_is_left_out_has_to_be_the_only_one(desk: Desk) -> None:
    problem = refused(desk, "group list")
    assert (problem.code, problem.message) == ("UNKNOWN_SESSION", "No session is open and none was named.")
    # What is read may have ended; what is changed needs a session that has not.
    ways = [refused(desk, words, **given).suggestion for words, given in (
        ("audit timeline", {}), ("why", {"id": "A"}), ("group create", {"id": "A", "name": "n"}),
    )]  # fmt: skip
    assert ways == ["orchestrator session create ID --goal TEXT"] * 3
    desk.session("CHAT", kind="chat")
    said = "Only chats are open, and no session was named."
    problem = refused(desk, "audit timeline")
    assert (problem.message, problem.suggestion) == (said, "orchestrator session list --all")
    assert refused(desk, "group create", id="A", name="n").message == said
    # It is recorded as it always was, so that older records replay.
    recorded = desk.context.connection.execute("SELECT DISTINCT detail FROM refusals").fetchall()
    assert recorded == [("No session is open and none was named.",)]
    desk.session("S1")
    assert call(desk, "group list")["groups"] == []
    desk.session("S2")
    problem = refused(desk, "group list")
    assert (problem.code, problem.data["sessions"]) == ("AMBIGUOUS_SESSION", ["S1", "S2"])


def test_a_change_that_no_session_is_open_for_is_recorded_as_refused(desk: Desk) -> None:
    assert refused(desk, "group create", id="A", name="n").code == "UNKNOWN_SESSION"
    recorded = desk.context.connection.execute("SELECT code FROM refusals").fetchall()
    assert [row[0] for row in recorded] == ["UNKNOWN_SESSION"]


def test_a_workflow_version_that_is_unknown_is_named(desk: Desk) -> None:
    problem = desk.refused("workflow show", version="nope")
    assert (problem.code, problem.message) == ("UNKNOWN_ID", "No workflow version is called nope.")


def test_a_criterion_is_removed_with_a_reason_alone(desk: Desk) -> None:
    desk.session("S1")
    desk.call("criterion add", session_id="S1", id="C", text="t")
    given = {"session_id": "S1", "id": "C", "by": "project_manager"}
    assert desk.refused("criterion remove", reason=" ", **given).code == "REASON_REQUIRED"
    assert len(desk.call("criterion list", session_id="S1")["criteria"]) == 1


# --- agents


@pytest.mark.parametrize(
    ("given", "code"),
    [
        pytest.param({"kind": "human"}, "HUMAN_REQUIRED", id="a person"),
        pytest.param({"parent": "nobody"}, "UNKNOWN_AGENT", id="a parent that is none"),
    ],
)
def test_an_agent_is_not_registered_as(desk: Desk, given: dict[str, Any], code: str) -> None:
    assert desk.refused("agent register", id="dev-2", role="developer", by="project_manager", **given).code == code
    assert desk.refused("agent show", id="dev-2").code == "UNKNOWN_AGENT"


@pytest.mark.parametrize(
    ("id", "by", "code"),
    [
        pytest.param("dev-9", "project_manager", "UNKNOWN_AGENT", id="nobody"),
        pytest.param("dev-2", "tech_lead", "NOT_PERMITTED", id="by somebody else"),
        pytest.param("ann", "project_manager", "HUMAN_REQUIRED", id="a person"),
    ],
)
def test_an_agent_is_not_put_to_rest(desk: Desk, id: str, by: str, code: str) -> None:
    desk.context.connection.execute(HUMAN)
    desk.call("agent register", id="dev-2", role="developer", by="project_manager")
    assert desk.refused("agent deactivate", id=id, by=by, reason="r").code == code
    assert desk.call("agent show", id="dev-2")["agent"]["active"]


def test_a_role_that_no_active_agent_stands_for_reports_nothing(desk: Desk) -> None:
    desk.session("S1")
    desk.context.connection.execute("UPDATE agents SET active = 0 WHERE id = 'project_manager'")
    assert desk.refused("route", **ROUTE).code == "ACTOR_REQUIRED"


# --- use cases that are called without the doors' own look at the words


def test_a_testing_mode_is_one_of_three(desk: Desk) -> None:
    desk.session("S1")
    with pytest.raises(errors.UsageError, match="Unknown testing mode"):
        operations.ask(desk.context, SetTestingMode(id="S1", mode="some", by="project_manager", reason="r"))


def test_an_export_has_a_known_format(desk: Desk) -> None:
    desk.session("S1")
    with pytest.raises(errors.UsageError, match="format must be"):
        list(export_session.stream(desk.context, "S1", "xml"))


def test_a_copy_has_a_name(desk: Desk) -> None:
    with pytest.raises(errors.UsageError, match="file name of the copy is empty"):
        maintenance.backup(str(desk.path), "")
    with pytest.raises(errors.UsageError, match="FILE is blank"):
        maintenance.backup(str(desk.path), " ")
    with pytest.raises(errors.EnvironmentProblem, match="FILE names a database on a PostgreSQL server"):
        maintenance.backup(str(desk.path), "postgresql://h/copy")


def test_a_backup_to_restore_has_a_name(desk: Desk) -> None:
    with pytest.raises(errors.UsageError, match="file name of the backup is empty"):
        maintenance.restore(str(desk.path), "", "2026-01-01T00:00:00.000000Z", {}, 1.0)


def test_an_agent_file_that_cannot_be_read_is_named(tmp_path: pathlib.Path) -> None:
    (tmp_path / "developer.md").write_bytes(b"\xff")
    with pytest.raises(errors.InvalidInput) as problem:
        setup.agent_texts(tmp_path)
    assert (problem.value.code, problem.value.data) == ("WORKFLOW_INVALID", {"problems": []})


def test_a_workflow_file_that_cannot_be_read_is_named(tmp_path: pathlib.Path) -> None:
    with pytest.raises(errors.InvalidInput) as problem:
        setup.read_workflow(tmp_path / "nowhere.json")
    assert (problem.value.code, problem.value.data) == ("WORKFLOW_INVALID", {"problems": []})


def test_an_export_is_not_read_from_a_stdin_that_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with (
        pytest.raises(errors.EnvironmentProblem, match="stdin is not available"),
        import_session._opened(import_session.STDIN),
    ):
        pass


def test_an_export_that_cannot_be_read_to_its_end_says_why() -> None:
    with pytest.raises(errors.EnvironmentProblem, match="Input/output error; nothing was imported"):
        list(import_session._lines(_Torn()))
