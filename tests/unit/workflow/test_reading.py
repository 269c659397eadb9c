"""The strict reader: equal to the standard one on good JSON, and never an exception on anything else."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestrator.core import json_positions
from orchestrator.core.workflow import checks, loader, model, problems
from tests.unit.workflow import build

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-(10**30), 10**30), st.floats(allow_nan=False, allow_infinity=False), TEXTS
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4), max_leaves=15
)
RULE_ID = re.compile(r"W[1-3][0-9]{2}")


@given(VALUES, st.sampled_from([None, 2]), st.booleans())
def test_good_json_reads_as_the_standard_library_reads_it(value: Any, indent: int | None, escaped: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=escaped)
    reader = json_positions.Reader(text, loader.MAX_DEPTH)
    assert (reader.read(), reader.faults) == (json.loads(text), [])


@given(st.text(alphabet='{}[]",:0123456789.eE+-truefalsn \n\\u', max_size=30))
def test_it_accepts_what_the_standard_library_accepts(text: str) -> None:
    assert outcome(lambda: json_positions.Reader(text, loader.MAX_DEPTH).read()) == outcome(lambda: standard(text))


def outcome(read: Callable[[], Any]) -> tuple[bool, Any]:
    try:
        return True, read()
    except (json_positions.Unreadable, ValueError):
        return False, None


def standard(text: str) -> Any:
    # Texts whose duplicates differ are compared by what the reader keeps of them: two objects joined.
    return json.loads(text, parse_constant=_refuse, object_pairs_hook=_joined_pairs)


def _joined_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, value in pairs:
        both = isinstance(value, dict) and isinstance(made.get(key), dict)
        made[key] = {**made[key], **value} if both else value
    return made


def _refuse(word: str) -> None:
    raise ValueError(f"no {word}")


def test_lines_and_paths() -> None:
    assert loader.lines('{\n "a": [\n  1,\n  {"b": 2}\n ]\n}') == {
        (): 1, ("a",): 2, ("a", 0): 3, ("a", 1): 4, ("a", 1, "b"): 4,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ('{"a": 1,}', "Not JSON: a key in double quotes is expected (line 1, column 9).", 1),
        ('{"a" 1}', "Not JSON: a colon is expected (line 1, column 6).", 1),
        ('{"a": 1 "b": 2}', "Not JSON: a comma or a closing brace is expected (line 1, column 9).", 1),
        ("[1 2]", "Not JSON: a comma or a closing bracket is expected (line 1, column 4).", 1),
        ('{\n"a": yes}', "Not JSON: yes is not a JSON value (line 2, column 6).", 2),
        ('{"a": }', "Not JSON: a value is expected (line 1, column 7).", 1),
        ('{"a":', "Not JSON: the file ends too early (line 1, column 6).", 1),
        ('{"a": 1', "Not JSON: the file ends too early (line 1, column 8).", 1),
        ("{} {}", "Not JSON: there is text after the end of the JSON value (line 1, column 4).", 1),
    ],
)
def test_messages_say_what_was_expected_and_where(text: str, message: str, line: int) -> None:
    (problem,) = loader.load_text(text.encode(), "f").problems
    assert (problem.message, problem.line) == (message, line)


def test_duplicates_are_found_at_every_depth() -> None:
    text = b'{"developer": {"X": {"action": "spawn", "action": "spawn"}}, "developer": {}}'
    paths = [problem.path for problem in loader.load_text(text, "f").problems]
    assert paths == ["$.developer.X.action", "$.developer"]


def test_a_byte_order_mark_changes_nothing_but_the_warning() -> None:
    plain, marked = build.encoded(build.CLEAN), b"\xef\xbb\xbf" + build.encoded(build.CLEAN)
    a, b = checks.check(plain, "f"), checks.check(marked, "f")
    assert (a.ok, b.ok, a.hash == b.hash, build.ids(b)) == (True, True, True, ["W107"])


def sane(report: checks.Report) -> bool:
    """Whether a report is well formed whatever the file was."""
    errors = any(problem.severity == problems.ERROR for problem in report.problems)
    return (
        report.ok is not errors
        and (report.document is None) is errors
        and all(RULE_ID.fullmatch(p.id) and p.path.startswith("$") and p.message and p.hint for p in report.problems)
    )


@given(st.binary(max_size=200))
def test_any_bytes_give_a_report(data: bytes) -> None:
    assert sane(checks.check(data, "f"))


@given(VALUES)
def test_any_json_gives_a_report(value: Any) -> None:
    assert sane(checks.check(json.dumps(value).encode(), "f"))


def places(node: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    return [path, *(place for key, value in items for place in places(value, (*path, key)))][0 if path else 1 :]


FULL = build.document(
    build.rule("loop_guard", max_visits=3, on_exhausted=["tech_lead", "question"]),
    build.rule("testing_mode_minimal", affected_statuses=["READY_FOR_REVIEW"], override_next_agent="tech_lead"),
    build.rule("escalation_after_failures", threshold=2, escalation_agent="tech_lead"),
    build.rule("security_sensitive", force_agent="developer", mandatory_review=True),
    build.rule("research_tasks", agent="developer", max_parallel=2),
    build.rule("investigation_budget", max_iterations=2, on_exhausted="tech_lead"),
    build.aliases(DONE="BAZINGA"),
    build.put("developer", "BLOCKED", next_agent="tech_lead", action="spawn", include_context=["a", "b"]),
)
WORDS = st.sampled_from(
    ["spawn", "respawn", "spawn_batch", "check_phase", "end_session", "developer", "validator", "qa_expert", "block",
     "_return_to_blocked", "_note", "", "question", "effect", "next_agent", "then", "approve", "BLOCKED", "blocked"]
)  # fmt: skip


@st.composite
def mutated(draw: st.DrawFn) -> dict[str, Any]:
    document = copy.deepcopy(FULL)
    for _ in range(draw(st.integers(1, 4))):
        found = places(document)
        if not found:
            break
        *parents, last = draw(st.sampled_from(found))
        node: Any = document
        for key in parents:
            node = node[key]
        act = draw(st.sampled_from(["replace", "remove", "rename"]))
        if act == "replace" or isinstance(node, list):
            node[last] = draw(st.one_of(WORDS, VALUES))
        elif act == "remove":
            del node[last]
        else:
            node[draw(st.one_of(WORDS, TEXTS))] = node.pop(last)
    return document


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
@given(mutated())
def test_a_mutated_file_gives_problems_and_never_an_exception(document: dict[str, Any]) -> None:
    report = checks.check(json.dumps(document).encode(), "f")
    assert sane(report)
    if report.document is not None:
        assert report.workflow == model.parse(json.loads(report.canonical_text))


@given(st.data())
def test_a_file_with_mutated_bytes_gives_a_report(data: st.DataObject) -> None:
    content = bytearray(build.encoded(FULL))
    for _ in range(data.draw(st.integers(1, 5))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    assert sane(checks.check(bytes(content), "f"))


def test_the_unmutated_file_is_valid() -> None:
    assert checks.check(build.encoded(FULL), "f").ok


@pytest.mark.parametrize("place", ["role", "status", "alias"])
def test_an_empty_name_is_no_exception(place: str) -> None:
    entry = {"next_agent": "qa_expert", "action": "spawn"}
    document: dict[str, Any] = {"developer": {"READY_FOR_QA": entry}, "_status_aliases": {"DONE": "READY_FOR_QA"}}
    if place == "role":
        document[""] = {"READY_FOR_QA": entry}
    elif place == "status":
        document["developer"][""] = entry
    else:
        document["_status_aliases"][""] = "READY_FOR_QA"
    report = checks.check(json.dumps(document).encode(), "f")
    assert sane(report)
    if report.document is not None:
        assert report.workflow == model.parse(json.loads(report.canonical_text))
