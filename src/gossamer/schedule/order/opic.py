"""How important is each page, judged while the crawl goes on? OPIC, importance without a ranking.

After Abiteboul, Preda and Cobena ("Adaptive on-line page importance computation", WWW 2003). Each
seed brings cash. A page that is fetched gives away all of its cash, and adds it to its history. The
share `rank.damping` goes in equal parts to the pages that it votes for (`current_links.VOTES`), the
rest to a virtual page, which stands for the jumps of PageRank's random surfer. So a page that many
important pages link to has much cash, even before it is fetched. A page that votes for none gives
all of it to the virtual page, and so does one that is gone or excluded, now and whenever it
receives some. A page that is to be tried again, or that is not parsed yet, keeps its cash.

The paper lets the virtual page be one link of each page. With a fixed share instead, cash moves as
PageRank's random surfer does: if all pages are fetched in each round, each round is a step of
PageRank's power iteration (tests/schedule/test_opic.py).

The virtual page divides what it collects in a round equally among all known pages, without touching
their rows: it counts what it has given to each page so far (`given`), and the column `cash` of
`pages` holds a page's cash less `given`. So a new page starts at −given, and a page that gave
everything away is there again.

Invariant: the cash of all pages and of the virtual page is what the seeds brought, to the last
unit, because cash is counted in integers. They make the result independent of the order of
additions, and thus of the engine.

A page that is visited often must not have a longer memory than others, and the Web changes. So a
history is that of the last HISTORY_S: of an older one, the part that lies outside is dropped as if
it had been received evenly (the paper's §5, interpolation).

Cost: a join of a round's links with the pages that it fetched, and of their targets with `pages`,
which `update` joins anyway. Pages that answered as unchanged need their old links, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from gossamer.links import current_links
from gossamer.state import lsm
from gossamer.storage import parquet
from gossamer.storage.task_output import ParquetWriter, layers_of
from gossamer.tables import PAGES, VIRTUAL_PAGE

if TYPE_CHECKING:
    from pyspark.sql import Column

    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import Layer

UNIT = 2**40
"""Cash that a seed brings. A page among a hundred million of one seed has ten thousand on average,
so rounding down loses little, and the virtual page gets what it loses."""
MOST = 2**62
"""Cash that all seeds bring together: four million seeds bring a unit, further ones nothing. So no
sum exceeds 64 bits."""
HISTORY_S = 120 * 86_400
"""Four times the default of `update.interval_days`."""
LINKING = ("ok", "unchanged", "redirect")
"""Outcomes of pages whose links are known."""
DEAD = ("gone", "excluded", "alias")
"""Statuses of pages that keep no cash."""


class VirtualPage(NamedTuple):
    """The row of the dataset virtual_page; see its columns."""

    pages: int = 0
    brought: int = 0
    given: int = 0
    kept: int = 0

    def add_seeds(self, new_pages: int, new_seeds: int) -> VirtualPage:
        """After an injection that added pages, each of `new_seeds` with its `unit`."""
        brought = self.brought + self.unit(new_seeds) * new_seeds
        return self._replace(pages=self.pages + new_pages, brought=brought)

    def unit(self, new_seeds: int) -> int:
        """The cash that each of so many new seeds brings."""
        return min(UNIT, (MOST - self.brought) // max(new_seeds, 1))

    def collect(self, new_pages: int, collected: int) -> VirtualPage:
        """After a round that added pages, and in which it collected cash."""
        pages = self.pages + new_pages
        each, kept = divmod(self.kept + collected, pages) if pages else (0, self.kept + collected)
        return VirtualPage(pages, self.brought, self.given + each, kept)


def virtual_page(work: Workspace) -> VirtualPage:
    """The virtual page as it is now.

    In a crawl that has none, because an older version wrote it, it holds what the seeds would have
    brought. The next round spreads that evenly, as the paper begins.
    """
    layers = work.store.manifest.layers(VIRTUAL_PAGE.name)
    if layers:
        (path,) = work.paths(VIRTUAL_PAGE.name)
        (row,) = parquet.read_table(path, schema=VIRTUAL_PAGE.schema).to_pylist()
        return VirtualPage(**row)
    if not work.store.manifest.layers(PAGES.name):
        return VirtualPage()
    seed = (F.col("source") == "seed").cast("long")
    sums = F.count("*"), F.coalesce(F.sum(seed), F.lit(0)).alias("seeds")
    counts = lsm.current(work, PAGES).agg(*sums).collect()
    pages, seeds = counts[0]
    kept = min(UNIT * max(seeds, 1), MOST)
    return VirtualPage(pages, kept, kept=kept)


def recount_cash(work: Workspace, rows: DataFrame) -> VirtualPage:
    """The virtual page if `rows` become the newest of `pages`, some of which may have been lost.

    It gets the cash that they had. If some are older than the lost ones, and so have cash that they
    have paid since, there is more cash than before.
    """
    page = virtual_page(work)
    known = lsm.newest_rows([*lsm.layer_frames(work, PAGES), rows], "url")
    count, total = known.agg(F.count("*"), F.sum(cash_column(page.given))).collect()[0]
    kept = max(page.brought - (total or 0), 0)
    return VirtualPage(count, kept + (total or 0), page.given, kept)


def write_opic(work: Workspace, page: VirtualPage, round_: int) -> tuple[Layer, ...]:
    """Write the virtual page; return the layers of its dataset, for `Draft.replace`."""
    name = VIRTUAL_PAGE.name
    writer = ParquetWriter(work.root, name, work.store.attempt(name))
    writer.write(pa.Table.from_pylist([page._asdict()], schema=VIRTUAL_PAGE.schema))
    return (layers_of(writer.close(), round_)[name],)


def stored_cash(given: int, new: Column) -> Column:
    """The column `cash` of a page as it is; of a `new` page, without any cash.

    Rows that an older version wrote have none.
    """
    return F.when(new, F.lit(-given)).otherwise(F.coalesce("cash", F.lit(0))).cast("long")


def cash_column(given: int) -> Column:
    """The cash of a known page, from its row."""
    return F.coalesce("cash", F.lit(0)) + F.lit(given)


def old_votes(work: Workspace, answers: DataFrame) -> DataFrame:
    """The votes (`src`, `dst`) of pages that answered as unchanged: their old links count."""
    unchanged, count = work.scratch(
        answers.where(F.col("outcome") == "unchanged").select(F.col("url").alias("src")).distinct()
    )
    if not count:
        return work.engine.read([], "src string, dst string")
    return work.scratch(_votes(current_links.links_of(work, unchanged)))[0]


def payers(work: Workspace, answers: DataFrame, late: DataFrame | None) -> DataFrame:
    """The pages (`url`) that pay in a round: those whose links were found.

    A page whose links were found only now, because it was left unparsed before, pays now: such
    pages are `late` (`url`).
    """
    found = answers.where(F.col("outcome").isin(*LINKING)).select("url")
    if work.store.manifest.layers("unparsed"):
        found = found.join(work.read("unparsed").select("url"), on="url", how="left_anti")
    return (found if late is None else found.union(late)).distinct()


def opic_flows(
    work: Workspace,
    links: DataFrame,
    old_votes: DataFrame,
    payers: DataFrame,
    before: DataFrame,
    given: int,
    damping: float,
) -> DataFrame:
    """What pages pay and receive in a round: `url`, `paid`, `got`, null for nothing.

    `links` are those of the round, and `before` the old rows of at least the payers.
    """
    paid, _ = work.scratch(
        before.join(payers, on="url", how="left_semi").select(
            "url", cash_column(given).alias("paid")
        )
    )
    votes = _votes(links).union(old_votes)
    degrees = votes.groupBy("src").agg(F.count("*").alias("links"))
    part = F.floor(F.col("paid") * F.lit(damping) / F.col("links")).cast("long")
    sources = paid.withColumnRenamed("url", "src").join(degrees, on="src", how="inner")
    parts = sources.select("src", part.alias("part"))
    got = votes.join(parts, on="src", how="inner").groupBy(F.col("dst").alias("url"))
    received = got.agg(F.sum("part").alias("got"))
    rows, _ = work.scratch(paid.join(received, on="url", how="full").select("url", "paid", "got"))
    return rows


def _votes(links: DataFrame) -> DataFrame:
    recommended = ~F.col("nofollow") & F.col("relation").isin(*current_links.VOTES)
    return links.where(recommended).select("src", "dst")


def no_opic_flows(work: Workspace) -> DataFrame:
    """The flows of no round."""
    return work.engine.read([], "url string, paid long, got long")


def elapsed_share(now_ms: Column) -> Column:
    """The part of HISTORY_S since a page was asked for last, at `fetched_ms`, or was found."""
    before_ms = F.coalesce("fetched_ms", "found_ms", now_ms)
    return F.greatest((now_ms - before_ms) / 1000, F.lit(1.0)) / HISTORY_S


def new_history(passed: Column) -> Column:
    """The new history of a page that pays `paid` (or null) after this part of HISTORY_S."""
    remains = F.greatest(1 - passed, F.lit(0.0)) * F.coalesce("history", F.lit(0))
    added = F.coalesce("paid", F.lit(0)) * F.least(1 / passed, F.lit(1.0))
    return F.floor(remains + added).cast("long")


def importance(given: int) -> Column:
    """The estimated importance of a page, above 0, from its row: what it received of late."""
    received = F.coalesce("history", F.lit(0)) + cash_column(given)
    return F.greatest(received, F.lit(1)) / F.lit(float(UNIT))
