"""Finding out before a call whether a person stands behind it: passphrase, SSH key, token, or a code at a terminal.

Every door comes through here, and no door says on its own that somebody is a person. What a call needs of the machine
(a terminal, the processes above, `ssh-keygen`) comes through `Surroundings`, which is set where the database is opened.
What was found goes into the input of the step; the step itself judges it (`orchestrator.app.kernel.human`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from orchestrator.app.kernel import credentials, human, operations
from orchestrator.app.kernel.context import Answer, Context, Work
from orchestrator.app.kernel.human import PASSPHRASE, SSH_KEY, TERMINAL, Credential
from orchestrator.app.kernel.requests import Request
from orchestrator.core import agent_programs
from orchestrator.errors import Refused
from orchestrator.hints import Any, Protocol

NAMESPACE = "orchestrator-person"
"""The namespace of signatures, so that one that was made for another purpose proves nothing here."""
WRONG_MOST, WRONG_S = 5, 900
"""Wrong passphrases and signatures that are taken within so many seconds, over the whole database."""
# Without letters and digits that are easily confused: I, L, O, 0 and 1.
_LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
_LENGTH = 5


class Ancestor(Protocol):
    """A process above this one."""

    @property
    def name(self) -> str:
        """Its name, as the system shows it."""

    @property
    def words(self) -> tuple[str, ...]:
        """The first words of its command line."""

    @property
    def variables(self) -> frozenset[str]:
        """The names of the variables that it was started with, as far as they can be read."""


class Surroundings(Protocol):
    """What stands around this process. The runner has the only one of the program; tests play a person through it."""

    def variables(self) -> Collection[str]:
        """The names of the variables that are set."""

    def is_terminal(self) -> bool:
        """Whether stdin and stderr are terminals."""

    def shows_terminal(self) -> bool:
        """Whether stdout is a terminal."""

    def ancestors(self) -> Iterable[Ancestor]:
        """The processes above this one, the nearest first, as far as they can be read."""

    def is_within_run(self, owners: Collection[str]) -> bool:
        """Whether this process was started by what a runner executes; `owners` run something now."""

    def show(self, text: str) -> None:
        """Write a text to the terminal."""

    def read_line(self) -> str:
        """A line that is typed."""

    def read_hidden(self, prompt: str) -> str | None:
        """A line that is typed without echo; None where nothing comes."""

    def sign(self, key: str, source: str | None, message: str, namespace: str) -> str | None:
        """A person's signature of a message; None where none comes."""

    def verify(self, key: str, message: str, signature: str, namespace: str) -> bool:
        """Whether a signature is by a key."""


def at_terminal(context: Context, act: str, *, agent: str | None = None, alone: bool = False) -> Credential:
    """Ask the person at the terminal to prove who they are, in the strongest way that the database knows.

    Args:
        act: what is about to be done, as one line.
        agent: the person who is named, if one is.
        alone: whether the code alone is asked for, as for a reset.

    Returns:
        What was found, with a fault where it proves nobody; a wrong passphrase or signature is recorded as refused.
    """
    fault = unfit(context)
    if fault is not None:
        return Credential(TERMINAL, fault=fault)
    known = [] if alone else credentials.strong(context)
    if known:
        return _strong(context, act, [each for each in known if agent in (None, each.agent)])
    # Only for codes: whoever knows the passphrase is a person even below an agent's program (PPL-9).
    fault = beneath_agent(context)
    if fault is None and not _typed(context, act):
        fault = "code"
    return Credential(TERMINAL, fault=fault)


def unfit(context: Context) -> str | None:
    """Why nobody can prove anything at the terminal of this process; None where somebody can."""
    around: Surroundings | None = context.surroundings
    if around is None:
        return "no_terminal"
    # Before passphrases too: in an agent's environment one would be typed into the agent's hands (PPL-9).
    sign = agent_programs.variable(around.variables())
    if sign is not None:
        return f"agent {sign}"
    if not around.is_terminal():
        return "no_terminal"
    from orchestrator.store import run_reader

    running = run_reader.owners(context.connection)
    return "executor" if around.is_within_run(running) else None


def beneath_agent(context: Context) -> str | None:
    """Why a code alone proves nobody here: an agent's program stands above this process. None where none is seen."""
    for each in context.surroundings.ancestors():
        sign = agent_programs.variable(each.variables)
        program = next(filter(None, map(agent_programs.program, (each.name, *each.words))), None)
        if sign is not None or program is not None:
            return f"agent_above {sign or program}"
    return None


def shows_link(context: Context) -> bool:
    """Whether a link may be printed on stdout: to a terminal at which a code would be taken."""
    around: Surroundings | None = context.surroundings
    if around is None or not around.shows_terminal():
        return False
    return unfit(context) is None and beneath_agent(context) is None


def _typed(context: Context, act: str) -> bool:
    """Show a short code and read it back; it is fresh for each call, so that no script can have it ready."""
    import secrets

    code = "".join(secrets.choice(_LETTERS) for _ in range(_LENGTH))
    context.surroundings.show(f"{act}\nOnly a person may do this. Type {code} to confirm: ")
    return str(context.surroundings.read_line()).strip().upper() == code


def _strong(context: Context, act: str, known: list[credentials.Strong]) -> Credential:
    """Ask for a passphrase, or for a signature where there is no passphrase or none is typed."""
    if not known:
        return Credential(PASSPHRASE, fault="not_enrolled")
    keys = [each for each in known if each.kind == SSH_KEY]
    if len(keys) < len(known):
        context.surroundings.show(f"{act}\nOnly a person may do this.\n")
        other = " (empty: sign with the SSH key)" if keys else ""
        typed = context.surroundings.read_hidden(f"Passphrase{other}: ")
        if typed or not keys:
            return passphrase(context, typed or "", known)
    return _signed(context, act, keys)


def passphrase(context: Context, typed: str, known: list[credentials.Strong]) -> Credential:
    """What a typed passphrase proves; a wrong one is recorded as refused.

    Args:
        known: what is in force of the people that may be meant.
    """
    # Before anything is compared: while paused even the right one is refused, so that guessing gains nothing (PPL-8).
    if _is_paused(context):
        return Credential(PASSPHRASE, fault="paused")
    # All are tried, so that the time does not tell whose it was.
    right = [each for each in known if each.kind == PASSPHRASE and credentials.is_passphrase(typed, each.verifier)]
    if right:
        return Credential(PASSPHRASE, enrolment=right[0].id)
    return _wrong(context, PASSPHRASE, "passphrase", known)


def challenge(act: str) -> str:
    """A text to be signed once, which says for what."""
    import secrets

    return f"orchestrator: {' '.join(act.split())[:200]}; {secrets.token_hex(16)}"


def signature(context: Context, text: str, signed: str, known: list[credentials.Strong]) -> Credential:
    """What a signature of a challenge proves; a wrong one is recorded as refused."""
    if _is_paused(context):
        return Credential(SSH_KEY, fault="paused")
    for each in known:
        if each.kind == SSH_KEY and context.surroundings.verify(each.verifier, f"{text}\n", signed, NAMESPACE):
            return Credential(SSH_KEY, enrolment=each.id)
    return _wrong(context, SSH_KEY, "signature", known)


def _signed(context: Context, act: str, keys: list[credentials.Strong]) -> Credential:
    """Have a challenge signed by the first of the keys with which that works."""
    text = challenge(act)
    context.surroundings.show(f"{act}\nOnly a person may do this. Sign it with your SSH key (confirm or touch it).\n")
    for each in keys:
        signed = context.surroundings.sign(each.verifier, credentials.key_file(each), f"{text}\n", NAMESPACE)
        if signed is not None:
            return signature(context, text, signed, [each])
    return Credential(SSH_KEY, fault="unsigned")


def _is_paused(context: Context) -> bool:
    return credentials.wrong_since(context, WRONG_S) >= WRONG_MOST


def _wrong(context: Context, channel: str, fault: str, known: list[credentials.Strong]) -> Credential:
    """Record that somebody tried, and say what is wrong."""
    people = tuple(sorted({each.agent for each in known}))
    found = Credential(channel, fault=fault)
    before, context.credential = context.credential, found
    try:
        operations.ask(context, FailToVerify(agents=people))
    except Refused:
        pass
    finally:
        context.credential = before
    return found


class FailToVerify(Request, event=credentials.VERIFY, use_case="people.person_proof:refuse"):
    """Note that somebody tried a wrong passphrase or signature; `agents` are the people whose it may have been."""

    agents: tuple[str, ...]

    @property
    def actor(self) -> str:
        """The first of these people."""
        return self.agents[0] if self.agents else ""


def refuse(work: Work, request: FailToVerify) -> Answer:
    """Refuse what a wrong passphrase or signature asked for."""
    raise human.refusal("Acting as a person", human.fault_of(work.context, ""))


def words_of(words: str, bound: dict[str, Any]) -> str:
    """A call in one line, for the person who is asked to confirm it."""
    from orchestrator.core import control_characters

    shown = [str(bound[name]) for name in ("id", "agent", "status", "mode", "decision") if bound.get(name)]
    by = f" as {bound['by']}" if bound.get("by") else ""
    # A parameter may hold line ends or terminal codes, which could rewrite what the person is asked to confirm.
    return control_characters.on_one_line(f"orchestrator {' '.join([words, *shown])}{by}")


def of_call(context: Context, words: str, bound: dict[str, Any], token: bytes | None, *, sits: bool) -> None:
    """Find out who stands behind a call, and keep it for the steps of that call.

    Args:
        words: the operation.
        bound: its parameters.
        token: the content of the token file, if one was given.
        sits: whether the door is one at whose terminal a person may sit.
    """
    context.credential = _of_call(context, words, bound, token, sits=sits)


def _of_call(
    context: Context, words: str, bound: dict[str, Any], token: bytes | None, *, sits: bool
) -> Credential | None:
    if token is not None:
        return human.credential_of(token)
    if not sits or not human.wanted(context, words, bound):
        return None
    if words == "answer" and unfit(context) is None:
        from orchestrator.app.people import answer_question

        # Nobody is asked to prove anything for what cannot be done.
        answer_question.look(context, bound["id"], bound["decision"], bound.get("note") or "")
    if words in credentials.NEED_OLD_PROOF and not credentials.strong(context) and credentials.tokens(context):
        # Nobody is asked for a code that is not enough.
        return Credential(TERMINAL, fault=unfit(context) or "token")
    alone = words == credentials.RESET
    return at_terminal(context, words_of(words, bound), agent=bound.get("by"), alone=alone)


def by_token(context: Context, token: str) -> None:
    """Let the next calls come with a token; whether it proves anybody is found out at each."""
    context.credential = Credential(human.TOKEN, token)


def page_of(visitor: Credential | None) -> Credential:
    """What a page proves that was opened by a link: as much as was proven when it was opened, else possession alone."""
    if visitor is None:
        return Credential(human.PAGE)
    return Credential(human.PAGE, fault=visitor.fault, enrolment=visitor.enrolment, link=visitor.link)
