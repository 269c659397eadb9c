"""P23 and P24: four providers, a model's name passed through, keys that are only ever SET or NOT SET."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core import masking
from orchestrator.core.running import codes, providers
from orchestrator.core.running.providers import Selection
from orchestrator.errors import Refused


@pytest.mark.parametrize("name", ["claude-code", "codex", "openai", "anthropic"])
def test_p23_there_are_four_providers(name: str) -> None:
    assert (providers.provider(name), len(providers.KEY_OF)) == (name, 4)


def test_p23_without_a_name_the_provider_is_claude_code() -> None:
    assert providers.provider(None) == "claude-code"


@pytest.mark.parametrize("name", ["foo", "", "OpenAI", " openai"])
def test_p23_any_other_provider_is_an_error(name: str) -> None:
    with pytest.raises(Refused) as problem:
        providers.provider(name)
    known = ["claude-code", "codex", "openai", "anthropic"]
    assert (problem.value.code, problem.value.data["known"]) == ("E104", known)


@pytest.mark.parametrize(
    ("of", "name"),
    [("openai", ""), ("openai", "  "), ("openai", None), ("anthropic", None), ("claude-code", "")],
)
def test_p23_a_model_without_a_name_is_an_error(of: str, name: str | None) -> None:
    with pytest.raises(Refused) as problem:
        providers.model(of, name)
    assert problem.value.code == "E104"


@pytest.mark.parametrize("of", ["claude-code", "codex"])
def test_p23_a_program_with_a_login_of_its_own_needs_no_model(of: str) -> None:
    assert providers.model(of, None) is None


@given(st.sampled_from(["claude-code", "openai", "anthropic"]), st.text().filter(str.strip))
def test_p19_the_model_is_passed_through_as_it_was_given(of: str, name: str) -> None:
    assert providers.use_model(Selection(of), name).selection == Selection(of, name)


def test_p23_another_provider_resets_the_model_and_each_change_is_evidence() -> None:
    change = providers.use_provider(Selection("openai", "m-1"), "anthropic")
    assert change == providers.Change(
        Selection("anthropic"),
        {"provider_before": "openai", "provider": "anthropic", "model_before": "m-1", "model": None},
    )


def test_p23_the_same_provider_keeps_the_model() -> None:
    assert providers.use_provider(Selection("openai", "m-1"), "openai").selection == Selection("openai", "m-1")


@pytest.mark.parametrize(
    ("variables", "state"),
    [({}, "NOT SET"), ({"OPENAI_API_KEY": ""}, "NOT SET"), ({"OPENAI_API_KEY": "  "}, "NOT SET"),
     ({"OPENAI_API_KEY": "x"}, "SET")],
    ids=["absent", "empty", "blank", "set"],
)  # fmt: skip
def test_p24_a_key_is_set_or_not_set(variables: dict[str, str], state: str) -> None:
    assert providers.key_states(variables) == {"OPENAI_API_KEY": state, "ANTHROPIC_API_KEY": "NOT SET"}


def test_p24_without_the_key_that_is_needed_no_executor_is_called() -> None:
    with pytest.raises(Refused) as problem:
        providers.check(Selection("anthropic", "m"), {"OPENAI_API_KEY": "x"})
    found = (problem.value.code, problem.value.message, problem.value.suggestion)
    assert found == (
        "E503", "ANTHROPIC_API_KEY is NOT SET, and provider anthropic needs it.", "export ANTHROPIC_API_KEY=KEY",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("chosen", "variables"),
    [
        pytest.param(Selection(), {}, id="claude-code needs neither key nor model"),
        pytest.param(Selection("openai", "m"), {"OPENAI_API_KEY": "x"}, id="a key that is set"),
    ],
)
def test_p24_with_everything_that_is_needed_the_executor_may_be_called(
    chosen: Selection, variables: dict[str, str]
) -> None:
    assert providers.check(chosen, variables) is None  # type: ignore[func-returns-value]


@pytest.mark.parametrize("chosen", [Selection("foo", "m"), Selection("openai")], ids=["provider", "model"])
def test_p23_a_wrong_selection_calls_no_executor(chosen: Selection) -> None:
    with pytest.raises(Refused) as problem:
        providers.check(chosen, {"OPENAI_API_KEY": "x"})
    assert problem.value.code == "E104"


@given(st.text(min_size=8))
def test_p24_nothing_of_a_key_is_told(key: str) -> None:
    told = providers.key_states({"OPENAI_API_KEY": key, "ANTHROPIC_API_KEY": key})
    assert set(told.values()) <= {"SET", "NOT SET"}


@pytest.mark.parametrize("key", providers.KEYS)
def test_p24_the_command_that_sets_a_key_is_shown_as_it_is_typed(key: str) -> None:
    assert masking.mask(f"Say: {providers.setting(key)}") == f"Say: export {key}=KEY"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param((None, None, None), (None, Selection("claude-code")), id="nothing"),
        pytest.param(("openai", None, None), (None, Selection("openai")), id="a provider's executor chooses it"),
        pytest.param(("openai", "openai", "m"), (None, Selection("openai", "m")), id="both"),
        pytest.param(("command:x", "openai", None), ("command:x", Selection("openai")), id="a program"),
    ],
)
def test_p23_what_flags_ask_for(
    given: tuple[str | None, str | None, str | None], expected: tuple[str | None, Selection]
) -> None:
    assert providers.asked(*given) == expected


@pytest.mark.parametrize(
    "given",
    [
        (None, None, ""), (None, None, "  "), ("command:x", "openai", ""), ("openai", "anthropic", "m"),
        (None, "x", None),
    ],
    ids=["empty", "blank", "empty with a program", "an executor of another provider", "no provider"],
)
def test_p23_flags_that_ask_for_nothing_that_there_is(given: tuple[str | None, str | None, str | None]) -> None:
    with pytest.raises(Refused) as problem:
        providers.asked(*given)
    assert problem.value.code == "E104"
    assert problem.value.suggestion != codes.CODES["E104"].remedy or given[1] == "x"
