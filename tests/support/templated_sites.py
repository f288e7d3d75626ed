"""Sites with a template of prose on each page, as folders of files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.planted_duplicates import prose

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path


def template(seed: int) -> list[str]:
    """Paragraphs that an extractor takes for main text: 240 words of prose."""
    return [f"Terms {' '.join(prose(seed + number, 60))}." for number in range(4)]


def write(folder: Path, pages: Mapping[str, Sequence[str]], common: Iterable[str]) -> None:
    """A site in which all pages have the same title, and links to the others on the first one."""
    folder.mkdir(exist_ok=True)
    for name, own in pages.items():
        lines = [f"{' '.join(own)}.", *common]
        body = "".join(f"<p>{line}</p>" for line in lines)
        links = "".join(f"<a href='{each}.html'>{each}</a> " for each in pages)
        text = f"<!doctype html><title>News</title><body><main>{body}</main><nav>{links}</nav>"
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
