"""The base class of all tables of settings, and the types of their values."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

DAY_S = 86_400

# `$` would also match before a line feed at the end; `\Z` does not.
LINE = r"^[^\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]*\Z"
"""Text without line breaks, other control characters or lone surrogates."""
SITE_PATH = r"^(?:/(?!\.{1,2}(?:/|\Z))[A-Za-z0-9._~-]+)*\Z"
"""A path of unreserved characters (RFC 3986, section 2.3), which are the same in URLs, headers and
robots.txt. No segment is empty, `.` or `..`."""

Count = Annotated[int, Meta(ge=1, le=1_000_000_000)]
Share = Annotated[float, Meta(ge=0, le=1)]
Seconds = Annotated[float, Meta(ge=0, le=DAY_S)]
Timeout = Annotated[float, Meta(gt=0, le=DAY_S)]
Weight = Annotated[float, Meta(ge=0, le=1_000)]
Line = Annotated[str, Meta(pattern=LINE, max_length=1_000)]


class Table(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    pass


class Secret(Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Where a secret is stored: exactly one of `file` and `env` is set."""

    file: Line = ""
    """A path, relative to the folder of gossamer.toml."""
    env: Line = ""

    def __post_init__(self) -> None:
        if bool(self.file) == bool(self.env):
            raise ValueError("a secret is either { file = … } or { env = … }")
