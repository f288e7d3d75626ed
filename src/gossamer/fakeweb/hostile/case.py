"""One kind of misbehaviour: its host, what it does, and what a good crawler makes of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from html import escape
from http import HTTPStatus
from typing import NamedTuple

from gossamer.fakeweb.answer import HTML_TYPE, Answer, found, refusal
from gossamer.fakeweb.hostile.act import Act

DOMAIN = "hostile.test"
EPOCH_S = 1_704_067_200  # 2024-01-01: hostile pages never change
PRIVATE = "/private/"
DISALLOW = f"User-agent: *\nDisallow: {PRIVATE}\n".encode()


class Ask(NamedTuple):
    """A request, and what answers depend on beside it."""

    seed: int
    drip_s: float
    host: str
    target: str
    headers: Mapping[str, str]


Reply = Callable[[Ask], Answer | Act]


class Door(Enum):
    """A port of its own, for what happens before a request can name its host."""

    OPEN = auto()  # connections are accepted, and the reply is played to them at once
    SHUT = auto()  # connections are refused
    FULL = auto()  # connections are never accepted: the queue is full


class Certificate(Enum):
    VALID = auto()
    EXPIRED = auto()
    FUTURE = auto()
    SELF_SIGNED = auto()
    OTHER_NAME = auto()
    OTHER_CA = auto()
    NONE = auto()  # no TLS is spoken: the greeting is played to the client's first bytes


@dataclass(frozen=True)
class Handshake:
    """`greeting` is played at once: instead of TLS without a certificate, else inside of it."""

    certificate: Certificate = Certificate.VALID
    old: bool = False  # TLS 1.1 at most (RFC 8996 forbids it)
    greeting: Act | None = None


def good_page(ask: Ask, *links: str) -> Answer:
    """A small page that names its host and target, so that a mix-up shows."""
    return found(good_html(ask, *links), HTML_TYPE, EPOCH_S)


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
    """`reply` answers every path but /robots.txt.

    `outcomes` are keys of gossamer.outcomes, for the host's `url`: the best one, then others
    that a careful client may come to as well.
    """

    name: str
    does: str
    outcomes: tuple[str, ...]
    reply: Reply = good_page
    robots: Reply = no_robots
    door: Door | None = None
    tls: Handshake | None = None

    @property
    def host(self) -> str:
        return f"{self.name}.{DOMAIN}"

    @property
    def url(self) -> str:
        return f"http{'s' if self.tls else ''}://{self.host}/"
