"""Write paragraphs that Debian has in several languages, for across_languages.py.

    apt-get download debian-handbook libreoffice-help-{de,en-us,fr,…}
    for package in *.deb; do dpkg -x $package FOLDER; done
    python bench/gather_translations.py FOLDER COLLECTIONS/cross

They are those of the Debian Administrator's Handbook, where the paragraphs of a page follow each
other in the same order in all languages, and of LibreOffice's help, where a paragraph has the same
id. What is not translated, and so equal to the English text, is left out.
"""

from __future__ import annotations

import html
import json
import re
import sys
from collections import defaultdict
from pathlib import Path

HELP = "usr/share/libreoffice/help/{}/text"
HANDBOOK = "usr/share/doc/debian-handbook/html/{}"
_OF_HELP = re.compile(r'<p [^>]*?id="(par_id[^"]*)"[^>]*>(.*?)</p>', re.DOTALL)
_OF_HANDBOOK = re.compile(r'<div class="para">(.*?)</div>', re.DOTALL)
_TAG, _SPACES = re.compile(r"<[^>]+>"), re.compile(r"\s+")
_VARIANTS = {"zh-TW", "en-GB"}
"""Second variants of a language."""


def help_paragraphs(folder: Path) -> dict[str, str]:
    """The paragraphs of a language, by the name of their page and their id."""
    found: dict[str, str] = {}
    for file in sorted(folder.rglob("*.html")):
        page = file.relative_to(folder).as_posix()
        for name, body in _OF_HELP.findall(file.read_text(encoding="utf-8")):
            found.setdefault(f"help/{page}#{name}", plain(body))
    return found


def handbook_paragraphs(folder: Path) -> dict[str, str]:
    """The paragraphs of a language, by the name of their page and their number."""
    return {
        f"handbook/{file.name}#{number}": plain(body)
        for file in sorted(folder.glob("*.html"))
        for number, body in enumerate(_OF_HANDBOOK.findall(file.read_text(encoding="utf-8")))
    }


def plain(body: str) -> str:
    return _SPACES.sub(" ", html.unescape(_TAG.sub("", body))).strip()


def main() -> None:
    unpacked, target = map(Path, sys.argv[1:])
    target.mkdir(parents=True, exist_ok=True)
    texts: dict[str, dict[str, str]] = defaultdict(dict)
    for pattern, read in ((HELP, help_paragraphs), (HANDBOOK, handbook_paragraphs)):
        english = read(unpacked / pattern.format("en-US"))
        for folder in sorted(unpacked.glob(pattern.format("[a-z][a-z]*"))):
            name = folder.parent.name if folder.name == "text" else folder.name
            if name in _VARIANTS:
                continue
            language, found = name.partition("-")[0], read(folder)
            if language != "en":
                found = {key: text for key, text in found.items() if text != english.get(key)}
            texts[language] |= {key: text for key, text in found.items() if text}
    for language, found in texts.items():
        file = target / f"{language}.json"
        file.write_text(json.dumps(found, ensure_ascii=False), encoding="utf-8")
        print(f"{language}: {len(found):,} paragraphs")


if __name__ == "__main__":
    main()
