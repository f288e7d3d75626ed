"""What docs/plugins.md shows is a package that works."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec
import pytest

from gossamer import plugins
from gossamer.parse import Link, parse_response
from gossamer.parse.installed_parsers import installed_parsers
from gossamer.rules import filters
from gossamer.schedule.due.due_pages import due_pages
from gossamer.schedule.order.page_scores import score_pages
from gossamer.schedule.selection import select_best
from tests.support.plugin_packages import PAGE, forget_plugins, install_documented
from tests.support.rows import frame

if TYPE_CHECKING:
    from pathlib import Path

    from gossamer.state.workspace import Workspace


def test_all_that_plugins_may_import_is_there() -> None:
    assert all(getattr(plugins, name) is not None for name in plugins.__all__)


@pytest.mark.parametrize("name", plugins.__all__)
def test_all_that_plugins_may_import_is_documented(name: str) -> None:
    assert re.search(rf"\b{name}\b", PAGE)


def test_the_documented_package_imports_nothing_else_of_gossamer() -> None:
    (code,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    imports = re.findall(
        r"^(?:from|import) (gossamer[.\w]*) ?(?:import )?(.*)$", code, re.MULTILINE
    )
    assert [module for module, _ in imports] == ["gossamer.plugins"]
    assert set(imports[0][1].split(", ")) <= set(plugins.__all__)


def test_the_documented_package_reads_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_documented(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    forget_plugins()
    try:
        installed_parsers()
        page = parse_response(
            "https://example.org/a/b",
            {"Content-Type": "text/gemini; charset=utf-8"},
            "# Gärten \n\nWords of it.\n=> c  The  next\n=>\n=> mailto:a@b.example\n".encode(),
        )
    finally:
        forget_plugins()
    assert (page.outcome, page.content_type, page.charset) == ("parsed", "text/gemini", "utf-8")
    assert (page.title, page.headings) == ("Gärten", ("Gärten",))
    assert page.text == "Gärten\nWords of it.\nThe next"
    assert page.links == (Link("https://example.org/a/c", "The next", "a"),)
    assert page.refused == {"scheme": 1}


def test_the_documented_package_filters_and_scores(
    work: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_documented(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    forget_plugins()
    try:
        gardens = filters.installed_filters()["gardens"]
    finally:
        forget_plugins()
    assert gardens.reject("https://a.example/catalogue/7") == "catalogue"
    assert gardens.reject("https://a.example/roses") is None

    pages = [
        {"url": f"http://a.example/{depth}/{inlinks}", "depth": depth, "inlinks": inlinks}
        for depth in range(3)
        for inlinks in (0, 1, 1000)
    ]
    known = frame(work, "pages", pages)
    config = msgspec.structs.replace(work.config.update, scoring="shallow")
    work.config = msgspec.structs.replace(work.config, update=config)
    due = score_pages(work, due_pages(known, work.now_ms(), work.config.update))
    best = select_best(due, total=4, per_host=10).select("url").collect()
    assert {row["url"].removeprefix("http://a.example/") for row in best} == {
        *("0/1000", "0/1", "0/0", "1/1000")
    }
