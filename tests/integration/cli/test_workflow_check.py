"""`workflow check`: notations, strictness, and the search for what must not be."""

from __future__ import annotations

import json
import pathlib
import re
from typing import Any

import pytest

from orchestrator.app.prover import model_check
from orchestrator.doors.cli import workflow
from orchestrator.doors.cli.options import Given
from tests.integration.cli.conftest import Run

ROOT = pathlib.Path(__file__).parents[3]
SHIPPED = str(ROOT / "workflow" / "transitions.json")


@pytest.mark.parametrize("notation", ["text", "json", "sarif"])
def test_the_shipped_pair_passes_the_strict_check(notation: str, run: Run) -> None:
    assert run("workflow", "check", SHIPPED, "--strict", "--format", notation).returncode == 0


@pytest.mark.parametrize("words", [("--format", "json"), ("--json",)], ids=" ".join)
def test_json_is_json(words: tuple[str, ...], run: Run) -> None:
    answer = json.loads(run("workflow", "check", SHIPPED, *words).stdout)
    assert (answer["success"], answer["ok"], answer["errors"]) == (True, True, 0)


@pytest.mark.parametrize("words", [("--format", "json"), ("--json",)], ids=" ".join)
def test_a_file_with_errors_is_json_too(words: tuple[str, ...], run: Run, tmp_path: pathlib.Path) -> None:
    (tmp_path / "bad.json").write_text("{}")
    done = run("workflow", "check", "bad.json", *words)
    answer = json.loads(done.stdout)
    assert (done.returncode, done.stderr, answer["code"], answer["ok"]) == (4, b"", "WORKFLOW_INVALID", False)


def test_another_notation_is_refused(run: Run) -> None:
    done = run("workflow", "check", SHIPPED, "--format", "jsn", "--json")
    answer = json.loads(done.stdout)
    assert (done.returncode, answer["code"], answer["choices"]) == (64, "USAGE", ["text", "json", "sarif"])


def test_strict_makes_errors_of_what_the_agent_files_differ_in(run: Run, tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "few"
    folder.mkdir()
    shipped = ROOT / "agents" / "developer.md"
    (folder / shipped.name).write_bytes(shipped.read_bytes())
    words = ("workflow", "check", SHIPPED, "--agents", str(folder))
    assert run(*words).returncode == 0
    done = run(*words, "--strict")
    assert (done.returncode, b"has errors" in done.stdout, b"error W" in done.stdout) == (4, True, False)


def test_a_problem_of_an_agent_file_is_told_with_that_file_and_its_line(run: Run, tmp_path: pathlib.Path) -> None:
    (tmp_path / "few").mkdir()
    (tmp_path / "few" / "qa_expert.md").write_text('---\nname: qa_expert\nmodel: "unclosed\n---\n')
    done = run("workflow", "check", SHIPPED, "--agents", "few")
    assert re.search(rb"(?m)^few/qa_expert.md:\d: error A002: the front matter is not YAML", done.stdout)


SEARCHED = model_check.Searched("one code group", 1, "plain", None, 12, 30, 4, True, None, 4, 0, 0.1)
CUT = SEARCHED._replace(name="two groups", reach="small", blockers=1, complete=False, cut="seconds", whole=3, open=5)
TRIED = {"plain": {"developer": ["READY_FOR_QA", "BLOCKED"]}}
FOUND = model_check.Counterexample("stall", "one code group", "nobody is awaited", ('{"op": "route"}',), True)


@pytest.mark.parametrize(
    ("found", "code", "last"),
    [
        pytest.param((), 0, "No problems found in 12 states.", id="nothing"),
        pytest.param((FOUND,), 4, "Refuted: 1 counterexample in 12 states.", id="a counterexample"),
    ],
)
def test_a_search_says_what_it_found(
    found: tuple[model_check.Counterexample, ...], code: int, last: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def prove(content: str, texts: dict[str, str], **more: Any) -> model_check.Proof:
        return model_check.Proof(not found, True, 12, (SEARCHED,), found, TRIED)

    monkeypatch.setattr(model_check, "prove", prove)
    given = Given({"file": SHIPPED, "prove": True}, False, None, False)
    handler = workflow.COMMANDS["workflow check"].handler
    assert handler is not None
    result = handler(given)
    lines = (result.text or "").splitlines()
    assert (result.exit_code, lines[-1], '  {"op": "route"}' in lines) == (code, last, bool(found))


def test_a_search_that_was_cut_says_where_and_what_was_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {}

    def prove(content: str, texts: dict[str, str], **more: Any) -> model_check.Proof:
        asked.update(more)
        return model_check.Proof(True, False, 12, (SEARCHED, CUT), (), TRIED)

    monkeypatch.setattr(model_check, "prove", prove)
    given = Given({"file": SHIPPED, "prove": True, "seconds": 600, "thorough": True}, False, None, False)
    handler = workflow.COMMANDS["workflow check"].handler
    assert handler is not None
    text = handler(given).text or ""
    assert asked == {"seconds": 600.0, "thorough": True}
    assert "complete, 4 moves deep" in text
    assert "small, 1 blocker at once" in text
    assert "cut by seconds at 3 moves, 5 states left" in text
    assert "plain: developer READY_FOR_QA, BLOCKED" in text
    assert text.splitlines()[-1] == "No problems found in 12 states; 1 of 2 searches were cut short and prove no more."


@pytest.mark.parametrize(
    ("words", "what"),
    [
        pytest.param(("--seconds", "9"), "needs --prove", id="seconds without a search"),
        pytest.param(("--thorough",), "needs --prove", id="thorough without a search"),
        pytest.param(("--prove", "--seconds", "0"), "of 1 or more", id="no time"),
    ],
)
def test_what_says_nothing_of_a_search_is_refused(words: tuple[str, ...], what: str, run: Run) -> None:
    done = run("workflow", "check", SHIPPED, *words, "--json")
    answer = json.loads(done.stdout)
    assert (done.returncode, answer["code"], what in answer["error"]) == (64, "USAGE", True)
