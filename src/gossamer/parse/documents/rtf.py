r"""Rich Text Format (Microsoft's specification 1.9.1): groups, control words, bytes in code pages.

As nothing is rendered, few control words matter: those for characters, for line ends, and for
destinations, which are groups with something other than the document's text. A destination marked
by `\\*` is skipped by readers that do not know it.
"""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING, NamedTuple

from gossamer.parse.documents.document_draft import MAX_ANCHOR_CHARS, Broken

if TYPE_CHECKING:
    from collections.abc import Callable

    from gossamer.parse.documents.document_draft import Draft

MAX_DEPTH = 10_000
MAX_VALUE_CHARS = 20_000
MAX_TOKENS = 1_000_000
"""Tokens read per file, which takes 2 s. An image has one token per line."""

_TOKEN = re.compile(
    rb"""\\([a-zA-Z]{1,32})(-?[0-9]{1,10})?[ ]?   # a control word
    |((?:\\'[0-9a-fA-F]{2})+)                     # bytes
    |\\(.)                                        # a control symbol
    |([{}])
    |([^\\{}\r\n]+)
    |[\r\n\\]+""",
    re.VERBOSE | re.DOTALL,
)
_FIELD = re.compile(r"""\s*HYPERLINK\s+"([^"]+)\"""")

_TEXT, _SKIPPED, _INSTRUCTION, _RESULT, _FONTS = "text", "skipped", "fldinst", "fldrslt", "fonttbl"
_DESTINATIONS = {
    **dict.fromkeys(
        b"""annotation atnauthor atnid bkmkend bkmkstart colortbl comment company doccomm filetbl
        footer footerf footerl footerr header headerf headerl headerr keywords listoverridetable
        listtable manager nonshppict objdata operator pict printim private rsidtbl stylesheet
        subject themedata xe""".split(),
        _SKIPPED,
    ),
    b"title": "title",
    b"author": "author",
    b"creatim": "published",
    b"revtim": "modified",
    b"fldinst": _INSTRUCTION,
    b"fldrslt": _RESULT,
    b"fonttbl": _FONTS,
}
"""Control words of destinations. Headers and footers are skipped, as they are on each page."""
_METADATA = frozenset(("title", "author", "published", "modified"))
_STARRED = frozenset((b"fldinst",))
_DATE_PARTS = {b"yr": "", b"mo": "-", b"dy": "-", b"hr": "T", b"min": ":", b"sec": ":"}
_LINE_ENDS = frozenset((b"par", b"line", b"sect", b"page", b"row", b"column"))
_CHARACTERS = {
    **dict.fromkeys((b"tab", b"cell", b"emspace", b"enspace", b"qmspace"), " "),
    b"emdash": "—",
    b"endash": "–",
    b"bullet": "•",
    b"lquote": "‘",
    b"rquote": "’",
    b"ldblquote": "“",
    b"rdblquote": "”",
}
_SYMBOLS = {b"~": " ", b"_": "-", b"\\": "\\", b"{": "{", b"}": "}"}
_CODECS = {
    77: "mac-roman",
    128: "cp932",
    129: "cp949",
    130: "johab",
    134: "gb18030",
    136: "big5",
    161: "cp1253",
    162: "cp1254",
    163: "cp1258",
    177: "cp1255",
    178: "cp1256",
    186: "cp1257",
    204: "cp1251",
    222: "cp874",
    238: "cp1250",
}
"""Codecs of fonts by Windows character set."""

_HIGH_SURROGATES = range(0xD800, 0xDC00)
"""The first of two UTF-16 units that make one character (RFC 2781 §2.1)."""


class _Group(NamedTuple):
    r"""The state that ends with a group. `fallbacks` is how many characters repeat a \u."""

    destination: str
    codec: str
    fallbacks: int
    link_start: int | None = None
    """For the group of a link's text: where in the line that text starts."""


def read_rtf(body: bytes, draft: Draft) -> None:
    """Read an RTF file. Raises Broken if it is not RTF."""
    if body.lstrip()[:5] != b"{\\rtf":
        raise Broken("does not start like RTF")
    _Reader(draft).read(body)


class _Reader:
    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._now = _Group(_TEXT, "cp1252", 1)
        self._outer: list[_Group] = []
        self._default = "cp1252"
        self._fonts: dict[int, str] = {}
        self._font = 0
        self._line: list[str] = []
        self._values: dict[str, list[str]] = {}
        self._url = ""
        self._starred = False
        self._skip = 0
        self._high = ""
        self._words: dict[bytes, Callable[[int], None]] = {
            b"u": self._unicode,
            b"uc": self._fallbacks,
            b"ansicpg": self._code_page,
            b"f": self._choose_font,
            b"fcharset": self._font_charset,
            b"nofpages": self._pages,
        }

    def read(self, body: bytes) -> None:  # noqa: C901  # a case for each kind of token
        at = 0
        for _ in range(MAX_TOKENS):
            token = _TOKEN.match(body, at)
            if token is None or self._draft.truncated:
                break
            at = token.end()
            word, number, hexadecimal, symbol, brace, text = token.groups()
            if word == b"bin":  # bytes of an object, which may look like anything
                at += max(0, int(number or 0))
            elif word is not None:
                self._control_word(word, int(number or 0))
            elif text is not None:
                self._bytes(text)
            elif hexadecimal is not None:
                self._bytes(bytes.fromhex(hexadecimal.replace(b"\\'", b"").decode()))
            elif brace == b"{":
                self._open()
            elif brace == b"}":
                self._close()
            elif symbol == b"*":
                self._starred = True
            elif symbol in _SYMBOLS:
                self._text(_SYMBOLS[symbol])
        self._end_line()
        for name in _METADATA & self._values.keys():
            self._draft.metadata[name] = "".join(self._values[name]).strip()

    def _open(self) -> None:
        if len(self._outer) >= MAX_DEPTH:
            raise Broken(f"more than {MAX_DEPTH:,} nested groups")
        self._outer.append(self._now)
        if self._now.link_start is not None:
            self._now = self._now._replace(link_start=None)
        self._skip = 0

    def _close(self) -> None:
        if not self._outer:
            return
        ended, self._now = self._now, self._outer.pop()
        self._skip = 0
        if ended.destination == _INSTRUCTION != self._now.destination:
            field = _FIELD.match("".join(self._values.pop(_INSTRUCTION, ())))
            self._url = field[1] if field else ""
        elif ended.link_start is not None:
            words = self._line[ended.link_start :][:MAX_ANCHOR_CHARS]
            self._draft.link(self._url, "".join(words))
            self._url = ""

    def _control_word(self, word: bytes, number: int) -> None:
        starred, self._starred = self._starred, False
        if (destination := _DESTINATIONS.get(word)) is not None:
            self._enter(destination)
        elif starred and word not in _STARRED:
            self._enter(_SKIPPED)
        elif (take := self._words.get(word)) is not None:
            take(number)
        elif self._skip:
            self._skip -= 1
        elif word in _LINE_ENDS:
            if self._now.destination == _TEXT:
                self._end_line()
        elif word in _DATE_PARTS and self._now.destination in _METADATA:
            width = 4 if word == b"yr" else 2
            self._text(f"{_DATE_PARTS[word]}{number:0{width}}")
        elif word in _CHARACTERS:
            self._text(_CHARACTERS[word])

    def _enter(self, destination: str) -> None:
        if self._now.destination == _SKIPPED:
            return
        if destination == _RESULT:
            self._now = self._now._replace(link_start=len(self._line))
        else:
            self._now = self._now._replace(destination=destination)

    def _bytes(self, raw: bytes) -> None:
        if self._now.destination in (_SKIPPED, _FONTS):
            return
        if self._skip:
            skipped = min(self._skip, len(raw))
            self._skip -= skipped
            raw = raw[skipped:]
        if raw:
            self._text(raw.decode(self._now.codec, "replace"))

    def _text(self, text: str) -> None:
        destination = self._now.destination
        if destination == _TEXT:
            self._line.append(text)
        elif destination not in (_SKIPPED, _FONTS):
            pieces = self._values.setdefault(destination, [])
            if len(pieces) < MAX_VALUE_CHARS:
                pieces.append(text[:MAX_VALUE_CHARS])

    def _end_line(self) -> None:
        self._draft.say("".join(self._line))
        self._line.clear()
        if self._now.link_start is not None:
            self._now = self._now._replace(link_start=0)

    def _unicode(self, number: int) -> None:
        """Add a UTF-16 unit, which RTF writes as a signed number; some characters have two."""
        unit = number % 0x10000
        if unit in _HIGH_SURROGATES:
            self._high = chr(unit)
        else:
            pair = (self._high + chr(unit)).encode("utf-16-le", "surrogatepass")
            self._text(pair.decode("utf-16-le", "replace"))
            self._high = ""
        self._skip = self._now.fallbacks

    def _fallbacks(self, number: int) -> None:
        self._now = self._now._replace(fallbacks=min(max(0, number), 100))

    def _code_page(self, number: int) -> None:
        """Set the code page of the whole file. Python has those of Windows and DOS."""
        self._default = _codec(f"cp{number}") or self._default
        self._now = self._now._replace(codec=self._default)

    def _choose_font(self, number: int) -> None:
        if self._now.destination == _FONTS:
            self._font = number
        else:
            codec = self._fonts.get(number, self._default)
            self._now = self._now._replace(codec=codec)

    def _font_charset(self, number: int) -> None:
        if self._now.destination == _FONTS and number in _CODECS:
            self._fonts[self._font] = _CODECS[number]

    def _pages(self, number: int) -> None:
        self._draft.pages = number if 0 < number < 1_000_000 else None  # noqa: PLR2004


def _codec(name: str) -> str | None:
    try:
        return codecs.lookup(name).name
    except LookupError:
        return None
