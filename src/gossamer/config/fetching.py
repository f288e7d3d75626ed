"""The settings of [fetch] and [[fetch.sites]]."""

from __future__ import annotations

import re
from typing import Annotated

from msgspec import Meta, field

from gossamer.config.egress import Egress
from gossamer.config.table import Count, Line, Seconds, Secret, Table, Timeout
from gossamer.web.addresses import is_network

MAX_BODY_BYTES = 1 << 30
"""Largest limit for a body: bodies are held in memory, and Arrow's string columns end at 2 GB."""


HOSTS = (
    r"^(?:(?P<scheme>[a-z][a-z0-9+.-]*)://)?"
    r"(?P<name>\[[0-9A-Fa-f:.]+\]|[^\s:/@\x00-\x1f\x7f]+)"
    r"(?::(?P<port>[0-9]{1,5}))?/?\Z"
)
"""A pattern of host names or an IPv6 address, with an optional scheme and port."""
Connections = Annotated[int, Meta(ge=1, le=65_536)]
_NOT_IN_NAMES = re.compile(r"[\s/:@]")
_PROXY = r"^(http://[^/\s\x00-\x1f\x7f]+/?)?\Z"


class SiteConfig(Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Settings for some hosts. If several tables match a request, the first one applies."""

    hosts: Annotated[
        str,
        Meta(
            pattern=HOSTS,
            description="pattern of host names, such as `*.example.org`. A scheme before it and a "
            "port after it limit the table to this scheme and port. Passwords and headers are only "
            "sent to the scheme and port given here, by default https and its port 443",
        ),
    ]
    delay_s: Annotated[
        Seconds | None,
        Meta(description="minimum time between two requests to a host, instead of fetch.delay_s"),
    ] = None
    proxy: Annotated[
        Annotated[str, Meta(pattern=_PROXY)] | Secret,
        Meta(description="HTTP proxy to send requests through: `http://host:port`"),
    ] = ""
    headers: Annotated[
        dict[str, str | Secret],
        Meta(description="headers sent with every request; they replace Gossamer's own"),
    ] = field(default_factory=dict)
    user: Annotated[
        Line,
        Meta(description="user name for HTTP basic authentication, and for fetchers of plugins"),
    ] = ""
    password: Annotated[
        str | Secret,
        Meta(
            description="password of this user. To keep it out of this file, write "
            '`{ file = "PATH" }` or `{ env = "NAME" }`; `proxy` and each header accept the same'
        ),
    ] = ""

    def __repr__(self) -> str:
        """Show the hosts only, because the other fields may hold secrets."""
        return f"SiteConfig(hosts={self.hosts!r}, …)"


class FetchConfig(Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How pages are fetched."""

    agent: Annotated[
        str,
        Meta(
            pattern=r"^[A-Za-z_-]+\Z",
            max_length=100,
            description="the crawler's name, in User-Agent and for rules in robots.txt",
        ),
    ] = "gossamer"
    contact: Annotated[
        Line,
        Meta(
            description="URL or e-mail address where webmasters can reach you; sent with every "
            "request"
        ),
    ] = ""
    delay_s: Annotated[Seconds, Meta(description="minimum time between two requests to a host")] = (
        1.0
    )
    delay_factor: Annotated[
        float,
        Meta(
            ge=0,
            le=1_000,
            description="after a host has taken t seconds to answer, the delay is at least this "
            "factor times t, up to max_delay_s",
        ),
    ] = 5.0
    max_delay_s: Annotated[
        Seconds,
        Meta(
            description="if a host must be left alone for longer, because of Crawl-delay, "
            "Retry-After or failures, its other pages are postponed to a later round"
        ),
    ] = 60.0
    address_delay_s: Annotated[
        Seconds,
        Meta(description="minimum time between two requests to an IP address, for all hosts on it"),
    ] = 0.1
    connections_per_address: Annotated[
        Connections,
        Meta(description="maximum concurrent connections to an IP address, each for another host"),
    ] = 8
    hosts_at_once: Annotated[
        Connections,
        Meta(description="maximum concurrent connections per task, each to another host"),
    ] = 256
    connect_timeout_s: Annotated[
        Timeout, Meta(description="maximum time to connect, including the TLS handshake")
    ] = 10.0
    head_timeout_s: Annotated[
        Timeout,
        Meta(description="maximum time from the request to the end of the response's headers"),
    ] = 20.0
    timeout_s: Annotated[Timeout, Meta(description="maximum time for a whole response")] = 60.0
    min_bytes_per_s: Annotated[
        int,
        Meta(
            ge=0,
            le=1_000_000_000,
            description="downloads that are slower than this on average are aborted",
        ),
    ] = 500
    max_body_bytes: Annotated[
        int,
        Meta(
            ge=1024,
            le=MAX_BODY_BYTES,
            description="longer bodies are cut here and marked as truncated",
        ),
    ] = 8 * 1024 * 1024
    max_file_bytes: Annotated[
        int,
        Meta(
            ge=1024,
            le=MAX_BODY_BYTES,
            description="like max_body_bytes, for PDF, Office, XML, archives and other files that "
            "are neither pages nor images; each task downloads at most 4 bodies above "
            "max_body_bytes concurrently",
        ),
    ] = 32 * 1024 * 1024
    max_failures_per_host: Annotated[
        Count,
        Meta(
            description="after this many failures in a row, the other pages of a host are "
            "postponed to a later round"
        ),
    ] = 8
    round_minutes: Annotated[
        float,
        Meta(
            ge=0,
            le=525_600,
            description="minutes after which a round's fetch ends; the other pages are postponed; "
            "0: no limit",
        ),
    ] = 0
    verify_tls: Annotated[
        bool, Meta(description="reject invalid TLS certificates, as browsers do")
    ] = True
    nameservers: Annotated[
        tuple[Line, ...],
        Meta(description="DNS servers, `address` or `address:port`; empty: those of the system"),
    ] = ()
    allow_networks: Annotated[
        tuple[Line, ...],
        Meta(description="private networks that may be crawled, such as `127.0.0.0/8`"),
    ] = ()
    host_overrides: Annotated[
        dict[Line, Line],
        Meta(
            description="for demos and tests: maps host patterns (`*.test`) to `address:port`; "
            "the address must be in allow_networks"
        ),
    ] = field(default_factory=dict)
    egress: Annotated[
        dict[Line, tuple[Line, ...]],
        Meta(
            description="groups of workers of a cluster that fetch certain hosts: maps the name of "
            "a group to patterns of host names (`*.de`) and networks. See operating.md, Egress"
        ),
    ] = field(default_factory=dict)
    file_folders: Annotated[
        tuple[Line, ...],
        Meta(
            description="folders in which `file:` URLs may be read, if urls.schemes contains `file`"
        ),
    ] = ()
    own_hosts: Annotated[
        tuple[Annotated[Line, Meta(min_length=1)], ...],
        Meta(
            description="your own hosts, which are crawled over several connections without a "
            "delay: names, patterns such as `*.example.org`, addresses or networks. Their private "
            "addresses may be crawled, unless the host matches only a pattern"
        ),
    ] = ()
    own_connections: Annotated[
        int, Meta(ge=1, le=256, description="concurrent connections to each of your own hosts")
    ] = 8
    own_robots: Annotated[
        bool,
        Meta(
            description="obey the robots.txt of your own hosts; its Crawl-delay is always ignored"
        ),
    ] = True
    sites: Annotated[
        tuple[SiteConfig, ...], Meta(description="settings for some hosts: [[fetch.sites]] below")
    ] = ()
    warc_mb: Annotated[
        float, Meta(gt=0, le=1_000_000, description="size in MB at which a new WARC file is begun")
    ] = 256

    def __post_init__(self) -> None:
        """Raises ValueError if a group or an own host is invalid."""
        Egress(self.egress)
        for entry in self.own_hosts:
            if not is_network(entry) and _NOT_IN_NAMES.search(entry):
                raise ValueError(
                    f"own_hosts: {entry!r} is neither a name or a pattern, such as *.example.org, "
                    "nor an address or a network: leave out scheme, port and path"
                )
