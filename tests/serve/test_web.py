from __future__ import annotations

import signal
import socket
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from gossamer import config
from gossamer.errors import UsageError
from gossamer.search.query_text import MAX_QUERY_CHARS
from gossamer.serve import web
from gossamer.serve.step import serve
from gossamer.serve.web import search_routes
from gossamer.state.heartbeats import Heartbeat
from tests.support.search_server import EVIL, client, dom, one, serving
from tests.support.small_index import crawl, put_index

pytestmark = pytest.mark.server

__all__ = ["client"]


def value(page: LexborHTMLParser) -> str:
    """The text in the search box."""
    return one(page, "input[name=q]").attributes["value"] or ""


def test_home_has_the_box_and_the_number_of_pages(client: httpx.Client) -> None:
    page = dom(client, "/")
    (box,) = page.css("form[action='/search'] input[name=q]")
    assert "autofocus" in box.attributes
    assert "27 pages" in one(page, "main").text()


def test_results(client: httpx.Client) -> None:
    page = dom(client, "/search", q="red apple")
    hits = page.css(".hits article")
    assert len(hits) == 10
    assert "25 pages" in one(page, ".count").text()
    assert "http://a.example/apple/" in (one(hits[0], "h2 a").attributes["href"] or "")
    assert [mark.text() for mark in hits[0].css(".snippet b")] == ["red", "apple"]
    assert [crumb.text() for crumb in hits[0].css(".crumbs bdi")][:2] == ["a.example", "apple"]
    assert one(hits[0], "time").text() == "2027-01-15"
    assert value(page) == "red apple"


def test_results_are_paged(client: httpx.Client) -> None:
    seen: set[str | None] = set()
    for number in (1, 2, 3):
        page = dom(client, "/search", q="apple", page=number)
        links = {link.attributes["href"] for link in page.css(".hits h2 a")}
        assert not links & seen
        seen |= links
        assert one(page, "[aria-current=page]").text() == str(number)
        assert bool(page.css("[rel=prev]")) == (number > 1)
        assert bool(page.css("[rel=next]")) == (number < 3)
    assert len(seen) == 25


@pytest.mark.parametrize("number", ["0", "-1", "x", "", "9" * 50, "³"])
def test_a_page_number_that_makes_no_sense_is_taken_for_one_that_does(
    client: httpx.Client, number: str
) -> None:
    assert client.get("/search", params={"q": "apple", "page": number}).status_code == 200


def test_nothing_found_says_what_to_do(client: httpx.Client) -> None:
    page = dom(client, "/search", q="spaceship")
    assert "No page found" in one(page, "h2").text()


def test_corrected_results_link_to_those_of_the_words_as_typed(client: httpx.Client) -> None:
    hint = one(page := dom(client, "/search", q="red appel"), ".hint")
    assert one(hint, "strong").text() == "red apple"
    assert len(page.css(".hits article")) == 10
    assert value(page) == "red appel"
    verbatim = one(hint, "a").attributes["href"] or ""
    page = LexborHTMLParser(client.get(verbatim).text)
    assert "some of them" in one(page, ".hint + .hint").text()
    assert client.get("/api/v1/search", params={"q": "appel"}).json()["corrected"] == "apple"
    asked = {"q": "appel", "verbatim": "1"}
    assert client.get("/api/v1/search", params=asked).json()["total"] == 0


def test_what_strangers_write_stays_text(client: httpx.Client) -> None:
    for path in ("/search", "/status", "/"):
        page = dom(client, path, q="pear")
        assert all((script.attributes.get("src") or "").startswith("/static/")
                   for script in page.css("script"))  # fmt: skip
        assert not page.css("[onclick]")
    hit = one(dom(client, "/search", q="pear"), ".hits article")
    assert one(hit, "h2 a").text() == EVIL
    assert EVIL in one(hit, ".snippet").text()
    assert one(hit, ".crumbs").text() == "b.example›<script>"
    typed = dom(client, "/search", q=EVIL)
    assert value(typed) == EVIL
    assert not typed.css("main script, [onclick]")


def test_links_lead_only_to_http_and_https(client: httpx.Client) -> None:
    hit = one(dom(client, "/search", q="trap"), ".hits h2 a")
    assert hit.attributes["href"] == "#"


@pytest.mark.parametrize("path", ["/", "/search?q=apple", "/api/v1/status", "/nope", "/static/x"])
def test_every_answer_has_the_security_headers(client: httpx.Client, path: str) -> None:
    headers = client.get(path).headers
    assert {name: headers[name] for name in web.HEADERS} == web.HEADERS
    assert "unsafe" not in headers["content-security-policy"]


def test_a_browser_resolves_no_name_of_a_result(client: httpx.Client) -> None:
    for path in ("/search?q=apple", "/page?url=http://a.example/"):
        assert client.get(path).headers["x-dns-prefetch-control"] == "off"


def test_pages_have_no_inline_script_or_style(client: httpx.Client) -> None:
    for path in ("/", "/search?q=apple", "/status", "/nope"):
        page = LexborHTMLParser(client.get(path).text)
        assert not page.css("style, [style], script:not([src])")
        for linked in page.css("script, link, img"):
            source = linked.attributes.get("src") or linked.attributes["href"]
            assert client.get(str(source)).status_code == 200


def test_api_search(client: httpx.Client) -> None:
    results = client.get("/api/v1/search", params={"q": "apple", "offset": 20, "limit": 10}).json()
    assert results["total"] == 25
    assert len(results["hits"]) == 5
    assert set(results["hits"][0]) == {
        "url", "title", "snippet", "score", "host", "fetched_ms", "rank", "language", "kind",
        "image", "date_ms", "copies", "versions", "partial", "more", "near", "explanation",
        "provenance",
    }  # fmt: skip
    assert not results["relaxed"]
    assert results["facets"] == {}


@pytest.mark.parametrize("limit", [1, 7, 10, 25, 100])
def test_links_to_the_next_part_lead_to_each_page_once(client: httpx.Client, limit: int) -> None:
    answer = client.get("/api/v1/search", params={"q": "apple", "limit": limit, "sort": "date"})
    at_once = client.get("/api/v1/search?q=apple&limit=25&sort=date").json()
    parts = [answer]
    while "next" in answer.links:
        answer = client.get(answer.url.join(answer.links["next"]["url"]))
        assert answer.url.params["state"] == at_once["state"]
        parts.append(answer)
    assert len(parts) == -(-25 // limit)
    assert [hit["url"] for part in parts for hit in part.json()["hits"]] == [
        hit["url"] for hit in at_once["hits"]
    ]


def test_no_link_leads_beyond_the_last_result_that_may_be_asked_for(client: httpx.Client) -> None:
    for asked in ("offset=9990&limit=10", "offset=30", "limit=0", "q=nothing"):
        assert client.get(f"/api/v1/search?q=apple&{asked}").links == {}


def test_a_link_to_the_next_part_is_short_enough_for_proxies(client: httpx.Client) -> None:
    for words in (100, 1_000):
        answer = client.get("/api/v1/search", params={"q": "apple " * words, "limit": 1})
        assert answer.json()["reachable"] > 1
        assert len(answer.headers.get("link", "")) <= search_routes.MAX_LINK_CHARS
        assert bool(answer.links) is (words == 100)


def test_api_facets_and_explanations(client: httpx.Client) -> None:
    asked = {"q": "apple", "facets": "true", "explain": "1", "sort": "relevance"}
    results = client.get("/api/v1/search", params=asked).json()
    assert results["facets"]["host"] == [{"value": "a.example", "pages": 25}]
    explanation = results["hits"][0]["explanation"]
    assert explanation["words"]["value"] == pytest.approx(results["hits"][0]["score"])


@pytest.mark.parametrize(
    ("accepted", "host"),
    [
        ("de-AT, en;q=0.5", "de.example"),
        ("en", "en.example"),
        ("ja", "ja.example"),
        ("zh-Hans-CN, ja", "zh.example"),
        ("*", None),
    ],
)
def test_pages_in_the_language_of_the_browser_come_first(
    tmp_path: Path, accepted: str, host: str | None
) -> None:
    work = crawl(tmp_path)
    shelf = [
        {"url": f"http://{language}.example/", "title": "Printer", "language": language}
        for language in ("en", "de", "ja", "zh")
    ]
    put_index(work, shelf)
    with serving(work) as client:
        given = {"accept-language": accepted}
        page = client.get("/search", params={"q": "printer"}, headers=given).text
        first = one(LexborHTMLParser(page), ".hits h2 a").attributes["href"] or ""
        assert host is None or host in first
        asked = {"q": "printer", "language": "de"}
        hits = client.get("/api/v1/search", params=asked, headers=given).json()["hits"]
        assert hits[0]["host"] == "de.example"


def test_links_of_a_page_keep_the_language(client: httpx.Client) -> None:
    page = dom(client, "/search", q="apple", language="de")
    links = [each.attributes["href"] or "" for each in page.css("#narrow a[href^='/search']")]
    assert links
    assert all("language=de" in link for link in links)


def test_completions(client: httpx.Client) -> None:
    found = client.get("/api/v1/complete", params={"q": "appl"}).json()
    assert found == {"query": "appl", "completions": ["apple"]}
    assert client.get("/suggest", params={"q": "a red appl"}).json() == ["a red appl", []]
    assert client.get("/suggest", params={"q": "1 appl"}).json() == ["1 appl", ["1 apple"]]


@pytest.mark.parametrize(
    ("query", "detail"),
    [
        ("", "q is missing"),
        ("q=a&limit=101", "limit may be at most 100"),
        ("q=a&limit=x", "limit must be a whole number"),
        ("q=a&offset=-1", "offset must be a whole number"),
        ("q=a&offset=", "offset must be a whole number"),
        ("q=a&offset=" + "9" * 5000, "offset must be a whole number"),
        ("q=a&sort=size", "sort must be one of relevance, date"),
        ("q=a&facets=yes", "facets must be one of 0, 1"),
        ("q=a&profile=best", "profile must be one of fields, content-pagerank, cosine"),
        ("q=a&offset=9991&limit=10", "offset + limit may be at most 10000"),
    ],
)
def test_what_the_api_refuses(client: httpx.Client, query: str, detail: str) -> None:
    answer = client.get(f"/api/v1/search?{query}")
    assert answer.status_code == 400
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["status"] == 400
    assert answer.json()["detail"].startswith(detail)


def test_errors_have_the_form_of_what_was_asked(client: httpx.Client) -> None:
    assert client.get("/api/v1/nope").json()["title"] == "Not Found"
    assert "Not Found" in one(dom(client, "/nope", 404), "main").text()
    assert client.post("/search").status_code == 405


@settings(deadline=None)
@given(query=st.text(max_size=80))
def test_any_query_is_answered(client: httpx.Client, query: str) -> None:
    params = {"q": query.encode("utf-8", "replace").decode()}
    assert client.get("/search", params=params).status_code == 200
    assert client.get("/api/v1/search", params=params).status_code == 200


@settings(deadline=None)
@given(query=st.binary(max_size=40))
def test_any_bytes_are_answered(client: httpx.Client, query: bytes) -> None:
    encoded = "".join(f"%{byte:02x}" for byte in query)
    assert client.get(f"/search?q={encoded}&page={encoded}").status_code == 200


def test_a_long_query_is_cut(client: httpx.Client) -> None:
    page = dom(client, "/search", q="apple " * 2000)
    assert len(value(page)) == MAX_QUERY_CHARS


def test_without_an_index_the_page_says_what_to_do(tmp_path: Path) -> None:
    work = crawl(tmp_path / "new")
    with serving(work) as client:
        for path in ("/", "/search?q=apple"):
            page = dom(client, path)
            assert f"gossamer harvest {work.root}" == one(page, "pre").text()
        assert client.get("/status").status_code == 200
        assert client.get("/health").status_code == 503
        assert client.get("/api/v1/search?q=a").json()["status"] == 503
        with work.store.lock():
            for path in ("/", "/search?q=apple"):
                page = dom(client, path)
                assert "under way" in one(page, "main").text()
                assert one(page, "meta[http-equiv=refresh]").attributes["content"] == "3"
        assert not dom(client, "/").css("meta[http-equiv=refresh]")


def test_an_index_without_its_files_is_reported_with_the_remedy(tmp_path: Path) -> None:
    work = crawl(tmp_path / "crawl")
    put_index(work, [{"url": "http://a.example/", "title": "a"}])
    for file in work.store.manifest.layers("index")[0].files:
        Path(work.root, file.path).unlink()
    with serving(work) as client:
        assert "it is gone" in one(dom(client, "/", 503), "main").text()
        assert (
            client.get("/api/v1/search?q=a").headers["content-type"] == "application/problem+json"
        )


def test_an_internal_error_is_reported_without_details(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = crawl(tmp_path / "crawl")

    def fail() -> None:
        raise ZeroDivisionError(EVIL)

    monkeypatch.setattr(work.store, "refresh", fail)
    with serving(work) as client:
        client.headers["connection"] = "close"  # after a defect the server closes it anyway
        answer = client.get("/api/v1/status")
        assert answer.status_code == 500
        assert answer.json()["title"] == "Internal Server Error"
        assert {name: answer.headers[name] for name in web.HEADERS} == web.HEADERS
        page = client.get("/status")
        assert page.status_code == 500
        assert "alert" not in page.text


def test_status_shows_steps_and_tasks(tmp_path: Path) -> None:
    work = crawl(tmp_path / "crawl")
    put_index(work, [{"url": "http://a.example/", "title": "a"}])
    heartbeat = Heartbeat(work.root, "fetch", 1, "<i>7", 100)
    heartbeat.beat(25)
    with serving(work) as client:
        page = dom(client, "/status")
        bar = one(page, "progress")
        assert (bar.attributes["value"], bar.attributes["max"]) == ("25", "100")
        assert "<i>7" in one(page, "main").text()
        assert "indexed 1" in one(page, "main").text()
        status = client.get("/api/v1/status").json()
        assert status["steps"][-1]["step"] == "index"
        assert status["tasks"][0]["done"] == 25


def test_status_shows_what_was_refused(tmp_path: Path) -> None:
    work = crawl(tmp_path / "crawl")
    with serving(work) as client:
        assert "No URL has been refused yet" in one(dom(client, "/status"), "main").text()
        with work.step("parse", 1) as draft:
            draft.counts.update(links=9, dropped_path_segments=1_234, dropped_scope=5)
        rows = [row.text(separator=" ").split() for row in dom(client, "/status").css("tr")]
        assert ["path", "segments", "1,234"] in rows
        assert client.get("/api/v1/status").json()["refused"] == {
            "path_segments": 1_234,
            "scope": 5,
        }


@pytest.mark.parametrize(
    ("name", "status"),
    [("localhost:80", 200), ("[::1]:8080", 200), ("evil.example", 400), ("127.0.0.1.x", 400)],
)
def test_only_our_own_names_are_answered_to(client: httpx.Client, name: str, status: int) -> None:
    answer = client.get("/api/v1/search?q=apple", headers={"host": name})
    assert answer.status_code == status
    assert ("serve.names" in answer.text) == (status == 400)


def test_names_of_the_settings_are_answered_to(tmp_path: Path) -> None:
    work = crawl(tmp_path / "crawl")
    names = 'serve.names = ["Search.example", "*.below.example", "[::2]"]'
    work.config = config.loads(names, "gossamer.toml")
    put_index(work, [{"url": "http://a.example/", "title": "a"}])
    with serving(work) as client:
        for name in ("search.EXAMPLE:81", "a.b.below.example", "[::2]:80"):
            assert client.get("/", headers={"host": name}).status_code == 200, name
        for name in (
            "below.example",
            "xbelow.example",
            "[",
            "x@search.example",
            "search.example/x",
        ):
            assert client.get("/", headers={"host": name}).status_code == 400, name


def test_serve_prints_its_url_and_ends_on_ctrl_c(tmp_path: Path) -> None:
    work = crawl(tmp_path / "crawl")
    put_index(work, [{"url": "http://a.example/", "title": "apple"}])
    program = (
        "import sys; from gossamer.serve.step import serve;"
        "from gossamer.state.workspace import Workspace;"
        "serve(Workspace.open(sys.argv[1]), '127.0.0.1', 0)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, work.root], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        assert httpx.get(f"{url}api/v1/search?q=apple").json()["total"] == 1
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0


def test_an_address_in_use_is_a_usage_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before any process is started, which would find nobody when it is ready."""
    work = crawl(tmp_path)
    work.config = config.loads("serve.processes = 2", "gossamer.toml")
    started = Mock()
    monkeypatch.setattr("gossamer.serve.step.Children", started)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match=f"127.0.0.1:{port}: cannot listen: Address"):
            serve(work, "127.0.0.1", port)
    assert not started.called
