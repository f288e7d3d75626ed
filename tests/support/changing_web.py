"""Random histories of a crawl whose harvests follow changes, compared with harvests of everything.

    python -m tests.support.changing_web FIRST LAST

runs the histories with these seeds, each on a crawl of its own, and prints what each went through.
"""

from __future__ import annotations

import math
import random
import sys
import tempfile
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest
from msgspec import structs

from gossamer import index
from gossamer.config import Config
from gossamer.config.crawling import UpdateConfig
from gossamer.engine.engine import Engine
from gossamer.flow.check import dataset_agreement, index_parts
from gossamer.flow.rounds import HARVEST
from gossamer.index import indexed_rows, pending_pages, touched_pages
from gossamer.links import current_links, invert
from gossamer.state import lsm
from gossamer.state.workspace import Workspace
from gossamer.storage.local_backend import LocalBackend
from gossamer.storage.store import Store
from gossamer.tables import (
    DISPOSITIONS,
    FARMS,
    HOST_RANKS,
    INDEXED,
    OUTER_BOILERPLATE,
    PAGES,
    RANKS,
)
from gossamer.upkeep import compaction
from tests.support.change_readers import Reader
from tests.support.planted_duplicates import document, prose
from tests.support.rows import by_url, frame
from tests.support.site_histories import inlinks, layers

if TYPE_CHECKING:
    from gossamer.index.touched_pages import TouchedPages

    Row = dict[str, Any]

HOSTS = ("d.test:8080", *(f"{name}.example" for name in "abcefgh"))
PAGES_OF_HOST = 9
"""Too few for boilerplate in main texts, which depends on when it is determined."""
STATUS = {"ok": "fetched", "redirect": "redirected", "gone": "gone"}
OUTCOMES = ("ok", "ok", "ok", "ok", "redirect", "gone", "timeout")
STATE = ("index", "indexed", "outer_boilerplate", "gathered", "changes")
DERIVED = (
    *("inlinks", "inverted", "graph", "farms", "ranks", "host_ranks", "host_sizes", "ranked_nodes"),
    *("boilerplate", "own_texts", "host_documents", "counted"),
    *("sketched", "similar", "shingled", "mirrors", "judged", "dispositions", *STATE),
)


class ChangingWeb:
    """Pages of some hosts that change, move, die and come back, as rounds leave them."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)  # noqa: S311  # reproducible
        self.urls = [f"http://{host}/{n}" for host in HOSTS for n in range(PAGES_OF_HOST)]
        self.late: list[Row] = []

    def happen(self, work: Workspace, round_: int) -> None:
        made: dict[str, list[Row]] = {"responses": [], "documents": self.late, "links": []}
        self.late, states = [], []
        count = len(self.urls) if round_ == 1 else self.draw.choice((2, 4, 6))
        for url in self.draw.sample(self.urls, count):
            outcome = "ok" if round_ == 1 else self.draw.choice(OUTCOMES)
            made["responses"].append({"url": url, "round": round_, "outcome": outcome})
            if outcome in STATUS:
                host = url.split("/")[2]
                states.append({"url": url, "host": host, "status": STATUS[outcome]})
            if outcome == "ok":
                is_late = round_ > 1 and self.draw.random() < 0.2
                (self.late if is_late else made["documents"]).append(self.document(url, round_))
            if outcome in current_links.ANSWERED:
                links = [self.link(url, round_) for _ in range(self.draw.choice((0, 2, 6)))]
                distinct = {row["dst"]: row for row in links if row["dst"] != url}
                made["links"] += [*distinct.values()][: 1 if outcome == "redirect" else None]
        with work.step("test", round_) as draft:
            for name, rows in made.items():
                draft.append |= layers(work, name, [rows[::2], rows[1::2]], round_)
            if states:
                known, _ = work.scratch(frame(work, "pages", states))
                draft.replace["pages"] = lsm.append_layer(work, PAGES, known, len(states), round_)

    def document(self, url: str, round_: int) -> Row:
        text = prose(self.draw.randrange(80), self.draw.choice((20, 200)))
        menu = "\n".join(["Home", f"News {self.draw.randrange(3)}", f"Only {url}"])
        return document(
            url,
            text,
            round=round_,
            host=url.split("/")[2],
            language=self.draw.choice(("en", "en", "de", None)),
            boilerplate=menu,
            noindex=self.draw.random() < 0.05,
        )

    def link(self, src: str, round_: int) -> Row:
        anchor = self.draw.choice((None, "words", f"words of {round_}"))
        return {"src": src, "dst": self.draw.choice(self.urls), "round": round_, "anchor": anchor}


def run_history(work: Workspace, seed: int, rounds: int = 8) -> Counter[str]:
    """Run a history. Returns how many pages its harvests changed, and how many looked at few."""
    web, met = ChangingWeb(seed), Counter[str]()
    work.config = structs.replace(work.config, update=UpdateConfig(merge_share=1))
    with ExitStack() as patches:
        for module, name, value in (
            # Not MAX_SOURCES: of more links than a row holds, it is a sample of when they came.
            *((invert, "FEW_LINKS", 0), (indexed_rows, "MIN_TIERED", 10)),
            (compaction.step, "FEW", 3),
            (indexed_rows, "DRIFT", 0.5 if seed % 2 else 0.1),
        ):
            patches.enter_context(patch.object(module, name, value))
        for round_ in range(1, rounds + 1):
            web.happen(work, round_)
            if compaction.due_spans(work):
                compaction.run(work)
                met["merged"] += 1
            if 1 < round_ < rounds and web.draw.random() < 0.2:
                continue  # two rounds are harvested at once
            for name, step in HARVEST.items():
                if name != "index":
                    step(work)
            met.update(_indexed_twice(work))
        _equal_from_scratch(work)
    return met


def _indexed_twice(work: Workspace) -> Counter[str]:
    """Bring the index up to date by what changed, and from the same state by looking at all."""
    before = {name: work.store.manifest.layers(name) for name in STATE}
    looked = []

    def touched(*given: Any) -> TouchedPages | None:
        looked.append(real(*given))
        return looked[-1]

    real = touched_pages.touched_pages
    with patch.object(pending_pages, "touched_pages", touched):
        counts = index.run(work).counts
    after = {name: work.store.manifest.layers(name) for name in STATE}
    found = _state(work)
    with work.step("test", work.round) as draft:
        draft.replace |= before | {"gathered": ()}
    assert index.run(work).counts == counts
    assert _state(work) == found
    with work.step("test", work.round) as draft:
        draft.replace |= after
    _check_changes(work)
    assert not [*dataset_agreement.contradictions(work)]
    assert not [*index_parts.differing(work)]
    names = ("added", "replaced", "removed", "renewed")
    few = looked[0] is not None
    return Counter({name: counts.get(name, 0) for name in names if few} | {"of few": few})


def _state(work: Workspace) -> tuple[dict[str, Row], dict[str, Row], list[Row]]:
    indexed = by_url(work.read(INDEXED.name))
    for row in indexed.values():
        row["static_rank"] = pytest.approx(row["static_rank"])
    changes = [row.asDict() for row in work.read("changes").drop("harvest").collect()]
    changes.sort(key=lambda row: (row["url"], row["round"] or 0, row["change"]))
    return indexed, by_url(work.read(OUTER_BOILERPLATE.name), "host"), changes


def _check_changes(work: Workspace) -> None:
    """Whoever applies all changes has the pages of the index, with the texts that these have."""
    reader = Reader()
    reader.read_all(work)
    indexed = by_url(work.read(INDEXED.name).select("url", "round"))
    rows = work.read("documents").select("url", "round", "title", "main_text", "language")
    texts = {tuple(row[:2]): tuple(row[2:]) for row in rows.collect()}
    assert {each: texts[each] for each in reader.pages.items()} == {
        (url, reader.pages[url]): texts[url, row["round"]] for url, row in indexed.items()
    }


def _equal_from_scratch(work: Workspace) -> None:
    """Compare what the harvests led to with a harvest of all that is stored."""
    found = _searchable(work)
    with work.step("test", work.round) as draft:
        draft.replace |= dict.fromkeys(DERIVED, ())
    for step in HARVEST.values():
        step(work)
    assert _searchable(work) == found


def _searchable(work: Workspace) -> dict[str, Any]:
    tolerance = work.config.rank.tolerance
    indexed = by_url(work.read(INDEXED.name).drop("source", "shard", "boilerplate"))
    for row in indexed.values():
        shown = math.log2(1 + row.pop("static_rank"))
        row["static_rank"] = pytest.approx(shown, abs=2 * indexed_rows.DRIFT)
    found: dict[str, Any] = {
        # Rows hold all links, but in the order of ranks as of when they were written.
        "inlinks": {url: (count, sorted(held)) for url, (count, held) in inlinks(work).items()},
        "farms": sorted(map(tuple, work.read(FARMS.name).collect())),
        "survivors": by_url(
            lsm.current(work, DISPOSITIONS).drop("rank_class", "similarity", "titled_ms")
        ),
        "indexed": indexed,
    }
    for table in (RANKS, HOST_RANKS):
        (key,) = table.key
        rows = work.read(table.name).where("rank IS NOT NULL").collect()
        ranks = {row[key]: row["rank"] for row in rows}
        found[table.name] = {
            name: pytest.approx(rank, abs=2 * tolerance) for name, rank in ranks.items()
        }
    return found


def main() -> None:
    first, last = map(int, sys.argv[1:])
    with Engine(Config().engine) as engine:
        for seed in range(first, last + 1):
            with tempfile.TemporaryDirectory() as folder:
                store = Store.create(LocalBackend(Path(folder, "crawl")))
                work = Workspace(store, Config(), clock_ms=1_800_000_000_000, _engine=engine)
                print(seed, dict(run_history(work, seed)), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
