"""What rounds teach about URLs, and what becomes of pages when rules start and are dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from msgspec import structs

from gossamer.api.crawl import Crawl
from gossamer.errors import UsageError
from gossamer.rules.url_rules import fingerprints, forms
from gossamer.rules.url_rules.learning import MIN_TRIAL
from gossamer.schedule import update
from gossamer.state import lsm
from gossamer.tables import ALIASES, PAGES, URL_FORMS, URL_RULES
from tests.support.rows import by_url, put

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from gossamer.state.workspace import Workspace

HOST = "a.example"
NEEDED = 4
MANY = 300
"""Groups after which hardly any page is sampled."""
DAY_MS = 86_400_000

Contents = dict[str, int | None]
"""The hash of the text of each page; None: the page is missing."""


@pytest.fixture
def work(new_work: Callable[[], Workspace]) -> Workspace:
    """A crawl that learns quickly and takes no samples, except when there is little evidence."""
    made = new_work()
    rules = structs.replace(made.config.url_rules, evidence=NEEDED, sample=0.0)
    made.config = structs.replace(made.config, url_rules=rules)
    return made


def url(path: str, host: str = HOST) -> str:
    return f"http://{host}{path}"


def host_of(name: str) -> str:
    return name.split("/")[2]


def round_of(
    work: Workspace,
    contents: Mapping[str, int | None],
    links: Iterable[str] = (),
    rewritten: Iterable[dict[str, Any]] = (),
    answers: Iterable[dict[str, Any]] = (),
    fetched_ms: int | None = None,
) -> dict[str, dict[str, Any]]:
    """A round that fetches pages with these contents; returns `pages` after it."""
    number = work.round + 1
    at_ms = work.now_ms() if fetched_ms is None else fetched_ms
    same = {"round": number, "fetched_ms": at_ms}
    put(
        work,
        "responses",
        [
            {"url": name, "host": host_of(name), "outcome": "not_found" if text is None else "ok"}
            | {"http_status": 404 if text is None else 200, **same}
            for name, text in contents.items()
        ]
        + [{"host": host_of(row["url"]), **same} | row for row in answers],
        number,
    )
    documents = [
        {"url": name, "outcome": "parsed", "text_hash": text, "truncated": False, **same}
        for name, text in contents.items()
        if text is not None
    ]
    put(work, "documents", documents, number)
    found = [{"src": url("/"), "dst": dst, "round": number, "depth": 1, "hops": 0} for dst in links]
    put(work, "links", found, number)
    put(work, "rewritten", list(rewritten), number)
    with work.step("parse", number):
        pass
    update.run(work)
    return by_url(lsm.current(work, PAGES))


def rules(work: Workspace) -> dict[tuple[str, str, str], dict[str, Any]]:
    """The rules by section, kind and name."""
    rows = by_url(lsm.current(work, URL_RULES), "rule").values()
    return {(row["section"], row["kind"], row["name"]): row for row in rows}


def twins(of: Callable[[int], tuple[str, str]], count: int = NEEDED) -> Contents:
    """Pairs of URLs with equal contents."""
    return {name: number for number in range(count) for name in of(number)}


def with_sid(number: int) -> tuple[str, str]:
    return url(f"/d/{number}?sid=1"), url(f"/d/{number}?sid=2")


SID = ("/d/", "parameter", "sid")


def test_a_rule_is_learned_from_contents_that_agree(work: Workspace) -> None:
    round_of(work, twins(with_sid))
    rule = rules(work)[SID]
    assert (rule["state"], rule["supports"], rule["contradictions"]) == ("active", NEEDED, 0)
    assert rule["host"] == HOST
    assert len(rule["examples"]) == 6
    assert {name.partition("?")[0] for name in rule["examples"][:2]} == {rule["examples"][0][:-6]}


def test_fewer_groups_are_not_enough_until_a_later_round_adds_some(work: Workspace) -> None:
    round_of(work, twins(with_sid, MIN_TRIAL - 1))
    assert rules(work)[SID]["state"] == "learning"
    round_of(work, {url("/d/76?sid=8"): 76, url("/d/76"): 76, url("/d/77?sid=8"): 77})
    assert rules(work)[SID]["state"] == "trial"
    round_of(work, {url("/d/77?sid=9"): 77})
    rule = rules(work)[SID]
    assert (rule["state"], rule["supports"]) == ("active", NEEDED)
    assert (rule["first_round"], rule["last_round"]) == (1, 3)


WAITING = [url(f"/d/{number}?sid=1") for number in range(100, 120)]


def on_trial(work: Workspace) -> set[str]:
    """Pages that a rule on trial rewrites, of which these are fetched as samples."""
    pages = round_of(work, twins(with_sid, MIN_TRIAL), WAITING)
    assert rules(work)[SID]["state"] == "trial"
    return {name for name in WAITING if pages[name]["status"] == "unfetched"}


def test_a_rule_on_trial_delays_pages_until_its_samples_are_fetched(work: Workspace) -> None:
    sampled = on_trial(work)
    assert NEEDED - MIN_TRIAL <= len(sampled) < len(WAITING)
    first, *others = sorted(sampled)
    statuses = by_url(lsm.current(work, PAGES))
    # A sample that leads to a page with known contents decides nothing, and another one is missing.
    pages = round_of(work, {name: 1 for each in others for name in (each, each[:-6])})
    assert rules(work)[SID]["state"] == "trial"
    assert all(pages[name]["status"] == statuses[name]["status"] for name in set(WAITING) - sampled)
    pages = round_of(work, {first: 1, first[:-6]: 1})
    assert rules(work)[SID]["state"] == "learning"
    assert {pages[name]["status"] for name in set(WAITING) - sampled} == {"unfetched"}
    round_of(work, twins(with_sid, MIN_TRIAL))
    assert rules(work)[SID]["state"] == "learning"


def test_a_rule_whose_samples_agree_becomes_active(work: Workspace) -> None:
    sampled = on_trial(work)
    contents = {name: int(each[-9:-6]) for each in sampled for name in (each, each[:-6])}
    pages = round_of(work, contents)
    assert rules(work)[SID]["state"] == "active"
    assert {pages[name]["status"] for name in set(WAITING) - sampled} == {"alias"}


def test_a_sample_that_differs_ends_the_trial(work: Workspace) -> None:
    sampled = on_trial(work)
    first = min(sampled)
    pages = round_of(work, {first: 100, first[:-6]: 101})
    assert rules(work)[SID]["state"] == "contradicted"
    assert {pages[name]["status"] for name in set(WAITING) - sampled} == {"unfetched"}


def test_one_content_for_all_urls_teaches_nothing(work: Workspace) -> None:
    soft_404 = {name: 1 for number in range(50) for name in with_sid(number)}
    round_of(work, soft_404)
    rule = rules(work)[SID]
    assert (rule["state"], rule["supports"]) == ("learning", 50)


def test_one_contradiction_is_enough(work: Workspace) -> None:
    first, second = with_sid(99)
    round_of(work, twins(with_sid, 50) | {first: 99, second: -99})
    rule = rules(work)[SID]
    assert (rule["state"], rule["contradictions"]) == ("contradicted", 1)
    assert rule["counterexamples"] == [second, first]


def test_forms_of_contradicted_rules_are_not_kept(work: Workspace) -> None:
    first, second = with_sid(99)
    round_of(work, {first: 99, second: -99})
    round_of(work, twins(with_sid) | {url("/e/1?sid=1"): 1})
    kept = lsm.current(work, URL_FORMS).where("kind = 'parameter'").collect()
    assert sorted(row["url"] for row in kept) == [first, url("/e/1?sid=1")]


def test_parameters_that_never_change_are_not_dropped_with_others(work: Workspace) -> None:
    def printed(number: int) -> tuple[str, str]:
        return url(f"/d/{number}?sid=1&view=print"), url(f"/d/{number}?sid=2&view=print")

    round_of(work, twins(printed))
    found = rules(work)
    assert found[SID]["state"] == "active"
    assert ("/d/", "parameter", "sid&view") not in found


def test_of_rules_that_are_applied_together_the_weakest_is_contradicted(work: Workspace) -> None:
    def with_v(number: int) -> tuple[str, str]:
        return url(f"/d/{number}?v=1"), url(f"/d/{number}")

    round_of(work, twins(with_sid, MANY) | twins(with_v))
    found = rules(work)
    assert [found["/d/", "parameter", n]["state"] for n in ("sid", "v")] == ["active", "active"]
    round_of(work, {url("/d/999?sid=1&v=1"): -1, url("/d/999"): 999})
    found = rules(work)
    states = [found["/d/", "parameter", name]["state"] for name in ("sid", "v")]
    assert states == ["active", "contradicted"]


def test_contents_that_were_fetched_days_apart_do_not_contradict(work: Workspace) -> None:
    first, second = with_sid(99)
    round_of(work, {first: 99}, fetched_ms=0)
    round_of(work, twins(with_sid) | {second: -99}, fetched_ms=2 * DAY_MS)
    assert rules(work)[SID]["state"] == "active"


@pytest.mark.slow
def test_a_section_relies_on_the_host_only_with_some_evidence_of_its_own(work: Workspace) -> None:
    def elsewhere(number: int) -> tuple[str, str]:
        return url(f"/e/{number}?sid=1"), url(f"/e/{number}?sid=2")

    round_of(work, twins(with_sid) | twins(elsewhere, 1))
    assert rules(work)["/e/", "parameter", "sid"]["state"] == "learning"
    more = {url(f"/e/7?sid={value}"): 7 for value in (1, 2)}
    round_of(work, more)
    assert rules(work)["/e/", "parameter", "sid"]["state"] == "active"


def test_a_parameter_that_matters_elsewhere_keeps_its_section(work: Workspace) -> None:
    trap = {url("/e/1?sid=1"): 1_000, url("/e/1?sid=2"): 1_001}
    round_of(work, twins(with_sid) | trap)
    found = rules(work)
    assert found[SID]["state"] == "active"
    assert found["/e/", "parameter", "sid"]["state"] == "contradicted"
    assert found["*", "parameter", "sid"]["state"] == "contradicted"


@pytest.mark.slow
def test_many_sections_make_a_rule_for_the_host(work: Workspace) -> None:
    def of(number: int) -> tuple[str, str]:
        return url(f"/{number}/?sid=1"), url(f"/{number}/?sid=2")

    round_of(work, twins(of, 8))
    assert rules(work)["*", "parameter", "sid"]["state"] == "active"


@pytest.mark.parametrize(
    ("key", "variant"),
    [
        (("/", "slash", ""), "/d{}/"),
        *(
            pytest.param(*each, marks=pytest.mark.slow)
            for each in (
                (("/d/", "index", "index.html"), "/d/{}/index.html"),
                (("/d/", "case", ""), "/D/A{}"),
                (("/d/", "parameter", "a&b"), "/d/{}?a=1&b=2"),
            )
        ),
    ],
)
def test_kinds_of_forms(work: Workspace, key: tuple[str, str, str], variant: str) -> None:
    def of(number: int) -> tuple[str, str]:
        name = url(variant.format(number))
        parts = forms.split_url(name)
        assert parts is not None
        return name, forms.apply_form(parts, key[1], key[2]).url

    round_of(work, twins(of))
    assert rules(work)[key]["state"] == "active"


@pytest.mark.parametrize(
    ("source", "target", "kind", "direction"),
    [
        (f"http://{HOST}/d/{{}}", f"http://{HOST}/d/{{}}/", "slash", "with"),
        (f"http://{HOST}/d/{{}}/", f"http://{HOST}/d/{{}}", "slash", "without"),
        (f"http://{HOST}/d/{{}}", f"https://{HOST}/d/{{}}", "scheme", "https"),
        (f"https://{HOST}/d/{{}}", f"http://{HOST}/d/{{}}", "scheme", "http"),
        (f"http://{HOST}/d/{{}}", f"http://www.{HOST}/d/{{}}", "www", "with"),
        (f"http://www.{HOST}/d/{{}}", f"http://{HOST}/d/{{}}", "www", "without"),
    ],
)
def test_redirects_decide_the_direction(
    work: Workspace, source: str, target: str, kind: str, direction: str
) -> None:
    moved = [
        {"url": source.format(n), "outcome": "redirect", "http_status": 301}
        | {"redirect_url": target.format(n)}
        for n in range(NEEDED)
    ]
    round_of(work, {}, answers=moved)
    rule = rules(work)["/d/", kind, ""]
    votes = (NEEDED, 0) if direction == forms.TARGETS[kind][0] else (0, NEEDED)
    assert (rule["state"], rule["target"]) == ("active", direction)
    assert (rule["forward"], rule["backward"]) == votes


def test_only_permanent_redirects_are_evidence(work: Workspace) -> None:
    moved = [
        {"url": url(f"/{status}/{n}"), "outcome": "redirect", "http_status": status}
        | {"redirect_url": url(f"/{status}/{n}/")}
        for status in (301, 302, 303, 307, 308)
        for n in range(NEEDED)
    ]
    round_of(work, {}, answers=moved)
    assert {section for section, kind, _ in rules(work) if kind == "slash"} == {
        "/301/",
        "/308/",
        "*",
    }


def test_a_redirect_that_adds_a_parameter_contradicts(work: Workspace) -> None:
    round_of(work, twins(with_sid))
    moved = {"url": url("/d/1"), "outcome": "redirect", "http_status": 301}
    round_of(work, {}, answers=[moved | {"redirect_url": url("/d/1?sid=7")}])
    assert rules(work)[SID]["state"] == "contradicted"


def test_a_missing_page_contradicts(work: Workspace) -> None:
    round_of(work, twins(with_sid))
    round_of(work, {url("/d/1"): None})
    assert rules(work)[SID]["state"] == "contradicted"


def test_a_copy_on_another_host_captures_nothing(work: Workspace) -> None:
    copies = {
        name: number
        for number in range(50)
        for name in (url(f"/{number}"), url(f"/{number}", "b.example"))
    }
    round_of(work, copies)
    assert not [key for key in rules(work) if key[1] == "host"]


def test_a_host_that_redirects_to_another_is_a_mirror_unless_it_is_a_seed(work: Workspace) -> None:
    def moved(host: str) -> list[dict[str, Any]]:
        return [
            {"url": url(f"/d/{n}", host), "outcome": "redirect", "http_status": 301}
            | {"redirect_url": url(f"/d/{n}", "b.example")}
            for n in range(NEEDED)
        ]

    put(work, "pages", [{"url": url("/"), "host": HOST, "source": "seed"}], 0)
    round_of(work, {}, answers=moved(HOST) + moved("c.example"))
    rows = lsm.current(work, URL_RULES).collect()
    found = {(row["host"], row["section"]): row["state"] for row in rows}
    assert found["c.example", "/d/"] == "active"
    assert found[HOST, "/d/"] == "learning"


def test_known_pages_become_aliases_and_what_was_fetched_stays(work: Workspace) -> None:
    waiting, seed = url("/d/950?sid=1"), url("/d/951?sid=1")
    put(work, "pages", [{"url": waiting, "host": HOST}], 0)
    put(work, "pages", [{"url": seed, "host": HOST, "source": "seed"}], 0)
    put(work, "pages", [{"url": name, "host": HOST} for name in twins(with_sid)], 0)
    links = [url("/d/960?sid=1"), url("/d/960")]
    pages = round_of(work, twins(with_sid, MANY), links)
    assert pages[url("/d/960?sid=1")]["status"] == pages[waiting]["status"] == "alias"
    assert pages[seed]["status"] == "unfetched"
    assert pages[url("/d/1?sid=1")]["status"] == "fetched"
    # Nobody linked to the page without the parameter. It takes over when the other is due again.
    target = pages[url("/d/1")]
    assert target["status"] == "unfetched"
    assert target["next_fetch_ms"] == work.now_ms() + 30 * DAY_MS
    assert pages[url("/d/960")]["next_fetch_ms"] == pages[url("/d/950")]["next_fetch_ms"] == 0
    pages = round_of(work, {url("/d/1"): 1})
    assert pages[url("/d/1?sid=1")]["status"] == pages[url("/d/1?sid=2")]["status"] == "alias"


def alias(name: str, target: str, *rules: str) -> dict[str, Any]:
    """A row of `rewritten`."""
    return {"url": name, "target": target, "rules": list(rules), "depth": 3, "hops": 0}


def sid(work: Workspace) -> str:
    """The identifier of the rule about `sid`."""
    rule: str = rules(work)[SID]["rule"]
    return rule


def test_aliases_become_pages_when_their_rule_is_dropped(work: Workspace) -> None:
    known = url("/d/950?sid=1")
    put(work, "pages", [{"url": known, "host": HOST}], 0)
    round_of(work, twins(with_sid, MANY))
    found = alias(url("/d/970?sid=1"), url("/d/970"), sid(work))
    pages = round_of(work, {}, rewritten=[found])
    assert found["url"] not in pages
    assert pages[known]["status"] == "alias"
    first, second = with_sid(999)
    late = alias(url("/d/971?sid=1"), url("/d/971"), sid(work))
    pages = round_of(work, {first: 99, second: -99}, rewritten=[late])
    assert rules(work)[SID]["state"] == "contradicted"
    assert {pages[each]["status"] for each in (known, found["url"], late["url"])} == {"unfetched"}
    assert pages[found["url"]]["depth"] == 3
    assert not lsm.current(work, ALIASES).where("active").count()


def test_aliases_of_a_dropped_rule_get_the_target_of_the_other_rules(work: Workspace) -> None:
    def with_v(number: int) -> tuple[str, str]:
        return url(f"/d/{number}?v=1"), url(f"/d/{number}")

    round_of(work, twins(with_sid, MANY) | twins(with_v))
    found = rules(work)
    both = [found["/d/", "parameter", name]["rule"] for name in ("sid", "v")]
    numbers = range(500, 510)
    links = [
        alias(url(f"/d/{number}?sid={sid}&v=1"), url(f"/d/{number}"), *both)
        for number in numbers
        for sid in range(3)
    ]
    alone = alias(url("/d/520?v=1"), url("/d/520"), both[1])
    round_of(work, {}, rewritten=[*links, alone])
    contradicting = {url("/d/999?sid=1&v=1"): -1, url("/d/999"): 999}
    late = alias(url("/d/530?sid=1&v=1"), url("/d/530"), *both)
    pages = round_of(work, contradicting, rewritten=[late])
    assert rules(work)["/d/", "parameter", "v"]["state"] == "contradicted"
    assert pages[alone["url"]]["status"] == "unfetched"
    held = by_url(lsm.current(work, ALIASES).where("active"))
    waiting = [each["url"] for each in (*links, late) if each["url"] not in pages]
    assert len(waiting) > len(numbers), "other URLs of these pages are samples"
    for name in waiting:
        target = name.partition("?")[0] + "?v=1"
        assert (held[name]["target"], held[name]["rules"]) == (target, both[:1])
        assert pages[target]["status"] == "unfetched"
        assert pages[target]["depth"] == 3
    again = round_of(work, {late["url"].replace("sid=1&", ""): None})
    assert again[late["url"]]["status"] == "unfetched", "its target is missing"


def test_a_target_does_not_wait_for_a_page_that_is_not_its_alias_any_more(work: Workspace) -> None:
    bare = url("/d/990")
    put(work, "pages", [{"url": name, "host": HOST} for name in (bare, f"{bare}?sid=1")], 0)
    pages = round_of(work, twins(with_sid, MANY) | {f"{bare}?sid=1": 990})
    assert pages[bare]["next_fetch_ms"] == work.now_ms() + 30 * DAY_MS
    first, second = with_sid(999)
    pages = round_of(work, {first: 99, second: -99})
    assert rules(work)[SID]["state"] == "contradicted"
    assert pages[bare]["next_fetch_ms"] == 0


def test_aliases_become_pages_when_their_target_is_missing(work: Workspace) -> None:
    put(work, "pages", [{"url": url("/d/972"), "host": HOST, "status": "gone"}], 0)
    round_of(work, twins(with_sid, MANY))
    names = {number: url(f"/d/{number}?sid=1") for number in (970, 971, 972)}
    rule = sid(work)
    rows = [alias(name, url(f"/d/{number}"), rule) for number, name in names.items()]
    pages = round_of(work, {url("/d/970"): None}, rewritten=rows)
    assert rules(work)[SID]["state"] == "active"
    assert [names[number] in pages for number in names] == [True, False, True]


def test_a_share_of_targets_is_sampled_once(work: Workspace) -> None:
    round_of(work, twins(with_sid, 50))
    config = structs.replace(work.config.url_rules, sample=0.3)
    work.config = structs.replace(work.config, url_rules=config)
    rule = sid(work)
    rows = [
        alias(url(f"/d/{number}?sid={value}"), url(f"/d/{number}"), rule)
        for number in range(100, 300)
        for value in range(3)
    ]
    pages = round_of(work, {}, rewritten=rows[::2])
    round_of(work, {}, rewritten=rows)
    sampled = [row for row in lsm.current(work, ALIASES).collect() if row["sampled"]]
    assert len({row["target"] for row in sampled}) == len(sampled)
    assert 35 <= len(sampled) <= 85
    assert any(row["url"] in pages for row in sampled)
    assert rules(work)[SID]["sampled"] == len(sampled)


def test_a_disabled_rule_stays_disabled_and_can_be_enabled(work: Workspace) -> None:
    round_of(work, twins(with_sid))
    known = url("/d/50?sid=1")
    round_of(work, {}, rewritten=[alias(known, url("/d/50"), sid(work))])
    crawl, rule = Crawl(work), rules(work)[SID]["rule"]
    crawl.disable_rule(rule)
    assert by_url(crawl.pages())[known]["status"] == "unfetched"
    assert crawl.test_url(known).target == known
    round_of(work, {url(f"/d/{number}"): number for number in range(NEEDED)})
    assert rules(work)[SID]["state"] == "disabled"
    crawl.enable_rule(rule)
    assert by_url(crawl.pages())[known]["status"] == "alias"
    tested = crawl.test_url(known)
    assert (tested.target, [each.rule for each in tested.rules]) == (url("/d/50"), [rule])
    assert crawl.url_rules(HOST)[0].title == f"{HOST}/d/: without the parameter sid"
    with pytest.raises(UsageError, match="is not a rule"):
        crawl.enable_rule("nothing")


def test_a_contradicted_rule_can_be_enabled_until_it_is_contradicted_again(work: Workspace) -> None:
    first, second = with_sid(99)
    round_of(work, twins(with_sid) | {first: 99, second: -99})
    Crawl(work).enable_rule(rules(work)[SID]["rule"])
    round_of(work, {url("/d/1"): 1})
    assert rules(work)[SID]["state"] == "active"
    round_of(work, {url("/d/2"): -2})
    assert rules(work)[SID]["state"] == "contradicted"


def test_learning_can_be_switched_off(work: Workspace) -> None:
    config = structs.replace(work.config.url_rules, learn=False)
    work.config = structs.replace(work.config, url_rules=config)
    round_of(work, twins(with_sid))
    assert not rules(work)


def test_fingerprints_of_similar_texts_agree() -> None:
    chance = np.random.default_rng(7)
    sketch = chance.integers(0, 2**32, 112, np.uint32)
    near, far = sketch.copy(), sketch.copy()
    near[:3], far[:20] = 1, 1
    prints = [fingerprints.fingerprint(1, each.tobytes(), None) for each in (sketch, near, far)]
    known = [each for each in prints if each is not None]
    assert fingerprints.distinct_contents(known, 9) == [known[0], known[2]]
    others = [fingerprints.fingerprint(None, None, text) for text in ("a", "b")]
    assert None not in others
    assert others[0] != others[1]
    assert fingerprints.fingerprint(None, None, None) is None
