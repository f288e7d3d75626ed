"""What a query may cost: plans of any query have a bounded number of terms and postings."""

from __future__ import annotations

import random
import zlib
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gossamer.config import RankingConfig
from gossamer.index.format import schema
from gossamer.index.format.analysis import OTHER, analyzer_for
from gossamer.index.format.unspaced import is_pair
from gossamer.search import query_cost
from gossamer.search.interpretation import MAX_SHOWN_TERMS, Interpretation, telling_words
from gossamer.search.query import MAX_WORDS, And, Filter, Like, Not, Or, Urls, Words, parse
from gossamer.search.query_cost import (
    FREE_TERMS,
    MAX_READ,
    MAX_SHARE,
    MAX_TERMS,
    POSITIONS,
    RUN_TERMS,
    Cost,
    affordable,
    affordable_units,
    first_terms,
    query_terms,
    unit_cost,
)
from gossamer.search.query_units import units_of
from gossamer.search.ranking import QueryPlan, Ranking

if TYPE_CHECKING:
    from collections.abc import Callable

    from tantivy import Query

CHARS = 1_000
USUAL = "linux kernel module"
RESCORED = [f"{number:03x}" for number in range(30)]
FORM = schema.schema()
WORDS = ["linux", "kernel", "module", "driver", "memory", "page", "table", "network", "packet"]
FRAGMENTS = [
    *WORDS,
    *("the", "of", "to", "a", "b", "x", "42", "ThreadPool", "getElementById", "--all", "C++"),
    *("東京", "港区情報技術", "エクスポート", "ภาษาไทย", "Ärger", "e\u0301", "😀", "\0"),
    *(" ", " ", " ", " ", ".", "_", "-", "::", "/", '"', '" "', "(", ")", " -", " -(", "*", "!="),
    *(" OR ", " AND ", " NOT ", " site:a.org ", " intitle:", " inurl:", " after:2020 ", " lang:"),
]
HOSTILE = [
    "a.b." * 240,
    '"' + "the of " * 140,
    " OR ".join(f'"{one} of"' for one in WORDS * 9),
    " ".join(f"{one}_{other}" for one in WORDS for other in WORDS),
    "".join(f"{word.title()}" for word in WORDS * 30),
    "linux " + " ".join(f"-{word}-x" for word in WORDS * 9),
    "東京都港区情報技術研究所開発環境設定方法" * 50,
    "(the OR " * 120,
    "!= == -> " * 100,
]


class Frequencies:
    """An index in which each term is on the same share of the pages, or on a share by its hash."""

    documents = 1_000_000
    deleted = 0

    def __init__(self, share: float | None) -> None:
        self._share = share

    def pages(self, _: str, term: str) -> int:
        shares = (0, 1e-5, 0.001, 0.01, 0.3, 0.9)
        share = shares[zlib.crc32(term.encode()) % 6] if self._share is None else self._share
        return int(share * self.documents)

    pages_for_weight = pages


class Small(Frequencies):
    """A small index, of whose pages these numbers have these terms."""

    documents = 100

    def __init__(self, **pages: int) -> None:
        self._pages = pages

    def pages(self, _: str, term: str) -> int:
        return self._pages.get(term, 0)


def test_a_phrase_costs_what_its_rarest_term_has_and_positions() -> None:
    whole = Small(often=50, seldom=7, 東=9, 京=5, 都=6)
    assert unit_cost(("often",), whole) == Cost(1, 50)
    assert unit_cost(("often", "seldom"), whole) == Cost(2, POSITIONS * 2 * 7)
    assert unit_cost(("東", "京", "都"), whole) == Cost(2 * RUN_TERMS, 3 * 5), "pairs"
    assert unit_cost(("東", "often"), whole) == Cost(2, POSITIONS * 2 * 9)


def test_units_are_taken_as_far_as_they_are_affordable_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(query_cost, "MAX_READ", 0)
    units = [(f"t{n}",) for n in range(2 * MAX_TERMS)]
    seldom = Small(**{f"t{n}": MAX_SHARE for n in range(2 * MAX_TERMS)})
    assert [*affordable_units(units, seldom)] == units[:MAX_TERMS], "so many are read"
    often = Small(**{f"t{n}": 90 for n in range(2 * MAX_TERMS)})
    assert [*affordable_units(units, often)] == units[:FREE_TERMS], "whatever is read"
    assert [*affordable_units([], often)] == []


@pytest.mark.parametrize(
    ("pages", "units"), [(MAX_SHARE * 100, 12), (MAX_SHARE * 100 + 1, FREE_TERMS)]
)
def test_more_terms_are_searched_if_few_postings_are_read(
    monkeypatch: pytest.MonkeyPatch, pages: int, units: int
) -> None:
    monkeypatch.setattr(query_cost, "MAX_READ", 0)
    names = [f"t{n}" for n in range(12)]
    whole = Small(**dict.fromkeys(names, 0) | {names[0]: pages})
    assert len([*affordable_units([(name,) for name in names], whole)]) == units


@pytest.mark.parametrize(
    ("text", "is_searched"), [('often "often often"', True), ('"often often" "often often"', False)]
)
def test_one_phrase_is_searched_however_frequent_it_is(
    monkeypatch: pytest.MonkeyPatch, text: str, is_searched: bool
) -> None:
    monkeypatch.setattr(query_cost, "MAX_READ", 0)
    tree = parse(text)
    found = affordable(tree, analyzer_for("en"), Small(often=100))
    assert (found == tree) is is_searched


def plan_terms(text: str, language: str, pages: Frequencies) -> int:
    """The number of terms in all the queries that one index may be asked."""
    tree = first_terms(parse(text))
    ranking = Ranking(FORM, language, RankingConfig(), pages)  # type: ignore[arg-type]
    meant = Interpretation.from_query(tree, ranking.analyzer, pages)
    plan = QueryPlan(ranking, tree, meant)
    asked: list[Query | None] = [
        plan.all_terms().query,
        plan.any_term(counted=True).query,
        *(plan.title_matches(any_term=any_term) for any_term in (False, True)),
        *(plan.rescore(RESCORED, any_term=any_term) for any_term in (False, True)),
    ]
    return sum(repr(each).count("Term(") for each in asked)


def read_postings(tree: object, language: str, pages: Frequencies) -> tuple[float, float]:
    """The terms of a tree, and the postings of its words, each of which is read where it stands."""
    match tree:
        case And(parts) | Or(parts):
            each = [read_postings(part, language, pages) for part in parts]
            return sum(terms for terms, _ in each), sum(read for _, read in each)
        case Not(part):
            return read_postings(part, language, pages)
        case Words():
            terms, read = 0.0, 0
            for unit in units_of([tree], analyzer_for(language)):
                terms += RUN_TERMS if is_pair(unit[0]) else len(unit)
                read += len(unit) * min(pages.pages("text", term) for term in unit)
            return terms, read
    return 1 / 4, 0


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Some fragments in any order, again and again."""
    few = draw(st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=8))
    order = random.Random(draw(st.integers(0, 99)))  # noqa: S311  # reproducible
    chosen = order.choices(few, k=CHARS)
    return "".join(chosen)[:CHARS]


def with_hostile_queries(test: Callable[..., None]) -> Callable[..., None]:
    for text in HOSTILE:
        for language in ("en", OTHER):
            test = example(text[:CHARS], language, 0.5)(test)
    return test


@with_hostile_queries
@settings(deadline=None, max_examples=60)
@given(texts(), st.sampled_from(["en", OTHER]), st.sampled_from([None, 0.0, 1e-5, 0.001, 0.5]))
def test_plans_of_any_query_are_at_most_ten_times_that_of_a_usual_one(
    text: str, language: str, share: float | None
) -> None:
    usual = max(plan_terms(USUAL, "en", Frequencies(each)) for each in (0.001, 0.5))
    assert plan_terms(text, language, Frequencies(share)) <= 10 * usual


@with_hostile_queries
@settings(deadline=None, max_examples=100)
@given(texts(), st.sampled_from(["en", OTHER]), st.sampled_from([None, 1e-5, 0.05, 0.5]))
def test_terms_and_postings_are_bounded(text: str, language: str, share: float | None) -> None:
    pages = Frequencies(share)
    tree = affordable(first_terms(parse(text)), analyzer_for(language), pages)
    if len(query_words := [*_words(tree)]) > MAX_WORDS:
        return  # of a passage, units are chosen
    terms, read = read_postings(tree, language, pages)
    assert terms <= MAX_TERMS
    assert read <= MAX_READ + MAX_SHARE * pages.documents or terms <= FREE_TERMS, query_words


def _words(tree: object) -> list[Words]:
    match tree:
        case And(parts) | Or(parts):
            return [word for part in parts for word in _words(part)]
        case Words():
            return [tree]
    return []


@settings(deadline=None)
@given(
    st.lists(st.sampled_from([*WORDS, '"kernel page"', "-table", "site:a.org"]), max_size=6),
    st.sampled_from([" ", " OR ", " AND "]),
    st.sampled_from([None, 0.0, 0.5, 1.0]),
)
def test_short_queries_are_searched_as_they_are(
    words: list[str], joint: str, share: float | None
) -> None:
    tree = parse(joint.join(dict.fromkeys(words)))
    assert first_terms(tree) == tree
    if query_terms(tree) <= FREE_TERMS:
        assert affordable(tree, analyzer_for("en"), Frequencies(share)) == tree


def test_the_rarest_words_stay() -> None:
    tree = first_terms(parse(" OR ".join(f"w{number}" for number in range(60))))
    pages = Frequencies(None)
    kept = [word.text for word in _words(affordable(tree, analyzer_for(OTHER), pages))]
    gone = {f"w{number}" for number in range(60)} - {*kept}
    assert gone
    most = max(pages.pages("text", word) for word in kept)
    assert min(pages.pages("text", word) for word in gone) >= most


def test_what_is_too_long_is_cut() -> None:
    english = analyzer_for("en")
    phrase = parse('"' + "the of " * 100)
    kept = affordable(first_terms(phrase), english, Frequencies(0.5))
    assert isinstance(kept, Words)
    assert kept.exact
    assert FREE_TERMS // 2 < len(kept.text.split()) <= FREE_TERMS
    assert affordable(phrase, english, Frequencies(1e-5)) == phrase
    joined = affordable(parse("b." * 99), english, Frequencies(1e-5))
    assert isinstance(joined, Words)
    assert joined.text.count("b") == MAX_TERMS


def test_filters_stay_before_words() -> None:
    filters = [f"site:{number}.org" for number in range(5)]
    tree = parse(" ".join([*WORDS, *WORDS, *filters, "AND", "x"]))
    kept = affordable(tree, analyzer_for("en"), Frequencies(0.9))
    assert isinstance(kept, And)
    assert [part.value for part in kept.parts if isinstance(part, Filter)] == [
        each.removeprefix("site:") for each in filters
    ]
    assert 0 < len(_words(kept)) <= FREE_TERMS


def test_an_excluded_word_that_is_cut_is_no_option_any_more() -> None:
    tree = And((Words("a"), Not(Words("b." * 99), unless="-" + "b." * 99)))
    cut = first_terms(tree)
    assert cut == And((Words("a"), Not(Words(("b." * (MAX_WORDS - 1)).rstrip(".")))))


@pytest.mark.parametrize(
    ("tree", "terms"),
    [
        (parse("red apple"), 2),
        (parse("a.b.c"), 3),
        (parse("ThreadPoolExecutor"), 3),
        (parse("印刷設定"), 4),
        (parse("!= -> !=="), 3),
        (parse('site:a.org -"red apple" x'), 5),
        (Like((("red", 1.0), ("apple", 0.5))), 2),
        (Urls(("http://a.org/",)), 1),
        (And(()), 0),
    ],
)
def test_the_number_of_terms(tree: object, terms: int) -> None:
    assert query_terms(tree) == terms  # type: ignore[arg-type]


def test_snippets_show_the_most_telling_words_of_a_long_query() -> None:
    words = [Words(f"w{number}") for number in range(2 * MAX_SHOWN_TERMS)]
    pages = Frequencies(None)
    shown = telling_words(words, analyzer_for(OTHER), pages)
    assert len(shown) == MAX_SHOWN_TERMS
    assert shown == [word for word in words if word in shown]
    least = max(pages.pages("text", word.text) for word in shown)
    others = [word for word in words if word not in shown]
    assert all(not (0 < pages.pages("text", word.text) < least) for word in others)
    assert telling_words(words[:3], analyzer_for(OTHER), pages) == words[:3]
