"""How other search engines make terms of a language, independent of our analysis.

    Snowball      words in lower case without stop words, stemmed by Snowball
    words         the same without stemming, where Snowball has no stemmer
    lemmas        the same by the lemmas of simplemma, where it has them
    pairs         each two neighbouring characters, of scripts without spaces and of Korean
    morphological the words of a dictionary, where a package has one that works offline

Their packages are no dependencies of the project: REMEDY installs them.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from importlib import import_module
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from harness import skip
from ranked_systems import TANTIVY_STEMMERS
from tantivy import Filter, TextAnalyzerBuilder, Tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Terms = Callable[[str], list[str]]
    """The terms of a text or of a query."""

REMEDY = "pip install PyStemmer simplemma stopwordsiso jieba janome pythainlp kiwipiepy khmer-nltk"

SNOWBALL = {
    "ar": "arabic",
    "ca": "catalan",
    "cs": "czech",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "et": "estonian",
    "eu": "basque",
    "fa": "persian",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "hi": "hindi",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "nb": "norwegian",
    "ne": "nepali",
    "nl": "dutch",
    "nn": "norwegian",
    "no": "norwegian",
    "pl": "polish",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
}
LEMMAS = frozenset(("bg", "cs", "fa", "gl", "hr", "mk", "pl", "sk", "sl", "sr", "uk"))
PAIRED = frozenset(("ja", "km", "ko", "lo", "my", "th", "zh"))
"""Languages whose usual terms are pairs of characters."""
UNSEGMENTED = frozenset(("km", "ko", "lo", "my"))
"""Those in which spaces separate words or phrases, so that these are a usual analysis, too."""

_WORD = re.compile(r"[^\W_][\w\u0300-\u036f\u064b-\u0652\u0900-\u0dff\u200c]*")
"""A word with its marks: Python's `\\w` has no vowel signs."""
_RUN = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u30ff"
    r"\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+"
)
"""A run of characters of the scripts that are paired."""
_KOREAN_CONTENT = ("N", "V", "M", "SL", "SN", "SH", "XR")
"""Tags of Kiwi that are no particles, endings or marks."""


_LISTED = frozenset(
    ("da", "de", "en", "es", "fi", "fr", "hu", "it", "nb", "nl", "nn", "no", "pt", "ru", "sv")
)
"""Languages of which tantivy has Snowball's stop words, and Lucene's for English."""
_BARE = {"nb": "no", "nn": "no"}


@cache
def usual_analyses(language: str) -> Mapping[str, Terms]:
    """The usual analyses of a language, by name; each of words with many stop words and with few.

    Many are those of stopwordsiso. Few are Snowball's, or none where Snowball has no list.
    """
    stems: dict[str, Callable[[str], str]] = {}
    if language in SNOWBALL:
        stems["Snowball"] = _snowball(language)
    elif language not in PAIRED or language in UNSEGMENTED:
        stems["words"] = lambda word: word
    if language in LEMMAS:
        stems["lemmas"] = _lemmas(language)
    found: dict[str, Terms] = {}
    for name, stem in stems.items():
        for stop, list_of in (("many", _many_stop_words), ("few", _few_stop_words)):
            found[f"{name}, {stop} stop words"] = _without(list_of(language), stem)
    if language in PAIRED:
        found["pairs"] = _pairs
    if language in _MORPHOLOGICAL:
        found["morphological"] = _MORPHOLOGICAL[language]()
    return found


def _package(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as missing:
        skip(f"needs {missing.name}: {REMEDY}")


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _many_stop_words(language: str) -> frozenset[str]:
    if language == "xx":
        return frozenset()
    return frozenset(_package("stopwordsiso").stopwords(_BARE.get(language, language)))


def _few_stop_words(language: str) -> frozenset[str]:
    """The words of `_many_stop_words` that Snowball lists, too."""
    if language not in _LISTED:
        return frozenset()
    keep = TextAnalyzerBuilder(Tokenizer.whitespace()).filter(
        Filter.stopword(TANTIVY_STEMMERS[language])
    )
    many = _many_stop_words(language)
    return many - {*keep.build().analyze(" ".join(many))}


def _without(stop: frozenset[str], term_of: Callable[[str], str]) -> Terms:
    """The terms of words in lower case that are not stop words, or of all if all are."""

    def terms(text: str) -> list[str]:
        words = _words(text)
        return [term_of(word) for word in words if word not in stop] or [*map(term_of, words)]

    return terms


def _snowball(language: str) -> Callable[[str], str]:
    package = _package("Stemmer")
    if SNOWBALL[language] not in package.algorithms():
        return lambda word: word
    stem: Callable[[str], str] = package.Stemmer(SNOWBALL[language]).stemWord
    return stem


def _lemmas(language: str) -> Callable[[str], str]:
    package = _package("simplemma")
    bare = {"hr": "hbs", "sr": "hbs"}.get(language, language)
    return lru_cache(100_000)(lambda word: str(package.lemmatize(word, bare)).lower())


def _pairs(text: str) -> list[str]:
    """Words, and pairs of neighbouring characters of the runs in them."""
    return [*_pair_terms(text.lower())]


def _pair_terms(text: str) -> Iterator[str]:
    end = 0
    for run in _RUN.finditer(text):
        yield from _WORD.findall(text, end, run.start())
        if len(run[0]) == 1:
            yield run[0]
        yield from (first + second for first, second in pairwise(run[0]))
        end = run.end()
    yield from _WORD.findall(text, end)


def _spoken(words: list[str]) -> list[str]:
    """The words that have a letter or digit."""
    return [word.lower() for word in words if any(map(str.isalnum, word))]


def _japanese() -> Terms:
    tokenizer = _package("janome.tokenizer").Tokenizer()

    def terms(text: str) -> list[str]:
        found = list(tokenizer.tokenize(text))
        content = [
            token.surface if token.base_form == "*" else token.base_form
            for token in found
            if not token.part_of_speech.startswith(("助詞", "助動詞", "記号"))
        ]
        return _spoken(content) or _spoken([token.surface for token in found])

    return terms


def _chinese() -> Terms:
    package = _package("jieba")
    package.setLogLevel(60)
    return lambda text: _spoken(package.lcut_for_search(text))


def _thai() -> Terms:
    package = _package("pythainlp.tokenize")
    return lambda text: _spoken(package.word_tokenize(text, engine="newmm", keep_whitespace=False))


def _korean() -> Terms:
    tokenizer = _package("kiwipiepy").Kiwi(num_workers=1)

    def terms(text: str) -> list[str]:
        found = tokenizer.tokenize(text)
        content = [token.form for token in found if token.tag.startswith(_KOREAN_CONTENT)]
        return _spoken(content) or _spoken([token.form for token in found])

    return terms


def _khmer() -> Terms:
    package = _package("khmernltk")
    return lambda text: _spoken(package.word_tokenize(text, return_tokens=True))


_MORPHOLOGICAL: Mapping[str, Callable[[], Terms]] = {
    "ja": _japanese,
    "km": _khmer,
    "ko": _korean,
    "th": _thai,
    "zh": _chinese,
}
