"""Days of other calendars, by the dates of feasts as they were published."""

from __future__ import annotations

from datetime import date, timedelta
from itertools import count, pairwise
from typing import TYPE_CHECKING

import pytest

from gossamer.parse.reading.calendars import (
    ETHIOPIC_YEARS,
    HEBREW_YEARS,
    SOLAR_HIJRI_YEARS,
    UMM_AL_QURA_YEARS,
    ethiopic,
    hebrew,
    solar_hijri,
    umm_al_qura,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Convert = Callable[[int, int, int], date]


@pytest.mark.parametrize(
    ("convert", "day", "common"),
    [
        (solar_hijri, (1375, 1, 1), date(1996, 3, 20)),  # Nowruz
        (solar_hijri, (1399, 12, 30), date(2021, 3, 20)),
        (solar_hijri, (1403, 1, 1), date(2024, 3, 20)),
        (solar_hijri, (1403, 12, 30), date(2025, 3, 20)),
        (solar_hijri, (1404, 1, 1), date(2025, 3, 21)),
        (solar_hijri, (1404, 9, 8), date(2025, 11, 29)),
        (umm_al_qura, (1420, 9, 1), date(1999, 12, 9)),  # Ramadan
        (umm_al_qura, (1445, 1, 1), date(2023, 7, 19)),
        (umm_al_qura, (1446, 9, 1), date(2025, 3, 1)),
        (umm_al_qura, (1446, 10, 1), date(2025, 3, 30)),
        (umm_al_qura, (1447, 1, 1), date(2025, 6, 26)),
        (hebrew, (5784, 1, 1), date(2023, 9, 16)),  # Rosh Hashanah
        (hebrew, (5784, 7, 14), date(2024, 3, 24)),  # Purim in Adar II
        (hebrew, (5785, 1, 1), date(2024, 10, 3)),
        (hebrew, (5785, 3, 25), date(2024, 12, 26)),  # Hanukkah
        (hebrew, (5785, 7, 15), date(2025, 4, 13)),  # Passover
        (ethiopic, (2000, 1, 1), date(2007, 9, 12)),  # Enkutatash
        (ethiopic, (2016, 1, 1), date(2023, 9, 12)),
        (ethiopic, (2017, 4, 29), date(2025, 1, 7)),  # Genna
        (ethiopic, (2018, 1, 1), date(2025, 9, 11)),
    ],
)
def test_published_days(convert: Convert, day: tuple[int, int, int], common: date) -> None:
    assert convert(*day) == common


def days(convert: Convert, year: int) -> Iterator[date]:
    for month in range(1, 14):
        for day in count(1):
            try:
                yield convert(year, month, day)
            except ValueError:
                break


@pytest.mark.parametrize(
    ("convert", "years", "lengths"),
    [
        (solar_hijri, SOLAR_HIJRI_YEARS, {365, 366}),
        (umm_al_qura, UMM_AL_QURA_YEARS, {354, 355}),
        (hebrew, HEBREW_YEARS, {353, 354, 355, 383, 384, 385}),
        (ethiopic, ETHIOPIC_YEARS, {365, 366}),
    ],
)
def test_each_day_follows_another(convert: Convert, years: range, lengths: set[int]) -> None:
    found = [list(days(convert, year)) for year in (*years[:20], *years[-3:])]
    assert {len(year) for year in found} <= lengths
    for each, following in pairwise(found[:20]):
        assert following[0] - each[-1] == timedelta(1)
    for year in found:
        assert year == [year[0] + timedelta(n) for n in range(len(year))]
    for wrong in (years.start - 1, years.stop):
        assert not list(days(convert, wrong))
    for month, day in ((0, 1), (14, 1), (1, 0)):
        with pytest.raises(ValueError, match="no such day"):
            convert(years.start, month, day)


@pytest.mark.parametrize(
    ("convert", "years", "first", "last"),
    [
        (solar_hijri, SOLAR_HIJRI_YEARS, date(1990, 3, 21), date(2100, 3, 20)),
        (umm_al_qura, UMM_AL_QURA_YEARS, date(1989, 8, 3), date(2077, 11, 16)),
        (hebrew, HEBREW_YEARS, date(1990, 9, 20), date(2090, 9, 24)),
        (ethiopic, ETHIOPIC_YEARS, date(1990, 9, 11), date(2099, 9, 11)),
    ],
)
def test_the_days_that_each_calendar_has(
    convert: Convert, years: range, first: date, last: date
) -> None:
    """Those since the Web began; the tables of Umm al-Qura end in 1500."""
    assert next(days(convert, years[0])) == first
    assert [*days(convert, years[-1])][-1] == last
