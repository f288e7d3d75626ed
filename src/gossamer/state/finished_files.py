"""Which files has a fetch finished that still runs?

A fetch task leaves a note for each file of responses that it has closed; its WARC file is closed by
then. The notes lie in a scratch folder of the crawl, and `parse` takes them up to parse pages
ahead. Nothing depends on them: a step reads what was committed, and a note that is missing means
that its pages are parsed later.
"""

from __future__ import annotations

import uuid
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from gossamer.storage import opening
from gossamer.storage.store import File

if TYPE_CHECKING:
    from gossamer.storage.task_output import Row


class Handover(NamedTuple):
    """Where a task leaves its notes, and of how many pages."""

    folder: str
    """Relative to the crawl's folder."""
    pages: int
    """The rows of responses that the task is going to write."""

    def leave(self, root: str, row: Row) -> None:
        """Leave a note of a closed file, a row of YIELD."""
        note = f"{root}/{self.folder}/closed-{uuid.uuid4().hex}.json"
        with suppress(OSError):  # a failure to hand over must not stop the work
            opening.make_folder(f"{root}/{self.folder}")
            opening.replace(note, msgspec.json.encode(msgspec.convert(row, File)))


def take_notes(root: str, folder: str) -> list[File]:
    """Take the notes in a folder: return the files that they name, and delete them."""
    found = []
    for note in opening.list_files(f"{root}/{folder}"):
        if note.endswith(".json"):  # else it is being written
            found.append(msgspec.json.decode(opening.read(note), type=File))
            opening.remove(note)
    return found
