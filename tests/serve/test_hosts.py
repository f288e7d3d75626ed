"""A server and nodes on hosts of their own: an update, a death and a newcomer under load."""

from __future__ import annotations

import threading
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, NamedTuple, Self

import httpx
import pytest

from tests.support.follower_nodes import until
from tests.support.network_namespaces import (
    PORT,
    Host,
    add_settings,
    network,
    settings,
    unavailable,
)
from tests.support.node_clusters import PAGES
from tests.support.small_index import crawl, put_index

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
    from pathlib import Path

CLIENTS = 3
SHARDS = 4
FURTHER = 60
"""Answers that are awaited after an event."""
NEWER = [page | {"url": page["url"].replace(".example", ".test")} for page in PAGES]


class Seen(NamedTuple):
    """An answer: status, missing parts, and the last labels of its hosts."""

    status: int
    missing: int
    labels: frozenset[str]


@contextmanager
def running(host: Host, *words: str) -> Iterator[subprocess.Popen[str]]:
    """Run a command that says where it listens."""
    with host.start(*words) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline()
            yield process
        finally:
            process.kill()


class Load:
    """Clients that ask all the time."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.seen: list[Seen] = []
        self._end = threading.Event()
        self._threads = [threading.Thread(target=self._ask) for _ in range(CLIENTS)]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        for thread in self._threads:
            thread.join()

    def more(self) -> None:
        """Wait for further answers."""
        enough = len(self.seen) + FURTHER
        until(lambda: len(self.seen) >= enough)

    def _ask(self) -> None:
        with httpx.Client(timeout=30) as client:
            while not self._end.is_set():
                answer = client.get(f"{self.url}/api/v1/search", params={"q": "fruit", "limit": 50})
                found = answer.json()
                hosts = [hit["host"].rpartition(".")[2] for hit in found.get("hits", ())]
                self.seen.append(
                    Seen(answer.status_code, found.get("missing", 0), frozenset(hosts))
                )


def parts(url: str) -> dict[str, str]:
    """The part of the index that each healthy node answers for, by its address."""
    found = {}
    for line in httpx.get(f"{url}/metrics").text.splitlines():
        if line.startswith("gossamer_node_up{") and line.endswith(" 1.0"):
            _, address, _, group, _ = line.split('"')
            if group:
                found[address] = group
    return found


@pytest.mark.slow
def test_no_answer_fails_or_is_partial_while_nodes_update_die_and_come(tmp_path: Path) -> None:
    """Four nodes in two groups; then one is killed, and a fifth comes."""
    if reason := unavailable():
        pytest.skip(reason)
    work = crawl(tmp_path / "crawl")
    put_index(work, PAGES, shards=SHARDS)
    with network(6) as net, ExitStack() as stack:
        front, *hosts = net.hosts
        add_settings(work.root, settings(tmp_path / "certificates", hosts, groups=2))
        for host in net.hosts:
            host.knows(hosts[:4])
        node = ["node", work.root, "--port", str(PORT), "--host"]
        nodes = [stack.enter_context(running(host, *node, host.address)) for host in hosts[:4]]
        serve = ["serve", work.root, "--port", "8080", "--host", front.address]
        stack.enter_context(running(front, *serve))
        url = f"http://{front.address}:8080"
        until(lambda: len(parts(url)) == 4)
        assert sorted(parts(url).values()) == ["0", "0", "1", "1"]
        load = stack.enter_context(Load(url))
        load.more()

        put_index(work, NEWER, shards=SHARDS)
        until(lambda: load.seen[-1].labels == {"test"})
        load.more()

        nodes[0].kill()
        load.more()
        until(lambda: len(parts(url)) == 3)

        for host in net.hosts:
            host.knows(hosts)
        stack.enter_context(running(hosts[4], *node, hosts[4].address))
        until(lambda: hosts[4].node in parts(url))
        load.more()
    assert {each.status for each in load.seen} == {200}
    assert {each.missing for each in load.seen} == {0}
    assert {each.labels for each in load.seen} == {frozenset({"example"}), frozenset({"test"})}
