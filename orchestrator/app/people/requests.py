"""The operations on people and what proves them."""

from __future__ import annotations

from orchestrator.app.kernel.requests import (
    BY,
    OF_SESSION,
    REQUEST,
    TEXT,
    Request,
    argument,
    flag,
    option,
)

_PERSON = BY._replace(help="The person (default: the only one).")
_PROVEN = BY._replace(help="The acting person (default: the one who proves it).")


class _OfPerson(Request):
    """What is about a person, who is called `agent`."""

    @property
    def actor(self) -> str:
        """Who acts; else the person."""
        return super().actor or self.__dict__["agent"] or ""


class AnswerQuestion(
    Request,
    words="answer",
    line="Answer a question, as a person.",
    example="orchestrator answer S1:Q12 --decision revise --note 'use the staging database'",
    use_case="people.answer_question:close",
    prepared_by="people.answer_question:answer",
    answer="people.Answered",
    writes=True,
    persons=True,
    marked=True,
):
    """Answer a question as a person: at a terminal, or with what `human enrol` has enrolled. Work continues as the
    answer says; the note is passed to the agent that is started.
    """

    id: str = argument("The question, as the inbox names it.")
    decision: str = option("The answer.", choices=("continue", "revise", "abandon", "yes", "no"))
    note: str = option("A note for whoever continues; kept in the record.", default="", reading=TEXT)
    session_id: str | None = OF_SESSION._replace(help="The session of the question (its id contains it too).")
    by: str | None = BY
    request_id: str | None = REQUEST

    @property
    def chain(self) -> str:
        """The question's session."""
        return self.session_id or self.id.rpartition(":Q")[0] or self.id


class EnrolProof(
    _OfPerson,
    words="human enrol",
    line="Enrol a passphrase, an SSH key or a token.",
    example="orchestrator human enrol --passphrase",
    prepared_by="people.enrolment:enrol",
    answer="people.Enrolled",
    writes=True,
    persons=True,
):
    """Enrol what proves a person: a passphrase, an SSH key, or (without either) a token. A passphrase or key proves
    what only that person knows or holds; once one is enrolled, every act reserved for a person needs one. A
    token proves that somebody has its file; it is printed once and not stored. Whatever is enrolled already is
    needed to enrol again.
    """

    passphrase: bool = flag("Enrol a passphrase; it is asked for twice at the terminal, without echo.")
    ssh_key: str | None = option(
        "Enrol this public key; ssh-keygen signs a challenge with it at once.", default=None, metavar="FILE.pub"
    )
    agent: str | None = _PERSON
    by: str | None = _PROVEN


class ListProofs(
    Request,
    words="human list",
    line="List what is enrolled.",
    example="orchestrator human list",
    use_case="people.enrolment:status",
    answer="people.Listed",
):
    """List what is enrolled, since when and through which channel, and what an act reserved for a person needs now."""


class MakeSignInLink(
    _OfPerson,
    words="human link",
    line="Print a sign-in link for a running server.",
    example="orchestrator human link --url http://127.0.0.1:8765",
    prepared_by="people.enrolment:link",
    answer="people.Linked",
    writes=True,
    persons=True,
):
    """Print a sign-in link for a running server, valid once and for 15 minutes. It needs your proof."""

    url: str = option(
        "The server's address (default: http://127.0.0.1:8765).", default="http://127.0.0.1:8765", metavar="URL"
    )
    agent: str | None = _PERSON
    by: str | None = _PROVEN


class RemoveProof(
    Request,
    words="human remove",
    line="Remove a token, passphrase or key.",
    example="orchestrator human remove C12",
    use_case="people.enrolment:remove",
    answer="people.Removal",
    writes=True,
    persons=True,
):
    """Remove a token, passphrase or key of your own, or stop a reset. It needs the proof that is enrolled."""

    id: str = argument("The enrolment, as `human list` shows it.")
    by: str | None = _PROVEN


class ResetProofs(
    _OfPerson,
    words="human reset",
    line="Start over when a proof is lost.",
    example="orchestrator human reset",
    use_case="people.enrolment:start_over",
    prepared_by="people.enrolment:reset",
    answer="people.ResetAsked",
    writes=True,
):
    """Start over when a passphrase, key or token is lost: one hour later everything enrolled for that person has
    ended. It needs a terminal and a database that no other process has open. Every later verdict mentions it;
    within the hour `human remove` stops it.
    """

    agent: str | None = _PERSON
