"""Reads a body once, even if it was fetched from several URLs.

Equal bodies follow each other (`stored_responses.bodies`), and of what a page contains, only few
things depend on its URL: where its links lead, and a date in its path. So a function of the body
that remembers its latest result reads the body once, and the rest is made for each URL. The results
are the same as if each page was read by itself.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    Arguments = ParamSpec("Arguments")
    Result = TypeVar("Result")


def remember_latest(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Let a function return its latest result again if it is called with equal arguments.

    Callers share the result, so nobody may change it. In contrast to lru_cache, arguments are
    compared, not hashed: hashing costs time for each body, but two different bodies mostly differ
    in length. The latest result is freed before the next one is made.
    """
    known: list[tuple[object, Result]] = []

    @wraps(function)
    def remembering(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        asked = args, kwargs
        if not known or known[0][0] != asked:
            known.clear()
            known.append((asked, function(*args, **kwargs)))
        return known[0][1]

    return remembering
