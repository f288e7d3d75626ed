"""Text of PPTX (ISO/IEC 29500-1 §19)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gossamer.parse.documents.binary import read_binary
from tests.support.binary_files import PPTX, pptx, relations, with_members

if TYPE_CHECKING:
    from gossamer.parse.documents.document_draft import BinaryDocument


def read(body: bytes) -> BinaryDocument:
    return read_binary(PPTX, body, 10_000)


def shape(text: str, properties: str = "", kind: str = "body") -> str:
    return (
        f"<p:sp><p:nvSpPr><p:cNvPr id='1' {properties}/><p:nvPr><p:ph type='{kind}'/></p:nvPr>"
        f"</p:nvSpPr><p:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:txBody></p:sp>"
    )


def test_hidden_shapes_and_numbers_of_slides_are_no_text() -> None:
    group = f"<p:grpSp><p:nvGrpSpPr><p:cNvPr hidden='1'/></p:nvGrpSpPr>{shape('x')}</p:grpSp>"
    number = "<a:p><a:r><a:t>of</a:t></a:r><a:fld type='slidenum'><a:t>7</a:t></a:fld></a:p>"
    body = shape("x", "hidden='true'") + group + shape("7", kind="sldNum") + number + shape("b")
    assert read(pptx(shape("a") + body)).text == "a\nof\nb"


def test_hidden_slides_are_no_text() -> None:
    body = pptx(shape("a"), shape("b"))
    assert read(body).text == "a\nb"
    hidden = f"<p:sld show='0'>{shape('b')}</p:sld>"
    assert read(with_members(body, {"ppt/slides/r1.xml": hidden})).text == "a"


@pytest.mark.parametrize(
    ("kind", "xml", "text"),
    [
        ("notesSlide", shape("note") + shape("x", kind="ftr"), "note"),
        ("diagramData", "<dgm:pt><dgm:t><a:p><a:t>box</a:t></a:p></dgm:t></dgm:pt>", "box"),
        ("chart", "<c:title><a:p><a:t>Sales</a:t></a:p></c:title><c:v>7</c:v>", "Sales"),
        ("comments", "<p:text>x</p:text>", ""),
    ],
)
def test_notes_diagrams_and_charts_follow_their_slide(kind: str, xml: str, text: str) -> None:
    related = relations(n=f"{kind} ../other/part.xml")
    parts = {"ppt/slides/_rels/r0.xml.rels": related, "ppt/other/part.xml": f"<x>{xml}</x>"}
    document = read(with_members(pptx(shape("a"), shape("b")), parts))
    assert document.text == "\n".join(filter(None, ("a", text, "b")))


def grouped(*inside: str, properties: str = "") -> str:
    head = f"<p:nvGrpSpPr><p:cNvPr {properties}/></p:nvGrpSpPr>"
    return f"<p:grpSp>{head}{''.join(inside)}</p:grpSp>"


@pytest.mark.parametrize(
    ("slide", "text"),
    [
        (shape("a", "hidden='1'") + shape("b"), "b"),
        (shape("a", "hidden='0'") + shape("b"), "a\nb"),
        (shape("a", "hidden='FALSE'") + shape("b"), "a\nb"),
        (grouped(shape("a"), shape("b", "hidden='1'"), shape("c")) + shape("d"), "a\nc\nd"),
        (grouped(shape("a", "hidden='1'"), properties="hidden='1'") + shape("b"), "b"),
        (grouped(grouped(shape("a")), shape("b"), properties="hidden='1'") + shape("c"), "c"),
        (grouped(shape("a", "hidden='1'"), shape("b"), properties="hidden='1'"), ""),
        (shape("a", kind="ftr") + shape("b", kind="dt"), "a\nb"),
        ("<a:p><a:fld type='datetime1'><a:t>Monday</a:t></a:fld></a:p>", "Monday"),
        ("<a:p><a:fld type='slidenumber'><a:t>7</a:t></a:fld></a:p>", ""),
        ("<a:p><a:r><a:t>a</a:t></a:r><a:br/><a:r><a:t>b</a:t></a:r></a:p>", "a b"),
        (
            "<mc:AlternateContent><mc:Fallback><p:sp><a:p><a:t>a</a:t></a:p></p:sp></mc:Fallback>"
            "</mc:AlternateContent>" + shape("b"),
            "b",
        ),
        (grouped("<mc:Fallback><p:sp/></mc:Fallback>", shape("a", "hidden='1'"), shape("b")), "b"),
    ],
)
def test_a_hidden_shape_ends_where_its_group_goes_on(slide: str, text: str) -> None:
    assert (read(pptx(slide)).text or "") == text


@pytest.mark.parametrize(
    ("show", "is_shown"),
    [("0", False), ("false", False), ("FALSE", False), ("1", True), ("true", True), ("", True)],
)
def test_a_slide_may_be_hidden_with_what_belongs_to_it(show: str, is_shown: bool) -> None:
    parts = {
        "ppt/slides/r0.xml": f"<p:sld show='{show}'>{shape('a')}</p:sld>",
        "ppt/slides/_rels/r0.xml.rels": relations(n="notesSlide ../n.xml", c="chart ../c.xml"),
        "ppt/n.xml": f"<x>{shape('note')}</x>",
        "ppt/c.xml": "<x><a:p><a:t>Sales</a:t></a:p></x>",
    }
    document = read(with_members(pptx("", shape("b")), parts))
    assert document.text == ("a\nSales\nnote\nb" if is_shown else "b")
    assert document.pages == 2


@pytest.mark.parametrize("kind", ["title", "ctrTitle"])
def test_titles_are_headings(kind: str) -> None:
    document = read(pptx(shape("A", kind=kind) + shape("b"), shape("c") + shape("D", kind=kind)))
    assert document.headings == ("A", "D")
    assert document.text == "A\nb\nc\nD"


def test_a_shape_without_a_place_is_no_title() -> None:
    other = "<p:sp><a:p><a:r><a:t>b</a:t></a:r></a:p></p:sp>"
    assert read(pptx(shape("A", kind="title") + other)).headings == ("A",)


@pytest.mark.parametrize("kind", ["sldNum", "hdr", "ftr", "dt"])
def test_margins_of_notes_are_no_text(kind: str) -> None:
    parts = {
        "ppt/slides/_rels/r0.xml.rels": relations(n="notesSlide ../n.xml", m="notesSlide ../m.xml"),
        "ppt/n.xml": f"<x>{shape('x', kind=kind)}{shape('note')}</x>",
        "ppt/m.xml": f"<x>{shape('other')}</x>",
    }
    assert read(with_members(pptx(shape("a")), parts)).text == "a\nnote"


def test_a_part_that_is_damaged_does_not_hide_the_others() -> None:
    parts: dict[str, str | bytes] = {
        "ppt/slides/_rels/r0.xml.rels": relations(
            a="chart ../a.xml", c="chart ../c.xml", n="notesSlide ../n.xml"
        ),
        "ppt/a.xml": "<x>",
        "ppt/c.xml": "<x><a:p><a:t>Sales</a:t></a:p></x>",
        "ppt/n.xml": "<x>",
        "ppt/slides/r1.xml": "<x>",
    }
    document = read(with_members(pptx(shape("a"), shape("b"), shape("c")), parts))
    assert document.text == "a\nSales\nc"


def test_a_link_is_that_of_the_next_run() -> None:
    run = "<a:r><a:rPr>{}</a:rPr><a:t>{}</a:t></a:r>"
    click = "<a:hlinkClick r:id='l'/>"
    text = run.format(click, "one") + run.format("", "two") + run.format(click, "three")
    document = read(pptx(f"<a:p>{text}</a:p>", l="hyperlink https://a.example/"))
    assert document.text == "onetwothree"
    assert [link.anchor for link in document.links] == ["one"]


def test_a_presentation_ends_when_it_is_full() -> None:
    body = pptx(*(shape("x" * 20) for _ in range(5)))
    document = read_binary(PPTX, body, 30)
    assert document.truncated
    assert document.pages == 5
    assert len(document.text or "") <= 30
