"""What a query asks about other pages, against pages that a test knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import pytest

from gossamer.search.messages import CountTerms, DocumentText, Read, TermCounts
from gossamer.search.more_like_this import significant_terms, words_by_terms
from gossamer.search.page_filters import (
    MAX_PAGE_FILTERS,
    MAX_URLS,
    page_facts,
    resolve_page_filters,
)
from gossamer.search.query import And, Filter, Like, Not, Or, Urls, Words, parse

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gossamer.search.messages import Reply, Request, RequestGenerator
    from gossamer.search.query import Query

_R = TypeVar("_R")
A, B, OLD = "http://a.org/", "https://b.org/x", "http://a.org/old"
TEXT = "Apples, an apple and a pear"
LIKE_A = And(
    (
        Like(tuple(significant_terms(words_by_terms(TEXT, "en"), {"appl": 4, "pear": 6}, 100))),
        Not(Urls((A,))),
    )
)


class Shelf:
    """A stands for OLD. A is linked to from two pages, B from one; the second node has only A."""

    def __init__(self, nodes: int = 2) -> None:
        self.nodes = range(nodes)
        self.asked: list[str] = []

    def normal(self, url: str) -> str | None:
        return url.lower() if "://" in url and "bad" not in url else None

    def linking(self, url: str) -> Iterable[str]:
        self.asked.append(url)
        if url == "http://many.org":
            return (f"http://{number}.org/" for number in range(10_000))
        return {A: [B, "http://c.org/"], B: [A]}.get(url, [])

    def survivor(self, url: str) -> str | None:
        return A if url == OLD else None

    def reply(self, node: int, request: Request) -> Reply:
        if isinstance(request, Read):
            return DocumentText("en", TEXT) if (node, request.url) == (1, A) else DocumentText()
        assert isinstance(request, CountTerms)
        assert (request.language, request.terms) == ("en", ["appl", "pear"])
        return TermCounts(50, {"appl": 2, "pear": 3})

    def ask(self, request: Request, kind: type[_R]) -> RequestGenerator[dict[int, _R]]:
        replies = yield dict.fromkeys(self.nodes, request)
        return {node: reply for node, reply in replies.items() if isinstance(reply, kind)}

    def resolved(self, text: str) -> Query:
        tree = parse(text)
        asking = resolve_page_filters(tree, page_facts(text, self), self.ask)
        try:
            requests = next(asking)
            while True:
                requests = asking.send({node: self.reply(node, r) for node, r in requests.items()})
        except StopIteration as done:
            found: Query = done.value
            return found


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("link:http://a.org/", Urls((B, "http://c.org/"))),
        ("link:HTTP://A.org/", Urls((B, "http://c.org/"))),
        ("link:a.org/", Urls((B, "http://c.org/"))),
        ("link:b.org/x w", And((Urls((A,)), Words("w")))),
        ("w -link:b.org/x", And((Words("w"), Not(Urls((A,)))))),
        ("w -v link:b.org/x", And((Words("w"), Not(Words("v"), "-v"), Urls((A,))))),
        ("link:b.org/x OR w", Or((Urls((A,)), Words("w")))),
        ("w AND link:b.org/x", And((Words("w"), Urls((A,))), strict=True)),
        ("link:unknown.org/", Urls(())),
        ("link:bad", Urls(())),
        ("related:a.org/", LIKE_A),
        ("related:a.org/ site:c.org", And((LIKE_A, Filter("site", "c.org")))),
        ("related:b.org/x", Urls(())),
        ("related:bad", Urls(())),
        ("related:a.org/old", LIKE_A),
        ("url:b.org/x", Urls((B, "http://b.org/x"))),
        ("url:http://a.org/old", Urls((OLD, A))),
        ("w -url:a.org/old", And((Words("w"), Not(Urls(("https://a.org/old", OLD, A)))))),
        ("url:bad", Urls(())),
        ("red site:a.org", And((Words("red"), Filter("site", "a.org")))),
    ],
)
def test_filters_about_pages_become_what_they_come_to(text: str, tree: Query) -> None:
    assert Shelf().resolved(text) == tree


def test_a_page_of_a_node_that_does_not_answer_has_none_like_it() -> None:
    assert Shelf(nodes=1).resolved("related:a.org/") == Urls(())
    assert Shelf(nodes=0).resolved("related:a.org/ w") == And((Urls(()), Words("w")))


def test_the_first_page_that_has_words_is_the_one_that_others_are_like() -> None:
    """Without a scheme, https is tried first, and then the page that stands for it."""
    shelf = Shelf()
    read, asked = shelf.reply, list[str]()

    def reply(node: int, request: Request) -> Reply:
        if isinstance(request, Read):
            asked.append(request.url)
            return read(node, Read(A) if request.url == OLD else request)
        return read(node, request)

    shelf.reply = reply  # type: ignore[method-assign]
    found = shelf.resolved("related:a.org/old")
    assert isinstance(found, And)
    assert found.parts[1] == Not(Urls((OLD,)))
    assert asked == ["https://a.org/old"] * 2 + [OLD] * 2


def test_filters_of_which_nothing_is_known_match_nothing() -> None:
    asking = resolve_page_filters(parse("w -link:a.org"), {}, Shelf().ask)
    with pytest.raises(StopIteration) as done:
        next(asking)
    assert done.value.value == And((Words("w"), Not(Urls(()))))


def test_what_a_query_may_ask_is_bounded() -> None:
    shelf = Shelf()
    text = " OR ".join(f"link:http://{number}.org/" for number in range(9))
    tree = shelf.resolved(f"link:http://0.org/ {text}")
    assert shelf.asked == [f"http://{number}.org/" for number in range(MAX_PAGE_FILTERS)]
    assert isinstance(tree, Or)
    assert tree.parts[-1] == Urls(())
    urls = shelf.resolved("link:many.org")
    assert isinstance(urls, Urls)
    assert len(urls.urls) == MAX_URLS
