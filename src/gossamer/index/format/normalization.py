"""Normalisation: one spelling of each word, for the texts of pages and for queries.

`normalize` follows NFKC_Casefold of UAX #15 and UTS #46 in what it ignores, with exceptions where
searching wants other letters; docs/searching.md has a table of the rules and their reasons. Case is
left to the analyzers, and so are the accents of Latin letters, which stemmers need.

Facts: `normalize` returns a text in ASCII at once. In C, to look for special characters takes
1.5 ns per character, and to replace those of a text in Persian 5 ns more.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from gossamer.index.format.han_variants import (
    HAN,
    HAN_CLASS,
    characters_with_variants,
    replaced_variants,
)
from gossamer.native import native_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from collections.abc import Set as AbstractSet

_INVISIBLE = (
    "\u00ad\u200b\u202a-\u202e\u2060-\u2069\ufeff"  # soft hyphen, ZWSP, embeddings, word joiner
)
_IGNORABLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff"
    "\U0001f3fb-\U0001f3ff"
)
"""Default_Ignorable_Code_Point, and the skin tones of emoji."""
_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
    "\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed"
    "\u0730-\u074a\u08d3-\u08ff\u093c\u0951-\u0954\u09bc\u0a3c\u0abc\u0b3c\u0c3c\u0cbc"
    "\u135d-\u135f"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20f0\ufe20-\ufe2f"
)
"""Marks that people leave out: accents that compose with no letter, Hebrew and Arabic points,
tatweel, Syriac points, Vedic accents, nuktas and Ethiopic length."""
_FURTHER_DIGITS = (
    "\U000104a0-\U000104a9\U00010d30-\U00010d39\U00010d40-\U00010d49\U00011066-\U0001106f"
    "\U000110f0-\U000110f9\U00011136-\U0001113f\U000111d0-\U000111d9\U000112f0-\U000112f9"
    "\U00011450-\U00011459\U000114d0-\U000114d9\U00011650-\U00011659\U000116c0-\U000116c9"
    "\U000116d0-\U000116d9\U000116da-\U000116e3\U00011730-\U00011739\U000118e0-\U000118e9"
    "\U00011950-\U00011959\U00011bf0-\U00011bf9\U00011c50-\U00011c59\U00011d50-\U00011d59"
    "\U00011da0-\U00011da9\U00011de0-\U00011de9\U00011f50-\U00011f59\U00016130-\U00016139"
    "\U00016a60-\U00016a69\U00016ac0-\U00016ac9\U00016b50-\U00016b59\U00016d70-\U00016d79"
    "\U0001e140-\U0001e149\U0001e2f0-\U0001e2f9\U0001e4f0-\U0001e4f9\U0001e5f1-\U0001e5fa"
    "\U0001e950-\U0001e959"
)
"""Decimal digits beyond the first plane (General_Category Nd), of Unicode 16."""
_SPECIAL = (
    _IGNORABLE
    + _MARKS
    + _FURTHER_DIGITS
    + "\u00aa\u00b2\u00b3\u00b5\u00b9\u00ba\u00bc-\u00be\u0130\u0132\u0133\u013f\u0140\u0149"
    "\u017f\u01c4-\u01cc\u01f1-\u01f3\u0218-\u021b\u02b0-\u02bd\u02d8-\u02dd\u02e0-\u02e4"
    "\u0384-\u038f\u0390\u03aa-\u03b0\u03c2\u03ca-\u03ce\u03d0-\u03d6\u03f0-\u03f9\u1f00-\u1fff"
    "\u0401\u0451\u040d\u045d\u0587\u0591-\u05c7\u05f3\u05f4"
    "\u0622\u0623\u0625\u0649\u0660-\u0669\u0671\u06a9\u06aa\u06be\u06c0-\u06c3\u06cc\u06d5"
    "\u06f0-\u06f9\u0901\u0902\u0e33\u0e4d\u0eb3\u0ecd\u0edc\u0edd"
    "\u0966-\u096f\u09e6-\u09ef\u0a66-\u0a6f\u0ae6-\u0aef\u0b66-\u0b6f\u0be6-\u0bef\u0c66-\u0c6f"
    "\u0ce6-\u0cef\u0d66-\u0d6f\u0de6-\u0def\u0e50-\u0e59\u0ed0-\u0ed9\u0f20-\u0f29\u1040-\u1049"
    "\u1090-\u1099\u17e0-\u17e9\u1810-\u1819\u1946-\u194f\u19d0-\u19d9\u1a80-\u1a99\u1b50-\u1b59"
    "\u07c0-\u07c9\u1bb0-\u1bb9\u1c40-\u1c49\u1c50-\u1c59\ua620-\ua629\ua8d0-\ua8d9"
    "\ua900-\ua909\ua9d0-\ua9d9\ua9f0-\ua9f9\uaa50-\uaa59\uabf0-\uabf9"
    "\u018f\u0259\u055b\u055c\u055e\u05f0-\u05f2\u066b\u066c\u0675-\u0678\u0929\u0931\u0934"
    "\u0982\u09ce\u0a82\u0b02\u0bb6\u0c02\u0c82\u0d02\u0d4d\u0d4e\u0d7a-\u0d7f\u10fc\u178a"
    "\u1c80-\u1c88\u2c7d\u2d6f\u3038-\u303a\u309f\u30ff\u3192-\u3195\ua69c\ua69d\ua770"
    "\ua7f2-\ua7f4\ua7f8\ua7f9\uab5c-\uab5f\uab69"
    "\u1d2c-\u1d6a\u1d78\u1d9b-\u1dbf\u1e9a\u1e9b\u2010\u2011\u2070-\u209c\u2100-\u218b"
    "\u2460-\u24ff\u2e9f\u2ef3\u2f00-\u2fdf\u3131-\u318e\u3200-\u33ff\uf900-\ufaff\ufb00-\ufdff"
    "\ufe70-\ufefc\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\uff66-\uffdc"
    "\U00010780-\U000107ba\U0001d400-\U0001d7ff\U0001ee00-\U0001eeff\U0001f100-\U0001f2ff"
    "\U0001fbf0-\U0001fbf9\U0002f800-\U0002fa1f"
)
_EMOJI = (
    "\u231a\u231b\u23e9-\u23f3\u2600-\u2712\u2714-\u2716\u2718-\u2767\u2794-\u2797\u27a1\u27b0"
    "\u27bf\u2934\u2935\u2b05-\u2b07\u2b1b\u2b1c\u2b50\u2b55"
    "\U0001f004\U0001f0cf\U0001f18e\U0001f1e6-\U0001f1ff\U0001f300-\U0001f3fa\U0001f400-\U0001faff"
)
_JOINED = "\u0400-\u052f\u05d0-\u05ea"
"""Letters between which an apostrophe is a letter: Cyrillic, as in `об'єкт`, and Hebrew."""
_CLASS = (
    re.sub("[\U00010000-\U0010ffff]-?", "", _SPECIAL + _EMOJI + HAN_CLASS) + "\U00010000-\U0010ffff"
)
_FOUND = re.compile(
    rf"[{_CLASS}'\"\u2019\u00b7\u0e40](?:(?<=[{_CLASS}])|(?<=\u0e40)(?=\u0e40)"
    rf"|(?<=[{_JOINED}]['\"\u2019])(?=[{_JOINED}])|(?<=[lL]\u00b7)(?=[lL]))"
)
"""A character that may be replaced. The class comes first, and has one range beyond the BMP: a
search for others takes six times as long."""
_NEIGHBOURS = re.compile(f"[{_JOINED}\u00b7\u0e40]")
"""Characters of which one is beside each of ASCII that may be replaced."""

_ASCII = bytes(range(0x80))

_SYMBOLS = (
    "\u2122\u2120\u02d8-\u02dd\u1fbd-\u1fc1\u1fcd-\u1fcf\u1fdd-\u1fdf\u1fed-\u1fef\u1ffd\u1ffe"
)
"""Compatibility characters that NFKC would join to a word, as in `Java™`, or turn into symbols."""
_FRACTIONS = "\u00bc-\u00be\u2150-\u215e"
"""`5½` is 5 1/2, not 51/2."""
_APOSTROPHES = re.compile(
    rf"['\"\u05f3\u05f4\u00b7]"
    rf"(?:(?<=[{_JOINED}]['\"\u05f3\u05f4])(?=[{_JOINED}])|(?<=[lL]\u00b7)(?=[lL]))"
)
_APOSTROPHES_LIKE = frozenset("'\"\u2019\u02bc\u05f3\u05f4\u00b7")
_THAI_ORDER = re.compile("([\u0e48-\u0e4b\u0ec8-\u0ecb])([\u0e4d\u0ecd])")
"""A tone mark before nikhahit, which people type behind it in sara am."""
_EMOJI_FOUND = re.compile(rf"[\U0001f1e6-\U0001f1ff]{{2}}|[{_EMOJI}]")

_LETTERS = {
    "\u0130": "i",
    **dict(zip("\u0218\u0219\u021a\u021b", "\u015e\u015f\u0162\u0163", strict=True)),
    **dict.fromkeys("\u02bb\u02bc\u02bd\u2018\u2019\uff07", "'"),
    **dict.fromkeys("\u2010\u2011", "-"),
    **dict(zip("\u0401\u0451\u040d\u045d\u03c2", "\u0415\u0435\u0418\u0438\u03c3", strict=True)),
    **dict(zip(map(chr, range(0x1C80, 0x1C89)), "вдосттъѣꙋ", strict=True)),
    "\u018f": "E",
    "\u0259": "e",
    "\u0587": "\u0565\u0582",
    **dict.fromkeys("\u055b\u055c\u055e", ""),
    "\u05f0": "\u05d5\u05d5",
    "\u05f1": "\u05d5\u05d9",
    "\u05f2": "\u05d9\u05d9",
    "\u066b": ".",
    "\u066c": ",",
    **dict.fromkeys("\u05be\u05c0\u05c3\u05c6", " "),
    **dict.fromkeys("\u0622\u0623\u0625\u0671", "\u0627"),
    **dict.fromkeys("\u06cc\u0649", "\u064a"),
    **dict.fromkeys("\u06a9\u06aa", "\u0643"),
    **dict.fromkeys("\u06be\u06c0\u06c1\u06c2\u06d5", "\u0647"),
    "\u06c3": "\u0629",
    "\u0901": "\u0902",
    **dict(zip("\u0929\u0931\u0934", "\u0928\u0930\u0933", strict=True)),
    "\u09ce": "\u09a4\u09cd",
    "\u0bb6": "\u0bb8",
    **{
        chillu: f"{letter}\u0d4d"
        for chillu, letter in zip(
            "\u0d4e\u0d7a\u0d7b\u0d7c\u0d7d\u0d7e\u0d7f",
            "\u0d30\u0d23\u0d28\u0d30\u0d32\u0d33\u0d15",
            strict=True,
        )
    },
}
_BLOCKS = (0x900, 0x980, 0xA80, 0xB00, 0xC00, 0xC80, 0xD00)
"""Devanagari, Bengali, Gujarati, Odia, Telugu, Kannada and Malayalam, in the order of ISCII."""
_ROWS = ((0x15, 0x19), (0x1A, 0x1E), (0x1F, 0x23), (0x24, 0x28), (0x2A, 0x2E))
"""The first stop of each row of a block, and its nasal."""
_NASALS = {
    chr(block + 0x02) + chr(block + place): chr(block + nasal) + chr(block + 0x4D)
    for block in _BLOCKS
    for first, nasal in _ROWS
    for place in range(first, nasal + 1)
}
_ANUSVARAS = frozenset(pair[0] for pair in _NASALS) | {"\u0901"}
_STOPS = "".join(dict.fromkeys(pair[1] for pair in _NASALS))
_ANUSVARA = re.compile(f"[{''.join(sorted(_ANUSVARAS))}](?=([{_STOPS}]))")
_CHILLUS = frozenset("\u0d4e\u0d7a\u0d7b\u0d7c\u0d7d\u0d7e\u0d7f")
_VIRAMAS = re.compile("\u0d4d{2,}")
"""What a chillu and a virama become, as in `എൻ്റെ`."""
_EXTENDING = re.compile(rf"[{_MARKS}\u200c\u200d\ufe0e\ufe0f\u20e3\U0001f3fb-\U0001f3ff]")
MAX_REPLACED_ONE_BY_ONE = 30
"""Characters that take less time if each is replaced in the whole text, without a compiler."""
MAX_PIECE_CHARS = 64
_PIECE = re.compile(rf"\s+|\S{{1,{MAX_PIECE_CHARS}}}")
_INVISIBLES = re.compile(f"[{_INVISIBLE}]+")


def compose_characters(text: str | None) -> str:
    """A text as it is stored and shown: with composed letters (NFC), without invisible characters.

    The joiners, which some scripts need to be legible, stay.
    """
    if not text or text.isascii():
        return text or ""
    if _INVISIBLES.search(_without_ascii(text)):
        text = _INVISIBLES.sub("", text)
    return unicodedata.normalize("NFC", text)


def _without_ascii(text: str) -> str:
    """The other characters of a text: in Latin letters few, which are soon searched."""
    raw = text.encode("utf-8", "surrogatepass")
    return raw.translate(None, _ASCII).decode("utf-8", "surrogatepass")


def compose_each(texts: Sequence[str]) -> Sequence[str]:
    if "".join(texts).isascii():
        return texts
    return [compose_characters(text) for text in texts]


def normalize(text: str) -> str:
    """A text in the spelling of the index. White space may become another one."""
    return text if text.isascii() else normalize_composed(unicodedata.normalize("NFC", text))


def normalize_composed(text: str) -> str:
    """As `normalize`, of a text in NFC, such as those of `compose_characters`."""
    if text.isascii() or not (found := special_characters(text, _classes())):
        return text
    tables, chars = _tables(), {*HAN.sub("", found)}
    text = _replace(text, chars & tables.before.keys(), tables.before)
    if compatible := chars & tables.compatible.keys():
        text = unicodedata.normalize("NFC", _replace(text, compatible, tables.compatible))
        found = special_characters(text, _classes())
        chars = {*HAN.sub("", found)}
    text = _replace(text, chars & tables.after.keys(), tables.after)
    if HAN.search(found):
        variants = replaced_variants()
        replaced = {*marked_characters(found, _marks_of_replaced())} & variants.keys()
        text = _replace(text, replaced, variants)
    text = _apply_context_rules(text, chars)
    if not chars.isdisjoint(tables.emoji):
        text = _EMOJI_FOUND.sub(_emoji_word, text)
    return text


def variant_forms(text: str) -> frozenset[str]:
    """The Chinese characters in a text that have other forms: they tell how it is written.

    The text is not normalised: that would replace them.
    """
    if text.isascii() or not HAN.search(found := special_characters(text, _classes())):
        return frozenset()
    return characters_with_variants() & {*marked_characters(found, _marks_of_variants())}


def _replace(text: str, chars: AbstractSet[str], by: Mapping[str, str]) -> str:
    return translate(text, {ord(char): by[char] for char in chars}) if chars else text


@native_text
def translate(text: str, table: Mapping[int, str]) -> str:
    """As `str.translate`, which takes ten times as long."""
    chars, replacements = [*map(chr, table)], "".join(table.values())
    if len(table) > MAX_REPLACED_ONE_BY_ONE or any(char in replacements for char in chars):
        return text.translate(table)
    for char, replacement in zip(chars, table.values(), strict=True):
        text = text.replace(char, replacement)
    return text


@native_text
def special_characters(text: str, classes: bytes) -> str:  # noqa: ARG001  # of the function in C
    """The different characters of a text that may be replaced where they stand."""
    beyond = text.encode(errors="surrogatepass").translate(None, _ASCII)
    found = beyond.decode(errors="surrogatepass")
    if not _NEIGHBOURS.search(found):
        text = found  # the rest cannot be found
    return "".join(dict.fromkeys(_FOUND.findall(text)))


@native_text
def marked_characters(text: str, marks: bytes) -> str:
    """The different characters of a text that are marked, and those beyond the first plane.

    In a Chinese text they are a few of some hundred, of each of which Python would make an object.
    """
    different = dict.fromkeys(text)
    return "".join([char for char in different if ord(char) >= len(marks) or marks[ord(char)]])


@cache
def _classes() -> bytes:
    """By character of the first plane, special ones 1, letters of `_JOINED` 2."""
    special, joined = _marks(_members(_SPECIAL + _EMOJI + HAN_CLASS)), _marks(_members(_JOINED))
    return bytes(one + 2 * two for one, two in zip(special, joined, strict=True))


@cache
def _marks_of_variants() -> bytes:
    return _marks(characters_with_variants())


@cache
def _marks_of_replaced() -> bytes:
    return _marks(replaced_variants())


def _marks(members: Iterable[str]) -> bytes:
    """By character of the first plane, 1 for members."""
    marks = bytearray(0x10000)
    for char in members:
        if ord(char) < len(marks):
            marks[ord(char)] = 1
    return bytes(marks)


def _apply_context_rules(text: str, chars: set[str]) -> str:
    """Replace what depends on its neighbours. `chars`: the special ones of the text, or more."""
    if not chars.isdisjoint("\u0e4d\u0ecd"):
        text = _THAI_ORDER.sub(r"\2\1", text)
    if "\u0e40" in chars:
        text = text.replace("\u0e40\u0e40", "\u0e41")
    if not chars.isdisjoint(_ANUSVARAS):
        text = _ANUSVARA.sub(lambda found: _NASALS.get(found[0] + found[1], found[0]), text)
    if "\u0d4d" in chars or not chars.isdisjoint(_CHILLUS):
        text = _VIRAMAS.sub("\u0d4d", text)
    if "\u178a" in chars:
        text = text.replace("\u17d2\u178a", "\u17d2\u178f")
    if not chars.isdisjoint(_APOSTROPHES_LIKE):
        text = _APOSTROPHES.sub("", text)
    return text


class Aligned:
    """The normalised form of a text, and where it stands there."""

    def __init__(self, text: str) -> None:
        self._original = text
        self.text = normalize(text)
        self._lengths: Sequence[int] | None = None
        if self.text != text:
            self.text, self._lengths = _align(text)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The span in the original text, which ends where a grapheme cluster does."""
        if self._lengths is None:
            return start, end
        last = bisect_right(self._lengths, end) - 1
        inside = self._lengths[last] < end  # of what a single character becomes, as in `㎏`
        begin = bisect_right(self._lengths, start) - 1
        return begin, grapheme_end(self._original, last + inside)


def grapheme_end(text: str, at: int) -> int:
    """The first place from `at` on that is not within a grapheme cluster (UAX #29).

    Only marks and emoji make clusters here, and joiners.
    """
    while at < len(text) and (
        _EXTENDING.match(text, at) or (text[at - 1] == "\u200d" and _EMOJI_FOUND.match(text, at))
    ):
        at += 1
    return at


def _align(text: str) -> tuple[str, Sequence[int]]:
    """The normalised text, and the length of what each beginning of the text becomes."""
    parts: list[str] = []
    lengths = [0]
    for match in _PIECE.finditer(text):
        piece = match[0]
        found = normalize(piece)
        at = lengths[-1]
        if len(found) == len(piece) and (piece.isspace() or _is_letter_by_letter(piece, found)):
            lengths += range(at + 1, at + len(piece) + 1)
        else:
            ends = [len(normalize(piece[:end])) for end in range(1, len(piece))] + [len(found)]
            # A letter may join the one before it: no beginning is longer than a later one.
            least = [*accumulate(reversed(ends), min)]
            lengths += [at + length for length in reversed(least)]
        parts.append(found)
    return "".join(parts), lengths


def _is_letter_by_letter(piece: str, normal: str) -> bool:
    """Whether each character of a text is itself, or what it is replaced by, at its place."""
    if piece == normal:
        return True
    after, variants = _tables().after, replaced_variants() if HAN.search(piece) else {}
    return all(
        new in (old, after.get(old), variants.get(old))
        for old, new in zip(piece, normal, strict=True)
    )


class _Tables(NamedTuple):
    """What becomes of special characters: `before` others, by NFKC alone, and `after` that.

    NFKC of a whole text would also change spaces, some of which group digits.
    """

    before: Mapping[str, str]
    compatible: Mapping[str, str]
    after: Mapping[str, str]
    emoji: frozenset[str]


@cache
def _tables() -> _Tables:
    before = dict.fromkeys(_members(_SYMBOLS), " ")
    before |= {char: f" {char}" for char in _members(_FRACTIONS)}
    after = dict.fromkeys(_members(_IGNORABLE + _MARKS), "") | _LETTERS
    for char in _members("\u0370-\u03ff\u1f00-\u1fff"):
        base = unicodedata.normalize("NFD", char)[0]
        if base != char:
            after[char] = base
    for char in _members(_SPECIAL):
        if char.isdecimal():
            after[char] = str(unicodedata.decimal(char))
    compatible = {char: unicodedata.normalize("NFKC", char) for char in _members(_SPECIAL)}
    compatible = {char: found for char, found in compatible.items() if found != char}
    return _Tables(before, compatible, after, frozenset(_members(_EMOJI)))


def _members(characters: str) -> Sequence[str]:
    """The members of a class of characters, as a regular expression writes it."""
    ranges = re.findall("(.)-(.)|(.)", characters, re.DOTALL)
    return [
        chr(code)
        for first, last, single in ranges
        for code in range(ord(first or single), ord(last or single) + 1)
    ]


def _emoji_word(found: re.Match[str]) -> str:
    """An emoji, or a flag of two letters, as a word of letters, which all tokenizers keep."""
    return f" u{''.join(f'{ord(char):x}' for char in found[0])} "
