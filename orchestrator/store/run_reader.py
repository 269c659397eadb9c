"""What runs are told by: named statements, each bounded by an index, whatever else the session holds."""

from __future__ import annotations

import sqlite3

from orchestrator.core import strict_json
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.hints import Any

Row = dict[str, Any]


class Run(NamedTuple):
    """One execution of a task, as the database has it."""

    session_id: str
    id: str
    log_id: str
    task_id: str
    prompt: str
    task_type: str
    executor: str
    provider: str
    model: str | None
    retry_of: str | None
    verification_root: str
    queued_by: str
    queued_at: str
    created_seq: int
    state: str
    state_changed_by: str
    state_changed_at: str
    state_seq: int
    owner: str | None
    started_at: str | None
    ended_at: str | None
    executor_status: str | None
    error_code: str | None
    error_reason: str | None
    executor_blocked: int
    blocked_reason: str | None
    timeout_ms: int | None
    limit_name: str | None
    files_modified_count: int
    output: str | None
    question_id: str | None


_COLUMNS = ", ".join(f"r.{name}" for name in Run._fields)
_RUN = f"SELECT {_COLUMNS} FROM runs r WHERE r.session_id = :session AND r.id = :id"
_BY_LOG = f"SELECT {_COLUMNS} FROM runs r WHERE r.session_id = :session AND r.log_id = :id"
_BY_ID = f"SELECT {_COLUMNS} FROM runs r WHERE r.id = :id"
_OF_SESSION = f"""SELECT {_COLUMNS} FROM runs r INDEXED BY ix_runs_created
    WHERE r.session_id = :session ORDER BY r.created_seq, r.id"""
_OF_TASK = f"""SELECT {_COLUMNS} FROM runs r INDEXED BY ix_runs_task
    WHERE r.session_id = :session AND r.task_id = :task ORDER BY r.created_seq, r.id"""
_OPEN = f"""SELECT {_COLUMNS} FROM runs r INDEXED BY ix_runs_open
    WHERE r.ended_at IS NULL AND r.state = :state ORDER BY r.id"""
_OWNERS = "SELECT owner FROM runs INDEXED BY ix_runs_open WHERE ended_at IS NULL AND state = 'running'"
_OWNERS_OF_TURNS = """SELECT owner FROM turn_runs INDEXED BY ix_turn_runs_open
    WHERE ended_at IS NULL AND state IN ('queued', 'running')"""
WAITING = "waiting"
"""The kind of the log's entry by which a process says that it waits for a queued run."""
_WAITING = f"""SELECT {_COLUMNS}, e.text, e.at FROM runs r INDEXED BY ix_runs_open
    CROSS JOIN run_events e INDEXED BY ix_run_events_run ON e.session_id = r.session_id AND e.run_id = r.id
    WHERE r.ended_at IS NULL AND r.state = 'queued' AND e.kind = '{WAITING}' AND e.seq > r.state_seq
    ORDER BY e.at, r.id"""
STOPPING = "stopping"
"""The kind of the log's entry by which somebody has a running run stopped, whichever process executes it."""
_STOPPING = f"""SELECT 1 FROM runs r JOIN run_events e INDEXED BY ix_run_events_run
    ON e.session_id = r.session_id AND e.run_id = r.id
    WHERE r.session_id = :session AND r.id = :id AND r.state = 'running' AND e.kind = '{STOPPING}'
    AND e.seq > r.state_seq LIMIT 1"""
_MADE_BELOW = """SELECT t.id FROM tasks t INDEXED BY ix_tasks_parent JOIN agents a ON a.id = t.created_by
    JOIN sessions s ON s.id = t.session_id WHERE t.session_id = :session AND t.parent_id = :task
    AND t.created_seq > :since AND s.kind = 'chat' AND a.kind = 'ai' ORDER BY t.created_seq"""
_NEWEST = "SELECT id, session_id FROM runs ORDER BY id DESC LIMIT 1"
_LAST_SESSION = """SELECT session_id FROM runs WHERE verification_root = :root AND session_id IS NOT :own
    ORDER BY id DESC LIMIT 1"""
_LAST = """SELECT log_id FROM runs INDEXED BY ix_runs_created WHERE session_id = :session
    ORDER BY created_seq DESC LIMIT 1"""
_ROOT = """SELECT verification_root FROM runs INDEXED BY ix_runs_created WHERE session_id = :session
    ORDER BY created_seq DESC LIMIT 1"""
_HELD = """SELECT session_id, run_id, path, mode FROM run_locks INDEXED BY ix_run_locks_held
    WHERE released_seq IS NULL ORDER BY path, session_id, run_id"""
_LOCKS = """SELECT path, seq FROM run_locks WHERE session_id = :session AND run_id = :id AND released_seq IS NULL
    ORDER BY path DESC, seq DESC"""
_STARTED = "SELECT input FROM audit_events WHERE rowid > :number AND kind = 'run start' ORDER BY rowid"
_MOVED = """SELECT input FROM audit_events WHERE rowid > :number
    AND (kind LIKE 'run %' OR kind LIKE 'turn %') ORDER BY rowid"""
_CHANNEL = "SELECT channel FROM audit_events WHERE session_id = :session AND seq = 1"
_EVENTS = """SELECT at, kind, level, text FROM run_events INDEXED BY ix_run_events_run
    WHERE session_id = :session AND run_id = :id ORDER BY seq, part"""
_FILES = """SELECT path, change, present, detected_at, detection_method FROM run_files INDEXED BY ix_run_files_run
    WHERE session_id = :session AND run_id = :id ORDER BY seq, part"""
_VIOLATIONS = """SELECT type, limit_value, actual, at FROM run_violations INDEXED BY ix_run_violations_run
    WHERE session_id = :session AND run_id = :id ORDER BY seq, part"""
_QUESTION = "SELECT id, kind, text, asked_at, closed_at, answer, note FROM questions WHERE id = :id"
_OPEN_QUESTION_OF_TASK = """SELECT id, kind, text, asked_at, closed_at, answer, note FROM questions
    INDEXED BY ix_questions_open WHERE session_id = :session AND group_id IS :group AND closed_seq IS NULL
    AND task_id = :task AND kind IN ('reply', 'confirmation', 'continuation') ORDER BY opened_seq DESC, id DESC"""
_CHOSEN = """SELECT content FROM evidence WHERE session_id = :session AND kind = 'choice' AND subject = :subject
    ORDER BY seq DESC, part DESC LIMIT 1"""
_OPERATION = """SELECT content FROM evidence WHERE session_id = :session AND kind = 'operation'
    ORDER BY seq DESC, part DESC LIMIT 1"""
_OPERATION_ON = """SELECT content FROM evidence WHERE session_id = :session AND kind = 'operation'
    AND json_extract(content, '$.host') = :host ORDER BY seq DESC, part DESC LIMIT 1"""
_JUDGED = """SELECT content FROM evidence WHERE session_id = :session AND kind = 'run' AND subject = :run
    ORDER BY seq DESC, part DESC LIMIT 1"""
_ANSWERED = """SELECT text, note FROM questions INDEXED BY ix_questions_session WHERE session_id = :session
    AND kind = 'reply' AND closed_seq IS NOT NULL AND answer = 'continue' AND note IS NOT NULL
    ORDER BY closed_seq, id"""

_ASKED_BEFORE = """SELECT 1 FROM questions INDEXED BY ix_questions_session WHERE session_id = :session
    AND task_id = :task AND id <> :question AND closed_seq IS NOT NULL
    AND kind IN ('reply', 'confirmation', 'continuation') LIMIT 1"""


def run(connection: sqlite3.Connection, session: str, id: str) -> Run | None:
    """The run of a session, by its id outside or in the log, or None."""
    for sql in (_RUN, _BY_LOG):
        row = connection.execute(sql, {"session": session, "id": id}).fetchone()
        if row is not None:
            return Run(*row)
    return None


def by_id(connection: sqlite3.Connection, id: str) -> Run | None:
    """The run of any session, by its id outside, or None."""
    row = connection.execute(_BY_ID, {"id": id}).fetchone()
    return None if row is None else Run(*row)


def of_session(connection: sqlite3.Connection, session: str) -> list[Run]:
    """The runs of a session in the order in which they were queued."""
    return [Run(*row) for row in connection.execute(_OF_SESSION, {"session": session})]


def of_task(connection: sqlite3.Connection, session: str, task: str) -> list[Run]:
    """The runs of a task, the oldest first."""
    return [Run(*row) for row in connection.execute(_OF_TASK, {"session": session, "task": task})]


def in_state(connection: sqlite3.Connection, state: str) -> list[Run]:
    """The runs of all sessions that are queued, running or awaiting a response, in the order of their ids."""
    return [Run(*row) for row in connection.execute(_OPEN, {"state": state})]


def owners(connection: sqlite3.Connection) -> list[str]:
    """The processes that execute runs, of tasks and of turns, or wait to execute those of turns."""
    return [row[0] for sql in (_OWNERS, _OWNERS_OF_TURNS) for row in connection.execute(sql)]


def waiting(connection: sqlite3.Connection) -> list[tuple[Run, str, str]]:
    """The queued runs for which processes wait, with these and since when, first come first."""
    return [(Run(*row[:-2]), row[-2], row[-1]) for row in connection.execute(_WAITING)]


def made_below(connection: sqlite3.Connection, run: Run) -> tuple[str, ...]:
    """Subtasks of a run's task that agents made in a chat since the run was queued; there only the runner divides."""
    found = {"session": run.session_id, "task": run.task_id, "since": run.state_seq}
    return tuple(row[0] for row in connection.execute(_MADE_BELOW, found))


def newest(connection: sqlite3.Connection) -> tuple[str, str] | None:
    """The largest id of any run, with its session, or None; ids are numbers of one length behind one word."""
    row = connection.execute(_NEWEST).fetchone()
    return None if row is None else (row[0], row[1])


def last_session(connection: sqlite3.Connection, root: str, own: str | None) -> str | None:
    """The session of the newest run in a project, one session left out, or None."""
    row = connection.execute(_LAST_SESSION, {"root": root, "own": own}).fetchone()
    return None if row is None else str(row[0])


def last_log_id(connection: sqlite3.Connection, session: str) -> str | None:
    """The id in the log of the run that a session queued last, or None."""
    row = connection.execute(_LAST, {"session": session}).fetchone()
    return None if row is None else str(row[0])


def root_of(connection: sqlite3.Connection, session: str) -> str | None:
    """The project of the run that a session queued last, or None."""
    row = connection.execute(_ROOT, {"session": session}).fetchone()
    return None if row is None else str(row[0])


def is_to_stop(connection: sqlite3.Connection, session: str, id: str) -> bool:
    """Whether somebody has had a running run stopped since it was started."""
    return connection.execute(_STOPPING, {"session": session, "id": id}).fetchone() is not None


def held(connection: sqlite3.Connection) -> list[tuple[str, str, str, str]]:
    """The locks that runs of tasks hold: session, run, path, mode."""
    return [(row[0], row[1], row[2], row[3]) for row in connection.execute(_HELD)]


def locks(connection: sqlite3.Connection, session: str, id: str) -> list[tuple[str, int]]:
    """Path and step of the locks that a run holds, in the order in which they are released."""
    return [(row[0], row[1]) for row in connection.execute(_LOCKS, {"session": session, "id": id})]


def started_after(connection: sqlite3.Connection, number: int) -> list[tuple[str, str]]:
    """Run and path of every lock that was given since the event of a number, whether it is still held or not."""
    given = [strict_json.stored(row[0]) for row in connection.execute(_STARTED, {"number": number})]
    return [(each["id"], path) for each in given for path, _ in each["locks"]]


def moved_after(connection: sqlite3.Connection, number: int) -> list[str]:
    """The runs, also of turns, that steps since the event of a number were about, but for that which queued them."""
    given = (strict_json.stored(row[0]) for row in connection.execute(_MOVED, {"number": number}))
    return [each["id"] for each in given if "id" in each]


def channel(connection: sqlite3.Connection, session: str) -> str | None:
    """Through which channel a session was begun."""
    row = connection.execute(_CHANNEL, {"session": session}).fetchone()
    return None if row is None else str(row[0])


def events(connection: sqlite3.Connection, session: str, id: str) -> list[Row]:
    """The log of a run: at, kind, level, text."""
    return _rows(connection, _EVENTS, session=session, id=id)


def files(connection: sqlite3.Connection, session: str, id: str) -> list[Row]:
    """What a run changed or claims to have changed: path, change, present, detected_at, detection_method."""
    return _rows(connection, _FILES, session=session, id=id)


def violations(connection: sqlite3.Connection, session: str, id: str) -> list[Row]:
    """Limits that a run went over: type, limit_value, actual, at."""
    return _rows(connection, _VIOLATIONS, session=session, id=id)


def question(connection: sqlite3.Connection, id: str) -> Row | None:
    """What a run asked: id, kind, text, asked_at, closed_at, answer, note."""
    found = _rows(connection, _QUESTION, id=id)
    return found[0] if found else None


def open_questions(connection: sqlite3.Connection, session: str, group: str | None, task: str) -> list[Row]:
    """What is asked about a task's runs and not answered yet, the newest first."""
    return _rows(connection, _OPEN_QUESTION_OF_TASK, session=session, group=group, task=task)


def answered(connection: sqlite3.Connection, session: str) -> list[tuple[str, str]]:
    """What was asked in a session and answered: text and reply, the oldest first."""
    return [(row[0], row[1]) for row in connection.execute(_ANSWERED, {"session": session})]


def has_asked_before(connection: sqlite3.Connection, session: str, task: str, question: str) -> bool:
    """Whether another question of a task's runs than this one was closed already."""
    asked = {"session": session, "task": task, "question": question}
    return connection.execute(_ASKED_BEFORE, asked).fetchone() is not None


def chosen(connection: sqlite3.Connection, session: str, subject: str) -> str | None:
    """The newest choice of a provider or model, as JSON text, or None where none was made."""
    row = connection.execute(_CHOSEN, {"session": session, "subject": subject}).fetchone()
    return None if row is None else str(row[0])


def last_operation(connection: sqlite3.Connection, session: str, host: str | None = None) -> str | None:
    """The evidence of the operation that a session recorded last, as JSON text, or None where there was none.

    Args:
        host: the machine that recorded it, where each of several keeps its own.
    """
    sql = _OPERATION if host is None else _OPERATION_ON
    row = connection.execute(sql, {"session": session, "host": host}).fetchone()
    return None if row is None else str(row[0])


def judged(connection: sqlite3.Connection, session: str, run: str) -> str | None:
    """The facts and the verdict that a run ended with last, as JSON text, or None where it was not judged."""
    row = connection.execute(_JUDGED, {"session": session, "run": run}).fetchone()
    return None if row is None else str(row[0])


def _rows(connection: sqlite3.Connection, sql: str, **parameters: object) -> list[Row]:
    cursor = connection.execute(sql, parameters)
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor]
