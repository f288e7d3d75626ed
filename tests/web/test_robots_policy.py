"""robots.txt beyond RFC 9309: what it leaves open, what real files hold and hostile ones do."""

from __future__ import annotations

import time
import tracemalloc
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.web import robots_txt
from gossamer.web.robots_txt import judge_robots_txt, keep_robots_s, parse_robots_txt

SITE = "http://a.test"


def allowed(body: bytes, path: str) -> bool:
    return parse_robots_txt(body).allows("gossamer", SITE + path)


@pytest.mark.parametrize(
    "field",
    [
        "disalow", "dissallow", "Dissalow", "DIASLLOW", "disallaw", "disallows", "disallowed",
    ],
)  # fmt: skip
def test_misspellings_of_disallow(field: str) -> None:
    assert not allowed(f"User-agent: *\n{field}: /a".encode(), "/a")


@pytest.mark.parametrize("field", ["useragent", "User Agent", "User-agents"])
def test_misspellings_of_user_agent(field: str) -> None:
    assert not allowed(f"{field}: gossamer\nDisallow: /a".encode(), "/a")


@pytest.mark.parametrize("field", ["site-map", "Sitemaps", "SITEMAP"])
def test_misspellings_of_sitemap(field: str) -> None:
    assert parse_robots_txt(f"{field}: http://a.test/s".encode()).sitemaps == ["http://a.test/s"]


@pytest.mark.parametrize("field", ["crawl delay", "crawldelay", "Crawl-Delay"])
def test_misspellings_of_crawl_delay(field: str) -> None:
    assert parse_robots_txt(f"User-agent: *\n{field}: 3".encode()).crawl_delay_s("gossamer") == 3


@pytest.mark.parametrize("field", ["foo", "no-disallow", "dis allow", "user", "agent", ""])
def test_other_words_are_no_fields(field: str) -> None:
    assert allowed(f"User-agent: *\n{field}: /a".encode(), "/a")


def test_a_colon_may_be_missing_before_a_single_word() -> None:
    assert not allowed(b"User-agent gossamer\nDisallow\t/a", "/a")
    assert not allowed(b"user agent gossamer\nDisallow /a", "/a")
    assert parse_robots_txt(b"Sitemap http://a.test/s").sitemaps == ["http://a.test/s"]


def test_prose_is_no_rule() -> None:
    assert allowed(b"User-agent: *\nDisallow / for everyone, please", "/a")
    text = b"User-agent: *\nDisallow: /b\nUser agent strings are ignored\nDisallow: /a"
    assert not allowed(text, "/a")


@pytest.mark.parametrize("agent", [b"", b"/1.0", b"(all)", b"\xe3\x83\x84", b"*bot", b"gossamer*x"])
def test_what_names_no_agent_still_begins_a_group(agent: bytes) -> None:
    text = b"User-agent: *\nDisallow: /a\nUser-agent: %s\nDisallow: /b" % agent
    assert not parse_robots_txt(text).allows("other", f"{SITE}/a")
    assert parse_robots_txt(text).allows("other", f"{SITE}/b")
    assert parse_robots_txt(b"User-agent: %s\nDisallow: /" % agent).allows("", f"{SITE}/b")


def test_everyone_may_be_followed_by_words() -> None:
    """As Google reads it; protego finds no agent in this line."""
    assert not allowed(b"User-agent: * and all others\nDisallow: /a", "/a")


def test_a_folder_s_page_that_is_allowed_allows_the_folder_s_url() -> None:
    """As Google and protego read it."""
    text = b"User-agent: *\nDisallow: /\nAllow: /a/index.html"
    assert allowed(text, "/a/index.html")
    assert allowed(text, "/a/")
    assert not allowed(text, "/a/b")
    assert not allowed(text, "/a/index.htm")
    assert allowed(b"User-agent: *\nDisallow: /a/index.html", "/a/")


def test_html_has_no_rules() -> None:
    page = b"<!DOCTYPE html>\n<p>User-agent: *\nDisallow: /</p>\n<pre>\nDisallow: /\n</pre>"
    assert allowed(page, "/a")


@pytest.mark.parametrize(
    "body",
    [
        b"\xef\xbb\xbf\xef\xbb\xbfUser-agent: *\nDisallow: /a",
        b"\xef\xbbUser-agent: *\nDisallow: /a",
        b"\0User-agent: *\n\0Disallow: /a\0",
        "User-agent: *\nDisallow: /a".encode("utf-16"),
        "User-agent: *\nDisallow: /a".encode("utf-16-be"),
    ],
)
def test_marks_and_nuls_do_not_hide_rules(body: bytes) -> None:
    assert not allowed(body, "/a")
    assert allowed(body, "/b")


def test_octets_that_are_no_utf_8_are_compared_as_octets() -> None:
    body = b"User-agent: *\nDisallow: /caf\xe9\nDisallow: /a\xff\n"
    assert not allowed(body, "/caf%E9")
    assert allowed(body, "/caf%C3%A9")
    assert allowed(body, "/b")


def test_a_url_with_lone_surrogates_is_judged() -> None:
    assert not allowed(b"User-agent: *\nDisallow: /a", "/a\ud800")


# Crawl-delay is in no standard.


@pytest.mark.parametrize(
    ("value", "delay_s"),
    [
        ("2", 2.0),
        ("2.5", 2.5),
        (".5", 0.5),
        ("0", 0.0),
        ("10 # seconds", 10.0),
        ("99999999", robots_txt.MAX_CRAWL_DELAY_S),
        ("-1", None),
        ("nan", None),
        ("inf", None),
        ("1e999", None),
        ("fast", None),
        ("10 s", None),
        ("1,5", None),
        ("\u0665", None),
        ("", None),
    ],
)
def test_a_crawl_delay_is_a_number_of_seconds(value: str, delay_s: float | None) -> None:
    text = f"User-agent: *\nCrawl-delay: {value}\nDisallow: /a"
    assert parse_robots_txt(text.encode()).crawl_delay_s("gossamer") == delay_s


@pytest.mark.parametrize(
    ("text", "delay_s"),
    [
        (b"User-agent: gossamer\nDisallow: /a\n\nUser-agent: *\nCrawl-delay: 10", None),
        (b"User-agent: GOSSAMER\nCrawl-delay: 3\n\nUser-agent: *\nCrawl-delay: 10", 3),
        (b"User-agent: b\nUser-agent: gossamer\nCrawl-delay: 3", 3),
        (b"User-agent: *\nDisallow: /a\nCrawl-delay: 3", 3),
        (b"Crawl-delay: 3\nUser-agent: *\nDisallow: /a", None),
        # Of a group's, the first that is a number; of several groups, the longest.
        (b"User-agent: *\nCrawl-delay: x\nCrawl-delay: 3\nCrawl-delay: 5", 3),
        (b"User-agent: *\nCrawl-delay: 5\nDisallow: /\nUser-agent: *\nCrawl-delay: 3", 5),
        (b"User-agent: *\nCrawl-delay: 3\nDisallow: /\nUser-agent: *\nCrawl-delay: 5", 5),
    ],
)
def test_the_crawl_delay_of_a_group(text: bytes, delay_s: float | None) -> None:
    assert parse_robots_txt(text).crawl_delay_s("gossamer") == delay_s


def test_a_crawl_delay_is_for_the_agents_above_it() -> None:
    """To the RFC this is one group, and so it is for its rules."""
    rules = parse_robots_txt(b"User-agent: slurp\nCrawl-delay: 9\n\nUser-agent: *\nDisallow: /a")
    assert rules.crawl_delay_s("slurp") == 9
    assert rules.crawl_delay_s("gossamer") is None
    assert not rules.allows("slurp", f"{SITE}/a")


# Sitemaps.


def test_sitemaps_stand_anywhere_and_belong_to_nobody() -> None:
    rules = parse_robots_txt(
        b"Sitemap: http://a.test/1.xml\nUser-agent: *\nDisallow: /x\nSitemap:https://b.test/2?c=d\n"
        b"User-agent: b\nSITEMAP: http://a.test/\xe3\x83\x84.xml # new\nSitemap: http://a.test/1.xml"
    )
    assert rules.sitemaps == [
        "http://a.test/1.xml",
        "https://b.test/2?c=d",
        "http://a.test/\u30c4.xml",
    ]


@pytest.mark.parametrize("value", ["/sitemap.xml", "//a.test/s"])
def test_a_sitemap_may_be_a_path(value: str) -> None:
    """To sitemaps.org it is a whole URL. A file does not know from where it was read."""
    assert parse_robots_txt(f"Sitemap: {value}".encode()).sitemaps == [value]


def test_the_scheme_of_a_sitemap_may_be_in_capitals() -> None:
    assert parse_robots_txt(b"Sitemap: HTTP://a.test/s").sitemaps == ["HTTP://a.test/s"]


@pytest.mark.parametrize("value", [b"", b"/", b"sitemap.xml", b"http:/", b"http:a", b"none: /"])
def test_what_is_neither_a_url_nor_a_path_is_no_sitemap(value: bytes) -> None:
    assert parse_robots_txt(b"Sitemap: " + value).sitemaps == []


def test_sitemaps_are_bounded() -> None:
    body = b"".join(b"Sitemap: http://a.test/%d\n" % n for n in range(2 * robots_txt.MAX_SITEMAPS))
    assert len(parse_robots_txt(body).sitemaps) == robots_txt.MAX_SITEMAPS


def test_the_list_of_sitemaps_is_the_caller_s_own() -> None:
    body = b"Sitemap: http://a.test/s"
    parse_robots_txt(body).sitemaps.clear()
    assert parse_robots_txt(body).sitemaps == ["http://a.test/s"]


# Verdicts on answers.


def test_a_server_that_is_asked_too_much_forbids_all() -> None:
    """To RFC 9309 §2.3.1.3 a 429 is a 4xx like others."""
    assert judge_robots_txt(429, b"") is None


def test_what_is_no_status_forbids_all() -> None:
    assert judge_robots_txt(100, b"") is None
    assert judge_robots_txt(-1, b"") is None
    assert judge_robots_txt(999, b"") is None


def test_a_verdict_for_want_of_an_answer_is_kept_for_an_hour() -> None:
    assert [keep_robots_s(status) for status in (0, 429, 503)] == [3_600] * 3
    assert [keep_robots_s(status) for status in (200, 301, 404)] == [86_400] * 3


# Limits.


@pytest.mark.parametrize("end", [b"\n", b"\r"])
@pytest.mark.parametrize("excess", [0, 1, len(b"private/place")])
def test_a_rule_that_the_size_limit_cuts_is_none(end: bytes, excess: int) -> None:
    """Cut, it would forbid more than it said. The fetcher may have cut it already."""
    head = end.join((b"User-agent: *", b"Disallow: /a", b""))
    cut = end + b"Disallow: /"
    body = head + b"#" * (robots_txt.MAX_BYTES - len(head) - len(cut)) + cut
    body += b"private/place"[:excess]
    assert not allowed(body, "/a")
    assert allowed(body, "/b")


def test_a_line_is_read_up_to_its_limit() -> None:
    pattern = b"/" + b"a" * robots_txt.MAX_LINE_BYTES
    body = b"User-agent: *\nDisallow: " + pattern + b"\nDisallow: /b"
    assert not allowed(body, pattern[: robots_txt.MAX_LINE_BYTES].decode())
    assert allowed(body, "/aaa")
    assert not allowed(body, "/b")


def test_the_same_bytes_are_parsed_once() -> None:
    text = "User-agent: *\nDisallow: /the-same-bytes"
    assert parse_robots_txt(text.encode()) is parse_robots_txt(text.encode())


def test_the_cache_forgets_what_was_not_asked_for_longest() -> None:
    cache = robots_txt._Cache(max_files=2, max_bytes=100)
    first, second = cache.parse(b"#1"), cache.parse(b"#2")
    assert cache.parse(b"#1") is first
    cache.parse(b"#3")
    assert cache.parse(b"#1") is first
    assert cache.parse(b"#2") is not second


def test_the_cache_is_bounded_in_bytes() -> None:
    cache = robots_txt._Cache(max_files=100, max_bytes=100)
    for n in range(20):
        cache.parse(b"#%039d" % n)
    assert len(cache._files) == 2
    assert cache._bytes == 80
    huge = b"#" * 101
    assert cache.parse(huge) is not cache.parse(huge)
    assert (len(cache._files), cache._bytes) == (0, 0)


# Hostile files. Each is judged in tenths of a second; a pattern that backtracks, or rules kept once
# per agent, take minutes or all memory.

AGENTS = b"".join(b"User-agent: %s\n" % bytes(name) for name in product(b"abcdefghij", repeat=4))
ALL = b"User-agent: *\n"
HOSTILE = {
    "many agents with many rules": AGENTS + ALL + b"Disallow: /*a*b\n" * 10_000,
    "many agents with many delays": AGENTS + ALL + b"Crawl-delay: 5\n" * 9_000 + b"Disallow: /a",
    "one agent in many groups": (ALL + b"Disallow: /*a*b\n") * 15_000,
    "one agent many times in a group": ALL * 15_000 + b"Disallow: /*a*b\n" * 15_000,
    "one pattern of many parts": ALL + b"Disallow: /" + b"a*" * 8_000 + b"$\nDisallow: /*b",
    "one pattern of many wildcards": ALL + b"Disallow: /" + b"*" * 16_000 + b"b",
    "many wildcards": ALL + b"".join(b"Disallow: /*a*a*a*a*%x\n" % n for n in range(20_000)),
    "many prefixes": ALL + b"".join(b"Disallow: /a%d\n" % n for n in range(20_000))
    + b"Disallow: /a",
    "prefixes of many lengths": ALL + b"".join(b"Disallow: /%s\n" % (b"a" * n) for n in range(900)),
    "one line": b"User-agent: *" + b" " * 500_000 + b"\nDisallow: /aaa",
    "stray escapes": ALL + b"Disallow: /" + b"%" * 16_000 + b"\nDisallow: /aaa",
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_judged_in_bounded_time(name: str) -> None:
    started_s = time.process_time()
    rules = robots_txt._read(HOSTILE[name])
    assert not rules.allows("gossamer", f"{SITE}/{'a' * 1_900}b")
    assert time.process_time() - started_s < 10


@pytest.mark.parametrize("name", ["many agents with many rules", "many prefixes"])
def test_a_hostile_file_is_read_in_bounded_memory(name: str) -> None:
    tracemalloc.start()
    robots_txt._read(HOSTILE[name]).allows("gossamer", f"{SITE}/a")
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak_bytes < 64 * 2**20


@given(st.binary(max_size=400) | st.text(max_size=200).map(str.encode))
def test_no_bytes_make_it_fail(body: bytes) -> None:
    for text in (body, b"User-agent: *\n" + body):
        rules = parse_robots_txt(text)
        assert rules.allows("gossamer", f"{SITE}/x?y") in {True, False}
        delay_s = rules.crawl_delay_s("gossamer")
        assert delay_s is None or 0 <= delay_s <= robots_txt.MAX_CRAWL_DELAY_S
        assert all("/" in url for url in rules.sitemaps)


@given(st.text(max_size=50), st.text(max_size=50))
def test_no_agent_and_no_url_make_it_fail(agent: str, url: str) -> None:
    assert parse_robots_txt(b"User-agent: *\nDisallow: /").allows(agent, url) is False
