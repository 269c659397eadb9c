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
    help=f"{SESSION.help} `store` is what belongs to no session.",
    places=(Place("session", "The session, or `store` for what belongs to no session."),),
)
_ONE_OR_ALL = OF_SESSION._replace(
    places=(Place("session", "The session, or `store` for what belongs to no session (default: everything)."),),
    holds=CHAIN,
)


class _Listing(Request):
    """What every list of the record takes."""

    session_id: str = _OF_CHAIN
    group_id: str | None = GROUP._replace(holds="")
    agent: str | None = option("Only actions and starts of this role or agent.", default=None)
    status: str | None = option("Only this status.", default=None)
    limit: int = LIMIT
    since: int | None = SINCE
    until: int | None = UNTIL
    order: str = option("By step.", default="asc", choices=("asc", "desc"))


class Explain(
    Request,
    words="why",
    line="Explain a group or a decision, rule by rule.",
    example="orchestrator why A -s S1",
    use_case="audit.explain:why",
    answer=("shapes.WhyGroup", "shapes.WhyDecision", "shapes.WhyQuestion", "tasks.WhyTask"),
):
    """Explain why a group or task is not finished, or why a decision was made, rule by rule."""

    id: str = argument("A group, a task, or a decision such as S1:D12.")
    session_id: str | None = SESSION._replace(default=None, is_found=False)
    at_seq: int | None = AT


class ImportPeer(
    Request,
    words="import peer",
    line="Import sessions from another tool's database.",
    example="orchestrator import peer bazinga.db --dry-run",
    prepared_by="audit.peer_import:import_peer",
    answer="shapes.Import",
    writes=True,
    persons=True,
):
    """Import sessions from another tool's SQLite database and flag anything suspicious. The file is only read.
    Groups completed there stay completed, but count as unproven.
    """

    file: str = argument("The other tool's database.")
    session_id: str | None = OF_SESSION._replace(help="Only this session of the file.")
    dry_run: bool = flag("Show what would be imported, and record nothing.")
    by: str = BY_MANAGER
    request_id: str | None = REQUEST


class ListDecisions(
    _Listing,
    words="audit decisions",
    example="orchestrator audit decisions S1 -g A --limit 20",
    use_case="audit.audit_log:decisions",
    answer="shapes.Decisions",
):
    """List decisions: who was sent where, by which rule."""


class ListTimeline(
    _Listing,
    words="audit timeline",
    line="List every event, in order.",
    example="orchestrator audit timeline S1 --since 40",
    use_case="audit.audit_log:timeline",
    answer=("shapes.Timeline", "audits.Lanes"),
):
    """List every event in the order of the record. With --lanes, draw the turns of each group over time instead, a
    line for each group, with rework, blocked time and waits for a person; --limit counts groups then.
    """

    lanes: bool = flag("Draw the turns of each group over time.")


class ListRefusals(
    _Listing,
    words="audit refusals",
    example="orchestrator audit refusals S1 --agent orchestrator",
    use_case="audit.audit_log:refusals",
    answer="shapes.Refusals",
):
    """List refused attempts: who tried what, and why it was refused."""


class VerifyRecord(
    Request,
    words="audit verify",
    line="Verify the record: nothing altered, added, missing or cut off.",
    example="orchestrator audit verify S1 --head 42:HASH",
    use_case="audit.verification:verify",
    answer="audits.Verify",
):
    """Verify the record: the hash chain, every row against its event, and the database's triggers. Exit 1 if
    anything was altered, added, removed or cut off.
    """

    session_id: str | None = _ONE_OR_ALL
    head: str | None = option(
        "A head noted earlier; it must be part of the record.", default=None, metavar="SEQ:HASH"
    )
    since: int | None = SINCE._replace(
        help="Trust the record up to this step of the session; verify only what came after."
    )
    limit: int = LIMIT._replace(help="Maximum number of findings to list; all are counted (default: 50).")


class ShowHeads(
    Request,
    words="audit head",
    line="Print the latest step of each session with its hash.",
    example="orchestrator audit head S1",
    use_case="audit.verification:head",
    answer="audits.Heads",
):
    """Print the latest step of a session, or of all sessions, with its hash. Keep it outside the database for
    `audit verify --head`."""

    session_id: str | None = _ONE_OR_ALL


class ReplaySession(
    Request,
    words="audit replay",
    line="Replay recorded events and compare the results.",
    example="orchestrator audit replay S1 --strict",
    use_case="audit.replay_sessions:replay",
    answer=("records.Replay", "records.Replays"),
):
    """Replay a session's recorded events and compare every decision and row with the record. Exit 1 if anything
    differs; differences that only a change of rules explains are listed as engine_changed, exit 0. With --all, replay
    every session, on as many cores as there are.
    """

    session_id: str | None = _OF_RECORD._replace(default=None)
    every: bool = flag("Replay every session.", "--all")
    strict: bool = flag("Also exit 1 for differences caused by newer rules.")


class ExportSession(
    Request,
    words="audit export",
    line="Write a session's record to a file.",
    example="orchestrator audit export S1 --format jsonl --output s1.jsonl",
    use_case="audit.export_session:export",
    answer="records.Export",
):
    """Write a session's record to a file, or to stdout: jsonl is whole, with the evidence that lies in files, and can
    be imported; csv is one row for each event, where an apostrophe before = + - @ keeps a spreadsheet from
    computing what an agent wrote; html is one page for an auditor, which needs neither server nor network.
    """

    session_id: str = _OF_RECORD
    format: str = option("File format (default: jsonl).", default="jsonl", choices=("jsonl", "csv", "html"))
    unmasked: bool = flag("Do not mask what looks like a secret, so the file can be imported.")
    output: str | None = option(
        "The file to write; must not exist (default, and -: stdout).", default=None, metavar="FILE"
    )


class MakeCertificate(
    Request,
    words="certificate make",
    line="Write a session's verdict and its proofs as one document.",
    example="orchestrator certificate make S1 --sign ~/.ssh/id_ed25519 --output s1.cert.json",
    use_case="audit.make_certificate:make",
    answer="records.MadeCertificate",
):
    """Write a certificate of a session's newest verdict: what the verdict rests on as one JSON document, with proofs,
    to be checked without the database. What looks like a secret is masked; texts of reports are not in it.
    """

    session_id: str = _OF_RECORD
    sign: str | None = option(
        "Sign it with this SSH key, as git does (ssh-keygen -Y sign).", default=None, metavar="KEY"
    )
    output: str | None = option(
        "The file to write; must not exist (default, and -: stdout).", default=None, metavar="FILE"
    )


class ListBlockerHistory(
    _Listing,
    words="audit blockers",
    line="List blockers: who opened and resolved them, and for how long.",
    example="orchestrator audit blockers S1 --status open",
    use_case="audit.blocker_report:blockers",
    answer="audits.Blockers",
):
    """List open and resolved blockers: who opened and resolved each, how, and how long it was open."""

    session_id: str = _OF_RECORD
    agent: str | None = option("Only blockers this role or agent opened or resolved.", default=None)
    status: str | None = option(
        "Only open, or only resolved blockers.", default=None, choices=("open", "resolved"), is_state=True
    )


class ListGaps(
    _Listing,
    words="audit gaps",
    line="List what is missing from the record.",
    example="orchestrator audit gaps S1",
    use_case="audit.gap_report:gaps",
    answer="audits.Gaps",
):
    """List gaps in the record: reports without decisions, turns without reports, status changes without a cause.
    Exit 1 if there are any.
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
    line="Run a read-only SQL query.",
    example="orchestrator audit query 'SELECT session_id,count(*) FROM agent_reports GROUP BY 1' --limit 20",
    use_case="audit.readonly_query:query",
    answer="audits.Query",
):
    """Run one read-only SQL statement (SELECT, WITH, VALUES, EXPLAIN, read-only PRAGMAs). With --json rows are
    lists in the order of columns, bytes are hexadecimal digits, infinite numbers are texts.
    """

    sql: str = argument("The statement; - reads stdin, @FILE a file.", reading=TEXT)
    limit: int = LIMIT._replace(help="Maximum number of rows (default: 1000).", default=1000)
    timeout: int = option("Timeout in seconds (default: 30).", default=30, metavar="SECONDS", span=(1, 3600))
