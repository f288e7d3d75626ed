"""How often is a title right, whatever encoding the page declares, beside other detectors?

    python bench/charset.py [--handbook FOLDER] [--pages N] [--chars N]

FOLDER has a subfolder of pages per language, as the Debian package debian-handbook does. For each
language and encoding, `--pages` pages whose title has non-ASCII characters in the encoding are
taken, evenly spread. Their declarations are removed; they are cut `--chars` characters after their
head and written in the encoding, with references for characters outside it.

Prints the share of titles that are read correctly if the encoding is declared in the header, in
meta, or nowhere; wrongly declared in the header as UTF-8 or ISO-8859-1 (defaults of servers) or in
meta as UTF-8 (a template's default); and wrongly in the header but correctly in meta. Then, for
pages without a declaration, the shares of other detectors: resiliparse and, if installed,
charset-normalizer. The last line is CPU ms per page.
"""

from __future__ import annotations

import re
import tempfile
import time
from html import unescape
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from harness import Options, generate_text, report, skip
from resiliparse.parse.encoding import bytes_to_str, detect_encoding
from rich.console import Console
from rich.table import Table

from gossamer.parse.reading.charset import decode
from gossamer.web.encodings import codec_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

HANDBOOK = Path("/usr/share/doc/debian-handbook/html")
CASES = """
ar windows-1256 iso-8859-6
cs windows-1250 iso-8859-2
de windows-1252 iso-8859-15
el windows-1253 iso-8859-7
fr windows-1252 iso-8859-15 macintosh
hr windows-1250 iso-8859-2
ja shift_jis euc-jp iso-2022-jp
ko euc-kr
pl windows-1250 iso-8859-2
pt windows-1252
ru windows-1251 koi8-r iso-8859-5 ibm866 x-mac-cyrillic
tr windows-1254
zh-CN gb18030
zh-TW big5
ru utf-16le
ja utf-16be
"""
"""Languages of the manual, and encodings that have been in use for them."""
DECLARED = re.compile(r"<\?xml[^>]*\?>|<meta[^>]*charset[^>]*>", re.IGNORECASE)
TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.IGNORECASE | re.DOTALL)


class Sample(NamedTuple):
    """A page without its encoding declaration, and its title."""

    html: str
    title: str

    def encoded(self, encoding: str, meta: str = "") -> bytes:
        html = self.html.replace("<head>", f"<head><meta charset={meta}>", 1) if meta else self.html
        return html.encode(codec_of(encoding), "xmlcharrefreplace")


def title_of(text: str) -> str:
    found = TITLE.search(text)
    return " ".join(unescape(found[1]).split()) if found else ""


def samples(
    folder: Path, language: str, encoding: str, most: int, chars: int = 1 << 20
) -> list[Sample]:
    found, codec = [], codec_of(encoding)
    for path in sorted(folder.glob(f"{language}*/*.html")):
        html = DECLARED.sub("", path.read_text(encoding="utf-8"))
        title = title_of(html)
        if not title.encode(codec, "ignore").decode(codec).isascii():
            found.append(Sample(html[: html.find("<body") + chars], title))
    return found[:: -(-len(found) // most) or 1]


def ours(body: bytes, declared: str | None = None) -> str:
    return decode(body, declared)[0]


def resiliparse(body: bytes) -> str:
    return bytes_to_str(body, detect_encoding(body, max_len=len(body)) or "utf-8")


def normalizer(body: bytes) -> str:
    return str(import_module("charset_normalizer").from_bytes(body).best() or "")


READINGS: dict[str, Callable[[Sample, str], str]] = {
    "header": lambda page, name: ours(page.encoded(name), name),
    "meta": lambda page, name: ours(page.encoded(name, name)),
    "none": lambda page, name: ours(page.encoded(name)),
    "header\nutf-8": lambda page, name: ours(page.encoded(name), "utf-8"),
    "header\nlatin-1": lambda page, name: ours(page.encoded(name), "iso-8859-1"),
    "meta\nutf-8": lambda page, name: ours(page.encoded(name, "utf-8")),
    "latin-1\n+ meta": lambda page, name: ours(page.encoded(name, name), "iso-8859-1"),
    "resili-\nparse": lambda page, name: resiliparse(page.encoded(name)),
}
if find_spec("charset_normalizer"):
    READINGS["charset-\nnormalizer"] = lambda page, name: normalizer(page.encoded(name))


def cases() -> Iterator[tuple[str, str]]:
    for line in CASES.strip().splitlines():
        language, *encodings = line.split()
        yield from ((language, encoding) for encoding in encodings)


def share(right: Sequence[bool]) -> str:
    return f"{sum(right) / len(right):.0%}"


def generate(folder: Path) -> Path:
    """Write a page in each of some languages."""
    for language in ("de", "fr", "ja", "ru"):
        (folder / language).mkdir(parents=True)
        text = generate_text(language, language, 100)
        page = f"<html><head><title>{text[:80]}</title></head><body>{text}</body></html>"
        (folder / language / "index.html").write_text(page, encoding="utf-8")
    return folder


def main() -> None:
    parser = Options(__doc__, pages=(25, 1), chars=(1 << 20, 1 << 20))
    parser.add_argument("--handbook", type=Path, default=HANDBOOK)
    options = parser.read()
    with tempfile.TemporaryDirectory() as scratch:
        folder = generate(Path(scratch)) if options.tiny else options.handbook
        rows = {
            (language, encoding): samples(folder, language, encoding, options.pages, options.chars)
            for language, encoding in cases()
        }
    if not any(rows.values()):
        skip(f"needs pages in {folder}: apt-get install debian-handbook, or --handbook FOLDER")
    table = Table("", "pages", *READINGS, title=f"titles that are right, {folder}")
    rights: dict[str, list[bool]] = {name: [] for name in READINGS}
    costs_s = dict.fromkeys(READINGS, 0.0)
    for (language, encoding), pages in rows.items():
        if not pages:
            continue
        shares = []
        for name, reading in READINGS.items():
            start = time.process_time()
            right = [title_of(reading(page, encoding)) == page.title for page in pages]
            costs_s[name] += time.process_time() - start
            rights[name] += right
            shares.append(share(right))
        table.add_row(f"{language} {encoding}", str(len(pages)), *shares)
    count = len(rights["none"])
    table.add_section()
    table.add_row("all", str(count), *map(share, rights.values()))
    table.add_row("ms", "", *(f"{cost_s / count * 1_000:.1f}" for cost_s in costs_s.values()))
    Console(width=120).print(table)
    declared, bare, theirs = (share(rights[name]) for name in ("header", "none", "resili-\nparse"))
    report(f"{declared} right if declared, {bare} if not; resiliparse {theirs} if not")


if __name__ == "__main__":
    main()
