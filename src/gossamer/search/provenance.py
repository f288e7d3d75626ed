"""Where the stored body of a page lies: what an answer needs to be proved by the archive."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from gossamer.storage.warc import record_length

if TYPE_CHECKING:
    from gossamer.search.page_info import PageInfo


class Provenance(msgspec.Struct, frozen=True):
    """The record with the body of a page, in bytes of its WARC file, and when it was fetched.

    `digest`: SHA-1 of the body, base 32. `unchanged_until_ms`: when the last visit was, if it found
    the page unchanged since `fetched_ms`. Times are ms since 1970, UTC.
    """

    warc_file: str
    warc_offset: int
    digest: str
    fetched_ms: int
    warc_length: int | None = None
    unchanged_until_ms: int | None = None


def find_provenance(pages: PageInfo, url: str) -> Provenance | None:
    """The provenance of a URL in normal form, without `warc_length`; None if nothing is stored."""
    captured = pages.capture(url)
    if captured is None or captured.response["warc_file"] is None:
        return None
    row, visit = captured.response, pages.visit(url)
    until_ms = visit["fetched_ms"] if visit["outcome"] == "unchanged" else None
    return Provenance(
        row["warc_file"],
        row["warc_offset"],
        row["digest"] or "",
        row["fetched_ms"],
        unchanged_until_ms=until_ms,
    )


def measure_record(root: str, found: Provenance) -> Provenance:
    """The provenance with its `warc_length`, from the index beside the WARC file."""
    length = record_length(f"{root}/{found.warc_file}", found.warc_offset)
    return msgspec.structs.replace(found, warc_length=length)
