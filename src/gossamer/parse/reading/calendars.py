"""Days of calendars whose months are not those of the Gregorian calendar.

Sources: Reingold and Dershowitz, Calendrical Calculations, chapters 4 (Ethiopic) and 8 (Hebrew);
the cycle of 33 years by which ICU reckons the Solar Hijri calendar, which agrees with the equinoxes
of these years; and for Umm al-Qura, which is published and not computed, the lengths of its months
in ICU. `tests/browser/test_calendars.py` compares each day with those of Chromium.

Years are those in which a page can have been published. A day that does not exist is a ValueError.
"""

from __future__ import annotations

from datetime import date, timedelta

SOLAR_HIJRI_YEARS = range(1369, 1479)
UMM_AL_QURA_YEARS = range(1410, 1501)
HEBREW_YEARS = range(5751, 5851)
ETHIOPIC_YEARS = range(1983, 2092)

_SOLAR_HIJRI_EPOCH = date(622, 3, 21).toordinal()
_ETHIOPIC_EPOCH = date(8, 8, 27).toordinal()
_HEBREW_EPOCH = -1_373_427
_UMM_AL_QURA_START = date(1989, 8, 3)
_UMM_AL_QURA_MONTHS = """
da4 db2 ab9 4ba a5b 52b a95 b2a b55 55c 4bd 23d 91d a95 b4a b5a 56d 2b6 93b 49b 655 6a9 754 b6a 56c
aad 555 b29 b92 ba9 5d4 ada 55a aab 595 749 764 baa 5b5 2b6 a56 e4d b25 b52 b6a 5ad 2ae 92f 497 64b
6a5 6ac ad6 55d 49d a4d d16 d95 5aa 5b5 2da 95b 4ad 595 6ca 6e4 aea 4f5 2b6 956 aaa b54 bd2 5d9 2ea
96d 4ad a95 b4a ba5 5b2 9b5 4d6 a97 547 693 749 b55 56a a6b 52b
"""
"""A hexadecimal number per year; its bits, from the highest, are the months that have 30 days."""
_UMM_AL_QURA = tuple(
    tuple(29 + int(bit) for bit in f"{int(year, 16):012b}") for year in _UMM_AL_QURA_MONTHS.split()
)
_MONTHS = 12
_LONG_MONTHS, _LONG, _SHORT = 6, 31, 30
"""Of the Solar Hijri calendar. The last month has 29 days in common years."""
_PAGUME = 13
_PARTS_PER_DAY = 25_920
_PARTS_AT_NEW_MOON, _PARTS_OF_MONTH = 12_084, 13_753


def solar_hijri(year: int, month: int, day: int) -> date:
    """Convert a day of Iran's and Afghanistan's calendar."""
    leap = (8 * year + 29) // 33 - (8 * year + 21) // 33
    length = _LONG if month <= _LONG_MONTHS else _SHORT if month < _MONTHS or leap else _SHORT - 1
    _check(year in SOLAR_HIJRI_YEARS and 1 <= month <= _MONTHS and 1 <= day <= length)
    before = _SHORT * (month - 1) + min(month - 1, _LONG_MONTHS)
    days = 365 * (year - 1) + (8 * year + 21) // 33 + before + day - 1
    return date.fromordinal(_SOLAR_HIJRI_EPOCH + days)


def umm_al_qura(year: int, month: int, day: int) -> date:
    """Convert a day of Saudi Arabia's Hijri calendar; others may differ by a day."""
    _check(year in UMM_AL_QURA_YEARS and 1 <= month <= _MONTHS)
    number = year - UMM_AL_QURA_YEARS.start
    lengths = _UMM_AL_QURA[number]
    _check(1 <= day <= lengths[month - 1])
    days = sum(map(sum, _UMM_AL_QURA[:number])) + sum(lengths[: month - 1]) + day - 1
    return _UMM_AL_QURA_START + timedelta(days=days)


def ethiopic(year: int, month: int, day: int) -> date:
    """Convert a day of Ethiopia's calendar: 12 months of 30 days, and Pagume."""
    length = _SHORT if month < _PAGUME else 6 if year % 4 == 3 else 5  # noqa: PLR2004
    _check(year in ETHIOPIC_YEARS and 1 <= month <= _PAGUME and 1 <= day <= length)
    days = 365 * (year - 1) + year // 4 + 30 * (month - 1) + day - 1
    return date.fromordinal(_ETHIOPIC_EPOCH + days)


def hebrew(year: int, month: int, day: int) -> date:
    """Convert a day of the Hebrew calendar.

    Months are counted from Tishri. Adar of a common year is the sixth; Adar I and II are 6 and 7,
    and Nisan is the eighth of a leap year.
    """
    _check(year in HEBREW_YEARS)
    lengths = _hebrew_months(year)
    _check(1 <= month <= len(lengths) and 1 <= day <= lengths[month - 1])
    return date.fromordinal(_hebrew_new_year(year) + sum(lengths[: month - 1]) + day - 1)


def is_hebrew_leap_year(year: int) -> bool:
    return (7 * year + 1) % 19 < 7  # noqa: PLR2004


def _hebrew_months(year: int) -> list[int]:
    days = _hebrew_new_year(year + 1) - _hebrew_new_year(year)
    heshvan, kislev = 29 + (days % 10 == 5), 29 + (days % 10 != 3)  # noqa: PLR2004
    adar = [30, 29] if is_hebrew_leap_year(year) else [29]
    return [30, heshvan, kislev, 29, 30, *adar, 30, 29, 30, 29, 30, 29]


def _hebrew_new_year(year: int) -> int:
    """Return the ordinal of 1 Tishri: the new moon, or a day or two after it."""
    start, before, after = (_hebrew_elapsed_days(each) for each in (year, year - 1, year + 1))
    delay = 2 if after - start == 356 else start - before == 382  # noqa: PLR2004
    return _HEBREW_EPOCH + start + delay


def _hebrew_elapsed_days(year: int) -> int:
    """Return the days from the epoch to Tishri, which begins on four days of the week only."""
    months = (235 * year - 234) // 19
    day = 29 * months + (_PARTS_AT_NEW_MOON + _PARTS_OF_MONTH * months) // _PARTS_PER_DAY
    return day + (3 * (day + 1) % 7 < 3)  # noqa: PLR2004


def _check(exists: bool) -> None:
    if not exists:
        raise ValueError("no such day")
