"""Evidence on the disk goes when its days are over; the record says so, and what is open stays."""

from __future__ import annotations

import json
import os
import pathlib

from orchestrator import bootstrap
from orchestrator.app.audit import replaying
from orchestrator.app.running.desk import Desk


def desk(folder: pathlib.Path) -> Desk:
    script = folder / "script.json"
    step = {"status": "COMPLETE", "output": "made", "writes": {"made.md": "x"}, "repeat": True}
    script.write_text(json.dumps([step]))
    return bootstrap.open_desk(
        executor=f"scripted:{script}", project_mode="fixed", project_root=str(folder / "project"),
        database=str(folder / "o.db"), environment={},
    )  # fmt: skip


def test_p3_evidence_of_closed_sessions_expires_and_that_is_recorded(tmp_path: pathlib.Path) -> None:
    claude = tmp_path / "project" / ".claude"
    for name in ("agents", "rules"):
        (claude / name).mkdir(parents=True)
    (claude / "CLAUDE.md").write_text("")
    (claude / "settings.json").write_text('{"orchestrator": {"evidence_settings": {"retention_days": 2}}}')
    first = desk(tmp_path)
    run = first.work(first.submit("Create made.md")["id"])
    old = first.session_id
    assert run["state"] == "complete"
    first.close()
    index = tmp_path / "project" / ".orchestrator" / "sessions" / str(old) / "evidence" / "evidence_index.json"
    past = index.stat().st_mtime - 3 * 86_400
    os.utime(index, (past, past))
    second = desk(tmp_path)
    second.start()
    assert not index.exists()
    content = second.context.connection.execute("SELECT content FROM evidence WHERE kind = 'expiry'").fetchone()[0]
    assert json.loads(content) == {"days": 2, "sessions": [old]}
    assert "run expire" in [event.kind for event in replaying.events(second.context)]
