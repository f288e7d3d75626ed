"""Settings: one frozen class per table of gossamer.toml, each field with its help text.

An unknown key, a wrong type or a value out of bounds is a ConfigError that names file and
key. docs/settings.md is generated from here.
"""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from gossamer.errors import ConfigError
from gossamer.urls import UrlRules

if TYPE_CHECKING:
    from pathlib import Path

_NO_TEXT = """
    7z avi avif bmp bz2 css deb dmg exe gif gz ico iso jar jpeg jpg js m4a mkv mov mp3 mp4 mpeg
    mpg msi ogg ogv otf png rar rpm svg tar tgz tif tiff ttf wasm wav webm webp woff woff2 xz
    zip
"""

REMEDY = "see docs/settings.md"

Count = Annotated[int, Meta(ge=1)]
Seconds = Annotated[float, Meta(ge=0)]
Weight = Annotated[float, Meta(ge=0, le=1_000)]


class _Table(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    pass


class EngineConfig(_Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Where the batch steps run."""

    url: Annotated[
        str,
        Meta(
            pattern=r"^(local|sc://.+)$",
            description="`local` (Sail, embedded) or `sc://host:port` (a Spark Connect server)",
        ),
    ] = "local"
    workers: Annotated[
        int, Meta(ge=0, description="tasks at a time; 0 stands for the number of cores")
    ] = 0
    memory_gb: Annotated[
        float, Meta(gt=0, description="what the embedded engine may use before it spills to disk")
    ] = 8.0


class FilterConfig(_Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which URLs belong to the crawl."""

    scope: Annotated[
        Literal["host", "domain", "any"],
        Meta(description="stay on the seeds' hosts, on their registrable domains, or anywhere"),
    ] = "domain"
    allow: Annotated[
        tuple[str, ...],
        Meta(description="regular expressions; where there are any, a URL must match one"),
    ] = ()
    deny: Annotated[
        tuple[str, ...], Meta(description="regular expressions that no URL may match")
    ] = ()
    skip_extensions: Annotated[
        tuple[str, ...],
        Meta(
            description="endings of a path that hold no text; "
            "`.xml.gz` and `.txt.gz` pass, for they are sitemaps"
        ),
    ] = tuple(_NO_TEXT.split())
    max_depth: Annotated[int, Meta(ge=0, description="links from the nearest seed")] = 20
    max_redirects: Annotated[int, Meta(ge=0, description="redirects in a row")] = 10
    max_path_segments: Annotated[Count, Meta(description="parts of a path, between slashes")] = 25
    max_repeats: Annotated[
        Count,
        Meta(
            description="times that a part of a path may stand in it; numbers below 1000 may more"
        ),
    ] = 3
    max_parameters: Annotated[int, Meta(ge=0, description="parameters of a query")] = 20
    calendar_from_year: Annotated[
        int, Meta(ge=0, le=3000, description="URLs with an earlier date in them are not crawled")
    ] = 1700
    calendar_years_ahead: Annotated[
        int,
        Meta(ge=0, description="nor those with a date that is more years ahead of the present one"),
    ] = 5


class GenerateConfig(_Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a round fetches."""

    pages: Annotated[Count, Meta(description="pages a round, the best first")] = 20_000
    pages_per_host: Annotated[Count, Meta(description="pages of one host a round")] = 1_000
    pages_per_host_ever: Annotated[
        int,
        Meta(ge=0, description="pages of one host in all rounds, each counted once; 0: no limit"),
    ] = 0


class SiteConfig(_Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
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
    ] = {}
    user: Annotated[str, Meta(description="of HTTP's basic authentication, or of FTP")] = ""
    password: Annotated[str, Meta(description="of the user")] = ""


class FetchConfig(_Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
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
    ] = {}
    file_folders: Annotated[
        tuple[str, ...],
        Meta(description="folders below which `file:` URLs may be read (see urls.schemes)"),
    ] = ()
    sites: Annotated[
        tuple[SiteConfig, ...], Meta(description="what holds for some hosts alone: [[fetch.sites]]")
    ] = ()
    warc_mb: Annotated[float, Meta(gt=0, description="a WARC file is closed at this size")] = 256


class ParseConfig(_Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What is taken from a page."""

    # Lists of everything (all packages, all posts) are what makes a site's pages known at all.
    max_links: Annotated[
        Count, Meta(description="targets taken from a page, the first in its order")
    ] = 10_000
    max_text_chars: Annotated[Count, Meta(description="text kept of a page")] = 200_000
    media: Annotated[
        bool,
        Meta(
            description="take the addresses of pictures and films as links, so that they are "
            "fetched as far as [filter] lets them"
        ),
    ] = False
    wellknown_paths: Annotated[
        tuple[Annotated[str, Meta(pattern="^/")], ...],
        Meta(
            description="where to look for sitemaps and feeds of a host whose robots.txt names no "
            'sitemap, such as `["/sitemap.xml", "/feed"]`'
        ),
    ] = ()
    extractor: Annotated[
        Literal["gossamer", "trafilatura"],
        Meta(
            description="what tells the main text of HTML; `trafilatura` is slower, and has to be "
            "installed"
        ),
    ] = "gossamer"
    rules: Annotated[
        str,
        Meta(
            description="a TOML file of rules for single sites (docs/parsing.md), relative to the "
            "crawl folder; none where it is empty"
        ),
    ] = ""


class UpdateConfig(_Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How page state grows."""

    interval_days: Annotated[
        float, Meta(gt=0, description="time until a fetched page is fetched again")
    ] = 30
    scoring: Annotated[
        str, Meta(description="what to fetch first: `links`, `breadth`, or a plugin's name")
    ] = "links"
    new_urls_per_host: Annotated[
        Count, Meta(description="URLs of one host that a round may make known, the nearest first")
    ] = 100_000
    new_queries_per_path: Annotated[
        Count, Meta(description="of these, URLs that differ in nothing but their query")
    ] = 2_000
    merge_share: Annotated[
        float,
        Meta(
            gt=0,
            le=1,
            description="share of the page database that its newer layers may reach "
            "before all are merged into one",
        ),
    ] = 0.25


class RankConfig(_Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """PageRank."""

    damping: Annotated[float, Meta(gt=0, lt=1, description="share of rank that follows links")] = (
        0.85
    )
    iterations: Annotated[Count, Meta(description="at most")] = 30
    tolerance: Annotated[
        float, Meta(gt=0, description="stop when the ranks move less than this, summed (L1)")
    ] = 1e-6


class IndexConfig(_Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The full-text index."""

    shards: Annotated[Count, Meta(description="index folders, by hash of the URL")] = 2
    anchors: Annotated[Count, Meta(description="anchor texts of a page that are indexed")] = 50
    memory_mb: Annotated[
        int, Meta(ge=16, description="a task's buffer before it writes a segment")
    ] = 256


class PostingsConfig(_Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The index that is partitioned by terms."""

    partitions: Annotated[
        Count, Meta(description="files, by hash of the term; tasks that read documents, too")
    ] = 8


class ServeConfig(_Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The search page and API."""

    host: Annotated[str, Meta(description="address to listen on")] = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=65535, description="0: any free port")] = 8080
    names: Annotated[
        tuple[str, ...],
        Meta(
            description="names of the site, where it has others than `host` and localhost; "
            "`*` stands for any"
        ),
    ] = ()
    cached_answers: Annotated[
        int, Meta(ge=0, description="answers that are kept until the index changes")
    ] = 1_000


class RankingConfig(_Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What counts how much for the order of results, beside the words of a page's text."""

    title: Annotated[Weight, Meta(description="a word in the title")] = 0.5
    anchors: Annotated[Weight, Meta(description="a word in what links call the page")] = 0.5
    pairs: Annotated[Weight, Meta(description="neighbouring words of the query, close by")] = 0.25
    around: Annotated[Weight, Meta(description="a word around the main text only")] = 0.2
    title_phrase: Annotated[Weight, Meta(description="the words as a phrase in the title")] = 1.0
    whole_title: Annotated[Weight, Meta(description="per word, where they are the whole title")] = (
        10.0
    )
    popularity: Annotated[Weight, Meta(description="log2 of the PageRank over the mean one")] = 0.5


class StoreConfig(_Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The crawl folder."""

    keep_versions: Annotated[
        int, Meta(ge=1, description="older states whose files are kept for their readers")
    ] = 2


class Config(_Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a gossamer.toml says."""

    engine: EngineConfig = EngineConfig()
    urls: UrlRules = UrlRules()
    filter: FilterConfig = FilterConfig()
    generate: GenerateConfig = GenerateConfig()
    fetch: FetchConfig = FetchConfig()
    parse: ParseConfig = ParseConfig()
    update: UpdateConfig = UpdateConfig()
    rank: RankConfig = RankConfig()
    index: IndexConfig = IndexConfig()
    postings: PostingsConfig = PostingsConfig()
    serve: ServeConfig = ServeConfig()
    ranking: RankingConfig = RankingConfig()
    store: StoreConfig = StoreConfig()


def loads(text: str, source: str | Path) -> Config:
    """Parse the text of a gossamer.toml that came from `source`."""
    try:
        return msgspec.convert(_tables(text, source, REMEDY), Config)
    except msgspec.ValidationError as error:
        raise ConfigError(source, str(error).replace("$.", ""), REMEDY) from None


def load(path: Path) -> Config:
    return loads(_read(path), path)


def load_tables(path: Path, remedy: str) -> dict[str, Any]:
    """What a TOML file of another form says. Raises ConfigError."""
    return _tables(_read(path), path, remedy)


def _tables(text: str, source: str | Path, remedy: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(source, f"not TOML: {error}", remedy) from None


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(path, f"cannot be read: {error}", "give a UTF-8 TOML file") from None
