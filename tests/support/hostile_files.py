"""Feeds, sitemaps and files that attack their parsers."""

from __future__ import annotations

import gzip
import io
import json
import random
import zipfile
import zlib
from typing import TYPE_CHECKING

from tests.support.binary_files import docx, epub, odt, pdf, png, shown, xlsx, zipped
from tests.support.hostile_pages import HTML, MOST_BYTES, TEXT, filled, numbered

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.support.hostile_pages import Made

MB = 1 << 20
SITE = "http://a.example/"
OUTSIDE = "<!DOCTYPE r [<!ENTITY a SYSTEM 'file:///etc/passwd'>]>"
LAUGHS = "".join(f"<!ENTITY a{n + 1} '{f'&a{n};' * 10}'>" for n in range(12))
LAUGHTER = f"<!DOCTYPE r [<!ENTITY a0 'ha'>{LAUGHS}]>"
"""Billion laughs: each entity expands to ten of the one before."""
ITEM = "<rss><channel><item><title>"
JSON_FEED = '{"version":"https://jsonfeed.org/version/1","items":['
LINK = f"<< /Subtype /Link /Rect [0 0 900 900] /A << /S /URI /URI ({SITE}) >> >>"
DRAWING = (
    "<< /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 10 0 R >> >> /Length 6 >> "
    "stream\n/X Do \nendstream"
)


def zip_bomb() -> bytes:
    """A DOCX file whose only paragraph is a quarter of a gigabyte of spaces."""
    out = io.BytesIO()
    with (
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("word/document.xml", "w", force_zip64=True) as file,
    ):
        file.write(b"<w:p><w:t>")
        for _ in range(256):
            file.write(b" " * MB)
    return out.getvalue()


def gzip_bomb() -> bytes:
    return gzip.compress(bytes(MB), mtime=0) * 1_024


FEED: Made = {
    "elements in each other": lambda: filled("<a>", ITEM),
    "items": lambda: numbered("<item><link>/{}</item>", "<rss>"),
    "items in each other": lambda: filled("<item>", "<rss>"),
    "namespaces": lambda: numbered("<a xmlns:b{}='c'>", ITEM),
    "attributes": lambda: numbered(" a{}='b'", "<rss><item", "/>"),
    "bases in each other": lambda: numbered("<a xml:base='{}/'>", ITEM),
    "HTML in a title": lambda: filled("&lt;b&gt;", ITEM),
    "HTML in titles": lambda: filled(f"<item><title>{'&lt;b&gt;' * 2_000}</title></item>", "<rss>"),
    "references": lambda: filled("&#65;", ITEM),
    "CDATA": lambda: filled("<![CDATA[", ITEM),
    "entities": f"{LAUGHTER}{ITEM}&a12;".encode,
    "a file of this machine": f"{OUTSIDE}{ITEM}&a;".encode,
    "JSON: lists in each other": lambda: filled("[", JSON_FEED),
    "JSON: items": lambda: filled('{"url":"/x"},', JSON_FEED, "{}]}"),
}
SITEMAP: Made = {
    "entries": lambda: numbered(f"<url><loc>{SITE}{{}}</loc></url>", "<urlset>"),
    "pictures": lambda: numbered(
        f"<image:image><image:loc>{SITE}{{}}</image:loc></image:image>",
        f"<urlset><url><loc>{SITE}</loc>",
    ),
    "entries of 80 MB, packed": lambda: gzip.compress(
        b"<urlset>" + f"<url><loc>{SITE}</loc></url>".encode() * 2_000_000
    ),
}
GZIP: Made = {
    "a gigabyte of NUL": gzip_bomb,
    "members of nothing": lambda: filled(gzip.compress(b"", mtime=0)),
    "in itself": lambda: gzip.compress(gzip_bomb()),
}
ZIP: Made = {
    "a paragraph of spaces": zip_bomb,
    "members": lambda: zipped(dict.fromkeys(map(str, range(40_000)), "")),
    "DOCX: paragraphs in each other": lambda: docx("<w:p>" * 800_000),
    "DOCX: empty paragraphs": lambda: docx("<w:p></w:p>" * 1_000_000),
    "DOCX: entities": lambda: docx(f"{LAUGHTER}&a12;"),
    "DOCX: links in each other": lambda: docx("<w:hyperlink r:id='l'>" * 900_000, l="hyperlink x"),
    "DOCX: fields in each other": lambda: docx("<w:fldChar w:fldCharType='begin'/>" * 500_000),
    "DOCX: text boxes in each other": lambda: docx("<w:p><w:t>x</w:t><w:txbxContent>" * 300_000),
    "DOCX: chunks": lambda: docx("<w:altChunk r:id='s'/>" * 500_000),
    "DOCX: tabs": lambda: docx("<w:p>" + "<w:tab/>" * 2_000_000),
    "XLSX: cells": lambda: xlsx("<row>" + "<c><v>1</v></c>" * 1_500_000),
    "XLSX: strings": lambda: xlsx("<row/>", "<si><t>x</t></si>" * 1_500_000),
    "ODT: spaces": lambda: odt("<text:p>" + "<text:s/>" * 2_000_000),
    "EPUB: chapters": lambda: epub(*["<html>" + "<b>" * 500] * 1_000),
    "EPUB: chapters of empty elements": lambda: epub(*["<b></b>" * 100_000] * 60),
}
PDF: Made = {
    "pages in circles": lambda: pdf(
        shown("x"), extra=["<< /Type /Pages /Kids [2 0 R 10 0 R] /Count 1000000000 >>"]
    ).replace(b"[101 0 R]", b"[10 0 R 2 0 R 101 0 R]"),
    "a billion pages": lambda: pdf(shown("x")).replace(b"/Count 1 ", b"/Count 1000000000 "),
    "pages": lambda: pdf(*[shown("x")] * 9_000),
    "text": lambda: pdf(shown("word " * 20) * 25_000),
    "links": lambda: pdf(shown("x" * 3_000), page=f"/Annots [{'10 0 R ' * 400_000}]", extra=[LINK]),
    "arrays in each other": lambda: pdf(shown("x"), page="/A " + "[" * 4_000_000),
    "dictionaries in each other": lambda: pdf(shown("x"), page="/A " + "<</A " * 800_000),
    "forms that draw themselves": lambda: pdf(
        "/X Do " * 600_000, page="/Resources << /XObject << /X 10 0 R >> >>", extra=[DRAWING]
    ),
    "states": lambda: pdf("q " * 2_000_000),
    "objects": lambda: filled("0 0 obj ", "%PDF-1.7\n"),
    "packets of XMP": lambda: filled("<x:xmpmeta>", "%PDF-1.7\n"),
}
RTF: Made = {
    "groups": lambda: filled("{", "{\\rtf1 "),
    "words": lambda: filled("\\b", "{\\rtf1 "),
    "links": lambda: filled(
        f'{{\\field{{\\*\\fldinst HYPERLINK "{SITE}"}}\\fldrslt x}}', "{\\rtf1 "
    ),
    "a title": lambda: filled("\\'e4", "{\\rtf1 {\\info{\\title "),
    "notes in each other": lambda: filled("{\\footnote x", "{\\rtf1 "),
    "alternatives in each other": lambda: filled("{\\upr{\\*\\ud ", "{\\rtf1 "),
    "pictures of two gigabytes": lambda: filled("\\bin2000000000", "{\\rtf1 "),
}
MARKDOWN: Made = {
    "brackets": lambda: filled("["),
    "links in each other": lambda: filled("[a]("),
    "emphasis": lambda: filled("*a_"),
    "quotes in each other": lambda: filled("> "),
    "lists in each other": lambda: filled("- "),
    "code without end": lambda: b" ".join(b"`" * number for number in range(2_800)),
    "a table": lambda: filled("|", "|\n|-|-|\n"),
    "definitions": lambda: numbered("[{}]: /x\n"),
    "a long definition": lambda: filled("[a]", f"[a]: {SITE}{'x' * 9_000}\n\n"),
    "HTML in each other": lambda: filled("<b><p>"),
    "front matter": lambda: filled("a: [", "---\n", "\n---\n"),
    "tables of TOML": lambda: b"+++\n" + b"[" * 19_000 + b"\n+++\n",
}
JSON: Made = {
    "lists in each other": lambda: filled("["),
    "objects in each other": lambda: filled('{"a":'),
    "numbers": lambda: filled("1,", "[", "1]"),
    "a number of 4 MB": lambda: filled("9", "[", "]"),
    "empty lists": lambda: filled("[],", "[", "1]"),
    "keys": lambda: json.dumps(dict.fromkeys(range(300_000))).encode(),
    "halves of characters": lambda: filled("\\ud800", '["', '"]'),
}
CSV: Made = {
    "separators": lambda: filled(","),
    "quotes": lambda: filled('"', "a,b\n"),
    "rows": lambda: filled("a,b\n"),
}
XML: Made = {
    "elements in each other": lambda: filled("<a>"),
    "attributes": lambda: numbered(" a{}='b'", "<a", "/>"),
    "entities": f"{LAUGHTER}<r>&a12;</r>".encode,
    "a file of this machine": f"{OUTSIDE}<r>&a;</r>".encode,
    "a name of 4 MB": lambda: filled("a", "<", "/>"),
    "processing instructions": lambda: filled("<?a?>", "<r>"),
}
IMAGE: Made = {
    "chunks of PNG": lambda: png(*[(b"tEXt", b"")] * 300_000),
    "texts of PNG, packed": lambda: png(
        *[(b"zTXt", b"Title\0\0" + zlib.compress(bytes(60 * MB)))] * 60
    ),
    "segments of JPEG": lambda: b"\xff\xd8" + filled(b"\xff\xe0\0\2"),
    "packets of XMP": lambda: b"\xff\xd8" + filled("<x:xmpmeta>", "\0"),
}
BYTES: Made = {"random": lambda: random.Random(7).randbytes(MOST_BYTES)}  # noqa: S311

CASES: Mapping[str, Made] = {
    "text/html": HTML,
    "text/plain": TEXT,
    "application/rss+xml": FEED,
    "application/xml": {**SITEMAP, **XML},
    "application/gzip": GZIP,
    "application/zip": ZIP,
    "application/pdf": PDF,
    "application/rtf": RTF,
    "text/markdown": MARKDOWN,
    "application/json": JSON,
    "text/csv": CSV,
    "image/png": IMAGE,
    "": BYTES,
}
