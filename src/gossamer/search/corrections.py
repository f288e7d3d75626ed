"""Corrections of a misspelt query, from the similar words that all nodes have."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from gossamer.search.messages import CheckedSpelling, CheckSpelling
from gossamer.search.query import wanted_words
from gossamer.search.spelling import SimilarWords, correction, suggestion, words_to_check

if TYPE_CHECKING:
    from gossamer.search.conversation import Conversation
    from gossamer.search.messages import RequestGenerator
    from gossamer.search.query import Query


class Corrections(NamedTuple):
    """`suggestion`: the query with its rare words replaced by similar, more frequent ones.

    `correction`: the query with only those replaced that no page has.
    """

    suggestion: str | None = None
    correction: str | None = None


def corrections_of(nodes: Conversation, tree: Query, text: str) -> RequestGenerator[Corrections]:
    """Ask all nodes about the words of a query."""
    words = words_to_check(" ".join(each.text for each in wanted_words(tree)))
    if not words:
        return Corrections()
    replies = yield from nodes.ask_all(CheckSpelling(words), CheckedSpelling)
    near = {}
    for word in words:
        known = [reply.words[word] for reply in replies.values() if word in reply.words]
        similar: Counter[str] = Counter()
        for each in known:
            similar.update(each.words)
        near[word] = SimilarWords(sum(each.pages for each in known), similar)
    # A missing node may have the words that no other node has.
    return Corrections(suggestion(text, near), None if nodes.missing else correction(text, near))
