"""The link graph, the indexes, the search page, and what counts for the order of results."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from gossamer.config.table import Count, Table, Weight

Profile = Literal["fields", "content-pagerank", "cosine"]


class RankConfig(Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """PageRank."""

    damping: Annotated[float, Meta(gt=0, lt=1, description="share of rank that follows links")] = (
        0.85
    )
    iterations: Annotated[Count, Meta(description="at most")] = 30
    tolerance: Annotated[
        float, Meta(gt=0, description="stop when the ranks move less than this, summed (L1)")
    ] = 1e-6


class IndexConfig(Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The full-text index."""

    shards: Annotated[Count, Meta(description="index folders, by hash of the URL")] = 2
    first_tier: Annotated[
        float,
        Meta(
            ge=0,
            le=0.5,
            description="share of the pages, the most popular, that are searched first, and the "
            "rest only where too few of them are found; 0: none. From 50,000 pages on",
        ),
    ] = 0.1
    anchors: Annotated[Count, Meta(description="anchor texts of a page that are indexed")] = 50
    memory_mb: Annotated[
        int, Meta(ge=16, description="a task's buffer before it writes a segment")
    ] = 512


class PostingsConfig(Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The index that is partitioned by terms."""

    partitions: Annotated[
        Count, Meta(description="files, by hash of the term; tasks that read documents, too")
    ] = 8


class ServeConfig(Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
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
    processes: Annotated[
        int,
        Meta(
            ge=0, description="that search; 0: one for each core, 8 at most; 1: the server itself"
        ),
    ] = 0
    nodes: Annotated[
        tuple[
            Annotated[tuple[Annotated[str, Meta(pattern=r"^.+:\d+$")], ...], Meta(min_length=1)],
            ...,
        ],
        Meta(
            description="processes on other machines that search (`gossamer node`), in place of "
            'those here: `[["a:9400", "b:9400"], ["c:9400"]]` are two that hold the same shards, '
            "and one that holds the rest"
        ),
    ] = ()
    deadline_s: Annotated[
        float,
        Meta(
            gt=0, description="an answer is given without nodes that take longer for a step of it"
        ),
    ] = 2
    cached_answers: Annotated[
        int, Meta(ge=0, description="answers that are kept until the index changes")
    ] = 1_000


class RankingConfig(Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What counts how much for the order of results, beside the words of a page's text."""

    profile: Annotated[
        Profile, Meta(description="`fields`, or a published one to compare: docs/searching.md")
    ] = "fields"
    title: Annotated[Weight, Meta(description="a word in the title")] = 0.5
    anchors: Annotated[Weight, Meta(description="a word in what links call the page")] = 0.5
    pairs: Annotated[Weight, Meta(description="neighbouring words of the query, close by")] = 0.25
    around: Annotated[Weight, Meta(description="a word around the main text only")] = 0.2
    title_phrase: Annotated[Weight, Meta(description="the words as a phrase in the title")] = 1.0
    whole_title: Annotated[Weight, Meta(description="per word, where they are the whole title")] = (
        10.0
    )
    popularity: Annotated[Weight, Meta(description="log2 of the PageRank over the mean one")] = 0.5
    freshness: Annotated[
        Weight,
        Meta(description="a page of the time that the query asks for, where it asks for one"),
    ] = 3.0
