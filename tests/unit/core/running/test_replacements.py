# ruff: noqa: E501
"""P8, P31: of a file that is renamed, or replaced by another one, the old name is gone and the new one there.

Every wording is played by executors that do the right thing, one half of it, something else, nothing, and too much.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from orchestrator.core.running import mentions
from tests.cases import every
from tests.unit.core.running.test_mentions import TREE
from tests.unit.core.running.test_wordings import read, verdict

WORDINGS = [
    "replace old.txt with new.txt", "replace old.txt by new.txt", "Replace the file old.txt with new.txt",
    "please replace `old.txt` with `new.txt`", "replace old.txt by a new file new.txt",
    "replace the old file old.txt by a file called new.txt", "call old.txt new.txt from now on",
    "from now on call old.txt new.txt", "call the file old.txt new.txt", "name old.txt new.txt",
    "let old.txt be called new.txt", "let's call old.txt new.txt", "old.txt should be called new.txt",
    "old.txt must be named new.txt", "old.txt should be renamed to new.txt", "old.txt is to be renamed new.txt",
    "old.txt becomes new.txt", "old.txt should become new.txt", "I'd like old.txt to be called new.txt",
    "I want old.txt to be named new.txt from now on", "old.txt gets the name new.txt",
    "give old.txt a new name: new.txt", "give old.txt the name new.txt",
    "give the file old.txt the new name new.txt", "change the name of old.txt to new.txt",
    "change old.txt's name to new.txt", "change the filename from old.txt to new.txt",
    "change the file name old.txt to new.txt", "rename: old.txt -> new.txt", "rename old.txt -> new.txt",
    "rename old.txt => new.txt", "old.txt -> new.txt (rename)", "rename old.txt into new.txt",
    "rename old.txt as new.txt", "rename the file old.txt, its new name is new.txt",
    "rename old.txt; the new name is new.txt", "new.txt is the new name of old.txt, please rename it",
    "use the name new.txt for old.txt", "use the name new.txt instead of old.txt for the file",
    "swap old.txt for new.txt", "swap out old.txt for new.txt", "swap old.txt out for new.txt",
    "swap old.txt with new.txt", "exchange old.txt for new.txt", "exchange old.txt with new.txt",
    "trade old.txt for new.txt", "switch old.txt for new.txt", "substitute new.txt for old.txt",
    "substitute old.txt with new.txt", "substitute old.txt by new.txt", "put new.txt in place of old.txt",
    "put new.txt in the place of old.txt", "put new.txt where old.txt is", "put new.txt where old.txt was",
    "new.txt should replace old.txt", "new.txt replaces old.txt", "let new.txt replace old.txt",
    "new.txt must take the place of old.txt", "let new.txt take the place of old.txt",
    "old.txt should be replaced by new.txt", "old.txt is to be replaced with new.txt",
    "old.txt must be replaced with new.txt", "create new.txt to replace old.txt", "write new.txt to replace old.txt",
    "create new.txt as a replacement for old.txt", "create new.txt replacing old.txt",
    "write new.txt, which replaces old.txt", "create new.txt in place of old.txt", "supersede old.txt with new.txt",
    "have new.txt instead of old.txt", "I want new.txt instead of old.txt",
    "there should be new.txt instead of old.txt", "instead of old.txt there should be new.txt",
    "move old.txt to new.txt", "mv old.txt new.txt", "relabel old.txt as new.txt", "retitle old.txt to new.txt",
    "the file old.txt shall henceforth be known as new.txt", "old.txt's new name is new.txt",
    "please make sure that old.txt is renamed to new.txt", "make new.txt out of old.txt and remove old.txt",
    "convert old.txt to new.txt and delete the original",
    "rename old.txt to new.txt and update README.md accordingly",
    "old.txtをnew.txtに置き換えて", "old.txtをnew.txtで置き換えてください", "old.txtをnew.txtと置き換えて", "old.txtをnew.txtに置換して",
    "old.txtをnew.txtに差し替えて", "old.txtをnew.txtと差し替えてください", "old.txtをnew.txtと入れ替えて", "old.txtをnew.txtに入れ替えて",
    "old.txtをnew.txtに取り替えて", "old.txtをnew.txtと交換して", "old.txtをnew.txtに変えて", "old.txtをnew.txtに変更して",
    "old.txtをnew.txtにリネームして", "old.txtをnew.txtへリネーム", "old.txtをnew.txtに改名して", "old.txtをnew.txtという名前に変えて",
    "old.txtをnew.txtという名前にして", "old.txtの名前をnew.txtに変えて", "old.txtの名前をnew.txtにして", "old.txtの名前はnew.txtにして",
    "old.txtのファイル名をnew.txtに変更して", "ファイル名をold.txtからnew.txtに変更して", "名前をold.txtからnew.txtに変えて", "old.txtは今後new.txtと呼んで",
    "これからはold.txtをnew.txtと呼んで", "old.txtをnew.txtと呼ぶことにして", "old.txtをnew.txtと名付けて", "old.txtをnew.txtと改名してください",
    "new.txtでold.txtを置き換えて", "new.txtをold.txtと差し替えて", "old.txtの代わりにnew.txtを置いて", "old.txtをやめてnew.txtにして",
    "old.txtをnew.txtにして", "old.txt→new.txtにリネーム", "old.txtのかわりにnew.txtを置いてください", "`old.txt`を`new.txt`に置き換えて",
    "「old.txt」を「new.txt」に改名して", "ファイルold.txtをファイルnew.txtに置き換えて", "old.txtというファイルをnew.txtに置き換えて",
    "old.txtをnew.txtに移動して", "old.txtはnew.txtに置き換えてください", "old.txtはnew.txtに改名してください",
]  # fmt: skip
"""All of them say that old.txt, which is there, is to be new.txt, which is not."""

NEIGHBOURS: list[tuple[str, list[str], list[str]]] = [
    ("replace foo with bar in old.txt", ["old.txt"], ["new.txt", "-old.txt", "other.txt"]),
    ("replace a.md with c.md in index.html", ["index.html"], ["c.md", "-a.md|c.md", "a.md"]),
    ("in index.html, replace a.md with c.md", ["index.html"], ["c.md", "-a.md|c.md"]),
    ("index.html: replace a.md with c.md", ["index.html"], ["c.md", "-a.md|c.md"]),
    ("replace the text of a.md by that of b.md", ["a.md"], ["b.md", "other.txt", "-a.md"]),
    ("replace the contents of a.md with the contents of b.md", ["a.md"], ["b.md", "other.txt"]),
    ("replace a.md's text with b.md's", ["a.md"], ["other.txt"]),
    ("replace the link to a.md with one to c.md in index.html", ["index.html"], ["c.md", "-a.md|c.md"]),
    ("replace all references to old.txt with new.txt in README.md", ["README.md"], ["other.txt"]),
    ("replace 'old.txt' with 'new.txt' everywhere in README.md", ["README.md"], ["other.txt", "new.txt"]),
    ("change a.md to c.md in index.html", ["index.html"], ["c.md", "-a.md|c.md"]),
    ("replace the first line of a.md with the last line of b.md", ["a.md"], ["b.md"]),
    ("swap the first two lines of a.md", ["a.md"], ["other.txt"]),
    ("overwrite a.md with b.md", ["a.md"], ["b.md", "other.txt"]),
    ("index.htmlのa.mdをc.mdに置き換えて", ["index.html"], ["c.md", "-a.md|c.md"]),
    ("index.html内のa.mdをc.mdに置換して", ["index.html"], ["c.md", "-a.md|c.md"]),
    ("a.mdの内容をb.mdの内容に置き換えて", ["a.md"], ["b.md", "other.txt"]),
    ("a.mdの中身をb.mdのものに差し替えて", ["a.md"], ["other.txt"]),
    ("README.mdのfooをbarに変えて", ["README.md"], ["other.txt"]),
    ("README.mdのold.txtへのリンクをnew.txtに変更して", ["README.md"], ["new.txt", "-old.txt|new.txt"]),
    ("rename the function foo to bar in core.py", ["core.py"], ["other.txt", "-core.py"]),
    ("call the function main in core.py", ["core.py"], ["other.txt"]),
    ("name the class Foo in core.py", ["core.py"], ["other.txt"]),
    ("change the title of a.md to that of b.md", ["a.md"], ["b.md"]),
    ("convert README.md to README.rst", ["README.rst", "-README.md|README.rst"], ["-README.md", "other.txt"]),
    ("turn data.csv into data.json", ["data.json", "-data.csv|data.json"], ["-data.csv", "other.txt"]),
    ("write fix.py that replaces a.md with b.md", ["fix.py"], ["-a.md", "other.txt"]),
    ("write gen.py that replaces data.csv", ["gen.py"], ["other.txt"]),
    ("write a script mv.sh that renames old.txt to new.txt", ["mv.sh"], ["-old.txt|new.txt", "other.txt"]),
    ("replace a.md with b.md", ["a.md", "-a.md", "a.md|b.md", "a.md|-b.md"], ["b.md", "other.txt"]),
    ("swap a.md for b.md", ["a.md", "-a.md"], ["b.md", "other.txt"]),
    ("a.mdをb.mdに置き換えて", ["a.md", "-a.md"], ["b.md", "other.txt"]),
    ("rename a.md to b.md", ["-a.md|b.md"], ["-a.md", "b.md", "a.md"]),
    ("call a.md b.md from now on", ["-a.md|b.md"], ["-a.md", "b.md"]),
    ("rename a.md to c.md and b.md to d.md", ["-a.md|-b.md|c.md|d.md"], ["-a.md|c.md", "-a.md|c.md|d.md", "-a.md|-b.md|c.md"]),
    ("rename a.md to c.md, b.md to d.md", ["-a.md|-b.md|c.md|d.md"], ["-a.md|c.md", "-a.md|c.md|d.md"]),
    ("replace a.md with c.md and b.md with d.md", ["-a.md|-b.md|c.md|d.md"], ["-a.md|c.md", "-a.md|c.md|d.md"]),
    ("replace a.md and b.md with c.md", ["-a.md|-b.md|c.md"], ["-a.md|c.md", "c.md", "-a.md|-b.md"]),
    ("rename a.md and b.md to c.md and d.md", ["-a.md|-b.md|c.md|d.md"], ["-a.md|c.md"]),
    ("rename these:\n- a.md -> c.md\n- b.md -> d.md", ["-a.md|-b.md|c.md|d.md"], ["-a.md|c.md", "c.md|d.md"]),
    ("a.mdをc.mdに、b.mdをd.mdにリネームして", ["-a.md|-b.md|c.md|d.md"], ["-a.md|c.md", "-b.md|d.md"]),
    ("a.mdとb.mdをc.mdに置き換えて", ["-a.md|-b.md|c.md"], ["c.md", "-a.md|c.md"]),
    ("rename docs to manual", ["-docs/guide.md|-docs/api.md|-docs/|manual/guide.md|manual/api.md"], ["-docs/guide.md|-docs/api.md|-docs/", "-docs/guide.md|-docs/api.md|-docs/|other.txt", "manual/guide.md"]),
    ("rename the docs folder to manual", ["-docs/guide.md|-docs/api.md|-docs/|manual/guide.md|manual/api.md"], ["-docs/guide.md|-docs/api.md|-docs/", "-docs/guide.md|-docs/api.md|-docs/|other.txt", "manual/guide.md"]),
    ("rename the folder docs/ to manual/", ["-docs/guide.md|-docs/api.md|-docs/|manual/guide.md|manual/api.md"], ["-docs/guide.md|-docs/api.md|-docs/", "manual/guide.md"]),
    ("replace the build folder with a folder called dist", ["-build/main.o|-build/sub/x.o|-build/sub/|-build/|dist/|dist/main.o"], ["dist/", "-build/main.o|-build/sub/x.o|-build/sub/|-build/"]),
    ("docsフォルダをmanualにリネームして", ["-docs/guide.md|-docs/api.md|-docs/|manual/guide.md|manual/api.md"], ["-docs/guide.md|-docs/api.md|-docs/", "manual/guide.md"]),
    ("rename docs/guide.md to manual.md", ["-docs/guide.md|docs/manual.md", "-docs/guide.md|manual.md"], ["manual.md", "-docs/guide.md"]),
    ("in docs/, rename guide.md to manual.md", ["-docs/guide.md|docs/manual.md"], ["docs/manual.md", "-docs/guide.md"]),
    ("replace guide.md with manual.md in docs/", ["-docs/guide.md|docs/manual.md"], ["docs/manual.md", "-docs/guide.md"]),
    ("rename old.txt to something better", ["-old.txt|better.txt"], ["-old.txt", "other.txt"]),
    ("rename old.txt", ["-old.txt|better.txt"], ["-old.txt"]),
    ("rename all *.log files to *.txt", ["-app.log|-error.log|app.txt|error.txt"], ["app.txt|error.txt", "-app.log|-error.log"]),
    ("do not rename old.txt to new.txt; update README.md", ["README.md"], ["-old.txt|new.txt", "-old.txt|new.txt|README.md"]),
    ("update README.md without replacing old.txt with new.txt", ["README.md"], ["-old.txt|README.md|new.txt"]),
    ("old.txtをnew.txtに変えないで、README.mdを更新して", ["README.md"], ["-old.txt|README.md|new.txt"]),
    ("rename old.txt to new.txt and update the links in README.md", ["-old.txt|new.txt|README.md", "-old.txt|new.txt"], ["new.txt|README.md", "README.md", "-old.txt|README.md"]),
    ("replace old.txt with new.txt, and mention it in README.md", ["-old.txt|new.txt|README.md"], ["new.txt|README.md", "README.md"]),
    ("create new.txt instead of old.txt", ["new.txt"], ["-old.txt", "other.txt"]),
    ("create new.txt based on old.txt", ["new.txt"], ["-old.txt"]),
    ("copy old.txt to new.txt", ["new.txt"], ["-old.txt", "other.txt"]),
    ("use new.txt instead of old.txt in core.py", ["core.py"], ["other.txt"]),
    ("switch core.py from old.txt to new.txt", ["core.py|new.txt", "core.py"], ["other.txt"]),
    ("the name of a.md should be c.md", ["-a.md|c.md"], ["c.md", "-a.md"]),
    ("old.txt needs a better name: new.txt", ["-old.txt|new.txt"], ["new.txt", "-old.txt"]),
    ("I don't like the name old.txt, call it new.txt", ["-old.txt|new.txt"], ["new.txt", "-old.txt"]),
    ("old.txt has a bad name, rename it to new.txt", ["-old.txt|new.txt"], ["new.txt", "-old.txt"]),
    ("take old.txt and give it the name new.txt", ["-old.txt|new.txt"], ["new.txt", "-old.txt"]),
    ("old.txt is outdated, replace it with new.txt", ["-old.txt|new.txt"], ["new.txt", "-old.txt"]),
    ("create new.txt; it replaces old.txt", ["-old.txt|new.txt"], ["new.txt", "-old.txt"]),
    ("write new.txt, then drop old.txt in favour of it", ["-old.txt|new.txt"], ["new.txt", "-old.txt"]),
    ("drop old.txt in favour of new.txt", ["-old.txt|new.txt"], ["new.txt", "-old.txt"]),
    ("old.txtを削除して、代わりにnew.txtを作成して", ["-old.txt|new.txt"], ["new.txt", "-old.txt"]),
    ("old.txtは古いのでnew.txtに置き換えて", ["-old.txt|new.txt"], ["new.txt", "-old.txt"]),
    ("old.txtという名前をnew.txtに変えて", ["-old.txt|new.txt"], ["new.txt", "-old.txt"]),
    ("old.txtをリネームしてnew.txtにして", ["-old.txt|new.txt"], ["new.txt", "-old.txt"]),
    ("old.txtのリネーム先はnew.txtです。リネームしてください", ["-old.txt|new.txt"], ["new.txt", "-old.txt"]),
    ("old.txtからnew.txtへ名前を変更してください", ["-old.txt|new.txt"], ["new.txt", "-old.txt"]),
    ("old.txtをnew.txtへ差し替えをお願いします", ["-old.txt|new.txt"], ["new.txt", "-old.txt"]),
]  # fmt: skip
"""What replaces files in other ways, or only speaks of names: what is COMPLETE then, and what is not."""


@every("text", WORDINGS)
def test_p8_both_halves_of_a_replacement_are_complete(text: str) -> None:
    found = verdict(text, "-old.txt|new.txt")
    assert found.executor_status == "COMPLETE", (found.why, read(text)[1])


@every("text", WORDINGS)
def test_p8_half_a_replacement_or_anything_else_is_not_complete(text: str) -> None:
    for done in ("new.txt", "-old.txt", "old.txt", "other.txt", "-old.txt|other.txt", "old.txt|new.txt", "-README.md", ""):
        assert verdict(text, done).executor_status != "COMPLETE", (done, read(text)[1])


@every("text", WORDINGS)
def test_p8_the_half_that_is_missing_is_named(text: str) -> None:
    assert "old.txt was not deleted" in verdict(text, "new.txt").why
    assert "new.txt was not created" in verdict(text, "-old.txt").why


@every("text", WORDINGS)
def test_p8_what_was_done_beyond_a_replacement_is_named(text: str) -> None:
    found = verdict(text, "-old.txt|new.txt|other.txt|-src/keep2.py")
    assert "Touched and not mentioned: other.txt." in found.why, found.why
    assert "Deleted and not ordered: src/keep2.py." in found.why, found.why


@every(("text", "right", "wrong"), NEIGHBOURS, ids=[text for text, _, _ in NEIGHBOURS])
def test_p8_neighbours_of_replacements(text: str, right: Sequence[str], wrong: Sequence[str]) -> None:
    for done in right:
        assert verdict(text, done).executor_status == "COMPLETE", (done, verdict(text, done).why, read(text)[1])
    for done in wrong:
        assert verdict(text, done).executor_status != "COMPLETE", (done, read(text)[1])


@pytest.mark.parametrize(("text", "status"), [
    ("why was old.txt replaced by new.txt?", "READ_INFO"), ("explain how new.txt replaces old.txt", "READ_INFO"),
    ("should old.txt be called new.txt?", "READ_INFO"), ("call old.txt new.txt", "LIGHT_EDIT"),
    ("could you call old.txt new.txt?", "LIGHT_EDIT"), ("old.txtの名前をnew.txtに変えたのはなぜですか", "READ_INFO"),
])  # fmt: skip
def test_a_replacement_is_an_order_unless_it_is_asked_about(text: str, status: str) -> None:
    assert read(text)[0] == (status, False)


def test_a_name_that_goes_and_comes_back_is_one_of_each_pair() -> None:
    found = {each.name: each.kind for each in mentions.find("rename README.md to x.md and core.py to y.md", TREE)}
    assert found == {"README.md": "deleted", "x.md": "made", "core.py": "deleted", "y.md": "made"}
