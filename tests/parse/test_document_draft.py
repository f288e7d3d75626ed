"""Titles and authors of all formats that are not HTML."""

from __future__ import annotations

import pytest

from gossamer.parse.documents.document_draft import Draft


def drafted(title: str, *headings: str, text: str = "First line\nsecond") -> Draft:
    draft = Draft(1_000)
    draft.metadata["title"] = title
    for heading in headings:
        draft.head(heading)
    for line in text.split("\n"):
        draft.say(line)
    return draft


@pytest.mark.parametrize(
    ("given", "headings", "title"),
    [
        ("The plan", ["One"], "The plan"),
        ("Microsoft Word - plan.doc", ["One"], "One"),
        ("PowerPoint Presentation", ["Slide 1", "One"], "One"),
        ("untitled", [], "First line"),
        ("C:\\temp\\x.tex", [], "First line"),
        ("\u200b", ["One"], "One"),
        ("plan \u202egnp.exe", [], "plan gnp.exe"),
        ("", ["One"], "One"),
        ("", ["Title"], "Title"),
        ("", [], None),
    ],
)
def test_a_title_that_says_nothing_is_replaced(
    given: str, headings: list[str], title: str | None
) -> None:
    assert drafted(given, *headings).finish().title == title


@pytest.mark.parametrize("text", ["x" * 121, "", "* * *\ntext"])
def test_a_first_line_that_is_no_title_is_none(text: str) -> None:
    assert drafted("untitled", text=text).finish().title is None


def test_a_draft_returns_to_its_mark() -> None:
    draft = drafted("", "One", text="a\nb")
    draft.link("https://a.example/")
    before, mark = draft.finish(), draft.mark()
    draft.head("Two")
    draft.link("https://b.example/")
    assert not draft.say("x" * 2_000)
    draft.return_to(mark)
    assert draft.finish() == before
    assert draft.say("c")
