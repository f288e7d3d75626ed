"""Redirects that never end, and redirects to targets that no crawler should fetch."""

from __future__ import annotations

from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING

from gossamer.fakeweb.hostile.act import End
from gossamer.fakeweb.hostile.case import DOMAIN, Case, good_page
from gossamer.fakeweb.hostile.heads import head, raw_act
from gossamer.fakeweb.http_answer import Answer, redirect

if TYPE_CHECKING:
    from gossamer.fakeweb.hostile.act import Act
    from gossamer.fakeweb.hostile.case import Ask, Reply

LOOP_LENGTH = 3
DIGITS = 9
LONG_BYTES = 100_000

hop = partial(redirect, HTTPStatus.FOUND)


def number(target: str) -> int:
    """Return the number at the end of a target, such as 7 for /hop/7; 0 if there is none."""
    last = target.rpartition("/")[2]
    return int(last) if last.isascii() and last.isdigit() and len(last) <= DIGITS else 0


def _endless(ask: Ask) -> Answer:
    return hop(f"/hop/{number(ask.target) + 1}")


def _loop(ask: Ask) -> Answer:
    return hop(f"/hop/{number(ask.target) % LOOP_LENGTH + 1}")


def _across(other: str) -> Reply:
    return lambda ask: hop(f"http://{other}.{DOMAIN}/hop/{number(ask.target) + 1}")


def _redirect_to(location: str) -> Reply:
    """A hand-written 302, whose `location` may hold anything but a line end."""
    raw = head(f"Location: {location}", "Content-Length: 0", status="HTTP/1.1 302 Found")
    return lambda _: raw_act(HTTPStatus.FOUND, raw, End.KEEP)


def _no_location(_: Ask) -> Act:
    return raw_act(302, head("Content-Length: 0", status="HTTP/1.1 302 Found"), End.KEEP)


def _cookie_wall(ask: Ask) -> Answer:
    if "passed=1" in ask.headers.get("cookie", ""):
        return good_page(ask)
    wall = hop(ask.target)
    return Answer(wall.status, (*wall.headers, ("Set-Cookie", "passed=1; Path=/")), wall.body)


REFUSED_LATER = ("redirect", "bad_redirect")
"""If the target becomes a page in its own right, the redirect is fine and that page is refused."""


def _case(name: str, location: str, *outcomes: str) -> Case:
    return Case(name, f"redirects to {location}", outcomes, _redirect_to(location))


CASES = (
    Case("redirect-endless", "each URL redirects to a new one", ("redirect",), _endless),
    Case("redirect-loop", f"{LOOP_LENGTH} URLs that redirect in a loop", ("redirect",), _loop),
    Case(
        "redirect-self",
        "redirects to itself",
        ("redirect", "bad_redirect"),
        lambda ask: hop(ask.target),
    ),
    Case(
        "redirect-there",
        "redirects to redirect-back, endlessly",
        ("redirect",),
        _across("redirect-back"),
    ),
    Case(
        "redirect-back",
        "redirects to redirect-there, endlessly",
        ("redirect",),
        _across("redirect-there"),
    ),
    Case(
        "cookie-wall",
        "redirects to itself until the client sends its cookie",
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
        "redirects to a Location that is neither a URL nor UTF-8",
        ("bad_redirect", "broken"),
        _redirect_to("http://\xff\xfe[/"),
    ),
    Case(
        "redirect-empty",
        "redirects with an empty Location, which means the page itself (RFC 3986 §4.4)",
        ("redirect", "bad_redirect"),
        _redirect_to(""),
    ),
    Case("redirect-nowhere", "302 without Location", ("bad_redirect", "broken"), _no_location),
    Case(
        "redirect-long",
        f"redirects to a URL of {LONG_BYTES:,} bytes",
        ("bad_redirect", "broken"),
        _redirect_to(f"/{LONG_BYTES * 'x'}"),
    ),
)
