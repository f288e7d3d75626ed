"""Makes collections in many languages from packages of Debian, for relevance.py.

    apt-get download libreoffice-help-ko gnome-user-docs manpages-de gnome-shell-common ...
    for each in *.deb; do dpkg -x $each unpacked/${each%%_*}; done
    python bench/gather.py unpacked COLLECTIONS/ir

What somebody wrote about a text is the query, and the text the answer:

    index     entries of the index of LibreOffice's help, and the pages that they lead to
    manual    the line of a manual page that says what it is for, and the rest of the page
    setting   the summary of a setting (GSettings), and its description
    help      titles and summaries of pages of GNOME's help, and the pages without them

Untranslated texts are left out: those that equal the English ones, or are in another script.
"""

from __future__ import annotations

import argparse
import gettext
import gzip
import html
import json
import re
import unicodedata
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from xml.etree import ElementTree as ET

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

MAX_ANSWERS = 4
"""Documents that answer a query; what leads to more of them is too general."""
MIN_QUERIES = 40
MIN_CHARS = 80
SHARE = 0.4
"""The share of letters that a text has in the script of its language."""
SCRIPTS = {
    **dict.fromkeys(("ar", "fa"), "ARABIC"),
    **dict.fromkeys(("be", "bg", "mk", "ru", "sr", "uk"), "CYRILLIC"),
    "el": "GREEK",
    "he": "HEBREW",
    "hi": "DEVANAGARI",
    "km": "KHMER",
    "ko": "HANGUL",
    "ja": "HIRAGANA KATAKANA CJK",
    "ta": "TAMIL",
    "th": "THAI",
    "zh": "CJK",
}


class Pair(NamedTuple):
    """A query, and the text that answers it."""

    query: str
    title: str
    text: str


def plain(markup: str) -> str:
    """The text of some markup, in one line."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", markup)).split())


def is_in(text: str, language: str) -> bool:
    """Whether enough letters of a text are in the script of the language."""
    if language not in SCRIPTS:
        return True
    letters = [each for each in text if unicodedata.category(each)[0] in "LM"]
    names = (re.split("[ -]", unicodedata.name(each, " "))[0] for each in letters)
    return bool(letters) and sum(each in SCRIPTS[language] for each in names) >= SHARE * len(
        letters
    )


def write(folder: Path, kind: str, language: str, pairs: Iterable[Pair]) -> None:
    """Write the collection of some pairs, if there are enough in this language."""
    documents: dict[tuple[str, str], str] = {}
    answers: dict[str, set[str]] = defaultdict(set)
    for query, title, text in pairs:
        if is_in(text, language) and is_in(query, language):
            document = documents.setdefault((title, text), f"d{len(documents)}")
            answers[query].add(document)
    asked = {query: found for query, found in answers.items() if len(found) <= MAX_ANSWERS}
    if len(asked) < MIN_QUERIES:
        return
    target = folder / f"{kind}-{language}"
    target.mkdir(parents=True, exist_ok=True)
    rows = [{"id": name, "title": key[0], "text": key[1]} for key, name in documents.items()]
    queries = [{"id": f"q{number}", "text": query} for number, query in enumerate(asked)]
    for file, lines in (("docs.jsonl", rows), ("queries.jsonl", queries)):
        written = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)
        (target / file).write_text(written, encoding="utf-8")
    judged = [
        f"q{number}\t{document}\t1\n"
        for number, found in enumerate(asked.values())
        for document in sorted(found)
    ]
    (target / "qrels.tsv").write_text("".join(judged), encoding="utf-8")
    print(f"{target.name}: {len(rows):,} documents, {len(queries):,} queries", flush=True)


def index_entries(root: Path) -> Iterator[tuple[str, Iterator[Pair]]]:
    """By language, the entries of LibreOffice's help."""
    entry = re.compile(r'url:"([^"?]+)[^"]*", app:"[^"]*", text:"([^"\\]*)"')
    files = {
        path.parent.name: path for path in root.glob("*/usr/share/libreoffice/help/*/bookmarks.js")
    }
    english = files.pop("en-US", None)
    known = {text for _, text in entry.findall(english.read_text("utf-8"))} if english else set()
    for name, path in sorted(files.items()):

        def pairs(path: Path = path) -> Iterator[Pair]:
            pages: dict[str, tuple[str, str]] = {}
            for address, text in entry.findall(path.read_text("utf-8")):
                if address not in pages and (path.parents[1] / address).exists():
                    pages[address] = help_page((path.parents[1] / address).read_text("utf-8"))
                title, body = pages.get(address, ("", ""))
                query = text.replace(" -- ", " ")
                if text not in known and len(body) >= MIN_CHARS and query != title:
                    yield Pair(query, title, body)

        if "-" not in name or name == "zh-CN":
            yield name.partition("-")[0], pairs()


def help_page(page: str) -> tuple[str, str]:
    """The title and text of a page of LibreOffice's help."""
    title = re.search(r"<title>(.*?)</title>", page, re.DOTALL)
    body = re.search(r'<div id="DisplayArea".*?>(.*?)(?:<footer|</body>)', page, re.DOTALL)
    return plain(title[1]) if title else "", plain(body[1]) if body else ""


def manual_pages(root: Path) -> Iterator[tuple[str, Iterator[Pair]]]:
    """By language, the manual pages of translated packages."""
    for package in sorted(root.glob("manpages-*")):
        pages = [path for path in sorted(package.rglob("man*/*.gz")) if not path.is_symlink()]
        yield package.name.split("-")[1], (pair for path in pages for pair in manual_page(path))


def manual_page(path: Path) -> Iterator[Pair]:
    """A manual page, whose first section says what it is for."""
    with gzip.open(path, "rt", encoding="utf-8", errors="replace") as file:
        _, *parts = re.split(r'(?m)^\.\s*S[Hh]\s+"?(.*?)"?\s*$', file.read())
    if len(parts) > 2:
        about = re.split(r"\s[-–—]+\s", without_macros(parts[1]), maxsplit=1)
        text = "\n\n".join(without_macros(part) for part in parts[2:])
        if len(about) > 1 and len(text) >= MIN_CHARS:
            yield Pair(about[1].strip(" ."), path.name.split(".")[0], text)


def without_macros(text: str) -> str:
    """The text of a section without requests and escapes of troff."""
    text = re.sub(r"(?m)^\.\s*(?:B|I|BR|BI|IR|RB|RI|IB|TP|IP)\b *(.*)$", r"\1", text)
    text = re.sub(r"(?m)^[.'].*\n?", "\n", text).replace(r"\-", "-")
    text = re.sub(r"\\(?:f(?:\(..|\[[^]]*\]|.)|[*]?\(..|[*]?\[[^]]*\]|[&%:/,^|e ])", "", text)
    return " ".join(text.split())


def settings(root: Path) -> Iterator[tuple[str, Iterator[Pair]]]:
    """By language, the settings of programs that use GSettings."""
    keys = {}
    for path in sorted(root.rglob("*.gschema.xml")):
        for key in ET.parse(path).iter("key"):  # noqa: S314 (a package of Debian)
            both = [
                " ".join((key.findtext(name) or "").split()) for name in ("summary", "description")
            ]
            if all(both) and both[0].strip(".") != both[1].strip("."):
                keys[both[1]] = both[0]
    catalogs: dict[str, list[Path]] = defaultdict(list)
    for path in sorted(root.rglob("locale/*/LC_MESSAGES/*.mo")):
        catalogs[path.parents[1].name].append(path)
    for name, paths in sorted(catalogs.items()):
        if "_" not in name or name == "zh_CN":
            messages = translations(paths)
            found = (
                (messages.get(summary), messages.get(text), text) for text, summary in keys.items()
            )
            yield (
                name.partition("_")[0],
                (
                    Pair(query, "", text)
                    for query, text, old in found
                    if query and text and text != old
                ),
            )


def translations(paths: Iterable[Path]) -> Mapping[str, str]:
    """The messages of some catalogues."""
    found: dict[str, str] = {}
    for path in paths:
        with path.open("rb") as file:
            catalog = gettext.GNUTranslations(file)._catalog  # type: ignore[attr-defined] # noqa: SLF001
        for message, text in catalog.items():
            if isinstance(message, str) and text:
                found[" ".join(message.rpartition("\4")[2].split())] = " ".join(text.split())
    return found


def help_pages(root: Path) -> Iterator[tuple[str, Iterator[Pair]]]:
    """By language, the pages of GNOME's help."""
    base = root / "gnome-user-docs/usr/share/help"
    for folder in sorted(base.glob("*/gnome-help")):
        name = folder.parent.name
        if name == "zh_CN" or not re.search("[_@]|^C$", name):
            pages = (
                (path, base / "C/gnome-help" / path.name) for path in sorted(folder.glob("*.page"))
            )
            yield name.partition("_")[0], (pair for page in pages for pair in about_page(*page))


def about_page(path: Path, english: Path) -> Iterator[Pair]:
    """The title and summary of a page, and its text, if they are translated."""
    (names, text), (known, before) = map(mallard, (path, english))
    if text != before and len(text) >= MIN_CHARS:
        yield from (Pair(name, "", text) for name in names - known if name)


def mallard(path: Path) -> tuple[set[str], str]:
    """The title and summary of a page, and the text below."""
    info, _, text = path.read_text("utf-8").partition("</info>")
    title = re.search(r"<title>(.*?)</title>", text, re.DOTALL)
    summary = re.search(r"<desc>(.*?)</desc>", info, re.DOTALL)
    names = {plain(found[1]) for found in (title, summary) if found}
    return names, plain(text.replace(title[0], "", 1) if title else text)


SOURCES = {
    "index": index_entries,
    "manual": manual_pages,
    "setting": settings,
    "help": help_pages,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("packages", type=Path, help="folders into which packages were unpacked")
    parser.add_argument("target", type=Path, help="where the collections are written")
    options = parser.parse_args()
    for name, source in SOURCES.items():
        for language, pairs in source(options.packages):
            write(options.target, name, language, pairs)


if __name__ == "__main__":
    main()
