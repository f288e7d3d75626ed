"""What does the frontier cost? A million URLs of a hundred thousand hosts, in one process.

    python bench/frontier.py [urls] [hosts]

Prints operations per CPU second (an `add`, or a `next` with its `done`), and the memory of the
queues and of the URLs themselves.
"""

from __future__ import annotations

import random
import resource
import sys
import time
from pathlib import Path

import pyarrow as pa

from gossamer.fetch.frontier import Frontier, Turn
from gossamer.fetch.politeness import Politeness


def resident_mb() -> float:
    """Return the current resident memory of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / (1 << 20)


def main(urls: int, hosts: int) -> None:
    draws = random.Random(7)  # noqa: S311  # no secret
    before_mb = resident_mb()
    shares = sorted(draws.random() for _ in range(hosts))
    names = [f"www.site-{number}.example.org" for number in range(hosts)]
    owner = [min(int(draws.paretovariate(1)) - 1, hosts - 1) for _ in range(urls // 2)]
    owner += [number % hosts for number in range(urls - len(owner))]
    urls_of = (f"http://{names[host]}/section/{row}/page.html" for row, host in enumerate(owner))
    text = pa.array(urls_of)
    scores = [draws.random() * shares[host] for host in owner]
    base_mb = resident_mb()
    frontier = Frontier(Politeness(delay_s=1.0))
    started_s = time.process_time()
    for row, host in enumerate(owner):
        frontier.add(names[host], row, scores[row])
    added_s = time.process_time() - started_s
    queued_mb = resident_mb()
    now_s, turns = 0.0, 0
    started_s = time.process_time()
    while (turn := frontier.next(now_s)) is not None:
        while frontier.awaiting_address:
            frontier.release(frontier.awaiting_address.pop())
        if isinstance(turn, Turn):
            turns += 1
            frontier.done(turn.host, now_s, "ok", 0.02)
        elif turn < float("inf"):
            now_s += turn
    turned_s = time.process_time() - started_s
    assert turns == urls
    print(f"{urls:,} URLs of {hosts:,} hosts")
    print(f"add        {urls / added_s:12,.0f} per second")
    print(f"next+done  {urls / turned_s:12,.0f} per second")
    print(f"both       {2 * urls / (added_s + turned_s):12,.0f} operations per second")
    print(f"queued     {queued_mb - base_mb:8,.0f} MB, and {text.nbytes / 1e6:,.0f} MB of URLs")
    print(f"at the end {resident_mb() - base_mb:8,.0f} MB; whole process {resident_mb():,.0f} MB,")
    print(f"           of which {base_mb - before_mb:,.0f} MB are this benchmark's own lists")


if __name__ == "__main__":
    sizes = [int(size) for size in sys.argv[1:]]
    main(*(sizes or [1_000_000, 100_000]))
