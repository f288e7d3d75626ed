"""What a query asks about other pages, against pages that a test knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import pytest

from gossamer.serve.messages import Read, Said, Tallied, Tally
from gossamer.serve.query import All, Any, Filter, Like, Not, Urls, Words, parse
from gossamer.serve.resolve import MAX_ASKED, MAX_URLS, looked_up, resolved
from gossamer.serve.similar import telling, written

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gossamer.serve.broker import Asking
    from gossamer.serve.messages import Reply, Request
    from gossamer.serve.query import Query

_R = TypeVar("_R")
A, B = "http://a.org/", "https://b.org/x"
TEXT = "Apples, an apple and a pear"
LIKE_A = All(
    (Like(tuple(telling(written(TEXT, "en"), {"appl": 4, "pear": 6}, 100))), Not(Urls((A,))))
)


class Shelf:
    """A is linked to from two pages and B from one. Of two nodes the second has A, and no B."""

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

    def reply(self, node: int, request: Request) -> Reply:
        if isinstance(request, Read):
            return Said("en", TEXT) if (node, request.url) == (1, A) else Said()
        assert isinstance(request, Tally)
        assert (request.language, request.terms) == ("en", ["appl", "pear"])
        return Tallied(50, {"appl": 2, "pear": 3})

    def ask(self, request: Request, kind: type[_R]) -> Asking[dict[int, _R]]:
        replies = yield dict.fromkeys(self.nodes, request)
        return {node: reply for node, reply in replies.items() if isinstance(reply, kind)}

    def resolved(self, text: str) -> Query:
        tree = parse(text)
        asking = resolved(tree, looked_up(text, self), self.ask)
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
        ("link:b.org/x w", All((Urls((A,)), Words("w")))),
        ("w -link:b.org/x", All((Words("w"), Not(Urls((A,)))))),
        ("link:b.org/x OR w", Any((Urls((A,)), Words("w")))),
        ("w AND link:b.org/x", All((Words("w"), Urls((A,))), strict=True)),
        ("link:unknown.org/", Urls(())),
        ("link:bad", Urls(())),
        ("related:a.org/", LIKE_A),
        ("related:a.org/ site:c.org", All((LIKE_A, Filter("site", "c.org")))),
        ("related:b.org/x", Urls(())),
        ("related:bad", Urls(())),
        ("red site:a.org", All((Words("red"), Filter("site", "a.org")))),
    ],
)
def test_filters_about_pages_become_what_they_come_to(text: str, tree: Query) -> None:
    assert Shelf().resolved(text) == tree


def test_a_page_of_a_node_that_does_not_answer_has_none_like_it() -> None:
    assert Shelf(nodes=1).resolved("related:a.org/") == Urls(())
    assert Shelf(nodes=0).resolved("related:a.org/ w") == All((Urls(()), Words("w")))


def test_what_a_query_may_ask_is_bounded() -> None:
    shelf = Shelf()
    text = " OR ".join(f"link:http://{number}.org/" for number in range(9))
    tree = shelf.resolved(f"link:http://0.org/ {text}")
    assert shelf.asked == [f"http://{number}.org/" for number in range(MAX_ASKED)]
    assert isinstance(tree, Any)
    assert tree.parts[-1] == Urls(())
    urls = shelf.resolved("link:many.org")
    assert isinstance(urls, Urls)
    assert len(urls.urls) == MAX_URLS
