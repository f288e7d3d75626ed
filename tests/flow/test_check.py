"""`gossamer check`: damage and contradictions are found, and mended as far as possible."""

from __future__ import annotations

import random
import shutil
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
import pytest
from pyspark.sql import functions as F

from gossamer import fetch
from gossamer.api.crawl import Crawl
from gossamer.cli.inspected_sources import page_of_crawl
from gossamer.errors import ForgottenChanges, UsageError
from gossamer.fakeweb import FakeWeb, Mix, Web
from gossamer.flow import rounds
from gossamer.flow.check import checks
from gossamer.flow.check.repair import repair
from gossamer.index import postings
from gossamer.index.format.layout import part_key
from gossamer.schedule import generate
from gossamer.search.page_info import PageInfo
from gossamer.serve.stored_copy import Refusal, find_copy
from gossamer.state import lsm
from gossamer.state.lookup import Lookup
from gossamer.storage import listings
from gossamer.storage.store import Layer, StepReport
from gossamer.tables import DATASETS
from tests.support.change_readers import Reader
from tests.support.crawl_settings import loopback_settings
from tests.support.file_damages import cut, flip, gone, indexed, longer, reopened, wrong

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pyspark.sql import DataFrame

    from gossamer.engine.engine import Engine
    from gossamer.state.workspace import Workspace

DAMAGES = 100


@pytest.fixture(scope="module")
def web() -> Iterator[FakeWeb]:
    with FakeWeb(Web(hosts=2, pages_per_host=20, mix=Mix.plain())) as fake:
        yield fake


@pytest.fixture(scope="module")
def whole(web: FakeWeb, engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl of all pages, in two rounds, with an index."""
    folder = tmp_path_factory.mktemp("check") / "crawl"
    crawl = Crawl.create(str(folder), loopback_settings(web.address), engine)
    urls = [url for host in web.web.hosts() for url in web.web.urls(host)]
    crawl.inject(urls[::2])
    crawl.run()
    assert len(crawl.work.store.manifest.layers("responses")) == 2
    return folder


@pytest.fixture
def crawl(whole: Path, engine: Engine, tmp_path: Path) -> Crawl:
    """A copy of it."""
    return Crawl.open(str(shutil.copytree(whole, tmp_path / "crawl")), engine)


@pytest.fixture
def many(engine: Engine, tmp_path: Path) -> Crawl:
    """A crawl that has all kinds of files; of what this web has none, rows without values."""
    with (
        FakeWeb(Web(hosts=4, pages_per_host=20, mix=Mix(slow=0, crawl_delay=0))) as fake,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(listings, "NEWEST", {Layer: 4, StepReport: 4})
        settings = loopback_settings(fake.address, "generate.pages = 40")
        crawl = Crawl.create(str(tmp_path / "many"), settings, engine)
        crawl.inject(fake.web.seeds())
        crawl.run(rounds=4)
        crawl.compute_centrality()
        postings.run(crawl.work)
        work = crawl.work
        with work.step("test", work.round) as draft:
            for name in [name for name in DATASETS if not work.store.listed(name)]:
                schema = DATASETS[name].schema
                empty = pa.Table.from_pylist([dict.fromkeys(schema.names)], schema=schema)
                draft.replace[name] = (work.write(work.engine.rows(empty), name, work.round),)
    return crawl


def test_nothing_is_wrong_with_a_whole_crawl_and_a_check_writes_nothing(crawl: Crawl) -> None:
    before = {*Path(crawl.path).rglob("*")}
    assert wrong(crawl.work) == []
    assert {*Path(crawl.path).rglob("*")} == before


@pytest.mark.slow
def test_nothing_is_wrong_with_a_whole_crawl_at_any_time(
    web: FakeWeb, engine: Engine, tmp_path: Path
) -> None:
    """Before each step of a round, of its harvest, and of a round of pages that are known."""
    crawl = Crawl.create(str(tmp_path / "crawl"), loopback_settings(web.address), engine)
    assert wrong(crawl.work) == []
    crawl.inject(web.web.seeds())
    steps: list[str] = []
    found: list[str] = []

    def look(step: str, _round: int) -> None:
        if step in rounds.ROUND or step not in steps:
            found.extend(wrong(crawl.work))
        steps.append(step)

    crawl.run(1, announce=look)
    crawl.refresh()
    crawl.run(1, announce=look)
    assert steps.count("update") == 2
    assert {*rounds.ROUND, *rounds.HARVEST} <= {*steps}
    crawl.reparse()
    assert found == wrong(crawl.work) == []


@pytest.mark.slow
def test_a_hundred_of_a_hundred_planted_damages_are_found(many: Crawl) -> None:
    """Flipped bytes, missing, truncated, longer and swapped files of each kind, one at a time."""
    chance = random.Random(18)  # noqa: S311 - damages, not secrets
    work = many.work
    manifest = work.store.manifest
    listed = {name: work.store.listed(name) for name in DATASETS}
    kinds = {name: [file.path for file in files if file.bytes] for name, files in listed.items()}
    assert not kinds.pop("vectors")  # without a model
    kinds["listings"] = [path for each in manifest.listings() for path in each.paths]
    files = [path for paths in kinds.values() for path in paths]
    bytes_of = {path: Path(many.path, path).read_bytes() for path in files}
    assert not any(error for _, error in checks.check_files(work))
    found = 0
    for number, kind in zip(range(DAMAGES), cycle(kinds), strict=False):
        damage = (gone, cut, flip, longer, None)[number % 5]
        path = chance.choice(kinds[kind])
        touched = {path}
        if damage is not None:
            damage(Path(many.path, path))
        else:
            other = chance.choice([each for each in files if bytes_of[each] != bytes_of[path]])
            touched.add(other)
            Path(many.path, path).write_bytes(bytes_of[other])
            Path(many.path, other).write_bytes(bytes_of[path])
        found += {
            file.path for file, error in checks.check_files(work) if error is not None
        } == touched
        for each in touched:
            Path(many.path, each).write_bytes(bytes_of[each])
    assert found == DAMAGES
    assert not any(error for _, error in checks.check_files(work))


def largest(crawl: Crawl, dataset: str) -> list[Path]:
    """The largest file of a dataset, if it has any."""
    files = [file for file in crawl.work.store.listed(dataset) if file.bytes]
    return [Path(crawl.path, max(files, key=lambda file: file.bytes).path)] if files else []


FETCHED = ("warc", "responses", "pages")
"""What was answered, from which all others follow."""


@pytest.mark.slow
def test_whatever_follows_from_the_archive_is_repaired(crawl: Crawl) -> None:
    """One file of each other dataset is damaged."""
    before = indexed(crawl)
    damages = cycle((flip, gone, cut))
    counts = {}
    for name in (name for name in DATASETS if name not in FETCHED):
        for file, damage in zip(largest(crawl, name), damages, strict=False):
            damage(file)
            counts[f"damaged_{name}"] = 1
    assert len(counts) > 10
    check_repair(reopened(crawl), counts, before)


@pytest.mark.parametrize(
    ("dataset", "damage"),
    [
        pytest.param(
            name, damage, marks=pytest.mark.slow if name == "responses" else pytest.mark.long
        )
        for name, damage in zip(DATASETS, cycle((flip, gone, cut)), strict=False)
    ],
)
def test_a_damaged_crawl_is_repaired(
    dataset: str, damage: Callable[[Path], None], crawl: Crawl
) -> None:
    if not (files := largest(crawl, dataset)):
        pytest.skip("this crawl has none")
    before = indexed(crawl)
    damage(files[0])
    check_repair(reopened(crawl), {f"damaged_{dataset}": 1}, before)


@pytest.mark.slow
def test_programs_that_follow_the_index_go_on_after_it_was_repaired(crawl: Crawl) -> None:
    reader = Reader()
    reader.read_all(crawl.work)
    known = len(reader.met)
    flip(largest(crawl, "index")[0])
    repaired = reopened(crawl)
    repaired.repair()
    reader.read_all(repaired.work)
    assert {*reader.pages} == indexed(repaired)
    assert len(reader.met) == known

    flip(largest(repaired, "changes")[0])
    repaired = reopened(repaired)
    repaired.repair()
    with pytest.raises(ForgottenChanges):
        reader.read_all(repaired.work)
    another = Reader()
    another.read_all(repaired.work)
    assert {*another.pages} == indexed(repaired)


def check_repair(crawl: Crawl, counts: dict[str, int], before: set[str]) -> None:
    """Repair damaged files that are counted by dataset; then the same pages are searchable."""
    reports = crawl.repair()
    assert reports[0].counts == counts
    assert wrong(reopened(crawl).work) == []
    crawl.run()
    assert wrong(crawl.work) == []
    assert indexed(crawl) == before


def rewrite(work: Workspace, dataset: str, change: Callable[[DataFrame], DataFrame]) -> None:
    """Replace the layers of a dataset by changed ones."""
    stack, layers = work.store.manifest.layers(dataset), lsm.layer_frames(work, DATASETS[dataset])
    with work.step("test", work.round) as draft:
        draft.replace[dataset] = tuple(
            work.write(change(rows), dataset, layer.round)
            for layer, rows in zip(stack, layers, strict=True)
        )


def misplaced(work: Workspace, url: str) -> None:
    """Let the response of a page name the place of the wrong record."""
    place = F.expr(f"if(url = '{url}', warc_offset + 1, warc_offset)")
    rewrite(work, "responses", lambda rows: rows.withColumn("warc_offset", place))


def a_copy(work: Workspace, url: str) -> None:
    """Let a page that does not exist stand for another one."""
    values = {"disposition": "dropped_duplicate", "survivor": "http://x/"}
    changed = {name: F.expr(f"if(url = '{url}', '{to}', {name})") for name, to in values.items()}
    rewrite(work, "dispositions", lambda rows: rows.withColumns(changed))


def without_part(work: Workspace, _url: str) -> None:
    """Lose a part of the index, the one that comes first."""
    files = work.store.listed("index")
    lost = Path(files[0].path).parent
    with work.step("test", work.round) as draft:
        kept = tuple(file for file in files if Path(file.path).parent != lost)
        draft.replace["index"] = (Layer(work.round, kept),)


def without(dataset: str) -> Callable[[Workspace, str], None]:
    """Lose the rows of a page."""
    return lambda work, url: rewrite(work, dataset, lambda rows: rows.where(f"url <> '{url}'"))


def told_too_much(work: Workspace, url: str) -> None:
    """Tell of a page that does not exist what was told of another one, too."""
    invented = F.lit("http://x/").alias("url")
    others = [F.col(name) for name in DATASETS["changes"].column_names if name != "url"]
    rewrite(
        work,
        "changes",
        lambda rows: rows.unionByName(rows.where(f"url = '{url}'").select(invented, *others)),
    )


no_responses, no_documents, not_indexed = map(without, ("responses", "documents", "indexed"))
CONTRADICTIONS = {
    "bodies are not in the archive": misplaced,
    "were requested, but have no response": no_responses,
    "were stored, but no response says where": no_responses,
    "were answered, but are not known": without("pages"),
    "stored pages have no document": no_documents,
    "are judged, but have no document": no_documents,
    "have no page that stands for them": a_copy,
    "should be in the index": not_indexed,
    "should not be in the index": without("dispositions"),
    "were told to be in the index, but are not": told_too_much,
    "of the index were not told": without("changes"),
    "documents are missing": without_part,
    "documents are surplus": not_indexed,
}


@pytest.mark.slow
def test_documents_that_the_index_lacks_or_should_not_have_are_found_and_mended(
    crawl: Crawl,
) -> None:
    before = indexed(crawl)
    lost = part_key(crawl.work.store.listed("index")[0].path)
    rows = crawl.dataset("indexed").collect()
    without_part(crawl.work, "")
    held = min(row.url for row in rows if (row.shard, row.index_language) != lost)
    not_indexed(crawl.work, held)
    check_mended(crawl, ["documents are missing", "documents are surplus"], before)


@pytest.mark.slow
def test_all_contradictions_are_found_and_mended_at_once(crawl: Crawl) -> None:
    """Each is of another page."""
    before = indexed(crawl)
    for url, cause in zip(sorted(before), dict.fromkeys(CONTRADICTIONS.values()), strict=False):
        cause(crawl.work, url)
    check_mended(crawl, CONTRADICTIONS, before)


@pytest.mark.long
@pytest.mark.parametrize("what", CONTRADICTIONS)
def test_a_contradiction_is_found_and_mended(what: str, crawl: Crawl) -> None:
    before = indexed(crawl)
    url = sorted(before)[len(before) // 2]
    CONTRADICTIONS[what](crawl.work, url)
    check_mended(crawl, [what], before)


def check_mended(crawl: Crawl, found: Iterable[str], before: set[str]) -> None:
    """A check finds sentences with these words; after a repair, none, and the same pages."""
    sentences = wrong(crawl.work)
    assert [what for what in found if not any(what in each for each in sentences)] == []
    crawl.repair()
    assert wrong(reopened(crawl).work) == []
    crawl.run()
    assert wrong(crawl.work) == []
    assert indexed(crawl) == before


@pytest.mark.slow
def test_a_repair_that_was_interrupted_goes_on(crawl: Crawl) -> None:
    before = {tuple(row) for row in crawl.links().select("src", "dst").collect()}
    Path(crawl.path, crawl.work.store.listed("links")[0].path).unlink()
    crawl = reopened(crawl)
    with crawl.work.store.lock():
        next(repair(crawl.work))
    crawl = reopened(crawl)
    assert wrong(crawl.work) == ["a repair was interrupted before its end"]
    assert {tuple(row) for row in crawl.links().select("src", "dst").collect()} < before
    with crawl.work.store.lock():
        steps = repair(crawl.work)
        assert any(report.step == "reparse" for report in steps)  # and no further step
    crawl = reopened(crawl)
    assert wrong(crawl.work) == ["a repair was interrupted before its end"]
    crawl.repair()
    assert wrong(crawl.work) == []
    assert {tuple(row) for row in crawl.links().select("src", "dst").collect()} == before


@pytest.mark.slow
def test_a_round_that_was_interrupted_is_finished_by_a_repair(
    web: FakeWeb, engine: Engine, tmp_path: Path
) -> None:
    crawl = Crawl.create(str(tmp_path / "crawl"), loopback_settings(web.address), engine)
    crawl.inject(web.web.seeds())
    crawl.run(rounds=1)
    generate.run(crawl.work)
    fetch.run(crawl.work)
    Path(crawl.path, crawl.work.store.listed("responses", 2)[0].path).unlink()
    crawl = reopened(crawl)
    steps = [report.step for report in crawl.repair()]
    assert steps[:4] == ["repair", "repair", "parse", "update"]
    crawl.run()
    assert wrong(crawl.work) == []
    assert len(indexed(crawl)) > 30


class Repaired(NamedTuple):
    """A crawl, and what the first pass of its repair has counted."""

    folder: Path
    counts: dict[str, int]


@pytest.fixture(scope="module")
def repaired(whole: Path, engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Repaired:
    """A file of the archive was gone, and one of the known pages damaged."""
    folder = shutil.copytree(whole, tmp_path_factory.mktemp("repaired") / "crawl")
    crawl = Crawl.open(str(folder), engine)
    gone(next(folder.glob("warc/*/*.warc.gz")))
    flip(largest(crawl, "pages")[0])
    return Repaired(folder, reopened(crawl).repair()[0].counts)


@pytest.fixture
def mended(repaired: Repaired, engine: Engine, tmp_path: Path) -> Crawl:
    """A copy of it."""
    return Crawl.open(str(shutil.copytree(repaired.folder, tmp_path / "crawl")), engine)


@pytest.mark.slow
def test_what_was_answered_and_known_is_repaired(
    repaired: Repaired, mended: Crawl, whole: Path, engine: Engine
) -> None:
    assert repaired.counts == {"damaged_warc": 1, "damaged_pages": 1}
    assert wrong(mended.work) == []
    mended.run()
    assert wrong(mended.work) == []
    assert indexed(mended) == indexed(Crawl.open(str(whole), engine))


def test_a_lost_body_is_reported_and_its_document_kept(
    mended: Crawl, whole: Path, engine: Engine
) -> None:
    lost = mended.dataset("responses").where("outcome = 'ok' AND warc_file IS NULL").collect()
    assert lost
    url = lost[0].url
    refusal = find_copy(mended.work, PageInfo(mended.work, Lookup(mended.work)), url)
    assert isinstance(refusal, Refusal)
    assert "was lost" in refusal.why
    with pytest.raises(UsageError, match="its record is damaged or missing"):
        page_of_crawl(mended.work, url)
    mended.reparse()
    assert (
        mended.dataset("documents").count()
        == Crawl.open(str(whole), engine).dataset("documents").count()
    )


@pytest.mark.parametrize("damage", [gone, flip])
def test_a_damaged_index_of_the_archive_is_written_again(
    damage: Callable[[Path], None], crawl: Crawl
) -> None:
    written = {path.name: path.read_bytes() for path in Path(crawl.path).glob("warc/*/*.cdxj")}
    for path in Path(crawl.path).glob("warc/*/*.cdxj"):
        damage(path)
    crawl = reopened(crawl)
    with crawl.work.store.lock():
        next(repair(crawl.work))
    files = [file.path for file in crawl.work.store.listed("warc") if file.path.endswith(".cdxj")]
    assert {Path(path).name: Path(crawl.path, path).read_bytes() for path in files} == written
    assert wrong(crawl.work) == ["a repair was interrupted before its end"]
