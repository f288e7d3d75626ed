"""The step `embed`: encode the passages of the pages that the index holds, where they are new.

It follows the index: a page has vectors if it is indexed. What it reads of a page is what `indexed`
names, so it finds changed pages by comparing this with what it did before (`embedded`). A change of
the model or of the number of passages makes all vectors again.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from gossamer.semantic.embedding import EmbedTask, embed_shard
from gossamer.semantic.models import load_model
from gossamer.semantic.vector_parts import group_by_part
from gossamer.state import sorted_rows
from gossamer.state.heartbeats import clear_heartbeats
from gossamer.storage import task_output
from gossamer.storage.store import Layer
from gossamer.tables import DOCUMENTS, EMBEDDED, INDEXED
from gossamer.web.urls import host_column

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame

    from gossamer.index.format.layout import Key
    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import File, StepReport

_COMPARED = ("round", "source", "shard", "index_language")


def run(work: Workspace) -> StepReport:
    clear_heartbeats(work.root, "embed")
    model = load_model(work.config.semantic)
    with work.step("embed", work.round) as draft:
        listed = work.store.listed("vectors")
        parts = group_by_part(listed, model.digest)
        usable = sum(map(len, parts.values())) == len(listed)
        if not usable or work.store.damaged("vectors") or work.store.damaged(EMBEDDED.name):
            parts = {}
        wanted = work.read(INDEXED.name).select(*EMBEDDED.column_names)
        done = work.read(EMBEDDED.name) if parts else work.engine.read([], EMBEDDED.ddl)
        changed, number = work.scratch(_changed_pages(wanted, done))
        draft.counts["changed"] = number
        if number or not parts:
            touched = _touched_parts(changed)
            tasks = _tasks(work, _task_rows(work, changed), parts, touched)
            kind = task_output.YIELD, task_output.YIELD_DDL
            written = list(work.engine.map_tasks(tasks, embed_shard, *kind))
            draft.counts.update(
                {name: n for name, n in task_output.counts_of(written).items() if n}
            )
            new = task_output.layers_of(written, work.round).get("vectors")
            files = [file for key in parts if key not in touched for file in parts[key]]
            files += new.files if new else ()
            draft.replace["vectors"] = (Layer(work.round, tuple(files)),) if files else ()
            draft.replace[EMBEDDED.name] = (work.write(wanted, EMBEDDED.name, work.round),)
    return draft.done


def _changed_pages(wanted: DataFrame, done: DataFrame) -> DataFrame:
    """The pages whose documents differ, with those that are to be encoded, and were (`old_…`)."""
    before = done.select("url", *(F.col(name).alias(f"old_{name}") for name in _COMPARED))
    same = reduce(
        lambda one, other: one & other,
        (F.col(name).eqNullSafe(F.col(f"old_{name}")) for name in _COMPARED),
    )
    return wanted.join(before, on="url", how="full_outer").where(~same)


def _touched_parts(changed: DataFrame) -> set[Key]:
    """The parts that pages come to or leave; at most as many as there are languages and shards."""
    named = [
        changed.select(
            F.col(f"{prefix}shard").alias("shard"),
            F.col(f"{prefix}index_language").alias("index_language"),
        )
        for prefix in ("", "old_")
    ]
    keys = reduce(lambda one, other: one.union(other), named).where("shard IS NOT NULL").distinct()
    return {(row["shard"], row["index_language"]) for row in keys.collect()}


def _task_rows(work: Workspace, changed: DataFrame) -> DataFrame:
    """The input of the tasks: pages with their texts, and those that leave a part, sorted."""
    documents = work.engine.read_some(work.paths("documents"), DOCUMENTS.ddl)
    adds = (
        changed.where("shard IS NOT NULL")
        .select("url", "round", "shard", "index_language", F.lit(True).alias("adds"))
        .join(
            documents.select("url", "round", "host", "title", "main_text"),
            on=["url", "round"],
            how="inner",
        )
        .drop("round")
    )
    stays = F.col("shard").eqNullSafe(F.col("old_shard")) & F.col("index_language").eqNullSafe(
        F.col("old_index_language")
    )
    gone = changed.where(F.col("old_shard").isNotNull() & ~stays).select(
        "url",
        F.col("old_shard").alias("shard"),
        F.col("old_index_language").alias("index_language"),
        F.lit(False).alias("adds"),
        host_column(F.col("url")).alias("host"),
    )
    return (
        adds.unionByName(gone, allowMissingColumns=True)
        .repartition(work.config.index.shards + 1, "shard")
        .sortWithinPartitions("shard", "index_language", "url", "adds")
    )


def _tasks(
    work: Workspace, rows: DataFrame, parts: Mapping[Key, list[File]], touched: set[Key]
) -> list[EmbedTask]:
    attempt = work.store.attempt("vectors")
    known = tuple(file for files in parts.values() for file in files)
    return [
        EmbedTask(
            work.root,
            work.round,
            number,
            tuple(file.path for file in files),
            sum(file.rows for file in files),
            {
                language: tuple(parts.get((shard, language), ()))
                for shard, language in touched
                if shard == number
            },
            known,
            attempt,
            work.config.semantic,
        )
        for number, files in sorted_rows.files_of_parts(
            work.scratch_files(rows, by=["shard"])
        ).items()
    ]
