"""fetch: fetchlist → responses + WARC.

The life of one URL:

  1. `generate` assigned it to a part, the same one for its whole registrable domain. `run` starts
     one task per part, or lets tasks look for parts that their workers may fetch
     (`egress_scheduling.py`), and `task.read_part` reads the task's rows.
  2. `frontier.py` puts it into a front queue by its score, and later into its host's back queue.
     By then the host's address has been looked up (`resolver.py`), and the host waits in a heap
     until it may be contacted.
  3. Its host's turn comes. If the origin's robots.txt was not read within the last day, this turn
     is used to fetch it, and the URL is put back. Each redirect of a robots.txt takes a turn of
     the host it leads to. `hosts.py` keeps the file for this round and later ones.
  4. The URL's own turn comes (`loop.py`). `robots.py` may forbid it, which takes no request.
     `schemes.py` chooses the fetcher for its scheme: `http/fetcher.py`, `files.py` or a plugin.
     Fetchers are bounded and connect only to addresses that `networks.py` allows.
  5. If a filter rule refuses the content type, the body is not downloaded (`filtered_type`).
     The result is an outcome (gossamer.tables.outcomes). `responses.py` appends a row and archives
     the exchange in a WARC file; the row holds the file's name and the offset.
  6. The host must now wait: the delay from the settings or from robots.txt, a multiple of its
     response time, Retry-After, or a back-off that grows while it fails. If the wait is too long,
     or the round's time is over, the remaining URLs of the host are `postponed`.
  7. The task ends and returns the files it wrote. `run` commits the files of all tasks at once, so
     files of a task that died or ran twice are never read.

All URLs of a host are in one task, so politeness needs no lock. That no task runs beside another
one with the same hosts is ensured by `fetch_lease.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from gossamer.config import reveal_secrets
from gossamer.config.egress import POSTPONED
from gossamer.config.own_hosts import Own
from gossamer.errors import MissingFile, Stopped, UsageError
from gossamer.fetch.cluster import egress_scheduling, fetch_lease
from gossamer.fetch.network.networks import Networks
from gossamer.fetch.network.routes import matching, routes
from gossamer.fetch.part import Part
from gossamer.rules.filter_rules import crawl_rules
from gossamer.schedule.due import round_length
from gossamer.state import lsm, stopping
from gossamer.storage import parquet
from gossamer.storage.task_output import counts_of, layers_of
from gossamer.tables import HOSTS
from gossamer.web.addresses import parse_address, strip_port

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from gossamer.config import FetchConfig
    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import StepReport

__all__ = ["run"]

ANY: frozenset[str] = frozenset()
"""The groups of a part that every worker may fetch."""


def run(work: Workspace, notes: str | None = None) -> StepReport:
    """Fetch the round's fetchlist. Finished files are handed over in the folder `notes`, if any.

    Raises UsageError if there is no fetchlist or it was fetched already, and ConfigError if a
    secret of [[fetch.sites]] cannot be read.
    """
    round_ = work.round
    config = round_length.fetch_settings(work, reveal_secrets(work.config.fetch, work.root))
    if "fetch" in work.store.manifest.steps_of(round_):
        raise UsageError(
            work.root, f"round {round_} was already fetched", f"gossamer parse {work.root}"
        )
    paths = work.paths("fetchlist", round_)
    if not paths:
        raise UsageError(
            work.root, f"round {round_} has nothing to fetch", f"gossamer generate {work.root}"
        )
    stranger = first_stranger(_distinct(paths, "host"), config)
    if stranger is not None and not config.contact:
        raise nameless(work.root, stranger)
    with stopping.stop_on_signals(work.root) as signals, work.step("fetch", round_) as draft:
        known = known_hosts(work, round_)
        attempt = work.store.attempt
        attempts = (attempt("responses"), attempt("warc"), attempt("hosts"))
        rules, free_gb = work.config.urls, work.config.store.min_free_gb
        filter_rules = crawl_rules.write_rule_file(work)
        if filter_rules is not None and not filter_rules.has_types:
            filter_rules = None
        common = (config, rules, attempts, free_gb, notes, filter_rules)
        bound = groups_of_parts(work, round_)
        with fetch_lease.held(work.root, work.engine) as run_:
            parts = [
                Part(work.root, round_, n, tuple(paths), known(n), *common, run_, bound.get(n, ANY))
                for n in part_numbers(paths)
            ]
            rows, left = egress_scheduling.fetched(work.engine, parts)
        draft.append = layers_of(rows, round_)
        if (contacted := draft.append.pop("hosts", None)) is not None:
            draft.replace["hosts"] = lsm.compact(work, HOSTS, contacted)
        draft.counts = dict(counts_of(rows))
        if left:
            draft.counts[POSTPONED] = _pages(paths, {part.number for part in left})
        signals.check()
    if stopping.requested(work.root):
        raise Stopped(
            work.root,
            f"the fetch of round {round_} was stopped; what was fetched is kept",
            "run the same command again to continue",
        )
    return draft.done


def known_hosts(work: Workspace, round_: int) -> Callable[[int], tuple[str, ...]]:
    """Return a function from a part's number to the files with the `hosts` rows of its hosts."""
    if not work.store.manifest.layers("hosts"):
        return lambda _part: ()
    asked = work.read("fetchlist", round_).select("host", "part").distinct()
    known = lsm.rows_for(work, HOSTS, asked.select("host"))
    files = work.scratch_files(known.join(asked, on="host", how="inner"), by=["part"])
    return lambda part: tuple(
        f"{work.root}/{file.path}" for file in files if f"/part={part}/" in file.path
    )


def groups_of_parts(work: Workspace, round_: int) -> dict[int, frozenset[str]]:
    """The groups that a worker must be of to fetch a part, by its number."""
    if not work.config.fetch.egress:
        return {}
    listed = work.read("fetchlist", round_).where("egress IS NOT NULL")
    found: dict[int, frozenset[str]] = {}
    for part, group in listed.select("part", "egress").distinct().collect():  # one per task, or few
        found[part] = found.get(part, ANY) | {group}
    return found


def part_numbers(paths: Sequence[str]) -> list[int]:
    return sorted(_distinct(paths, "part"))


def nameless(root: str, stranger: str) -> UsageError:
    """The error of a crawl that wants to contact a foreign host but has no contact address."""
    return UsageError(
        root,
        f"{stranger} is not your host, and fetch.contact is not set",
        "pass --contact to gossamer crawl, or set fetch.contact in gossamer.toml, to a URL or "
        "e-mail address where webmasters can reach you",
    )


def first_stranger(hosts: Iterable[str], config: FetchConfig) -> str | None:
    """The first host that is not on this machine, not the user's own and not in an allowed network.

    Raises ConfigError if fetch.allow_networks or fetch.host_overrides is invalid.
    """
    networks, patterns, own = Networks(config.allow_networks), routes(config), Own(config)
    for host in hosts:
        name = strip_port(host)
        address = parse_address(name)
        if address is None:
            is_local = name == "localhost" or matching(name, patterns) is not None
        else:
            is_local = address.is_loopback or address in networks
        if not is_local and not own.has(host):
            return host
    return None


def _pages(paths: Sequence[str], parts: Collection[int]) -> int:
    """The number of pages in some parts."""
    filters = [("part", "in", parts)]
    return sum(
        parquet.read_table(path, columns=["part"], filters=filters).num_rows for path in paths
    )


def _distinct(paths: Sequence[str], column: str) -> Iterator[Any]:
    """Yield the distinct values of a column of the fetchlist."""
    seen: set[Any] = set()
    for path in paths:
        try:
            found = set(pc.unique(parquet.read_table(path, columns=[column]).column(0)).to_pylist())
        except pa.ArrowInvalid as error:
            raise MissingFile(path, f"is damaged: {error}") from None
        yield from sorted(found - seen)
        seen |= found
