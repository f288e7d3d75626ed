"""The language of a document: detected in its text, or declared by the page if the text is unclear.

Facts. `ngrams.py` says how likely the n-grams of a text are in 60 languages, in some 10 µs for a
sample of 500 characters. The difference between the two best languages, times the length of the
text, measures the evidence for the best one, so one threshold serves titles and pages. Texts in an
unsupported language are unlikely in all languages, or are taken for a related one; we distinguish
the related languages that matter by their letters and small words.

The language that a page declares (`lang`, Content-Language, og:locale) is often that of its
template. It breaks ties, identifies languages that the detector does not support, and decides
between the languages of a mixed document, but never overrides the text.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from gossamer.parse.reading.ngrams import LANGUAGES, score_languages

if TYPE_CHECKING:
    from collections.abc import Iterator

SAMPLES = 8
SAMPLE_CHARS = 500
"""Number and length of the evenly spaced samples that are read of a document."""
MIXED_SHARE = 0.2
"""The share of the letters from which on a language can be that of a mixed document."""
MIN_LIKELIHOOD = 1.05
"""Likelihood below which no language is recognised. Supported languages stay below it in 1 of 1,000
paragraphs and 2 of 100 titles; Esperanto, Irish and Gaelic in all paragraphs and 97 of 100
titles."""
MIN_EVIDENCE = 5.0
"""Evidence that decides on a language. Of titles of 5 to 12 words, 97 of 100 reach it, and it is
right in 998 of 1,000 of these. Of three words 56 % reach it (995 right), of two 22 % (991), of one
3 % (989): bench/language.py."""
MIN_LETTERS = 16
"""Bytes of letters below which no language is returned: six ideographs, eight Cyrillic letters."""
COUNTED_CHARS = 200
"""Characters of a sample, at least, of which the letters are counted."""
TRAIT_CHARS = 300
"""Characters of a sample that are searched for what distinguishes related languages."""
MAX_DOUBT = 1.0
"""Evidence against the declared language up to which it is accepted, if the text is undecided."""
MIN_UNKNOWN_LETTERS = 40
"""Bytes of letters, in an undecided text, from which on we accept a declared language that the
detector does not support."""

MAX_TAG_CHARS = 35
"""Length that holds every language tag without extensions (RFC 5646 §4.4.1)."""
_TAG = re.compile(r"[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*")

_ASCII = bytes(range(128))
_NO_LETTERS = bytes(byte for byte in range(256) if byte not in _ASCII or not chr(byte).isalpha())
"""All bytes but the letters of ASCII."""

_KNOWN = frozenset(LANGUAGES)

_CODES = """
aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de
dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia
id ie ig ii ik io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo
lt lu lv mg mh mi mk ml mn mr ms mt my na nd ne ng nl no nr nv ny oc oj om or os pa pi pl ps pt
qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tl tn
to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu
"""
"""The codes of ISO 639-1."""
_SLIPS = """
iw:he in:id ji:yi mo:ro nb:no nn:no cmn:zh yue:zh fil:tl
cn:zh cz:cs dk:da gr:el jp:ja ua:uk vn:vi
"""
"""Aliases of codes: former ones, varieties of a language, and country codes that are not language
codes but are common as `lang` (HTTP Archive, 2017)."""
_ISO_639_1 = frozenset(_CODES.split())
_ALIASES = dict(pair.split(":") for pair in _SLIPS.split())


class _Rival(NamedTuple):
    """A language that the detector takes for another, mostly because it does not support it.

    `its` are letters, parts of words and words that only this language uses; `not_its` those that
    only the other one uses.
    """

    language: str
    its: tuple[str, ...] = ()
    not_its: tuple[str, ...] = ()

    def surplus(self, sample: str) -> int:
        """Return the number of occurrences of `its` minus that of `not_its`."""
        text = f" {sample[:TRAIT_CHARS].lower()} "
        return sum(map(text.count, self.its)) - sum(map(text.count, self.not_its))


def _words(words: str) -> tuple[str, ...]:
    return tuple(f" {word} " for word in words.split())


_KAZAKH = _Rival("kk", tuple("әғқңөұүһ"), tuple("оё"))
_TAJIK = _Rival("tg", tuple("ғӣқӯҳҷ"), tuple("ёщцыьъ"))
_GALICIAN = (
    *(" xa", " xe", " xi", " xu", "axe"),
    *_words(
        "unha unhas cunha nunha dunha dun nun coa coas algúns tamén máis aínda cando moi ten teñen"
        " súa súas non polo pola polos polas"
    ),
)
_RIVALS = {
    "be": (_KAZAKH,),
    "bg": (
        _Rival("mk", (*"јѓќѕџљњ", *_words("во со од")), (*"йщъьюя", *_words("в с от"))),
        _TAJIK,
    ),
    "bn": (_Rival("as", tuple("ৰৱ"), ("র",)),),
    "es": (
        _Rival(
            "gl",
            (
                *_GALICIAN,
                "eira",
                "eiro",
                *_words("e ao aos da das do dos na nas os ou é á ás pode"),
            ),
            _words("y el la las lo los una unas del es hay al"),
        ),
    ),
    "hi": (_Rival("ne", ("हरू", "लाई", "छैन", "गर्नु", "भएको"), ("है", "में", "नहीं", "करें")),),
    "hr": (_Rival("bs"), _Rival("sr")),  # in Latin letters; only the declared language decides
    "id": (
        _Rival(
            "ms",
            _words(
                "kerana ialah bahawa sahaja semula mesej pelayar sijil tetapan rangkaian ralat cuba"
                " imej tiada mempunyai awak kerajaan syarikat wang pelbagai"
            ),
            _words(
                "bisa karena adalah bahwa memiliki anda situs berkas beberapa sebuah jaringan"
                " kesalahan peramban mereka pemerintah perusahaan uang berbagai ingin harus"
            ),
        ),
    ),
    "nl": (
        _Rival("af", _words("'n ’n nie hierdie vir deur dié word oor"), ("ij", *_words("het een"))),
    ),
    # Words that end in -m in Portuguese end in -n in Galician.
    "pt": (_Rival("gl", ("ñ", "n ", *_GALICIAN), (*"ãõçê", "lh", "m ", *_words("uma"))),),
    "ru": (_KAZAKH, _TAJIK),
    "sr": (
        _Rival(
            "mk",
            (*"ѓќѕ", "иот ", *_words("во со е го ги кое кои еден една овој оваа врз")),
            (*"ђћ", *_words("у је су са би који које")),
        ),
    ),
    "uk": (_KAZAKH,),
    "zh": (_Rival("ja", tuple("のをはが"), tuple("的了是在这這们們")),),  # titles without kana
}
_SCRIPTS = (("si", "[\u0d80-\u0dff]"), ("my", "[\u1000-\u109f]"), ("km", "[\u1780-\u17ff]"))
"""Scripts that the detector does not support, each with the language that nearly always uses it."""


def language_of(text: str, hint: str | None = None) -> str | None:
    """Return the ISO 639-1 code of a text's language; None if it cannot be determined.

    `hint` is the declared language, from `hint_of`. `no` is Bokmål and Nynorsk, `zh` all of
    Chinese; Bosnian, and Serbian in Latin letters, are `hr` unless the hint names them. Never
    raises, and reads at most 4,000 characters.

    The language with the most letters wins, except in documents that are translated in part: what
    is left untranslated is nearly always English, and so are code and quoted output. Such a
    document is in the language that it declares, or else in the other one. No more samples are
    read than it takes to know that it is the declared one.
    """
    votes: Counter[str] = Counter()
    samples = list(_samples(text))
    left = sum(len(sample.encode()) for sample in samples)
    for sample in samples:
        letters = _letters(sample)
        if letters >= MIN_LETTERS and (language := _read(sample, letters, hint)):
            votes[language] += letters
        left -= len(sample.encode())
        if hint is not None and hint in votes and _is_settled(votes, hint, left):
            return hint
    if hint != "en":
        translated = {
            language: letters
            for language, letters in votes.items()
            if language != "en" and letters >= MIXED_SHARE * votes.total()
        }
        if translated:
            return hint if hint in translated else max(translated, key=translated.__getitem__)
    return max(votes, key=votes.__getitem__, default=None)


def _is_settled(votes: Counter[str], hint: str, left: int) -> bool:
    """Whether the declared language wins, even if another one gets all letters that are `left`."""
    if hint == "en":
        others = [letters for language, letters in votes.items() if language != hint]
        return votes[hint] > max(others, default=0) + left
    return votes[hint] >= MIXED_SHARE * (votes.total() + left)


def hint_of(value: str) -> str | None:
    """Return the ISO 639-1 code in a `lang`, Content-Language or og:locale.

    None if there is none, or more than one. It is BCP 47's primary subtag; common mistakes such as
    `de_AT` and `jp` are accepted.
    """
    tags = [re.split("[-_]", tag.strip(" \t\n'\""))[0] for tag in value[:256].lower().split(",")]
    code, *others = {_ALIASES.get(tag, tag) for tag in tags}
    return code if not others and code in _ISO_639_1 else None


def tag_of(value: str) -> str | None:
    """Return the first language tag (BCP 47) in a `lang` or Content-Language; None if invalid."""
    tag = value[: 4 * MAX_TAG_CHARS].partition(",")[0].strip(" \t\r\n\0").replace("_", "-")
    return tag if len(tag) <= MAX_TAG_CHARS and _TAG.fullmatch(tag) else None


def _samples(text: str) -> Iterator[str]:
    count = min(SAMPLES, math.ceil(len(text) / SAMPLE_CHARS))
    for i in range(count):
        start = len(text) * i // count
        yield text[start : start + SAMPLE_CHARS].encode("utf-8", "replace").decode()


def _letters(sample: str) -> int:
    """Estimate the bytes of letters, to a few per cent. N-grams consist of bytes."""
    strided = sample[:: len(sample) // COUNTED_CHARS or 1]
    encoded = strided.encode()
    beyond = encoded.translate(None, _ASCII).decode()  # many times as fast as each character
    letters = len(encoded.translate(None, _NO_LETTERS)) + sum(map(str.isalpha, beyond))
    return letters * len(sample.encode()) // len(strided)


def _read(sample: str, letters: int, hint: str | None) -> str | None:
    scores, unit = score_languages(sample)
    second, first = sorted(scores)[-2:]
    best = LANGUAGES[scores.index(first)]
    evidence = letters * (first - second) / unit
    decided = first >= MIN_LIKELIHOOD * unit and evidence >= MIN_EVIDENCE
    language = _resolve_rivals(best, sample, hint, traits=1 if decided else 3)
    if decided or language != best:
        return language
    for language, script in () if sample.isascii() else _SCRIPTS:
        if 6 * len(re.findall(script, sample)) > letters:  # three bytes each, and over half
            return language
    if hint not in _KNOWN:
        return hint if letters >= MIN_UNKNOWN_LETTERS else None
    doubt = letters * (first - scores[LANGUAGES.index(hint)]) / unit
    return hint if doubt <= MAX_DOUBT else None


def _resolve_rivals(language: str, sample: str, hint: str | None, *, traits: int) -> str:
    """Return the rival of the detected language that has enough distinctive traits, or itself."""
    for rival in _RIVALS.get(language, ()):
        if rival.surplus(sample) >= traits - (hint == rival.language):
            return rival.language
    return language
