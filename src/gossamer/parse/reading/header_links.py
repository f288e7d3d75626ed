"""Links in HTTP headers: `Link` (RFC 8288) and `Refresh`, which browsers follow, for any format.

A PDF can only declare its canonical URL so, and Google reads `rel=canonical` and the `hreflang` of
translations there. As URLs in them are relative to the response, no base element matters. Bytes
beyond ASCII in a URL are percent-encoded as they are, since headers have no encoding.

Left out: links about another resource (`anchor`), `rev`, and relations that a link element does not
make a link of a page, such as stylesheets.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from gossamer.parse.parsed_page import Link, short
from gossamer.parse.reading.language import tag_of
from gossamer.parse.reading.link_relations import link_relations
from gossamer.parse.reading.references import LEADING, MAX_HREF_CHARS, References
from gossamer.parse.reading.refresh import refresh_target
from gossamer.web.publisher_wishes import RSL_TYPE
from gossamer.web.urls import normalize

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator, Mapping

    from gossamer.web.urls import UrlRules

LINKING = frozenset(("link", "refresh"))
"""Names of the headers."""
MAX_CHARS = 32_768
"""Characters read of a header."""
MAX_LINKS = 300
MAX_LICENSES = 5
MAX_TITLE_CHARS = 200

_LINK = re.compile(
    r"""\s*+<([^<>]*+)>((?:\s*+;\s*+[^\s=;,"]*+\s*+(?:=\s*+(?:"(?:[^"\\]|\\.)*+"|[^\s;,"]*+))?+)*+)""",
    re.DOTALL,
)
_PARAMETER = re.compile(
    r""";\s*+([^\s=;,"]++)\s*+(?:=\s*+(?:"((?:[^"\\]|\\.)*+)"|([^\s;,"]*+)))?+""", re.DOTALL
)
_NEXT = re.compile(r"[^<,]*+(?:,|\Z)|[^<]++(?=<)|<")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


class HeaderLinks(NamedTuple):
    """What the headers of a response link to."""

    canonical: str | None = None
    alternates: tuple[tuple[str, str], ...] = ()
    links: tuple[Link, ...] = ()
    licenses: tuple[str, ...] = ()
    """URLs of RSL files (`web/publisher_wishes.py`)."""


def read_link_header(value: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the target and the parameters of each link; of equal parameters the first counts.

    What is not a link is skipped up to the next comma or `<`. Never raises.
    """
    text, place = value[:MAX_CHARS], 0
    while place < len(text):
        found = _LINK.match(text, place)
        if found is None:
            skipped = _NEXT.match(text, place)
            place = len(text) if skipped is None else max(skipped.end(), place + 1)
            continue
        parameters: dict[str, str] = {}
        for name, quoted, token in _PARAMETER.findall(found[2]):
            parameters.setdefault(name.lower(), _ESCAPED.sub(r"\1", quoted) or token)
        yield found[1].strip(), parameters
        place = found.end()


def header_links(
    url: str, headers: Mapping[str, str], rules: UrlRules, refused: Counter[str]
) -> HeaderLinks:
    """Return what the headers of the page at `url` link to. Names of headers are in lower case."""
    references = References(MAX_LINKS, refused)
    canonical: str | None = None
    alternates: list[tuple[str, str]] = []
    licenses: list[str] = []
    if target := refresh_target(headers.get("refresh", "")[:MAX_HREF_CHARS]):
        references.add(_in_ascii(target), "", "refresh")
    for href, parameters in read_link_header(headers.get("link", "")):
        if "anchor" in parameters and normalize(parameters["anchor"], url, rules) != url:
            continue
        target = normalize(written := _in_ascii(href), url, rules)
        relations = list(link_relations(parameters))
        if "canonical" in relations:
            canonical = canonical or target
        language = tag_of(parameters.get("hreflang", ""))
        if "alternate" in relations and language and target and len(alternates) < MAX_LINKS:
            alternates.append((language, target))
        if _is_rsl(parameters) and len(licenses) < MAX_LICENSES:
            licenses.append(href)
        title = parameters.get("title", "").replace("\0", "")
        for relation in relations:
            references.add(written, short(title, MAX_TITLE_CHARS), relation)
    links = references.links(url, url, rules, refused)
    return HeaderLinks(canonical, tuple(alternates), links, tuple(licenses))


def merge_links(links: tuple[Link, ...], more: tuple[Link, ...], most: int) -> tuple[Link, ...]:
    """Add links to those of a page, each target once, up to `most` in all.

    A relation in LEADING replaces others.
    """
    merged = {link.dst: link for link in links}
    for link in more:
        known = merged.get(link.dst)
        if known is None:
            if len(merged) < most:
                merged[link.dst] = link
            continue
        leads = link.relation in LEADING and known.relation not in LEADING
        merged[link.dst] = known._replace(
            relation=link.relation if leads else known.relation,
            announced=known.announced or link.announced,
        )
    return tuple(merged.values())


def _is_rsl(parameters: Mapping[str, str]) -> bool:
    named = "license" in parameters.get("rel", "").lower().split()
    return named and RSL_TYPE in parameters.get("type", "").lower()


def _in_ascii(href: str) -> str:
    """Percent-encode bytes beyond ASCII; headers are read as Latin-1."""
    if href.isascii():
        return href
    return "".join(
        c if c.isascii() else quote(c, encoding="latin-1", errors="replace") for c in href
    )
