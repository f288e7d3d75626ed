from __future__ import annotations

import io
import os
import signal
import subprocess
import sys

import msgspec
import pytest

from gossamer.errors import EngineError
from gossamer.parse import guard
from gossamer.parse.content import parse_page
from gossamer.parse.guard import GuardedParser
from gossamer.parse.page import Page, ParsedPage, Rules

URL = "https://example.org/"


def page(html: str) -> Page:
    return Page(URL, {"content-type": "text/html"}, html.encode())


def test_a_page_is_parsed_as_it_would_be_here() -> None:
    rules = Rules(max_links=2)
    one = page(
        "<html lang=de><title>T</title><h1>H</h1>" + "<a href=/a>A</a><a href=tel:1>B</a>" * 3
    )
    with GuardedParser(rules) as parser:
        assert parser.parse(one) == parse_page(one, rules)
        assert parser.parse(page("<p>next")).text == "next"


def test_memory_has_an_end_and_the_next_page_is_parsed() -> None:
    # Each of the paragraphs reopens all the unlike b elements: 50 million of them.
    greedy = "<p>" + "".join(f"<b a={n:x}>" for n in range(5_000)) + "<p>x" * 10_000
    with GuardedParser(Rules()) as parser:
        assert parser.parse(page(greedy)).outcome == "failed"
        assert parser.parse(page("<p>next")).text == "next"


def test_time_has_an_end_and_the_next_page_is_parsed() -> None:
    deep = page("<div>" * 150_000)
    with GuardedParser(Rules(), max_cpu_s=1) as parser:
        answer = parser.parse(deep)
        assert (answer.outcome, answer.detail) == ("failed", "takes more than 1 s to parse")
        assert parser.parse(page("<p>next")).text == "next"


def test_a_process_that_dies_costs_the_page_it_had() -> None:
    with GuardedParser(Rules()) as parser:
        parser.parse(page("<p>x"))
        process = parser._process
        assert process is not None
        os.kill(process.pid, signal.SIGTERM)
        process.wait()
        answer = parser.parse(page("<p>y"))
        assert (answer.outcome, answer.detail) == ("failed", "the parser ended with exit code -15")
        assert parser.parse(page("<p>z")).text == "z"


def test_a_process_that_stays_large_ends_after_its_page(monkeypatch: pytest.MonkeyPatch) -> None:
    with GuardedParser(Rules()) as parser:
        parser.parse(page("<p>x"))
        process = parser._process
        assert process is not None
        assert process.poll() is None
        monkeypatch.setattr(guard, "MAX_KEPT_BYTES", guard._resident_bytes(process.pid) // 2)
        assert parser.parse(page("<p>y")).text == "y"
        assert process.returncode == 0
        assert parser.parse(page("<p>z")).text == "z"


def test_the_process_ends_with_its_parser() -> None:
    with GuardedParser(Rules()) as parser:
        parser.parse(page("<p>x"))
        process = parser._process
    assert process is not None
    assert process.returncode == 0


def test_a_process_that_cannot_start_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with GuardedParser(Rules()) as parser, pytest.raises(EngineError, match="exit code 1"):
        parser.parse(page("<p>x"))


def test_an_exception_is_the_outcome_of_its_page(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RecursionError("x" * 1_000)

    monkeypatch.setattr(guard, "parse_page", broken)
    answer = msgspec.msgpack.decode(guard._answer(page("<p>x"), Rules()), type=ParsedPage)
    assert answer.outcome == "failed"
    assert answer.detail is not None
    assert answer.detail.startswith("RecursionError('xxx")
    assert len(answer.detail) == guard.MAX_DETAIL_CHARS


@pytest.mark.parametrize("cut", [1, 7, 8, 11])
def test_a_frame_that_was_cut_is_none(cut: int) -> None:
    pipe = io.BytesIO()
    guard._send(pipe, b"frame")
    assert guard._receive(io.BytesIO(pipe.getvalue())) == b"frame"
    assert guard._receive(io.BytesIO(pipe.getvalue()[:cut])) is None


def test_a_standing_parser_leaves_nothing_open_at_the_end() -> None:
    program = (
        "from gossamer.parse.guard import Page, Rules, standing_parser;"
        "print(standing_parser(Rules()).parse(Page('http://a.example/', {}, b'<p>text')).text)"
    )
    ended = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-c", program],
        capture_output=True,
        text=True,
        check=True,
    )
    assert (ended.stdout, ended.stderr) == ("text\n", "")
