"""Pages as documents: Markdown, passages, and the llms.txt of a site."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer.errors import UsageError
from gossamer.search.page_info import PageInfo
from gossamer.serve.documents import Documents
from gossamer.serve.llms_txt import Entry, llms_full_txt, llms_txt
from gossamer.serve.stored_copy import Refusal
from gossamer.state.lookup import Lookup

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gossamer.serve.documents import Document
    from gossamer.state.workspace import Workspace


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
        with self._work.errors():
            for url in self._urls(site):
                found = self._documents.find(url)
                if not isinstance(found, Refusal):
                    yield found

    def llms_txt(self, site: str, *, full: bool = False) -> Iterator[str]:
        """Yield the pieces of the llms.txt of a host, or of its llms-full.txt."""
        documents = self.all(site)
        if full:
            return llms_full_txt(site, documents)
        return llms_txt(
            site, (Entry(each.url, each.title or "", each.description or "") for each in documents)
        )

    def _urls(self, site: str) -> Iterator[str]:
        from pyspark.sql import functions as F

        from gossamer.index.format.selection import indexed_pages
        from gossamer.web.urls import host_column

        chosen = indexed_pages(self._work)
        if site:
            chosen = chosen.where(host_column(F.col("url")) == site.lower())
        ordered = chosen.select("url", "rank").orderBy(F.desc("rank"), "url")
        return (row["url"] for row in ordered.toLocalIterator())
