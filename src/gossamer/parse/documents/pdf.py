"""PDF, read by PDFium, the reader of Chromium.

Facts (481 pages of 7 files, pypdfium2 5.15): 2 s of CPU with links and titles. For
the text only, kreuzberg and pdf_oxide take 2.3 times as long, pypdf 10 and pdfminer.six 21 times.
PDFium has one thread, adds 50 MB of address space, repairs broken cross-references, and opens files
that are encrypted without a password. It rarely opens truncated files.

PDFium never renders here, runs no JavaScript (the build has none), and fetches nothing.
"""

from __future__ import annotations

import ctypes
import re
import time
from contextlib import closing
from itertools import dropwhile, islice, takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

import pypdfium2 as pdfium
import pypdfium2.raw as c

from gossamer.parse.documents.document_draft import MAX_HEADINGS, Broken, Draft, Unsupported
from gossamer.parse.documents.pdf_annotations import opened_form, read_string, texts
from gossamer.parse.documents.pdf_columns import Columns
from gossamer.parse.documents.pdf_directions import ordered
from gossamer.parse.documents.pdf_hyphens import Hyphens
from gossamer.parse.documents.pdf_page import TextPage
from gossamer.parse.documents.pdf_text import characters, lines_of, read_text
from gossamer.parse.documents.xmp import read_xmp
from gossamer.parse.reading.titles import says_nothing

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_PAGES = 1_000
"""Pages read per file: a file may claim a billion, and PDFium looks for each of them."""
MAX_MISSING_PAGES = 20
MAX_CPU_S = 3.0
"""CPU time after which no further page is read. It is less than the guard's 5 s, so what was read
by then is kept."""
MAX_PAGE_LINKS = 1_000
MAX_ANCHOR_COST = 3_000_000
"""Links × characters of a page up to which anchor texts are read: PDFium searches all characters of
the page for each link. 3 million take 0.1 s."""
MAX_URL_BYTES = 4_096
MAX_TITLE_PAGE_CHARS = 2_000
MAX_PRINTED_TITLE_CHARS = 200
MAX_OUTLINE_DEPTH = 1

_KEYS = {"Title": "title", "Author": "author", "CreationDate": "published", "ModDate": "modified"}
_GOES_ON = re.compile("\x02|[\r\n]+[./_?=&%#~-]")
"""What follows a URL that continues on the next line."""


def read_pdf(body: bytes, draft: Draft) -> None:
    """Read a PDF. Raises Unsupported if it needs a password, Broken if it is not a PDF."""
    draft.metadata.update(read_xmp(body))
    with closing(_open(body)) as document, opened_form(document) as form:
        _read_metadata(document, draft)
        draft.pages = len(document)
        deadline = time.process_time() + MAX_CPU_S
        columns, hyphens = Columns(), Hyphens()
        unreadable = 0
        for number, text_page in _pages(document):
            with closing(text_page):
                text = read_text(text_page, columns)
                unreadable += bool(text.unmapped)
                if number == 0 and _lacks_title(draft):
                    draft.metadata["title"] = _largest(text_page, text.unmapped)
                notes = dict.fromkeys(texts(text_page.page, form))
                shown = hyphens.joined("\n".join((text.text, *notes)))
                for line in lines_of(shown):
                    draft.say(line)
                _read_links(document, text_page, draft)
                draft.truncated |= text.is_cut
            if draft.truncated:
                break
            if time.process_time() > deadline:
                draft.detail = f"{number + 1} of {draft.pages} pages read in {MAX_CPU_S:.0f} s"
                draft.truncated = True
                break
        draft.truncated = draft.truncated or draft.pages > MAX_PAGES
        if unreadable:
            draft.detail = f"{unreadable} pages with fonts that do not map glyphs to characters"


def _open(body: bytes) -> pdfium.PdfDocument:
    try:
        return pdfium.PdfDocument(body)
    except pdfium.PdfiumError as error:
        if error.err_code == c.FPDF_ERR_PASSWORD:
            raise Unsupported("encrypted with a password") from error
        if error.err_code == c.FPDF_ERR_SECURITY:
            raise Unsupported("encrypted by an unknown method") from error
        raise Broken(f"not a PDF: {error}") from error


def _pages(document: pdfium.PdfDocument) -> Iterator[tuple[int, TextPage]]:
    missing = 0
    for number in range(min(len(document), MAX_PAGES)):
        try:
            text_page = TextPage(document, number)
        except pdfium.PdfiumError:
            missing += 1
            if missing > MAX_MISSING_PAGES:
                return
            continue
        yield number, text_page


def _read_metadata(document: pdfium.PdfDocument, draft: Draft) -> None:
    """Add metadata. The document information dictionary overrides XMP: programs keep it current."""
    for key, name in _KEYS.items():
        if value := read_string(c.FPDF_GetMetaText, document, key.encode()).strip("\0 "):
            draft.metadata[name] = value
    if language := read_string(c.FPDFCatalog_GetLanguage, document):
        draft.metadata["language"] = language
    for heading in _outline(document):
        draft.head(heading)


def _outline(document: pdfium.PdfDocument) -> Iterator[str]:
    """Yield the first bookmarks, two levels deep. Their number is limited, so cycles do no harm."""
    ahead = [(c.FPDFBookmark_GetFirstChild(document, None), 0)]
    for _ in range(MAX_HEADINGS):
        if not ahead:
            return
        bookmark, depth = ahead.pop()
        if not bookmark:
            continue
        ahead.append((c.FPDFBookmark_GetNextSibling(document, bookmark), depth))
        if depth < MAX_OUTLINE_DEPTH:
            ahead.append((c.FPDFBookmark_GetFirstChild(document, bookmark), depth + 1))
        size = c.FPDFBookmark_GetTitle(bookmark, None, 0)
        if 0 < size <= MAX_URL_BYTES:
            raw = ctypes.create_string_buffer(size)
            c.FPDFBookmark_GetTitle(bookmark, raw, size)
            yield raw.raw.decode("utf-16-le", "replace").strip("\0 ")


def _largest(text_page: TextPage, unmapped: set[int]) -> str:
    """Return the printed title: the first lines in the largest type, if it is larger than most.

    Lines with an unmapped glyph are ignored.
    """
    lines: list[_PrintedLine] = []
    at, box = 0, c.FS_RECTF()
    for line in characters(text_page, MAX_TITLE_PAGE_CHARS).split("\r\n"):
        first = at + len(line) - len(line.lstrip())  # a space has no height
        readable = line.strip() and unmapped.isdisjoint(range(at, at + len(line)))
        if readable and c.FPDFText_GetLooseCharBox(text_page.raw, first, box):
            lines.append(_PrintedLine(box.top - box.bottom, at, line))
        at += len(line) + 2
    if not lines:
        return ""
    heights = sorted(line.height for line in lines)
    enough = max(heights[-1] * 0.95, heights[(len(heights) - 1) // 2] * 1.2)
    large = dropwhile(lambda line: line.height < enough, lines)
    title = " ".join(
        ordered(text_page, line.text, line.start)
        for line in takewhile(lambda line: line.height >= enough, large)
    )
    return (
        " ".join(lines_of(Hyphens().joined(title))) if len(title) <= MAX_PRINTED_TITLE_CHARS else ""
    )


class _PrintedLine(NamedTuple):
    """A line of a page: how high its type is, and the place of its first character."""

    height: float
    start: int
    text: str


class _Spot(NamedTuple):
    url: str
    left: float
    bottom: float
    right: float
    top: float


def _read_links(document: pdfium.PdfDocument, text_page: TextPage, draft: Draft) -> None:
    """Add the link annotations of a page. A link broken over several lines has several of them.

    Only on pages without annotations do we look for URLs in the text: authors who set links set all
    of them, and annotations are exact, while URLs in text may be cut at the end of a line.
    """
    spots = list(islice(_annotations(document, text_page.page), MAX_PAGE_LINKS))
    with_anchor = len(spots) * text_page.count_chars() <= MAX_ANCHOR_COST
    anchors: dict[str, str] = {}
    for url, *box in spots:
        words = text_page.text_within(*box) if with_anchor else ""
        anchors[url] = f"{anchors.get(url, '')} {words}"
    for url, words in anchors.items():
        draft.link(url, " ".join(lines_of(Hyphens().joined(words))))
    if not anchors:
        for url in _urls_in_text(text_page):
            draft.link(url)


def _annotations(document: pdfium.PdfDocument, page: Any) -> Iterator[_Spot]:
    position, link, box = ctypes.c_int(0), c.FPDF_LINK(), c.FS_RECTF()
    while c.FPDFLink_Enumerate(page, position, link):
        action = c.FPDFLink_GetAction(link)
        if not action or c.FPDFAction_GetType(action) != c.PDFACTION_URI:
            continue
        size = c.FPDFAction_GetURIPath(document, action, None, 0)
        if not 1 < size <= MAX_URL_BYTES or not c.FPDFLink_GetAnnotRect(link, box):
            continue
        buffer = ctypes.create_string_buffer(size)
        c.FPDFAction_GetURIPath(document, action, buffer, size)
        url = buffer.value.decode("utf-8", "replace")
        left, right = sorted((box.left, box.right))
        bottom, top = sorted((box.bottom, box.top))
        yield _Spot(url, left, bottom, right, top)


def _urls_in_text(text_page: TextPage) -> Iterator[str]:
    links = c.FPDFLink_LoadWebLinks(text_page.raw)
    if not links:
        return
    try:
        start, count = ctypes.c_int(), ctypes.c_int()
        for index in range(min(c.FPDFLink_CountWebLinks(links), MAX_PAGE_LINKS)):
            units = c.FPDFLink_GetURL(links, index, None, 0)
            c.FPDFLink_GetTextRange(links, index, start, count)
            end = start.value + count.value
            after = text_page.characters(range(end, min(end + 3, text_page.count_chars())))
            if 1 < units <= MAX_URL_BYTES and not _GOES_ON.match(after):
                buffer = (ctypes.c_ushort * units)()
                c.FPDFLink_GetURL(links, index, buffer, units)
                yield _utf16(buffer)
    finally:
        c.FPDFLink_CloseWebLinks(links)


def _utf16(buffer: ctypes.Array[ctypes.c_ushort]) -> str:
    return bytes(buffer).decode("utf-16-le", "replace").strip("\0 ")


def _lacks_title(draft: Draft) -> bool:
    return says_nothing(draft.metadata.get("title", ""))
