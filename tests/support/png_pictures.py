"""A picture of a result, and a crawl that stores pictures."""

from __future__ import annotations

import struct
import zlib
from dataclasses import replace
from typing import TYPE_CHECKING

from msgspec import structs

from tests.support.stored_rounds import HOME

if TYPE_CHECKING:
    from gossamer.state.workspace import Workspace

PICTURE = f"{HOME}rose.png"


def png(width: int, height: int) -> bytes:
    """A red picture."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = zlib.compress((b"\0" + b"\xff\0\0" * width) * height)
    parts = ((b"IHDR", header), (b"IDAT", rows), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(part)) + name + part + struct.pack(">I", zlib.crc32(name + part))
        for name, part in parts
    )


def with_media(work: Workspace) -> Workspace:
    config = structs.replace(work.config, parse=structs.replace(work.config.parse, media=True))
    return replace(work, config=config)
