"""Which passages of found pages answer a query best."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from gossamer.parse.rendition.rendered import Passage
from gossamer.serve.passage_search import PER_PAGE, best_passages

if TYPE_CHECKING:
    from gossamer.serve.documents import Document

FILLER = "Ships sail at dawn, and the crew has tea."
HARBOUR = "- harbour(ship, *crew*)\n\n  Where they stay."


def document(*passages: tuple[str, str], language: str = "en") -> Document:
    """A page with passages, each with its heading and text."""
    made = [Passage(f"{n}", (path,), text) for n, (path, text) in enumerate(passages)]
    given: Any = SimpleNamespace(language=language, passages=made)
    return given  # type: ignore[no-any-return]


def best(query: str, *documents: Document) -> list[tuple[int, str]]:
    return [(each.page, each.passage.id) for each in best_passages(query, documents, 10)]


@pytest.mark.parametrize(
    ("query", "passages", "expected"),
    [
        ("harbour", [("", FILLER), ("", f"{FILLER} A harbour.")], "1"),
        ("harbour", [("", f"{FILLER}\n\nThe harbour."), ("The harbour", FILLER)], "1"),
        ("harbour", [("", f"{FILLER}\n\nA harbour."), ("", f"A harbour.\n\n{FILLER}")], "1"),
        ("harbour map", [("", f"{FILLER}\n\nA harbour map."), ("Harbour", f"{FILLER} map")], "1"),
        ("harbours", [("", FILLER), ("", "The harbour")], "1"),
        ("harbour", [("", f"The harbour is mine. {FILLER}"), ("", f"harbour(x)\n\n{FILLER}")], "1"),
        ("harbour", [("", f"{FILLER}\n\nA harbour."), ("", f"{FILLER}\n\n{HARBOUR}")], "1"),
        ("harbour", [("", f"{FILLER} - [Harbour](/)"), ("", f"{FILLER}\n\n{HARBOUR}")], "1"),
        ("harbour", [("", "- [Harbour](/a)\n- [Bay](/b)"), ("", f"A harbour.\n\n{FILLER}")], "1"),
        ("__set__()", [("", f"A set, or sets. {FILLER}"), ("", "`object.__set__(self)`")], "1"),
        ("__set__()", [("", f"A set. {FILLER}"), ("", "- object.\\_\\_set\\_\\_(*self*)")], "1"),
        ("log_file_mode", [("", "The log, a file, its mode."), ("", "`log_file_mode` (int)")], "1"),
        (
            "red harbour",
            [("", "Red, red, red, red."), ("", "A red harbour, in May and June.")],
            "1",
        ),
        ("the who", [("", FILLER), ("", "The Who are a band.")], "1"),
    ],
)
def test_the_best_of_a_page(query: str, passages: list[tuple[str, str]], expected: str) -> None:
    assert best(query, document(*passages))[0] == (0, expected)
    assert best(query, document(*passages[::-1]))[0] == (0, str(1 - int(expected)))


def test_targets_of_links_are_not_read() -> None:
    page = document(("", "See [this](https://a.test/harbour)."), ("", "The harbour is far away."))
    assert best("harbour", page)[0] == (0, "1")


def test_earlier_pages_come_first_and_have_few_passages_each() -> None:
    pages = [document(*[("", f"Harbour {FILLER}")] * 9)] * 3
    found = best("harbour", *pages)
    assert [page for page, _ in found] == [n for n in range(3) for _ in range(PER_PAGE)][:10]


def test_each_page_is_read_in_its_language() -> None:
    pages = [document(("", FILLER)), document(("", "Die Häfen im Norden"), language="de")]
    assert best("Häfen", *pages)[0] == (1, "0")


def test_without_pages_or_words_nothing_fails() -> None:
    assert best("harbour") == []
    assert best("", document(("", FILLER))) == [(0, "0")]
