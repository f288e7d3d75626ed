"""Persian, Hebrew, Armenian and Indonesian.

Persian is normalised before: letters are Arabic ones (`ي`, `ك`), and ZWNJ is gone, so the plural
of `کتاب‌ها` is an ending. Hebrew writes articles and prepositions with the word behind them.
Indonesian derives verbs by prefixes, before which the first consonant may change (Tala, "A Study of
Stemming Effects on Information Retrieval in Bahasa Indonesia", 2003).
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


STEMMERS: Mapping[str, Callable[[str], str]] = {
    "fa": _persian,
    "he": _hebrew,
    "hy": _armenian,
    "id": _indonesian,
}
