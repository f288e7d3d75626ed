"""Which weights are best on collections that they were not chosen on? Leave-one-out.

    python bench/ranking_weights.py FOLDER ...

For each collection, the weights are chosen on all others by coordinate ascent over GRID, starting
from the settings' defaults, for the best mean of nDCG@10 divided by that of bm25s
(`relevance.py`). The table shows what the chosen weights, and the defaults, reach on the collection
that was left out, both divided by bm25s. A last row has the weights chosen on all collections.

Collections whose names begin alike (up to the first hyphen) have the same source. They are left out
together, so that nothing of the source is known.
"""

from __future__ import annotations

import sys
import tempfile
from collections import defaultdict
from functools import cache
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING

import msgspec
from collection import Collection, rows
from relevance import by_bm25s, by_fields, collections, gossamer, measured
from rich.console import Console
from rich.table import Table

from gossamer.config import RankingConfig
from gossamer.fulltext.analysis import OTHER, STEMMERS, analyzer_for
from gossamer.search.node import Node
from gossamer.search.searcher import Searcher

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from collections.abc import Collection as Names

GRID = {
    "coverage": (2.5, 5.0, 10.0),
    "title": (0.15, 0.3, 0.5),
    "anchors": (0.1, 0.25, 0.5),
    "pairs": (0.25, 0.4, 0.6),
}
MIN_GAIN = 0.001
"""Smaller improvements are noise, and change no weight."""

Ratios = dict[str, float]
"""nDCG@10 divided by that of bm25s, by collection."""


class Indexed:
    """A collection with its index, and the nDCG of bm25s."""

    def __init__(self, collection: Collection, folder: Path) -> None:
        self._collection = collection
        documents = rows(collection.documents)
        gossamer(documents, folder, RankingConfig())
        self._folders = sorted(folder.iterdir())
        language = collection.language
        analyzer = analyzer_for(language if language in STEMMERS else OTHER)
        self.bm25s = measured(collection, by_bm25s(documents, analyzer))

    def ratio(self, weights: RankingConfig) -> float:
        searcher = Searcher(Node(self._folders, weights), weights)
        return measured(self._collection, by_fields(searcher)) / self.bm25s


def chosen(ratios: Callable[[RankingConfig], Ratios], names: Names[str]) -> RankingConfig:
    """The weights with the best mean ratio over these collections."""

    def value(weights: RankingConfig) -> float:
        found = ratios(weights)
        return mean(found[name] for name in names)

    best, changed = RankingConfig(), True
    while changed:
        changed = False
        for field, values in GRID.items():
            tried = [msgspec.structs.replace(best, **{field: each}) for each in values]
            better = max(tried, key=value)
            if value(better) > value(best) + MIN_GAIN:
                best, changed = better, True
    return best


def written(weights: RankingConfig) -> str:
    return " ".join(f"{name} {getattr(weights, name):g}" for name in GRID)


def main(folders: Sequence[Path]) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        indexed: dict[str, Indexed] = {}
        for folder in collections(folders):
            path = Path(scratch, folder.name)
            path.mkdir()
            indexed[folder.name] = Indexed(Collection.read(folder), path)

        @cache
        def ratios(weights: RankingConfig) -> Ratios:
            found = {name: each.ratio(weights) for name, each in indexed.items()}
            print(f"{mean(found.values()):.4f}  {written(weights)}", file=sys.stderr)
            return found

        sources: dict[str, list[str]] = defaultdict(list)
        for name in indexed:
            sources[name.partition("-")[0]].append(name)
        table = Table("collection", "left out", "defaults", "weights chosen on the others")
        held_out = []
        for names in sources.values():
            weights = chosen(ratios, [name for name in indexed if name not in names])
            for name in names:
                held_out.append(ratios(weights)[name])
                default = ratios(RankingConfig())[name]
                table.add_row(name, f"{held_out[-1]:.3f}", f"{default:.3f}", written(weights))
        everywhere = chosen(ratios, list(indexed))
        default = mean(ratios(RankingConfig()).values())
        table.add_row("mean", f"{mean(held_out):.3f}", f"{default:.3f}", written(everywhere))
    Console(width=150).print(table)


if __name__ == "__main__":
    main([Path(argument) for argument in sys.argv[1:]])
