"""The step dedup: which page stands for those with the same content."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from gossamer import dedup
from gossamer.dedup import lsh_bands
from gossamer.dedup.disposition_rows import MAX_COPIES
from gossamer.dedup.equal_texts import SOFT_404_PAGES
from gossamer.dedup.lsh_bands import MAX_SHARING
from gossamer.state.workspace import Workspace
from gossamer.storage.task_output import ParquetWriter, layers_of
from gossamer.tables import DATASETS
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
    from gossamer.storage import task_output


def test_near_duplicates_of_any_pair_above_the_threshold(work: Workspace) -> None:
    texts = {"http://a.example/": prose(1)}
    for number, changed in enumerate((2, 4, 6, 8, 12, 16, 24, 40, 100)):
        texts[f"http://a.example/{number}"] = edited(texts["http://a.example/"], changed, number)
    store(work, [document(url, text, "A title") for url, text in texts.items()])
    dedup.run(work)
    rows = standing(work)
    first = texts["http://a.example/"]
    for url, text in texts.items():
        if url != "http://a.example/":
            truth = similarity(first, text)
            assert (rows[url]["survivor"] == "http://a.example/") == (truth >= 0.85), truth
            if truth >= 0.85:
                assert abs(rows[url]["similarity"] - truth) < 1e-9
                assert rows[url]["reason"] == "near"
    survivor = rows["http://a.example/"]
    assert (
        survivor["copy_count"]
        == len(survivor["copies"])
        == sum(row["survivor"] is not None for row in rows.values())
    )


def test_pages_with_other_titles_stay_unless_they_name_a_canonical_page(work: Workspace) -> None:
    text = prose(1)
    titles = {"first": "Sine", "other": "Cosine", "same": "sine!", "none": ""}
    documents = [
        document(f"http://a.example/{name}", edited(text, number, number), title)
        for number, (name, title) in enumerate(titles.items())
    ]
    canonical = {"canonical": documents[0]["url"]}
    documents.append(document("http://a.example/named", edited(text, 5, 5), "Sinus", **canonical))
    store(work, documents)
    put(work, "ranks", [{"url": documents[0]["url"], "rank": 0.5}])
    dedup.run(work)
    rows = standing(work)
    survivors = {url.rpartition("/")[2]: row["survivor"] for url, row in rows.items()}
    first = documents[0]["url"]
    assert survivors == dict.fromkeys(titles) | {"same": first, "named": first}


def test_a_text_that_returns_is_compared_with_those_that_came_meanwhile(work: Workspace) -> None:
    first, second = document("http://a.example/", prose(1)), "http://a.example/later"
    store(work, [first])
    dedup.run(work)
    put(work, "pages", [{"url": first["url"], "status": "gone"}], 2)
    store(work, [document(second, edited(prose(1), 3, seed=1))], 3)
    dedup.run(work)
    assert standing(work)[second]["disposition"] == "indexed"
    put(work, "pages", [{"url": first["url"], "status": "fetched"}], 4)
    dedup.run(work)
    assert standing(work)[second]["survivor"] == first["url"]


def test_of_many_pages_that_are_all_similar_one_survives(work: Workspace) -> None:
    """A band that all of them share does not make all pairs, and yet all are dropped."""
    count = 20 * MAX_SHARING
    text = prose(1, 400)
    urls = [f"http://a.example/{number:03}" for number in range(count)]
    store(work, [document(url, edited(text, 1, at)) for at, url in enumerate(urls)])
    put(work, "ranks", [{"url": url, "rank": (at * 7 % 31) / 100} for at, url in enumerate(urls)])
    dedup.run(work)
    rows = standing(work)
    indexed = [url for url, row in rows.items() if row["disposition"] == "indexed"]
    assert len(indexed) == 1
    assert rows[indexed[0]]["copy_count"] == count - 1
    assert len(rows[indexed[0]]["copies"]) == MAX_COPIES
    compared = work.store.manifest.history[-1].counts["compared_pairs"]
    assert compared < count * count / 4


def test_soft_404s(work: Workspace) -> None:
    """One text under many URLs of a host, or one that only repeats the URL that was asked for."""
    sorry, asked = prose(1, 40), prose(2, 300)
    store(
        work,
        [
            *(document(f"http://a.example/{at}", sorry) for at in range(SOFT_404_PAGES)),
            *(document(f"http://b.example/{at}", sorry) for at in range(SOFT_404_PAGES - 1)),
            *(
                document(f"http://c.example/{at}", [*asked[:150], f"page{at}", *asked[150:]])
                for at in range(SOFT_404_PAGES)
            ),
        ],
    )
    dedup.run(work)
    reasons: dict[str, Counter[str]] = {}
    for url, row in standing(work).items():
        reasons.setdefault(url.split("/")[2], Counter())[row["reason"] or row["disposition"]] += 1
    assert reasons == {
        "a.example": {"indexed": 1, "soft_404": SOFT_404_PAGES - 1},
        "b.example": {"text": SOFT_404_PAGES - 1},
        "c.example": {"indexed": 1, "near": SOFT_404_PAGES - 1},
    }


def test_what_survives_only_for_others_is_resolved_to_the_end(work: Workspace) -> None:
    """Versions within versions, and a better copy of the newest one."""
    documents = []
    for number in range(6):
        text = prose(number, 200)
        for outer in ("1.1", "1.2", "1.3"):
            for inner in ("2.1", "2.2"):
                url = f"http://a.example/{outer}/x/{inner}/{number}"
                its = edited(text, 10 * (outer != "1.3") + 5 * (inner != "2.2"), number)
                documents.append(document(url, its, f"Page {number}"))
        documents.append(document(f"http://b.example/{number}", text, f"Page {number}"))
    store(work, documents)
    put(work, "ranks", [{"url": f"http://b.example/{at}", "rank": 0.1} for at in range(6)])
    dedup.run(work)
    for url, row in standing(work).items():
        best = f"http://b.example/{url[-1]}"
        assert row["survivor"] == (None if url == best else best), url


@pytest.mark.folder
def test_damaged_memory_is_made_anew(work: Workspace) -> None:
    texts = {f"http://a.example/{at}": edited(prose(1), at, at) for at in range(4)}
    store(work, [document(url, text) for url, text in texts.items()])
    dedup.run(work)
    found = standing(work)
    for dataset in ("sketched", "similar", "shingled"):
        again = Workspace.open(work.root, work.engine)
        path = Path(again.root, again.store.listed(dataset)[0].path)
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
        dedup.run(again)
        assert again.store.manifest.history[-1].counts["new_texts"] == len(texts)
        assert standing(again) == found
        assert not again.store.damaged(dataset)


def test_what_an_older_version_remembers_is_made_anew(work: Workspace) -> None:
    """Its bands were lists of numbers."""
    store(work, [document(f"http://a.example/{at}", edited(prose(1), at, at)) for at in range(4)])
    dedup.run(work)
    found = standing(work)
    schema = DATASETS["sketched"].schema.set(1, pa.field("bands", pa.list_(pa.int64())))
    writer = ParquetWriter(work.root, "sketched", work.store.attempt("sketched"), schema=schema)
    writer.write(pa.table([[1], [[2] * 14], [False]], schema=schema))
    with work.step("test", 1) as draft:
        draft.replace |= {name: (each,) for name, each in layers_of(writer.close(), 1).items()}
    store(work, [document("http://a.example/4", edited(prose(1), 1, 5))], 2)
    dedup.run(work)
    assert work.store.manifest.history[-1].counts["new_texts"] == 5
    rows = standing(work)
    assert {url: rows[url]["survivor"] for url in found} == {
        url: row["survivor"] for url, row in found.items()
    }


def test_texts_that_were_compared_are_not_read_again(work: Workspace) -> None:
    """Neither those of pages that did not change, nor those of a page that returns to its text."""
    documents = [document(f"http://a.example/{at}", edited(prose(1), at, at)) for at in range(6)]
    store(work, documents)
    dedup.run(work)
    store(work, [document(documents[0]["url"], edited(prose(1), 9, 9))], 2)
    dedup.run(work)
    old, later = work.store.manifest.layers("shingled")
    assert (old.rows, later.rows) == (len(documents), 1)
    store(work, documents[:1], 3)
    dedup.run(work)
    assert work.store.manifest.history[-1].counts["new_texts"] == 1
    assert work.store.manifest.layers("shingled") == (old, later)
    found = standing(work)
    assert {row["reason"] for row in found.values()} == {"near", None}
    forget(work)
    dedup.run(work)
    assert standing(work) == found


def test_a_harvest_without_changes_compares_nothing(work: Workspace) -> None:
    store(work, [document(f"http://a.example/{at}", edited(prose(1), at, at)) for at in range(4)])
    dedup.run(work)
    found = standing(work)
    dedup.run(work)
    counts = work.store.manifest.history[-1].counts
    assert (counts["new_texts"], counts["candidates"], counts["compared_pairs"]) == (0, 0, 0)
    assert standing(work) == found


@pytest.mark.embedded
def test_tasks_that_run_twice_change_nothing(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a cluster that starts slow tasks again: what the first one wrote is garbage."""
    texts = [document(f"http://a.example/{at}", edited(prose(1), at, at)) for at in range(6)]
    store(work, texts)
    dedup.run(work)
    found = standing(work)
    monkeypatch.setattr(lsh_bands, "write_pairs", _twice)
    forget(work)
    dedup.run(work)
    assert standing(work) == found


def test_bands_are_paired_by_one_task_or_by_several(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    store(work, [document(f"http://a.example/{at}", edited(prose(1), at, at)) for at in range(6)])
    dedup.run(work)
    found = standing(work)
    monkeypatch.setattr(lsh_bands, "FEW", 0)
    forget(work)
    dedup.run(work)
    assert standing(work) == found


def _twice(part: lsh_bands.PairTask) -> list[task_output.Row]:
    candidates_of(part)
    return candidates_of(part)


candidates_of = lsh_bands.write_pairs
