"""`human ...`: what proves that a person stands behind a command."""

from __future__ import annotations

from orchestrator.doors.cli.options import BY, HUMAN, Command, argument, flag, option

_AGENT = option("agent", "The person (default: the only one there is).", metavar="AGENT")
_BY = BY._replace(help="The person who does it (default: the one who is proven).")

_ENROL = Command(
    "human enrol",
    "Enrol what proves a person: a passphrase, an SSH key, or (without either) a token. A passphrase or key proves what"
    " only that person knows or holds; once one is enrolled, every act reserved for a person needs one. A token proves"
    " that somebody has its file; it is printed once and not stored. Whatever is enrolled already is needed to enrol"
    " again.",
    "orchestrator human enrol --passphrase",
    (
        flag("passphrase", "Enrol a passphrase; it is asked for twice at the terminal, without echo."),
        option("ssh_key", "Enrol this public key; ssh-keygen signs a challenge with it at once.", metavar="FILE.pub"),
        _AGENT, _BY, HUMAN,
    ),
)

_REMOVE = Command(
    "human remove",
    "Remove a token, passphrase or key of your own, or stop a reset. It needs the proof that is enrolled.",
    "orchestrator human remove C12",
    (argument("id", "The enrolment, as `human list` shows it."), _BY, HUMAN),
)

_RESET = Command(
    "human reset",
    "Start over when a passphrase, key or token is lost: one hour later everything enrolled for that person has ended."
    " It needs a terminal and a database that no other process has open. Every later verdict mentions it; within the"
    " hour `human remove` stops it.",
    "orchestrator human reset",
    (_AGENT,),
)

_LINK = Command(
    "human link",
    "Print a sign-in link for a running server, valid once and for 15 minutes. It needs your proof.",
    "orchestrator human link --url http://127.0.0.1:8765",
    (option("url", "The server's address (default: http://127.0.0.1:8765).", metavar="URL"), _AGENT, _BY, HUMAN),
)

_LIST = Command(
    "human list",
    "List what is enrolled, since when and through which channel, and what an act reserved for a person needs now.",
    "orchestrator human list",
    (),
)

COMMANDS = {each.words: each for each in (_ENROL, _REMOVE, _RESET, _LINK, _LIST)}
