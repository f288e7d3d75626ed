"""robots.txt files with every possible fault; the hosts' other pages are good (RFC 9309 §2.3.1).

Files that can be read disallow /private/, which the home page links to.
"""

from __future__ import annotations

from http import HTTPStatus
from itertools import chain, repeat
from typing import TYPE_CHECKING

from gossamer.fakeweb.hostile.act import Act, End
from gossamer.fakeweb.hostile.case import DISALLOW, EPOCH_S, PRIVATE, Case, good_html, good_page
from gossamer.fakeweb.hostile.heads import drip, flood, head, raw_act
from gossamer.fakeweb.hostile.redirects import hop, number
from gossamer.fakeweb.http_answer import HTML_TYPE, Answer, ok_answer, refusal
from gossamer.fakeweb.seeded_random import stream

if TYPE_CHECKING:
    from gossamer.fakeweb.hostile.case import Ask, Reply

TEXT = "Content-Type: text/plain; charset=utf-8"
HUGE_BYTES = 100 * 10**6
COMMENT = flood(b"# nothing to see here, and so on and on\n")
NOISE_BYTES = 4096


def _home(ask: Ask) -> Answer:
    return good_page(ask, PRIVATE)


def _huge(_: Ask) -> Act:
    whole, rest = divmod(HUGE_BYTES - len(DISALLOW), len(COMMENT))
    opening = head(TEXT, f"Content-Length: {HUGE_BYTES}") + DISALLOW
    return Act(200, lambda: chain([opening], repeat(COMMENT, whole), [COMMENT[:rest]]), End.KEEP)


def _endless(_: Ask) -> Act:
    opening = head(TEXT, "Connection: close") + DISALLOW
    return Act(200, lambda: chain([opening], repeat(COMMENT)))


def _slow(ask: Ask) -> Act:
    opening = head(TEXT, "Content-Length: 10000")
    return Act(200, lambda: chain([opening], drip(DISALLOW.ljust(10_000), ask.drip_s)))


def _chain(hops: int) -> Reply:
    """A reply that redirects /robots.txt → /robots/1 → … → /robots/`hops`, which is the file."""

    def reply(ask: Ask) -> Answer:
        passed = number(ask.target)
        return _file(ask) if passed == hops else hop(f"/robots/{passed + 1}")

    return reply


def _chain_case(name: str, hops: int, does: str) -> Case:
    follow = _chain(hops)

    def reply(ask: Ask) -> Answer | Act:
        return follow(ask) if ask.target.startswith("/robots/") else _home(ask)

    return Case(name, does, ("ok",), reply, follow)


def _file(_: Ask) -> Answer:
    return ok_answer(DISALLOW, "text/plain; charset=utf-8", EPOCH_S)


def _html(ask: Ask) -> Answer:
    return ok_answer(good_html(ask), HTML_TYPE, EPOCH_S)


def _binary(ask: Ask) -> Answer:
    noise = stream(ask.seed, ask.host).getrandbits(8 * NOISE_BYTES).to_bytes(NOISE_BYTES, "big")
    return ok_answer(noise, "text/plain", EPOCH_S)


def _status(status: HTTPStatus, *outcomes: str) -> Case:
    return Case(
        f"robots-{status}",
        f"robots.txt is {status} {status.phrase}",
        outcomes,
        _home,
        lambda _: refusal(status, status.phrase),
    )


def _case(name: str, does: str, robots: Reply, *outcomes: str) -> Case:
    return Case(f"robots-{name}", f"robots.txt {does}", outcomes, _home, robots)


DISALLOWED = ("robots", "postponed", "busy")
UNREACHABLE = ("robots", "postponed", "broken", "unreachable")

CASES = (
    _case("huge", "is 100 MB and begins with its rules", _huge, "ok"),
    _case("endless", "is endless and begins with its rules", _endless, "ok"),
    _case("slow", "arrives byte by byte", _slow, "timeout", "robots", "postponed"),
    _chain_case("robots-5-hops", 5, "robots.txt is 5 redirects away and applies"),
    _chain_case("robots-6-hops", 6, "robots.txt is 6 redirects away and counts as missing"),
    _case("loop", "redirects in a loop", lambda _: hop("/robots.txt?again"), "ok"),
    _case(
        "metadata",
        "redirects to http://169.254.169.254/",
        lambda _: hop("http://169.254.169.254/robots.txt"),
        "robots",
        "postponed",
        "ok",
        "forbidden_address",
    ),
    _status(HTTPStatus.UNAUTHORIZED, "ok"),
    _status(HTTPStatus.FORBIDDEN, "ok"),
    _status(HTTPStatus.TOO_MANY_REQUESTS, *DISALLOWED),
    _status(HTTPStatus.INTERNAL_SERVER_ERROR, *DISALLOWED, "server_error"),
    _status(HTTPStatus.SERVICE_UNAVAILABLE, *DISALLOWED),
    _case("html", "is an HTML page: no rules", _html, "ok"),
    _case("binary", "is 4 KB of random bytes: no rules", _binary, "ok"),
    _case("garbage", "is not HTTP", lambda _: raw_act(0, b"\x16\x03rubbish\r\n\r\n"), *UNREACHABLE),
    _case("reset", "resets the connection", lambda _: Act(0, end=End.RESET), *UNREACHABLE),
)
