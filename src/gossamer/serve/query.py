"""The query language: what a person types, as a tree. Nothing is ever a syntax error.

    red apple         both words            "red apple"       the phrase
    red OR apple      either                red -apple        the first without the second
    (red OR green) AND apple                NOT apple         as -apple

    site:example.org  below a domain        host:www.example.org      on a host
    lang:de           in a language         type:pdf                  of a format
    intitle:apple     in the title          inurl:docs                in the address
    after:2024-06     of that time or later before:2025               earlier
    link:a.org/b      that link to a page   related:a.org/b           like a page

Words next to each other are meant together (AND), which binds closer than OR. The operators
are recognised in capitals only. What makes no sense is taken for the words it holds.

    query   = any ;
    any     = all { "OR" all } ;
    all     = part { [ "AND" ] part } ;
    part    = ( "-" | "NOT" ) part | "(" any ")" | filter | phrase | word ;
    filter  = name ":" ( phrase | word ) ;
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

import msgspec
from msgspec.structs import replace

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_DEPTH = 16
"""Parentheses within parentheses; deeper ones are ignored."""
MAX_WORDS = 64
"""Words, phrases and filters that are looked for; the rest of a longer query is ignored."""
FILTERS = frozenset(
    ("site", "host", "lang", "type", "intitle", "inurl", "before", "after", "link", "related")
)


class Words(msgspec.Struct, frozen=True, tag=True):
    """A word as it was typed, or a phrase in quotes (`exact`)."""

    text: str
    exact: bool = False


class Filter(msgspec.Struct, frozen=True, tag=True):
    """What a page must be, whatever its words. It does not count for its score."""

    name: str
    value: str


class Urls(msgspec.Struct, frozen=True, tag=True):
    """One of these pages. Nobody types it: `resolve.py` puts it in place of `link:`."""

    urls: tuple[str, ...]


class Like(msgspec.Struct, frozen=True, tag=True):
    """Some of these words, each with its weight. It stands for `related:`, as Urls for `link:`."""

    words: tuple[tuple[str, float], ...]


class Not(msgspec.Struct, frozen=True, tag=True):
    part: Query


class All(msgspec.Struct, frozen=True, tag=True):
    """`strict`: somebody wrote AND, and means it."""

    parts: tuple[Query, ...]
    strict: bool = False


class Any(msgspec.Struct, frozen=True, tag=True):
    parts: tuple[Query, ...]


Leaf: TypeAlias = Words | Filter | Urls | Like
Query: TypeAlias = Leaf | Not | All | Any

_TOKEN = re.compile(
    rf"""(?P<minus>-(?=["(]|(?:{"|".join(sorted(FILTERS))}):))
    |(?P<name>{"|".join(sorted(FILTERS))}):(?:"(?P<quoted>[^"]+)"?|(?P<value>[^\s()"]+))
    |"(?P<phrase>[^"]*)"?|(?P<sign>[()])|(?P<word>[^\s()"]+)""",
    re.VERBOSE | re.IGNORECASE,
)


def parse(text: str) -> Query:
    """The tree of a query. `All(())` is the query of no words."""
    return _Parser(_tokens(text)).query()


def narrowed(text: str) -> list[tuple[str, str]]:
    """Each filter of a query as it was typed, its minus too, and the query without it."""
    found = []
    for match in _TOKEN.finditer(text):
        if match["name"] is not None:
            before = text[: match.start()]
            rest = f"{before.removesuffix('-')} {text[match.end() :]}"
            found.append(("-" * before.endswith("-") + match[0], " ".join(rest.split())))
    return found


def typed(query: Query) -> list[Words]:
    """The words and phrases that a query asks for, in its order, without the unwanted ones."""
    words = []
    for leaf in _leaves(query):
        match leaf:
            case Words():
                words.append(leaf)
            case Filter("intitle", value):
                words.append(Words(value))
    return words


def shown(query: Query) -> list[Words]:
    """The words that show on a page why it was found."""
    return [*typed(query), *map(Words, alike(query))]


def alike(query: Query) -> list[str]:
    """The words of the pages that those of the query are to be like."""
    return [text for leaf in _leaves(query) if isinstance(leaf, Like) for text, _ in leaf.words]


def _leaves(query: Query) -> Iterator[Leaf]:
    """What is asked for, without what is unwanted."""
    match query:
        case All(parts) | Any(parts):
            for part in parts:
                yield from _leaves(part)
        case Not():
            return
        case _:
            yield query


def plain(query: Query) -> list[Words]:
    """The words of a query that has nothing else, no operator and no filter; else none."""
    match query:
        case Words():
            return [query]
        case All(parts) if all(isinstance(part, Words) for part in parts):
            return typed(query)
    return []


def is_loose(query: Query) -> bool:
    """Whether a page may lack some of the words.

    Not if somebody wrote AND or OR, wants pages like another, or asks for phrases more than for
    words: a text that quotes is no search for what it quotes.
    """
    words = typed(query)
    return _has_no_operator(query) and 2 * sum(each.exact for each in words) < max(len(words), 1)


def _has_no_operator(query: Query) -> bool:
    match query:
        case Words() | Filter() | Urls() | Not():
            return True
        case All(parts, strict):
            return not strict and all(map(_has_no_operator, parts))
        case Any() | Like():
            return False


def conditions(query: Query) -> list[Query]:
    """What every page of the query must be or must not have, whatever else it has."""
    match query:
        case Not() | Filter() | Urls():
            return [query]
        case All(parts):
            return [part for within in parts for part in conditions(within)]
        case Words() | Like() | Any():
            return []


def names_host(query: Query) -> bool:
    """Whether it asks for pages of one site or host: then nothing else is to be seen."""
    match query:
        case Filter(name):
            return name in ("site", "host")
        case All(parts):
            return any(map(names_host, parts))
        case _:
            return False


def _tokens(text: str) -> list[Words | Filter | str]:
    """Words, phrases and filters, and the signs `(`, `)`, `-`, `AND`, `OR` as strings.

    A minus belongs to what follows it at once: the dash of `GNU - the system` is no operator.
    """
    tokens: list[Words | Filter | str] = []
    for match in _TOKEN.finditer(text):
        phrase, word, name = match["phrase"], match["word"], match["name"]
        if name is not None:
            tokens.append(Filter(name.lower(), match["quoted"] or match["value"]))
        elif phrase is not None:
            tokens.append(Words(phrase, exact=True))
        elif word is None:
            tokens.append(match[0])
        elif word in ("AND", "OR"):
            tokens.append(word)
        elif word == "NOT":
            tokens.append("-")
        elif word.startswith("-"):
            bare = word.lstrip("-")
            tokens += ["-", Words(bare)] if bare else []
        else:
            tokens.append(Words(word))
    words = [number for number, token in enumerate(tokens) if not isinstance(token, str)]
    return tokens[: words[MAX_WORDS]] if len(words) > MAX_WORDS else tokens


class _Parser:
    """Recursive descent over tokens that have all been read."""

    def __init__(self, tokens: list[Words | Filter | str]) -> None:
        self._tokens = tokens
        self._at = 0
        self._depth = 0

    def query(self) -> Query:
        parts = []
        while self._at < len(self._tokens):
            parts.append(self._any())
            self._at += 1  # a `)` that closes nothing
        return _joined(All, parts)

    def _any(self) -> Query:
        parts = [self._all()]
        while self._peek() == "OR":
            self._at += 1
            parts.append(self._all())
        return _joined(Any, parts)

    def _all(self) -> Query:
        parts = []
        strict = False
        while (item := self._peek()) not in (None, "OR", ")"):
            if item == "AND":
                strict = True
                self._at += 1
            else:
                parts.append(self._part())
        joined = _joined(All, parts)
        if strict and isinstance(joined, All) and joined.parts:
            return replace(joined, strict=True)
        return joined

    def _part(self) -> Query:
        negated = self._peek() == "-"
        while self._peek() == "-":
            self._at += 1
        item = self._peek()
        if item == "(":
            part = self._group()
        elif isinstance(item, Words | Filter):
            self._at += 1
            part = item
        else:  # a dangling minus
            return All(())
        return Not(part) if negated else part

    def _group(self) -> Query:
        if self._depth == MAX_DEPTH:
            while self._peek() == "(":
                self._at += 1
            return All(())
        self._at += 1
        self._depth += 1
        group = self._any()
        self._depth -= 1
        if self._peek() == ")":
            self._at += 1
        return group

    def _peek(self) -> Words | Filter | str | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None


def _joined(kind: type[All | Any], parts: list[Query]) -> Query:
    kept = tuple(part for part in parts if part != All(()))
    return kept[0] if len(kept) == 1 else kind(kept) if kept else All(())
