"""`gossamer verify`: what it prints, its exit code, and bad files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.command_line import gossamer
from tests.support.stored_rounds import HOME, Fetched
from tests.support.stored_web import store_and_parse

if TYPE_CHECKING:
    from gossamer.state.workspace import Workspace

pytestmark = [pytest.mark.server, pytest.mark.usefixtures("shared_engine")]

BODY = b"<title>A page</title><h1>A page</h1><p>The text of a page that was stored in the archive."


@pytest.fixture
def crawl(work: Workspace) -> Path:
    store_and_parse(work, [Fetched(HOME, BODY)])
    return Path(str(work.root))


@pytest.mark.folder
def test_a_page_is_proved(crawl: Path) -> None:
    lines = gossamer("verify", crawl, HOME).stdout.splitlines()
    assert lines[0] == f"proved      {HOME}"
    assert "byte " in lines[1]
    (found,) = json.loads(gossamer("verify", crawl, HOME, "--json").stdout)
    assert (found["verified"], found["url"], found["texts"]) == (True, HOME, 0)


@pytest.mark.folder
def test_an_answer_in_a_file_is_proved_or_not(crawl: Path, tmp_path: Path) -> None:
    answer = tmp_path / "answer.json"
    answer.write_text(json.dumps({"url": HOME, "text": "The text of a page"}))
    assert "1 text in warc/" in gossamer("verify", crawl, answer).stdout
    lines = [{"url": HOME, "text": text} for text in ("stored in the archive", "never said")]
    answer.write_text("\n".join(map(json.dumps, lines)))
    said = gossamer("verify", crawl, answer, code=1).stdout
    assert "1 of 2 texts are not in the page: 'never said'" in said
    assert "→ somebody changed the answer" in said
    said = gossamer("verify", crawl, f"{HOME}other", code=1).stdout
    assert "the crawl has stored no body of this page" in said
    assert "→ to see what the crawl knows: gossamer explain" in said


@pytest.mark.folder
@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "has no answer with the URL of a page"),
        (b"{", "is not JSON"),
        (b"\xff\xfe\0", "is not JSON"),
        (b"[" * 100_000, "is not JSON"),
        (b"[" * 500 + b"]" * 500, "has no answer with the URL of a page"),
        (b"{}", "has no answer with the URL of a page"),
        (b'"https://example.org/"', "has no answer with the URL of a page"),
        (b"[1, {}, []]", "has no answer with the URL of a page"),
    ],
)
def test_other_files_are_refused_with_a_remedy(
    crawl: Path, tmp_path: Path, data: bytes, what: str
) -> None:
    answer = tmp_path / "answer.json"
    answer.write_bytes(data)
    said = gossamer("verify", crawl, answer, code=1).stderr
    assert what in said
    assert "→ give the JSON of /api/v1/document" in said


@pytest.mark.folder
def test_a_file_that_cannot_be_read_is_named(crawl: Path, tmp_path: Path) -> None:
    for name in (tmp_path / "none.json", tmp_path):
        said = gossamer("verify", crawl, name, code=1).stderr
        assert f"{name}: cannot be read" in said
        assert "→ give a URL with its scheme" in said
