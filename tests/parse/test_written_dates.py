from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from babel import Locale
from babel.dates import format_date
from hypothesis import given
from hypothesis import strategies as st

from gossamer.parse.reading.date_labels import CHANGED, OTHER, PUBLISHED, label_of
from gossamer.parse.reading.written_dates import END_YEAR, FIRST_YEAR, month_of, written_dates

MAY = date(2024, 5, 1)
LOCALES = """en de fr es it pt nl ca gl eu ro pl cs sk sl hr bs mk bg ru uk be sv da nb fi et lv lt
    hu tr el sq ar he fa hi bn th id ms ka hy is cy af sw fil mt"""

SPOKEN = "en de fr es it pt nl pl cs ru uk sv da fi hu tr el ja zh ko ca ro"


def found(text: str, language: str = "") -> list[date]:
    return [each.date.date() for each in written_dates(text, language)]


@pytest.mark.parametrize("language", LOCALES.split())
def test_months_are_those_of_cldr(language: str) -> None:
    months = Locale.parse(language).months
    for context in ("format", "stand-alone"):
        for month, written in months[context]["wide"].items():
            name = written.lower().removeprefix("de ").removeprefix("d’").replace("\u200c", "")
            if " " not in name and not any(map(str.isdigit, name)):
                assert month_of(name, language) == month, name


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Posted on May 1st, 2024 by Ann", "en"),
        ("Wed 1 May, 2024", "en"),
        ("1-May-2024 10:20", "en"),
        ("Mittwoch, 1. Mai 2024, 10:20 Uhr", "de"),
        ("1er mai 2024", "fr"),
        ("1 de mayo de 2024", "es"),
        ("1º de maio de 2024 às 10h", "pt"),
        ("1 maggio 2024", "it"),
        ("1 de maig de 2024", "ca"),
        ("1. května 2024", "cs"),
        ("1 мая 2024 г., 10:20", "ru"),
        ("1 травня 2024", "uk"),
        ("1 Mayıs 2024 Çarşamba", "tr"),
        ("2024. május 1., szerda", "hu"),
        ("2024 m. gegužės 1 d.", "lt"),
        ("2024. gada 1. maijs", "lv"),
        ("2024年5月1日 10時20分", "ja"),
        ("令和6年5月1日", "ja"),
        ("民國113年5月1日", "zh-TW"),
        ("2024년 5월 1일", "ko"),
        ("1 พฤษภาคม 2567", "th"),
        ("١ مايو ٢٠٢٤", "ar"),
        ("1 במאי 2024", "he"),
        ("1 मई 2024", "hi"),
        ("ngày 1 tháng 5 năm 2024", "vi"),
        ("2024-05-01T10:20", "zh"),
        ("2024/5/1", "ja"),
        ("2024.05.01.", "ko"),
        ("01.05.2024", "de"),
        ("01.05.24", "de"),
        ("1/5/2024", "fr"),
        ("1/5/2024", "en-GB"),
        ("5/1/2024", "en-US"),
        ("5/1/2024", "en_US"),
        ("1\u200f/5\u200f/2024", "ar-EG"),
        ("1 พ.ค. 2567", "th"),
        ("๑ พ.ค. ๖๗ 10:20 น.", "th"),
        ("1 พ.ค. 24", "th"),
        ("วันพุธที่ 1 พฤษภาคม พ.ศ. 2567", ""),
        ("1 พฤษภาคม ค.ศ. 2024", "th"),
        ("1/5/67", "th"),
        ("1/5/24", "th"),
        ("R6.5.1", "ja"),
        ("更新日令和6/5/1", "ja"),
        ("令和6年(2024年)5月1日", "ja"),
        ("2024年（令和6年）5月1日", "ja"),
        ("令和6（2024）年5月1日", "ja"),
        ("㋿6年5月1日", "ja"),
        ("民國113/5/1", "zh"),
        ("113.05.01", "zh-TW"),
        ("113/05/01", "zh-TW"),
        ("113年5月1日", "zh-Hant"),
        ("چهارشنبه ۱۲ اردیبهشت ۱۴۰۳ - ۱۰:۲۰", "fa"),
        ("۱۲ اردیبهشت\u200cماه سال ۱۴۰۳", "fa"),
        ("۱۴۰۳ اردیبهشت ۱۲, چهارشنبه", "fa"),
        ("12 ارديبهشت 1403", ""),
        ("۱۴۰۳/۰۲/۱۲ - ۱۰:۲۰", "fa-IR"),
        ("1403-02-12", "fa"),
        ("۱۴۰۳/۲/۱۲", ""),
        ("۱۲/۰۲/۱۴۰۳", "fa"),
        ("۱۲ ثور ۱۴۰۳", "fa-AF"),
        ("۱۲ غویی ۱۴۰۳", "ps"),
        ("الأربعاء 22 شوال 1445 هـ", "ar-SA"),
        ("22\u200f/10\u200f/1445 هـ", "ar-SA"),
        ("1445/10/22", "ar-SA"),
        ("יום רביעי, כ״ג בניסן תשפ״ד", "he"),
        ('כ"ג ניסן ה\'תשפ"ד', ""),
        ("ሚያዝያ 23 ቀን 2016 ዓ.ም.", "am"),
        ("ረቡዕ፣ 23 ሚያዝያ 2016", "am"),
        ("ሚያዝያ 23/2016", "am-ET"),
        ("2024-05-01", "am"),
        # the same day twice
        ("۱۲ اردیبهشت ۱۴۰۳ (1/5/2024)", "fa"),
        ("22 شوال 1445 الموافق 1 مايو 2024", "ar-SA"),
    ],
)
def test_dates_as_people_write_them(text: str, language: str) -> None:
    assert found(text, language) == [MAY]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("5/1/2024", "en"),
        ("5/1/2024", ""),
        ("05.01.24", "en"),
        ("1.5.3.2024", "de"),
        ("31.02.2024", "de"),
        ("May 2024", "en"),
        ("1 bay 2024", "en"),
        ("6 June 1944", "en"),
        ("tel. 01-05-2024-33", "nl"),
        ("20240501", "en"),
        ("1:5:2024", "de"),
        ("24/05/01", "ja"),
        ("01/05/2024", "zh"),
        ("24.05.01", "ko"),
        ("۰۳/۰۲/۱۲", "fa"),
        ("1403/02/12", "de"),
        ("12 ثور 1403", "fa"),
        ("31 مهر 1403", "fa"),
        ("30 اسفند 1404", "fa"),
        ("22 شوال 1445", "ar"),
        ("22/10/45", "ar-SA"),
        ("23/8/2016", "am"),
        ("2016/8/23", "am"),
        ("ሚያዝያ 23/2016", "ti"),
        ("113/5/1", "zh-CN"),
        ("113年5月1日", "zh"),
        ("99/12/01", "zh-TW"),
        ("R6.5.1", "en"),
        ("R6.5.1", "zh"),
        ("r6.5.1", "ja"),
        ("XR6.5.1", "ja"),
        ("113.5.1", "zh-TW"),
        ("י״ד באדר תשפ״ד", "he"),  # of the first or the second Adar
        ("י״ד באדר ב׳ תשפ״ה", "he"),  # there is one
        ("ל״א בניסן תשפ״ד, ל׳ באייר תשפ״ד", "he"),
    ],
)
def test_what_is_no_date_or_has_two_meanings(text: str, language: str) -> None:
    assert found(text, language) == []


def test_a_month_that_has_two_names() -> None:
    assert found("12. listopada 2023.", "hr") == [date(2023, 10, 12)]
    assert found("12 listopada 2023", "pl") == [date(2023, 11, 12)]


def test_places_in_the_text() -> None:
    text = "von 1. Mai 2024 bis 2.5.2024"
    assert [text[each.start : each.end] for each in written_dates(text, "de")] == [
        "1. Mai 2024",
        "2.5.2024",
    ]


@given(
    st.dates(date(FIRST_YEAR, 1, 1), date(2099, 12, 31)),
    st.sampled_from(SPOKEN.split()),
    st.sampled_from(["long", "full", "medium"]),
)
def test_dates_of_cldr(day: date, language: str, form: str) -> None:
    text = format_date(day, form, locale=language)
    assert found(text, language) == [day]


def test_adar_of_leap_years() -> None:
    assert found("י״ד באדר ב׳ תשפ״ד", "he") == [date(2024, 3, 24)]
    assert found("י״ד באדר א' תשפ״ד", "he") == [date(2024, 2, 23)]
    assert found("י״ד באדר תשפ״ה", "he") == [date(2025, 3, 14)]


CALENDAR_PARTS = [
    *(
        "۱۴۰۳",
        "1445",
        "2016",
        "113",
        "67",
        "۱۲",
        "30",
        "/",
        "\u200f",
        ".",
        " ",
        " ",
        "年",
        "月",
        "日",
    ),
    *(
        "اسفند",
        "ماه",
        "ثور",
        "شوال",
        "ሚያዝያ",
        "ቀን",
        "ג׳",
        "ל״א",
        "באדר",
        "א׳",
        "תשפ״ד",
        "พ.ค.",
        "พ.ศ.",
    ),
    *("令和", "R", "民國", "元", "(", ")"),
]


@given(
    st.lists(st.sampled_from(CALENDAR_PARTS), max_size=9).map("".join),
    st.sampled_from(["", "fa", "ps", "he", "am", "ar-sa", "zh-tw", "ja", "th"]),
)
def test_parts_of_dates_in_any_order(text: str, language: str) -> None:
    for each in written_dates(text, language):
        assert FIRST_YEAR <= each.date.year < END_YEAR
        assert 0 <= each.start < each.end <= len(text)


@given(
    st.text(max_size=400),
    st.sampled_from(["", "en-US", "th", "hr", "fa", "he", "am", "ar-sa", "zh-tw"]),
)
def test_any_text(text: str, language: str) -> None:
    for each in written_dates(text, language):
        assert datetime(FIRST_YEAR, 1, 1, tzinfo=UTC) <= each.date


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("posted on ", PUBLISHED),
        ("date: ", PUBLISHED),
        ("date of last update: ", CHANGED),
        ("published 1, updated ", CHANGED),
        ("güncelleme tarihi: ", CHANGED),
        ("更新时间：", CHANGED),
        ("发布时间：", PUBLISHED),
        ("valid until ", OTHER),
        ("gültig bis ", OTHER),
        ("© ", OTHER),
        ("by ann lee ", None),
        ("special edition ", None),
    ],
)
def test_labels(text: str, label: str | None) -> None:
    assert label_of(text) == label


@pytest.mark.parametrize("language", ["am", "am-ET", "ti", "ti-ER"])
def test_numbers_may_be_those_of_the_ethiopic_calendar(language: str) -> None:
    assert found("13/5/2024", language) == []
    assert found("13-5-2024", language) == []
    assert found("13/5/2024", "fr") == [date(2024, 5, 13)]
    assert found("2024-05-13", language) == [date(2024, 5, 13)]
