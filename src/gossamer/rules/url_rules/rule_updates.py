"""What `update` does about rules at the end of a round, and what `parse` reads of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pyspark.sql import Window
from pyspark.sql import functions as F

from gossamer.rules.url_rules import alias_samples, aliases, fingerprints, rule_states, verdicts
from gossamer.rules.url_rules.forms import OWNED, WHOLE_HOST
from gossamer.rules.url_rules.rewriting import COLUMNS, MAX_RULES
from gossamer.rules.url_rules.rule_states import ACTIVE, CONTRADICTED, IN_USE, LEARNING, TRIAL
from gossamer.state import lsm
from gossamer.tables import ALIASES, RESPONSES, REWRITTEN, URL_FORMS, URL_RULES
from gossamer.web.urls import host_column

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from gossamer.rules.url_rules.aliases import AliasChanges
    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import Layer


class Lessons(NamedTuple):
    """What a round has taught."""

    alias_changes: AliasChanges | None
    """What changes for pages; None if nothing does."""
    replace: dict[str, tuple[Layer, ...]]
    """Layers of datasets, for the step's draft."""
    counts: dict[str, int]


def write_active_rules(work: Workspace, changed: DataFrame | None = None) -> tuple[str, ...]:
    """Write the rules in use to a scratch file for `rewriter_of`; return its path.

    None is written if there is no rule. `changed` are rows that are not stored yet. A section
    without a rule of its own gets a row of its host's rule, with the evidence of the section.
    """
    newer = [] if changed is None else [changed]
    if not newer and not work.store.manifest.layers(URL_RULES.name):
        return ()
    rules = lsm.newest_rows([*lsm.layer_frames(work, URL_RULES), *newer], "rule")
    place = ["host", "kind", "name", "target"]
    is_whole = F.col("section") == WHOLE_HOST
    of_hosts = rules.where(is_whole & F.col("state").isin(LEARNING, ACTIVE)).select(
        *place,
        F.col("supports").alias("of_host"),
        F.when(F.col("state") == ACTIVE, F.col("rule")).alias("host_rule"),
    )
    is_part = ~is_whole & ~F.col("section").rlike(f"^{OWNED}")
    is_used = F.col("state").isin(*IN_USE)
    relies = is_part & (F.col("state") == LEARNING) & F.col("host_rule").isNotNull()
    confirmed = F.greatest("supports", F.coalesce("of_host", F.lit(0)))
    supports = F.when(is_whole, 0).when(is_part & is_used, confirmed).otherwise(F.col("supports"))
    missing = work.config.url_rules.evidence - F.length("contents") / fingerprints.BYTES
    held = (
        rules.join(of_hosts, on=place, how="left")
        .where(is_used | relies)
        .select(
            F.when(relies, F.col("host_rule")).otherwise(F.col("rule")).alias("rule"),
            *COLUMNS[1:],
            supports.cast("long").alias("supports"),
            F.when(F.col("state") == TRIAL, missing).otherwise(0).cast("long").alias("missing"),
            F.col("supports").alias("evidence"),
        )
    )
    of_host = Window.partitionBy("host").orderBy(F.desc("evidence"), "rule")
    # The best rule of each host comes before the second of any: a host may have a thousand.
    best = Window.partitionBy(F.lit(0)).orderBy("in_host", F.desc("evidence"), "rule")
    held = held.withColumn("in_host", F.row_number().over(of_host))
    held = held.withColumn("place", F.row_number().over(best)).where(F.col("place") <= MAX_RULES)
    kept = held.drop("place", "in_host", "evidence")
    return tuple(f"{work.root}/{file.path}" for file in work.scratch_files(kept))


def write_contradicted_rules(work: Workspace, pages: DataFrame) -> tuple[str, ...]:
    """Write the contradicted rules for the hosts of pages to a scratch file; return its path.

    Those for `www` have the host without it.
    """
    if not work.store.manifest.layers(URL_RULES.name):
        return ()
    host = host_column(F.col("url")).alias("host")
    hosts = pages.select(host).distinct()
    hosts = hosts.union(hosts.select(F.regexp_replace("host", "^www[.]", "").alias("host")))
    cut = [
        layer.join(hosts, on="host", how="left_semi") for layer in lsm.layer_frames(work, URL_RULES)
    ]
    known = lsm.newest_rows(cut, "rule").where(
        (F.col("state") == CONTRADICTED) & (F.col("section") != WHOLE_HOST)
    )
    files = work.scratch_files(known.select("rule").limit(MAX_RULES))
    return tuple(f"{work.root}/{file.path}" for file in files)


def learn_from_round(work: Workspace, answers: DataFrame, met: DataFrame, round_: int) -> Lessons:
    """Learn from a round that was fetched and parsed, and apply what changes.

    `answers` are its responses, `met` the pages that its links lead to (as
    `found_links.link_targets` returns them).

    Rules that the user has changed since the last round are applied, too.
    """
    replace: dict[str, tuple[Layer, ...]] = {}
    rules = write_active_rules(work)
    changed, count = work.engine.read([], URL_RULES.ddl), 0
    if work.config.url_rules.learn:
        pages = verdicts.fetched_pages(work, answers, round_)
        new, rows = verdicts.forms_of(work, pages, rules, write_contradicted_rules(work, pages))
        pairs = verdicts.pairs_for_verdicts(work, new, answers)
        voted, found = verdicts.find_verdicts(work, pairs, answers, rules)
        if found:
            changed, count = rule_states.learn_rules(work, voted, round_)
        if rows:
            one = Window.partitionBy("key").orderBy("url")
            single = new.withColumn("place", F.row_number().over(one)).where("place = 1")
            single, rows = work.scratch(single.drop("place"))
            replace[URL_FORMS.name] = lsm.append_layer(work, URL_FORMS, single, rows, round_)
    changed, count = add_ended_trials(work, changed, count, answers)
    requests = sum(layer.rows for layer in work.store.manifest.layers(RESPONSES.name, round_))
    due = None
    if work.config.url_rules.learn:
        due = alias_samples.rules_to_sample(work, requests)
    after = apply_rules(work, changed, count, answers, met, due)
    return after._replace(replace=replace | after.replace)


def add_ended_trials(
    work: Workspace, changed: DataFrame, count: int, answers: DataFrame
) -> tuple[DataFrame, int]:
    """Add the rules that are still on trial although all of their samples were fetched."""
    if not work.store.manifest.layers(URL_RULES.name):
        return changed, count
    trials, number = work.scratch(lsm.current(work, URL_RULES).where(F.col("state") == TRIAL))
    if not number:
        return changed, count
    now = lsm.newest_rows([trials, changed.join(trials, on="rule", how="left_semi")], "rule")
    ended = (
        now.where(F.col("state") == TRIAL)
        .join(
            alias_samples.rules_with_open_samples(work, trials, answers), on="rule", how="left_anti"
        )
        .withColumns({"state": F.lit(LEARNING), "settled": F.lit(False)})
    )
    return work.scratch(lsm.newest_rows([changed, ended.select(*URL_RULES.column_names)], "rule"))


def apply_rules(
    work: Workspace,
    changed: DataFrame,
    count: int,
    answers: DataFrame,
    met: DataFrame,
    due: DataFrame | None = None,
) -> Lessons:
    """Apply changed rows of `url_rules`, of which there are about `count`.

    `due`: the rules of which aliases are drawn again (`alias_samples.rules_to_sample`).
    """
    replace: dict[str, tuple[Layer, ...]] = {}
    counts: dict[str, int] = {}
    round_ = work.round
    alias_changes, changed, count = settle_rules(work, changed, count, answers, met, due)
    if alias_changes is not None:
        replace[ALIASES.name] = lsm.append_layer(
            work, ALIASES, alias_changes.aliases, alias_changes.alias_count, round_
        )
    if count:
        replace[URL_RULES.name] = lsm.append_layer(work, URL_RULES, changed, count, round_)
        counts["url_rules"] = changed.where(F.col("state") == ACTIVE).count()
    if work.store.manifest.layers(REWRITTEN.name):
        replace[REWRITTEN.name] = ()
    return Lessons(alias_changes, replace, counts)


def settle_rules(
    work: Workspace,
    changed: DataFrame,
    count: int,
    answers: DataFrame,
    met: DataFrame,
    due: DataFrame | None,
) -> tuple[AliasChanges | None, DataFrame, int]:
    """What follows for pages from rules with changes; and the rows of these rules, settled.

    None if there are neither unsettled rules nor aliases.
    """
    layers = work.store.manifest.layers
    known = layers(ALIASES.name) or layers(REWRITTEN.name)
    if not known and not (count and changed.where("NOT settled").limit(1).count()):
        return None, changed, count
    alias_changes = aliases.find_alias_changes(
        work, changed, answers, met, write_active_rules(work, changed), due
    )
    if alias_changes.counts is None:
        return alias_changes, changed.withColumn("settled", F.lit(True)), count
    counts, _ = work.scratch(alias_changes.counts)
    touched = lsm.newest_rows(
        [lsm.rows_for(work, URL_RULES, counts.select("rule")), changed], "rule"
    )
    more = {
        "rewritten": F.col("rewritten") + F.coalesce("more_rewritten", F.lit(0)),
        "sampled": F.col("sampled") + F.coalesce("more_sampled", F.lit(0)),
        "sampled_ms": F.when(F.col("was_due"), work.now_ms()).otherwise(
            F.coalesce("sampled_ms", F.lit(work.now_ms()))
        ),
        "settled": F.lit(True),
    }
    rows = touched.join(counts, on="rule", how="left")
    rows, count = work.scratch(
        rows.select(*[more.get(n, F.col(n)).alias(n) for n in URL_RULES.column_names])
    )
    return alias_changes, rows, count
