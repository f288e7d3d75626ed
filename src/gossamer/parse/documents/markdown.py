"""Markdown: CommonMark with tables and HTML, and the front matter of static site generators.

It is rendered to HTML and read as that, as browsers do: an element may begin in one block and end
in another, with Markdown between them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML

from gossamer.parse.documents.front_matter import split_front_matter
from gossamer.parse.documents.html_markup import HtmlWalk
from gossamer.parse.reading.charset import decode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it.token import Token
    from markdown_it.utils import EnvType, OptionsDict

    from gossamer.parse.documents.document_draft import Draft

MAX_CHARS = 300_000
"""Characters that are parsed as Markdown, in 2 s: markdown-it-py takes up to 6 µs for each."""


def read_markdown(body: bytes, draft: Draft) -> None:
    """Read Markdown. What follows MAX_CHARS characters is read as plain lines."""
    text = decode(body, None)[0].replace("\r\n", "\n")
    metadata, text = split_front_matter(text)
    draft.metadata.update(metadata)
    parser = MarkdownIt("commonmark", renderer_cls=_Renderer).enable("table")
    HtmlWalk(draft).read_html(str(parser.render(text[:MAX_CHARS])))
    for line in text[MAX_CHARS:].split("\n"):
        if not draft.say(line):
            return


class _Renderer(RendererHTML):
    """Renders images as their alternative text, and each target of links only once.

    A definition that is used often would multiply otherwise.
    """

    def __init__(self, parser: object = None) -> None:
        super().__init__(parser)
        self._known: set[str] = set()

    def link_open(
        self,
        tokens: Sequence[Token],
        idx: int,
        options: OptionsDict,  # noqa: ARG002  # the renderer calls all rules alike
        env: EnvType,  # noqa: ARG002
    ) -> str:
        url = str(tokens[idx].attrs.get("href", ""))
        if url in self._known:
            return "<a>"
        self._known.add(url)
        return f'<a href="{escapeHtml(url)}">'

    def image(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return escapeHtml(self.renderInlineAsText(tokens[idx].children, options, env))
