"""Success criteria and the verdict, for Python programs."""

from __future__ import annotations

from orchestrator.doors.python.calling import Answer, Caller


class Validation(Caller):
    """Success criteria and the verdict."""

    def criterion_add(
        self,
        id: str,
        text: str,
        *,
        session_id: str | None = None,
        metric: str | None = None,
        operator: str | None = None,
        target: str | int | None = None,
        command: tuple[str, ...] = (),
        by: str = "project_manager",
        reason: str = "",
        request_id: str | None = None,
    ) -> Answer:
        """Add a success criterion.

        As `orchestrator criterion add`; see `orchestrator.app.verdict.criteria.add`.
        """
        return self._call(
            "criterion add",
            id=id,
            session_id=session_id,
            text=text,
            metric=metric,
            operator=operator,
            target=target,
            command=command,
            by=by,
            reason=reason,
            request_id=request_id,
        )

    def criterion_list(
        self, session_id: str | None = None, *, all: bool = False, limit: int = 50, since: int | None = None
    ) -> Answer:
        """The success criteria of a session in the order in which they were added.

        As `orchestrator criterion list`; see `orchestrator.app.verdict.scope.criteria`.
        """
        return self._call("criterion list", session_id=session_id, all=all, limit=limit, since=since)

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
        reason: str = "",
        request_id: str | None = None,
    ) -> Answer:
        """Record what was found about a criterion, or reword it.

        As `orchestrator criterion set`; see `orchestrator.app.verdict.criteria.set_criterion`.
        """
        return self._call(
            "criterion set",
            id=id,
            session_id=session_id,
            status=status,
            actual=actual,
            evidence=evidence,
            text=text,
            by=by,
            reason=reason,
            request_id=request_id,
        )

    def criterion_remove(
        self, id: str, *, session_id: str | None = None, by: str, reason: str, request_id: str | None = None
    ) -> Answer:
        """Take a criterion out of the scope; it stays on record, and after the first plan the verdict lists it.

        As `orchestrator criterion remove`; see `orchestrator.app.verdict.criteria.remove`.
        """
        return self._call(
            "criterion remove", id=id, session_id=session_id, by=by, reason=reason, request_id=request_id
        )

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
    ) -> Answer:
        """Judge a session: ACCEPT completes what may be completed and ends it, REJECT calls the project manager.

        Unless the project manager's last report is BAZINGA, this is a dry run; `record` records a verdict all the same.

        As `orchestrator validate`; see `orchestrator.app.verdict.validating.validate`.
        """
        return self._call(
            "validate",
            session_id=session_id,
            dry_run=dry_run,
            record=record,
            run_commands=run_commands,
            command_timeout=command_timeout,
            by=by,
            request_id=request_id,
        )
