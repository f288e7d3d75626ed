"""The requested page of results: the nodes are asked for titles, snippets and explanations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gossamer.search import explaining
from gossamer.search import query as query_tree
from gossamer.search.messages import Explain, Explained, Show, Shown
from gossamer.search.profiles import popularity
from gossamer.search.query_cost import count_terms
from gossamer.search.recency import freshness
from gossamer.search.results import Hit
from gossamer.web.urls import host_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from gossamer.search.diversity import PlacedPage
    from gossamer.search.matching import Matches, MatchSearch
    from gossamer.search.messages import Candidate, Find, HitFields, Place, RequestGenerator


def show_hits(
    search: MatchSearch, shown: Sequence[PlacedPage], whole: Matches
) -> RequestGenerator[list[Hit]]:
    """The hits of pages, with titles and snippets. `whole`: the matches of all terms."""
    fields = yield from search.nodes.ask_about(
        shown,
        lambda state, pages: Show(state, search.tree, _places(pages)),
        Shown,
        lambda reply: reply.pages,
    )
    explained: dict[tuple[int, Place], dict[str, Any]] = {}
    words = query_tree.wanted_words(search.tree)
    terms = sum(count_terms(each.text) for each in words)
    if search.question.explain and terms <= explaining.MAX_TERMS:
        first = shown[: explaining.MAX_PAGES]
        explained = yield from _explain_scores(search, first, search.any_term(whole))
    return [
        _make_hit(each, fields[each.place], whole.pages, explained.get(each.place))
        for each in shown
        if each.place in fields
    ]


def _explain_scores(
    search: MatchSearch, placed: Sequence[PlacedPage], any_term: Find
) -> RequestGenerator[dict[tuple[int, Place], dict[str, Any]]]:
    """How the scores were computed: tantivy's explanation of the words, and the other parts."""
    words: dict[tuple[int, Place], dict[str, Any]] = {}
    for partial, find in ((False, search.all_terms), (True, any_term)):
        words |= yield from search.nodes.ask_about(
            [each for each in placed if each.partial == partial and not each.is_only_near],
            _explain_request(find),
            Explained,
            lambda reply: reply.words,
        )
    return {
        each.place: _explain_page(search, each, words.get(each.place, {}))
        for each in placed
        if words.get(each.place) or each.near
    }


def _explain_page(search: MatchSearch, each: PlacedPage, words: dict[str, Any]) -> dict[str, Any]:
    meaning = {"meaning": {"similarity": each.near}} if each.near else {}
    if each.is_only_near:
        return meaning
    return {
        "words": words,
        "profile": search.profile,
        "popularity": {
            "value": popularity(each.page.static_rank),
            "weight": search.weights.popularity,
        },
        "freshness": {
            "value": freshness(each.page.date_ms, search.intent),
            "weight": search.weights.freshness,
        },
        **meaning,
    }


def _make_hit(
    placed: PlacedPage, fields: HitFields, pages: int, explanation: dict[str, Any] | None
) -> Hit:
    """The hit of a placed candidate, in an index of `pages` pages."""
    static_rank = placed.page.static_rank
    return Hit(
        url=fields.url,
        title=fields.title,
        snippet=fields.snippet,
        score=placed.score,
        host=host_of(fields.url),
        fetched_ms=fields.fetched_ms,
        rank=static_rank / pages if static_rank else None,
        language=fields.language,
        kind=fields.kind,
        image=fields.image,
        date_ms=fields.date_ms,
        copies=fields.copies,
        versions=fields.versions,
        partial=placed.partial,
        more=placed.more,
        near=round(placed.near, 3) if placed.is_only_near else None,
        explanation=explanation,
    )


def _places(pages: Iterable[Candidate]) -> list[Place]:
    return [page.place for page in pages]


def _explain_request(find: Find) -> Callable[[str, Sequence[Candidate]], Explain]:
    return lambda state, pages: Explain(state, find, _places(pages))
