"""Finds dates that people have written in a text, in the forms of their languages.

`dates.py` reads texts that are a date; here, a date is a part of a line. Names of months are from
CLDR (`month_names.py`); everything else are numbers in a few orders.

Decisions: a date needs a day, a month and a year. Of 5/6/2024, the language decides: only Americans
write the month first, and English of unknown origin is not read. Years of two digits count in
languages other than English, if these write the day first and count the years of the common era.
Thai years are those of the Buddhist era, Japanese ones may be those of an emperor, and Taiwanese
ones those of the republic. Where months are those of another calendar, `calendar_dates.py` reads
them if there is no other date.

Bounds: MAX_CHARS of a line are read, by patterns that take time linear in it.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from gossamer.parse.reading.calendar_dates import (
    MARK,
    SAUDI_ARABIA,
    SOLAR_HIJRI_LANGUAGES,
    calendar_dates,
    may_have_hebrew_date,
)
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
ERAS: Mapping[str, int] = {"令和": 2018, "平成": 1988, "㋿": 2018, "㍻": 1988, "R": 2018, "H": 1988}
"""The years before the first one of each era of Japan. Letters are those of forms and tables."""
REPUBLICAN_YEARS = range(100, 189)
"""Years of the republic that are written without its name."""
FIRST_SHORT_BUDDHIST = 33
"""Thai years of two digits: from (25)33 on they are Buddhist, before that of the common era."""
FAR_EAST = frozenset(("ja", "zh", "ko"))
"""Languages that write the year first. If it is last, the order of day and month is unknown."""
ETHIOPIC = frozenset(("am", "ti"))
"""Languages in which a year among numbers may be of either calendar, unless it is of ISO 8601."""
NO_SHORT_YEARS = frozenset(
    ("", "en", "hu", "lt", "mn", "ne", SAUDI_ARABIA, *FAR_EAST, *ETHIOPIC, *SOLAR_HIJRI_LANGUAGES)
)
"""Languages in which the order of 01/05/24, or the era of its year, is unknown."""

_WORD_CHAR = r"[^\s\d.,;:/()|·•–—-]"
MAX_WORD_CHARS = 20
_WORD = rf"{_WORD_CHAR}{{2,{MAX_WORD_CHARS}}}"
_DAY = r"(?<![\d.,:/])(?P<day>\d{1,2})"
_YEAR = r"(?P<year>\d{4})(?!\d)"
_ERA_OF_THAILAND = r"(?:[พค]\.?ศ\.?\s?)?"
"""Words for the Buddhist and the common era."""
_DASH = rf"(?P<dash>{MARK}[-/.])\s?"
_NAMED = tuple(
    re.compile(form)
    for form in (
        # 1 May 2024; 1. Mai 2024; 1er mai 2024; 1 de mayo de 2024; 1 d'abril de 2024; 1 במאי 2024
        (
            rf"{_DAY}(?:\.|º|ª|°|(?:er|st|nd|rd|th)\b)?[\s.-]{{0,2}}(?:de |del |of |d['’])?"
            rf"(?P<name>{_WORD})[.,]?[\s,./-]{{1,2}}(?:de |del |{_ERA_OF_THAILAND})?{_YEAR}"
        ),
        # May 1, 2024; May 1st 2024
        rf"(?P<name>{_WORD})\.? (?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?:,|\.)? {_YEAR}",
        # 2024. május 1.; 2024 m. gegužės 1 d.; 2024. gada 1. maijs; 2024 May 1
        rf"(?<!\d){_YEAR}\.?,? (?:m\. |gada )?(?P<name>{_WORD})\.? (?P<day>\d{{1,2}})(?!\d)",
        rf"(?<!\d){_YEAR}\.?,? (?:gada )?(?P<day>\d{{1,2}})\.? (?P<name>{_WORD})",
    )
)
"""Forms with the name of a month."""
_REMARK = r"(?:[(（][^()（）]{1,12}[)）]\s?)?"
_MARKED = re.compile(
    rf"(?P<era>令和|平成|㋿|㍻|民國|民国)?\s?(?P<year>\d{{1,4}}|元)\s?{_REMARK}[年년]\s?{_REMARK}"
    r"(?P<month>\d{1,2})\s?[月월]\s?(?P<day>\d{1,2})\s?[日일號号]"
)
"""2024年5月1日; 2024년 5월 1일; 令和6年5月1日; 令和6年(2024年)5月1日; 民國113年5月1日"""
_IN_ERA = (
    rf"\s?(?P<year>\d{{1,3}}|元){_DASH}(?P<month>\d{{1,2}})(?P=dash)\s?(?P<day>\d{{1,2}})"
    r"(?![\d/-]|\.\d)"
)
_OF_JAPAN = re.compile(rf"(?:(?P<era>令和|平成|㋿|㍻)|(?<![A-Za-z\d])(?P<letter>[RH])){_IN_ERA}")
"""R6.5.1; 令和6/5/1"""
_OF_TAIWAN = re.compile(rf"(?P<era>民國|民国){_IN_ERA}")
"""民國113/5/1"""
_OF_REPUBLIC = (
    re.compile(
        r"(?<![\d./-])(?P<year>1\d\d)(?P<dash>[-/])(?P<month>\d{1,2})(?P=dash)(?P<day>\d{1,2})"
        r"(?![\d/-]|\.\d)"
    ),
    re.compile(r"(?<![\d./-])(?P<year>1\d\d)\.(?P<month>\d\d)\.(?P<day>\d\d)(?![\d/-]|\.\d)"),
)
"""113/5/1; 113.05.01, but 115.2.1 is a version"""
_THAI = re.compile(
    rf"{_DAY}\s?(?P<name>[ก-๎]{{1,3}}\.[ก-ฮ])\.?\s?{_ERA_OF_THAILAND}(?P<year>\d{{4}}|\d\d)(?!\d)"
)
"""1 พ.ค. 2567; 1 พ.ค. 67"""
_ENDS_THAI = re.compile("[ก-ฮ]\\.\\s?\\d\\d")
_VIETNAMESE = re.compile(rf"{_DAY} tháng (?P<month>\d{{1,2}})(?:,? năm|,)? {_YEAR}")
"""ngày 1 tháng 5 năm 2024"""
_NUMBERED = (
    # 2024-05-01; 2024/5/1; 2024.05.01.
    re.compile(
        rf"(?<![\d./-]){_YEAR}{_DASH}(?P<month>\d{{1,2}})(?P=dash)\s?(?P<day>\d{{1,2}})"
        r"(?![\d/-]|\.\d)"
    ),
    # 01.05.2024; 1/5/2024; 1-5-2024; 01.05.24
    re.compile(
        rf"(?<![\d./-])(?P<first>\d{{1,2}}){_DASH}(?P<second>\d{{1,2}})(?P=dash)\s?"
        r"(?P<year>\d{4}|\d\d)(?![\d/-]|\.\d)"
    ),
)
_DATE_LIKE = re.compile(r"[\d年년](?:(?<!\d)|\d{3}|[-/.]\s?\d{1,2}[-/.]\s?\d)")
"""What each form contains. A pattern whose matches begin with one of a few characters is fast."""
_WORDS = re.compile(rf"{_WORD_CHAR}{{2,}}")
_ORDINALS = "ºª°"
_DIGITS = {
    ord(digit): str(number % 10)
    for zeros in "٠۰०০๐０"
    for number, digit in enumerate(chr(ord(zeros) + each) for each in range(10))
}
_PERSIAN_DIGIT = re.compile("[۰-۹]")
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
        return may_have_hebrew_date(text)
    elif may_have_hebrew_date(text) or ("." in text and _ENDS_THAI.search(text)):
        return True
    return _DATE_LIKE.search(text) is not None


def written_dates(text: str, language: str) -> list[WrittenDate]:
    """Return the dates in a text, in order. `language` is a tag such as `en-US`, or empty."""
    text = text[:MAX_CHARS]
    if not may_have_date(text):
        return []
    in_persian_digits = False
    if not text.isascii():
        in_persian_digits = _PERSIAN_DIGIT.search(text) is not None
        text = text.translate(_DIGITS)
    cased, text, language = text, text.lower(), language.lower().replace("_", "-")
    found = sorted(_found(text, cased, language)) or sorted(
        WrittenDate(*each)
        for each in calendar_dates(text, language, in_persian_digits=in_persian_digits)
    )
    ends = 0
    dates = []
    for each in found:
        if each.start >= ends:
            dates.append(each)
            ends = each.end
    return dates


def _found(text: str, cased: str, language: str) -> Iterator[WrittenDate]:
    """Yield the dates of the common era in a text in lower case, and as it was."""
    for form in _possible_forms(text, language):
        for match in form.finditer(cased if form is _OF_JAPAN else text):
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
    if not text.isascii():
        yield _THAI
    if language[:2] == "ja":
        yield _OF_JAPAN
    elif language[:2] == "zh":
        yield _OF_TAIWAN
        if is_of_taiwan(language):
            yield from _OF_REPUBLIC
    yield from _NUMBERED


def _date(parts: dict[str, str | None], language: str) -> datetime | None:
    year = _year(parts, language)
    if not FIRST_YEAR <= year < END_YEAR:
        return None
    first, dash = parts.get("first"), parts.get("dash")
    if language[:2] in ETHIOPIC and dash is not None and (first is not None or dash != "-"):
        return None
    if first is not None:
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
    era = parts.get("era") or parts.get("letter")
    if era is not None:
        return year + ERAS.get(era, REPUBLIC)
    is_thai = language[:2] == "th" or "ก" <= (parts.get("name") or "")[:1] <= "๎"
    if len(written) == 2:  # noqa: PLR2004
        if is_thai:
            return year + (2500 - BUDDHIST if year >= FIRST_SHORT_BUDDHIST else 2000)
        is_known = NO_SHORT_YEARS.isdisjoint((language, language.partition("-")[0]))
        return 2000 + year if is_known and parts.get("first") is not None else 0
    if year in REPUBLICAN_YEARS and is_of_taiwan(language):
        return year + REPUBLIC
    return year - BUDDHIST if is_thai and year > END_YEAR else year


def is_of_taiwan(language: str) -> bool:
    """Whether a language, as a tag in lower case, is Chinese as Taiwan writes it."""
    return language.startswith(("zh-tw", "zh-hant-tw")) or language == "zh-hant"


def _order(first: int, second: int, language: str) -> tuple[int, int] | None:
    """Return month and day of a date in numbers; None if it has two meanings."""
    months = 12
    if first > months or first == second:
        return second, first
    if second > months or language in MONTH_FIRST:
        return first, second
    return None if language in ("", "en") or language[:2] in FAR_EAST else (second, first)


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
