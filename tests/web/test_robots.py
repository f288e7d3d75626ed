"""RFC 9309 as it is written. What we add to it is in test_robots_policy.py."""

from __future__ import annotations

import re
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.web import robots_txt
from gossamer.web.robots_txt import ALLOW_ALL, judge_robots_txt, parse_robots_txt

SITE = "http://a.test"


def allowed(text: str, path: str, agent: str = "gossamer") -> bool:
    return parse_robots_txt(text.encode()).allows(agent, SITE + path)


SIMPLE_EXAMPLE = """\
User-Agent: *
Disallow: *.gif$
Disallow: /example/
Allow: /publications/

User-Agent: foobot
Disallow:/
Allow:/example/page.html
Allow:/example/allowed.gif

User-Agent: barbot
User-Agent: bazbot
Disallow: /example/page.html

User-Agent: quxbot
"""


@pytest.mark.parametrize(
    ("agent", "path", "verdict"),
    [
        ("gossamer", "/", True),
        ("gossamer", "/a/picture.gif", False),
        ("gossamer", "/a/picture.gif?size=2", True),
        ("gossamer", "/example/page.html", False),
        ("gossamer", "/publications/page.html", True),
        ("gossamer", "/publications/picture.gif", True),
        ("foobot", "/", False),
        ("foobot", "/publications/", False),
        ("foobot", "/example/page.html", True),
        ("foobot", "/example/allowed.gif", True),
        ("foobot", "/example/another.gif", False),
        ("barbot", "/example/page.html", False),
        ("barbot", "/example/", True),
        ("bazbot", "/example/page.html", False),
        ("bazbot", "/a/picture.gif", True),
        ("quxbot", "/example/page.html", True),
        ("quxbot", "/a/picture.gif", True),
    ],
)
def test_section_5_1_the_simple_example(agent: str, path: str, verdict: bool) -> None:
    assert allowed(SIMPLE_EXAMPLE, path, agent) is verdict


@pytest.mark.parametrize(
    ("path", "verdict"),
    [
        ("/example/page/", True),
        ("/example/page/disallowed.gif", False),
        ("/example/page/another.gif", True),
        ("/example/", True),
    ],
)
def test_section_5_2_the_longest_match(path: str, verdict: bool) -> None:
    text = """\
User-Agent: foobot
Allow: /example/page/
Disallow: /example/page/disallowed.gif
"""
    assert allowed(text, path, "foobot") is verdict


THREE_GROUPS = """\
User-agent: gossamer
Disallow: /a

User-agent: b
Disallow: /c

User-agent: gossamer
Disallow: /d
"""

# The section, what the file says, the path, and whether gossamer may fetch it.
CASES = [
    # The names of records in any case; white space around; comments.
    ("2.2", "USER-AGENT: *\nDISALLOW: /a", "/a", False),
    ("2.2", "uSeR-aGeNt: *\ndIsAlLoW: /a\naLlOw: /a/b", "/a/b", True),
    ("2.2", "  User-agent :\t* \n\tDisallow\t:  /a  ", "/a", False),
    ("2.2", "User-agent:*\nDisallow:/a", "/a", False),
    ("2.2", "# c\nUser-agent: * # c\n  # c\nDisallow: /a#b\n", "/a", False),
    ("2.2", "User-agent: *\n# Disallow: /a", "/a", True),
    # The token of our own, in any case and whole; protego takes a part of ours for ours.
    ("2.2.1", "User-agent: GOSSAMER\nDisallow: /a", "/a", False),
    ("2.2.1", "User-agent: gossamerimages\nDisallow: /a", "/a", True),
    ("2.2.1", "User-agent: gossamer-images\nDisallow: /a", "/a", True),
    ("2.2.1", "User-agent: goss\nDisallow: /a", "/a", True),
    ("2.2.1", "User-agent: other\nDisallow: /", "/a", True),
    # Of a line that holds more than a token, the token; protego keeps the version.
    ("2.2.1", "User-agent: gossamer/1.0\nDisallow: /a", "/a", False),
    ("2.2.1", "User-agent: Gossamer/2.1 (crawler; +http://b.test)\nDisallow: /a", "/a", False),
    ("2.2.1", "User-agent: gossamer Bot\nDisallow: /a", "/a", False),
    # Groups of one agent are one, wherever they stand.
    ("2.2.1", THREE_GROUPS, "/a", False),
    ("2.2.1", THREE_GROUPS, "/d", False),
    ("2.2.1", THREE_GROUPS, "/c", True),
    ("2.2.1", "User-agent: *\nDisallow: /a\nUser-agent: *\nDisallow: /b", "/a", False),
    ("2.2.1", "User-agent: gossamer\nUser-agent: gossamer\nDisallow: /a", "/a", False),
    ("2.2.1", "User-agent: b\nUser-agent: gossamer\nUser-agent: c\nDisallow: /a", "/a", False),
    # Those of everyone count where there is none of our own, first or last; never both.
    ("2.2.1", "User-agent: *\nDisallow: /a", "/a", False),
    ("2.2.1", "User-agent: *\nDisallow: /a\n\nUser-agent: gossamer\nDisallow: /b", "/a", True),
    ("2.2.1", "User-agent: gossamer\nDisallow: /b\n\nUser-agent: *\nDisallow: /a", "/b", False),
    ("2.2.1", "User-agent: gossamer\nDisallow:\n\nUser-agent: *\nDisallow: /a", "/a", True),
    ("2.2.1", "User-agent: *\nDisallow: /a\n\nUser-agent: gossamer", "/a", True),
    ("2.2.1", "", "/a", True),
    # A group lasts until a user-agent line that follows a rule, not until a blank line.
    ("2.2.1", "User-agent: gossamer\n\n\nDisallow: /a", "/a", False),
    ("2.2.1", "User-agent: gossamer\n\nUser-agent: *\nDisallow: /a", "/a", False),
    ("2.2.1", "User-agent: b\nDisallow: /a\nUser-agent: gossamer\nDisallow: /c", "/a", True),
    ("2.2.1", "User-agent: b\nDisallow:\nUser-agent: gossamer\nDisallow: /c", "/c", False),
    # Rules of no group.
    ("2.2.1", "Disallow: /\nUser-agent: b\nDisallow: /c", "/a", True),
    ("2.2.1", "Disallow: /a\nUser-agent: *\nDisallow: /b", "/a", True),
    ("2.2.1", "Disallow: /a\nUser-agent: *\nDisallow: /b", "/b", False),
    # A path is a prefix, from its first octet, and its case matters.
    ("2.2.2", "User-agent: *\nDisallow: /a", "/ab/c", False),
    ("2.2.2", "User-agent: *\nDisallow: /a/", "/a", True),
    ("2.2.2", "User-agent: *\nDisallow: /a", "/b/a", True),
    ("2.2.2", "User-agent: *\nDisallow: /A", "/a", True),
    ("2.2.2", "User-agent: *\nDisallow: a", "/a", True),
    ("2.2.2", "User-agent: *\nDisallow: /a?b=1", "/a?b=12", False),
    ("2.2.2", "User-agent: *\nDisallow: /a?b=1", "/a", True),
    ("2.2.2", "User-agent: *\nDisallow: /a", "/a#b", False),
    ("2.2.2", "User-agent: *\nDisallow: /a%23b", "/a#b", True),
    ("2.2.2", "User-agent: *\nDisallow: //a", "//a", False),
    ("2.2.2", "User-agent: *\nDisallow: /", "", False),
    ("2.2.2", "User-agent: *\nDisallow: /?a", "?a", False),
    # The match of the most octets, in any order; allow, where there are two.
    ("2.2.2", "User-agent: *\nDisallow: /a\nAllow: /a/b", "/a/b/c", True),
    ("2.2.2", "User-agent: *\nAllow: /a/b\nDisallow: /a", "/a/b/c", True),
    ("2.2.2", "User-agent: *\nAllow: /a\nDisallow: /a/b", "/a/b/c", False),
    ("2.2.2", "User-agent: *\nDisallow: /a\nAllow: /a", "/a", True),
    ("2.2.2", "User-agent: *\nAllow: /a\nDisallow: /a", "/a", True),
    ("2.2.2", "User-agent: *\nAllow: /page\nDisallow: /*.htm", "/page.htm", False),
    ("2.2.2", "User-agent: *\nAllow: /page.\nDisallow: /*.htm", "/page.htm", True),
    ("2.2.2", "User-agent: *\nAllow: /$\nDisallow: /", "/", True),
    ("2.2.2", "User-agent: *\nAllow: /$\nDisallow: /", "/a", False),
    ("2.2.2", "User-agent: *\nDisallow: /a$\nAllow: /a", "/a", False),
    ("2.2.2", "User-agent: *\nDisallow: /*b\nAllow: /*ab", "/ab", True),
    ("2.2.2", "User-agent: *\nAllow: /*b\nDisallow: /*ab", "/ab", False),
    # Three octets as they are compared, though nine as written.
    ("2.2.2", "User-agent: *\nDisallow: /%61%62%63\nAllow: /abcd", "/abcd", True),
    # An empty pattern matches nothing.
    ("2.2.2", "User-agent: *\nDisallow:", "/a", True),
    ("2.2.2", "User-agent: *\nDisallow: /\nAllow:", "/a", False),
    ("2.2.2", "User-agent: *\nDisallow: # everything?", "/a", True),
    # The file itself.
    ("2.2.2", "User-agent: *\nDisallow: /", "/robots.txt", True),
    ("2.2.2", "User-agent: *\nDisallow: /robots.txt", "/robots.txt", True),
    ("2.2.2", "User-agent: *\nDisallow: /", "/a/robots.txt", False),
    # protego allows this too, which is another URI.
    ("2.2.2", "User-agent: *\nDisallow: /", "/robots.txt?a", False),
    # Special characters.
    ("2.2.3", "User-agent: *\nDisallow: /*.pdf$", "/a/b.pdf", False),
    ("2.2.3", "User-agent: *\nDisallow: /*.pdf$", "/a/b.pdf?c", True),
    ("2.2.3", "User-agent: *\nDisallow: /*.pdf$", "/a.pdf/b.pdf", False),
    ("2.2.3", "User-agent: *\nDisallow: /a$", "/a", False),
    ("2.2.3", "User-agent: *\nDisallow: /a$", "/ab", True),
    ("2.2.3", "User-agent: *\nDisallow: /this/*/exactly", "/this/a/b/exactly/c", False),
    ("2.2.3", "User-agent: *\nDisallow: /this/*/exactly", "/this/exactly", True),
    ("2.2.3", "User-agent: *\nDisallow: /a*b", "/ab", False),
    ("2.2.3", "User-agent: *\nDisallow: /a*", "/a", False),
    ("2.2.3", "User-agent: *\nDisallow: /a**b", "/axb", False),
    ("2.2.3", "User-agent: *\nDisallow: /*ab*ab$", "/ab", True),
    ("2.2.3", "User-agent: *\nDisallow: /*a$", "/aba", False),
    ("2.2.3", "User-agent: *\nDisallow: *", "/a", False),
    ("2.2.3", "User-agent: *\nDisallow: *$", "/a", False),
    ("2.2.3", "User-agent: *\nDisallow: *.gif", "/a.gif", False),
    ("2.2.3", "User-agent: *\nDisallow: /*?", "/a?b", False),
    ("2.2.3", "User-agent: *\nDisallow: /*?", "/a", True),
    # … and how they are spelled to stand for themselves. protego takes `/a$` for `/a%24` too.
    ("2.2.3", "User-agent: *\nDisallow: /a$", "/a$b", True),
    ("2.2.3", "User-agent: *\nDisallow: /file-with-a-%2A.html", "/file-with-a-*.html", False),
    ("2.2.3", "User-agent: *\nDisallow: /file-with-a-%2A.html", "/file-with-a-b.html", True),
    ("2.2.3", "User-agent: *\nDisallow: /foo-%24", "/foo-$", False),
    ("2.2.3", "User-agent: *\nDisallow: /foo-%24", "/foo-", True),
    ("2.2.3", "User-agent: *\nDisallow: /foo-%24", "/foo-%24", False),
    ("2.2.3", "User-agent: *\nDisallow: /a$b", "/a$bc", False),
    ("2.2.3", "User-agent: *\nDisallow: */a", "/a", False),
    ("2.2.3", "User-agent: *\nDisallow: */a", "/b/a", False),
    ("2.2.3", "User-agent: *\nDisallow: */a", "/b", True),
    # Other records end no group. protego ends it at those it does not know, and at Crawl-delay.
    ("2.2.4", "User-agent: *\nSitemap: http://a.test/s.xml\nDisallow: /a", "/a", False),
    ("2.2.4", "User-agent: gossamer\nSitemap: http://a.test/s.xml\nUser-agent: b\nDisallow: /a",
     "/a", False),
    ("2.2.4", "User-agent: gossamer\nCrawl-delay: 1\nUser-agent: b\nDisallow: /a", "/a", False),
    ("2.2.4", "User-agent: gossamer\nNoindex: /b\nUser-agent: b\nDisallow: /a", "/a", False),
    ("2.2.4", "User-agent: *\nDisallow: /a\nHost: a.test\nDisallow: /b", "/b", False),
    # UTF-8, with its mark or without.
    ("2.3", "\ufeffUser-agent: *\nDisallow: /a", "/a", False),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "path", "verdict"),
    [pytest.param(*case, id=f"{section} {case[0]!r} {case[1]}") for section, *case in CASES],
)
def test_the_cases_of(text: str, path: str, verdict: bool) -> None:
    assert allowed(text, path) is verdict


def test_section_2_2_1_our_own_token_may_be_given_in_any_case() -> None:
    text = "User-agent: gossamer\nDisallow: /a\n\nUser-agent: *\nDisallow: /b"
    assert not allowed(text, "/a", "GossaMer")
    assert allowed(text, "/b", "GossaMer")


# §2.2.2: a path as it may be written, and as it is compared.
SPELLINGS = [
    ("/foo/bar?baz=quz", "/foo/bar?baz=quz"),
    ("/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https%3A%2F%2Ffoo.bar"),
    ("/foo/bar?baz=quz?a@b", "/foo/bar?baz=quz%3Fa%40b"),
    ("/foo/bar/\u30c4", "/foo/bar/%E3%83%84"),
    ("/foo/bar/%E3%83%84", "/foo/bar/%E3%83%84"),
    ("/foo/bar/%62%61%7A", "/foo/bar/baz"),
    ("/~joe", "/%7Ejoe"),
    ("/a%3cd.html", "/a%3Cd.html"),
    ("/a%e3%83%84", "/a\u30c4"),
    ("/a b|c", "/a%20b%7Cc"),
    ("/a?b[]=c", "/a?b%5B%5D=c"),
    ("/100%", "/100%25"),
    ("/a%zz", "/a%25zz"),
]


@pytest.mark.parametrize(("one", "other"), SPELLINGS)
def test_section_2_2_2_spellings_of_a_path_are_equal(one: str, other: str) -> None:
    for pattern in (one, other):
        for path in (one, other):
            assert not allowed(f"User-agent: *\nDisallow: {pattern}$", path)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("/a/b", "/a%2Fb"),
        ("/a?b", "/a%3Fb"),  # protego decodes this one, and the next
        ("/a?b&c", "/a?b%26c"),
        ("/a?b+c", "/a?b%2Bc"),
        ("/a;b", "/a%3Bb"),
        ("/a%62", "/a%2562"),
    ],
)
def test_section_2_2_2_reserved_octets_are_not_their_encodings(one: str, other: str) -> None:
    assert allowed(f"User-agent: *\nDisallow: {one}$", other)
    assert allowed(f"User-agent: *\nDisallow: {other}$", one)


@pytest.mark.parametrize(
    ("pattern", "of_plain", "of_encoded"),
    [
        ("/*title=Special:X", False, False),
        ("/*title=Special%3AX", True, False),  # may be meant for a path, where the two differ
        ("/w?title=Special:X", False, False),
        ("/w?title=Special%3AX", False, False),
        ("/w?*Special%3AX$", False, False),
        ("/*/X", True, True),
    ],
)
def test_section_2_2_2_in_a_query_delimiters_are_their_encodings(
    pattern: str, of_plain: bool, of_encoded: bool
) -> None:
    text = f"User-agent: *\nDisallow: {pattern}"
    assert allowed(text, "/w?title=Special:X") is of_plain
    assert allowed(text, "/w?title=Special%3AX") is of_encoded


@pytest.mark.parametrize(
    ("pattern", "path", "verdict"),
    [
        ("/%", "/%E4", False),
        ("/%", "/%zz", False),
        ("/%", "/a", True),
        ("/%2", "/%2Fa", False),
        ("/%2", "/%3Fa", True),
        ("/%e", "/%E4", True),  # only whole triplets are compared in any case
        ("/%25", "/%E4", True),
        ("/%25", "/%25E4", False),
        ("/*%", "/a%20b", False),
        ("/a%*b$", "/a%2F/b", False),
        ("/%$", "/%", False),
        ("/%$", "/%E4", True),
        ("/a?b=%", "/a?b=%26", False),
        ("/a?b=%", "/a?b=c", True),
        ("/100%-off", "/100%-off", False),
        ("/100%-off", "/100%25-off", False),  # so we request it
        ("/%25zz", "/%zz", False),
    ],
)
def test_section_2_2_2_a_stray_percent_sign_matches_as_in_googles_parser(
    pattern: str, path: str, verdict: bool
) -> None:
    assert allowed(f"User-agent: *\nDisallow: {pattern}", path) is verdict


def test_a_stray_percent_sign_counts_as_one_octet() -> None:
    assert allowed("User-agent: *\nDisallow: /%z\nAllow: /*zz", "/%zz")
    assert not allowed("User-agent: *\nDisallow: /%zz\nAllow: /*z", "/%zz")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_section_2_2_line_ends(end: str) -> None:
    text = end.join(("User-agent: *", "Disallow: /a", "", "User-agent: b", "Disallow: /c"))
    assert not allowed(text, "/a")
    assert allowed(text, "/c")


def test_section_2_2_lines_end_at_no_other_character() -> None:
    """protego breaks them at these, and makes `/a` of the rule."""
    for character in ("\x85", "\u2028", "\x0b", "\x0c", "\x1c"):
        assert allowed(f"User-agent: *\nDisallow: /a{character}b", "/ax")


@pytest.mark.parametrize("status", [200, 203, 206])
def test_section_2_3_1_1_success(status: int) -> None:
    verdict = judge_robots_txt(status, b"User-agent: *\nDisallow: /a")
    assert verdict is not None
    assert not verdict.allows("gossamer", f"{SITE}/a")
    assert verdict.allows("gossamer", f"{SITE}/b")


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_section_2_3_1_2_redirects_that_lead_nowhere_allow_all(status: int) -> None:
    assert judge_robots_txt(status, b"User-agent: *\nDisallow: /") is ALLOW_ALL
    assert robots_txt.MAX_REDIRECTS >= 5


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 451])
def test_section_2_3_1_3_unavailable_allows_all(status: int) -> None:
    verdict = judge_robots_txt(status, b"User-agent: *\nDisallow: /")
    assert verdict is ALLOW_ALL
    assert verdict.allows("gossamer", f"{SITE}/a")
    assert verdict.crawl_delay_s("gossamer") is None
    assert verdict.sitemaps == []


@pytest.mark.parametrize("status", [0, 500, 502, 503, 504, 599])
def test_section_2_3_1_4_unreachable_forbids_all(status: int) -> None:
    assert judge_robots_txt(status, b"User-agent: *\nAllow: /") is None


def test_section_2_3_1_5_lines_that_are_no_records_are_passed_over() -> None:
    text = "<html>\nnothing\n:\n: /a\nUser-agent: *\n=====\nDisallow: /a\n</html>"
    assert not allowed(text, "/a")
    assert allowed(text, "/b")


@pytest.mark.parametrize("status", [200, 301, 404, 429, 503, 0])
def test_section_2_4_nothing_is_kept_for_longer_than_a_day(status: int) -> None:
    assert 0 < robots_txt.keep_robots_s(status) <= 24 * 3600


def test_section_2_5_500_kib_are_read() -> None:
    tail = b"\nDisallow: /a"
    head = b"User-agent: *\n"
    rules = parse_robots_txt(head + b"#" * (500 * 1024 - len(head) - len(tail)) + tail)
    assert not rules.allows("gossamer", f"{SITE}/a")


# The matcher, against one that is slow and obvious: regular expressions, rule by rule.

PIECES = (
    "/", "a", "b", "A", "~", "*", "$", "?", "=", "&", ":", "%", "%2F", "%2f", "%61", "%41", "%7E",
    "%2A", "%24", "%3A", "%3F", "%C3%A4", "\u00e4", " ", "[", "%5B", "|",
)  # fmt: skip
FEW_PIECES = ("/", "a", "*", "$", "?")  # so that rules match, and rival
paths = (
    (
        st.lists(st.sampled_from(PIECES), max_size=8)
        | st.lists(st.sampled_from(FEW_PIECES), max_size=8)
    )
    .map("".join)
    .map("/{}".format)
)
rule_lists = st.lists(st.tuples(st.booleans(), paths), max_size=5)


def spelled(text: str) -> str:
    """As RFC 9309 compares it, octet by octet; `*` and stray percent signs are left alone."""
    octets, spelling = text.encode(), ""
    while octets:
        triplet = re.match(rb"%([0-9A-Fa-f]{2})", octets)
        octet = bytes.fromhex(triplet[1].decode()) if triplet else octets[:1]
        octets = octets[len(triplet[0]) if triplet else 1 :]
        if triplet:
            plain = quote(octet, safe="")
            spelling += plain if len(plain) == 1 else f"%{triplet[1].decode().upper()}"
        else:
            spelling += quote(octet, safe="/?:@!&'()*+,;=%")
    return spelling


def opened(spelling: str) -> str:
    path, mark, query = spelling.partition("?")
    for character in "/:?@":
        query = query.replace(quote(character, safe=""), character)
    return path + mark + query


def slowly_allowed(rules: list[tuple[bool, str]], path: str) -> bool:
    encoded = re.sub("%(?![0-9A-Fa-f]{2})", "%25", spelled(path)).replace("*", "%2A")
    stray = re.sub("%25(?![0-9A-Fa-f]{2})", "%", encoded)
    compared = [encoded, opened(encoded), stray, opened(stray)]
    found = [(0, True)]
    for allow, pattern in rules:
        anchored = pattern.endswith("$")
        literal = opened(spelled(pattern.removesuffix("$")))
        expression = ".*".join(map(re.escape, literal.split("*"))) + ("$" if anchored else "")
        if any(re.match(expression, spelling) for spelling in compared):
            found.append((len(literal) + anchored, allow))
    return max(found)[1]


@given(rule_lists, paths)
def test_section_2_2_2_the_matcher_agrees_with_regular_expressions(
    rules: list[tuple[bool, str]], path: str
) -> None:
    lines = [f"{'Allow' if allow else 'Disallow'}: {pattern}" for allow, pattern in rules]
    stripped = [(allow, pattern.strip()) for allow, pattern in rules]
    assert allowed("\n".join(("User-agent: *", *lines)), path) is slowly_allowed(stripped, path)


# Files of lines that mean something, most of them.

lines_of_files = st.lists(
    st.one_of(
        st.sampled_from(("User-agent: *", "User-agent: gossamer", "User-agent: b", "Sitemap: c:")),
        st.tuples(st.sampled_from(("Allow: ", "Disallow: ")), paths).map("".join),
        st.text(st.characters(codec="utf-8", exclude_characters="\n\r"), max_size=9),
    ),
    max_size=8,
)


@given(
    lines_of_files,
    st.data(),
    st.sampled_from(("", " ", "# comment", "\t# User-agent: *", "#", "# Disallow: /")),
    paths,
)
def test_section_2_2_comments_and_blank_lines_change_nothing(
    lines: list[str], data: st.DataObject, nothing: str, path: str
) -> None:
    at = data.draw(st.integers(0, len(lines)))
    more = [*lines[:at], nothing, *lines[at:]]
    assert allowed("\n".join(lines), path) is allowed("\n".join(more), path)


@given(lines_of_files, st.data(), paths)
def test_section_2_2_line_ends_of_any_kind_change_nothing(
    lines: list[str], data: st.DataObject, path: str
) -> None:
    ends = [data.draw(st.sampled_from(("\n", "\r\n", "\r"))) for _ in lines]
    text = "".join(line + end for line, end in zip(lines, ends, strict=True))
    assert allowed(text, path) is allowed("\n".join(lines), path)


@pytest.mark.parametrize(
    "names", ["other, gossamer", "Gossamer/1.0,other", "x,,gossamer", "other , *"]
)
def test_several_agents_in_one_line(names: str) -> None:
    body = f"User-agent: {names}\nCrawl-delay: 7\nDisallow: /private\n".encode()
    robots = parse_robots_txt(body)
    assert not robots.allows("gossamer", "https://e.org/private")
    assert robots.allows("gossamer", "https://e.org/open")
    assert robots.crawl_delay_s("gossamer") == 7
    assert parse_robots_txt(b"User-agent: a, b\nDisallow: /\n").allows("c", "https://e.org/")
