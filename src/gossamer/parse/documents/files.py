"""Files that are not HTML, as parsed pages: PDF, Office, books, Markdown, JSON, XML, images."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from gossamer.parse.documents.binary import read_binary
from gossamer.parse.page import ParsedPage
from gossamer.parse.reading.body_cache import remember_latest
from gossamer.parse.reading.references import References

if TYPE_CHECKING:
    from gossamer.parse.page import Content, Rules


_latest_document = remember_latest(read_binary)


def parse_file(content: Content, rules: Rules) -> ParsedPage:
    """Parse a file with `gossamer.parse.documents`; `detail` reports damage. Never raises."""
    url = content.page.url
    document = _latest_document(content.mime, content.page.body, rules.max_text_chars)
    refused: Counter[str] = Counter()
    references = References(rules.max_links, refused)
    for link in document.links:
        references.add(link.url, link.anchor, "a")
    return ParsedPage(
        outcome=document.outcome,
        detail=document.detail,
        content_type=document.content_type,
        title=document.title,
        headings=document.headings,
        text=document.text,
        truncated=document.truncated,
        language_hint=document.language,
        authors=() if document.author is None else (document.author,),
        published=document.published,
        modified=document.modified,
        links=references.links(url, url, rules.urls),
        refused=refused,
    )
