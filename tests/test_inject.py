from __future__ import annotations

import gzip
import io
from typing import TYPE_CHECKING

import pytest

from gossamer import inject, seeds, states
from gossamer.errors import SeedError
from gossamer.tables import PAGES
from gossamer.urls import UrlRules
from rows import by_url, put

if TYPE_CHECKING:
    from pathlib import Path

    from gossamer.workspace import Workspace

RULES = UrlRules()


def read(text: bytes) -> list[str | tuple[int, str]]:
    """URLs, and of bad lines their number and text."""
    entries = seeds.parse(io.BytesIO(text), "test", RULES)
    return [e if isinstance(e, str) else (e.line, e.text) for e in entries]


def test_a_url_a_line() -> None:
    assert read(b"http://a.example\r\n\n  # note\nb.example/x \n") == [
        "http://a.example/",
        "https://b.example/x",
    ]


def test_the_older_form_of_a_line_per_host() -> None:
    line = b"a.example\thttp://a.example/1\thttp://a.example/2\thtp:\n"
    assert read(line) == ["http://a.example/1", "http://a.example/2", (1, "htp:")]


def test_bad_lines_have_numbers_and_the_rest_goes_in() -> None:
    text = b"\xef\xbb\xbfhttp://a.example/\nnot a url\nmailto:x@y.example\n\xff\nhttp://b.example/"
    assert read(text) == [
        "http://a.example/",
        (2, "not a url"),
        (3, "mailto:x@y.example"),
        (4, "ÿ"),
        "http://b.example/",
    ]


def test_gzip_is_read(tmp_path: Path) -> None:
    path = tmp_path / "seeds"
    path.write_bytes(gzip.compress(b"http://a.example/\n"))
    assert list(seeds.read(str(path), RULES)) == ["http://a.example/"]


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"http://a.example/\n")))
    assert list(seeds.read("-", RULES)) == ["http://a.example/"]


@pytest.mark.parametrize(
    "content", [None, gzip.compress(b"x" * 99_999, mtime=0)[:-20], b"\x1f\x8bjunk"]
)
def test_a_list_that_cannot_be_read_is_named(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "seeds.gz"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SeedError, match=r"seeds\.gz"):
        list(seeds.read(str(path), RULES))


def test_seeds_become_pages(work: Workspace) -> None:
    bad: list[seeds.BadLine] = []
    report = inject.run(
        work, ["http://a.example/", "a.example:99999", "http://a.example/#x"], (), bad.append
    )
    assert report.counts == {"seeds": 1, "bad_lines": 1}
    assert str(bad[0]) == "argument:2: not a URL that can be crawled: 'a.example:99999'"
    (page,) = by_url(states.current(work, PAGES)).values()
    assert (page["url"], page["status"], page["source"]) == (
        "http://a.example/",
        "unfetched",
        "seed",
    )
    assert (page["depth"], page["score"], page["next_fetch_ms"]) == (0, 1.0, 0)


def test_a_known_page_becomes_a_seed_and_keeps_its_history(work: Workspace) -> None:
    was = {"url": "http://a.example/", "status": "fetched", "depth": 4, "fetches": 2, "inlinks": 3}
    put(work, "pages", [was, {"url": "http://b.example/"}], round_=0)
    inject.run(work, ["http://a.example/"])
    found = by_url(states.current(work, PAGES))
    page = found["http://a.example/"]
    assert (page["depth"], page["source"], page["status"]) == (0, "seed", "fetched")
    assert (page["fetches"], page["inlinks"], page["score"]) == (2, 3, 2.0)
    assert set(found) == {"http://a.example/", "http://b.example/"}


def test_nothing_goes_in_when_a_list_cannot_be_read(work: Workspace, tmp_path: Path) -> None:
    with pytest.raises(SeedError):
        inject.run(work, ["http://a.example/"], [str(tmp_path / "none")])
    assert states.current(work, PAGES).collect() == []
