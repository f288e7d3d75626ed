"""Commands that read a crawl whose folder, and all in it, this account cannot write to."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import httpx
import pytest

from gossamer.api.crawl import Crawl
from gossamer.fakeweb import FakeWeb, Mix, Web
from tests.support.crawl_settings import loopback_settings
from tests.support.repository import ROOT

if TYPE_CHECKING:
    from gossamer.engine.engine import Engine

pytestmark = pytest.mark.slow

# Root can write and read everything, unless it gives up these capabilities.
ORDINARY = ["setpriv", "--bounding-set=-dac_override,-dac_read_search,-fowner", "--inh-caps=-all"]
RIGHTS = ORDINARY if os.geteuid() == 0 else []
COMMANDS = {
    "status {crawl}": "round",
    "search {crawl} the": "results in",
    "check {crawl}": "all are whole, and their contents agree",
    "export {crawl} pages --output {out}/pages.csv": "rows in",
    "export {crawl} documents --output {out}/documents.csv": "rows in",
    "explain {crawl} {url}": "fetched",
    "sections {crawl}": "*/",
    "duplicates show {crawl} {url}": "",
    "duplicates rules {crawl}": "",
    "graph stats {crawl}": "core",
    "graph outlinks {crawl} {url}": "http://",
    "filter list {crawl}": "",
    "filter test {crawl} {url}": "",
    "mark {crawl} --list": "",
    "inspect {url} --crawl {crawl} --stored": "",
}


@pytest.fixture(scope="module")
def crawl(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    with FakeWeb(Web(hosts=2, pages_per_host=20, mix=Mix.plain())) as fake:
        folder = tmp_path_factory.mktemp("read") / "crawl"
        crawl = Crawl.create(str(folder), loopback_settings(fake.address), engine)
        crawl.inject(fake.web.seeds())
        crawl.run()
        crawl.build_graph()
    return crawl


PROGRAM = [*RIGHTS, sys.executable, "-c", "from gossamer.cli import main; main()"]
ONE_BY_ONE = """
import json, sys
from gossamer.config import EngineConfig
from gossamer.engine.engine import Engine
from tests.support.command_line import gossamer, lent

def run(words):
    try:
        return "".join(gossamer(*words))
    except AssertionError as error:
        return f"FAILED: {error}"

with Engine(EngineConfig(workers=1)) as engine, lent(engine):
    json.dump([run(words) for words in json.load(sys.stdin)], sys.stdout)
"""
"""Runs commands in a process without rights. To start one for each takes longer than most run."""


def run(command: list[str], cache: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PROGRAM, *command],
        capture_output=True,
        check=False,
        text=True,
        env={**os.environ, "GOSSAMER_CACHE": str(cache)},
    )


@pytest.fixture(scope="module")
def theirs(crawl: Crawl, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy that nobody can write to, as on a read-only file system."""
    folder = tmp_path_factory.mktemp("theirs") / "crawl"
    shutil.copytree(crawl.path, folder)
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    return folder


class Read(NamedTuple):
    """What each command has printed, and the cache that they had."""

    said: dict[str, str]
    cache: Path


@pytest.fixture(scope="module")
def read(crawl: Crawl, theirs: Path, tmp_path_factory: pytest.TempPathFactory) -> Read:
    cache = tmp_path_factory.mktemp("cache")
    url = next(row["url"] for row in crawl.pages().where("status = 'fetched'").take(1))
    words = [each.format(crawl=theirs, url=url, out=cache).split() for each in COMMANDS]
    done = subprocess.run(
        [*RIGHTS, sys.executable, "-c", ONE_BY_ONE],
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
        env={**os.environ, "GOSSAMER_CACHE": str(cache)},
        input=json.dumps(words),
    )
    return Read(dict(zip(COMMANDS, json.loads(done.stdout), strict=True)), cache)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_that_reads_needs_not_write(command: str, read: Read) -> None:
    assert not read.said[command].startswith("FAILED")
    assert COMMANDS[command] in read.said[command]


def test_commands_leave_no_scratch_files_in_their_cache(read: Read) -> None:
    assert list(read.cache.glob("work-*")) == []


def test_a_server_needs_not_write(theirs: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "GOSSAMER_CACHE": str(tmp_path)}
    command = [*PROGRAM, "serve", str(theirs), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server:
        try:
            assert server.stdout is not None
            found = re.search(r"http://\S+/", server.stdout.readline())
            assert found is not None
            for path in ("api/v1/search?q=the", "status", "sections", "metrics"):
                assert httpx.get(found[0] + path, timeout=60).status_code == 200, path
            server.send_signal(signal.SIGINT)
            assert server.wait(60) == 0
        finally:
            server.kill()


def test_a_check_says_what_it_could_not_read(theirs: Path, crawl: Crawl, tmp_path: Path) -> None:
    (path,) = (Path(theirs, file.path) for file in crawl.work.store.listed("indexed"))
    path.chmod(0)
    try:
        done = run(["check", str(theirs)], tmp_path)
    finally:
        path.chmod(0o444)
    assert done.returncode == 1
    assert f"{path}: permission denied" in done.stderr
    assert "could not be read, so it is not known whether they are whole" in done.stderr
    assert "damaged or missing" not in done.stderr
