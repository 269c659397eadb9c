"""The colours and type of the workflow picture, for light and dark.

Plain classes and plain colours, neither variables nor style attributes: simple renderers know no variables, and a
page with a strict content security policy allows no style attributes.

Cold module.
"""

from __future__ import annotations

LIGHT = {
    "paper": "#ffffff",
    "ink": "#1f2430",
    "soft": "#6b7280",
    "box": "#f5f6f8",
    "edge": "#c2c9d3",
    "work": "#475a78",
    "good": "#15803d",
    "bad": "#b45309",
    "stop": "#be123c",
    "help": "#6d28d9",
    "mixed": "#8a93a3",
    "here": "#0b63ce",
    "glow": "#e3f0ff",
}
DARK = {
    "paper": "#14171c",
    "ink": "#e8eaee",
    "soft": "#99a2b0",
    "box": "#20252d",
    "edge": "#4a5360",
    "work": "#aebcd4",
    "good": "#5fd38a",
    "bad": "#f2b25c",
    "stop": "#ff8098",
    "help": "#c0a4ff",
    "mixed": "#77818f",
    "here": "#6cb2ff",
    "glow": "#1b3350",
}
TONES = ("work", "good", "bad", "stop", "help", "mixed")

_SHAPE = """.wf text{font-family:ui-sans-serif,system-ui,"Segoe UI",Helvetica,Arial,sans-serif}
.wf text.head{font-size:20px;font-weight:600}
.wf text.sub{font-size:12px}
.wf text.name{font-size:14px;font-weight:600}
.wf .pill text.name{font-weight:400}
.wf text.mark{font-size:12px;font-weight:600}
.wf text.code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:11px}
.wf .box{stroke-width:1.25}
.wf .pill .box{stroke-dasharray:4 3}
.wf .here .box{stroke-width:2.5}
.wf path.line{fill:none;stroke-width:1.5;opacity:.8}
.wf .faint{opacity:.4}
.wf .link:hover{opacity:1}
.wf .link:hover path.line{stroke-width:3;opacity:1}"""


def _colours(palette: dict[str, str]) -> str:
    rules = [
        f".wf .paper,.wf .tag,.wf .pill .box{{fill:{palette['paper']}}}",
        f".wf text{{fill:{palette['ink']}}}",
        f".wf text.sub,.wf .pill text.name{{fill:{palette['soft']}}}",
        f".wf .box{{fill:{palette['box']};stroke:{palette['edge']}}}",
        f".wf .here .box{{fill:{palette['glow']};stroke:{palette['here']}}}",
        f".wf text.mark{{fill:{palette['here']}}}",
    ]
    for tone in TONES:
        rules.append(f".wf path.line.{tone}{{stroke:{palette[tone]}}}")
        rules.append(f".wf text.{tone},.wf .fill.{tone}{{fill:{palette[tone]}}}")
    return "\n".join(rules)


STYLE = f"{_SHAPE}\n{_colours(LIGHT)}\n@media (prefers-color-scheme:dark){{\n{_colours(DARK)}\n}}"
