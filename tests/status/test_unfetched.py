"""A crawl that fetched nothing says why: the URL that was asked for, the reason, the setting."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from gossamer import config
from gossamer.api.crawl import Crawl
from gossamer.errors import NothingFetched
from gossamer.status import unfetched
from gossamer.tables.outcomes import OUTCOMES
from tests.support.loopback import RESET, Loopback, page

if TYPE_CHECKING:
    from gossamer.state.workspace import Workspace

LOCAL = ("127.0.0.0/8",)


def run(work: Workspace, *urls: str, **fetch: object) -> NothingFetched | None:
    """What a user is told after a round from these seeds."""
    work.clock_ms = None
    work.config = replace(work.config, fetch=replace(work.config.fetch, delay_s=0, **fetch))
    crawl = Crawl(work)
    if urls:
        crawl.inject(urls)
    return unfetched.why_nothing(work, crawl.run(rounds=1), seeds_given=bool(urls))


def test_an_address_that_is_not_allowed_names_the_setting_and_is_fetched_once_it_is(
    work: Workspace, server: Loopback
) -> None:
    server.answers = {"/": page(b"<p>hello")}
    url = f"http://{server.address}/"
    error = run(work, url)
    assert error is not None
    assert f"{url}: forbidden_address: " in str(error)
    assert "fetch.allow_networks" in error.remedy
    assert "--own" in error.remedy
    assert run(work, url, allow_networks=LOCAL) is None
    assert server.paths == ["/robots.txt", "/"]


def test_a_server_without_tls_that_is_asked_over_it(work: Workspace, server: Loopback) -> None:
    error = run(work, f"https://{server.address}/", allow_networks=LOCAL)
    assert error is not None
    assert f"https://{server.address}/: tls: " in str(error)
    assert "write http://" in error.remedy
    assert "tried again after" in str(error)


def test_robots_txt_that_forbids_all(work: Workspace, server: Loopback) -> None:
    forbidding = page(b"User-agent: *\nDisallow: /", ("Content-Type: text/plain",))
    server.answers = {"/": page(b"<p>hello"), "/robots.txt": [forbidding, page()]}
    url = f"http://{server.address}/"
    error = run(work, url, allow_networks=LOCAL)
    assert error is not None
    assert f"{url}: robots: " in str(error)
    assert "fetch.agent" in error.remedy
    assert run(work, url) is None, "a robots.txt that was mended is read again for a seed"


def test_a_redirect_out_of_scope_names_its_target(work: Workspace, server: Loopback) -> None:
    moved = page(b"", ("Location: http://elsewhere.test/",), status="301 Moved")
    server.answers = {"/": moved}
    error = run(work, f"http://{server.address}/", allow_networks=LOCAL)
    assert error is not None
    assert "redirect: to http://elsewhere.test/, which was not fetched" in str(error)
    assert "filter.scope" in error.remedy


def test_failures_are_grouped_by_reason(work: Workspace, server: Loopback) -> None:
    server.answers = {"/reset": RESET}
    urls = [f"http://{server.address}/{name}" for name in ("a", "b", "c", "reset")]
    error = run(work, *urls, allow_networks=LOCAL)
    assert error is not None
    assert f"{urls[0]} and 2 more: not_found: " in str(error)
    assert f"{urls[3]}: " in str(error)
    assert error.remedy.count("→") == 1, "one remedy for each of two reasons"


def test_a_crawl_without_seeds(work: Workspace) -> None:
    assert "there are no seeds" in str(run(work))
    with pytest.raises(NothingFetched, match="there are no seeds"):
        unfetched.require_seeds(work)


def test_a_crawl_that_holds_pages_and_finds_nothing_new_is_no_error(
    work: Workspace, server: Loopback
) -> None:
    server.answers = {"/": page(b"<p>hello")}
    assert run(work, f"http://{server.address}/", allow_networks=LOCAL) is None
    assert run(work) is None
    assert run(work, f"http://{server.address}/missing") is not None, "a seed that was named"


def test_a_resumed_crawl_whose_links_are_all_broken_is_no_error(
    work: Workspace, server: Loopback
) -> None:
    server.answers = {"/": page(b"<a href=/missing>a broken link</a>")}
    seed = f"http://{server.address}/"
    assert run(work, seed, allow_networks=LOCAL) is None
    assert run(work, seed) is None
    assert server.paths == ["/robots.txt", "/", "/missing"]


@pytest.mark.slow
def test_a_seed_that_failed_is_asked_again_when_the_settings_have_changed(
    work: Workspace, server: Loopback
) -> None:
    server.answers = {"/": page(b"<p>hello")}
    settings = Path(work.root, "gossamer.toml")
    settings.touch()
    assert run(work, f"http://{server.address}/") is not None
    assert run(work, allow_networks=LOCAL) is not None, "nobody has written new settings"
    changed_s = time.time() + 60
    os.utime(settings, (changed_s, changed_s))
    assert run(work) is None
    assert server.paths == ["/robots.txt", "/"]


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_every_failure_has_a_remedy_and_settings_that_there_are(outcome: str) -> None:
    policy = OUTCOMES[outcome]
    assert bool(policy.remedy) != policy.answered
    for setting in policy.settings:
        table, _, key = setting.partition(".")
        assert hasattr(getattr(config.Config(), table), key), setting


def test_pages_of_a_group_without_a_worker_name_setting_and_variable(
    work: Workspace, server: Loopback
) -> None:
    server.answers = {"/": page(b"<p>hello")}
    url = f"http://{server.address}/"
    setting = {"eu": ("127.0.0.0/8",)}
    error = run(work, url, allow_networks=LOCAL, egress=setting)
    assert error is not None
    assert error.remedy.startswith("postponed_egress: start workers of their groups (fetch.egress)")
    assert server.asked == []
    assert run(work, url, allow_networks=LOCAL, egress={}) is None
