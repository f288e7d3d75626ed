"""Two sites with templates of prose, crawled: what they repeat is neither compared nor shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gossamer import Crawl
from gossamer.fakeweb import FakeWeb, Web
from gossamer.search.searcher import Searcher
from gossamer.web.boilerplate_lines import line_hash
from tests.support.crawl_settings import loopback_settings
from tests.support.planted_duplicates import edited, prose, standing
from tests.support.rows import by_url
from tests.support.templated_sites import template, write

if TYPE_CHECKING:
    from pathlib import Path

    from gossamer.engine.engine import Engine

PAGES = 14
SETTINGS = "parse.wellknown_paths = []\n"
ARTICLE = prose(1, 300)


def dropped(crawl: Crawl) -> dict[str, str]:
    rows = standing(crawl.work)
    return {url: row["survivor"] for url, row in rows.items() if row["survivor"]}


def lines(crawl: Crawl) -> dict[str, set[int]]:
    rows = by_url(crawl.dataset("boilerplate").where("lines IS NOT NULL"), "host")
    return {host: {*row["lines"]} for host, row in rows.items()}


def snippet(crawl: Crawl, query: str) -> str:
    return Searcher.open(crawl.work).search(query).hits[0].snippet


@pytest.mark.slow
def test_what_sites_repeat_is_neither_compared_nor_shown(engine: Engine, tmp_path: Path) -> None:
    docs = {f"{name}.test": tmp_path / name for name in ("one", "two")}
    # The pages of the first site have texts, those of the second one little of their own.
    long = {f"p{n}": prose(100 + n, 200) for n in range(PAGES)}
    short = {f"p{n}": prose(200 + n, 20) for n in range(PAGES)}
    one = {"index": prose(2, 20), "x": ARTICLE, **long}
    two = {"index": prose(3, 20), "copy": edited(ARTICLE, 3, 1), **short}
    write(docs["one.test"], one, template(10))
    write(docs["two.test"], two, template(20))
    with FakeWeb(Web(hosts=0, docs=docs)) as web:
        crawl = Crawl.create(
            str(tmp_path / "crawl"), loopback_settings(web.address, SETTINGS), engine
        )
        crawl.inject([f"http://{host}/index.html" for host in docs])
        crawl.run()
        assert lines(crawl) == {
            "one.test": {*map(line_hash, template(10))},
            "two.test": {*map(line_hash, template(20))},
        }
        assert dropped(crawl) == {"http://two.test/copy.html": "http://one.test/x.html"}
        repeated, own = template(20)[0].split()[5], short["p3"][4]
        assert f"<b>{own}</b>" in snippet(crawl, f"{own} {repeated}")
        assert repeated not in snippet(crawl, f"{own} {repeated}")

        # The first site takes over the template of the second one, which gets another.
        write(docs["one.test"], one, template(20))
        write(docs["two.test"], two | {"copy": ARTICLE}, template(30))
        crawl.refresh()
        crawl.run()
        assert lines(crawl) == {
            "one.test": {*map(line_hash, template(20))},
            "two.test": {*map(line_hash, template(30))},
        }
        assert dropped(crawl) == {"http://two.test/copy.html": "http://one.test/x.html"}
        assert standing(crawl.work)["http://two.test/copy.html"]["similarity"] == 1
        repeated = template(30)[0].split()[5]
        assert f"<b>{own}</b>" in snippet(crawl, f"{own} {repeated}")
        assert repeated not in snippet(crawl, f"{own} {repeated}")
