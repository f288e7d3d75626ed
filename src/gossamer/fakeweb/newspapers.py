"""Newspapers that publish while a crawl watches them, in several languages, and an agency.

An article appears every few seconds, at each paper in turn. A home page and an Atom feed list the
newest ones. The agency distributes what the English paper has published, word for word, a few
seconds later. Unlike the rest of fakeweb, an answer also depends on the time.
"""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, NamedTuple

from gossamer.fakeweb.http_answer import HTML_TYPE, Answer, ok_answer, refusal
from gossamer.fakeweb.prose import prose
from gossamer.fakeweb.seeded_random import stream

if TYPE_CHECKING:
    from collections.abc import Iterable

FEED_TYPE = "application/atom+xml"
LISTED = 20
"""Articles in a feed and on a home page. So many are there when a paper begins."""
PERIOD_S = 15
"""Seconds between two articles of a paper."""
DELAY_S = 5
"""Seconds until the agency has an article."""
SENTENCES = 14
TITLE_WORDS = 5


class Paper(NamedTuple):
    host: str
    name: str
    language: str
    source: str
    """The host that wrote its articles: its own, except for the agency."""


PAPERS = (
    Paper("gazette.test", "The Gazette", "en", "gazette.test"),
    Paper("zeitung.test", "Die Zeitung", "de", "zeitung.test"),
    Paper("journal.test", "Le Journal", "fr", "journal.test"),
    Paper("diario.test", "El Diario", "es", "diario.test"),
    Paper("agency.test", "News Agency", "en", "gazette.test"),
)


class Newspapers:
    """The papers; `since_s` is when they began to publish, as Unix time."""

    def __init__(self, seed: int, since_s: float) -> None:
        self._seed, self._since_s = seed, since_s
        self._papers = {paper.host: paper for paper in PAPERS}

    def seeds(self) -> list[str]:
        return [f"http://{host}/" for host in self._papers]

    def answer(self, host: str, target: str, now_s: float | None = None) -> Answer | None:
        """The answer at a time, which is now by default; None if no paper has the host."""
        paper = self._papers.get(host)
        if paper is None:
            return None
        count = self.published(paper, time.time() if now_s is None else now_s)
        newest = range(count - 1, max(-1, count - 1 - LISTED), -1)
        if target == "/":
            return self._home(paper, newest)
        if target == "/feed.xml":
            return self._feed(paper, newest)
        found = re.fullmatch(r"/news/(0|[1-9]\d{0,9})\.html", target)
        if found is None or int(found[1]) >= count:
            return refusal(HTTPStatus.NOT_FOUND, "no such article")
        return self._article(paper, int(found[1]))

    def published(self, paper: Paper, now_s: float) -> int:
        """How many articles a paper has published until then."""
        late_s = 0 if paper.source == paper.host else DELAY_S
        return LISTED + max(
            0, int((now_s - self._since_s - late_s - self._turn_s(paper)) / PERIOD_S)
        )

    def _turn_s(self, paper: Paper) -> float:
        return PERIOD_S * PAPERS.index(self._papers[paper.source]) / len(PAPERS)

    def _time(self, paper: Paper, n: int) -> float:
        """When article n was written."""
        return self._since_s + self._turn_s(paper) + (n + 1 - LISTED) * PERIOD_S

    def _title(self, paper: Paper, n: int) -> str:
        words = stream(self._seed, f"headline {paper.source} {n}").random
        title = prose(paper.language).phrase(words, TITLE_WORDS)
        return title[:1].upper() + title[1:]

    def _article(self, paper: Paper, n: int) -> Answer:
        title, written_s = self._title(paper, n), self._time(paper, n)
        drawn = stream(self._seed, f"article {paper.source} {n}")
        text = b"".join(prose(paper.language).sentences(drawn, SENTENCES)).decode()
        body = (
            f"<article><h1>{title}</h1><p><time datetime={_written(written_s)}></time></p>"
            f"<p>{text}</p></article>"
        )
        return _page(paper, f"{title} – {paper.name}", body, written_s)

    def _home(self, paper: Paper, newest: Iterable[int]) -> Answer:
        items = "".join(
            f'<li><a href="/news/{n}.html">{self._title(paper, n)}</a></li>' for n in newest
        )
        return _page(paper, paper.name, f"<h1>{paper.name}</h1><ul>{items}</ul>", self._since_s)

    def _feed(self, paper: Paper, newest: range) -> Answer:
        entries = "".join(
            f"<entry><id>http://{paper.host}/news/{n}.html</id>"
            f"<title>{self._title(paper, n)}</title>"
            f'<link href="http://{paper.host}/news/{n}.html"/>'
            f"<updated>{_written(self._time(paper, n))}</updated></entry>"
            for n in newest
        )
        feed = (
            '<?xml version="1.0" encoding="utf-8"?><feed xmlns="http://www.w3.org/2005/Atom">'
            f"<id>http://{paper.host}/</id><title>{paper.name}</title>"
            f"<updated>{_written(self._time(paper, newest[0]))}</updated>{entries}</feed>"
        )
        return ok_answer(feed.encode(), FEED_TYPE, self._time(paper, newest[0]))


def _page(paper: Paper, title: str, body: str, written_s: float) -> Answer:
    text = (
        f"<!DOCTYPE html><html lang={paper.language}><head><meta charset=utf-8>"
        f"<title>{title}</title>"
        f'<link rel=alternate type={FEED_TYPE} href="/feed.xml" title="{paper.name}"></head>'
        f'<body><header><a href="/">{paper.name}</a></header><main>{body}</main></body></html>'
    )
    return ok_answer(text.encode(), HTML_TYPE, written_s)


def _written(at_s: float) -> str:
    return f"{datetime.fromtimestamp(at_s, UTC):%Y-%m-%dT%H:%M:%SZ}"
