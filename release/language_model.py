"""Writes the model of the language detector from the tables of eldc.

    PYTHONPATH=src python release/language_model.py FILE

`hatch_build.py` runs this while the package is built, where eldc is installed, and without any
other library. `src/gossamer/parse/reading/ngrams.py` describes the file. eldc's table has n-grams
by a hash, of which we keep the upper half, and scores as floats, which we round: answers differ for
3 texts in 10,000. That makes 71 MB 6.8.
"""

from __future__ import annotations

import argparse
import re
import runpy
import sys
from array import array
from bisect import bisect_left
from importlib.resources import files
from pathlib import Path

# By its path, because its package imports libraries that a build has not.
READER = runpy.run_path(str(Path(__file__).parents[1] / "src/gossamer/parse/reading/ngrams.py"))
BUCKETS, KINDS, UNITS = READER["BUCKETS"], READER["KINDS"], READER["UNITS"]
LETTER, IDEOGRAPH, JOINER = READER["LETTER"], READER["IDEOGRAPH"], READER["JOINER"]
SCALE = 1e-4
"""Of eldc's scores, in a natural logarithm (ELD_NORM_FACTOR)."""
JOINERS = "'`’"
SLOT = re.compile(r"\{0x([0-9A-F]+)u,0x([0-9A-F]+)u\}")


def body_of(header: str, name: str) -> str:
    begin = header.index(name)
    return header[header.index("{", begin) + 1 : header.index("};", begin)]


def kinds_of(header: str) -> bytes:
    """What each character is, from a bit for each that is a letter, and for each ideograph."""
    kinds = bytearray(KINDS)
    for name, kind in (("LETTER_BITS[", LETTER), ("CJK_BITS[", IDEOGRAPH)):
        for place, byte in enumerate(re.findall(r"0x\w+", body_of(header, name))):
            for bit in range(8):
                if int(byte, 0) >> bit & 1:
                    kinds[8 * place + bit] = kind
    for joiner in JOINERS:
        kinds[ord(joiner)] = JOINER
    return bytes(kinds)


def rows_of(header: str) -> list[int]:
    """The rows in order: a hash (32 bits), a language (8), a score (8)."""
    entries = [int(number) for number in re.findall(r"\d+", body_of(header, "ELD_blob["))]
    scores = array("f", array("I", [entry & 0xFFFFFF00 for entry in entries]).tobytes())
    units = SCALE * UNITS
    ends = [
        (e & 0xFF) << 8 | round(score * units) for e, score in zip(entries, scores, strict=True)
    ]
    rows = []
    for key, place in SLOT.findall(body_of(header, "ELD_hashtable[")):
        count, first = divmod(int(place, 16), 1 << 24)
        rows += [int(key, 16) << 16 | end for end in ends[first : first + count]]
    return sorted(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    file = parser.parse_args().file
    tables = Path(str(files("eldc")))
    rows = rows_of((tables / "large_db.h").read_text())
    starts = array("I", [bisect_left(rows, bucket << 32) for bucket in range(BUCKETS + 1)])
    cut = array("I", [row & 0xFFFFFFFF for row in rows])
    for numbers in (starts, cut):
        if sys.byteorder == "big":
            numbers.byteswap()
    draft = file.with_suffix(".part")
    draft.write_bytes(
        kinds_of((tables / "eld_unicode_bits.h").read_text()) + starts.tobytes() + cut.tobytes()
    )
    draft.replace(file)


if __name__ == "__main__":
    main()
