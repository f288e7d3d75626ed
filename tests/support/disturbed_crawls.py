"""Crawls by the command line, while the ways to their store or to the web are disturbed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from gossamer.fakeweb.request_log import group_by_host
from tests.support.crawl_tables import tables
from tests.support.network_ways import Way

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from gossamer.api.crawl import Crawl
    from gossamer.fakeweb import FakeWeb
    from gossamer.fakeweb.request_log import LogEntry

GOSSAMER = [sys.executable, "-c", "from gossamer.cli import main; main()"]
END_S = 900
"""A command that runs for so long hangs. On a busy machine, a crawl of 120 pages on a cluster whose
store refused every tenth request took more than 400."""
TRIES = 4
LATER_MS = 8 * 3_600_000


class Disturbance(NamedTuple):
    """What happens so long after the report of a step; it returns when it is over."""

    happen: Callable[[], None]
    after_s: float = 1.0
    """By default, the next step is in the middle of its work."""


def check_politeness(log: Iterable[LogEntry], delay_s: float) -> None:
    """No host was asked sooner than it wants, nor by two tasks at once."""
    for requests in group_by_host(log).values():
        assert all(b.monotonic_s - a.monotonic_s > delay_s * 0.95 for a, b in pairwise(requests))


def await_requests(web: FakeWeb, number: int) -> None:
    """Wait until a web has got so many requests."""
    ends_s = time.monotonic() + END_S
    while len(web.log()) < number:
        assert time.monotonic() < ends_s
        threading.Event().wait(0.1)


def after_requests(web: FakeWeb, number: int, happen: Callable[[], None]) -> Disturbance:
    """What happens when a web has got so many requests."""

    def wait_and_happen() -> None:
        await_requests(web, number)
        happen()

    return Disturbance(wait_and_happen, 0)


def fetched_later(crawl: Crawl) -> set[tuple[object, ...]]:
    """The documents of a crawl, without their rounds, after one more, in which all pages are due.

    Those that could not be fetched are tried again after an hour or more.
    """
    crawl.work.clock_ms = int(time.time() * 1000) + LATER_MS
    crawl.run(rounds=1)
    return documents(crawl)


def documents(crawl: Crawl) -> set[tuple[object, ...]]:
    return {row[1:] for row in tables(crawl)["documents"].values()}


def way_to_store() -> Way:
    """A way to the object store of this process's environment."""
    where = urlsplit(os.environ["AWS_ENDPOINT_URL"])
    assert where.hostname is not None
    assert where.port is not None
    return Way((where.hostname, where.port))


def way_to(web: FakeWeb) -> Way:
    return Way((web.addresses[0], web.port))


def crawl(root: str, store: str, troubles: Mapping[str, Disturbance]) -> tuple[int, str]:
    """Run the command `crawl`; after the report of a step, its disturbance begins.

    `store`: the URL by which it reaches the store. Returns its exit code and its messages.
    """
    with subprocess.Popen(
        [*GOSSAMER, "crawl", root, "--rounds", "1", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | dict.fromkeys(("AWS_ENDPOINT", "AWS_ENDPOINT_URL"), store),
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        end = threading.Timer(END_S, process.kill)
        end.start()
        for line in process.stdout:
            if disturbed := troubles.get(json.loads(line).get("step", "")):
                threading.Event().wait(disturbed.after_s)
                disturbed.happen()
        said = process.stderr.read()
        code = process.wait()
        end.cancel()
        return code, said


def crawl_to_the_end(root: str, store: str, troubles: Mapping[str, Disturbance]) -> list[str]:
    """As `crawl`, and again without trouble until it succeeds. Returns the errors before that."""
    errors: list[str] = []
    for _ in range(TRIES):
        code, said = crawl(root, store, {} if errors else troubles)
        if code == 0:
            return errors
        assert code == 1, f"{code}: {said}"  # -9: it hung
        assert "Traceback" not in said
        assert "gossamer: " in said, said
        assert "\n  → " in said, said
        errors.append(said)
    raise AssertionError(errors)
