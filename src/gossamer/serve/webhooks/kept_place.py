"""The file with the place up to which all matches of a followed query were delivered.

It is replaced as a whole after each delivery, and locked while a process uses it, so that no two
processes send the same.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from gossamer.errors import Locked, StoreError
from gossamer.storage.errors import disk_errors

if TYPE_CHECKING:
    from collections.abc import Iterator

OURS = 0o600


class Followed(msgspec.Struct, frozen=True):
    """What is followed: of which crawl, and where matches are posted."""

    crawl: str
    query: str
    site: str
    to: str

    @property
    def name(self) -> str:
        return blake2b(msgspec.json.encode(self), digest_size=16).hexdigest()


class _Kept(msgspec.Struct, frozen=True):
    followed: Followed
    cursor: str


def usual_path(followed: Followed) -> Path:
    """The file in the user's folder for states (XDG Base Directory Specification)."""
    base = os.environ.get("XDG_STATE_HOME", "")
    folder = Path(base) if Path(base).is_absolute() else Path.home() / ".local" / "state"
    return folder / "gossamer" / "follow" / f"{followed.name}.json"


class KeptPlace:
    """The file of what is followed. Use `opened`."""

    def __init__(self, path: Path, followed: Followed) -> None:
        self.path, self._followed = path, followed

    @contextmanager
    def opened(self) -> Iterator[KeptPlace]:
        """Lock the file. Raises Locked, and StoreError if it cannot be made."""
        lock = self.path.with_name(self.path.name + ".lock")
        with disk_errors(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, OURS)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                what = "another process follows the same"
                raise Locked(
                    self.path, what, "end it, or give another file: --state FILE"
                ) from None
            yield self
        finally:
            os.close(descriptor)

    def cursor(self) -> str | None:
        """What was kept; None if nothing was. Raises StoreError for another file."""
        try:
            kept = msgspec.json.decode(self.path.read_bytes(), type=_Kept)
        except FileNotFoundError:
            return None
        except msgspec.DecodeError:
            kept = None
        if kept is None or kept.followed != self._followed:
            what = "is damaged, or of another query, site, URL or crawl"
            raise StoreError(self.path, what, "give another file: --state FILE; or delete it")
        return kept.cursor

    def keep(self, cursor: str) -> None:
        """Replace what was kept, durably."""
        new = self.path.with_name(self.path.name + ".new")
        with disk_errors(self.path):
            descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, OURS)
            with os.fdopen(descriptor, "wb") as file:
                file.write(msgspec.json.encode(_Kept(self._followed, cursor)))
                file.flush()
                os.fsync(file.fileno())
            new.replace(self.path)
