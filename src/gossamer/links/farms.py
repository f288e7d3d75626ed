"""farms: links, hosts, domains → farms. Which hosts only seem to be recommended by many?

A link farm makes pages that link to each other or to a target, because links count (Gyöngyi and
Garcia-Molina, "Link Spam Alliances", VLDB 2005). Its pages are cheap; what its owner cannot make is
votes of others. So a farm is found by two properties together, neither of which is suspicious by
itself: many hosts of one owner vote for each other, and hardly anybody else votes for any of them.
Supporters are counted in registrable domains, which cost money, as for the budgets of `domains.py`.

  domain     MIN_HOSTS hosts of a registrable domain link to each other, and for each supporter of
             the domain there are DOMAIN_RATIO of them. A wildcard record in DNS makes any number of
             hosts (Fetterly, Manasse and Najork, "Spam, Damn Spam, and Statistics", WebDB 2004,
             whose outliers in host names per address were spam). A university has as many hosts,
             and far more supporters than that.
  address    MIN_DOMAINS registrable domains at one address link to each other, and for each
             supporter there are ADDRESS_RATIO of them. Shared hosting and content networks have
             more domains per address, but these hardly link to each other, and have supporters.
             Addresses that are not global, such as those of loopback, tell nothing of owners.
  exchange   Two hosts of different domains give each other MIN_EXCHANGED links, and SHARE of all
             that they give to and get from other domains; at most one other domain links to them.
             (Becchetti et al., "Link Analysis for Web Spam Detection", ACM TWEB 2008, find that
             spam has more reciprocal links.) The evidence is weaker than above, as two domains of
             one honest owner do this, too: the factor is EXCHANGE_FACTOR.
  boosted    A page elsewhere that MIN_BOOSTERS hosts of one farm link to, SHARE of all hosts of
             other domains that do. Its own votes keep their weight, because the owner of a farm
             may link to anybody.

The votes of m members with s supporters weigh as much as those of 1 + s hosts: the factor of each
is (1 + s) / m. Domains of seeds are in no farm, because the user asked for them; but they support
others.

A farm of one host, or one whose owner has many addresses, is not found.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from gossamer.links import current_links, domains
from gossamer.links.graph.host_links import links_between_hosts
from gossamer.state import lsm
from gossamer.storage.task_output import ParquetWriter
from gossamer.tables import FARMS, HOSTS
from gossamer.web.ip_addresses import parse_address
from gossamer.web.urls import host_column

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import Column

    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import Layer, StepReport

MIN_HOSTS, DOMAIN_RATIO = 20, 20
MIN_DOMAINS, ADDRESS_RATIO = 10, 10
MIN_EXCHANGED = 100
MIN_BOOSTERS = 10
SHARE = 0.9
EXCHANGE_FACTOR = 0.5
ENDS = ("src", "dst")
GROUP_ROWS = 1 << 18
"""Pairs of a row group, which the engine reads at once."""


def run(work: Workspace) -> StepReport:
    """Find link farms by the links between hosts, of all pages as they are now."""
    with work.step("farms", work.round) as draft:
        pairs, named = _linked_hosts(work)
        layers: list[Layer] = []
        draft.counts.update(hosts=0, pages=0)
        if _may_have_farms(pairs):
            owners, _ = work.scratch(_host_owners(work, named))
            suspects, number = work.scratch(_suspect_hosts(work, pairs, owners))
            if number:
                hosts, pages = _find_farms(work, pairs, owners, suspects, draft.counts)
                if draft.counts["hosts"]:
                    layers = [work.write(hosts.unionByName(pages), FARMS.name, work.round)]
        draft.replace[FARMS.name] = tuple(layers)
    return draft.done


def _linked_hosts(work: Workspace) -> tuple[DataFrame, DataFrame]:
    """The number of `links` from each host to each other, and the hosts (`host`); materialised.

    The graph counts them, if it is that of all links, and only those that are not nofollow.
    """
    graph = None if work.config.rank.nofollow else links_between_hosts(work)
    if graph is None:
        counted = _host_links(work).groupBy("src_host", "dst_host").agg(F.count("*").alias("links"))
        pairs, _ = work.scratch(counted)
        ends = (pairs.select(F.col(f"{end}_host").alias("host")) for end in ENDS)
        return pairs, work.scratch(reduce(DataFrame.union, ends).distinct())[0]
    hosts = graph.hosts.cast(pa.string())
    ends = (
        pa.DictionaryArray.from_arrays(pa.array(numbers, pa.int32()), hosts)
        for numbers in (graph.sources, graph.targets)
    )
    pairs = pa.table([*ends, pa.array(graph.links)], names=["src_host", "dst_host", "links"])
    return (
        _write_farm_rows(work, pairs, "src_host string, dst_host string, links long"),
        _write_farm_rows(work, pa.table({"host": hosts}), "host string"),
    )


def _write_farm_rows(work: Workspace, rows: pa.Table, ddl: str) -> DataFrame:
    """Rows in a scratch file; readers are not told that some strings come from dictionaries."""
    plain = {"store_schema": False}
    folder = work.scratch_attempt()
    writer = ParquetWriter(work.root, "scratch", folder, schema=rows.schema, encoding=plain)
    for first in range(0, rows.num_rows, GROUP_ROWS):
        writer.write(rows.slice(first, GROUP_ROWS))
    return work.engine.read([f"{work.root}/{row['path']}" for row in writer.close()], ddl)


def _host_links(work: Workspace) -> DataFrame:
    """The links between hosts, with the `src_host` and `dst_host` of their ends."""
    return (
        current_links.votes(work)
        .where(~F.col("nofollow"))
        .select(*ENDS, *(host_column(F.col(end)).alias(f"{end}_host") for end in ENDS))
        .where("src_host <> dst_host")
    )


def _may_have_farms(pairs: DataFrame) -> bool:
    """Whether any farm could be large enough; without one, a crawl of few hosts is done."""
    sources, most = pairs.agg(F.countDistinct("src_host"), F.max("links")).collect()[0]
    return bool(sources >= MIN_DOMAINS or (sources > 1 and most >= MIN_EXCHANGED))


def _host_owners(work: Workspace, hosts: DataFrame) -> DataFrame:
    """The `domain` and `address` of hosts, and whether the domain is that of a `seed`."""
    addresses = lsm.current(work, HOSTS).select("host", "address")
    seeds = domains.domain_rows(work).where("seed").select("domain", F.lit(True).alias("seed"))
    return (
        domains.add_domains(work, hosts)
        .join(addresses, on="host", how="left")
        .join(seeds, on="domain", how="left")
        .select("host", "domain", "address", F.coalesce("seed", F.lit(False)).alias("seed"))
    )


def _suspect_hosts(work: Workspace, pairs: DataFrame, owners: DataFrame) -> DataFrame:
    """The hosts (`host`) that may be in a farm: those of large owners, and those that exchange.

    Most hosts are neither, so most links are not looked at again.
    """
    foreign = owners.where("NOT seed")
    sizes = foreign.groupBy("domain").agg(F.count("*").alias("members"))
    large = sizes.where(F.col("members") >= MIN_HOSTS)
    shared = (
        foreign.where("address IS NOT NULL")
        .groupBy(F.col("address").alias("owner"))
        .agg(F.countDistinct("domain").alias("members"))
        .where(F.col("members") >= MIN_DOMAINS)
    )
    shared, _ = work.map_rows(shared, _keep_global, "owner string, members long")
    addresses = shared.select(F.col("owner").alias("address"))
    many, _ = work.scratch(
        pairs.where(F.col("links") >= MIN_EXCHANGED).select("src_host", "dst_host")
    )
    back = many.select(F.col("dst_host").alias("src_host"), F.col("src_host").alias("dst_host"))
    both = many.join(back, on=["src_host", "dst_host"], how="left_semi")
    found = (
        foreign.join(large, on="domain", how="left_semi").select("host"),
        foreign.join(addresses, on="address", how="left_semi").select("host"),
        both.select(F.col("src_host").alias("host")),
    )
    return reduce(DataFrame.union, found).distinct()


def _find_farms(
    work: Workspace,
    pairs: DataFrame,
    owners: DataFrame,
    suspects: DataFrame,
    counts: dict[str, int],
) -> tuple[DataFrame, DataFrame]:
    """The hosts in farms, and the pages that they boost, as rows of `farms`."""
    src, dst = (suspects.withColumnRenamed("host", f"{end}_host") for end in ENDS)
    given = pairs.join(src, on="src_host", how="left_semi")
    got = pairs.join(dst, on="dst_host", how="left_semi")
    got = got.join(src, on="src_host", how="left_anti")
    between, _ = work.scratch(_add_owners(given.unionByName(got), owners))
    kinds = (
        _farms_of_owners(work, between, "domain", "host", MIN_HOSTS, DOMAIN_RATIO),
        _farms_of_owners(work, between, "address", "domain", MIN_DOMAINS, ADDRESS_RATIO),
        _link_exchanges(between),
    )
    hosts, counts["hosts"] = work.scratch(reduce(DataFrame.unionByName, kinds))
    pages = hosts
    if counts["hosts"]:
        pages, counts["pages"] = work.scratch(_boosted_pages(_host_links(work), owners, hosts))
    return hosts, pages


def _add_owners(pairs: DataFrame, owners: DataFrame) -> DataFrame:
    """Add the `owners` of both ends."""
    for end in ENDS:
        of_end = owners.select(*(F.col(name).alias(f"{end}_{name}") for name in owners.columns))
        pairs = of_end.join(pairs, on=f"{end}_host", how="inner")
    return pairs


def _farms_of_owners(
    work: Workspace, between: DataFrame, owner: str, member: str, least: int, ratio: int
) -> DataFrame:
    """The hosts of farms whose members have one owner. `owner`, `member`: columns of ends."""
    src, dst = (F.col(f"{end}_{owner}") for end in ENDS)
    inside = between.where(
        (src == dst)
        & (F.col(f"src_{member}") != F.col(f"dst_{member}"))
        & ~F.col("src_seed")
        & ~F.col("dst_seed")
    )
    groups, count = work.scratch(
        inside.groupBy(src.alias("owner"))
        .agg(F.countDistinct(f"src_{member}").alias("members"))
        .where(F.col("members") >= least)
    )
    if owner == "address" and count:
        groups, _ = work.map_rows(groups, _keep_global, "owner string, members long")
    outside = between.where(
        (F.col("src_domain") != F.col("dst_domain"))
        & (src.isNull() | (src != dst) | F.col("src_seed"))
        & ~F.col("dst_seed")
    )
    supported = outside.groupBy(dst.alias("owner")).agg(
        F.countDistinct("src_domain").alias("supporters")
    )
    farms = (
        groups.join(supported, on="owner", how="left")
        .withColumn("supporters", F.coalesce("supporters", F.lit(0)))
        .where(F.col("supporters") * ratio <= F.col("members"))
    )
    factor = (1 + F.col("supporters")) / F.col("members")
    members = inside.groupBy("src_host", src.alias("owner")).agg(F.sum("links").alias("links"))
    given = between.groupBy("src_host").agg(F.sum("links").alias("of_links"))
    return _farm_rows(
        members.join(farms, on="owner", how="inner").join(given, on="src_host", how="inner"),
        F.lit("host"),
        F.col("src_host"),
        owner,
        factor,
    )


def _link_exchanges(between: DataFrame) -> DataFrame:
    """The hosts that exchange nearly all links that they have with other domains."""
    foreign = between.where(F.col("src_domain") != F.col("dst_domain"))
    given = foreign.groupBy(F.col("src_host").alias("host")).agg(F.sum("links").alias("given"))
    got = foreign.groupBy(F.col("dst_host").alias("host")).agg(
        F.sum("links").alias("got"), F.countDistinct("src_domain").alias("voters")
    )
    one_way = (
        foreign.where((F.col("links") >= MIN_EXCHANGED) & ~F.col("src_seed") & ~F.col("dst_seed"))
        .select("src_host", "dst_host", "links")
        .join(given.withColumnRenamed("host", "src_host"), on="src_host", how="inner")
        .join(got.withColumnRenamed("host", "dst_host"), on="dst_host", how="inner")
        .where(
            (F.col("links") >= SHARE * F.col("given")) & (F.col("links") >= SHARE * F.col("got"))
        )
    )
    back = one_way.select(
        F.col("dst_host").alias("src_host"),
        F.col("src_host").alias("dst_host"),
        F.col("voters").alias("voters_back"),
    )
    both = one_way.join(back, on=["src_host", "dst_host"], how="inner").select(
        "src_host",
        F.col("dst_host").alias("owner"),
        F.lit(2).cast("long").alias("members"),
        (F.greatest("voters", "voters_back") - 1).alias("supporters"),
        "links",
        F.col("given").alias("of_links"),
    )
    unsupported = both.where("supporters <= 1")
    return _farm_rows(
        unsupported, F.lit("host"), F.col("src_host"), "exchange", F.lit(EXCHANGE_FACTOR)
    )


def _boosted_pages(links: DataFrame, owners: DataFrame, hosts: DataFrame) -> DataFrame:
    """The pages outside a farm to which nearly all links come from it."""
    farms = hosts.where("reason <> 'exchange'").select(
        F.col("name").alias("src_host"), "owner", "members", "supporters"
    )
    elsewhere = (F.col("src_domain") != F.col("dst_domain")) & ~F.col("dst_seed")
    of_farms = links.join(farms, on="src_host", how="inner")
    from_farms = (
        _add_owners(of_farms, owners)
        .where(elsewhere)
        .join(farms.select(F.col("src_host").alias("dst_host")), on="dst_host", how="left_anti")
        .groupBy("dst", "owner", "members", "supporters")
        .agg(F.countDistinct("src_host").alias("links"))
        .where(F.col("links") >= MIN_BOOSTERS)
    )
    to_them = links.join(from_farms.select("dst").distinct(), on="dst", how="left_semi")
    all_hosts = (
        _add_owners(to_them, owners)
        .where(elsewhere)
        .groupBy("dst")
        .agg(F.countDistinct("src_host").alias("of_links"))
    )
    boosted = from_farms.join(all_hosts, on="dst", how="inner").where(
        F.col("links") >= SHARE * F.col("of_links")
    )
    return _farm_rows(boosted, F.lit("page"), F.col("dst"), "boosted", F.lit(1.0))


def _farm_rows(
    found: DataFrame, kind: Column, name: Column, reason: str, factor: Column
) -> DataFrame:
    return found.withColumns(
        {"kind": kind, "name": name, "reason": F.lit(reason), "factor": factor.cast("double")}
    ).select(*FARMS.column_names)


def _keep_global(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The groups whose owner is a global address."""
    for batch in batches:
        addresses = map(parse_address, batch.column("owner").to_pylist())
        are_global = [address is not None and address.is_global for address in addresses]
        yield batch.filter(pa.array(are_global, pa.bool_()))
