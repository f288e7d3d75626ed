"""Bearer tokens (RFC 6750): who may use /mcp, and how often.

The file has a line `NAME HASH` for each token, where the hash is the SHA-256 of the token in hex. A
token is 32 random bytes, so a fast hash is enough: there is nothing to guess. All hashes are
compared, each in constant time, so the time of a refusal says nothing about them.

A token may be used `burst` times at once and then `per_minute` times per minute: the generic cell
rate algorithm (ITU-T I.371).
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import threading
import time
from typing import TYPE_CHECKING, NamedTuple

from gossamer.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

TOKEN_BYTES = 32
MAX_TOKEN_CHARS = 512
MAX_FILE_BYTES = 1 << 20
REMEDY = "write a line NAME HASH for each token: `gossamer mcp --new-token NAME` prints both"
_LINE = re.compile(r"(?P<name>[\w.@-]{1,100})\s+(?P<hash>[0-9a-f]{64})")


class NewToken(NamedTuple):
    """A token, which its owner must keep, and the line for the file."""

    token: str
    line: str


def new_token(name: str) -> NewToken:
    """Make a token. Raises ConfigError if the name cannot stand in the file."""
    token = secrets.token_urlsafe(TOKEN_BYTES)
    line = f"{name} {hash_of(token)}"
    if not _LINE.fullmatch(line):
        raise ConfigError(name, "is no name of a token", "use letters, digits and . _ @ -")
    return NewToken(token, line)


def hash_of(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


def parse_tokens(lines: Iterable[str], subject: object) -> dict[str, str]:
    """Return names by hash. Raises ConfigError with the number of an invalid line."""
    names: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        text = line.partition("#")[0].strip()
        if not text:
            continue
        found = _LINE.fullmatch(text)
        if found is None:
            raise ConfigError(subject, f"line {number} is not a name and a hash", REMEDY)
        names[found["hash"]] = found["name"]
    return names


class Tokens:
    """The tokens of a file, which is read again when it has changed. Safe to use from threads."""

    def __init__(self, path: Path) -> None:
        """Raises ConfigError."""
        self._path = path
        self._guard = threading.Lock()
        self._stamp: tuple[int, int, int] | None = None
        self._names: dict[str, str] = {}
        self._read()

    def name_of(self, header: str | None) -> str | None:
        """The name of the token in an Authorization header; None if it is missing or unknown.

        Raises ConfigError if the file has become invalid.
        """
        self._read()
        kind, _, token = (header or "").partition(" ")
        given = hash_of(token.strip()[:MAX_TOKEN_CHARS])
        found = None
        for known, name in self._names.items():
            if hmac.compare_digest(known, given):
                found = name
        return found if kind.lower() == "bearer" else None

    def _read(self) -> None:
        with self._guard:
            try:
                state = self._path.stat()
                stamp = state.st_mtime_ns, state.st_size, state.st_ino
                if stamp == self._stamp:
                    return
                with self._path.open(encoding="utf-8") as file:
                    lines = file.read(MAX_FILE_BYTES).splitlines()
            except (OSError, UnicodeDecodeError) as error:
                raise ConfigError(self._path, str(error), REMEDY) from None
            self._names, self._stamp = parse_tokens(lines, self._path), stamp


class Rates:
    """How often each name has used its token."""

    def __init__(
        self, per_minute: int, burst: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._interval_s = 60 / per_minute
        self._room_s = self._interval_s * (burst - 1)
        self._clock = clock
        self._due_s: dict[str, float] = {}
        """When each would have been used if its uses were evenly spaced."""

    def wait_s(self, name: str) -> float:
        """Count a use, and return 0; or the seconds until one is allowed."""
        now = self._clock()
        due = max(self._due_s.get(name, now), now)
        if due - now > self._room_s:
            return due - now - self._room_s
        self._due_s[name] = due + self._interval_s
        return 0.0
