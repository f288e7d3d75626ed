"""What the dataset dispositions says about a page, for people: where its content is found.

`gossamer.dedup` decides which page stands for which others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec

from gossamer.dedup.version_names import version_in, version_recency
from gossamer.tables import DISPOSITIONS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gossamer.state.lookup import Lookup

INDEXED = "indexed"
VERSION = "version"


class Reason(NamedTuple):
    """Why a page is a duplicate: in two words, and in a clause about it and the page that stays."""

    label: str
    meaning: str


REASONS: Mapping[str, Reason] = {
    "canonical": Reason("canonical", "it names that page as its canonical one; the texts agree"),
    "text": Reason("same text", "main text and title have the same words"),
    "body": Reason("same file", "both files have the same bytes, and no text"),
    "soft_404": Reason(
        "same text at many addresses",
        "one text at many addresses of its host, probably that of missing pages",
    ),
    "near": Reason("nearly the same text", "the main texts differ in few words"),
    VERSION: Reason("older version", "it is an older version of that page"),
    "mirror": Reason("mirror", "its host is a mirror of that page's host"),
}
"""By the reasons of the dataset."""
DROPPED: Mapping[str, str] = {
    "dropped_status": "it is gone, redirects, or may no longer be fetched",
    "dropped_outcome": "it has no text that can be searched, or a filter rule refuses its language",
    "dropped_noindex": "it asks search engines to leave it out (noindex)",
    "dropped_wish": "its publisher does not want it in search (search=no)",
    "dropped_unavailable": "it asked to be left out from a date on that has passed "
    "(unavailable_after)",
}
"""Why a document is not indexed if it is no duplicate, by its disposition."""


class Copy(msgspec.Struct, frozen=True):
    """A page that another one stands for.

    `reason`: as in the dataset dispositions. `similarity`: of the texts, from 0 to 1, if known.
    `version`: the part of the URL that names the version, if it is an older version.
    """

    url: str
    reason: str
    similarity: float | None = None
    version: str | None = None

    @property
    def why(self) -> Reason:
        return reason_of(self.reason)


class Duplicates(msgspec.Struct, frozen=True):
    """Where the content of a page is found, as of the last `dedup`.

    `disposition`: what became of its document; null if `dedup` has not seen it. `survivor` is the
    page that stands for it, if it is a duplicate, for this `reason` and with this `similarity`.
    It stands itself for `copies_total` other addresses with the same content, and for
    `versions_total` older versions of it. 100 of them are named at most, the newest versions first.
    """

    disposition: str | None = None
    survivor: str | None = None
    reason: str | None = None
    similarity: float | None = None
    copies_total: int = 0
    versions_total: int = 0
    copies: list[Copy] = []
    versions: list[Copy] = []

    @property
    def left_out(self) -> str | None:
        """Why the page is not in the index, as a clause; None if it is, or is not known yet."""
        if self.survivor is not None:
            return f"{self.survivor} stands for it: {reason_of(self.reason or '').meaning}"
        return DROPPED.get(self.disposition or "")


def reason_of(name: str) -> Reason:
    """The reason of this name, which may be one of a later version."""
    return REASONS.get(name) or Reason(name.replace("_", " "), name.replace("_", " "))


def duplicates_of(lookup: Lookup, url: str) -> Duplicates:
    """What `dispositions` says about a page. Raises StoreError."""
    row = next(lookup.rows(DISPOSITIONS.name, "url", url, _COLUMNS), None)
    if row is None:
        return Duplicates()
    named = [Copy(**copy) for copy in row["copies"] or ()]
    versions = [
        msgspec.structs.replace(copy, version=version_in(copy.url, url))
        for copy in named
        if copy.reason == VERSION
    ]
    return Duplicates(
        row["disposition"],
        row["survivor"],
        row["reason"],
        row["similarity"],
        row["copy_count"] - row["version_count"],
        row["version_count"],
        [copy for copy in named if copy.reason != VERSION],
        sorted(versions, key=_newest_first, reverse=True),
    )


def survivor_of(lookup: Lookup, url: str) -> str | None:
    """The page that stands for a URL; None if no other page does."""
    row = next(lookup.rows(DISPOSITIONS.name, "url", url, ["survivor"]), None)
    return None if row is None else row["survivor"]


def _newest_first(copy: Copy) -> tuple[object, ...]:
    version = copy.version or ""
    return version_recency(version), version, -len(copy.url), copy.url


_COLUMNS = (
    *("disposition", "survivor", "reason", "similarity"),
    *("copy_count", "version_count", "copies"),
)
