"""Persian, Hebrew, Armenian, Indonesian and Vietnamese.

Persian is normalised before: letters are Arabic ones (`ي`, `ك`), and ZWNJ is gone, so the plural
of `کتاب‌ها` is an ending. Hebrew writes articles and prepositions with the word behind them.
Indonesian derives verbs by prefixes, before which the first consonant may change (Tala, "A Study of
Stemming Effects on Information Retrieval in Bahasa Indonesia", 2003). Vietnamese does not inflect,
but the tone of `oa`, `oe` and `uy` is written on the first letter or on the second.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gossamer.index.format.stemmers.suffixes import remove_endings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_persian_verb = re.compile("^(?:ن?مي)(?=.{2,}(?:م|ي|د|يم|يد|ند|شود|كند)$)")
_persian_endings = remove_endings(
    "هايمان هايتان هايشان هايم هايت هايش هايي هاي ها ترين تري تر يمان يتان يشان مان تان شان",
    "ات ان ام اي اش يي ي",
)


def _persian(word: str) -> str:
    return _persian_endings(_persian_verb.sub("", word))


_hebrew_prefix = re.compile("^(?:ו?(?:כש|שה|מה|לה|של)?[הבכלמש]|ו)(?=.{3})")
_hebrew_endings = remove_endings("יותיה יותיו ותיהם יהם יהן ייה ים ות יות ית יה ת ה י", least=3)


def _hebrew(word: str) -> str:
    return _hebrew_endings(_hebrew_prefix.sub("", word))


_armenian = remove_endings(
    """ներից ներով ներում ներին ներից ների ները ներն ներ երից երով երում երին երի երը երն եր
    ությունների>ություն ության>ություն ությունը>ություն ությամբ>ություն
    ուց ից ով ում ին ի ը ն ու ան""",
)
_indonesian_particle = remove_endings("kah lah pun tah", "nya ku mu")
_indonesian_suffix = remove_endings("kan an i", least=4)
_indonesian_prefixes = (
    (re.compile("^(?:meny|peny)(?=[aiueo].{2})"), "s"),
    (re.compile("^(?:men|pen)(?=[aiueo].{2})"), "t"),
    (re.compile("^(?:mem|pem)(?=[aiueo].{2})"), "p"),
    (re.compile("^(?:menge|meng|peng|mem|men|pem|pen|me|pe)(?=.{3})"), ""),
    (re.compile("^(?:di|ke|se|ber|ter|per|be|te)(?=.{4})"), ""),
)


def _indonesian(word: str) -> str:
    word = _indonesian_particle(word)
    for prefix, other in _indonesian_prefixes:
        found, number = prefix.subn(other, word)
        if number:
            word = found
            break
    return _indonesian_suffix(word)


_vietnamese_tones = {
    "òa": "oà",
    "óa": "oá",
    "ỏa": "oả",
    "õa": "oã",
    "ọa": "oạ",
    "òe": "oè",
    "óe": "oé",
    "ỏe": "oẻ",
    "õe": "oẽ",
    "ọe": "oẹ",
    "ùy": "uỳ",
    "úy": "uý",
    "ủy": "uỷ",
    "ũy": "uỹ",
    "ụy": "uỵ",
}


def _vietnamese(word: str) -> str:
    """The word with its tone on the second vowel, and with `đ` for the `ð` of other keyboards."""
    word = word.replace("ð", "đ")
    return word[:-2] + _vietnamese_tones.get(word[-2:], word[-2:])


STEMMERS: Mapping[str, Callable[[str], str]] = {
    "fa": _persian,
    "he": _hebrew,
    "hy": _armenian,
    "id": _indonesian,
    "vi": _vietnamese,
}
