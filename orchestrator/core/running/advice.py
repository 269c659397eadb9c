"""What to do next about a run, for whoever sits at a command line, and for whoever reads it anywhere else.

What is recorded speaks of the command line, since that is always there; who reads the record anew knows by `recorded`
which of its words these are.
"""

from __future__ import annotations

import re

from orchestrator.core import names
from orchestrator.core.suggestions import (
    PROGRAM,
    Local,
    Sentence,
    Suggestion,
    joined,
    local,
    parts_of,
    sentence,
    suggest,
)

_SERVER = f"{PROGRAM} serve continues it if it runs on this database; otherwise: "
_BY_HAND, _BY_A_SERVER = "it continues on the command line, where it was started", "this server continues it"
_LOOKS = "this server"
ID = "\0"
"""Stands for a run's id in what is recorded."""
ID_PATTERN = re.compile(r"task-\d+")
_PROGRAMS = ("orchestrator", "export", "unset", "chmod", "mkdir", "echo", "pip", "npm", "claude")
"""Programs whose calls are suggested as they are typed."""


def typed(command: str, text: str | None = None) -> Suggestion:
    """What is typed in a REPL, as a suggestion that other doors word as a command of their own.

    Args:
        command: with its slash and its words, as another REPL takes it.
        text: how a REPL says it, where that is another way.
    """
    made = Suggestion(text or command)
    made.operation, made.arguments = command, {}
    return made


APPROVE = typed("/approve")
WAITS = local("It waits for approval: /approve.", "It waits for approval: answer its question.")
EXPIRED = local("The approval has expired: /approve.", "The approval has expired: try the task again on its page.")


def by_hand(root: str, run: str) -> Local:
    """How a run that was queued is gone on with where nothing executes it by itself.

    Args:
        root: the project's folder.
        run: the run's id outside, `task-<ms>`.
    """
    return local(_typed(root, "then /continue", run), _BY_HAND)


def by_a_server(root: str, run: str) -> Local:
    """The same of a run that a server executes, where one runs."""
    return local(joined([_SERVER, _typed(root, "then /continue", run)]), _BY_A_SERVER)


def look(root: str, run: str) -> Local:
    """What ends a run whose process is gone, as the beginning of a sentence."""
    return local(_typed(root, "and there /logs", run) + ",", _LOOKS)


def _typed(root: str, what: str, run: str) -> Sentence:
    return sentence("{}, {} {}", suggest("repl", project=root), what, run)


_PLACE = "/place"
_SAID = tuple(
    (str(each), each.elsewhere)
    for each in (by_a_server(_PLACE, ID), by_hand(_PLACE, ID), look(_PLACE, ID), WAITS, EXPIRED)
)
"""Such advice on a project at `_PLACE`: a session may have a thousand places."""


def recorded(root: str) -> dict[str, str]:
    """How the record says such advice on runs of a project, with `ID`; and what anybody elsewhere is told instead."""
    word = names.word(root)
    return {said.replace(_PLACE, word): elsewhere for said, elsewhere in _SAID}


def said(suggestion: str) -> str:
    """A suggestion as a sentence of its own; a command stays as it is typed."""
    if suggestion.partition(" ")[0] in _PROGRAMS:
        return suggestion
    first, *rest = parts_of(suggestion)
    return joined([first[:1].upper() + first[1:] if type(first) is str else first, *rest])


def logs(run: str) -> Suggestion:
    """Showing the log of a run."""
    return typed(f"/logs {run}")


def filled(template: str, run: str) -> Sentence:
    """A sentence about a run: `{logs}` in it shows its log, `{full}` all, `{approve}` and `{later}` let it go on."""
    told = {
        "logs": logs(run), "full": typed(f"/logs {run} --full"), "approve": APPROVE,
        "later": typed(f"/continue {run}", f"/approve, or /continue {run} in a later session"),
    }  # fmt: skip
    return joined([told.get(each, each) for each in re.split(r"\{(\w+)\}", template)])


def in_a_shell(suggestion: Suggestion, repl: str) -> str:
    """A suggestion for whoever called a single run: what is typed in a REPL, as it works in a shell.

    Args:
        repl: the command that begins a REPL in the run's project.
    """
    if suggestion.operation.startswith("/logs"):
        return f"echo '{suggestion.operation}' | {repl}"
    return in_a_script(suggestion, repl)


def in_a_script(suggestion: Suggestion, repl: str) -> str:
    """A suggestion for a REPL in which nobody proves a person: what only a person may do is done in another one.

    Args:
        repl: as for `in_a_shell`.
    """
    acts = suggestion.is_typed and not suggestion.operation.startswith("/logs")
    return f"{repl}, then {suggestion.operation}" if acts else suggestion
