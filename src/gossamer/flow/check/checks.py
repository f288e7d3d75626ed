"""Is every file of a crawl whole, and do its datasets agree?"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec import structs

from gossamer.errors import CorruptManifest, StoreError
from gossamer.storage.store import Damage, File

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gossamer.state.workspace import Workspace


def check_files(work: Workspace) -> Iterator[tuple[File, StoreError | None]]:
    """Read every file of the current state, and yield each with what is wrong with it.

    The error is a CorruptManifest or MissingFile if the file is damaged. Another StoreError says
    why this process could not check it.
    """
    store, manifest = work.store, work.store.manifest
    for listing in manifest.listings():
        both = [File(path, listing.entries, listing.bytes, listing.xxh3) for path in listing.paths]
        found = list(store.examine(both))
        is_lost = all(wrong is not None for _, wrong in found)
        for file, wrong in found:
            if wrong is None or isinstance(wrong, StoreError):
                yield file, wrong
            elif is_lost:
                yield file, store.unreadable(structs.replace(listing, path=file.path), wrong)
            else:
                remedy = f"write it again: gossamer check {store.url} --repair"
                yield file, CorruptManifest(f"{store.url}/{file.path}", wrong, remedy)
    listed: list[File] = []
    for name in manifest.datasets:
        with suppress(CorruptManifest):  # its listing was yielded
            listed += store.listed(name)
    for file, wrong in store.examine(listed):
        yield file, store.error(Damage(file, wrong)) if isinstance(wrong, str) else wrong


def check_contents(work: Workspace) -> Iterator[str]:
    """Compare what the files hold; all of them must be whole. Yields what is wrong, as sentences.

    Writes nothing to the crawl, not even scratch files.
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
