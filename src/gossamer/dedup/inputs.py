"""On what the dispositions are based: the settings, and files of documents, own texts and pages.

They are listed in `judged`, so that the next harvest reads only files that are new. Rounds alone
would not tell: some pages are parsed in a later round than the one that fetched them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec

from gossamer.tables import DISPOSITIONS, DOCUMENTS, JUDGED, MIRRORS, OWN_TEXTS, PAGES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gossamer.store import Layer
    from gossamer.workspace import Workspace

RULES = 2
"""Raised with each change of the rules in this package: all pages are judged again."""


class Inputs(NamedTuple):
    """What the dispositions do not know yet."""

    anew: bool
    """Whether nothing is known: the first time, with other settings, and after `reparse`."""
    documents: tuple[str, ...]
    """Paths of files."""
    pages: tuple[Layer, ...]
    own_texts: tuple[Layer, ...]
    """The newest layers."""


def since(work: Workspace, *, anew: bool) -> Inputs:
    """What was written since the last harvest, or everything, after checking that it is intact.

    Raises MissingFile.
    """
    files = work.store.files(DOCUMENTS.name)
    stacks = [work.store.manifest.layers(table.name) for table in (PAGES, OWN_TEXTS)]
    damaged = any(work.store.damaged(table.name) for table in (DISPOSITIONS, MIRRORS, JUDGED))
    if not (anew or damaged):
        read = {tuple(row) for row in work.read(JUDGED.name).collect()}
        paths = {path for _, path in read}
        known = {path for kind, path in read if kind == DOCUMENTS.name}
        if ("settings", _settings(work)) in read and known <= {file.path for file in files}:
            return Inputs(
                False,
                tuple(file.path for file in files if file.path not in known),
                *(
                    tuple(each for each in stack if not paths.issuperset(paths_of(each)))
                    for stack in stacks
                ),
            )
    return Inputs(True, tuple(file.path for file in files), *map(tuple, stacks))


def paths_of(layer: Layer) -> Iterator[str]:
    return (file.path for file in layer.files)


def write(work: Workspace) -> Layer:
    """Write the rows of `judged`: everything that there is now has been read."""
    rows = [("settings", _settings(work))]
    for table in (DOCUMENTS, PAGES, OWN_TEXTS):
        rows += [(table.name, file.path) for file in work.store.listed(table.name)]
    return work.write(work.engine.spark.createDataFrame(rows, JUDGED.ddl), JUDGED.name, work.round)


def _settings(work: Workspace) -> str:
    return f"{RULES} {msgspec.json.encode(work.config.dedup).decode()}"
