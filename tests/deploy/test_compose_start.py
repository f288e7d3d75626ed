"""deploy/compose starts from nothing: its services, in its order, without Docker."""

from __future__ import annotations

import http.server
import json
import threading
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.support.compose_services import Compose
from tests.support.deploy_files import DEPLOY
from tests.support.follower_nodes import until
from tests.support.machine_needs import lacking
from tests.support.network_namespaces import Host, network, unavailable

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = DEPLOY / "compose"
PLACED = ("object-store", "crawler", "node-1", "node-2", "broker")
FURTHER = ("certificates", "settings")
"""Services that run once, on the host of the crawler."""
GIVEN = {
    "AWS_ACCESS_KEY_ID": "gossamer",
    "AWS_SECRET_ACCESS_KEY": "0123456789abcdef",
    "GOSSAMER_CONTACT": "a@b.example",
}


@pytest.fixture
def project() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((FOLDER / "compose.yaml").read_text("utf-8"))
    return found


def site(folder: Path) -> Path:
    folder.mkdir()
    links = "".join(f"<a href=/{n}.html>{n}</a>" for n in range(6))
    (folder / "index.html").write_text(f"<title>Fruit</title>{links} All the fruit that we have.")
    for n in range(6):
        (folder / f"{n}.html").write_text(f"<title>Apple {n}</title>Cider of apples, number {n}.")
    return folder


def change_files(folder: Path, web: str) -> None:
    """The two files that users edit: seeds, and settings, by which a private web may be crawled."""
    folder.mkdir()
    (folder / "seeds.txt").write_text(f"{web}/\n")
    settings = (FOLDER / "gossamer.toml").read_text("utf-8").replace("/certificates/", "{made}/")
    made = folder.parent / "volumes" / "certificates"
    more = '\n[fetch]\nallow_networks = ["10.0.0.0/8"]\ndelay_s = 0\n'
    (folder / "gossamer.toml").write_text(settings.replace("{made}", str(made)) + more)


@pytest.mark.slow
def test_the_stack_starts_from_nothing_and_answers(project: dict[str, Any], tmp_path: Path) -> None:
    if reason := unavailable():
        lacking(reason)
    with ExitStack() as stack:
        net = stack.enter_context(network(len(PLACED)))
        handler = partial(http.server.SimpleHTTPRequestHandler, directory=site(tmp_path / "site"))
        web = stack.enter_context(http.server.ThreadingHTTPServer((net.store, 0), handler))
        threading.Thread(target=web.serve_forever, daemon=True).start()
        stack.callback(web.shutdown)
        change_files(tmp_path / "files", f"http://{net.store}:{web.server_address[1]}")
        compose = Compose(project, tmp_path, FOLDER, GIVEN)
        stack.callback(compose.close)
        hosts = dict(zip(PLACED, net.hosts, strict=True))
        place(compose, hosts)
        for name in ("crawler", "node-1", "node-2", "broker"):
            compose.start(name)
        search = "http://broker:8080/api/v1/search?q=cider"

        def found() -> bool:
            for name in PLACED:
                assert compose.alive(name), compose.log(name)
            answer = compose.fetched("crawler", search)
            return bool(answer) and json.loads(answer)["total"] == 6

        until(found)
        assert not json.loads(compose.fetched("crawler", search)).get("missing")
        # As Prometheus asks for it, and the published port on this machine.
        assert "gossamer_node_up" in compose.fetched("crawler", "http://broker:8080/metrics")
        assert "<form" in compose.fetched("broker", "http://127.0.0.1:8080/")
        for name in ("broker", "node-1", "node-2", "crawler"):
            assert compose.stop(name) == 0, compose.log(name)


def place(compose: Compose, hosts: dict[str, Host]) -> None:
    for name, host in hosts.items():
        host.names({other: each.address for other, each in hosts.items()})
        compose.place(name, host)
    for name in FURTHER:
        compose.place(name, hosts["crawler"])
