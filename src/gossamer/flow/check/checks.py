"""Is every file of a crawl whole, and do its datasets agree?"""

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


def check_files(work: Workspace) -> Iterator[tuple[File, StoreError | None]]:
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


def check_contents(work: Workspace) -> Iterator[str]:
    """Compare what the files hold; all of them must be whole. Yields what is wrong, as sentences.

    Writes nothing, not even scratch files; only tantivy locks what it reads.
    """
    from gossamer.flow.check import (  # tasks import check, too
        archived_bodies,
        dataset_agreement,
        finding,
        index_parts,
        repair_history,
    )

    lost = archived_bodies.unreadable(work)
    what = "bodies are not in the archive as they were stored"
    yield from map(str, finding.findings_of_rows("responses", what, lost))
    yield from map(str, dataset_agreement.contradictions(work))
    yield from map(str, index_parts.differing(work))
    if repair_history.is_unfinished(work.store.manifest):
        yield "a repair was interrupted before its end"
