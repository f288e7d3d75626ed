"""What `gossamer search` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from rich.console import Console

from gossamer.cli.result_printing import print_overview, print_results
from gossamer.cli.step_progress import StepProgress
from gossamer.search.results import Hit, Results
from gossamer.status.disk_space import Disk
from gossamer.status.due_queue import Freshness, Queue
from gossamer.status.overview import overview

if TYPE_CHECKING:
    import pytest

    from gossamer.state.workspace import Workspace

URL = "http://a.example/[x]"


def hit(snippet: str, title: str = "A [bold]title[/bold]") -> Hit:
    return Hit(URL, title, snippet, 1.0, "a.example", 0, None)


def test_a_snippet_is_text_on_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    print_results(Results(1, [hit("one\n<b>two</b>\n&lt;b&gt; [i]")], 0.25))
    assert capsys.readouterr().out.splitlines() == [
        "1. A [bold]title[/bold]",
        f"   {URL}",
        "   one two <b> [i]",
        "1 result in 0.2 ms",
    ]


def test_control_characters_of_a_result_are_not_printed(capsys: pytest.CaptureFixture[str]) -> None:
    print_results(Results(1, [hit("\x1b[2J\x9b", title="\x1b]0;mine\u202e")], 0.25))
    assert capsys.readouterr().out.splitlines()[:3] == [
        "1. \ufffd]0;mine\ufffd",
        f"   {URL}",
        "   \ufffd[2J\ufffd",
    ]


def test_a_hit_names_the_pages_that_it_stands_for(capsys: pytest.CaptureFixture[str]) -> None:
    several = msgspec.structs.replace(hit(""), copies=1_200, versions=1)
    print_results(Results(1, [several, msgspec.structs.replace(several, copies=1, versions=0)], 1))
    printed = capsys.readouterr().out.splitlines()
    assert printed[2] == "   1 more version, also at 1,200 other addresses"
    assert printed[5] == "   also at 1 other address"


def test_lines_of_a_pipe_are_not_wrapped(capsys: pytest.CaptureFixture[str]) -> None:
    print_results(Results(1, [hit("word " * 40, title="title " * 40)], 0.25))
    assert len(capsys.readouterr().out.splitlines()) == 4


def test_what_happens_between_steps_is_printed_as_it_is(
    capsys: pytest.CaptureFixture[str], work: Workspace
) -> None:
    """Patterns of rules and names of folders may look like markup."""
    text = "deny pattern [/a] [a-z]+( in /data/[red]/rules"
    StepProgress(work, Console()).tell("refused", text)
    assert capsys.readouterr().out == f"{text}\n"


def test_duplicates_of_a_crawl(capsys: pytest.CaptureFixture[str], work: Workspace) -> None:
    with work.step("dedup", 1) as draft:
        draft.counts.update({"documents": 9, "duplicate_near": 1_200})
    print_overview(overview(work) | {"pages": {"fetched": 9, "hosts": 1}})
    printed = capsys.readouterr().out
    assert "nearly the same text  1,200" in printed


def test_a_search_without_full_matches_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    print_results(Results(1, [hit("", title="")], 0.25, relaxed=True))
    assert capsys.readouterr().out.splitlines()[:3] == [
        f"1. {URL}",
        f"   {URL}",
        "No page contains all of these words; these pages contain some of them.",
    ]


def test_a_corrected_query_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    print_results(Results(1, [hit("red")], 0.25, corrected="red [b]apple[/b]\x1b[2J"))
    printed = " ".join(capsys.readouterr().out.split())
    assert "results for red [b]apple[/b]" in printed
    assert "--verbatim" in printed
    assert "\x1b[2J" not in printed


def test_an_estimated_total_is_marked_as_such(capsys: pytest.CaptureFixture[str]) -> None:
    print_results(Results(12_345, [], 0.25, estimated=True))
    assert capsys.readouterr().out == "about 12,345 results in 0.2 ms\n"


FIGURES = {
    "duplicates": {},
    "path": "web",
    "round": 2,
    "paused": None,
    "waiting": None,
    "queue": None,
    "disk": Disk("/", 31_000_000_000, 0, None, None),
    "pages": {"hosts": 1},
    "datasets": {},
    "steps": [],
}


def test_status_lists_refused_urls_by_reason(capsys: pytest.CaptureFixture[str]) -> None:
    figures = FIGURES | {"truncated": 0}
    print_overview(figures | {"refused": {"scope": 12_345, "extension": 8, "robots": 7}})
    out = capsys.readouterr().out
    rows = [line.split()[:2] for line in out.splitlines()]
    for row in (["refused", "URLs"], ["scope", "12,345"], ["extension", "8"], ["robots", "7"]):
        assert row in rows
    assert "filter.skip_extensions" in out  # the setting that would fetch them
    print_overview(figures | {"refused": {}})
    assert "refused" not in capsys.readouterr().out


def test_status_shows_the_queue_and_the_disk(capsys: pytest.CaptureFixture[str]) -> None:
    figures = FIGURES | {"refused": {}, "truncated": 0}
    print_overview(figures)
    printed = capsys.readouterr().out
    assert "31.0 GB of disk space free\n" in printed
    assert "waiting" not in printed
    print_overview(figures | {"waiting": "no page will be due"})
    assert "  waiting: no page will be due\n" in capsys.readouterr().out
    print_overview(figures | {"paused": "the disk of /data/[red]"})
    assert "  paused: the disk of /data/[red]\n" in capsys.readouterr().out
    assert "due now" not in printed
    due = {"queue": Queue(1_234, 2_000, 3_000), "freshness": Freshness(1_000, 15, 60.0)}
    print_overview(figures | due | {"disk": Disk("/", 10**9, 0, 1e9, 86_400.0 * 2)})
    printed = capsys.readouterr().out
    assert "1,234 due now, 2,000 within an hour, 3,000 within a day" in printed
    assert "98.5 % of 1,000 fetched pages are fresh" in printed
    assert "1.0 GB of disk space free, used up in 2 d 0 h\n" in printed


def test_status_counts_truncated_pages(capsys: pytest.CaptureFixture[str]) -> None:
    print_overview(FIGURES | {"refused": {}, "truncated": 1_234})
    assert "1,234 pages are truncated: some of their text is missing" in capsys.readouterr().out
    print_overview(FIGURES | {"refused": {}, "truncated": 0})
    assert "truncated" not in capsys.readouterr().out
