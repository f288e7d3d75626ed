"""The result of reading a file that is not HTML; limits and dates that all readers share."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct, structs

from gossamer.parse.reading.authors import split_authors
from gossamer.parse.reading.dates import END
from gossamer.parse.reading.language import tag_of
from gossamer.parse.reading.titles import says_nothing
from gossamer.web.directions import without_overrides

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_CPU_S = 3.0
"""Processor time after which no more text is read: less than in `guarded_parser.py`, so what
was read by then is kept."""
LINES_PER_CLOCK = 32
"""To read the clock takes as long as to add a line."""
MAX_LINKS = 10_000
MAX_HEADINGS = 100
MAX_URL_CHARS = 10_000
MAX_TITLE_CHARS = 1_000
MAX_HEADING_CHARS = 500
MAX_AUTHOR_CHARS = 500
MAX_FIRST_LINE_CHARS = 120
"""Longest first line that may be a title."""
MAX_ANCHOR_CHARS = 200
MAX_DETAIL_CHARS = 200

_DATE = re.compile(
    r"""\s*(?:D:)?(\d{4})
        (?:[-:]?(\d\d)(?:[-:]?(\d\d)
        (?:[T\s]?(\d\d):?(\d\d)(?::?(\d\d)(?:[.,]\d+)?)?
        \s*(?:(Z)|([+-])(\d\d)[:']?(\d\d)?)?)?)?)?""",
    re.VERBOSE | re.ASCII,
)
"""W3C-DTF (2024-05-06T07:08:09+02:00), PDF (D:20240506070809+02'00', ISO 32000-1 §7.9.4) and
Exif (2024:05:06 07:08:09) differ only in punctuation."""
_NO_CHARACTER = re.compile("[\0\ud800-\udfff]")
_BEFORE_COMPUTERS = 1970
"""Dates up to this year are rejected: programs write empty dates as 0000, 1601 or 1904."""


class FileLink(NamedTuple):
    url: str
    anchor: str


class BinaryDocument(Struct, frozen=True, kw_only=True):
    """The contents of a file. `outcome` is one of those of parsing (`gossamer.parse`).

    `content_type` is the type that the file proved to have; `published` is its date of creation.
    Dates are in UTC; dates without a time zone are taken for UTC. `links` are absolute URLs as
    written, each target once, in the order of the file. `pages` is None for formats without pages.
    """

    outcome: str
    detail: str | None = None
    content_type: str | None = None
    title: str | None = None
    authors: tuple[str, ...] = ()
    text: str | None = None
    truncated: bool = False
    headings: tuple[str, ...] = ()
    published: datetime | None = None
    modified: datetime | None = None
    language: str | None = None
    pages: int | None = None
    links: tuple[FileLink, ...] = ()


class Mark(NamedTuple):
    """How far a draft was when it was marked."""

    lines: int
    links: int
    headings: int
    room: int
    truncated: bool


class Unsupported(Exception):
    """The file is intact, but no reader supports it; the message says why."""


class Broken(Exception):
    """The file is damaged or of another type; the message says why."""


class Draft:
    """A document that is being read. Readers add what they find; `done` cleans and bounds it.

    `room` is how many characters of text may still be added. `truncated`: text was left out for
    lack of room or time, so readers may stop.
    """

    def __init__(self, max_chars: int, content_type: str = "") -> None:
        self.room = max_chars
        self.truncated = False
        self._until_s = time.process_time() + MAX_CPU_S
        self.content_type = content_type
        self.detail: str | None = None
        self.metadata: dict[str, str] = {}
        """title, author, published, modified, language, as written."""
        self.headings: list[str] = []
        self.pages: int | None = None
        self._lines: list[str] = []
        self._links: dict[str, str] = {}

    def say(self, line: str) -> bool:
        """Add a line of text. Return false if text was left out."""
        line = " ".join(line.split())
        if line and not self.truncated:
            self.truncated = len(line) > self.room or (
                len(self._lines) % LINES_PER_CLOCK == 0 and time.process_time() > self._until_s
            )
            if self.room > 0:
                self._lines.append(line[: self.room])
                self.room -= len(line) + 1
        return not self.truncated

    def is_full(self) -> bool:
        """Whether no further text is taken, for lack of room or of time."""
        self.truncated = self.truncated or time.process_time() > self._until_s
        return self.truncated

    def mark(self) -> Mark:
        """Return a mark, to which `return_to` returns."""
        lines, links, headings = map(len, (self._lines, self._links, self.headings))
        return Mark(lines, links, headings, self.room, self.truncated)

    def return_to(self, mark: Mark) -> None:
        """Forget all text, headings and links that were added since a mark."""
        del self._lines[mark.lines :]
        del self.headings[mark.headings :]
        for url in list(self._links)[mark.links :]:
            del self._links[url]
        self.room, self.truncated = mark.room, mark.truncated

    def head(self, heading: str) -> None:
        heading = " ".join(heading.split())[:MAX_HEADING_CHARS]
        if heading and len(self.headings) < MAX_HEADINGS:
            self.headings.append(heading)

    def link(self, url: str, anchor: str = "") -> None:
        """Add a link if it is an absolute URL; ignore others, such as links within the file."""
        url = url.strip()
        if not is_web_url(url):
            return
        known = self._links.get(url)
        if known is None and len(self._links) >= MAX_LINKS:
            return
        if not known:
            self._links[url] = " ".join(anchor.split())[:MAX_ANCHOR_CHARS]

    def finish_unsupported(self, why: str) -> BinaryDocument:
        detail = why[:MAX_DETAIL_CHARS]
        return BinaryDocument(
            outcome="unsupported", detail=detail, content_type=self.content_type or None
        )

    def finish_damaged(self, why: str) -> BinaryDocument:
        """Return what was read before the error; `failed` if there is no text."""
        self.detail = why
        document = self.finish()
        return document if document.text else structs.replace(document, outcome="failed")

    def finish(self) -> BinaryDocument:
        field = self.metadata.get
        text = whole("\n".join(self._lines))
        title = self._title(text)
        return BinaryDocument(
            outcome="parsed" if text or title else "empty",
            detail=whole(self.detail[:MAX_DETAIL_CHARS]) if self.detail else None,
            content_type=self.content_type or None,
            title=title,
            authors=tuple(
                name[:MAX_AUTHOR_CHARS] for name in split_authors(whole(field("author", "")))
            ),
            text=text,
            truncated=self.truncated,
            headings=tuple(map(whole, self.headings)),
            published=moment(field("published", "")),
            modified=moment(field("modified", "")),
            language=tag_of(field("language", "")),
            pages=self.pages,
            links=tuple(
                FileLink(url, whole(anchor))
                for url, anchor in self._links.items()
                if url.isprintable()
            ),
        )

    def _title(self, text: str) -> str | None:
        """Return the first of title and headings that says something.

        Without any, it is the first line if that is short and the title says nothing.
        """
        given = _clean(self.metadata.get("title"), MAX_TITLE_CHARS)
        for title in (given, *self.headings):
            if title and not says_nothing(title):
                return without_overrides(title)
        first = text[: MAX_FIRST_LINE_CHARS + 1].partition("\n")[0]
        if given and len(first) <= MAX_FIRST_LINE_CHARS and not says_nothing(first):
            return without_overrides(first)
        return next(iter(self.headings), None)


def whole(text: str) -> str:
    """Replace lone surrogates, which UTF-8 cannot encode, and NUL by U+FFFD."""
    return _NO_CHARACTER.sub("\ufffd", text)


def is_web_url(text: str) -> bool:
    start = text[:8].lower()
    return start.startswith(("http://", "https://", "ftp://")) and len(text) <= MAX_URL_CHARS


def moment(text: str) -> datetime | None:
    """Return the date at the start of a text, in UTC; None if there is none (formats: _DATE)."""
    found = _DATE.match(text)
    if found is None:
        return None
    *numbers, _, sign, hours, minutes = found.groups()
    year, month, day, hour, minute, second = (int(n) if n else None for n in numbers)
    away = timedelta(hours=int(hours or 0), minutes=int(minutes or 0))
    try:
        zone = timezone(away if sign == "+" else -away)
        date = datetime(
            year or 0, month or 1, day or 1, hour or 0, minute or 0, min(second or 0, 59), 0, zone
        )
        date = date.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return date if date.year > _BEFORE_COMPUTERS and date < END else None


def joined(names: Iterable[str]) -> str:
    """Join the names of authors, each once, to one text of a line each."""
    return "\n".join(dict.fromkeys(name for name in map(str.strip, names) if name))


def _clean(text: str | None, limit: int) -> str | None:
    folded = " ".join((text or "")[: 4 * limit].split())[:limit]
    return whole(folded).replace("\ufffd", "").strip() or None
