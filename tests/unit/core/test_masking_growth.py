"""The time that masking takes grows evenly with the text, whatever it is (P25)."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from orchestrator.core import masking_machine
from tests.unit.core import growth
from tests.unit.core.test_masking import OPENAI

SIZE = 8_192
ROUNDS = 3
BOUND = 2.5
REGISTERED = ("registered-secret-1", "aaaaaaaa-1")


def repeated(unit: str, before: str = "", after: str = "") -> Callable[[int], str]:
    """A text of a length that says one thing again and again."""
    return lambda size: before + unit * (size // len(unit)) + after


HOSTILE: dict[str, Callable[[int], str]] = {
    "equals signs": repeated("="),
    "blanks": repeated(" "),
    "letters": repeated("a"),
    "capitals": repeated("A"),
    "dashes": repeated("-"),
    "quotes": repeated('"'),
    "backslashes": repeated("\\"),
    "brackets": repeated("["),
    "names and blanks": repeated("key" + " " * 1600),
    "a name and blanks": repeated(" ", "token"),
    "blanks around a sign": lambda size: " " * (size // 2) + "=" + " " * (size // 2) + "(",
    "begins of key blocks": repeated("-----BEGIN RSA PRIVATE KEY-----"),
    "begins of key blocks that end at once": repeated("-----BEGIN RSA PRIVATE KEY-----!"),
    "begins and ends": repeated("-----BEGIN RSA PRIVATE KEY-----!" * 9 + "-----END RSA PRIVATE KEY-----"),
    "a key block without end": repeated("A" * 64 + "\n", "-----BEGIN RSA PRIVATE KEY-----\n"),
    "a key block of empty lines": repeated("\n", "-----BEGIN RSA PRIVATE KEY-----\n"),
    "a key block of quotes": repeated('"\n', "-----BEGIN RSA PRIVATE KEY-----\n", "-----END RSA PRIVATE KEY-----"),
    "parts of web tokens": repeated("A.", "eyJ"),
    "begins of web tokens": repeated("eyJ"),
    "web tokens in a row": repeated("eyJaaaaaaaa."),
    "hyphened begins of web tokens": repeated("-eyJaaaa"),
    "colons in a url": repeated(":", "://", "@"),
    "urls": repeated("://a:b"),
    "passwords of urls": repeated("://a:b1@"),
    "begins of keys": repeated("sk-"),
    "keys": repeated(f"{OPENAI} "),
    "keys in a cookie": repeated(f"{OPENAI} ", "Cookie: "),
    "names": repeated("password="),
    "quoted names": repeated('password="'),
    "escaped quotes": repeated('password=\\"'),
    "strings of a key block": repeated('"A",\n', "-----BEGIN RSA PRIVATE KEY-----\n"),
    "backslashes in quotes": repeated("\\", 'password="'),
    "half a parameter": repeated('a="', "Cookie: "),
    "parameters": repeated('a="b"; ', "Cookie: "),
    "headers": repeated("Cookie: a=b; "),
    "schemes": repeated("authorization: Bearer x1 "),
    "bearers": repeated("bearer a1 "),
    "types": repeated("token: string "),
    "masked": repeated("[MASKED:JWT]", "password="),
    "registered": repeated("registered-secret-1"),
    "half registered": repeated("registered-secret-"),
    "almost registered": repeated("a", "", "-1"),
    "at signs": repeated("@"),
    "colons": repeated(":"),
    "slashes": repeated("/"),
    "dots": repeated("."),
    "at signs in a url": repeated("@", "https://u:p"),
    "slashes in a url": repeated("/@", "https://u:p"),
    "quotes in a url": repeated("'a", "https://u:p"),
    "begins of urls": repeated("://"),
    "users": repeated("://a@b "),
    "options": repeated(" -pa"),
    "options of a program": repeated("mysql -pa1 "),
    "long options": repeated("--token a1 "),
    "machines": repeated("machine "),
    "logins": repeated("login a password "),
    "elements": repeated("<password>"),
    "blocks": repeated("password: |\n  a\n"),
    "a block of blank lines": repeated("\n", "password: |\n  a"),
    "folds": repeated(";\n a", "Cookie: a=b"),
    "marks of issuers": repeated("glpat-"),
    "keys of issuers": repeated("glpat-" + "a1B2c3D4" * 3 + " "),
    "references": repeated("token=${"),
    "calls": repeated("token=f("),
    "labels": repeated("password: Mot de passe "),
    "names of words": repeated("ab_", "password="),
    "colours": repeated("\x1b[1m", "TOKEN=a1"),
    "nested": repeated("password='secret=\"token=Bearer "),
    "property lists": repeated("<key>token</key><string>a1"),
    "variables": repeated('variable "token" {default'),
    "changes": repeated('" -> "'),
    "settings": repeated("config set token a1 "),
    "sentences": repeated("password is for a: "),
    "users of a program": repeated("curl --user a:b1 "),
    "labels in another script": repeated("パスワード: a1b2 "),
    "lines of a PuTTY key": repeated("Private-Lines: 1\nAAAA\n"),
    "json": lambda size: json.dumps([{"id": at, "name": f"n{at}", "token": "string"} for at in range(size // 45)]),
}


def masked(text: str) -> None:
    masking_machine.Machine(REGISTERED, keys_only=False).feed(text, final=True)


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_p25_twice_the_text_takes_about_twice_the_time(text: Callable[[int], str]) -> None:
    small, large = text(SIZE), text(2 * SIZE)
    assert growth.least(lambda: growth.growth(masked, small, large, ROUNDS), BOUND) <= BOUND


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_p25_a_hostile_text_hides_no_key_behind_it(text: Callable[[int], str]) -> None:
    machine = masking_machine.Machine(REGISTERED, keys_only=False)
    assert OPENAI not in machine.feed(f"{text(4096)}\n {OPENAI}\n", final=True)
