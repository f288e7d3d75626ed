"""Formats that are text: Markdown, JSON, and XML of any vocabulary."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import msgspec

from gossamer.parse.documents.document_draft import MAX_ANCHOR_CHARS, Broken, is_web_url
from gossamer.parse.documents.xml_markup import Enough, parse_xml
from gossamer.parse.reading.charset import decode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from markdown_it.token import Token

    from gossamer.parse.documents.document_draft import Draft

MAX_MARKDOWN_CHARS = 300_000
"""Characters that are parsed as Markdown, in 2 s."""

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.{0,20000}?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_ENTRY = re.compile(r"""^([A-Za-z_]{1,40}):[ \t]+["']?(.+?)["']?[ \t]*$""", re.MULTILINE)
_FIELDS = {
    **dict.fromkeys(("title", "headline", "name"), "title"),
    **dict.fromkeys(("author", "creator"), "author"),
    **dict.fromkeys(
        ("date", "datePublished", "published", "published_at", "created_at"), "published"
    ),
    **dict.fromkeys(("lastmod", "dateModified", "modified", "updated", "updated_at"), "modified"),
    **dict.fromkeys(("lang", "language", "inLanguage"), "language"),
}
"""Names of metadata in front matter and in JSON; the first one present is used."""
_LENIENT = json.JSONDecoder(strict=False, parse_int=float)


def read_markdown(body: bytes, draft: Draft) -> None:
    """Read CommonMark, with the front matter of static site generators.

    markdown-it-py takes up to 6 µs per character. So what follows MAX_MARKDOWN_CHARS characters is
    read as plain lines.
    """
    text = decode(body, None)[0].replace("\r\n", "\n")
    text, rest = text[:MAX_MARKDOWN_CHARS], text[MAX_MARKDOWN_CHARS:]
    if front := _FRONT_MATTER.match(text):
        for key, value in _ENTRY.findall(front[1]):
            if key in _FIELDS:
                draft.metadata.setdefault(_FIELDS[key], value)
        text = text[front.end() :]
    _read_commonmark(text, draft)
    for line in rest.split("\n"):
        draft.say(line)


def _read_commonmark(text: str, draft: Draft) -> None:
    from markdown_it import MarkdownIt

    heading = False
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        if token.type == "heading_open":
            heading = token.tag in ("h1", "h2", "h3")
        elif token.type == "inline":
            line = _inline(token.children or (), draft)
            if heading:
                draft.head(line)
            draft.say(line)
        elif token.type in ("fence", "code_block"):
            for line in token.content.split("\n"):
                draft.say(line)
        else:
            heading = False


def _inline(tokens: Sequence[Token], draft: Draft) -> str:
    """Return the text of a block; add its links to the draft."""
    pieces: list[str] = []
    starts: list[tuple[str, int]] = []
    for token in tokens:
        if token.type == "link_open":
            starts.append((str(token.attrs.get("href", "")), len(pieces)))
        elif token.type == "link_close":
            url, start = starts.pop()
            draft.link(url, "".join(pieces[start:][:MAX_ANCHOR_CHARS]))
        elif token.type in ("softbreak", "hardbreak"):
            pieces.append(" ")
        elif token.type != "html_inline":
            pieces.append(token.content)  # for an image, its alternative text
    return "".join(pieces)


def read_json(body: bytes, draft: Draft) -> None:
    """Read all string values of a JSON file in order; URLs become links. Raises Broken."""
    try:
        root = _json(decode(body, "utf-8")[0])
    except (ValueError, RecursionError) as error:
        raise Broken(f"not JSON: {error}") from error
    first = root[0] if isinstance(root, list) and len(root) == 1 else root
    if isinstance(first, dict):
        for key, field in _FIELDS.items():
            if (value := _name(first.get(key))) is not None:
                draft.metadata.setdefault(field, value)
    for value in _strings(root):
        if is_web_url(value):
            draft.link(value)
        elif not draft.say(value):
            return


def _json(text: str) -> Any:
    """Decode JSON. The json module accepts what msgspec rejects: huge integers, lone surrogates."""
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return _LENIENT.decode(text)


def _strings(root: Any) -> Iterator[str]:
    """Yield all strings in a value in order, with a stack, as values may be deeply nested."""
    ahead = [root]
    while ahead:
        value = ahead.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            ahead.extend(reversed(value.values()))
        elif isinstance(value, list):
            ahead.extend(reversed(value))


def _name(value: Any) -> str | None:
    """Return a string, or the name of an object, which is how JSON-LD describes persons."""
    if isinstance(value, list) and value:
        value = value[0]
    if isinstance(value, dict):
        value = value.get("name")
    return value if isinstance(value, str) and value else None


def read_xml(body: bytes, draft: Draft) -> None:
    """Read the text of all elements. Raises Broken.

    The first element named title is the title; attributes and elements that contain only a URL are
    links.
    """
    text = _AnyText(draft)
    with suppress(Enough):
        parse_xml(body, text.start, text.end, text.characters)


class _AnyText:
    """Makes a line of each element, except those that start in the middle of text.

    `_line` is the text so far of the innermost element that is a line. `_inline` has for each open
    element whether it is part of the line around it.
    """

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._line: list[str] = []
        self._has_words = False
        self._inline: list[bool] = []

    def start(self, _: str, attributes: Mapping[str, str]) -> None:
        self._inline.append(self._has_words)
        for value in attributes.values():
            self._draft.link(value)

    def characters(self, text: str) -> None:
        self._line.append(text)
        self._has_words = self._has_words or not text.isspace()

    def end(self, name: str) -> None:
        if self._inline.pop():
            return
        line = "".join(self._line)
        self._line.clear()
        self._has_words = False
        if name == "title" and line.strip():
            self._draft.metadata.setdefault("title", line)
        if is_web_url(line.strip()):
            self._draft.link(line)
        elif not self._draft.say(line):
            raise Enough
