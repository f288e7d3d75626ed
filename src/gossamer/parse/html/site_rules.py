"""Rules for single sites: where a page has its title, date, authors and body.

What a rule finds replaces what the parser found by itself. Where a rule finds nothing, the parser's
value stays and the field is counted. docs/parsing.md describes the file's format.

Bounds: each selector is evaluated once, and its elements are read once, in time linear in the page
(`css_selectors.py`). A rule of eleven selectors takes 1.4 times as long as building the tree (123
pages of 206 KB).
"""

from __future__ import annotations

import re
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import structs

from gossamer.config import load_tables
from gossamer.errors import ConfigError
from gossamer.parse.html.css_selectors import outermost, selector
from gossamer.parse.html.page_metadata import MAX_HEADLINE_CHARS, author_names
from gossamer.parse.html.walk import outline_of
from gossamer.parse.parsed_page import SiteRule, fold, short
from gossamer.parse.reading.dates import CLOCK_ERROR, parse_day

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from datetime import datetime
    from pathlib import Path
    from typing import TypeVar

    from selectolax.lexbor import LexborHTMLParser, LexborNode

    from gossamer.parse.parsed_page import Page, ParsedPage, Rules

    Found = TypeVar("Found")

FIELDS = ("title", "date", "author", "body")
"""The fields that a rule extracts."""
SELECTORS = (*FIELDS, "drop")
MAX_VALUES = 20
"""Number of elements per selector that are read for a title, a date or authors."""
REMEDY = "see docs/parsing.md"

_NAME = re.compile(r"[A-Za-z0-9_-]+")
_URL = re.compile(r"(?:\*|[a-z*][a-z0-9+.*-]*://[^/A-Z]*(?:/|\*$))[^\s#]*")
"""Patterns that a normalised URL can match: a scheme, a host in lower case, a path, no fragment."""


def read_site_rules(path: Path) -> tuple[SiteRule, ...]:
    """Return the rules in a file. Raises ConfigError with the rule and what is wrong with it."""
    tables = load_tables(path, REMEDY)
    rules = tables.pop("rule", [])
    if tables or not isinstance(rules, list) or not all(isinstance(rule, dict) for rule in rules):
        unknown = ", ".join(tables) or "rule"
        raise ConfigError(path, f"{unknown}: only tables [[rule]] are allowed", REMEDY)
    by_name: dict[str, SiteRule] = {}
    for number, table in enumerate(rules, 1):
        subject = f"{path}, rule {table.get('name', number)}"
        rule = _check_rule(table, subject)
        if rule.name in by_name:
            raise ConfigError(subject, "another rule has this name", REMEDY)
        by_name[rule.name] = rule
    return tuple(by_name.values())


def _check_rule(table: dict[str, Any], subject: str) -> SiteRule:
    single = {name: [table[name]] for name in SELECTORS if isinstance(table.get(name), str)}
    try:
        rule = msgspec.convert(table | single, SiteRule)
    except msgspec.ValidationError as error:
        raise ConfigError(subject, str(error).replace("$.", ""), REMEDY) from None
    if not _NAME.fullmatch(rule.name):
        raise ConfigError(subject, "a name may contain only letters, digits, - and _", REMEDY)
    if not rule.url.isascii() or not _URL.fullmatch(rule.url):
        example = "give a pattern of whole URLs, such as https://example.org/news/*"
        raise ConfigError(subject, f"url: {rule.url!r} matches no URL; {example}", REMEDY)
    for field in SELECTORS:
        for text in getattr(rule, field):
            try:
                takes = selector(text).attribute
            except ValueError as error:
                raise ConfigError(subject, f"{field}: {text!r}: {error}", REMEDY) from None
            if takes is not None and field == "drop":
                raise ConfigError(subject, f"drop: {text!r}: only elements can be dropped", REMEDY)
    if not any(getattr(rule, field) for field in FIELDS) or (rule.drop and not rule.body):
        what = "it has `drop` but not `body`" if rule.drop else "it extracts nothing"
        raise ConfigError(subject, what, REMEDY)
    return rule


def rule_for(url: str, rules: Rules) -> SiteRule | None:
    """Return the first rule that matches a normalised URL."""
    return next((rule for rule in rules.sites if _fits(rule.url, url)), None)


def apply_rule(
    parsed: ParsedPage, tree: LexborHTMLParser, page: Page, rule: SiteRule
) -> ParsedPage:
    """Return `parsed` with what the rule extracts. Never raises.

    It removes the elements that the rule drops from the tree.
    """
    latest = None if page.fetched is None else page.fetched + CLOCK_ERROR
    title = _first(rule.title, tree, _title)
    date = _first(rule.date, tree, lambda texts: _date(texts, latest))
    authors = _first(rule.author, tree, author_names)
    body = _body(rule, tree)
    found = {"title": title, "date": date, "author": authors, "body": body}
    changes: dict[str, Any] = {
        "unmatched": tuple(
            f"{rule.name}.{field}" for field in FIELDS if getattr(rule, field) and not found[field]
        )
    }
    if title:
        changes |= {"title": title, "headline": title}
    if date:
        changes["published"] = date
        if parsed.modified is not None and parsed.modified < date:
            changes["modified"] = None
    if authors:
        changes["authors"] = authors
    if body:
        changes |= {"main_text": body, "is_doubtful": False}
    if title or body:
        changes["outcome"] = "parsed"
    return structs.replace(parsed, **changes)


def _fits(pattern: str, url: str) -> bool:
    """Match each piece between two stars at its first occurrence, without backtracking."""
    first, *pieces = pattern.split("*")
    if not pieces or not url.startswith(first):
        return url == pattern
    *middle, last = pieces
    at = len(first)
    for piece in middle:
        if (place := url.find(piece, at)) < 0:
            return False
        at = place + len(piece)
    return url.endswith(last, at)


def _first(
    selectors: Iterable[str], tree: LexborHTMLParser, make: Callable[[Iterator[str]], Found]
) -> Found | None:
    """Apply `make` to each selector's elements; return the first result that is not empty."""
    made = (make(map(" ".join, islice(_find_lines(text, tree), MAX_VALUES))) for text in selectors)
    return next(filter(None, made), None)


def _title(texts: Iterable[str]) -> str | None:
    return next((title for text in texts if (title := short(text, MAX_HEADLINE_CHARS))), None)


def _date(texts: Iterable[str], latest: datetime | None) -> datetime | None:
    dates = (date for text in texts if (date := parse_day(text)) is not None)
    return next((date for date in dates if latest is None or date <= latest), None)


def _body(rule: SiteRule, tree: LexborHTMLParser) -> str | None:
    for node in chain.from_iterable(selector(text).find(tree) for text in rule.drop):
        if node.parent is not None and node.tag != "html":
            node.remove()
    bodies = ("\n".join(filter(None, chain.from_iterable(_find_lines(t, tree)))) for t in rule.body)
    return next(filter(None, bodies), None)


def body_elements(rule: SiteRule, tree: LexborHTMLParser) -> list[LexborNode]:
    """Return the elements whose text is the body, once the rule was applied to the tree.

    There are none if the rule has found no body, or takes it from an attribute.
    """
    for text in rule.body:
        css = selector(text)
        if any(filter(None, chain.from_iterable(_find_lines(text, tree)))):
            return outermost(css.find(tree)) if css.attribute is None else []
    return []


def _find_lines(text: str, tree: LexborHTMLParser) -> Iterator[list[str]]:
    """Yield the lines of each element that a selector finds; an attribute is one line.

    An element inside another found one is left out, as its text is part of the outer one's.
    """
    css = selector(text)
    nodes = css.find(tree)
    if css.attribute is None:
        yield from map(_lines, outermost(nodes))
    else:
        yield from ([fold(node.attributes.get(css.attribute) or "")] for node in nodes)


def _lines(node: LexborNode) -> list[str]:
    """Return one line per block of an element; one line for elements never shown, such as title."""
    if blocks := outline_of(node).blocks:
        return [block.text for block in blocks]
    only = node.first_child
    return [fold(node.text())] if only is not None and only.is_text_node else []
