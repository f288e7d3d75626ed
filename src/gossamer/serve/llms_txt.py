"""The llms.txt of a site: which pages it has, for language models (https://llmstxt.org).

The file begins with the name of the site as a heading, and has a list of links in a section.
llms-full.txt has the pages themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer.parse.rendition.escaping import escape, escape_url

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gossamer.serve.documents import Document, Entry

MAX_NOTE_CHARS = 200


def llms_txt(site: str, entries: Iterable[Entry]) -> Iterator[str]:
    """Yield the lines of an llms.txt, with line ends."""
    yield f"# {escape(site)}\n\n"
    yield f"> Pages of {escape(site)} as they were crawled, the most important ones first.\n\n"
    yield "## Pages\n\n"
    for entry in entries:
        title = escape(_folded(entry.title) or entry.url, in_link=True)
        note = escape(_folded(entry.note)[:MAX_NOTE_CHARS])
        yield f"- [{title}]({escape_url(entry.url)})" + (f": {note}" if note else "") + "\n"


def llms_full_txt(site: str, documents: Iterable[Document]) -> Iterator[str]:
    """Yield the pieces of an llms-full.txt: the pages, each after its address."""
    yield f"# {escape(site)}\n"
    for document in documents:
        yield f"\n---\n\n<{escape_url(document.url)}>\n\n{document.markdown}\n"


def _folded(text: str) -> str:
    return " ".join(text.split())
