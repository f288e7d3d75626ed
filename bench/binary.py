"""What does it cost to read a PDF, and what comes out, beside other libraries?

    python bench/binary.py FILE.pdf …

Each reader runs in its own process, with the memory limit of a parser process. Prints CPU seconds
and characters in total, the time to import, the peak memory, and the share of our words that the
reader finds, too. Readers that are not installed are left out:
pip install kreuzberg pdf_oxide pypdf pdfminer.six
"""

from __future__ import annotations

import io
import json
import resource
import subprocess
import sys
import time
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gossamer.parse.guard import MAX_MEMORY_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable

NO_END = 1 << 40
"""Maximum number of characters: no limit, as in the other readers."""


def ours(body: bytes) -> str:
    from gossamer.parse.documents import read_binary

    return read_binary("application/pdf", body, NO_END).text or ""


def kreuzberg(body: bytes) -> str:
    k = import_module("kreuzberg")
    config = k.ExtractionConfig(use_cache=False, disable_ocr=True)
    return str(k.extract_bytes_sync(body, "application/pdf", config).content)


def pdf_oxide(body: bytes) -> str:
    document = import_module("pdf_oxide").PdfDocument.from_bytes(body)
    return "\n".join(document.extract_text(page) for page in range(document.page_count()))


def pypdf(body: bytes) -> str:
    pages = import_module("pypdf").PdfReader(io.BytesIO(body)).pages
    return "\n".join(page.extract_text() for page in pages)


def pdfminer(body: bytes) -> str:
    return str(import_module("pdfminer.high_level").extract_text(io.BytesIO(body)))


READERS: dict[str, Callable[[bytes], str]] = {
    "gossamer": ours,
    "kreuzberg": kreuzberg,
    "pdf_oxide": pdf_oxide,
    "pypdf": pypdf,
    "pdfminer": pdfminer,
}
MODULES = {"gossamer": "pypdfium2"}


def measure(name: str, files: list[str]) -> None:
    """Print one line of JSON per file, and one for the process."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    limit = pages * resource.getpagesize() + MAX_MEMORY_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    start = time.process_time()
    import_module(MODULES.get(name, name))
    import_s = time.process_time() - start
    for file in files:
        body = Path(file).read_bytes()
        start = time.process_time()
        text = READERS[name](body)
        row = {"cpu_s": time.process_time() - start, "text": text}
        print(json.dumps(row), flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"import_s": import_s, "peak_mb": peak}), flush=True)


def run(name: str, files: list[str]) -> list[dict[str, Any]]:
    command = [sys.executable, __file__, "--measure", name, *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def words(text: str) -> set[str]:
    return {word for word in text.lower().split() if word.isalpha()}


def main() -> None:
    files = sys.argv[1:] or sys.exit(__doc__)
    mine: list[set[str]] = []
    print(f"{'':10} {'CPU s':>8} {'chars':>10} {'shared':>7}  import s  peak MB")
    for name in READERS:
        if find_spec(MODULES.get(name, name)) is None:
            print(f"{name:10} is not installed")
            continue
        *rows, last = run(name, files) or [{}]
        if len(rows) < len(files):
            print(f"{name:10} failed at {files[len(rows)]}")
            continue
        found = [words(row["text"]) for row in rows]
        mine = mine or found
        shared = sum(len(a & b) for a, b in zip(mine, found, strict=True)) / sum(map(len, mine))
        cpu_s, chars = sum(row["cpu_s"] for row in rows), sum(len(row["text"]) for row in rows)
        print(
            f"{name:10} {cpu_s:8.2f} {chars:10,} {shared:7.1%}"
            f"  {last['import_s']:8.3f}  {last['peak_mb']:7.0f}"
        )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        measure(sys.argv[2], sys.argv[3:])
    else:
        main()
