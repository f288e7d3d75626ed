"""Manuals of Debian as hosts of a fakeweb: 4,000 real pages in 26 languages, or a few of them."""

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from gossamer.api.crawl import Crawl
from gossamer.config import FilterConfig
from gossamer.fakeweb import FakeWeb, Web
from tests.support.link_walk import Place, Walk, walk

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gossamer.engine.engine import Engine
    from gossamer.search.searcher import Searcher

MANUALS = {
    "python.test": "usr/share/doc/python3.11/html",
    "reference.test": "usr/share/debian-reference",
    "handbook.test": "usr/share/doc/debian-handbook/html",
}
FEW = {
    "german.test": "usr/share/doc/debian-handbook/html/de-DE",
    "japanese.test": "usr/share/doc/debian-handbook/html/ja-JP",
}
PACKAGES = "python3.11-doc debian-reference debian-handbook"

SETTINGS = """\
[filter]
scope = "any"
allow = ['^http://[^/]+\\.test/']

[generate]
pages_per_host = 20_000

[fetch]
delay_s = 0
delay_factor = 0
address_delay_s = 0
allow_networks = ["127.0.0.0/8"]
host_overrides = {{ "*.test" = "{address}" }}
"""


def folders(manuals: Mapping[str, str] = MANUALS) -> dict[str, Path]:
    """Host to folder, of manuals below GOSSAMER_DOCS_ROOT, which are installed or not."""
    root = Path(os.environ.get("GOSSAMER_DOCS_ROOT", "/"))
    return {host: root / folder for host, folder in manuals.items()}


def seeds(hosts: Mapping[str, Path]) -> list[str]:
    """The front page of every language: they do not link to each other."""
    return [
        f"http://{host}/{page.relative_to(folder).as_posix()}"
        for host, folder in hosts.items()
        for page in sorted([*folder.glob("index*.html"), *folder.glob("*-*/index.html")])
    ]


def judge(hosts: Mapping[str, Path]) -> Walk:
    settings = FilterConfig()
    return walk(hosts, seeds(hosts), settings.skip_extensions, settings.max_depth)


def crawl(folder: Path, hosts: Mapping[str, Path], engine: Engine | None = None) -> Crawl:
    """Crawl the manuals until nothing is due, and index them."""
    with FakeWeb(Web(hosts=0, docs=hosts)) as web:
        done = Crawl.create(str(folder), SETTINGS.format(address=web.address), engine)
        done.inject(seeds(hosts))
        done.run()
    return done


def fetched(crawled: Crawl) -> list[Place]:
    rows = crawled.pages().where("status = 'fetched'").select("url").collect()
    return [place for row in rows if (place := Place.of(row.url))]


def links(crawled: Crawl) -> list[tuple[Place, Place]]:
    rows = crawled.links().where("NOT nofollow").select("src", "dst").collect()
    return [(src, dst) for row in rows if (src := Place.of(row.src)) and (dst := Place.of(row.dst))]


class Found(NamedTuple):
    """Of how many known items the page itself was the first answer, or among the first three."""

    items: int
    first: int
    top3: int
    missed: list[Place]


def known_items(walked: Walk, searcher: Searcher) -> dict[str, Found]:
    """By host: type the title of every page that shares its words with none, and look for the page.

    Known-item search as in TREC's web track (Craswell and Hawking, TREC 2002). Two titles that
    differ in case or punctuation alone are one to who types them.
    """
    owners = Counter(map(_words, walked.pages.values()))
    places: dict[str, list[int]] = {}
    missed: dict[str, list[Place]] = {}
    for page, title in walked.pages.items():
        if not title or owners[_words(title)] > 1:
            continue
        hits = [Place.of(hit.url) for hit in searcher.search(title, limit=3).hits]
        place = hits.index(page) + 1 if page in hits else 0
        places.setdefault(page.host, []).append(place)
        if not place:
            missed.setdefault(page.host, []).append(page)
    return {
        host: Found(
            len(found), found.count(1), sum(place > 0 for place in found), missed.get(host, [])
        )
        for host, found in places.items()
    }


def _words(title: str) -> tuple[str, ...]:
    return tuple(re.findall(r"\w+", title.casefold()))
