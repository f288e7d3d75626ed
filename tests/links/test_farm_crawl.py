"""A farm of host names beside good hosts: what each round leaves to them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from gossamer.api.crawl import Crawl
from gossamer.fakeweb import FakeWeb, Mix, Web
from gossamer.flow.rounds import ROUND
from gossamer.links import farms
from tests.support.crawl_settings import loopback_settings

if TYPE_CHECKING:
    from pathlib import Path

    from gossamer.engine.engine import Engine

FARM = "farm.hostile.test"
PAGES = 60
ROUNDS = 4


def good_web(docs: dict[str, Path | str]) -> Web:
    return Web(
        hosts=20, pages_per_host=60, page_bytes=2_000, mix=Mix.plain(), docs=docs, hostile=True
    )


def fetched(folder: Path, engine: Engine, *, farm: bool) -> list[Counter[bool]]:
    """The pages of each round, by whether they are the farm's."""
    portal = folder / "portal"
    portal.mkdir(parents=True)
    links = [f"http://{host}/" for host in good_web({}).hosts()]
    links += [f"http://x{n}.{FARM}/" for n in range(30 * farm)]
    (portal / "index.html").write_text("".join(f"<p><a href={link}>x</a>" for link in links))
    web = good_web({"portal.test": portal})
    with FakeWeb(web) as fake:
        settings = loopback_settings(fake.address, f"generate.pages = {PAGES}\n")
        crawl = Crawl.create(str(folder / "crawl"), settings, engine)
        crawl.inject(["http://portal.test/"])
        for step in ROUNDS * tuple(ROUND.values()):
            step(crawl.work)
    rows = crawl.work.read("responses").select("round", "host", "outcome").collect()
    return [
        Counter(
            row["host"].endswith(FARM)
            for row in rows
            if row["round"] == number and row["outcome"] == "ok"
        )
        for number in range(1, ROUNDS + 1)
    ]


@pytest.mark.slow
def test_good_hosts_keep_nine_tenths_of_each_round_beside_a_farm(
    tmp_path: Path, engine: Engine
) -> None:
    alone = fetched(tmp_path / "alone", engine, farm=False)
    beside = fetched(tmp_path / "beside", engine, farm=True)
    assert alone[-1][False] == PAGES
    assert all(
        with_farm[False] >= 0.9 * without[False]
        for without, with_farm in zip(alone, beside, strict=True)
    )
    assert sum(with_farm[True] for with_farm in beside) > 0


@pytest.mark.slow
def test_a_farm_is_found_and_no_good_host_is_taken_for_one(tmp_path: Path, engine: Engine) -> None:
    """Every host of the farm links to all others; the good hosts are fakeweb's own."""
    members = [f"x{n}.farm.test" for n in range(farms.MIN_HOSTS)]
    good = [f"http://{host}/" for host in good_web({}).hosts()]
    links = {"portal.test": [*good, f"http://{members[0]}/"]}
    links |= {host: [f"http://{other}/" for other in members] for host in members}
    for host, targets in links.items():
        (tmp_path / host).mkdir()
        text = "".join(f"<p><a href={target}>x</a>" for target in targets)
        (tmp_path / host / "index.html").write_text(text)
    with FakeWeb(good_web({host: tmp_path / host for host in links})) as fake:
        more = "generate.pages = 500\ngenerate.domain_share = 1.0\n"
        crawl = Crawl.create(str(tmp_path / "crawl"), loopback_settings(fake.address, more), engine)
        crawl.inject(["http://portal.test/"])
        crawl.run(rounds=4)
    rows = crawl.work.read("farms").collect()
    assert {row["name"] for row in rows} == set(members)
    assert {(row["reason"], row["supporters"]) for row in rows} == {("domain", 1)}
    voters = {row["host"] for row in crawl.work.read("responses").collect()}
    assert len(voters) > 2 * len(members)
