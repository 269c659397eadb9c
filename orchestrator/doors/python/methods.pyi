from typing import Any

from orchestrator.app.answers import audits, next_actions, people, records, shapes, tasks, verifying
from orchestrator.doors.python.calling import Caller

class Methods(Caller):
    """A method for every operation."""

    def install_claude_code(
        self,
        project: str = ".",
        *,
        scope: str = "local",
        strict: bool = False,
        dry_run: bool = False,
        check: bool = False,
        uninstall: bool = False,
        force: bool = False,
        session_id: str | None = None,
    ) -> shapes.Install:
        """Set up a project for Claude Code: the database, an agent file for each role, the skill /orchestrate,
        hooks and permissions. Existing settings are kept, files that are not ours or were changed are named
        and left (exit 1), and --uninstall removes exactly what was installed. Safe to repeat."""

    def route(
        self,
        current_agent: str,
        status: str,
        *,
        session_id: str | None = None,
        group_id: str | None = None,
        testing_mode: str | None = None,
        turn: int | None = None,
        agent_id: str | None = None,
        summary: str = "",
        details: dict[str, Any] | None = None,
        metadata: dict[str, Any] | None = None,
        acknowledge: dict[str, str] | None = None,
        interrupt: bool = False,
        dry_run: bool = False,
        request_id: str | None = None,
        raw_text: str | None = None,
    ) -> shapes.Decision:
        """Report what an agent answered, and learn who acts next."""

    def next(
        self,
        agent_id: str | None = None,
        *,
        task: str | None = None,
        session_id: str | None = None,
        group_id: str | None = None,
    ) -> next_actions.NextAction | next_actions.Postflight:
        """Say what an agent does now. Without an agent, say with which commands a session goes on. Exit 2
        where the session waits for a person."""

    def status(
        self,
        session_id: str | None = None,
        *,
        brief: bool = False,
        at_seq: int | None = None,
    ) -> shapes.Status | shapes.Overview:
        """Show where a session stands: who is awaited, since when, and with which commands it goes on. Exit 0
        running or ended, 2 a person is awaited, 1 stalled."""

    def why(
        self,
        id: str,
        *,
        session_id: str | None = None,
        at_seq: int | None = None,
    ) -> shapes.WhyGroup | shapes.WhyDecision | shapes.WhyQuestion | tasks.WhyTask:
        """Explain why a group or task is not finished, or why a decision was made, rule by rule."""

    def handoff(
        self,
        group_id: str | None = None,
        *,
        session_id: str | None = None,
        turn: int | None = None,
    ) -> shapes.Handoff:
        """Print what the agent of a turn was told, as it was frozen when the agent was started."""

    def redispatch(
        self,
        group_id: str | None = None,
        *,
        session_id: str | None = None,
        by: str = "orchestrator",
        reason: str = "",
        request_id: str | None = None,
    ) -> shapes.Decision:
        """Order the awaited agent of a group to start anew, under a new turn; the old turn is stale."""

    def inbox(
        self,
        session_id: str | None = None,
        *,
        limit: int = 50,
        since: str | None = None,
    ) -> people.Inbox:
        """List what waits for a person, the oldest first: what each answer would do, and the command that
        gives it."""

    def answer(
        self,
        id: str,
        decision: str,
        *,
        note: str = "",
        session_id: str | None = None,
        by: str | None = None,
        request_id: str | None = None,
    ) -> people.Answered:
        """Answer a question, as a person: at a terminal, or with what `human enrol` has enrolled. What was
        kept back goes on as the decision says; the note goes to whoever is started."""

    def human_enrol(
        self,
        passphrase: bool = False,
        *,
        ssh_key: str | None = None,
        agent: str | None = None,
        by: str | None = None,
    ) -> people.Enrolled:
        """Enrol what proves a person: a passphrase, an SSH key, or (without either) a token. A passphrase or
        key proves what only that person knows or holds; once one is enrolled, every act reserved for a
        person needs one. A token proves that somebody has its file; it is printed once and not stored.
        Whatever is enrolled already is needed to enrol again."""

    def human_list(
        self,
    ) -> people.Listed:
        """List what is enrolled, since when and through which channel, and what an act reserved for a person
        needs now."""

    def human_link(
        self,
        url: str = "http://127.0.0.1:8765",
        *,
        agent: str | None = None,
        by: str | None = None,
    ) -> people.Linked:
        """Print a sign-in link for a running server, valid once and for 15 minutes. It needs your proof."""

    def human_remove(
        self,
        id: str,
        *,
        by: str | None = None,
    ) -> people.Removal:
        """Remove a token, passphrase or key of your own, or stop a reset. It needs the proof that is enrolled."""

    def human_reset(
        self,
        agent: str | None = None,
    ) -> people.ResetAsked:
        """Start over when a passphrase, key or token is lost: one hour later everything enrolled for that
        person has ended. It needs a terminal and a database that no other process has open. Every later
        verdict mentions it; within the hour `human remove` stops it."""

    def session_create(
        self,
        id: str,
        *,
        kind: str = "orchestration",
        mode: str = "parallel",
        testing_mode: str = "full",
        goal: str = "",
        turn_timeout: int = 60,
        disabled_roles: tuple[str, ...] = (),
        by: str = "project_manager",
        request_id: str | None = None,
    ) -> shapes.OneSession:
        """Create a session, pinned to the active workflow version, and call the project manager."""

    def session_list(
        self,
        all: bool = False,
        *,
        limit: int = 50,
        since: str | None = None,
    ) -> shapes.Sessions:
        """List sessions, the open ones where not said otherwise."""

    def session_show(
        self,
        id: str | None = None,
    ) -> shapes.SessionShow:
        """Show a session."""

    def session_pause(
        self,
        id: str | None = None,
        *,
        by: str | None = None,
        reason: str = "",
        request_id: str | None = None,
    ) -> shapes.OneSession:
        """Pause a session: reports are accepted and decided, but nobody is started."""

    def session_resume(
        self,
        id: str | None = None,
        *,
        by: str | None = None,
        reason: str = "",
        request_id: str | None = None,
    ) -> shapes.OneSession:
        """Resume a paused session; what was held back is started."""

    def session_end(
        self,
        id: str | None = None,
        *,
        by: str | None = None,
        reason: str = "",
        request_id: str | None = None,
    ) -> shapes.OneSession:
        """End a session: a chat, by the project manager. Abandoning an orchestration is a person's to do."""

    def session_testing_mode(
        self,
        id: str | None,
        mode: str,
        *,
        by: str | None = None,
        reason: str = "",
        request_id: str | None = None,
    ) -> shapes.OneSession:
        """Change how much a session tests. Tightening is the project manager's, loosening a person's."""

    def session_upgrade_workflow(
        self,
        id: str | None = None,
        *,
        confirm: bool = False,
        by: str | None = None,
        reason: str = "",
        request_id: str | None = None,
    ) -> shapes.OneSession:
        """Move a session to the active workflow version, unless its open state does not exist there. Only a
        person may do it where the two versions differ in more than texts, models and include_context."""

    def group_create(
        self,
        id: str,
        *,
        session_id: str | None = None,
        name: str | None = None,
        description: str | None = None,
        kind: str = "code",
        security_sensitive: bool = False,
        complexity: int = 3,
        priority: str = "medium",
        depends_on: tuple[str, ...] = (),
        by: str = "project_manager",
        request_id: str | None = None,
    ) -> shapes.OneGroup:
        """Create a task group."""

    def group_list(
        self,
        session_id: str | None = None,
        *,
        status: str | None = None,
        limit: int = 50,
        since: int | None = None,
    ) -> shapes.Groups:
        """List the groups of a session."""

    def group_show(
        self,
        id: str,
        *,
        session_id: str | None = None,
        at_seq: int | None = None,
    ) -> shapes.GroupShow:
        """Show a group: who is awaited, what stands in its way, each part of its completion path."""

    def group_set_status(
        self,
        id: str,
        status: str,
        *,
        session_id: str | None = None,
        by: str | None = None,
        reason: str = "",
        request_id: str | None = None,
    ) -> shapes.OneGroup:
        """Move a group by hand, as far as the table of moves and the guards allow."""

    def group_depend(
        self,
        id: str,
        on: str,
        *,
        session_id: str | None = None,
        by: str = "project_manager",
        reason: str = "",
        request_id: str | None = None,
    ) -> shapes.OneGroup:
        """Let a group wait for another one of its session."""

    def group_undepend(
        self,
        id: str,
        on: str,
        *,
        session_id: str | None = None,
        by: str | None = None,
        reason: str = "",
        request_id: str | None = None,
    ) -> shapes.OneGroup:
        """Drop a dependency on a group that is cancelled or deferred."""

    def task_create(
        self,
        id: str,
        title: str,
        *,
        description: str = "",
        session_id: str | None = None,
        group_id: str | None = None,
        parent: str | None = None,
        assignee: str | None = None,
        priority: str = "medium",
        type: str = "IMPLEMENTATION",
        status: str = "todo",
        depends_on: tuple[str, ...] = (),
        auto_unblock: bool = False,
        by: str | None = None,
        reason: str = "",
        request_id: str | None = None,
    ) -> tasks.OneTask:
        """Create a task."""

    def task_set_status(
        self,
        id: str,
        status: str,
        *,
        session_id: str | None = None,
        blocker_type: str | None = None,
        expect_version: int | None = None,
        claim_token: str | None = None,
        by: str | None = None,
        reason: str = "",
        request_id: str | None = None,
    ) -> tasks.OneTask:
        """Change the status of a task, as far as moves, permissions and guards allow."""

    def task_status(
        self,
        id: str,
        status: str,
        *,
        session_id: str | None = None,
        blocker_type: str | None = None,
        expect_version: int | None = None,
        claim_token: str | None = None,
        by: str | None = None,
        reason: str = "",
        request_id: str | None = None,
    ) -> tasks.OneTask:
        """The same as task set-status."""

    def task_depend(
        self,
        id: str,
        on: str,
        *,
        session_id: str | None = None,
        auto_unblock: bool = False,
        by: str | None = None,
        reason: str = "",
        request_id: str | None = None,
    ) -> tasks.OneTask:
        """Let a task wait for another one of its session."""

    def task_undepend(
        self,
        id: str,
        on: str,
        *,
        session_id: str | None = None,
        by: str | None = None,
        reason: str = "",
        request_id: str | None = None,
    ) -> tasks.OneTask:
        """Drop a dependency of a task."""

    def task_list(
        self,
        session_id: str | None = None,
        *,
        group_id: str | None = None,
        status: str | None = None,
        assignee: str | None = None,
        parent: str | None = None,
        limit: int = 50,
        since: int | None = None,
    ) -> tasks.Tasks:
        """List the tasks of a session."""

    def task_show(
        self,
        id: str,
        *,
        session_id: str | None = None,
        at_seq: int | None = None,
    ) -> tasks.TaskShow:
        """Show a task: what it waits for, what blocks it, its subtasks."""

    def task_claim(
        self,
        id: str | None = None,
        *,
        agent_id: str,
        lease: int = 900,
        claim_token: str | None = None,
        session_id: str | None = None,
        request_id: str | None = None,
    ) -> next_actions.Claimed:
        """Pick a task and claim it in one step; exactly one of many callers gets it. Exit 1 where there is
        nothing to claim."""

    def task_heartbeat(
        self,
        id: str,
        *,
        by: str | None = None,
        claim_token: str | None = None,
        lease: int | None = None,
        session_id: str | None = None,
        request_id: str | None = None,
    ) -> next_actions.Claimed:
        """Give a sign of life: the lease of a claim begins anew."""

    def task_release(
        self,
        id: str,
        *,
        by: str | None = None,
        claim_token: str | None = None,
        reason: str = "",
        expect_version: int | None = None,
        session_id: str | None = None,
        request_id: str | None = None,
    ) -> next_actions.Claimed:
        """Give a task back, or free it of who is gone, so that it is todo again. Without the token one above
        releases what is claimed, with a reason unless its lease has ended."""

    def blocker_list(
        self,
        session_id: str | None = None,
        *,
        group_id: str | None = None,
        task: str | None = None,
        open: bool = False,
        limit: int = 50,
        since: int | None = None,
    ) -> tasks.Blockers:
        """List the blockers of a session."""

    def blocker_show(
        self,
        id: str,
        *,
        session_id: str | None = None,
    ) -> tasks.OneBlocker:
        """Show a blocker: who opened it, when and why, and what became of it."""

    def blocker_resolve(
        self,
        id: str,
        *,
        session_id: str | None = None,
        by: str | None = None,
        reason: str = "",
        request_id: str | None = None,
    ) -> tasks.Resolved:
        """Resolve a blocker, as far as it is yours to lift."""

    def criterion_add(
        self,
        id: str,
        text: str,
        *,
        session_id: str | None = None,
        metric: str | None = None,
        operator: str | None = None,
        target: str | int | None = None,
        command: tuple[str, ...] | None = None,
        at_status: tuple[str, ...] | None = None,
        group_id: str | None = None,
        by: str = "project_manager",
        reason: str | None = None,
        request_id: str | None = None,
    ) -> shapes.OneCriterion:
        """Add a success criterion: in words, measured against a target, or decided by a command's exit status.
        The first plan freezes them: later it is the project manager's, with a reason."""

    def criterion_list(
        self,
        session_id: str | None = None,
        *,
        all: bool = False,
        limit: int = 50,
        since: int | None = None,
    ) -> shapes.Criteria:
        """List the success criteria of a session."""

    def criterion_set(
        self,
        id: str,
        *,
        session_id: str | None = None,
        status: str | None = None,
        actual: str | int | None = None,
        evidence: str | None = None,
        text: str | None = None,
        by: str | None = None,
        reason: str | None = None,
        request_id: str | None = None,
    ) -> shapes.OneCriterion:
        """Record what was found about a criterion. What a number or a command decides is never set as met."""

    def criterion_approve(
        self,
        id: str,
        *,
        session_id: str | None = None,
        reason: str | None = None,
        by: str | None = None,
        request_id: str | None = None,
    ) -> shapes.OneCriterion:
        """Allow the command of a criterion to run, as a person. A command that came in an agent's report waits
        for it, unless orchestrator.json allows how it begins."""

    def criterion_remove(
        self,
        id: str,
        by: str,
        reason: str,
        *,
        session_id: str | None = None,
        request_id: str | None = None,
    ) -> shapes.OneCriterion:
        """Take a criterion out of the scope; it stays on record, and the verdict lists it."""

    def import_peer(
        self,
        file: str,
        *,
        session_id: str | None = None,
        dry_run: bool = False,
        by: str = "project_manager",
        request_id: str | None = None,
    ) -> shapes.Import:
        """Import the sessions of a peer's SQLite database, with findings; the file is only read. What was
        completed there is kept as such and proves nothing."""

    def validate(
        self,
        session_id: str | None = None,
        *,
        dry_run: bool = False,
        record: bool = False,
        run_commands: bool = False,
        command_timeout: int = 300,
        by: str | None = None,
        request_id: str | None = None,
    ) -> shapes.Validation:
        """Judge a session by its record: ACCEPT (exit 0) ends it, REJECT (exit 1) calls the project manager
        with the list. Runs the criteria's commands in the project's folder. Unless the project manager's
        last report is BAZINGA, this is a dry run (exit 1)."""

    def agent_register(
        self,
        id: str,
        role: str,
        *,
        parent: str | None = None,
        kind: str = "ai",
        max_parallel_tasks: int = 1,
        by: str = "project_manager",
        request_id: str | None = None,
    ) -> shapes.OneAgent:
        """Register an agent under its parent."""

    def agent_list(
        self,
        session_id: str | None = None,
        *,
        role: str | None = None,
        all: bool = False,
        limit: int = 50,
        since: str | None = None,
    ) -> shapes.Agents:
        """List agents."""

    def agent_show(
        self,
        id: str,
    ) -> shapes.AgentShow:
        """Show an agent, those above it, and those right below it."""

    def agent_tree(
        self,
        session_id: str | None = None,
        *,
        all: bool = False,
    ) -> shapes.AgentTree:
        """Show who reports to whom."""

    def agent_deactivate(
        self,
        id: str,
        *,
        by: str | None = None,
        reason: str = "",
        request_id: str | None = None,
    ) -> shapes.OneAgent:
        """Take an agent out of service; what it did stays, and it acts no more."""

    def workflow_load(
        self,
        content: str,
        agent_texts: dict[str, str],
        *,
        by: str = "project_manager",
        request_id: str | None = None,
        source: str = "transitions.json",
    ) -> shapes.WorkflowLoad:
        """Check a workflow file with its agent files, and make it the active version. While sessions are open,
        only a person may activate a version whose rules differ from the active one's in more than texts,
        models and include_context."""

    def workflow_show(
        self,
        version: str | None = None,
    ) -> shapes.WorkflowShow:
        """Show a loaded version."""

    def workflow_versions(
        self,
    ) -> shapes.Versions:
        """List the loaded versions."""

    def workflow_diff(
        self,
        a: str,
        b: str,
    ) -> shapes.WorkflowDiff:
        """Compare two loaded versions, transition by transition."""

    def workflow_graph(
        self,
        format: str = "mermaid",
        *,
        session_id: str | None = None,
        group_id: str | None = None,
        version: str | None = None,
    ) -> shapes.WorkflowGraph:
        """Draw the workflow; with a session, its position is highlighted."""

    def audit_decisions(
        self,
        session_id: str | None = None,
        *,
        group_id: str | None = None,
        agent: str | None = None,
        status: str | None = None,
        limit: int = 50,
        since: int | None = None,
        until: int | None = None,
        order: str = "asc",
    ) -> shapes.Decisions:
        """List decisions: who was sent where, by which rule."""

    def audit_timeline(
        self,
        session_id: str | None = None,
        *,
        group_id: str | None = None,
        agent: str | None = None,
        status: str | None = None,
        limit: int = 50,
        since: int | None = None,
        until: int | None = None,
        order: str = "asc",
    ) -> shapes.Timeline:
        """List all that happened, in the order of the record."""

    def audit_refusals(
        self,
        session_id: str | None = None,
        *,
        group_id: str | None = None,
        agent: str | None = None,
        status: str | None = None,
        limit: int = 50,
        since: int | None = None,
        until: int | None = None,
        order: str = "asc",
    ) -> shapes.Refusals:
        """List what was refused: who tried what, and why not."""

    def audit_verify(
        self,
        session_id: str | None = None,
        *,
        head: str | None = None,
        since: int | None = None,
        limit: int = 50,
    ) -> verifying.Verify:
        """Verify the record against its hash chain, every row against its event, and the database's guards
        against their texts. Exit 1 where anything was altered, added, taken away or cut off."""

    def audit_head(
        self,
        session_id: str | None = None,
    ) -> verifying.Heads:
        """Print the newest step of a session, or of all, with its hash: to be noted outside, for `audit
        verify`."""

    def audit_replay(
        self,
        session_id: str | None = None,
        *,
        strict: bool = False,
    ) -> records.Replay:
        """Tell a session's recorded events again and compare every decision and row with what is on record.
        Exit 1 where anything differs; what only other rules make otherwise is engine_changed and exit 0."""

    def audit_export(
        self,
        session_id: str | None = None,
        *,
        format: str = "jsonl",
        unmasked: bool = False,
        output: str | None = None,
    ) -> records.Export:
        """Write a session's record to a file, or to stdout: jsonl is whole, with the evidence that lies in
        files, and can be imported; csv is one row for each event, where an apostrophe before = + - @ keeps
        a spreadsheet from computing what an agent wrote."""

    def audit_blockers(
        self,
        session_id: str | None = None,
        *,
        group_id: str | None = None,
        agent: str | None = None,
        status: str | None = None,
        limit: int = 50,
        since: int | None = None,
        until: int | None = None,
        order: str = "asc",
    ) -> audits.Blockers:
        """List open and resolved blockers: who opened and resolved each, how, and how long it stands or stood."""

    def audit_gaps(
        self,
        session_id: str | None = None,
        *,
        group_id: str | None = None,
        agent: str | None = None,
        status: str | None = None,
        limit: int = 50,
        since: int | None = None,
        until: int | None = None,
        order: str = "asc",
    ) -> audits.Gaps:
        """List where the record is not whole: reports without decisions, spawns without reports, groups moved
        without cause. Exit 1 where any is listed."""

    def audit_stats(
        self,
        session_id: str | None = None,
        *,
        group_id: str | None = None,
        since: int | None = None,
        until: int | None = None,
    ) -> audits.Stats:
        """Count a session: reports by agent and status, rework, time in each role, escalations, refusals, and
        usage where reports give it in their details: {"usage": {"input_tokens": N, "output_tokens": N}}."""

    def audit_query(
        self,
        sql: str,
        *,
        limit: int = 1000,
        timeout: int = 30,
    ) -> audits.Query:
        """Run one SQL statement that only reads (SELECT, WITH, VALUES, EXPLAIN, telling PRAGMAs). With --json
        rows are lists in the order of columns, bytes are hexadecimal digits, infinite numbers are texts."""
