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
    with pytest.raises(Conflict, match="already contains a crawl"):
        Crawl.create(str(tmp_path), "fetch.delay_s = 2.0")


def test_an_interrupted_create_can_be_repeated(tmp_path: Path) -> None:
    (tmp_path / "gossamer.toml").write_text("fetch.delay_s = 2.0")
    with pytest.raises(NotACrawl):
        Crawl.open(str(tmp_path))
    assert Crawl.create(str(tmp_path), "fetch.delay_s = 2.0").work.config.fetch.delay_s == 2.0


def test_existing_settings_are_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "gossamer.toml").write_text("fetch.delay_s = 2.0")
    with pytest.raises(Conflict, match=r"gossamer\.toml: already exists"):
        Crawl.create(str(tmp_path), "")
    assert (tmp_path / "gossamer.toml").read_text() == "fetch.delay_s = 2.0"


def test_bad_settings_make_no_crawl(tmp_path: Path) -> None:
    with pytest.raises(ConfigError):
        Crawl.create(str(tmp_path), "fetch.delay = 2")
    assert list(tmp_path.iterdir()) == []
