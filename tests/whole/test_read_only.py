"""Commands that read a crawl whose folder, and all in it, this account cannot write to."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from gossamer.api.crawl import Crawl
from gossamer.fakeweb import FakeWeb, Mix, Web
from tests.support.crawl_settings import loopback_settings

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


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_that_reads_needs_not_write(
    command: str, crawl: Crawl, theirs: Path, tmp_path: Path
) -> None:
    url = next(row["url"] for row in crawl.pages().where("status = 'fetched'").take(1))
    done = run(command.format(crawl=theirs, url=url, out=tmp_path).split(), tmp_path)
    assert done.returncode == 0, done.stderr
    assert COMMANDS[command] in done.stdout + done.stderr
    assert list(tmp_path.glob("work-*")) == []


def test_a_server_needs_not_write(theirs: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "GOSSAMER_CACHE": str(tmp_path)}
    command = [*PROGRAM, "serve", str(theirs), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server:
        assert server.stdout is not None
        found = re.search(r"http://\S+/", server.stdout.readline())
        assert found is not None
        for path in ("api/search?q=the", "status", "sections", "metrics"):
            assert httpx.get(found[0] + path).status_code == 200, path
        server.send_signal(signal.SIGINT)
        assert server.wait(20) == 0


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
