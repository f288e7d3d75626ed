"""Each day of a century in other calendars, beside Chromium's, which are ICU's."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING

import pytest

from gossamer.parse.reading.calendars import (
    ETHIOPIC_YEARS,
    HEBREW_YEARS,
    SOLAR_HIJRI_YEARS,
    UMM_AL_QURA_YEARS,
    ethiopic,
    hebrew,
    is_hebrew_leap_year,
    solar_hijri,
    umm_al_qura,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

DAYS = """calendar => {
    const written = new Intl.DateTimeFormat(`en-u-nu-latn-ca-${calendar}`,
        {year: "numeric", month: "numeric", day: "numeric", timeZone: "UTC"});
    const days = [];
    for (let day = Date.UTC(1990, 0, 1); day < Date.UTC(2090, 0, 1); day += 864e5) {
        const parts = Object.fromEntries(
            written.formatToParts(day).map(part => [part.type, part.value]));
        days.push(`${parts.year}/${parts.month}/${parts.day}`);
    }
    return days.join(" ");
}"""
"""JavaScript: the days of a century, in numbers or with the names of Hebrew months."""
TISHRI = (
    *("Tishri", "Heshvan", "Kislev", "Tevet", "Shevat", "Adar"),
    *("Nisan", "Iyar", "Sivan", "Tamuz", "Av", "Elul"),
)
ADARS = {"Adar I": 6, "Adar II": 7}


def month_number(year: int, month: str) -> int:
    if month.isdecimal() or month in ADARS:
        return ADARS.get(month) or int(month)
    number = TISHRI.index(month) + 1
    return number + (number > ADARS["Adar I"] and is_hebrew_leap_year(year))


@pytest.mark.parametrize(
    ("calendar", "convert", "years"),
    [
        ("persian", solar_hijri, SOLAR_HIJRI_YEARS),
        ("islamic-umalqura", umm_al_qura, UMM_AL_QURA_YEARS),
        ("hebrew", hebrew, HEBREW_YEARS),
        ("ethiopic", ethiopic, ETHIOPIC_YEARS),
    ],
)
def test_each_day_is_that_of_chromium(
    page: Page, calendar: str, convert: Callable[[int, int, int], date], years: range
) -> None:
    written: str = page.evaluate(DAYS, calendar)
    compared = 0
    for number, parts in enumerate(written.replace("Adar I", "Adar_I").split(" ")):
        year, month, day = parts.replace("_", " ").split("/")
        if int(year) in years:
            compared += 1
            found = convert(int(year), month_number(int(year), month), int(day))
            assert found == date(1990, 1, 1) + timedelta(number), parts
    assert compared > 30_000
