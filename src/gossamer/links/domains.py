"""The budget of a registrable domain, which grows with the number of domains that link to it.

Facts
  * The owner of a domain gets any number of host names from one wildcard DNS record, so a limit per
    host limits nobody. A registrable domain costs money. So budgets are per domain, and grow with
    its in-degree, counted in domains: this is STAR, with which IRLbot survived link farms (Lee,
    Leonard, Wang and Loguinov, IRLbot: Scaling to 6 Billion Pages and Beyond, WWW 2008, §5).
  * A budget belongs to an owner, so the private section of the Public Suffix List applies to
    budgets: alice.github.io and bob.github.io have one each. A vote must cost money, so that
    section does not apply to voters: all users of github.io together are one voter, and have no
    vote for each other.
  * The user asked for the seeds, so their domains have the full budget.

The dataset `domains` has a row for each domain that a seed is on or that another domain links to.
It keeps the first FULL_LINKS voters, because a budget depends on no more, and this bounds the row.
`update` writes the rows that a round changed; a domain without a row has no voters.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Window
from pyspark.sql import functions as F

from gossamer.links.current_links import VOTES
from gossamer.state import lsm
from gossamer.tables import DOMAINS
from gossamer.web.public_suffixes import registrable
from gossamer.web.urls import host_column

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy.typing as npt
    from pyspark.sql import Column, DataFrame

    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import Layer

FULL_LINKS = 100
"""Voters that give a domain the full budget, which is this many times the budget with one voter."""


LINKS_PER_DOMAIN = 3
"""Links of a registrable domain that are heard of all that it has to a page of others."""


class DomainChanges(NamedTuple):
    """The changes of a round to `domains`."""

    layers: tuple[Layer, ...]
    """The layers of the dataset, including the one with the changed rows."""
    rows: DataFrame
    """The rows that changed."""


def add_domains(work: Workspace, hosts: DataFrame) -> DataFrame:
    """Add the column `domain` to rows with a column `host`: its registrable domain."""
    return work.map_rows(hosts, partial(_add_domain, registrable), "domain string", adds=True)[0]


def add_voters(work: Workspace, hosts: DataFrame) -> DataFrame:
    """As `add_domains`, but all users of a provider, such as github.io, are of one domain."""
    voter = partial(registrable, only_icann=True)
    return work.map_rows(hosts, partial(_add_domain, voter), "domain string", adds=True)[0]


def hosts_of_large_domains(work: Workspace, hosts: DataFrame, size: str, most: int) -> DataFrame:
    """Rows of hosts, with their `domain`: at least those of domains with a `size` above `most`.

    The size of a domain is the sum of a column. The hosts of a domain share their last two labels,
    so the engine rules out most hosts by itself. `hosts` are materialised.
    """
    name = F.regexp_replace("host", ":[0-9]+$", "")
    labelled = hosts.withColumn("labels", F.substring_index(name, ".", -2))
    sizes = labelled.groupBy("labels").agg(F.sum(size).alias("sum"))
    large = sizes.where(F.col("sum") > most).select("labels")
    return add_domains(work, labelled.join(large, on="labels", how="left_semi").drop("labels"))


def domain_rows(work: Workspace, new: DomainChanges | None = None) -> DataFrame:
    """The rows of `domains`, including the changes of a round that is not committed yet."""
    stack = lsm.layer_frames(work, DOMAINS)
    return lsm.newest_rows(stack if new is None else [*stack, new.rows], "domain")


def budget_share() -> Column:
    """A row's share of the full budget, times FULL_LINKS; 1 for a domain without a row."""
    voters = F.greatest(F.size("linked_from"), F.lit(1))
    return F.when(F.col("seed"), FULL_LINKS).otherwise(F.least(voters, F.lit(FULL_LINKS)))


def growth_factor(
    supply: npt.NDArray[np.int64], budget: npt.NDArray[np.int64], total: int
) -> float:
    """The factor (≥ 1) by which all budgets must grow to fill a round of `total` pages.

    Each domain contributes the lesser of its supply and its grown budget: weighted max-min fairness
    (Bertsekas and Gallager, Data Networks, 1992, §6.5.2). Infinite if the supply is too small.
    """
    if supply.sum() <= total:
        return np.inf
    needed = supply / budget  # the factor at which a domain's supply is used up
    order = np.argsort(needed)
    exhausted = np.concatenate(([0], np.cumsum(supply[order])))[:-1]
    growing = budget.sum() - np.concatenate(([0], np.cumsum(budget[order])))[:-1]
    first = int(np.argmax(exhausted + needed[order] * growing >= total))
    return max(1.0, float((total - exhausted[first]) / growing[first]))


def update_domains(
    work: Workspace, links: DataFrame, answers: DataFrame, round_: int
) -> DomainChanges | None:
    """Write what the links and answers of a round change in `domains`; None if nothing."""
    host_pairs = (
        links.where(~F.col("nofollow") & F.col("relation").isin(*VOTES))
        .select(host_column(F.col("src")).alias("src"), host_column(F.col("dst")).alias("dst"))
        .where(F.col("src") != F.col("dst"))
    )
    seeds = answers.where(F.col("depth") == 0).select(
        F.lit(None).cast("string").alias("src"), F.col("host").alias("dst")
    )
    pairs = host_pairs.unionByName(seeds).distinct()
    votes, count = work.map_rows(pairs, _domain_votes, "domain string, voter string")
    if not count:
        return None
    in_domain = Window.partitionBy("domain").orderBy(F.asc_nulls_first("voter"))
    linked, _ = work.scratch(
        votes.distinct()
        .withColumn("place", F.row_number().over(in_domain))
        .where(F.col("place") <= FULL_LINKS + 1)  # +1: null, for a seed
        .groupBy("domain")
        .agg(
            F.sort_array(F.collect_list("voter")).alias("voters"),  # without nulls
            F.max(F.col("voter").isNull()).alias("of_seed"),
        )
    )
    known = lsm.rows_for(work, DOMAINS, linked.select("domain"))
    voters_before = F.coalesce("linked_from", F.array().cast("array<string>"))
    seed_before = F.coalesce("seed", F.lit(False))
    voters = F.slice(F.array_union(voters_before, F.col("voters")), 1, FULL_LINKS)
    changed = (F.size(voters) > F.size(voters_before)) | (F.col("of_seed") & ~seed_before)
    rows, count = work.scratch(
        linked.join(known, on="domain", how="left")
        .where(changed)
        .select(
            "domain", (F.col("of_seed") | seed_before).alias("seed"), voters.alias("linked_from")
        )
    )
    return (
        DomainChanges(lsm.append_layer(work, DOMAINS, rows, count, round_), rows) if count else None
    )


def _domain_votes(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Pairs of hosts (src, dst) as pairs (domain, voter). A null src, for a seed, stays null."""
    owner = partial(registrable, only_icann=True)
    for batch in batches:
        voters, owners = (_map_distinct(owner, batch.column(name)) for name in ("src", "dst"))
        votes = pa.table(
            {"domain": _map_distinct(registrable, batch.column("dst")), "voter": voters}
        )
        foreign = pc.fill_null(pc.not_equal(voters, owners), fill_value=True)
        yield from votes.filter(foreign).group_by(["domain", "voter"]).aggregate([]).to_batches()


def _map_distinct(name_of: Callable[[str], str], hosts: pa.Array) -> pa.Array:
    """The names of hosts, computed once per host; null for null."""
    encoded = hosts.dictionary_encode()
    names = pa.array(map(name_of, encoded.dictionary.to_pylist()), pa.string())
    return names.take(encoded.indices)


def _add_domain(
    name_of: Callable[[str], str], batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        domains = _map_distinct(name_of, batch.column("host"))
        yield pa.RecordBatch.from_arrays(
            [*batch.columns, domains], names=[*batch.schema.names, "domain"]
        )
