"""Which providers there are, what each needs, which model is asked for, and whether keys are set.

Source: seed 001, Properties 23 and 24.
"""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.core.names import shown
from orchestrator.core.running import codes
from orchestrator.core.tuples import NamedTuple

CLAUDE_CODE, OPENAI, ANTHROPIC = "claude-code", "openai", "anthropic"
DEFAULT = CLAUDE_CODE
KEY_OF: dict[str, str | None] = {
    CLAUDE_CODE: None,
    OPENAI: "OPENAI_API_KEY",
    ANTHROPIC: "ANTHROPIC_API_KEY",
}
"""The providers, each with the environment variable of the key that it needs."""
KEYS = tuple(key for key in KEY_OF.values() if key is not None)
SET, NOT_SET = "SET", "NOT SET"


class Selection(NamedTuple):
    """The provider and model that are chosen; no model is allowed for claude-code alone."""

    provider: str = DEFAULT
    model: str | None = None


class Change(NamedTuple):
    """A new selection and the facts that are recorded of the change."""

    selection: Selection
    evidence: dict[str, str | None]


def provider(name: str | None) -> str:
    """The provider of a name; none means claude-code.

    Raises:
        Refused: E104, any other name; data ``known``.
    """
    if name is None:
        return DEFAULT
    if name not in KEY_OF:
        sentence = f"There is no provider {shown(name)}; there are {', '.join(KEY_OF)}."
        raise codes.refused("E104", sentence, known=list(KEY_OF))
    return name


def model(of: str, name: str | None) -> str | None:
    """The model's name just as it was given; no catalogue is asked.

    Raises:
        Refused: E104, the name is blank, or there is none for a provider that needs one.
    """
    if name is None and of == CLAUDE_CODE:
        return None
    if name is None or not name.strip():
        raise codes.refused("E104", f"Provider {of} needs the name of a model, such as by /model NAME.", provider=of)
    return name


def use_provider(now: Selection, name: str | None) -> Change:
    """Choose a provider. Another one than before has no model chosen yet.

    Raises:
        Refused: E104.
    """
    chosen = provider(name)
    return _change(now, now if chosen == now.provider else Selection(chosen))


def use_model(now: Selection, name: str | None) -> Change:
    """Choose a model of the provider.

    Raises:
        Refused: E104.
    """
    return _change(now, now._replace(model=model(now.provider, name)))


def check(now: Selection, variables: Mapping[str, str]) -> None:
    """Refuse to call an executor whose provider, model or key is not there.

    Raises:
        Refused: E104; E503, the key is NOT SET, with the command that sets it; data ``variable``.
    """
    model(provider(now.provider), now.model)
    key = KEY_OF[now.provider]
    if key is not None and key_state(variables, key) == NOT_SET:
        refusal = codes.refused("E503", f"{key} is {NOT_SET}, and provider {now.provider} needs it.", variable=key)
        refusal.suggestion = f"export {key}=<your key>"
        raise refusal


def key_state(variables: Mapping[str, str], key: str) -> str:
    """SET or NOT SET; blank is not set. Nothing of the value is ever told."""
    return SET if variables.get(key, "").strip() else NOT_SET


def key_states(variables: Mapping[str, str]) -> dict[str, str]:
    """SET or NOT SET for every key that a provider may need."""
    return {key: key_state(variables, key) for key in KEYS}


def _change(before: Selection, after: Selection) -> Change:
    evidence = {
        "provider_before": before.provider,
        "provider": after.provider,
        "model_before": before.model,
        "model": after.model,
    }
    return Change(after, evidence)
