"""A collection of documents, questions and judgements, and its documents as a crawl stores them.

A collection is a folder with docs.jsonl (id, and html or title and text; and url, if documents link
to each other), queries.jsonl (id, text) and qrels.tsv (query, document, gain). Its name may end in
`-LANGUAGE`.
"""

from __future__ import annotations

import html
import json
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from gossamer.config import IndexConfig
from gossamer.dedup.boilerplate.host_lines import MIN_PAGES, SHARE
from gossamer.index.boilerplate import FEW, split_texts
from gossamer.index.format.analysis import index_language_of
from gossamer.parse.page_parsing import parse_response
from gossamer.parse.step.page_writer import main_and_boilerplate
from gossamer.web.boilerplate_lines import LINE, line_hash
from gossamer.web.urls import host_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

HTML = {"content-type": "text/html; charset=utf-8"}


class Collection(NamedTuple):
    name: str
    documents: list[dict[str, str]]
    queries: list[dict[str, str]]
    gains: Mapping[str, Mapping[str, float]]
    """The gains by query, then by document."""

    @classmethod
    def read(cls, folder: Path) -> Collection:
        def lines(name: str) -> list[dict[str, str]]:
            with (folder / name).open(encoding="utf-8") as file:
                return [json.loads(line) for line in file]

        gains: dict[str, dict[str, float]] = defaultdict(dict)
        for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines():
            query, document, gain = line.split("\t")
            gains[query][document] = float(gain)
        judged = [each for each in lines("queries.jsonl") if any(gains[each["id"]].values())]
        return cls(folder.name, lines("docs.jsonl"), judged, gains)

    @property
    def language(self) -> str:
        """The language that the collection's name ends in, English without one."""
        language = self.name.rpartition("-")[2]
        return language if len(language) == len("en") else "en"


def url_of(document: Mapping[str, str]) -> str:
    return document.get("url") or f"http://collection.example/{document['id']}"


def html_of(document: Mapping[str, str]) -> str:
    """A document as a page: its own HTML, or its title as a heading above its text."""
    if "html" in document:
        return document["html"]
    title = html.escape(document["title"])
    text = html.escape(document["text"].removeprefix(document["title"]).strip())
    paragraphs = "".join(f"<p>{each}</p>" for each in text.split("\n\n"))
    heading = f"<h1>{title}</h1>" if title else ""
    return f"<!doctype html><title>{title}</title><main>{heading}{paragraphs}</main>"


def rows(documents: Sequence[Mapping[str, str]]) -> list[dict[str, Any]]:
    """The rows that `gossamer index` would write for these pages, all with the same rank."""
    found: list[dict[str, Any]] = []
    anchors: dict[str, list[str]] = defaultdict(list)
    for each in documents:
        url = url_of(each)
        page = parse_response(url, HTML, html_of(each).encode())
        for link in page.links:
            target = link.dst.partition("#")[0]
            if link.anchor and target != url:
                anchors[target].append(link.anchor)
        text, boilerplate = main_and_boilerplate(page.text, page.main_text)
        found.append(
            {
                "url": url,
                "host": host_of(url),
                "title": page.title,
                "description": page.description,
                "headings": page.headings,
                "text": text,
                "boilerplate": boilerplate,
                "is_doubtful": page.is_doubtful,
                "language": page.language,
                "content_type": "text/html",
                "published_ms": None,
                "modified_ms": None,
                "image": None,
                "nosnippet": False,
                "wishes": None,
                "fetched_ms": 0,
                "static_rank": 1.0,
                "copy_hosts": None,
                "copies": None,
                "versions": None,
            }
        )
    most = IndexConfig().anchors
    for row in found:
        row["anchors"] = anchors[row["url"]][:most]
    return _in_languages(_split_texts(found))


def _split_texts(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Divide texts by the lines that repeat on a host, as `gossamer index` does."""
    outer = _repeated(found, "boilerplate", lambda pages: min(FEW, pages / 2))
    inner = _repeated(found, "text", lambda pages: pages * (SHARE if pages >= MIN_PAGES else 1))
    before = [None, *(row["host"] for row in found)]
    for row, host in zip(found, before, strict=False):
        row |= {"adds": True, "outer_lines": None, "inner_lines": None}
        if row["host"] != host:
            row |= {"outer_lines": outer[row["host"]], "inner_lines": inner[row["host"]]}
    return list(split_texts(found))


def _repeated(
    found: list[dict[str, Any]], name: str, most: Callable[[int], float]
) -> dict[str, list[int]]:
    """By host, the lines of a text that more than `most` of its pages have."""
    pages = Counter(row["host"] for row in found)
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for row in found:
        counts[row["host"]].update({*(row[name] or "").split(LINE)} - {""})
    return {
        host: [line_hash(line) for line, n in lines.items() if n > most(pages[host])]
        for host, lines in counts.items()
    }


def _in_languages(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Give pages without a language that of most pages, as `gossamer index` does."""
    counts = Counter(row["language"] for row in found if row["language"])
    usual = counts.most_common(1)[0][0] if counts else None
    for row in found:
        language = row["language"] or usual
        row["index_language"] = index_language_of(language)
    return found
