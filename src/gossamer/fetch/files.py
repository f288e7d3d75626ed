"""`file:` URLs (RFC 8089): files and folders of this machine, below those that the config names.

A folder is named once, in fetch.file_folders, and what a symbolic link within leads to is outside
unless it is below a folder that is named too. What is neither a regular file nor a folder (a
device, a pipe) is never opened: to open one may already do something.

Reading is done in a thread. It may stop for as long as a network's file system does; the time
limit then ends the fetch, though not the thread.
"""

from __future__ import annotations

import asyncio
import errno
import os
import stat
import time
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote_to_bytes

from gossamer.errors import ConfigError
from gossamer.fetch import resource
from gossamer.fetch.body import limit_of
from gossamer.fetch.exchange import DETAIL_CHARS, Answer, text
from gossamer.fetch.resource import Entry

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gossamer.config import FetchConfig
    from gossamer.fetch.exchange import Request
    from gossamer.urls import UrlRules

_OPEN = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY | os.O_NOFOLLOW
_BY_ERRNO: Mapping[int, str] = {
    errno.ENOENT: "not_found",
    errno.ENOTDIR: "not_found",
    errno.ELOOP: "not_found",
    errno.ENAMETOOLONG: "not_found",
    errno.EACCES: "refused",
    errno.EPERM: "refused",
}
"""All others are `server_error`: of a disk, or of a network's file system."""


class FileFetcher:
    """Raises ConfigError where fetch.file_folders names no folder, or not from the root."""

    def __init__(self, config: FetchConfig, rules: UrlRules) -> None:
        self._config = config
        self._rules = rules
        self._folders = [_folder(name) for name in config.file_folders]
        if not self._folders:
            raise ConfigError(
                "fetch.file_folders",
                "names no folder, but urls.schemes has file",
                "name the folders that may be crawled, from the root",
            )

    async def fetch(self, request: Request) -> Answer:
        answer = Answer("broken", int(time.time() * 1000))
        started_s = time.monotonic()
        try:
            async with asyncio.timeout(self._config.timeout_s):
                # On a copy, as the thread may outlive its time.
                answer = await asyncio.to_thread(self._look, request, replace(answer))
        except TimeoutError:
            answer.outcome = "timeout"
            answer.detail = f"not read within {self._config.timeout_s:g} s"
        except OSError as error:
            answer.outcome = _BY_ERRNO.get(error.errno or 0, "server_error")
            answer.detail = text((error.strerror or str(error)).lower()[:DETAIL_CHARS])
        answer.elapsed_ms = int((time.monotonic() - started_s) * 1000)
        return answer

    def _look(self, request: Request, answer: Answer) -> Answer:
        answer.target = request.url.removeprefix("file://")
        path = unquote_to_bytes(answer.target)
        if b"\0" in path:
            raise FileNotFoundError(errno.ENOENT, "a NUL is in no file's name")
        real = os.path.realpath(path)
        if not any(real == folder or real.startswith(folder + b"/") for folder in self._folders):
            answer.outcome, answer.detail = "forbidden_address", "not below fetch.file_folders"
            return answer
        found = os.lstat(real)
        is_folder = stat.S_ISDIR(found.st_mode)
        if not is_folder and not stat.S_ISREG(found.st_mode):
            raise PermissionError(errno.EPERM, "neither a file nor a folder")
        if is_folder and not path.endswith(b"/"):
            resource.send_to_folder(answer, request, self._rules)
            return answer
        if path.endswith(b"/") and not is_folder:
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        answer.etag = f'"{found.st_mtime_ns:x}-{found.st_size:x}"'
        answer.last_modified = _http_date(found.st_mtime)
        if _has(request, answer):
            answer.outcome = "unchanged"
            return answer
        with _opened(real, found) as descriptor:
            if is_folder:
                entries = _entries(descriptor)
                resource.give_folder(answer, path, entries, request.max_body_bytes)
            else:
                _give_file(request, answer, descriptor, real)
        return answer


def _folder(name: str) -> bytes:
    path = Path(name)
    if not path.is_absolute():
        raise ConfigError(
            f"fetch.file_folders: {name!r}",
            "does not start at the root",
            f"give the whole path, such as {path.absolute()}",
        )
    return os.path.realpath(bytes(path)).rstrip(b"/")


def _has(request: Request, answer: Answer) -> bool:
    """Whether what is stored is current: by the entity tag if there is one (RFC 9110 §13.1.3)."""
    if request.etag:
        return request.etag == answer.etag
    return request.last_modified is not None and request.last_modified == answer.last_modified


@contextmanager
def _opened(path: bytes, found: os.stat_result) -> Iterator[int]:
    """A descriptor of what was `found` there, and of nothing that took its place since."""
    descriptor = os.open(path, _OPEN)
    try:
        if not os.path.samestat(found, os.fstat(descriptor)):
            raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))
        yield descriptor
    finally:
        os.close(descriptor)


def _give_file(request: Request, answer: Answer, descriptor: int, path: bytes) -> None:
    """All files are of one host, so there is one large body at a time."""
    kind = resource.media_type(path)
    limit = limit_of(request, kind)
    with open(descriptor, "rb", closefd=False) as file:
        body = file.read(limit + 1)
    resource.give(answer, body[:limit], kind, truncated=len(body) > limit)


def _entries(descriptor: int) -> Iterator[Entry]:
    """Files and folders, behind links too: where they lead is judged when they are asked for."""
    with os.scandir(descriptor) as found:
        for each in found:
            with suppress(OSError):  # a link that leads in circles
                if each.is_dir() or each.is_file():
                    yield Entry(os.fsencode(each.name), each.is_dir())


def _http_date(time_s: float) -> str | None:
    """As in Last-Modified; None where the year has not four digits."""
    try:
        return format_datetime(datetime.fromtimestamp(time_s, UTC), usegmt=True)
    except (ValueError, OverflowError, OSError):
        return None
