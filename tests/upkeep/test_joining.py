"""The archive's small files are joined: every record is found at its new place."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from gossamer.api.crawl import Crawl
from gossamer.flow import rounds
from gossamer.storage import opening
from gossamer.storage.warc import ARCHIVE, index_path, read_response
from gossamer.storage.warc.archives import Archive, divide
from gossamer.storage.warc.cdxj import index_of
from gossamer.upkeep import compaction, joining, prune
from tests.support.stored_rounds import Fetched, store_round

if TYPE_CHECKING:
    from gossamer.engine.engine import Engine
    from gossamer.state.workspace import Workspace

SIZES = st.lists(st.integers(200, 3_000), min_size=1, max_size=600)


def archives(work: Workspace) -> list[str]:
    return sorted(path for path in work.paths("warc") if path.endswith(ARCHIVE))


def bodies(work: Workspace) -> set[tuple[str, int, bytes]]:
    """What the rows of `responses` find at the places that they name."""
    rows = work.read("responses").where("warc_file IS NOT NULL").collect()
    return {
        (row.url, row.round, read_response(f"{work.root}/{row.warc_file}", row.warc_offset).body)
        for row in rows
    }


def store_rounds(work: Workspace, first: int, last: int) -> set[tuple[str, int, bytes]]:
    """Commit rounds of two files of two pages each, and return their bodies."""
    stored = set()
    for round_ in range(first, last + 1):
        shares = [
            [Fetched(f"http://a.test/{share}/{n}", b"<p>%d %d" % (round_, n)) for n in range(2)]
            for share in range(2)
        ]
        store_round(work, *shares, round_=round_)
        stored |= {(page.url, round_, page.body) for share in shares for page in share}
    return stored


def test_every_body_is_found_after_files_are_joined(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_joins(work, monkeypatch)


@pytest.mark.slow
def test_every_body_is_found_after_objects_are_joined(
    s3: str, s3_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_joins(Crawl.create(s3, engine=s3_engine).work, monkeypatch)


def check_joins(work: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joining, "FAN_IN", 4)
    monkeypatch.setattr(joining, "FAN_IN_BITS", 2)
    work.config = structs.replace(
        work.config, history=structs.replace(work.config.history, rounds=99)
    )
    stored = store_rounds(work, 1, 2)
    assert joining.is_due(work)
    size = sum(file.bytes for file in work.store.files("warc") if file.path.endswith(ARCHIVE))
    assert joining.run(work).counts == {"files_joined": 4, "files_made": 1, "bytes_copied": size}
    assert not joining.is_due(work)
    monkeypatch.setattr(compaction.step, "FEW", 2)
    compaction.run(work)
    steps: list[str] = []
    for round_ in range(3, 12):
        stored |= store_rounds(work, round_, round_)
        steps += [done.step for done in rounds.tend_archive(work, lambda *_: None)]
    assert len(steps) > 2
    assert set(steps) == {"join"}
    assert len(archives(work)) < 12
    assert bodies(work) == stored
    for path in archives(work):
        assert opening.read(index_path(path)) == index_of(path)
    layers = work.store.manifest.layers("warc")
    assert layers[0].since == work.store.manifest.layers("responses")[0].since
    assert [layer.round for layer in layers] == sorted({layer.round for layer in layers})
    assert work.store.damaged("responses") == []


@pytest.mark.folder  # sizes of objects are remembered for a while
def test_a_file_that_is_gone_is_left_alone(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(joining, "FAN_IN", 4)
    store_rounds(work, 1, 2)
    opening.remove(archives(work)[0])
    assert not joining.is_due(work)
    store_rounds(work, 3, 3)
    assert joining.run(work).counts["files_joined"] == 5


def test_files_that_an_archive_wants_whole_are_not_joined(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(joining, "FAN_IN", 4)
    store_rounds(work, 1, 2)
    store = structs.replace(work.config.store, warc_keep=("*",))
    work.config = structs.replace(work.config, store=store)
    assert not joining.is_due(work)


def test_joins_do_not_put_off_pruning(work: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """The archive counts as grown, though joined files hold what has come."""
    monkeypatch.setattr(joining, "FAN_IN", 4)
    monkeypatch.setattr(joining, "FAN_IN_BITS", 2)
    monkeypatch.setattr(prune.step, "FEW", 2)
    store = structs.replace(work.config.store, warc_versions=1)
    work.config = structs.replace(work.config, store=store)
    for round_ in range(1, 5):
        store_rounds(work, round_, round_)
        if joining.is_due(work):
            joining.run(work)
    assert all(layer.is_merged for layer in work.store.manifest.layers("warc"))
    assert prune.is_due(work)


@given(SIZES)
def test_few_files_are_left_and_each_byte_is_copied_seldom(sizes: list[int]) -> None:
    """Files come one by one. Both bounds are the number of groups, which is a logarithm."""
    limit = 2_000_000
    enough = limit // joining.FAN_IN
    levels = math.ceil(math.log(enough / min(sizes), joining.FAN_IN)) + 1
    held: list[tuple[Archive, int]] = []
    for number, size in enumerate(sizes):
        held.append((Archive(f"{number}", "", size), 0))
        while group := next(joining.groups_by_size((each for each, _ in held), limit), None):
            for share in divide(((each, each.bytes) for each in group), limit):
                joined = sum(each.bytes for each in share)
                assert joined <= limit
                times = 1 + max(copies for each, copies in held if each in share)
                held = [(each, copies) for each, copies in held if each not in share]
                held.append((Archive(f"{number}.{times}", "", joined), times))
    small = [each for each, _ in held if each.bytes < enough]
    assert len(small) < joining.FAN_IN * levels
    assert max(copies for _, copies in held) <= levels
