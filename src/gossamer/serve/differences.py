"""What changed on a page between two of its versions, and on a site since a day."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Literal

import msgspec

from gossamer.serve.page_versions import PageVersions, Version
from gossamer.serve.stored_copy import Refusal
from gossamer.serve.text_diff import Row, compare

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gossamer.search.page_info import PageInfo
    from gossamer.state.workspace import Workspace

_DAY = "%Y-%m-%d"
_DIGITS = 14


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """Two versions of a page: its title and main text.

    `removed` and `added` count words. `truncated`: a text is too long to be compared to its end, or
    there are too many differences to list.
    """

    url: str
    old: Version
    new: Version
    removed: int
    added: int
    rows: list[Row]
    truncated: bool
    versions: list[Version]
    """All versions that the archive holds, the oldest first."""


class PageChange(msgspec.Struct, frozen=True):
    """A page of a site whose text is another one than before, or that is new."""

    url: str
    kind: Literal["new", "changed"]
    fetched_ms: int
    removed: int
    added: int


class Differences:
    """Compares versions. Safe to use from several threads."""

    def __init__(self, work: Workspace, pages: PageInfo) -> None:
        self._versions = PageVersions(work, pages)

    def of(
        self, url: str, since_ms: int | None = None, until_ms: int | None = None
    ) -> Difference | Refusal:
        """Compare the versions of a URL in normal form at two times. Raises StoreError.

        By default, these are the newest version and the one before it.
        """
        versions = self._versions.of(url)
        if isinstance(versions, Refusal):
            return versions
        old, new = choose(versions, since_ms, until_ms)
        texts = []
        for version in (old, new):
            text = self._versions.text(url, version)
            if isinstance(text, Refusal):
                return text
            texts.append(text)
        found = compare(*texts)
        return Difference(
            url=url,
            old=old,
            new=new,
            removed=found.removed,
            added=found.added,
            rows=found.rows,
            truncated=found.truncated,
            versions=versions,
        )

    def of_site(self, host: str, since_ms: int) -> Iterator[PageChange]:
        """Yield the pages of a host whose text has changed since a time. Raises StoreError.

        Pages that must not be shown are left out, and so are those whose text is the same again.
        """
        for url in self._versions.fetched_since(host, since_ms):
            versions = self._versions.of(url)
            if isinstance(versions, Refusal) or versions[-1].fetched_ms < since_ms:
                continue
            before = [version for version in versions if version.fetched_ms < since_ms]
            new = self._versions.text(url, versions[-1])
            old = self._versions.text(url, before[-1]) if before else ""
            if isinstance(new, Refusal) or isinstance(old, Refusal) or old == new:
                continue
            found = compare(old, new)
            yield PageChange(
                url,
                "changed" if before else "new",
                versions[-1].fetched_ms,
                found.removed,
                found.added,
            )


def choose(
    versions: Sequence[Version], since_ms: int | None, until_ms: int | None
) -> tuple[Version, Version]:
    """The versions that a page had at two times; the first one for a time before all of them."""
    last = len(versions) - 1 if until_ms is None else _at(versions, until_ms)
    first = max(last - 1, 0) if since_ms is None else min(_at(versions, since_ms), last)
    return versions[first], versions[last]


def _at(versions: Sequence[Version], time_ms: int) -> int:
    return max(sum(version.fetched_ms <= time_ms for version in versions) - 1, 0)


def parse_time(text: str, *, ends: bool = False) -> int:
    """A day, a time in ISO 8601, or 14 digits, in ms since 1970. Raises ValueError.

    A time without a zone is UTC. A day is its beginning, or its end if `ends`.
    """
    if text.isascii() and text.isdigit() and len(text) == _DIGITS:
        time = datetime.strptime(text, "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    elif len(text) == len("2026-01-01"):
        time = datetime.strptime(text, _DAY).replace(tzinfo=UTC)
        time += timedelta(days=1, milliseconds=-1) if ends else timedelta()
    else:
        time = datetime.fromisoformat(text)
        time = time if time.tzinfo else time.replace(tzinfo=UTC)
    return int(time.timestamp() * 1000)
