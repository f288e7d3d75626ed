"""The versions of a page that the archive still holds.

A version lasts from the fetch that brought its body to the last fetch that found it unchanged. The
indexes of the archive name all of them: datasets forget rows that newer ones replace, and the
archive keeps what `store.warc_versions` and `store.warc_days` say. Each index is sorted, so a page
costs a binary search per archive file.

A page whose copy must not be shown has no versions either, and neither has one that asks not to be
found (noindex) or quoted (nosnippet); and of a version that asked for it, nothing is shown.
"""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from gossamer.errors import MissingFile
from gossamer.parse.page_rules import rules_of
from gossamer.parse.parsed_page import Page
from gossamer.parse.process.guarded_parser import standing_parser
from gossamer.serve.stored_copy import Refusal, find_copy, read_record
from gossamer.storage import opening
from gossamer.storage.warc import WarcReader, cdxj
from gossamer.storage.warc.archives import indexed_archives
from gossamer.storage.warc.cdxj_search import lines_with_prefix

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from gossamer.parse.parsed_page import Rules
    from gossamer.search.page_info import PageInfo
    from gossamer.state.workspace import Workspace
    from gossamer.storage.warc.archives import Archive

REVISIT = "warc/revisit"
NOT_MODIFIED = "304"
MAX_VERSIONS = 1_000
"""Versions of a page, the newest ones."""


class Version(msgspec.Struct, frozen=True):
    """A body that a page had: when it was fetched, and when it was seen last. Times in ms, UTC."""

    fetched_ms: int
    seen_ms: int
    digest: str
    warc_file: str
    warc_offset: int


class _Capture(NamedTuple):
    """A line of an index."""

    url: str
    time: int
    """14 digits, UTC."""
    archive: Archive
    entry: cdxj.Entry

    @property
    def order(self) -> tuple[int, str, int]:
        return self.time, self.archive.path, int(self.entry.offset)

    @property
    def place(self) -> tuple[str, int]:
        return self.archive.path, int(self.entry.offset)


class PageVersions:
    """Finds versions, and reads their texts. Safe to use from several threads."""

    def __init__(self, work: Workspace, pages: PageInfo) -> None:
        self._work = work
        self._pages = pages
        self._parsing = threading.Lock()

    def of(self, url: str) -> list[Version] | Refusal:
        """The versions of a URL in normal form, the oldest first. Raises StoreError."""
        if (why := self._objection(url)) is not None:
            return why
        key = cdxj.surt_key(url).encode() + b" "
        versions = self._versions(each for each in self._captures(key) if each.url == url)
        if not versions:
            return Refusal(404, "The archive holds no version of this page any more.")
        return versions[-MAX_VERSIONS:]

    def fetched_since(self, host: str, since_ms: int) -> list[str]:
        """The URLs of a host that had a body since a time, which may be the one that they had."""
        key = cdxj.surt_key(f"http://{host}/").partition(")")[0].encode() + b")"
        since = _digits(-(-since_ms // 1000))
        found = {
            each.url
            for each in self._captures(key)
            if each.time >= since and _is_version(each) and each.entry.status != NOT_MODIFIED
        }
        return sorted(found)

    def _objection(self, url: str) -> Refusal | None:
        """Why the versions of a URL must not be shown, or None. Raises StoreError."""
        copy = find_copy(self._work, self._pages, url)
        if isinstance(copy, Refusal):
            return copy
        captured = self._pages.capture(url)
        document = (captured and captured.document) or {}
        for name in ("noindex", "nosnippet"):
            if document.get(name):
                return Refusal(403, f"This page asks search engines not to show it ({name}).")
        return None

    def text(self, url: str, version: Version) -> str | Refusal:
        """The title and main text of a version, one line per block. Raises StoreError."""
        record = read_record(self._work.root, version.warc_file, version.warc_offset)
        fetched = datetime.fromtimestamp(version.fetched_ms / 1000, UTC)
        with self._parsing:
            parser = standing_parser(self._rules)
            page = parser.parse(Page(url, record.headers, record.body, fetched))
        if page.robots.noarchive or page.robots.noindex or page.robots.nosnippet:
            day = fetched.date().isoformat()
            return Refusal(403, f"The version of {day} asked search engines not to show it.")
        body = page.main_text if page.main_text is not None else page.text
        return "\n".join(filter(None, (page.title, body)))

    @cached_property
    def _rules(self) -> Rules:
        return msgspec.structs.replace(rules_of(self._work.config, self._work.root), max_links=0)

    def _captures(self, prefix: bytes, only: Archive | None = None) -> Iterator[_Capture]:
        """The captures whose line begins like this. `only`: in this file."""
        layers = self._work.store.manifest.layers("warc")
        files = [file for layer in layers for file in layer.files]
        for archive in [only] if only else indexed_archives(files):
            path = f"{self._work.root}/{archive.index_file}"
            try:
                with opening.open_file(path) as index:
                    for line in lines_with_prefix(index, prefix):
                        _, time, entry = cdxj.parse_line(line)
                        yield _Capture(entry.url, time, archive, entry)
            except (OSError, ValueError, msgspec.DecodeError) as error:
                raise MissingFile(path, f"cannot be read: {error}") from None

    def _versions(self, captures: Iterable[_Capture]) -> list[Version]:
        """The versions of one URL, of which these are all captures."""
        known = sorted(
            (each for each in captures if _is_version(each)), key=lambda each: each.order
        )
        bodies = {each.entry.digest: each.place for each in known if each.entry.mime != REVISIT}
        versions = []
        for digest, same in groupby(known, key=lambda each: each.entry.digest):
            seen = list(same)
            place = bodies.get(digest) or self._referred(seen)
            if place is not None:
                times = _ms(seen[0].time), _ms(seen[-1].time)
                versions.append(Version(*times, digest.removeprefix("sha1:"), *place))
        return versions

    def _referred(self, revisits: Sequence[_Capture]) -> tuple[str, int] | None:
        """Where the body is that another URL of the same archive file had first."""
        for revisit in revisits:
            path = f"{self._work.root}/{revisit.archive.path}"
            try:
                with WarcReader(path) as reader:
                    fields = reader.fields(int(revisit.entry.offset))
            except OSError as error:
                raise MissingFile(path, f"cannot be read: {error}") from None
            other = fields.get("warc-refers-to-target-uri")
            key = cdxj.surt_key(other or "").encode() + b" "
            for capture in self._captures(key, revisit.archive):
                entry = capture.entry
                if entry.digest == revisit.entry.digest and entry.mime != REVISIT:
                    return capture.place
        return None


def _is_version(capture: _Capture) -> bool:
    """Whether a capture shows a page as it was: not an error, and no redirect."""
    status = capture.entry.status
    return bool(capture.entry.digest) and (status[:1] in ("", "2") or status == NOT_MODIFIED)


def _digits(time_s: int) -> int:
    """Convert seconds since 1970 to a number of 14 digits."""
    return int(f"{datetime.fromtimestamp(time_s, UTC):%Y%m%d%H%M%S}")


def _ms(time: int) -> int:
    """Convert 14 digits to ms since 1970."""
    return int(datetime.strptime(f"{time}+0000", "%Y%m%d%H%M%S%z").timestamp() * 1000)
