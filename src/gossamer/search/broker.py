"""From a question to its answer: which requests the nodes get, and how replies are combined.

The index may lie in one process or on many machines; the answer is the same. A question is answered
in a few steps, and each step asks all nodes, or some of them, concurrently:

    Read, CountTerms  the text of the page that `related:` names, and how frequent its terms are
    Survey            how many pages have each term (unless there is only one node)
    Find              the best pages with all terms; then with any term, if those are few
    Near              the pages that are near in meaning, if the nodes have vectors
    CheckSpelling     similar words, if few pages have all terms
    Rescore           the scores that the second step of the ranking adds to the best pages
    Weigh             the cosines of the best pages with the query (profile `cosine` only)
    Show              titles and snippets of the requested results

If no page has all terms, and words that no page has can be corrected, the corrected query is
answered instead. So is the query without its quotes, if nothing is found with them and
it has other words: prose has quotes, too.
With vectors, a corrected query must have pages with all of its words: words that no page has may be
those of another language.

The broker does no I/O: an answer is a generator that yields requests and receives replies
(`conversation.py`). Its driver decides how nodes are asked, and how long to wait (`searcher.py`,
`serve/cluster/`).
"""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from gossamer.search import query as query_tree
from gossamer.search.conversation import Conversation
from gossamer.search.corrections import Corrections, corrections_of
from gossamer.search.hits import show_hits
from gossamer.search.matching import MIN_WHOLE, MatchSearch
from gossamer.search.messages import (
    MAX_LIMIT,
    REORDERED,
    Answered,
    Complete,
    Completed,
    Find,
    Survey,
    Surveyed,
)
from gossamer.search.page_filters import resolve_page_filters
from gossamer.search.query_cost import first_terms
from gossamer.search.query_notes import notes_on
from gossamer.search.query_text import effective_query, without_quotes
from gossamer.search.recency import freshness_intent
from gossamer.search.results import Results, extrapolate_facets
from gossamer.search.spelling import complete_text
from gossamer.search.synonyms import unexpanded

if TYPE_CHECKING:
    from collections.abc import Callable

    from gossamer.config import RankingConfig
    from gossamer.search.messages import Counts, Question, RequestGenerator
    from gossamer.search.page_filters import PageFacts
    from gossamer.search.query import Query

Expand: TypeAlias = "Callable[[Query, int], Query]"
MAX_RESULTS = MAX_LIMIT
"""Results of one query that can be reached by paging."""


class Broker:
    """Answers questions to an index that is spread over `nodes` nodes."""

    def __init__(
        self,
        nodes: int,
        weights: RankingConfig,
        expand: Expand = unexpanded,
        *,
        meanings: bool,
    ) -> None:
        """`expand`: adds synonyms to a query; its second argument is `Question.synonyms`.

        `meanings`: the nodes may have vectors, by which pages are found, too.
        """
        self._nodes = range(nodes)
        self._weights = weights
        self._expand = expand
        self._meanings = meanings

    def answer(self, question: Question, facts: PageFacts) -> RequestGenerator[Answered]:
        """The results of a question, starting at its `offset`; at most MAX_RESULTS can be reached.

        `facts`: what the crawl knows about the pages that the query names; see `page_filters.py`.
        """
        nodes = Conversation(self._nodes, meanings=self._meanings)
        return _answer(nodes, self._weights, question, facts, self._expand)

    def complete(self, text: str, limit: int) -> RequestGenerator[list[str]]:
        """The query with its last word completed, at most `limit` ways, most frequent first."""
        text = effective_query(text)
        counts: Counter[str] = Counter()
        replies = yield dict.fromkeys(self._nodes, Complete(text, limit))
        for reply in replies.values():
            if isinstance(reply, Completed):
                counts.update(reply.words)
        return complete_text(text, counts, limit)


def _answer(
    nodes: Conversation,
    weights: RankingConfig,
    question: Question,
    facts: PageFacts,
    expand: Expand,
) -> RequestGenerator[Answered]:
    started_s = time.perf_counter()
    results = yield from _find_results(nodes, weights, question, facts, expand)
    results = msgspec.structs.replace(
        results,
        state=nodes.state,
        took_ms=round((time.perf_counter() - started_s) * 1000, 1),
        notes=notes_on(effective_query(question.query)),
    )
    return Answered(results.state, results)


def _find_results(
    nodes: Conversation,
    weights: RankingConfig,
    question: Question,
    facts: PageFacts,
    expand: Expand,
) -> RequestGenerator[Results]:
    text = effective_query(question.query)
    tree = query_tree.parse(text)
    if not question.verbatim:
        tree = expand(tree, question.synonyms)
    if question.among:
        tree = query_tree.And((tree, query_tree.Urls(question.among)), strict=True)
    search = yield from _prepare(nodes, weights, question, facts, tree)
    whole = yield from search.find_all_terms()
    better = Corrections()
    if whole.total < MIN_WHOLE and not query_tree.is_passage(search.tree):
        better = yield from corrections_of(nodes, search.tree, text)
    if better.correction and not (whole.total or question.verbatim):
        verbatim = msgspec.structs.replace(question, query=better.correction, verbatim=True)
        corrected = yield from _find_results(nodes, weights, verbatim, facts, expand)
        if corrected.whole or (corrected.total and not nodes.meanings):
            return msgspec.structs.replace(corrected, corrected=better.correction)
    few = search.has_few(whole)
    partial = yield from search.find_any_term(whole)
    near = yield from search.find_near(whole, partial)
    ranked = search.order(whole.placed, partial.placed, near, few=few)
    counted = partial if few else whole
    if whole.is_sample and len(ranked) < search.last:
        whole, ranked = yield from search.add_other_tiers(whole, ranked)
    if len(ranked) < search.last:
        partial, ranked = yield from search.add_other_partial(whole, partial, ranked)
    if not (ranked or question.verbatim) and (unquoted := without_quotes(text)):
        instead = msgspec.structs.replace(question, query=unquoted, verbatim=True)
        found = yield from _find_results(nodes, weights, instead, facts, expand)
        if found.total:
            return msgspec.structs.replace(found, corrected=unquoted)
    hits = yield from show_hits(search, ranked[question.offset : search.last], whole)
    total, exact = search.count(whole, partial, ranked, near)
    return Results(
        total,
        hits,
        took_ms=0,
        whole=whole.total,
        reachable=min(total, MAX_RESULTS),
        relaxed=not whole.total and any(each.partial for each in ranked),
        facets=extrapolate_facets(
            [each.facets for each in counted.replies.values()], whole.pages, whole.searched
        ),
        suggestion=better.suggestion,
        missing=len(nodes.missing),
        estimated=not exact,
        sampled=whole.is_sample,
        synonyms=query_tree.users_synonyms(query_tree.wanted_words(search.tree)),
    )


def _prepare(
    nodes: Conversation, weights: RankingConfig, question: Question, facts: PageFacts, tree: Query
) -> RequestGenerator[MatchSearch]:
    """Prepare the search: replace page filters, and collect the frequencies of all nodes."""
    intent = freshness_intent(tree, time.time_ns() // 1_000_000)
    tree = first_terms((yield from resolve_page_filters(tree, facts, nodes.ask_all)))
    find = Find(
        tree,
        min(MAX_RESULTS, max(REORDERED, question.offset + question.limit)),
        first=not question.by_date,
        by_date=question.by_date,
        facets=question.facets,
        counts=(yield from _sum_frequencies(nodes, tree)) if len(nodes.nodes) > 1 else None,
        dated=intent is not None,
        language=question.language,
    )
    return MatchSearch(nodes, weights, question, find, intent)


def _sum_frequencies(nodes: Conversation, tree: Query) -> RequestGenerator[Counts]:
    """How many pages of all nodes have each term, by language, field and term."""
    replies = yield from nodes.ask_all(Survey(tree), Surveyed)
    counts: Counts = {}
    for reply in replies.values():
        for key, fields in reply.counts.items():
            for field, terms in fields.items():
                known = counts.setdefault(key, {}).setdefault(field, {})
                for term, pages in terms.items():
                    known[term] = known.get(term, 0) + pages
    return counts
