"""The archive is pruned: what the settings keep stays, and what the crawl uses is found."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from msgspec import structs
from warcio.archiveiterator import ArchiveIterator

from gossamer.api.crawl import Crawl
from gossamer.config import HistoryConfig
from gossamer.errors import UsageError
from gossamer.fakeweb import FakeWeb, Web
from gossamer.parse.step import body_copies
from gossamer.search.page_info import PageInfo
from gossamer.serve.stored_copy import Copy, find_copy
from gossamer.state.lookup import Lookup
from gossamer.storage import checksums
from gossamer.storage.store import File
from gossamer.storage.task_output import ParquetWriter, layers_of
from gossamer.storage.warc import Known, WarcWriter, cdxj, payload_digest, read_response
from gossamer.storage.warc.cdxj import index_of
from gossamer.tables import RESPONSES, UNPARSED
from gossamer.upkeep import compaction, prune
from tests.support.captures import http_capture
from tests.support.crawl_settings import loopback_settings
from tests.support.crawl_tables import garbage
from tests.support.file_damages import indexed, wrong
from tests.support.stored_rounds import Fetched, rows_of, store_round

if TYPE_CHECKING:
    from gossamer.engine.engine import Engine
    from gossamer.state.workspace import Workspace

DAY_MS = 86_400_000
BEGAN_MS = 1_800_000_000_000
URLS = [f"http://a.test/{n}" for n in range(12)]

Key = tuple[str, int]
"""The URL of an exchange, and its round."""


def date_of(round_: int) -> int:
    """A round a day."""
    return BEGAN_MS + round_ * DAY_MS


@dataclass
class Site:
    """Pages that change, stay as they are, go, or become equal to others; and what is archived."""

    seed: int
    digests: dict[Key, str] = field(default_factory=dict)
    bodies: set[Key] = field(default_factory=set)
    refers: dict[Key, Key] = field(default_factory=dict)
    """To which body a revisit refers."""
    stored: dict[str, Key] = field(default_factory=dict)
    """By URL, the record with its newest body."""
    texts: dict[str, bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.draw = random.Random(self.seed)  # noqa: S311  # reproducible

    def happen(self, work: Workspace, round_: int) -> None:
        """Commit what a fetch of some pages leaves, in two files."""
        written = []
        pages = self.draw.sample(URLS, 8)
        for share in (pages[:4], pages[4:]):
            warc = WarcWriter(work.root, work.store.attempt("warc"), {"round": str(round_)})
            places: dict[int, Key] = {}
            rows = [self._fetched(warc, places, url, round_) for url in share]
            responses = ParquetWriter(work.root, "responses", work.store.attempt("responses"))
            responses.write(rows_of(RESPONSES.schema, rows))
            written += warc.close() + responses.close()
        with work.step("fetch", round_) as draft:
            draft.append = layers_of(written, round_)

    def _fetched(
        self, warc: WarcWriter, places: dict[int, Key], url: str, round_: int
    ) -> dict[str, Any]:
        key, date_ms = (url, round_), date_of(round_)
        row = {"round": round_, "url": url, "host": "a.test", "fetched_ms": date_ms}
        outcome = self.draw.choice(("ok", "ok", "unchanged", "not_found"))
        if outcome == "unchanged" and url in self.stored:
            digest = payload_digest(self.texts[url])
            capture = http_capture(url, b"", status=304)._replace(date_ms=date_ms, digest=digest)
            known = Known(url, date_of(self.stored[url][1]), not_modified=True)
            warc.revisit(capture, known)
            self.digests[key], self.refers[key] = digest, self.stored[url]
            return row | {"outcome": outcome}
        if outcome == "not_found":
            capture = http_capture(url, url.encode(), status=404)._replace(date_ms=date_ms)
            warc.write(capture)
            self.digests[key] = ""
            return row | {"outcome": outcome}
        body = b"<p>text %d</p>" % self.draw.randrange(20) * 50
        capture = http_capture(url, body)._replace(date_ms=date_ms)
        offset = warc.write(capture)
        self.digests[key], self.texts[url] = payload_digest(body), body
        self.stored[url] = places.setdefault(offset, key)
        if self.stored[url] == key:
            self.bodies.add(key)
        else:
            self.refers[key] = self.stored[url]
        place = {"warc_file": warc.path, "warc_offset": offset, "digest": capture.digest}
        return row | place | {"outcome": "ok", "body_bytes": len(body), "truncated": False}

    def kept(self, versions: int, since: int) -> tuple[set[Key], set[Key]]:
        """What must stay by the definition in kept_exchanges.py, and what may, too."""
        stays = {key for key in self.digests if key[1] >= since} | set(self.stored.values())
        for url in URLS:
            rounds = sorted((round_ for each, round_ in self.digests if each == url), reverse=True)
            stays |= {(url, round_) for round_ in rounds[:1]}
            of_bodies = [round_ for round_ in rounds if (url, round_) in self.bodies]
            stays |= {(url, round_) for round_ in of_bodies[:versions]}
        stays |= {self.refers[key] for key in stays if key in self.refers}
        digests = {self.digests[key] for key in stays if key in self.refers}
        return stays, {key for key in self.bodies if self.digests[key] in digests}


def pruning(work: Workspace, now_ms: int = 0, **settings: Any) -> None:
    store = structs.replace(work.config.store, **settings)
    work.config = structs.replace(work.config, store=store, history=HistoryConfig(rounds=0))
    work.clock_ms = now_ms


def archives(work: Workspace) -> list[Path]:
    return sorted(path for path in map(Path, work.paths("warc")) if path.suffix == ".gz")


def archived(work: Workspace) -> list[Key]:
    """The exchanges in the archive, after checks of each record and each index."""
    found = []
    for path in archives(work):
        assert path.with_name(path.name.replace(".warc.gz", ".cdxj")).read_bytes() == index_of(path)
        infos, requests, answers = [], set(), set()
        with path.open("rb") as file:
            for record in ArchiveIterator(file, check_digests="raise"):
                headers = dict(record.rec_headers.headers)
                if record.rec_type == "warcinfo":
                    infos.append(headers["WARC-Record-ID"])
                    continue
                assert headers["WARC-Warcinfo-ID"] in infos
                if record.rec_type == "request":
                    requests.add(headers["WARC-Concurrent-To"])
                elif record.rec_type in {"response", "revisit"}:
                    answers.add(headers["WARC-Record-ID"])
                    date = datetime.fromisoformat(headers["WARC-Date"])
                    days = round((date.timestamp() * 1000 - BEGAN_MS) / DAY_MS)
                    found.append((headers["WARC-Target-URI"], days))
        assert requests == answers
        assert len(infos) == len(set(infos)) <= max(len(answers), 1)
    assert len(found) == len(set(found))
    return found


def texts(work: Workspace) -> dict[str, bytes]:
    """The body of each page that responses name."""
    rows = work.read("responses").where("outcome = 'ok'").orderBy("round").collect()
    return {
        row.url: read_response(Path(work.root, row.warc_file), row.warc_offset).body for row in rows
    }


@pytest.mark.folder
@pytest.mark.parametrize(
    ("seed", "versions", "days", "rounds"),
    [
        (1, 1, 0, 8),
        (3, 0, 3, 8),
        (4, 2, 2.5, 8),
        *(
            pytest.param(seed, versions, days, 16, marks=pytest.mark.long)
            for seed, versions, days in ((1, 1, 0), (2, 2, 0), (3, 0, 3), (4, 2, 2.5))
        ),
    ],
)
def test_what_the_settings_keep_stays(
    work: Workspace,
    monkeypatch: pytest.MonkeyPatch,
    seed: int,
    versions: int,
    days: float,
    rounds: int,
) -> None:
    monkeypatch.setattr(compaction.step, "FEW", 2)
    monkeypatch.setattr(prune.step, "SMALL_BYTES", 8_000)
    site = Site(seed)
    for round_ in range(1, rounds + 1):
        site.happen(work, round_)
        if round_ % 4:
            continue
        pruning(work, date_of(round_) + 1000, warc_versions=versions, warc_days=days)
        compaction.run(work)
        layers = work.store.manifest.layers("responses")
        before = set(archived(work))
        report = prune.run(work)
        since = math.ceil(round_ - days + 1e-6)
        must, may = site.kept(max(versions, 1), since)
        found = set(archived(work))
        assert must <= found <= must | may
        assert found < before
        assert report.counts["records_dropped"] == len(before) - len(found)
        assert texts(work) == site.texts
        after = work.store.manifest.layers("responses")
        assert [layer.version for layer in after] == [layer.version for layer in layers]
        assert [layer.is_merged for layer in after] == [layer.is_merged for layer in layers]
    assert len(archives(work)) < 6
    assert wrong_places(work) == []


def wrong_places(work: Workspace) -> list[Any]:
    from gossamer.flow.check.archived_bodies import unreadable

    return unreadable(work).collect()


def test_sorted_responses_stay_sorted(work: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    import pyarrow.parquet as pq

    monkeypatch.setattr(compaction.step, "FEW", 2)
    site = Site(5)
    for round_ in range(1, 5):
        site.happen(work, round_)
    pruning(work, date_of(5), warc_versions=1)
    compaction.run(work)
    (before,) = work.paths("responses")
    prune.run(work)
    (after,) = work.paths("responses")
    assert before != after
    old, new = pq.ParquetFile(before), pq.ParquetFile(after)
    same = ["url", "round", "digest", "outcome"]
    assert old.read(same).equals(new.read(same))
    orders = [file.metadata.row_group(0).sorting_columns for file in (old, new)]
    assert orders[0] == orders[1] != ()
    assert old.num_row_groups == new.num_row_groups


@pytest.mark.folder
def test_files_that_an_archive_wants_whole_stay_as_they_are(work: Workspace) -> None:
    site = Site(6)
    for round_ in range(1, 7):
        site.happen(work, round_)
    chosen = archives(work)[2]
    pattern = str(chosen.relative_to(work.root).parent) + "/*"
    pruning(work, date_of(7), warc_versions=1, warc_keep=(pattern,))
    whole = {path: path.read_bytes() for path in archives(work) if path.parent == chosen.parent}
    with work.step("test", 6) as draft:
        draft.replace["responses"] = ()
    prune.run(work)
    assert {path: path.read_bytes() for path in archives(work) if path in whole} == whole
    assert len(archives(work)) == len(whole) + 1


@pytest.mark.folder
def test_a_file_stays_whose_index_lacks_bodies(work: Workspace) -> None:
    """As that of a damaged file, which a repair wrote again, does beyond the damage."""
    site = Site(11)
    for round_ in range(1, 9):
        site.happen(work, round_)
    rows = work.read("responses").where("outcome = 'ok'").orderBy("round").collect()
    last = max((row for row in rows if row.round == 1), key=lambda row: row.warc_offset)
    index = Path(work.root, last.warc_file.replace(".warc.gz", ".cdxj"))
    lines = index.read_bytes().splitlines(keepends=True)
    some = b"".join(
        line for line in lines if int(cdxj.parse_line(line)[2].offset) < last.warc_offset
    )
    path = f"{work.store.attempt('warc')}/{index.name}"
    work.store.backend.create(path, some)
    new = File(path, 0, len(some), checksums.checksum_bytes(some))
    with work.step("test", 8) as draft:
        draft.replace["warc"] = tuple(
            structs.replace(
                layer,
                files=tuple(
                    new if file.path.endswith(index.name) else file for file in layer.files
                ),
            )
            for layer in work.store.manifest.layers("warc")
        )
        draft.replace["responses"] = (work.store.manifest.layers("responses")[0],)
    pruning(work, date_of(9), warc_versions=1)
    assert prune.run(work).counts["records_dropped"]
    kept = read_response(Path(work.root, last.warc_file), last.warc_offset)
    assert texts(work)[last.url] == kept.body
    assert Path(work.root, last.warc_file) in archives(work)


@pytest.mark.folder
def test_an_archive_of_which_nothing_goes_stays(work: Workspace) -> None:
    site = Site(7)
    site.happen(work, 1)
    pruning(work, date_of(1), warc_days=30)
    found = set(archived(work))
    assert prune.run(work).counts["records_dropped"] == 0
    assert set(archived(work)) == found
    files = work.store.listed("warc")
    assert prune.run(work).counts["files_copied"] == 0
    assert work.store.listed("warc") == files


def test_an_archive_is_pruned_when_it_has_grown(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prune.step, "FEW", 4)
    site, runs, copied = Site(8), [], 0
    pruning(work, date_of(99), warc_versions=1)
    rounds = 14
    for round_ in range(1, rounds + 1):
        site.happen(work, round_)
        if prune.is_due(work):
            runs.append(round_)
            copied += prune.run(work).counts["files_copied"]
    assert len(runs) > 2
    assert all(after - before >= prune.step.FEW for before, after in pairwise([0, *runs]))
    assert copied < 4 * rounds


def test_without_a_setting_nothing_ever_goes(work: Workspace) -> None:
    site = Site(9)
    for round_ in range(1, 2 * prune.step.FEW):
        site.happen(work, round_)
    assert not prune.is_due(work)
    with pytest.raises(UsageError, match="keeps everything"):
        prune.run(work)


def test_pages_of_joined_archives_are_parsed_once(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Equal bodies do not move to a file whose archive others name, too."""
    monkeypatch.setattr(body_copies, "MIN_BODIES", 1)
    pages = [
        [Fetched(f"http://a.test/{share}/{n}", b"<p>%d" % n) for n in range(3)]
        for share in range(4)
    ]
    store_round(work, *pages)
    files = work.store.files("responses", 1)
    assert body_copies.moving(work, files)
    pruning(work, BEGAN_MS, warc_versions=1)
    prune.run(work)
    assert len(archives(work)) == 1
    assert not body_copies.moving(work, work.store.files("responses", 1))


@pytest.mark.slow
def test_a_crawl_whose_archive_is_pruned_is_whole(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compaction.step, "FEW", 2)
    monkeypatch.setattr(prune.step, "FEW", 2)
    site = tmp_path / "site"
    site.mkdir()
    links = "".join(f"<a href={n}.html>{n}</a> " for n in range(8))
    (site / "index.html").write_text(f"<title>all</title>{links}")

    def change(round_: int) -> None:
        for number in range(8):
            words = f"page {number} round {round_} " * 30
            (site / f"{number}.html").write_text(f"<title>{number}</title><p>{words}")

    with FakeWeb(Web(hosts=0, docs={"site.test": site})) as web:
        change(0)
        settings = "store.warc_versions = 1\nhistory.rounds = 1\nstore.keep_versions = 1"
        crawl = Crawl.create(
            str(tmp_path / "crawl"), loopback_settings(web.address, settings), engine
        )
        crawl.inject(["http://site.test/"])
        steps = [report.step for report in crawl.run()]
        for round_ in (1, 2):
            change(round_)
            crawl.refresh()
            steps += [report.step for report in crawl.run()]
    work = crawl.work
    assert steps.count("prune") > 1
    assert garbage(crawl) == set()
    assert wrong(work) == []
    assert sum(file.rows for file in work.store.listed("warc")) < 25
    copy = find_copy(work, PageInfo(work, Lookup(work)), "http://site.test/3.html")
    assert isinstance(copy, Copy)
    body = read_response(Path(work.root, copy.file), copy.offset).body
    assert b"page 3 round 2" in body
    found, documents = indexed(crawl), newest_texts(crawl)
    crawl.reparse()
    crawl.run()
    assert wrong(work) == []
    assert indexed(crawl) == found
    assert newest_texts(crawl) == documents


def newest_texts(crawl: Crawl) -> dict[str, str]:
    return {row.url: row.text for row in crawl.dataset("documents").orderBy("round").collect()}


@pytest.mark.folder
def test_bodies_of_pages_that_were_left_stay(work: Workspace) -> None:
    """A page that waits for its parsing may have been fetched again since."""
    site = Site(10)
    for round_ in range(1, 8):
        site.happen(work, round_)
    rows = work.read("responses").where("outcome = 'ok'").orderBy("round").collect()
    left = rows[0]
    body = read_response(Path(work.root, left.warc_file), left.warc_offset).body
    names = [name for name in UNPARSED.column_names if name != "why"]
    waiting = {name: left[name] for name in names} | {"why": "postponed_cpu"}
    writer = ParquetWriter(work.root, "unparsed", work.store.attempt("unparsed"))
    writer.write(rows_of(UNPARSED.schema, [waiting]))
    with work.step("test", 7) as draft:
        draft.append |= layers_of(writer.close(), 7)
        draft.replace["responses"] = ()
    pruning(work, date_of(8), warc_versions=1)
    assert prune.run(work).counts["records_dropped"]
    (row,) = work.read("unparsed").collect()
    assert row.warc_file != left.warc_file
    assert read_response(Path(work.root, row.warc_file), row.warc_offset).body == body
