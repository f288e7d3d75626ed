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

from gossamer import domains, linkgraph, lsm
from gossamer.addresses import parse_address
from gossamer.tables import FARMS, HOSTS
from gossamer.urls import host_column

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import Column

    from gossamer.store import Layer, StepReport
    from gossamer.workspace import Workspace

MIN_HOSTS, DOMAIN_RATIO = 20, 20
MIN_DOMAINS, ADDRESS_RATIO = 10, 10
MIN_EXCHANGED = 100
MIN_BOOSTERS = 10
SHARE = 0.9
EXCHANGE_FACTOR = 0.5
ENDS = ("src", "dst")


def run(work: Workspace) -> StepReport:
    """Find link farms by the links between hosts, of all pages as they are now."""
    with work.step("farms", work.round) as draft:
        links = (
            linkgraph.votes(work)
            .where(~F.col("nofollow"))
            .select(*ENDS, *(host_column(F.col(end)).alias(f"{end}_host") for end in ENDS))
            .where("src_host <> dst_host")
        )
        pairs, _ = work.scratch(
            links.groupBy("src_host", "dst_host").agg(F.count("*").alias("links"))
        )
        layers: list[Layer] = []
        draft.counts.update(hosts=0, pages=0)
        if _may_have_farms(pairs):
            between, _ = work.scratch(_with_owners(work, pairs))
            kinds = (
                _of_owner(work, between, "domain", "host", MIN_HOSTS, DOMAIN_RATIO),
                _of_owner(work, between, "address", "domain", MIN_DOMAINS, ADDRESS_RATIO),
                _exchanges(between),
            )
            hosts, draft.counts["hosts"] = work.scratch(reduce(DataFrame.unionByName, kinds))
            if draft.counts["hosts"]:
                pages, draft.counts["pages"] = work.scratch(_boosted(links, between, hosts))
                layers = [work.write(hosts.unionByName(pages), FARMS.name, work.round)]
        draft.replace[FARMS.name] = tuple(layers)
    return draft.done


def _may_have_farms(pairs: DataFrame) -> bool:
    """Whether any farm could be large enough; without one, a crawl of few hosts is done."""
    sources, most = pairs.agg(F.countDistinct("src_host"), F.max("links")).collect()[0]
    return bool(sources >= MIN_DOMAINS or (sources > 1 and most >= MIN_EXCHANGED))


def _with_owners(work: Workspace, pairs: DataFrame) -> DataFrame:
    """Add the domains and addresses of both ends, and whether they are of a seed's domain."""
    ends = (pairs.select(F.col(f"{end}_host").alias("host")) for end in ENDS)
    hosts = domains.with_domains(work, reduce(DataFrame.union, ends).distinct())
    addresses = lsm.current(work, HOSTS).select("host", "address")
    seeds = domains.known(work).where("seed").select("domain", F.lit(True).alias("seed"))
    known, _ = work.scratch(
        hosts.join(addresses, on="host", how="left")
        .join(seeds, on="domain", how="left")
        .select("host", "domain", "address", F.coalesce("seed", F.lit(False)).alias("seed"))
    )
    for end in ENDS:
        of_end = known.select(*(F.col(name).alias(f"{end}_{name}") for name in known.columns))
        pairs = pairs.join(of_end, on=f"{end}_host", how="inner")
    return pairs


def _of_owner(
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
        groups, _ = work.map_rows(groups, _global, "owner string, members long")
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
    return _rows(
        members.join(farms, on="owner", how="inner").join(given, on="src_host", how="inner"),
        F.lit("host"),
        F.col("src_host"),
        owner,
        factor,
    )


def _exchanges(between: DataFrame) -> DataFrame:
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
    return _rows(unsupported, F.lit("host"), F.col("src_host"), "exchange", F.lit(EXCHANGE_FACTOR))


def _boosted(links: DataFrame, between: DataFrame, hosts: DataFrame) -> DataFrame:
    """The pages outside a farm to which nearly all links come from it."""
    farms = hosts.where("reason <> 'exchange'").select(
        F.col("name").alias("src_host"), "owner", "members", "supporters"
    )
    elsewhere = (F.col("src_domain") != F.col("dst_domain")) & ~F.col("dst_seed")
    foreign = between.where(elsewhere).select("src_host", "dst_host")
    from_farms = (
        links.join(farms, on="src_host", how="inner")
        .join(foreign, on=["src_host", "dst_host"], how="inner")
        .join(farms.select(F.col("src_host").alias("dst_host")), on="dst_host", how="left_anti")
        .groupBy("dst", "owner", "members", "supporters")
        .agg(F.countDistinct("src_host").alias("links"))
        .where(F.col("links") >= MIN_BOOSTERS)
    )
    all_hosts = (
        links.join(from_farms.select("dst").distinct(), on="dst", how="left_semi")
        .join(foreign, on=["src_host", "dst_host"], how="inner")
        .groupBy("dst")
        .agg(F.countDistinct("src_host").alias("of_links"))
    )
    boosted = from_farms.join(all_hosts, on="dst", how="inner").where(
        F.col("links") >= SHARE * F.col("of_links")
    )
    return _rows(boosted, F.lit("page"), F.col("dst"), "boosted", F.lit(1.0))


def _rows(found: DataFrame, kind: Column, name: Column, reason: str, factor: Column) -> DataFrame:
    return found.withColumns(
        {
            "kind": kind,
            "name": name,
            "reason": F.lit(reason),
            "factor": factor.cast("double"),
        }
    ).select(*FARMS.column_names)


def _global(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The groups whose owner is a global address."""
    for batch in batches:
        addresses = map(parse_address, batch.column("owner").to_pylist())
        are_global = [address is not None and address.is_global for address in addresses]
        yield batch.filter(pa.array(are_global, pa.bool_()))
