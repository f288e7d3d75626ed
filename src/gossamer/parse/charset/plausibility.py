"""Whether what bytes give in an encoding can be a text in it.

Facts (bench/charset.py):

- Text decoded with a wrong multi-byte encoding is mostly full of errors.
- A word is in one script. Letters beyond ASCII stand alone between Latin ones, and in rows in all
  other scripts, whichever code page shows them.
- Signs and capitals do not stand within words.

All looks are at a sample of bounded length, at linear cost.
"""

from __future__ import annotations

import re

from gossamer.encodings import CYRILLIC, LATIN

ERRORS_PER_CHARACTER = 1 / 20
"""Of the characters beyond ASCII, those that may be wrong in an encoding that is believed."""
SAMPLE_CHARS = 8_192
ROW_CHARS = 3
"""Letters beyond ASCII in a row, of which Latin scripts have few."""
MANY_CAPITALS = 64

_BEYOND = "[^\0-\x7f\xa0\xab\xad\xb7\xbb\u2000-\u206f]"
"""ASCII, spaces, quotes and dashes, which all scripts have."""
_ROWS = re.compile(f"{_BEYOND}+")
_ALONE = re.compile(f"(?<!{_BEYOND})(?:(?<=[A-Za-z]){_BEYOND}|{_BEYOND}(?=[A-Za-z]))(?!{_BEYOND})")
_SIGN_WITHIN = re.compile(r"(?<=[^\W\d_])[¡-§©ª¬®±-³¶¹¼-¿](?=[¡-§©ª¬®±-³¶¹¼-¿]|[^\W\d_])")
"""As Polish has where it is read as Western; no `´` and `·`, which some write in words."""
_CAPITALS = re.compile("[А-ЯЁЂ-Џ]")
_CAPITALS_WITHIN = re.compile("[а-яёђ-џ][А-ЯЁЂ-Џ]")
_HALF_WIDTH = re.compile("[\uff61-\uff9f]")


def fits(text: str, name: str) -> bool:
    """Whether bytes may be in the encoding `name`, a WHATWG one, in which they give `text`."""
    errors = text.count("\ufffd")
    if errors and errors > ERRORS_PER_CHARACTER * beyond_ascii(text):
        return False
    return name.startswith("utf-") or _is_of_its_script(sample(text), name)


def sample(text: str) -> str:
    """What is beyond ASCII, with the ASCII around it."""
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
    """As what is not Cyrillic does; and KOI8-R has capitals for the small letters of Windows."""
    within, capitals = len(_CAPITALS_WITHIN.findall(text)), len(_CAPITALS.findall(text))
    return 10 * within > letters or 3 * capitals > 2 * letters > 2 * MANY_CAPITALS
