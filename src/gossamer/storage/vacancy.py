"""May a crawl be created here?"""

from __future__ import annotations

from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING

from gossamer.errors import Conflict, MissingBucket, Occupied
from gossamer.storage.names import is_of_init, version_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from gossamer.storage.backends import Backend

NAMED = 3
"""How many foreign files an error names."""


def check_vacant(backend: Backend, beside: Collection[str] = ()) -> None:
    """Check that a crawl may be created here: only settings and the files `beside` may exist.

    A bucket need not exist: some stores create it for the first object. Raises Conflict if there is
    a crawl, Occupied if there are other files, and StoreError if this storage cannot keep a crawl.
    """
    with suppress(MissingBucket):
        _require_empty(backend, beside)
    backend.prove()


def _require_empty(backend: Backend, beside: Collection[str]) -> None:
    if any(version_of(path) for path, _ in backend.sizes("manifest")):
        raise Conflict(backend.url, "already contains a crawl", "choose another folder")
    others = (path for path, _ in backend.sizes("") if not is_of_init(path) and path not in beside)
    if found := list(islice(others, NAMED + 1)):
        more = " and more" if len(found) > NAMED else ""
        raise Occupied(
            backend.url,
            f"a crawl needs a folder of its own, and this one holds {', '.join(found[:NAMED])}"
            + more,
            "choose a folder that does not exist, is empty or holds only gossamer.toml",
        )
