"""The installed `serve` on a database and project of its own, and a real browser in front of it."""

from __future__ import annotations

import contextlib
import json
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

from orchestrator import bootstrap
from orchestrator.app.kernel import operations
from tests import persons
from tests.acceptance.replhouse import House

CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
DEADLINE_S = 30.0


class WebHouse(House):
    """A house whose server can be killed and started again.

    Attributes:
        url: where it listens. token: the scripts'.
    """

    url = token = ""

    @property
    def link(self) -> str:
        """A new one-time link, as a person makes it at a terminal."""
        context = bootstrap.open_context(self.environment()["ORCHESTRATOR_DB"], write=True, door="cli", environment={})
        try:
            with persons.seated(context):
                return str(operations.call(context, "human link", url=self.url)["url"])
        finally:
            context.connection.close()

    def serve(self, *steps: Mapping[str, Any], port: int = 0, flags: Sequence[str] = ()) -> None:
        """Start the server; with steps, they are what it executes from now on."""
        if steps:
            self._executor = self.scripted(*steps)
        argv = self.argv("serve", "--port", str(port), "--json", *flags, executor=self._executor, place=())
        with (self.base / "serve.err").open("ab") as errors:
            self.server = subprocess.Popen(
                argv, env=self.environment(), cwd=self.base, stdout=subprocess.PIPE, stderr=errors
            )
        self._told = threading.Event()
        self._listener = threading.Thread(target=self._listen, args=(self.server,))
        self._listener.start()
        assert self._told.wait(DEADLINE_S), self.complaints()

    def complaints(self) -> str:
        """What the server has written to its stderr."""
        return (self.base / "serve.err").read_text()

    def _listen(self, server: subprocess.Popen[bytes]) -> None:
        assert server.stdout is not None
        with server.stdout as lines:
            for line in lines:
                said = json.loads(line)
                self.url, self.token = said["url"], said["token"] or self.token
                self._told.set()

    def kill(self) -> int:
        """Kill the server as the system would; its port."""
        self.server.send_signal(signal.SIGKILL)
        self.server.wait(DEADLINE_S)
        self._listener.join()
        return int(self.url.rpartition(":")[2])

    def close(self) -> None:
        """End what is left."""
        super().close()
        server = getattr(self, "server", None)
        if server is not None and server.poll() is None:
            self.kill()

    def api(self, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Call the programs' interface as a script."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        request = urllib.request.Request(f"{self.url}{path}", data, headers)  # noqa: S310 - our own server
        with urllib.request.urlopen(request, timeout=DEADLINE_S) as answer:  # noqa: S310
            found: dict[str, Any] = json.load(answer)
            return found

    def say(self, content: str, session: str, until: str = "AWAITING_RESPONSE") -> str:
        """Say something in the project and wait for what becomes of it; the task's id."""
        project = self.api("/api/projects", {"project_path": str(self.project)})["project_id"]
        id = self.api(f"/api/projects/{project}/chat", {"content": content, "session_id": session})["task_id"]
        return self.wait(id, until)

    def wait(self, id: str, until: str) -> str:
        """Wait until a task is in a state; its id."""
        limit = time.monotonic() + DEADLINE_S
        while (found := self.api(f"/api/tasks/{id}"))["status"] != until:
            assert time.monotonic() < limit, found
            time.sleep(0.05)
        return id

    def batch(self, *lines: tuple[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Call the command line, many operations in one process."""
        text = "".join(json.dumps({"op": words, "args": dict(arguments)}) + "\n" for words, arguments in lines)
        done = subprocess.run(
            [sys.executable, str(self._script), "batch"], input=text, capture_output=True, text=True,
            env=self.environment(), cwd=self.base, timeout=DEADLINE_S, check=False,
        )  # fmt: skip
        found = [json.loads(line) for line in done.stdout.splitlines()]
        assert [each for each in found if not each["success"]] == [], done.stdout
        return found


@contextlib.contextmanager
def browsing() -> Iterator[Any]:
    """A browser; without one the test says that it is left out."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    program = next((found for name in CHROMIUM if (found := shutil.which(name))), None)
    if program is None:
        pytest.skip("no Chromium is installed")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


class Watched:
    """A page that tells of everything which a page of ours must not do."""

    def __init__(self, page: Any, url: str) -> None:
        self.page = page
        self.faults: list[str] = []
        page.on("dialog", self._dialog)
        page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        page.on("console", self._said)
        page.on("request", lambda sent: self._sent(sent.url, url))

    def _dialog(self, dialog: Any) -> None:
        self.faults.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _said(self, message: Any) -> None:
        # A page about a failure is one that failed to load, to the browser; so is a server that is away.
        if message.type in ("error", "warning") and "Failed to load resource" not in message.text:
            self.faults.append(f"console: {message.text}")

    def _sent(self, address: str, url: str) -> None:
        if not address.startswith((f"{url}/", "data:")):
            self.faults.append(f"request: {address}")


def overflow(page: Any) -> int:
    """By how many pixels a page is wider than its window."""
    return int(page.evaluate("document.documentElement.scrollWidth - window.innerWidth"))


Steps = Sequence[Mapping[str, Any]]
