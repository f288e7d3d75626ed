"""Files of a crawl that are read again soon: while an object is uploaded, its copy is written.

So the machine that wrote an object need not fetch it (local_copies.py), and a commit need not ask
whether it is there (`Backend.sizes_of_new`): a copy exists when the store has the object.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from io import FileIO
from typing import TYPE_CHECKING

from gossamer.storage import opening
from gossamer.storage.errors import disk_errors
from gossamer.storage.local_copies import IN_USE_S, NEAR_BYTES, copy_place, draft_of, make_room
from gossamer.storage.objects.bucket import is_object_url
from gossamer.storage.places import local_path

if TYPE_CHECKING:
    from gossamer.storage.opening import NewFile


def create_kept(path: str) -> NewFile:
    """As `opening.create`; while a small object is being written, its copy is, too."""
    path = local_path(path)
    return _KeptObject(path) if is_object_url(path) else opening.create(path)


def write_kept(path: str, data: bytes) -> NewFile:
    """As `opening.write`; of an object, there is a copy."""
    file = create_kept(path)
    with disk_errors(path):
        file.write(data)
        file.close()
    return file


class _KeptObject(opening.NewObject):
    """An object that is being written, and a draft of its copy.

    The copy exists when the store has the object. If the cache cannot be written, or the object is
    large, there is none: readers then fetch what they need.
    """

    def __init__(self, url: str) -> None:
        self._kept: FileIO | None = None
        super().__init__(url)
        self._copy = copy_place(url, "")
        self._draft = draft_of(self._copy)
        with suppress(OSError):
            self._copy.parent.mkdir(parents=True, exist_ok=True)
            self._kept = FileIO(self._draft, "xb")

    def write(self, data: bytes) -> int:
        written = super().write(data)
        if self._kept is not None and not self._keep(data):
            self._drop()
        return written

    def _keep(self, data: bytes) -> bool:
        rest = memoryview(data).cast("B")
        with suppress(OSError):
            while rest and self.size <= NEAR_BYTES and self._kept is not None:
                rest = rest[self._kept.write(rest) :]
        return not rest

    def close(self) -> None:
        try:
            super().close()
            if self._kept is not None:
                self._publish(self._kept)
        finally:
            self._drop()

    def _publish(self, kept: FileIO) -> None:
        """Make a draft a copy. Until it is used, it may be deleted as soon as the cache is full."""
        unused_s = time.time() - IN_USE_S
        with suppress(OSError):
            kept.close()
            os.utime(self._draft, (unused_s, unused_s))
            self._draft.replace(self._copy)
            self._kept = None
            make_room()

    def _drop(self) -> None:
        kept, self._kept = self._kept, None
        if kept is not None:
            with suppress(OSError):
                kept.close()
            with suppress(OSError):
                self._draft.unlink()

    def __del__(self) -> None:
        """Leave no draft of an object that was not completed, and is garbage."""
        self._drop()
