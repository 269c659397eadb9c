"""Files that are made of the declarations are as these are."""

from __future__ import annotations

import pytest

from tests.architecture import generated


@pytest.mark.parametrize("path", generated.FILES, ids=lambda path: path.name)
def test_a_file_is_what_the_declarations_make(path: generated.pathlib.Path) -> None:
    assert path.read_text(encoding="utf-8") == generated.FILES[path](), "write it anew: ./task generate"
