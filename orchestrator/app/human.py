"""Whether a person stands behind a call, and through which channel.

A name proves nobody. What proves a person is found out before the step and becomes part of its input: which channel,
and of a token which enrolment. So a replay needs neither a terminal nor the token, and the token is kept nowhere.

Source: seed 003, Recommendations 2 (a person decides before the work goes on)
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from orchestrator.core import names
from orchestrator.core.tuples import NamedTuple
from orchestrator.errors import Refused, UsageError
from orchestrator.store.constants import STORE_CHAIN

if TYPE_CHECKING:
    from orchestrator.app.context import Answer, Context, Work
    from orchestrator.store.reader import Agent

TERMINAL, TOKEN = "terminal", "token"
TOKEN_MARK = "orchestrator-human-"  # noqa: S105 - what every token begins with, so that one that leaks is known
TOKEN_BYTES = 32
WAYS = "A person repeats it at a terminal, or with --human-token-file FILE"
IN_THEIR_NAME = "A person repeats it in their own name (--by user), at a terminal or with --human-token-file FILE"
_FAULTS = {
    "no_terminal": "stdin and stderr are no terminal, where a person could confirm it",
    "agent": "the environment is an agent's (CLAUDECODE or ORCHESTRATOR_AGENT is set)",
    "executor": "the call comes from what an executor has started",
    "code": "the code that was shown was not typed",
    "empty": "the token file is empty",
    "unknown": "the token is none that was given out",
    "revoked": "the token was replaced by a newer one",
    "inactive": "the person of the token is out of service",
}
_TOKENS = "SELECT id, hash FROM human_tokens ORDER BY seq"
_ENROLMENT = """SELECT t.agent_id, a.active, t.id = (SELECT n.id FROM human_tokens n INDEXED BY ix_human_tokens_agent
    WHERE n.agent_id = t.agent_id ORDER BY n.seq DESC LIMIT 1)
    FROM human_tokens t JOIN agents a ON a.id = t.agent_id WHERE t.id = :id"""
ENROLMENTS = "SELECT id, enrolled_at FROM human_tokens INDEXED BY ix_human_tokens_agent WHERE agent_id = :agent" + (
    " ORDER BY seq DESC"
)


class Credential(NamedTuple):
    """What a door has found: a confirmed terminal, a token, or why there is neither (a key of the known faults)."""

    channel: str
    token: str | None = None
    fault: str | None = None

    def __repr__(self) -> str:
        """Without the token, which no output may show."""
        return f"Credential({self.channel})"


def wanted(context: Context, words: str, given: dict[str, Any]) -> bool:
    """Whether a door should ask for a person: a person is named, or the operation is a person's anyway."""
    from orchestrator.app import operations

    by = given.get("by")
    agent = context.reader.agent(by) if by else None
    return words in operations.PERSONS if agent is None else agent.kind == "human"


def found(context: Context, credential: Credential) -> dict[str, str]:
    """What of a credential becomes part of the step's input; never the token."""
    proof = {"channel": credential.channel}
    if credential.fault is not None:
        return {**proof, "fault": credential.fault}
    if credential.channel != TOKEN:
        return proof
    token = (credential.token or "").strip()
    if not token:
        return {**proof, "fault": "empty"}
    enrolment = _enrolment_of(context, token)
    return {**proof, "enrolment": enrolment} if enrolment else {**proof, "fault": "unknown"}


def _enrolment_of(context: Context, token: str) -> str | None:
    """The enrolment of a token; every one is compared, each in constant time."""
    import hmac

    given = token_hash(token)
    same = [id_ for id_, hash_ in context.connection.execute(_TOKENS) if hmac.compare_digest(hash_, given)]
    return str(same[0]) if same else None


def token_hash(token: str) -> str:
    """What is kept of a token. It has 256 random bits, so that one round is enough."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def people(context: Context) -> list[str]:
    """The people in service, in the order of their ids."""
    rows = context.connection.execute("SELECT id FROM agents WHERE kind = 'human' AND active = 1 ORDER BY id")
    return [str(row[0]) for row in rows]


def _context(place: Work | Context) -> Context:
    found: Any = place
    context: Context = getattr(found, "context", found)
    return context


def speaker(place: Work | Context) -> str | None:
    """The person whose token the call came with, where it is in force; a terminal proves a person, not which one."""
    context = _context(place)
    enrolment = (context.proof or {}).get("enrolment")
    row = context.reader.one(_ENROLMENT, id=enrolment) if enrolment else None
    return str(row[0]) if row is not None and row[1] and row[2] else None


def is_person(place: Work | Context, agent_id: str) -> bool:
    """Whether the call came through a human channel of this very person. The step is then recorded with the channel."""
    context = _context(place)
    if _fault(context, agent_id) is not None:
        return False
    context.spoken = str((context.proof or {})["channel"])
    return True


def require(work: Work, agent: Agent, what: str) -> str:
    """The channel through which a person acts.

    Args:
        agent: who is said to act.
        what: the act, as the beginning of a sentence.

    Raises:
        Refused: HUMAN_REQUIRED, with the reason.
    """
    if agent.kind != "human":
        raise refusal(what, f"{agent.id} is no person", IN_THEIR_NAME)
    if not is_person(work, agent.id):
        raise refusal(what, _fault(work.context, agent.id))
    return str(work.context.spoken)


def refuse_bad_token(work: Work) -> None:
    """Refuse a call that came with a token which is not in force, whatever it was about.

    Raises:
        Refused: HUMAN_REQUIRED.
    """
    proof = work.context.proof or {}
    if proof.get("channel") == TOKEN and speaker(work) is None:
        raise refusal("Acting with a token", _fault(work.context, ""))


def refusal(what: str, why: str | None = None, way: str = WAYS) -> Refused:
    """The refusal of what only a person may do, where no human channel stands behind the call."""
    reason = why or "a name alone proves no person"
    return Refused("HUMAN_REQUIRED", f"{what} is a person's to do; {reason}.", way)


def _fault(context: Context, agent_id: str) -> str | None:
    """Why the call proves no person of this id; None where it does."""
    proof = context.proof
    if not proof:
        return "a name alone proves no person"
    if "fault" in proof:
        return _FAULTS.get(proof["fault"], "the human channel failed")
    agent = context.reader.agent(agent_id)
    if proof["channel"] != TOKEN:
        person = agent is not None and agent.kind == "human" and agent.active
        return None if person else f"{agent_id or 'nobody'} is no person in service"
    row = context.reader.one(_ENROLMENT, id=proof.get("enrolment"))
    if row is None or not row[2]:
        return _FAULTS["revoked" if row else "unknown"]
    if not row[1]:
        return _FAULTS["inactive"]
    return None if row[0] == agent_id else f"the token is {row[0]}'s, not {agent_id or 'theirs'}"


def person_named(work: Work, by: str | None, what: str) -> Agent:
    """The person who acts: the one that is named, else the token's, else the only one there is; proven by a channel.

    Raises:
        Refused: ACTOR_REQUIRED, UNKNOWN_AGENT, NOT_PERMITTED, HUMAN_REQUIRED.
    """
    from orchestrator.app.session import groups
    from orchestrator.store import next_reader

    agent = groups.actor(work, by or speaker(work) or next_reader.only_person(work.context.connection))
    require(work, agent, what)
    return agent


def enrol(context: Context, *, agent: str | None = None, by: str | None = None, at: str | None = None) -> Answer:
    """Give a person a token by which calls prove that they come from them. Any older token of theirs ends with it.

    Args:
        agent: the person; the only one there is where left out.
        by: the person who acts; the same one where left out.

    Returns:
        `enrolment`, and `token`, which is printed this once and kept nowhere.

    Raises:
        Refused: HUMAN_REQUIRED (it needs a terminal; a token gives no further token), UNKNOWN_AGENT, NOT_PERMITTED,
            ACTOR_REQUIRED.
    """
    import secrets

    from orchestrator.app.context import Call, perform

    token = TOKEN_MARK + secrets.token_urlsafe(TOKEN_BYTES)
    given = {"agent": agent, "by": by, "hash": token_hash(token)}
    call = Call("human enrol", STORE_CHAIN, by or agent or "", given, at=at)
    return {**perform(context, call, enrol_action), "token": token}


def enrol_action(work: Work) -> Answer:
    """Enrol; a replay calls it with a recorded event's input, which holds the token's hash alone."""
    given = work.call.input
    what = "Enrolling a person"
    actor = person_named(work, given.get("by") or given.get("agent"), what)
    if work.context.spoken != TERMINAL:
        raise refusal(what, "it needs a terminal, since a token gives no further token")
    person = work.reader.agent(given.get("agent") or actor.id)
    if person is None or not person.active or person.kind != "human":
        shown = names.shown(given.get("agent"))
        raise Refused("UNKNOWN_AGENT", f"There is no person {shown} in service.", "orchestrator agent list")
    id_ = f"H{work.seq}"
    work.actor = actor.id
    work.step.insert("human_tokens", id=id_, agent_id=person.id, hash=given["hash"], enrolled_at=work.at)
    return {"success": True, "enrolment": {"id": id_, "agent_id": person.id, "enrolled_at": work.at}, "seq": work.seq}


def enrolments(context: Context, agent: str) -> list[Answer]:
    """The enrolments of a person, the newest first; only that one is in force."""
    rows = context.connection.execute(ENROLMENTS, {"agent": agent}).fetchall()
    return [{"id": id_, "enrolled_at": at, "in_force": not place} for place, (id_, at) in enumerate(rows)]


def credential_of(data: bytes) -> Credential:
    """The credential that a token file holds.

    Raises:
        UsageError: USAGE, the file holds no text.
    """
    try:
        return Credential(TOKEN, data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise UsageError("USAGE", "The token file is no text.", "orchestrator human enrol") from None
