"""Datasets of links, the link graph, and what it says about pages and hosts."""

from __future__ import annotations

from gossamer.tables.dataset import Column, Dataset, record_of_inputs

LINKS = Dataset(
    "links",
    "links between pages",
    key=("round", "src", "dst"),
    writer="parse",
    readers=("parse", "update", "mark", "invert", "graph", "rank"),
    newest_wins=False,
    columns=(
        Column("round", "int", "the round that fetched src"),
        Column("src", "string", "the linking page, or a robots.txt"),
        Column("dst", "string", "the linked page, normalised"),
        Column("anchor", "string", "text of the link; of several, the first non-empty one"),
        Column(
            "relation",
            "string",
            "element or role: a, area, frame, iframe, refresh, canonical, alternate, amphtml, "
            "next, prev, feed; noscript, svg, object, embed, srcdoc, which are not votes; with "
            "parse.media also img, srcset, image, video; in feeds and sitemaps entry, enclosure, "
            "sitemap; in robots.txt sitemap; or redirect",
        ),
        Column("nofollow", "boolean", "rel=nofollow, ugc or sponsored, or the page is nofollow"),
        Column("dated_ms", "long", "when dst was published or changed, by a feed or sitemap"),
        Column("depth", "int", "src's depth when it was fetched, plus 1 unless a redirect"),
        Column("hops", "int", "src's hops plus 1 for a redirect, else 0"),
        Column("first", "boolean", "src was fetched for the first time"),
        Column("spelling", "string", "dst as it was written, if robots.txt may tell them apart"),
        Column(
            "announced",
            "boolean",
            "src is of dst's registrable domain and calls it a feed or sitemap (robots.txt, index, "
            "link element), or was called so itself and redirects to it",
        ),
    ),
)

INLINKS = Dataset(
    "inlinks",
    "the pages that link to each page, with their anchor texts",
    key=("dst",),
    writer="invert",
    readers=("dedup", "index"),
    newest_wins=True,
    columns=(
        Column("dst", "string", "the page"),
        Column("count", "long", "number of linking pages"),
        Column(
            "sources",
            "array<struct<src:string,anchor:string>>",
            "linking pages and their anchor texts, at most 200, and at most 3 of a registrable "
            "domain that are not of the page's own host; by the ranks of their hosts",
        ),
        Column(
            "further",
            "array<struct<src:string,anchor:string>>",
            "further linking pages, at most 100, which take the places of those that go",
        ),
        Column("domains", "int", "linking registrable domains among all these"),
    ),
    # With 8,192, a look-up takes 5 ms longer. This size takes a fifth more bytes, and a pass over a
    # million rows 0.2 to 0.4 s more CPU time.
    group_rows=1_024,
)

INVERTED = record_of_inputs("inverted", "on what inlinks are based", "invert", "links, responses")

GRAPH = Dataset(
    "graph",
    "the link graphs of pages and of hosts, forward and transposed, in the format of WebGraph",
    key=(),
    writer="graph",
    readers=("graph.queries", "graph.centrality", "rank"),
    newest_wins=False,
)

RANKS = Dataset(
    "ranks",
    "PageRank of fetched pages, and of all others in the link graph",
    key=("url",),
    writer="rank",
    readers=("generate", "index", "postings"),
    newest_wins=True,
    columns=(
        Column("url", "string", "the page"),
        Column("rank", "double", "a probability; all ranks sum to 1; null: it has lost all links"),
    ),
)

RANKED_NODES = Dataset(
    "ranked_nodes",
    "which rows of ranks are of fetched pages, and the graph whose nodes the rows are",
    key=(),
    writer="rank",
    readers=("rank",),
    newest_wins=False,
)

HOST_SIZES = Dataset(
    "host_sizes",
    "how many ranked pages each host has",
    key=("host",),
    writer="rank",
    readers=("generate", "dedup", "index", "postings"),
    newest_wins=True,
    columns=(
        Column("host", "string", "as in pages"),
        Column("pages", "long", "its rows of ranks, but for those without a rank"),
    ),
)

HOST_RANKS = Dataset(
    "host_ranks",
    "PageRank of hosts, by the links between them, each pair of hosts once",
    key=("host",),
    writer="rank",
    readers=("generate", "index", "postings"),
    newest_wins=True,
    columns=(
        Column("host", "string", "as in pages"),
        Column("rank", "double", "a probability; all ranks sum to 1; null: it has lost all links"),
    ),
)

CENTRALITY = Dataset(
    "centrality",
    "how near each page and each host is to all others along links",
    key=("kind", "name"),
    writer="graph.centrality",
    readers=(),
    newest_wins=False,
    columns=(
        Column("kind", "string", "page or host"),
        Column("name", "string", "the URL, or the host as in pages"),
        Column(
            "harmonic", "double", "harmonic centrality: Σ 1/d over all that reach it by d links"
        ),
        Column("error", "double", "its relative standard deviation; 0 if it is exact"),
    ),
)

FARMS = Dataset(
    "farms",
    "hosts that look like parts of link farms, the pages that they boost, and the evidence",
    key=("name", "reason", "owner"),
    writer="farms",
    readers=("rank",),
    newest_wins=False,
    columns=(
        Column("kind", "string", "host or page"),
        Column("name", "string", "the host as in pages, or the URL"),
        Column("reason", "string", "domain, address, exchange or boosted: see docs/commands.md"),
        Column("owner", "string", "the registrable domain, the address, or the other host"),
        Column("members", "long", "hosts (address: domains) of the owner that link to each other"),
        Column("supporters", "long", "other registrable domains that link to them"),
        Column("links", "long", "links to other members (page: linking hosts that are members)"),
        Column("of_links", "long", "all links to other hosts (page: linking hosts elsewhere)"),
        Column("factor", "double", "what a vote of this host or page counts, from 0 to 1"),
    ),
)
