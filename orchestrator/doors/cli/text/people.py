"""What proves people, as text."""

from __future__ import annotations

from orchestrator.core.suggestions import suggest
from orchestrator.doors.cli import output, screen
from orchestrator.doors.cli.text.layout import INDENT, visible
from orchestrator.hints import Any

Answer = dict[str, Any]

_NEEDS = {
    "strong": "An act reserved for a person needs a passphrase or SSH key.",
    "weak": "No passphrase or SSH key is enrolled: a code typed at a terminal still counts as a person (proof: weak)."
    " Enrol one: {enrol}",
}
_KINDS = {"passphrase": "passphrase", "ssh-key": "SSH key", "token": "token", "reset": "reset"}


def enrolled(answer: Answer) -> list[str]:
    """The answer of `human enrol`."""
    row = answer["enrolment"]
    kind = _KINDS[row["kind"]]
    article = "an" if kind == "SSH key" else "a"
    line = f"{visible(row['agent_id'])} is enrolled with {article} {kind} ({visible(row['id'])})"
    if "token" not in answer:
        return [f"{line}; from now on every act reserved for a person needs a passphrase or SSH key."]
    return [
        f"{line}; older tokens of this person no longer work.",
        "The token, shown only once (keep it in a file that only you can read):",
        visible(answer["token"]),
    ]


def removed(answer: Answer) -> list[str]:
    """The answer of `human remove`."""
    row = answer["removed"]
    return [f"The {_KINDS[row['kind']]} {visible(row['id'])} of {visible(row['agent_id'])} was removed."]


def reset(answer: Answer) -> list[str]:
    """The answer of `human reset`."""
    row = answer["reset"]
    return [
        f"Reset {visible(row['id'])}: from {visible(row['counts_from'])} on, nothing is enrolled for"
        f" {visible(row['agent_id'])} any more. Then: {_enrol()}",
        f"To cancel it before then: {_remove(row)}",
    ]


def _enrol() -> str:
    return str(output.worded(suggest("human enrol", passphrase=True)))


def _remove(row: Answer) -> str:
    return visible(output.worded(suggest("human remove", id=row["id"])))


def link(answer: Answer) -> list[str]:
    """The answer of `human link`."""
    row = answer["link"]
    head = f"Sign-in link for {visible(row['agent_id'])}, valid once {visible(screen.until(row['expires_at']))}:"
    return [head, visible(answer["url"])]


def listed(answer: Answer) -> list[str]:
    """The answer of `human list`."""
    lines = []
    for person in answer["people"]:
        lines.append(visible(person["id"]))
        for each in person["enrolments"]:
            since = f"{screen.since(each['enrolled_at'])}, enrolled through {each['channel']}"
            lines.append(f"{INDENT}{visible(each['id'])}: {_KINDS[each['kind']]} {visible(since)}")
        if not person["enrolments"]:
            lines.append(f"{INDENT}nothing enrolled")
    for each in answer["pending_resets"]:
        lines.append(
            f"Reset {visible(each['id'])} of {visible(each['agent_id'])} counts from {visible(each['counts_from'])};"
            f" to cancel it: {_remove(each)}"
        )
    return [*lines, _NEEDS[answer["needs"]].format(enrol=_enrol())]
