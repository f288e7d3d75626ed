"""Rounds, and parsing again, give the same tables on embedded Sail and on Apache Spark."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import pytest
from msgspec import structs

from gossamer import Crawl
from gossamer.engine.small.client import open_session
from gossamer.engine.small.limits import BESIDE_SPARK
from gossamer.engine.spark_client import ClusterClient
from gossamer.fakeweb import FakeWeb, Mix, Web
from gossamer.flow import rounds
from gossamer.links import graph
from gossamer.links.graph import centrality
from gossamer.tables import DATASETS
from tests.support.crawl_settings import loopback_settings
from tests.support.harvest_steps import run_postings
from tests.support.listed_web import listed_site, write_site
from tests.support.place_habits import (
    NOW,
    PAGE,
    TRUTHFUL,
    VISITED,
    first_round,
    folder,
    next_round,
    place,
    places,
)
from tests.support.planted_duplicates import prose
from tests.support.shared_rounds import SharedCrawl, Site
from tests.support.templated_sites import template, write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

    from gossamer.engine.engine import Engine
    from gossamer.state.workspace import Workspace

pytestmark = pytest.mark.spark

HOSTS = 12
LISTED = "listed.test"
LISTING = ("sitemap", "entry")
REFUSED = "deny pattern [37]$"
SETTINGS = """
generate.pages = 600
generate.pages_per_host = 25
url_rules.evidence = 3
update.scoring = "links*fit"
"""
FEW = BESIDE_SPARK._replace(rows=300)
"""Rows of a query that runs in this process, in a crawl of which Spark runs the larger ones."""
MARKED = 6
"""Pages of each kind, before the last round."""
FEWEST_ROWS = {
    **dict.fromkeys(("hosts", "domains", "outer_boilerplate", "host_ranks", "host_sizes"), HOSTS),
    "host_documents": HOSTS,
    "virtual_page": 1,
    "filter_rules": 1,
    "marks": 2 * MARKED,
    "unparsed": 0,  # as no parser is killed
    "embedded": 0,  # as there is no model
    "forgotten_changes": 0,  # as none is old
    "habits": 0,  # as no page is visited twice, but in test_visits_teach_the_same
    "url_rules": 50,
    **dict.fromkeys(("farms", "mirrors"), 0),  # as this web has none
    "similar": 1,
    "shared_places": 1,
    "shingled": 2,
    "boilerplate": 1,
    "own_texts": 12,
}
BETWEEN_VISITS = {"history", "watched_days", "finding_days", "changes", "score", "rate"}
"""Columns that depend on the time between a page's fetches."""
OF_THE_MOMENT = BETWEEN_VISITS | {
    *("elapsed_ms", "warc_file", "warc_offset", "rank", "static_rank", "source"),
}
GRAPH = (".graph", ".offsets", ".properties")


@pytest.fixture(
    scope="module",
    params=["brief", *(pytest.param(each, marks=pytest.mark.long) for each in ("mixed", "whole"))],
)
def crawls(
    request: pytest.FixtureRequest,
    engine: Engine,
    spark_engine: Engine,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[Crawl, Crawl]]:
    whole = request.param == "whole"
    folder = tmp_path_factory.mktemp("engines")
    docs = {LISTED: write_site(folder / "site", listed_site(f"http://{LISTED}"))}
    docs["repeating.test"] = folder / "repeating"
    own = {"index": prose(0, 20), **{f"p{number}": prose(number, 20) for number in range(1, 15)}}
    write(docs["repeating.test"], own, template(10))
    web = Web(hosts=HOSTS, docs=docs, pages_per_host=30, mix=Mix(crawl_delay=0.0), dust_pages=30)
    with FakeWeb(web) as fake:
        with pytest.MonkeyPatch.context() as patch:
            if request.param == "mixed":
                patch.setattr(spark_engine, "spark", some_here(spark_engine))
            crawl(folder / "spark", spark_engine, fake, whole=whole)
        read = Crawl.open(str(folder / "spark"), engine)
        yield crawl(folder / "sail", engine, fake, whole=whole), read


def some_here(engine: Engine) -> SparkSession:
    """A session that runs small queries in this process, and the others on the cluster."""
    return open_session(ClusterClient(engine._cluster), {}, FEW)


def crawl(folder: Path, engine: Engine, fake: FakeWeb, *, whole: bool) -> Crawl:
    """A brief crawl of known pages, or a whole one, with a harvest after parsing again."""
    made = Crawl.create(str(folder), loopback_settings(fake.address, SETTINGS), engine)
    made.work.clock_ms = 1_800_000_000_000
    made.inject(fake.web.seeds())
    if not whole:
        synthetic = [host for host in fake.web.hosts() if host not in fake.web.docs]
        made.inject(url for host in synthetic for url in fake.web.urls(host))
    with made.work.store.lock():
        for _ in range(2 if whole else 1):
            list(rounds.round_(made.work, lambda _step, _round: None))
    texts = made.dataset("documents").where("sketch IS NOT NULL")
    urls = sorted(row.url for row in texts.select("url").collect())
    made.mark(urls[:MARKED], fit=True)
    made.mark(urls[-MARKED:], fit=False, known=True)
    if whole:
        made.run(1)
        parsing = structs.replace(made.work.config.parse, media=True, max_text_chars=1_000)
        made.work.config = structs.replace(made.work.config, parse=parsing)
        made.reparse()
    made.filters.add([REFUSED])
    made.filters.apply()
    made.run(0 if whole else 1)
    run_postings(made.work)
    graph.run(made.work)
    centrality.run(made.work)
    return made


def rows(crawl: Crawl, dataset: str) -> list[dict[str, Any]]:
    """The rows of a crawl of either engine, as the embedded one reads them."""
    names = [
        name
        for name in DATASETS[dataset].column_names
        if not name.endswith("_ms") and name not in OF_THE_MOMENT
    ]
    found = [row.asDict(recursive=True) for row in crawl.dataset(dataset).select(*names).collect()]
    for row in found:
        for file in row.get("robots") or ():
            del file["fetched_ms"]
        for file in row.get("wish_files") or ():
            del file["again_ms"]
    return sorted(found, key=str)


BY_TASK = {"rewritten", "inverted", "counted", "judged", "gathered", "due_times"}
"""Datasets that depend on how tasks share their work, on the names of files, or on the time."""


@pytest.mark.parametrize(
    "dataset", [name for name, kept in DATASETS.items() if kept.columns and name not in BY_TASK]
)
def test_tables_are_equal(crawls: tuple[Crawl, Crawl], dataset: str) -> None:
    sail, spark = (rows(crawl, dataset) for crawl in crawls)
    assert len(sail) >= FEWEST_ROWS.get(dataset, 100)
    assert sail == spark


def test_visits_teach_the_same(
    engine: Engine, spark_engine: Engine, new_work: Callable[[], Workspace]
) -> None:
    sail, spark = (_taught(replace(new_work(), _engine=each)) for each in (engine, spark_engine))
    assert sail == spark


def _taught(work: Workspace) -> tuple[dict[str, Any], dict[str, Any]]:
    """A page and its places after a visit that a date foretold, and a date since."""
    page = {"changes": 3.1, "watched_days": 77.7, "dated_ms": VISITED, "signals": 2, "doubt": 0.3}
    answer = {"digest": "new", "text": 2}
    work.clock_ms = NOW
    crawl = SharedCrawl(work)
    site = Site("example", crawl)
    known = [place(site.host(), TRUTHFUL)]
    crawl.play_round([first_round(site, VISITED + 1, page=page, answer=answer, known=known)])
    crawl.play_round([next_round(site, {PAGE: NOW})])
    assert folder(site) in places(site)
    return site.pages()[site.url(PAGE)], places(site)


def test_sitemaps_and_feeds_were_read(crawls: tuple[Crawl, Crawl]) -> None:
    listed = {row["dst"] for row in rows(crawls[0], "links") if row["relation"] in LISTING}
    names = ("index.xml", "maps/1.xml.gz", "news.html")
    assert {f"http://{LISTED}/{name}" for name in names} <= listed


def test_ranks_are_equal_as_far_as_sums_in_another_order_are(
    crawls: tuple[Crawl, Crawl],
) -> None:
    sail, spark = (
        {row["url"]: row["rank"] for row in crawl.dataset("ranks").collect()} for crawl in crawls
    )
    assert sail == pytest.approx(spark, rel=1e-9)


def test_graphs_are_the_same_bit_by_bit(crawls: tuple[Crawl, Crawl]) -> None:
    sail, spark = (
        {
            PurePath(file.path).name: file.xxh3
            for file in crawl.work.store.files("graph")
            if file.path.endswith(GRAPH)
        }
        for crawl in crawls
    )
    assert len(sail) == 12
    assert sail == spark


def test_reports_count_the_same(crawls: tuple[Crawl, Crawl]) -> None:
    sail, spark = (
        [(done.step, done.round, done.counts) for done in crawl.work.store.manifest.history]
        for crawl in crawls
    )
    assert sail == spark


def test_answers_are_equal(crawls: tuple[Crawl, Crawl]) -> None:
    title = next(row["title"] for row in rows(crawls[0], "documents") if row["title"])
    sail, spark = ([hit.url for hit in crawl.search(title).hits] for crawl in crawls)
    assert sail
    assert sail == spark
