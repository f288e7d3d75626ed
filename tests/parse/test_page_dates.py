"""Which of a page's dates is that of its publication, and which of its last change."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from gossamer.parse.html.head_metadata import HeadMetadata, ShownDate
from gossamer.parse.html.page_dates import NEAR_HEADING, page_dates, url_date
from gossamer.parse.html.schema_org import Nodes
from gossamer.parse.reading.date_labels import CHANGED, PUBLISHED
from gossamer.parse.reading.dates import CLOCK_ERROR

MAY = datetime(2024, 5, 1, tzinfo=UTC)
URL = "https://example.org/x"


def day(number: int) -> datetime:
    return MAY + timedelta(days=number - 1)


def shown(number: int, label: str | None = None, *, is_above: bool = False) -> ShownDate:
    return ShownDate(day(number), label, is_above)


def days(
    found: HeadMetadata,
    url: str = URL,
    fetched: datetime | None = None,
    /,
    **properties: str,
) -> tuple[int | None, int | None]:
    """The days of May of both dates."""
    nodes = Nodes([{"@type": "Article", **properties}], [url])
    return tuple(each and each.day for each in page_dates(found, nodes, [url], fetched))  # type: ignore[return-value]


def with_meta(**names: str) -> HeadMetadata:
    found = HeadMetadata()
    for name, content in names.items():
        found.add_meta({"name": name.replace("_", ":"), "content": content})
    return found


def test_sources_are_asked_in_the_order_of_trust() -> None:
    found = with_meta(date="2024-05-02", lastmod="2024-05-12")
    found.add_time({"datetime": "2024-05-03", "pubdate": ""}, "", 200)
    found.add_time({"datetime": "2024-05-04"}, "", 11)
    found.add_time({"datetime": "2024-05-14", "class": "updated"}, "", 12)
    found.add_h1(10)
    found.shown = [shown(9, PUBLISHED), shown(15, CHANGED), shown(8)]
    url = "https://example.org/2024/05/06/x"
    properties = {
        "datePublished": "2024-05-01",
        "uploadDate": "2024-05-20",
        "dateModified": "2024-05-11",
        "dateCreated": "2024-05-07",
    }
    assert days(found, url, **properties) == (1, 11)
    del properties["datePublished"], properties["dateModified"]
    assert days(found, url, **properties)[0] == 20
    del properties["uploadDate"]
    assert days(found, url, **properties) == (2, 12)
    found.meta.clear()
    assert days(found, url, **properties) == (3, 14)
    del found.times[0]
    assert days(found, url, **properties) == (4, 14)
    found.times.clear()
    assert days(found, url, **properties) == (9, 15)
    found.shown = found.shown[2:]
    assert days(found, url, **properties) == (6, None)
    assert days(found, **properties) == (8, None)  # the day that readers see
    found.shown.clear()
    assert days(found, **properties) == (7, None)
    assert days(found) == (None, None)
    found.shown = [shown(8)]
    assert days(found) == (8, None)


def test_dates_after_the_fetch_are_rejected() -> None:
    fetched = day(10)
    late = (day(10) + CLOCK_ERROR).isoformat()
    later = (day(10) + CLOCK_ERROR + timedelta(seconds=1)).isoformat()
    assert days(HeadMetadata(), URL, fetched, datePublished=late)[0] is not None
    assert days(HeadMetadata(), URL, fetched, datePublished=later)[0] is None
    assert days(HeadMetadata(), datePublished=later)[0] is not None
    found = HeadMetadata()
    found.shown = [shown(20, PUBLISHED), shown(2)]
    assert days(found, URL, fetched) == (2, None)
    assert days(found) == (20, None)


@pytest.mark.parametrize(
    ("is_above", "age", "is_believed"),
    [(False, 0, True), (True, 0, False), (True, 2, False), (True, 3, True)],
)
def test_a_date_above_the_headline_may_be_that_of_today(
    is_above: bool, age: int, is_believed: bool
) -> None:
    found = HeadMetadata()
    found.shown = [shown(10, is_above=is_above)]
    assert (days(found, URL, day(10 + age))[0] is not None) is is_believed
    assert days(found)[0] == 10


def test_times_with_pubdate_must_agree() -> None:
    found = HeadMetadata()
    for value, pubdate in (("2024-05-03", True), ("2024-05-03", True), ("2024-05-04", False)):
        found.add_time({"datetime": value, **({"pubdate": ""} if pubdate else {})}, "", 0)
    assert days(found) == (3, None)
    found.add_time({"datetime": "2024-05-05", "pubdate": ""}, "", 0)
    assert days(found) == (None, None)


def test_the_time_element_nearest_to_a_heading_counts() -> None:
    found = HeadMetadata()
    found.add_h1(100)
    for line, number in ((97, 1), (102, 2), (98, 3)):
        found.add_time({"datetime": f"2024-05-0{number}"}, "", line)
    assert days(found)[0] == 2
    found.add_h1(96)
    assert days(found)[0] == 1
    for line in (100 + NEAR_HEADING.start - 1, 100 + NEAR_HEADING.stop):
        found = HeadMetadata()
        found.add_h1(100)
        found.add_time({"datetime": "2024-05-01"}, "", line)
        assert days(found)[0] is None
        found.headlines[0] += 1 if line > 100 else -1
        assert days(found)[0] == 1


@pytest.mark.parametrize(
    ("classes", "dates"),
    [
        ("updated", (None, 1)),
        ("date-modified x", (None, 1)),
        ("published", (1, None)),
        ("published updated", (1, None)),
        ("x", (1, None)),
    ],
)
def test_classes_say_whether_a_time_is_that_of_a_change(
    classes: str, dates: tuple[int | None, int | None]
) -> None:
    found = HeadMetadata()
    found.add_h1(0)
    found.add_time({"datetime": "2024-05-01", "class": classes}, "", 0)
    assert days(found) == dates


@pytest.mark.parametrize(
    ("published", "modified", "dates"),
    [
        ("2024-05-02", "2024-05-01", (2, None)),
        ("2024-05-02", "2024-05-02", (2, 2)),
        ("2024-05-02", "2024-05-03", (2, 3)),
        ("", "2024-05-03", (None, 3)),
    ],
)
def test_no_page_changes_before_its_publication(
    published: str, modified: str, dates: tuple[int | None, int | None]
) -> None:
    assert days(HeadMetadata(), datePublished=published, dateModified=modified) == dates


@pytest.mark.parametrize(
    ("seen", "published"),
    [
        ([], "2024-05-02T22:00:00+00:00"),
        ([shown(2)], "2024-05-02T22:00:00+00:00"),
        ([shown(3)], "2024-05-03T00:00:00+00:00"),
        ([shown(1)], "2024-05-01T23:59:59+00:00"),
        ([shown(4)], "2024-05-02T22:00:00+00:00"),
        ([shown(1), shown(3)], "2024-05-03T00:00:00+00:00"),
        ([shown(1), shown(2), shown(3)], "2024-05-02T22:00:00+00:00"),
        ([shown(1, PUBLISHED), shown(3)], "2024-05-01T23:59:59+00:00"),
        ([shown(3, CHANGED)], "2024-05-02T22:00:00+00:00"),
    ],
)
def test_the_instant_is_moved_into_the_day_that_readers_see(
    seen: list[ShownDate], published: str
) -> None:
    found = HeadMetadata()
    found.shown = seen
    nodes = Nodes([{"@type": "Article", "datePublished": "2024-05-02T22:00:00Z"}], [URL])
    date, _ = page_dates(found, nodes, [URL], None)
    assert date is not None
    assert date.isoformat() == published


def test_a_change_is_moved_with_the_publication() -> None:
    found = HeadMetadata()
    found.shown = [shown(3)]
    properties = {"datePublished": "2024-05-02T22:00:00Z", "dateModified": "2024-05-02T23:00:00Z"}
    assert days(found, **properties) == (3, 3)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/2024/05/01/title", "2024-05-01"),
        ("/2024/5/1", "2024-05-01"),
        ("/2024/MAY/01/", "2024-05-01"),
        ("/2024/jan/01/", "2024-01-01"),
        ("/2023/dec/31/", "2023-12-31"),
        ("/2024/xyz/01/", None),
        ("/2024/05/", None),
        ("/a-2024-05-01-b", "2024-05-01"),
        ("/a20240501b", "2024-05-01"),
        ("/a2024_05_01b", "2024-05-01"),
        ("/a2024-05_01b", None),
        ("/a120240501b", None),
        ("/a202405012b", None),
        ("/2024/02/30/x/2024/02/29/", "2024-02-29"),
        ("/1989/12/31/", None),
        ("/1990/01/01/", "1990-01-01"),
        ("/2024/06/02/", None),
        ("/2024/06/01/", "2024-06-01"),
        ("/2024/06/02/x/2024/05/01/", "2024-05-01"),
        ("/x?/2024/05/01/", None),
        ("/x#/2024/05/01/", None),
    ],
)
def test_dates_in_paths(path: str, expected: str | None) -> None:
    date = url_date(f"https://example.org{path}", datetime(2024, 6, 1, tzinfo=UTC))
    assert (date and date.date().isoformat()) == expected
