"""A project's settings: exactly the defaults, exactly the ranges, and nothing taken of a file that has a fault."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.core.running import config, tests_exist
from orchestrator.core.running.config import Settings
from orchestrator.errors import InvalidInput

NUMBERS = [
    ("task_limits", "files", 5, 1, 20),
    ("task_limits", "tests", 10, 1, 50),
    ("task_limits", "seconds", 300, 30, 900),
    ("parallel_limits", "subagents", 9, 1, 9),
    ("parallel_limits", "executors", 4, 1, 4),
    ("timeouts", "deadlock_timeout_seconds", 60, 30, 300),
    ("timeouts", "operation_timeout_seconds", 120, 10, 600),
    ("evidence_settings", "retention_days", 30, 1, 365),
]
by_name = pytest.mark.parametrize(
    ("section", "key", "default", "low", "high"), NUMBERS, ids=[f"{row[0]}.{row[1]}" for row in NUMBERS]
)

OF_CLAUDE_CODE = {
    "$schema": "https://json.schemastore.org/claude-code-settings.json",
    "permissions": {"allow": ["Bash(npm run lint)"], "deny": [], "defaultMode": "acceptEdits"},
    "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "x"}]}]},
    "env": {"FOO_BAR": "1"},
    "model": "a-model",
    "statusLine": {"type": "command", "command": "x"},
    "attribution": {"commit": ""},
    "sandbox": {"enabled": True},
    "enabledMcpjsonServers": ["memory"],
    "cleanupPeriodDays": 20,
}


def faults(data: Any) -> list[tuple[str, str]]:
    with pytest.raises(InvalidInput) as caught:
        config.parse(data)
    assert caught.value.code == caught.value.data["problems"][0]["code"]
    return [(problem["code"], problem["path"]) for problem in caught.value.data["problems"]]


def flat(found: Settings) -> tuple[object, ...]:
    return tuple(value for section in config.RANGES for value in getattr(found, section))


@pytest.mark.parametrize("data", ["{}", b"{}", {}, '{"orchestrator": {}}', '\ufeff{"orchestrator":{"timeouts":{}}}'])
def test_what_is_not_set_has_its_default(data: Any) -> None:
    assert flat(config.parse(data)) == (5, 10, 300, 9, 4, 60, 120, 30, True)


@by_name
def test_both_ends_of_a_range_are_allowed(section: str, key: str, default: int, low: int, high: int) -> None:
    found = [config.parse({section: {key: value}}) for value in (low, high)]
    assert [getattr(getattr(each, section), key) for each in found] == [low, high]
    assert getattr(getattr(Settings(), section), key) == default


@by_name
def test_beyond_a_range_is_e104(section: str, key: str, default: int, low: int, high: int) -> None:
    for value in (low - 1, high + 1, -default, 10**30):
        assert faults({section: {key: value}}) == [("E104", f"$.{section}.{key}")]


@pytest.mark.parametrize(
    "value", ["5", 5.0, None, True, [], {}, "", 5.5], ids=lambda value: f"{type(value).__name__} {value}"
)
@by_name
def test_another_type_than_a_whole_number_is_e104(
    section: str, key: str, default: int, low: int, high: int, value: object
) -> None:
    assert faults({"orchestrator": {section: {key: value}}}) == [("E104", f"$.orchestrator.{section}.{key}")]


@pytest.mark.parametrize("value", [0, 1, "true", None, []])
def test_whether_evidence_is_compressed_is_true_or_false(value: object) -> None:
    assert faults({"evidence_settings": {"compression_enabled": value}}) == [
        ("E104", "$.evidence_settings.compression_enabled")
    ]
    assert not config.parse({"evidence_settings": {"compression_enabled": False}}).evidence_settings[1]


@pytest.mark.parametrize(
    "data",
    [
        "{bad", "", " ", '{"task_limits": {"files": 5}', '{"a": 1, "a": 2}', '{"a": NaN}', b"\xff\xfe{\0}\0", b"{\xe9}",
        "{} {}", "[" * 200, "{'a': 1}", "{// no\n}",
    ],
    ids=["bad", "empty", "blank", "cut", "key twice", "NaN", "UTF-16", "Latin-1", "two", "deep", "quotes", "comment"],
)  # fmt: skip
def test_what_is_no_json_is_e105(data: bytes | str) -> None:
    assert [code for code, _ in faults(data)] == ["E105"]


@pytest.mark.parametrize("data", ["[]", "1", '"x"', "null", "true"])
def test_what_is_no_object_is_e104(data: str) -> None:
    assert faults(data) == [("E104", "$")]


@pytest.mark.parametrize(
    ("document", "path"),
    [
        ({"orchestrator": {"task_limit": {}}}, "$.orchestrator.task_limit"),
        ({"orchestrator": {"foo": 1}}, "$.orchestrator.foo"),
        ({"orchestrator": {"permissions": {}}}, "$.orchestrator.permissions"),
        ({"orchestrator": {"task_limits": {"file": 1}}}, "$.orchestrator.task_limits.file"),
        ({"task_limits": {"FILES": 1}}, "$.task_limits.FILES"),
        ({"timeouts": {"": 1}}, "$.timeouts['']"),
        ({"task_limit": {}}, "$.task_limit"),
        ({"unknown_key": 1}, "$.unknown_key"),
        ({"orchestrater": {}}, "$.orchestrater"),
        ({"Orchestrator": {}}, "$.Orchestrator"),
        ({"timeout": 5}, "$.timeout"),
        ({"taskLimits": {}}, "$.taskLimits"),
        ({"orchestrator": []}, "$.orchestrator"),
        ({"orchestrator": None}, "$.orchestrator"),
        ({"task_limits": []}, "$.task_limits"),
        ({"orchestrator": {"task_limits": None}}, "$.orchestrator.task_limits"),
        ({"task_limits": {}, "orchestrator": {"task_limits": {}}}, "$.orchestrator.task_limits"),
        ({"orchestrator": {"detection": {"tests": []}}}, "$.orchestrator.detection.tests"),
        ({"orchestrator": {"detection": {"test_files": "a"}}}, "$.orchestrator.detection.test_files"),
        ({"orchestrator": {"detection": {"test_files": ["a", " "]}}}, "$.orchestrator.detection.test_files[1]"),
        ({"orchestrator": {"detection": {"checks": {"test": []}}}}, "$.orchestrator.detection.checks.test"),
        ({"orchestrator": {"detection": {"checks": {"lint": "ruff"}}}}, "$.orchestrator.detection.checks.lint"),
        ({"orchestrator": {"detection": {"checks": {"lint": [[]]}}}}, "$.orchestrator.detection.checks.lint[0]"),
        ({"orchestrator": {"detection": {"checks": {"lint": [[1]]}}}}, "$.orchestrator.detection.checks.lint[0][0]"),
        ({"orchestrator": {"detection": []}}, "$.orchestrator.detection"),
        ({"orchestrator": {"detection": {"checks": 1}}}, "$.orchestrator.detection.checks"),
        ({1: 2}, "$"),
    ],
)
def test_an_unknown_name_or_shape_of_ours_is_e104(document: Any, path: str) -> None:
    assert faults(document) == [("E104", path)]


def test_a_name_that_was_probably_meant_is_suggested() -> None:
    with pytest.raises(InvalidInput, match="did you mean files"):
        config.parse({"task_limits": {"file": 1}})


def test_what_belongs_to_claude_code_stands_beside_ours() -> None:
    ours = {"orchestrator": {"task_limits": {"files": 7}}, "timeouts": {"operation_timeout_seconds": 10}}
    found = config.parse(json.dumps(OF_CLAUDE_CODE | ours))
    assert (found.task_limits.files, found.timeouts.operation_timeout_seconds) == (7, 10)


def test_all_problems_are_told_and_nothing_is_taken() -> None:
    document = {
        "task_limits": {"files": 0, "tests": 51, "seconds": 29},
        "orchestrator": {"parallel_limits": {"subagents": 10, "executors": 5}, "nonsense": 1},
    }
    assert len(faults(document)) == 6
    with pytest.raises(InvalidInput, match="and 2 more"):
        config.parse({"orchestrator": dict.fromkeys("abcdefghijkl")})


def test_the_file_of_ours_holds_the_sections_by_name_and_wins() -> None:
    shared = {"task_limits": {"files": 2, "tests": 3}, "orchestrator": {"detection": {"source_extensions": [".a"]}}}
    own = {"task_limits": {"files": 7}, "detection": {"checks": {"lint": [["lint"]]}}}
    found = config.parse(shared, own)
    assert (found.task_limits.files, found.task_limits.tests) == (7, 3)
    assert (found.detection.source_extensions, dict(found.detection.checks)) == ((".a",), {"lint": (("lint",),)})
    assert config.parse(shared, {}) == config.parse(shared)


def test_every_unknown_key_of_the_file_of_ours_is_an_error() -> None:
    with pytest.raises(InvalidInput) as caught:
        config.parse({}, OF_CLAUDE_CODE)
    assert len(caught.value.data["problems"]) == len(OF_CLAUDE_CODE)


def test_detection_can_be_set() -> None:
    given_ = {"source_extensions": [".x"], "checks": {"lint": [["lint", "."]], "tests": []}}
    found = config.parse({"orchestrator": {"detection": given_}}).detection
    assert found.source_extensions == (".x",)
    assert found.test_files == tests_exist.TEST_FILES
    assert dict(found.checks) == {"lint": (("lint", "."),), "tests": ()}


@settings(max_examples=200)
@given(st.data())
def test_p3_a_file_is_taken_exactly_if_every_number_is_in_range(data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.sampled_from(NUMBERS), unique_by=lambda row: row[:2]))
    document: dict[str, dict[str, int]] = {}
    bad = []
    for section, key, _, low, high in chosen:
        value = data.draw(st.integers(low - 3, high + 3))
        document.setdefault(section, {})[key] = value
        if not low <= value <= high:
            bad.append(("E104", f"$.orchestrator.{section}.{key}"))
    text = json.dumps({"orchestrator": document})
    if bad:
        assert sorted(faults(text)) == sorted(bad)
    else:
        found = config.parse(text)
        assert {name: getattr(found, name)._asdict() for name in config.RANGES} == {
            name: getattr(Settings(), name)._asdict() | document.get(name, {}) for name in config.RANGES
        }


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
names = st.sampled_from(["orchestrator", "detection", "checks", "lint", "files", *config.RANGES]) | st.text(max_size=8)


@settings(max_examples=200)
@given(st.dictionaries(names, st.dictionaries(names, json_values, max_size=3) | json_values, max_size=3))
def test_p3_any_document_gives_settings_or_problems_and_nothing_else(document: dict[str, Any]) -> None:
    try:
        found: object = config.parse(document)
    except InvalidInput as error:
        found = error
    problems = config.check(document)
    assert isinstance(found, InvalidInput if problems else Settings)


def test_an_error_names_a_key_as_it_is_written() -> None:
    with pytest.raises(InvalidInput) as caught:
        config.parse({"orchestrator": {"task_limits": {"files": 0}}})
    assert caught.value.message.startswith("orchestrator.task_limits.files must be a whole number")
