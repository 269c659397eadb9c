"""One use case, one transaction: opening a step, recording what was refused, answering what was asked before."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping, Sequence

from orchestrator.core import masking, names, sha256, strict_json
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.oversized import Moved
from orchestrator.core.routing.facts import RULES_VERSION, Group, Session
from orchestrator.core.suggestions import options, recorded, rewritten, sentence, suggest
from orchestrator.core.workflow import model
from orchestrator.errors import EnvironmentProblem, InvalidInput, OrchestratorError, Refused
from orchestrator.hints import TYPE_CHECKING, Any, Protocol, TypeVar
from orchestrator.store import constants
from orchestrator.store import step as steps
from orchestrator.store.reader import Opening, Reader

if TYPE_CHECKING:
    from orchestrator.app.kernel.requests import Request
    from orchestrator.core.tasks import Task
    from orchestrator.store.queries import Row
    from orchestrator.store.reader import Agent
    from orchestrator.store.run_reader import Run

Answer = dict[str, Any]
_T = TypeVar("_T")
AGENT_JSON = ("details", "metadata")
"""Parameters that hold JSON of an agent's making."""
_SOME_GROUPS = "SELECT id FROM task_groups WHERE session_id = :session ORDER BY created_seq, id LIMIT 50"


class Version(NamedTuple):
    """A loaded workflow version with the models that its agent files name."""

    id: int
    workflow: model.Workflow
    models: dict[str, str]

    @property
    def most_visits(self) -> int:
        """So many visits need to be counted for the loop guard to reach its last rung."""
        rules = self.workflow.rules
        return rules.loop_max_visits + len(rules.loop_on_exhausted)


class RunHooks(Protocol):
    """What sessions, tasks and questions ask of the runs of a session, which stand above them and use them."""

    def refuse_running(self, work: Work) -> None:
        """Refuse to end a session in which something runs."""

    def end_all(self, work: Work, *, by: str) -> None:
        """End what waits in a session that ends."""

    def end_of_task(self, work: Work, task: Task, *, by: str, reason: str) -> None:
        """End what waits of a task that is cancelled."""

    def decide(self, work: Work, question: Row, person: Agent, decision: str, note: str) -> str | None:
        """What the answer of a question does to the run that asked it, in words; None where no run did."""

    def is_idle(self, context: Context, session_id: str) -> bool:
        """Whether a chat has nothing left to do, and nobody at it."""

    def end_over(self, work: Work) -> None:
        """End a chat whose last question is answered."""

    def queued(self, context: Context, session_id: str) -> list[Run]:
        """The queued runs of a chat that nobody goes on with."""


class Context:
    """What every use case needs: the store's connection, the clock, and through which door it was called.

    `run` runs a command to its end, as `orchestrator.runner.commands.run` does; without it none is run.
    `rules_version` is what decisions are marked with; a replay marks them as they are recorded.
    """

    # What lies above and is asked from below; `bootstrap` names it once for the process (SHP-10).
    runs: RunHooks
    after_refusal: Callable[[Work, Answer], None]
    """Lets follow what a refusal that is recorded leads to."""
    found_proof: Callable[[Context, Any], dict[str, str]]
    """What of a person's credential becomes part of a step's input."""
    refuse_other_role: Callable[[Work, str, str], None]
    """Refuses the act of another role than that for which the process acts."""
    is_gone: Callable[[str, Any], bool]
    """Whether a process is known to have ended, by its name as `runner.process_identity` gives it, on a connection."""
    is_below: Callable[[str, str], bool]
    """Whether a living process was started by another living one, directly or not, by their names."""
    finish_tasks: Callable[[Work, list[str], str], Mapping[str, Refused]]
    """Finishes the tasks that a report names; what was refused, by the task's id."""
    as_of: Callable[..., Answer]
    """Asks a reading use case as of right after a step, as `orchestrator.app.audit.as_of.ask` does."""

    def __init__(
        self,
        connection: Any,
        *,
        path: str,
        clock: Callable[[], str],
        door: str,
        channel: str,
        deadline_s: float,
        run: Callable[..., Any] | None = None,
    ) -> None:
        self.connection = connection
        self.run = run
        self.path = path
        self.clock = clock
        self.door = door
        self.channel = channel
        self.deadline_s = deadline_s
        self.reader = Reader(connection)
        self.secrets: tuple[str, ...] = ()
        """Values of keys in the environment, masked wherever they occur in what is stored."""
        self.warning: str | None = None
        """What the answer of the first step says of the state in which the database was found."""
        self.is_rehearsal = False
        """Whether all that is written goes to a copy of the database, since the file cannot be written."""
        self.rules_version = RULES_VERSION
        self.state_folder: str | None = None
        """Where this machine keeps what it has seen of databases; None where it keeps nothing."""
        self.credential: Any = None
        """What proves a person behind the next calls, as `orchestrator.app.kernel.human` reads it."""
        self.surroundings: Any = None
        """What proves a person at this machine, a `people.person_proof.Surroundings`; None: nothing."""
        self.acts_for: str | None = None
        """For which agent alone this process acts, as its environment says; None: for any."""
        self.at: str | None = None
        """The time of the step under way."""
        self.via: str | None = None
        """By what the caller of the next calls was let in, such as the token of a server."""
        self.start: int | None = None
        """The step of the start that the next reports are given for, by whoever made it; None: by hand."""
        self.measured: Mapping[str, Any] | None = None
        """What was seen of that which the next report claims; no caller through a door can say it."""
        self.used: Mapping[str, int] | None = None
        """What the agent has used whose report or end comes next, as its client counts it."""
        self.client: str | None = None
        """The client's own session in which this process was called; None: in none."""
        self.proof: Mapping[str, Any] | None = None
        """What the input of the call under way says of its human channel."""
        self.spoken: str | None = None
        """The human channel that the call under way needed, and came through."""
        self._versions: dict[int, Version] = {}

    def forget_caller(self) -> None:
        """Let the next call be anybody's: nothing of who called before proves it."""
        self.credential = self.proof = self.via = None

    def version(self, version_id: int) -> Version:
        """A workflow version, parsed once per process; versions never change."""
        if version_id not in self._versions:
            row = self.reader.one("SELECT hash, content FROM workflow_versions WHERE id = :id", id=version_id)
            if row is None:
                raise EnvironmentProblem(
                    "CORRUPT", f"Workflow version {version_id} is missing from the database.", suggest("db check")
                )
            files = self.connection.execute(
                "SELECT role, model FROM agent_files WHERE workflow_version_id = :id", {"id": version_id}
            )
            workflow = model.parse(strict_json.stored(row[1]), str(row[0]))
            models = {role: name for role, name in files if name}
            self._versions[version_id] = Version(version_id, workflow, models)
        return self._versions[version_id]

    def active_version(self) -> Version:
        """The version that new sessions are pinned to.

        Raises:
            EnvironmentProblem: NO_WORKFLOW when none was ever loaded.
        """
        row = self.reader.one("SELECT workflow_version_id FROM workflow_activations ORDER BY seq DESC LIMIT 1")
        if row is None:
            raise EnvironmentProblem("NO_WORKFLOW", "No workflow is loaded.", suggest("init"))
        return self.version(int(str(row[0])))

    def require_session(self, session_id: str) -> Session:
        """The session.

        Raises:
            Refused: UNKNOWN_SESSION.
        """
        session = self.reader.session(session_id)
        if session is None:
            known = [row[0] for row in self.connection.execute("SELECT id FROM sessions ORDER BY id LIMIT 20")]
            raise Refused(
                "UNKNOWN_SESSION",
                f"There is no session {session_id}.",
                suggest("session list") if known else suggest("session create", id=session_id),
                sessions=known,
            )
        return session


    def unknown_group(self, session_id: str, group_id: str) -> Refused:
        """The refusal of a group that the session does not have, with the nearest one that it has."""
        known = [row[0] for row in self.connection.execute(_SOME_GROUPS, {"session": session_id})]
        near = names.nearest(group_id, known)
        message = f"Session {session_id} has no group {names.shown(group_id)}."
        return Refused("UNKNOWN_GROUP", message, suggest("group list", session_id=session_id), did_you_mean=near)


def no_session_open(
    way: str = suggest("session create", id="ID", goal="TEXT"), *, chat_is_open: bool = False
) -> Refused:
    """The refusal of a call that needs a session, names none, and could not mean one; what is read may have ended."""
    said = "Only chats are open, and no session was named." if chat_is_open else NO_SESSION_OPEN
    return Refused("UNKNOWN_SESSION", said, way, sessions=[])


NO_SESSION_OPEN = "No session is open and none was named."
"""How the refusal is recorded, also where chats are open, so that older records replay."""


class Circumstances(NamedTuple):
    """What a step goes by besides what its caller asked for; its event keeps it, so that a replay goes by the same.

    Two requests are not told apart by it, but for the files that came with a report.

    Attributes:
        found: what the use case found out before its step, such as a file that is missing, or what a validation saw.
        person: through which human channel the call came, and what that proves.
        acts_for: for which role, and where, the process acts: `developer`, `developer@S1:A`.
        via: by what the caller was let in, where the actor and the channel do not say it.
        rules: which rules version judged the step first, where a later one asks more of it.
        start_of: the step of the start that a report is given for, by whoever made that start.
        client: in which client's own session it was called.
        elsewhere: what it found in other sessions, which a replay of its own session does not hold.
        attached: which parts of a report lie in files, each with its hash.
        measured: what was seen of that which a report claims, by whoever ran its agent.
        used: the tokens that the agent has used whose start is answered or ended, and their cost.
    """

    found: Mapping[str, Any] | None = None
    person: Mapping[str, Any] | None = None
    acts_for: str | None = None
    via: str | None = None
    rules: int | None = None
    start_of: int | None = None
    client: str | None = None
    elsewhere: Mapping[str, Any] | None = None
    attached: Sequence[Mapping[str, Any]] | None = None
    measured: Mapping[str, Any] | None = None
    used: Mapping[str, int] | None = None


NO_CIRCUMSTANCES = Circumstances()


class Call(NamedTuple):
    """One call of a use case that writes, in the form in which the record keeps it.

    Use cases take their request, which `operations.action` reads from `input`, and the circumstances.

    `refused` is set where the input is not whole, so that only what was said of its refusal can be told again.
    """

    kind: str
    chain: str
    actor: str
    input: dict[str, Any]
    request_id: str | None = None
    dry_run: bool = False
    at: str | None = None
    refused: Mapping[str, Any] | None = None
    circumstances: Circumstances = NO_CIRCUMSTANCES

    @property
    def group(self) -> str | None:
        """The group that the call names, if it names one."""
        group: str | None = self.input.get("group_id") or (
            self.input.get("id") if self.kind.startswith("group ") else None
        )
        return group

    @property
    def role(self) -> str | None:
        """The role in which a report is given, as it was written."""
        role: str | None = self.input.get("current_agent")
        return role

    @property
    def status(self) -> str | None:
        """The status that the call names, if it names one."""
        status: str | None = self.input.get("status")
        return status

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the command and its parsed arguments."""
        asked = _given(self.input)
        if self.circumstances.attached is not None:
            asked["attached"] = self.circumstances.attached
        text = strict_json.canonical([self.kind, asked])
        return sha256.new(text.encode("utf-8", "surrogatepass")).hexdigest()


def call_of(request: Request, circumstances: Circumstances = NO_CIRCUMSTANCES, *, at: str | None = None) -> Call:
    """The call that a request makes.

    Args:
        circumstances: what was found out before the step.
        at: when, where it is not now.
    """
    if request.is_marked:
        circumstances = circumstances._replace(rules=RULES_VERSION)
    asked: Mapping[str, Any] = request.__dict__
    return Call(
        request.event, request.chain, request.actor, request.recorded(), asked.get("request_id"),
        bool(asked.get("dry_run")), at, circumstances=circumstances,
    )  # fmt: skip


def parted(request: type[Request], recorded: Mapping[str, Any]) -> tuple[dict[str, Any], Circumstances]:
    """What an event keeps, as what was asked for and the circumstances."""
    own = request.parameters()
    beside = {name: recorded[name] for name in Circumstances._fields if name in recorded and name not in own}
    return {name: value for name, value in recorded.items() if name not in beside}, Circumstances(**beside)


class Work:
    """A step under way: what the use case reads from and writes to."""

    def __init__(self, context: Context, step: steps.Step, call: Call) -> None:
        self.context = context
        self.step = step
        self.call = call
        self.actor = call.actor
        self.at = step.at
        """The time of the step, taken in as an input: UTC, ISO 8601, microseconds, Z."""
        self.seq = step.seq
        """The number of the step in its chain."""
        self.reader = context.reader
        self.decisions: list[Answer] = []
        self.unsettled = False
        self.moved: dict[str, str] = {}
        self._session: Session | None = None
        context.proof, context.spoken, context.at = call.circumstances.person, None, step.at

    def session(self) -> Session:
        """The step's session as it is now, its own writes included.

        Raises:
            Refused: UNKNOWN_SESSION.
        """
        if self._session is None:
            row = self.step.row("sessions", (self.step.chain,))
            self._session = self.reader.session_of(row) if row else self.context.require_session(self.step.chain)
        return self._session

    def open_session(self) -> Session:
        """The step's session, which must not have ended.

        Raises:
            Refused: UNKNOWN_SESSION, SESSION_CLOSED.
        """
        session = self.context.require_session(self.step.chain)
        if session.status == "ended":
            raise Refused(
                "SESSION_CLOSED", f"Session {session.id} has ended.", suggest("status", session_id=session.id)
            )
        return session

    def group(self, group_id: str) -> Group | None:
        """A group of the step's session as it is now, or None; ids are compared byte for byte."""
        row = self.step.row("task_groups", (group_id,))
        return self.reader.group_of(row) if row else None

    def opening(self, group_id: str, **counted: Any) -> Opening | None:
        """What `Reader.opening` says of a group of the step's session; asked before the step changes it."""
        found = self.reader.opening(self.step.chain, group_id, **counted)
        if found is not None:
            self.step.know("task_groups", (group_id,), found.row)
        return found

    def elsewhere(self, what: str, found: Any) -> Any:
        """What the step rests on of other sessions, kept in its input so that a replay is told of it.

        Args:
            what: names it, such as `running dev-1`.
            found: what the database says, which is nothing where the other sessions are not told.
        """
        known = self.call.circumstances.elsewhere or {}
        if what not in known and found:
            self.learn(elsewhere={**known, what: found})
        return known.get(what, found)

    def learn(self, **circumstances: Any) -> None:
        """Add to the circumstances of the step what it found out itself."""
        self.call = self.call._replace(circumstances=self.call.circumstances._replace(**circumstances))

    def asks(self, rules_version: int) -> bool:
        """Whether the step has to do what this rules version asks in addition.

        A step that older rules judged is told again as it was; only use cases that mark their calls can ask.
        """
        return int(self.call.circumstances.rules or 0) >= rules_version

    def update_session(self, values: Mapping[str, steps.Value]) -> None:
        """Set columns of the step's session."""
        self.step.update("sessions", (self.step.chain,), values)
        if self._session is not None:
            known: dict[str, Any] = {name: value for name, value in values.items() if name in Session._fields}
            self._session = self._session._replace(**known)

    def version(self) -> Version:
        """The workflow version that the step's session is pinned to."""
        return self.context.version(self.session().workflow_version_id)


Action = Callable[[Work], Answer]


def perform(context: Context, call: Call, action: Action, files: Sequence[Moved] = ()) -> Answer:
    """Run a use case in one transaction and seal it with its audit event. Keys in the call are masked before all else.

    Args:
        context: connection, clock and door.
        call: what is called, on which chain, with the whole input.
        action: decides and writes; raises `Refused` before its first write, never after it.
        files: what lies in files of the step's rows; they are written once nothing can refuse the step any more.

    Returns:
        The action's answer; with `repeated` when the same request was answered before.

    Raises:
        Refused: after the refusal is recorded in a step of its own.
        EnvironmentProblem: nothing was written.
    """
    at = call.at or context.clock()
    call = _placed(context, _without_keys(call, context.secrets))
    work: Work | None = None

    def attempt() -> Answer:
        nonlocal work
        with steps.open_step(context.connection, call.chain, at, context.deadline_s) as step:
            work = Work(context, step, call)
            return _attempt(work, action, files)

    try:
        return _retried(context, attempt)
    except (Refused, InvalidInput) as problem:
        if not call.dry_run:
            _record_refusal(context, work.call if work is not None else call, problem, at)
        raise
    finally:
        context.proof = context.at = None


def _retried(context: Context, step: Callable[[], _T]) -> _T:
    """What a step answers; it is taken again where a server has ended it in favour of another one.

    Raises:
        EnvironmentProblem: BUSY, where that goes on for the time that a step waits for others.
    """
    until = 0.0
    while True:
        try:
            return step()
        except EnvironmentProblem as problem:
            # Nothing of it is left.
            until = until or time.monotonic() + context.deadline_s
            if not problem.data.get(constants.OVERTAKEN) or time.monotonic() >= until:
                raise


_SAID = ("via", "start_of", "acts_for", "measured", "used")
_NOTHING_SAID = (None,) * len(_SAID)


def _placed(context: Context, call: Call) -> Call:
    """The call with what its context says of who calls."""
    values = (context.via, context.start, context.acts_for, context.measured, context.used)
    if context.credential is None and values == _NOTHING_SAID:
        return call
    said: dict[str, Any] = {name: value for name, value in zip(_SAID, values, strict=True) if value is not None}
    if context.credential is not None:
        said["person"] = context.found_proof(context, context.credential)
    return call._replace(circumstances=call.circumstances._replace(**said))


def _without_keys(call: Call, secrets: Sequence[str]) -> Call:
    """The call with the keys in all that will be stored of it masked: who called, and by which names, too."""
    if not masking.any_may_hold_keys(call, secrets):
        return call
    masked = Call(*masking.mask_keys_value(tuple(call), secrets))
    return masked._replace(
        # Two requests must not become one (SEC-3).
        request_id=call.request_id and masking.mask_keys_id(call.request_id, secrets),
        circumstances=Circumstances(*masked.circumstances),
    )


def _attempt(work: Work, action: Action, files: Sequence[Moved]) -> Answer:
    context, step, dry_run = work.context, work.step, work.call.dry_run
    _refuse_other_role(work, work.actor)
    repeated = answered(context, work.call)
    if repeated is not None:
        step.rollback()
        return repeated
    answer = action(work)
    _refuse_other_role(work, work.actor)
    if context.spoken is not None and "proof" in (context.proof or {}):
        answer["proof"] = (context.proof or {})["proof"]
    if dry_run or answer.pop("unchanged", False):
        step.rollback()
        return {**answer, "dry_run": True} if dry_run else answer
    _remember(work, answer)
    warnings = [each for each in (step.clock_warning(), context.warning) if each]
    sealed = (work.call.kind, work.actor, context.spoken or context.channel, event_input(work.call))
    if files:
        with _written(context, files):
            step.seal(*sealed)
            # A file stays only where its row does.
            context.connection.settle(context.deadline_s)
    else:
        step.seal(*sealed)
    context.warning = None
    return {**answer, "warnings": [*(answer.get("warnings") or ()), *warnings]} if warnings else answer


def _refuse_other_role(work: Work, actor: str) -> None:
    """Refuse the act of another role than that for which the process acts, where it says one."""
    said = work.call.circumstances.acts_for
    if said is not None:
        work.context.refuse_other_role(work, str(said), actor)


def _written(context: Context, files: Sequence[Moved]) -> contextlib.AbstractContextManager[None]:
    from orchestrator.app.kernel import attached_evidence as attached

    return attached.written(context.path, files, context.connection)


def _given(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values without what was left out: None and False are what every parameter is when nobody gives it."""
    return {name: value for name, value in values.items() if value is not None and value is not False}


def event_input(call: Call) -> dict[str, Any]:
    """The whole input of a step as its event keeps it: a replay needs nothing else but the time.

    Agents' own JSON is kept as text, since it may hold fractions, which have no exact form in hashed JSON.
    """
    found = _given(call.input)
    for name in AGENT_JSON:
        if name in found and not isinstance(found[name], str):
            found[name] = strict_json.canonical(found[name])
    if call.circumstances != NO_CIRCUMSTANCES:
        found = {**_given(call.circumstances._asdict()), **found}
    return {**found, "request_id": call.request_id} if call.request_id else found


def answered(context: Context, call: Call) -> Answer | None:
    """What the same request was answered before, or None.

    Raises:
        Refused: REQUEST_ID_REUSED, the request was another one.
    """
    if call.request_id is None or call.dry_run:
        return None
    call = _without_keys(call, context.secrets)
    row = context.reader.one(
        "SELECT input_hash, answer FROM requests WHERE session_id = :chain AND request_id = :request",
        chain=call.chain,
        request=call.request_id,
    )
    if row is None:
        return None
    if row[0] != call.fingerprint:
        raise Refused(
            "REQUEST_ID_REUSED",
            f"Request id {call.request_id} was used before with another command or other input.",
            sentence("Use a fresh {}", options(request_id=True)),
        )
    answer: Answer = recorded(strict_json.stored(row[1]))
    return {**answer, "repeated": True}


def _remember(work: Work, answer: Answer) -> None:
    call = work.call
    if call.request_id is not None:
        work.step.insert(
            "requests",
            session_id=call.chain,
            request_id=call.request_id,
            command=call.kind,
            input_hash=call.fingerprint,
            answer=strict_json.canonical(answer),
        )


def _record_refusal(context: Context, call: Call, problem: OrchestratorError, at: str) -> None:
    # It may tell of more than the call, such as of the name of a file.
    problem.message = rewritten(problem.message, lambda text: masking.mask_keys(text, context.secrets))
    # A sentence that was reworded is recorded as it always was, so that older records replay (CLI-32).
    said = problem.data.pop("_recorded", None)
    detail = cut(problem.message if said is None else masking.mask_keys(said, context.secrets))
    known = call.chain == constants.STORE_CHAIN or context.reader.session(call.chain) is not None
    chain = call.chain if known else constants.STORE_CHAIN
    recorded = {
        "group_id": cut(call.group),
        "role": problem.data.pop("_role", None) or cut(call.role),
        "turn": problem.data.pop("_turn", None),
        "code": problem.code,
        "detail": detail,
    }
    _retried(context, lambda: _refuse_on(chain, context, call, problem, recorded, at))


def _refuse_on(
    chain: str, context: Context, call: Call, problem: OrchestratorError, recorded: Answer, at: str
) -> None:
    with steps.open_step(context.connection, chain, at, context.deadline_s) as step:
        work = Work(context, step, call)
        _insert_refusal(work, recorded)
        if chain != constants.STORE_CHAIN and recorded["turn"] is not None:
            context.after_refusal(work, recorded)
            if work.decisions:
                problem.data["followed_by"] = work.decisions
        step.seal("refusal", call.actor[:MAX_DETAIL], context.channel, _refused_input(work, recorded))


def _refused_input(work: Work, recorded: Answer) -> dict[str, Any]:
    """What a refusal's event keeps: the call that was refused, and the chain that it named.

    A call with longer texts is kept cut. It cannot be judged again, so how it was refused is kept beside it.
    """
    call, whole = work.call, event_input(work.call)
    kept = shortened(whole)
    found = {"call": call.kind, "chain": cut(call.chain), "door": work.context.door, "input": kept}
    if call.refused is None and kept == whole:
        return found
    said = {name: recorded[name] for name in ("code", "detail", "role", "turn")}
    return {**found, "cut": True, "refused": said}


def _insert_refusal(work: Work, recorded: Answer) -> None:
    work.step.insert(
        "refusals",
        door=work.context.door,
        actor=cut(work.call.actor),
        claimed_session=None if work.step.chain == work.call.chain else cut(work.call.chain),
        status=cut(work.call.status),
        refused_at=work.at,
        **recorded,
    )


MAX_DETAIL = 4096
"""Characters of a refused text that are kept."""


def cut(value: object) -> str | None:
    """The beginning of a text."""
    return None if value is None else str(value)[:MAX_DETAIL]


def shortened(value: Any) -> Any:
    """A value with every text and name in it cut."""
    if isinstance(value, str):
        return value[:MAX_DETAIL]
    if isinstance(value, Mapping):
        return {name[:MAX_DETAIL]: shortened(each) for name, each in value.items()}
    return [shortened(each) for each in value] if isinstance(value, list | tuple) else value
