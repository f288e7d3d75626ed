"""Where steps run, which URLs belong to the crawl, what a round fetches, how page state grows."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from gossamer.config.table import Count, Table

_NO_TEXT = """
    7z avi avif bmp bz2 css deb dmg exe gif gz ico iso jar jpeg jpg js m4a mkv mov mp3 mp4 mpeg
    mpg msi ogg ogv otf png rar rpm svg tar tgz tif tiff ttf wasm wav webm webp woff woff2 xz
    zip
"""


class EngineConfig(Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
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


class FilterConfig(Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
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


class GenerateConfig(Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a round fetches."""

    pages: Annotated[Count, Meta(description="pages a round, the best first")] = 20_000
    pages_per_host: Annotated[Count, Meta(description="pages of one host a round")] = 1_000
    pages_per_host_ever: Annotated[
        int,
        Meta(ge=0, description="pages of one host in all rounds, each counted once; 0: no limit"),
    ] = 0


class UpdateConfig(Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
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


class StoreConfig(Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The crawl folder."""

    keep_versions: Annotated[
        int, Meta(ge=1, description="older states whose files are kept for their readers")
    ] = 2
