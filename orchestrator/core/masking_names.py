"""Secrets that a name stands before: headers, credentials in JSON, environments and settings, bearer tokens."""

from __future__ import annotations

import re
from collections.abc import Callable

from orchestrator.core import masking_extents as runs
from orchestrator.core import masking_heads as heads
from orchestrator.core import masking_kinds as kinds
from orchestrator.core import masking_patterns as patterns
from orchestrator.core import masking_tables as tables
from orchestrator.core.masking_extents import Ends
from orchestrator.core.masking_heads import Found, Head, Match, Pending, View
from orchestrator.core.masking_letters import compiled
from orchestrator.core.masking_patterns import harmless

_BLANK_STOPS = r"[\s\"'`]"
_QUERY_STOPS = r"[\s\"'`&#;]"
_BEARER_STOPS = r"[^A-Za-z0-9._~+/=|!@$%^*:-]"
_WORD_STOPS = r"[\s\"'`\\]"
_HEADER_STOPS = r"[\"'`\\\r\n]"
_QUOTES = ('"', "'", "`")
_NAME_LENGTH = 64
_NAME = r"[A-Za-z0-9_.%-]"
_PROSE_LENGTH = 20
"""A word of lower-case letters after `bearer` is prose up to this length."""
_KIND_LENGTH = 16
_SCHEME_ALONE = patterns.SCHEME.rpartition("(?:[ ")[0]
_ELEMENT_STOPS = r"[<\r\n]|\]\]>"
_TAG = r"<[a-z0-9_.:-]{0,64}\Z"
_ENTRY = r"<[^<>\n]{0,64}\s(?:name|key)=[\"'][a-z0-9_.:-]{0,64}\Z"
_BLOCK_BEGIN = r"[|>][0-9+-]{0,2}[ \t]{0,8}(?:#[^\r\n]{0,80})?(?:(?P<end>\r?\n\s{0,256})|\Z)"
_PASSED = (" /", *(f"-pass{what} {quote}" for what in ("in", "out", "word", "") for quote in ("", '"', "'")))
_PROGRAM = (
    r"(?:\A|[\s;&|(`\"'/$=\\{!]|\s@|\A\s{0,16}[@+-]{1,3}|://[^\s/@]{0,64}@)("
    + "|".join(
        re.escape(name).replace(r"\+", r"\s{1,4}(?:-\S{1,40}\s{1,4}){0,4}")
        for name in sorted(tables.PROGRAMS, key=len, reverse=True)
    )
    + r")(?:\.exe)?(?=\s)"
)
_LETTERS = (
    r" -([A-Za-z])(?:=|[ \t]{1,8})?(?=[^\s=-])",
    r" -[A-Za-z]{1,4}([A-Za-z])[ \t]{1,8}(?=[^\s=-])",
)
_LETTERS_LENGTH = 12
_VALUE_ENDS, _VALUE_BEHIND = Ends(runs.QUOTED, r"[\"\r\n]"), 200
_READS = (
    r"--[a-z-]{0,24}(?:password|passphrase|passwd|pass|token|secret|pw)-?(?:from-)?(?:stdin|fd[ =]0)\b|--with-token"
    r"|\bsudo\s(?:\S{1,40}\s{1,4}){0,4}?-[A-Za-z]{0,6}S\b|\bchpasswd\b|(?:\A|[\s;|&]|bin/)(?:sm)?passwd(?=\s|\Z)"
    r"|-pass(?:in|out)? stdin\b|--key-file[ =]-(?=\s|\Z)|\bsecrets?[ ](?:create|put|set|add)\b"
)
"""Commands that read a secret from their input."""
_PIPED = (
    r"(?:[^\s|;&\"'][^\s|;&\"']{0,60}[ ]|\"[^\"\r\n]{0,60}\"[ ]|'[^'\r\n]{0,60}'[ ]){0,3}?"
    r"(?P<secret>\"[^\"\r\n]{1,120}\"|'[^'\r\n]{1,120}'|[^\s|;&\"']{1,120})[ ]{0,4}\|[ ]{0,4}(?P<reader>[^\r\n]{1,200})"
)
_SUBSTITUTED = (
    r"(?:(?i:pass(?:wor[dt]|wd|phrase|in|out)?\b|passwo|secret|token|credential|[_-]key|pw)|\bsudo\s[^\r\n]{0,80}-S)"
    r"[^\r\n]{0,160}<\([ \t]{0,4}\Z"
)
"""A command that reads a secret from what another one writes, up to there: `--password-file <(`."""
_WRITTEN = r"\"[^\"\r\n]{1,120}\"|'[^'\r\n]{1,120}'|[^\s|;&\"'()]{1,120}"
_ECHOED = rf"(?:(?:{_WRITTEN})[ ]){{0,3}}?({_WRITTEN})[ \t]{{0,4}}\)"
_SHORTEST_BEHIND = 6
_SHORTEST_MIXED, _FEWEST_CHANGES = 8, 3
_CHANGES = r"(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])"
"""Where letters and digits meet: a word with a number behind it has but one such place."""
_MIXED_INNOCENT = r"\d{4}-\d{2}-\d{2}|(?:\d{1,4}[a-z]{1,2}){2,6}(?![A-Za-z0-9])|[^\s]{0,63}[/\\@(]"
"""A date, a span of time, a path or what else is put together."""
_NEAR = 80
"""So far before a key the name of its issuer may stand."""
_BESIDE_LENGTH = 126
_COMMAND_ENDS = r"\n|[;|&]{1,2}\s"
_MACHINE = r"(?:machine\s{1,16}\S{1,100}|default)\s{1,16}\Z"
_SIGNATURE_LENGTH = 24
_SYNTAX_CLASS = r"[A-Z][a-z]{2,20}(?:\.[A-Z][A-Za-z]{2,24}){1,4}(?![\w.])"
"""What a highlighter of code calls a kind of token: `Name.Builtin`."""
_CLOSED = r"[,;)\]}]|[ ]{0,4}(?:[A-Za-z_]{1,30}[ ]{0,4})?(?:\Z|[\r\n])"
"""Behind a quote that ends a string, and begins none: `prompt='Password: ', stream=None`."""
_CLOSED_LENGTH = 40
_COUNTED = r"(?:\A|[^a-z])(?:max|min|num|n|pad|eos|bos|unk|sep|cls|mask|start|end|next|total|special|image|audio)_?\Z"
"""Before `token`: a number of tokens, or the number of one."""
_CONSTANT_LENGTH = 3
"""How many digits the number of a token has that a parser knows: `ERRORTOKEN = 59`."""
_UNQUOTED = r"\w[\w.]{2,40}+(?![(\[\"'`\\])"
"""Where a value begins so, nothing opens a quoted one: no call, and no letters before a quote."""
_TYPE_NAME = r"(?:[Uu]?[Ii]nt|[Ff]loat|Big)[0-9A-Z]"
_WORD_WITH_DIGITS = rf"(?!{_TYPE_NAME})(?![A-Za-z]{{1,200}}+(?![A-Za-z0-9]))[A-Za-z0-9]{{1,200}}+(?:\s|\Z)"
"""A word that is neither code nor prose wherever it stands, but for the name of a type."""
_COMPARED = ("==", " =")
_OWN_MEMBER = r"(?<![\w.])(?:self|this|cls)(?:\.|->)\w{0,40}\Z"
"""What only code sets: behind its equals sign there is an expression, and a bare word is a name."""
_MANIFEST_LENGTH = 4_096
"""So far from its kind the data of a Kubernetes secret may stand."""
_DATA, _KIND = r"\n[ ]{%d}(?:string)?[Dd]ata:[ \t]{0,4}\r?\n(?=[ ])", r"\n[ ]{%d}kind: Secret(?=\s|\Z)"
_OTHER_DOCUMENT = r"\n(?:---|[ -]{0,16}apiVersion:|[ -]{0,16}kind: (?!Secret\b))"
_TOLD_LENGTH = 7
_SPOKEN_STOPS, _SAYS = r"[^A-Za-z0-9+/_=~-]", r" (?:is|was|to|reads|equals)\b"
_SHORTEST_PIN = 4
_LABEL_STOPS = r"[\s\"'`)\u300d\u300f\u3011\u3001\u3002\uff08\uff09]"
_DATABASE = (
    r"[a-z]{1,24}(?:[_-](?:[a-z]{1,24}\d{0,2}|v?\d{1,4})){1,4}[\"'`]?(?=[ \t]{0,8}(?:[<>|;&)\r\n]|\Z))"
)
"""The name of one, with nothing behind it in its command; a password there is followed by that."""
_PORT_OR_NAME = r"-?\d{1,5}:\d{1,5}(?:/[a-z]{3})?|[a-z]{1,24}(?:[_-][a-z]{1,24}){1,4}|[0-9.]{1,40}:\S{1,40}"


def _bearer(view: View, hint: Match) -> Found:
    if not heads.free(view, hint.start()):
        return None
    start = hint.end()
    value = heads.value(view, start, _BEARER_STOPS)
    if isinstance(value, Pending):
        return value
    if harmless(value) or value.lower() in patterns.BEARER_WORDS or _challenge(view.text, start, value):
        return None
    if hint.group()[-1] in "\"'`" and hint.group()[-2].isspace() and value[:1] in ("+", ".", ",", ")", "|", "%"):
        return None
    if value.isalpha() and value.islower() and len(value) < _PROSE_LENGTH and view.text[hint.start()] == "b":
        return None
    return Head(start, kinds.BEARER, Ends(runs.RUN, _BEARER_STOPS, marks=True))


def _challenge(text: str, start: int, value: str) -> bool:
    """Whether it is a parameter of a server's question: `Bearer realm="x"`."""
    return value.endswith("=") and value[:-1].isalpha() and text[start + len(value) :][:1] == '"'


def _talk(content: str) -> bool:
    """Whether what stands after a header's name is no credential: a bare word, or prose."""
    scheme = compiled(patterns.SCHEME).match(patterns.lowered(content))
    if scheme and not scheme[1]:
        rest = content[scheme.end() :]
        return harmless(rest) or all(map(harmless, rest.split()))
    first, _, rest = content.strip().partition(" ")
    if _is_made(content):
        return True
    second = rest.split(maxsplit=1)[:1]
    if not compiled(patterns.WORD).fullmatch(first):
        return harmless(content)
    return not second or bool(compiled(rf"[a-z]+[.,:;]?|{patterns.MASKED}").fullmatch(second[0]))


def _is_made(content: str) -> bool:
    """Whether a cookie is put together from what code knows: `session=${id}; path=/`."""
    parts = [part.strip().partition("=") for part in content.split(";")]
    made = [value for _, sign, value in parts if sign and value and value != "/"]
    return bool(made) and all(not value.isalnum() and harmless(value) for value in made)


def _header(row: int, view: View, hint: Match, at: int) -> Found:
    """A header's value, quoted or to the end of its line; the scheme of an authorization stays readable."""
    lead = _folded_lead(view, row, _lead(view, hint))
    if isinstance(lead, Pending):
        return lead
    opener = _opener(view, lead)
    if view.open(opener.end() if opener else lead) or (opener and _half_open(view, opener)):
        return Pending(lead)
    if opener is None and not view.final and view.open(_opening(view, lead)):
        return Pending(lead)
    quote = _quote_before(view, at)
    ends = _quoted(opener) if opener else Ends(runs.HEADER, rf"[{quote}\\\r\n]" if quote else _HEADER_STOPS)
    start = opener.end() if opener else lead
    if view.text.startswith("[", start) and not view.text.startswith("[MASKED:"[: len(view.text) - start], start):
        start += 1
    content = heads.content(view, start, ends) if opener else _unfolded(view, start, ends)
    if isinstance(content, Pending):
        return content
    closes = opener and _closes(view, hint, start)
    if closes:
        return closes if isinstance(closes, Pending) else None
    begun = opener and compiled(r"[A-Za-z_-]{1,32}=").fullmatch(content)
    if begun or _talk(content) or (not opener and _is_expression(view, hint, start)):
        return None
    scheme = compiled(patterns.SCHEME).match(view.lower, start) if row == kinds.AUTH else None
    if scheme is None:
        return Head(start, row, ends)
    if not opener and not scheme[1]:
        ends = Ends(runs.RUN, _WORD_STOPS, marks=True)
    return Head(scheme.end(), row, ends)


def _unfolded(view: View, start: int, ends: Ends) -> str | Pending:
    """As much of a header's value as tells whether it is harmless, with its next line where it is folded."""
    content = heads.value(view, start, ends.stops)
    if isinstance(content, Pending):
        return content
    found = compiled(ends.stops).search(view.text, start, start + patterns.WINDOW + 1)
    if found is None:
        return content
    end = found.start()
    blank = compiled(runs.FOLD_BLANK).match(view.text, end)
    if blank and blank.group() and view.open(blank.end()):
        return Pending(start)
    scheme = bool(compiled(_SCHEME_ALONE).fullmatch(content.lower()))
    fold = runs.fold(view.text, start, end, scheme)
    if not fold:
        return content
    rest = heads.value(view, fold, ends.stops)
    return Pending(start) if isinstance(rest, Pending) else f"{content} {rest}"


def _closes(view: View, hint: Match, start: int) -> bool | Pending:
    """Whether the quote before a place ends the string that the name stands in, so that there is no value."""
    if _is_quoted(hint) or _before_name(view, hint.start()) != view.text[start - 1]:
        return False
    found = compiled(_CLOSED).match(view.text, start)
    return Pending(start) if view.open(found.end() if found else start + _CLOSED_LENGTH) else bool(found)


def _is_expression(view: View, hint: Match, start: int) -> bool:
    """Whether code follows that reads or makes a header: `cookie = parse(header)`."""
    line = view.text[start : start + patterns.LINE].partition("\n")[0]
    if hint.group().endswith("="):
        return patterns.is_code(line)
    return patterns.is_type(line) or line.startswith(("http://", "https://"))


def _opening(view: View, at: int) -> int:
    """How far a text goes on as it would up to an opening quote."""
    found = compiled(patterns.OPENING).match(view.text, at)
    return found.end() if found else at


def _quote_before(view: View, at: int) -> str:
    before = _before_name(view, at)
    return before if before in ('"', "'", "`") else ""


def _before_name(view: View, at: int) -> str:
    """The character before the whole name that a hint belongs to."""
    name, floor = at, max(view.floor(at), at - _NAME_LENGTH)
    while name > floor and compiled(_NAME).match(view.text, name - 1):
        name -= 1
    return view.text[name - 1] if name > floor else ""


def _is_other(view: View, at: int, start: int) -> bool:
    """Whether the name before a colon is the user in a URL, or a variable that has to be set (`${NAME:?why}`)."""
    signs = r"(?:://|\$\{)" if view.text[start : start + 1] in ("?", "+") else "://"
    return bool(compiled(rf"{signs}{_NAME}{{0,{_NAME_LENGTH}}}\Z").search(_before(view, at, _NAME_LENGTH + 3)))


def _before(view: View, at: int, length: int = 1) -> str:
    """So much of the text before a hint, in lower case, as is not masked."""
    return view.lower[max(view.floor(at), at - length) : at]


def _unmasked(before: str) -> str:
    """What stands behind the last secret that is masked, as `floor` has it where that was masked by this pass."""
    found = max(before.rfind("[MASKED:"), before.rfind("[masked:"))
    return before if found < 0 else before[found:].partition("]")[2]


def _authorization(view: View, hint: Match) -> Found:
    return _header(kinds.AUTH, view, hint, hint.start())


def _cookie(view: View, hint: Match) -> Found:
    before = _before(view, hint.start(), len("set-"))
    row = kinds.SET_COOKIE if before.endswith(("set-", "set_", "set")) else kinds.COOKIE
    return _header(row, view, hint, hint.start())


def _lead(view: View, hint: Match) -> int:
    """Where the value begins: after blanks, and after line ends where the name was quoted."""
    end = hint.end()
    first, second = view.text[end : end + 1], view.text[end + 1 : end + 2]
    if first.isalnum() or first in _QUOTES:
        return end
    if first == " " and second in _QUOTES:  # what most texts have
        return end + 1
    blanks = r"(?:<!\[CDATA\[)?" if _is_element(hint) else r"\*{0,3}[ \t]{0,16}(?:!!(?:str|binary)[ \t]{1,4})?"
    lead = compiled(r"\*{0,3}\s{0,64}" if _is_quoted(hint) else blanks).match(view.text, hint.end())
    return lead.end() if lead else hint.end()


def _folded_lead(view: View, row: int, lead: int) -> int | Pending:
    """Where a header's value begins that is wholly on the next line."""
    blank = compiled(runs.FOLD_BLANK).match(view.text, lead)
    if not blank or not blank.group():
        return lead
    known = patterns.SCHEME if row == kinds.AUTH else r"[a-z0-9_.-]{1,64}="
    if view.open(blank.end() + _KIND_LENGTH + _NAME_LENGTH):
        return Pending(lead)
    return blank.end() if blank.group()[-1] in " \t" and compiled(known).match(view.lower, blank.end()) else lead


def _is_element(hint: Match) -> bool:
    """Whether a tag of XML ends where the value begins, and not the arrow of a hash: `'password' => '…'`."""
    return hint.group().endswith(">") and not hint.group().endswith("=>")


def _is_quoted(hint: Match) -> bool:
    name = hint.group()
    return '"' in name or "'" in name or "`" in name


def _quoted(opener: Match) -> Ends:
    return Ends(runs.QUOTED, rf"[{opener[2][0]}\r\n]", level=len(opener[1]))


def _row(view: View, hint: Match, start: int) -> int:
    """Which kind of credential: in JSON, in an environment, or any other."""
    name = hint.group()
    if _is_quoted(hint) and name.endswith(":"):
        return kinds.JSON
    written = view.text[hint.start() : hint.end()]
    upper = (
        written.isupper() and not view.text[max(view.floor(hint.start()), hint.start() - 1) : hint.start()].islower()
    )
    direct = name.endswith("=") and not name.endswith((" =", "\t=", "==", ":=", "*=")) and start == hint.end()
    return kinds.ENV if upper and direct and not _is_quoted(hint) else kinds.GENERIC


def _credential(view: View, hint: Match, query: bool = False, folder: bool = False) -> Found:
    """A value after a name that says secret."""
    start = _lead(view, hint)
    if view.open(start):
        return Pending(start)
    if _is_element(hint):
        return _element(view, hint, start)
    row = _row(view, hint, start)
    opener = _opener(view, start)
    if opener:
        closes = _closes(view, hint, opener.end())
        if closes:
            return closes if isinstance(closes, Pending) else None
        return _quoted_value(view, row, opener, folder)
    if hint.group().endswith(":") and _is_other(view, hint.start(), start):
        return None
    if compiled(_BLOCK_BEGIN).match(view.text, start):
        return _block_scalar(view, hint, start)
    stops = _stops(view, hint, row, query)
    value = heads.value(view, start, stops)
    if isinstance(value, Pending):
        return value
    if folder and compiled(patterns.FOLDER).match(value):
        return None
    found = _harmless(view, hint, start, value)
    if found is None:
        return Head(start, row, Ends(runs.RUN, stops, marks=True))
    return found if isinstance(found, Pending) else _annotated(view, hint, start, row)


def _harmless(view: View, hint: Match, start: int, value: str) -> Pending | str | None:
    """What stands where a value could, if it is none; None where a secret may."""
    # What begins as code does is looked at as such first, which tells it sooner.
    if value[:1].isalpha() and not value.isalnum():
        return _innocent(view, hint, start) or ("" if harmless(value) else None)
    return "" if harmless(value) else _innocent(view, hint, start)


def _innocent(view: View, hint: Match, start: int) -> Pending | str | None:
    """What stands where a value could, if it is code or prose; None where a secret may."""
    line = _line(view, start)
    if isinstance(line, Pending):
        return line
    if patterns.is_name(line) and compiled(_OWN_MEMBER).search(_before(view, hint.start(), _NAME_LENGTH)):
        return line
    if compiled(_WORD_WITH_DIGITS).match(line) and hint.group()[-2:] not in _COMPARED:
        return None
    if patterns.is_code(line) or patterns.is_pattern(line.rstrip(";,)")) or _is_in_code(hint, line):
        return line
    spoken = hint.group().endswith((":", "*")) and not _is_quoted(hint) and patterns.is_prose(line)
    return line if spoken else None


def _is_in_code(hint: Match, line: str) -> bool:
    """Whether code compares a name with another one, sets a member to one, or numbers the tokens that it knows."""
    name = hint.group()
    if name.endswith((" ==", " ===")):
        return patterns.is_variable(line) or patterns.is_small(line)
    if name.endswith("] =") or (name.endswith(("':", '":')) and "_" in line and not compiled("[0-9]").search(line)):
        return patterns.is_variable(line)
    return name.endswith("token =") and bool(compiled(_SYNTAX_CLASS).match(line))


def _line(view: View, start: int) -> str | Pending:
    """The rest of a line, as much as tells whether it is code or prose."""
    end = compiled(r"[\r\n]").search(view.text, start, start + patterns.LINE)
    if end is None and view.open(start + patterns.LINE):
        return Pending(start)
    return view.text[start : end.start() if end else start + patterns.LINE]


def _element(view: View, hint: Match, start: int) -> Found:
    """What an element of XML holds that is called so, or that has such a name or key."""
    before = view.lower[max(view.floor(hint.start()), hint.start() - 2 * _NAME_LENGTH) : hint.start()]
    named = compiled(_ENTRY if hint.group()[-2] in "\"'" and " " not in hint.group() else _TAG).search(before)
    if not named or before.endswith(("(?p<", "(?<")) or view.text[start : start + 1] == "@":
        return None
    found = compiled(_ELEMENT_STOPS).search(view.text, start, start + patterns.WINDOW + 1)
    content = view.text[start : found.start() if found else start + patterns.WINDOW + 1]
    end = start + len(content)
    if view.open(end + 1):
        return Pending(start)
    closed = len(content) > patterns.WINDOW or view.text.startswith(("</", "]]"), end)
    if harmless(content) or not (closed or (end == len(view.text) and " " not in content)):
        return None
    return Head(start, kinds.GENERIC, Ends(runs.RUN, _ELEMENT_STOPS))


def _block_scalar(view: View, hint: Match, start: int) -> Found:
    """A value on the lines below its name, each further in: `password: |`."""
    begin = compiled(_BLOCK_BEGIN).match(view.text, start)
    if begin is None or not hint.group().endswith(":"):
        return None
    if begin["end"] is None or view.open(begin.end()):
        return Pending(start) if view.open(begin.end()) else None
    name = hint.start()
    while name > view.floor(hint.start()) and compiled(_NAME).match(view.text, name - 1):
        name -= 1
    level = name - (view.text.rfind("\n", 0, name) + 1)
    indent = begin.end() - (view.text.rfind("\n", 0, begin.end()) + 1)
    line, ended, _ = view.text[begin.end() : begin.end() + patterns.WINDOW].partition("\n")
    if not ended and view.open(begin.end() + patterns.WINDOW):
        return Pending(start)
    if indent <= level or harmless(line.strip()):
        return None
    return Head(begin.end(), kinds.GENERIC, Ends(runs.INDENTED, level=level))


def _opener(view: View, at: int) -> Match | None:
    """What opens a quoted value there."""
    if view.text[at : at + 1] in _QUOTES:
        return compiled(patterns.OPENER).match(view.text, at)
    return None if compiled(_UNQUOTED).match(view.text, at) else compiled(patterns.OPENER).match(view.text, at)


def _half_open(view: View, opener: Match) -> bool:
    """Whether two quotes may become three."""
    return view.text.startswith(opener[2][0], opener.end()) and view.open(opener.end() + 1)


def _quoted_value(view: View, row: int, opener: Match, folder: bool = False) -> Found:
    start, ends = opener.end(), _quoted(opener)
    if view.open(start) or _half_open(view, opener):
        return Pending(opener.start())
    content = heads.content(view, start, ends)
    if isinstance(content, Pending):
        return Pending(opener.start())
    if "(" in opener.group():
        if patterns.asks(opener.group()):
            return None
        if harmless(content) or patterns.reads(opener.group(), content):
            return _default(view, row, start + len(content))
    if harmless(content) or patterns.is_pattern(content) or (folder and compiled(patterns.FOLDER).match(content)):
        return None
    return Head(start, row, ends)


def _default(view: View, row: int, at: int) -> Found:
    """The second text of a call that reads a secret by its name: `getenv("TOKEN", "…")`."""
    between = compiled(r"[\"']\s{0,4}(?:,\s{0,16}(?:([\"'])|\Z)|\Z)").match(view.text, at)
    if between is None:
        return None
    start = between.end()
    if view.open(start):
        return Pending(at)
    if not between[1]:
        return None
    ends = Ends(runs.QUOTED, rf"[{between[1]}\r\n]")
    content = heads.content(view, start, ends)
    if isinstance(content, Pending):
        return content
    return None if harmless(content) else Head(start, row, ends)


def _annotated(view: View, hint: Match, start: int, row: int) -> Found:
    """A value behind a name's type: `token: string = "…"`."""
    if not hint.group().endswith(":"):
        return None
    annotation = compiled(patterns.ANNOTATION).match(view.text, start)
    if annotation is None:
        rest = compiled(patterns.ANNOTATED).match(view.text, start)
        return Pending(start) if rest and view.open(rest.end() + 1) else None
    lead = compiled(r"[ \t]{0,16}").match(view.text, annotation.end())
    begin = lead.end() if lead else annotation.end()
    if view.open(begin):
        return Pending(begin)
    opener = _opener(view, begin)
    if opener:
        return _quoted_value(view, row, opener)
    value = heads.value(view, begin, _BLANK_STOPS)
    if isinstance(value, Pending):
        return value
    found = value if harmless(value) else _innocent(view, hint, begin)
    if found is None:
        return Head(begin, row, Ends(runs.RUN, _BLANK_STOPS, marks=True))
    return found if isinstance(found, Pending) else None


def _stops(view: View, hint: Match, row: int, query: bool) -> str:
    """What ends an unquoted value: in a query also the characters that end one there."""
    if not hint.group().endswith("="):
        return _BLANK_STOPS
    in_query = _before_name(view, hint.start()) in ("?", "&", "#", ";")
    return _QUERY_STOPS if in_query or (query and row != kinds.ENV) else _BLANK_STOPS


def _password(view: View, hint: Match) -> Found:
    """`pass` alone is a word of its own, unless it ends the name of a setting."""
    if hint.group()[len("pass")] not in "wpceo":
        if hint.group().endswith(":") and _before(view, hint.start(), _KIND_LENGTH).endswith(_PASSED):
            return _credential(view, hint)
        setting = _before(view, hint.start()) in ("_", "-") and (hint.group().endswith("=") or _is_quoted(hint))
        if not setting:
            return None
    return _credential(view, hint)


def _folder(view: View, hint: Match) -> Found:
    return _credential(view, hint, folder=True) if heads.free(view, hint.start()) else None


def _secret(view: View, hint: Match) -> Found:
    if hint.group() == "secret:" and compiled(r"arn:aws[a-z0-9:-]{0,80}:\Z").search(_before(view, hint.start(), 96)):
        return None  # the name of a resource, not its content
    before = _before(view, hint.start(), len("client-"))
    return _credential(view, hint, query=before.endswith(("client_", "client-", "client")))


def _is_claim(view: View, hint: Match, start: int) -> bool:
    """Whether the token of a claim stands behind its own name, which is made by the program and no secret."""
    name = _before(view, hint.start(), len("claim-")) + hint.group()
    token = rf"\\{{0,7}}[\"'`]?{patterns.CLAIM}[.,;:!?)}}\]]{{0,3}}(?=[\s\\\"'`&]|\Z)"
    return bool(compiled(rf".*{patterns.CLAIM_NAME}token").match(name) and compiled(token).match(view.text, start))


def _named_token(view: View, hint: Match) -> Found:
    start = _lead(view, hint)
    if _is_claim(view, hint, start):
        return Pending(start) if view.open(start + patterns.LINE) and view.text.find("\n", start) < 0 else None
    number = compiled(r"\d{1,6}(?!\w)").match(view.text, start)
    if number and _is_counted(view, hint, number):
        return Pending(start) if view.open(number.end()) else None
    return _credential(view, hint, query=True)


def _is_counted(view: View, hint: Match, number: Match) -> bool:
    """Whether a number says how many tokens there are, or which one of those that a parser knows."""
    if compiled(_COUNTED).search(_before(view, hint.start(), _KIND_LENGTH)):
        return True
    constant = _before(view, hint.start()).isalpha() and view.text[hint.start() : hint.end()].isupper()
    return constant and len(number[0]) <= _CONSTANT_LENGTH


def _key(view: View, hint: Match) -> Found:
    before = _before(view, hint.start(), _KIND_LENGTH)
    named = before[: len(before) - 1 if before.endswith(("_", "-", ".", " ")) else None].endswith(patterns.KEY_KINDS)
    return _credential(view, hint, query=True) if named else None


def _credentials(view: View, hint: Match) -> Found:
    """In prose and settings of other kinds the word stands before much that is none."""
    row = _row(view, hint, hint.end())
    return _credential(view, hint) if row in (kinds.ENV, kinds.JSON) else None


def _netrc(view: View, hint: Match) -> Found:
    """A password in a line of `.netrc`, or behind the line of its login."""
    before = _unmasked(_before(view, hint.start(), patterns.WINDOW))
    line = hint.group().count("\n") and (not before or before.rstrip(" \t").endswith("\n"))
    if not hint.group().startswith("machine") and not line and not compiled(_MACHINE).search(before):
        return None
    return _word(view, hint.end())


def _word(view: View, start: int) -> Found:
    """A word that is a secret unless it is harmless, in quotes or not."""
    if view.open(start):
        return Pending(start)
    opener = _opener(view, start)
    if opener:
        return _quoted_value(view, kinds.GENERIC, opener)
    value = heads.value(view, start, _BLANK_STOPS)
    if isinstance(value, Pending):
        return value
    return None if harmless(value) else Head(start, kinds.GENERIC, Ends(runs.RUN, _BLANK_STOPS, marks=True))


def _option(view: View, hint: Match) -> Found:
    """The value behind a long option."""
    start = hint.end()
    if _is_claim(view, hint, start):
        return Pending(start) if view.open(start + patterns.LINE) and view.text.find("\n", start) < 0 else None
    if view.text[start : start + 1].isalpha():
        line = _line(view, start)
        if isinstance(line, Pending):
            return line
        if patterns.is_prose(line):
            return None
    return _word(view, start)


def _letter(view: View, hint: Match) -> Found:
    """The value behind a short option, where the program takes a secret there; other options may stand before it."""
    takes = _programs(view, hint.start())
    if not takes:
        return None
    found = (compiled(each).match(view.text, hint.start()) for each in _LETTERS)
    option = next((each for each in found if each and each[1] in takes), None)
    if option is None:
        return Pending(hint.start()) if view.open(hint.end() + _LETTERS_LENGTH) else None
    what, start, blank = takes[option[1]], option.end(), option.group()[-1:].isspace()
    if view.open(start + 1):
        return Pending(start)
    if what == tables.COOKIES:
        return _cookies(view, start)
    if what == tables.PAIR:
        return _pair(view, start)
    if not blank:
        return None if what == tables.SEPARATE else _word(view, start)
    return _separate(view, start, what == tables.ATTACHED)


def _separate(view: View, start: int, attached: bool) -> Found:
    """A word behind a blank: a password, unless it is a port or a name; or the name of a database, which comes last."""
    line = _line(view, start)
    if attached and (isinstance(line, Pending) or compiled(_DATABASE).match(line)):
        return line if isinstance(line, Pending) else None
    plain = compiled(_PORT_OR_NAME).match(view.text, start)
    if plain and view.open(plain.end() + 1):
        return Pending(start)
    return None if plain and view.text[plain.end() : plain.end() + 1].strip("\"'`") == "" else _word(view, start)


def _cookies(view: View, start: int) -> Found:
    """Cookies behind an option; what has no equals sign names a file."""
    quote = compiled(r"\\{0,3}[\"']?").match(view.text, start)
    begin = quote.end() if quote else start
    stops = rf"[{view.text[begin - 1]}\r\n]" if begin > start else _BLANK_STOPS
    value = heads.value(view, begin, stops)
    if isinstance(value, Pending):
        return value
    return Head(begin, kinds.COOKIE, Ends(runs.RUN, stops)) if "=" in value and not _is_made(value) else None


def _jar(view: View, hint: Match) -> Found:
    """Cookies behind the long option."""
    if view.open(hint.end() + 1):
        return Pending(hint.end())
    return _cookies(view, hint.end()) if _programs(view, hint.start()).get("b") == tables.COOKIES else None


def _argument(view: View, hint: Match) -> Found:
    """A secret among the arguments of a program, known by its place."""
    return _word(view, hint.end())


def _command(view: View, at: int) -> str:
    """The command of the shell that goes on at a place, as far as it stands before it in its line."""
    before = view.text[max(view.floor(at), at - heads.LEAD) : at].replace("\\\n", "  ")
    return compiled(_COMMAND_ENDS).split(before)[-1]


def _fed(view: View, hint: Match) -> Found:
    """What a command reads that takes a secret from its input: a word, or the lines up to a mark."""
    start, line = hint.end(), hint.group()
    reads = compiled(_READS).search(_command(view, hint.start()) + "\n" + line)
    if not reads:
        return None
    if line.startswith("<<<"):
        return _word(view, start)
    content = heads.value(view, start, r"[\r\n]")
    if isinstance(content, Pending):
        return content
    mark = compiled(r"\w+").search(line)
    if mark is None or harmless(content) or content.strip() == mark[0]:
        return None
    return Head(start, kinds.GENERIC, Ends(runs.DOCUMENT, rf"\n(?=[ \t]{{0,16}}{mark[0]}[ \t]{{0,4}}(?:[\r\n]|\Z))"))


def _piped(view: View, hint: Match) -> Found:
    """The last word that is written into a command which takes a secret from its input."""
    line = _line(view, hint.end())
    if isinstance(line, Pending):
        return line
    if compiled(_SUBSTITUTED).search(_command(view, hint.start())):
        found = compiled(_ECHOED).match(line)
        secret = found[1].strip("\"'") if found else ""
        if found is None or harmless(secret):
            return None
        start = hint.end() + found.start(1) + found[1].find(secret)
        return Head(start, kinds.GENERIC, Ends(runs.FIXED, length=len(secret)))
    found = compiled(_PIPED).match(line)
    if found is None or not compiled(_READS).search(found["reader"]):
        return None
    secret = found["secret"].strip("\"'")
    at = hint.end() + found.start("secret") + found["secret"].find(secret)
    if "chpasswd" in found["reader"]:
        user, _, secret = secret.partition(":")
        at += len(user) + 1
    return None if harmless(secret) else Head(at, kinds.GENERIC, Ends(runs.FIXED, length=len(secret)))


def _beside(view: View, hint: Match) -> Found:
    """A key whose form alone says too little, behind the name of its issuer."""
    start = hint.start()
    run = compiled(rf"[A-Za-z0-9_.-]{{0,{_BESIDE_LENGTH}}}").match(view.text, start)
    end = run.end() if run else start
    if view.open(end):
        return Pending(start)
    before = _unmasked(_before(view, start, _NEAR))
    for issuer, form in tables.ISSUERS.items():
        found = compiled(rf"(?:{form})(?![A-Za-z0-9_-])").match(view.text, start) if issuer in before else None
        if found:
            return Head(start, kinds.GENERIC, Ends(runs.FIXED, length=found.end() - start))
    return None


def _short(view: View, hint: Match) -> Found:
    """What stands behind `pw`, which is short for other words as well: a password with a digit."""
    found = _credential(view, hint)
    if not isinstance(found, Head):
        return found
    run = compiled(r"[^\s\"'`]{0,64}").match(view.text, found.start)
    if run and view.open(run.end()):
        return Pending(found.start)
    return found if run and len(run[0]) >= _SHORTEST_BEHIND and compiled("[0-9]").search(run[0]) else None


def _mixed(view: View, hint: Match) -> Found:
    """What stands behind a word that means other things too: no name, number, date or path, but letters and digits."""
    found = _credential(view, hint)
    if not isinstance(found, Head):
        return found
    run = compiled(r"[^\s\"'`]{0,64}").match(view.text, found.start)
    if run is None or view.open(run.end()):
        return Pending(found.start)
    changes = compiled(_CHANGES).findall(run[0])
    mixed = len(run[0]) >= _SHORTEST_MIXED and len(changes) >= _FEWEST_CHANGES
    return found if mixed and not compiled(_MIXED_INNOCENT).match(run[0]) else None


def _valued(view: View, hint: Match) -> Found:
    """The value of a Terraform variable or output that is secret by its name, or by what stands behind."""
    value = heads.content(view, hint.end(), _VALUE_ENDS)
    if isinstance(value, Pending):
        return value
    end = hint.end() + len(value)
    named = compiled(patterns.HOLDS_VALUE).search(_before(view, hint.start(), _VALUE_BEHIND))
    said = compiled(patterns.IS_SENSITIVE).match(view.text, end)
    if not named and not said and view.open(end + _VALUE_BEHIND):
        return Pending(hint.start())
    return Head(hint.end(), kinds.JSON, _VALUE_ENDS) if (named or said) and not harmless(value) else None


def _user(view: View, hint: Match) -> Found:
    """A user and password behind a long option, where the program takes both behind its short form."""
    return _pair(view, hint.end()) if _programs(view, hint.start()).get("u") == tables.PAIR else None


def _listed(view: View, hint: Match) -> Found:
    """A value in a property list, behind the element with its name."""
    found = compiled(_ELEMENT_STOPS).search(view.text, hint.end(), hint.end() + patterns.WINDOW + 1)
    if found is None and view.open(hint.end() + patterns.WINDOW + 1):
        return Pending(hint.end())
    content = view.text[hint.end() : found.start() if found else hint.end() + patterns.WINDOW + 1]
    return None if harmless(content) else Head(hint.end(), kinds.GENERIC, Ends(runs.RUN, _ELEMENT_STOPS))


def _changed(view: View, hint: Match) -> Found:
    """The second value of a plan that changes a secret, behind the first, which is masked."""
    first = hint.start() - len('" ')
    if not first or view.floor(first) != first:
        return None
    if view.open(hint.end()):
        return Pending(hint.end())
    content = heads.content(view, hint.end(), Ends(runs.QUOTED, r"[\"\r\n]"))
    if isinstance(content, Pending):
        return content
    return None if harmless(content) else Head(hint.end(), kinds.GENERIC, Ends(runs.QUOTED, r"[\"\r\n]"))


def _logon(view: View, hint: Match) -> Found:
    """The password behind a user and a slash, up to the last `@` before the place of the database."""
    value = heads.value(view, hint.end(), _BLANK_STOPS)
    if isinstance(value, Pending):
        return value
    secret = value.rpartition("@")[0] or value
    return None if harmless(secret) else Head(hint.end(), kinds.GENERIC, Ends(runs.FIXED, length=len(secret)))


def _pgpass(view: View, hint: Match) -> Found:
    """The last field of a line of `.pgpass`, behind host, port, database and user."""
    if not compiled(r"(?:\A|\n)#?[^\s:]{1,64}\Z").search(_before(view, hint.start(), _NAME_LENGTH + 2)):
        return None
    return _word(view, hint.end())


def _joined(view: View, hint: Match) -> Found:
    """A bearer token in a string of its own, which code adds to the word before it."""
    value = heads.value(view, hint.end(), _BEARER_STOPS)
    if isinstance(value, Pending):
        return value
    innocent = harmless(value) or value.lower() in patterns.BEARER_WORDS
    return None if innocent else Head(hint.end(), kinds.BEARER, Ends(runs.RUN, _BEARER_STOPS, marks=True))


def _told(view: View, hint: Match) -> Found:
    """A password in a sentence, which ends with it: letters and digits, or behind a colon."""
    value = heads.value(view, hint.end(), _BLANK_STOPS)
    line = _line(view, hint.end())
    if isinstance(value, Pending) or isinstance(line, Pending):
        return Pending(hint.end())
    mixed = len(value) >= _TOLD_LENGTH and compiled("[0-9]").search(value) and compiled("[A-Za-z]").search(value)
    if harmless(value) or not mixed or len(line.split()) > 1:
        return None
    return Head(hint.end(), kinds.GENERIC, Ends(runs.RUN, _BLANK_STOPS, marks=True))


def _spoken(view: View, hint: Match) -> Found:
    """A key, token or secret in the middle of a sentence that names it: long, of letters and digits."""
    name = hint.group()
    if name.startswith("key"):
        if not _before(view, hint.start(), _KIND_LENGTH).rstrip("_- ").endswith(patterns.KEY_KINDS):
            return None
    elif not heads.free(view, hint.start()) or not compiled(_SAYS).search(name) or _is_claim(view, hint, hint.end()):
        return None
    value = heads.value(view, hint.end(), _SPOKEN_STOPS)
    if isinstance(value, Pending):
        return value
    changes = len(compiled(_CHANGES).findall(value))
    if len(value) < patterns.SHORTEST_SPOKEN or changes < _FEWEST_CHANGES or harmless(value):
        return None
    return Head(hint.end(), kinds.GENERIC, Ends(runs.RUN, _SPOKEN_STOPS))


def _manifest(view: View, hint: Match) -> Found:
    """The data of a Kubernetes secret, behind what says that it is one."""
    level = _level(view, hint.start())
    rest = view.text[hint.end() : hint.end() + _MANIFEST_LENGTH]
    found = compiled(_DATA % level).search(rest)
    if found is None:
        other = compiled(_OTHER_DOCUMENT).search(rest)
        return Pending(hint.start()) if other is None and view.open(hint.end() + _MANIFEST_LENGTH) else None
    if compiled(_OTHER_DOCUMENT).search(rest, 0, found.start()):
        return None
    return _data_block(view, hint.end() + found.end(), level)


def _data(view: View, hint: Match) -> Found:
    """The same before what says so, as far as it is there."""
    before = _before(view, hint.start(), _NAME_LENGTH)
    line = compiled(r"(?:\A|\n)([ -]*+)(?:string)?\Z").search(before)
    if line is None:
        return None
    level = len(line[1])
    rest = view.text[hint.end() - 1 : hint.end() + _MANIFEST_LENGTH]
    found = compiled(_KIND % level).search(rest)
    if found is None or compiled(_OTHER_DOCUMENT).search(rest, 0, found.start()):
        return None
    return _data_block(view, hint.end(), level)


def _level(view: View, at: int) -> int:
    """How far in a line something stands."""
    return at - (view.text.rfind("\n", 0, at) + 1)


def _data_block(view: View, at: int, level: int) -> Found:
    """The lines below a name, each further in, unless none of them holds a value."""
    lead = compiled(r"\s{0,256}").match(view.text, at)
    start = lead.end() if lead else at
    if view.open(start + patterns.WINDOW):
        return Pending(at)
    values = compiled(rf"\n[ ]{{{level + 1},64}}[\w.-]{{1,253}}:[ \t]{{0,16}}([^\r\n]{{0,{patterns.WINDOW}}})")
    block = compiled(rf"(?:[ ]{{{level + 1}}}[^\n]*+(?:\n|\Z)|[ ]*+\n){{1,128}}").match(view.text, at)
    found = values.findall("\n" + block[0]) if block else []
    if all(harmless(each.strip("\"' ")) for each in found):
        return None
    return Head(start, kinds.GENERIC, Ends(runs.INDENTED, level=level))


def _typed(view: View, hint: Match) -> Found:
    """What is typed behind a prompt, up to the end of its line: one word, also one of letters alone."""
    line = _line(view, hint.end())
    if isinstance(line, Pending):
        return line
    words = line.split()
    if len(words) != 1 or not words[0].strip("xX"):
        return None
    if harmless(words[0]) and (not words[0].isalpha() or patterns.is_label(words[0])):
        return None
    return Head(hint.end(), kinds.GENERIC, Ends(runs.FIXED, length=len(words[0])))


def _label(view: View, hint: Match) -> Found:
    """A value behind a label in another script: one that is written in letters of ASCII and holds a digit."""
    value = heads.value(view, hint.end(), _LABEL_STOPS)
    if isinstance(value, Pending):
        return value
    spoken = hint.group().startswith("トークン") and value.isdigit()  # so many tokens
    long = len(value) >= _SHORTEST_PIN and value.isascii()
    if spoken or not long or not compiled("[0-9]").search(value) or harmless(value):
        return None
    return Head(hint.end(), kinds.GENERIC, Ends(runs.RUN, _LABEL_STOPS, marks=True))


def _pair(view: View, start: int) -> Found:
    """The password behind a user and a sign."""
    quote = compiled(r"\\{0,3}[\"']?").match(view.text, start)
    begin = quote.end() if quote else start
    user = compiled(r"[^\s\"'`:%,]{0,128}").match(view.text, begin)
    end = user.end() if user else begin
    if view.open(end + 1):
        return Pending(start)
    if view.text[end : end + 1] not in (":", "%", ","):
        return None
    stops = rf"[{view.text[begin - 1]}\r\n]" if begin > start else _BLANK_STOPS
    value = heads.value(view, end + 1, stops)
    if isinstance(value, Pending):
        return value
    return None if harmless(value) else Head(end + 1, kinds.GENERIC, Ends(runs.RUN, stops))


def _programs(view: View, at: int) -> dict[str, str]:
    """What the short options of the command before a place take."""
    first = max(0, at - heads.LEAD)
    before = view.text[first:at]
    takes = _takes(before)
    line = 0 if "\\" in before else before.rfind("\n") + 1
    if view.lead or view.floor(at) > first + line:
        # What was masked may have held the next command, as in `curl -u a:b;curl -u c:d`.
        takes = {**takes, **_takes(view.told(at, heads.LEAD))}
    return takes or (_takes(view.spaced(first, at)) if view.codes else {})


def _takes(before: str) -> dict[str, str]:
    """What the short options of the last command in a text take."""
    command = compiled(_COMMAND_ENDS).split(before.replace("\\\n", "  ").replace("\\\r\n", "   "))[-1]
    found = compiled(_PROGRAM).findall(command + " ")
    return tables.PROGRAMS.get("+".join(word for word in found[-1].split() if word[0] != "-"), {}) if found else {}


def _signature(view: View, hint: Match) -> Found:
    """The signature of a shared access signature: long, in base64, percent-encoded or not."""
    value = compiled(r"[A-Za-z0-9%+/=_-]{0,126}").match(view.text, hint.end())
    end = value.end() if value else hint.end()
    if view.open(end):
        return Pending(hint.end())
    if end - hint.end() < _SIGNATURE_LENGTH:
        return None
    return Head(hint.end(), kinds.GENERIC, Ends(runs.RUN, r"[^A-Za-z0-9%+/=_-]"))


HEADS: dict[str, Callable[[View, Match], Found]] = {
    **heads.HEADS,
    "bearer": _bearer,
    "authorization": _authorization,
    "cookie": _cookie,
    "password": _password,
    "folder": _folder,
    "secret": _secret,
    "token": _named_token,
    "key": _key,
    "credential": _credentials,
    "netrc": _netrc,
    "option": _option,
    "letter": _letter,
    "user": _user,
    "listed": _listed,
    "changed": _changed,
    "told": _told,
    "manifest": _manifest,
    "data": _data,
    "spoken": _spoken,
    "logon": _logon,
    "pgpass": _pgpass,
    "typed": _typed,
    "joined": _joined,
    "label": _label,
    "signature": _signature,
    "jar": _jar,
    "argument": _argument,
    "fed": _fed,
    "piped": _piped,
    "beside": _beside,
    "short": _short,
    "valued": _valued,
    "mixed": _mixed,
    "named": _credential,
}
"""Who looks closer at any hint, by the name that a hint has."""
