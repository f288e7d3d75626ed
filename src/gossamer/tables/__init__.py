"""Every dataset of a crawl: columns, types, units, key, writer, readers.

The single source: steps select exactly these columns, files are written with exactly these types,
and docs/datasets.md is generated from it.

Times are `_ms` (milliseconds since 1970, UTC) or `_s` (seconds). URLs are normalised
(`gossamer.web.urls.normalize`), so that the same page always has the same key.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer.tables.dataset import Column, Dataset
from gossamer.tables.duplicates import (
    BOILERPLATE,
    COUNTED,
    DISPOSITIONS,
    HOST_DOCUMENTS,
    JUDGED,
    MIRRORS,
    OWN_TEXTS,
    SHARED_PLACES,
    SHINGLED,
    SIMILAR,
    SKETCHED,
)
from gossamer.tables.fetching import (
    DOMAINS,
    DUE_TIMES,
    FETCHLIST,
    FINDS,
    HABITS,
    HOSTS,
    PAGES,
    RESPONSES,
    SECTIONS,
    VIRTUAL_PAGE,
    WARC,
)
from gossamer.tables.focusing import FILTER_RULES, FIT_WORDS, MARKS
from gossamer.tables.linking import (
    CENTRALITY,
    FARMS,
    GRAPH,
    HOST_RANKS,
    HOST_SIZES,
    INLINKS,
    INVERTED,
    LINKS,
    RANKED_NODES,
    RANKS,
)
from gossamer.tables.parsing import DOCUMENTS, UNPARSED
from gossamer.tables.searching import (
    CHANGES,
    EMBEDDED,
    FORGOTTEN_CHANGES,
    GATHERED,
    INDEX,
    INDEXED,
    NUMBERED,
    OUTER_BOILERPLATE,
    POSTINGS,
    VECTORS,
)
from gossamer.tables.url_rules import ALIASES, REWRITTEN, URL_FORMS, URL_RULES

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "ALIASES",
    "BOILERPLATE",
    "CENTRALITY",
    "CHANGES",
    "COUNTED",
    "DATASETS",
    "DISPOSITIONS",
    "DOCUMENTS",
    "DOMAINS",
    "DUE_TIMES",
    "EMBEDDED",
    "FARMS",
    "FETCHLIST",
    "FILTER_RULES",
    "FINDS",
    "FIT_WORDS",
    "FORGOTTEN_CHANGES",
    "GATHERED",
    "GRAPH",
    "HABITS",
    "HOSTS",
    "HOST_DOCUMENTS",
    "HOST_RANKS",
    "HOST_SIZES",
    "INDEX",
    "INDEXED",
    "INLINKS",
    "INVERTED",
    "JUDGED",
    "LINKS",
    "MARKS",
    "MIRRORS",
    "NUMBERED",
    "OUTER_BOILERPLATE",
    "OWN_TEXTS",
    "PAGES",
    "POSTINGS",
    "RANKED_NODES",
    "RANKS",
    "RESPONSES",
    "REWRITTEN",
    "SECTIONS",
    "SHARED_PLACES",
    "SHINGLED",
    "SIMILAR",
    "SKETCHED",
    "UNPARSED",
    "URL_FORMS",
    "URL_RULES",
    "VECTORS",
    "VIRTUAL_PAGE",
    "WARC",
    "Column",
    "Dataset",
]

DATASETS: Mapping[str, Dataset] = {
    table.name: table
    for table in (
        *(
            FILTER_RULES,
            MARKS,
            FIT_WORDS,
            PAGES,
            FETCHLIST,
            RESPONSES,
            HOSTS,
            DOMAINS,
            HABITS,
            VIRTUAL_PAGE,
        ),
        *(SECTIONS, FINDS, DUE_TIMES, WARC, UNPARSED, DOCUMENTS, LINKS, INLINKS, INVERTED),
        *(GRAPH, RANKS, RANKED_NODES, FARMS),
        *(HOST_RANKS, HOST_SIZES, CENTRALITY, BOILERPLATE, OWN_TEXTS, HOST_DOCUMENTS, COUNTED),
        *(SKETCHED, SIMILAR, SHINGLED, MIRRORS, SHARED_PLACES, DISPOSITIONS, JUDGED),
        *(REWRITTEN, URL_FORMS, URL_RULES, ALIASES),
        *(INDEX, INDEXED, OUTER_BOILERPLATE, GATHERED, CHANGES, FORGOTTEN_CHANGES),
        *(VECTORS, EMBEDDED, POSTINGS, NUMBERED),
    )
}
"""All datasets, in the order in which a crawl writes them."""
