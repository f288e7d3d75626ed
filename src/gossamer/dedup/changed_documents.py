"""Which documents can be found at all: the newest of each page that exists and does not forbid it.

Reasons against it are `dropped_status` (the page is gone, redirects or may no longer be fetched),
`dropped_outcome` (it has no text), `dropped_noindex`, `dropped_wish` (its publisher does not want
it in search, see web/publisher_wishes.py) and `dropped_unavailable` (its `unavailable_after` has
passed).

Cost: a pass over the new documents and the new layers of pages, and over the URLs of the
dispositions so far.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from gossamer.dedup.disposition_layers import FINDABLE
from gossamer.dedup.mirrors import add_places
from gossamer.dedup.near_duplicates import title_words
from gossamer.dedup.own_texts import texts_with_boilerplate
from gossamer.dedup.versions import add_families
from gossamer.links import domains
from gossamer.state import lsm
from gossamer.tables import DISPOSITIONS, DOCUMENTS, OWN_TEXTS, PAGES
from gossamer.web.publisher_wishes import SEARCH
from gossamer.web.urls import host_column

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from gossamer.dedup.disposition_layers import DispositionLayers
    from gossamer.state.unread import Inputs
    from gossamer.state.workspace import Workspace

STATE_COLUMNS = ("url", "status", "found_ms", "stored_ms")
"""Columns of `pages` that they need."""
NEWEST_COLUMNS = (
    *("outcome", "noindex", "unavailable_after_ms", "digest", "text_hash", "canonical", "title"),
    "wishes",
)
"""Columns of `documents` that the decisions need, from the newest round of each URL."""
DOCUMENT_COLUMNS = (
    *("url", "round", "text", "by_body", "title", "canonical", "unfit", "unavailable_after_ms"),
    "titled_ms",
)
"""Columns of `dispositions` that describe the document."""
DECIDED_LATER = (
    *("survivor", "reason", "similarity", "copy_count", "version_count", "copies", "rank_class"),
)
CHANGED_COLUMNS = (*DOCUMENT_COLUMNS, "found_ms", "disposition", "compared", "families", "reason")
"""Columns of `dispositions` that are read of pages that may have changed."""
_TYPES = {column.name: column.type for column in DISPOSITIONS.columns}
CHANGED_DDL = ", ".join(f"{name} {_TYPES[name]}" for name in CHANGED_COLUMNS)


def changed_documents(
    work: Workspace, inputs: Inputs, known: DispositionLayers
) -> tuple[DataFrame, DataFrame]:
    """Rows of `dispositions` whose documents or pages have changed, and those that they replace.

    The latter have only the columns OF_CHANGED. Nothing is decided about the former yet: their
    `disposition` is `indexed`, or the reason against it. Both are materialised.
    """
    new = describe_documents(
        _newest_documents(work.engine.read(inputs.paths(work, DOCUMENTS), DOCUMENTS.ddl)),
        obey_search=SEARCH in work.config.publishers.obey,
    )
    if inputs.anew:
        before = work.engine.read([], DISPOSITIONS.ddl)
        rows = new.join(_page_states(lsm.current(work, PAGES)), on="url", how="left")
        rows = rows.withColumn("titled_ms", F.lit(None).cast("long"))
    else:
        new, _ = work.scratch(new)
        own_texts = work.engine.read(inputs.paths(work, OWN_TEXTS), OWN_TEXTS.ddl)
        urls = new.select("url").unionByName(own_texts.select("url"))
        pages, _ = work.scratch(_new_page_states(work, inputs, urls.distinct()))
        urls = urls.unionByName(pages.select("url")).distinct()
        before, _ = work.scratch(known.rows_of_urls(urls).select(*CHANGED_COLUMNS), CHANGED_DDL)
        due, _ = work.scratch(_newly_unavailable(work, known, urls), CHANGED_DDL)
        rows = _join_new_and_known(new, pages, before).unionByName(_add_state_of_unavailable(due))
        before = before.unionByName(due)
    judged = _add_compared_texts(work, rows).withColumn(
        "disposition", F.coalesce(_reason_against(work), F.lit("indexed"))
    )
    if not inputs.anew:
        # Families are joined with the pages from which they come: without files, both are computed.
        judged, _ = work.scratch(_without_unchanged(judged, before))
    judged = add_families(add_places(_add_scopes(work, judged)))
    fresh, _ = work.scratch(
        judged.select(
            *(
                F.lit(None).cast(column.type).alias(column.name)
                if column.name in DECIDED_LATER
                else F.col(column.name)
                for column in DISPOSITIONS.columns
            )
        ),
        DISPOSITIONS.ddl,
    )
    if inputs.anew:
        return fresh, before
    replaced = before.join(fresh.select("url"), on="url", how="left_semi")
    return fresh, work.scratch(replaced, CHANGED_DDL)[0]


def _newest_documents(documents: DataFrame) -> DataFrame:
    """The newest of the documents of each URL."""
    last = documents.groupBy("url").agg(F.max("round").alias("round"))
    rows = documents.select("url", "round", *NEWEST_COLUMNS)
    return last.join(rows, on=["url", "round"], how="inner")


def describe_documents(newest: DataFrame, *, obey_search: bool) -> DataFrame:
    """From the columns NEWEST of documents and their `url` and `round` to those OF_DOCUMENTS.

    `obey_search`: whether pages are left out that their publishers do not want in search.
    """
    body = F.coalesce("digest", "url")
    unfit = F.when(F.col("outcome") != "parsed", "dropped_outcome").when(
        F.col("noindex"), "dropped_noindex"
    )
    if obey_search:
        unfit = unfit.when(F.col("wishes").contains(f"{SEARCH}=no"), "dropped_wish")
    return newest.select(
        "url",
        "round",
        F.coalesce("text_hash", F.xxhash64(body)).alias("text"),
        F.col("text_hash").isNull().alias("by_body"),
        "title",
        F.when(F.col("canonical") != F.col("url"), F.col("canonical")).alias("canonical"),
        unfit.alias("unfit"),
        "unavailable_after_ms",
    )


def _page_states(pages: DataFrame) -> DataFrame:
    return pages.select(*STATE_COLUMNS)


def _add_compared_texts(work: Workspace, rows: DataFrame) -> DataFrame:
    """Add `compared`: the text without the boilerplate of its host, if that is long enough."""
    whole = F.when(~F.col("by_body"), F.col("text"))
    if not work.store.manifest.layers(OWN_TEXTS.name):
        return rows.withColumn("compared", whole)
    own = texts_with_boilerplate(work).select(
        "url", "round", "has_boilerplate", F.col("text").alias("own")
    )
    compared = F.when(F.col("has_boilerplate"), F.col("own")).otherwise(whole)
    found = own.join(rows, on=["url", "round"], how="right")
    return found.withColumn("compared", compared).drop("own", "has_boilerplate")


def _new_page_states(work: Workspace, inputs: Inputs, urls: DataFrame) -> DataFrame:
    """The states of pages in the new layers, and of these others."""
    layers = inputs.layers[PAGES.name]
    if not layers:
        return _page_states(lsm.rows_for(work, PAGES, urls))
    paths = [[f"{work.root}/{file.path}" for file in layer.files] for layer in layers]
    stack = [_page_states(work.engine.read(each, PAGES.ddl)) for each in paths]
    found, _ = work.scratch(lsm.newest_rows(stack, "url"))
    others, count = work.scratch(urls.join(found, on="url", how="left_anti"))
    return found.unionByName(_page_states(lsm.rows_for(work, PAGES, others))) if count else found


def _join_new_and_known(new: DataFrame, pages: DataFrame, before: DataFrame) -> DataFrame:
    """The documents of these pages with their states: new ones, or those that were known."""
    known = before.select("url", "titled_ms", F.col("round").alias("known_round"), "title")
    known = known.withColumnRenamed("title", "known_title")
    is_other = title_words(F.col("title")) != title_words(F.col("known_title"))
    is_retitled = F.col("known_round").isNotNull() & is_other
    # A page that was parsed late may have been fetched again, and parsed, meanwhile.
    newer = (
        known.join(new, on="url", how="right")
        .where(F.coalesce(F.col("known_round") <= F.col("round"), F.lit(True)))
        .withColumn("is_retitled", is_retitled)
        .drop("known_round", "known_title")
    )
    others = before.join(newer.select("url"), on="url", how="left_anti").select(*DOCUMENT_COLUMNS)
    documents = newer.withColumn("is_new", F.lit(True)).unionByName(
        others.withColumns({"is_new": F.lit(False), "is_retitled": F.lit(False)})
    )
    titled_ms = F.when(F.col("is_retitled"), F.col("stored_ms")).otherwise(F.col("titled_ms"))
    rows = documents.join(pages, on="url", how="left").withColumn("titled_ms", titled_ms)
    return rows.drop("is_retitled", "stored_ms")


def _newly_unavailable(work: Workspace, known: DispositionLayers, urls: DataFrame) -> DataFrame:
    """Other documents that are to be forgotten by now: the columns OF_CHANGED.

    And those that were forgotten before their time, by a clock that was ahead.
    """
    now_ms = work.now_ms()
    passed = f"unavailable_after_ms <= {now_ms} AND {FINDABLE}"
    early = f"unavailable_after_ms > {now_ms} AND disposition = 'dropped_unavailable'"
    found = known.where(lambda layer: layer.where(f"({passed}) OR ({early})"))
    return found.join(urls, on="url", how="left_anti").select(*CHANGED_COLUMNS)


def _add_state_of_unavailable(due: DataFrame) -> DataFrame:
    """Documents that are to be forgotten, in the form of `_join_new_and_known`."""
    is_new, status = F.lit(True).alias("is_new"), F.lit("fetched").alias("status")
    return due.select(*DOCUMENT_COLUMNS, is_new, status, "found_ms")


def _reason_against(work: Workspace) -> Column:
    return (
        F.when(F.coalesce("status", F.lit("")) != "fetched", "dropped_status")
        .when(F.col("unfit").isNotNull(), F.col("unfit"))
        .when(F.col("unavailable_after_ms") <= work.now_ms(), "dropped_unavailable")
    )


def _without_unchanged(judged: DataFrame, before: DataFrame) -> DataFrame:
    """The rows that differ from those before in what the decisions need."""
    fitness = F.when(F.expr(FINDABLE), "indexed").otherwise(F.col("disposition"))
    names = ("found_ms", "compared")
    was = before.select(
        "url", fitness.alias("was"), *(F.col(name).alias(f"was_{name}") for name in names)
    )
    same = F.col("disposition").eqNullSafe(F.col("was"))
    for name in names:
        same &= F.col(name).eqNullSafe(F.col(f"was_{name}"))
    return was.join(judged, on="url", how="right").where(F.col("is_new") | ~same)


def _add_scopes(work: Workspace, judged: DataFrame) -> DataFrame:
    """Add `scope`: within it, one page stands for another."""
    if work.config.dedup.scope == "crawl":
        return judged.withColumn("scope", F.lit(""))
    judged, _ = work.scratch(judged.withColumn("host", host_column(F.col("url"))))
    hosts = domains.add_domains(work, judged.select("host").distinct())
    return hosts.withColumnRenamed("domain", "scope").join(judged, on="host", how="right")
