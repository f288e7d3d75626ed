"""Pages about one of ten topics each, which only their texts and links tell.

Most words of a page are those of any page; the others are of its topic. Pages link to their like
more often than by chance, as on the web (Davison, SIGIR 2000), and the text of a link is the title
of its target, or says nothing. URLs are numbers. A crawl that is told by a few pages what is wanted
can be judged: `TopicWeb.topic_of`.
"""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from gossamer.fakeweb.http_answer import HTML_TYPE, Answer, refusal
from gossamer.fakeweb.seeded_random import digest, stream
from gossamer.fakeweb.vocabulary import VOCABULARIES

if TYPE_CHECKING:
    from gossamer.fakeweb.seeded_random import Draw

TOPICS = 10
LINKS = 12
ENTRIES = 30
"""Links of a home page."""
LIKE = 0.5
"""How often a link leads to a page of the same topic on purpose; others lead anywhere."""
NAMED = 0.6
"""How often the text of a link is the title of its target."""
WORDS = 160
TOPICAL = 0.15
"""The share of these that are of the page's topic; as many are of any."""
TITLE_WORDS = 4


class Page(NamedTuple):
    """A page: its site, and its number there."""

    site: int
    number: int

    @property
    def url(self) -> str:
        return f"http://topic{self.site}.test/{self.number}"


class TopicWeb:
    """So many sites, each with so many pages and a home page."""

    def __init__(self, seed: int, sites: int, pages: int) -> None:
        self._seed, self._sites, self._pages = seed, sites, pages
        english = VOCABULARIES["en"]
        self._any = english.function
        self._own = [
            [stem + suffix for stem in english.stems[n::TOPICS] for suffix in english.suffixes]
            for n in range(TOPICS)
        ]
        self._all = [word for words in self._own for word in words]

    def seeds(self) -> list[str]:
        return [f"http://topic{n}.test/" for n in range(self._sites)]

    def topic_of(self, url: str) -> int | None:
        """The topic of a page; None for home pages, and for what is no page."""
        parts = urlsplit(url)
        page = self._page_at(parts.netloc, parts.path)
        return None if page is None else self._topic(page)

    def answer(self, host: str, target: str) -> Answer | None:
        """The answer of a host; None if it is not one of this web."""
        site = re.fullmatch(r"topic(\d+)\.test", host)
        if site is None or int(site[1]) >= self._sites:
            return None
        if target == "/":
            draw = stream(self._seed, f"home {host}").random
            links = [self._any_page(draw) for _ in range(ENTRIES)]
            return self._answer(f"Site {site[1]}", "", links, draw)
        page = self._page_at(host, target)
        if page is None:
            return refusal(HTTPStatus.NOT_FOUND, "no such page")
        draw, topic = stream(self._seed, f"page {page.url}").random, self._topic(page)
        words = (self._word(draw, topic) for _ in range(WORDS))
        links = [
            self._page_about(draw, topic) if draw() < LIKE else self._any_page(draw)
            for _ in range(LINKS)
        ]
        return self._answer(self._title(page), f"{' '.join(words)}.", links, draw)

    def _answer(self, title: str, text: str, links: list[Page], draw: Draw) -> Answer:
        items = "".join(
            f'<li><a href="{page.url}">{self._title(page) if draw() < NAMED else "more"}</a></li>'
            for page in links
        )
        body = (
            f"<!DOCTYPE html><html lang=en><head><meta charset=utf-8><title>{title}</title></head>"
            f"<body><main><h1>{title}</h1><p>{text}</p></main><nav><ul>{items}</ul></nav></body>"
            "</html>"
        )
        return Answer(HTTPStatus.OK, (("Content-Type", HTML_TYPE),), body.encode())

    def _page_at(self, host: str, path: str) -> Page | None:
        found = re.fullmatch(r"topic(\d+)\.test/(0|[1-9]\d*)", host + path)
        page = Page(int(found[1]), int(found[2])) if found else None
        is_one = page is not None and page.site < self._sites and page.number < self._pages
        return page if is_one else None

    def _topic(self, page: Page) -> int:
        return digest(self._seed, f"topic {page.url}") % TOPICS

    def _any_page(self, draw: Draw) -> Page:
        return Page(int(draw() * self._sites), int(draw() * self._pages))

    def _page_about(self, draw: Draw, topic: int) -> Page:
        """The next page of a topic after one that is drawn."""
        start = self._any_page(draw)
        numbers = ((start.number + n) % self._pages for n in range(self._pages))
        pages = (Page(start.site, number) for number in numbers)
        return next((page for page in pages if self._topic(page) == topic), start)

    def _title(self, page: Page) -> str:
        draw = stream(self._seed, f"title {page.url}").random
        own = self._own[self._topic(page)]
        words = [own[int(draw() * len(own))] for _ in range(TITLE_WORDS)]
        return f"{' '.join(words).capitalize()} {page.number}"

    def _word(self, draw: Draw, topic: int) -> str:
        kind = draw()
        words = (
            self._own[topic] if kind < TOPICAL else self._all if kind < 2 * TOPICAL else self._any
        )
        return words[int(draw() * len(words))]
