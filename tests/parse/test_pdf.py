"""Glyphs that fonts do not map, form values and FreeText annotations of PDF."""

from __future__ import annotations

import ctypes
from collections import Counter
from typing import TYPE_CHECKING, Any

import pypdfium2.raw as pdfium
import pytest

from gossamer.parse.documents import pdf_text as reader
from gossamer.parse.documents.binary import read_binary
from gossamer.parse.documents.pdf_annotations import MAX_ANNOTATIONS
from gossamer.parse.documents.pdf_page import Buffer
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


def test_names_of_glyphs_that_have_no_code_are_no_text() -> None:
    """FreeType takes six hexadecimal digits for a code (psnames)."""
    font = (
        "/Type /Font /Subtype /Type1 /BaseFont /Own /FirstChar 65 /LastChar 66 "
        "/Encoding << /Type /Encoding /Differences [65 /u110000 /uFFFFFF] >>"
    )
    document = read(pdf(in_courier("text") + shown("AB"), font=font, page=f"{PLAIN} >>"))
    assert (document.outcome, document.text) == ("parsed", "text")


@pytest.mark.parametrize(
    ("title", "read_as"), [("FEFF0041D80000420043", "ABC"), ("FEFFD800", None)]
)
def test_half_a_character_in_metadata_costs_nothing_else(title: str, read_as: str | None) -> None:
    document = read(pdf(shown("some text"), info=f"/Title <{title}> /Author (Ann)"))
    assert (document.outcome, document.text) == ("parsed", "some text")
    assert (document.title, document.authors) == (read_as, ("Ann",))


def test_a_page_of_more_text_than_fits_in_the_buffer_is_whole() -> None:
    words = [f"{number:07d}" for number in range(4_000)]
    lines = "".join(
        shown(" ".join(words[first : first + 20]), (10, 790 - first // 20 * 3), 2)
        for first in range(0, len(words), 20)
    )
    text = read_binary("application/pdf", pdf(lines), 100_000).text
    assert text is not None
    assert len(text) > len(Buffer())
    assert text.split() == words


ROWS = (
    ("The committee reviewed the", "approved the budget for the"),
    ("annual report and the plan", "coming fiscal year without"),
    ("for the pier, which was made", "further debate among those"),
    ("in the winter of last year,", "who were present that day."),
)


def drawn(*lines: tuple[int, int, str]) -> str:
    return "".join(shown(text, (x, y)) for x, y, text in lines)


class TestColumns:
    def rows(self, x: int = 320) -> list[tuple[int, int, str]]:
        return [
            (at, 700 - 14 * n, text)
            for n, row in enumerate(ROWS)
            for at, text in zip((60, x), row, strict=True)
        ]

    def columns(self) -> str:
        return "\n".join(text for column in zip(*ROWS, strict=True) for text in column)

    def test_that_are_drawn_row_by_row_are_read_one_after_the_other(self) -> None:
        assert read(pdf(drawn(*self.rows()))).text == self.columns()

    def test_that_are_drawn_one_after_the_other_stay(self) -> None:
        rows = sorted(self.rows(), key=lambda row: row[0])
        assert read(pdf(drawn(*rows))).text == self.columns()

    def test_stand_between_what_is_above_and_below(self) -> None:
        heading = "A heading that is as wide as both of the columns below it together are"
        above, below = (60, 730, heading), (60, 600, heading.replace("below", "above"))
        longer = (320, 644, "and one line more of it")
        text = read(pdf(drawn(above, *self.rows(), longer, below))).text
        assert text == f"{heading}\n{self.columns()}\n{longer[2]}\n{below[2]}"

    def test_of_narrow_cells_are_a_table(self) -> None:
        rows = [(x, 700 - 14 * n, f"{x}.{n}") for n in range(9) for x in (60, 200, 320)]
        assert str(read(pdf(drawn(*rows))).text).startswith("60.0 200.0 320.0\n60.1")

    def test_of_three_rows_are_a_table(self) -> None:
        text = read(pdf(drawn(*self.rows()[:6]))).text
        assert str(text).startswith(" ".join(ROWS[0]))

    def test_may_be_three(self) -> None:
        texts = [f"a line of column {x} of these" for x in range(3)]
        rows = [(40 + 190 * x, 700 - 14 * n, texts[x]) for n in range(5) for x in range(len(texts))]
        assert read(pdf(drawn(*rows))).text == "\n".join(text for text in texts for _ in range(5))


class TestDirections:
    def page(self, visual: str, actual: str = "") -> str | None:
        """The text of a line whose glyphs are drawn from left to right."""
        font = "/Type /Font /Subtype /Type1 /BaseFont /Courier /ToUnicode 10 0 R"
        codes = {each: n for n, each in enumerate(sorted(set(visual)), 65)}
        mapped = "".join(f"<{code:02x}> <{ord(each):04x}>\n" for each, code in codes.items())
        cmap = (
            "begincmap 1 begincodespacerange <00> <ff> endcodespacerange\n"
            f"{len(codes)} beginbfchar\n{mapped}endbfchar endcmap"
        )
        glyphs = "".join(f"{codes[each]:02x}" for each in visual)
        content = f"BT /F 12 Tf 50 600 Td <{glyphs}> Tj ET\n"
        if actual:
            code = "feff" + actual.encode("utf-16-be").hex()
            content = f"/Span << /ActualText <{code}> >> BDC\n{content}EMC\n"
        stream = f"<< /Length {len(cmap)} >> stream\n{cmap}\nendstream"
        return read(pdf(content, font=font, extra=[stream])).text

    def test_words_against_the_line_are_in_order(self) -> None:
        assert self.page("הפיח למנל Queen Mary העיגה") == "הגיעה Queen Mary לנמל חיפה"
        assert self.page("The word םלוע םולש means two words") == (
            "The word שלום עולם means two words"
        )

    def test_numbers_keep_their_place(self) -> None:
        assert self.page("הפיח 12 34 למנל") == "לנמל 34 12 חיפה"

    def test_forms_of_letters_are_letters(self) -> None:
        assert self.page("\ufedf\ufeb4\ufefc\ufee1"[::-1]) == "لسلام"

    def test_letters_that_run_backwards_are_turned(self) -> None:
        assert self.page("םלוע םולש", "שלום עולם") == "שלום עולם"


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


def test_ligatures_are_letters() -> None:
    text = "o\ufb00er \ufb01eld \ufb02ow o\ufb03ce ba\ufb04e be\ufb06 la\ufb05"
    assert reader.lines_of(text) == ["offer field flow office baffle best last"]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("a\r\nb\nc", ["a", "b", "c"]),
        ("a\n\nb", ["a", "b"]),
        ("a\r\n\r\nb", ["a", "b"]),
        ("a\x00b\ue000c\ufffdd", ["a b c d"]),
        ("a\tb", ["a\tb"]),
        ("", [""]),
    ],
)
def test_the_lines_of_a_page_have_only_text(text: str, lines: list[str]) -> None:
    assert reader.lines_of(text) == lines
