"""Which styles of a DOCX file make headings or hide text (ISO/IEC 29500-1 §17.7)."""

from __future__ import annotations

import pytest

from gossamer.parse.documents.word_styles import MAX_ANCESTORS, WordStyles, read_styles


def style(key: str, *, name: str = "", based_on: str = "", properties: str = "") -> str:
    named = f"<w:name w:val='{name}'/>" if name else ""
    based = f"<w:basedOn w:val='{based_on}'/>" if based_on else ""
    return f"<w:style w:styleId='{key}'>{named}{based}{properties}</w:style>"


def read(*styles: str) -> WordStyles:
    return read_styles(f"<w:styles>{''.join(styles)}</w:styles>".encode())


def level(value: str) -> str:
    return f"<w:pPr><w:outlineLvl w:val='{value}'/></w:pPr>"


@pytest.mark.parametrize(
    ("name", "properties", "is_heading"),
    [
        ("heading 1", "", True),
        ("Heading 3", "", True),
        ("TITLE", "", True),
        ("heading 4", "", False),
        ("heading 10", "", False),
        ("Subtitle", "", False),
        ("title page", "", False),
        ("Normal", "", False),
        ("heading 1", level("9"), False),  # body text
        ("heading 1", level("3"), False),
        ("heading 4", level("2"), True),
        ("Normal", level("0"), True),
    ],
)
def test_a_heading_is_told_by_its_level_or_else_by_its_name(
    name: str, properties: str, is_heading: bool
) -> None:
    found = read(style("a", name=name, properties=properties))
    assert found.headings == frozenset("a" if is_heading else "")


def test_a_level_before_the_name_counts_as_well() -> None:
    assert not read(f"<w:style w:styleId='a'>{level('9')}<w:name w:val='heading 1'/></w:style>")[0]


def test_an_id_is_no_name() -> None:
    assert not read(style("heading 1", name="Own")).headings
    assert not read(style("a", name="Own", based_on="heading 1")).headings


def test_a_style_has_what_its_ancestors_set_up_to_a_limit() -> None:
    hidden = style("0", name="title", properties="<w:rPr><w:vanish/></w:rPr>")
    others = [style(f"{n}", based_on=f"{n - 1}") for n in range(1, MAX_ANCESTORS + 2)]
    within = frozenset(f"{n}" for n in range(MAX_ANCESTORS))
    assert read(hidden, *others) == (within, within)
    shown = style("a", name="x", based_on="0", properties="<w:rPr><w:vanish w:val='off'/></w:rPr>")
    assert read(shown, style("b", based_on="a"), hidden) == (
        frozenset({"a", "b", "0"}),
        frozenset({"0"}),
    )


def test_of_a_file_that_is_cut_off_the_styles_before_count() -> None:
    cut = f"<w:styles>{style('a', name='title')}<w:style w:styleId='b'><w:name w:v".encode()
    assert read_styles(cut).headings == {"a"}
    assert read_styles(b"") == (frozenset(), frozenset())
