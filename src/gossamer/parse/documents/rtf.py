r"""Rich Text Format (Microsoft's specification 1.9.1): groups, control words, bytes in code pages.

`rtf_words.py` has the control words. A line feed ends a control word, and is not text; a backslash
after it begins the next one. Readers skip destinations that they do not know if these are marked by
`\*`.
"""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING, NamedTuple

from gossamer.parse.documents.document_draft import MAX_ANCHOR_CHARS, Broken
from gossamer.parse.documents.field_codes import hyperlink_target
from gossamer.parse.documents.rtf_words import (
    ALTERNATIVE,
    ASIDE,
    CHARACTER_SETS,
    CHARACTERS,
    CODECS,
    CONTAINER,
    DATE_PARTS,
    DESTINATIONS,
    FONTS,
    HIDDEN,
    IN_CONTAINERS,
    INSTRUCTION,
    LINE_ENDS,
    MATH_PROPERTIES,
    METADATA,
    PARAGRAPH_SYMBOLS,
    PICTURES,
    RESULT,
    SKIPPED,
    STARRED,
    STYLES,
    SYMBOL_FONT,
    SYMBOLS,
    TEXT,
)
from gossamer.parse.documents.symbol_font import symbol

if TYPE_CHECKING:
    from collections.abc import Callable

    from gossamer.parse.documents.document_draft import Draft

MAX_DEPTH = 10_000
MAX_VALUE_CHARS = 20_000
MAX_TOKENS = 1_000_000
"""Tokens read per file, which takes 2 s. An image has one token per line."""
HEADING_LEVELS = 3

_TOKEN = re.compile(
    rb"""\\([a-zA-Z]{1,32})(-?[0-9]{1,10})?[ ]?   # a control word
    |((?:\\'[0-9a-fA-F]{2})+)                     # bytes
    |\\(.)                                        # a control symbol
    |([{}])
    |([^\\{}\r\n]+)
    |[\r\n]+|\\\Z""",
    re.VERBOSE | re.DOTALL,
)
_HEADING = re.compile(r"(?:heading [1-3]|title)\b", re.IGNORECASE)
"""Names of built-in styles for headings, which are the same in any language."""
_GOES_ON = re.compile(rb"[\s\0]*[{}\\]")
"""What follows a brace too many. Word writes some after formulas, and reads on after them."""
_NO_TEXT = frozenset((SKIPPED, CONTAINER, FONTS))
_HIGH_SURROGATES = range(0xD800, 0xDC00)
"""The first of two UTF-16 units that make one character (RFC 2781 §2.1)."""
_PRIVATE_USE = range(0xF000, 0xF100)
"""Glyphs of fonts of symbols."""


class _Group(NamedTuple):
    r"""The state that ends with a group. `fallbacks` is how many characters repeat a \u."""

    destination: str
    codec: str
    fallbacks: int
    hidden: frozenset[bytes] = frozenset()
    """The reasons why its text is hidden."""
    around: str = TEXT
    """For a container: the destination of what it contains."""
    link_start: int | None = None
    """For the group of a link's text: where in the line that text starts."""
    is_aside: bool = False
    """Whether an aside begins with this group."""


def read_rtf(body: bytes, draft: Draft) -> None:
    """Read an RTF file. Raises Broken if it is not RTF."""
    if body.lstrip()[:5] != b"{\\rtf":
        raise Broken("does not start like RTF")
    _Reader(draft).read(body.lstrip())


class _Reader:
    """Reads one file. Bytes are kept until their run ends: a character may be of several tokens.

    The line around an aside is in `_outer_lines` meanwhile, and what the aside says waits in
    `_waiting` for the end of that line.
    """

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._now = _Group(TEXT, "cp1252", 1)
        self._outer: list[_Group] = []
        self._default = "cp1252"
        self._default_font = -1
        self._fonts: dict[int, str] = {}
        self._font = 0
        self._bytes = bytearray()
        self._line: list[str] = []
        self._outer_lines: list[list[str]] = []
        self._waiting: list[str] = []
        self._values: dict[str, list[str]] = {}
        self._url = ""
        self._starred = False
        self._skip = 0
        self._high = ""
        self._style = 0
        self._heading_styles: set[int] = set()
        self._is_heading = False
        self._words: dict[bytes, Callable[[int], None]] = {
            b"u": self._unicode,
            b"uc": self._fallbacks,
            b"ansicpg": self._code_page,
            b"deff": self._choose_default_font,
            b"f": self._choose_font,
            b"fcharset": self._font_charset,
            b"cpg": self._font_code_page,
            b"nofpages": self._pages,
            b"plain": self._plain,
            b"pard": self._start_paragraph,
            b"s": self._choose_style,
            b"outlinelevel": self._outline_level,
        }

    def read(self, body: bytes) -> None:  # noqa: C901, PLR0912  # a case for each kind of token
        at = 0
        for _ in range(MAX_TOKENS):
            token = _TOKEN.match(body, at)
            if token is None or self._draft.truncated:
                break
            at = token.end()
            word, number, hexadecimal, symbol_, brace, text = token.groups()
            if text is not None:
                self._add_bytes(text)
            elif hexadecimal is not None:
                self._add_bytes(bytes.fromhex(hexadecimal.replace(b"\\'", b"").decode()))
            elif word or symbol_ or brace:
                self._flush()
                if word == b"bin":  # bytes of an object, which may look like anything
                    at += max(0, int(number or 0))
                elif word is not None:
                    self._control_word(word, int(number) if number else None)
                elif symbol_ is not None:
                    self._control_symbol(symbol_)
                elif brace == b"{":
                    self._open()
                else:
                    self._close()
                    if not self._outer and not _GOES_ON.match(body, at):
                        break
        self._flush()
        while self._outer:
            self._close()
        self._end_line()
        for name in METADATA & self._values.keys():
            self._draft.metadata[name] = "".join(self._values[name]).strip()

    def _open(self) -> None:
        if len(self._outer) >= MAX_DEPTH:
            raise Broken(f"more than {MAX_DEPTH:,} nested groups")
        self._outer.append(self._now)
        if self._now.link_start is not None or self._now.is_aside:
            self._now = self._now._replace(link_start=None, is_aside=False)
        self._skip = 0
        self._starred = False

    def _close(self) -> None:
        if not self._outer:
            return
        ended, self._now = self._now, self._outer.pop()
        if not self._outer and ended.destination == TEXT:
            self._now = ended
        self._skip = 0
        if ended.is_aside:
            self._end_line()
            self._line = self._outer_lines.pop()
        elif ended.destination == INSTRUCTION != self._now.destination:
            self._url = hyperlink_target("".join(self._values.pop(INSTRUCTION, ()))) or ""
        elif ended.link_start is not None:
            words = self._line[ended.link_start :][:MAX_ANCHOR_CHARS]
            self._draft.link(self._url, "".join(words))
            self._url = ""
        elif ended.destination == FONTS != self._now.destination:
            self._now = self._now._replace(codec=self._codec_of(self._default_font))
        elif ended.destination == STYLES:
            if _HEADING.match("".join(self._values.pop(STYLES, ())).strip()):
                self._heading_styles.add(self._style)
            self._style = 0

    def _control_word(self, word: bytes, number: int | None) -> None:  # noqa: C901  # as `read`
        starred, self._starred = self._starred, False
        if (destination := DESTINATIONS.get(word)) is not None:
            self._enter(destination)
        elif (starred and word not in STARRED) or MATH_PROPERTIES.match(word):
            self._enter(SKIPPED)
        elif (take := self._words.get(word)) is not None:
            take(number or 0)
        elif self._skip:
            self._skip -= 1
        elif word in HIDDEN:
            hidden = self._now.hidden - {word} if number == 0 else self._now.hidden | {word}
            self._now = self._now._replace(hidden=hidden)
        elif word in LINE_ENDS:
            if self._now.destination == TEXT:
                self._end_line()
        elif word in DATE_PARTS and self._now.destination in METADATA:
            width = 4 if word == b"yr" else 2
            self._text(f"{DATE_PARTS[word]}{number or 0:0{width}}")
        elif word in CHARACTERS:
            self._text(CHARACTERS[word])
        elif word in CHARACTER_SETS:
            self._set_default(CHARACTER_SETS[word])

    def _control_symbol(self, symbol_: bytes) -> None:
        if symbol_ == b"*":
            self._starred = True
        elif self._skip:
            self._skip -= 1
        elif symbol_ in PARAGRAPH_SYMBOLS:
            if self._now.destination == TEXT:
                self._end_line()
        elif symbol_ in SYMBOLS:
            self._text(SYMBOLS[symbol_])

    def _enter(self, destination: str) -> None:
        now = self._now
        if now.destination == SKIPPED or (
            now.destination == CONTAINER and destination not in (*IN_CONTAINERS, SKIPPED)
        ):
            return
        if destination == RESULT:
            self._now = now._replace(link_start=len(self._line))
        elif destination == CONTAINER:
            self._now = now._replace(destination=CONTAINER, around=now.destination)
        elif destination == ALTERNATIVE:
            self._now = now._replace(destination=now.around)
        elif destination == ASIDE:
            if not now.is_aside:
                self._outer_lines.append(self._line)
                self._line = []
            self._now = now._replace(destination=TEXT, is_aside=True)
        else:
            self._now = now._replace(destination=destination)

    def _add_bytes(self, raw: bytes) -> None:
        if self._now.destination in (SKIPPED, CONTAINER):
            return
        if self._now.destination == FONTS:
            if self._fonts.get(self._font) == PICTURES and raw.lstrip()[:6].lower() == b"symbol":
                self._fonts[self._font] = SYMBOL_FONT
            return
        if self._skip:
            skipped = min(self._skip, len(raw))
            self._skip -= skipped
            raw = raw[skipped:]
        self._bytes += raw

    def _flush(self) -> None:
        if not self._bytes:
            return
        codec, raw = self._now.codec, bytes(self._bytes)
        self._bytes.clear()
        if codec == SYMBOL_FONT:
            self._text("".join(symbol(byte, codec) for byte in raw))
        elif codec != PICTURES:
            self._text(raw.decode(codec, "replace"))
        elif len(raw) > 1:  # more than a bullet: the font table of a poor program
            self._text(raw.decode(self._default, "replace"))

    def _text(self, text: str) -> None:
        destination = self._now.destination
        if destination == TEXT:
            if not self._now.hidden:
                self._line.append(text)
        elif destination not in _NO_TEXT:
            pieces = self._values.setdefault(destination, [])
            if len(pieces) < MAX_VALUE_CHARS:
                pieces.append(text[:MAX_VALUE_CHARS])

    def _end_line(self) -> None:
        line = "".join(self._line)
        self._line.clear()
        if self._now.link_start is not None:
            self._now = self._now._replace(link_start=0)
        if self._outer_lines:
            self._waiting.append(line)
            return
        if self._is_heading:
            self._draft.head(line)
        for each in (line, *self._waiting):
            self._draft.say(each)
        self._waiting.clear()

    def _unicode(self, number: int) -> None:
        """Add a UTF-16 unit, which RTF writes as a signed number; some characters have two."""
        unit = number % 0x10000
        if unit in _HIGH_SURROGATES:
            self._high = chr(unit)
        elif unit in _PRIVATE_USE:
            self._text(symbol(unit, self._now.codec))
        else:
            pair = (self._high + chr(unit)).encode("utf-16-le", "surrogatepass")
            self._text(pair.decode("utf-16-le", "replace"))
            self._high = ""
        self._skip = self._now.fallbacks

    def _fallbacks(self, number: int) -> None:
        self._now = self._now._replace(fallbacks=min(max(0, number), 100))

    def _code_page(self, number: int) -> None:
        """Set the code page of the whole file. Python has those of Windows and DOS."""
        self._set_default(_codec(f"cp{number}") or self._default)

    def _set_default(self, codec: str) -> None:
        self._default = codec
        self._now = self._now._replace(codec=codec)

    def _codec_of(self, font: int) -> str:
        return self._fonts.get(font, self._default)

    def _choose_default_font(self, number: int) -> None:
        self._default_font = number

    def _choose_font(self, number: int) -> None:
        if self._now.destination == FONTS:
            self._font = number
        else:
            self._now = self._now._replace(codec=self._codec_of(number))

    def _font_charset(self, number: int) -> None:
        if self._now.destination == FONTS and number in CODECS:
            self._fonts[self._font] = CODECS[number]

    def _font_code_page(self, number: int) -> None:
        codec = _codec(f"cp{number}")
        if self._now.destination == FONTS and codec is not None:
            self._fonts[self._font] = codec

    def _plain(self, _: int) -> None:
        codec = self._codec_of(self._default_font)
        self._now = self._now._replace(codec=codec, hidden=frozenset())

    def _start_paragraph(self, _: int) -> None:
        self._is_heading = False

    def _choose_style(self, number: int) -> None:
        if self._now.destination == STYLES:
            self._style = number
        else:
            self._is_heading = number in self._heading_styles

    def _outline_level(self, number: int) -> None:
        if self._now.destination == STYLES:
            if number < HEADING_LEVELS:
                self._heading_styles.add(self._style)
        elif self._now.destination == TEXT:
            self._is_heading = number < HEADING_LEVELS

    def _pages(self, number: int) -> None:
        self._draft.pages = number if 0 < number < 1_000_000 else None  # noqa: PLR2004


def _codec(name: str) -> str | None:
    try:
        return codecs.lookup(name).name
    except LookupError:
        return None
