from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.index.format.analysis import OTHER, STEMMERS, analyzer_for
from gossamer.search.interpretation import Interpretation
from gossamer.search.query import Words, parse, wanted_words
from gossamer.search.query_units import (
    RUN_DAMPING,
    compounds,
    joined_phrases,
    neighbours,
    parts_of,
    run_weight,
    split_units,
    terms_of,
    units_of,
)
from gossamer.search.statistics import ALL, SCORED, SummedStatistics, idf_sum


@pytest.mark.parametrize(
    ("language", "word", "units"),
    [
        ("en", "router-setup", "router setup"),
        ("en", "as-cran", "cran"),
        ("en", "to-be", "to be"),
        ("en", "Optional.orElseThrow", "option orelsethrow"),
        ("de", "Bodhisattva-Gelübde", "bodhisattva gelubd"),
        (OTHER, "node.js", "node js"),
        (OTHER, "PDFにエクスポート", "pdf エク クス スポ ポー ート"),
        (OTHER, "ファイルを押く", "ファ ァイ イル ルを を押 押く"),
        (OTHER, "Linux内核参数", "linux 内核 核参 参数"),
        (OTHER, "日本、中国", "日本 中国"),
        (OTHER, "हिन्दी", "हिन्दी"),
        ("en", "~*", ""),
    ],
)
def test_units_of_joined_words(language: str, word: str, units: str) -> None:
    found = units_of([Words(word)], analyzer_for(language))
    assert ["".join(unit) for unit in found] == units.split()


def test_a_phrase_in_quotes_is_one_unit() -> None:
    english = analyzer_for("en")
    assert list(units_of([Words("router-setup", exact=True)], english)) == [("router", "setup")]
    assert list(joined_phrases([Words("router-setup", exact=True)], english)) == []
    assert list(joined_phrases([Words("router-setup")], english)) == [("router", "setup")]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("storm warning coast", ["storm warning", "warning coast"]),
        ("rose rose", []),
        ("印刷方法", ["印 刷 方 法"]),
        ("印刷方法等", ["印 刷 方 法", "刷 方 法 等"]),
        ("印刷機", []),
        ("印刷 方法", []),
        ("印刷 方法機", []),
        ("ととととと", []),
        ("top 印刷方法", ["印 刷 方 法"]),
        ('"storm warning" coast', []),
    ],
)
def test_neighbours(query: str, found: list[str]) -> None:
    units = [*units_of(wanted_words(parse(query)), analyzer_for(OTHER))]
    assert [" ".join(pair) for _, pair in neighbours(units)] == found


def test_units_of_longer_runs_weigh_less() -> None:
    analyzer = analyzer_for(OTHER)
    words = ("刷", "印刷", "印刷機", "印刷方法")
    weights = [run_weight([*units_of([Words(word)], analyzer)]) for word in words]
    assert weights[0] == 1
    assert weights == sorted({*weights}, reverse=True)
    assert run_weight([("router",), ("setup",)]) == run_weight([("printer", "page")]) == 1
    assert run_weight([]) == 1


@pytest.mark.parametrize(
    ("query", "phrases"),
    [("印刷", []), ("印刷機", []), ("router-setup", [("router", "setup")])],
)
def test_a_run_without_spaces_is_no_further_phrase(
    query: str, phrases: list[tuple[str, ...]]
) -> None:
    counts = dict.fromkeys((*"印刷機", "router", "setup"), 3)
    pages = SummedStatistics(dict.fromkeys(SCORED, counts) | {ALL: {ALL: 9}})
    meant = Interpretation.from_query(parse(query), analyzer_for(OTHER), pages)
    assert [unit for unit, _ in meant.further] == phrases


def test_weights_do_not_change_the_sum_of_the_idf() -> None:
    counts = dict.fromkeys("印刷機設", 3) | {"router": 2}
    pages = SummedStatistics(dict.fromkeys(SCORED, counts) | {ALL: {ALL: 9}})
    meant = Interpretation.from_query(parse("router 印刷機設"), analyzer_for(OTHER), pages)
    idfs = [idf_sum(unit, "text", pages) for unit in meant.units]
    weighted = [idf * weight for idf, weight in zip(idfs, meant.weights, strict=True)]
    assert sum(weighted) == pytest.approx(sum(idfs))
    assert meant.weights[0] > 1 > meant.weights[1]


def test_words_in_camel_case_have_units_of_their_parts() -> None:
    english = analyzer_for("en")
    assert list(split_units(Words("ThreadPools"), english)) == [("thread",), ("pool",)]
    assert not split_units(Words("ThreadPools", exact=True), english)
    assert not split_units(Words("threadpools"), english)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("hash map", {"hashmap": 1.0}),
        ("or else throw", {"elsethrow": 1 / 3, "orelsethrow": 1.0}),
        ("the hash map of java", {"hashmap": 0.2, "mapjava": 0.2, "hashmapjava": 0.2}),
        ("map", {}),
        ('"hash map"', {}),
        ("hash-map x", {}),
    ],
)
def test_neighbouring_words_may_be_one(query: str, found: dict[str, float]) -> None:
    words = wanted_words(parse(query))
    assert {term: weight for (term,), weight in compounds(words, analyzer_for("en"))} == found


@given(st.sampled_from([*STEMMERS, OTHER]), st.text())
def test_any_text_has_units_that_are_not_empty(language: str, text: str) -> None:
    analyzer = analyzer_for(language)
    words = wanted_words(parse(text))
    assert all(all(unit) and unit for unit in units_of(words, analyzer))
    assert all(all(unit) for unit, _ in compounds(words, analyzer))


@pytest.mark.parametrize(
    ("typed", "parts"),
    [
        ("(data)", ["data"]),
        ("data/source", ["data", "source"]),
        ("印刷・方法", ["印刷", "方法"]),
        ("印刷方法", ["印刷方法"]),
        ("印刷方法・", ["印刷方法・"]),
    ],
)
def test_the_words_that_are_joined_in_a_word(typed: str, parts: list[str]) -> None:
    assert [each.text for each in parts_of(Words(typed), analyzer_for(OTHER))] == parts


def test_words_in_quotes_are_not_joined_to_others() -> None:
    analyzer = analyzer_for("en")
    assert dict(compounds([Words("hash"), Words("map")], analyzer)) == {("hashmap",): 1.0}
    assert not [*compounds([Words("hash", exact=True), Words("map")], analyzer)]
    assert not [*compounds([Words("hash-x"), Words("map")], analyzer)]


def test_all_terms_of_words() -> None:
    found = [*terms_of([Words("orElseThrow"), Words("re-use")], analyzer_for("en"))]
    assert {"orelsethrow", "els", "throw", "re", "use", "reus"} <= {*found}


@pytest.mark.parametrize(
    ("units", "characters"),
    [
        ([("ファ",), ("ァイ",), ("イル",)], 4),
        ([("한국",), ("국어",)], 3),
        ([("한국",)], 1),
        ([("abc",), ("de",)], 1),
        ([], 1),
    ],
)
def test_a_run_weighs_by_its_characters(units: list[tuple[str, ...]], characters: int) -> None:
    assert run_weight(units) == pytest.approx(characters**-RUN_DAMPING)
