"""When a page was published and when it was changed.

Facts: many pages contain a dozen dates, most of which belong to other pages: teasers, comments,
breadcrumbs. Decisions: a date counts if something ties it to the page: schema.org's node for the
main work, a meta element, a time element beside the main heading, the text beside that
(`shown_dates.py`), or the URL. Elements that may belong to anything count only if all of them
agree. Dates in the future are rejected, and so are modifications before the publication.

The day is the one that the page's readers see, although the instant is in UTC: a date with a zone
is moved into its day if it would be in another one.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING

from gossamer.parse.reading.date_labels import CHANGED, PUBLISHED
from gossamer.parse.reading.dates import CLOCK_ERROR, parse_day

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gossamer.parse.html.head_metadata import HeadMetadata, ShownDate, Time
    from gossamer.parse.html.schema_org import Nodes

MAX_URL_CHARS = 10_000
NEAR_HEADING = range(-15, 64)
"""Distances from a main heading at which a time element belongs to it, in lines. On 25 pages, the
page's date is within 13 lines on 15, within 35 on 21, and within 62 on all; the nearest date of a
teaser is 70 lines away."""
ONE_DAY = timedelta(days=1)
FIRST_URL_DATE = datetime(1990, 1, 1, tzinfo=UTC)

_CHANGED = frozenset(
    ("updated", "modified", "dateline-modified", "date-modified", "date-updated", "datemodified")
)
_DATE_IN_PATH = re.compile(
    r"(?:/(?P<y1>(?:19|20)\d\d)/(?P<m1>\d\d?|[a-z]{3})/(?P<d1>\d\d?)(?=/|$)"
    r"|(?<!\d)(?P<y2>(?:19|20)\d\d)(?P<dash>[-_]?)(?P<m2>[01]\d)(?P=dash)(?P<d2>[0-3]\d)(?!\d))",
    re.ASCII,
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def page_dates(
    found: HeadMetadata, nodes: Nodes, addresses: Iterable[str], fetched: datetime | None
) -> tuple[datetime | None, datetime | None]:
    """Return the dates of publication and of modification.

    `addresses` are the page's URLs; dates after `fetched`, if given, are rejected.
    """
    latest = None if fetched is None else fetched + CLOCK_ERROR
    meta = found.meta_contents
    beside_heading = _times_near_headings(found.times, found.headlines)
    shown = [each for each in found.shown if latest is None or each.date <= latest]
    published = _date(
        chain(
            nodes.texts("datePublished", "uploadDate"),
            meta("published"),
            _agreed_texts(time.value for time in found.times if time.pubdate),
            (time.value for time in beside_heading if not _is_change(time)),
        ),
        latest,
    )
    published = published or next((each.date for each in shown if each.label == PUBLISHED), None)
    modified = _date(
        chain(
            nodes.texts("dateModified"),
            meta("modified"),
            (time.value for time in beside_heading if _is_change(time)),
        ),
        latest,
    )
    modified = modified or next((each.date for each in shown if each.label == CHANGED), None)
    for address in addresses:
        published = published or url_date(address, latest)
    published = published or _date(nodes.texts("dateCreated"), latest)
    if published is None:
        published = next((each.date for each in shown if _may_be_own(each, fetched)), None)
    if modified and published and modified < published:
        modified = None
    if published is not None:
        published = _on_shown_day(published, shown)
        modified = modified and max(modified, published)
    return published, modified


def _date(texts: Iterable[str], latest: datetime | None) -> datetime | None:
    for text in texts:
        date = parse_day(text)
        if date is not None and (latest is None or date <= latest):
            return date
    return None


def _may_be_own(shown: ShownDate, fetched: datetime | None) -> bool:
    """Whether a date without a label is the page's: above the headline, it may be today's."""
    if shown.label is not None:
        return False
    return not shown.is_above or fetched is None or fetched - shown.date > 2 * ONE_DAY


def _on_shown_day(published: datetime, shown: Iterable[ShownDate]) -> datetime:
    """Return the date, moved to the day that the page shows if that is the one before or after.

    Metadata are often in UTC, and a page shows the day where its readers are.
    """
    days = [each.date for each in shown if each.label == PUBLISHED]
    days = days or [each.date for each in shown if each.label is None]
    midnight = published.replace(hour=0, minute=0, second=0, microsecond=0)
    if midnight in days:
        return published
    if midnight + ONE_DAY in days:
        return midnight + ONE_DAY
    return midnight - timedelta(seconds=1) if midnight - ONE_DAY in days else published


def _agreed_texts(texts: Iterable[str]) -> set[str]:
    """Return nothing if the texts differ: teasers have dates too."""
    different = set(texts)
    return different if len(different) == 1 else set()


def _times_near_headings(times: Iterable[Time], headings: list[int]) -> list[Time]:
    """Return the time elements near a main heading, the nearest first."""
    near = [
        (abs(distance), time)
        for time in times
        for place in headings
        if (distance := time.line - place) in NEAR_HEADING
    ]
    return [time for _, time in sorted(near, key=itemgetter(0))]


def _is_change(time: Time) -> bool:
    return not _CHANGED.isdisjoint(time.words) and "published" not in time.words


def url_date(url: str, latest: datetime | None = None) -> datetime | None:
    """Return the date in a URL's path, as blogs and newspapers write it, unless after `latest`.

    >>> url_date("https://example.org/2024/05/01/title.html")
    datetime.datetime(2024, 5, 1, 0, 0, tzinfo=datetime.timezone.utc)
    """
    path = url[:MAX_URL_CHARS].partition("?")[0].partition("#")[0]
    for match in _DATE_IN_PATH.finditer(path.lower()):
        year, month, day = match.group(*(("y1", "m1", "d1") if match["y1"] else ("y2", "m2", "d2")))
        number = _MONTHS.index(month) + 1 if month in _MONTHS else month
        try:
            date = datetime(int(year), int(number), int(day), tzinfo=UTC)
        except ValueError:
            continue
        if date >= FIRST_URL_DATE and (latest is None or date <= latest):
            return date
    return None
