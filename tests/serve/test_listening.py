"""Where a server listens: in files, at sockets of systemd; and which proxies it believes."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
from typing import TYPE_CHECKING

import httpx
import msgspec
import pytest

from gossamer.config import ServeConfig
from gossamer.errors import UsageError
from gossamer.serve import listening as places
from gossamer.serve.dispatch.fair_queue import ANYBODY
from gossamer.serve.listening import open_listener, place_of
from gossamer.serve.web.clients import Clients
from tests.support.machine_needs import lacking
from tests.support.search_server import serving_at
from tests.support.served_application import listening
from tests.support.small_index import crawl, put_index

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

    from starlette.types import Receive, Scope, Send

pytestmark = pytest.mark.server
HOST = "127.0.0.1"


def at(path: Path, mode: str = "660") -> AbstractContextManager[socket.socket]:
    return open_listener(ServeConfig(socket=str(path), socket_mode=mode), HOST, 0)


def client_of(path: Path) -> httpx.Client:
    transport = httpx.HTTPTransport(uds=str(path))
    return httpx.Client(transport=transport, base_url="http://localhost")


async def echo(scope: Scope, _: Receive, send: Send) -> None:
    """Answer with the client's address and the scheme."""
    text = f"{scope['client'][0]} {scope['scheme']}".encode()
    headers = [(b"content-length", str(len(text)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": text})


@pytest.mark.parametrize("mode", ["600", "660", "666"])
def test_a_socket_has_the_permissions_of_the_setting(tmp_path: Path, mode: str) -> None:
    path = tmp_path / "s"
    before = os.umask(0o077)
    try:
        with at(path, mode):
            status = path.lstat().st_mode
            assert stat.S_ISSOCK(status)
            assert f"{stat.S_IMODE(status):o}" == mode
            assert list(tmp_path.iterdir()) == [path]
    finally:
        os.umask(before)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("mode", ["", "9", "0660", "u=rw", "66\n", "068"])
def test_other_permissions_are_refused(mode: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"socket_mode": mode}, ServeConfig)


def test_the_socket_of_a_dead_server_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
        dead.listen()
    assert path.is_socket()
    with at(path), socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))


def test_two_servers_cannot_listen_at_one_socket(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with at(path), pytest.raises(UsageError, match="another server listens there"), at(path):
        pass
    with at(path):
        pass


def test_a_file_that_is_no_socket_is_kept(tmp_path: Path) -> None:
    file, link, target = (tmp_path / name for name in ("file", "link", "target"))
    file.write_text("mine")
    link.symlink_to(target)
    for path in (file, link, tmp_path):
        with pytest.raises(UsageError, match="exists and is not a socket"), at(path):
            pass
    assert file.read_text() == "mine"
    assert not target.exists()


@pytest.mark.parametrize("path", ["none/s", "s" * 120])
def test_where_no_socket_can_be(tmp_path: Path, path: str) -> None:
    with pytest.raises(UsageError, match="cannot listen: "), at(tmp_path / path):
        pass
    assert list(tmp_path.iterdir()) == []


def test_the_socket_of_a_successor_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with at(path):
        path.unlink()
        with socket.socket(socket.AF_UNIX) as other:
            other.bind(str(path))
    assert path.is_socket()


def test_a_crawl_is_searched_through_a_socket(tmp_path: Path) -> None:
    work = crawl(tmp_path / "crawl")
    put_index(work, [{"url": "http://a.example/", "title": "apple"}])
    path = tmp_path / "s"
    with at(path) as listener:
        assert place_of(listener, ServeConfig(socket=str(path)), HOST) == f"unix:{path}"
        with serving_at(listener, work), client_of(path) as client:
            assert client.get("/api/v1/search?q=apple").json()["total"] == 1


@pytest.mark.parametrize(
    ("proxies", "seen"),
    [
        ((), b"unix http"),
        (("127.0.0.1", "::1"), b"unix http"),
        (("0.0.0.0/0", "::/0"), b"unix http"),
        (("unix",), b"192.0.2.1 https"),
    ],
)
def test_a_proxy_behind_a_socket_is_believed_if_a_setting_says_so(
    tmp_path: Path, proxies: tuple[str, ...], seen: bytes
) -> None:
    path = tmp_path / "s"
    # The first address is what a visitor has said.
    said = {"x-forwarded-for": "unix, 127.0.0.1, 192.0.2.1", "x-forwarded-proto": "https"}
    with (
        at(path) as listener,
        listening(echo, at=listener, clients=Clients(proxies), proxies=proxies),
        client_of(path) as client,
    ):
        assert client.get("/", headers=said).content == seen


def test_whoever_uses_the_socket_is_no_client_of_its_own() -> None:
    for proxies in ((), ("unix",)):
        clients = Clients(proxies)
        assert clients.of("unix") == ANYBODY
        assert clients.is_proxy("unix") == bool(proxies)
    assert not Clients(("unix",)).is_proxy("127.0.0.1")
    assert not Clients(("unix",)).is_proxy("")


def test_a_socket_of_systemd_is_used_before_any_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """sd_listen_fds(3)."""
    settings = ServeConfig(socket=str(tmp_path / "unused"), path="/find")
    with socket.create_server((HOST, 0)) as opened:
        monkeypatch.setattr(places, "INHERITED", os.dup(opened.fileno()))
        monkeypatch.setenv("LISTEN_PID", str(os.getpid()))
        monkeypatch.setenv("LISTEN_FDS", "1")
        with open_listener(settings, HOST, 0) as listener:
            assert listener.getsockname() == opened.getsockname()
            assert not listener.get_inheritable()
            port = opened.getsockname()[1]
            assert place_of(listener, settings, HOST) == f"http://127.0.0.1:{port}/find/"
    assert not {"LISTEN_PID", "LISTEN_FDS"} & os.environ.keys()  # not for other processes


def test_sockets_of_systemd_for_another_process_are_left_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LISTEN_PID", "1")
    monkeypatch.setenv("LISTEN_FDS", "2")
    with open_listener(ServeConfig(), HOST, 0) as listener:
        assert listener.getsockname()[1]
    monkeypatch.setenv("LISTEN_PID", str(os.getpid()))
    monkeypatch.setenv("LISTEN_FDS", "2")
    with (
        pytest.raises(UsageError, match="passes on 2 sockets"),
        open_listener(ServeConfig(), HOST, 0),
    ):
        pass


@pytest.mark.slow
def test_serve_is_activated_by_systemd_and_ends_with_code_0(tmp_path: Path) -> None:
    """Also `python -m gossamer`. Code 0 is clean, 143 is not (systemd.service(5))."""
    if shutil.which("systemd-socket-activate") is None:
        lacking("this needs systemd-socket-activate: apt-get install systemd")
    work = crawl(tmp_path / "crawl")
    put_index(work, [{"url": "http://a.example/", "title": "apple"}])
    path = tmp_path / "s"
    serve = [sys.executable, "-m", "gossamer", "serve", work.root]
    passed = [f"--setenv={name}" for name in ("PYTHONPATH", "HOME") if name in os.environ]
    command = ["systemd-socket-activate", f"--listen={path}", *passed, *serve]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        while not path.exists():
            assert process.poll() is None
        with client_of(path) as client:
            assert client.get("/api/v1/search?q=apple", timeout=60).json()["total"] == 1
        process.send_signal(signal.SIGTERM)
        said, _ = process.communicate()
        assert (process.returncode, said) == (0, f"unix:{path}\n")


@pytest.mark.slow
def test_a_socket_is_gone_after_sigterm(tmp_path: Path) -> None:
    work = crawl(tmp_path / "crawl")
    path = tmp_path / "s"
    serve = [sys.executable, "-m", "gossamer", "serve", work.root, "--socket", str(path)]
    with subprocess.Popen(serve, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == f"unix:{path}\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
    assert not path.exists()
