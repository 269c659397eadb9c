"""What is masked, what never is, and what stays readable around it (P24, P25)."""

from __future__ import annotations

import base64
import functools
import html
import json
import re
import urllib.parse
from collections.abc import Callable
from typing import Any

import pytest

from orchestrator.core import masking
from tests.cases import every

OPENAI = "sk-proj-" + "aB3dE6gH" * 4
ANTHROPIC = "sk-ant-api03-" + "bC4fG7hJ" * 4
SHA = "14ae301c9b7f4d2e8a6c5b3d1f0e9a8b7c6d5e4f"
DIGEST = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
UUID = "123e4567-e89b-42d3-a456-426614174000"
JWT = "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiJ4IiwiZXhwIjoxfQ." + "A" * 43
JWE = "eyJhbGciOiJkaXIiLCJlbmMiOiJBMTI4R0NNIn0..aXZpdml2aXZpdml2." + "Y2lwaGVy" * 6 + ".dGFndGFndGFn"
LINES = "\n".join("MIIEpAIBAAKCAQEA7bq2X9vT0cZk1mQh8sLr5uWy4nPd3fGj6aEoRtYiUxCvBnMz"[: 64 - k] for k in (0, 0, 0, 23))
DATA = f"\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123456789ABCDEF\n\n{LINES}"


def block(label: str, body: str = f"\n{LINES}\n") -> str:
    return f"-----BEGIN {label}-----{body}-----END {label}-----"


KEYS = {
    "openai": (OPENAI, "OPENAI_KEY"),
    "openai of twenty characters": ("sk-" + "a" * 20, "OPENAI_KEY"),
    "openai service account": ("sk-svcacct-" + "Qw3" * 9, "OPENAI_KEY"),
    "anthropic": (ANTHROPIC, "ANTHROPIC_KEY"),
    "anthropic of lower case": ("sk-ant-api03-" + "b" * 20, "ANTHROPIC_KEY"),
    "google": ("AIza" + "Sy_D-e4" * 5, "API_KEY"),
    "amazon": ("AKIA" + "ABCDEFGHIJKLMNOP", "API_KEY"),
    "amazon, for a session": ("ASIA" + "2345ABCDEFGHIJKL", "API_KEY"),
    **{f"github gh{kind}": (f"gh{kind}_" + "a1B2" * 9, "API_KEY") for kind in "pousr"},
    "github fine-grained": ("github_pat_" + "11ABCDEFG0" * 6, "API_KEY"),
    "slack": ("xoxb-" + "123456789012-1234567890123-AbCdEfGhIjKl", "API_KEY"),
    "gitlab": ("glpat-" + "xY3_-" * 4, "API_KEY"),
    "npm": ("npm_" + "aB1" * 12, "API_KEY"),
    "pypi": ("pypi-AgEIcHlwaS5vcmc" + "CJ-_1" * 10, "API_KEY"),
    "hugging face": ("hf_" + "aBcD" * 8 + "ef", "API_KEY"),
    "groq": ("gsk_" + "aB3d" * 13, "API_KEY"),
    "stripe": ("sk_live_" + "51aB" * 6, "API_KEY"),
    "stripe, restricted": ("rk_live_" + "51aB" * 6, "API_KEY"),
    "webhook of stripe": ("whsec_" + "a+B/" * 8, "API_KEY"),
    "sendgrid": ("SG." + "aB1_-x" * 3 + "aaaa." + "cD2-_" * 8 + "eee", "API_KEY"),
    "digitalocean": ("dop_v1_" + "0a1f" * 16, "API_KEY"),
    "shopify": ("shpat_" + "0a1F" * 8, "API_KEY"),
    "docker": ("dckr_pat_" + "aB-_1" * 5 + "xy", "API_KEY"),
    "google client": ("GOCSPX-" + "aB-_" * 7, "API_KEY"),
    "google access": ("ya29." + "a0Af_-" * 8, "API_KEY"),
    "slack app": ("xapp-1-" + "A0B1C2D3E4F-1234567890123-" + "ab12" * 8, "API_KEY"),
    "grafana": ("glsa_" + "aB1c" * 8 + "_0a1b2c3d", "API_KEY"),
    "vault": ("hvs." + "CAES-_1x" * 4, "API_KEY"),
    "rsa": (block("RSA PRIVATE KEY"), "PRIVATE_KEY"),
    "ec": (block("EC PRIVATE KEY"), "PRIVATE_KEY"),
    "plain": (block("PRIVATE KEY"), "PRIVATE_KEY"),
    "encrypted": (block("ENCRYPTED PRIVATE KEY"), "PRIVATE_KEY"),
    "openssh": (block("OPENSSH PRIVATE KEY"), "PRIVATE_KEY"),
    "pgp": (block("PGP PRIVATE KEY BLOCK", f"\nVersion: 1\n\n{LINES}\n=aB3d\n"), "PRIVATE_KEY"),
    "with fields": (block("RSA PRIVATE KEY", f"{DATA}\n"), "PRIVATE_KEY"),
    "newlines as two characters": (block("PRIVATE KEY").replace("\n", "\\n"), "PRIVATE_KEY"),
    "in one line": (block("PRIVATE KEY").replace("\n", " "), "PRIVATE_KEY"),
    "abridged": (block("RSA PRIVATE KEY", "\nMIIE...\n"), "PRIVATE_KEY"),
    "added by a diff": (block("EC PRIVATE KEY").replace("\n", "\n+"), "PRIVATE_KEY"),
    "removed by a diff": (block("EC PRIVATE KEY").replace("\n", "\n-"), "PRIVATE_KEY"),
    "strings in a list": (block("PRIVATE KEY").replace("\n", '", "'), "PRIVATE_KEY"),
    "strings put together": (block("PRIVATE KEY").replace("\n", '\\n" +\n  "'), "PRIVATE_KEY"),
    "ssh2": (
        f"---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\n{LINES}\n---- END SSH2 ENCRYPTED PRIVATE KEY ----",
        "PRIVATE_KEY",
    ),
    "its first line alone": ("-----BEGIN ENCRYPTED PRIVATE KEY-----", "PRIVATE_KEY"),
    "cut without end": (f"-----BEGIN RSA PRIVATE KEY-----\n{LINES[:150]}", "PRIVATE_KEY"),
    "fields, cut without end": (f"-----BEGIN RSA PRIVATE KEY-----{DATA[:190]}", "PRIVATE_KEY"),
}
LONG_KEYS = {
    "longer than any": (block("PRIVATE KEY", f"\n{LINES}" * 90 + "\n"), "PRIVATE_KEY"),
    "strings in a list, longer than any": (
        block("PRIVATE KEY", f"\n{LINES}" * 90 + "\n").replace("\n", '","'),
        "PRIVATE_KEY",
    ),
    "one line, longer than any": (block("PRIVATE KEY", "\n" + "aB3d" * 5000 + "\n=aB3d\n"), "PRIVATE_KEY"),
}
"""Blocks whose end is too far away to be looked for."""
every_key = pytest.mark.parametrize(("secret", "token"), KEYS.values(), ids=KEYS)


@every_key
def test_p25_a_key_is_masked_where_it_stands_alone(secret: str, token: str) -> None:
    assert masking.mask(f"key {secret}") == f"key [MASKED:{token}]"


@every_key
def test_p24_a_key_is_masked_before_anything_is_stored(secret: str, token: str) -> None:
    assert masking.mask_keys(f"<{secret}") == f"<[MASKED:{token}]"


@every_key
def test_p25_a_key_keeps_its_own_token_behind_a_name(secret: str, token: str) -> None:
    assert masking.mask(f'{{"key": "{secret}"}}') == f'{{"key": "[MASKED:{token}]"}}'


@pytest.mark.parametrize(("secret", "token"), LONG_KEYS.values(), ids=LONG_KEYS)
def test_p24_a_key_block_of_any_length_is_masked_up_to_its_end(secret: str, token: str) -> None:
    assert masking.mask_keys(f"a {secret} b") == f"a [MASKED:{token}] b"


MASKED = {
    "database password": ("DATABASE_PASSWORD=x", "DATABASE_PASSWORD=[MASKED:ENV_CREDENTIAL]"),
    "environment": (f"X_TOKEN={SHA[:12]}", "X_TOKEN=[MASKED:ENV_CREDENTIAL]"),
    "git sha behind a name": (f"API_TOKEN={SHA} ok", "API_TOKEN=[MASKED:ENV_CREDENTIAL] ok"),
    "exported": ("export X_TOKEN='a b1' y", "export X_TOKEN='[MASKED:ENV_CREDENTIAL]' y"),
    "in a diff": (
        "+MY_API_KEY=aB3aB3aB3\n-MY_API_KEY=cD4",
        "+MY_API_KEY=[MASKED:ENV_CREDENTIAL]\n-MY_API_KEY=[MASKED:ENV_CREDENTIAL]",
    ),
    "password with marks of a query": ("DB_PASSWORD=a&b#c;d e", "DB_PASSWORD=[MASKED:ENV_CREDENTIAL] e"),
    "bearer": ("Bearer abc.def", "Bearer [MASKED:BEARER_TOKEN]"),
    "bearer, written small, at the end of a sentence": ("with bearer a1b2c3.", "with bearer [MASKED:BEARER_TOKEN]."),
    "password": ("password: hunter2", "password: [MASKED:GENERIC_SECRET]"),
    "one letter": ("api_key=x", "api_key=[MASKED:GENERIC_SECRET]"),
    "secret in quotes": ('secret = "x y"', 'secret = "[MASKED:GENERIC_SECRET]"'),
    "prefixed name": ("db_password=abc123", "db_password=[MASKED:GENERIC_SECRET]"),
    "marks around the value": ("(password: hunter2), next", "(password: [MASKED:GENERIC_SECRET]), next"),
    "in bold": ("**Password:** hunter2", "**Password:** [MASKED:GENERIC_SECRET]"),
    "bytes of Python": ("password=b'hunter2')", "password=b'[MASKED:GENERIC_SECRET]')"),
    "argument of a call": ("secret = Secret('hunter2')", "secret = Secret('[MASKED:GENERIC_SECRET]')"),
    "three quotes": ('secret = """hunter2"""', 'secret = """[MASKED:GENERIC_SECRET]"""'),
    "indexed": ('os.environ["API_KEY"] = "abc1"', 'os.environ["API_KEY"] = "[MASKED:GENERIC_SECRET]"'),
    "typed": ('token: string = "abc123";', 'token: string = "[MASKED:GENERIC_SECRET]";'),
    "typed, without quotes": ("token: str = abc123 x", "token: str = [MASKED:GENERIC_SECRET] x"),
    "json": ('{"password": "hunter2hunter2"}', '{"password": "[MASKED:JSON_CREDENTIAL]"}'),
    "json, camel case": ('{"clientSecret":"a b1","n":1}', '{"clientSecret":"[MASKED:JSON_CREDENTIAL]","n":1}'),
    "json with escapes": (r'{"password": "a\"b\\", "n": 1}', r'{"password": "[MASKED:JSON_CREDENTIAL]", "n": 1}'),
    "json in json": (
        r'{"a":"{\"password\": \"ab\\\"cd12\", \"x\": 1}"}',
        r'{"a":"{\"password\": \"[MASKED:JSON_CREDENTIAL]\", \"x\": 1}"}',
    ),
    "json over lines": ('{"password" :\n  "hunter2"}', '{"password" :\n  "[MASKED:JSON_CREDENTIAL]"}'),
    "json number": ('{"password": 12345678, "n": 1}', '{"password": [MASKED:JSON_CREDENTIAL], "n": 1}'),
    "python mapping": ("{'api_key': 'abc12', 'n': 1}", "{'api_key': '[MASKED:JSON_CREDENTIAL]', 'n': 1}"),
    "smtp": (
        '{"smtp_pass": "abc12"} SMTP_PASS=x1',
        '{"smtp_pass": "[MASKED:JSON_CREDENTIAL]"} SMTP_PASS=[MASKED:ENV_CREDENTIAL]',
    ),
    "credentials": ("GOOGLE_CREDENTIALS=a1b2", "GOOGLE_CREDENTIALS=[MASKED:ENV_CREDENTIAL]"),
    "unfinished": ('password: "hunter2 and\nnext', 'password: "[MASKED:GENERIC_SECRET]\nnext'),
    "url": ("postgres://u:s3cr@t@host:5432/db", "postgres://u:[MASKED:GENERIC_SECRET]@host:5432/db"),
    "password of a url that has no end": (f"http://u:{'a1' * 600} x", "http://u:[MASKED:GENERIC_SECRET] x"),
    "names in a long cookie": (f"Cookie: a={'token=x1; ' * 200}\nx", "Cookie: [MASKED:COOKIE]\nx"),
    "escapes before a quote": (r'{"a":"password=hunter2\"}', r'{"a":"password=[MASKED:GENERIC_SECRET]\"}'),
    "header": ("Authorization: Basic dXNlcjpwYXNz\nx", "Authorization: Basic [MASKED:AUTH_HEADER]\nx"),
    "header in json": (
        '{"Authorization": "Bearer abcdefghijklmnop"}',
        '{"Authorization": "Bearer [MASKED:AUTH_HEADER]"}',
    ),
    "header in quotes": (
        "curl -H 'Authorization: token a1b2' http://x",
        "curl -H 'Authorization: token [MASKED:AUTH_HEADER]' http://x",
    ),
    "header of another scheme": ("Authorization: Own a1 b2\nx", "Authorization: [MASKED:AUTH_HEADER]\nx"),
    "header with parameters": (
        'Authorization: Digest user="a", response="b1c2"\nx',
        "Authorization: Digest [MASKED:AUTH_HEADER]\nx",
    ),
    "header in escaped text": (
        r'{"log":"Authorization: Bearer a1b2\nnext","n":1}',
        r'{"log":"Authorization: Bearer [MASKED:AUTH_HEADER]\nnext","n":1}',
    ),
    "header in a list": ("map[Authorization:[Bearer a1b2]]", "map[Authorization:[Bearer [MASKED:AUTH_HEADER]"),
    "proxy header": ("proxy-authorization=Basic a1b2", "proxy-authorization=Basic [MASKED:AUTH_HEADER]"),
    "cookie": ("Cookie: a=b; c=d\nx", "Cookie: [MASKED:COOKIE]\nx"),
    "cookie with quotes": ('Cookie: a="b c"; d=e\nx', "Cookie: [MASKED:COOKIE]\nx"),
    "cookie in json": ('{"msg":"Cookie: a=b; c=d","n":1}', '{"msg":"Cookie: [MASKED:COOKIE]","n":1}'),
    "set-cookie": ("Set-Cookie: a=b; Path=/; HttpOnly\nx", "Set-Cookie: [MASKED:SET_COOKIE]\nx"),
    "jwt": (f"got {JWT}, ok", "got [MASKED:JWT], ok"),
    "jwe": (f"got {JWE} ok", "got [MASKED:JWT] ok"),
    "jwt without its third part": (JWT.rpartition(".")[0] + " x", "[MASKED:JWT] x"),
    "in a query": (
        f"https://h/cb?code=1&access_token={JWT}&state=keep#id_token={JWT}&x=1",
        "https://h/cb?code=1&access_token=[MASKED:JWT]&state=keep#id_token=[MASKED:JWT]&x=1",
    ),
    "api key in a query": (
        "GET /a?api_key=" + "K3" * 16 + " HTTP/1.1",
        "GET /a?api_key=[MASKED:GENERIC_SECRET] HTTP/1.1",
    ),
    "percent-encoded": ("token=%65%79abc&x=1", "token=[MASKED:GENERIC_SECRET]&x=1"),
    "client secret": ("client_secret=a1b2;x", "client_secret=[MASKED:GENERIC_SECRET];x"),
    "password in a query": ("POST u=a&password=b1&c=d", "POST u=a&password=[MASKED:GENERIC_SECRET]&c=d"),
    "key behind a coloured prompt": (f"\x1b[31m{OPENAI}\x1b[0m", "\x1b[31m[MASKED:OPENAI_KEY]\x1b[0m"),
    "key behind an escape": (rf'{{"a":"x\n{OPENAI}"}}', r'{"a":"x\n[MASKED:OPENAI_KEY]"}'),
    "key in a password": (
        f"password: 'a {OPENAI} b'",
        "password: '[MASKED:GENERIC_SECRET][MASKED:OPENAI_KEY][MASKED:GENERIC_SECRET]'",
    ),
    "key in a header": (f"Authorization: Bearer {OPENAI}", "Authorization: Bearer [MASKED:OPENAI_KEY]"),
    "key in a cookie": (f"Cookie: a={OPENAI}; b=c", "Cookie: [MASKED:COOKIE][MASKED:OPENAI_KEY][MASKED:COOKIE]"),
    "value behind a masked one": ("password=[MASKED:JWT]hunter2", "password=[MASKED:JWT][MASKED:GENERIC_SECRET]"),
    "text behind a cut key": (
        f"-----BEGIN RSA PRIVATE KEY-----\n{LINES[:150]}\nKilled by signal 9.",
        "[MASKED:PRIVATE_KEY]\nKilled by signal 9.",
    ),
}


@every(("text", "shown"), MASKED.values(), ids=MASKED)
def test_p25_a_secret_is_masked_and_what_is_around_it_stays(text: str, shown: str) -> None:
    assert masking.mask(text) == shown


HARMLESS = {
    "nothing": "",
    "short key": "key sk-" + "a" * 19,
    "git sha": f"fixed in {SHA}",
    "git sha in json": f'{{"hash":"{SHA}","message":"Fix A"}}',
    "git sha in a variable": f"REF={SHA} && git show $REF:src/a.py",
    "digest": f"sha256:{DIGEST}",
    "index line": "index 83db48f..bf269f4",
    "uuid": f"run {UUID} of session-{UUID}",
    "session and task ids": "task-1700000000000 [log: task-001] session_id=S1 risk-aaaaaaaaaaaaaaaaaaaaaaaa",
    "paths": "/etc/passwd ~/.ssh/known_hosts src/token.py:12 C:\\Users\\x",
    "a path where a secret could be": "secret: /run/secrets/db_password",
    "monkey": "monkey=banana",
    "passwordless": "passwordless login",
    "keyboard": "use keyboard: qwerty",
    "required": "password: required",
    "string": "token: string;",
    "None": "secret = None",
    "true": '{"token": true, "password": "string", "api_key": ""}',
    "branch": "git branch sk-refactor-the-login-page-again",
    "folder": "cd x && pwd=/home/x",
    "folder in an environment": "PWD=/home/x/MyProject_2\nOLDPWD=/tmp\n",
    "counts": '{"max_tokens": 4096, "total_tokens": 12, "pass": 3}',
    "test summary": "pass: 12, fail: 0",
    "structure": '{"password": {"type": "string"}, "secret": [], "token": {}}',
    "url without password": "http://localhost:3000/a?b=c@d git@github.com:x/y.git https://user@host/",
    "placeholder in a url": "postgres://user:password@host/db",
    "literals of Go": "token := scanner.Token{Kind: 3}; secret := &Secret{}; password: Password{value: 1}",
    "prose on bearers": "the bearer of bad news, a bearer certificates; Bearer authentication; Bearer token",
    "server's question": 'WWW-Authenticate: Bearer realm="x"',
    "prose on headers": "Authorization: the process by which; cookie: yes",
    "header without credentials": "Authorization: Bearer token",
    "certificate": "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
    "public key": "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQ== me",
    "abbreviated token": "eyJhbGciOi... and eyJ0 and eyJhbGciOiJIUzI1NiJ9 alone",
    "greeting": "xoxo-hugs-and-kisses",
    "npm's variables": "npm_config_registry=https://registry.npmjs.org npm_lifecycle_event=test npm_package_json",
    "names that begin as keys do": "hf_hub_download(x) gsk_parse hvs.example.org glsa_table_of_contents_of_the_book",
    "message": "MSG.warn SG.a.b SG.this-is-a-name.and-another-one-that-is-longer pypi-AgEd",
    "words behind an issuer": "glpat-of-some-lower-case-words-that-are-long dckr_pat_of_some_lower_case_words",
    "published": "pk_live_abc sk_live_ sk_live_short whsec_ ya29. xapp-desktop-application-launcher",
    "other keys": "primary_key=12 cache_key: a1b2 publicKey = 3",
    "masked": "key [MASKED:OPENAI_KEY] Cookie: [MASKED:COOKIE]",
    "scope operator": "token::new(1) secret::x",
}


@every("text", HARMLESS.values(), ids=HARMLESS)
def test_p25_ordinary_text_stays_as_it_is(text: str) -> None:
    assert masking.mask(text) == text
    assert masking.mask_keys(text) == text


@every("value", ["required", "string", "None", "true", "aZ", "abcdefgh"])
@every("form", ['"token": "{}"', "password: {}", "secret = {};", "api_key={},", "token='{}'"])
def test_p25_a_bare_word_of_up_to_eight_letters_is_no_secret(form: str, value: str) -> None:
    assert masking.mask(form.format(value)) == form.format(value)


PROMPTS = (
    *("Enter passphrase: {}", "password: {}\n", "Password (again): {}", "DB_PASSWORD={}", "secret = '{}'", "token: {}"),
    *('{{"api_key": "{}"}}', "password for bob: {}", "Mot de passe : {}"),
    *("パスワード\uff1a{}", "パスワード\uff08確認\uff09\uff1a{}"),
)
NOTES = (
    *("(none)", "(empty for none)", "(hidden)", "(leave empty)", "(8+ characters)", "(min. 8 characters)", "(y/N)"),
    *("(auto-generated)", "(default: none)", "(stored in keychain)", "[hidden]", "<not set>", "***", "xxxxx"),
    *("(なし)", "\uff088文字以上\uff09"),
)
BRACKETED = ("(q7Zt9LmX)", "(s3cretword2)", "[q7Zt9LmX]", "<q7Zt9LmX>")


@every("prompt", PROMPTS)
def test_p25_what_is_said_in_brackets_in_place_of_a_secret_is_none_and_a_secret_in_brackets_is_one(prompt: str) -> None:
    shown = {note: masking.mask(prompt.format(note)) for note in (*NOTES, *BRACKETED)}
    assert {note: shown[note] for note in NOTES} == {note: prompt.format(note) for note in NOTES}
    assert [note for note in BRACKETED if note[1:-1] in shown[note]] == []


def test_p25_nothing_stays_nothing() -> None:
    assert masking.mask(None) is None
    assert masking.mask_keys(None) is None
    assert not masking.leaks(None)


@every("text", [text for text, _ in MASKED.values()], ids=MASKED)
def test_p25_a_leak_is_seen_before_masking_and_none_after(text: str) -> None:
    assert masking.leaks(text)
    assert not masking.leaks(masking.mask(text))


def test_p25_a_registered_value_that_is_left_is_a_leak() -> None:
    assert masking.leaks("say open-sesame", ["open-sesame"])
    assert not masking.leaks(masking.mask("say open-sesame", ["open-sesame"]), ["open-sesame"])


def test_p24_registered_values_are_masked_wherever_they_occur() -> None:
    assert masking.mask_keys("a:open-sesame!xopen-sesamex", ["open-sesame"]) == "a:[MASKED:API_KEY]!x[MASKED:API_KEY]x"


def test_p24_the_longest_registered_value_comes_first_and_short_ones_do_not_count() -> None:
    values, warnings = masking.registered(
        {
            "OPENAI_API_KEY": "abcd1234",
            "ANTHROPIC_API_KEY": "abcd1234efgh",
            "A": "true",
            "B": "{\n}\n",
            "C": "",
            "D": None,
        }
    )
    assert [value for value in values if value.isalnum() and value.startswith("a")] == ["abcd1234efgh", "abcd1234"]
    assert [len(value) for value in values] == sorted(map(len, values), reverse=True)
    assert [warning.split()[0] for warning in warnings] == ["A", "B"]
    assert all("{" not in warning and "true" not in warning for warning in warnings)
    text = "{ a true abcd1234efgh abcd1234 }"
    assert masking.mask(text, values) == "{ a true [MASKED:API_KEY] [MASKED:API_KEY] }"
    assert masking.mask(text, ["{", "a", "true"]) == text


def test_p24_a_registered_value_of_several_lines_is_masked_as_a_whole_also_as_json_writes_it() -> None:
    values, warnings = masking.registered({"OPENAI_API_KEY": '{\n "a": "é"\n}\n'})
    written = json.dumps({"env": '{\n "a": "é"\n}'})
    assert warnings == ()
    assert masking.mask(f'{{\n "a": 1\n}} {written}', values) == '{\n "a": 1\n} {"env": "[MASKED:API_KEY]"}'


def b64(encode: Callable[[bytes], bytes], at: int, value: str) -> str:
    """A value in base64, with so many characters before it."""
    return encode(b"x" * at + value.encode() + b"yz").decode()


VALUE = "p&<w\"'/ =+é~9Zq"
ENCODED: dict[str, Callable[[str], str]] = {
    **{f"base64 at {at}": functools.partial(b64, base64.b64encode, at) for at in range(3)},
    **{f"base64url at {at}": functools.partial(b64, base64.urlsafe_b64encode, at) for at in range(3)},
    "hex": lambda value: value.encode().hex(),
    "capital hex": lambda value: value.encode().hex().upper(),
    "percent": lambda value: urllib.parse.quote(value, safe=""),
    "percent of a path": urllib.parse.quote,
    "percent of a form": urllib.parse.quote_plus,
    "percent of all": lambda value: "".join(f"%{byte:02x}" for byte in value.encode()),
    "json": json.dumps,
    "json in ascii and unicode": lambda value: json.dumps(value, ensure_ascii=False),
    "json in html": lambda value: re.sub("[&<>]", lambda sign: f"\\u{ord(sign[0]):04x}", json.dumps(value)),
    "json of all": lambda value: "".join(f"\\u{ord(each):04x}" for each in value),
    "html": html.escape,
    "html without quotes": lambda value: html.escape(value, quote=False),
    "html in numbers": lambda value: "".join(f"&#{ord(each)};" for each in value),
}


@every("value", [VALUE, "open-sesame-1", "Zm9v+YmFy/YmF6=="])
@every("encode", ENCODED.values(), ids=ENCODED)
def test_p24_a_registered_value_is_masked_as_encoders_write_it(encode: Callable[[str], str], value: str) -> None:
    values, _ = masking.registered({"X": value})
    written = encode(value)
    for shown in (masking.mask_keys(f"a {written} b", values), masking.mask(f"a {written} b", values)):
        assert "[MASKED:API_KEY]" in shown
        # Characters of base64 that the value does not decide alone may stay.
        assert len(shown.replace("[MASKED:API_KEY]", "")) <= len("a  b") + 8
        assert masking.mask(shown, values) == shown


def test_p24_registered_values_that_overlap_leave_nothing() -> None:
    assert masking.mask("<abcd1234efgh5678>", ["abcd1234", "1234efgh", "efgh5678"]) == "<[MASKED:API_KEY]>"


@pytest.mark.parametrize("text", ["open-sesam", "open-ses"])
def test_p24_a_registered_value_that_the_end_of_the_text_cuts_is_masked(text: str) -> None:
    assert masking.mask(f"say {text}", ["open-sesame"]) == "say [MASKED:API_KEY]"
    assert masking.mask(f"say {text}.", ["open-sesame"]) == f"say {text}."


VALUES: dict[str, tuple[Any, Any]] = {
    "name says secret": ({"password": "hunter2", "n": "x"}, {"password": "[MASKED:JSON_CREDENTIAL]", "n": "x"}),
    "number": ({"dbPassword": 123456}, {"dbPassword": "[MASKED:JSON_CREDENTIAL]"}),
    "header": ({"Authorization": "Own a1"}, {"Authorization": "[MASKED:AUTH_HEADER]"}),
    "key of its own kind": ({"token": OPENAI}, {"token": "[MASKED:OPENAI_KEY]"}),
    "harmless": (
        {"password": "required", "token": True, "secret": None, "pwd": "/home/X_1", "max_tokens": 5},
        {"password": "required", "token": True, "secret": None, "pwd": "/home/X_1", "max_tokens": 5},
    ),
    "nested": (
        [{"a": (OPENAI, 1)}, "api_key=x"],
        [{"a": ["[MASKED:OPENAI_KEY]", 1]}, "api_key=[MASKED:GENERIC_SECRET]"],
    ),
    "secret as a name": ({OPENAI: 1.5}, {"[MASKED:OPENAI_KEY]": 1.5}),
    "below a name": ({"secret": {"a": "b"}}, {"secret": {"a": "b"}}),
}


@pytest.mark.parametrize(("value", "shown"), VALUES.values(), ids=VALUES)
def test_p25_every_string_of_a_value_is_masked(value: Any, shown: Any) -> None:
    assert masking.mask_value(value) == shown


def test_p24_only_keys_of_a_value_are_masked_before_it_is_stored() -> None:
    value = {OPENAI: [f"a {ANTHROPIC}", 1, None], "password": "hunter2"}
    stored = {"[MASKED:OPENAI_KEY]": ["a [MASKED:ANTHROPIC_KEY]", 1, None], "password": "hunter2"}
    assert masking.mask_keys_value(value) == stored
    assert masking.mask_keys_value("open-sesame", ["open-sesame"]) == "[MASKED:API_KEY]"


def test_p15_a_configuration_shows_names_and_no_secrets() -> None:
    config = {"api_key": "x", "name": "n", "parts": [{"dbPassword": {"a": 1}, "token": None, "secret": False}, 7]}
    assert masking.redact_config(config) == {
        "api_key": "[REDACTED]",
        "name": "n",
        "parts": [{"dbPassword": "[REDACTED]", "token": None, "secret": False}, 7],
    }


@pytest.mark.parametrize(
    ("text", "may"),
    [
        pytest.param("task-001 asked risk-free questions about a mask-based desk-top", False, id="ends of words"),
        pytest.param("task-001 waits for task-002", False, id="tasks"),
        pytest.param("an ordinary event of session S1", False, id="ordinary"),
        pytest.param(f"x {OPENAI}", True, id="key"),
        pytest.param(rf"x\n{OPENAI}", True, id="key behind an escape"),
        pytest.param(f"task-1 \x1b[31m{OPENAI}", True, id="key behind a colour"),
        pytest.param(f"task-1%20{OPENAI}", True, id="key behind a percent sign"),
        pytest.param("say open-sesame", True, id="registered"),
    ],
)
def test_most_texts_are_known_to_hold_no_key_without_a_search(text: str, may: bool) -> None:
    assert masking.may_hold_keys(text, ["open-sesame"]) == may


@pytest.mark.parametrize(
    "text",
    [
        "claim_token: S1:C12",
        "claim_token=S1:C12, lease 900",
        "task heartbeat T --claim-token S1:C12.1 --by dev",
        '{"claim_token": "S1:C12"}',
        "CLAIM_TOKEN=S1:C12",
    ],
)
def test_the_token_of_a_claim_stays_behind_its_own_name(text: str) -> None:
    assert masking.mask(text) == text
    assert masking.mask_value({"claim_token": "S1:C12"}) == {"claim_token": "S1:C12"}


@pytest.mark.parametrize(
    "before", ["password: ", "token=", "API_KEY=", "--token ", "Bearer ", '{"password": "', '{"token": "', "secret = "]
)
def test_what_looks_like_the_token_of_a_claim_is_a_secret_behind_any_other_name(before: str) -> None:
    assert "abc9x:C12" not in masking.mask(f"{before}abc9x:C12")
    assert masking.mask_value({"password": "abc9x:C12"}) != {"password": "abc9x:C12"}
    assert masking.mask_value({"claim_token": "abc 9x:C12"}) != {"claim_token": "abc 9x:C12"}
