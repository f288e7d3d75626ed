"""The user's synonyms: words that a query asks for beside those that were typed.

A file has lines such as

    car = automobile = motor car     # each of them also finds the others
    k8s, kube => kubernetes          # these find the right side, not the other way round
    [de] Handy = Mobiltelefon        # only queries to pages in German

The sides are compared with a query as terms, in plain form and as each language of the index stems
them: `cars` finds what `car` does. Words in quotes are meant as they were typed.
"""

from __future__ import annotations

import logging
import re
import time
from collections import defaultdict
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from gossamer.config.settings_files import read_text
from gossamer.errors import ConfigError
from gossamer.index.format.analysis import OTHER, analyzer_for, index_language_of
from gossamer.search.query import And, Or, Words

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from gossamer.search.query import Query

MAX_LINES = 50_000
MAX_WORDS = 6
"""Words of a side of a line."""
MAX_ALTERNATIVES = 8
"""Synonyms of one word, the first ones in the file."""
MAX_EXPANDED = 16
"""Synonyms of one query."""
CHECK_S = 1.0
"""A file is looked at again after this time."""
REMEDY = "write lines such as `car = automobile` or `k8s => kubernetes`: docs/searching.md"
_TAG = re.compile(r"\[([a-z]{2})\]\s*")
_COMMENT = re.compile(r"(?:^|\s)#.*")
_log = logging.getLogger(__name__)


class Rule(NamedTuple):
    """`typed` also asks for `others`, on pages in a language, or in all ("")."""

    typed: str
    others: tuple[str, ...]
    language: str = ""


class Synonyms:
    """The synonyms of a file, which is read again when it changes."""

    def __init__(self, path: Path) -> None:
        """Raises ConfigError if the file cannot be used."""
        self._path = path
        self._checked_s = time.monotonic()
        self._seen = _stamp(path)
        self._rules = read_synonyms(path)
        self._by_language: dict[str, Mapping[tuple[str, ...], Sequence[str]]] = {}

    @property
    def version(self) -> int:
        """A number that changes with the file."""
        now_s = time.monotonic()
        if now_s - self._checked_s >= CHECK_S:
            self._checked_s = now_s
            self.look()
        return self._seen

    def look(self) -> None:
        """Read the file if it has changed. If it cannot be used, the former one holds."""
        if (stamp := _stamp(self._path)) == self._seen:
            return
        self._seen = stamp
        try:
            self._rules = read_synonyms(self._path)
            self._by_language = {}
        except ConfigError as error:
            _log.warning("still using the former synonyms: %s", error)

    def expand(self, tree: Query, languages: Collection[str], version: int = 0) -> Query:
        """The query with the synonyms of its words, in an index of these languages.

        `version`: that which somebody else has seen; if it is another one, the file is looked at.
        """
        if self.version != version != 0:
            self.look()
        known = sorted({OTHER, *languages})
        return _Expansion([*map(self._rules_of, known)], known).expand(tree)

    def _rules_of(self, language: str) -> Mapping[tuple[str, ...], Sequence[str]]:
        """The synonyms by the terms of the words that ask for them."""
        known = self._by_language.get(language)
        if known is None:
            found: dict[tuple[str, ...], list[str]] = defaultdict(list)
            analyzer = analyzer_for(language)
            for rule in self._rules:
                if not rule.language or index_language_of(rule.language) == language:
                    found[analyzer.terms_of(rule.typed)] += rule.others
            found.pop((), None)
            known = self._by_language[language] = {
                terms: tuple(dict.fromkeys(others))[:MAX_ALTERNATIVES]
                for terms, others in found.items()
            }
        return known


class _Expansion:
    """The expansion of one query."""

    def __init__(
        self, rules: Sequence[Mapping[tuple[str, ...], Sequence[str]]], languages: Sequence[str]
    ) -> None:
        self._rules = [*zip(rules, languages, strict=True)]
        self._left = MAX_EXPANDED

    def expand(self, tree: Query) -> Query:
        match tree:
            case Words():
                return self._also([tree]) or tree
            case And(parts):
                return replace(tree, parts=tuple(self._neighbours(parts)))
            case Or(parts):
                return replace(tree, parts=tuple(map(self.expand, parts)))
        return tree

    def _neighbours(self, parts: Sequence[Query]) -> Iterator[Query]:
        """The parts, in which neighbouring words that have synonyms together are one."""
        at = 0
        while at < len(parts):
            for size in range(min(MAX_WORDS, len(parts) - at), 0, -1):
                words = [each for each in parts[at : at + size] if isinstance(each, Words)]
                if len(words) == size and (found := self._also(words)):
                    yield found
                    at += size
                    break
            else:
                yield self.expand(parts[at]) if not isinstance(parts[at], Words) else parts[at]
                at += 1

    def _also(self, words: Sequence[Words]) -> Words | None:
        """The words as one, with their synonyms; None if they have none."""
        if any(each.exact for each in words) or not self._left:
            return None
        text = " ".join(each.text for each in words)
        others: dict[str, None] = {}
        for rules, language in self._rules:
            if rules and (terms := analyzer_for(language).terms_of(text)):
                others |= dict.fromkeys(rules.get(terms, ()))
        chosen = tuple(others)[: min(MAX_ALTERNATIVES, self._left)]
        self._left -= len(chosen)
        return Words(text, also=chosen) if chosen else None


def expansion(synonyms: Synonyms, languages: Collection[str]) -> Callable[[Query, int], Query]:
    """What a broker expands queries with, to an index of these languages."""
    return lambda tree, version: synonyms.expand(tree, languages, version)


def unexpanded(tree: Query, _: int) -> Query:
    """The query as it is: there are no synonyms."""
    return tree


def synonyms_of(root: str, name: str) -> Synonyms | None:
    """The synonyms of the file that a crawl's settings name, if any. Raises ConfigError."""
    return _open_file(Path(root, name)) if name else None


@lru_cache(1_000)
def _open_file(path: Path) -> Synonyms:
    """One object in a process, so that a file that breaks leaves the former synonyms."""
    return Synonyms(path)


def read_synonyms(path: Path) -> tuple[Rule, ...]:
    """The rules of a file. Raises ConfigError with the line that cannot be used."""
    text, _ = read_text(path, REMEDY)
    lines = text.splitlines()
    if len(lines) > MAX_LINES:
        raise ConfigError(path, f"has more than {MAX_LINES:,} lines", "leave some out")
    rules: list[Rule] = []
    for number, line in enumerate(lines, 1):
        try:
            rules += _rules_of(_COMMENT.sub("", line).strip())
        except ValueError as error:
            raise ConfigError(f"{path}, line {number}", str(error), REMEDY) from None
    return tuple(rules)


def _rules_of(line: str) -> Iterator[Rule]:
    """The rules of a line; none of an empty one. Raises ValueError."""
    if not line:
        return
    tag = _TAG.match(line)
    language = tag[1] if tag else ""
    line = line[tag.end() :] if tag else line
    if "=>" in line:
        left, right = ([*_sides(side, ",")] for side in line.split("=>", 1))
        if any("=>" in side for side in right):
            raise ValueError("has more than one =>")
        for typed in left:
            yield Rule(typed, tuple(other for other in right if other != typed), language)
        return
    sides = [*_sides(line, "=")]
    if len(sides) == 1:
        raise ValueError(f"{line[:60]!r} has neither = nor =>")
    for typed in sides:
        yield Rule(typed, tuple(other for other in sides if other != typed), language)


def _sides(text: str, between: str) -> Iterator[str]:
    for side in text.split(between):
        words = side.split()
        if not words:
            raise ValueError("one side is empty")
        if len(words) > MAX_WORDS:
            raise ValueError(f"{' '.join(words)[:60]!r} has more than {MAX_WORDS} words")
        if not analyzer_for(OTHER).terms_of(side):
            raise ValueError(f"{side.strip()[:60]!r} has no word")
        yield " ".join(words)


def _stamp(path: Path) -> int:
    try:
        state = path.stat()
    except OSError:
        return 0
    return state.st_mtime_ns ^ state.st_ino ^ state.st_size
