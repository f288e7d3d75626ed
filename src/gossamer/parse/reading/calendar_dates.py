"""Finds dates of other calendars in a text: Solar Hijri, Umm al-Qura, Hebrew and Ethiopic.

`written_dates.py` asks for them if a text has no date of the common era: who writes both means the
same day. A date is read if it can only be of one calendar:

  * Solar Hijri months, with Afghanistan's names in its languages only, as they also are signs of
    the zodiac; or numbers in the languages of Iran and Afghanistan, or in their digits. In the
    lunar calendar, the same numbers are years before 1990 or after 2030.
  * Lunar months and numbers in Arabic of Saudi Arabia. Elsewhere, months begin when the moon is
    seen.
  * Hebrew months after numbers in letters.
  * Ethiopic months in Amharic, which has other names for those of the common era. Tigrinya does
    not, and numbers may be of either calendar.

Names are those of CLDR, and others that people write.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Final

from gossamer.parse.reading.calendars import (
    ethiopic,
    hebrew,
    is_hebrew_leap_year,
    solar_hijri,
    umm_al_qura,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    _Form = tuple[re.Pattern[str], Callable[[int, int, int], date], Mapping[str, int]]

MARK: Final = "[\u200e\u200f\u061c]?"
"""A mark of direction, which programs write before the separators of numbers."""
SOLAR_HIJRI_LANGUAGES = frozenset(("fa", "prs", "ps", "mzn", "lrc", "glk"))
AFGHAN_LANGUAGES = ("fa-af", "prs", "ps")
SAUDI_ARABIA = "ar-sa"

_IRANIAN = """
فروردین اردیبهشت خرداد تیر مرداد شهریور مهر آبان آذر دی بهمن اسفند
فروردين ارديبهشت - تير امرداد شهريور - ابان اذر دي - اسپند
"""
_AFGHAN = """
حمل ثور جوزا سرطان اسد سنبله میزان عقرب قوس جدی دلو حوت
وری غویی غبرګولی چنګاښ زمری وږی تله لړم لیندۍ مرغومی سلواغه کب
"""
_ETHIOPIC = """
መስከረም ጥቅምት ኅዳር ታኅሣሥ ጥር የካቲት መጋቢት ሚያዝያ ግንቦት ሰኔ ሐምሌ ነሐሴ ጳጉሜን
- - ህዳር ታህሳስ - - - ሚያዚያ - - ሀምሌ ነሃሴ ጳጉሜ
- - ኀዳር ታህሣሥ - - - - - - ኃምሌ - ጷጉሜን
"""
_LUNAR = """
محرم|صفر|ربيع الأول|ربيع الآخر|جمادى الأولى|جمادى الآخرة|رجب|شعبان|رمضان|شوال|ذو القعدة|ذو الحجة
-|-|ربيع الاول|ربيع الثاني|جمادى الاولى|جمادى الثانية|-|-|-|-|ذي القعدة|ذي الحجة
-|-|-|ربيع الاخر|جمادي الأولى|جمادى الاخرة|-|-|-|-|ذوالقعدة|ذوالحجة
"""
_HEBREW = """
תשרי חשוון כסלו טבת שבט אדר ניסן אייר סיוון תמוז אב אלול
- חשון כסליו - - - - איר סיון - - -
- מרחשוון - - - - - - - - - -
"""
_HEBREW_ADAR, _HEBREW_NISAN = 6, 7


def _numbered(names: str, separator: str | None = None) -> dict[str, int]:
    """Return the numbers of months, of which each line has names."""
    return {
        name: month
        for line in names.strip().splitlines()
        for month, name in enumerate(line.split(separator), 1)
        if name != "-"
    }


_MONTHS_OF_IRAN = _numbered(_IRANIAN)
_SOLAR_MONTHS = _MONTHS_OF_IRAN | _numbered(_AFGHAN)
_ETHIOPIC_MONTHS = _numbered(_ETHIOPIC)
_LUNAR_MONTHS = _numbered(_LUNAR, "|")
_HEBREW_MONTHS = _numbered(_HEBREW)
_HEBREW_NUMERALS = dict(
    zip(
        "אבגדהוזחטיכלמנסעפצקרשת",
        (*range(1, 10), *range(10, 100, 10), *range(100, 500, 100)),
        strict=True,
    )
)
_HEBREW_MILLENNIUM = 5_000


def _one_of(names: Mapping[str, int]) -> str:
    return f"(?P<month>{'|'.join(sorted(names, key=len, reverse=True))})"


_DAY = r"(?<![\d.,:/-])(?P<day>\d{1,2})"
_HIJRI_YEAR = r"(?P<year>1[34]\d\d)(?!\d)"
_MONTH_WORD = r"(?:[\s\u200c]?ماه)?"
_SOLAR_NAMED = tuple(
    re.compile(form)
    for form in (
        # 8 آذر 1404; 8 آذرماه سال 1404
        rf"{_DAY}\s?{_one_of(_SOLAR_MONTHS)}{_MONTH_WORD}[,،]?\s(?:سال\s)?{_HIJRI_YEAR}",
        # 1404 آذر 8
        rf"(?<!\d){_HIJRI_YEAR}\s{_one_of(_SOLAR_MONTHS)}{_MONTH_WORD}\s(?P<day>\d{{1,2}})(?!\d)",
    )
)
_DASH = rf"(?P<dash>{MARK}[-/.])\s?"
_HIJRI_NUMBERED = tuple(
    re.compile(form)
    for form in (
        # 1404/09/08
        (
            rf"(?<![\d./-]){_HIJRI_YEAR}{_DASH}(?P<month>\d{{1,2}})(?P=dash)\s?(?P<day>\d{{1,2}})"
            r"(?![\d/-]|\.\d)"
        ),
        # 8/9/1404
        rf"{_DAY}{_DASH}(?P<month>\d{{1,2}})(?P=dash)\s?{_HIJRI_YEAR}(?![/-]|\.\d)",
    )
)
_LUNAR_NAMED = re.compile(
    rf"{_DAY}\s(?:من\s)?{_one_of(_LUNAR_MONTHS)}[,،]?\s(?:عام\s)?{_HIJRI_YEAR}"
)
"""7 جمادى الآخرة 1447 هـ"""
_ETHIOPIC_NAMED = tuple(
    re.compile(form)
    for form in (
        # ኅዳር 20 ቀን 2018; ኅዳር 20፣ 2018; ኅዳር 20/2018
        (
            rf"(?<!\w){_one_of(_ETHIOPIC_MONTHS)}\s(?P<day>\d{{1,2}})(?:\sቀን)?[፣,]?[\s/]"
            r"(?P<year>\d{4})(?!\d)"
        ),
        # 20 ኅዳር 2018
        rf"{_DAY}\s{_one_of(_ETHIOPIC_MONTHS)}[፣,]?\s(?P<year>\d{{4}})(?!\d)",
    )
)
_QUOTE, _QUOTES = "['׳’]", '["״”]'
_HEBREW_NAMED = re.compile(
    rf"(?<!\w)(?P<day>[א-ל]{_QUOTE}?|[יכל]{_QUOTES}[א-ט]|ט{_QUOTES}[וז]) ?[בל]?"
    rf"{_one_of(_HEBREW_MONTHS)}(?: (?P<adar>[אב]){_QUOTE})?,? "
    rf"(?:ה{_QUOTE}?)?(?P<year>תש[א-צ]?{_QUOTES}[א-צ])(?!\w)"
)
"""ח׳ בכסלו תשפ״ו; ח' כסלו ה'תשפ"ו"""
_HEBREW_YEAR = "תש"
"""The first letters of the years from 1939 to 2039."""


def may_have_hebrew_date(text: str) -> bool:
    """Whether a text may have a Hebrew date, which needs no digits."""
    return _HEBREW_YEAR in text


def calendar_dates(
    text: str, language: str, *, in_persian_digits: bool
) -> Iterator[tuple[int, int, datetime]]:
    """Yield the places and days of dates in a text, whose digits are those of ASCII by now.

    `language` is a tag in lower case, or empty.
    """
    for form, convert, months in _possible_forms(text, language, in_persian_digits):
        for found in form.finditer(text):
            month = found["month"]
            number = int(month) if month.isdecimal() else months.get(month, 0)
            try:
                day = convert(int(found["year"]), number, int(found["day"]))
            except ValueError:
                continue
            yield found.start(), found.end(), _midnight(day)
    if may_have_hebrew_date(text):
        yield from _hebrew_dates(text)


def _possible_forms(text: str, language: str, in_persian_digits: bool) -> Iterator[_Form]:
    first = language.partition("-")[0]
    is_solar = first in SOLAR_HIJRI_LANGUAGES or (not language and in_persian_digits)
    if is_solar or not text.isascii():
        months = _SOLAR_MONTHS if language.startswith(AFGHAN_LANGUAGES) else _MONTHS_OF_IRAN
        yield from ((form, solar_hijri, months) for form in _SOLAR_NAMED)
    if is_solar:
        yield from ((form, solar_hijri, {}) for form in _HIJRI_NUMBERED)
    elif language == SAUDI_ARABIA:
        yield _LUNAR_NAMED, umm_al_qura, _LUNAR_MONTHS
        yield from ((form, umm_al_qura, {}) for form in _HIJRI_NUMBERED)
    elif first == "am":
        yield from ((form, ethiopic, _ETHIOPIC_MONTHS) for form in _ETHIOPIC_NAMED)


def _hebrew_dates(text: str) -> Iterator[tuple[int, int, datetime]]:
    for found in _HEBREW_NAMED.finditer(text):
        year, day = _HEBREW_MILLENNIUM + _value(found["year"]), _value(found["day"])
        month, adar = _HEBREW_MONTHS[found["month"]], found["adar"]
        is_leap = is_hebrew_leap_year(year)
        if (adar is not None) != (is_leap and month == _HEBREW_ADAR):
            continue  # of a leap year's two Adars, none is named, or the year has only one
        month += (adar == "ב") or (is_leap and month >= _HEBREW_NISAN)
        try:
            yield found.start(), found.end(), _midnight(hebrew(year, month, day))
        except ValueError:
            continue


def _value(numeral: str) -> int:
    return sum(_HEBREW_NUMERALS.get(letter, 0) for letter in numeral)


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)
