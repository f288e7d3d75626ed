"""A crawl of a web with planted duplicates of all kinds: what is in the index, and what is not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from gossamer import Crawl
from gossamer.fakeweb import FakeWeb, Mix, Web
from gossamer.fakeweb.synthetic_pages import MANUAL_PAGES, MANUAL_VERSIONS
from tests.support.crawl_settings import loopback_settings
from tests.support.planted_duplicates import standing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gossamer.engine.engine import Engine

pytestmark = pytest.mark.slow
MIX = Mix.plain(
    copies=0.05,
    near_copies=0.08,
    redirects=0.03,
    sessions=0.04,
    tracked=0.02,
    canonical=0.5,
    manuals=0.5,
    mirrors=0.5,
)
NEAR, FALSE = 0.9, 0.8


@pytest.fixture(scope="module")
def crawl(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    folder = tmp_path_factory.mktemp("planted")
    with FakeWeb(Web(hosts=5, pages_per_host=18, mix=MIX)) as fake:
        made = Crawl.create(str(folder / "crawl"), loopback_settings(fake.address), engine)
        made.inject(fake.web.seeds())
        made.run()
    return made


@pytest.fixture(scope="module")
def rows(crawl: Crawl) -> Mapping[str, dict[str, Any]]:
    return standing(crawl.work)


@pytest.fixture(scope="module")
def words(crawl: Crawl) -> dict[str, tuple[str, ...]]:
    """The words of each page's newest document."""
    found = crawl.dataset("documents").select("url", "round", "main_text", "title").collect()
    ordered = sorted(found, key=lambda row: row["round"])
    return {row["url"]: (*(row["main_text"] or "").split(), row["title"] or "") for row in ordered}


def similar(words: Mapping[str, tuple[str, ...]]) -> dict[tuple[str, str], float]:
    """All pairs with a similarity of at least FALSE, without the code under test."""
    from scipy import sparse  # takes 0.2 s, in each process that collects tests

    numbers: dict[tuple[str, ...], int] = {}
    sets = [
        {
            numbers.setdefault(text[at : at + 5], len(numbers))
            for text in (text[:-1],)
            for at in range(len(text) - 4)
        }
        for text in words.values()
    ]
    where = [(row, column) for row, held in enumerate(sets) for column in held]
    ones = sparse.csr_matrix(
        ([1] * len(where), tuple(zip(*where, strict=True))), (len(sets), len(numbers))
    )
    both = sparse.coo_matrix(ones @ ones.T)
    urls = list(words)
    return {
        (urls[one], urls[other]): shared / (len(sets[one]) + len(sets[other]) - shared)
        for one, other, shared in zip(both.row, both.col, both.data, strict=True)
        if one < other and shared >= FALSE * (len(sets[one]) + len(sets[other]) - shared)
    }


def test_no_two_pages_in_the_index_have_the_same_text(
    rows: Mapping[str, dict[str, Any]], words: Mapping[str, tuple[str, ...]]
) -> None:
    indexed = [words[url] for url, row in rows.items() if row["disposition"] == "indexed"]
    assert len(indexed) > 80
    assert len(set(indexed)) == len(indexed)


def test_near_duplicates_are_found_and_others_are_not(
    rows: Mapping[str, dict[str, Any]], words: Mapping[str, tuple[str, ...]]
) -> None:
    fit = {
        url: words[url]
        for url, row in rows.items()
        if row["disposition"] in {"indexed", "dropped_duplicate"}
    }
    pairs = similar(fit)
    near = [pair for pair, true in pairs.items() if true >= NEAR]
    both = [pair for pair in near if all(rows[url]["disposition"] == "indexed" for url in pair)]
    assert len(near) > 100
    assert len(both) <= 0.01 * len(near), both
    dropped = [(url, row["survivor"]) for url, row in rows.items() if row["reason"] == "near"]
    assert len(dropped) > 10
    assert all((pair in pairs) or (pair[::-1] in pairs) for pair in dropped)


def test_each_kind_is_told_by_its_reason(crawl: Crawl, rows: Mapping[str, dict[str, Any]]) -> None:
    assert {row["reason"] for row in rows.values()} >= {"canonical", "text", "near", "version"}
    for url, row in rows.items():
        if ".mirror.test/" in url and row["disposition"] != "dropped_status":
            assert row["disposition"] == "dropped_duplicate", url
        if row["survivor"]:
            assert rows[row["survivor"]]["disposition"] == "indexed"
        if row["disposition"] == "indexed":
            assert "/go/" not in url
            assert "PHPSESSID" not in url
    mirrors = {row["host"] for row in crawl.dataset("mirrors").collect()}
    assert mirrors
    assert all(host.endswith(".mirror.test") for host in mirrors)


def test_of_each_page_of_a_manual_one_version_is_in_the_index(
    rows: Mapping[str, dict[str, Any]],
) -> None:
    newest = [
        (url, row)
        for url, row in rows.items()
        if f"/manual/{MANUAL_VERSIONS[-1]}/" in url and ".mirror." not in url
    ]
    assert len(newest) >= MANUAL_PAGES
    for url, row in newest:
        assert row["disposition"] == "indexed", url
        listed = {copy["url"] for copy in row["copies"]}
        for version in MANUAL_VERSIONS[:-1]:
            assert url.replace(MANUAL_VERSIONS[-1], version) in listed
