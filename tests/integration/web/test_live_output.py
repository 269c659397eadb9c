"""What a run has written, on its page while it runs."""

from __future__ import annotations

import pathlib
import time

import pytest

pytest.importorskip("fastapi", reason="the pages need the extra `web`")

from orchestrator.app.running import live_output
from tests.integration.web import story
from tests.integration.web.asgi import Web
from tests.integration.web.conftest import Make

KEY = "ghp_" + "a1B2" * 9


@pytest.fixture
def working(make: Make, tmp_path: pathlib.Path) -> tuple[Web, str, pathlib.Path]:
    """A run whose program writes, and goes on until a file is there."""
    end, program = tmp_path / "end", tmp_path / "agent.sh"
    program.write_text(
        f"#!/bin/sh\nseq 1 20000\nprintf '\\033[1mUsing {KEY} in {tmp_path}/project\\033[0m\\n<b>half of it\\n'\n"
        f"n=0; while [ ! -e {end} ] && [ $n -lt 600 ]; do sleep 0.05; n=$((n+1)); done\necho All done.\n"
    )
    program.chmod(0o755)
    web = make(executor=f"command:{program}")
    web.serve_runs()
    return web, story.run(web, story.READ, until="RUNNING"), end


def test_a_page_shows_the_newest_part_of_what_a_run_writes_while_it_runs(
    working: tuple[Web, str, pathlib.Path], tmp_path: pathlib.Path
) -> None:
    web, id, end = working
    limit = time.monotonic() + 20
    while "half of it" not in (text := web.get(f"/tasks/{id}").text):
        assert time.monotonic() < limit, text
        time.sleep(0.02)
    shown = text.partition("data-grows")[2].partition("</pre>")[0].partition(">")[2]
    assert "&lt;b&gt;half of it" in shown
    assert [each for each in (KEY, str(tmp_path), "\x1b", "\n7\n") if each in shown] == []
    assert ("20000\nUsing " in shown, "…" in shown, "Only the newest part" in text) == (True, True, True)
    assert len(shown) <= live_output.SHOWN + 200
    end.touch()
    story.wait(web, id, "COMPLETE")
    after = web.get(f"/tasks/{id}").text
    assert ("data-grows" in after, "All done." in after) == (False, True)
