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
