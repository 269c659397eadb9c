"""The Python interface: the same use cases and errors as the command line, on one connection.

from orchestrator import Orchestrator

with Orchestrator.open(".orchestrator/orchestrator.db") as o:
    decision = o.route(current_agent="developer", status="READY_FOR_QA", group_id="A")

No public call takes it on trust that a person acts. Code in the same process that reaches for private names (such as
`_context`) can do anything, as in every Python program.
"""

from __future__ import annotations

import os
import pathlib
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType

from orchestrator import bootstrap
from orchestrator.app.people import person_proof
from orchestrator.doors.python.methods import Methods

DOOR = "python"
_SQLITE = "sqlite:///"


class Orchestrator(Methods):
    """One open database. A method for every operation; each answers a dict, as `orchestrator COMMAND --json` does.

    Where `session_id` is left out, the only open session is meant. Not to be shared between threads.
    """

    @classmethod
    def open(cls, path: str | os.PathLike[str] | None = None, *, read_only: bool = False) -> Orchestrator:
        """Open a database that exists.

        Args:
            path: the file, or a URL `sqlite:///FILE` or `postgresql://...`; found as the command line finds it where
                left out.
            read_only: open for reading, so that a file that may not be written can be read.

        Raises:
            EnvironmentProblem: NO_DATABASE, READ_ONLY, CORRUPT, BUSY, SCHEMA_TOO_NEW; DATABASE_UNSUPPORTED, another
                URL.
        """
        return cls(bootstrap.open_context(_file(path), write=not read_only, door=DOOR, stays=True))

    @classmethod
    def create(cls, path: str | os.PathLike[str], *, workflow: str | os.PathLike[str] | None = None) -> Orchestrator:
        """Create or upgrade a database, register the first agents, load the workflow, and open it.

        Args:
            path: the file, or a URL `sqlite:///FILE` or `postgresql://...`; the latter's database exists already.
            workflow: a transitions file; the shipped one where left out.

        Raises:
            EnvironmentProblem: as `open`. InvalidInput: WORKFLOW_INVALID {problems}.
        """
        from orchestrator.app import maintenance, setup

        file = _file(path) or ""
        if bootstrap.server(file) is None:
            setup.create_database(file, bootstrap.now())
        else:
            maintenance.create_on_server(file, bootstrap.now())
        opened = cls.open(file)
        try:
            setup.initialise(opened._context, workflow=pathlib.Path(workflow) if workflow is not None else None)
        except BaseException:
            opened.close()
            raise
        return opened

    @classmethod
    def audit_import(cls, file: str | os.PathLike[str], path: str | os.PathLike[str]) -> Orchestrator:
        """Import an exported session into an empty database, created where it does not exist, and open it.

        As `orchestrator audit import`; see `orchestrator.app.audit.import_session.import_file`.

        Args:
            file: the export, as `audit_export` has written it.
            path: the database file or a URL `sqlite:///FILE`.

        Raises:
            InvalidInput: IMPORT_... {line}. Refused: ALREADY_EXISTS, NOT_EMPTY. EnvironmentProblem: FILE_UNREADABLE.
            EnvironmentProblem: as `open`, IMPORT_TOO_NEW, RULES_DIFFER.
        """
        from orchestrator.app.audit import import_session

        file_ = _file(path) or ""
        bootstrap.require_path(file_)
        database = os.path.abspath(file_)
        import_session.import_file(
            database, os.fspath(file), bootstrap.now(), state_folder=bootstrap.state_folder(os.environ)
        )
        return cls.open(database)

    @contextmanager
    def as_person(self, token: str) -> Iterator[None]:
        """Let the calls inside come from the person whose token this is.

        Args:
            token: what `orchestrator human enrol` printed once.
        """
        before = self._context.credential
        person_proof.by_token(self._context, token)
        try:
            yield
        finally:
            self._context.credential = before

    @property
    def path(self) -> str:
        """The database file."""
        return self._context.path

    def __enter__(self) -> Orchestrator:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _file(path: str | os.PathLike[str] | None) -> str | None:
    if path is None:
        return None
    text = os.fspath(path)
    if bootstrap.server(text) is not None:
        return text
    if text.startswith(_SQLITE):
        return text.removeprefix(_SQLITE)
    bootstrap.require_path(text)
    return text
