"""Ids are refused or kept byte for byte; names are folded in ASCII and nowhere else."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator import errors
from orchestrator.core import names

IDS = st.from_regex(names.ID_PATTERN, fullmatch=True)


@pytest.mark.parametrize(
    "value",
    [
        pytest.param("A", id="one letter"),
        pytest.param("7", id="one digit"),
        pytest.param("NUR-E2E_1.b", id="all marks"),
        pytest.param("x" * 128, id="128 characters"),
        pytest.param("null", id="no reserved words"),
    ],
)
def test_an_id_is_returned_as_it_is(value: str) -> None:
    assert names.check_id("group", value) == value


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        pytest.param("AUTH\n", "has '\\n' (U+000A) at character 5", id="final line feed"),
        pytest.param("AUTH\r", "has '\\r' (U+000D) at character 5", id="final CR"),
        pytest.param("..", "begins with '.'", id="dots"),
        pytest.param("a/b", "has '/' (U+002F) at character 2", id="slash"),
        pytest.param("-rf", "begins with '-'", id="option"),
        pytest.param("--help", "begins with '-'", id="long option"),
        pytest.param("_a", "begins with '_'", id="underscore first"),
        pytest.param("x" * 129, "has 129 characters; 128 are allowed", id="129 characters"),
        pytest.param("e\u0301", "has '\\u0301' (U+0301) at character 2", id="combining accent"),
        pytest.param("\u00e9", "has '\\xe9' (U+00E9) at character 1", id="composed accent"),
        pytest.param("a\u202eb", "has '\\u202e' (U+202E) at character 2", id="right-to-left override"),
        pytest.param("a\u0661", "has '\\u0661' (U+0661) at character 2", id="Arabic digit"),
        pytest.param("a b", "has ' ' (U+0020) at character 2", id="space"),
        pytest.param("a%00", "has '%' (U+0025) at character 2", id="percent"),
        pytest.param("a\0", "has '\\x00' (U+0000) at character 2", id="NUL"),
        pytest.param("a\ud800", "has '\\ud800' (U+D800) at character 2", id="lone surrogate"),
        pytest.param("a:b", "has ':' (U+003A) at character 2", id="colon"),
        pytest.param("", "is empty", id="empty"),
        pytest.param(5, "is not text but int", id="number"),
        pytest.param(None, "is not text but NoneType", id="null"),
    ],
)
def test_a_bad_id_is_refused_with_what_is_wrong(value: object, fault: str) -> None:
    with pytest.raises(errors.UsageError) as caught:
        names.check_id("group", value)
    assert caught.value.code == "INVALID_ID"
    assert caught.value.message == f"The group id {names.shown(value)} {fault}."
    assert caught.value.data == {"kind": "group", "value": names.shown(value)}


@pytest.mark.parametrize("value", ["developer@S1:A", "system:router", "x" * 300])
def test_an_agent_id_may_hold_colon_and_at_and_300_characters(value: str) -> None:
    assert names.check_agent_id(value) == value


@pytest.mark.parametrize("value", ["@a", ":a", "a b", "x" * 301, "a@b\n", ""])
def test_a_bad_agent_id_is_refused(value: str) -> None:
    with pytest.raises(errors.UsageError, match="The agent id") as caught:
        names.check_agent_id(value)
    assert caught.value.code == "INVALID_ID"


@given(st.text() | st.integers() | IDS)
def test_an_id_is_accepted_exactly_when_the_pattern_matches_it_whole(value: object) -> None:
    try:
        accepted = names.check_id("task", value) == value
    except errors.UsageError:
        accepted = False
    assert accepted == (isinstance(value, str) and names.ID_PATTERN.fullmatch(value) is not None)


def test_an_integer_too_long_for_python_to_print_is_refused_like_any_other() -> None:
    with pytest.raises(errors.UsageError, match="<int> is not text but int"):
        names.check_id("task", 10**5000)


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        pytest.param("blocked", "BLOCKED", id="lower case"),
        pytest.param("BLOCKED ", "BLOCKED", id="trailing blank"),
        pytest.param("BLOCKED\r\n", "BLOCKED", id="CR LF"),
        pytest.param("\tBLOCKED", "BLOCKED", id="tab"),
        pytest.param("BLOCKED\u00a0", "BLOCKED", id="NBSP"),
        pytest.param("**BLOCKED**", "**BLOCKED**", id="decorated"),
        pytest.param("BLOCKED.", "BLOCKED.", id="full stop"),
        pytest.param("BLOCKED: need key", "BLOCKED: NEED KEY", id="with reason"),
        pytest.param("BLO\u0421KED", "BLO\u0421KED", id="Cyrillic Es"),
        pytest.param("pa\u017fs", "PA\u017fS", id="long s is no S"),
        pytest.param("fa\u0131l", "FA\u0131L", id="dotless i is no I"),
        pytest.param("\ufeffPASS", "\ufeffPASS", id="BOM is no whitespace"),
        pytest.param("PASS\u200b", "PASS\u200b", id="zero-width space is no whitespace"),
        pytest.param("", "", id="empty"),
        pytest.param("   ", "", id="blank"),
    ],
)
def test_a_status_is_stripped_and_raised_in_ascii_only(raw: str, status: str) -> None:
    assert names.status_name(raw) == status


@pytest.mark.parametrize(
    ("raw", "role"),
    [
        pytest.param("pm", "project_manager", id="pm"),
        pytest.param("TL", "tech_lead", id="tl"),
        pytest.param("sse", "senior_software_engineer", id="sse"),
        pytest.param(" Qa\u00a0", "qa_expert", id="qa"),
        pytest.param("dev\r", "developer", id="dev"),
        pytest.param("re", "requirements_engineer", id="re"),
        pytest.param("Tech_Lead\n", "tech_lead", id="full name"),
        pytest.param("\u212ama", "\u212ama", id="Kelvin sign is no k"),
        pytest.param("d\u0435v", "d\u0435v", id="Cyrillic Ie is no e"),
        pytest.param("janitor", "janitor", id="unknown"),
    ],
)
def test_a_role_is_stripped_lowered_and_spelt_out(raw: str, role: str) -> None:
    assert names.role_name(raw) == role


@given(st.text())
def test_folding_is_stable_and_touches_no_other_letter(raw: str) -> None:
    for fold in (names.fold_name, names.status_name, names.role_name):
        assert fold(fold(raw)) == fold(raw)
    for folded in (names.fold_name(raw), names.status_name(raw)):
        assert [c for c in folded if not c.isascii()] == [c for c in raw.strip() if not c.isascii()]


STATUSES = ["APPROVED", "APPROVED_WITH_NOTES", "BLOCKED", "UNBLOCKING_GUIDANCE", "CHANGES_REQUESTED"]


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        pytest.param("APROVED", "APPROVED", id="letter missing"),
        pytest.param("changes requested", "CHANGES_REQUESTED", id="blank for underscore"),
        pytest.param("**BLOCKED**", "BLOCKED", id="decorated"),
        pytest.param("BLOCKED: need key", "BLOCKED", id="with reason"),
        pytest.param("UNBLOCKING_GUIDENCE", "UNBLOCKING_GUIDANCE", id="negated both"),
        pytest.param("NOT APPROVED", None, id="not"),
        pytest.param("DISAPPROVED", None, id="dis"),
        pytest.param("UNAPPROVED", None, id="un"),
        pytest.param("xyzzy", None, id="nothing near"),
        pytest.param("", None, id="empty"),
        pytest.param("B" * 10_000, None, id="too long"),
    ],
)
def test_the_nearest_name_is_suggested_but_never_the_opposite(word: str, meant: str | None) -> None:
    assert names.nearest(word, STATUSES) == meant


@given(st.text(), st.lists(st.text()))
def test_a_suggestion_is_always_one_of_the_candidates(word: str, candidates: list[str]) -> None:
    meant = names.nearest(word, candidates)
    assert meant is None or meant in candidates


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param("a\0b", "contains a NUL character at character 2", id="NUL"),
        pytest.param("ab\ud800", "contains the lone surrogate U+D800 at character 3", id="lone surrogate"),
        pytest.param("\udcff", "contains the lone surrogate U+DCFF at character 1", id="byte that was no UTF-8"),
        pytest.param('l1\nl2\t\x1b[31mred\x07\u2028x\r\n"q" \\', None, id="control characters"),
        pytest.param("\u2705 gr\u00fc\u00dfe \U0001f600", None, id="emoji"),
        pytest.param("", None, id="empty"),
    ],
)
def test_only_nul_and_lone_surrogates_make_a_text_unfit(text: str, problem: str | None) -> None:
    assert names.text_problem(text) == problem


@given(st.text(st.characters(exclude_categories=[])))
def test_a_text_is_fit_exactly_when_utf8_holds_it_without_nul(text: str) -> None:
    fit = "\0" not in text and text.encode(errors="replace").decode() == text
    assert (names.text_problem(text) is None) == fit


@pytest.mark.parametrize(
    ("name", "word"),
    [
        pytest.param("AUTH", "AUTH", id="auth"),
        pytest.param("OAuth2 login", "OAuth2", id="oauth with version"),
        pytest.param("payments", "payments", id="plural"),
        pytest.param("Reset password form", "password", id="password"),
        pytest.param("jwt_rotation", "jwt", id="underscore ends a word"),
        pytest.param("userAuthService", "Auth", id="camel case"),
        pytest.param("JWTToken", "JWT", id="acronym in camel case"),
        pytest.param("API security.", "security", id="full stop"),
        pytest.param("Author page", None, id="author"),
        pytest.param("Author list page", None, id="author list"),
        pytest.param("Authentic recipes", None, id="authentic"),
        pytest.param("AuthorPage", None, id="author in camel case"),
        pytest.param("insecurity", None, id="inside a word"),
        pytest.param("auth\u00e9", None, id="letter beyond ASCII"),
        pytest.param("", None, id="empty"),
    ],
)
def test_only_a_whole_word_speaks_of_security(name: str, word: str | None) -> None:
    assert names.whole_words_security(name) == word


@pytest.mark.parametrize(
    "text",
    ["", " \t\r\n", "\u00a0\u2003", "\u200b", "\u200b\u200c\u200d\u2060\ufeff", "\x00\x07\x7f", "\u2028\u2029",
     "\u00ad", "\u202e\u2066", "\u3164\u115f\uffa0", "\u2800", "\u034f\ufe0f"],
    ids=ascii,
)  # fmt: skip
def test_what_nobody_sees_says_nothing(text: str) -> None:
    assert names.said(text) == names.said(f" {text}\t") == ""


@pytest.mark.parametrize("text", ["x", ".", "é", "日本", "🧭", "e\u0301", "\u200bx", "नमस्ते", "\x07!"], ids=ascii)
def test_what_can_be_seen_is_kept_without_whitespace_around_it(text: str) -> None:
    assert names.said(f" \n{text} ") == text
    assert names.said(None) == ""


def test_difflib_is_not_loaded_before_it_is_needed() -> None:
    code = "import sys; from orchestrator.core import names, strict_json; sys.exit('difflib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
