"""The documentation site is whole, and needs nobody else."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import pytest
from lxml import html

from gossamer import config
from tests.support.code_blocks import blocks
from tests.support.repository import PAGES_OF_DOCS, ROOT

if TYPE_CHECKING:
    from pathlib import Path

SPHINX = ROOT / "build" / "sphinx" / "bin" / "python"
SEARCH = "https://search.example.org/find/"
LARGEST_IMAGES = 400_000
"""Bytes of all pictures together: they are a part of each clone."""
TASKS = [path for path in PAGES_OF_DOCS if path.parent.name == "howto" or path.stem == "tour"]


@pytest.mark.parametrize("page", TASKS, ids=lambda page: page.stem)
def test_settings_in_tasks_are_valid(page: Path) -> None:
    for settings in blocks(page.read_text(encoding="utf-8"), "toml"):
        config.loads(settings, "gossamer.toml")


def test_pictures_are_small_and_shown() -> None:
    pictures = set((ROOT / "docs" / "images").iterdir())
    assert sum(picture.stat().st_size for picture in pictures) <= LARGEST_IMAGES
    shown = {
        (page.parent / name).resolve()
        for page in PAGES_OF_DOCS
        for name in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", page.read_text(encoding="utf-8"))
    }
    assert shown == pictures


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as by `make site`, which fails at any warning."""
    if not SPHINX.exists():
        pytest.skip("needs Sphinx: make site")
    out = tmp_path_factory.mktemp("site")
    ended = subprocess.run(
        [str(SPHINX), "docs/site/build.py", "--out", str(out), "--search", SEARCH],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    return out


@pytest.mark.slow
def test_the_site_is_whole_and_needs_nobody_else(site: Path) -> None:
    pages = {path: html.parse(str(path)).getroot() for path in sorted(site.rglob("*.html"))}
    names = {path: {*page.xpath("//@id"), ""} for path, page in pages.items()}
    for path in PAGES_OF_DOCS:
        name = path.relative_to(ROOT / "docs").with_suffix(".html")
        assert site / name in pages
    for path, page in pages.items():
        for element in page.xpath("//*[@href or @src or @action]"):
            target = element.get("href") or element.get("src") or element.get("action")
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                # A page may link to others, but nothing of it comes from elsewhere.
                assert element.tag == "a" or (element.tag, target) == ("form", SEARCH), path
            else:
                to = (path.parent / unquote(parts.path)).resolve() if parts.path else path
                assert to.is_file(), f"{path}: {target}"
                assert unquote(parts.fragment) in names.get(to, {""}), f"{path}: {target}"
        boxes = page.xpath("//form[@role = 'search'][.//input[@name = 'q']]")
        assert boxes, path
        assert {box.get("action") for box in boxes} == {SEARCH}
    for path in site.rglob("*.css"):
        text = path.read_text(encoding="utf-8")
        assert "@import" not in text
        for target in re.findall(r"url\(\s*[\"']?([^\"')]+)", text):
            assert target.startswith(("data:", "#")) or (path.parent / target).is_file(), path
