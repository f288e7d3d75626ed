"""Crawls with planted duplicates, and the decisions of `dedup` by definition, without its code."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

from gossamer.state import lsm
from gossamer.tables import DISPOSITIONS
from gossamer.web import sketches
from tests.support.rows import by_url, put

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Iterable, Mapping, Sequence

    from gossamer.state.workspace import Workspace

WORDS = [f"word{number}" for number in range(5_000)]


FORGOTTEN = ("sketched", "similar", "shingled", "judged", "mirrors", "shared_places")


def prose(seed: int, words: int = 600) -> list[str]:
    return random.Random(seed).choices(WORDS, k=words)  # noqa: S311  # reproducible


def edited(text: Sequence[str], changed: int, seed: int) -> list[str]:
    """A copy in which this many words are others."""
    draw = random.Random(seed)  # noqa: S311  # reproducible
    copy = list(text)
    for at in draw.sample(range(len(copy)), changed):
        copy[at] = f"other{draw.getrandbits(40)}"
    return copy


def similarity(one: Sequence[str], other: Sequence[str]) -> float:
    """Computed without the code under test."""
    sets = [{tuple(text[at : at + 5]) for at in range(len(text) - 4)} for text in (one, other)]
    return len(sets[0] & sets[1]) / len(sets[0] | sets[1])


def document(url: str, text: Sequence[str], title: str = "", **more: Any) -> dict[str, Any]:
    main = " ".join(text)
    text_hash, sketch = sketches.hash_and_sketch(main, title)
    plain = {"outcome": "parsed", "noindex": False, "digest": url, "main_text": main}
    plain |= {"fetched_ms": 0, "headings": []}
    return plain | {"url": url, "title": title, "text_hash": text_hash, "sketch": sketch} | more


def store(work: Workspace, documents: Sequence[dict[str, Any]], round_: int = 1) -> None:
    pages = [{"url": each["url"], "status": "fetched"} for each in documents]
    put(work, "pages", [page | {"host": page["url"].split("/")[2]} for page in pages], round_)
    put(work, "documents", [each | {"round": round_} for each in documents], round_)


def standing(work: Workspace) -> Mapping[str, dict[str, Any]]:
    """The dispositions by URL, without the ranks, which count only for pages in groups."""
    return by_url(lsm.current(work, DISPOSITIONS).drop("rank_class"))


def forget(work: Workspace) -> None:
    """The next harvest compares all texts, and decides about all pages, anew."""
    with work.step("test", work.round) as draft:
        draft.replace |= dict.fromkeys(FORGOTTEN, ())


@dataclass(frozen=True)
class Page:
    """What decides about a page."""

    url: str
    text: tuple[str, ...]
    rank: float
    canonical: str | None = None
    noindex: bool = False
    gone: bool = False

    @property
    def domain(self) -> str:
        return ".".join(self.url.split("/")[2].split(".")[-2:])


@dataclass
class History:
    """A crawl that changes: `pages` as they are now; `happen` changes some."""

    seed: int
    pages: dict[str, Page] = field(default_factory=dict)
    round: int = 0

    def __post_init__(self) -> None:
        self.draw = random.Random(self.seed)  # noqa: S311  # reproducible
        self.originals = [tuple(prose(self.seed * 100 + at, 300)) for at in range(6)]

    def text(self) -> tuple[str, ...]:
        """One of a few texts, or an edit of it or of another page: 1 word is 5 of 296 shingles."""
        kind = self.draw.random()
        known = [page.text for page in self.pages.values()]
        if kind < 0.3 or not known:
            return self.draw.choice(self.originals)
        if kind < 0.4:
            return self.draw.choice(known)
        if kind < 0.5:
            return tuple(prose(self.draw.getrandbits(30), 300))
        if kind < 0.55:
            return self.draw.choice(self.originals)[:60]  # without a sketch
        copied = self.draw.choice([*known, *self.originals])
        changed = min(self.draw.choice((1, 1, 2, 3, 4, 12)), len(copied))
        return tuple(edited(copied, changed, self.draw.getrandbits(30)))

    def page(self, url: str) -> Page:
        others = [other for other in self.pages if other != url]
        canonical = self.draw.choice(others) if others and self.draw.random() < 0.3 else None
        noindex = self.draw.random() < 0.1
        return Page(url, self.text(), self.draw.randint(1, 5) / 100, canonical, noindex)

    def happen(self, work: Workspace) -> None:
        """A round: new pages, and others that change, die, or return as they were."""
        self.round += 1
        changed = {}
        for url, page in list(self.pages.items()):
            turn = self.draw.random()
            if page.gone and turn < 0.5:
                changed[url] = replace(page, gone=False)
            elif turn < 0.15:
                changed[url] = replace(page, gone=True)
            elif turn < 0.25:
                changed[url] = self.page(url)
        for number in range(12):
            host = self.draw.choice(("a.example", "b.example", "www.a.example", "c.test"))
            url = f"http://{host}/{'x' * self.draw.randint(0, 2)}{self.round}-{number}"
            changed[url] = self.pages[url] = self.page(url)
        self.pages |= changed
        rows = [
            {
                "url": page.url,
                "host": page.url.split("/")[2],
                "status": "gone" if page.gone else "fetched",
            }
            for page in changed.values()
        ]
        put(work, "pages", rows, self.round)
        documents = [
            document(page.url, page.text, canonical=page.canonical, noindex=page.noindex)
            for page in changed.values()
            if not page.gone
        ]
        put(work, "documents", [each | {"round": self.round} for each in documents], self.round)
        with work.step("test", self.round) as draft:
            draft.replace["ranks"] = ()
        put(
            work,
            "ranks",
            [{"url": page.url, "rank": page.rank} for page in self.pages.values()],
            self.round,
        )


def _ordered(pages: Iterable[Page], agreed: Iterable[tuple[Page, Page]]) -> list[Page]:
    """Pages, the best first. Pairs of a copy and the canonical page that it names."""
    yields: set[str] = set()
    lent: dict[str, float] = {}
    for copy, named in agreed:
        yields.add(copy.url)
        lent[named.url] = max(copy.rank, lent.get(named.url, -math.inf))
    return sorted(
        pages,
        key=lambda page: (
            page.url in yields,
            -max(page.rank, lent.get(page.url, -math.inf)),
            len(page.url),
            page.url,
        ),
    )


def _rank_class(rank: float, pages: Collection[Page]) -> int:
    """Ranks are compared by their binary logarithms, 0 for that of an average page."""
    return math.floor(math.log2(rank * len(pages)))


def expected(
    pages: Collection[Page], least: float, scope: str
) -> tuple[dict[str, str], dict[str, dict[str, float]]]:
    """The survivors of pages with equal texts; and of those with similar ones, all that can be.

    The latter are the pages that stay and are similar, by URL, with the similarities.
    """
    ranked = [replace(page, rank=_rank_class(page.rank, pages)) for page in pages]
    fit = {page.url: page for page in ranked if not page.gone and not page.noindex}
    places = {url: page.domain if scope == "domain" else "" for url, page in fit.items()}
    groups: dict[tuple[str, tuple[str, ...]], list[Page]] = {}
    for page in fit.values():
        groups.setdefault((places[page.url], page.text), []).append(page)
    equal: dict[str, str] = {}
    left: dict[str, Page] = {}
    for group in groups.values():
        best, *others = _ordered(group, _agreed(group, {page.url for page in group}))
        left[best.url] = best
        equal |= {other.url: best.url for other in others}
    similar: dict[str, dict[str, float]] = {url: {} for url in left}
    for one, other in combinations(left.values(), 2):
        if places[one.url] == places[other.url] and min(len(one.text), len(other.text)) >= 100:
            found = similarity(one.text, other.text)
            if found >= least:
                similar[one.url][other.url] = similar[other.url][one.url] = found
    agreed = [
        pair for page in left.values() for pair in _agreed(left.values(), similar[page.url], page)
    ]
    chosen: set[str] = set()
    near = {}
    for page in _ordered(left.values(), agreed):
        better = {url: found for url, found in similar[page.url].items() if url in chosen}
        if better:
            near[page.url] = better
        else:
            chosen.add(page.url)
    return equal, near


def _agreed(
    pages: Iterable[Page], alike: Container[str], only: Page | None = None
) -> list[tuple[Page, Page]]:
    """Pairs of a page, or `only` this one, and its canonical page if that is alike."""
    named = {page.url: page for page in pages if page.canonical is None}
    return [
        (page, named[page.canonical])
        for page in (pages if only is None else (only,))
        if page.canonical in named and page.canonical in alike
    ]
