"""What bench/sustained.py serves and adds up."""

from __future__ import annotations

import random
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from gossamer.sketches import shingles, similarity, words

BENCH = Path(__file__).parent.parent / "bench"
PROSE = "Every manual explains some words, and others explain them again. " * 40
PAGE = f"""<!doctype html><title>Words at 100 %</title><style>body {{ width: 50% }}</style>
<body><h1 class="heading">Words</h1><a href="/other.html">Other words</a><p>{PROSE}</p>
<script>var value = "words";</script></body>"""

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(BENCH))
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        file = getattr(sys.modules[name], "__file__", None)
        if file and Path(file).parent == BENCH:
            del sys.modules[name]


def manual(root: Path, name: str) -> Any:
    from webs import Manual  # type: ignore[import-not-found]

    row = {"package": name, "folder": ".", "language": "en", "own": name, "filler": []}
    folder = root / name
    folder.mkdir()
    (folder / "index.html").write_text(PAGE)
    (folder / "other.html").write_text(PAGE)
    return Manual(name, root, row)


@pytest.mark.usefixtures("bench")
def test_a_copy_has_the_markup_of_the_manual_and_other_words(tmp_path: Path) -> None:
    from manual_copies import CopiedManuals  # type: ignore[import-not-found]

    def shingled(page: str) -> Any:
        return np.unique(shingles(words(page)))

    web = CopiedManuals([manual(tmp_path, "one"), manual(tmp_path, "two")], hosts=6)
    hosts = list(web.hosts())
    assert web.seeds() == [f"http://{host}/" for host in hosts]
    first, copy, again = (
        web.answer(host, path).body.decode()
        for host, path in ((hosts[0], "/"), (hosts[2], "/index.html"), (hosts[4], "/index.html"))
    )
    for page in (first, copy, again):
        assert PAGE.partition("<p>")[0].rpartition("<a")[0] in page
        assert '<script>var value = "words";</script>' in page
        links = page.rpartition("<ul>")[2].partition("</ul></body>")[0]
        assert links.count("http://") == 3
    assert PAGE.partition("</body>")[0] in first
    assert similarity(*map(shingled, (first, copy))) < 0.5
    assert similarity(*map(shingled, (copy, again))) < 0.5
    assert web.answer(hosts[2], "/index.html").body.decode() == copy
    assert web.answer(hosts[0], "/missing.html").status == 404
    assert web.answered.value == 4


@pytest.mark.usefixtures("bench")
def test_a_page_without_words_or_body_becomes_a_template() -> None:
    from manual_copies import template

    made = template(b"100 %d", random.Random(0))  # noqa: S311
    assert made.words == ()
    assert made.text % b"!" == b"100 %d!"


@pytest.mark.usefixtures("bench")
def test_cpu_time_belongs_to_the_step_whose_tasks_a_process_runs() -> None:
    from step_costs import (  # type: ignore[import-not-found]
        CRAWL,
        FETCH_WORKER,
        PARSER,
        SEARCH,
        WORKER,
        Look,
        Step,
        charged,
    )

    def look(at_s: float, **cpu_s: float) -> Any:
        return Look(at_s, Counter(cpu_s), 0.0, 0, 0.0)

    kinds = {FETCH_WORKER: 1.0, PARSER: 2.0, SEARCH: 4.0, CRAWL: 8.0, WORKER: 16.0}
    looks = [look(0.0, other=99.0), look(1.0, **kinds), look(2.0, **kinds), look(3.0, **kinds)]
    steps = [Step("fetch", 0.0, 2.0), Step("index", 1.0, 3.0), Step("update", 2.0, 3.0)]
    costs = charged(looks, steps)
    assert costs == {
        "fetch": 3.0 + 24.0,
        "parse": 6.0,
        "search": 12.0,
        "index": 36.0,
        "update": 12.0,
    }
