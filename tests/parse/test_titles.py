import pytest

from gossamer.parse.reading.titles import says_nothing, without_overrides


@pytest.mark.parametrize(
    "title",
    [
        "",
        "untitled",
        "Untitled Document",
        "untitled-1",
        "Untitled (2)",
        "[Untitled]",
        "<untitled>",
        "Untitled.pdf",
        "(anonymous)",
        "New Page 1",
        "No Title",
        "Document1",
        "Title",
        "undefined",
        "[object Object]",
        "PowerPoint Presentation",
        "Présentation PowerPoint",
        "Slide 1",
        "Unbenanntes Dokument",
        "Dokument ohne Titel",
        "Ohne Titel",
        "Document sans titre",
        "Documento sin título",
        "Documento senza titolo",
        "Página sem título",
        "Naamloos document",
        "Dokument bez tytułu",
        "Без названия",
        "Документ без названия",
        "无标题文档",
        "無題ドキュメント",
        "無題のドキュメント",
        "名称未設定",
        "제목 없음",
        "ללא שם",
        "بدون عنوان",
        "Microsoft Word - harbour_final_v3.doc",
        "Microsoft PowerPoint - Talk [Compatibility Mode]",
        "Microsoft Word – Plan",
        "harbour_final_v3.docx",
        "Annual report 2019 final.DOC",
        "scan0001.tif",
        "index.html",
        r"C:\Users\ann\minutes.tex",
        r"\\server\share\plan",
        "/home/ann/thesis",
        "file:///tmp/x",
        "https://example.org/a/b",
        "{{ page.title }}",
        "<%= title %>",
        "%title%",
        " - ",
        " | ",
        "\u200b\u2060\ufeff",
        "\u3164\u2800",
        "\u202e\u202c",
    ],
)
def test_a_title_that_says_nothing(title: str) -> None:
    assert says_nothing(title)


@pytest.mark.parametrize(
    "title",
    [
        "The Untitled Space",
        "Untitled: a novel",
        "Documentation",
        "Titled nobility",
        "Word - the magazine of letters and more",
        "stdio.h",
        "setup.py",
        "Node.js",
        "README.md",
        "example.org",
        "404",
        "1984",
        "C++",
        "❤",
        "AC/DC",
        "and/or",
        "TCP/IP",
        "Unknown Pleasures",
        "Nullarbor",
        "港",
        "無題の夏",
    ],
)
def test_a_title_that_says_something(title: str) -> None:
    assert not says_nothing(title)


def test_directions_end_with_the_title() -> None:
    assert without_overrides("a\u202efdp.exe\u202c \u2067b\u2069 \u200fc") == "afdp.exe b \u200fc"
