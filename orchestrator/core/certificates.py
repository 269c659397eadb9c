"""Certificates: one JSON document that shows, away from the database, what a session's verdict rests on.

    {"certificate": BODY, "marks": MARKS, "sha256": HEX, "signature": TEXT or null}

`sha256` is the hash of the canonical text of BODY, which an SSH signature signs. Canonical text is JSON with the names
of members in order, without spaces, letters unescaped, in UTF-8. A mark is the beginning of the hash of one member of
BODY, or of one item of a member that is a list: it proves nothing and only says where a document was altered.

`events` of BODY are steps of the session: a report is [place, seq, hash, at, actor, channel, group, role, status,
effect], any other step [place, seq, hash, at, actor, channel, kind]. `root` is the root of a Merkle tree over all steps
of the session, in the order of their places: first those that are listed, so that one proof of a dozen nodes or so is
enough for all of them. Its leaves are SHA-256(0x00 + canonical text of such a list), its nodes SHA-256(0x01 + left +
right); the last node of a level that has no neighbour is taken to the level above as it is.
`proof` holds the hashes of the nodes that are needed beside the listed steps: level by level from the leaves, from left
to right. Hashes are base64, except those of `head` and `sha256`, which are hexadecimal as `audit head` prints them.

Nothing here touches a file, a key or a repository.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

from orchestrator.core import names, strict_json
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.suggestions import sentence, suggest
from orchestrator.errors import EnvironmentProblem, InvalidInput
from orchestrator.hints import Any, NoReturn

NAME = "orchestrator verdict"
VERSION = 1
NAMESPACE = "orchestrator-certificate"
"""The namespace of its signatures, so that one for another purpose counts for nothing here."""
SIZE_LIMIT = 256 * 1024 * 1024
"""Bytes of the largest certificate that is read."""
ACCEPT = "ACCEPT"
MEMBERS = {
    "format", "version", "made_at", "session", "workflow", "verdict", "groups", "merges", "persons", "head", "events",
    "size", "root", "proof",
}  # fmt: skip
"""The members of BODY."""
_PARTS = {"certificate", "marks", "sha256", "signature"}
COMMIT = "[0-9a-f]{4,64}"
"""A commit id in the form that git has, whole or shortened."""
_SETTLED = ("completed", "deferred_external", "cancelled")
_BY = ("chain", "project_manager", "imported")
"""By what a group is completed."""
_LEVELS = ("error", "warning", "info")
_EFFECTS = {"approved": "approve", "merged": "merge"}
"""The parts of a path that a report of one effect alone can meet."""
_MARK = 4


class Event(NamedTuple):
    """A step as a certificate lists it: `kind` is None of a report, and the last four of any other step."""

    place: int
    seq: int
    hash: str
    at: str
    actor: str
    channel: str
    kind: str | None = None
    group: str | None = None
    role: str | None = None
    status: str | None = None
    effect: str | None = None

    def listed(self) -> list[Any]:
        """As a certificate holds it."""
        return [*self[:6], *self[7:]] if self.kind is None else list(self[:7])


def event(listed: list[Any]) -> Event:
    """A step of a certificate.

    Raises:
        ValueError: it is not listed as one.
    """
    place, seq, *rest = listed
    if type(place) is not int or type(seq) is not int or len(rest) not in (5, 8):
        raise ValueError("a step is not listed as one")
    hash_, at, actor, channel, *more = rest
    return Event(place, seq, hash_, at, actor, channel, *(more if len(more) == 1 else (None, *more)))


class Problem(NamedTuple):
    """Something that is not as it was made, or does not hold: where in the document, and what."""

    place: str
    message: str


class Certificate(NamedTuple):
    """A document that was read; `body` may hold anything until `problems` found nothing."""

    body: dict[str, Any]
    marks: Any
    sha256: Any
    signature: str | None

    def signed_text(self) -> str:
        """What its signature signs."""
        return strict_json.canonical(self.body)


def encoded(data: bytes) -> str:
    """Bytes as a certificate writes them: base64."""
    return base64.b64encode(data).decode()


def leaf(listed: Sequence[Any]) -> bytes:
    """The leaf of a step, as it is listed."""
    return _leaf(strict_json.canonical(list(listed)))


def _leaf(text: str) -> bytes:
    return hashlib.sha256(b"\0" + text.encode()).digest()


def _node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\1" + left + right).digest()


def tree(leaves: Sequence[bytes], proven: Iterable[int]) -> tuple[bytes, list[bytes]]:
    """The root of a Merkle tree, and the nodes that prove some of its leaves.

    Args:
        leaves: at least one.
        proven: the places of the leaves that are shown.
    """
    level, shown, proof = list(leaves), set(proven), list[bytes]()
    while len(level) > 1:
        beside = {place ^ 1 for place in shown} - shown
        proof += [level[place] for place in sorted(beside) if place < len(level)]
        pairs = [_node(*level[place : place + 2]) for place in range(0, len(level) - 1, 2)]
        level = [*pairs, level[-1]] if len(level) % 2 else pairs
        shown = {place // 2 for place in shown}
    return level[0], proof


def folded(size: int, known: Mapping[int, bytes], proof: Sequence[bytes]) -> bytes:
    """The root that some leaves and a proof lead to.

    Args:
        size: how many leaves the tree has.
        known: the shown leaves by their places.

    Raises:
        ValueError: the proof has too few or too many nodes, or no leaf of the tree is shown.
    """
    left, level = iter(proof), dict(known)
    if not level or min(level) < 0 or max(level) >= size:
        raise ValueError("a step lies outside of the tree")
    while size > 1:
        for place in sorted({place ^ 1 for place in level} - level.keys()):
            if place < size:
                level[place] = _next(left)
        level = {
            place // 2: _node(level[place], level[place + 1]) if place + 1 in level else level[place]
            for place in level
            if not place % 2
        }
        size = (size + 1) // 2
    if next(left, None) is not None:
        raise ValueError("the proof has more nodes than are needed")
    return level[0]


def _next(left: Iterator[bytes]) -> bytes:
    found = next(left, None)
    if found is None:
        raise ValueError("the proof has fewer nodes than are needed")
    return found


def document(body: dict[str, Any], sign: Callable[[str], str] | None = None) -> str:
    """The text of a certificate, with the line break at its end.

    Args:
        sign: makes the signature of a text; None leaves it unsigned.
    """
    texts = _texts(body)
    text = _whole(texts)
    whole = {
        "certificate": body,
        "marks": _marks(texts),
        "sha256": _sha256(text),
        "signature": None if sign is None else sign(text),
    }
    return strict_json.canonical(whole) + "\n"


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


_Texts = dict[str, str | list[str]]
"""The canonical text of each member; of one that is a list, that of each item."""


def _texts(body: Mapping[str, Any]) -> _Texts:
    """Written once: the whole text, the marks and the leaves of the steps are made of these."""
    text = strict_json.canonical
    return {name: list(map(text, each)) if isinstance(each, list) else text(each) for name, each in body.items()}


def _whole(texts: _Texts) -> str:
    """The canonical text of a document from those of its members."""
    joined = {name: each if isinstance(each, str) else f"[{','.join(each)}]" for name, each in texts.items()}
    members = (f"{strict_json.canonical(name)}:{joined[name]}" for name in sorted(joined))
    return f"{{{','.join(members)}}}"


def _marks(texts: _Texts) -> dict[str, Any]:
    return {name: _mark(each) if isinstance(each, str) else list(map(_mark, each)) for name, each in texts.items()}


def _mark(text: str) -> str:
    return _sha256(text)[:_MARK]


def read(data: bytes, name: str) -> Certificate:
    """Read a certificate; spaces and escapes do not matter.

    Args:
        name: what the document is called in messages.

    Raises:
        InvalidInput: CERTIFICATE_INVALID, it is cut off, no JSON or no certificate.
        EnvironmentProblem: CERTIFICATE_TOO_NEW, it has a newer form.
    """
    try:
        found = strict_json.loads(data, name, limit=SIZE_LIMIT)
    except strict_json.JsonProblem as problem:
        _invalid(problem.message, name)
    body = found.get("certificate") if isinstance(found, dict) else None
    if not isinstance(found, dict) or not isinstance(body, dict) or body.get("format") != NAME:
        _invalid(f"{name} is not a certificate.", name)
    version = body.get("version")
    if type(version) is int and version > VERSION:
        raise EnvironmentProblem(
            "CERTIFICATE_TOO_NEW",
            f"{name} has certificate version {version}, newer than this program's version {VERSION}.",
            "install a newer guarded-orchestrator",
        )
    wrong = [*sorted(found.keys() ^ _PARTS), *(f"certificate.{each}" for each in sorted(body.keys() ^ MEMBERS))]
    if wrong or version != VERSION:
        named = ", ".join(map(names.shown, wrong or ["certificate.version"]))
        _invalid(f"{name}: members are unknown, missing or invalid: {named}.", name)
    signature = found["signature"]
    if signature is not None and not isinstance(signature, str):
        _invalid(f"{name}: signature must be a text or null.", name)
    return Certificate(body, found["marks"], found["sha256"], signature)


def _invalid(message: str, name: str) -> NoReturn:
    way = sentence("Make it anew: {}", suggest("certificate make", session_id="SESSION", output="FILE"))
    raise InvalidInput("CERTIFICATE_INVALID", message, way, file=name)


def problems(given: Certificate) -> list[Problem]:
    """Everything in a certificate that was altered or does not hold; its signature is not looked at.

    A document whose hash is not that of its content is looked through no further than where it was altered.
    """
    texts = _texts(given.body)
    altered = [*_altered(given, texts)]
    if altered:
        return altered
    shown = dict[int, Event]()
    found = [*_guarded("events", lambda: _listed(given.body, shown))]
    read = _Read(given.body, shown, texts["events"])
    return found or [each for check in _CHECKS for each in _guarded(check.__name__.strip("_"), partial(check, read))]


class _Read(NamedTuple):
    """What checks read: a body, its listed steps by their numbers, and the canonical texts of these, in their order."""

    body: dict[str, Any]
    shown: dict[int, Event]
    texts: str | list[str]


def _listed(body: dict[str, Any], shown: dict[int, Event]) -> Iterator[Problem]:
    """Read the listed steps."""
    shown |= events(body)
    if len(shown) != len(body["events"]):
        yield Problem("events", "a step is listed twice")


def _altered(given: Certificate, texts: _Texts) -> Iterator[Problem]:
    marks = _marks(texts)
    is_whole = _sha256(_whole(texts)) == given.sha256
    if is_whole and marks == given.marks:
        return
    known = given.marks if isinstance(given.marks, dict) else {}
    if is_whole:
        yield Problem("marks", "the marks are not those of the content, which has its hash")
        return
    found = [place for name in marks for place in _differing(name, marks[name], known.get(name))]
    for place in found:
        yield Problem(place, "this was altered")
    if not found:
        yield Problem("sha256", "the hash is not that of the content")


def _differing(name: str, made: Any, marked: Any) -> Iterator[str]:
    if made == marked:
        return
    if not isinstance(made, list) or not isinstance(marked, list) or len(made) != len(marked):
        yield name
        return
    yield from (f"{name}[{place}]" for place, pair in enumerate(zip(made, marked, strict=True)) if pair[0] != pair[1])


def _guarded(name: str, check: Callable[[], Iterator[Problem]]) -> Iterator[Problem]:
    """What a check finds; a value of another type than it expects is a finding."""
    try:
        yield from check()
    except (AttributeError, IndexError, KeyError, TypeError, ValueError, binascii.Error) as error:
        what = f" ({error})" if isinstance(error, ValueError) else ""
        yield Problem(name, f"the values are not of the form that a certificate has{what}")


def events(body: Mapping[str, Any]) -> dict[int, Event]:
    """The listed steps by their numbers.

    Raises:
        TypeError, ValueError: they are not of the form that a certificate has.
    """
    return {each.seq: each for each in map(event, body["events"])}


def _form(read: _Read) -> Iterator[Problem]:
    """What is told of a certificate has the types that it should, and its commits are no options of git."""
    body = read.body
    session, verdict, groups, merges = (body[name] for name in ("session", "verdict", "groups", "merges"))
    texts = [body["made_at"], body["head"], session["id"], session["goal"], verdict["verdict"], verdict["report_id"]]
    texts += [group[name] for group in groups for name in ("id", "status", "kind")]
    if not all(isinstance(text, str) for text in texts) or not isinstance(groups, list):
        raise ValueError("a text is something else")
    for place, merge in enumerate(merges):
        commit = merge["commit"]
        if commit is not None and (not isinstance(commit, str) or not re.fullmatch(COMMIT, commit)):
            yield Problem(f"merges[{place}]", "what it names is no commit id")


def _proof(read: _Read) -> Iterator[Problem]:
    """The listed steps are those of the tree."""
    body, shown = read.body, read.shown
    size, root = body["size"], base64.b64decode(body["root"], validate=True)
    data = base64.b64decode(body["proof"], validate=True)
    if type(size) is not int or len(data) % 32:
        raise ValueError("a proof is a number of whole hashes")
    known = {each.place: _leaf(text) for each, text in zip(shown.values(), read.texts, strict=True)}
    try:
        found = folded(size, known, [data[place : place + 32] for place in range(0, len(data), 32)])
    except ValueError as error:
        yield Problem("proof", f"{error}")
        return
    if found != root:
        yield Problem("events", "the steps and their proof do not lead to the root")
    last = shown.get(size)
    if last is None or body["head"] != f"{size}:{base64.b64decode(last.hash, validate=True).hex()}":
        yield Problem("head", "the head is not the last step")


def _verdict(read: _Read) -> Iterator[Problem]:
    """The verdict is the validator's, and its checks lead to it."""
    body, verdict = read.body, read.body["verdict"]
    report = read.shown.get(_seq_of(body, verdict["report_id"]))
    if report is None or (report.role, report.status) != ("validator", verdict["verdict"]):
        yield Problem("verdict", "no listed step is the validator's report of this verdict")
    elif report.at != verdict["at"]:
        yield Problem("verdict", "its time is not that of the validator's report")
    if any(check["level"] not in _LEVELS for check in verdict["checks"]):
        yield Problem("verdict", "a check has a level that no check has")
    failed = [check["id"] for check in verdict["checks"] if check["level"] == "error"]
    if verdict["verdict"] == ACCEPT and body["session"]["outcome"] != "accepted":
        yield Problem("session", f"its outcome is {names.shown(body['session']['outcome'])} under an ACCEPT")
    if bool(failed) == (verdict["verdict"] == ACCEPT):
        yield Problem("verdict", f"{verdict['verdict']} does not follow from its checks")


def _seq_of(body: dict[str, Any], report: str) -> int:
    session, _, seq = report.rpartition(":R")
    return int(seq) if session == body["session"]["id"] else 0


def _groups(read: _Read) -> Iterator[Problem]:
    """What an ACCEPT calls settled is, and what a path names are reports that are listed."""
    body, shown = read.body, read.shown
    accepted = body["verdict"]["verdict"] == ACCEPT
    for place, group in enumerate(body["groups"]):
        where = f"groups[{place}]"
        if accepted and group["status"] not in _SETTLED:
            yield Problem(where, f"group {group['id']} is {group['status']} under an ACCEPT")
        elif accepted:
            yield from (Problem(where, f"group {group['id']} {wrong}") for wrong in _unsaid(group))
        met = {}
        for part in group["path"]:
            if part["report_id"] is not None:
                report = shown.get(_seq_of(body, part["report_id"]))
                met[part["part"]] = report
                for wrong in _misnamed(group["id"], part, report):
                    yield Problem(where, wrong)
        if group["status"] == "completed" and group["by"] == "chain":
            for wrong in _unmet(group, met):
                yield Problem(where, wrong)


def _unsaid(group: dict[str, Any]) -> Iterator[str]:
    """What an ACCEPT asks of a group beside its path: by what it is completed, and whose word it has."""
    status, by = group["status"], group["by"]
    if by not in (_BY if status == "completed" else (None,)):
        yield f"is {status} by {names.shown(by)}, and there is no such way"
    if (status == "deferred_external" or by in _BY[1:]) and not group["acknowledged"]:
        yield "has no acknowledgement of the project manager, on which it rests"
    if status == "cancelled" and not group["reason"]:
        yield "is cancelled without a reason"


def _misnamed(group: str, part: dict[str, Any], report: Event | None) -> Iterator[str]:
    named = f"part {part['part']} of group {group} names {part['report_id']}"
    effect = _EFFECTS.get(part["part"])
    if report is None or report.role is None:
        yield f"{named}, which is no listed report"
    elif report.hash != part["hash"]:
        yield f"{named} with another hash than its step has"
    elif effect is not None and (report.group, report.effect) != (group, effect) and part["met"]:
        yield f"{named}, which does not {effect} this group"


def _unmet(group: dict[str, Any], met: dict[str, Event | None]) -> Iterator[str]:
    wanted = ("approved",) if group["kind"] == "research" else ("approved", "merged")
    unmet = [part["part"] for part in group["path"] if not part["met"]]
    missing = [name for name in wanted if met.get(name) is None]
    if unmet or missing or not group["path"]:
        yield f"group {group['id']} is completed, and its path lacks {', '.join([*unmet, *missing]) or 'everything'}"
        return
    seqs = [each.seq for each in map(met.get, wanted) if each is not None]
    if seqs != sorted(seqs):
        yield f"group {group['id']} was merged before it was approved"


def _merges(read: _Read) -> Iterator[Problem]:
    """Merges are reports that are listed."""
    body, shown = read.body, read.shown
    for place, merge in enumerate(body["merges"]):
        report = shown.get(_seq_of(body, merge["report_id"]))
        if report is None or (report.group, report.effect) != (merge["group"], "merge"):
            yield Problem(f"merges[{place}]", f"{merge['report_id']} is no listed merge of group {merge['group']}")


def _persons(read: _Read) -> Iterator[Problem]:
    """Acts of persons are steps that are listed."""
    body, shown = read.body, read.shown
    for place, act in enumerate(body["persons"]):
        step = shown.get(act["seq"])
        kind = None if step is None else step.kind or act["kind"]
        if step is None or (step.actor, kind, step.channel) != (act["actor"], act["kind"], act["channel"]):
            yield Problem(f"persons[{place}]", f"step {act['seq']} is no listed act of {act['actor']}")


_CHECKS = (_form, _proof, _verdict, _groups, _merges, _persons)
