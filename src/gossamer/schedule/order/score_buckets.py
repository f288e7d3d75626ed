"""Buckets of the scores of due pages, and above which of them a round probably finds its pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc
from pyspark.sql import functions as F

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import Column, DataFrame

    from gossamer.schedule.order.cutoff import Sample

PER_OCTAVE = 8
"""Buckets per doubling of the score."""
TRIED = 1.5, 8
"""Times as many pages as the round has, within the limits of hosts, lie above a bucket that is
tried. Those of domains are not known then, and may leave fewer."""
LARGE = 5
"""Sampled pages of a host from which it is judged how many are more than its limit."""


def bucket() -> Column:
    """The bucket of a page's `score`."""
    return F.floor(F.log2("score") * PER_OCTAVE)


def above(due: DataFrame, floor: int) -> DataFrame:
    """The pages in this bucket and in better ones.

    Fact (Sail 0.7.2): a filter is planned next to the files, with all that the score is made of in
    place of each mention of it, which makes a large expression far larger. A filter by a random
    number stays where it is.
    """
    nothing = F.floor(F.rand(0) * 0)
    found = due.withColumn("bucket", bucket() + nothing)
    return found.where(F.col("bucket") >= floor).drop("bucket")


def likely(some: Sample, pages: int, per_host: int) -> Iterator[int]:
    """The buckets above which a round of so many `pages` is probably found, the best first.

    `some`: a sample of the due pages. Hosts that are not the user's own supply `per_host` at most.
    """
    counted = some.pages.groupBy(bucket().alias("bucket"), "host", "own").count().toArrow()
    hosts = pc.dictionary_encode(counted.column("host")).combine_chunks().indices.to_numpy()
    buckets, counts = (counted.column(name).to_numpy() for name in ("bucket", "count"))
    limits = np.full(hosts.max(initial=-1) + 1, float(per_host))
    limits[hosts[counted.column("own").to_numpy()]] = np.inf
    found, wanted = np.zeros(limits.size), list(TRIED)
    # All due pages are above the last bucket, so nothing would be gained by trying it.
    for floor in np.unique(buckets)[:0:-1]:
        here = buckets == floor
        found += np.bincount(hosts[here], counts[here], limits.size)
        excess = np.maximum(found / some.share - limits, 0)[found >= LARGE]
        supply = found.sum() / some.share - excess.sum()
        if wanted and supply >= wanted[0] * pages:
            wanted = [times for times in wanted if supply < times * pages]
            yield int(floor)
