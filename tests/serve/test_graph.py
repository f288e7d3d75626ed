"""Questions about the link graph, over HTTP, and the drawings of a page's neighbourhood."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from selectolax.lexbor import LexborHTMLParser

from gossamer.errors import StoreError
from gossamer.links import graph
from gossamer.links.graph.queries import LinkGraph, Neighbour, Neighbourhood
from gossamer.serve.drawing import link_map
from gossamer.serve.graphs import Graphs
from gossamer.serve.web import HEADERS
from gossamer.state.lookup import Lookup
from gossamer.state.workspace import Workspace
from gossamer.web.urls import normalize
from tests.support.crawled_links import crawl
from tests.support.search_server import dom, one, serving
from tests.support.stored_web import put_inlinks, put_pages

if TYPE_CHECKING:
    from collections.abc import Callable

    import httpx

pytestmark = pytest.mark.server

HOME = "http://a.org/"
HOSTILE = (
    normalize(
        "http://evil.org/%22onload=%22alert(1)%22%3E%3Cscript%3Ealert(1)%3C/script%3E?'&amp;<b>"
    )
    or ""
)
LINKS = [
    (HOME, "http://b.org/"),
    ("http://b.org/", HOME),
    ("http://c.org/", HOME),
    (HOME, HOSTILE),
    ("http://c.org/", "http://b.org/"),
]


def built(work: Workspace, links: list[tuple[str, str]] | None = None) -> Workspace:
    links = LINKS if links is None else links
    crawl(work, links)
    put_pages(work, {url: "fetched" for link in links for url in link})
    graph.run(work)
    return work


def asked(client: httpx.Client, what: str, **params: Any) -> Any:
    answer = client.get(f"/api/v1/graph/{what}", params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_links_are_answered_in_both_directions(work: Workspace) -> None:
    put_inlinks(built(work), HOME, [("http://c.org/", "words")], 2)
    with serving(work) as client:
        assert asked(client, "outlinks", url=HOME) == {
            "total": 2,
            "names": ["http://b.org/", HOSTILE],
        }
        assert asked(client, "outlinks", url=HOME, limit=1, offset=1)["names"] == [HOSTILE]
        assert asked(client, "inlinks", url=HOME) == {
            "total": 2,
            "links": [
                {"url": "http://b.org/", "anchor": None},
                {"url": "http://c.org/", "anchor": "words"},
            ],
        }
        hosts = asked(client, "inlinks", url="b.org", hosts=1)
        assert [link["url"] for link in hosts["links"]] == ["a.org", "c.org"]


def test_ways_common_pages_hosts_and_neighbourhoods_are_answered(work: Workspace) -> None:
    with serving(built(work)) as client:
        both = [HOME, "http://b.org/"]
        assert asked(client, "common", url=both)["names"] == ["http://c.org/"]
        assert asked(client, "common", url=["a.org", "c.org"], hosts=1, linked=1)["names"] == [
            "b.org"
        ]
        ends = {"from": "http://c.org/", "to": HOSTILE}
        assert asked(client, "path", **ends) == {"path": ["http://c.org/", HOME, HOSTILE]}
        assert asked(client, "path", **{"from": HOSTILE, "to": HOME}) == {"path": None}
        around = asked(client, "neighbourhood", url=HOME, limit=3)
        assert [page["name"] for page in around["pages"]][:2] == both
        assert (around["more_linking"], around["more_linked"]) == (0, 1)
        assert asked(client, "host", host="a.org")["hosts_linked"] == 2


@pytest.mark.parametrize(
    ("query", "status", "detail"),
    [
        ("outlinks", 400, "url is missing"),
        ("outlinks?url=http://unknown.org/", 404, "no page of this name"),
        ("inlinks?url=http://a.org/&hosts=1", 404, "no host of this name"),
        ("inlinks?url=http://a.org/&hosts=maybe", 400, "hosts must be one of"),
        ("inlinks?url=http://a.org/&limit=501", 400, "limit may be at most 500"),
        ("common?url=http://a.org/", 400, "give url=… twice to 8 times"),
        ("common?" + "url=http://a.org/&" * 9, 400, "give url=… twice to 8 times"),
        ("path?from=http://a.org/", 400, "to is missing"),
        ("neighbourhood?url=http://a.org/&depth=4", 400, "depth must be 1 to 3"),
        ("neighbourhood?url=http://a.org/&limit=201", 400, "limit must be 1 to 200"),
        ("host?host=unknown.org", 404, "no host of this name"),
    ],
)
def test_what_is_refused_as_a_problem(
    work: Workspace, query: str, status: int, detail: str
) -> None:
    with serving(built(work)) as client:
        answer = client.get(f"/api/v1/graph/{query}")
        assert answer.status_code == status
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["detail"].startswith(detail)


def test_what_would_take_too_long_is_refused(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    for bound in ("MAX_VISITED", "MAX_HOST_PAGES"):
        monkeypatch.setattr(f"gossamer.serve.web.graph_routes.{bound}", 0)
    with serving(built(work)) as client:
        for what, params, detail in (
            ("path", {"from": "http://c.org/", "to": HOSTILE}, "none was found among 0 nodes"),
            ("host", {"host": "a.org"}, "has 1 pages"),
        ):
            answer = client.get(f"/api/v1/graph/{what}", params=params)
            assert (answer.status_code, answer.json()["detail"][: len(detail)]) == (422, detail)


def test_a_crawl_without_a_graph_says_so_until_there_is_one(work: Workspace) -> None:
    put_pages(work, {HOME: "fetched"})
    with serving(Workspace.open(work.root)) as client:
        answer = client.get("/api/v1/graph/outlinks", params={"url": HOME})
        assert (answer.status_code, "gossamer graph build" in answer.json()["detail"]) == (
            503,
            True,
        )
        assert not dom(client, "/page", url=HOME).css("svg.map")
        assert not dom(client, "/status").css("svg.plot")
        built(work)
        assert asked(client, "outlinks", url=HOME)["total"] == 2
        assert dom(client, "/page", url=HOME).css("svg.map")
        assert len(dom(client, "/status").css("svg.plot")) == 2


def _remove(path: Path) -> None:
    path.unlink()


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


@pytest.mark.folder
@pytest.mark.parametrize("damage", [_remove, _cut])
def test_a_damaged_graph_is_an_error_of_the_api_and_the_pages_go_on(
    work: Workspace, damage: Callable[[Path], None]
) -> None:
    built(work)
    for file in work.store.files("graph"):
        damage(Path(work.root, file.path))
    with serving(Workspace.open(work.root)) as client:
        answer = client.get("/api/v1/graph/inlinks", params={"url": HOME})
        assert answer.status_code == 503
        assert answer.headers["content-type"] == "application/problem+json"
        assert client.get("/page", params={"url": HOME}).status_code == 200
        assert client.get("/status").status_code == 200


def test_a_graph_that_is_replaced_while_it_is_asked_is_asked_again(work: Workspace) -> None:
    served = Workspace.open(built(work).root)
    graphs = Graphs(served, Lookup(served))
    seen: list[LinkGraph] = []

    def question(found: LinkGraph) -> int:
        seen.append(found)
        if len(seen) == 1:
            built(work, [(HOME, "http://new.org/")])
            raise StoreError("a file", "is gone")
        return found.outlinks(HOME).total

    assert graphs.ask("page", question) == 3
    assert seen[0] is not seen[1]
    assert graphs.ask("page", lambda found: found) is seen[1]


@pytest.mark.folder
def test_the_last_graph_is_served_while_a_newer_one_is_damaged(
    work: Workspace, caplog: pytest.LogCaptureFixture
) -> None:
    served = Workspace.open(built(work).root)
    graphs = Graphs(served, Lookup(served))
    assert graphs.ask("page", lambda found: found.outlinks(HOME).total) == 2
    graph.run(work)
    for file in work.store.files("graph"):
        Path(work.root, file.path).unlink()
    assert graphs.ask("page", lambda found: found.outlinks(HOME).total) == 2
    assert "still serving the previous link graph" in caplog.text


def test_a_page_shows_its_neighbours_as_links(work: Workspace) -> None:
    with serving(built(work)) as client:
        answer = client.get("/page", params={"url": HOME})
        assert answer.headers["content-security-policy"] == HEADERS["content-security-policy"]
        shown = LexborHTMLParser(answer.text)
        for name in ("columns", "line"):
            links = shown.css(f"svg.{name} a")
            assert len(links) == 3
            for link in links:
                href = link.attributes["href"] or ""
                assert client.get(href).status_code == 200
        assert not shown.css("main script, main style, [onload], [style]")
        assert one(shown, "svg.columns .here text").text() == "a.org"
        assert len(shown.css("svg.columns path[marker-start]")) == 1


def around(linking: int, linked: int, more: int = 0) -> Neighbourhood:
    pages = [Neighbour(HOME, linking, linked, 0, 0)]
    pages += [Neighbour(f"{HOME}in/{n}", n, 1, 1, None) for n in range(linking)]
    pages += [Neighbour(f"{HOME}out/{n}", n, 1, None, 1) for n in range(linked)]
    links = [(n, 0) for n in range(1, linking + 1)]
    links += [(0, n + linking) for n in range(1, linked + 1)]
    return Neighbourhood(pages, links, more, more)


def labels(drawn: str) -> list[str]:
    return [text.text() for text in LexborHTMLParser(drawn).css("text")]


@pytest.mark.parametrize("draw", [link_map.draw_columns, link_map.line])
def test_a_drawing_has_every_page_once_and_counts_the_others(
    draw: Callable[[Neighbourhood, Callable[[str], str]], str],
) -> None:
    few = draw(around(0, 1), str)
    assert sorted(filter(None, labels(few))) == ["/out/0", "a.org", "linked from here"]
    many = labels(draw(around(16, 16, 1_000), str))
    assert len([text for text in many if text.startswith("/")]) == 32
    assert many.count("and 1,000 more") == 2
    places = {
        (circle.attributes["cx"], circle.attributes["cy"])
        for circle in LexborHTMLParser(draw(around(16, 16), str)).css("circle")
    }
    assert len(places) == 33


def test_names_of_strangers_stay_text() -> None:
    name = 'http://evil.org/"onload="alert(1)"><script>alert(1)</script>\'&amp;'
    found = Neighbourhood([*around(0, 0).pages, Neighbour(name, 0, 0, None, 1)], [(0, 1)], 0, 0)
    drawn = LexborHTMLParser(link_map.draw_columns(found, str))
    assert not drawn.css("script, [onload]")
    assert one(drawn, "a").attributes == {"href": name}
    assert one(drawn, "a text").text().endswith("</script>'&amp;")


def test_pages_that_link_both_ways_stand_on_the_emptier_side() -> None:
    pages = [Neighbour(HOME, 9, 9, 0, 0), Neighbour(f"{HOME}out", 1, 0, None, 1)]
    pages += [Neighbour(f"{HOME}{n}", 1, 1, 1, 1) for n in range(3)]
    both = [(0, n) for n in range(1, 5)] + [(n, 0) for n in range(2, 5)]
    drawn = LexborHTMLParser(link_map.draw_columns(Neighbourhood(pages, both, 0, 0), str))
    sides = [text.attributes["text-anchor"] for text in drawn.css("a text")]
    assert sorted(filter(None, sides)) == ["end", "end", "start", "start"]
    assert len(drawn.css("path.spoke")) == 4


def test_too_many_links_between_neighbours_are_not_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    found = around(0, 4)
    found = Neighbourhood(found.pages, [*found.links, (1, 2), (3, 4), (4, 3)], 0, 0)
    drawn = LexborHTMLParser(link_map.draw_columns(found, str))
    assert len(drawn.css("path.cross")) == 2
    monkeypatch.setattr(link_map, "MAX_CROSS_LINKS", 2)
    drawn = LexborHTMLParser(link_map.draw_columns(found, str))
    assert not drawn.css("path.cross")
    assert len(drawn.css("path.spoke")) == 4


@pytest.mark.parametrize(
    ("name", "label"),
    [
        (f"{HOME}x/y", "/x/y"),
        ("https://a.org/x", "a.org/x"),
        ("http://b.org/", "b.org"),
        ("b.org", "b.org"),
        (f"{HOME}%E4%BD%A0", "/你"),
        (f"{HOME}%00%E2%80%AEx", "/\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}x"),
        (f"{HOME}{'step/' * 20}end", "/step/s…step/step/end"),
        (f"{HOME}{'你' * 50}", "/你你你…" + "你" * 6),
    ],
)
def test_labels_are_short_and_can_be_read(name: str, label: str) -> None:
    assert link_map.shorten_url(name, HOME, 21)[: len(label)] == label
