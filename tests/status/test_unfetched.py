"""A crawl that fetched nothing says why: the URL that was asked for, the reason, the setting."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
from msgspec.structs import replace

from gossamer import config
from gossamer.api.crawl import Crawl
from gossamer.errors import NothingFetched
from gossamer.flow import rounds
from gossamer.status import nothing_fetched
from gossamer.tables.outcomes import OUTCOMES
from tests.support.crawl_settings import SITE_FILES
from tests.support.loopback import RESET, Loopback, loopback, page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gossamer.state.workspace import Workspace

pytestmark = pytest.mark.slow

LOCAL = ("127.0.0.0/8",)


def run(work: Workspace, *urls: str, **fetch: object) -> NothingFetched | None:
    """What a user is told after a round from these seeds. A harvest would not change it."""
    work.clock_ms = None
    work.config = replace(work.config, fetch=replace(work.config.fetch, delay_s=0, **fetch))
    if urls:
        Crawl(work).inject(urls)
    reports = list(rounds.round_(work, lambda _step, _round: None))
    return nothing_fetched.why_nothing(work, reports, seeds_given=bool(urls))


class Refused(NamedTuple):
    """A crawl none of whose seeds could be fetched, each for another reason, and its error."""

    work: Workspace
    error: NothingFetched
    without_tls: str


ROBOTS = "http://robots.test/"
MOVED = "http://moved.test/"
RESETTING = "http://reset.test/"
MISSING = [f"http://missing.test/{name}" for name in ("a", "b", "c")]


@pytest.fixture(scope="module")
def refused(new_work: Callable[[], Workspace]) -> Iterator[Refused]:
    forbidding = page(b"User-agent: *\nDisallow: /", ("Content-Type: text/plain",))
    with loopback() as server:
        server.answers = {
            "robots.test/": page(b"<p>hello"),
            "robots.test/robots.txt": [forbidding, page()],
            "moved.test/": page(b"", ("Location: http://elsewhere.test/",), status="301 Moved"),
            "reset.test/": RESET,
        }
        work, without_tls = new_work(), f"https://{server.address}/"
        seeds = [without_tls, ROBOTS, MOVED, RESETTING, *MISSING]
        names = {"*.test": server.address}
        error = run(work, *seeds, allow_networks=LOCAL, host_overrides=names)
        assert error is not None
        yield Refused(work, error, without_tls)


def test_a_server_without_tls_that_is_asked_over_it(refused: Refused) -> None:
    (line,) = (line for line in str(refused.error).splitlines() if refused.without_tls in line)
    assert f"{refused.without_tls}: tls: " in line
    assert "tried again after" in line
    assert "write http://" in refused.error.remedy


def test_robots_txt_that_forbids_all(refused: Refused) -> None:
    assert f"{ROBOTS}: robots: " in str(refused.error)
    assert "fetch.agent" in refused.error.remedy
    again = run(refused.work, ROBOTS)
    assert again is None, "a robots.txt that was mended is read again for a seed"


def test_a_redirect_out_of_scope_names_its_target(refused: Refused) -> None:
    told = f"{MOVED}: redirect: to http://elsewhere.test/, which was not fetched"
    assert told in str(refused.error)
    assert "filter.scope" in refused.error.remedy


def test_failures_are_grouped_by_reason(refused: Refused) -> None:
    assert f"{MISSING[0]} and 2 more: not_found: " in str(refused.error)
    assert f"{RESETTING}: " in str(refused.error)
    assert refused.error.remedy.count("→") == 4, "one remedy for each of five reasons"


class Told(NamedTuple):
    """What a user is told after each run of one crawl, and what the server was asked so far."""

    url: str
    forbidden: NothingFetched | None
    without_worker: NothingFetched | None
    asked_before: int
    fetched: NothingFetched | None
    asked: list[str]
    broken_link: NothingFetched | None
    asked_at_last: list[str]
    nothing_due: NothingFetched | None
    missing_seed: NothingFetched | None


@pytest.fixture(scope="module")
def told(new_work: Callable[[], Workspace]) -> Told:
    with loopback() as server:
        server.answers = {"/": page(b"<a href=/missing>a broken link</a>")}
        work, url = new_work(), f"http://{server.address}/"
        return Told(
            url,
            run(work, url),
            run(work, url, allow_networks=LOCAL, egress={"eu": LOCAL}),
            server.opened,
            run(work, url, egress={}),
            list(server.paths),
            run(work, url),
            list(server.paths),
            run(work),
            run(work, f"{url}missing-seed"),
        )


def test_an_address_that_is_not_allowed_names_the_setting_and_is_fetched_once_it_is(
    told: Told,
) -> None:
    assert told.forbidden is not None
    assert f"{told.url}: forbidden_address: " in str(told.forbidden)
    assert "fetch.allow_networks" in told.forbidden.remedy
    assert "--own" in told.forbidden.remedy
    assert told.fetched is None
    assert told.asked == [*SITE_FILES, "/"]


def test_pages_of_a_group_without_a_worker_name_setting_and_variable(told: Told) -> None:
    assert told.without_worker is not None
    start = "postponed_egress: start workers of their groups (fetch.egress)"
    assert told.without_worker.remedy.startswith(start)
    assert told.asked_before == 0
    assert told.fetched is None


def test_a_resumed_crawl_whose_links_are_all_broken_is_no_error(told: Told) -> None:
    assert told.broken_link is None
    assert told.asked_at_last == [*SITE_FILES, "/", "/missing"]


def test_a_crawl_that_holds_pages_and_finds_nothing_new_is_no_error(told: Told) -> None:
    assert told.nothing_due is None
    assert told.missing_seed is not None, "a seed that was named"


def test_a_crawl_without_seeds(work: Workspace) -> None:
    assert "there are no seeds" in str(run(work))
    with pytest.raises(NothingFetched, match="there are no seeds"):
        nothing_fetched.require_seeds(work)


def test_a_seed_that_failed_is_asked_again_when_the_settings_have_changed(
    work: Workspace, server: Loopback
) -> None:
    server.answers = {"/": page(b"<p>hello")}
    settings = Path(work.root, "gossamer.toml")
    settings.touch()
    assert run(work, f"http://{server.address}/") is not None
    assert run(work, allow_networks=LOCAL) is not None, "nobody has written new settings"
    settings.touch()
    assert run(work) is None
    assert server.paths == [*SITE_FILES, "/"]


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_every_failure_has_a_remedy_and_settings_that_there_are(outcome: str) -> None:
    policy = OUTCOMES[outcome]
    assert bool(policy.remedy) != policy.answered
    for setting in policy.settings:
        table, _, key = setting.partition(".")
        assert hasattr(getattr(config.Config(), table), key), setting
