"""Hosts that have the pages of another: dedup/mirrors.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer import dedup
from tests.support.planted_duplicates import document, edited, prose, standing, store
from tests.support.rows import by_url, put

if TYPE_CHECKING:
    from gossamer.state.workspace import Workspace

ORIGINAL, MIRROR = "http://original.example", "http://a.example"
PAGES = 10


def test_pages_of_a_mirror_yield_to_the_host_with_the_higher_rank(work: Workspace) -> None:
    """Even those that have a higher rank than the original. One lags behind; one is missing there.

    Another host has the same texts at other paths; one has other texts at the same paths; and one
    shares a few pages only.
    """
    texts = {f"/docs/{at}": prose(at) for at in range(PAGES)}
    documents = [document(f"{ORIGINAL}{path}", text) for path, text in texts.items()]
    documents += [
        document(f"{MIRROR}{path}", edited(text, 4 * (path == "/docs/3"), 1))
        for path, text in texts.items()
    ]
    documents.append(document(f"{MIRROR}/more", prose(100)))
    documents += [document(f"http://paths.example{path}x", text) for path, text in texts.items()]
    documents += [
        document(f"http://texts.example{path}", prose(200 + at)) for at, path in enumerate(texts)
    ]
    documents += [
        document(
            f"http://few.example/docs/{at}", texts[f"/docs/{at}"] if at < 6 else prose(at + 300)
        )
        for at in range(PAGES)
    ]
    store(work, documents)
    put(work, "ranks", [{"url": f"{MIRROR}/docs/1", "rank": 0.5}])
    put(work, "host_ranks", [{"host": "original.example", "rank": 0.9}])
    dedup.run(work)
    found = by_url(work.read("mirrors"), "host")
    assert found == {
        "a.example": {
            "host": "a.example",
            "mirror_of": "original.example",
            "agreeing": PAGES - 1,
            "shared_paths": PAGES,
            "pages": PAGES + 1,
            "pages_of_original": PAGES,
        }
    }
    rows = standing(work)
    for path in texts:
        assert rows[f"{ORIGINAL}{path}"]["disposition"] == "indexed"
        copy = rows[f"{MIRROR}{path}"]
        assert (copy["survivor"], copy["reason"]) == (f"{ORIGINAL}{path}", "mirror")
    assert rows[f"{MIRROR}/more"]["disposition"] == "indexed"
    assert rows["http://paths.example/docs/0x"]["reason"] == "text"
    assert work.store.manifest.history[-1].counts["mirror_hosts"] == 1


def test_the_row_of_a_host_that_is_no_mirror_any_more_is_dropped(work: Workspace) -> None:
    for round_, shift in ((1, 0), (2, 500)):
        store(
            work,
            [
                document(f"{origin}/{at}", prose(at + shift * (origin == MIRROR)))
                for origin in (ORIGINAL, MIRROR)
                for at in range(PAGES)
            ],
            round_,
        )
        dedup.run(work)
        assert work.read("mirrors").count() == (round_ == 1)
