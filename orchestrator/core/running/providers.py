"""Which providers there are, what each needs, which model is asked for, and whether keys are set.

Source: seed 001, Properties 23 and 24.
"""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.names import shown
from orchestrator.core.running import codes

CLAUDE_CODE, CODEX, OPENAI, ANTHROPIC = "claude-code", "codex", "openai", "anthropic"
DEFAULT = CLAUDE_CODE
KEY_OF: dict[str, str | None] = {
    CLAUDE_CODE: None,
    CODEX: None,
    OPENAI: "OPENAI_API_KEY",
    ANTHROPIC: "ANTHROPIC_API_KEY",
}
"""The providers, each with the environment variable of the key that it needs; a program has a login of its own."""
KEYS = tuple(key for key in KEY_OF.values() if key is not None)
SET, NOT_SET = "SET", "NOT SET"
NAME_A_MODEL = "Name it with --model NAME; in a REPL, with /model NAME"


class Selection(NamedTuple):
    """The provider and model that are chosen; a program with a login of its own may choose the model itself."""

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
        sentence = f"Unknown provider {shown(name)}; use one of: {', '.join(KEY_OF)}."
        raise codes.refused("E104", sentence, known=list(KEY_OF))
    return name


def asked(executor: str | None, named: str | None, name: str | None) -> tuple[str | None, Selection]:
    """What flags ask for: the executor, None where it is the provider's own, and who is chosen.

    An executor that is a provider's chooses that provider, with the key and the model that it needs. That no model is
    named is no fault yet: one may be chosen later.

    Args:
        executor, named, name: the executor, the provider and the model, as far as they were given.

    Raises:
        Refused: E104, another provider, one that is not the executor's, or a blank model.
    """
    own = executor if executor in KEY_OF else None
    chosen = provider(own if named is None else named)
    if own is not None and chosen != own:
        refusal = codes.refused("E104", f"The executor {own} does not belong to provider {chosen}.", provider=chosen)
        refusal.suggestion = f"Leave --executor out, or repeat with --provider {own}"
        raise refusal
    return None if own is not None else executor, Selection(chosen, None if name is None else model(chosen, name))


def model(of: str, name: str | None) -> str | None:
    """The model's name just as it was given; no catalogue is asked.

    Raises:
        Refused: E104, the name is blank, or there is none for a provider that needs one.
    """
    if name is None and KEY_OF[of] is None:
        return None
    if name is None or not name.strip():
        what = f"Provider {of} needs a model name." if name is None else "The model name is blank."
        refusal = codes.refused("E104", what, provider=of)
        refusal.suggestion = NAME_A_MODEL
        raise refusal
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
        refusal.suggestion = setting(key)
        raise refusal


def setting(key: str) -> str:
    """The command that sets a key; what stands for the key is nothing that would be masked where it is shown."""
    return f"export {key}=KEY"


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
