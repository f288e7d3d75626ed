"""`gossamer duplicates show`, and what `inspect --stored` and `search` print about duplicates."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.support.command_line import gossamer
from tests.support.standing_pages import COPY, NEW, OLD, put_standing, standing
from tests.support.stored_rounds import HOME, Fetched
from tests.support.stored_web import put_pages, put_rows, store_and_parse

if TYPE_CHECKING:
    from gossamer.state.workspace import Workspace

pytestmark = pytest.mark.usefixtures("shared_parsers")
OLDER = OLD.replace("3.9", "2.7")
HOSTILE = "http://a.example/\x1b[2J"


@pytest.fixture
def crawl(work: Workspace) -> str:
    copies = [
        (COPY, "near", 0.917),
        (HOSTILE, "text", 1.0),
        (OLDER, "version", None),
        (OLD, "version", 0.5),
    ]
    put_standing(work, copies)
    put_rows(work, "responses", [{"url": f"{NEW}/", "outcome": "redirect", "redirect_url": NEW}])
    put_rows(work, "pages", [{"url": "http://a.example/new", "status": "fetched", "stored_ms": 1}])
    put_pages(work, {"http://a.example/gone": "gone"})
    return work.root


def test_what_a_page_stands_for(crawl: str) -> None:
    said = gossamer("duplicates", "show", crawl, NEW.upper().replace("/RE", "/re"))
    assert said.stdout.splitlines() == [
        f"{NEW} is in the index",
        "2 older versions, the newest first",
        f"   50 %  3.9                   {OLD}",
        f"         2.7                   {OLDER}",
        "3 other addresses",
        f"   91 %  nearly the same text  {COPY}",
        "  100 %  same text             http://a.example/\ufffd[2J",
        "  and 1 more, which are not recorded by name",
        "redirects from",
        f"  {NEW}/",
    ]


def test_what_stands_for_a_page(crawl: str) -> None:
    said = gossamer("duplicates", "show", crawl, OLD)
    why = "it is an older version of that page"
    assert said.stdout == f"{OLD} is not in the index: {NEW} stands for it: {why}\n"
    found = json.loads(gossamer("duplicates", "show", crawl, OLD, "--json").stdout)
    assert (found["url"], found["survivor"], found["reason"]) == (OLD, NEW, "version")
    assert (found["disposition"], found["redirects"]) == ("dropped_duplicate", [])
    versions = json.loads(gossamer("duplicates", "show", crawl, NEW, "--json").stdout)["versions"]
    assert [each["version"] for each in versions] == ["3.9", "2.7"]


def test_one_of_each(work: Workspace) -> None:
    put_standing(work, [(OLD, "version", 0.5)])
    printed = gossamer("duplicates", "show", work.root, NEW).stdout
    assert "1 older version\n" in printed
    assert "1 other address\n" in printed


def test_pages_of_which_nothing_is_known(crawl: str) -> None:
    unknown = gossamer("duplicates", "show", crawl, "http://b.example/", code=1).stderr
    assert "http://b.example/: is not in the crawl: " in unknown
    unseen = gossamer("duplicates", "show", crawl, "http://a.example/new", code=1).stderr
    assert f"gossamer dedup {crawl}" in unseen
    gone = gossamer("duplicates", "show", crawl, "http://a.example/gone", code=1).stderr
    assert f"gossamer explain {crawl} http://a.example/gone" in gone
    assert "is not a URL" in gossamer("duplicates", "show", crawl, "mailto:x", code=1).stderr


def test_a_stored_page_with_its_duplicates(work: Workspace) -> None:
    store_and_parse(work, [Fetched(HOME, b"<title>A rose</title><p>It is a plant.")])
    asked = ("inspect", HOME, "--crawl", work.root, "--stored")
    assert json.loads(gossamer(*asked, "--json").stdout)["duplicates"]["disposition"] is None
    copies = [{"url": f"{HOME}{n}", "reason": "text", "similarity": 1.0} for n in range(7)]
    row = standing(HOME, copies=copies, copy_count=9)
    put_rows(work, "dispositions", [row])
    found = json.loads(gossamer(*asked, "--json").stdout)["duplicates"]
    assert (found["copies_total"], len(found["copies"])) == (9, 7)
    printed = gossamer(*asked).stdout
    assert f"{HOME}4 (same text)" in printed
    assert f"{HOME}5" not in printed
    assert "… and 4 more: gossamer duplicates show" in printed


def test_a_stored_page_that_is_not_indexed(work: Workspace) -> None:
    store_and_parse(work, [Fetched(HOME, b"<title>A rose</title><p>It is a plant.")])
    put_rows(work, "dispositions", [standing(HOME, disposition="dropped_noindex")])
    printed = gossamer("inspect", HOME, "--crawl", work.root, "--stored").stdout
    assert "it asks search engines to leave it out (noindex)" in " ".join(printed.split())
