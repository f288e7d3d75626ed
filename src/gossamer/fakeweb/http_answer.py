"""Answers to requests, conditional requests, and the cache of answers."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from email.utils import formatdate, parsedate_to_datetime
from functools import cached_property
from http import HTTPStatus
from typing import TYPE_CHECKING

import xxhash

if TYPE_CHECKING:
    from collections.abc import Mapping

HTML_TYPE = "text/html; charset=utf-8"
OVERHEAD_BYTES = 1024  # estimated size of a cached answer's Python objects, without its body
REASONS = {status.value: status.phrase for status in HTTPStatus}


@dataclass(frozen=True)
class Answer:
    """An HTTP response. The server waits `delay_s` before it sends the answer."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes = b""
    delay_s: float = 0.0

    @cached_property
    def head(self) -> bytes:
        """The header lines, without the status line, Date and empty line that the server adds."""
        lines = [f"{name}: {value}\r\n" for name, value in self.headers]
        if self.status != HTTPStatus.NOT_MODIFIED:
            lines.append(f"Content-Length: {len(self.body)}\r\n")
        return "".join(lines).encode("latin-1")

    @cached_property
    def status_line(self) -> bytes:
        return f"HTTP/1.1 {self.status} {REASONS[self.status]}\r\n".encode()

    def header(self, name: str) -> str:
        """Return the header's value, or "" if it is missing."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), "")


def ok_answer(body: bytes, content_type: str, modified_s: float, etag: str = "") -> Answer:
    """A 200 with validators. `modified_s` is Unix time; `etag` defaults to a hash of the body.

    With the default, the ETag changes if and only if the body does.
    """
    tag = etag or f'"{xxhash.xxh3_64_hexdigest(body)}"'
    return Answer(
        HTTPStatus.OK,
        (
            ("Content-Type", content_type),
            ("ETag", tag),
            ("Last-Modified", formatdate(modified_s, usegmt=True)),
        ),
        body,
    )


def refusal(status: int, text: str) -> Answer:
    """Return an error page in plain text."""
    return Answer(status, (("Content-Type", "text/plain; charset=utf-8"),), f"{text}\n".encode())


def redirect(status: int, location: str) -> Answer:
    return Answer(
        status,
        (("Location", location), ("Content-Type", "text/plain; charset=utf-8")),
        f"See {location}\n".encode(),
    )


def conditional(answer: Answer, headers: Mapping[str, str]) -> Answer:
    """Replace the answer by a 304 if the client's copy is current (RFC 9110 §13.1, §13.2.2).

    The names in `headers` are in lower case. If-None-Match takes precedence over
    If-Modified-Since. ETags are compared weakly; an invalid date is ignored.
    """
    if answer.status != HTTPStatus.OK:
        return answer
    if (tags := headers.get("if-none-match")) is not None:
        known = {tag.strip().removeprefix("W/") for tag in tags.split(",")}
        current = "*" in known or answer.header("ETag") in known
    elif (since := headers.get("if-modified-since")) is not None:
        current = _not_after(answer.header("Last-Modified"), since)
    else:
        return answer
    if not current:
        return answer
    kept = tuple(pair for pair in answer.headers if pair[0] in {"ETag", "Last-Modified"})
    return Answer(HTTPStatus.NOT_MODIFIED, kept, delay_s=answer.delay_s)


def _not_after(modified: str, since: str) -> bool:
    try:
        return parsedate_to_datetime(modified) <= parsedate_to_datetime(since)
    except (ValueError, TypeError):  # TypeError: a date without a time zone cannot be compared
        return False


class AnswerCache:
    """An LRU cache of answers. Invariant: the sum of their sizes is at most `limit_bytes`."""

    def __init__(self, limit_bytes: int) -> None:
        self.limit_bytes = limit_bytes
        self.used_bytes = 0
        self._answers: OrderedDict[tuple[str, str], Answer] = OrderedDict()

    def __len__(self) -> int:
        return len(self._answers)

    def get(self, key: tuple[str, str]) -> Answer | None:
        answer = self._answers.get(key)
        if answer is not None:
            self._answers.move_to_end(key)
        return answer

    def put(self, key: tuple[str, str], answer: Answer) -> None:
        size = _size(key, answer)
        if size > self.limit_bytes:
            return
        if (old := self._answers.pop(key, None)) is not None:
            self.used_bytes -= _size(key, old)
        self._answers[key] = answer
        self.used_bytes += size
        while self.used_bytes > self.limit_bytes:
            self.used_bytes -= _size(*self._answers.popitem(last=False))


def _size(key: tuple[str, str], answer: Answer) -> int:
    return len(key[0]) + len(key[1]) + len(answer.body) + OVERHEAD_BYTES
