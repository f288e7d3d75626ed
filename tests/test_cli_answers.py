"""What `gossamer search` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer.cli.answers import print_overview, print_results
from gossamer.serve.answers import Hit, Results

if TYPE_CHECKING:
    import pytest

URL = "http://a.example/[x]"


def hit(snippet: str, title: str = "A [bold]title[/bold]") -> Hit:
    return Hit(URL, title, snippet, 1.0, "a.example", 0, None)


def test_a_snippet_is_text_on_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    print_results(Results(1, [hit("one\n<b>two</b>\n&lt;b&gt; [i]")], 0.25))
    assert capsys.readouterr().out.splitlines() == [
        "1. A [bold]title[/bold]",
        f"   {URL}",
        "   one two <b> [i]",
        "1 found in 0.2 ms",
    ]


def test_a_page_cannot_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    print_results(Results(1, [hit("\x1b[2J\x9b", title="\x1b]0;mine\u202e")], 0.25))
    assert capsys.readouterr().out.splitlines()[:3] == [
        "1. \ufffd]0;mine\ufffd",
        f"   {URL}",
        "   \ufffd[2J\ufffd",
    ]


def test_it_says_when_no_page_has_all_the_words(capsys: pytest.CaptureFixture[str]) -> None:
    print_results(Results(1, [hit("", title="")], 0.25, relaxed=True))
    assert capsys.readouterr().out.splitlines()[:3] == [
        f"1. {URL}",
        f"   {URL}",
        "No page has all these words; these have some of them.",
    ]


def test_it_says_when_it_has_judged_by_the_most_popular(capsys: pytest.CaptureFixture[str]) -> None:
    print_results(Results(12_345, [], 0.25, estimated=True))
    assert capsys.readouterr().out == "about 12,345 found in 0.2 ms\n"


def test_status_tells_what_was_refused(capsys: pytest.CaptureFixture[str]) -> None:
    figures = {"path": "web", "round": 2, "pages": {"hosts": 1}, "datasets": {}, "steps": []}
    print_overview(figures | {"refused": {"scope": 12_345, "calendar": 7}})
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert rows[-3:] == [["refused", "URLs"], ["scope", "12,345"], ["calendar", "7"]]
    print_overview(figures | {"refused": {}})
    assert "refused" not in capsys.readouterr().out
