"""Whether a query asks for recent pages, and how fresh a page is.

    freshness(page) = ½ ^ (days between the page's date and the requested time / 30)

That is 1 for a page of the requested time, ½ for one a month away, and next to nothing after a
year. Its weight is `ranking.freshness`. Li and Croft ("Time-based language models", CIKM 2003)
weight pages by an exponential of their age, for queries that favour recent ones. These queries must
be detected first, because freshness costs relevance where nobody asked for it (Dong et al.,
"Towards recency ranking in Web search", WSDM 2010). Here the words of the query decide: a word of
WORDS asks for the present, and the number of this year or the last for that year. The order of all
other queries is independent of dates.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from gossamer.index.format.analysis import OTHER, analyzer_for
from gossamer.search.query import wanted_words

if TYPE_CHECKING:
    from gossamer.search.query import Query

HALF_LIFE_DAYS = 30
"""Days after which freshness has halved."""
_DAY_MS = 86_400_000

WORDS = {
    "ar": ("أخبار", "اخبار", "الأخبار", "الاخبار", "اليوم", "أحدث", "احدث"),
    "da": ("nyheder", "nyeste", "seneste", "idag", "i dag"),
    "de": (
        *("aktuell", "aktuelle", "aktuellen", "aktueller", "aktuelles", "nachrichten", "heute"),
        *("neueste", "neuesten", "neuester", "neuestes", "gestern", "diese woche"),
    ),
    "el": ("ειδήσεις", "σήμερα", "πρόσφατα", "τελευταία νέα"),
    "en": (
        *("latest", "newest", "news", "recent", "today", "yesterday"),
        *("this week", "this month", "this year"),
    ),
    "es": ("noticias", "hoy", "ayer", "actualidad", "novedades", "reciente", "recientes"),
    "fi": ("uutiset", "uutisia", "uusin", "uusimmat", "tänään"),
    "fr": (
        *("actualité", "actualités", "aujourd'hui", "dernières nouvelles"),
        *("récent", "récente", "récentes", "récents"),
    ),
    "hu": ("hírek", "legújabb", "legfrissebb", "tegnap"),
    "it": ("notizie", "oggi", "ieri", "attualità", "novità", "recente", "recenti"),
    "ja": ("最新", "ニュース", "今日", "昨日", "速報"),
    "ko": ("최신", "뉴스", "오늘", "어제"),
    "nl": ("nieuws", "nieuwste", "actueel", "actuele", "vandaag", "gisteren", "recente"),
    "no": ("nyheter", "nyeste", "siste nytt", "i dag"),
    "pt": ("notícias", "hoje", "ontem", "atualidade", "novidades", "recente", "recentes"),
    "ro": ("știri", "știrile", "astăzi", "azi", "ieri", "noutăți", "recente"),
    "ru": (
        *("новости", "новостей", "сегодня", "вчера", "свежие", "новейшие", "новейший"),
        *("актуальные", "актуальное"),
    ),
    "sv": ("nyheter", "senaste", "nyaste", "idag", "i dag", "igår"),
    "ta": ("செய்திகள்", "இன்று", "சமீபத்திய"),
    "tr": ("haber", "haberler", "haberleri", "bugün", "güncel", "son dakika", "en yeni"),
    "zh": ("最新", "新闻", "新聞", "今天", "今日", "昨天"),
}
"""Words and phrases that ask for the present, in 21 languages.
Accents do not count. Words with another meaning in another of these languages are left out (`hier`
is yesterday in French and here in German)."""


class FreshnessIntent(NamedTuple):
    """The time that a query asks for, from beginning to end, in ms since 1970, UTC."""

    since_ms: int
    until_ms: int


def freshness_intent(tree: Query, now_ms: int) -> FreshnessIntent | None:
    """The time from which a query wants pages; None if it names none."""
    terms = [
        term for words in wanted_words(tree) for term in analyzer_for(OTHER).terms_of(words.text)
    ]
    if any(
        tuple(terms[first : first + length]) in _PHRASES
        for first, term in enumerate(terms)
        if term in _FIRST_TERMS
        for length in _LENGTHS
    ):
        return FreshnessIntent(now_ms, now_ms)
    if any(map(str.isdecimal, terms)):
        this_year = datetime.fromtimestamp(now_ms / 1000, UTC).year
        for year in (this_year, this_year - 1):
            if str(year) in terms:
                return FreshnessIntent(_begin_ms(year), min(_begin_ms(year + 1), now_ms))
    return None


def freshness(date_ms: int | None, time: FreshnessIntent | None) -> float:
    """From 0 (far from `time`) to 1 (within it); 0 if the page has no date or `time` is None."""
    if date_ms is None or time is None:
        return 0.0
    away_ms = max(time.since_ms - date_ms, date_ms - time.until_ms, 0)
    return math.exp2(-away_ms / _DAY_MS / HALF_LIFE_DAYS)


def _begin_ms(year: int) -> int:
    return int(datetime(year, 1, 1, tzinfo=UTC).timestamp() * 1000)


_PHRASES = frozenset(
    analyzer_for(OTHER).terms_of(text) for texts in WORDS.values() for text in texts
)
_FIRST_TERMS = frozenset(terms[0] for terms in _PHRASES)
_LENGTHS = {len(terms) for terms in _PHRASES}
