"""A crawl without anything that only Linux has, as on macOS, from its seeds to a search.

No Mac takes part: see tests/support/not_linux/sitecustomize.py for what is taken away, and what is
not, such as the names of files, which macOS compares without case.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.another_system import environment_without_linux
from tests.support.crawl_settings import loopback_settings
from tests.support.loopback import loopback, page

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

PATIENCE_S = 300


def gossamer(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "gossamer", *map(str, words)],
        env=environment_without_linux(),
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE_S,
    )


def test_a_crawl_from_its_seeds_to_a_search(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    with loopback() as web:
        web.answers["/"] = page(b"<title>Harbour</title><p>Ships <a href=/light>light</a>")
        web.answers["/light"] = page(b"<title>Lighthouse</title><p>A lantern for ships")
        gossamer("init", folder)
        settings = loopback_settings(web.address, 'fetch.own_hosts = ["*.test"]')
        (folder / "gossamer.toml").write_text(settings)
        crawled = gossamer("crawl", folder, "--rounds", 2, "http://a.test/")
    assert "the kernel lacks Landlock or seccomp" in crawled.stderr
    status = json.loads(gossamer("status", folder, "--json").stdout)
    assert status["sandbox"] == []
    found = json.loads(gossamer("search", folder, "lantern", "--json").stdout)
    assert [hit["url"] for hit in found["hits"]] == ["http://a.test/light"]
    made = [folder, *folder.rglob("*")]
    assert not [path for path in made if path.stat().st_mode & 0o077]
