"""Numbers as Excel shows them (ISO/IEC 29500-1 §18.8.30, §18.8.31)."""

from __future__ import annotations

from html import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.parse.documents import number_formats
from gossamer.parse.documents.binary import read_binary
from gossamer.parse.documents.number_formats import MAX_CODE_CHARS, NumberFormats
from tests.support.binary_files import XLSX, relations, with_members, xlsx


def styles(code: str, number: int = 164) -> bytes:
    own = f"<numFmt numFmtId='{number}' formatCode='{escape(code)}'/>" if code else ""
    cells = f"<cellXfs><xf numFmtId='0'/><xf numFmtId='{number}'/></cellXfs>"
    return (
        f"<styleSheet><numFmts>{own}</numFmts><cellStyleXfs><xf numFmtId='9'/></cellStyleXfs>"
        f"{cells}</styleSheet>"
    ).encode()


def shown(value: str, code: str, number: int = 164) -> str:
    return NumberFormats(styles(code, number), from_1904=False).shown(value, "1")


@pytest.mark.parametrize(
    ("value", "code", "text"),
    [
        ("45364", "yyyy-mm-dd", "2024-03-13"),
        ("12345678", "0,", "12346"),
        ("12345678", "#,##0,", "12,346"),
        ("12345678", "0,,", "12"),
        ("12345", "0,.0", "12.3"),
        ("12345", "0.0,", "12.3"),
        ("1.26", '0.0" kg"', "1.3 kg"),
        ("1234.5", "#,##0.0", "1,234.5"),
        ("45364.43055555555", "yyyy-mm-dd h:mm:ss", "2024-03-13 10:20:00"),
        ("45364.43055555555", "dd/mm/yyyy\\ hh:mm", "13/03/2024 10:20"),
        ("45364", "d.m.yy", "13.3.24"),
        ("45364", "[$-409]d\\-mmm\\-yyyy;@", "13-Mar-2024"),
        ("45364", "dddd, mmmm d", "Wednesday, March 13"),
        ("45364", "[$-407]d. mmmm yyyy", "2024-03-13"),
        ("45364", "[$-407]dd.mm.yyyy", "13.03.2024"),
        ("45364", 'yyyy"年"m"月"d"日"', "2024年3月13日"),
        ("0.75", "h:mm AM/PM", "6:00 PM"),
        ("0.0", "hh:mm AM/PM", "12:00 AM"),
        ("0.5000116", "mm:ss.0", "00:01.0"),
        ("1.5", "[h]:mm:ss", "36:00:00"),
        ("0.25", "[mm]:ss", "360:00"),
        ("0.75", "h:mm", "18:00"),
        ("0.75", "hh", "18"),
        ("0.5", "h A/P", "12 P"),
        ("0.25", "h AM/PM", "6 AM"),
        ("0.50001736", "h:mm:ss", "12:00:01"),
        ("0.50001815", "h:mm:ss.0", "12:00:01.6"),
        ("0.50001815", "h:mm:ss.00", "12:00:01.57"),
        ("0.500018146", "ss.000", "01.568"),
        ("0.0104166667", "m:ss", "15:00"),
        ("0.0104166667", "[h]:m", "0:15"),
        ("0.0104166667", "[m]", "15"),
        ("0.0104166667", "[s]", "900"),
        ("0.0104166667", "[sss]", "900"),
        ("45364.25", "s m d", "0 3 13"),
        ("45364.25", "h d m", "6 13 3"),
        ("45364", "mmm/mmmmm/mmmmmm", "Mar/M/March"),
        ("45364", "ddd dddd d dd", "Wed Wednesday 13 13"),
        ("45364", "yy yyy yyyy", "24 2024 2024"),
        ("45364", "[$-407]d. mmm yy", "2024-03-13"),
        ("45364", "[$-407]d.m.yy", "13.3.24"),
        ("45364", "d_)m", "13 3"),
        ("59", "yyyy-mm-dd", "1900-02-28"),
        ("0", "yyyy-mm-dd", "1899-12-31"),
        ("2958465", "yyyy-mm-dd", "9999-12-31"),
        ("2958466", "yyyy-mm-dd", "2958466"),
        ("1E+300", "0", "1E+300"),
        ("9.9E+299", "[=1]0", "9.9e+299"),
        ("1", "yyyy-mm-dd", "1900-01-01"),
        ("61", "yyyy-mm-dd", "1900-03-01"),
        ("-1", "yyyy-mm-dd", "-1"),
        ("3000000", "yyyy-mm-dd", "3000000"),
        ("0.25", "0%", "25%"),
        ("0.12345", "0.0%", "12.3%"),
        ("1234567.5", "#,##0.00", "1,234,567.50"),
        ("1234567.5", '#,##0.00 "€"', "1,234,567.50 €"),
        ("-12.5", "#,##0.00;(#,##0.00)", "(12.50)"),
        ("-12.5", "0.0", "-12.5"),
        ("-0.01", "0.0", "0.0"),
        ("5", "[$£-809]#,##0.00;[Red]-[$£-809]#,##0.00", "£5.00"),
        ("0", '0;-0;"none"', "none"),
        ("7", ";;;", ""),
        ("1.5", "0.##", "1.5"),
        ("2", "0.##", "2"),
        ("7", "000", "007"),
        ("5551234", "000-0000", "555-1234"),
        ("12345678", '0.0,,"M"', "12.3M"),
        ("12345", "0.00E+00", "1.23E+04"),
        ("1.5", "# ?/?", "1.5"),
        ("1.5", "[>1]0;0.0", "1.5"),
        ("1.5", "General", "1.5"),
        ("1.5", '"about" General', "1.5"),
        ("0.30000000000000004", "General", "0.3"),
        ("42", "@", "42"),
        ("word", "0%", "word"),
    ],
)
def test_a_number_is_shown_by_its_format(value: str, code: str, text: str) -> None:
    assert shown(value, code) == text


@pytest.mark.parametrize(
    ("number", "value", "text"),
    [
        (1, "1234.4", "1234"),
        (2, "1234.5", "1234.50"),
        (3, "1234.4", "1,234"),
        (4, "1234.5", "1,234.50"),
        (0, "1.5", "1.5"),
        (9, "0.25", "25%"),
        (14, "45364", "2024-03-13"),
        (15, "45364", "13-Mar-24"),
        (20, "0.25", "6:00"),
        (22, "45364.25", "2024-03-13 06:00"),
        (31, "45364", "2024-03-13"),
        (46, "1.5", "36:00:00"),
        (49, "45364", "45364"),
    ],
)
def test_built_in_formats(number: int, value: str, text: str) -> None:
    assert shown(value, "", number) == text


def test_formats_have_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    code = '"' + "x" * (MAX_CODE_CHARS - 3) + '"0'
    assert shown("7", code) == "x" * (MAX_CODE_CHARS - 3) + "7"
    assert shown("7", " " + code) == "7"
    built_in = len(NumberFormats(b"", from_1904=False)._codes)
    monkeypatch.setattr(number_formats, "MAX_FORMATS", built_in + 1)
    both = "<x><numFmt numFmtId='164' formatCode='0.0'/><numFmt numFmtId='165' formatCode='0.0'/>"
    cells = "<cellXfs><xf numFmtId='164'/><xf numFmtId='165'/></cellXfs></x>"
    formats = NumberFormats(f"{both}{cells}".encode(), from_1904=False)
    assert (formats.shown("7", "0"), formats.shown("7", "1")) == ("7.0", "7")


def test_only_the_formats_of_cells_count() -> None:
    own = b"<x><numFmt numFmtId='164' formatCode='0.0'/><xf numFmtId='164'/><cellXfs/>"
    formats = NumberFormats(own + b"<xf numFmtId='164'/></x>", from_1904=False)
    assert formats.shown("7", "0") == "7"
    assert formats.shown("7", "x") == "7"


@given(
    st.text(alphabet='0#?.,%/;@ymdhsE+-AMP[]$<>"\\_*eG9x ', max_size=30),
    st.floats() | st.floats(0, 3e6),
)
def test_any_format_shows_something(code: str, number: float) -> None:
    formats = NumberFormats(b"", from_1904=False)
    formats._codes[164], formats._cells = code, [164]
    assert isinstance(formats.shown(repr(number), "0"), str)
    assert formats.shown("x", "9" * 9) == "x"


def test_dates_of_a_workbook_that_counts_from_1904() -> None:
    assert NumberFormats(styles("yyyy-mm-dd"), from_1904=True).shown("43902", "1") == "2024-03-13"


def text_of(body: bytes) -> str | None:
    return read_binary(XLSX, body, 10_000).text


def test_cells_are_shown_by_their_styles() -> None:
    row = "<row><c s='1'><v>45364</v></c><c><v>45364</v></c><c s='1' t='str'><v>5</v></c></row>"
    body = with_members(xlsx(row), {"xl/styles.xml": styles("yyyy-mm-dd")})
    assert text_of(body) == "Prices\n2024-03-13 45364 5"


def test_readings_of_words_are_no_text() -> None:
    cell = "<c t='inlineStr'><is><t>東京</t><rPh sb='0' eb='2'><t>トウキョウ</t></rPh></is></c>"
    assert text_of(xlsx(f"<row>{cell}<c><v>1</v></c></row>")) == "Prices\n東京 1"


@pytest.mark.parametrize("state", ["hidden", "veryHidden"])
def test_hidden_sheets_are_no_text(state: str) -> None:
    workbook = f"<workbook><sheets><sheet name='x' r:id='a' state='{state}'/></sheets></workbook>"
    assert not text_of(with_members(xlsx("<row/>"), {"xl/workbook.xml": workbook}))


def test_text_boxes_and_charts_follow_their_sheet() -> None:
    parts = {
        "xl/worksheets/_rels/sheet1.xml.rels": relations(d="drawing ../drawings/d.xml"),
        "xl/drawings/d.xml": "<x><a:p><a:t>box</a:t></a:p></x>",
        "xl/drawings/_rels/d.xml.rels": relations(c="chart ../charts/c.xml"),
        "xl/charts/c.xml": "<x><a:p><a:t>Sales</a:t></a:p></x>",
    }
    body = with_members(xlsx("<row><c><v>1</v></c></row>"), parts)
    assert text_of(body) == "Prices\n1\nbox\nSales"
