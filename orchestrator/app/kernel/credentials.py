"""What proves people, as it is on record: passphrases, SSH keys, tokens and links, and which of them are in force.

A passphrase is kept as its scrypt hash, a key as its public half, a token or link as a SHA-256 hash; what they prove is
judged at the time of the step that asks. Rows are only added: a removal, a use or a reset is a row that ends others.

Source: RFC 7914 (scrypt), OpenSSH PROTOCOL.sshsig
"""

from __future__ import annotations

import os

from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.suggestions import sentence, suggest
from orchestrator.hints import TYPE_CHECKING, Any
from orchestrator.store.constants import STORE_CHAIN

if TYPE_CHECKING:
    from orchestrator.app.kernel.context import Answer, Context

PASSPHRASE, SSH_KEY, REMOVAL, RESET_ROW, LINK, USE = "passphrase", "ssh-key", "removal", "reset", "link", "use"
ENROL, REMOVE, RESET, NEW_LINK, OPEN, VERIFY = (
    "human enrol", "human remove", "human reset", "human link", "human open", "human verify",
)  # fmt: skip
NEED_OLD_PROOF = (ENROL, REMOVE, NEW_LINK)
"""Operations that need a token where one is in force: what gives or takes away a proof needs the best that there is."""
RESET_S = 3600
"""Seconds after which a reset counts."""
LINK_S = 900
"""Seconds for which a link is good."""
KEY_VARIABLE = "ORCHESTRATOR_SSH_KEY"
"""Names the file of a person's key, where that has moved. It says where to look and proves nothing."""
LONGEST_KEY_FILE = 64 * 1024
"""Bytes of the largest file that is read for a public key."""
SHORTEST = 8
"""Characters of the shortest passphrase."""
COST, BLOCK, PARALLEL = 2**17, 8, 1
"""Of scrypt: 128 MiB and some tenths of a second for each try."""
_MEMORY = 256 * 1024 * 1024
_SALT_BYTES, _HASH_BYTES = 16, 32

_DUE = """EXISTS (SELECT 1 FROM human_credentials r WHERE r.kind = 'reset' AND r.agent_id = t.agent_id AND r.seq > t.seq
    AND r.due_at <= :at AND NOT EXISTS (SELECT 1 FROM human_credentials x WHERE x.ends = r.id))"""
_ENDED = "EXISTS (SELECT 1 FROM human_credentials e WHERE e.ends = t.id)"
_STRONG = f"""SELECT t.id, t.agent_id, t.kind, t.verifier, t.source FROM human_credentials t
    JOIN agents a ON a.id = t.agent_id AND a.active = 1 AND a.kind = 'human'
    WHERE t.kind IN ('passphrase', 'ssh-key') AND NOT {_ENDED} AND NOT {_DUE} ORDER BY t.seq"""
_TOKENS = f"""SELECT t.id, t.agent_id, t.hash FROM human_tokens t
    JOIN agents a ON a.id = t.agent_id AND a.active = 1 AND a.kind = 'human'
    WHERE NOT {_ENDED} AND NOT {_DUE} AND NOT EXISTS (SELECT 1 FROM human_tokens n
        INDEXED BY ix_human_tokens_agent WHERE n.agent_id = t.agent_id AND n.seq > t.seq) ORDER BY t.seq"""
_PENDING = f"""SELECT t.id, t.agent_id, t.created_at, t.due_at FROM human_credentials t
    WHERE t.kind = 'reset' AND NOT {_ENDED} AND t.due_at > :at ORDER BY t.seq"""
_LINK = f"""SELECT t.id, t.agent_id, t.rests_on, t.due_at > :at AND NOT {_ENDED}, e.channel FROM human_credentials t
    JOIN audit_events e ON e.session_id = :chain AND e.seq = t.seq WHERE t.kind = 'link' AND t.verifier = :hash"""
_LINK_CHANNEL = """SELECT e.channel FROM human_credentials t JOIN audit_events e ON e.session_id = :chain
    AND e.seq = t.seq WHERE t.id = :id AND t.kind = 'link'"""
_WRONG = f"""SELECT count(*) FROM audit_events WHERE session_id = :chain AND kind = 'refusal' AND at > :since
    AND json_extract(input, '$.call') = '{VERIFY}'"""


_KINDS = ((_STRONG, "strong"), (_TOKENS, "token"))
PROVES = {
    "strong": "A passphrase or SSH key is enrolled, and every act reserved for a person needs one. That holds against"
    " an agent with a shell. It does not hold against a program that controls this user account: that could replace"
    " this program, read its memory, use a key that ssh-agent offers without confirmation, or rewrite the database"
    " (audit verify detects that).",
    "token": sentence(
        "A token is enrolled: it proves that somebody has its file, which an agent of the same user account may be"
        " able to read. A code typed at a terminal is accepted as well, and proves less (proof: weak). Stronger: {}",
        suggest("human enrol", passphrase=True),
    ),
    "nothing": sentence(
        "Nothing is enrolled: a code typed at a terminal counts as a person (proof: weak). An agent with a shell can"
        " open a terminal of its own, hide that it is one, and type the code. Stronger: {}",
        suggest("human enrol", passphrase=True),
    ),
}
"""What proves a person in a database, by the best that is enrolled."""
_ENROLLED = "SELECT id, enrolled_at FROM human_tokens INDEXED BY ix_human_tokens_agent WHERE agent_id = :agent" + (
    " ORDER BY seq DESC"
)


class Strong(NamedTuple):
    """A passphrase or key that is in force. `source` is the file of a key, as it was named at the enrolment."""

    id: str
    agent: str
    kind: str
    verifier: str
    source: str | None


class Token(NamedTuple):
    """A token that is in force."""

    id: str
    agent: str
    hash: str


class Link(NamedTuple):
    """A link that `human link` made: whose, on which passphrase or key it rests, whether it is still good."""

    id: str
    agent: str
    rests_on: str | None
    is_good: bool
    channel: str


def now(context: Context) -> str:
    """The time of the step under way, else of this moment."""
    return context.at or context.clock()


def strong(context: Context) -> list[Strong]:
    """The passphrases and keys in force, the oldest first. While there is one, nothing else proves a person."""
    return [Strong(*row) for row in context.connection.execute(_STRONG, {"at": now(context)})]


def proven(connection: Any, at: str) -> str:
    """What a person has to prove at a time, and what that does not prove, in plain words."""
    given = {"at": at}
    kind = next((kind for sql, kind in _KINDS if connection.execute(sql, given).fetchone() is not None), "nothing")
    waiting = [f" Reset {row[0]} counts from {row[3]}." for row in connection.execute(_PENDING, given)]
    return PROVES[kind] + "".join(waiting)


def tokens(context: Context) -> list[Token]:
    """The tokens in force, the oldest first."""
    return [Token(*row) for row in context.connection.execute(_TOKENS, {"at": now(context)})]


def pending(context: Context) -> list[Answer]:
    """The resets that do not count yet."""
    names = ("id", "agent_id", "asked_at", "counts_from")
    rows = context.connection.execute(_PENDING, {"at": now(context)})
    return [dict(zip(names, row, strict=True)) for row in rows]


def link(context: Context, code: str) -> Link | None:
    """The link of a code, used up or not; None where there is none."""
    given = {"at": now(context), "chain": STORE_CHAIN, "hash": hashed(code)}
    row: Any = context.connection.execute(_LINK, given).fetchone()
    return None if row is None else Link(row[0], row[1], row[2], bool(row[3]), row[4])


def link_channel(context: Context, id_: str) -> str | None:
    """The channel through which a link was made; None where there is no such link."""
    row = context.connection.execute(_LINK_CHANNEL, {"chain": STORE_CHAIN, "id": id_}).fetchone()
    return None if row is None else str(row[0])


def wrong_since(context: Context, seconds: int) -> int:
    """How many wrong passphrases and signatures were given in the last seconds."""
    from orchestrator.app.kernel import durations

    given = {"chain": STORE_CHAIN, "since": durations.later(now(context), -seconds)}
    return int(context.connection.execute(_WRONG, given).fetchone()[0])


def hashed(secret: str) -> str:
    """What is kept of a token or link. It has 256 random bits, so that one round is enough."""
    import hashlib

    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def of_passphrase(typed: str) -> str:
    """What is kept of a passphrase: `scrypt$N$r$p$salt$hash`, both in hexadecimal."""
    import secrets

    salt = secrets.token_bytes(_SALT_BYTES)
    return f"scrypt${COST}${BLOCK}${PARALLEL}${salt.hex()}${_scrypt(typed, salt, COST, BLOCK, PARALLEL).hex()}"


def is_passphrase(typed: str, verifier: str) -> bool:
    """Whether a passphrase is the one that a verifier was made of, compared in constant time."""
    import hmac

    _, cost, block, parallel, salt, kept = verifier.split("$")
    found = _scrypt(typed, bytes.fromhex(salt), int(cost), int(block), int(parallel))
    return hmac.compare_digest(found, bytes.fromhex(kept))


def _scrypt(typed: str, salt: bytes, cost: int, block: int, parallel: int) -> bytes:
    import hashlib
    import unicodedata

    # Keyboards make some letters of one or of two characters.
    text = unicodedata.normalize("NFC", typed).encode("utf-8", "surrogatepass")
    return hashlib.scrypt(text, salt=salt, n=cost, r=block, p=parallel, maxmem=_MEMORY, dklen=_HASH_BYTES)


def public_key(text: str) -> str | None:
    """The type and the key of a public key's file, without its comment; None where it is none."""
    import base64
    import binascii

    lines = [line.split() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    if len(lines) != 1 or len(lines[0]) < 2:
        return None
    kind, key = lines[0][:2]
    try:
        inside = base64.b64decode(key, validate=True)
    except (binascii.Error, ValueError):
        return None
    # A key says its type once more, behind the length of that.
    name = kind.encode("ascii", "replace")
    return f"{kind} {key}" if inside.startswith(len(name).to_bytes(4, "big") + name) else None


def key_file(each: Strong) -> str | None:
    """The file of a person's key on this machine, while it holds that key; None where only ssh-agent may have it."""
    from orchestrator import files

    for place in (os.environ.get(KEY_VARIABLE), each.source):
        if place is None:
            continue
        try:
            if public_key(files.text(place, LONGEST_KEY_FILE)) == each.verifier:
                return place
        except files.Unreadable:
            continue
    return None


def enrolments(context: Context, agent: str) -> list[Answer]:
    """The tokens of a person, the newest first; at most that one is in force."""
    in_force = {each.id for each in tokens(context)} if not strong(context) else set()
    rows = context.connection.execute(_ENROLLED, {"agent": agent}).fetchall()
    return [{"id": id_, "enrolled_at": at, "in_force": id_ in in_force} for id_, at in rows]
