"""The wish files of a task's hosts (`web/tdmrep.py`, `web/rsl.py`), and which are requested when.

A host has at most two: `/.well-known/tdmrep.json`, and the first RSL file on the host itself that
its robots.txt names. They are requested after robots.txt, if it allows that, once a day. RSL files
on other hosts are never requested: a host must not send us anywhere by a line of robots.txt. They
stay unread, and so count as reservations.

A file that is not there says nothing for a day. If a host cannot answer, what it said before stays,
and it is asked again after an hour. Both are as for robots.txt.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from cachetools import FIFOCache

from gossamer.web import robots_txt, tdmrep
from gossamer.web.rsl import parse_rsl
from gossamer.web.urls import host_of, normalize, origin_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gossamer.web.robots_txt import Robots

MAX_BYTES = 128 << 10
"""Bytes read of a file. A longer one is read as far as it goes, so as a broken one."""
MAX_TOTAL_BYTES = 64 << 20
"""For all files of a task; beyond it the oldest are dropped, and fetched again if needed."""
MAX_FILES_PER_HOST = 4
"""Files that later rounds get: two for each scheme. Those that robots.txt no longer names go."""


class WishFile(NamedTuple):
    """A file as it was last answered."""

    url: str
    again_ms: int
    """When to request it again."""
    status: int
    """HTTP's; 0: there was no answer yet."""
    body: bytes
    """Empty if there is no such file, or nothing in it: many hosts have a page at every URL."""


class WishFiles:
    """The files of a task."""

    def __init__(self) -> None:
        self._files: FIFOCache[str, WishFile] = FIFOCache(
            MAX_TOTAL_BYTES, lambda file: len(file.body)
        )

    def take(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Add files of an earlier round: the column `wish_files` of `hosts`."""
        for row in rows:
            self._keep(WishFile(row["url"], row["again_ms"], row["status"], row["body"] or b""))

    def rows(self) -> dict[str, list[dict[str, Any]]]:
        """Return the column `wish_files` by hosts."""
        by_host: dict[str, list[WishFile]] = defaultdict(list)
        for file in sorted(self._files.values(), key=lambda file: file.again_ms):
            by_host[host_of(file.url)].append(file)
        return {
            host: [file._asdict() for file in files[-MAX_FILES_PER_HOST:]]
            for host, files in by_host.items()
        }

    def due(self, agent: str, origin: str, rules: Robots, now_ms: int) -> str | None:
        """Return the URL of a file of this origin that has to be requested now, if there is one."""
        wanted = [f"{origin}{tdmrep.PATH}"]
        if (named := rsl_file(origin, rules)) is not None:
            wanted.append(named[1])
        for url in wanted:
            file = self._files.get(url)
            is_fresh = file is not None and 0 < file.again_ms - now_ms <= _kept_ms(file.status)
            if not is_fresh and rules.allows(agent, url):
                return url
        return None

    def keep(self, url: str, status: int, body: bytes, now_ms: int) -> None:
        """Keep what came of a request, after its redirects. `status`: HTTP's; 0: no answer."""
        again_ms = now_ms + _kept_ms(status)
        if robots_txt.judge_robots_txt(status, b"") is None:
            before = self._files.get(url, WishFile(url, again_ms, 0, b""))
            self._keep(before._replace(again_ms=again_ms))
        else:
            is_there = 200 <= status < 300  # noqa: PLR2004  the class of RFC 9110 §15.3
            says = is_there and _says_something(url, body)
            self._keep(WishFile(url, again_ms, status, body if says else b""))

    def statements(self, url: str, rules: Robots, said: list[str]) -> list[str]:
        """Return what files say about a page, and what robots.txt has `said` about it.

        The terms of an RSL file replace the line of robots.txt that names it.
        """
        origin = origin_of(url)
        found: list[str] = []
        file = self._files.get(f"{origin}{tdmrep.PATH}")
        if file is not None and file.body:
            found += tdmrep.parse_tdmrep(file.body, host_of(url)).statements(url)
        if (named := rsl_file(origin, rules)) is not None:
            file = self._files.get(named[1])
            rsl = None if file is None or not file.body else parse_rsl(file.body, host_of(url))
            if rsl is not None:
                link = rules.license_statement(named[0])
                said = [line for line in said if line != link]
                found.append(rsl.statement(url, named[1]))
        return [*said, *found]

    def _keep(self, file: WishFile) -> None:
        self._files[file.url] = file


def rsl_file(origin: str, rules: Robots) -> tuple[str, str] | None:
    """Return the RSL file on the host itself that robots.txt names: as written, and normalised."""
    for written in rules.licenses:
        url = normalize(written, f"{origin}/")
        if url is not None and host_of(url) == host_of(f"{origin}/"):
            return written, url
    return None


def _says_something(url: str, body: bytes) -> bool:
    if url.endswith(tdmrep.PATH):
        return bool(tdmrep.parse_tdmrep(body, host_of(url)).rules)
    return parse_rsl(body, host_of(url)) is not None


def _kept_ms(status: int) -> int:
    return int(robots_txt.keep_robots_s(status) * 1000)
