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
