"""Whether a query wants what is new, and how new a page is.

    freshness(page) = ½ ^ (days between the page's date and the time that is wanted / 30)

That is 1 for a page of the wanted time, ½ a month from it, and next to nothing after a year. Its
weight is `ranking.freshness`. Li and Croft ("Time-based language models", CIKM 2003) weigh pages by
an exponential of their age, for queries that favour recent ones. Which these are has to be decided
first, for where nobody wants the new, freshness is paid for with relevance (Dong et al., "Towards
recency ranking in Web search", WSDM 2010). Here a query decides by what it says: a word of WORDS
wants the present, the number of this year or the last one wants that year. No other query changes,
however new the pages are that it finds.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from gossamer.index.analysis import OTHER, tongue
from gossamer.serve.query import typed

if TYPE_CHECKING:
    from gossamer.serve.query import Query

HALF_LIFE_DAYS = 30
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
"""What asks for the present, in the languages that we stem, and three more; several words as a
phrase. Accents do not count. Left out is what another of these languages has for something else
(`hier` is yesterday in French and here in German)."""


class Wanted(NamedTuple):
    """A time, in milliseconds since 1970, UTC, from its beginning to its end."""

    since_ms: int
    until_ms: int


def wanted(tree: Query, now_ms: int) -> Wanted | None:
    """The time that a query wants pages of; None: it says nothing of any."""
    terms = [term for words in typed(tree) for term in tongue(OTHER).analyzed(words.text)]
    if any(
        tuple(terms[first : first + length]) in _ASKING
        for first, term in enumerate(terms)
        if term in _BEGINNING
        for length in _LENGTHS
    ):
        return Wanted(now_ms, now_ms)
    if any(map(str.isdecimal, terms)):
        this_year = datetime.fromtimestamp(now_ms / 1000, UTC).year
        for year in (this_year, this_year - 1):
            if str(year) in terms:
                return Wanted(_begin_ms(year), min(_begin_ms(year + 1), now_ms))
    return None


def freshness(date_ms: int | None, time: Wanted | None) -> float:
    """From 0, a page of another time or of none that is known, to 1. 0 where no time is wanted."""
    if date_ms is None or time is None:
        return 0.0
    away_ms = max(time.since_ms - date_ms, date_ms - time.until_ms, 0)
    return math.exp2(-away_ms / _DAY_MS / HALF_LIFE_DAYS)


def _begin_ms(year: int) -> int:
    return int(datetime(year, 1, 1, tzinfo=UTC).timestamp() * 1000)


_ASKING = frozenset(tongue(OTHER).analyzed(text) for texts in WORDS.values() for text in texts)
_BEGINNING = frozenset(terms[0] for terms in _ASKING)
_LENGTHS = {len(terms) for terms in _ASKING}
