"""Which aliases are fetched all the same, to be compared with their targets?

Each comparison may show that a rule is wrong, and a single one that differs drops the rule and
brings all of its aliases back. New aliases are drawn in two ways:

    by target   of a share of the targets, one alias. A section without a rule of its own has a
                large share, whatever is known about the rest of its host.
    by place    of each folder and path that stands for many new aliases, some. A rule that holds
                for a section may be wrong in one of its folders; and what is dropped from the URLs
                of one path may be the number of the page.

The aliases of a rule are drawn again once per period, because what changed nothing may matter
later.
"""

from __future__ import annotations

import math
from functools import reduce
from typing import TYPE_CHECKING

import pyarrow as pa
import xxhash
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from gossamer.rules.url_rules import forms
from gossamer.rules.url_rules.rewriting import rewriter_of
from gossamer.rules.url_rules.rule_states import ACTIVE
from gossamer.state import lsm
from gossamer.tables import ALIASES, PAGES, REWRITTEN, URL_RULES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gossamer.state.workspace import Workspace

RULE_OF_THREE = 3
"""Of n agreements without exception follows that at most 3/n differ (`rule_states`)."""
MARGIN = 1.5
"""So many times the comparisons that a rule on trial needs are made: some are inconclusive."""
MANY_TARGETS = 4
"""New targets of aliases in a folder from which on some are drawn there, whatever others are."""
MANY_ALIASES = 8
"""The same of aliases of one path."""
MAX_FOLDERS = 6
"""Folders of a path that are places."""
AGAIN = 3
"""Aliases of a rule that are drawn again in a period."""
REQUESTS_SHARE = 0.01
"""Share of a round's requests for which aliases are drawn again, but at least those of one rule."""
DRAWS = 1 << 20
DRAWN_DDL = (
    f"{REWRITTEN.ddl}, fetched boolean, turn long, lot double, supports long, missing long, "
    "sections string, places array<string>"
)


def choose_samples(drawn: DataFrame, compared: DataFrame, sample: float) -> DataFrame:
    """The aliases that are compared with their targets: rows with `url`.

    `drawn` are new aliases with DRAWN_DDL, and their `place` among those of their target.
    `compared` are the targets that have been compared before: places draw their aliases last.
    """
    had = compared.select("target", F.lit(True).alias("had"))
    marked = drawn.join(had, on="target", how="left").fillna(False, ["had"])
    firsts = marked.where("place = 1 AND NOT had")
    taken = _choose_by_target(firsts, sample).select("url", F.lit(True).alias("taken"))
    marked = marked.join(taken, on="url", how="left").fillna(False, ["taken"])
    return taken.select("url").union(_choose_by_place(marked)).distinct()


def _choose_by_target(firsts: DataFrame, sample: float) -> DataFrame:
    """Of `firsts`, one alias for each target, those that are drawn.

    For rules on trial, these are as many as are needed, rather of pages that were not fetched yet.

    Each comparison that is made counts for the next one, because a single one that differs drops
    the rule. If the share is 3/(n + k) after k of m comparisons, then dk/dm = 3/(n + k), and
    k = sqrt(n² + 6 m) - n.
    """
    names = F.array_join("rules", " ")
    alike = Window.partitionBy(names, "sections")
    count, supports = F.count("*").over(alike), F.col("supports").cast("double")
    expected = F.sqrt(supports * supports + 2 * RULE_OF_THREE * count) - supports
    place = F.row_number().over(Window.partitionBy(names).orderBy("fetched", "lot"))
    placed = firsts.withColumn("share", expected / count).withColumn("place", place)
    by_chance = F.col("lot") < F.greatest(F.lit(sample), F.col("share"))
    return placed.where(by_chance | (F.col("place") <= F.col("missing") * MARGIN))


def _choose_by_place(drawn: DataFrame) -> DataFrame:
    """Of the new aliases of each place that has many, some: rows with `url`.

    Those that are `taken` already count. Aliases of targets that have been compared come last.

    If one in 2^k times `many` is drawn after k were, then k = log2(1 + m ln 2 / many) of m. The
    fraction is drawn by lot: one of 6 targets, and one of 12 aliases of a path, is for certain.
    """
    names = F.array_join("rules", " ").alias("names")
    first = ("taken", "had", "fetched", "turn")
    each = drawn.withColumnRenamed("place", "in_target").select(
        "url", *first, "in_target", names, F.explode("places").alias("folder")
    )
    inside = Window.partitionBy("names", "folder")
    is_path = F.col("folder").endswith("?")
    many = F.when(is_path, MANY_ALIASES).otherwise(MANY_TARGETS)
    count = F.sum((is_path | (F.col("in_target") == 1)).cast("int")).over(inside)
    share = F.pmod(F.xxhash64("folder"), F.lit(DRAWS)) / DRAWS
    wanted = F.floor(F.log2(1 + F.col("count") * math.log(2) / many) + share)
    return (
        each.withColumn("count", count)
        .where(F.col("count") >= many)
        .withColumn(
            "place", F.row_number().over(inside.orderBy(F.desc("taken"), *first[1:], "url"))
        )
        .where(F.col("place") <= wanted)
        .select("url")
    )


def draw_lots(
    rules: tuple[str, ...], batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Add a random order of aliases (`turn`), a lot for their target, and the rules' evidence.

    Also the sections and places that they and their targets are in.
    """
    rewriter = rewriter_of(rules)
    for batch in batches:
        urls, targets, used = (batch.column(n).to_pylist() for n in ("url", "target", "rules"))
        pairs = list(zip(urls, targets, strict=True))
        supports = [
            rewriter.least_supports(each, forms.section_of(target))
            for each, target in zip(used, targets, strict=True)
        ]
        columns = [
            pa.array([xxhash.xxh3_64_intdigest(url.encode()) >> 1 for url in urls], pa.int64()),
            pa.array(map(_lot, targets), pa.float64()),
            pa.array(supports, pa.int64()),
            pa.array([rewriter.most_missing(each) for each in used], pa.int64()),
            pa.array([" ".join(map(forms.section_of, pair)) for pair in pairs], pa.string()),
            pa.array([places_of(*pair) for pair in pairs], pa.list_(pa.string())),
        ]
        yield pa.RecordBatch.from_arrays(
            [*batch.columns, *columns],
            names=[
                *batch.schema.names,
                *("turn", "lot", "supports", "missing", "sections", "places"),
            ],
        )


def _lot(target: str) -> float:
    """A random number below 1 that belongs to a target."""
    return xxhash.xxh3_64_intdigest(target.encode()) / 2**64


def places_of(*urls: str) -> list[str]:
    """The folders that some of these URLs are in, and their paths with a ?, each once."""
    found: dict[str, None] = {}
    for url in urls:
        path = url.partition("?")[0]
        scheme, _, host, *folders = path.split("/")
        for level in range(min(len(folders) - 1, MAX_FOLDERS) + 1):
            found["/".join([scheme, "", host, *folders[:level], ""])] = None
        found[f"{path}?"] = None
    return list(found)


def rules_to_sample(work: Workspace, requests: int) -> DataFrame | None:
    """The rules of which aliases are drawn again now: rows with `rule`. None if there are none.

    `requests`: those of the round.
    """
    most = max(int(requests * REQUESTS_SHARE) // AGAIN, 1)
    if not requests or not work.store.manifest.layers(ALIASES.name):
        return None
    before_ms = work.now_ms() - int(work.config.update.interval_days * 86_400_000)
    used = lsm.current(work, URL_RULES).where((F.col("state") == ACTIVE) & (F.col("rewritten") > 0))
    last_ms = F.coalesce("sampled_ms", F.lit(0))
    longest = used.where(last_ms <= before_ms).orderBy(last_ms, "rule").limit(most)
    due, count = work.scratch(longest.select("rule"))
    return due if count else None


def draw_again(work: Workspace, due: DataFrame) -> DataFrame:
    """AGAIN aliases of each of these rules that were not compared yet: rows of `aliases`."""
    waiting = lsm.current(work, ALIASES).where("active AND NOT sampled")
    uses = waiting.select("url", F.explode("rules").alias("rule"))
    in_turn = Window.partitionBy("rule").orderBy(F.xxhash64("url", F.lit(work.round)), "url")
    drawn = (
        uses.join(due, on="rule", how="left_semi")
        .withColumn("place", F.row_number().over(in_turn))
        .where(F.col("place") <= AGAIN)
    )
    changes = {"fetched": F.lit(False), "sampled": F.lit(True), "round": F.lit(work.round)}
    return waiting.join(drawn.select("url").distinct(), on="url", how="left_semi").select(
        *[changes.get(name, F.col(name)).alias(name) for name in ALIASES.column_names]
    )


def rules_with_open_samples(work: Workspace, rules: DataFrame, answers: DataFrame) -> DataFrame:
    """Those of `rules` with samples that were not compared yet: rows with `rule`."""
    uses = F.explode("rules").alias("rule")
    samples = [
        layer.where("sampled").select("url", "target", uses).join(rules, on="rule", how="left_semi")
        for layer in lsm.layer_frames(work, ALIASES)
    ]
    sampled, _ = work.scratch(reduce(DataFrame.union, samples))
    active = lsm.rows_for(work, ALIASES, sampled.select("url")).where("active").select("url")
    pages, _ = work.scratch(
        sampled.join(active, on="url", how="left_semi").select(
            "rule", F.explode(F.array("url", "target")).alias("url")
        )
    )
    return (
        pages.join(lsm.rows_for(work, PAGES, pages.select("url")), on="url", how="inner")
        .where("status = 'unfetched'")
        .join(answers.where("outcome <> 'postponed'"), on="url", how="left_anti")
        .select("rule")
        .distinct()
    )
