"""Makes judged question sets from manuals that Debian packages: pages, questions, and answers.

    python bench/question_sets.py PACKAGES OUTPUT

PACKAGES holds unpacked packages (`dpkg -x`), in any folders. OUTPUT receives a folder per set, in
the format of `bench/relevance.py`. The questions were written by the authors of the manuals, for
readers, and the text that asks them is left out of the pages:

  whatis-LANGUAGE         what a manual page describes, from its NAME section, which its page lacks
  libreoffice-LANGUAGE    entries of the help's index, each with the pages that they point to
  index-MANUAL-LANGUAGE   entries of a DocBook manual's index: GIMP's in several languages,
                          PostgreSQL's. The index itself is not among the pages

A question has at most MAX_ANSWERS answers, of gain 1. Sets are the same on each run.
"""

from __future__ import annotations

import gzip
import json
import random
import re
import sys
from collections import defaultdict
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

MAX_PAGES = 2_500
QUESTIONS = 200
MIN_QUESTIONS = 50
MAX_ANSWERS = 3
MIN_CHARS = 300
"""Shorter manual pages only point to others."""
MAX_CHARS = 100_000

LANGUAGES = {
    "en-US": "en",
    "pt-BR": "pt",
    "pt_BR": "pt",
    "zh-CN": "zh",
    "zh-TW": "tw-zh",
    "zh_CN": "zh",
    "zh_TW": "tw-zh",
}
"""Names of folders that are not ISO 639-1."""

Judged = dict[str, set[str]]
"""The pages that answer each question."""

_ROFF = re.compile(
    r"\\f(?:\[[^\]]*\]|\([A-Za-z]{2}|.)|\\s[-+]?\d|\\[&,/|:%^]|\\\*\([A-Za-z]{2}", re.DOTALL
)
_ESCAPES = {"\\-": "-", "\\(em": "—", "\\(aq": "'", "\\e": "\\", "\\ ": " ", "\\~": " "}
_BOOKMARK = re.compile(r'\{url:"([^"#?]+)[^"]*", app:"\w*", text:"([^"]*)"')
_ENTRY = re.compile(
    r"<(/?)(dl|dd|dt)\b[^>]*>(?:([^<]*?),?\s*(?=<))?((?:(?!</?d[dlt]\b).)*)", re.DOTALL
)
_TARGET = re.compile(r'href="([^"#]+)')


def plain(roff: str) -> str:
    """The text of roff without requests and fonts."""
    text = _ROFF.sub("", roff)
    for escape, character in _ESCAPES.items():
        text = text.replace(escape, character)
    return re.sub(r"^[.'](?:\\\".*|[A-Z]{1,2}\b|[a-z]{2}\b.*|)", "", text, flags=re.MULTILINE)


def manual_pages(folder: Path) -> Iterator[tuple[str, str, str]]:
    """The name, the description and the rest of each manual page of a folder `man/LANGUAGE`."""
    for path in sorted(folder.glob("man[1-8]/*.gz")):
        if path.is_symlink():
            continue
        source = gzip.decompress(path.read_bytes()).decode("utf-8", "replace")
        _, *sections = re.split(r'^\.S[Hh] *"?', source, flags=re.MULTILINE)
        if len(sections) < 2:
            continue
        head = plain(sections[0].partition("\n")[2])
        description = " ".join(re.split(r" [-—–] ", head, maxsplit=1)[-1].split())
        rest = "\n".join(plain(section).replace('"', "") for section in sections[1:])
        if " - " in head and len(rest) >= MIN_CHARS and 2 < len(description) < 120:
            yield path.name.removesuffix(".gz"), description, rest[:MAX_CHARS]


def whatis(packages: Path, output: Path) -> None:
    by_language: dict[str, dict[str, tuple[str, str]]] = defaultdict(dict)
    for folder in sorted(packages.rglob("man/*")):
        if not folder.is_dir() or folder.is_symlink():
            continue
        language = "en" if folder.name.startswith("man") else folder.name
        at = folder.parent if language == "en" else folder
        for name, description, text in manual_pages(at):
            by_language[LANGUAGES.get(language, language)][name] = (description, text)
    for language, pages in by_language.items():
        judged: Judged = defaultdict(set)
        for name, (description, _) in pages.items():
            judged[description].add(name)
        texts = {name: {"title": name, "text": text} for name, (_, text) in pages.items()}
        write(output / f"whatis-{language}", texts, judged)


def libreoffice(packages: Path, output: Path) -> None:
    for bookmarks in sorted(packages.rglob("help/*/bookmarks.js")):
        judged: Judged = defaultdict(set)
        for url, text in _BOOKMARK.findall(bookmarks.read_text(encoding="utf-8")):
            judged[" ".join(unescape(text).replace("--", " ").split())].add(url)
        root = bookmarks.parent.parent
        named = {url for urls in judged.values() for url in urls}
        language = bookmarks.parent.name
        write(
            output / f"libreoffice-{LANGUAGES.get(language, language)}",
            html_pages({name: root / name for name in named}),
            judged,
        )


def docbook(packages: Path, output: Path) -> None:
    found = [*packages.rglob("gimp-help-index.html"), *packages.rglob("bookindex.html")]
    for index in sorted(found):
        folder = index.parent
        language = folder.name if "gimp" in index.name else "en"
        manual = "gimp" if "gimp" in index.name else "postgresql"
        pages = {path.name: path for path in folder.glob("*.html") if path != index}
        source = index.read_text(encoding="utf-8")
        write(
            output / f"index-{manual}-{LANGUAGES.get(language, language)}",
            html_pages(pages),
            index_entries(source),
        )


def index_entries(source: str) -> Judged:
    """The entries of a DocBook index, with the entry above each one that is nested."""
    judged: Judged = defaultdict(set)
    above: list[str] = []
    entry = ""
    for closing, tag, name, rest in _ENTRY.findall(source):
        if tag == "dd":
            above = above[:-1] if closing else [*above, entry]
        elif tag == "dt" and not closing:
            entry = " ".join(unescape(re.sub(r"<[^>]*>", " ", name)).split()).rstrip(",")
            question = " ".join([*filter(None, above), entry])
            judged[question].update(_TARGET.findall(rest))
    return {question: pages for question, pages in judged.items() if question and pages}


def html_pages(paths: Mapping[str, Path]) -> dict[str, dict[str, str]]:
    return {
        name: {"html": path.read_text(encoding="utf-8", errors="replace")}
        for name, path in sorted(paths.items())
        if path.is_file()
    }


def write(folder: Path, pages: Mapping[str, Mapping[str, str]], judged: Judged) -> None:
    """Write a set of at most MAX_PAGES pages and QUESTIONS questions, if there are enough."""
    draw = random.Random(1)  # noqa: S311  # reproducible
    names = sorted(pages)
    kept = set(draw.sample(names, min(MAX_PAGES, len(names))))
    questions = sorted(
        question
        for question, answers in judged.items()
        if len(answers) <= MAX_ANSWERS and answers <= kept
    )
    if len(questions) < MIN_QUESTIONS:
        return
    asked = draw.sample(questions, min(QUESTIONS, len(questions)))
    folder.mkdir(parents=True, exist_ok=True)
    numbers = {name: str(number) for number, name in enumerate(sorted(kept))}
    _lines(
        folder / "docs.jsonl",
        (
            {"id": numbers[name], "url": f"http://{folder.name}.example/{name}", **pages[name]}
            for name in sorted(kept)
        ),
    )
    _lines(
        folder / "queries.jsonl",
        ({"id": str(number), "text": question} for number, question in enumerate(asked)),
    )
    (folder / "qrels.tsv").write_text(
        "".join(
            f"{number}\t{numbers[name]}\t1\n"
            for number, question in enumerate(asked)
            for name in sorted(judged[question])
        ),
        encoding="utf-8",
    )
    print(f"{folder.name}: {len(kept)} pages, {len(asked)} questions")


def _lines(path: Path, rows: Iterable[Mapping[str, str]]) -> None:
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.write_text(text, encoding="utf-8")


def main(packages: Path, output: Path) -> None:
    whatis(packages, output)
    libreoffice(packages, output)
    docbook(packages, output)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
