"""Suggestions and local texts: parts of a sentence that each door words for its own callers.

A refusal, a next action, a hand-off or a hint names an operation and its arguments by the names of its parameters:
`suggest("task show", id="T1", session_id="S1")`. A sentence that has suggestions in it is made from a template:
`sentence("Call {}, then report.", suggest(...))`, and keeps them as parts.

Both are texts as well, worded for the command line: that is what is recorded, and what the JSON of the command line
says. Whoever only stores or compares them need not know what they are. A door that speaks otherwise gives `reword`
its own wording of one suggestion: a call of a tool over MCP, of a method in Python, a command with the `--db` of its
call at the command line. Nothing looks for commands in finished sentences. A text put together in another way, as by
an f-string, loses its parts; a test walks every answer of the MCP door and finds such a loss.

A path of this machine, and what another program said that may hold one, is a part as well: `local(path)`. Its text is
the path. The doors for callers elsewhere (HTTP, MCP, pages) say `elsewhere(text)`, in which nothing local is left.

Whoever a suggestion is for follows from its operation (`Suggestion.audience`): the caller, a person who proves to be
one, who writes a file, or who has another database.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence

from orchestrator.core import names
from orchestrator.hints import Any

CALLER, PERSON, AUTHOR, ELSEWHERE = "caller", "person", "author", "elsewhere"
"""Who acts on a suggestion: whoever is told it; a person, who proves to be one; who writes the file it names; who has
the database that an export comes from."""
PROGRAM = "orchestrator"
HIDDEN = "…"
"""Stands for what is local."""
_AUDIENCES = {
    "answer": PERSON, "human enrol": PERSON, "human link": PERSON, "human remove": PERSON, "human reset": PERSON,
    "metadata check": AUTHOR, "workflow check": AUTHOR, "workflow what-if": AUTHOR, "audit export": ELSEWHERE,
}  # fmt: skip
_ID, _SESSION, _FILE = ("id",), ("session_id",), ("file",)
_LEADING = {
    "answer": _ID, "why": _ID, "handoff": ("group_id",), "redispatch": ("group_id",),
    "route": ("current_agent", "status"), "drive": _SESSION, "status": _SESSION, "validate": _SESSION,
    "session create": _ID, "session end": _ID, "session resume": _ID, "session show": _ID,
    "session upgrade-workflow": _ID, "group create": _ID, "group set-status": ("id", "status"), "group show": _ID,
    "group undepend": _ID, "task claim": _ID, "task release": _ID, "task set-status": ("id", "status"),
    "task show": _ID, "task undepend": _ID, "blocker resolve": _ID, "blocker show": _ID, "criterion add": _ID,
    "criterion approve": _ID, "criterion set": _ID, "agent show": _ID, "human remove": _ID,
    "audit export": _SESSION, "audit import": _FILE, "certificate check": _FILE, "certificate make": _SESSION,
    "audit query": ("sql",), "audit replay": _SESSION, "audit verify": _SESSION, "batch": _FILE, "db backup": _FILE,
    "db grant": ("role",),
    "db restore": _FILE, "import peer": _FILE, "metadata check": _FILE, "run": ("prompt",), "workflow check": _FILE,
    "workflow load": _FILE, "workflow what-if": _FILE,
}  # fmt: skip
"""The parameters that the command line takes without a flag, as long as a suggestion begins with them."""
_FLAGS = {"at_seq": "--at", "disabled_roles": "--disable-role", "every": "--all"}
"""Flags that are not called as their parameters."""
_NAMED = ("suggestion", "status_hint", "next", "handoff", "report_command", "redispatch", "hint", "command")
"""Keys of answers whose texts may each be one suggestion."""
Argument = str | int | bool | list[str] | dict[str, str]


class _Whole(str):
    """A text that `+` and `rstrip` do not take apart."""

    __slots__ = ()

    def __add__(self, other: str) -> Sentence:
        return joined([self, other])

    def __radd__(self, other: str) -> Sentence:
        return joined([other, self])


    def rstrip(self, chars: str | None = None, /) -> Sentence:
        *first, last = parts_of(self)
        return joined([*first, last.rstrip(chars) if type(last) is str else last])


class Suggestion(_Whole):
    """One call of an operation; its text is the command.

    operation: the words of the operation; empty for arguments with which the caller's own call is repeated; what begins
        with a slash is typed in a REPL.
    arguments: by the names of the operation's parameters; a word in capitals stands for what the caller fills in, True
        for a flag. `db` is the database, `help` asks what the operation takes.
    """

    __slots__ = ("arguments", "operation")
    operation: str
    arguments: Mapping[str, Argument]

    @property
    def audience(self) -> str:
        """Who acts on it: CALLER, PERSON, AUTHOR or ELSEWHERE."""
        return _AUDIENCES.get(self.operation, CALLER)

    @property
    def is_typed(self) -> bool:
        """Whether it is typed in a REPL, and is no operation."""
        return self.operation.startswith("/")


class Sentence(_Whole):
    """A text with suggestions and local texts in it; `parts` are what it consists of, in order."""

    __slots__ = ("parts",)
    parts: tuple[str, ...]


class Local(_Whole):
    """A part of a sentence that only callers on this machine are shown: a path, or what another program said.

    inner: what it says, with its own suggestions. elsewhere: what anybody else is told in its place.
    """

    __slots__ = ("elsewhere", "inner")
    inner: str
    elsewhere: str


def local(text: object, elsewhere: str = HIDDEN) -> Local:
    """A path of this machine, or what another program said, as a part of a sentence."""
    made = Local(text)
    made.inner, made.elsewhere = text if isinstance(text, Sentence) else str(text), elsewhere
    return made


def reason(error: Exception) -> str:
    """Why the system refused something; what else an error says may hold a path, so it is local."""
    return getattr(error, "strerror", None) or local(error)


def quoted(word: str) -> str:
    """One word of a shell command; an absolute path is local."""
    return local(names.word(word)) if word.startswith("/") else names.word(word)


def suggest(operation: str, /, **arguments: Argument | None) -> Suggestion:
    """The suggestion to call an operation; an argument that is None or False is left out."""
    given = {name: value for name, value in arguments.items() if value is not None and value is not False}
    made = Suggestion(command_line(operation, given))
    made.operation, made.arguments = operation, given
    return made


def options(**arguments: Argument) -> Suggestion:
    """Arguments of the call that is answered, as a part of a sentence; of one that is True, the name alone."""
    return suggest("", **arguments)


def again(**arguments: Argument) -> Sentence:
    """That the call is repeated with these arguments."""
    return sentence("Repeat with {}", options(**arguments))


def sentence(template: str, *values: object) -> Sentence:
    """A sentence with each `{}` of its template replaced by the next value; suggestions stay suggestions.

    Raises:
        ValueError: there are more or fewer values than places for them.
    """
    texts = template.split("{}")
    parts: list[str] = []
    for text, value in zip(texts, (*values, ""), strict=True):
        parts.append(text)
        parts.extend(parts_of(value if isinstance(value, str) else str(value)))
    return joined(parts)


def joined(parts: Sequence[str], between: str = "") -> Sentence:
    """Texts, sentences and suggestions as one sentence, with a text between each two."""
    flat: list[str] = []
    for number, part in enumerate(parts):
        flat.extend((between,) if between and number else ())
        flat.extend(parts_of(part))
    made = Sentence("".join(flat))
    made.parts = tuple(flat)
    return made


def parts_of(text: str) -> tuple[str, ...]:
    """What a text consists of, in order."""
    return text.parts if isinstance(text, Sentence) else (text,)


def split_lines(text: str) -> list[str]:
    """The lines of a text, each with its suggestions."""
    found: list[list[str]] = [[]]
    for part in parts_of(text):
        first, *rest = part.split("\n") if type(part) is str else (part,)
        found[-1].append(first)
        found.extend([each] for each in rest)
    return [joined(parts) for parts in found]


def command_line(operation: str, arguments: Mapping[str, Argument], options: str = "") -> str:
    """A call as it is typed into a shell.

    Args:
        options: what stands between the program and the operation, such as a `--db`; empty for nothing.
    """
    words = [PROGRAM] if operation or "help" in arguments else []
    if operation:
        words += (options, operation) if options else (operation,)
    leading = _LEADING.get(operation, ())
    for name, value in arguments.items():
        if leading and name == leading[0] and not isinstance(value, bool):
            leading = leading[1:]
            words.append(_word(value))
        else:
            leading = ()
            words += _option(_flag(name), value)
    return " ".join(words)


@functools.cache
def _flag(name: str) -> str:
    return _FLAGS.get(name) or f"--{name.replace('_', '-')}"


def _option(flag: str, value: Argument) -> Sequence[str]:
    if value is True:
        return (flag,)
    if isinstance(value, (str, int)):
        return flag, _word(value)
    texts = value if isinstance(value, list) else [f"{name}={text}" for name, text in value.items()]
    return [word for text in texts for word in (flag, _word(text))]


def _word(value: object) -> str:
    text = str(value)
    return text if type(value) is int or names.AGENT_ID_PATTERN.fullmatch(text) else names.word(text)


def reword(found: Any, worded: Callable[[Suggestion], str], shown: Callable[[Local], str] | None = None) -> Any:
    """A text, or a document of dicts and lists with all its texts, with its suggestions in the words of a door.

    Args:
        worded: how the door words one suggestion.
        shown: how it words what is local (default: as it is).
    """
    kind = type(found)
    if kind is dict:
        # Most of an answer is names and values that are no texts of ours: they need no call each.
        return {
            name if type(name) is str else reword(name, worded, shown):
            value if type(value) in _PLAIN else reword(value, worded, shown)
            for name, value in found.items()
        }  # fmt: skip
    if kind is list or kind is tuple:
        return kind([each if type(each) in _PLAIN else reword(each, worded, shown) for each in found])
    if isinstance(found, Suggestion):
        return worded(found)
    if isinstance(found, Local):
        return reword(found.inner, worded) if shown is None else shown(found)
    if isinstance(found, Sentence):
        return "".join(reword(part, worded, shown) for part in found.parts)
    if isinstance(found, tuple):
        return tuple(reword(each, worded, shown) for each in found)
    if isinstance(found, dict | list):
        return reword(dict(found) if isinstance(found, dict) else list(found), worded, shown)
    return found


_PLAIN = frozenset((str, int, bool, float, type(None)))
"""Types of values that hold no suggestion and nothing local."""


def elsewhere(found: Any, worded: Callable[[Suggestion], str] = str) -> Any:
    """A text or a document as `reword` takes them, for callers elsewhere: without what is local.

    Args:
        worded: how the door words one suggestion; it names no database, and PATH is any other path in it.
    """
    return reword(found, lambda each: worded(_anywhere(each)), lambda each: each.elsewhere)


def rewritten(text: str, change: Callable[[str], str]) -> str:
    """A text after a change such as masking, its local parts kept; without them where the change crosses their ends."""
    whole = change(text)
    if whole == text or type(text) is str:
        return text if whole == text else whole
    kept = joined([local(change(part), part.elsewhere) if isinstance(part, Local) else change(part)
                   for part in parts_of(text)])  # fmt: skip
    return kept if kept == whole else change(elsewhere(text))


def is_local(text: str) -> bool:
    """Whether a text has a part that is local, or suggests a command on a path of this machine; a `--db` is none."""
    return any(
        isinstance(part, Local) or (isinstance(part, Suggestion) and "PATH" in _anywhere(part).arguments.values())
        for part in parts_of(text)
    )


def _anywhere(suggestion: Suggestion) -> Suggestion:
    arguments = suggestion.arguments
    if "db" not in arguments and not any(map(_is_path, arguments.values())):
        return suggestion
    given = {name: "PATH" if _is_path(each) else each for name, each in arguments.items() if name != "db"}
    return suggest(suggestion.operation, **given)


def _is_path(value: Argument) -> bool:
    return isinstance(value, Local) or (isinstance(value, str) and value.startswith("/"))


def suggestions(text: str) -> list[Suggestion]:
    """The suggestions of a text, in order."""
    found = [part.inner if isinstance(part, Local) else part for part in parts_of(text)]
    return [part for each in found for part in parts_of(each) if isinstance(part, Suggestion)]


def recorded(found: Any, name: str = "") -> Any:
    """An answer that was read from the record, where it stands as the command line says it, its commands suggestions.

    Args:
        name: the key under which it stands.
    """
    if isinstance(found, dict):
        return {key: recorded(value, key) for key, value in found.items()}
    if isinstance(found, list):
        return [recorded(each, name) for each in found]
    return _read(found) if isinstance(found, str) and name in _NAMED else found


def _read(text: str) -> str:
    """A command as the suggestion that it was; the text where it is not exactly one that is suggested."""
    program, *words = text.split(" ")
    for count in (2, 1):
        operation = " ".join(words[:count])
        if program == PROGRAM and operation in _LEADING:
            made = suggest(operation, **_given(_LEADING[operation], words[count:]))
            return made if made == text else text
    return text


def _given(leading: tuple[str, ...], words: list[str]) -> dict[str, Argument]:
    """The arguments of a command without quotes; what else it may hold is lost, and the command is not made again."""
    flags = [place for place, word in enumerate(words) if word.startswith("--")]
    found: dict[str, Argument] = dict(zip(leading, words[: flags[0] if flags else len(words)], strict=False))
    for place in flags:
        name, value = words[place][2:].replace("-", "_"), " ".join(words[place + 1 : place + 2])
        if name == "acknowledge":
            group, _, reason = value.partition("=")
            known = found.get(name)
            found[name] = {**(known if isinstance(known, dict) else {}), group: reason}
        else:
            found[name] = True if not value or value.startswith("--") else value
    return found
