from __future__ import annotations

import codecs
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.parse.reading.charset import decode
from gossamer.parse.reading.charset.detection import PRESCAN_BYTES
from gossamer.web.encodings import _CODECS, _LABELS, encoding_of

RUSSIAN = "Привет, мир! Это простая страница о погоде и о прогулках в лесу."
JAPANESE = "これは日本語のページです。天気の話と山の話をします。"
CHINESE = "这是一个中文网页，关于天气和山里的散步。"
TAIWANESE = "這是一個中文網頁，關於天氣和山裡的散步。"
KOREAN = "날씨와 산책에 대한 페이지입니다. 안녕하세요."
FRENCH = "Ça va très bien, élève à l’école, où l’été dure."


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("UTF8", "utf-8"),
        (" latin1 ", "windows-1252"),
        ("'ISO-8859-1'", "windows-1252"),
        ("ascii", "windows-1252"),
        ("GB2312", "gbk"),
        ("x-sjis", "shift_jis"),
        ("ks_c_5601-1987", "euc-kr"),
        ("iso-8859-9", "windows-1254"),
        ("tis-620", "windows-874"),
        ("utf-16", "utf-16le"),
        ("iso_8859-1:1987", "windows-1252"),
        ("iso_8859-9:1989", "windows-1254"),
        ("\ud800", None),
        ("x-user-defined", None),
        ("hz-gb-2312", "hz-gb-2312"),
        ("iso-2022-kr", "iso-2022-kr"),
        ("utf-7", None),
        ("none such", None),
        ("", None),
    ],
)
def test_labels_mean_what_the_standard_says(label: str, name: str | None) -> None:
    assert encoding_of(label) == name


def test_every_encoding_has_a_codec_and_its_own_name_as_a_label() -> None:
    for name, codec in _CODECS.items():
        codecs.lookup(codec)
        assert encoding_of(name) == name
    assert len(_LABELS) > 200


@pytest.mark.parametrize(
    ("text", "codec", "name"),
    [
        (RUSSIAN, "cp1251", "windows-1251"),
        (RUSSIAN, "koi8-r", "koi8-r"),
        (RUSSIAN, "iso8859-5", "iso-8859-5"),
        (JAPANESE, "cp932", "shift_jis"),
        (JAPANESE, "euc-jp", "euc-jp"),
        (JAPANESE, "iso2022-jp", "iso-2022-jp"),
        (CHINESE, "gb18030", "gb18030"),
        (CHINESE, "gb2312", "gbk"),
        (TAIWANESE, "big5", "big5"),
        (KOREAN, "cp949", "euc-kr"),
        (FRENCH, "cp1252", "windows-1252"),
        (FRENCH, "utf-8", "utf-8"),
    ],
)
def test_a_declared_encoding_in_header_or_meta(text: str, codec: str, name: str) -> None:
    body = text.encode(codec)
    assert decode(body, name.upper()) == (text, name)
    for meta in (
        f"<meta charset={name}>",
        f'<META http-equiv="Content-Type" content="text/html; charset={name}">',
        f"<!-- <meta charset=koi8-u> --><meta name=x><meta charset = '{name}' >",
    ):
        assert decode(meta.encode() + body, None) == (meta + text, name)


@pytest.mark.parametrize(
    ("mark", "codec", "name"),
    [
        (codecs.BOM_UTF8, "utf-8", "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le", "utf-16le"),
        (codecs.BOM_UTF16_BE, "utf-16-be", "utf-16be"),
    ],
)
def test_a_byte_order_mark_beats_every_label(mark: bytes, codec: str, name: str) -> None:
    html = f"<meta charset=koi8-r>{RUSSIAN}"
    assert decode(mark + html.encode(codec), "windows-1251") == (html, name)


def test_utf_16_without_a_mark_is_told_by_the_nuls_of_its_markup() -> None:
    html = f"<!doctype html><p>{RUSSIAN}"
    for header in (None, "utf-8", "koi8-r", "utf-16le"):
        assert decode(html.encode("utf-16-be"), header) == (html, "utf-16be")
        assert decode(html.encode("utf-16-le"), header) == (html, "utf-16le")
    ascii_only = "<p>plain".encode("utf-16-le")
    assert decode(ascii_only, "utf-16") == ("<p>plain", "utf-16le")


def test_a_meta_in_ascii_bytes_cannot_say_utf_16() -> None:
    html = "<meta charset=utf-16><p>plain"
    assert decode(html.encode(), None) == (html, "utf-8")


@pytest.mark.parametrize("body", [b"a\0b", b"a\0b\0", b"words\0\0\0\0\0\0 and \0\0\0\0 words"])
def test_a_few_nuls_are_no_utf_16(body: bytes) -> None:
    assert decode(body, None) == (body.decode(), "utf-8")


def test_escapes_are_iso_2022_jp_where_they_can_be() -> None:
    assert decode(JAPANESE.encode("iso2022-jp"), "utf-8") == (JAPANESE, "iso-2022-jp")
    assert decode(b"\x1b$B\xff", "utf-8")[1] != "iso-2022-jp"
    assert decode(b"\x1b$Bzzzzzz \x1b$ \x1b$B~~~~", None)[1] == "utf-8"


def test_wrong_labels_lose_against_the_bytes() -> None:
    assert decode(RUSSIAN.encode(), "iso-8859-1") == (RUSSIAN, "utf-8")
    assert decode(CHINESE.encode(), "gbk") == (CHINESE, "utf-8")
    meta = "<meta charset=windows-1251>" + RUSSIAN
    assert decode(meta.encode("cp1251"), "utf-8") == (meta, "windows-1251")
    assert decode(RUSSIAN.encode("koi8-r") * 4, "utf-8") == (RUSSIAN * 4, "koi8-r")
    assert decode(JAPANESE.encode("euc-jp") * 4, "no-such-label") == (JAPANESE * 4, "euc-jp")


def test_a_right_label_outlives_a_few_wrong_bytes() -> None:
    text, name = decode(RUSSIAN.encode() * 3 + b"\xff", "utf-8")
    assert (text, name) == (RUSSIAN * 3 + "\ufffd", "utf-8")


def test_two_letters_that_look_like_utf_8_are_no_proof() -> None:
    text = "Â©"  # in windows-1252 the bytes of "©" in UTF-8
    assert decode(text.encode("cp1252"), "windows-1252") == (text, "windows-1252")
    assert decode(text.encode("cp1252"), None) == ("©", "utf-8")


def test_a_character_that_was_cut_at_the_end_is_no_error() -> None:
    assert decode(RUSSIAN.encode()[:-2], None) == (RUSSIAN[:-2], "utf-8")


@pytest.mark.parametrize(
    ("text", "codec"),
    [(RUSSIAN, "cp1251"), (RUSSIAN, "koi8-r"), (JAPANESE, "cp932"), (CHINESE, "gb18030")],
)
def test_what_declares_nothing_is_detected(text: str, codec: str) -> None:
    found, _ = decode(f"<p>{text}".encode(codec) * 10, None)
    assert found == f"<p>{text}" * 10


def test_ascii_is_utf_8_whatever_the_label() -> None:
    assert decode(b"plain", "windows-1251") == ("plain", "utf-8")


def test_meta_is_looked_for_in_the_beginning_only() -> None:
    body = b" " * PRESCAN_BYTES + b"<meta charset=koi8-r>" + RUSSIAN.encode("cp1251") * 4
    assert decode(body, None)[1] == "windows-1251"


@given(st.binary(max_size=300), st.none() | st.sampled_from(sorted(_LABELS)) | st.text())
def test_decoding_never_raises(body: bytes, label: str | None) -> None:
    text, name = decode(body, label)
    assert name in _CODECS
    text.encode()


@pytest.mark.parametrize(
    "unit",
    [b"<!--", b"<meta ", b"<meta charset", b"\xff", b"\xe4\xb8", b"x\xe9", b"\xb3x", b"<html "],
)
def test_cost_is_bounded(unit: bytes) -> None:
    start = time.process_time()
    for label in (None, "iso-8859-1", "windows-1251", "shift_jis", "utf-8"):
        decode(unit * 200_000, label)
    assert time.process_time() - start < 3


KOREAN_LINE = "등대지기는 매일 아침 항구에 들어오는 배를 센다. "
CHINESE_LINE = "灯塔看守人每天早上数进港的船，晚上点亮灯塔。"


@pytest.mark.parametrize(
    ("text", "codec", "name"),
    [(KOREAN_LINE, "iso2022_kr", "iso-2022-kr"), (CHINESE_LINE, "hz", "hz-gb-2312")],
)
@pytest.mark.parametrize("is_declared", [False, True])
def test_encodings_that_browsers_refuse(
    text: str, codec: str, name: str, *, is_declared: bool
) -> None:
    body = f"<p>{text}</p>\n".encode(codec)
    assert decode(body, name if is_declared else None) == (f"<p>{text}</p>\n", name)


def test_half_width_katakana_alone() -> None:
    assert decode(b"<p>\x1b(I1234567\x1b(B", None) == ("<p>ｱｲｳｴｵｶｷ", "iso-2022-jp")


@pytest.mark.parametrize("text", ["if (a ~{b}) {c~}", "~{", "\x1b[1mbold\x1b[0m"])
def test_ascii_that_looks_like_them(text: str) -> None:
    assert decode(text.encode(), None) == (text, "utf-8")


@pytest.mark.parametrize("label", ["iso-2022-jp", "utf-16le"])
def test_utf_8_that_its_label_could_not_be_is_utf_8(label: str) -> None:
    assert decode("caf\u00e9".encode(), label) == ("caf\u00e9", "utf-8")
