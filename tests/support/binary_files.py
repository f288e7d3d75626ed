"""Files of the formats that are not HTML, written by hand as their standards show."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

OFFICE = "application/vnd.openxmlformats-officedocument"
DOCX = f"{OFFICE}.wordprocessingml.document"
PPTX = f"{OFFICE}.presentationml.presentation"
XLSX = f"{OFFICE}.spreadsheetml.sheet"
ODT = "application/vnd.oasis.opendocument.text"
EPUB = "application/epub+zip"
_RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def pdf(
    *contents: str,
    info: str = "",
    catalog: str = "",
    page: str = "",
    font: str = "/Type /Font /Subtype /Type1 /BaseFont /Helvetica",
    trailer: str = "",
    extra: Sequence[str] = (),
) -> bytes:
    """A file of a page for each content stream. Objects of `extra` are 10, 11, …; pages 101, …"""
    kids = " ".join(f"{101 + 2 * n} 0 R" for n in range(len(contents)))
    objects = {
        1: f"<< /Type /Catalog /Pages 2 0 R {catalog} >>",
        2: f"<< /Type /Pages /Kids [{kids}] /Count {len(contents)} >>",
        3: f"<< {font} >>",
        4: f"<< {info} >>",
    }
    objects |= {10 + n: text for n, text in enumerate(extra)}
    for n, content in enumerate(contents):
        objects[101 + 2 * n] = (
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents {102 + 2 * n} 0 R "
            f"/Resources << /Font << /F 3 0 R >> >> {page} >>"
        )
        objects[102 + 2 * n] = f"<< /Length {len(content)} >> stream\n{content}\nendstream"
    out = bytearray(b"%PDF-1.7\n")
    offsets = {}
    for number, text in objects.items():
        offsets[number] = len(out)
        out += f"{number} 0 obj\n{text}\nendobj\n".encode("latin-1")
    start = len(out)
    out += b"xref\n"
    for number, offset in offsets.items():
        out += f"{number} 1\n{offset:010} 00000 n \n".encode()
    size = max(objects) + 1
    out += f"trailer << /Size {size} /Root 1 0 R /Info 4 0 R {trailer} >>\n".encode()
    return bytes(out + f"startxref\n{start}\n%%EOF\n".encode())


def shown(text: str, at: tuple[int, int] = (50, 700), size: int = 12) -> str:
    """Operators that show a text."""
    return f"BT /F {size} Tf {at[0]} {at[1]} Td ({text}) Tj ET\n"


def zipped(files: Mapping[str, str | bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def with_members(archive: bytes, files: Mapping[str, str | bytes]) -> bytes:
    """The archive with further members, or with others in place of its own."""
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        return zipped({**{name: opened.read(name) for name in opened.namelist()}, **files})


def relations(**targets: str) -> str:
    """Id to `kind target`; a target that is a URL is external."""
    rows = []
    for number, text in targets.items():
        kind, target = text.split(" ", 1)
        mode = ' TargetMode="External"' if "://" in target else ""
        rows.append(
            f'<Relationship Id="{number}" Type="{_RELATION}/{kind}" Target="{target}"{mode}/>'
        )
    return f"<Relationships>{''.join(rows)}</Relationships>"


def _office(main: str, kind: str, files: Mapping[str, str], core: str = "") -> bytes:
    return zipped(
        {
            "[Content_Types].xml": f'<Types><Override PartName="/{main}" '
            f'ContentType="{OFFICE}.{kind}.main+xml"/></Types>',
            "_rels/.rels": relations(a=f"officeDocument {main}"),
            "docProps/core.xml": "<cp:coreProperties xmlns:cp='c' xmlns:dc='d' xmlns:dcterms='t'>"
            f"{core}</cp:coreProperties>",
            **files,
        }
    )


def docx(body: str, core: str = "", **links: str) -> bytes:
    files = {
        "word/document.xml": f"<w:document><w:body>{body}</w:body></w:document>",
        "word/_rels/document.xml.rels": relations(s="styles styles.xml", **links),
        "word/styles.xml": "<w:styles><w:style w:styleId='berschrift1'><w:name w:val='heading 1'/>"
        "</w:style><w:style w:styleId='Normal'><w:name w:val='Normal'/></w:style></w:styles>",
    }
    return _office("word/document.xml", "wordprocessingml.document", files, core)


def pptx(*slides: str, **links: str) -> bytes:
    ids = [f"r{n}" for n in range(len(slides))]
    listed = "".join(f'<p:sldId r:id="{number}"/>' for number in ids)
    files = {
        "ppt/presentation.xml": f"<p:presentation>{listed}</p:presentation>",
        "ppt/_rels/presentation.xml.rels": relations(
            **{number: f"slide slides/{number}.xml" for number in ids}
        ),
    }
    for number, slide in zip(ids, slides, strict=True):
        files[f"ppt/slides/{number}.xml"] = f"<p:sld>{slide}</p:sld>"
        files[f"ppt/slides/_rels/{number}.xml.rels"] = relations(**links)
    return _office("ppt/presentation.xml", "presentationml.presentation", files)


def xlsx(rows: str, strings: str = "", tail: str = "", **links: str) -> bytes:
    files = {
        "xl/workbook.xml": '<workbook><sheets><sheet name="Prices" r:id="a"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": relations(
            a="worksheet worksheets/sheet1.xml", b="sharedStrings sharedStrings.xml"
        ),
        "xl/sharedStrings.xml": f"<sst>{strings}</sst>",
        "xl/worksheets/sheet1.xml": f"<worksheet><sheetData>{rows}</sheetData>{tail}</worksheet>",
        "xl/worksheets/_rels/sheet1.xml.rels": relations(**links),
    }
    return _office("xl/workbook.xml", "spreadsheetml.sheet", files)


def odt(body: str, meta: str = "", manifest: str = "") -> bytes:
    return zipped(
        {
            "mimetype": ODT,
            "content.xml": f"<office:document-content><office:body>{body}</office:body>"
            "</office:document-content>",
            "meta.xml": f"<office:document-meta><office:meta>{meta}</office:meta>"
            "</office:document-meta>",
            "META-INF/manifest.xml": f"<manifest>{manifest}</manifest>",
        }
    )


def epub(*chapters: str, meta: str = "") -> bytes:
    names = [f"c{n}" for n in range(len(chapters))]
    items = "".join(f'<item id="{name}" href="text/{name}%20x.xhtml"/>' for name in names)
    spine = "".join(f'<itemref idref="{name}"/>' for name in names)
    return zipped(
        {
            "mimetype": EPUB,
            "META-INF/container.xml": "<container><rootfiles>"
            '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>',
            "OEBPS/book.opf": f"<package><metadata>{meta}</metadata><manifest>{items}</manifest>"
            f"<spine>{spine}</spine></package>",
            **{
                f"OEBPS/text/{name} x.xhtml": chapter
                for name, chapter in zip(names, chapters, strict=True)
            },
        }
    )


def exif(**values: str) -> bytes:
    """A TIFF, big-endian, with ASCII values of the tags `t010E` and so on."""
    head = struct.pack(">2sHIH", b"MM", 42, 8, len(values))
    entries, data = b"", b""
    start = len(head) + 12 * len(values)
    for tag, text in values.items():
        raw = text.encode() + b"\0" * (5 if len(text) < 4 else 1)
        entries += struct.pack(">HHII", int(tag[1:], 16), 2, len(raw), start + len(data))
        data += raw
    return head + entries + data


def jpeg(tiff: bytes) -> bytes:
    segment = b"Exif\0\0" + tiff
    return b"\xff\xd8\xff\xe1" + struct.pack(">H", len(segment) + 2) + segment + b"\xff\xda"


def png(*chunks: tuple[bytes, bytes]) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(data))

    ends = (b"IHDR", bytes(13)), *chunks, (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*each) for each in ends)


RTF = rb"""{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0 Arial;}{\f1\fcharset204 Arial Cyr;}}
{\info{\title Titel \'fcber}{\author Eva}{\creatim\yr2020\mo5\dy6\hr7\min8}{\nofpages3}}
{\*\generator Someone;}{\header On each page}Hello \b bold\b0 er w\u246?rld \u-10179?\u-8694?.\par
{\f1 \'cf\'f0\'e8\'e2\'e5\'f2}\par See {\field{\*\fldinst{HYPERLINK "https://example.org/r"}}
{\fldrslt{\ul the site}}} now.\par {\pict\wmetafile8 010203}\bin4 }}{{end\par}"""
