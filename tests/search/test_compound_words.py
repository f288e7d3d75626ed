from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.index.format.analysis import analyzer_for
from gossamer.search.compound_words import (
    LINKS,
    MAX_COMPOUNDS,
    PART_WEIGHT,
    compound_units,
    known_part_terms,
    parts_of_compound,
)
from gossamer.search.interpretation import Interpretation
from gossamer.search.query import Words, parse
from gossamer.search.statistics import ALL, SCORED, SummedStatistics


def index(**counts: int) -> SummedStatistics:
    """An index of a hundred pages, of which these numbers have these terms."""
    return SummedStatistics({**dict.fromkeys(SCORED, counts), ALL: {ALL: 100}})


@pytest.mark.parametrize(
    ("language", "word", "pages", "parts"),
    [
        ("de", "Druckerwarteschlange", {"druck": 5, "warteschlang": 2}, "druck warteschlang"),
        ("de", "Arbeitszeit", {"arbeit": 5, "zeit": 9}, "arbeit zeit"),
        ("nl", "besturingssysteem", {"bestuur": 5, "systeem": 9}, "bestuur systeem"),
        ("sv", "hårddiskpartition", {"harddisk": 5, "partition": 9}, "harddisk partition"),
        ("fi", "käyttöjärjestelmä", {"kayto": 5, "jarjestelm": 9}, "kayto jarjestelm"),
        ("da", "brugergrænseflade", {"brug": 5, "grænseflad": 9}, ""),
        ("de", "Arbeitszeit", {"arbeit": 5}, ""),
        ("de", "Arbeits-zeit", {"arbeit": 5, "zeit": 9}, ""),
        ("de", "Zeitung", {"zeit": 5, "tung": 9}, ""),
        ("en", "Arbeitszeit", {"arbeit": 5, "zeit": 9, "arbeits": 4}, ""),
    ],
)
def test_parts_are_words_of_the_index(
    language: str, word: str, pages: dict[str, int], parts: str
) -> None:
    found = parts_of_compound(Words(word), analyzer_for(language), index(**pages))
    assert [term for (term,) in found] == parts.split()


def test_the_more_frequent_parts_count() -> None:
    pages = {"wach": 4, "stube": 4, "stub": 4, "wachs": 90, "tube": 1, "tub": 1}
    found = parts_of_compound(Words("Wachstube"), analyzer_for("de"), index(**pages))
    assert found == (("wach",), ("stub",))
    pages["tub"] = 90
    found = parts_of_compound(Words("Wachstube"), analyzer_for("de"), index(**pages))
    assert found == (("wach",), ("tub",))


def test_parts_add_to_the_score_of_a_compound_that_pages_have() -> None:
    pages = index(arbeitszeit=1, arbeit=5, zeit=9)
    meant = Interpretation.from_query(parse("Arbeitszeit"), analyzer_for("de"), pages)
    assert [*meant.units] == [("arbeitszeit",)]
    assert [*meant.further] == [(("arbeit",), PART_WEIGHT), (("zeit",), PART_WEIGHT)]


def test_a_compound_that_no_page_has_is_its_parts() -> None:
    pages = index(arbeit=5, zeit=9)
    meant = Interpretation.from_query(parse("Arbeitszeit"), analyzer_for("de"), pages)
    assert [*meant.units] == [("arbeit",), ("zeit",)]


def test_frequencies_of_known_parts_are_asked_for() -> None:
    words, analyzer = [Words("Arbeitszeit"), Words("kurz")], analyzer_for("de")
    assert {*known_part_terms(words, analyzer, index(arbeit=5, zeit=9))} == {"arbeit", "zeit"}
    assert not {*known_part_terms(words, analyzer, index(zeit=9))}


@given(
    st.lists(st.text("arbeitszähl", max_size=50).map(Words), max_size=20),
    st.sampled_from([*LINKS, "en"]),
)
def test_the_parts_of_a_query_are_bounded(words: list[Words], language: str) -> None:
    class Any(SummedStatistics):
        def pages(self, field: str, term: str) -> int:  # noqa: ARG002
            return 1

    analyzer = analyzer_for(language)
    pages = Any({ALL: {ALL: 9}})
    found = [*compound_units(words, analyzer, pages)]
    assert len(found) <= 2 * MAX_COMPOUNDS
    assert all(len(unit) == 1 and unit[0] for unit, _ in found)
