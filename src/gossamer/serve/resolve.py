"""What a query asks about other pages, answered once, before it goes to any index.

`link:URL` and `related:URL` stand in a tree as they were typed. What links to a page is known from
`inlinks`, and how frequent its words are from all shards together; but indexes may lie in other
processes and on other machines. So each such filter is replaced by what it comes to: `link:` by
URLs, `related:` by words with weights, and without the page itself. The new tree is whole: nobody
who reads it has to ask anything.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Protocol

from gossamer.serve.query import All, Any, Filter, Like, Not, Urls

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from gossamer.serve.query import Query

ABOUT_PAGES = ("link", "related")
MAX_ASKED = 4
"""Filters about pages of one query that are answered: each may read files. Further ones hold for
no page."""
MAX_URLS = 1_000
"""Linking pages that one filter stands for. `invert` names 200 for each page that is linked to."""


class Known(Protocol):
    """What is known of pages. URLs are in the crawl's normal form."""

    def normal(self, url: str) -> str | None:
        """The normal form; None where there is none such."""

    def linking(self, url: str) -> Iterable[str]:
        """The pages that link to it."""

    def telling(self, url: str) -> Sequence[tuple[str, float]]:
        """Its telling words and their weights; none where it is not in the index."""


def resolved(tree: Query, known: Known) -> Query:
    """The tree with each filter about pages replaced. One that makes no sense holds for no page."""
    asked = islice(dict.fromkeys(_about_pages(tree)), MAX_ASKED)
    return _replaced(tree, {each: _answer(each, known) for each in asked})


def _about_pages(tree: Query) -> Iterator[Filter]:
    match tree:
        case Filter(name) if name in ABOUT_PAGES:
            yield tree
        case Not(part):
            yield from _about_pages(part)
        case All(parts) | Any(parts):
            for part in parts:
                yield from _about_pages(part)


def _replaced(tree: Query, answers: Mapping[Filter, Query]) -> Query:
    match tree:
        case Filter(name) if name in ABOUT_PAGES:
            return answers.get(tree, Urls(()))
        case Not(part):
            return Not(_replaced(part, answers))
        case All(parts) | Any(parts):
            return replace(tree, parts=tuple(_replaced(part, answers) for part in parts))
    return tree


def _answer(asked: Filter, known: Known) -> Query:
    urls = [url for each in _addresses(asked.value) if (url := known.normal(each)) is not None]
    if asked.name == "link":
        linking = dict.fromkeys(source for url in urls for source in known.linking(url))
        return Urls(tuple(islice(linking, MAX_URLS)))
    for url in urls:
        if words := known.telling(url):
            return All((Like(tuple(words)), Not(Urls((url,)))))
    return Urls(())


def _addresses(typed: str) -> Sequence[str]:
    """What people mean who leave the scheme out: either of the Web's."""
    return [typed] if "://" in typed else [f"https://{typed}", f"http://{typed}"]
