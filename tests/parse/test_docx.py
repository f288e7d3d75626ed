"""Text of DOCX as Word shows it (ISO/IEC 29500-1 §17)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gossamer.parse.documents.binary import read_binary
from gossamer.parse.documents.xml_markup import MAX_OPEN_LINKS
from tests.support.binary_files import DOCX, docx, with_members, zipped

if TYPE_CHECKING:
    from gossamer.parse.documents.document_draft import BinaryDocument

FIELD = "<w:r><w:fldChar w:fldCharType='{}'/></w:r>"
BEGIN, SEPARATE, END = map(FIELD.format, ("begin", "separate", "end"))
STYLES = (
    "<w:styles><w:style w:styleId='a'><w:name w:val='heading 2'/></w:style>"
    "<w:style w:styleId='b'><w:name w:val='Own'/><w:basedOn w:val='a'/></w:style>"
    "<w:style w:styleId='c'><w:name w:val='Plain'/><w:basedOn w:val='a'/>"
    "<w:pPr><w:outlineLvl w:val='9'/></w:pPr></w:style>"
    "<w:style w:styleId='d'><w:pPr><w:outlineLvl w:val='0'/></w:pPr></w:style>"
    "<w:style w:styleId='e'><w:rPr><w:vanish/></w:rPr></w:style>"
    "<w:style w:styleId='f'><w:basedOn w:val='e'/></w:style>"
    "<w:style w:styleId='g'><w:basedOn w:val='e'/><w:rPr><w:vanish w:val='0'/></w:rPr></w:style>"
    "<w:style w:styleId='h'><w:basedOn w:val='h'/></w:style></w:styles>"
)


def read(body: bytes) -> BinaryDocument:
    return read_binary(DOCX, body, 10_000)


def run(text: str, properties: str = "") -> str:
    return f"<w:r><w:rPr>{properties}</w:rPr><w:t>{text}</w:t></w:r>"


def paragraph(*runs: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr>{''.join(runs)}</w:p>"


def with_parts(body: str, **parts: str | bytes) -> bytes:
    """A document and parts of the folder word, whose names are given without suffix."""
    document = f"<w:document><w:body>{body}</w:body></w:document>"
    files = {f"word/{name}.xml": content for name, content in parts.items()}
    return zipped({"word/document.xml": document, **files})


def text_of(body: str) -> str | None:
    return read(with_parts(body, styles=STYLES)).text


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (run("a") + "<w:del>" + run("b") + "</w:del>" + run("c"), "ac"),
        ("<w:moveFrom>" + run("a") + "</w:moveFrom><w:moveTo>" + run("b") + "</w:moveTo>", "b"),
        ("<w:ins>" + run("a") + "</w:ins>", "a"),
        ("<w:del><m:r><m:t>x</m:t></m:r></w:del>" + run("a"), "a"),
        (run("a") + run("b", "<w:vanish/>") + run("c"), "ac"),
        (run("a", "<w:vanish w:val='false'/>"), "a"),
        (run("a", "<w:webHidden/>"), "a"),
        (run("a", "<w:rPrChange><w:rPr><w:vanish/></w:rPr></w:rPrChange>"), "a"),
        (run("a", "<w:rStyle w:val='e'/>") + run("b"), "b"),
        (run("a", "<w:rStyle w:val='f'/>") + run("b"), "b"),
        (run("a", "<w:rStyle w:val='g'/>") + run("b"), "ab"),
        (run("a", "<w:rStyle w:val='e'/><w:vanish w:val='0'/>"), "a"),
        (
            (
                "<w:ruby><w:rt><w:r><w:t>よみ</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>字</w:t></w:r>"
                "</w:rubyBase></w:ruby>"
            ),
            "字",
        ),
    ],
)
def test_what_word_does_not_show_is_no_text(content: str, text: str) -> None:
    assert text_of(paragraph(content)) == text


def test_a_paragraph_is_hidden_by_its_style_and_not_by_its_mark() -> None:
    hidden = paragraph(run("a"), run("b"), properties="<w:pStyle w:val='f'/>")
    assert text_of(hidden + paragraph(run("c"))) == "c"
    assert text_of(paragraph(run("a"), properties="<w:rPr><w:vanish/><w:del/></w:rPr>")) == "a"


def test_the_prompt_of_an_empty_control_is_no_text() -> None:
    control = "<w:sdt><w:sdtPr>{}</w:sdtPr><w:sdtContent>" + run("a") + "</w:sdtContent></w:sdt>"
    prompt = control.format("<w:showingPlcHdr/>")
    assert text_of(paragraph(prompt, control.format(""), prompt)) == "a"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("<w:t>co</w:t><w:noBreakHyphen/><w:t>op</w:t>", "co-op"),
        ("<w:t>co</w:t><w:softHyphen/><w:t>op</w:t>", "coop"),
        ("<w:t>a</w:t><w:ptab/><w:t>b</w:t><w:cr/><w:t>c</w:t>", "a b c"),
        ("<w:sym w:font='Symbol' w:char='F061'/>", "α"),
        ("<w:sym w:font='Segoe UI Symbol' w:char='2610'/>", "☐"),
        ("<w:t>a</w:t><w:sym w:font='Wingdings' w:char='F0FC'/><w:sym w:char='x'/>", "a"),
    ],
)
def test_characters_that_are_elements(content: str, text: str) -> None:
    assert text_of(paragraph(f"<w:r>{content}</w:r>")) == text


def test_an_initial_belongs_to_the_paragraph_that_follows() -> None:
    initial = paragraph(run("W"), properties="<w:framePr w:dropCap='drop' w:lines='3'/>")
    assert text_of(initial + paragraph(run("hen")) + paragraph(run("x"))) == "When\nx"


def test_a_text_box_follows_the_paragraph_in_which_it_stands() -> None:
    box = f"<w:r><w:pict><w:txbxContent>{paragraph(run('in'))}</w:txbxContent></w:pict></w:r>"
    assert text_of(paragraph(run("be"), box, run("fore")) + paragraph(run("a"))) == "before\nin\na"


def test_notes_follow_the_body() -> None:
    notes = {
        f"{kind}s": f"<w:{kind}s><w:{kind} w:type='separator'>{paragraph(run('x'))}</w:{kind}>"
        f"<w:{kind} w:id='2'>{paragraph(run(kind))}</w:{kind}></w:{kind}s>"
        for kind in ("footnote", "endnote")
    }
    body = paragraph(run("text"), "<w:r><w:footnoteReference w:id='2'/></w:r>")
    others = {"comments": f"<w:comments>{paragraph(run('x'))}</w:comments>"}
    assert read(with_parts(body, **notes, **others)).text == "text\nfootnote\nendnote"


class TestFields:
    @pytest.mark.parametrize(
        ("instruction", "url"),
        [
            ('HYPERLINK "https://a.example/x"', "https://a.example/x"),
            ('HYPERLINK "https://a.example/x" \\l "y"', "https://a.example/x#y"),
            ("HYPERLINK https://a.example/x", "https://a.example/x"),
            ('HYPERLINK \\l "y"', None),
            ("PAGEREF _Toc1", None),
        ],
    )
    def test_of_several_runs_are_links(self, instruction: str, url: str | None) -> None:
        split = len(instruction) // 2
        code = "".join(
            f"<w:r><w:instrText>{part}</w:instrText></w:r>"
            for part in (instruction[:split], instruction[split:])
        )
        field = BEGIN + code + SEPARATE + run("a") + run("b") + END
        document = read(docx(paragraph(field, run("c"))))
        assert document.text == "abc"
        assert document.links == (((url, "ab"),) if url else ())

    def test_in_fields_and_in_links_end_where_they_should(self) -> None:
        code = '<w:instrText>HYPERLINK "https://a.example/{}"</w:instrText>'
        inner = BEGIN + code.format(2) + SEPARATE + run("b") + END
        outer = BEGIN + code.format(1) + SEPARATE + run("a") + inner + run("c") + END
        unclosed = f"<w:hyperlink r:id='l'>{BEGIN}{code.format(3)}{SEPARATE}{run('d')}"
        body = paragraph(outer, f"{unclosed}</w:hyperlink>", run("e"))
        document = read(docx(body, l="hyperlink https://a.example/l"))
        assert document.text == "abcde"
        assert [link.url[-1] for link in document.links] == ["2", "1", "l", "3"]
        assert [link.anchor for link in document.links] == ["b", "ac", "", "d"]

    def test_without_result_or_end_are_no_text(self) -> None:
        code = "<w:instrText>DATE</w:instrText>"
        assert text_of(paragraph(BEGIN, code, END, run("a"), END, SEPARATE)) == "a"

    def test_the_end_of_a_link_is_looked_for_among_few(self) -> None:
        many = (BEGIN + SEPARATE) * (2 * MAX_OPEN_LINKS)
        body = paragraph(f"<w:hyperlink r:id='l'>{many}</w:hyperlink>")
        assert read(docx(body, l="hyperlink https://a.example/")).links == ()


def test_headings_are_known_by_styles_and_outline_levels() -> None:
    styled = "".join(
        paragraph(run(name), properties=f"<w:pStyle w:val='{name}'/>") for name in "abcdh"
    )
    level = paragraph(run("level"), properties="<w:outlineLvl w:val='2'/>")
    document = read(with_parts(styled + level, styles=STYLES))
    assert document.headings == ("a", "b", "d", "level")


MHTML = (
    "MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary=b\r\n\r\n--b\r\nContent-Type: "
    "text/html; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n"
    "<p>caf=C3=A9</p>\r\n--b--\r\n"
)


@pytest.mark.parametrize(
    ("chunk", "text"),
    [
        ("<html><title>x</title><p>one<p>two</html>", "one\ntwo"),
        (MHTML, "café"),
        ("{\\rtf1 rich\\par}", "rich"),
        (docx("<w:p><w:t>inner</w:t></w:p>", "<dc:title>other</dc:title>"), "inner"),
        (docx("<w:altChunk r:id='s'/><w:p><w:t>inner</w:t></w:p>"), "inner"),
        ("plain\ntext", "plain\ntext"),
        (b"PK\3\4", None),
        ("", None),
    ],
)
def test_chunks_of_other_formats_stand_where_they_are(chunk: str | bytes, text: str | None) -> None:
    document = f"<w:p>{run('a')}</w:p><w:altChunk r:id='c'/><w:p>{run('b')}</w:p>"
    files = {
        "word/document.xml": f"<w:document><w:body>{document}</w:body></w:document>",
        "word/_rels/document.xml.rels": "<Relationships><Relationship Id='c' Type='x/aFChunk' "
        "Target='chunk.dat'/></Relationships>",
        "docProps/core.xml": "<core><dc:title>own</dc:title></core>",
        "word/chunk.dat": chunk,
    }
    read_ = read(zipped(files))
    assert (read_.title, read_.text) == ("own", "\n".join(filter(None, ("a", text, "b"))))


@pytest.mark.parametrize(
    ("pages", "number"), [("3", 3), ("120", 120), ("0", None), ("", None), ("many", None)]
)
def test_the_number_of_pages_is_the_one_that_word_counted(pages: str, number: int | None) -> None:
    properties = f"<Properties><Pages>{pages}</Pages></Properties>"
    body = with_members(docx("<w:p><w:t>x</w:t></w:p>"), {"docProps/app.xml": properties})
    assert read_binary(DOCX, body, 100).pages == number
