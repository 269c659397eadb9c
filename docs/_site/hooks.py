"""Carries documents of the repository's root into the site, and turns links between documents into links of the site.

The documents are written to be read in the repository: their links name files. Files that are no pages of the site
(a module, a test) become plain text there.
"""

from __future__ import annotations

import pathlib
import posixpath
import re

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "DECISIONS.md": "decisions/index.md",
    "SECURITY.md": "reporting-a-vulnerability.md",
    "CODE_OF_CONDUCT.md": "code-of-conduct.md",
    "workflow/README.md": "workflow.md",
}
"""Documents outside of docs/, and the pages that they become."""

_SOURCES = {page: source for source, page in PAGES.items()}
WIDE = ("contributing.md", "performance.md")
"""Pages whose tables need the place of the list of headings."""
_ROW = re.compile(r"^\|.*$", re.MULTILINE)
_CODE = re.compile(r"(?<=<code>)[^<]*/[^<]*(?=</code>)")
_LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)#:\s]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the documents that lie outside of docs/."""
    root = pathlib.Path(config.config_file_path).parent
    for source, page in PAGES.items():
        files.append(File.generated(config, page, content=(root / source).read_text("utf-8")))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let links lead to the pages that the linked files have become.

    Raises:
        PluginError: never; a link to a file that is absent stays as it is, and the strict build names it.
    """
    here = page.file.src_uri
    source = _SOURCES.get(here, f"docs/{here}")
    root = pathlib.Path(config.config_file_path).parent

    def linked(match: re.Match[str]) -> str:
        words, target, anchor = match[1], match[2], match[3] or ""
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        to = PAGES.get(path) or path.removeprefix("docs/")
        if files.get_file_from_path(to) is None and (root / path).exists():
            return words
        return f"[{words}]({posixpath.relpath(to, posixpath.dirname(here) or '.')}{anchor})"

    if here in WIDE:
        page.meta["hide"] = ["toc"]
    # A pipe within code has to be escaped in a table of the repository, and must not be in one of the site.
    markdown = _ROW.sub(lambda row: re.sub(r"`[^`]*`", lambda code: code[0].replace("\\|", "|"), row[0]), markdown)
    return _LINK.sub(linked, markdown)


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let paths in code break behind a slash, and not within a name."""
    return _CODE.sub(lambda code: code[0].replace("/", "/<wbr>"), html)
