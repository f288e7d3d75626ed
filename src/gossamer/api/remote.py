"""A crawl that a server serves, for programs on other machines.

    crawl = Crawl.connect("http://127.0.0.1:8080")
    for hit in crawl.search("words").hits:
        print(hit.title, hit.url)

It has the methods of `Crawl` that the API answers, with the same results, and needs no files of the
crawl. Each call is one request, or one per part of a long list.
"""

from __future__ import annotations

from http import HTTPStatus
from http.client import HTTPException
from typing import TYPE_CHECKING, TypeVar
from urllib.error import HTTPError
from urllib.parse import urlencode, urlsplit
from urllib.request import Request, urlopen

import msgspec

import gossamer
from gossamer.errors import ForgottenChanges, GossamerError, ServerUnavailable, UsageError
from gossamer.index.changes.reading import Changes
from gossamer.search.page_info import KnownPage
from gossamer.search.results import Results
from gossamer.serve.differences import Difference
from gossamer.serve.documents import Document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gossamer.index.changes.reading import Change

Answer = TypeVar("Answer", bound=msgspec.Struct)

TIMEOUT_S = 60.0
MAX_ANSWER_BYTES = 256 << 20
MAX_PROBLEM_BYTES = 64 << 10
CHANGES_AT_ONCE = 1_000


class Problem(msgspec.Struct):
    """What is read of problem details (RFC 9457)."""

    title: str = ""
    detail: str = ""


class RemoteCrawl:
    """The crawl of a server. All methods raise ServerUnavailable if it does not answer."""

    def __init__(self, url: str, timeout_s: float = TIMEOUT_S) -> None:
        """`url`: of the search page, with the path under which it is served, if any."""
        if urlsplit(url).scheme not in {"http", "https"}:
            raise UsageError(url, "is not the URL of a server", "example: http://127.0.0.1:8080")
        self.url = url.rstrip("/")
        self._timeout_s = timeout_s

    def search(self, query: str, limit: int = 10, offset: int = 0) -> Results:
        """Search the index; docs/searching.md describes the query language."""
        return self._ask("search", Results, q=query, limit=limit, offset=offset)

    def document(self, url: str) -> Document:
        """The main text of a page as Markdown, with its passages.

        Raises UsageError if the crawl has not stored the page, or must not show it.
        """
        return self._ask("document", Document, url=url)

    def page(self, url: str) -> KnownPage:
        """What the crawl knows of a page. Raises UsageError if that is nothing."""
        return self._ask("page", KnownPage, url=url)

    def diff(self, url: str, since: str | None = None, until: str | None = None) -> Difference:
        """Compare the versions of a page at two times: by default, the newest and the one before.

        Raises UsageError if the page must not be shown, or the archive has no version of it.
        """
        times = {"from": since, "to": until}
        given = {name: time for name, time in times.items() if time is not None}
        return self._ask("diff", Difference, url=url, **given)

    def changes(self, since: str = "", site: str = "") -> Iterator[tuple[list[Change], str]]:
        """Yield the changes of the index after a cursor, in parts, each with the cursor behind it.

        Without a cursor, all pages come first. Whoever keeps the cursor together with what a part
        changed has each change once. Raises UsageError for an invalid cursor, and ForgottenChanges
        if the changes after it are not kept any more.
        """
        cursor, more = since, True
        while more:
            part = self._ask("changes", Changes, since=cursor, site=site, count=CHANGES_AT_ONCE)
            if part.changes or part.cursor != cursor:
                yield part.changes, part.cursor
            cursor, more = part.cursor, part.more

    def _ask(self, name: str, answer: type[Answer], **parameters: str | int) -> Answer:
        url = f"{self.url}/api/v1/{name}?{urlencode(parameters)}"
        headers = {"accept": "application/json", "user-agent": f"gossamer/{gossamer.__version__}"}
        try:
            with urlopen(Request(url, headers=headers), timeout=self._timeout_s) as response:  # noqa: S310  # http or https
                body = response.read(MAX_ANSWER_BYTES + 1)
        except HTTPError as error:
            with error:
                raise _refusal(url, error.code, error.read(MAX_PROBLEM_BYTES)) from None
        except (OSError, HTTPException) as error:
            raise ServerUnavailable(
                url, f"no answer: {error}", "is gossamer serve running?"
            ) from None
        if len(body) > MAX_ANSWER_BYTES:
            raise ServerUnavailable(url, f"an answer of more than {MAX_ANSWER_BYTES >> 20} MB")
        try:
            return msgspec.json.decode(body, type=answer)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            what = f"is not an answer of gossamer serve: {error}"
            raise ServerUnavailable(url, what, "give the URL of a search page") from None


def _refusal(url: str, status: int, body: bytes) -> GossamerError:
    """The error that an answer with an error status stands for."""
    try:
        problem = msgspec.json.decode(body, type=Problem)
    except (msgspec.DecodeError, UnicodeDecodeError):
        problem = Problem()
    what = problem.detail or problem.title or f"HTTP status {status}"
    if status == HTTPStatus.GONE:
        return ForgottenChanges(url, what, "begin again without a cursor")
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR or status == HTTPStatus.TOO_MANY_REQUESTS:
        return ServerUnavailable(url, what, "" if "→" in what else "ask again later")
    return UsageError(url, what)
