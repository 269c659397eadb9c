"""INV-2: the type of a task by its words, destructive ones first."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core import task_types
from orchestrator.core.running import types
from orchestrator.errors import UsageError
from tests.cases import every
from tests.unit.core import growth

DESTRUCTIVE = (
    "rm -rf /", "rm -fr build", "rm -r -f x", "rm --recursive x", "sudo rm -Rf /", "rm x -rf",
    "drop table users", "DROP DATABASE x", "truncate the users table", "aws cloudformation delete-stack",
    "terraform destroy", "aws ec2 terminate-instances", "git push --force", "git push origin main -f",
    "git push --force-with-lease", "git -C repo push --force", "git reset --hard HEAD~1", "git reset HEAD --hard",
    "kubectl delete pod x", "kubectl -n prod delete pod x", "docker rm x", "docker rmi x", "docker image rm x",
    "npm unpublish x", "edit .env", "show .env.local", "read config/.env.production", "renew server.pem", "*.key",
    "copy id_rsa", "change /etc/hosts", "clean /usr/local", "look in /var/log", "edit ~/.ssh/config", "ls ~/.aws",
    "format the disk", "Format the hard drive please", "reformat /dev/sda1", "format my USB stick and reinstall",
    "format c:", "wipe the disk", "erase the whole drive", "zero out the partition", "overwrite the boot sector",
    "delete all files", "Delete all the files in the folder", "remove every file", "delete all of my files",
    "erase all data", "remove all user data", "delete everything", "get rid of everything in here",
    "delete all temporary files", "rm all files", "delete all users", "purge all customer records", "wipe all backups",
    "delete all branches", "delete all rows", "delete all logs from the server", "delete the entire project",
    "wipe the database", "Wipe the production database now", "delete the database", "remove the db",
    "empty the bucket", "delete the s3 bucket", "reset the database", "clear the database", "drop the db",
    "drop the production db", "drop the old users table", "drop the email column", "truncate all tables",
    "drop table if exists users;", "delete from users;", "DELETE FROM users WHERE 1=1", "delete production data",
    "take care: drop prod", "tear down production", "overwrite the live server", "delete the repository",
    "wipe the server", "nuke my home directory", "erase the git history", "rewrite git history",
    "terminate all instances",
    "force push to main", "force-push the branch", "hard reset to origin/main", "git clean -fdx", "git branch -D x",
    "git push origin --delete x", "git push origin -d x", "git filter-branch x", "git stash clear",
    "mkfs.ext4 /dev/sdb",
    "dd if=/dev/zero of=/dev/sda", "shred -u secret", "find . -name '*.c' -delete", "del /f /s *.*", "rd /s /q c:\\x",
    "Remove-Item x -Recurse", "docker system prune", "docker volume prune -f", "helm uninstall x", "gh repo delete x",
    "aws rds delete-db-instance x", "aws s3 rm s3://b --recursive", "gcloud projects delete x", "redis-cli FLUSHALL",
    "rails db:drop", "prisma migrate reset", "dropdb x", "crontab -r",
    "本番DBをdrop", "本番DBをdropして", "本番データベースを削除", "全ファイルを削除", "全ファイルを削除してください",
    "全てのファイルを消して", "ファイルを全部削除して", "ファイルをすべて消去", "全データを消して", "データを全て削除",
    "全部消して", "ディスクをフォーマット", "ディスクをフォーマットして", "ハードディスクを初期化して",
    "ドライブを消去して", "テーブルをドロップして", "テーブルをtruncate", "DBを初期化", "DBの中身を消して",
    "本番環境を削除して", "バックアップを削除", "リポジトリを削除して", "サーバーを初期化して", "全ユーザーを削除",
    "ユーザーを全員削除して", "フォルダごと削除して", "ホームディレクトリを削除", "コミット履歴を書き換えて",
    "ハードリセットして", "何もかも消して", "データベースを丸ごと削除して",
    "データベースを削除して", "テーブルを全部削除", "すべてのファイルを削除して", "強制プッシュして", "rm　-rf /",
)  # fmt: skip
HARMLESS = (
    "git push", "git push -u origin x", "git push --follow-tags", "git reset --soft HEAD", "farm -rf", "undestroyed",
    "process.env.HOME", "src/etc/a", "/etcetera", "https://example.org/etc", "dropdown table", "kubectl get pods",
    "format the code", "format all files", "reformat src/a.py", "format the date", "format the disk usage as a table",
    "format the disk image name", "delete the unused import", "delete all unused imports", "remove all warnings",
    "remove all comments", "remove all logs from app.py", "remove all tables from the docs", "remove all images",
    "drop shadow on the button", "add a drop shadow on the table", "drop support for the old database",
    "drop the redundant parameter", "truncate the title to 80 characters", "truncate the table cell text",
    "delete the database comment", "remove the database connection code", "delete the user database test",
    "remove the file old.txt", "delete old.txt", "delete the column header", "remove the table in README.md",
    "clear the cache", "reset the form", "clear the input", "empty the list", "wipe transition", "erase the canvas",
    "remove the production build script", "deploy to production", "delete the project name from the title",
    "delete the last row", "remove the user from the list", "clean the code", "remove everything about it from a.md",
    "git branch -d x", "git branch", "git clean -n", "git stash", "git rebase main", "docker ps", "helm list",
    "find . -name x", "aws s3 ls", "delete-button", "explain from where", "push the force field",
    "コードをフォーマットして", "未使用のimportを削除して", "ドロップシャドウを追加", "ドロップダウンを削除して",
    "全角スペースを削除", "テーブルの列幅を修正して", "データベース接続を修正して", "データベースの設計を説明して",
    "old.txtを削除して", "キャッシュをクリアして", "フォームをリセット", "全体を修正して", "バックアップを作成して",
    "リポジトリを作って", "日付をフォーマットして", "サーバーを起動して", "全ファイルをフォーマットして",
    "docker run x", "npm publish", "an id_rsa_like word", "the environment",
)  # fmt: skip
OTHERS = [
    ("what is the architecture of this project?", "READ_INFO"), ("handle the user data", "READ_INFO"),
    ("", "READ_INFO"), ("アーキテクチャは何ですか", "READ_INFO"), ("修正方法を教えて", "READ_INFO"),
    ("How do I create a file?", "READ_INFO"), ("修正しています", "READ_INFO"), ("please explain the code", "READ_INFO"),
    ("Is it done\uff1f", "READ_INFO"), ("the cat sat", "READ_INFO"),
    ("summarize the code", "REPORT"), ("レポートを書いて", "REPORT"), ("Write a report on the tests", "REPORT"),
    ("テスト結果をまとめて", "REPORT"),
    ("Implement the report module", "IMPLEMENTATION"), ("Create report.py", "IMPLEMENTATION"),
    ("Create README.md", "IMPLEMENTATION"), ("readmeを作って", "IMPLEMENTATION"), ("テストを追加", "IMPLEMENTATION"),
    ("Can you create README.md?", "IMPLEMENTATION"), ("README.mdを作ってくれますか？", "IMPLEMENTATION"),  # noqa: RUF001
    ("Fix the typo in README.md", "LIGHT_EDIT"), ("何か修正して", "LIGHT_EDIT"), ("rename a to b", "LIGHT_EDIT"),
    ("address the review comments", "REVIEW_RESPONSE"), ("レビュー指摘に対応して", "REVIEW_RESPONSE"),
    ("update the CI pipeline", "CONFIG_CI_CHANGE"), ("設定を変更して", "CONFIG_CI_CHANGE"),
    ("Add .github/workflows/ci.yml", "CONFIG_CI_CHANGE"),
]  # fmt: skip

ORDERS = [
    ("explain the code and fix the bug in src/a.py", "LIGHT_EDIT"), ("deploy to production", "IMPLEMENTATION"),
    ("set x to 2 in src/a.py", "LIGHT_EDIT"), ("install requests", "IMPLEMENTATION"), ("tidy up", "LIGHT_EDIT"),
    ("git commit everything", "IMPLEMENTATION"), ("pip install requests", "IMPLEMENTATION"),
    ("notes.md needs to exist with hello in it", "IMPLEMENTATION"), ("notes.md must contain hello", "IMPLEMENTATION"),
    ("There should be a notes.md", "IMPLEMENTATION"), ("Make sure notes.md exists", "IMPLEMENTATION"),
    ("Does the test pass? If not, repair it", "LIGHT_EDIT"), ("show me src/a.py, then delete it", "IMPLEMENTATION"),
    ("What does it do? Then rename it.", "LIGHT_EDIT"), ("read a.py; deploy it", "IMPLEMENTATION"),
    ("Why does it fail and can you fix it?", "LIGHT_EDIT"), ("explain what the bug is and fix it", "LIGHT_EDIT"),
    ("find the cause and mend it", "LIGHT_EDIT"),
    ("Look at a.py, install what it needs", "IMPLEMENTATION"), ("do it", "LIGHT_EDIT"),
    ("How is it built?\nPublish the package.", "IMPLEMENTATION"), ("please push the branch", "IMPLEMENTATION"),
    ("summarize the code and install requests", "IMPLEMENTATION"), ("enable dark mode", "IMPLEMENTATION"),
    ("Write a report on the tests and commit it", "IMPLEMENTATION"), ("translate a.md to German", "IMPLEMENTATION"),
    ("put hello into notes.md", "IMPLEMENTATION"), ("save the answer as notes.md", "IMPLEMENTATION"),
    ("I want you to set the limit to 5", "LIGHT_EDIT"), ("Optimize the loop", "IMPLEMENTATION"),
    ("upgrade all dependencies", "IMPLEMENTATION"), ("release version 2", "IMPLEMENTATION"),
    ("run the tests and commit the result", "IMPLEMENTATION"), ("revert the last commit", "IMPLEMENTATION"),
    ("コードを説明して、デプロイして", "IMPLEMENTATION"), ("requestsをインストールして", "IMPLEMENTATION"),
    ("全部コミットしてください", "IMPLEMENTATION"), ("コードを片付けて", "IMPLEMENTATION"),
    ("本番にデプロイ", "IMPLEMENTATION"), ("テストは通りますか？通らなければ直して", "LIGHT_EDIT"),  # noqa: RUF001
    ("xを2に書き換えて", "IMPLEMENTATION"), ("結果をまとめて、notes.mdに保存して", "REPORT"),
]  # fmt: skip
ASKED = [
    "How do I build and install it?", "how to build and install it", "explain how to build and install it",
    "explain the build and release process", "describe the create and update endpoints",
    "explain the difference between fetch and pull", "what is the difference between add and commit?",
    "list the functions that read and write files", "what does git commit do?", "show the install steps",
    "Is it set to 2?", "which files does it create and delete?", "why is deploy slow?", "tell me about the update",
    "Does it install requests?", "what happens when I push and then merge?", "How can I set x to 2?",
    "explain this error:\nfix me: install requests\nDelete failed", "Explain:\n```\ninstall requests\n```",
    "インストール方法を教えて", "デプロイの手順を説明して", "どうやってコミットしますか", "設定はどこですか",
    "Explain what happens on delete, update, and insert.", "describe how we deploy, install and configure it",
    "Explain the steps: install, configure, deploy.", "Explain how it builds and if it installs", "open a.py",
    "list all TODOs and open issues", "Can you explain how it works?", "Could you check if it builds and installs?",
    "Which package should I install, and why?", "What is in a.py, b.py and the set of tests?",
]  # fmt: skip
UNSURE = [
    "Lege notes.md an", "the cat sat", "handle the user data", "run the tests", "Explain it. Then frobnicate it.",
    "explain it, then frobnicate it", "", "please do the migration", "Ajoute notes.md",
    "git status", "tell me what it does and commit",
]  # fmt: skip


@every(("text", "expected"), ORDERS)
def test_a_clause_that_orders_a_change_makes_a_task_of_change(text: str, expected: str) -> None:
    """Source: seed 001, Property 8."""
    assert types.settle(None, text) == types.Settled(expected, guessed=False)


@every("text", ASKED)
def test_verbs_of_change_within_a_question_order_nothing(text: str) -> None:
    assert types.detect(text) == "READ_INFO"


@pytest.mark.parametrize("text", UNSURE)
def test_what_no_word_tells_is_a_question_by_guess(text: str) -> None:
    assert types.settle(None, text) == types.Settled("READ_INFO", guessed=True)


@every("text", DESTRUCTIVE)
def test_inv2_destructive_words_come_first(text: str) -> None:
    assert (types.detect(text), types.is_destructive(text)) == ("DANGEROUS_OP", True)


@every("text", HARMLESS)
def test_inv2_words_that_only_look_destructive_are_not(text: str) -> None:
    assert not types.is_destructive(text)


@pytest.mark.parametrize(("text", "expected"), OTHERS)
def test_a_task_has_the_type_that_its_words_show(text: str, expected: str) -> None:
    assert types.detect(text) == expected


@pytest.mark.parametrize("text", [f"Write a report: {text}" for text in DESTRUCTIVE[:4]])
def test_inv2_other_words_hide_nothing(text: str) -> None:
    assert types.detect(text) == "DANGEROUS_OP"


@pytest.mark.parametrize("given_", task_types.TYPES)
def test_the_type_that_the_caller_gives_counts(given_: str) -> None:
    assert types.settle(given_, "rm -rf /") == types.Settled(given_, guessed=False)


def test_without_a_given_type_the_words_count() -> None:
    assert types.settle(None, "rm -rf /").type == "DANGEROUS_OP"


@pytest.mark.parametrize("value", ["read_info", "UNKNOWN_TYPE", "", None, 5, " REPORT"])
def test_any_other_type_is_refused(value: object) -> None:
    with pytest.raises(UsageError) as problem:
        types.check(value)
    assert (problem.value.code, problem.value.data["allowed"]) == ("INVALID_TASK_TYPE", list(task_types.TYPES))


@given(st.text(), st.sampled_from(DESTRUCTIVE), st.text())
def test_inv2_no_text_around_it_hides_a_destructive_operation(before: str, words: str, after: str) -> None:
    assert types.detect(f"{before}\n{words}\n{after}") == "DANGEROUS_OP"


VERBS = ("delete", "erase", "wipe", "purge", "nuke")
MASSES = ("all files", "all the data", "every file", "the database", "the production db", "everything",
          "the whole project")  # fmt: skip
ENDS = ("", ".", " now", " in the folder", ", then start again", " from the server", "!", "\nand stop")
SMALL = ("unused import", "trailing blank", "second paragraph", "old comment", "database comment", "production flag")


STARTS = ("", "Please ", "now, ")


@given(st.sampled_from(VERBS), st.sampled_from(MASSES), st.sampled_from(ENDS), st.sampled_from(STARTS))
def test_inv2_every_verb_that_destroys_with_every_mass_is_destructive(
    verb: str, mass: str, end: str, start: str
) -> None:
    assert types.detect(f"{start}{verb} {mass}{end}") == "DANGEROUS_OP"


@given(st.sampled_from((*VERBS, "remove", "format", "drop")), st.sampled_from(SMALL), st.sampled_from(ENDS[:6]))
def test_inv2_the_same_verbs_with_small_things_are_not(verb: str, small: str, end: str) -> None:
    assert not types.is_destructive(f"{verb} the {small}{end}")


@given(st.text())
def test_every_text_has_a_known_type(text: str) -> None:
    assert types.detect(text) in task_types.TYPES


@pytest.mark.parametrize(
    "unit",
    [
        "rm ", "git -a ", "git push ", "drop ", "please ", "すべて", "a", ".env", "delete all ",
        "explain it, then ", "install ", "git -a -b ", "and set x ", "how to do it and ", "a = ", "x to ",
        "please then ", "コードを", "format the ", "wipe x ", "データを", "全ファイル", "aws ", "find . ", "drop a ",
        " ", "?", "\n", "rm\n",
    ],
)  # fmt: skip
def test_long_texts_take_linear_time(unit: str) -> None:
    assert growth.is_even(types.detect, unit, 1_200)
