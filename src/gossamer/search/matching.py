"""The best pages for a question: with all terms, then with any term, ordered by their whole scores.

The nodes find candidates by words; the best of them are rescored. `broker.py` has the order of the
phases.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from gossamer.index.format.analysis import index_language_of
from gossamer.search import query as query_tree
from gossamer.search.diversity import PlacedPage, demote_crowded_hosts, merge_partial_matches
from gossamer.search.meaning import (
    MAX_NEAR,
    add_near,
    fuse,
    judge,
    meant_text,
    place_near,
    spoken_language,
)
from gossamer.search.messages import (
    ENOUGH_MATCHES,
    MAX_LIMIT,
    REORDERED,
    FoundPages,
    Near,
    Rescore,
    Rescored,
    Weigh,
    Weighed,
)
from gossamer.search.profiles import scores

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from gossamer.config import RankingConfig
    from gossamer.search.conversation import Conversation
    from gossamer.search.messages import Find, Question, RequestGenerator
    from gossamer.search.query import Query
    from gossamer.search.recency import FreshnessIntent

RESCORED = 30
"""The best pages by words, which get the second step of the ranking."""
SHORT_LIST = 1_000
"""Pages with any term, which are all asked for at once if they are known to be so few."""
MIN_WHOLE = 10
MAX_AHEAD = 50
PROMISING = 0.6
"""If enough pages have all words, those that lack some are sought among the MAX_AHEAD best by
words, with a score of at least PROMISING times that of the last of the MIN_WHOLE first."""


class Matches(NamedTuple):
    """The pages that match, of the `searched` ones of all `pages`."""

    replies: Mapping[int, FoundPages]
    placed: list[PlacedPage]
    """The best of them, in the order of their words."""
    pages: int
    searched: int
    total: int
    """How many match, extrapolated to all pages if not all were searched."""
    left: Sequence[PlacedPage] | None = None
    """Those that were found and are not in `placed`; None if there may be more."""

    @property
    def is_sample(self) -> bool:
        """Whether only the first tier was searched."""
        return self.searched < self.pages

    @property
    def exact(self) -> bool:
        """Whether they were counted."""
        return all(each.exact for each in self.replies.values())

    @property
    def is_loose(self) -> bool:
        """Whether pages that lack a word may come before pages that have all of them."""
        return any(each.loose for each in self.replies.values())

    @property
    def content_words(self) -> int:
        return max((each.content_words for each in self.replies.values()), default=0)


NO_MATCHES = Matches({}, [], 0, 0, 0)


class MatchSearch:
    """The search for the pages that match a question. Each method is a phase.

    `all_terms`: the request for pages with all terms, whose page filters are replaced. `intent`:
    the time that the query asks for.
    """

    def __init__(
        self,
        nodes: Conversation,
        weights: RankingConfig,
        question: Question,
        all_terms: Find,
        intent: FreshnessIntent | None,
    ) -> None:
        self.nodes = nodes
        self.weights = weights
        self.question = question
        self.all_terms = all_terms
        self.intent = intent
        self.profile = question.profile or weights.profile
        self.last = min(question.offset + question.limit, MAX_LIMIT)
        self._is_behind = question.offset >= 2 * REORDERED
        """Whether the page of results is behind all that are reordered."""
        self._may_lack = query_tree.allows_partial_matches(all_terms.query)
        self._like = query_tree.similar_vector(all_terms.query)

    @property
    def tree(self) -> Query:
        return self.all_terms.query

    def any_term(self, whole: Matches) -> Find:
        """The request for pages with any term."""
        few = self.has_few(whole)
        return replace(
            self.all_terms,
            first=whole.is_sample,
            any_term=True,
            limit=REORDERED if few else MAX_AHEAD,
            facets=self.all_terms.facets and few,
        )

    def find_all_terms(self) -> RequestGenerator[Matches]:
        """The best pages with all terms: of the first tier only, if it has enough of them."""
        find = self.all_terms
        found = yield from self.nodes.find(find)
        if _first_tier_is_short(found.values()):
            find = replace(find, first=False)
            found = yield from self.nodes.find_afresh(find)
        pages = sum(each.pages for each in found.values())
        searched = sum(each.searched for each in found.values())
        matched = sum(each.total for each in found.values())
        placed = _place_by_words(found, find)
        if not self._is_behind or any(each.loose for each in found.values()):
            yield from self._score(placed, found, find)
        return Matches(found, placed, pages, searched, matched * pages // max(searched, 1))

    def find_any_term(self, whole: Matches) -> RequestGenerator[Matches]:
        """The best pages that have some of the terms and are not in front of `whole`, if needed.

        Some of many pages with all terms may be among them, where the first step of the ranking
        has placed them further behind.
        """
        few, least = self.has_few(whole), 0.0
        if not few and (self.question.by_date or not whole.is_loose):
            return NO_MATCHES
        find = self.any_term(whole)
        found = yield from self.nodes.find(find)
        if not few:
            least = PROMISING * min((each.words for each in whole.placed[:MIN_WHOLE]), default=0)
        others = _without(_place_by_words(found, find), whole.placed[:REORDERED])
        placed = [each for each in others if each.words >= least]
        if not (self._is_behind and few):
            yield from self._score(placed, found, find)
        candidates = sum(len(each.candidates) for each in found.values())
        is_all = candidates < find.limit and not whole.is_sample
        left = [each for each in others if each.words < least] if is_all else None
        total = sum(each.total for each in found.values())
        return Matches(found, placed, whole.pages, whole.searched, total, left)

    def find_near(self, whole: Matches, partial: Matches) -> RequestGenerator[list[PlacedPage]]:
        """The pages that are near in meaning, if people may get to where they come.

        Sets how near those are that are ordered with them.
        """
        if not self.nodes.meanings or self.question.by_date or whole.is_sample:
            return []
        text, vector = meant_text(self.tree), self._like
        if not (vector or (text and whole.total < REORDERED)):
            return []
        few = self.has_few(whole)
        beside = (whole if vector else partial).placed[:REORDERED] if vector or few else []
        judged = [each.page.key for each in beside]
        near = Near(self.all_terms, MAX_NEAR, judged, "" if vector else text, vector)
        found = yield from self.nodes.near(near)
        judge(beside, found)
        return place_near(found, partial=not vector)

    def add_other_tiers(
        self, whole: Matches, ranked: Sequence[PlacedPage]
    ) -> RequestGenerator[tuple[Matches, list[PlacedPage]]]:
        """Search all tiers, and append what the first one lacks to the pages that are `ranked`."""
        find = replace(self.all_terms, first=False)
        found = yield from self.nodes.find(find)
        placed = _place_by_words(found, find)
        yield from self._score(placed, found, find)
        total = sum(each.total for each in found.values())
        rest = _without(self.order(placed, [], few=False), ranked)
        return Matches(found, placed, whole.pages, whole.pages, total), [*ranked, *rest]

    def add_other_partial(
        self, whole: Matches, partial: Matches, ranked: Sequence[PlacedPage]
    ) -> RequestGenerator[tuple[Matches, list[PlacedPage]]]:
        """Append the pages that have some of the terms to those that are `ranked`.

        All pages with all terms must be ranked.
        """
        if not (self.has_few(whole) or whole.is_loose):
            return partial, [*ranked]
        if partial.left is not None:
            rest = [*_without(partial.placed, ranked), *partial.left]
            return partial, [*ranked, *sorted(rest, key=_by_value)]
        is_known = partial.replies and partial.exact and not partial.is_sample
        is_short = is_known and partial.total <= SHORT_LIST
        limit = SHORT_LIST if is_short else max(REORDERED, self.last)
        find = replace(self.all_terms, first=False, any_term=True, facets=False, limit=limit)
        found = yield from self.nodes.find(find)
        rest = _without(_place_by_words(found, find), ranked)
        total = sum(each.total for each in found.values())
        if is_short:
            rest.sort(key=_by_value)
        return Matches(found, rest, whole.pages, whole.pages, total), [*ranked, *rest]

    def count(
        self,
        whole: Matches,
        partial: Matches,
        ranked: Sequence[PlacedPage],
        near: Sequence[PlacedPage] = (),
    ) -> tuple[int, bool]:
        """How many pages match, and whether that was counted; otherwise there may be more."""
        if len(ranked) < self.last:
            return len(ranked), True
        known = max(whole.total, partial.total, len(ranked))
        if near:
            return known, False
        if not partial.replies:
            return known, not (whole.is_sample or whole.is_loose)
        return known, partial.exact and not (whole.is_sample or partial.is_sample)

    def has_few(self, whole: Matches) -> bool:
        """Whether so few pages have all words that pages with some of them should follow."""
        few = MIN_WHOLE if whole.content_words > 1 else 1
        return self._may_lack and whole.content_words > 0 and whole.total < few

    def order(
        self,
        whole: list[PlacedPage],
        partial: list[PlacedPage],
        near: Sequence[PlacedPage] = (),
        *,
        few: bool,
    ) -> list[PlacedPage]:
        """Pages with all words and pages with some of them in their final order, best first.

        `near`: pages that are near in meaning, the best first.
        """
        if self.question.by_date:
            return [*whole, *partial]
        front = [*whole[:REORDERED], *partial]
        worth = scores(self.profile, front, self.weights, self.intent)
        for each, score in zip(front, worth, strict=True):
            each.score = score
        better_than = 0 if few else MIN_WHOLE
        front = merge_partial_matches(whole[:REORDERED], partial, better_than)
        is_one_host = query_tree.restricts_host(self.tree)
        if not is_one_host:
            front = demote_crowded_hosts(front)
        preferred = self.question.language
        language = index_language_of(preferred) if preferred else ""
        if self._like:
            front, _ = fuse(front, near, language)
        elif near and few:
            spoken = spoken_language(meant_text(self.tree))
            front = add_near(front, near, language, spoken, is_one_host=is_one_host)
        else:
            front += _without([*whole[REORDERED:], *near], front)
        return [*front, *_without(whole[REORDERED:], front)]

    def _score(
        self, best: list[PlacedPage], found: Mapping[int, FoundPages], find: Find
    ) -> RequestGenerator[None]:
        """Rescore the best of the candidates."""
        if not self.question.by_date:
            if any(each.rescore for each in found.values()):
                yield from self._rescore(best[:RESCORED], find)
            if self.profile == "cosine":
                yield from self._weigh(best[:REORDERED], find)

    def _rescore(self, placed: Sequence[PlacedPage], find: Find) -> RequestGenerator[None]:
        """Add the second step of the ranking to the scores of the best."""
        added = yield from self.nodes.ask_about(
            placed,
            lambda state, pages: Rescore(state, find, [(page.place, page.key) for page in pages]),
            Rescored,
            lambda reply: reply.scores,
        )
        for each in placed:
            each.words += added.get(each.place, 0.0)

    def _weigh(self, placed: Sequence[PlacedPage], find: Find) -> RequestGenerator[None]:
        """Set the cosines of the best with the query."""
        cosines = yield from self.nodes.ask_about(
            placed,
            lambda state, pages: Weigh(
                state, self.tree, [page.place for page in pages], find.counts
            ),
            Weighed,
            lambda reply: reply.cosines,
        )
        for each in placed:
            each.cosine = cosines.get(each.place, 0.0)


def _place_by_words(found: Mapping[int, FoundPages], find: Find) -> list[PlacedPage]:
    """The candidates by the scores of their words, the only scores known so far."""
    scored = not find.by_date and any(each.content_words for each in found.values())
    placed = [
        PlacedPage(number, page, find.any_term, words := page.value if scored else 0.0, words)
        for number, each in found.items()
        for page in each.candidates
    ]
    if len(found) > 1:
        placed.sort(key=lambda each: (-each.page.value, each.node, each.page.place))
    return placed[: find.limit]


def _by_value(placed: PlacedPage) -> tuple[float, int]:
    """A sort key. The order of ties does not depend on which node holds a page."""
    return -placed.page.value, placed.page.key


def _without(placed: Iterable[PlacedPage], ranked: Iterable[PlacedPage]) -> list[PlacedPage]:
    """The pages that are not ranked yet."""
    known = {each.page.key for each in ranked}
    return [each for each in placed if each.page.key not in known]


def _first_tier_is_short(found: Collection[FoundPages]) -> bool:
    """Whether only the first tier was searched, and too few of its pages match."""
    partly = [each for each in found if each.searched < each.pages]
    return bool(partly) and sum(each.total for each in partly) < ENOUGH_MATCHES
