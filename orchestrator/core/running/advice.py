"""What to do next about a run, for who sits at a command line, and the same for who reads it on a page.

What is recorded speaks of the command line, since that is always there. A page says instead what its reader can do.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from orchestrator.core.suggestions import sentence, suggest

_COMMAND = "orchestrator repl --project"
_HAND = rf"{_COMMAND} .*?, then /continue task-\d+"
_SERVER = "orchestrator serve continues it if it runs on this database; otherwise: "
_PROGRAMS = ("orchestrator", "export", "unset", "chmod", "mkdir", "echo", "pip", "npm", "claude")
"""Programs whose calls are suggested as they are typed."""
_IN_A_REPL = re.compile(
    r"(?P<whole>orchestrator .*?, (?:then|and there) /\w+ task-\d+)|(?P<logs>/logs task-\d+(?: --full)?)"
    r"|/approve, or (?P<later>/continue task-\d+) in a later session"
    r"|(?<![\w/'.-])(?P<other>/(?:approve|continue task-\d+|respond (?:yes|no|TEXT))\b)",
    re.DOTALL,
)
WAITS, EXPIRED = "It waits for approval: /approve.", "The approval has expired: /approve."
_ON_A_PAGE = (
    (re.compile(rf"{_SERVER}{_HAND}", re.DOTALL), "this server continues it"),
    (re.compile(_HAND, re.DOTALL), "it continues on the command line, where it was started"),
    (re.compile(rf"{_COMMAND} .*?, and there /logs task-\d+,", re.DOTALL), "this server"),
    (re.compile(re.escape(WAITS)), "It waits for approval: answer its question."),
    (re.compile(re.escape(EXPIRED)), "The approval has expired: try the task again on its page."),
)


def by_hand(root: str, run: str) -> str:
    """How a run that was queued is gone on with where nothing executes it by itself.

    Args:
        root: the project's folder.
        run: the run's id outside, `task-<ms>`.
    """
    return sentence("{}, then /continue {}", suggest("repl", project=root), run)


def by_a_server(root: str, run: str) -> str:
    """The same of a run that a server executes, where one runs."""
    return sentence("{}{}", _SERVER, by_hand(root, run))


def look(root: str, run: str) -> str:
    """What ends a run whose process is gone, as the beginning of a sentence."""
    return sentence("{}, and there /logs {},", suggest("repl", project=root), run)


def said(suggestion: str) -> str:
    """A suggestion as a sentence of its own; a command stays as it is typed."""
    return suggestion if suggestion.partition(" ")[0] in _PROGRAMS else suggestion[:1].upper() + suggestion[1:]


def in_a_shell(text: str, repl: str) -> str:
    """A sentence for who called a single run: the commands of a REPL in it become such as work in the shell.

    Args:
        repl: the command that begins a REPL in the run's project.
    """
    return _elsewhere(text, repl, logs=lambda typed: f"echo '{typed}' | {repl}")


def in_a_script(text: str, repl: str) -> str:
    """A sentence for a REPL in which nobody proves a person: what only a person may do is done in another one.

    Args:
        repl: as for `in_a_shell`.
    """
    return _elsewhere(text, repl, logs=str)


def _elsewhere(text: str, repl: str, logs: Callable[[str], str]) -> str:
    def said(found: re.Match[str]) -> str:
        if found["whole"]:
            return found["whole"]
        if found["logs"]:
            return logs(found["logs"])
        return f"{repl}, then {found['later'] or found['other']}"

    return _IN_A_REPL.sub(said, text)


def on_a_page(text: str) -> str:
    """A sentence for who reads it on a page of a server, which executes by itself and has a page for each task."""
    for pattern, said in _ON_A_PAGE if "orchestrator " in text or "/approve" in text else ():
        text = pattern.sub(said, text)
    return text
