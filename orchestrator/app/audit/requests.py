"""The operations on the record, what explains it, and imports."""

from __future__ import annotations

from orchestrator.app.kernel.requests import (
    AT,
    BY_MANAGER,
    CHAIN,
    GROUP,
    LIMIT,
    OF_SESSION,
    REQUEST,
    SESSION,
    SINCE,
    TEXT,
    UNTIL,
    Place,
    Request,
    argument,
    flag,
    option,
)

_OF_RECORD = SESSION._replace(holds=CHAIN, places=(Place("session", "The session."),))
_OF_CHAIN = _OF_RECORD._replace(
    help=f"{SESSION.help} `store` is what belongs to none.",
    places=(Place("session", "The session; `store` is what belongs to none."),),
)
_ONE_OR_ALL = OF_SESSION._replace(
    places=(Place("session", "The session; `store` is what belongs to none. Everything where left out."),),
    holds=CHAIN,
)


class _Listing(Request):
    """What every list of the record takes."""

    session_id: str = _OF_CHAIN
    group_id: str | None = GROUP._replace(holds="")
    agent: str | None = option("Only what this role or agent did or was sent to do.", default=None)
    status: str | None = option("Only what has this status.", default=None)
    limit: int = LIMIT
    since: int | None = SINCE
    until: int | None = UNTIL
    order: str = option("By step.", default="asc", choices=("asc", "desc"))


class Explain(
    Request,
    words="why",
    line="Explain a group or a decision, rule by rule.",
    example="orchestrator why A -s S1",
    use_case="audit.explaining:why",
    answer=("shapes.WhyGroup", "shapes.WhyDecision", "shapes.WhyQuestion", "tasks.WhyTask"),
):
    """Explain why a group or task is not finished, or why a decision was made, rule by rule."""

    id: str = argument("A group, a task, or a decision such as S1:D12.")
    session_id: str | None = SESSION._replace(default=None, is_found=False)
    at_seq: int | None = AT


class ImportPeer(
    Request,
    words="import peer",
    line="Import the sessions of a peer's database, with findings.",
    example="orchestrator import peer bazinga.db --dry-run",
    prepared_by="audit.peers:import_peer",
    answer="shapes.Import",
    writes=True,
    persons=True,
):
    """Import the sessions of a peer's SQLite database, with findings; the file is only read. What was completed there
    is kept as such and proves nothing.
    """

    file: str = argument("The peer's database.")
    session_id: str | None = OF_SESSION._replace(help="Only this session of the file.")
    dry_run: bool = flag("Show what would be imported, and record nothing.")
    by: str = BY_MANAGER
    request_id: str | None = REQUEST


class ListDecisions(
    _Listing,
    words="audit decisions",
    example="orchestrator audit decisions S1 -g A --limit 20",
    use_case="audit.auditing:decisions",
    answer="shapes.Decisions",
):
    """List decisions: who was sent where, by which rule."""


class ListTimeline(
    _Listing,
    words="audit timeline",
    line="List all that happened, in order.",
    example="orchestrator audit timeline S1 --since 40",
    use_case="audit.auditing:timeline",
    answer="shapes.Timeline",
):
    """List all that happened, in the order of the record."""


class ListRefusals(
    _Listing,
    words="audit refusals",
    example="orchestrator audit refusals S1 --agent orchestrator",
    use_case="audit.auditing:refusals",
    answer="shapes.Refusals",
):
    """List what was refused: who tried what, and why not."""


class VerifyRecord(
    Request,
    words="audit verify",
    line="Verify the record: nothing altered, added, missing or cut off.",
    example="orchestrator audit verify S1 --head 42:HASH",
    use_case="audit.verification:verify",
    answer="verifying.Verify",
):
    """Verify the record against its hash chain, every row against its event, and the database's guards against their
    texts. Exit 1 where anything was altered, added, taken away or cut off.
    """

    session_id: str | None = _ONE_OR_ALL
    head: str | None = option(
        "A head that was noted before; it must be part of the record.", default=None, metavar="SEQ:HASH"
    )
    since: int | None = SINCE._replace(
        help="Trust what was verified up to this step of the session; look at what came after."
    )
    limit: int = LIMIT._replace(help="How many findings to list; all are counted. 50 where left out.")


class ShowHeads(
    Request,
    words="audit head",
    line="Print the newest step of each session, to be noted outside.",
    example="orchestrator audit head S1",
    use_case="audit.verification:head",
    answer="verifying.Heads",
):
    """Print the newest step of a session, or of all, with its hash: to be noted outside, for `audit verify`."""

    session_id: str | None = _ONE_OR_ALL


class ReplaySession(
    Request,
    words="audit replay",
    line="Tell a session's events again and compare what comes of it.",
    example="orchestrator audit replay S1 --strict",
    use_case="audit.replayed:replay",
    answer="records.Replay",
):
    """Tell a session's recorded events again and compare every decision and row with what is on record. Exit 1 where
    anything differs; what only other rules make otherwise is engine_changed and exit 0.
    """

    session_id: str = _OF_RECORD
    strict: bool = flag("Exit 1 for what other rules make otherwise, too.")


class ExportSession(
    Request,
    words="audit export",
    line="Write a session's record to a file.",
    example="orchestrator audit export S1 --format jsonl --output s1.jsonl",
    use_case="audit.exporting:export",
    answer="records.Export",
):
    """Write a session's record to a file, or to stdout: jsonl is whole, with the evidence that lies in files, and can
    be imported; csv is one row for each event, where an apostrophe before = + - @ keeps a spreadsheet from
    computing what an agent wrote.
    """

    session_id: str = _OF_RECORD
    format: str = option("jsonl where left out.", default="jsonl", choices=("jsonl", "csv"))
    unmasked: bool = flag("Write what looks like a secret as it is on record, so that it can be imported.")
    output: str | None = option(
        "The file, which must not exist yet; stdout where left out.", default=None, metavar="FILE"
    )


class ListBlockerHistory(
    _Listing,
    words="audit blockers",
    line="List blockers: by whom, how, and how long each stood.",
    example="orchestrator audit blockers S1 --status open",
    use_case="audit.blockages:blockers",
    answer="audits.Blockers",
):
    """List open and resolved blockers: who opened and resolved each, how, and how long it stands or stood."""

    session_id: str = _OF_RECORD
    agent: str | None = option("Only what this role or agent opened or resolved.", default=None)
    status: str | None = option(
        "Only what is open, or resolved.", default=None, choices=("open", "resolved"), is_state=True
    )


class ListGaps(
    _Listing,
    words="audit gaps",
    line="List what is missing from the record.",
    example="orchestrator audit gaps S1",
    use_case="audit.holes:gaps",
    answer="audits.Gaps",
):
    """List where the record is not whole: reports without decisions, spawns without reports, groups moved without
    cause. Exit 1 where any is listed.
    """

    session_id: str = _OF_RECORD


class ShowStats(
    Request,
    words="audit stats",
    line="Count reports, rework, time in each role, escalations.",
    example="orchestrator audit stats S1 --json",
    use_case="audit.stats:stats",
    answer="audits.Stats",
):
    """Count a session: reports by agent and status, rework, time in each role, escalations, refusals, and usage where
    reports give it in their details: {"usage": {"input_tokens": N, "output_tokens": N}}.
    """

    session_id: str = _OF_RECORD
    group_id: str | None = GROUP._replace(holds="")
    since: int | None = SINCE
    until: int | None = UNTIL


class QueryDatabase(
    Request,
    words="audit query",
    line="Ask the database in SQL that only reads.",
    example="orchestrator audit query 'SELECT session_id,count(*) FROM agent_reports GROUP BY 1' --limit 20",
    use_case="audit.querying:query",
    answer="audits.Query",
):
    """Run one SQL statement that only reads (SELECT, WITH, VALUES, EXPLAIN, telling PRAGMAs). With --json rows are
    lists in the order of columns, bytes are hexadecimal digits, infinite numbers are texts.
    """

    sql: str = argument("The statement; - reads stdin, @FILE a file.", reading=TEXT)
    limit: int = LIMIT._replace(help="How many rows at most; 1000 where left out.", default=1000)
    timeout: int = option("Seconds that it may take; 30 where left out.", default=30, metavar="SECONDS", span=(1, 3600))
