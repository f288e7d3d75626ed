from __future__ import annotations

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gossamer.index.format.analysis import analyzer_for, camel_parts, whitespace_analyzer
from gossamer.index.format.exact_form import (
    MAX_CAMEL_CASE,
    MAX_PIECES,
    code_in,
    different_words,
    join_texts,
    marked_pieces,
    pieces_of,
    split_unspaced,
    split_words,
)


def code_terms(text: str) -> list[str]:
    code = " ".join(map(code_in, marked_pieces(join_texts([text])).code))
    terms: list[str] = whitespace_analyzer().analyze(code)
    return terms


def camel_case(text: str) -> list[str]:
    return list(split_words(marked_pieces(join_texts([text])).camel_case))


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("A plain sentence, (with brackets).", ""),
        ("C++11, (C++) C# F#.", "c++ c++ c# f#"),
        ("The .NET runtime; ASP.NET", ".net .net"),
        ("~/.bashrc", "~/ .bashrc"),
        ("#[derive(Debug, Clone)]", "#[derive"),
        ("=SUM(A1:A10)", "=sum :a10"),
        ("std::vec::Vec<T>", "::vec ::vec <t"),
        ('"pg_hba.conf",', ".conf pg_hba"),
        ("a->b_c, .d_e f_ _1 1_2g ___", "-> .d_e b_c d_e f_ _1 1_2g"),
        ("check --as-cran [-sname", "--as-cran -sname"),
        ("Option<&str>", "&str"),
        ("a ~*, b | (:=) c - d e ... ?. a->b", "~* := ->"),
        ("don't 3.14 10:30 f-string", "-string"),
        ("λx", ""),
        ("int[] a #{} ${x} {} f() i++", "[] #{ ${x {} i++"),
        ("__init__ @Override $PATH %s", "@override $path %s __init__"),
        ("HEAD~3 x^2, ~3 min A^1^2 a~3b ^^", "^^ ~3 ^2 ^1 ^2"),
        ("a.b++ b::c C#/c++d e.f", ".b ++ ::c c# /c ++d .f"),
    ],
)
def test_code_of_a_text(text: str, terms: str) -> None:
    assert code_terms(text) == terms.split()


def test_words_in_camel_case_are_split_once() -> None:
    text = "ThreadPoolExecutor, (ThreadPoolExecutor) of the pool. Hash HashMap.put(A1) JSON Utf8To"
    split = ["Thread Pool Executor", "Hash Map", "Utf 8 To"]
    assert camel_case(text) == split


def test_the_pieces_of_a_page_are_bounded() -> None:
    pieces = marked_pieces(
        join_texts([f"aB{number}" for number in range(MAX_PIECES + 9)])
    ).camel_case
    assert len(pieces.split()) == MAX_PIECES
    assert len(list(split_words(pieces))) == MAX_CAMEL_CASE


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("ThreadPoolExecutor", "Thread Pool Executor"),
        ("orElseThrow", "or Else Throw"),
        ("XMLHttpRequest", "XML Http Request"),
        ("HTMLElement", "HTML Element"),
        ("utf8Decoder", "utf 8 Decoder"),
        ("macOS", "mac OS"),
        ("Thread", ""),
        ("URLs", ""),
        ("PDF", ""),
        ("plain", ""),
        ("a" * 200 + "B", ""),
    ],
)
def test_parts_of_camel_case(word: str, parts: str) -> None:
    assert list(camel_parts(word)) == parts.split()


UNSPACED = st.sampled_from("aB1 \u3000\u00a0\u0e01\u17ff\u1000\u3005\u30ff\ufaff\U0002a6d7\u4e2d")
PIECE = st.text(st.sampled_from("aB1_λ.,:;-+#*&<>()[]{}'\"/~^=@é"), min_size=1)


@given(PIECE, st.lists(PIECE))
def test_a_typed_piece_is_found_among_others(piece: str, others: list[str]) -> None:
    assert set(code_terms(piece)) <= set(code_terms(" ".join([*others, piece])))


TEXT = st.one_of(st.text(), st.lists(st.one_of(PIECE, st.text(UNSPACED))).map(" ".join))


@given(TEXT)
@example("a_b é\u00a0a_b a_b")
def test_marked_pieces_have_all_terms_of_a_text(text: str) -> None:
    pieces, marked = pieces_of(text), marked_pieces(join_texts([text]))
    assert sorted(" ".join(map(code_in, marked.code)).split()) == sorted(code_in(pieces).split())
    assert list(split_words(marked.camel_case)) == list(split_words(pieces))
    assert list(split_unspaced(marked.unspaced)) == list(split_unspaced(pieces))


WORDS = st.text("aB1 _-.'’“\u0301İéßσΣ中\u00a0\n") | st.text()


@given(st.lists(WORDS), st.sampled_from(["en", "tr", "pt", "de"]))
def test_different_words_have_all_terms_of_texts(texts: list[str], language: str) -> None:
    analyzer = analyzer_for(language).exact_form
    found = analyzer.analyze(different_words(join_texts(texts)))
    assert {*found} == {term for text in texts for term in analyzer.analyze(text)}


def test_different_words_are_listed_once() -> None:
    assert different_words(join_texts(["The C++ of the", "THE é of É c"])) == "the c of é É"


def test_pieces_of_prose_are_not_marked() -> None:
    prose = 'Plain prose, (with) 3.14 and 10:30; it isn\'t "code". Ça va? HTML.'
    assert marked_pieces(join_texts([prose])) == ([], "", "")


@given(st.text())
def test_any_text_has_terms_without_space(text: str) -> None:
    assert all(term and not set(term) & set(" \n\t") for term in code_terms(text))
    assert all(map(str.strip, camel_case(text)))


@pytest.mark.parametrize(
    "piece", ["a", "_", "a_", "-#", "#a-", "(((", "a+", "!", "- ", "aB", "A", "'a", "+a1"]
)
def test_hostile_text_takes_linear_time(piece: str) -> None:
    started_s = time.process_time()
    text = piece * 50_000
    code_terms(text)
    camel_case(text)
    assert time.process_time() - started_s < 2  # quadratic time would take minutes


def test_each_piece_is_in_the_sections_of_its_kinds() -> None:
    text = "snake_case CamelCase 日本語 plain x-y größe_x A.b"
    found = marked_pieces(join_texts([text]))
    assert found == (["snake_case\nx-y\nA.b", "größe_x"], "CamelCase", "日本語")
