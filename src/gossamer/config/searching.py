"""The settings of [graph], [rank], [dedup], [index], [postings], [serve] and [ranking]."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from gossamer.config.table import Line, Table, Timeout, Weight

_PORT = r"(?:[0-9]{1,4}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])"
NODE = rf"^[^\s/\x00-\x1f\x7f]+:{_PORT}\Z"

Profile = Literal["fields", "content-pagerank", "cosine"]


class GraphConfig(Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The link graph."""

    memory_mb: Annotated[
        int,
        Meta(
            ge=16,
            le=1_048_576,
            description="memory in which a task of graph sorts links or names; each worker has one",
        ),
    ] = 1_000


class RankConfig(Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """PageRank."""

    damping: Annotated[float, Meta(gt=0, lt=1, description="share of rank that follows links")] = (
        0.85
    )
    iterations: Annotated[
        int, Meta(ge=1, le=10_000, description="maximum number of iterations")
    ] = 200
    tolerance: Annotated[
        float,
        Meta(
            gt=0,
            le=1,
            description="stop when the sum of the errors of all ranks is certainly at most this",
        ),
    ] = 1e-6
    same_domain: Annotated[
        float,
        Meta(
            ge=0,
            le=1,
            description="part of its vote that a link within a registrable domain keeps; the rest "
            "moves to the page's links to other domains, if it has any. 1: all links are equal",
        ),
    ] = 0.5
    nofollow: Annotated[
        bool,
        Meta(
            description="links marked nofollow, ugc or sponsored are votes, too; after "
            "a change: `gossamer graph build --rebuild`"
        ),
    ] = False
    trusted: Annotated[
        tuple[Line, ...],
        Meta(
            description="URLs, and hosts for all of their pages; ranks then flow from these pages "
            "only (TrustRank), and a page that they do not lead to has rank 0"
        ),
    ] = ()
    trusted_file: Annotated[
        Line,
        Meta(description="a file with more of them, one per line, relative to gossamer.toml"),
    ] = ""
    distrusted: Annotated[
        tuple[Line, ...],
        Meta(
            description="URLs, and hosts for all of their pages, of spam; they cast no votes, and "
            "the more a page leads to them, the less its votes count (Anti-Trust Rank)"
        ),
    ] = ()
    distrusted_file: Annotated[
        Line,
        Meta(description="a file with more of them, one per line, relative to gossamer.toml"),
    ] = ""
    farms: Annotated[
        bool,
        Meta(
            description="votes of hosts that look like parts of link farms count less; "
            "`gossamer graph farms` shows which and why"
        ),
    ] = True
    memory_gb: Annotated[
        float,
        Meta(
            gt=0,
            le=65_536,
            description="memory for the ranks and links of the graph. Links that do not fit stay "
            "compressed; if the ranks do not fit, the engine computes them by joins",
        ),
    ] = 4.0


class DedupConfig(Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which pages count as the same."""

    similarity: Annotated[
        float,
        Meta(
            ge=0.8,
            le=1,
            description="share of word sequences that two texts must have in common, so that one "
            "page stands for both (Jaccard similarity of shingles of 5 words); 1: only equal texts",
        ),
    ] = 0.85
    versions: Annotated[
        bool,
        Meta(
            description="the newest version of a manual stands for the older ones, whose URLs "
            "differ in a number such as /3.9/"
        ),
    ] = True
    scope: Annotated[
        Literal["crawl", "domain"],
        Meta(
            description="where a page is looked for that stands for another: in the whole crawl, "
            "or only on the same registrable domain"
        ),
    ] = "crawl"


class IndexConfig(Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The full-text index."""

    shards: Annotated[
        int,
        Meta(ge=1, le=1_024, description="number of shards; a hash of the URL selects the shard"),
    ] = 2
    first_tier: Annotated[
        float,
        Meta(
            ge=0,
            le=0.5,
            description="share of the pages, the most popular ones, that are searched first; the "
            "others are searched only if too few of these match. Used from 50,000 pages on; "
            "0: no first tier",
        ),
    ] = 0.1
    anchors: Annotated[
        int, Meta(ge=1, le=100_000, description="maximum anchor texts indexed per page")
    ] = 50
    memory_mb: Annotated[
        int,
        Meta(ge=16, le=4_000, description="memory that a task fills before it writes a segment"),
    ] = 512


class PostingsConfig(Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The term-partitioned index of `gossamer postings`."""

    partitions: Annotated[
        int,
        Meta(
            ge=1,
            le=100_000,
            description="number of files; a hash of the term selects the file; also the number of "
            "tasks that read documents",
        ),
    ] = 8


class ServeConfig(Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The search page and API."""

    host: Annotated[Line, Meta(min_length=1, description="address to listen on")] = "127.0.0.1"
    port: Annotated[
        int, Meta(ge=0, le=65535, description="port to listen on; 0: any free port")
    ] = 8080
    names: Annotated[
        tuple[Line, ...],
        Meta(
            description="further host names under which the site may be requested, beside `host` "
            "and localhost; `*`: any name"
        ),
    ] = ()
    processes: Annotated[
        int,
        Meta(
            ge=0,
            le=1_024,
            description="number of search processes; 0: one per core, at most 8; 1: search in the "
            "server process",
        ),
    ] = 0
    nodes: Annotated[
        tuple[Annotated[str, Meta(pattern=NODE)], ...],
        Meta(
            description="search processes on other machines (`gossamer node`), instead of local "
            "ones, by name and port; each address of a name is a node"
        ),
    ] = ()
    groups: Annotated[
        int,
        Meta(
            ge=1,
            le=128,
            description="number of groups that nodes are divided into; each group holds a part of "
            "the shards, each of its nodes all of that part; 1: every node holds the whole index",
        ),
    ] = 1
    node_certificate: Annotated[
        Line,
        Meta(
            description="file (PEM) with the certificate that the server and its nodes show each "
            "other; empty: nodes only listen on loopback"
        ),
    ] = ""
    node_key: Annotated[
        Line, Meta(description="file (PEM) with the key of node_certificate, of mode 600")
    ] = ""
    node_authority: Annotated[
        Line,
        Meta(description="file (PEM) with the authority that has signed all these certificates"),
    ] = ""
    deadline_s: Annotated[
        Timeout,
        Meta(
            description="seconds that a search process may take for one step of a search; results "
            "are then returned without it"
        ),
    ] = 2
    cache_mb: Annotated[
        int,
        Meta(
            ge=0,
            le=1_000_000,
            description="memory in MB for cached answers, which are kept until the index changes; "
            "0: no cache",
        ),
    ] = 32
    requests_per_address: Annotated[
        int,
        Meta(
            ge=0,
            le=1_000_000,
            description="maximum concurrent requests per client (an IPv4 address, or the /64 "
            "network of an IPv6 address); further ones get status 429; 0: no limit",
        ),
    ] = 32
    proxies: Annotated[
        tuple[Annotated[str, Meta(pattern=r"^[0-9a-fA-F.:]+(/\d{1,3})?$")], ...],
        Meta(
            description="addresses and networks of proxies whose X-Forwarded-For and "
            "X-Forwarded-Proto are trusted; requests that they send without X-Forwarded-For are "
            "not counted for any client"
        ),
    ] = ("127.0.0.1", "::1")

    def __post_init__(self) -> None:
        if len({bool(name) for name in self.node_files}) > 1:
            raise ValueError("node_certificate, node_key and node_authority belong together")

    @property
    def node_files(self) -> tuple[str, ...]:
        """The files for TLS between a server and its nodes."""
        return (self.node_certificate, self.node_key, self.node_authority)


class RankingConfig(Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The weights of ranking. A word in the text of a page has weight 1."""

    profile: Annotated[
        Profile,
        Meta(description="`fields`, or a formula to compare it with (docs/searching.md)"),
    ] = "fields"
    title: Annotated[Weight, Meta(description="match in the title")] = 0.2
    anchors: Annotated[Weight, Meta(description="match in anchor text")] = 0.25
    pairs: Annotated[
        Weight, Meta(description="neighbouring words of the query that are close in the text")
    ] = 0.4
    first_words: Annotated[
        Weight, Meta(description="match in the title or the first words of the text")
    ] = 0.4
    exact_form: Annotated[
        Weight, Meta(description="words and code as they were typed, in the text and in the title")
    ] = 2.0
    coverage: Annotated[
        Weight,
        Meta(description="the page has all words of the query; a share of it, if it has some"),
    ] = 3.0
    language: Annotated[Weight, Meta(description="the page is in the language of the query")] = 2.0
    boilerplate: Annotated[Weight, Meta(description="match outside the main text only")] = 0.2
    title_phrase: Annotated[Weight, Meta(description="the query as a phrase in the title")] = 1.0
    whole_title: Annotated[
        Weight, Meta(description="per word of the query, if the query is the whole title")
    ] = 10.0
    popularity: Annotated[
        Weight, Meta(description="log2 of 1 + PageRank divided by the mean PageRank")
    ] = 0.5
    freshness: Annotated[
        Weight,
        Meta(description="a date close to the time that the query asks for, if it asks for one"),
    ] = 3.0
