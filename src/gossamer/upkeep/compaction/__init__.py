"""compact: documents, links and responses become few layers, without rows that newer ones replace.

    step.py     the step: which layers are merged, and when
    kept_rows.py    which rows stay
    layer_merging.py  how sorted files are merged, in ranges of keys

Each round adds a layer to these datasets, which would grow without end. Once a dataset has FEW
layers, those are merged that are not much larger than the newer ones (`lsm.mergeable_layers`): so
there are O(log n) of them, and a row is rewritten O(log n) times. A large layer is merged again
only if newer rows replace enough of what is stored: otherwise its readers would pass over as many
rows as before. The files of a merged layer are sorted by the key, in ranges that do not overlap.

A merge is no change: every step finds the same current rows before and after it. Steps that only
read what is new go by the version that committed a layer's newest rows (`unread.py`). So layers
that such a step has read are not merged with layers that it has not. The rows of the last
`history.rounds` rounds stay, even if newer ones replace them.
"""

from __future__ import annotations

from gossamer.upkeep.compaction.step import due_spans, run

__all__ = ["due_spans", "run"]
