"""Serve a folder of real files as a host.

The rules are simple, so that an independent walk over the links can judge a crawl:

- a file is served unchanged; its type depends on its extension (in Python's table, not the
  machine's);
- text/html is sent without a charset: the pages declare their own;
- a folder's URL without its final slash redirects to the one with it (301), which serves the
  folder's index.html, or else 404;
- a path that leads out of the folder, by .. or a symbolic link, is 404; so is anything that is
  not a regular file.
"""

from __future__ import annotations

import os
import re
from http import HTTPStatus
from itertools import count
from mimetypes import MimeTypes
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote_to_bytes

from gossamer.errors import UsageError
from gossamer.fakeweb.http_answer import (
    Answer,
    AnswerCache,
    conditional,
    ok_answer,
    redirect,
    refusal,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

DOCS_FOLDER = Path("/usr/share/doc")
CACHE_BYTES = 128 << 20
MAX_FILE_BYTES = 64 << 20  # larger files are 404, because an answer is held in memory
MAX_FOLDERS_LOOKED_AT = 20_000
HTML = (".html", ".htm", ".xhtml")
INDEX = "index.html"
MAX_MANUAL_CHARS = 50  # leaves room for a suffix in a label's 63 octets (RFC 1035 §2.3.4)
GENERIC_NAMES = {"html", "htmldoc", "doc", "docs", "manual", "www", "singlehtml", "content"}

_TYPES = MimeTypes()
_PACKED = {"gzip": "application/gzip", "bzip2": "application/x-bzip2", "xz": "application/x-xz"}


class Folder:
    """The answers of one folder. Every request stats the file, which is read only if it changed."""

    def __init__(self, root: Path, cache_bytes: int = CACHE_BYTES) -> None:
        if not root.is_dir():
            raise UsageError(root, "is not a folder", "choose a folder of HTML files")
        self.root = root
        self._real = os.path.realpath(root)
        self._cache = AnswerCache(cache_bytes)

    def entry(self) -> str:
        """Return the path to start from: "/" if there is an index.html, else the first page."""
        if (self.root / INDEX).is_file():
            return "/"
        first = next(_html_below(self.root), None)
        return "/" if first is None else "/" + quote(first.relative_to(self.root).as_posix())

    def answer(self, target: str, headers: Mapping[str, str]) -> Answer:
        """Return the answer to GET `target`. The names in `headers` are in lower case."""
        path = target.partition("?")[0]
        try:
            answer = self._answer(path)
        except OSError:  # the file vanished, is unreadable, or its name is too long
            answer = None
        if answer is None:
            return refusal(HTTPStatus.NOT_FOUND, f"{path[:200]}: no such file")
        return conditional(answer, headers)

    def _answer(self, path: str) -> Answer | None:
        file = self._locate(path)
        if file is None:
            return None
        status = os.stat(file)  # noqa: PTH116 - building a Path costs as much as the call
        if S_ISDIR(status.st_mode):
            if not path.endswith("/"):
                return redirect(HTTPStatus.MOVED_PERMANENTLY, path + "/")
            return self._answer(path + INDEX) if Path(file, INDEX).is_file() else None
        if not S_ISREG(status.st_mode) or path.endswith("/") or status.st_size > MAX_FILE_BYTES:
            return None
        tag = f'"{status.st_mtime_ns:x}-{status.st_size:x}"'
        answer = self._cache.get((file, tag))
        if answer is None:
            body = Path(file).read_bytes()
            answer = ok_answer(body, content_type(file), int(status.st_mtime), tag)
            self._cache.put((file, tag), answer)
        return answer

    def _locate(self, path: str) -> str | None:
        """Return a URL path's real path, or None if it is invalid or leads out of the folder."""
        parts = [unquote_to_bytes(part) for part in path.split("/")]
        if not path.startswith("/") or any(
            part in {b".", b".."} or b"/" in part or b"\0" in part for part in parts
        ):
            return None
        if b"" in parts[1:-1]:  # the file system ignores a double slash, but it makes another URL
            return None
        real = os.path.realpath(self._real + os.fsdecode(b"/".join([b"", *parts[1:]])))
        inside = real == self._real or real.startswith(self._real + "/")
        return real if inside else None


def content_type(file: str) -> str:
    """Return the type by extension. A compressed file gets the type of its compression."""
    kind, packing = _TYPES.guess_type(f"file:{file}", strict=False)
    if packing is not None:
        return _PACKED.get(packing, "application/octet-stream")
    return kind or "application/octet-stream"


def doc_folders(root: Path = DOCS_FOLDER, limit: int = 200) -> dict[str, Path]:
    """Map host names to folders, for at most `limit` packages below `root` that have HTML.

    A package's folder is the shallowest one with an index.html (preferably English), else the
    shallowest with any HTML. Packages that link to the same real folder become one host.
    """
    hosts: dict[str, Path] = {}
    taken: set[str] = set()
    packages = sorted(path for path in root.iterdir() if path.is_dir()) if root.is_dir() else []
    for package in packages:
        folder = _start(package)
        if folder is None or (real := os.path.realpath(folder)) in taken:
            continue
        taken.add(real)
        names = (_manual_host(package.name, number) for number in count(1))
        hosts[next(name for name in names if name not in hosts)] = folder
        if len(hosts) == limit:
            break
    return hosts


def folder_host(folder: Path) -> str:
    """A folder's host name: /usr/share/doc/python3.11/html becomes python3-11-html-docs.test."""
    folder = folder.absolute()
    name = folder.name
    if name.lower() in GENERIC_NAMES:
        name = f"{folder.parent.name}-{name}"
    return _manual_host(name)


def host_name(text: str) -> str:
    """Turn `text` into a host name of lower-case letters, digits, hyphens and dots."""
    labels = [re.sub(r"[^a-z0-9-]+", "-", label).strip("-") for label in text.lower().split(".")]
    name = ".".join(label for label in labels if label)
    if not name or len(name) > 253:  # noqa: PLR2004 - RFC 1035 §2.3.4
        raise UsageError(text, "is not a valid host name", "choose one like manual.test")
    return name


def _start(package: Path) -> Path | None:
    """Return the shallowest folder with an index.html, else the shallowest with any HTML."""
    with_html: Path | None = None
    level, seen = [package], set[str]()
    while level and len(seen) < MAX_FOLDERS_LOOKED_AT:
        with_index: list[Path] = []
        deeper: list[Path] = []
        for folder in level:
            names, folders = _listing(folder, seen)
            if INDEX in names:
                with_index.append(folder)
            if with_html is None and any(name.endswith(HTML) for name in names):
                with_html = folder
            deeper += folders
        if with_index:
            return min(with_index, key=lambda path: (not path.name.startswith("en"), path))
        level = deeper
    return with_html


def _listing(folder: Path, seen: set[str]) -> tuple[set[str], list[Path]]:
    """Return the names of files and the folders in a folder, following symbolic links.

    Both are empty if the real folder is in `seen` already.
    """
    real = os.path.realpath(folder)
    if real in seen:
        return set(), []
    seen.add(real)
    try:
        entries = sorted(folder.iterdir())
    except OSError:  # we may not read it
        return set(), []
    folders = [entry for entry in entries if entry.is_dir()]
    return {entry.name for entry in entries if entry.is_file()}, folders


def _html_below(root: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(root):
        folders.sort()
        yield from (Path(folder, name) for name in sorted(names) if name.endswith(HTML))


def _manual_host(name: str, number: int = 1) -> str:
    """Return a separate registrable domain, so that a crawl may fetch several manuals at once."""
    label = re.sub(r"[^a-z0-9]+", "-", name.lower())[:MAX_MANUAL_CHARS].strip("-")
    return host_name(f"{label}-docs{'' if number == 1 else f'-{number}'}.test")
