"""From bytes to text in a legacy encoding, as browsers decode it and a little more.

Facts, by comparison of all pairs of bytes with Chromium's TextDecoder
  * Python's GBK and gb18030 lack the euro at 0x80, and have 20 characters of private use, among
    them an ideographic space, 0xA3A0.
  * Python's EUC-JP and ISO-2022-JP are those of JIS X 0208. Browsers have Microsoft's set in all
    Japanese encodings: circled numbers, IBM's kanji, full-width tildes. Half-width katakana after
    `ESC ( I` or SO are missing, too.
  * Python's Shift_JIS of Microsoft has characters of private use at 0xA0 and 0xFD to 0xFF, which
    are errors in browsers; they are here, too, because they tell that a label is wrong.
  * Python's KOI8-U lacks two letters of Belarusian.
  * ISO-2022-KR, ISO-2022-CN and HZ are a danger for scripts, so browsers refuse to decode them (the
    standard's "replacement"). Nothing is executed here, and old pages of Korea and China use them.
  * In the Windows encodings, bytes without a character are invisible controls in browsers. Here
    they are U+FFFD, because they tell that a label is wrong.
"""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING

from gossamer.web.big5 import decode_big5

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

_HIGH = bytes(byte | 0x80 if 0x21 <= byte <= 0x7E else byte for byte in range(256))  # noqa: PLR2004
"""From seven bits to eight: ISO-2022's sets are the halves of EUC's characters."""
_KANA_END = 0x5F
_JP_ESCAPE = re.compile(rb"\x1b(\$[@B]|\(.|\$\(D)|([\x0e\x0f])", re.DOTALL)
_SHIFTED = re.compile(rb"\x0e([^\x0f\n]*)\x0f?")
_DESIGNATIONS = re.compile(rb"\x1b\$[)*+].|\x0f", re.DOTALL)
_HZ = re.compile(rb"~(?:\{((?:[\x21-\x77][\x21-\x7e])*)(?:~\})?|~|\r?\n)")
_MICROSOFT = (
    ("〜", "\uff5e"),
    ("‖", "∥"),
    ("−", "\uff0d"),
    ("¢", "\uffe0"),
    ("£", "\uffe1"),
    ("¬", "\uffe2"),
)
_ROMAN = (
    ("\\", "¥"),
    ("~", "‾"),
)
_BELARUSIAN = (
    ("╝", "ў"),
    ("╬", "Ў"),
)
_GB = (
    ("\ue5e5", "\u3000"),
    ("\ue78d", "\ufe10"),
    ("\ue78e", "\ufe12"),
    ("\ue78f", "\ufe11"),
    ("\ue790", "\ufe13"),
    ("\ue791", "\ufe14"),
    ("\ue792", "\ufe15"),
    ("\ue793", "\ufe16"),
    ("\ue794", "\ufe17"),
    ("\ue795", "\ufe18"),
    ("\ue796", "\ufe19"),
    ("\ue7c7", "ḿ"),
    ("\ue81e", "龴"),
    ("\ue826", "龵"),
    ("\ue82b", "龶"),
    ("\ue82c", "龷"),
    ("\ue832", "龸"),
    ("\ue843", "龹"),
    ("\ue854", "龺"),
    ("\ue864", "龻"),
)
"""Characters of private use in Python's gb18030, and what the standard has in their place."""
_PRIVATE_BYTE = re.compile("[\uf8f0-\uf8f3]")
_PRIVATE_BYTES = dict.fromkeys(range(0xF8F0, 0xF8F4), "\ufffd")
"""What cp932 has for the bytes 0xA0, 0xFD, 0xFE and 0xFF."""
_REPLACE_GB = "gossamer.gb18030"
_REPLACE_JIS = "gossamer.jis"


def decode_legacy(body: bytes, name: str, codec: str) -> str:
    """Decode a body by the WHATWG's name of its encoding, or else by Python's codec."""
    own = _DECODERS.get(name)
    return body.decode(codec, "replace") if own is None else own(body)


def _gb18030(body: bytes) -> str:
    return _exchange(body.decode("gb18030", _REPLACE_GB), _GB)


def _euc_jp(body: bytes) -> str:
    body = body.replace(
        b"\x8f\xa2\xb7", b"\xa1\xc1"
    )  # a tilde, which Python takes for that of ASCII
    return _exchange(body.decode("euc-jp", _REPLACE_JIS), _MICROSOFT)


def _shift_jis(body: bytes) -> str:
    text = body.decode("cp932", "replace")
    return text.translate(_PRIVATE_BYTES) if _PRIVATE_BYTE.search(text) else text


def _koi8_u(body: bytes) -> str:
    return _exchange(body.decode("koi8-u", "replace"), _BELARUSIAN)


def _exchange(text: str, pairs: Iterable[tuple[str, str]]) -> str:
    """Put the second character of each pair in place of the first; faster than str.translate."""
    for old, new in pairs:
        text = text.replace(old, new)
    return text


def _iso_2022_jp(body: bytes) -> str:
    decoders = {
        b"$@": lambda part: _euc_jp(part.translate(_HIGH)),
        b"$B": lambda part: _euc_jp(part.translate(_HIGH)),
        b"$(D": _jis_x_0212,
        b"(I": _kana,
        b"(J": lambda part: _exchange(_ascii(part), _ROMAN),
    }
    parts = []
    place, decoder, is_shifted = 0, _ascii, False
    for found in _JP_ESCAPE.finditer(body):
        parts.append((_kana if is_shifted else decoder)(body[place : found.start()]))
        place = found.end()
        is_shifted = found[2] == b"\x0e"
        if found[1]:
            decoder = decoders.get(found[1], _ascii)
    parts.append((_kana if is_shifted else decoder)(body[place:]))
    return "".join(parts)


def _ascii(part: bytes) -> str:
    return part.decode("ascii", "replace")


def _kana(part: bytes) -> str:
    high = bytes(byte | 0x80 if 0x21 <= byte <= _KANA_END else byte for byte in part)  # noqa: PLR2004
    return _shift_jis(high)


def _jis_x_0212(part: bytes) -> str:
    pairs = re.sub(rb"[\x21-\x7e]{2}", lambda pair: b"\x8f" + pair[0].translate(_HIGH), part)
    return _euc_jp(pairs)


def _iso_2022_kr(body: bytes) -> str:
    return _shift(body).decode("cp949", "replace")


def _iso_2022_cn(body: bytes) -> str:
    """Of its sets only GB 2312."""
    return _shift(body).decode("gb18030", "replace")


def _shift(body: bytes) -> bytes:
    """Return a body whose second set is shifted to with SO as a body in EUC."""
    shifted = _SHIFTED.sub(lambda found: found[1].translate(_HIGH), body)
    return _DESIGNATIONS.sub(b"", shifted)


def _hz(body: bytes) -> str:
    """RFC 1843: `~{` and `~}` enclose pairs of GB 2312, `~~` is a tilde, `~` joins lines."""

    def plain(found: re.Match[bytes]) -> bytes:
        if found[1] is not None:
            return found[1].translate(_HIGH)
        return b"~" if found[0] == b"~~" else b""

    return _HZ.sub(plain, body).decode("gb18030", "replace")


def _replace_gb(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)  # noqa: S101  # registered for decoding
    start = error.start
    return ("€", start + 1) if error.object[start] == 0x80 else ("\ufffd", error.end)  # noqa: PLR2004


def _replace_jis(error: UnicodeError) -> tuple[str, int]:
    """Decode what is in Microsoft's set only: NEC's row 13, and IBM's kanji in rows 89 to 92."""
    assert isinstance(error, UnicodeDecodeError)  # noqa: S101  # registered for decoding
    pair = error.object[error.start : error.start + 2]
    if len(pair) == 2 and max(pair) < 0xFF and min(pair) > 0xA0:  # noqa: PLR2004
        row, cell = pair[0] - 0xA1, pair[1] - 0xA1
        lead = 0x81 + row // 2 + (0x40 if row > 0x3D else 0)  # noqa: PLR2004
        trail = 0x9F + cell if row % 2 else 0x40 + cell + (cell > 0x3E)  # noqa: PLR2004
        try:
            return bytes((lead, trail)).decode("cp932"), error.start + 2
        except UnicodeDecodeError:
            pass
    return "\ufffd", error.end


codecs.register_error(_REPLACE_GB, _replace_gb)
codecs.register_error(_REPLACE_JIS, _replace_jis)
_DECODERS: Mapping[str, Callable[[bytes], str]] = {
    "gbk": _gb18030,
    "gb18030": _gb18030,
    "big5": decode_big5,
    "shift_jis": _shift_jis,
    "euc-jp": _euc_jp,
    "koi8-u": _koi8_u,
    "iso-2022-jp": _iso_2022_jp,
    "iso-2022-kr": _iso_2022_kr,
    "iso-2022-cn": _iso_2022_cn,
    "hz-gb-2312": _hz,
}
