"""Is the passage that a term of a manual's index names among the first five?

Questions are the terms of an index that the authors of a manual made: `bookindex.html` of DocBook,
or `genindex*.html` of Sphinx. They name what is said at a place, often in other words, and link to
it. The right passage has the letters that follow that place; a passage of its section is under the
same headings. Terms with one place count, if it is in the main text.

The manual is crawled, and asked as the tool `search` of MCP does it: the best pages, and then the
best passages of these. The pages of the index itself are left out.

    python bench/passages.py --manual /usr/share/doc/postgresql-doc-15/html --questions 300
"""

from __future__ import annotations

import random
import re
import tempfile
from functools import cache
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote, urljoin

from harness import MANUAL, Options, generate_text, local_settings, manuals, report, skip
from selectolax.lexbor import LexborHTMLParser

from gossamer import Crawl
from gossamer.errors import GossamerError
from gossamer.fakeweb import FakeWeb, Web
from gossamer.serve.mcp.tools import MORE_PAGES, USUAL_COUNT
from gossamer.serve.passage_search import best_passages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from selectolax.lexbor import LexborNode

    from gossamer.parse.rendition.rendered import Passage
    from gossamer.serve.documents import Document

HOST = "manual.test"
INDEXES = ("bookindex.html", "genindex*.html")
FOLLOWING = 400
"""Letters behind a place in which those of the passage begin."""
SAMPLE = 30
"""Letters by which the passage is recognised."""
_NOTE = re.compile(r"\s\([^()]*\)$")
"""What Sphinx adds to a name, which is not true of the entry's parts: `clear() (Event method)`."""
_TARGET = re.compile(r"\]\([^()\s]*\)")


class Term(NamedTuple):
    """A term of an index, and the places to which it links: names of files with fragments."""

    text: str
    places: Sequence[str]


class Asked(NamedTuple):
    """A question with one place, its page and the number of the right passage there."""

    term: str
    url: str
    passage: Passage


def letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", _TARGET.sub("]", text)).lower()


def terms(folder: Path) -> Iterator[Term]:
    found: dict[str, set[str]] = {}
    for pattern in INDEXES:
        for path in sorted(folder.glob(pattern)):
            tree = LexborHTMLParser(path.read_bytes())
            for entry in tree.css("dt, li"):
                links = own_links(entry)
                names = [_NOTE.sub("", own_text(each).strip()) for each in above(entry)]
                text = " ".join([*names, own_text(entry)])
                if links and text.strip():
                    found.setdefault(" ".join(text.split()), set()).update(links)
    yield from (Term(text, sorted(places)) for text, places in found.items())


def above(entry: LexborNode) -> Iterator[LexborNode]:
    """The entries of which this one is a part, the highest first."""
    node = entry.parent
    found = []
    while node is not None:
        if node.tag == "li":
            found.append(node)
        elif node.tag == "dd" and (before := previous(node, "dt")) is not None:
            found.append(before)
        node = node.parent
    yield from reversed(found)


def previous(node: LexborNode, tag: str) -> LexborNode | None:
    before = node.prev
    while before is not None and before.tag != tag:
        before = before.prev
    return before


def own_children(entry: LexborNode) -> Iterator[LexborNode]:
    for child in entry.iter(include_text=True):
        if child.tag not in {"ul", "dl"}:
            yield child


def own_links(entry: LexborNode) -> list[str]:
    """The links of an entry into the manual, without those of its parts."""
    nodes = [*own_children(entry)]
    found = [link for node in nodes if node.tag != "-text" for link in node.css("a[href]")]
    places = (link.attributes["href"] or "" for link in found)
    return [place for place in places if "#" in place and ":" not in place.partition("#")[0]]


def own_text(entry: LexborNode) -> str:
    """What an entry is called: DocBook links the titles of sections, Sphinx the name itself."""
    parts = [child.text(deep=True) for child in own_children(entry)]
    return re.split(r",\s|\[\d", "".join(parts))[0] if entry.tag == "dt" else "".join(parts)


def following(html: bytes, fragment: str) -> str:
    """The letters that follow a place of a page, without headings: they are in no passage."""
    text = html.decode("utf-8", "replace")
    found = re.search(rf'<[a-z0-9]+\b[^>]*\b(?:id|name)="{re.escape(fragment)}"[^>]*>', text)
    if found is None:
        return ""
    tree = LexborHTMLParser(text[found.start() : found.end() + 40 * FOLLOWING])
    for heading in tree.css("h1, h2, h3, h4, h5, h6"):
        heading.decompose()
    return letters(tree.text())[:FOLLOWING]


def right_passage(passages: Sequence[Passage], expected: str) -> Passage | None:
    """The passage that has the letters behind a place, the first possible ones."""
    texts = [letters(passage.text) for passage in passages]
    for begin in range(max(len(expected) - SAMPLE, 0)):
        sample = expected[begin : begin + SAMPLE]
        having = [number for number, text in enumerate(texts) if sample in text]
        if having:
            return passages[having[0]] if len(having) == 1 else None
    return None


def questions(
    folder: Path, most: int, document_of: Callable[[str], Document | None]
) -> Iterator[Asked]:
    found = [term for term in terms(folder) if len(term.places) == 1]
    random.Random(11).shuffle(found)  # noqa: S311  # reproducible
    for term in found:
        name, _, fragment = unquote(term.places[0]).partition("#")
        path, url = folder / name, urljoin(f"http://{HOST}/", name)
        document = document_of(url) if path.is_file() else None
        if document is None:
            continue
        passage = right_passage(document.passages, following(path.read_bytes(), fragment))
        if passage is not None:
            yield Asked(term.text, url, passage)
            if not (most := most - 1):
                return


class Found(NamedTuple):
    """Whether a question found the page, a passage of the section, and the right passage."""

    page: bool
    section: bool
    passage: bool


def ask(crawl: Crawl, question: Asked, document_of: Callable[[str], Document | None]) -> Found:
    hits = crawl.search(question.term, USUAL_COUNT + MORE_PAGES + len(INDEXES) + 30).hits
    urls = [hit.url for hit in hits if not is_index(hit.url)][: USUAL_COUNT + MORE_PAGES]
    documents = [each for each in map(document_of, urls) if each is not None]
    best = best_passages(question.term, documents, USUAL_COUNT)
    of_page = [each.passage for each in best if documents[each.page].url == question.url]
    return Found(
        question.url in urls,
        any(each.path == question.passage.path for each in of_page),
        any(each.id == question.passage.id for each in of_page),
    )


def is_index(url: str) -> bool:
    return re.search(r"/(bookindex|genindex[^/]*)\.html$", url) is not None


def measure(folder: Path, scratch: Path, most: int) -> list[Found]:
    crawl_folder = scratch / folder.parent.name
    crawl_folder.mkdir(parents=True)
    with FakeWeb(Web(hosts=0, docs={HOST: folder}), log_path="/dev/null") as fake:
        settings = local_settings(
            fake.address, {"fetch.own_hosts": ["*.test"], "filter.scope": "host"}
        )
        with Crawl.create(str(crawl_folder), settings=settings) as crawl:
            crawl.inject([f"http://{HOST}/"])
            crawl.run()
            crawl.harvest()

            @cache
            def document_of(url: str) -> Document | None:
                try:
                    return crawl.document(url)
                except GossamerError:
                    return None

            asked = [*questions(folder, most, document_of)]
            began_s = process_time()
            found = [ask(crawl, each, document_of) for each in asked]
            took_ms = 1000 * (process_time() - began_s) / max(len(asked), 1)
    print(f"{folder}: {len(asked)} questions, {took_ms:.0f} ms of CPU each; {shares(found)}")
    for question, result in zip(asked, found, strict=True):
        if not result.section:
            print(f"    missed: {question.term}: {question.url} {question.passage.path}")
    return found


def shares(found: Sequence[Found]) -> str:
    counts = [sum(each) / max(len(found), 1) for each in zip(*found, strict=True)] or [0.0] * 3
    page, section, passage = counts
    return f"page {page:.1%}, a passage of the section {section:.1%}, the passage {passage:.1%}"


def write_index(folder: Path) -> None:
    """Give each page of a generated manual a section with a term, and list these."""
    entries = []
    for number, path in enumerate(sorted(folder.glob("page-*.html"))):
        term = f"Term{number}"
        text = generate_text("en", term, 10)
        with path.open("a", encoding="utf-8") as file:
            file.write(f'<h2 id="t{number}">About {term}</h2><p>{term}: {text}</p>')
        entries.append(f'<li><a href="{path.name}#t{number}">{term}</a></li>')
    (folder / "genindex.html").write_text(f"<ul>{''.join(entries)}</ul>", encoding="utf-8")


def main() -> None:
    options = Options(__doc__, questions=(300, 5)).read()
    with tempfile.TemporaryDirectory() as scratch:
        folders = manuals(options, scratch)
        if options.tiny:
            write_index(folders[0])
        having = [each for each in folders if any([*each.glob(name)] for name in INDEXES)]
        if not having:
            skip(f"needs a manual with an index, such as {MANUAL}")
        found = [
            result
            for folder in having
            for result in measure(folder, Path(scratch, "crawls"), options.questions // len(having))
        ]
    report(f"among the first {USUAL_COUNT}: {shares(found)}")


if __name__ == "__main__":
    main()
