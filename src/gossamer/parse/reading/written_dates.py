"""Finds dates that people have written in a text, in the forms of their languages.

`dates.py` reads texts that are a date; here, a date is a part of a line. Names of months are from
CLDR (`month_names.py`); everything else are numbers in a few orders.

Decisions: a date needs a day, a month and a year. Of 5/6/2024, the language decides: only Americans
write the month first, and English of unknown origin is not read. Years of two digits count in
languages other than English. Thai years are those of the Buddhist era, Japanese ones may be those
of an emperor, and Taiwanese ones those of the republic.

Bounds: MAX_CHARS of a line are read, by patterns that take time linear in it.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from gossamer.parse.reading.digits import may_have_digit
from gossamer.parse.reading.month_names import CROATIAN, MONTHS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MAX_CHARS = 300
FIRST_YEAR, END_YEAR = 1990, 2100
"""Years in which a page can have been published."""
BUDDHIST = 543
"""The years by which Thailand is ahead."""
REPUBLIC = 1911
ERAS: Mapping[str, int] = {"令和": 2018, "平成": 1988}
CENTURY = 100

_WORD_CHAR = r"[^\s\d.,;:/()|·•–—-]"
MAX_WORD_CHARS = 20
_WORD = rf"{_WORD_CHAR}{{2,{MAX_WORD_CHARS}}}"
_DAY = r"(?<![\d.,:/])(?P<day>\d{1,2})"
_YEAR = r"(?P<year>\d{4})(?!\d)"
_NAMED = tuple(
    re.compile(form)
    for form in (
        # 1 May 2024; 1. Mai 2024; 1er mai 2024; 1 de mayo de 2024; 1 d'abril de 2024; 1 במאי 2024
        (
            rf"{_DAY}(?:\.|º|ª|°|(?:er|st|nd|rd|th)\b)?[\s.-]{{0,2}}(?:de |del |of |d['’])?"
            rf"(?P<name>{_WORD})[.,]?[\s,./-]{{1,2}}(?:de |del )?{_YEAR}"
        ),
        # May 1, 2024; May 1st 2024
        rf"(?P<name>{_WORD})\.? (?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?:,|\.)? {_YEAR}",
        # 2024. május 1.; 2024 m. gegužės 1 d.; 2024. gada 1. maijs; 2024 May 1
        rf"(?<!\d){_YEAR}\.?,? (?:m\. |gada )?(?P<name>{_WORD})\.? (?P<day>\d{{1,2}})(?!\d)",
        rf"(?<!\d){_YEAR}\.?,? (?:gada )?(?P<day>\d{{1,2}})\.? (?P<name>{_WORD})",
    )
)
"""Forms with the name of a month."""
_MARKED = re.compile(
    r"(?P<era>令和|平成|民國|民国)?\s?(?P<year>\d{1,4}|元)\s?[年년]\s?(?P<month>\d{1,2})\s?[月월]"
    r"\s?(?P<day>\d{1,2})\s?[日일號号]"
)
"""2024年5月1日; 2024년 5월 1일; 令和6年5月1日; 民國113年5月1日"""
_VIETNAMESE = re.compile(rf"{_DAY} tháng (?P<month>\d{{1,2}})(?:,? năm|,)? {_YEAR}")
"""ngày 1 tháng 5 năm 2024"""
_NUMBERED = (
    # 2024-05-01; 2024/5/1; 2024.05.01.
    re.compile(
        rf"(?<![\d./-]){_YEAR}(?P<dash>[-/.])\s?(?P<month>\d{{1,2}})(?P=dash)\s?(?P<day>\d{{1,2}})"
        r"(?![\d/-]|\.\d)"
    ),
    # 01.05.2024; 1/5/2024; 1-5-2024; 01.05.24
    re.compile(
        r"(?<![\d./-])(?P<first>\d{1,2})(?P<dash>[-/.])\s?(?P<second>\d{1,2})(?P=dash)\s?"
        r"(?P<year>\d{4}|\d\d)(?![\d/-]|\.\d)"
    ),
)
_DATE_LIKE = re.compile(r"[\d年년](?:(?<!\d)|\d{3}|[-/.]\s?\d{1,2}[-/.]\s?\d\d)")
"""What each form contains. A pattern whose matches begin with one of a few characters is fast."""
_WORDS = re.compile(rf"{_WORD_CHAR}{{2,}}")
_ORDINALS = "ºª°"
_DIGITS = {
    ord(digit): str(number % 10)
    for zeros in "٠۰०০๐０"
    for number, digit in enumerate(chr(ord(zeros) + each) for each in range(10))
}
_PREFIXES = ("ב", "d'", "d’")
"""Letters before the name of a month: Hebrew's preposition, Catalan's."""
MONTH_FIRST = frozenset(("en-us", "en-ph", "es-us", "fil", "en-pr"))
"""Languages that write 5/1/2024 for the first of May."""


class WrittenDate(NamedTuple):
    """A date, and where it is in its text."""

    start: int
    end: int
    date: datetime


def may_have_date(text: str) -> bool:
    """Whether a text has something that each date contains: a year, or numbers in a row.

    The year is one of the common or of the Buddhist era. Most texts need no pattern.
    """
    if text.isascii():
        if not ("20" in text or "19" in text or "25" in text or "26" in text):
            return max(map(text.count, "-./")) > 1 and _DATE_LIKE.search(text) is not None
    elif not may_have_digit(text):
        return False
    return _DATE_LIKE.search(text) is not None


def written_dates(text: str, language: str) -> list[WrittenDate]:
    """Return the dates in a text, in order. `language` is a tag such as `en-US`, or empty."""
    text = text[:MAX_CHARS]
    if not may_have_date(text):
        return []
    if not text.isascii():
        text = text.translate(_DIGITS)
    found = sorted(_found(text.lower(), language.lower().replace("_", "-")))
    ends = 0
    dates = []
    for each in found:
        if each.start >= ends:
            dates.append(each)
            ends = each.end
    return dates


def _found(text: str, language: str) -> Iterator[WrittenDate]:
    for form in _possible_forms(text, language):
        for match in form.finditer(text):
            if (date := _date(match.groupdict(), language)) is not None:
                yield WrittenDate(match.start(), match.end(), date)


def _possible_forms(text: str, language: str) -> Iterator[re.Pattern[str]]:
    """Yield the forms of which a text has the words: to search for a form takes more time."""
    if any(
        len(word) > MAX_WORD_CHARS or month_of(word.lstrip(_ORDINALS), language)
        for word in _WORDS.findall(text)
    ):
        yield from _NAMED
    if "年" in text or "년" in text:
        yield _MARKED
    if " tháng " in text:
        yield _VIETNAMESE
    yield from _NUMBERED


def _date(parts: dict[str, str | None], language: str) -> datetime | None:
    year = _year(parts, language)
    if not FIRST_YEAR <= year < END_YEAR:
        return None
    if (first := parts.get("first")) is not None:
        order = _order(int(first), int(parts["second"] or 0), language)
        if order is None:
            return None
        month, day = order
    else:
        name = parts.get("name")
        month = int(parts["month"] or 0) if name is None else month_of(name, language)
        day = int(parts["day"] or 0)
    try:
        return datetime(year, month, day, tzinfo=UTC)
    except ValueError:
        return None


def _year(parts: dict[str, str | None], language: str) -> int:
    """Return the year of the common era, or 0."""
    written = parts["year"] or ""
    year = 1 if written == "元" else int(written)
    era = parts.get("era")
    if era is not None:
        return year + ERAS.get(era, REPUBLIC)
    if year < CENTURY:
        is_short = len(written) == 2 and parts.get("first") is not None  # noqa: PLR2004
        return 2000 + year if is_short and language[:2] not in ("en", "") else 0
    return year - BUDDHIST if language[:2] == "th" and year > END_YEAR else year


def _order(first: int, second: int, language: str) -> tuple[int, int] | None:
    """Return month and day of a date in numbers; None if it has two meanings."""
    months = 12
    if first > months or first == second:
        return second, first
    if second > months or language in MONTH_FIRST:
        return first, second
    return None if language in ("", "en") else (second, first)


def month_of(name: str, language: str) -> int:
    """Return the month with this name or abbreviation in lower case, or 0."""
    name = name.strip(".")
    if language[:2] == "hr" and name in CROATIAN:
        return CROATIAN[name]
    month = MONTHS.get(name, 0)
    for prefix in _PREFIXES:
        if not month and name.startswith(prefix):
            month = MONTHS.get(name.removeprefix(prefix), 0)
    return month
