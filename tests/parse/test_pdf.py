"""Glyphs that fonts do not map, form values and FreeText annotations of PDF."""

from __future__ import annotations

import ctypes
from collections import Counter
from typing import TYPE_CHECKING, Any

import pypdfium2.raw as pdfium
import pytest

from gossamer.parse.documents import pdf as reader
from gossamer.parse.documents.binary import read_binary
from gossamer.parse.documents.pdf_annotations import MAX_ANNOTATIONS
from tests.support.binary_files import pdf, shown

if TYPE_CHECKING:
    from gossamer.parse.documents.document_draft import BinaryDocument

IDENTITY = (
    "/Type /Font /Subtype /Type0 /BaseFont /X /Encoding /Identity-H /DescendantFonts "
    "[<< /Type /Font /Subtype /CIDFontType2 /BaseFont /X /DW 500 /CIDSystemInfo "
    "<< /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> >>]"
)
"""A font whose glyphs have numbers only, as subsets of TrueType fonts do."""


def read(body: bytes) -> BinaryDocument:
    return read_binary("application/pdf", body, 10_000)


def numbered(text: str, at: tuple[int, int] = (50, 600), size: int = 12) -> str:
    """Operators that show the glyphs of most TrueType fonts: their numbers are ASCII less 29."""
    glyphs = "".join(f"{ord(character) - 29:04x}" for character in text)
    return f"BT /F {size} Tf {at[0]} {at[1]} Td <{glyphs}> Tj ET\n"


def to_unicode(mapped: str) -> str:
    """A stream that maps the glyphs of these characters, and no others."""
    rows = "".join(f"<{ord(each) - 29:04x}> <{ord(each):04x}>\n" for each in sorted(set(mapped)))
    cmap = (
        "begincmap 1 begincodespacerange <0000> <ffff> endcodespacerange\n"
        f"{len(set(mapped))} beginbfchar\n{rows}endbfchar endcmap"
    )
    return f"<< /Length {len(cmap)} >> stream\n{cmap}\nendstream"


PLAIN = "/Resources << /Font << /F 3 0 R /G << /Type /Font /Subtype /Type1 /BaseFont /Courier >> >>"


def in_courier(text: str, at: tuple[int, int] = (50, 700), size: int = 12) -> str:
    return shown(text, at, size).replace("/F", "/G")


class TestUnmappedGlyphs:
    def test_a_page_of_which_a_third_cannot_be_mapped_keeps_the_rest(self) -> None:
        content = in_courier("the readable half of this page") + numbered("not to be read")
        document = read(pdf(content, font=IDENTITY, page=f"{PLAIN} >>"))
        assert document.text == "the readable half of this page"
        assert document.detail == "1 pages with fonts that do not map glyphs to characters"

    def test_a_font_of_which_a_third_cannot_be_mapped_keeps_the_rest(self) -> None:
        content = numbered("mapped here", (50, 700)) + numbered("0123456789 here")
        font = f"{IDENTITY} /ToUnicode 10 0 R"
        document = read(pdf(content, font=font, extra=[to_unicode("maped hr")]))
        assert document.text == "mapped here\nhere"
        assert document.detail == "1 pages with fonts that do not map glyphs to characters"

    def test_glyphs_whose_numbers_look_like_letters_are_no_text(self) -> None:
        document = read(pdf(numbered("a sentence in words"), font=IDENTITY))
        assert (document.outcome, document.text) == ("empty", "")

    def test_their_largest_line_is_not_the_title(self) -> None:
        content = (
            numbered("Chapter one", (50, 750), 30)
            + in_courier("The Title", (50, 700), 20)
            + in_courier("text below it", (50, 650))
            + in_courier("and more of it", (50, 640))
        )
        document = read(pdf(content, font=IDENTITY, page=f"{PLAIN} >>"))
        assert document.title == "The Title"

    def test_a_few_ligatures_without_names_leave_the_text(self) -> None:
        names = " ".join(f"/own{code}" for code in range(32, 127))
        font = (
            "/Type /Font /Subtype /Type1 /BaseFont /Own /FirstChar 12 /LastChar 126 "
            f"/Encoding << /Type /Encoding /Differences [12 /own12 32 {names}] >>"
        )
        text = "a line of many letters and an of\\014ce with a ligature of its own"
        assert read(pdf(shown(text), font=font)).text == text.replace("\\014", " ")

    @pytest.mark.parametrize(("count", "truncated"), [(40, False), (60, True)])
    def test_their_number_is_bounded(
        self, count: int, truncated: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(reader, "MAX_JUDGED_CHARS", 1_000)
        document = read(pdf(numbered("many glyphs in words " * count, size=1), font=IDENTITY))
        assert (document.outcome, document.truncated) == ("empty", truncated)


FIELDS = [
    "<< /Fields [11 0 R 12 0 R 13 0 R 14 0 R 15 0 R 17 0 R] >>",
    "<< /Subtype /Widget /FT /Tx /T (name) /V (Ada L.\rof London) /Rect [0 0 9 9] >>",
    "<< /Subtype /Widget /FT /Ch /T (b) /Ff 131072 /V (de) /Opt [[(de) (Germany)]] >>",
    "<< /Subtype /Widget /FT /Tx /T (secret) /Ff 8192 /V (hunter2) /Rect [0 0 9 9] >>",
    "<< /Subtype /Widget /FT /Btn /T (box) /V /Yes /AS /Yes /Rect [0 0 9 9] >>",
    "<< /FT /Tx /T (twice) /V (in the parent) /Kids [16 0 R] >>",
    "<< /Subtype /Widget /Parent 15 0 R /Rect [0 0 9 9] >>",
    "<< /Subtype /Widget /FT /Tx /T (unseen) /F 2 /V (hidden) /Rect [0 0 9 9] >>",
]


class TestAnnotations:
    def test_form_values_are_text(self) -> None:
        body = pdf(
            shown("A form"),
            catalog="/AcroForm 10 0 R",
            page="/Annots [11 0 R 12 0 R 13 0 R 14 0 R 16 0 R 16 0 R 17 0 R]",
            extra=FIELDS,
        )
        assert read(body).text == "A form\nAda L. of London\nGermany\nin the parent"

    def test_free_text_annotations_are_text(self) -> None:
        body = pdf(
            shown("A page"),
            page="/Annots [<< /Subtype /FreeText /Contents (written\\non it) "
            "/Rect [0 0 9 9] >> << /Subtype /FreeText /F 2 /Contents (hidden) "
            "/Rect [0 0 9 9] >> << /Subtype /Text /Contents (a note) >>]",
        )
        assert read(body).text == "A page\nwritten\non it"

    def test_a_page_of_pictures_has_the_text_of_its_annotations(self) -> None:
        body = pdf(
            "q 0 0 100 100 re f Q",
            page="/Annots [<< /Subtype /FreeText /Contents <FEFF0416> /Rect [0 0 9 9] >>]",
        )
        assert read(body).text == "Ж"

    @pytest.mark.parametrize(
        "annotations",
        [
            "/Annots 1",
            "/Annots [1 null 99 0 R << >> << /Subtype /FreeText >> << /Subtype /Widget >>]",
            "/Annots [<< /Subtype /FreeText /Contents 5 >> << /Subtype /Widget /FT /Ch /Opt 7 >>]",
            "/Annots [<< /Subtype /Widget /FT /Tx /Parent 101 0 R /Rect [0 0 9 9] >>]",
        ],
    )
    def test_broken_annotations_are_ignored(self, annotations: str) -> None:
        for form in ("", "/AcroForm 10 0 R", "/AcroForm << /Fields [101 0 R 1 0 R] >>"):
            body = pdf(shown("text"), catalog=form, page=annotations, extra=FIELDS)
            assert read(body).text == "text"

    def test_their_number_is_bounded(self) -> None:
        many = "".join(
            f"<< /Subtype /FreeText /Contents (note {n}) /Rect [0 0 9 9] >>"
            for n in range(MAX_ANNOTATIONS + 9)
        )
        text = read(pdf(shown("text"), page=f"/Annots [{many}]")).text
        assert text is not None
        assert len(text.split("\n")) == MAX_ANNOTATIONS + 1


@pytest.mark.parametrize(
    ("opens", "closes"),
    [
        ("FPDF_LoadPage", "FPDF_ClosePage"),
        ("FPDFText_LoadPage", "FPDFText_ClosePage"),
        ("FPDFLink_LoadWebLinks", "FPDFLink_CloseWebLinks"),
        ("FPDFPage_GetAnnot", "FPDFPage_CloseAnnot"),
        ("FPDFDOC_InitFormFillEnvironment", "FPDFDOC_ExitFormFillEnvironment"),
    ],
)
def test_what_pdfium_opens_is_closed(
    opens: str, closes: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise its memory is never freed (fpdf_text.h, fpdf_annot.h, fpdf_formfill.h)."""
    held: Counter[int | None] = Counter()
    opened, closed = getattr(pdfium, opens), getattr(pdfium, closes)

    def opening(*given: Any) -> Any:
        handle = opened(*given)
        held[ctypes.cast(handle, ctypes.c_void_p).value] += 1
        return handle

    def closing(handle: Any) -> None:
        held[ctypes.cast(handle, ctypes.c_void_p).value] -= 1
        closed(handle)

    monkeypatch.setattr(pdfium, opens, opening)
    monkeypatch.setattr(pdfium, closes, closing)
    page = "/Annots [11 0 R 17 0 R]"
    text = "see https://example.org/"
    assert read(pdf(shown(text), catalog="/AcroForm 10 0 R", page=page, extra=FIELDS)).links
    assert held
    assert not any(held.values())
