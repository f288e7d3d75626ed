"""Seeds that are typed: what is not a URL is refused with the remedy, and nothing goes in."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from gossamer.api.crawl import Crawl
from gossamer.errors import SeedError
from gossamer.web import seed_lists
from gossamer.web.urls import Target, UrlRules
from tests.support.command_line import gossamer

if TYPE_CHECKING:
    from pathlib import Path

RULES = UrlRules()
REFUSED = {
    "not a url": "'not a url': is not a URL that can be crawled",
    "": "'': is not a URL that can be crawled",
    "mailto:me@example.org": "is not a URL that can be crawled",
    "ftp://example.org/": "begins with one of http://, https://",
    "https://": "is not a URL that can be crawled",
    "http://exa mple.org/": "is not a URL that can be crawled",
    "-": "is the standard input, not a URL\n  → pass the standard input as a list: --list -",
    "seeds.txt": "is a file, not a URL\n  → pass a file as a list: --list seeds.txt",
    "missing.txt": "include the scheme: https://missing.txt/ or http://missing.txt/",
    "intranet": "include the scheme: https://intranet/",
    "com": "include the scheme",
    "https://\udcff/": "is not a URL that can be crawled",
    "exam\x1bple.org": "'exam\\x1bple.org': is not a URL that can be crawled",
}
TAKEN = {
    "example.org": "https://example.org/",
    " example.org ": "https://example.org/",
    "localhost:8117": "http://localhost:8117/",
    "127.0.0.1": "http://127.0.0.1/",
    "intranet:8080": "http://intranet:8080/",
    "www.example.co.uk:8443/x": "https://www.example.co.uk:8443/x",
    "http://localhost:8117": "http://localhost:8117/",
    "http://127.0.0.1:80": "http://127.0.0.1/",
    "https://seeds.txt": "https://seeds.txt/",
    "http://[::1]:8080/": "http://[::1]:8080/",
    "bücher.example.com": "https://xn--bcher-kva.example.com/",
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "seeds.txt").write_text("https://example.org/\n")
    (tmp_path / "example.org").mkdir()  # as wget and many crawls have it
    return tmp_path


@pytest.mark.parametrize("word", REFUSED)
def test_what_is_not_a_url_is_refused_with_the_remedy(word: str) -> None:
    with pytest.raises(SeedError) as raised:
        list(seed_lists.parse_typed(["https://example.org/", word], RULES))
    assert REFUSED[word] in str(raised.value)


@pytest.mark.parametrize("word", TAKEN)
def test_what_is_a_url_is_taken(word: str) -> None:
    assert list(seed_lists.parse_typed([word], RULES)) == [Target(TAKEN[word])]


@pytest.mark.server
@pytest.mark.parametrize("word", ["not a url", "seeds.txt", "-", "missing.txt"])
@pytest.mark.parametrize("before", [[], ["https://example.org/"]])
def test_crawl_makes_nothing_for_a_bad_seed(folder: Path, word: str, before: list[str]) -> None:
    told = gossamer("crawl", "web", *before, word, code=1).stderr
    assert REFUSED[word] in told
    assert not (folder / "web").exists()


@pytest.mark.server
def test_crawl_makes_nothing_for_a_list_that_does_not_exist(folder: Path) -> None:
    told = gossamer("crawl", "web", "--list", "missing.txt", code=1).stderr
    assert "missing.txt: cannot be read: no such file" in told
    assert not (folder / "web").exists()


def test_inject_and_the_api_refuse_alike(folder: Path) -> None:
    gossamer("init", "web")
    words = ["https://example.org/", "seeds.txt"]
    assert REFUSED["seeds.txt"] in gossamer("inject", "web", *words, code=1).stderr
    with Crawl.open(str(folder / "web")) as crawl:
        with pytest.raises(SeedError, match="is a file, not a URL"):
            crawl.inject(words)
        assert not crawl.work.store.manifest.layers("pages")


def test_a_list_may_be_a_pipe() -> None:
    read, write = os.pipe()
    os.write(write, b"https://example.org/\n")
    os.close(write)
    try:
        assert list(seed_lists.read_list(f"/dev/fd/{read}", RULES)) == [
            Target("https://example.org/")
        ]
    finally:
        os.close(read)


def test_a_standard_input_that_is_closed_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(SeedError, match="the standard input is closed"):
        list(seed_lists.read_list("-", RULES))


@pytest.mark.server
@pytest.mark.parametrize("contact", ["me\nX-Forged: yes", "me\r", "me\x1b[2J", "x" * 2000])
@pytest.mark.parametrize("command", ["init", "crawl"])
def test_a_contact_that_no_header_can_carry_makes_no_crawl(
    folder: Path, command: str, contact: str
) -> None:
    words = ["https://example.org/"] if command == "crawl" else []
    told = gossamer(command, "web", *words, "--contact", contact, code=1).stderr
    assert told.startswith("gossamer: contact: ")
    assert "\x1b" not in told
    assert not (folder / "web").exists()


def test_minutes_are_a_number() -> None:
    assert "--minutes" in gossamer("crawl", "web", "--minutes", "nan", code=2).stderr
