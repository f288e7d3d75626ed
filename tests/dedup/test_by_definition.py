"""The step dedup beside its definition, over random crawls that change from harvest to harvest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import pytest
from msgspec import structs

from gossamer import dedup
from gossamer.config import Config
from gossamer.state.workspace import Workspace
from gossamer.storage.local_backend import LocalBackend
from gossamer.storage.store import Store
from tests.support.planted_duplicates import History, expected, forget, standing

if TYPE_CHECKING:
    from pathlib import Path

    from gossamer.engine.engine import Engine

HARVESTS = 4


def check(work: Workspace, history: History) -> None:
    """Each page is where the definition has it, and stands behind one that is indexed."""
    settings = work.config.dedup
    equal, near = expected(history.pages.values(), settings.similarity, settings.scope)
    rows = standing(work)
    assert set(rows) == set(history.pages)
    for url, page in history.pages.items():
        row = rows[url]
        if page.gone or page.noindex:
            wanted = "dropped_status" if page.gone else "dropped_noindex"
            assert (row["disposition"], row["survivor"]) == (wanted, None)
        elif url in equal or url in near:
            assert row["disposition"] == "dropped_duplicate", url
            assert rows[row["survivor"]]["disposition"] == "indexed"
        else:
            assert (row["disposition"], row["survivor"]) == ("indexed", None), url
        if url in near:
            assert row["reason"] == "near"
            assert near[url][row["survivor"]] == pytest.approx(row["similarity"], abs=1e-9)
        elif url in equal:
            assert row["reason"] in {"text", "canonical"}
            best = equal[url]
            assert row["survivor"] in near.get(best, {best: 1.0})
    copies = {
        (url, copy["url"], copy["reason"])
        for url, row in rows.items()
        for copy in row["copies"] or ()
    }
    assert copies == {
        (row["survivor"], url, row["reason"]) for url, row in rows.items() if row["survivor"]
    }


@pytest.mark.parametrize(
    ("seed", "scope"),
    [
        pytest.param(1, "domain", marks=pytest.mark.slow),
        *(
            pytest.param(seed, scope, marks=pytest.mark.long)
            for seed in (2, 3)
            for scope in ("crawl", "domain")
        ),
    ],
)
def test_harvest_after_harvest_the_same_as_by_definition_and_from_scratch(
    work: Workspace, seed: int, scope: Literal["crawl", "domain"]
) -> None:
    harvests(work, seed, scope)


@pytest.mark.spark
@pytest.mark.long
def test_a_cluster_decides_the_same(spark_engine: Engine, tmp_path: Path) -> None:
    store = Store.create(LocalBackend(tmp_path))
    work = Workspace(store, Config(), clock_ms=1_800_000_000_000, _engine=spark_engine)
    harvests(work, 1, number=2)


def harvests(
    work: Workspace,
    seed: int,
    scope: Literal["crawl", "domain"] = "crawl",
    number: int = HARVESTS,
) -> None:
    work.config = structs.replace(
        work.config, dedup=structs.replace(work.config.dedup, scope=scope)
    )
    history = History(seed)
    for _ in range(number):
        history.happen(work)
        dedup.run(work)
        check(work, history)
    found = standing(work)
    forget(work)
    dedup.run(work)
    assert standing(work) == found
