from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from selectolax.lexbor import LexborHTMLParser

from gossamer import parse
from gossamer.config import ParseConfig
from gossamer.errors import ConfigError, EngineError
from gossamer.parse.content import parse_page
from gossamer.parse.html.trafilatura_text import by_trafilatura
from gossamer.parse.page import Page, ParsedPage, Rules, SiteRule
from gossamer.parse.process.guard import GuardedParser
from tests.support.stored_rounds import HOME, Fetched, store_round, table

if TYPE_CHECKING:
    from pathlib import Path

    from gossamer.state.workspace import Workspace

FERRY = "The ferry to the island leaves at dawn, when the harbour is still dark and quiet."
CREW = "Its captain has made the crossing for thirty years, and knows all of the passengers."
HTML = (
    f"<html><head><title>Ferries</title><body><nav>Menu</nav><article><h1>Ferries</h1><p>{FERRY}<p>{CREW}<p>{FERRY}"
    f"<p>{CREW}<ul><li>Oil<li>  Salt\n and pepper</ul></article><footer>Imprint</footer>"
)
TRAFILATURA = Rules(extractor="trafilatura")


def parsed(html: str, rules: Rules = TRAFILATURA) -> ParsedPage:
    return parse_page(Page(HOME, {"content-type": "text/html"}, html.encode()), rules)


def taken(html: str) -> str:
    return by_trafilatura(html, LexborHTMLParser(html))


def test_the_main_text_is_trafilaturas_and_all_else_is_ours() -> None:
    page, ours = parsed(HTML), parsed(HTML, Rules())
    text = f"{FERRY}\n{CREW}\n{FERRY}\n{CREW}"
    assert page.main_text == f"Ferries\n{text}\n- Oil\n- Salt and pepper"
    assert ours.main_text == f"{text}\nOil\nSalt and pepper"
    assert structs.replace(page, main_text=ours.main_text) == ours


def test_a_declared_encoding_is_not_believed_once_more() -> None:
    start = '<?xml version="1.0" encoding="koi8-r"?><html><head><meta charset=koi8-r></head>'
    text = taken(f"{start}<body><p>{FERRY} Größe</p><p>{CREW}</p></body></html>")
    assert text.startswith(f"{FERRY} Größe")


def test_a_page_that_leaves_out_what_html_lets_it_is_read() -> None:
    short = HTML.replace("<html><head>", "").replace("<body>", "")
    assert parsed(short).main_text == parsed(HTML).main_text


def test_it_is_bounded() -> None:
    assert parsed(HTML, structs.replace(TRAFILATURA, max_text_chars=10)).main_text == "Ferries\nTh"


def test_where_it_finds_nothing_ours_is_taken() -> None:
    assert taken("<body hidden>x") == ""
    assert parsed("<body hidden>x").main_text == "x"
    assert parsed("").main_text == ""


def test_a_rule_beats_it() -> None:
    rules = structs.replace(TRAFILATURA, sites=(SiteRule(name="a", url="*", body=("li",)),))
    assert parsed(HTML, rules).main_text == "Oil\nSalt and pepper"


def test_what_it_raises_is_no_text(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> str:
        raise RecursionError

    monkeypatch.setattr("trafilatura.extract", broken)
    assert taken(HTML) == ""


@given(st.text("<>/= \0\x01pdivtablexé\ud800&;!-'\"", max_size=200))
def test_it_never_raises(html: str) -> None:
    text = taken(html)
    assert all(line == " ".join(line.split()) != "" for line in text.split("\n") if text)


def test_the_step_takes_it(work: Workspace) -> None:
    work = with_trafilatura(work)
    store_round(work, [Fetched(HOME, HTML.encode())])
    parse.run(work)
    (document,) = table(work, "documents")
    assert document["main_text"].startswith("Ferries\nThe ferry")


def test_the_step_does_not_begin_without_it(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = with_trafilatura(work)
    store_round(work, [Fetched(HOME, HTML.encode())])
    before = work.store.manifest
    monkeypatch.setitem(sys.modules, "trafilatura", None)
    with pytest.raises(ConfigError, match="cannot be used: import of trafilatura") as raised:
        parse.run(work)
    assert raised.value.subject == 'parse.extractor = "trafilatura"'
    assert raised.value.remedy == "pip install 'gossamer[trafilatura]'"
    assert work.store.manifest == before


def test_a_machine_that_lacks_it_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "trafilatura.py").write_text("raise ImportError('lxml.html.clean is gone')")
    monkeypatch.syspath_prepend(tmp_path)
    with GuardedParser(TRAFILATURA) as parser, pytest.raises(EngineError, match="exit code 1"):
        parser.parse(Page(HOME, {}, HTML.encode()))
    assert "lxml.html.clean is gone" in capfd.readouterr().err


def with_trafilatura(work: Workspace) -> Workspace:
    config = structs.replace(work.config, parse=ParseConfig(extractor="trafilatura"))
    return replace(work, config=config)
