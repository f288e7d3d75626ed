"""FTP for a crawler: files, and folders as pages of links (MDTM, MLSD: RFC 3659).

Facts
  * A path is a byte string, sent unchanged (RFC 2640 specifies UTF-8). It is relative to the login
    folder: `ftp://h/%2Fetc/x` is `/etc/x` (RFC 1738 §3.2.2). We send the whole path in one command,
    not segment by segment as that RFC does: today's servers split it at slashes.
  * An FTP URL has no query, and `;type=` after the path is a transfer mode, not a part of the name
    (RFC 1738 §3.2.2). Gossamer keeps both, as in URLs of all plugins, so we redirect to the URL
    without them: a file has one page.
  * Only trying shows whether a path is a folder: it cannot be retrieved, but can be entered.
  * NLST, for servers without MLSD, does not distinguish folders from files, and an empty folder
    may be an error.

Each page takes a session: connect, log in, request, quit. That costs about eight round trips but
keeps no session open: many servers allow few sessions, and end idle ones.
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
from urllib.parse import unquote_to_bytes, urlsplit

from gossamer.plugins import (
    Bodies,
    Body,
    FetchResult,
    FolderEntry,
    ForbiddenAddress,
    Sites,
    limit_of,
    media_type,
    redirect_to_folder,
    set_body,
    set_folder_page,
)
from gossamer_ftp.session import COMPLETED, CommandRefused, NotFtp, Unsendable, session

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Self

    from gossamer.plugins import FetchConfig, Networks, Request, Resolver, Site, UrlRules
    from gossamer_ftp.session import Session

FTP_PORT = 21
MAX_LISTING_BYTES = 4 << 20
"""Bytes of a listing that are read. `set_folder_page` limits the entries in its page."""
GOODBYE_S = 0.5
"""Seconds beyond fetch.timeout_s to end a session whose body was truncated at that time."""
MODIFIED = 213
NO_SUCH_COMMAND = frozenset((500, 501, 502, 504))
NO_FILES = frozenset((450, 550))

_BY_CODE: Mapping[int, str] = {120: "busy", 421: "busy", 450: "busy", 550: "not_found"}
_BY_KIND: Mapping[int, str] = {3: "refused", 4: "server_error", 5: "refused"}
"""All others are `broken`: the reply makes no sense after the command."""
_NO_NAMES = frozenset((b"", b".", b".."))
_FACT_TYPE = re.compile(rb"(?:^|;)type=([^;]*)", re.IGNORECASE)
_URL_TYPE = re.compile(r";type=[aid]", re.IGNORECASE)


class FtpFetcher:
    """An FTP client. A reply may take as long as a head in HTTP. It does not close the resolver."""

    def __init__(
        self, config: FetchConfig, rules: UrlRules, networks: Networks, resolver: Resolver
    ) -> None:
        self._config = config
        self._sites = Sites(config.sites)
        self._rules = rules
        self._networks = networks
        self._resolver = resolver
        self._bodies = Bodies(config)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    async def fetch(self, request: Request) -> FetchResult:
        answer = FetchResult("broken", int(time.time() * 1000))
        started_s = time.monotonic()
        try:
            deadline_s = asyncio.get_running_loop().time() + self._config.timeout_s
            async with asyncio.timeout_at(deadline_s + GOODBYE_S):
                await self._ask(request, answer, deadline_s)
        except Exception as error:  # noqa: BLE001  # a stranger's server must not end the round
            answer.outcome, answer.detail = self._judge(error)
        answer.elapsed_ms = int((time.monotonic() - started_s) * 1000)
        return answer

    async def _ask(self, request: Request, answer: FetchResult, deadline_s: float) -> None:
        if (plain := _without_mode(request.url)) != request.url:
            answer.outcome, answer.redirect_url = "redirect", plain
            return
        parts = urlsplit(request.url)
        host = parts.hostname or ""
        site = self._sites.for_origin("ftp", host, parts.port)
        if site.proxy:
            answer.outcome = "forbidden_address"
            answer.detail = "fetch.sites sets a proxy for this host, but FTP cannot use one"
            return
        answer.target = parts.path
        path = unquote_to_bytes(answer.target[1:])
        read = partial(self._bodies.read, deadline_s=deadline_s)
        place = (host, parts.port or FTP_PORT, self._networks, self._resolver)
        async with session(*place, self._config, read) as opened:
            answer.address = opened.address
            await opened.login(*self._credentials(site))
            if path == b"" or path.endswith(b"/"):
                await self._take_folder(request, answer, opened, path)
            else:
                await self._take_file(request, answer, opened, path)
            opened.leave()

    async def _take_file(
        self, request: Request, answer: FetchResult, opened: Session, path: bytes
    ) -> None:
        modified = await opened.ask(b"MDTM " + path)
        if modified.code == MODIFIED:
            answer.last_modified = _http_date(modified.text)
        if answer.last_modified and answer.last_modified == request.last_modified:
            answer.outcome = "unchanged"
            return
        kind = media_type(b"/" + path)
        try:
            found = await opened.download(b"RETR " + path, limit_of(request, kind))
        except CommandRefused as refused:
            if refused.code in NO_FILES and (await opened.ask(b"CWD " + path)).kind == COMPLETED:
                redirect_to_folder(answer, request, self._rules)
                return
            raise
        if found.is_passing:
            answer.last_modified = None
        set_body(answer, found.content, kind, truncated=found.is_partial)
        _mark(answer, found)

    async def _take_folder(
        self, request: Request, answer: FetchResult, opened: Session, path: bytes
    ) -> None:
        if path:
            await opened.demand(b"CWD " + (path.rstrip(b"/") or b"/"))
        try:
            found = await opened.download(b"MLSD", MAX_LISTING_BYTES)
            entries = _of_mlsd(_lines(found))
        except CommandRefused as refused:
            if refused.code not in NO_SUCH_COMMAND:
                raise
            found = await _list_names(opened)
            entries = _of_nlst(_lines(found))
        limit = request.max_body_bytes
        set_folder_page(answer, b"/" + path, entries, limit, truncated=found.is_partial)
        _mark(answer, found)

    def _credentials(self, site: Site) -> tuple[bytes, bytes]:
        """User and password; by convention (RFC 1635) the password of `anonymous` is a contact."""
        if site.login is not None and site.login[0]:
            user, password = site.login
            return user.encode(), password.encode()
        contact = self._config.contact.removeprefix("mailto:") or f"{self._config.agent}@"
        return b"anonymous", contact.encode()

    def _judge(  # noqa: PLR0911  # a table whose keys are types
        self, error: Exception
    ) -> tuple[str, str]:
        """Outcome and detail."""
        match error:
            case CommandRefused():
                outcome = _BY_CODE.get(error.code) or _BY_KIND.get(error.code // 100, "broken")
                return outcome, str(error)
            case Unsendable():
                return "refused", str(error)
            case NotFtp():
                return "broken", str(error)
            case ForbiddenAddress():
                return "forbidden_address", str(error.strerror)
            case TimeoutError():
                return "timeout", str(error) or f"not complete within {self._config.timeout_s:g} s"
            case OSError():
                return "unreachable", _reason(error)
            case _:
                return "broken", f"{type(error).__name__}: {error}"


def _without_mode(url: str) -> str:
    """The URL of a file, without a query and a transfer mode."""
    url = url.partition("?")[0]
    end, length = len(url), len(";type=a")
    while _URL_TYPE.fullmatch(url, max(end - length, 0), end):
        end -= length
    return url[:end]


def _reason(error: OSError) -> str:
    """The system's words, as asyncio only says "Connect call failed". DNS errors have errno < 0."""
    if error.errno is not None and error.errno > 0:
        return os.strerror(error.errno).lower()
    return error.strerror or str(error)


async def _list_names(opened: Session) -> Body:
    try:
        return await opened.download(b"NLST", MAX_LISTING_BYTES)
    except CommandRefused as refused:
        if refused.code not in NO_FILES:
            raise
        return Body(b"")


def _mark(answer: FetchResult, found: Body) -> None:
    """Mark a transfer that ended early: it is a truncated page, or `broken` if nothing came."""
    if found.flaw is not None:
        answer.detail = found.flaw
        answer.outcome = "ok" if answer.body else "broken"


def _lines(found: Body) -> Iterator[bytes]:
    """The lines of a listing, without one that was cut: half a name would be a wrong one."""
    for line in BytesIO(found.content):
        if line.endswith(b"\n") or not found.is_partial:
            yield line.rstrip(b"\r\n")


def _of_mlsd(lines: Iterable[bytes]) -> Iterator[FolderEntry]:
    """Entries of MLSD (RFC 3659 §7.2): facts, a blank, the name. A file may be a folder's link."""
    for line in lines:
        facts, _, name = line.partition(b" ")
        kind = found[1].lower() if (found := _FACT_TYPE.search(facts)) else b""
        if kind not in {b"cdir", b"pdir"} and b"/" not in name and name not in _NO_NAMES:
            yield FolderEntry(name, kind == b"dir")


def _of_nlst(lines: Iterable[bytes]) -> Iterator[FolderEntry]:
    """Entries of NLST (RFC 959 §4.1.3): names, which some servers prefix with the folder."""
    for line in lines:
        name = line.rpartition(b"/")[2]
        if name not in _NO_NAMES:
            yield FolderEntry(name, is_folder=False)


def _http_date(time_val: str) -> str | None:
    """Convert `YYYYMMDDHHMMSS`, maybe with a fraction (RFC 3659 §2.3), to HTTP's date format."""
    try:
        date = datetime.strptime(time_val[:14], "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return None
    return format_datetime(date, usegmt=True)
