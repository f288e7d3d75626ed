"""Another user of the machine, while a crawl runs: there is nothing to read, lock or connect to."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from gossamer.api.crawl import Crawl
from tests.support.crawl_settings import loopback_settings
from tests.support.loopback import Held, loopback, page

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become another user"),
]
CODE = """
from gossamer.engine.small import limits
# Sail runs every query, and starts for the first one.
limits.BESIDE_SAIL = limits.BESIDE_SAIL._replace(rows=-1)
from gossamer.cli import main
main()
"""
GOSSAMER = (sys.executable, "-c", CODE)
NOBODY = 65_534
PATIENCE_S = 60
INTRUDER = """
import fcntl, json, os, socket, sys
paths, ports = json.load(sys.stdin)
os.setgroups([])
os.setgid({nobody})
os.setuid({nobody})
done = []
for path in paths:
    for flags in (os.O_RDONLY, os.O_WRONLY):
        try:
            descriptor = os.open(path, flags | os.O_NONBLOCK)
        except OSError:
            continue
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        done.append(f"opened {{path}}")
    try:
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(path)
            done.append(f"connected to {{path}}")
    except OSError:
        pass
for port in ports:
    try:
        socket.create_connection(("127.0.0.1", port), 5).close()
        done.append(f"connected to {{port}}")
    except OSError:
        pass
print(json.dumps(done))
"""


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that all users may enter, unlike those of pytest."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def intrude(folder: Path, *commands: psutil.Process) -> list[str]:
    """What another user can do with files in folders of a folder, and with ports of commands."""
    ports = [
        each.laddr.port
        for command in commands
        for process in (command, *command.children(recursive=True))
        for each in process.net_connections("inet")
        if each.status == psutil.CONN_LISTEN
    ]
    given = json.dumps([[str(path) for path in folder.glob("*/**/*")], ports])
    code = INTRUDER.format(nobody=NOBODY)
    ended = subprocess.run(
        [sys.executable, "-c", code], input=given, stdout=subprocess.PIPE, text=True, check=True
    )
    done: list[str] = json.loads(ended.stdout)
    return done


def test_another_user_finds_nothing_to_read_lock_or_connect_to(open_folder: Path) -> None:
    temporary, crawl = open_folder / "temporary", open_folder / "crawl"
    for folder in (temporary, crawl):
        folder.mkdir()
        folder.chmod(0o755)
    home = Held()
    with loopback() as web:
        web.answers["/"] = home
        settings = crawl / "gossamer.toml"
        settings.write_text(loopback_settings(web.address, 'fetch.own_hosts = ["*.test"]'))
        settings.chmod(0o600)
        with subprocess.Popen(
            [*GOSSAMER, "crawl", str(crawl), "http://a.test/"],
            env=os.environ | {"TMPDIR": str(temporary)},
            umask=0o022,
        ) as running:
            assert home.asked.wait(PATIENCE_S)
            during = intrude(open_folder, psutil.Process(running.pid))
            home.free.set()
            assert running.wait() == 0
    assert during == []
    assert list(crawl.glob("index/**/meta.json"))
    assert intrude(open_folder) == []


def test_others_may_read_if_the_settings_say_so(open_folder: Path) -> None:
    """They cannot hold its lock."""
    with loopback() as web:
        web.answers["/"] = page(b"<title>Rose</title><p>A rose.")
        settings = 'fetch.own_hosts = ["*.test"]\nstore.readers = "all"'
        Crawl.create(str(open_folder / "crawl"), loopback_settings(web.address, settings))
        command = [*GOSSAMER, "crawl", str(open_folder / "crawl"), "http://a.test/"]
        subprocess.run(command, check=True, umask=0o077)
    files = {str(path) for path in (open_folder / "crawl").rglob("*") if path.is_file()}
    opened = {each.removeprefix("opened ") for each in intrude(open_folder) if "opened" in each}
    assert files - opened == {str(open_folder / "crawl" / ".lock")}
