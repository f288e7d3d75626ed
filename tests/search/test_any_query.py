"""No query ends a search: from any text to an answer, over an index in many languages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from gossamer.cli.result_printing import print_results
from gossamer.search.messages import Question
from gossamer.search.query import removable_filters
from gossamer.search.searcher import Searcher
from gossamer.serve import rendering
from gossamer.serve.dispatch.front import is_heavy
from gossamer.serve.web.search_routes import MAX_PAGES
from tests.support.broker_nodes import asked
from tests.support.small_index import crawl, put_index

if TYPE_CHECKING:
    from collections.abc import Callable

    from gossamer.search.results import Results
    from gossamer.state.workspace import Workspace

TEXTS = {
    "ar": "كتاب الطبخ في المدينة",
    "da": "en rød by ved søen",
    "de": "Straße der Häuser und Verkehrsausschüsse",
    "el": "όταν ήρθε ο άνδρας, έως είτε ίδια η Οδύσσεια",
    "en": "The barnacle's HarbourMaster of C++ and pg_hba.conf",
    "es": "la canción del niño",
    "fa": "کتاب‌های می‌خواهم ۱۲۳",
    "fi": "taloissamme lentokonesuihkuturbiini",
    "fr": "l'été arrivé à l’école",
    "he": "בְּרֵאשִׁית ברא צה״ל",
    "hi": "हिन्दी में क़िताब २०२४",
    "hu": "az árvíztűrő tükörfúrógép",
    "it": "perché la città è bella",
    "ja": "ﾊﾞｯｸｱｯﾌﾟとデータベースの設定",
    "km": "ភាសាខ្មែរ",
    "ko": "한국어를 배우는 사람들이",
    "lo": "ພາສາລາວ",
    "my": "မြန်မာဘာသာ",
    "nl": "de fietsenstalling",
    "no": "på gården",
    "pt": "informações da organização",
    "ro": "și întâmplări",
    "ru": "новости книгами ёлка",
    "sv": "smörgåsbord åt alla",
    "ta": "தமிழ் மொழி",
    "th": "ภาษาไทยน้ำ",
    "tr": "göz gün çocuk İstanbul ışık",
    "uk": "об'єкт обʼєкт і ґанок",
    "vi": "tiếng Việt",
    "zh": "東京都港区 中文搜索",
}
WORDS = sorted({word for text in TEXTS.values() for word in text.split()})
PIECES = [
    *WORDS,
    *(" ", " ", " ", " ", '"', "“", "”", "„", "«", "»", "「", "」", "(", ")", "-", "+", "*", "~3"),
    *("^2", " AND ", " OR ", " NOT ", " AROUND(3) ", ".", "_", "::", "/", "!=", "'", "\u2019"),
    *("site:", "host:", "url:", "link:", "related:", "lang:", "type:", "filetype:", "intitle:"),
    *("inurl:", "after:", "before:", "title:", "2024", "2024-13", "a.example/x", "http://[", "%ff"),
    *("\0", "\x1b[1m", "\n", "\u202e", "\u200b", "\u00ad", "\ud800", "\udfff", "\ufeff", "\u2060"),
    *(
        "\U0001f469\u200d\U0001f4bb",
        "e\u0301",
        "ß",
        "ŉ",
        "ﬁ",
        "İ",
        "\u0345",
        "ᾳ",
        "ǅ",
        "｢",
        "：",
        "<b>",
    ),
]


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    work = crawl(tmp_path_factory.mktemp("crawl"))
    pages: list[dict[str, Any]] = [
        {
            "url": f"http://{language}.example/{number}",
            "title": text if number else f"{text[:9]} {language}",
            "text": text * (number + 1),
            "language": language,
            "anchors": [text],
            "rank": 0.01 * number,
        }
        for language, text in TEXTS.items()
        for number in range(2)
    ]
    put_index(work, pages, shards=2, first=10)
    return work


@pytest.fixture(scope="module")
def answers(work: Workspace) -> list[Callable[[Question], Results]]:
    """Those of an index as a whole, and of two nodes."""
    nodes = [Searcher.open(work, shards=shards).node for shards in ([0, 1], [2])]
    return [Searcher.open(work).answer, lambda question: asked(work, nodes, question)]


@pytest.fixture(scope="module")
def completing(work: Workspace) -> Searcher:
    return Searcher.open(work)


QUERIES = st.lists(st.sampled_from(PIECES), max_size=12).map("".join) | st.text(
    st.characters(codec=None), max_size=40
)


def check(found: Results) -> None:
    """The answer can be printed, shown and sent."""
    assert 0 <= found.whole <= max(found.total, found.whole)
    assert len(found.hits) <= max(found.total, 0)
    assert len({hit.url for hit in found.hits}) == len(found.hits)
    msgspec.json.encode(found)
    print_results(found)


ORDERS = st.sampled_from(["relevance", "date"])
quick = settings(
    deadline=None, max_examples=25, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)


@quick
@example("όταν", 0, "relevance", 0, True)
@example("έως είτε", 0, "date", 1, False)
@example("\ud800 ίδια \udfff", 0, "relevance", 0, False)
@example('"όταν" -ίδια intitle:έως', 3, "relevance", 1, True)
@example("related:el.example/0 όταν", 0, "relevance", 1, False)
@example("\0 site:\0/\0", 0, "date", 0, False)
@given(QUERIES, st.integers(0, 30), ORDERS, st.integers(0, 1), st.booleans())
def test_any_text_has_an_answer(
    answers: list[Callable[[Question], Results]],
    text: str,
    offset: int,
    order: str,
    number: int,
    verbatim: bool,
) -> None:
    by_date = order == "date"
    question = Question(text, offset, 10, by_date=by_date, facets=True, verbatim=verbatim)
    check(answers[number](question))
    is_heavy(question)


@quick
@given(QUERIES, st.sampled_from(["fields", "content-pagerank", "cosine"]))
def test_any_text_is_explained_in_any_profile(
    answers: list[Callable[[Question], Results]], text: str, profile: Any
) -> None:
    for answer in answers:
        check(answer(Question(text, 0, 10, explain=True, profile=profile, language="el")))


@quick
@given(QUERIES)
def test_any_text_is_completed(completing: Searcher, text: str) -> None:
    for completed in completing.complete(text):
        completed.encode("utf-8")


@quick
@given(QUERIES)
def test_any_text_has_a_page_of_results(
    answers: list[Callable[[Question], Results]], text: str
) -> None:
    typed = text.encode("utf-8", "replace").decode()  # as it is read from a URL
    found = answers[0](Question(typed, facets=True))
    html = rendering.render(
        "results.html",
        root="",
        asked={"q": typed},
        narrowed=removable_filters(typed),
        found=found,
        number=1,
        last=1,
        follows=False,
        most_pages=MAX_PAGES,
        pictures=False,
    )
    assert "<script>alert" not in html


@pytest.mark.slow
@settings(deadline=None, max_examples=400, suppress_health_check=[HealthCheck.too_slow])
@given(QUERIES, st.integers(0, 30), ORDERS, st.booleans())
def test_many_texts_have_answers(
    answers: list[Callable[[Question], Results]], text: str, offset: int, order: str, explain: bool
) -> None:
    by_date = order == "date"
    for answer in answers:
        check(answer(Question(text, offset, 10, by_date, facets=True, explain=explain)))
