"""Page filters: `link:`, `url:` and `related:`, which are replaced before any index is asked.

A query's tree holds them as they were typed. The pages that link to a URL are in the dataset
`inlinks`, the page that stands for it is in `dispositions`, and the frequencies of a page's words
are spread over all shards; but indexes may lie in other processes and on other machines. So `link:`
and `url:` are replaced by URLs, and `related:` by weighted words, minus the page itself. The new
tree can be evaluated without looking anything up.

`page_facts` reads what the crawl knows, `resolve_page_filters` asks the nodes with the indexes.
"""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar

from msgspec.structs import replace

from gossamer.search.messages import CountTerms, DocumentText, Read, TermCounts
from gossamer.search.more_like_this import significant_terms, words_by_terms
from gossamer.search.query import And, Filter, Like, Not, Or, Urls, parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from gossamer.search.messages import Request, RequestGenerator
    from gossamer.search.query import Query

PAGE_FILTERS = ("link", "related", "url")
MAX_PAGE_FILTERS = 4
"""Page filters per query that are evaluated, as each may read files. Further ones match nothing."""
MAX_URLS = 1_000
"""Linking pages that one `link:` may stand for. `invert` names 200 per page."""

PageFacts: TypeAlias = "Mapping[Filter, tuple[str, ...]]"
"""URLs by filter: for `link:` the linking pages, for the others the possible URLs of the page, and
those of the pages that stand for them."""
_R = TypeVar("_R")


class Ask(Protocol):
    """Sends a request to all nodes, and returns their replies of the expected kind, by node."""

    def __call__(self, request: Request, kind: type[_R]) -> RequestGenerator[dict[int, _R]]: ...


class CrawlView(Protocol):
    """What page filters need to know about the crawl."""

    def normal(self, url: str) -> str | None:
        """The crawl's normal form of a URL; None if it is invalid."""

    def linking(self, url: str) -> Iterable[str]:
        """The pages that link to a normalised URL."""

    def survivor(self, url: str) -> str | None:
        """The page that stands for a normalised URL; None if no other page does."""


class _NoCrawl:
    """For an index without a crawl."""

    def normal(self, _: str) -> None:
        return None

    def linking(self, _: str) -> Iterable[str]:
        return ()

    def survivor(self, _: str) -> None:
        return None


NO_CRAWL: CrawlView = _NoCrawl()


def page_facts(text: str, crawl: CrawlView) -> PageFacts:
    """What the crawl knows about the pages that a query's page filters name. Reads files."""
    if not any(f"{name}:" in text.lower() for name in PAGE_FILTERS):
        return {}
    filters = islice(dict.fromkeys(_page_filters(parse(text))), MAX_PAGE_FILTERS)
    return {each: tuple(_urls_for(each, crawl)) for each in filters}


def resolve_page_filters(tree: Query, facts: PageFacts, ask: Ask) -> RequestGenerator[Query]:
    """The tree with each page filter replaced. One without facts matches nothing."""
    replacements: dict[Filter, Query] = {}
    for page_filter, urls in facts.items():
        if page_filter.name != "related":
            replacements[page_filter] = Urls(urls)
            continue
        for url in urls:
            words, vector = yield from _weighted_words(url, ask)
            if words or vector:
                replacements[page_filter] = And((Like(tuple(words), vector), Not(Urls((url,)))))
                break
    return _replace_filters(tree, replacements)


def _weighted_words(
    url: str, ask: Ask
) -> RequestGenerator[tuple[Sequence[tuple[str, float]], bytes]]:
    """The significant terms of a page, by the frequencies of all nodes, and its vector.

    None if no node has it.
    """
    pages = yield from ask(Read(url), DocumentText)
    document = next((each for each in pages.values() if each.language), None)
    if document is None:
        return (), b""
    words = words_by_terms(document.text, document.language)
    terms = sorted({term for terms in words for term in terms})
    replies = yield from ask(CountTerms(document.language, terms), TermCounts)
    counts: Counter[str] = Counter()
    for reply in replies.values():
        counts.update(reply.counts)
    pages_held = sum(reply.pages for reply in replies.values())
    return significant_terms(words, counts, pages_held), document.vector


def _page_filters(tree: Query) -> Iterator[Filter]:
    match tree:
        case Filter(name) if name in PAGE_FILTERS:
            yield tree
        case Not(part):
            yield from _page_filters(part)
        case And(parts) | Or(parts):
            for part in parts:
                yield from _page_filters(part)


def _replace_filters(tree: Query, replacements: Mapping[Filter, Query]) -> Query:
    match tree:
        case Filter(name) if name in PAGE_FILTERS:
            return replacements.get(tree, Urls(()))
        case Not(part):
            return replace(tree, part=_replace_filters(part, replacements))
        case And(parts) | Or(parts):
            return replace(
                tree, parts=tuple(_replace_filters(part, replacements) for part in parts)
            )
    return tree


def _urls_for(page_filter: Filter, crawl: CrawlView) -> Iterable[str]:
    urls = [
        url for each in _possible_urls(page_filter.value) if (url := crawl.normal(each)) is not None
    ]
    if page_filter.name != "link":
        return [*urls, *filter(None, map(crawl.survivor, urls))]
    return islice(dict.fromkeys(source for url in urls for source in crawl.linking(url)), MAX_URLS)


def _possible_urls(typed: str) -> Sequence[str]:
    """The URLs that may be meant: without a scheme, https and http are tried."""
    return [typed] if "://" in typed else [f"https://{typed}", f"http://{typed}"]
