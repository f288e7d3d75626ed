"""Every error a caller may see.

    GossamerError            something a person has to act on
    ├── UsageError           an invalid command or call
    │   ├── InvalidCursor    a text that is no cursor of this crawl's changes
    │   └── ForgottenChanges a cursor whose next changes are not kept any more
    ├── Stopped              a step that ended early, on request
    ├── ConfigError          gossamer.toml: file, key, what was expected
    ├── SeedError            an invalid seed, or a list that cannot be read
    ├── NothingFetched       a crawl whose seeds all failed
    ├── StoreError           the crawl folder
    │   ├── NotACrawl        no crawl at this path
    │   │   └── MissingBucket  nor the bucket that would hold it
    │   ├── Occupied         a folder that holds foreign files, or files of another crawl
    │   ├── CorruptManifest  a manifest that cannot be read
    │   ├── MissingFile      a file that the manifest names is gone or damaged
    │   ├── StoreFull        the disk is full
    │   ├── Unanswered       an object store that does not answer
    │   ├── Conflict         another process committed first
    │   └── Locked           another process has locked the crawl
    ├── ServerUnavailable    a server of a crawl that does not answer, or not as one
    └── EngineError          the batch engine cannot be reached, or a task failed

Each has a subject (a path, URL or key), what happened, and a remedy. What happens to a fetched page
is data (the `outcome` of a response), never an error.
"""

from __future__ import annotations

RESTORE = "put it back from a copy"
"""The remedy for a file that is gone or damaged."""


class GossamerError(Exception):
    """`what` happened to `subject` (path, URL, key), and the `remedy`."""

    def __init__(self, subject: object, what: str, remedy: str = "") -> None:
        self.subject = str(subject)
        self.what = what
        self.remedy = remedy
        super().__init__(f"{subject}: {what}" + (f"\n  → {remedy}" if remedy else ""))

    def __reduce__(self) -> tuple[type[GossamerError], tuple[str, str, str]]:
        # For errors from worker processes: pickle stores the constructor's arguments.
        return type(self), (self.subject, self.what, self.remedy)


class UsageError(GossamerError):
    pass


class InvalidCursor(UsageError):
    pass


class ForgottenChanges(UsageError):
    pass


class Stopped(GossamerError):
    """`exit_code` is that of the command."""

    def __init__(self, subject: object, what: str, remedy: str = "", exit_code: int = 130) -> None:
        super().__init__(subject, what, remedy)
        self.exit_code = exit_code


class ConfigError(GossamerError):
    pass


class SeedError(GossamerError):
    pass


class NothingFetched(GossamerError):
    pass


class StoreError(GossamerError):
    pass


class NotACrawl(StoreError):
    pass


class MissingBucket(NotACrawl):
    pass


class Occupied(StoreError):
    pass


class CorruptManifest(StoreError):
    pass


class MissingFile(StoreError):
    def __init__(self, subject: object, what: str, remedy: str = RESTORE) -> None:
        super().__init__(subject, what, remedy)


class StoreFull(StoreError):
    pass


class Unanswered(StoreError):
    """A request to an object store failed without an answer, or within it."""


class Conflict(StoreError):
    pass


class Locked(StoreError):
    pass


class ServerUnavailable(GossamerError):
    pass


class EngineError(GossamerError):
    pass


class WorkerDied(EngineError):
    """A worker process of the engine was killed, and its step can be run again."""
