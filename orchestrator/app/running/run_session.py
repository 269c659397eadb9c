"""A session of runs as one process serves it: its project, its database, who executes, and what was asked for.

State alone. What is done with it are functions that take it: of `begin_session`, `submission`, `execute_run`,
`run_answers`, `session_status` and `end_session`.

Source: seed 001, Properties 19, 23, 24 and 38.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping

from orchestrator.app.kernel import operations
from orchestrator.app.kernel.context import Answer, Context, Work
from orchestrator.app.kernel.requests import Request
from orchestrator.app.running import run_repository
from orchestrator.core import masking, strict_json
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.routing.facts import RUNNER
from orchestrator.core.running import config, program_variables, providers, simulated_failures
from orchestrator.runner import port, process, project, session_lock
from orchestrator.store import run_reader
from orchestrator.store.run_reader import Run

Executors = Callable[[str | None, str | None], port.Executor]
"""Finds the executor of a name, or of a provider."""


class Flags(NamedTuple):
    """How a session of runs was asked for.

    executor: by name; the provider's where it is None. executor_timeout_ms, progress_timeout_ms: clocks of a run.
    """

    executor: str | None = None
    executor_timeout_ms: int = process.Limits().executor_timeout_ms
    progress_timeout_ms: int = process.Limits().progress_timeout_ms
    provider: str | None = None
    model: str | None = None
    interactive: bool = False


class RunSession:
    """One session of runs in one project; whoever serves it opens others one after another.

    Attributes:
        session_id: the session that was started last; None before.
        project: where runs work.
        selection: who executes.
        tell: takes what a person should know while something is under way.
        left_behind: the sessions served before that were not complete when they ended.
    """

    def __init__(
        self, open_context: Callable[[], Context], place: project.Project, flags: Flags, executors: Executors, *,
        variables: Mapping[str, str] | None = None, find: Callable[[], str | None] = lambda: None,
    ) -> None:
        """Name where and by whom; nothing is opened yet.

        Args:
            open_context: opens the database, which is not touched before a session needs it.
            find: tells its path, where it is there already.

        Raises:
            Refused: E101, E102, E103. InvalidInput: E104, E105.
        """
        self._open_context, self.find = open_context, find
        self.project = place
        named, self.selection = providers.asked(flags.executor, flags.provider, flags.model)
        self.flags = flags._replace(executor=named)
        self._session: tuple[str, session_lock.Hold] | None = None
        self.tell: Callable[[str], None] | None = None
        self.executors = executors
        self.variables = os.environ if variables is None else variables
        self._settings: config.Settings | None = None
        self.left_behind: list[Answer] = []
        self.secrets, self.warnings = masking.registered(program_variables.secrets(self.variables))

    @property
    def session_id(self) -> str | None:
        """The session that is open here, which others can see."""
        return self._session[0] if self._session is not None else None

    @session_id.setter
    def session_id(self, id: str | None) -> None:
        """Open another session, or none."""
        before, self._session = self._session, None if id is None else (id, session_lock.Hold(self.project.root, id))
        if before is not None:
            before[1].release()

    @functools.cached_property
    def context(self) -> Context:
        """The database, opened when it is first needed."""
        return self._open_context()

    @property
    def settings(self) -> config.Settings:
        """The settings of the project, read once it is set up."""
        if self._settings is None:
            project.check(self.project.root)
            self._settings = project.settings(self.project.root)
            self.warnings = (*self.warnings, *project.outdated(self.project.root))
        return self._settings

    @property
    def executor(self) -> str:
        """Who executes what is queued from now on, by name: a stub that the environment asks for, or what is chosen."""
        found = self.executors(self.flags.executor, self.selection.provider).name
        return found if found == simulated_failures.STUB else self.flags.executor or self.selection.provider

    def executor_of(self, run: Run) -> port.Executor:
        """Who is on record as executing a run, whoever has queued it."""
        return self.executors(run.executor if run.executor != run.provider else None, run.provider)

    def without_keys(self, text: str) -> str:
        """A text as it may be kept: without a key in it."""
        return masking.mask_keys(text, self.secrets)

    def keys(self) -> dict[str, str]:
        """SET or NOT SET for every key that a provider may need."""
        return providers.key_states(self.variables)

    def provider(self, name: str | None) -> Answer:
        """The chosen provider; with a name another one, which has no model chosen yet.

        Raises:
            Refused: E104.
        """
        return self.choose(None if name is None else providers.use_provider(self.selection, name).selection)

    def model(self, name: str | None) -> Answer:
        """The chosen model; with a name another one, which is passed on as it is.

        Raises:
            Refused: E104.
        """
        return self.choose(None if name is None else providers.use_model(self.selection, name).selection)

    def choose(self, selection: providers.Selection | None) -> Answer:
        """What is chosen from now on, or (None) what is."""
        self.selection = selection or self.selection
        if selection is not None and self.session_id is not None:
            chosen = ChooseProvider(session_id=self.session_id, **selection._asdict())
            operations.ask(self.context, chosen)
        return {"success": True, **self.selection._asdict()}


SUBJECTS = ("provider", "model")


class ChooseProvider(Request, event="run choose", use_case="running.run_session:choose", acting=RUNNER):
    """Record which provider and model the next runs are given to.

    Attributes:
        provider: one that is known; the caller has checked it.
        model: its name, passed on as it is; None for the provider's own choice.
    """

    session_id: str
    provider: str
    model: str | None


def choose(work: Work, request: ChooseProvider) -> Answer:
    """Record what was chosen, as evidence."""
    session = work.open_session()
    for subject, after in zip(SUBJECTS, (request.provider, request.model), strict=True):
        before = chosen(work.context, session.id, subject)
        if before != after:
            content = {"from": before, "to": after}
            run_repository.write_evidence(work, kind="choice", subject=subject, outcome="chosen", content=content)
    return {"success": True, "provider": request.provider, "model": request.model, "seq": work.seq}


def chosen(context: Context, session: str, subject: str) -> str | None:
    """What was chosen last, or None where nothing was."""
    text = run_reader.chosen(context.connection, session, subject)
    return None if text is None else strict_json.stored(text)["to"]
