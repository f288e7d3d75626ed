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
