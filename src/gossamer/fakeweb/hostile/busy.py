"""429 and 503, with every kind of Retry-After (RFC 9110 §10.2.3)."""

from __future__ import annotations

import time
from email.utils import formatdate
from http import HTTPStatus
from typing import TYPE_CHECKING

from gossamer.fakeweb.hostile.case import Case
from gossamer.fakeweb.http_answer import Answer, refusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from gossamer.fakeweb.hostile.case import Ask, Reply

SOON_S = 30


def _busy(status: HTTPStatus, retry_after: Callable[[], str] | None = None) -> Reply:
    def reply(_: Ask) -> Answer:
        answer = refusal(status, status.phrase)
        if retry_after is None:
            return answer
        return Answer(status, (*answer.headers, ("Retry-After", retry_after())), answer.body)

    return reply


def _soon() -> str:
    """Return a date in the near future: besides Date, the only value that depends on the clock."""
    return formatdate(time.time() + SOON_S, usegmt=True)


def _case(name: str, does: str, retry_after: Callable[[], str] | None) -> Case:
    reply = _busy(HTTPStatus.TOO_MANY_REQUESTS, retry_after)
    return Case(name, f"429 {does}", ("busy",), reply)


CASES = (
    _case("retry-seconds", f"with Retry-After: {SOON_S}", lambda: str(SOON_S)),
    _case("retry-date", f"with a date {SOON_S} s from now", _soon),
    _case("retry-past", "with a date in 2004", lambda: "Thu, 01 Jan 2004 00:00:00 GMT"),
    _case("retry-far", "with a date in 2199", lambda: "Tue, 01 Jan 2199 00:00:00 GMT"),
    _case("retry-overflow", "with a 40-digit number of seconds", lambda: 40 * "9"),
    _case("retry-negative", "with Retry-After: -5", lambda: "-5"),
    _case("retry-garbage", "with Retry-After: soon", lambda: "soon"),
    _case("retry-none", "without Retry-After", None),
    Case(
        "unavailable", "503 without Retry-After", ("busy",), _busy(HTTPStatus.SERVICE_UNAVAILABLE)
    ),
)
