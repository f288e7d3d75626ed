"""CSS selectors in time linear in the page.

Facts (lexbor in selectolax 1.0): it tries every path up the tree.

    q div div             2,000 nested div (22 KB)     6.3 s    cubic
    q ~ p ~ p             2,000 sibling p                       cubic
    div:has(q)            8,000 nested div             0.3 s    quadratic
    p:nth-child(3)        8,000 sibling p              0.1 s    quadratic; so is of-type
    div.a:not(.b)[lang]   a compound selector          0.5 ms   for 8,000 elements

It returns an element twice if two selectors of a list match it; `:is(.a, b) p` misses some
elements; `:hover` and the like are accepted, but match nothing.

Decision: lexbor finds the elements of each compound selector. We evaluate the combinators between
them by walking from these elements to the parent or the previous sibling, and never walk a step
twice. Selectors that compare siblings match nothing on pages of more than MAX_ELEMENTS. We refuse
`:has`, combinators within `:not`, and everything that only makes sense in a window.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from selectolax.lexbor import LexborHTMLParser, SelectolaxError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Self

    from selectolax.lexbor import LexborNode

    Step = Callable[[LexborNode], LexborNode | None]

MAX_ELEMENTS = 20_000
"""Largest page on which siblings are compared: a hostile one takes 0.8 s per selector. Honest
pages have 1,800 elements."""

OF_LISTS = frozenset(("is", "not", "where"))
COUNTING = frozenset(("nth-child", "nth-last-child", "nth-last-of-type", "nth-of-type"))
COMPARING = frozenset(("first-of-type", "last-of-type", "only-of-type"))
SIMPLE = frozenset(("empty", "first-child", "last-child", "only-child", "root"))

_ESCAPE = r"\\(?:[0-9a-fA-F]{1,6}\s?|[^\n0-9a-fA-F])"
_NAME = rf"(?:[a-zA-Z0-9_-]|[^\x00-\x7f]|{_ESCAPE})+"
_STRING = r""""(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'"""
_ATTRIBUTE = rf"""\[(?:[^\]\["'\\]|\\.|{_STRING})*\]"""
_PART = re.compile(rf"\*|[.#]?{_NAME}|{_ATTRIBUTE}|:(?P<pseudo>{_NAME})(?P<opened>\()?", re.DOTALL)
_COMBINATOR = re.compile(r"\s*([>+~])\s*|\s+(?=[^\s,)])")
_PLACE = re.compile(r"[\s0-9a-zA-Z+-]*\)")
"""The argument of :nth-child, such as `odd` or `2n + 1`; lexbor checks whether it is valid."""
_TAKES = re.compile(rf"(.*?)\s*::attr\(\s*({_NAME})\s*\)\s*", re.DOTALL | re.IGNORECASE)
_BLANKS = re.compile(r"\s*")


class Compound(NamedTuple):
    """A compound selector, and the combinator that joins it to the one before."""

    combinator: str
    css: str


class Selector(NamedTuple):
    """A list of selectors, each a chain of compounds; `attribute` is the one named by `::attr`."""

    chains: tuple[tuple[Compound, ...], ...]
    compares: bool
    """Whether it compares siblings with each other, as `:nth-child` does."""
    attribute: str | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a selector. Raises ValueError if it is invalid or not supported."""
        taken = _TAKES.fullmatch(text)
        reader = _Reader(text if taken is None else taken[1])
        chains = reader.selectors()
        if reader.at < len(reader.text):
            raise ValueError(reader.expected("a selector or a combinator"))
        return cls(chains, reader.compares, None if taken is None else taken[2].lower())

    def find(self, tree: LexborHTMLParser) -> list[LexborNode]:
        """Return the matching elements, each once, in document order."""
        root = tree.root
        if root is None or (self.compares and len(root.css("*")) > MAX_ELEMENTS):
            return []
        found = [_matches(root, chain) for chain in self.chains]
        if len(found) == 1:
            return found[0]
        wanted = {node.mem_id for nodes in found for node in nodes}
        return [node for node in root.css("*") if node.mem_id in wanted]


@cache
def selector(text: str) -> Selector:
    """Parse a selector, or return it if it was parsed before. Raises ValueError."""
    return Selector.parse(text)


def outermost(nodes: Iterable[LexborNode]) -> list[LexborNode]:
    """Return the elements that are not inside another of them."""
    nodes = list(nodes)
    around = _Reached(nodes, " ")
    return [node for node in nodes if not around.leads_to(node)]


def _matches(root: LexborNode, chain: tuple[Compound, ...]) -> list[LexborNode]:
    found = root.css(chain[0].css)
    for combinator, css in chain[1:]:
        if not found:
            break
        reached = _Reached(found, combinator)
        found = [node for node in root.css(css) if reached.leads_to(node)]
    return found


class _Reached:
    """The elements that a combinator leads to from the given ones."""

    def __init__(self, nodes: Iterable[LexborNode], combinator: str) -> None:
        self._from = {node.mem_id for node in nodes}
        self._back, self._far = _COMBINATORS[combinator]
        self._known: dict[int, bool] = {}
        """The answer for each element passed on the way, so that no step is walked twice."""

    def leads_to(self, node: LexborNode) -> bool:
        passed = []
        answer = False
        before = self._back(node)
        while before is not None:
            place = before.mem_id
            known = True if place in self._from else self._known.get(place)
            if known is not None or not self._far:
                answer = bool(known)
                break
            passed.append(place)
            before = self._back(before)
        self._known.update(dict.fromkeys(passed, answer))
        return answer


def _parent(node: LexborNode) -> LexborNode | None:
    return node.parent


def _sibling(node: LexborNode) -> LexborNode | None:
    """Return the previous sibling element."""
    before = node.prev
    while before is not None and not before.is_element_node:
        before = before.prev
    return before


_COMBINATORS: Mapping[str, tuple[Step, bool]] = {
    " ": (_parent, True),
    ">": (_parent, False),
    "~": (_sibling, True),
    "+": (_sibling, False),
}
"""For each combinator, the step backwards, and whether it may be repeated."""


class _Reader:
    """A recursive-descent parser of selectors, which has read up to `at`. Raises ValueError."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.compares = False

    def selectors(self, within: str | None = None) -> tuple[tuple[Compound, ...], ...]:
        """Parse a list of selectors; `within` names the pseudo-class that contains it, if any."""
        chains = [self.chain(within)]
        while self.text.startswith(",", self.at):
            self.at += 1
            chains.append(self.chain(within))
        return tuple(chains)

    def chain(self, within: str | None) -> tuple[Compound, ...]:
        self.skip(_BLANKS)
        compounds = [Compound("", self.compound())]
        while combinator := _COMBINATOR.match(self.text, self.at):
            if within is not None:
                raise ValueError(f"combinators are not supported in :{within}()")
            self.at = combinator.end()
            compounds.append(Compound(combinator[1] or " ", self.compound()))
        self.skip(_BLANKS)
        return tuple(compounds)

    def compound(self) -> str:
        start = self.at
        while part := _PART.match(self.text, self.at):
            self.at = part.end()
            if (name := part["pseudo"]) is not None:
                self.pseudo(name.lower(), opened=part["opened"] is not None)
        css = self.text[start : self.at]
        if not css:
            raise ValueError(self.expected("a selector"))
        try:
            LexborHTMLParser("").css(css)
        except SelectolaxError:
            raise ValueError(f"{css!r} is not valid CSS") from None
        return css

    def pseudo(self, name: str, *, opened: bool) -> None:
        """Parse what follows the name of a pseudo-class."""
        known = OF_LISTS | COUNTING if opened else SIMPLE | COMPARING
        if name not in known:
            names = ", ".join(f":{each}" for each in sorted(known))
            raise ValueError(f":{name}{'()' * opened} is not supported; use one of {names}")
        self.compares |= name in COUNTING | COMPARING
        if name in COUNTING and not self.skip(_PLACE):
            raise ValueError(self.expected("a position such as 2n + 1 and a closing bracket"))
        if name in OF_LISTS:
            self.selectors(within=name)
            if not self.text.startswith(")", self.at):
                raise ValueError(self.expected("a closing bracket"))
            self.at += 1

    def skip(self, pattern: re.Pattern[str]) -> bool:
        found = pattern.match(self.text, self.at)
        self.at = self.at if found is None else found.end()
        return found is not None

    def expected(self, what: str) -> str:
        rest = self.text[self.at :].strip()
        return f"{what} is expected before {rest!r}" if rest else f"{what} is expected at the end"
