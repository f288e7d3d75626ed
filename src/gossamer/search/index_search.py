"""The search of one index of a node: the best candidates, the number of matches, and facets."""

from __future__ import annotations

import math
from collections import Counter
from functools import partial
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple

from gossamer.search.messages import REORDERED, Candidate
from gossamer.search.query_clauses import add_optional
from gossamer.search.results import FACET_VALUES, FACETS, most_frequent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import tantivy

    from gossamer.search.messages import Find, Place
    from gossamer.search.query_clauses import CandidateQuery
    from gossamer.search.ranking import QueryPlan
    from gossamer.search.results import Count

    Facets = Mapping[str, Counter[str]]
    Hit = tuple[Any, tantivy.DocAddress]


class IndexMatches(NamedTuple):
    """What was found in an index; the other fields are as in FoundPages."""

    searched: int
    content_words: int
    rescore: bool
    loose: bool
    total: int = 0
    exact: bool = True
    candidates: Sequence[Candidate] = ()
    facets: Facets | None = None


def search_index(
    number: int, searcher: tantivy.Searcher, plan: QueryPlan, ask: Find, bonus: Callable[[], float]
) -> IndexMatches:
    """Search the index of a number. `bonus`: what to add to the scores of all of its pages."""
    first_step = candidate_query(plan, ask)
    found = IndexMatches(
        searcher.num_docs,
        first_step.words,
        rescore=first_step.rescore and not ask.by_date,
        loose=plan.is_loose,
    )
    if first_step.query is None:
        return found
    order = "date_ms" if ask.by_date else None if first_step.words else "static_rank"
    is_continued = ask.limit > REORDERED and first_step.skips and order is None
    counted = is_continued or first_step.min_matches < 0 or order is not None
    answer = searcher.search(first_step.query, ask.limit, counted, order)
    hits = answer.hits
    if counted:
        total: int = answer.count  # type: ignore[attr-defined]  # missing in tantivy's stubs
        if is_continued:
            best = plan.best_hits.get(ask.any_term)
            if best is None:
                best = searcher.search(first_step.query, REORDERED, count=False).hits
            hits = continued_hits(best, hits)
    else:
        total = max(first_step.min_matches, len(hits))
        if ask.limit == REORDERED:
            plan.best_hits[ask.any_term] = hits
    more = 0.0 if order else bonus()
    has_facets = ask.facets and bool(hits)
    return found._replace(
        total=total,
        exact=(counted or first_step.exact) and not (ask.any_term and plan.splits_words),
        candidates=read_candidates(number, searcher, hits, more, dated=ask.dated),
        facets=_count_facets(searcher, first_step.query) if has_facets else None,
    )


def continued_hits(best: Sequence[Hit], hits: Sequence[Hit]) -> list[Hit]:
    """The hits of a longer search, as a continuation of the best ones of a shorter one.

    Where tantivy skips pages, it adds up the scores of a page's terms in an order that depends on
    how many hits are wanted. So a score differs in its last bits between the two searches, and
    pages with equal ones may change their places, or be in both parts of the list, or in none.
    """
    if len(best) < REORDERED:
        return [*best]
    known = {(at.segment_ord, at.doc) for _, at in best}
    below = math.nextafter(best[-1][0], -math.inf)
    rest = [(min(score, below), at) for score, at in hits if (at.segment_ord, at.doc) not in known]
    return [*best, *rest][: len(hits)]


def candidate_query(plan: QueryPlan, ask: Find) -> CandidateQuery:
    """The query of the first step, with a bonus for pages in the language of the query."""
    found = plan.any_term(counted=ask.counted) if ask.any_term else plan.all_terms()
    preferred = plan.preferred[ask.any_term]
    if found.query is None or not preferred:
        return found
    return found._replace(query=add_optional(found.query, preferred), skips=False)


def read_candidates(
    number: int,
    searcher: tantivy.Searcher,
    hits: Sequence[Hit],
    bonus: float,
    *,
    dated: bool,
) -> list[Candidate]:
    """The pages of `hits`, with their values in the index; `bonus` is added to their scores."""
    addresses = [address for _, address in hits]
    values: Callable[[str], Any] = partial(searcher.fast_field_values, doc_addresses=addresses)
    dates = values("date_ms") if dated else repeat(None, len(hits))
    return [
        Candidate(
            (value or 0.0) + bonus,
            static_rank or 0.0,
            key,
            date_ms,
            (number, at.segment_ord, at.doc),
        )
        for (value, at), static_rank, key, date_ms in zip(
            hits, values("static_rank"), values("key"), dates, strict=True
        )
    ]


def merge_candidates(
    titled: Sequence[Candidate], found: Sequence[Sequence[Candidate]], limit: int
) -> list[Candidate]:
    """The best candidates of several indexes, with those whose titles match."""
    known = {each.key for each in titled}
    others = [each for index in found for each in index if each.key not in known]
    if not titled and len(found) <= 1:  # tantivy has sorted those of a single index
        return others
    return sorted([*titled, *others], key=candidate_order)[:limit]


def candidate_order(candidate: Candidate) -> tuple[float, Place]:
    """A sort key. Ties are in index order, as in tantivy, so a lower limit gives a prefix."""
    return -candidate.value, candidate.place


def merge_facets(counted: Iterable[Facets | None]) -> dict[str, list[Count]]:
    """The most frequent values of each facet in several indexes."""
    totals: dict[str, Counter[str]] = {name: Counter() for name in FACETS}
    for facets in counted:
        for name, values in (facets or {}).items():
            totals[name].update(values)
    return {name: most_frequent(values) for name, values in totals.items()}


def _count_facets(searcher: tantivy.Searcher, query: tantivy.Query) -> Facets:
    """The counts of the most frequent values of each facet among all matching pages."""
    aggregations = {name: {"terms": {"field": name, "size": FACET_VALUES}} for name in FACETS}
    found = searcher.aggregate(query, aggregations)
    return {
        name: Counter(
            {_facet_value(bucket["key"]): bucket["doc_count"] for bucket in found[name]["buckets"]}
        )
        for name in FACETS
    }


def _facet_value(key: str | float) -> str:
    return str(int(key)) if isinstance(key, float) else str(key)
