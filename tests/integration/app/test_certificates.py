"""Certificates: what a verdict rests on, checked without the database; every change of one is found."""

from __future__ import annotations

import copy
import functools
import json
import pathlib
import re
import runpy
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestrator.app.audit import check_certificate
from orchestrator.core import certificates, strict_json
from orchestrator.errors import OrchestratorError
from orchestrator.runner import surroundings
from tests import cases, conftest, forging, persons
from tests.integration.app.table import SESSION
from tests.integration.app.test_validate import Court

Body = dict[str, Any]
DOCS = pathlib.Path(__file__).parents[3] / "docs" / "certificates.md"
HIDDEN = "hunter2hunter2"
SIGNS = pytest.mark.skipif(surroundings.keygen() is None, reason="ssh-keygen is not installed")
KNOWN_BYTES, GROUP_BYTES = 200, 2000
"""The most that a proven event and a group may take."""


def accepted() -> Court:
    """An accepted session: by chain, once blocked, deferred, cancelled, and on the project manager's word."""
    court = Court("A", "B", "C", "D", "E", plan=True, goal=f"log in with password={HIDDEN}")
    court.complete("A")
    court.confirmable("B")
    court.defer("C")
    court.approve("E")
    with court.person():
        court.move("D", "cancelled", by="user", reason="nobody wants it any more")
    court.bazinga(B="it is tested by hand", C="next month", E="merged by hand")
    assert court.judge()["verdict"] == "ACCEPT"
    return court


@pytest.fixture(scope="module")
def made() -> str:
    """The text of a certificate of that session."""
    return document(accepted())


def document(court: Court, **more: Any) -> str:
    return strict_json.canonical(court.do("certificate make", session_id=SESSION, **more)["document"]) + "\n"


def found(text: str | bytes, **more: Any) -> list[tuple[str, str]]:
    data = text.encode() if isinstance(text, str) else text
    answer = check_certificate.check(data, "it", **more)
    assert answer["ok"] == (answer["problems"] == [])
    return [(each["place"], each["message"]) for each in answer["problems"]]


def test_a_certificate_says_what_the_verdict_rests_on(made: str) -> None:
    answer = check_certificate.check(made.encode(), "it")
    assert (answer["ok"], answer["exit_code"], answer["verdict"]) == (True, 0, "ACCEPT")
    assert answer["groups"] == {"completed": 3, "deferred_external": 1, "cancelled": 1}
    body = json.loads(made)["certificate"]
    assert [(each["id"], each["by"]) for each in body["groups"]] == [
        ("A", "chain"), ("B", "chain"), ("C", None), ("D", None), ("E", "project_manager"),
    ]  # fmt: skip
    assert [(each["kind"], each["channel"], each["proof"]) for each in body["persons"]] == [
        ("group set-status", "terminal", "weak")
    ]
    assert body["events"][-1][7:9] == ["validator", "ACCEPT"]
    assert len(body["events"]) < body["size"]


def test_a_certificate_shows_no_secret(made: str) -> None:
    assert HIDDEN not in made
    assert "[MASKED" in json.loads(made)["certificate"]["session"]["goal"]


def second(path: pathlib.Path, *more: str) -> None:
    """The checker that stands in the documents."""
    code = re.search(r"```python\n(.*?)```", DOCS.read_text("utf-8"), re.DOTALL)
    assert code is not None
    assert len(code[1].splitlines()) == 30
    checker = path.with_suffix(".py")
    checker.write_text(code[1])
    before, sys.argv = sys.argv, [str(checker), str(path), *more]
    try:
        runpy.run_path(str(checker))
    finally:
        sys.argv = before


def test_the_checker_in_the_documents_says_the_same(
    made: str, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "it.json"
    path.write_text(made)
    second(path)
    assert capsys.readouterr().out.startswith(f"ACCEPT {SESSION} ")
    for text in (made.replace("APPROVED", "APPROVEN", 1), renewed(made, lambda body: body["events"][3].pop())):
        path.write_text(text)
        with pytest.raises((AssertionError, StopIteration)):
            second(path)


# Alterations


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_change_of_a_byte_is_found_or_does_not_matter(made: str, data: st.DataObject) -> None:
    whole = made.encode()
    place = data.draw(st.integers(0, len(whole) - 1))
    length, put = data.draw(st.integers(0, 2)), data.draw(st.binary(max_size=2))
    text = whole[:place] + put + whole[place + length :]
    try:
        problems = found(text)
    except OrchestratorError:
        return
    assert problems or json.loads(text) == json.loads(whole)


ALTERED: list[tuple[str, Callable[[Body], object]]] = [
    ("session", lambda body: body["session"].update(goal="another")),
    ("verdict", lambda body: body["verdict"]["checks"].pop()),
    ("groups[1]", lambda body: body["groups"][1].update(name="another")),
    ("groups", lambda body: body["groups"].pop()),
    ("events[2]", lambda body: body["events"][2].__setitem__(4, "somebody")),
    ("merges[0]", lambda body: body["merges"][0].update(commit="0" * 40)),
    ("head", lambda body: body.update(head="1:00")),
    ("size", lambda body: body.update(size=float(body["size"]))),
]


@cases.every("place, change", ALTERED)
def test_an_alteration_is_found_with_its_place(made: str, place: str, change: Callable[[Body], object]) -> None:
    whole = json.loads(made)
    change(whole["certificate"])
    assert found(json.dumps(whole)) == [(place, "this was altered")]


def renewed(made: str, change: Callable[[Body], object]) -> str:
    """A certificate that was changed by somebody who has made its hash and marks anew."""
    body = copy.deepcopy(json.loads(made)["certificate"])
    change(body)
    return certificates.document(body)


def _approval(body: Body) -> list[Any]:
    return next(each for each in body["events"] if each[-1] == "approve")


def _part(body: Body, group: int, name: str) -> Body:
    return next(part for part in body["groups"][group]["path"] if part["part"] == name)


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a document."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, each in items for place in _places(each, (*path, key)))]


NUMBERS = st.one_of(st.integers(-2, 2**70), st.floats(allow_nan=False, allow_infinity=False))
SCALARS = st.one_of(st.none(), st.booleans(), NUMBERS, st.text(max_size=3))
VALUES = st.one_of(SCALARS, st.lists(SCALARS, max_size=2), st.dictionaries(st.text(max_size=3), SCALARS, max_size=2))


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_whatever_stands_in_a_certificate_is_told_as_a_problem(made: str, data: st.DataObject) -> None:
    body = json.loads(made)["certificate"]
    *above, key = data.draw(st.sampled_from([place for place in _places(body) if place and place[0] != "version"]))
    holder = functools.reduce(lambda value, name: value[name], above, body)
    holder[key] = data.draw(VALUES)
    try:
        answer = check_certificate.check(certificates.document(body).encode("utf-8", "surrogatepass"), "it")
    except OrchestratorError:
        return
    assert answer["ok"] or answer["problems"]


FORGED: list[tuple[str, Callable[[Body], object]]] = [
    ("events", lambda body: _approval(body).__setitem__(4, "somebody@S1:A")),
    ("events", lambda body: body.update(root=certificates.encoded(bytes(32)))),
    ("events", lambda body: body["events"].append(body["events"][-1])),
    ("proof", lambda body: body["events"].pop(2)),
    ("proof", lambda body: body.update(proof=certificates.encoded(bytes(32)))),
    ("proof", lambda body: body.update(proof="AA=")),
    ("proof", lambda body: body.update(size=str(body["size"]))),
    ("proof", lambda body: body.update(size=1)),
    ("proof", lambda body: body.update(size=float(body["size"]))),
    ("proof", lambda body: body["events"].append([10**6, 10**6, *body["events"][0][2:]])),
    ("events", lambda body: _approval(body).__delitem__(slice(-2, None))),
    ("form", lambda body: body["session"].update(goal=5)),
    ("proof", lambda body: body.update(events=[])),
    ("head", lambda body: body.update(head=f"{body['size']}:{'00' * 32}")),
    ("verdict", lambda body: body["verdict"]["checks"].append({"id": "V02", "level": "error"})),
    ("verdict", lambda body: body["verdict"].update(verdict="REJECT")),
    ("verdict", lambda body: body["verdict"].update(report_id="S1:R1")),
    ("verdict", lambda body: body["verdict"].update(at="2020-01-01T00:00:00.000000Z")),
    ("verdict", lambda body: body["verdict"]["checks"][0].update(level="ERROR")),
    ("session", lambda body: body["session"].update(outcome="abandoned")),
    ("groups[0]", lambda body: body["groups"][0].update(by="nobody")),
    ("groups[0]", lambda body: body["groups"][0].update(by="project_manager")),
    ("groups[2]", lambda body: body["groups"][2].update(acknowledged=None)),
    ("groups[2]", lambda body: body["groups"][2].update(by="chain")),
    ("groups[3]", lambda body: body["groups"][3].update(reason="")),
    ("groups[4]", lambda body: body["groups"][4].update(acknowledged="")),
    ("groups", lambda body: body.update(groups=None)),
    ("groups[0]", lambda body: body["groups"][0].update(status="in_progress")),
    ("groups[0]", lambda body: body["groups"][0].update(path=[])),
    ("groups[0]", lambda body: body["groups"][0].update(id="Z")),
    ("groups[0]", lambda body: _part(body, 0, "tested").update(met=False)),
    ("groups[0]", lambda body: _part(body, 0, "merged").update(report_id=None)),
    ("groups[0]", lambda body: (body["groups"][0].update(kind="x"), _part(body, 0, "merged").update(report_id=None))),
    ("groups[0]", lambda body: _part(body, 0, "approved").update(hash="")),
    ("groups[0]", lambda body: _part(body, 0, "approved").update(report_id="S1:R1")),
    ("groups[0]", lambda body: _part(body, 0, "approved").update(report_id="S2:R9")),
    ("groups[1]", lambda body: body["groups"][1].update(path=body["groups"][0]["path"])),
    ("merges[0]", lambda body: body["merges"][0].update(group="C")),
    ("merges[0]", lambda body: body["merges"][0].update(commit="--output=x")),
    ("persons[0]", lambda body: body["persons"][0].update(channel="link")),
    ("persons[0]", lambda body: body["persons"][0].update(seq=10**6)),
]


@cases.every("place, change", FORGED, ids=[f"{number} {each[0]}" for number, each in enumerate(FORGED)])
def test_what_does_not_fit_together_is_found_though_its_hash_is_right(
    made: str, place: str, change: Callable[[Body], object]
) -> None:
    assert place in [where for where, _ in found(renewed(made, change))]


def test_marks_alone_cannot_be_changed(made: str) -> None:
    whole = json.loads(made)
    whole["marks"]["head"] = "none"
    assert [place for place, _ in found(json.dumps(whole))] == ["marks"]


def test_a_hash_alone_cannot_be_changed(made: str) -> None:
    whole = json.loads(made)
    whole["sha256"] = "00" * 32
    assert [place for place, _ in found(json.dumps(whole))] == ["sha256"]


def git(folder: pathlib.Path, *words: str) -> str:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    return subprocess.run(["git", *identity, *words], cwd=folder, capture_output=True, text=True, check=True).stdout


def test_a_merge_is_looked_for_in_the_repository(made: str, tmp_path: pathlib.Path) -> None:
    with pytest.raises(OrchestratorError, match="is not a git repository"):
        found(made, folder=str(tmp_path))
    git(tmp_path, "init", "-q", "-b", "main")
    ids = []
    for branch in ("main", "side"):
        git(tmp_path, "commit", "-q", "--allow-empty", "-m", branch)
        ids.append(git(tmp_path, "rev-parse", "HEAD").strip())
        git(tmp_path, "checkout", "-q", "-B", "side")
    first, second = ids
    for commit, problems in (
        (first, []),
        (second, [("merges[0]", f"commit {second} is not contained in main")]),
        ("0" * 40, [("merges[0]", f"commit {'0' * 40} is not in the repository: is it the right one?")]),
    ):
        text = renewed(made, lambda body, commit=commit: body["merges"][0].update(commit=commit))
        assert found(text, folder=str(tmp_path), ref="main") == problems


def test_a_merge_without_a_commit_is_not_said_to_be_in_the_repository(made: str, tmp_path: pathlib.Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "first")
    text = renewed(made, lambda body: [merge.update(commit=None) for merge in body["merges"]]).encode()
    merge = json.loads(text)["certificate"]["merges"][0]
    said = f"Merge {merge['report_id']} of group {merge['group']} names no commit: none was looked for."
    assert said in check_certificate.check(text, "s1.json", folder=str(tmp_path))["warnings"]
    assert said not in check_certificate.check(text, "s1.json")["warnings"]


INVALID: list[tuple[str, Callable[[str], str]]] = [
    ("CERTIFICATE_INVALID", lambda text: text[: len(text) // 2]),
    ("CERTIFICATE_INVALID", lambda text: ""),
    ("CERTIFICATE_INVALID", lambda text: "[]"),
    ("CERTIFICATE_INVALID", lambda text: '{"certificate": {"format": "another"}}'),
    ("CERTIFICATE_INVALID", lambda text: text.replace('"size":', '"sizes":', 1)),
    ("CERTIFICATE_INVALID", lambda text: text.replace('"version":1', '"version":0')),
    ("CERTIFICATE_INVALID", lambda text: text.replace('"signature":null', '"signature":1')),
    ("CERTIFICATE_TOO_NEW", lambda text: text.replace('"version":1', '"version":2').replace('"size"', '"steps"')),
]


@cases.every("code, change", INVALID, ids=[str(number) for number in range(len(INVALID))])
def test_what_is_no_certificate_that_can_be_read_says_so(made: str, code: str, change: Callable[[str], str]) -> None:
    with pytest.raises(OrchestratorError) as caught:
        found(change(made))
    assert caught.value.code == code


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 40), st.data())
def test_a_tree_proves_every_choice_of_its_leaves_and_no_other(size: int, data: st.DataObject) -> None:
    leaves = [certificates.leaf([number]) for number in range(size)]
    shown = data.draw(st.sets(st.integers(0, size - 1), min_size=1))
    root, proof = certificates.tree(leaves, shown)
    known = {place: leaves[place] for place in shown}
    assert certificates.folded(size, known, proof) == root
    changed = {**known, min(shown): certificates.leaf(["another"])}
    assert certificates.folded(size, changed, proof) != root
    for wrong in ([*proof, root], proof[:-1]):
        if wrong != proof:
            with pytest.raises(ValueError, match="nodes than are needed"):
                certificates.folded(size, known, wrong)


# What cannot be certified


def overtaken() -> Court:
    court = Court("A", plan=True)
    court.complete("A")
    court.judge()
    court.group("B")
    return court


def rewritten() -> Court:
    court = accepted()
    forging.disarm(court.context.connection)
    court.context.connection.execute("UPDATE audit_events SET actor = 'somebody' WHERE seq = 3")
    return court


@pytest.mark.parametrize(
    ("court", "code", "said"),
    [
        pytest.param(lambda: Court("A"), "NO_VERDICT", "has no verdict yet", id="no verdict"),
        pytest.param(overtaken, "NO_VERDICT", "out of date", id="overtaken"),
        pytest.param(rewritten, "CORRUPT", "does not verify", id="rewritten"),
    ],
)
def test_what_has_no_verdict_that_stands_gets_no_certificate(court: Callable[[], Court], code: str, said: str) -> None:
    with pytest.raises(OrchestratorError) as caught:
        document(court())
    assert caught.value.code == code
    assert said in caught.value.message


def test_a_rejection_is_certified_as_one() -> None:
    court = Court("A", plan=True)
    court.judge()
    answer = check_certificate.check(document(court).encode(), "it")
    assert (answer["ok"], answer["verdict"], answer["exit_code"]) == (True, "REJECT", 1)


def test_a_file_is_never_overwritten(tmp_path: pathlib.Path) -> None:
    court, path = accepted(), tmp_path / "it.json"
    answer = court.do("certificate make", session_id=SESSION, output=str(path))
    assert "document" not in answer
    assert (path.stat().st_mode & 0o777, path.stat().st_size) == (0o600, answer["bytes"])
    with pytest.raises(OrchestratorError, match="already exists"):
        court.do("certificate make", session_id=SESSION, output=str(path))


# Signatures


@pytest.fixture(scope="module")
def signed(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str, str]:
    """A signed certificate, its key, and another key, without their comments."""
    folder = tmp_path_factory.mktemp("keys")
    keys = [persons.key(folder, name) for name in ("one", "two")]
    court = accepted()
    court.context.surroundings = surroundings.Surroundings()
    text = document(court, sign=str(keys[0].with_suffix("")))
    one, two = (" ".join(key.read_text().split()[:2]) for key in keys)
    return text, one, two


KNOWN = [
    ("{one} me@example.com", "", "me@example.com"),
    ("me {one}", "", "me"),
    ("# ours\nyou {two}\nme,you {one}", "", "me"),
    ('me valid-after="20200101",valid-before="21000101" {one}', "", "me"),
    ("{two}", "its key is not among the known ones", None),
    ("you {two}", "its key is not among the known ones", None),
    ("", "its key is not among the known ones", None),
    ('me valid-before="20200101" {one}', "its key had expired when it was made", None),
    ('me valid-after="21000101" {one}', "its key was not yet valid", None),
    ('me namespaces="git" {one}', "do not allow it to sign certificates", None),
]


@SIGNS
@cases.every("known, why, signer", KNOWN)
def test_a_signature_is_one_of_the_known_keys(
    signed: tuple[str, str, str], known: str, why: str, signer: str | None
) -> None:
    text, one, two = signed
    answer = check_certificate.check(text.encode(), "it", known=known.format(one=one, two=two))
    assert (answer["ok"], answer["signature"]["signer"]) == (not why, signer)
    assert [(each["place"], why in each["message"]) for each in answer["problems"]] == [("signature", True)] * bool(why)


@SIGNS
def test_a_signature_holds_for_its_content_alone(signed: tuple[str, str, str], made: str) -> None:
    text, one, _ = signed
    assert found(text) == []
    whole, body = json.loads(text), json.loads(text)["certificate"]
    body["groups"][0]["name"] = "another"
    forged = {**json.loads(certificates.document(body)), "signature": whole["signature"]}
    assert found(json.dumps(forged)) == [("signature", "the signature is not one of this content")]
    for other in ("nothing", f"{whole['signature']}more", f" {whole['signature']}", whole["signature"] * 2):
        assert found(json.dumps({**whole, "signature": other})) == [
            ("signature", "it is more or less than one signature")
        ]  # fmt: skip
    assert found(made, known=one) == [("signature", "it is not signed")]


@SIGNS
def test_the_checker_in_the_documents_checks_the_signature(
    signed: tuple[str, str, str], tmp_path: pathlib.Path
) -> None:
    text, one, two = signed
    path, signers = tmp_path / "it.json", tmp_path / "signers"
    path.write_text(text)
    signers.write_text(f"me {one}\n")
    second(path, str(signers), "me")
    signers.write_text(f"me {two}\n")
    with pytest.raises(Exception, match="non-zero exit status"):
        second(path, str(signers), "me")


@pytest.mark.parametrize("key", ["missing", "nothing"])
def test_a_key_that_cannot_sign_makes_no_certificate(key: str, tmp_path: pathlib.Path) -> None:
    (tmp_path / "nothing").write_text("this is no key")
    court, path = accepted(), tmp_path / "it.json"
    court.context.surroundings = surroundings.Surroundings()
    with pytest.raises(OrchestratorError) as caught:
        court.do("certificate make", session_id=SESSION, sign=str(tmp_path / key), output=str(path))
    assert (caught.value.code, path.exists()) == ("SIGNING_FAILED", False)


# Size


def sizes(groups: int, sent_back: bool) -> tuple[float, float]:
    """Bytes for each proven event, and for each group beside its events; of a group that was sent back few prove it."""
    names = [f"G{number:04}" for number in range(groups)]
    court = Court(*names, plan=True)
    for name in names:
        for _ in range(2 * sent_back):
            court.submit(name)
            court.says("tech_lead", "CHANGES_REQUESTED", name)
        court.complete(name, "senior_software_engineer" if sent_back else "developer")
    court.bazinga()
    court.judge()
    whole = json.loads(document(court))
    body, marks = whole["certificate"], whole["marks"]

    def size(*values: object) -> int:
        return sum(len(strict_json.canonical(each)) for each in values)

    proven = size(body["events"], body["proof"], marks["events"]) / len(body["events"])
    return proven, size(body["groups"], body["merges"], marks["groups"], marks["merges"]) / groups


LONG = pytest.mark.skipif(not conftest.LONG, reason="takes half a minute: ORCHESTRATOR_LONG_DRILLS=1")


@pytest.mark.parametrize(
    ("groups", "sent_back"), [(1, False), (10, False), (10, True), pytest.param(1000, True, marks=LONG)]
)
def test_a_certificate_is_small(groups: int, sent_back: bool) -> None:
    proven, group = sizes(groups, sent_back)
    assert proven <= KNOWN_BYTES
    # With the events that its path rests on.
    assert group + 4 * proven <= GROUP_BYTES


