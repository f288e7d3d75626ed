"""Write the paragraphs of LibreOffice's help in several languages, for across_languages.py.

    apt-get download libreoffice-help-{de,en-us,fr,…}
    for package in *.deb; do dpkg -x $package FOLDER; done
    python bench/gather_translations.py FOLDER COLLECTIONS/cross

A paragraph of this help has the same page and id in all languages. What is not translated, and so
equal to the English text, is left out.
"""

from __future__ import annotations

import html
import json
import re
import sys
from pathlib import Path

HELP = "usr/share/libreoffice/help"
_PARAGRAPH = re.compile(r'<p [^>]*?id="(par_id[^"]*)"[^>]*>(.*?)</p>', re.DOTALL)
_TAG, _SPACES = re.compile(r"<[^>]+>"), re.compile(r"\s+")


def paragraphs(folder: Path) -> dict[str, str]:
    """The paragraphs of a language, by the name of their page and their id."""
    found: dict[str, str] = {}
    for file in sorted(folder.rglob("*.html")):
        page = file.relative_to(folder).as_posix()
        for name, body in _PARAGRAPH.findall(file.read_text(encoding="utf-8")):
            if text := _SPACES.sub(" ", html.unescape(_TAG.sub("", body))).strip():
                found.setdefault(f"{page}#{name}", text)
    return found


def main() -> None:
    unpacked, target = map(Path, sys.argv[1:])
    target.mkdir(parents=True, exist_ok=True)
    folders = sorted((unpacked / HELP).glob("*/text"))
    english = paragraphs(unpacked / HELP / "en-US" / "text")
    for folder in folders:
        language = folder.parent.name.partition("-")[0]
        texts = paragraphs(folder)
        if language != "en":
            texts = {name: text for name, text in texts.items() if english.get(name) != text}
        (target / f"{language}.json").write_text(
            json.dumps(texts, ensure_ascii=False), encoding="utf-8"
        )
        print(f"{language}: {len(texts):,} paragraphs")


if __name__ == "__main__":
    main()
