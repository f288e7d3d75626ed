"""A filter rule as a line of text: an action, a kind, and a value.

    deny   prefix    https://example.org/tags/
    allow  domain    example.org          # this host, and all hosts below it
    deny   suffix    .ics                 # of the URL's path
    deny   pattern   [?&]print=1          # RE2, anywhere in the URL
    deny   type      application/pdf      # what the server answered; a prefix such as image/ works
    deny   language  de                   # of the page's text, as `parse_rule` determines it
    deny   all

Blank lines are ignored, and so is everything from a `#` that begins a line or follows white space.
In a pattern, such a `#` is written `[#]`. A value is brought into the form that it is compared in:
that of normalised URLs, lower case for types and languages. So a rule has one spelling.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from gossamer.config.patterns import check_pattern
from gossamer.config.settings_files import read_text
from gossamer.errors import ConfigError
from gossamer.web.urls import host_of, normalize

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

ACTIONS = ("allow", "deny")
OF_URLS = ("prefix", "domain", "suffix", "pattern", "all")
"""Kinds that are decided by the URL."""
KINDS = (*OF_URLS, "type", "language")

MAX_FILE_BYTES = 64 << 20
MAX_LINE_CHARS = 4_000
"""Longer than `urls.max_length` by default, so a whole URL fits."""
MAX_RULES = 500_000
"""Of all sources together: each process of a crawl holds them, at about 400 bytes each."""

REMEDY = (
    "write one rule per line: allow or deny, then "
    + ", ".join(KINDS[:-1])
    + (f" or {KINDS[-1]}, then a value; see docs/choosing.md, Filter rules")
)
_COMMENT = re.compile(r"(?:^|\s)#.*")
_TYPE = re.compile(r"[a-z0-9!&^_.+-]+(?:/[a-z0-9!&^_.+-]*)?")
_LANGUAGE = re.compile(r"[a-z]{2}")
_URL_START = re.compile(r"[a-z][a-z0-9+.-]*://[^/]*", re.IGNORECASE)
_URL_CHARS = re.compile(r"[!-~]+")


class Rule(NamedTuple):
    action: str
    kind: str
    value: str
    """Empty for `all`."""

    @property
    def text(self) -> str:
        return " ".join(filter(None, self))

    @property
    def denies(self) -> bool:
        return self.action == "deny"


class PlacedRule(NamedTuple):
    """A rule, and where it is written."""

    rule: Rule
    place: str


def parse_rule(line: str, place: str, *, known: bool = False) -> Rule | None:
    """Parse a line; return None if it has no rule.

    `known`: it is the text of a rule that was parsed before, so its value is not checked again.
    Raises ConfigError, which names `place`.
    """
    if len(line) > MAX_LINE_CHARS:
        raise ConfigError(place, f"has more than {MAX_LINE_CHARS:,} characters", REMEDY)
    words = _COMMENT.sub("", line).split(None, 2)
    if not words:
        return None
    action, kind, value = (*words, "", "")[:3]
    value = value.rstrip()
    if known:
        return Rule(action, kind, value)
    if action not in ACTIONS:
        raise ConfigError(place, f"{action!r} is neither allow nor deny", REMEDY)
    if kind not in KINDS:
        raise ConfigError(place, f"{kind!r} is not a kind of rule", REMEDY)
    if (kind == "all") != (not value):
        what = f"`{kind}` has a value: {value!r}" if value else f"`{kind}` has no value"
        raise ConfigError(place, what, REMEDY)
    return Rule(action, kind, _fold_value(kind, value, place))


def parse_all(lines: Iterable[tuple[str, str]]) -> list[PlacedRule]:
    """Parse lines, each with its place. Raises ConfigError."""
    return [
        PlacedRule(rule, at) for line, at in lines if (rule := parse_rule(line, at)) is not None
    ]


def read_rule_lines(path: Path, remedy: str) -> list[str]:
    """The lines of a file. Raises ConfigError, with this remedy, if it cannot be read."""
    text, _ = read_text(path, remedy, MAX_FILE_BYTES)
    return text.removeprefix("\N{BYTE ORDER MARK}").split("\n")


def number_lines(lines: Iterable[str], place: str) -> list[tuple[str, str]]:
    """Lines with their places: `place` and a number, from 1."""
    return [(line, f"{place} {number}") for number, line in enumerate(lines, 1)]


def _fold_value(kind: str, value: str, place: str) -> str:
    match kind:
        case "all":
            return value
        case "domain":
            return _parse_domain_rule(value, place)
        case "pattern":
            check_pattern(place, value)
            return value
        case "type" | "language":
            form = _TYPE if kind == "type" else _LANGUAGE
            if not form.fullmatch(value.lower()):
                example = "text/html or image/" if kind == "type" else "de (ISO 639-1)"
                raise ConfigError(place, f"{value!r} is not a {kind}", f"example: {example}")
            return value.lower()
        case _:
            return _parse_url_rule(kind, value, place)


def _parse_domain_rule(value: str, place: str) -> str:
    url = None if re.search(r"[/:?#@\s]", value) else normalize(f"http://{value}/")
    if url is None or host_of(url) == "":
        raise ConfigError(place, f"{value!r} is not a host name", "example: deny domain a.example")
    return host_of(url)


def _parse_url_rule(kind: str, value: str, place: str) -> str:
    """A prefix of URLs or a suffix of paths; both consist of the characters of normalised URLs."""
    if kind == "prefix":
        start = _URL_START.match(value)
        if start is None:
            remedy = "example: deny prefix https://example.org/tags/"
            raise ConfigError(place, f"{value!r} does not begin like a URL", remedy)
        value = start[0].lower() + value[start.end() :]
    if not _URL_CHARS.fullmatch(value):
        raise ConfigError(
            place,
            f"{value!r} has characters that no URL has in its normal form",
            "write other letters as %XX of their UTF-8 bytes, and hosts as xn--…; "
            "`gossamer filter test` shows the normal form of a URL",
        )
    return value
