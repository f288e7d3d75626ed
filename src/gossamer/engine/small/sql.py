"""Expressions of Spark Connect from their SQL, as far as steps write it.

A condition such as `status <> 'alias' AND round IS NOT NULL` is easier to read than the functions
that make it. Only the engine parses the rest of Spark's SQL.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from gossamer.engine.small.limits import Unsupported

if TYPE_CHECKING:
    from pyspark.sql.connect.proto import Expression

_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d+)?)|(?P<text>'[^'\\]*')|(?P<name>[A-Za-z_][A-Za-z_0-9.]*)"
    r"|(?P<sign><=>|<>|!=|<=|>=|[=<>()+*/%,-]))"
)
_COMPARISONS = {
    "=": "==",
    "<>": "!=",
    "!=": "!=",
    "<": "<",
    "<=": "<=",
    ">": ">",
    ">=": ">=",
    "<=>": "<=>",
}
_KEYWORDS = frozenset(
    {
        "and",
        "or",
        "not",
        "in",
        "null",
        "true",
        "false",
        "between",
        "like",
        "case",
        "cast",
        "div",
        "interval",
    }
)


@cache
def parse_sql(text: str) -> Expression:
    """Raises Unsupported for what is not written as above."""
    parser = _Parser(text)
    found = parser.either()
    parser.end()
    return found


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens: list[tuple[str, str]] = []
        place = 0
        text = text.rstrip()
        while place < len(text):
            match = _TOKEN.match(text, place)
            if match is None:
                raise Unsupported(f"SQL: {self._text}")
            self._tokens.append((str(match.lastgroup), match[str(match.lastgroup)]))
            place = match.end()
        self._place = 0

    def either(self) -> Expression:
        found = self._both()
        while self._takes("or"):
            found = _function("or", found, self._both())
        return found

    def _both(self) -> Expression:
        found = self._negated()
        while self._takes("and"):
            found = _function("and", found, self._negated())
        return found

    def _negated(self) -> Expression:
        if self._takes("not"):
            return _function("not", self._negated())
        return self._compared()

    def _compared(self) -> Expression:
        left = self._sum()
        if self._takes("is"):
            negated = self._takes("not")
            self._expect("null")
            return _function("isNotNull" if negated else "isNull", left)
        negated = self._takes("not")
        if self._takes("in"):
            self._expect("(")
            found = _function("in", left, *self._list())
            return _function("not", found) if negated else found
        if negated:
            raise Unsupported(f"SQL: {self._text}")
        kind, word = self._peek()
        if kind == "sign" and word in _COMPARISONS:
            self._place += 1
            return _function(_COMPARISONS[word], left, self._sum())
        return left

    def _sum(self) -> Expression:
        found = self._product()
        while (word := self._peek()[1]) in {"+", "-"}:
            self._place += 1
            found = _function(word, found, self._product())
        return found

    def _product(self) -> Expression:
        found = self._atom()
        while (word := self._peek()[1].lower()) in {"*", "/", "%", "div"}:
            self._place += 1
            found = _function(word, found, self._atom())
        return found

    def _atom(self) -> Expression:
        from pyspark.sql.connect.proto import Expression

        kind, word = self._peek()
        self._place += 1
        found = Expression()
        if kind == "number":
            if "." in word:
                raise Unsupported(f"SQL: {self._text}")
            if int(word) < 1 << 31:
                found.literal.integer = int(word)
            else:
                found.literal.long = int(word)
        elif kind == "text":
            found.literal.string = word[1:-1]
        elif word == "(":
            found = self.either()
            self._expect(")")
        elif kind == "name" and word.lower() in {"true", "false"}:
            found.literal.boolean = word.lower() == "true"
        elif kind == "name" and word.lower() not in _KEYWORDS:
            if self._takes("("):
                return _function(word.lower(), *self._list())
            found.unresolved_attribute.unparsed_identifier = word
        else:
            raise Unsupported(f"SQL: {self._text}")
        return found

    def _list(self) -> list[Expression]:
        found = [self.either()]
        while self._takes(","):
            found.append(self.either())
        self._expect(")")
        return found

    def _peek(self) -> tuple[str, str]:
        return self._tokens[self._place] if self._place < len(self._tokens) else ("end", "")

    def _takes(self, word: str) -> bool:
        found = self._peek()[0] != "text" and self._peek()[1].lower() == word
        self._place += found
        return found

    def _expect(self, word: str) -> None:
        if not self._takes(word):
            raise Unsupported(f"SQL: {self._text}")

    def end(self) -> None:
        if self._peek()[0] != "end":
            raise Unsupported(f"SQL: {self._text}")


def _function(name: str, *arguments: Expression) -> Expression:
    from pyspark.sql.connect.proto import Expression

    found = Expression()
    found.unresolved_function.function_name = name
    found.unresolved_function.arguments.extend(arguments)
    return found
