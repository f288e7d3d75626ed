"""A crawl of N documents from the texts below a folder, for scripts that index and search.

A document consists of consecutive lines from two files, so that words stand together as in human
text. Its length is drawn from a lognormal distribution, like that of web pages. Hosts differ in
size and pages in rank. The same arguments give the same documents.
"""

from __future__ import annotations

import gzip
import random
import re
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
from harness import Options, generate_text, skip
from selectolax.lexbor import LexborHTMLParser

from gossamer.api.crawl import Crawl
from gossamer.storage.task_output import ParquetWriter, layers_of
from gossamer.tables import DOCUMENTS, INLINKS, PAGES, RANKS

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from gossamer.engine.engine import Engine

MAX_FILE_BYTES = 4 << 20
MIN_LINES = 5
MIN_CHARS, MAX_CHARS = 40, 600
"""Characters per line: shorter lines are dropped, longer ones are cut."""
MEDIAN_CHARS, SPREAD = 2_000, 0.9
"""Median characters per document, and the standard deviation of the logarithm; the mean is
3,000."""
DAY_MS = 86_400_000
NOW_MS = 1_800_000_000_000
BATCH = 20_000
ENDINGS = (".html", ".htm", ".txt", ".gz")
LINKING = "https://www.site0.example/"
MENU = "Home\nProducts\nDocumentation\nDownload\nAbout us\nContact\nPrivacy policy\nSign in"


class Source(NamedTuple):
    title: str
    lines: Sequence[str]


def sources(folder: Path, most_bytes: int = 60_000_000) -> list[Source]:
    """Return texts below a folder, in an order that is the same on each run."""
    files = sorted(path for path in folder.rglob("*") if path.suffix in ENDINGS)
    found, size = [], 0
    for path in random.Random(0).sample(files, len(files)):  # noqa: S311  # reproducible
        if size > most_bytes:
            break
        lines = list(_lines(path))
        if len(lines) >= MIN_LINES:
            title = min(lines[:MIN_LINES], key=len)[:80]
            found.append(Source(title, lines))
            size += sum(map(len, lines))
    return found


def _lines(path: Path) -> Iterator[str]:
    if not path.is_file() or path.stat().st_size > MAX_FILE_BYTES:
        return
    body = path.read_bytes()
    try:
        text = (gzip.decompress(body) if path.suffix == ".gz" else body).decode()
    except (OSError, EOFError, UnicodeDecodeError):
        return
    if "<html" in text[:1000].lower():
        root = LexborHTMLParser(text).root
        text = root.text(separator="\n") if root else ""
    for paragraph in re.split(r"\n\s*\n", text):
        line = " ".join(paragraph.split())[:MAX_CHARS]
        if len(line) >= MIN_CHARS and sum(map(str.isalpha, line)) > len(line) // 2:
            yield line


def documents(texts: Sequence[Source], n: int) -> Iterator[dict[str, Any]]:
    """Iterate over `n` rows of documents, with the extra keys `rank` and `anchors`."""
    draw = random.Random(1)  # noqa: S311  # reproducible
    hosts = max(n // 50, 1)
    for number in range(n):
        host = f"www.site{int(hosts * draw.random() ** 3)}.example"
        one, other = draw.choice(texts), draw.choice(texts)
        wanted = draw.lognormvariate(0, SPREAD) * MEDIAN_CHARS
        body = [*_run(draw, one, wanted * 0.7), *_run(draw, other, wanted * 0.3)]
        words = [word for word in re.findall(r"\w+", body[0]) if len(word) > 2]
        at = draw.randrange(max(len(words) - 3, 1))
        title = f"{' '.join(words[at : at + 4])} - {one.title}"
        main = "\n".join(body)
        dated = draw.random() < 0.7
        yield {
            "url": f"https://{host}/section-{number % 97}/article-{number}.html",
            "host": host,
            "title": title,
            "description": body[-1][:160],
            "headings": [line[:40] for line in body[1:4]],
            "text": f"{MENU}\n{title}\n{main}",
            "main_text": main,
            "boilerplate": f"{MENU}\n{title}",
            "language": "en" if draw.random() < 0.95 else None,
            "content_type": "application/pdf" if draw.random() < 0.05 else "text/html",
            "published_ms": NOW_MS - int(draw.expovariate(1 / 900) * DAY_MS) if dated else None,
            "fetched_ms": NOW_MS - number % 1_000 * 3_600_000,
            "nosnippet": False,
            "wishes": None,
            "rank": draw.paretovariate(1.2) / (6 * n),
            "anchors": [" ".join(words[at : at + 2])] if draw.random() < 0.5 else [],
        }


def _run(draw: random.Random, source: Source, chars: float) -> list[str]:
    """Return consecutive lines with at least `chars` characters together, at least one line."""
    at, taken = draw.randrange(len(source.lines)), []
    while True:
        taken.append(source.lines[at % len(source.lines)])
        chars -= len(taken[-1])
        if chars <= 0:
            return taken
        at += 1


def crawl(
    folder: Path | str, rows: Iterable[Mapping[str, Any]], engine: Engine, settings: str
) -> Crawl:
    """Create a crawl that holds these documents, parsed and ranked, ready for `dedup`."""
    made = Crawl.create(str(folder), settings, engine)
    forms = {
        form.name: (form, made.work.store.attempt(form.name))
        for form in (DOCUMENTS, PAGES, RANKS, INLINKS)
    }
    listed, written = iter(rows), []
    while batch := list(islice(listed, BATCH)):
        for name, some in _datasets(batch).items():
            form, attempt = forms[name]
            blank = dict.fromkeys(form.column_names)
            full = [blank | {key: row[key] for key in row.keys() & blank.keys()} for row in some]
            writer = ParquetWriter(made.path, name, attempt)
            writer.write(pa.Table.from_pylist(full, form.schema))
            written += writer.close()
    with made.work.step("test", 1) as draft:
        draft.append = layers_of(written, 1)
    return made


def _datasets(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    parsed = {"round": 1, "outcome": "parsed", "noindex": False}
    return {
        "documents": [{**row, **parsed} for row in rows],
        "pages": [{"url": row["url"], "host": row["host"], "status": "fetched"} for row in rows],
        "ranks": [{"url": row["url"], "rank": row["rank"]} for row in rows],
        "inlinks": [
            {
                "dst": row["url"],
                "count": len(row["anchors"]),
                "sources": [{"src": LINKING, "anchor": anchor} for anchor in row["anchors"]],
            }
            for row in rows
            if row["anchors"]
        ],
    }


class CorpusOptions(Options):
    """The options of a script that searches or indexes documents of texts."""

    def __init__(self, doc: str | None, **sizes: tuple[Any, Any]) -> None:
        super().__init__(doc, **sizes)
        default = Path("/usr/share/doc")
        self.add_argument("--texts", type=Path, default=default, help="folder of the texts")


def requested_documents(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Iterate over as many documents as the command line asks for."""
    if options.tiny:
        texts = [generated(name) for name in ("one", "two", "three")]
    else:
        texts = sources(options.texts)
    if not texts:
        skip(f"needs texts below {options.texts}, or --texts FOLDER")
    return documents(texts, options.documents)


def generated(name: str) -> Source:
    return Source(name, generate_text("en", name, 100).splitlines())
