"""A database in which every table has rows, written by the use cases alone: what tamperers are let loose on."""

from __future__ import annotations

import functools
import hashlib
import pathlib
import shutil
import tempfile

from orchestrator.store import constants, step
from tests.acceptance import walking
from tests.acceptance.test_replay import MIXED
from tests.integration.app import peer
from tests.integration.app.desk import Desk
from tests.integration.app.table import Table

BLOCKED = "S3"
"""The session with blockers, questions, deferrals, dependencies and acknowledgements."""
FILE = "evidence/output.txt"
OUTPUT = b"what a command wrote, too much for the database"
AT = "2026-02-01T00:00:00.000000Z"


class Play(Table):
    """The words of those who act, in another session than the usual one."""

    def do(self, words: str, **arguments: object) -> dict[str, object]:
        for name in ("session_id", "id"):
            if arguments.get(name) == "S1":
                arguments[name] = BLOCKED
        return super().do(words, **arguments)


@functools.cache
def _folder() -> pathlib.Path:
    folder = pathlib.Path(tempfile.mkdtemp())
    desk = Desk(folder)
    for op in MIXED:
        walking.perform(desk.context, op)
    desk.call("import peer", file=str(peer.incident(folder / "peer.db")))
    play = Play("A", "B", "C", context=desk.context)
    play.do("group depend", id="C", on="A", session_id="S1", by="project_manager", reason="first things first")
    play.plan()
    play.defer("A")
    play.do("group undepend", id="C", on="A", session_id="S1", by="project_manager", reason="no need")
    play.confirmable("B")
    play.says("project_manager", "BAZINGA", acknowledge={"B": "the environment came back"})
    play.says("project_manager", "NEEDS_CLARIFICATION", summary="which one?")
    _evidence(desk, folder)
    desk.context.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    desk.context.connection.close()
    return folder


def _evidence(desk: Desk, folder: pathlib.Path) -> None:
    """Evidence in a file, as a step records what is too large for a row."""
    (folder / FILE).parent.mkdir()
    (folder / FILE).write_bytes(OUTPUT)
    hash_ = hashlib.sha256(OUTPUT).hexdigest()
    with step.open_step(desk.context.connection, BLOCKED, AT) as one:
        one.insert(
            "evidence", kind="command", subject="C9", outcome="exit 0", hash=hash_, size=len(OUTPUT), path=FILE
        )
        one.insert(
            "evidence", kind="command", subject="C8", outcome="exit 0", hash=hashlib.sha256(b"kept").hexdigest(),
            size=4, content="kept",
        )  # fmt: skip
        one.seal("validate", "system:validator", "process", {})


def written(folder: pathlib.Path) -> pathlib.Path:
    """A copy of the database, in a project's folder with its evidence."""
    project = folder / constants.FOLDER
    shutil.copytree(_folder() / "evidence", folder / "evidence")
    project.mkdir(mode=0o700)
    return pathlib.Path(shutil.copyfile(_folder() / "orchestrator.db", project / constants.FILE))
