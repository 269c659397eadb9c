"""A script's steps are played in their order; a script with problems is refused with all of them."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest

from orchestrator import errors
from orchestrator.runner.executors import scripted
from tests.contract.executors import making

DONE: dict[str, Any] = {"status": "COMPLETE", "output": "done"}


def play(folder: pathlib.Path, *steps: dict[str, Any], prompts: tuple[str, ...] = ("x",)) -> list[Any]:
    executor = scripted.Scripted(steps)
    return [executor.execute(making.task(folder, prompt)) for prompt in prompts]


def test_steps_are_taken_in_their_order_and_once(tmp_path: pathlib.Path) -> None:
    results = play(tmp_path, DONE | {"output": "1"}, DONE | {"output": "2"}, prompts=("a", "b", "c"))
    assert [result.output for result in results] == ["1", "2", ""]
    assert results[2].error == "SCRIPT_EXHAUSTED: the script has no further step for this prompt"


def test_a_step_waits_for_the_prompt_that_it_belongs_to(tmp_path: pathlib.Path) -> None:
    steps = (DONE | {"output": "tests", "when": "test"}, DONE | {"output": "other", "repeat": True})
    results = play(tmp_path, *steps, prompts=("fix it", "write tests", "write tests", "fix it"))
    assert [result.output for result in results] == ["other", "tests", "other", "other"]


def test_a_step_makes_and_removes_files(tmp_path: pathlib.Path) -> None:
    task = making.task(tmp_path)
    old = pathlib.Path(task.project) / "old.py"
    old.write_text("1", "utf-8")
    step = DONE | {"writes": {"src/new.py": "2"}, "deletes": ["old.py", "absent.py"], "files": ["src/new.py"]}
    result = scripted.Scripted([step]).execute(task)
    assert (result.status, result.claimed_files) == ("COMPLETE", ("src/new.py",))
    assert [path.name for path in pathlib.Path(task.project).rglob("*.py")] == ["new.py"]


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        pytest.param(DONE, ("COMPLETE", making.SESSION, None, None), id="complete"),
        pytest.param(DONE | {"session_id": None}, ("COMPLETE", None, None, None), id="no session"),
        pytest.param(DONE | {"session_id": "other"}, ("COMPLETE", "other", None, None), id="another session"),
        pytest.param({"status": "ERROR", "error": "no", "cause": "timeout"},
                     ("ERROR", making.SESSION, "no", "timeout"), id="error"),
        pytest.param(DONE | {"exit_code": 3},
                     ("ERROR", making.SESSION, "EXIT_STATUS: the program ended with status 3", None), id="status 3"),
        pytest.param(DONE | {"denied": ["Write"]},
                     ("ERROR", making.SESSION, "PERMISSION_DENIED: not allowed: Write", "permission_denied"),
                     id="denied"),
        pytest.param({"blocked": "TIMEOUT"},
                     ("ERROR", making.SESSION, "TIMEOUT: executor_timeout_ms of 30000 ms is over", "timeout"),
                     id="hangs"),
        pytest.param({"blocked": "INTERACTIVE_PROMPT", "output": "Sure? [y/N]"},
                     ("BLOCKED", making.SESSION,
                      "INTERACTIVE_PROMPT: the program asked and nobody can answer: Sure? [y/N]", None), id="asks"),
    ],
)  # fmt: skip
def test_a_step_says_what_comes_of_it(
    tmp_path: pathlib.Path, step: dict[str, Any], expected: tuple[str | None, ...]
) -> None:
    (result,) = play(tmp_path, step)
    assert (result.status, result.session_id, result.error, result.cause) == expected


@pytest.mark.parametrize("document", [[DONE], {"steps": [DONE]}], ids=["a list", "an object"])
def test_a_script_is_read_from_a_file(tmp_path: pathlib.Path, document: object) -> None:
    path = tmp_path / "script.json"
    path.write_text(json.dumps(document), "utf-8")
    assert scripted.load(path).execute(making.task(tmp_path)).output == "done"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        pytest.param(None, "cannot be read: No such file or directory", id="absent"),
        pytest.param("[{", "script.json' is cut off", id="cut"),
        pytest.param('{"steps": 5}', 'neither a list of steps nor an object with a list "steps"', id="no list"),
        pytest.param('"x"', "neither a list of steps", id="a text"),
        pytest.param('[{"status": "COMPLETE"}, 5]', "step 2: is no object", id="a step that is none"),
    ],
)
def test_a_file_that_is_no_script_is_refused(tmp_path: pathlib.Path, text: str | None, sentence: str) -> None:
    path = tmp_path / "script.json"
    if text is not None:
        path.write_text(text, "utf-8")
    with pytest.raises(errors.InvalidInput) as caught:
        scripted.load(path)
    assert caught.value.code == "SCRIPT_INVALID"
    assert sentence in caught.value.message


def test_all_problems_of_a_script_are_told() -> None:
    steps = [
        {"status": "DONE", "writes": ["a"], "delay_ms": -1},
        DONE | {"wites": {}, "writes": {"../a": "x"}, "deletes": ["/etc/passwd"]},
        DONE | {"blocked": "MAYBE", "denied": "Write", "when": 5, "repeat": 1, "exit_code": "3"},
    ]
    assert scripted.problems(steps) == [
        "step 1: status 'DONE' is unknown, known are COMPLETE, INCOMPLETE, NO_EVIDENCE, ERROR, INVALID, BLOCKED",
        "step 1: writes is no object of texts",
        "step 1: delay_ms is not a whole number from 0 on",
        "step 2: 'wites' is unknown, did you mean 'writes'?",
        "step 2: '../a' lies outside of the project",
        "step 2: '/etc/passwd' lies outside of the project",
        "step 3: exit_code is not a whole number",
        "step 3: blocked is not one of INTERACTIVE_PROMPT, TIMEOUT",
        "step 3: denied is not a list of texts",
        "step 3: when is not a text",
        "step 3: repeat is not true or false",
    ]


def test_a_file_that_cannot_be_written_is_an_error_and_no_exception(tmp_path: pathlib.Path) -> None:
    task = making.task(tmp_path)
    (pathlib.Path(task.project) / "a").write_text("a file", "utf-8")
    result = scripted.Scripted([DONE | {"writes": {"a/b": "x"}}]).execute(task)
    assert (result.status, (result.error or "").partition(":")[0]) == ("ERROR", "REPORTED_ERROR")
