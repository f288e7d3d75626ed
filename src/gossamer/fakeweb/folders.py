"""Serve a folder of real files as a host.

Semantics are plain, so that an independent walk of the links can judge a crawl:

- a file is its bytes, its type by extension (Python's own table, not the machine's);
- text/html goes without charset: pages speak for themselves;
- a folder without its slash is 301 to it; with it, its index.html, else 404;
- what leaves the folder, by .. or by a symbolic link, is 404; so is what is not a plain file.
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
from gossamer.fakeweb.answer import Answer, AnswerCache, conditional, found, redirect, refusal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

DOCS_FOLDER = Path("/usr/share/doc")
CACHE_BYTES = 128 << 20
MAX_FILE_BYTES = 64 << 20  # larger files are 404: an answer is held in memory
MAX_FOLDERS_LOOKED_AT = 20_000
HTML = (".html", ".htm", ".xhtml")
INDEX = "index.html"
MAX_MANUAL_CHARS = 50  # of a label's 63 (RFC 1035 §2.3.4)
GENERIC_NAMES = {"html", "htmldoc", "doc", "docs", "manual", "www", "singlehtml", "content"}

_TYPES = MimeTypes()
_PACKED = {"gzip": "application/gzip", "bzip2": "application/x-bzip2", "xz": "application/x-xz"}


class Folder:
    """The answers of one folder. A file is looked at on every request, read when it changed."""

    def __init__(self, root: Path, cache_bytes: int = CACHE_BYTES) -> None:
        if not root.is_dir():
            raise UsageError(root, "is not a folder", "give a folder of HTML files")
        self.root = root
        self._real = os.path.realpath(root)
        self._cache = AnswerCache(cache_bytes)

    def entry(self) -> str:
        """The path to start from: the folder's index.html as "/", else its first page."""
        if (self.root / INDEX).is_file():
            return "/"
        first = next(_html_below(self.root), None)
        return "/" if first is None else "/" + quote(first.relative_to(self.root).as_posix())

    def answer(self, target: str, headers: Mapping[str, str]) -> Answer:
        """The answer to GET `target`; `headers` has lower-case names."""
        path = target.partition("?")[0]
        try:
            answer = self._answer(path)
        except OSError:  # vanished, unreadable, or a name too long for the file system
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
            answer = found(Path(file).read_bytes(), content_type(file), int(status.st_mtime), tag)
            self._cache.put((file, tag), answer)
        return answer

    def _locate(self, path: str) -> str | None:
        """The real path of a target's path, or None if it is outside or makes no sense."""
        parts = [unquote_to_bytes(part) for part in path.split("/")]
        if not path.startswith("/") or any(
            part in {b".", b".."} or b"/" in part or b"\0" in part for part in parts
        ):
            return None
        if b"" in parts[1:-1]:  # // in the middle: the file system would take it, a URL differs
            return None
        real = os.path.realpath(self._real + os.fsdecode(b"/".join([b"", *parts[1:]])))
        inside = real == self._real or real.startswith(self._real + "/")
        return real if inside else None


def content_type(file: str) -> str:
    """By extension; a compressed file is the archive it is, not what is inside."""
    kind, packing = _TYPES.guess_type(f"file:{file}", strict=False)
    if packing is not None:
        return _PACKED.get(packing, "application/octet-stream")
    return kind or "application/octet-stream"


def doc_folders(root: Path = DOCS_FOLDER, limit: int = 200) -> dict[str, Path]:
    """Host name to folder, for the packages below `root` that have HTML, `limit` at most.

    A package's folder is its shallowest one with an index.html (an English one before others),
    else with any HTML. Packages that link to the same real folder make one host.
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
    """A host name for a folder: /usr/share/doc/python3.11/html is python3-11-html-docs.test."""
    folder = folder.absolute()
    name = folder.name
    if name.lower() in GENERIC_NAMES:
        name = f"{folder.parent.name}-{name}"
    return _manual_host(name)


def host_name(text: str) -> str:
    """`text` as a host name: lower case, letters, digits, hyphens and dots."""
    labels = [re.sub(r"[^a-z0-9-]+", "-", label).strip("-") for label in text.lower().split(".")]
    name = ".".join(label for label in labels if label)
    if not name or len(name) > 253:  # noqa: PLR2004 - RFC 1035 §2.3.4
        raise UsageError(text, "cannot be a host name", "give one like manual.test")
    return name


def _start(package: Path) -> Path | None:
    """The shallowest folder with an index.html; else the shallowest with any HTML."""
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
    """The files and folders in a folder, links followed, unless it has been `seen`."""
    real = os.path.realpath(folder)
    if real in seen:
        return set(), []
    seen.add(real)
    try:
        entries = sorted(folder.iterdir())
    except OSError:  # not ours to read
        return set(), []
    folders = [entry for entry in entries if entry.is_dir()]
    return {entry.name for entry in entries if entry.is_file()}, folders


def _html_below(root: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(root):
        folders.sort()
        yield from (Path(folder, name) for name in sorted(names) if name.endswith(HTML))


def _manual_host(name: str, number: int = 1) -> str:
    """A registrable domain of its own, so that a crawl may fetch several manuals at once."""
    label = re.sub(r"[^a-z0-9]+", "-", name.lower())[:MAX_MANUAL_CHARS].strip("-")
    return host_name(f"{label}-docs{'' if number == 1 else f'-{number}'}.test")
