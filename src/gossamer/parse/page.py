"""What goes into a parser and what comes out of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from gossamer.urls import UrlRules

if TYPE_CHECKING:
    from typing import Self

    from gossamer.config import Config


class Page(NamedTuple):
    """A stored answer: its normalised URL, its HTTP headers (names lower-case), its body."""

    url: str
    headers: dict[str, str]
    body: bytes


class Rules(Struct, frozen=True, kw_only=True):
    """The settings that parsing depends on."""

    agent: str = "gossamer"
    max_links: int = 10_000
    max_text_chars: int = 200_000
    urls: UrlRules = UrlRules()

    @classmethod
    def of(cls, config: Config) -> Self:
        return cls(
            agent=config.fetch.agent,
            max_links=config.parse.max_links,
            max_text_chars=config.parse.max_text_chars,
            urls=config.urls,
        )


class Link(NamedTuple):
    """A row of the dataset links, as far as the page alone tells."""

    dst: str
    anchor: str
    relation: str
    nofollow: bool


class ParsedPage(Struct, frozen=True, kw_only=True):
    """The columns of the dataset documents that a parser fills, and the links."""

    outcome: str
    detail: str | None = None
    content_type: str | None = None
    charset: str | None = None
    title: str | None = None
    description: str | None = None
    headings: tuple[str, ...] = ()
    text: str | None = None
    language: str | None = None
    canonical: str | None = None
    noindex: bool = False
    nofollow: bool = False
    links: tuple[Link, ...] = ()
    refused: dict[str, int] = {}
    """How many references are no links, by reason: those of `urls.refusal`, and `max_links`."""


def fold(text: str) -> str:
    """White space folded, as on a screen."""
    return " ".join(text.split())
