"""What a task makes of its share of the pages, whatever their parser answers."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

from gossamer.config import Config, FilterConfig
from gossamer.parse.parsed_page import ParsedPage, Rules
from gossamer.parse.step import parse_task
from gossamer.parse.step.job import Early, Job, Share
from gossamer.parse.step.stored_responses import PAGE_BYTES, Piece, ResponseRow
from gossamer.rules.filter_rules.filter_recipe import FilterRecipe
from gossamer.state.heartbeats import heartbeats
from gossamer.storage.task_output import ParquetWriter
from gossamer.storage.warc import WarcWriter
from gossamer.tables import RESPONSES, UNPARSED
from tests.support.stored_rounds import Fetched, response, rows_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gossamer.parse.parsed_page import Page

URLS = ("http://a.test/1", "http://a.test/2", "http://b.test/robots.txt", "http://a.test/4")
PLACES = {url: str(number) for number, url in enumerate(URLS, 1)}
ATTEMPTS = ("documents/1", "links/1", "unparsed/1", "scratch/1")


class Parser:
    """A parser that takes half a second for each page; of some, it says what it is told."""

    def __init__(self, answers: Mapping[str, str]) -> None:
        self._answers = answers
        self.pages: list[Page] = []
        self.cpu_s = 100.0

    def parse(self, page: Page) -> ParsedPage:
        self.pages.append(page)
        self.cpu_s += 0.5
        return ParsedPage(outcome=self._answers.get(PLACES[page.url], "parsed"), text="text")


class Task:
    """A task whose share is a file of responses, and what it wrote."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        recipe = FilterRecipe(FilterConfig(scope="any"), (), 2026, None)
        self.job = Job(str(root), 3, Config(), Rules(), recipe, 0, ATTEMPTS)
        self._root, self._monkeypatch = root, monkeypatch
        warc = WarcWriter(str(root), "warc/1", {})
        rows = [response(warc, Fetched(url, url.encode()), 3) for url in URLS]
        warc.close()
        (root / "heartbeats").mkdir()
        self.archive = root / str(rows[0]["warc_file"])
        self.offsets = [row["warc_offset"] for row in rows]
        self.piece = self._stored("responses", RESPONSES.schema, rows)
        kept = [{name: row.get(name) for name in UNPARSED.schema.names} for row in rows[-1:]]
        self.unparsed = self._stored("unparsed", UNPARSED.schema, kept)

    def _stored(self, name: str, schema: Any, rows: list[dict[str, Any]]) -> Piece:
        writer = ParquetWriter(str(self._root), name, f"{name}/0")
        writer.write(rows_of(schema, rows))
        (row,) = writer.close()
        return Piece(str(row["path"]), 0, 1, 1)

    def damage(self, place: int) -> None:
        with self.archive.open("r+b") as file:
            file.seek(self.offsets[place] + 12)
            file.write(b"\xff" * 9)

    def run(
        self, answers: Mapping[str, str] | None = None, *, alone: bool = False, **job: Any
    ) -> dict[str, Any]:
        """The places of the pages in each dataset that the task writes, and its counts."""
        self.parser = Parser(answers or {})
        self._monkeypatch.setattr(parse_task, "standing_parser", lambda _: self.parser)
        share = Share(1, (self.piece,), alone=alone)
        found: dict[str, Any] = {}
        for row in parse_task.parse_share(replace(self.job, **job), share):
            if row["path"]:
                folder = str(row["path"]).rpartition("/")[0]
                self.written = pq.read_table(self._root / str(row["path"])).to_pylist()
                named = [each.get("url", each.get("domain")) for each in self.written]
                found[folder] = "".join(PLACES.get(name, name) for name in named)
            elif row["rows"]:
                found[str(row["name"])] = row["rows"]
        return found


@pytest.fixture
def task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Task:
    return Task(tmp_path, monkeypatch)


def test_pages_are_parsed_in_the_order_of_the_archive(task: Task) -> None:
    found = task.run({"2": "failed", "4": "empty"})
    assert found == {"documents/1": "1234", "documents": 4, "parsed": 2, "failed": 1, "empty": 1}
    assert [page.url for page in task.parser.pages] == [*URLS]
    assert [page.body.decode() for page in task.parser.pages] == [*URLS]
    (progress,) = heartbeats(task.job.root)
    assert (progress.done, progress.total, progress.counts["parsed"]) == (4, 4, 2)


@pytest.mark.parametrize(("seconds", "parsed"), [(0.5, "13"), (0.5001, "123"), (1, "123")])
def test_the_pages_of_a_domain_end_with_its_time(task: Task, seconds: float, parsed: str) -> None:
    """The page that is begun may take more than what is left."""
    found = task.run(domain_cpu_s=seconds, files=((task.piece.path,), ()))
    left = "".join(sorted({*"1234"} - {*parsed}))
    assert (found["documents/1"], found["unparsed/1"]) == (parsed, left)
    assert (found["parsed"], found["postponed_cpu"]) == (len(parsed), len(left))
    assert {row["why"] for row in task.written} == {"postponed_cpu"}


def test_what_was_spent_before_is_not_left(task: Task) -> None:
    found = task.run(domain_cpu_s=2, files=((task.piece.path,), ()), spent=(("a.test", 1.5),))
    assert (found["documents/1"], found["unparsed/1"]) == ("13", "24")


def test_an_interrupted_page_is_left_to_the_second_pass(task: Task) -> None:
    found = task.run({"2": "interrupted"})
    assert found == {
        "documents/1": "134",
        "scratch/1": "2",
        "documents": 3,
        "parsed": 3,
        "retried_alone": 1,
    }


def test_the_second_pass_is_short(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is interrupted again, or beyond the limit, is left to a later round."""
    monkeypatch.setattr(parse_task, "MAX_ALONE", 3)
    found = task.run({"2": "interrupted"}, alone=True)
    assert {*found.pop("unparsed/1")} == {*"24"}
    assert found == {"documents/1": "13", "documents": 2, "parsed": 2, "interrupted": 1}


def test_a_damaged_record_is_a_page_that_failed(task: Task) -> None:
    task.damage(1)
    found = task.run()
    counts = {"documents": 4, "parsed": 3, "failed": 1, "unreadable": 1}
    assert found == {"documents/1": "1234"} | counts
    assert len(task.parser.pages) == 3
    where = f"{task.archive.relative_to(task.job.root)}, offset {task.offsets[1]}"
    (detail,) = (row["detail"] for row in task.written if row["outcome"] == "failed")
    assert detail == f"damaged record in {where}"


def test_a_page_that_is_parsed_again_keeps_its_document_if_its_record_is_damaged(
    task: Task,
) -> None:
    for place in (1, 2):
        task.damage(place)
    found = task.run(unreadable="scratch/5")
    assert found == {
        "documents/1": "14",
        "scratch/5": "23",
        "documents": 2,
        "parsed": 2,
        "unreadable": 2,
    }
    assert [(row["round"], row["has_links"]) for row in task.written] == [(3, True), (3, False)]


def test_a_task_beside_the_fetch_ends_with_it_and_says_what_domains_took(task: Task) -> None:
    over = Path(task.job.root, "over")
    early = Early(str(over), "scratch/6", "scratch/7", 1)
    found = task.run(early=early, domain_cpu_s=0.75)
    assert found == {
        "documents/1": "123",
        "scratch/6": "4",
        "scratch/7": "a.testb.test",
        "documents": 3,
        "parsed": 3,
    }
    assert [row["cpu_s"] for row in task.written] == [1.0, 0.5]
    assert task.run(early=early)["documents/1"] == "1234"
    over.touch()
    assert task.run(early=early, domain_cpu_s=9) == {"scratch/6": "1234"}


def test_pages_that_were_left_come_first(task: Task) -> None:
    share = Share(1, (task.piece,), (task.unparsed,))
    found = parse_task._responses_of_share(task.job, share)
    assert [row.url for row in found] == [URLS[3], *URLS]


def test_weights_of_domains_are_read_if_they_are_needed(task: Task) -> None:
    files = ((task.piece.path,), (task.unparsed.path,))
    job = replace(task.job, files=files, domain_cpu_s=1)
    weights = parse_task._weights_of_job(job)
    sizes = [PAGE_BYTES + len(url) for url in URLS]
    assert weights == {"a.test": sizes[0] + sizes[1] + 2 * sizes[3], "b.test": sizes[2]}
    assert parse_task._weights_of_job(replace(job, domain_cpu_s=0)) == {}
    assert parse_task._weights_of_job(replace(job, early=Early("", "", "", 1))) == {}


ANSWER = ResponseRow(
    *(1, "http://a.test/", "a.test", 0, 1, 1_700_000_000_500),
    *(None, 4, None, "digest", "warc", 0),
)


def stored(**fields: str) -> Any:
    named = {name.replace("_", "-"): value for name, value in fields.items()}
    return SimpleNamespace(headers={"content-type": "a", "x": "y"}, body=b"body", fields=named)


def test_a_page_has_the_headers_that_a_later_answer_has_changed() -> None:
    page = parse_task.page_of(ANSWER, stored())
    assert (page.url, page.body, page.announced) == (ANSWER.url, b"body", False)
    assert page.headers == {"content-type": "a", "x": "y"}
    assert page.fetched == datetime(2023, 11, 14, 22, 13, 20, 500_000, UTC)
    later = ANSWER._replace(headers="content-type: b\nz: w", announced=True)
    page = parse_task.page_of(later, stored())
    assert page.headers == {"content-type": "b", "x": "y", "z": "w"}
    assert page.announced is True


@pytest.mark.parametrize(
    ("fields", "address"),
    [
        ({"warc_ip_address": "192.0.2.1", "warc_target_uri": "http://a.test/x"}, "192.0.2.1"),
        ({"warc_ip_address": "192.0.2.1", "warc_target_uri": "http://b.test/"}, None),
        ({"warc_ip_address": "192.0.2.1"}, None),
        ({"warc_target_uri": "http://a.test/"}, None),
    ],
)
def test_the_address_of_a_host_is_in_its_own_records(
    fields: dict[str, str], address: str | None
) -> None:
    assert parse_task.address_of(ANSWER, stored(**fields)) == address
