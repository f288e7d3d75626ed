"""Content that does not match its Content-Type."""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING

from gossamer.fakeweb.hostile.act import End
from gossamer.fakeweb.hostile.case import EPOCH_S, Case, good_html
from gossamer.fakeweb.hostile.heads import head, raw_act
from gossamer.fakeweb.http_answer import HTML_TYPE, Answer, ok_answer

if TYPE_CHECKING:
    from gossamer.fakeweb.hostile.act import Act
    from gossamer.fakeweb.hostile.case import Ask, Reply

RUSSIAN = "Гавань, фонарь, река, сад, окно, рынок, мост, зима. " * 20


def _png_chunk(kind: bytes, data: bytes) -> bytes:
    checksum = zlib.crc32(kind + data)
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", checksum)


PNG = (  # one black pixel
    b"\x89PNG\r\n\x1a\n"
    + _png_chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
    + _png_chunk(b"IDAT", zlib.compress(b"\0\0"))
    + _png_chunk(b"IEND", b"")
)


def _declare_as(content_type: str) -> Reply:
    return lambda ask: ok_answer(good_html(ask), content_type, EPOCH_S)


def _russian(charset: str) -> Reply:
    body = f"<!DOCTYPE html><title>Гавань</title><p>{RUSSIAN}".encode("windows-1251")
    return lambda _: ok_answer(body, f"text/html; charset={charset}", EPOCH_S)


def _png(_: Ask) -> Answer:
    return ok_answer(PNG, HTML_TYPE, EPOCH_S)


def _omit_type(ask: Ask) -> Act:
    body = good_html(ask)
    return raw_act(200, head(f"Content-Length: {len(body)}") + body, End.KEEP)


CASES = (
    Case("html-as-png", "HTML declared as image/png", ("ok",), _declare_as("image/png")),
    Case("png-as-html", "a PNG declared as text/html", ("ok",), _png),
    Case("html-untyped", "HTML without Content-Type", ("ok",), _omit_type),
    Case("html-mistyped", "HTML with the type `;;=`", ("ok",), _declare_as(";;=")),
    Case("wrong-charset", "windows-1251 declared as UTF-8", ("ok",), _russian("utf-8")),
    Case("no-such-charset", "windows-1251 declared as x-none", ("ok",), _russian("x-none")),
)
