"""Masking of secrets in texts and JSON-like values, whole or in pieces.

One pass over the original text: of the rows of the table (see ``masking_patterns``) the first that covers a character
masks it. What is masked once stays as it is. The time grows evenly with the text.

What takes part in every write is here and cheap: a text without any hint of a secret never loads the rest.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from orchestrator.core.masking_patterns import FOLDER, HINTS, KEY_HINTS, MASKED, SHORTEST_VALUE, harmless

if typing.TYPE_CHECKING:
    from orchestrator.core.masking_machine import Machine

REDACTED = "[REDACTED]"
MASK = "[MASKED:"
"""How every token begins."""

OWN_TOKEN = re.compile(r'"claim_token":"[A-Za-z0-9][^"\\:]*:C[0-9]+(?:\.[0-9]+)?"')

_KEY_LITERALS = tuple(hint.literal for hint in KEY_HINTS)
_LITERALS = tuple(hint.literal for hint in HINTS if not hint.lower and hint not in KEY_HINTS and hint.head != "keep")
_EXAMPLE = "0x0x0x0x0x0x"
_NAMES = tuple(hint.literal for hint in HINTS if hint.lower)


def may_hold_keys(text: str, secrets: Sequence[str] = ()) -> bool:
    """Whether a key or registered value could be in a text; false in a microsecond for most texts."""
    for literal in _KEY_LITERALS:
        if literal in text and (literal != "sk-" or _sk_begins(text)):
            return True
    return any(secret[:SHORTEST_VALUE] in text for secret in secrets)


def _sk_begins(text: str) -> bool:
    """Whether `sk-` is more than the end of words such as `task-`."""
    if "\\" not in text and "%" not in text and "\x1b" not in text and text.count("sk-") == text.count("task-"):
        return False
    at = text.find("sk-")
    while at >= 0:
        if not text[at - 1 : at].isalnum() or "\\" in text[max(0, at - 6) : at] or "%" in text[max(0, at - 3) : at]:
            return True
        at = text.find("sk-", at + 1)
    return "\x1b" in text


def _may_hold_secrets(text: str, secrets: Sequence[str]) -> bool:
    # Names are what most texts have, and there are fewer of them.
    lower = text.lower()
    if any(name in lower for name in _NAMES):
        return True
    return may_hold_keys(text, secrets) or any(literal in text for literal in _LITERALS)


@typing.overload
def mask(text: str, secrets: Sequence[str] = ()) -> str: ...
@typing.overload
def mask(text: None, secrets: Sequence[str] = ()) -> None: ...
def mask(text: str | None, secrets: Sequence[str] = ()) -> str | None:
    """Mask everything that looks like a secret, for whatever is shown or exported.

    Args:
        text: what is to be shown; None stays None.
        secrets: registered values, masked wherever they occur; those of fewer than 8 characters are left out.

    Source: seed 001, Property 25, 3.
    """
    if not text or not _may_hold_secrets(text, secrets):
        return text
    return _machine(secrets, keys_only=False).feed(text, final=True)


@typing.overload
def mask_keys(text: str, secrets: Sequence[str] = ()) -> str: ...
@typing.overload
def mask_keys(text: None, secrets: Sequence[str] = ()) -> None: ...
def mask_keys(text: str | None, secrets: Sequence[str] = ()) -> str | None:
    """Mask keys and registered values alone, before anything is stored.

    Args:
        text: what is to be stored; None stays None.
        secrets: registered values; those of fewer than 8 characters are left out.

    Source: seed 001, Property 24, 3.
    """
    if not text or not may_hold_keys(text, secrets):
        return text
    return _machine(secrets, keys_only=True).feed(text, final=True)


def mask_keys_id(text: str, secrets: Sequence[str] = ()) -> str:
    """An id with its keys masked; behind them stands a hash, since two ids must stay two."""
    masked = mask_keys(text, secrets)
    whole = text.encode("utf-8", "surrogatepass")
    return text if masked == text else f"{masked}:{hashlib.sha256(whole).hexdigest()[:16]}"


def _machine(secrets: Sequence[str], keys_only: bool) -> Machine:
    from orchestrator.core import masking_machine

    return masking_machine.Machine(secrets, keys_only)


def leaks(text: str | None, secrets: Sequence[str] = ()) -> bool:
    """Whether anything is left to mask in a text that was masked; such a text must not be shown.

    Source: seed 001, Property 25, 4.
    """
    return bool(text) and mask(text, secrets) != text


def mask_value(value: Any, secrets: Sequence[str] = ()) -> Any:
    """The value with every string in it masked, names too; what a name that says secret holds is masked as a whole.

    Args:
        value: a JSON-like value: None, bool, numbers, strings, lists or tuples, mappings.
        secrets: registered values.
    """
    if isinstance(value, Mapping):
        masked = ((mask(name, secrets), item) for name, item in value.items())
        return {name: _mask_named(name, item, secrets) for name, item in masked}
    return _mask_all(value, lambda text: mask(text, secrets), lambda item: mask_value(item, secrets))


def is_plain(value: Any, secrets: Sequence[str] = ()) -> bool:
    """Whether `mask_value` would change nothing: one look at all texts together, which most answers pass.

    Args:
        value: a JSON-like value.
        secrets: registered values.
    """
    texts: list[str] = []
    return _gather(value, texts) and not _may_hold_secrets("\n".join(texts), secrets)


def _gather(value: Any, texts: list[str]) -> bool:
    """Collect names and texts; False where a name alone says that something is to be masked."""
    if isinstance(value, str):
        texts.append(value)
    elif isinstance(value, Mapping):
        for name, item in value.items():
            if isinstance(item, str | int | float) and not isinstance(item, bool) and named(name) is not None:
                return False
            texts.append(name)
            if not _gather(item, texts):
                return False
    elif isinstance(value, list | tuple):
        return all(_gather(each, texts) for each in value)
    return True


def mask_keys_value(value: Any, secrets: Sequence[str] = ()) -> Any:
    """The value with keys and registered values masked in every string and name in it, before it is stored."""
    if isinstance(value, Mapping):
        return {mask_keys(name, secrets): mask_keys_value(item, secrets) for name, item in value.items()}
    return _mask_all(value, lambda text: mask_keys(text, secrets), lambda item: mask_keys_value(item, secrets))


def mask_written(text: str, secrets: Sequence[str] = ()) -> str:
    r"""Mask a text that may be JSON, one document or one in each line: there each string is masked by itself.

    A newline is `\n` in JSON, and what follows it is no part of a value before it. What is not masked stays byte for
    byte.

    Args:
        text: what is to be shown.
        secrets: registered values.
    """
    if not text or not _may_hold_secrets(text, secrets):
        return text
    from orchestrator.core import masking_json

    return masking_json.masked(text, secrets)


def mask_event(text: str, secrets: Sequence[str] = ()) -> str:
    """Mask the input of an event, as `mask_written`, but for the tokens of claims, which the program makes itself.

    Args:
        text: the JSON on record; what is no JSON is masked as a text.
        secrets: registered values.
    """
    if mask_written(text, secrets) == text:
        return text
    from orchestrator.core import masking_json

    return masking_json.masked_but_for(text, OWN_TOKEN, secrets)


def mask_named(name: str, value: str | float, secrets: Sequence[str] = ()) -> str:
    """What is shown of a value in JSON: masked as a whole where its name says secret, else as any text."""
    return str(_mask_named(name, value, secrets))


def _mask_all(value: Any, text: Callable[[str], str], item: Callable[[Any], Any]) -> Any:
    if isinstance(value, str):
        return text(value)
    return [item(each) for each in value] if isinstance(value, list | tuple) else value


def _mask_named(name: str, value: Any, secrets: Sequence[str]) -> Any:
    """Mask a value as it would be masked behind its name."""
    token = None if isinstance(value, bool) or not isinstance(value, str | int | float) else named(name)
    if token is None or _harmless(name, str(value)):
        return mask_value(value, secrets)
    shown = mask(str(value), secrets)
    return shown if re.fullmatch(f"(?:{MASKED})+", shown) else token


def _harmless(name: str, value: str) -> bool:
    return harmless(value) or (name.lower().endswith("pwd") and bool(re.match(FOLDER, value)))


@functools.lru_cache(maxsize=1024)
def named(name: str) -> str | None:
    """The token of what a name in JSON holds, or None for a name that says nothing of a secret."""
    before = f"{json.dumps(name, ensure_ascii=False)}: "
    shown = mask(f'{before}"{_EXAMPLE}"')
    return None if not shown.startswith(before) or _EXAMPLE in shown else shown[len(before) + 1 : -1]


def redact_config(value: Any) -> Any:
    """The configuration with what secret-like names hold replaced by `[REDACTED]`; the names stay.

    Args:
        value: a JSON-like value. None and truth values tell nothing and stay.

    Source: seed 001, Property 15.
    """
    if isinstance(value, Mapping):
        return {name: REDACTED if _is_secret(str(name), item) else redact_config(item) for name, item in value.items()}
    return [redact_config(item) for item in value] if isinstance(value, list | tuple) else value


def _is_secret(name: str, value: Any) -> bool:
    return value is not None and not isinstance(value, bool) and named(name) is not None


def registered(values: Mapping[str, str | None]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What to mask of the environment variables that hold keys.

    Args:
        values: each variable's value; None or blanks where it is not set.

    Returns:
        The values, the longest first, also as JSON writes them; and a warning for each that is too short to be masked,
        which never holds the value.

    Source: seed 001, Property 24, 3.
    """
    stripped = {name: value.strip() for name, value in values.items() if value and value.strip()}
    long = {value for value in stripped.values() if len(value) >= SHORTEST_VALUE}
    escaped = {json.dumps(value, ensure_ascii=ascii)[1:-1] for value in long for ascii in (False, True)}
    warnings = tuple(
        f"{name} has fewer than {SHORTEST_VALUE} characters and is not masked, because ordinary words would be as well."
        for name, value in stripped.items()
        if len(value) < SHORTEST_VALUE
    )
    return tuple(sorted(long | escaped, key=lambda value: (-len(value), value))), warnings


class Stream:
    """Masks a text that comes in pieces as `mask` or `mask_keys` would mask it as a whole.

    What could be the beginning of a secret is held back, and no more than some thousand characters; the rest is given
    out at once. Each stream of a process needs one of its own.

    Args:
        secrets: registered values.
        keys_only: as `mask_keys`, for what is stored; else as `mask`.

    Source: seed 001, Property 25, 3.
    """

    def __init__(self, secrets: Sequence[str] = (), *, keys_only: bool) -> None:
        self._machine = _machine(secrets, keys_only)

    def feed(self, text: str) -> str:
        """Take the next piece; give out what is decided."""
        return self._machine.feed(text)

    def close(self, cut: bool = False) -> str:
        """Give out the rest.

        Args:
            cut: whether the writer was ended in the middle; then even the shortest beginning of a key at the end is
                masked, which in a whole text would be none.
        """
        return self._machine.feed("", final=True, cut=cut)
