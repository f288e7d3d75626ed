"""Prose at memory speed: sentences joined from precomputed clauses.

Facts: drawing every word of a 90 KB page costs milliseconds in Python, and one Chinese title in
an English page makes Python copy and encode the whole page at double width. So text is bytes, and
each language has a pool of opening and closing clauses with words drawn by Zipf's law. A sentence
is an opening and a closing clause. Word sequences that cross the border between two clauses differ
from page to page, so two pages of a language share words but hardly any sentence: they are not
near-duplicates.
"""

from __future__ import annotations

import struct
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import quote

from gossamer.fakeweb.seeded_random import Draw, stream
from gossamer.fakeweb.vocabulary import VOCABULARIES

if TYPE_CHECKING:
    from random import Random

POOL = 4096  # clauses of each kind per language
INDICES = 1 << 16  # values of 16 random bits, each of which selects a clause
SENTENCES_PER_PARAGRAPH = 6  # on average
PARAGRAPHS_PER_HEADING = 6  # on average


class Prose:
    """The text model of one language."""

    def __init__(self, language: str) -> None:
        vocabulary = VOCABULARIES[language]
        self.language = language
        self.space = vocabulary.space
        self.stop = vocabulary.stop
        self.words = (
            *vocabulary.function,
            *vocabulary.stems,
            *(stem + suffix for suffix in vocabulary.suffixes for stem in vocabulary.stems),
        )
        # Titles draw from the words that are not function words, paths from the same words quoted.
        self.topics = tuple(_capital(word) for word in self.words[len(vocabulary.function) :])
        self.slugs = tuple(quote(topic.lower()) for topic in self.topics)
        draw = stream(0, language).random  # all seeds share the model; their pages draw differently
        openings = [_capital(self._clause(draw)) + vocabulary.comma for _ in range(POOL)]
        closings = [
            self._clause(draw) + vocabulary.stop.rstrip() + self._break(draw) for _ in range(POOL)
        ]
        # Repeat the clauses so that any 16-bit number is an index.
        self._openings = [text.encode() for text in openings] * (INDICES // POOL)
        self._closings = [text.encode() for text in closings] * (INDICES // POOL)
        self.sentence_bytes = sum(map(len, self._openings + self._closings)) / INDICES

    def phrase(self, draw: Draw, words: int) -> str:
        """Return words drawn by Zipf's law: a log-uniform rank is r with a probability of ~1/r."""
        span = len(self.words)
        return self.space.join([self.words[int(span ** draw()) - 1] for _ in range(words)])

    def sentences(self, rng: Random, count: int) -> list[bytes]:
        """Return `count` sentences as HTML in UTF-8, each as two parts.

        Some end a paragraph, and a few of these are followed by a heading.
        """
        bits = rng.getrandbits(32 * count).to_bytes(4 * count, "little")
        picks = struct.unpack(f"<{2 * count}H", bits)
        parts = [b""] * (2 * count)
        parts[::2] = map(self._openings.__getitem__, picks[:count])
        parts[1::2] = map(self._closings.__getitem__, picks[count:])
        return parts

    def plain(self, draw: Draw, sentences: int) -> str:
        """Return sentences without markup, for descriptions and text/plain."""
        return (
            self.stop.join(self.phrase(draw, 9).capitalize() for _ in range(sentences))
            + self.stop.rstrip()
        )

    def _clause(self, draw: Draw) -> str:
        return self.phrase(draw, 6 + int(draw() * 5))

    def _break(self, draw: Draw) -> str:
        if draw() * SENTENCES_PER_PARAGRAPH >= 1:
            return " "
        if draw() * PARAGRAPHS_PER_HEADING >= 1:
            return "</p>\n<p>"
        return f"</p>\n<h2>{_capital(self.phrase(draw, 4))}</h2>\n<p>"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]  # str.capitalize would put German nouns in lower case


@cache
def prose(language: str) -> Prose:
    """Return the cached model of a language, which takes 30 ms to build and 2 MB."""
    return Prose(language)
