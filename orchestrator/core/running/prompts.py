"""Whether a program waits for somebody at the keyboard, judged by what it wrote and since when it is silent.

Nobody will answer it, so waiting longer gains nothing; but a long job is not to be ended for a word that it printed.
Therefore only the very last line counts, and only when it stays the last one. A finished line rarely is a prompt, so
it must end like one and has to stay longer. What stands in quotation marks or in JSON is told, not asked.

Source: seed 001, Property 34.
"""

from __future__ import annotations

import re

from orchestrator.core.lazy_regex import regex
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.running import terminal_output

UNFINISHED_S = 2.0
"""Seconds for which an unfinished line has to stay the last one to be a prompt."""
FINISHED_S = 10.0
"""Seconds for which a finished line has to."""
SHORT = 400
"""Characters up to which a line is read as a whole; of a longer one only the end may be a prompt."""
KEPT = 8_192
"""Characters of the last line, and of the finished lines before it, that are kept."""
SHOWN = 200
"""Characters of a prompt that are told."""
NEARBY = 20
"""Finished lines in which the heading of a choice is looked for."""

_YES = "yes|y|ja|j|sim|sí|si|s|oui|o|да|д|tak|t|はい"
_NO = "nein|non|não|nao|nee|nie|nej|no|n|нет|н|いいえ"
_MORE = r"(?:[/,|]\s?[\[(]?[^\s\[\]()/,|]{1,20}[\])]?){0,12}"
_BRACKETED = (
    rf"[\[(]\s?(?:(?:{_YES})(?:[/,|]\s?[^\s\[\]()/,|]{{1,20}}){{0,12}}(?:[/,|]\s?|\sor\s)(?:{_NO})"
    rf"|(?:{_NO})(?:[/,|]\s?|\sor\s)(?:{_YES})){_MORE}\s?[\])]"
)
_SINGLE = r"(?<![^\W_])[\[(](?:y|yes|j|ja)[\])]"
_BARE = r"(?<![\w/])(?:yes/no|y/n|j/n|o/n|s/n)"
_ENDING = r"(?:\s?[\[(][^\[\]()\n]{0,40}[\])])?[\s?:>».…]{0,20}\Z"
_NAMED = (
    r"(?:(?<!\w)(?:user ?name|password|passphrase|passcode|verification code|one-time code|passwort|kennwort"
    r"|benutzername|mot de passe|contraseña|senha)\b|パスワード|ユーザー名)"
)
_COLON = r"\s?[:\uff1a]\s*\Z"
_NOT_ONE = r"(?!\s(?:the|this|these|each|all)\b)"
_WHOSE = rf"(?:\s?[\[(][^\[\]()\n]{{0,60}}[\])]|\s(?:again|for{_NOT_ONE}(?:\s[^\s:]{{1,150}}){{1,2}}))?"

_START = regex(r"\s*(?:\? |Enter |Press )")
_PAIR = regex(_BRACKETED, re.IGNORECASE)
_PAIR_LAST = regex(rf"(?:{_BRACKETED}|{_SINGLE}){_ENDING}", re.IGNORECASE)
_BARE_LAST = regex(_BARE + _ENDING, re.IGNORECASE)
_SECRET_LAST = regex(rf"{_NAMED}[^\n]{{0,200}}{_COLON}", re.IGNORECASE)
_SECRET_ALONE = regex(_NAMED + _WHOSE + _COLON, re.IGNORECASE)
_LOGIN_LAST = regex(r"\blogin:\s*\Z", re.IGNORECASE)
_CHOICE = regex(r"\A\W*(?:select|choose)\b|\b(?:Select|Choose|SELECT|CHOOSE)\b")
_CHOICE_LAST = regex(r"[>\u276f\u203a]\s+\Z")
_CHOICE_ALONE = regex(r"\s*(?:#\?|[>\u276f\u203a])\s+")
_PAGER_LAST = regex(r"(?:--More--(?:\s?\([^()\n]{0,40}\))?|\(END\))\s*\Z")

_QUOTED = regex(
    r"\"[^\"]*\"|`[^`]*`|(?<!\w)'[^']*'(?!\w)|\u201c[^\u201d]*\u201d|\u201e[^\u201c\u201d]*[\u201c\u201d]"
    r"|\u2018[^\u2019]*\u2019(?!\w)|«[^»]*»|\u2039[^\u203a]*\u203a|「[^」]*」|『[^』]*』"
)
_STRUCTURED = regex(r'\s*(?:\{|\[\s*[{"\]])')
_TOLD = regex(r"\s*(?:[>#|*+-]\s|//|\d+[.)]\s)")
_SENTENCE_GOES_ON = regex(r"[^\W_][\s\S]*[.!。]\s*\Z")
_SPINNER_LAST = regex(r"[\s|/\\\u2010-\u2015*+.…·•\u2190-\u21ff\u2500-\u27bf\u2800-\u28ff-]+\Z")
_SPINNER_FIRST = regex(r"\A\s*[|/\\*+.…·•\u2190-\u21ff\u2500-\u27bf\u2800-\u28ff-]+\s+")


class Prompt(NamedTuple):
    """A line that looks like a prompt and stays the last one.

    text: the line as it is shown, without codes and at most `SHOWN` characters of its end; not masked.
    kind: start, pair, secret, choice or pager.
    finished: whether the line ended with a newline.
    since: the second in which the last word was written.
    due: the second from which on it is a prompt.
    """

    text: str
    kind: str
    finished: bool
    since: float
    due: float


def kind(row: str, *, finished: bool = False, before: str = "", redrawn: bool = False) -> str | None:
    """Which kind of prompt a last line would be, if it stayed the last one.

    Args:
        row: as a terminal shows it; blanks at its end belong to it.
        finished: whether a newline followed; then only a pair or a secret that ends it counts.
        before: the finished lines before it, for the heading of a choice.
        redrawn: whether the line was drawn over, so that it may begin with a spinner.

    Returns:
        start, pair, secret, choice or pager; None for any other text.
    """
    if _STRUCTURED.match(row):
        return None
    if redrawn:
        row = _SPINNER_FIRST.sub("", row)
    text = _QUOTED.sub(lambda quoted: "x" * len(quoted[0]), row[-SHORT:])
    if finished:
        return None if len(row) > SHORT or _TOLD.match(row) else _pair_or_secret(text, _SECRET_ALONE)
    return _open(row, text, before)


def _pair_or_secret(text: str, secret: re.Pattern[str]) -> str | None:
    if _PAIR_LAST.search(text):
        return "pair"
    return "secret" if secret.search(text) else None


def _open(row: str, text: str, before: str) -> str | None:
    is_short = len(row) <= SHORT
    if is_short and _START.match(row):
        return "start"
    spun = _SPINNER_LAST.sub("", text)
    for ending in (text, spun):
        found = _pair_or_secret(ending, _SECRET_LAST)
        if found or _LOGIN_LAST.search(ending):
            return found or "secret"
    pair = _PAIR.search(text) if is_short else None
    if _BARE_LAST.search(text) or (pair and not _SENTENCE_GOES_ON.search(text, pair.end())):
        return "pair"
    if _CHOICE_LAST.search(text) and (_CHOICE.search(text) or (_CHOICE_ALONE.fullmatch(text) and _headed(before))):
        return "choice"
    return "pager" if _PAGER_LAST.search(text) else None


def _headed(before: str) -> bool:
    return any(_CHOICE.search(terminal_output.show(line).row) for line in before.split("\n")[-NEARBY:])


class Screen:
    """The end of one stream: its unfinished line and the finished ones before it."""

    def __init__(self) -> None:
        self.moved_at = float("-inf")
        """The second in which a line or a word was last added; spinners add none."""
        self._finished = ""
        self._line = ""
        self._newlines = 0
        self._fed_at = self.moved_at
        self._seen = (0, "")
        self._found: tuple[str, str, bool] | None = None
        self._is_stale = False

    def feed(self, text: str, at: float) -> None:
        """Add what was written, in pieces of any size, at that second."""
        ended, newline, rest = text.rpartition("\n")
        if newline:
            self._newlines += text.count("\n")
            self._finished = (self._finished + self._line + ended[-KEPT:] + newline)[-KEPT:]
            self._line = ""
        self._line = (self._line + rest[-KEPT:])[-KEPT:]
        self._fed_at = at
        self._is_stale = True

    def look(self) -> tuple[str, str, bool] | None:
        """The text, kind and whether it is finished, of a last line that looks like a prompt."""
        if self._is_stale:
            self._is_stale = False
            self._found = self._judge()
        return self._found

    def _judge(self) -> tuple[str, str, bool] | None:
        shown = terminal_output.show(self._line)
        seen = (self._newlines, terminal_output.words(shown.before or ""))
        if seen != self._seen:
            self._seen, self.moved_at = seen, self._fed_at
        if not shown.row.strip():
            return self._last_finished() if shown.before is None else None
        for row in (shown.row, shown.before):
            found = kind(row, before=self._finished, redrawn=shown.redrawn) if row else None
            if row and found:
                return row.strip()[-SHOWN:], found, False
        is_spinner = shown.before is None and _SPINNER_LAST.fullmatch(shown.row)
        return self._last_finished() if is_spinner else None

    def _last_finished(self) -> tuple[str, str, bool] | None:
        for line in reversed(self._finished.split("\n")):
            shown = terminal_output.show(line)
            if shown.row.strip():
                found = kind(shown.row, finished=True, redrawn=shown.redrawn)
                return (shown.row.strip()[-SHOWN:], found, True) if found else None
        return None


class Watch:
    """Both streams of a program. A word on one of them shows that no prompt on the other is waited at."""

    def __init__(self, unfinished_s: float = UNFINISHED_S, finished_s: float = FINISHED_S) -> None:
        self._waits = {False: unfinished_s, True: finished_s}
        self._screens: dict[str, Screen] = {}

    def feed(self, stream: str, text: str, at: float) -> None:
        """Add what was written.

        Args:
            stream: any name; each has a last line of its own.
            text: decoded, in pieces of any size.
            at: the second, of any clock that does not go back.
        """
        if stream not in self._screens:
            self._screens[stream] = Screen()
        self._screens[stream].feed(text, at)

    def look(self) -> Prompt | None:
        """The prompt that is due first, whether that second has come or not; None where no last line is one."""
        found = [screen.look() for screen in self._screens.values()]
        since = max((screen.moved_at for screen in self._screens.values()), default=float("-inf"))
        prompts = [Prompt(*last, since, since + self._waits[last[2]]) for last in found if last]
        return min(prompts, key=lambda prompt: prompt.due, default=None)
