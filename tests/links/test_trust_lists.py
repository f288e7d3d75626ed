"""Whose votes count more or less: lists of pages and hosts, and where ranks flow from."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from msgspec import structs

from gossamer.errors import ConfigError
from gossamer.links.rank.arrays import _preference_vector
from gossamer.links.rank.node_traits import NodeTraits
from gossamer.links.rank.trust import Listed, Lists, read_lists
from tests.support.small_index import crawl

if TYPE_CHECKING:
    from pathlib import Path


def lists(folder: Path, kind: str, **settings: Any) -> Lists:
    work = crawl(folder)
    rank = structs.replace(work.config.rank, **settings)
    return read_lists(replace(work, config=structs.replace(work.config, rank=rank)), kind)


def listed(*urls: str, hosts: tuple[str, ...] = ()) -> Listed:
    return Listed(frozenset(urls), frozenset(hosts))


def test_pages_and_hosts_are_listed_as_the_crawl_writes_them(tmp_path: Path) -> None:
    trusted = ("HTTP://A.test", "https://b.test/x#y", "C.test", "d.test:8080", "bücher.test")
    found = lists(tmp_path, "page", trusted=trusted)
    assert found.trusted == listed(
        "http://a.test/",
        "https://b.test/x",
        hosts=("c.test", "d.test:8080", "xn--bcher-kva.test"),
    )
    assert found.distrusted.is_empty
    assert [found.trusted.has(key, "page") for key in ("http://a.test/", "http://a.test/x")] == [
        *(True, False),
    ]
    assert found.trusted.has("https://c.test/any", "page")
    assert found.trusted.has("c.test", "host")
    assert not found.trusted.has("a.test", "host")


def test_a_trusted_page_makes_its_host_trusted_but_a_distrusted_one_does_not(
    tmp_path: Path,
) -> None:
    urls = ("http://a.test/x", "b.test")
    found = lists(tmp_path, "host", trusted=urls, distrusted=urls)
    assert found == (listed(hosts=("a.test", "b.test")), listed(hosts=("b.test",)))


def test_a_list_may_be_a_file_beside_the_settings(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    work = crawl(folder)
    (folder / "trusted.txt").write_text("# ours\n\n  a.test  \n#b.test\nhttp://c.test/\n")
    rank = structs.replace(work.config.rank, trusted=("d.test",), trusted_file="trusted.txt")
    found = read_lists(replace(work, config=structs.replace(work.config, rank=rank)), "page")
    assert found.trusted == listed("http://c.test/", hosts=("a.test", "d.test"))


@pytest.mark.parametrize("line", ["a.test/x", "http://", "a b", "mailto://x"])
def test_what_is_neither_a_url_nor_a_host_is_an_error(tmp_path: Path, line: str) -> None:
    with pytest.raises(ConfigError, match=r"rank\.distrusted: .* is neither a URL nor a host"):
        lists(tmp_path, "page", distrusted=(line,))


def preference(
    fetched: list[bool], trusted: list[bool], distrusted: list[bool], *, only_trusted: bool
) -> list[float]:
    nodes = NodeTraits(
        domains=np.zeros(3, np.int32),
        fetched=np.array(fetched),
        trusted=np.array(trusted),
        distrusted=np.array(distrusted),
        factors=np.ones(3),
        fetched_hosts=pa.array([], pa.large_string()),
    )
    found: list[float] = _preference_vector(nodes, only_trusted=only_trusted).tolist()
    return found


YES, NO = True, False


@pytest.mark.parametrize(
    ("fetched", "trusted", "distrusted", "only_trusted", "expected"),
    [
        ([YES, YES, NO], [NO] * 3, [NO] * 3, False, [0.5, 0.5, 0]),
        ([YES, YES, NO], [NO, NO, YES], [NO] * 3, True, [0, 0, 1]),
        ([YES, YES, NO], [NO] * 3, [YES, NO, NO], False, [0, 1, 0]),
        ([NO] * 3, [NO] * 3, [YES, NO, NO], False, [0, 0.5, 0.5]),
        ([NO] * 3, [NO] * 3, [YES] * 3, False, [0, 0, 0]),
        ([YES, NO, NO], [YES, YES, NO], [NO, YES, NO], True, [1, 0, 0]),
    ],
)
def test_ranks_flow_from_trusted_or_else_from_fetched_nodes(
    fetched: list[bool],
    trusted: list[bool],
    distrusted: list[bool],
    only_trusted: bool,
    expected: list[float],
) -> None:
    assert preference(fetched, trusted, distrusted, only_trusted=only_trusted) == expected


def test_trusted_nodes_that_nobody_knows_are_an_error() -> None:
    with pytest.raises(ConfigError, match=r"rank\.trusted"):
        preference([YES] * 3, [NO] * 3, [NO] * 3, only_trusted=True)
