"""What do people see while nodes take up a newer index, die and come? And what does it move?

    python bench/rolling_update.py [--documents 8_000] [--changed 300]

The crawl is on a server of S3 (SeaweedFS). A server and five nodes are on hosts of their own:
network namespaces of this machine, whose cores all of them share. Four nodes in two groups answer
while clients search. Then, one after another:

  indexing   the index step runs, on the same cores
  update     all nodes take up the newer index; the interface that leads to the store counts what
             each of them receives
  one dead   a node is killed (SIGKILL)
  added      a fifth node comes, with an empty cache
  part dead  the other nodes of a part are killed, so that no replica of it is left
  back       one of them was started again, and the server asks it

For each phase, the table has the number of answers that came in it, those with another status than
200, those that report missing parts, and the response times. Needs root.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import re
import sys
import tempfile
import time
import uuid
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import aiohttp
import msgspec
from corpus import crawl, documents, sources
from index_updates import put
from rich.console import Console
from rich.table import Table
from serve import percent

from gossamer import boilerplate, dedup, index, places
from gossamer.buckets import variables_of_engine
from gossamer.config import EngineConfig
from gossamer.engine import Engine
from gossamer.fulltext.layout import part_key
from gossamer.serve.cluster.placing import share

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
from harvests import run_index
from namespaces import PORT, network, settings
from object_store import BUCKET, object_store

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Collection, Sequence

    from gossamer.workspace import Workspace
    from namespaces import Host

CLIENTS = 4
EACH_S = 5.0
"""Seconds that a phase lasts at least."""
PATIENCE_S = 120
SHARDS, GROUPS = 4, 2
TEXTS = Path("/usr/share/doc")
PAGES = re.compile(r"^gossamer_index_pages (.+)$", re.MULTILINE)
UP = re.compile(r'^gossamer_node_up\{address="(.+)",group="(.*)"\} 1\.0$', re.MULTILINE)


class Seen(NamedTuple):
    """An answer: the time of its request, how long it took, its status, and missing parts."""

    at_s: float
    took_s: float
    status: int
    missing: int


class View(NamedTuple):
    """What the server sees: the parts that nodes answer for, by their address, and all pages."""

    parts: dict[str, str]
    pages: int


class Load:
    """Clients that ask all the time, and the phases in which they did."""

    def __init__(self, url: str, asked: Sequence[str]) -> None:
        self.url = url
        self._asked = asked
        self.seen: list[Seen] = []
        self.phases: dict[str, float] = {}
        """When each of them began."""

    async def client(self, number: int) -> None:
        async with aiohttp.ClientSession() as session:
            for query in self._asked[number:] * PATIENCE_S:
                began_s = time.monotonic()
                parameters = {"q": query}
                async with session.get(f"{self.url}/api/search", params=parameters) as answer:
                    found = msgspec.json.decode(await answer.read())
                took_s = time.monotonic() - began_s
                self.seen.append(Seen(began_s, took_s, answer.status, found.get("missing", 0)))

    async def view(self) -> View:
        async with (
            aiohttp.ClientSession() as session,
            session.get(f"{self.url}/metrics") as answer,
        ):
            text = await answer.text()
        parts = {at: part for at, part in UP.findall(text) if part}
        return View(parts, int(float(PAGES.findall(text)[0])))

    async def until(self, done: Callable[[View], bool]) -> float:
        """Wait until the server sees what it should; return how long it took."""
        began_s = time.monotonic()
        while not done(await self.view()):
            assert time.monotonic() < began_s + PATIENCE_S
            await asyncio.sleep(0.05)
        return time.monotonic() - began_s

    def begin(self, phase: str) -> None:
        self.phases[phase] = time.monotonic()

    def table(self, end_s: float) -> Table:
        table = Table("phase", "answers", "not 200", "partial", "p50 ms", "p99 ms", "longest ms")
        ends = [*list(self.phases.values())[1:], end_s]
        for (name, since_s), until_s in zip(self.phases.items(), ends, strict=True):
            some = [each for each in self.seen if since_s <= each.at_s + each.took_s < until_s]
            took = [each.took_s for each in some]
            refused = sum(each.status != 200 for each in some)
            partial = sum(each.missing > 0 for each in some)
            shares = (f"{percent(took, share):.0f}" for share in (0.5, 0.99, 1))
            table.add_row(name, str(len(some)), str(refused), str(partial), *shares)
        return table


class Cluster:
    """Nodes on hosts, each with a cache of its own, and what they moved."""

    def __init__(self, work: Workspace, front: Host, hosts: Sequence[Host], folder: Path) -> None:
        self.work = work
        self.front = front
        self.hosts = hosts
        self._folder = folder
        self.running: dict[str, subprocess.Popen[str]] = {}
        """By the address of the node."""

    def start(self, host: Host) -> None:
        environment = {places.CACHE: str(self._folder / host.name)}
        words = ("node", self.work.root, "--host", host.address, "--port", str(PORT))
        self.running[host.node] = host.start(*words, environment=environment)

    def kill(self, address: str) -> None:
        process = self.running.pop(address)
        process.kill()
        process.wait()

    def held_bytes(self, but: Collection[str] = ()) -> list[int]:
        """The bytes of the files that the first nodes have to hold, without those of checksums."""
        names = [host.node for host in self.hosts[:4]]
        files = self.work.store.listed("index")
        keyed = [(key[0], file) for file in files if (key := part_key(file.path))]
        shards = sorted({shard for shard, _ in keyed})
        shares = [share(name, names, shards, GROUPS) for name in names]
        return [
            sum(file.bytes for shard, file in keyed if shard in some and file.xxh3 not in but)
            for some in shares
        ]

    def stored_bytes(self) -> list[int]:
        return [host.stored_bytes() for host in self.hosts[:4]]


async def run(cluster: Cluster, load: Load, prepare: Callable[[], object]) -> None:
    console, work = Console(), cluster.work
    pages = (await load.view()).pages
    clients = [asyncio.create_task(load.client(number)) for number in range(CLIENTS)]
    polled = cluster.stored_bytes()
    load.begin("steady")
    await asyncio.sleep(EACH_S)
    polled = _since(polled, cluster.stored_bytes())
    before = {file.xxh3 for file in work.store.listed("index")}

    load.begin("indexing")
    await asyncio.to_thread(prepare)
    stored = cluster.stored_bytes()
    began_s = time.monotonic()
    await asyncio.to_thread(index.run, work)
    load.begin("update")
    taken_s = await load.until(lambda seen: seen.pages > pages)
    await asyncio.sleep(EACH_S)
    took_s, stored = time.monotonic() - began_s, _since(stored, cluster.stored_bytes())
    changed = cluster.held_bytes(before)

    dead = cluster.hosts[0].node
    part = (await load.view()).parts[dead]
    load.begin("one dead")
    cluster.kill(dead)
    await asyncio.sleep(EACH_S)

    load.begin("added")
    added = cluster.hosts[4]
    for host in (cluster.front, *cluster.hosts):
        host.knows(cluster.hosts)
    cluster.start(added)
    joined_s = await load.until(lambda seen: added.node in seen.parts)
    await asyncio.sleep(EACH_S)

    gone = [at for at, of in (await load.view()).parts.items() if of == part]
    load.begin("part dead")
    for address in gone:
        cluster.kill(address)
    await asyncio.sleep(EACH_S)

    cluster.start(next(host for host in cluster.hosts if host.node == gone[0]))
    await load.until(lambda seen: gone[0] in seen.parts)
    load.begin("back")
    await asyncio.sleep(EACH_S)
    for client in clients:
        client.cancel()
    console.print(load.table(time.monotonic()))
    total, moved, whole = sum(changed), sum(stored), sum(cluster.held_bytes())
    looked = sum(polled) / EACH_S * took_s
    console.print(
        f"update: answers come from it {taken_s:.1f} s after its commit. The four nodes received "
        f"{moved / 1e6:.2f} MB from the store, {looked / 1e6:.2f} MB of them to look for a newer "
        f"index for {took_s:.0f} s; without these, {(moved - looked) / total:.2f} times the "
        f"{total / 1e6:.2f} MB of their shards that changed, of {whole / 1e6:.1f} MB."
    )
    console.print(f"the added node answers {joined_s:.1f} s after the start of its process")


def _since(then: Sequence[int], now: Sequence[int]) -> list[int]:
    return [after - before for before, after in zip(then, now, strict=True)]


def asked(rows: Sequence[dict[str, Any]], count: int) -> list[str]:
    """Queries of two words that stand in one document."""
    draw = random.Random(5)  # noqa: S311  # reproducible
    found = []
    while len(found) < count:
        words = re.findall(r"[^\W\d_]{4,}", draw.choice(rows)["main_text"])
        if len(words) > 1:
            found.append(" ".join(draw.sample(words, 2)))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=8_000)
    parser.add_argument("--changed", type=int, default=300, help="documents that the update adds")
    options = parser.parse_args()
    rows = list(documents(sources(TEXTS), options.documents + options.changed))
    old, new = rows[: options.documents], rows[options.documents :]
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="rolling-update-")))
        net = stack.enter_context(network(6))
        store = stack.enter_context(object_store(folder / "store", address=net.store))
        os.environ.update(store | {places.CACHE: str(folder / "here")})
        os.environ.update(variables_of_engine(os.environ))
        front, *hosts = net.hosts
        for host in net.hosts:
            host.knows(hosts[:4])
        engine = stack.enter_context(Engine(EngineConfig()))
        text = f"index.shards = {SHARDS}\n" + settings(folder / "certificates", hosts, GROUPS)
        work = crawl(f"s3://{BUCKET}/{uuid.uuid4().hex}", old, engine, text).work
        run_index(work)
        cluster = Cluster(work, front, hosts, folder)
        for host in hosts[:4]:
            cluster.start(host)
        words = ("serve", work.root, "--host", front.address, "--port", "8080")
        cluster.running[""] = front.start(*words)
        assert cluster.running[""].stdout
        cluster.running[""].stdout.readline()

        def prepare() -> None:
            put(work, 2, new, ())
            boilerplate.run(work)
            dedup.run(work)

        load = Load(f"http://{front.address}:8080", asked(old, 500))
        try:
            asyncio.run(load.until(lambda seen: len(seen.parts) == 4))
            asyncio.run(run(cluster, load, prepare))
        finally:
            for address in list(cluster.running):
                cluster.kill(address)


if __name__ == "__main__":
    main()
