"""Hits of a longer search behind those of a shorter one."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from gossamer.search.index_search import continued_hits, read_candidates
from gossamer.search.messages import REORDERED, Candidate

if TYPE_CHECKING:
    import tantivy
    from tantivy import DocAddress

    from gossamer.search.index_search import Hit


def hit(score: float, doc: int, segment: int = 0) -> Hit:
    return score, cast("DocAddress", SimpleNamespace(segment_ord=segment, doc=doc))


BEST = [hit(1_000.0 - place, place) for place in range(REORDERED)]
LAST = BEST[-1][0]


def test_what_follows_has_lower_scores() -> None:
    others = [hit(LAST + 0.5, 0, segment=1), hit(LAST, 1, segment=1), hit(3.0, 2, segment=1)]
    found = continued_hits(BEST, [*others[:1], *BEST, *others[1:]])
    assert found[:REORDERED] == BEST
    assert [at for _, at in found[REORDERED:]] == [at for _, at in others]
    scores = [score for score, _ in found[REORDERED:]]
    assert scores[0] == scores[1] < LAST
    assert scores[2] == 3.0
    assert LAST - scores[0] < 1e-9


def test_as_many_follow_as_were_found() -> None:
    others = [hit(5.0 - number, number, segment=1) for number in range(3)]
    found = continued_hits(BEST, [*BEST[1:], *others])  # one of the best is missing
    assert found == [*BEST, *others[:2]]


def test_few_hits_are_all() -> None:
    assert continued_hits(BEST[:-1], [hit(1.0, 0, segment=1)]) == BEST[:-1]


def test_candidates_have_the_values_of_the_index_and_nought_without_them() -> None:
    columns: dict[str, list[Any]] = {
        "static_rank": [0.5, None],
        "key": [7, 8],
        "date_ms": [None, 9],
    }

    def fast_field_values(name: str, doc_addresses: list[DocAddress]) -> list[Any]:
        assert doc_addresses == [at for _, at in hits]
        return columns[name]

    searcher = cast("tantivy.Searcher", SimpleNamespace(fast_field_values=fast_field_values))
    hits = [hit(3.0, 4, segment=1), (cast("float", None), hit(0, 5)[1])]
    places = [(6, 1, 4), (6, 0, 5)]
    found = read_candidates(6, searcher, hits, 0.25, dated=True)
    assert found == [
        Candidate(3.25, 0.5, 7, None, places[0]),
        Candidate(0.25, 0.0, 8, 9, places[1]),
    ]
    undated = read_candidates(6, searcher, hits, 0, dated=False)
    assert [each.date_ms for each in undated] == [None, None]
