from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.index.format.analysis import (
    OTHER,
    STEMMERS,
    analyzer_for,
    plain_analyzer,
    plain_words_of,
    whitespace_analyzer,
)
from gossamer.index.format.page_keys import title_keys
from gossamer.index.format.stemmers import LIGHT_STEMMERS
from gossamer.search.query import Words
from gossamer.search.query_units import parts_of


@pytest.mark.parametrize(
    ("language", "forms"),
    [
        ("ar", "كتاب الكتاب"),
        ("da", "huset huse"),
        ("de", "Häuser Haus HÄUSERN hauser"),
        ("de", "Straße STRASSE Strassen"),
        ("el", "λόγος ΛΟΓΟΙ λογος"),
        ("en", "Searching searched searches"),
        ("es", "canción cancion CANCIONES"),
        ("fi", "talo taloissa"),
        ("fr", "école Écoles ecole"),
        ("hu", "ház házakért"),
        ("it", "città citta CITTÀ"),
        ("nl", "boeken boek"),
        ("no", "husene huset"),
        ("pt", "informação Informações"),
        ("ro", "copii copiilor"),
        ("ru", "книга книгами КНИГИ"),
        ("ru", "ёлка Елки"),
        ("sv", "flickor flickorna"),
        ("ta", "நூல் நூல்கள்"),
        ("tr", "kitap kitaplar KİTAP"),
        ("tr", "ISPARTA Isparta ısparta"),
    ],
)
def test_forms_of_a_word_are_one_term(language: str, forms: str) -> None:
    assert len(set(analyzer_for(language).terms.analyze(forms))) == 1


@pytest.mark.parametrize(
    ("title", "like", "unlike"),
    [
        ("The Café: a Guide", "the cafe - A GUIDE", "the cafe's guides"),
        ("Straße nach İstanbul", "STRASSE NACH ISTANBUL", "Strasse Istanbul nach"),
        ("計畫 Debian", "計畫, debian", "畫計 Debian"),
        ("हिन्दी", "हिन्दी!", "हन्द"),
    ],
)
def test_titles_are_compared_by_their_words(title: str, like: str, unlike: str) -> None:
    assert title_keys(title) == title_keys(like) != title_keys(unlike)


def test_a_long_title_without_spaces_is_unlike_others() -> None:
    """One word of more than MAX_WORD_BYTES, which texts do not have."""
    first, second = (f"{word}をサスペンドしたあと復帰しないのはなぜですか" * 2 for word in "机本")
    assert title_keys(first) != title_keys(second)


def test_titles_of_the_same_words_and_other_code_differ() -> None:
    (c,), (same, c_plus_plus) = title_keys("C"), title_keys("C++")
    assert c == same != c_plus_plus


def test_other_languages_keep_their_words() -> None:
    assert plain_analyzer().analyze("searches häuser İstanbul") == [
        "searches",
        "hauser",
        "istanbul",
    ]
    assert analyzer_for(OTHER).has_content_word("the")


@pytest.mark.parametrize(
    ("language", "text", "tells"),
    [
        ("en", "the", False),
        ("en", "The of", False),
        ("en", "the web", True),
        ("de", "für und", False),
        ("de", "Haus", True),
        ("ru", "и в на", False),
        ("fr", "et les", False),
        ("en", "", False),
    ],
)
def test_stop_words_tell_nothing(language: str, text: str, tells: bool) -> None:
    assert analyzer_for(language).has_content_word(text) is tells


@given(st.sampled_from([*STEMMERS, OTHER]), st.text())
def test_no_text_is_an_error_and_no_term_is_empty(language: str, text: str) -> None:
    assert all(analyzer_for(language).terms.analyze(text))


@given(st.lists(st.text("aB1 _-\u0301é中—\n") | st.text()))
def test_words_of_names_are_those_of_the_plain_analyzer(names: list[str]) -> None:
    found = whitespace_analyzer().analyze(plain_words_of(names))
    assert sorted(found) == sorted(plain_analyzer().analyze("\n".join(names)))


@pytest.mark.parametrize(
    ("language", "forms"),
    [
        ("be", "кніга кнігамі"),
        ("bg", "книга книгата книги"),
        ("bg", "търсене търсенето търсения"),
        ("bn", "বই বইগুলো"),
        ("ca", "cançó cançons"),
        ("cs", "kniha knihách knihami"),
        ("cs", "zobrazit zobrazení zobrazeno"),
        ("et", "linn linnad linnas"),
        ("eu", "etxe etxean etxeak"),
        ("fa", "کتاب کتاب\u200cها کتابهای"),
        ("ga", "bean bhean mbean"),
        ("gl", "canción cancións"),
        ("gu", "પુસ્તક પુસ્તકો"),
        ("he", "ספר הספר ספרים והספרים"),
        ("hi", "किताब किताबें किताबों"),
        ("hi", "लड़की लड़कियां लड़कियों"),
        ("hy", "քաղաք քաղաքներ քաղաքում"),
        ("id", "tulis menulis penulis ditulis tulisan"),
        ("lt", "knyga knygos knygomis"),
        ("lv", "grāmata grāmatas grāmatām"),
        ("mk", "книга книгата"),
        ("mr", "पुस्तक पुस्तके पुस्तकांचा"),
        ("ne", "किताब किताबहरू किताबमा"),
        ("pa", "ਕਿਤਾਬ ਕਿਤਾਬਾਂ"),
        ("pl", "książka książki książkami"),
        ("pl", "drukować drukowanie drukował"),
        ("sk", "kniha knihách knihami"),
        ("sl", "knjiga knjige knjigami"),
        ("sq", "libri libra"),
        ("sr", "knjiga књига knjigama"),
        ("uk", "книга книгами книгою"),
        ("uk", "друкувати друкування друкував"),
        ("ur", "کتاب کتابوں کتابیں"),
        ("vi", "hòa hoà Hoà"),
        ("vi", "thúy thuý"),
    ],
)
def test_light_stemmers_join_the_forms_of_a_word(language: str, forms: str) -> None:
    assert len({*analyzer_for(language).terms.analyze(forms)}) == 1


@given(st.sampled_from(sorted(LIGHT_STEMMERS)), st.text("abcdefчикаअा", min_size=1))
def test_a_light_stemmer_leaves_something_of_a_word(language: str, word: str) -> None:
    assert len(LIGHT_STEMMERS[language](word)) >= min(len(word), 2)


@pytest.mark.parametrize(
    ("word", "stem"), [("pemberdaya", "berdaya"), ("penulis", "tulis"), ("diperoleh", "peroleh")]
)
def test_an_indonesian_word_loses_one_prefix(word: str, stem: str) -> None:
    assert LIGHT_STEMMERS["id"](word) == stem


def test_every_light_stemmer_is_tested() -> None:
    tested = test_light_stemmers_join_the_forms_of_a_word.pytestmark[0].args[1]  # type: ignore[attr-defined]
    assert {*LIGHT_STEMMERS} == {language for language, _ in tested}


@pytest.mark.parametrize(
    ("word", "terms"), [("मराठी", ["मराठी"]), ("हिन्दी", ["हिन", "दी"]), ("மொழி", ["மொழி"])]
)
def test_words_with_marks_are_words_in_a_language_without(word: str, terms: list[str]) -> None:
    """Its tokenizer ends words at marks that join letters (virama)."""
    text, english = f"a word, {word}, of another script", analyzer_for("en")
    (at,) = (span for term, span in english.words(text) if term == terms[0])
    assert text[slice(*at)] == word
    assert [term for term, span in english.words(text) if span == at] == terms
    assert english.terms.analyze(word) == terms
    assert all(english.spans(text, {term}, "ab") == [at] for term in terms)
    assert len(parts_of(Words(word), english)) == 1
