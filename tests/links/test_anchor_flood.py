"""Attack: pages that link to somebody's page so often, or under such names, that others vanish."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from gossamer.index.indexed_rows import collect_anchors
from gossamer.links import domains, invert
from gossamer.state import lsm
from gossamer.tables import DISPOSITIONS, INLINKS
from tests.support.rows import by_url, frame, put

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gossamer.state.workspace import Workspace

pytestmark = pytest.mark.slow

TARGET = "http://victim.example/"
HONEST = [f"http://honest{n:02}.org/links" for n in range(30)]
FLOODS = {
    "pages": [f"http://0.evil/{n:02}" for n in range(60)],
    "hosts": [f"http://{n:02}.0.evil/" for n in range(60)],
    "users": [f"http://0{n:02}.github.io/" for n in range(60)],  # names cost nothing there, either
}


@pytest.fixture(params=[invert.FEW_LINKS, 0], ids=["anew", "updated"])
def inverted(work: Workspace, request: Any, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.setattr(invert, "FEW_LINKS", request.param)
    return work


def link(work: Workspace, sources: Iterable[str], round_: int = 1) -> None:
    """Commit links to the target, and invert."""
    urls = list(sources)
    answers = [{"url": url, "outcome": "ok", "round": round_} for url in urls]
    put(work, "responses", answers, round_)
    anchors = [{"src": url, "dst": TARGET, "anchor": url, "round": round_} for url in urls]
    put(work, "links", anchors, round_)
    invert.run(work)


def host_ranks(work: Workspace, ranks: Mapping[str, float]) -> None:
    put(work, "host_ranks", [{"host": host, "rank": rank} for host, rank in ranks.items()])


def sources(work: Workspace) -> list[str]:
    row = by_url(lsm.current(work, INLINKS), "dst")[TARGET]
    return [source["src"] for source in row["sources"]]


def anchors(work: Workspace) -> list[str]:
    """The indexed ones."""
    pages = work.engine.spark.createDataFrame([(TARGET,)], "url string")
    (row,) = collect_anchors(work, pages, frame(work, DISPOSITIONS.name, [])).collect()
    return list(row["anchors"])


@pytest.mark.parametrize("flood", FLOODS)
def test_a_domain_displaces_no_anchor(inverted: Workspace, flood: str) -> None:
    """Before, the 50 anchors of the index were those of 0.evil (of 00.github.io), and no other."""
    link(inverted, HONEST)
    link(inverted, FLOODS[flood], 2)
    found = anchors(inverted)
    assert {*HONEST} < {*found}
    assert len(found) == len(HONEST) + domains.LINKS_PER_DOMAIN
    assert by_url(lsm.current(inverted, INLINKS), "dst")[TARGET]["count"] == 90


def test_hosts_that_others_recommend_come_first(inverted: Workspace) -> None:
    """300 domains with early names link to a page of 30 good ones. Before, 0 of these were left."""
    host_ranks(
        inverted,
        {f"honest{n:02}.org": 0.01 * (1 + n) for n in range(30)}
        | {f"{n:03}.evil{n:03}.com": 1e-6 for n in range(300)},
    )
    link(inverted, HONEST)
    link(inverted, [f"http://{n:03}.evil{n:03}.com/" for n in range(300)], 2)
    assert sources(inverted)[:30] == HONEST[::-1]
    assert anchors(inverted)[:30] == HONEST[::-1]
    assert len(sources(inverted)) == invert.MAX_SOURCES


def test_further_links_of_the_own_host_fill_what_is_left(inverted: Workspace) -> None:
    own = [f"{TARGET}{n}" for n in range(20)]
    link(inverted, [*own, *FLOODS["hosts"]])
    link(inverted, HONEST[:1], 2)
    found = sources(inverted)
    assert {*own} | {*HONEST[:1]} < {*found}
    assert len(found) == 21 + domains.LINKS_PER_DOMAIN
    assert all(source in own for source in found[-17:])


def test_a_domain_that_loses_links_lists_others(inverted: Workspace) -> None:
    link(inverted, [*FLOODS["pages"], *HONEST])
    gone = [source for source in sources(inverted) if "evil" in source]
    assert len(gone) == domains.LINKS_PER_DOMAIN
    put(inverted, "responses", [{"url": url, "outcome": "ok", "round": 2} for url in gone], 2)
    put(inverted, "links", [], 2)
    invert.run(inverted)
    now = [source for source in sources(inverted) if "evil" in source]
    assert len(now) == domains.LINKS_PER_DOMAIN
    assert not {*now} & {*gone}


def test_the_number_of_linking_domains_is_without_the_own_host(inverted: Workspace) -> None:
    link(inverted, [*HONEST, *FLOODS["hosts"], f"{TARGET}a"])
    assert by_url(lsm.current(inverted, INLINKS), "dst")[TARGET]["domains"] == 31


def test_a_copy_brings_few_anchors_to_a_page_of_others(work: Workspace) -> None:
    """Before, all places that the page's own anchors left were those of its copy in 0.evil."""
    copies = [f"http://0.evil/{n}" for n in range(9)] + ["http://1.0.evil/"]
    www, mirror = "http://www.victim.example/", "http://mirror.org/"
    rows = [{"dst": TARGET, "sources": [{"src": "http://b.org/", "anchor": "own"}]}]
    for url in (*copies, www, mirror):
        texts = [f"{url} {n}" for n in range(9)]
        rows.append({"dst": url, "sources": [{"src": "http://c.org/", "anchor": a} for a in texts]})
    put(work, "inlinks", [{"count": 9} | row for row in rows])
    dropped = {"survivor": TARGET, "disposition": "dropped_duplicate", "reason": "text"}
    stands = frame(
        work, DISPOSITIONS.name, [{"url": url} | dropped for url in (*copies, www, mirror)]
    )
    pages = work.engine.spark.createDataFrame([(TARGET,)], "url string")
    (row,) = collect_anchors(work, pages, stands).collect()
    hosts = Counter(text.split()[0].split("/")[2] for text in row["anchors"] if text != "own")
    assert row["anchors"][0] == "own"
    assert hosts["www.victim.example"] == 9
    assert hosts["mirror.org"] == hosts["0.evil"] + hosts["1.0.evil"] == domains.LINKS_PER_DOMAIN
