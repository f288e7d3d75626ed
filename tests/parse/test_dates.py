from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta, timezone
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.parse.reading.dates import END, EPOCH, MAX_CHARS, parse_date

DAY = datetime(2024, 5, 1, tzinfo=UTC)
MINUTE = DAY.replace(hour=10, minute=20)
SECOND = MINUTE.replace(second=30)


@pytest.mark.parametrize(
    ("text", "date"),
    [
        # W3C-DTF, ISO 8601, RFC 3339
        ("2024", datetime(2024, 1, 1, tzinfo=UTC)),
        ("2024-05", DAY),
        ("2024-05-01", DAY),
        ("20240501", DAY),
        ("2024-W18-3", DAY),
        ("2024-05-01T10:20Z", MINUTE),
        ("2024-05-01T10:20:30Z", SECOND),
        ("2024-05-01t10:20:30z", SECOND),
        ("2024-05-01T10:20:30.25Z", SECOND.replace(microsecond=250_000)),
        ("2024-05-01T10:20:30.123456789Z", SECOND.replace(microsecond=123_456)),
        ("2024-05-01T12:20:30+02:00", SECOND),
        ("2024-05-01T12:20:30+0200", SECOND),
        ("2024-05-01T12:20:30+02", SECOND),
        ("2024-05-01T05:50:30-04:30", SECOND),
        ("20240501T102030Z", SECOND),
        ("2024-05-01T24:00:00", DAY + timedelta(days=1)),
        ("2024-05-01T23:59:60Z", datetime(2024, 5, 1, 23, 59, 59, tzinfo=UTC)),
        ("2024-05-02+02:00", datetime(2024, 5, 1, 22, tzinfo=UTC)),
        ("2024-05-01Z", DAY),
        # … and what stands for them
        ("2024-5-1", DAY),
        ("2024/05/01", DAY),
        ("2024-05-01 10:20:30", SECOND),
        ("2024-05-01 10:20:30 UTC", SECOND),
        ("2024-05-01 12:20:30 +0200", SECOND),
        ("2024-05-01T12:20:30+02:00[Europe/Berlin]", SECOND),
        (" \n2024-05-01\t", DAY),
        ("20240501102030", SECOND),
        # RFC 822, 850, 1123, 5322
        ("Wed, 01 May 2024 10:20:30 GMT", SECOND),
        ("Wed, 1 May 2024 10:20 UT", MINUTE),
        ("1 May 24 10:20:30 Z", SECOND),
        ("Wed, 01 May 2024 06:20:30 EDT", SECOND),
        ("Wed, 01 May 2024 02:20:30 PST", SECOND),
        ("Wed, 01 May 2024 12:20:30 CEST", SECOND),
        ("Wed, 01 May 2024 15:50:30 IST", SECOND),
        ("Wed, 01 May 2024 10:20:30 A", SECOND),
        ("Wed, 01 May 2024 10:20:30 NOPE", SECOND),
        ("Wed, 01 May 2024 06:20:30 -0400 (EDT)", SECOND),
        ("Wed, 01 May 2024 10:20:30 -0000", SECOND),
        ("Wed,01 May 2024 12:20:30 GMT+2", SECOND),
        ("wed, 01 MAY 2024 10:20:30 gmt", SECOND),
        ("Wednesday, 01-May-24 10:20:30 GMT", SECOND),
        ("Mi, 01 May 2024 10:20:30", SECOND),
        ("Sat, 01 May 2024 10:20:30 GMT", SECOND),  # it was a Wednesday; the number is believed
        ("Wed, 01 May 2024", DAY),
        ("Wed, 01 May 2024 GMT", DAY),
        # programs
        ("Wed May  1 10:20:30 2024", SECOND),
        ("Wed May  1 12:20:30 CEST 2024", SECOND),
        ("Wed May 01 12:20:30 +0200 2024", SECOND),
        ("Wed May 01 2024 12:20:30 GMT+0200 (Central European Summer Time)", SECOND),
        ("1714558830", SECOND),
        ("1714558830250", SECOND.replace(microsecond=250_000)),
        # people
        ("1 May 2024", DAY),
        ("1st May 2024, 10:20", MINUTE),
        ("1. May 2024", DAY),
        ("May 1, 2024", DAY),
        ("May 1st, 2024 at 10:20 a.m.", MINUTE),
        ("Wednesday, May 1, 2024 6:20 AM EDT", MINUTE),
        ("May 1, 2024 12:20 am", DAY.replace(minute=20)),
        ("May 1, 2024 12:20 PM", DAY.replace(hour=12, minute=20)),
        ("May 1, 2024 3:05 p.m.", DAY.replace(hour=15, minute=5)),
        ("Sept. 3, 2024", datetime(2024, 9, 3, tzinfo=UTC)),
        ("May 2024", DAY),
        ("01.05.2024", DAY),
        ("1.5.2024 10:20", MINUTE),
    ],
)
def test_dates_as_they_are_written(text: str, date: datetime) -> None:
    assert parse_date(text) == date


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "\0", "never", "{{ date }}", "[object Object]", "NaN", "Invalid Date", "-1"),
        *("2024-13-01", "2024-02-30", "31 Feb 2024", "Wed, 00 May 2024 10:20:30 GMT"),
        *("2024-05-01T25:00:00", "2024-05-01T10:60:00", "Wed, 01 May 2024 10:20:61 GMT"),
        *("2024-05-01T10:20:30+15:00", "2024-05-01 10:20:30 -2500", "1 May 2024 10:20 +0075"),
        *("05/01/2024", "1/5/24", "01-05-2024"),  # which is the month?
        *("0000-00-00 00:00:00", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"),
        *("1970-01-01T00:00:00Z", "Thu, 01 Jan 1970 00:00:00 GMT", "1969-12-31", "2100-01-01"),
        *("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "99999-01-01"),
        *(
            "1 Mayhem 2024",
            "Published 1 May 2024",
            "1 May 2024 and later",
            "May",
            "10:20",
            "202405",
        ),
        *("٢٠٢٤-٠٥-٠١", "２０２４", "\ud800", "2024-05-01\ud80010:20"),
        "1 May 2024" + " " * MAX_CHARS + "10:20",
    ],
)
def test_what_is_no_date_or_none_that_can_be(text: str) -> None:
    assert parse_date(text) is None


@given(
    st.datetimes(datetime(1970, 1, 2), datetime(2099, 12, 31)),  # noqa: DTZ001  # with one below
    st.integers(-14 * 60, 14 * 60),
)
def test_what_programs_write_is_read(naive: datetime, offset_minutes: int) -> None:
    date = naive.replace(tzinfo=timezone(timedelta(minutes=offset_minutes)))
    second = date.replace(microsecond=0)
    in_range = second > EPOCH and date < END
    assert parse_date(date.isoformat()) == (date if EPOCH < date < END else None)
    for text in (
        format_datetime(second),
        second.strftime("%a %b %d %Y %H:%M:%S GMT%z (Some Summer Time)"),
        second.strftime("%a %b %d %H:%M:%S %z %Y"),
        second.strftime("%B %d, %Y, %I:%M:%S %p %z"),
        second.strftime("%Y/%m/%d %H:%M:%S %z"),
    ):
        assert parse_date(text) == (second if in_range else None), text


WORDS = st.sampled_from(
    [
        *("Wed", "May", "Sept", "1", "01", "31", "2024", "24", "99", "10:20", "10:20:30", "24:00"),
        *("am", "p.m.", "GMT", "EST", "+0200", "-9", "T", "Z", ",", ".", "-", "/", ":", "(", "["),
        *(" ", "1st", "at", "1714558830", "99999999999999", "٣", "\ud800", "\0"),
    ]
)


@given(st.one_of(st.text(), st.lists(WORDS).map(" ".join), st.lists(WORDS).map("".join)))
def test_no_text_raises(text: str) -> None:
    date = parse_date(text)
    assert date is None or (EPOCH < date < END and date.tzinfo is UTC)


@pytest.mark.parametrize("piece", [" ", "1", "1 ", "May ", "1st, ", "a", "10:20 ", "(", "-", "+1"])
def test_time_does_not_grow_with_the_text(piece: str) -> None:
    start = time.process_time()
    for length in range(MAX_CHARS + 1):
        parse_date((piece * MAX_CHARS)[:length])
    parse_date(piece * 1_000_000)
    assert time.process_time() - start < 1
