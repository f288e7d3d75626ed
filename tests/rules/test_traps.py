from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.config import FilterConfig
from gossamer.fakeweb.web import Web
from gossamer.rules.filters import Filters, UrlFilter
from gossamer.rules.traps import Traps, one_of
from gossamer.web.urls import normalize, normalize_all

YEAR = 2026
TRAPS = Traps(FilterConfig(), YEAR)
E_ORG = "https://e.org"


def reason(rest: str, traps: Traps = TRAPS) -> str | None:
    return traps.reject(E_ORG + rest)


def test_it_is_a_filter() -> None:
    assert isinstance(TRAPS, UrlFilter)


@pytest.mark.parametrize(
    ("segments", "slash", "expected"),
    [(25, "", None), (25, "/", None), (26, "", "path_segments"), (26, "/", "path_segments")],
)
def test_path_segments(segments: int, slash: str, expected: str | None) -> None:
    path = "".join(f"/s{n}" for n in range(segments)) + slash
    assert reason(path) == expected
    assert reason("/x?path=" + path) is None


@pytest.mark.parametrize(("path", "expected"), [("/a/b/", None), ("/a/b/c", "path_segments")])
def test_path_segments_may_be_fewer_than_equal_ones(path: str, expected: str | None) -> None:
    assert reason(path, Traps(FilterConfig(max_path_segments=2, max_repeats=9), YEAR)) == expected


@pytest.mark.parametrize(
    "path",
    [
        "/a/a/a/a",
        "/a/b/a/b/a/b/a/b/",
        "/blog/x/blog/y/blog/z/blog/",
        "/images/de/images/css/images/images/x.html?a=1",
        "/en/x/en/en/en",
        "/2024/01/2024/01/2024/01/2024/01/",
        "/x/////",
        "/start/%7Bid%7D/%7Bid%7D/%7Bid%7D/%7Bid%7D",
    ],
)
def test_a_segment_that_repeats(path: str) -> None:
    assert reason(path) == "repeated"


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/a/b/a/b",
        "/a/a/a",
        "/a/a/a/b/b",
        "/x////",
        "/2024/01/01/",
        "/01/01/01/01/01",
        "/numpy/numpy/tree/main/numpy",  # github.com
        "/django/django/blob/main/django/db/models/base.py",
        "/apache/spark/blob/master/core/src/main/scala/org/apache/spark/SparkContext.scala",
        "/ukpga/2004/1/schedule/1/part/1/paragraph/1/1",  # legislation.gov.uk
        "/12/0/0/0/0.html",
        "/web/2020/http://e.org/a",
        "/a?path=/a/a/a/a/a/a",
    ],
)
def test_segments_of_real_sites_may_repeat(path: str) -> None:
    assert reason(path) is None


def test_a_word_announces_a_year_from_nearby_only() -> None:
    """So that a long URL with many years costs no more than its length."""
    assert reason(f"/calendar/{'x' * 40}/2050-3") == "calendar"
    assert reason(f"/calendar/{'x' * 80}/2050-3") is None


@pytest.mark.parametrize(("count", "expected"), [(1, None), (20, None), (21, "parameters")])
def test_parameters(count: int, expected: str | None) -> None:
    query = "&".join(f"f{n}=1" for n in range(count))
    assert reason(f"/?{query}") == expected


def test_an_ampersand_in_a_path_is_no_parameter() -> None:
    assert reason("/" + "&" * 40) is None


def test_no_query_at_all_where_none_is_allowed() -> None:
    none = Traps(FilterConfig(max_parameters=0), YEAR)
    assert [reason(rest, none) for rest in ("/", "/?a", "/?a&b")] == [None] + ["parameters"] * 2


# {y} stands for a year.
DATES = [
    "/{y}/03/",
    "/{y}/03",
    "/blog/{y}/03?page=2",
    "/{y}/03/09/",
    "/{y}/12/31/a-story.html",
    "/{y}-03-09",
    "/{y}-12-31-a-story/",
    "/events/{y}-03/",
    "/events/month/{y}-12/",
    "/calendar/{y}/3/",
    "/calendar/{y}/12",
    "/Calendar/{y}/3/9",
    "/kalender/monat/{y}-3",
    "/calendrier/{y}/3",
    "/events/?tribe-bar-date={y}-03-09",
    "/?month={y}-03",
    "/?date={y}0309",
    "/?startdate={y}0309&view=day",
    "/?a=b&day={y}-3-9",
    "/?date={y}/03/09",
    "/cal.php?month=3&year={y}",
    "/cal.php?year={y}&x=1&month=11",
    "/cal.php?y={y}&m=0",
    "/cal?calMonth=3&calYear={y}",
]


@pytest.mark.parametrize("form", DATES)
def test_a_date_outside_of_the_window(form: str) -> None:
    years = (1000, 1699, 1700, 1848, YEAR, YEAR + 5, YEAR + 6, 2999)
    reasons = [reason(form.format(y=year)) for year in years]
    assert reasons == ["calendar"] * 2 + [None] * 4 + ["calendar"] * 2


@pytest.mark.parametrize(
    "rest",
    [
        "/2050/",
        "/wiki/2050",
        "/1066/battle-of-hastings",
        "/agenda-2063/goals",
        "/the-year-2050-03",
        "/net-zero-2050/03/",  # the year begins no segment
        "/2050-vision/",
        "/thread/2050/3",  # page 3 of a thread
        "/thread/1499/12/",
        "/event/2050/3",
        "/parts/2140-08",
        "/parts/2140-08-1234",
        "/tel/2125-03-1234",
        "/tel/1300-123-456",
        "/isbn/2070-04-31415",
        "/updates/2050/3",
        "/days-of-thunder/2100/3",
        "/room/20500309",
        "/item?id=20500309",
        "/item?id=2050&page=3",
        "/item?year=2050",
        "/item?year=2050x&month=3",
        "/item?year=2050&month=13",
        "/item?leapyearly=2050&month=3",
        "/item?birthday=x&id=2050-3",
        "/?date=161212",  # YYMMDD
        "/?date=15122024",  # DDMMYYYY
        "/?date=1700000000",  # seconds since 1970
        "/?date=2050-13-01",
        "/calendar/2050/13",
        "/calendar/2050/3d-printing",
        "/calendar/12/2050/3",
        "/calendar/12050/3",
        "/10.1000/2050.03.09",  # DOI
        "/abs/2101.00001",  # arXiv
    ],
)
def test_numbers_that_are_no_dates(rest: str) -> None:
    assert reason(rest) is None


def test_a_second_date_counts_too() -> None:
    assert reason("/2024/03/09/2050/03/") == "calendar"
    assert reason("/item/2050/2051-03-09") == "calendar"


def test_the_window_is_a_setting() -> None:
    narrow = Traps(FilterConfig(calendar_from_year=YEAR, calendar_years_ahead=0), YEAR)
    reasons = [reason(f"/{year}/03/", narrow) for year in (YEAR - 1, YEAR, YEAR + 1)]
    assert reasons == ["calendar", None, "calendar"]
    wide = Traps(FilterConfig(calendar_from_year=0, calendar_years_ahead=3000), YEAR)
    assert not any(reason(form.format(y=year), wide) for form in DATES for year in (1000, 2999))


@given(st.sets(st.integers(1000, 2999), max_size=50))
def test_a_pattern_for_exactly_these_numbers(numbers: set[int]) -> None:
    pattern = re.compile(one_of([str(number) for number in numbers]))
    assert {n for n in range(1000, 3000) if pattern.fullmatch(str(n))} == numbers


@pytest.mark.parametrize(
    "rest",
    [
        "/" + "date/" * 20 + "?" + "date/" * 180 + "/2050-3x" * 120,
        "/?" + "date=2050-3x" * 160,
        "/?year=" + "/2050" * 390,
        "/?" + "yearmonth" * 200 + "=2050",
        "/?" + "=2050&" * 19 + "=2050" * 370,
        "/" + "2050-03/" * 240,
    ],
)
def test_hostile_urls_cost_little(rest: str) -> None:
    start = time.process_time()
    for _ in range(100):
        reason(rest)
    assert time.process_time() - start < 3


PIECES = st.sampled_from(
    [*"/?&=-;:@%#", "2050", "1066", "03", "3", "date", "calendar", "year=", "month=", "a", "é", "["]
)


@given(st.lists(PIECES, max_size=60).map("".join) | st.text())
def test_no_url_makes_it_fail(rest: str) -> None:
    if url := normalize(f"http://e.org/{rest}"):
        assert TRAPS.reject(url) in {None, "path_segments", "repeated", "parameters", "calendar"}
    TRAPS.reject(rest)


@pytest.mark.parametrize("seed", [3, 7])
def test_pages_of_the_deterministic_web_are_not_dropped(seed: int) -> None:
    web = Web(seed=seed, hosts=60, pages_per_host=80)
    made = Filters.from_config(FilterConfig(scope="any"), (), plugins={}, year=YEAR)
    for host in web.hosts():
        assert set(made.reject_all(list(web.urls(host)), 1)) == {None}


def test_its_calendar_ends() -> None:
    urls = [f"http://e.org/calendar/{2024 + n // 12}/{n % 12 + 1}/" for n in range(24 * 12)]
    assert [TRAPS.reject(url) for url in urls].index("calendar") == (YEAR + 6 - 2024) * 12
    week = "http://e.org/calendar/2024/1/" + "week/" * 4
    assert TRAPS.reject(week) == "repeated"


HREF = re.compile(r'href="([^"]*)"')


@pytest.mark.parametrize(
    "folder", ["/usr/share/doc/python3.11/html", "/usr/share/doc/debian-handbook/html"]
)
def test_links_of_real_manuals_are_not_dropped(folder: str) -> None:
    files = sorted(Path(folder).rglob("*.html"))
    if not files:
        pytest.skip(f"no HTML in {folder}")
    urls: set[str] = set()
    for file in files[:: max(1, len(files) // 200)]:
        base = "http://docs.example.org/" + file.relative_to(folder).as_posix()
        found = HREF.findall(file.read_text(encoding="utf-8", errors="replace"))
        urls.update(url for url in normalize_all(found, base) if url)
    assert len(urls) > 500
    assert {url: why for url in urls if (why := TRAPS.reject(url))} == {}


def test_no_digits_match_a_pattern_of_no_numbers() -> None:
    assert re.search(one_of([]), "1") is None
    assert re.search(one_of([]), "") is None
