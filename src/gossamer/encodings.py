"""Encodings of the web: their names, their labels, and Python's codecs for them.

Names and labels: WHATWG Encoding Standard, §4.2. Encodings that browsers refuse to decode
(the standard's "replacement": HZ, ISO-2022-KR, ISO-2022-CN; and UTF-7) have no entry.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_TABLE = """
utf-8         utf-8         unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8
                            x-unicode20utf8
ibm866        cp866         866 cp866 csibm866 ibm866
iso-8859-2    iso8859-2     csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 l2
                            latin2
iso-8859-3    iso8859-3     csisolatin3 iso-8859-3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 l3
                            latin3
iso-8859-4    iso8859-4     csisolatin4 iso-8859-4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 l4
                            latin4
iso-8859-5    iso8859-5     csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5
                            iso88595 iso_8859-5
iso-8859-6    iso8859-6     arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114
                            iso-8859-6 iso-8859-6-e iso-8859-6-i iso-ir-127 iso8859-6 iso88596
                            iso_8859-6
iso-8859-7    iso8859-7     csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7
                            iso-ir-126 iso8859-7 iso88597 iso_8859-7 sun_eu_greek
iso-8859-8    iso8859-8     csiso88598e csisolatinhebrew hebrew iso-8859-8 iso-8859-8-e
                            iso-ir-138 iso8859-8 iso88598 iso_8859-8 visual
iso-8859-8-i  iso8859-8     csiso88598i iso-8859-8-i logical
iso-8859-10   iso8859-10    csisolatin6 iso-8859-10 iso-ir-157 iso8859-10 iso885910 l6 latin6
iso-8859-13   iso8859-13    iso-8859-13 iso8859-13 iso885913
iso-8859-14   iso8859-14    iso-8859-14 iso8859-14 iso885914
iso-8859-15   iso8859-15    csisolatin9 iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9
iso-8859-16   iso8859-16    iso-8859-16
koi8-r        koi8-r        cskoi8r koi koi8 koi8-r koi8_r
koi8-u        koi8-u        koi8-ru koi8-u
macintosh     mac-roman     csmacintosh mac macintosh x-mac-roman mac-roman
windows-874   cp874         cp874 dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874
windows-1250  cp1250        cp1250 windows-1250 x-cp1250
windows-1251  cp1251        cp1251 windows-1251 x-cp1251
windows-1252  cp1252        ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1
                            iso-ir-100 iso8859-1 iso88591 iso_8859-1 l1 latin1 us-ascii
                            windows-1252 x-cp1252
windows-1253  cp1253        cp1253 windows-1253 x-cp1253
windows-1254  cp1254        cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599
                            iso_8859-9 l5 latin5 windows-1254 x-cp1254
windows-1255  cp1255        cp1255 windows-1255 x-cp1255
windows-1256  cp1256        cp1256 windows-1256 x-cp1256
windows-1257  cp1257        cp1257 windows-1257 x-cp1257
windows-1258  cp1258        cp1258 windows-1258 x-cp1258
x-mac-cyrillic mac-cyrillic  x-mac-cyrillic x-mac-ukrainian mac-cyrillic
gbk           gb18030       chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk
                            iso-ir-58 x-gbk cp936
gb18030       gb18030       gb18030
big5          big5hkscs     big5 big5-hkscs cn-big5 csbig5 x-x-big5
euc-jp        euc-jp        cseucpkdfmtjapanese euc-jp x-euc-jp euc_jp
iso-2022-jp   iso2022-jp    csiso2022jp iso-2022-jp iso2022_jp
shift_jis     cp932         csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j
                            x-sjis cp932
euc-kr        cp949         cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987
                            ks_c_5601-1989 ksc5601 ksc_5601 windows-949 euc_kr cp949
utf-16be      utf-16-be     unicodefffe utf-16be utf-16-be
utf-16le      utf-16-le     csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16
                            utf-16le utf-16-le
"""
"""Name, codec of Python's, labels. The few labels that are not the standard's are what the
detector calls an encoding."""


def _table() -> Iterator[tuple[str, str, list[str]]]:
    for row in re.split(r"\n(?! )", _TABLE.strip()):
        name, codec, *labels = row.split()
        yield name, codec, labels


_CODECS = {name: codec for name, codec, _ in _table()}
_LABELS = {label: name for name, _, labels in _table() for label in labels}

NAMES = frozenset(_CODECS)
LATIN = frozenset(
    (
        *("iso-8859-2", "iso-8859-3", "iso-8859-4", "iso-8859-10", "iso-8859-13", "iso-8859-14"),
        *("iso-8859-15", "iso-8859-16", "macintosh", "windows-1250", "windows-1252"),
        *("windows-1254", "windows-1257", "windows-1258"),
    )
)
"""A byte a character, and its letters are Latin."""
MULTI_BYTE = frozenset(("gbk", "gb18030", "big5", "euc-jp", "iso-2022-jp", "shift_jis", "euc-kr"))
CYRILLIC = frozenset(("ibm866", "iso-8859-5", "koi8-r", "koi8-u", "windows-1251", "x-mac-cyrillic"))

_USUAL = """
windows-1250 cs hr sk
iso-8859-2 hu pl sl
windows-1251 ba be bg kk ky mk mn ru sr tg tt uk
iso-8859-7 el
windows-1254 az ku tr
windows-1255 he
windows-1256 ar fa ur
windows-1257 et lt lv
windows-1258 vi
windows-874 th
gb18030 zh zh-cn
big5 zh-hk zh-tw
euc-kr ko
shift_jis ja
windows-1252 af ca cy da de es eu fi fo fr fy ga gl is it nb nl nn no pt sq sv
"""
"""By language: HTML, §13.2.3.2, step 9, where browsers fall back to that of their user. English is
the language of templates, and tells nothing."""
_BY_LANGUAGE = {
    language: encoding
    for encoding, *languages in map(str.split, _USUAL.strip().splitlines())
    for language in languages
}


def encoding_of(label: str) -> str | None:
    """The WHATWG name of an encoding's label; None where there is none."""
    return _LABELS.get(label.strip(" \t\r\n\f\"'").lower())


def usual_encoding(tag: str) -> str | None:
    """The legacy encoding of a language (BCP 47), if it has one."""
    tag = tag.lower()
    return _BY_LANGUAGE.get(tag) or _BY_LANGUAGE.get(tag.partition("-")[0])


def codec_of(name: str) -> str:
    """Python's codec for the WHATWG name of an encoding."""
    return _CODECS[name]
