r"""Is a text like those that the owner wants? Naive Bayes, over whole batches of texts.

Learned from texts that are wanted or not (multinomial, each word once a text: McCallum and Nigam,
AAAI workshop 1998; Chakrabarti, van den Berg and Dom, WWW 1999, steer a crawler by it). A word that
c of the wanted texts have counts

    w = log (c + 1) / (C + V)  -  the same of the unwanted texts

with C, the sum of all c, and V, the number of words. The score of a text is the sum over its words
that are known, divided by the square root of their number: words of a text depend on each other,
so that the plain sum of a long text would always be certain. A text is more likely unwanted if its
score is below 0; `logistic` makes a probability of it.

Facts
  * Both kinds count alike, however many texts are of each: what is marked is no sample.
  * The words are stored as they are, not as hashes: there are few, and they explain a verdict.
  * A word in a single text is mostly chance, and words that both kinds have tell little. So of the
    words in two texts or more, the MOST_WORDS that tell most are kept.
  * Texts in scripts without spaces are taken apart into characters.

Cost: about 40 µs for a text of 1.1 KB, most of which is to split it into words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    import numpy.typing as npt

LEAST_TEXTS = 5
"""Of each kind: with fewer, nothing is learned."""
MOST_WORDS = 8_192
MAX_CHARS = 20_000
"""Characters at the beginning of a text that are read."""
IN_TEXTS = 2
DECIMALS = 6
"""Of a weight: logarithms may differ by their last bit between machines."""
SEEN_BYTES = 1 << 22
"""For a table of texts and words."""
_OTHER = r"[^\p{L}\p{M}]+"
_UNSPACED = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]"

LEARNED = pa.schema(
    [
        ("word", pa.string()),
        ("weight", pa.float64()),
        ("wanted", pa.int64()),
        ("unwanted", pa.int64()),
    ]
)
"""A word, its weight, and how many texts of each kind have it."""


class Classifier(NamedTuple):
    """Judges texts by their words."""

    words: pa.StringArray
    weights: npt.NDArray[np.float64]

    @classmethod
    def from_learned(cls, learned: pa.Table) -> Classifier:
        """A classifier of rows of LEARNED."""
        words = learned["word"].combine_chunks().cast(pa.string())
        return cls(words, learned["weight"].to_numpy())

    def scores(self, texts: pa.ListArray) -> pa.DoubleArray:
        """The score of each text, split by `split_words`; null if it has no known word."""
        width = max(len(self.words), 1)
        step = max(SEEN_BYTES // width, 1)
        parts = [self._scores(texts.slice(n, step)) for n in range(0, len(texts), step)]
        return pa.concat_arrays(parts or [pa.array([], pa.float64())])

    def telling(self, words: list[str], most: int) -> list[str]:
        """Those of some words that tell most, either way."""
        known = dict(zip(self.words.to_pylist(), self.weights.tolist(), strict=True))
        found = {word for word in words if word in known}
        return sorted(found, key=lambda word: (-abs(known[word]), word))[:most]

    def _scores(self, texts: pa.ListArray) -> pa.DoubleArray:
        rows, width = len(texts), max(len(self.words), 1)
        places = pc.index_in(texts.flatten(), value_set=self.words)
        is_known = places.is_valid().to_numpy(zero_copy_only=False)
        seen = np.zeros(rows * width, bool)
        known = places.drop_null().to_numpy().astype(np.int64)
        seen[_rows(texts)[is_known] * width + known] = True
        (hits,) = np.nonzero(seen)
        row, word = hits // width, hits % width
        sums = np.bincount(row, self.weights[word], rows)
        counts = np.bincount(row, minlength=rows)
        return pa.array(sums / np.sqrt(np.maximum(counts, 1)), mask=counts == 0)


def split_words(texts: pa.Array) -> pa.ListArray:
    """The words of each text, in lower case and in their order."""
    plain = pc.utf8_lower(pc.utf8_slice_codeunits(texts.cast(pa.string()), 0, MAX_CHARS))
    if pc.any(pc.match_substring_regex(plain, _UNSPACED)).as_py():
        plain = pc.replace_substring_regex(plain, _UNSPACED, r" \0 ")
    return pc.split_pattern_regex(pc.fill_null(plain, ""), _OTHER)


def distinct_words(words: list[str]) -> list[str]:
    """The words of a text, each once."""
    return sorted(set(words) - {""})


def learn(texts: pa.ListArray, wanted: npt.NDArray[np.bool_]) -> pa.Table:
    """Rows of LEARNED, by word, from texts given by their distinct words.

    None if fewer than LEAST_TEXTS are wanted, or not wanted.
    """
    if min(np.count_nonzero(wanted), np.count_nonzero(~wanted)) < LEAST_TEXTS:
        return LEARNED.empty_table()
    words = texts.flatten().dictionary_encode()
    places, is_wanted = words.indices.to_numpy(), wanted[_rows(texts)]
    for_it, against = (
        np.bincount(places[each], minlength=len(words.dictionary))
        for each in (is_wanted, ~is_wanted)
    )
    kept = for_it + against >= IN_TEXTS
    for_it, against = for_it[kept], against[kept]
    rates = [np.log((each + 1) / (each.sum() + each.size)) for each in (for_it, against)]
    weights = np.round(rates[0] - rates[1], DECIMALS)
    found = pa.table(
        {
            "word": words.dictionary.filter(pa.array(kept)),
            "weight": weights,
            "wanted": for_it,
            "unwanted": against,
            "strength": np.abs(weights),
        }
    )
    order = [("strength", "descending"), ("word", "ascending")]
    telling = found.filter(pc.greater(found["strength"], 0)).sort_by(order).slice(0, MOST_WORDS)
    return telling.sort_by("word").select(LEARNED.names).cast(LEARNED)


def logistic(scores: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The probabilities of scores."""
    return 1 / (1 + np.exp(-scores))


def _rows(texts: pa.ListArray) -> npt.NDArray[np.int64]:
    """For each word of all texts, the number of its text."""
    lengths = pc.list_value_length(texts).to_numpy(zero_copy_only=False)
    return np.repeat(np.arange(len(texts)), lengths)
