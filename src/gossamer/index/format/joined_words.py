"""Words that are written apart or together: `e-mail` and `email`, `1,250,000` and `1250000`.

A page that has one form has the term of the joined one, too, and a query is searched for it:

    hyphens   two words of letters, of which the first is a prefix (`e-mail`, `Wi-Fi`, `co-op`)
    numbers   groups of three digits behind commas, points, apostrophes or spaces, or two digits
              and at last three behind commas, as in India (`12,50,000`)
    ISBN      with hyphens or spaces, if its check digit is right (ISO 2108)

Whether `1,250` is a number or a fraction depends on the language, so it also keeps its parts.
Groups with ordinary spaces are a number if there are three at least: others may be a list.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gossamer.native import native_text

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_PREFIX_CHARS = 5
_HYPHENED = re.compile(rf"(?<![\w-])([^\W\d_]{{1,{MAX_PREFIX_CHARS}}})-([^\W\d_]{{2,40}})(?![\w-])")
_SEPARATORS = ",.'\u2019\u00a0\u2009\u202f"
_NUMBER = re.compile(
    r"[0-9](?<![0-9,.'][0-9])(?:"
    rf"[0-9]{{0,2}}(?:([{_SEPARATORS}])[0-9]{{3}}(?:\1[0-9]{{3}}){{0,6}}"
    r"| [0-9]{3}(?: [0-9]{3}){1,6}|[0-9]?(?:,[0-9]{2}){1,4},[0-9]{3})"
    r"(?![0-9]|[,.'][0-9]{3})"
    r"|[0-9]{0,4}[ -](?:[0-9]{1,7}[ -]){2,3}[0-9Xx](?![\w-]))"
)
"""A number in groups, or what may be an ISBN. The class comes first, as it is sought quickly."""
_THOUSANDS = re.compile(rf"[0-9](?<=[0-9][{_SEPARATORS} ][0-9])[0-9]{{2}}(?![0-9])")
"""Three digits behind others, which a text with such a number has unless it is an ISBN."""
_OF_ISBN = ("isbn", "978", "979")
_ISBN_CHARS = (10, 13)
_CHECK = "0123456789X"
_SPACE = re.compile(r"\s")


def joined_words(text: str, pieces: str, different: str) -> Iterator[str]:
    """The joined forms in a normalised text.

    `pieces`: those of the text that may have hyphens. `different`: its words in small letters, each
    once, between spaces.
    """
    if has_groups(text) or any(part in different for part in _OF_ISBN):
        for match in _NUMBER.finditer(text):
            if joined := _joined_number(match[0]):
                yield joined
    yield from hyphened_words(pieces)


@native_text
def has_groups(text: str) -> bool:
    """Whether a text has three digits behind others."""
    return _THOUSANDS.search(text) is not None


@native_text
def hyphened_words(text: str) -> list[str]:
    """The joined forms of the words with hyphens in a text."""
    lines = [line for line in text.split("\n") if "-" in line]
    return [first + second for first, second in _HYPHENED.findall("\n".join(lines))]


def joined_spans(text: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """The joined forms in a normalised text, each with its span."""
    for match in _NUMBER.finditer(text):
        if joined := _joined_number(match[0]):
            yield joined, match.span()
    if "-" in text:  # the pattern begins with a look-behind, so it is sought slowly
        for match in _HYPHENED.finditer(text):
            yield match[1] + match[2], match.span()


def with_separators(typed: str) -> str:
    """A text as long as before, with commas for the spaces in numbers, and hyphens in ISBN."""
    return _NUMBER.sub(_with_separators, typed)


def _with_separators(found: re.Match[str]) -> str:
    joined = _joined_number(found[0])
    if not joined or not _SPACE.search(found[0]):
        return found[0]
    is_isbn = not _is_grouped(found[0].split()) or "-" in found[0]
    return _SPACE.sub("-" if is_isbn else ",", found[0])


def other_isbn(typed: str) -> str:
    """The digits of an ISBN as the other standard has it, ISBN-13 or ISBN-10; "" if there is none.

    The check digits are computed by different rules, and only ISBN-13 that begin with 978 had ten
    digits before.
    """
    digits = (number_of(typed) or typed).upper()
    if not digits[:-1].isascii() or not digits[:-1].isdecimal() or not _is_isbn(digits):
        return ""
    if len(digits) == _ISBN_CHARS[0]:
        return next(isbn for check in _CHECK[:10] if _is_isbn(isbn := f"978{digits[:-1]}{check}"))
    if not digits.startswith("978"):
        return ""
    return next(isbn for check in _CHECK if _is_isbn(isbn := f"{digits[3:-1]}{check}"))


def number_of(typed: str) -> str:
    """The digits of a number or ISBN that was typed in groups; "" of anything else."""
    match = _NUMBER.fullmatch(typed)
    return _joined_number(typed) if match else ""


def without_hyphen(typed: str) -> str:
    """The joined form of a word with a hyphen; "" of anything else."""
    match = _HYPHENED.fullmatch(typed)
    return match[1] + match[2] if match else ""


def _joined_number(found: str) -> str:
    groups = re.split("[^0-9Xx]", found)
    joined = "".join(groups).upper()
    if "-" in found or (" " in found and not _is_grouped(groups)):
        return joined if _is_isbn(joined) else ""
    return joined


def _is_grouped(groups: list[str]) -> bool:
    return all(len(group) == 3 for group in groups[1:])  # noqa: PLR2004  # thousands


def _is_isbn(digits: str) -> bool:
    """Whether the check digit is right."""
    if len(digits) not in _ISBN_CHARS or "X" in digits[:-1]:
        return False
    values = [10 if digit == "X" else int(digit) for digit in digits]
    if len(digits) == _ISBN_CHARS[0]:
        return sum(value * (10 - at) for at, value in enumerate(values)) % 11 == 0
    return (
        "X" not in digits and sum(v * (3 if at % 2 else 1) for at, v in enumerate(values)) % 10 == 0
    )
