"""Front ends of others: Open WebUI's requests, instant results, and which sites may read them."""

from __future__ import annotations

import socket
from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer import config
from gossamer.config import ServeConfig
from gossamer.errors import ConfigError
from gossamer.serve.mcp.tokens import new_token
from gossamer.serve.web.embed_routes import SCRIPT
from gossamer.serve.web.responses import snippet_parts
from tests.support.asgi_requests import application, get
from tests.support.search_server import refusals, serving
from tests.support.small_index import crawl, put_index

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import httpx

    from gossamer.state.workspace import Workspace

pytestmark = pytest.mark.server

ORIGIN = "https://www.example.org"
PAGES: list[dict[str, Any]] = [
    {"url": "https://a.example/1", "title": "Äpfel & <b>", "text": "Äpfel & <b> sind rund."},
    {"url": "https://a.example/2", "title": "Install", "text": "To install is easy."},
    {"url": "https://a.example/3", "title": "Installation", "text": "An installation guide."},
    {"url": "https://b.example/4", "title": "Installer", "text": "The installer of a guide."},
    {"url": "https://b.example/docs/5", "title": "Inst", "text": "The inst folder."},
    {"url": "https://b.example/6", "title": "", "text": "untitled"},
]
FROM_OPEN_WEBUI = (
    b"POST /open-webui HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n"
    b"User-Agent: Open WebUI (https://github.com/open-webui/open-webui) RAG Bot\r\n"
    b"Accept-Encoding: gzip, deflate\r\nAccept: */*\r\nConnection: keep-alive\r\n"
    b"Authorization: Bearer %b\r\nX-OpenWebUI-Chat-Id: c1\r\nContent-Length: %d\r\n"
    b"Content-Type: application/json\r\n\r\n%b"
)
"""What Open WebUI 0.12.4 sends, byte for byte: port, token, and length of the body."""
BODY = b'{"query": "\\u00c4pfel", "count": 3}'


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    opened = crawl(tmp_path_factory.mktemp("crawl"))
    put_index(opened, PAGES)
    opened.config = config.loads(f'serve.origins = ["{ORIGIN}"]', "gossamer.toml")
    return opened


@pytest.fixture(scope="module")
def client(work: Workspace) -> Iterator[httpx.Client]:
    with serving(work) as opened:
        yield opened


def sent(client: httpx.Client, token: str = "") -> tuple[int, Any]:
    """Status and content of the answer to Open WebUI's request."""
    port = client.base_url.port
    assert port is not None
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(FROM_OPEN_WEBUI % (port, token.encode(), len(BODY), BODY))
        with connection.makefile("rb") as received:
            status = int(received.readline().split()[1])
            heads = iter(received.readline, b"\r\n")
            length = next(int(head[15:]) for head in heads if head.startswith(b"content-length:"))
            while received.readline() != b"\r\n":
                pass
            return status, msgspec.json.decode(received.read(length))


def test_open_webui_is_answered(client: httpx.Client) -> None:
    text = "Äpfel & <b> sind rund."
    found = [{"link": "https://a.example/1", "title": "Äpfel & <b>", "snippet": text}]
    assert sent(client) == (200, found)


def test_open_webui_gets_at_most_the_results_that_it_asks_for(client: httpx.Client) -> None:
    for count, most in ((0, 0), (1, 1), (10**9, 6)):
        asked = {"query": "install OR installation OR untitled", "count": count}
        found = client.post("/open-webui", json=asked).json()
        assert len(found) == min(most, 3)
    assert {"https://b.example/6"} < {each["title"] for each in found}


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"{}", b'{"query": 1}', b'{"query": "\xff"}'])
def test_a_request_that_is_not_open_webuis_is_refused(client: httpx.Client, body: bytes) -> None:
    answer = client.post("/open-webui", content=body)
    assert answer.status_code == 400
    assert answer.headers["content-type"] == "application/problem+json"


def test_only_programs_on_this_machine_search_without_a_token(client: httpx.Client) -> None:
    for headers in ({"x-forwarded-for": "192.0.2.1"}, {"origin": "https://evil.example"}):
        answer = client.post("/open-webui", content=BODY, headers=headers)
        assert answer.status_code == 403
        assert "/open-webui" in answer.json()["detail"]
    assert client.get("/open-webui").status_code == 405


def test_a_token_is_asked_for_and_counts_for_all_doors(tmp_path: Path) -> None:
    work = crawl(tmp_path / "crawl")
    put_index(work, PAGES)
    made = new_token("chat")
    (tmp_path / "crawl" / "tokens").write_text(made.line)
    settings = 'serve.mcp_tokens = "tokens"\nserve.mcp_calls_per_minute = 4'
    work.config = config.loads(settings, "gossamer.toml")
    with serving(work) as client:
        assert sent(client, "wrong")[0] == 401
        assert sent(client, made.token)[0] == 200
        assert client.post("/mcp", headers={"authorization": f"Bearer {made.token}"})
        assert sent(client, made.token)[0] == 429
        assert refusals(client, "mcp") == 2


def test_a_switch_closes_all_doors(tmp_path: Path) -> None:
    work = crawl(tmp_path / "crawl")
    put_index(work, PAGES)
    work.config = config.loads("serve.mcp = false", "gossamer.toml")
    with serving(work) as client:
        assert client.post("/open-webui", content=BODY).status_code == 404


def instant(client: httpx.Client, q: str, **given: Any) -> list[str]:
    answer = client.get("/api/v1/instant", params={"q": q, **given})
    assert answer.status_code == 200, answer.text
    return [hit["title"] for hit in answer.json()["hits"]]


def test_a_word_that_is_being_typed_may_be_a_part_of_another(client: httpx.Client) -> None:
    assert sorted(instant(client, "insta")) == ["Install", "Installation", "Installer"]
    assert instant(client, "inst")[0] == "Inst"
    assert len(instant(client, "inst")) == 4
    assert len(instant(client, "inst", limit=2)) == 2
    assert instant(client, "inst ") == ["Inst"]
    assert sorted(instant(client, "guide inst")) == ["Installation", "Installer"]


def test_instant_results_may_be_of_one_site(client: httpx.Client) -> None:
    assert instant(client, "insta", site="b.example") == ["Installer"]
    assert instant(client, "inst", site="b.example/docs") == ["Inst"]
    assert instant(client, "install OR inst ", site="a.example") == ["Install"]
    for site in ("a.example OR b.example", '"', "x" * 501):
        assert client.get("/api/v1/instant", params={"q": "a", "site": site}).status_code == 400


def test_a_text_without_results_is_corrected(client: httpx.Client) -> None:
    assert instant(client, "instalation") == ["Installation"]
    assert instant(client, "zzzzzz") == instant(client, " ") == instant(client, "") == []


@given(
    st.lists(st.text("ab<>&;/", max_size=6), min_size=1, max_size=7).filter(lambda x: len(x) % 2)
)
def test_pieces_of_a_snippet_are_its_text(pieces: list[str]) -> None:
    html = "".join(
        f"<b>{escape(piece)}</b>" if number % 2 else escape(piece)
        for number, piece in enumerate(pieces)
    )
    assert snippet_parts(html) == pieces


def test_a_very_long_text_is_read_in_part(client: httpx.Client) -> None:
    assert instant(client, f"install {' ' * 600}zzz") == ["Install"]


def test_snippets_of_instant_results_have_no_markup(client: httpx.Client) -> None:
    [hit] = client.get("/api/v1/instant", params={"q": "äpf"}).json()["hits"]
    assert hit["snippet"] == ["", "Äpfel", " & <b> sind rund."]
    assert snippet_parts("a &lt;b&gt; <b>c &amp;amp;</b>") == ["a <b> ", "c &amp;", ""]


def test_the_script_is_small_and_may_be_loaded_by_other_sites(client: httpx.Client) -> None:
    answer = client.get("/embed.js")
    assert answer.content == SCRIPT.read_bytes()
    assert len(answer.content) <= 15_000
    assert answer.headers["content-type"].startswith("text/javascript")
    assert answer.headers["cross-origin-resource-policy"] == "cross-origin"
    assert answer.headers["access-control-allow-origin"] == "*"


@pytest.mark.parametrize("path", ["/api/v1/instant?q=a", "/api/v1/search?q=a", "/api/v1/nothing"])
def test_named_sites_may_read_the_api(client: httpx.Client, path: str) -> None:
    answer = client.get(path, headers={"origin": ORIGIN})
    assert answer.headers["access-control-allow-origin"] == ORIGIN
    assert "Origin" in answer.headers.get_list("vary")
    assert "access-control-allow-credentials" not in answer.headers


@pytest.mark.parametrize(
    "origin", ["null", "http://www.example.org", ORIGIN + ".evil", ORIGIN + ":8"]
)
def test_other_sites_may_not(client: httpx.Client, origin: str) -> None:
    answer = client.get("/api/v1/search?q=a", headers={"origin": origin})
    assert "access-control-allow-origin" not in answer.headers
    assert "Origin" in answer.headers.get_list("vary")


def test_named_sites_may_neither_write_nor_read_anything_else(client: httpx.Client) -> None:
    asked = {"origin": ORIGIN, "access-control-request-method": "POST"}
    for answer in (
        client.options("/api/v1/search?q=a", headers=asked),
        client.get("/search?q=a", headers=asked),
        client.get("/metrics", headers=asked),
        client.post("/open-webui", content=BODY, headers=asked),
    ):
        assert "access-control-allow-origin" not in answer.headers


def test_all_sites_may_be_named_and_a_site_may_have_a_path(work: Workspace) -> None:
    open_to_all = crawl_with(work, serve={"origins": ["*"], "path": "/find"})
    answer = get(
        application(open_to_all, path="/find"), "/find/api/v1/search?q=a", {"origin": "null"}
    )
    assert answer.headers["access-control-allow-origin"] == "*"


def crawl_with(work: Workspace, **settings: Any) -> Workspace:
    return replace(work, config=msgspec.convert(settings, config.Config))


@pytest.mark.parametrize(
    "origin",
    [
        *("www.example.org", "https://www.example.org/", "https://A.example", "ftp://a.example"),
        *("https://a.example:443", "http://a.example:80", "https://a.example:99999", "null", ""),
    ],
)
def test_what_no_browser_sends_as_an_origin_is_refused(origin: str) -> None:
    with pytest.raises(ConfigError, match="origins"):
        config.loads(f'serve.origins = ["{origin}"]', "gossamer.toml")


@pytest.mark.parametrize("origin", ["http://a.example:8080", "https://[2001:db8::1]", "*"])
def test_origins_are_accepted_as_browsers_send_them(origin: str) -> None:
    made = config.loads(f'serve.origins = ["{origin}"]', "gossamer.toml")
    assert made.serve == ServeConfig(origins=(origin,))
