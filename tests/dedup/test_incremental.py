"""A harvest after changes decides the same as one from scratch: versions, mirrors, ranks, times."""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from gossamer import dedup
from gossamer.dedup import boilerplate, disposition_rows
from gossamer.tables import DISPOSITIONS
from tests.support.planted_duplicates import (
    document,
    edited,
    forget,
    prose,
    similarity,
    standing,
    store,
)
from tests.support.rows import put

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gossamer.state.workspace import Workspace

HOSTS = ("docs.example", "mirror.example", "other.test")
VERSIONS = ("3.9", "3.10", "stable")
CHAPTERS = 7
CHANGES = 6


class Manuals:
    """A manual in three versions on two hosts, and parts of it on a third, that change."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)  # noqa: S311  # reproducible
        self.now_ms = 1_800_000_000_000
        self.round = 0
        self.texts = [prose(at, 200) for at in range(CHAPTERS)]
        self.pages = {
            f"http://{host}/{version}/{chapter}": (chapter, version)
            for host in HOSTS[:2]
            for version in VERSIONS
            for chapter in range(CHAPTERS)
        } | {f"http://{HOSTS[2]}/{chapter}": (chapter, "stable") for chapter in range(CHAPTERS)}
        self.ranks = {url: self.draw.uniform(0.001, 0.1) for url in self.pages}

    def happen(self, work: Workspace) -> None:
        self.round += 1
        urls = list(self.pages)
        changed = urls if self.round == 1 else self.draw.sample(urls, CHANGES)
        states = []
        documents = []
        for url in changed:
            gone = self.round > 1 and self.draw.random() < 0.4
            states.append({"url": url, "status": "gone" if gone else "fetched"})
            states[-1]["host"] = url.split("/")[2]
            if not gone and self.draw.random() < 0.8:
                documents.append(self.document(url) | {"round": self.round})
        put(work, "pages", states, self.round)
        if documents:
            put(work, "documents", documents, self.round)
        ahead_ms = 10_000 if self.round == 3 else 0  # and then it is set back
        work.clock_ms = self.now_ms + self.round * 1_000 + ahead_ms
        if self.round % 3:
            self.rank(work)

    def rank(self, work: Workspace) -> None:
        urls = list(self.pages)
        for url in self.draw.sample(urls, CHANGES):
            self.ranks[url] = self.draw.uniform(0.001, 0.1)
        hosts = [{"host": host, "rank": self.draw.random()} for host in HOSTS]
        ranks = [{"url": url, "rank": rank} for url, rank in self.ranks.items()]
        with work.step("test", self.round) as draft:
            draft.replace |= {"ranks": (), "host_ranks": ()}
        put(work, "ranks", ranks, self.round)
        put(work, "host_ranks", hosts, self.round)

    def document(self, url: str) -> dict[str, Any]:
        chapter, version = self.pages[url]
        words = 6 * VERSIONS[::-1].index(version)
        kind = self.draw.random() if self.round > 1 else 1.0
        text = edited(self.texts[chapter], words, chapter)
        if kind < 0.2:
            text = edited(text, 2, self.round)
        elif kind < 0.4:
            text = prose(self.draw.getrandbits(30), 200)
        elif kind < 0.5:
            text = text[:50]
        more: dict[str, Any] = {}
        if self.draw.random() < 0.2:
            more["canonical"] = self.draw.choice(list(self.pages))
        if self.draw.random() < 0.2:
            more["unavailable_after_ms"] = self.now_ms + self.draw.randint(1, 5) * 1_000
        return document(url, text, f"Chapter {chapter}", **more)


SEEDS = [
    pytest.param(1, marks=pytest.mark.slow),
    pytest.param(2, marks=pytest.mark.long),
    pytest.param(3, marks=pytest.mark.long),
]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_harvest_of_changes_is_one_from_scratch(work: Workspace, seed: int) -> None:
    manuals = Manuals(seed)
    reasons = set()
    for _ in range(5):
        manuals.happen(work)
        report = dedup.run(work)
        found = standing(work)
        assert of_reasons(report.counts) == counted(found)
        nothing = work.engine.read([], DISPOSITIONS.ddl)
        assert disposition_rows.count_by_reason(
            work, "a step without reports", nothing, nothing
        ) == counted(found)
        mirrors = {tuple(row) for row in work.read("mirrors").collect()}
        reasons |= {row["reason"] for row in found.values()}
        if manuals.round == 1:
            continue  # that was one from scratch
        layers = {name: work.store.manifest.layers(name) for name in REMEMBERED}
        forget(work)
        dedup.run(work)
        assert standing(work) == found
        assert {tuple(row) for row in work.read("mirrors").collect()} == mirrors
        with work.step("test", work.round) as draft:  # go on from what the first one left
            draft.replace |= layers
    assert {"version", "mirror", "text", None} <= reasons


def counted(rows: Mapping[str, dict[str, Any]]) -> dict[str, int]:
    reasons = Counter(row["reason"] for row in rows.values())
    named = {f"duplicate_{reason}": number for reason, number in reasons.items() if reason}
    return {"documents": len(rows)} | named


def of_reasons(report: Mapping[str, int]) -> dict[str, int]:
    return {name: report[name] for name in report if name.startswith(("documents", "duplicate_"))}


REMEMBERED = (
    *("sketched", "similar", "shingled", "mirrors", "shared_places", "judged", "dispositions"),
)


def test_a_harvest_follows_the_ranks_of_hosts_whose_pages_have_none(work: Workspace) -> None:
    urls = [f"http://{host}/" for host in HOSTS]
    store(work, [document(url, prose(1)) for url in urls])
    for round_, best in enumerate(HOSTS, 1):
        with work.step("test", round_) as draft:
            draft.replace["host_ranks"] = ()
        hosts = [{"host": host, "rank": 0.9 if host == best else 0.05} for host in HOSTS]
        put(work, "host_ranks", hosts, round_)
        dedup.run(work)
        rows = standing(work)
        best_url = f"http://{best}/"
        assert {url: rows[url]["survivor"] for url in urls} == {
            url: None if url == best_url else best_url for url in urls
        }


@pytest.mark.slow
def test_only_ranks_that_may_decide_otherwise_are_followed(work: Workspace) -> None:
    a, b, c = urls = [f"http://{name}.example/" for name in "abc"]
    text = prose(1)
    store(work, [document(a, text), document(b, text), document(c, text, canonical=a)])

    def survivor(**ranks: float) -> tuple[str, int]:
        """The page that stands for all, and the number of pages that were decided again."""
        with work.step("test", 1) as draft:
            draft.replace["ranks"] = ()
        put(work, "ranks", [{"url": url, "rank": ranks[url[7]]} for url in urls])
        report = dedup.run(work)
        (found,) = (url for url, row in standing(work).items() if row["survivor"] is None)
        return found, report.counts["changed"]

    assert survivor(a=0.1, b=0.2, c=0.05) == (b, 3)
    assert survivor(a=0.01, b=0.2, c=0.05) == (b, 0), "one that yields has fallen"
    assert survivor(a=0.01, b=0.2, c=0.8)[0] == a, "one that lends its rank has risen"
    assert survivor(a=0.01, b=0.2, c=0.1)[0] == b, "one that lends its rank has fallen"
    assert survivor(a=0.8, b=0.2, c=0.1)[0] == a, "one that yields has risen"


def test_a_page_that_stands_for_none_is_followed_when_it_rises(work: Workspace) -> None:
    """It may be similar to a page that yields to another one."""
    first, between, last = urls = [f"http://{name}.example/" for name in "abc"]
    texts = [prose(1, 400)]
    texts += [edited(texts[0], 5, 1)]
    texts += [edited(texts[1], 5, 2)]
    assert [similarity(texts[0], other) > 0.8 for other in texts] == [True, True, False]
    store(work, [document(url, text) for url, text in zip(urls, texts, strict=True)])
    for best, rank in ((first, 0.05), (last, 0.8)):
        with work.step("test", 1) as draft:
            draft.replace["ranks"] = ()
        ranks = {first: 0.2, between: 0.01, last: rank}
        put(work, "ranks", [{"url": url, "rank": held} for url, held in ranks.items()])
        dedup.run(work)
        survivors = {url: row["survivor"] for url, row in standing(work).items()}
        assert survivors == {first: None, between: best, last: None}


@pytest.mark.slow
def test_a_harvest_follows_the_boilerplate_of_hosts(work: Workspace) -> None:
    """Pages are decided again whose documents have not changed, but the lines of their hosts."""
    draw = random.Random(1)  # noqa: S311  # reproducible
    templates = [[" ".join(prose(seed + at, 40)) for at in range(4)] for seed in (100, 200, 300)]
    originals = [prose(at, 150) for at in range(9)]
    hosts = ("one.example", "two.example", "three.example")
    reasons = set()
    compared: dict[str, set[Any]] = {}
    for round_, pages in enumerate((8, 16, 6, 20), 1):
        documents = []
        for number in range(pages):
            for host, template in zip(hosts, templates, strict=True):
                own = edited(draw.choice(originals), draw.choice((0, 1, 2)), draw.randrange(4))
                own = own[:30] if draw.random() < 0.2 else own
                lines = template if draw.random() < 0.8 else template[:2]
                text = ["\n".join([*lines, " ".join(own)])]
                url = f"http://{host}/{round_ // 2}-{number}"
                documents.append(document(url, text, host=host, round=round_))
        states = [
            {"url": row["url"], "host": row["host"], "status": "fetched"} for row in documents
        ]
        put(work, "pages", states, round_)
        put(work, "documents", documents, round_)
        boilerplate.run(work)
        dedup.run(work)
        found = standing(work)
        if round_ > 1:  # the first one is from scratch
            layers = {name: work.store.manifest.layers(name) for name in REMEMBERED}
            forget(work)
            dedup.run(work)
            assert standing(work) == found
            with work.step("test", work.round) as draft:
                draft.replace |= layers
        reasons |= {row["reason"] for row in found.values()}
        for url, row in found.items():
            compared.setdefault(url, set()).add((row["round"], row["compared"]))
        templates = templates[1:] + templates[:1] if round_ == 3 else templates
    assert {"near", "text", None} <= reasons
    again = [each for each in compared.values() if len(each) > len({round_ for round_, _ in each})]
    assert len(again) > 10, "the same documents have other texts"
