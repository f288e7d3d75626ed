"""The query language: what a person types, as a tree. Nothing is ever a syntax error.

    red apple         both words            "red apple"       the phrase
    red OR apple      either                red -apple        the first without the second
    (red OR green) AND apple                NOT apple         as -apple

Words next to each other are meant together (AND), which binds closer than OR. The operators
are recognised in capitals only. What makes no sense is taken for the words it holds.

    query   = any ;
    any     = all { "OR" all } ;
    all     = part { [ "AND" ] part } ;
    part    = ( "-" | "NOT" ) part | "(" any ")" | phrase | word ;
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

MAX_DEPTH = 16
"""Parentheses within parentheses; deeper ones are ignored."""
MAX_WORDS = 64
"""Words and phrases that are looked for; the rest of a longer query is ignored."""


@dataclass(frozen=True)
class Words:
    """A word or phrase as it was typed."""

    text: str


@dataclass(frozen=True)
class Not:
    part: Query


@dataclass(frozen=True)
class All:
    parts: tuple[Query, ...]


@dataclass(frozen=True)
class Any:
    parts: tuple[Query, ...]


Query: TypeAlias = Words | Not | All | Any

_TOKEN = re.compile(
    r"""(?P<minus>-(?=["(]))|"(?P<phrase>[^"]*)"?|(?P<sign>[()])|(?P<word>[^\s()"]+)"""
)


def parse(text: str) -> Query:
    """The tree of a query. `All(())` is the query of no words."""
    return _Parser(_tokens(text)).query()


def typed(query: Query) -> list[str]:
    """The words and phrases that a query asks for, in its order, without the unwanted ones."""
    match query:
        case Words(text):
            return [text]
        case Not():
            return []
        case All(parts) | Any(parts):
            return [text for part in parts for text in typed(part)]


def unwanted(query: Query) -> list[Query]:
    """What no page of the query may have, whatever else it has."""
    match query:
        case Not(part):
            return [part]
        case All(parts):
            return [part for within in parts for part in unwanted(within)]
        case Words() | Any():
            return []


def _tokens(text: str) -> list[Words | str]:
    """Words and phrases, and the signs `(`, `)`, `-`, `AND`, `OR` as strings.

    A minus belongs to what follows it at once: the dash of `GNU - the system` is no operator.
    """
    tokens: list[Words | str] = []
    for match in _TOKEN.finditer(text):
        phrase, word = match["phrase"], match["word"]
        if phrase is not None:
            tokens.append(Words(phrase))
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
    words = [number for number, token in enumerate(tokens) if isinstance(token, Words)]
    return tokens[: words[MAX_WORDS]] if len(words) > MAX_WORDS else tokens


class _Parser:
    """Recursive descent over tokens that have all been read."""

    def __init__(self, tokens: list[Words | str]) -> None:
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
        while (item := self._peek()) not in (None, "OR", ")"):
            if item == "AND":
                self._at += 1
            else:
                parts.append(self._part())
        return _joined(All, parts)

    def _part(self) -> Query:
        negated = self._peek() == "-"
        while self._peek() == "-":
            self._at += 1
        item = self._peek()
        if item == "(":
            part = self._group()
        elif isinstance(item, Words):
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

    def _peek(self) -> Words | str | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None


def _joined(kind: type[All | Any], parts: list[Query]) -> Query:
    kept = tuple(part for part in parts if part != All(()))
    return kept[0] if len(kept) == 1 else kind(kept) if kept else All(())
