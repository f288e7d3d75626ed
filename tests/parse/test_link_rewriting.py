"""Which links of a page are rewritten by learned rules, and what is recorded of that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from gossamer.parse.parsed_page import Link
from gossamer.parse.step import link_rewriting
from gossamer.parse.step.link_rewriting import LinkRewriter
from gossamer.rules.url_rules import forms
from gossamer.rules.url_rules.rewriting import ActiveRule, Rewriter
from gossamer.storage import parquet

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

SRC = "https://a.test/"
RULE = ActiveRule("r", "a.test", forms.WHOLE_HOST, forms.PARAMETER, "s", "", 30)


def accepted(urls: Sequence[str], depth: int, hops: int) -> list[str | None]:
    assert (depth, hops) == (2, 1)
    return ["trap" if "refused" in url and "s=" not in url else None for url in urls]


@pytest.fixture
def rewriter(tmp_path: Path) -> LinkRewriter:
    found = LinkRewriter(str(tmp_path), (), "rewritten/1", accepted)
    assert not found
    found._rewriter = Rewriter([RULE])
    assert found
    return found


def link(path: str, anchor: str = "", **more: Any) -> Link:
    return Link(f"https://a.test{path}", anchor, "a")._replace(**more)


def rewritten(rewriter: LinkRewriter, *links: Link) -> list[Link]:
    return rewriter.rewritten(SRC, links, 2, 1)


def recorded(rewriter: LinkRewriter, root: Path) -> list[tuple[Any, ...]]:
    rows = [
        parquet.read_table(f"{root}/{row['path']}", partitioning=None).to_pylist()
        for row in rewriter.close()
    ]
    return [tuple(row.values()) for part in rows for row in part]


def test_links_get_the_url_of_their_page(rewriter: LinkRewriter, tmp_path: Path) -> None:
    found = rewritten(rewriter, link("/x?s=1", "one"), link("/y"))
    assert found == [link("/x", "one", spelling="https://a.test/x?s=1"), link("/y")]
    assert recorded(rewriter, tmp_path) == [
        ("https://a.test/x?s=1", "https://a.test/x", ["r"], 2, 1, None)
    ]


def test_links_without_a_rule_stay_as_they_are(rewriter: LinkRewriter, tmp_path: Path) -> None:
    links = [link("/y"), link("/y", "again"), link("/")]
    assert rewritten(rewriter, *links) == links
    assert recorded(rewriter, tmp_path) == []


def test_links_to_one_page_become_one(rewriter: LinkRewriter) -> None:
    links = [
        link("/x?s=2", nofollow=True, spelling="https://a.test/X?s=2"),
        link("/x?s=1", "first"),
        link("/x?s=3", "second", nofollow=True),
    ]
    assert rewritten(rewriter, *links) == [
        link("/x", "first", spelling="https://a.test/X?s=2", nofollow=False)
    ]
    assert rewritten(rewriter, *links[::2])[0].nofollow
    assert rewritten(rewriter, links[0], link("/x"))[0].spelling is None


def test_links_that_nobody_follows_are_not_recorded(rewriter: LinkRewriter, tmp_path: Path) -> None:
    assert rewritten(rewriter, link("/x?s=1", nofollow=True))[0].dst == "https://a.test/x"
    assert recorded(rewriter, tmp_path) == []


def test_links_that_are_accepted_as_they_are_stay(rewriter: LinkRewriter, tmp_path: Path) -> None:
    links = [link("/refused?s=1"), link("/?s=1", relation="redirect")]
    assert rewritten(rewriter, *links) == links
    assert recorded(rewriter, tmp_path) == []


def test_a_page_does_not_link_to_itself(rewriter: LinkRewriter) -> None:
    assert rewritten(rewriter, link("/?s=1"), link("/y")) == [link("/y")]
    assert [each.dst for each in rewritten(rewriter, link("/"), link("/x?s=1"))] == [
        *(SRC, "https://a.test/x")
    ]


def test_the_nearest_place_of_a_link_is_recorded(
    rewriter: LinkRewriter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rewriter, "_rejected", lambda urls, *_: [None] * len(urls))
    one = link("/x?s=1", spelling="https://a.test/X?s=1")
    for depth, hops, each in ((3, 0, one), (2, 5, link("/x?s=1")), (2, 4, one), (2, 6, one)):
        rewriter.rewritten(SRC, [each], depth, hops)
    (row,) = recorded(rewriter, tmp_path)
    assert row[3:] == (2, 4, None)


def test_records_are_written_before_they_are_too_many(
    rewriter: LinkRewriter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link_rewriting, "MAX_RECORDED", 2)
    rewritten(rewriter, *(link(f"/{n}?s=1") for n in range(3)))
    assert len(rewriter._records) == 1
    assert [row[0] for row in recorded(rewriter, tmp_path)] == [
        f"https://a.test/{n}?s=1" for n in range(3)
    ]
