"""Markdown rendered back to HTML, by an independent implementation of CommonMark and GFM's tables.

markdown-it turns a NUL into U+FFFD and line ends into line feeds, as CommonMark says (§2.1, §2.3).
"""

from __future__ import annotations

from html.parser import HTMLParser

from markdown_it import MarkdownIt

RENDERER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
_INLINE = frozenset(("a", "b", "code", "em", "i", "img", "s", "strong"))


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002
        self.tags.append(tag)
        self._divide(tag)

    def handle_endtag(self, tag: str) -> None:
        self._divide(tag)

    def handle_data(self, data: str) -> None:
        self.parts.append(data)

    def _divide(self, tag: str) -> None:
        if tag not in _INLINE:
            self.parts.append("\n")


def html_of(markdown: str) -> str:
    return str(RENDERER.render(markdown))


def text_of(markdown: str) -> str:
    """Return the text that readers see, with white space folded."""
    reader = _Text()
    reader.feed(html_of(markdown))
    reader.close()
    return " ".join("".join(reader.parts).split())


def tags_of(markdown: str) -> list[str]:
    """Return the elements, in the order of their starts."""
    reader = _Text()
    reader.feed(html_of(markdown))
    reader.close()
    return reader.tags
