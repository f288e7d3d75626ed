"""Which pages may differ from their documents in the index? Those with an input that has changed.

The document of a page follows from its disposition, its inlinks and those of the pages that it
stands for, its rank, the boilerplate of its host, and for a page without a language from that of
most pages of its host. The first two are in layers, and only layers that are newer than the last
run are read; ranks change for all pages, so all are compared.

All pages are compared when the inputs of the last run are unknown, when a setting has changed, and
when all layers of a dataset have been merged.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from gossamer.index.indexed_rows import is_rank_outdated, prefix_old
from gossamer.state import lsm, unread
from gossamer.tables import BOILERPLATE, DISPOSITIONS, DOCUMENTS, GATHERED, INLINKS

if TYPE_CHECKING:
    from gossamer.state.unread import Inputs
    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import Layer

INPUTS = (DOCUMENTS, DISPOSITIONS, INLINKS, BOILERPLATE)
_STACKED = INPUTS[1:]


class TouchedPages(NamedTuple):
    """The pages that are looked at; materialised."""

    urls: DataFrame
    """Indexed pages, and others that were indexed: `url`."""
    hosts: DataFrame
    """The hosts whose lines in main texts have changed: `host`."""


def unread_inputs(work: Workspace, *, anew: bool) -> Inputs:
    """What is new since the index was last brought up to date."""
    return unread.unread_inputs(work, GATHERED, INPUTS, index_settings(work), anew=anew)


def index_settings(work: Workspace) -> str:
    """What the contents of the index depend on besides, and which datasets have no rows."""
    config = work.config.index
    layers = work.store.manifest.layers
    empty = [table.name for table in _STACKED if not layers(table.name)]
    return msgspec.json.encode([config.shards, config.first_tier, config.anchors, empty]).decode()


def touched_pages(
    work: Workspace,
    new: Inputs,
    old: DataFrame,
    standing: DataFrame,
    mean_rank: float,
    popular: float | None,
) -> TouchedPages | None:
    """The pages that may have changed; None if all have to be looked at.

    `old`: the rows of `indexed`. `standing`: those of `selection.indexed_pages`, materialised.
    """
    layers = work.store.manifest.layers
    if new.anew or any(_is_all(new.layers[each.name], layers(each.name)) for each in _STACKED):
        return None
    fresh = {table.name: work.engine.read(new.paths(work, table), table.ddl) for table in _STACKED}
    judged = fresh[DISPOSITIONS.name]
    urls = (
        judged.select("url"),
        judged.where("survivor IS NOT NULL").select(F.col("survivor").alias("url")),
        fresh[INLINKS.name].select(F.col("dst").alias("url")),
        _pages_with_moved_ranks(old, standing, mean_rank, popular),
    )
    named, _ = work.scratch(reduce(DataFrame.union, urls).distinct())

    def rows(layer: DataFrame) -> DataFrame:
        named_all = F.col("copy_count") <= F.coalesce(F.size("copies"), F.lit(0))
        some = layer.select("url", "survivor", named_all.alias("names_all"))
        found = some.where("names_all").join(named, on="url", how="left_semi")
        return some.where("NOT names_all").unionByName(found)

    decided, _ = work.scratch(
        lsm.newest_rows(lsm.layer_frames(work, DISPOSITIONS, some=True), "url", rows)
    )
    survivors = decided.where("survivor IS NOT NULL").select(F.col("survivor").alias("url"))
    found, _ = work.scratch(decided.select("url").union(survivors).distinct())
    hosts, _ = work.scratch(fresh[BOILERPLATE.name].select("host"))
    return TouchedPages(found, hosts)


def _is_all(new: tuple[Layer, ...], layers: tuple[Layer, ...]) -> bool:
    return bool(layers) and len(new) == len(layers)


def _pages_with_moved_ranks(
    old: DataFrame, standing: DataFrame, mean_rank: float, popular: float | None
) -> DataFrame:
    """The pages whose ranks have changed as much as the index shows."""
    ranked = standing.select("url", (F.col("rank") / mean_rank).alias("static_rank"))
    both = prefix_old(old.select("url", "shard", "static_rank")).join(ranked, on="url", how="inner")
    return both.where(is_rank_outdated(popular)).select("url")
