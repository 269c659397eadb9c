"""Giving and taking away what proves people: tokens, passphrases, SSH keys, links; and starting over when one is lost.

What gives or takes away a proof needs the best one that there is: a passphrase or key where one is enrolled, else a
token where one is in force, else a code at a terminal. Whoever comes first may be an agent, so every verdict lists what
was enrolled, when and through which channel.
"""

from __future__ import annotations

from orchestrator import files
from orchestrator.app.kernel import actors, credentials, durations, human, operations
from orchestrator.app.kernel.context import Answer, Context, Work, call_of, perform
from orchestrator.app.kernel.credentials import LINK, PASSPHRASE, REMOVAL, RESET_ROW, SSH_KEY, USE
from orchestrator.app.kernel.requests import Request
from orchestrator.app.people import person_proof
from orchestrator.app.people.requests import EnrolProof, MakeSignInLink, RemoveProof, ResetProofs
from orchestrator.core import names
from orchestrator.core.suggestions import local, sentence, suggest
from orchestrator.errors import EnvironmentProblem, Refused, UsageError
from orchestrator.hints import Any
from orchestrator.store import sqlite
from orchestrator.store.constants import STORE_CHAIN
from orchestrator.store.reader import Agent

TOKEN_BYTES = 32
_OF_PERSON = """SELECT t.id, t.agent_id, t.kind, EXISTS (SELECT 1 FROM human_credentials e WHERE e.ends = t.id)
    FROM human_credentials t WHERE t.id = :id AND t.kind IN ('passphrase', 'ssh-key', 'reset')
    UNION ALL SELECT t.id, t.agent_id, 'token', EXISTS (SELECT 1 FROM human_credentials e WHERE e.ends = t.id)
    FROM human_tokens t WHERE t.id = :id"""
_SINCE = """SELECT t.created_at, e.channel FROM human_credentials t JOIN audit_events e
    ON e.session_id = :chain AND e.seq = t.seq WHERE t.id = :id
    UNION ALL SELECT t.enrolled_at, e.channel FROM human_tokens t JOIN audit_events e
    ON e.session_id = :chain AND e.seq = t.seq WHERE t.id = :id"""


def enrol(context: Context, request: EnrolProof) -> Answer:
    """Enrol what proves a person: a token, or with `passphrase` or `ssh_key` what only they know or hold.

    A new token or passphrase of a person replaces their older one; they may have several keys.

    Returns:
        `enrolment`, `proof`, and for a token `token`, which is printed this once and kept nowhere.

    Raises:
        Refused: HUMAN_REQUIRED (also: the old proof is needed), UNKNOWN_AGENT, NOT_PERMITTED, ACTOR_REQUIRED.
        UsageError: USAGE, both kinds at once, a file without a key, passphrases that differ or are too short.
    """
    ssh_key = request.ssh_key
    if request.passphrase and ssh_key is not None:
        raise UsageError("USAGE", "Enrol a passphrase or an SSH key, one at a time.", suggest("human enrol", help=True))
    given: dict[str, str | None] = {}
    line = _public_key(ssh_key) if ssh_key is not None else None
    token = None
    if request.passphrase or ssh_key is not None:
        # Nobody is asked for a new proof who has not given the old one (PPL-4).
        if context.credential is not None and context.credential.fault is None:
            given |= _new_key(context, line, ssh_key) if ssh_key is not None else _new_passphrase(context)
        else:
            given |= {"kind": SSH_KEY if ssh_key is not None else PASSPHRASE}
    else:
        import secrets

        token = human.TOKEN_MARK + secrets.token_urlsafe(TOKEN_BYTES)
        # Only the hash enters the step, since the input of a step is kept for good (PPL-1).
        given["hash"] = credentials.hashed(token)
    found = operations.carry_out(context, KeepProof(agent=request.agent, by=request.by, **given))
    # Added after the step, so that no stored answer holds the token (PPL-4).
    return found if token is None else {**found, "token": token}


class _Kept(Request):
    """What is kept of a person's proof; `agent` is whom it proves, `by` who acts."""

    agent: str | None
    by: str | None

    @property
    def actor(self) -> str:
        """Who acts; else the person."""
        return super().actor or self.agent or ""


class KeepProof(_Kept, event=credentials.ENROL, use_case="people.enrolment:keep"):
    """Enrol what proves a person; only hashes and public keys.

    Attributes:
        kind: a passphrase or an SSH key; None for a token, of which `hash` is the SHA-256.
        passphrase: its verifier. ssh_key: the public key, which was read from `source`.
    """

    kind: str | None = None
    hash: str | None = None
    passphrase: str | None = None
    ssh_key: str | None = None
    source: str | None = None


def keep(work: Work, request: KeepProof) -> Answer:
    """The step that enrols a proof."""
    what = "Enrolling a person"
    proven = None if human.is_earlier(work) else human.speaker(work)
    actor = actors.person_named(work, request.by or proven or request.agent, what)
    _require_best(work, what)
    person = _person(work, request.agent or actor.id)
    work.actor = actor.id
    if request.hash is not None:
        return _enrol_token(work, person, request.hash)
    kind = str(request.kind)
    verifier = request.passphrase if kind == PASSPHRASE else request.ssh_key
    old = [each for each in credentials.strong(work.context) if (each.agent, each.kind) == (person.id, kind)]
    # No two passphrases are kept alike, since each has a salt of its own.
    if any(each.verifier == verifier for each in old):
        raise Refused("ALREADY_EXISTS", f"This key of {person.id} is enrolled already.", suggest("human list"))
    replaced = old[0].id if old and kind == PASSPHRASE else None
    id_ = _insert(work, person.id, kind, verifier=verifier, source=request.source, ends=replaced)
    return _enrolled(work, id_, person.id, kind)


def _enrol_token(work: Work, person: Agent, hash_: str) -> Answer:
    if credentials.strong(work.context):
        raise Refused(
            "NOT_PERMITTED",
            "Tokens do not count while a passphrase or SSH key is enrolled, so none was created.",
            suggest("human link"),
            _recorded="A token proves nobody while a passphrase or SSH key is enrolled, so none is given out.",
        )
    id_ = f"H{work.seq}"
    work.step.insert("human_tokens", id=id_, agent_id=person.id, hash=hash_, enrolled_at=work.at)
    return _enrolled(work, id_, person.id, human.TOKEN)


def _enrolled(work: Work, id_: str, person: str, kind: str) -> Answer:
    row = {"id": id_, "agent_id": person, "kind": kind, "enrolled_at": work.at}
    return {"success": True, "enrolment": row, "seq": work.seq}


def _require_best(work: Work, what: str) -> None:
    """Refuse a weaker proof than a token where one is in force. While a passphrase or key is, nothing weaker gets here.

    Earlier versions wanted a terminal instead, and a replay of theirs still does.

    Raises:
        Refused: HUMAN_REQUIRED.
    """
    if human.is_earlier(work):
        if work.context.spoken != human.TERMINAL:
            raise human.refusal(what, "it needs a terminal, since a token gives no further token")
        return
    if not credentials.strong(work.context) and credentials.tokens(work.context) and work.context.spoken != human.TOKEN:
        raise human.refusal(what, "a token is enrolled, and this needs it", "Repeat with --human-token-file FILE")


def _person(work: Work, id_: str) -> Agent:
    person = work.reader.agent(id_)
    if person is None or not person.active or person.kind != "human":
        raise Refused(
            "UNKNOWN_AGENT",
            f"There is no active person {names.shown(id_)}.",
            suggest("agent list"),
            _recorded=f"There is no person {names.shown(id_)} in service.",
        )
    return person


def _insert(work: Work, agent: str, kind: str, **more: Any) -> str:
    id_ = f"C{work.seq}"
    work.step.insert("human_credentials", id=id_, agent_id=agent, kind=kind, created_at=work.at, **more)
    return id_


def _new_passphrase(context: Context) -> Answer:
    """Ask for a passphrase twice.

    Raises:
        UsageError: USAGE, there is no terminal, it is too short, or the two differ.
    """
    again = suggest("human enrol", passphrase=True)
    if person_proof.unfit(context) is not None:
        raise UsageError("USAGE", "A passphrase must be typed at a terminal of your own; this is not one.", again)
    first = context.surroundings.read_hidden("New passphrase: ") or ""
    if len(first) < credentials.SHORTEST:
        raise UsageError("USAGE", f"A passphrase needs at least {credentials.SHORTEST} characters.", again)
    if first != context.surroundings.read_hidden("Repeat the new passphrase:  "):
        raise UsageError("USAGE", "The two passphrases differ; nothing was enrolled.", again)
    return {"kind": PASSPHRASE, "passphrase": credentials.of_passphrase(first)}


def _public_key(file: str) -> str:
    """The public key of a file.

    Raises:
        UsageError: USAGE, it holds none. EnvironmentProblem: FILE_UNREADABLE. InvalidInput: FILE_INVALID.
    """
    again = suggest("human enrol", ssh_key="FILE.pub")
    try:
        text = files.text(file, credentials.LONGEST_KEY_FILE)
    except files.Unreadable as problem:
        raise files.refused(problem, f"--ssh-key: {names.shown(file)}", again) from None
    if "PRIVATE KEY" in text:
        what = "--ssh-key takes the public key (the file that ends in .pub), never the private one."
        raise UsageError("USAGE", what, again)
    line = credentials.public_key(text)
    if line is None:
        what = sentence("--ssh-key: {} does not hold one OpenSSH public key.", local(names.shown(file)))
        raise UsageError("USAGE", what, again)
    return line


def _new_key(context: Context, line: str | None, file: str | None) -> Answer:
    """Have a challenge signed with a new key, so that none is enrolled which nobody can use.

    Raises:
        UsageError: USAGE, no good signature came.
    """
    import os

    key, source = str(line), os.path.abspath(str(file))
    text = f"{person_proof.challenge('enrol this SSH key')}\n"
    around = context.surroundings
    signed = around.sign(key, source, text, person_proof.NAMESPACE) if around is not None else None
    if signed is None or not around.verify(key, text, signed, person_proof.NAMESPACE):
        what = "The key was not enrolled: ssh-keygen found no matching private key, next to the file or in ssh-agent."
        raise UsageError("USAGE", what, sentence("ssh-add FILE, then {}", suggest("human enrol", ssh_key="FILE.pub")))
    return {"kind": SSH_KEY, "ssh_key": key, "source": source}


def remove(work: Work, request: RemoveProof) -> Answer:
    """Take a proof of one's own away, or a reset that does not count yet.

    Returns:
        `removed`, and `proof`.

    Raises:
        Refused: HUMAN_REQUIRED, UNKNOWN_ID, NOT_PERMITTED (another person's), ALREADY_RESOLVED.
    """
    what = "Removing a proof"
    actor = actors.person_named(work, request.by, what)
    _require_best(work, what)
    work.actor = actor.id
    row: Any = work.reader.one(_OF_PERSON, id=request.id)
    if row is None:
        raise Refused(
            "UNKNOWN_ID", f"There is no enrolment {names.shown(request.id)}.", suggest("human list"),
            kind="enrolment",
        )
    id_, whose, kind, ended = row
    # A reset is nobody's own proof, so any proven person may stop it (PPL-6).
    if whose != actor.id and kind != RESET_ROW:
        raise Refused(
            "NOT_PERMITTED",
            f"Only {whose} may remove {id_}.",
            suggest("human list"),
            _recorded=f"{id_} is {whose}'s, who alone may remove it.",
        )
    if ended:
        raise Refused(
            "ALREADY_RESOLVED",
            f"{id_} has already been removed or replaced.",
            suggest("human list"),
            _recorded=f"{id_} was removed or replaced already.",
        )
    _insert(work, whose, REMOVAL, ends=id_)
    return {"success": True, "removed": {"id": id_, "agent_id": whose, "kind": kind}, "seq": work.seq}


def reset(context: Context, request: ResetProofs) -> Answer:
    """Start over for a person who has lost their token, passphrase or key: an hour later all of theirs have ended.

    It needs a code at a terminal, and that no other process has the database open. Within the hour whoever has the old
    proof may stop it with `human remove`. Every later verdict mentions it.

    Returns:
        `reset` with `id`, `agent_id`, `counts_from`; and `proof`.

    Raises:
        Refused: HUMAN_REQUIRED, ILLEGAL_MOVE (nothing is enrolled), ALREADY_EXISTS (one is under way).
        EnvironmentProblem: BUSY, another process has the database open.
    """
    # Outside the step: SQLite tells it by leaving WAL mode, which it never does within a transaction (PPL-7).
    if context.credential is not None and context.credential.fault is None and not sqlite.is_alone(context.connection):
        what = "A reset needs exclusive access, but another process has the database open."
        raise EnvironmentProblem("BUSY", what, sentence("Stop servers and agents, then: {}", suggest("human reset")))
    return operations.carry_out(context, request)

def start_over(work: Work, request: ResetProofs) -> Answer:
    """The step that begins a reset."""
    from orchestrator.store import next_reader

    context = work.context
    actor = actors.actor(work, request.agent or next_reader.only_person(context.connection))
    person = _person(work, actor.id)
    human.require_terminal(work, "Resetting what proves a person")
    strong, tokens = credentials.strong(context), credentials.tokens(context)
    if person.id not in {*(each.agent for each in strong), *(each.agent for each in tokens)}:
        raise Refused(
            "ILLEGAL_MOVE",
            f"Nothing is enrolled for {person.id}, so there is nothing to reset.",
            suggest("human enrol", passphrase=True),
            _recorded=f"Nothing is enrolled for {person.id}, so nothing can be lost.",
        )
    known = next((each for each in credentials.pending(context) if each["agent_id"] == person.id), None)
    if known is not None:
        raise Refused(
            "ALREADY_EXISTS", f"Reset {known['id']} of {person.id} counts from {known['counts_from']}.",
            suggest("human list"),
        )
    due = durations.later(work.at, credentials.RESET_S)
    id_ = _insert(work, person.id, RESET_ROW, due_at=due)
    return {"success": True, "reset": {"id": id_, "agent_id": person.id, "counts_from": due}, "seq": work.seq}


def link(context: Context, request: MakeSignInLink) -> Answer:
    """Make a link by which one browser comes in once, to a server that has this database.

    Returns:
        `link` with `id`, `agent_id`, `expires_at`; `url`, which is printed this once; and `proof`.

    Raises:
        Refused: HUMAN_REQUIRED, NOT_PERMITTED, UNKNOWN_AGENT. UsageError: USAGE, no address.
    """
    import secrets

    if not request.url.startswith(("http://", "https://")):
        what = "--url is the server's address, such as http://127.0.0.1:8765."
        raise UsageError("USAGE", what, suggest("human link"))
    code = secrets.token_urlsafe(TOKEN_BYTES)
    kept = KeepLink(agent=request.agent, by=request.by, hash=credentials.hashed(code))
    found = operations.carry_out(context, kept)
    return {**found, "url": f"{request.url.rstrip('/')}/open/{code}"}


class KeepLink(_Kept, event=credentials.NEW_LINK, use_case="people.enrolment:keep_link"):
    """Make a link for a person, of which the record holds the hash alone."""

    hash: str


def keep_link(work: Work, request: KeepLink) -> Answer:
    """The step that makes a link."""
    what = "Making a link"
    actor = actors.person_named(work, request.by or human.speaker(work) or request.agent, what)
    _require_best(work, what)
    work.actor = actor.id
    if request.agent not in (None, actor.id):
        raise Refused(
            "NOT_PERMITTED",
            f"People can create sign-in links only for themselves, and {actor.id} is acting here.",
            "Leave --by out",
            _recorded=f"A link is made by the person whom it lets in, and {actor.id} acts here.",
        )
    known = {each.id for each in credentials.strong(work.context)}
    # A link proves no more than was proven when it was made (PPL-3).
    rests_on = (work.context.proof or {}).get("enrolment")
    due = durations.later(work.at, credentials.LINK_S)
    id_ = _insert(
        work, actor.id, LINK, verifier=request.hash, due_at=due, rests_on=rests_on if rests_on in known else None
    )
    return {"success": True, "link": {"id": id_, "agent_id": actor.id, "expires_at": due}, "seq": work.seq}


def use_link(context: Context, code: str) -> human.Credential | None:
    """Use a link up that `human link` made.

    Returns:
        What the page that it opens proves; None where the link was used, has ended, or is none.
    """
    found = credentials.link(context, code)
    if found is None or not found.is_good:
        return None
    # The proof of a page opened by it is that of the link, which this step does not need itself.
    before, context.credential = context.credential, None
    try:
        call = call_of(UseLink(link=found.id))._replace(actor=found.agent)
        perform(context, call, operations.action(credentials.OPEN))
    except Refused:
        return None
    finally:
        context.credential = before
    return human.Credential(human.PAGE, enrolment=found.rests_on, link=found.id)


class UseLink(Request, event=credentials.OPEN, use_case="people.enrolment:use_up"):
    """Use a link up, by its id; who does so is the person whom it lets in."""

    link: str


def use_up(work: Work, request: UseLink) -> Answer:
    """Use a link up.

    Raises:
        Refused: ALREADY_RESOLVED, somebody was faster.
    """
    id_ = request.link
    row: Any = work.reader.one("SELECT agent_id FROM human_credentials WHERE id = :id", id=id_)
    if work.reader.one("SELECT 1 FROM human_credentials WHERE ends = :id", id=id_) is not None:
        raise Refused(
            "ALREADY_RESOLVED",
            f"Link {id_} has already been used.",
            suggest("human link"),
            _recorded=f"Link {id_} was used up already.",
        )
    _insert(work, row[0], USE, ends=id_)
    return {"success": True, "seq": work.seq}


def status(context: Context) -> Answer:
    """What is enrolled: for each person their proofs in force, the resets under way, and what a person needs now.

    Returns:
        `people` with `id` and `enrolments`; `pending_resets`; `needs`: `strong`, `possession` or `weak`.
    """
    strong, tokens = credentials.strong(context), credentials.tokens(context)
    rows = [(each.agent, each.id, each.kind) for each in strong]
    rows += [(each.agent, each.id, human.TOKEN) for each in tokens if not strong]
    people = [
        {"id": person, "enrolments": [_shown(context, id_, kind) for whose, id_, kind in rows if whose == person]}
        for person in human.people(context)
    ]
    return {
        "success": True, "people": people, "pending_resets": credentials.pending(context),
        "needs": human.STRONG if strong else human.WEAK,
    }


def _shown(context: Context, id_: str, kind: str) -> Answer:
    row: Any = context.reader.one(_SINCE, id=id_, chain=STORE_CHAIN)
    return {"id": id_, "kind": kind, "enrolled_at": row[0], "channel": row[1]}
