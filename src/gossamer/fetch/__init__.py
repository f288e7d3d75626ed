"""fetch: fetchlist → responses + WARC.

The life of one URL:

  1. `generate` gave it a part, the same for its whole registrable domain. `run` makes a task of
     each part, and `task.read_part` reads the task's rows.
  2. `frontier.py` puts it into a front queue by its score, and later into its host's back queue.
     The host's address is looked up by then (`resolver.py`), and the host waits in a heap for
     the time at which it may be contacted.
  3. Its host's turn comes. If nobody has read the origin's robots.txt for a day, this turn is
     used for that, and the URL goes back; each redirect of a robots.txt takes a turn of the host
     it leads to. `hosts.py` keeps what was read, for this round and the next ones.
  4. Its own turn (`visits.py`): `robots.py` may forbid it, which needs no request. `schemes.py`
     finds who speaks its scheme: `http.py`, `ftp.py`, `files.py` or a plugin asks, within bounds,
     and only addresses that `networks.py` allows.
  5. Whatever happened is an outcome (gossamer.outcomes). `responses.py` appends a row, and the
     exchange goes to a WARC file; the row names file and offset.
  6. Its host must now wait: the delay of the config or of robots.txt, some times as long as it
     took to answer, Retry-After, or ever longer while it fails. If that is too long, or the
     round's time is over, the URLs behind it are `postponed`.
  7. The task ends and says which files it wrote. `run` commits those of all tasks at once: a
     task that died, or ran twice, leaves nothing that is ever read.

All URLs of a host are in one task, so politeness needs no lock.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from gossamer import states, stopping
from gossamer.errors import MissingFile, Stopped, UsageError
from gossamer.fetch.networks import Networks, parse_address
from gossamer.fetch.resolver import matching, routes
from gossamer.fetch.task import Part, fetch_part
from gossamer.layers import YIELD, YIELD_DDL, counts_of, layers_of
from gossamer.tables import HOSTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from gossamer.config import FetchConfig
    from gossamer.store import StepReport
    from gossamer.workspace import Workspace

__all__ = ["run"]

_PORT = re.compile(r":[0-9]+$")


def run(work: Workspace) -> StepReport:
    """Fetch the round's fetchlist. Raises UsageError where there is none, or it is fetched."""
    round_, config = work.round, work.config.fetch
    if "fetch" in work.store.manifest.steps_of(round_):
        raise UsageError(work.root, f"round {round_} is fetched", f"gossamer parse {work.root}")
    paths = work.paths("fetchlist", round_)
    if not paths:
        raise UsageError(
            work.root, f"round {round_} has nothing to fetch", f"gossamer generate {work.root}"
        )
    stranger = first_stranger(_distinct(paths, "host"), config)
    if stranger is not None and not config.contact:
        raise nameless(work.root, stranger)
    with stopping.on_signals(work.root) as signals, work.step("fetch", round_) as draft:
        known = known_hosts(work, round_)
        attempt = work.store.attempt
        attempts = (attempt("responses"), attempt("warc"), attempt("hosts"))
        parts = [
            Part(work.root, round_, n, tuple(paths), known(n), config, work.config.urls, attempts)
            for n in part_numbers(paths)
        ]
        rows = work.engine.map_tasks(parts, fetch_part, YIELD, YIELD_DDL)
        draft.append = layers_of(rows, round_)
        if (contacted := draft.append.pop("hosts", None)) is not None:
            draft.replace["hosts"] = states.take_up(work, HOSTS, contacted)
        draft.counts = dict(counts_of(rows))
        signals.check()
    if stopping.asked(work.root):
        raise Stopped(
            work.root, f"round {round_} was fetched in part, as asked", "the same command goes on"
        )
    return draft.done


def known_hosts(work: Workspace, round_: int) -> Callable[[int], tuple[str, ...]]:
    """Files that hold what is known of the hosts of a part, by its number."""
    if not work.store.manifest.layers("hosts"):
        return lambda _part: ()
    asked = work.read("fetchlist", round_).select("host", "part").distinct()
    known = states.among(work, HOSTS, asked.select("host"))
    files = work.scratch_files(known.join(asked, on="host", how="inner"), by=["part"])
    return lambda part: tuple(
        f"{work.root}/{file.path}" for file in files if f"/part={part}/" in file.path
    )


def part_numbers(paths: Sequence[str]) -> list[int]:
    return sorted(_distinct(paths, "part"))


def nameless(root: str, stranger: str) -> UsageError:
    """That a crawl has no contact to give to a host that is not ours."""
    return UsageError(
        root,
        f"{stranger} belongs to somebody else, and could not tell who crawls it",
        "give gossamer crawl --contact, or set fetch.contact in gossamer.toml, to a URL or "
        "e-mail address where a webmaster reaches you",
    )


def first_stranger(hosts: Iterable[str], config: FetchConfig) -> str | None:
    """The first host that is neither of this machine nor of a network we may crawl.

    Raises ConfigError where the config does not say which those are.
    """
    networks, patterns = Networks(config.allow_networks), routes(config)
    for host in hosts:
        name = host if host.endswith("]") else _PORT.sub("", host)
        address = parse_address(name)
        if address is None:
            ours = name == "localhost" or matching(name, patterns) is not None
        else:
            ours = address.is_loopback or address in networks
        if not ours:
            return host
    return None


def _distinct(paths: Sequence[str], column: str) -> Iterator[Any]:
    """The values of a column of the fetchlist, each once."""
    seen: set[Any] = set()
    for path in paths:
        try:
            found = set(pc.unique(pq.read_table(path, columns=[column]).column(0)).to_pylist())
        except pa.ArrowInvalid as error:
            raise MissingFile(path, f"is damaged: {error}", "put it back from a copy") from None
        yield from sorted(found - seen)
        seen |= found
