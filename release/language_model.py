"""Writes the model of the language detector from the source of eldc.

    pip download --no-deps --no-binary :all: eldc==0.4.0
    .venv/bin/python release/language_model.py eldc-0.4.0.tar.gz

`src/gossamer/parse/reading/ngrams.py` describes the file. eldc's table has n-grams by a hash, of
which we keep the upper half, and scores as floats, which we round: answers differ for 3 texts in
10,000. That makes 71 MB 6.8.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gossamer.parse.reading.ngrams import (
    BUCKETS,
    IDEOGRAPH,
    JOINER,
    KINDS,
    LETTER,
    MODEL,
    UNITS,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    Numbers = np.ndarray[Any, Any]

SHA256 = "889f7c2ce0719502684277583d4cf8495e4944a90908fb8bf0da02d0bc394c66"
SCALE = 1e-4
"""Of eldc's scores, in a natural logarithm (ELD_NORM_FACTOR)."""
JOINERS = "'`’"
SLOT = re.compile(r"\{0x([0-9A-F]+)u,0x([0-9A-F]+)u\}")


def read_headers(source: Path) -> Iterator[str]:
    """Those of the table and of the kinds of characters."""
    if hashlib.sha256(source.read_bytes()).hexdigest() != SHA256:
        sys.exit(f"{source} is not the source of eldc 0.4.0")
    with tarfile.open(source) as archive:
        members = {Path(member.name).name: member for member in archive}
        for name in ("large_db.h", "eld_unicode_bits.h"):
            file = archive.extractfile(members[name])
            yield file.read().decode() if file else ""


def body_of(header: str, name: str) -> str:
    begin = header.index(name)
    return header[header.index("{", begin) + 1 : header.index("};", begin)]


def kinds_of(header: str) -> Numbers:
    kinds = np.zeros(KINDS, np.uint8)
    for name, kind in (("LETTER_BITS[", LETTER), ("CJK_BITS[", IDEOGRAPH)):
        bits = [int(byte, 0) for byte in re.findall(r"0x\w+", body_of(header, name))]
        kinds[np.unpackbits(np.array(bits, np.uint8), bitorder="little").astype(bool)] = kind
    kinds[[ord(joiner) for joiner in JOINERS]] = JOINER
    return kinds


def rows_of(header: str) -> tuple[Numbers, Numbers]:
    """The hash of each row, and the row; in order."""
    slots = SLOT.findall(body_of(header, "ELD_hashtable["))
    hashes = np.array([int(slot, 16) for slot, _ in slots], np.uint64)
    places = np.array([int(place, 16) for _, place in slots], np.int64)
    first, lengths = places & 0xFFFFFF, places >> 24
    entries = np.array(re.findall(r"\d+", body_of(header, "ELD_blob[")), np.uint32)
    inside = np.arange(lengths.sum()) - np.repeat(lengths.cumsum() - lengths, lengths)
    entries = entries[np.repeat(first, lengths) + inside]
    scores = (entries & np.uint32(0xFFFFFF00)).view(np.float32)
    marks = np.rint(scores * SCALE * UNITS).astype(np.uint64)
    hashes = np.repeat(hashes, lengths)
    rows = (
        (hashes & np.uint64(0xFFFF)) << np.uint64(16)
        | (entries & np.uint32(0xFF)).astype(np.uint64) << np.uint64(8)
        | marks
    )
    order = np.lexsort((rows, hashes))
    return hashes[order], rows[order]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path)
    table, characters = read_headers(parser.parse_args().source)
    hashes, rows = rows_of(table)
    starts = np.searchsorted(hashes, np.arange(BUCKETS + 1, dtype=np.uint64) << np.uint64(16))
    with MODEL.open("wb") as file:
        file.write(kinds_of(characters).tobytes())
        file.write(starts.astype("<u4").tobytes())
        file.write(rows.astype("<u4").tobytes())


if __name__ == "__main__":
    main()
