"""The package of examples/plugins/ftp, with real servers on loopback and with scripted ones."""

from __future__ import annotations

import asyncio
import os
import re
import socket
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer import Crawl
from gossamer.config import EngineConfig, SiteConfig
from gossamer.engine.engine import Engine
from gossamer.errors import ConfigError
from gossamer.fetch.exchange import FetchResult, Request
from gossamer.fetch.http import body_reader
from gossamer.fetch.scheme_fetchers import Fetchers
from gossamer.flow import rounds
from gossamer.tables.outcomes import OUTCOMES
from gossamer.web.urls import normalize, normalize_all
from gossamer_ftp import fetcher as ftp
from gossamer_ftp import session as ftp_session
from tests.support.crawl_settings import loopback_settings
from tests.support.ftp_servers import (
    FOREVER,
    LIMIT,
    PASSWORD,
    RULES,
    SILENCE,
    USER,
    Real,
    Scripted,
    config,
    fetch_with,
    run,
    serving,
)
from tests.support.loopback import Loopback, page
from tests.support.plugin_packages import FTP, install_ftp

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


pytestmark = pytest.mark.server


# A real server.


@pytest.fixture
def real(tmp_path: Path) -> Iterator[Real]:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "secret.txt").write_text("mine")
    (tmp_path / "page.html").write_text("<p>hello")
    os.utime(tmp_path / "page.html", (1_700_000_000, 1_700_000_000))
    (tmp_path / "pub").mkdir()
    (tmp_path / "pub" / "empty").mkdir()
    for name in ("a b?.txt", "%41", "<x>;y:z", "ü"):
        (tmp_path / "pub" / name).write_text(name)
    found = Real(tmp_path)
    with serving(found):
        yield found


def test_a_file(real: Real) -> None:
    answer = real.fetch("ftp://a.test/page.html")
    assert (answer.outcome, answer.http_status, answer.detail) == ("ok", None, None)
    assert (answer.body, answer.truncated) == (b"<p>hello", False)
    assert (answer.content_type, answer.etag) == ("text/html", None)
    assert answer.last_modified == "Tue, 14 Nov 2023 22:13:20 GMT"
    assert answer.headers == [
        (b"Content-Type", b"text/html"),
        (b"Content-Length", b"8"),
        (b"Last-Modified", b"Tue, 14 Nov 2023 22:13:20 GMT"),
    ]
    assert (answer.address, answer.target) == ("127.0.0.1", "/page.html")
    assert real.passwords == ["me@a.test"]


def test_without_a_contact_the_password_is_our_name(real: Real) -> None:
    real.fetch("ftp://a.test/page.html", contact="")
    assert real.passwords == ["gossamer@"]


def test_an_address_instead_of_a_name(real: Real) -> None:
    assert real.fetch(f"ftp://127.0.0.1:{real.port}/page.html").outcome == "ok"


def test_a_server_of_ipv4_alone_may_know_no_epsv(real: Real) -> None:
    real.without = frozenset(("EPSV", "MDTM"))
    answer = real.fetch("ftp://a.test/page.html")
    assert (answer.body, answer.last_modified) == (b"<p>hello", None)
    assert "PASV" in real.commands


def test_what_did_not_change_is_not_sent_again(real: Real) -> None:
    date = "Tue, 14 Nov 2023 22:13:20 GMT"
    answer = real.fetch(Request("ftp://a.test/page.html", LIMIT, None, date))
    assert (answer.outcome, answer.last_modified) == ("unchanged", date)
    assert "RETR" not in real.commands
    later = Request("ftp://a.test/page.html", LIMIT, None, date.replace("22:", "23:"))
    assert real.fetch(later).outcome == "ok"


@pytest.mark.parametrize("size", [0, LIMIT - 1, LIMIT, LIMIT + 1, 100 * LIMIT])
def test_a_body_is_cut_at_the_limit(real: Real, size: int) -> None:
    (real.folder / "a.bin").write_bytes(b"\r\n" * (size // 2) + b"x" * (size % 2))
    answer = real.fetch("ftp://a.test/a.bin")
    assert (answer.outcome, len(answer.body)) == ("ok", min(size, LIMIT))
    assert answer.truncated is (size > LIMIT)


@pytest.mark.parametrize(("name", "kept"), [("a.pdf", 3 * LIMIT), ("a.html", LIMIT), ("a", LIMIT)])
def test_a_file_that_is_no_page_has_a_limit_of_its_own(real: Real, name: str, kept: int) -> None:
    (real.folder / name).write_bytes(bytes(4 * LIMIT))
    answer = real.fetch(Request(f"ftp://a.test/{name}", LIMIT, max_file_bytes=3 * LIMIT))
    assert (len(answer.body), answer.truncated) == (kept, True)


@pytest.mark.parametrize("without", [(), ("MLSD",)])
def test_a_folder_is_a_page_of_links(real: Real, without: tuple[str, ...]) -> None:
    real.without = frozenset(without)
    answer = real.fetch("ftp://a.test/pub/")
    assert (answer.outcome, answer.content_type) == ("ok", "text/html; charset=utf-8")
    assert b"<x>" not in answer.body
    hrefs = [part.split('"')[0] for part in answer.body.decode().split('<a href="')[1:]]
    found = normalize_all(hrefs, "ftp://a.test/pub/", RULES)
    empty = "ftp://a.test/pub/empty" + ("" if without else "/")
    assert found == [
        "ftp://a.test/pub/%2541",
        "ftp://a.test/pub/%3Cx%3E%3By%3Az",
        "ftp://a.test/pub/a%20b%3F.txt",
        empty,
        "ftp://a.test/pub/%C3%BC",
    ]
    for url in found:
        assert url is not None
        answer = real.fetch(url)
        if url.endswith("/empty"):
            assert (answer.outcome, answer.redirect_url) == ("redirect", f"{url}/")
            answer = real.fetch(f"{url}/")
            assert b"<li>" not in answer.body
        assert answer.outcome == "ok"


def test_the_first_folder(real: Real) -> None:
    assert b'href="pub/"' in real.fetch("ftp://a.test/").body
    assert "CWD" not in real.commands
    assert b'href="pub/"' in real.fetch("ftp://a.test/%2F/").body


@pytest.mark.parametrize("path", ["none", "none/", "page.html/", "pub/none"])
def test_what_is_not_there(real: Real, path: str) -> None:
    answer = real.fetch(f"ftp://a.test/{path}")
    assert (answer.outcome, answer.body) == ("not_found", b"")
    assert (answer.detail or "").startswith("FTP 550 ")


def test_a_user_of_the_config(real: Real) -> None:
    sites = (
        SiteConfig(hosts="ftp://*.b.test", user=USER, password=USER),
        SiteConfig(hosts="ftp://*.test", user=USER, password=PASSWORD),
    )
    assert real.fetch("ftp://a.test/secret.txt", sites=sites).body == b"mine"
    answer = real.fetch("ftp://a.b.test/secret.txt", sites=sites)
    assert (answer.outcome, (answer.detail or "")[:7]) == ("refused", "FTP 530")


def test_a_proxy_is_not_gone_around(real: Real) -> None:
    sites = (SiteConfig(hosts="*.test", proxy="http://127.0.0.1:1"),)
    assert real.fetch("ftp://a.test/page.html", sites=sites).outcome == "forbidden_address"
    assert not real.commands


@pytest.mark.parametrize("path", ["a%0D%0ADELE%20page.html", "a%0Ab", "a%00b", "a%0D/"])
def test_no_path_is_two_commands(real: Real, path: str) -> None:
    assert normalize(f"ftp://a.test/{path}", None, RULES) == f"ftp://a.test/{path}"
    answer = real.fetch(f"ftp://a.test/{path}")
    assert (answer.outcome, answer.body) == ("refused", b"")
    assert set(real.commands) == {"USER", "PASS", "TYPE"}


@pytest.mark.parametrize("host", ["a.test", "127.0.0.1:{port}", "localhost:{port}"])
def test_an_address_inside_is_refused_before_connecting(real: Real, host: str) -> None:
    url = f"ftp://{host.format(port=real.port)}/page.html"
    answer = real.fetch(url, allow_networks=())
    assert answer.outcome == "forbidden_address"
    assert "allow_networks" in (answer.detail or "")
    assert not real.commands


def test_a_port_that_nobody_listens_on() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        answer = run(fetch_with(config(free.getsockname()[1]), "ftp://a.test/"))
    assert (answer.outcome, answer.detail) == ("unreachable", "connection refused")


# Servers that say what they are told to.


def test_the_script_is_a_server() -> None:
    server = Scripted()
    answer = server.fetch()
    assert (answer.outcome, answer.body) == ("ok", b"<p>hello")
    assert answer.last_modified == "Tue, 14 Nov 2023 22:13:20 GMT"
    assert server.commands == ["USER", "PASS", "TYPE", "MDTM", "EPSV", "RETR", "QUIT"]


@pytest.mark.parametrize(
    ("command", "said", "outcome"),
    [
        ("", b"120 Ready in 5 minutes\r\n", "busy"),
        ("", b"421 Too many connections\r\n", "busy"),
        ("USER", b"421 Too many users\r\n", "busy"),
        ("USER", b"530 No anonymous access\r\n", "refused"),
        ("USER", b"332 Account\r\n", "refused"),
        ("PASS", b"332 Account\r\n", "refused"),
        ("PASS", b"530-No\r\n 530 not yet\r\n530 No\r\n", "refused"),
        ("TYPE", b"504 No\r\n", "refused"),
        ("MDTM", b"421 Timeout\r\n", "busy"),
        ("EPSV", b"421 Timeout\r\n", "busy"),
        ("RETR", b"425 No data connection\r\n", "server_error"),
        ("RETR", b"450 Busy\r\n", "busy"),
        ("RETR", b"451 Disk\r\n", "server_error"),
        ("RETR", b"530 Not yours\r\n", "refused"),
        ("RETR", b"550 None\r\n", "not_found"),
        ("RETR", b"553 No\r\n", "refused"),
        ("RETR", b"331 Password\r\n", "refused"),
    ],
)
def test_outcomes_by_reply(command: str, said: bytes, outcome: str) -> None:
    answer = Scripted({command: said, "CWD": b"550 None\r\n"}).fetch()
    assert (answer.outcome, answer.body) == (outcome, b"")
    assert (answer.detail or "").startswith(f"FTP {said[:3].decode()} ")


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("", b"220-Welcome\r\n 220 not yet\r\n221 nor now\r\n\r\n220 Welcome\r\n"),
        ("", b"220\n"),
        ("", b"220-\xff\xfe\r\n220-\r\n220\r\n"),
        ("USER", b"230 In\r\n"),
        ("PASS", b"202 Superfluous\r\n"),
        ("MDTM", b"500 What?\r\n"),
        ("MDTM", b"213 yesterday\r\n"),
        ("MDTM", b"213 20230230000000\r\n"),
        ("MDTM", b"213 " + b"9" * 5_000 + b"\r\n"),
        ("RETR", b"125 Here\r\n250 Done\r\n"),
        ("RETR", b"226 Sent\r\n"),
        ("EPSV", b"229 Entering (!!!PORT!)\r\n"),
    ],
)
def test_what_servers_may_say(command: str, said: bytes) -> None:
    server = Scripted({command: said})
    if command == "EPSV":
        server.says = {"EPSV": b"500 No\r\n", "PASV": b"227 =10,0,0,1,PORT\r\n"}
    answer = server.fetch()
    assert (answer.outcome, answer.body, answer.truncated) == ("ok", b"<p>hello", False)


ENDLESS = b"220-x\r\n" * (ftp_session.MAX_LINES + 1)


COMMANDS = ["USER", "PASS", "TYPE", "MDTM", "EPSV", "RETR"]
NO_REPLIES = [
    b"",
    b"22",
    b"\x00" * 100 + b"\r\n",
    b"SSH-2.0-OpenSSH_9.2\r\n",
    b"HTTP/1.1 400 Bad Request\r\n\r\n",
    b"999 No\r\n",
    "٢٢٠ hi\r\n".encode(),
    b"x" * 100_000,
    b"220-" + b"x" * 100_000,
    ENDLESS,
    FOREVER + b"220-x\r\n",
    FOREVER + b"x",
]


@pytest.mark.parametrize(
    ("command", "said"),
    [
        *(("", said) for said in NO_REPLIES),
        # Each command with two of them: all replies are read by the same lines.
        *zip(2 * COMMANDS, NO_REPLIES, strict=True),
    ],
    ids=range(24),
)
def test_what_is_no_reply(command: str, said: bytes) -> None:
    answer = Scripted({command: said}).fetch(timeout_s=5)
    # Where the end of our words meets the end of theirs, it is a reset.
    assert answer.outcome in {"broken", "unreachable"}
    assert answer.detail
    assert answer.body == b""


@pytest.mark.parametrize("command", ["", "USER", "PASS", "TYPE", "MDTM", "EPSV", "RETR"])
@pytest.mark.parametrize("limit", ["head_timeout_s", "timeout_s"])
def test_a_server_that_says_nothing_is_given_up(
    command: str, limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ftp, "GOODBYE_S", 0.0)
    limits: dict[str, Any] = {limit: 0.05}
    answer = Scripted({command: SILENCE}).fetch(**limits)
    assert (answer.outcome, answer.body) == ("timeout", b"")
    assert "within 0.05 s" in (answer.detail or "")


def test_data_that_never_come_are_given_up() -> None:
    answer = Scripted(data=SILENCE).fetch(timeout_s=0.05)
    assert answer.outcome == "timeout"
    assert answer.detail == "not complete within 0.05 s, 0 bytes came"


def test_slow_data_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(body_reader, "GRACE_S", 0.05)
    answer = Scripted(data=SILENCE).fetch(min_bytes_per_s=500)
    assert (answer.outcome, answer.detail) == ("timeout", "0 bytes/s on average, slower than 500")


def test_data_without_end_are_cut() -> None:
    answer = Scripted({"RETR": b"150 Here\r\n"}, data=FOREVER + b"x").fetch()
    assert (answer.outcome, answer.body) == ("ok", b"x" * LIMIT)
    assert answer.truncated


@pytest.mark.parametrize(
    ("said", "detail"),
    [
        (b"150 Here\r\n426 Aborted\r\n", "FTP 426 Aborted"),
        (b"150 Here\r\n551 Disk\r\n", "FTP 551 Disk"),
        (b"150 Here\r\n421 Shutdown\r\n", "FTP 421 Shutdown"),
        (b"150 Here\r\nrubbish\r\n", "not FTP: b'rubbish'"),
        (b"150 Here\r\n", "no reply within 0.05 s"),
    ],
)
def test_half_of_a_file_is_better_than_none(said: bytes, detail: str) -> None:
    answer = Scripted({"RETR": said}).fetch(head_timeout_s=0.05)
    assert (answer.outcome, answer.body) == ("ok", b"<p>hello")
    assert (answer.truncated, answer.detail) == (True, detail)
    assert b"Content-Length" not in dict(answer.headers)
    assert answer.last_modified is None  # or what is missing would never be asked for
    assert Scripted({"RETR": said}, data=b"").fetch(head_timeout_s=0.05).outcome == "broken"


@pytest.mark.parametrize(
    "said",
    [
        b"227 (127,0,0,2,PORT)\r\n",
        b"227 Entering Passive Mode (169,254,169,254,PORT).\r\n",
        b"227 999,999,999,999,PORT\r\n",
    ],
)
def test_data_come_from_whom_we_speak_with_and_nobody_else(said: bytes) -> None:
    server = Scripted({"EPSV": b"500 No\r\n", "PASV": said})
    elsewhere: list[object] = []

    async def exchange() -> FetchResult:
        async with server.serve() as port:
            trap = await asyncio.start_server(
                lambda *_: elsewhere.append(_), "127.0.0.2", server.data_port
            )
            async with trap:
                return await fetch_with(config(port), "ftp://a.test/a.html")

    answer = run(exchange())
    assert (answer.outcome, answer.body) == ("ok", b"<p>hello")
    assert (server.transfers, elsewhere) == (1, [])


@pytest.mark.parametrize(
    ("epsv", "pasv"),
    [
        (b"229 (|||0|)\r\n", b""),
        (b"229 (|||65536|)\r\n", b""),
        (b"229 (|||99999999|)\r\n", b"502 No\r\n"),
        (b"229 (|2|::1|80|)\r\n", b"502 No\r\n"),
        (b"229 no\r\n", b"227 no\r\n"),
        (b"500 No\r\n", b"227 1,2,3\r\n"),
        (b"500 No\r\n", b"227 (127,0,0,1,0,0)\r\n"),
        (b"500 No\r\n", b"227 (127,0,0,1,999,0)\r\n"),
    ],
)
def test_ports_that_are_none(epsv: bytes, pasv: bytes) -> None:
    answer = Scripted({"EPSV": epsv, "PASV": pasv}).fetch()
    assert answer.outcome in {"broken", "refused"}
    assert answer.detail


def test_a_data_port_that_nobody_listens_on() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        answer = Scripted({"EPSV": b"229 (|||%d|)\r\n" % free.getsockname()[1]}).fetch()
    assert (answer.outcome, answer.detail) == ("unreachable", "connection refused")


def test_a_hostile_listing() -> None:
    lines = [
        b"type=cdir; .",
        b"type=pdir; ..",
        b"type=dir; ..",
        b"type=file;size=9; ",
        b"type=file; ../../etc/passwd",
        b"Type=DIR;modify=1; folder",
        b"size=1; no type",
        b" nothing known",
        b"rubbish",
        b'type=file; "><script>alert(1)</script>'.replace(b"/", b"|"),
        b"type=file; \xff\x1b[2J",
        b"type=OS.unix=slink:/x; link",
        b"type=file; http:",
    ]
    answer = Scripted(data=b"\r\n".join(lines)).fetch("ftp://a.test/")
    hrefs = [part.split('"')[0] for part in answer.body.decode().split('<a href="')[1:]]
    assert hrefs == [
        "%22%3E%3Cscript%3Ealert%281%29%3C%7Cscript%3E",
        "folder/",
        "http%3A",
        "link",
        "no%20type",
        "nothing%20known",
        "%FF%1B%5B2J",
    ]
    assert b"<script" not in answer.body


def test_a_listing_without_end_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ftp, "MAX_LISTING_BYTES", 100)
    server = Scripted({"MLSD": b"150 Here\r\n"}, data=FOREVER + b"type=dir; abcdefgh\r\n")
    answer = server.fetch("ftp://a.test/")
    assert (answer.outcome, answer.truncated) == ("ok", True)
    assert answer.body.count(b"<li>") == answer.body.count(b'"abcdefgh/"') == 5


def test_an_empty_folder_may_be_an_error_of_nlst() -> None:
    says = {"MLSD": b"500 What?\r\n", "NLST": b"550 No files found\r\n"}
    answer = Scripted(says).fetch("ftp://a.test/a/")
    assert (answer.outcome, answer.truncated) == ("ok", False)
    assert Scripted({"MLSD": b"550 No\r\n"}).fetch("ftp://a.test/a/").outcome == "not_found"


def test_names_of_nlst_may_have_the_folder_s() -> None:
    says = {"MLSD": b"502 No\r\n", "NLST": b"150 Here\r\n226 Done\r\n"}
    answer = Scripted(says, data=b"./a\r\n/x/b\r\nc\n\r\n/\r\n..").fetch("ftp://a.test/x/")
    assert answer.body.count(b"<li>") == 3
    assert all(f'href="{name}"'.encode() in answer.body for name in "abc")


def test_cancellation_passes_and_closes() -> None:
    server = Scripted({"TYPE": SILENCE})

    async def exchange() -> None:
        async with server.serve() as port:
            task = asyncio.create_task(fetch_with(config(port), "ftp://a.test/"))
            await server.silent.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    run(exchange())


@given(
    says=st.dictionaries(
        st.sampled_from(
            ["", "USER", "PASS", "TYPE", "MDTM", "CWD", "EPSV", "PASV", "RETR", "MLSD"]
        ),
        st.lists(
            st.sampled_from(
                [b"150 x", b"220 ", b"227 1,2,3,4,5,6", b"331-", b"229 (|||1|)", b"\r\n"]
            )
            | st.binary(max_size=5),
            max_size=6,
        ).map(b"".join),
        max_size=4,
    ),
    data=st.binary(max_size=50),
    path=st.sampled_from(["", "a", "a/"]),
)
def test_whatever_a_server_says(says: dict[str, bytes], data: bytes, path: str) -> None:
    answer = Scripted(says, data).fetch(f"ftp://a.test/{path}", head_timeout_s=0.01)
    assert answer.outcome in OUTCOMES
    assert answer.outcome == "ok" or answer.body == b""


# The URLs of FTP


@pytest.mark.parametrize(
    ("path", "plain"),
    [
        ("a;type=I", "a"),
        ("a;type=i;TYPE=a?b;c", "a"),
        ("a?b", "a"),
        ("?b", ""),
        ("%3Fa;type=d", "%3Fa"),
        (";type=a" * 10_000, ""),
    ],
)
def test_a_file_has_one_url(path: str, plain: str) -> None:
    server = Scripted()
    answer = server.fetch(f"ftp://a.test/{path}")
    assert (answer.outcome, answer.redirect_url) == ("redirect", f"ftp://a.test/{plain}")
    assert normalize(answer.redirect_url or "", None, RULES) == answer.redirect_url
    assert not server.commands


@pytest.mark.parametrize("path", ["a;type=x", "a%3Btype=i", "a%3Fb", ";type=a" * 10_000 + "x"])
def test_what_is_a_part_of_the_name_stays(path: str) -> None:
    assert Scripted().fetch(f"ftp://a.test/{path}").outcome in {"ok", "broken"}


# The installed package


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    install_ftp(folder)
    monkeypatch.syspath_prepend(folder)


def test_it_imports_nothing_else_of_gossamer() -> None:
    text = "".join(path.read_text() for path in FTP.glob("gossamer_ftp/*.py"))
    assert set(re.findall(r"^\s*(?:from|import) (gossamer\b[.\w]*)", text, re.MULTILINE)) == {
        "gossamer.plugins"
    }


@pytest.mark.usefixtures("installed")
def test_once_installed_it_fetches_its_scheme() -> None:
    server = Scripted()

    async def exchange() -> FetchResult:
        async with server.serve() as port, Fetchers.open(config(port), RULES) as fetchers:
            return await fetchers.fetch(Request("ftp://a.test/a.html", LIMIT))

    assert run(exchange()).body == b"<p>hello"


def test_without_it_the_scheme_has_no_fetcher() -> None:
    async def open_fetchers() -> None:
        async with Fetchers.open(config(1), RULES):
            pass

    with pytest.raises(ConfigError, match="'ftp': no installed package provides a fetcher"):
        run(open_fetchers())


CRAWLED = """
urls.schemes = ["http", "ftp"]
fetch.contact = "mailto:me@a.test"
fetch.allow_networks = ["127.0.0.1/32"]
"""


@pytest.mark.slow
@pytest.mark.engine
@pytest.mark.embedded
@pytest.mark.usefixtures("installed")
def test_a_crawl_follows_links_to_files_but_none_inside(
    real: Real, server: Loopback, tmp_path: Path
) -> None:
    """Workers have the path of the plugin if they start after it was installed."""
    hosts = ("127.9.9.9", "10.0.0.1", "[::ffff:127.9.9.9]")
    inside = [f"ftp://{host}:{real.port}/" for host in hosts]
    moved = f"{inside[0]}moved"
    outside = f"ftp://127.0.0.1:{real.port}/page.html"
    html = "".join(f'<a href="{url}">' for url in (outside, *inside)).encode()
    server.answers["a.test/"] = page(html, ("Content-Type: text/html",))
    server.answers["a.test/moved"] = page(b"", (f"Location: {moved}",), status="302 Found")
    settings = loopback_settings(server.address, CRAWLED)
    with Engine(EngineConfig(workers=2)) as engine:
        crawl = Crawl.create(str(tmp_path / "crawl"), settings, engine)
        crawl.inject(["http://a.test/", "http://a.test/moved"])
        for _ in range(2):
            list(rounds.round_(crawl.work, lambda _step, _round: None))
        outcomes = {row["url"]: row["outcome"] for row in crawl.pages().collect()}
    assert outcomes[outside] == "ok"
    refused = {url for url, outcome in outcomes.items() if outcome == "forbidden_address"}
    assert refused == {normalize(url, None, RULES) for url in (*inside, moved)}
    assert real.commands == ["USER", "PASS", "TYPE", "MDTM", "EPSV", "RETR", "QUIT"]
