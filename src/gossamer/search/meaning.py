"""Pages that are found by their meaning, whatever their words, in the order of all results.

A node finds them (`near_pages.py`). They have vectors (`gossamer/semantic/`), if the crawl has a
model. Pages that have all words of a query come first, as ever. If they are so few that pages with
some of the words follow, these and the pages that are near in meaning are ordered by

    weight · score / best score + similarity / best similarity

where a page that was not found by its words has no score. Whether words are to be trusted depends
on the query: the pages with most words of a question are about the same as it in its own language,
and not in another one, where they share a name or a stop word with it. So the weight of a page in
another language than the query, if that can be told, is at most FOREIGN. Of the others it follows
from the similarity of the best pages by words, the *agreement*: it is FOREIGN up to an agreement of
SOME, OWN from one of MUCH, and between them in proportion. For the questions of
`bench/across_languages.py` in another language, the median agreement is 0.3 to 0.6; for those of
Cranfield it is 0.7, and their nDCG@10 rises from 0.355 to 0.361 (by reciprocal ranks, it falls).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer.index.format.analysis import index_language_of
from gossamer.parse.reading.language import language_of
from gossamer.search import query as query_tree
from gossamer.search.diversity import PlacedPage, demote_crowded_hosts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gossamer.search.messages import Neighbours
    from gossamer.search.query import Query

MAX_NEAR = 50
"""Pages of each language that are found by their meaning."""
MAX_PLACED = 100
MAX_MEANT_CHARS = 2_000
"""Of a query's words, so much is passed on to be understood."""
FOREIGN, OWN = 0.3, 3.0
SOME, MUCH = 0.55, 0.7
JUDGED = 10
"""The best pages by words, whose similarity is the agreement."""
PREFERRED = 1.1
"""By how much more similar a page counts that is in the language of the user."""


def meant_text(tree: Query) -> str:
    """The words of a query whose meaning counts; "" if it asks for exactly these words."""
    if not query_tree.allows_partial_matches(tree):
        return ""
    return " ".join(each.text for each in query_tree.wanted_words(tree))[:MAX_MEANT_CHARS]


def place_near(found: Mapping[int, Neighbours], *, partial: bool) -> list[PlacedPage]:
    """The pages of all nodes, the best first. `partial`: whether they lack words of the query."""
    placed = [
        PlacedPage(node, page, partial, 0.0, page.value, near=page.value, language=key)
        for node, reply in found.items()
        for page, key in zip(reply.candidates, reply.languages, strict=True)
    ]
    placed.sort(key=lambda each: (-each.near, each.page.key))
    return placed[:MAX_PLACED]


def judge(placed: Sequence[PlacedPage], found: Mapping[int, Neighbours]) -> None:
    """Set how near pages are that were found by their words, and their languages."""
    for number, each in enumerate(placed):
        judged = [reply.judged[number] for reply in found.values()]
        each.near, each.language = max([(0.0, ""), *judged])


def spoken_language(text: str) -> str:
    """The language of the index for texts like this one; "" if that cannot be told."""
    found = language_of(text)
    return index_language_of(found) if found else ""


def fuse(
    words: Sequence[PlacedPage], near: Sequence[PlacedPage], language: str, spoken: str = ""
) -> tuple[list[PlacedPage], list[float]]:
    """Pages that were found by their words or by their meaning, the best first, and their worth.

    `language`: the user's; `spoken`: that of the query; both as indexes are named.
    """
    pages = {each.page.key: each for each in (*near, *words)}
    best = max((each.near for each in pages.values()), default=0.0) or 1.0
    highest = max((each.score for each in words), default=0.0) or 1.0
    weight = word_weight([each.near / best for each in words[:JUDGED]])
    foreign = min(weight, FOREIGN)
    worth = {
        each.page.key: (foreign if is_foreign(each, spoken) else weight) * each.score / highest
        for each in words
    }
    for key, each in pages.items():
        more = PREFERRED if each.language == language else 1.0
        worth[key] = worth.get(key, 0.0) + more * each.near / best
    order = sorted(pages, key=lambda key: (-worth[key], key))
    return [pages[key] for key in order], [worth[key] for key in order]


def is_foreign(page: PlacedPage, spoken: str) -> bool:
    return bool(spoken and page.language and page.language != spoken)


def word_weight(similarities: Sequence[float]) -> float:
    """What the scores of words count, by the similarities of the best pages by words."""
    agreement = sum(similarities) / max(len(similarities), 1)
    share = min(max((agreement - SOME) / (MUCH - SOME), 0.0), 1.0)
    return FOREIGN + share * (OWN - FOREIGN)


def add_near(
    front: Sequence[PlacedPage],
    near: Sequence[PlacedPage],
    language: str,
    spoken: str,
    *,
    is_one_host: bool,
) -> list[PlacedPage]:
    """Pages in the order of their words, those with all words in front, fused with near ones."""
    some = [each for each in front if each.partial]
    rest, worth = fuse(some, near, language, spoken)
    if not is_one_host:
        rest = demote_crowded_hosts(rest, worth)
    return [*(each for each in front if not each.partial), *rest]
