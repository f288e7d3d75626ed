"""Which pages of a site are reached without what is refused, on small graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gossamer.links.graph.names import ENCODING, SCHEMAS, Names, name_of
from gossamer.schedule.focus.generated_rules.reachability_proof import Site
from tests.support import bvgraph_files

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

HOME, A, A1, B, B1, SHOP, PORT = (
    f"http://{rest}"
    for rest in (
        "x.org/",
        "x.org/a/",
        "x.org/a/1",
        "x.org/b/",
        "x.org/b/1",
        "shop.x.org/",
        "x.org:81/",
    )
)
OTHER, LONGER = "http://y.org/", "http://x.org.uk/"
PAGES = sorted((HOME, A, A1, B, B1, SHOP, PORT, OTHER, LONGER), key=name_of)


@pytest.fixture
def site(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Site]:
    """Of x.org, from links between PAGES; a crawl begins with HOME and must reach `kept`."""

    def made(links: Mapping[str, list[str]], *kept: str) -> Site:
        folder = tmp_path_factory.mktemp("graph")
        rows = [sorted(PAGES.index(to) for to in links.get(page, ())) for page in PAGES]
        names = pa.table({"name": list(map(name_of, PAGES))}, schema=SCHEMAS["page"])
        pq.write_table(names, folder / "names", compression="zstd", **ENCODING)
        starts, wanted = (np.isin(PAGES, [*pages]) for pages in ([HOME], kept))
        graph = bvgraph_files.write(folder / "links", rows)
        return Site(graph, Names([str(folder / "names")]), "x.org", starts, wanted)

    return made


def test_pages_count_that_must_be_reached_and_are(site: Callable[..., Site]) -> None:
    assert site({}).kept == 0
    assert site({}, HOME, A).kept == 1
    assert site({HOME: [A], A: [A1, HOME], B: [B1]}, A1, B1).kept == 1
    assert site({HOME: [SHOP, PORT]}, SHOP, PORT).kept == 2, "all hosts of the domain"
    assert site({HOME: [OTHER, LONGER], OTHER: [B], LONGER: [A]}, OTHER, LONGER, A, B).kept == 0


def test_a_section_that_alone_leads_to_a_kept_page_is_not_refused(
    site: Callable[..., Site],
) -> None:
    found = site({HOME: [A, B], A: [A1, SHOP], B: [SHOP]}, A1, SHOP)
    assert found.refuse([A]) == 1
    assert found.refuse([B]) == 0, "what was not refused still leads on"
    assert found.refuse([A]) == 2
    assert found.kept == 2


def test_what_was_refused_leads_nowhere_afterwards(site: Callable[..., Site]) -> None:
    found = site({HOME: [A, B], A: [SHOP], B: [SHOP]}, SHOP)
    assert found.refuse([A]) == 0
    assert found.refuse([B]) == 1
    assert found.refuse([B1]) == 0


def test_prefixes_are_refused_together(site: Callable[..., Site]) -> None:
    found = site({HOME: [A, B], A: [SHOP], B: [SHOP]}, SHOP)
    assert found.refuse([A, B]) == 1
    assert found.refuse([HOME]) == 1, "the start itself"
    assert found.refuse(["http://x.org/none", A]) == 0
