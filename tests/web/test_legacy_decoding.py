"""Encodings as Chromium decodes them; tests/browser/test_answers.py asks it about whole pages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.web.big5 import encode_big5
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
        (b"\x8f\xa2\xb7~", "euc-jp", "～~"),
        (b"\xa1\xff\xff\xa1", "euc-jp", "\ufffd" * 4),
        (b"\xa0\xfd\xfe\xffA", "shift_jis", "\ufffd" * 4 + "A"),
        (b"\x1b(I\xa0", "iso-2022-jp", "\ufffd"),
        (b"\xa4\xa4\x87\x7a\x87\xdfz", "big5", "中㡵鿋z"),
        (b"\x8eisi\xfe\xdd", "big5", "箸si砉"),
        (b"\xa3\xc0\xa3\xe0\xa3\xe1\xa3\xe2", "big5", "␀␡€\ufffd\ufffd"),
        (b"\xa1\x45\xa1\xe3\xa2\x44\xa1\xfe\xa2\x40", "big5", "‧～￥／＼"),
        (b"\xa2A\xa2B\xa1\xfe\xa4\xa4/\x87", "big5", "∕﹨／中/\ufffd"),
        (b"\xb4\xa2A\xb4\xa2B", "big5", "揣A揣B"),  # a trail and a letter
        (b"\x88\x62\x88\xa5", "big5", "Ê\u0304ê\u030c"),
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


def test_what_big5_decodes_it_encodes_at_one_of_its_places() -> None:
    pairs = [bytes((lead, trail)) for lead in range(0xA1, 0xFF) for trail in range(0x40, 0xFF)]
    texts = {pair: decode_as(pair, "big5") for pair in pairs}
    chars = {text for text in texts.values() if len(text) == 1}
    assert len(chars) > 13_500
    places = {char: encode_big5(char) for char in chars}
    assert all(texts[place or b""] == char for char, place in places.items())
    first = {texts[pair]: pair for pair in reversed(pairs)}
    assert {char for char in chars if places[char] != first[char]} == set("═╞╡╪卅十")
    assert [encode_big5(char) for char in "a€é㡵"] == [b"a", b"\xa3\xe1", None, None]


@pytest.mark.parametrize(
    "name", ["big5", "shift_jis", "gbk", "euc-jp", "iso-2022-jp", "iso-2022-kr"]
)
def test_ascii_stays_as_it_is(name: str) -> None:
    text = "".join(map(chr, range(0x20, 0x7F)))
    assert decode_as(text.encode(), name) == text
    assert codec_of(name)
