from __future__ import annotations

import random
import subprocess
import sys
import zipfile
from datetime import UTC, datetime, timedelta, timezone
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.parse.documents import xml_markup, zip_archive
from gossamer.parse.documents.binary import BINARY_TYPES, kind_of, read_binary
from gossamer.parse.documents.document_draft import BinaryDocument, Broken, moment
from tests.support.binary_files import (
    DOCX,
    EPUB,
    ODT,
    PPTX,
    RTF,
    XLSX,
    docx,
    epub,
    exif,
    jpeg,
    odt,
    pdf,
    png,
    pptx,
    shown,
    with_members,
    xlsx,
    zipped,
)
from tests.support.parse_corpus import CORE, FILES, LINKED_PDF

MAX_CHARS = 10_000
DATE = datetime(2024, 5, 6, 7, 8, 9, tzinfo=timezone(timedelta(hours=2)))


def read(body: bytes, mime: str = "application/octet-stream") -> BinaryDocument:
    return read_binary(mime, body, MAX_CHARS)


def links(document: BinaryDocument) -> list[tuple[str, str]]:
    return [(link.url, link.anchor) for link in document.links]


class TestDates:
    @pytest.mark.parametrize(
        "text",
        ["2024-05-06T07:08:09+02:00", "D:20240506070809+02'00'", "2024:05:06 07:08:09+02:00"],
    )
    def test_are_read_in_the_notations_of_all_formats(self, text: str) -> None:
        assert moment(text) == DATE

    @pytest.mark.parametrize(
        ("text", "date"),
        [
            ("2024", datetime(2024, 1, 1, tzinfo=UTC)),
            ("2024-05", datetime(2024, 5, 1, tzinfo=UTC)),
            ("D:20240506", datetime(2024, 5, 6, tzinfo=UTC)),
            ("2024-05-06T07:08:09.123Z", datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)),
            ("2024-05-06T23:59:60Z", datetime(2024, 5, 6, 23, 59, 59, tzinfo=UTC)),
        ],
    )
    def test_without_a_part_have_its_start_and_without_a_zone_are_utc(
        self, text: str, date: datetime
    ) -> None:
        assert moment(text) == date

    @pytest.mark.parametrize(
        "text",
        [
            *("", "soon", "D:", "0000:00:00 00:00:00", "1601-01-01T00:00:00Z", "2024-13-01"),
            *("99999999", "9999-01-01", "2100-01-01"),
        ],
    )
    def test_that_are_none_are_none(self, text: str) -> None:
        assert moment(text) is None

    @given(st.text(max_size=40) | st.from_regex(r"[0-9D:TZ+' -]{0,30}", fullmatch=True))
    def test_never_raise(self, text: str) -> None:
        date = moment(text)
        assert date is None or date.utcoffset() is not None


class TestPdf:
    def test_text_lines_and_metadata(self) -> None:
        document = read(
            pdf(
                shown("First line") + shown("second line", (50, 600)),
                shown("Page two"),
                info="/Title (The title) /Author (Ann) /CreationDate (D:20240506070809+02'00') "
                "/ModDate (D:20240507)",
                catalog="/Lang (de-DE)",
            )
        )
        assert document == BinaryDocument(
            outcome="parsed",
            content_type="application/pdf",
            title="The title",
            authors=("Ann",),
            text="First line\nsecond line\nPage two",
            published=DATE,
            modified=datetime(2024, 5, 7, tzinfo=UTC),
            language="de-DE",
            pages=2,
        )

    def test_an_annotation_is_a_link_whose_anchor_is_the_text_below(self) -> None:
        assert links(read(LINKED_PDF)) == [("http://a.example/", "the site")]

    def test_without_a_title_the_largest_line_is_it(self) -> None:
        assert read(LINKED_PDF).title == "A Large Title"
        assert read(pdf(shown("All lines") + shown("are alike", (50, 600)))).title is None

    def test_a_url_in_text_is_a_link_unless_the_line_ends_in_it(self) -> None:
        whole = pdf(shown("see https://example.org/b for more"))
        assert links(read(whole)) == [("https://example.org/b", "")]
        cut = pdf(shown("see https://example", (50, 700)) + shown(".org/b for more", (50, 685)))
        assert links(read(cut)) == []

    def test_bookmarks_are_headings(self) -> None:
        document = read(
            pdf(
                shown("text"),
                catalog="/Outlines 10 0 R",
                extra=[
                    "<< /First 11 0 R /Last 11 0 R /Count 1 >>",
                    "<< /Title (Chapter) /Parent 10 0 R /Next 11 0 R /First 12 0 R >>",
                    "<< /Title (Section) /Parent 11 0 R >>",
                ],
            )
        )
        assert document.headings[:2] == ("Chapter", "Section")
        assert len(document.headings) <= 100  # of a circle of bookmarks

    def test_metadata_of_xmp_where_there_is_no_other(self) -> None:
        packet = (
            "<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF xmlns:rdf='r'><rdf:Description "
            "xmp:CreateDate='2024-05-06T07:08:09+02:00' xmlns:xmp='x' xmlns:dc='d'>"
            "<dc:language><rdf:Bag><rdf:li>fr</rdf:li></rdf:Bag></dc:language>"
            "<dc:title><rdf:Alt><rdf:li>From XMP</rdf:li></rdf:Alt></dc:title><dc:creator><rdf:Seq>"
            "<rdf:li>Ann</rdf:li><rdf:li>Bob</rdf:li></rdf:Seq></dc:creator></rdf:Description>"
            "</rdf:RDF></x:xmpmeta>"
        )
        document = read(
            pdf(shown("text"), extra=[f"<< /Length {len(packet)} >> stream\n{packet}\nendstream"])
        )
        assert document.title == "From XMP"
        assert document.language == "fr"
        assert document.authors == ("Ann", "Bob")
        assert document.published == DATE

    def test_a_password_is_not_guessed(self) -> None:
        key = "<" + "41" * 32 + ">"
        encrypted = pdf(
            shown("secret"),
            trailer="/Encrypt 10 0 R /ID [<41> <41>]",
            extra=[f"<< /Filter /Standard /V 1 /R 2 /O {key} /U {key} /P -4 >>"],
        )
        document = read(encrypted)
        assert (document.outcome, document.detail) == ("unsupported", "encrypted with a password")
        document = read(encrypted.replace(b"/Standard", b"/Unheard_"))
        assert (document.outcome, document.detail) == (
            "unsupported",
            "encrypted by an unknown method",
        )

    def test_a_broken_table_of_references_is_mended(self) -> None:
        body = pdf(shown("still here"))
        assert read(body[: body.rindex(b"xref\n")] + b"xref\ngarbage").text == "still here"

    def test_pictures_alone_are_empty(self) -> None:
        assert read(pdf("q 0 0 100 100 re f Q")).outcome == "empty"

    def test_glyphs_without_meaning_are_no_text(self) -> None:
        font = (
            "/Type /Font /Subtype /Type0 /BaseFont /X /Encoding /Identity-H /DescendantFonts "
            "[<< /Type /Font /Subtype /CIDFontType2 /BaseFont /X /CIDSystemInfo "
            "<< /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> >>]"
        )
        glyphs = "BT /F 12 Tf 50 700 Td <000100020004E0050006000700080010> Tj ET"
        document = read(pdf(glyphs, font=font))
        assert document.outcome == "empty"

    def test_a_billion_pages_that_are_not_there_cost_nothing(self) -> None:
        body = pdf(shown("one")).replace(b"/Count 1", b"/Count 2000000000")
        start = process_time()
        assert read(body).text == "one"
        assert process_time() - start < 3

    def test_text_ends_where_there_is_enough(self) -> None:
        document = read_binary("application/pdf", pdf(*[shown("word " * 9)] * 50), 100)
        assert document.text is not None
        assert len(document.text) == 100

    def test_html_that_calls_itself_pdf_failed(self) -> None:
        document = read(b"<html>not found</html>", "application/pdf")
        assert document.outcome == "failed"


class TestOffice:
    def test_docx(self) -> None:
        body = (
            "<w:p><w:pPr><w:pStyle w:val='berschrift1'/></w:pPr><w:r><w:t>One</w:t></w:r></w:p>"
            "<w:p><w:r><w:t>bold</w:t></w:r><w:r><w:t>er, </w:t></w:r>"
            "<w:hyperlink r:id='l'><w:r><w:t>a link</w:t></w:r></w:hyperlink><w:r><w:tab/>"
            "<w:t>end</w:t><w:delText>gone</w:delText></w:r></w:p>"
            "<mc:AlternateContent><mc:Choice><w:p><w:t>box</w:t></w:p></mc:Choice>"
            "<mc:Fallback><w:p><w:t>box</w:t></w:p></mc:Fallback></mc:AlternateContent>"
            """<w:p><w:fldSimple w:instr=' HYPERLINK "https://example.org/f" '>"""
            "<w:t>field</w:t></w:fldSimple></w:p>"
        )
        document = read(docx(body, CORE, l="hyperlink https://example.org/d"))
        assert document == BinaryDocument(
            outcome="parsed",
            content_type=DOCX,
            title="The title",
            authors=("Ann",),
            text="One\nbolder, a link end\nbox\nfield",
            headings=("One",),
            published=DATE,
            language="de-DE",
            links=read(docx(body, l="hyperlink https://example.org/d")).links,
        )
        assert links(document) == [
            ("https://example.org/d", "a link"),
            ("https://example.org/f", "field"),
        ]

    def test_pptx(self) -> None:
        slide = (
            "<p:sp><p:nvPr><p:ph type='title'/></p:nvPr><a:p><a:r><a:t>Kelp</a:t></a:r></a:p>"
            "</p:sp><p:sp><a:p><a:r><a:rPr><a:hlinkClick r:id='l'/></a:rPr><a:t>click</a:t></a:r>"
            "<a:r><a:t> here</a:t></a:r></a:p></p:sp>"
        )
        document = read(pptx(slide, "<a:p><a:t>two</a:t></a:p>", l="hyperlink https://a.example/"))
        assert document.content_type == PPTX
        assert (document.title, document.headings, document.pages) == ("Kelp", ("Kelp",), 2)
        assert document.text == "Kelp\nclick here\ntwo"
        assert links(document) == [("https://a.example/", "click")]

    def test_xlsx(self) -> None:
        document = read(
            xlsx(
                "<row><c t='s'><v>1</v></c><c><v>1.5</v></c><c t='b'><v>1</v></c></row><row/>"
                "<row><c t='inlineStr'><is><t>in</t></is></c><c t='s'><v>99</v></c></row>",
                "<si><t>zero</t></si><si><r><t>o</t></r><r><t>ne</t></r><rPh><t>x</t></rPh></si>",
                "<hyperlinks><hyperlink r:id='l' display='shop'/></hyperlinks>",
                l="hyperlink https://a.example/",
            )
        )
        assert document.content_type == XLSX
        assert document.text == "Prices\none 1.5\nin"
        assert links(document) == [("https://a.example/", "shop")]

    def test_space_between_the_elements_of_a_sheet_is_not_text(self) -> None:
        rows = "\n <row>\n <c> <v>1</v> </c>\n <c><v>2</v></c></row>\n"
        assert read(xlsx(rows)).text == "Prices\n1 2"

    def test_a_sheet_costs_what_it_holds(self) -> None:
        rows = "<row r='1'><c r='A1'><v>1</v></c></row>"
        rows += "<row r='1048576'><c r='XFD1048576'><v>2</v></c></row>"
        assert read(xlsx(rows)).text == "Prices\n1\n2"

    def test_odt(self) -> None:
        document = read(
            odt(
                "<text:tracked-changes><text:p>gone</text:p></text:tracked-changes>"
                "<text:h>One</text:h><text:p>two<text:s/>and <text:a xlink:href="
                "'https://a.example/'>a <text:span>link</text:span></text:a></text:p>",
                "<dc:title>T</dc:title><meta:initial-creator>Ann</meta:initial-creator>"
                "<meta:creation-date>2024-05-06T07:08:09+02:00</meta:creation-date>"
                "<dc:date>2024-05-07</dc:date><dc:language>en</dc:language>"
                "<meta:document-statistic meta:page-count='3'/>",
            )
        )
        assert document.content_type == ODT
        assert (document.title, document.authors, document.language) == ("T", ("Ann",), "en")
        assert (document.published, document.pages) == (DATE, 3)
        assert document.modified == datetime(2024, 5, 7, tzinfo=UTC)
        assert (document.text, document.headings) == ("One\ntwo and a link", ("One",))
        assert links(document) == [("https://a.example/", "a link")]

    def test_the_formula_of_a_cell_is_not_its_value(self) -> None:
        cells = "<c><f>1+1</f><v>2</v></c><c><f>A1+1</f><v>3</v></c>"
        assert read(xlsx(f"<row>{cells}</row>")).text == "Prices\n2 3"

    @pytest.mark.parametrize("flag", [1, 1 | 8, 2])
    def test_a_file_of_an_archive_may_be_encrypted(self, flag: int) -> None:
        body = bytearray(odt("<office:text><text:p>a</text:p></office:text>"))
        place = -1
        while (place := body.find(b"PK\x01\x02", place + 1)) >= 0:
            body[place + 8] |= flag
        document = read(bytes(body))
        assert (document.detail == "encrypted") is bool(flag & 1)

    def test_an_archive_without_a_file_that_it_needs_is_broken(self) -> None:
        with zip_archive.opened(zipped({"a": "b"})) as archive:
            assert archive.read("a") == b"b"
            assert archive.find("c") == b""
            with pytest.raises(Broken, match="no c in the archive"):
                archive.read("c")

    def test_what_is_encrypted_is_unsupported(self) -> None:
        assert read(odt("", manifest="<encryption-data/>")).outcome == "unsupported"
        ole = read(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), DOCX)
        assert ole.outcome == "unsupported"

    def test_a_chapter_of_a_book_that_is_not_in_it_is_left_out(self) -> None:
        package = (
            "<package><manifest><item id='c0' href='text/c0%20x.xhtml'/></manifest>"
            "<spine><itemref idref='missing'/><itemref idref='c0'/></spine></package>"
        )
        book = with_members(epub("<p>one"), {"OEBPS/book.opf": package})
        assert read(book, EPUB).text == "one"

    def test_epub(self) -> None:
        document = read(
            epub(
                "<!DOCTYPE html><html><head><title>x</title></head><body><h1>One</h1>"
                "<p>caf&eacute; <i>it</i>alic <a href='https://a.example/'>out</a> "
                "<a href='c1.xhtml'>in</a></p></body></html>",
                "<html><body><p>two</p></body></html>",
                meta="<dc:title>Kelp</dc:title><dc:creator>Ann</dc:creator><dc:creator>Bob"
                "</dc:creator><dc:date>2024-05-06T07:08:09+02:00</dc:date>"
                "<dc:language>fr</dc:language>"
                "<meta property='dcterms:modified'>2024-05-07T00:00:00Z</meta>",
            )
        )
        assert document.content_type == EPUB
        assert (document.title, document.language) == ("Kelp", "fr")
        assert document.authors == ("Ann", "Bob")
        assert (document.published, document.modified) == (
            DATE,
            datetime(2024, 5, 7, tzinfo=UTC),
        )
        assert document.text == "One\ncafé italic out in\ntwo"
        assert links(document) == [("https://a.example/", "out")]

    def test_a_chapter_with_errors_spoils_no_other(self) -> None:
        document = read(epub("<p>one <b></p>", "<p>two</p>"))
        assert (document.text, document.detail) == ("one\ntwo", None)

    def test_what_is_said_of_an_error_is_short(self) -> None:
        """A name of a member that differs from the directory's is repeated by the error."""
        name, long = b"OEBPS/text/c0 x.xhtml", 500
        other = "".join(f"<p>{n} {n * n}</p>" for n in range(500))
        body = bytearray(epub("<p>one</p>", f"<div>{other}</div>"))
        at = body.index(name) - 4
        body[at : at + 2] = long.to_bytes(2, "little")
        document = read(bytes(body))
        assert document.outcome == "parsed"
        assert document.detail is not None
        assert document.detail.startswith("1 chapters have errors: OEBPS/text/c0 x.xhtml")
        assert len(document.detail) <= 200


class TestHostileArchives:
    def test_a_bomb_is_not_unpacked(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(zip_archive, "MAX_UNPACKED_BYTES", 4 << 20)
        for size, told in (((4 << 20) - len(ODT), "not XML"), (5 << 20, "more than 4 MB unpacked")):
            document = read(zipped({"mimetype": ODT, "content.xml": bytes(size)}))
            assert (document.outcome, str(document.detail)[: len(told)]) == ("failed", told)

    @pytest.mark.parametrize(
        "entities",
        [
            '<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">',
            '<!ENTITY a SYSTEM "file:///etc/passwd">',
            '<!ENTITY % a SYSTEM "http://a.example/"> %a;',
        ],
    )
    def test_entities_are_refused(self, entities: str) -> None:
        xml = f"<!DOCTYPE x [{entities}]><x><text:p>&b;&a;</text:p></x>"
        document = read(zipped({"mimetype": ODT, "content.xml": xml}))
        assert (document.outcome, document.detail) == ("failed", "declares entities")

    def test_depth_is_no_danger(self) -> None:
        deep = "<a>" * 100_000 + "<text:p>deep</text:p>"
        assert read(zipped({"mimetype": ODT, "content.xml": deep})).text == "deep"

    def test_tags_have_an_end(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(xml_markup, "MAX_TAGS", 1_000)
        whole = read(zipped({"mimetype": ODT, "content.xml": b"<a>" * 999 + b"<text:p>x"}))
        assert whole.text == "x"
        document = read(zipped({"mimetype": ODT, "content.xml": b"<a>" * 1_001}))
        assert (document.outcome, document.detail) == ("failed", "more than 1,000 tags")

    def test_methods_of_no_standard_are_refused(self) -> None:
        packed = zipped({"mimetype": ODT, "content.xml": "<p/>"}, zipfile.ZIP_LZMA)
        assert read(packed).outcome == "unsupported"

    def test_an_archive_of_something_else_is_unsupported(self) -> None:
        assert read(zipped({"a.txt": "text"})).outcome == "unsupported"

    def test_a_book_without_its_package_failed(self) -> None:
        book = {"mimetype": EPUB, "META-INF/container.xml": "<container/>"}
        document = read(zipped(book))
        assert (document.outcome, document.detail) == ("failed", "no package document")
        elsewhere = read(zipped(book | {"a/b.opf": "<package><dc:title>Kelp</dc:title></package>"}))
        assert elsewhere.title == "Kelp"

    def test_files_have_an_end(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(zip_archive, "MAX_MEMBERS", 3)
        files = {"mimetype": ODT, "content.xml": "<x><text:p>one</text:p></x>", "a": ""}
        assert read(zipped(files)).text == "one"
        assert read(zipped(files | {"b": ""})).detail == "more than 3 files in the archive"

    def test_names_do_not_leave_the_archive(self) -> None:
        hostile = docx("<w:p/>", l="styles ../../../../etc/passwd")
        assert read(hostile).outcome == "empty"

    def test_a_file_that_was_cut_gives_what_is_left_or_fails(self) -> None:
        whole = docx("<w:p><w:t>text</w:t></w:p>")
        assert read(whole[:-30], DOCX).outcome == "failed"

    def test_markup_that_was_cut_keeps_its_start(self) -> None:
        document = read(zipped({"mimetype": ODT, "content.xml": "<x><text:p>one</text:p><text:p>"}))
        assert (document.outcome, document.text) == ("parsed", "one")
        assert document.detail is not None
        assert "not XML" in document.detail


def test_markdown() -> None:
    body = (
        b"---\ntitle: 'Front'\ndate: 2024-05-06T07:08:09+02:00\nauthor: Ann\n---\n"
        b"# One *two*\n\ntext with [a `link`](https://a.example/) and\nmore ![alt](i.png)\n\n"
        b"    code\n\n| a | b |\n|---|---|\n| c | d |\n"
    )
    document = read(body, "text/markdown")
    assert (document.title, document.authors, document.published) == ("Front", ("Ann",), DATE)
    assert document.headings == ("One two",)
    assert document.text == "One two\ntext with a link and more alt\ncode\na\nb\nc\nd"
    assert links(document) == [("https://a.example/", "a link")]


def test_json() -> None:
    body = (
        b'{"headline": "H", "author": [{"name": "Ann"}], "datePublished": "2024-05-06", '
        b'"n": 1, "deep": [["text"], {"url": "https://a.example/"}]}'
    )
    document = read(body, "application/ld+json")
    assert (document.title, document.authors) == ("H", ("Ann",))
    assert document.published == datetime(2024, 5, 6, tzinfo=UTC)
    assert document.text == "H\nAnn\n2024-05-06\ntext"
    assert links(document) == [("https://a.example/", "")]


@pytest.mark.parametrize("body", [b"", b"{", b"[" * 200_000, b'{"a": nan}'])
def test_broken_json_failed(body: bytes) -> None:
    assert read(body, "application/json").outcome == "failed"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b'{"id": 123456789012345678901234567890, "a": "text"}', "text"),
        (b'{"a": "cut \\ud83d"}', "cut \ufffd"),
        (b'{"a": NaN, "b": "text"}', "text"),
        (b'{"a": "tab\there"}', "tab here"),
    ],
)
def test_json_as_programs_write_it(body: bytes, text: str) -> None:
    assert read(body, "application/json").text == text


def test_xml() -> None:
    body = (
        b"<book xlink:href='https://a.example/'><title>T</title><para>some <em>emphasised</em> "
        b"text</para><url>https://b.example/</url></book>"
    )
    document = read(body, "text/xml")
    assert (document.title, document.text) == ("T", "T\nsome emphasised text")
    assert [link.url for link in document.links] == ["https://a.example/", "https://b.example/"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "windows-1251", "gb18030", "shift_jis"])
def test_xml_in_its_own_encoding(encoding: str) -> None:
    body = f"<?xml version='1.0' encoding='{encoding}'?><a>Привет</a>".encode(encoding)
    assert read(body, "application/xml").text == "Привет"


class TestImages:
    def test_exif(self) -> None:
        tiff = exif(t010E="A bridge", t013B="Ann", t9003="2024:05:06 07:08:09")
        for body in (
            jpeg(tiff),
            tiff,
            png((b"eXIf", tiff)),
            b"RIFF\0\0\0\0WEBPEXIF" + len(tiff).to_bytes(4, "little") + tiff,
        ):
            document = read(body)
            assert (document.text, document.authors) == ("A bridge", ("Ann",))
            assert document.published == datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)

    def test_the_end_of_a_packet_is_looked_for_once(self) -> None:
        start = process_time()
        assert read(b"\xff\xd8\xff" + b"<x:xmpmeta>" * 200_000).outcome == "empty"
        assert process_time() - start < 1

    def test_png_text(self) -> None:
        document = read(
            png((b"tEXt", b"Title\0Br\xfccke"), (b"iTXt", "Author\0\0\0de\0\0Änn".encode()))
        )
        assert (document.title, document.authors) == ("Brücke", ("Änn",))

    def test_without_metadata_are_empty(self) -> None:
        assert read(png()).outcome == "empty"


class TestTypes:
    @pytest.mark.parametrize(
        ("body", "kind"),
        [
            (pdf(shown("x")), "pdf"),
            (docx(""), "zip"),
            (RTF, "rtf"),
            (jpeg(exif()), "image"),
            (b"", ""),
            (b"hello", ""),
        ],
    )
    def test_the_file_itself_knows(self, body: bytes, kind: str) -> None:
        assert kind_of("application/octet-stream", body) == kind

    def test_what_is_in_a_zip_file_counts_and_not_what_it_is_called(self) -> None:
        assert read(docx("<w:p><w:t>x</w:t></w:p>"), XLSX).content_type == DOCX

    def test_signature_of_pdf_may_come_late(self) -> None:
        assert kind_of("application/pdf", b"junk\n" * 9 + pdf("")) == "pdf"

    def test_unknown_is_unsupported(self) -> None:
        document = read(b"\0\1\2", "audio/mpeg")
        assert (document.outcome, document.detail) == ("unsupported", "audio/mpeg")


def must_be_a_row(document: BinaryDocument) -> None:
    assert document.outcome in ("parsed", "empty", "unsupported", "failed")
    assert len(document.text or "") <= MAX_CHARS
    for text in (
        document.text,
        document.title,
        *document.authors,
        document.detail,
        *document.links,
    ):
        assert "\0" not in str(text)
        str(text).encode()
    if document.detail is not None:
        assert "Error(" not in document.detail  # what no reader foresaw


@given(st.sampled_from(sorted(BINARY_TYPES)), st.binary(max_size=300))
def test_any_bytes_become_a_row(mime: str, body: bytes) -> None:
    must_be_a_row(read(body, mime))


@given(st.sampled_from(sorted(FILES)), st.integers(0, 2**32), st.integers(1, 40))
def test_damaged_files_become_a_row(mime: str, seed: int, changes: int) -> None:
    chance = random.Random(seed)  # noqa: S311
    body = bytearray(FILES[mime])
    for _ in range(changes):
        at = chance.randrange(len(body))
        body[at : at + chance.choice((0, 1, 1, 1, 8))] = chance.randbytes(chance.choice((0, 1, 1)))
        body = body or bytearray(b"x")
    must_be_a_row(read(bytes(body), mime))


@given(st.sampled_from((ODT, DOCX, EPUB)), st.data())
def test_damaged_markup_in_whole_archives_becomes_a_row(kind: str, data: st.DataObject) -> None:
    pieces = ["<w:p>", "<w:t>", "</w:t>", "<text:p>", "</text:p>", "<a href='http://a'>", "&x;"]
    pieces += ["<w:hyperlink r:id='x'>", "</a>", "\ud83d".encode("utf-8", "replace").decode(), "x"]
    pieces += ["<w:pStyle w:val='berschrift1'/>", "<h1>", "</h1>", "<!DOCTYPE x>", "]]>", "\x01"]
    xml = "".join(data.draw(st.lists(st.sampled_from(pieces), max_size=20)))
    files = {ODT: lambda: odt(xml), DOCX: lambda: docx(xml), EPUB: lambda: epub(xml)}
    must_be_a_row(read(files[kind]()))


@pytest.mark.server
def test_readers_are_imported_when_they_are_needed() -> None:
    code = (
        "import sys, gossamer.parse.documents.binary as b; b.read_binary('text/xml', b'<a/>', 9);"
        "print(sorted({'pypdfium2', 'markdown_it', 'zipfile'} & set(sys.modules)))"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert b"pypdfium2" not in printed.stdout
    assert b"markdown_it" not in printed.stdout
