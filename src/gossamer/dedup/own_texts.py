"""What does a page say that its host does not repeat? Its main text without boilerplate.

The step `boilerplate` finds the lines of a host (dataset `boilerplate`), and describes the
documents of such hosts without them (`own_texts`). Pages are compared by what is read here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from gossamer.state import lsm
from gossamer.tables import BOILERPLATE, DOCUMENTS, OWN_TEXTS
from gossamer.web.lines import HostLines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa
    from pyspark.sql import DataFrame

    from gossamer.state.workspace import Workspace

MAX_HOSTS = 100
"""Hosts whose lines a task remembers."""
FEW = 20
"""Documents that are asked for by their URLs. Fact (Sail 0.7.2): of a filter by so many values, it
asks the statistics of row groups and pages, and leaves out those that have none of them."""


def of_documents(work: Workspace, wanted: DataFrame, *columns: str) -> DataFrame:
    """`wanted` (materialised) with columns of the document with this `url` and `round`.

    Only rows of these rounds are read. A document is in a file of the round that parsed it, which
    may be later than its own. Most are of the last round, whose files are few, so they are looked
    up apart.
    """
    counts = wanted.groupBy("round").agg(F.count("*").alias("number")).collect()
    rounds = {row["round"]: row["number"] for row in counts}
    first, last = min(rounds, default=0), max(rounds, default=0)
    if first == last:
        return _since(work, wanted, first, *columns)
    newest = _since(work, wanted.where(F.col("round") == last), last, *columns)
    older = wanted.where(F.col("round") < last)
    urls = []
    if sum(rounds.values()) - rounds[last] <= FEW:
        urls = [row["url"] for row in older.select("url").collect()]
    return newest.unionByName(_since(work, older, first, *columns, urls=urls))


def _since(
    work: Workspace, wanted: DataFrame, first: int, *columns: str, urls: Sequence[str] = ()
) -> DataFrame:
    """As `of_documents`, with files of this round or later ones. `urls`: those of `wanted`."""
    layers = [each for each in work.store.manifest.layers(DOCUMENTS.name) if each.round >= first]
    files = [file for layer in layers for file in layer.files]
    work.store.check(files)
    paths = [f"{work.root}/{file.path}" for file in files]
    # Many without a filter: the engine takes filtered rows for a fifth of all, which may be fewer
    # than the wanted ones, and would then hold all texts in its hash table.
    rows = work.engine.read_some(paths, DOCUMENTS.ddl).select("url", "round", *columns)
    if urls:
        rows = rows.where(F.col("url").isin(*urls))
    return wanted.join(rows, on=["url", "round"], how="inner")


def repeated_texts(work: Workspace) -> DataFrame:
    """The rows of `own_texts` of documents with lines that their host repeats."""
    return lsm.current(work, OWN_TEXTS).where("is_repeated")


def own_sketches(work: Workspace, wanted: DataFrame) -> DataFrame:
    """`text` of `wanted` and the document's `sketch`; null if too few of its words are its own."""
    documents = of_documents(work, wanted, "sketch")
    if not work.store.manifest.layers(OWN_TEXTS.name):
        return documents.select("text", "sketch")
    own = repeated_texts(work).select(
        "url", "round", "is_repeated", F.col("sketch").alias("own_sketch")
    )
    ours = F.when(F.col("is_repeated"), F.col("own_sketch")).otherwise(F.col("sketch"))
    return own.join(documents, on=["url", "round"], how="right").select(
        "text", ours.alias("sketch")
    )


def with_lines(work: Workspace, wanted: DataFrame) -> DataFrame:
    """`wanted` with the document's `host`, `main_text` and, null if there are none, host's `lines`.

    `OwnTexts` reads them.
    """
    texts = of_documents(work, wanted, "host", "main_text")
    if not work.store.manifest.layers(BOILERPLATE.name):
        return texts.withColumn("lines", F.lit(None).cast("array<bigint>"))
    lines = lsm.current(work, BOILERPLATE).select("host", "lines")
    return lines.join(texts, on="host", how="right")


class OwnTexts:
    """Divides main texts. The lines of a host are read once as long as there are few hosts."""

    def __init__(self) -> None:
        self._hosts: dict[str, HostLines] = {}

    def divided(self, batch: pa.RecordBatch) -> Iterator[tuple[str, str]]:
        """Of each row of `with_lines`, its own text, and the lines that its host repeats."""
        hosts, texts = (batch.column(name).to_pylist() for name in ("host", "main_text"))
        for host, text, lines in zip(hosts, texts, batch.column("lines"), strict=True):
            held = self._hosts.get(host)
            if held is None:
                if len(self._hosts) >= MAX_HOSTS:
                    self._hosts.clear()
                held = self._hosts[host] = HostLines(lines.as_py())
            yield held.divided(text or "")
