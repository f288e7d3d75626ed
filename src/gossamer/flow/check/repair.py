"""Mends what a check finds, in passes that end in a commit each.

  1. `drop_damaged`: where one of the two files of a listing is damaged, it is written again. If
     both are, the files that it names are lost, except archive files that a response names. A
     damaged WARC file is kept as it is, for its whole records. Datasets that a step of the harvest
     writes are emptied, with whatever else that step writes, but for the changes of the index,
     which programs follow. Of any other dataset, the damaged files are dropped, with their rows.
  2. `reconcile`: bodies that are lost are marked as such. Pages whose body or response is lost are
     due, without conditions. Pages whose row is lost get one from their response, and are due.
  3. If rows are lost that follow from the archive, all stored pages are parsed again; the targets
     of their links become known pages. Then comes a harvest.

Each pass looks at the crawl anew, and the history says whether the last one is needed, and whether
a repair was interrupted (`repair_history.py`). So it goes on when it is repeated.
"""

from __future__ import annotations

from collections import Counter
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from msgspec import structs
from pyspark.sql import Window
from pyspark.sql import functions as F

from gossamer.flow import rounds
from gossamer.flow.check.archived_bodies import unreadable
from gossamer.flow.check.dataset_agreement import (
    answered_without_page,
    contradictions,
    requested_without_response,
    stored_without_response,
)
from gossamer.flow.check.index_parts import differing
from gossamer.flow.check.repair_history import STEP, lacks_parsing
from gossamer.links.graph.stored_graph import is_imported
from gossamer.schedule.due import due_counts
from gossamer.schedule.focus import fit_prediction
from gossamer.schedule.order import opic
from gossamer.state import lsm
from gossamer.storage.names import HISTORY
from gossamer.storage.store import File, Layer
from gossamer.storage.warc.cdxj import index_of
from gossamer.tables import (
    CHANGES,
    COUNTED,
    DATASETS,
    DOCUMENTS,
    DUE_TIMES,
    FORGOTTEN_CHANGES,
    GRAPH,
    INVERTED,
    JUDGED,
    LINKS,
    PAGES,
    RESPONSES,
    VIRTUAL_PAGE,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pyspark.sql import Column, DataFrame

    from gossamer.state.workspace import Draft, Workspace
    from gossamer.storage.store import StepReport

RECOMPUTED = frozenset(rounds.HARVEST) | {rounds.OPTIONAL, "graph.centrality", "postings"}
"""Steps that compute their datasets from others, and can do so from nothing."""
FOLLOWED = frozenset((DOCUMENTS.name, LINKS.name, RESPONSES.name))
"""Datasets of which steps read only what is new, so that they would not see what is gone."""
RECORDS = (INVERTED.name, COUNTED.name, JUDGED.name)
"""What these steps know of what they have read. Without it, they read everything."""
ANNOUNCED = frozenset((CHANGES.name, FORGOTTEN_CHANGES.name))
"""What programs were told of the index. It holds whatever becomes of the index, and the other way
round: `index` tells them what differs."""
SEARCHED = ("dedup", "index")
"""Steps whose datasets must agree with each other."""


def repair(
    work: Workspace, announce: Callable[[str, int], None] = lambda _step, _round: None
) -> Iterator[StepReport]:
    """Mend a crawl, whose lock the caller holds. Yields the report of each step."""
    with work.step(STEP, work.round) as draft:
        drop_damaged(work, draft)
    yield draft.done
    with work.step(STEP, work.round) as draft:
        reconcile(work, draft)
    yield draft.done
    yield from rounds.finish(work, announce)
    if lacks_parsing(work.store.manifest):
        yield rounds.reparse(work, announce)
    yield from rounds.harvest(work, announce)


def drop_damaged(work: Workspace, draft: Draft) -> None:
    """Draft the datasets without their damaged files, and count these by dataset."""
    lost = mend_listings(work, draft)
    for name, dataset in DATASETS.items():
        checked = work.store.verify(work.store.listed(name))
        wrong = {file for file, damage in checked if damage is not None}
        if not wrong and name not in lost:
            continue
        draft.counts[f"damaged_{name}"] = len(wrong) + lost.get(name, 0)
        if dataset.writer in RECOMPUTED:
            written = {each.name for each in DATASETS.values() if each.writer == dataset.writer}
            emptied = written & ANNOUNCED if name in ANNOUNCED else written - ANNOUNCED
            draft.replace |= dict.fromkeys(emptied, ())
            continue
        kept = {file: mend_file(work, file) for file in wrong}
        layers = (
            structs.replace(
                layer, files=tuple(filter(None, (kept.get(file, file) for file in layer.files)))
            )
            for layer in work.store.manifest.layers(name)
        )
        by_round = "round" in dataset.key  # such a round was fetched, even if nothing is left of it
        draft.replace[name] = tuple(layer for layer in layers if layer.files or by_round)
        if name == "warc" and name in lost:
            draft.replace[name] = (*found_again(work), *draft.replace[name])
    if not FOLLOWED.isdisjoint(draft.replace):
        draft.replace |= dict.fromkeys(RECORDS, ())
        if not is_imported(work):
            draft.replace[GRAPH.name] = ()
    if PAGES.name in draft.replace:
        draft.replace[DUE_TIMES.name] = ()  # the next step that writes pages counts all of them


def mend_listings(work: Workspace, draft: Draft) -> dict[str, int]:
    """Write damaged listings again; return by dataset how many files only lost ones named."""
    listings = work.store.mend_listings()
    reports = listings.lost.pop(HISTORY, ())
    for name, count in (
        ("listings_restored", listings.restored),
        ("listings_lost", len(reports) + sum(map(len, listings.lost.values()))),
        ("reports_lost", sum(each.entries for each in reports)),
    ):
        if count:
            draft.counts[name] = count
    return {name: sum(each.files for each in lost) for name, lost in listings.lost.items()}


def found_again(work: Workspace) -> Iterator[Layer]:
    """Layers of archive files that are not listed any more, but named by a response.

    Their records verify themselves.
    """
    listed = {file.path for file in work.store.listed("warc")}
    paths = [f"{work.root}/{file.path}" for file in work.store.whole(RESPONSES.name)]
    named = work.engine.read(paths, RESPONSES.ddl).where("warc_file IS NOT NULL")
    files = named.groupBy("warc_file").agg(F.max("round"), F.count("*")).orderBy("warc_file")
    for path, round_, rows in files.collect():
        if path not in listed:
            both = (File(path, rows, 0), File(path.replace(".warc.gz", ".cdxj"), rows, 0))
            if found := tuple(filter(None, (mend_file(work, file) for file in both))):
                yield Layer(round_, found, version=1, since=1)  # older than all others


def mend_file(work: Workspace, file: File) -> File | None:
    """What takes the place of a damaged file: of WARC, itself, or its index written again."""
    path = PurePosixPath(file.path)
    backend = work.store.backend
    try:
        if path.suffix == ".cdxj":
            index = index_of(f"{work.root}/{path.with_suffix('.warc.gz')}")
            path = PurePosixPath(work.store.attempt("warc"), path.name)
            backend.create(str(path), index)
        elif path.suffix != ".gz":
            return None
        size, checksum = backend.size(str(path)), backend.checksum(str(path))
    except OSError:
        return None
    return structs.replace(file, path=str(path), bytes=size, xxh3=checksum)


def reconcile(work: Workspace, draft: Draft) -> None:
    """Draft datasets that agree with each other and with the archive."""
    found = Counter[str]()
    for finding in (*contradictions(work), *differing(work)):
        found[finding.dataset] += finding.rows
    draft.counts["documents_missing"] = found["documents"]
    if any(DATASETS[name].writer in SEARCHED for name in found):
        written = {each.name for each in DATASETS.values() if each.writer in SEARCHED}
        draft.replace |= dict.fromkeys(written - ANNOUNCED, ())
    lost, draft.counts["bodies_lost"] = work.scratch(unreadable(work))
    if draft.counts["bodies_lost"]:
        layers, stack = (
            work.store.manifest.layers(RESPONSES.name),
            lsm.layer_frames(work, RESPONSES),
        )
        draft.replace[RESPONSES.name] = tuple(
            structs.replace(
                layer, files=work.write(drop_lost_places(rows, lost), RESPONSES.name, 0).files
            )
            for layer, rows in zip(layers, stack, strict=True)
        )
    rows, count = work.scratch(due_again(work, lost).unionByName(known_again(work)))
    draft.counts["pages_due"] = count
    if count:
        draft.replace[PAGES.name] = lsm.append_layer(work, PAGES, rows, count, work.round)
        draft.replace[DUE_TIMES.name] = due_counts.recount_due(work, rows)
        draft.replace[VIRTUAL_PAGE.name] = opic.write_opic(
            work, opic.recount_cash(work, rows), work.round
        )


def drop_lost_places(answers: DataFrame, lost: DataFrame) -> DataFrame:
    """Responses of which the `lost` ones no longer name a place in the archive."""
    marked = lost.select("round", "url", F.lit(True).alias("lost"))
    joined = answers.join(marked, on=["round", "url"], how="left")
    places = {
        name: F.when(F.col("lost").isNull(), F.col(name)) for name in ("warc_file", "warc_offset")
    }
    return joined.select(*_with(RESPONSES.column_names, places))


def due_again(work: Workspace, lost: DataFrame) -> DataFrame:
    """Rows of `pages` for the pages whose last stored body, or the response with it, is lost."""
    stored = work.read(RESPONSES.name).where("outcome = 'ok'")
    last = stored.groupBy("url").agg(F.max("round").alias("round"))
    without_body = last.join(lost, on=["round", "url"], how="left_semi").select("url")
    unanswered = requested_without_response(work).union(stored_without_response(work))
    urls = without_body.union(unanswered).distinct()
    columns = {"stored_ms": F.lit(None).cast("long")} | unconditional()
    return lsm.rows_for(work, PAGES, urls).select(*_with(PAGES.column_names, columns))


def known_again(work: Workspace) -> DataFrame:
    """Rows of `pages` for the pages that have a response, but no row."""
    answers = work.read(RESPONSES.name)
    unknown = answers.join(answered_without_page(work).distinct(), on="url", how="left_semi")
    of_page = Window.partitionBy("url")
    stored_ms = F.max(F.when(F.col("outcome") == "ok", F.col("fetched_ms"))).over(of_page)
    answered = F.col("outcome").isin("ok", "unchanged")
    columns = {
        "url_hash": F.lit(None).cast("long"),
        "status": F.when(answered, "fetched").otherwise("unfetched"),
        "source": F.lit("link"),
        "inlinks": F.lit(0).cast("long"),
        "cash": F.lit(-opic.virtual_page(work).given).cast("long"),
        "history": F.lit(0).cast("long"),
        "found_ms": F.col("fetched_ms"),
        "fetches": answered.cast("int"),
        "stored_ms": F.col("stored_ms"),
        "changes": F.lit(0.0),
        "watched_days": F.lit(0.0),
        "rate": F.lit(None).cast("double"),
        "listed_ms": F.lit(None).cast("long"),
        "dated_ms": F.lit(None).cast("long"),
        "signals": F.lit(0),
        "doubt": F.lit(0.0),
        "recall": F.lit(None).cast("double"),
        "main_text": F.lit(None).cast("long"),
        "kind": F.lit(None).cast("string"),
        "finds": F.lit(0.0),
        "finding_days": F.lit(0.0),
        "date_rate": F.lit(0.0),
        "fit": F.lit(None).cast("boolean"),
        "spelling": F.lit(None).cast("string"),
        **{name: F.lit(None).cast("long") for name in fit_prediction.COLUMNS},
        "interval_s": F.lit(int(work.config.update.interval_days * 86_400)).cast("long"),
    }
    age = F.row_number().over(of_page.orderBy(F.desc("round")))
    rows = unknown.withColumns({"age": age, "stored_ms": stored_ms}).where("age = 1")
    return rows.select(*_with(PAGES.column_names, columns | unconditional()))


def unconditional() -> dict[str, Column]:
    """Columns of a page that is due, and of whose last answer nothing is known."""
    return {
        "failures": F.lit(0),
        "fetched_ms": F.lit(None).cast("long"),
        "next_fetch_ms": F.lit(0).cast("long"),
        "etag": F.lit(None).cast("string"),
        "last_modified": F.lit(None).cast("string"),
        "digest": F.lit(None).cast("string"),
        "headers": F.lit(None).cast("string"),
    }


def _with(names: Sequence[str], columns: Mapping[str, Column]) -> list[Column]:
    return [columns.get(name, F.col(name)).alias(name) for name in names]
