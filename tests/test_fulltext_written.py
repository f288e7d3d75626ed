from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.fulltext.camel_case import camel_parts
from gossamer.fulltext.written import MAX_TERMS, Written


@pytest.mark.parametrize(
    ("text", "words", "code"),
    [
        ("A plain sentence, (with brackets).", "A plain sentence with brackets", ""),
        ("C++11, (C++) C# F#.", "C 11 F", "C++11 +11 C++ C# F#"),
        ("The .NET runtime; ASP.NET", "The runtime NET ASP", "ASP.NET .NET"),
        ("~/.bashrc", "bashrc", "~/.bashrc /.bashrc .bashrc"),
        ("#[derive(Debug, Clone)]", "Clone derive Debug", "derive(Debug #[derive"),
        ("=SUM(A1:A10)", "SUM A1 A10", "SUM(A1 A1:A10 =SUM"),
        ("std::vec::Vec<T>", "std vec Vec T", "std::vec vec::Vec Vec<T :vec :Vec"),
        ('"pg_hba.conf",', "pg hba conf", "pg_hba pg_hba.conf"),
        ("--as-cran [-sname", "as cran sname", "as-cran --as-cran -as-cran -sname"),
        ("Option<&str>", "Option str", "Option<& Option<&str &str"),
        ("a ~* b | c - d -- e ... ?.", "a b c d e", "~* | ?."),
        ("don't 3.14 10:30", "don t 3 14 10 30", ""),
        ("λx", "λx", ""),
        ("__init__", "init", "__init__"),
    ],
)
def test_terms_of_a_text(text: str, words: str, code: str) -> None:
    written = Written.of(text)
    assert set(written.words) == set(words.split())
    assert set(written.code_terms()) == set(code.split())


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


PIECE = st.text(st.sampled_from("aB1_λ.,:;-+#*&<>()[]{}'\"/~=@é"), min_size=1)


@given(PIECE, st.lists(PIECE))
def test_a_typed_piece_is_found_among_others(piece: str, others: list[str]) -> None:
    typed, text = Written.of(piece), Written.of(" ".join([*others, piece]))
    assert set(typed.terms()) <= set(text.terms())


@given(st.text())
def test_any_text_has_terms(text: str) -> None:
    for term in Written.of(text).terms():
        assert term
        assert not set(term) & set(" \n\t")


@pytest.mark.parametrize(
    "piece", ["a", "_", "a_", "-#", "#a-", "(((", "a+", "!", "- ", "aB", "A", "'a", "+a1"]
)
def test_hostile_text_takes_linear_time(piece: str) -> None:
    started_s = time.process_time()
    written = Written.of(piece * 100_000)
    assert len(list(written.terms())) <= MAX_TERMS
    assert all(map(str.split, written.split_words()))
    assert time.process_time() - started_s < 2  # quadratic time would take minutes
