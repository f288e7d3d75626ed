"""Whether decoded bytes can be a text in that encoding.

Facts (bench/charset.py):

- Text decoded with a wrong multi-byte encoding is mostly full of errors.
- A word is in one script. Letters beyond ASCII stand alone between Latin letters, and in rows in
  all other scripts, even if a wrong code page shows them.
- Symbols and capitals do not occur within words.

Only a sample of bounded length is examined, in linear time.
"""

from __future__ import annotations

import re

from gossamer.web.encodings import CYRILLIC, LATIN

ERRORS_PER_CHARACTER = 1 / 20
"""Largest share of decoding errors among the characters beyond ASCII in a plausible encoding."""
SAMPLE_CHARS = 8_192
ROW_CHARS = 3
"""Letters beyond ASCII that make a row. Latin scripts have few such rows."""
MANY_CAPITALS = 64

_BEYOND = "[^\0-\x7f\xa0\xab\xad\xb7\xbb\u2000-\u206f]"
"""A character beyond ASCII, other than spaces, quotes and dashes, which all scripts share."""
_ROWS = re.compile(f"{_BEYOND}+")
_ALONE = re.compile(f"(?<!{_BEYOND})(?:(?<=[A-Za-z]){_BEYOND}|{_BEYOND}(?=[A-Za-z]))(?!{_BEYOND})")
_SIGN_WITHIN = re.compile(r"(?<=[^\W\d_])[¡-§©ª¬®±-³¶¹¼-¿](?=[¡-§©ª¬®±-³¶¹¼-¿]|[^\W\d_])")
"""A symbol within a word, as in Polish decoded as windows-1252. `´` and `·` do occur in words."""
_CAPITALS = re.compile("[А-ЯЁЂ-Џ]")
_CAPITALS_WITHIN = re.compile("[а-яёђ-џ][А-ЯЁЂ-Џ]")
_HALF_WIDTH = re.compile("[\uff61-\uff9f]")


def fits(text: str, name: str) -> bool:
    """Whether bytes that decode to `text` are plausibly in the encoding `name` (of WHATWG)."""
    errors = text.count("\ufffd")
    if errors and errors > ERRORS_PER_CHARACTER * beyond_ascii(text):
        return False
    return name.startswith("utf-") or _is_of_its_script(sample(text), name)


def sample(text: str) -> str:
    """Return SAMPLE_CHARS of the text, from just before the first character beyond ASCII."""
    first = _ROWS.search(text)
    return "" if first is None else text[max(0, first.start() - 1) :][:SAMPLE_CHARS]


def beyond_ascii(text: str) -> int:
    return len(text) - len(text.encode("ascii", "ignore"))


def _is_of_its_script(text: str, name: str) -> bool:
    rows = _ROWS.findall(text)
    letters = sum(map(len, rows))
    if 10 * len(_SIGN_WITHIN.findall(text)) > letters:
        return False
    if name in LATIN:
        return 2 * sum(len(row) for row in rows if len(row) >= ROW_CHARS) <= letters
    if name in CYRILLIC and _mixes_cases(text, letters):
        return False
    if name == "shift_jis" and 2 * len(_HALF_WIDTH.findall(text)) > letters:
        return False  # EUC-JP
    return 2 * len(_ALONE.findall(text)) <= len(rows)


def _mixes_cases(text: str, letters: int) -> bool:
    """Whether capitals occur within words, or prevail.

    Text that is not Cyrillic has capitals within words, and KOI8-R has capitals where windows-1251
    has small letters.
    """
    within, capitals = len(_CAPITALS_WITHIN.findall(text)), len(_CAPITALS.findall(text))
    return 10 * within > letters or 3 * capitals > 2 * letters > 2 * MANY_CAPITALS
