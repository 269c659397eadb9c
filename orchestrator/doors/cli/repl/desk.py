"""What the loop needs of the desk that does the work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from orchestrator.core.running.visibility import SUMMARY

Row = dict[str, Any]


class Desk(Protocol):
    """Serves one session of runs in one project; its methods raise OrchestratorError for what they refuse."""

    @property
    def session_id(self) -> str | None:
        """The session that is open."""

    @property
    def context(self) -> Any:
        """The open database."""

    @property
    def project(self) -> Any:
        """The folder, with its warnings."""

    @property
    def find(self) -> Callable[[], str | None]:
        """What tells the path of the database, where it is there already."""

    @property
    def settings(self) -> Any:
        """The settings of the project; E101 to E105 where there are none."""

    @property
    def warnings(self) -> Sequence[str]:
        """What the person has to know, in sentences."""

    def start(self) -> Row:
        """A new session."""

    def submit(self, text: str, task_type: str | None = None) -> Row:
        """Queue a task, or end it at once."""

    def work(
        self, id: str, watch: Callable[[Any], None] | None = None, cancelled: Callable[[], bool] | None = None
    ) -> Row:
        """Execute it."""

    def tasks(self) -> list[Row]:
        """The runs of the session."""

    def logs(self) -> list[Row]:
        """The same runs."""

    def earlier(self) -> list[Row]:
        """The runs of the session that ran in the project last, this one left out."""

    def log(self, id: str, level: str = SUMMARY) -> Row:
        """One run with its events."""

    def tree(self) -> list[Row]:
        """Threads, runs, tasks."""

    def status(self) -> Row:
        """How things stand."""

    def approve(self) -> Row:
        """Allow unfinished work to go on."""

    def respond(self, text: str, id: str | None = None) -> Row:
        """Answer a run's question."""

    def proceed(self, id: str) -> Row:
        """Go on with a run."""

    def answerable(self, text: str, id: str | None = None) -> Any:
        """What `respond` would answer; it raises where there is nothing to answer."""

    def approvable(self) -> Any:
        """What `approve` would let go on; it raises where that is nothing."""

    def continuable(self, id: str) -> Any:
        """What `proceed` would go on with; it raises where it may not."""

    def cancel(self, id: str, reason: str = "cancelled") -> Row:
        """Cancel a run."""

    def provider(self, name: str | None) -> Row:
        """Show or choose the provider."""

    def model(self, name: str | None) -> Row:
        """Show or choose the model."""

    def keys(self) -> dict[str, str]:
        """Which keys are set."""

    def init(self) -> Row:
        """Set the project up."""

    def close(self) -> Row:
        """End what is open."""
