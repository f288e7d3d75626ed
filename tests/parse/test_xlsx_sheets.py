"""Cells, strings and sheets of a workbook (ISO/IEC 29500-1 §18.3, §18.4)."""

from __future__ import annotations

import pytest

from gossamer.parse.documents import xlsx_sheets
from gossamer.parse.documents.binary import read_binary
from tests.support.binary_files import XLSX, relations, with_members, xlsx

STRINGS = "<si><t>zero</t></si><si><t>one</t></si>"
STYLES = (
    "<styleSheet><numFmts><numFmt numFmtId='164' formatCode='yyyy-mm-dd'/></numFmts>"
    "<cellXfs><xf numFmtId='0'/><xf numFmtId='164'/></cellXfs></styleSheet>"
)


def text_of(body: bytes, limit: int = 10_000) -> str | None:
    return read_binary(XLSX, body, limit).text


def rows_of(rows: str, strings: str = STRINGS) -> list[str]:
    return (text_of(xlsx(rows, strings)) or "").splitlines()[1:]


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ("<c><v>1.5</v></c>", "1.5"),
        ("<c t='n'><v>1.5</v></c>", "1.5"),
        ("<c t='b'><v>1</v></c>", ""),
        ("<c t='e'><v>#REF!</v></c>", ""),
        ("<c t='str'><v>7 kg</v></c>", "7 kg"),
        ("<c t='s'><v>0</v></c>", "zero"),
        ("<c t='s'><v>1</v></c>", "one"),
        ("<c t='s'><v>2</v></c>", ""),
        ("<c t='s'><v>-1</v></c>", ""),
        ("<c t='s'><v>x</v></c>", ""),
        ("<c t='s'><v>000000001</v></c>", "one"),
        ("<c t='s'><v>0000000001</v></c>", ""),
        ("<c t='s'/>", ""),
        ("<c t='inlineStr'><is><t>in</t><r><t>line</t></r></is></c>", "inline"),
        ("<c t='str'>a<v>b</v>c</c>", "b"),
        ("<c t='str'><rPh><t>a</t></rPh><t>b</t></c>", "b"),
        ("<c t='str'><v>b</v></c><c t='str'/>", "b"),
    ],
)
def test_the_value_of_a_cell(cell: str, text: str) -> None:
    assert rows_of(f"<row><c><v>8</v></c>{cell}<c><v>9</v></c></row>") == [
        f"8 {text} 9".replace("  ", " ")
    ]


@pytest.mark.parametrize(
    ("string", "text"),
    [
        ("<si><r><t>o</t></r><r><t>ne</t></r></si>", "one"),
        ("<si>x<t>one</t>y</si>", "one"),
        ("<si><t>one</t><rPh><t>two</t></rPh></si>", "one"),
        ("<si><rPh><t>two</t></rPh><t>one</t></si>", "one"),
        ("<si><rPh><x/><t>two</t></rPh><t>one</t></si>", "one"),
        ("<si/>", ""),
    ],
)
def test_a_string_has_no_readings(string: str, text: str) -> None:
    rows = "<row><c t='s'><v>0</v></c><c t='s'><v>1</v></c></row>"
    assert rows_of(rows, f"{string}<si><t>next</t></si>") == [f"{text} next".strip()]


def test_rows_end_and_empty_ones_are_no_lines() -> None:
    cell = "<c><v>1</v></c>"
    assert rows_of(f"<row>{cell}</row><row/><row>{cell}{cell}</row>") == ["1", "1 1"]


def test_a_row_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xlsx_sheets, "MAX_ROW_CHARS", 5)
    row = "".join(f"<c t='str'><v>{text}</v></c>" for text in ("ab", "cd", "e", "f"))
    assert rows_of(f"<row>{row}</row>" * 2) == ["ab cd e"] * 2


def test_a_sheet_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xlsx_sheets, "MAX_CELLS", 2)
    row = "<row><c><v>1</v></c></row>"
    assert rows_of(row * 2) == ["1", "1"]
    assert rows_of(row * 3) == ["1", "1"]
    assert rows_of("<row><c/><c/></row>" + row) == []


def test_strings_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xlsx_sheets, "MAX_STRINGS_CHARS", 4)
    rows = "".join(f"<row><c t='s'><v>{n}</v></c></row>" for n in range(4))
    strings = "".join(f"<si><t>{text}</t></si>" for text in ("ab", "cd", "e", "f"))
    assert rows_of(rows, strings) == ["ab", "cd", "e"]


def workbook(
    sheets: str, properties: str = "", rows: str = "<row><c s='1'><v>1</v></c></row>"
) -> bytes:
    files: dict[str, str | bytes] = {
        "xl/workbook.xml": f"<workbook>{properties}<sheets>{sheets}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": relations(
            a="worksheet worksheets/sheet1.xml",
            b="worksheet worksheets/sheet2.xml",
            c="worksheet worksheets/sheet3.xml",
            s="styles styles.xml",
        ),
        "xl/worksheets/sheet2.xml": f"<worksheet><sheetData>{rows}</sheetData></worksheet>",
        "xl/worksheets/sheet3.xml": "<worksheet><row><c><v>3</v></c></row>",
        "xl/styles.xml": STYLES,
    }
    return with_members(xlsx(rows), files)


def test_sheets_have_names_and_some_are_hidden() -> None:
    names = (
        "<sheet name='A' r:id='a' state='{}'/><sheet name='B' r:id='b'/><sheet name='C' r:id='x'/>"
    )
    day = "1900-01-01"
    assert text_of(workbook(names.format("visible"))) == f"A\nB\nC\n{day}\n{day}"
    assert text_of(workbook(names.format("hidden"))) == f"B\nC\n{day}"
    assert text_of(workbook(names.format("veryHidden"))) == f"B\nC\n{day}"


def test_a_sheet_that_is_damaged_does_not_hide_the_others() -> None:
    sheets = "<sheet name='A' r:id='c'/><sheet name='B' r:id='b'/>"
    assert (text_of(workbook(sheets)) or "").splitlines()[-1] == "1900-01-01"


@pytest.mark.parametrize(
    ("declared", "day"),
    [("1", "1904-01-02"), ("true", "1904-01-02"), ("TRUE", "1904-01-02"), ("0", "1900-01-01")],
)
def test_days_are_counted_from_1900_or_1904(declared: str, day: str) -> None:
    properties = f"<workbookPr date1904='{declared}'/>"
    body = workbook("<sheet name='A' r:id='a'/>", properties)
    assert text_of(body) == f"A\n{day}"
    assert text_of(workbook("<sheet name='A' r:id='a'/>", "<workbookPr/>")) == "A\n1900-01-01"


def test_a_document_ends_when_it_is_full() -> None:
    rows = "".join(f"<row><c><v>{n}</v></c></row>" for n in range(10, 20))
    sheets = "<sheet name='A' r:id='a'/><sheet name='B' r:id='b'/>"
    document = read_binary(XLSX, workbook(sheets, rows=rows), 10)
    assert document.truncated
    assert document.text is not None
    assert document.text.splitlines()[:4] == ["A", "B", "10", "11"]
    assert len(document.text) <= 10
