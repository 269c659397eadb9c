"""Evidence of a database on a server: in a folder that all machines share, or on the machine that it names.

A machine is a name and a project folder of its own.

Source: spec 90, section 2.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import pathlib
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from orchestrator import bootstrap
from orchestrator.app import maintenance
from orchestrator.app.driving import drive
from orchestrator.app.driving.requests import Drive
from orchestrator.app.kernel import attached_evidence, operations
from orchestrator.app.running import begin_session, retention
from orchestrator.app.running.run_session import RunSession
from orchestrator.core import oversized
from orchestrator.errors import EnvironmentProblem, UsageError
from orchestrator.runner import atomic_files, evidence_files
from orchestrator.runner import project as runner_project
from tests.integration.app.test_drive import BUILT, says

BUILDS = [{**BUILT, "repeat": True}, {**says("qa_expert", "PASS"), "repeat": True}]
HUGE = {"log": "x" * (oversized.LIMIT + 1)}


class Site:
    """A database on a server, and machines that work on it."""

    def __init__(self, url: str, folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.url, self.folder, self._patch = url, folder, monkeypatch
        self.shared = folder / "shared"
        self.shared.mkdir()
        self.script = folder / "script.json"
        self.script.write_text(json.dumps(BUILDS))
        self.context = bootstrap.open_context(url, write=True, door="test")
        self.call("session create", id="S1", goal="a change")
        self.call("group create", id="A", session_id="S1", name="a")
        self.call("route", session_id="S1", current_agent="project_manager", status="PLANNING_COMPLETE")

    def call(self, words: str, **given: Any) -> dict[str, Any]:
        found: dict[str, Any] = operations.call(self.context, words, **given)
        return found

    def enter(self, machine: str, shared: pathlib.Path | None) -> pathlib.Path:
        """Go on as another machine; its project folder."""
        project = self.folder / machine
        project.mkdir(exist_ok=True)
        self._patch.chdir(project)
        self._patch.setenv("ORCHESTRATOR_HOST", machine)
        if shared is None:
            self._patch.delenv(attached_evidence.VARIABLE, raising=False)
        else:
            self._patch.setenv(attached_evidence.VARIABLE, str(shared))
        return project

    def turn(self) -> dict[str, Any]:
        """Run one turn of the session."""
        asked = Drive(session_id="S1", executor=f"scripted:{self.script}", isolation="none", once=True)
        return drive.drive(self.context, asked)

    def desk(self, project: pathlib.Path) -> RunSession:
        """Who runs tasks in a project."""
        runner_project.init(str(project))
        return bootstrap.open_run_session(
            executor=f"scripted:{self.script}", project_mode="fixed", project_root=str(project), database=self.url
        )

    def report(self) -> dict[str, Any]:
        """A report with a part that goes into a file."""
        return self.call(
            "route", session_id="S1", group_id="A", current_agent="developer", status="READY_FOR_QA", details=HUGE
        )

    def verified(self) -> tuple[int, list[str]]:
        """How many findings there are, and the warnings."""
        found = self.call("audit verify")
        return found["total"], [str(each) for each in found.get("warnings") or ()]

    def missed(self) -> list[str]:
        """The evidence that a verdict would miss."""
        found = attached_evidence.of(self.context.connection, "S1")
        return [each.id for each in attached_evidence.faults(self.context.path, "S1", found)]


@pytest.fixture
def site(pg_url: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    found = Site(pg_url, tmp_path, monkeypatch)
    with contextlib.closing(found.context.connection):
        yield found


def test_two_machines_keep_and_read_evidence_in_one_folder(site: Site) -> None:
    one = site.enter("one", site.shared)
    site.report()
    two = site.enter("two", site.shared)
    site.turn()
    kept = site.shared / ".orchestrator" / "sessions" / "S1"
    assert {each.name for each in kept.iterdir()} >= {"evidence", "reports"}
    assert not list(one.rglob("evidence_index.json")) + list(two.rglob("evidence_index.json"))
    # Another machine calls the folder by another name, and has the projects of neither.
    site.enter("three", None)
    for each in (one, two):
        shutil.rmtree(each)
    assert (site.verified(), site.missed()) == ((0, []), [])
    elsewhere = site.shared.rename(site.folder / "mounted")
    total, warnings = site.verified()
    assert (total, len(warnings), site.missed()) == (0, 2, [])
    assert all("lies on a shared folder (below" in each for each in warnings)
    site.enter("three", elsewhere)
    assert (site.verified(), site.missed()) == ((0, []), [])
    # Where the folder is there, what is not in it is missing.
    shutil.rmtree(elsewhere / ".orchestrator" / "sessions")
    assert (site.verified()[0], len(site.missed())) == (2, 2)


def test_a_large_report_on_another_machine_is_not_missing(site: Site) -> None:
    one = site.enter("one", None)
    (part,) = site.report()["evidence"]
    assert part["host"] == "one"
    site.enter("two", None)
    total, (warning,) = site.verified()
    assert (total, "lies on one (below" in warning, site.missed()) == (0, True, [])
    site.enter("one", None)
    assert (site.verified(), site.missed()) == ((0, []), [])
    (one / part["path"]).unlink()
    assert (site.verified()[0], len(site.missed())) == (1, 1)
    assert site.call("audit replay", session_id="S1")["equal"] is True


def _absent(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    site.shared.rmdir()


def _fails(number: int) -> Callable[[Site, pytest.MonkeyPatch], None]:
    def arrange(_: Site, monkeypatch: pytest.MonkeyPatch) -> None:
        def refused(*_: Any) -> int:
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr(atomic_files, "_reserved_room", refused)
        monkeypatch.setattr(atomic_files, "write", lambda path, *_: _through(path, number))

    return arrange


def _through(path: Any, number: int) -> None:
    with atomic_files.failing(str(path)):
        raise OSError(number, os.strerror(number))


def _of_another(site: Site, _: pytest.MonkeyPatch) -> None:
    (site.shared / ".orchestrator").mkdir()
    (site.shared / ".orchestrator" / attached_evidence.OF_DATABASE).write_text("0" * 64)


UNFIT = {
    "missing": (_absent, "does not exist"), "full": (_fails(errno.ENOSPC), "No space left"),
    "read-only": (_fails(errno.EROFS), "Read-only"), "another's": (_of_another, "of another database"),
}  # fmt: skip


def test_nothing_is_begun_where_the_shared_folder_takes_nothing(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = site.desk(site.enter("one", site.shared))
    before = site.call("audit head")["heads"]
    for arrange, said in UNFIT.values():
        shutil.rmtree(site.shared, ignore_errors=True)
        site.shared.mkdir()
        with monkeypatch.context() as patch:
            arrange(site, patch)
            wanted = [site.turn, lambda: begin_session.start(desk)] + [site.report] * (said != "of another database")
            for attempt in wanted:
                with pytest.raises(EnvironmentProblem, match=said) as caught:
                    attempt()
                assert caught.value.code in ("PREFLIGHT_FAILED", "OUTPUT_FAILED")
                assert "folder" in caught.value.suggestion
                assert site.call("audit head")["heads"] == before
    desk.context.connection.close()


def test_a_folder_that_goes_while_a_session_is_driven_frees_its_turn(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.enter("one", site.shared)
    monkeypatch.setattr(drive.preflight, "evidence", lambda _: [])
    site.shared.rmdir()
    with pytest.raises(EnvironmentProblem, match=attached_evidence.VARIABLE):
        site.turn()
    assert site.context.connection.run("SELECT count(*) FROM turn_runs").fetchone() == (0,)
    site.shared.mkdir()
    assert site.turn()["steps"] == 1


def test_what_expires_in_a_shared_folder_is_expired_for_every_machine(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.enter("one", site.shared)
    site.turn()
    monkeypatch.setattr(retention, "_OPEN", "SELECT id FROM sessions WHERE id <> 'S1'")
    index = evidence_files.session_folder(site.shared, "S1") / "evidence" / evidence_files.INDEX
    os.utime(index, (0, 0))
    desk = site.desk(site.enter("two", site.shared.rename(site.folder / "mounted")))
    begin_session.start(desk)
    assert not (site.folder / "mounted" / ".orchestrator" / "sessions" / "S1" / "evidence").exists()
    desk.context.connection.close()
    assert (site.verified(), site.missed()) == ((0, []), [])


def test_the_folder_has_to_be_absolute_and_doctor_looks_at_it(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    site.enter("one", site.shared)
    assert "EVIDENCE_FOLDER" not in _found(site)
    site.shared.rmdir()
    assert "EVIDENCE_FOLDER" in _found(site)
    monkeypatch.setenv(attached_evidence.VARIABLE, "evidence")
    assert "EVIDENCE_FOLDER" in _found(site)
    with pytest.raises(UsageError, match="absolute"):
        site.turn()
    # A database in a file has its evidence beside it.
    assert not any(attached_evidence.place("/srv/o.db"))


def _found(site: Site) -> list[str]:
    return [each["id"] for each in maintenance.doctor_on_server(site.url, "", {}, 5.0)["findings"]]
