"""What rounds teach about URLs, and what becomes of pages when rules start and are dropped."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any

import pytest

from gossamer.api.crawl import Crawl
from gossamer.errors import UsageError
from gossamer.rules.url_rules import forms
from gossamer.rules.url_rules.rule_states import MIN_TRIAL
from gossamer.rules.url_rules.verdicts import rule_id
from tests.support.shared_rounds import SharedRounds
from tests.support.url_rule_rows import Contents, alias, round_of, url_rule

if TYPE_CHECKING:
    from tests.support.shared_rounds import Found, Pages, Site, Story

NEEDED = 4
MANY = 300
"""Groups after which hardly any page is sampled."""
DAY_MS = 86_400_000
SID = ("/d/", "parameter", "sid")
WAITING = [f"/d/{number}?sid=1" for number in range(100, 120)]

Pair = Callable[[int], tuple[str, str]]

learned = SharedRounds(url_rules={"evidence": NEEDED, "sample": 0.0})
"""A crawl that learns quickly and takes no samples, except when there is little evidence."""
sampled = SharedRounds(url_rules={"learn": False, "sample": 0.3})
"""A crawl that follows the rules that it has."""


def rules(site: Site) -> dict[tuple[str, str, str], dict[str, Any]]:
    """The rules by section, kind and name."""
    return {(row["section"], row["kind"], row["name"]): row for row in site.rows("url_rules")}


def state(site: Site, key: tuple[str, str, str] = SID) -> str:
    found: str = rules(site)[key]["state"]
    return found


def sid(site: Site) -> str:
    """The identifier of the rule about `sid`."""
    return rule_id(site.host(), *SID)


def twins(of: Pair, count: int = NEEDED) -> Contents:
    """Pairs of URLs with equal contents."""
    return {name: number for number in range(count) for name in of(number)}


def with_sid(site: Site, folder: str = "d") -> Pair:
    return lambda number: (
        site.url(f"/{folder}/{number}?sid=1"),
        site.url(f"/{folder}/{number}?sid=2"),
    )


def with_v(site: Site) -> Pair:
    return lambda number: (site.url(f"/d/{number}?v=1"), site.url(f"/d/{number}"))


def contradiction(site: Site, number: int) -> Contents:
    """Two pages that differ, though a rule about `sid` says that they are one."""
    first, second = with_sid(site)(number)
    return {first: 99, second: -99}


def moved(source: str, target: str, status: int = 301) -> dict[str, Any]:
    """The answer of a page that has moved."""
    answer = {"outcome": "redirect", "http_status": status}
    return answer | {"url": source, "redirect_url": target}


@learned.story
def test_a_rule_is_learned_from_contents_that_agree(site: Site) -> Story:
    yield round_of(site, twins(with_sid(site)))
    rule = rules(site)[SID]
    assert (rule["state"], rule["supports"], rule["contradictions"]) == ("active", NEEDED, 0)
    assert (rule["rule"], rule["host"]) == (sid(site), site.host())
    assert len(rule["examples"]) == 6
    assert {name.partition("?")[0] for name in rule["examples"][:2]} == {rule["examples"][0][:-6]}


@learned.story
def test_fewer_groups_are_not_enough_until_a_later_round_adds_some(site: Site) -> Story:
    yield round_of(site, twins(with_sid(site), MIN_TRIAL - 1))
    assert state(site) == "learning"
    more = {"/d/76?sid=8": 76, "/d/76": 76, "/d/77?sid=8": 77}
    yield round_of(site, {site.url(path): text for path, text in more.items()})
    assert state(site) == "trial"
    yield round_of(site, {site.url("/d/77?sid=9"): 77})
    rule = rules(site)[SID]
    assert (rule["state"], rule["supports"]) == ("active", NEEDED)
    assert (rule["first_round"], rule["last_round"]) == (1, 3)


def on_trial(site: Site) -> Generator[Found, Pages, tuple[set[str], set[str]]]:
    """Of pages that a rule on trial rewrites, those that are fetched as samples, and the others."""
    waiting = set(map(site.url, WAITING))
    pages = yield round_of(site, twins(with_sid(site), MIN_TRIAL), waiting)
    assert state(site) == "trial"
    samples = {name for name in waiting if pages[name]["status"] == "unfetched"}
    return samples, waiting - samples


@learned.story
def test_a_rule_on_trial_delays_pages_until_its_samples_are_fetched(site: Site) -> Story:
    samples, delayed = yield from on_trial(site)
    assert NEEDED - MIN_TRIAL <= len(samples) < len(WAITING)
    first, *others = sorted(samples)
    assert {site.pages()[name]["status"] for name in delayed} == {"alias"}
    # A sample that leads to a page with known contents decides nothing, and another one is missing.
    pages = yield round_of(site, {name: 1 for each in others for name in (each, each[:-6])})
    assert state(site) == "trial"
    assert {pages[name]["status"] for name in delayed} == {"alias"}
    pages = yield round_of(site, {first: 1, first[:-6]: 1})
    assert state(site) == "learning"
    assert {pages[name]["status"] for name in delayed} == {"unfetched"}
    yield round_of(site, twins(with_sid(site), MIN_TRIAL))
    assert state(site) == "learning"


@learned.story
def test_a_rule_whose_samples_agree_becomes_active(site: Site) -> Story:
    samples, delayed = yield from on_trial(site)
    contents = {name: int(each[-9:-6]) for each in samples for name in (each, each[:-6])}
    pages = yield round_of(site, contents)
    assert state(site) == "active"
    assert {pages[name]["status"] for name in delayed} == {"alias"}


@learned.story
def test_a_sample_that_differs_ends_the_trial(site: Site) -> Story:
    samples, delayed = yield from on_trial(site)
    first = min(samples)
    pages = yield round_of(site, {first: 100, first[:-6]: 101})
    assert state(site) == "contradicted"
    assert {pages[name]["status"] for name in delayed} == {"unfetched"}


@learned.story
def test_one_content_for_all_urls_teaches_nothing(site: Site) -> Story:
    soft_404 = {name: 1 for number in range(50) for name in with_sid(site)(number)}
    yield round_of(site, soft_404)
    rule = rules(site)[SID]
    assert (rule["state"], rule["supports"]) == ("learning", 50)


@learned.story
def test_one_contradiction_is_enough(site: Site) -> Story:
    yield round_of(site, twins(with_sid(site), 50) | contradiction(site, 99))
    rule = rules(site)[SID]
    assert (rule["state"], rule["contradictions"]) == ("contradicted", 1)
    assert rule["counterexamples"] == list(contradiction(site, 99))[::-1]


@learned.story
def test_forms_of_contradicted_rules_are_not_kept(site: Site) -> Story:
    elsewhere = site.url("/e/1?sid=1")
    yield round_of(site, contradiction(site, 99))
    yield round_of(site, twins(with_sid(site)) | {elsewhere: 1})
    kept = [row["url"] for row in site.rows("url_forms") if row["kind"] == "parameter"]
    assert sorted(kept) == [next(iter(contradiction(site, 99))), elsewhere]


@learned.story
def test_parameters_that_never_change_are_not_dropped_with_others(site: Site) -> Story:
    yield round_of(site, {f"{name}&view=print": n for name, n in twins(with_sid(site)).items()})
    assert state(site) == "active"
    assert ("/d/", "parameter", "sid&view") not in rules(site)


@learned.story
def test_of_rules_that_are_applied_together_the_weakest_is_contradicted(site: Site) -> Story:
    both = [("/d/", "parameter", name) for name in ("sid", "v")]
    yield round_of(site, twins(with_sid(site), MANY) | twins(with_v(site)))
    assert [state(site, key) for key in both] == ["active", "active"]
    yield round_of(site, {site.url("/d/999?sid=1&v=1"): -1, site.url("/d/999"): 999})
    assert [state(site, key) for key in both] == ["active", "contradicted"]


@learned.story
def test_contents_that_were_fetched_days_apart_do_not_contradict(site: Site) -> Story:
    first, second = contradiction(site, 99)
    yield round_of(site, {first: 99}, fetched_ms=0)
    yield round_of(site, twins(with_sid(site)) | {second: -99}, fetched_ms=2 * DAY_MS)
    assert state(site) == "active"


@learned.story
def test_a_section_relies_on_the_host_only_with_some_evidence_of_its_own(site: Site) -> Story:
    elsewhere = ("/e/", "parameter", "sid")
    yield round_of(site, twins(with_sid(site)) | twins(with_sid(site, "e"), 1))
    assert state(site, elsewhere) == "learning"
    yield round_of(site, {site.url(f"/e/7?sid={value}"): 7 for value in (1, 2)})
    assert state(site, elsewhere) == "active"


@learned.story
def test_a_parameter_that_matters_elsewhere_keeps_its_section(site: Site) -> Story:
    trap = {site.url("/e/1?sid=1"): 1_000, site.url("/e/1?sid=2"): 1_001}
    yield round_of(site, twins(with_sid(site)) | trap)
    assert state(site) == "active"
    assert state(site, ("/e/", "parameter", "sid")) == "contradicted"
    assert state(site, ("*", "parameter", "sid")) == "contradicted"


@learned.story
def test_many_sections_make_a_rule_for_the_host(site: Site) -> Story:
    def of(number: int) -> tuple[str, str]:
        return site.url(f"/{number}/?sid=1"), site.url(f"/{number}/?sid=2")

    yield round_of(site, twins(of, 8))
    assert state(site, ("*", "parameter", "sid")) == "active"


@learned.story
@pytest.mark.parametrize(
    ("key", "variant"),
    [
        (("/", "slash", ""), "/d{}/"),
        (("/d/", "index", "index.html"), "/d/{}/index.html"),
        (("/d/", "case", ""), "/D/A{}"),
        (("/d/", "parameter", "a&b"), "/d/{}?a=1&b=2"),
    ],
)
def test_kinds_of_forms(site: Site, key: tuple[str, str, str], variant: str) -> Story:
    def of(number: int) -> tuple[str, str]:
        name = site.url(variant.format(number))
        parts = forms.split_url(name)
        assert parts is not None
        return name, forms.apply_form(parts, key[1], key[2]).url

    yield round_of(site, twins(of))
    assert state(site, key) == "active"


@learned.story
@pytest.mark.parametrize(
    ("source", "target", "kind", "direction"),
    [
        ("http://{}/d/{}", "http://{}/d/{}/", "slash", "with"),
        ("http://{}/d/{}/", "http://{}/d/{}", "slash", "without"),
        ("http://{}/d/{}", "https://{}/d/{}", "scheme", "https"),
        ("https://{}/d/{}", "http://{}/d/{}", "scheme", "http"),
        ("http://{}/d/{}", "http://www.{}/d/{}", "www", "with"),
        ("http://www.{}/d/{}", "http://{}/d/{}", "www", "without"),
    ],
)
def test_redirects_decide_the_direction(
    site: Site, source: str, target: str, kind: str, direction: str
) -> Story:
    host = site.host()
    answers = [moved(source.format(host, n), target.format(host, n)) for n in range(NEEDED)]
    yield round_of(site, {}, answers=answers)
    rule = rules(site)["/d/", kind, ""]
    votes = (NEEDED, 0) if direction == forms.TARGETS[kind][0] else (0, NEEDED)
    assert (rule["state"], rule["target"]) == ("active", direction)
    assert (rule["forward"], rule["backward"]) == votes


@learned.story
def test_only_permanent_redirects_are_evidence(site: Site) -> Story:
    answers = [
        moved(site.url(f"/{status}/{n}"), site.url(f"/{status}/{n}/"), status)
        for status in (301, 302, 303, 307, 308)
        for n in range(NEEDED)
    ]
    yield round_of(site, {}, answers=answers)
    sections = {section for section, kind, _ in rules(site) if kind == "slash"}
    assert sections == {"/301/", "/308/", "*"}


@learned.story
def test_a_redirect_that_adds_a_parameter_contradicts(site: Site) -> Story:
    yield round_of(site, twins(with_sid(site)))
    yield round_of(site, {}, answers=[moved(site.url("/d/1"), site.url("/d/1?sid=7"))])
    assert state(site) == "contradicted"


@learned.story
def test_a_missing_page_contradicts(site: Site) -> Story:
    yield round_of(site, twins(with_sid(site)))
    yield round_of(site, {site.url("/d/1"): None})
    assert state(site) == "contradicted"


@learned.story
def test_a_copy_on_another_host_captures_nothing(site: Site) -> Story:
    yield round_of(site, {site.url(f"/{n}", host): n for n in range(50) for host in "ab"})
    assert not [key for key in rules(site) if key[1] == "host"]


@learned.story
def test_a_host_that_redirects_to_another_is_a_mirror_unless_it_is_a_seed(site: Site) -> Story:
    answers = [
        moved(site.url(f"/d/{n}", host), site.url(f"/d/{n}", "b"))
        for host in "ac"
        for n in range(NEEDED)
    ]
    yield round_of(site, {}, answers=answers, pages=[{"url": site.url(), "source": "seed"}])
    found = {(row["host"], row["section"]): row["state"] for row in site.rows("url_rules")}
    assert found[site.host("c"), "/d/"] == "active"
    assert found[site.host(), "/d/"] == "learning"


@learned.story
def test_links_of_a_mirror_to_its_own_pages_are_foreign_to_those_of_its_original(
    site: Site,
) -> Story:
    answers = [moved(site.url(f"/d/{n}", "c"), site.url(f"/d/{n}", "b")) for n in range(NEEDED)]
    own, linked = site.url("/d/950", "b"), site.url("/d/951", "b")
    written = f"{own}?utm_source=x"
    known = [{"url": site.url(f"/d/{n}", "c")} for n in (950, 951)]
    pages = yield round_of(
        site, {}, answers=answers, pages=[*known, {"url": own, "spelling": written}]
    )
    assert pages[own]["spelling"] == written
    assert pages[linked]["spelling"] == f"{site.url('/d/951', 'c')}#"


@learned.story
def test_known_pages_become_aliases_and_what_was_fetched_stays(site: Site) -> Story:
    waiting, seed = site.url("/d/950?sid=1"), site.url("/d/951?sid=1")
    linked, target, fetched = site.url("/d/960"), site.url("/d/1"), with_sid(site)(1)
    known = [{"url": name} for name in (waiting, *fetched)]
    pages = yield round_of(
        site,
        twins(with_sid(site), MANY),
        [f"{linked}?sid=1", linked],
        pages=[*known, {"url": seed, "source": "seed"}],
    )
    assert pages[f"{linked}?sid=1"]["status"] == pages[waiting]["status"] == "alias"
    assert pages[seed]["status"] == "unfetched"
    assert pages[fetched[0]]["status"] == "fetched"
    # Nobody linked to the page without the parameter. It takes over when the other is due again.
    assert pages[target]["status"] == "unfetched"
    assert pages[target]["spelling"] == fetched[0]
    assert pages[linked]["spelling"] is None
    assert pages[target]["next_fetch_ms"] == site.work.now_ms() + 30 * DAY_MS
    assert pages[linked]["next_fetch_ms"] == pages[site.url("/d/950")]["next_fetch_ms"] == 0
    pages = yield round_of(site, {target: 1})
    assert pages[fetched[0]]["status"] == pages[fetched[1]]["status"] == "alias"


def alias_of(site: Site, number: int, value: int = 1) -> dict[str, Any]:
    """A URL that the rule about `sid` has rewritten."""
    return alias(site.url(f"/d/{number}?sid={value}"), site.url(f"/d/{number}"), sid(site))


@learned.story
def test_aliases_become_pages_when_their_rule_is_dropped(site: Site) -> Story:
    known, found, late = (alias_of(site, number)["url"] for number in (950, 970, 971))
    yield round_of(site, twins(with_sid(site), MANY), pages=[{"url": known}])
    spelling = f"{found}&utm_source=x"
    pages = yield round_of(site, {}, rewritten=[alias_of(site, 970) | {"spelling": spelling}])
    assert found not in pages
    assert pages[known]["status"] == "alias"
    pages = yield round_of(site, contradiction(site, 999), rewritten=[alias_of(site, 971)])
    assert state(site) == "contradicted"
    assert {pages[each]["status"] for each in (known, found, late)} == {"unfetched"}
    assert (pages[found]["depth"], pages[found]["spelling"]) == (3, spelling)
    assert not any(row["active"] for row in site.rows("aliases"))


@learned.story
def test_aliases_of_a_dropped_rule_get_the_target_of_the_other_rules(site: Site) -> Story:
    yield round_of(site, twins(with_sid(site), MANY) | twins(with_v(site)))
    both = [rule_id(site.host(), "/d/", "parameter", name) for name in ("sid", "v")]
    numbers = range(500, 510)
    links = [
        alias(site.url(f"/d/{number}?sid={value}&v=1"), site.url(f"/d/{number}"), *both)
        for number in numbers
        for value in range(3)
    ]
    alone = alias(site.url("/d/520?v=1"), site.url("/d/520"), both[1])
    yield round_of(site, {}, rewritten=[*links, alone])
    contradicting = {site.url("/d/999?sid=1&v=1"): -1, site.url("/d/999"): 999}
    late = alias(site.url("/d/530?sid=1&v=1"), site.url("/d/530"), *both)
    pages = yield round_of(site, contradicting, rewritten=[late])
    assert state(site, ("/d/", "parameter", "v")) == "contradicted"
    assert pages[alone["url"]]["status"] == "unfetched"
    held = {row["url"]: row for row in site.rows("aliases") if row["active"]}
    waiting = [each["url"] for each in (*links, late) if each["url"] not in pages]
    assert len(waiting) > len(numbers), "other URLs of these pages are samples"
    for name in waiting:
        target = name.partition("?")[0] + "?v=1"
        assert (held[name]["target"], held[name]["rules"]) == (target, both[:1])
        assert pages[target]["status"] == "unfetched"
        assert pages[target]["depth"] == 3
        linking = sum(row["target"] == target for row in held.values())
        assert pages[target]["inlinks"] == linking
    again = yield round_of(site, {late["url"].replace("sid=1&", ""): None})
    assert again[late["url"]]["status"] == "unfetched", "its target is missing"


@learned.story
def test_a_target_does_not_wait_for_a_page_that_is_not_its_alias_any_more(site: Site) -> Story:
    bare, page = site.url("/d/990"), site.url("/d/990?sid=1")
    contents = twins(with_sid(site), MANY) | {page: 990}
    pages = yield round_of(site, contents, pages=[{"url": bare}, {"url": page}])
    assert pages[bare]["next_fetch_ms"] == site.work.now_ms() + 30 * DAY_MS
    pages = yield round_of(site, contradiction(site, 999))
    assert state(site) == "contradicted"
    assert pages[bare]["next_fetch_ms"] == 0


@learned.story
def test_aliases_become_pages_when_their_target_is_missing(site: Site) -> Story:
    gone = [{"url": site.url("/d/972"), "status": "gone"}]
    yield round_of(site, twins(with_sid(site), MANY), pages=gone)
    rows = [alias_of(site, number) for number in (970, 971, 972)]
    pages = yield round_of(site, {site.url("/d/970"): None}, rewritten=rows)
    assert state(site) == "active"
    assert [row["url"] in pages for row in rows] == [True, False, True]


@learned.story
def test_a_disabled_rule_stays_disabled_and_can_be_enabled(site: Site) -> Story:
    yield round_of(site, twins(with_sid(site)))
    known, target = site.url("/d/50?sid=1"), site.url("/d/50")
    yield round_of(site, {}, rewritten=[alias_of(site, 50)])
    crawl, rule = Crawl(site.work), rules(site)[SID]["rule"]
    crawl.disable_rule(rule)
    assert site.pages()[known]["status"] == "unfetched"
    assert crawl.test_url(known).target == known
    yield round_of(site, {site.url(f"/d/{number}"): number for number in range(NEEDED)})
    assert state(site) == "disabled"
    crawl.enable_rule(rule)
    assert site.pages()[known]["status"] == "alias"
    tested = crawl.test_url(known)
    assert (tested.target, [each.rule for each in tested.rules]) == (target, [rule])
    assert crawl.url_rules(site.host())[0].title == f"{site.host()}/d/: without the parameter sid"
    with pytest.raises(UsageError, match="is not a rule"):
        crawl.enable_rule("nothing")


@learned.story
def test_a_contradicted_rule_can_be_enabled_until_it_is_contradicted_again(site: Site) -> Story:
    yield round_of(site, twins(with_sid(site)) | contradiction(site, 99))
    assert state(site) == "contradicted"
    Crawl(site.work).enable_rule(sid(site))
    yield round_of(site, {site.url("/d/1"): 1})
    assert state(site) == "active"
    yield round_of(site, {site.url("/d/2"): -2})
    assert state(site) == "contradicted"


@sampled.story
def test_a_share_of_targets_is_sampled_once(site: Site) -> Story:
    known = url_rule(sid(site), site.host(), "/d/", "sid", "active", supports=50)
    rows = [alias_of(site, number, value) for number in range(100, 300) for value in range(3)]
    first = round_of(site, {}, rewritten=rows[::2])
    pages = yield {**first, "url_rules": [known]}
    yield round_of(site, {}, rewritten=rows)
    samples = [row for row in site.rows("aliases") if row["sampled"]]
    assert len({row["target"] for row in samples}) == len(samples)
    assert 35 <= len(samples) <= 85
    assert any(row["url"] in pages for row in samples)
    assert rules(site)[SID]["sampled"] == len(samples)


@sampled.story
def test_learning_can_be_switched_off(site: Site) -> Story:
    yield round_of(site, twins(with_sid(site)))
    assert not rules(site)
