"""Marked pages, what is learned from them, and what rounds make of it. See marks.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from gossamer.errors import UsageError
from gossamer.schedule import generate, update
from gossamer.schedule.focus import fit_prediction, marking, marks
from gossamer.state import lsm
from gossamer.status.explanation import explain
from gossamer.tables import DATASETS, PAGES
from tests.support.command_line import gossamer
from tests.support.rows import by_url, put

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gossamer.state.workspace import Workspace

ROSES, ENGINES = "roses tulips lilies", "engines wheels brakes"
WANTED = [f"http://a.example/{n}" for n in range(6)]
UNWANTED = [f"http://a.example/{n}" for n in range(6, 12)]
ROSE, ENGINE, NEW = "http://a.example/rose", "http://a.example/engine", "http://a.example/new"
X = "http://a.example/x"


def answered(
    work: Workspace, texts: Mapping[str, str | None], links: Iterable[dict[str, Any]] = ()
) -> dict[str, dict[str, Any]]:
    """Pages answer with these main texts (None: too short to be fit); returns all pages."""
    round_ = work.round + 1
    with work.step("test", round_):
        pass
    answer = {"outcome": "ok", "round": round_, "fetched_ms": work.now_ms()}
    put(work, "responses", [answer | {"url": url} for url in texts], round_)
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
    put(work, "documents", [{"round": round_} | each for each in documents], round_)
    put(work, "links", [{"round": round_} | each for each in links], round_)
    with work.step("parse", round_):
        pass
    update.run(work)
    return pages(work)


def pages(work: Workspace) -> dict[str, dict[str, Any]]:
    return by_url(lsm.current(work, PAGES))


def mark_all(work: Workspace) -> None:
    """Twelve marks, of pages that have answered."""
    answered(work, dict.fromkeys(WANTED, ROSES) | dict.fromkeys(UNWANTED, ENGINES))
    marking.run(work, WANTED, fit=True)
    marking.run(work, UNWANTED, fit=False)


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


def test_parsed_pages_are_judged_by_their_words(work: Workspace) -> None:
    mark_all(work)
    answered(work, {ROSE: ROSES, ENGINE: ENGINES, NEW: None, X: "unheard"})
    assert fit(work, ROSE, ENGINE, NEW, X) == [True, False, False, True]


def test_marks_come_before_rules_and_these_before_words(work: Workspace) -> None:
    with_settings(work, fit_rules=("deny prefix http://a.example/ro", "allow suffix gine"))
    mark_all(work)
    answered(work, {ROSE: ROSES, ENGINE: ENGINES})
    assert fit(work, ROSE, ENGINE) == [False, True]
    marking.run(work, [ROSE], fit=True)
    marking.run(work, [ENGINE], fit=False)
    assert fit(work, ROSE, ENGINE) == [True, False]
    answered(work, {ROSE: ROSES, ENGINE: ENGINES})
    assert fit(work, ROSE, ENGINE) == [True, False]
    marking.run(work, [ROSE, ENGINE], fit=None)
    assert fit(work, ROSE, ENGINE) == [False, True]


def test_few_marks_decide_about_their_pages_only(work: Workspace) -> None:
    answered(work, dict.fromkeys(WANTED, ROSES) | dict.fromkeys(UNWANTED, ENGINES))
    marking.run(work, UNWANTED[:4], fit=False)
    done = marking.run(work, WANTED, fit=True)
    assert done.counts["words"] == 0
    answered(work, {ENGINE: ENGINES})
    assert fit(work, ENGINE, UNWANTED[0], UNWANTED[5]) == [True, False, True]
    assert marking.run(work, UNWANTED[4:5], fit=False).counts["words"] > 0


def test_a_page_may_be_marked_before_it_is_fetched(work: Workspace) -> None:
    assert marking.run(work, WANTED, fit=True).counts["without_text"] == len(WANTED)
    marking.run(work, UNWANTED, fit=False)
    assert not work.store.manifest.layers("fit_words")
    answered(work, dict.fromkeys(WANTED) | dict.fromkeys(UNWANTED, ENGINES))
    assert fit(work, *WANTED, *UNWANTED) == [True] * 6 + [False] * 6
    assert learned(work) == {*ROSES.split(), *ENGINES.split()}
    assert all(each.is_read for each in marks.list_marks(work))


def test_a_mark_holds_for_the_text_that_came_last(work: Workspace) -> None:
    mark_all(work)
    answered(work, dict.fromkeys(WANTED, "begonias"))
    assert learned(work) == {"of", "begonias", *ENGINES.split()}


def test_the_newest_mark_wins(work: Workspace) -> None:
    mark_all(work)
    marking.run(work, WANTED, fit=False)
    assert [each.fit for each in marks.list_marks(work)] == [False] * 12
    assert not work.store.manifest.layers("fit_words")
    marking.run(work, [*WANTED, *UNWANTED], fit=None)
    assert marks.list_marks(work) == []
    assert not work.store.manifest.layers("marks")


def test_what_is_learned_depends_on_the_marks_alone(work: Workspace) -> None:
    mark_all(work)
    before = work.read("fit_words").toArrow()
    marking.run(work, [WANTED[0]], fit=False)
    assert work.read("fit_words").toArrow() != before
    marking.run(work, [WANTED[0]], fit=True)
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


def promised(work: Workspace) -> dict[str, float]:
    """What links promise of pages that were not fetched; 0.5: nothing."""
    known = lsm.current(work, PAGES).where("status = 'unfetched'")
    rows = known.select("url", fit_prediction.promise_column(work).alias("promise")).collect()
    return {row["url"].removeprefix("http://a.example/"): row["promise"] for row in rows}


def test_links_promise_what_their_pages_and_texts_are_about(work: Workspace) -> None:
    mark_all(work)
    answered(work, TEXTS, LINKS)
    found = promised(work)
    assert found.keys() == {"by-source", "against", "by-anchor", "by-both", "unknown"}
    assert found["by-both"] > found["by-source"] > found["unknown"] > found["against"]
    assert found["by-anchor"] > found["against"]
    assert found["unknown"] == 0.5
    state = pages(work)["http://a.example/by-both"]
    assert state["judged_links"] == 2
    assert 1.9 < state["fit_links"] / fit_prediction.UNIT < 2


def test_a_round_takes_first_what_links_promise(work: Workspace) -> None:
    with_settings(work, scoring="fit")
    mark_all(work)
    answered(work, TEXTS, LINKS)
    generate.run(work)
    scores = {row["url"]: row["score"] for row in work.read("fetchlist", work.round).collect()}
    order = sorted(scores, key=lambda url: -scores[url])
    names = [url.removeprefix("http://a.example/") for url in order]
    assert names[0] == "by-both"
    assert names[-1] == "against"
    ratio = scores["http://a.example/by-both"] / scores["http://a.example/against"]
    found = promised(work)
    assert ratio == pytest.approx(found["by-both"] / found["against"])


def test_each_visit_adds_its_links(work: Workspace) -> None:
    mark_all(work)
    answered(work, {ROSE: ROSES}, LINKS[:1])
    found = answered(work, {NEW: ROSES}, [LINKS[0] | {"src": NEW}])
    assert found["http://a.example/by-source"]["judged_links"] == 2
    found = answered(work, {ENGINE: ENGINES})
    assert found["http://a.example/by-source"]["judged_links"] == 2


def test_known_pages_are_judged_anew_on_request(work: Workspace) -> None:
    answered(work, TEXTS, LINKS)
    mark_all(work)
    assert fit(work, ROSE, ENGINE) == [True, True]
    assert set(promised(work).values()) == {0.5}
    done = marking.run(work, [], fit=None, known=True)
    assert fit(work, ROSE, ENGINE) == [True, False]
    assert promised(work)["by-both"] > 0.9
    assert done.counts["pages"] == 5  # ENGINE, and four that links promise something of
    assert marking.run(work, [], fit=None, known=True).counts["pages"] == 0
    before = pages(work)
    marking.run(work, [*WANTED, *UNWANTED], fit=None, known=True)
    assert fit(work, ROSE, ENGINE) == [True, True]
    assert set(promised(work).values()) == {1}  # as without marks
    after = pages(work)
    assert {after[url]["judged_links"] for url in before} == {None}


def test_judged_anew_is_judged_as_when_it_came(work: Workspace) -> None:
    mark_all(work)
    answered(work, TEXTS, LINKS)
    assert marking.run(work, [], fit=None, known=True).counts["pages"] == 0


def test_a_url_that_cannot_be_marked_is_named(work: Workspace) -> None:
    with pytest.raises(UsageError, match="mailto:x: is not a URL that can be crawled"):
        marking.run(work, [ROSE, "mailto:x"], fit=True)
    with pytest.raises(UsageError, match=f"{ROSE}: is not marked"):
        marking.run(work, [ROSE], fit=None)
    assert marks.list_marks(work) == []


def test_it_is_explained(work: Workspace) -> None:
    put(work, "pages", [{"url": url} for url in (ROSE, ENGINE, *WANTED)])
    with_settings(work, fit_rules=("allow suffix gine",))
    mark_all(work)
    answered(work, TEXTS, LINKS)
    facts = {url: {f.topic: f.text for f in explain(work, url).facts} for url in (ROSE, ENGINE)}
    assert facts[ROSE]["fit"].startswith("it is fit; its words speak for it, with a score of ")
    assert facts[ROSE]["fit"].endswith(", above all lilies, roses, tulips")
    assert facts[ENGINE]["fit"].startswith("it is fit; the rule allow suffix gine decides")
    assert "speak against it" in facts[ENGINE]["fit"]
    marked = next(f.text for f in explain(work, WANTED[0]).facts if f.topic == "fit")
    assert "you have marked it as wanted, 2027-01-15 08:00 UTC" in marked
    target = next(f for f in explain(work, "http://a.example/by-both").facts if f.topic == "fit")
    assert target.text.startswith("2 links to it promise that by 9")


@pytest.mark.usefixtures("shared_engine")
def test_the_commands_mark_and_list(work: Workspace) -> None:
    answered(work, {ROSE: ROSES})
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
