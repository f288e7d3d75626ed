"""Pages that generated rules refuse: withheld, drawn again and again, and released.

What the owner's rules refuse is dropped. What a generated rule refuses is only withheld, since its
evidence is of the past: new URLs become pages with the status `excluded` and the outcome
`filtered`, as those that `filter apply` excludes. Once per `update.interval_days`, DRAWN of the
withheld pages of a section are drawn at random, half of them among those that it has got since the
last time, and fetched. If one of them is fit, or any other page of the section that was visited,
the rule falls, and all pages that no other rule refuses are released: they are due at once. A
section of which nothing is withheld yet is looked at again after LOOK_DAYS, so that its first pages
do not wait for a period.

A page outside may be found through drawn pages only (source FOUND_BY_SAMPLE). If it is fit, the
section is the way to it, and maybe to others: then all generated rules of its registrable domain
fall. `filter generate` makes those again that its proof still holds for.

What that means for the row of a page is in `rulings.py`.

Cost: nothing without generated rules. With some, the new URLs of a round are looked up, and when a
section is due, the withheld pages of its hosts are read.
"""

from __future__ import annotations

from functools import partial, reduce
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from gossamer.rules.filter_rules import crawl_rules
from gossamer.rules.filter_rules.filter_recipe import index_of
from gossamer.rules.filter_rules.rule_index import NONE
from gossamer.rules.filter_rules.stored_rules import GENERATED, read_rules, write_followed
from gossamer.rules.filters import filters_of
from gossamer.schedule.due.due_pages import is_refused
from gossamer.schedule.focus.generated_rules.rulings import (
    RELEASED,
    SAMPLED,
    WITHHELD,
    is_sample,
)
from gossamer.state import lsm
from gossamer.tables import PAGES, RESPONSES
from gossamer.web.urls import domain_of, host_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from gossamer.rules.filter_rules.filter_recipe import FilterRecipe
    from gossamer.rules.filter_rules.stored_rules import StoredRule
    from gossamer.schedule.new_page_rows import PageNews
    from gossamer.state.workspace import Draft, Workspace

DRAWN = 8
"""Pages of a section that are drawn in a period."""
LOOK_DAYS = 1.0
"""Days between two looks at a section of which nothing is withheld, within the period."""
DAY_MS = 86_400_000
FOUND_BY_SAMPLE = "sample"
"""The source of a page to which only drawn pages lead, as far as the round that found it says."""
REQUESTS_SHARE = 0.01
"""Share of a round's requests for which pages are drawn, but at least those of one section."""
RULED_DDL = "url string, rule string"
RULINGS_DDL = "url string, ruling string"


def withhold_new(work: Workspace, news: PageNews) -> PageNews:
    """Withhold the new URLs among the found ones that generated rules refuse."""
    return _withhold_refused(work, news, _rules_in_force(work))


def _withhold_refused(work: Workspace, news: PageNews, rules: Sequence[StoredRule]) -> PageNews:
    if not rules:
        return news
    new = news.found.join(news.before.select("url"), on="url", how="left_anti").select("url")
    ruled = _refused_by(work, new, rules)
    return news._replace(rulings=ruled.select("url", F.lit(WITHHELD).alias("ruling")))


def follow_rules(work: Workspace, draft: Draft, news: PageNews, links: DataFrame) -> PageNews:
    """As `withhold_new`; and draw withheld pages, and let rules fall that are no longer true."""
    if not (rules := _rules_in_force(work)):
        return news
    fallen = _fallen_sections(work, news, rules)
    standing = [each for each in rules if each.section not in fallen]
    news = _withhold_refused(work, news, standing)
    requests = sum(layer.rows for layer in work.store.manifest.layers(RESPONSES.name, work.round))
    due = _due_sections(work, standing, requests)
    drawn, looked_ms = _draw_pages(work, [each for each in standing if each.section in due])
    released = _released_pages(work, [each for each in rules if each.section in fallen], standing)
    parts = [part for part in (news.rulings, drawn, released) if part is not None]
    rulings, _ = work.scratch(reduce(DataFrame.unionByName, parts), RULINGS_DDL)
    answered = _count_answered_samples(work, news, standing)
    draft.replace |= write_followed(work, fallen, looked_ms, answered)
    draft.counts |= {
        row.ruling: row["count"] for row in rulings.groupBy("ruling").count().collect()
    }
    if fallen:
        draft.counts["fallen_rules"] = len(rules) - len(standing)
    if answered:
        news = news._replace(found=_name_source(work, news, links))
    known = lsm.rows_for(work, PAGES, rulings.where(F.col("ruling") != WITHHELD).select("url"))
    missing = known.join(news.before.select("url"), on="url", how="left_anti")
    before, _ = work.scratch(news.before.unionByName(missing))
    return news._replace(before=before, rulings=rulings)


def _name_source(work: Workspace, news: PageNews, links: DataFrame) -> DataFrame:
    """The targets of links, of which those to which only drawn pages lead are FOUND_BY_SAMPLE."""
    samples = news.before.where(is_sample()).select(F.col("url").alias("src"), F.lit(1).alias("by"))
    leading = links.where(~F.col("nofollow")).join(samples, on="src", how="left")
    only = leading.groupBy(F.col("dst").alias("url")).agg(
        (F.count("by") == F.count("*")).alias("by_sample")
    )
    by_sample = F.coalesce("by_sample", F.lit(False))
    source = F.when(by_sample, FOUND_BY_SAMPLE).otherwise(F.col("found_source"))
    named = news.found.join(only, on="url", how="left").withColumn("found_source", source)
    return work.scratch(named.select(*news.found.columns))[0]


def _rules_in_force(work: Workspace) -> list[StoredRule]:
    return [each for each in read_rules(work) if each.source == GENERATED and each.enabled]


def _refused_by(work: Workspace, urls: DataFrame, rules: Sequence[StoredRule]) -> DataFrame:
    """Those of the URLs that one of these rules refuses, and which (RULED_DDL); materialised."""
    recipe = crawl_rules.filter_recipe(work)
    made = frozenset(each.rule for each in rules)
    return work.map_rows(urls.select("url"), partial(_look_up_rules, recipe, made), RULED_DDL)[0]


def _look_up_rules(
    recipe: FilterRecipe, made: Collection[str], batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    assert recipe.rules is not None  # noqa: S101  # a generated rule is one
    index = index_of(recipe.rules)
    for batch in batches:
        found: list[tuple[str, str]] = []
        for url in batch.column("url").to_pylist():
            number = index.first(url)
            if number != NONE and index.rules[number].text in made:
                found.append((url, index.rules[number].text))
        urls, rules = zip(*found, strict=True) if found else ((), ())
        columns = [pa.array(column, pa.string()) for column in (urls, rules)]
        yield pa.RecordBatch.from_arrays(columns, ["url", "rule"])


def _fallen_sections(
    work: Workspace, news: PageNews, rules: Sequence[StoredRule]
) -> frozenset[str]:
    """The sections of which a page that was visited is fit, or that are the way to such a page."""
    if news.judged is None:
        return frozenset()
    fit = news.judged.where("fit").select("url")
    refused = _refused_by(work, fit, rules).select("rule").distinct()
    by_sample = (F.col("source") == FOUND_BY_SAMPLE) & F.col("stored_ms").isNull()
    found = news.before.where(by_sample).join(fit, on="url", how="left_semi")
    names = {row.rule for row in refused.collect()}
    hosts = found.select("host").distinct().collect()
    domains = {domain_of(f"http://{row.host}/") for row in hosts}
    return frozenset(
        each.section
        for each in rules
        if each.rule in names or domain_of(each.parsed.value) in domains
    )


def _due_sections(work: Workspace, rules: Sequence[StoredRule], requests: int) -> frozenset[str]:
    """The sections of which pages are drawn now: those that have waited longest."""
    before_ms = work.now_ms() - _period_ms(work)
    waiting = {
        each.section: each.sampled_ms or 0 for each in rules if (each.sampled_ms or 0) <= before_ms
    }
    most = max(int(requests * REQUESTS_SHARE) // DRAWN, 1)
    return frozenset(sorted(waiting, key=lambda section: (waiting[section], section))[:most])


def _period_ms(work: Workspace) -> int:
    return int(work.config.update.interval_days * DAY_MS)


def _draw_pages(
    work: Workspace, rules: Sequence[StoredRule]
) -> tuple[DataFrame | None, dict[str, int]]:
    """Draw DRAWN withheld pages of each of these sections: rows of RULINGS_DDL, or None.

    Returns also by section when that was, as `_due_sections` believes it.
    """
    if not rules:
        return None, {}
    now_ms, period_ms = work.now_ms(), _period_ms(work)
    drawn, _ = work.scratch(_drawn_pages(work, rules))
    some = {row.section for row in drawn.select("section").distinct().collect()}
    soon_ms = now_ms - period_ms + min(period_ms, int(LOOK_DAYS * DAY_MS))
    sections = {each.section for each in rules}
    looked_ms = {each: now_ms if each in some else soon_ms for each in sections}
    return drawn.select("url", F.lit(SAMPLED).alias("ruling")), looked_ms


def _drawn_pages(work: Workspace, rules: Sequence[StoredRule]) -> DataFrame:
    """DRAWN withheld pages of each of these sections: `url` and `section`."""
    of_rule = work.engine.rows(
        pa.table(
            {
                "rule": [each.rule for each in rules],
                "section": [each.section for each in rules],
                "since_ms": pa.array([each.sampled_ms or 0 for each in rules], pa.int64()),
            }
        )
    )
    pages = _pages_of_hosts(work, rules).where(is_refused())
    ruled = _refused_by(work, pages, rules)
    accepted = _accepted_by(work, pages.join(ruled, on="url", how="left_semi"), generated=())
    ruled = ruled.join(of_rule, on="rule", how="inner").join(accepted, on="url", how="left_semi")
    by_lot = F.xxhash64("url", F.lit(work.round)), F.col("url")
    of_kind = Window.partitionBy("section", "new").orderBy(*by_lot)
    in_section = Window.partitionBy("section").orderBy("turn", F.desc("new"))
    return (
        ruled.join(pages.select("url", "found_ms"), on="url", how="inner")
        .withColumn("new", F.col("found_ms") >= F.col("since_ms"))
        .withColumn("turn", F.row_number().over(of_kind))
        .withColumn("place", F.row_number().over(in_section))
        .where(F.col("place") <= DRAWN)
        .select("url", "section")
    )


def _pages_of_hosts(work: Workspace, rules: Sequence[StoredRule]) -> DataFrame:
    """All pages of the hosts of rules."""
    hosts = sorted({host_of(each.parsed.value) for each in rules})
    of_rules = work.engine.rows(pa.table({"host": hosts}))
    return lsm.current(work, PAGES).join(F.broadcast(of_rules), on="host", how="left_semi")


def _released_pages(
    work: Workspace, fallen: Sequence[StoredRule], standing: Sequence[StoredRule]
) -> DataFrame | None:
    """The pages of fallen rules that nothing else refuses, samples too: rows of RULINGS_DDL."""
    if not fallen:
        return None
    withheld = _pages_of_hosts(work, fallen).where(is_refused() | is_sample())
    ruled = _refused_by(work, withheld, fallen)
    accepted = _accepted_by(
        work,
        withheld.join(ruled, on="url", how="left_semi"),
        generated={each.rule for each in standing},
    )
    return accepted.select("url", F.lit(RELEASED).alias("ruling"))


def _accepted_by(work: Workspace, pages: DataFrame, generated: Collection[str]) -> DataFrame:
    """The URLs of pages that the filters let in, if only these generated rules count."""
    recipe = crawl_rules.filter_recipe(work, generated)
    asked = pages.select("url", "depth", "hops")
    return work.map_rows(asked, partial(_accept_pages, recipe), "url string")[0]


def _accept_pages(
    recipe: FilterRecipe, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    filters = filters_of(recipe)
    for batch in batches:
        pages = zip(*(batch.column(name).to_pylist() for name in batch.schema.names), strict=True)
        urls = [url for url, *place in pages if filters.reject(url, *place) is None]
        yield pa.RecordBatch.from_arrays([pa.array(urls, pa.string())], ["url"])


def _count_answered_samples(
    work: Workspace, news: PageNews, rules: Sequence[StoredRule]
) -> dict[str, int]:
    """How many drawn pages of each rule were answered in this round."""
    waiting = news.before.where(is_sample())
    asked = news.answers.where("outcome <> 'postponed'").select("url")
    ruled = _refused_by(work, waiting.join(asked, on="url", how="left_semi"), rules)
    return {row.rule: row["count"] for row in ruled.groupBy("rule").count().collect()}
