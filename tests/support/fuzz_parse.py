"""The coverage-guided fuzzer of parsing.

    python -m tests.support.fuzz_parse TARGET FOLDER [-runs=N …]

Atheris counts the branches of gossamer.parse, and libFuzzer keeps what reaches a new one: in
FOLDER, which begins with `parse_corpus.py`. What breaks a property, or takes 5 s or 1 GB, ends the
process, and is in a file that it names. Other arguments are libFuzzer's
(llvm.org/docs/LibFuzzer.html#options). `tests/parse/test_fuzz.py` runs each target for some
seconds; who looks for bugs gives it hours, without -runs.
"""

from __future__ import annotations

import gzip
import io
import random
import sys
import time
import zipfile
from importlib.machinery import (
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    SourceFileLoader,
)
from pathlib import Path
from typing import TYPE_CHECKING

import atheris

# Atheris sees no branches of compiled modules (hatch_build.py): their sources come first here.
sys.path_hooks.insert(
    0,
    FileFinder.path_hook(
        (SourceFileLoader, SOURCE_SUFFIXES), (ExtensionFileLoader, EXTENSION_SUFFIXES)
    ),
)
sys.path_importer_cache.clear()

with atheris.instrument_imports(include=["gossamer.parse"]):
    from gossamer.parse.documents import image, pdf, rtf, text_formats, zip_documents
    from gossamer.parse.page_parsing import parse_page
    from gossamer.parse.process.parser_start import MAX_CPU_S
    from gossamer.parse.reading.charset import decode
    from gossamer.parse.reading.dates import END, EPOCH, parse_date
    from gossamer.parse.reading.directives import header_wishes, wishes
    from gossamer.parse.reading.gzipped import MAGIC, gunzip
    from gossamer.parse.reading.type_sniffing import document_type
    from gossamer.parse.reading.written_dates import END_YEAR, FIRST_YEAR, written_dates

from tests.support.parse_corpus import RULES, answers, read  # noqa: E402  # after the hook, as all imports of ours
from tests.support.parse_soundness import check  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

LOADED = (image, pdf, text_formats, rtf, zip_documents)
"""What parsing imports when it is needed, and then not instrumented."""
MAX_BYTES = 1 << 15
LIMITS = ("-timeout=60", "-rss_limit_mb=1024", f"-max_len={MAX_BYTES}", "-print_final_stats=1")
DATES = (
    *("Wed, 01 May 2024 10:20:30 +0200", "2024-05-01T10:20:30.5Z", "Wed May  1 10:20:30 2024"),
    *("1 May 2024", "May 1st, 2024, 10:20 p.m. EST", "1714558830", "2024-05"),
    # languages, and lines with dates of their calendars
    *("fa\n۱۲ اردیبهشت‌ماه ۱۴۰۳ - 10:20", "fa-AF\n۱۲ ثور ۱۴۰۳", "ps\n۱۴۰۳/۰۲/۱۲", "th\n1 พ.ค. 67"),
    *("ar-SA\n22 شوال 1445 هـ", "he\nי״ד באדר ב׳ תשפ״ד", "am\nሚያዝያ 23 ቀን 2016", "ja\nR6.5.1"),
    *("ja\n令和6(2024)年5月1日", "zh-TW\n113/05/01", "de\nvom 1.5.24 bis 2. Mai 2024"),
)


def page(data: bytes) -> None:
    answer = read(data)
    start = time.process_time()
    parsed = parse_page(answer, RULES)
    assert time.process_time() - start < MAX_CPU_S
    check(parsed, answer, RULES)


def charset(data: bytes) -> None:
    label, _, body = data.partition(b"\n")
    for declared in (None, label.decode("latin-1")):
        decode(body, declared)[0].encode()


def sniff(data: bytes) -> None:
    answer = read(data)
    declared = answer.headers.get("content-type", "")
    for nosniff in (False, True):
        assert document_type(declared, answer.body, nosniff=nosniff).islower()


def directives(data: bytes) -> None:
    text = data.decode("latin-1")
    assert wishes(text) | header_wishes(text, "gossamer") is not None


def dates(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    date = parse_date(text)
    assert date is None or EPOCH < date < END
    language, _, line = text.partition("\n")
    for found in written_dates(line, language):
        assert FIRST_YEAR <= found.date.year < END_YEAR
        assert 0 <= found.start < found.end <= len(line)


TARGETS: Mapping[str, Callable[[bytes], None]] = {
    each.__name__: each for each in (page, charset, sniff, directives, dates)
}


def corpus(target: str) -> list[bytes]:
    if target == "dates":
        return [date.encode() for date in DATES]
    if target == "directives":
        return [b"noindex, a: nofollow, gossamer: unavailable_after: 25 Jun 2027 15:00:00 PST"]
    found = list(answers().values())
    if target == "charset":
        big5 = b"big5\n<p>\xa4\xa4\x87\x7a\xa2A\xb4\xa2B\xa3\xe1\x88\x62"
        return [big5, *(b"koi8-r\n" + read(answer).body for answer in found)]
    return found


def mutated(data: bytes, most: int, seed: int) -> bytes:
    """libFuzzer's mutation; half of the times of what is packed, for its checksum's sake."""
    chance = random.Random(seed)  # noqa: S311
    head, end, body = data.rpartition(b"\r\n\r\n")
    changed = data
    if chance.random() < 0.5:
        if body.startswith(MAGIC):
            changed = head + end + gzip.compress(_changed(gunzip(body, MAX_BYTES)), mtime=0)
        elif body.startswith(b"PK"):
            changed = head + end + _with_a_member_changed(body, chance)
    return changed if changed != data and len(changed) <= most else atheris.Mutate(data, most)


def _changed(content: bytes) -> bytes:
    return bytes(atheris.Mutate(content, MAX_BYTES))


def _with_a_member_changed(archive: bytes, chance: random.Random) -> bytes:
    """As it is, where it is broken."""
    out = io.BytesIO()
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as old, zipfile.ZipFile(out, "w") as new:
            contents = {name: old.read(name) for name in dict.fromkeys(old.namelist())}
            chosen = chance.choice(list(contents))
            for name, content in contents.items():
                new.writestr(name, _changed(content) if name == chosen else content)
    except Exception:  # noqa: BLE001  # zipfile has many, and all are of this archive
        return archive
    return out.getvalue()


def main() -> None:
    program, target, folder, *options = sys.argv
    for number, data in enumerate(corpus(target)):
        (Path(folder) / f"{number:03}").write_bytes(data)
    arguments = [program, *LIMITS, *options, folder]
    atheris.Setup(arguments, TARGETS[target], custom_mutator=mutated)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
