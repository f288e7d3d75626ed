"""Datasets of what the link graph says about pages and hosts."""

from __future__ import annotations

from gossamer.tables.dataset import Column, Dataset

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
