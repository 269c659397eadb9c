"""What verifying found, and the heads of chains, as text."""

from __future__ import annotations

from orchestrator.doors.cli.text import layout
from orchestrator.doors.cli.text.layout import visible
from orchestrator.hints import Any

Answer = dict[str, Any]

_STORE = "@store"
_SHOWN_AS = "store"


def verified(answer: Answer) -> list[str]:
    """The answer of `audit verify`."""
    lines = [_verdict(answer), *layout.fields((("Head", answer["head"]),))]
    kinds = layout.alike(answer["findings"], _kind)
    lines += layout.section("Findings", [line for alike in kinds for line in _findings(alike)])
    if answer["has_more"]:
        listed = len(answer["findings"])
        lines += ["", f"{listed} of {answer['total']} listed: repeat with --limit {answer['total']}"]
        lines += layout.section("Counts", layout.table(("CODE", "FINDINGS"), sorted(answer["counts"].items())))
    return lines + layout.section("Notes", [visible(each["message"]) for each in answer["notes"]])


def _verdict(answer: Answer) -> str:
    what = "the whole database" if answer["session_id"] is None else _called(answer["session_id"])
    after = f" after step {answer['since']}" if answer["since"] else ""
    looked = f"{layout.counted(answer['events'], 'event')} and {layout.counted(answer['rows'], 'row')} of {what}{after}"
    if answer["ok"]:
        return visible(f"No problems found in {looked}.")
    return visible(f"{layout.counted(answer['total'], 'finding')} in {looked}.")


def _called(session: str) -> str:
    return "the store" if session == _STORE else f"session {session}"


def _kind(each: Answer) -> tuple[str, ...]:
    """What findings of one kind have in common: all but what they are about."""
    return each["code"], each["message"].replace(each["subject"], ""), each["suggestion"]


def _findings(alike: list[Answer]) -> list[str]:
    """Findings of one kind: each where they are few, else the first and the names of some; what to do once."""
    told = alike if len(alike) <= layout.FEW else alike[:1]
    rest = layout.others([_place(each) for each in alike[len(told) :]])
    return [*map(_finding, told), *rest, visible(f"{layout.INDENT}try: {alike[0]['suggestion']}")]


def _finding(each: Answer) -> str:
    return visible(f"{each['code']} {_place(each)}: {each['message']}")


def _place(each: Answer) -> str:
    where = [
        _called(each["session_id"]) if each["session_id"] else "",
        f"step {each['seq']}" if each["seq"] is not None else "",
        each["table"] or "",
    ]
    return ", ".join(filter(None, where)) or str(each["subject"])


def heads(answer: Answer) -> list[str]:
    """The answer of `audit head`."""
    found = answer["heads"]
    rows = [(_SHOWN_AS if each["session_id"] == _STORE else each["session_id"], each["head"]) for each in found]
    return layout.table(("SESSION", "HEAD"), rows)
