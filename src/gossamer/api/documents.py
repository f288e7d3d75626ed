"""Pages as documents: Markdown, passages, and the llms.txt of a site."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from gossamer.errors import UsageError
from gossamer.search.page_info import PageInfo
from gossamer.serve.documents import Documents
from gossamer.serve.llms_txt import llms_full_txt, llms_txt
from gossamer.serve.stored_copy import Refusal
from gossamer.state.lookup import Lookup

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gossamer.serve.documents import Document
    from gossamer.state.workspace import Workspace

Found = TypeVar("Found")


class CrawlDocuments:
    """The pages that the index has, as of the last harvest, made of the stored bodies."""

    def __init__(self, work: Workspace) -> None:
        self._work = work
        self._pages = PageInfo(work, Lookup(work))
        self._documents = Documents(work, self._pages)

    def read(self, url: str) -> Document:
        """The document of a URL. Raises UsageError if there is none."""
        normal = self._pages.normal(url)
        if normal is None:
            raise UsageError(url, "is not a URL that a crawl could contain", "give a URL of a page")
        with self._work.errors():
            found = self._documents.find(normal)
        if isinstance(found, Refusal):
            remedy = f"to see what the crawl knows: gossamer explain {self._work.root} {normal}"
            raise UsageError(normal, found.why.rstrip("."), remedy)
        return found

    def all(self, site: str = "") -> Iterator[Document]:
        """Yield the documents of all pages, or those of a host, the most important ones first.

        Pages that must not be shown are left out.
        """
        return self._each(self._documents.find, site)

    def llms_txt(self, site: str, *, full: bool = False) -> Iterator[str]:
        """Yield the pieces of the llms.txt of a host, or of its llms-full.txt."""
        if full:
            return llms_full_txt(site, self.all(site))
        return llms_txt(site, self._each(self._documents.entry, site))

    def _each(self, find: Callable[[str], Found | Refusal], site: str) -> Iterator[Found]:
        with self._work.errors():
            for url in self._urls(site):
                found = find(url)
                if not isinstance(found, Refusal):
                    yield found

    def _urls(self, site: str) -> Iterator[str]:
        from pyspark.sql import functions as F

        from gossamer.index.format.selection import indexed_pages
        from gossamer.web.urls import host_column

        chosen = indexed_pages(self._work)
        if site:
            chosen = chosen.where(host_column(F.col("url")) == site.lower())
        ordered = chosen.select("url", "rank").orderBy(F.desc("rank"), "url")
        return (row["url"] for row in ordered.toLocalIterator())
