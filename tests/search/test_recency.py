from __future__ import annotations

from datetime import UTC, datetime

import pytest

from gossamer.search.query import parse
from gossamer.search.recency import (
    HALF_LIFE_DAYS,
    WORDS,
    FreshnessIntent,
    freshness,
    freshness_intent,
)

DAY_MS = 86_400_000


def ms(year: int, month: int = 1, day: int = 1) -> int:
    return int(datetime(year, month, day, tzinfo=UTC).timestamp() * 1000)


NOW_MS = ms(2026, 3, 1)
PRESENT = FreshnessIntent(NOW_MS, NOW_MS)


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("latest release", PRESENT),
        ("NEWS", PRESENT),
        ('"news of today"', PRESENT),
        ("weather this week", PRESENT),
        ("новости науки", PRESENT),
        ("Неделя: НОВОСТИ", PRESENT),
        ("Nachrichten aus Köln", PRESENT),
        ("actualite du jour", PRESENT),  # accents are left out when people type
        ("aujourd'hui", PRESENT),
        ("haberler", PRESENT),
        ("日本の最新情報", PRESENT),
        ("budget 2026", FreshnessIntent(ms(2026), NOW_MS)),
        ("budget 2025", FreshnessIntent(ms(2025), ms(2026))),
        ("news 2025", PRESENT),
        ("budget 2024", None),
        ("new apples", None),
        ("this apple, a week", None),
        ("newspaper", None),
        ("red -news", None),
        ("hier ist das neue Haus", None),
        ("site:news.example apples", None),
        ("", None),
    ],
)
def test_the_time_that_a_query_wants(text: str, time: FreshnessIntent | None) -> None:
    assert freshness_intent(parse(text), NOW_MS) == time


def test_words_are_said_once_and_are_words() -> None:
    for language, texts in WORDS.items():
        assert len(set(texts)) == len(texts), language
        for text in texts:
            assert freshness_intent(parse(text), NOW_MS) == PRESENT, text


@pytest.mark.parametrize(
    ("days", "value"),
    [(0, 1.0), (HALF_LIFE_DAYS, 0.5), (2 * HALF_LIFE_DAYS, 0.25), (-HALF_LIFE_DAYS, 0.5)],
)
def test_freshness_halves_with_each_half_life(days: int, value: float) -> None:
    assert freshness(NOW_MS - days * DAY_MS, PRESENT) == pytest.approx(value)


def test_pages_of_the_wanted_year_are_all_fresh() -> None:
    year = FreshnessIntent(ms(2025), ms(2026))
    assert freshness(ms(2025, 7), year) == 1
    assert freshness(ms(2025) - HALF_LIFE_DAYS * DAY_MS, year) == pytest.approx(0.5)
    assert freshness(ms(2026) + HALF_LIFE_DAYS * DAY_MS, year) == pytest.approx(0.5)


def test_a_page_without_a_date_or_with_a_mistaken_one_is_not_fresh() -> None:
    assert freshness(None, PRESENT) == 0
    assert freshness(ms(9999), PRESENT) < 1e-9
    assert freshness(-(10**15), PRESENT) < 1e-9
