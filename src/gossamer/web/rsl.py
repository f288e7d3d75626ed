"""RSL 1.0: the licences of a site's pages in a file of its own, as far as a crawler can use them.

A file has `content` elements with a `url`, which matches paths as robots.txt does, and `license`
elements, which are offers with conditions. A crawler can accept none. So a use by AI counts as
allowed only if a licence for the page allows it without any: without a payment, a licence server,
or a restriction to users or countries. The most specific `content` elements for a page grant, and
each one that covers it may prohibit (§3.1.1: licences are interpreted conservatively). `search` is
forbidden only if it is prohibited by name, or by `all`: many publishers who sell their pages to AI
still want them to be found.

A file that cannot be read is None, so that the link to it counts as a reservation. XML with a
document type declaration is not read, so there are no entities. Nothing here raises.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple
from xml.parsers import expat

from gossamer.web.own_locations import EVERYTHING, own_location
from gossamer.web.publisher_wishes import (
    AI_INPUT,
    AI_TRAIN,
    BOTH_BY_AI,
    SEARCH,
    USES,
    rsl_statement,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gossamer.web.robots_rules import Rules

MAX_CONTENTS: Final = 1_000
MAX_ELEMENTS: Final = 20_000
MAX_DEPTH: Final = 32
CACHE_FILES: Final = 128
_PERMITTED: Final[Mapping[str, tuple[str, ...]]] = {
    "all": USES,
    "ai-all": BOTH_BY_AI,
    "ai-train": (AI_TRAIN,),
    "ai-input": (AI_INPUT,),
    "search": (SEARCH,),
    # of the drafts before 1.0
    **dict.fromkeys(("train-ai", "train-genai", "ai-training"), (AI_TRAIN,)),
    **dict.fromkeys(("ai-use", "ai-summarize"), (AI_INPUT,)),
}
_PROHIBITED: Final[Mapping[str, tuple[str, ...]]] = {
    **_PERMITTED,
    "ai-index": (AI_INPUT,),
}
_WITHOUT_CONDITIONS: Final = frozenset(("permits", "prohibits", "payment", "legal", "copyright"))
"""Children of a licence that ask for nothing, if the payment is free."""


class Content(NamedTuple):
    """A part of a site in an RSL file."""

    location: Rules
    granted: frozenset[str]
    """Uses that a licence allows without conditions."""
    prohibited: frozenset[str]
    behind_server: bool
    """Whether a licence server has to be asked, also for free licences (§3.3)."""


class Rsl(NamedTuple):
    """An RSL file."""

    contents: Sequence[Content]

    def statement(self, page: str, url: str) -> str:
        """Return the terms for a page at an absolute URL of the host; `url` is that of the file."""
        ranks = [each.location.rank(page) for each in self.contents]
        covering = [
            (rank, each)
            for rank, each in zip(ranks, self.contents, strict=True)
            if rank is not None
        ]
        if not covering:
            return rsl_statement({}, url)
        highest = max(rank for rank, _ in covering)
        granted = frozenset(USES).intersection(
            *(each.granted for rank, each in covering if rank == highest)
        )
        if any(each.behind_server for _, each in covering):
            granted = frozenset()
        prohibited = frozenset().union(*(each.prohibited for _, each in covering))
        uses = {use: use in granted and use not in prohibited for use in USES}
        if not uses[SEARCH] and SEARCH not in prohibited:
            del uses[SEARCH]
        return rsl_statement(uses, url)


@lru_cache(maxsize=CACHE_FILES)
def parse_rsl(body: bytes, host: str) -> Rsl | None:
    """Parse an RSL file of a host, with its port if there is one; None if it cannot be read."""
    reader = _RslReader(host)
    try:
        reader.parse(body)
    except (expat.ExpatError, _UnreadError, ValueError, LookupError):  # the latter: encodings
        return None
    return Rsl(tuple(reader.contents)) if reader.contents else None


class _UnreadError(Exception):
    """The document is none that we read."""


class _Licence:
    """A licence that is being read."""

    def __init__(self) -> None:
        self.permitted: set[str] | None = None  # None: no usage is named, so none is excluded
        self.prohibited: set[str] = set()
        self.has_conditions = False

    def add(self, name: str, kind: str, words: Sequence[str]) -> None:
        """Add an element `permits` or `prohibits` of this type, with these values."""
        if kind != "usage":
            self.has_conditions = True
        elif name == "permits":
            uses = (_PERMITTED.get(word, ()) for word in words)
            self.permitted = (self.permitted or set()).union(*uses)
        else:
            self.prohibited.update(*(_PROHIBITED.get(word, ()) for word in words))

    def granted(self) -> frozenset[str]:
        if self.has_conditions:
            return frozenset()
        return frozenset(USES if self.permitted is None else self.permitted) - self.prohibited


class _RslReader:
    """The state of the parser: the open elements, the content and the licence that are open."""

    def __init__(self, host: str) -> None:
        self.contents: list[Content] = []
        self._host = host
        self._open: list[str] = []
        self._count = 0
        self._url: str | None = None
        self._behind_server = False
        self._licences: list[_Licence] = []
        self._type = ""
        self._text: list[str] = []

    def parse(self, body: bytes) -> None:
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.StartDoctypeDeclHandler = _start_doctype
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text.append
        parser.Parse(body, True)

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        name = _local(tag)
        self._count += 1
        if self._count > MAX_ELEMENTS or len(self._open) >= MAX_DEPTH:
            raise _UnreadError
        if not self._open and name != "rsl":
            raise _UnreadError
        self._open.append(name)
        given = {_local(key): value for key, value in attributes.items()}
        match self._open[1:]:
            case ["content"]:
                self._url = given.get("url")
                self._behind_server = bool(given.get("server", "").strip())
                self._licences = []
            case ["content", "license"]:
                self._licences.append(_Licence())
            case ["content", "license", child]:
                self._start_term(child, given.get("type", "").strip().lower())

    def _start_term(self, name: str, kind: str) -> None:
        self._type = kind or "usage"
        self._text.clear()
        licence = self._licences[-1]
        if name not in _WITHOUT_CONDITIONS or (name == "payment" and kind != "free"):
            licence.has_conditions = True

    def _end(self, _tag: str) -> None:
        match self._open[1:]:
            case ["content", "license", "permits" | "prohibits" as name]:
                words = "".join(self._text).replace(",", " ").lower().split()
                self._licences[-1].add(name, self._type, words)
            case ["content"]:
                self._add_content()
        self._text.clear()
        self._open.pop()

    def _add_content(self) -> None:
        if len(self.contents) >= MAX_CONTENTS:
            raise _UnreadError
        url = (self._url or "").strip()
        location = own_location(url or EVERYTHING, self._host)
        if location is None:
            return
        grants = [each.granted() for each in self._licences]
        self.contents.append(
            Content(
                location,
                # A content without a URL is for no page in particular, so it grants nothing.
                frozenset().union(*grants) if url else frozenset(),
                frozenset().union(*(each.prohibited for each in self._licences)),
                self._behind_server,
            )
        )


def _start_doctype(*_: object) -> None:
    raise _UnreadError


def _local(name: str) -> str:
    """The local name of an element or attribute, in lower case."""
    return name.rpartition(" ")[2].lower()
