"""What changes nothing in most of a site matters in the rest of it, or later: is a page lost?"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import pytest

from gossamer.rules.url_rules.alias_samples import AGAIN, rules_to_sample
from gossamer.rules.url_rules.rewriting import COLUMNS, ActiveRule, Rewriter
from gossamer.rules.url_rules.verdicts import form_key
from tests.support.rows import put_all
from tests.support.shared_rounds import SharedRounds
from tests.support.url_rule_rows import alias, round_of, url_rule

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from gossamer.state.workspace import Workspace
    from tests.support.shared_rounds import Found, Pages, Site, Story

pytestmark = pytest.mark.slow

GROUPS = 200
FOLDERS = 10
LATE = 60
ROUNDS = 5
DAY_MS = 86_400_000
BEGIN_MS = 20_000 * DAY_MS

attacked = SharedRounds(url_rules={"evidence": 4, "sample": 0.0})
"""A crawl that believes quickly, and takes no samples but those that it must take."""
aged = SharedRounds(clock_ms=BEGIN_MS, url_rules={"evidence": 4, "sample": 0.0})


def content_of(url: str) -> int:
    """The parameter matters only in URLs with `late` in their paths."""
    parts = urlsplit(url)
    value = parse_qs(parts.query).get("sid", ["0"])[0]
    return form_key(f"{parts.path} {value if 'late' in parts.path else ''}")


def rewriter_of(site: Site) -> Rewriter:
    """The rules of the site as `parse` has them in the next round."""
    used = [row for row in site.rows("url_rules") if row["state"] in {"active", "trial"}]
    return Rewriter(ActiveRule(*(row[name] for name in COLUMNS)) for row in used)


def crawl_site(
    site: Site, content: Callable[[str], int], batches: Sequence[Sequence[str]]
) -> Generator[Found, Pages, set[str]]:
    """Fetch the first batch of URLs, link to one more in each round, and fetch what is due.

    Returns the URLs that were fetched.
    """
    due, fetched = set(map(site.url, batches[0])), set[str]()
    for number in range(1, ROUNDS):
        fetched |= due
        rewriter = rewriter_of(site)
        linked = map(site.url, batches[number] if number < len(batches) else ())
        rewritten = {url: rewriter.rewrite(url) for url in linked}
        pages = yield round_of(
            site,
            {url: content(url) for url in due},
            [each.url for each in rewritten.values()],
            [alias(url, each.url, *each.rules) for url, each in rewritten.items() if each.rules],
        )
        due = {
            url
            for url, row in pages.items()
            if row["status"] == "unfetched" and row["next_fetch_ms"] <= site.work.now_ms()
        }
    return fetched


@attacked.story
@pytest.mark.parametrize(
    ("honest", "late", "count"),
    [
        ("/f{}/{}", "/late/{}", LATE),
        ("/f{}/{}", "/late/list", LATE),
        ("/f{}/{}", "/f0/late", LATE),
        ("/f{}/{}", "/late/{}/index.html", LATE),
        ("/s/f{}/{}", "/s/late/{}", LATE),
        ("/s/f{}/{}", "/s/a/b/late/list", LATE),
        ("/s/f{}/{}", "/s/late/{}", 6),
        ("/f{}/{}", "/late/{}", 3),
        ("/~u{}/{}", "/~late/{}", LATE),
        ("/user/u{}/{}", "/user/late/{}", LATE),
        ("/p{}-{}", "/late", LATE),
    ],
)
def test_pages_in_which_a_parameter_matters_are_all_fetched(
    site: Site, honest: str, late: str, count: int
) -> Story:
    names = [honest.format(n % FOLDERS, n) for n in range(GROUPS)]
    taught = [f"{name}?sid={value}" for name in names for value in (1, 2)]
    wanted = [f"{late.format(n)}?sid={n}" for n in range(1, count + 1)]
    fetched = yield from crawl_site(site, content_of, [taught, [], wanted])
    assert [row for row in site.rows("url_rules") if row["supports"] >= GROUPS / FOLDERS]
    assert {site.url(path) for path in wanted} - fetched == set()


@attacked.story
def test_what_is_known_of_a_folder_spares_most_fetches_there(site: Site) -> Story:
    names = [f"/f{n % FOLDERS}/{n}" for n in range(GROUPS)]
    taught = [f"{name}?sid={value}" for name in names for value in (1, 2)]
    new = [f"/f{n % FOLDERS}/{n + GROUPS}?sid={value}" for n in range(200) for value in range(3)]
    fetched = yield from crawl_site(site, content_of, [taught, [], new])
    drawn = fetched & set(map(site.url, new))
    assert FOLDERS <= len(drawn) < len(new) / 5


@attacked.story
def test_owners_of_parts_of_a_host_teach_each_other_nothing(site: Site) -> Story:
    names = [f"/~u{n % FOLDERS}/{n}" for n in range(GROUPS)]
    taught = [f"{name}?sid={value}" for name in names for value in (1, 2)]
    yield round_of(site, {site.url(path): content_of(site.url(path)) for path in taught})
    rules = {
        (row["section"], row["state"]) for row in site.rows("url_rules") if row["name"] == "sid"
    }
    assert rules == {(f"/~u{n}/", "active") for n in range(FOLDERS)}
    assert not rewriter_of(site).rewrite(site.url("/~new/1?sid=1")).rules


@aged.story
def test_a_rule_that_is_no_longer_true_falls_within_a_period(site: Site) -> Story:
    taught = [f"/d/{n}?sid={value}" for n in range(GROUPS) for value in (1, 2)]
    new = [f"/d/{n + GROUPS}?sid={value}" for n in range(LATE) for value in range(3)]
    fetched = yield from crawl_site(site, content_of, [taught, [], new])
    withheld = set(map(site.url, new)) - fetched
    assert len(withheld) > len(new) / 2
    site.work.clock_ms = BEGIN_MS + 31 * DAY_MS
    pages = yield round_of(site, {site.url("/"): 1})
    drawn = {url for url in withheld if pages.get(url, {}).get("status") == "unfetched"}
    assert len(drawn) == AGAIN
    targets = {url.partition("?")[0] for url in drawn}
    assert all(pages[url]["next_fetch_ms"] == 0 for url in targets)
    unchanged = [{"url": url, "outcome": "unchanged", "http_status": 304} for url in targets]
    pages = yield round_of(site, {url: form_key(url) for url in drawn}, answers=unchanged)
    assert {pages[url]["status"] for url in withheld - drawn} == {"unfetched"}
    assert {row["state"] for row in site.rows("url_rules") if row["section"] == "/d/"} >= {
        "contradicted"
    }


def test_old_samples_take_one_request_in_a_hundred(work: Workspace) -> None:
    """Or those of one rule; the ones that have waited longest are drawn first."""
    waited = {"new": 29, "third": 30, "second": 31, "first": 60}
    known = [
        url_rule(name, "a.test", "/", "sid", "active", rewritten=9)
        | {"sampled_ms": work.now_ms() - days * DAY_MS}
        for name, days in waited.items()
    ]
    row = alias("http://a.test/?sid=1", "http://a.test/", "first")
    put_all(work, {"url_rules": known, "aliases": [row]}, 1)
    for requests, names in {
        1: {"first"},
        600: {"first", "second"},
        99_999: {*waited} - {"new"},
    }.items():
        due = rules_to_sample(work, requests)
        assert due is not None
        assert {row.rule for row in due.collect()} == names
