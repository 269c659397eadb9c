"""The parts of a session's page that needs no server: one HTML file with its style in it, no script and no address.

Everything from outside goes through `text`. A policy in the file itself lets a browser load nothing at all.

Cold module.
"""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Iterable, Iterator, Sequence

from orchestrator.core import control_characters, lane_picture

_COLOURS = (
    ":root{color-scheme:light dark;--paper:#fff;--ink:#1f2430;--soft:#5b6472;--line:#d5dae2;--box:#f5f6f8;"
    "--link:#0b5cc0;--good:#15803d;--stop:#be123c}"
    "@media(prefers-color-scheme:dark){:root{--paper:#14171c;--ink:#e8eaee;--soft:#a3acba;--line:#3a424e;--box:#20252d;"
    "--link:#6cb2ff;--good:#5fd38a;--stop:#ff8098}}"
)
_SHAPE = (
    "body{margin:0 auto;max-width:80rem;padding:1rem 1.25rem 4rem;background:var(--paper);color:var(--ink);"
    "font:15px/1.5 ui-sans-serif,system-ui,sans-serif;overflow-wrap:anywhere}a{color:var(--link)}"
    "h1{font-size:1.5rem;margin:.5rem 0}h2{font-size:1.15rem;margin:2.5rem 0 .75rem}h3{font-size:.95rem;margin:0}"
    "p{margin:.25rem 0}nav ul{display:flex;flex-wrap:wrap;gap:.25rem 1rem;padding:0;margin:1rem 0;list-style:none}"
    "table{border-collapse:collapse;width:100%;font-size:.9rem}th,td{text-align:left;vertical-align:top;"
    "padding:.3rem .6rem .3rem 0;border-bottom:1px solid var(--line)}th{color:var(--soft);font-weight:600}"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1rem;margin:0}dt{color:var(--soft)}"
    "dd{margin:0}code,pre{font:.85rem ui-monospace,Menlo,Consolas,monospace}"
    "pre{white-space:pre-wrap;background:var(--box);padding:.75rem;margin:.5rem 0;border-radius:4px}"
    ".wide{overflow:auto;max-height:80vh}.wide table{min-width:44rem;overflow-wrap:break-word}"
    ".wide th{white-space:nowrap}"
    ".scroll{overflow:auto;max-height:80vh;border:1px solid var(--line);border-radius:4px}"
    ".turns{list-style:none;margin:0;padding:0}.turns li,.axis{display:grid;"
    "grid-template-columns:12rem 1fr;gap:.5rem;align-items:center;border-bottom:1px solid var(--line)}"
    ".turns li{content-visibility:auto;contain-intrinsic-size:auto 1.75rem}"
    ".turns span{padding-left:.5rem;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}"
    ".axis{font-size:.8rem;color:var(--soft)}.axis div{display:flex;justify-content:space-between;gap:.5rem}"
    ".lane{display:block;width:100%;height:24px}.swatch{width:.8em;height:.8em;margin-right:.3em}"
    ".legend{display:flex;flex-wrap:wrap;gap:.1rem 1rem;padding:0;list-style:none;font-size:.85rem}"
    ".bar{fill:var(--soft)}.bar.open{opacity:.6}.bar.replaced{opacity:.3}.again{fill:#c2780a}"
    ".block{fill:var(--stop)}.pause{fill:var(--stop);opacity:.35}.steps{list-style:none;margin:0;padding:0}"
    ".steps>li{padding:.6rem 0;border-bottom:1px solid var(--line);content-visibility:auto;"
    "contain-intrinsic-size:auto 5rem}.steps ul{margin:.25rem 0;padding-left:1.25rem}.soft{color:var(--soft)}"
    ".good{color:var(--good);font-weight:600}.stop{color:var(--stop);font-weight:600}summary{cursor:pointer}"
    "details{content-visibility:auto;contain-intrinsic-size:auto 1.75rem}:target{background:var(--box)}"
    "@media(max-width:44rem){.turns li,.axis{grid-template-columns:minmax(0,1fr);gap:0}"
    ".axis>span,.axis div span:nth-child(even){display:none}.turns li{contain-intrinsic-size:auto 3.2rem}}"
    "@media print{.scroll,.wide{max-height:none;overflow:visible}nav{display:none}}"
)
_HUES = ("#7c5cd6", "#2f7fe0", "#1b4fa0", "#12a594", "#d6830a", "#c2408f", "#6b8e23")
_ROLES = "".join(
    f".{lane_picture.tone(role)}{{fill:{hue}}}" for role, hue in zip(lane_picture.ROLES, _HUES, strict=True)
)
STYLE = f"{_COLOURS}{_SHAPE}{_ROLES}"


def text(value: object) -> str:
    """A text as HTML shows it, whatever it holds: marks are escaped, controls spelt out."""
    return html.escape(control_characters.on_a_page(str(value)))


def when(at: str | None) -> str | None:
    """A time to the second, as people read it; exact times stand in the timeline."""
    return f"{at[:19].replace('T', ' ')} UTC" if at else None


def head(title: str) -> str:
    """The beginning of the file, with a policy that allows its own style and nothing else."""
    digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{text(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
        f"<h1>{text(title)}</h1>\n"
    )


END = "</main>\n</body>\n</html>\n"


def navigation(sections: Iterable[tuple[str, str]]) -> str:
    """Links to sections: the id and the title of each."""
    links = "".join(f'<li><a href="#{id_}">{text(title)}</a></li>' for id_, title in sections)
    return f'<nav aria-label="Sections"><ul>{links}</ul></nav>\n'


def legend(roles: Iterable[str]) -> str:
    """What the colours of lanes mean."""
    named = [*((f"bar {lane_picture.tone(role)}", role.replace("_", " ")) for role in roles), ("bar", "another role")]
    named += [("again", "rework"), ("block", "blocked"), ("pause", "question to a person")]
    items = "".join(
        f'<li><svg class="swatch" viewBox="0 0 10 10" aria-hidden="true"><rect class="{name}" width="10" height="10"/>'
        f"</svg>{text(meaning)}</li>"
        for name, meaning in named
    )
    return f'<ul class="legend" aria-label="Legend">{items}</ul>\n'


def axis(moments: Iterable[str]) -> str:
    """The times above lanes, from the left edge to the right one."""
    times = "".join(f"<span>{text(when(each))}</span>" for each in moments)
    return f'<div class="axis"><span></span><div>{times}</div></div>\n'


def lane(name: str, drawn: str) -> str:
    """A lane: its name, and its drawing, which is SVG."""
    return f"<li><span>{text(name)}</span>{drawn}</li>\n"


def section(id_: str, title: str) -> str:
    """The heading of a section."""
    return f'<h2 id="{id_}">{text(title)}</h2>\n'


def fields(pairs: Iterable[tuple[str, object]]) -> str:
    """Names and values; what is None is left out."""
    shown = "".join(f"<dt>{text(name)}</dt><dd>{text(value)}</dd>" for name, value in pairs if value is not None)
    return f"<dl>{shown}</dl>\n"


def table(
    label: str, headers: Sequence[str], rows: Iterable[Sequence[object]], nothing: str
) -> Iterator[str]:
    """A table, row by row; the first cell of each is its head. Without rows a sentence stands for it.

    Args:
        label: what it is a table of.
        nothing: that sentence.
    """
    begun = False
    for first, *rest in rows:
        if not begun:
            begun = True
            heads = "".join(f'<th scope="col">{text(each)}</th>' for each in headers)
            yield f'<div class="wide" tabindex="0" role="region" aria-label="{text(label)}">\n'
            yield f"<table><thead><tr>{heads}</tr></thead><tbody>\n"
        cells = "".join(f"<td>{text('' if each is None else each)}</td>" for each in rest)
        yield f'<tr><th scope="row">{text(first)}</th>{cells}</tr>\n'
    yield "</tbody></table>\n</div>\n" if begun else f'<p class="soft">{text(nothing)}</p>\n'


def step(id_: str, title: str, said: str, points: Sequence[str], after: str) -> str:
    """One step of a list: its title, a sentence and points as plain texts, and what came of it, which is HTML."""
    listed = f"<ul>{''.join(f'<li>{text(each)}</li>' for each in points)}</ul>" if points else ""
    return f'<li id="{text(id_)}"><h3>{text(title)}</h3><p>{text(said)}</p>{listed}<p>{after}</p></li>\n'


def link(id_: str, words: str) -> str:
    """A link to an element of the page, behind what stands before it."""
    return f' · <a href="#{text(id_)}">{text(words)}</a>'


def folded(id_: str, title: str, content: str) -> str:
    """A long text behind its title."""
    return f'<details id="{text(id_)}"><summary>{text(title)}</summary><pre>{text(content)}</pre></details>\n'


def region(label: str, content: Iterable[str]) -> Iterator[str]:
    """What scrolls by itself, also by the keyboard."""
    yield f'<div class="scroll" tabindex="0" role="region" aria-label="{text(label)}">\n'
    yield from content
    yield "</div>\n"
