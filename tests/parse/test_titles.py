import pytest

from gossamer.parse.page_parsing import parse_page
from gossamer.parse.parsed_page import Page, Rules
from gossamer.parse.reading.titles import is_visible, says_nothing
from gossamer.serve.rendering import crumbs
from gossamer.web.directions import without_overrides


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
        "The Harbour Plan.pdf",
        "/home/me/The Harbour Plan.docx",
        "plans/harbour.doc",
        "harbour.txt",
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
        "How to write a robots.txt",
        "Index of /pub/x.aspx",
        "Using index.php",
        "Last.fm",
        "Introducing Character.ai",
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


def title_of(html: str, url: str = "https://gazette.example/x") -> str | None:
    return parse_page(Page(url, {"content-type": "text/html"}, html.encode()), Rules()).title


SITE = '<meta property="og:site_name" content="The Gazette">'


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<title>Untitled Document</title><h1>Gunwales</h1>", "Gunwales"),
        ("<title>Untitled</title><h3>Gunwales</h3>", "Gunwales"),
        ("<title>Untitled</title><p>A line.</p><p>Another.</p>", "A line."),
        ("<title>Untitled</title>", "Untitled"),
        ("<title>&#8203;</title><p>A line.", "A line."),
        ("<title>&#8203;</title>", None),
        ("<title>Microsoft Word - x.doc</title><h1>Gunwales</h1>", "Gunwales"),
        (f"<title>The Gazette</title>{SITE}<h1>Gunwales</h1>", "Gunwales"),
        (f"<title>The Gazette</title>{SITE}<h1>THE GAZETTE</h1><h2>Gunwales</h2>", "Gunwales"),
        (f"<title>The Gazette</title>{SITE}<p>{'A long line. ' * 20}", "The Gazette"),
        ("<title>gazette.example</title><h1>Gunwales</h1>", "Gunwales"),
        ("<title>Gazette</title><h1>Gunwales</h1>", "Gunwales"),
        ("<title>Gunwales</title><h1>Hulls</h1>", "Gunwales"),
        ("<title>a&#8238;fdp.exe</title>", "afdp.exe"),
    ],
)
def test_the_title_that_people_see(html: str, title: str | None) -> None:
    assert title_of(html) == title


def test_the_first_page_of_a_site_has_its_name() -> None:
    html = f"<title>The Gazette</title>{SITE}<h1>Gunwales</h1>"
    assert title_of(html, "https://gazette.example/") == "The Gazette"


def test_directions_end_with_the_text() -> None:
    html = "<title>x</title><h2>b\u202ec</h2><p>d\u2067e</p>".encode()
    headers = {"content-type": "text/html; charset=utf-8"}
    page = parse_page(Page("https://gazette.example/x", headers, html), Rules())
    assert (page.headings, page.text, page.main_text) == (("bc",), "bc\nde", "bc\nde")
    assert without_overrides("a\u202efdp.exe\u202c \u2067b\u2069 \u200fc") == "afdp.exe b \u200fc"
    assert crumbs("https://gazette.example/a%E2%80%AEb") == ["gazette.example", "ab"]


@pytest.mark.parametrize(
    ("text", "visible"),
    [
        ("a", True),
        ("- 1", True),
        ("$ +", False),
        ("", False),
        ("é", True),
        ("€", True),
        ("\u00a0|", False),
        ("– »", False),
        ("😀", True),
        ("\u3164", False),
    ],
)
def test_a_text_of_signs_is_not_visible(text: str, visible: bool) -> None:
    """Beyond ASCII, symbols are, such as emoji; letters that look like blanks are not."""
    assert is_visible(text) is visible
