"""What a query asks about other pages, answered once, before it goes to any index.

`link:URL` and `related:URL` stand in a tree as they were typed. What links to a page is known from
`inlinks`, and how frequent its words are from all shards together; but indexes may lie in other
processes and on other machines. So each such filter is replaced by what it comes to: `link:` by
URLs, `related:` by words with weights, and without the page itself. The new tree is whole: nobody
who reads it has to ask anything.

`looked_up` reads what the crawl knows, `resolved` asks the nodes that have the indexes.
"""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar

from msgspec.structs import replace

from gossamer.serve.messages import Read, Said, Tallied, Tally
from gossamer.serve.query import All, Any, Filter, Like, Not, Urls, parse
from gossamer.serve.similar import telling, written

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from gossamer.serve.broker import Asking
    from gossamer.serve.messages import Request
    from gossamer.serve.query import Query

ABOUT_PAGES = ("link", "related")
MAX_ASKED = 4
"""Filters about pages of one query that are answered: each may read files. Further ones hold for
no page."""
MAX_URLS = 1_000
"""Linking pages that one filter stands for. `invert` names 200 for each page that is linked to."""

Meant: TypeAlias = "Mapping[Filter, tuple[str, ...]]"
"""By filter, URLs: those that link to its page; of `related:` the page's own."""
_R = TypeVar("_R")


class Ask(Protocol):
    """Asks all nodes, and gives their replies of that kind, by node."""

    def __call__(self, request: Request, kind: type[_R]) -> Asking[dict[int, _R]]: ...


class Known(Protocol):
    """What is known of pages. URLs are in the crawl's normal form."""

    def normal(self, url: str) -> str | None:
        """The normal form; None where there is none such."""

    def linking(self, url: str) -> Iterable[str]:
        """The pages that link to it."""


class _Nothing:
    """An index without a crawl."""

    def normal(self, _: str) -> None:
        return None

    def linking(self, _: str) -> Iterable[str]:
        return ()


NOTHING: Known = _Nothing()


def looked_up(text: str, known: Known) -> Meant:
    """What the crawl knows of the pages that a query asks about, if it does. Reads files."""
    if not any(f"{name}:" in text.lower() for name in ABOUT_PAGES):
        return {}
    asked = islice(dict.fromkeys(_about_pages(parse(text))), MAX_ASKED)
    return {each: tuple(_meant(each, known)) for each in asked}


def resolved(tree: Query, meant: Meant, ask: Ask) -> Asking[Query]:
    """The tree with each filter about pages replaced. One that makes no sense holds for no page."""
    if not meant:
        return tree
    answers: dict[Filter, Query] = {}
    for asked, urls in meant.items():
        if asked.name == "link":
            answers[asked] = Urls(urls)
            continue
        for url in urls:
            if words := (yield from _telling(url, ask)):
                answers[asked] = All((Like(tuple(words)), Not(Urls((url,)))))
                break
    return _replaced(tree, answers)


def _telling(url: str, ask: Ask) -> Asking[Sequence[tuple[str, float]]]:
    """The telling words of a page, by the frequencies of all nodes; none where none has it."""
    pages = yield from ask(Read(url), Said)
    said = next((each for each in pages.values() if each.language), None)
    if said is None:
        return ()
    words = written(said.text, said.language)
    terms = sorted({term for terms in words for term in terms})
    tallies = yield from ask(Tally(said.language, terms), Tallied)
    counts: Counter[str] = Counter()
    for tallied in tallies.values():
        counts.update(tallied.counts)
    return telling(words, counts, sum(tallied.pages for tallied in tallies.values()))


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


def _meant(asked: Filter, known: Known) -> Iterable[str]:
    urls = [url for each in _addresses(asked.value) if (url := known.normal(each)) is not None]
    if asked.name != "link":
        return urls
    return islice(dict.fromkeys(source for url in urls for source in known.linking(url)), MAX_URLS)


def _addresses(typed: str) -> Sequence[str]:
    """What people mean who leave the scheme out: either of the Web's."""
    return [typed] if "://" in typed else [f"https://{typed}", f"http://{typed}"]
