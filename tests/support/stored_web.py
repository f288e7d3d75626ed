"""A crawl as update, invert and rank leave it, without any of them: what it stored, and links."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gossamer import parse
from gossamer.storage.task_output import ParquetWriter, layers_of
from gossamer.tables import DATASETS
from tests.support.rows import PLAIN
from tests.support.stored_rounds import Fetched, rows_of, store_round

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from gossamer.state.workspace import Workspace


def put_rows(
    work: Workspace,
    dataset: str,
    rows: Sequence[Mapping[str, Any]],
    *,
    files: int = 1,
    group_rows: int = 1_000,
) -> None:
    """Add a layer of rows, dealt to files in turn. What a row does not name is a plain value.

    `group_rows`: rows of a row group.
    """
    schema = DATASETS[dataset].schema
    known = {name: PLAIN[name] for name in schema.names if name in PLAIN}
    written = []
    for number in range(files):
        writer = ParquetWriter(work.root, dataset, work.store.attempt(dataset))
        own = [{**known, **row} for row in rows[number::files]]
        for first in range(0, len(own), group_rows):
            writer.write(rows_of(schema, own[first : first + group_rows]))
        written += writer.close()
    with work.step("test", work.round) as draft:
        draft.append = layers_of(written, work.round)


def put_pages(work: Workspace, states: Mapping[str, str]) -> None:
    put_rows(work, "pages", [{"url": url, "status": status} for url, status in states.items()])


def put_inlinks(work: Workspace, dst: str, sources: Iterable[tuple[str, str]], count: int) -> None:
    named = [{"src": src, "anchor": anchor} for src, anchor in sources]
    put_rows(work, "inlinks", [{"dst": dst, "count": count, "sources": named}])


def store_and_parse(work: Workspace, fetched: Sequence[Fetched], round_: int = 1) -> None:
    store_round(work, fetched, round_=round_)
    parse.run(work)
    put_pages(work, {page.url: "fetched" for page in fetched})
