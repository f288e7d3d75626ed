"""All settings that cannot be used are told before a crawl begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gossamer.api.crawl import Crawl
from gossamer.errors import ConfigError
from gossamer.flow.settings_check import check_settings

if TYPE_CHECKING:
    from pathlib import Path

BAD = {
    "filter.allow": 'filter.allow = ["("]',
    "filter.deny": 'filter.deny = ["["]',
    "rules.txt": 'filter.files = ["rules.txt"]',
    "update.scoring": 'update.scoring = "none of these"',
    "fit_rules": 'update.fit_rules = ["nonsense"]',
    "NO_SUCH_VARIABLE": 'fetch.sites = [{hosts = "a.test", password = {env = "NO_SUCH_VARIABLE"}}]',
    "urls.schemes: 'gopher'": 'urls.schemes = ["https", "gopher"]',
    "sites.toml": 'parse.site_rules = "sites.toml"',
    "rank.trusted": 'rank.trusted = ["two words"]',
}


@pytest.mark.parametrize("named", BAD)
def test_a_setting_that_cannot_be_used_is_named_with_a_remedy(tmp_path: Path, named: str) -> None:
    with (
        Crawl.create(str(tmp_path / "crawl"), BAD[named]) as crawl,
        pytest.raises(ConfigError) as raised,
    ):
        check_settings(crawl.work)
    assert named in str(raised.value)
    assert raised.value.remedy


def test_all_of_them_are_told_at_once(tmp_path: Path) -> None:
    with (
        Crawl.create(str(tmp_path / "crawl"), "\n".join(BAD.values())) as crawl,
        pytest.raises(ConfigError) as raised,
    ):
        check_settings(crawl.work)
    first, *problems = raised.value.what.splitlines()
    assert first == f"{len(BAD)} settings cannot be used:"
    for named in BAD:
        assert sum(named in problem for problem in problems) == 1, named


def test_a_folder_for_files_must_be_listed(tmp_path: Path) -> None:
    with (
        Crawl.create(str(tmp_path / "crawl"), 'urls.schemes = ["file"]') as crawl,
        pytest.raises(ConfigError, match=r"fetch\.file_folders"),
    ):
        check_settings(crawl.work)


def test_nothing_is_run_before(tmp_path: Path) -> None:
    begun: list[str] = []
    with (
        Crawl.create(str(tmp_path / "crawl"), BAD["rank.trusted"]) as crawl,
        pytest.raises(ConfigError),
    ):
        crawl.run(1, announce=lambda step, _: begun.append(step))
    assert not begun


def test_default_settings_pass(tmp_path: Path) -> None:
    with Crawl.create(str(tmp_path / "crawl")) as crawl:
        check_settings(crawl.work)
