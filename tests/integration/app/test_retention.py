"""Evidence on the disk goes when its days are over; the record says so, and what is open stays."""

from __future__ import annotations

import json
import os
import pathlib

from orchestrator import bootstrap
from orchestrator.app.audit import replay_events
from orchestrator.app.running import begin_session, end_session, execute_run, submission
from orchestrator.app.running.run_session import RunSession


def desk(folder: pathlib.Path) -> RunSession:
    script = folder / "script.json"
    step = {"status": "COMPLETE", "output": "made", "writes": {"made.md": "x"}, "repeat": True}
    script.write_text(json.dumps([step]))
    return bootstrap.open_run_session(
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
    run = execute_run.execute(first, submission.submit(first, "Create made.md")["id"])
    old = first.session_id
    assert run["state"] == "complete"
    end_session.close(first)
    index = tmp_path / "project" / ".orchestrator" / "sessions" / str(old) / "evidence" / "evidence_index.json"
    past = index.stat().st_mtime - 3 * 86_400
    os.utime(index, (past, past))
    second = desk(tmp_path)
    begin_session.start(second)
    assert not index.exists()
    content = second.context.connection.execute("SELECT content FROM evidence WHERE kind = 'expiry'").fetchone()[0]
    assert json.loads(content) == {"days": 2, "sessions": [old]}
    assert "run expire" in [event.kind for event in replay_events.events(second.context)]
