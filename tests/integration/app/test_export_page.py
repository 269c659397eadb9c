"""`audit export --format html`: one file for an auditor, in which nothing from the record is more than text."""

from __future__ import annotations

import base64
import hashlib
import pathlib
import re
from html.parser import HTMLParser
from typing import Any

import pytest

from orchestrator.app.audit import export_page
from orchestrator.app.kernel import operations
from orchestrator.core import session_page
from tests.integration.app.table import Table

TAGS = frozenset(
    "html head meta title style body main h1 h2 h3 nav ul ol li a dl dt dd p span div table thead tbody tr th td code"
    " pre details summary svg g rect".split()
)
ATTRIBUTES = frozenset(
    "lang charset http-equiv content name id class href tabindex role aria-label aria-hidden scope viewbox"
    " preserveaspectratio x y width height".split()
)
HOSTILE = "</pre></title></style><script>alert(1)</script><img src=x onerror=alert(2)>\" onmouseover='x' \x1b[2J\u202e"
SECRET = "AKIA" + "IOSFODNN7EXAMPLE"


class Read(HTMLParser):
    """What a browser would make of the file: elements, attributes, links, and text."""

    def __init__(self, content: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.ids: list[str] = []
        self.links: set[str] = set()
        self.words = ""
        self.feed(content)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            self.attributes.add(name)
            if name == "id":
                self.ids.append(value or "")
            if name == "href":
                self.links.add(value or "")

    def handle_data(self, data: str) -> None:
        self.words += data


def hostile() -> Table:
    """A session whose every text is meant to do harm."""
    table = Table(goal=HOSTILE)
    for group in ("A", "B"):
        table.group(group, name=HOSTILE, description=HOSTILE)
    table.do("criterion add", id="C1", session_id="S1", text=HOSTILE, by="project_manager")
    table.plan()
    table.says("developer", "READY_FOR_QA", "A", summary=HOSTILE, details={"dev_output": HOSTILE})
    table.says("qa_expert", "BLOCKED", "A", summary=HOSTILE)
    table.says("developer", "READY_FOR_REVIEW", "B", summary=f"the key is {SECRET}")
    table.says("project_manager", "NEEDS_CLARIFICATION", summary=HOSTILE)
    return table


def accepted() -> Table:
    table = Table("A", plan=True)
    table.complete("A")
    table.says("project_manager", "BAZINGA")
    table.do("validate", session_id="S1")
    return table


def exported(table: Table, folder: pathlib.Path, **more: Any) -> tuple[dict[str, Any], str]:
    file = folder / "s.html"
    answer = operations.call(
        table.context, "audit export", session_id="S1", format="html", output=str(file), **more
    )
    return answer, file.read_text("utf-8")


def test_nothing_in_a_hostile_session_is_more_than_text(tmp_path: pathlib.Path) -> None:
    _, content = exported(hostile(), tmp_path)
    read = Read(content)
    assert (read.tags - TAGS, read.attributes - ATTRIBUTES) == (set(), set())
    assert "<script>alert(1)</script>" in read.words
    assert not {"\x1b", "\u202e"} & set(content)
    assert all(link.startswith("#") for link in read.links)


def test_every_link_leads_to_one_place(tmp_path: pathlib.Path) -> None:
    for number, table in enumerate((hostile(), accepted())):
        folder = tmp_path / str(number)
        folder.mkdir()
        read = Read(exported(table, folder)[1])
        assert len(read.ids) == len(set(read.ids))
        assert {link[1:] for link in read.links} <= set(read.ids)


def test_the_policy_lets_a_browser_load_nothing_but_the_style_of_the_file(tmp_path: pathlib.Path) -> None:
    _, content = exported(accepted(), tmp_path)
    (style,) = re.findall("<style>(.*?)</style>", content, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    (policy,) = re.findall('http-equiv="Content-Security-Policy" content="([^"]*)"', content)
    assert policy == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    assert "url(" not in style
    assert "prefers-color-scheme:dark" in style


def test_it_tells_the_whole_session(tmp_path: pathlib.Path) -> None:
    table = accepted()
    answer, content = exported(table, tmp_path)
    words = Read(content).words
    told = ("ACCEPT", "developer@S1:A reported READY_FOR_QA", "Decision: spawn qa_expert on A", "batch: 1 pending")
    for part in (*told, "[orchestrator S1 A turn", "approved", f"audit verify S1 --head {answer['head']}"):
        assert part in words, part
    for _, title in export_page.SECTIONS:
        assert title in words
    steps = table.rows("SELECT count(*) FROM audit_events WHERE session_id = 'S1'")[0][0]
    assert len(re.findall(r'<tr><th scope="row">\d+</th>', content)) == steps
    assert content.count("<details") == table.count("handoffs")


def test_a_session_without_anything_is_told_too(tmp_path: pathlib.Path) -> None:
    words = Read(exported(Table(), tmp_path)[1]).words
    for part in ("No verdict was recorded.", "The session has no groups.", "No blockers.", "No evidence."):
        assert part in words


def test_secrets_are_masked_unless_they_are_wanted(tmp_path: pathlib.Path) -> None:
    masked, unmasked = tmp_path / "masked", tmp_path / "unmasked"
    for folder in (masked, unmasked):
        folder.mkdir()
    assert SECRET not in exported(hostile(), masked)[1]
    table = accepted()
    assert exported(table, unmasked, unmasked=True)[1]


def test_hand_offs_beyond_the_limit_are_named_with_the_command_that_prints_them(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export_page, "TEXTS", 1)
    words = Read(exported(accepted(), tmp_path)[1]).words
    assert words.count("Left out to keep this file small; print it with: orchestrator handoff") >= 4


def test_text_is_escaped_whatever_it_is() -> None:
    assert session_page.text("<a href='x'>\x00\u202e") == "&lt;a href=&#x27;x&#x27;&gt;\\x00\\u202e"
