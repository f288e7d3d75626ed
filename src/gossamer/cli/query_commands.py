"""Commands that read a crawl: search, status, export."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO, cast

import typer

from gossamer.cli.arguments import AsJson, CrawlFolder
from gossamer.cli.terminal import IN_JSON, SHOWN, Screen, echo_json

if TYPE_CHECKING:
    from collections.abc import Iterator


class Form(StrEnum):
    """The keys of gossamer.cli.export_formats.FORMS, repeated here because importing it is slow.

    MARKDOWN is for documents only.
    """

    PARQUET = "parquet"
    CSV = "csv"
    JSONL = "jsonl"
    MARKDOWN = "markdown"


def register(app: typer.Typer) -> None:
    for command in (search, status, export):
        app.command()(command)


def search(
    crawl: CrawlFolder,
    query: Annotated[
        list[str],
        typer.Argument(
            metavar="QUERY...", help='Words, "phrases", AND, OR, NOT, site:… (docs/searching.md).'
        ),
    ],
    limit: Annotated[
        int, typer.Option("-n", "--limit", min=1, max=10_000, help="Number of results.")
    ] = 10,
    verbatim: Annotated[
        bool, typer.Option("--verbatim", help="Neither correct words nor add synonyms.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Search a crawl's index and print the best results.

    Quote the query, so that the shell leaves `"` and `-` alone.

    Example: gossamer search my-web 'static rank' --json
    """
    from gossamer.search.searcher import Searcher, not_indexed
    from gossamer.state.workspace import Workspace

    work = Workspace.open(crawl)
    if not work.store.manifest.layers("index"):
        has_documents = bool(work.store.manifest.layers("documents"))
        raise not_indexed(work.root, has_documents=has_documents)
    results = Searcher.open(work).search(" ".join(query), limit=limit, verbatim=verbatim)
    if as_json:
        import msgspec

        echo_json(msgspec.json.encode(results))
        return
    from gossamer.cli.result_printing import print_results

    print_results(results)


def status(crawl: CrawlFolder, as_json: AsJson = False) -> None:
    """Show the state of a crawl: pages by status, datasets, refused URLs, the last steps.

    May be called while the crawl runs. --json adds the progress of each task.

    Example: gossamer status my-web --json
    """
    from gossamer.parse.process import sandbox
    from gossamer.state.workspace import Workspace
    from gossamer.status.overview import overview, page_counts

    work = Workspace.open(crawl)
    try:
        with work.errors():
            figures = overview(work) | {"pages": page_counts(work)}
            figures["sandbox"] = list(sandbox.supported_mechanisms())
    finally:
        work.close()
    if as_json:
        import msgspec

        echo_json(msgspec.json.encode(figures))
        return
    from gossamer.cli.result_printing import print_overview

    print_overview(figures)


def export(
    crawl: CrawlFolder,
    dataset: Annotated[
        str,
        typer.Argument(
            metavar="DATASET", help="Name of the dataset: pages, links, … (docs/datasets.md)."
        ),
    ],
    to: Annotated[Form, typer.Option(help="Format of the file.")] = Form.PARQUET,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="File to write.", show_default="standard output"),
    ] = None,
    site: Annotated[
        str, typer.Option("--site", metavar="HOST", help="Only pages of this host.")
    ] = "",
) -> None:
    """Write a dataset as one Parquet, CSV or JSON-lines file, or pages as Markdown.

    `pages`, `links` and `inlinks` are exported in their current state; other datasets with the rows
    of all rounds. In CSV, texts that a spreadsheet would run as a formula get an apostrophe
    before them.

    `documents --to markdown` writes the main text of each page in the index, with its metadata
    before it; `passages` the same in parts, a line of JSON each; `llms.txt` and `llms-full.txt` the
    list, or the text, of the pages of a --site, for language models (docs/agents.md).

    Pages that their publishers do not want used so are left out: of `documents` those that say
    ai-train=no, of Markdown, passages and llms.txt those that say ai-input=no (docs/wishes.md).

    Example: gossamer export my-web pages --to csv -o pages.csv
    """
    from gossamer.api.crawl import Crawl
    from gossamer.cli.document_export import RENDERED

    if dataset in RENDERED or to is Form.MARKDOWN:
        _export_rendered(crawl, dataset, to, output, site)
        return
    from gossamer.cli.export_formats import export as write
    from gossamer.cli.obeyed_wishes import ObeyedWishes
    from gossamer.errors import UsageError
    from gossamer.tables import DATASETS, DOCUMENTS
    from gossamer.web.publisher_wishes import AI_TRAIN

    tables = {name: known for name, known in DATASETS.items() if known.columns}
    if dataset not in tables:
        raise UsageError(dataset, "no such dataset", f"one of: {', '.join(tables)}")
    with Crawl.open(crawl) as opened, opened.work.errors():
        paths = opened.rows_of(dataset)
        obeyed = None
        if dataset == DOCUMENTS.name and AI_TRAIN in opened.work.config.publishers.obey:
            obeyed = ObeyedWishes(paths)
        with output_errors("standard output" if output is None else output):
            if output is None:
                write(paths, tables[dataset].schema, to, _stdout(to), obeyed)
            else:
                with output.open("wb") as file:
                    rows = write(paths, tables[dataset].schema, to, file, obeyed)
                typer.echo(f"{rows:,} rows in {output}", err=True)
        if obeyed is not None and obeyed.left_out:
            typer.echo(
                f"{obeyed.left_out:,} rows left out, as their publishers do not want them to train "
                f"AI: {AI_TRAIN}=no (publishers.obey)",
                err=True,
            )


def _export_rendered(crawl: str, what: str, to: Form, output: Path | None, site: str) -> None:
    """Write pages as documents. Raises UsageError."""
    from gossamer.api.crawl import Crawl
    from gossamer.cli.document_export import LLMS, LLMS_FULL, PASSAGES, RENDERED, rendered_pieces
    from gossamer.errors import UsageError

    if to is Form.MARKDOWN and what not in (*RENDERED, "documents"):
        raise UsageError(what, "has no Markdown", "give documents, or --to csv")
    if what in (LLMS, LLMS_FULL) and not site:
        raise UsageError(what, "is a file of one site", "give its host: --site example.org")
    with (
        Crawl.open(crawl) as opened,
        output_errors("standard output" if output is None else output),
    ):
        pieces = rendered_pieces(opened.documents, what, site)
        if output is None:
            _stdout(Form.JSONL if what == PASSAGES else Form.MARKDOWN).writelines(pieces)
        else:
            with output.open("wb") as file:
                file.writelines(pieces)
            typer.echo(f"{output} is written", err=True)


@contextmanager
def output_errors(output: object) -> Iterator[None]:
    """Turn OSErrors about the output file into GossamerErrors."""
    from gossamer.storage.errors import system_error

    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.errno is None:  # Arrow reports a damaged file like this
            raise
        error.filename = error.filename or str(output)
        raise system_error(error) from error


def _stdout(form: Form) -> BinaryIO:
    """Return standard output for an export, with control characters replaced on a terminal.

    Raises UsageError.
    """
    from gossamer.errors import UsageError

    if sys.stdout is None:
        raise UsageError("standard output", "is closed", "give a file: -o FILE")
    if not sys.stdout.isatty():
        return sys.stdout.buffer
    if form is Form.PARQUET:
        remedy = "give a file (-o FILE), or --to csv, or --to jsonl"
        raise UsageError("standard output", "is a terminal, but Parquet is binary", remedy)
    replaced = IN_JSON if form is Form.JSONL else SHOWN
    return cast("BinaryIO", Screen(sys.stdout.buffer, replaced))
