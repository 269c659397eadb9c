"""Cancelling what does not want to end: soon an answer, and nobody else has to wait meanwhile."""

from __future__ import annotations

import concurrent.futures
import time

from tests.acceptance.webhouse import WebHouse, wait_for

CANCELS = 50
"""More than a server has threads."""
SOON_S = 2.0
"""Seconds that a read may take on a busy machine; a cancellation here takes the three that a program is given."""


def test_readers_are_answered_while_fifty_wait_for_the_end_of_what_is_cancelled(web: WebHouse) -> None:
    begun = web.base / "begun"
    server = web.serve("--executor", web.program(f"trap '' TERM; touch {begun}; while :; do sleep 0.1; done"))
    id = server.chat(server.project(web.folder()), "create notes.md")["task_id"]
    wait_for(begun.exists)

    def cancel(_: int) -> tuple[int, str, float]:
        at = time.monotonic()
        answer = server.scripts.post(f"/api/tasks/{id}/cancel")
        return answer.status_code, answer.json().get("new_status", ""), time.monotonic() - at

    took: list[float] = []
    with concurrent.futures.ThreadPoolExecutor(CANCELS) as crowd:
        asked = [crowd.submit(cancel, number) for number in range(CANCELS)]
        time.sleep(1)
        while sum(each.done() for each in asked) < CANCELS // 2:
            for path in ("/api/sessions", f"/api/tasks/{id}"):
                at = time.monotonic()
                assert server.open.get(path).status_code == 200
                took.append(time.monotonic() - at)
            time.sleep(0.05)
        answers = [each.result() for each in asked]
    assert len(took) > 4
    assert max(took) < SOON_S
    assert {status for status, _, _ in answers} == {200}
    assert {new for _, new, _ in answers} <= {"CANCELLED", "RUNNING"}
    assert max(seconds for _, _, seconds in answers) < 12
    assert server.until(id)["status"] == "CANCELLED"
    again = server.scripts.post(f"/api/tasks/{id}/cancel")
    assert (again.status_code, again.json()["error"]) == (409, "ILLEGAL_MOVE")
