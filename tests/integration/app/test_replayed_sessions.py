"""`audit replay --all`: every session, on several processes or on one, with the same answer."""

from __future__ import annotations

import pathlib
from collections.abc import Sequence
from typing import Any

import pytest

from orchestrator import testing
from orchestrator.app.audit import replay_comparison, several_sessions
from orchestrator.app.kernel import arguments, operations
from orchestrator.app.kernel.context import Context
from orchestrator.doors.cli.text import records
from orchestrator.errors import OrchestratorError
from orchestrator.runner import workers
from tests import forging
from tests.integration.app import story
from tests.integration.app.test_replayed import played
from tools.benchmarks import mix

ALL = "audit replay"


@pytest.fixture
def record(tmp_path: pathlib.Path) -> Context:
    """A record of several sessions in a file."""
    return mix.open_file(story.written(tmp_path), write=False)


def one_after_another(context: Context, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    with monkeypatch.context() as patch:
        patch.setattr(workers, "cores", lambda: 1)
        return operations.call(context, ALL, every=True)


def side_by_side(context: Context, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    with monkeypatch.context() as patch:
        patch.setattr(workers, "cores", lambda: 2)
        patch.setattr(several_sessions, "SIDE_BY_SIDE", 0)
        return operations.call(context, ALL, every=True)


def test_all_sessions_answer_as_each_of_them() -> None:
    context = played()
    answer = operations.call(context, ALL, every=True)
    each = [replay_comparison.replay(context, session_id=session) for session in ("S1", "S2")]
    assert [row.items() <= other.items() for row, other in zip(answer["sessions"], each, strict=True)] == [True] * 2
    assert (answer["equal"], answer["exit_code"], answer["told"]) == (True, 0, sum(row["told"] for row in each))
    assert records.replay(answer) == [line for row in each for line in replay_comparison.sentences(row)]


def test_no_session_is_no_difference() -> None:
    answer = operations.call(testing.memory_context(), ALL, every=True)
    assert (answer["sessions"], answer["equal"], answer["exit_code"]) == ([], True, 0)


def test_all_are_replayed_where_the_environment_names_one() -> None:
    answer = operations.call(played(), ALL, session_id="S1", every=True)
    assert [row["session_id"] for row in answer["sessions"]] == ["S1", "S2"]


def test_without_a_session_nothing_is_replayed() -> None:
    with pytest.raises(OrchestratorError) as caught:
        operations.call(played(), ALL)
    assert (caught.value.code, str(caught.value.suggestion)) == ("USAGE", "orchestrator audit replay ID")


def test_where_several_are_open_all_are_replayed_without_naming_one() -> None:
    context = played()
    bound = arguments.complete(context, ALL, arguments.bind(ALL, {"every": True}))
    assert operations.call(context, ALL, **bound)["equal"]
    for given in ({}, {"session_id": None}):
        with pytest.raises(OrchestratorError) as caught:
            arguments.complete(context, ALL, arguments.bind(ALL, given))
        assert caught.value.code == "AMBIGUOUS_SESSION"


def test_processes_of_their_own_find_what_one_finds(record: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    """The installed program, once; a difference is told by this process, so that it reads the same."""
    assert len(record.connection.execute("SELECT id FROM sessions").fetchall()) > 2
    with forging.unguarded(pathlib.Path(record.path)) as raw:
        raw.execute("UPDATE router_decisions SET next_agent = 'user' WHERE session_id = 'S1' AND seq = 4")
    expected, asked = one_after_another(record, monkeypatch), []
    answers = workers.answers

    def noted(*given: Any) -> Any:
        asked.append(answers(*given))
        return asked[-1]

    monkeypatch.setattr(workers, "answers", noted)
    assert side_by_side(record, monkeypatch) == expected
    assert expected["exit_code"] == 1
    (lines,) = asked
    assert all(line is not None and b'"rules_version"' in line for line in lines)


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(None, id="none"),
        pytest.param(b"\xff\n", id="no text"),
        pytest.param(b"[]\n", id="no object"),
        pytest.param(b'{"success": false, "code": "CORRUPT"}\n', id="an error"),
        pytest.param(b'{"equal": true, "session_id": "S1"}\n', id="half an answer"),
    ],
)
def test_what_a_process_does_not_answer_is_replayed_here(
    record: Context, monkeypatch: pytest.MonkeyPatch, line: bytes | None
) -> None:
    def answered(command: Sequence[str], questions: Sequence[bytes], *_: object) -> list[bytes | None]:
        return [line] * len(questions)

    def replay(_: Context, *, session_id: str, strict: bool) -> dict[str, Any]:
        told.append(session_id)
        return _answer(session_id)

    told: list[str] = []
    monkeypatch.setattr(workers, "answers", answered)
    monkeypatch.setattr(replay_comparison, "replay", replay)
    side_by_side(record, monkeypatch)
    assert told == sorted(told)
    assert set(told) == {id for (id,) in record.connection.execute("SELECT id FROM sessions")}


def _answer(session: str) -> dict[str, Any]:
    counts = dict.fromkeys(("told", "count", "engine_changed", "exit_code"), 0)
    return {"session_id": session, "equal": True, "differences": [], "head": None, "told_head": None, **counts}
