"""`gossamer verify`: does the archive prove an answer?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gossamer.cli.arguments import AsJson, CrawlFolder
from gossamer.cli.terminal import echo_json, printable

if TYPE_CHECKING:
    from gossamer.serve.verification import Claim, Verdict

MAX_BYTES = 256 << 20
EXPECTED = (
    "give the JSON of /api/v1/document, of /api/v1/search with provenance=1, of a tool, or"
    " passages.jsonl"
)


def register(app: typer.Typer) -> None:
    app.command()(verify)


def verify(
    crawl: CrawlFolder,
    answer: Annotated[
        str,
        typer.Argument(
            metavar="URL|ANSWER",
            help="A page, or a file with answers in JSON; -: standard input.",
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Prove an answer from the archive: its record, the digest of the body, the text in it.

    Reads the record that an answer names, computes the digest of its body again, parses it, and
    looks for the passage, text or snippet of the answer. The exit code is 1 if anything is not
    proved.

    Example: gossamer verify my-web answer.json
    """
    from gossamer.api.crawl import Crawl
    from gossamer.serve.verification import Claim

    claims = [Claim(answer)] if "://" in answer else _read_claims(answer)
    with Crawl.open(crawl) as opened:
        verdicts = opened.verify(claims)
    if as_json:
        import msgspec

        echo_json(msgspec.json.encode(verdicts))
    else:
        for verdict in verdicts:
            typer.echo(printable(_described(verdict)))
    if not all(verdict.verified for verdict in verdicts):
        raise typer.Exit(1)


def _described(verdict: Verdict) -> str:
    from gossamer.status.human_units import moment

    if not verdict.verified or verdict.provenance is None:
        return f"not proved  {verdict.url}\n            {verdict.why}\n          → {verdict.remedy}"
    found = verdict.provenance
    texts = f"{verdict.texts} text{'' if verdict.texts == 1 else 's'} in " if verdict.texts else ""
    return (
        f"proved      {verdict.url}\n            {texts}{found.warc_file}, byte "
        f"{found.warc_offset:,}, {found.warc_length or 0:,} bytes; sha1:{found.digest}, "
        f"fetched {moment(found.fetched_ms)}"
    )


def _read_claims(name: str) -> list[Claim]:
    """The claims of a file. Raises UsageError."""
    import msgspec

    from gossamer.errors import UsageError
    from gossamer.serve.verification import claims_of

    data = _read(name)
    try:
        answers = [msgspec.json.decode(data)]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        try:
            answers = msgspec.json.Decoder().decode_lines(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise UsageError(name, f"is not JSON: {error}", EXPECTED) from None
    claims = claims_of(answers)
    if not claims:
        raise UsageError(name, "has no answer with the URL of a page", EXPECTED)
    return claims


def _read(name: str) -> bytes:
    from gossamer.errors import UsageError

    try:
        if name == "-":
            if sys.stdin is None:
                raise UsageError("standard input", "is closed", "give a file")
            data = sys.stdin.buffer.read(MAX_BYTES + 1)
        else:
            with Path(name).open("rb") as file:
                data = file.read(MAX_BYTES + 1)
    except OSError as error:
        remedy = "give a URL with its scheme, or a file with an answer"
        raise UsageError(name, f"cannot be read: {error.strerror}", remedy) from None
    if len(data) > MAX_BYTES:
        raise UsageError(name, f"has more than {MAX_BYTES >> 20} MB", "split it: one answer a line")
    return data
