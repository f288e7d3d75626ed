"""FTP as a crawler wants it: files, and folders as pages of links (MDTM, MLSD: RFC 3659).

Facts
  * A path is of bytes, and sent as they are (RFC 2640 says UTF-8). It is relative to the folder
    of the login: `ftp://h/%2Fetc/x` is `/etc/x` (RFC 1738 §3.2.2). It goes whole into one command,
    not segment by segment as there: servers of today part it by slashes.
  * Whether a path is a folder is known by trying: what cannot be retrieved but entered is one.
  * NLST, for servers without MLSD, does not tell folders from files, and an empty folder may be
    an error.

A page is a session of its own: connect, log in, ask, leave. That costs some eight round trips and
keeps nothing: many servers allow few sessions, and end those that are idle.
"""

from __future__ import annotations

import asyncio
import os
import re
import time
from datetime import UTC, datetime
from email.utils import format_datetime
from functools import partial
from io import BytesIO
from typing import TYPE_CHECKING
from urllib.parse import unquote_to_bytes

from gossamer.fetch import resource
from gossamer.fetch.body import Body, limit_of
from gossamer.fetch.exchange import DETAIL_CHARS, Answer, text
from gossamer.fetch.ftp_session import (
    COMPLETED,
    NotFtp,
    Refused,
    Unsendable,
    session,
    split_host,
)
from gossamer.fetch.networks import ForbiddenAddress
from gossamer.fetch.resolver import matching
from gossamer.fetch.resource import Entry
from gossamer.urls import host_of, origin_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from gossamer.config import FetchConfig, SiteConfig
    from gossamer.fetch.body import Bodies
    from gossamer.fetch.exchange import Request
    from gossamer.fetch.ftp_session import Session
    from gossamer.fetch.networks import Networks
    from gossamer.fetch.resolver import Resolver
    from gossamer.urls import UrlRules

MAX_LISTING_BYTES = 4 << 20
"""As the server sends it; `resource.MAX_ENTRIES` bounds what comes of it."""
GOODBYE_S = 0.5
"""Beyond fetch.timeout_s, when that is over for a body of which some is kept."""
MODIFIED = 213
NO_SUCH_COMMAND = frozenset((500, 501, 502, 504))
NO_FILES = frozenset((450, 550))

_BY_CODE: Mapping[int, str] = {120: "busy", 421: "busy", 450: "busy", 550: "not_found"}
_BY_KIND: Mapping[int, str] = {3: "refused", 4: "server_error", 5: "refused"}
"""All others are `broken`: a reply that does not belong there."""
_NO_NAMES = frozenset((b"", b".", b".."))
_TYPE = re.compile(rb"(?:^|;)type=([^;]*)", re.IGNORECASE)


class FtpFetcher:
    """The resolver is its owner's to close. A reply may take as long as a head in HTTP."""

    def __init__(
        self,
        config: FetchConfig,
        rules: UrlRules,
        networks: Networks,
        resolver: Resolver,
        bodies: Bodies,
    ) -> None:
        self._config = config
        self._rules = rules
        self._networks = networks
        self._resolver = resolver
        self._bodies = bodies

    async def fetch(self, request: Request) -> Answer:
        answer = Answer("broken", int(time.time() * 1000))
        started_s = time.monotonic()
        try:
            deadline_s = asyncio.get_running_loop().time() + self._config.timeout_s
            async with asyncio.timeout_at(deadline_s + GOODBYE_S):
                await self._ask(request, answer, deadline_s)
        except Exception as error:  # noqa: BLE001  # a stranger's server must not end the round
            answer.outcome, detail = self._judge(error)
            answer.detail = text(detail[:DETAIL_CHARS])
        answer.elapsed_ms = int((time.monotonic() - started_s) * 1000)
        return answer

    async def _ask(self, request: Request, answer: Answer, deadline_s: float) -> None:
        name, port = split_host(host_of(request.url))
        site = next((site for site in self._config.sites if matching(name, (site.hosts,))), None)
        if site is not None and site.proxy:
            answer.outcome = "forbidden_address"
            answer.detail = "fetch.sites gives it a proxy, which FTP does not go through"
            return
        answer.target = request.url.removeprefix(origin_of(request.url))
        path = unquote_to_bytes(answer.target[1:])
        read = partial(self._bodies.read, deadline_s=deadline_s)
        async with session(
            name, port, self._networks, self._resolver, self._config, read
        ) as opened:
            answer.address = opened.address
            await opened.login(*self._credentials(site))
            if path == b"" or path.endswith(b"/"):
                await self._take_folder(request, answer, opened, path)
            else:
                await self._take_file(request, answer, opened, path)
            opened.leave()

    async def _take_file(
        self, request: Request, answer: Answer, opened: Session, path: bytes
    ) -> None:
        modified = await opened.ask(b"MDTM " + path)
        if modified.code == MODIFIED:
            answer.last_modified = _http_date(modified.text)
        if answer.last_modified and answer.last_modified == request.last_modified:
            answer.outcome = "unchanged"
            return
        kind = resource.media_type(b"/" + path)
        try:
            found = await opened.download(b"RETR " + path, limit_of(request, kind))
        except Refused as refused:
            if refused.code in NO_FILES and (await opened.ask(b"CWD " + path)).kind == COMPLETED:
                resource.send_to_folder(answer, request, self._rules)
                return
            raise
        if found.is_passing:
            answer.last_modified = None
        resource.give(answer, found.content, kind, truncated=found.is_partial)
        _mark(answer, found)

    async def _take_folder(
        self, request: Request, answer: Answer, opened: Session, path: bytes
    ) -> None:
        if path:
            await opened.demand(b"CWD " + (path.rstrip(b"/") or b"/"))
        try:
            found = await opened.download(b"MLSD", MAX_LISTING_BYTES)
            entries = _of_mlsd(_lines(found))
        except Refused as refused:
            if refused.code not in NO_SUCH_COMMAND:
                raise
            found = await _list_names(opened)
            entries = _of_nlst(_lines(found))
        limit = request.max_body_bytes
        resource.give_folder(answer, b"/" + path, entries, limit, truncated=found.is_partial)
        _mark(answer, found)

    def _credentials(self, site: SiteConfig | None) -> tuple[bytes, bytes]:
        """User and password; by custom (RFC 1635) the password of `anonymous` says who it is."""
        if site is not None and site.user:
            return site.user.encode(), site.password.encode()
        contact = self._config.contact.removeprefix("mailto:") or f"{self._config.agent}@"
        return b"anonymous", contact.encode()

    def _judge(  # noqa: PLR0911  # a table whose keys are types
        self, error: Exception
    ) -> tuple[str, str]:
        """Outcome and detail."""
        match error:
            case Refused():
                outcome = _BY_CODE.get(error.code) or _BY_KIND.get(error.code // 100, "broken")
                return outcome, str(error)
            case Unsendable():
                return "refused", str(error)
            case NotFtp():
                return "broken", str(error)
            case ForbiddenAddress():
                return "forbidden_address", str(error.strerror)
            case TimeoutError():
                return "timeout", str(
                    error
                ) or f"no whole answer within {self._config.timeout_s:g} s"
            case OSError():
                return "unreachable", _reason(error)
            case _:
                return "broken", f"{type(error).__name__}: {error}"


def _reason(error: OSError) -> str:
    """The system's words: asyncio's own are "Connect call failed". Of DNS the numbers are < 0."""
    if error.errno is not None and error.errno > 0:
        return os.strerror(error.errno).lower()
    return error.strerror or str(error)


async def _list_names(opened: Session) -> Body:
    try:
        return await opened.download(b"NLST", MAX_LISTING_BYTES)
    except Refused as refused:
        if refused.code not in NO_FILES:
            raise
        return Body(b"")


def _mark(answer: Answer, found: Body) -> None:
    """A transfer that broke off is a truncated page, or none."""
    if found.flaw is not None:
        answer.detail = found.flaw
        answer.outcome = "ok" if answer.body else "broken"


def _lines(found: Body) -> Iterator[bytes]:
    """Of a listing. Half a line, where it was cut, would be another's name."""
    for line in BytesIO(found.content):
        if line.endswith(b"\n") or not found.is_partial:
            yield line.rstrip(b"\r\n")


def _of_mlsd(lines: Iterable[bytes]) -> Iterator[Entry]:
    """RFC 3659 §7.2: facts, a blank, the name. What is no folder may be a link to one."""
    for line in lines:
        facts, _, name = line.partition(b" ")
        kind = said[1].lower() if (said := _TYPE.search(facts)) else b""
        if kind not in {b"cdir", b"pdir"} and b"/" not in name and name not in _NO_NAMES:
            yield Entry(name, kind == b"dir")


def _of_nlst(lines: Iterable[bytes]) -> Iterator[Entry]:
    """RFC 959 §4.1.3: names, before which some servers put the folder's."""
    for line in lines:
        name = line.rpartition(b"/")[2]
        if name not in _NO_NAMES:
            yield Entry(name, is_folder=False)


def _http_date(time_val: str) -> str | None:
    """RFC 3659 §2.3: `YYYYMMDDHHMMSS`, maybe with a fraction, as in Last-Modified."""
    try:
        date = datetime.strptime(time_val[:14], "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return None
    return format_datetime(date, usegmt=True)
