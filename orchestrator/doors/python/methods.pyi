from typing import Any

from orchestrator.app.answers import audits, driving, next_actions, people, records, shapes, tasks
from orchestrator.doors.python.call import Caller

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

    def install_codex(
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
        """Set up a project for Codex: the database, an agent file for each role, the skill $orchestrate,
        hooks, and rules for the commands that it may run. Existing hooks are kept, files that are not ours
        or were changed are named and left (exit 1), and --uninstall removes exactly what was installed.
        --check also names what the events of Codex cannot hold. Safe to repeat."""

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
        run_commands: bool = False,
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
        """Show what an agent does next; without an agent, the commands that continue a session. Exit 2 when
        the session waits for a person."""

    def status(
        self,
        session_id: str | None = None,
        *,
        brief: bool = False,
        at_seq: int | None = None,
    ) -> shapes.Status | shapes.Overview:
        """Show the state of a session: who is awaited, since when, and the commands that continue it. Exit 0
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
        """Print the hand-off of a turn, exactly as it was when the agent was started."""

    def redispatch(
        self,
        group_id: str | None = None,
        *,
        session_id: str | None = None,
        by: str = "orchestrator",
        reason: str = "",
        request_id: str | None = None,
    ) -> shapes.Decision:
        """Start the awaited agent of a group again, under a new turn; the old turn becomes stale."""

    def drive(
        self,
        session_id: str | None = None,
        *,
        goal: str | None = None,
        executor: str | None = None,
        role: tuple[str, ...] = (),
        isolation: str | None = None,
        parallel: int | None = None,
        turn_timeout: int = 30,
        max_steps: int | None = None,
        max_minutes: int | None = None,
        no_wait: bool = False,
        land: bool = False,
        clean: bool = False,
        max_cost: str | None = None,
        once: bool = False,
        check: bool = False,
    ) -> driving.Driven | driving.Event | driving.Preflight | driving.Cleaned:
        """Run a team by itself, from a goal to a verdict: start every open turn, take each report out of the
        agent's answer, route it, and validate. No language model decides who acts next. Exit 0 ACCEPT, 2 a
        person is awaited, a budget is used up or work remains, 1 ended without ACCEPT, 5 the surroundings."""

    def inbox(
        self,
        session_id: str | None = None,
        *,
        limit: int = 50,
        since: str | None = None,
    ) -> people.Inbox:
        """List open questions, oldest first, with what each answer does and the command to give it."""

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
        """Answer a question as a person: at a terminal, or with what `human enrol` has enrolled. Work
        continues as the answer says; the note is passed to the agent that is started."""

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
        """List sessions (default: open ones)."""

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
        """End a session. The project manager may end a chat; only a person may abandon an orchestration."""

    def session_testing_mode(
        self,
        id: str | None,
        mode: str,
        *,
        by: str | None = None,
        reason: str = "",
        request_id: str | None = None,
    ) -> shapes.OneSession:
        """Change how much testing a session requires. The project manager may tighten it; only a person may
        loosen it."""

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
        """Show a group: who is awaited, its blockers, and each part of its completion path."""

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
        """Change the status of a group, within the rules."""

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
        """Make a group wait for another group of its session."""

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
        """Change the status of a task, within the rules."""

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
        """Make a task wait for another task of its session."""

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
        """Pick a task and claim it in one step; of several callers exactly one gets it. Exit 1 if there is
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
        """Send a heartbeat: renew the lease of a claim."""

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
        """Release a task, or free it from an agent that is gone; it becomes todo again. Without the token, a
        manager releases a claimed task, with a reason unless the lease has expired."""

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
        """Resolve a blocker that you may lift."""

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
        """Record the result of a criterion. Criteria decided by a number or a command cannot be set to met by
        hand."""

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
        """Remove a criterion from the scope; it stays on record, and the verdict lists it."""

    def import_peer(
        self,
        file: str,
        *,
        session_id: str | None = None,
        dry_run: bool = False,
        by: str = "project_manager",
        request_id: str | None = None,
    ) -> shapes.Import:
        """Import sessions from another tool's SQLite database and flag anything suspicious. The file is only
        read. Groups completed there stay completed, but count as unproven."""

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
        """Validate a session against its record: ACCEPT (exit 0) ends it, REJECT (exit 1) sends it back to the
        project manager with the list. Runs the criteria's commands in the project's folder. Unless the
        project manager's last report is BAZINGA, this is a dry run (exit 1)."""

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
        """Show an agent, its managers and its direct reports."""

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
        """Deactivate an agent: it can no longer act; what it did stays on record."""

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
        models and include_context. What recorded sessions would have decided under the file, `workflow
        what-if` shows."""

    def workflow_what_if(
        self,
        content: str,
        *,
        source: str = "transitions.json",
        agent_texts: dict[str, str] | None = None,
        sessions: tuple[str, ...] = (),
        every: bool = False,
    ) -> records.WhatIf:
        """Replay recorded sessions under another workflow file and list the decisions that differ: who would
        have been called, which groups would have completed. The first report that the file no longer
        accepts ends the comparison of its group. With --all, replay every session, on as many cores as
        there are. Nothing is written."""

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
        lanes: bool = False,
    ) -> shapes.Timeline | audits.Lanes:
        """List every event in the order of the record. With --lanes, draw the turns of each group over time
        instead, a line for each group, with rework, blocked time and waits for a person; --limit counts
        groups then."""

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
        """List refused attempts: who tried what, and why it was refused."""

    def audit_verify(
        self,
        session_id: str | None = None,
        *,
        head: str | None = None,
        since: int | None = None,
        limit: int = 50,
    ) -> audits.Verify:
        """Verify the record: the hash chain, every row against its event, and the database's triggers. Exit 1
        if anything was altered, added, removed or cut off."""

    def audit_head(
        self,
        session_id: str | None = None,
    ) -> audits.Heads:
        """Print the latest step of a session, or of all sessions, with its hash. Keep it outside the database
        for `audit verify --head`."""

    def audit_replay(
        self,
        session_id: str | None = None,
        *,
        every: bool = False,
        strict: bool = False,
    ) -> records.Replay | records.Replays:
        """Replay a session's recorded events and compare every decision and row with the record. Exit 1 if
        anything differs; differences that only a change of rules explains are listed as engine_changed,
        exit 0. With --all, replay every session, on as many cores as there are."""

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
        a spreadsheet from computing what an agent wrote; html is one page for an auditor, which needs
        neither server nor network."""

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
        """List open and resolved blockers: who opened and resolved each, how, and how long it was open."""

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
        """List gaps in the record: reports without decisions, turns without reports, status changes without a
        cause. Exit 1 if there are any."""

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
        """Run one read-only SQL statement (SELECT, WITH, VALUES, EXPLAIN, read-only PRAGMAs). With --json rows
        are lists in the order of columns, bytes are hexadecimal digits, infinite numbers are texts."""

    def certificate_make(
        self,
        session_id: str | None = None,
        *,
        sign: str | None = None,
        output: str | None = None,
    ) -> records.MadeCertificate:
        """Write a certificate of a session's newest verdict: what the verdict rests on as one JSON document,
        with proofs, to be checked without the database. What looks like a secret is masked; texts of
        reports are not in it."""
