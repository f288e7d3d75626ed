"""A request and its result, for any scheme: the interface between fetchers and the fetch loop."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol, overload

from gossamer.tables.outcomes import FILTERED_TYPE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gossamer.rules.filter_rules.rule_index import RuleIndex

DETAIL_CHARS = 200


class Request(NamedTuple):
    """A normalised URL to fetch, with the validators of the response that is already stored."""

    url: str
    max_body_bytes: int
    etag: str | None = None
    last_modified: str | None = None
    max_file_bytes: int = 0
    """Replaces `max_body_bytes`, if greater, for files that are not pages (`limit_of`)."""
    rules: RuleIndex | None = None
    """Filter rules, if any of them is about content types."""


@dataclass(slots=True)
class FetchResult:
    """The result of a request. `outcome` is a key of gossamer.tables.outcomes.OUTCOMES."""

    outcome: str
    started_ms: int
    elapsed_ms: int = 0
    detail: str | None = None
    http_status: int | None = None
    """None if no response came, or the scheme has no status."""
    reason: str = ""
    headers: Sequence[tuple[bytes, bytes]] = ()
    """As received. For a scheme without headers, those that HTTP would have sent; the parser needs
    Content-Type."""
    body: bytes = field(default=b"", repr=False)
    """Decoded. If the outcome is not ok, the first 64 KiB, for the archive."""
    truncated: bool = False
    decoded: bool = False
    """The body had a content coding, which was removed."""
    content_type: str | None = None
    etag: str | None = None
    last_modified: str | None = None
    redirect_url: str | None = None
    """The normalised target if the outcome is redirect."""
    redirect_spelling: str | None = None
    """The target as browsers would request it, if that differs."""
    retry_after_s: int | None = None
    """The server's Retry-After if the outcome is busy."""
    target: str = ""
    """The path and query that were sent."""
    request_headers: Sequence[tuple[str, str]] = ()
    address: str | None = None
    """IP address of the peer."""


def refuse_type(request: Request, answer: FetchResult) -> bool:
    """Change the outcome of an answer with a head if a filter rule refuses its content type."""
    if request.rules is None or answer.outcome not in ("ok", "unchanged"):
        return False
    if answer.outcome == "unchanged" and answer.content_type is None:
        return False  # most servers leave it out of a 304
    rule = request.rules.refusing_type(request.url, answer.content_type)
    if rule is None:
        return False
    answer.outcome, answer.detail = FILTERED_TYPE, clip_detail(rule.text)
    answer.body, answer.truncated = b"", True
    answer.etag = answer.last_modified = None
    return True


class Fetcher(Protocol):
    """A client for one or more schemes."""

    async def fetch(self, request: Request) -> FetchResult:
        """Never raises, except CancelledError."""


@overload
def replace_surrogates(value: str) -> str: ...
@overload
def replace_surrogates(value: None) -> None: ...
def replace_surrogates(value: str | None) -> str | None:
    """Replace lone surrogates, which stand for bytes that are not UTF-8 in aiohttp's strings."""
    if value is None or value.isascii():
        return value
    return value.encode("utf-8", "replace").decode()


def clip_detail(words: str) -> str:
    """Shorten the words for a `detail`, and make sure that they can be stored."""
    return replace_surrogates(words[:DETAIL_CHARS])
