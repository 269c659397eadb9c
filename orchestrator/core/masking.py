"""Masking of secrets in texts and JSON-like values, whole or in pieces.

One pass over the original text: of the rows of the table (see ``masking_patterns``) the first that covers a character
masks it. A second one follows only where a secret that is masked could have ended another (`masking_machine.Machine`).
What is masked once stays as it is. The time grows evenly with the text.

What takes part in every write is here and cheap: a text without any hint of a secret never loads the rest.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence

from orchestrator.core import sha256
from orchestrator.core.masking_letters import LONG_RUN, Letters, compiled
from orchestrator.core.masking_prefilter import BROKEN, COLOURED, HIDDEN, NOTHING, SHORTEST_VALUE, look
from orchestrator.hints import Any, overload

REDACTED = "[REDACTED]"
MASK = "[MASKED:"
"""How every token begins."""

OWN_CLAIM = r'"claim_token":"[A-Za-z0-9][^"\\:]*:C[0-9]+(?:\.[0-9]+)?"'

_EXAMPLE = "0x0x0x0x0x0x"


def may_hold_keys(text: str, secrets: Sequence[str] = ()) -> bool:
    """Whether a key or registered value could be in a text; false in a microsecond for most texts."""
    return look(text, secrets, keys_only=True) != NOTHING


def any_may_hold_keys(values: Iterable[Any], secrets: Sequence[str] = ()) -> bool:
    """The same of all names and texts in JSON-like values, in one look."""
    texts: list[str] = []
    _collect(values, texts)
    if not secrets:  # words that `_masked` leaves alone
        texts = [text for text in texts if len(text) >= LONG_RUN or not text.isidentifier()]
    return bool(texts) and look("\n".join(texts), secrets, keys_only=True) != NOTHING


def _collect(values: Iterable[Any], texts: list[str]) -> None:
    # What is empty, which is most of a call, holds nothing; whether a number is a Mapping is a costly question.
    for value in filter(None, values):
        if isinstance(value, str):
            texts.append(value)
        elif isinstance(value, (list, tuple)):
            _collect(value, texts)
        elif isinstance(value, dict) or (not isinstance(value, int) and isinstance(value, Mapping)):
            texts += value
            _collect(value.values(), texts)


def may_hold_secrets(text: str, secrets: Sequence[str] = ()) -> bool:
    """Whether anything in a text could have to be masked where it is shown; false for most texts, at once."""
    return look(text, secrets, keys_only=False) != NOTHING


@overload
def mask(text: str, secrets: Sequence[str] = ()) -> str: ...
@overload
def mask(text: None, secrets: Sequence[str] = ()) -> None: ...
def mask(text: str | None, secrets: Sequence[str] = ()) -> str | None:
    """Mask everything that looks like a secret, for whatever is shown or exported.

    Args:
        text: what is to be shown; None stays None.
        secrets: registered values, masked wherever they occur; those of fewer than 8 characters are left out.

    Source: seed 001, Property 25, 3.
    """
    return _masked(text, secrets, keys_only=False) if text else text


@overload
def mask_keys(text: str, secrets: Sequence[str] = ()) -> str: ...
@overload
def mask_keys(text: None, secrets: Sequence[str] = ()) -> None: ...
def mask_keys(text: str | None, secrets: Sequence[str] = ()) -> str | None:
    """Mask keys and registered values alone, before anything is stored.

    Args:
        text: what is to be stored; None stays None.
        secrets: registered values; those of fewer than 8 characters are left out.

    Source: seed 001, Property 24, 3.
    """
    return _masked(text, secrets, keys_only=True) if text else text


def mask_before_spelling(text: str) -> str:
    r"""A text that is about to be spelt out on one line, masked where that changes it: `\n` no longer ends a line.

    Args:
        text: what is to be shown.
    """
    return text if text.isprintable() else mask(text)


def mask_keys_id(text: str, secrets: Sequence[str] = ()) -> str:
    """An id with its keys masked; behind them stands a hash, since two ids must stay two."""
    masked = mask_keys(text, secrets)
    whole = text.encode("utf-8", "surrogatepass")
    return text if masked == text else f"{masked}:{sha256.new(whole).hexdigest()[:16]}"


def _masked(text: str, secrets: Sequence[str], keys_only: bool) -> str:
    if len(text) < LONG_RUN and not secrets and text.isidentifier():  # a word such as a status, too short for a key
        return text
    letters = Letters(text)
    found = look(text, secrets, keys_only=keys_only, letters=letters)
    if found in (NOTHING, HIDDEN):
        return text
    if found in (BROKEN, COLOURED):
        from orchestrator.core import masking_stream

        return masking_stream.masked(text, secrets, keys_only, found == COLOURED)
    from orchestrator.core import masking_machine

    return masking_machine.masked(text, secrets, keys_only, found, letters)


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
    texts: list[str] = []
    if _gather(value, texts, () if secrets else _HARMLESS) and not _alters(texts, mask, secrets):
        return value
    return _mask_deep(value, secrets)


def _mask_deep(value: Any, secrets: Sequence[str]) -> Any:
    if isinstance(value, Mapping):
        if _is_kubernetes_secret(value):
            value = {name: _named_secret(item) if name in _SECRET_DATA else item for name, item in value.items()}
        masked = ((_mask_member(name, secrets, mask), item) for name, item in value.items())
        return {name: _mask_named(name, item, secrets) for name, item in masked}
    return _mask_all(value, lambda text: _mask_member(text, secrets, mask), lambda item: _mask_deep(item, secrets))


_SECRET_DATA = ("data", "stringData")


def _is_kubernetes_secret(value: Mapping[str, Any]) -> bool:
    return value.get("kind") == "Secret" and any(map(value.__contains__, _SECRET_DATA))


def _named_secret(data: Any) -> Any:
    """What the data of a Kubernetes secret hold, masked as behind the name of a secret."""
    if isinstance(data, Mapping):
        return {name: _named_secret(item) for name, item in data.items()}
    return mask_named("secret", data) if isinstance(data, str) else data


def _alters(texts: list[str], masked: Callable[[str, Sequence[str]], str], secrets: Sequence[str]) -> bool:
    """Whether masking alters any of the texts of a value: one look at all of them, and where it finds one at each."""
    if look("\n".join(texts), secrets, keys_only=False) == NOTHING:
        return False
    return any(_mask_member(text, secrets, masked) != text for text in dict.fromkeys(texts))


def is_plain(value: Any, secrets: Sequence[str] = ()) -> bool:
    """Whether one look at all texts together says that `mask_value` would change nothing.

    Args:
        value: a JSON-like value.
        secrets: registered values.
    """
    texts: list[str] = []
    return _gather(value, texts, ()) and look("\n".join(texts), secrets, keys_only=False) == NOTHING


def _gather(value: Any, texts: list[str], harmless: Container[str]) -> bool:
    """Collect names and texts that may hold a secret; False where a name alone says that something is to be masked."""
    if isinstance(value, str):
        if value not in harmless:
            texts.append(value)
    elif isinstance(value, Mapping):
        if _is_kubernetes_secret(value):
            return False
        for name, item in value.items():
            if isinstance(item, str | int | float) and not isinstance(item, bool) and named(name) is not None:
                return False
            texts.append(name)
            if not _gather(item, texts, harmless):
                return False
    elif isinstance(value, list | tuple):
        return all(_gather(each, texts, harmless) for each in value)
    return True


def mask_keys_value(value: Any, secrets: Sequence[str] = ()) -> Any:
    """The value with keys and registered values masked in every string and name in it, before it is stored."""
    if isinstance(value, Mapping):
        return {mask_keys(name, secrets): mask_keys_value(item, secrets) for name, item in value.items()}
    return _mask_all(value, lambda text: mask_keys(text, secrets), lambda item: mask_keys_value(item, secrets))


def mask_document(document: Any, secrets: Sequence[str] = ()) -> Any:
    """An answer of the program with every text in it masked, as by `mask_written`; its names stay, and its own tokens.

    One look at all texts together comes first, and most answers need no other.

    Args:
        document: a JSON-like value.
        secrets: registered values.
    """
    texts = _texts(document)
    if not secrets:
        texts = [text for text in texts if text not in _HARMLESS]
    return _mask_members(document, secrets) if _alters(texts, mask_written, secrets) else document


def _mask_members(document: Any, secrets: Sequence[str]) -> Any:
    if isinstance(document, str):
        return _mask_member(document, secrets, mask_written)
    if isinstance(document, Mapping):
        return {name: _mask_members(each, secrets) for name, each in document.items()}
    return [_mask_members(each, secrets) for each in document] if isinstance(document, list | tuple) else document


_HARMLESS: set[str] = set()
"""Short texts that look like a secret's name and hold none, such as a status with `pass` in it: they come often."""
_LONGEST_HARMLESS, _MOST_HARMLESS = 160, 512


def _mask_member(text: str, secrets: Sequence[str], masked: Callable[[str, Sequence[str]], str]) -> str:
    """A text of a value masked; a short one that holds no secret, by itself or as JSON, is remembered."""
    if secrets or len(text) > _LONGEST_HARMLESS:
        return masked(text, secrets)
    if text in _HARMLESS or look(text, (), keys_only=False) == NOTHING:
        return text
    if text == mask(text) == mask_written(text):
        if len(_HARMLESS) >= _MOST_HARMLESS:
            _HARMLESS.clear()
        _HARMLESS.add(text)
        return text
    return masked(text, secrets)


def _texts(document: Any) -> list[str]:
    if isinstance(document, str):
        return [document]
    if isinstance(document, Mapping):
        document = document.values()
    elif not isinstance(document, list | tuple):
        return []
    return [text for each in document for text in _texts(each)]


def mask_written(text: str, secrets: Sequence[str] = ()) -> str:
    r"""Mask a text that may be JSON, one document or one in each line: there each string is masked by itself.

    A newline is `\n` in JSON, and what follows it is no part of a value before it. What is not masked stays byte for
    byte.

    Args:
        text: what is to be shown.
        secrets: registered values.
    """
    if not text or look(text, secrets, keys_only=False) == NOTHING:
        return text
    from orchestrator.core import masking_json

    return masking_json.masked(text, *_in_json(secrets))


def mask_event(text: str, secrets: Sequence[str] = ()) -> str:
    """Mask the input of an event, as `mask_written`, but for the tokens of claims, which the program makes itself.

    Args:
        text: the JSON on record; what is no JSON is masked as a text.
        secrets: registered values.
    """
    if mask_written(text, secrets) == text:
        return text
    from orchestrator.core import masking_json

    return masking_json.masked_but_for(text, compiled(OWN_CLAIM), *_in_json(secrets))


def _in_json(secrets: Sequence[str]) -> tuple[Callable[[str], str], Callable[[str, str | float], str | None]]:
    """How a text is masked in JSON, and a value behind a name; None where the name says nothing of a secret."""
    return lambda text: mask(
        text, secrets
    ), lambda name, value: mask_named(name, value, secrets) if named(name) is not None else None


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
        return _mask_deep(value, secrets)
    from orchestrator.core.masking_patterns import MASKED

    shown = mask(str(value), secrets)
    return shown if compiled(f"(?:{MASKED})+").fullmatch(shown) else token


def _harmless(name: str, value: str) -> bool:
    from orchestrator.core.masking_patterns import CLAIM, CLAIM_NAME, FOLDER, harmless

    if re.search(f"{CLAIM_NAME}token$", name, re.IGNORECASE) and re.fullmatch(CLAIM, value):
        return True
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
        The values, the longest first, also as usual encoders write them; and a warning for each that is too short
        to be masked, which never holds the value.

    What is masked beside a value itself: base64 of it, also in the middle of a longer text (the standard and the
    URL-safe alphabet), hex, percent-encoding, the escapes of JSON, references of HTML. What is encoded twice,
    compressed, encrypted, split or reversed is not known again.

    Source: seed 001, Property 24, 3.
    """
    stripped = {name: value.strip() for name, value in values.items() if value and value.strip()}
    long = {value for value in stripped.values() if len(value) >= SHORTEST_VALUE}
    written = {form for value in long for form in _forms(value)}
    warnings = tuple(
        f"{name} has fewer than {SHORTEST_VALUE} characters and is not masked: that would also mask ordinary words."
        for name, value in stripped.items()
        if len(value) < SHORTEST_VALUE
    )
    return tuple(sorted(long | written, key=lambda value: (-len(value), value))), warnings


_HTML = ({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"},
         {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&#34;", "'": "&#39;"},
         {"&": "&#38;", "<": "&#60;", ">": "&#62;", '"': "&#34;", "'": "&#39;"},
         {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;"},
         {"&": "&amp;", "<": "&lt;", ">": "&gt;"})  # fmt: skip
_SIGNS = {"html": "<>&'=+", "signs": "<>&'", "tags": "<>&"}
"""What encoders of JSON escape, beside what they must, so that it can stand in HTML."""
_PERCENT_KEPT = ("-._~", "-._~/", "-._~!'()*", "-._*", "-._~!$&'()*+,;=:@/?#")
"""What percent-encoders leave as it is beside letters and digits: of paths, components, forms and whole URLs."""


def _forms(value: str) -> set[str]:
    """How encoders write a value."""
    data = value.encode("utf-8", "surrogatepass")
    forms = {json.dumps(value, ensure_ascii=ascii)[1:-1] for ascii in (False, True)}
    forms |= {form.replace("/", "\\/") for form in forms}
    for hexes in ("{:02x}", "{:02X}"):
        forms.add("".join(map(hexes.format, data)))
        forms |= {"".join(map(f"%{hexes}".format, data)), "".join(map(f"\\x{hexes}".format, data))}
        units = "\\u" + hexes.replace("02", "04")
        forms |= {_escaped(value, units.format, kept) for kept in ("", "all", "html", "tags", "signs")}
        for kept in _PERCENT_KEPT:
            written = (chr(each) if _is_kept(each, kept) else f"%{hexes}".format(each) for each in data)
            escaped = "".join(written)
            forms |= {escaped, escaped.replace("%20", "+")}
    forms |= {"".join(table.get(each, each) for each in value) for table in _HTML}
    forms |= {"".join(map(reference.format, map(ord, value))) for reference in ("&#{};", "&#x{:x};", "&#x{:X};")}
    forms |= _base64(data)
    return {form for form in forms if len(form) >= SHORTEST_VALUE}


def _is_kept(byte: int, kept: str) -> bool:
    """Whether percent-encoding leaves a byte as it is."""
    return byte < 0x80 and (chr(byte).isalnum() or chr(byte) in kept)


def _escaped(value: str, escape: Callable[[int], str], kept: str) -> str:
    """A value in JSON: with all escaped, or with what HTML gives a meaning."""
    if kept in _SIGNS:
        return "".join(escape(ord(each)) if each in _SIGNS[kept] else json.dumps(each)[1:-1] for each in value)
    return "".join(escape(ord(each)) if kept != "all" or not each.isalnum() else each for each in value)


def _base64(data: bytes) -> set[str]:
    """The characters that the whole of a value alone decides, wherever in the encoded text it begins."""
    import binascii

    forms = set()
    for before in range(3):
        written = binascii.b2a_base64(bytes(before) + data, newline=False).decode()
        whole = written[-(-before * 8 // 6) : (before + len(data)) * 8 // 6]
        forms |= {whole, whole.replace("+", "-").replace("/", "_")}
    return forms
