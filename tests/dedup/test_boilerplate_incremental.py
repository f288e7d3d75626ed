"""The step boilerplate after changes: the rows are those of a run that reads all documents."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from gossamer.dedup import boilerplate
from gossamer.state import lsm
from gossamer.tables import BOILERPLATE, HOST_DOCUMENTS, OWN_TEXTS
from tests.support.planted_duplicates import document, prose
from tests.support.rows import by_url, put

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame

    from gossamer.state.workspace import Workspace
    from gossamer.tables import Dataset

    Reader = Callable[[list[str], str], DataFrame]

HOSTS = ("a.example", "b.example", "c.example", "late.example")
TEMPLATES = [[" ".join(prose(seed + at, 40)) for at in range(3)] for seed in (100, 200, 300)]
TABLES = (BOILERPLATE, OWN_TEXTS, HOST_DOCUMENTS)
REMEMBERED = ("boilerplate", "own_texts", "host_documents", "counted")
ROUNDS = 6


class Sites:
    """Hosts whose templates and pages change; some pages fail, or are parsed late."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)  # noqa: S311  # reproducible
        self.left: dict[int, list[dict[str, Any]]] = {}
        """Documents that are parsed late, by the round that parses them."""

    def happen(self, work: Workspace, round_: int) -> None:
        """Commit the documents of a round, and those that were left by earlier ones."""
        documents = self.left.pop(round_, [])
        for host in HOSTS[: 3 if round_ < ROUNDS - 1 else 4]:
            for number in self.draw.sample(range(30), self.draw.choice((0, 5, 20))):
                made = self.document(host, number, round_)
                if self.draw.random() < 0.3:
                    self.left.setdefault(round_ + self.draw.choice((1, 2)), []).append(made)
                else:
                    documents.append(made)
        if documents:
            put(work, "documents", documents, round_)

    def document(self, host: str, number: int, round_: int) -> dict[str, Any]:
        url, kind = f"http://{host}/{number}", self.draw.random()
        if kind < 0.2:
            return document(url, [], host=host, round=round_, outcome="failed")
        template = TEMPLATES[(HOSTS.index(host) + round_ // 3) % 3] if kind < 0.8 else []
        own = " ".join(prose(self.draw.randrange(40), self.draw.choice((20, 120))))
        return document(url, ["\n".join([*template, own])], host=host, round=round_)


def rows(work: Workspace, table: Dataset) -> dict[str, dict[str, Any]]:
    return by_url(lsm.current(work, table), lsm.key_column(table))


SEEDS = [
    pytest.param(1, marks=pytest.mark.slow),
    *(pytest.param(seed, marks=pytest.mark.long) for seed in (2, 3)),
]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_harvest_of_changes_is_one_that_reads_all_documents(work: Workspace, seed: int) -> None:
    sites = Sites(seed)
    seen: list[dict[str, dict[str, Any]]] = []
    for round_ in range(1, ROUNDS + 1):
        sites.happen(work, round_)
        before = {name: work.store.manifest.layers(name) for name in REMEMBERED}
        boilerplate.run(work)
        found = [rows(work, table) for table in TABLES]
        after = {name: work.store.manifest.layers(name) for name in REMEMBERED}
        with work.step("test", round_) as draft:
            draft.replace |= before | {"counted": ()}
        boilerplate.run(work)
        assert [rows(work, table) for table in TABLES] == found
        with work.step("test", round_) as draft:  # go on from what the first one left
            draft.replace |= after
        seen.append(found[0])
    lines = {tuple(row["lines"]) for each in seen for row in each.values() if row["lines"]}
    assert len(lines) > 1, "boilerplate that changes"
    described = found[1].values()
    assert len({row["round"] for row in described}) > 1
    assert {row["has_boilerplate"] for row in described} == {True, False}


def test_only_new_files_are_read(work: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """A host that is not determined again needs no older document."""
    pages = [
        document(f"http://a.example/{n}", ["\n".join([*TEMPLATES[0], *prose(n, 120)])])
        for n in range(12)
    ]
    put(work, "documents", pages, 1)
    boilerplate.run(work)
    (old,) = work.store.files("documents")
    read: list[str] = []

    def noting(plain: Reader) -> Reader:
        def noted(paths: list[str], ddl: str) -> DataFrame:
            read.extend(paths)
            return plain(paths, ddl)

        return noted

    for name in ("read", "read_some"):
        monkeypatch.setattr(work.engine, name, noting(getattr(work.engine, name)))
    put(
        work,
        "documents",
        [pages[0] | {"round": 2}, pages[1] | {"url": "http://a.example/new", "round": 2}],
        2,
    )
    assert boilerplate.run(work).counts == {"hosts": 0, "described": 2}
    assert f"{work.root}/{old.path}" not in read
    assert rows(work, HOST_DOCUMENTS)["a.example"]["documents"] == 14
