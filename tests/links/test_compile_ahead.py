"""What is compiled ahead is all that a small crawl needs."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from gossamer.fakeweb import FakeWeb, Mix, Web
from gossamer.links import compile_ahead
from gossamer.links.bvgraph.files import BvGraph
from tests.support.crawl_settings import loopback_settings

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("pages", "is_compiled", "started"),
    [(51, True, ["load"]), (50, True, []), (1, False, ["compile"])],
)
def test_machine_code_is_loaded_after_many_pages_and_compiled_if_there_is_none(
    pages: int, is_compiled: bool, started: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[str] = []
    monkeypatch.setattr(compile_ahead, "_start_loading", lambda: found.append("load"))
    monkeypatch.setattr(compile_ahead, "_compile", lambda: found.append("compile"))
    monkeypatch.setattr(compile_ahead, "MACHINE_CODE", "*.py" if is_compiled else "no such file")
    compile_ahead.start_compiling(pages)
    assert found == started


def test_the_build_that_is_run_ahead_is_a_whole_one(tmp_path: Path) -> None:
    """Its graph has the links that it was given: each of three hosts links to the others."""
    graph = BvGraph(compile_ahead._build_small_graph(str(tmp_path)))
    assert [graph.successors(node).tolist() for node in range(graph.nodes)] == [
        [1, 2],
        [0, 2],
        [0, 1],
    ]


AHEAD = "from gossamer.links.compile_ahead import main; main()"
CRAWL = """
import sys
from gossamer import Crawl

if __name__ == "__main__":
    with Crawl.create(sys.argv[1], sys.argv[2]) as crawl:
        crawl.inject(sys.argv[3:])
        crawl.run(rounds=2)
"""


@pytest.mark.long
def test_a_small_crawl_compiles_nothing_more(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}

    def compiled() -> set[str]:
        return {path.name for path in cache.rglob("*.nbc")}

    subprocess.run([sys.executable, "-c", AHEAD], env=environment, check=True)
    ahead = compiled()
    program = tmp_path / "crawl.py"
    program.write_text(CRAWL)
    with FakeWeb(Web(hosts=2, pages_per_host=4, mix=Mix.plain())) as web:
        arguments = map(str, (program, tmp_path / "crawl", loopback_settings(web.address)))
        command = [sys.executable, *arguments, *web.web.seeds()]
        subprocess.run(command, env=environment, check=True)
    assert ahead
    assert compiled() == ahead
