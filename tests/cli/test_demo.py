"""`gossamer demo`: a crawl of the fake web, with its own engine."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from gossamer.cli import demo, main
from gossamer.cli.demo import MARK
from tests.support.command_line import gossamer

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.server
@pytest.mark.parametrize(
    ("most_rounds", "pages"), [(3, 20), pytest.param(demo.ROUNDS, 100, marks=pytest.mark.long)]
)
def test_demo(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    most_rounds: int,
    pages: int,
) -> None:
    folder = tmp_path / "demo"
    monkeypatch.setattr(demo, "ROUNDS", most_rounds)
    monkeypatch.setattr(
        "gossamer.cli.demo.doc_folders", dict
    )  # tests/whole/test_real_webs.py has manuals
    # One host: others of this web ask for a crawl delay.
    words = ["gossamer", "demo", "--no-serve", "--hosts", "1", "--folder", str(folder)]
    monkeypatch.setattr(sys, "argv", words)
    folder.mkdir()
    (folder / MARK).touch()
    earlier = folder / "links" / "00000099-0123abcd" / f"{'0' * 32}.parquet"
    earlier.parent.mkdir(parents=True)
    earlier.touch()
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    said = capsys.readouterr().out
    assert "fetched of" in said
    assert f"gossamer serve {folder}" in said
    assert not earlier.exists()
    counts = json.loads(gossamer("status", folder, "--json").stdout)["pages"]
    assert counts["fetched"] > pages


def test_the_demo_leaves_other_folders_alone(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    said = gossamer("demo", "--no-serve", "--folder", tmp_path, code=1).stderr
    assert "was not created by gossamer demo" in said
    (tmp_path / MARK).touch()
    said = gossamer("demo", "--no-serve", "--folder", tmp_path, code=1).stderr
    assert "holds file, which gossamer demo did not write" in said
    assert (tmp_path / "file").exists()
