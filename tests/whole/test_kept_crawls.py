"""Crawls that released versions have made (tests/formats) can be read, checked and continued."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from gossamer import __version__
from gossamer.index.format.layout import part_key
from tests.support.command_line import gossamer, lent, standing_parsers
from tests.support.kept_crawl import FORMATS, PAGES, SEED, unpack
from tests.support.loopback import loopback, page

if TYPE_CHECKING:
    from pathlib import Path

    from gossamer.engine.engine import Engine

KEPT = sorted(FORMATS.glob("*.tar.xz"))


def titles(crawl: Path, *words: str) -> set[str]:
    found: dict[str, Any] = json.loads(gossamer("search", crawl, *words, "--json").stdout)
    return {hit["title"] for hit in found["hits"]}


def is_index_outdated(crawl: Path) -> bool:
    """Whether a later version has changed the format of the index, which it derives again."""
    return any(part_key(path) is None for path in (crawl / "index").glob("*/*/*/meta.json"))


def test_this_version_keeps_one() -> None:
    assert f"{__version__}.tar.xz" in {path.name for path in KEPT}


@pytest.mark.slow
@pytest.mark.parametrize("archive", KEPT, ids=lambda path: path.name)
def test_a_crawl_of_a_release_is_read_and_continued(
    archive: Path, tmp_path: Path, engine: Engine
) -> None:
    with loopback() as server, lent(engine), standing_parsers():
        crawl = unpack(archive, tmp_path, server.address)
        if is_index_outdated(crawl):
            for command in (("check", crawl), ("search", crawl, "spring")):
                said = gossamer(*command, code=1).stderr
                assert "the format of another version" in said
                assert "build it again: gossamer index" in said
            gossamer("index", crawl)
        assert gossamer("check", crawl).stderr == ""
        assert titles(crawl, "spring") == {"Apples"}
        assert titles(crawl, "birne", "lang:de") == {"Birnen"}
        assert f"{SEED}apples" in gossamer("graph", "outlinks", crawl, SEED).stdout
        assert "fetched" in gossamer("status", crawl).stdout
        assert json.loads(gossamer("explain", crawl, f"{SEED}moved", "--json").stdout)["known"]

        changed = page(b"<title>Apples</title><p>Cider apples. <a href=/figs>Figs</a>")
        figs = page(b"<title>Figs</title><p>Figs by the wall.")
        server.answers = PAGES | {"garden.test/apples": changed, "garden.test/figs": figs}
        gossamer("crawl", crawl, "--refresh")
        assert titles(crawl, "spring") == set()
        assert titles(crawl, "cider") == {"Apples"}
        assert titles(crawl, "figs") == {"Figs", "Apples"}
        assert titles(crawl, "birne", "lang:de") == {"Birnen"}
        assert gossamer("check", crawl).stderr == ""
