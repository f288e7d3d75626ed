"""`gossamer demo`: a crawl of the fake web."""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING, NamedTuple

import pytest

from gossamer.cli import demo
from gossamer.cli.demo import MARK
from tests.support.code_blocks import blocks
from tests.support.command_line import gossamer, lent
from tests.support.offline import refused_packets
from tests.support.repository import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from gossamer.engine.engine import Engine

pytestmark = pytest.mark.slow

OF_THE_FAKE_WEB_ALONE = """
from gossamer.cli import demo, main
demo.doc_folders = dict
main()
"""
NUMBER = re.compile(r"[\d,.]*\d")


class Demo(NamedTuple):
    """Where a demo has crawled, and what it has printed."""

    folder: Path
    printed: str


def run(folder: Path) -> Demo:
    """One host: others of this web ask for a crawl delay."""
    with pytest.MonkeyPatch.context() as patch:
        # This machine may have many manuals; tests/whole/test_real_webs.py has some.
        patch.setattr("gossamer.cli.demo.doc_folders", dict)
        patch.setenv("COLUMNS", "100")
        said = gossamer("demo", "--no-serve", "--hosts", "1", "--folder", folder)
    return Demo(folder, said.stdout)


def fetched(ran: Demo) -> int:
    counts = json.loads(gossamer("status", ran.folder, "--json").stdout)["pages"]
    return int(counts["fetched"])


@pytest.fixture(scope="module")
def short(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    """Two rounds of a demo, in place of an earlier one."""
    folder = tmp_path_factory.mktemp("short") / "demo"
    (folder / "links" / "00000099-0123abcd").mkdir(parents=True)
    (folder / MARK).touch()
    (folder / "links" / "00000099-0123abcd" / f"{'0' * 32}.parquet").touch()
    with lent(engine), pytest.MonkeyPatch.context() as patch:
        patch.setattr(demo, "ROUNDS", 2)
        yield run(folder)


def test_it_crawls_and_says_what_is_next(short: Demo) -> None:
    assert "fetched of" in short.printed
    assert f"gossamer serve {short.folder}" in short.printed
    assert fetched(short) > 5


def test_it_replaces_an_earlier_demo(short: Demo) -> None:
    assert not (short.folder / "links" / "00000099-0123abcd").exists()


def test_the_output_in_the_readme_has_the_shape_of_its_own(short: Demo) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (shown,) = [block for block in blocks(readme, "") if block.startswith("A web of")]
    lines = [line for line in shown.splitlines() if line != "…"]
    assert {shape(line) for line in lines} <= {shape(line) for line in short.printed.splitlines()}


def shape(line: str) -> str:
    """A line without its figures; a step without its counts, which depend on the web."""
    line = re.sub(r"^(round .*? s)  .*", r"\1", line.rstrip())
    return re.sub(r" +", " ", NUMBER.sub("N", line))


@pytest.mark.long
@pytest.mark.server
def test_a_whole_demo_with_an_engine_of_its_own_contacts_no_other_machine(tmp_path: Path) -> None:
    folder, counters = tmp_path / "demo", tmp_path / "counters"
    words = ["demo", "--no-serve", "--hosts", "1", "--folder", str(folder)]
    assert refused_packets([sys.executable, "-c", OF_THE_FAKE_WEB_ALONE, *words], counters) == 0
    assert fetched(Demo(folder, "")) > 100
    asked = "import socket; socket.socket(type=socket.SOCK_DGRAM).connect_ex(('192.0.2.1', 53))"
    assert refused_packets([sys.executable, "-c", asked], counters) == 1


def test_the_demo_leaves_other_folders_alone(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    said = gossamer("demo", "--no-serve", "--folder", tmp_path, code=1).stderr
    assert "was not created by gossamer demo" in said
    (tmp_path / MARK).touch()
    said = gossamer("demo", "--no-serve", "--folder", tmp_path, code=1).stderr
    assert "holds file, which gossamer demo did not write" in said
    assert (tmp_path / "file").exists()
