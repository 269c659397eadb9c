"""The shape of the answers about people: what waits for one, what one answered, how one is known."""

from __future__ import annotations

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from orchestrator.app.answers.parts import Routed
from orchestrator.app.answers.shapes import Answer, Page, Written


class Choice(TypedDict):
    """One decision that a question may be answered by."""

    decision: str
    effect: str
    command: str


class Said(TypedDict):
    """One error of a report's metadata; a long message is cut."""

    type: str
    message: str


class Reached(TypedDict):
    """How far the work of a report came; long texts are cut."""

    stage: str | None
    details: str | None
    phases_completed: int | None
    phases_total: int | None


class Asking(TypedDict):
    """The report that asked a question: what happened, in its own words."""

    id: str
    agent_id: str
    role: str
    response_status: str
    summary: str
    reported_at: str
    errors: list[Said]
    progress: Reached | None


class Question(TypedDict):
    """An open question as the inbox shows it."""

    id: str
    session_id: str
    group_id: str | None
    task_id: str | None
    kind: Literal["review", "clarification", "budget", "reply", "confirmation", "continuation"]
    text: str
    asked_by: str
    asked_at: str
    answers: list[Choice]
    report: Asking | None


class Inbox(Page):
    """`inbox`."""

    questions: list[Question]


class Answered(Answer, Routed):
    """`answer`: the decision that follows."""

    task_id: NotRequired[str]
    proof: NotRequired[Literal["weak", "possession", "strong"]]


class Enrolment(TypedDict):
    """That a person was enrolled."""

    id: str
    agent_id: str
    kind: Literal["token", "passphrase", "ssh-key"]
    enrolled_at: str


class Enrolled(Written):
    """`human enrol`; a token is printed this once."""

    enrolment: Enrolment
    token: NotRequired[str]


class Removed(TypedDict):
    """What was taken away."""

    id: str
    agent_id: str
    kind: Literal["token", "passphrase", "ssh-key", "reset"]


class Removal(Written):
    """`human remove`."""

    removed: Removed


class Reset(TypedDict):
    """A reset, and when it counts."""

    id: str
    agent_id: str
    counts_from: str


class ResetAsked(Written):
    """`human reset`."""

    reset: Reset


class Link(TypedDict):
    """A link, and until when it is good."""

    id: str
    agent_id: str
    expires_at: str


class Linked(Written):
    """`human link`; the address is printed this once."""

    link: Link
    url: str


class Proof(TypedDict):
    """What is enrolled and in force."""

    id: str
    kind: Literal["token", "passphrase", "ssh-key"]
    enrolled_at: str
    channel: str


class Known(TypedDict):
    """A person with what proves them."""

    id: str
    enrolments: list[Proof]


class Pending(TypedDict):
    """A reset that does not count yet."""

    id: str
    agent_id: str
    asked_at: str
    counts_from: str


class Listed(Answer):
    """`human list`; `needs` is the least proof that an act reserved for a person needs."""

    people: list[Known]
    pending_resets: list[Pending]
    needs: Literal["strong", "weak"]
