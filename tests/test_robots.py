from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.fetch import robots
from gossamer.fetch.exchange import Answer
from gossamer.fetch.robots import Refusal, Robots, judge, parse

SITE = "http://a.test"

# What a file says, whom it is asked for, the path, and whether that is allowed.
RFC_9309 = [
    # §2.2.1: the group of our own product token, in any case; else that of everyone; else none.
    ("User-agent: gossamer\nDisallow: /a\n\nUser-agent: *\nDisallow: /", "/b", True),
    ("User-agent: GOSSAMER\nDisallow: /a", "/a", False),
    ("User-agent: other\nDisallow: /", "/a", True),
    ("User-agent: *\nDisallow: /a", "/a", False),
    ("User-agent: gossamer\nDisallow: /a\n\nUser-agent: gossamer\nDisallow: /b", "/b", False),
    ("User-agent: other\nUser-agent: gossamer\nDisallow: /a", "/a", False),
    ("User-agent: gossamer/2.1 (crawler)\nDisallow: /a", "/a", False),
    ("User-agent: gossamerimages\nDisallow: /a", "/a", True),
    ("User-agent: goss\nDisallow: /a", "/a", True),
    ("User-agent: gossamer\n\nUser-agent: *\nDisallow: /a", "/a", False),  # one group of both
    ("User-agent: gossamer\nDisallow:\n\nUser-agent: *\nDisallow: /a", "/a", True),
    ("User-agent: *\nDisallow: /a\n\nUser-agent: gossamer", "/a", True),  # a group without rules
    # §2.2.2: rules. Paths are prefixes and matter in case; the longest match wins; allow on ties.
    ("User-agent: *\nDisallow: /a", "/ab/c", False),
    ("User-agent: *\nDisallow: /A", "/a", True),
    ("User-agent: *\nDisallow: /a\nAllow: /a/b", "/a/b/c", True),
    ("User-agent: *\nAllow: /a/b\nDisallow: /a", "/a/c", False),
    ("User-agent: *\nDisallow: /a\nAllow: /a", "/a", True),
    ("User-agent: *\nDisallow:", "/a", True),
    ("User-agent: *\nDisallow: /a%3cd.html", "/a%3Cd.html", False),
    ("User-agent: *\nDisallow: /\u30c4", "/%E3%83%84", False),
    ("Disallow: /", "/a", True),  # of no group
    # §2.2.2: /robots.txt itself is always allowed.
    ("User-agent: *\nDisallow: /", "/robots.txt", True),
    # §2.2.3: special characters.
    ("User-agent: *\nDisallow: /a # not a wish", "/a", False),
    ("User-agent: *\nDisallow: /*.pdf$", "/x/y.pdf", False),
    ("User-agent: *\nDisallow: /*.pdf$", "/x/y.pdf?z", True),
    ("User-agent: *\nDisallow: /a*b", "/axxb", False),
    ("User-agent: *\nDisallow: /*?", "/a?b=1", False),
    # §2.2.4: other records do not end a group.
    ("User-agent: *\nSitemap: http://a.test/s.xml\nDisallow: /a", "/a", False),
    # §2.3.1.5 and §2.4: line ends, byte order mark, rubbish.
    ("\ufeffUser-agent: *\r\nDisallow: /a\r\n", "/a", False),
    ("User-agent: *\rDisallow: /a", "/a", False),
    ("<html>\nUser-agent: *\nDisallow: /a", "/a", False),
]


@pytest.mark.parametrize(("text", "path", "allowed"), RFC_9309)
def test_rfc_9309(text: str, path: str, allowed: bool) -> None:
    assert parse(text.encode(), "gossamer").allows(SITE + path) is allowed


def test_bytes_that_are_no_text_are_no_rules() -> None:
    rules = parse(b"User-agent: *\nDisallow: /\xff\xfe\nDisallow: /a\n\x00\xff", "gossamer")
    assert not rules.allows(f"{SITE}/a")
    assert rules.allows(f"{SITE}/b")


def test_crawl_delay_and_sitemaps() -> None:
    rules = parse(
        b"Sitemap: http://a.test/1.xml\nUser-agent: *\nCrawl-delay: 2.5\nDisallow: /x\n"
        b"Sitemap: http://a.test/2.xml",
        "gossamer",
    )
    assert rules.crawl_delay_s == 2.5
    assert rules.sitemaps == ("http://a.test/1.xml", "http://a.test/2.xml")


@pytest.mark.parametrize("text", ["-1", "nan", "inf", "fast", ""])
def test_a_crawl_delay_that_is_no_time_is_none(text: str) -> None:
    assert parse(f"User-agent: *\nCrawl-delay: {text}".encode(), "gossamer").crawl_delay_s is None


def test_the_crawl_delay_of_others_is_not_ours() -> None:
    text = b"User-agent: gossamer\nDisallow: /a\n\nUser-agent: *\nCrawl-delay: 10"
    assert parse(text, "gossamer").crawl_delay_s is None


def test_a_rule_that_the_size_limit_cuts_does_not_forbid_more_than_it_said() -> None:
    head = b"User-agent: *\nDisallow: /a\n"
    filler = b"#" * (robots.MAX_BYTES - len(head) - len("\nDisallow: /")) + b"\n"
    rules = parse(head + filler + b"Disallow: /private/place\n", "gossamer")
    assert not rules.allows(f"{SITE}/a")
    assert rules.allows(f"{SITE}/b")


def test_many_agents_times_many_rules_stay_cheap() -> None:
    agents = b"".join(b"User-agent: a%d\n" % n for n in range(15_000))
    body = agents + b"User-agent: *\n" + b"Disallow: /*a*b\n" * 15_000
    started_s = time.process_time()
    rules = parse(body, "gossamer")
    assert not rules.allows(f"{SITE}/a/b")
    assert time.process_time() - started_s < 5  # multiplied out it takes all memory, and minutes


@given(st.binary(max_size=400) | st.text(max_size=200).map(lambda text: text.encode("utf-8")))
def test_no_bytes_make_it_fail(body: bytes) -> None:
    rules = parse(b"User-agent: *\n" + body, "gossamer")
    assert rules.allows(f"{SITE}/x?y") in {True, False}


def of_status(status: int, outcome: str) -> Answer:
    return Answer(outcome, 0, http_status=status, detail=f"HTTP {status}")


@pytest.mark.parametrize(("status", "outcome"), [(404, "not_found"), (403, "refused")])
def test_no_file_allows_all(status: int, outcome: str) -> None:
    """RFC 9309 §2.3.1.3."""
    assert judge(of_status(status, outcome), "gossamer") == robots.ALLOW_ALL


@pytest.mark.parametrize(
    ("status", "outcome"), [(500, "server_error"), (503, "busy"), (429, "busy")]
)
def test_a_server_in_trouble_forbids_all(status: int, outcome: str) -> None:
    """RFC 9309 §2.3.1.4."""
    assert judge(of_status(status, outcome), "gossamer") == Refusal(
        "robots", f"robots.txt unreachable: HTTP {status}"
    )


@pytest.mark.parametrize("outcome", ["unreachable", "timeout", "forbidden_address"])
def test_pages_of_a_host_that_is_not_reached_share_its_fate(outcome: str) -> None:
    assert judge(Answer(outcome, 0, detail="why"), "gossamer") == Refusal(
        outcome, "robots.txt: why"
    )


@pytest.mark.parametrize("outcome", ["unreachable", "timeout", "forbidden_address"])
def test_where_a_redirect_led_says_nothing_of_the_host(outcome: str) -> None:
    assert judge(Answer(outcome, 0, detail="why"), "gossamer", redirected=True) == Refusal(
        "robots", "robots.txt unreachable: why"
    )


def test_an_answer_that_is_not_http_forbids_all() -> None:
    assert judge(Answer("broken", 0, detail="why"), "gossamer") == Refusal(
        "robots", "robots.txt unreachable: why"
    )


def test_a_file_is_parsed() -> None:
    verdict = judge(Answer("ok", 0, body=b"User-agent: *\nDisallow: /a"), "gossamer")
    assert isinstance(verdict, Robots)
    assert not verdict.allows(f"{SITE}/a")
