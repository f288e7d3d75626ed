"""The language of a document: what its text is, and what its page says where the text leaves doubt.

Facts. The detector (eldc: n-grams of 60 languages in 22 MB of read-only data, shared by all
processes) reads the first 1,000 bytes of what it is given, in some 10 µs. For each language it
tells 1 - exp(-x), where x is the mean log-likelihood of the n-grams. So the difference of the x
of the first two, times the length, grows as the evidence for the first: one threshold serves
titles and pages. Texts in a language that it does not know have a low x throughout, or are taken
for a relative: the relatives that matter are told apart by their letters and small words.

What a page declares (`lang`, Content-Language, og:locale) is often its template's language. It
breaks ties and names what the detector cannot know, and never outvotes the text.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import eldc

if TYPE_CHECKING:
    from collections.abc import Iterator

SAMPLES = 4
SAMPLE_CHARS = 1_000
"""A document is read at so many places, evenly spread; the language of most letters wins."""
MIN_SCORE = 0.65
"""What the detector knows stays below it in 1 of 1,000 paragraphs and 2 of 100 titles; Esperanto,
Irish and Gaelic in all paragraphs and 97 of 100 titles."""
MIN_EVIDENCE = 5.0
"""Right in 998 of 1,000 titles of 5 to 12 words that reach it, and 97 of 100 do.
Of three words 56 % do (right in 995), of two 22 % (991), of one 3 % (989): bench/language.py."""
MIN_LETTERS = 16
"""Bytes of letters, below which nothing is told: six ideographs, eight letters of Cyrillic."""
TRAIT_CHARS = 300
"""So much of a sample is searched for the letters and words that tell relatives apart."""
MAX_DOUBT = 1.0
"""So much evidence may stand against what the page declares, where the text alone is undecided."""
MIN_UNKNOWN_LETTERS = 40
"""A declared language that the detector does not know is believed where so many fit no other."""

MAX_TAG_CHARS = 35
"""RFC 5646 §4.4.1: a buffer for every tag but those with extensions."""
_TAG = re.compile(r"[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*")

eldc.init()
_DETECTOR = eldc.instance()
_DETECTOR.set_scores(8)
_KNOWN = frozenset(eldc.LANGUAGES) | {"id"}

_CODES = """
aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de
dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia
id ie ig ii ik io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo
lt lu lv mg mh mi mk ml mn mr ms mt my na nd ne ng nl no nr nv ny oc oj om or os pa pi pl ps pt
qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tl tn
to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu
"""
"""ISO 639-1."""
_SLIPS = """
iw:he in:id ji:yi mo:ro nb:no nn:no cmn:zh yue:zh fil:tl
cn:zh cz:cs dk:da gr:el jp:ja ua:uk vn:vi
"""
"""Former codes, parts of a language for the whole of it; and codes of countries that are no
language's and are common as `lang` (HTTP Archive, 2017)."""
_ISO_639_1 = frozenset(_CODES.split())
_ALIASES = dict(pair.split(":") for pair in _SLIPS.split())


class _Rival(NamedTuple):
    """A language that the detector takes for another, mostly as it does not know it.

    They are told apart by what only one of the two writes: letters, pieces of words, words.
    """

    language: str
    its: tuple[str, ...] = ()
    not_its: tuple[str, ...] = ()

    def surplus(self, sample: str) -> int:
        """How many more of its own are in a text than of the other's."""
        text = f" {sample[:TRAIT_CHARS].lower()} "
        return sum(map(text.count, self.its)) - sum(map(text.count, self.not_its))


def _words(words: str) -> tuple[str, ...]:
    return tuple(f" {word} " for word in words.split())


_KAZAKH = _Rival("kk", tuple("әғқңөұүһ"), tuple("оё"))
_TAJIK = _Rival("tg", tuple("ғӣқӯҳҷ"), tuple("ёщцыьъ"))
_GALICIAN = _words(
    "unha unhas cunha nunha coa coas algúns tamén máis aínda cando moi ten teñen súa súas pode"
)
_RIVALS = {
    "be": (_KAZAKH,),
    "bg": (_Rival("mk", tuple("јѓќѕџљњ"), tuple("йщъьюя")), _TAJIK),
    "bn": (_Rival("as", tuple("ৰৱ"), ("র",)),),
    "es": (
        _Rival(
            "gl",
            _GALICIAN + _words("e ao aos da das do dos na nas"),
            _words("y el la las lo los una unas del es hay"),
        ),
    ),
    "hi": (_Rival("ne", ("हरू", "लाई", "छैन", "गर्नु", "भएको"), ("है", "में", "नहीं", "करें")),),
    "hr": (_Rival("bs"), _Rival("sr")),  # in Latin letters; only the page can tell
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
        _Rival(
            "af",
            _words("'n ’n nie hierdie vir deur dié word oor"),
            ("ij", *_words("het een")),
        ),
    ),
    "pt": (_Rival("gl", ("ñ", "ción", *_GALICIAN), (*"ãõçê", "lh", *_words("um uma com em"))),),
    "ru": (_KAZAKH, _TAJIK),
    "sr": (
        _Rival(
            "mk",
            (*"ѓќѕ", *_words("во со овој оваа ги врз")),
            (*"ђћ", *_words("у је су са би")),
        ),
    ),
    "uk": (_KAZAKH,),
    "zh": (_Rival("ja", tuple("のをはが"), tuple("的了是在这這们們")),),  # titles without kana
}
_SCRIPTS = (("si", "[\u0d80-\u0dff]"), ("my", "[\u1000-\u109f]"), ("km", "[\u1780-\u17ff]"))
"""Scripts that the detector does not read, each with the language that nearly all of it is in."""


def language_of(text: str, hint: str | None = None) -> str | None:
    """The ISO 639-1 code of a text's language; None where it is open.

    `hint` is what the page declares, from `hint_of`. `no` is Bokmål and Nynorsk, `zh` all of
    Chinese; Bosnian, and Serbian in Latin letters, are `hr` unless the page says otherwise. Never
    raises, and reads 4,000 characters at most.
    """
    votes: Counter[str] = Counter()
    for sample in _samples(text):
        letters = _letters(sample)
        if letters >= MIN_LETTERS and (language := _read(sample, letters, hint)):
            votes[language] += letters
    return max(votes, key=votes.__getitem__, default=None)


def hint_of(value: str) -> str | None:
    """The language that a `lang`, Content-Language or og:locale names; None for none or several.

    It is BCP 47's primary subtag, taken with the slips that are common, such as `de_AT` and `jp`.
    """
    tags = [re.split("[-_]", tag.strip(" \t\n'\""))[0] for tag in value[:256].lower().split(",")]
    code, *others = {_ALIASES.get(tag, tag) for tag in tags}
    return code if not others and code in _ISO_639_1 else None


def tag_of(value: str) -> str | None:
    """The first of the language tags (BCP 47) that a `lang` or Content-Language names."""
    tag = value[: 4 * MAX_TAG_CHARS].partition(",")[0].strip(" \t\r\n\0").replace("_", "-")
    return tag if len(tag) <= MAX_TAG_CHARS and _TAG.fullmatch(tag) else None


def _samples(text: str) -> Iterator[str]:
    count = min(SAMPLES, math.ceil(len(text) / SAMPLE_CHARS))
    for i in range(count):
        start = len(text) * i // count
        # The detector takes a NUL for the end, and no surrogates.
        sample = text[start : start + SAMPLE_CHARS].replace("\0", " ")
        yield sample.encode("utf-8", "replace").decode()


def _letters(sample: str) -> int:
    """Bytes of letters, within a few hundredths: the detector's n-grams are counted in bytes."""
    strided = sample[:: len(sample) // 200 or 1]
    letters = sum(map(str.isalpha, strided))
    return letters * len(sample.encode()) // len(strided)


def _read(sample: str, letters: int, hint: str | None) -> str | None:
    likelihoods = {
        "id" if language == "ms" else language: -math.log(max(1 - score, 1e-6))
        for language, score in _DETECTOR.detect_details(sample).scores.items()
    }
    best = next(iter(likelihoods), "")
    first, second = [*likelihoods.values(), 0.0, 0.0][:2]
    decided = first >= -math.log(1 - MIN_SCORE) and letters * (first - second) >= MIN_EVIDENCE
    language = _told_apart(best, sample, hint, traits=1 if decided else 3)
    if decided or language != best:
        return language
    for language, script in _SCRIPTS:
        if 6 * len(re.findall(script, sample)) > letters:  # three bytes each, and over half
            return language
    doubt = letters * (first - likelihoods.get(hint or "", -math.inf))
    unknown = hint not in _KNOWN and letters >= MIN_UNKNOWN_LETTERS
    return hint if doubt <= MAX_DOUBT or unknown else None


def _told_apart(language: str, sample: str, hint: str | None, *, traits: int) -> str:
    for rival in _RIVALS.get(language, ()):
        if rival.surplus(sample) >= traits - (hint == rival.language):
            return rival.language
    return language
