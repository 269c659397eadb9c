"""Output that is no text: masked in one pass, counted, and never a way round the masking."""

from __future__ import annotations

import pathlib
import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core import masking_stream
from orchestrator.runner import output_capture

RANDOM = random.Random(1).randbytes(200_000)  # noqa: S311 - no secret
KEY = "sk-ant-api03-" + "aB3" * 12
UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffd]")


def read(*pieces: bytes, raw: pathlib.Path | None = None) -> tuple[output_capture.Output, str]:
    output = output_capture.Output(raw, ())
    text = "".join(output.add("stdout", piece) for piece in pieces)
    output.close()
    return output, text


def test_P25_each_piece_of_random_bytes_goes_through_the_masking_once_without_what_is_no_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fed: list[str] = []
    feed = masking_stream.Stream.feed
    monkeypatch.setattr(masking_stream.Stream, "feed", lambda self, text: fed.append(text) or feed(self, text))
    output, _ = read(*(RANDOM[at : at + 20_000] for at in range(0, len(RANDOM), 20_000)))
    assert len([text for text in fed if text]) == 10
    assert UNSEEN.search("".join(fed)) is None
    kept = sum(len(text.encode()) for text in fed)
    assert abs(output.no_text + kept - len(RANDOM)) < 10_000


def test_P25_what_was_left_out_is_counted_in_the_evidence(tmp_path: pathlib.Path) -> None:
    output, _ = read(b"\x00" * 1_000 + b"words", raw=tmp_path / "raw")
    assert output.no_text == 1_000
    assert (tmp_path / "raw").read_text() == "words\n[... 1000 bytes that are no text were left out ...]\n"


@pytest.mark.parametrize(
    "data",
    [
        "plain words\n" * 100,
        "日本語の文章です。\n" * 100,
        "\x1b[31mr\x1b[32mg\x1b[0m" * 100,
        "working\b\b\b\b\b\b\b\r" * 100,
        "a\x00b" * 20,
    ],
    ids=["words", "Japanese", "colours", "a spinner", "a short piece"],
)
def test_P25_text_is_kept_as_it_is(data: str) -> None:
    output, text = read(data.encode())
    assert (text, output.no_text) == (data, 0)


WORDS = f"{'words ' * 100}{KEY} and more"


@pytest.mark.parametrize(
    "data",
    [WORDS.encode("utf-16"), "\x00".join(WORDS).encode(), b"\xff".join(letter.encode() for letter in WORDS)],
    ids=["UTF-16", "NUL between", "invalid bytes between"],
)
def test_P24_a_key_that_such_bytes_break_is_masked_as_if_they_were_not_there(
    tmp_path: pathlib.Path, data: bytes
) -> None:
    output, _ = read(data, raw=tmp_path / "raw")
    assert output.text() == WORDS.replace(KEY, "[MASKED:ANTHROPIC_KEY]")
    assert (tmp_path / "raw").read_text().startswith(output.text())


@given(st.lists(st.binary(max_size=3_000), max_size=4), st.integers(0, 2))
def test_P25_any_bytes_are_read_and_counted(pieces: list[bytes], factor: int) -> None:
    output, text = read(*(piece * (factor + 1) for piece in pieces))
    assert output.size == sum(len(piece) for piece in pieces) * (factor + 1)
    assert 0 <= output.no_text <= output.size
    assert len(text.encode()) <= 3 * output.size
