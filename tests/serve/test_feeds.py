"""Feeds of queries, sites and pages: which entries they have, and that any reader can read them."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.index.changes.reading import ChangeLog
from gossamer.parse.listing.feed import parse_feed
from gossamer.search.searcher import Searcher
from gossamer.serve.feeds.feed_formats import FeedHead, encode_atom, encode_json
from gossamer.serve.feeds.newest_matches import FeedEntry, NewestMatches, Wanted
from gossamer.state.lookup import Lookup
from tests.support.changing_pages import GONE, HOST, harvest_pages
from tests.support.rows import NOW_MS
from tests.support.search_server import serving

if TYPE_CHECKING:
    from collections.abc import Callable

    import httpx

    from gossamer.parse.listing.feed_model import Feed
    from gossamer.search.messages import Question
    from gossamer.search.results import Results
    from gossamer.state.workspace import Workspace

ATOM = "{http://www.w3.org/2005/Atom}"
HOUR_MS = 3_600_000
HEAD = FeedHead("a <title> & more", "http://s/feed?q=a", "http://s/feed.atom?q=a", "http://s/")
MAX_MS = 253_402_300_799_000

texts = st.text(max_size=40)
entries = st.lists(
    st.builds(
        FeedEntry,
        url=st.integers(0, 10**6).map("http://a.example/{}?a=1&b=2".format),
        title=texts,
        snippet=texts,
        updated_ms=st.integers(0, MAX_MS),
        published_ms=st.none() | st.integers(-(10**15), 10**15),
        language=st.none() | st.sampled_from(["en", "de"]),
    ),
    max_size=5,
    unique_by=lambda entry: entry.url,
)


def printed(text: str) -> str:
    """The characters that people see. Atom has another one in place of each that XML refuses."""
    return "".join(char for char in text if char.isprintable() and char != "\ufffd")


def time_of(moment: datetime | None) -> int:
    assert moment is not None
    return round(moment.timestamp() * 1000)


@given(entries)
def test_any_entries_are_well_formed_atom(made: list[FeedEntry]) -> None:
    """RFC 4287, sections 4.1.1 and 4.1.2: what feeds and entries must have, each once."""
    feed = ET.fromstring(encode_atom(HEAD, made))  # noqa: S314  # our own
    for name in ("id", "title", "updated", "author"):
        assert len(feed.findall(ATOM + name)) == 1, name
    assert feed.findtext(f"{ATOM}id") == HEAD.name
    found = feed.findall(f"{ATOM}entry")
    assert [entry.findtext(f"{ATOM}id") for entry in found] == [each.url for each in made]
    for entry, each in zip(found, made, strict=True):
        for name in ("title", "updated", "summary"):
            assert len(entry.findall(ATOM + name)) == 1, name
        updated = datetime.fromisoformat(entry.findtext(f"{ATOM}updated") or "")
        assert time_of(updated) == each.updated_ms
        assert printed(each.title) == printed(entry.findtext(f"{ATOM}title") or "")


@given(entries)
def test_any_entries_are_a_json_feed(made: list[FeedEntry]) -> None:
    feed = json.loads(encode_json(HEAD, made))
    assert feed["version"] == "https://jsonfeed.org/version/1.1"
    assert feed["title"] == HEAD.title
    for item, each in zip(feed["items"], made, strict=True):
        assert (item["id"], item["title"], item["content_html"]) == (
            each.url,
            each.title,
            each.snippet,
        )
        assert time_of(datetime.fromisoformat(item["date_modified"])) == each.updated_ms


@given(entries)
def test_both_formats_say_the_same_to_a_feed_reader(made: list[FeedEntry]) -> None:
    atom, jsonfeed = (parse_feed(encode(HEAD, made)) for encode in (encode_atom, encode_json))
    assert atom is not None
    assert jsonfeed is not None
    assert [entry.url for entry in atom.entries] == [each.url for each in made]
    assert [entry.url for entry in jsonfeed.entries] == [each.url for each in made]
    for one, other in zip(atom.entries, jsonfeed.entries, strict=True):
        assert (one.updated, one.published) == (other.updated, other.published)


def test_a_query_with_or_is_restricted_to_its_site_as_a_whole() -> None:
    assert Wanted("a OR b", "a.example").text == "(a OR b) AND site:a.example"
    assert Wanted("", "a.example").text == "site:a.example"
    assert Wanted("a").text == "a"


HARVESTS: tuple[dict[str, str | None], ...] = (
    {"a": "red apples", "b": "green pears", "c": "dry plums", "d": "old apples"},
    {"a": "red and green apples", "b": "no more pears", "e": "sweet apples", "d": GONE},
)


@pytest.fixture(scope="module")
def client(new_work: Callable[[], Workspace]) -> Any:
    work = new_work()
    for number, pages in enumerate(HARVESTS, 1):
        work.clock_ms = NOW_MS + number * HOUR_MS
        harvest_pages(work, number, pages)
    with serving(work) as opened:
        yield opened


pytestmark = [pytest.mark.server, pytest.mark.engine]


def feed_of(client: httpx.Client, path: str = "/feed", **asked: str) -> Feed:
    answer = client.get(path, params=asked)
    assert answer.status_code == 200, answer.text
    found = parse_feed(answer.content)
    assert found is not None
    return found


def named(found: Feed) -> list[tuple[str, int]]:
    """The pages of a feed, with the number of the harvest that it says."""
    return [
        (
            (entry.url or "").removeprefix(f"http://{HOST}/"),
            (time_of(entry.updated) - NOW_MS) // HOUR_MS,
        )
        for entry in found.entries
    ]


@pytest.mark.parametrize("path", ["/feed.atom", "/feed.json"])
def test_a_feed_has_the_pages_that_match_the_newest_first(client: httpx.Client, path: str) -> None:
    assert named(feed_of(client, path, q="apples")) == [("a", 2), ("e", 2)]
    assert named(feed_of(client, path, q="plums OR pears")) == [("b", 2), ("c", 1)]
    assert named(feed_of(client, path, q="red apples")) == [("a", 2)]
    assert not named(feed_of(client, path, q="quinces"))


def test_a_site_a_page_and_the_whole_crawl_have_feeds(client: httpx.Client) -> None:
    every = [("a", 2), ("b", 2), ("e", 2), ("c", 1)]
    assert named(feed_of(client)) == every
    assert named(feed_of(client, site=HOST)) == every
    assert named(feed_of(client, site="example")) == every
    assert not named(feed_of(client, site="b.example", q="apples"))
    assert named(feed_of(client, q="apples OR plums", site=HOST)) == [("a", 2), ("e", 2), ("c", 1)]
    assert named(feed_of(client, url=f"http://{HOST}/c")) == [("c", 1)]


def test_the_format_is_that_of_the_path_the_parameter_or_the_reader(client: httpx.Client) -> None:
    asked = [
        ("/feed", {}, "*/*", "application/atom+xml"),
        ("/feed.json", {}, "*/*", "application/feed+json"),
        ("/feed", {"format": "json"}, "*/*", "application/feed+json"),
        ("/feed", {}, "application/feed+json, application/json;q=0.9", "application/feed+json"),
        ("/feed", {}, "application/atom+xml, application/json", "application/atom+xml"),
        ("/feed.atom", {}, "application/feed+json", "application/atom+xml"),
    ]
    for path, given_, accept, media_type in asked:
        answer = client.get(path, params=given_, headers={"Accept": accept})
        assert answer.headers["content-type"].startswith(media_type), (path, accept)
        assert answer.headers["vary"].startswith("Accept")
    assert client.get("/feed", params={"format": "rss"}).status_code == 400


def test_a_reader_that_has_the_feed_gets_304(client: httpx.Client) -> None:
    first = client.get("/feed", params={"q": "apples"})
    again = client.get(
        "/feed", params={"q": "apples"}, headers={"If-None-Match": first.headers["etag"]}
    )
    assert (again.status_code, again.content) == (304, b"")
    changed = datetime.fromtimestamp((NOW_MS + 2 * HOUR_MS) / 1000, UTC)
    assert first.headers["last-modified"] == changed.strftime("%a, %d %b %Y %H:%M:%S GMT")


@pytest.mark.parametrize("asked", [{"site": "a b"}, {"url": 'a"b'}, {"site": "a" * 300}])
def test_what_is_no_site_or_page_is_refused(client: httpx.Client, asked: dict[str, str]) -> None:
    answer = client.get("/feed", params=asked)
    assert answer.status_code == 400
    assert answer.headers["content-type"] == "application/problem+json"


def test_results_link_to_their_feed(client: httpx.Client) -> None:
    page = client.get("/search", params={"q": "red apples"}).text
    for ending, media_type in (("atom", "application/atom+xml"), ("json", "application/feed+json")):
        link = f'type="{media_type}" title="red apples" href="/feed.{ending}?q=red+apples"'
        assert link in page


def test_a_new_page_is_in_the_feed_after_its_harvest_and_others_keep_their_dates(
    new_work: Callable[[], Workspace],
) -> None:
    work = new_work()
    harvest_pages(work, 1, {"a": "red apples", "b": "green apples"})
    with serving(work) as client:
        before = client.get("/feed", params={"q": "apples"}).content
        for number in range(2, 5):
            work.clock_ms = work.now_ms() + HOUR_MS
            harvest_pages(
                work, number, {"a": "red apples", "b": "green apples", f"c{number}": "plums"}
            )
        unchanged = wait_for(client, "plums", 3)
        assert client.get("/feed", params={"q": "apples"}).content == before, unchanged
        harvest_pages(work, 5, {"n": "new apples"})
        wait_for(client, "new", 1)
        newest, *others = named(feed_of(client, q="apples"))
        assert newest == ("n", 3)
        assert [url for url, _ in others] == ["a", "b"]


def wait_for(client: httpx.Client, query: str, pages: int) -> int:
    """Ask until the server has opened the newest index, as it does within a second."""
    for _ in range(10_000):
        if (found := len(feed_of(client, q=query).entries)) == pages:
            return found
    raise AssertionError(query)


def test_a_feed_is_not_kept_that_an_older_index_has_answered(
    new_work: Callable[[], Workspace],
) -> None:
    """Search processes may open a newer index after the server has."""
    work = new_work()
    harvest_pages(work, 1, {"a": "red apples"})
    searcher = Searcher.open(work)
    asked: list[Question] = []

    class Late:
        async def search(self, question: Question, client: str) -> Results:  # noqa: ARG002
            asked.append(question)
            return searcher.answer(question)

    async def count(feeds: NewestMatches, state: str) -> int:
        before = len(asked)
        assert len(await feeds.entries(Wanted("apples"), state, "")) == 1
        return len(asked) - before

    async def ask() -> list[int]:
        feeds = NewestMatches(work, ChangeLog(work), Lookup(work), Late())
        return [await count(feeds, state) for state in ("newer", "newer", *[searcher.state] * 2)]

    assert asyncio.run(ask()) == [2, 2, 2, 0]


def test_feeds_take_turns_and_equal_ones_are_found_once(new_work: Callable[[], Workspace]) -> None:
    work = new_work()
    harvest_pages(work, 1, {"a": "red apples"})
    searcher = Searcher.open(work)
    asked: list[str] = []
    running = 0

    class Slow:
        async def search(self, question: Question, client: str) -> Results:
            nonlocal running
            running += 1
            assert running == 1
            await asyncio.sleep(0)
            running -= 1
            asked.append(client)
            return searcher.answer(question)

    async def ask() -> list[list[FeedEntry]]:
        feeds = NewestMatches(work, ChangeLog(work), Lookup(work), Slow())
        wanted = [
            (Wanted(f"apples {word}"), "greedy") for word in ("red", "kiwi", "plum", "fig", "red")
        ]
        wanted.append((Wanted("apples"), "polite"))
        return await asyncio.gather(
            *(feeds.entries(each, searcher.state, client) for each, client in wanted)
        )

    assert list(map(len, asyncio.run(ask()))) == [1, 0, 0, 0, 1, 1]
    assert asked == ["greedy"] * 2 + ["polite"] * 2 + ["greedy"] * 6
