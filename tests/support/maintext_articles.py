"""An article, and the main text that is found in a page around it."""

from __future__ import annotations

from selectolax.lexbor import LexborHTMLParser

from gossamer.parse.html.html_page import article
from gossamer.parse.html.walk import findings
from gossamer.parse.parsed_page import Rules

FIRST = "The ferry to the island leaves at dawn, when the harbour is still dark and quiet."
SECOND = "Its captain has made the crossing for thirty years, and knows each of the passengers."
THIRD = "In winter, when storms keep the ship in port, letters may take a week to arrive there."
ARTICLE = f"<p>{FIRST}</p><p>{SECOND}</p><p>{THIRD}</p>"
LINES = [FIRST, SECOND, THIRD]
OTHER = "Nobody had expected that the old lighthouse would be sold, least of all its keeper."
MENU = "<ul>" + "".join(f"<li><a href=/{n}>Section {n}</a></li>" for n in range(9)) + "</ul>"


def text_of(body: str, head: str = "") -> str:
    page = f"<!doctype html><head>{head}</head><body>{body}</body>"
    return text_of_page(page)


def text_of_page(page: str) -> str:
    tree = LexborHTMLParser(page, scripting=True)
    return article(tree, findings(tree, Rules())).text


def lines_of(body: str, head: str = "") -> list[str]:
    return text_of(body, head).split("\n")
