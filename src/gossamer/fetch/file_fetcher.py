"""`file:` URLs (RFC 8089): files and folders of this machine below fetch.file_folders.

Symbolic links are resolved first, so a link may lead from one of these folders into another, but
not elsewhere. Devices, pipes and other special files are never opened, because opening one may
have side effects.

Files are read in a thread. A network file system may block it; the time limit then ends the fetch,
but not the thread.
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
from gossamer.fetch import file_results
from gossamer.fetch.exchange import FetchResult, clip_detail
from gossamer.fetch.http.body_reader import limit_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gossamer.config import FetchConfig
    from gossamer.fetch.exchange import Request
    from gossamer.web.urls import UrlRules

_OPEN = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY | os.O_NOFOLLOW
_BY_ERRNO: Mapping[int, str] = {
    errno.ENOENT: "not_found",
    errno.ENOTDIR: "not_found",
    errno.ELOOP: "not_found",
    errno.ENAMETOOLONG: "not_found",
    errno.EACCES: "refused",
    errno.EPERM: "refused",
}
"""All others are `server_error`: the disk or the network file system fails."""


class FileFetcher:
    """Raises ConfigError if fetch.file_folders is empty or has a relative path."""

    def __init__(self, config: FetchConfig, rules: UrlRules) -> None:
        self._config = config
        self._rules = rules
        self._folders = [_folder(name) for name in config.file_folders]
        if not self._folders:
            raise ConfigError(
                "fetch.file_folders",
                "is empty, but urls.schemes includes file",
                "list the folders that may be crawled, as absolute paths",
            )

    async def fetch(self, request: Request) -> FetchResult:
        answer = FetchResult("broken", int(time.time() * 1000))
        started_s = time.monotonic()
        try:
            async with asyncio.timeout(self._config.timeout_s):
                # On a copy, because the thread may outlive its time limit.
                answer = await asyncio.to_thread(self._look, request, replace(answer))
        except TimeoutError:
            answer.outcome = "timeout"
            answer.detail = f"not read within {self._config.timeout_s:g} s"
        except OSError as error:
            answer.outcome = _BY_ERRNO.get(error.errno or 0, "server_error")
            answer.detail = clip_detail((error.strerror or str(error)).lower())
        answer.elapsed_ms = int((time.monotonic() - started_s) * 1000)
        return answer

    def _look(self, request: Request, answer: FetchResult) -> FetchResult:
        answer.target = request.url.removeprefix("file://")
        path = unquote_to_bytes(answer.target)
        if b"\0" in path:
            raise FileNotFoundError(errno.ENOENT, "file names cannot contain NUL")
        real = os.path.realpath(path)
        if not any(real == folder or real.startswith(folder + b"/") for folder in self._folders):
            answer.outcome, answer.detail = "forbidden_address", "not below fetch.file_folders"
            return answer
        found = os.lstat(real)
        is_folder = stat.S_ISDIR(found.st_mode)
        if not is_folder and not stat.S_ISREG(found.st_mode):
            raise PermissionError(errno.EPERM, "neither a file nor a folder")
        if is_folder and not path.endswith(b"/"):
            file_results.redirect_to_folder(answer, request, self._rules)
            return answer
        if path.endswith(b"/") and not is_folder:
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        answer.etag = f'"{found.st_mtime_ns:x}-{found.st_size:x}"'
        answer.last_modified = _http_date(found.st_mtime)
        if _has(request, answer):
            answer.outcome = "unchanged"
            return answer
        with _open_same_file(real, found) as descriptor:
            if is_folder:
                entries = _entries(descriptor)
                file_results.set_folder_page(answer, path, entries, request.max_body_bytes)
            else:
                _give_file(request, answer, descriptor, real)
        return answer


def _folder(name: str) -> bytes:
    path = Path(name)
    if not path.is_absolute():
        raise ConfigError(
            f"fetch.file_folders: {name!r}",
            "is not an absolute path",
            f"write an absolute path, such as {path.absolute()}",
        )
    return os.path.realpath(bytes(path)).rstrip(b"/")


def _has(request: Request, answer: FetchResult) -> bool:
    """Whether the stored copy is current, by the entity tag if there is one (RFC 9110 §13.1.3)."""
    if request.etag:
        return request.etag == answer.etag
    return request.last_modified is not None and request.last_modified == answer.last_modified


@contextmanager
def _open_same_file(path: bytes, found: os.stat_result) -> Iterator[int]:
    """Open the file that `found` describes; raise OSError if another one replaced it meanwhile."""
    descriptor = os.open(path, _OPEN)
    try:
        if not os.path.samestat(found, os.fstat(descriptor)):
            raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))
        yield descriptor
    finally:
        os.close(descriptor)


def _give_file(request: Request, answer: FetchResult, descriptor: int, path: bytes) -> None:
    """Read a file into the result. All files belong to one host, so only one is read at once."""
    kind = file_results.media_type(path)
    limit = limit_of(request, kind)
    with open(descriptor, "rb", closefd=False) as file:
        body = file.read(limit + 1)
    file_results.set_body(answer, body[:limit], kind, truncated=len(body) > limit)


def _entries(descriptor: int) -> Iterator[file_results.FolderEntry]:
    """List files, folders and links to them; whether a link is allowed is checked on its fetch."""
    with os.scandir(descriptor) as found:
        for each in found:
            with suppress(OSError):  # a circular link
                if each.is_dir() or each.is_file():
                    yield file_results.FolderEntry(os.fsencode(each.name), each.is_dir())


def _http_date(time_s: float) -> str | None:
    """The time in the format of Last-Modified; None if its year lacks four digits."""
    try:
        return format_datetime(datetime.fromtimestamp(time_s, UTC), usegmt=True)
    except (ValueError, OverflowError, OSError):
        return None
