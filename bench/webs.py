"""Manuals that Debian packages, served on loopback, crawled and indexed.

    apt-get download PACKAGE && dpkg -x PACKAGE*.deb WEBS/PACKAGE

webs.toml lists them. Each manual is crawled once, into the folder CRAWLS/NAME; delete NAME and
NAME.* to crawl it again. The words that a page shows are read from its file with lxml instead of
our own parser.
"""

from __future__ import annotations

import pickle
import re
import tomllib
from collections import Counter
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, unquote, urlsplit

from lxml import etree
from lxml import html as lxml_html

from gossamer.api import Crawl
from gossamer.fakeweb import FakeWeb, Web
from gossamer.parse.charset import decode
from gossamer.search.searcher import Searcher

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LIST = Path(__file__).with_suffix(".toml")
SETTINGS = """\
[engine]
workers = {workers}

[filter]
scope = "any"
allow = ['^http://[^/]+\\.test/']
deny = {deny}

[generate]
pages = 100_000
pages_per_host = 100_000

[fetch]
delay_s = 0
delay_factor = 0
address_delay_s = 0
allow_networks = ["127.0.0.0/8"]
resolve = {{ "*.test" = "{address}" }}
"""
UNSEEN = "script, style, noscript, template, head, [hidden], [style*='display:none']"
_INLINE = """
    a abbr b bdi bdo big cite code del dfn em font i ins kbd mark q s samp small span strong sub sup
    tt u var wbr
"""
INLINE = frozenset(_INLINE.split())
TELLS = re.compile(r"[^\W\d_]")


class Page(NamedTuple):
    path: str
    """The path of its URL."""
    title: str
    words: frozenset[str]
    """The words that the page shows, in lower case.

    Words are counted only if they are the same whether elements like <span> separate words or not.
    """


class Manual:
    def __init__(self, name: str, webs: Path, row: dict[str, Any]) -> None:
        self.name = name
        self.host = f"{name}.test"
        self.root = webs / row["package"] / row["folder"]
        self.language: str = row["language"]
        self.own: str = row["own"]
        self.filler: list[str] = row["filler"]
        self._seeds: list[str] = row.get("seeds", [])
        self._deny: list[str] = row.get("deny", [])

    def seeds(self) -> list[str]:
        paths = sorted(path for glob in self._seeds for path in self.root.glob(glob))
        names = [quote(path.relative_to(self.root).as_posix()) for path in paths]
        return [f"http://{self.host}/{name}" for name in names or [""]]

    def crawl(self, crawls: Path, workers: int = 1) -> Crawl:
        """Open the manual's crawl. It is made first, if necessary."""
        folder = crawls / self.name
        done = folder.with_suffix(".done")
        if done.exists():
            return Crawl.open(str(folder))
        with FakeWeb(Web(hosts=0, docs={self.host: self.root}), log_path="/dev/null") as web:
            settings = SETTINGS.format(address=web.address, deny=self._deny, workers=workers)
            crawl = Crawl.create(str(folder), settings)
            crawl.inject(self.seeds())
            crawl.run()
        done.touch()
        return crawl

    def page(self, path: str) -> Page | None:
        """Read the file behind the path of a URL; None if it only redirects or is `noindex`."""
        file = self.root / unquote(path).lstrip("/")
        if file.is_dir():
            file /= "index.html"
        text = decode(file.read_bytes(), None)[0]
        tree = lxml_html.document_fromstring(text.encode(), parser=PARSER)
        if any(_refreshes(meta) or _hides(meta) for meta in tree.iter("meta")):
            return None
        title = " ".join((tree.findtext(".//title") or "").split())
        for element in tree.cssselect(UNSEEN):
            element.drop_tree()
        apart = frozenset(words(" ".join(tree.itertext())))
        for element in tree.iter(etree.Element):
            if element.tag not in INLINE:
                element.text = f" {element.text or ''}"
                element.tail = f" {element.tail or ''}"
        return Page(path, title, apart.intersection(words(str(tree.text_content()))))


PARSER = lxml_html.HTMLParser(encoding="utf-8", remove_comments=True, huge_tree=True)


class Indexed:
    """A crawled manual: its searcher, and its pages as their files show them."""

    def __init__(self, manual: Manual, crawls: Path) -> None:
        self.manual = manual
        with manual.crawl(crawls) as crawl:
            rows = crawl.pages().where("status = 'fetched'").select("url").collect()
            self.searcher = Searcher.open(crawl.work)
        self._paths = sorted(path_of(row.url) for row in rows)
        self._cache = crawls / f"{manual.name}.pages"

    @cached_property
    def pages(self) -> list[Page]:
        if self._cache.exists():
            found: list[Page] = pickle.loads(self._cache.read_bytes())  # noqa: S301  # our own
            return found
        paths = (path for path in self._paths if path.endswith((".html", ".htm", "/")))
        found = [page for path in paths if (page := self.manual.page(path))]
        self._cache.write_bytes(pickle.dumps(found))
        return found

    @cached_property
    def page_of(self) -> dict[str, Page]:
        return {page.path: page for page in self.pages}

    @cached_property
    def frequencies(self) -> Counter[str]:
        """The number of pages that show each word."""
        return Counter(word for page in self.pages for word in page.words)

    def found(self, query: str, limit: int) -> list[str]:
        """The paths of the best pages."""
        return [path_of(hit.url) for hit in self.searcher.search(query, limit=limit).hits]


def _refreshes(meta: lxml_html.HtmlElement) -> bool:
    named = (meta.get("http-equiv") or "").lower() == "refresh"
    return named and meta.getparent().tag != "noscript"


def _hides(meta: lxml_html.HtmlElement) -> bool:
    named = (meta.get("name") or "").lower() == "robots"
    return named and "noindex" in (meta.get("content") or "").lower()


def path_of(url: str) -> str:
    return urlsplit(url).path


def words(text: str) -> Iterator[str]:
    """The words of a text in lower case, without numbers and lines of underscores."""
    return (word for word in re.findall(r"\w+", text.lower()) if TELLS.search(word))


def manuals(webs: Path, names: Iterable[str] = ()) -> list[Manual]:
    """The manuals of these names, or all of those that are unpacked."""
    listed = tomllib.loads(LIST.read_text(encoding="utf-8"))
    found = [Manual(name, webs, listed[name]) for name in names or listed]
    return [manual for manual in found if manual.root.is_dir()]
