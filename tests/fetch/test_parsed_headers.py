"""RFC 9111 §3.2 and §4.3.4: what a 304 changes of the headers that are stored."""

from __future__ import annotations

import pytest

from gossamer.fetch.exchange import FetchResult
from gossamer.fetch.parsed_headers import (
    MAX_CHARS,
    MAX_STATEMENTS,
    are_same_headers,
    header_value,
    parsed_headers,
    update_headers,
)

TYPE = "content-type: text/html; charset=utf-8"
TAG = "x-robots-tag: nosnippet"


def answer(*headers: tuple[bytes, bytes]) -> FetchResult:
    return FetchResult("ok", 0, headers=headers)


def test_fields_that_parsers_read_are_lines_in_the_order_of_their_names() -> None:
    sent = answer(
        (b"X-ROBOTS-TAG", b"noindex"),
        (b"Server", b"x"),
        (b"x-robots-tag", b"other:  nofollow\t, \xe9\x85"),
        (b"Content-Type ", b"text/html"),
        (b"Content-Encoding", b"gzip"),
    )
    lines = [
        "content-type: text/html",
        "x-robots-tag: noindex",
        "x-robots-tag: other: nofollow , é\x85",
    ]
    assert parsed_headers(sent).split("\n") == ["content-encoding: gzip", *lines]
    sent.decoded = True
    assert parsed_headers(sent).split("\n") == lines
    assert parsed_headers(answer()) == ""
    assert len(parsed_headers(answer((b"x-robots-tag", b"a" * MAX_CHARS)))) == MAX_CHARS


def test_links_to_other_pages_come_last_and_push_out_nothing() -> None:
    style, canonical = b"</style.css?v=1>; rel=preload", b"</a,b>; rel=canonical"
    sent = answer(
        (b"Link", b", ".join((style, canonical))),
        (b"Link", style),
        (b"Refresh", b"5; /b"),
        (b"Link", b"</c>; rel=next" + b" " * 9 + b"," * MAX_CHARS),
        (b"X-Robots-Tag", b"noindex"),
    )
    lines = parsed_headers(sent).split("\n")
    assert lines[:2] == ["x-robots-tag: noindex", "link: </a,b>; rel=canonical"]
    assert lines[2].startswith("link: </c>; rel=next ,,,")
    assert len(lines) == 3


@pytest.mark.parametrize(
    ("stored", "sent", "updated"),
    [
        ([TYPE], [], [TYPE]),
        ([TYPE], [("X-Robots-Tag", "noindex")], [TYPE, "x-robots-tag: noindex"]),
        ([TYPE, TAG, TAG], [("X-Robots-Tag", "noindex")], [TYPE, "x-robots-tag: noindex"]),
        ([TYPE, TAG], [("Content-Language", "de")], ["content-language: de", TYPE, TAG]),
        ([TYPE], [("Content-Type", "application/pdf")], ["content-type: application/pdf"]),
        (
            [TYPE],
            [("Content-Type", "text/html; charset=koi8-r")],
            ["content-type: text/html; charset=koi8-r"],
        ),
        ([TYPE], [("Content-Type", "Text/HTML;")], [TYPE]),
        ([TYPE], [("Content-Type", "")], [TYPE]),
        ([TYPE], [("Content-Type", "utf-8")], [TYPE]),
        ([TYPE], [("Content-Encoding", "gzip")], [TYPE]),
        ([], [("Content-Type", "text/html")], ["content-type: text/html"]),
        ([], [], []),
    ],
)
def test_what_a_304_changes(
    stored: list[str], sent: list[tuple[str, str]], updated: list[str]
) -> None:
    headers = parsed_headers(answer(*((name.encode(), value.encode()) for name, value in sent)))
    found = update_headers("\n".join(stored), headers)
    assert found == "\n".join(updated)
    assert update_headers(found, headers) == found


def test_the_case_of_values_does_not_matter() -> None:
    assert are_same_headers(TYPE, TYPE.replace("utf", "UTF"))
    assert not are_same_headers(TYPE, TAG)


def test_the_first_field_of_a_name_is_found() -> None:
    text = f"{TYPE}\n{TAG}\nx-robots-tag: noindex"
    assert header_value(text, "x-robots-tag") == "nosnippet"
    assert header_value(text, "content-language") is None
    assert header_value("", "") is None


SIGNAL = "robots.txt: Content-Signal: ai-train=no"


def test_what_robots_txt_says_is_kept_like_a_header() -> None:
    sent = answer((b"Content-Usage", b"train-ai=y"), (b"Content-Type", b"text/html"))
    statements = ["robots.txt Content-Signal: ai-train=no", "robots.txt License: https://a.org/l"]
    assert parsed_headers(sent, statements).split("\n") == [
        "content-type: text/html",
        "content-usage: train-ai=y",
        SIGNAL,
        "robots.txt: License: https://a.org/l",
    ]
    many = [f"robots.txt Content-Signal: ai-train=no, x={n}" for n in range(MAX_STATEMENTS + 1)]
    assert parsed_headers(answer(), many) == SIGNAL


@pytest.mark.parametrize(
    ("stored", "sent", "updated"),
    [
        ([SIGNAL], [], []),
        ([], [SIGNAL], [SIGNAL]),
        ([SIGNAL, TAG], [], [TAG]),
        ([SIGNAL, TAG], [SIGNAL], [SIGNAL, TAG]),
        ([TYPE, SIGNAL], ["robots.txt: License: u"], [TYPE, "robots.txt: License: u"]),
        (["content-usage: train-ai=n"], [], ["content-usage: train-ai=n"]),
    ],
)
def test_what_robots_txt_says_is_that_of_the_last_visit(
    stored: list[str], sent: list[str], updated: list[str]
) -> None:
    assert update_headers("\n".join(stored), "\n".join(sent)).split("\n") == (updated or [""])
