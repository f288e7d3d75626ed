"""Text of OpenDocument (OASIS, 1.3), which is alike in texts, sheets and presentations."""

from __future__ import annotations

import pytest

from gossamer.parse.documents.binary import read_binary
from tests.support.binary_files import ODT, odt, with_members

STYLES = (
    "<style:style style:family='text' style:name='T1'><style:text-properties text:display='none'/>"
    "</style:style><style:style style:family='text' style:name='T2' style:parent-style-name='T1'/>"
    "<style:style style:family='text' style:name='T3' style:parent-style-name='T1'>"
    "<style:text-properties text:display='true'/></style:style>"
    "<style:style style:family='paragraph' style:name='P1'><style:text-properties "
    "text:display='none'/></style:style>"
    "<style:style style:family='drawing-page' style:name='D1'><style:drawing-page-properties "
    "presentation:visibility='hidden'/></style:style>"
    "<style:style style:family='table' style:name='S1'><style:table-properties "
    "table:display='false'/></style:style>"
)


def text_of(body: bytes) -> str | None:
    return read_binary(ODT, body, 10_000).text


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("<text:p>a<text:span text:style-name='T1'>x</text:span>b</text:p>", "ab"),
        ("<text:p>a<text:span text:style-name='T2'>x</text:span>b</text:p>", "ab"),
        ("<text:p>a<text:span text:style-name='T3'>x</text:span>b</text:p>", "axb"),
        ("<text:p>a<text:span text:style-name='P1'>x</text:span>b</text:p>", "axb"),
        ("<text:p text:style-name='P1'>x</text:p><text:p>a</text:p>", "a"),
        ("<draw:page draw:style-name='D1'><text:p>x</text:p></draw:page><text:p>a</text:p>", "a"),
        (
            "<table:table table:style-name='S1'><text:p>x</text:p></table:table><text:p>a</text:p>",
            "a",
        ),
        (
            "<text:section text:display='none'><text:p>x</text:p></text:section><text:p>a</text:p>",
            "a",
        ),
        ("<text:section><text:p>a</text:p></text:section>", "a"),
        ("<text:p>a<text:hidden-text text:is-hidden='true'>x</text:hidden-text></text:p>", "a"),
        ("<text:p>a<text:hidden-text text:is-hidden='false'>x</text:hidden-text></text:p>", "ax"),
        ("<text:p>a<text:placeholder>x</text:placeholder>b</text:p>", "ab"),
        (
            (
                "<text:p><text:ruby><text:ruby-base>字</text:ruby-base><text:ruby-text>よみ"
                "</text:ruby-text></text:ruby></text:p>"
            ),
            "字",
        ),
    ],
)
def test_what_is_not_shown_is_no_text(content: str, text: str) -> None:
    automatic = f"<office:automatic-styles>{STYLES}</office:automatic-styles>"
    assert text_of(odt(automatic + content)) == text
    common = {"styles.xml": f"<office:document-styles>{STYLES}</office:document-styles>"}
    assert text_of(with_members(odt(content), common)) == text


def test_notes_and_text_boxes_follow_the_paragraph_in_which_they_stand() -> None:
    note = (
        "<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>a note"
        "</text:p><text:p>of two</text:p></text:note-body></text:note>"
    )
    box = "<draw:frame><draw:text-box><text:p>a box</text:p></draw:text-box></draw:frame>"
    body = f"<text:p>The kelp{note} grows{box}.</text:p>{box}<text:p>end</text:p>"
    assert text_of(odt(body)) == "The kelp grows.\na note\nof two\na box\na box\nend"


@pytest.mark.parametrize(
    ("count", "pages"), [("7", 7), ("999999", 999_999), ("1000000", None), ("0", None), ("x", None)]
)
def test_the_number_of_pages(count: str, pages: int | None) -> None:
    meta = f"<meta:document-statistic meta:page-count='{count}'/>"
    assert read_binary(ODT, odt("<text:p>a</text:p>", meta), 100).pages == pages


@pytest.mark.parametrize(
    ("style", "is_shown"),
    [
        ("family='drawing-page'><style:drawing-page-properties p:visibility='hidden'/>", False),
        ("family='drawing-page'><style:drawing-page-properties p:visibility='visible'/>", True),
        ("family='drawing-page'><style:drawing-page-properties/>", True),
        ("family='text'><style:text-properties text:display='none'/>", True),
        ("family='drawing-page'><style:text-properties text:display='none'/>", False),
        ("family='drawing-page'><style:graphic-properties text:display='none'/>", True),
    ],
)  # fmt: skip
def test_a_style_hides_elements_of_its_family(style: str, is_shown: bool) -> None:
    styles = f"<style:style style:name='D1' style:{style}</style:style>"
    page = "<draw:page draw:style-name='D1'><text:p>x</text:p></draw:page><text:p>a</text:p>"
    assert text_of(odt(styles + page)) == ("x\na" if is_shown else "a")


def test_a_style_that_is_shown_again_hides_no_more() -> None:
    hidden = "<style:style style:family='text' style:name='A'>{}</style:style>"
    none, shown = (f"<style:text-properties text:display='{value}'/>" for value in ("none", "true"))
    span = "<text:p>a<text:span text:style-name='A'>x</text:span></text:p>"
    assert text_of(odt(hidden.format(none) + span)) == "a"
    assert text_of(odt(hidden.format(none) + hidden.format(shown) + span)) == "ax"
    assert text_of(odt(hidden.format(none) + hidden.format("") + span)) == "a"
