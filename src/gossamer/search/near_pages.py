"""How a node finds pages by their meaning. It is imported where there are vectors only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from gossamer.index.format.page_keys import hash_prefix
from gossamer.search import query as query_tree
from gossamer.semantic.quantizing import Vectors, quantize

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tantivy import Query

    from gossamer.search.messages import Candidate, Near
    from gossamer.search.query_plans import QueryPlans
    from gossamer.semantic.nearest import Meanings

FILTERED = 8
"""With conditions, so many times as many are looked for, as most may not meet them."""
MAX_PREFIX_PAGES = 1_000
"""Pages that a query for hash prefixes may match, some of them by chance."""


def find_near(
    meanings: Meanings,
    languages: Mapping[int, str],
    ask: Near,
    search: Callable[[int, Query, int], list[Candidate]],
    plans: QueryPlans,
) -> tuple[list[Candidate], list[tuple[float, str]]]:
    """The pages of the indexes of a node that are near to what is asked, the best first.

    And the similarities of the judged pages, with their languages.

    `languages`: of the indexes, by number. `search`: the pages of an index that match a query.
    """
    vector = _vector(ask, meanings)
    most = ask.limit * (FILTERED if query_tree.query_conditions(ask.find.query) else 1)
    found: list[Candidate] = []
    for number, language in languages.items():
        near = meanings.nearest_pages(language, vector, most)
        prefixes = sorted({hash_prefix(key) for key in near})
        if not prefixes:
            continue
        plan = plans.plan_for(number, ask.find)
        query = plan.near_matches(prefixes, whole=bool(ask.vector))
        pages = [
            replace(each, value=near[each.key])
            for each in search(number, query, MAX_PREFIX_PAGES)
            if each.key in near
        ]
        found += sorted(pages, key=lambda each: (-each.value, each.key))[: ask.limit]
    found.sort(key=lambda each: (-each.value, each.key))
    return found, [meanings.similarity(key, vector) for key in ask.judged]


def _vector(ask: Near, meanings: Meanings) -> Vectors:
    if not ask.vector:
        return meanings.vector_of_text(ask.text)
    return quantize(np.frombuffer(ask.vector, np.int8)[None].astype(np.float32))
