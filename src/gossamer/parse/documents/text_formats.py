"""JSON, and XML of any vocabulary."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import msgspec

from gossamer.parse.documents.document_draft import Broken, is_web_url
from gossamer.parse.documents.front_matter import metadata_of
from gossamer.parse.documents.xml_markup import Enough, parse_xml
from gossamer.parse.reading.charset import decode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gossamer.parse.documents.document_draft import Draft

_LENIENT = json.JSONDecoder(strict=False, parse_int=float)


def read_json(body: bytes, draft: Draft) -> None:
    """Read all string values of a JSON file in order; URLs become links. Raises Broken."""
    try:
        root = _json(decode(body, "utf-8")[0])
    except (ValueError, RecursionError) as error:
        raise Broken(f"not JSON: {error}") from error
    first = root[0] if isinstance(root, list) and len(root) == 1 else root
    if isinstance(first, dict):
        draft.metadata.update(metadata_of(first))
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
