# ruff: noqa: E501
"""Wordings of tasks, each with what an executor that does the right thing changes.

Below a project that holds `FILES`. A path is new unless it is there already; `-` before it says that it goes; a slash at
its end makes it a folder.
"""

from __future__ import annotations

FILES = frozenset(
    (
        "README.md core.py notes.txt data.csv old.txt a.md b.md index.html app.log error.log .gitignore CHANGELOG.md"
        " invoices/core.py invoices/total.py tests/test_core.py build/main.o build/sub/x.o docs/guide.md docs/api.md"
        " src/keep.py src/keep2.py src/deep/nested/mod.py tmp/x.tmp config.yaml"
    ).split()
) | {"my notes.md", "設計.md"}
FOLDERS = frozenset("invoices tests build build/sub docs src src/deep src/deep/nested tmp".split())

ENGLISH: list[tuple[str, str]] = [
    # A new file, with words around its name.
    *((text.format("notes.md"), "notes.md") for text in (
        "create {}", "create {} quickly", "create {} carefully", "create {} today", "create {} short", "quickly create {}",
        "please create {}", "could you create {}?", "can you please write {} for me?", "Create: {}", "create `{}`",
        'create "{}"', "create '{}'", "create **{}**", "create ./{}", "create {}.", "create {}!", "create {}, please",
        "create {}: a short list", "Create {} with the text hello", "Create the file {}", "Create a new file called {}",
        "Create a file named `{}` that says hello", "I want you to create {}", "I need a file called {}", "make {}",
        "Make a new {}", "write {}", "Write hello to {}", "put hello in {}", "put hello into {}", "save the list as {}",
        "save hello in {}", "store the answer in {}", "add {}", "add a file {}", "add {} to the project", "generate {}",
        "draft {}", "touch {}", "produce {} from scratch", "{} needs to exist with hello in it", "{} must contain hello",
        "There should be a {}", "Make sure {} exists", "ensure that {} exists", "{} should be created",
        "I want {} created", "todo: create {}", "1. Create {}", "- create {}", "hey, create {} now", "create {} asap",
        "create {} and nothing else", "Create [{0}]({0})", "CREATE {}", "let's create {}", "go ahead and create {}",
        "create {} (short)", "kindly create {} at once", "write a summary of README.md to {}", "using data.csv write {}",
        "write {} using data.csv", "write {} from data.csv", "create {} based on README.md", "create {} like a.md",
        "export data.csv to {}", "convert data.csv into {}", "copy README.md to {}", "translate README.md into {}",
        "summarize core.py in {}", "Document the API in {}", "don't forget to create {}", "create {} about core.py",
        "create {} without changing README.md", "create {}, but do not touch README.md",
        "do not touch README.md, create {}", "create {} instead of notes.rst", "write the report to {}",
        "read README.md and write {}", "compare a.md with b.md and write the result to {}", "create {} in the root folder",
        "create\n{}", "Please do the following:\n- create {}", "Create these files:\n- {}", "new file {}",
        "create {} which lists README.md", "start with {}: write hello in it", "draft up {}", "author {}",
        "write down the rules in {}", "jot down hello in {}", "note the result in {}", "the result goes to {}",
        "append a line to {}", "create {} see https://example.org/x.md", "create {} for version 1.2.3, e.g. as a list",
        "First, create {}", "Your task is to create {}", "We need {}", "Build {} please", "provide {}",
    )),
    # An existing file that is to change.
    *((text.format("README.md"), "README.md") for text in (
        "update {}", "Update {}", "update {} quickly", "fix {}", "fix the typo in {}", "fix the typo in `{}` please",
        "replace foo with bar in {}", "replace 'foo' with 'bar' in {}", "add a section on setup to {}",
        "add to {} a section", "change the title of {}", "change the title in {} to Words", "remove the intro from {}",
        "delete the last line of {}", "delete the first paragraph in {}", "correct {}", "improve {}", "polish {}",
        "proofread {}", "rewrite {}", "tidy {}", "tidy up {}", "clean up {}", "shorten {}", "edit {}", "{}: fix the typo",
        "{}: add a title", "In {}, rename Foo to Bar", "in {} replace foo by bar", "insert a line into {}",
        "append a line to {}", "put a badge at the top of {}", "sort the list in {}", "make {} shorter",
        "make the title of {} bold", "mention setup in {}", "update readme.md", "update the readme", "fix the readme",
        "add a line to the README", "bring {} up to date", "translate {}", "reformat {}", "extend {}", "finish {}",
        "can you fix {}?", "Could you update {}, please?", "{} should mention setup", "{} needs a title",
        "explain the bug and fix the typo in {}", "explain core.py and update {}", "update {} according to notes.txt",
        "update {} as described in notes.txt", "update {}; do not touch core.py", "update {} but leave core.py alone",
        "update only {}", "change nothing except {}", "don't change any file other than {}", "don't forget to update {}",
        "set the version to 1.2.3 in {}", "bump the version in {}", "read {} and fix the typos", "check {} and fix it",
        "review {} and correct it", "look at {} and fix the typo", "open {} and add a title", "search for {} and fix it",
        "update **{}**", "update [the readme]({})", "update ./{}", "please, update {} now", "in the file {} fix the title",
        "the title in {} must be changed", "{} has a typo, fix it", "There is a typo in {}. Fix it.", "amend {}",
        "update {} to mention Node.js", "replace the text in {} with hello", "use tabs in {}", "spell-check {}",
        "do it in {}", "strip trailing blanks from {}", "reword the intro of {}",
    )),
    # What is to go.
    *((text.format("old.txt"), "-old.txt") for text in (
        "delete {}", "delete {} quickly", "remove {}", "remove the file {}", "get rid of {}", "rm {}", "erase {}",
        "please delete {}", "can you delete {}?", "delete `{}`", "unlink {}", "drop {}", "discard {}", "throw away {}",
        "{} should be deleted", "I want {} deleted", "{}: delete it", "{} must be removed", "delete the old {}",
        "delete {} but keep README.md", "delete {}, not old2.txt", "git rm {}", "delete OLD.TXT", "remove {} please",
        "delete {} and nothing else", "trash {}", "delete the unused file {}", "find {} and delete it",
    )),
    ("delete README.md quickly", "-README.md"), ("get rid of README.md", "-README.md"),
    ("delete README.md and old.txt", "-README.md -old.txt"), ("remove a.md, b.md and old.txt", "-a.md -b.md -old.txt"),
    ("delete *.log", "-app.log -error.log"), ("delete all *.log files", "-app.log -error.log"),
    ("remove the log files", "-app.log -error.log"), ("delete the old logs", "-app.log -error.log"),
    ("clean up the temporary files", "-tmp/x.tmp"), ("delete the build folder", "-build/main.o -build/sub/x.o -build/"),
    ("delete build", "-build/main.o -build/sub/x.o -build/"), ("delete build/", "-build/main.o -build/sub/x.o -build/"),
    ("remove the directory build", "-build/main.o -build/sub/x.o -build/"),
    ("rm -rf build", "-build/main.o -build/sub/x.o -build/"), ("rm -rf build/", "-build/main.o -build/sub/x.o -build/"),
    ("rm -rf ./build", "-build/main.o -build/sub/x.o -build/"),
    ("please run rm -rf build", "-build/main.o -build/sub/x.o -build/"),
    ("run `rm -rf build` now", "-build/main.o -build/sub/x.o -build/"),
    ("rm -r build/sub", "-build/sub/x.o -build/sub/"), ("delete everything in build/", "-build/main.o -build/sub/x.o"),
    ("delete all files in the build folder", "-build/main.o -build/sub/x.o"), ("empty the build folder", "-build/main.o -build/sub/x.o"),
    ("remove build/sub", "-build/sub/x.o -build/sub/"), ("delete the nested folder src/deep", "-src/deep/nested/mod.py -src/deep/nested/ -src/deep/"),
    # Names, folders and several at once.
    ("create a.txt and b.txt", "a.txt b.txt"), ("create a.txt, b.txt and c.txt", "a.txt b.txt c.txt"),
    ("update a.md and b.md", "a.md b.md"), ("create x.md and update README.md", "x.md README.md"),
    ("rename old.txt to new.txt", "-old.txt new.txt"), ("rename `old.txt` to `new.txt`", "-old.txt new.txt"),
    ("mv old.txt new.txt", "-old.txt new.txt"), ("move old.txt to docs/old.txt", "-old.txt docs/old.txt"),
    ("move old.txt into docs/", "-old.txt docs/old.txt"), ("move old.txt into the docs folder", "-old.txt docs/old.txt"),
    ("git mv old.txt new.txt", "-old.txt new.txt"), ("copy a.md to c.md", "c.md"), ("cp a.md c.md", "c.md"),
    ("duplicate a.md as c.md", "c.md"), ("copy a.md into docs/", "docs/a.md"), ("merge a.md into b.md", "b.md"),
    ("split core.py into x.py and y.py", "core.py x.py y.py"), ("create docs/new.md", "docs/new.md"),
    ("create a file new.md in docs/", "docs/new.md"), ("create new.md in the docs folder", "docs/new.md"),
    ("update docs", "docs/guide.md"), ("update docs/", "docs/guide.md"), ("update the docs folder", "docs/api.md"),
    ("fix the typos in docs/", "docs/guide.md"), ("fix the typos in all files under docs", "docs/guide.md"),
    ("create a folder called out", "out/"), ("create the folder `out`", "out/"), ("mkdir out", "out/"),
    ("make a directory assets/img/", "assets/img/"), ("create a directory named out", "out/"),
    ("create the out folder with a file x.txt in it", "out/ out/x.txt"), ("create out/x.txt", "out/x.txt"),
    ("create my plan.md", "my plan.md"), ('create "my plan.md"', "my plan.md"), ("create `my plan.md`", "my plan.md"),
    ("update my notes.md", "my notes.md"), ('fix the typo in "my notes.md"', "my notes.md"), ("update 設計.md", "設計.md"),
    ("create résumé.md", "résumé.md"), ("create .editorconfig", ".editorconfig"), ("update .gitignore", ".gitignore"),
    ("add *.log to .gitignore", ".gitignore"), ("add node_modules/ to .gitignore", ".gitignore"),
    ("create .github/workflows/ci.yml", ".github/workflows/ci.yml"), ("create Makefile", "Makefile"),
    ("add a Dockerfile", "Dockerfile"), ("create a LICENSE", "LICENSE"), ("add a license file", "LICENSE"),
    ("add a changelog entry", "CHANGELOG.md"), ("update the changelog", "CHANGELOG.md"), ("update config.yaml", "config.yaml"),
    ("fix the total in invoices/core.py", "invoices/core.py"), ("fix total.py", "invoices/total.py"),
    ("fix mod.py", "src/deep/nested/mod.py"), ("refactor src/deep/nested/mod.py", "src/deep/nested/mod.py"),
    ("fix the discount bug in Invoice.total, invoices/core.py, and add a test to tests/test_core.py",
     "invoices/core.py tests/test_core.py"),
    ("fix Invoice.total in invoices/total.py", "invoices/total.py"), ("write tests for core.py", "tests/test_more.py"),
    ("add unit tests", "tests/test_more.py"), ("write the tests first", "tests/test_core.py"),
    ("add a test to tests/test_core.py", "tests/test_core.py"), ("fix core.py so that tests/test_core.py passes", "core.py"),
    ("fix the crash in core.py:12", "core.py"), ("remove console.log from index.html", "index.html"),
    ("upgrade Node.js in config.yaml", "config.yaml"), ("link README.md from index.html", "index.html"),
    ("add a link to README.md in index.html", "index.html"), ("replace a.md by b.md in index.html", "index.html"),
    ("remove core.py's docstring", "core.py"), ("update either a.md or b.md", "b.md"), ("create x.md or y.md", "y.md"),
    ("do not touch README.md, fix core.py", "core.py"), ("fix core.py, do not touch README.md or a.md", "core.py"),
    ("never change README.md; update a.md", "a.md"), ("leave README.md alone and fix core.py", "core.py"),
    ("write a script gen.py that reads in.csv and writes out.csv", "gen.py"), ("create report.pdf", "report.pdf"),
    ("set x to 2 in src/keep.py", "src/keep.py"), ("add type hints to src/keep.py and src/keep2.py", "src/keep.py src/keep2.py"),
]  # fmt: skip

JAPANESE: list[tuple[str, str]] = [
    *((text.format("README.md"), "README.md") for text in (
        "{}に一行追加して", "{}を更新して", "{}を修正して", "{}を直して", "{}の誤字を直して", "{}を更新してください", "{}を書き換えて",
        "{}に使い方を追記して", "{}に手順を追記してください", "{}のタイトルを変更して", "「{}」を更新して", "`{}`を更新して",
        "{}を更新してくれますか？", "{}だけを更新して", "{}をすぐに更新して", "急いで{}を更新して", "{}から古い節を削除して",  # noqa: RUF001
        "{}の最初の行を削除して", "{}を整理して", "{}を編集してほしい", "{}にあるfooをbarに置き換えて", "{}内のfooをbarに置換して",
        "core.pyは変更しないで、{}を更新して", "{}を更新して、core.pyには触らないで", "まず{}を更新して", "{} を更新して",
        "readmeを更新して", "{}を改善して", "{}を短くして", "コードを説明して、{}を直して", "{}を英語に翻訳して",
    )),
    *((text.format("notes.md"), "notes.md") for text in (
        "{}を作って", "{}を作成", "{}を作成して", "{}を作成してください", "{}を新規に作成して", "「{}」を作成して", "『{}』を作って",
        "{}という名前のファイルを作って", "{}というファイルを作成してください", "結果を{}に保存して", "README.mdを参考に{}を作成して",
        "data.csvから{}を作成して", "{}を書いて", "新しい{}を作って", "{}を今日中に作成して", "{}にhelloと書いて", "{}を生成して",
        "{}を用意して", "{}を追加して", "`{}`を作ってください", "README.mdをもとに{}を書いて", "結果をまとめて、{}に保存して",
        "README.mdは触らずに{}を作成して", "{}を作ってもらえますか？", "ファイル{}を作って", "./{}を作って", "README.mdを{}にコピーして",  # noqa: RUF001
    )),
    *((text.format("old.txt"), "-old.txt") for text in (
        "{}を削除して", "{}を消して", "{}を削除してください", "「{}」を削除して", "{}をすぐに削除して", "不要な{}を消去して",
        "{}というファイルを削除して", "README.mdは残して、{}を削除して", "{}を取り除いて", "{} を削除",
    )),
    ("readmeを作って", "README.md"), ("README.mdとCHANGELOG.mdを更新して", "README.md CHANGELOG.md"),
    ("x.mdとy.mdを作成して", "x.md y.md"), ("x.md、y.mdを作って", "x.md y.md"), ("docs/新規.mdを作成して", "docs/新規.md"),
    ("新しい概要.mdを作成して", "概要.md"), ("設計.mdを更新して", "設計.md"), ("設計.mdに章を追加して", "設計.md"),
    ("old.txtをnew.txtにリネームして", "-old.txt new.txt"), ("old.txtをdocs/に移動して", "-old.txt docs/old.txt"),
    ("buildフォルダを削除して", "-build/main.o -build/sub/x.o -build/"), ("build/を削除して", "-build/main.o -build/sub/x.o -build/"),
    ("buildを削除して", "-build/main.o -build/sub/x.o -build/"), ("outフォルダを作って", "out/"),
    ("docsを更新して", "docs/guide.md"), ("docsフォルダの誤字を直して", "docs/guide.md"), ("テストを書いて", "tests/test_more.py"),
    ("単体テストを追加して", "tests/test_more.py"), ("古いログを削除して", "-app.log -error.log"),
    ("invoices/core.pyの合計を直して", "invoices/core.py"), ("total.pyのバグを修正して", "invoices/total.py"),
    ("変更履歴を更新して", "CHANGELOG.md"), ("一時ファイルを削除して", "-tmp/x.tmp"), ("*.logを削除して", "-app.log -error.log"),
    ("README.md以外は変更しないで、README.mdを直して", "README.md"), ("core.pyを参照してREADME.mdを更新して", "README.md"),
    ("tests/test_core.pyにテストを追加して", "tests/test_core.py"), ("Makefileを作成", "Makefile"),
]  # fmt: skip

LOOSE: list[tuple[str, str]] = [
    ("fix the bug described in notes.txt", "src/keep.py"), ("add a page about README.md", "docs/new.md"),
    ("Implement a tool that reads in.csv and writes out.csv", "src/tool.py"), ("implement the login", "src/login.py"),
    ("implement what is specified in docs/api.md", "src/api.py"), ("fix the build", "src/keep.py"),
    ("fix the failing tests", "src/keep.py"), ("do not touch README.md and fix the bug", "src/keep.py"),
    ("notes.txtに書いてあるバグを直して", "src/keep.py"), ("make tests/test_core.py pass", "core.py"),
    ("add dark mode", "src/dark.py"), ("バグを直して", "src/keep.py"), ("remove the dead code", "-src/keep.py"),
    ("Fix this crash:\n```\nFile \"core.py\", line 3\n```", "src/keep.py"), ("Add CI/CD", ".github/workflows/ci.yml"),
    ("Build a Next.js app", "src/app.tsx"), ("follow docs/guide.md and add type hints", "src/keep.py"),
]  # fmt: skip
"""Tasks that mention nothing that has to become another: any change may be what was wanted, and none is not enough."""
