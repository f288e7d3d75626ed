"""Encodings of the web: their names, their labels, and Python's codecs for them.

Names and labels are those of the WHATWG Encoding Standard (§4.2), from webencodings. Its `lookup`
is not used: it raises UnicodeEncodeError for a label with a lone surrogate. Encodings that browsers
refuse to decode (the standard's "replacement") have names of their own. There is no entry for
UTF-7, nor for x-user-defined, which is for scripts.
"""

from __future__ import annotations

from webencodings import PYTHON_NAMES
from webencodings.labels import LABELS

from gossamer.web.legacy_decoding import decode_legacy

_DETECTED = {
    "mac-roman": "macintosh",
    "mac-cyrillic": "x-mac-cyrillic",
    "cp874": "windows-874",
    "cp932": "shift_jis",
    "cp936": "gbk",
    "cp949": "euc-kr",
    "euc_jp": "euc-jp",
    "euc_kr": "euc-kr",
    "iso2022_jp": "iso-2022-jp",
    "utf-16-be": "utf-16be",
    "utf-16-le": "utf-16le",
}
"""The detector's names for encodings that are not labels in the standard."""
_REFUSED = {
    "csiso2022kr": "iso-2022-kr",
    "iso-2022-kr": "iso-2022-kr",
    "iso-2022-cn": "iso-2022-cn",
    "iso-2022-cn-ext": "iso-2022-cn",
    "hz": "hz-gb-2312",
    "hz-gb-2312": "hz-gb-2312",
}
"""Labels of encodings that browsers do not decode."""
_LABELS: dict[str, str] = {
    label: name
    for label, name in (LABELS | _DETECTED | _REFUSED).items()
    if name not in ("replacement", "x-user-defined")
}
_CODECS: dict[str, str] = {name: PYTHON_NAMES.get(name, name) for name in _LABELS.values()} | {
    "gbk": "gb18030",
    "iso-2022-kr": "iso2022_kr",
    "iso-2022-cn": "gb18030",
    "hz-gb-2312": "hz",
}
"""The standard decodes GBK with the decoder of gb18030 (§10.1.1)."""

NAMES = frozenset(_CODECS) - frozenset(_REFUSED.values())
"""Those that browsers decode."""
LATIN = frozenset(
    (
        *("iso-8859-2", "iso-8859-3", "iso-8859-4", "iso-8859-10", "iso-8859-13", "iso-8859-14"),
        *("iso-8859-15", "iso-8859-16", "macintosh", "windows-1250", "windows-1252"),
        *("windows-1254", "windows-1257", "windows-1258"),
    )
)
"""One byte per character, with Latin letters."""
SEVEN_BIT = frozenset(("iso-2022-jp", "iso-2022-kr", "iso-2022-cn", "hz-gb-2312"))
"""Encodings whose bytes are all those of ASCII."""
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
"""Encodings by language: HTML, §13.2.3.2, step 9, by which browsers fall back to the one of their
user's language. English is missing, because templates declare it whatever the page's language."""
_BY_LANGUAGE = {
    language: encoding
    for encoding, *languages in map(str.split, _USUAL.strip().splitlines())
    for language in languages
}


def encoding_of(label: str) -> str | None:
    """The WHATWG name of the encoding with this label; None if the label is unknown."""
    return _LABELS.get(label.strip(" \t\r\n\f\"'").lower())


def usual_encoding(tag: str) -> str | None:
    """The legacy encoding of a language (BCP 47), if it has one."""
    tag = tag.lower()
    return _BY_LANGUAGE.get(tag) or _BY_LANGUAGE.get(tag.partition("-")[0])


def codec_of(name: str) -> str:
    """Python's codec for the name of an encoding."""
    return _CODECS[name]


def decode_as(body: bytes, name: str) -> str:
    """Decode a body by the name of its encoding, with U+FFFD for errors."""
    return decode_legacy(body, name, _CODECS[name])
