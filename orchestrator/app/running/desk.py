"""The desk of a session of runs: what a REPL, a single run and a server do with it, one call each.

It takes what was said, decides without any executor what can be decided so, has the rest executed, and shows what came
of it. Everything lasting is in the database; the desk only knows which session and project it serves.

Source: seed 001, Properties 1, 16, 19, 23, 24, 27, 30 and 38.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from orchestrator.app.kernel.context import Answer
from orchestrator.app.people import answering
from orchestrator.app.people.requests import AnswerQuestion
from orchestrator.app.running import (
    adopting,
    answerable,
    closing,
    driver,
    earlier,
    execution,
    failing,
    measuring,
    mediating,
    opening,
    pointing,
    queueing,
    records,
    standing,
    stopping,
    views,
    waiting,
    writing,
)
from orchestrator.app.running.run_session import RunSession
from orchestrator.core import masking, questions
from orchestrator.core.routing.facts import RUNNER
from orchestrator.core.running import advice, providers, states, types
from orchestrator.errors import OrchestratorError, Refused
from orchestrator.runner import port, process, project
from orchestrator.store import run_reader
from orchestrator.store.run_reader import Run


class Desk(RunSession):
    """Serves one session of runs in one project: takes tasks, has them executed, answers and reports."""

    def start(self) -> Answer:
        """Begin a new session; what the one before left open is ended first.

        Raises:
            EnvironmentProblem: OUTPUT_FAILED, the project cannot be written; no session is begun.
        """
        _ = self.settings
        if self.session_id is not None:
            self.left_behind += closing.left_unfinished(closing.close(self))
        return opening.begin(self)

    def session(self) -> str:
        """The id of the session, which is begun where none was."""
        if self.session_id is None:
            self.start()
        assert self.session_id is not None  # noqa: S101 - started just now
        return self.session_id

    def init(self) -> Answer:
        """Set the project up."""
        return {"success": True, "created": list(project.init(self.project.root)), "project": self.project.root}

    def submit(self, text: str, task_type: str | None = None) -> Answer:
        """Take a task: queued, or ended at once where no executor is to be called.

        Raises:
            UsageError: a blank text, a type that does not exist. Refused: SESSION_CLOSED.
        """
        kind = types.settle(task_type, text)
        session = self.session()
        selection = self.selection
        found = queueing.queue(
            self.context, session_id=session, prompt=self.stored(text), task_type=kind.type,
            guessed=kind.guessed, told=task_type is None and not kind.guessed, executor=self.executor,
            provider=selection.provider, model=selection.model, root=self.project.root,
        )  # fmt: skip
        run = self._require(found["run"])
        self._hold_back(run)
        return self.shown(run.id)

    def stored(self, text: str) -> str:
        """A text as it may be kept: without a key in it."""
        return masking.mask_keys(text, self.secrets)

    def _hold_back(self, run: Run) -> None:
        """Stop a run that no executor is to see: not confirmed, not clear, or without what it needs."""
        doubt = mediating.doubt(self.context, run)
        if doubt is not None:
            self._ask(run, doubt)
            return
        try:
            self._refuse_unready(run)
        except OrchestratorError as problem:
            said = advice.said(problem.suggestion)
            why = f"{problem.message} {said}".strip()
            failing.hold(self.context, run, states.FAILED, why, states.ERROR, problem.code, helps=said)

    def _refuse_unready(self, run: Run) -> None:
        if run.executor == run.provider:
            providers.check(providers.Selection(run.provider, run.model), self.variables)
        found = self.executor_of(run).is_available()
        if not found.available:
            raise Refused("E503", found.reason or "The executor is not available.", found.suggestion or "")
        driver.require_tests(self.context, run, self.settings)

    def _ask(self, run: Run, doubt: mediating.Doubt) -> None:
        state = states.AWAITING if self.flags.interactive else states.UNFINISHED
        status = states.BLOCKED if doubt.kind == questions.CONFIRMATION else states.INCOMPLETE
        failing.hold(self.context, run, state, doubt.reason, status, None, doubt.question, doubt.kind)

    def work(
        self, id: str, watch: port.Watch | None = None, cancelled: Callable[[], bool] | None = None
    ) -> Answer:
        """Execute a queued run to its end, or until it awaits a response.

        Raises:
            Refused: UNKNOWN_ID.
        """
        run = self._require(id)
        if run.state != states.QUEUED:
            return self.shown(run.id)
        try:
            driver.execute(self.context, self._job(run, watch, cancelled))
        except OrchestratorError as problem:
            failing.give_up(self, run.id, problem)
        return self.shown(run.id)

    def _job(self, run: Run, watch: port.Watch | None, cancelled: Callable[[], bool] | None) -> execution.Job:
        return execution.Job(
            run=run,
            executor=self.executor_of(run),
            settings=self.settings,
            limits=measuring.limits_of(self.context, run, self.settings, process.Limits(
                executor_timeout_ms=self.flags.executor_timeout_ms, progress_timeout_ms=self.flags.progress_timeout_ms
            )),
            prompt=mediating.prompt(self.context, run),
            remembered=mediating.remembered(self.context, run),
            interactive=self.flags.interactive,
            secrets=self.secrets,
            watch=watch,
            cancelled=stopping.told(self.context, run, cancelled),
            tell=self.tell,
            begun=functools.partial(pointing.pointed, self.context, self.project.root, run),
        )  # fmt: skip

    def _require(self, id: str) -> Run:
        found = run_reader.run(self.context.connection, self.session_id, id) if self.session_id else None
        if found is None:
            known = [run.id for run in self._runs()]
            raise writing.unknown(id, known)
        return found

    def _runs(self) -> list[Run]:
        return run_reader.of_session(self.context.connection, self.session_id) if self.session_id else []

    def shown(self, id: str) -> Answer:
        """A run as it is now, with what to do next."""
        return views.told(self.context, self._require(id))

    def _free(self) -> None:
        """End what nobody executes any more, before anything is said or decided about it."""
        waiting.free_abandoned(self.context)
        pointing.heal(self.context, self.project.root)

    def tasks(self) -> list[Answer]:
        """The session's runs."""
        if self.session_id is not None:
            self._free()
        return views.runs(self.context, self.session_id) if self.session_id else []

    logs = tasks

    def earlier(self) -> list[Answer]:
        """The runs of the session that ran in the project last, this one left out."""
        return earlier.runs(self)

    def log(self, id: str, level: str = "summary") -> Answer:
        """One run with its log: of this session or the last before it by either id, of any by its id outside."""
        self._free()
        found = earlier.run_of(self, id) or self._require(id)
        return views.run_log(self.context, found.session_id, found.id, level)

    def tree(self) -> list[Answer]:
        """The session's runs by the task that they were about; where it has none, those of the last one before it."""
        found = views.tree(self.context, self.session_id) if self.session_id else []
        return found or earlier.tree(self)

    def status(self) -> Answer:
        """Where the session stands."""
        return standing.of(self, self.tasks())

    def respond(self, text: str, id: str | None = None) -> Answer:
        """Answer what a run asked, as a person; it is queued again.

        Raises:
            Refused: UNKNOWN_ID, E207 (of another project), ILLEGAL_MOVE (nothing is asked), HUMAN_REQUIRED. UsageError:
                neither yes nor no.
        """
        return self._answer(*self.answerable(text, id))

    def answerable(self, text: str, id: str | None = None) -> tuple[Run, str, str]:
        """What `respond` would answer, with its decision and note; it refuses what that refuses whoever asks."""
        self._free()
        runs = [adopting.find(self, id)] if id is not None else self._runs()
        return answerable.answer(self.context, runs, text, id)

    def approve(self) -> Answer:
        """Approve that the newest unfinished run is continued, as a person; the run that continues it.

        Raises:
            Refused: E207, nothing may be continued; HUMAN_REQUIRED.
        """
        return self._answer(self.approvable(), questions.CONTINUE, "")

    def approvable(self) -> Run:
        """The run that `approve` lets go on; it refuses what that refuses whoever asks."""
        self._free()
        return answerable.approval(self.context, self._runs())

    def proceed(self, id: str) -> Answer:
        """Continue a run that ended unfinished, as a person; one that was queued by an answer is only taken up.

        Raises:
            Refused: UNKNOWN_ID, E207, HUMAN_REQUIRED.
        """
        run = self.continuable(id)
        if run.state == states.QUEUED:
            adopting.adopt(self, run)
            return self.take_up(run.id)
        return self._answer(run, questions.CONTINUE, "")

    def continuable(self, id: str) -> Run:
        """The run that `proceed` goes on with; nothing is changed by the look, and it refuses what that refuses."""
        self._free()
        return answerable.continuation(self.context, adopting.find(self, id))

    def _answer(self, run: Run, decision: str, note: str) -> Answer:
        said = AnswerQuestion(
            id=str(run.question_id), decision=decision, note=self.stored(note), session_id=run.session_id
        )
        answering.answer(self.context, said)
        adopting.adopt(self, run)
        newest = run_reader.of_task(self.context.connection, run.session_id, run.task_id)[-1]
        return self.take_up(newest.id)

    def take_up(self, id: str) -> Answer:
        """Look at a run that an answer queued: what no executor is to see is stopped."""
        run = self._require(id)
        if run.state == states.QUEUED:
            self._hold_back(run)
        return self.shown(run.id)

    def retry(self, id: str, *, by: str = RUNNER) -> Answer:
        """Try a run again that ended without being complete."""
        self._free()
        run = self._require(id)
        found = queueing.again(self.context, session_id=run.session_id, id=run.id, by=by)
        self._hold_back(self._require(found["run"]))
        return self.shown(found["run"])

    def cancel(self, id: str, reason: str = "cancelled", *, by: str = RUNNER) -> Answer:
        """Cancel a run that is queued or awaits a response.

        Raises:
            Refused: UNKNOWN_ID, ILLEGAL_MOVE.
        """
        run = self._require(id)
        queueing.cancel(self.context, session_id=run.session_id, id=run.id, reason=reason, by=by)
        records.save(self.context, run.session_id, run.id)
        return self.shown(run.id)

    def close(self) -> Answer:
        """End what is open, report, and end the session where nothing in it waits for a person.

        Returns:
            `report`, `report_path`, `exit_code`; `left_behind`, the sessions before it that were not complete, if any.
        """
        closed = closing.close(self)
        return {**closed, "left_behind": self.left_behind} if self.left_behind else closed
