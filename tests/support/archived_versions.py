"""Fetches of the past, of which only the archive knows."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from gossamer.storage.task_output import layers_of
from gossamer.storage.warc import WarcWriter
from gossamer.storage.warc.writer import Known
from tests.support.captures import HTML, http_capture

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gossamer.state.workspace import Workspace


class Visit(NamedTuple):
    """A fetch on a day; a body of None is a 304 about the one of `known`."""

    url: str
    day: str
    body: bytes | None
    known: bytes = b""
    status: int = 200
    headers: tuple[tuple[bytes, bytes], ...] = HTML


def day_ms(day: str) -> int:
    return int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp() * 1000)


def archive(work: Workspace, visits: Iterable[Visit], round_: int = 1) -> None:
    """Add an archive file with these fetches."""
    warc = WarcWriter(work.root, work.store.attempt("warc"), {})
    for visit in visits:
        body = visit.known if visit.body is None else visit.body
        status = 304 if visit.body is None else visit.status
        made = http_capture(visit.url, body, visit.headers, status=status)
        capture = made._replace(date_ms=day_ms(visit.day))
        if visit.body is None:
            warc.revisit(capture, Known(visit.url, None, not_modified=True))
        else:
            warc.write(capture, visit.headers)
    with work.step("fetch", round_) as draft:
        draft.append = layers_of(warc.close(), round_)
