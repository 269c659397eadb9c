"""INV-2: the type of a task by its words, destructive ones first."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core import task_types
from orchestrator.core.running import types
from orchestrator.errors import UsageError

DESTRUCTIVE = (
    "rm -rf /", "rm -fr build", "rm -r -f x", "rm --recursive x", "sudo rm -Rf /", "rm x -rf",
    "drop table users", "DROP DATABASE x", "truncate the users table", "aws cloudformation delete-stack",
    "terraform destroy", "aws ec2 terminate-instances", "git push --force", "git push origin main -f",
    "git push --force-with-lease", "git -C repo push --force", "git reset --hard HEAD~1", "git reset HEAD --hard",
    "kubectl delete pod x", "kubectl -n prod delete pod x", "docker rm x", "docker rmi x", "docker image rm x",
    "npm unpublish x", "edit .env", "show .env.local", "read config/.env.production", "renew server.pem", "*.key",
    "copy id_rsa", "change /etc/hosts", "clean /usr/local", "look in /var/log", "edit ~/.ssh/config", "ls ~/.aws",
    "データベースを削除して", "テーブルを全部削除", "すべてのファイルを削除して", "強制プッシュして", "rm　-rf /",
)  # fmt: skip
HARMLESS = (
    "git push", "git push -u origin x", "git push --follow-tags", "git reset --soft HEAD", "farm -rf", "undestroyed",
    "process.env.HOME", "src/etc/a", "/etcetera", "https://example.org/etc", "dropdown table", "kubectl get pods",
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


@pytest.mark.parametrize("text", DESTRUCTIVE)
def test_inv2_destructive_words_come_first(text: str) -> None:
    assert (types.detect(text), types.is_destructive(text)) == ("DANGEROUS_OP", True)


@pytest.mark.parametrize("text", HARMLESS)
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
    assert types.settle(given_, "rm -rf /") == given_


def test_without_a_given_type_the_words_count() -> None:
    assert types.settle(None, "rm -rf /") == "DANGEROUS_OP"


@pytest.mark.parametrize("value", ["read_info", "UNKNOWN_TYPE", "", None, 5, " REPORT"])
def test_any_other_type_is_refused(value: object) -> None:
    with pytest.raises(UsageError) as problem:
        types.check(value)
    assert (problem.value.code, problem.value.data["allowed"]) == ("INVALID_TASK_TYPE", list(task_types.TYPES))


@given(st.text(), st.sampled_from(DESTRUCTIVE), st.text())
def test_inv2_no_text_around_it_hides_a_destructive_operation(before: str, words: str, after: str) -> None:
    assert types.detect(f"{before}\n{words}\n{after}") == "DANGEROUS_OP"


@given(st.text())
def test_every_text_has_a_known_type(text: str) -> None:
    assert types.detect(text) in task_types.TYPES


@pytest.mark.parametrize("unit", ["rm ", "git -a ", "git push ", "drop ", "please ", "すべて", "a", ".env", " ", "?"])
def test_long_texts_take_linear_time(unit: str) -> None:
    begun = time.process_time()
    types.detect(unit * 10_000)
    assert time.process_time() - begun < 1
