"""A synthetic host's URLs that are not its pages: one function per first path segment.

/robots.txt     allows all, disallows /private/, sets a crawl delay, or is 404
/private/N      a page that robots.txt disallows, with links to more of them
/missing/N      404        /gone/N  410        /failing/N  500
/busy/WAIT/N    429, with Retry-After: WAIT if WAIT is a number
/go/HOPS/N      302 to /go/HOPS-1/N …, then 301 to page N, or to another host
/loop/N         302 to /loop/1, 2, 3, 1 …
/copy/N         the bytes of page N        /near/N  page N with two other sentences
/manual/V/N.html  chapter N of a manual in version V, older ones with other sentences
/notes/N.txt    text/plain
/calendar/…     months without end, each with a link one folder deeper
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from http import HTTPStatus

from gossamer.fakeweb.http_answer import HTML_TYPE, Answer, ok_answer, redirect, refusal
from gossamer.fakeweb.prose import prose
from gossamer.fakeweb.seeded_random import stream
from gossamer.fakeweb.synthetic_hosts import Host
from gossamer.fakeweb.synthetic_pages import MANUAL_PAGES, MANUAL_VERSIONS, Pages

MAX_HOPS = 5
NEAR_SENTENCES = 2
LOOP_LENGTH = 3
PRIVATE_PAGES = 64
DIGITS = 6
EPOCH_S = 1_704_067_200  # 2024-01-01; everything was last modified in that year

Handler = Callable[[Pages, Host, list[str]], Answer]
"""Answers a URL, given the path segments after the first."""


def _robots(pages: Pages, host: Host, rest: list[str]) -> Answer:
    if rest or host.no_robots:
        return _not_found(host)
    lines = ["User-agent: *"]
    if host.crawl_delay:
        lines.append(f"Crawl-delay: {pages.hosts.mix.crawl_delay_s:g}")
    lines.append("Disallow: /private/" if host.private else "Disallow:")
    body = "\n".join(lines).encode() + b"\n"
    return ok_answer(body, "text/plain; charset=utf-8", EPOCH_S)


def _private(pages: Pages, host: Host, rest: list[str]) -> Answer:
    n = _number(rest)
    if n is None or not host.private or n >= PRIVATE_PAGES:
        return _not_found(host)
    below = [f"/private/{child}" for child in (2 * n, 2 * n + 1) if child < PRIVATE_PAGES]
    return _small_special_page(pages, host, f"Members {n}", below)


def _status(status: int) -> Handler:
    def handle(_pages: Pages, host: Host, rest: list[str]) -> Answer:
        if _number(rest) is None:
            return _not_found(host)
        return refusal(status, f"{host.name}: {HTTPStatus(status).phrase}")

    return handle


def _busy(_pages: Pages, host: Host, rest: list[str]) -> Answer:
    wait_s, n = _number(rest[:1]), _number(rest[1:])
    if n is None:
        return _not_found(host)
    answer = refusal(HTTPStatus.TOO_MANY_REQUESTS, f"{host.name}: too many requests")
    if wait_s is None:
        return answer
    return replace(answer, headers=(*answer.headers, ("Retry-After", str(wait_s))))


def _go(pages: Pages, host: Host, rest: list[str]) -> Answer:
    hops, n = _number(rest[:1]), _number(rest[1:])
    if hops is None or n is None or not 1 <= hops <= MAX_HOPS or n >= host.pages:
        return _not_found(host)
    if hops > 1:
        return redirect(HTTPStatus.FOUND, f"/go/{hops - 1}/{n}")
    if n % 4 == 3:  # noqa: PLR2004 - a quarter of the chains leave the host
        other = pages.hosts.host((host.index * 7 + n) % pages.hosts.count)
        return redirect(HTTPStatus.MOVED_PERMANENTLY, f"http://{other.name}/")
    return redirect(HTTPStatus.MOVED_PERMANENTLY, pages.path(host, n))


def _loop(_pages: Pages, host: Host, rest: list[str]) -> Answer:
    n = _number(rest)
    if n is None or not host.loop:
        return _not_found(host)
    return redirect(HTTPStatus.FOUND, f"/loop/{n % LOOP_LENGTH + 1}")


def _copy(pages: Pages, host: Host, rest: list[str]) -> Answer:
    n = _number(rest)
    if n is None or n >= host.pages:
        return _not_found(host)
    return page(pages, host, n)


def _near(pages: Pages, host: Host, rest: list[str]) -> Answer:
    n = _number(rest)
    if n is None or n >= host.pages:
        return _not_found(host)
    return ok_answer(pages.render(host, n, changed=NEAR_SENTENCES), HTML_TYPE, EPOCH_S)


def _manual(pages: Pages, host: Host, rest: list[str]) -> Answer:
    n = _number([part.removesuffix(".html") for part in rest[1:] if part.endswith(".html")])
    if not host.manual or n is None or n >= MANUAL_PAGES or rest[0] not in MANUAL_VERSIONS:
        return _not_found(host)
    age = len(MANUAL_VERSIONS) - 1 - MANUAL_VERSIONS.index(rest[0])
    body = pages.render(host, host.pages + n, changed=2 * NEAR_SENTENCES * age, depth=2)
    return ok_answer(body, HTML_TYPE, EPOCH_S)


def _notes(pages: Pages, host: Host, rest: list[str]) -> Answer:
    n = _number([part.removesuffix(".txt") for part in rest if part.endswith(".txt")])
    if n is None or n >= host.pages:
        return _not_found(host)
    draw = stream(pages.hosts.seed, f"notes {pages.number(host, n)}").random
    text = prose(host.language).plain(draw, 12)
    return ok_answer(text.encode() + b"\n", "text/plain; charset=utf-8", EPOCH_S)


def _calendar(pages: Pages, host: Host, rest: list[str]) -> Answer:
    if not host.calendar or rest[-1:] != [""]:
        return _not_found(host)
    year, month, deeper = _number(rest[:1]), _number(rest[1:2]), rest[2:-1]
    if not year or not month or set(deeper) - {"week"}:
        return _not_found(host)
    after = f"/calendar/{year + month // 12}/{month % 12 + 1}/"
    return _small_special_page(pages, host, f"{year}-{month} {len(deeper)}", [after, "week/"])


HANDLERS: dict[str, Handler] = {
    "robots.txt": _robots,
    "private": _private,
    "missing": _status(HTTPStatus.NOT_FOUND),
    "gone": _status(HTTPStatus.GONE),
    "failing": _status(HTTPStatus.INTERNAL_SERVER_ERROR),
    "busy": _busy,
    "go": _go,
    "loop": _loop,
    "copy": _copy,
    "near": _near,
    "manual": _manual,
    "notes": _notes,
    "calendar": _calendar,
}


def page(pages: Pages, host: Host, n: int) -> Answer:
    """Return page n in the charset that the web's mix assigns to it."""
    named, written = pages.charsets(host, n)
    body = pages.render(host, n, written)
    if written != "utf-8":  # as editors do, write characters outside the charset as references
        body = body.decode().encode(written, "xmlcharrefreplace")
    modified_s = EPOCH_S + pages.number(host, n) * 7919 % (366 * 86_400)
    return ok_answer(body, f"text/html; charset={named}", modified_s)


def _small_special_page(pages: Pages, host: Host, title: str, targets: list[str]) -> Answer:
    draw = stream(pages.hosts.seed, f"{host.index} {title}").random
    links = " ".join(f'<a href="{target}">{target}</a>' for target in targets)
    html = (
        f'<!DOCTYPE html>\n<html lang="{host.language}"><title>{title}</title>\n'
        f"<p>{prose(host.language).plain(draw, 4)}</p>\n<p>{links}</p>\n</html>\n"
    )
    return ok_answer(html.encode(), HTML_TYPE, EPOCH_S)


def _number(parts: list[str]) -> int | None:
    """Return the value of `parts` if it is a single number of at most DIGITS ASCII digits."""
    if len(parts) != 1 or not (parts[0].isascii() and parts[0].isdigit()):
        return None
    return int(parts[0]) if len(parts[0]) <= DIGITS else None


def _not_found(host: Host) -> Answer:
    return refusal(HTTPStatus.NOT_FOUND, f"{host.name}: no such page")
