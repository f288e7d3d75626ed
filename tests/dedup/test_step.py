"""The step dedup: which page stands for those with the same content."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pytest
from msgspec import structs

from gossamer import dedup
from gossamer.dedup import lsh_bands, step
from gossamer.dedup.disposition_rows import MAX_COPIES
from gossamer.dedup.equal_texts import SOFT_404_PAGES
from gossamer.dedup.lsh_bands import MAX_SHARING
from gossamer.state import unread
from gossamer.state.workspace import Workspace
from gossamer.storage.task_output import ParquetWriter, layers_of
from gossamer.tables import DATASETS
from tests.support.earlier_states import returning
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
    from collections.abc import Callable, Mapping

    from gossamer.storage import task_output


class Decided(NamedTuple):
    rows: Mapping[str, dict[str, Any]]
    """The dispositions by URL."""
    counts: Mapping[str, int]

    def of(self, host: str) -> dict[str, dict[str, Any]]:
        return {url: row for url, row in self.rows.items() if url.split("/")[2] == host}


NEAR = {"http://near.example/": prose(1)}
for number, changed in enumerate((2, 4, 6, 8, 12, 16, 24, 40, 100)):
    NEAR[f"http://near.example/{number}"] = edited(prose(1), changed, number)
TITLES = {"first": "Sine", "other": "Cosine", "same": "sine!", "none": ""}
MANY = [f"http://many.example/{number:03}" for number in range(20 * MAX_SHARING)]


def titled() -> list[dict[str, Any]]:
    text = prose(2)
    documents = [
        document(f"http://titles.example/{name}", edited(text, number, number), title)
        for number, (name, title) in enumerate(TITLES.items())
    ]
    canonical = {"canonical": documents[0]["url"]}
    url = "http://titles.example/named"
    return [*documents, document(url, edited(text, 5, 5), "Sinus", **canonical)]


def soft_404s() -> list[dict[str, Any]]:
    """One text under many URLs of a host, or one that only repeats the URL that was asked for."""
    sorry, asked = prose(3, 40), prose(4, 300)
    return [
        *(document(f"http://a.example/{at}", sorry) for at in range(SOFT_404_PAGES)),
        *(document(f"http://b.example/{at}", sorry) for at in range(SOFT_404_PAGES - 1)),
        *(
            document(f"http://c.example/{at}", [*asked[:150], f"page{at}", *asked[150:]])
            for at in range(SOFT_404_PAGES)
        ),
    ]


def versions() -> list[dict[str, Any]]:
    """Versions within versions, and a better copy of the newest one."""
    documents = []
    for number in range(6):
        text = prose(10 + number, 200)
        for outer in ("1.1", "1.2", "1.3"):
            for inner in ("2.1", "2.2"):
                url = f"http://versions.example/{outer}/x/{inner}/{number}"
                its = edited(text, 10 * (outer != "1.3") + 5 * (inner != "2.2"), number)
                documents.append(document(url, its, f"Page {number}"))
        documents.append(document(f"http://best.example/{number}", text, f"Page {number}"))
    return documents


@pytest.fixture(scope="module")
def decided(new_work: Callable[[], Workspace]) -> Decided:
    """Of several hosts that have no text in common."""
    work = new_work()
    many = prose(5, 400)
    documents = [
        *(document(url, text, "A title") for url, text in NEAR.items()),
        *titled(),
        *soft_404s(),
        *versions(),
        *(document(url, edited(many, 1, at)) for at, url in enumerate(MANY)),
    ]
    store(work, documents)
    ranks = {url: (at * 7 % 31) / 100 for at, url in enumerate(MANY)}
    ranks |= {"http://titles.example/first": 0.5}
    ranks |= {f"http://best.example/{at}": 0.1 for at in range(6)}
    put(work, "ranks", [{"url": url, "rank": rank} for url, rank in ranks.items()])
    return Decided(standing_after(work), counts_of(work))


def standing_after(work: Workspace) -> Mapping[str, dict[str, Any]]:
    dedup.run(work)
    return standing(work)


def counts_of(work: Workspace) -> Mapping[str, int]:
    """Those of the last step."""
    return work.store.manifest.history[-1].counts


def test_with_a_similarity_of_1_only_equal_texts_are_copies(
    new_work: Callable[[], Workspace],
) -> None:
    work, text = new_work(), prose(1)
    dedup_config = structs.replace(work.config.dedup, similarity=1.0)
    work.config = structs.replace(work.config, dedup=dedup_config)
    near = edited(text, 1, 1)
    assert similarity(text, near) > 0.95
    store(
        work, [document(f"http://{n}.example/", each) for n, each in enumerate((text, text, near))]
    )
    survivors = {url: row["survivor"] for url, row in standing_after(work).items()}
    assert survivors.get("http://1.example/") == "http://0.example/"
    assert survivors.get("http://2.example/") is None


def test_near_duplicates_of_any_pair_above_the_threshold(decided: Decided) -> None:
    rows = decided.of("near.example")
    original, *copies = NEAR
    for url in copies:
        truth = similarity(NEAR[original], NEAR[url])
        assert (rows[url]["survivor"] == original) == (truth >= 0.85), truth
        if truth >= 0.85:
            assert abs(rows[url]["similarity"] - truth) < 1e-9
            assert rows[url]["reason"] == "near"
    survivor = rows[original]
    assert (
        survivor["copy_count"]
        == len(survivor["copies"])
        == sum(row["survivor"] is not None for row in rows.values())
    )


def test_pages_with_other_titles_stay_unless_they_name_a_canonical_page(decided: Decided) -> None:
    survivors = {
        url.rpartition("/")[2]: row["survivor"] for url, row in decided.of("titles.example").items()
    }
    first = "http://titles.example/first"
    assert survivors == dict.fromkeys(TITLES) | {"same": first, "named": first}


def test_of_many_pages_that_are_all_similar_one_survives(decided: Decided) -> None:
    """A band that all of them share does not make all pairs, and yet all are dropped."""
    rows = decided.of("many.example")
    indexed = [url for url, row in rows.items() if row["disposition"] == "indexed"]
    assert len(indexed) == 1
    assert rows[indexed[0]]["copy_count"] == len(MANY) - 1
    assert len(rows[indexed[0]]["copies"]) == MAX_COPIES
    assert decided.counts["compared_pairs"] < len(MANY) * len(MANY) / 4


def test_soft_404s(decided: Decided) -> None:
    reasons = {
        host: Counter(row["reason"] or row["disposition"] for row in decided.of(host).values())
        for host in ("a.example", "b.example", "c.example")
    }
    assert reasons == {
        "a.example": {"indexed": 1, "soft_404": SOFT_404_PAGES - 1},
        "b.example": {"text": SOFT_404_PAGES - 1},
        "c.example": {"indexed": 1, "near": SOFT_404_PAGES - 1},
    }


def test_what_survives_only_for_others_is_resolved_to_the_end(decided: Decided) -> None:
    for url, row in (decided.of("versions.example") | decided.of("best.example")).items():
        best = f"http://best.example/{url[-1]}"
        assert row["survivor"] == (None if url == best else best), url


SIMILAR = [document(f"http://a.example/{at}", edited(prose(1), at, at)) for at in range(6)]
LONE = document("http://lone.example/", prose(2))
TEXTS = len(SIMILAR) + 1


@pytest.fixture(scope="module")
def returned(new_work: Callable[[], Workspace]) -> Callable[[], Workspace]:
    work = new_work()
    store(work, [*SIMILAR, LONE])
    dedup.run(work)
    return returning(work)


@pytest.fixture
def compared(returned: Callable[[], Workspace]) -> Workspace:
    """A crawl of seven texts that have been compared, six of which are similar."""
    return returned()


def test_a_text_that_returns_is_compared_with_those_that_came_meanwhile(
    compared: Workspace,
) -> None:
    url, second = LONE["url"], "http://lone.example/later"
    put(compared, "pages", [{"url": url, "status": "gone"}], 2)
    store(compared, [document(second, edited(prose(2), 3, seed=1))], 3)
    assert standing_after(compared)[second]["disposition"] == "indexed"
    put(compared, "pages", [{"url": url, "status": "fetched"}], 4)
    assert standing_after(compared)[second]["survivor"] == url


@pytest.mark.folder
@pytest.mark.parametrize("dataset", ["sketched", "similar", "shingled"])
def test_damaged_memory_is_made_anew(compared: Workspace, dataset: str) -> None:
    found = standing(compared)
    path = Path(compared.root, compared.store.listed(dataset)[0].path)
    whole = path.read_bytes()
    data = bytearray(whole)
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    again = Workspace.open(compared.root, compared.engine)
    assert standing_after(again) == found
    assert counts_of(again)["new_texts"] == TEXTS
    assert not again.store.damaged(dataset)
    path.write_bytes(whole)


def test_what_an_older_version_remembers_is_made_anew(compared: Workspace) -> None:
    """Its bands were lists of numbers."""
    found = standing(compared)
    schema = DATASETS["sketched"].schema.set(1, pa.field("bands", pa.list_(pa.int64())))
    attempt = compared.store.attempt("sketched")
    writer = ParquetWriter(compared.root, "sketched", attempt, schema=schema)
    writer.write(pa.table([[1], [[2] * 14], [False]], schema=schema))
    with compared.step("test", 1) as draft:
        draft.replace |= {name: (each,) for name, each in layers_of(writer.close(), 1).items()}
    store(compared, [document("http://a.example/new", edited(prose(1), 1, 5))], 2)
    rows = standing_after(compared)
    assert counts_of(compared)["new_texts"] == TEXTS + 1
    assert {url: rows[url]["survivor"] for url in found} == {
        url: row["survivor"] for url, row in found.items()
    }


@pytest.mark.slow
def test_texts_that_were_compared_are_not_read_again(compared: Workspace) -> None:
    """Neither those of pages that did not change, nor those of a page that returns to its text."""
    first = SIMILAR[0]
    store(compared, [document(first["url"], edited(prose(1), 9, 9))], 2)
    dedup.run(compared)
    old, later = compared.store.manifest.layers("shingled")
    assert (old.rows, later.rows) == (len(SIMILAR), 1)
    store(compared, [first], 3)
    found = standing_after(compared)
    assert counts_of(compared)["new_texts"] == 1
    assert compared.store.manifest.layers("shingled") == (old, later)
    assert {row["reason"] for row in found.values()} == {"near", None}
    forget(compared)
    assert standing_after(compared) == found


def test_a_text_that_another_page_has_is_not_new(compared: Workspace) -> None:
    copy = document("http://copy.example/", prose(2))
    store(compared, [copy], 2)
    found = standing_after(compared)
    counts = counts_of(compared)
    assert (counts["new_texts"], counts["candidates"], counts["compared_pairs"]) == (0, 0, 0)
    both = [found[each["url"]]["disposition"] for each in (copy, LONE)]
    assert both.count("indexed") == 1


def test_a_harvest_without_changes_compares_nothing(compared: Workspace) -> None:
    found = standing(compared)
    assert standing_after(compared) == found
    counts = counts_of(compared)
    assert (counts["new_texts"], counts["candidates"], counts["compared_pairs"]) == (0, 0, 0)


@pytest.mark.parametrize("name", [table.name for table in step.STORED])
def test_all_is_judged_again_if_any_result_is_damaged(
    compared: Workspace, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    class Stopped(Exception):
        pass

    def inputs(*_: object, anew: bool) -> None:
        assert anew
        raise Stopped

    monkeypatch.setattr(type(compared.store), "damaged", lambda _, each: each == name)
    monkeypatch.setattr(unread, "unread_inputs", inputs)
    with pytest.raises(Stopped):
        dedup.run(compared)


def test_settings_that_decide_are_remembered(work: Workspace) -> None:
    ignored = structs.replace(work.config.publishers, obey=())
    before = step._settings(work)
    work.config = structs.replace(work.config, publishers=ignored)
    assert step._settings(work) == f"{before} without wishes"


@pytest.mark.embedded
def test_tasks_that_run_twice_change_nothing(
    compared: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a cluster that starts slow tasks again: what the first one wrote is garbage."""
    found = standing(compared)
    monkeypatch.setattr(lsh_bands, "write_pairs", _twice)
    forget(compared)
    assert standing_after(compared) == found


def test_bands_are_paired_by_one_task_or_by_several(
    compared: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = standing(compared)
    monkeypatch.setattr(lsh_bands, "FEW", 0)
    forget(compared)
    assert standing_after(compared) == found


def _twice(part: lsh_bands.PairTask) -> list[task_output.Row]:
    write_pairs(part)
    return write_pairs(part)


write_pairs = lsh_bands.write_pairs
