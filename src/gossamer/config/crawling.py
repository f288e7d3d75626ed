"""The settings of [engine], [filter], [generate], [update], [url_rules] and [store]."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from gossamer.config.table import Count, Line, Table

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
            pattern=r"^(local|sc://[^\s\x00-\x1f\x7f]+)\Z",
            description="`local` (Sail, embedded) or `sc://host:port` (a Spark Connect server)",
        ),
    ] = "local"
    workers: Annotated[
        int, Meta(ge=0, le=1_024, description="tasks that run concurrently; 0: one per core")
    ] = 0
    memory_gb: Annotated[
        float,
        Meta(
            gt=0,
            le=65_536,
            description="memory that the embedded engine may use before it spills to disk",
        ),
    ] = 8.0


class FilterConfig(Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which URLs belong to the crawl."""

    scope: Annotated[
        Literal["host", "domain", "any"],
        Meta(description="stay on the seeds' hosts, on their registrable domains, or anywhere"),
    ] = "domain"
    allow: Annotated[
        tuple[str, ...],
        Meta(
            description="regular expressions (RE2); a URL must contain a match of one of them; an "
            "empty list accepts every URL"
        ),
    ] = ()
    deny: Annotated[
        tuple[str, ...],
        Meta(description="regular expressions (RE2); a URL that contains a match is not crawled"),
    ] = ()
    rules: Annotated[
        tuple[Line, ...],
        Meta(
            description="filter rules, one per string, such as `deny prefix "
            "https://example.org/tags/`; the first that matches a URL decides. See "
            "choosing.md, Filter rules"
        ),
    ] = ()
    files: Annotated[
        tuple[Line, ...],
        Meta(
            description="files of filter rules, one rule per line, which come after those of "
            "`rules`; paths are relative to the crawl's folder"
        ),
    ] = ()
    skip_extensions: Annotated[
        tuple[str, ...],
        Meta(
            description="file name extensions that are not crawled, because such files hold no "
            "text; `.xml.gz` and `.txt.gz` are crawled all the same, as sitemaps"
        ),
    ] = tuple(_NO_TEXT.split())
    max_depth: Annotated[
        int,
        Meta(
            ge=0,
            le=1_000_000,
            description="maximum number of links from the nearest seed to a page",
        ),
    ] = 20
    max_redirects: Annotated[
        int, Meta(ge=0, le=1_000, description="maximum number of redirects followed in a row")
    ] = 10
    max_path_segments: Annotated[
        Count, Meta(description="URLs with more path segments are not crawled")
    ] = 25
    max_repeats: Annotated[
        Count,
        Meta(
            description="URLs in whose path a segment occurs more often than this are not crawled; "
            "numbers below 1000 may occur more often"
        ),
    ] = 3
    max_parameters: Annotated[
        int,
        Meta(ge=0, le=1_000_000, description="URLs with more query parameters are not crawled"),
    ] = 20
    calendar_from_year: Annotated[
        int,
        Meta(
            ge=0, le=3000, description="URLs that contain a date before this year are not crawled"
        ),
    ] = 1700
    calendar_years_ahead: Annotated[
        int,
        Meta(
            ge=0,
            le=9_999,
            description="URLs that contain a date more years in the future than this are not "
            "crawled",
        ),
    ] = 5


class GenerateConfig(Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which pages a round fetches."""

    pages: Annotated[Count, Meta(description="maximum pages per round; the best are selected")] = (
        20_000
    )
    pages_per_host: Annotated[
        Count,
        Meta(
            description="maximum pages per host and round; does not limit hosts in "
            "`fetch.own_hosts`"
        ),
    ] = 1_000
    pages_per_host_ever: Annotated[
        int,
        Meta(
            ge=0,
            le=1_000_000_000,
            description="maximum pages per host in all rounds, each page counted once; 0: no limit",
        ),
    ] = 0
    domain_share: Annotated[
        float,
        Meta(
            gt=0,
            le=1,
            description="share of a round that a registrable domain may take if it has a seed, or "
            "if 100 other domains link to it; with fewer, its share is proportionally smaller. "
            "If that leaves room in the round, all shares grow by the same factor",
        ),
    ] = 0.1
    explore_share: Annotated[
        float,
        Meta(
            ge=0,
            le=1,
            description="share of a round for pages of sections that have hardly been tried, if "
            "`update.scoring` has the factor `fit`; more if a round has room. 0: none",
        ),
    ] = 0.05


class UpdateConfig(Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How the page database changes after a round."""

    interval_days: Annotated[
        float,
        Meta(
            gt=0,
            le=36_500,
            description="days from the first visit of a page to the second; then it depends on "
            "how often the page has changed",
        ),
    ] = 30
    revisit_probability: Annotated[
        float,
        Meta(
            ge=0.001,
            le=0.999,
            description="a page is due again when it has changed with this probability, estimated "
            "from its visits; a smaller value keeps pages fresher and makes more requests in vain",
        ),
    ] = 0.1
    interval_factor: Annotated[
        float,
        Meta(
            ge=1,
            le=1_000_000,
            description="how many times shorter that interval becomes at most for pages that keep "
            "changing, and longer for those that do not; 1: all pages have the same interval",
        ),
    ] = 16
    feed_interval_s: Annotated[
        float,
        Meta(
            ge=0,
            le=86_400,
            description="shortest interval between visits of a feed or sitemap that keeps listing "
            "new pages; longer if it lists few. `fetch.delay_s` and robots.txt count, too. "
            "0: feeds and sitemaps are scheduled like other pages",
        ),
    ] = 10
    scoring: Annotated[
        Line,
        Meta(
            description="which pages are fetched first: `links`, `breadth`, `opic`, `pagerank`, "
            "`hostrank`, `fit`, the name of a plugin's scoring, or a product such as "
            "`opic*breadth`"
        ),
    ] = "links"
    fit_rules: Annotated[
        tuple[Line, ...],
        Meta(
            description="rules for pages that you want, such as `deny prefix "
            "https://example.org/forum/`: the first that matches decides, `allow` that a page is "
            "fit, `deny` that it is not. Other pages are fit if their main text has 100 words, and "
            "if they are like those marked as such. See choosing.md, Fit pages"
        ),
    ] = ()
    new_urls_per_domain: Annotated[
        Count,
        Meta(
            description="new URLs that one round may add per registrable domain; the shallowest "
            "are kept. A domain that has a seed, or that 100 other domains link to, may add ten "
            "times as many"
        ),
    ] = 100_000
    new_queries_per_path: Annotated[
        Count,
        Meta(
            description="new URLs that one round may add per path, that is, URLs that differ only "
            "in their query"
        ),
    ] = 2_000
    merge_share: Annotated[
        float,
        Meta(
            gt=0,
            le=1,
            description="all layers of the page database are merged when the newer ones reach "
            "this share of it",
        ),
    ] = 0.25


class HistoryConfig(Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What is kept of the past."""

    rounds: Annotated[
        int,
        Meta(
            ge=0,
            le=1_000_000_000,
            description="number of rounds of which all responses, documents and links are kept, "
            "even if newer ones replace them, with their bodies in the archive",
        ),
    ] = 10


class UrlRulesConfig(Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which URLs lead to the same page, learned from the pages of each host."""

    learn: Annotated[
        bool,
        Meta(
            description="learn rules such as: this host's pages are the same without "
            "`index.html`, or without a parameter; with `false`, those that were learned before "
            "stay active"
        ),
    ] = True
    evidence: Annotated[
        int,
        Meta(
            ge=3,
            le=10_000,
            description="different pages whose contents must agree before a rule is active; of n "
            "pages without exception follows, with 95 % confidence, that at most 3/n of all differ",
        ),
    ] = 20
    sample: Annotated[
        float,
        Meta(
            ge=0,
            le=1,
            description="share of pages of which one further URL is fetched although a rule "
            "rewrites it, to notice if the rule is wrong; more while there is little evidence",
        ),
    ] = 0.05


class StoreConfig(Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The crawl folder."""

    keep_versions: Annotated[
        int,
        Meta(
            ge=1,
            le=100_000,
            description="number of older states whose files are kept for processes that read them",
        ),
    ] = 2
    min_free_gb: Annotated[
        float,
        Meta(
            ge=0,
            le=1_000_000,
            description="GB of free disk space below which a crawl pauses; it goes on by itself "
            "when there is more",
        ),
    ] = 0.5
    warc_versions: Annotated[
        int,
        Meta(
            ge=0,
            le=1_000_000,
            description="number of bodies of each page that stay in the archive when it is "
            "pruned; 0: one, or all if `warc_days` is 0, too",
        ),
    ] = 0
    warc_days: Annotated[
        float,
        Meta(
            ge=0,
            le=100_000,
            description="days for which every record stays in the archive; 0: as `warc_versions` "
            "says",
        ),
    ] = 0
    warc_keep: Annotated[
        tuple[Line, ...],
        Meta(
            description="archive files that stay as they are, as patterns of their paths, such as "
            '`["warc/00000012-*"]`',
        ),
    ] = ()

    @property
    def prunes(self) -> bool:
        """Whether anything ever leaves the archive."""
        return self.warc_versions > 0 or self.warc_days > 0
