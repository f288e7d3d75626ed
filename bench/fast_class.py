"""What does a round of pages that change fast cost, in a crawl that knows very many others?

    python bench/fast_class.py [--pages 10_000_000] [--feeds 1_000] [--rounds 12] [--folder FOLDER]

A crawl knows so many pages, a tenth of them fetched, and the others due. Among them are feeds, one
per host. In each round, minutes apart, every feed lists a new article besides 19 known ones. So a
round answers with the feeds, and with as many articles that they listed in the last one, each with
30 links to known pages of its host and others. What `generate` chooses is answered, and committed
as `fetch` and `parse` would. Measured are `generate` and `update`, in seconds of the clock and CPU
seconds. (As pages are parsed while others are fetched, `parse` has half a second left after the
fetch: bench/parse_ahead.py.)

Prints for each round how many feeds, articles and other pages were chosen, how many rows the layers
above the base have, and how many rows of the base `generate` left alone.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from itertools import chain
from pathlib import Path
from statistics import median
from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from in_proportion import (
    PAGES_PER_HOST,
    Stopwatch,
    Web,
    host_rows,
    hosts,
    pages,
    parts,
    table,
    urls,
    written,
)
from msgspec import structs

from gossamer import due_times, generate, pace, update, workspace
from gossamer.backends import LocalBackend
from gossamer.config import Config
from gossamer.filenames import CONFIG_NAME
from gossamer.store import Store
from gossamer.tables import PAGES
from gossamer.tables.fetching import RHYTHM_S
from gossamer.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from in_proportion import Numbers

BEGAN_MS = 1_800_000_000_000
ROUND_MS = 60_000
LISTED = 20
LINKS = 30


class News:
    """Feeds, and their articles by the round in which they appear."""

    def __init__(self, known: int, feeds: int) -> None:
        self.web = Web(known, known // 10, known // 10 * LINKS, words=60)
        self.feeds: Numbers = np.arange(feeds) * (known // feeds // PAGES_PER_HOST * PAGES_PER_HOST)
        self.feed_urls, self.hosts = urls(self.feeds), hosts(self.feeds)
        self.numbers = {url: number for number, url in enumerate(self.feed_urls.to_pylist())}
        for before in range(-LISTED, 1):
            self._publish(before)

    def articles(self, round_: int) -> pa.Array:
        middle = f"/news/{round_ + LISTED:06d}-and-its-title"
        return pc.binary_join_element_wise("https://", self.hosts, middle, "")

    def _publish(self, round_: int) -> None:
        for number, url in enumerate(self.articles(round_).to_pylist()):
            self.numbers[url] = number

    def answered(self, chosen: Sequence[str], round_: int) -> dict[str, pa.Table]:
        """What `fetch` and `parse` add when these pages answer; the feeds list this round's."""
        self._publish(round_)
        of = np.array([self.numbers.get(url, -1) for url in chosen])
        feed_urls = set(self.feed_urls.to_pylist())
        are_feeds = np.array([url in feed_urls for url in chosen])
        url = pa.array(chosen)
        host = pa.array([each.split("/")[2] for each in chosen])
        common = {"url": url, "host": host}
        at = pa.repeat(BEGAN_MS + round_ * ROUND_MS, len(chosen))
        digest = pc.cast(pa.array(np.arange(len(chosen)) + round_ * 1_000_000), pa.string())
        responses = common | {
            "outcome": pa.repeat("ok", len(chosen)),
            "fetched_ms": at,
            "digest": digest,
        }
        documents = common | {
            "outcome": pc.if_else(pa.array(are_feeds), "listing", "parsed"),
            "content_type": pc.if_else(pa.array(are_feeds), "application/rss+xml", "text/html"),
            "text_hash": pa.array(np.arange(len(chosen)) + round_ * 1_000_000),
            "text": self.web.texts(len(chosen)),
            "digest": digest,
        }
        links = [
            self._entries(of[are_feeds], round_),
            self._links(url.filter(pa.array(~are_feeds)), of[~are_feeds], round_),
        ]
        found = pa.concat_tables(links)
        return {
            "responses": table("responses", round_, responses),
            "documents": table("documents", round_, documents),
            "links": found.take(pa.array(np.random.default_rng(1).permutation(found.num_rows))),
        }

    def _entries(self, feeds: Numbers, round_: int) -> pa.Table:
        listed = [
            self.articles(each).take(feeds) for each in range(round_ - LISTED + 1, round_ + 1)
        ]
        dst = pa.concat_arrays(listed)
        columns = {
            "src": pa.concat_arrays([self.feed_urls.take(feeds)] * LISTED),
            "dst": dst,
            "relation": pa.repeat("entry", len(dst)),
            "first": pa.repeat(False, len(dst)),
        }
        return table("links", round_, columns)

    def _links(self, sources: pa.Array, of: Numbers, round_: int) -> pa.Table:
        """Links of articles, and of other pages, to known pages: mostly those of their host."""
        near = np.where(of < 0, 0, self.feeds[of])
        number = np.tile(np.arange(LINKS), len(sources))
        dst = self.web.targets(np.repeat(near, LINKS), number)
        src = sources.take(pa.array(np.repeat(np.arange(len(sources)), LINKS)))
        first = pa.repeat(True, len(dst))
        return table("links", round_, {"src": src, "dst": urls(dst), "first": first})


def crawled(work: Workspace, news: News) -> None:
    """Commit the pages that are known. The feeds among them are due in the first round."""
    everything, fetched = np.arange(news.web.pages), news.web.fetched
    listed = (old_articles(news, before) for before in range(-LISTED, 1))
    others = (known(n, fetched, news) for n in parts(everything))
    with work.step("bench", 0) as draft:
        draft.append = {
            "pages": written(work, "pages", 0, chain(listed, others)),
            "hosts": written(work, "hosts", 0, iter([host_rows(everything)])),
        }
    with work.step("bench", 0) as draft:
        draft.replace["due_times"] = due_times.counted(work, work.engine.read([], PAGES.ddl))


def old_articles(news: News, round_: int) -> pa.Table:
    url = news.articles(round_)
    later = pa.repeat(BEGAN_MS + 7 * 86_400_000, len(url))
    status = pa.repeat("fetched", len(url))
    columns = {"url": url, "host": news.hosts, "status": status, "next_fetch_ms": later}
    return table("pages", 0, columns)


def known(numbers: Numbers, fetched: Numbers, news: News) -> pa.Table:
    are_feeds, are_fetched = np.isin(numbers, news.feeds), np.isin(numbers, fetched)
    rows = pages(numbers, are_fetched | are_feeds, 0)
    later = BEGAN_MS + (numbers % 30 * 24 + 1) * 3_600_000
    next_ms = np.where(are_feeds, BEGAN_MS, np.where(are_fetched, later, 0))
    columns = {
        "next_fetch_ms": pa.array(next_ms),
        "fetched_ms": pa.array(np.full(numbers.size, BEGAN_MS - ROUND_MS), mask=next_ms == 0),
        "stored_ms": pa.array(np.full(numbers.size, BEGAN_MS - ROUND_MS), mask=next_ms == 0),
        "interval_s": pa.array(np.where(are_feeds, RHYTHM_S, 30 * 86_400)),
        "kind": pc.if_else(pa.array(are_feeds), "feed", "page"),
        "finds": pa.array(np.where(are_feeds, 8.0, 0.0)),
        "finding_days": pa.array(np.where(are_feeds, 8 * ROUND_MS / 86_400_000, 0.0)),
    }
    for name, column in columns.items():
        at = rows.schema.get_field_index(name)
        rows = rows.set_column(at, rows.schema.field(at), pc.cast(column, rows.schema.types[at]))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pages", type=int, default=10_000_000)
    parser.add_argument("--feeds", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--folder", default=tempfile.gettempdir())
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="fast-class-", dir=options.folder) as folder:
        backend = LocalBackend(Path(folder, "crawl"))
        config = Config()
        sizes = structs.replace(config.generate, pages=2 * options.feeds, domain_share=1.0)
        config = structs.replace(config, generate=sizes)
        work = Workspace(Store.create(backend), config, clock_ms=BEGAN_MS, is_endless=True)
        backend.create(CONFIG_NAME, b"# defaults\n", private=True)
        news = News(options.pages, options.feeds)
        crawled(work, news)
        print(f"{options.pages:,} pages; load {psutil.getloadavg()[0]:.1f}", flush=True)
        measure(work, news, options.rounds)
        work.close()


def set_clock(work: Workspace, now_ms: int) -> None:
    """Let it be a time, in the reports of steps, too.

    By these, `generate` knows when it last looked at all pages.
    """
    work.clock_ms = now_ms
    clock = SimpleNamespace(time=lambda: now_ms / 1000, monotonic=time.monotonic)
    workspace.time = clock  # type: ignore[assignment]


def measure(work: Workspace, news: News, rounds: int) -> None:
    head = ("feeds", "articles", "others", "in layers", "left alone")
    print(f"{'':6}{'':36}{'':24}{'generate':>16}{'update':>16}{'both':>16}")
    print(f"{'round':>6}" + "".join(f"{name:>12}" for name in head) + 3 * f"{'s':>8}{'CPU s':>8}")
    watch, both = Stopwatch(), []
    for round_ in range(1, rounds + 1):
        set_clock(work, BEGAN_MS + round_ * ROUND_MS)
        watch.start()
        listed = generate.run(work)
        watch.report(listed)
        paths = [f"{work.root}/{f.path}" for f in work.store.files("fetchlist")]
        chosen = pa.concat_tables(pq.read_table(p, columns=["url"]) for p in paths)
        names = chosen.column("url").to_pylist()
        tables = news.answered(names, round_)
        with work.step("fetch", round_) as draft:
            draft.append["responses"] = written(
                work, "responses", round_, iter([tables.pop("responses")])
            )
        with work.step("parse", round_) as draft:
            draft.append |= {n: written(work, n, round_, iter([t])) for n, t in tables.items()}
        layers = [layer.rows for layer in work.store.manifest.layers("pages")]
        watch.report(update.run(work))
        feeds = len(set(names) & set(news.feed_urls.to_pylist()))
        articles = len(set(names) & news.numbers.keys()) - feeds
        counts = (feeds, articles, len(names) - feeds - articles, sum(layers[1:]))
        left = listed.counts.get(pace.LEFT_ALONE, 0)
        times = [watch.steps[name] for name in ("generate", "update")]
        times.append((sum(t[0] for t in times), sum(t[1] for t in times)))
        both.append(times[-1])
        cells = "".join(f"{n:>12,}" for n in (*counts, left))
        print(f"{round_:>6}{cells}" + "".join(f"{s:>8.2f}{c:>8.2f}" for s, c in times), flush=True)
    wall_s, cpu_s = (median(t[i] for t in both[2:]) for i in (0, 1))
    print(f"median from the third round on: {wall_s:.2f} s, {cpu_s:.2f} CPU s")


if __name__ == "__main__":
    main()
