from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gossamer import Crawl
from gossamer.errors import ConfigError, Conflict, NotACrawl

if TYPE_CHECKING:
    from pathlib import Path


def test_a_crawl_is_made_once(tmp_path: Path) -> None:
    Crawl.create(str(tmp_path), "fetch.delay_s = 2.0")
    assert Crawl.open(str(tmp_path)).work.config.fetch.delay_s == 2.0
    with pytest.raises(Conflict, match="there is a crawl already"):
        Crawl.create(str(tmp_path), "fetch.delay_s = 2.0")


def test_one_that_was_cut_off_while_it_was_made_is_made_again(tmp_path: Path) -> None:
    (tmp_path / "gossamer.toml").write_text("fetch.delay_s = 2.0")
    with pytest.raises(NotACrawl):
        Crawl.open(str(tmp_path))
    assert Crawl.create(str(tmp_path), "fetch.delay_s = 2.0").work.config.fetch.delay_s == 2.0


def test_settings_that_are_there_are_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "gossamer.toml").write_text("fetch.delay_s = 2.0")
    with pytest.raises(Conflict, match=r"gossamer\.toml: there are settings already"):
        Crawl.create(str(tmp_path), "")
    assert (tmp_path / "gossamer.toml").read_text() == "fetch.delay_s = 2.0"


def test_bad_settings_make_no_crawl(tmp_path: Path) -> None:
    with pytest.raises(ConfigError):
        Crawl.create(str(tmp_path), "fetch.delay = 2")
    assert list(tmp_path.iterdir()) == []
