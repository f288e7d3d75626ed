"""One request and its answer, whatever the scheme: what fetchers and the rest of fetch share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol, overload

if TYPE_CHECKING:
    from collections.abc import Sequence

DETAIL_CHARS = 200


class Request(NamedTuple):
    """A URL, normalised; the validators of the answer that is stored already."""

    url: str
    max_body_bytes: int
    etag: str | None = None
    last_modified: str | None = None
    max_file_bytes: int = 0
    """In place of `max_body_bytes`, of what is no page (`body.limit_of`), if it is more."""


@dataclass(slots=True)
class Answer:
    """What became of a request. `outcome` is a key of gossamer.outcomes.OUTCOMES."""

    outcome: str
    started_ms: int
    elapsed_ms: int = 0
    detail: str | None = None
    http_status: int | None = None
    """None where no answer came, or the scheme has none."""
    reason: str = ""
    headers: Sequence[tuple[bytes, bytes]] = ()
    """As sent. Of a scheme without headers: those that HTTP would have, Content-Type above all."""
    body: bytes = field(default=b"", repr=False)
    """Decoded. Of an answer that is not ok: its first 64 KiB, for the archive."""
    truncated: bool = False
    decoded: bool = False
    content_type: str | None = None
    etag: str | None = None
    last_modified: str | None = None
    redirect_url: str | None = None
    """Normalised target of the outcome redirect."""
    retry_after_s: int | None = None
    """Of the outcome busy."""
    target: str = ""
    """Path and query, as asked for."""
    request_headers: Sequence[tuple[str, str]] = ()
    address: str | None = None
    """IP address of the peer."""


class Fetcher(Protocol):
    """Speaks one or more schemes."""

    async def fetch(self, request: Request) -> Answer:
        """Never raises, but for cancellation."""


@overload
def text(value: str) -> str: ...
@overload
def text(value: None) -> None: ...
def text(value: str | None) -> str | None:
    """Text that can be stored. aiohttp gives bytes that are not UTF-8 as lone surrogates."""
    if value is None or value.isascii():
        return value
    return value.encode("utf-8", "replace").decode()
