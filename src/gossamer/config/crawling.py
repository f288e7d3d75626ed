"""The settings of [engine], [filter], [generate], [update], [url_rules] and [store]."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from gossamer.config.settings_table import Count, Line, Seconds, Share, Table

_NO_TEXT = """
    7z avi avif bmp bz2 css deb dmg exe gif gz ico iso jar jpeg jpg js m4a mkv mov mp3 mp4 mpeg
    mpg msi ogg ogv otf png rar rpm svg tar tgz tif tiff ttf wasm wav webm webp woff woff2 xz
    zip
"""


class EngineConfig(Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Where the batch steps run."""

    url: Annotated[str, Meta(pattern=r"^(local|sc://[^\s\x00-\x1f\x7f]+)\Z")] = "local"
    """`local` (Sail, embedded) or `sc://host:port` (a Spark Connect server)."""
    workers: Annotated[int, Meta(ge=0, le=1_024)] = 0
    """Tasks that run concurrently; 0: one per core."""
    memory_gb: Annotated[float, Meta(gt=0, le=65_536)] = 8.0
    """Memory that the embedded engine may use before it spills to disk."""
    trust_users: bool = False
    """Start the embedded engine even if other people have accounts on a machine whose kernel cannot
    guard its port, as that of macOS, or Linux without seccomp; for about a second, they could run
    code as you."""


class FilterConfig(Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which URLs belong to the crawl."""

    scope: Literal["host", "domain", "any"] = "domain"
    """Stay on the seeds' hosts, on their registrable domains, or anywhere."""
    allow: tuple[str, ...] = ()
    """Regular expressions (RE2); a URL must contain a match of one of them; an empty list accepts
    every URL."""
    deny: tuple[str, ...] = ()
    """Regular expressions (RE2); a URL that contains a match is not crawled."""
    rules: tuple[Line, ...] = ()
    """Filter rules, one per string, such as `deny prefix https://example.org/tags/`; the first that
    matches a URL decides. See choosing.md, Filter rules."""
    files: tuple[Line, ...] = ()
    """Files of filter rules, one rule per line, which come after those of `rules`; paths are
    relative to the crawl's folder."""
    skip_extensions: tuple[str, ...] = tuple(_NO_TEXT.split())
    """File name extensions that are not crawled, because such files hold no text; `.xml.gz` and
    `.txt.gz` are crawled anyway, as sitemaps, and so are URLs that name a page about a file, such
    as `/wiki/File:Sun.jpg`; see choosing.md."""
    max_depth: Annotated[int, Meta(ge=0, le=1_000_000)] = 20
    """Maximum number of links from the nearest seed to a page."""
    max_redirects: Annotated[int, Meta(ge=0, le=1_000)] = 10
    """Maximum number of redirects followed in a row."""
    max_path_segments: Count = 25
    """URLs with more path segments are not crawled."""
    max_repeats: Count = 3
    """URLs in whose path a segment occurs more often than this are not crawled; numbers below 1000
    are exempt."""
    max_parameters: Annotated[int, Meta(ge=0, le=1_000_000)] = 20
    """URLs with more query parameters are not crawled."""
    calendar_from_year: Annotated[int, Meta(ge=0, le=3000)] = 1700
    """URLs that contain a date before this year are not crawled."""
    calendar_years_ahead: Annotated[int, Meta(ge=0, le=9_999)] = 5
    """URLs that contain a date more years in the future than this are not crawled."""


class GenerateConfig(Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which pages a round fetches."""

    pages: Count = 20_000
    """Maximum pages per round; the best are selected."""
    pages_per_host: Count = 1_000
    """Maximum pages per host and round; does not limit hosts in `fetch.own_hosts`."""
    pages_per_host_ever: Annotated[int, Meta(ge=0, le=1_000_000_000)] = 0
    """Maximum pages per host in all rounds, each page counted once; 0: no limit."""
    domain_share: Annotated[float, Meta(gt=0, le=1)] = 0.1
    """Share of a round that a registrable domain may take if it has a seed, or if 100 other domains
    link to it; with fewer, its share is proportionally smaller. If that leaves room in the round,
    all shares grow by the same factor."""
    explore_share: Share = 0.05
    """Share of a round for pages of sections that have hardly been explored, if `update.scoring`
    has the factor `fit`; more if a round has room. 0: none."""


class UpdateConfig(Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How the page database changes after a round."""

    interval_days: Annotated[float, Meta(gt=0, le=36_500)] = 30
    """Days from the first visit of a page to the second; later intervals depend on how often the
    page has changed."""
    revisit_probability: Annotated[float, Meta(ge=0.001, le=0.999)] = 0.1
    """A page is due again when it has changed with this probability, estimated from its visits; a
    smaller value keeps pages fresher and makes more requests for unchanged pages."""
    interval_factor: Annotated[float, Meta(ge=1, le=1_000_000)] = 16
    """How far later intervals may differ from `interval_days`: they are at most this many times
    shorter for pages that keep changing, and longer for pages that do not; 1: all pages have the
    same interval."""
    away_days: Annotated[float, Meta(ge=0, le=36_500)] = 30
    """Days for which pages stay in the index while their host is away, that is, answers with none
    of its pages, but with failures or 404, or with no robots.txt that can be read; they are asked
    for without end, and come back."""
    feed_interval_s: Seconds = 10
    """Shortest interval between visits of a feed or sitemap that keeps listing new pages; longer if
    it lists few. `fetch.delay_s` and robots.txt apply, too. 0: feeds and sitemaps are scheduled
    like other pages."""
    feed_longest_interval_s: Seconds = 3_600
    """Longest interval between visits of a feed that is a seed, or that a seed of its own site
    announces, however rarely it lists new pages; see operating.md, News."""
    scoring: Line = "links"
    """Which pages are fetched first: `links`, `breadth`, `opic`, `pagerank`, `hostrank`, `fit`, the
    name of a plugin's scoring, or a product such as `opic*breadth`."""
    fit_rules: tuple[Line, ...] = ()
    """Rules for pages that you want, such as `deny prefix https://example.org/forum/`. The first
    rule that matches decides: `allow` means that a page is fit, `deny` that it is not. Other pages
    are fit if their main text has 100 words and they are like the pages marked as fit. See
    choosing.md, Fit pages."""
    new_urls_per_domain: Count = 100_000
    """New URLs that one round may add per registrable domain; the shallowest are kept. A domain
    that has a seed, or that 100 other domains link to, may add ten times as many."""
    new_queries_per_path: Count = 2_000
    """New URLs that one round may add per path, that is, URLs that differ only in their query."""
    merge_share: Annotated[float, Meta(gt=0, le=1)] = 0.25
    """All layers of the page database are merged when the newer ones reach this share of it."""


class HistoryConfig(Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How many past rounds are kept."""

    rounds: Annotated[int, Meta(ge=0, le=1_000_000_000)] = 10
    """Number of rounds whose responses, documents and links are all kept, even if newer ones
    replace them, with their bodies in the archive."""


class UrlRulesConfig(Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which URLs lead to the same page, learned from the pages of each host."""

    learn: bool = True
    """Learn rules such as: this host's pages are the same without `index.html`, or without a
    parameter; with `false`, the rules learned so far stay active."""
    evidence: Annotated[int, Meta(ge=3, le=10_000)] = 20
    """Number of different pages whose contents must agree before a rule is active. If n pages agree
    without exception, at most 3/n of all pages differ, with 95 % confidence."""
    sample: Share = 0.05
    """Share of pages of which one more URL is fetched although a rule rewrites it, to detect wrong
    rules; more while there is little evidence."""


class StoreConfig(Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The crawl folder."""

    keep_versions: Annotated[int, Meta(ge=1, le=100_000)] = 2
    """Number of older states whose files are kept for processes that read them."""
    min_free_gb: Annotated[float, Meta(ge=0, le=1_000_000)] = 0.5
    """GB of free disk space below which a crawl pauses; it resumes by itself when there is more."""
    warc_versions: Annotated[int, Meta(ge=0, le=1_000_000)] = 0
    """Number of bodies of each page that stay in the archive when it is pruned; 0: one, or all if
    `warc_days` is 0, too."""
    warc_days: Annotated[float, Meta(ge=0, le=100_000)] = 0
    """Days for which every record stays in the archive; 0: only `warc_versions` counts."""
    warc_keep: tuple[Line, ...] = ()
    """Archive files that are neither pruned nor joined, as patterns of their paths, such as
    `["warc/00000012-*"]`."""

    readers: Literal["owner", "group", "all"] = "owner"
    """Who may read what commands write: the user who runs them, that user's group too, or
    everybody. It applies to new files; `chmod` changes older ones."""

    @property
    def umask(self) -> int:
        return {"owner": 0o077, "group": 0o027, "all": 0o022}[self.readers]

    @property
    def prunes(self) -> bool:
        """Whether anything ever leaves the archive."""
        return self.warc_versions > 0 or self.warc_days > 0
