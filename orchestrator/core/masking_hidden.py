r"""What a terminal does not show: colours, cursor codes, titles, controls and zero-width characters.

They are taken out of a text before a secret is looked for in it, since they could break one; also where they are spelt
out, as code, JSON and logs do: `\x1b[31m`, `\u200b`, `\N{ESC}[0m`, `^[[0m`. A code ends as in a terminal.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence

from orchestrator.core.masking_letters import SPELT_BEGINS, Letters, all_seen, compiled
from orchestrator.core.masking_patterns import BEGINS

_BEGINS_VALUE = 8
"""Characters of a registered value that show where it begins."""
STRING_LENGTH = 4_096
"""A longer title or link is taken for text."""
_SPELT_LENGTH = 256
"""A longer title that is spelt out is taken for text."""
UNSEEN = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff"
)
"""Characters that no terminal shows, and that begin what it does not show."""

_OCTAL = r"0?(?:0[0-7][0-7](?<!0(?:11|12|15))|177)|00?(?![0-7])"
_HEXES = (
    r"(?:0[0-8bcefBCEF]|1[0-9a-fA-F]|[89][0-9a-fA-F]|7[fF]|[aA][dD]|34[fF]|61[cC]|11(?:5[fF]|60)|17[bB][45]"
    r"|180[b-fB-F]|20(?:0[b-fB-F]|2[a-eA-E]|6[0-9a-fA-F])|3164|[fF][eE](?:0[0-9a-fA-F]|[fF]{2})|[fF]{2}[aA]0"
    r"|[fF]{3}[9abAB]|[eE]0[0-9a-fA-F]{3})"
)
"""Of such characters the numbers in hex, without zeros before them, but for those that have but one digit."""
_FOUR = (
    r"(?:00(?:0[0-8bcefBCEF]|1[0-9a-fA-F]|[89][0-9a-fA-F]|7[fF]|[aA][dD])|034[fF]|061[cC]|11(?:5[fF]|60)|17[bB][45]"
    r"|180[b-fB-F]|20(?:0[b-fB-F]|2[a-eA-E]|6[0-9a-fA-F])|3164|[fF][eE](?:0[0-9a-fA-F]|[fF]{2})|[fF]{2}[aA]0"
    r"|[fF]{3}[9abAB])"
)
_NAMES = (
    r"(?:ESC(?:APE)?|NULL?|BELL?|BACKSPACE|DELETE|SOFT HYPHEN|WORD JOINER|COMBINING GRAPHEME JOINER"
    r"|ZERO WIDTH [A-Z -]{5,17}|[A-Z]{4,5}-TO-[A-Z]{4,5} [A-Z]{4,9}|POP DIRECTIONAL [A-Z]{7,10})"
)
_SPELT = (
    rf"x(?:0[0-8bcefBCEF]|1[0-9a-fA-F]|[89][0-9a-fA-F]|7[fF]|[aA][dD]|\{{0{{0,6}}{_HEXES}\}})|u(?:{_FOUR}"
    rf"|\{{0{{0,6}}{_HEXES}\}})|u[dD][bB]4[0-3]\\{{1,4}}u[dD][c-fC-F][0-9a-fA-F]{{2}}|U000(?:0{_FOUR}|[eE]0[0-9a-fA-F]{{3}})|N\{{{_NAMES}\}}|{_OCTAL}"
)
"""A character that is not shown, as it is spelt behind a backslash."""
_ESC = r"(?:x1[bB]|x\{0{0,6}1[bB]\}|u001[bB]|u\{0{0,6}1[bB]\}|U0{6}1[bB]|N\{ESC(?:APE)?\}|0{0,2}33|[eE]|c\[)"
_ESCAPE = rf"(?:\\{{1,4}}{_ESC}|\^\[)"
_SPELT_BEGIN = rf"(?:(?:\\{_ESC}|\^\[)[\[\]()*+#%]|\\(?:{_SPELT}))"
_NO_KEY = (
    r"(?!(?=[" + "".join(sorted({re.escape(each[0]) for each in BEGINS})) + r"^\\])"
    rf"(?:-{{4}}[- ]BEGIN|{_SPELT_BEGIN}|"
    + "|".join(sorted(re.escape(each) for each in BEGINS if each[0] != "-"))
    + "))"
)
"""A code ends before what begins a key or spells out a code: who reads the bytes sees the whole key."""
_NUMBERS = rf"[\x00-\x08\x0b\x0c\x0e-\x17\x19\x1c-\x1f0-?]{{0,256}}(?:{_NO_KEY}[ -/]){{0,16}}"
"""What stands before the last character of a code: numbers, controls that a terminal acts on at once, intermediates."""
_CUT_OFF = rf"(?=[\x1b\x80-\x9f]|{_SPELT_BEGIN})|\Z"
_FINAL = rf"(?:{_NO_KEY}[@-~]|[\x18\x1a]|{_CUT_OFF})"
"""A terminal drops a code at CAN and SUB, and where another one begins, which is not yet there in a stream."""
_SAID = rf"[^\x07\x18\x1a\x1b\x9c]{{0,{STRING_LENGTH}}}"
_SAID_END = rf"(?:[\x07\x18\x1a\x9c]|\x1b{_NO_KEY}\\|(?=\x1b)|\Z)"
_SPELT_SAID = rf"[^\r\n\\]{{0,{_SPELT_LENGTH}}}"
_SPELT_CODE = (
    rf"(?:\[{_NUMBERS}{_NO_KEY}[@-~]|[()*+#%][0-~]|[0-9=>]|{_NO_KEY}[DEHMNOZ]"
    rf"|\]{_SPELT_SAID}(?:\\{{1,4}}(?:x07|u0007|007|a)|{_ESCAPE}{_NO_KEY}\\(?:{_NO_KEY}\\)?))"
)
_PLAIN_FINALS = "".join(sorted(set("mKJHfABDGlhu") - {each[0] for each in BEGINS}))
"""How most codes end, but for what a key may begin with."""
_HIDDEN = {
    "\x1b": rf"(?:\[[0-9;]{{0,64}}+[{_PLAIN_FINALS}]|(?:[\]PX_]|\^(?!\[\[)){_SAID}{_SAID_END}|\[{_NUMBERS}{_FINAL}"
    rf"|(?:{_NO_KEY}[ -/]){{0,16}}(?:{_NO_KEY}[0-~]|{_CUT_OFF})|)",
    "\\": rf"\\{{0,3}}(?=[xuU0-3eENc])(?:{_ESC}{_SPELT_CODE}|{_SPELT})",
    "^": rf"\[{_SPELT_CODE}",
    UNSEEN: rf"(?:(?<=\x9b){_NUMBERS}{_FINAL}|(?<=[\x90\x98\x9d-\x9f]){_SAID}{_SAID_END}|)",
}
"""What follows each character that something hidden begins with."""
STRING = rf"(?P<begin>\x1b(?:[\]PX_]|\^(?!\[\[))|[\x90\x98\x9d-\x9f]|{_ESCAPE}\])(?P<said>{_SAID}|{_SPELT_SAID})"
"""A title, a link or what else a code says: a text, which may hold a secret itself."""
_SAYS = r"\x1b[\]PX_^]"
_SAYS_EIGHT_BITS = ("\x90", "\x98", "\x9d", "\x9e", "\x9f")
_SAYS_SPELT = rf"\\{_ESC}\]"

_LAST = rf"[A-Za-z-][A-Za-z0-9_.:/ -]{{0,{max(map(len, BEGINS))}}}"
_SPELT_BEGUN = r"(?:\\{1,4}(?:N(?:\{[A-Z -]{0,40}\}?)?|(?:[xuUeE0c3][0-9A-Fa-f{}]{0,9})?\[?)|\^\[?)"
_CODE_BEGUN = rf"(?:\[{_NUMBERS}(?:{_LAST})?|[()*+#%]|\]{_SPELT_SAID}{_SPELT_BEGUN}?\\{{0,2}}|{_LAST})"
_BEGUN = (
    rf"(?:\x1b(?:\[{_NUMBERS}|[ -/]{{0,16}})(?:{_LAST}|{_SPELT_BEGUN})?"
    rf"|(?:\x1b(?:[\]PX_]|\^(?!\[\[))|[\x90\x98\x9d-\x9f]){_SAID}(?:\x1b{_SPELT_BEGUN}?)?"
    rf"|\x9b{_NUMBERS}(?:{_LAST}|{_SPELT_BEGUN})?|{_ESCAPE}{_CODE_BEGUN}|(?<!\x1b){_SPELT_BEGUN})\Z"
)
"""The beginning of what may be hidden, at the end of a piece."""
_TITLE_WAITS = STRING_LENGTH + 16
"""How far before the end of a piece a title may have begun that is not there as a whole."""
_CODE_WAITS = 1_024
"""The same for any other code, and for what is spelt out."""
_EIGHT_BITS = r"[\x90\x98\x9b\x9d-\x9f]"
_SPELT_SIGN = r"[\\^]"


_COLOUR, _KINDS_OF_COLOURS = r"\x1b\[[0-9;]{0,64}m", 24


@functools.cache
def _hidden(begins: tuple[str, ...]) -> str:
    """The pattern of what is hidden and begins with one of these."""
    if len(begins) == 1 and begins[0] != UNSEEN:  # a pattern that begins with a literal is found ten times as fast
        return re.escape(begins[0]) + _HIDDEN[begins[0]]
    signs = [each if each == UNSEEN else re.escape(each) for each in begins]
    return (
        f"[{''.join(signs)}](?:"
        + "|".join(f"(?<=[{sign}]){_HIDDEN[each]}" for sign, each in zip(signs, begins, strict=True))
        + ")"
    )


def _pattern(text: str, known: Letters) -> str:
    begins = ["\x1b"] if "\x1b" in text else []
    if known.spells_controls():
        begins += [sign for sign in SPELT_BEGINS if sign in text]
    others = known.controls and known.classes.count(b"c") != text.count("\x1b")
    if others or (known.dropped and not all_seen(text)):
        begins.append(UNSEEN)
    return _hidden(tuple(begins)) if begins else ""


def without_colours(text: str) -> str | None:
    """A text without its colours; None where they are of too many kinds, or not all that is hidden."""
    for _ in range(_KINDS_OF_COLOURS):
        at = text.find("\x1b")
        if at < 0:
            return text
        colour = compiled(_COLOUR).match(text, at)
        if colour is None:
            return None
        # Each escape has an end of its own, so that none is put together here.
        text = text.replace(colour[0], "")
    return None


def split(text: str, values: Sequence[str] = ()) -> list[str]:
    """What is seen of a text and what is hidden in it, by turns; it begins and ends with what is seen.

    Args:
        values: registered ones; a code ends before what begins one of them, as it does before a key.
    """
    pattern = _pattern(text, Letters(text))
    parts: list[str] = compiled(f"({pattern})").split(text) if pattern else [text]
    known = [value[:_BEGINS_VALUE] for value in values if value[:_BEGINS_VALUE] in text] if len(parts) > 1 else ()
    at = 0
    for number in range(1, len(parts) if known else 0, 2):
        at += len(parts[number - 1])
        code, end = parts[number], at + len(parts[number])
        found = [place for each in known if 0 <= (place := text.find(each, at + 1, end + len(each) - 1)) < end]
        if found and not compiled(STRING).match(code):
            parts[number : number + 2] = [text[at : min(found)], text[min(found) : end] + parts[number + 1]]
            end = min(found)
        at = end
    return parts


def begun(text: str, values: Sequence[str] = ()) -> int:
    """Where something hidden begins that more text could go on with; the length of the text where nothing does.

    Args:
        values: registered ones; a code may end before one of which only the beginning is there.
    """
    end = _begun(text)
    lengths = (length for value in values for length in range(1, min(_BEGINS_VALUE, len(value)))
               if text.endswith(value[:length]))  # fmt: skip
    for before in {len(text) - length for length in lengths} if end == len(text) else ():
        begin = _begun(text[:before])
        end = begin if begin < min(before, end) else end
    return end


def _begun(text: str) -> int:
    end, tail = len(text), max(0, len(text) - _TITLE_WAITS)
    last = text.rfind("\x1b", tail)
    # What an escape begins ends at the next one, but for a title, which that one may end.
    places = [text.rfind("\x1b", tail, max(last, tail)), last]
    begins: list[Iterable[int]] = [places]
    near = max(0, end - _CODE_WAITS)
    if text.find("\\", near) >= 0 or text.find("^", near) >= 0:
        begins.append(_places(_SPELT_SIGN, text, near))
    if not text.isascii():
        begins.append(_places(_EIGHT_BITS, text, tail))
    unfinished = compiled(_BEGUN).match
    at = min(next((place for place in each if place >= 0 and unfinished(text, place)), end) for each in begins)
    if at < end:
        # What looks like a beginning may be the end of what began before.
        first = tail if says(text[tail:]) else max(0, at - _CODE_WAITS)
        pattern = _pattern(text[first:], Letters(text[first:]))
        before = compiled(pattern).finditer(text, first) if pattern else ()
        return next((found.start() for found in before if found.start() < at < found.end()), at)
    return end


def _places(sign: str, text: str, start: int) -> Iterable[int]:
    return (found.start() for found in compiled(sign).finditer(text, start))


def says(text: str) -> bool:
    """Whether a title may be in a text, or what else a code says."""
    if ("\x1b" in text and compiled(_SAYS).search(text)) or any(sign in text for sign in _SAYS_EIGHT_BITS):
        return True
    return ("^" in text and "^[]" in text) or ("\\" in text and compiled(_SAYS_SPELT).search(text) is not None)


def views(text: str, known: Letters | None = None) -> tuple[str, ...]:
    """A text without what is hidden in it, and what the titles and links in it say; nothing where nothing is hidden."""
    pattern = _pattern(text, known or Letters(text))
    joined = compiled(pattern).sub("", text) if pattern else text
    if not pattern or len(joined) == len(text):
        return ()
    if not says(text):
        return (joined,)
    said = [compiled(STRING).match(found[0]) for found in compiled(pattern).finditer(text)]
    told = "\n".join(found["said"] for found in said if found)
    return (joined, told, *views(told))
