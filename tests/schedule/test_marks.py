"""Marked pages, what is learned from them, and what rounds make of it. See marks.py."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa
import pytest

from gossamer.errors import UsageError
from gossamer.schedule import generate, update
from gossamer.schedule.focus import fit_prediction, mark_step, marks
from gossamer.state import lsm
from gossamer.status.explanation import explain
from gossamer.tables import DATASETS, MARKS, PAGES
from tests.support.command_line import gossamer
from tests.support.rows import LATER_MS, by_url, put, put_all

if TYPE_CHECKING:
    from collections.abc import Callable

    from gossamer.state.workspace import Workspace

ROSES, ENGINES = "roses tulips lilies", "engines wheels brakes"
WANTED = [f"http://a.example/{n}" for n in range(6)]
UNWANTED = [f"http://a.example/{n}" for n in range(6, 12)]
MARKED = dict.fromkeys(WANTED, ROSES) | dict.fromkeys(UNWANTED, ENGINES)
ROSE, ENGINE, NEW = "http://a.example/rose", "http://a.example/engine", "http://a.example/new"
RULED, SHORT, X = "http://a.example/ruled", "http://a.example/short", "http://a.example/x"

Texts = Mapping[str, str | None]
"""The main texts of pages; None: too short to be fit."""
Links = Iterable[dict[str, Any]]


def found(texts: Texts, links: Links, round_: int) -> dict[str, list[dict[str, Any]]]:
    """What a round leaves in which pages answer with these texts."""
    documents = [
        {
            "url": url,
            "outcome": "parsed",
            "content_type": "text/html",
            "title": "Of",
            "main_text": text or ROSES,
            "sketch": text and b"sketch",
        }
        for url, text in texts.items()
    ]
    tables: dict[str, Links] = {
        "responses": [{"url": url, "outcome": "ok"} for url in texts],
        "documents": documents,
        "links": links,
    }
    plain = {"round": round_, "fetched_ms": 1_800_000_000_000}
    return {name: [plain | row for row in rows] for name, rows in tables.items()}


def store(work: Workspace, texts: Texts, links: Links = ()) -> None:
    """Rows of a round that is over, in which these pages were fetched. All of them are fit."""
    asked = {"status": "fetched", "outcome": "ok", "fetches": 1, "next_fetch_ms": LATER_MS}
    known = [{"url": url, "fit": True} | asked for url in texts]
    others = {row["dst"] for row in links if not row.get("nofollow")} - {*texts}
    known += [{"url": url} for url in sorted(others)]
    round_ = work.round + 1
    put_all(work, {"pages": known, **found(texts, links, round_)}, round_)


def answered(work: Workspace, texts: Texts, links: Links = ()) -> dict[str, dict[str, Any]]:
    """Pages answer with these main texts; returns all pages."""
    round_ = work.round + 1
    put_all(work, found(texts, links, round_), round_, step="parse")
    update.run(work)
    return pages(work)


def pages(work: Workspace) -> dict[str, dict[str, Any]]:
    return by_url(lsm.current(work, PAGES))


def mark_all(work: Workspace) -> None:
    """Twelve marks, of pages that have answered."""
    store(work, MARKED)
    put(work, "pages", [row | {"fit": False} for row in map(pages(work).get, UNWANTED) if row])
    rows = [
        {
            "url": url,
            "fit": url in WANTED,
            "marked_ms": work.now_ms(),
            "words": ["of", *text.split()],
        }
        for url, text in MARKED.items()
    ]
    with work.step("mark", work.round) as draft:
        draft.replace |= marks.write_marks(work, pa.Table.from_pylist(rows, MARKS.schema))


def fit(work: Workspace, *urls: str) -> list[bool | None]:
    found = pages(work)
    return [found[url]["fit"] for url in urls]


def learned(work: Workspace) -> set[str]:
    return {row["word"] for row in work.read("fit_words").collect()}


def with_settings(work: Workspace, **settings: object) -> None:
    config = msgspec.structs.replace(work.config.update, **settings)
    work.config = msgspec.structs.replace(work.config, update=config)


def test_without_marks_nothing_is_written(work: Workspace) -> None:
    found = answered(work, {ROSE: ROSES}, [{"src": ROSE, "dst": NEW, "anchor": "tulips"}])
    assert {found[NEW][name] for name in fit_prediction.COLUMNS} == {None}
    assert not work.store.manifest.layers("marks")
    assert not work.store.manifest.layers("fit_words")


def test_marks_come_before_rules_and_these_before_words(work: Workspace) -> None:
    with_settings(work, fit_rules=("deny prefix http://a.example/ro", "allow suffix gine"))
    mark_all(work)
    mark_step.run(work, [ROSE], fit=True, known=False)
    mark_step.run(work, [ENGINE], fit=False, known=False)
    out, let_in = "http://a.example/root", "http://a.example/gine"
    answered(work, {ROSE: ROSES, ENGINE: ENGINES, out: ROSES, let_in: ENGINES})
    assert fit(work, ROSE, ENGINE) == [True, False]
    assert fit(work, out, let_in) == [False, True]
    mark_step.run(work, [out], fit=True, known=False)
    mark_step.run(work, [let_in], fit=False, known=False)
    assert fit(work, out, let_in) == [True, False]
    mark_step.run(work, [ROSE, ENGINE, out, let_in], fit=None, known=False)
    assert fit(work, ROSE, ENGINE, out, let_in) == [False, True, False, True]


def test_few_marks_decide_about_their_pages_only(work: Workspace) -> None:
    store(work, MARKED)
    mark_step.run(work, UNWANTED[:4], fit=False, known=False)
    done = mark_step.run(work, WANTED, fit=True, known=False)
    assert done.counts["words"] == 0
    answered(work, {ENGINE: ENGINES})
    assert fit(work, ENGINE, UNWANTED[0], UNWANTED[5]) == [True, False, True]
    assert mark_step.run(work, UNWANTED[4:5], fit=False, known=False).counts["words"] > 0


def test_a_page_may_be_marked_before_it_is_fetched(work: Workspace) -> None:
    assert mark_step.run(work, WANTED, fit=True, known=False).counts["without_text"] == len(WANTED)
    mark_step.run(work, UNWANTED, fit=False, known=False)
    assert not work.store.manifest.layers("fit_words")
    answered(work, MARKED | dict.fromkeys(WANTED))
    assert fit(work, *WANTED, *UNWANTED) == [True] * 6 + [False] * 6
    assert learned(work) == {*ROSES.split(), *ENGINES.split()}
    assert all(each.is_read for each in marks.list_marks(work))


def test_a_mark_holds_for_the_text_that_came_last(work: Workspace) -> None:
    mark_all(work)
    answered(work, dict.fromkeys(WANTED, "begonias"))
    assert learned(work) == {"of", "begonias", *ENGINES.split()}


def test_the_newest_mark_wins(work: Workspace) -> None:
    mark_all(work)
    mark_step.run(work, WANTED, fit=False, known=False)
    assert [each.fit for each in marks.list_marks(work)] == [False] * 12
    assert not work.store.manifest.layers("fit_words")
    mark_step.run(work, [*WANTED, *UNWANTED], fit=None, known=False)
    assert marks.list_marks(work) == []
    assert not work.store.manifest.layers("marks")


def test_what_is_learned_depends_on_the_marks_alone(work: Workspace) -> None:
    mark_all(work)
    before = work.read("fit_words").toArrow()
    mark_step.run(work, [WANTED[0]], fit=False, known=False)
    assert work.read("fit_words").toArrow() != before
    mark_step.run(work, [WANTED[0]], fit=True, known=False)
    assert work.read("fit_words").toArrow() == before


def test_a_lost_classifier_is_learned_by_the_next_round(work: Workspace) -> None:
    mark_all(work)
    before = learned(work)
    with work.step("test", work.round) as draft:
        draft.replace["fit_words"] = ()
    answered(work, {ROSE: ROSES})
    assert learned(work) == before


LINKS: list[dict[str, Any]] = [
    {"src": ROSE, "dst": "http://a.example/by-source", "anchor": "more"},
    {"src": ENGINE, "dst": "http://a.example/against", "anchor": "more"},
    {"src": ENGINE, "dst": "http://a.example/by-anchor", "anchor": "Roses, lilies and tulips"},
    {"src": NEW, "dst": "http://a.example/by-both", "anchor": "Tulips"},
    {"src": ROSE, "dst": "http://a.example/by-both", "anchor": "Tulips"},
    {"src": ROSE, "dst": "http://a.example/nofollow", "anchor": "Tulips", "nofollow": True},
    {"src": X, "dst": "http://a.example/unknown", "anchor": "more"},
]
TEXTS: dict[str, str | None] = {
    ROSE: ROSES,
    ENGINE: ENGINES,
    NEW: ROSES,
    X: "unheard",
}


@pytest.fixture(scope="module")
def judged(new_work: Callable[[], Workspace]) -> Workspace:
    """A crawl in which pages were judged by words and by a rule, and links by what they promise."""
    work = new_work()
    with_settings(work, fit_rules=("allow suffix /ruled",), scoring="fit")
    mark_all(work)
    put(work, "pages", [{"url": url} for url in (ROSE, RULED)])
    answered(work, TEXTS | {SHORT: None, RULED: ENGINES}, LINKS)
    return work


def test_parsed_pages_are_judged_by_their_words(judged: Workspace) -> None:
    assert fit(judged, ROSE, ENGINE, SHORT, X) == [True, False, False, True]


def promised(work: Workspace) -> dict[str, float]:
    """What links promise of pages that were not fetched; 0.5: nothing."""
    known = lsm.current(work, PAGES).where("status = 'unfetched'")
    rows = known.select("url", fit_prediction.promise_column(work).alias("promise")).collect()
    return {row["url"].removeprefix("http://a.example/"): row["promise"] for row in rows}


def test_links_promise_what_their_pages_and_texts_are_about(judged: Workspace) -> None:
    found = promised(judged)
    assert found.keys() == {"by-source", "against", "by-anchor", "by-both", "unknown"}
    assert found["by-both"] > found["by-source"] > found["unknown"] > found["against"]
    assert found["by-anchor"] > found["against"]
    assert found["unknown"] == 0.5
    state = pages(judged)["http://a.example/by-both"]
    assert state["judged_links"] == 2
    assert 1.9 < state["fit_links"] / fit_prediction.UNIT < 2


def test_it_is_explained(judged: Workspace) -> None:
    facts = {
        url: next(fact.text for fact in explain(judged, url).facts if fact.topic == "fit")
        for url in (ROSE, RULED, WANTED[0], "http://a.example/by-both")
    }
    assert facts[ROSE].startswith("it is fit; its words speak for it, with a score of ")
    assert facts[ROSE].endswith(", above all lilies, roses, tulips")
    assert facts[RULED].startswith("it is fit; the rule allow suffix /ruled decides")
    assert "speak against it" in facts[RULED]
    assert "you have marked it as wanted, 2027-01-15 08:00 UTC" in facts[WANTED[0]]
    assert facts["http://a.example/by-both"].startswith("2 links to it promise that by 9")


def test_judged_anew_is_judged_as_when_it_came(judged: Workspace) -> None:
    assert mark_step.run(judged, [], fit=None, known=True).counts["pages"] == 0


def test_a_round_takes_first_what_links_promise(judged: Workspace) -> None:
    generate.run(judged)
    listed = judged.read("fetchlist", judged.round).collect()
    scores = {row["url"].removeprefix("http://a.example/"): row["score"] for row in listed}
    order = sorted(scores, key=lambda name: -scores[name])
    assert (order[0], order[-1]) == ("by-both", "against")
    found = promised(judged)
    assert scores["by-both"] / scores["against"] == pytest.approx(
        found["by-both"] / found["against"]
    )


def test_each_visit_adds_its_links(work: Workspace) -> None:
    mark_all(work)
    again, left = "http://a.example/again", "http://a.example/left"
    known = {"judged_links": 1, "fit_links": 7}
    put(work, "pages", [{"url": url} | known for url in (again, left)])
    found = answered(work, {ROSE: ROSES, ENGINE: ENGINES}, [{"src": ROSE, "dst": again}])
    assert [found[url]["judged_links"] for url in (again, left)] == [2, 1]
    assert found[again]["fit_links"] > found[left]["fit_links"] == 7


def test_known_pages_are_judged_anew_on_request(work: Workspace) -> None:
    mark_all(work)
    store(work, TEXTS, LINKS)
    assert set(promised(work).values()) == {0.5}
    done = mark_step.run(work, [], fit=None, known=True)
    assert fit(work, ROSE, ENGINE) == [True, False]
    assert promised(work)["by-both"] > 0.9
    assert done.counts["pages"] == 5  # ENGINE, and four that links promise something of
    assert mark_step.run(work, [], fit=None, known=True).counts["pages"] == 0
    before = pages(work)
    mark_step.run(work, [*WANTED, *UNWANTED], fit=None, known=True)
    assert fit(work, ROSE, ENGINE) == [True, True]
    assert set(promised(work).values()) == {1}  # as without marks
    after = pages(work)
    assert {after[url]["judged_links"] for url in before} == {None}


def test_a_url_that_cannot_be_marked_is_named(work: Workspace) -> None:
    with pytest.raises(UsageError, match="mailto:x: is not a URL that can be crawled"):
        mark_step.run(work, [ROSE, "mailto:x"], fit=True, known=False)
    with pytest.raises(UsageError, match=f"{ROSE}: is not marked"):
        mark_step.run(work, [ROSE], fit=None, known=False)
    assert marks.list_marks(work) == []


@pytest.mark.usefixtures("shared_engine")
def test_the_commands_mark_and_list(work: Workspace) -> None:
    store(work, {ROSE: ROSES})
    said = gossamer("mark", work.root, ROSE, NEW, "--fit")
    assert "2 marked" in said.stdout
    assert "1 without_text" in said.stdout
    assert "without the factor fit" in said.stderr
    gossamer("mark", work.root, ENGINE, "--unfit")
    assert gossamer("mark", work.root, "--list").stdout.splitlines() == [
        f"unfit  {ENGINE}  (its text is not known yet)",
        f"fit    {NEW}  (its text is not known yet)",
        f"fit    {ROSE}",
    ]
    gossamer("mark", work.root, ENGINE, "--forget")
    listed = msgspec.json.decode(gossamer("mark", work.root, "--list", "--json").stdout)
    assert [(each["url"], each["fit"], each["is_read"]) for each in listed] == [
        (NEW, True, False),
        (ROSE, True, True),
    ]
    assert "0 pages" in gossamer("mark", work.root, "--apply").stdout


@pytest.mark.parametrize(
    "words",
    [(ROSE,), (ROSE, "--fit", "--forget"), (), ("--fit",), ("--fit", "--apply"), ("--forget",)],
)
def test_a_call_that_says_nothing_is_refused(work: Workspace, words: tuple[str, ...]) -> None:
    assert "give " in gossamer("mark", work.root, *words, code=2).stderr


def test_the_columns_of_pages_are_those_of_promise() -> None:
    assert set(fit_prediction.COLUMNS) <= set(DATASETS["pages"].column_names)
