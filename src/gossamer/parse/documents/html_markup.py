"""HTML in files of other formats: chapters of EPUB, Markdown, and parts of Office documents.

It is read as a tree (lexbor) whose elements mean what the vocabulary says. There is no boilerplate
in such a file, so nothing here decides what its main text is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from selectolax.lexbor import LexborHTMLParser

from gossamer.parse.documents.document_draft import Broken
from gossamer.parse.documents.xml_markup import MAX_TAGS, Enough, Vocabulary, Walk

if TYPE_CHECKING:
    from collections.abc import Mapping

    from selectolax.lexbor import LexborNode

    from gossamer.parse.documents.document_draft import Draft

_BLOCKS = """address article aside blockquote body br caption center dd details dialog dir div dl dt
    fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr legend li main menu
    nav ol option p pre section summary table tbody td text tfoot th thead tr ul"""
_HIDDEN = """annotation annotation-xml datalist desc head metadata noscript rp rt rtc script style
    template title"""
XHTML = Vocabulary(
    hidden=frozenset(_HIDDEN.split()),
    blocks=frozenset(_BLOCKS.split()),
    headings=frozenset(("h1", "h2", "h3")),
    lines=frozenset(("pre", "textarea")),
)
"""In SVG, `text` is a line, and `title` and `desc` are shown by pointing at a picture. The readings
of ruby are left out: they would stand in the middle of words."""
_LINKS = {"a": lambda attributes: attributes.get("href")}
_TEXT = "-text"
_UNTIL_FOUND = "until-found"


class HtmlWalk(Walk):
    """The text of HTML or XHTML."""

    def __init__(self, draft: Draft) -> None:
        super().__init__(XHTML, draft, _LINKS)

    def hides(self, name: str, attributes: Mapping[str, str]) -> bool:
        """Whether an element is hidden by its name or its attribute (WHATWG HTML §6.1)."""
        if name in XHTML.hidden:
            return True
        return "hidden" in attributes and attributes["hidden"] != _UNTIL_FOUND

    def read_html(self, html: str) -> None:
        """Read a page or a fragment, whatever its errors. Raises Broken if it is too large."""
        if html.count("<") > MAX_TAGS:
            raise Broken(f"more than {MAX_TAGS:,} tags")
        root = LexborHTMLParser(html).root
        if root is not None:
            try:
                self._visit(root)
            except Enough:
                return
            self.finish()

    def _visit(self, root: LexborNode) -> None:
        """Visit every node in document order, without recursion."""
        above: list[tuple[LexborNode, str]] = []
        node: LexborNode | None = root
        while node is not None:
            name, child = node.tag or "", None
            if name == _TEXT:
                self.characters(node.text_content or "")
            elif not name.startswith(("-", "!", "_")):
                attributes = node.attributes
                self.start(name, {key: value or "" for key, value in attributes.items()})
                if (child := node.first_child) is None:
                    self.end(name)
            if child is not None:
                above.append((node, name))
                node = child
                continue
            while node.next is None and above:
                node, name = above.pop()
                self.end(name)
            node = node.next if above else None
