"""A small crawl that each release makes and keeps, in tests/formats: later ones must continue it.

    .venv/bin/python -m tests.support.kept_crawl

makes the one of this version. Its two hosts have every kind of page whose rows differ. Nothing of
the archive changes when this file does: it is what an older version wrote.
"""

from __future__ import annotations

import re
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory

from gossamer import Crawl, __version__
from tests.support.loopback import Script, loopback, page
from tests.support.repository import ROOT

FORMATS = ROOT / "tests" / "formats"
CRAWL = "garden"
"""The folder in each archive."""
SEED = "http://garden.test/"
SETTINGS = """\
[filter]
scope = "any"

[fetch]
delay_s = 0
address_delay_s = 0
allow_networks = ["127.0.0.0/8"]
host_overrides = {{ "*.test" = "{address}" }}
"""
ADDRESS = re.compile(r'(?<="\*\.test" = ")[^"]*')
HTML = ("Content-Type: text/html; charset=utf-8",)
TEXT = ("Content-Type: text/plain",)


def _document(title: str, text: str, language: str = "en", head: str = "") -> bytes:
    html = f"<!doctype html><html lang={language}><title>{title}</title>{head}<p>{text}"
    return page(html.encode(), HTML)


LINKS = """\
<a href=/apples>About apples</a> <a href=/pears>About pears</a> <a href=/birnen>Birnen</a>
<a href=/pears?print=1>Print</a> <a href=/moved>Quinces</a> <a href=/gone>Medlars</a>
<a href=/feed>News</a> <a href=/notes.txt>Notes</a> <a href=http://orchard.test/>The orchard</a>
"""
PEARS = """\
Pears ripen after they are picked. Lay them side by side in a cool room and look at them each day:
when the flesh beside the stalk gives way to a gentle thumb, they are ready, and they will not wait.
"""
FEED = b"""\
<rss version="2.0"><channel><title>News of the garden</title>
<item><title>First plums</title><link>http://garden.test/plums</link></item></channel></rss>
"""
PAGES: dict[str, bytes | list[bytes] | Script] = {
    "garden.test/": _document("A walled garden", f"Fruit along a wall that keeps the sun. {LINKS}"),
    "garden.test/apples": _document(
        "Apples", "Russet apples keep until spring. <a href=/>The garden</a>"
    ),
    "garden.test/pears": _document("Pears", PEARS, head="<link rel=canonical href=/pears>"),
    "garden.test/pears?print=1": _document("Pears, to print", PEARS),
    "garden.test/birnen": _document(
        "Birnen", "Birnen reifen nach der Ernte in einem kühlen Zimmer nach.", "de"
    ),
    "garden.test/moved": page(headers=["Location: /quinces"], status="301 Moved Permanently"),
    "garden.test/quinces": _document("Quinces", "Quinces are hard, golden and fragrant."),
    "garden.test/plums": _document("Plums", "The first plums fell on the first of August."),
    "garden.test/feed": page(FEED, ("Content-Type: application/rss+xml",)),
    "garden.test/notes.txt": page(b"Prune the espalier in winter.\n", TEXT),
    "garden.test/robots.txt": page(b"User-agent: *\nDisallow: /shed\n", TEXT),
    "orchard.test/": _document(
        "The orchard", 'Old standard trees. <a href="http://garden.test/apples">Russets</a>'
    ),
}


def make(folder: Path) -> None:
    """Crawl in two rounds that see different pages, so that datasets have layers."""
    with (
        loopback() as server,
        Crawl.create(str(folder), SETTINGS.format(address=server.address)) as crawl,
    ):
        server.answers = PAGES
        crawl.inject([SEED])
        crawl.run(rounds=2)
        crawl.mark([f"{SEED}apples"], fit=True)
        crawl.filters.add(["deny prefix http://garden.test/shed"])
        crawl.run()


def unpack(archive: Path, into: Path, address: str) -> Path:
    """Unpack a kept crawl whose hosts are now at this address of loopback; returns its folder."""
    with tarfile.open(archive) as members:
        members.extraction_filter = getattr(tarfile, "data_filter", None)  # Debian 12 has none
        members.extractall(into)  # noqa: S202  # we have made it
    settings = into / CRAWL / "gossamer.toml"
    settings.write_text(ADDRESS.sub(address, settings.read_text("utf-8")), "utf-8")
    return into / CRAWL


def _without_owner(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


def pack(crawl: Path, archive: Path) -> None:
    """Pack a crawl, which nobody has open. Raises FileExistsError: a kept crawl never changes."""
    with tarfile.open(archive, "x:xz", preset=9) as written:
        written.add(crawl, CRAWL, filter=_without_owner)


if __name__ == "__main__":
    with TemporaryDirectory() as scratch:
        made = Path(scratch, CRAWL)
        make(made)
        pack(made, FORMATS / f"{__version__}.tar.xz")
