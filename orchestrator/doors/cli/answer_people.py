"""The shape of the answers about people: what waits for one, what one answered, how one is known."""

from __future__ import annotations

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from orchestrator.doors.cli.answer_parts import Routed
from orchestrator.doors.cli.answer_shapes import Answer, Page, Written


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


class Enrolment(TypedDict):
    """That a person was given a token."""

    id: str
    agent_id: str
    enrolled_at: str


class Enrolled(Written):
    """`human enrol`; the token is printed this once."""

    enrolment: Enrolment
    token: str
