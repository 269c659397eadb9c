"""Which parts of an answer are places of a session's runs; finding them costs the same however many there are."""

from __future__ import annotations

import time
from typing import Any

import pytest

from orchestrator.app.running import run_list_views
from orchestrator.core.suggestions import elsewhere
from orchestrator.store import run_board

TREES = "/home/u/portal/.orchestrator/worktrees/S"
EXECUTOR = "command:'/opt/my tools/agent' {prompt}"


def shown(monkeypatch: pytest.MonkeyPatch, places: list[str], found: Any) -> Any:
    """What a caller elsewhere is told of an answer on a session whose runs were executed there."""
    executed = [(EXECUTOR, each) for each in places]
    monkeypatch.setattr(run_board, "executors", lambda connection, sessions: executed)
    context: Any = type("Context", (), {"connection": None})
    return elsewhere(run_list_views.with_places(context, "S", found))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"in {TREES}/G1: no", "in …: no"),
        (f"in {TREES}/G12/a.py, {TREES}/G1/b.py", "in …/a.py, …/b.py"),
        (f"x{TREES}/G1", f"x{TREES}/G1"),
        (f"/{TREES}/G1", f"/{TREES}/G1"),
        ("see /home/u/portal/README", "see /home/u/portal/README"),
        (r"in '/srv/\xfc'", "in '…'"),
        ("in /srv/a&#x27;b", "in …"),
        ("/opt/my tools/agent is gone", "…/agent is gone"),
        (f"started {EXECUTOR}", "started command"),
        ("It waits for approval: /approve.", "It waits for approval: answer its question."),
        ("orchestrator repl --project /home/u/p2, then /continue task-17",
         "it continues on the command line, where it was started"),
        ("orchestrator repl --project /home/u/p2, then /continue task-x",
         "orchestrator repl --project …, then /continue task-x"),
        ("orchestrator repl --project /home/u/p2, and there /logs task-17, ends it", "this server ends it"),
        ([{"at": f"{TREES}/G2", "n": 1}, (f"{TREES}/G3",)], [{"at": "…", "n": 1}, ["…"]]),
    ],
)  # fmt: skip
def test_a_place_is_found_whole_in_each_form(monkeypatch: pytest.MonkeyPatch, text: Any, said: Any) -> None:
    places = [f"{TREES}/G{number}" for number in range(20)]
    assert shown(monkeypatch, [*places, "/srv/a'b", "/srv/ü", "/home/u/p2"], text) == said


def test_a_text_is_read_as_fast_beside_many_worktrees_as_beside_one(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"{TREES}/G{number % 7}/a.py: the developer of G{number} has 14 tests." for number in range(300)]

    def took(count: int) -> float:
        begin = time.process_time()
        shown(monkeypatch, [f"{TREES}/G{number}" for number in range(count)], texts)
        return time.process_time() - begin

    few, many = (min(took(count) for _ in range(3)) for count in (8, 400))
    assert many < 10 * few
