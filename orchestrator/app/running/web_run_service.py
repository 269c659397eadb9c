"""What a server does with runs, over the same use cases as the REPL: chats, replies, retries, cancellations.

Source: seed 000, INV-3 to INV-6.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping

from orchestrator.app import projects
from orchestrator.app.kernel import arguments, human, operations
from orchestrator.app.kernel.connection_pool import Pool
from orchestrator.app.kernel.context import Answer, Context
from orchestrator.app.people import answer_question
from orchestrator.app.people.requests import AnswerQuestion
from orchestrator.app.questions import question_views
from orchestrator.app.running import begin_session, execute_run, run_list_views, run_repository, submission
from orchestrator.app.running.run_queue import StopRun
from orchestrator.app.running.run_session import RunSession
from orchestrator.app.running.worker import CHANNEL, PAGE, Loop, Tell
from orchestrator.core import masking, names, questions, sha256, strict_json
from orchestrator.core.caller_labels import SERVER_TOKEN
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.routing.facts import RUNNER
from orchestrator.core.running import states
from orchestrator.core.suggestions import recorded
from orchestrator.errors import OrchestratorError, Refused, UsageError
from orchestrator.hints import Any, TypeVar
from orchestrator.store import run_reader
from orchestrator.store.run_reader import Run

__all__ = ["CHANNEL", "PAGE", "SERVER_TOKEN", "Caller", "Service"]
_CANCELLED = "cancelled"
_T = TypeVar("_T")


class Caller(NamedTuple):
    """Who calls.

    person: the person's id, where one stands behind the call; their token, or the page that they opened, proves it.
    way: by what they were let in, in words; it stands in the events of what they do.
    """

    person: str | None = None
    credential: human.Credential | None = None
    way: str | None = None


NOBODY = Caller()
"""Who is known by nothing: the server itself."""
OpenSession = Callable[[Context, str], RunSession]
"""A session on a context, for the project at a path."""


class Service:
    """Takes what is said over HTTP, and has it executed.

    Attributes:
        pool: lends contexts.
        loop: executes what is queued.
        lacking: why no new task could be executed when it was opened, and what helps; None where one could.
    """

    def __init__(self, pool: Pool, open_session: OpenSession, tell: Tell, lacking: str | None = None) -> None:
        self.pool = pool
        self.lacking = lacking
        self._open_session = open_session
        self._tell = tell
        self.loop = Loop(pool, self._session_of, tell)

    def _session_of(self, context: Context, run: Run) -> RunSession:
        session = self._open_session(context, run.verification_root)
        session.session_id = run.session_id
        return session

    @contextlib.contextmanager
    def called(self, caller: Caller, *, trial: bool = False) -> Iterator[Context]:
        """A context for what somebody has done, or tries; its events say by what they were let in."""
        with self.pool.lent(write=True, trial=trial) as context:
            context.via = caller.way
            yield context

    def carried_out(self, caller: Caller, words: str, given: Mapping[str, Any], action: Callable[[Context], _T]) -> _T:
        """What an operation that somebody calls answers, on a context as `called` gives it.

        Args:
            words, given: the operation, and with which parameters it is called.
            action: calls it.
        """
        request = operations.find(words)

        def placed(context: Context) -> _T:
            context.via = caller.way
            return action(context)

        return self.pool.carried_out(placed, joins=not request.is_alone(given), trial=request.is_trial(given))

    def add_project(
        self, path: str, alias: str | None = None, caller: Caller = NOBODY, request_id: str | None = None
    ) -> Answer:
        """Register a project, as `projects.add`.

        Args:
            request_id: the same id with the same input is answered as before, here and in all that follows.

        Returns:
            As `projects.add`, and `project_id`.
        """
        with self.called(caller) as context:
            asked = projects.AddProject(path=path, alias=alias, request_id=request_id)
            found = operations.ask(context, asked)
        return {"project_id": found["project"]["id"], **found}

    def chat(
        self, project: str, content: str, session_id: str | None = None, caller: Caller = NOBODY,
        request_id: str | None = None,
    ) -> Answer:
        """Queue what was said as a run of its chat; one without a session begins one.

        Args:
            project: its id or alias.
            session_id: the chat; one of this id is begun where there is none.
            request_id: one of the chat; without a session it names the chat, so that both are begun once.

        Returns:
            `task_id`, `task_group_id`, `session_id`, `status`.

        Raises:
            UsageError: USAGE, a blank text; INVALID_ID. Refused: UNKNOWN_ID, the project; SESSION_CLOSED,
                NOT_PERMITTED, REQUEST_ID_REUSED, E101, E102, E103. InvalidInput: E104, E105.
        """
        if not names.said(content):
            raise UsageError("USAGE", "The message is empty.", "Send content that is not blank")
        if session_id is not None:
            names.check_id("session", session_id)
        with self.called(caller) as context:
            found = projects.require(context, project)
            session = self._open_session(context, found.path)
            if session_id is None and request_id is not None:
                session_id = _chat_of(found.id, request_id)
            if session_id is None:
                begin_session.begin(session)
            elif _remembered(context, session_id, request_id) is not None:
                # The chat of what was said before may have ended.
                session.session_id = session_id
            else:
                begin_session.join(session, session_id)
            with self.loop.preparing(begin_session.ensure(session)):
                run = run_list_views.require(context, submission.taken(session, content, request_id=request_id))
                status = _as_taken(context, run)
        return {**_told(run), "status": status}

    def reply(
        self, id: str, caller: Caller, *, reply: str | None = None, choice: str | None = None,
        question_id: str | None = None, request_id: str | None = None,
    ) -> Answer:
        """Answer what a run asks, as a person; it is queued again.

        Args:
            reply: the answer in words.
            choice: yes or no; where the question asks for that, it alone decides, and words are a note.
            question_id: what is answered; a question that is not open any more is not answered. It may be left out only
                for the first question of a task, so that a reply sent twice never answers the next one.

        Returns:
            `task_id`, `old_status`, `new_status`; `proof`, how much the caller's channel proves.

        Raises:
            UsageError: USAGE, a blank reply, or words where yes or no is asked. Refused: UNKNOWN_ID; ILLEGAL_MOVE,
                nothing is asked; QUESTION_CLOSED, another question is; HUMAN_REQUIRED.
        """
        with self.called(caller) as context:
            run = run_list_views.require(context, id)
            asked = _question_of(context, run, question_id, request_id)
            decision, note = _decided(asked, reply, choice)
            session = self._open_session(context, run.verification_root)
            with self.loop.preparing(run.session_id):
                context.credential = caller.credential
                said = AnswerQuestion(
                    id=asked["id"], decision=decision, note=session.without_keys(note), session_id=run.session_id,
                    by=caller.person, request_id=request_id,
                )
                answered = answer_question.answer(context, said)
                context.credential = None
                if answered.get("repeated"):
                    state = states.CANCELLED if decision in questions.ABANDONS else states.QUEUED
                    return _moved(id, states.AWAITING, state) | {"proof": answered["proof"]}
                # Opened after the answer, which ends a session that nobody has open.
                session.session_id = run.session_id
                self._after_step(lambda: submission.take_up(session, run.id))
            self.loop.adopt(run.id)
            now = run_list_views.require(context, id)
        return _moved(id, run.state, now.state) | {"proof": answered["proof"]}

    def answer(self, id: str, caller: Caller, **given: Any) -> Answer:
        """Answer any question, as a person; a run that it queues is taken up.

        Args:
            id: the question.
            given: what else `AnswerQuestion` takes.

        Returns:
            As `answering.answer`, without where things lie.

        Raises:
            As `answering.answer`, and UsageError: INVALID_TEXT.
        """
        bound = arguments.bind("answer", {"by": caller.person, **given, "id": id})
        with self.called(caller) as context:
            asked = question_views.question(context, id=id)["question"]
            with self.loop.preparing(asked["session_id"]):
                context.credential = caller.credential
                found: Answer = operations.call(context, "answer", **bound)
                context.credential = None
                if asked["run"] and not found.get("repeated"):
                    session = self._session_of(context, run_list_views.require(context, asked["run"]))
                    # A continuation is another run than the one that asked.
                    runs = run_reader.of_task(context.connection, asked["session_id"], asked["task_id"])
                    self._after_step(lambda: submission.take_up(session, runs[-1].id))
            told: Answer = run_list_views.with_places(context, found["session_id"], found)
        return told

    def retry(self, id: str, caller: Caller, request_id: str | None = None) -> Answer:
        """Queue another run of the task of one that ended without being complete.

        Raises:
            Refused: UNKNOWN_ID, ILLEGAL_MOVE, UNBLOCK_NOT_PERMITTED.
        """
        with self.called(caller) as context:
            run = run_list_views.require(context, id)
            session = self._session_of(context, run)
            context.credential = caller.credential
            with self.loop.preparing(run.session_id):
                new = run_list_views.require(context, self._tried_again(session, id, caller, request_id))
                status = _as_taken(context, new)
            self.loop.adopt(new.id)
        return {**_told(new), "retry_of": id, "old_status": run.state.upper(), "new_status": status}

    def _tried_again(self, session: RunSession, id: str, caller: Caller, request_id: str | None) -> str:
        try:
            return submission.retry(session, id, by=caller.person or RUNNER, request_id=request_id)
        except Refused as problem:
            if problem.code == "UNBLOCK_NOT_PERMITTED" and caller.person is None:
                problem.message += " A person can try it again: on its page, or with a token of their own."
            raise

    def cancel(self, id: str, caller: Caller, request_id: str | None = None) -> Answer:
        """Cancel a run: one that waits at once; one that runs begins to be stopped, whichever process executes it.

        Returns:
            `task_id`, `old_status`, `new_status`; RUNNING while it is being stopped, see `cancelled`.

        Raises:
            Refused: UNKNOWN_ID; ILLEGAL_MOVE, it has ended.
        """
        # Where no person is named, the log of the run says who it was.
        reason = _CANCELLED if caller.person or not caller.way else f"{_CANCELLED} with {caller.way}"
        with self.called(caller) as context:
            run = run_list_views.require(context, id)
            context.credential = caller.credential
            before = _remembered(context, run.session_id, request_id)
            state = run.state
            if before is not None and before.command == StopRun.event:
                state = states.RUNNING
            elif before is not None and state == states.CANCELLED:
                state = run_repository.before(context, run)
            given = {"by": caller.person or RUNNER, "reason": reason, "request_id": request_id}
            if state == states.RUNNING:
                self._stop(context, run, given)
            else:
                self._cancel(context, run, given)
            now = run_list_views.require(context, id)
        return _cancelled(now, state.upper())

    def cancelled(self, id: str, old_status: str) -> Answer:
        """What became of a run that was being stopped; RUNNING where it still is.

        Raises:
            Refused: ILLEGAL_MOVE, it ended otherwise meanwhile.
        """
        with self.pool.lent() as context:
            return _cancelled(run_list_views.require(context, id), old_status)

    def _stop(self, context: Context, run: Run, given: dict[str, Any]) -> None:
        # Another process that executes it finds that in the database.
        operations.ask(context, StopRun(session_id=run.session_id, id=run.id, **given))
        self.loop.cancel(run.id)

    def runs(self, id: str) -> bool:
        """Whether a run is still executed, here or by another process."""
        if self.loop.executes(id):
            return True
        with self.pool.lent() as context:
            return run_list_views.require(context, id).state == states.RUNNING

    def _cancel(self, context: Context, run: Run, given: dict[str, Any]) -> None:
        session = self._session_of(context, run)
        try:
            self._after_step(lambda: submission.cancel(session, run.id, **given))
        except OrchestratorError as problem:
            # It was started between the look and the step.
            if problem.code != "ILLEGAL_MOVE" or run_list_views.require(context, run.id).state != states.RUNNING:
                raise
            self._stop(context, run, given)

    def _after_step(self, act: Callable[[], object]) -> None:
        """Do what ends with writing a run's log; where the project has no place for that, the step stands all the same.

        Raises:
            OrchestratorError: what the act raises otherwise.
        """
        try:
            act()
        except OrchestratorError as problem:
            if problem.code != execute_run.OF_THE_PROJECT:
                raise
            self._tell(problem)

    def person(self, credential: human.Credential) -> str | None:
        """The person whose token it is, while that is in force. Nothing is recorded."""
        with self.pool.lent() as context:
            context.proof = human.found(context, credential)
            return human.speaker(context)


def _chat_of(project: str, key: str) -> str:
    """The id of the chat that a request without a session begins."""
    return f"chat-{sha256.new(f'{project} {key}'.encode()).hexdigest()[:32]}"


def _as_taken(context: Context, run: Run) -> str:
    """The status of a run as it was when it was taken: queued, or what it was stopped as before any executor."""
    moves = run_repository.moves(context, run)
    held = len(moves) > 1 and moves[0].seq == moves[1].seq
    return (moves[1].to if held else states.QUEUED).upper()


def _moved(id: str, old: str, new: str) -> Answer:
    return {"task_id": id, "old_status": old.upper(), "new_status": new.upper()}


def _question_of(context: Context, run: Run, question_id: str | None, key: str | None) -> run_reader.Row:
    """The question that a reply is about: the open one, or the one that the same request answered before.

    Raises:
        UsageError: USAGE, it does not say which. Refused: ILLEGAL_MOVE, QUESTION_CLOSED.
    """
    before = _answered_before(context, run, question_id, key)
    if before is not None:
        return before
    try:
        asked = _asked(context, run, question_id)
    except Refused:
        # The same request may have come twice at a time.
        before = _answered_before(context, run, question_id, key)
        if before is None:
            raise
        return before
    if question_id is None:
        _refuse_unnamed(context, run, asked["id"])
    return asked


def _answered_before(
    context: Context, run: Run, question_id: str | None, key: str | None
) -> run_reader.Row | None:
    before = _remembered(context, run.session_id, key)
    if before is None or before.command != AnswerQuestion.event:
        return None
    id = before.answer["question_id"]
    return run_reader.question(context.connection, id) if question_id in (None, id) else None


def _cancelled(now: Run, old_status: str) -> Answer:
    """What is answered to a cancellation.

    Raises:
        Refused: ILLEGAL_MOVE.
    """
    if now.state not in (states.CANCELLED, states.RUNNING):
        what = f"Task {now.id} is {now.state.upper()}; it can no longer be cancelled."
        raise Refused("ILLEGAL_MOVE", what, "Reload the task")
    return _moved(now.id, old_status, now.state)


def _told(run: Run) -> Answer:
    return {"task_id": run.id, "task_group_id": run.session_id, "session_id": run.session_id}


def _asked(context: Context, run: Run, question_id: str | None) -> run_reader.Row:
    """The question that a run waits for.

    Raises:
        Refused: ILLEGAL_MOVE, QUESTION_CLOSED.
    """
    asked = run_reader.question(context.connection, run.question_id) if run.question_id else None
    if run.state != states.AWAITING or asked is None or asked["closed_at"] is not None:
        what = f"Task {run.id} is {run.state.upper()} and is not waiting for a response."
        raise Refused("ILLEGAL_MOVE", what, "Reload the task")
    if question_id is not None and question_id != asked["id"]:
        what = "This answers a question that is no longer open; nothing changed."
        raise Refused("QUESTION_CLOSED", what, "Reload the task", question_id=asked["id"])
    return asked


def _refuse_unnamed(context: Context, run: Run, question: str) -> None:
    """Refuse an answer that does not say to what, where it may have been sent for an earlier question.

    Raises:
        UsageError: USAGE.
    """
    if run_reader.has_asked_before(context.connection, run.session_id, run.task_id, question):
        what = "This task has asked before, so a reply must name the question it answers."
        raise UsageError("USAGE", what, "Send the question_id that the task shows")


def _decided(asked: run_reader.Row, reply: str | None, choice: str | None) -> tuple[str, str]:
    """The decision and the note that a reply stands for.

    Raises:
        UsageError: USAGE.
    """
    if choice is not None and choice not in (questions.YES, questions.NO):
        raise UsageError("USAGE", "choice must be yes or no.", "Send one of these")
    said = names.said(reply)
    if asked["kind"] == questions.CONFIRMATION:
        word = choice or said.lower()
        if word not in (questions.YES, questions.NO):
            raise UsageError("USAGE", "This question takes only yes or no.", "Send the choice yes or no")
        return word, said if choice else ""
    if choice in questions.decisions(asked["kind"], asked["text"]):
        return str(choice), said
    if not (said or choice):
        raise UsageError("USAGE", "The reply is empty.", "Send a reply that is not blank")
    return questions.CONTINUE, said or str(choice)


class _Remembered(NamedTuple):
    """What a request id stands for in a chain: the command that came with it, and what that was answered."""

    command: str
    answer: Answer


def _remembered(context: Context, chain: str, request_id: str | None) -> _Remembered | None:
    """What was asked before with a request id, whatever it was; None where nothing was."""
    if request_id is None:
        return None
    row = context.reader.one(
        "SELECT command, answer FROM requests WHERE session_id = :chain AND request_id = :request",
        chain=chain,
        request=masking.mask_keys_id(request_id, context.secrets),
    )
    return None if row is None else _Remembered(str(row[0]), recorded(strict_json.stored(row[1])))
