"""A node: some shards of the index, opened, which answer the broker's requests.

Facts
  * tantivy's binding releases the GIL while it searches, but much of an answer's time is spent in
    Python. So processes scale better than threads.
  * The cost of a search is proportional to the number of matching pages, however few are shown.
    Showing a page costs reading a block of stored documents and making a snippet.
"""

from __future__ import annotations

import json
import time
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import tantivy
from msgspec.structs import replace
from tantivy import Occur, Query

from gossamer.index.format import schema, stored_document
from gossamer.index.format.analysis import analyzer_for
from gossamer.index.format.layout import FIRST, shard_of
from gossamer.index.format.page_keys import hash_prefix
from gossamer.index.format.stored_document import StoredDocument, read_stored_document
from gossamer.search import explaining
from gossamer.search import query as query_tree
from gossamer.search.index_search import (
    IndexMatches,
    candidate_query,
    merge_candidates,
    merge_facets,
    read_candidates,
    search_index,
)
from gossamer.search.interpretation import telling_words
from gossamer.search.languages import smoothed_idf
from gossamer.search.messages import (
    ENOUGH_MATCHES,
    Candidate,
    CheckedSpelling,
    CheckSpelling,
    Complete,
    Completed,
    CountTerms,
    DocumentText,
    Explain,
    Explained,
    Find,
    FoundPages,
    HitFields,
    Near,
    Neighbours,
    Read,
    RequestRefused,
    Rescore,
    Rescored,
    Show,
    Shown,
    Survey,
    Surveyed,
    TermCounts,
    Weigh,
    Weighed,
)
from gossamer.search.open_parts import open_languages
from gossamer.search.profiles import cosine, lnc, ltc
from gossamer.search.query_clauses import add_optional
from gossamer.search.query_cost import affordable
from gossamer.search.query_plans import Index, QueryPlans
from gossamer.search.ranking import Ranking
from gossamer.search.snippets import Snippets
from gossamer.search.spelling import Spelling
from gossamer.search.statistics import Statistics, SummedStatistics

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path, PurePath

    from gossamer.config import RankingConfig
    from gossamer.search.messages import Place, Reply, Request
    from gossamer.search.profiles import Vector
    from gossamer.search.ranking import QueryPlan
    from gossamer.semantic.nearest import Meanings

MAX_TITLE_MATCHES = 50
"""Pages of all tiers whose titles match, which are added to those of the first tier."""
COMPARED_CHARS = 20_000
"""Characters of a page's text that `related:` and the profile `cosine` read."""
MAX_PREFIX_PAGES = 500
"""Hits of a query for hash prefixes. They include pages that share a prefix by chance."""


class Node:
    """Answers requests from the parts of some shards. A newer index needs a new node."""

    def __init__(
        self,
        folders: Iterable[Path],
        weights: RankingConfig,
        state: str = "",
        *,
        tiered: bool | None = None,
        meanings: Meanings | None = None,
    ) -> None:
        """`tiered`: whether the index has a first tier; None: whether `folders` contain one.

        `meanings`: the vectors of its pages, if there are any.
        """
        self.meanings = meanings
        self._form = schema.schema()
        self._weights = weights
        folders = list(folders)
        first = [folder for folder in folders if is_first_tier(folder)]
        whole = list(self._open_indexes(folders, {}))
        self._indexes = [
            *whole,
            *self._open_indexes(first, {each.language: each.statistics for each in whole}),
        ]
        self._whole = range(len(whole))
        self._first = range(len(whole), len(self._indexes))
        self._tiered = bool(first) if tiered is None else tiered
        self._spelling = Spelling(self._form, {each.language: each.searcher for each in whole})
        self._plans = QueryPlans(self._indexes, weights)
        self.state = state
        self.languages = [each.language for each in whole]
        self.pages = sum(each.searcher.num_docs for each in whole)

    def _open_indexes(
        self, folders: Iterable[Path], whole: Mapping[str, Statistics]
    ) -> Iterator[Index]:
        for key, searcher, held in open_languages(folders):
            statistics = Statistics(searcher, held)
            ranking = Ranking(self._form, key, self._weights, statistics)
            yield Index(key, searcher, ranking, statistics, whole.get(key, statistics))

    def reply(self, request: Request) -> Reply:
        if isinstance(request, _STATEFUL_REQUESTS) and request.state != self.state:
            return RequestRefused("the index has changed")
        return _REPLIES[type(request)](self, request)

    def survey(self, ask: Survey) -> Surveyed:
        whole = [self._indexes[number] for number in self._whole]
        # A language is also asked for the words as the language of the query stems them.
        terms = {term for each in whole for term in each.ranking.terms(ask.query)}
        return Surveyed({each.language: each.statistics.counts(terms) for each in whole})

    def find(self, ask: Find) -> FoundPages:
        whole = [self._plans.plan_for(number, ask) for number in self._whole]
        tier = self._can_first_tier_suffice(ask, whole)
        matches = [self._search(number, ask) for number in (self._first if tier else self._whole)]
        content_words = max((each.content_words for each in matches), default=0)
        found = FoundPages(
            self.state,
            self.pages,
            sum(each.searched for each in matches),
            sum(each.total for each in matches),
            content_words,
            any(each.rescore for each in matches) and content_words > 0,
            any(each.loose for each in matches),
            [],
        )
        if tier and self._first and found.total < ENOUGH_MATCHES and not ask.any_term:
            return found  # the broker asks again, for all tiers
        titled = [*self._title_matches(ask, whole)] if tier or ask.any_term else []
        return replace(
            found,
            candidates=merge_candidates(titled, [each.candidates for each in matches], ask.limit),
            facets=merge_facets(each.facets for each in matches) if ask.facets else {},
            exact=all(each.exact for each in matches),
        )

    def _can_first_tier_suffice(self, ask: Find, whole: Iterable[QueryPlan]) -> bool:
        """Whether to search only the first tier: enough of its pages can have the words."""
        if (
            not (ask.first and self._tiered)
            or sum(each.max_matches for each in whole) < ENOUGH_MATCHES
        ):
            return False
        first = [self._plans.plan_for(number, ask) for number in self._first]
        return not first or sum(each.max_matches_here for each in first) >= ENOUGH_MATCHES

    def _search(self, number: int, ask: Find) -> IndexMatches:
        return search_index(
            number,
            self._indexes[number].searcher,
            self._plans.plan_for(number, ask),
            ask,
            lambda: self._plans.score_bonus(number, ask),
        )

    def _title_matches(self, ask: Find, whole: Iterable[QueryPlan]) -> Iterator[Candidate]:
        """Pages of all tiers whose titles match the query."""
        for number, plan in enumerate(whole):
            query = plan.title_matches(any_term=ask.any_term)
            if query is not None and not ask.by_date:
                searcher = self._indexes[number].searcher
                preferring = add_optional(query, plan.preferred[ask.any_term])
                hits = searcher.search(preferring, MAX_TITLE_MATCHES, count=False).hits
                bonus = self._plans.score_bonus(number, ask)
                yield from read_candidates(number, searcher, hits, bonus, dated=ask.dated)

    def near(self, ask: Near) -> Neighbours:
        if self.meanings is None:
            return Neighbours(self.state, [], [], [(0.0, "")] * len(ask.judged))
        from gossamer.search.near_pages import find_near

        languages = {number: self._indexes[number].language for number in self._whole}
        found, judged = find_near(
            self.meanings,
            languages,
            ask,
            lambda number, query, limit: self._unscored(number, query, limit, ask.find),
            self._plans,
        )
        named = [languages[each.place[0]] for each in found]
        return Neighbours(self.state, found, named, judged)

    def _unscored(self, number: int, query: Query, limit: int, find: Find) -> list[Candidate]:
        searcher = self._indexes[number].searcher
        hits = searcher.search(query, limit, count=False).hits
        return read_candidates(number, searcher, hits, 0.0, dated=find.dated)

    def rescore(self, ask: Rescore) -> Rescored:
        added: dict[Place, float] = {}
        hash_prefixes: dict[int, set[str]] = defaultdict(set)
        for place, key in ask.pages:
            hash_prefixes[place[0]].add(hash_prefix(key))
        for number, some in hash_prefixes.items():
            query = self._plans.plan_for(number, ask.find).rescore(
                sorted(some), any_term=ask.find.any_term
            )
            if query is not None:
                answer = self._indexes[number].searcher.search(query, MAX_PREFIX_PAGES, count=False)
                for score, at in answer.hits:
                    added[number, at.segment_ord, at.doc] = score
        return Rescored([added.get(place, 0.0) for place, _ in ask.pages])

    def show(self, ask: Show) -> Shown:
        whole = {each.language: each.whole for each in self._indexes}
        snippets: dict[str, Snippets] = {}
        pages = []
        for number, *at in ask.places:
            key, searcher, *_ = self._indexes[number]
            if key not in snippets:
                tree = affordable(ask.query, analyzer_for(key), whole[key])
                words = query_tree.highlighted_words(tree)
                telling = telling_words(words, analyzer_for(key), whole[key])
                worth = smoothed_idf(telling, key, whole)
                snippets[key] = Snippets(telling, key, worth, len(ask.places))
            stored = read_stored_document(searcher.doc(tantivy.DocAddress(*at)))
            snippet = snippets[key].make_snippet(
                stored.text, stored.description, stored.headings, stored.boilerplate
            )
            pages.append(
                HitFields(
                    stored.url,
                    stored.title,
                    snippet,
                    stored.language,
                    stored.kind,
                    stored.image,
                    stored.date_ms,
                    stored.fetched_ms,
                    stored.copies,
                    stored.versions,
                )
            )
        return Shown(pages)

    def explain(self, ask: Explain) -> Explained:
        words: list[dict[str, Any]] = []
        until_s = time.monotonic() + explaining.MAX_S
        for number, *at in ask.places:
            if len(words) >= explaining.MAX_PAGES or time.monotonic() > until_s:
                words.append({})
                continue
            searcher, query_plan = (
                self._indexes[number].searcher,
                self._plans.plan_for(number, ask.find),
            )
            address = tantivy.DocAddress(*at)
            (key,) = searcher.fast_field_values("key", [address])
            plan = candidate_query(query_plan, ask.find)
            more = self._plans.score_bonus(number, ask.find)
            steps = (
                plan.query,
                query_plan.rescore([hash_prefix(int(key or 0))], any_term=ask.find.any_term),
                Query.const_score_query(Query.all_query(), more) if more else None,
            )
            query = Query.boolean_query([(Occur.Should, step) for step in steps if step])
            words.append(
                explaining.cut_tree(json.loads(query.explain(searcher, address).to_json()))
            )
        return Explained(words)

    def spell(self, ask: CheckSpelling) -> CheckedSpelling:
        return CheckedSpelling(self._spelling.similar_words(ask.words))

    def complete(self, ask: Complete) -> Completed:
        return Completed(self._spelling.completions(ask.text, ask.limit))

    def weigh(self, ask: Weigh) -> Weighed:
        asked: dict[int, Vector] = {}
        cosines = []
        for number, *at in ask.places:
            key, searcher, *_, whole = self._indexes[number]
            analyzer = analyzer_for(key)
            if number not in asked:
                words = query_tree.highlighted_words(ask.query)
                typed = [term for each in words for term in analyzer.terms_of(each.text)]
                counted = (ask.counts or {}).get(key)
                among = SummedStatistics(counted) if counted else whole
                pages = {term: among.pages("text", term) for term in typed}
                asked[number] = ltc(typed, pages, among.documents)
            stored = read_stored_document(searcher.doc(tantivy.DocAddress(*at)))
            cosines.append(cosine(asked[number], lnc(analyzer.terms.analyze(_stored_text(stored)))))
        return Weighed(cosines)

    def read(self, ask: Read) -> DocumentText:
        by_url = Query.term_query(self._form, "url", ask.url, "basic")
        for index in self._indexes[: len(self._whole)]:
            for _, at in index.searcher.search(by_url, 1).hits:
                text = _stored_text(read_stored_document(index.searcher.doc(at)))
                (key,) = index.searcher.fast_field_values("key", [at])
                mean = self.meanings and self.meanings.vector_of_page(int(key or 0))
                return DocumentText(index.language, text, mean.numbers.tobytes() if mean else b"")
        return DocumentText()

    def count_terms(self, ask: CountTerms) -> TermCounts:
        for index in self._indexes[: len(self._whole)]:
            if index.language == ask.language:
                pages = index.statistics.pages
                return TermCounts(
                    index.searcher.num_docs, {term: pages("text", term) for term in ask.terms}
                )
        return TermCounts(0, {})


def is_first_tier(folder: PurePath) -> bool:
    """Whether this is the folder of a part of the first tier."""
    return shard_of(folder) == FIRST


def _stored_text(stored: StoredDocument) -> str:
    """Title and beginning of the text: the words by which pages are compared."""
    return f"{stored.title}\n{stored_document.read_beginning(stored.text, COMPARED_CHARS)}"


_STATEFUL_REQUESTS = (Show, Explain, Weigh, Rescore)
"""Requests with places, which mean nothing in another state of the index."""
_REPLIES: Mapping[type[Request], Callable[[Node, Any], Reply]] = {
    Survey: Node.survey,
    Find: Node.find,
    Near: Node.near,
    Rescore: Node.rescore,
    Show: Node.show,
    Explain: Node.explain,
    CheckSpelling: Node.spell,
    Complete: Node.complete,
    Weigh: Node.weigh,
    Read: Node.read,
    CountTerms: Node.count_terms,
}
