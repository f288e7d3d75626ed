"""Does a harvest cost in proportion to what changed, or to everything that is known?

    python bench/in_proportion.py [--pages 200_000] [--documents 20_000] [--links 600_000]
        [--changed 500] [--rounds 6] [--fetch-s 20] [--words 60] [--folder FOLDER]

A crawl knows PAGES pages, of which it has fetched and parsed DOCUMENTS, with LINKS links. All of it
is harvested. Then come rounds in which CHANGED pages answer: half of them are new, the other half
have other texts and a tenth of their links replaced. After each round run `update` and the harvest
that a crawl without end begins then (gossamer/flow/harvests.py), as if fetching had taken FETCH_S
seconds. The script prints seconds, and CPU seconds of this process and its workers. The shares are
those of CPU time, of all rounds but the first, whose harvest always looks at links.

Texts have WORDS words of a Zipf distribution. They have no sketches: what near-duplicates cost is
measured by bench/grouping.py.
"""

from __future__ import annotations

import tempfile
import time
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.compute as pc
import xxhash
from harness import Options, report
from measuring import tree_cpu_s

from gossamer.config import Config
from gossamer.flow import rounds
from gossamer.flow.harvests import Harvests
from gossamer.parse.step.page_writer import FLUSH_PAGES
from gossamer.schedule import update
from gossamer.schedule.due import due_counts
from gossamer.state.workspace import Workspace
from gossamer.storage.local_backend import LocalBackend
from gossamer.storage.names import CONFIG_NAME
from gossamer.storage.store import Store
from gossamer.storage.task_output import SMALL_PAGES, ParquetWriter, layers_of
from gossamer.tables import DATASETS, PAGES

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator

    import numpy.typing as npt

    from gossamer.storage.store import StepReport

    Numbers = npt.NDArray[np.int64]
    Seconds = dict[str, tuple[float, float]]

PAGES_PER_HOST = 500
VOCABULARY = 100_000
SKEW = 1.2
COPIED = 0.1
"""Share of documents with the text of another."""
LOCAL = 0.7
"""Share of links to pages of the same host."""
REPLACED = 0.1
PART = 100_000
"""Rows that are made at once."""
NOW_MS = 1_800_000_000_000
NONE = np.empty(0, np.int64)
PLAIN: dict[str, Any] = {
    "nofollow": False,
    "noindex": False,
    "noarchive": False,
    "nosnippet": False,
    "truncated": False,
    "is_doubtful": False,
    "relation": "a",
    "content_type": "text/html",
    "language": "en",
    "fetched_ms": NOW_MS,
    "found_ms": NOW_MS,
    "depth": 1,
    "hops": 0,
    "source": "link",
    "inlinks": 3,
    "cash": 0,
    "fetches": 1,
    "failures": 0,
    "changes": 0.0,
    "watched_days": 1.0,
    "next_fetch_ms": NOW_MS,
    "interval_s": 30 * 86_400,
    "boilerplate": "Home News About Contact\nAll rights reserved",
}


class Web:
    """Pages with links and texts, by their numbers."""

    def __init__(self, pages: int, documents: int, links: int, words: int) -> None:
        self.random = np.random.default_rng(1)
        self.words_per_text = words
        self.pages = pages
        self.fetched = np.arange(0, pages, pages // documents)[:documents]
        self.degree = links // documents
        letters = self.random.integers(97, 123, (VOCABULARY, 8), np.uint8)
        sizes = self.random.integers(2, 9, VOCABULARY).tolist()
        self.words = pa.array(
            [bytes(row[:size]).decode() for row, size in zip(letters, sizes, strict=True)]
        )

    def targets(self, sources: Numbers, numbers: Numbers) -> Numbers:
        """Where the links of pages lead, by their numbers: popular pages have low numbers."""
        chosen, kind = chance(sources, numbers), chance(numbers, sources)
        near = sources - sources % PAGES_PER_HOST + (PAGES_PER_HOST * chosen**2).astype(np.int64)
        far = (self.pages * chosen**3).astype(np.int64)
        return np.minimum(np.where(kind < LOCAL, near, far), self.pages - 1)

    def links(self, sources: Numbers, round_: int) -> tuple[Numbers, Numbers]:
        """The distinct links of pages in a round; each has one more to a page that is new."""
        src = np.repeat(sources, self.degree)
        number = np.tile(np.arange(self.degree), sources.size)
        dst = self.targets(src, number)
        if round_ > 1:
            moved = self.random.random(src.size) < REPLACED
            dst[moved] = self.targets(src[moved], number[moved] + self.degree * round_)
            new = self.pages * round_ + np.arange(sources.size)
            src, dst = np.append(src, sources), np.append(dst, new)
        both = np.unique(np.stack([src, dst], 1)[src != dst], axis=0)
        return both[:, 0], both[:, 1]

    def texts(self, count: int) -> pa.Array:
        """Texts of words, of which some are equal."""
        size = count, self.words_per_text
        numbers = np.minimum(self.random.zipf(SKEW, size) - 1, VOCABULARY - 1)
        copies = np.flatnonzero(self.random.random(count) < COPIED)
        numbers[copies] = numbers[copies // 2]
        words = self.words.take(pa.array(numbers.ravel()))
        every = self.words_per_text
        starts = pa.array(np.arange(0, count * every + 1, every, dtype=np.int32))
        return pc.binary_join(pa.ListArray.from_arrays(starts, words), " ")


def chance(one: Numbers, other: Numbers) -> npt.NDArray[np.float64]:
    """A number from 0 to 1 for each pair, always the same (SplitMix64)."""
    mixed = one.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + other.astype(np.uint64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return (mixed ^ (mixed >> np.uint64(31))) / 2.0**64


def hosts(numbers: Numbers) -> pa.Array:
    padded = pc.utf8_lpad(pc.cast(pa.array(numbers // PAGES_PER_HOST), pa.string()), 6, "0")
    return pc.binary_join_element_wise("www.site-", padded, ".example", "")


def urls(numbers: Numbers) -> pa.Array:
    padded = pc.utf8_lpad(pc.cast(pa.array(numbers), pa.string()), 10, "0")
    between = "/articles/and-their-titles/"
    return pc.binary_join_element_wise("https://", hosts(numbers), between, padded, "")


def table(name: str, round_: int, columns: dict[str, Any]) -> pa.Table:
    """Rows of a dataset, with plain values or nulls in the other columns."""
    dataset = DATASETS[name]
    count = len(next(iter(columns.values())))
    plain = {"round": round_} | PLAIN
    if dataset.hashed is not None:
        columns = columns | {dataset.hashed: key_hashes(columns[dataset.key[0]])}
    return pa.table(
        {
            field.name: columns[field.name]
            if field.name in columns
            else pa.repeat(pa.scalar(plain.get(field.name), field.type), count)
            for field in dataset.schema
        }
    )


def key_hashes(keys: pa.Array | pa.ChunkedArray) -> Numbers:
    """The xxhash64 of Spark of each key."""
    digests = (xxhash.xxh64_intdigest(key.encode(), 42) for key in keys.to_pylist())
    return np.fromiter(digests, np.uint64, len(keys)).view(np.int64)


def pages(numbers: Numbers, are_fetched: npt.NDArray[np.bool_], round_: int) -> pa.Table:
    status = pc.if_else(pa.array(are_fetched), "fetched", "unfetched")
    columns = {"url": urls(numbers), "host": hosts(numbers), "status": status}
    return table("pages", round_, columns)


def documents(web: Web, numbers: Numbers, round_: int) -> pa.Table:
    text = web.texts(numbers.size)
    hashes = pc.utf8_slice_codeunits(text, 0, 60)
    columns = {
        "url": urls(numbers),
        "host": hosts(numbers),
        "outcome": pa.repeat("parsed", numbers.size),
        "title": pc.utf8_slice_codeunits(text, 0, 30),
        "main_text": text,
        "text": text,
        "text_hash": pa.array([hash(each) for each in hashes.to_pylist()], pa.int64()),
        "digest": pc.cast(pa.array(numbers * 10 + round_), pa.string()),
    }
    return table("documents", round_, columns)


def links(web: Web, numbers: Numbers, round_: int, again: Numbers = NONE) -> pa.Table:
    """The links of pages, some of which are visited again."""
    src, dst = web.links(numbers, round_)
    anchors = web.words.take(pa.array(dst % VOCABULARY))
    first = pa.array(~np.isin(src, again))
    columns = {"src": urls(src), "dst": urls(dst), "anchor": anchors, "first": first}
    return table("links", round_, columns)


def responses(numbers: Numbers, round_: int) -> pa.Table:
    columns = {"url": urls(numbers), "host": hosts(numbers)}
    ok = {"outcome": pa.repeat("ok", numbers.size)}
    return table("responses", round_, columns | ok)


def parts(numbers: Numbers, rows: int = PART) -> Iterator[Numbers]:
    for first in range(0, numbers.size, rows):
        yield numbers[first : first + rows]


def written(work: Workspace, name: str, round_: int, tables: Iterator[pa.Table]) -> Any:
    """A layer with a file for each table, in row groups as merged layers or tasks have them."""
    found = []
    encoding = SMALL_PAGES if name == "documents" else None
    group_rows = FLUSH_PAGES if name == "documents" else 50_000
    for rows in tables:
        writer = ParquetWriter(work.root, name, work.store.attempt(name), encoding=encoding)
        for at in range(0, rows.num_rows, group_rows):
            writer.write(rows.slice(at, group_rows))
        found += writer.close()
    return layers_of(found, round_)[name]


def crawled(work: Workspace, web: Web) -> None:
    """Commit the pages that are known, and those that were fetched, as one round."""
    everything, fetched = np.arange(web.pages), web.fetched
    some = max(PART // web.degree, 1)
    with work.step("bench", 1) as draft:
        draft.append = {
            "pages": written(
                work, "pages", 1, (pages(n, np.isin(n, fetched), 1) for n in parts(everything))
            ),
            "documents": written(
                work, "documents", 1, (documents(web, n, 1) for n in parts(fetched, 20_000))
            ),
            "responses": written(work, "responses", 1, (responses(n, 1) for n in parts(fetched))),
            "links": written(
                work, "links", 1, (links(web, n, 1) for n in parts(fetched, 10 * some))
            ),
            "hosts": written(work, "hosts", 1, iter([host_rows(everything)])),
        }
    with work.step("bench", 1) as draft:
        nothing = work.engine.read([], PAGES.ddl)
        draft.replace["due_times"] = due_counts.recount_due(work, nothing)


def host_rows(numbers: Numbers) -> pa.Table:
    firsts = numbers[::PAGES_PER_HOST] if numbers.size else numbers
    address = pc.binary_join_element_wise(
        "192.0.2.", pc.cast(pa.array(firsts % 250), pa.string()), ""
    )
    return table("hosts", 1, {"host": hosts(firsts), "address": address})


def crawled_again(work: Workspace, web: Web, count: int, round_: int) -> None:
    """Commit what is fetched and parsed in a round in which `count` pages answered."""
    again = web.random.choice(web.fetched, count // 2, replace=False)
    new = web.random.choice(web.pages, count, replace=False)
    new = np.setdiff1d(new, web.fetched)[: count - again.size]
    web.fetched = np.union1d(web.fetched, new)
    changed = web.random.permutation(np.concatenate([again, new]))
    found = links(web, changed, round_, again)
    found = found.take(pa.array(web.random.permutation(found.num_rows)))
    with work.step("parse", round_) as draft:
        draft.append = {
            "documents": written(
                work, "documents", round_, iter([documents(web, changed, round_)])
            ),
            "responses": written(work, "responses", round_, iter([responses(changed, round_)])),
            "links": written(work, "links", round_, iter([found])),
        }


class Stopwatch:
    """The seconds of the clock and of the CPU that each step took."""

    def __init__(self) -> None:
        self.start()

    def start(self) -> None:
        self.steps: Seconds = {}
        self._at = time.perf_counter(), tree_cpu_s()

    def report(self, done: StepReport) -> None:
        before, self._at = self._at, (time.perf_counter(), tree_cpu_s())
        self.steps[done.step] = self._at[0] - before[0], self._at[1] - before[1]


def seconds_of(steps: Seconds, names: Iterable[str]) -> tuple[float, float]:
    """Those of some steps together."""
    wall_s, cpu_s = zip(*(steps[name] for name in names), strict=True)
    return sum(wall_s), sum(cpu_s)


def timed(steps: Iterable[StepReport]) -> Seconds:
    watch = Stopwatch()
    for done in steps:
        watch.report(done)
    return watch.steps


def live(work: Workspace, web: Web, options: argparse.Namespace) -> Iterator[Seconds]:
    """Run rounds, and yield what the steps of each took from `update` on."""
    watch, fetching_s = Stopwatch(), 0.0

    def clock() -> float:
        return time.perf_counter() + fetching_s

    with Harvests(lambda *_: None, watch.report, clock) as harvests:
        for number in range(2, 2 + options.rounds):
            crawled_again(work, web, options.changed, number)
            fetching_s += options.fetch_s
            watch.start()
            watch.report(update.run(work))
            while not harvests.are_due(found=True):
                fetching_s += 1  # of the next round
            harvests.begin(work)
            while harvests.is_running():
                harvests.wait(600)
            work.store.refresh()
            yield watch.steps


def main() -> None:
    parser = Options(
        __doc__,
        pages=(200_000, 2_000),
        documents=(20_000, 200),
        links=(600_000, 2_000),
        changed=(500, 20),
        rounds=(6, 2),
        fetch_s=(20.0, 20.0),
        words=(60, 60),
    )
    parser.add_argument("--folder", help="where the crawl is created, and left")
    options = parser.read()
    with tempfile.TemporaryDirectory() as folder:
        backend = LocalBackend(Path(options.folder or folder, "crawl"))
        work = Workspace(Store.create(backend), Config())
        backend.create(CONFIG_NAME, b"# defaults\n", private=True)
        web = Web(options.pages, options.documents, options.links, options.words)
        crawled(work, web)
        work.engine.spark.range(1).collect()  # the engine starts before the clock
        print(f"{options.pages:,} pages, {options.links:,} links", end="; ")
        print(f"{options.documents:,} documents of {options.words:,} words")
        print(f"load {psutil.getloadavg()[0]:.1f}", flush=True)
        whole = timed(rounds.harvest(work))
        changes = []
        for number, steps in enumerate(live(work, web, options), 2):
            changes.append(steps)
            searchable_s, _ = seconds_of(steps, ("update", *rounds.SEARCHABLE))
            print(f"round {number}: searchable {searchable_s:.1f} s after parse", end="; ")
            print(f"load {psutil.getloadavg()[0]:.1f}", flush=True)
        summarize(whole, changes)
        work.close()


def summarize(whole: Seconds, changes: list[Seconds]) -> None:
    """Print the seconds of each step, and the CPU seconds of the rounds."""
    print(f"\n{'step':<14}{'everything':>20}{'each change':>16}")
    for step in dict.fromkeys(chain(whole, *changes)):
        wall_s, cpu_s = whole.get(step, (0, 0))
        taken = (f"{of[step][0]:.1f} {of[step][1]:.1f}" if step in of else "-" for of in changes)
        print(f"{step:<14}{wall_s:>10.1f}{cpu_s:>10.1f}" + "".join(f"{s:>12}" for s in taken))
    everything = seconds_of(whole, whole)[1]
    each = [seconds_of(of, of)[1] for of in changes]
    mean = sum(each[1:]) / max(len(each) - 1, 1)
    print(f"CPU seconds: {everything:.1f};", ", ".join(f"{cpu_s:.1f}" for cpu_s in each))
    report(f"a harvest after a round takes {mean / everything:.1%} of the CPU of a whole one")


if __name__ == "__main__":
    main()
