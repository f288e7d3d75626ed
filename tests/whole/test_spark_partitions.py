"""Networks that are cut, lose all packets, or are slow, between the parts of a cluster."""

from __future__ import annotations

import os
import shutil
import socket
import sys
import threading
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, NamedTuple

import pytest

from gossamer.api.crawl import Crawl
from gossamer.fakeweb import FakeWeb, Mix, Web
from gossamer.storage import opening
from gossamer.storage.names import CONFIG_NAME
from tests.support.crawl_settings import loopback_settings
from tests.support.crawl_tables import answers, damaged_records, tables
from tests.support.disturbed_crawls import (
    Disturbance,
    after_requests,
    check_politeness,
    crawl,
    crawl_to_the_end,
    documents,
    fetched_later,
    way_to,
    way_to_store,
)
from tests.support.network_ways import Way
from tests.support.s3_front import Front, front
from tests.support.spark_cluster import Cluster

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gossamer.engine.engine import Engine
    from tests.support.network_ways import Trouble

pytestmark = [pytest.mark.spark, pytest.mark.long]

HOSTS, PAGES, DELAY_S = 4, 30, 0.3
TROUBLES: tuple[Trouble, ...] = ("cut", "stalled", "slow")
STEPS = ("generate", "generate", "fetch", "parse", "update", "invert", "rank")
TROUBLE_S = 30.0
PLACES = ["driver", "store", "connect", "web", "front"]
SHARE = 0.03
"""Of its requests that the store refuses, and of its answers that it cuts, before and after it is
busy. Spark runs tasks again because of them, so a tenth makes a crawl of minutes."""
DRIVER = "127.0.0.3"
"""Where executors find the driver, which itself is at 127.0.0.1."""


class Disturbed(NamedTuple):
    url: str
    ways: dict[str, list[Way]]
    """From the executors to the driver, from all machines to the store, from us to the cluster."""
    front: Front
    """Of the store of all machines."""


@pytest.fixture(scope="module")
def cluster(
    tmp_path_factory: pytest.TempPathFactory, s3_server: dict[str, str]
) -> Iterator[Disturbed]:
    home = os.environ.get("SPARK_HOME")
    if home is None or shutil.which("java") is None:
        pytest.fail("needs SPARK_HOME and java: run `make test-spark`")
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        refusing = stack.enter_context(front(s3_server["AWS_ENDPOINT_URL"]))
        patch.setenv("AWS_ENDPOINT_URL", refusing.url)
        store = stack.enter_context(way_to_store())
        ports = _free_ports(2)
        driver = [
            stack.enter_context(Way(("127.0.0.1", port), at=(DRIVER, port))) for port in ports
        ]
        settings = {
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": DRIVER,
            "spark.driver.port": str(ports[0]),
            "spark.driver.blockManager.port": str(ports[1]),
        }
        running = stack.enter_context(
            Cluster(
                Path(home),
                tmp_path_factory.mktemp("spark"),
                sys.executable,
                s3_server | {"AWS_ENDPOINT_URL": store.url},
                options=settings,
            )
        )
        connect = stack.enter_context(Way(("127.0.0.1", int(running.url.rpartition(":")[2]))))
        ways = {"store": [store], "driver": driver, "connect": [connect]}
        yield Disturbed(f"sc://{connect.address}", ways, refusing)


def _free_ports(count: int) -> list[int]:
    with ExitStack() as open_:
        found = [open_.enter_context(socket.socket()) for _ in range(count)]
        for each in found:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in found]


@pytest.mark.parametrize("seed", range(4))
def test_a_crawl_of_a_cluster_outlives_partitions(
    s3: str, cluster: Disturbed, engine: Engine, tmp_path: Path, seed: int
) -> None:
    draw = Random(seed)  # noqa: S311  # reproducible
    web = Web(hosts=HOSTS, pages_per_host=PAGES, mix=Mix.plain())
    urls = [url for host in web.hosts() for url in web.urls(host)]
    with FakeWeb(web) as fake, way_to(fake) as to_web:
        more = f"fetch.delay_s = {DELAY_S}\nrank.tolerance = 1e-12"
        settings = loopback_settings(to_web.address, more)
        whole = Crawl.create(str(tmp_path / "crawl"), settings, engine=engine)
        whole.inject(urls)
        whole.run(rounds=1)
        expected = tables(whole)
        titles = [row.title for row in whole.dataset("documents").limit(10).collect()]
        for number, place in enumerate(PLACES):
            root = f"{s3}/{number}"
            Crawl.create(root, settings, engine=engine).inject(urls)
            opening.replace(
                f"{root}/{CONFIG_NAME}", f'engine.url = "{cluster.url}"\n{settings}'.encode()
            )
            ways = cluster.ways.get(place, [to_web])
            step = "generate" if place == "web" else draw.choice(STEPS)
            trouble, asked = draw.choice(TROUBLES), len(fake.log())
            disturb = partial(disturb_all, ways, trouble, TROUBLE_S)
            cluster.front.busy = cluster.front.cut = SHARE if place == "front" else 0
            if place == "front":
                disturb = partial(cluster.front.be_busy, TROUBLE_S)
            troubles = {step: Disturbance(disturb, draw.uniform(0.2, 6))}
            endpoint = os.environ["AWS_ENDPOINT_URL"]
            if place == "web":
                begins = asked + draw.randint(HOSTS, HOSTS * PAGES // 2)
                troubles = {step: after_requests(fake, begins, disturb)}
                code, said = crawl(root, endpoint, troubles)
                assert (code, said) == (0, "") or "nothing was fetched" in said, said
            else:
                crawl_to_the_end(root, endpoint, troubles)
            check_politeness(fake.log()[asked:], DELAY_S)
            there = Crawl.open(root, engine)
            if place == "web":
                assert fetched_later(there) == documents(whole)
            else:
                assert tables(there) == expected
                assert answers(there, titles) == answers(whole, titles)
            assert damaged_records(there) == []


def disturb_all(ways: list[Way], trouble: Trouble, seconds: float) -> None:
    threads = [threading.Thread(target=way.disturb, args=(trouble, seconds)) for way in ways]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
