"""Every error a caller may see.

    GossamerError            something a person has to act on
    ├── UsageError           a command or call that makes no sense
    ├── Stopped              a step that ended early, as it was asked to
    ├── ConfigError          gossamer.toml: file, key, what was expected
    ├── SeedError            a seed list that cannot be read
    ├── StoreError           the crawl folder
    │   ├── NotACrawl        no crawl at this path
    │   ├── CorruptManifest  a manifest that cannot be read
    │   ├── MissingFile      a file the manifest names is gone
    │   ├── StoreFull        the disk is full
    │   ├── Conflict         another process committed first
    │   └── Locked           another process holds the crawl
    └── EngineError          the batch engine cannot be reached, or a task failed

Every one carries what it is about (a path, URL or key) and the remedy. What happens to a
fetched page is data (the `outcome` of a response) and never one of these.
"""

from __future__ import annotations


class GossamerError(Exception):
    """`what` happened to `subject` (path, URL, key), and the `remedy`."""

    def __init__(self, subject: object, what: str, remedy: str = "") -> None:
        self.subject = str(subject)
        self.what = what
        self.remedy = remedy
        super().__init__(f"{subject}: {what}" + (f"\n  → {remedy}" if remedy else ""))

    def __reduce__(self) -> tuple[type[GossamerError], tuple[str, str, str]]:
        # Raised in worker processes too: an exception travels as its constructor's arguments.
        return type(self), (self.subject, self.what, self.remedy)


class UsageError(GossamerError):
    pass


class Stopped(GossamerError):
    pass


class ConfigError(GossamerError):
    pass


class SeedError(GossamerError):
    pass


class StoreError(GossamerError):
    pass


class NotACrawl(StoreError):
    pass


class CorruptManifest(StoreError):
    pass


class MissingFile(StoreError):
    pass


class StoreFull(StoreError):
    pass


class Conflict(StoreError):
    pass


class Locked(StoreError):
    pass


class EngineError(GossamerError):
    pass
