"""A web without end of real pages: manuals that Debian packages, under many host names.

Each host serves one whole manual of webs.toml. In the pages of the first host of a manual, nothing
is changed. Every other host is a copy in which one word in eight, chosen once for all copies of a
page, is another word of the same manual, drawn as often as the manual uses it. So two copies have
the same markup and links, and texts whose shingles mostly differ: each page counts as a document of
its own, and not as a near-duplicate, unless it has hardly any prose. Titles are those of the
manual. At its end, each page links to pages of other hosts, as pages of manuals hardly do.

Each host has an address of its own, as sites do, and nothing else in common with the others.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import random
import re
from contextlib import AsyncExitStack, contextmanager
from itertools import chain, cycle, islice
from multiprocessing.sharedctypes import RawValue
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

import uvloop
import webs
import xxhash

from gossamer.fakeweb import Answer, Web, serve
from gossamer.fakeweb.answer import conditional, found
from gossamer.fakeweb.server import MAX_ADDRESSES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess
    from pathlib import Path
    from typing import Any

    from webs import Manual

EDITED = 1 / 4
"""Share of the words of at least four ASCII letters that differ; these are about half of all."""
DRAWN = 200_000
"""Words of a manual that its copies draw from."""
LINKS = 3
"""Links of a page to other hosts."""
HTML = (".html", ".htm")
TOKEN = re.compile(
    rb"<(?:script|style|title)\b.*?</(?:script|style|title)>|<[^>]*>|&#?\w+;"
    rb"|(?<!\w)(?P<word>[A-Za-z]{4,})(?!\w)",
    re.DOTALL | re.IGNORECASE,
)
BODY_END = b"</body"


class Template(NamedTuple):
    """A page, with `%b` for each word that copies change, and for their links to other hosts."""

    text: bytes
    words: tuple[bytes, ...]
    """The words of the manual in these places."""


def template(page: bytes, draw: random.Random) -> Template:
    parts, words, at = [], [], 0
    for match in TOKEN.finditer(page):
        if match["word"] and draw.random() < EDITED:
            parts.append(page[at : match.start()])
            words.append(match["word"])
            at = match.end()
    left, end, rest = page[at:].rpartition(BODY_END)
    if not end:
        left, rest = rest, b""
    parts = [part.replace(b"%", b"%%") for part in (*parts, left, end + rest)]
    return Template(b"%b".join(parts), tuple(words))


class Pages:
    """The pages of a manual as templates, by the paths of their URLs."""

    def __init__(self, manual: Manual) -> None:
        same: dict[bytes, bytes] = {}
        self.templates: dict[str, Template] = {}
        files = (path for path in manual.root.rglob("*") if path.suffix in HTML and path.is_file())
        for number, file in enumerate(sorted(files)):
            made = template(file.read_bytes(), random.Random(number))  # noqa: S311  # reproducible
            words = tuple(same.setdefault(word, word) for word in made.words)
            path = "/" + quote(file.relative_to(manual.root).as_posix())
            self.templates[path] = made._replace(words=words)
        self.paths = list(self.templates)
        words = list(chain.from_iterable(made.words for made in self.templates.values()))
        draw = random.Random(0)  # noqa: S311  # reproducible
        self._drawn = draw.choices(words, k=DRAWN)

    def copy(self, made: Template, key: int, links: bytes) -> bytes:
        """The page of a copy."""
        first = key % (DRAWN - len(made.words))
        return made.text % (*self._drawn[first : first + len(made.words)], links)


class CopiedManuals(Web):
    """The web: so many hosts, which take turns with the manuals."""

    def __init__(self, manuals: list[Manual], hosts: int) -> None:
        turns = list(enumerate(islice(cycle(manuals), hosts)))
        self.manual_of = {f"{manual.name}-{n}.test": manual for n, manual in turns}
        super().__init__(hosts=0, docs={host: m.root for host, m in self.manual_of.items()})
        self._names = list(self.manual_of)
        self._first = set(self._names[: len(manuals)])
        self._pages = {manual.name: Pages(manual) for manual in manuals}
        self.answered: Any = RawValue("q", 0)
        """Its `value` counts the pages that were sent."""

    def seeds(self) -> list[str]:
        return [
            url.replace(f"//{manual.host}/", f"//{host}/")
            for host, manual in self.manual_of.items()
            for url in manual.seeds()
        ]

    def answer(self, host: str, target: str, headers: Mapping[str, str] = {}) -> Answer:
        path = target.partition("?")[0]
        manual = self.manual_of.get(host.partition(":")[0])
        pages = self._pages[manual.name] if manual else None
        made = pages and pages.templates.get(f"{path}index.html" if path.endswith("/") else path)
        if not pages or not made:
            return super().answer(host, target, headers)
        self.answered.value += 1
        key = xxhash.xxh3_64_intdigest(f"{host}{path}".encode())
        links = self._links(key)
        if host in self._first:
            body = made.text % (*made.words, links)
        else:
            body = pages.copy(made, key, links)
        return conditional(found(body, "text/html", 0), headers)

    def _links(self, key: int) -> bytes:
        draw = random.Random(key)  # noqa: S311  # reproducible
        links = []
        for host in draw.choices(self._names, k=LINKS):
            path = draw.choice(self._pages[self.manual_of[host].name].paths)
            name = path.rpartition("/")[2].partition(".")[0]
            links.append(f'<li><a href="http://{host}{path}">{name}</a></li>')
        return f"<ul>{''.join(links)}</ul>".encode()


class Served(NamedTuple):
    process: SpawnProcess
    seeds: list[str]
    routes: dict[str, str]
    """The value of the setting fetch.resolve."""
    answered: Any
    """Its `value` counts the pages that were sent."""


@contextmanager
def served(folder: Path, names: list[str], hosts: int) -> Iterator[Served]:
    """Serve these manuals of a folder, by default all, in a process of its own."""
    spawn = multiprocessing.get_context("spawn")
    ours, theirs = spawn.Pipe()
    answered = spawn.RawValue("q", 0)
    arguments = (folder, names, hosts, theirs, answered)
    process = spawn.Process(target=_serve, args=arguments, daemon=True)
    process.start()
    theirs.close()
    try:
        seeds, routes = ours.recv()
        yield Served(process, seeds, routes, answered)
    finally:
        process.terminate()
        process.join()


def _serve(folder: Path, names: list[str], hosts: int, line: Connection, answered: Any) -> None:
    web = CopiedManuals(webs.manuals(folder, names), hosts)
    web.answered = answered
    uvloop.run(_until_ended(web, line))


async def _until_ended(web: CopiedManuals, line: Connection) -> None:
    names = list(web.manual_of)
    routes: dict[str, str] = {}
    async with AsyncExitStack() as stack:
        for first in range(0, len(names), MAX_ADDRESSES):
            some = names[first : first + MAX_ADDRESSES]
            start = f"127.0.{1 + first // MAX_ADDRESSES}.1"
            server = await stack.enter_async_context(serve(web, start, addresses=len(some)))
            addresses = (f"{address}:{server.port}" for address in server.addresses)
            routes |= zip(some, addresses, strict=True)
        line.send((web.seeds(), routes))
        await asyncio.Event().wait()
