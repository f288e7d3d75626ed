"""Does a page rendered as Markdown have the words and the structure of its main text?

Pages of manuals are rendered as Markdown, and that back to HTML by markdown-it, an independent
implementation of CommonMark and of GFM's tables. Two things are compared:

- the words of the main text with those that come back, in order: the share that is in the longest
  common sequence;
- headings with their level, items of lists, rows of tables, and code. Those of the page whose text
  is in the main text should come back with the same letters. Rows count if their table has two rows
  of two filled cells, and no table or heading inside; items and code outside of such tables.

By default, up to 200 pages of the manuals that are installed (--manual FOLDER, several times).
"""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from difflib import SequenceMatcher
from html.parser import HTMLParser
from time import process_time
from typing import TYPE_CHECKING

from harness import MANUAL, Options, manuals, report, skip
from markdown_it import MarkdownIt
from selectolax.lexbor import LexborHTMLParser

from gossamer.parse.html.walk import findings
from gossamer.parse.page_parsing import parse_response
from gossamer.parse.parsed_page import Rules
from gossamer.parse.rendition.chosen_blocks import main_blocks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from selectolax.lexbor import LexborNode

MIN_LETTERS = 20
"""Shortest item or row that is compared: shorter ones are in navigation and in the text alike."""
LONG_ITEM = 80
"""Letters of an item that is surely not navigation."""
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
KINDS = ("headings", "items", "rows", "code")
INLINE = frozenset(["a", "b", "code", "em", "i", "img", "strong"])
RENDERER = MarkdownIt("commonmark").enable("table")
WINDOW = 4_000
"""Words that are compared at once: the time of a comparison grows with their square."""


def main() -> None:
    options = Options(__doc__, pages=(200, 8)).read()
    with tempfile.TemporaryDirectory() as scratch:
        folders = manuals(options, scratch)
        chosen = [
            path for folder in folders for path in sample(folder, options.pages // len(folders))
        ]
        if not chosen:
            skip(f"needs pages in {MANUAL}")
        compare(chosen)


def sample(folder: Path, count: int) -> list[Path]:
    """Return pages of a folder, evenly distributed over the names of its files."""
    paths = sorted(path for path in folder.rglob("*.htm*") if path.is_file())
    step = max(len(paths) / max(count, 1), 1)
    return [paths[int(number * step)] for number in range(min(count, len(paths)))]


def compare(paths: Iterable[Path]) -> None:
    words = Counter[str]()
    found: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
    worst: list[tuple[float, str, Path]] = []
    parsed_s = rendered_s = 0.0
    pages = 0
    for path in paths:
        body = path.read_bytes()
        began_s = process_time()
        parse_response("http://manual.test/page.html", {}, body, Rules())
        middle_s = process_time()
        page = parse_response("http://manual.test/page.html", {}, body, Rules(renders=True))
        parsed_s += middle_s - began_s
        rendered_s += process_time() - middle_s
        if page.outcome != "parsed" or page.rendition is None or not page.main_text:
            continue
        pages += 1
        back = RENDERER.render(page.rendition.markdown)
        expected, got = words_of(page.main_text), words_of(text_of(back))
        kept = common(expected, got)
        words.update(expected=len(expected), kept=kept, got=len(got))
        worst.append((kept / max(len(expected), 1), "words", path))
        source = structure(
            LexborHTMLParser(body.decode(page.charset or "utf-8", "replace")), page.main_text
        )
        rendered = structure(LexborHTMLParser(back), None)
        for kind in KINDS:
            lost = source[kind] - rendered[kind]
            found[kind].update(
                expected=source[kind].total(), kept=source[kind].total() - lost.total()
            )
            if lost:
                worst.append(
                    (
                        1 - lost.total() / source[kind].total(),
                        f"{kind}: {next(iter(lost))[:60]}",
                        path,
                    )
                )
    for share, what, path in sorted(worst)[:25]:
        print(f"{share:7.3f}  {path.name[:40]:40}  {what}")
    print(f"{pages} pages")
    print(
        f"words  {share_of(words)} of {words['expected']:,}, and {words['got'] - words['kept']:,}"
    )
    for kind in KINDS:
        print(f"{kind:8}  {share_of(found[kind])} of {found[kind]['expected']:,}")
    print(f"rendering takes {rendered_s / max(parsed_s, 1e-9):.1f} times as long as parsing")
    structures = ", ".join(f"{kind} {share_of(found[kind])}" for kind in KINDS)
    report(f"{share_of(words)} of words are kept in order; {structures}")


def share_of(counts: Counter[str]) -> str:
    return f"{100 * counts['kept'] / max(counts['expected'], 1):.2f} %"


def words_of(text: str) -> list[str]:
    return re.findall(r"\w+", text)


def common(expected: list[str], got: list[str]) -> int:
    """Return the length of a common sequence, nearly the longest."""
    kept = start = 0
    while start < len(expected) and start < len(got) and expected[start] == got[start]:
        start += 1
    kept, left, right = start, start, start
    while left < len(expected) and right < len(got):
        a, b = expected[left : left + WINDOW], got[right : right + WINDOW]
        blocks = SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks()[:-1]
        if not blocks:
            break
        if left + WINDOW < len(expected) and len(blocks) > 1:
            blocks = blocks[:-1]
        kept += sum(block.size for block in blocks)
        left, right = left + blocks[-1].a + blocks[-1].size, right + blocks[-1].b + blocks[-1].size
    return kept


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002
        self.parts.append("" if tag in INLINE else "\n")

    def handle_endtag(self, tag: str) -> None:
        self.parts.append("" if tag in INLINE else "\n")

    def handle_data(self, data: str) -> None:
        self.parts.append(data)


def text_of(html: str) -> str:
    reader = _Text()
    reader.feed(html)
    return "".join(reader.parts)


def letters(text: str | None) -> str:
    return "".join(re.findall(r"\w+", (text or "").replace("¶", "")))


def structure(tree: LexborHTMLParser, main: str | None) -> dict[str, Counter[str]]:
    """Return the headings, items, rows and code whose text is in a main text, or all."""
    headings, lines = Counter[str](), Counter[str]()
    if main is not None:
        headings, lines = blocks_of(tree)
    for node in tree.css("script, style, template, title, noscript"):
        node.decompose()
    whole = letters(main)
    if main is None:
        for level, name in enumerate(HEADINGS, 1):
            headings.update(f"{level} {letters(node.text())}" for node in tree.css(name))

    def texts(nodes: Iterable[LexborNode], least: int) -> Counter[str]:
        found = (letters(node.text()) for node in nodes)
        return Counter(t for t in found if main is None or (len(t) >= least and t in whole))

    def items(nodes: Iterable[LexborNode]) -> Counter[str]:
        """Return items of which each is a block of the main text, or long."""
        found = texts(nodes, MIN_LETTERS)
        if main is None:
            return found
        return Counter(
            {t: n if len(t) >= LONG_ITEM else min(n, lines[t]) for t, n in found.items()}
        )

    everything = main is None
    tables = [table for table in tree.css("table") if everything or has_data(table)]
    rows = [row for table in tables for row in table.css("tr")]
    within = {node.mem_id for table in tables for node in table.css("li, pre")}
    outside = [node for node in tree.css("li, pre") if everything or node.mem_id not in within]
    return {
        "headings": headings,
        "items": items(node for node in outside if node.tag == "li"),
        "rows": texts(rows, MIN_LETTERS),
        "code": texts((node for node in outside if node.tag == "pre"), MIN_LETTERS),
    }


def blocks_of(tree: LexborHTMLParser) -> tuple[Counter[str], Counter[str]]:
    """Return the headings, with their level, and the items among the blocks of the main text."""
    found = findings(tree, Rules())
    outline, chosen = main_blocks(found.lines.outline(), found.title)
    blocks = [outline.blocks[number] for number in chosen]
    headings = (f"{each.tag[1]} {letters(each.text)}" for each in blocks if each.tag in HEADINGS)
    return Counter(headings), Counter(letters(each.text) for each in blocks if each.tag == "li")


def has_data(table: LexborNode) -> bool:
    if any(node.mem_id != table.mem_id for node in table.css(f"table, {', '.join(HEADINGS)}")):
        return False
    return sum(len(list(filled(row))) > 1 for row in table.css("tr")) > 1


def filled(row: LexborNode) -> Iterator[LexborNode]:
    return (cell for cell in row.css("td, th") if letters(cell.text()))


if __name__ == "__main__":
    main()
