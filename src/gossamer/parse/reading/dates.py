"""Parses the dates in pages, feeds and sitemaps.

Facts: RSS requires RFC 822, Atom RFC 3339, sitemaps the W3C's profile of ISO 8601, in which a date
may end after the year or the month. In practice all of these occur everywhere, as do the output of
asctime, of JavaScript's Date and of date(1), prose ("1 May 2024"), seconds since 1970, and unfilled
templates.

Decisions: the whole text must be a date. A missing part gets its first value (the first day of a
month, midnight of a day); a missing or unknown zone is UTC, as in RFC 5322 §4.3. Ambiguous dates
("05/01/2024") are rejected. So are the epoch itself, which software writes if it has no date, and
years outside EPOCH to END.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_CHARS = 100
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
END = datetime(2100, 1, 1, tzinfo=UTC)
"""Dates must lie between EPOCH and END. Callers reject dates in the future."""
CLOCK_ERROR = timedelta(days=1)
"""How far a page's clock or time zone may be ahead of ours."""
LAST_SECOND = timedelta(days=1, seconds=-1)
NO_OFFSET = timedelta()
MAX_OFFSET = timedelta(hours=14)
"""Largest offset of a zone from UTC: the Line Islands, Kiribati."""
CENTURY_PIVOT = 50
"""Two-digit years: 00 to 49 are 2000 to 2049, the others 1950 to 1999 (RFC 5322 §4.3)."""
HALF_DAY_HOURS = 12

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_ZONES = """
est -5 edt -4 cst -6 cdt -5 mst -7 mdt -6 pst -8 pdt -7 akst -9 akdt -8 hst -10 ast -4 adt -3
brt -3 art -3 bst 1 west 1 cet 1 mez 1 cest 2 mesz 2 eet 2 eest 3 msk 3 ist 5.5 hkt 8 sgt 8
jst 9 kst 9 awst 8 acst 9.5 acdt 10.5 aest 10 aedt 11 nzst 12 nzdt 13
"""
"""Zones and their hours east of UTC: those of RFC 822 §5.1, and others common in feeds. BST is
Britain's, IST India's. Single letters count as UTC: RFC 822 had their signs wrong (RFC 5322
§4.3)."""

_ZONE_HOURS: Mapping[str, float] = {
    name: float(hours) for name, hours in re.findall(r"(\w+) (\S+)", _ZONES)
}
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_DAY = r"(?P<day>\d\d?)(?:st|nd|rd|th)?"
_WEEKDAY = r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6}\.?,?\s?)?"
_TIME = (
    r"(?P<hour>[01]?\d|2[0-4]):(?P<minute>[0-5]\d)"
    r"(?::(?P<second>[0-5]\d|60)(?:[.,]\d{1,9})?)?(?:\s?(?P<half>[ap])\.?m\b\.?)?"
)
_OFFSET = r"(?P<sign>[+-])(?P<zone_hours>\d\d?)(?::?(?P<zone_minutes>[0-5]\d))?"
_ZONE = rf"(?:\s?(?P<zone>[a-z]{{1,5}}))?(?:\s?{_OFFSET})?(?:\s?[a-z]{{1,5}})?"
_CLOCK = rf"(?:(?:,?\s|t|,?\sat\s|\s-\s){_TIME}{_ZONE})?"
_EXAMPLES_AND_FORMS = {
    "2024 2024-05 2024-5-1 2024/05/01 9:00": (
        r"(?P<year>\d{4})(?:(?P<dash>[-/.])(?P<month>\d\d?)"
        rf"(?:(?P=dash)(?P<day>\d\d?){_CLOCK})?)?"
    ),
    "2024-05-01+02:00, of XML Schema": (
        rf"(?P<year>\d{{4}})-(?P<month>\d\d)-(?P<day>\d\d)(?:z|{_OFFSET})"
    ),
    "20240501102030": (
        r"(?P<year>\d{4})(?P<month>\d\d)(?P<day>\d\d)"
        r"(?P<hour>[01]\d|2[0-4])(?P<minute>[0-5]\d)(?P<second>[0-5]\d)"
    ),
    "Wed, 01 May 2024 10:20:30 GMT; whatever the language of the weekday": (
        rf"(?:[^\d\s,]{{2,12}},\s?|{_WEEKDAY}){_DAY}[\s.-]{{1,2}}{_MONTH}[\s,-]{{1,2}}"
        rf"(?:(?P<year>\d{{4}})|(?P<short_year>\d\d))(?:{_CLOCK}|\s(?:gmt|utc?))"
    ),
    "May 1st, 2024 at 10:20 a.m. EST; Wed May 01 2024 10:20:30 GMT+0200; May 2024": (
        rf"{_WEEKDAY}{_MONTH},?\s(?:{_DAY},?\s)?(?P<year>\d{{4}}){_CLOCK}"
    ),
    "Wed May 1 10:20:30 2024; Wed May 1 10:20:30 UTC 2024": (
        rf"{_WEEKDAY}{_MONTH}\s{_DAY}\s{_TIME}{_ZONE}\s(?P<year>\d{{4}})"
    ),
    "01.05.2024, 10:20; with dots, nobody writes the month first": (
        rf"(?P<day>\d\d?)\.\s?(?P<month>\d\d?)\.\s?(?P<year>\d{{4}}){_CLOCK}"
    ),
}
_FORMS = tuple(re.compile(form, re.ASCII | re.IGNORECASE) for form in _EXAMPLES_AND_FORMS.values())
_REMARK = re.compile(r"\s?[(\[].*")
"""A remark at the end: `(CEST)` in RFC 822 and JavaScript, `[Europe/Berlin]` in Java."""
_SECONDS = re.compile(r"\d{9,10}", re.ASCII)
_MILLISECONDS = re.compile(r"\d{13}", re.ASCII)
_SEPARATORS = ("", " ")
"""Allowed between date and time. `fromisoformat` accepts any character there, and would read the
zone in "2024-05-01+02:00" as a time."""


def parse_date(text: str) -> datetime | None:
    """Return the instant in UTC; None if the text is not a date, or out of range. Never raises."""
    found = _written(text)
    return None if found is None else found.astimezone(UTC)


def parse_day(text: str) -> datetime | None:
    """Return the instant as `parse_date` does, but within the day in UTC that the text names.

    >>> parse_day("2024-05-01T00:30:00+02:00")
    datetime.datetime(2024, 5, 1, 0, 0, tzinfo=datetime.timezone.utc)
    """
    found = _written(text)
    if found is None:
        return None
    first = found.replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=UTC)
    return min(max(found.astimezone(UTC), first), first + LAST_SECOND)


def _written(text: str) -> datetime | None:
    """Return the instant in the zone of the text; None if it is not a date, or out of range."""
    text = text.strip()
    if not text or len(text) > MAX_CHARS:
        return None
    try:
        found = _parse(text)
        # Check the year first: at the ends of the calendar, dates cannot change their zone.
        if found is None or not EPOCH.year - 1 <= found.year <= END.year:
            return None
        found = found.replace(tzinfo=UTC) if found.tzinfo is None else found
    except (ValueError, OverflowError):
        return None
    return found if EPOCH < found < END else None


def _parse(text: str) -> datetime | None:
    """Parse a date. Raises ValueError or OverflowError for days that do not exist."""
    if text.isdigit():
        if _SECONDS.fullmatch(text):
            return datetime.fromtimestamp(int(text), UTC)
        if _MILLISECONDS.fullmatch(text):
            return datetime.fromtimestamp(int(text) / 1_000, UTC)
    if "T" in text or text[10:11] in _SEPARATORS:
        try:
            found = datetime.fromisoformat(text)
        except ValueError:
            pass
        else:
            return found if abs(found.utcoffset() or NO_OFFSET) <= MAX_OFFSET else None
    text = _REMARK.sub("", " ".join(text.split()))
    for form in _FORMS:
        if match := form.fullmatch(text):
            return _instant(match.groupdict(default=""))
    return None


def _instant(parts: dict[str, str]) -> datetime | None:
    """Return the instant for the named groups of a form. Raises as `_parse` does."""
    offset = _offset(parts)
    if abs(offset) > MAX_OFFSET:
        return None
    month = parts.get("month") or "1"
    day = datetime(
        _year(parts),
        int(month) if month.isdecimal() else _MONTHS.index(month[:3].lower()) + 1,
        int(parts.get("day") or 1),
        tzinfo=timezone(offset),
    )
    hour = int(parts.get("hour") or 0)
    if half := parts.get("half"):
        hour = hour % HALF_DAY_HOURS + HALF_DAY_HOURS * (half in "pP")
    second = min(int(parts.get("second") or 0), 59)  # a datetime cannot hold a leap second
    # The hours are added because 24:00 is the end of the day (ISO 8601 §5.3.2).
    return day + timedelta(hours=hour, minutes=int(parts.get("minute") or 0), seconds=second)


def _year(parts: dict[str, str]) -> int:
    if not (short := parts.get("short_year")):
        return int(parts["year"])
    return int(short) + (2000 if int(short) < CENTURY_PIVOT else 1900)


def _offset(parts: dict[str, str]) -> timedelta:
    if not (sign := parts.get("sign")):
        return timedelta(hours=_ZONE_HOURS.get(parts.get("zone", "").lower(), 0))
    hours, minutes = int(parts["zone_hours"]), int(parts["zone_minutes"] or 0)
    return timedelta(hours=hours, minutes=minutes) * (-1 if sign == "-" else 1)
