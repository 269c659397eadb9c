"""What programs and people are told of faults, whatever folders are called: never where anything lies."""

from __future__ import annotations

import json
import pathlib
import shutil
from collections.abc import Iterator

import pytest

pytest.importorskip("fastapi", reason="the pages need the extra `web`")

from tests.integration.web.asgi import TOKEN, Web

HOSTILE = {
    "blanks": "aud hush it", "a quote": "it's hush s", "two quotes": 'so "hush" called',
    "brackets": "(hush) [hush] (x)", "a line end": "one\nhush\ntwo", "hushs": "a,hush;b:hush c",
    "letters": "m\u00e4rk\u3042 hush \U0001f600", "as if named": "x (named by hush)", "backslash": "a\\hush b",
}  # fmt: skip


@pytest.fixture(params=HOSTILE)
def odd(request: pytest.FixtureRequest, tmp_path: pathlib.Path, database: pathlib.Path) -> Iterator[Web]:
    """An application whose database and projects lie in a folder of a hostile name."""
    base = tmp_path / HOSTILE[request.param] / "inner hush"
    base.mkdir(parents=True)
    web = Web(base, database)
    yield web
    web.close()


def told(web: Web, path: str, **body: str) -> tuple[int, str]:
    headers = {"authorization": f"Bearer {TOKEN}", "content-type": "application/json"}
    found = web._ask("POST" if body else "GET", path, json.dumps(body).encode() if body else b"", headers)
    assert "hush" not in found.text, found.text
    assert str(web.database.parents[2]) not in found.text, found.text
    return found.status, json.loads(found.text)["error"]


def test_a_project_that_is_none_is_not_shown(odd: Web) -> None:
    base = odd.database.parent
    (base / "hush empty").mkdir()
    (base / "hush file").write_text("")
    asked = [base / "hush gone" / "deep", base / "hush empty", base / "hush file"]
    asked.append(pathlib.Path("/nowhere/my hush/deep hush"))
    assert [told(odd, "/api/projects", project_path=str(path)) for path in asked] == [
        (400, "E102"), (400, "E101"), (400, "E102"), (400, "E102")
    ]  # fmt: skip


def test_the_page_gives_back_what_was_typed_and_tells_of_no_other_place(odd: Web) -> None:
    odd.come_in()
    page = odd.send("/projects", "/projects", project_path=str(odd.database.parent / "secret gone" / ".."), alias="a")
    assert page.status == 400
    (sentence,) = [line for line in page.text.splitlines() if "has no .claude folder" in line]
    assert "hush" not in sentence


@pytest.mark.parametrize("path", ["/api/health", "/api/sessions", "/api/projects", "/"])
def test_a_database_that_is_away_or_broken_is_not_named(odd: Web, path: str) -> None:
    kept = odd.database.with_name("kept hush")
    shutil.copy(odd.database, kept)
    odd.database.unlink()
    if path == "/":
        assert odd.get(path).status == 503
        assert "hush" not in odd.get(path).text
    else:
        assert told(odd, path) == (503, "NO_DATABASE")
        odd.database.write_text("this is no database at all, " * 100)
        assert told(odd, path) == (503, "CORRUPT")
