"""What do two cores sustain with everything on? A crawl without end of real pages, and searches.

    python bench/sustained.py WEBS [MANUAL ...] [--minutes 10] [--warm 5] [--hosts 1000]
        [--queries 5] [--set 'generate.pages = 5000'] [--folder DIR]

The crawl is the command `gossamer crawl --forever --serve`, with the default settings, except where
the addresses of hosts and the port of the search page are. Everything is on: pages are fetched
politely and archived, parsed, compared with all others, counted in the link graph, ranked and
indexed, while a client sends QUERIES queries a second (steady_queries.py), words and phrases of
the pages (serve.py). The pages are those of manuals that Debian packages, whole, in WEBS
(webs.py); they run out in a few minutes, and so does the time that a polite crawl needs for a host.
So each manual is served under many names, with other words in each copy (manual_copies.py).

The server of the pages and the client are processes of their own on the same cores. What they take
is reported apart; without them, there would be more left for the crawl.

The measured time begins with the first commit of the index after WARM minutes, and ends with the
first one after MINUTES more: a round of a crawl without feeds has 20,000 pages, and they are parsed
and searchable together. So `searchable` are the pages that the index has more, `parsed` those
between the last commits of `parse` before the beginning and the end, and `fetched` those that the
server sent. Seconds of steps add up to more than the time, as harvests run beside rounds.
step_costs.py says how CPU time is assigned to steps.

What limits the rates: a host is asked once a second at most (fetch.delay_s), so a round lasts at
least as many seconds as it has pages of one host, while others have none left. In rounds of 20,000
pages of 400 hosts, these were up to 116 and then at least 169. The more hosts, the fewer pages of
each; the share of the processors' time that was idle shows whether they were the limit.

Beside it stands the figure of a news search that was published: at least 50,000 documents a day,
on three machines.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import socket
import subprocess
import tempfile
import time
from collections import Counter
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from endless import GOSSAMER
from local_settings import default_settings
from manual_copies import served
from serve import queries_of
from steady_queries import SteadyQueries
from step_costs import Step, Watch, charged

from gossamer.backends import open_backend
from gossamer.rounds import HARVEST, ROUND
from gossamer.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from manual_copies import Served
    from steady_queries import Asked

DAY_S = 86_400
PUBLISHED_A_DAY, PUBLISHED_MACHINES = 50_000, 3
DRAWN = 10_000
"""Queries; more than are sent, so none is answered from the cache of answers."""
END_S = 60
WEB, CLIENT, BENCH = "the server of the pages", "the client", "this script"


class Report(NamedTuple):
    """A committed step, as the command prints it."""

    step: Step
    round: int
    counts: dict[str, int]


class Period(NamedTuple):
    """The measured time, in Unix time."""

    began_s: float
    ended_s: float

    @property
    def seconds(self) -> float:
        return self.ended_s - self.began_s

    def has(self, at_s: float) -> bool:
        return self.began_s <= at_s <= self.ended_s

    def part_of(self, step: Step) -> float:
        """The seconds of a step that lie in it."""
        return max(0.0, min(step.ended_s, self.ended_s) - max(step.began_s, self.began_s))


def reports(path: Path) -> list[Report]:
    found = []
    for line in path.read_text().splitlines(keepends=True):
        if line.endswith("\n") and "step" in (row := json.loads(line)):
            began_s = row["started_ms"] / 1000
            step = Step(row["step"], began_s, began_s + row["seconds"])
            found.append(Report(step, row["round"], row.get("counts", {})))
    return found


def unfinished(found: Sequence[Report], ended_s: float) -> Step:
    """The step of the newest round that was running in the end; it follows the last one."""
    steps = list(ROUND)
    last = [each for each in found if each.step.name in ROUND][-1].step
    follows = steps[(steps.index(last.name) + 1) % len(steps)]
    return Step(follows, last.ended_s, max(ended_s, last.ended_s))


def wait_for(command: subprocess.Popen[bytes], what: Callable[[], bool]) -> None:
    while not what():
        if command.poll() is not None:
            raise SystemExit(f"the crawl ended with status {command.returncode}")
        time.sleep(1)


def next_commit_s(command: subprocess.Popen[bytes], lines: Path, after_s: float) -> float:
    """Wait for the first commit of the index after a time, and return when it was."""
    wait_for(command, lambda: any(each.step.ended_s >= after_s for each in indexed(lines)))
    return next(each.step.ended_s for each in indexed(lines) if each.step.ended_s >= after_s)


def largest(crawl: Path) -> str:
    """The largest file of documents."""
    store = Store.open(open_backend(str(crawl)))
    files = [each for layer in store.manifest.layers("documents") for each in layer.files]
    return str(crawl / max(files, key=lambda file: file.bytes).path)


def measure(web: Served, options: argparse.Namespace, scratch: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    crawl, lines, seeds = scratch / "crawl", scratch / "steps.jsonl", scratch / "seeds.txt"
    crawl.mkdir()
    settings = default_settings(web.routes, {"serve.port": port})
    (crawl / "gossamer.toml").write_text("\n".join((settings, *options.set, "")))
    seeds.write_text("\n".join((*web.seeds, "")))
    arguments = ["crawl", str(crawl), "--list", str(seeds), "--forever", "--serve", "--json"]
    with (
        lines.open("wb") as out,
        subprocess.Popen([*GOSSAMER, *arguments], stdout=out) as command,
    ):
        further = {WEB: web.process.pid or 0, BENCH: os.getpid()}
        watch = Watch(command.pid, further, web.answered)
        try:
            warm_s = time.time() + 60 * options.warm
            watch.start()
            wait_for(command, lambda: any(indexed(lines)))
            client = SteadyQueries(port, queries_of(largest(crawl), DRAWN), options.queries)
            watch.others[CLIENT] = client.process.pid or 0
            began_s = next_commit_s(command, lines, warm_s)
            ended_s = next_commit_s(command, lines, began_s + 60 * options.minutes)
            asked = client.ended()
            watch.end()
        finally:
            command.send_signal(signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                command.wait(END_S)
            command.kill()
    show(Period(began_s, ended_s), reports(lines), watch, asked)


def indexed(lines: Path) -> Iterator[Report]:
    """The commits of the index, once it has pages."""
    found = (each for each in reports(lines) if each.step.name == "index")
    return (each for each in found if searchable(each))


def searchable(report: Report) -> int:
    """The pages that the index holds after a harvest."""
    return report.counts.get("indexed", 0)


def show(period: Period, found: list[Report], watch: Watch, asked: Sequence[Asked]) -> None:
    looks = [look for look in watch.looks if period.has(look.at_s)]
    seconds = looks[-1].at_s - looks[0].at_s
    sent = looks[-1].sent - looks[0].sent
    print(f"{period.seconds:.0f} s on {os.cpu_count()} cores")
    show_rate("fetched", sent, seconds)
    show_commits("parsed", period, found, "parse", lambda r: r.counts.get("documents", 0))
    totals = [each for each in found if each.step.name == "index"]
    more = {id(b): searchable(b) - searchable(a) for a, b in pairwise(totals)}
    show_commits("searchable", period, found, "index", lambda r: more.get(id(r), 0))
    last = [each for each in totals if each.step.ended_s <= period.ended_s][-1]
    print(f"in the index at the end: {searchable(last):,}; {last.counts}")
    costs = charged(looks, [*(each.step for each in found), unfinished(found, period.ended_s)])
    show_steps(period, found, costs, sent)
    show_searches([each for each in asked if period.has(each.due_s)])
    show_machine(period, looks, costs, watch)


def show_rate(name: str, pages: int, seconds: float) -> None:
    rate = pages / seconds if seconds else 0.0
    day = rate * DAY_S
    print(
        f"{name:11}{pages:9,} pages in {seconds:4.0f} s: {rate:7.1f} a second, {day:12,.0f} a day, "
        f"{day / PUBLISHED_A_DAY:6.1f} × the published figure, "
        f"{day / PUBLISHED_A_DAY * PUBLISHED_MACHINES:6.1f} × that of a machine"
    )


def show_commits(
    name: str,
    period: Period,
    found: Sequence[Report],
    step: str,
    pages_of: Callable[[Report], int],
) -> None:
    """The rate from the last commit before the time to the last one in it."""
    commits = [each for each in found if each.step.name == step]
    before = [each for each in commits if each.step.ended_s <= period.began_s][-1:]
    during = [each for each in commits if period.began_s < each.step.ended_s <= period.ended_s]
    first, *others = (*before, *during)
    seconds = others[-1].step.ended_s - first.step.ended_s if others else 0.0
    show_rate(name, sum(map(pages_of, others)), seconds)


def show_steps(period: Period, found: list[Report], costs: Counter[str], pages: int) -> None:
    wall: Counter[str] = Counter()
    times: Counter[str] = Counter()
    for each in (*(each.step for each in found), unfinished(found, period.ended_s)):
        wall[each.name] += period.part_of(each)
        times[each.name] += period.has(each.ended_s)
    apart = {WEB, CLIENT, BENCH}
    ours_s = sum(seconds for name, seconds in costs.items() if name not in apart)
    print(f"\n{'':26}{'times':>6}{'wall':>8}{'CPU s':>9}{'CPU':>8}{'CPU ms/page':>13}")
    for name in sorted(dict.fromkeys((*ROUND, *HARVEST, *wall, *costs)), key=apart.__contains__):
        share = "" if name in apart else f"{costs[name] / ours_s:.1%}"
        print(
            f"{name:26}{times[name] or '':>6}"
            f"{f'{wall[name] / period.seconds:.1%}' if wall[name] else '':>8}"
            f"{costs[name]:9.1f}{share:>8}{1000 * costs[name] / pages:13.2f}"
        )
    print(f"{'Gossamer':40}{ours_s:9.1f}{'':8}{1000 * ours_s / pages:13.2f}")


def show_searches(asked: Sequence[Asked]) -> None:
    took_ms = np.array([1000 * each.took_s for each in asked])
    outcomes = Counter(each.outcome for each in asked)
    failed = len(asked) - outcomes["200"]
    print(
        f"\n{len(asked):,} searches: p50 {np.percentile(took_ms, 50):.1f} ms, "
        f"p99 {np.percentile(took_ms, 99):.1f} ms, longest {took_ms.max():.0f} ms; "
        f"{failed} failed {dict(outcomes)}"
    )


def show_machine(period: Period, looks: Sequence[Any], costs: Counter[str], watch: Watch) -> None:
    capacity_s = (looks[-1].at_s - looks[0].at_s) * (os.cpu_count() or 1)
    busy_s = looks[-1].machine_s - looks[0].machine_s
    known_s = costs.total()
    print(
        f"of the cores' time: {known_s / capacity_s:.1%} of these processes, "
        f"{(busy_s - known_s) / capacity_s:.1%} of others, "
        f"{1 - busy_s / capacity_s:.1%} idle; load {mean(look.load for look in looks):.1f}"
    )
    sizes = [size for at_s, size in watch.memory if period.has(at_s)]
    if sizes:
        most = max(sizes, key=Counter.total)
        parts = ", ".join(f"{kind} {size / 1e6:,.0f}" for kind, size in most.most_common())
        print(f"memory (PSS) at its highest: {most.total() / 1e6:,.0f} MB; {parts}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("webs", type=Path, help="folder of unpacked packages: see webs.py")
    parser.add_argument("manuals", nargs="*", help="names in webs.toml; by default all")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--warm", type=float, default=5, help="minutes before these, at least")
    parser.add_argument("--hosts", type=int, default=1_000)
    parser.add_argument("--queries", type=float, default=5, help="queries a second")
    parser.add_argument("--set", action="append", default=[], help="a line for gossamer.toml")
    parser.add_argument("--folder", help="where the crawl is created; it is deleted in the end")
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="sustained-", dir=options.folder) as scratch,
        served(options.webs, options.manuals, options.hosts) as web,
    ):
        measure(web, options, Path(scratch))


if __name__ == "__main__":
    main()
