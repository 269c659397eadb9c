"""Whether a person stands behind a call, through which channel, and how much that proves.

A name proves nobody. What proves a person is found out before the step (`orchestrator.app.people.person_proof`) and
becomes part of its input: which channel, and of a token, passphrase or key which enrolment. So a replay needs neither a
terminal nor a secret, and no secret is kept anywhere.

Source: seed 003, Recommendations 2 (a person decides before the work goes on)
"""

from __future__ import annotations

from orchestrator.app.kernel import credentials
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.suggestions import suggest
from orchestrator.errors import InvalidInput, Refused
from orchestrator.hints import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from orchestrator.app.kernel.context import Context, Work
    from orchestrator.store.reader import Agent

TERMINAL, TOKEN, PAGE = "terminal", "token", "page"
PASSPHRASE, SSH_KEY = credentials.PASSPHRASE, credentials.SSH_KEY
NOTHING, WEAK, POSSESSION, STRONG = "nothing", "weak", "possession", "strong"
TOKEN_MARK = "orchestrator-human-"  # noqa: S105 - what every token begins with, so that one that leaks is known
WAYS = "A person repeats it at a terminal, or with --human-token-file FILE"
PROVEN = "A person repeats it at a terminal, with their passphrase or SSH key"
IN_THEIR_NAME = "A person repeats it in their own name (--by user), at a terminal or with --human-token-file FILE"
_NOT_ENOUGH = "a passphrase or SSH key is enrolled in this database, so {channel} proves nobody any more"
_CHANNELS = {TERMINAL: "a code typed at a terminal", TOKEN: "a token", PAGE: "a page opened without it"}
_FAULTS = {
    "no_terminal": "not running in a terminal (stdin and stderr), so nobody can confirm it",
    "agent": "this environment belongs to an agent: {sign} is set",
    "agent_above": "an agent's program is among the processes that started this one ({sign})",
    "executor": "the call comes from what an executor has started",
    "code": "the code that was shown was not typed",
    "empty": "the token file is empty",
    "unknown": "this token was never given out",
    "revoked": "the token was replaced by a newer one",
    "ended": "the token, passphrase or key was removed or reset",
    "inactive": "the person of the token was deactivated",
    "token": "a token is enrolled, and this needs it: add --human-token-file FILE",
    "passphrase": "the passphrase is wrong",
    "signature": "the signature is not one of the enrolled key for this challenge",
    "unsigned": "the challenge was not signed: ssh-keygen found no private half of the enrolled key"
    " (load it into ssh-agent, or name its file in ORCHESTRATOR_SSH_KEY)",
    "not_enrolled": "this person has no passphrase or SSH key, and others have: someone who has one must enrol them",
    "paused": "there were too many wrong attempts; wait 15 minutes",
}
_NAME_ALONE = "a name alone proves no person"
_REWORDED = (
    (_NAME_ALONE, "a name alone is no proof"),
    (" is no person in service", " is not an active person"),
    (" is no person", " is not a person"),
    ("proves nobody any more", "no longer counts"),
    ("the call comes from what an executor has started", "the call comes from a process that an executor started"),
    ("the code that was shown was not typed", "the code shown was not typed"),
    ("this token was never given out", "this token is unknown"),
    ("there were too many wrong attempts", "too many wrong attempts"),
)
"""Recorded words, and what is shown instead."""
_EARLIER = {
    "no_terminal": "stdin and stderr are no terminal, where a person could confirm it",
    "agent": "the environment is an agent's (CLAUDECODE or ORCHESTRATOR_AGENT is set)",
    "unknown": "the token is none that was given out",
    "inactive": "the person of the token is out of service",
}
"""Words of earlier versions, which a replay of their refusals has to find again; their events name no `proof`."""
_ENROLMENT = """SELECT t.agent_id, a.active, t.id = (SELECT n.id FROM human_tokens n INDEXED BY ix_human_tokens_agent
    WHERE n.agent_id = t.agent_id ORDER BY n.seq DESC LIMIT 1)
    FROM human_tokens t JOIN agents a ON a.id = t.agent_id WHERE t.id = :id"""
_HASHES = "SELECT id, hash FROM human_tokens ORDER BY seq"


class Credential(NamedTuple):
    """What was found of a person: through which channel, and what it rests on, or why it proves nobody.

    token: the text of a token, which is looked up when the step begins. enrolment: the passphrase or key that was
    proven. link: the link by which a page was opened. fault: a key of the known faults.
    """

    channel: str
    token: str | None = None
    fault: str | None = None
    enrolment: str | None = None
    link: str | None = None

    def __repr__(self) -> str:
        """Without the token, which no output may show."""
        return f"Credential({self.channel})"


def wanted(context: Context, words: str, given: dict[str, Any]) -> bool:
    """Whether a door should ask for a person: a person is named, or the operation is a person's anyway."""
    from orchestrator.app.kernel import operations

    by = given.get("by")
    agent = context.reader.agent(by) if by else None
    return words in operations.PERSONS if agent is None else agent.kind == "human"


def found(context: Context, credential: Credential) -> dict[str, str]:
    """What of a credential becomes part of the step's input; never a secret."""
    proof = {"channel": credential.channel}
    fault, enrolment = credential.fault, credential.enrolment
    if fault is None and credential.channel == TOKEN:
        token = (credential.token or "").strip()
        enrolment = _enrolment_of(context, token) if token else None
        fault = None if enrolment else ("unknown" if token else "empty")
    if fault is not None:
        return {**proof, "fault": fault, "proof": NOTHING}
    if enrolment is not None:
        proof["enrolment"] = enrolment
    elif credential.link is not None:
        proof["link"] = credential.link
    return {**proof, "proof": _strength(context, proof)}


def _strength(context: Context, proof: dict[str, str]) -> str:
    """How much a channel proves: a link as much as that through which it was made."""
    channel = proof["channel"]
    if "link" in proof:
        return WEAK if credentials.link_channel(context, proof["link"]) == TERMINAL else POSSESSION
    if channel in (TOKEN, TERMINAL):
        return POSSESSION if channel == TOKEN else WEAK
    return STRONG if "enrolment" in proof else POSSESSION


def _enrolment_of(context: Context, token: str) -> str | None:
    """The enrolment of a token; every one is compared, each in constant time."""
    import hmac

    given = credentials.hashed(token)
    same = [id_ for id_, hash_ in context.connection.execute(_HASHES) if hmac.compare_digest(hash_, given)]
    return str(same[0]) if same else None


def people(context: Context) -> list[str]:
    """The people in service, in the order of their ids."""
    rows = context.connection.execute("SELECT id FROM agents WHERE kind = 'human' AND active = 1 ORDER BY id")
    return [str(row[0]) for row in rows]


def _context(place: Work | Context) -> Context:
    found: Any = place
    context: Context = getattr(found, "context", found)
    return context


def speaker(place: Work | Context) -> str | None:
    """The person whom the call's token, passphrase or key proves, while that is in force.

    A terminal's code proves a person, not which one.
    """
    context = _context(place)
    proof = context.proof or {}
    enrolment = proof.get("enrolment")
    if enrolment is None:
        return None
    known = credentials.strong(context)
    if known or proof["channel"] != TOKEN:
        return next((each.agent for each in known if each.id == enrolment), None)
    return next((each.agent for each in credentials.tokens(context) if each.id == enrolment), None)


def is_person(place: Work | Context, agent_id: str) -> bool:
    """Whether the call came through a human channel of this very person. The step is then recorded with the channel."""
    context = _context(place)
    if fault_of(context, agent_id) is not None:
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
        raise refusal(what, fault_of(work.context, agent.id), _way(work.context))
    return str(work.context.spoken)


def require_terminal(work: Work, what: str) -> None:
    """Require a code typed at a terminal, whatever is enrolled.

    Raises:
        Refused: HUMAN_REQUIRED.
    """
    proof = work.context.proof or {}
    if proof.get("channel") != TERMINAL or "fault" in proof:
        reason = why(proof["fault"]) if "fault" in proof else "it needs a code typed at a terminal"
        raise refusal(what, reason, "A person repeats it at a terminal of their own")
    work.context.spoken = TERMINAL


def refuse_bad_token(work: Work) -> None:
    """Refuse a call that came with a token which proves nobody now, whatever it was about.

    Raises:
        Refused: HUMAN_REQUIRED.
    """
    proof = work.context.proof or {}
    if proof.get("channel") == TOKEN and speaker(work) is None:
        raise refusal("Acting with a token", fault_of(work.context, ""), _way(work.context))


def _way(context: Context) -> str:
    return PROVEN if credentials.strong(context) else WAYS


def refusal(what: str, why: str | None = None, way: str = WAYS) -> Refused:
    """The refusal of what only a person may do, where no human channel stands behind the call."""
    reason = plain = why or _NAME_ALONE
    for recorded, said in _REWORDED:
        plain = plain.replace(recorded, said)
    told = f"{what} is reserved for a person; {plain}."
    return Refused("HUMAN_REQUIRED", told, way, _recorded=f"{what} is a person's to do; {reason}.")


def why(fault: str) -> str:
    """Why a credential proves nobody, in words.

    Args:
        fault: a key of the known ones, and behind a blank the sign by which an agent was known.
    """
    kind, _, sign = fault.partition(" ")
    return _FAULTS.get(kind, "the human channel failed").format(sign=sign or "CLAUDECODE or ORCHESTRATOR_AGENT")


def is_earlier(work: Work) -> bool:
    """Whether the step is the replay of one that a version without passphrases and keys has recorded."""
    return "proof" not in (work.context.proof or {"proof": NOTHING})


def _said(proof: Any, fault: str) -> str:
    return _EARLIER[fault] if "proof" not in proof and fault in _EARLIER else why(fault)


def fault_of(context: Context, agent_id: str) -> str | None:
    """Why the call proves no person of this id; None where it does."""
    proof = context.proof
    if not proof:
        return _NAME_ALONE
    if "fault" in proof:
        return _said(proof, proof["fault"])
    known = credentials.strong(context)
    if known or proof["channel"] in (PASSPHRASE, SSH_KEY):
        return _fault_of_strong(proof, known, agent_id)
    if proof["channel"] == TOKEN:
        return _fault_of_token(context, proof, agent_id)
    return _fault_of_presence(context, agent_id)


def _fault_of_strong(proof: Any, known: list[credentials.Strong], agent_id: str) -> str | None:
    """Why a passphrase or key proves no person of this id, or why what came is not one."""
    whose = next((each.agent for each in known if each.id == proof.get("enrolment")), None)
    if whose is not None:
        return None if whose == agent_id else f"the proof is {whose}'s, not {agent_id or 'theirs'}"
    if proof["channel"] in (PASSPHRASE, SSH_KEY) or (proof["channel"] == PAGE and "enrolment" in proof):
        return _FAULTS["ended"]
    return _NOT_ENOUGH.format(channel=_CHANNELS.get(proof["channel"], "this"))


def _fault_of_token(context: Context, proof: Any, agent_id: str) -> str | None:
    """Why a token proves no person of this id."""
    row = context.reader.one(_ENROLMENT, id=proof.get("enrolment"))
    if row is None or not row[2]:
        return _said(proof, "revoked" if row else "unknown")
    if not row[1]:
        return _said(proof, "inactive")
    if all(each.id != proof["enrolment"] for each in credentials.tokens(context)):
        return _FAULTS["ended"]
    return None if row[0] == agent_id else f"the token is {row[0]}'s, not {agent_id or 'theirs'}"


def _fault_of_presence(context: Context, agent_id: str) -> str | None:
    """Why a terminal's code or a page, which proves that somebody is there, proves no person of this id."""
    agent = context.reader.agent(agent_id)
    person = agent is not None and agent.kind == "human" and agent.active
    return None if person else f"{agent_id or 'nobody'} is no person in service"


def credential_of(data: bytes) -> Credential:
    """The credential that a token file holds.

    Raises:
        InvalidInput: FILE_INVALID, the file holds no text.
    """
    try:
        return Credential(TOKEN, data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise InvalidInput("FILE_INVALID", "The token file is not UTF-8 text.", suggest("human enrol")) from None
