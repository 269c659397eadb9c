"""A team that is driven from a goal to ACCEPT in a temporary repository, with agents whose answers are a script.

It shows what goes wrong as well: an answer without a report, a test that fails, a merge with a conflict.
"""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Callable
from pathlib import Path

from orchestrator.app import setup
from orchestrator.app.driving import drive
from orchestrator.app.driving.requests import Drive
from orchestrator.app.kernel.context import Answer, Context
from orchestrator.core.suggestions import suggest
from orchestrator.errors import EnvironmentProblem
from orchestrator.hints import Any
from orchestrator.runner import repository
from orchestrator.store import constants

GOAL = "Add a login and a logout page"
_MANAGER, _DEVELOPER, _QA, _LEAD = "project_manager", "developer", "qa_expert", "tech_lead"


def _says(role: str, status: str, summary: str, group: str | None = None, **more: Any) -> dict[str, Any]:
    report: dict[str, Any] = {"status": status, "summary": summary}
    if "details" in more:
        report["details"] = more.pop("details")
    return {"role": role, "group": group, "report": report, **more}


_PLAN = {"plan": {"groups": [{"id": "LOGIN", "name": "Login page"}, {"id": "LOGOUT", "name": "Logout page"}]}}
SCRIPT: tuple[dict[str, Any], ...] = (
    _says(_MANAGER, "PLANNING_COMPLETE", "two groups", details=_PLAN),
    {"role": _DEVELOPER, "group": "LOGIN", "status": "COMPLETE", "output": "The login page is done."},
    _says(_DEVELOPER, "READY_FOR_QA", "login page", "LOGIN", writes={"pages.txt": "login\n"}),
    _says(_DEVELOPER, "READY_FOR_QA", "logout page", "LOGOUT", writes={"pages.txt": "logout\n"}),
    _says(_QA, "PASS", "3 tests", "LOGIN"),
    _says(_QA, "FAIL", "the session survives", "LOGOUT"),
    _says(_DEVELOPER, "READY_FOR_QA", "the session is ended", "LOGOUT", writes={"pages.txt": "logout, for good\n"}),
    _says(_QA, "PASS", "4 tests", "LOGOUT"),
    *(_says(_LEAD, "APPROVED", "reads well", group) for group in ("LOGIN", "LOGOUT")),
    *(
        _says(_DEVELOPER, "MERGE_SUCCESS", "merged", group, writes={"pages.txt": "login\nlogout, for good\n"})
        for group in ("LOGIN", "LOGOUT")
    ),
    _says(_MANAGER, "BAZINGA", "both pages are there"),
)
"""What the agents answer, by role and group."""
NEXT = (
    suggest("init"),
    suggest("drive", check=True),
    suggest("drive", goal="My goal", executor="command:./agent.sh"),
)


def play(open_context: Callable[[str], Context], at: str, tell: Callable[[Answer], None]) -> Answer:
    """Drive the team and tell each event; everything is gone afterwards.

    Args:
        open_context: opens the database at a path for writing.
        at: the time at which the database is created.

    Returns:
        How it ended, as `drive.drive`.
    """
    with tempfile.TemporaryDirectory(prefix="orchestrator-demo-") as folder:
        project, script = Path(folder, "project"), Path(folder, "script.json")
        path = project / constants.FOLDER / constants.FILE
        path.parent.mkdir(parents=True)
        script.write_text(json.dumps(SCRIPT), "utf-8")
        # Without git all work in one folder.
        with contextlib.suppress(EnvironmentProblem):
            _repository(project)
        setup.create_database(path, at)
        context = open_context(str(path))
        try:
            setup.initialise(context)
            asked = Drive(
                goal=GOAL, executor=f"scripted:{script}", no_wait=False, land=False, clean=False, once=False,
                check=False,
            )  # fmt: skip
            return drive.drive(context, asked, drive.Watcher(tell))
        finally:
            context.connection.close()


def _repository(project: Path) -> None:
    """Make the project a git repository with one commit."""
    (project / ".gitignore").write_text(f"{constants.FOLDER}/\n", "utf-8")
    repository.must(str(project), "init", "--quiet")
    repository.commit(str(project), "Begin", "demo <demo@orchestrator.localhost>")
