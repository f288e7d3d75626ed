"""Redirects that never arrive, and redirects to where no crawler should go."""

from __future__ import annotations

from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING

from gossamer.fakeweb.answer import Answer, redirect
from gossamer.fakeweb.hostile.act import End
from gossamer.fakeweb.hostile.case import DOMAIN, Case, good_page
from gossamer.fakeweb.hostile.heads import head, said

if TYPE_CHECKING:
    from gossamer.fakeweb.hostile.act import Act
    from gossamer.fakeweb.hostile.case import Ask, Reply

LOOP_LENGTH = 3
DIGITS = 9
LONG_BYTES = 100_000

hop = partial(redirect, HTTPStatus.FOUND)


def number(target: str) -> int:
    """Of /hop/7: 7. Of any other: 0."""
    last = target.rpartition("/")[2]
    return int(last) if last.isascii() and last.isdigit() and len(last) <= DIGITS else 0


def _endless(ask: Ask) -> Answer:
    return hop(f"/hop/{number(ask.target) + 1}")


def _loop(ask: Ask) -> Answer:
    return hop(f"/hop/{number(ask.target) % LOOP_LENGTH + 1}")


def _across(other: str) -> Reply:
    return lambda ask: hop(f"http://{other}.{DOMAIN}/hop/{number(ask.target) + 1}")


def _to(location: str) -> Reply:
    """A 302, written by hand: `location` may be anything but a line's end."""
    raw = head(f"Location: {location}", "Content-Length: 0", status="HTTP/1.1 302 Found")
    return lambda _: said(HTTPStatus.FOUND, raw, End.KEEP)


def _no_location(_: Ask) -> Act:
    return said(302, head("Content-Length: 0", status="HTTP/1.1 302 Found"), End.KEEP)


def _cookie_wall(ask: Ask) -> Answer:
    if "passed=1" in ask.headers.get("cookie", ""):
        return good_page(ask)
    wall = hop(ask.target)
    return Answer(wall.status, (*wall.headers, ("Set-Cookie", "passed=1; Path=/")), wall.body)


REFUSED_LATER = ("redirect", "bad_redirect")
"""Where the target is a page of its own, it is that page that is refused."""


def _case(name: str, location: str, *outcomes: str) -> Case:
    return Case(name, f"redirects to {location}", outcomes, _to(location))


CASES = (
    Case("redirect-endless", "each URL redirects to a new one", ("redirect",), _endless),
    Case("redirect-loop", f"{LOOP_LENGTH} URLs, each to the next", ("redirect",), _loop),
    Case(
        "redirect-self",
        "redirects to itself",
        ("redirect", "bad_redirect"),
        lambda ask: hop(ask.target),
    ),
    Case(
        "redirect-there",
        "redirects to redirect-back, without end",
        ("redirect",),
        _across("redirect-back"),
    ),
    Case(
        "redirect-back",
        "redirects to redirect-there, without end",
        ("redirect",),
        _across("redirect-there"),
    ),
    Case(
        "cookie-wall",
        "redirects to itself until its cookie is sent",
        ("redirect", "bad_redirect"),
        _cookie_wall,
    ),
    _case("redirect-metadata", "http://169.254.169.254/latest/meta-data/", *REFUSED_LATER),
    _case("redirect-mapped", "http://[::ffff:127.0.0.1]/", *REFUSED_LATER),
    _case("redirect-decimal", "http://2130706433/", *REFUSED_LATER),
    _case("redirect-localhost", "http://localhost:22/", *REFUSED_LATER),
    _case("redirect-file", "file:///etc/passwd", "bad_redirect", "redirect"),
    _case("redirect-ftp", f"ftp://ftp.{DOMAIN}/", "bad_redirect", "redirect"),
    _case("redirect-javascript", "javascript:alert(1)", "bad_redirect"),
    _case("redirect-data", "data:text/html,hello", "bad_redirect"),
    Case(
        "redirect-garbage",
        "redirects to what is neither a URL nor UTF-8",
        ("bad_redirect", "broken"),
        _to("http://\xff\xfe[/"),
    ),
    Case(
        "redirect-empty",
        "redirects with an empty Location, which is the page itself (RFC 3986 §4.4)",
        ("redirect", "bad_redirect"),
        _to(""),
    ),
    Case("redirect-nowhere", "302 without Location", ("bad_redirect", "broken"), _no_location),
    Case(
        "redirect-long",
        f"redirects to a URL of {LONG_BYTES:,} bytes",
        ("bad_redirect", "broken"),
        _to(f"/{LONG_BYTES * 'x'}"),
    ),
)
