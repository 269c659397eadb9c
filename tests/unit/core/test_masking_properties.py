"""What holds for every text (P24, P25), however the pieces of secrets and of ordinary text are mixed."""

from __future__ import annotations

import itertools
import json
import re
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from orchestrator.core import masking, masking_patterns
from orchestrator.core.masking_kinds import KINDS
from tests.conftest import LONG
from tests.unit.core.test_masking import ANTHROPIC, HARMLESS, JWT, KEYS, LINES, OPENAI, block
from tests.unit.core.test_masking_kinds import plain
from tests.unit.core.test_masking_streams import streamed

REGISTERED = ("open-sesame-1", "sesame-1-and-more")
EXAMPLES = settings(max_examples=300 if LONG else 20, deadline=None)
LETTERS = "abcdefghijklmnopqrstuvwxyz"
MIXED = LETTERS + LETTERS.upper() + "0123456789"

FRAGMENTS = (
    *(secret for secret, _ in KEYS.values()),
    *("sk-", "sk-proj-", "AKIA", "ghp_", "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----", "-----"),
    *("eyJ", JWT, JWT[:30], "Bearer ", "bearer", "Authorization", "Authorization: ", "Cookie: ", "Set-Cookie: "),
    *("password", "password=", "token=", "secret: ", "api_key", "API_TOKEN=", "client_secret=", "pwd=", "key", "://"),
    *("a=b; c=d", "user:", "@", "host", "/etc/x", "None", "string", "hunter22", "realm=", "Digest ", "str(", "task-"),
    *(*".,:;=&#/\\\"'`()[]{} \t\n", "..", ": ", "\\n", '\\"', '="', '["', "\x1b[31m", "%20", "é", "İ"),
    *("[MASKED:JWT]", "[MASKED:", "[MASKED:API_KEY", *REGISTERED, "open-ses", "MIIEpAIBAAKCAQEA7bq2X9"),
)
texts = st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=3), max_size=12).map("".join)
secrets = st.sampled_from([(), REGISTERED])


@EXAMPLES
@given(texts, secrets)
def test_p25_what_is_masked_once_stays_as_it_is(text: str, values: tuple[str, ...]) -> None:
    once = masking.mask(text, values)
    assert masking.mask(once, values) == once
    assert not masking.leaks(once, values)


EXAMPLES_OF_KINDS = [kind.found.replace("{{", "\x01").replace("}}", "\x02") for kind in KINDS]
GLUED = (
    *(plain(re.sub(r"[{}]", "", found)) for found in EXAMPLES_OF_KINDS),
    *(plain(re.sub(r"[{}]", "", found[found.index("{") : found.rindex("}")])) for found in EXAMPLES_OF_KINDS),
    *(
        "://",
        "://0",
        "https://u:p",
        "passwd=",
        "password: ",
        "password='",
        '"password": "',
        "TOKEN=",
        "Cookie:",
        "bearer:",
    ),
    *("Authorization: ", "?sig=", "--token ", "mysql -p", "curl -u a:", "<passwd>", "password: |\n  ", "apikey="),
    *("token:tr =", "-----BEGIN PRIVATE KEY-----", "token: str = ", "getenv('TOKEN', '", "machine h login u password "),
)
SEPARATORS = (*"@:/?#&;,.'\"`<>()[]{}=|\\ \n-_+%!$0aZ", "", "\r\n", "\\n", '\\"', "@h/db", "</passwd>", "\n ", "; ")
VALUES = (*REGISTERED, "open sesame, please", 'it\'s "said"/x@y:z')
glued = st.lists(st.tuples(st.sampled_from(GLUED), st.sampled_from(SEPARATORS)), min_size=2, max_size=4)


@EXAMPLES
@given(glued.map(lambda parts: "".join(map("".join, parts))), st.integers(0, 300), st.sampled_from([(), VALUES]))
@example("://0-----BEGIN PRIVATE KEY-----(@", 9, ())
@example("token:tr =Cookie:e sk_live_D6fGhJ5pYcA1eord ", 9, ())
@example('passwd:"://"@$;@', 9, ())
@example("<passwd>secret=' r", 9, ())
@example("<passwd>0-----BEGIN PRIVATE KEY-----", 9, ())
@example("mysql -p-----BEGIN PRIVATE KEY-----<", 9, ())
@example("passwd=Cookie:s \\", 9, ())
@example("apikey=AIzaLmX2vB8nR4kW3sD6fGhJ5pYcA1eUo0(", 9, ())
@example("://u<pypi-AgEhJ5pYcA1eUo0TiKzVbNxMrEwSdHlPgQjFyCu8@", 9, ())
@example("://0open sesame, please@", 9, VALUES)
@example(f"{(MIXED * 2)[:76]}AZDO{MIXED[:4]}@" * 3, 0, ())
def test_p25_what_kinds_leave_that_run_into_each_other_is_masked_at_once(
    text: str, border: int, values: tuple[str, ...]
) -> None:
    once = masking.mask(text, values)
    assert masking.mask(once, values) == once
    assert streamed([text[:border], text[border:]], values) == once


@EXAMPLES
@given(texts, secrets)
def test_p24_what_is_masked_for_storing_stays_as_it_is(text: str, values: tuple[str, ...]) -> None:
    once = masking.mask_keys(text, values)
    assert masking.mask_keys(once, values) == once


@EXAMPLES
@given(texts, st.lists(st.integers(0, 400), max_size=8), secrets, st.booleans())
def test_p25_pieces_are_masked_as_the_whole(
    text: str, borders: list[int], values: tuple[str, ...], keys_only: bool
) -> None:
    places = [0, *sorted(min(border, len(text)) for border in borders), len(text)]
    pieces = [text[start:end] for start, end in itertools.pairwise(places)]
    whole = masking.mask_keys(text, values) if keys_only else masking.mask(text, values)
    assert streamed(pieces, values, keys_only) == whole


@EXAMPLES
@given(texts, st.integers(0, 400))
@example("\x1bopen-sesame-1", 0)
def test_p24_no_registered_value_ever_comes_out(text: str, border: int) -> None:
    for shown in (masking.mask(text, REGISTERED), streamed([text[:border], text[border:]], REGISTERED, cut=True)):
        assert [value for value in REGISTERED if value in shown] == []


values = st.text(MIXED, min_size=24, max_size=60).filter(lambda value: not value.isalpha())
KEY_FORMS = {
    "openai": "sk-{}",
    "openai project": "sk-proj-{}",
    "anthropic": "sk-ant-api03-{}",
    "github": "ghp_{}",
    "fine-grained": "github_pat_{}",
    "google": "AIza{0}{0}",
    "gitlab": "glpat-{}A1",
    "npm": "npm_{0}{0}A1",
    "vault": "hvs.{}A1",
    "web token": "eyJhbGciOiJIUzI1NiJ9.eyJ{0}.{0}",
    "key block": "-----BEGIN PRIVATE KEY-----\n{0}{0}\n{0}\n-----END PRIVATE KEY-----",
}
FORMS = KEY_FORMS | {
    "environment": "export MY_TOKEN={}",
    "json": '{{"password": "{}"}}',
    "setting": "secret_key: {}",
    "quoted": "api-key = '{}'",
    "query": "https://host/cb?token={}&x=1",
    "url": "https://user:{}@host/",
    "bearer": "Bearer {}",
    "header": "Authorization: Basic {}",
    "cookie": "Cookie: session={}; theme=dark",
    "set-cookie": "set-cookie: session={}; Path=/",
}


def survivors(secret: str, shown: str) -> list[str]:
    """The pieces of eight characters of a secret that are still there."""
    return [secret[at : at + 8] for at in range(len(secret) - 7) if secret[at : at + 8] in shown]


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@settings(max_examples=100 if LONG else 20, deadline=None)
@given(value=values, before=texts, border=st.integers(0, 200))
def test_p25_no_part_of_a_secret_survives(form: str, value: str, before: str, border: int) -> None:
    text = f"{form.format(value)}\n"
    assert survivors(value, masking.mask(text)) == []
    assert survivors(value, streamed([text[:border], text[border:]])) == []
    assert survivors(value, streamed([text[:-1]], cut=True)) == []


@pytest.mark.parametrize("form", KEY_FORMS.values(), ids=KEY_FORMS)
@settings(max_examples=100 if LONG else 20, deadline=None)
@given(value=values, before=texts, after=texts)
def test_p24_no_part_of_a_key_survives_whatever_is_around_it(form: str, value: str, before: str, after: str) -> None:
    shown = masking.mask(f"{before}\n {form.format(value)} {after}")
    assert survivors(value, shown) == []


@EXAMPLES
@given(st.lists(st.sampled_from([*HARMLESS.values(), "ordinary", "words", "\n", "\t"]), max_size=8).map("\n".join))
def test_p25_ordinary_text_stays_byte_for_byte(text: str) -> None:
    assert masking.mask(text).encode() == text.encode()
    assert streamed(text).encode() == text.encode()


@EXAMPLES
@given(st.text(st.characters(exclude_characters=":=-_.\"'`")))
def test_p25_text_without_any_separator_stays_byte_for_byte(text: str) -> None:
    assert masking.mask_keys(text) == text
    assert streamed(text, keys_only=True) == text


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


BEGIN, END = "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----"
FIRST_LINE = "-----BEGIN ENCRYPTED PRIVATE KEY-----"


@EXAMPLES
@given(json_values)
@example({"": FIRST_LINE, block("RSA PRIVATE KEY") + OPENAI: None})
@example({"a": FIRST_LINE, f"{END} and more": None})
@example({"a": FIRST_LINE, f'{END} "x": 1': None})
@example({"a": FIRST_LINE, f"{END} 'x'": None})
@example({"a": f"{BEGIN}\n{LINES}", f"{END}'x": None})
@example({"a": f'{BEGIN}"', f'"{END}': 1})
@example([[f'{BEGIN}"'], f'"{END}'])
@example({f'{BEGIN}"': f'"{END}'})
@example([json.dumps({"a": BEGIN, f"{END} x": 1})])
def test_p24_what_was_json_is_json_when_its_keys_are_masked(value: object) -> None:
    written = json.dumps(value)
    stored = streamed([written[:40], written[40:]], REGISTERED, keys_only=True)
    assert type(json.loads(stored)) is type(json.loads(written))


PARTS = (
    *(BEGIN, END, "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----", "---- END SSH2 ENCRYPTED PRIVATE KEY ----", LINES[:64]),
    *("MIIE", "abc=", "=aB3d", "A" * 300, "Proc-Type: 4,ENCRYPTED", OPENAI, " " * 20, *"\n\t\"'\\,:{}[]+-x"),
)
blocks = st.lists(st.sampled_from(PARTS), max_size=5).map("".join)
documents = st.recursive(
    blocks,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(blocks, inner, max_size=3) | inner.map(json.dumps),
    max_leaves=8,
)
LAYOUTS: tuple[dict[str, Any], ...] = ({}, {"indent": 20}, {"separators": (",", ":")}, {"separators": (" , ", " : ")})


@EXAMPLES
@given(documents, st.sampled_from(LAYOUTS), st.lists(st.integers(0, 3000), max_size=4))
def test_p24_parts_of_key_blocks_in_names_and_strings_leave_json_in_pieces_too(
    value: object, layout: dict[str, Any], borders: list[int]
) -> None:
    written = json.dumps(value, **layout)
    places = [0, *sorted(min(border, len(written)) for border in borders), len(written)]
    stored = masking.mask_keys(written)
    assert type(json.loads(stored)) is type(value)
    assert streamed((written[a:b] for a, b in itertools.pairwise(places)), keys_only=True) == stored
    assert BEGIN not in stored


@EXAMPLES
@given(json_values)
def test_p25_a_masked_value_has_its_shape_and_nothing_left(value: object) -> None:
    once = masking.mask_value(value, REGISTERED)
    assert masking.mask_value(once, REGISTERED) == once
    assert masking.mask_keys_value(once, REGISTERED) == once


@EXAMPLES
@given(json_values, secrets)
def test_p25_a_plain_value_is_one_that_masking_leaves_as_it_is(value: object, registered: tuple[str, ...]) -> None:
    if masking.is_plain(value, registered):
        assert masking.mask_value(value, registered) == value


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        ({"a": ["words", 1, None, True], "task-1": {"b": "task-2"}}, True),
        ({"password": "hunter2hunter2"}, False),
        ({"a": [{"api_key": 12345678}]}, False),
        ([OPENAI], False),
        ({OPENAI: 1}, False),
        ([], True),
    ],
    ids=str,
)
def test_p25_a_look_at_the_whole_tells_plain_values(value: object, plain: bool) -> None:
    assert masking.is_plain(value) == plain


@given(st.text())
def test_a_lowered_text_has_its_length(text: str) -> None:
    assert len(masking_patterns.lowered(text)) == len(text)
    assert masking_patterns.lowered("\u0130A") == "ia"


def test_the_two_keys_of_the_examples_differ() -> None:
    assert masking.mask(OPENAI) != masking.mask(ANTHROPIC)
