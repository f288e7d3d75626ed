from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer.status import seed_redirects
from gossamer.status.seed_redirects import refused_seed_redirects
from gossamer.storage.store import StepReport
from tests.support.rows import put_all

if TYPE_CHECKING:
    import pytest

    from gossamer.state.workspace import Workspace

OLD, NEW = "http://old.example/", "https://new.example/"


def fetch_of(round_: int, **counts: int) -> StepReport:
    return StepReport("fetch", round_, 0, 1.0, counts)


def test_a_seed_that_redirects_to_another_domain_is_named_with_what_would_follow_it(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved = {"outcome": "redirect", "depth": 0}
    put_all(
        work,
        {
            "pages": [{"url": OLD, "host": "old.example", "source": "seed"}],
            "responses": [
                moved | {"url": OLD, "redirect_url": "http://www.old.example/"},
                moved | {"url": "http://www.old.example/", "redirect_url": NEW, "hops": 1},
                moved | {"url": OLD + "lost"},
                moved | {"url": OLD + "link", "redirect_url": NEW, "depth": 1},
                moved | {"url": OLD + "file", "redirect_url": OLD + "a.exe"},
                moved | {"url": OLD + "before", "redirect_url": NEW, "round": 0},
                {"url": OLD + "page", "outcome": "ok", "depth": 0},
            ],
        },
    )
    reports = [fetch_of(0), fetch_of(1, redirect=4, ok=1), StepReport("parse", 1, 0, 1.0, {})]
    file, site = refused_seed_redirects(work, reports)
    assert site.startswith(f"http://www.old.example/ redirects to {NEW}, which is not crawled: ")
    assert "filter.scope" in site
    assert site.endswith(f"gossamer crawl {work.root} {NEW}")
    assert file.startswith(f"{OLD}file redirects to {OLD}a.exe, ")
    assert "filter.skip_extensions" in file
    assert refused_seed_redirects(work, [fetch_of(1, ok=1)]) == []
    monkeypatch.setattr(seed_redirects, "MOST_SHOWN", 1)
    assert refused_seed_redirects(work, reports) == [
        file,
        "1 more seeds redirect to pages that are not crawled",
    ]
