"""The inventory of evidence: one record an operation, none missing, nothing changed, nothing that is not understood."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.core.running import evidence, evidence_index
from orchestrator.core.running.evidence import Index, Item, Problem, Record
from tests.cases import every

AT = "2026-01-02T03:04:05.000006Z"


def hash_of(text: str) -> str:
    return evidence.digest(text, text.encode())


def recorded(operation: str, **more: Any) -> Record:
    raw = (Item(f"raw/{operation}.log", hash_of(operation), 3),)
    return evidence.sealed(Record(operation, "executor", AT, {"exit_code": 0}, raw)._replace(**more))


def codes(problems: list[Problem]) -> list[tuple[str, str | None]]:
    return [(problem.code, problem.operation_id) for problem in problems]


def test_a_hash_is_over_path_and_content() -> None:
    assert evidence.digest("a/b", b"c") == "sha256:" + hashlib.sha256(b"a/b\0c").hexdigest()
    assert len({evidence.digest(*pair) for pair in [("a", b"bc"), ("ab", b"c"), ("abc", b"")]}) == 3


def test_the_checksum_is_that_of_the_index_only() -> None:
    data = evidence_index.render(Index("S", (recorded("a"),)))
    assert evidence.checksum(data) == hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize(
    ("operations", "records", "missing"),
    [
        ([], [], ()), (["a"], [], ("a",)), (["a", "b", "c"], ["b"], ("a", "c")), (["a", "a"], [], ("a",)),
        (["a"], ["a"], ()),
    ],
)  # fmt: skip
def test_an_operation_without_a_record_is_named(
    operations: list[str], records: list[str], missing: tuple[str, ...]
) -> None:
    index = Index("S", tuple(map(recorded, records)))
    found = evidence.inspected(operations, index, ())
    assert (found.missing, found.without_evidence, found.total) == (missing, missing, len(set(operations)))


@pytest.mark.parametrize(
    ("records", "problems"),
    [
        pytest.param([recorded("a"), recorded("b")], [], id="one each"),
        pytest.param([recorded("a", atomic=False)], [("E301", "a")], id="not atomic"),
        pytest.param([recorded("a", aggregated=True)], [("E301", "a")], id="aggregated"),
        pytest.param([recorded("a"), recorded("a")], [("E301", "a")], id="twice"),
    ],
)
def test_a_record_stands_for_one_operation(records: list[Record], problems: list[tuple[str, str]]) -> None:
    assert codes(evidence.not_atomic(records)) == problems


def test_what_no_operation_made_is_e501() -> None:
    assert codes(evidence.unregistered(["a"], [recorded("a"), recorded("b"), recorded("b")])) == [("E501", "b")]
    index = Index("S", (recorded("a"),))
    paths = ["raw/a.log", "raw/b.log", "raw/b.log.gz", "raw/c.log", "raw/x"]
    found = evidence.stray(paths, index, ["a", "b"])
    assert [problem.path for problem in found] == ["raw/c.log", "raw/x"]
    assert evidence.inspected(["a"], index, found).without_evidence == ()


def test_an_index_is_read_as_it_was_written() -> None:
    artifacts = (Item("src/é.py", hash_of("x"), 5), Item("gone.py", None, 0))
    index = Index("S", (recorded("a", artifacts=artifacts), recorded("b", raw=(), facts={"from": None, "to": "m"})))
    data = evidence_index.render(index)
    assert evidence_index.read(data) == (index, [])
    assert evidence_index.read(evidence_index.render(Index("S"))) == (Index("S"), [])
    assert evidence.altered(index, data, evidence.checksum(data) + "\n", evidence.checksum(data)) == []


@pytest.mark.parametrize(
    "data", [b"", b"{bad", b"{}{}", b'{"a":1,"a":1}', b"\xff", evidence_index.render(Index("S"))[:-4]]
)
def test_an_index_that_is_no_json_is_e302(data: bytes) -> None:
    index, problems = evidence_index.read(data)
    assert (index, codes(problems)) == (None, [("E302", None)])
    assert evidence.inspected(["a", "b"], None, problems).without_evidence == ("a", "b")


def altered_document(*path: str | int, value: Any) -> bytes:
    index = Index("S", (recorded("a", artifacts=(Item("b", None, 0),)),))
    document = json.loads(evidence_index.render(index))
    place = document
    for key in path[:-1]:
        place = place[key]
    if value is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return json.dumps(document).encode()


UPPER = "sha256:" + "A" * 64


@every(
    ("data", "path"),
    [
        (b"[]", "$"),
        (altered_document("format", value="other"), "$.format"),
        (altered_document("version", value=2), "$.version"),
        (altered_document("version", value=True), "$.version"),
        (altered_document("session_id", value=1), "$.session_id"),
        (altered_document("records", value={}), "$.records"),
        (altered_document("extra", value=1), "$.extra"),
        (altered_document("records", 0, value=5), "$.records[0]"),
        (altered_document("records", 0, "extra", value=1), "$.records[0].extra"),
        (altered_document("records", 0, "facts", value=...), "$.records[0].facts"),
        (altered_document("records", 0, "facts", value=[]), "$.records[0].facts"),
        (altered_document("records", 0, "atomic", value=1), "$.records[0].atomic"),
        (altered_document("records", 0, "at", value=1), "$.records[0].at"),
        (altered_document("records", 0, "operation_id", value="../x"), "$.records[0].operation_id"),
        (altered_document("records", 0, "operation_id", value=["a", "b"]), "$.records[0].operation_id"),
        (altered_document("records", 0, "hash", value="md5:00"), "$.records[0].hash"),
        (altered_document("records", 0, "raw", value="x"), "$.records[0].raw"),
        (altered_document("records", 0, "raw", 0, value="x"), "$.records[0].raw[0]"),
        (altered_document("records", 0, "raw", 0, "path", value="../../etc/passwd"), "$.records[0].raw[0].path"),
        (altered_document("records", 0, "raw", 0, "path", value="raw/../x.log"), "$.records[0].raw[0].path"),
        (altered_document("records", 0, "raw", 0, "path", value="raw/a.log\n"), "$.records[0].raw[0].path"),
        (altered_document("records", 0, "raw", 0, "path", value="raw/a.zip"), "$.records[0].raw[0].path"),
        (altered_document("records", 0, "raw", 0, "hash", value=None), "$.records[0].raw[0].hash"),
        (altered_document("records", 0, "raw", 0, "hash", value=UPPER), "$.records[0].raw[0].hash"),
        (altered_document("records", 0, "raw", 0, "size", value=-1), "$.records[0].raw[0].size"),
        (altered_document("records", 0, "raw", 0, "size", value=True), "$.records[0].raw[0].size"),
        (altered_document("records", 0, "artifacts", 0, "path", value="/etc/x"), "$.records[0].artifacts[0].path"),
        (altered_document("records", 0, "artifacts", 0, "path", value=5), "$.records[0].artifacts[0].path"),
        (altered_document("records", 0, "artifacts", 0, "extra", value=5), "$.records[0].artifacts[0].extra"),
        (altered_document("records", 0, "artifacts", 0, "hash", value="x"), "$.records[0].artifacts[0].hash"),
    ],
)
def test_an_unknown_format_or_field_is_e305(data: bytes, path: str) -> None:
    index, problems = evidence_index.read(data)
    assert (index, [(problem.code, problem.path) for problem in problems]) == (None, [("E305", path)])


def test_a_changed_record_and_a_changed_index_are_e304() -> None:
    index = Index("S", (recorded("a")._replace(at="2027-01-01T00:00:00Z"), recorded("b")))
    data = evidence_index.render(index)
    checksum = evidence.checksum(data)
    assert codes(evidence.altered(index, data, checksum)) == [("E304", "a")]
    good = Index("S", (recorded("b"),))
    data = evidence_index.render(good)
    for written, known in ((None, None), ("0" * 64, None), (evidence.checksum(data), checksum)):
        problems = evidence.altered(good, data, written, known)
        assert codes(problems) == [("E304", None)]
        assert evidence.inspected(["b"], good, problems).without_evidence == ("b",)


def test_files_are_missing_or_changed() -> None:
    items = {"a": [Item("1", hash_of("1"), 1)], "b": [Item("2", hash_of("2"), 1)], "c": [Item("3", None, 0)],
             "d": [Item("4", hash_of("4"), 1), Item("5", None, 0)]}  # fmt: skip
    found = {"2": hash_of("x"), "3": hash_of("3"), "4": hash_of("4"), "5": None}
    assert codes(evidence.compare(items, found)) == [("E303", "a"), ("E304", "b"), ("E304", "c")]


ids = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,8}", fullmatch=True)
facts = st.dictionaries(st.text(max_size=5), st.none() | st.integers() | st.text(max_size=5), max_size=2)
paths = st.from_regex(r"[a-zé ]{1,3}(/[a-z]{1,3}){0,2}", fullmatch=True)
items = st.builds(lambda path, text: Item(path, hash_of(text), len(text)), paths, st.text(max_size=4))
records = st.builds(
    lambda operation, known, listed: recorded(operation, facts=known, artifacts=tuple(listed)),
    ids, facts, st.lists(items, max_size=2),
)  # fmt: skip
indexes = st.builds(Index, ids, st.lists(records, max_size=4, unique_by=lambda record: record.operation_id).map(tuple))


@settings(max_examples=150)
@given(indexes)
def test_p18_every_index_is_read_as_it_was_written(index: Index) -> None:
    data = evidence_index.render(index)
    read, problems = evidence_index.read(data)
    assert (read, problems) == (index, [])
    assert evidence.altered(index, data, evidence.checksum(data)) + evidence.not_atomic(index.records) == []


@settings(max_examples=200)
@given(indexes, st.data())
def test_p21_every_change_of_a_byte_of_the_index_is_told(index: Index, data: st.DataObject) -> None:
    original = evidence_index.render(index)
    place = data.draw(st.integers(0, len(original) - 1))
    changed = bytearray(original)
    changed[place] ^= data.draw(st.integers(1, 255))
    read, problems = evidence_index.read(bytes(changed))
    if read is not None:
        problems += evidence.altered(read, bytes(changed), evidence.checksum(original))
    assert {problem.code for problem in problems} <= {"E302", "E304", "E305"}
    assert problems


@settings(max_examples=150)
@given(st.lists(ids, unique=True, max_size=6), st.data())
def test_p7_exactly_the_operations_without_a_record_are_missing(operations: list[str], data: st.DataObject) -> None:
    kept = [operation for operation in operations if data.draw(st.booleans())]
    found = evidence.inspected(operations, Index("S", tuple(map(recorded, kept))), ())
    assert found.missing == tuple(operation for operation in operations if operation not in kept)
    assert set(found.without_evidence) == set(found.missing)
