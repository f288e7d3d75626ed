"""A kind of misbehaviour: its host, what it does, and the outcome a good crawler records."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from html import escape
from http import HTTPStatus
from typing import NamedTuple

from gossamer.fakeweb.hostile.act import Act
from gossamer.fakeweb.http_answer import HTML_TYPE, Answer, ok_answer, refusal

DOMAIN = "hostile.test"
EPOCH_S = 1_704_067_200  # 2024-01-01: hostile pages never change
PRIVATE = "/private/"
DISALLOW = f"User-agent: *\nDisallow: {PRIVATE}\n".encode()


class Ask(NamedTuple):
    """A request to a hostile host, with the seed and `drip_s` of its web."""

    seed: int
    drip_s: float
    host: str
    target: str
    headers: Mapping[str, str]


Reply = Callable[[Ask], Answer | Act]


class ConnectPort(Enum):
    """How a host's own port treats connections, before a request can name the host."""

    OPEN = auto()  # connections are accepted, and the reply is played at once
    SHUT = auto()  # connections are refused
    FULL = auto()  # connections are never accepted, because the queue is full


class Certificate(Enum):
    VALID = auto()
    EXPIRED = auto()
    FUTURE = auto()
    SELF_SIGNED = auto()
    OTHER_NAME = auto()
    OTHER_CA = auto()
    NONE = auto()  # no TLS: the greeting is played in response to the client's first bytes


@dataclass(frozen=True)
class Handshake:
    """How a TLS handshake goes.

    `greeting` is played at once: inside TLS, or instead of TLS if `certificate` is NONE.
    """

    certificate: Certificate = Certificate.VALID
    old: bool = False  # TLS 1.1 at most (RFC 8996 forbids it)
    greeting: Act | None = None


def good_page(ask: Ask, *links: str) -> Answer:
    """Return a small page that names its host and target, so that mix-ups are visible."""
    return ok_answer(good_html(ask, *links), HTML_TYPE, EPOCH_S)


def good_html(ask: Ask, *links: str) -> bytes:
    title = escape(f"{ask.host}{ask.target}"[:200])
    listed = "".join(f'<li><a href="{escape(link)}">{escape(link[:60])}</a>\n' for link in links)
    return (
        f'<!DOCTYPE html>\n<html lang="en"><title>{title}</title>\n'
        f"<p>This is {title}.</p>\n<ul>\n{listed}</ul>\n</html>\n"
    ).encode()


def no_robots(ask: Ask) -> Answer:
    return refusal(HTTPStatus.NOT_FOUND, f"{ask.host}: no robots.txt")


@dataclass(frozen=True)
class Case:
    """A hostile host. `does` describes it; `robots` answers /robots.txt, `reply` every other path.

    `outcomes` are those in gossamer.tables.outcomes that a crawler may record for the host's `url`:
    the best one first, then others that are acceptable for a careful client.
    """

    name: str
    does: str
    outcomes: tuple[str, ...]
    reply: Reply = good_page
    robots: Reply = no_robots
    connect_port: ConnectPort | None = None
    tls: Handshake | None = None

    @property
    def host(self) -> str:
        return f"{self.name}.{DOMAIN}"

    @property
    def url(self) -> str:
        return f"http{'s' if self.tls else ''}://{self.host}/"
