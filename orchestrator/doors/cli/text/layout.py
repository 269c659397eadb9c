"""Lines, tables and fields of text, with control characters made visible."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from orchestrator.core import control_characters as spelling
from orchestrator.core import masking
from orchestrator.doors.cli import screen
from orchestrator.hints import Any

LONG = 400
"""Characters of one value that are shown where much else is."""
Row = dict[str, Any]
INDENT = "  "
NOTHING = "-"
FEW = 3
"""How many of a kind are named one by one; --json names all."""


def visible(value: object) -> str:
    """A value on one line: what would move the cursor, ring or hide is spelt out."""
    if value in (None, "", [], {}):
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    return spelling.on_one_line(masking.mask_before_spelling(str(value)))


def visible_lines(text: str) -> list[str]:
    """A text of several lines: its own line breaks and tabs stay, other controls are spelt out."""
    return spelling.on_lines(text).split("\n")


def table(headers: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """Rows under headers, each column as wide as its widest cell; the last one is left free.

    On a terminal it is fitted to the columns that there are: columns without any value are left out, long cells go on
    below. Where even that is too wide each row is told as fields.
    """
    return aligned([list(headers), *([visible(cell) for cell in row] for row in rows)])


def aligned(cells: list[list[str]]) -> list[str]:
    """A table of cells that are spelt out already, the headers first; it leaves room for one indent."""
    room = screen.width()
    widths = [max(map(columns, column)) for column in zip(*cells, strict=True)]
    if room is None or sum(widths) + len(INDENT) * (len(widths) - 1) <= room - len(INDENT):
        return [_line(row, widths, is_head=not number) for number, row in enumerate(cells)]
    kept = [place for place, column in enumerate(zip(*cells[1:], strict=True)) if set(column) != {NOTHING}] or [0]
    cells = [[row[place] for place in kept] for row in cells]
    fitted = _fitted(cells, room - len(INDENT))
    if fitted is None:
        pairs = [[(name, cell) for name, cell in zip(cells[0], row, strict=True) if cell != NOTHING] for row in cells]
        return [line for row in pairs[1:] for line in ("", *_fields(row))][1:]
    return [line for number, row in enumerate(cells) for line in _folded(row, fitted, is_head=not number)]


def _fitted(cells: list[list[str]], room: int) -> list[int] | None:
    """The width of each column in a room: the widest give way first, but no word of theirs is broken."""
    table = list(zip(*cells, strict=True))
    widths = [max(map(columns, column)) for column in table]
    least = [max(columns(word) for cell in column for word in _words(cell)) for column in table]
    room -= len(INDENT) * (len(widths) - 1)
    if sum(least) > room:
        return None
    while sum(widths) > room:
        spare = [place for place in range(len(widths)) if widths[place] > least[place]]
        widest = max(spare, key=lambda place: widths[place])
        widths[widest] -= 1
    return widths


def _folded(row: list[str], widths: list[int], *, is_head: bool) -> list[str]:
    """A row of cells that go on below."""
    parts = [folded(cell, width) for cell, width in zip(row, widths, strict=True)]
    lines = max(map(len, parts))
    filled = [[*part, *[""] * (lines - len(part))] for part in parts]
    return [_line(list(line), widths, is_head=is_head) for line in zip(*filled, strict=True)]


def folded(text: str, width: int, indent: str = "") -> list[str]:
    """A text in lines of a width, broken at blanks; a word that is longer stays whole.

    Args:
        indent: what every line but the first begins with.
    """
    lines: list[str] = []
    line = ""
    for word in _words(text):
        longer = f"{line} {word}" if line else word
        if line and columns(longer) > width - (len(indent) if lines else 0):
            lines.append(line)
            line = word
        else:
            line = longer
    return [(indent if number else "") + each for number, each in enumerate([*lines, line])]


def _words(text: str) -> list[str]:
    """What a text may be broken into; a relative time and a command stay whole."""
    if screen.is_relative(text):
        return [text]
    if _COMMAND not in text:
        return text.split(" ")
    if "`" in text:
        import re

        return re.findall(r"(?:`[^`]*`|[^ ])+|(?<= )(?= )", text)
    prose, command, rest = text.partition(_COMMAND)
    return [*prose.split(" ")[:-1], prose.split(" ")[-1] + command + rest]


def hanging(head: str, text: str) -> list[str]:
    """A text behind the head of its line; on a terminal it goes on below its own beginning."""
    room = screen.width()
    if room is None or _COMMAND in text or columns(head) > room // 2:
        return [head + text]
    indent = " " * columns(head)
    # Below the title of a section it is indented once more.
    first, *rest = folded(text, room - columns(head) - len(INDENT))
    return [head + first, *(indent + line for line in rest)]


def _line(row: list[str], widths: list[int], *, is_head: bool) -> str:
    """One line of a table; what stands behind the last cell with something in it is left out."""
    cells = list(zip(row, widths, strict=True))
    while len(cells) > 1 and not cells[-1][0]:
        cells.pop()
    shown = [_styled(cell, is_head=is_head) + " " * (width - columns(cell)) for cell, width in cells]
    return INDENT.join(shown).rstrip()


def _styled(cell: str, *, is_head: bool) -> str:
    return screen.paint(cell, screen.BOLD if is_head else screen.of_word(cell))


def columns(text: str) -> int:
    """The columns that a terminal gives a text; styles take none."""
    if "\x1b" in text:
        import re

        text = re.sub(r"\x1b\[\d+m", "", text)
    if text.isascii():
        return len(text)
    import unicodedata

    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return len(text) + wide - sum(unicodedata.combining(letter) > 0 for letter in text)


def fields(pairs: Iterable[tuple[str, object]], indent: str = "") -> list[str]:
    """Names and values below each other, the values aligned; what is None is left out."""
    return _fields([(name, visible(value)) for name, value in pairs if value is not None], indent)


def _fields(shown: Sequence[tuple[str, str]], indent: str = "") -> list[str]:
    width = max((len(name) for name, _ in shown), default=0)
    return [line for name, value in shown for line in hanging(f"{indent}{name + ':':<{width + 1}} ", value)]


def section(title: str, lines: Sequence[str]) -> list[str]:
    """Lines under a title, after an empty line; nothing where there are none."""
    return ["", screen.paint(title, screen.BOLD), *(INDENT + line for line in lines)] if lines else []


_COMMAND = "orchestrator "
"""Lines with a command are left to the terminal, so that it can be copied as one."""


def fitted(text: str) -> str:
    """A text in the columns that there are: long lines are broken at blanks and go on indented."""
    room = screen.width()
    if room is None:
        return text
    return "\n".join(part for line in text.split("\n") for part in _broken(line, room))


def _broken(line: str, room: int) -> list[str]:
    if columns(line) <= room or (_COMMAND in line and line.find(_COMMAND) < room // 2 and "`" not in line):
        return [line]
    start = len(line) - len(line.lstrip(" "))
    label, colon, value = line[start:].partition(":")
    # The value of a field goes on below its beginning, any other line a little further in.
    deeper = start + columns(label) + 1 + len(value) - len(value.lstrip(" "))
    is_field = colon and " " not in label.strip() and deeper <= room // 3
    indent = " " * (deeper if is_field else start + len(INDENT))
    first, *rest = folded(line[start:], room - start, indent)
    return [" " * start + first, *rest]


def awaited(waiting: Mapping[str, Any] | None) -> str | None:
    """Whom somebody awaits, in one line."""
    if waiting is None:
        return None
    if waiting["role"] == "user":
        return f"a person ({waiting['action']}), {screen.since(waiting['since'])}"
    turn = f", turn {waiting['turn']}" if waiting["turn"] else ""
    held = f", held: {waiting['held']}" if waiting["held"] else ""
    since = screen.since(waiting["since"])
    return f"{waiting['role']} ({waiting['agent_id']}), {waiting['action']}{turn}, {since}{held}"


def cut(text: str) -> str:
    """A text that would fill the screen, cut; --json has all of it."""
    return text if len(text) <= LONG else f"{text[: LONG - 3]}..."


def few(names: Sequence[object]) -> str:
    """The first of some names, and how many there are besides."""
    more = f" and {len(names) - FEW} more" if len(names) > FEW else ""
    return ", ".join(visible(name) for name in names[:FEW]) + more


def alike(rows: Iterable[Row], kind: Callable[[Row], object]) -> list[list[Row]]:
    """Rows by what they are, in the order of the first of each kind."""
    found: dict[object, list[Row]] = {}
    for row in rows:
        found.setdefault(kind(row), []).append(row)
    return list(found.values())


def others(names: Sequence[object]) -> list[str]:
    """The line that stands for the others of a kind of which the first was told; nothing where there are none."""
    return [f"{INDENT}and {len(names)} more of this kind: {few(names)}"] if names else []


def counted(count: int, name: str) -> str:
    """`1 group`, `2 groups`."""
    return f"{count} {name}" if count == 1 else f"{count} {name}s"


def times(count: int) -> str:
    """`once`, `2 times`."""
    return "once" if count == 1 else f"{count} times"


def more(answer: Mapping[str, Any]) -> list[str]:
    """The line that says how to read on."""
    if not answer.get("has_more"):
        return []
    if "next_until" in answer:
        return ["", f"There is more: repeat with --until {answer['next_until']}"]
    return ["", f"There is more: repeat with --since {visible(answer['next_since'])}"]
