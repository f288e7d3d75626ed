"""From evidence to rules: when does a rule become active, and when is it dropped?

A rule belongs to a host and a section of it, the first folder of the path, because a parameter that
changes nothing in one part of a site may matter in another. It becomes active when

  * `url_rules.evidence` groups of pages have agreed, with different contents, and none differed. Of
    n agreements without exception follows, with 95 % confidence, that at most 3/n of all groups
    differ (the rule of three; see `rules/confidence.py`). With 20, that is 15 %.
  * Contents are different if the comparison would tell them apart. A site that answers the same for
    every URL, or with a page about the missing page, has one content, and teaches nothing.

Before that, a section goes on trial: from one agreement in TRIAL_SHARE of those that are needed,
its rule is used, but only to delay pages. As many of them are fetched as samples as are needed to
decide (see `aliases`). If these do not make the rule active, all others are fetched as well. So a
site whose URLs lead to the same pages shows it in a round that fetches hardly any page twice.

The parts of a site are often made by one program. So a section in which a third of that many groups
agreed may also rely on the evidence of the whole host, as long as nothing contradicts it in any
section.

A rule for a whole host, sections included that nobody has seen yet, needs twice as many groups,
from MIN_SECTIONS sections, and no contradiction in any of them. In a section without evidence of
its own, most of what it rewrites is sampled (alias_samples.py). Sections with an owner of their own
(`forms.is_owned`) neither support it nor obey it.

A single contradiction drops a rule, for good: only the user can enable it again. So does evidence
that speaks for both directions of a kind that has two (`forms.TARGETS`). Without such evidence, the
first direction is taken. A rule that the user has disabled goes on collecting evidence.

A host of a seed is never rewritten to another one, as the user has asked for it.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import Window
from pyspark.sql import functions as F

from gossamer.rules.url_rules import fingerprints, forms
from gossamer.state import lsm
from gossamer.tables import PAGES, URL_RULES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame

    from gossamer.state.workspace import Workspace

LEARNING, TRIAL, ACTIVE, CONTRADICTED, DISABLED = (
    *("learning", "trial", "active", "contradicted", "disabled"),
)
IN_USE = (ACTIVE, TRIAL)
"""States in which a rule rewrites URLs."""
MIN_SECTIONS = 8
TRIAL_SHARE = 5
"""A section goes on trial with one part in this many of the evidence."""
MIN_TRIAL = 3
"""Agreements without which no section goes on trial, however little evidence is asked for."""
OWN_SHARE = 3
"""A section needs one part in this many of the evidence, if the whole host has all of it."""
HOST_FACTOR = 2
"""A rule for a whole host needs this many times the evidence of one for a section."""
MAX_RULES_PER_HOST = 1_000
"""Rules kept per host, active or not. A hostile site can have any number of parameters."""
MAX_EXAMPLES = 3
"""Pairs of URLs kept as examples, and as counterexamples."""


def summarize_verdicts(
    work: Workspace, verdicts: DataFrame, evidence: int
) -> tuple[DataFrame, int]:
    """What a round says about each rule, and the number of rules; each group of pages counts once.

    Of the groups that agree, the contents and URLs of some are kept, enough to find `evidence`
    different contents among them.
    """
    groups = verdicts.groupBy("rule", "key").agg(
        *(F.min(name).alias(name) for name in ("host", "section", "kind", "name")),
        F.min(F.col("agrees").cast("int")).alias("agrees"),
        F.max((F.col("vote") > 0).cast("int")).alias("forward"),
        F.max((F.col("vote") < 0).cast("int")).alias("backward"),
        F.min_by("url", F.col("url")).alias("url"),
        F.min_by("other", F.col("url")).alias("other"),
        F.min_by("content", F.col("url")).alias("content"),
    )
    placed, _ = work.scratch(
        groups.withColumn(
            "place", F.row_number().over(Window.partitionBy("rule", "agrees").orderBy("key"))
        )
    )
    agreed, differed = F.col("agrees") == 1, F.col("agrees") == 0
    few = F.col("place") <= 4 * HOST_FACTOR * evidence
    shown = differed & (F.col("place") <= MAX_EXAMPLES)
    content = F.struct("key", "content", "url", "other")
    pair = F.struct("key", "url", "other")
    return work.scratch(
        placed.groupBy("rule").agg(
            *(F.min(name).alias(name) for name in ("host", "section", "kind", "name")),
            F.count_if(agreed).alias("new_supports"),
            F.count_if(differed).alias("new_contradictions"),
            F.coalesce(F.sum("forward"), F.lit(0)).alias("new_forward"),
            F.coalesce(F.sum("backward"), F.lit(0)).alias("new_backward"),
            F.collect_list(F.when(agreed & few, content)).alias("agreeing"),
            F.collect_list(F.when(shown, pair)).alias("differing"),
        )
    )


def learn_rules(work: Workspace, verdicts: DataFrame, round_: int) -> tuple[DataFrame, int]:
    """The rows of `url_rules` that the verdicts of a round change or add, and their number.

    There must be verdicts.
    """
    evidence = work.config.url_rules.evidence
    found, _ = summarize_verdicts(work, verdicts, evidence)
    known = lsm.rows_for(work, URL_RULES, found.select("rule"))
    before = known.drop("host", "section", "kind", "name")
    of_known = known.select("rule", *(F.col(n).alias(f"k_{n}") for n in _PLACE))
    joined = (
        found.join(before, on="rule", how="left")
        .join(of_known, on="rule", how="left")
        .select(
            *(F.coalesce(n, f"k_{n}").alias(n) for n in _PLACE),
            *(n for n in (*found.columns, *before.columns[1:]) if n not in _PLACE),
        )
        .where("host IS NOT NULL")
    )
    rows, _ = work.map_rows(joined, partial(_merge_batches, evidence, round_), URL_RULES.ddl)
    rows, count = work.scratch(drop_excess_rules(work, activate_by_host(rows, evidence)))
    return keep_hosts_of_seeds(work, rows, count)


_PLACE = ("host", "section", "kind", "name")


def activate_by_host(rows: DataFrame, evidence: int) -> DataFrame:
    """Let rules of sections become active that rely on the evidence of the whole host."""
    contents = F.length("contents") / fingerprints.BYTES
    hosts = rows.where(
        (F.col("section") == forms.WHOLE_HOST)
        & F.col("state").isin(LEARNING, ACTIVE)
        & (contents >= evidence)
    ).select("host", "kind", "name", F.col("target").alias("of_host"))
    relies = (
        F.col("state").isin(LEARNING, TRIAL)
        & (F.col("target") == F.col("of_host"))
        & (contents >= math.ceil(evidence / OWN_SHARE))
        & (F.col("section") != forms.WHOLE_HOST)
        & ~F.col("section").rlike(f"^{forms.OWNED}")
    )
    relies = F.coalesce(relies, F.lit(False))
    changes = {
        "settled": F.col("settled") & ~(relies & (F.col("state") == LEARNING)),
        "state": F.when(relies, ACTIVE).otherwise(F.col("state")),
    }
    return rows.join(hosts, on=["host", "kind", "name"], how="left").select(
        *[changes.get(n, F.col(n)).alias(n) for n in URL_RULES.column_names]
    )


def drop_excess_rules(work: Workspace, rows: DataFrame) -> DataFrame:
    """Without new rules that would exceed the limit of their host."""
    hosts = rows.select("host").distinct()
    cut = [
        layer.join(hosts, on="host", how="left_semi") for layer in lsm.layer_frames(work, URL_RULES)
    ]
    known = lsm.newest_rows(cut, "rule").select("rule", "host", F.lit(0).alias("late"))
    late = rows.select("rule", "host", "section", "supports").join(
        known.select("rule"), on="rule", how="left_anti"
    )
    whole = (F.col("section") != forms.WHOLE_HOST).cast("int")
    best = Window.partitionBy("host").orderBy(whole, F.desc("supports"), "rule")
    held = known.groupBy("host").agg(F.count("*").alias("held"))
    refused = (
        late.withColumn("place", F.row_number().over(best))
        .join(held, on="host", how="left")
        .where(F.col("place") + F.coalesce("held", F.lit(0)) > MAX_RULES_PER_HOST)
        .select("rule")
    )
    return rows.join(refused, on="rule", how="left_anti")


def keep_hosts_of_seeds(work: Workspace, rows: DataFrame, count: int) -> tuple[DataFrame, int]:
    """Let no rule become active that leads from the host of a seed to another host."""
    moving = rows.where(
        F.col("kind").isin(forms.WWW, forms.HOST) & F.col("state").isin(*IN_USE) & ~F.col("settled")
    )
    if not moving.limit(1).count():
        return rows, count
    seeds = lsm.current(work, PAGES).where("source = 'seed'").select("host").distinct()
    away = F.when(
        (F.col("kind") == forms.WWW) & (F.col("target") == "without"),
        F.concat(F.lit("www."), F.col("host")),
    ).otherwise(F.col("host"))
    refused = moving.select("rule", away.alias("host")).join(seeds, on="host", how="left_semi")
    refused = refused.select("rule", F.lit(True).alias("refused"))
    state = F.when(F.coalesce("refused", F.lit(False)), LEARNING).otherwise(F.col("state"))
    return work.scratch(
        rows.join(refused, on="rule", how="left")
        .withColumn("settled", F.col("settled") | F.coalesce("refused", F.lit(False)))
        .withColumn("state", state)
        .select(*URL_RULES.column_names)
    )


def _merge_batches(
    evidence: int, round_: int, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        rows = [merge_evidence(row, evidence, round_) for row in batch.to_pylist()]
        yield pa.RecordBatch.from_pylist(rows, schema=URL_RULES.schema)


def merge_evidence(row: dict[str, Any], evidence: int, round_: int) -> dict[str, Any]:
    """Return the row of a rule after a round: `row` has its old columns (or null), and the summary.

    A rule is no longer settled if it came into use or went out of it.
    """
    is_whole = row["section"] == forms.WHOLE_HOST
    needed = evidence * (HOST_FACTOR if is_whole else 1)
    agreeing, differing = (
        sorted(row[name] or (), key=lambda group: int(group["key"]))
        for name in ("agreeing", "differing")
    )
    known = _split_contents(row["contents"] or b"")
    contents = _add_contents(known, agreeing, needed)
    sections = set(row["sections"] or ())
    if is_whole:
        sections |= {forms.section_of(group["other"]) for group in agreeing}
    counts = {
        name: (row[name] or 0) + row[f"new_{name}"]
        for name in ("supports", "contradictions", "forward", "backward")
    }
    enough = len(contents) >= needed and (not is_whole or len(sections) >= MIN_SECTIONS)
    before = row["state"] or LEARNING
    state, target = decide_state(before, row["kind"], row["target"], counts, enough=enough)
    if before == state == LEARNING and not is_whole:
        state = TRIAL if len(known) < _trial_contents(evidence) <= len(contents) else LEARNING
    is_settled = row["settled"] is not False and (before in IN_USE) == (state in IN_USE)
    return (
        {name: row.get(name) for name in URL_RULES.column_names}
        | counts
        | {
            "state": state,
            "target": target,
            "sections": sorted(sections)[:MIN_SECTIONS],
            "contents": b"".join(contents),
            "examples": _add_examples(row["examples"], agreeing),
            "counterexamples": _add_examples(row["counterexamples"], differing),
            "rewritten": row["rewritten"] or 0,
            "sampled": row["sampled"] or 0,
            "settled": is_settled,
            "first_round": row["first_round"] or round_,
            "last_round": round_,
        }
    )


def _split_contents(stored: bytes) -> list[bytes]:
    """Split the column `contents` into fingerprints."""
    size = fingerprints.BYTES
    return [stored[at : at + size] for at in range(0, len(stored), size)]


def _add_contents(known: list[bytes], agreeing: list[dict[str, Any]], most: int) -> list[bytes]:
    """Add the contents of groups that agree, unless the comparison takes them for known ones."""
    new = [group["content"] for group in agreeing if group["content"] is not None]
    return fingerprints.distinct_contents(known + new, most)


def _trial_contents(evidence: int) -> int:
    """Return with how many different contents a section goes on trial."""
    return max(math.ceil(evidence / TRIAL_SHARE), MIN_TRIAL)


def decide_state(
    state: str, kind: str, target: str | None, counts: dict[str, int], *, enough: bool
) -> tuple[str, str]:
    """Return the state and the direction of a rule with these counts of pairs.

    `enough`: whether the evidence makes it active if nothing contradicts it.
    """
    first, other = forms.TARGETS.get(kind, ("", ""))
    towards = other if counts["backward"] > counts["forward"] else first
    mixed = bool(counts["backward"] and (counts["forward"] or not other))
    turned = state in IN_USE and target != towards
    if state == DISABLED:
        return DISABLED, target or towards
    if state == CONTRADICTED or counts["contradictions"] or mixed or (turned and state == ACTIVE):
        return CONTRADICTED, target or towards
    if state == ACTIVE or (enough and not turned):
        return ACTIVE, towards
    return LEARNING if turned else state, towards


def _add_examples(old: list[str] | None, new: list[dict[str, Any]]) -> list[str]:
    pairs = [url for each in new for url in (each["url"], each["other"])]
    return [*(old or ()), *pairs][: 2 * MAX_EXAMPLES]
