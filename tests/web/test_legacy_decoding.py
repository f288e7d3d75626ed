"""Encodings as Chromium decodes them; tests/browser/test_answers.py asks it about whole pages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.web.encodings import NAMES, SEVEN_BIT, codec_of, decode_as, encoding_of

KOREAN, CHINESE, JAPANESE = "등대지기는 배를 센다", "灯塔看守人数船", "灯台守は船を数える"


@pytest.mark.parametrize(
    ("body", "name", "text"),
    [
        (b"\x80 12", "gbk", "€ 12"),
        (b"\x80\x30\x80", "gb18030", "€0€"),
        (b"\xb4\xac\x80\xff", "gbk", "船€\ufffd"),
        (b"\xa3\xa0x", "gbk", "\u3000x"),
        (b"\xa6\xd9", "gb18030", "︐"),
        (b"\xad\xa1\xad\xea", "euc-jp", "①㈱"),
        (b"\xf9\xa1\xfc\xfe", "euc-jp", "纊"),  # a kanji of IBM, and nothing
        (b"\xa1\xc1\xa1\xc2\xa1\xdd\xa1\xf1\xa1\xf2\xa2\xcc", "euc-jp", "～∥－￠￡￢"),
        (b"\x8e\xb1\x8f\xb0\xa1", "euc-jp", "ｱ丂"),
        (b"\x1b$B-!-j!A\x1b(B~", "iso-2022-jp", "①㈱～~"),
        (b"\x1b$@Ek\x1b(B\\", "iso-2022-jp", "搭\\"),
        (b"\x1b(I1234\x1b(B5", "iso-2022-jp", "ｱｲｳｴ5"),
        (b"a\x0e12\x0f3", "iso-2022-jp", "aｱｲ3"),
        (b"\x1b(J\\~\x1b(B\\~", "iso-2022-jp", "¥‾\\~"),
        (b"\x1b$(D0!\x1b(B", "iso-2022-jp", "丂"),
        (b"\xae\xbe\xa6", "koi8-u", "ўЎі"),
        (b"<p>~{4,~}~~ ~\nx", "hz-gb-2312", "<p>船~ x"),
        (b"~{4,\n~{4,", "hz-gb-2312", "船\n船"),  # without an end
        (b"\x1b$)A\x0e4,\x0f a", "iso-2022-cn", "船 a"),
        (b"\x0e4,\x0f a", "iso-2022-cn", "船 a"),  # without a designation
    ],
)
def test_what_python_has_not(body: bytes, name: str, text: str) -> None:
    assert decode_as(body, name)[: len(text)] == text


@pytest.mark.parametrize(
    ("text", "name", "codec"),
    [
        (KOREAN, "iso-2022-kr", "iso2022_kr"),
        (CHINESE, "hz-gb-2312", "hz"),
        (JAPANESE, "iso-2022-jp", "iso2022_jp"),
        (JAPANESE + "ｱｲ", "iso-2022-jp", "iso2022_jp_ext"),
    ],
)
def test_python_encodes_the_same(text: str, name: str, codec: str) -> None:
    line = f"<p>{text}</p> ~ and more\n"
    assert decode_as((line * 2).encode(codec), name) == line * 2


def test_labels_of_what_browsers_refuse() -> None:
    labels = ["ISO-2022-KR", "csISO2022KR", "iso-2022-cn", "iso-2022-cn-ext", "HZ-GB-2312", "hz"]
    assert {encoding_of(label) for label in labels} == SEVEN_BIT - {"iso-2022-jp"}
    assert encoding_of("replacement") is None


@given(body=st.binary(max_size=40), name=st.sampled_from(sorted(NAMES | SEVEN_BIT)))
def test_any_bytes_are_text(body: bytes, name: str) -> None:
    decode_as(body, name).encode("utf-8", "surrogatepass")


PARTS = [
    *(b"\x1b$B", b"\x1b$@", b"\x1b(B", b"\x1b(I", b"\x1b(J", b"\x1b$)C", b"\x0e", b"\x0f"),
    *(b"~{", b"~}", b"\n", b"4,", b"0", b"\x1b"),
]
ESCAPES = st.lists(st.sampled_from(PARTS), max_size=12).map(b"".join)


@given(body=ESCAPES, name=st.sampled_from(sorted(SEVEN_BIT)))
def test_escapes_in_any_order_are_text(body: bytes, name: str) -> None:
    decode_as(body, name).encode()


@pytest.mark.parametrize("name", ["gbk", "euc-jp", "iso-2022-jp", "iso-2022-kr"])
def test_ascii_stays_as_it_is(name: str) -> None:
    text = "".join(map(chr, range(0x20, 0x7F)))
    assert decode_as(text.encode(), name) == text
    assert codec_of(name)
