"""News sites: few articles among many pages that no reader searches for.

Each site has articles, forty for each day, and its own spelling of URLs: fifteen differ.
The home page and five sections list the newest ones. All others are found only five links deep,
behind an archive's years, months and days, or by links to their neighbours in time. Around them
lies eight times as much else, and more: tags, a forum, redirects that count clicks, and a calendar.

`NewsWeb.is_article` judges a URL, so that a crawl can be judged.
"""

from __future__ import annotations

import re
from datetime import date, timedelta
from http import HTTPStatus
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from gossamer.fakeweb.http_answer import HTML_TYPE, Answer, redirect, refusal
from gossamer.fakeweb.prose import prose
from gossamer.fakeweb.seeded_random import stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

FIRST_DAY = date(2019, 1, 1)
PER_DAY = 40
"""Articles."""
SECTIONS = ("politics", "world", "culture", "sports", "science")
NEWEST = 20
"""Articles on a home page or the front page of a section."""
NEIGHBOURS = 3
SENTENCES = 16
"""Of an article. A post in the forum has two."""
TAGS, THREADS, CLICKS = 3, 3, 2
"""Pages of this kind for each article, besides those of the calendar."""
TAGS_OF_ARTICLE = 4
TAGGED, RELATED_TAGS = 10, 30
"""Articles and other tags on the page of a tag."""
POSTERS = 5
"""Threads for each user of the forum."""

Link = tuple[str, str]
"""Where it leads, and its text."""


class Style(NamedTuple):
    """How a site spells the URLs of its articles."""

    spell: Callable[[int, date, str], str]
    pattern: str
    """Matches such a path, with the number of the article as its only group."""


STYLES = (
    Style(lambda n, day, slug: f"/{day:%Y/%m/%d}/{slug}-{n}/", r"/\d{4}/\d\d/\d\d/[^/]+-(\d+)/"),
    Style(lambda n, _, slug: f"/article/{n}-{slug}", r"/article/(\d+)-[^/]+"),
    Style(
        lambda n, _, slug: f"/{SECTIONS[n % len(SECTIONS)]}/{slug}-{n}.html",
        rf"/(?:{'|'.join(SECTIONS)})/[^/]+-(\d+)\.html",
    ),
    Style(lambda n, *_: f"/story?id={n}", r"/story\?id=(\d+)"),
    Style(lambda n, day, slug: f"/{day:%Y}/{slug}-{n}.html", r"/\d{4}/[^/]+-(\d+)\.html"),
)


class Furniture(NamedTuple):
    """How a site spells the URLs of all other pages."""

    archive: str
    tag: str
    forum: str
    thread: str
    user: str
    click: str
    calendar: str
    """Of a year and a month."""


FURNITURE = (
    Furniture(
        archive="/archive/",
        tag="/tag/{}",
        forum="/forum/",
        thread="/forum/thread/{}",
        user="/forum/user/{}",
        click="/go/{}",
        calendar="/calendar/{:04}/{:02}/",
    ),
    Furniture(
        archive="/all/",
        tag="/topics/{}.html",
        forum="/community/",
        thread="/community/{}/",
        user="/members/{}",
        click="/redirect?to={}",
        calendar="/events/calendar?month={:04}-{:02}",
    ),
    Furniture(
        archive="/index/by-date/",
        tag="/?tag={}",
        forum="/viewforum",
        thread="/viewtopic?t={}",
        user="/profile?u={}",
        click="/out/{}/",
        calendar="/calendar-{:04}-{:02}.html",
    ),
)


def host_of(site: int) -> str:
    return f"news{site}.test"


class NewsWeb:
    """So many sites, each with so many articles."""

    def __init__(self, seed: int, sites: int, articles: int) -> None:
        self._sites = {host_of(n): NewsSite(seed, n, articles) for n in range(sites)}

    def seeds(self) -> list[str]:
        return [f"http://{host}/" for host in self._sites]

    def is_article(self, url: str) -> bool:
        parts = urlsplit(url)
        target = f"{parts.path}?{parts.query}" if parts.query else parts.path
        site = self._sites.get(parts.netloc)
        return site is not None and site.article_at(target) is not None

    def articles(self, share: float = 1) -> set[str]:
        """The URLs of the oldest share of all articles."""
        return {
            f"http://{host}{site.path(n)}"
            for host, site in self._sites.items()
            for n in range(int(site.articles * share))
        }

    def answer(self, host: str, target: str) -> Answer | None:
        """The answer of a host; None if it is not one of this web."""
        site = self._sites.get(host)
        return None if site is None else site.answer(target)


class NewsSite:
    """One site. Article n is older than n + 1."""

    def __init__(self, seed: int, number: int, articles: int) -> None:
        self._seed = seed
        self._number = number
        self.articles = articles
        self._style = STYLES[number % len(STYLES)]
        self._tags, self._threads, self._clicks = (n * articles for n in (TAGS, THREADS, CLICKS))
        self._paths = FURNITURE[number // len(STYLES) % len(FURNITURE)]
        archive = re.escape(self._paths.archive)
        self._routes: tuple[tuple[str, Callable[..., Answer]], ...] = (
            (r"/", self._home),
            (rf"/({'|'.join(SECTIONS)})/", self._front),
            (_news_pattern(self._paths.tag), self._tag),
            (_news_pattern(self._paths.forum), self._forum),
            (_news_pattern(self._paths.thread), self._thread),
            (_news_pattern(self._paths.user), self._user),
            (_news_pattern(self._paths.calendar), self._calendar),
            (_news_pattern(self._paths.click), self._click),
            (archive, self._years),
            (rf"{archive}(\d{{4}})/", self._months),
            (rf"{archive}(\d{{4}})/(\d\d)/", self._days),
            (rf"{archive}(\d{{4}})/(\d\d)/(\d\d)/", self._day),
        )

    def answer(self, target: str) -> Answer:
        n = self.article_at(target)
        if n is not None:
            return self._article(n)
        for pattern, page in self._routes:
            if found := re.fullmatch(pattern, target):
                return page(*(int(g) if g.isdecimal() else g for g in found.groups()))
        return refusal(HTTPStatus.NOT_FOUND, "no such page")

    def article_at(self, target: str) -> int | None:
        """The number of the article at a path; None if there is none."""
        found = re.fullmatch(self._style.pattern, target)
        n = int(found[1]) if found else -1
        return n if 0 <= n < self.articles and self.path(n) == target else None

    def path(self, n: int) -> str:
        """Where article n is."""
        return self._style.spell(n, self._date(n), self._slug(n))

    # Pages

    def _article(self, n: int) -> Answer:
        near = (n + step for step in range(-NEIGHBOURS, NEIGHBOURS + 1) if step)
        links = [self._article_link(each) for each in near if 0 <= each < self.articles]
        links += [
            self._tag_link(each) for each in self._some(f"tags {n}", TAGS_OF_ARTICLE, self._tags)
        ]
        links.append((self._paths.thread.format(THREADS * n), "Comments"))
        links += [
            (self._paths.click.format(CLICKS * n + place), text)
            for place, text in enumerate(("Share", "Source"))
        ]
        return self._page(self._title(n), links, SENTENCES, f"article {n}")

    def _home(self) -> Answer:
        links = [(f"/{section}/", section) for section in SECTIONS]
        links += [(self._paths.archive, "Archive"), (self._paths.forum, "Forum")]
        newest = self._date(self.articles - 1)
        links.append((self._paths.calendar.format(newest.year, newest.month), "Calendar"))
        links += map(self._article_link, self._newest(range(self.articles)))
        links += map(self._tag_link, range(min(RELATED_TAGS, self._tags)))
        return self._page(f"News {self._number}", links)

    def _front(self, section: str) -> Answer:
        of_section = range(SECTIONS.index(section), self.articles, len(SECTIONS))
        return self._page(section, map(self._article_link, self._newest(of_section)))

    def _tag(self, n: int) -> Answer:
        if n >= self._tags:
            return refusal(HTTPStatus.NOT_FOUND, "no such tag")
        tagged = self._some(f"tagged {n}", TAGGED, self.articles)
        # Tags are about what is new: their articles are among the last half.
        links = [self._article_link(self.articles - 1 - each // 2) for each in tagged]
        links += map(self._tag_link, self._some(f"related {n}", RELATED_TAGS, self._tags))
        return self._page(f"Tag {n}", links)

    def _forum(self) -> Answer:
        newest = range(self._threads - 1, -1, -1)[: 3 * NEWEST]
        return self._page("Forum", map(self._thread_link, newest))

    def _thread(self, n: int) -> Answer:
        if n >= self._threads:
            return refusal(HTTPStatus.NOT_FOUND, "no such thread")
        links = map(self._thread_link, self._some(f"threads {n}", NEWEST, self._threads))
        user = self._paths.user.format(n // POSTERS)
        return self._page(f"Thread {n}", [*links, (user, "user")], 2, f"thread {n}")

    def _user(self, n: int) -> Answer:
        threads = range(n * POSTERS, min((n + 1) * POSTERS, self._threads))
        if not threads:
            return refusal(HTTPStatus.NOT_FOUND, "no such user")
        return self._page(f"User {n}", map(self._thread_link, threads))

    def _calendar(self, year: int, month: int) -> Answer:
        """It has no end."""
        if not 1 <= month <= 12:  # noqa: PLR2004
            return refusal(HTTPStatus.NOT_FOUND, "no such month")
        months = year * 12 + month - 1
        near = [divmod(months + step, 12) for step in (-12, -1, 1, 12)]
        links = [
            (self._paths.calendar.format(y, m + 1), f"{y}-{m + 1}")
            for y, m in near
            if y < 9999  # noqa: PLR2004
        ]
        return self._page(f"Events of {year}-{month}", links)

    def _click(self, n: int) -> Answer:
        if n >= self._clicks:
            return refusal(HTTPStatus.NOT_FOUND, "no such link")
        return redirect(HTTPStatus.FOUND, self.path(n // CLICKS))

    def _years(self) -> Answer:
        years = {self._date(n).year for n in (0, self.articles - 1)}
        return self._list("", range(min(years), max(years) + 1), "{:04}")

    def _months(self, year: int) -> Answer:
        return self._list(f"{year:04}/", {day.month for day in self._dates(year)})

    def _days(self, year: int, month: int) -> Answer:
        days = {day.day for day in self._dates(year) if day.month == month}
        return self._list(f"{year:04}/{month:02}/", days)

    def _day(self, year: int, month: int, day: int) -> Answer:
        found = [n for n in range(self.articles) if self._date(n) == _news_date(year, month, day)]
        return self._page(f"Archive {year}-{month}-{day}", map(self._article_link, found))

    def _list(self, above: str, parts: Iterable[int], form: str = "{:02}") -> Answer:
        above = self._paths.archive + above
        names = map(form.format, sorted(parts))
        return self._page(f"Archive {above}", [(f"{above}{name}/", name) for name in names])

    def _page(self, title: str, links: Iterable[Link], sentences: int = 0, key: str = "") -> Answer:
        drawn = stream(self._seed, f"{self._number} {key}")
        text = b"".join(prose("en").sentences(drawn, sentences)).decode() if sentences else ""
        items = "".join(f'<li><a href="{href}">{words}</a></li>' for href, words in links)
        body = (
            f"<!DOCTYPE html><html lang=en><head><meta charset=utf-8><title>{title}</title></head>"
            f"<body><main><h1>{title}</h1><p>{text}</p></main><nav><ul>{items}</ul></nav></body>"
            "</html>"
        )
        return Answer(HTTPStatus.OK, (("Content-Type", HTML_TYPE),), body.encode())

    # What they are made of

    def _date(self, n: int) -> date:
        return FIRST_DAY + timedelta(days=int(n / PER_DAY))

    def _dates(self, year: int) -> set[date]:
        return {day for day in map(self._date, range(self.articles)) if day.year == year}

    def _title(self, n: int) -> str:
        words = prose("en").phrase(stream(self._seed, f"title {self._number} {n}").random, 5)
        return f"{words.capitalize()} {n}"

    def _slug(self, n: int) -> str:
        return re.sub(r"[^a-z]+", "-", self._title(n).lower()).strip("-")

    def _newest(self, numbers: range) -> range:
        return numbers[::-1][:NEWEST]

    def _some(self, key: str, many: int, most: int) -> list[int]:
        draw = stream(self._seed, f"{self._number} {key}").random
        return [int(draw() * most) for _ in range(many)]

    def _article_link(self, n: int) -> Link:
        return self.path(n), self._title(n)

    def _tag_link(self, n: int) -> Link:
        return self._paths.tag.format(n), f"tag {n}"

    def _thread_link(self, n: int) -> Link:
        return self._paths.thread.format(n), f"thread {n}"


def _news_pattern(form: str) -> str:
    """Matches what a form makes of numbers, each of which is a group."""
    return r"(\d+)".join(re.escape(text) for text in re.split(r"\{[^}]*\}", form))


def _news_date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
