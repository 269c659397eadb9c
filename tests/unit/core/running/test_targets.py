"""P8, P26, P31: which files a task orders by name, and when one of them was not done."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core.running import grammar, targets
from orchestrator.core.running.targets import CHANGED, DELETED, MADE, Target
from tests.unit.core import growth

ORDERS: list[tuple[str, list[tuple[str, str]]]] = [
    ("Create docs/x.md", [("docs/x.md", MADE)]),
    ("create docs/x.md.", [("docs/x.md", MADE)]),
    ("Please create a new file called `docs/x.md` with a title", [("docs/x.md", MADE)]),
    ("Can you create README.md?", [("README.md", MADE)]),
    ("I want you to create src/app.ts", [("src/app.ts", MADE)]),
    ("Create a.md, b.md and c.md", [("a.md", MADE), ("b.md", MADE), ("c.md", MADE)]),
    ("Create Makefile", [("Makefile", MADE)]),
    ("Implement src/calc.py with tests", [("src/calc.py", MADE)]),
    ("create a.md from template.md", [("a.md", MADE)]),
    ("Write a script gen.py that reads in.csv and writes out.csv", [("gen.py", MADE)]),
    ("Based on spec.md, create app.py", [("app.py", MADE)]),
    ("Please do the following:\n- Create a.md\n- Update b.md", [("a.md", MADE), ("b.md", CHANGED)]),
    ("Create the file docs/x.md. Then update README.md.", [("docs/x.md", MADE), ("README.md", CHANGED)]),
    ("Update README.md and CHANGELOG.md", [("README.md", CHANGED), ("CHANGELOG.md", CHANGED)]),
    ("Update README.md to mention setup.py", [("README.md", CHANGED)]),
    ("Fix README.md", [("README.md", CHANGED)]),
    ("fix src/app.py so that tests/test_app.py passes", [("src/app.py", CHANGED)]),
    ("Read a.md and update b.md", [("b.md", CHANGED)]),
    ("Update .gitignore", [(".gitignore", CHANGED)]),
    ("Append a line to notes.txt", [("notes.txt", CHANGED)]),
    ("Add README.md to .gitignore", [(".gitignore", CHANGED)]),
    ("Write the report to docs/report.md", [("docs/report.md", CHANGED)]),
    ("Copy a.txt to b.txt", [("b.txt", CHANGED)]),
    ("translate README.md to docs/ja.md", [("docs/ja.md", CHANGED)]),
    ("Split app.py into a.py and b.py", [("a.py", CHANGED), ("b.py", CHANGED)]),
    ("Delete old.txt", [("old.txt", DELETED)]),
    ("Remove a.txt and b.txt", [("a.txt", DELETED), ("b.txt", DELETED)]),
    ("Rename a.txt to b.txt", [("a.txt", DELETED), ("b.txt", CHANGED)]),
    ("Create docs/x.md, but do not change README.md", [("docs/x.md", MADE)]),
    ("create x.md, create x.md", [("x.md", MADE)]),
    ("summarize src/a.py in SUMMARY.md", [("SUMMARY.md", CHANGED)]),
    ("Summarize the changes in CHANGELOG.md", [("CHANGELOG.md", MADE)]),
    ("Document the API in docs/api.md", [("docs/api.md", MADE)]),
    ("notes.md needs to exist with hello in it", [("notes.md", MADE)]),
    ("The file notes.md must contain hello", [("notes.md", MADE)]),
    ("There should be a notes.md", [("notes.md", MADE)]),
    ("Make sure notes.md exists", [("notes.md", MADE)]),
    ("I need a file called notes.md", [("notes.md", MADE)]),
    ("README.mdを作成", [("README.md", MADE)]),
    ("README.mdを作成してください", [("README.md", MADE)]),
    ("docs/x.md を作って", [("docs/x.md", MADE)]),
    ("「docs/x.md」を作成", [("docs/x.md", MADE)]),
    ("a.mdとb.mdを作成して", [("a.md", MADE), ("b.md", MADE)]),
    ("README.mdを参考にdocs/x.mdを作成", [("docs/x.md", MADE)]),
    ("README.mdを更新して、CHANGELOG.mdも更新して", [("README.md", CHANGED), ("CHANGELOG.md", CHANGED)]),
    ("README.mdに使い方を追記して", [("README.md", CHANGED)]),
    ("README.mdに書いてある内容をdocs/x.mdに保存して", [("docs/x.md", CHANGED)]),
    ("old.txtを削除して", [("old.txt", DELETED)]),
]


@pytest.mark.parametrize(("text", "orders"), ORDERS, ids=[text for text, _ in ORDERS])
def test_the_object_of_an_order_is_a_target(text: str, orders: list[tuple[str, str]]) -> None:
    assert targets.wanted(text) == tuple(Target(*each) for each in orders)


@pytest.mark.parametrize(
    "text",
    [
        "explain README.md",
        "explain how to create README.md",
        "What should README.md contain?",
        "explain why README.md must exist",
        "If notes.md should exist, say so",
        "fix the bug described in notes.txt",
        "Fix the typo in README.md",
        "Change the version in pyproject.toml",
        "Add a link to README.md",
        "Add data.csv to the repository",
        "Remove the import from app.py",
        "Write tests for app.py",
        "Review src/app.py and fix it",
        "Implement a tool to read a.csv and write b.csv",
        "The program must:\n1. create out.txt",
        "Make app.py faster",
        "Make sure app.py works",
        "Create package.json scripts",
        "Build Next.js app",
        "Update Node.js to version 20",
        "Refactor os.path usage",
        "Add CI/CD",
        "Create docs/*.md",
        "Create docs/<name>.md",
        "Create docs/概要.md",
        "Do not change README.md",
        "Implement the parser without changing README.md",
        "If needed, update CHANGELOG.md",
        "Update CHANGELOG.md if necessary",
        "Create README.md or docs/index.md",
        "Create docs/x.md instead of docs/y.md",
        "Find out what breaks:\n```\ncreate out.md\n```",
        "The log says:\n> create out.md",
        "see https://example.org/a.md, create https://example.org/b.md",
        "README.mdを作成するスクリプトを書いて",
        "README.mdを更新しているスクリプトを直して",
        "README.mdに書いてあるバグを修正して",
        "notes.txtに書かれたバグを直して",
        "README.mdは変更しないで",
        "必要ならREADME.mdを更新して",
        "readmeを作って",
        "",
    ],
    ids=str,
)
def test_any_other_named_file_is_context(text: str) -> None:
    assert targets.wanted(text) == ()


@pytest.mark.parametrize(
    ("target", "path", "named"),
    [
        ("docs/x.md", "docs/x.md", True), ("x.md", "docs/x.md", True), ("docs/x.md", "site/docs/x.md", True),
        ("readme.md", "README.md", True), ("b.md", "a b.md", True), ("v2.md", "設計v2.md", True),
        ("README", "README.md", True), ("Makefile", "Makefile", True), ("README", "docs/README", True),
        ("README", "README/a.md", False), ("LICENSE", "x/README.md", False),
        ("x.md", "index.md", False), ("x.md", "x.md.bak", False), ("docs/x.md", "x.md", False),
    ],
)  # fmt: skip
def test_a_target_is_found_in_any_folder(target: str, path: str, named: bool) -> None:
    assert targets.names(target, path) is named


ROWS = [
    pytest.param(Target("x.md", MADE), [], [], False, id="not made"),
    pytest.param(Target("x.md", MADE), ["junk.txt"], ["junk.txt"], False, id="something else was made"),
    pytest.param(Target("x.md", MADE), ["x.md"], ["x.md"], True, id="made"),
    pytest.param(Target("x.md", MADE), ["x.md"], [], True, id="there from an earlier run"),
    pytest.param(Target("x.md", CHANGED), ["x.md", "y.md"], ["y.md"], False, id="something else was changed"),
    pytest.param(Target("x.md", CHANGED), ["x.md"], ["x.md"], True, id="changed"),
    pytest.param(Target("x.md", CHANGED), [], ["x.md"], True, id="replaced by something else"),
    pytest.param(Target("x.md", DELETED), ["x.md"], ["x.md"], False, id="changed but not deleted"),
    pytest.param(Target("x.md", DELETED), [], ["x.md"], True, id="deleted"),
    pytest.param(Target("x.md", DELETED), ["sub/x.md"], ["x.md"], True, id="another file has the name"),
]


@pytest.mark.parametrize(("target", "present", "touched", "done"), ROWS)
def test_p31_a_target_is_done_when_what_was_ordered_happened(
    target: Target, present: list[str], touched: list[str], done: bool
) -> None:
    assert targets.unmet([target], present, touched) == (() if done else ("x.md",))


names = st.from_regex(r"[a-z]{1,8}(/[a-z]{1,8}){0,2}\.(md|py|json|txt|ts)", fullmatch=True)
orders_for = st.sampled_from(
    [
        ("Create {}", MADE), ("Please add the file {}.", MADE), ("Could you write {} for the users?", MADE),
        ("Read it first, then create {}", MADE), ("{}を作成してください", MADE), ("Update {}", CHANGED),
        ("please fix {} now", CHANGED), ("1. Edit {}", CHANGED), ("Append a line to {}", CHANGED),
        ("{}を修正して", CHANGED), ("Delete {}", DELETED), ("{}を削除して", DELETED),
    ]
)  # fmt: skip
contexts = st.sampled_from(
    [
        "explain {}", "Fix the bug described in {}", "Implement what {} says", "As {} says, clean the code",
        "See {}. Fix the crash.", "Make it like {}", "Do not touch {}", "Compare it with {}", "{}を参考に直して",
        "{}に書いてあるとおりに実装して", "{}の内容を説明して", "{}を読んで",
    ]
)  # fmt: skip


@given(names, orders_for)
def test_p31_whatever_its_name_an_ordered_file_is_a_target(name: str, order: tuple[str, str]) -> None:
    assert targets.wanted(order[0].format(name)) == (Target(name, order[1]),)


@given(names, contexts)
def test_p31_whatever_its_name_a_file_in_the_context_is_none(name: str, context: str) -> None:
    assert targets.wanted(context.format(name)) == ()


@given(names, names, orders_for, contexts)
def test_p31_a_file_in_the_context_takes_no_target_away(
    one: str, other: str, order: tuple[str, str], context: str
) -> None:
    text = f"{context.format(other)}\n{order[0].format(one)}"
    assert targets.wanted(text) == (Target(one, order[1]),)


@given(st.text() | st.text("create a.md\ue000\ue001\uf8ff ") | st.text("create a.md,update /_:?を作成して\n-`>"))
def test_targets_are_files_that_the_text_names(text: str) -> None:
    found = targets.wanted(text)
    assert (len({each.path for each in found}), {each.kind for each in found} <= {MADE, CHANGED, DELETED}) == (
        len(found), True,
    )  # fmt: skip


@pytest.mark.parametrize(
    "unit",
    [
        "create a.md, ", "and ", "add ", "please ", "a.mdを", "- ", "`", "```\n", "to a.md ", ", then ", "\n> ", "1. ",
        "  ",
    ],
    ids=repr,
)
def test_long_texts_take_linear_time(unit: str) -> None:
    assert growth.is_even(targets.wanted, unit, grammar.READ // len(unit))
