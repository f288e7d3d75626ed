"""What tantivy gets between spaces are the terms that its own filters would make of the text."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING
from unicodedata import combining

import pytest
import tantivy
from hypothesis import example, given
from hypothesis import strategies as st
from tantivy import TextAnalyzerBuilder, Tokenizer

from gossamer.index.format import schema
from gossamer.index.format.analysis import MAX_WORD_BYTES, OTHER, analyzer_for
from gossamer.index.format.exact_form import different_words, join_texts
from gossamer.index.format.field_terms import GAP, field_terms
from gossamer.index.format.normalization import normalize

if TYPE_CHECKING:
    from pathlib import Path

LONG = "x" * MAX_WORD_BYTES
LANGUAGES = ["en", "de", "tr", "el", "ru", "ar", "ta", "cs", "fa", "hi", "vi", "ja", "ko", OTHER]
LATIN = [
    "en",
    "fr",
    "fi",
    "tr",
    "cs",
    "pl",
    "sk",
    "sl",
    "et",
    "lt",
    "lv",
    "ca",
    "eu",
    "ga",
    "gl",
    "sq",
]
"""Languages in whose words an accent may be left out."""
PIECES = st.sampled_from(
    [
        *("The", "runners'", "C++", "a_b", "“quick”-running", "arrivé", "ÉTÉ", "İstanbul"),
        *("Straße", "όταν", "ΌΤΑΝ", "Κρίνος", "книги", "كتاب", "हिन्दी", "தமிழ்", "ＡＢＣ"),
        *("日本語です", "서울에서", "knihách", "đường", "1,250", "\0", "¹²", "ﬁ"),
        *("x" * (MAX_WORD_BYTES - 1), LONG, f"{LONG}’s"),
    ]
)
TEXTS = st.lists(PIECES).map(" ".join) | st.text().filter(str.isprintable)


def expected(text: str, language: str) -> list[str]:
    """The terms of a normalised text by tantivy's filters, and gaps but at its end."""
    analyzer = analyzer_for(language)
    tokenizer = Tokenizer.whitespace() if analyzer.splits_unspaced else Tokenizer.simple()
    tokens = TextAnalyzerBuilder(tokenizer).build().analyze(analyzer.in_place(text))
    terms = [" ".join(analyzer.terms.analyzer.analyze(token)) or GAP for token in tokens]
    while terms and terms[-1] == GAP:
        terms.pop()
    return terms


def found(values: list[str]) -> list[str]:
    return f" {GAP} ".join(values).split(" ") if values != [""] else []


@given(TEXTS, st.sampled_from(LANGUAGES))
@example(f"a {LONG} {LONG} b {LONG}", "en")
@example("όταν κρίνος όταν", "el")
def test_values_are_the_terms_of_the_filters(text: str, language: str) -> None:
    normal = normalize(text)
    values = field_terms(language).of_words(normal)
    assert [term for term in found(values) if term] == expected(normal, language)


@given(st.lists(TEXTS), st.sampled_from(LANGUAGES))
def test_texts_have_a_value_each_and_others_for_pairs(texts: list[str], language: str) -> None:
    terms, analyzer = field_terms(language), analyzer_for(language)
    normal = [normalize(text) for text in texts]
    apart: list[str] = []
    for text in normal:
        apart += terms.of_words(text)
        if further := analyzer.further_terms(text):
            apart.append(" ".join(analyzer.terms.analyzer.analyze(further)))
    values, different = terms.of_texts(normal)
    assert values == apart
    if not analyzer.splits_unspaced:
        assert different == different_words(join_texts(normal))


@given(TEXTS, st.sampled_from(LANGUAGES))
def test_forms_are_those_of_the_filters(text: str, language: str) -> None:
    different, analyzer = different_words(join_texts([normalize(text)])), analyzer_for(language)
    forms = analyzer.exact_form.analyzer.analyze(analyzer.forms(different))
    assert sorted(field_terms(language).forms(different).split()) == sorted(forms)


@pytest.mark.parametrize(("text", "is_found"), [("red fox", True), (f"red {LONG} fox", False)])
def test_phrases_do_not_leave_out_a_word_without_a_term(
    tmp_path: Path, text: str, *, is_found: bool
) -> None:
    folder = tmp_path / "en"
    folder.mkdir()
    index = schema.create(folder)
    writer = index.writer(15_000_000, 1)
    document = tantivy.Document()
    for value in field_terms("en").of_words(text):
        document.add_text("text", value)
    writer.add_document(document)
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    phrase = tantivy.Query.phrase_query(index.schema, "text", ["red", "fox"])
    assert bool(index.searcher().search(phrase).hits) == is_found


@given(st.text("aceimnorstyàäåçéęíñóõšűžá", min_size=2), st.sampled_from(LATIN))
@example("bádóirí", "ga")
@example("shtëpitë", "sq")
def test_who_types_without_accents_finds_the_word(word: str, language: str) -> None:
    """The index has the terms of the word as it is typed without accents."""
    analyzer, normal = analyzer_for(language), normalize(word)
    typed = plain(normal)
    terms = found(field_terms(language).of_words(normal))
    terms += found(field_terms(language).without_accents(normal))
    assert {*analyzer.terms.analyze(typed)} <= {*terms}


def plain(word: str) -> str:
    """Letters without their accents (Unicode Standard Annex #15: decomposed, without marks)."""
    return "".join(each for each in unicodedata.normalize("NFD", word) if not combining(each))
