"""prune: the archive without the records that the settings do not keep.

    step.py      the step: when it runs, and which files are copied
    kept_exchanges.py   which records stay
    archive_copying.py   files of which little stays are copied without the rest, with their indexes
    body_places.py    responses name the new places of bodies

By default, the archive keeps everything, and this step never runs. With `store.warc_versions` or
`store.warc_days`, it runs when the archive has grown by a part of its size. It reads all indexes
and copies only files of which little stays, or which are small. So a record is copied few times,
and the archive has a bounded size if the web has.

Its files then are one layer, whatever the rounds that fetched them. Files that
`store.warc_keep` names stay as they are.
"""

from __future__ import annotations

from gossamer.upkeep.prune.step import is_due, run

__all__ = ["is_due", "run"]
