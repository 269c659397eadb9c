"""The one place that names concrete adapters: which store, which clock, what runs commands."""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Callable, Mapping, Sequence

from orchestrator.app.kernel.context import Answer, Context, RunHooks
from orchestrator.core import canonical_json, masking
from orchestrator.core.agent_programs import ACTS_FOR
from orchestrator.core.running import program_variables
from orchestrator.core.suggestions import joined, sentence
from orchestrator.errors import EnvironmentProblem, OrchestratorError, UsageError
from orchestrator.hints import TYPE_CHECKING, Any
from orchestrator.store import constants, discovery, high_water, problems, sqlite

if TYPE_CHECKING:
    from orchestrator.app.running import run_hooks, run_session, web_run_service

DEFAULT_DEADLINE_S = 10.0
CLIENTS = ("CLAUDE_CODE_SESSION_ID", "CODEX_SESSION_ID")
"""The variables by which clients name their own session to what they run."""
has_process = False
"""Whether this process is the program itself, so that every child that it has is of what the program runs."""


class _Runs:
    """What runs do for sessions, tasks and questions; loaded when one of these asks."""

    def __getattr__(self, name: str) -> Any:
        from orchestrator.app.running import run_hooks

        return getattr(run_hooks, name)


def _after_refusal(work: Any, recorded: Answer) -> None:
    from orchestrator.app.engine import scheduler

    scheduler.after_refusal(work, recorded)


def _found_proof(context: Context, credential: Any) -> dict[str, str]:
    from orchestrator.app.kernel import human

    return human.found(context, credential)


def _refuse_other_role(work: Any, said: str, actor: str) -> None:
    from orchestrator.app.kernel import agent_checks

    agent_checks.refuse_other_role(work, said, actor)


def owner(number: int) -> str:
    """A process of this machine, named so that another program can see whether it still lives."""
    from orchestrator.runner import process_identity

    return process_identity.of(number)


def _is_gone(owner: str, connection: Any) -> bool:
    from orchestrator.runner import process_identity

    return process_identity.is_gone(owner, connection)


def _is_below(owner: str, above: str) -> bool:
    from orchestrator.runner import process_identity

    return process_identity.is_below(owner, above)


def _finish_tasks(work: Any, ids: list[str], by: str) -> Any:
    from orchestrator.app.task import finish_tasks

    return finish_tasks.finish(work, ids, by)


def _as_of(*given: Any, **named: Any) -> Answer:
    from orchestrator.app.audit import as_of

    return as_of.ask(*given, **named)


Context.runs = _Runs()
Context.after_refusal = staticmethod(_after_refusal)
Context.found_proof = staticmethod(_found_proof)
Context.refuse_other_role = staticmethod(_refuse_other_role)
Context.is_gone = staticmethod(_is_gone)
Context.is_below = staticmethod(_is_below)
Context.finish_tasks = staticmethod(_finish_tasks)
Context.as_of = staticmethod(_as_of)
if TYPE_CHECKING:
    _described: RunHooks = run_hooks


def now() -> str:
    """The current time: UTC, ISO 8601, microseconds, Z."""
    seconds, microseconds = divmod(time.time_ns() // 1000, 1_000_000)
    return f"{_to_the_second(seconds)}.{microseconds:06d}Z"


@functools.lru_cache(maxsize=1)
def _to_the_second(seconds: int) -> str:
    """Many steps of a process fall into one second, and writing it out costs more than the rest of the time."""
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))


def state_folder(environment: Mapping[str, str]) -> str | None:
    """The folder in which this machine keeps what it has seen of databases; None where the environment names none."""
    return high_water.state_folder(environment)


def deadline(environment: Mapping[str, str]) -> float:
    """How long a write waits for other writers, in seconds.

    Raises:
        UsageError: ORCHESTRATOR_BUSY_TIMEOUT is not a number of seconds.
    """
    given = environment.get("ORCHESTRATOR_BUSY_TIMEOUT")
    if not given:
        return DEFAULT_DEADLINE_S
    try:
        seconds = float(given)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < 86_400:
        message = "ORCHESTRATOR_BUSY_TIMEOUT must be a number of seconds."
        raise UsageError("USAGE", message, "export ORCHESTRATOR_BUSY_TIMEOUT=10")
    return seconds


def _connected(connect: Callable[..., sqlite.Connection], *, write: bool, trial: bool) -> sqlite.Connection:
    """The connection; a reading one for a trial where nothing can be written."""
    try:
        return connect(write=write)
    except EnvironmentProblem as problem:
        if not (write and trial and problem.code == "READ_ONLY"):
            raise
        return connect(write=False)


def open_context(
    explicit: str | None = None,
    *,
    write: bool,
    door: str,
    channel: str = "process",
    environment: Mapping[str, str] | None = None,
    folder: str | os.PathLike[str] | None = None,
    shared: bool = False,
    stays: bool = False,
    trial: bool = False,
    together: bool = False,
    allow_superuser: bool = False,
) -> Context:
    """Find the database and open it for one door.

    Args:
        explicit: the path or URL that the caller named, before the environment and discovery.
        write: whether the use case writes; a reading one opens read-only and creates nothing.
        door: cli, batch, python, ...; recorded with refusals.
        channel: through what the actor spoke; recorded with every step.
        folder: where the search begins (default: the current folder).
        shared: threads may hand the context to each other, each using it alone.
        stays: the process calls more than once; what takes a while to load and saves some at every call is loaded.
        trial: what is called makes sense where nothing can be written; there it works on a copy in memory.
        together: several steps of a file may share one commit; the connection is one of
            `orchestrator.store.shared_commit`.
        allow_superuser: on a PostgreSQL server, write as a superuser.

    Raises:
        EnvironmentProblem: NO_DATABASE, READ_ONLY, CORRUPT, SCHEMA_TOO_NEW; DATABASE_UNSUPPORTED.
    """
    if stays:
        _quicken()
    environment = os.environ if environment is None else environment
    address = discovery.server(explicit, environment)
    if address is not None:
        connection = _on_server(address, environment, write=write, allow_superuser=allow_superuser)
        return _context(connection, environment, door=door, channel=channel)
    path = discovery.find(explicit, environment, folder or discovery.working_folder(explicit, environment))
    seconds = deadline(environment)
    synchronous = environment.get("ORCHESTRATOR_SYNCHRONOUS", "FULL").upper()
    state = state_folder(environment)
    warning = problems.older_log_warning(path) if high_water.has_older_log(path, state) else None
    connect = functools.partial(
        sqlite.connect, path, deadline=seconds, synchronous=synchronous, shared=shared, kind=_kind(together)
    )
    connection = _connected(connect, write=write, trial=trial)
    context = _context(connection, environment, door=door, channel=channel)
    context.warning = warning
    context.state_folder = state
    if connection.writes:
        connection.seen = high_water.follow(connection, context.state_folder)
        if connection.seen is None and context.state_folder is not None:
            context.warning = context.warning or _lacking_steps(context)
    return rehearsed(context) if write and not connection.writes else context


def _context(connection: Any, environment: Mapping[str, str], *, door: str, channel: str) -> Context:
    """The context of a connection that was opened, with what the environment says of the caller."""
    context = Context(
        connection, path=connection.path, clock=now, door=door, channel=channel, deadline_s=deadline(environment),
        run=run_command,
    )  # fmt: skip
    context.secrets = secrets(environment)
    context.surroundings = _LazySurroundings()
    context.client = next((environment[name] for name in CLIENTS if environment.get(name)), None)
    if ACTS_FOR in environment:
        from orchestrator.app.kernel import agent_checks

        context.acts_for = agent_checks.spoken_for(environment[ACTS_FOR])
    return context


def _on_server(url: str, environment: Mapping[str, str], *, write: bool, allow_superuser: bool) -> Any:
    """A connection to a PostgreSQL database; its driver is loaded here alone.

    Raises:
        EnvironmentProblem: NO_DATABASE, READ_ONLY, SCHEMA_TOO_NEW, SCHEMA_TOO_OLD; DATABASE_UNSUPPORTED, the extra is
            not installed.
    """
    synchronous = environment.get("ORCHESTRATOR_SYNCHRONOUS", "FULL").upper()
    from orchestrator.store import server

    return server.connect(
        url, write=write, deadline=deadline(environment), synchronous=synchronous, allow_superuser=allow_superuser
    )


def _kind(together: bool) -> type[sqlite.Connection]:
    if not together:
        return sqlite.Connection
    from orchestrator.store import shared_commit

    return shared_commit.Connection


def _lacking_steps(context: Context) -> str | None:
    """That a database whose mark is not moved on lacks steps that were seen of it."""
    from orchestrator.store import file_safety

    found = file_safety.lacking(context.connection, context.state_folder)
    return None if found is None else found.warning()


def rehearsed(context: Context) -> Context:
    """A context on a copy in memory of a database that was opened for reading, which is closed."""
    from orchestrator.app.kernel import copy_in_memory

    try:
        return copy_in_memory.of(context)
    finally:
        context.connection.close()


class _LazySurroundings:
    """The surroundings of this process; what reads them is loaded when a person is asked for."""

    def __getattr__(self, name: str) -> Any:
        from orchestrator.runner.surroundings import Surroundings

        return getattr(Surroundings(), name)


def _quicken() -> None:
    """Load the compiled writer where no Ctrl-C can tear it, which would bring the process down."""
    import signal

    if not hasattr(signal, "pthread_sigmask"):
        canonical_json.quicken()
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        canonical_json.quicken()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def server(explicit: str | None, environment: Mapping[str, str] | None = None) -> str | None:
    """The URL of a PostgreSQL database that is named instead of a file; None where none is."""
    return discovery.server(explicit, os.environ if environment is None else environment)


def step_waiter(explicit: str | None) -> Callable[[float], Any]:
    """What waits for so many seconds; on a server only until somebody takes a step.

    Raises:
        EnvironmentProblem: as `open_context`.
    """
    url = server(explicit)
    if url is None:
        return time.sleep
    from orchestrator.store import server as servers

    return servers.listener(url, deadline(os.environ)).wait  # type: ignore[no-any-return]


def require_path(text: str) -> None:
    """Require that a text names a database file.

    Raises:
        UsageError: INVALID_PATH, it is blank. EnvironmentProblem: DATABASE_UNSUPPORTED, it is an address.
    """
    discovery.require_path(text, "What was given for the file")


def secrets(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The values of the secrets that the environment holds for executors, the longest first."""
    held = program_variables.secrets(environment)
    return masking.registered(held)[0] if held else ()


def environment_problem(error: Exception, path: str) -> OrchestratorError | None:
    """What an error in the middle of a call says about the database; None where it says nothing about it."""
    from orchestrator.store import sqlite_errors

    return sqlite_errors.environment_problem(error, path)


def damage(error: Exception, explicit: str | None) -> OrchestratorError | None:
    """What an error in a call says about the database that it named or found; None where it says nothing about one."""
    try:
        path = discovery.find(explicit, os.environ, discovery.working_folder(explicit, os.environ))
    except OrchestratorError:
        return None
    return environment_problem(error, path)


def run_command(argv: Sequence[str], **settings: Any) -> Any:
    """Run a command to its end; what runs it is loaded when one is run."""
    from orchestrator.runner import commands

    _take_orphans()
    return commands.run(argv, **settings)


def _take_orphans() -> None:
    from orchestrator.runner import process_tree

    if has_process:
        process_tree.take_all()


def lost_runs(context: Context) -> list[Any]:
    """The runs that are said to run, and whose process is gone."""
    from orchestrator.store import run_reader

    if not run_reader.owners(context.connection):
        return []
    from orchestrator.app.running import orphaned_runs

    return list(orphaned_runs.list_orphaned(context.connection))


def end_lost_runs(session: Any) -> list[str]:
    """End what a killed runner has left in the database of a session of runs, where that is there already.

    Returns:
        A sentence for each run. What cannot be done now is told by the first call that needs it.
    """
    path = session.find()
    if path is None:
        return []
    from orchestrator.app.running import lock_acquisition, orphaned_runs

    try:
        reading = open_context(path, write=False, door="repl")
        try:
            lost = lost_runs(reading)
        finally:
            reading.connection.close()
        left = lock_acquisition.free_abandoned(session.context) if lost else {}
        return [orphaned_runs.describe(session.context.connection, run, left.get(run.id, ())) for run in lost]
    except OrchestratorError:
        return []


def open_run_session(
    *, project: str | None = None, project_mode: str | None = None, project_root: str | None = None,
    executor: str | None = None, executor_timeout_ms: int | None = None, progress_timeout_ms: int | None = None,
    provider: str | None = None, model: str | None = None, interactive: bool = False, database: str | None = None,
    environment: Mapping[str, str] | None = None,
) -> run_session.RunSession:
    """A session of runs in the project that the flags name, not begun yet; its database is made where there is none.

    Its folder is made as well where nobody named another place than the project's own.

    Args:
        project, project_mode, project_root: the folder, as `orchestrator.runner.project.resolve` takes them.
        executor: by name (default: the provider's).
        executor_timeout_ms, progress_timeout_ms: timeouts of a run in milliseconds (default: 60000 and 30000).
        provider, model: who executes.
        interactive: somebody can answer a question.
        database: the path that the caller named, before the environment and discovery from the project's folder.

    Raises:
        Refused: E102, E104. InvalidInput: an unknown executor. UsageError: flags that contradict each other.
        EnvironmentProblem: READ_ONLY, CORRUPT, SCHEMA_TOO_NEW, and others of the store.
    """
    from orchestrator.app.running import run_session
    from orchestrator.runner import project as projects

    _take_orphans()
    variables = os.environ if environment is None else environment
    place = projects.resolve(mode=project_mode, root=project_root, project=project)
    flags = _flags(executor, executor_timeout_ms, progress_timeout_ms, provider, model, interactive=interactive)
    executors = _executors(variables)
    executors(executor, provider)
    return run_session.RunSession(
        lambda: _working_context(database, variables, place.root), place, flags, executors, variables=variables,
        find=lambda: _found(database, variables, place.root),
    )  # fmt: skip


def is_in_repository() -> bool:
    """Whether the working folder lies in a git repository."""
    from orchestrator.runner import project

    try:
        return project.is_in_repository(os.getcwd())
    except OSError:
        return False


def is_found_here(path: str, environment: Mapping[str, str] | None = None) -> bool:
    """Whether a command that names no database works on this one, in the working folder and with the environment."""
    variables = os.environ if environment is None else environment
    url = server(None, variables)
    if url is not None:
        from orchestrator.core import database_urls

        return database_urls.masked(url) == path
    try:
        found = discovery.find(None, variables, discovery.working_folder(None, variables))
    except OrchestratorError:
        return False
    return found == os.path.realpath(path)


def open_service(
    *, executor: str | None = None, executor_timeout_ms: int | None = None, progress_timeout_ms: int | None = None,
    provider: str | None = None, model: str | None = None, database: str | None = None,
    environment: Mapping[str, str] | None = None, tell: Callable[[Exception], None],
) -> web_run_service.Service:
    """What a server does with runs, on the database that is found from the working folder.

    Args:
        executor, executor_timeout_ms, progress_timeout_ms, provider, model, database: as `open_run_session` takes them.
        tell: takes faults that concern no call and no run.

    Raises:
        InvalidInput: an unknown executor. Refused: E104, one that is forbidden. EnvironmentProblem: as `open_context`.
    """
    from orchestrator.app.kernel.connection_pool import Pool
    from orchestrator.app.running import run_session, web_run_service
    from orchestrator.runner import project as projects

    _take_orphans()
    variables = os.environ if environment is None else environment
    flags = _flags(executor, executor_timeout_ms, progress_timeout_ms, provider, model, interactive=True)
    executors = _executors(variables)
    lacking = _lacking(executors, flags, variables)

    def opened(write: bool) -> Context:
        return open_context(
            database, write=write, door="http", channel=web_run_service.CHANNEL, environment=variables, shared=True,
            stays=True, together=write,
        )  # fmt: skip

    def session_on(context: Context, root: str) -> run_session.RunSession:
        place = projects.Project(root, projects.CWD)
        return run_session.RunSession(lambda: context, place, flags, executors, variables=variables)

    opened(True).connection.close()
    pool = Pool(opened, shares_commits=server(database, variables) is None)
    return web_run_service.Service(pool, session_on, tell, lacking)


def open_autopilot(
    service: web_run_service.Service, request: Any, *, database: str | None = None,
    environment: Mapping[str, str] | None = None, tell: Callable[[Exception], None],
) -> Any:
    """What drives the sessions that are begun through a server.

    Args:
        service: what else the server does, on the same database.
        request: how each is driven, as `driving.requests.Drive`; its session is left out.
        tell: takes faults that concern no call.

    Raises:
        UsageError, InvalidInput, Refused: as `driving.crew.crew`, and a limit that is none.
    """
    from orchestrator.app.driving import autopilot, crew, drive, preflight, trees
    from orchestrator.app.kernel import attached_evidence
    from orchestrator.app.running import work_leases

    variables = os.environ if environment is None else environment
    work_leases.seconds()
    made = crew.crew(request.executor, request.role, variables)
    drive.dollars(request.max_cost)
    with service.pool.lent() as context:
        path = context.path
    root = str(attached_evidence.project_root(path))
    bad = [each for each in preflight.checks(made, root, request.isolation or trees.usual(root)) if not each.ok]
    lacking = joined([sentence("{}: {} {}", each.name, each.message, each.suggestion).rstrip() for each in bad], " ")

    def opened() -> Context:
        where = database or (None if server(None, variables) else path)
        return open_context(where, write=True, door="serve", environment=variables, stays=True)

    return autopilot.Autopilot(service.pool, opened, request, tell, lacking or None)


def _lacking(executors: Callable[..., Any], flags: run_session.Flags, variables: Mapping[str, str]) -> str | None:
    """Why no new task could be executed, with what helps; None where one could."""
    from orchestrator.core.running import advice, providers, simulated_failures

    named, selection = providers.asked(flags.executor, flags.provider, flags.model)
    found = executors(named, selection.provider)
    state = found.is_available()
    if not state.available:
        return sentence("{} {}", state.reason, advice.said(state.suggestion or "")).rstrip()
    if named is None and found.name != simulated_failures.STUB:
        try:
            providers.check(selection, variables)
        except OrchestratorError as problem:
            return sentence("{} {}", problem.message, advice.said(problem.suggestion))
    return None


def _flags(
    executor: str | None, executor_timeout_ms: int | None, progress_timeout_ms: int | None, provider: str | None,
    model: str | None, *, interactive: bool,
) -> run_session.Flags:
    from orchestrator.app.running import run_session
    from orchestrator.runner import process

    standard = process.Limits()
    return run_session.Flags(
        executor=executor,
        executor_timeout_ms=executor_timeout_ms or standard.executor_timeout_ms,
        progress_timeout_ms=progress_timeout_ms or standard.progress_timeout_ms,
        provider=provider,
        model=model,
        interactive=interactive,
    )


def _executors(variables: Mapping[str, str]) -> Callable[[str | None, str | None], Any]:
    """Finds executors by name or provider, each made once."""
    from orchestrator.runner.executors import catalogue

    return functools.cache(lambda name, of: catalogue.chosen(name, of, variables))


def _working_context(explicit: str | None, environment: Mapping[str, str], folder: str) -> Context:
    """A writing context on the database that is found from a folder, or on a new one in it.

    A database that somebody named is made where its folder exists. No folder is made for a name that may be a slip;
    `init` makes it for whoever means it. On a server none is made.

    Raises:
        EnvironmentProblem: NO_DATABASE, and others of the store.
    """
    if server(explicit, environment) is not None:
        return open_context(explicit, write=True, door="repl", environment=environment)
    usual = os.path.realpath(os.path.join(folder, constants.FOLDER, constants.FILE))
    named = _named(explicit, environment)
    path = named or usual
    if named is not None:
        # A relative path is one from here, not from the project.
        explicit, environment = explicit and named, {**environment, discovery.VARIABLE: named}
    try:
        return open_context(explicit, write=True, door="repl", environment=environment, folder=folder)
    except EnvironmentProblem as problem:
        if problem.code != "NO_DATABASE" or (path != usual and not os.path.isdir(os.path.dirname(path))):
            raise
    from orchestrator.app import setup

    setup.create_database(path, now())
    context = open_context(path, write=True, door="repl", environment=environment)
    setup.initialise(context)
    return context


def _found(explicit: str | None, environment: Mapping[str, str], folder: str) -> str | None:
    """The path or URL of the database that `_working_context` would open, where it is there already."""
    try:
        return server(explicit, environment) or discovery.find(_named(explicit, environment), environment, folder)
    except OrchestratorError:
        return None


def _named(explicit: str | None, environment: Mapping[str, str]) -> str | None:
    """The path of the database that somebody named, from the working folder; None where it is looked for."""
    if explicit is None and not environment.get(discovery.VARIABLE):
        return None
    return discovery.place(explicit, environment, discovery.working_folder(explicit, environment))
