"""From a question to its answer: what to ask the nodes, and how to put together what they say.

The index may lie in one process or on many machines; the answer is the same. A question is answered
in a few steps, and in each all nodes, or some, are asked at once:

    Read     what a page says that others are to be like, and Tally, how frequent its words are
    Survey   how many pages have its words (not if there is only one node, which knows)
    Find     the best pages, with every word; and again, with any, where these are few
    Look     what the second step of the ranking adds to the best
    Weigh    the cosines of these with the query, in the profile of that name
    Show     what is shown of those that made it
    Spell    what was meant, where few pages have all the words

There is no I/O in here: an answer is a generator, which yields what to ask and is sent what came
back. Who drives it decides how nodes are asked, and how long to wait (`search.py`, `cluster/`).
A node that did not reply is not asked again for this question, and the answer says that it misses
something.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import msgspec

from gossamer.index.schema import composed
from gossamer.serve import node
from gossamer.serve import query as language
from gossamer.serve.answers import Count, Hit, Results
from gossamer.serve.messages import (
    MAX_MOST,
    Answered,
    Complete,
    Completed,
    Explain,
    Explained,
    Find,
    Found,
    Look,
    Looked,
    Show,
    Shown,
    Spell,
    Spelt,
    Survey,
    Surveyed,
    Weigh,
    Weighed,
)
from gossamer.serve.placing import Placed, in_order, spread
from gossamer.serve.profiles import scores
from gossamer.serve.ranking import popularity
from gossamer.serve.recency import freshness, wanted
from gossamer.serve.resolve import resolved
from gossamer.serve.spelling import Near, completed, looked_up, suggestion
from gossamer.urls import host_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence

    from gossamer.config import RankingConfig
    from gossamer.serve.messages import Candidate, Counts, Place, Question, Reply, Request, Sight
    from gossamer.serve.resolve import Meant

MAX_QUERY_CHARS = 1_000
MAX_RESULTS = MAX_MOST
"""Answers that can be paged through."""
CLOSER = 30
"""So many of the best by words are scored in full."""
MIN_WHOLE = 10
MIN_LOOSE_WORDS = 3
"""With fewer pages that have all of at least so many words, those with some of them follow. Of two
words, who gets pages with both does not want those with one."""

_T = TypeVar("_T")
_R = TypeVar("_R")
_V = TypeVar("_V")
Asking: TypeAlias = "Generator[dict[int, Request], dict[int, Reply], _T]"
"""Yields what to ask of which node; is sent what these replied, without those that did not."""


class Broker:
    """Answers questions to an index that so many nodes hold."""

    def __init__(self, nodes: int, weights: RankingConfig) -> None:
        self._nodes = range(nodes)
        self._weights = weights

    def answer(self, question: Question, meant: Meant) -> Asking[Answered]:
        """The pages for a query, from `offset`; at most MAX_RESULTS can be reached.

        `meant` tells what the crawl knows of the pages that it asks about: see `resolve.py`.
        """
        return _Answer(self._nodes, self._weights, question, meant).made()

    def complete(self, text: str, limit: int) -> Asking[list[str]]:
        """What a query that is being typed may become: its last word completed."""
        text = read(text)
        counts: Counter[str] = Counter()
        replies = yield dict.fromkeys(self._nodes, Complete(text, limit))
        for reply in replies.values():
            if isinstance(reply, Completed):
                counts.update(reply.words)
        return completed(text, counts, limit)


class _Answer:
    """One question on its way. Who is `_missing` is not asked again."""

    def __init__(
        self, nodes: Iterable[int], weights: RankingConfig, question: Question, meant: Meant
    ) -> None:
        self._nodes = list(nodes)
        self._missing: set[int] = set()
        self._states: dict[int, str] = {}
        self._weights = weights
        self._question = question
        self._profile = question.profile or weights.profile
        self._text = read(question.query)
        self._tree = language.parse(self._text)
        self._pages_meant = meant
        self._time = wanted(self._tree, time.time_ns() // 1_000_000)
        self._most = min(MAX_RESULTS, max(node.REORDERED, question.offset + question.limit))

    def made(self) -> Asking[Answered]:
        started_s = time.perf_counter()
        question = self._question
        self._tree = yield from resolved(self._tree, self._pages_meant, self._all)
        counts = (yield from self._survey()) if len(self._nodes) > 1 else None
        by_date, facets = question.by_date, question.facets
        dated = self._time is not None
        strict = Find(self._tree, self._most, not by_date, False, by_date, facets, counts, dated)
        found = yield from self._find(strict)
        if _is_short(found.values()):
            strict = msgspec.structs.replace(strict, first=False)
            self._states = {}
            found = yield from self._find(strict)
        pages = sum(each.pages for each in found.values())
        searched = sum(each.searched for each in found.values())
        whole = total = sum(each.total for each in found.values()) * pages // max(searched, 1)
        telling = max((each.telling for each in found.values()), default=0)
        best = yield from self._ordered(found, strict, partial=False)
        last = question.offset + question.limit
        if searched < pages and len(best) < last:  # the other tiers follow
            strict = msgspec.structs.replace(strict, first=False)
            found = yield from self._find(strict)
            whole = total = sum(each.total for each in found.values())
            searched = pages
            before = {each.page.key for each in best}
            rest = yield from self._ordered(found, strict, partial=False)
            best += [each for each in rest if each.page.key not in before]
        wide = msgspec.structs.replace(strict, first=False, wide=True)
        few = MIN_WHOLE if telling >= MIN_LOOSE_WORDS else 1
        if telling and whole < few and language.is_loose(self._tree):
            found = yield from self._find(wide)
            total = sum(each.total for each in found.values())
            known = {each.place for each in best}
            more = yield from self._ordered(found, wide, partial=True)
            best += [each for each in more if each.place not in known]
        shown = best[question.offset : last]
        sights = yield from self._show(shown)
        told = (yield from self._explain(shown, strict, wide)) if question.explain else {}
        hits = [
            _hit(each, sights[each.place], pages, told.get(each.place))
            for each in shown
            if each.place in sights
        ]
        meant = (yield from self._meant()) if whole < MIN_WHOLE else None
        results = Results(
            total,
            hits,
            round((time.perf_counter() - started_s) * 1000, 1),
            whole=whole,
            relaxed=whole == 0 < total,
            facets=_summed(found.values(), pages, searched) if facets else {},
            suggestion=meant,
            missing=len(self._missing),
            estimated=searched < pages,
        )
        states = set(self._states.values())
        return Answered(states.pop() if len(states) == 1 else "", results)

    def _ask(self, requests: dict[int, Request], kind: type[_R]) -> Asking[dict[int, _R]]:
        """Ask some nodes; who gives no reply of that kind, is missing."""
        replies = yield {
            number: each for number, each in requests.items() if number not in self._missing
        }
        good: dict[int, _R] = {
            number: each for number, each in replies.items() if isinstance(each, kind)
        }
        self._missing |= requests.keys() - good.keys()
        return good

    def _all(self, request: Request, kind: type[_R]) -> Asking[dict[int, _R]]:
        return (yield from self._ask(dict.fromkeys(self._nodes, request), kind))

    def _survey(self) -> Asking[Counts]:
        """By language, field and term, how many pages of all nodes have the term."""
        replies = yield from self._all(Survey(self._tree), Surveyed)
        counts: Counts = {}
        for reply in replies.values():
            for key, fields in reply.counts.items():
                for field, terms in fields.items():
                    known = counts.setdefault(key, {}).setdefault(field, {})
                    for term, pages in terms.items():
                        known[term] = known.get(term, 0) + pages
        return counts

    def _find(self, find: Find) -> Asking[dict[int, Found]]:
        """What the nodes find. Who has found something in another state of its index is missing."""
        found = yield from self._all(find, Found)
        same = {
            number: each
            for number, each in found.items()
            if self._states.setdefault(number, each.state) == each.state
        }
        self._missing |= found.keys() - same.keys()
        return same

    def _ordered(
        self, found: Mapping[int, Found], find: Find, *, partial: bool
    ) -> Asking[list[Placed]]:
        """The candidates of all nodes, the best first."""
        best = self._best(found, partial=partial)
        if self._question.by_date:
            return best
        front, behind = best[: node.REORDERED], best[node.REORDERED :]
        if any(each.closer for each in found.values()):
            looked = yield from self._told(
                front[:CLOSER],
                lambda state, pages: Look(state, find, [(page.place, page.key) for page in pages]),
                Looked,
                lambda reply: reply.scores,
            )
            for each in front[:CLOSER]:
                each.words += looked.get(each.place, 0.0)
        if self._profile == "cosine":
            weighed = yield from self._told(
                front,
                lambda state, pages: Weigh(state, self._tree, _places(pages), find.counts),
                Weighed,
                lambda reply: reply.cosines,
            )
            for each in front:
                each.cosine = weighed.get(each.place, 0.0)
        worth = scores(self._profile, front, self._weights, self._time)
        for each, score in zip(front, worth, strict=True):
            each.score = score
        front = in_order(front)
        if not partial and not language.names_host(self._tree):
            front = spread(front)
        return [*front, *behind]

    def _best(self, found: Mapping[int, Found], *, partial: bool) -> list[Placed]:
        """The best by their words, which are all that their scores are so far."""
        telling = not self._question.by_date and any(each.telling for each in found.values())
        ours = [
            Placed(number, page, partial, words := page.value if telling else 0.0, words)
            for number, each in found.items()
            for page in each.candidates
        ]
        if len(found) > 1:
            ours.sort(key=lambda each: (-each.page.value, each.node, each.page.place))
        return ours[: self._most]

    def _told(
        self,
        placed: Iterable[Placed],
        ask: Callable[[str, Sequence[Candidate]], Request],
        kind: type[_R],
        values: Callable[[_R], Iterable[_V]],
    ) -> Asking[dict[tuple[int, Place], _V]]:
        """What each node tells of its candidates, asked about them in that state of its index."""
        pages: dict[int, list[Candidate]] = defaultdict(list)
        for each in placed:
            pages[each.node].append(each.page)
        requests = {number: ask(self._states[number], ours) for number, ours in pages.items()}
        replies = yield from self._ask(requests, kind)
        return {
            (number, page.place): value
            for number, reply in replies.items()
            for page, value in zip(pages[number], values(reply), strict=True)
        }

    def _show(self, placed: Iterable[Placed]) -> Asking[dict[tuple[int, Place], Sight]]:
        return (
            yield from self._told(
                placed,
                lambda state, pages: Show(state, self._tree, _places(pages)),
                Shown,
                lambda reply: reply.pages,
            )
        )

    def _explain(
        self, placed: Sequence[Placed], strict: Find, wide: Find
    ) -> Asking[dict[tuple[int, Place], dict[str, Any]]]:
        """How their scores came about: of each page what its words are, and what else counts."""
        words: dict[tuple[int, Place], dict[str, Any]] = {}
        for partial, find in ((False, strict), (True, wide)):
            words |= yield from self._told(
                [each for each in placed if each.partial == partial],
                _explaining(find),
                Explained,
                lambda reply: reply.words,
            )
        return {
            each.place: {
                "words": words[each.place],
                "profile": self._profile,
                "popularity": {
                    "value": popularity(each.page.merit),
                    "weight": self._weights.popularity,
                },
                "freshness": {
                    "value": freshness(each.page.date_ms, self._time),
                    "weight": self._weights.freshness,
                },
            }
            for each in placed
            if words.get(each.place)
        }

    def _meant(self) -> Asking[str | None]:
        """The query as it may have been meant, from what all nodes have of its words."""
        words = looked_up(" ".join(each.text for each in language.typed(self._tree)))
        if not words:
            return None
        replies = yield from self._all(Spell(words), Spelt)
        near = {}
        for word in words:
            told = [reply.words[word] for reply in replies.values() if word in reply.words]
            like: Counter[str] = Counter()
            for each in told:
                like.update(each.words)
            near[word] = Near(sum(each.pages for each in told), like)
        return suggestion(self._text, near)


def read(query: str) -> str:
    """What of a query counts, as the index holds words."""
    return composed(query[:MAX_QUERY_CHARS].encode("utf-8", "replace").decode())


def _places(pages: Iterable[Candidate]) -> list[Place]:
    return [page.place for page in pages]


def _explaining(find: Find) -> Callable[[str, Sequence[Candidate]], Explain]:
    return lambda state, pages: Explain(state, find, _places(pages))


def _is_short(found: Collection[Found]) -> bool:
    """Whether the first tier was searched, and has too few."""
    partly = [each for each in found if each.searched < each.pages]
    return bool(partly) and sum(each.total for each in partly) < node.ENOUGH


def _hit(placed: Placed, sight: Sight, pages: int, explanation: dict[str, Any] | None) -> Hit:
    merit = placed.page.merit
    return Hit(
        url=sight.url,
        title=sight.title,
        snippet=sight.snippet,
        score=placed.score,
        host=host_of(sight.url),
        fetched_ms=sight.fetched_ms,
        rank=merit / pages if merit else None,
        language=sight.language,
        kind=sight.kind,
        image=sight.image,
        date_ms=sight.date_ms,
        partial=placed.partial,
        more=placed.more,
        explanation=explanation,
    )


def _summed(found: Iterable[Found], pages: int, searched: int) -> dict[str, list[Count]]:
    """The most frequent values of each facet, in all pages by those that were searched."""
    counts: dict[str, Counter[str]] = {name: Counter() for name in node.FACETS}
    for each in found:
        for name, values in each.facets.items():
            for value in values:
                counts[name][value.value] += value.pages
    return {
        name: [Count(each.value, each.pages * pages // searched) for each in node.most(values)]
        for name, values in counts.items()
    }
