"""The step `fetch`: one task per part of the fetchlist, and one commit of all that they wrote."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from gossamer.config import reveal_secrets
from gossamer.config.egress import POSTPONED
from gossamer.errors import MissingFile, Stopped, UsageError
from gossamer.fetch.cluster import egress_scheduling, fetch_lease
from gossamer.fetch.fetch_part import FetchPart
from gossamer.fetch.network.foreign_hosts import first_foreign_host
from gossamer.fetch.revised_pages import place_revised_pages
from gossamer.rules.filter_rules import crawl_rules
from gossamer.schedule.due import round_length
from gossamer.state import lsm, stopping
from gossamer.storage import parquet
from gossamer.storage.names import SCRATCH
from gossamer.storage.store import Layer
from gossamer.storage.task_output import counts_of, layers_of
from gossamer.tables import HOSTS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from gossamer.rules.filter_rules.filter_recipe import RuleFile
    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import StepReport

ANY_GROUP: frozenset[str] = frozenset()
"""The groups of a part that every worker may fetch."""


def run(work: Workspace, notes: str | None = None) -> StepReport:
    """Fetch the round's fetchlist. Finished files are handed over in the folder `notes`, if any.

    Raises UsageError if there is no fetchlist or it was fetched already, and ConfigError if a
    secret of [[fetch.sites]] cannot be read.
    """
    round_ = work.round
    config = round_length.brief_fetch_settings(work, reveal_secrets(work.config.fetch, work.root))
    paths = _unfetched_files(work)
    foreign = first_foreign_host(_distinct_values(paths, "host"), config)
    if foreign is not None and not config.contact:
        raise no_contact_error(work.root, foreign)
    with stopping.stop_on_signals(work.root) as signals, work.step("fetch", round_) as draft:
        template = FetchPart(
            root=work.root,
            round=round_,
            number=0,
            fetchlist=tuple(paths),
            hosts=(),
            config=config,
            rules=work.config.urls,
            attempts=(
                work.store.attempt("responses"),
                work.store.attempt("warc"),
                work.scratch_attempt(),
                work.store.attempt("hosts"),
            ),
            min_free_gb=work.config.store.min_free_gb,
            away_days=work.config.update.away_days,
            notes=notes,
            filter_rules=_write_type_rules(work),
            wish_files=work.config.publishers.reads_files,
        )
        host_files, groups = host_files_by_part(work), groups_by_part(work)
        with fetch_lease.hold(work.root, work.engine) as run_name:
            parts = [
                replace(
                    template,
                    number=number,
                    hosts=host_files.get(number, ()),
                    run=run_name,
                    egress=groups.get(number, ANY_GROUP),
                )
                for number in part_numbers(paths)
            ]
            rows, left = egress_scheduling.fetch_parts(work.engine, parts)
        draft.append = layers_of(rows, round_)
        if (revised := draft.append.pop(SCRATCH, None)) is not None:
            placed = place_revised_pages(work, revised)
            fetched = draft.append.get("responses", Layer(round_, ()))
            draft.append["responses"] = Layer(round_, (*fetched.files, *placed.files))
        if (contacted := draft.append.pop("hosts", None)) is not None:
            draft.replace["hosts"] = lsm.compact_layers(work, HOSTS, contacted)
        draft.counts = dict(counts_of(rows))
        if left:
            draft.counts[POSTPONED] = _count_pages(paths, {part.number for part in left})
        signals.check()
    if stopping.requested(work.root):
        stopping.take_back(work.root)
        raise Stopped(
            work.root,
            f"the fetch of round {round_} was stopped; what was fetched is kept",
            "run the same command again to continue",
            signals.exit_code,
        )
    return draft.done


def _unfetched_files(work: Workspace) -> Sequence[str]:
    """The files of the round's fetchlist. Raises UsageError if there is nothing left to fetch."""
    if "fetch" in work.store.manifest.steps_of(work.round):
        raise UsageError(
            work.root, f"round {work.round} was already fetched", f"gossamer parse {work.root}"
        )
    paths = work.paths("fetchlist", work.round)
    if not paths:
        raise UsageError(
            work.root, f"round {work.round} has nothing to fetch", f"gossamer generate {work.root}"
        )
    return paths


def _write_type_rules(work: Workspace) -> RuleFile | None:
    """Write the crawl's filter rules for tasks, if any of them is about content types."""
    rules = crawl_rules.write_rule_file(work, generated=())
    return rules if rules is not None and rules.has_types else None


def host_files_by_part(work: Workspace) -> dict[int, tuple[str, ...]]:
    """The files with the `hosts` rows of a part's hosts, by the part's number."""
    if not work.store.manifest.layers("hosts"):
        return {}
    listed = work.read("fetchlist", work.round).select("host", "part").distinct()
    known = lsm.rows_for(work, HOSTS, listed.select("host"))
    found: dict[int, tuple[str, ...]] = {}
    for file in work.scratch_files(known.join(listed, on="host", how="inner"), by=["part"]):
        part = int(file.path.partition("/part=")[2].partition("/")[0])
        found[part] = (*found.get(part, ()), f"{work.root}/{file.path}")
    return found


def groups_by_part(work: Workspace) -> dict[int, frozenset[str]]:
    """The groups that a worker must be of to fetch a part, by the part's number."""
    if not work.config.fetch.egress:
        return {}
    listed = work.read("fetchlist", work.round).where("egress IS NOT NULL")
    found: dict[int, frozenset[str]] = {}
    for part, group in listed.select("part", "egress").distinct().collect():  # one per task, or few
        found[part] = found.get(part, ANY_GROUP) | {group}
    return found


def part_numbers(paths: Sequence[str]) -> list[int]:
    return sorted(_distinct_values(paths, "part"))


def no_contact_error(root: str, foreign: str) -> UsageError:
    """The error of a crawl that wants to contact a foreign host but has no contact address."""
    return UsageError(
        root,
        f"{foreign} is not your host, and fetch.contact is not set",
        "pass --contact to gossamer crawl, or set fetch.contact in gossamer.toml, to a URL or "
        "e-mail address where webmasters can reach you",
    )


def _count_pages(paths: Sequence[str], parts: Collection[int]) -> int:
    """The number of pages in some parts."""
    filters = [("part", "in", parts)]
    return sum(
        parquet.read_table(path, columns=["part"], filters=filters).num_rows for path in paths
    )


def _distinct_values(paths: Sequence[str], column: str) -> Iterator[Any]:
    """Yield the distinct values of a column of the fetchlist."""
    seen: set[Any] = set()
    for path in paths:
        try:
            found = set(pc.unique(parquet.read_table(path, columns=[column]).column(0)).to_pylist())
        except pa.ArrowInvalid as error:
            raise MissingFile(path, f"is damaged: {error}") from None
        yield from sorted(found - seen)
        seen |= found
