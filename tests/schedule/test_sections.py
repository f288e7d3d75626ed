"""Sections, counted by definition, and what they are worth. See sections/."""

from __future__ import annotations

from collections import Counter
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import functions as F

from gossamer.config import Config
from gossamer.config.crawling import GenerateConfig
from gossamer.errors import Locked
from gossamer.schedule import generate
from gossamer.schedule.order.sections import section_finds, section_names, step
from gossamer.schedule.order.sections.section_names import (
    EVERYTHING,
    MAX_FOLDERS,
    enclosing_sections,
)
from gossamer.schedule.order.sections.section_worth import FEW, TRIED, add_section_worth
from gossamer.storage import parquet
from gossamer.storage.local_backend import LocalBackend
from gossamer.storage.store import Store
from gossamer.tables import FINDS, SECTIONS
from tests.support.section_rows import URLS, count_now, folder_of, page, put_pages
from tests.support.stored_web import put_rows

if TYPE_CHECKING:
    from gossamer.engine.engine import Engine
    from gossamer.state.workspace import Workspace


def test_the_folder_of_a_url(engine: Engine) -> None:
    rows = engine.rows(pa.table({"url": URLS})).select(
        "url", section_names.folder_column(F.col("url"))
    )
    assert dict(rows.collect()) == {url: folder_of(url) for url in URLS}


def test_the_sections_that_a_folder_is_in() -> None:
    assert list(enclosing_sections("h/a/b/")) == ["h/a/b/", "*/a/b/", "h/a/", "*/a/", "h/", "*/"]
    assert list(enclosing_sections("h/v?id")) == ["h/v?id", "*/v?id", "h/", "*/"]
    deep = list(enclosing_sections("h/" + "x/" * 20))
    assert deep[0] == "h/" + "x/" * MAX_FOLDERS
    assert next(iter(enclosing_sections("h/" + "x/" * 20 + "v?id"))) == deep[0]
    assert deep[-1] == EVERYTHING


def test_sections_are_counted_by_definition(work: Workspace) -> None:
    urls = [
        f"http://{h}.example/{a}/{b}/{n}"
        for h in "ab"
        for a in "xy"
        for b in "uv"
        for n in range(9)
    ]
    urls += [f"http://a.example/view?id={n}" for n in range(12)]
    rows = [page(url, asked=n % 2 == 0, fit=n % 3 == 0) for n, url in enumerate(urls)]
    put_pages(work, rows)
    known, fit = Counter[str](), Counter[str]()
    for row in rows:
        for section in enclosing_sections(folder_of(row["url"])):
            known[section] += 1
            fit[section] += row["outcome"] is not None and row["fit"]
    found = count_now(work)
    assert {name: row["known"] for name, row in found.items()} == {
        name: pages for name, pages in known.items() if pages >= step.LEAST_PAGES
    }
    assert {name: row["fit"] for name, row in found.items()} == {name: fit[name] for name in found}
    assert found["*/x/"]["domain"] == "*"
    row = found["a.example/x/"]
    counts = {"known": 18, "fetched": 9, "asked": 9, "changed": 0, "fit": fit["a.example/x/"]}
    assert {name: row[name] for name in counts} == counts
    assert (row["domain"], row["level"]) == ("a.example", 2)


def test_an_empty_crawl_has_no_sections(work: Workspace) -> None:
    assert count_now(work) == {}
    assert step.sections_of_domain(work, None) == []


def links(work: Workspace, pairs: list[tuple[str, str]]) -> Any:
    rows = [{"src": src, "dst": dst, "nofollow": False} for src, dst in pairs]
    return work.engine.rows(pa.Table.from_pylist(rows))


def put_round(work: Workspace, pairs: list[tuple[str, str]], new: set[str]) -> None:
    """What a round found by these links, in which the sources were asked for."""
    urls = sorted({url for pair in pairs for url in pair})
    asked = {src for src, _ in pairs}
    rows = [{"url": url, "new": url in new, "asked": url in asked} for url in urls]
    changed = work.engine.rows(pa.Table.from_pylist(rows))
    with work.step("test", work.round) as draft:
        draft.replace[FINDS.name] = section_finds.write_finds(work, links(work, pairs), changed)


def finds_of(work: Workspace) -> dict[tuple[str, str | None], float]:
    rows = [row for path in work.paths(FINDS.name) for row in parquet.read_table(path).to_pylist()]
    return {(row["source"], row["target"]): row["pages"] / section_finds.UNIT for row in rows}


def test_a_new_page_counts_for_all_pages_that_it_was_found_on(work: Workspace) -> None:
    old, new, tag, day = (f"http://a.example/{name}" for name in ("x/1", "x/2", "tag/1", "day/1"))
    put_round(work, [(tag, old), (tag, new), (day, new)], {new})
    assert finds_of(work) == {
        ("a.example/tag/", "a.example/x/"): 0.5,
        ("a.example/day/", "a.example/x/"): 0.5,
        ("a.example/tag/", None): 1,
        ("a.example/day/", None): 1,
    }


def test_finds_are_merged_into_sections_when_these_are_counted(work: Workspace) -> None:
    pages = [f"http://a.example/x/{n}" for n in range(20)]
    put_pages(work, [page(url) for url in pages])
    for n in range(3):
        put_round(work, [(f"http://a.example/seldom{n}/", pages[n])], {pages[n]})
    count_now(work)
    kept = 3 / section_finds.FORGETTING
    assert finds_of(work) == {
        ("a.example/", "a.example/x/"): pytest.approx(kept),
        ("a.example/", None): pytest.approx(kept),
    }


def test_a_page_that_only_leads_to_fit_ones_is_worth_a_visit(work: Workspace) -> None:
    """Sites of the same build: what was learned on the first forty holds for the last."""
    rows, pairs, number = [], [], count()
    for host in (f"{n}.example" for n in range(40)):
        for n in range(12):
            rows.append(page(day := f"http://{host}/day/{n}", asked=host != "39.example"))
            rows.append(page(f"http://{host}/tag/{n}", asked=host != "39.example"))
            articles = [f"http://{host}/text/{next(number)}" for _ in range(10)]
            rows += [page(url, asked=host != "39.example", fit=True) for url in articles]
            if host != "39.example":
                pairs += [(day, url) for url in articles]
                pairs.append((f"http://{host}/tag/{n}", f"http://{host}/tag/{n + 12}"))
    put_pages(work, rows)
    put_round(work, pairs, {dst for _, dst in pairs})
    found = count_now(work)
    worth = {name: found[f"39.example/{name}/"]["worth"] for name in ("text", "day", "tag")}
    assert worth["text"] > 0.95
    assert worth["day"] > 0.8
    assert worth["tag"] < 0.1
    assert found["0.example/day/"]["worth"] > 0.7  # by what was found on it


def test_what_has_hardly_been_tried_is_worth_as_much_as_the_worst_beside_it(
    work: Workspace,
) -> None:
    rows = [page(f"http://a.example/text/{n}", fit=True) for n in range(50)]
    rows += [page(f"http://a.example/tag/{n}") for n in range(50)]
    rows += [page(f"http://a.example/new/{n}", asked=False) for n in range(500)]
    rows += [page(f"http://a.example/begun/{n}", asked=n < 10, fit=True) for n in range(100)]
    put_pages(work, rows)
    found = count_now(work)
    assert found["a.example/tag/"]["worth"] < found["a.example/new/"]["worth"] < 0.1
    assert found["a.example/begun/"]["worth"] > 0.7
    assert found["a.example/new/"]["trial"] == pytest.approx(FEW / 500)
    assert found["a.example/begun/"]["trial"] == pytest.approx((10 + 10 + FEW) / 100)
    assert found["a.example/text/"]["trial"] == found["a.example/tag/"]["trial"] == 0


@pytest.mark.parametrize(("asked", "is_known_well"), [(TRIED - 1, False), (TRIED, True)])
def test_a_section_that_was_tried_often_enough_is_judged_by_itself(
    work: Workspace, asked: int, is_known_well: bool
) -> None:
    """Although the section beside it is worth nothing."""
    rows = [page(f"http://a.example/text/{n}", asked=n < asked, fit=True) for n in range(100)]
    put_pages(work, rows + [page(f"http://a.example/tag/{n}") for n in range(50)])
    assert (count_now(work)["a.example/text/"]["worth"] > 0.995) is is_known_well


def test_trials_are_a_share_of_a_round(work: Workspace) -> None:
    rows = [page(f"http://a.example/{s}/{n}", asked=False) for s in range(40) for n in range(12)]
    put_pages(work, rows)
    work.config = Config()  # 20,000 pages a round
    all_of_them = count_now(work)["a.example/0/"]["trial"]
    assert all_of_them == 1
    work.config = Config(generate=GenerateConfig(pages=100, explore_share=0.1))
    assert 0 < count_now(work)["a.example/0/"]["trial"] < all_of_them / 10


def test_there_is_less_to_learn_of_one_folder_among_many_that_were_tried(work: Workspace) -> None:
    """A forum with a folder for each thread, none of which has many pages, and an archive."""
    rows = [page(f"http://a.example/archive/{n}", asked=False) for n in range(60)]
    rows += [
        page(f"http://a.example/forum/{t}/{n}", asked=n < 9) for t in range(60) for n in range(20)
    ]
    put_pages(work, rows)
    wanted, forum = tried_next(work)
    assert wanted["a.example/archive/"] + forum == pytest.approx(10)
    assert 0 < forum < 5


def tried_next(work: Workspace) -> tuple[dict[str, float], float]:
    """How many pages of each section a round of 20 tries, and of all folders of a forum."""
    work.config = Config(generate=GenerateConfig(pages=20, explore_share=0.1))
    found = count_now(work)
    wanted = {name: row["trial"] * row["known"] - row["asked"] for name, row in found.items()}
    return wanted, sum(wanted[f"a.example/forum/{t}/"] for t in range(60))


def test_folders_in_one_that_was_tried_share_what_there_is_to_learn_in_it(work: Workspace) -> None:
    """An archive of which little was seen gets as much as all folders of a forum."""
    rows = [page(f"http://a.example/archive/2019/{n}", asked=False) for n in range(20)]
    rows += [page(f"http://a.example/forum/{n}") for n in range(50)]
    rows += [
        page(f"http://a.example/forum/{t}/{n}", asked=False) for t in range(60) for n in range(20)
    ]
    put_pages(work, rows)
    wanted, forum = tried_next(work)
    assert wanted["a.example/archive/2019/"] == pytest.approx(forum) == pytest.approx(5)


@pytest.mark.parametrize(("left", "tried"), [(200, 10), (60, 20), (0, 50)])
def test_half_of_what_good_pages_leave_in_a_round_is_for_trials(
    work: Workspace, left: int, tried: int
) -> None:
    rows = [page(f"http://a.example/text/{n}", asked=n >= left, fit=True) for n in range(400)]
    rows += [page(f"http://a.example/tag/{n}") for n in range(400)]
    rows += [
        page(f"http://a.example/new/{t}/{n}", asked=False) for t in range(60) for n in range(20)
    ]
    put_pages(work, rows)
    work.config = Config(generate=GenerateConfig(pages=100, explore_share=0.1))
    new = [row for name, row in count_now(work).items() if name.startswith("a.example/new/")]
    assert sum(row["trial"] * row["known"] for row in new if row["level"] == 3) == pytest.approx(
        tried
    )


def test_small_sections_are_tried_first_and_as_a_whole(work: Workspace) -> None:
    rows = [page(f"http://a.example/years/{n}", asked=False) for n in range(12)]
    rows += [page(f"http://a.example/tag/{n}", asked=False) for n in range(900)]
    put_pages(work, rows)
    work.config = Config(generate=GenerateConfig(pages=150, explore_share=0.1))
    found = count_now(work)
    assert found["a.example/years/"]["trial"] == 1
    assert found["a.example/tag/"]["trial"] * 900 == pytest.approx(15 - 12)


def test_pages_beside_folders_are_judged_by_themselves(work: Workspace) -> None:
    """A calendar in the folder of the home page, on a site of articles."""
    rows = [page(f"http://a.example/calendar-{n}.html") for n in range(40)]
    rows += [page(f"http://a.example/text/{n}", fit=True) for n in range(400)]
    put_pages(work, rows)
    found = count_now(work)
    assert (found["a.example/"]["known"], found["a.example/"]["fit"]) == (440, 400)
    assert found["a.example/"]["worth"] < 0.1
    assert found["a.example/text/"]["worth"] > 0.95


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xyz"), st.integers(0, 40))))
def test_worths_are_shares(rows: list[tuple[str, str, int]]) -> None:
    """Whatever was counted and found."""
    names = sorted({"*/", *(f"{h}/" for h, _, _ in rows), *(f"{h}/{s}/" for h, s, _ in rows)})
    names += [f"*/{s}/" for s in sorted({s for _, s, _ in rows})]
    asked = [
        sum(n for h, s, n in rows if name in {f"{h}/{s}/", f"{h}/", f"*/{s}/", "*/"})
        for name in names
    ]
    table = pa.table(
        {
            "section": names,
            "level": pa.array([name.count("/") for name in names], pa.int32()),
            **{column: pa.array(asked, pa.int64()) for column in ("known", "asked", "fit")},
        }
    )
    own = [(f"{h}/{s}/", f"{h}/", n) for h, s, n in rows]
    finds = pa.table(
        {
            "source": pa.array([s for s, _, _ in own] * 2, pa.string()),
            "target": pa.array([t for _, t, _ in own] + [None] * len(own), pa.string()),
            "pages": pa.array([n for _, _, n in own] * 2, pa.int64()),
        }
    )
    found = add_section_worth(table, finds, 1, 1_000, 1)
    for column in ("worth", "trial"):
        assert all(0 <= value <= 1 for value in found[column].to_pylist())


def test_a_round_takes_the_pages_of_worthy_sections(work: Workspace) -> None:
    rows = [
        page(f"http://a.example/{s}/{n}", fit=s == "text")
        for s in ("text", "tag")
        for n in range(40)
    ]
    due = [f"http://a.example/{s}/{n}" for s in ("tag", "text") for n in range(100, 120)]
    put_pages(work, rows + [page(url, asked=False) | {"depth": 1} for url in due])
    config = Config()
    work.config = type(config)(
        update=type(config.update)(scoring="fit"), generate=type(config.generate)(pages=20)
    )
    generate.run(work)
    listed = parquet.read_table(work.paths("fetchlist"))["url"].to_pylist()
    assert sorted(listed) == sorted(url for url in due if "/text/" in url)


def test_sections_are_counted_again_when_pages_or_rounds_have_grown(work: Workspace) -> None:
    put_pages(work, [page(f"http://a.example/x/{n}") for n in range(100)])
    assert step.recount_is_due(work)
    first = step.sections_of_domain(work, "a.example")
    assert [each.section for each in first] == ["a.example/", "a.example/x/"]
    assert not step.recount_is_due(work)
    put_rows(work, "pages", [page(f"http://a.example/x/{n}") for n in range(100, 110)])
    with work.step("test", work.round) as draft:
        draft.replace["virtual_page"] = ()
    assert step.recount_is_due(work)
    assert step.sections_of_domain(work, "a.example")[0].known == 110


@pytest.mark.folder
@pytest.mark.parametrize("dataset", [SECTIONS.name, FINDS.name])
def test_what_was_learned_may_be_lost(work: Workspace, dataset: str) -> None:
    pages = [f"http://a.example/x/{n}" for n in range(20)]
    put_pages(work, [page(url) for url in pages])
    put_round(work, [(pages[0], pages[1])], {pages[1]})
    before = count_now(work)
    (path,) = work.paths(dataset)
    Path(path).unlink()
    assert step.recount_is_due(work) == (dataset == SECTIONS.name)
    put_round(work, [(pages[0], pages[2])], {pages[2]})
    assert count_now(work).keys() == before.keys()
    assert not step.recount_is_due(work)


def test_finds_stay_few_files(work: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step, "MOST_LAYERS", 2)
    put_pages(work, [page(f"http://a.example/x/{n}") for n in range(20)])
    count_now(work)
    due = []
    for n in range(3):
        put_round(work, [("http://a.example/x/1", f"http://a.example/x/{n}")], set())
        due.append(step.recount_is_due(work))
    assert due == [False, False, True]
    count_now(work)
    assert not step.recount_is_due(work)


@pytest.mark.folder
def test_while_another_process_writes_the_sections_are_those_of_the_last_time(
    work: Workspace,
) -> None:
    put_pages(work, [page(f"http://a.example/x/{n}") for n in range(20)])
    other = Store(LocalBackend(Path(work.root)))
    with other.lock(), pytest.raises(Locked):
        step.sections_of_domain(work, None)
    before = step.sections_of_domain(work, None)
    put_rows(work, "virtual_page", [{"pages": 99}])
    with work.step("test", work.round) as draft:
        draft.replace["virtual_page"] = work.store.manifest.layers("virtual_page")[1:]
    assert step.recount_is_due(work)
    with other.lock():
        assert step.sections_of_domain(work, None) == before
