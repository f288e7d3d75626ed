"""The query language: parses what people type into a tree. There are no syntax errors.

    red apple         both words            "red apple"       the phrase
    red OR apple      either                red -apple        the first, not the second
    (red OR green) AND apple                NOT apple         the same as -apple

    site:example.org  below a domain        host:www.example.org      on a host
    lang:de           in a language         type:pdf                  of a format
    intitle:apple     in the title          inurl:docs                in the address
    after:2024-06     of that time or later before:2025               earlier
    link:a.org/b      links to a page       related:a.org/b           similar to a page
    url:a.org/b       the page, or the one that stands for it
    wish:ai-train=no  its publisher says so about that use; wish:ai-train: or the opposite
    site:a.org/docs   at or below an address; so with host: and, ending in *, url:

Words next to each other are joined by AND, which binds closer than OR. What cannot be parsed is
reduced to the words in it.

    query   = any ;
    any     = all { "OR" all } ;
    all     = part { [ "AND" ] part } ;
    part    = ( "-" | "NOT" ) part | "(" any ")" | filter | phrase | word ;
    filter  = name ":" ( phrase | word ) ;

What people are used to from other engines is read as follows. `query_notes.py` has what the answer
says about it.

    filetype: ext:    type:                 language:  lang:          title:  intitle:
    +word             "word"                "red apple"~3             both words, not as a phrase
    word^2 "a b"^2    without the weight    red AROUND(3) apple       red apple

Text that people paste looks like operators, so

  * AND, OR and NOT must be in capitals, the query must not be all in capitals, and an operator
    without an operand is a word;
  * parentheses group only in a query with an operator, and only if they do not follow a word
    directly: `print(a)` and `Map (Java SE)` have none;
  * a minus excludes only once, at the front of a word, and a query that would only exclude words
    asks for them. `--release` is a word. `erl -sname` excludes the word `sname`, except on pages
    that have the option `-sname` (`Not.unless`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

import msgspec
from msgspec.structs import replace

from gossamer.index.format.joined_words import other_isbn
from gossamer.search.query_text import straighten

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

MAX_DEPTH = 16
"""Levels of nested parentheses; deeper ones are ignored."""
MAX_WORDS = 64
"""Words, phrases and filters per query; the rest of a longer query is ignored."""
MAX_PASSAGE = 512
"""As MAX_WORDS, for a query without operators: it may be a paragraph."""
FILTERS = frozenset(
    (
        *("site", "host", "url", "lang", "type", "intitle", "inurl"),
        *("before", "after", "link", "related", "wish"),
    )
)
ALIASES = {"ext": "type", "filetype": "type", "language": "lang", "title": "intitle"}
"""What other search engines call these filters."""


class Words(msgspec.Struct, frozen=True, tag=True):
    """A word as it was typed, or a phrase in quotes (`exact`).

    `also`: its synonyms (`synonyms.py`), each of which a page may have instead.
    """

    text: str
    exact: bool = False
    also: tuple[str, ...] = ()


class Filter(msgspec.Struct, frozen=True, tag=True):
    """A condition such as `site:` or `before:`. It does not affect the score."""

    name: str
    value: str


class Urls(msgspec.Struct, frozen=True, tag=True):
    """The page has one of these URLs. `page_filters.py` replaces `link:` and `url:` by this."""

    urls: tuple[str, ...]


class Like(msgspec.Struct, frozen=True, tag=True):
    """The page has some of these weighted words. `page_filters.py` replaces `related:` by this."""

    words: tuple[tuple[str, float], ...]
    vector: bytes = b""
    """Of the meaning of that page, if the index has vectors (`messages.Near`)."""


class Not(msgspec.Struct, frozen=True, tag=True):
    """The page does not match `part`, unless it has `unless` as written: `-word` may be an option.

    `unless` is empty if the exclusion is strict.
    """

    part: Query
    unless: str = ""


class And(msgspec.Struct, frozen=True, tag=True):
    """`strict`: the user wrote AND, so pages must have all parts."""

    parts: tuple[Query, ...]
    strict: bool = False


class Or(msgspec.Struct, frozen=True, tag=True):
    parts: tuple[Query, ...]


Leaf: TypeAlias = Words | Filter | Urls | Like
Query: TypeAlias = Leaf | Not | And | Or
_Token: TypeAlias = Words | Filter | Not | str
"""A leaf, an excluded word, a parenthesis, or one of OPERATORS."""
OPERATORS = ("AND", "OR", "NOT", "-")

_NAMES = "|".join(sorted({*FILTERS, *ALIASES}))
_WORD = r'[^\s()"]+ (?: \([^\s()"]*\) [^\s()"]* )*'
"""A word may contain pairs of parentheses: `print(a)`."""
TOKEN = re.compile(
    rf"""(?P<minus>-(?=["(]|(?:{_NAMES}):))
    |(?P<name>{_NAMES}):(?:"(?P<quoted>[^"]+)"?|(?P<value>[^\s()"]+))
    |"(?P<phrase>[^"]*)(?:"(?P<near>~\d+)?(?P<weight>\^\d+(?:\.\d+)?)?(?!\w)|"?)|(?P<sign>[()])
    |(?<![^\s(])-(?P<excluded>(?=\w){_WORD})
    |(?<![^\s(])\+(?:(?="|(?:{_NAMES}):)|(?P<required>(?=[^\W\d_]{{2}}){_WORD}))
    |(?P<word>{_WORD})""",
    re.VERBOSE | re.IGNORECASE,
)
WEIGHED = re.compile(r"(?P<word>(?![A-Z]+\^)[^\W\d_]{4,})\^\d+(?:\.\d+)?")
"""A word with a weight, unlike `HEAD^2` and `sin^2`."""
AROUND = re.compile(r"AROUND\(\d+\)")


def parse(text: str) -> Query:
    """The tree of a query. An empty query is `And(())`."""
    return _Parser(_tokens(straighten(text))).query()


def removable_filters(text: str) -> list[tuple[str, str]]:
    """Each filter of a query as it was typed, with its minus, and the query without this filter."""
    found = []
    for match in TOKEN.finditer(straighten(text)):
        if match["name"] is not None:
            before = text[: match.start()]
            rest = f"{before.removesuffix('-')} {text[match.end() :]}"
            typed = text[match.start() : match.end()]
            found.append(("-" * before.endswith("-") + typed, " ".join(rest.split())))
    return found


def is_passage(query: Query) -> bool:
    """Whether a query has so many words that no page is expected to have them all."""
    return len(wanted_words(query)) > MAX_WORDS and allows_partial_matches(query)


def wanted_words(query: Query) -> list[Words]:
    """The words and phrases that a query asks for, in its order, without excluded ones."""
    words = []
    for leaf in _query_leaves(query):
        match leaf:
            case Words():
                words.append(leaf)
            case Filter("intitle", value):
                words.append(Words(value))
    return words


def highlighted_words(query: Query) -> list[Words]:
    """The words that a snippet highlights: those asked for, options, and those of `related:`."""
    words = wanted_words(query)
    synonyms = [Words(text, exact=True) for text in synonyms_in(words)]
    others = map(Words, [*query_options(query), *similar_words(query)])
    return [*words, *synonyms, *others]


def synonyms_in(words: Iterable[Words]) -> list[str]:
    """The synonyms of words, each once."""
    return list(dict.fromkeys(text for each in words for text in each.also))


def users_synonyms(words: Iterable[Words]) -> list[str]:
    """Those of the user: without the other number of an ISBN, which names the same book."""
    words = list(words)
    isbns = {other_isbn(each.text) for each in words}
    return [text for text in synonyms_in(words) if text not in isbns]


def query_options(query: Query) -> list[str]:
    """The excluded words that may be options of a command, such as `-sname`."""
    match query:
        case Not(_, unless):
            return [unless] if unless else []
        case And(parts) | Or(parts):
            return [option for part in parts for option in query_options(part)]
        case _:
            return []


def similar_words(query: Query) -> list[str]:
    """The words of the pages to which the results should be similar."""
    return [
        text for leaf in _query_leaves(query) if isinstance(leaf, Like) for text, _ in leaf.words
    ]


def similar_vector(query: Query) -> bytes:
    """The vector of the first page to which the results should be similar; b"" without one."""
    vectors = (leaf.vector for leaf in _query_leaves(query) if isinstance(leaf, Like))
    return next(filter(None, vectors), b"")


def _query_leaves(query: Query) -> Sequence[Leaf]:
    """The leaves of the tree that are not under a Not."""
    match query:
        case Words() | Filter() | Urls() | Like():
            return (query,)
        case And(parts) | Or(parts):
            return [leaf for part in parts for leaf in _query_leaves(part)]
        case Not():
            return ()


def plain_words(query: Query) -> list[Words]:
    """The words of a query of words and phrases only; [] if it has operators or filters."""
    match query:
        case Words():
            return [query]
        case And(parts) if all(isinstance(part, Words) for part in parts):
            return wanted_words(query)
    return []


def title_words(query: Query) -> list[Words]:
    """The words of a query that may be a pasted title: words, phrases and options only."""
    match query:
        case And(parts):
            words = [Words(part.unless) if isinstance(part, Not) else part for part in parts]
            return plain_words(And(tuple(each for each in words if each != Words(""))))
        case _:
            return plain_words(query)


def allows_partial_matches(query: Query) -> bool:
    """Whether a page may lack some of the words.

    It may not if the query has AND or OR, asks for similar pages, or if at least half of its words
    are phrases in quotes.
    """
    words = wanted_words(query)
    return _has_no_operator(query) and 2 * sum(each.exact for each in words) < max(len(words), 1)


def _has_no_operator(query: Query) -> bool:
    match query:
        case Words() | Filter() | Urls() | Not():
            return True
        case And(parts, strict):
            return not strict and all(map(_has_no_operator, parts))
        case Or() | Like():
            return False


def query_conditions(query: Query) -> list[Query]:
    """The filters and exclusions that every result must meet, whatever words it has."""
    match query:
        case Not() | Filter() | Urls():
            return [query]
        case And(parts):
            return [part for within in parts for part in query_conditions(within)]
        case Words() | Like() | Or():
            return []


def restricts_host(query: Query) -> bool:
    """Whether the query is restricted to one site or host."""
    match query:
        case Filter(name):
            return name in ("site", "host")
        case And(parts):
            return any(map(restricts_host, parts))
        case _:
            return False


def _tokens(text: str) -> list[_Token]:
    """The tokens of a query. Without an operator among them, there are no parentheses either."""
    capitals_only = not any(char.isalpha() and not char.isupper() for char in text)
    tokens = [
        token for match in TOKEN.finditer(text) for token in _token(match, plain=capitals_only)
    ]
    tokens = _replace_dangling_operators(tokens)
    if not any(isinstance(token, Not) or token in OPERATORS for token in tokens):
        tokens = [token for token in tokens if not isinstance(token, str)]
    words = [number for number, token in enumerate(tokens) if not isinstance(token, str)]
    if all(isinstance(tokens[number], Not) for number in words):
        tokens = [Words(token.unless) if isinstance(token, Not) else token for token in tokens]
    most = MAX_PASSAGE if _is_plain(tokens) else MAX_WORDS
    return tokens[: words[most]] if len(words) > most else tokens


def _is_plain(tokens: list[_Token]) -> bool:
    """Whether there are only words, phrases, and not more than MAX_WORDS filters."""
    filters = [token for token in tokens if isinstance(token, Filter)]
    words = [token for token in tokens if isinstance(token, Words)]
    return len(filters) <= MAX_WORDS and len(words) + len(filters) == len(tokens)


def _replace_dangling_operators(tokens: list[_Token]) -> list[_Token]:
    """The tokens with operators that lack an operand as words, as in the title `AND operator`."""
    first = next((n for n, token in enumerate(tokens) if token not in ("AND", "OR")), len(tokens))
    last = next((n for n, token in enumerate(tokens[::-1]) if token not in OPERATORS), len(tokens))
    words = {*range(first), *range(len(tokens) - last, len(tokens))}
    if len(tokens) == 2 and tokens[0] == "NOT":  # noqa: PLR2004  # it would find nothing
        words.add(0)
    return [Words(str(token)) if n in words else token for n, token in enumerate(tokens)]


def _token(match: re.Match[str], *, plain: bool) -> Iterator[_Token]:
    """The token of a match; none for a dash. `plain`: AND, OR and NOT are words."""
    excluded, required, word = match.group("excluded", "required", "word")
    if match["name"] is not None:
        yield _filter(match["name"].lower(), match["quoted"] or match["value"])
    elif match["phrase"] is not None:
        yield from _phrase(match)
    elif excluded is not None:
        yield Not(Words(excluded), unless=match[0])
    elif required is not None:
        yield Words(required, exact=True)
    elif word is None:
        yield from match[0].strip("+")
    elif (word in ("AND", "OR", "NOT") or AROUND.fullmatch(word)) and not plain:
        yield from [word] * (word in OPERATORS)
    elif word.strip("-"):
        weighed = WEIGHED.fullmatch(word)
        text = weighed["word"] if weighed else word
        isbn = other_isbn(text)
        yield Words(text, also=(isbn,) if isbn else ())


def _phrase(match: re.Match[str]) -> Iterator[_Token]:
    """A phrase, or its words if they need only be near each other."""
    if match["near"]:
        yield "("
        yield from map(Words, match["phrase"].split())
        yield ")"
    else:
        yield Words(match["phrase"], exact=True)


def _filter(name: str, value: str) -> Filter:
    """A filter. A `url:` that ends in an asterisk asks for a part of a host."""
    name = ALIASES.get(name, name)
    return Filter("host" if name == "url" and value.endswith("*") else name, value)


class _Parser:
    """A recursive-descent parser of a list of tokens."""

    def __init__(self, tokens: list[_Token]) -> None:
        self._tokens = tokens
        self._at = 0
        self._depth = 0

    def query(self) -> Query:
        parts = []
        while self._at < len(self._tokens):
            parts.append(self._any())
            self._at += 1  # a `)` that closes nothing
        return _join_parts(And, parts)

    def _any(self) -> Query:
        parts = [self._all()]
        while self._peek() == "OR":
            self._at += 1
            parts.append(self._all())
        return _join_parts(Or, parts)

    def _all(self) -> Query:
        parts = []
        strict = False
        while (item := self._peek()) not in (None, "OR", ")"):
            if item == "AND":
                strict = True
                self._at += 1
            else:
                parts.append(self._part())
        joined = _join_parts(And, parts)
        if strict and isinstance(joined, And) and joined.parts:
            return replace(joined, strict=True)
        return joined

    def _part(self) -> Query:
        negated = self._peek() in ("-", "NOT")
        while self._peek() in ("-", "NOT"):
            self._at += 1
        item = self._peek()
        if item == "(":
            part = self._group()
        elif isinstance(item, Words | Filter | Not):
            self._at += 1
            part = item.part if negated and isinstance(item, Not) else item
        else:  # a dangling minus
            return And(())
        return Not(part) if negated else part

    def _group(self) -> Query:
        if self._depth == MAX_DEPTH:
            while self._peek() == "(":
                self._at += 1
            return And(())
        self._at += 1
        self._depth += 1
        group = self._any()
        self._depth -= 1
        if self._peek() == ")":
            self._at += 1
        return group

    def _peek(self) -> _Token | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None


def _join_parts(kind: type[And | Or], parts: list[Query]) -> Query:
    kept = tuple(part for part in parts if part != And(()))
    return kept[0] if len(kept) == 1 else kind(kept) if kept else And(())
