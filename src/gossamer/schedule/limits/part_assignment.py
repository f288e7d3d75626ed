"""Which task fetches a page, and which workers may?

All hosts of a registrable domain have one task. They often share an address, and one may have the
robots.txt of another, so two tasks would ask the same server at once. Loads are balanced.

With `fetch.egress`, parts are bound to groups of workers (egress.py). The engine is asked which
groups its workers have now, and each slot, which runs one task, gets a part. A domain belongs to
the first group, in the order of the setting, of its hosts in the round. It goes to the part with
the smallest load among those of slots of its group, the largest domain first (LPT: Graham, "Bounds
on multiprocessing timing anomalies", SIAM Journal on Applied Mathematics 17, 1969). Domains of no
group follow, and fill up what is left behind. So the groups of a part are those of one slot, and
loads are as equal as the setting permits.

Pages of groups without a worker are not chosen at all, as others would wait for nothing. They stay
due.
"""

from __future__ import annotations

from functools import partial, reduce
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from gossamer.config import egress
from gossamer.links.domains import add_domains

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    import numpy.typing as npt

    from gossamer.state.workspace import Workspace

    Setting = Mapping[str, Sequence[str]]
    Slot = frozenset[str]
    """The groups of the worker that runs a task."""

SLOTS = pa.schema([("groups", pa.list_(pa.string()))])
SLOTS_DDL = "groups array<string>"
DEALT = pa.schema([("domain", pa.string()), ("part", pa.int32()), ("egress", pa.string())])
DEALT_DDL = "domain string, part int, egress string"


def free_slots(work: Workspace) -> list[Slot]:
    """The slots on which tasks would run now, one for each task; [] without `fetch.egress`.

    On a cluster, a job of tasks that end at once tells it: Spark starts one on each free slot.
    """
    if not work.config.fetch.egress:
        return []
    engine = work.engine
    if engine.is_local:
        return [egress.groups_here()] * engine.workers
    rows = engine.map_tasks(range(engine.workers), egress.report_groups, SLOTS, SLOTS_DDL)
    return [frozenset(row["groups"]) for row in rows]


def unservable_hosts(
    work: Workspace, pages: Sequence[DataFrame], hosts: DataFrame, found: Sequence[Slot]
) -> DataFrame | None:
    """The hosts of `pages` whose group has no slot; None if there are none.

    `pages`: layers of the dataset. `hosts`: the dataset. `found`: the slots.
    """
    setting = work.config.fetch.egress
    absent = setting.keys() - frozenset().union(*found)
    if not absent:
        return None
    names = reduce(DataFrame.union, [layer.select("host") for layer in pages]).distinct()
    keep = partial(_hosts_of_groups, setting, absent)
    rows, count = work.map_rows(_add_address(names, hosts), keep, "host string")
    return rows if count else None


def assign_parts(
    work: Workspace, chosen: DataFrame, hosts: DataFrame, found: Sequence[Slot] = ()
) -> DataFrame:
    """Add `part`, the fetch task, and `egress`, the group of the page's domain.

    `hosts`: the dataset. `found`: the slots.
    """
    domains = add_domains(work, chosen.groupBy("host").agg(F.count("*").alias("pages")))
    if found:
        dealt = _assign_to_slots(work, domains, hosts, found)
    else:
        dealt = _assign_to_any_part(domains, work.engine.workers)
    part_of = domains.join(dealt, on="domain", how="inner").select("host", "part", "egress")
    return chosen.join(part_of, on="host", how="inner")


def _assign_to_any_part(domains: DataFrame, parts: int) -> DataFrame:
    """Deal domains that every worker may ask, without a pass over them in Python.

    They are assigned largest first, in alternating direction (0 1 2 2 1 0 0 1 …), so the loads
    differ by about one domain.
    """
    # One partition on purpose: there are at most as many domains as pages in a round.
    by_size = Window.partitionBy(F.lit(0)).orderBy(F.desc("pages"), F.asc("domain"))
    turn = (F.row_number().over(by_size) - 1) % (2 * parts)
    part = F.least(turn, 2 * parts - 1 - turn).cast("int").alias("part")
    units = domains.groupBy("domain").agg(F.sum("pages").alias("pages"))
    return units.select("domain", part, F.lit(None).cast("string").alias("egress"))


def _assign_to_slots(
    work: Workspace, domains: DataFrame, hosts: DataFrame, found: Sequence[Slot]
) -> DataFrame:
    """Deal domains to parts, one for each slot."""
    setting = work.config.fetch.egress
    located = _add_address(domains, hosts)
    grouped, _ = work.map_rows(located, partial(_add_group, setting), "group int", adds=True)
    units = grouped.groupBy("domain").agg(
        F.sum("pages").alias("pages"), F.min("group").alias("group")
    )
    deal = partial(_assign_all, tuple(setting), tuple(found))
    # One partition on purpose, as above.
    return work.engine.map_partitions(units.repartition(1), deal, DEALT_DDL)


def _add_address(rows: DataFrame, hosts: DataFrame) -> DataFrame:
    """Add the `address` at which a host was contacted last; null if it never was."""
    return rows.join(hosts.select("host", "address"), on="host", how="left")


def _add_group(setting: Setting, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    known = egress.Egress(setting)
    for batch in batches:
        hosts, addresses = (batch.column(name).to_pylist() for name in ("host", "address"))
        groups = pa.array(map(known.group, hosts, addresses), pa.int32())
        yield pa.RecordBatch.from_arrays(
            [*batch.columns, groups], names=[*batch.schema.names, "group"]
        )


def _hosts_of_groups(
    setting: Setting, names: Collection[str], batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """The hosts of some groups."""
    numbers = pa.array([n for n, name in enumerate(setting) if name in names], pa.int32())
    for batch in _add_group(setting, batches):
        yield batch.filter(pc.is_in(batch.column("group"), numbers)).select(["host"])


def _assign_all(
    names: Sequence[str], found: Sequence[Slot], batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Deal all domains: those of groups first, each time the largest first."""
    received = list(batches)
    if not received:
        return
    units = pa.Table.from_batches(received)
    units = units.append_column("free", pc.is_null(units["group"])).sort_by(
        [("free", "ascending"), ("pages", "descending"), ("domain", "ascending")]
    )
    groups = units["group"].to_pylist()
    permitted = {n: [name in slot for slot in found] for n, name in enumerate(names)}
    parts = assign_units(
        units["pages"].to_pylist(), groups, permitted | {None: [True] * len(found)}
    )
    bound = [None if group is None else names[group] for group in groups]
    columns = [units["domain"].combine_chunks(), pa.array(parts), pa.array(bound, pa.string())]
    yield pa.RecordBatch.from_arrays(columns, schema=DEALT)


def assign_units(
    loads: Sequence[int], groups: Sequence[int | None], permitted: Mapping[int | None, list[bool]]
) -> npt.NDArray[np.int32]:
    """The part of each unit: of those that its group permits, the one with the smallest load yet.

    Units are dealt in their order. Some part is permitted to each group.
    """
    total = np.zeros(len(permitted[None]), np.int64)
    parts = np.empty(len(loads), np.int32)
    where = {group: np.flatnonzero(flags) for group, flags in permitted.items()}
    for unit, (load, group) in enumerate(zip(loads, groups, strict=True)):
        own = where[group]
        parts[unit] = part = own[total[own].argmin()]
        total[part] += load
    return parts
