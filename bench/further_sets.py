"""Makes question sets of further kinds, to measure changes that were made before.

    python bench/further_sets.py PACKAGES OUTPUT

PACKAGES holds unpacked packages, one per folder (`dpkg -x X.deb PACKAGES/X`). OUTPUT receives a
folder per set, in the format of collection.py. As in held_out.py, a question is a text of the
manual, which is removed from all pages. Neither the kinds nor most of the manuals are those of
question_sets.py and held_out.py:

  described  the line that describes a page of GNOME's help where others link to it
  option     what an option of a command does; the answer is the command's manual page
  caption    the caption of a figure in GIMP's manual
  term       a term of a definition list
  section    the heading of a section; the documents are the sections of long pages, as in a FAQ
"""

from __future__ import annotations

import gzip
import re
import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from held_out import asks, hide_links, key, read, text_of, unique
from lxml import etree
from lxml import html as lxml_html
from question_sets import MIN_CHARS, plain, write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from held_out import Judged, Pages

    Documents = dict[str, dict[str, str]]

MALLARD = "{http://projectmallard.org/1.0/}"
BLOCKS = {f"{MALLARD}{name}" for name in ("title", "p", "td", "code", "screen")}
HEADINGS = ("h1", "h2", "h3", "h4", "h5")
MIN_SECTION_CHARS = 80
_OPTION = re.compile(r"^\.(?:TP|IP).*\n(?:\.P?D.*\n)?(.+)\n((?:(?!\.).+\n)+)", re.MULTILINE)


def described(folder: Path, language: str) -> tuple[Documents, Judged]:
    """The translated descriptions of a Mallard document's pages."""
    pages: Documents = {}
    found: Judged = defaultdict(set)
    for path in sorted((folder / language).rglob("*.page")):
        name = path.relative_to(folder / language).as_posix()
        root, original = (
            etree.parse(each / name).getroot() for each in (folder / language, folder / "C")
        )
        line, untranslated = (
            each.find(f"{MALLARD}info/{MALLARD}desc") for each in (root, original)
        )
        if line is not None and untranslated is not None and text_of(line) != text_of(untranslated):
            found[text_of(line)].add(name)
        root.remove(root.find(f"{MALLARD}info"))
        blocks = [text_of(each) for each in root.iter(*BLOCKS)]
        title = root.find(f"{MALLARD}title")
        head = "" if title is None else text_of(title)
        pages[name] = {"title": head, "text": "\n\n".join(blocks)}
    return pages, unique(found)


def option(folder: Path, language: str) -> tuple[Documents, Judged]:
    """What each manual page says about one of its options, the one in the middle by length."""
    pages: Documents = {}
    found: Judged = defaultdict(set)
    for path in sorted((folder / language).glob("man[18]/*.gz")):
        if path.is_symlink():
            continue
        source = gzip.decompress(path.read_bytes()).decode("utf-8", "replace")
        name = path.name.removesuffix(".gz")
        options = [" ".join(plain(each).split()) for _, each in _OPTION.findall(source)]
        text = " ".join(plain(source).replace('"', "").split())
        asked = sorted((each for each in options if asks(each)), key=len)
        once = [each for each in asked if text.count(each) == 1]
        question = next(iter(once[len(asked) // 2 :]), "")
        text = text.replace(question, " ") if question else text
        if len(text) >= MIN_CHARS:
            pages[name] = {"title": name, "text": text}
            if question:
                found[question].add(name)
    return pages, unique(found)


def _removed(pages: Pages, path: str) -> Judged:
    """The texts of some elements, which are removed."""
    found: Judged = defaultdict(set)
    for name, page in pages.items():
        for element in page.xpath(path):
            found[text_of(element)].add(name)
    judged = unique(found)
    asked = {key(text) for text in judged}
    hide_links(pages, judged)
    for page in pages.values():
        for element in page.xpath(path):
            if key(text_of(element)) in asked:
                element.drop_tree()
    return judged


def _rendered(pages: Pages) -> Documents:
    return {
        name: {"html": lxml_html.tostring(page, encoding="unicode")} for name, page in pages.items()
    }


def caption(folder: Path, glob: str) -> tuple[Documents, Judged]:
    pages = read(folder, glob)
    for page in pages.values():
        for image in page.iter("img"):
            image.attrib.pop("alt", None)
        for number in page.xpath("//div[@class='figure']/p[@class='title']/strong"):
            number.text = re.sub(r"^[^\d]{0,12}[\d.]+\W*", "", number.text or "")
    judged = _removed(pages, "//div[@class='figure']/p[@class='title']")
    return _rendered(pages), judged


def term(folder: Path, glob: str) -> tuple[Documents, Judged]:
    pages = {name: page for name, page in read(folder, glob).items() if "index" not in name}
    for page in pages.values():
        for contents in page.xpath("//div[@class='toc']"):
            contents.drop_tree()
    judged = _removed(pages, "//dt")
    return _rendered(pages), judged


def section(folder: Path, glob: str) -> tuple[Documents, Judged]:
    """The sections of the pages, each with what stands between its heading and the next one."""
    pages = read(folder, glob)
    heads: Judged = defaultdict(set)
    for name, page in pages.items():
        for each in page.xpath("//*[@class='toc' or @class='navheader' or @class='navfooter']"):
            each.drop_tree()
        for number, (head, text) in enumerate(_sections(page)):
            if len(text) >= MIN_SECTION_CHARS:
                heads[head].add(f"{name}/{number}")
    judged = unique(heads)
    _hide_references(pages, judged)
    sections = {
        f"{name}/{number}": {"title": "", "text": text}
        for name, page in pages.items()
        for number, (_, text) in enumerate(_sections(page))
        if len(text) >= MIN_SECTION_CHARS
    }
    return sections, {text: names for text, names in judged.items() if names <= set(sections)}


def _hide_references(pages: Pages, judged: Judged) -> None:
    """Remove what cites a question as the name of its section: links, and tables of contents."""
    asked = re.compile("|".join(rf"\b{re.escape(key(text))}\b" for text in judged))
    for page in pages.values():
        for link in list(page.iter("a")):
            if link.get("href") and asked.search(key(text_of(link))):
                link.drop_tree()


def _sections(page: lxml_html.HtmlElement) -> Iterator[tuple[str, str]]:
    """The headings of a page, each with the text below it."""
    head = ""
    parts: list[str] = []
    body = page.find("body")
    within = None
    for event, element in etree.iterwalk(page if body is None else body, ("start", "end")):
        if element.tag in HEADINGS and within is None:
            if event == "start":
                yield head, "\n\n".join(parts)
                head, parts, within = text_of(element), [], element
        elif within is None and element.tag not in ("script", "style"):
            text = element.text if event == "start" else None
            if text and text.strip():
                parts.append(" ".join(text.split()))
        if event == "end":
            within = None if element is within else within
            if within is None and element.tail and element.tail.strip():
                parts.append(" ".join(element.tail.split()))
    yield head, "\n\n".join(parts)


class Set(NamedTuple):
    name: str
    folder: str
    at: str
    """A folder, or which files."""
    made: Callable[[Path, str], tuple[Documents, Judged]]


HELP = "gnome-user-docs/usr/share/help"
GIMP = "gimp-help-{}/usr/share/gimp/2.0/help"
APTITUDE = "aptitude-doc-{0}/usr/share/doc/aptitude/html/{0}"
FAQ = "debian-faq-{0}/usr/share/doc/debian/FAQ/{0}"
REFERENCE = "debian-reference-{}/usr/share/debian-reference"
MAINTAINERS = "maint-guide-{0}/usr/share/doc/maint-guide-{0}/html"
DEVELOPERS = "developers-reference-{0}/usr/share/developers-reference/{0}"
POLICY = "debian-policy-ja/usr/share/doc/debian-policy"
POLICY_EN = "debian-policy/usr/share/doc/debian-policy"
HANDBOOK = "debian-handbook/usr/share/doc/debian-handbook/html"
FURTHER_HANDBOOKS = {
    "ca": "ca-ES",
    "cs": "cs-CZ",
    "da": "da-DK",
    "el": "el-GR",
    "en": "en-US",
    "fa": "fa-IR",
    "hr": "hr-HR",
    "id": "id-ID",
    "it": "it-IT",
    "ko": "ko-KR",
    "nl": "nl-NL",
    "no": "nb-NO",
    "pl": "pl-PL",
    "pt": "pt-BR",
    "ro": "ro-RO",
    "sv": "sv-SE",
    "tr": "tr-TR",
    "tw-zh": "zh-TW",
    "vi": "vi-VN",
}
DEBMAKE = "debmake-doc/usr/share/doc/debmake-doc/html"
DEBMAKE_CODES = {"de": "de", "en": "en", "ja": "ja", "ru": "ru", "tw-zh": "zh-tw", "zh": "zh-cn"}
SECURING = "harden-doc/usr/share/doc/harden-doc/html"
KICAD = "kicad-doc-{0}/usr/share/doc/kicad/help/{0}"
MAN = "usr/share/man"
SETS = (
    *(
        Set(f"described-{code}", HELP, at, described)
        for code, at in {
            "de": "de",
            "es": "es",
            "it": "it",
            "ja": "ja",
            "ko": "ko",
            "ru": "ru",
            "tr": "tr",
            "zh": "zh_CN",
        }.items()
    ),
    Set("option-de", f"manpages-de/{MAN}", "de", option),
    Set("option-it", f"manpages-it/{MAN}", "it", option),
    Set("option-ja", f"manpages-ja/{MAN}", "ja", option),
    Set("option-ru", f"manpages-ru/{MAN}", "ru", option),
    Set("option-tr", f"manpages-tr/{MAN}", "tr", option),
    Set("option-zh", f"manpages-zh/{MAN}", "zh_CN", option),
    *(
        Set(f"caption-{code}", GIMP.format(package), f"{code}/*.html", caption)
        for code, package in {"it": "it", "ja": "ja", "ko": "ko", "ru": "ru"}.items()
    ),
    Set("caption-zh", GIMP.format("zh-cn"), "zh_CN/*.html", caption),
    *(
        Set(f"term-aptitude-{code}", APTITUDE.format(code), "*.html", term)
        for code in ("it", "ja", "ru")
    ),
    Set("term-python-en", "python3.11-doc/usr/share/doc/python3.11/html", "**/*.html", term),
    *(
        Set(f"section-faq-{code}", FAQ.format(code), "*.html", section)
        for code in ("it", "ja", "ko", "ru")
    ),
    Set("section-faq-zh", FAQ.format("zh-cn"), "*.html", section),
    *(
        Set(f"section-reference-{code}", REFERENCE.format(package), "ch*.html", section)
        for code, package in {"it": "it", "ja": "ja", "zh": "zh-cn", "pt": "pt"}.items()
    ),
    Set("section-reference-tw-zh", REFERENCE.format("zh-tw"), "ch*.html", section),
    *(
        Set(f"section-maintainers-{code}", MAINTAINERS.format(package), "*.html", section)
        for code, package in {"it": "it", "ja": "ja", "ru": "ru", "zh": "zh-cn"}.items()
    ),
    Set("section-maintainers-tw-zh", MAINTAINERS.format("zh-tw"), "*.html", section),
    *(
        Set(f"section-developers-{code}", DEVELOPERS.format(code), "*.html", section)
        for code in ("it", "ja", "ru")
    ),
    Set("section-policy-ja", f"{POLICY}/ja/policy.html", "*.html", section),
    Set("section-kicad-ja", KICAD.format("ja"), "*.html", section),
    Set("section-kicad-zh", KICAD.format("zh"), "*.html", section),
    *(
        Set(f"section-faq-{code}", FAQ.format(code), f"*.{code}.html", section)
        for code in ("de", "fr")
    ),
    *(
        Set(f"section-reference-{code}", REFERENCE.format(code), "ch*.html", section)
        for code in ("de", "en", "es", "fr")
    ),
    *(
        Set(f"section-maintainers-{code}", MAINTAINERS.format(code), "*.html", section)
        for code in ("ca", "de", "es", "fr")
    ),
    *(
        Set(f"section-kicad-{code}", KICAD.format(code), "*.html", section)
        for code in ("de", "en", "es", "fr", "it", "pl", "ru")
    ),
    *(
        Set(f"section-handbook-{name[:2]}", f"{HANDBOOK}/{name}", "*.html", section)
        for name in ("ar-MA", "de-DE", "es-ES", "fr-FR", "ja-JP", "ru-RU", "zh-CN")
    ),
    *(
        Set(f"section-securing-{name[:2]}", f"{SECURING}/{name}", "*.html", section)
        for name in ("de-DE", "en-US", "fr-FR", "it-IT", "pt-PT")
    ),
    Set("section-policy-en", f"{POLICY_EN}/policy.html", "*.html", section),
    *(
        Set(f"section-handbook-{language}", f"{HANDBOOK}/{name}", "*.html", section)
        for language, name in FURTHER_HANDBOOKS.items()
    ),
    *(Set(f"section-faq-{code}", FAQ.format(code), "*.html", section) for code in ("nl", "pt")),
    *(
        Set(f"section-debmake-{language}", DEBMAKE, f"*.{code}.html", section)
        for language, code in DEBMAKE_CODES.items()
    ),
    *(
        Set(f"section-securing-{name[:2]}", f"{SECURING}/{name}", "*.html", section)
        for name in ("es-ES", "ja-JP", "zh-CN")
    ),
    Set("term-gimp-ja", GIMP.format("ja"), "ja/*.html", term),
    Set("term-gimp-ko", GIMP.format("ko"), "ko/*.html", term),
    Set("term-gimp-zh", GIMP.format("zh-cn"), "zh_CN/*.html", term),
)


def main(packages: Path, output: Path, *names: str) -> None:
    for each in SETS:
        if (not names or each.name in names) and (packages / each.folder).is_dir():
            pages, judged = each.made(packages / each.folder, each.at)
            write(output / each.name, pages, judged)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:])
