"""The length of a record, by the index beside its WARC file."""

from __future__ import annotations

import msgspec

from gossamer.storage import opening
from gossamer.storage.warc.cdxj import parse_line
from gossamer.storage.warc.writer import index_path


def record_length(path: str, offset: int) -> int | None:
    """The compressed bytes of a record of a WARC file, by its index; None if that lacks it."""
    try:
        with opening.open_file(index_path(path)) as file:
            lines = file.read()
    except OSError:
        return None
    place = lines.find(b'"offset":"%d"' % offset)
    if place < 0:
        return None
    line = lines[lines.rfind(b"\n", 0, place) + 1 : lines.find(b"\n", place)]
    try:
        return int(parse_line(line)[2].length)
    except (ValueError, msgspec.DecodeError):  # the index is damaged
        return None
