"""Titles that say nothing about a page or document: placeholders, file names, invisible characters.

Facts: editors write a placeholder until somebody replaces it ("Untitled Document", "Ohne Titel"),
office software the name of the file from which a PDF was printed ("Microsoft Word - x.doc"),
converters its path, templates nothing but their separator. A reader sees the first heading or line
of such a document instead.

Decision: names of source files and of hosts stay, as they are often what a page is about
("stdio.h", "Node.js").
"""

from __future__ import annotations

import re
import unicodedata

MAX_CHARS = 1_000

_BLANK_LETTERS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Characters that Unicode calls letters or symbols although they are not visible: the fillers of
Hangul and the empty pattern of Braille."""
_NAMELESS = """
untitled, untitled document, untitled page, no title, title, page title, your title here, title here
new page, blank page, new document, blank document, document, default, doc, page, slide, sheet
presentation, workbook, book, drawing, layout, print, printing, report viewer, word document
powerpoint presentation, microsoft word document, microsoft powerpoint presentation, anonymous
unknown, unspecified, none, null, undefined, nan, false, true, n/a, tbd, todo, lorem ipsum
object object
ohne titel, unbenannt, unbenanntes dokument, dokument ohne titel, seite ohne titel, neue seite
titel, dokument, mappe, folie, präsentation, powerpoint-präsentation
sans titre, sans nom, document sans titre, document sans nom, page sans titre, nouvelle page, titre
nouveau document, classeur, diapositive, présentation powerpoint
sin título, documento sin título, página sin título, título, documento, libro, diapositiva
página nueva, presentación de powerpoint
senza titolo, senza nome, documento senza titolo, pagina senza titolo, nuova pagina, cartella
presentazione standard di powerpoint, presentazione di powerpoint
sem título, sem nome, documento sem título, página sem título, nova página, pasta
apresentação do powerpoint
sense títol, document sense títol, zonder titel, document zonder titel, naamloos
naamloos document, nieuwe pagina, powerpoint-presentatie
bez tytułu, bez nazwy, dokument bez tytułu, prezentacja programu powerpoint
bez názvu, dokument bez názvu, prezentace aplikace powerpoint, nepojmenovaný, bez naslova
без названия, без имени, без заголовка, документ без названия, страница без названия, безымянный
новая страница, документ, презентация powerpoint, без назви, документ без назви, без заглавие
namnlös, namnlöst dokument, namnlös sida, powerpoint-presentation, uden navn, uden titel
unavngivet, dokument uden titel, uten navn, uten tittel, navnløs, dokument uten navn
nimetön, nimetön asiakirja, névtelen, névtelen dokumentum, adsız, adsız belge, başlıksız
başlıksız belge, fără titlu, document fără titlu, χωρίς τίτλο, έγγραφο χωρίς τίτλο
ללא שם, ללא כותרת, מסמך ללא שם, بدون عنوان, بلا عنوان, مستند بدون عنوان, بدون نام
tanpa judul, dokumen tanpa judul, không có tiêu đề, chưa đặt tên, ไม่มีชื่อ
无标题, 无标题文档, 无标题页, 未命名, 未命名文档, 新建文档, 新网页, 文档, 無標題, 無標題文件
未命名文件, 無題, 無題ドキュメント, 無題のドキュメント, 無題文書, タイトルなし, 名称未設定
제목 없음, 제목없음, 문서 제목 없음, 무제
"""
_PLACEHOLDERS = frozenset(re.findall(r"[^,\s][^,\n]*", _NAMELESS))
"""What editors and converters write in place of a title, in the languages of their users."""
_LETTERS = re.compile(r"[^\W\d_]+")
_FIRST_LETTERS = frozenset(
    found[0] if (found := _LETTERS.search(each)) else "" for each in _PLACEHOLDERS
)
_DECORATION = re.compile(
    r"^[^\w{%$]+|(?:\.\w{2,5})?(?:[\s_-]*\(?\d{1,4}\)?)?(?:\.\w{2,5})?[^\w}%]*$"
)
"""Brackets around a placeholder, and the number and the suffix of its file."""
_TEMPLATE = re.compile(
    r"\{\{[^{}]*\}\}|\{%[^{}]*%\}|<%[^<>]*%>|\$\{[^{}]*\}|%\w+%|\[%?title%?\]|<[^<>\s]*>",
    re.IGNORECASE,
)
"""A title that a template has left unfilled."""
_PRINTED = re.compile(
    r"(?:microsoft|ms)[\s®-]+(?:office )?(?:word|excel|powerpoint|publisher|visio|project|outlook)"
    r"\s+[-–]\s+\S.*|(?:pagemaker|quarkxpress|adobe \w+|coreldraw)[\w\s.()]*[-–:]\s*\S.*",
    re.IGNORECASE,
)
_FILE = re.compile(
    r"(?:/.*|\S*|[^/\\]*)[^\s/\\]\.(?:docx?|docm|dotx?|rtf|odt|ott|sxw|wpd|wps|pptx?|pps[mx]?|odp|xlsx?"
    r"|xlsm|ods|pdf|indd|qx[dp]|pmd|p65|cdr|vsdx?|mdi|xps|epub|mobi)"
    r"|\S+\.(?:pages|pot|key|csv|e?ps|dvi|tex|tiff?|jpe?g|png|gif|bmp|s?html?|xhtml|php\d?|aspx?"
    r"|jspx?|cfm|txt)",
    re.IGNORECASE,
)
"""Names of documents may have spaces. Those of other files end titles that say something about
them: "How to write a robots.txt". Names of hosts look like files, too: "Last.fm"."""
_PATH = re.compile(
    r"[a-z]:[\\/].*|\\\\[^\\\s]+\\.*|file:.*|(?:[a-z][a-z0-9+.-]{1,20}://|www\.)\S+|~?/\S+/\S*"
    r"|(?:\.\.?/|~/)\S+|[^\\\s]+(?:\\[^\\]+)+",
    re.IGNORECASE,
)


def says_nothing(title: str) -> bool:
    """Whether a title is a placeholder, the name or path of a file, a URL, or not visible.

    >>> says_nothing("Microsoft Word - minutes_final.doc")
    True
    >>> says_nothing("The Untitled Space")
    False
    """
    title = " ".join(title[:MAX_CHARS].split())
    if not is_visible(title):
        return True
    first = _LETTERS.search(title)
    if (first is None or first[0].lower() in _FIRST_LETTERS) and (
        _DECORATION.sub("", title).lower() in _PLACEHOLDERS
    ):
        return True
    return any(form.fullmatch(title) for form in (_TEMPLATE, _PRINTED, _FILE, _PATH))


def is_visible(text: str) -> bool:
    """Whether a text has a letter, a digit, or a symbol such as an emoji that is displayed."""
    if text.isascii():
        return any(map(str.isalnum, text))
    return any(
        unicodedata.category(character)[0] in "LNS"
        and character not in _BLANK_LETTERS
        and character != "|"
        for character in text
    )
