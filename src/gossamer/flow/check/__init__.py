"""check: are the files of a crawl whole, and do its datasets agree?

  1. `Store.verify` compares every file that the manifest names with its size and checksum, the
     listings first; files that a listing names are unknown if both of its files are damaged.
  2. If all are whole, `archive.py` reads every body that `responses` names and compares it with its
     digest; `agreement.py` compares the datasets with each other; and `parts.py` compares the
     documents in the index with the rows of `indexed`.

`repair.py` mends what these find. It invents nothing: what can be computed is computed again, what
can be fetched becomes due, and the rest is dropped and counted.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec import structs

from gossamer.errors import CorruptManifest
from gossamer.storage.store import Damage, File

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gossamer.errors import StoreError
    from gossamer.state.workspace import Workspace


def files(work: Workspace) -> Iterator[tuple[File, StoreError | None]]:
    """Read every file of the current state, and yield each with what is wrong with it."""
    store, manifest = work.store, work.store.manifest
    for listing in manifest.listings():
        both = [File(path, listing.entries, listing.bytes, listing.xxh3) for path in listing.paths]
        found = list(store.verify(both))
        is_lost = all(wrong is not None for _, wrong in found)
        for file, wrong in found:
            if wrong is None:
                yield file, None
            elif is_lost:
                yield file, store.unreadable(structs.replace(listing, path=file.path), wrong)
            else:
                remedy = f"write it again: gossamer check {store.url} --repair"
                yield file, CorruptManifest(f"{store.url}/{file.path}", wrong, remedy)
    listed: list[File] = []
    for name in manifest.datasets:
        with suppress(CorruptManifest):  # its listing was yielded
            listed += store.listed(name)
    for file, wrong in store.verify(listed):
        yield file, None if wrong is None else store.error(Damage(file, wrong))


def contents(work: Workspace) -> Iterator[str]:
    """Compare what the files hold; all of them must be whole. Yields what is wrong, as sentences.

    Writes nothing, not even scratch files; only tantivy locks what it reads.
    """
    from gossamer.flow.check import (  # tasks import check, too
        agreement,
        archive,
        finding,
        history,
        parts,
    )

    lost = archive.unreadable(work)
    what = "bodies are not in the archive as they were stored"
    yield from map(str, finding.findings_of_rows("responses", what, lost))
    yield from map(str, agreement.contradictions(work))
    yield from map(str, parts.differing(work))
    if history.is_unfinished(work.store.manifest):
        yield "a repair was interrupted before its end"
