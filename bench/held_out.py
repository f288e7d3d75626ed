"""Makes question sets to measure changes with, not to choose weights by.

    python bench/held_out.py WEBS OUTPUT

WEBS holds unpacked packages (webs.py). OUTPUT receives a folder per set, in the format of
collection.py. The manuals and languages are others than those of question_sets.py. A question is a
text of the manual itself, and its answer is the page that this text belongs to or points to; the
text is removed from all pages:

  anchor    the text of a link; the answer is the page that it points to
  heading   the heading of a section; the answer is its page
  title     the title of a page, which its first heading repeats
  summary   the line that describes a class or function in a list; the answer is its page, without
            its first sentence, and the lists are not among the pages
"""

from __future__ import annotations

import posixpath
import re
import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote, urlsplit

import webs
from lxml import html as lxml_html
from question_sets import write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Judged = dict[str, set[str]]
    Pages = dict[str, lxml_html.HtmlElement]
    """The pages by their paths. Makers of questions remove from them what asks."""

MIN_WORDS = 2
LENGTHS = range(8, 121)
MANY = 5
"""Links of this text on more pages are navigation."""
NUMBER = re.compile(r"^(?:Chapter |Appendix )?(?:\d+(?:\.\d+)*|[A-Z](?:\.\d+)+)\.?\s+|[¶§]|^\W+")


def text_of(element: lxml_html.HtmlElement) -> str:
    return NUMBER.sub("", " ".join("".join(element.itertext()).split())).strip()


def asks(text: str) -> bool:
    spaced = not re.search(r"[\u2e80-\u9fff\uac00-\ud7af]", text)
    return len(text) in (LENGTHS if spaced else range(4, 60)) and (
        not spaced or len(set(webs.words(text))) >= MIN_WORDS
    )


def key(text: str) -> str:
    return " ".join(webs.words(text))


def targets(name: str, page: lxml_html.HtmlElement) -> Iterator[tuple[lxml_html.HtmlElement, str]]:
    """The links to other places of the same folder, with the paths of their pages."""
    for link in page.iter("a"):
        parts = urlsplit(link.get("href") or "")
        if parts.scheme or parts.netloc:
            continue
        path = posixpath.normpath(posixpath.join(posixpath.dirname(name), unquote(parts.path)))
        yield link, path if parts.path else name


def hide_links(pages: Pages, judged: Judged) -> None:
    """Remove the links to answers whose text contains the question."""
    asked: dict[str, list[str]] = defaultdict(list)
    for text, names in judged.items():
        for name in names:
            asked[name].append(key(text))
    for name, page in pages.items():
        for link, target in list(targets(name, page)):
            if any(question in key(text_of(link)) for question in asked[target]):
                link.drop_tree()


def unique(found: Judged) -> Judged:
    """The questions that belong to one page, but for case and punctuation."""
    owners: Judged = defaultdict(set)
    for text, names in found.items():
        owners[key(text)] |= names
    return {
        text: names for text, names in found.items() if asks(text) and len(owners[key(text)]) == 1
    }


def anchor(pages: Pages) -> Judged:
    found: Judged = defaultdict(set)
    sources: Judged = defaultdict(set)
    for name, page in pages.items():
        for link, target in targets(name, page):
            if target in pages and target != name:
                found[text_of(link)].add(target)
                sources[text_of(link)].add(name)
    titled = {key(text) for page in pages.values() for text in _titles(page)}
    judged = {
        text: names
        for text, names in unique(found).items()
        if len(sources[text]) <= MANY and key(text) not in titled
    }
    hide_links(pages, judged)
    return judged


def heading(pages: Pages) -> Judged:
    found: Judged = defaultdict(set)
    for name, page in pages.items():
        for element in page.xpath("//h2|//h3|//h4"):
            found[text_of(element)].add(name)
    titled = {key(text) for page in pages.values() for text in _titles(page)}
    judged = {text: names for text, names in unique(found).items() if key(text) not in titled}
    asked = {key(text) for text in judged}
    hide_links(pages, judged)
    for page in pages.values():
        for element in page.xpath("//h2|//h3|//h4"):
            if key(text_of(element)) in asked:
                element.drop_tree()
    return judged


def title(pages: Pages) -> Judged:
    found: Judged = defaultdict(set)
    for name, page in pages.items():
        head = next(page.iter("h1", "h2", "h3"), None)
        if head is not None:
            found[text_of(head)].add(name)
    judged = unique(found)
    asked = {key(text) for text in judged}
    hide_links(pages, judged)
    for page in pages.values():
        for element in page.xpath("//h1|//h2|//h3|//title|//meta"):
            if element.tag in {"title", "meta"} or key(text_of(element)) in asked:
                element.drop_tree()
    return judged


def _titles(page: lxml_html.HtmlElement) -> Iterator[str]:
    for element in page.xpath("//title|//h1|(//h2)[1]"):
        yield text_of(element)


def summary(pages: Pages) -> Judged:
    """Javadoc's and Sphinx's lists of one-line descriptions."""
    found: Judged = defaultdict(set)
    for name in list(pages):
        rows = pages[name].xpath("//table[contains(@class, 'autosummary')]//td[2]")
        if name.endswith("package-summary.html"):
            rows += pages[name].xpath("//div[contains(@class, 'col-last')][.//div[@class='block']]")
        for row in rows:
            before = row.getprevious()
            targeted = [] if before is None else [path for _, path in targets(name, before)]
            if targeted and targeted[0] in pages and targeted[0] != name:
                found[text_of(row)].add(targeted[0])
        if (
            re.search(r"package-|module-|/index|^index|allclasses|overview", name)
            or len(rows) > MANY
        ):
            del pages[name]
    judged = {text: names for text, names in unique(found).items() if names <= set(pages)}
    asked = {key(text) for text in judged}
    for page in pages.values():
        for element in page.xpath("//div[@class='block']|//dd/p|//meta[@name='description']"):
            first, _, rest = text_of(element).partition(". ")
            if key(first) in asked or element.tag == "meta":
                tail = element.tail
                element.clear()
                element.text, element.tail = rest, tail
    return judged


class Set(NamedTuple):
    name: str
    folder: str
    glob: str
    questions: Callable[[Pages], Judged]


GUIDE = "installation-guide-amd64/usr/share/doc/installation-guide-amd64"
APACHE = "apache2-doc/usr/share/doc/apache2-doc/manual"
HANDBOOK = "debian-handbook/usr/share/doc/debian-handbook/html"
DJANGO = "python-django-doc/usr/share/doc/python-django-doc/html"
JDK = "openjdk-17-doc/usr/share/doc/openjdk-17-jre-headless/api"
SCIPY = "python-scipy-doc/usr/share/doc/python-scipy-doc/html"
LINUX = "linux-doc-6.1/usr/share/doc/linux-doc-6.1/html"
SETS = (
    Set("heading-guide-it", f"{GUIDE}/it", "*.html", heading),
    Set("heading-guide-pt", f"{GUIDE}/pt", "*.html", heading),
    Set("heading-guide-ko", f"{GUIDE}/ko", "*.html", heading),
    Set("heading-guide-ja", f"{GUIDE}/ja", "*.html", heading),
    Set("heading-guide-sv", f"{GUIDE}/sv", "*.html", heading),
    Set("heading-guide-zh", f"{GUIDE}/zh_CN", "*.html", heading),
    Set("heading-linux-zh", LINUX, "translations/zh_CN/**/*.html", heading),
    Set("heading-django-en", DJANGO, "[!_]*/**/*.html", heading),
    Set("title-handbook-it", f"{HANDBOOK}/it-IT", "*.html", title),
    Set("title-handbook-pt", f"{HANDBOOK}/pt-BR", "*.html", title),
    Set("title-handbook-no", f"{HANDBOOK}/nb-NO", "*.html", title),
    Set("anchor-apache-fr", f"{APACHE}/fr", "**/*.html", anchor),
    Set("anchor-apache-tr", f"{APACHE}/tr", "**/*.html", anchor),
    Set("anchor-django-en", DJANGO, "[!_]*/**/*.html", anchor),
    Set("anchor-linux-en", LINUX, "[!t]*/**/*.html", anchor),
    Set("summary-scipy-en", SCIPY, "reference/**/*.html", summary),
    Set("summary-jdk-en", JDK, "java.base/java/**/*.html", summary),
)
LISTS = re.compile(r"quickreference|directives|sitemap|genindex|glossary|search|mod/index")
"""Pages that name everything. They are left out."""


def read(folder: Path, glob: str) -> Pages:
    found = sorted(path for path in folder.glob(glob) if path.is_file())
    paths = [path for path in found if not LISTS.search(path.relative_to(folder).as_posix())]
    return {
        path.relative_to(folder).as_posix(): lxml_html.document_fromstring(
            path.read_bytes(), parser=webs.PARSER
        )
        for path in paths
    }


def main(folder: Path, output: Path, *names: str) -> None:
    for each in SETS:
        if names and each.name not in names:
            continue
        pages = read(folder / each.folder, each.glob)
        judged = each.questions(pages)
        documents = {
            name: {"html": lxml_html.tostring(page, encoding="unicode")}
            for name, page in pages.items()
        }
        write(output / each.name, documents, judged)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:])
