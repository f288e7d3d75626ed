"""An article below which people comment, and the lines of its main text."""

from __future__ import annotations

from tests.support.maintext_articles import text_of_page

ARTICLE = [
    "The ferry to the island leaves at dawn, when the harbour is still dark and quiet.",
    "Its captain has made the crossing for thirty years, and knows each of the passengers.",
]


def lines_of(body: str) -> list[str]:
    page = f"<!doctype html><title>The ferry</title><body>{body}</body>"
    return text_of_page(page).split("\n")


def article(lines: list[str] = ARTICLE) -> str:
    return "<h1>The ferry</h1>" + "".join(f"<p>{line}</p>" for line in lines)
