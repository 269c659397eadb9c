"""Every code of the runner's table is raised by what its meaning is about, and told in the documents."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Callable, Iterable

import pytest

from orchestrator.core.running import (
    codes,
    config,
    continuation,
    evidence_index,
    judgement,
    limits,
    locks,
    phases,
    report,
    tests_exist,
)
from orchestrator.core.running.continuation import Work
from orchestrator.core.running.evidence import Problem
from orchestrator.core.running.facts import Facts
from orchestrator.core.running.locks import Pool, Table
from orchestrator.core.running.phases import PHASES, Progress
from orchestrator.errors import OrchestratorError
from orchestrator.runner import evidence_files, project
from tests.integration.app.track import Track

Raised = OrchestratorError | Iterable[OrchestratorError | Problem] | str | None
ROOT = pathlib.Path(__file__).parents[3]
AT = "2026-01-02T03:04:05.000006Z"


def judged(**more: object) -> str | None:
    known = {"status": "COMPLETE", "session": "S1", "issued_session": "S1", "exit_code": 0, **more}
    return judgement.judge(Facts("LIGHT_EDIT", **known)).code  # type: ignore[arg-type]


def recorded(root: pathlib.Path, change: Callable[[pathlib.Path], object] = lambda folder: None) -> list[Problem]:
    """The faults of one operation's evidence after something was done to it."""
    evidence_files.raw_file(root, "S1", "op").write_text("said")
    evidence_files.record(root, "S1", "op", "executor", at=AT, facts={}, compress=False)
    change(root / ".orchestrator/sessions/S1/evidence")
    return list(evidence_files.inspect(root, "S1", ["op"]).problems)


def twice(root: pathlib.Path) -> None:
    recorded(root)
    evidence_files.record(root, "S1", "op", "executor", at=AT, facts={})


def settings(root: pathlib.Path, text: str | None) -> None:
    (root / ".claude").mkdir()
    if text is None:
        project.check(root)
    config.parse(text or "{}")


def released(root: pathlib.Path) -> None:
    """An owner of another machine, of whom nothing is known, is not known to be gone."""
    from orchestrator.app.running import start_run

    track = Track()
    run = track.queue()
    track.start(run, owner="elsewhere:7:1")
    start_run.abandon(track.context, session_id="C1", id=run, owner="elsewhere:7:1")


def waiting_in_a_circle(root: pathlib.Path) -> None:
    table = locks.acquire(locks.acquire(Table(), "A", {"f1": "write"}), "B", {"f2": "write"})
    locks.request(locks.request(table, "A", {"f2": "write"}), "B", {"f1": "write"})


def locked(root: pathlib.Path) -> None:
    locks.acquire(locks.acquire(Table(), "A", {"f": "write"}), "B", {"f": "read"})


PLANNING = Progress(PHASES[2])
RAISED: dict[str, Callable[[pathlib.Path], Raised]] = {
    "E101": lambda root: project.check(root),
    "E102": lambda root: project.check(root / "absent"),
    "E103": lambda root: settings(root, None),
    "E104": lambda root: settings(root, json.dumps({"orchestrator": {"task_limits": {"files": 0}}})),
    "E105": lambda root: settings(root, "{bad"),
    "E201": lambda root: phases.fail(PLANNING._replace(retries=3), recoverable=True).refusals,
    "E202": lambda root: phases.advance(PLANNING._replace(finished=True), PHASES[4]).refusals,
    "E203": lambda root: phases.advance(PLANNING, "DEPLOYMENT").refusals,
    "E204": lambda root: phases.advance(PLANNING, PHASES[3]).refusals,
    "E205": lambda root: judged(unapproved=("T2",)),
    "E206": lambda root: limits.split(config.TaskLimits(files=2), [limits.Piece(("a",), files=3)], AT) and None,
    "E207": lambda root: continuation.check(Work("COMPLETE", 10, 10)),
    "E208": lambda root: report.require({}),
    "E209": lambda root: phases.finish(PLANNING, {}).refusals,
    "E210": lambda root: phases.finish(PLANNING, {"plan": ""}).refusals,
    "E211": lambda root: tests_exist.require("IMPLEMENTATION", ["a.py"], ["a.py"]) and None,
    "E301": twice,
    "E302": lambda root: recorded(root, lambda folder: (folder / "evidence_index.json").write_text("{bad")),
    "E303": lambda root: recorded(root, lambda folder: (folder / "raw/op.log").unlink()),
    "E304": lambda root: recorded(root, lambda folder: (folder / "raw/op.log").write_text("other")),
    "E305": lambda root: evidence_index.read(b'{"version": 2}')[1],
    "E401": locked,
    "E402": lambda root: locks.acquire(Table(), "A", {}) and None,
    "E403": waiting_in_a_circle,
    "E404": lambda root: locks.ask(Pool("L2", 1, ("a",)), "b", wait=False) and None,
    "E405": released,
    "E501": lambda root: judged(session=None),
    "E502": lambda root: judged(session="S2"),
    "E503": lambda root: judged(exit_code=3),
}


def raised(act: Callable[[pathlib.Path], Raised], root: pathlib.Path) -> list[str | None]:
    try:
        found = act(root)
    except OrchestratorError as problem:
        found = problem
    if found is None or isinstance(found, str):
        return [found]
    return [each.code for each in ([found] if isinstance(found, OrchestratorError) else found)]


def test_every_code_has_its_row() -> None:
    assert tuple(RAISED) == tuple(codes.CODES)


@pytest.mark.parametrize("code", RAISED)
def test_a_code_is_raised_by_what_it_means(code: str, tmp_path: pathlib.Path) -> None:
    assert code in raised(RAISED[code], tmp_path)


def test_the_documents_tell_what_each_code_means_and_what_helps() -> None:
    text = (ROOT / "docs" / "runs.md").read_text("utf-8")
    rows = [f"| `{name}` | {code.meaning} | {code.remedy} |" for name, code in codes.CODES.items()]
    assert "\n".join(rows) in text
