"""Queries as Chromium encodes them: each row was read from `a.search` on a page in the encoding."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.web.encodings import NAMES
from gossamer.web.query_encoding import UTF8, encode_query

BASE = "https://example.org/dir/"


@pytest.mark.parametrize(
    ("encoding", "text", "query"),
    [
        ("windows-1251", "привет", "%EF%F0%E8%E2%E5%F2"),
        ("windows-1252", "größe€", "gr%F6%DFe%80"),
        ("iso-8859-2", "żółw", "%BF%F3%B3w"),
        ("koi8-r", "да", "%C4%C1"),
        ("gbk", "中€ǹ", "%D6%D0%80%A8%BF"),
        ("gb18030", "中€㐀", "%D6%D0%A2%E3%819%EE9"),
        ("big5", "中文Ё", "%A4%A4%A4%E5%C7%F9"),
        ("big5", "‧￥∕€十／", "%A1E%A2D%A2A%A3%E1%A4Q%A1%FE"),
        ("big5", "•㡵¥", "%26%238226%3B%26%2314453%3B%26%23165%3B"),  # read only, or neither
        ("euc-kr", "검색뷁", "%B0%CB%BB%F6%94%EE"),
        ("shift_jis", "検索～表①ｱ¥", "%8C%9F%8D%F5%81`%95\\%87@%B1\\"),
        ("shift_jis", "ⅰ纊", "%FA@%FA\\"),  # IBM's place, not NEC's
        ("euc-jp", "検索～①ｱ", "%B8%A1%BA%F7%A1%C1%AD%A1%8E%B1"),
        ("iso-2022-jp", "a検索bア¥x", "a%1B$B8!:w%1B(Bb%1B$B%%22%1B(J\\%1B(Bx"),
        ("iso-2022-jp", "検ｱ", "%1B$B8!%%22%1B(B"),
        # what an encoding lacks is a percent-encoded reference of HTML
        ("windows-1252", "中", "%26%2320013%3B"),
        ("gbk", "㐀", "%26%2313312%3B"),
        ("shift_jis", "¢", "%26%23162%3B"),
        ("euc-jp", "丂", "%26%2319970%3B"),  # only in JIS X 0212, which is never written
        ("iso-2022-jp", "検€", "%1B$B8!%1B(B%26%238364%3B"),
        # UTF-8, though the page is not
        ("utf-16le", "é", "é"),
        ("iso-2022-kr", "é", "é"),
        ("hz-gb-2312", "é", "é"),
        ("utf-8", "é", "é"),
    ],
)
def test_queries_have_the_encoding_of_their_page(encoding: str, text: str, query: str) -> None:
    assert encode_query(f"/f?q={text}", BASE, encoding) == f"/f?q={query}"


@pytest.mark.parametrize(
    ("href", "encoded"),
    [
        ("/ä", "/ä"),
        ("/ä?x=1", "/ä?x=1"),
        ("/x#ä", "/x#ä"),
        ("/x#a?ä", "/x#a?ä"),
        ("/ä?ä#ä", "/ä?%E4#ä"),
        ("?ä", "?%E4"),
        ("//other.example?ä", "//other.example?%E4"),
        (" HTTP://other.example/?ä ", " HTTP://other.example/?%E4"),
        ("ftp://h/?ä", "ftp://h/?%E4"),
        ("gopher://h/?ä", "gopher://h/?ä"),  # only special schemes have another encoding
        ("mailto:a@b?subject=ä", "mailto:a@b?subject=ä"),
        ("/x?a=1&b=ä+%C3%A4 'y'", "/x?a=1&b=%E4+%C3%A4%20%27y%27"),
        ("/x?ä\n\t\rb?c", "/x?%E4b?c"),
        ("/x?\udcff", "/x?%26%2356575%3B"),
    ],
)
def test_only_the_query_is_encoded(href: str, encoded: str) -> None:
    assert encode_query(href, BASE, "windows-1252") == encoded


def test_the_scheme_of_the_base_counts() -> None:
    assert encode_query("?ä", "gopher://h/", "windows-1252") == "?ä"


@given(st.text(min_size=1), st.sampled_from(sorted(NAMES - UTF8)))
def test_an_encoded_query_is_ascii(text: str, encoding: str) -> None:
    written = text.replace("#", "")
    assert encode_query(f"?ä{written}", BASE, encoding).isascii()


@given(st.text(), st.text(), st.sampled_from(sorted(NAMES)))
def test_nothing_is_raised(href: str, base: str, encoding: str) -> None:
    encode_query(href, base, encoding)
