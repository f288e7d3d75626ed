"""How each language reads a query, from given frequencies of its words."""

from __future__ import annotations

import math

import pytest

from gossamer.index.format.analysis import OTHER
from gossamer.search.languages import (
    BOUND_SMOOTHING,
    COMMON,
    COMMON_WEIGHT,
    DETECTED,
    LANGUAGE_PREFERENCE,
    MAX_WORDS,
    SMOOTHING,
    BoundedFrequencies,
    _likelihoods,
    _stop_words,
    _translate_terms,
    preferable,
    read_by_language,
    smoothed_idf,
)
from gossamer.search.query import Words, parse
from gossamer.search.statistics import ALL, SummedStatistics


def pages(documents: int, text: dict[str, int], **fields: dict[str, int]) -> SummedStatistics:
    names = ("title", "exact_form", "title_exact_form")
    none: dict[str, dict[str, int]] = {name: {} for name in names}
    return SummedStatistics({**none, "text": text, **fields, ALL: {ALL: documents}})


def bounded(
    mine: SummedStatistics, theirs: SummedStatistics, stop_words: tuple[str, ...] = ()
) -> BoundedFrequencies:
    same = dict(zip(stop_words, stop_words, strict=True))
    return BoundedFrequencies(mine, theirs, {"fonts": "font"}, same)


THEIRS = 1_000 - BOUND_SMOOTHING
"""Pages of the query's language, of which each of MINE counts a tenth."""
MINE = 100


@pytest.mark.parametrize(
    ("mine", "theirs", "weighed"),
    [
        (0, 0, 0),
        (0, 200, 20),  # as frequent as in the other language
        (50, 200, 50),  # more frequent than there
        (10, 199, 20),  # 10 further pages, in a tenth of which the word is
        (10, 198, 19),
    ],
)
def test_no_word_is_rarer_than_in_the_language_of_the_query(
    mine: int, theirs: int, weighed: int
) -> None:
    found = bounded(pages(MINE, {"font": mine}), pages(THEIRS, {"font": theirs}))
    assert found.pages_for_weight("text", "font") == weighed
    assert found.pages("text", "font") == mine


def test_its_frequency_there_is_that_of_its_term_there() -> None:
    found = bounded(pages(MINE, {"fonts": 3}), pages(THEIRS, {"font": 300, "fonts": 0}))
    assert found.pages_for_weight("text", "fonts") == 30


def test_forms_are_as_frequent_as_there_and_stop_words_as_in_the_text() -> None:
    theirs = pages(
        THEIRS,
        {"the": 900, "font": 500},
        title={"the": 400},
        exact_form={"fonts": 200},
        title_exact_form={"fonts": 100},
    )
    found = bounded(pages(MINE, {}), theirs, ("the",))
    asked = [("exact_form", "the"), ("title_exact_form", "the")]
    asked += [("exact_form", "fonts"), ("title_exact_form", "fonts")]
    assert [found.pages_for_weight(*each) for each in asked] == [90, 40, 20, 10]


def test_a_language_without_pages_has_no_frequencies() -> None:
    assert bounded(pages(0, {}), pages(THEIRS, {"font": 9})).pages_for_weight("text", "font") == 0


def words(*typed: str) -> list[Words]:
    return [Words(each) for each in typed]


BOTH = {"en": pages(100, {"hous": 50, "a": 80}), "de": pages(100, {"haus": 30})}


FIFTH = (1 / 5) ** COMMON_WEIGHT


@pytest.mark.parametrize(
    ("typed", "preferred", "of_german"),
    [
        ((), "", 1.0),
        ((), "de", 1.0),
        (("unknown",), "", 1.0),
        # SMOOTHING pages are added, a quarter of which have the word: 62.5 of 150, and 12.5. Both
        # are more than COMMON.
        (("house",), "", FIFTH),
        (("house", "house"), "", FIFTH**2),
        (("house", "unknown"), "", FIFTH),
        # Of a word with several parts, the rarest counts.
        (("a-house",), "", FIFTH),
        (("house-unknown",), "", 1.0),
    ],
)
def test_a_query_is_likely_in_the_languages_that_have_its_words(
    typed: tuple[str, ...], preferred: str, of_german: float
) -> None:
    assert SMOOTHING == 50
    found = _likelihoods(words(*typed), BOTH, preferred, "")
    assert found["de"] == pytest.approx(of_german)
    assert max(found.values()) == 1.0


@pytest.mark.parametrize(
    ("english", "german", "of_german"),
    [
        (0.009, 0.009, 1),
        (0.009, 0.0009, 0.1),
        (0.01, 0.001, 0.1),
        (0.16, 0.001, 0.1 / 2),
        (0.16, 0.01, 1 / 2),
    ],
)
def test_how_common_a_word_is_beyond_a_share_counts_by_its_fourth_root(
    english: float, german: float, of_german: float
) -> None:
    assert (COMMON, COMMON_WEIGHT) == (0.01, 0.25)
    many = 1_000_000  # beside which SMOOTHING is little
    whole = {
        "en": pages(many, {"font": round(many * english)}),
        "de": pages(many, {"font": round(many * german)}),
    }
    found = _likelihoods(words("font"), whole, "", "")
    assert found["de"] == pytest.approx(of_german, rel=0.01)


LANGUAGES = {
    **{language: pages(100, {}) for language in ("de", "en", "ru")},
    OTHER: pages(100, {}, language={"ja": 1, "ka": 1}),
}


def likeliest(text: str, preferred: str) -> set[tuple[str, str]]:
    """Indexes in which a query is likeliest, each with the language of which it is there."""
    found = read_by_language(parse(text), LANGUAGES, preferred)
    most = max(each.probability for each in found.values())
    return {(at, each.within) for at, each in found.items() if each.probability == most}


@pytest.mark.parametrize(
    ("language", "known"),
    [("de", "de"), ("hr", "sr"), ("ja", "ja"), ("fr", ""), ("eo", ""), ("xx", ""), ("", "")],
)
def test_languages_that_make_a_difference(language: str, known: str) -> None:
    assert preferable(language, ("de", "sr", OTHER)) == known
    assert preferable(language, ("en",)) == ""


@pytest.mark.parametrize(
    ("text", "preferred", "index", "within"),
    [
        ("how do I change the colour of a window", "", "en", ""),
        ("wie ändere ich die Farbe eines Fensters", "en", "de", ""),
        ("как изменить цвет окна", "ja", "ru", ""),
        ("როგორ შევცვალო ფანჯრის ფერი", "en", OTHER, "ka"),
        ("ウィンドウの色を変える", "ka", OTHER, "ja"),
        ("xterm", "ja", OTHER, "ja"),
        ("xterm", "de", "de", ""),
    ],
)
def test_letters_and_users_tell_the_language_of_a_query(
    text: str, preferred: str, index: str, within: str
) -> None:
    assert likeliest(text, preferred) == {(index, within)}


@pytest.mark.parametrize(
    ("text", "preferred"),
    [
        ("xterm", ""),
        ("xterm", "fr"),
        ("xterm", "zh"),
        ("xterm", "eo"),
        ("창의 색을 바꾸는 방법", "ko"),
    ],
)
def test_languages_without_pages_do_not_count(text: str, preferred: str) -> None:
    assert likeliest(text, preferred) == {(each, "") for each in LANGUAGES}


@pytest.mark.parametrize(("of_100", "within"), [(89, "ja"), (90, ""), (100, "")])
def test_a_language_of_nearly_all_pages_of_an_index_is_that_of_all(
    of_100: int, within: str
) -> None:
    shared = pages(100, {}, language={"ja": of_100, "zh": 100 - of_100})
    whole = {OTHER: shared, "en": pages(100, {})}
    found = read_by_language(parse("xterm"), whole, "ja")
    assert found[OTHER].probability > found["en"].probability
    assert (found[OTHER].within, found["en"].within) == (within, "")
    (reading,) = read_by_language(parse("xterm"), {OTHER: shared}, "ja").values()
    assert (reading.probability, reading.within) == (float(bool(within)), within)


@pytest.mark.parametrize(("preferred", "expected"), [("ja", (1.0, "ja")), ("ko", (0.0, ""))])
def test_an_index_may_have_several_languages(preferred: str, expected: tuple[float, str]) -> None:
    whole = {OTHER: LANGUAGES[OTHER]}
    (reading,) = read_by_language(parse("xterm"), whole, preferred).values()
    assert (reading.probability, reading.within) == expected


def test_a_topic_is_no_language() -> None:
    """The German pages are all about systemd, of the English ones a few are."""
    whole = {
        "en": pages(13_719, {"systemd": 151, "unit": 1_010}),
        "de": pages(133, {"systemd": 25, "unit": 12}),
    }
    asked = words("systemd", "unit")
    assert _likelihoods(asked, whole, "en", "")["en"] == 1.0
    assert _likelihoods(asked, whole, "de", "")["de"] == 1.0


def test_users_ask_in_their_language() -> None:
    assert _likelihoods([], BOTH, "en", "") == {"en": 1.0, "de": math.exp(-LANGUAGE_PREFERENCE)}
    assert _likelihoods([], BOTH, "", "de") == {"en": math.exp(-DETECTED), "de": 1.0}
    assert _likelihoods([], BOTH, "fr", "fr") == {"en": 1.0, "de": 1.0}


@pytest.mark.parametrize("english", [pages(0, {}), pages(1, {"hous": 1})])
def test_a_word_is_as_likely_in_a_language_without_pages_as_in_all(
    english: SummedStatistics,
) -> None:
    found = _likelihoods(words("house"), {"en": english, "de": pages(0, {})}, "", "")
    assert found == {"en": 1.0, "de": 1.0}


def test_the_only_language_reads_every_query_as_it_is() -> None:
    (reading,) = read_by_language(parse("house"), {"en": BOTH["en"]}).values()
    assert tuple(reading) == (BOTH["en"], 0.0, {}, "")


def test_other_languages_read_a_query_by_the_words_of_its_language() -> None:
    found = read_by_language(parse("house fonts"), BOTH)
    english, german = found["en"], found["de"]
    assert (english.frequencies, english.stems) == (BOTH["en"], {})
    assert english.probability == pytest.approx(1 / (1 + FIFTH))
    assert german.probability == pytest.approx(FIFTH / (1 + FIFTH))
    assert german.stems == {"hous": "hous", "font": "font"}


@pytest.mark.parametrize(
    ("before", "probability"), [(MAX_WORDS - 1, 1 / (1 + FIFTH)), (MAX_WORDS, 0.5)]
)
def test_the_first_words_determine_the_language(before: int, probability: float) -> None:
    """`haus` makes German more likely: 30 + 7.5 pages of 150, and 7.5."""
    unknown = " ".join(f"unknown{number}" for number in range(before))
    found = read_by_language(parse(f"{unknown} haus"), BOTH)
    assert found["de"].probability == pytest.approx(probability)


def bm25_idf(documents: float, having: float) -> float:
    return math.log(1 + (documents - having + 0.5) / (having + 0.5))


def test_words_are_as_telling_on_the_only_page_of_a_language_as_among_all() -> None:
    whole = {"xx": pages(1, {"previews": 1, "scala": 1}), "en": pages(999, {"preview": 999})}
    idf = smoothed_idf(words("previews", "scala"), "xx", whole)
    assert idf("previews") == pytest.approx(bm25_idf(1 + SMOOTHING, 1 + SMOOTHING))
    assert idf("scala") == pytest.approx(bm25_idf(1 + SMOOTHING, 1 + SMOOTHING / 1000))
    assert idf("other") == pytest.approx(bm25_idf(1 + SMOOTHING, 0))
    only = smoothed_idf([], "xx", {"xx": pages(1, {"scala": 1})})
    assert only("scala") == pytest.approx(bm25_idf(1 + SMOOTHING, 1 + SMOOTHING))


def test_words_are_as_telling_in_an_empty_index_as_unknown_ones() -> None:
    assert smoothed_idf(words("a"), "en", {"en": pages(0, {})})("a") == bm25_idf(SMOOTHING, 0)


def test_words_have_a_term_in_each_language() -> None:
    typed = words("previews", "日本", "Fonts")
    assert _translate_terms(typed, "xx", "en") == {"previews": "preview", "fonts": "font"}
    assert _translate_terms(typed, "en", "xx") == {"preview": "previews", "font": "fonts"}


@pytest.mark.parametrize(
    ("language", "stop_words"),
    [("de", {"the": "the", "with": "with"}), ("xx", {})],  # which has no forms beside its terms
)
def test_words_that_are_stop_words_in_another_language(
    language: str, stop_words: dict[str, str]
) -> None:
    typed = words("the", "house", "with", "with house")
    assert _stop_words(typed, language, "en") == stop_words


@pytest.mark.parametrize("others", [1, 2, 24])
def test_a_preference_counts_against_all_other_languages_together(others: int) -> None:
    whole = {"en": pages(9, {})} | {f"{number}": pages(9, {}) for number in range(others)}
    likely = _likelihoods([], whole, "en", "")
    assert likely["en"] / (sum(likely.values()) - likely["en"]) == pytest.approx(
        math.exp(LANGUAGE_PREFERENCE)
    )
    likely = _likelihoods([], whole, "", "en")
    assert likely["en"] / (sum(likely.values()) - likely["en"]) == pytest.approx(math.exp(DETECTED))
