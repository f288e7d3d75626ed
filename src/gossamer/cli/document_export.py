"""What `gossamer export` writes of pages as documents: Markdown, passages, llms.txt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gossamer.api.documents import CrawlDocuments
    from gossamer.serve.documents import Document

LLMS, LLMS_FULL, PASSAGES = "llms.txt", "llms-full.txt", "passages"
"""Names that are exported as if they were datasets."""
RENDERED = (PASSAGES, LLMS, LLMS_FULL)


def rendered_pieces(documents: CrawlDocuments, what: str, site: str) -> Iterator[bytes]:
    """Yield the pieces of the file that is written. `what`: one of RENDERED, or documents."""
    if what in (LLMS, LLMS_FULL):
        pieces = documents.llms_txt(site, full=what == LLMS_FULL)
        return (piece.encode("utf-8", "replace") for piece in pieces)
    found = documents.all(site)
    return passage_lines(found) if what == PASSAGES else markdown_pieces(found)


def markdown_pieces(documents: Iterable[Document]) -> Iterator[bytes]:
    """Yield each document with front matter: its fields in YAML, of which JSON is a part."""
    for document in documents:
        fields = msgspec.json.encode(_fields(document)).decode()
        text = f"---\n{fields}\n---\n\n{document.markdown}\n\n"
        yield text.encode("utf-8", "replace")


def passage_lines(documents: Iterable[Document]) -> Iterator[bytes]:
    """Yield a line of JSON for each passage."""
    for document in documents:
        fields = _fields(document)
        for passage in document.passages:
            yield msgspec.json.encode(msgspec.structs.asdict(passage) | fields) + b"\n"


def _fields(document: Document) -> dict[str, Any]:
    columns = ("url", "title", "language", "published_ms", "modified_ms", "truncated")
    return {name: getattr(document, name) for name in columns} | msgspec.structs.asdict(
        document.provenance
    )
