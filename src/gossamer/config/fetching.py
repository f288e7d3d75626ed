"""The settings of [fetch] and [[fetch.sites]]."""

from __future__ import annotations

import re
from typing import Annotated

from msgspec import Meta, field

from gossamer.config.egress import Egress
from gossamer.config.network_addresses import nameserver, network, override_target
from gossamer.config.settings_table import Count, Line, Seconds, Secret, Table, Timeout
from gossamer.web.ip_addresses import is_network

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

    hosts: Annotated[str, Meta(pattern=HOSTS)]
    """Pattern of host names, such as `*.example.org`. A scheme before it and a port after it limit
    the table to this scheme and port. Passwords and headers are only sent to the scheme and port
    given here, by default https and its port 443."""
    delay_s: Seconds | None = None
    """Minimum time between two requests to a host, instead of fetch.delay_s."""
    proxy: Annotated[str, Meta(pattern=_PROXY)] | Secret = ""
    """HTTP proxy to send requests through: `http://host:port`."""
    verify_tls: bool | None = None
    """Reject invalid TLS certificates, instead of fetch.verify_tls."""
    headers: dict[str, str | Secret] = field(default_factory=dict)
    """Headers sent with every request; they replace Gossamer's own."""
    user: Line = ""
    """User name for HTTP basic authentication, and for fetchers of plugins."""
    password: str | Secret = ""
    """Password of this user. To keep it out of this file, write `{ file = "PATH" }` or `{ env =
    "NAME" }`; `proxy` and each header accept the same."""

    def __repr__(self) -> str:
        """Show the hosts only, because the other fields may hold secrets."""
        return f"SiteConfig(hosts={self.hosts!r}, …)"


class FetchConfig(Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How pages are fetched."""

    agent: Annotated[str, Meta(pattern=r"^[A-Za-z_-]+\Z", max_length=100)] = "gossamer"
    """The crawler's name, in User-Agent and for rules in robots.txt."""
    contact: Line = ""
    """URL or e-mail address where webmasters can reach you; sent with every request."""
    delay_s: Seconds = 1.0
    """Minimum time between two requests to a host."""
    delay_factor: Annotated[float, Meta(ge=0, le=1_000)] = 5.0
    """After a host has taken t seconds to answer, the delay is at least this factor times t, up to
    max_delay_s."""
    max_delay_s: Seconds = 60.0
    """If a host must be left alone for longer, because of Crawl-delay, Retry-After or failures, its
    other pages are postponed to a later round."""
    address_delay_s: Seconds = 0.1
    """Minimum time between two requests to an IP address, for all hosts on it."""
    connections_per_address: Connections = 8
    """Maximum concurrent connections to an IP address, each for another host."""
    hosts_at_once: Connections = 256
    """Maximum concurrent connections per task, each to another host."""
    connect_timeout_s: Timeout = 10.0
    """Maximum time to connect, including the TLS handshake."""
    head_timeout_s: Timeout = 20.0
    """Maximum time from the request to the end of the response's headers."""
    timeout_s: Timeout = 60.0
    """Maximum time for a whole response."""
    min_bytes_per_s: Annotated[int, Meta(ge=0, le=1_000_000_000)] = 500
    """Downloads that are slower than this on average are aborted."""
    max_body_bytes: Annotated[int, Meta(ge=1024, le=MAX_BODY_BYTES)] = 8 * 1024 * 1024
    """Longer bodies are cut here and marked as truncated."""
    max_file_bytes: Annotated[int, Meta(ge=1024, le=MAX_BODY_BYTES)] = 32 * 1024 * 1024
    """Like max_body_bytes, for PDF, Office, XML, archives and other files that are neither pages
    nor images; each task downloads at most 4 bodies above max_body_bytes concurrently."""
    max_failures_per_host: Count = 8
    """After this many failures in a row, the other pages of a host are postponed to a later
    round."""
    round_minutes: Annotated[float, Meta(ge=0, le=525_600)] = 0
    """Minutes after which a round's fetch ends; the other pages are postponed; 0: no limit."""
    verify_tls: bool = True
    """Reject invalid TLS certificates, as browsers do."""
    nameservers: tuple[Line, ...] = ()
    """DNS servers, `address` or `address:port`; empty: the system's."""
    allow_networks: tuple[Line, ...] = ()
    """Private networks that may be crawled, such as `127.0.0.0/8`."""
    host_overrides: dict[Line, Line] = field(default_factory=dict)
    """For demos and tests: maps host patterns (`*.test`) to `address:port`; the address must be in
    allow_networks."""
    egress: dict[Line, tuple[Line, ...]] = field(default_factory=dict)
    """Groups of workers of a cluster that fetch certain hosts: maps the name of a group to patterns
    of host names (`*.de`) and networks. See operating.md, Egress."""
    file_folders: tuple[Line, ...] = ()
    """Folders from which `file:` URLs may be read, if urls.schemes contains `file`."""
    own_hosts: tuple[Annotated[Line, Meta(min_length=1)], ...] = ()
    """Your own hosts, which are crawled over several connections without a delay: names, patterns
    such as `*.example.org`, addresses or networks. Their private addresses may be crawled, unless
    the host matches only a pattern."""
    own_connections: Annotated[int, Meta(ge=1, le=256)] = 8
    """Concurrent connections to each of your own hosts."""
    own_robots: bool = True
    """Obey the robots.txt of your own hosts; its Crawl-delay is always ignored."""
    sites: tuple[SiteConfig, ...] = ()
    """Settings for some hosts: [[fetch.sites]] below."""
    warc_mb: Annotated[float, Meta(gt=0, le=1_000_000)] = 256
    """Size in MB at which a new WARC file is begun."""

    def __post_init__(self) -> None:
        """Raises ValueError if a group, an address or an own host is invalid."""
        Egress(self.egress)
        for text in self.nameservers:
            nameserver(text)
        for text in self.allow_networks:
            network(text)
        for pattern, target in self.host_overrides.items():
            override_target(pattern, target)
        for entry in self.own_hosts:
            if not is_network(entry) and _NOT_IN_NAMES.search(entry):
                raise ValueError(
                    f"own_hosts: {entry!r} is neither a name or a pattern, such as *.example.org, "
                    "nor an address or a network: leave out scheme, port and path"
                )
