"""What of an agent's final message speaks: its lines without comments, collapsed blocks, quotes and code.

A message is Markdown with HTML in it. HTML comments and what stands in `<details>`, `<blockquote>`, `<pre>` and the
like are not read as said; nor are quotes (`>`, with the lines that continue their paragraph), indented code, and
fences other than `json` ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from orchestrator.core.named_tuple import NamedTuple

_LINE_END = re.compile(r"\r\n|\r|\n")
_FENCE = re.compile(r"(?P<indent>[ \t]*)(?P<fence>`{3,}|~{3,})(?P<info>.*)")
_QUOTE = re.compile(r" {0,3}>")
_INDENTED = re.compile(r" {0,3}\t| {4}")
_LIST_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s")
_ASIDE = "details|blockquote|pre|code|template|script|style|textarea"
# A code span is skipped: what it shows is not HTML.
_TOKEN = re.compile(
    rf"(?P<span>(`+)(?!`).*?(?<!`)\2(?!`))|(?P<comment><!--)|<(?P<end>/)?(?P<tag>{_ASIDE})(?=[\s/>]|$)[^>]*>?",
    re.IGNORECASE,
)
_COMMENT_END = re.compile(r"--!?>")


class Line(NamedTuple):
    """A line that speaks. `text` is what of it does, `whole` whether that is all of it."""

    number: int
    text: str
    whole: bool


class Block(NamedTuple):
    """A fenced `json` block: the numbers of its first and last line, and the text between them."""

    number: int
    last: int
    text: str


class Unclosed(Exception):
    """Something that opens in a line is never closed; what came after a cut could have said the opposite."""

    def __init__(self, what: str, number: int) -> None:
        super().__init__(f"the {what} that opens in line {number} is never closed")


class _Hidden:
    """Whether what comes next stands in a comment, or in an element that sets it aside."""

    def __init__(self) -> None:
        self.comment: int | None = None
        self.elements: list[tuple[str, int]] = []

    def visible(self, number: int, line: str) -> str:
        """What of a line is visible; the state is that of its end afterwards."""
        if self.comment is None and not self.elements and "<" not in line:
            return line
        shown: list[str] = []
        at = 0
        while at < len(line):
            if self.comment is not None:
                end = _COMMENT_END.search(line, at)
                if end is None:
                    return "".join(shown)
                self.comment, at = None, end.end()
                continue
            token = _TOKEN.search(line, at)
            stop = token.start() if token else len(line)
            if not self.elements:
                shown.append(line[at:stop])
            at = self._take(number, line, token) if token else stop
            if token and token["span"] and not self.elements:
                shown.append(token.group())
        return "".join(shown)

    def _take(self, number: int, line: str, token: re.Match[str]) -> int:
        if token["comment"]:
            # `<!-->` and `<!--->` are whole comments.
            short = re.compile("-?>").match(line, token.end())
            self.comment = None if short else number
            return short.end() if short else token.end()
        if token["tag"]:
            self._element(token["tag"].lower(), number, is_end=bool(token["end"]))
        return token.end()

    def _element(self, tag: str, number: int, *, is_end: bool) -> None:
        if not is_end:
            self.elements.append((tag, number))
        elif any(tag == each for each, _ in self.elements):
            while self.elements.pop()[0] != tag:
                pass

    def require_closed(self) -> None:
        """Raise Unclosed where a comment or an element is still open."""
        if self.comment is not None:
            raise Unclosed("comment", self.comment)
        if self.elements:
            tag, number = self.elements[0]
            raise Unclosed(f"<{tag}>", number)


def spoken(message: str) -> Iterator[Line | Block]:
    """The lines that speak, blank ones among them, and the `json` blocks.

    Raises:
        Unclosed: a fence, a comment or an element is open at the end.
    """
    rest = iter(enumerate(_LINE_END.split(message), 1))
    hidden = _Hidden()
    before = ""
    for number, line in rest:
        fence = _fence(line) if hidden.comment is None else None
        if fence:
            last, body = _body(rest, fence, number)
            if not hidden.elements and _info(fence) == "json" and _indent(fence) <= 3:
                yield Block(number, last, body)
            before = ""
            continue
        aside = hidden.comment is not None or hidden.elements
        text = hidden.visible(number, line)
        kind = "" if aside and not text.strip() else _kind(text, before)
        if kind not in ("quote", "code"):
            yield Line(number, text, text == line and kind != "lazy")
        before = kind
    hidden.require_closed()


def last_number(message: str) -> int:
    """The number of the last line that is not blank; 0 where all are."""
    return max((number for number, line in enumerate(_LINE_END.split(message), 1) if line.strip()), default=0)


def _kind(line: str, before: str) -> str:
    """What a line belongs to: a quote, what continues one without its mark, indented code, a paragraph, or nothing."""
    if not line.strip():
        return ""
    quote = _QUOTE.match(line)
    if quote:
        return "quote" if line[quote.end() :].strip() else ""
    if before in ("quote", "lazy"):
        return "lazy"
    if before == "paragraph":
        # An indented line continues it.
        return before
    if _INDENTED.match(line) and not _LIST_ITEM.match(line):
        return "code"
    return "paragraph"


def _fence(line: str) -> re.Match[str] | None:
    found = _FENCE.fullmatch(line) if "```" in line or "~~~" in line else None
    return None if found and "`" in found["fence"] and "`" in found["info"] else found


def _info(fence: re.Match[str]) -> str:
    return fence["info"].strip().lower()


def _body(rest: Iterator[tuple[int, str]], fence: re.Match[str], number: int) -> tuple[int, str]:
    body: list[str] = []
    for last, line in rest:
        if _closes(line, fence):
            return last, "\n".join(body)
        body.append(line)
    raise Unclosed("block", number)


def _closes(line: str, fence: re.Match[str]) -> bool:
    end = _FENCE.fullmatch(line)
    return bool(
        end
        and end["fence"].startswith(fence["fence"])
        and not end["info"].strip()
        and _indent(end) <= _indent(fence) + 3
    )


def _indent(fence: re.Match[str]) -> int:
    return len(fence["indent"].expandtabs(4))
