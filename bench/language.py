"""How often is the language of a paragraph and of a title right, beside other detectors?

    apt-get download debian-handbook gnome-user-docs gnucash-docs installation-guide-amd64 \
        stellarium-data wesnoth-1.16-data firefox-esr-l10n-{ar,bg,ca,…}
    for package in *.deb; do dpkg -x $package FOLDER/languages; done
    python bench/language.py --collections FOLDER     # the packages are in FOLDER/languages

Real text in the languages of Debian's translators: manuals, a game with long dialogues, sky lore,
a browser. Texts that are identical in two languages, and those left in English, are dropped. A
paragraph has 35 words or more, a title 5 to 12 (in languages without spaces: 80 characters or more,
12 to 50). Prints the share of right answers (no answer counts as wrong), CPU µs per text, and how
much a page's declared language helps if it is right, or harms if it is wrong.
"""

import gettext
import random
import re
import tempfile
import time
import zipfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import py3langid
from harness import Options, collection, generate_text, report
from resiliparse.parse.lang import detect_fast
from selectolax.lexbor import LexborHTMLParser

from gossamer.parse.reading.language import hint_of, language_of

CODES = """
en de fr es it pt nl ca ro pl cs sk sl hr ru uk bg sr sv da no fi et lv lt hu tr el ar he fa th ko
ja zh vi id
"""
LANGUAGES = CODES.split()
PER_SOURCE = 150
NO_SPACES = {"zh", "ja", "th"}
MARKUP = re.compile(r"<[^>]+>|&[a-zA-Z]+;|%[-+ #0-9.]*[a-zA-Z]|\{[^}]*\}|\$\w+|[_&](?=\w)")
WORD = re.compile(r"[^\W\d_]+")


class Text(NamedTuple):
    language: str
    source: str
    text: str


def messages(file: Path) -> Iterator[str]:
    with file.open("rb") as stream:
        catalog = gettext.GNUTranslations(stream)._catalog  # type: ignore[attr-defined]  # noqa: SLF001
    for original, translated in catalog.items():
        if original and translated != original:
            yield from translated.splitlines()


def html(file: Path) -> Iterator[str]:
    tree = LexborHTMLParser(file.read_bytes())
    for node in tree.css("pre, code, tt"):
        node.decompose()
    for node in tree.css("p, h1, h2, h3, title, dt"):
        yield node.text()


def mallard(file: Path) -> Iterator[str]:
    for match in re.finditer(r"<(p|title|desc)\b[^>]*>(.*?)</\1>", file.read_text(), re.DOTALL):
        yield match[2]


def fluent(file: Path) -> Iterator[str]:
    with zipfile.ZipFile(file) as pack:
        for name in pack.namelist():
            if name.endswith(".ftl"):
                yield from re.findall(
                    r"^\s*\.?[\w-]+ = ([^{\n]+)$", pack.read(name).decode(), re.MULTILINE
                )


SOURCES: dict[str, tuple[str, str, Callable[[Path], Iterator[str]]]] = {
    "handbook": ("usr/share/doc/debian-handbook/html/*/*.html", r"html/([^/]+)/", html),
    "install": ("usr/share/doc/installation-guide-*/*/*.html", r"guide-[^/]+/([^/]+)/", html),
    "gnucash": ("usr/share/doc/gnucash-docs/*/**/*.html", r"gnucash-(?:guide|help)-(\w+)", html),
    "gnome": ("usr/share/help/*/**/*.page", r"help/([^/]+)/", mallard),
    "sky": ("usr/share/stellarium/skycultures/*/*.utf8", r"description\.([^.]+)\.", html),
    "wesnoth": ("usr/share/games/wesnoth/*/locale/*/*/*.mo", r"locale/([^/]+)/", messages),
    "firefox": ("usr/lib/firefox-esr/browser/extensions/*.xpi", r"langpack-([^@]+)@", fluent),
}


def read_all(folder: Path) -> Iterator[Text]:
    for source, (pattern, locale, extract) in SOURCES.items():
        for file in folder.glob(pattern):
            match = re.search(locale, str(file))
            code = {"C": "en"}.get(match[1], match[1]) if match else ""
            if (language := hint_of(code)) in LANGUAGES and "latin" not in code.lower():
                for text in extract(file):
                    yield Text(language, source, " ".join(MARKUP.sub(" ", text).split()))


def translated(texts: list[Text]) -> Iterator[Text]:
    """Drop texts that are identical in several languages or were left in English."""
    languages = defaultdict(set)
    words: Counter[str] = Counter()
    for text in texts:
        languages[text.text.lower()].add(text.language)
        if text.language == "en":
            words.update(WORD.findall(text.text.lower()))
    english = {word for word, count in words.items() if count >= 3}
    for text in texts:
        found = WORD.findall(text.text.lower())
        foreign = sum(word in english for word in found)
        limit = 0.5 if text.source in ("handbook", "gnucash") else 0.8
        if len(languages[text.text.lower()]) == 1 and (
            text.language == "en" or foreign < limit * len(found)
        ):
            yield text


def kind_of(text: Text) -> str | None:
    size, words = len(text.text), len(text.text.split())
    letters = sum(map(str.isalpha, text.text))
    if letters < 0.6 * size:
        return None
    if text.language in NO_SPACES:
        return "paragraph" if size >= 80 else "title" if 12 <= letters <= 50 else None
    if words >= 35 and size >= 200:
        return "paragraph"
    return "title" if 5 <= words <= 12 and letters >= 18 else None


def sample(folder: Path) -> dict[str, list[Text]]:
    groups = defaultdict(list)
    for text in translated(list(dict.fromkeys(read_all(folder)))):
        groups[kind_of(text), text.language, text.source].append(text)
    kinds: dict[str, list[Text]] = {"paragraph": [], "title": []}
    rng = random.Random(7)  # noqa: S311
    for (kind, *_), group in sorted(groups.items(), key=str):
        if kind:
            kinds[kind] += rng.sample(sorted(group), min(PER_SOURCE, len(group)))
    return kinds


PY3LANGID = {"nb": "no", "nn": "no"}
DETECTORS: dict[str, Callable[[str], str | None]] = {
    "gossamer": language_of,
    "py3langid": lambda text: PY3LANGID.get(code := py3langid.classify(text)[0], code),
    "resiliparse": lambda text: detect_fast(text, cutoff=1_000_000)[0],
}


def print_accuracy(kind: str, texts: list[Text]) -> list[float]:
    """Print the shares of right answers, and return those of each detector."""
    count = Counter(text.language for text in texts)
    print(f"\n{kind:10}{'texts':>7}" + "".join(f"{name:>13}" for name in DETECTORS) + "   confused")
    right: dict[str, Counter[str]] = {name: Counter() for name in DETECTORS}
    answers: dict[str, Counter[str]] = defaultdict(Counter)
    costs = []
    for name, detect in DETECTORS.items():
        start = time.thread_time()
        found = [detect(text.text) for text in texts]
        costs.append((time.thread_time() - start) / len(texts) * 1e6)
        for text, answer in zip(texts, found, strict=True):
            right[name][text.language] += answer == text.language
            if name == "gossamer":
                answers[text.language][answer or "none"] += answer != text.language
    for code in LANGUAGES:
        if count[code]:
            cells = "".join(f"{right[name][code] / count[code]:13.1%}" for name in DETECTORS)
            confused = " ".join(f"{to}:{n}" for to, n in answers[code].most_common(4) if n)
            print(f"{code:10}{count[code]:7}{cells}   {confused}")
    shares = [sum(right[name].values()) / len(texts) for name in DETECTORS]
    print(f"{'all':10}{len(texts):7}" + "".join(f"{share:13.2%}" for share in shares))
    print(f"{'µs':17}" + "".join(f"{cost:13.1f}" for cost in costs))
    return shares


def print_evidence(kinds: dict[str, list[Text]]) -> None:
    print(f"\n{'gossamer':24}{'answered':>10}{'right of these':>16}")
    spaced = [text for text in kinds["title"] if text.language not in NO_SPACES]
    parts: dict[str, list[tuple[str, str, str | None]]] = {
        f"first {n} words": [(t.language, " ".join(t.text.split()[:n]), None) for t in spaced]
        for n in (1, 2, 3)
    }
    rng = random.Random(7)  # noqa: S311
    hints: dict[str, Callable[[str], str | None]] = {
        "titles": lambda _: None,
        "titles, page right": lambda language: language,
        "titles, page says en": lambda _: "en",
        "titles, page says any": lambda _: rng.choice(LANGUAGES),
    }
    for label, hint in hints.items():
        parts[label] = [(t.language, t.text, hint(t.language)) for t in kinds["title"]]
    for label, cases in parts.items():
        answers = [(language, language_of(text, hint)) for language, text, hint in cases]
        given = [(language, answer) for language, answer in answers if answer]
        right = sum(language == answer for language, answer in given)
        print(f"{label:24}{len(given) / len(cases):10.1%}{right / max(len(given), 1):16.2%}")


def generate(folder: Path) -> Path:
    """Write a handbook in some languages, where sources are expected."""
    for language in ("de", "en", "es", "fr"):
        pages = folder / "usr/share/doc/debian-handbook/html" / language
        pages.mkdir(parents=True)
        lines = generate_text(language, language, 50).splitlines()
        titles = "".join(f"<h2>{' '.join(line.split()[:8])}</h2>" for line in lines)
        text = f"{titles}<p>{'<p>'.join(lines)}"
        (pages / "index.html").write_text(f"<!doctype html><meta charset=utf-8>{text}", "utf-8")
    return folder


def main() -> None:
    options = Options(__doc__).read()
    with tempfile.TemporaryDirectory() as scratch:
        kinds = sample(collection(options, "languages") or generate(Path(scratch)))
    shares = {kind: print_accuracy(kind, texts) for kind, texts in kinds.items()}
    print_evidence(kinds)
    (paragraphs, *_), (titles, their_titles, *_) = shares["paragraph"], shares["title"]
    report(f"{paragraphs:.1%} of paragraphs, {titles:.1%} of titles (py3langid {their_titles:.1%})")


if __name__ == "__main__":
    main()
