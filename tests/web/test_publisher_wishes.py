"""What publishers say about uses of their pages, with the examples of each standard."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gossamer.web.publisher_wishes import (
    AI_INPUT,
    AI_TRAIN,
    BOTH_BY_AI,
    MAX_EXPRESSIONS,
    MAX_STATEMENTS,
    MAX_VALUE_CHARS,
    ROBOTS_TXT,
    SEARCH,
    USES,
    Preference,
    Preferences,
    condense,
    encode,
    forbids,
    header_statements,
    judge,
    keep,
    read_content_signal,
    read_content_usage,
    read_tdm_reservation,
    said,
    statement,
)
from gossamer.web.robots_txt import MAX_PREFERENCES, parse_robots_txt

HOST = "https://example.org"
NO_AI = dict.fromkeys(BOTH_BY_AI, False)

# draft-ietf-aipref-attach-05, section 3.5
USAGE_FILE = b"""\
User-Agent: *
Allow: /
Disallow: /never/
Content-Usage: / train-ai=n
Content-Usage: /ai-ok/ train-ai=y

User-Agent: ExampleBot
Allow: /
Content-Usage: / train-ai=y
"""


def about(file: bytes, path: str = "/", agent: str = "gossamer") -> dict[str, bool]:
    """What a robots.txt says about uses of a page."""
    return judge(parse_robots_txt(file).statements(agent, HOST + path))


@pytest.mark.parametrize(
    ("value", "uses"),
    [
        ("search=yes, ai-input=no, ai-train=no", {SEARCH: True} | NO_AI),
        ("search=yes,ai-train=no", {SEARCH: True, AI_TRAIN: False}),
        ("ai-train=no, search=yes, ai-input=yes", {SEARCH: True, AI_INPUT: True, AI_TRAIN: False}),
        ("search=yes, ai-train=no, use=reference", {SEARCH: True, AI_TRAIN: False}),
        ("Search = Yes; AI_Train = No", {SEARCH: True, AI_TRAIN: False}),
        ('ai-train="no"', {AI_TRAIN: False}),
        ("ai-train=y ai-train=n", {AI_TRAIN: False}),
        ("no-ai-train=no, search=nope, ai-input=maybe, ai-train", {}),
        ("", {}),
    ],
)
def test_content_signals(value: str, uses: dict[str, bool]) -> None:
    assert read_content_signal(value) == uses


@pytest.mark.parametrize(
    ("value", "uses"),
    [
        # draft-ietf-aipref-vocab-08, section 6
        ("train-ai=y, search=n", {SEARCH: False, AI_TRAIN: True}),
        ('train-ai=y, train-ai, search=n, search="n"', {}),
        ("train-ai;allow=n, train-ai=y", {AI_TRAIN: True}),
        ('train-ai;has;parameters="?";', {}),
        ("ai-use=n", {AI_INPUT: False}),
        # RFC 9651: whatever else a dictionary may contain
        (
            'a=(1 "x,train-ai=y";q=?0 tok), b=:aGk=:, c=1.5, d=@12, e=?1, f;p, train-ai=n;q=1',
            {AI_TRAIN: False},
        ),
        ("train-ai=y\t,  search=y", {SEARCH: True, AI_TRAIN: True}),
        # no dictionaries: only what they forbid counts
        ("Train-AI=n, search=y", {AI_TRAIN: False}),
        ("train-ai=n,", {AI_TRAIN: False}),
        ("train-ai=y,", {}),
        ('x="train-ai=', {}),
        # beyond the standard
        ("train-ai=no, search=yes, cite=yes", {SEARCH: True, AI_TRAIN: False}),
        ("ai=n", NO_AI),
        ("genai=n, ai-train=y", {AI_TRAIN: False}),
        ("", {}),
    ],
)
def test_content_usage(value: str, uses: dict[str, bool]) -> None:
    assert read_content_usage(value) == uses


@pytest.mark.parametrize(
    ("value", "uses"),
    [
        ("1", NO_AI),
        ("0", dict.fromkeys(BOTH_BY_AI, True)),
        ("0, 1", NO_AI),
        (" 1 ", NO_AI),
        ("2", {}),
        ("yes", {}),
        ("", {}),
    ],
)
def test_tdm_reservation(value: str, uses: dict[str, bool]) -> None:
    assert read_tdm_reservation(value) == uses


@pytest.mark.parametrize(
    ("agent", "path", "uses"),
    [
        ("gossamer", "/test", {AI_TRAIN: False}),
        ("gossamer", "/ai-ok/test", {AI_TRAIN: True}),
        ("ExampleBot", "/test", {AI_TRAIN: True}),
    ],
)
def test_the_longest_path_counts(agent: str, path: str, uses: dict[str, bool]) -> None:
    assert about(USAGE_FILE, path, agent) == uses


def test_lines_about_uses_are_rules_that_end_a_list_of_agents() -> None:
    file = b"User-agent: *\nContent-Signal: ai-train=no\nUser-agent: other\nDisallow: /\n"
    robots = parse_robots_txt(file)
    assert robots.allows("gossamer", f"{HOST}/")
    assert not robots.allows("other", f"{HOST}/")
    assert about(file) == {AI_TRAIN: False}
    assert about(file, agent="other") == {}


def test_a_managed_file_with_comments_signals_and_agents() -> None:
    file = (
        b"# (b) If a content-signal = no, you may not collect content for the\n"
        b"# corresponding use.\n\nUser-Agent: *\nContent-signal: search=yes, ai-train=no\n"
        b"Allow: /\n\nUser-agent: otherbot\nDisallow: /\n"
    )
    assert about(file) == {SEARCH: True, AI_TRAIN: False}
    robots = parse_robots_txt(file)
    assert robots.statements("gossamer", HOST) == [
        "robots.txt Content-Signal: search=yes, ai-train=no"
    ]


@pytest.mark.parametrize(
    ("file", "path", "uses"),
    [
        (b"Content-Signal: ai-train=no\nUser-agent: *\nAllow: /\n", "/", {AI_TRAIN: False}),
        (b"User-agent: *\nContent-Usage: train-ai=n\n", "/a", {AI_TRAIN: False}),
        (b"User-agent: *\nContent-Signal: /a ai-input=no\n", "/a/b", {AI_INPUT: False}),
        (b"User-agent: *\nContent-Signal: /a ai-input=no\n", "/b", {}),
        (b"User-agent: *\nContent-Usage: /*.pdf$\ttrain-ai=n\n", "/x/a.pdf", {AI_TRAIN: False}),
        (b"User-agent: *\nContent-Usage: /*.pdf$\ttrain-ai=n\n", "/x/a.pdf?b", {}),
        (b"User-agent: *\nContent-Usage: /%61 train-ai=n\n", "/a", {AI_TRAIN: False}),
        (
            b"User-agent: *\nContent-Usage: /a train-ai=n\nContent-Usage: /a train-ai=y\n",
            "/a",
            {AI_TRAIN: False},
        ),
        (
            b"User-agent: *\nContent-Usage: / train-ai=y\nContent-Signal: / ai-train=no\n",
            "/a",
            {AI_TRAIN: False},
        ),
        (b"License: https://example.org/license.xml\n", "/", NO_AI),
        (b"User-agent: *\nDisallow:\nLicense: https://a.org/rsl.xml # all\n", "/", NO_AI),
        (b"License: /license.xml\n", "/", NO_AI),
        (b"License: MIT\nLicense MIT\nlicense\n", "/", {}),
        (b"User-agent: other\nContent-Signal: ai-train=no\n", "/", {}),
        (b"Disallow: /x\n", "/", {}),
    ],
)
def test_robots_txt(file: bytes, path: str, uses: dict[str, bool]) -> None:
    assert about(file, path) == uses


def test_a_file_without_wishes_says_nothing() -> None:
    assert parse_robots_txt(b"User-agent: *\nDisallow: /a\n").statements("gossamer", HOST) == []


def test_only_so_many_lines_of_a_file_are_read() -> None:
    numbers = range(10_000, 10_000 + MAX_PREFERENCES + 1)
    lines = b"".join(b"Content-Usage: /%d train-ai=n\n" % n for n in numbers)
    file = b"User-agent: *\n" + lines
    assert about(file, f"/{numbers[-2]}") == {AI_TRAIN: False}
    assert about(file, f"/{numbers[-1]}") == {}


@pytest.mark.parametrize(
    ("line", "uses"),
    [
        ("page robots: noai", NO_AI),
        ("header X-Robots-Tag: noai", NO_AI),
        ("page robots: noimageai", {}),
        ("page License: https://example.org/rsl.xml", NO_AI),
        ("header tdm-policy: https://provider.com/policies/policy.json", {}),
        ("header content-usage: train-ai=n", {AI_TRAIN: False}),
        ("", {}),
        ("robots.txt", {}),
    ],
)
def test_statements(line: str, uses: dict[str, bool]) -> None:
    assert said(line) == uses


def test_whoever_forbids_wins() -> None:
    lines = [
        "header tdm-reservation: 0",
        "robots.txt Content-Signal: search=yes, ai-train=no",
        "page content-usage: search=y",
    ]
    judged = judge(lines)
    assert judged == {SEARCH: True, AI_INPUT: True, AI_TRAIN: False}
    assert encode(judged) == "search=yes ai-input=yes ai-train=no"
    assert forbids(encode(judged), AI_TRAIN)
    assert not forbids(encode(judged), AI_INPUT)
    assert not forbids(None, AI_TRAIN)
    assert encode(judge([])) is None


def test_what_forbids_is_kept_first() -> None:
    allowed = [f"page content-usage: search=y;n={n}" for n in range(MAX_STATEMENTS)]
    kept = keep([*allowed, "page robots: noai", "page robots: noai"])
    assert len(kept) == MAX_STATEMENTS
    assert kept[:2] == ("page robots: noai", allowed[0])


def test_headers_are_statements() -> None:
    headers = {
        "robots.txt": "Content-Signal: ai-train=no\nLicense: https://a.org/x",
        "content-usage": "search=y",
        "tdm-policy": "https://a.org/p",
        "server": "content-usage: search=n",
    }
    assert header_statements(headers) == [
        "robots.txt Content-Signal: ai-train=no",
        "robots.txt License: https://a.org/x",
        "header content-usage: search=y",
        "header tdm-policy: https://a.org/p",
    ]


VALUES = st.lists(
    st.sampled_from(
        (
            *("search", "train-ai", "ai-use", "ai-train", "ai-input", "=", "y", "n", "yes", "no"),
            *(", ", ";", '"', "(", ")", "/a ", "\t", "?1", "\u202e", "\ud800", "x" * 400, "1"),
        )
    ),
    max_size=30,
).map("".join)
FIELDS = st.sampled_from(
    ["Content-Signal", "Content-Usage", "tdm-reservation", "License", "robots"]
)


@given(st.lists(st.tuples(FIELDS, VALUES), max_size=8))
@example([("Content-Usage", "x" * 400 + ", train-ai=n")])
@example([("Content-Signal", "x" * 400 + ", search=no")])
def test_anything_is_a_line_with_the_same_meaning(given_: list[tuple[str, str]]) -> None:
    lines = [statement("page", field, value) for field, value in given_]
    for line, (field, value) in zip(lines, given_, strict=True):
        assert len(line) <= MAX_VALUE_CHARS + 40
        assert line.encode().decode().splitlines() == [line]
        assert said(statement("page", field, line.split(": ", 1)[1])) == said(line)
        if field == "Content-Signal":
            assert said(line) == read_content_signal(value)
    judged = judge(lines)
    assert set(judged) <= set(USES)
    for use in USES:
        forbidden = any(said(line).get(use) is False for line in lines)
        assert forbids(encode(judged), use) == forbidden
    assert judge(condense(lines, 1)) == judged


@given(st.binary(max_size=300), VALUES.map(lambda text: text.encode(errors="replace")))
@example(b"content-usage:" + b"(" * 50_000, b"")
@example(b"content-usage: a=" + b'"\\' * 50_000, b"")
def test_any_file_can_be_read(noise: bytes, value: bytes) -> None:
    file = b"%b\nUser-agent: *\nContent-Usage: %b\nContent-Signal: %b\n" % (noise, value, value)
    for line in parse_robots_txt(file).statements("gossamer", f"{HOST}/a?b"):
        assert set(said(line)) <= set(USES)
        assert "\n" not in line


@pytest.mark.parametrize(
    ("field", "value", "line"),
    [
        ("Content-Usage", "train-ai=n, search=y", "train-ai=n, search=y"),
        ("Content-Usage", "train-ai=n, search=y" + ", x" * 100, "search=y, train-ai=n"),
        ("content-usage", "ai-use=y, train-ai=n" + ", x" * 100, "ai-use=y, train-ai=n"),
        ("Content-Signal", "ai-train=no, ai-input=yes" + ", x" * 100, "ai-input=yes, ai-train=no"),
        ("License", "x" * MAX_VALUE_CHARS, "x" * MAX_VALUE_CHARS),
        ("License", "x" * (MAX_VALUE_CHARS + 1), "ai-input=no, ai-train=no"),
        ("X", "x" * MAX_VALUE_CHARS + "y", "x" * MAX_VALUE_CHARS),
        ("License", " a\nb ", "a b"),
    ],
)
def test_a_long_statement_is_its_meaning(field: str, value: str, line: str) -> None:
    assert statement("header", field, value) == f"header {field}: {line}"


def test_too_many_statements_are_one() -> None:
    lines = [
        statement(ROBOTS_TXT, "Content-Signal", "search=yes"),
        statement(ROBOTS_TXT, "Content-Signal", "ai-train=no"),
    ]
    assert condense(lines, 2) == lines
    assert condense(lines, 1) == ["robots.txt Content-Signal: search=yes, ai-train=no"]
    assert condense([], 0) == []


def test_the_longest_path_of_each_field_counts() -> None:
    given_ = [
        Preference("Content-Signal", b"/", "ai-train=yes"),
        Preference("Content-Signal", b"/a", "ai-train=no"),
        Preference("Content-Signal", b"/b", "search=no"),
        Preference("Content-Signal", b"/a", "search=yes"),
        Preference("Content-Usage", b"/", "train-ai=n"),
    ]
    preferences = Preferences(given_)
    usage = "robots.txt Content-Usage: train-ai=n"
    signal = "robots.txt Content-Signal: "
    site = "https://a.example"
    assert preferences.about(f"{site}/x") == [f"{signal}ai-train=yes", usage]
    assert preferences.about(f"{site}/ab") == [
        f"{signal}ai-train=no",
        f"{signal}search=yes",
        usage,
    ]
    assert preferences.about(f"{site}/b") == [f"{signal}search=no", usage]
    assert Preferences(given_[1:4]).about(f"{site}/x") == []


def test_few_expressions_are_told_apart() -> None:
    given_ = [
        Preference("Content-Signal", b"/%d/" % number, f"x{number}=no")
        for number in range(2 * MAX_EXPRESSIONS + 1)
    ]
    preferences = Preferences([*given_, Preference("Content-Signal", b"/y/", "x0=no")])
    site = "https://a.example"
    assert preferences.about(f"{site}/y/") == ["robots.txt Content-Signal: x0=no"]
    assert preferences.about(f"{site}/{2 * MAX_EXPRESSIONS - 1}/") != []
    assert preferences.about(f"{site}/{2 * MAX_EXPRESSIONS}/") == []
