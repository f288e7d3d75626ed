"""What a query asks about other pages, against pages that a test knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gossamer.serve.query import All, Any, Filter, Like, Not, Urls, Words, parse
from gossamer.serve.resolve import MAX_ASKED, MAX_URLS, resolved

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gossamer.serve.query import Query

A, B = "http://a.org/", "https://b.org/x"
APPLES = (("apple", 1.0), ("pear", 0.5))


class Shelf:
    """A is linked to from two pages and B from one; A alone is in the index."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def normal(self, url: str) -> str | None:
        return url.lower() if "://" in url and "bad" not in url else None

    def linking(self, url: str) -> Iterable[str]:
        self.asked.append(url)
        if url == "http://many.org":
            return (f"http://{number}.org/" for number in range(10_000))
        return {A: [B, "http://c.org/"], B: [A]}.get(url, [])

    def telling(self, url: str) -> Sequence[tuple[str, float]]:
        return APPLES if url == A else ()


LIKE_A = All((Like(APPLES), Not(Urls((A,)))))


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
    assert resolved(parse(text), Shelf()) == tree


def test_what_a_query_may_ask_is_bounded() -> None:
    shelf = Shelf()
    text = " OR ".join(f"link:http://{number}.org/" for number in range(9))
    tree = resolved(parse(f"link:http://0.org/ {text}"), shelf)
    assert shelf.asked == [f"http://{number}.org/" for number in range(MAX_ASKED)]
    assert isinstance(tree, Any)
    assert tree.parts[-1] == Urls(())
    urls = resolved(parse("link:many.org"), shelf)
    assert isinstance(urls, Urls)
    assert len(urls.urls) == MAX_URLS
