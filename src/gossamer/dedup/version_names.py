"""Segments of paths that name a version, as in `/3.9/library/re.html`, and their order.

Version names are numbers (with a prefix or a pre-release, if any: `v2`, `django-4.2`, `3.13rc1`,
`5.x`), or words. A number after a single letter other than v and r is not a version: `f32` and
`f64` are types. The newest are EVERGREEN words, since that is where a site sends its readers; then
comes the highest number, a release before its own pre-releases; the oldest are DEVELOPED words.
"""

from __future__ import annotations

import re
from itertools import zip_longest

EVERGREEN = ("stable", "latest", "current", "release")
DEVELOPED = ("main", "master", "trunk", "dev", "devel", "nightly", "next", "unstable", "edge")
PRERELEASE = r"[._-]?(?:a|b|rc|pre|alpha|beta|dev)[0-9]*"
_NUMBER = r"[0-9]{1,4}(?:[._][0-9]{1,4}){0,3}"
VERSION = (
    rf"(?:(?:[a-z]{{2,}}[-_]?|[a-z][-_])?[vr]?{_NUMBER}(?:{PRERELEASE}|[._-]?(?:x|lts))?"
    rf"|{'|'.join((*EVERGREEN, *DEVELOPED))})"
)
"""A pattern for segments in lower case."""

_VERSION = re.compile(VERSION)
_PRERELEASE = re.compile(f"{PRERELEASE}$")
_DIGITS = re.compile("[0-9]+")

Recency = tuple[int, list[int], bool, list[int]]


def version_recency(version: str) -> Recency:
    """A sort key of version names in lower case: newer ones are greater."""
    if version in EVERGREEN or version in DEVELOPED:
        return (2 if version in EVERGREEN else 0), [], True, []
    released = _PRERELEASE.sub("", version)
    return 1, _numbers(released), released == version, _numbers(version[len(released) :])


def version_in(url: str, other: str) -> str:
    """The name of the version in the path of a URL; "" if it has none.

    `other`: the URL of another version of the page. If several segments look like versions, it is
    the first one that this URL does not have at the same place.
    """
    names = [
        (name, name == theirs)
        for name, theirs in zip_longest(_folders(url), _folders(other))
        if name is not None and _VERSION.fullmatch(name)
    ]
    return next((name for name, same in names if not same), names[-1][0] if names else "")


def _folders(url: str) -> list[str]:
    return url.lower().partition("?")[0].split("/")[3:-1]


def _numbers(text: str) -> list[int]:
    return [int(number) for number in _DIGITS.findall(text)]
