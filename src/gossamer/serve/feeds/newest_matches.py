"""Which pages are in the feed of a query: the newest that match it.

The newest changes of the index are asked about first: which of these pages match? A feed then has
a page from the moment at which it is in the index, whatever date the page has, and however many
others match. If that gives too few pages, those with the newest dates of their own follow.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple, Protocol

from cachetools import LRUCache

from gossamer.index.changes.reading import is_on_site
from gossamer.search.messages import Question
from gossamer.serve.dispatch.fair_queue import FairQueue
from gossamer.tables import CHANGES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gossamer.index.changes.reading import Change, ChangeLog
    from gossamer.search.results import Hit, Results
    from gossamer.state.lookup import Lookup
    from gossamer.state.workspace import Workspace

MAX_ENTRIES = 50
LOOKED_AT = 1_000
"""The newest changes that are asked about."""
AT_ONCE = 50
"""Pages that one search asks about. More would wait with expensive searches."""
MAX_WAITING = 64
"""Feeds that wait for their turn."""
KEPT = 64
"""Feeds that are kept until the index changes: readers ask again and again."""


class Searches(Protocol):
    """What answers questions: gossamer.serve.dispatch.front.Dispatcher."""

    async def search(self, question: Question, client: str) -> Results: ...


class Wanted(NamedTuple):
    """What a feed is about: a query, and a host to which (or below which) its pages belong."""

    query: str
    site: str = ""

    @property
    def text(self) -> str:
        """The query with its site."""
        if not self.site:
            return self.query
        return f"({self.query}) AND site:{self.site}" if self.query else f"site:{self.site}"


class FeedEntry(NamedTuple):
    """A page: `updated_ms` is when it came or changed, and `snippet` is HTML."""

    url: str
    title: str
    snippet: str
    updated_ms: int
    published_ms: int | None
    language: str | None


class NewestMatches:
    """Finds the entries of feeds. Belongs to one event loop.

    Feeds take turns, since each takes up to 21 searches: so they never have more than one search
    process, and that of a client waits for at most one of each other client.
    """

    def __init__(self, work: Workspace, log: ChangeLog, lookup: Lookup, searches: Searches) -> None:
        self._work, self._log, self._lookup, self._searches = work, log, lookup, searches
        self._kept: LRUCache[tuple[Wanted, str], list[FeedEntry]] = LRUCache(KEPT)
        self._turns = FairQueue("feed", 1, MAX_WAITING)

    async def entries(self, wanted: Wanted, state: str, client: str) -> list[FeedEntry]:
        """The entries, newest first. `state`: of the newest index that is open. Raises Busy."""
        known = self._kept.get((wanted, state))
        if known is not None:
            return known
        async with self._turns.taken(client):
            known = self._kept.get((wanted, state))  # another request may have found them
            return await self._find(wanted, state, client) if known is None else known

    async def _find(self, wanted: Wanted, state: str, client: str) -> list[FeedEntry]:
        recent = await asyncio.to_thread(self._recent, wanted.site)
        answers: list[Results] = []
        found = await self._matching(wanted, recent, client, answers)
        if len(found) < MAX_ENTRIES and wanted.text:
            known_urls = {entry.url for entry in found}
            others = await self._dated(wanted, client, answers)
            found += await asyncio.to_thread(
                lambda: [self._older(hit) for hit in others if hit.url not in known_urls]
            )
        found = sorted(found, key=lambda entry: (-entry.updated_ms, entry.url))[:MAX_ENTRIES]
        if all(answer.state == state for answer in answers):  # other processes may open it later
            self._kept[wanted, state] = found
        return found

    def _recent(self, site: str) -> list[Change]:
        self._work.store.refresh()
        return self._log.recent(LOOKED_AT, site)

    async def _matching(
        self, wanted: Wanted, recent: Sequence[Change], client: str, answers: list[Results]
    ) -> list[FeedEntry]:
        """Entries for those of the recently changed pages that match."""
        entries: list[FeedEntry] = []
        for start in range(0, len(recent), AT_ONCE):
            changed = {change.url: change for change in recent[start : start + AT_ONCE]}
            question = matching_question(wanted.text, tuple(changed))
            answers.append(await self._searches.search(question, client))
            entries += [_entry(hit, changed[hit.url].at_ms) for hit in matches(answers[-1])]
            if len(entries) >= MAX_ENTRIES:
                break
        return entries

    async def _dated(self, wanted: Wanted, client: str, answers: list[Results]) -> list[Hit]:
        question = Question(wanted.text, 0, MAX_ENTRIES, by_date=True, verbatim=True)
        answers.append(await self._searches.search(question, client))
        return [hit for hit in matches(answers[-1]) if is_on_site(hit.url, wanted.site)]

    def _older(self, hit: Hit) -> FeedEntry:
        """The entry for a page whose last change is not among the newest ones."""
        rows = self._lookup.rows(CHANGES.name, "url", hit.url, ["harvest", "at_ms"])
        last = max(((row["harvest"], row["at_ms"]) for row in rows), default=(0, hit.fetched_ms))
        return _entry(hit, last[1])


def matching_question(text: str, urls: tuple[str, ...]) -> Question:
    """Which of some pages match a query with all words, as they were typed?"""
    return Question(text, 0, len(urls), by_date=True, verbatim=True, among=urls)


def matches(found: Results) -> list[Hit]:
    """The pages that have all the words."""
    return [hit for hit in found.hits if not hit.partial]


def _entry(hit: Hit, updated_ms: int) -> FeedEntry:
    return FeedEntry(
        hit.url, hit.title or hit.url, hit.snippet, updated_ms, hit.date_ms, hit.language
    )
