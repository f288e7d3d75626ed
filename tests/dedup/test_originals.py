"""Attack: copies on other domains, made so that they displace the page that was there first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from gossamer import dedup
from gossamer.dedup import disposition_rows
from tests.support.planted_duplicates import document, edited, prose, standing
from tests.support.rows import put

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import NotRequired, TypedDict

    from gossamer.state.workspace import Workspace

    class Known(TypedDict):
        """A page: its path on the host, and what differs from others."""

        url: str
        found_ms: int
        changed: NotRequired[int]
        canonical: NotRequired[str]
        rank: NotRequired[float]
        domains: NotRequired[int]


pytestmark = pytest.mark.slow

ORIGINAL = "http://original.example/articles/on-copies.html"
SHORT = "http://a.evil/"
Case = tuple[str, "Sequence[Known]"]

CASES: dict[str, Case] = {
    "a shorter URL": (ORIGINAL, [{"url": SHORT, "found_ms": 2}]),
    "an early host": (ORIGINAL, [{"url": ORIGINAL.replace("original", "an"), "found_ms": 2}]),
    "a farm of its own": (ORIGINAL, [{"url": SHORT, "found_ms": 2, "rank": 0.2}]),
    "a few words": (ORIGINAL, [{"url": SHORT, "found_ms": 2, "changed": 4, "rank": 0.2}]),
    "a canonical page": (
        ORIGINAL,
        [
            {"url": "http://a.evil/b", "found_ms": 2, "canonical": SHORT, "rank": 0.2},
            {"url": SHORT, "found_ms": 2},
        ],
    ),
    "a nearly equal canonical page": (
        ORIGINAL,
        [
            {"url": "http://a.evil/b", "found_ms": 2, "canonical": SHORT, "changed": 4},
            {"url": SHORT, "found_ms": 2, "changed": 3, "rank": 0.2},
        ],
    ),
    "links of some domains": (
        ORIGINAL,
        [{"url": SHORT, "found_ms": 2, "rank": 0.2, "domains": 14}],
    ),
    "links of many domains": (SHORT, [{"url": SHORT, "found_ms": 2, "domains": 15}]),
    "a few words, and links of many domains": (
        SHORT,
        [{"url": SHORT, "found_ms": 2, "domains": 15, "changed": 4}],
    ),
    "a better URL of its own domain": (
        "http://original.example/on",
        [{"url": SHORT, "found_ms": 2}, {"url": "http://original.example/on", "found_ms": 3}],
    ),
    "a better URL of its own domain, and a few words": (
        "http://original.example/on",
        [
            {"url": SHORT, "found_ms": 2, "changed": 4},
            {"url": "http://original.example/on", "found_ms": 3, "changed": 2},
        ],
    ),
    "found at once": (SHORT, [{"url": SHORT, "found_ms": 1}]),
    "a copy that names it, and another before": (
        "http://source.example/on-copies",
        [
            {"url": SHORT, "found_ms": 2},
            {"url": "http://source.example/on-copies", "found_ms": 3},
            {"url": ORIGINAL, "found_ms": 1, "canonical": "http://source.example/on-copies"},
        ],
    ),
    "another user of its provider": (
        "http://writer.github.io/some/page",
        [
            {"url": "http://writer.github.io/some/page", "found_ms": 0},
            {"url": "http://a.github.io/", "found_ms": 2, "rank": 0.2},
        ],
    ),
}
"""What a copy has, which page survives, and the pages that there are beside the ORIGINAL."""


def planted(work: Workspace) -> None:
    """All cases in one crawl: each has hosts of its own, and a text."""
    tables: dict[str, list[dict[str, Any]]] = {
        name: [] for name in ("pages", "documents", "ranks", "inlinks")
    }
    for number, (_, pages) in enumerate(CASES.values()):
        known: dict[str, Known] = {ORIGINAL: {"url": ORIGINAL, "found_ms": 1}}
        known |= {each["url"]: each for each in pages}
        for page in known.values():
            url, canonical = placed(page["url"], number), page.get("canonical")
            text = edited(prose(number, 300), page.get("changed", 0), number)
            named = canonical and placed(canonical, number)
            row = {"url": url, "host": url.split("/")[2]}
            tables["pages"].append(row | {"status": "fetched", "found_ms": page["found_ms"]})
            tables["documents"].append(document(url, text, "On copies", canonical=named))
            tables["ranks"].append({"url": url, "rank": page.get("rank", 0.001)})
            tables["inlinks"].append(
                {"dst": url, "count": 0, "sources": [], "domains": page.get("domains", 0)}
            )
    for name, rows in tables.items():
        put(work, name, rows)


def placed(url: str, number: int) -> str:
    """The URL on the hosts of a case."""
    scheme, rest = url.split("//")
    host, path = rest.split("/", 1)
    label, _, suffix = host.rpartition("." if "github" not in host else ".github.")
    dot = ".github." if "github" in host else "."
    return f"{scheme}//{label}{number:02}{dot}{suffix}/{path}"


@pytest.fixture(scope="module")
def judged(new_work: Callable[[], Workspace]) -> Mapping[str, dict[str, Any]]:
    work = new_work()
    planted(work)
    dedup.run(work)
    return standing(work)


@pytest.mark.parametrize("case", CASES)
def test_who_was_first_stays_unless_independent_domains_say_otherwise(
    judged: Mapping[str, dict[str, Any]], case: str
) -> None:
    """Before, another page survived in 11 of 14 cases."""
    number = [*CASES].index(case)
    survivor, pages = CASES[case]
    urls = {placed(url, number) for url in (ORIGINAL, *(each["url"] for each in pages))}
    assert [url for url in urls if judged[url]["survivor"] is None] == [placed(survivor, number)]


def test_an_old_page_that_becomes_a_copy_is_not_first(work: Workspace) -> None:
    """The harvest in between knows it under another title."""
    old = "http://a.evil/old"
    pages = [{"url": old, "status": "fetched", "found_ms": 1, "stored_ms": 1, "host": "a.evil"}]
    put(work, "pages", pages)
    put(work, "documents", [document(old, prose(1), "Roses")])
    dedup.run(work)
    there = {"url": ORIGINAL, "status": "fetched", "found_ms": 2, "stored_ms": 2}
    put(work, "pages", [there | {"host": "original.example"}], 2)
    put(work, "documents", [document(ORIGINAL, prose(2), "On copies", round=2)], 2)
    dedup.run(work)
    put(work, "pages", [pages[0] | {"stored_ms": 3}], 3)
    put(work, "documents", [document(old, prose(2), "On copies", round=3)], 3)
    dedup.run(work)
    rows = standing(work)
    assert (rows[ORIGINAL]["survivor"], rows[old]["survivor"]) == (None, ORIGINAL)
    put(work, "pages", [there | {"stored_ms": 4, "host": "original.example"}], 4)
    corrected = edited(prose(2), 4, 1)
    put(work, "documents", [document(ORIGINAL, corrected, "On copies", round=4)], 4)
    dedup.run(work)
    rows = standing(work)
    assert (rows[ORIGINAL]["survivor"], rows[old]["survivor"]) == (None, ORIGINAL)


def test_a_host_that_was_copied_is_no_mirror_of_the_copy(work: Workspace) -> None:
    """Whatever the rank of the copy, and even if some of its pages were found before."""
    for at in range(10):
        text = prose(at)
        for host, found_ms in (("original.example", 1), ("a.evil", 0 if at < 2 else 2)):
            url = f"http://{host}/docs/{at}"
            state = {"url": url, "host": host, "status": "fetched", "found_ms": found_ms}
            put(work, "pages", [state])
            put(work, "documents", [document(url, text)])
    put(work, "host_ranks", [{"host": "a.evil", "rank": 0.9}])
    dedup.run(work)
    (row,) = work.read("mirrors").collect()
    assert (row["host"], row["mirror_of"], row["agreeing"]) == ("a.evil", "original.example", 10)
    left = {url for url, row in standing(work).items() if row["survivor"] is None}
    assert left == {f"http://original.example/docs/{at}" for at in range(10)}


def test_many_copies_on_one_host_are_not_all_that_are_named(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before, those with the shortest URLs were, so `site:` did not find the page by the others."""
    monkeypatch.setattr(disposition_rows, "MAX_COPIES", 8)
    urls = {"original.example": [ORIGINAL, f"{ORIGINAL}?print"]}
    urls["a.evil"] = [f"http://a.evil/{n}" for n in range(20)]
    urls["syndicated.example"] = [ORIGINAL.replace("original", "syndicated")]
    urls["later.example"] = [ORIGINAL.replace("original", "later")]
    for found_ms, (host, pages) in enumerate(urls.items(), 1):
        state = {"host": host, "status": "fetched", "found_ms": found_ms}
        put(work, "pages", [state | {"url": url} for url in pages])
        put(work, "documents", [document(url, prose(1), "On copies") for url in pages])
    dedup.run(work)
    row = standing(work)[ORIGINAL]
    named = [copy["url"] for copy in row["copies"]]
    few = disposition_rows.COPIES_PER_HOST
    others = [*urls["a.evil"][:few], *urls["syndicated.example"], *urls["later.example"]]
    assert named == [urls["original.example"][1], *others, *urls["a.evil"][few : few + 2]]
    assert row["copy_count"] == 23
