"""From a question to its answer: which requests the nodes get, and how replies are combined.

The index may lie in one process or on many machines; the answer is the same. A question is answered
in a few steps, and each step asks all nodes, or some of them, concurrently:

    Read, CountTerms  the text of the page that `related:` names, and how frequent its terms are
    Survey            how many pages have each term (unless there is only one node)
    Find              the best pages with all terms; then with any term, if those are few
    CheckSpelling     similar words, if few pages have all terms
    Rescore           the scores that the second step of the ranking adds to the best pages
    Weigh             the cosines of the best pages with the query (profile `cosine` only)
    Show              titles and snippets of the requested results

If no page has all terms, and words that no page has can be corrected, the corrected query is
answered instead.

The broker does no I/O: an answer is a generator that yields requests and receives replies
(`conversation.py`). Its driver decides how nodes are asked, and how long to wait (`searcher.py`,
`serve/cluster/`).
"""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec

from gossamer.index.format.schema import composed
from gossamer.search import explaining
from gossamer.search import query as query_tree
from gossamer.search.conversation import Conversation
from gossamer.search.corrections import Corrections, corrections_of
from gossamer.search.diversity import (
    PlacedPage,
    demote_crowded_hosts,
    make_hit,
    merge_partial_matches,
)
from gossamer.search.messages import (
    ENOUGH,
    MAX_LIMIT,
    REORDERED,
    Answered,
    Complete,
    Completed,
    Explain,
    Explained,
    Find,
    FoundPages,
    Rescore,
    Rescored,
    Show,
    Shown,
    Survey,
    Surveyed,
    Weigh,
    Weighed,
)
from gossamer.search.page_filters import resolve_page_filters
from gossamer.search.profiles import popularity, scores
from gossamer.search.recency import freshness, freshness_intent
from gossamer.search.results import Hit, Results, extrapolate_facets
from gossamer.search.spelling import complete_text

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from gossamer.config import RankingConfig
    from gossamer.search.messages import Candidate, Counts, Place, Question, RequestGenerator
    from gossamer.search.page_filters import PageFacts

MAX_QUERY_CHARS = 4_000
MAX_RESULTS = MAX_LIMIT
"""Results of one query that can be reached by paging."""
RESCORED = 30
"""The best pages by words, which get the second step of the ranking."""
MIN_WHOLE = 10
MAX_AHEAD = 50
PROMISING = 0.6
"""If enough pages have all words, those that lack some are sought among the MAX_AHEAD best by
words, with a score of at least PROMISING times that of the last of the MIN_WHOLE first."""


class Broker:
    """Answers questions to an index that is spread over `nodes` nodes."""

    def __init__(self, nodes: int, weights: RankingConfig) -> None:
        self._nodes = range(nodes)
        self._weights = weights

    def answer(self, question: Question, facts: PageFacts) -> RequestGenerator[Answered]:
        """The results of a question, starting at its `offset`; at most MAX_RESULTS can be reached.

        `facts`: what the crawl knows about the pages that the query names; see `page_filters.py`.
        """
        return _Answer(Conversation(self._nodes), self._weights, question, facts).answered()

    def complete(self, text: str, limit: int) -> RequestGenerator[list[str]]:
        """The query with its last word completed, at most `limit` ways, most frequent first."""
        text = effective_query(text)
        counts: Counter[str] = Counter()
        replies = yield dict.fromkeys(self._nodes, Complete(text, limit))
        for reply in replies.values():
            if isinstance(reply, Completed):
                counts.update(reply.words)
        return complete_text(text, counts, limit)


class _Answer:
    """One question on its way to an answer: each method is a phase, and `answered` lists them."""

    def __init__(
        self,
        nodes: Conversation,
        weights: RankingConfig,
        question: Question,
        facts: PageFacts,
    ) -> None:
        self._nodes = nodes
        self._weights = weights
        self._question = question
        self._facts = facts
        self._profile = question.profile or weights.profile
        self._text = effective_query(question.query)
        self._tree = query_tree.parse(self._text)
        self._time = freshness_intent(self._tree, time.time_ns() // 1_000_000)
        self._last = question.offset + question.limit
        self._limit = min(MAX_RESULTS, max(REORDERED, self._last))
        self._found: Mapping[int, FoundPages] = {}
        self._ranked: list[PlacedPage] = []
        self._total = self._whole = self._pages = self._searched = self._content_words = 0
        self._exact, self._may_lack = True, False

    def answered(self) -> RequestGenerator[Answered]:
        started_s = time.perf_counter()
        results = yield from self._results()
        took_ms = round((time.perf_counter() - started_s) * 1000, 1)
        return Answered(self._nodes.state, msgspec.structs.replace(results, took_ms=took_ms))

    def _results(self) -> RequestGenerator[Results]:
        all_terms = yield from self._prepared()
        whole = yield from self._find_all_terms(all_terms)
        better = Corrections()
        if self._whole < MIN_WHOLE and not query_tree.is_passage(self._tree):
            better = yield from corrections_of(self._nodes, self._tree, self._text)
        if better.correction and not (self._whole or self._question.verbatim):
            corrected = yield from self._corrected(better.correction)
            if corrected.total:
                return corrected
        any_term = msgspec.structs.replace(
            all_terms,
            first=self._searched < self._pages,
            any_term=True,
            facets=all_terms.facets and self._has_few(),
            counted=self._has_few(),
        )
        partial = (yield from self._find_any_term(any_term, whole)) if self._is_loose() else []
        self._ranked = self._ordered(whole, partial)
        if self._searched < self._pages and len(self._ranked) < self._last:
            yield from self._add_other_tiers(all_terms)
        hits = yield from self._hits(all_terms, any_term)
        partial_hits = sum(each.partial for each in self._ranked)
        return Results(
            self._total if self._has_few() else self._whole + partial_hits,
            hits,
            took_ms=0,
            whole=self._whole,
            relaxed=self._whole == 0 < partial_hits,
            facets=extrapolate_facets(
                [each.facets for each in self._found.values()], self._pages, self._searched
            ),
            suggestion=better.suggestion,
            missing=len(self._nodes.missing),
            estimated=self._searched < self._pages or not self._exact,
        )

    def _corrected(self, query: str) -> RequestGenerator[Results]:
        """The results of a corrected query."""
        question = msgspec.structs.replace(self._question, query=query, verbatim=True)
        again = _Answer(self._nodes, self._weights, question, self._facts)
        return msgspec.structs.replace((yield from again._results()), corrected=query)

    def _prepared(self) -> RequestGenerator[Find]:
        """The search for pages with all terms: page filters replaced, frequencies collected."""
        self._tree = yield from resolve_page_filters(self._tree, self._facts, self._nodes.ask_all)
        self._may_lack = query_tree.allows_partial_matches(self._tree)
        counts = (yield from self._frequencies()) if len(self._nodes.nodes) > 1 else None
        return Find(
            self._tree,
            self._limit,
            first=not self._question.by_date,
            by_date=self._question.by_date,
            facets=self._question.facets,
            counts=counts,
            dated=self._time is not None,
            language=self._question.language,
        )

    def _frequencies(self) -> RequestGenerator[Counts]:
        """How many pages of all nodes have each term, by language, field and term."""
        replies = yield from self._nodes.ask_all(Survey(self._tree), Surveyed)
        counts: Counts = {}
        for reply in replies.values():
            for key, fields in reply.counts.items():
                for field, terms in fields.items():
                    known = counts.setdefault(key, {}).setdefault(field, {})
                    for term, pages in terms.items():
                        known[term] = known.get(term, 0) + pages
        return counts

    def _find_all_terms(self, find: Find) -> RequestGenerator[list[PlacedPage]]:
        """The best pages with all terms: of the first tier only, if it has enough of them."""
        found = yield from self._nodes.find(find)
        if _first_tier_is_short(found.values()):
            find = msgspec.structs.replace(find, first=False)
            found = yield from self._nodes.find_afresh(find)
        self._found = found
        self._pages = sum(each.pages for each in found.values())
        self._searched = sum(each.searched for each in found.values())
        matched = sum(each.total for each in found.values())
        self._whole = self._total = matched * self._pages // max(self._searched, 1)
        self._content_words = max((each.content_words for each in found.values()), default=0)
        return (yield from self._best(found, find))

    def _find_any_term(
        self, find: Find, whole: Sequence[PlacedPage]
    ) -> RequestGenerator[list[PlacedPage]]:
        """The best pages that have some of the terms and are not among `whole`."""
        few, least = self._has_few(), 0.0
        limit = min(MAX_LIMIT, find.limit + len(whole)) if few else MAX_AHEAD
        find = msgspec.structs.replace(find, limit=limit)
        found = yield from self._nodes.find(find)
        if few:
            self._found = found
            self._total = sum(each.total for each in found.values())
            self._exact = all(each.exact for each in found.values())
        else:
            least = PROMISING * min((each.words for each in whole[:MIN_WHOLE]), default=0)
        return (yield from self._best(found, find, {each.page.key for each in whole}, least))

    def _add_other_tiers(self, all_terms: Find) -> RequestGenerator[None]:
        """Append the pages of the other tiers to those of the first."""
        find = msgspec.structs.replace(all_terms, first=False)
        self._found = yield from self._nodes.find(find)
        self._whole = self._total = sum(each.total for each in self._found.values())
        self._searched = self._pages
        before = {each.page.key for each in self._ranked}
        rest = self._ordered((yield from self._best(self._found, find)), [])
        self._ranked += [each for each in rest if each.page.key not in before]

    def _has_few(self) -> bool:
        """Whether so few pages have all words that pages with some of them should follow."""
        few = MIN_WHOLE if self._content_words > 1 else 1
        return self._may_lack and self._content_words > 0 and self._whole < few

    def _is_loose(self) -> bool:
        """Whether pages that lack a word may be among the results."""
        loose = not self._question.by_date and any(each.loose for each in self._found.values())
        return loose or self._has_few()

    def _ordered(self, whole: list[PlacedPage], partial: list[PlacedPage]) -> list[PlacedPage]:
        """Pages with all words and pages with some of them in their final order, best first."""
        if self._question.by_date:
            return [*whole, *partial]
        front = [*whole[:REORDERED], *partial[:REORDERED]]
        worth = scores(self._profile, front, self._weights, self._time)
        for each, score in zip(front, worth, strict=True):
            each.score = score
        better_than = 0 if self._has_few() else MIN_WHOLE
        front = merge_partial_matches(whole[:REORDERED], partial[:REORDERED], better_than)
        if not query_tree.restricts_host(self._tree):
            front = demote_crowded_hosts(front)
        return [*front, *whole[REORDERED:], *(() if better_than else partial[REORDERED:])]

    def _best(
        self,
        found: Mapping[int, FoundPages],
        find: Find,
        known: Collection[int] = (),
        least: float = 0,
    ) -> RequestGenerator[list[PlacedPage]]:
        """The candidates with `least` words, without `known` keys, the best of them rescored."""
        best = self._by_words(found, find)
        best = [each for each in best if each.words >= least and each.page.key not in known]
        if not self._question.by_date:
            if any(each.rescore for each in found.values()):
                yield from self._rescore(best[:RESCORED], find)
            if self._profile == "cosine":
                yield from self._weigh(best[:REORDERED], find)
        return best

    def _by_words(self, found: Mapping[int, FoundPages], find: Find) -> list[PlacedPage]:
        """The candidates by the scores of their words, the only scores known so far."""
        scored = not self._question.by_date and any(each.content_words for each in found.values())
        placed = [
            PlacedPage(number, page, find.any_term, words := page.value if scored else 0.0, words)
            for number, each in found.items()
            for page in each.candidates
        ]
        if len(found) > 1:
            placed.sort(key=lambda each: (-each.page.value, each.node, each.page.place))
        return placed[: find.limit]

    def _rescore(self, placed: Sequence[PlacedPage], find: Find) -> RequestGenerator[None]:
        """Add the second step of the ranking to the scores of the best."""
        added = yield from self._nodes.ask_about(
            placed,
            lambda state, pages: Rescore(state, find, [(page.place, page.key) for page in pages]),
            Rescored,
            lambda reply: reply.scores,
        )
        for each in placed:
            each.words += added.get(each.place, 0.0)

    def _weigh(self, placed: Sequence[PlacedPage], find: Find) -> RequestGenerator[None]:
        cosines = yield from self._nodes.ask_about(
            placed,
            lambda state, pages: Weigh(state, self._tree, _places(pages), find.counts),
            Weighed,
            lambda reply: reply.cosines,
        )
        for each in placed:
            each.cosine = cosines.get(each.place, 0.0)

    def _hits(self, all_terms: Find, any_term: Find) -> RequestGenerator[list[Hit]]:
        """The requested page of results, with titles and snippets."""
        shown = self._ranked[self._question.offset : self._last]
        fields = yield from self._nodes.ask_about(
            shown,
            lambda state, pages: Show(state, self._tree, _places(pages)),
            Shown,
            lambda reply: reply.pages,
        )
        explained: dict[tuple[int, Place], dict[str, Any]] = {}
        words = len(query_tree.wanted_words(self._tree))
        if self._question.explain and words <= explaining.MAX_WORDS:
            first = shown[: explaining.MAX_PAGES]
            explained = yield from self._explained(first, all_terms, any_term)
        return [
            make_hit(each, fields[each.place], self._pages, explained.get(each.place))
            for each in shown
            if each.place in fields
        ]

    def _explained(
        self, placed: Sequence[PlacedPage], all_terms: Find, any_term: Find
    ) -> RequestGenerator[dict[tuple[int, Place], dict[str, Any]]]:
        """How the scores were computed: tantivy's explanation of the words, and the other parts."""
        words: dict[tuple[int, Place], dict[str, Any]] = {}
        for partial, find in ((False, all_terms), (True, any_term)):
            words |= yield from self._nodes.ask_about(
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
                    "value": popularity(each.page.static_rank),
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


def effective_query(query: str) -> str:
    """The part of a query that counts, in the Unicode form of the index."""
    return composed(query[:MAX_QUERY_CHARS].encode("utf-8", "replace").decode())


def _places(pages: Iterable[Candidate]) -> list[Place]:
    return [page.place for page in pages]


def _explaining(find: Find) -> Callable[[str, Sequence[Candidate]], Explain]:
    return lambda state, pages: Explain(state, find, _places(pages))


def _first_tier_is_short(found: Collection[FoundPages]) -> bool:
    """Whether only the first tier was searched, and too few of its pages match."""
    partly = [each for each in found if each.searched < each.pages]
    return bool(partly) and sum(each.total for each in partly) < ENOUGH
