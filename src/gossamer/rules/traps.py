"""The filter against crawler traps: URLs that lead into an endless space.

Facts
  * No algorithm distinguishes a trap from a large site (Olston and Najork, Web Crawling, 2010,
    §6.2). Crawlers refuse URLs of a form that few pages have, and limit what any host may take.
    This module does the first; `update` and `generate` do the second, as IRLbot does with budgets
    per domain (Lee et al., WWW 2008, §5), which also stop traps whose URLs look like any other.
  * A page that is refused is lost silently, while a trap costs a few thousand requests. So the
    defaults accept what real sites contain, and every refusal is counted by its reason.
  * Most calendars and loops lead outwards step by step. If the first step across the limit is
    refused, what lies beyond it is never found.

What is refused, and what other crawlers do:

    path_segments  more folders than `max_path_segments`. Heritrix refuses more than 20
                   (TooManyPathSegmentsDecideRule).
    repeated       a segment that occurs more than `max_repeats` times in the path, adjacent or not.
                   The cause is a relative link on a page that exists under any path. A repeated
                   sequence repeats its segments, so this covers sequences. Heritrix refuses three
                   in a row (PathologicalPathDecideRule), Nutch three with one segment between each
                   (regex-urlfilter.txt); but github.com/numpy/numpy/tree/main/numpy is a page.
                   Numbers below 1000 may repeat: /ukpga/2004/1/schedule/1/part/1/paragraph/1/1.
    parameters     more query parameters than `max_parameters`: a shop's filters, combined.
    calendar       a date outside of `calendar_from_year` and `calendar_years_ahead`.

Numbers that are names, pages of a thread (/1848/3/) or telephone numbers must not count as dates.
In any URL, a date is year, month and day with two digits each (/2050/03/09, 2050-03-09), or year
and month as folders, if the month has a leading zero (/2050/03/). After a word that announces a
date (calendar, events, month …), with no digit between, 2050-3, 2050/3/9 and 20500309 are dates,
too. So are two parameters for year and month. Years have four digits, begin with 1 or 2, and are
at the start of a segment or of a parameter's value.

Cost: 1 µs for a short URL, 3 µs for one with a long path and a date; `filters.py` caches results.
There are no back-references over the path, for which StormCrawler calls Nutch's pattern "very
time-consuming".
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from gossamer.config import FilterConfig

BEFORE_PATH = 3
"""Parts of a URL between slashes before its path: the scheme, an empty part and the host."""
YEARS = range(1000, 3000)
"""Numbers of four digits that may be a year."""
LOOKBACK = 64
"""Characters before a year that are searched for a word that announces it. It bounds the cost of
hostile URLs."""

_SMALL_NUMBER = re.compile(r"[0-9]{1,3}")
_MONTH, _DAY = r"(?:0[1-9]|1[0-2])", r"(?:0[1-9]|[12][0-9]|3[01])"
_LOOSE_MONTH, _LOOSE_DAY = r"(?:0?[1-9]|1[0-2])", r"(?:0?[1-9]|[12][0-9]|3[01])"

# The text after the year.
_STRICT = re.compile(rf"([/-]){_MONTH}\1{_DAY}(?![0-9])|/0[1-9](?![^/?])")
_LOOSE = re.compile(rf"(?:[/-]{_LOOSE_MONTH}(?:[/-]{_LOOSE_DAY})?|{_MONTH}{_DAY})(?![0-9A-Za-z])")
# The text before the year.
_ANNOUNCED = re.compile(
    r"(?:(?<![a-z])(?:calend[a-z]*|kalend[a-z]*|agenda|diary|events|termine"
    r"|months?|monat|mois|weeks?|days?|dates?)|date)(?=[/?.=_])[^0-9]*$",
    re.IGNORECASE,
)
_YEAR_PARAMETER = re.compile(r"[?&](?:[^=&]*(?:year|jahr)|yr?)=$", re.IGNORECASE)
_MONTH_PARAMETER = re.compile(  # some count from 0
    r"[?&](?:[^=&]*(?:month|monat)|mon?|mm?)=(?:0?[0-9]|1[0-2])(?![^&])", re.IGNORECASE
)


class Traps:
    """Reasons `path_segments`, `repeated`, `parameters` and `calendar`: see the module's docstring.

    `year` is the current year.
    """

    def __init__(self, config: FilterConfig, year: int) -> None:
        self._max_segments = config.max_path_segments
        self._max_repeats = config.max_repeats
        self._max_parameters = config.max_parameters
        last = year + config.calendar_years_ahead
        self._outside = year_outside(config.calendar_from_year, last)

    def reject(self, url: str) -> str | None:
        path, _, query = url.partition("?")
        parts = path.split("/")
        # A slash at the end does not add a segment.
        if len(parts) - (not parts[-1]) > BEFORE_PATH + self._max_segments:
            return "path_segments"
        # Segments are only counted for the few URLs with enough equal parts.
        if (
            len(parts) > BEFORE_PATH + self._max_repeats
            and len(parts) - len(set(parts)) >= self._max_repeats
            and self._repeats(parts)
        ):
            return "repeated"
        if query and query.count("&") >= self._max_parameters:
            return "parameters"
        found = self._outside.search(url)
        while found:
            if is_date(url, found.end()):
                return "calendar"
            found = self._outside.search(url, found.end())
        return None

    def _repeats(self, parts: Sequence[str]) -> bool:
        segments = parts[BEFORE_PATH:] if parts[-1] else parts[BEFORE_PATH:-1]
        return any(
            count > self._max_repeats and not _SMALL_NUMBER.fullmatch(segment)
            for segment, count in Counter(segments).items()
        )


def is_date(url: str, after: int) -> bool:
    """Whether the four digits that end at position `after` of a URL are the year of a date."""
    if _STRICT.match(url, after):
        return True
    year = after - 4
    start = max(0, year - LOOKBACK)
    if _LOOSE.match(url, after):
        return _ANNOUNCED.search(url, start, year) is not None
    return (
        url[after : after + 1] in {"", "&"}
        and _YEAR_PARAMETER.search(url, start, year) is not None
        and _MONTH_PARAMETER.search(url) is not None
    )


@lru_cache(maxsize=1)
def year_outside(first: int, last: int) -> re.Pattern[str]:
    """A pattern for a year of YEARS that is not from the first to the last, and what precedes it.

    It takes 4 ms to make.
    """
    outside = [str(year) for year in YEARS if not first <= year <= last]
    return re.compile(f"[/=]{one_of(outside)}")


def one_of(numbers: Collection[str]) -> str:
    """A pattern that matches these digit strings, which have equal lengths: a compressed trie."""
    if not numbers:
        return "(?!)"
    if "" in numbers:
        return ""
    digits: dict[str, str] = {}
    for digit in sorted({number[0] for number in numbers}):
        below = one_of({number[1:] for number in numbers if number[0] == digit})
        digits[below] = digits.get(below, "") + digit
    return "(?:" + "|".join(f"[{first}]{below}" for below, first in digits.items()) + ")"
