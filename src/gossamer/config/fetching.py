"""How pages are fetched."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, field

from gossamer.config.table import Count, Seconds, Table


class SiteConfig(Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What holds for some hosts alone. Of several tables that fit a host, the first counts."""

    hosts: Annotated[
        str, Meta(min_length=1, description="pattern of host names, such as `*.example.org`")
    ]
    delay_s: Annotated[
        Seconds | None, Meta(description="instead of fetch.delay_s, where it is given")
    ] = None
    proxy: Annotated[
        str,
        Meta(
            pattern=r"^(http://[^/]+/?)?$",
            description="HTTP proxy that asks in our place: `http://host:port`",
        ),
    ] = ""
    headers: Annotated[
        dict[str, str], Meta(description="sent with every request, in place of our own")
    ] = field(default_factory=dict)
    user: Annotated[str, Meta(description="of HTTP's basic authentication, or of FTP")] = ""
    password: Annotated[str, Meta(description="of the user")] = ""


class FetchConfig(Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How pages are fetched."""

    agent: Annotated[
        str,
        Meta(pattern=r"^[A-Za-z_-]+$", description="the name that robots.txt files know us by"),
    ] = "gossamer"
    contact: Annotated[
        str, Meta(description="URL or address where a webmaster reaches you; sent to every host")
    ] = ""
    delay_s: Annotated[Seconds, Meta(description="between two requests to a host, at least")] = 1.0
    delay_factor: Annotated[
        float,
        Meta(
            ge=0,
            description="a host that took t seconds to answer is left alone for so many times t, "
            "up to max_delay_s",
        ),
    ] = 5.0
    max_delay_s: Annotated[
        Seconds,
        Meta(
            description="a host that asks for more, by Crawl-delay or Retry-After, or by failing, "
            "gives its pages back to a later round"
        ),
    ] = 60.0
    address_delay_s: Annotated[
        Seconds, Meta(description="between two requests to an IP address, whatever the hosts")
    ] = 0.1
    connections_per_address: Annotated[
        Count, Meta(description="open connections to an IP address, each for another host")
    ] = 8
    hosts_at_once: Annotated[
        Count, Meta(description="open connections of a task, each to another host")
    ] = 256
    connect_timeout_s: Annotated[float, Meta(gt=0, description="for a connection, with TLS")] = 10.0
    head_timeout_s: Annotated[
        float, Meta(gt=0, description="from the request to the end of the answer's head")
    ] = 20.0
    timeout_s: Annotated[float, Meta(gt=0, description="for a whole answer")] = 60.0
    min_bytes_per_s: Annotated[
        int, Meta(ge=0, description="a body that comes slower, on average, is given up")
    ] = 500
    max_body_bytes: Annotated[
        int, Meta(ge=1024, description="longer bodies are cut, and marked truncated")
    ] = 4 * 1024 * 1024
    max_file_bytes: Annotated[
        int,
        Meta(
            ge=1024,
            description="the same of PDF, Office, XML, archives and what else is neither a page "
            "nor a picture; a task reads 4 bodies above max_body_bytes at a time",
        ),
    ] = 32 * 1024 * 1024
    max_failures_per_host: Annotated[
        Count,
        Meta(
            description="failures in a row after which the rest of a host waits for a later round"
        ),
    ] = 8
    round_minutes: Annotated[
        float, Meta(ge=0, description="end the round's fetch after this; 0: when all is fetched")
    ] = 0
    verify_tls: Annotated[
        bool, Meta(description="refuse certificates that do not hold, as browsers do")
    ] = True
    nameservers: Annotated[
        tuple[str, ...],
        Meta(description="DNS servers, `address` or `address:port`; none: those of the system"),
    ] = ()
    allow_networks: Annotated[
        tuple[str, ...],
        Meta(description="private networks that may be crawled, such as `127.0.0.0/8`"),
    ] = ()
    resolve: Annotated[
        dict[str, str],
        Meta(
            description="for demos and tests: host pattern (`*.test`) to `address:port`; "
            "the address must be in allow_networks"
        ),
    ] = field(default_factory=dict)
    file_folders: Annotated[
        tuple[str, ...],
        Meta(description="folders below which `file:` URLs may be read (see urls.schemes)"),
    ] = ()
    sites: Annotated[
        tuple[SiteConfig, ...], Meta(description="what holds for some hosts alone: [[fetch.sites]]")
    ] = ()
    warc_mb: Annotated[float, Meta(gt=0, description="a WARC file is closed at this size")] = 256
